//! The resources that count as above the fold: from a page or from a list.

use crate::values;
use ::serve::Failure;
use qlog_tools::alignment::path_of;
use qlog_tools::trace::Trace;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where the ATF set is from.
#[derive(Debug, clap::Args)]
pub(crate) struct SetArguments {
    /// The page whose above-the-fold resources count: a bundled name, or a file
    #[arg(long, value_name = "PAGE")]
    page: Option<String>,
    /// A file with the URLs or paths of the resources above the fold: a JSON array, or one per line
    #[arg(long, value_name = "FILE", conflicts_with = "page")]
    set: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct AtfSet {
    urls: BTreeSet<String>,
}

impl SetArguments {
    pub(crate) fn is_given(&self) -> bool {
        self.page.is_some() || self.set.is_some()
    }

    pub(crate) fn atf_set(&self) -> Result<Option<AtfSet>, Failure> {
        if let Some(page) = &self.page {
            let page = values::page(page)?;
            let atf = page.resources.iter().filter(|it| it.above_fold).map(|it| it.url.clone());
            return Ok(Some(AtfSet::new(atf)));
        }
        self.set.as_deref().map(read).transpose()
    }
}

fn read(file: &Path) -> Result<AtfSet, Failure> {
    let text = named_files::read_text(file).map_err(|error| Failure::of_file(file, error))?;
    let urls: Vec<String> = if text.trim_start().starts_with('[') {
        serde_json::from_str(&text)
            .map_err(|error| Failure::of_file(file, format!("{error}; use an array of URLs")))?
    } else {
        text.lines().map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect()
    };
    if urls.is_empty() {
        return Err(Failure::of_file(file, "the set is empty; name one URL or path per line"));
    }
    Ok(AtfSet::new(urls))
}

impl AtfSet {
    fn new(urls: impl IntoIterator<Item = String>) -> Self {
        // A log may have only paths, and another host may serve the page.
        Self { urls: urls.into_iter().map(|url| path_of(&url).to_owned()).collect() }
    }

    pub(crate) fn contains(&self, url: &str) -> bool {
        self.urls.contains(path_of(url))
    }

    /// Why the set selects nothing of a log, in a line that names the log.
    pub(crate) fn lacks(&self, trace: &Trace) -> Option<String> {
        let mut transfers = trace.timeline.transfers.iter();
        transfers.all(|it| !self.contains(&it.url)).then(|| nothing_of_set(trace))
    }
}

/// The reason why a log with nothing of the set has no answer.
pub(super) fn nothing_of_set(trace: &Trace) -> String {
    format!("{}: nothing in the log belongs to the set of --page or --set", trace.label())
}
