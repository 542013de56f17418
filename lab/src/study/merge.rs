//! The shards of a study, made on several machines, as one study.

use super::carry_out::journal::{self, Entry, Journal};
use super::carry_out::manifest::{self, unusable};
use super::plan::Cell;
use super::record::begin;
use super::{Plan, Study, StudyError};
use crate::FileError;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Merges the shards in `folders` into a study in `out`, as if one machine had made it. `program` is the
/// provenance of the merging program. [`super::folder::write`] writes tables and figures.
pub fn merge(
    folders: &[PathBuf],
    out: &Path,
    program: &Value,
    jobs: usize,
) -> Result<(Plan, Study), StudyError> {
    if out.join(journal::FILE).exists() || out.join(manifest::FILE).exists() {
        return Err(unusable(out, "holds a study already; use another --out"));
    }
    let manifests = folders.iter().map(|it| manifest::read(&it.join(manifest::FILE)));
    let manifests: Vec<Value> = manifests.collect::<Result<_, _>>()?;
    for (folder, other) in folders.iter().zip(&manifests) {
        if let Some(key) = manifest::difference(&manifests[0], other) {
            let first = folders[0].display();
            let cause =
                format!("another study than {first}: they differ in {}", manifest::set_by(key));
            return Err(unusable(folder, cause));
        }
    }
    let plan = manifest::plan(&folders[0].join(manifest::FILE))?;
    let shards = plan.shard.map(|it| it.count);
    let plan = Plan { shard: None, jobs, ..plan };
    let entries = entries_of(folders)?;
    let cells = plan.cells();
    journal::check(&entries, &cells, plan.engine).map_err(|error| unusable(&folders[0], error))?;
    check_whole(&plan, &cells, &entries, shards)?;
    let provenance = merged_provenance(&manifests[0], program);
    begin(&plan, &provenance, out)?;
    write(&entries, out).map_err(|error| StudyError::Record(FileError::at(out)(error)))?;
    let study = Study::of(&plan, provenance, entries);
    Ok((plan, study))
}

/// The shards' records of their program, and `program`'s record of the merge: program, time and place.
fn merged_provenance(first: &Value, program: &Value) -> Value {
    let mut merged = first.clone();
    for key in manifest::FREE {
        merged[key] = program[key].clone();
    }
    merged
}

fn entries_of(folders: &[PathBuf]) -> Result<Vec<Entry>, StudyError> {
    let mut owners: BTreeMap<usize, &Path> = BTreeMap::new();
    let mut all = Vec::new();
    for folder in folders {
        let entries =
            journal::read(folder).map_err(|error| unusable(&folder.join(journal::FILE), error))?;
        for entry in &entries {
            if let Some(other) = owners.insert(entry.place, folder) {
                let other = other.display();
                let cause = format!("has loads that {other} has too; name each shard once");
                return Err(unusable(folder, cause));
            }
        }
        all.extend(entries);
    }
    all.sort_by_key(|it| it.place);
    Ok(all)
}

fn check_whole(
    plan: &Plan,
    cells: &[Cell<'_>],
    entries: &[Entry],
    shards: Option<usize>,
) -> Result<(), StudyError> {
    let there: Vec<usize> = entries.iter().map(|it| it.place).collect();
    let missing: Vec<usize> =
        cells.iter().map(|it| it.place).filter(|it| there.binary_search(it).is_err()).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let count = shards.unwrap_or(1);
    let place = first / plan.schemes.len().max(1) % count + 1;
    Err(StudyError::Impossible(format!(
        "{} of {} loads are in none of the folders, the first of them in shard {place}/{count}; finish or name it",
        missing.len(),
        cells.len()
    )))
}

fn write(entries: &[Entry], out: &Path) -> std::io::Result<()> {
    let (mut journal, _) = Journal::open(out, usize::MAX)?;
    for entry in entries {
        journal.add(entry)?;
    }
    journal.sync()
}
