//! Statistics of a page's visits, for each order.
//!
//! The numbers are natural logarithms, so a difference is a ratio. Visits are compared only within a *stratum*: a period in
//! which each order had the same share of the visitors. Otherwise, an order that became the favourite at night would be compared
//! with the visitors of the day.
//!
//! A server checks after each visit, so an interval for a single check would find differences that do not exist. These intervals
//! hold for all checks together: the mixture boundary of Robbins (1970), with the variance as estimated (Waudby-Smith, Arbour,
//! Sinha, Kennedy, Ramdas 2021, theorem 2.2).

use serde::{Deserialize, Serialize};

/// The share of studies in which an interval may ever miss the true value.
const LEVEL: f64 = 0.05;

/// Fewer visits do not show an order's spread.
const LEAST_VISITS: u64 = 5;

/// The boundary is narrowest for differences of about this many standard deviations of a visit.
const EXPECTED_EFFECT: f64 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Sums {
    pub(super) visits: u64,
    pub(super) sum: f64,
    pub(super) squares: f64,
}

impl Sums {
    fn add(&mut self, value: f64) {
        self.visits += 1;
        self.sum += value;
        self.squares += value * value;
    }

    fn mean(&self) -> f64 {
        self.sum / self.visits as f64
    }

    /// The sum of squared distances from the mean.
    fn scatter(&self) -> f64 {
        (self.squares - self.sum * self.sum / self.visits as f64).max(0.0)
    }
}

/// Sums by stratum and order; order 0 is the present one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Evidence(Vec<Vec<Sums>>);

/// How many times better than the present order another one is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Speedup {
    pub(super) ratio: f64,
    /// Simultaneously valid for all intervals that were ever computed, with 95 % for the page.
    pub(super) interval: [f64; 2],
}

impl Evidence {
    pub(super) fn of(orders: usize) -> Self {
        Self(vec![vec![Sums::default(); orders]])
    }

    /// Whether it has this many orders, with numbers that a server can have written.
    pub(super) fn fits(&self, orders: usize) -> bool {
        let is_number = |it: &Sums| it.sum.is_finite() && it.squares.is_finite();
        let fits = |it: &Vec<Sums>| it.len() == orders && it.iter().all(is_number);
        !self.0.is_empty() && self.0.iter().all(fits)
    }

    pub(super) fn strata(&self) -> usize {
        self.0.len()
    }

    /// From now on, the visitors are divided differently among the orders.
    pub(super) fn divide(&mut self) {
        self.0.push(vec![Sums::default(); self.orders()]);
    }

    pub(super) fn add(&mut self, stratum: usize, order: usize, value: f64) {
        if let Some(sums) = self.0.get_mut(stratum).and_then(|it| it.get_mut(order)) {
            sums.add(value);
        }
    }

    pub(super) fn orders(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    pub(super) fn visits(&self) -> u64 {
        self.0.iter().flatten().map(|it| it.visits).sum()
    }

    pub(super) fn total(&self, order: usize) -> Sums {
        let add = |one: Sums, other: &Sums| Sums {
            visits: one.visits + other.visits,
            sum: one.sum + other.sum,
            squares: one.squares + other.squares,
        };
        self.0.iter().filter_map(|it| it.get(order)).fold(Sums::default(), add)
    }

    /// The geometric mean of an order's values; `None` without visits.
    pub(super) fn geometric_mean(&self, order: usize) -> Option<f64> {
        let total = self.total(order);
        (total.visits > 0).then(|| total.mean().exp())
    }

    /// How much better than the present order another one is; `None` while either has too few visits.
    pub(super) fn speedup(&self, order: usize) -> Option<Speedup> {
        let is_known = |order: usize| self.total(order).visits >= LEAST_VISITS;
        if order == 0 || !is_known(order) || !is_known(0) {
            return None;
        }
        // The weights of the strata that minimize the variance of a difference of means.
        let (mut information, mut weighted) = (0.0, 0.0);
        for stratum in &self.0 {
            let (present, other) = (stratum.first()?, stratum.get(order)?);
            if present.visits > 0 && other.visits > 0 {
                let (one, two) = (present.visits as f64, other.visits as f64);
                let weight = one * two / (one + two);
                information += weight;
                weighted += weight * (present.mean() - other.mean());
            }
        }
        let variance = self.variance().filter(|_| information > 0.0)?;
        let difference = weighted / information;
        let radius = variance.sqrt() * self.boundary(information);
        let interval = [(difference - radius).exp(), (difference + radius).exp()];
        Some(Speedup { ratio: difference.exp(), interval })
    }

    /// The order with the highest ratio among those whose interval lies above 1.
    pub(super) fn best(&self) -> Option<usize> {
        let better = (1..self.orders()).filter_map(|it| Some((it, self.speedup(it)?)));
        let better = better.filter(|(_, it)| it.interval[0] > 1.0);
        Some(better.max_by(|one, other| one.1.ratio.total_cmp(&other.1.ratio))?.0)
    }

    /// The variance of a visit within its stratum and order.
    fn variance(&self) -> Option<f64> {
        let sums = || self.0.iter().flatten().filter(|it| it.visits > 0);
        let freedom: u64 = sums().map(|it| it.visits - 1).sum();
        let scatter: f64 = sums().map(Sums::scatter).sum();
        (freedom > 0).then(|| scatter / freedom as f64)
    }

    /// Half the width of an interval for a variance of 1. All candidates of the page share the level.
    fn boundary(&self, information: f64) -> f64 {
        let level = LEVEL / (self.orders() - 1) as f64;
        let spread = information * EXPECTED_EFFECT * EXPECTED_EFFECT;
        (2.0 * (spread + 1.0) / (information * spread) * ((spread + 1.0).sqrt() / level).ln())
            .sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(present: &[f64], other: &[f64]) -> Evidence {
        let mut it = Evidence::of(2);
        for (order, values) in [present, other].into_iter().enumerate() {
            for value in values {
                it.add(0, order, value.ln());
            }
        }
        it
    }

    #[test]
    fn a_ratio_is_that_of_geometric_means() {
        let it = evidence(&[100.0, 110.0, 121.0, 110.0, 110.0], &[50.0, 55.0, 60.5, 55.0, 55.0]);
        let Speedup { ratio, interval: [low, high] } = it.speedup(1).unwrap();
        assert_eq!(format!("{ratio:.3} ({low:.2} to {high:.2})"), "2.000 (1.68 to 2.38)");
        assert_eq!(it.best(), Some(1));
        assert_eq!(it.geometric_mean(0).map(f64::round), Some(110.0));
    }

    #[test]
    fn four_visits_are_too_few() {
        let it = evidence(&[100.0; 4], &[50.0; 20]);
        assert_eq!(it.speedup(1), None);
        assert_eq!(it.best(), None);
    }

    /// The second stratum is slow for both, and has nine times as many visits of the other order.
    #[test]
    fn a_slow_time_of_the_day_does_not_count_against_an_order() {
        let mut it = Evidence::of(2);
        let add = |it: &mut Evidence, stratum, order, visits, value: f64| {
            for _ in 0..visits {
                it.add(stratum, order, value.ln());
            }
        };
        add(&mut it, 0, 0, 90, 100.0);
        add(&mut it, 0, 1, 10, 80.0);
        it.divide();
        add(&mut it, 1, 0, 10, 1000.0);
        add(&mut it, 1, 1, 90, 800.0);
        let ratio = it.speedup(1).unwrap().ratio;
        assert!((ratio - 1.25).abs() < 1e-9, "{ratio}");
    }
}
