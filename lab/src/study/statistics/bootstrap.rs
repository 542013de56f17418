//! Intervals by resampling the measured values.

use crate::study::statistics::{Interval, SAMPLE_MIN, Weighted, equal};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::statistics::{Data, OrderStatistics};
use std::ops::AddAssign;
use std::sync::OnceLock;

/// The number of resamples in a bootstrap, and their seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Draws {
    count: usize,
    seed: u64,
}

/// Enough resamples that another seed hardly moves an end; docs/studies-statistics.md states by how much.
const DRAWS: Draws = Draws { count: 20_000, seed: 1 };

/// By the number of clusters: the clusters that [`DRAWS`] draws. All bootstraps of a study of that many sites draw the same ones, so
/// they are drawn once: 20 kB for each cluster. Larger samples draw their own.
static DRAWN: [OnceLock<Vec<u8>>; DRAWN_MAX + 1] = [const { OnceLock::new() }; DRAWN_MAX + 1];
const DRAWN_MAX: usize = 100;

/// A 95 % interval of the mean of all ratios (of pages), by a studentised bootstrap over clusters (sites), because the pages of a
/// site are similar (Davison and Hinkley, Bootstrap Methods and their Application, 1997, sections 3.8 and 5.2.1). On data with a
/// known mean, plain percentile intervals cover it less often than nominal: 82 to 88 times in 100 with ten pages, and 77 times if
/// sites are not resampled as wholes. Seeded: the same values give the same interval.
///
/// The bootstrap computes an interval of the mean's logarithm, so the interval never reaches 0, which a mean of ratios
/// cannot be (section 5.2.2 there). The estimate stays the arithmetic mean. `None` for fewer than six clusters, or if the
/// mean is not positive.
pub fn bootstrap_mean(clusters: &[Vec<f64>]) -> Option<Interval> {
    let clusters: Vec<Vec<Weighted>> = clusters.iter().map(|it| equal(it)).collect();
    bootstrap_weighted_mean(&clusters)
}

/// The same interval for a weighted mean; the weights of a cluster are resampled with its values.
pub fn bootstrap_weighted_mean(clusters: &[Vec<Weighted>]) -> Option<Interval> {
    weighted_mean_of(clusters, DRAWS)
}

/// The same interval for the geometric mean of ratios, from the mean of their logarithms.
pub fn bootstrap_geometric_mean(clusters: &[Vec<Weighted>]) -> Option<Interval> {
    geometric_mean_of(clusters, DRAWS)
}

/// A 95 % interval for any statistic of `count` values, such as pages: percentiles of a bootstrap that resamples their indices.
/// Resamples without a defined statistic do not count. Seeded. `None` for fewer than six values, or if the statistic is undefined
/// in most resamples.
pub fn bootstrap(count: usize, statistic: impl Fn(&[usize]) -> Option<f64>) -> Option<Interval> {
    bootstrap_several([count], |[places]| statistic(places))
}

