//! A study in a folder: every load is written down as soon as it is done, and is not done again.

use super::carry_out::journal::{self, Journal};
use super::carry_out::loading::Loader;
use super::carry_out::manifest;
use super::plan::Cell;
use super::{Plan, Study, StudyError};
use crate::FileError;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Loads without a transport that may be lost when the machine stops: doing them again takes less than a sync each.
const QUICK_LINES_A_SYNC: usize = 256;

/// Carries out the rest of `plan` in `folder`, which is made where it is missing. Calls `progress` for each load, also
/// for those that are done already.
pub fn run_into(
    plan: &Plan,
    program: Value,
    folder: &Path,
    progress: &(dyn Fn() + Sync),
) -> Result<Study, StudyError> {
    plan.check()?;
    let provenance = claim(plan, program, folder)?;
    let file = folder.join(journal::FILE);
    let lines_a_sync = if plan.engine.has_transport() { 1 } else { QUICK_LINES_A_SYNC };
    let opened = Journal::open(folder, lines_a_sync).map_err(FileError::at(&file))?;
    let (journal, mut entries) = opened;
    let cells = plan.cells();
    journal::check(&entries, &cells).map_err(FileError::at(&file))?;
    let done: BTreeSet<usize> = entries.iter().map(|it| it.place).collect();
    let (known, left): (Vec<Cell<'_>>, Vec<Cell<'_>>) =
        cells.into_iter().partition(|it| done.contains(&it.place));
    for _ in &known {
        progress();
    }
    let journal = Mutex::new(journal);
    let loader = Loader::new(plan)?;
    let fresh = loader.carry_out(&left, |entry| {
        let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.add(entry).map_err(FileError::at(&file))?;
        progress();
        Ok(())
    });
    // What was loaded before a failure is kept as well.
    let mut journal = journal.into_inner().unwrap_or_else(PoisonError::into_inner);
    journal.sync().map_err(FileError::at(&file))?;
    entries.extend(fresh?);
    Ok(Study::of(plan, provenance, entries))
}

/// Makes sure that `folder` is this study's, and returns the provenance that it records.
fn claim(plan: &Plan, program: Value, folder: &Path) -> Result<Value, StudyError> {
    let path = folder.join(manifest::FILE);
    let fresh = manifest::provenance(plan, program);
    if !path.exists() {
        begin(plan, &fresh, folder)?;
        return Ok(fresh);
    }
    let mut there = manifest::read(&path)?;
    let differing = manifest::difference(&there, &fresh);
    if let Some(key) = differing.or((there["shard"] != fresh["shard"]).then_some("shard")) {
        let set_by = manifest::set_by(key);
        return Err(manifest::unusable(
            folder,
            format!(
                "holds another study: they differ in {set_by}; use another folder, or remove this one"
            ),
        ));
    }
    for key in manifest::OF_SUMMARIES {
        match (fresh.get(key), there.as_object_mut()) {
            (Some(value), _) => there[key] = value.clone(),
            (None, Some(there)) => drop(there.remove(key)),
            (None, None) => {}
        }
    }
    Ok(there)
}

/// Writes the manifest, and the pages and scheme files that it names.
pub(crate) fn begin(plan: &Plan, provenance: &Value, folder: &Path) -> Result<(), StudyError> {
    std::fs::create_dir_all(folder)
        .and_then(|()| manifest::keep_inputs(plan, folder))
        .map_err(FileError::at(folder))
        .and_then(|()| manifest::write(provenance, folder))
        .map_err(StudyError::Record)
}
