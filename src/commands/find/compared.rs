//! Compares the present answer with an earlier one, for continuous integration: words, Markdown, `JUnit` XML, and an
//! exit code.

use crate::{output, values};
use ::serve::Failure;
use figures::escape;
use lab::finder::{Baseline, ByResource, Change, ChangeVerdict, Goal, changes};
use std::path::{Path, PathBuf};

/// The baseline of a comparison, and the conditions for failure.
#[derive(Debug, clap::Args)]
pub(crate) struct Compare {
    /// Compare with this earlier answer. Takes the output of --json, or answer.json of --out. Exits with 1 if a page got
    /// slower
    #[arg(long, value_name = "ANSWER", conflicts_with = "export")]
    baseline: Option<PathBuf>,
    /// Also fail if other priorities are now the best, because the page has changed
    #[arg(long, hide_short_help = true, requires = "baseline")]
    watch_drift: bool,
    /// Write the comparison as a Markdown table into this file
    #[arg(long, hide_short_help = true, value_name = "FILE", requires = "baseline")]
    markdown: Option<PathBuf>,
    /// Write the comparison as `JUnit` XML into this file
    #[arg(long, hide_short_help = true, value_name = "FILE", requires = "baseline")]
    junit: Option<PathBuf>,
}

pub(super) struct Compared {
    pub(super) changes: Vec<Change>,
    /// For each change, why it fails; `None` if it does not.
    failures: Vec<Option<String>>,
}

impl Compare {
    /// Reads the earlier answer, if one is named, before anything is loaded.
    pub(super) fn read(&self, goal: &Goal) -> Result<Option<Baseline>, Failure> {
        let Some(file) = &self.baseline else { return Ok(None) };
        let text = named_files::read_text(file);
        let text = text.map_err(|error| Failure::of_file(file, error))?;
        let before: Baseline = serde_json::from_str(&text).map_err(|error| {
            let remedy = "--baseline takes an answer of `utmost find --json`";
            Failure::of_file(file, format!("line {}: {error}; {remedy}", error.line()))
        })?;
        let (then, now) = (&before.metric, goal.text());
        if *then != now {
            let error = format!("it is judged by {then}, not by {now}; use --metric {then}");
            return Err(Failure::of_file(file, error));
        }
        Ok(Some(before))
    }

    /// Rejects files that cannot be written.
    pub(super) fn can_be_written(&self) -> Result<(), Failure> {
        let files = [(&self.markdown, "--markdown"), (&self.junit, "--junit")];
        let mut named = files.into_iter().filter_map(|(file, flag)| Some((file.as_deref()?, flag)));
        named.try_for_each(|(file, flag)| values::writable(file, flag))
    }

    pub(super) fn compared(&self, before: &Baseline, found: &[ByResource]) -> Compared {
        let changes = changes(before, found);
        let failures = changes.iter().map(|it| self.failure(it)).collect();
        Compared { changes, failures }
    }

    fn failure(&self, change: &Change) -> Option<String> {
        if change.verdict == ChangeVerdict::Slower {
            Some("slower than in the baseline".to_owned())
        } else if change.is_stale && self.watch_drift {
            Some("the page has changed, and so has the answer: run the search again".to_owned())
        } else {
            None
        }
    }

    pub(super) fn write(&self, compared: &Compared) -> Result<(), Failure> {
        let files = [(&self.markdown, compared.markdown()), (&self.junit, compared.junit())];
        for (file, text) in files {
            if let Some(file) = file {
                write(file, text)?;
            }
        }
        Ok(())
    }
}

fn write(file: &Path, text: String) -> Result<(), Failure> {
    lab::write_file(file, text).map_err(Failure::bad_input)
}

impl Compared {
    pub(super) fn show(&self) -> Result<(), Failure> {
        output::line("\nbeside the baseline:")?;
        self.changes.iter().try_for_each(|it| output::line(&format!("  {}", it.words)))
    }

    pub(super) fn end(&self) -> Result<(), Failure> {
        let mut failed: Vec<String> = Vec::new();
        for (Change { page, network, .. }, failure) in self.changes.iter().zip(&self.failures) {
            failed.extend(failure.as_ref().map(|it| format!("{page} on {network}: {it}")));
        }
        if !failed.is_empty() {
            return Err(Failure::No(failed.join("; ")));
        }
        if self.changes.iter().any(|it| it.verdict != ChangeVerdict::Unknown) {
            return Ok(());
        }
        let words = self.changes.first().map_or("neither answer has a page", |it| &it.words);
        Err(Failure::Elsewhere(format!(
            "nothing could be compared with the baseline: {words}; name a baseline with the same pages and networks"
        )))
    }

    fn markdown(&self) -> String {
        let head =
            "| page | network | beside the baseline | 95 % interval | |\n|---|---|---|---|---|\n";
        let rows = self.changes.iter().zip(&self.failures).map(|(change, failure)| {
            let [page, network] = [&change.page, &change.network].map(|it| it.replace('|', "\\|"));
            let ratio = output::number(change.judgement.ratio, 2);
            let interval = change.judgement.interval;
            let interval = interval.map(|[low, high]| format!("{low:.2} to {high:.2}"));
            let interval = interval.as_deref().unwrap_or("-");
            let result = match failure {
                Some(failure) => failure.as_str(),
                None if change.verdict == ChangeVerdict::Unknown => "not compared",
                None => "ok",
            };
            format!("| {page} | {network} | {ratio} | {interval} | {result} |\n")
        });
        format!("{head}{}", rows.collect::<String>())
    }

    fn junit(&self) -> String {
        let failed = self.failures.iter().flatten().count();
        let (mut cases, mut skipped): (Vec<String>, usize) = (Vec::new(), 0);
        for (change, failure) in self.changes.iter().zip(&self.failures) {
            let [page, network, words] =
                [&change.page, &change.network, &change.words].map(|it| escape(it));
            let failure = match failure {
                Some(cause) => format!("<failure message=\"{}\">{words}</failure>", escape(cause)),
                None if change.verdict == ChangeVerdict::Unknown => {
                    skipped += 1;
                    format!("<skipped message=\"{words}\"/>")
                }
                None => String::new(),
            };
            cases.push(format!(
                "  <testcase classname=\"{network}\" name=\"{page}\">{failure}</testcase>\n"
            ));
        }
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"utmost find\" tests=\"{}\" failures=\"{failed}\" skipped=\"{skipped}\">\n{}</testsuite>\n",
            cases.len(),
            cases.concat()
        )
    }
}
