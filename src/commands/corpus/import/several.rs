//! Many recordings at once: a folder of pages, and a table with the result of each recording.

use super::Arguments;
use crate::commands::corpus::outputs::{self, Kind};
use crate::csv_table::CsvTable;
use crate::{output, values};
use ::corpus::facts::NUMBERS;
use ::corpus::import::{Imported, import, name_of};
use ::corpus::stats::{Row, stats};
use ::serve::Failure;
use qlog_tools::short_texts::{shorten, shown};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(super) const TABLE: &str = "imported.csv";

/// Whether an argument stands for several files: a folder, or a pattern that no shell has expanded.
pub(super) fn is_several(argument: &Path) -> bool {
    argument.is_dir() || (!argument.exists() && argument.to_string_lossy().contains('*'))
}

struct Recording {
    file: PathBuf,
    read: Result<Imported, String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.name.is_some() || arguments.load.is_some() {
        let cause =
            "--name and --load are for one recording: leave them out, or name one file for -o";
        return Err(Failure::BadInput(cause.to_owned()));
    }
    let files = files(&arguments.recordings)?;
    let folder = &arguments.output;
    if !folder.is_dir() && folder.extension().is_some_and(|it| it == "json") {
        let cause = "several recordings make several pages: name a folder for -o";
        return Err(Failure::of_file(folder, cause));
    }
    values::directory(folder, "-o")?;
    let recordings = read(arguments, files)?;
    let pages = recordings.iter().filter_map(|it| Some(&it.read.as_ref().ok()?.page));
    let rows = stats(pages).rows;
    if !rows.is_empty() {
        output::line(&format!(
            "{}\n\n{}\n",
            summary(&recordings, &rows),
            shown_table(&recordings, &rows)
        ))?;
    }
    say_refused(&recordings);
    write_table(&folder.join(TABLE), &recordings)?;
    match rows.len() {
        0 => Err(Failure::BadInput("none of the recordings makes a page".to_owned())),
        _ => output::line(&format!(
            "next: utmost compare {} --engine stack --network 3g,cable --out study",
            folder.display()
        )),
    }
}

fn files(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files: Vec<PathBuf> = Vec::new();
    for argument in arguments {
        let found = match is_several(argument) {
            true if argument.is_dir() => below(argument, "*")?,
            true => named_like(argument)?,
            false => vec![argument.clone()],
        };
        for file in found {
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    Ok(files)
}

fn named_like(pattern: &Path) -> Result<Vec<PathBuf>, Failure> {
    let name = pattern.file_name().unwrap_or_default().to_string_lossy();
    let folder = pattern.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
    below(folder, &name)
}

/// The files of a folder whose names match `pattern`, sorted. Skips hidden files.
fn below(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|error| Failure::of_file(folder, error))?;
    let named = entries.filter_map(Result::ok).filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        !name.starts_with('.') && is_like(&name, pattern)
    });
    let mut files: Vec<PathBuf> = named.map(|it| it.path()).filter(|it| it.is_file()).collect();
    files.sort_unstable();
    if files.is_empty() {
        return Err(match pattern {
            "*" => Failure::of_file(
                folder,
                "there is no file in it; name a folder with recordings such as HAR files",
            ),
            _ => Failure::of_file(&folder.join(pattern), "there is no such file"),
        });
    }
    Ok(files)
}

/// Whether a name matches a pattern in which `*` stands for any characters.
fn is_like(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((begin, rest)) => name.strip_prefix(begin).is_some_and(|name| {
            let ends = name.char_indices().map(|it| it.0).chain([name.len()]);
            ends.into_iter().any(|end| is_like(&name[end..], rest))
        }),
    }
}

