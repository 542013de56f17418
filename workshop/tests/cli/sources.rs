//! `docs/sources.md`: what the five sources have, row by row, what holds of it here, and what shows that.
//!
//! `results/sources.txt` names what shows each of them. Whether it holds follows from the kept results.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// One figure, table, mechanism or claim of a source.
struct Atom<'a> {
    place: &'a str,
    claim: &'a str,
    shown_by: Vec<&'a str>,
    missing: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Holds {
    Yes,
    Partly,
    No,
}

/// The conditions of some rows of results.
#[derive(Default)]
struct Conditions {
    all: usize,
    hold: usize,
    open: usize,
}

/// What can show something: rows by `EXPERIMENT/ROW`, and the files of tests by name.
struct Evidence {
    rows: BTreeMap<String, Value>,
    tests: BTreeMap<String, PathBuf>,
}

fn root() -> &'static Path {
    Path::new(crate::REPOSITORY)
}

fn text(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The sources with their atoms.
fn sources(text: &str) -> Vec<(&str, Vec<Atom<'_>>)> {
    let parts = text.split("\n## ").skip(1);
    let source = |part| -> (&str, Vec<Atom<'_>>) {
        let (heading, lines) = str::split_once(part, '\n').expect("a heading");
        (heading, lines.lines().filter(|it| !it.is_empty()).map(atom).collect())
    };
    parts.map(source).collect()
}

fn atom(line: &str) -> Atom<'_> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [place, claim, shown_by, missing @ ..] = &cells[..] else {
        panic!("results/sources.txt: `{line}` has fewer than three cells");
    };
    let shown_by = shown_by.split("; ").filter(|it| !it.is_empty()).collect();
    Atom { place, claim, shown_by, missing: missing.first().unwrap_or(&"") }
}

impl Evidence {
    fn at_hand() -> Self {
        let mut rows = BTreeMap::new();
        for experiment in reproduce::EXPERIMENTS {
            let name = experiment.name;
            let kept: Value =
                serde_json::from_str(&text(&format!("results/{name}.json"))).expect("JSON");
            for row in kept["rows"].as_array().expect("rows") {
                rows.insert(format!("{name}/{}", row["id"].as_str().expect("an ID")), row.clone());
            }
        }
        Self { rows, tests: tests() }
    }

    /// The rows that a name stands for; none for a test or a file.
    fn rows(&self, name: &str) -> Vec<&Value> {
        let rows = self.rows.iter().filter(|(row, _)| is_like(row, name));
        rows.map(|(_, row)| row).collect()
    }

    fn conditions(&self, atom: &Atom<'_>) -> Conditions {
        let rows = atom.shown_by.iter().flat_map(|it| self.rows(it));
        let mut conditions = Conditions::default();
        for verdict in rows.filter_map(verdict) {
            conditions.all += 1;
            conditions.hold += usize::from(verdict["holds"] == true);
            conditions.open += usize::from(verdict["open"] == true);
        }
        conditions
    }

    fn holds(&self, atom: &Atom<'_>) -> Holds {
        let Conditions { all, hold, .. } = self.conditions(atom);
        if atom.shown_by.is_empty() || (all > 0 && hold == 0) {
            Holds::No
        } else if hold < all || !atom.missing.is_empty() {
            Holds::Partly
        } else {
            Holds::Yes
        }
    }

    /// Whether it holds, and why not.
    fn answer(&self, atom: &Atom<'_>) -> String {
        let Conditions { all, hold, open } = self.conditions(atom);
        let word = self.holds(atom).word();
        let mut reasons = Vec::new();
        if hold < all {
            reasons.push(format!("{hold} of {all} conditions hold"));
        }
        if !atom.missing.is_empty() {
            reasons.push(atom.missing.to_owned());
        }
        let open = if open > 0 { format!(" ({open} open)") } else { String::new() };
        let colon = if reasons.is_empty() { "" } else { ": " };
        format!("{word}{open}{colon}{}", reasons.join("; "))
    }

