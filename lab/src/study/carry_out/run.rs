//! One load's row of results, each number computed from the load's timeline.

use crate::study::plan::engine::Engine;
use crate::study::{Pushes, Setting};
use crate::{Load, above_fold};
use client::Outcome;
use corpus::Page;
use qlog_tools::metrics::{BySet, Completions, Measured, Metric};
use qlog_tools::tail::Tail;
use qlog_tools::timeline::{Delivery, Timeline, Transfer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The page's name.
    pub page: String,
    /// The scheme's name.
    pub scheme: String,
    /// How it was loaded.
    pub engine: &'static dyn Engine,
    /// Its setting.
    #[serde(flatten, serialize_with = "Setting::keys_of_run")]
    pub setting: Setting,
    /// The seed of chance.
    pub seed: u64,
    /// Whether every resource arrived, in the order of the scheme.
    pub completed: bool,
    /// Why it did not complete. Such a run is excluded from means.
    pub unfinished: Option<Unfinished>,
    /// From the first request to the last byte.
    pub duration_ms: f64,
    /// All metrics, each by its name.
    #[serde(flatten)]
    pub metrics: Measured,
    /// The lowest possible index of any order. Null if nothing is above the fold, and with a transport if the bound is not proven: see
    /// [`crate::bounds`].
    pub lower_bound: OnlyAtf,
    /// Whether this order is proven to be the best (`oracle`) or the worst (`anti-oracle`), not just the best or worst found; `None` for a
    /// scheme's order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven: Option<bool>,
    /// The fate of responses after the client cancelled them; `None` if it cancelled nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<Tail>,
    /// The results of pushes; `None` if the study has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pushes: Option<Pushes<u64>>,
    /// The resources that were not requested, because the client had them: from its HTTP cache, or from a push for this page that arrived
    /// during an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reused: Vec<usize>,
    /// The resources, in the order of their requests.
    pub resources: Vec<ResourceTimes>,
}

/// A load that did not finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// The first problem.
    pub problem: String,
    /// Its logs, relative to the study's folder, if it has one.
    pub qlog: Option<String>,
    /// False if the scheme failed, in this load or in another one of the study: its order is then not the scheme's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_scheme: bool,
}

/// A number that only the resources above the fold have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct OnlyAtf {
    /// Above the fold.
    pub atf: Option<f64>,
}

/// When one resource arrived; milliseconds from t0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResourceTimes {
    /// Its ID in the page.
    pub id: usize,
    /// Its URL. The loads of a study share it.
    pub url: Arc<str>,
    /// When it was asked for.
    pub requested_ms: f64,
    /// When the first byte of its body could be read.
    pub first_byte_ms: Option<f64>,
    /// When all of it could be read.
    pub complete_ms: Option<f64>,
    /// Body bytes.
    pub bytes: u64,
    /// Whether the server pushed it.
    pub pushed: bool,
}

impl RunRecord {
    /// The results of a load's timeline. The columns that describe its conditions stay empty.
    pub fn of_load(page: &Page, load: &Load) -> Self {
        let timeline = &load.timeline;
        let above_fold = above_fold(page);
        let deliveries = timeline.deliveries();
        let all = Completions::of_deliveries(timeline, &deliveries, |_| true).ok();
        let atf =
            Completions::of_deliveries(timeline, &deliveries, |it| above_fold.contains(&it.url));
        let atf = atf.ok();
        let resources = resource_times(page, timeline, &deliveries);
        Self {
            completed: load.completed,
            duration_ms: resources.iter().filter_map(|it| it.complete_ms).fold(0.0, f64::max),
            metrics: Measured::of(timeline, all.as_ref(), atf.as_ref()),
            tail: Tail::of(timeline),
            resources,
            ..Self::default()
        }
    }

    /// The same with the client's report on pushes and reused resources.
    #[must_use]
    pub fn with_outcome(mut self, outcome: &Outcome) -> Self {
        for resource in &mut self.resources {
            resource.pushed = outcome.pushed.iter().any(|(id, _)| *id == resource.id);
        }
        self.reused.clone_from(&outcome.cached);
        for &(id, used) in &outcome.pushed {
            if used && self.resources.iter().all(|resource| resource.id != id) {
                self.reused.push(id);
            }
        }
        self.reused.sort_unstable();
        self
    }

    /// The `ByteIndex`.
    pub fn byte_index(&self) -> BySet {
        self.metrics.byte_index()
    }

    /// The value that counts: above the fold, or over all resources if a page has none above the fold.
    pub fn value(&self, metric: &Metric) -> Option<f64> {
        let values = self.metrics.get(metric);
        values.atf.or(values.all)
    }

    /// Whether the load does not count because its scheme failed.
    pub fn has_failed_scheme(&self) -> bool {
        self.unfinished.as_ref().is_some_and(|it| it.of_scheme)
    }

    /// Index divided by its lower bound, above the fold; 1 is the best possible.
    pub fn regret(&self) -> Option<f64> {
        let (index, bound) = self.byte_index().atf.zip(self.lower_bound.atf)?;
        (bound > 0.0).then(|| index / bound)
    }
}

fn resource_times(page: &Page, timeline: &Timeline, deliveries: &[Delivery]) -> Vec<ResourceTimes> {
    let ids: BTreeMap<String, usize> =
        page.resources.iter().map(|it| (page.url(it.id), it.id)).collect();
    let start_us = timeline.start_us().unwrap_or(0);
    let all = timeline.transfers.iter().zip(deliveries);
    let mut rows: Vec<ResourceTimes> = Vec::with_capacity(deliveries.len());
    for (transfer, delivery) in all {
        if let Some(&id) = ids.get(&transfer.url) {
            rows.push(times(id, transfer, delivery, start_us));
        }
    }
    rows.sort_by(|a, b| a.requested_ms.total_cmp(&b.requested_ms));
    rows
}

fn times(id: usize, transfer: &Transfer, delivery: &Delivery, start_us: u64) -> ResourceTimes {
    let first_byte_us = delivery.readable_at_us(transfer.body_offset);
    ResourceTimes {
        id,
        url: Arc::from(&*transfer.url),
        requested_ms: ms_since(start_us, transfer.requested_us),
        first_byte_ms: first_byte_us.map(|it| ms_since(start_us, it)),
        complete_ms: delivery.complete_us.map(|it| ms_since(start_us, it)),
        bytes: transfer.body_bytes_or_stream().unwrap_or(0),
        pushed: false,
    }
}

fn ms_since(start_us: u64, us: u64) -> f64 {
    us.saturating_sub(start_us) as f64 / 1000.0
}

/// The hash of a page in its canonical form.
pub(crate) fn page_sha256(page: &Page) -> String {
    corpus::sha256_hex(page.to_text().as_bytes())
}
