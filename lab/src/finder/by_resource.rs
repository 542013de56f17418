//! Priorities for single resources: how near a server that only knows RFC 9218 comes to the best order.
//!
//! They are searched on the engine `ideal` ([`crate::bounds::priorities`]) for all networks at once, because a server cannot know a
//! visitor's. On `stack`, a page whose browser signals them is loaded beside the present order: a server that obeys then sends as one
//! that overrides what browsers signal. The first seeds choose among what was found, and later ones judge ([`super::trial`]).

use super::answer::{JudgedCandidate, Verdict};
use super::goal::Goal;
use super::moved::{Moved, all_moved};
use super::paired_loads::Batch;
use super::trial::{BATCH, Trial, adjusted};
use super::{Question, Step};
use crate::bounds::{self, Effort, Priorities, schedule_scheme};
use crate::network::Network;
use crate::study::policy::WORTHWHILE;
use crate::study::statistics::{geometric_mean, median};
use crate::study::{Engine, RunRecord, StudyError};
use corpus::Page;
use schedulers::Scheme;
use serde::Serialize;
use std::sync::Arc;

/// Loads of each network that the search on `ideal` looks at.
const STEPS: u64 = 2000;

/// Priorities with fewer lines are taken instead of others that are better by no more than this share.
const NEARLY: f64 = 0.005;

/// A resource that completes within this time of when it did is not moved, in milliseconds.
const UNMOVED_MS: f64 = 1.0;

/// Priorities for the resources of a page.
#[derive(Debug, Clone, Serialize)]
pub struct ByResource {
    /// The page.
    pub page: String,
    /// Whether they are worth a change: better on every network, as a policy must be.
    pub is_better: bool,
    /// The resources whose priority differs from what browsers signal, those that move most first.
    pub resources: Vec<ResourcePriority>,
    /// Priorities that the search found and that are left out, because they move no resource of theirs and gain nothing.
    pub left_out: usize,
    /// What they gain on each network.
    pub networks: Vec<Gain>,
    /// The resources' URLs, hosts and kinds.
    #[serde(skip)]
    of: Option<Arc<Page>>,
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
    /// Whether it shares with others of its urgency.
    pub incremental: bool,
    /// Milliseconds by which it completes later than in the present order, on the network where the page gains most, the median over
    /// seeds; negative: earlier.
    pub later_ms: f64,
}

/// What priorities gain on a network.
#[derive(Debug, Clone, Serialize)]
pub struct Gain {
    /// The network.
    pub network: String,
    /// Whether they are better than the present order.
    pub verdict: Verdict,
    /// How the priorities compare with the present order.
    #[serde(flatten)]
    pub judgement: JudgedCandidate,
    /// The median index of the present order, in ms.
    pub present_ms: Option<f64>,
    /// The same with the priorities.
    pub found_ms: Option<f64>,
    /// The same in the oracle's order of packets.
    pub oracle_ms: Option<f64>,
    /// What the priorities gain over the present order, in percent of what the oracle's order gains there. Null where that is less
    /// than 1 %.
    pub percent_of_oracle: Option<f64>,
}

/// A network with its loads.
struct OnNetwork {
    network: Network,
    goal: Goal,
    oracle: Scheme,
    trial: Trial,
    present: Vec<RunRecord>,
    found: Vec<RunRecord>,
    of_oracle: Vec<RunRecord>,
}

