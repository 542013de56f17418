//! Priorities for single resources: how near a server that supports only RFC 9218 comes to the best order.
//!
//! A search on the engine `ideal` ([`crate::bounds::priorities`]) covers all networks and several recordings at once, because a
//! server cannot know a visitor's. On `stack`, a page whose browser signals the priorities is loaded and compared with the present
//! order: an obeying server then sends like one that overrides the browser's signals. Loads of other recordings judge
//! ([`super::trial`]).

use super::answer::JudgedCandidate;
use super::moved::{all_moved, later};
use super::one_policy::{decide, merge};
use super::paired_loads::{Batch, Pair, pairs};
use super::seen::Noticed;
use super::trial::{BATCH, Indices};
use super::{Goal, Moved, Question, Step, Verdict};
use crate::bounds::{self, Effort, LATER_MAX, Priorities, is_visible_image, schedule_scheme};
use crate::network::Network;
use crate::study::policy::WORTHWHILE;
use crate::study::statistics::{geometric_mean, median};
use crate::study::{RunRecord, StudyError, page_sha256};
use corpus::Page;
use corpus::page::BrowserPriority;
use gateway::is_one_path;
use qlog_tools::short_texts::shown;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why a resource has no line, if no line can name it.
const UNWRITABLE: &str =
    "no configuration can name a path with *, # or white space: percent-encode them in the page";

/// The largest slowdown of a page on any network.
const SLOWER_MAX: f64 = bounds::SEEN_LATER_MAX;

/// The longest cause of a failed load.
const PROBLEM_CHARACTERS: usize = 300;

/// Priorities for the resources of a page.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ByResource {
    /// The page.
    pub page: String,
    /// SHA-256 of the page, as a page file.
    pub page_sha256: String,
    /// Whether they are worth a change: better on one network and slower on none, as a policy requires.
    pub is_better: bool,
    /// The resources whose priority differs from browsers' signals, those that move most first.
    pub resources: Vec<ResourcePriority>,
    /// URLs of resources without a line because another recording of the page would reverse it.
    pub unsure: Vec<String>,
    /// URLs of resources whose lines were left out, by the reason.
    #[serde(skip)]
    pub(super) not_kept: BTreeMap<String, Vec<String>>,
    /// URLs of visible images that these priorities delay; the priorities then do not count as better.
    pub late: Vec<String>,
    /// Paths of the documents with the same template, which were not loaded.
    pub alike: Vec<String>,
    /// Assumptions about the page, because its source does not state these facts.
    pub assumptions: Vec<String>,
    /// Their gain on each network.
    pub networks: Vec<Gain>,
    /// Whether they were loaded from a server that, unlike the present one, sends as browsers ask.
    #[serde(skip)]
    pub(super) changes_server: bool,
    /// The resources' URLs, hosts and kinds.
    #[serde(skip)]
    pub(super) of: Option<Arc<Page>>,
}

/// The priority of a resource.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResourcePriority {
    /// Its ID in the page.
    pub id: usize,
    /// Its URL.
    pub url: String,
    /// 0 (first) to 7 (last).
    pub urgency: u8,
    /// Whether it shares bandwidth with others of its urgency.
    pub incremental: bool,
    /// Milliseconds by which it completes later than in the present order, on the network with the largest gain that is shown (Hodges
    /// and Lehmann); negative: earlier.
    pub later_ms: f64,
}

impl ResourcePriority {
    pub(super) fn priority(&self) -> BrowserPriority {
        BrowserPriority { urgency: self.urgency, incremental: self.incremental }
    }
}

