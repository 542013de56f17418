//! Visitors try orders: the flags, and the file of findings.

use crate::{Failure, values};
use schedulers::{Scheme, SchemeError};
use server::{Candidate, Exploration, ExplorationReport};
use std::fs::{rename, write};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the file is written.
const INTERVAL: Duration = Duration::from_secs(60);

/// Which orders visitors try.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Explore {
    /// Let visitors try these schemes, and find the best one for each page. The measure is when the server sent its bytes. A scheme ignores
    /// clients' signals; NAME:obey and NAME:override use them
    #[arg(long = "explore", value_name = "NAME,...", value_delimiter = ',')]
    schemes: Vec<String>,
    /// Percentage of connections that try another order than the best one so far
    #[arg(long = "explore-share", hide_short_help = true, value_name = "PERCENT", requires = "schemes", default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..=100))]
    share: u8,
    /// Write the findings into this file (JSON), each minute and at the end. An existing file is continued
    #[arg(
        long = "explore-file",
        hide_short_help = true,
        value_name = "FILE",
        requires = "schemes"
    )]
    file: Option<PathBuf>,
}

/// A thread that writes the findings.
pub(crate) struct Exploring {
    exploration: Arc<Exploration>,
    file: Option<PathBuf>,
    writer: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Explore {
    /// The orders that visitors try. `find` looks up schemes by name.
    pub(crate) fn orders(
        &self,
        find: impl Fn(&str) -> Result<Scheme, SchemeError>,
    ) -> Result<Option<Arc<Exploration>>, Failure> {
        let candidates = self.candidates(find).map_err(Failure::in_flag("--explore"))?;
        if candidates.is_empty() {
            return Ok(None);
        }
        match Exploration::drawn(candidates, f64::from(self.share) / 100.0) {
            Some(exploration) => Ok(Some(Arc::new(exploration))),
            None => Err(Failure::in_flag("--explore")("the system has no randomness")),
        }
    }

    fn candidates(
        &self,
        find: impl Fn(&str) -> Result<Scheme, SchemeError>,
    ) -> Result<Vec<Candidate>, String> {
        let mut candidates: Vec<Candidate> = Vec::new();
        for name in &self.schemes {
            let (scheme, signals) = name.split_once(':').unwrap_or((name, "ignore"));
            let known = values::SIGNALS.iter().find(|(it, ..)| *it == signals);
            let Some((.., signals)) = known else {
                return Err(format!("{name}: {signals} is not ignore, obey or override"));
            };
            if candidates.iter().any(|before| before.name == *name) {
                return Err(format!("{name} occurs twice"));
            }
            let scheme = find(scheme).map_err(|error| error.to_string())?;
            candidates.push(Candidate { name: name.clone(), scheme, signals: *signals });
        }
        Ok(candidates)
    }

    /// Loads earlier findings from the file, and begins to write new ones.
    pub(crate) fn begin(&self, exploration: Arc<Exploration>) -> Result<Exploring, Failure> {
        let Some(file) = self.file.clone() else {
            return Ok(Exploring { exploration, file: None, writer: None });
        };
        let mut before = resumed(&exploration, &file).map_err(|error| {
            Failure::BadInput(format!("--explore-file: {}: {error}", file.display()))
        })?;
        let (end, ended) = channel::<()>();
        let (watched, place) = (Arc::clone(&exploration), file.clone());
        let thread = std::thread::spawn(move || {
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let now = watched.report();
                if let Err(error) = save(&now, &place) {
                    eprintln!("--explore-file: {}: {error}", place.display());
                }
                for line in brief(changes(&before, &now), Some(&place)) {
                    eprintln!("{line}");
                }
                before = now;
            }
        });
        Ok(Exploring { exploration, file: Some(file), writer: Some((end, thread)) })
    }
}

impl Exploring {
    /// Writes everything, after the server has ended.
    pub(crate) fn finish(self) {
        if let Some((end, thread)) = self.writer {
            drop(end);
            thread.join().ok();
        }
        let report = self.exploration.report();
        let found = report.pages.iter().map(|it| format!("explore: {}: {}", it.page, it.found));
        for line in brief(found.collect(), self.file.as_deref()) {
            eprintln!("{line}");
        }
        if let Some(file) = &self.file
            && let Err(error) = save(&report, file)
        {
            eprintln!("--explore-file: {}: {error}", file.display());
        }
    }
}

/// Reads the file, if it exists, and writes the findings so far.
fn resumed(exploration: &Exploration, file: &Path) -> Result<ExplorationReport, String> {
    match named_files::read_text(file) {
        Ok(text) => {
            let report: ExplorationReport = serde_json::from_str(&text)
                .map_err(|error| format!("not a report of --explore: {error}"))?;
            exploration.remember(report).map_err(|error| error.to_string())?;
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error.to_string()),
    }
    let report = exploration.report();
    save(&report, file).map_err(|error| error.to_string())?;
    Ok(report)
}

/// Replaces the file atomically, so that no reader sees half of it.
fn save(report: &ExplorationReport, file: &Path) -> std::io::Result<()> {
    let mut text = serde_json::to_string_pretty(report)?;
    text.push('\n');
    let mut beside = file.as_os_str().to_owned();
    beside.push(".new");
    write(&beside, text)?;
    rename(&beside, file)
}

/// The pages whose favourite order has changed.
fn changes(before: &ExplorationReport, now: &ExplorationReport) -> Vec<String> {
    let mut changes = Vec::new();
    for page in &now.pages {
        let then = before.pages.iter().find(|it| it.page == page.page);
        // Without findings, the first order counts as the favourite.
        let earlier = then.map_or(&now.orders[0], |it| &it.favourite);
        if page.favourite != *earlier {
            let (name, favourite, found) = (&page.page, &page.favourite, &page.found);
            changes.push(format!("explore: {name}: from now on {favourite}: {found}"));
        }
    }
    changes
}

/// Pages that are printed at once.
const TOLD_PAGES: usize = 20;

/// The first of many lines, and a pointer to the rest.
fn brief(mut lines: Vec<String>, file: Option<&Path>) -> Vec<String> {
    let left = lines.len().saturating_sub(TOLD_PAGES);
    if left > 0 {
        let place = match file {
            Some(file) => format!("{} has them", file.display()),
            None => "--explore-file FILE has them".to_owned(),
        };
        lines.truncate(TOLD_PAGES);
        lines.push(format!("explore: {left} more pages; {place}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_hears_of_twenty_pages_and_where_the_others_are() {
        let lines = vec!["explore: a".to_owned(); 1000];
        assert_eq!(brief(lines[..20].to_vec(), None).len(), 20);
        let many = brief(lines, Some(Path::new("x.json")));
        assert_eq!(
            (many.len(), many[20].as_str()),
            (21, "explore: 980 more pages; x.json has them")
        );
    }
}
