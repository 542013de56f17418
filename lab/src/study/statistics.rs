//! Statistics of many loads: means, intervals, rank correlation.

pub mod bootstrap;
pub mod signed_ranks;

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::statistics::{Data, Distribution, OrderStatistics};

/// From the lower to the upper end of a 95 % confidence interval.
pub type Interval = [f64; 2];

/// The arithmetic mean; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// A value, and its weight.
pub type Weighted = (f64, f64);

/// Values that each count the same.
pub fn equal(values: &[f64]) -> Vec<Weighted> {
    values.iter().map(|it| (*it, 1.0)).collect()
}

/// The arithmetic mean of weighted values; `None` if none has weight.
pub fn weighted_mean(values: &[Weighted]) -> Option<f64> {
    let weight: f64 = values.iter().map(|it| it.1).sum();
    (weight > 0.0).then(|| values.iter().map(|it| it.0 * it.1).sum::<f64>() / weight)
}

/// The value below and above which at most half of the weight lies, or the mean of two such values; `None` if none has
/// weight.
pub fn weighted_median(values: &[Weighted]) -> Option<f64> {
    let mut values: Vec<Weighted> = values.iter().filter(|it| it.1 > 0.0).copied().collect();
    values.sort_by(|one, other| one.0.total_cmp(&other.0));
    let half = values.iter().map(|it| it.1).sum::<f64>() / 2.0;
    let mut below = 0.0;
    for (place, (value, weight)) in values.iter().enumerate() {
        below += weight;
        // Tolerates rounding in the choice between one value and two.
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

/// The minimum number of values for a bootstrap, and for Wilcoxon's test and interval: with five, no outcome of the
/// signed-rank test has a two-sided p below 0.05.
pub(crate) const SAMPLE_MIN: usize = 6;

/// The geometric mean; `None` without values. That of a single value is the value, to the bit.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if let [only] = values {
        return Some(*only);
    }
    Some(mean(&values.iter().map(|it| it.ln()).collect::<Vec<_>>())?.exp())
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
    let [low, high] = [pairs.div_ceil(2), pairs / 2 + 1].map(|it| mean_of_pair(&sorted, it));
    let outside = signed_rank_critical(sorted.len());
    let ends = (outside > 0).then_some([outside, pairs + 1 - outside]);
    let interval = ends.map(|ends| ends.map(|it| mean_of_pair(&sorted, it)));
    Some((f64::midpoint(low, high), interval))
}

/// The mean of the pair with the `place`th smallest mean among all pairs, counted from 1. A value also forms a pair with
/// itself.
///
/// There are too many pairs to sort, so this bisects between the smallest and the largest value, by bits, which makes the
/// result exact.
fn mean_of_pair(sorted: &[f64], place: usize) -> f64 {
    let (mut low, mut high) = (ordered(sorted[0]), ordered(sorted[sorted.len() - 1]));
    while low < high {
        let middle = low + (high - low) / 2;
        if pairs_up_to(sorted, from_ordered(middle)) >= place {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    from_ordered(low)
}

/// How many pairs have at most this mean.
fn pairs_up_to(sorted: &[f64], mean: f64) -> usize {
    let mut pairs = 0;
    // The larger the first value of a pair, the fewer others are small enough.
    let mut others = sorted.len();
    for (first, value) in sorted.iter().enumerate() {
        while others > first && f64::midpoint(*value, sorted[others - 1]) > mean {
            others -= 1;
        }
        pairs += others.saturating_sub(first);
    }
    pairs
}

const SIGN: u64 = 1 << 63;

/// The bits of a number as an integer with the same order.
fn ordered(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn from_ordered(key: u64) -> f64 {
    f64::from_bits(if key & SIGN == 0 { !key } else { key & !SIGN })
}

/// One more than the number of pair means outside the interval on either side: the largest `c` such that the signed-rank
/// statistic is less than `c` with a probability of at most 2.5 %; 0 if there is none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the pairs")]
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
    let outside = ways.iter().take_while(|ways| {
        below += **ways;
        below / all <= 0.025
    });
    outside.count()
}

/// The number of sign assignments for which `ranks` with a plus add up to each sum, from 0 on.
pub(crate) fn ways_to_add_up(ranks: impl Iterator<Item = usize> + Clone) -> Vec<f64> {
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

/// The most values for which the signed-rank distribution is computed exactly.
pub(crate) const EXACT_VALUES: usize = 50;

/// Spearman's rank correlation, with mean ranks for ties: 1 for the same order, -1 for the reverse. `None` for fewer than
/// three pairs, or if all values of one side are equal.
pub fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let (first, second): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let [first, second] = [first, second].map(|values| {
        let ranks = values.iter().map(|it| mean_rank(*it, &values));
        ranks.collect::<Vec<f64>>()
    });
    let count = pairs.len() as f64;
    let middle = f64::midpoint(1.0, count);
    let products: f64 = first.iter().zip(&second).map(|(a, b)| (a - middle) * (b - middle)).sum();
    let scale = Data::new(first).std_dev()? * Data::new(second).std_dev()? * (count - 1.0);
    (pairs.len() >= 3 && scale > 0.0).then(|| (products / scale).clamp(-1.0, 1.0))
}

/// The rank of `value` among `values`, from 1; equal values share the mean of their ranks.
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
        for even in [[3.0, 1.0, 2.0, 4.0], [1.5, 1.5, 1.5, 9.0]] {
            assert_eq!(weighted_median(&equal(&even)), median(&even));
        }
        let none = [(7.0, 0.0)];
        assert_eq!((weighted_mean(&none), weighted_median(&none)), (None, None));
    }

    #[test]
    fn signed_ranks_have_the_critical_values_of_the_tables() {
        // Two-sided 5 %: the tables' largest rejecting statistic, plus one.
        for (count, critical) in
            [(5, 0), (6, 1), (7, 3), (8, 4), (9, 6), (10, 9), (20, 53), (30, 138)]
        {
            assert_eq!(signed_rank_critical(count), critical, "{count}");
        }
        // Beyond the tables, the normal distribution continues without a jump.
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
