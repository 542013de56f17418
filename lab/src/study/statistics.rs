//! Statistics of many loads: means, intervals, rank correlation.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};
use statrs::statistics::{Data, Distribution, OrderStatistics};

/// From the lower to the upper end of a 95 % confidence interval.
pub type Interval = [f64; 2];

/// The arithmetic mean; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// A value, and how much it counts.
pub type Weighted = (f64, f64);

/// Values that each count the same.
pub fn equal(values: &[f64]) -> Vec<Weighted> {
    values.iter().map(|it| (*it, 1.0)).collect()
}

/// The arithmetic mean of values that count differently; `None` if none counts.
pub fn weighted_mean(values: &[Weighted]) -> Option<f64> {
    let weight: f64 = values.iter().map(|it| it.1).sum();
    (weight > 0.0).then(|| values.iter().map(|it| it.0 * it.1).sum::<f64>() / weight)
}

/// The geometric mean of values that count differently; `None` if none counts.
pub fn weighted_geometric_mean(values: &[Weighted]) -> Option<f64> {
    Some(weighted_mean(&values.iter().map(|it| (it.0.ln(), it.1)).collect::<Vec<_>>())?.exp())
}

/// The value below and above which at most half of the weight lies, or the mean of two such values; `None` if none counts.
pub fn weighted_median(values: &[Weighted]) -> Option<f64> {
    let mut values: Vec<Weighted> = values.iter().filter(|it| it.1 > 0.0).copied().collect();
    values.sort_by(|one, other| one.0.total_cmp(&other.0));
    let half = values.iter().map(|it| it.1).sum::<f64>() / 2.0;
    let mut below = 0.0;
    for (place, (value, weight)) in values.iter().enumerate() {
        below += weight;
        // Rounding does not decide between one value and two.
        if (below - half).abs() < 1e-9 * half {
            let next = values.get(place + 1).map_or(*value, |it| it.0);
            return Some(f64::midpoint(*value, next));
        }
        if below > half {
            return Some(*value);
        }
    }
    None
}

/// The middle value, or the mean of the two in the middle; `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| OrderStatistics::median(&mut Data::new(values.to_vec())))
}

/// Samples that a bootstrap draws.
const RESAMPLES: usize = 2000;

/// The seed of its draws.
const BOOTSTRAP_SEED: u64 = 1;

/// A bootstrap, and Wilcoxon's test and interval, need at least this many values: of five, no outcome of the signed-rank
/// test has a two-sided p below 0.05.
pub(crate) const SAMPLE_MIN: usize = 6;

/// The geometric mean; `None` without values.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    Some(mean(&values.iter().map(|it| it.ln()).collect::<Vec<_>>())?.exp())
}

/// A 95 % interval of the mean of all ratios (of pages), by a studentised bootstrap that draws clusters (sites), because the
/// pages of a site are alike (Davison and Hinkley, Bootstrap Methods and their Application, 1997, sections 3.8 and 5.2.1). On
/// data with a known mean, percentiles of as many draws cover it less often than they say: 82 to 88 times in 100 with ten
/// pages, and 77 times if sites are not drawn as wholes. Seeded: the same values give the same interval.
///
/// The bootstrap computes an interval of the mean's logarithm, so the interval never reaches 0, which a mean of ratios
/// cannot be (section 5.2.2 there). The estimate stays the arithmetic mean. `None` for fewer than six clusters, or if the
/// mean is not positive.
pub fn bootstrap_mean(clusters: &[Vec<f64>]) -> Option<Interval> {
    let clusters: Vec<Vec<Weighted>> = clusters.iter().map(|it| equal(it)).collect();
    bootstrap_weighted_mean(&clusters)
}

/// The same interval of the mean of values that count differently: the weights of a cluster are drawn with its values.
pub fn bootstrap_weighted_mean(clusters: &[Vec<Weighted>]) -> Option<Interval> {
    let sums = ClusterSum::all(clusters)?;
    let mean = Estimate::of(&sums).value;
    let ends = studentised(&sums, |it| Estimate::of(it).logarithm())?;
    Some(ends.map(|it| mean * it.exp()))
}

