//! Visitors try orders: the flags, and the file that says what they have shown.

use crate::{Failure, values};
use ::server::read_limited_text;
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
    /// Let visitors try these schemes, and measure from the server's sending which is the best for each page. A scheme ignores
    /// clients' signals; NAME:obey and NAME:override use them
    #[arg(long = "explore", value_name = "NAME,...", value_delimiter = ',')]
    schemes: Vec<String>,
    /// How many of 100 connections try another order than the best one so far
    #[arg(long = "explore-share", value_name = "PERCENT", requires = "schemes", default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..=100))]
    share: u8,
    /// Write what was found into this file (JSON), each minute and at the end, and begin with what it says
    #[arg(long = "explore-file", value_name = "FILE", requires = "schemes")]
    file: Option<PathBuf>,
}

/// A thread that writes what was found.
pub(crate) struct Exploring {
    exploration: Arc<Exploration>,
    file: Option<PathBuf>,
    writer: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Explore {
    /// The orders. `find` knows schemes by name.
    pub(crate) fn orders(
        &self,
        find: impl Fn(&str) -> Result<Scheme, SchemeError>,
    ) -> Result<Option<Arc<Exploration>>, Failure> {
        let bad = |text: String| Failure::BadInput(format!("--explore: {text}"));
        let mut candidates: Vec<Candidate> = Vec::new();
        for name in &self.schemes {
            let (scheme, signals) = name.split_once(':').unwrap_or((name, "ignore"));
            let known = values::SIGNALS.iter().find(|(it, ..)| *it == signals);
            let (.., signals) = known
                .ok_or_else(|| bad(format!("{name}: {signals} is not ignore, obey or override")))?;
            if candidates.iter().any(|it| it.name == *name) {
                return Err(bad(format!("{name} is there twice")));
            }
            let scheme = find(scheme).map_err(|error| bad(error.to_string()))?;
            candidates.push(Candidate { name: name.clone(), scheme, signals: *signals });
        }
        if candidates.is_empty() {
            return Ok(None);
        }
        let exploration = Exploration::drawn(candidates, f64::from(self.share) / 100.0);
        let exploration = exploration.ok_or_else(|| bad("the system has no randomness".into()))?;
        Ok(Some(Arc::new(exploration)))
    }

    /// Goes on with what the file says, and begins to write it.
    pub(crate) fn begin(&self, exploration: Arc<Exploration>) -> Result<Exploring, Failure> {
        let Some(file) = self.file.clone() else {
            return Ok(Exploring { exploration, file: None, writer: None });
        };
        let failed = |error: String| {
            Failure::BadInput(format!("--explore-file: {}: {error}", file.display()))
        };
        match read_limited_text(&file) {
            Ok(text) => {
                let report: ExplorationReport = serde_json::from_str(&text)
                    .map_err(|error| failed(format!("not a report of --explore: {error}")))?;
                exploration.remember(report).map_err(|error| failed(error.to_string()))?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error.to_string())),
        }
        let mut before = exploration.report();
        save(&before, &file).map_err(|error| failed(error.to_string()))?;
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
        for line in brief(found, self.file.as_deref()) {
            eprintln!("{line}");
        }
        if let Some(file) = &self.file
            && let Err(error) = save(&report, file)
        {
            eprintln!("--explore-file: {}: {error}", file.display());
        }
    }
}

/// Replaces the file in one step, so that nobody reads half of it.
fn save(report: &ExplorationReport, file: &Path) -> std::io::Result<()> {
    let mut text = serde_json::to_string_pretty(report)?;
    text.push('\n');
    let mut beside = file.as_os_str().to_owned();
    beside.push(".new");
    write(&beside, text)?;
    rename(&beside, file)
}

/// The pages whose favourite is another one now.
fn changes<'a>(
    before: &'a ExplorationReport,
    now: &'a ExplorationReport,
) -> impl Iterator<Item = String> + 'a {
    let favourite = move |name: &str| {
        let page = before.pages.iter().find(|it| it.page == name);
        page.map_or(&now.orders[0], |it| &it.favourite)
    };
    let changed = now.pages.iter().filter(move |it| *favourite(&it.page) != it.favourite);
    changed.map(|it| format!("explore: {}: from now on {}: {}", it.page, it.favourite, it.found))
}

/// Pages of which the terminal hears at once.
const TOLD_PAGES: usize = 20;

/// The first of many lines, and where the others are.
fn brief(lines: impl Iterator<Item = String>, file: Option<&Path>) -> Vec<String> {
    let mut lines: Vec<String> = lines.collect();
    let left = lines.len().saturating_sub(TOLD_PAGES);
    if left > 0 {
        let place = file.map_or("--explore-file FILE has them".to_owned(), |it| {
            format!("{} has them", it.display())
        });
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
        let said = |count: usize, file| brief((0..count).map(|it| it.to_string()), file);
        assert_eq!(said(20, None).len(), 20);
        let many = said(1000, Some(Path::new("x.json")));
        assert_eq!(
            (many.len(), many[20].as_str()),
            (21, "explore: 980 more pages; x.json has them")
        );
    }
}