/// The gain of priorities on a network.
#[derive(Debug, Clone, Serialize)]
pub struct Gain {
    /// The network.
    pub network: String,
    /// Whether they are better than the present order.
    pub verdict: Verdict,
    /// How the priorities compare with the present order.
    #[serde(flatten)]
    pub judgement: JudgedCandidate,
    /// The visible effects.
    #[serde(flatten)]
    pub noticed: Noticed,
    /// The index of each load in the present order, by seed; null if it did not finish.
    pub each_present_ms: Indices,
    /// Unfinished loads, in the present order or with the priorities.
    pub unfinished: usize,
    /// Why the first of them failed.
    #[serde(skip)]
    pub(super) problem: Option<String>,
    /// The resources that they move.
    #[serde(skip)]
    pub(super) moved: Vec<Moved>,
    /// The seed of the pair with the median ratio, which figures show; null without a pair.
    pub middle_seed: Option<u64>,
    /// The median index of the present order in ms, over loads of the page as recorded.
    pub present_ms: Option<f64>,
    /// The same with the priorities.
    pub found_ms: Option<f64>,
    /// The same in the oracle's order of packets; null if not requested.
    pub oracle_ms: Option<f64>,
    /// The priorities' gain over the present order, in percent of the oracle's gain. Null if the oracle gains less than 1 %, or if
    /// unknown.
    pub percent_of_oracle: Option<f64>,
}

