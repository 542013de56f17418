//! A study in a folder: every load is written down as soon as it is done, and what is there is not done again.

use super::journal::{self, Entry, Journal};
use super::loading::Loader;
use super::manifest::{self, ManifestError};
use super::plan::{Cell, Engine, Plan};
use super::{Study, StudyError};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::Value;
use std::collections::BTreeMap;
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
    /// Whether it is what was asked for that is wrong, not the world.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Another { .. } | Self::Manifest(_) => true,
            Self::File { source, .. } => source.kind() == io::ErrorKind::InvalidData,
            Self::Study(error) => error.is_bad_plan(),
        }
    }
}

/// Loads of `ideal` that may be lost when the machine stops: done again, they take less than a sync each.
const IDEAL_LINES_A_SYNC: usize = 256;

/// Carries out what is left of `plan` in `folder`, which is made where it is missing; `progress` is called for
/// each load, also for those that are done already.
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
    let (journal, done) = Journal::open(folder, lines_a_sync).map_err(file)?;
    let done: BTreeMap<usize, Entry> = done.into_iter().map(|it| (it.place, it)).collect();
    let cells = plan.cells();
    cells.iter().filter(|it| done.contains_key(&it.place)).for_each(|_| progress());
    let left: Vec<&Cell<'_>> = cells.iter().filter(|it| !done.contains_key(&it.place)).collect();
    let fresh = carry_out(plan, &left, (journal, &file), progress)?;
    study_of(plan, provenance, done.into_values().chain(fresh).collect()).map_err(Into::into)
}

/// Makes sure that `folder` is this study's; its provenance.
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

/// Writes down what is to be studied.
pub(super) fn begin(plan: &Plan, provenance: &Value, folder: &Path) -> Result<(), RecordError> {
    let text = serde_json::to_string_pretty(provenance).unwrap_or_default();
    std::fs::create_dir_all(folder)
        .and_then(|()| manifest::keep_pages(plan, folder))
        .and_then(|()| std::fs::write(folder.join(manifest::FILE), text))
        .map_err(|source| RecordError::File { path: folder.to_owned(), source })
}

/// Carries loads out and writes each down. The first that fails ends it.
fn carry_out(
    plan: &Plan,
    cells: &[&Cell<'_>],
    (journal, file): (Journal, &(dyn Fn(io::Error) -> RecordError + Sync)),
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<Entry>, RecordError> {
    let loader = Loader::new(plan)?;
    let journal = Mutex::new(journal);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(plan.jobs.max(1))
        .build()
        .map_err(StudyError::from)?;
    let one = |cell: &&Cell<'_>| {
        let (run, load) = loader.run(cell)?;
        // What `ideal` did it does again.
        let load = load.filter(|_| plan.engine != Engine::Ideal);
        let entry = Entry { place: cell.place, run, load: load.as_ref().map(Into::into) };
        journal.lock().unwrap_or_else(PoisonError::into_inner).add(&entry).map_err(file)?;
        progress();
        Ok(entry)
    };
    let entries = pool.install(|| cells.par_iter().map(one).collect::<Result<_, RecordError>>());
    journal.lock().unwrap_or_else(PoisonError::into_inner).sync().map_err(file)?;
    entries
}

/// The study that has these loads.
pub(super) fn study_of(
    plan: &Plan,
    provenance: Value,
    mut entries: Vec<Entry>,
) -> Result<Study, StudyError> {
    entries.sort_by_key(|it| it.place);
    let cells: BTreeMap<usize, Cell<'_>> =
        plan.cells().into_iter().map(|it| (it.place, it)).collect();
    let loader = Loader::new(plan)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(plan.jobs.max(1)).build()?;
    let load = |entry: &Entry| match (&entry.load, cells.get(&entry.place)) {
        (Some(stored), _) => Ok(Some(stored.clone().into())),
        (None, Some(cell)) if plan.engine == Engine::Ideal => loader.repeat(cell),
        _ => Ok(None),
    };
    let loads = pool.install(|| entries.par_iter().map(load).collect::<Result<_, StudyError>>())?;
    let runs = entries.into_iter().map(|it| it.run).collect();
    Ok(Study::new(plan, provenance, runs, loads))
}
