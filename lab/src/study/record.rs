//! A study in a folder: every load is written down as soon as it is done, and is not done again.

use super::journal::{self, Journal};
use super::loading::Loader;
use super::manifest::{self, ManifestError};
use super::plan::{Cell, Engine, Plan};
use super::{Study, StudyError};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A study that could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The folder holds something else.
    #[error(
        "{folder}: holds another study, whose `{key}` differs; use another folder, or remove this one"
    )]
    Another {
        /// The folder.
        folder: PathBuf,
        /// What differs.
        key: String,
    },
    /// The manifest that is there cannot be used.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A file cannot be written or read.
    #[error("{path}: {source}; what is done is kept: the same command goes on from there")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The study could not be carried out.
    #[error(transparent)]
    Study(#[from] StudyError),
}

impl RecordError {
    /// Whether the request is wrong, not the world.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Another { .. } | Self::Manifest(_) => true,
            Self::File { source, .. } => source.kind() == io::ErrorKind::InvalidData,
            Self::Study(error) => error.is_bad_plan(),
        }
    }
}

/// Loads of `ideal` that may be lost when the machine stops: doing them again takes less than a sync each.
const IDEAL_LINES_A_SYNC: usize = 256;

/// Carries out the rest of `plan` in `folder`, which is made where it is missing. Calls `progress` for each load, also
/// for those that are done already.
pub fn run_into(
    plan: &Plan,
    program: Value,
    folder: &Path,
    progress: &(dyn Fn() + Sync),
) -> Result<Study, RecordError> {
    plan.check()?;
    let provenance = claim(plan, program, folder)?;
    let file = |source| RecordError::File { path: folder.join(journal::FILE), source };
    let lines_a_sync = if plan.engine == Engine::Ideal { IDEAL_LINES_A_SYNC } else { 1 };
    let (journal, mut entries) = Journal::open(folder, plan.engine, lines_a_sync).map_err(file)?;
    let done: BTreeSet<usize> = entries.iter().map(|it| it.place).collect();
    let (known, left): (Vec<Cell<'_>>, Vec<Cell<'_>>) =
        plan.cells().into_iter().partition(|it| done.contains(&it.place));
    for _ in &known {
        progress();
    }
    let journal = Mutex::new(journal);
    let journal = || journal.lock().unwrap_or_else(PoisonError::into_inner);
    let loader = Loader::new(plan)?;
    let fresh = loader.carry_out(&left, |entry| -> Result<(), RecordError> {
        journal().add(entry).map_err(file)?;
        progress();
        Ok(())
    });
    journal().sync().map_err(file)?;
    entries.extend(fresh?);
    Ok(loader.study(provenance, entries)?)
}

/// Makes sure that `folder` is this study's, and returns the provenance that it records.
fn claim(plan: &Plan, program: Value, folder: &Path) -> Result<Value, RecordError> {
    let path = folder.join(manifest::FILE);
    let fresh = manifest::provenance(plan, program);
    if path.exists() {
        let there = manifest::read(&path)?;
        let differing = manifest::difference(&there, &fresh);
        let differing = differing.or((there["shard"] != fresh["shard"]).then_some("shard"));
        return match differing {
            None => Ok(there),
            Some(key) => {
                Err(RecordError::Another { folder: folder.to_owned(), key: key.to_owned() })
            }
        };
    }
    begin(plan, &fresh, folder)?;
    Ok(fresh)
}

/// Writes the manifest and the pages that it names.
pub(super) fn begin(plan: &Plan, provenance: &Value, folder: &Path) -> Result<(), RecordError> {
    let text = serde_json::to_string_pretty(provenance).unwrap_or_default();
    std::fs::create_dir_all(folder)
        .and_then(|()| manifest::keep_pages(plan, folder))
        .and_then(|()| std::fs::write(folder.join(manifest::FILE), text))
        .map_err(|source| RecordError::File { path: folder.to_owned(), source })
}
