//! `utmost corpus import`: recordings, made into pages.

mod several;

use super::outputs::{self, Kind};
use crate::output;
use ::corpus::import::{Addresses, IMPORTERS, Imported, Label, import, name_of};
use ::serve::Failure;
use std::path::{Path, PathBuf};

/// Make pages from recordings
#[derive(Debug, clap::Args)]
#[command(
    long_about = about(),
    after_help = "Examples:\n  utmost corpus import recording.har.gz -o page.json\n  \
utmost corpus import recordings -o pages\n  utmost corpus import one.har two.har -o pages --keep-addresses"
)]
pub(super) struct Arguments {
    /// Recordings, gzipped or not; a folder stands for the files in it, and `*` for any characters of a file
    /// name
    #[arg(value_name = "RECORDING", required = true)]
    recordings: Vec<PathBuf>,
    /// Where to write the page. For more than one recording, the folder for the pages
    #[arg(short, value_name = "PAGE|DIR")]
    output: PathBuf,
    /// The page's name [default: the name of the output file, or of each recording's file]
    #[arg(long)]
    name: Option<String>,
    /// The source to record in the page [default: a recording, without its name]
    #[arg(long, value_name = "TEXT")]
    from: Option<String>,
    /// Keep the hosts and paths of a HAR file or `DevTools` log, so that a policy from the page fits the site
    #[arg(long)]
    keep_addresses: bool,
    /// Which page load of a HAR file or `DevTools` log to keep, from 1 [default: the one with the most bytes]
    #[arg(long, value_name = "N")]
    load: Option<usize>,
    /// The site that the page belongs to; studies count a site once [default: the registrable domain of the
    /// document's host; without --keep-addresses, a stand-in for the domain]
    #[arg(long, value_name = "NAME")]
    site: Option<String>,
}

fn about() -> String {
    let formats = IMPORTERS.iter().map(|it| format!("  {:<16} {}\n", it.name, it.form));
    format!(
        "Make pages from recordings. The contents determine the format:\n\n{}\nFacts that a recording does not contain are assumed. These assumptions are listed on stderr and kept in the page's source. Stand-ins replace hosts and paths, except in resource lists and package pages, and also the recording's own name, which often contains the host's. With more than one recording, each page has the name of its file, and the table {} in the folder lists what was read, what was rejected and why, and what was assumed.",
        formats.collect::<String>(),
        several::TABLE
    )
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.recordings[..] {
        [file] if !arguments.output.is_dir() && !several::is_several(file) => one(arguments, file),
        _ => several::run(arguments),
    }
}

impl Arguments {
    fn label(&self, name: String) -> Label {
        let label = Label::named(name);
        Label {
            from: self.from.clone().unwrap_or(label.from),
            addresses: if self.keep_addresses { Addresses::Kept } else { Addresses::Renamed },
            load: self.load,
            site: self.site.clone(),
            ..label
        }
    }
}

fn one(arguments: &Arguments, file: &Path) -> Result<(), Failure> {
    let to = &arguments.output;
    outputs::check(to, Kind::Page)?;
    let label = arguments.label(arguments.name.clone().unwrap_or_else(|| name_of(to)));
    let Imported { page, notes } = import(file, Some(label)).map_err(Failure::bad_input)?;
    outputs::write(to, Kind::Page, page.to_text().as_bytes())?;
    for note in notes {
        eprintln!("assumed: {note}");
    }
    output::line(&format!("{}: {} resources", to.display(), page.resources.len()))
}