    /// Whether there is no such row, test or file.
    fn is_absent(&self, name: &str) -> bool {
        let file = name.split('#').next().unwrap_or_default();
        let is_there = !self.rows(name).is_empty() || self.tests.contains_key(name);
        let is_file = name.contains('.') && root().join(file).exists();
        !is_there && !is_file
    }

    /// What shows an atom, with links: rows by their experiment, then the rest.
    fn links(&self, atom: &Atom<'_>) -> String {
        let mut experiments: Vec<(&str, Vec<String>)> = Vec::new();
        let mut others = Vec::new();
        for name in &atom.shown_by {
            if let Some(file) = self.tests.get(*name) {
                others.push(format!("[`{name}`](../{})", file.display()));
            } else if self.rows(name).is_empty() {
                let link = name.strip_prefix("docs/").map_or(format!("../{name}"), str::to_owned);
                others.push(format!("[{}]({link})", link.trim_start_matches("../")));
            } else {
                let (experiment, row) = name.split_once('/').expect("a row");
                let row = format!("`{row}`");
                match experiments.last_mut() {
                    Some((last, rows)) if *last == experiment => rows.push(row),
                    _ => experiments.push((experiment, vec![row])),
                }
            }
        }
        let rows = experiments.iter().map(|(experiment, rows)| {
            format!("[{experiment}](../results/{experiment}.md): {}", rows.join(" "))
        });
        rows.chain(others).collect::<Vec<_>>().join("; ")
    }
}

impl Holds {
    const ALL: [Self; 3] = [Self::Yes, Self::Partly, Self::No];

    fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Partly => "partly",
            Self::No => "no",
        }
    }
}

/// The standard by which a row is judged: the source, otherwise our model of it, otherwise our own
/// requirement.
fn verdict(row: &Value) -> Option<&Value> {
    let kinds = ["source", "model", "requirement"].into_iter();
    kinds.map(|it| &row["verdicts"][it]).find(|it| !it.is_null())
}

/// Whether a name matches a pattern, in which each `*` stands for any letters.
fn is_like(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            let ends = rest.char_indices().map(|(place, _)| place).chain([rest.len()]);
            ends.into_iter().any(|place| is_like(&rest[place..], after))
        }),
    }
}

/// The tests of the repository, by name.
fn tests() -> BTreeMap<String, PathBuf> {
    let mut tests = BTreeMap::new();
    let mut folders = vec![root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let relative = path.strip_prefix(root()).expect("below the root").to_owned();
                let text = std::fs::read_to_string(&path).expect("a source");
                tests.extend(tests_of(&text).map(|it| (it.to_owned(), relative.clone())));
            }
        }
    }
    tests
}

fn tests_of(text: &str) -> impl Iterator<Item = &str> {
    let functions = text.split("#[test]").skip(1).filter_map(|it| it.split_once("fn "));
    functions.filter_map(|(_, it)| it.split('(').next())
}

const MADE: &str = "<!-- Made from results/sources.txt: UTMOST_BLESS=1 cargo test -p utmost-workshop --test cli sources -->\n";
const END: &str = "<!-- end -->";

