//! `utmost corpus record`: a real page, loaded in Chromium, as a page.

use super::visit::failure;
use crate::failure::Failure;
use crate::output;
use ::corpus::page::Spread;
use recorder::recording::{self, Captures, Judged, Request};
use recorder::setting::{SETTINGS_MAX, SETTINGS_MIN};
use std::path::{Path, PathBuf};

/// Record a page in Chromium, under several delays
///
/// The page is served by our own server over HTTP/3, a few times with other delays each; what causes
/// what is derived from all loads together. Errors are those of discovery times: `left out` under each
/// setting predicted from the others, `unseen` under settings that took no part.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost corpus record site -o page.json\n  \
utmost corpus record npm:startbootstrap-agency@7.0.12/dist/ -o agency.json --screenshot agency.png")]
pub(crate) struct Arguments {
    /// A folder, or a page in a package: npm:NAME@VERSION/PATH, deb:NAME[=VERSION]/PATH
    #[arg(value_name = "DIR|PACKAGE", required_unless_present = "from_captures")]
    source: Option<String>,
    /// Where to write the page
    #[arg(short, value_name = "PAGE.json", default_value = "page.json")]
    output: PathBuf,
    /// The document's path on the site [default: the package's, or /]
    #[arg(long, value_name = "PATH")]
    entry: Option<String>,
    /// The page's licence
    #[arg(long, value_name = "TEXT", default_value = "unknown")]
    licence: String,
    /// Settings to derive from
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u8).range(SETTINGS_MIN as i64..=SETTINGS_MAX as i64))]
    settings: u8,
    /// Loads under each setting
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=20))]
    loads: u8,
    /// Keep the page even if it does not predict its own recordings
    #[arg(long)]
    force: bool,
    /// Write a picture of the loaded page (PNG)
    #[arg(long, value_name = "FILE")]
    screenshot: Option<PathBuf>,
    /// Write all that was seen, as JSON
    #[arg(long, value_name = "FILE")]
    captures: Option<PathBuf>,
    /// Derive the page again from what was seen before
    #[arg(long, value_name = "FILE", conflicts_with_all = ["source", "captures", "screenshot"])]
    from_captures: Option<PathBuf>,
    /// List what was predicted worst
    #[arg(long)]
    misses: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let name = arguments.output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let captures = match &arguments.from_captures {
        Some(file) => read(file)?,
        None => record(arguments, &name)?,
    };
    let judged = recording::page(&captures, &name, &arguments.licence).map_err(failure)?;
    for note in &judged.notes {
        eprintln!("note: {note}");
    }
    show(&judged, arguments.misses)?;
    if !arguments.force {
        recording::good_enough(&judged.page)
            .map_err(|error| Failure::No(format!("{name}: {error}")))?;
    }
    write(&arguments.output, judged.page.to_text().as_bytes())
}

fn record(arguments: &Arguments, name: &str) -> Result<Captures, Failure> {
    let request = Request {
        source: arguments.source.clone().unwrap_or_default(),
        entry: arguments.entry.clone(),
        name: name.to_owned(),
        licence: arguments.licence.clone(),
        settings: arguments.settings.into(),
        loads: arguments.loads.into(),
        screenshot: arguments.screenshot.is_some(),
    };
    let (captures, picture) =
        recording::capture(&request, &|it| eprintln!("{it}")).map_err(failure)?;
    if let Some(file) = &arguments.captures {
        write(file, serde_json::to_string(&captures).unwrap_or_default().as_bytes())?;
    }
    if let Some((file, picture)) = arguments.screenshot.as_ref().zip(picture) {
        write(file, &picture)?;
    }
    Ok(captures)
}

fn show(judged: &Judged, all: bool) -> Result<(), Failure> {
    let Some(recording) = &judged.page.source.recording else { return Ok(()) };
    let row = |what: &str, it: Spread| {
        vec![
            judged.page.name.clone(),
            what.to_owned(),
            it.p50.to_string(),
            it.p90.to_string(),
            it.max.to_string(),
        ]
    };
    let rows = [
        Some(row("left out", recording.left_out_ms)),
        recording.unseen_ms.map(|it| row("unseen", it)),
    ];
    let header = ["page", "error in ms", "median", "p90", "max"];
    output::line(&output::table(&header, &[1], rows.into_iter().flatten()).to_string())?;
    if !all {
        return Ok(());
    }
    let mut misses = judged.unseen.clone();
    misses.sort_by(|a, b| b.error_ms().total_cmp(&a.error_ms()));
    let ms = |it: f64| format!("{it:.1}");
    let rows = misses.iter().take(20).map(|it| {
        let predicted = it.predicted_ms.map_or("never".to_owned(), ms);
        let resource = &judged.page.resources[it.resource];
        vec![
            it.resource.to_string(),
            resource.url.clone(),
            format!("{:?}", resource.trigger.on),
            it.setting.clone(),
            ms(it.seen_ms),
            predicted,
        ]
    });
    let header = ["id", "url", "on", "setting", "seen ms", "predicted ms"];
    output::line(&output::table(&header, &[1, 2, 3], rows).to_string())
}

fn read(file: &Path) -> Result<Captures, Failure> {
    let wrong =
        |error: &dyn std::fmt::Display| Failure::BadInput(format!("{}: {error}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|it| wrong(&it))?;
    serde_json::from_str(&text).map_err(|it| wrong(&it))
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(file, bytes)
        .map_err(|error| Failure::BadInput(format!("{}: {error}", file.display())))
}