/// Searches priorities for each page with something above the fold.
pub fn by_resource(
    question: &Question,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Vec<ByResource>, StudyError> {
    let mut all = Vec::new();
    for page in &question.pages() {
        all.extend(of_page(question, page, progress)?);
    }
    decide(question, all.iter_mut().collect());
    merge(question, all, progress)
}

fn of_page(
    question: &Question,
    page: &Arc<Page>,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Option<ByResource>, StudyError> {
    let ideal: Vec<Network> = question.networks.iter().map(Network::for_ideal).collect();
    let recordings = question.searched_recordings(page);
    let tried = || {
        progress(Step::Tried);
        true
    };
    let Some(search) = bounds::priorities(&recordings, &ideal, &tried) else { return Ok(None) };
    let (usual, mut priorities) = (bounds::usual(page), search.priorities);
    let mut not_kept: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for resource in page.resources.iter().filter(|it| !is_one_path(&it.url)) {
        if priorities[resource.id] != usual[resource.id] {
            priorities[resource.id] = usual[resource.id];
            not_kept.entry(UNWRITABLE.to_owned()).or_default().push(page.url(resource.id));
        }
    }
    let mut found = loaded(question, page, &priorities, progress)?;
    for (gain, ideal) in found.networks.iter_mut().zip(&ideal) {
        let oracle = question.oracle.then(|| bounds::oracle(page, ideal, Effort::default()));
        let Some(oracle) = oracle.flatten() else { continue };
        // It has the packets of the page as recorded.
        let network = question.networks.iter().filter(|it| it.name == gain.network).cloned();
        let batch = Batch::on_stack(question, page, network.collect(), 0, progress);
        let of_oracle = batch.knowing(schedule_scheme(&oracle, "oracle-order"))?.runs;
        gain.oracle_ms = as_recorded(&question.goal, &of_oracle);
        gain.percent_of_oracle = percent(gain.present_ms, gain.found_ms, gain.oracle_ms);
    }
    let unsure = search.doubtful.into_iter().map(|it| page.url(it)).collect();
    let alike = question.alike.get(&page.name).cloned().unwrap_or_default();
    Ok(Some(ByResource { unsure, not_kept, alike, ..found }))
}

/// The page with these priorities, loaded but not judged.
pub(super) fn loaded(
    question: &Question,
    page: &Arc<Page>,
    priorities: &Priorities,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<ByResource, StudyError> {
    let signalled = signalling(page, priorities);
    let with_priorities = |batch: &Batch<'_>| Batch { page: &signalled, ..batch.clone() }.obeying();
    let pairs = pairs(question, page, progress, with_priorities, None)?;
    let gains = pairs.iter().map(|it| Gain::of(&question.goal, page, it)).collect();
    Ok(answer(page, priorities, &pairs, gains))
}

/// The page whose browser signals these priorities.
pub(super) fn signalling(page: &Page, priorities: &Priorities) -> Arc<Page> {
    let mut page = page.clone();
    for (resource, priority) in page.resources.iter_mut().zip(priorities) {
        resource.browser = Some(*priority);
    }
    Arc::new(page)
}

impl Gain {
    fn of(goal: &Goal, page: &Page, pair: &Pair) -> Self {
        let all = pair.present.iter().chain(&pair.changed);
        let problem = all.clone().find_map(|it| it.unfinished.as_ref());
        let [present, changed] = pair.judging();
        Self {
            network: pair.network.name.clone(),
            verdict: Verdict::Unknown,
            judgement: pair.trial.judgement(0).map(JudgedCandidate::of).unwrap_or_default(),
            noticed: pair.noticed(page),
            each_present_ms: pair.trial.present().clone(),
            unfinished: all.filter(|it| !it.completed).count(),
            problem: problem.map(|it| shown(&it.problem, PROBLEM_CHARACTERS)),
            moved: all_moved(page, &present, &changed),
            middle_seed: pair.trial.middle_seed(0),
            present_ms: as_recorded(goal, &pair.present),
            found_ms: as_recorded(goal, &pair.changed),
            oracle_ms: None,
            percent_of_oracle: None,
        }
    }

    /// Whether it is as fast as now or faster, apart from negligible differences, and shows nothing later.
    fn is_harmless(&self) -> bool {
        let ratio = self.judgement.ratio.unwrap_or_default();
        ratio * SLOWER_MAX >= 1.0 && self.noticed.too_late().is_none()
    }
}

/// The median index of loads of the page as recorded, in ms.
fn as_recorded(goal: &Goal, runs: &[RunRecord]) -> Option<f64> {
    let as_recorded = runs.iter().filter(|it| it.seed < BATCH as u64);
    median(&as_recorded.filter_map(|it| goal.index(it).ms()).collect::<Vec<_>>())
}

fn percent(present_ms: Option<f64>, found_ms: Option<f64>, oracle_ms: Option<f64>) -> Option<f64> {
    let (present, found, oracle) = (present_ms?, found_ms?, oracle_ms?);
    (present / oracle >= WORTHWHILE).then(|| 100.0 * (present - found) / (present - oracle))
}

fn answer(
    page: &Arc<Page>,
    priorities: &Priorities,
    pairs: &[Pair],
    networks: Vec<Gain>,
) -> ByResource {
    let usual = bounds::usual(page);
    let mut resources: Vec<ResourcePriority> = Vec::new();
    for id in (0..usual.len()).filter(|id| usual[*id] != priorities[*id]) {
        resources.push(ResourcePriority {
            id,
            url: page.url(id),
            urgency: priorities[id].urgency,
            incremental: priorities[id].incremental,
            later_ms: 0.0,
        });
    }
    ByResource {
        page: page.name.clone(),
        page_sha256: page_sha256(page),
        resources,
        late: late(page, pairs),
        assumptions: page.source.assumptions.clone(),
        networks,
        of: Some(Arc::clone(page)),
        ..ByResource::default()
    }
}

/// The visible images that the priorities delay on a network.
fn late(page: &Page, pairs: &[Pair]) -> Vec<String> {
    let judging: Vec<_> = pairs.iter().map(Pair::judging).collect();
    let mut images: Vec<usize> = (0..page.resources.len()).collect();
    images.retain(|it| is_visible_image(page, *it));
    images.retain(|id| {
        judging.iter().any(|[present, found]| later(*id, present, found) > Some(LATER_MAX))
    });
    images.into_iter().map(|it| page.url(it)).collect()
}

#[cfg(test)]
impl Gain {
    /// A gain of which only this matters.
    pub(super) fn judged(network: &str, ratio: f64, interval: [f64; 2]) -> Self {
        let judgement = JudgedCandidate {
            ratio: Some(ratio),
            interval: Some(interval),
            pairs: 9,
            wilcoxon_p: Some(0.004),
            holm_p: Some(0.004),
        };
        Self {
            network: network.to_owned(),
            verdict: Verdict::of_judged(&judgement),
            judgement,
            noticed: Noticed::default(),
            each_present_ms: Vec::new(),
            unfinished: 0,
            problem: None,
            moved: Vec::new(),
            middle_seed: None,
            present_ms: None,
            found_ms: None,
            oracle_ms: None,
            percent_of_oracle: None,
        }
    }
}

#[cfg(test)]
impl ByResource {
    /// One line for an image that gains this.
    pub(super) fn with_gains(page: &str, networks: Vec<Gain>) -> Self {
        let line = ResourcePriority {
            id: 1,
            url: "https://shop.example/hero.jpg".to_owned(),
            urgency: 0,
            incremental: true,
            later_ms: -500.0,
        };
        Self { page: page.to_owned(), resources: vec![line], networks, ..Self::default() }
    }
}

impl ByResource {
    /// The page itself; `None` in an answer read from a file.
    pub(super) fn page(&self) -> Option<&Arc<Page>> {
        self.of.as_ref()
    }

    /// The page whose browser signals these priorities.
    pub(super) fn signalled(&self) -> Option<Arc<Page>> {
        let page = self.of.as_ref()?;
        let mut priorities = bounds::usual(page);
        for line in &self.resources {
            priorities[line.id] = line.priority();
        }
        Some(signalling(page, &priorities))
    }

    /// The speedup of the page with them: the geometric mean over networks.
    pub(super) fn speedup(&self) -> Option<f64> {
        let ratios = self.networks.iter().map(|it| it.judgement.ratio);
        geometric_mean(&ratios.collect::<Option<Vec<f64>>>()?)
    }

    /// The network with the largest gain that is shown, or with the largest estimate if none is.
    pub(super) fn gains_most(&self) -> Option<&Gain> {
        let ratio = |it: &Gain| it.judgement.ratio.unwrap_or_default();
        let is_shown = |it: &Gain| it.verdict == Verdict::Better;
        self.networks.iter().max_by(|one, other| {
            is_shown(one).cmp(&is_shown(other)).then(ratio(one).total_cmp(&ratio(other)))
        })
    }

    /// Measures how far lines move their resources, those that move most first.
    fn measure_lines(&mut self) {
        let moved = self.gains_most().map(|it| it.moved.clone()).unwrap_or_default();
        for line in &mut self.resources {
            if let Some(found) = moved.iter().find(|it| it.id == line.id) {
                line.later_ms = found.later_ms;
            }
        }
        self.resources.sort_by(|one, other| other.later_ms.abs().total_cmp(&one.later_ms.abs()));
    }

    /// Decides whether they are worth a change. Without a line, they are only if another server gains.
    pub(super) fn decide(&mut self, question: &Question) {
        self.changes_server = !question.server.is_obeying();
        let has_change = !self.resources.is_empty() || self.changes_server;
        for gain in &mut self.networks {
            // The search saw a gain, and another recording may have it.
            if gain.verdict == Verdict::NothingBetter && has_change {
                gain.verdict = Verdict::Unsure;
            }
        }
        let is_somewhere = self.networks.iter().any(|it| it.verdict == Verdict::Better);
        self.is_better = has_change && is_somewhere && self.is_harmless();
        self.measure_lines();
    }

    /// Whether no network is slower, and nothing is seen later.
    pub(super) fn is_harmless(&self) -> bool {
        self.networks.iter().all(Gain::is_harmless) && self.late.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_worth_a_change_where_a_network_gains_and_none_loses() {
        let question = Question::new(Vec::new(), Vec::new());
        let decided = |networks: Vec<Gain>| {
            let mut found = ByResource::with_gains("home", networks);
            found.decide(&question);
            found.is_better
        };
        let better = || Gain::judged("3g", 1.25, [1.2, 1.3]);
        assert!(decided(vec![better(), Gain::judged("cable", 0.99, [0.97, 1.01])]));
        assert!(!decided(vec![better(), Gain::judged("cable", 0.97, [0.95, 0.99])]));
        assert!(!decided(vec![Gain::judged("cable", 1.0, [0.99, 1.01])]), "nothing gains");
        let later =
            super::super::seen::Seen { present_ms: 500.0, later_ms: 11.0, interval_ms: None };
        let noticed = Noticed { first_render: Some(later), ..Noticed::default() };
        assert!(!decided(vec![Gain { noticed, ..better() }]), "the page is shown later");
    }
}