/// Searches priorities for each page that has something above the fold.
pub fn by_resource(
    question: &Question,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Vec<ByResource>, StudyError> {
    let mut all = Vec::new();
    for page in &question.pages {
        all.extend(of_page(question, page, progress)?);
    }
    let p_values: Vec<Option<f64>> =
        all.iter().flat_map(|it| &it.networks).map(|it| it.judgement.wilcoxon_p).collect();
    let mut adjusted = adjusted(&p_values).into_iter();
    for page in &mut all {
        for gain in &mut page.networks {
            (gain.judgement, gain.verdict) = gain.judgement.judged(adjusted.next().flatten());
        }
        page.is_better = page.networks.iter().all(|it| it.verdict == Verdict::Better);
    }
    Ok(all)
}

fn of_page(
    question: &Question,
    page: &Arc<Page>,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Option<ByResource>, StudyError> {
    let ideal: Vec<Network> = question.networks.iter().map(Network::for_ideal).collect();
    let found = bounds::priorities(page, &ideal, Effort::default(), STEPS);
    let Some(bounds::Found { sparing, cut, oracles }) = found else { return Ok(None) };
    let mut cases: Vec<OnNetwork> = question
        .networks
        .iter()
        .zip(&oracles)
        .map(|(network, oracle)| OnNetwork {
            network: network.clone(),
            goal: question.goal.clone(),
            oracle: schedule_scheme(oracle, "oracle-order"),
            trial: Trial::new(question.rule(), 1, None),
            present: Vec::new(),
            found: Vec::new(),
            of_oracle: Vec::new(),
        })
        .collect();
    let loads = Loads { question, page, progress };
    let Chosen { priorities, left_out, .. } = loads.chosen(&mut cases, [sparing, cut])?;
    let signalled = signalling(page, &priorities);
    while let Some(from) = cases.iter().find_map(|it| it.trial.next_seeds()).map(|it| it.start) {
        // A batch as a whole, although a trial takes its first seed alone.
        let open: Vec<&mut OnNetwork> =
            cases.iter_mut().filter(|it| it.trial.next_seeds().is_some()).collect();
        loads.add(open, &signalled, from)?;
    }
    Ok(Some(ByResource { left_out, ..answer(page, &priorities, &cases) }))
}

/// The page whose browser signals these priorities.
fn signalling(page: &Page, priorities: &Priorities) -> Arc<Page> {
    let mut page = page.clone();
    for (resource, priority) in page.resources.iter_mut().zip(priorities) {
        resource.browser = Some(*priority);
    }
    Arc::new(page)
}

/// Priorities with the loads of the first batch, and the mean logarithm of their index.
struct Chosen {
    index: f64,
    runs: Vec<RunRecord>,
    priorities: Priorities,
    left_out: usize,
}

/// How a page is loaded.
struct Loads<'a> {
    question: &'a Question,
    page: &'a Arc<Page>,
    progress: &'a (dyn Fn(Step) + Sync),
}

impl Loads<'_> {
    fn batch<'a>(&'a self, page: &'a Arc<Page>, networks: Vec<Network>, from: u64) -> Batch<'a> {
        let seeds = from..from + BATCH as u64;
        let Self { question, progress, .. } = *self;
        Batch { question, page, engine: Engine::Stack, networks, seeds, progress }
    }

    /// Loads the first batch, and chooses the priorities with which the page is best over all networks. Of nearly equal ones the first
    /// are chosen.
    fn chosen(
        &self,
        cases: &mut [OnNetwork],
        candidates: [Priorities; 2],
    ) -> Result<Chosen, StudyError> {
        let networks: Vec<Network> = cases.iter().map(|it| it.network.clone()).collect();
        let mut best: Option<Chosen> = None;
        for candidate in candidates {
            let tried = self.tried(&networks, candidate)?;
            if best.as_ref().is_none_or(|it| tried.index < it.index - NEARLY) {
                best = Some(tried);
            }
        }
        let none = || StudyError::Impossible("name a network".to_owned());
        let present = self.batch(self.page, networks.clone(), 0).present()?.runs;
        let chosen = self.without_idle(&networks, &present, best.ok_or_else(none)?)?;
        for case in cases {
            case.add(0, &present, &chosen.runs);
            case.of_oracle = self.under_oracle(case, 0)?;
        }
        Ok(chosen)
    }

    fn tried(&self, networks: &[Network], priorities: Priorities) -> Result<Chosen, StudyError> {
        let page = signalling(self.page, &priorities);
        let runs = self.batch(&page, networks.to_vec(), 0).present()?.runs;
        Ok(Chosen {
            index: self.question.goal.mean_logarithm(&runs, networks),
            runs,
            priorities,
            left_out: 0,
        })
    }

    /// Gives those resources back what browsers signal that complete when they did, where the page is as good without: one that
    /// stays in its place can make way for others. First all of them, then half as many.
    fn without_idle(
        &self,
        networks: &[Network],
        present: &[RunRecord],
        chosen: Chosen,
    ) -> Result<Chosen, StudyError> {
        let usual = bounds::usual(self.page);
        let mut idle = idle(self.page, networks, present, &chosen, &usual);
        while !idle.is_empty() {
            let mut priorities = chosen.priorities.clone();
            for id in &idle {
                priorities[*id] = usual[*id];
            }
            let tried = self.tried(networks, priorities)?;
            if tried.index <= chosen.index + NEARLY {
                return Ok(Chosen { left_out: idle.len(), ..tried });
            }
            idle.truncate(idle.len() / 2);
        }
        Ok(chosen)
    }

    fn add(
        &self,
        cases: Vec<&mut OnNetwork>,
        signalled: &Arc<Page>,
        from: u64,
    ) -> Result<(), StudyError> {
        let networks: Vec<Network> = cases.iter().map(|it| it.network.clone()).collect();
        let present = self.batch(self.page, networks.clone(), from).present()?.runs;
        let found = self.batch(signalled, networks, from).present()?.runs;
        for case in cases {
            case.add(from, &present, &found);
            let of_oracle = self.under_oracle(case, from)?;
            case.of_oracle.extend(of_oracle);
        }
        Ok(())
    }

    fn under_oracle(&self, case: &OnNetwork, from: u64) -> Result<Vec<RunRecord>, StudyError> {
        let batch = self.batch(self.page, vec![case.network.clone()], from);
        Ok(batch.knowing(case.oracle.clone())?.runs)
    }
}