fn read(arguments: &Arguments, files: Vec<PathBuf>) -> Result<Vec<Recording>, Failure> {
    let bar = output::progress(files.len(), "recordings");
    let (mut names, mut hashes) = (BTreeSet::new(), BTreeMap::new());
    let mut recordings = Vec::new();
    for file in files {
        let name = free_name(&name_of(&file), &names);
        let imported = import(&file, Some(arguments.label(name.clone())));
        let read = imported.map_err(|error| cause(&file, &error.to_string()));
        let read = read.and_then(|imported| {
            let own = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match hashes.insert(imported.page.source.sha256.clone(), own) {
                None => Ok(imported),
                Some(earlier) => Err(format!("has the bytes of {earlier}")),
            }
        });
        if let Ok(Imported { page, .. }) = &read {
            let to = arguments.output.join(format!("{name}.json"));
            outputs::write(&to, Kind::Page, page.to_text().as_bytes())?;
            names.insert(name);
        }
        recordings.push(Recording { file, read });
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(recordings)
}

/// The name, or the first free one of `name-2`, `name-3` and so on.
fn free_name(name: &str, taken: &BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = [name.to_owned()].into_iter().chain(numbered);
    names.find(|it| !taken.contains(it)).unwrap_or_default()
}

/// Why a file is rejected, without the file's name, which the table shows beside it.
fn cause(file: &Path, message: &str) -> String {
    let name = format!("{}: ", file.display());
    message.strip_prefix(&name).unwrap_or(message).to_owned()
}

fn summary(recordings: &[Recording], rows: &[Row]) -> String {
    let sites: BTreeSet<&str> = rows.iter().map(|it| &*it.site).collect();
    let (count, all) = (rows.len(), recordings.len());
    let refused = match all - count {
        0 => String::new(),
        refused => format!("; {refused} refused"),
    };
    format!("{count} of {all} recordings are pages now, of {} sites{refused}", sites.len())
}

fn shown_table(recordings: &[Recording], rows: &[Row]) -> String {
    let read = recordings.iter().filter_map(|it| Some((&it.file, it.read.as_ref().ok()?)));
    let lines = read.zip(rows).map(|((file, imported), row)| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let counts = [row.resources, row.atf_resources, row.depth, imported.notes.len()];
        let kilobytes = format!("{:.0}", row.bytes as f64 / 1000.0);
        [shorten(&name, 40), shown(&row.site, 30), kilobytes]
            .into_iter()
            .chain(counts.map(|it| it.to_string()))
            .collect()
    });
    let header = ["recording", "site", "KB", "resources", "ATF", "depth", "assumptions"];
    output::table(&header, &[1], lines).to_string()
}

fn say_refused(recordings: &[Recording]) {
    for Recording { file, read } in recordings {
        if let Err(cause) = read {
            eprintln!("refused: {}: {}", file.display(), shown(cause, 300));
        }
    }
}

fn write_table(path: &Path, recordings: &[Recording]) -> Result<(), Failure> {
    let facts = NUMBERS.iter().map(|it| it.name);
    let header =
        ["recording", "page", "site"].into_iter().chain(facts).chain(["assumed", "refused"]);
    let mut table = CsvTable::begin(Some(path), header)?;
    let written = recordings.iter().try_for_each(|it| table.write(it.cells()));
    table.end(written)
}

impl Recording {
    fn cells(&self) -> Vec<String> {
        let file = self.file.display().to_string();
        let cells: Vec<String> = match &self.read {
            Ok(Imported { page, notes }) => {
                let facts = NUMBERS.iter().map(|it| (it.of)(page).to_string());
                let names = [page.name.clone(), page.site().to_owned()].into_iter();
                names.chain(facts).chain([notes.join("; "), String::new()]).collect()
            }
            Err(cause) => {
                let none = std::iter::repeat_n(String::new(), NUMBERS.len() + 3);
                none.chain([cause.clone()]).collect()
            }
        };
        [file].into_iter().chain(cells).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_letters() {
        for (name, pattern, expected) in [
            ("a.har", "*.har", true),
            ("a.har.gz", "*.har*", true),
            ("a.har.gz", "*.har", false),
            ("home.har", "h*e.*r", true),
            ("é.har", "*", true),
            ("a.har", "b*", false),
        ] {
            assert_eq!(is_like(name, pattern), expected, "{name} {pattern}");
        }
    }

    #[test]
    fn recordings_of_one_name_make_pages_of_several() {
        let taken = ["home", "home-2"].map(str::to_owned).into();
        assert_eq!(free_name("home", &taken), "home-3");
        assert_eq!(free_name("shop", &taken), "shop");
    }
}
