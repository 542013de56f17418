//! Priorities for single resources: how near a server that only knows RFC 9218 comes to the best order.
//!
//! They are searched on the engine `ideal` ([`crate::bounds::priorities`]) for all networks and several recordings at once, because a
//! server cannot know a visitor's. On `stack`, a page whose browser signals them is loaded beside the present order: a server that
//! obeys then sends as one that overrides what browsers signal. Loads of other recordings judge ([`super::trial`]).

use super::answer::JudgedCandidate;
use super::moved::{all_moved, later};
use super::paired_loads::{Batch, Pair, pairs};
use super::trial::BATCH;
use super::{Goal, Moved, Question, Step, Verdict};
use crate::bounds::{self, Effort, LATER_MAX, Priorities, is_visible_image, schedule_scheme};
use crate::network::Network;
use crate::study::policy::WORTHWHILE;
use crate::study::statistics::{geometric_mean, median};
use crate::study::{RunRecord, StudyError};
use corpus::Page;
use serde::Serialize;
use std::sync::Arc;

/// Priorities for the resources of a page.
#[derive(Debug, Clone, Serialize)]
pub struct ByResource {
    /// The page.
    pub page: String,
    /// Whether they are worth a change: better on every network, as a policy must be.
    pub is_better: bool,
    /// The resources whose priority differs from what browsers signal, those that move most first.
    pub resources: Vec<ResourcePriority>,
    /// URLs of the resources that have no line because another recording of the page would turn it.
    pub unsure: Vec<String>,
    /// URLs of visible images that come later than now with these priorities, which then are not better.
    pub late: Vec<String>,
    /// What they gain on each network.
    pub networks: Vec<Gain>,
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
    /// The median index of the present order in ms, of loads of the page as it was recorded.
    pub present_ms: Option<f64>,
    /// The same with the priorities.
    pub found_ms: Option<f64>,
    /// The same in the oracle's order of packets.
    pub oracle_ms: Option<f64>,
    /// What the priorities gain over the present order, in percent of what the oracle's order gains there. Null where that is less
    /// than 1 %.
    pub percent_of_oracle: Option<f64>,
}

