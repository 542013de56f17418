//! Tests of paired differences: Wilcoxon's signed-rank test, its effect size, and Holm's adjustment for several tests.
//!
//! A difference is the logarithm of a ratio: above 0 one scheme is better, below 0 the other, and 0 is a tie.

use crate::study::statistics::{EXACT_VALUES, SAMPLE_MIN, ways_to_add_up};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

/// Paired differences in the form for Wilcoxon's test: signs, and ranks by size. Differences of the same size share their mean
/// rank. Ties are ranked with the others and then count for neither side (Pratt, Remarks on Zeros and Ties in the Wilcoxon Signed
/// Rank Procedures, Journal of the American Statistical Association 54, 1959, pages 655 to 667).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedRanks {
    /// Twice the ranks of positive differences: mean ranks can end in a half.
    positive: Vec<usize>,
    /// Twice the ranks of negative differences.
    negative: Vec<usize>,
    ties: usize,
}

schedulers::named! {
    /// How a p-value was computed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Method {
        /// From all sign assignments of the ranks, with their ties.
        Exact = "exact",
        /// From the normal distribution with the variance of these ranks.
        Normal = "normal",
    }
}

/// Logarithms are compared in units of this size, because equal ones can differ by rounding.
const RESOLUTION: f64 = 1e-9;

impl SignedRanks {
    /// Ranks `differences`.
    pub fn of(differences: &[f64]) -> Self {
        let mut sizes: Vec<i64> = differences.iter().map(|it| in_units(*it)).collect();
        sizes.sort_unstable_by_key(|it| it.abs());
        let mut ranks = Self { positive: Vec::new(), negative: Vec::new(), ties: 0 };
        let mut smaller = 0;
        for equal in sizes.chunk_by(|one, other| one.abs() == other.abs()) {
            let twice_mean_rank = 2 * smaller + equal.len() + 1;
            for size in equal {
                match size.signum() {
                    1 => ranks.positive.push(twice_mean_rank),
                    -1 => ranks.negative.push(twice_mean_rank),
                    _ => ranks.ties += 1,
                }
            }
            smaller += equal.len();
        }
        ranks
    }

    /// Differences above 0.
    pub fn wins(&self) -> usize {
        self.positive.len()
    }

    /// Differences of 0.
    pub fn ties(&self) -> usize {
        self.ties
    }

    /// Differences below 0.
    pub fn losses(&self) -> usize {
        self.negative.len()
    }

    /// The number of differences.
    pub fn pairs(&self) -> usize {
        self.wins() + self.ties + self.losses()
    }

    /// The two-sided p-value of the signed-rank test: the probability of ranks at least as one-sided with random signs. Exact up
    /// to 50 differences that are not 0, conditional on their ties; above that by the normal distribution without a correction
    /// for continuity. `None` for fewer than six differences.
    pub fn p(&self) -> Option<(f64, Method)> {
        if self.pairs() < SAMPLE_MIN {
            return None;
        }
        let ranks = self.positive.iter().chain(&self.negative).copied();
        let [positive, all] = [self.positive.iter().sum::<usize>(), ranks.clone().sum()];
        let smaller = positive.min(all - positive);
        let count = self.wins() + self.losses();
        if count > EXACT_VALUES {
            // On average, half of all ranks have a plus. The squares account for the effect of ties on the variance.
            let deviation = ranks.map(|it| (it as f64).powi(2)).sum::<f64>().sqrt() / 2.0;
            let z = (smaller as f64 - all as f64 / 2.0) / deviation;
            return Some((2.0 * Normal::standard().cdf(z), Method::Normal));
        }
        let ways: f64 = ways_to_add_up(ranks)[..=smaller].iter().sum();
        let all_ways: f64 = std::iter::repeat_n(2.0, count).product();
        Some(((2.0 * ways / all_ways).min(1.0), Method::Exact))
    }

