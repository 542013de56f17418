//! `utmost corpus`: the pages there are, and new ones.

mod generate;
pub(super) mod graph;
mod outputs;
#[cfg(feature = "record")]
mod record;
mod stats;
#[cfg(feature = "record")]
mod visit;

use crate::output;
use ::corpus::import::{self, Addresses, IMPORTERS, Imported, Label};
use ::corpus::{PageError, Query};
use ::serve::Failure;
use clap::Subcommand;
use outputs::Kind;
use std::path::{Path, PathBuf};
#[cfg(feature = "record")]
pub(crate) use visit::failure;

/// List, check, import, record and generate pages
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  utmost corpus list\n  utmost corpus import recording.har -o page.json"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the bundled pages
    #[command(
        after_help = "Examples:\n  utmost corpus list\n  utmost corpus list @first-60 --pages 'hero and hosts > 3'"
    )]
    List {
        /// Pages: bundled names, sets of them such as @first-60, or files; @all when none is named
        #[arg(id = "PAGE", value_name = "PAGE")]
        names: Vec<String>,
        /// Only those that are like this, as in `utmost compare`
        #[arg(long, value_name = "QUERY", value_parser = Query::parse)]
        pages: Option<Query>,
    },
    /// Say what pages are made of
    #[command(after_help = "Example:\n  utmost corpus stats --json")]
    Stats {
        /// Pages: bundled names, sets of them such as @first-60, or files; @all when none is named
        pages: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check pages; exit code 1 if one is not valid
    #[command(after_help = "Example:\n  utmost corpus check page.json")]
    Check {
        /// Pages: bundled names, sets of them such as @first-60, or files; @all when none is named
        pages: Vec<String>,
        #[cfg(feature = "record")]
        #[command(flatten)]
        chromium: visit::Arguments,
    },
    /// Fetch the real bodies of a page from its package, to serve them with `serve --root`
    #[cfg(feature = "record")]
    #[command(after_help = "Example:\n  utmost corpus bodies agency-home --out site")]
    Bodies {
        /// A page: a bundled name, or a file
        page: String,
        /// Where to put them
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Make a page from a recording
    #[command(
        long_about = about_import(),
        after_help = "Example:\n  utmost corpus import recording.har.gz -o page.json"
    )]
    Import {
        /// The recording, gzipped or not
        file: PathBuf,
        /// Where to write the page
        #[arg(short, value_name = "PAGE")]
        output: PathBuf,
        /// The page's name [default: the name of the output file]
        #[arg(long)]
        name: Option<String>,
        /// The source that the page names [default: a recording, without its name]
        #[arg(long, value_name = "TEXT")]
        from: Option<String>,
        /// Keep the hosts and paths of a HAR file or `DevTools` log: the page then names its site, and a policy
        /// for it fits the site
        #[arg(long)]
        keep_addresses: bool,
        /// The page load to keep, from 1, of a HAR file or `DevTools` log with several [default: the one with
        /// the most bytes]
        #[arg(long, value_name = "N")]
        load: Option<usize>,
        /// The site that the page shares with others: studies count it once [default: the registrable domain of the
        /// document's host; without --keep-addresses, a stand-in for the domain]
        #[arg(long, value_name = "NAME")]
        site: Option<String>,
    },
    /// Make a synthetic page
    #[command(
        after_help = "Examples:\n  utmost corpus generate --seed 7 -o page.json\n  utmost corpus generate --seed 7 --resources 60 --depth 4 --late-share 0.4 -o page.json\n  utmost corpus generate --template lighthouse-paulirish --seed 7 --resources 71 --bytes 2652k -o page.json"
    )]
    Generate(generate::Arguments),
    #[cfg(feature = "record")]
    Record(record::Arguments),
    Graph(graph::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::List { names, pages } => stats::list(names, pages.as_ref()),
        Command::Stats { pages, json } => stats::show(pages, *json),
        Command::Check {
            pages,
            #[cfg(feature = "record")]
            chromium,
        } => {
            let all = ["@all".to_owned()];
            let pages = if pages.is_empty() { &all } else { &pages[..] };
            let pages = &::corpus::sets::spelled_out(pages).map_err(Failure::bad_input)?;
            #[cfg(feature = "record")]
            if chromium.browser {
                return visit::run(pages, chromium.real);
            }
            check(pages)
        }
        #[cfg(feature = "record")]
        Command::Bodies { page, out } => visit::bodies(page, out),
        Command::Generate(arguments) => generate::run(arguments),
        Command::Import { file, output, name, from, keep_addresses, load, site } => {
            let label = Label {
                name: name.clone().unwrap_or_else(|| import::name_of(output)),
                from: from.clone().unwrap_or_else(|| "a recording".to_owned()),
                licence: "unknown".to_owned(),
                sha256: None,
                addresses: if *keep_addresses { Addresses::Kept } else { Addresses::Renamed },
                load: *load,
                site: site.clone(),
            };
            import_page(file, output, label)
        }
        #[cfg(feature = "record")]
        Command::Record(arguments) => record::run(arguments),
        Command::Graph(arguments) => graph::run(arguments),
    }
}

fn check(pages: &[String]) -> Result<(), Failure> {
    let (mut wrong, mut unread) = (0, 0);
    for page in pages {
        match ::corpus::page(page) {
            Ok(_) => output::line(&format!("{page}: valid"))?,
            Err(PageError::Wrong { file, problems }) => {
                wrong += 1;
                for problem in problems {
                    eprintln!("{file}: {problem}");
                }
            }
            Err(error @ PageError::Json { .. }) => {
                wrong += 1;
                eprintln!("{error}");
            }
            Err(error) if pages.len() == 1 => return Err(Failure::bad_input(error)),
            Err(error) => {
                unread += 1;
                eprintln!("{error}");
            }
        }
    }
    let count = pages.len();
    match (wrong, unread) {
        (0, 0) => Ok(()),
        (wrong, 0) => Err(Failure::No(format!("{wrong} of {count} pages not valid"))),
        (_, unread) => Err(Failure::BadInput(format!("{unread} of {count} pages cannot be read"))),
    }
}

fn about_import() -> String {
    let formats = IMPORTERS.iter().map(|it| format!("  {:<16} {}\n", it.name, it.form));
    format!(
        "Make a page from a recording. The contents tell the format:\n\n{}\nFacts that the recording does not contain are assumed. These assumptions are listed on stderr and kept in the page's source. Stand-ins replace hosts and paths, except in resource lists and package pages, and also the recording's own name, which often contains the host's.",
        formats.collect::<String>()
    )
}

fn import_page(file: &Path, to: &Path, label: Label) -> Result<(), Failure> {
    outputs::check(to, Kind::Page)?;
    let Imported { page, notes } = import::import(file, Some(label)).map_err(Failure::bad_input)?;
    outputs::write(to, Kind::Page, page.to_text().as_bytes())?;
    for note in notes {
        eprintln!("assumed: {note}");
    }
    output::line(&format!("{}: {} resources", to.display(), page.resources.len()))
}