/// Searches priorities for each page that has something above the fold.
pub fn by_resource(
    question: &Question,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Vec<ByResource>, StudyError> {
    let mut all = Vec::new();
    for page in &question.pages() {
        all.extend(of_page(question, page, progress)?);
    }
    let gains = all.iter_mut().flat_map(|it| &mut it.networks);
    JudgedCandidate::judge(gains.map(|it| (&mut it.judgement, &mut it.verdict)).collect());
    for page in &mut all {
        for gain in page.networks.iter_mut().filter(|_| !page.resources.is_empty()) {
            // The search saw a gain, and another recording may have it.
            if gain.verdict == Verdict::NothingBetter {
                gain.verdict = Verdict::Unsure;
            }
        }
        let is_better = page.networks.iter().all(|it| it.verdict == Verdict::Better);
        page.is_better = is_better && page.late.is_empty();
    }
    Ok(all)
}

fn of_page(
    question: &Question,
    page: &Arc<Page>,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Option<ByResource>, StudyError> {
    let ideal: Vec<Network> = question.networks.iter().map(Network::for_ideal).collect();
    let recordings = question.searched_recordings(page);
    let found = bounds::priorities(&recordings, &ideal, Effort::default());
    let Some(bounds::Found { priorities, doubtful, oracles }) = found else { return Ok(None) };
    let signalled = signalling(page, &priorities);
    let pairs = pairs(
        question,
        page,
        progress,
        |batch| Batch { page: &signalled, ..batch.clone() }.present(),
        None,
    )?;
    let mut gains = Vec::new();
    for (pair, oracle) in pairs.iter().zip(&oracles) {
        // Its packets are those of the page as it was recorded.
        let batch = Batch::on_stack(question, page, vec![pair.network.clone()], 0, progress);
        let of_oracle = batch.knowing(schedule_scheme(oracle, "oracle-order"))?.runs;
        gains.push(gain(&question.goal, pair, &of_oracle));
    }
    let unsure = doubtful.into_iter().map(|it| page.url(it)).collect();
    Ok(Some(ByResource { unsure, ..answer(page, &priorities, &pairs, gains) }))
}

/// The page whose browser signals these priorities.
fn signalling(page: &Page, priorities: &Priorities) -> Arc<Page> {
    let mut page = page.clone();
    for (resource, priority) in page.resources.iter_mut().zip(priorities) {
        resource.browser = Some(*priority);
    }
    Arc::new(page)
}

fn gain(goal: &Goal, pair: &Pair, of_oracle: &[RunRecord]) -> Gain {
    let [present_ms, found_ms, oracle_ms] =
        [&pair.present[..], &pair.changed, of_oracle].map(|runs| {
            let as_recorded = runs.iter().filter(|it| it.seed < BATCH as u64);
            median(&as_recorded.filter_map(|it| goal.index(it).ms()).collect::<Vec<_>>())
        });
    Gain {
        network: pair.network.name.clone(),
        verdict: Verdict::Unknown,
        judgement: pair.trial.judgement(0).map(JudgedCandidate::of).unwrap_or_default(),
        present_ms,
        found_ms,
        oracle_ms,
        percent_of_oracle: percent(present_ms, found_ms, oracle_ms),
    }
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
    let ratios = networks.iter().map(|it| it.judgement.ratio.unwrap_or_default());
    let most = pairs.iter().zip(ratios).max_by(|(_, one), (_, other)| one.total_cmp(other));
    let mut moved: Vec<Moved> = Vec::new();
    if let Some((pair, _)) = most {
        let [present, found] = pair.judging();
        moved = all_moved(page, &present, &found);
    }
    let usual = bounds::usual(page);
    let mut resources: Vec<ResourcePriority> = Vec::new();
    for id in (0..usual.len()).filter(|id| usual[*id] != priorities[*id]) {
        resources.push(ResourcePriority {
            id,
            url: page.url(id),
            urgency: priorities[id].urgency,
            incremental: priorities[id].incremental,
            later_ms: moved.iter().find(|it| it.id == id).map_or(0.0, |it| it.later_ms),
        });
    }
    resources.sort_by(|one, other| other.later_ms.abs().total_cmp(&one.later_ms.abs()));
    ByResource {
        page: page.name.clone(),
        is_better: false,
        resources,
        unsure: Vec::new(),
        late: late(page, pairs),
        networks,
        of: Some(Arc::clone(page)),
    }
}

/// The visible images that the priorities make late on a network.
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
            unsure: Vec::new(),
            late: Vec::new(),
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
            let doubt = match it.verdict {
                Verdict::Unsure if ratio <= 1.0 => {
                    " Unsure: the search promises a gain that these loads do not show.".to_owned()
                }
                Verdict::Unsure => {
                    format!(" Unsure:{}", super::words::doubt(&it.judgement, self.networks.len()))
                }
                _ => String::new(),
            };
            let share = match it.percent_of_oracle {
                Some(percent) => {
                    format!("That is {percent:.0} % of what the oracle's order gains.")
                }
                None => "The oracle's order gains less than 1 % here.".to_owned(),
            };
            format!(
                "{page} on {network}: with priorities for {lines}, RFC 9218 is {ratio:.3} times as fast as {} ({evidence}).{doubt} {share}",
                super::WHAT_YOU_HAVE
            )
        };
        self.networks.iter().map(sentence).chain(self.doubts()).collect()
    }
    /// What is unsure, in words.
    fn doubts(&self) -> Vec<String> {
        let path = |url: &String| {
            let read = url::Url::parse(url);
            read.map_or_else(|_| url.clone(), |it| it.path().to_owned())
        };
        let listed = |urls: &[String]| match urls {
            [] => None,
            [one] => Some(path(one)),
            [one, others @ ..] => Some(format!("{} and {} more", path(one), others.len())),
        };
        let page = &self.page;
        let unsure = listed(&self.unsure).map(|it| {
            format!(
                "{page}: unsure of a priority for {it}: it gains in some recordings of the page and not in others, and is left out."
            )
        });
        let late = listed(&self.late).map(|it| {
            format!(
                "{page}: unsure, so the priorities are left out: with them a visible image comes later than with {}: {it}.",
                super::WHAT_YOU_HAVE
            )
        });
        unsure.into_iter().chain(late).collect()
    }

    /// Why they are not worth a change, though they may gain somewhere; none: they are.
    pub fn why_not(&self) -> Option<String> {
        let on = |is_wanted: fn(Verdict) -> bool| {
            let networks = self.networks.iter().filter(|it| is_wanted(it.verdict));
            networks.map(|it| it.network.clone()).collect::<Vec<_>>().join(", ")
        };
        if self.is_better || self.resources.is_empty() || !self.late.is_empty() {
            return None;
        }
        let [worse, better] = [on(|it| it != Verdict::Better), on(|it| it == Verdict::Better)];
        let better = if better.is_empty() { String::new() } else { format!(", only on {better}") };
        Some(format!(
            "{}: nothing is surely better than {} on {worse}{better}. A server does not know a visitor's network.",
            self.page,
            super::WHAT_YOU_HAVE
        ))
    }
}