/// The resources with a priority of their own that no network moves, those that move least first.
fn idle(
    page: &Page,
    networks: &[Network],
    present: &[RunRecord],
    chosen: &Chosen,
    usual: &Priorities,
) -> Vec<usize> {
    let on = |runs: &[RunRecord], network: &Network| -> Vec<RunRecord> {
        runs.iter().filter(|it| it.setting.network == network.name).cloned().collect()
    };
    let mut most_ms = vec![0.0_f64; page.resources.len()];
    for network in networks {
        let (before, after) = (on(present, network), on(&chosen.runs, network));
        let (before, after): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
        for moved in all_moved(page, &before, &after) {
            most_ms[moved.id] = most_ms[moved.id].max(moved.later_ms.abs());
        }
    }
    let is_idle = |id: &usize| chosen.priorities[*id] != usual[*id] && most_ms[*id] < UNMOVED_MS;
    let mut idle: Vec<usize> = (0..most_ms.len()).filter(is_idle).collect();
    idle.sort_by(|one, other| most_ms[*one].total_cmp(&most_ms[*other]));
    idle
}

impl OnNetwork {
    fn add(&mut self, from: u64, present: &[RunRecord], found: &[RunRecord]) {
        let mine = |runs: &[RunRecord]| {
            let mine = runs.iter().filter(|it| it.setting.network == self.network.name);
            mine.cloned().collect::<Vec<_>>()
        };
        let (present, found) = (mine(present), mine(found));
        let of = |runs| self.goal.indices(runs, &self.network, from);
        self.trial.add(&of(&present), &[of(&found)]);
        self.present.extend(present);
        self.found.extend(found);
    }

    fn judges<'a>(&self, runs: &'a [RunRecord]) -> Vec<&'a RunRecord> {
        let judging = self.trial.judging();
        let judges =
            |it: &&RunRecord| usize::try_from(it.seed).is_ok_and(|it| judging.contains(&it));
        runs.iter().filter(judges).collect()
    }

    fn gain(&self) -> Gain {
        let of_oracle = self.judges(&self.of_oracle);
        let of_oracle: Vec<f64> =
            of_oracle.into_iter().filter_map(|it| self.goal.index(it).ms()).collect();
        let (present_ms, found_ms) = (self.trial.index(None), self.trial.index(Some(0)));
        let oracle_ms = median(&of_oracle);
        let judged = self.trial.judgement(0);
        Gain {
            network: self.network.name.clone(),
            verdict: Verdict::Unknown,
            judgement: judged.map(JudgedCandidate::of).unwrap_or_default(),
            present_ms,
            found_ms,
            oracle_ms,
            percent_of_oracle: percent(present_ms, found_ms, oracle_ms),
        }
    }
}