/// The same for a statistic of two or more samples, each resampled separately.
pub fn bootstrap_several<const N: usize>(
    counts: [usize; N],
    statistic: impl Fn([&[usize]; N]) -> Option<f64>,
) -> Option<Interval> {
    if counts.iter().any(|count| *count < SAMPLE_MIN) {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(DRAWS.seed);
    let mut places = counts.map(|it| vec![0; it]);
    let drawn = (0..DRAWS.count).filter_map(|_| {
        for sample in &mut places {
            let count = sample.len();
            sample.fill_with(|| place(&mut random, count));
        }
        statistic(std::array::from_fn(|it| &*places[it]))
    });
    let values: Vec<f64> = drawn.collect();
    if values.len() < DRAWS.count / 2 {
        return None;
    }
    let mut values = Data::new(values);
    Some([values.quantile(0.025), values.quantile(0.975)])
}

/// An index below `count` (at most 2^32), uniform to within `count` / 2^32.
fn place(random: &mut ChaCha8Rng, count: usize) -> usize {
    ((u64::from(random.next_u32()) * count as u64) >> 32) as usize
}

fn weighted_mean_of(clusters: &[Vec<Weighted>], draws: Draws) -> Option<Interval> {
    let sample = Sample::of(clusters)?;
    let ends = sample.studentised(draws, Estimate::logarithm)?;
    Some(ends.map(|it| sample.mean * it.exp()))
}

fn geometric_mean_of(clusters: &[Vec<Weighted>], draws: Draws) -> Option<Interval> {
    let sample = Sample::of(clusters)?;
    let ends = sample.studentised(draws, Some)?;
    Some(ends.map(|it| (sample.mean + it).exp()))
}

/// The minimum standard error of a resample, as a share of the sample's. If all clusters but one are nearly equal, a resample
/// without that one has almost no error, and the interval would be unbounded.
const LEAST_ERROR: f64 = 0.25;

/// Clusters to draw from.
struct Sample {
    /// The mean over all values.
    mean: f64,
    clusters: Vec<Moments>,
}

impl Sample {
    /// `None` for too few clusters, or if one is empty.
    fn of(clusters: &[Vec<Weighted>]) -> Option<Self> {
        if clusters.len() < SAMPLE_MIN || clusters.iter().any(Vec::is_empty) {
            return None;
        }
        let all = clusters.iter().flatten();
        let weight: f64 = all.clone().map(|it| it.1).sum();
        let mean = all.map(|it| it.0 * it.1).sum::<f64>() / weight;
        Some(Self { mean, clusters: clusters.iter().map(|it| Moments::of(it, mean)).collect() })
    }

    /// The distances of a 95 % interval's ends from the estimate, which `scaled` converts to the scale of the interval.
    ///
    /// The spread of resamples of n clusters is too small by a factor of sqrt((n - 1) / n), which makes intervals from few
    /// clusters too narrow (Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician 69, 2015). Most
    /// of this cancels in a studentised deviation, but not all: in planted studies its intervals cover the mean 93.4 times in 100
    /// with ten sites, and 92.4 times with six. So the ends are moved outward by the inverse of this factor, which closes the gap
    /// there.
    fn studentised(
        &self,
        draws: Draws,
        scaled: impl Fn(Estimate) -> Option<Estimate>,
    ) -> Option<Interval> {
        let count = self.clusters.len();
        let own = scaled(self.estimate(0..count))?;
        if own.error <= 0.0 {
            return Some([0.0; 2]);
        }
        let deviation = |drawn: Estimate| {
            let drawn = scaled(drawn)?;
            Some((drawn.value - own.value) / drawn.error.max(LEAST_ERROR * own.error))
        };
        let mut deviations = Vec::with_capacity(draws.count);
        if let Some(drawn) = DRAWN.get(count).filter(|_| draws == DRAWS) {
            let drawn = drawn.get_or_init(|| {
                places(draws, count).filter_map(|it| u8::try_from(it).ok()).collect()
            });
            let resamples = drawn.chunks_exact(count);
            let resamples = resamples.map(|it| it.iter().map(|it| usize::from(*it)));
            deviations.extend(resamples.filter_map(|it| deviation(self.estimate(it))));
        } else {
            let mut places = places(draws, count);
            let resamples = (0..draws.count).map(|_| self.estimate(places.by_ref().take(count)));
            deviations.extend(resamples.filter_map(deviation));
        }
        let mut deviations = Data::new(deviations);
        let unit = own.error * (count as f64 / (count as f64 - 1.0)).sqrt();
        Some([0.975, 0.025].map(|it| -deviations.quantile(it) * unit))
    }

    /// The estimate of the clusters at these places.
    fn estimate(&self, places: impl Iterator<Item = usize>) -> Estimate {
        let mut totals = Moments::default();
        places.for_each(|it| totals += self.clusters[it]);
        Estimate::of(self.mean, totals, self.clusters.len())
    }
}

/// The indices below `count` that a bootstrap draws, one resample of `count` after another.
fn places(draws: Draws, count: usize) -> impl Iterator<Item = usize> {
    let mut random = ChaCha8Rng::seed_from_u64(draws.seed);
    std::iter::repeat_with(move || place(&mut random, count)).take(draws.count * count)
}

/// One or more clusters, reduced to the sums that a mean and its standard error need.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    /// The weighted sum of the values' distances from the mean of the sample.
    sum: f64,
    /// The sum of the weights; for equal weights, the number of values.
    weight: f64,
    sum_squared: f64,
    sum_by_weight: f64,
    weight_squared: f64,
}

