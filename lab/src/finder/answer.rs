//! Whole schemes: the choice for each page and network, its certainty, and one order for all.

use super::robust::{LeastWorst, is_loaded, least_bad};
use super::screening::Ranked;
use super::seen::Noticed;
use super::trial::{Judgement, adjusted};
use super::words::{of_page, of_robust, too_few};
use super::{Case, Moved, Question, Screened, WHAT_YOU_HAVE};
use crate::above_fold;
use crate::study::policy::WORTHWHILE;
use crate::study::statistics::Interval;
use corpus::Page;
use serde::Serialize;
use std::collections::BTreeSet;

/// Which schemes are better than the present order. Only a server that runs schemes can use one.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// One answer for each page and network.
    pub pages: Vec<PageAnswer>,
    /// One order for all of them; null if there is one page on one network.
    pub robust_choice: Option<RobustChoice>,
    /// How many loads it took.
    pub loads: Loads,
}

/// The answer for one page on one network.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PageAnswer {
    /// The page.
    pub page: String,
    /// The network.
    pub network: String,
    /// Whether to change anything.
    pub verdict: Verdict,
    /// The scheme to change to; null to keep the present order.
    pub choice: Option<String>,
    /// The verdict in words.
    pub words: String,
    /// The scheme that the first loads favoured and the later ones judged; null if no load finished.
    pub candidate: Option<String>,
    /// The result of the later loads.
    #[serde(flatten)]
    pub judgement: JudgedCandidate,
    /// Whether the interval is as narrow as requested.
    pub is_narrow: bool,
    /// Loads in the present order, and under the candidate, the first batch included.
    pub loads: usize,
    /// The candidate's visible effects.
    #[serde(flatten)]
    pub noticed: Noticed,
    /// Loads that did not finish.
    pub unfinished: usize,
    /// The seed of the pair with the median ratio, which figures show; null without a pair.
    pub middle_seed: Option<u64>,
    /// Every order that was loaded on `stack`, the best first.
    pub ranking: Vec<RankedOrder>,
    /// The resources whose completion the candidate moves most.
    pub moved: Vec<Moved>,
    /// Every scheme on `ideal`, the best first.
    pub screened: Vec<Screened>,
}

/// Whether to change anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The candidate is better than the present order.
    Better,
    /// Nothing that was loaded is better.
    NothingBetter,
    /// The candidate gains, but another recording or chance could reverse that.
    Unsure,
    /// Priorities or hints are shown to make a page slower on this network.
    Slower,
    /// No pair of loads finished.
    #[default]
    Unknown,
}

/// The candidate compared with the present order. A ratio above 1 means that it is better.
#[derive(Debug, Clone, Default, Serialize)]
pub struct JudgedCandidate {
    /// The present order's index divided by the candidate's, over pairs of loads (Hodges and Lehmann).
    pub ratio: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// The p-value of Wilcoxon's signed-rank test; null if every load is the same.
    pub wilcoxon_p: Option<f64>,
    /// The same, with Holm's adjustment for all tests of the answer.
    pub holm_p: Option<f64>,
    /// Pairs of loads.
    pub pairs: usize,
}

/// An index over the resources that count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Index {
    /// The value over the resources above the fold in ms; null if the page has none.
    pub atf_ms: Option<f64>,
    /// The value over all resources, for a page with nothing above the fold.
    pub all_ms: Option<f64>,
}

/// An order of the ranking.
#[derive(Debug, Clone, Serialize)]
pub struct RankedOrder {
    /// The scheme.
    pub scheme: String,
    /// Whether it is the present order.
    pub is_present: bool,
    /// Loads under it. Only the present order and the candidate have loads beyond the first batch.
    pub loads: usize,
    /// The median of the measure, over the loads that judge, or over the first batch's if there are no others.
    #[serde(flatten)]
    pub index: Index,
    /// How many times better it is than `rr`, over pairs of the same loads as `index`; null if `rr` has no such loads.
    pub speedup_rr: Option<f64>,
    /// How many times better it is than the present order, over pairs of the same loads as `index`.
    pub speedup_present: Option<f64>,
    /// The 95 % interval of that; null if the order has only loads of the first batch.
    pub interval: Option<Interval>,
    /// The index divided by its lower bound; null if there is no bound.
    pub regret: Option<f64>,
}

/// The order with the lowest worst regret over all pages and networks, among those loaded everywhere on `stack`. The present one
/// if nothing beats it anywhere.
#[derive(Debug, Clone, Serialize)]
pub struct RobustChoice {
    /// Its scheme.
    pub scheme: String,
    /// Whether it is the present order.
    pub is_present: bool,
    /// The choice in words.
    pub words: String,
    /// Its worst regret. Without a lower bound, a regret is the index divided by the best one for the page and network.
    pub worst_regret: f64,
    /// The page with its worst regret.
    pub page: String,
    /// The network with its worst regret.
    pub network: String,
    /// How many times better than the present order it is on that network.
    pub speedup_present: Option<f64>,
    /// The 95 % interval of that.
    pub interval: Option<Interval>,
    /// The worst regret of the present order.
    pub present_worst_regret: Option<f64>,
}

