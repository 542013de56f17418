//! The shards of a study, made on several machines, as one study.

use super::Study;
use super::journal::{self, Entry, Journal};
use super::loading::Loader;
use super::manifest::{self, ManifestError};
use super::plan::Plan;
use super::record::{RecordError, begin};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Shards that do not make a whole study.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A shard's manifest cannot be used.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A journal cannot be read.
    #[error("{path}: {source}")]
    Journal {
        /// The journal.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Two folders are of different studies.
    #[error("{folder}: another study than {first}: their `{key}` differs")]
    Another {
        /// The folder.
        folder: PathBuf,
        /// The first folder.
        first: PathBuf,
        /// What differs.
        key: String,
    },
    /// A load is in two folders.
    #[error("{folder}: has loads that {other} has too; name each shard once")]
    Twice {
        /// The one.
        folder: PathBuf,
        /// The other.
        other: PathBuf,
    },
    /// Loads are missing.
    #[error(
        "{missing} of {all} loads are in none of the folders, the first of them in shard {shard}; finish or name it"
    )]
    Missing {
        /// How many.
        missing: usize,
        /// The number of all loads.
        all: usize,
        /// The shard of the first.
        shard: String,
    },
    /// The result's folder is not empty.
    #[error("{0}: holds a study already; use another --out")]
    Occupied(PathBuf),
    /// The result cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// Merges the shards in `folders` into a study in `out`, as one machine would have made it. `program` is the
/// provenance of the merging program. [`super::folder::write`] writes tables and figures.
pub fn merge(
    folders: &[PathBuf],
    out: &Path,
    program: &Value,
    jobs: usize,
) -> Result<(Plan, Study), MergeError> {
    if out.join(journal::FILE).exists() || out.join(manifest::FILE).exists() {
        return Err(MergeError::Occupied(out.to_owned()));
    }
    let mut manifests = Vec::new();
    for folder in folders {
        manifests.push(manifest::read(&folder.join(manifest::FILE))?);
    }
    for (folder, other) in folders.iter().zip(&manifests) {
        if let Some(key) = manifest::difference(&manifests[0], other) {
            let (folder, first) = (folder.clone(), folders[0].clone());
            return Err(MergeError::Another { folder, first, key: key.to_owned() });
        }
    }
    let plan = manifest::plan(&folders[0].join(manifest::FILE))?;
    let shards = plan.shard.map(|it| it.count);
    let plan = Plan { shard: None, jobs, ..plan };
    let entries = entries_of(folders)?;
    check_whole(&plan, &entries, shards)?;
    let provenance = merged_provenance(&manifests[0], program);
    begin(&plan, &provenance, out)?;
    write(&plan, &entries, out)
        .map_err(|source| RecordError::File { path: out.to_owned(), source })?;
    let loader = Loader::new(&plan).map_err(RecordError::from)?;
    let study = loader.study(provenance, entries).map_err(RecordError::from)?;
    Ok((plan, study))
}

/// The shards say what ran; `program` says what merged them, when and where.
fn merged_provenance(first: &Value, program: &Value) -> Value {
    let mut merged = first.clone();
    for key in ["argv", "cpu", "date", "rustc"] {
        merged[key] = program[key].clone();
    }
    merged["shard"] = Value::Null;
    merged
}

fn entries_of(folders: &[PathBuf]) -> Result<Vec<Entry>, MergeError> {
    let mut owners: BTreeMap<usize, &Path> = BTreeMap::new();
    let mut all = Vec::new();
    for folder in folders {
        let entries = journal::read(folder)
            .map_err(|source| MergeError::Journal { path: folder.join(journal::FILE), source })?;
        for entry in &entries {
            if let Some(other) = owners.insert(entry.place, folder) {
                let (folder, other) = (folder.clone(), other.to_owned());
                return Err(MergeError::Twice { folder, other });
            }
        }
        all.extend(entries);
    }
    all.sort_by_key(|it| it.place);
    Ok(all)
}

fn check_whole(plan: &Plan, entries: &[Entry], shards: Option<usize>) -> Result<(), MergeError> {
    let there: Vec<usize> = entries.iter().map(|it| it.place).collect();
    let cells = plan.cells();
    let missing: Vec<usize> =
        cells.iter().map(|it| it.place).filter(|it| there.binary_search(it).is_err()).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let count = shards.unwrap_or(1);
    let place = first / plan.schemes.len().max(1) % count + 1;
    let shard = format!("{place}/{count}");
    Err(MergeError::Missing { missing: missing.len(), all: cells.len(), shard })
}

fn write(plan: &Plan, entries: &[Entry], out: &Path) -> std::io::Result<()> {
    let (mut journal, _) = Journal::open(out, plan.engine, usize::MAX)?;
    for entry in entries {
        journal.add(entry)?;
    }
    journal.sync()
}