impl Moments {
    fn of(values: &[Weighted], mean: f64) -> Self {
        let sum: f64 = values.iter().map(|it| (it.0 - mean) * it.1).sum();
        let weight: f64 = values.iter().map(|it| it.1).sum();
        Self {
            sum,
            weight,
            sum_squared: sum * sum,
            sum_by_weight: sum * weight,
            weight_squared: weight * weight,
        }
    }
}

impl AddAssign for Moments {
    fn add_assign(&mut self, other: Self) {
        self.sum += other.sum;
        self.weight += other.weight;
        self.sum_squared += other.sum_squared;
        self.sum_by_weight += other.sum_by_weight;
        self.weight_squared += other.weight_squared;
    }
}

struct Estimate {
    value: f64,
    error: f64,
}

impl Estimate {
    /// The mean over the values of clusters: a ratio of sums over clusters. `mean` is the whole sample's.
    fn of(mean: f64, totals: Moments, clusters: usize) -> Self {
        let distance = totals.sum / totals.weight;
        let squares = totals.sum_squared - 2.0 * distance * totals.sum_by_weight
            + distance * distance * totals.weight_squared;
        let clusters = clusters as f64;
        let error = (squares.max(0.0) * clusters / (clusters - 1.0)).sqrt() / totals.weight;
        Self { value: mean + distance, error }
    }

