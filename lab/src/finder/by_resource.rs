//! Priorities for single resources: how near a server that only knows RFC 9218 comes to the best order.
//!
//! They are searched on the engine `ideal` ([`crate::bounds::priorities`]) for all networks at once, because a server cannot know a
//! visitor's. On `stack`, a page whose browser signals them is loaded beside the present order: a server that obeys then sends as one
//! that overrides what browsers signal. The first seeds choose among what was found, and later ones judge ([`super::trial`]).

use super::answer::{Index, JudgedCandidate, Verdict};
use super::moved::{Moved, all_moved};
use super::paired_loads::Batch;
use super::trial::{BATCH, Indices, Judgement, Trial, adjusted};
use super::{Question, Step};
use crate::bounds::{self, Effort, Priorities, schedule_scheme};
use crate::export::{Advice, Document, Line};
use crate::network::Network;
use crate::study::policy::WORTHWHILE;
use crate::study::statistics::median;
use crate::study::{RunRecord, StudyError};
use corpus::Page;
use push::Graph;
use schedulers::{Priority, Scheme};
use serde::Serialize;
use std::sync::Arc;

/// Loads of each network that the search on `ideal` looks at.
const STEPS: u64 = 2000;

/// Priorities with fewer lines are taken instead of others that are better by no more than this share.
const NEARLY: f64 = 0.005;

/// Priorities for the resources of a page.
#[derive(Debug, Clone, Serialize)]
pub struct ByResource {
    /// The page.
    pub page: String,
    /// Whether they are worth a change: better on every network, as a policy must be.
    pub is_better: bool,
    /// The resources whose priority differs from what browsers signal, those that move most first.
    pub resources: Vec<ResourcePriority>,
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
            gain.judge(adjusted.next().flatten());
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
            oracle: schedule_scheme(oracle, "oracle-order"),
            trial: Trial::new(question.rule(), 1, None),
            present: Vec::new(),
            found: Vec::new(),
            of_oracle: Vec::new(),
        })
        .collect();
    let loads = Loads { question, page, progress };
    let priorities = loads.chosen(&mut cases, [sparing, cut])?;
    let signalled = signalling(page, &priorities);
    while let Some(from) = cases.iter().find_map(|it| it.trial.next_seeds()).map(|it| it.start) {
        // A batch as a whole, although a trial takes its first seed alone.
        let open: Vec<&mut OnNetwork> =
            cases.iter_mut().filter(|it| it.trial.next_seeds().is_some()).collect();
        loads.add(open, &signalled, from)?;
    }
    Ok(Some(answer(page, &priorities, &cases)))
}

