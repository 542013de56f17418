//! A study: every page under every scheme, in every [`Setting`] and with every seed.
//!
//! [`run`] carries a [`Plan`] out in memory. With a folder, [`record::run_into`] does the same and writes each
//! load down as soon as it is done, so that an interrupted study goes on where it was, and [`merge::merge`]
//! makes one study of its shards. [`folder::write`] then writes tables, figures and the report.

pub mod agreement;
mod alike;
pub mod bootstrap;
mod comparisons;
mod dimension;
mod engine;
pub mod engines;
mod failed;
mod film;
pub mod folder;
mod journal;
mod loading;
pub mod manifest;
pub mod merge;
mod missing;
mod page_summary;
pub mod paired_tests;
mod plan;
pub mod policy;
pub mod published;
mod pushes;
pub mod record;
mod report;
mod run;
mod setting;
pub mod statistics;
mod summary;
mod sweep;
mod weights;

pub use alike::same_loads;
pub use comparisons::{ComparisonRow, Unit, compare};
pub(crate) use comparisons::{LEVEL, are_of_one_load};
pub use dimension::{Axis, Dimension, varied};
pub use engine::{Clock, Engine};
pub use film::film;
pub use missing::missing;
pub(crate) use page_summary::Ratio;
pub use page_summary::{PageRow, summarise_pages};
pub use plan::{Plan, Shard};
pub use pushes::Pushes;
pub use report::conditions;
pub(crate) use report::most_telling;
pub(crate) use run::page_sha256;
pub use run::{OnlyAtf, ResourceTimes, RunRecord, Unfinished};
pub use setting::{DIMENSIONS, Setting, Settings};
pub use summary::{Pages, SummaryRow, by_site, summarise, summarise_weighted};
pub use sweep::Sweep;
pub use weights::{PageWeights, Weights};

use crate::browsing::BrowsingError;
use crate::network::NetworkError;
use crate::stack::StackError;
use crate::wire::WireError;
use crate::{FileError, Load};
use loading::Loader;
use published::{RankCorrelation, rank_correlations};
use qlog_tools::figures::png::PngError;
use qlog_tools::metrics::byte_index;
use serde::Serialize;
use serde_json::Value;
use server::TlsError;
use std::collections::BTreeMap;

/// The format of a study's JSON.
pub const FORMAT: &str = "utmost-study/1";

/// The scheme that all others are compared with, unless a plan says otherwise. The paper compares with it.
pub const BASELINE: &str = "rr";

/// A study's results.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Study {
    /// [`FORMAT`].
    pub format: &'static str,
    /// Its provenance.
    pub provenance: Value,
    /// The metric that speedups compare.
    pub metric: &'static str,
    /// The scheme that they are relative to; `None`: nothing is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// How much pages count in `summary`; `None`: each the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<PageWeights>,
    /// One for each load: by page, setting, seed and scheme.
    pub runs: Vec<RunRecord>,
    /// One for each scheme and setting.
    pub summary: Vec<SummaryRow>,
    /// One for each page, scheme and setting.
    pub page_summary: Vec<PageRow>,
    /// One for each scheme but the baseline, and each setting.
    pub comparisons: Vec<ComparisonRow>,
    /// The schemes that are one under two names, each with the one that stands for both: tests count them once.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub twins: BTreeMap<String, String>,
    /// How alike this study and publications rank the schemes; empty unless speedups are over `rr`, as theirs.
    pub rank_correlations: Vec<RankCorrelation>,
    /// What came when, in the order of `runs`, where it was kept: figures repeat other loads. Not part of the JSON.
    #[serde(skip)]
    pub loads: Vec<Option<Load>>,
}

/// A study that could not be carried out.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages and types say it")]
pub enum StudyError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error(transparent)]
    Browsing(#[from] BrowsingError),
    #[error(transparent)]
    Stack(#[from] StackError),
    #[error(transparent)]
    Identity(#[from] TlsError),
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error("{0}")]
    Impossible(String),
    #[error("{0}; what is done is kept: the same command goes on from there")]
    Record(FileError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("figure: {0}")]
    Figure(#[from] PngError),
    #[error("threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl StudyError {
    /// Whether the request is wrong, not the world.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Network(_) | Self::Impossible(_) => true,
            Self::Record(error) => error.is_bad_content(),
            _ => false,
        }
    }
}

/// Carries out `plan`; `progress` is called after each load, from any thread.
pub fn run(plan: &Plan, program: Value, progress: &(dyn Fn() + Sync)) -> Result<Study, StudyError> {
    plan.check()?;
    let loader = Loader::new(plan)?;
    let entries = loader.carry_out(&plan.cells(), |_| {
        progress();
        Ok(())
    })?;
    Ok(loader.study(manifest::provenance(plan, program), entries))
}

impl Study {
    /// The schemes that failed, and are compared with nothing: a sentence for each.
    pub fn failures(&self) -> Vec<String> {
        failed::sentences(&self.provenance)
    }

    /// Its summaries computed from its runs.
    fn new(plan: &Plan, provenance: Value, runs: Vec<RunRecord>, loads: Vec<Option<Load>>) -> Self {
        let metric = plan.metric;
        let weights = PageWeights::of(plan);
        let weight_of = |page: &str| PageWeights::weight_of(weights.as_ref(), page);
        let certain = plan.certain_settings();
        let twins = plan.twins_among(&runs);
        let pages = Pages { site_of: |page| plan.site_of(page), weight_of, certain, twins };
        let baseline = &*plan.baseline;
        let summary = summarise_weighted(&runs, metric, baseline, &pages);
        let page_summary = summarise_pages(&runs, metric, baseline, !plan.is_exact());
        let comparisons = compare(&runs, metric, baseline, &pages);
        let twins = pages.twins;
        let published = metric.name == byte_index().name && baseline == BASELINE;
        let rank_correlations = if published { rank_correlations(&summary) } else { Vec::new() };
        let (format, metric, baseline) = (FORMAT, metric.name, Some(plan.baseline.clone()));
        let head = Self { format, provenance, metric, baseline, weights, twins, ..Self::default() };
        Self { runs, summary, page_summary, comparisons, rank_correlations, loads, ..head }
    }
}