    /// `None` if the value is not positive.
    fn logarithm(self) -> Option<Self> {
        let Self { value, error } = self;
        (value > 0.0).then(|| Self { value: value.ln(), error: error / value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contender;
    use crate::network::Network;
    use crate::study::compute::comparisons::log_ratios;
    use crate::study::compute::summary::Paired;
    use crate::study::statistics::median;
    use crate::study::{Pages, Plan, RunRecord, Unit, engines, run};
    use qlog_tools::metrics::{Set, byte_index};
    use rand::RngExt;
    use statrs::distribution::{ContinuousCDF, Normal};
    use std::sync::Arc;

    /// Fewer resamples than in a study, for thousands of studies.
    const FEW: Draws = Draws { count: 2000, seed: 1 };

    #[test]
    fn a_weighted_interval_covers_the_weighted_mean_in_93_to_97_of_100_studies() {
        // Every second page is of a rare kind, which is twice as fast and has a ninth of the other's weight.
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
            let [low, high] = weighted_mean_of(&sites, FEW).expect("enough sites");
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

    /// A planted study of this number of sites. Logarithms are normal: sites differ by `spread`, and the pages of a site by half
    /// of it.
    fn planted(
        random: &mut ChaCha8Rng,
        sites: usize,
        pages_max: usize,
        spread: f64,
    ) -> Vec<Vec<f64>> {
        let standard = Normal::standard();
        let normal = move |random: &mut ChaCha8Rng, deviation: f64| {
            deviation * standard.inverse_cdf(random.random_range(1e-9..1.0))
        };
        let site = |_| {
            let site = normal(random, spread);
            let pages = random.random_range(1..=pages_max);
            (0..pages).map(|_| site + normal(random, spread / 2.0)).collect()
        };
        (0..sites).map(site).collect()
    }

    /// In how many of 100 planted studies an interval, computed from the logarithms, covers `truth`.
    fn covered(
        sites: usize,
        pages_max: usize,
        (spread, truth): (f64, f64),
        interval: impl Fn(&[Vec<f64>]) -> Option<Interval>,
    ) -> f64 {
        const STUDIES: u32 = 2000;
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let covers = |_: &u32| {
            let sample = planted(&mut random, sites, pages_max, spread);
            let [low, high] = interval(&sample).expect("enough sites");
            (low..=high).contains(&truth)
        };
        let count = (0..STUDIES).filter(covers).count();
        100.0 * count as f64 / f64::from(STUDIES)
    }

    /// The standard deviation of the sites' logarithms.
    const SPREAD: f64 = 0.4;

    /// The mean of studies that are planted with this spread.
    fn mean_at(spread: f64) -> f64 {
        f64::midpoint(spread.powi(2), (spread / 2.0).powi(2)).exp()
    }

    fn changed(sample: &[Vec<f64>], of: fn(f64) -> f64) -> Vec<Vec<Weighted>> {
        sample.iter().map(|it| it.iter().map(|it| (of(*it), 1.0)).collect()).collect()
    }

    #[test]
    fn an_interval_of_the_mean_covers_it_in_93_to_97_of_100_studies() {
        for pages_max in [1, 4] {
            for sites in [6, 10, 20, 40] {
                let of = |sample: &[Vec<f64>]| weighted_mean_of(&changed(sample, f64::exp), FEW);
                let covered = covered(sites, pages_max, (SPREAD, mean_at(SPREAD)), of);
                println!("mean, {sites} sites of 1 to {pages_max} pages: {covered:.1} of 100");
                assert!((93.0..=97.0).contains(&covered), "{sites}, {pages_max}: {covered}");
            }
        }
    }

    #[test]
    fn an_interval_of_the_geometric_mean_covers_it_in_93_to_97_of_100_studies() {
        for sites in [6, 10, 20, 40] {
            let of = |sample: &[Vec<f64>]| geometric_mean_of(&changed(sample, |it| it), FEW);
            let covered = covered(sites, 4, (SPREAD, 1.0), of);
            println!("geometric mean, {sites} sites of 1 to 4 pages: {covered:.1} of 100");
            assert!((93.0..=97.0).contains(&covered), "{sites}: {covered}");
        }
    }

    #[test]
    fn heavier_tails_need_more_sites_for_the_mean_and_not_for_the_geometric_mean() {
        const HEAVY: f64 = 2.0 * SPREAD;
        let mean = |sample: &[Vec<f64>]| weighted_mean_of(&changed(sample, f64::exp), FEW);
        let geometric = |sample: &[Vec<f64>]| geometric_mean_of(&changed(sample, |it| it), FEW);
        let of_mean = [6, 10, 20, 40].map(|it| covered(it, 1, (HEAVY, mean_at(HEAVY)), mean));
        let of_geometric = [6, 10, 20, 40].map(|it| covered(it, 1, (HEAVY, 1.0), geometric));
        println!("heavier tails: mean {of_mean:.1?}, geometric mean {of_geometric:.1?} of 100");
        assert!(of_mean[0] < of_mean[3] && of_mean[3] >= 93.0, "{of_mean:?}");
        assert!(of_geometric.iter().all(|it| (93.0..=97.0).contains(it)), "{of_geometric:?}");
    }

    /// The logarithms of the gains of `s+` over `fifo` on the kept pages, by site: the upper end of their interval is close to 1.
    fn gains_near_one() -> Vec<Vec<Weighted>> {
        let pages = corpus::kept_pages().into_iter().map(|it| Arc::new(it.clone())).collect();
        let schemes = ["fifo", "s+"].map(|it| Contender::find(it).expect("known")).to_vec();
        let network = Network::find("paper").expect("built in");
        let plan = Plan::new(pages, schemes, engines::IDEAL, network);
        let study = run(&plan, serde_json::Value::Null, &|| ()).expect("a study");
        let of = Pages::new(|page| plan.site_of(page), |_: &str| 1.0);
        let runs: Vec<&RunRecord> = study.runs.iter().filter(|it| it.scheme == "s+").collect();
        let speedups = Paired::of(&study.runs, "fifo", byte_index()).speedups_by_page(&runs, &of);
        log_ratios(&speedups, Set::Atf, Unit::Sites, true, &of)
    }

    #[test]
    fn a_seed_does_not_decide_whether_an_interval_contains_1() {
        let gains = gains_near_one();
        let between = |count| {
            let ends = (1..=20).map(|seed| geometric_mean_of(&gains, Draws { count, seed }));
            let ends: Vec<f64> = ends.map(|it| it.expect("enough")[1]).collect();
            [f64::min, f64::max].map(|of| ends.iter().copied().reduce(of).expect("twenty"))
        };
        let [few, many] = [FEW.count, DRAWS.count].map(between);
        println!(
            "upper ends of s+ over fifo: {few:.3?}, and {many:.3?} with as many draws as here"
        );
        assert!(few[0] < 1.0 && 1.0 < few[1], "{few:?}");
        assert!(1.0 < many[0] && many[1] - many[0] < 0.015, "{many:?}");
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
}
