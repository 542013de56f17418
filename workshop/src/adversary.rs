//! `utmost-workshop adversary`: a page that is hard for one scheme.

mod search;

use lab::network::Network;
use search::{PAGE_BYTES_MAX, RESOURCES_MAX, RESOURCES_MIN, STEPS, search};
use serve::{Failure, values};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use terminal::output;

/// Change a page until one scheme does worst on it
///
/// Searches for a page on which the scheme does worst compared with the paper's best other scheme, on engine `ideal` and network
/// `paper`. The search begins with the named page, which must have at most 24 resources and 400 kB. It changes sizes, kinds of
/// scripts and the order of references. The same seed gives the same page.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  utmost corpus generate --seed 7 --resources 24 --bytes 400k -o page.json\n  \
utmost-workshop adversary fifo page.json --seed 7 -o hard.json"
)]
pub(crate) struct Arguments {
    /// The scheme
    #[arg(value_name = "SCHEME")]
    scheme: String,
    /// The page to begin with, a bundled name or a file
    #[arg(value_name = "PAGE")]
    page: String,
    /// The seed of the changes
    #[arg(long)]
    seed: u64,
    /// Write the page into this file, which must not exist yet
    #[arg(short, value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let name = &arguments.scheme;
    let scheme = schedulers::find_page_scheme(name).map_err(Failure::bad_input)?;
    let page = values::page(&arguments.page)?;
    let bytes = page.body_bytes();
    let count = page.resources.len();
    if !(RESOURCES_MIN..=RESOURCES_MAX).contains(&count) || bytes > PAGE_BYTES_MAX {
        return Err(Failure::BadInput(format!(
            "{}: has {count} resources and {bytes} bytes; the search takes pages of {RESOURCES_MIN} to {RESOURCES_MAX} \
             resources and at most {PAGE_BYTES_MAX} bytes",
            page.name
        )));
    }
    let path = &arguments.output;
    values::writable(path, "-o")?;
    let mut file = File::create_new(path).map_err(|error| Failure::of_file(path, error))?;
    let network = Network::find("paper").map_err(Failure::bad_input)?;
    output::note(&format!("searching: {STEPS} pages under the paper's schemes"));
    let found = search(&scheme, page, arguments.seed, &network);
    let text = found.page.to_text();
    file.write_all(text.as_bytes()).map_err(|error| Failure::of_file(path, error))?;
    output::line(&format!(
        "{}: its ATF index under {name} is {:.2} times that under {}",
        path.display(),
        found.ratio,
        found.best
    ))
}