/// How many loads an answer took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Loads {
    /// On the engine `ideal`.
    pub ideal: usize,
    /// On the engine `stack`.
    pub stack: usize,
    /// Loads on `stack` if every scheme had been loaded there the same number of times.
    pub stack_of_all_schemes: usize,
}

impl Verdict {
    /// The text beside a ratio in a table, so that nobody takes it for a gain that is shown.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Unsure => ", not shown",
            Self::Slower => ", slower",
            _ => "",
        }
    }

    /// Unsure means: possibly worth a change, possibly not. The estimate is above 1, and the interval reaches a gain that is worth
    /// one.
    fn of(judged: Option<Judgement>, holm_p: Option<f64>) -> Self {
        let Some(judged) = judged else { return Self::Unknown };
        let reaches = judged.interval.is_none_or(|[_, high]| high >= WORTHWHILE);
        match () {
            () if judged.is_better(holm_p) => Self::Better,
            () if judged.ratio > 1.0 && reaches => Self::Unsure,
            () if judged.inverted().is_better(holm_p) => Self::Slower,
            () => Self::NothingBetter,
        }
    }
}

#[cfg(test)]
impl Verdict {
    /// The verdict from a judgement alone.
    pub(super) fn of_judged(judged: &JudgedCandidate) -> Self {
        let JudgedCandidate { ratio, interval, wilcoxon_p: p, holm_p, pairs } = *judged;
        Self::of(ratio.map(|ratio| Judgement { ratio, interval, p, pairs }), holm_p)
    }
}

impl JudgedCandidate {
    /// Adjusts the p-values of these tests for one another, and sets each verdict.
    pub(super) fn judge(tests: Vec<(&mut Self, &mut Verdict)>) {
        let p_values: Vec<Option<f64>> = tests.iter().map(|it| it.0.wilcoxon_p).collect();
        for ((judgement, verdict), holm_p) in tests.into_iter().zip(adjusted(&p_values)) {
            let Self { ratio, interval, wilcoxon_p, pairs, .. } = *judgement;
            let judged = ratio.map(|ratio| Judgement { ratio, interval, p: wilcoxon_p, pairs });
            *verdict = Verdict::of(judged, holm_p);
            judgement.holm_p = holm_p;
        }
    }

    /// Without an adjusted p.
    pub(super) fn of(judged: Judgement) -> Self {
        let Judgement { ratio, interval, p, pairs } = judged;
        Self { ratio: Some(ratio), interval, wilcoxon_p: p, holm_p: None, pairs }
    }
}

impl Answer {
    pub(super) fn of(question: &Question, screened: &[Ranked], cases: &[Case]) -> Self {
        let judged: Vec<Option<Judgement>> = cases.iter().map(Case::judgement).collect();
        let p_values: Vec<Option<f64>> = judged.iter().map(|it| it.and_then(|it| it.p)).collect();
        let adjusted = adjusted(&p_values);
        let answers = cases.iter().zip(&judged).zip(adjusted).map(|((case, judged), holm_p)| {
            let ranked =
                screened.iter().find(|it| it.page == case.page.name && it.network == case.network);
            let answer = PageAnswer {
                screened: ranked.map(|it| it.schemes.clone()).unwrap_or_default(),
                ..case.answer(*judged, holm_p)
            };
            PageAnswer { words: of_page(&answer, &question.goal, cases.len()), ..answer }
        });
        let pages: Vec<PageAnswer> = answers.collect();
        let pairs: usize = cases.iter().map(|it| it.trial.loads()).sum();
        Self {
            robust_choice: robust_choice(&pages, question.server.scheme)
                .filter(|_| cases.len() > 1),
            loads: Loads {
                ideal: screened.iter().map(|it| it.schemes.len()).sum(),
                stack: cases.iter().map(Case::loads).sum(),
                stack_of_all_schemes: pairs * (question.schemes.len() + 1),
            },
            pages,
        }
    }
}

impl Case {
    fn judgement(&self) -> Option<Judgement> {
        self.trial.judgement(self.trial.leader()?)
    }