/// The same interval of the geometric mean of ratios, from their logarithms: of the mean of these.
pub fn bootstrap_geometric_mean(clusters: &[Vec<Weighted>]) -> Option<Interval> {
    let sums = ClusterSum::all(clusters)?;
    let log_mean = Estimate::of(&sums).value;
    let ends = studentised(&sums, |it| Some(Estimate::of(it)))?;
    Some(ends.map(|it| (log_mean + it).exp()))
}

/// The least standard error of a draw, as a share of the sample's. Where all clusters but one are nearly equal, a draw without
/// that one has next to no error of its own, and the interval would reach from 0 to beyond all numbers.
const LEAST_ERROR: f64 = 0.25;

/// How far the ends of a 95 % interval lie from the estimate that `of` makes of all clusters.
fn studentised(
    sums: &[ClusterSum],
    of: impl Fn(&[ClusterSum]) -> Option<Estimate>,
) -> Option<Interval> {
    let own = of(sums)?;
    if own.error <= 0.0 {
        return Some([0.0; 2]);
    }
    let mut random = ChaCha8Rng::seed_from_u64(BOOTSTRAP_SEED);
    let mut drawn = sums.to_vec();
    let mut deviations = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        drawn.fill_with(|| sums[random.random_range(0..sums.len())]);
        if let Some(estimate) = of(&drawn) {
            let error = estimate.error.max(LEAST_ERROR * own.error);
            deviations.push((estimate.value - own.value) / error);
        }
    }
    let mut deviations = Data::new(deviations);
    Some([0.975, 0.025].map(|it| -deviations.quantile(it) * own.error))
}

/// The values of a cluster, as far as a mean needs them.
#[derive(Debug, Clone, Copy)]
struct ClusterSum {
    sum: f64,
    /// The sum of the weights; of equal ones the number of values.
    count: f64,
}

impl ClusterSum {
    fn of(values: &[Weighted]) -> Self {
        let sum = values.iter().map(|it| it.0 * it.1).sum();
        Self { sum, count: values.iter().map(|it| it.1).sum() }
    }

    /// `None` for too few clusters, or if one is empty.
    fn all(clusters: &[Vec<Weighted>]) -> Option<Vec<Self>> {
        let enough = clusters.len() >= SAMPLE_MIN && clusters.iter().all(|it| !it.is_empty());
        enough.then(|| clusters.iter().map(|it| Self::of(it)).collect())
    }
}

/// An estimate, and its standard error.
struct Estimate {
    value: f64,
    error: f64,
}

impl Estimate {
    /// The mean over the values of clusters: a ratio of sums over clusters.
    fn of(clusters: &[ClusterSum]) -> Self {
        let count: f64 = clusters.iter().map(|it| it.count).sum();
        let mean = clusters.iter().map(|it| it.sum).sum::<f64>() / count;
        let squares: f64 = clusters.iter().map(|it| (it.sum - mean * it.count).powi(2)).sum();
        let clusters = clusters.len() as f64;
        Self { value: mean, error: (squares * clusters / (clusters - 1.0)).sqrt() / count }
    }

    /// `None` if the value is not positive.
    fn logarithm(self) -> Option<Self> {
        let Self { value, error } = self;
        (value > 0.0).then(|| Self { value: value.ln(), error: error / value })
    }
}