fn percent(present_ms: Option<f64>, found_ms: Option<f64>, oracle_ms: Option<f64>) -> Option<f64> {
    let (present, found, oracle) = (present_ms?, found_ms?, oracle_ms?);
    (present / oracle >= WORTHWHILE).then(|| 100.0 * (present - found) / (present - oracle))
}

fn answer(page: &Arc<Page>, priorities: &Priorities, cases: &[OnNetwork]) -> ByResource {
    let networks: Vec<Gain> = cases.iter().map(OnNetwork::gain).collect();
    let ratio = |it: &usize| networks[*it].judgement.ratio.unwrap_or_default();
    let most = (0..cases.len()).max_by(|one, other| ratio(one).total_cmp(&ratio(other)));
    let moved: Vec<Moved> = most.map_or_else(Vec::new, |it| {
        let case = &cases[it];
        all_moved(page, &case.judges(&case.present), &case.judges(&case.found))
    });
    let usual = bounds::usual(page);
    let changed = (0..usual.len()).filter(|it| usual[*it] != priorities[*it]);
    let mut resources: Vec<ResourcePriority> = changed
        .map(|id| ResourcePriority {
            id,
            url: page.url(id),
            urgency: priorities[id].urgency,
            incremental: priorities[id].incremental,
            later_ms: moved.iter().find(|it| it.id == id).map_or(0.0, |it| it.later_ms),
        })
        .collect();
    resources.sort_by(|one, other| other.later_ms.abs().total_cmp(&one.later_ms.abs()));
    let page_name = page.name.clone();
    ByResource {
        page: page_name,
        is_better: false,
        resources,
        left_out: 0,
        networks,
        of: Some(Arc::clone(page)),
    }
}

#[cfg(test)]
impl Gain {
    /// A gain of which only the judgement matters.
    pub(super) fn judged(network: &str, judgement: JudgedCandidate) -> Self {
        Self {
            network: network.to_owned(),
            verdict: Verdict::Better,
            judgement,
            present_ms: None,
            found_ms: None,
            oracle_ms: None,
            percent_of_oracle: None,
        }
    }
}

#[cfg(test)]
impl ByResource {
    /// Priorities that gain this on one network.
    pub(super) fn with_gain(page: &str, gain: Gain) -> Self {
        let page = page.to_owned();
        Self {
            page,
            is_better: true,
            resources: Vec::new(),
            left_out: 0,
            networks: vec![gain],
            of: None,
        }
    }
}

impl ByResource {
    /// The page itself; none of an answer that was read.
    pub(super) fn page(&self) -> Option<&Arc<Page>> {
        self.of.as_ref()
    }

    /// How many times as fast the page is with them: the geometric mean over networks.
    pub(super) fn speedup(&self) -> Option<f64> {
        let ratios = self.networks.iter().map(|it| it.judgement.ratio);
        geometric_mean(&ratios.collect::<Option<Vec<f64>>>()?)
    }

    /// What they gain, in words: a sentence for each network, and how many were left out.
    pub fn words(&self) -> Vec<String> {
        let lines = match self.resources.len() {
            1 => "1 resource".to_owned(),
            several => format!("{several} resources"),
        };
        let sentence = |it: &Gain| {
            let (page, network) = (&self.page, &it.network);
            if self.resources.is_empty() {
                return format!(
                    "{page} on {network}: no resource needs another priority than browsers give it."
                );
            }
            let Some(ratio) = it.judgement.ratio else {
                return format!("{page} on {network}: unknown, because too few loads finished.");
            };
            let evidence = super::words::evidence(&it.judgement);
            let share = match it.percent_of_oracle {
                Some(percent) => {
                    format!("That is {percent:.0} % of what the oracle's order gains.")
                }
                None => "The oracle's order gains less than 1 % here.".to_owned(),
            };
            format!(
                "{page} on {network}: with priorities for {lines}, RFC 9218 is {ratio:.3} times as fast as {} ({evidence}). {share}",
                super::WHAT_YOU_HAVE
            )
        };
        let left_out = match self.left_out {
            0 => None,
            1 => Some(format!("{}: 1 priority that gains nothing is left out.", self.page)),
            several => {
                Some(format!("{}: {several} priorities that gain nothing are left out.", self.page))
            }
        };
        self.networks.iter().map(sentence).chain(left_out).collect()
    }
}
