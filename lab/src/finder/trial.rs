//! The loads of one page on one network: how many are needed, which candidate leads, and what the loads say of it.
//!
//! A candidate is chosen by the loads of the first batch and judged by later ones. The same loads would praise it: the best of
//! several has been lucky, too. Loads end when the interval is narrow, never because a difference has shown: looking until
//! one shows finds differences that do not exist. All of it is computed from numbers alone.

use crate::study::paired_tests::{SignedRanks, holm};
use crate::study::policy::WORTHWHILE;
use crate::study::statistics::{Interval, SAMPLE_MIN, median};
use crate::study::{LEVEL, Ratio, are_of_one_load};
use std::ops::Range;

/// Seeds that are added at a time. The first batch chooses the candidate.
pub const BATCH: usize = 3;

/// When enough loads were made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// The half-width of the 95 % interval, as a share of the ratio, that is narrow enough.
    pub width: f64,
    /// The most loads under each scheme, with those of the first batch.
    pub most_loads: usize,
    /// How many tests the answer reports together: their p-values are adjusted for one another.
    pub tests: usize,
}

impl Rule {
    /// With fewer pairs, loads that all agree would have an adjusted p above 5 %. It is known before anything is loaded, so it
    /// does not depend on what the loads show.
    pub fn least_pairs(&self) -> usize {
        let (mut pairs, mut p) = (SAMPLE_MIN, 2.0 * 0.5_f64.powi(6));
        while p * self.tests as f64 >= LEVEL {
            pairs += 1;
            p /= 2.0;
        }
        pairs
    }
}

/// The index of each load of a scheme, by seed; lower is better. `None`: the load did not finish.
pub type Indices = Vec<Option<f64>>;

/// The loads of one page on one network.
#[derive(Debug, Clone)]
pub struct Trial {
    rule: Rule,
    present: Indices,
    candidates: Vec<Indices>,
}

/// What the loads after the first batch say of a candidate. A ratio above 1: it is better than the present order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// Hodges and Lehmann's estimate of the present order's index divided by the candidate's.
    pub ratio: f64,
    /// Its 95 % interval; `None` with fewer than six pairs of loads that differ.
    pub interval: Option<Interval>,
    /// The p of Wilcoxon's signed-rank test; `None` with fewer than six pairs, and where every load is the same.
    pub p: Option<f64>,
    /// Pairs of loads with the same seed.
    pub pairs: usize,
}

impl Trial {
    /// Nothing is loaded yet.
    pub fn new(rule: Rule, candidates: usize) -> Self {
        Self { rule, present: Vec::new(), candidates: vec![Vec::new(); candidates] }
    }

    /// Adds the loads of a batch: those of the present order, and those of each candidate.
    pub fn add(&mut self, present: &[Option<f64>], candidates: &[Indices]) {
        self.present.extend_from_slice(present);
        for (all, more) in self.candidates.iter_mut().zip(candidates) {
            all.extend_from_slice(more);
        }
    }

    /// Loads under each scheme.
    pub fn loads(&self) -> usize {
        self.present.len()
    }

    /// The seeds of the next batch; `None`: enough is loaded, or as much as may be.
    pub fn next_seeds(&self) -> Option<Range<u64>> {
        let next = self.loads() as u64..(self.loads() + BATCH) as u64;
        let has_room = self.loads() + BATCH <= self.rule.most_loads;
        if self.loads() == 0 {
            return Some(next);
        }
        (has_room && self.leader().is_some() && !self.is_narrow()).then_some(next)
    }

    /// The candidate that the first batch favours, by its place; `None` if no pair of its loads finished.
    pub fn leader(&self) -> Option<usize> {
        let ratio =
            |place: &usize| Some(Ratio::of(&self.ratios(*place, &self.choosing()), true)?.middle);
        let known = (0..self.candidates.len()).filter_map(|it| Some((it, ratio(&it)?)));
        // The first of equals.
        Some(known.reduce(|best, it| if it.1 > best.1 { it } else { best })?.0)
    }

    /// Whether the leader's interval is narrow enough.
    pub fn is_narrow(&self) -> bool {
        let judged = self.leader().and_then(|it| self.judgement(it));
        let Some(Judgement { ratio, interval: Some([low, high]), p, pairs }) = judged else {
            return false;
        };
        // Without chance there is no test that needs more pairs.
        let is_enough = p.is_none() || pairs >= self.rule.least_pairs();
        is_enough && (high - low) / 2.0 <= self.rule.width * ratio
    }