    /// The answer without its words and without stage 1.
    fn answer(&self, judged: Option<Judgement>, holm_p: Option<f64>) -> PageAnswer {
        let candidate = self.trial.leader().map(|it| self.names[it].clone());
        let verdict = match Verdict::of(judged, holm_p) {
            Verdict::Better if self.noticed.too_late().is_some() => Verdict::NothingBetter,
            Verdict::Slower => Verdict::NothingBetter,
            verdict => verdict,
        };
        let judgement = judged.map(|it| JudgedCandidate { holm_p, ..JudgedCandidate::of(it) });
        PageAnswer {
            page: self.page.name.clone(),
            network: self.network.clone(),
            verdict,
            choice: candidate.clone().filter(|_| verdict == Verdict::Better),
            words: String::new(),
            candidate,
            judgement: judgement.unwrap_or_default(),
            is_narrow: self.trial.is_narrow(),
            loads: self.trial.loads(),
            noticed: self.noticed,
            unfinished: self.unfinished,
            middle_seed: self.trial.leader().and_then(|it| self.trial.middle_seed(it)),
            ranking: self.ranking(),
            moved: self.moved.clone(),
            screened: Vec::new(),
        }
    }

    /// Loads on `stack`.
    fn loads(&self) -> usize {
        self.orders().into_iter().map(|it| self.trial.loads_of(it)).sum()
    }

    /// All orders, the best first.
    fn ranking(&self) -> Vec<RankedOrder> {
        let mut rows: Vec<RankedOrder> = self.orders().into_iter().map(|it| self.row(it)).collect();
        rows.sort_by(|one, other| {
            let [one, other] = [one, other].map(|it| it.index.ms().unwrap_or(f64::INFINITY));
            one.total_cmp(&other)
        });
        rows
    }

    /// The present order (`None`), and the indices of the candidates.
    fn orders(&self) -> Vec<Option<usize>> {
        [None].into_iter().chain((0..self.names.len()).map(Some)).collect()
    }

    fn row(&self, order: Option<usize>) -> RankedOrder {
        let index_ms = self.trial.index(order);
        let judged = order.and_then(|it| self.trial.judgement(it));
        let first_ratio = order.and_then(|it| self.trial.first_ratio(it));
        let itself = index_ms.filter(|_| order.is_none()).map(|_| 1.0);
        RankedOrder {
            scheme: order.map_or(self.present_scheme, |it| &self.names[it]).to_owned(),
            is_present: order.is_none(),
            index: Index::of(&self.page, index_ms),
            loads: self.trial.loads_of(order),
            speedup_rr: self.trial.speedup(order),
            speedup_present: judged.map(|it| it.ratio).or(first_ratio).or(itself),
            interval: judged.and_then(|it| it.interval),
            regret: self.regret(index_ms),
        }
    }

    fn regret(&self, index_ms: Option<f64>) -> Option<f64> {
        let bound_ms = self.bound_ms.filter(|it| *it > 0.0)?;
        Some(index_ms? / bound_ms)
    }
}

impl Index {
    /// An index over the resources that count in `page`.
    fn of(page: &Page, ms: Option<f64>) -> Self {
        let nothing_above = above_fold(page).is_empty();
        Self { atf_ms: ms.filter(|_| !nothing_above), all_ms: ms.filter(|_| nothing_above) }
    }

    /// The index, over whichever resources count.
    pub fn ms(&self) -> Option<f64> {
        self.atf_ms.or(self.all_ms)
    }
}

fn robust_choice(pages: &[PageAnswer], present: &str) -> Option<RobustChoice> {
    let cases: Vec<&PageAnswer> = pages.iter().collect();
    let LeastWorst { scheme, worst_regret, case } = least_bad(&cases)?;
    let of_present = pages.iter().map(|it| it.regrets().get(WHAT_YOU_HAVE));
    let of_present = of_present.collect::<Option<Vec<f64>>>();
    let is_beaten = pages.iter().any(|it| it.verdict == Verdict::Better);
    let is_present = scheme == WHAT_YOU_HAVE;
    let worst = &pages[case];
    let is_bounded = worst.ranking.iter().any(|it| it.regret.is_some());
    let row = worst.ranking.iter().find(|it| it.scheme == scheme && !it.is_present);
    let once = pages.iter().flat_map(|it| &it.ranking).filter(|it| !is_loaded(it));
    let once: BTreeSet<&str> = once.map(|it| &*it.scheme).collect();
    let choice = RobustChoice {
        scheme: if is_present { present.to_owned() } else { scheme },
        is_present,
        words: String::new(),
        worst_regret,
        page: worst.page.clone(),
        network: worst.network.clone(),
        speedup_present: row.and_then(|it| it.speedup_present),
        interval: row.and_then(|it| it.interval),
        present_worst_regret: of_present.map(|it| it.into_iter().fold(0.0, f64::max)),
    };
    let words = of_robust(&choice, is_bounded, is_beaten) + too_few(once).as_str();
    Some(RobustChoice { words, ..choice })
}
