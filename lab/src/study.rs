//! A study: every page under every scheme, in every [`Setting`] and with every seed.
//!
//! It has layers, each of which uses only the ones before it: [`statistics`] and errors, the plan, the engines and their loads,
//! computed results, and their presentation. [`run`] carries out a [`Plan`] in memory. With a folder, [`record::run_into`] does the
//! same and stores each load as soon as it is done, so that an interrupted study can continue, and [`merge::merge`] combines shards
//! into one study. [`folder::write`] then writes tables, figures and the report.

mod carry_out;
mod compute;
mod error;
pub mod explain;
pub mod merge;
mod plan;
pub mod policy;
pub mod record;
mod show;
pub mod statistics;

pub(crate) use carry_out::run::page_sha256;
pub use carry_out::run::{OnlyAtf, ResourceTimes, RunRecord, Unfinished};
pub use carry_out::{Pushes, engines, manifest};
pub use compute::{
    ComparisonRow, FORMAT, InteractionRow, PageFacts, PageRow, Pages, Study, SummaryRow, Unit,
    Verdict, agreement, by_site, compare, missing, published, same_loads, summarise,
    summarise_pages, summarise_weighted,
};
pub(crate) use compute::{LEVEL, Ratio, are_of_one_load};
pub use error::StudyError;
pub use plan::{
    Axis, BASELINE, Clock, DIMENSIONS, Dimension, Engine, PageWeights, Plan, Round, Setting,
    Settings, Shard, Stopping, Sweep, Weights, varied,
};
pub(crate) use show::most_telling;
pub use show::{answers, conditions, film, folder, page_dots, pair_matrices, scheme_rows, title};

use crate::Load;
use carry_out::journal::{Entry, Format};
use carry_out::loading::Loader;
use plan::Cell;
use serde_json::Value;
use std::collections::BTreeSet;

/// Carries out `plan`; `progress` is called after each load, from any thread.
pub fn run(plan: &Plan, program: Value, progress: &(dyn Fn() + Sync)) -> Result<Study, StudyError> {
    run_on(plan, Study::default(), program, progress)
}

/// The same, but without loading the seeds of `before` again: their loads are taken from it.
pub fn run_on(
    plan: &Plan,
    before: Study,
    program: Value,
    progress: &(dyn Fn() + Sync),
) -> Result<Study, StudyError> {
    plan.check()?;
    let loader = Loader::new(plan)?;
    let seeds: BTreeSet<u64> = before.runs.iter().map(|it| it.seed).collect();
    let (known, left): (Vec<Cell<'_>>, Vec<Cell<'_>>) =
        plan.cells().into_iter().partition(|it| seeds.contains(&it.seed));
    let known = known.iter().zip(before.runs.into_iter().zip(before.loads));
    let known = known.map(|(cell, (run, load))| {
        progress();
        Entry { format: Format::default(), place: cell.place, run, load }
    });
    let mut entries: Vec<Entry> = known.collect();
    entries.extend(loader.carry_out(&left, |_| {
        progress();
        Ok(())
    })?);
    Ok(Study::of(plan, manifest::provenance(plan, program), entries))
}

/// Carries out `plan`, and returns each load with its row of results, in the plan's order. Calls `go_on` after each load, from any
/// thread; an error ends the study.
pub fn loads(
    plan: &Plan,
    go_on: &(dyn Fn() -> Result<(), StudyError> + Sync),
) -> Result<Vec<(RunRecord, Load)>, StudyError> {
    plan.check()?;
    Loader::new(plan)?.carry_out_and_keep(&plan.cells(), go_on)
}