    /// What the later loads say of a candidate; `None` without a pair.
    pub fn judgement(&self, candidate: usize) -> Option<Judgement> {
        let ratios = self.ratios(candidate, &self.judging());
        let logarithms: Vec<f64> = ratios.iter().map(|it| it.ln()).collect();
        let has_chance = ratios.len() < BATCH || !are_of_one_load(&logarithms);
        let Ratio { middle, interval } = Ratio::of(&ratios, has_chance)?;
        let p = SignedRanks::of(&logarithms).p().map(|it| it.0).filter(|_| has_chance);
        Some(Judgement { ratio: middle, interval, p, pairs: ratios.len() })
    }

    /// How many times better a candidate is than another, or than the present order (`None` for `candidate`).
    pub fn speedup(&self, candidate: Option<usize>, over: usize) -> Option<f64> {
        let ratios = ratios(&self.candidates[over], self.indices(candidate), &self.judging());
        Some(Ratio::of(&ratios, true)?.middle)
    }

    /// The median index of the later loads of a candidate, or of the present order (`None`).
    pub fn index(&self, candidate: Option<usize>) -> Option<f64> {
        let later = self.indices(candidate).get(self.judging())?;
        median(&later.iter().copied().flatten().collect::<Vec<_>>())
    }

    /// The seed of the pair of later loads whose ratio is in the middle, of an even number the lower one of the two.
    pub fn middle_seed(&self, candidate: usize) -> Option<u64> {
        let others = &self.candidates[candidate];
        let ratio =
            |it: usize| Some((ratios(&self.present, others, &(it..it + 1)).pop()?, it as u64));
        let mut pairs: Vec<(f64, u64)> = self.judging().filter_map(ratio).collect();
        pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
        Some(pairs.get(pairs.len().checked_sub(1)? / 2)?.1)
    }

    /// The seeds that judge.
    pub fn judging(&self) -> Range<usize> {
        BATCH.min(self.loads())..self.loads()
    }

    fn choosing(&self) -> Range<usize> {
        0..BATCH.min(self.loads())
    }

    fn indices(&self, candidate: Option<usize>) -> &Indices {
        candidate.map_or(&self.present, |it| &self.candidates[it])
    }

    fn ratios(&self, candidate: usize, seeds: &Range<usize>) -> Vec<f64> {
        ratios(&self.present, &self.candidates[candidate], seeds)
    }
}

/// The first index divided by the second one, for each pair of loads that finished.
fn ratios(first: &Indices, second: &Indices, seeds: &Range<usize>) -> Vec<f64> {
    let pairs = seeds.clone().filter_map(|it| (*first.get(it)?).zip(*second.get(it)?));
    pairs.filter(|it| it.1 > 0.0).map(|(first, second)| first / second).collect()
}

/// The p-values that are there, adjusted for one another after Holm.
pub fn adjusted(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let there: Vec<f64> = p_values.iter().copied().flatten().collect();
    let mut adjusted = holm(&there).into_iter();
    p_values.iter().map(|it| it.and_then(|_| adjusted.next())).collect()
}

impl Judgement {
    /// Whether the candidate is better than the present order: its interval lies above 1, the adjusted p agrees where there is
    /// a test, and it gains enough to be worth a change.
    pub fn is_better(&self, adjusted_p: Option<f64>) -> bool {
        let lies_above = self.interval.is_some_and(|[low, _]| low > 1.0);
        lies_above && adjusted_p.is_none_or(|it| it < LEVEL) && self.ratio >= WORTHWHILE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use statrs::distribution::{ContinuousCDF, Normal};

    const RULE: Rule = Rule { width: 0.05, most_loads: 30, tests: 1 };

    /// A trial until its end. `index(place)` is that of a load under a candidate, or under the present order (`None`).
    fn carried_out(
        rule: Rule,
        candidates: usize,
        mut index: impl FnMut(Option<usize>) -> f64,
    ) -> Trial {
        let mut trial = Trial::new(rule, candidates);
        while let Some(seeds) = trial.next_seeds() {
            let mut batch = |it| seeds.clone().map(|_| Some(index(it))).collect::<Indices>();
            let (present, others) = (batch(None), (0..candidates).map(|it| batch(Some(it))));
            let others: Vec<Indices> = others.collect();
            trial.add(&present, &others);
        }
        trial
    }

    /// In how many of 1,000 planted studies of three candidates one is found better than the present order, where one is; and the
    /// most loads of a study. The first candidate is better by `gain`, the others are as good as the present order. Each load has noise
    /// of its own, with a standard deviation of 5 %.
    fn found(gain: f64, seed: u64) -> (usize, usize) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let standard = Normal::standard();
        let mut most = 0;
        let studies = (0..1000).filter(|_| {
            let trial = carried_out(RULE, 3, |candidate| {
                let noise = 0.05 * standard.inverse_cdf(random.random_range(1e-9..1.0));
                1000.0 * noise.exp() / if candidate == Some(0) { gain } else { 1.0 }
            });
            most = most.max(trial.loads());
            let leader = trial.leader().expect("loads");
            let judged = trial.judgement(leader).expect("later loads");
            judged.is_better(judged.p) && (leader == 0 || gain <= 1.0)
        });
        (studies.count(), most)
    }

