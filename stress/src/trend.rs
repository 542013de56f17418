//! Whether a series of figures rises.

use serde::Serialize;

/// A straight line through values (Theil 1950, Sen 1968): its slope is the median of the slopes between all pairs of points,
/// so that single outliers do not move it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Trend {
    /// The rise of the values per hour.
    pub per_hour: f64,
    /// The 95 % interval of that, from the variance of Kendall's tau (Sen 1968). It assumes independent points.
    pub interval: [f64; 2],
    /// The rise from the first point to the last.
    pub rise: f64,
    /// The distance of points from the line: 1.4826 times the median distance, which is the standard deviation if the
    /// distances have a normal distribution.
    pub noise: f64,
}

/// With fewer points, a slope is meaningless.
const POINTS_LEAST: usize = 8;

impl Trend {
    /// The line through points (seconds, value) in chronological order. `None`: too few points.
    pub(crate) fn of(points: &[(f64, f64)]) -> Option<Self> {
        if points.len() < POINTS_LEAST {
            return None;
        }
        let pairs = points.iter().enumerate();
        let mut slopes: Vec<f64> = pairs
            .flat_map(|(number, from)| points[number + 1..].iter().map(move |to| (from, to)))
            .map(|(from, to)| (to.1 - from.1) / (to.0 - from.0))
            .collect();
        slopes.sort_by(f64::total_cmp);
        let (points_count, slopes_count) = (points.len() as f64, slopes.len() as f64);
        let spread = points_count * (points_count - 1.0) * (2.0 * points_count + 5.0) / 18.0;
        let width = 1.96 * spread.sqrt();
        let slope = median(slopes.clone());
        let intercept = median(points.iter().map(|it| it.1 - slope * it.0).collect());
        let distances = points.iter().map(|it| (it.1 - slope * it.0 - intercept).abs()).collect();
        let seconds = points[points.len() - 1].0 - points[0].0;
        Some(Self {
            per_hour: slope * 3600.0,
            interval: [
                at(&slopes, (slopes_count - width) / 2.0 - 1.0) * 3600.0,
                at(&slopes, slopes_count.midpoint(width)) * 3600.0,
            ],
            rise: slope * seconds,
            noise: 1.4826 * median(distances),
        })
    }

    /// Whether the values do not rise: the interval includes 0 or less, or the total rise is less than the distance of one
    /// point from the line.
    pub fn is_flat(&self) -> bool {
        self.interval[0] <= 0.0 || self.rise <= self.noise
    }
}

/// The value at this index, or the nearest existing one.
fn at(sorted: &[f64], place: f64) -> f64 {
    let last = sorted.len().saturating_sub(1) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the last place"
    )]
    sorted.get(place.round().clamp(0.0, last) as usize).copied().unwrap_or(f64::NAN)
}

/// The median; NaN of nothing.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let last = figures.len().saturating_sub(1);
    at(&figures, (last / 2) as f64).midpoint(at(&figures, last.div_ceil(2) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point every 10 s that is at most 50 above or below the line; every tenth is far above it.
    fn points(per_point: f64) -> Vec<(f64, f64)> {
        let figure = |number: u32| match number % 10 {
            9 => 5000.0,
            _ => f64::from(number * 7 % 11) * 10.0 - 50.0,
        };
        (0..60).map(|it| (f64::from(it) * 10.0, f64::from(it) * per_point + figure(it))).collect()
    }

    #[test]
    fn figures_that_only_wobble_are_flat_whatever_single_points_do() {
        let trend = Trend::of(&points(0.0)).expect("a line");
        assert!(trend.is_flat() && trend.per_hour.abs() < 100.0, "{trend:?}");
    }

    #[test]
    fn a_leak_is_a_rise_of_its_size() {
        let trend = Trend::of(&points(5.0)).expect("a line");
        assert!(!trend.is_flat(), "{trend:?}");
        assert!((trend.per_hour - 1800.0).abs() < 100.0, "{trend:?}");
        let [low, high] = trend.interval;
        assert!(low < 1800.0 && high > 1800.0, "{trend:?}");
        assert!(trend.noise > 40.0 && trend.noise < 90.0, "{trend:?}");
    }

    #[test]
    fn few_points_are_no_trend() {
        assert_eq!(Trend::of(&points(5.0)[..7]), None);
        let equal = Trend::of(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0].map(|it| (it, 7.0)));
        let equal = equal.expect("a line");
        assert!(equal.is_flat() && equal.per_hour == 0.0 && equal.noise == 0.0, "{equal:?}");
    }
}