    /// The matched-pairs rank-biserial correlation: the share of the ranks with a plus, less the share with a minus (Kerby, The
    /// Simple Difference Formula, Comprehensive Psychology 3, 2014). From -1 to 1. Ties take a share of the ranks, so they pull
    /// it towards 0. `None` for fewer than six differences.
    pub fn rank_biserial(&self) -> Option<f64> {
        let pairs = self.pairs();
        let [positive, negative] =
            [&self.positive, &self.negative].map(|ranks| ranks.iter().sum::<usize>() as f64);
        let difference = positive - negative;
        (pairs >= SAMPLE_MIN).then(|| difference / (pairs * (pairs + 1)) as f64)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a ratio's logarithm is below 1000")]
fn in_units(difference: f64) -> i64 {
    (difference / RESOLUTION).round() as i64
}

/// The p-values of a family of tests, adjusted so that the probability of any false rejection stays below the level (Holm, A
/// Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979, pages 65 to 70).
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut places: Vec<usize> = (0..p_values.len()).collect();
    places.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least: f64 = 0.0;
    for (smaller, place) in places.into_iter().enumerate() {
        let tests_left = (p_values.len() - smaller) as f64;
        least = least.max(p_values[place] * tests_left).min(1.0);
        adjusted[place] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn p(differences: &[f64]) -> f64 {
        SignedRanks::of(differences).p().expect("at least six").0
    }

    /// Differences 1 to `count`; negative ones have ranks that add up to `sum`.
    fn with_negative_ranks(count: u32, sum: u32) -> Vec<f64> {
        let mut left = sum;
        let mut differences: Vec<f64> = (1..=count)
            .rev()
            .map(|rank| {
                let is_negative = rank <= left;
                left -= if is_negative { rank } else { 0 };
                f64::from(rank) * if is_negative { -1.0 } else { 1.0 }
            })
            .collect();
        differences.reverse();
        assert_eq!(left, 0);
        differences
    }

    #[test]
    fn p_reaches_five_percent_at_the_critical_values_of_the_tables() {
        // Two-sided 5 %: the largest sum that rejects (Wilcoxon and Wilcox, Some Rapid Approximate Statistical Procedures, 1964).
        for (count, critical) in
            [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (15, 25), (20, 52), (25, 89), (30, 137)]
        {
            let [at, above] = [critical, critical + 1].map(|it| p(&with_negative_ranks(count, it)));
            assert!(at <= 0.05 && above > 0.05, "{count}: {at} and {above}");
        }
    }

    #[test]
    fn two_worked_examples_without_ties_have_their_published_p() {
        // Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, Table 3.1: T+ = 5, one-sided 0.0195.
        let depression = [-0.952, 0.147, -1.022, -0.43, -0.62, -0.59, -0.49, 0.08, -0.01];
        let ranks = SignedRanks::of(&depression);
        assert_eq!((ranks.wins(), ranks.ties(), ranks.losses()), (2, 0, 7));
        assert_eq!(ranks.p(), Some((2.0 * 10.0 / 512.0, Method::Exact)));
        // 5 and 40 of 45.
        assert_eq!(ranks.rank_biserial(), Some(-35.0 / 45.0));
        // Darwin's maize, as in the documentation of scipy.stats.wilcoxon: T = 24, p = 0.041259765625.
        let maize = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75].map(f64::from);
        assert_eq!(SignedRanks::of(&maize).p(), Some((0.041_259_765_625, Method::Exact)));
    }

    #[test]
    fn ties_and_equal_sizes_have_the_p_of_all_ways_to_give_signs() {
        // scipy 1.17.1: wilcoxon(x, zero_method="pratt", method=PermutationMethod(n_resamples=10**7)): T = 13, p = 0.0546875.
        // Without Pratt's ranks of zeros, p = 0.0625.
        let differences = [0, 0, 1, 1, -1, 2, 2, 3, -4, 5, 6, 6].map(f64::from);
        let ranks = SignedRanks::of(&differences);
        assert_eq!((ranks.wins(), ranks.ties(), ranks.losses()), (8, 2, 2));
        assert_eq!(ranks.p(), Some((56.0 / 1024.0, Method::Exact)));
        // 62 less 13 of 78.
        assert_eq!(ranks.rank_biserial(), Some(49.0 / 78.0));
    }

    #[test]
    fn many_differences_have_the_p_of_the_normal_distribution_corrected_for_ties() {
        // scipy 1.17.1: wilcoxon(x, zero_method="pratt", method="approx"): T = 518.5, p = 0.003611977203290957.
        let differences: Vec<f64> = (0..60).map(|it| f64::from(it * 37 % 23 - 8)).collect();
        let ranks = SignedRanks::of(&differences);
        assert_eq!((ranks.wins(), ranks.ties(), ranks.losses()), (36, 2, 22));
        let (p, method) = ranks.p().expect("enough");
        assert_eq!(method, Method::Normal);
        assert!((p - 0.003_611_977_203).abs() < 1e-9, "{p}");
        let effect = ranks.rank_biserial().expect("differences");
        assert!((effect - 0.431_693_989_071).abs() < 1e-12, "{effect}");
    }

    #[test]
    fn fifty_differences_have_an_exact_p_and_more_the_normal_one() {
        // scipy 1.17.1: wilcoxon(x, method="exact"). Its method "approx" gives 0.0703, less than 1 % less.
        let (exact, method) = SignedRanks::of(&with_negative_ranks(50, 450)).p().expect("enough");
        assert!(method == Method::Exact && (exact - 0.070_826_120_4).abs() < 1e-9, "{exact}");
        let (normal, method) = SignedRanks::of(&with_negative_ranks(51, 459)).p().expect("enough");
        assert!(method == Method::Normal && (normal - 0.055_852_182_0).abs() < 1e-9, "{normal}");
    }

    #[test]
    fn too_few_pairs_have_no_p_and_ties_alone_have_one_of_1() {
        let five = SignedRanks::of(&[1.0; 5]);
        assert_eq!((five.p(), five.rank_biserial()), (None, None));
        assert_eq!(SignedRanks::of(&[1.0; 6]).p(), Some((2.0 / 64.0, Method::Exact)));
        let ties = SignedRanks::of(&[0.0; 6]);
        assert_eq!((ties.p(), ties.rank_biserial()), (Some((1.0, Method::Exact)), Some(0.0)));
    }

    #[test]
    fn rounding_is_not_a_difference() {
        let [one, other] = [1.1_f64.ln(), -(1.0 / 1.1_f64).ln()];
        let near = SignedRanks::of(&[one, -other, one, -other, 1e-12, -1e-12]);
        assert_eq!((near.wins(), near.ties(), near.losses()), (2, 2, 2));
        assert_eq!(near.rank_biserial(), Some(0.0));
    }

    #[test]
    fn holm_multiplies_by_the_tests_left_and_keeps_the_order() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") = 0.03 0.06 0.06 0.02.
        let near = |one: &[f64], other: &[f64]| {
            assert_eq!(one.len(), other.len());
            let all = one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-12);
            assert!(all, "{one:?}");
        };
        near(&holm(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
        near(&holm(&[0.6, 0.6]), &[1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    /// In how many of 1,000 planted studies of four schemes on 20 sites Holm's adjustment leaves a p below 5 % for any scheme,
    /// and for the first. The ratio of two schemes varies between sites by 10 % (one standard deviation); half of its variance is
    /// the baseline's and so common to all schemes. The first scheme is better by `gain`, the others are as good as the baseline.
    fn rejections(gain: f64) -> [usize; 2] {
        let mut random = ChaCha8Rng::seed_from_u64(13);
        let standard = Normal::standard();
        let mut noise = move || 0.07 * standard.inverse_cdf(random.random_range(1e-9..1.0));
        let mut counts = [0; 2];
        for _ in 0..1000 {
            let baseline: Vec<f64> = (0..20).map(|_| noise()).collect();
            let mut scheme = |gain: f64| {
                let differences = baseline.iter().map(|it| gain.ln() + noise() - it);
                p(&differences.collect::<Vec<f64>>())
            };
            let adjusted = holm(&[scheme(gain), scheme(1.0), scheme(1.0), scheme(1.0)]);
            counts[0] += usize::from(adjusted.iter().any(|it| *it < 0.05));
            counts[1] += usize::from(adjusted[0] < 0.05);
        }
        counts
    }

    #[test]
    fn of_studies_without_a_difference_at_most_5_in_100_find_one() {
        let [any, _] = rejections(1.0);
        println!("without a difference, {any} of 1000 studies find one");
        // Of 1,000 studies, 50 and three standard deviations. Far fewer would mean a test that never rejects.
        assert!((15..=71).contains(&any), "{any} of 1000");
    }

    #[test]
    fn a_difference_of_a_tenth_is_found_in_most_studies() {
        let powers = [1.02, 1.05, 1.1].map(|gain| rejections(gain)[1]);
        println!("gains of 2, 5 and 10 % are found in {powers:?} of 1000 studies");
        assert!(powers[2] > 900 && powers[0] < powers[1] && powers[1] < powers[2], "{powers:?}");
    }
}
