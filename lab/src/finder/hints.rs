//! Hints: whether a page gains if its document's response announces resources early.
//!
//! Each page is loaded in the present order with and without hints, with the same seeds on each network. The first seeds choose
//! between `Link` preload fields and early hints, and later ones judge ([`super::trial`]), as everywhere in the finder. Hints and
//! priorities of single resources are not loaded together, so there is no result for both at once.

use super::answer::JudgedCandidate;
use super::paired_loads::{Batch, pairs};
use super::seen::Noticed;
use super::{Question, Step, Verdict, WHAT_YOU_HAVE};
use crate::push_and_hints::{Hints, PushAndHints};
use crate::study::statistics::geometric_mean;
use crate::study::{RunRecord, StudyError};
use corpus::Page;
use qlog_tools::short_texts::counted;
use serde::Serialize;
use std::sync::Arc;

/// Hints for a page.
#[derive(Debug, Clone, Serialize)]
pub struct ByHints {
    /// The page.
    pub page: String,
    /// `preload` or `early-hints`; null if there is nothing to hint at.
    pub hints: Option<Hints>,
    /// Whether they are worth a change: better on every network, as a policy requires.
    pub is_better: bool,
    /// Values of `Link` fields of the document's response.
    pub links: Vec<String>,
    /// Values of `Link` fields of early hints.
    pub early_hints: Vec<String>,
    /// Their gain on each network.
    pub networks: Vec<HintsGain>,
    /// The page itself.
    #[serde(skip)]
    pub(super) of: Arc<Page>,
}

/// The gain of hints on a network.
#[derive(Debug, Clone, Serialize)]
pub struct HintsGain {
    /// The network.
    pub network: String,
    /// Whether they are better than the present order without them.
    pub verdict: Verdict,
    /// How the present order with hints compares with the same order without.
    #[serde(flatten)]
    pub judgement: JudgedCandidate,
    /// The visible effects.
    #[serde(flatten)]
    pub noticed: Noticed,
}

/// Loads each page with and without hints.
pub fn by_hints(
    question: &Question,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Vec<ByHints>, StudyError> {
    let mut all = Vec::new();
    for page in &question.pages() {
        all.push(of_page(question, page, progress)?);
    }
    let gains = all.iter_mut().flat_map(|it: &mut ByHints| &mut it.networks);
    JudgedCandidate::judge(gains.map(|it| (&mut it.judgement, &mut it.verdict)).collect());
    for page in &mut all {
        page.is_better = !page.networks.is_empty()
            && page
                .networks
                .iter()
                .all(|it| it.verdict == Verdict::Better && it.noticed.too_late().is_none());
    }
    Ok(all)
}

fn of_page(
    question: &Question,
    page: &Arc<Page>,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<ByHints, StudyError> {
    let networks = &question.networks;
    let batch = Batch::on_stack(question, page, networks.clone(), 0, progress);
    let mut best: Option<(f64, Hints, Vec<RunRecord>)> = None;
    for hints in [Hints::Preload, Hints::EarlyHints] {
        let (links, early_hints) = named(page, hints);
        if links.is_empty() && early_hints.is_empty() {
            continue;
        }
        let runs = batch.hinting(Some(hints))?.runs;
        let index = question.goal.mean_logarithm(&runs, networks);
        if best.as_ref().is_none_or(|(least, ..)| index < *least) {
            best = Some((index, hints, runs));
        }
    }
    let Some((_, hints, first)) = best else {
        return Ok(ByHints::of(page, None, Vec::new()));
    };
    let pairs = pairs(question, page, progress, |batch| batch.hinting(Some(hints)), Some(first))?;
    let gains = pairs.iter().map(|pair| HintsGain {
        network: pair.network.name.clone(),
        verdict: Verdict::Unknown,
        judgement: pair.trial.judgement(0).map(JudgedCandidate::of).unwrap_or_default(),
        noticed: pair.noticed(page),
    });
    Ok(ByHints::of(page, Some(hints), gains.collect()))
}

/// The resources that hints name in the document's response, and in early hints alone.
fn named(page: &Page, hints: Hints) -> (Vec<String>, Vec<String>) {
    let rules = PushAndHints { hints, ..PushAndHints::default() }.pushing(page);
    rules.into_iter().next().map(|it| (it.1.links, it.1.early_hints)).unwrap_or_default()
}

impl ByHints {
    fn of(page: &Arc<Page>, hints: Option<Hints>, networks: Vec<HintsGain>) -> Self {
        let (links, early_hints) = hints.map(|it| named(page, it)).unwrap_or_default();
        Self {
            page: page.name.clone(),
            hints,
            is_better: false,
            links,
            early_hints,
            networks,
            of: Arc::clone(page),
        }
    }

    /// The page itself.
    pub(super) fn page(&self) -> &Arc<Page> {
        &self.of
    }

    /// The speedup of the page with them: the geometric mean over networks.
    pub(super) fn speedup(&self) -> Option<f64> {
        let ratios = self.networks.iter().map(|it| it.judgement.ratio);
        geometric_mean(&ratios.collect::<Option<Vec<f64>>>()?)
    }

    /// Their gain in words: a sentence for each network.
    pub fn words(&self) -> Vec<String> {
        let page = &self.page;
        let Some(hints) = self.hints else {
            return vec![format!(
                "{page}: hints have nothing to name, because a browser that reads the document finds everything critical."
            )];
        };
        let count = counted(self.links.len().max(self.early_hints.len()), "resource");
        let what = if hints == Hints::EarlyHints {
            format!("early hints that name {count}")
        } else {
            format!("links that preload {count}")
        };
        let mut sentences = Vec::new();
        for HintsGain { network, verdict, judgement, noticed } in &self.networks {
            let Some(ratio) = judgement.ratio else {
                sentences.push(format!(
                    "{page} on {network}: unknown with hints, because too few loads finished."
                ));
                continue;
            };
            let evidence = super::words::evidence(judgement);
            let but = match verdict {
                Verdict::Better => match noticed.too_late() {
                    Some(what) => format!(" But {what} comes later."),
                    None => String::new(),
                },
                Verdict::Unsure => {
                    format!(" Unsure:{}", super::words::doubt(judgement, self.networks.len()))
                }
                Verdict::Slower => " It is slower here.".to_owned(),
                _ if judgement.interval.is_none_or(|[low, _]| low <= 1.0) => {
                    " That is not better beyond chance.".to_owned()
                }
                _ => super::words::but(judgement, self.networks.len()),
            };
            sentences.push(format!(
                "{page} on {network}: with {what}, it is {ratio:.2} times as fast as {WHAT_YOU_HAVE} ({evidence}).{but}"
            ));
        }
        sentences
    }
}
