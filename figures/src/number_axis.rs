//! A horizontal axis of non-negative numbers. It is linear, or logarithmic if a few large numbers would squeeze the others, or
//! if the numbers span a decade and are more evenly spaced on a logarithmic scale.

use super::svg::{Area, GRID, SMALL, Svg, d, number};

#[derive(Debug, Clone)]
pub(super) struct NumberAxis {
    left: f64,
    right: f64,
    /// The distinct numbers of the data, in ascending order.
    values: Vec<f64>,
    pub(super) is_logarithmic: bool,
}

/// The axis is logarithmic if the largest number exceeds the median by more than this factor.
const SQUEEZED: f64 = 4.0;
/// The span from which numbers may be meant as steps of a factor.
const DECADE: f64 = 10.0;
/// The width of a digit, and the minimum distance between labels.
const DIGIT: f64 = 6.6;
const CLEAR: f64 = 5.0;
/// The distance between lines of labels.
const LINE: f64 = 12.0;

/// The widest gap between neighbours, divided by the narrowest.
fn unevenness(sorted: &[f64]) -> f64 {
    let distances = sorted.windows(2).map(|it| it[1] - it[0]);
    distances.clone().fold(0.0, f64::max) / distances.fold(f64::INFINITY, f64::min)
}

impl NumberAxis {
    pub(super) fn over(values: impl Iterator<Item = f64>, left: f64, right: f64) -> Self {
        let mut values: Vec<f64> = values.filter(|it| it.is_finite() && *it >= 0.0).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let positive: Vec<f64> = values.iter().copied().filter(|it| *it > 0.0).collect();
        let middle = positive.get(positive.len() / 2).copied().unwrap_or(1.0);
        let most = positive.last().copied().unwrap_or(1.0);
        let least = positive.first().copied().unwrap_or(1.0);
        let logarithms: Vec<f64> = positive.iter().map(|it| it.ln()).collect();
        let spans = most >= DECADE * least && unevenness(&logarithms) < unevenness(&positive);
        Self { left, right, is_logarithmic: most > SQUEEZED * middle || spans, values }
    }

    /// The x of a number. On a logarithmic axis, 0 has its own place left of the smallest number.
    pub(super) fn x(&self, value: f64) -> f64 {
        self.left + self.share(value) * (self.right - self.left)
    }

    fn share(&self, value: f64) -> f64 {
        let most = self.values.last().copied().unwrap_or(1.0);
        if !self.is_logarithmic {
            let least = self.values.first().copied().unwrap_or_default();
            return if most > least { (value - least) / (most - least) } else { 0.5 };
        }
        let least = self.values.iter().copied().find(|it| *it > 0.0).unwrap_or(1.0);
        let has_zero = self.values.first() == Some(&0.0);
        let apart = if has_zero { 1.0 / self.values.len() as f64 } else { 0.0 };
        if value <= 0.0 {
            return 0.0;
        }
        apart + (1.0 - apart) * (value / least).ln() / (most / least).ln()
    }

    /// Draws a tick below `plot` at each number of the data and, if it is the last of a column, labels. Labels that do not fit
    /// in the first line go to a second one, if there is room.
    pub(super) fn draw(&self, svg: &mut Svg, plot: Area, right_by: f64, is_labelled: bool) {
        let bottom = plot.top + plot.height;
        for value in &self.values {
            let x = self.x(*value) + right_by;
            svg.path(&d!("M{} {}v4", x, bottom), GRID, "");
        }
        for (line, values) in self.labelled().iter().enumerate().filter(|_| is_labelled) {
            for value in values {
                let (x, y) = (self.x(*value) + right_by, bottom + 16.0 + line as f64 * LINE);
                svg.text(x, y, SMALL.middle(), &number(*value));
            }
        }
    }

    /// The numbers with a label in the first line, and in the second.
    fn labelled(&self) -> [Vec<f64>; 2] {
        let first = self.fitting(&self.values);
        let left: Vec<f64> = self.values.iter().copied().filter(|it| !first.contains(it)).collect();
        let second = self.fitting(&left);
        [first, second]
    }

    /// The ends of `values`, and between them as many as fit.
    fn fitting(&self, values: &[f64]) -> Vec<f64> {
        let (Some(first), Some(last)) = (values.first(), values.last()) else {
            return Vec::new();
        };
        let mut shown = vec![*first];
        for value in &values[1..] {
            let is_last = value.total_cmp(last).is_eq();
            let before = shown.last().copied().unwrap_or_default();
            let is_clear_of_last = is_last || self.are_clear(*value, *last);
            if is_clear_of_last && self.are_clear(*value, before) {
                shown.push(*value);
            }
        }
        shown
    }

    /// Whether the labels of two numbers fit side by side.
    fn are_clear(&self, one: f64, other: f64) -> bool {
        let [half_one, half_other] =
            [one, other].map(|it| number(it).chars().count() as f64 * DIGIT / 2.0);
        (self.x(one) - self.x(other)).abs() > half_one + half_other + CLEAR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(values: &[f64]) -> NumberAxis {
        NumberAxis::over(values.iter().copied(), 0.0, 100.0)
    }

    #[test]
    fn an_outlier_makes_the_axis_logarithmic() {
        assert!(!axis(&[0.0, 16.0, 32.0, 48.0, 64.0]).is_logarithmic);
        assert!(axis(&[0.0, 16.0, 32.0, 48.0, 6400.0]).is_logarithmic);
        assert!(axis(&[1.0, 4.0, 16.0, 64.0, 256.0]).is_logarithmic);
    }

    #[test]
    fn on_a_logarithmic_axis_equal_factors_are_equally_far_apart_and_0_stands_aside() {
        let places = |values: &[f64]| {
            let axis = axis(values);
            values.iter().map(|it| number(axis.x(*it))).collect::<Vec<_>>()
        };
        assert_eq!(places(&[1.0, 10.0, 100.0]), ["0", "50", "100"]);
        assert_eq!(places(&[0.0, 1.0, 10.0, 100.0]), ["0", "25", "62.5", "100"]);
        assert_eq!(places(&[0.0, 30.0, 60.0]), ["0", "50", "100"]);
        assert_eq!(places(&[7.0]), ["50"]);
    }

    #[test]
    fn labels_do_not_touch() {
        let lines = axis(&[0.0, 1.0, 50.0, 99.0, 100.0]).labelled();
        assert_eq!(lines, [vec![0.0, 50.0, 100.0], vec![1.0, 99.0]]);
        let lines = axis(&[0.0, 97.0, 98.0, 99.0, 100.0]).labelled();
        assert_eq!(lines, [vec![0.0, 100.0], vec![97.0]], "no third line");
        assert_eq!(axis(&[]).labelled(), [Vec::<f64>::new(), Vec::new()]);
    }
}