    #[test]
    fn of_studies_of_equal_schemes_at_least_95_in_100_end_without_a_difference() {
        let (found, most) = found(1.0, 1);
        println!("equal schemes: {found} of 1000 studies find a difference; at most {most} loads");
        // None at all would be a finder that never finds anything.
        assert!((5..=50).contains(&found) && most <= RULE.most_loads, "{found}, {most}");
    }

    #[test]
    fn of_studies_of_a_scheme_that_is_a_tenth_better_at_least_95_in_100_find_it() {
        let (found, most) = found(1.1, 1);
        println!("a tenth better: {found} of 1000 studies find it; at most {most} loads");
        assert!(found >= 950 && most <= RULE.most_loads, "{found}, {most}");
    }

    #[test]
    fn the_first_batch_chooses_and_only_later_loads_judge() {
        let mut trial = Trial::new(RULE, 2);
        let all = |value: f64| vec![Some(value); BATCH];
        trial.add(&all(100.0), &[all(100.0), all(50.0)]);
        assert_eq!((trial.leader(), trial.judgement(1)), (Some(1), None));
        trial.add(&all(100.0), &[all(40.0), all(125.0)]);
        let judged = trial.judgement(1).expect("three pairs");
        assert_eq!((trial.leader(), judged.ratio, judged.pairs), (Some(1), 0.8, 3));
        assert_eq!((trial.index(Some(1)), trial.index(None)), (Some(125.0), Some(100.0)));
        assert_eq!(trial.speedup(None, 1), Some(1.25));
    }

    #[test]
    fn loads_that_are_all_the_same_need_one_batch_to_judge_and_no_test() {
        let trial = carried_out(RULE, 1, |it| if it.is_some() { 100.0 } else { 150.0 });
        assert_eq!(trial.loads(), 2 * BATCH);
        let judged = trial.judgement(0).expect("pairs");
        assert_eq!((judged.ratio, judged.interval, judged.p), (1.5, Some([1.5, 1.5]), None));
        assert!(judged.is_better(None));
    }

    #[test]
    fn loads_end_at_their_limit_where_the_interval_stays_wide() {
        let mut large = false;
        let trial = carried_out(Rule { most_loads: 14, ..RULE }, 1, |_| {
            large = !large;
            if large { 300.0 } else { 100.0 }
        });
        assert_eq!(
            (trial.loads(), trial.is_narrow()),
            (12, false),
            "14 is not a whole number of batches"
        );
    }

    #[test]
    fn many_tests_need_more_pairs_before_the_interval_may_end_the_loads() {
        let least = |tests| Rule { tests, ..RULE }.least_pairs();
        // Pairs that all agree have p = 2 / 2^n: 0.031 of six, 0.0156 of seven, which is 0.047 after three tests.
        assert_eq!([1, 3, 4, 60].map(least), [6, 7, 8, 12]);
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut loads = |tests| {
            let index = |_| random.random_range(100.0..100.1);
            carried_out(Rule { tests, ..RULE }, 1, index).loads()
        };
        assert_eq!([1, 3, 60].map(&mut loads), [9, 12, 15]);
    }

    #[test]
    fn loads_that_do_not_finish_pair_with_nothing() {
        let mut trial = Trial::new(RULE, 1);
        trial.add(&[None, None, None], &[vec![Some(1.0); BATCH]]);
        assert_eq!((trial.leader(), trial.next_seeds()), (None, None));
        let mut trial = Trial::new(RULE, 1);
        trial.add(&[Some(2.0), None, Some(2.0)], &[vec![Some(1.0), Some(1.0), None]]);
        trial.add(&[Some(2.0), Some(2.0), Some(3.0)], &[vec![None, Some(1.0), Some(1.0)]]);
        assert_eq!(trial.leader(), Some(0));
        assert_eq!(trial.judgement(0).map(|it| (it.pairs, it.interval)), Some((2, None)));
        // 2 and 3, of seeds 4 and 5.
        assert_eq!(trial.middle_seed(0), Some(4));
    }

    #[test]
    fn a_gain_counts_where_interval_and_test_agree_and_it_is_worthwhile() {
        let judged =
            |ratio, low| Judgement { ratio, interval: Some([low, 2.0]), p: Some(0.01), pairs: 9 };
        assert!(judged(1.2, 1.1).is_better(Some(0.04)));
        assert!(
            !judged(1.2, 1.1).is_better(Some(0.06)) && !judged(1.2, 0.99).is_better(Some(0.04))
        );
        assert!(!judged(1.005, 1.001).is_better(Some(0.001)));
        assert_eq!(adjusted(&[Some(0.01), None, Some(0.04)]), [Some(0.02), None, Some(0.04)]);
    }
}
