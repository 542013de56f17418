//! `utmost corpus`: the pages there are, and new ones.

mod record;
mod visit;

use crate::failure::Failure;
use crate::{output, values};
use ::corpus::import::{self, Imported};
use ::corpus::{Page, PageError, bundled_names, stats};
use clap::Subcommand;
use std::path::PathBuf;

/// List, check, import and record pages
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
    #[command(after_help = "Example:\n  utmost corpus list")]
    List,
    /// Say what pages are made of
    #[command(after_help = "Example:\n  utmost corpus stats --json")]
    Stats {
        /// Pages: bundled names, or files; all bundled ones when none is named
        pages: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check page files; exit code 1 if one is not valid
    #[command(after_help = "Example:\n  utmost corpus check page.json")]
    Check {
        /// Pages: bundled names, or files
        #[arg(required = true)]
        pages: Vec<String>,
        /// Also load each page in Chromium from our server, and see whether it asks for what the page says
        #[arg(long)]
        browser: bool,
        /// With real bodies, fetched from the page's package
        #[arg(long, requires = "browser")]
        real: bool,
    },
    /// Fetch the real bodies of a page from its package, to serve them with `serve --root`
    #[command(after_help = "Example:\n  utmost corpus bodies agency-home --out site")]
    Bodies {
        /// A page: a bundled name, or a file
        page: String,
        /// Where to put them
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Make a page from a HAR file, a DevTools network log, or a package-page recording
    #[command(after_help = "Example:\n  utmost corpus import recording.har.gz -o page.json")]
    Import {
        /// The recording, gzipped or not
        file: PathBuf,
        /// Where to write the page
        #[arg(short, value_name = "PAGE")]
        output: PathBuf,
    },
    Record(record::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::List => show_stats(&[], false),
        Command::Stats { pages, json } => show_stats(pages, *json),
        Command::Check { pages, browser: false, .. } => check(pages),
        Command::Check { pages, browser: true, real } => visit::run(pages, *real),
        Command::Bodies { page, out } => visit::bodies(page, out),
        Command::Import { file, output } => import_page(file, output),
        Command::Record(arguments) => record::run(arguments),
    }
}

fn show_stats(arguments: &[String], json: bool) -> Result<(), Failure> {
    let names: Vec<String> = match arguments {
        [] => bundled_names().into_iter().map(str::to_owned).collect(),
        named => named.to_vec(),
    };
    let pages: Vec<Page> = names.iter().map(|it| values::page(it)).collect::<Result<_, _>>()?;
    let stats = stats::stats(&pages);
    if json {
        return output::json(&stats);
    }
    let rows = stats.rows.iter().map(|it| {
        let source = format!("{:?}", it.source).to_lowercase();
        let count = |value: usize| value.to_string();
        let counts =
            [count(it.resources), it.bytes.to_string(), count(it.atf_resources), count(it.depth)];
        [it.name.clone(), source].into_iter().chain(counts).collect()
    });
    let header = ["page", "source", "resources", "bytes", "ATF resources", "depth"];
    output::line(&output::table(&header, &[1], rows).to_string())
}

fn check(pages: &[String]) -> Result<(), Failure> {
    let mut wrong = 0;
    for page in pages {
        match ::corpus::page(page) {
            Ok(_) => output::line(&format!("{page}: valid"))?,
            Err(PageError::Wrong { file, problems }) => {
                wrong += 1;
                for problem in problems {
                    eprintln!("{file}: {problem}");
                }
            }
            Err(error) => {
                wrong += 1;
                eprintln!("{error}");
            }
        }
    }
    if wrong == 0 {
        Ok(())
    } else {
        Err(Failure::No(format!("{wrong} of {} pages not valid", pages.len())))
    }
}

fn import_page(file: &std::path::Path, to: &std::path::Path) -> Result<(), Failure> {
    let Imported { page, notes } = import::import(file, None).map_err(Failure::bad_input)?;
    std::fs::write(to, page.to_text())
        .map_err(|error| Failure::BadInput(format!("{}: {error}", to.display())))?;
    for note in notes {
        eprintln!("assumed: {note}");
    }
    output::line(&format!("{}: {} resources", to.display(), page.resources.len()))
}