/// A 95 % interval of any statistic of `count` values, such as pages: percentiles of a bootstrap that draws their places with
/// replacement. Draws without the statistic do not count. Seeded. `None` for fewer than six values, or if most draws do
/// not have the statistic.
pub fn bootstrap(count: usize, statistic: impl Fn(&[usize]) -> Option<f64>) -> Option<Interval> {
    if count < SAMPLE_MIN {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(BOOTSTRAP_SEED);
    let drawn = (0..RESAMPLES).filter_map(|_| {
        let places: Vec<usize> = (0..count).map(|_| random.random_range(0..count)).collect();
        statistic(&places)
    });
    let values: Vec<f64> = drawn.collect();
    if values.len() < RESAMPLES / 2 {
        return None;
    }
    let mut values = Data::new(values);
    Some([values.quantile(0.025), values.quantile(0.975)])
}

/// Hodges and Lehmann's estimate of the middle of a symmetric distribution, the median of the means of all
/// pairs, and its 95 % interval from Wilcoxon's signed-rank distribution, exact up to 50 values (Hollander,
/// Wolfe, Chicken, Nonparametric Statistical Methods, 3rd ed., sections 3.2 and 3.3). Fewer than six
/// values have no interval.
pub fn hodges_lehmann(values: &[f64]) -> Option<(f64, Option<Interval>)> {
    if values.is_empty() {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let pairs = sorted.len() * (sorted.len() + 1) / 2;
    let mean_at = |place: usize| mean_of_pair(&sorted, place);
    let middle = f64::midpoint(mean_at(pairs.div_ceil(2)), mean_at(pairs / 2 + 1));
    let outside = signed_rank_critical(sorted.len());
    let interval = (outside > 0).then(|| [mean_at(outside), mean_at(pairs + 1 - outside)]);
    Some((middle, interval))
}

/// The mean of a pair of values, the `place`th smallest one of all pairs, counted from 1. A pair can be a value with itself.
///
/// There are too many pairs to sort: this bisects between the least and the largest value, by bits, so that the result is
/// exact.
fn mean_of_pair(sorted: &[f64], place: usize) -> f64 {
    let at_most = |mean: f64| {
        let mut others = sorted.len();
        let pairs = sorted.iter().enumerate().map(|(first, value)| {
            while others > first && f64::midpoint(*value, sorted[others - 1]) > mean {
                others -= 1;
            }
            others.saturating_sub(first)
        });
        pairs.sum::<usize>()
    };
    let (mut low, mut high) = (ordered(sorted[0]), ordered(sorted[sorted.len() - 1]));
    while low < high {
        let middle = low + (high - low) / 2;
        if at_most(from_ordered(middle)) >= place {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    from_ordered(low)
}

const SIGN: u64 = 1 << 63;

/// A number's bits as an integer that is larger for a larger number.
fn ordered(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn from_ordered(key: u64) -> f64 {
    f64::from_bits(if key & SIGN == 0 { !key } else { key & !SIGN })
}

/// How many of the pairs' means lie outside of the interval on either side, and one more: the largest `c` such that
/// the signed-rank statistic is less than `c` with a probability of at most 2.5 %; 0: there is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and the number of pairs"
)]
fn signed_rank_critical(count: usize) -> usize {
    let most = count * (count + 1) / 2;
    if count > EXACT_VALUES {
        let (n, most) = (count as f64, most as f64);
        let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        let z = Normal::standard().inverse_cdf(0.975);
        return (most / 2.0 - z * deviation).floor().max(0.0) as usize;
    }
    let ways = ways_to_add_up(1..=count);
    let all = 2.0_f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut below = 0.0;
    ways.iter()
        .take_while(|it| {
            below += **it;
            below / all <= 0.025
        })
        .count()
}

/// In how many of all ways to give signs `ranks` with a plus add up to each sum, from 0 on.
pub(super) fn ways_to_add_up(ranks: impl Iterator<Item = usize> + Clone) -> Vec<f64> {
    let most: usize = ranks.clone().sum();
    let mut ways = vec![0.0_f64; most + 1];
    ways[0] = 1.0;
    for rank in ranks {
        for sum in (rank..=most).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    ways
}

/// Values up to which the signed-rank distribution is computed and not approximated.
pub(super) const EXACT_VALUES: usize = 50;

/// Spearman's rank correlation, ties having their mean rank: 1 for the same order, -1 for the reverse. `None`
/// for fewer than three pairs, or if all values of one side are equal.
pub fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let ranks = |of: fn(&(f64, f64)) -> f64| {
        let values: Vec<f64> = pairs.iter().map(of).collect();
        values.iter().map(|it| mean_rank(*it, &values)).collect::<Vec<f64>>()
    };
    let (first, second) = (ranks(|it| it.0), ranks(|it| it.1));
    let count = pairs.len() as f64;
    let middle = f64::midpoint(1.0, count);
    let products: f64 = first.iter().zip(&second).map(|(a, b)| (a - middle) * (b - middle)).sum();
    let spread = |ranks: Vec<f64>| Data::new(ranks).std_dev();
    let scale = spread(first)? * spread(second)? * (count - 1.0);
    (pairs.len() >= 3 && scale > 0.0).then(|| (products / scale).clamp(-1.0, 1.0))
}

/// The rank of `value` among `values`, from 1; those that are equal share the mean of their ranks.
fn mean_rank(value: f64, values: &[f64]) -> f64 {
    let less = values.iter().filter(|it| **it < value).count() as f64;
    let equal = values.iter().filter(|it| it.total_cmp(&value).is_eq()).count() as f64;
    less + f64::midpoint(equal, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_middle_of_an_even_number_lies_between_two() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!((median(&[]), mean(&[])), (None, None));
    }

    #[test]
    fn a_value_with_twice_the_weight_counts_as_two() {
        let (twice, two) = ([(1.0, 1.0), (4.0, 2.0)], [1.0, 4.0, 4.0]);
        assert_eq!((weighted_mean(&twice), mean(&two)), (Some(3.0), Some(3.0)));
        assert_eq!((weighted_median(&twice), median(&two)), (Some(4.0), Some(4.0)));
        let geometric = weighted_geometric_mean(&twice).zip(geometric_mean(&two));
        assert!(geometric.is_some_and(|(one, other)| (one - other).abs() < 1e-12));
        for even in [[3.0, 1.0, 2.0, 4.0], [1.5, 1.5, 1.5, 9.0]] {
            assert_eq!(weighted_median(&equal(&even)), median(&even));
        }
        let none = [(7.0, 0.0)];
        assert_eq!((weighted_mean(&none), weighted_median(&none)), (None, None));
    }

    #[test]
    fn a_weighted_interval_covers_the_weighted_mean_in_93_to_97_of_100_studies() {
        // A page in two is of a rare kind, which is twice as fast and has a ninth of the other's weight.
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let standard = Normal::standard();
        let truth = (0.9 + 0.1 * 2.0) * f64::midpoint(0.3 * 0.3, 0.0).exp();
        let studies = (0..1000).filter(|_| {
            let sites: Vec<Vec<Weighted>> = (0..40)
                .map(|_| {
                    let noise = 0.3 * standard.inverse_cdf(random.random_range(1e-9..1.0));
                    let (kind, weight) =
                        if random.random_range(0.0..1.0) < 0.5 { (1.0, 0.9) } else { (2.0, 0.1) };
                    vec![(kind * noise.exp(), weight)]
                })
                .collect();
            let [low, high] = bootstrap_weighted_mean(&sites).expect("enough sites");
            (low..=high).contains(&truth)
        });
        let covered = studies.count();
        assert!((930..=970).contains(&covered), "{covered} of 1000");
    }

    #[test]
    fn a_bootstrap_of_any_statistic_is_seeded_and_needs_six_values() {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        let middle = |count: usize| {
            bootstrap(count, |places| {
                median(&places.iter().map(|it| values[*it]).collect::<Vec<_>>())
            })
        };
        let [low, high] = middle(20).expect("an interval");
        assert!((3.0..9.0).contains(&low) && (10.0..16.0).contains(&high), "{low} to {high}");
        assert_eq!((middle(20), middle(5)), (Some([low, high]), None));
        assert_eq!(bootstrap(20, |_| None), None);
    }

    #[test]
    fn signed_ranks_have_the_critical_values_of_the_tables() {
        // Two-sided 5 %: the tables' largest statistic that rejects, and one more.
        for (count, critical) in
            [(5, 0), (6, 1), (7, 3), (8, 4), (9, 6), (10, 9), (20, 53), (30, 138)]
        {
            assert_eq!(signed_rank_critical(count), critical, "{count}");
        }
        // Beyond the tables the normal distribution takes over without a jump.
        let (exact, approximate) = (signed_rank_critical(50), signed_rank_critical(51));
        assert!((430..480).contains(&exact) && (440..500).contains(&approximate));
    }

    proptest! {
        #[test]
        fn the_mean_of_a_pair_is_found_without_sorting_all_pairs(
            mut values in prop::collection::vec(-3.0_f64..3.0, 1..30)
        ) {
            values.sort_by(f64::total_cmp);
            let pairs = (0..values.len()).flat_map(|it| (it..values.len()).map(move |other| (it, other)));
            let mut means: Vec<f64> = pairs.map(|it| f64::midpoint(values[it.0], values[it.1])).collect();
            means.sort_by(f64::total_cmp);
            let found: Vec<f64> = (1..=means.len()).map(|it| mean_of_pair(&values, it)).collect();
            prop_assert_eq!(found, means);
        }
    }

    #[test]
    fn as_many_loads_as_a_study_can_have_need_no_memory_for_their_pairs() {
        let values: Vec<f64> = (0..100_000).map(f64::from).collect();
        assert_eq!(hodges_lehmann(&values).map(|it| it.0), Some(49_999.5));
    }

    #[test]
    fn the_median_of_pairs_and_its_interval_are_those_of_a_small_sample() {
        let (middle, interval) = hodges_lehmann(&[1.0, 2.0, 3.0, 4.0, 5.0, 60.0]).expect("values");
        assert_eq!((middle, interval), (3.5, Some([1.0, 60.0])));
        assert_eq!(hodges_lehmann(&[1.0; 5]), Some((1.0, None)));
        assert_eq!(hodges_lehmann(&[]), None);
    }

    /// In 300 studies with planted speedups of this many sites, how many intervals cover the truth: logarithms are normal,
    /// sites differ by 0.4 and the pages of a site by 0.2.
    fn covered(sites: usize, pages_of: impl Fn(&mut ChaCha8Rng) -> usize) -> usize {
        let truth = f64::midpoint(0.4 * 0.4, 0.2 * 0.2).exp();
        let of = |sample: &[Vec<f64>]| bootstrap_mean(sample);
        covered_by(of, truth, sites, pages_of)
    }

    fn covered_by(
        interval: impl Fn(&[Vec<f64>]) -> Option<Interval>,
        truth: f64,
        sites: usize,
        pages_of: impl Fn(&mut ChaCha8Rng) -> usize,
    ) -> usize {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let standard = Normal::standard();
        let normal = move |random: &mut ChaCha8Rng, deviation: f64| {
            deviation * standard.inverse_cdf(random.random_range(1e-9..1.0))
        };
        let studies = (0..300).filter(|_| {
            let sample: Vec<Vec<f64>> = (0..sites)
                .map(|_| {
                    let site = normal(&mut random, 0.4);
                    let pages = pages_of(&mut random);
                    (0..pages).map(|_| (site + normal(&mut random, 0.2)).exp()).collect()
                })
                .collect();
            let [low, high] = interval(&sample).expect("enough sites");
            (low..=high).contains(&truth)
        });
        studies.count()
    }

    #[test]
    fn an_interval_of_the_mean_covers_it_in_93_to_97_of_100_studies() {
        let expected = 300 * 93 / 100..=300 * 97 / 100;
        for sites in [10, 20, 40] {
            let covered = covered(sites, |_| 1);
            assert!(expected.contains(&covered), "{sites} pages of as many sites: {covered}");
        }
        for sites in [20, 40] {
            let covered = covered(sites, |random| random.random_range(1..=4));
            assert!(expected.contains(&covered), "{sites} sites of one to four pages: {covered}");
        }
        // Ten sites that differ in their weight, too, are few.
        assert_eq!(covered(10, |random| random.random_range(1..=4)), 277);
    }

    #[test]
    fn an_interval_of_the_geometric_mean_covers_it_in_93_to_97_of_100_studies() {
        let interval = |sample: &[Vec<f64>]| {
            let logarithms = sample.iter().map(|it| it.iter().map(|it| (it.ln(), 1.0)).collect());
            bootstrap_geometric_mean(&logarithms.collect::<Vec<_>>())
        };
        for sites in [10, 20, 40] {
            let covered = covered_by(interval, 1.0, sites, |random| random.random_range(1..=4));
            assert!((279..=291).contains(&covered), "{sites} sites: {covered}");
        }
    }

    #[test]
    fn an_interval_of_a_geometric_mean_is_that_of_the_inverse_ratios_inverted() {
        let logarithms = [0.1, 0.7, -0.2, 0.0, 0.4, 0.3];
        let of = |sign: f64| bootstrap_geometric_mean(&logarithms.map(|it| vec![(sign * it, 1.0)]));
        let ([low, high], [low_inverse, high_inverse]) = of(1.0).zip(of(-1.0)).expect("six");
        assert!((low * high_inverse - 1.0).abs() < 1e-12, "{low} and {high_inverse}");
        assert!((high * low_inverse - 1.0).abs() < 1e-12, "{high} and {low_inverse}");
        assert_eq!(bootstrap_geometric_mean(&[0.1; 5].map(|it| vec![(it, 1.0)])), None);
        assert_eq!(bootstrap_geometric_mean(&[0.0; 6].map(|it| vec![(it, 1.0)])), Some([1.0, 1.0]));
    }

    #[test]
    fn an_interval_of_a_mean_of_ratios_lies_above_0_however_few_and_different_they_are() {
        let sites: Vec<Vec<f64>> = [0.01, 0.2, 0.3, 0.4, 0.5, 30.0].map(|it| vec![it]).into();
        let [low, high] = bootstrap_mean(&sites).expect("six");
        assert!(0.0 < low && low < 5.235 && 5.235 < high, "{low} to {high}");
        assert_eq!(bootstrap_mean(&vec![vec![0.0]; 6]), None);
    }

    #[test]
    fn an_interval_of_values_that_are_nearly_equal_but_for_one_stays_near_them() {
        let loads = [1.3726, 1.3725, 1.3727, 1.3726, 1.3726, 1.3724, 1.3726, 1.3728, 1.061];
        let [low, high] = bootstrap_mean(&loads.map(|it| vec![it])).expect("nine");
        assert!((1.15..1.3).contains(&low) && (1.36..1.45).contains(&high), "{low} to {high}");
        let certain = bootstrap_mean(&[1.3; 9].map(|it| vec![it])).expect("nine");
        assert!(certain.iter().all(|it| (it - 1.3).abs() < 1e-12), "{certain:?}");
    }

    #[test]
    fn a_bootstrap_is_the_same_from_run_to_run_and_needs_six_sites() {
        let sites = |count: u32| (0..count).map(|it| vec![f64::from(it), 4.0]).collect::<Vec<_>>();
        assert_eq!(bootstrap_mean(&sites(6)), bootstrap_mean(&sites(6)));
        assert!(bootstrap_mean(&sites(6)).is_some());
        assert_eq!(bootstrap_mean(&sites(5)), None);
        assert_eq!(bootstrap_mean(&vec![vec![2.0]; 6]), Some([2.0, 2.0]));
        let [low, high] =
            bootstrap_mean(&[1.0, 1.0, 1.0, 3.0, 3.0, 3.0].map(|it| vec![it])).expect("six");
        assert!((0.5..1.5).contains(&low) && (2.5..3.5).contains(&high), "{low} {high}");
    }

    #[test]
    fn a_geometric_mean_of_a_ratio_and_its_inverse_is_one() {
        assert!((geometric_mean(&[4.0, 0.25]).expect("two") - 1.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn ranks_that_agree_correlate_and_ties_share_their_rank() {
        let near = |a: Option<f64>, b: f64| (a.expect("a correlation") - b).abs() < 1e-12;
        assert!(near(spearman(&[(1.0, 10.0), (2.0, 20.0), (9.0, 21.0)]), 1.0));
        assert!(near(spearman(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), -1.0));
        // Ranks 1, 2.5, 2.5, 4 and 1 to 4: 4.5 / sqrt(4.5 * 5).
        let tied = [(1.0, 1.0), (2.0, 2.0), (2.0, 3.0), (3.0, 4.0)];
        assert!(near(spearman(&tied), 4.5 / (4.5_f64 * 5.0).sqrt()));
        assert_eq!(spearman(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(spearman(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }
}
