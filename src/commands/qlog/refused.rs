//! Logs without a complete answer: reported at once, and in the exit code.

use crate::output;
use ::serve::Failure;
use qlog_tools::trace::Trace;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The logs without an answer, and the reasons.
#[derive(Debug)]
pub(crate) struct Refused {
    logs: usize,
    reasons: Vec<(String, String)>,
    /// File, and which part of it was not read.
    incomplete: Vec<(String, String)>,
}

impl Refused {
    /// For `logs` logs, none of them rejected yet.
    pub(crate) fn of(logs: usize) -> Self {
        Self { logs, reasons: Vec::new(), incomplete: Vec::new() }
    }

    /// Records a rejected file. The reason is a line that names it; if there are several logs, it is printed at
    /// once.
    pub(crate) fn add(&mut self, file: &str, mut reason: String) {
        // A name with a line end cannot pass for another line.
        if reason.contains('\n') {
            reason = reason.replace('\n', "\u{fffd}");
        }
        if self.logs > 1 {
            output::note(&format!("utmost: {reason}"));
        }
        self.reasons.push((file.to_owned(), reason));
    }

    pub(crate) fn add_incomplete<'a>(&mut self, traces: impl IntoIterator<Item = &'a Trace>) {
        for trace in traces {
            if let Some(line) = trace.incomplete() {
                if self.logs > 1 {
                    output::note(&format!("utmost: {line}"));
                }
                self.incomplete.push((trace.file.clone(), line));
            }
        }
    }

    /// Records each file none of whose traces gave an answer, with the reason of the first.
    pub(crate) fn add_files<'a>(
        &mut self,
        traces: impl IntoIterator<Item = (&'a Trace, Option<String>)>,
    ) {
        let (answered, not): (Vec<_>, Vec<_>) =
            traces.into_iter().partition(|(_, reason)| reason.is_none());
        let mut known: BTreeSet<&str> = answered.iter().map(|(trace, _)| &*trace.file).collect();
        for (trace, reason) in not {
            if known.insert(&trace.file) {
                let reason = reason.unwrap_or_default();
                // The whole file gave no answer, not only its first trace.
                let of_file = reason.strip_prefix(&trace.label());
                let of_file = of_file.map(|rest| format!("{}{rest}", trace.file));
                self.add(&trace.file, of_file.unwrap_or(reason));
            }
        }
    }

    pub(crate) fn is_all(&self) -> bool {
        self.reasons.len() >= self.logs
    }

    pub(crate) fn note_in(&self, mut document: Value) -> Value {
        if let (Value::Object(fields), false) = (&mut document, self.reasons.is_empty()) {
            fields.insert("refused".to_owned(), listed(&self.reasons));
        }
        if let (Value::Object(fields), false) = (&mut document, self.incomplete.is_empty()) {
            fields.insert("incomplete".to_owned(), listed(&self.incomplete));
        }
        document
    }

    /// Prints a document of a format, with the rejected logs and its provenance.
    pub(crate) fn print_json(&self, format: &str, document: Value) -> Result<(), Failure> {
        output::json_of_program(format, self.note_in(document))
    }

    /// The exit code: 2 if any log was rejected or not read completely.
    pub(crate) fn end(self) -> Result<(), Failure> {
        if self.reasons.is_empty() && self.incomplete.is_empty() {
            Ok(())
        } else {
            Err(self.into_failure())
        }
    }

    pub(crate) fn answered(self) -> Result<(), Failure> {
        if self.reasons.is_empty() { Ok(()) } else { Err(self.into_failure()) }
    }

    /// The failure: for one log, its reason; for several, whose reasons are already printed, their number.
    pub(crate) fn into_failure(self) -> Failure {
        let (count, incomplete) = (self.reasons.len(), self.incomplete.len());
        Failure::BadInput(match (self.logs, self.reasons.into_iter().next()) {
            (1, Some((_, reason))) => reason,
            (1, None) => {
                let lines = self.incomplete.into_iter().map(|(_, line)| line);
                format!("{}; the answer excludes it", lines.collect::<Vec<_>>().join("; "))
            }
            (logs, None) => format!("{incomplete} of {logs} logs were read only in part"),
            (logs, _) => format!("{count} of {logs} logs gave no answer"),
        })
    }

    /// The same if the other logs' answer is no, which it also prints. The exit code is still 2 if any log was
    /// rejected.
    pub(crate) fn end_with(self, no: Option<String>) -> Result<(), Failure> {
        match no.map(Failure::No) {
            Some(no) if self.reasons.is_empty() && self.incomplete.is_empty() => Err(no),
            Some(no) => {
                output::note(&format!("utmost: {no}"));
                self.end()
            }
            None => self.end(),
        }
    }
}

/// Files and lines about them, in the form of `--json`.
fn listed(files: &[(String, String)]) -> Value {
    let entries = files.iter().map(|(file, line)| {
        let own = line.strip_prefix(file).and_then(|it| it.strip_prefix(": "));
        json!({"file": file, "reason": own.unwrap_or(line)})
    });
    entries.collect()
}
