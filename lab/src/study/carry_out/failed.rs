//! Schemes that failed while a study ran; they are excluded from comparisons.

use crate::study::{RunRecord, Unfinished};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The manifest's key for failed schemes, each with its first failure. Present if one failed.
pub(crate) const KEY: &str = "failed_schemes";

/// Marks all loads of a failed scheme as unfinished, because the rest would be a biased selection of pages and seeds. Returns
/// these schemes, each with its first failure.
pub(crate) fn leave_out(runs: &mut [RunRecord]) -> BTreeMap<String, String> {
    let mut failed: BTreeMap<String, String> = BTreeMap::new();
    for run in runs.iter() {
        let RunRecord { page, scheme, seed, unfinished, .. } = run;
        if let Some(Unfinished { problem, of_scheme: true, .. }) = unfinished {
            let first = failed.entry(scheme.clone());
            first.or_insert_with(|| format!("page {page}, seed {seed}: {problem}"));
        }
    }
    for run in runs {
        let problem = failed.get(&run.scheme).cloned();
        if let Some(problem) = problem.filter(|_| run.completed) {
            run.completed = false;
            run.unfinished = Some(Unfinished { problem, qlog: None, of_scheme: true });
        }
    }
    failed
}

/// Records the failed schemes, in place of those recorded before.
pub(crate) fn name_in(provenance: &mut Value, failed: &BTreeMap<String, String>) {
    let Some(keys) = provenance.as_object_mut() else { return };
    keys.shift_remove(KEY);
    if !failed.is_empty() {
        keys.insert(KEY.to_owned(), json!(failed));
    }
}

/// A sentence for each scheme that a manifest names.
pub(crate) fn sentences(provenance: &Value) -> Vec<String> {
    let failed = provenance[KEY].as_object().into_iter().flatten();
    let sentences = failed.map(|(scheme, cause)| {
        let cause = cause.as_str().unwrap_or_default();
        format!("Scheme {scheme} failed, so it is not compared ({cause}).")
    });
    sentences.collect()
}