/// How much holds of each source.
fn summary(sources: &[(&str, Vec<Atom<'_>>)], evidence: &Evidence) -> String {
    let mut text = "| source | yes | partly | no | all |\n|---|---:|---:|---:|---:|\n".to_owned();
    let mut row = |name: &str, atoms: &[&Atom<'_>]| {
        let counts = Holds::ALL
            .map(|holds| atoms.iter().filter(|it| evidence.holds(it) == holds).count().to_string());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {name} | {} | {} |", counts.join(" | "), atoms.len());
    };
    for (heading, atoms) in sources {
        row(heading, &atoms.iter().collect::<Vec<_>>());
    }
    row("all", &sources.iter().flat_map(|(_, atoms)| atoms).collect::<Vec<_>>());
    text
}

fn tables(sources: &[(&str, Vec<Atom<'_>>)], evidence: &Evidence) -> String {
    let mut text = String::new();
    for (heading, atoms) in sources {
        let _ = write!(
            text,
            "\n## {heading}\n\n| where | what the source has | does it hold? | shown by |\n|---|---|---|---|\n"
        );
        for atom in atoms {
            let (answer, links) = (evidence.answer(atom), evidence.links(atom));
            let Atom { place, claim, .. } = atom;
            let _ = writeln!(text, "| {place} | {claim} | {answer} | {links} |");
        }
    }
    text
}

/// The file with `made` in place of the earlier generated part.
fn with(file: &str, made: &str) -> String {
    let intact = text(file);
    let (before, rest) = intact.split_once(MADE).expect("where the made part begins");
    let (_, after) = rest.split_once(END).expect("where it ends");
    format!("{before}{MADE}{made}{END}{after}")
}

#[test]
fn everything_that_shows_something_of_a_source_is_there() {
    let (listed, evidence) = (text("results/sources.txt"), Evidence::at_hand());
    let atoms = sources(&listed).into_iter().flat_map(|(_, atoms)| atoms);
    let mut wrong = Vec::new();
    for atom in atoms {
        let absent = atom.shown_by.iter().filter(|it| evidence.is_absent(it));
        wrong.extend(absent.map(|it| format!("{}: {it} is not there", atom.claim)));
        if evidence.holds(&atom) == Holds::No && atom.shown_by.is_empty() && atom.missing.is_empty()
        {
            wrong.push(format!("{}: say what is missing", atom.claim));
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "results/sources.txt");
}

#[test]
fn the_documents_tell_what_holds_of_each_source() {
    let (listed, evidence) = (text("results/sources.txt"), Evidence::at_hand());
    let sources = sources(&listed);
    let summary = summary(&sources, &evidence);
    let tables = format!("{summary}{}", tables(&sources, &evidence));
    for (file, made) in [("docs/sources.md", &tables), ("docs/reproduce.md", &summary)] {
        let expected = with(file, made);
        if std::env::var_os("UTMOST_BLESS").is_some() {
            std::fs::write(root().join(file), expected).expect("written");
        } else {
            assert!(
                text(file) == expected,
                "{file} is out of date: run this test with UTMOST_BLESS=1"
            );
        }
    }
}

#[test]
fn the_list_of_experiments_ends_with_what_holds_of_each_source() {
    let list = crate::stdout_of(&["reproduce"]);
    let (experiments, summary) = list.split_once("docs/sources.md").expect("both");
    assert!(experiments.contains("marx-table2"), "{experiments}");
    assert!(summary.contains("| source | yes | partly | no | all |"), "{summary}");
    assert!(summary.trim_end().ends_with("| 241 |"), "{summary}");
}

#[test]
fn what_holds_follows_from_the_verdicts_of_rows() {
    let row = |verdicts: Value| serde_json::json!({ "verdicts": verdicts });
    let judged = |holds: bool| serde_json::json!({ "source": { "holds": holds } });
    let evidence = Evidence {
        rows: BTreeMap::from([
            ("a/yes".to_owned(), row(judged(true))),
            ("a/no".to_owned(), row(judged(false))),
            ("a/shown".to_owned(), row(serde_json::json!({ "source": null }))),
        ]),
        tests: BTreeMap::new(),
    };
    let answer = |line| evidence.answer(&atom(line));
    assert_eq!(answer("p. 1 | claim | a/yes; a/shown"), "yes");
    assert_eq!(answer("p. 1 | claim | a/yes | the rest"), "partly: the rest");
    assert_eq!(answer("p. 1 | claim | a/*"), "partly: 1 of 2 conditions hold");
    assert_eq!(answer("p. 1 | claim | a/n* | too small"), "no: 0 of 1 conditions hold; too small");
    assert_eq!(answer("p. 1 | claim | | nothing"), "no: nothing");
    assert_eq!(tests_of("#[test]\nfn a_fact() {}\nfn helper() {}").collect::<Vec<_>>(), ["a_fact"]);
}
