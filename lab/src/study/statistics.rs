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

/// The middle value, or the mean of the two in the middle; `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| OrderStatistics::median(&mut Data::new(values.to_vec())))
}

/// Samples that a bootstrap draws.
const RESAMPLES: usize = 2000;

/// The seed of its draws.
const BOOTSTRAP_SEED: u64 = 1;

/// A bootstrap, and Wilcoxon's interval, need at least this many values.
const BOOTSTRAP_MIN: usize = 6;

/// A 95 % interval of the mean of the groups' means: percentiles of a bootstrap in two stages, which draws groups
/// (pages) and, within each, values (loads), both with replacement (Davison and Hinkley, Bootstrap Methods
/// and their Application, 1997, section 3.8). Seeded: the same values give the same interval. `None` for fewer
/// than six pages, or fewer than six loads of a single page: an interval from so few values is too narrow.
pub fn bootstrap_mean(groups: &[Vec<f64>]) -> Option<Interval> {
    let drawn = match groups {
        [only] => only.len(),
        several => several.len(),
    };
    if drawn < BOOTSTRAP_MIN || groups.iter().any(Vec::is_empty) {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(BOOTSTRAP_SEED);
    let mut group_mean = |group: &[f64]| {
        if let [only] = group {
            return *only;
        }
        let sum: f64 = (0..group.len()).map(|_| group[random.random_range(0..group.len())]).sum();
        sum / group.len() as f64
    };
    let mut places = ChaCha8Rng::seed_from_u64(BOOTSTRAP_SEED + 1);
    let means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn = (0..groups.len()).map(|_| places.random_range(0..groups.len()));
            drawn.map(|it| group_mean(&groups[it])).sum::<f64>() / groups.len() as f64
        })
        .collect();
    let mut means = Data::new(means);
    Some([means.quantile(0.025), means.quantile(0.975)])
}

/// A 95 % interval of any statistic of `count` values, such as pages: percentiles of a bootstrap that draws their places with
/// replacement. Draws without the statistic do not count. Seeded. `None` for fewer than six values, or if most draws do
/// not have the statistic.
pub fn bootstrap(count: usize, statistic: impl Fn(&[usize]) -> Option<f64>) -> Option<Interval> {
    if count < BOOTSTRAP_MIN {
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
    let mut pairs = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (place, first) in values.iter().enumerate() {
        pairs.extend(values[place..].iter().map(|second| f64::midpoint(*first, *second)));
    }
    pairs.sort_by(f64::total_cmp);
    let middle = median(&pairs)?;
    let outside = signed_rank_critical(values.len());
    let interval = (outside > 0).then(|| [pairs[outside - 1], pairs[pairs.len() - outside]]);
    Some((middle, interval))
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
    // In how many of all ways to give signs the ranks with a plus add up to each sum.
    let mut ways = vec![0.0_f64; most + 1];
    ways[0] = 1.0;
    for rank in 1..=count {
        for sum in (rank..=most).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let all = 2.0_f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut below = 0.0;
    ways.iter()
        .take_while(|it| {
            below += **it;
            below / all <= 0.025
        })
        .count()
}

/// Values up to which the signed-rank distribution is computed and not approximated.
const EXACT_VALUES: usize = 50;

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

    #[test]
    fn the_middle_of_an_even_number_lies_between_two() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!((median(&[]), mean(&[])), (None, None));
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

    #[test]
    fn the_median_of_pairs_and_its_interval_are_those_of_a_small_sample() {
        let (middle, interval) = hodges_lehmann(&[1.0, 2.0, 3.0, 4.0, 5.0, 60.0]).expect("values");
        assert_eq!((middle, interval), (3.5, Some([1.0, 60.0])));
        assert_eq!(hodges_lehmann(&[1.0; 5]), Some((1.0, None)));
        assert_eq!(hodges_lehmann(&[]), None);
    }

    #[test]
    fn an_interval_of_the_mean_covers_it_19_times_in_20() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let covered = (0..300)
            .filter(|_| {
                let sample: Vec<Vec<f64>> =
                    (0..40).map(|_| vec![random.random_range(0.0..2.0)]).collect();
                let [low, high] = bootstrap_mean(&sample).expect("40 values");
                (low..=high).contains(&1.0)
            })
            .count();
        assert!((270..=299).contains(&covered), "{covered} of 300");
    }

    #[test]
    fn a_bootstrap_is_the_same_from_run_to_run_and_needs_six_pages_or_six_loads_of_one() {
        let pages = |count: u32| (0..count).map(|it| vec![f64::from(it), 4.0]).collect::<Vec<_>>();
        assert_eq!(bootstrap_mean(&pages(6)), bootstrap_mean(&pages(6)));
        assert!(bootstrap_mean(&pages(6)).is_some());
        assert_eq!(bootstrap_mean(&pages(5)), None);
        assert_eq!(bootstrap_mean(&[vec![1.0; 5]]), None);
        assert_eq!(bootstrap_mean(&[vec![2.0; 6]]), Some([2.0, 2.0]));
        let loads = vec![1.0, 1.0, 1.0, 3.0, 3.0, 3.0];
        let [low, high] = bootstrap_mean(&[loads]).expect("one page, six loads");
        assert!((1.0..2.0).contains(&low) && (2.0..=3.0).contains(&high), "{low} {high}");
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
