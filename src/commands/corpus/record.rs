//! `utmost corpus record`: turns a real page, loaded in Chromium, into a page of the corpus.

use super::outputs::{self, Kind};
use super::visit::failure;
use crate::output;
use ::corpus::import::{Imported, name_of};
use ::corpus::page::Spread;
use ::serve::Failure;
use recorder::browser::Trust;
use recorder::limits::{SETTINGS_MAX, SETTINGS_MIN};
use recorder::recording::{self, CAPTURES_FORMAT, Captures, Request};
use std::path::{Path, PathBuf};

/// Record a page in Chromium, under several delays
///
/// Our own server serves the page over HTTP/3 several times, with different delays. The causes of requests are derived
/// from all loads together. The printed errors concern discovery times: `left out` predicts each setting from the
/// others, and `unseen` predicts settings that were not used for the derivation.
///
/// A URL's page is mirrored first: Chromium loads it once from its own server, and after that our server answers. Other
/// hosts are left out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost corpus record site -o page.json\n  \
utmost corpus record https://example.org/ -o example.json\n  \
utmost corpus record npm:startbootstrap-agency@7.0.12/dist/ -o agency.json --screenshot agency.png")]
pub(crate) struct Arguments {
    /// A folder, a URL, or a page in a package: npm:NAME@VERSION/PATH, deb:NAME[=VERSION]/PATH
    #[arg(value_name = "DIR|URL|PACKAGE", required_unless_present = "from_captures")]
    source: Option<String>,
    /// Write the page into this file
    #[arg(short, value_name = "PAGE.json", default_value = "page.json")]
    output: PathBuf,
    /// The document's path on the site [default: the path in the package or URL, or /]
    #[arg(long, value_name = "PATH")]
    entry: Option<String>,
    /// Trust this self-signed certificate of the server to mirror
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Mirror over HTTP/3 only, for a server without TCP such as `utmost serve`
    #[arg(long)]
    http3: bool,
    /// The page's name [default: the name of the output file]
    #[arg(long)]
    name: Option<String>,
    /// The source to record in the page [default: the package; none for a folder or URL]
    #[arg(long, value_name = "TEXT")]
    from: Option<String>,
    /// The page's licence
    #[arg(long, value_name = "TEXT", default_value = "unknown")]
    licence: String,
    /// Number of settings to derive from
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u8).range(SETTINGS_MIN as i64..=SETTINGS_MAX as i64))]
    settings: u8,
    /// Loads under each setting
    #[arg(long, visible_alias = "seeds", value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=20))]
    loads: u8,
    /// Keep the page even if it does not predict its own recordings
    #[arg(long)]
    force: bool,
    /// Write a picture of the loaded page (PNG)
    #[arg(long, value_name = "FILE")]
    screenshot: Option<PathBuf>,
    /// Write all of the browser's reports, as JSON
    #[arg(long, value_name = "FILE")]
    captures: Option<PathBuf>,
    /// Derive the page again from such a file, without loading anything
    #[arg(long, value_name = "FILE", conflicts_with_all = ["source", "captures", "screenshot"])]
    from_captures: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let name = arguments.name.clone().unwrap_or_else(|| name_of(&arguments.output));
    check_outputs(arguments)?;
    let mut captures = match &arguments.from_captures {
        Some(file) => read(file)?,
        None => record(arguments)?,
    };
    if let Some(from) = &arguments.from {
        captures.from.clone_from(from);
    }
    let judged = recording::page(&captures, &name, &arguments.licence).map_err(failure)?;
    for note in &judged.notes {
        eprintln!("note: {note}");
    }
    show(&judged)?;
    if !arguments.force {
        recording::good_enough(&judged.page)
            .map_err(|error| Failure::No(format!("{name}: {error}")))?;
    }
    outputs::write(&arguments.output, Kind::Page, judged.page.to_text().as_bytes())
}

/// Rejects output files that cannot be written now, because a recording takes minutes.
fn check_outputs(arguments: &Arguments) -> Result<(), Failure> {
    outputs::check(&arguments.output, Kind::Page)?;
    for (file, kind) in
        [(&arguments.captures, Kind::Captures), (&arguments.screenshot, Kind::Picture)]
    {
        file.as_ref().map_or(Ok(()), |it| outputs::check(it, kind))?;
    }
    Ok(())
}

fn record(arguments: &Arguments) -> Result<Captures, Failure> {
    let pin = arguments.ca.as_ref().map(|it| server::certificate_pin(it)).transpose();
    let pin = pin.map_err(Failure::bad_input)?;
    let request = Request {
        source: arguments.source.clone().unwrap_or_default(),
        entry: arguments.entry.clone(),
        trust: Trust { pin, http3: arguments.http3 },
        settings: arguments.settings.into(),
        loads: arguments.loads.into(),
        judged: true,
        screenshot: arguments.screenshot.is_some(),
    };
    let (captures, picture) = recording::capture(&request, &output::step).map_err(failure)?;
    if let Some(file) = &arguments.captures {
        let text = serde_json::to_string(&captures).map_err(Failure::elsewhere)?;
        outputs::write(file, Kind::Captures, text.as_bytes())?;
    }
    if let Some((file, picture)) = arguments.screenshot.as_ref().zip(picture) {
        outputs::write(file, Kind::Picture, &picture)?;
    }
    Ok(captures)
}

fn show(judged: &Imported) -> Result<(), Failure> {
    let Some(recording) = &judged.page.source.recording else { return Ok(()) };
    let mut spreads = vec![("left out", recording.left_out_ms)];
    spreads.extend(recording.unseen_ms.map(|it| ("unseen", it)));
    let rows = spreads.into_iter().map(|(what, Spread { p50, p90, max, .. })| {
        let name = judged.page.name.clone();
        vec![name, what.to_owned(), p50.to_string(), p90.to_string(), max.to_string()]
    });
    let header = ["page", "error in ms", "median", "p90", "max"];
    output::line(&output::table(&header, &[1], rows).to_string())
}

fn read(file: &Path) -> Result<Captures, Failure> {
    let text = named_files::read_text(file).map_err(|error| Failure::of_file(file, error))?;
    let captures: Captures =
        serde_json::from_str(&text).map_err(|error| Failure::of_file(file, error))?;
    match &*captures.format {
        CAPTURES_FORMAT => Ok(captures),
        other => {
            let cause = format!("format `{other}` is not `{CAPTURES_FORMAT}`");
            Err(Failure::of_file(file, cause))
        }
    }
}
