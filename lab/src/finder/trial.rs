//! The loads of one page on one network: how many are needed, which candidate leads, and what the loads show about it.
//!
//! A candidate is chosen by the loads of the first batch and judged by later ones. The same loads would be biased towards it, because
//! the best of many orders was also lucky. Candidates that were not chosen have no part in the verdict and are not loaded again; a
//! candidate far behind after one seed skips the rest of the first batch, too. Loads end when the interval is narrow, never because a
//! difference has appeared, because waiting for a difference finds spurious ones. All of this is pure computation.

use crate::study::policy::WORTHWHILE;
use crate::study::statistics::signed_ranks::{SignedRanks, holm};
use crate::study::statistics::{Interval, SAMPLE_MIN, median};
use crate::study::{LEVEL, Ratio, RunRecord, are_of_one_load};
use std::ops::Range;

/// Seeds that are added at a time. The first batch chooses the candidate; its first seed runs alone.
pub const BATCH: usize = 3;

/// A candidate leaves after one seed if it is behind the best one by more than this many times the width of the answer.
const BEHIND_WIDTHS: f64 = 2.0;

/// When enough loads were made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// The half-width of the 95 % interval, as a share of the ratio, that is narrow enough.
    pub width: f64,
    /// The maximum number of loads in the present order and under the candidate, including the first batch.
    pub most_loads: usize,
    /// The number of tests in the answer: their p-values are adjusted for one another.
    pub tests: usize,
}

impl Rule {
    /// The minimum number of pairs. With fewer, even unanimous loads would have an adjusted p above 5 %. It is fixed before anything is
    /// loaded, so it does not depend on the loads.
    pub fn least_pairs(&self) -> usize {
        let (mut pairs, mut p) = (SAMPLE_MIN, 2.0 * 0.5_f64.powi(6));
        while p * self.tests as f64 >= LEVEL {
            pairs += 1;
            p /= 2.0;
        }
        pairs
    }
}

/// The index of each load of a scheme, by seed from 0 on; lower is better. `None`: the load did not finish. A scheme that was not
/// loaded with later seeds has fewer entries.
pub type Indices = Vec<Option<f64>>;

/// The loads of one page on one network.
#[derive(Debug, Clone)]
pub struct Trial {
    rule: Rule,
    present: Indices,
    candidates: Vec<Indices>,
    /// The reference candidate of speedups. It gets the whole first batch, however far behind it is.
    reference: Option<usize>,
}

/// The result of the loads after the first batch for a candidate. A ratio above 1 means that it is better than the present order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// Hodges and Lehmann's estimate of the present order's index divided by the candidate's.
    pub ratio: f64,
    /// Its 95 % interval; `None` with fewer than six pairs of loads that differ.
    pub interval: Option<Interval>,
    /// The p-value of Wilcoxon's signed-rank test; `None` with fewer than six pairs, or if every load is the same.
    pub p: Option<f64>,
    /// Pairs of loads with the same seed.
    pub pairs: usize,
}

impl Trial {
    /// A trial without loads. `reference`: the index of the reference candidate of speedups.
    pub fn new(rule: Rule, candidates: usize, reference: Option<usize>) -> Self {
        Self { rule, present: Vec::new(), candidates: vec![Vec::new(); candidates], reference }
    }

    /// Adds loads with the next seeds: of the present order, and of each candidate; none for a candidate that is not
    /// [open](Self::open).
    pub fn add(&mut self, present: &[Option<f64>], candidates: &[Indices]) {
        self.present.extend_from_slice(present);
        for (all, more) in self.candidates.iter_mut().zip(candidates) {
            all.extend_from_slice(more);
        }
    }

    /// Loads in the present order and under the leader; other candidates have at most as many.
    pub fn loads(&self) -> usize {
        self.present.len()
    }

    /// Loads under a candidate, or in the present order (`None`).
    pub fn loads_of(&self, candidate: Option<usize>) -> usize {
        self.indices(candidate).len()
    }

    /// The seeds of the next loads; `None`: there are enough loads, or the maximum is reached.
    pub fn next_seeds(&self) -> Option<Range<u64>> {
        let is_open = self.loads() < BATCH || self.leader().is_some() && !self.is_narrow();
        self.further_seeds().filter(|_| is_open)
    }

    /// The seeds of the next loads, regardless of results; `None` at the maximum.
    pub fn further_seeds(&self) -> Option<Range<u64>> {
        let loads = self.loads();
        let seeds = match loads {
            0 => 1,
            _ if loads < BATCH => BATCH - loads,
            _ => BATCH,
        };
        let has_room = loads + seeds <= self.rule.most_loads;
        has_room.then(|| loads as u64..(loads + seeds) as u64)
    }

