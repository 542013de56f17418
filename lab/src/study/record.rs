//! A study in a folder: every load is stored as soon as it is done, and not repeated.

use super::carry_out::journal::{self, Entry, Journal};
use super::carry_out::loading::Loader;
use super::carry_out::{failed, manifest};
use super::plan::Cell;
use super::{Plan, RunRecord, Study, StudyError};
use crate::FileError;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Loads without a transport that may be lost in a crash of the machine, because repeating them is cheaper than
/// syncing each.
const QUICK_LINES_A_SYNC: usize = 256;

/// Carries out the rest of `plan` in `folder`, which it creates if missing. Calls `progress` for each load, including
/// finished ones.
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
    journal::check(&entries, &cells, plan.engine).map_err(FileError::at(&file))?;
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
        // Repeatable loads are not kept: they would be most of the journal.
        let load = entry.load.clone().filter(|_| !plan.engine.repeats());
        let kept = Entry { load, run: entry.run.clone(), ..*entry };
        journal.add(&kept).map_err(FileError::at(&file))?;
        progress();
        Ok(())
    });
    // Loads finished before a failure are kept, too.
    let mut journal = journal.into_inner().unwrap_or_else(PoisonError::into_inner);
    journal.sync().map_err(FileError::at(&file))?;
    entries.extend(fresh?);
    Ok(Study::of(plan, provenance, entries))
}

/// Takes the seeds and the rounds over that the study in `folder` has already, if the same rule adds seeds to both.
pub fn take_rounds_over(plan: &mut Plan, folder: &Path) {
    let Ok(there) = manifest::plan(&folder.join(manifest::FILE)) else { return };
    if plan.stopping.is_some()
        && there.stopping == plan.stopping
        && there.seeds.starts_with(&plan.seeds)
    {
        (plan.seeds, plan.rounds) = (there.seeds, there.rounds);
    }
}

/// Whether `folder` contains a study, finished or not.
pub fn is_study(folder: &Path) -> bool {
    folder.join(manifest::FILE).is_file() && folder.join(journal::FILE).is_file()
}

/// The plan and the loads of the finished study in `folder`.
pub fn finished(folder: &Path) -> Result<(Plan, Vec<RunRecord>), StudyError> {
    let plan = manifest::plan(&folder.join(manifest::FILE))?;
    let file = folder.join(journal::FILE);
    let mut entries = journal::read(folder).map_err(FileError::at(&file))?;
    let cells = plan.cells();
    journal::check(&entries, &cells, plan.engine).map_err(FileError::at(&file))?;
    let missing = cells.len() - entries.len();
    if missing > 0 {
        let (cells, remedy) =
            (cells.len(), "run the same `utmost compare` again, which continues it");
        let cause = format!("{missing} of {cells} loads are missing; {remedy}");
        return Err(manifest::unusable(folder, cause));
    }
    entries.sort_by_key(|it| it.place);
    let mut runs: Vec<RunRecord> = entries.into_iter().map(|it| it.run).collect();
    failed::leave_out(&mut runs);
    Ok((plan, runs))
}

/// Checks that `folder` belongs to this study, and returns its recorded provenance.
fn claim(plan: &Plan, program: Value, folder: &Path) -> Result<Value, StudyError> {
    let path = folder.join(manifest::FILE);
    let fresh = manifest::provenance(plan, program);
    if !path.exists() {
        let journal = folder.join(journal::FILE);
        if std::fs::metadata(&journal).is_ok_and(|it| it.len() > 0) {
            let cause = format!(
                "has loads, and no {} beside it says of which study; put that file back, or remove this one to load again",
                manifest::FILE
            );
            return Err(manifest::unusable(&journal, cause));
        }
        begin(plan, &fresh, folder)?;
        return Ok(fresh);
    }
    let mut there = manifest::read(&path)?;
    let has_more_rounds = manifest::has_more_rounds(&there, &fresh);
    if has_more_rounds {
        there["seeds"] = fresh["seeds"].clone();
    }
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
    if has_more_rounds {
        // If this round is interrupted, the manifest must name its loads.
        manifest::write(&there, folder)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contender;
    use crate::network::Network;
    use crate::study::engines;
    use serde_json::json;
    use std::sync::Arc;

    fn plan() -> Plan {
        let page = Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone());
        let schemes = ["rr", "fifo"].map(|it| Contender::find(it).expect("a scheme"));
        let network = Network::find("paper").expect("built in");
        Plan::new(vec![page], schemes.into(), engines::IDEAL, network)
    }

    #[test]
    fn loads_without_a_manifest_are_refused_because_nothing_says_of_which_study_they_are() {
        let plan = plan();
        let folder = tempfile::tempdir().expect("a folder");
        let made = || run_into(&plan, json!({}), folder.path(), &|| ());
        made().expect("a study");
        std::fs::remove_file(folder.path().join(manifest::FILE)).expect("removed");
        let error = made().expect_err("refused");
        let expected = "runs.jsonl: has loads, and no manifest.json beside it says of which study; put that file back, or remove \
                        this one to load again";
        assert!(error.to_string().ends_with(expected) && error.is_bad_input(), "{error}");
        std::fs::remove_file(folder.path().join(journal::FILE)).expect("removed");
        made().expect("a study");
    }

    #[test]
    fn a_journal_with_a_broken_line_is_bad_input_wherever_it_is_read() {
        let plan = plan();
        let folder = tempfile::tempdir().expect("a folder");
        run_into(&plan, json!({}), folder.path(), &|| ()).expect("a study");
        std::fs::write(folder.path().join(journal::FILE), "{\n").expect("written");
        let again = run_into(&plan, json!({}), folder.path(), &|| ());
        assert!(again.expect_err("refused").is_bad_input());
        assert!(finished(folder.path()).expect_err("refused").is_bad_input());
    }
}
