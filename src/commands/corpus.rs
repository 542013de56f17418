//! `utmost corpus`: existing pages, and new ones.

mod generate;
pub(super) mod graph;
mod import;
mod outputs;
#[cfg(feature = "record")]
mod record;
mod stats;
#[cfg(feature = "record")]
mod visit;

use crate::output;
use ::corpus::{PageError, Query};
use ::serve::Failure;
use clap::Subcommand;
#[cfg(feature = "record")]
use std::path::PathBuf;
#[cfg(feature = "record")]
pub(crate) use visit::failure;

/// List, check, import, record and generate pages
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  utmost corpus list\n  utmost corpus import recording.har -o page.json\n  utmost corpus import recordings -o pages"
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
        /// Pages: bundled names, sets of them such as @first-60, files, or folders of them; default: @all
        #[arg(id = "PAGE", value_name = "PAGE")]
        names: Vec<String>,
        /// Select pages by a query, as in `utmost compare`
        #[arg(long, value_name = "QUERY", value_parser = Query::parse)]
        pages: Option<Query>,
    },
    /// Describe what pages are made of
    #[command(after_help = "Example:\n  utmost corpus stats --json")]
    Stats {
        /// Pages: bundled names, sets of them such as @first-60, files, or folders of them; default: @all
        pages: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check pages; exit code 1 if one is not valid
    #[command(after_help = "Example:\n  utmost corpus check page.json")]
    Check {
        /// Pages: bundled names, sets of them such as @first-60, files, or folders of them; default: @all
        pages: Vec<String>,
        #[cfg(feature = "record")]
        #[command(flatten)]
        chromium: visit::Arguments,
    },
    /// Fetch the real bodies of a page from its package, for `serve --root`
    #[cfg(feature = "record")]
    #[command(after_help = "Example:\n  utmost corpus bodies agency-home --out site")]
    Bodies {
        /// A page: a bundled name, or a file
        page: String,
        /// Where to put them
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    Import(import::Arguments),
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
        Command::Import(arguments) => import::run(arguments),
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