    /// The indices of the candidates for the next seeds: all for the first seed, then all that are not far behind, and after the first
    /// batch the leader.
    pub fn open(&self) -> Vec<usize> {
        if self.loads() >= BATCH {
            return self.leader().into_iter().collect();
        }
        let first = self.candidates.iter().map(|it| it.first().copied().flatten());
        let best = first.clone().flatten().fold(f64::INFINITY, f64::min);
        let far = best * (1.0 + BEHIND_WIDTHS * self.rule.width);
        let mut open = Vec::new();
        for (place, index) in first.enumerate() {
            // A load that did not finish shows nothing about the others.
            if index.is_none_or(|index| index <= far) || self.reference == Some(place) {
                open.push(place);
            }
        }
        open
    }

    /// The index of the candidate that the first batch favours; `None` if no pair of its loads finished.
    pub fn leader(&self) -> Option<usize> {
        let stayed = (0..self.candidates.len())
            .filter(|it| self.candidates[*it].len() >= self.choosing().end);
        let known = stayed.filter_map(|it| Some((it, self.first_ratio(it)?)));
        // The first of equals.
        Some(known.reduce(|best, it| if it.1 > best.1 { it } else { best })?.0)
    }

    /// How many times better than the present order a candidate is in the first batch, or in the part of it that it was loaded in.
    pub fn first_ratio(&self, candidate: usize) -> Option<f64> {
        Some(Ratio::of(&self.ratios(candidate, &self.choosing()), true)?.middle)
    }

    /// Whether the leader's interval is narrow enough.
    pub fn is_narrow(&self) -> bool {
        let judged = self.leader().and_then(|it| self.judgement(it));
        let Some(Judgement { ratio, interval: Some([low, high]), p, pairs }) = judged else {
            return false;
        };
        // Without randomness, no test needs more pairs.
        let is_enough = p.is_none() || pairs >= self.rule.least_pairs();
        is_enough && (high - low) / 2.0 <= self.rule.width * ratio
    }

    /// The result of the later loads for a candidate; `None` without a pair.
    pub fn judgement(&self, candidate: usize) -> Option<Judgement> {
        judged(&self.ratios(candidate, &self.judging()))
    }

    /// How many times better than the reference a candidate is, or the present order (`None`), over pairs of the loads of its index;
    /// `None` if the reference was not loaded with those seeds.
    pub fn speedup(&self, candidate: Option<usize>) -> Option<f64> {
        let reference = &self.candidates[self.reference?];
        let judging = self.judging();
        let seeds =
            if self.loads_of(candidate) > judging.start { judging } else { self.choosing() };
        let ratios = ratios_of(reference, self.indices(candidate), &seeds);
        Some(Ratio::of(&ratios, true)?.middle)
    }

    /// The median index of the later loads of a candidate, or of the present order (`None`); of its first loads if there are no later
    /// ones.
    pub fn index(&self, candidate: Option<usize>) -> Option<f64> {
        let loads = self.indices(candidate);
        let later = loads.get(self.judging()).unwrap_or(loads);
        median(&later.iter().copied().flatten().collect::<Vec<_>>())
    }

    /// The seed of the pair of later loads with the median ratio; of the two for an even number, the lower ratio.
    pub fn middle_seed(&self, candidate: usize) -> Option<u64> {
        let others = &self.candidates[candidate];
        let mut pairs: Vec<(f64, u64)> = Vec::new();
        for seed in self.judging() {
            let ratio = ratios_of(&self.present, others, &(seed..seed + 1)).pop();
            pairs.extend(ratio.map(|it| (it, seed as u64)));
        }
        pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
        Some(pairs.get(pairs.len().checked_sub(1)? / 2)?.1)
    }

    /// The seeds that judge.
    pub fn judging(&self) -> Range<usize> {
        BATCH.min(self.loads())..self.loads()
    }

    /// The part of `runs` that judges.
    pub(super) fn judges<'a>(&self, runs: &'a [RunRecord]) -> Vec<&'a RunRecord> {
        let judging = self.judging();
        let judging = judging.start as u64..judging.end as u64;
        runs.iter().filter(|it| judging.contains(&it.seed)).collect()
    }

    fn choosing(&self) -> Range<usize> {
        0..BATCH.min(self.loads())
    }

    fn indices(&self, candidate: Option<usize>) -> &Indices {
        candidate.map_or(&self.present, |it| &self.candidates[it])
    }

    /// The loads in the present order.
    pub fn present(&self) -> &Indices {
        &self.present
    }

    fn ratios(&self, candidate: usize, seeds: &Range<usize>) -> Vec<f64> {
        ratios_of(&self.present, &self.candidates[candidate], seeds)
    }
}

/// The first index divided by the second one, for each pair of loads that finished.
pub fn ratios(first: &Indices, second: &Indices) -> Vec<f64> {
    ratios_of(first, second, &(0..first.len()))
}

fn ratios_of(first: &Indices, second: &Indices, seeds: &Range<usize>) -> Vec<f64> {
    let pairs = seeds.clone().filter_map(|it| (*first.get(it)?).zip(*second.get(it)?));
    pairs.filter(|it| it.1 > 0.0).map(|(first, second)| first / second).collect()
}

