//! The computed results of a plan's loads: a [`Study`].

pub mod agreement;
mod alike;
pub(crate) mod comparisons;
mod missing;
mod page_facts;
pub(crate) mod page_summary;
mod pages;
mod pairs;
pub mod published;
pub(crate) mod summary;
pub(crate) mod unfinished;
pub(crate) mod verdict;
mod width;

pub use alike::same_loads;
pub use comparisons::{ComparisonRow, InteractionRow, Unit, compare};
pub(crate) use comparisons::{LEVEL, are_of_one_load};
pub use missing::missing;
pub use page_facts::PageFacts;
pub(crate) use page_summary::Ratio;
pub use page_summary::{PageRow, summarise_pages};
pub use pages::Pages;
pub use summary::{SummaryRow, by_site, summarise, summarise_weighted};
pub use verdict::Verdict;

use crate::Load;
use crate::study::carry_out::failed;
use crate::study::carry_out::journal::Entry;
use crate::study::{BASELINE, PageWeights, Plan, RunRecord};
use comparisons::interactions;
use published::{RankCorrelation, rank_correlations};
use qlog_tools::metrics::byte_index;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The format of a study's JSON.
pub const FORMAT: &str = "utmost-study/1";

/// A study's results.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Study {
    /// [`FORMAT`].
    pub format: &'static str,
    /// Its provenance.
    pub provenance: Value,
    /// The metric that speedups compare.
    pub metric: &'static str,
    /// Their baseline; `None` if nothing is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The pages' weights in `summary`; `None`: all equal.
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
    /// One for each two schemes in each setting, if asked for: see [`Study::compare_pairs`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<ComparisonRow>,
    /// One for each scheme and each two settings that differ in one dimension.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interactions: Vec<InteractionRow>,
    /// Schemes that are duplicates under two names, each with its representative: tests count them once.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub twins: BTreeMap<String, String>,
    /// The facts of the pages, in the plan's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<PageFacts>,
    /// How similarly this study and publications rank the schemes; empty unless speedups are over `rr`, like
    /// theirs.
    pub rank_correlations: Vec<RankCorrelation>,
    /// The arrivals, in the order of `runs`, if kept: figures repeat other loads. Not part of the JSON.
    #[serde(skip)]
    pub loads: Vec<Option<Load>>,
}

impl Study {
    /// The schemes that failed and are excluded from comparisons: a sentence for each.
    pub fn failures(&self) -> Vec<String> {
        failed::sentences(&self.provenance)
    }

    /// The study of finished loads, with the plan's metric and baseline.
    pub fn of_runs(plan: &Plan, runs: Vec<RunRecord>) -> Self {
        let loads = vec![None; runs.len()];
        Self::new(plan, Value::Null, runs, loads)
    }

    /// The study that has these loads.
    pub(crate) fn of(plan: &Plan, mut provenance: Value, mut entries: Vec<Entry>) -> Self {
        entries.sort_by_key(|it| it.place);
        let (mut runs, loads): (Vec<RunRecord>, Vec<Option<Load>>) =
            entries.into_iter().map(|it| (it.run, it.load)).unzip();
        failed::name_in(&mut provenance, &failed::leave_out(&mut runs));
        Self::new(plan, provenance, runs, loads)
    }

    /// Its summaries computed from its runs.
    pub(crate) fn new(
        plan: &Plan,
        provenance: Value,
        runs: Vec<RunRecord>,
        loads: Vec<Option<Load>>,
    ) -> Self {
        let metric = plan.metric;
        let weights = PageWeights::of(plan);
        let baseline = &*plan.baseline;
        let twins = plan.twins_among(&runs);
        let pages = Pages::of(plan, weights.as_ref(), &twins);
        let summary = summarise_weighted(&runs, metric, baseline, &pages);
        let comparisons = compare(&runs, metric, baseline, &pages);
        let interactions = interactions(&runs, metric, baseline, &pages);
        drop(pages);
        let certain = plan.certain_settings();
        let page_summary = summarise_pages(&runs, metric, baseline, |it| !certain.contains(it));
        let published = metric.name == byte_index().name && baseline == BASELINE;
        let rank_correlations = if published { rank_correlations(&summary) } else { Vec::new() };
        let (format, metric, baseline) = (FORMAT, metric.name, Some(plan.baseline.clone()));
        let pages = plan.pages.iter().map(|it| PageFacts::of(it)).collect();
        let head =
            Self { format, provenance, metric, baseline, weights, twins, pages, ..Self::default() };
        let rows = Self { summary, page_summary, comparisons, interactions, ..head };
        Self { runs, rank_correlations, loads, ..rows }
    }
}