/// The page whose browser signals these priorities.
fn signalling(page: &Page, priorities: &Priorities) -> Arc<Page> {
    let mut page = page.clone();
    for (resource, priority) in page.resources.iter_mut().zip(priorities) {
        resource.browser = Some(*priority);
    }
    Arc::new(page)
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
        Batch { question: self.question, page, networks, seeds, progress: self.progress }
    }

    /// Loads the first batch, and chooses the priorities with which the page is best over all networks. Of nearly equal ones the first
    /// are chosen.
    fn chosen(
        &self,
        cases: &mut [OnNetwork],
        candidates: [Priorities; 2],
    ) -> Result<Priorities, StudyError> {
        let networks: Vec<Network> = cases.iter().map(|it| it.network.clone()).collect();
        let mut best: Option<(f64, Vec<RunRecord>, Priorities)> = None;
        for candidate in candidates {
            let page = signalling(self.page, &candidate);
            let runs = self.batch(&page, networks.clone(), 0).present()?.runs;
            let index = mean_logarithm(&runs, &networks);
            if best.as_ref().is_none_or(|it| index < it.0 - NEARLY) {
                best = Some((index, runs, candidate));
            }
        }
        let none = || StudyError::Impossible("name a network".to_owned());
        let (_, runs, priorities) = best.ok_or_else(none)?;
        let present = self.batch(self.page, networks, 0).present()?.runs;
        for case in cases {
            case.add(0, &present, &runs);
            case.of_oracle = self.under_oracle(case, 0)?;
        }
        Ok(priorities)
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

/// The logarithm of the median index of the first batch, the mean over networks.
fn mean_logarithm(runs: &[RunRecord], networks: &[Network]) -> f64 {
    let index = |network: &Network| {
        let known: Vec<f64> = indices(runs, network, 0).into_iter().flatten().collect();
        median(&known).map_or(f64::INFINITY, f64::ln)
    };
    networks.iter().map(index).sum::<f64>() / networks.len() as f64
}

/// The index of each load of a batch on a network, by seed.
fn indices(runs: &[RunRecord], network: &Network, from: u64) -> Indices {
    let of_seed = |seed| {
        let run = runs.iter().find(|it| it.setting.network == network.name && it.seed == seed)?;
        Index::of_load(run).ms()
    };
    (from..from + BATCH as u64).map(of_seed).collect()
}

impl OnNetwork {
    fn add(&mut self, from: u64, present: &[RunRecord], found: &[RunRecord]) {
        let mine = |runs: &[RunRecord]| {
            let mine = runs.iter().filter(|it| it.setting.network == self.network.name);
            mine.cloned().collect::<Vec<_>>()
        };
        let (present, found) = (mine(present), mine(found));
        let of = |runs| indices(runs, &self.network, from);
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
            of_oracle.into_iter().filter_map(|it| Index::of_load(it).ms()).collect();
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

impl Gain {
    fn judge(&mut self, holm_p: Option<f64>) {
        self.judgement.holm_p = holm_p;
        let JudgedCandidate { ratio, interval, wilcoxon_p, pairs, .. } = self.judgement;
        let judged = ratio.map(|ratio| Judgement { ratio, interval, p: wilcoxon_p, pairs });
        self.verdict = match judged {
            None => Verdict::Unknown,
            Some(it) if it.is_better(holm_p) => Verdict::Better,
            Some(_) => Verdict::NothingBetter,
        };
    }
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
        networks,
        of: Some(Arc::clone(page)),
    }
}

impl ByResource {
    /// The page itself; none of an answer that was read.
    pub(super) fn page(&self) -> Option<&Arc<Page>> {
        self.of.as_ref()
    }

    /// What they gain, in words: a sentence for each network.
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
        self.networks.iter().map(sentence).collect()
    }
}

/// What servers that send by RFC 9218 should be told. Pages that gain nothing have no lines.
pub fn advice(found: &[ByResource]) -> Advice {
    let mut advice = Advice::default();
    for by_resource in found {
        advice.found.extend(by_resource.words());
        let Some(page) = by_resource.of.as_ref().filter(|_| by_resource.is_better) else {
            continue;
        };
        let line = |it: &ResourcePriority| Line {
            host: http3::host(page.host(it.id)).to_owned(),
            path: page.resources[it.id].url.clone(),
            resource: page.resources[it.id].for_scheduler(),
            priority: Priority::new(it.urgency, it.incremental),
            later_ms: Some(it.later_ms),
        };
        advice.lines.extend(by_resource.resources.iter().map(line));
        advice.documents.extend(hidden(page));
    }
    if !advice.documents.is_empty() {
        advice.found.push(
            "The links name what is critical and hidden from a browser that reads the document. They had no part in the loads: \
             `utmost compare --hints none,preload` measures them."
                .to_owned(),
        );
    }
    advice
}

fn hidden(page: &Page) -> Option<Document> {
    let path = page.resources.first()?.url.clone();
    let graph = Graph::of_page(page);
    let at = graph.nodes.iter().position(|it| it.path == path)?;
    let host = &graph.nodes[at].host;
    let links = graph.hidden_and_critical(at).into_iter().map(|it| graph.nodes[it].preload(host));
    let links: Vec<String> = links.collect();
    let host = http3::host(host).to_owned();
    (!links.is_empty()).then_some(Document { host, path, links, early_hints: Vec::new() })
}