/// The result of ratios of pairs of loads; `None` without a pair.
pub fn judged(ratios: &[f64]) -> Option<Judgement> {
    let logarithms: Vec<f64> = ratios.iter().map(|it| it.ln()).collect();
    let has_chance = ratios.len() < BATCH || !are_of_one_load(&logarithms);
    let Ratio { middle, interval } = Ratio::of(ratios, has_chance)?;
    let p = SignedRanks::of(&logarithms).p().map(|it| it.0).filter(|_| has_chance);
    Some(Judgement { ratio: middle, interval, p, pairs: ratios.len() })
}

/// The p-values that exist, with Holm's adjustment.
pub fn adjusted(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let there: Vec<f64> = p_values.iter().copied().flatten().collect();
    let mut adjusted = holm(&there).into_iter();
    p_values.iter().map(|it| it.and_then(|_| adjusted.next())).collect()
}

impl Judgement {
    /// The same of the inverse ratios.
    #[must_use]
    pub fn inverted(&self) -> Self {
        let interval = self.interval.map(|[low, high]| [1.0 / high, 1.0 / low]);
        Self { ratio: 1.0 / self.ratio, interval, ..*self }
    }

    /// Whether the candidate is better than the present order: its interval lies above 1, the adjusted p agrees if there is a test, and
    /// the gain is worth a change.
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

    /// Runs a trial to its end. `index(place)` gives the index of a load under a candidate, or under the present order (`None`).
    fn carried_out(
        rule: Rule,
        candidates: usize,
        mut index: impl FnMut(Option<usize>) -> f64,
    ) -> Trial {
        let mut trial = Trial::new(rule, candidates, None);
        while let Some(seeds) = trial.next_seeds() {
            let mut batch = |it| seeds.clone().map(|_| Some(index(it))).collect::<Indices>();
            let (present, open) = (batch(None), trial.open());
            let others = (0..candidates)
                .map(|it| if open.contains(&it) { batch(Some(it)) } else { Indices::new() });
            let others: Vec<Indices> = others.collect();
            trial.add(&present, &others);
        }
        trial
    }

    /// In 1,000 planted studies of three candidates, one of which is better than the present order: how many find one, and the most
    /// loads of a study. The first candidate is better by `gain`, the others are as good as the present order. Each load has
    /// independent noise with a standard deviation of 5 %.
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
        // None at all would mean that the finder never finds anything.
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
        let mut trial = Trial::new(RULE, 2, Some(0));
        let all = |value: f64| vec![Some(value); BATCH];
        trial.add(&all(100.0), &[all(60.0), all(50.0)]);
        assert_eq!((trial.leader(), trial.judgement(1)), (Some(1), None));
        assert_eq!((trial.speedup(None), trial.speedup(Some(1))), (Some(0.6), Some(1.2)));
        trial.add(&all(100.0), &[Indices::new(), all(125.0)]);
        let judged = trial.judgement(1).expect("three pairs");
        assert_eq!((trial.leader(), judged.ratio, judged.pairs), (Some(1), 0.8, 3));
        assert_eq!((trial.index(Some(1)), trial.index(None)), (Some(125.0), Some(100.0)));
        // Of the first batch, as the other candidate has no other loads.
        assert_eq!((trial.index(Some(0)), trial.judgement(0)), (Some(60.0), None));
        // The reference has no later loads, and the others' indices are of these.
        let speedups = [None, Some(0), Some(1)].map(|it| trial.speedup(it));
        assert_eq!(speedups, [None, Some(1.0), None]);
    }

    #[test]
    fn who_is_far_behind_after_one_seed_leaves_and_after_the_batch_only_the_leader_goes_on() {
        let mut trial = Trial::new(RULE, 5, Some(0));
        let one = |it: f64| vec![Some(it)];
        assert_eq!((trial.next_seeds(), trial.open()), (Some(0..1), vec![0, 1, 2, 3, 4]));
        // Far behind: by more than twice 5 %. `None`: the load did not finish.
        let first = [one(900.0), one(100.0), one(110.0), one(110.1), vec![None]];
        trial.add(&one(120.0), &first);
        assert_eq!((trial.next_seeds(), trial.open()), (Some(1..3), vec![0, 1, 2, 4]));
        let two = |it: f64| vec![Some(it); 2];
        let rest = [two(90.0), two(100.0), two(90.0), Indices::new(), two(200.0)];
        trial.add(&two(120.0), &rest);
        assert_eq!((trial.next_seeds(), trial.open()), (Some(3..6), vec![2]));
        assert_eq!((0..5).map(|it| trial.loads_of(Some(it))).collect::<Vec<_>>(), [3, 3, 3, 1, 3]);
        assert_eq!(trial.first_ratio(3), Some(120.0 / 110.1));
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
        let mut trial = Trial::new(RULE, 1, None);
        trial.add(&[None, None, None], &[vec![Some(1.0); BATCH]]);
        assert_eq!((trial.leader(), trial.next_seeds()), (None, None));
        let mut trial = Trial::new(RULE, 1, None);
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
