//! Distributions of values: minimum, median, maximum, and a histogram.

use serde::Serialize;

/// The powers of two between the bars: for milliseconds from a microsecond on, for bytes up to a terabyte.
const EXPONENTS: std::ops::RangeInclusive<i32> = -10..=40;

/// The distribution of values, in their unit.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// The number of values.
    pub count: u64,
    /// The least.
    pub least: f64,
    /// Half are no larger.
    pub median: f64,
    /// 95 of 100 are no larger.
    pub p95: f64,
    /// The largest.
    pub most: f64,
    /// The number of values in each range, in order and without gaps.
    pub bars: Vec<Bar>,
}

/// A bar of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bar {
    /// A power of two: the largest value that it counts. The lower end is the bar before.
    pub up_to: f64,
    /// How many values it counts.
    pub count: u64,
}

impl Distribution {
    /// `None` without values.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        Some(Self {
            count: values.len() as u64,
            least,
            median: values[place(values.len(), 50)],
            p95: values[place(values.len(), 95)],
            most,
            bars: bars(&values),
        })
    }
}

/// The index among `count` ascending values (at least one) below or at which this share of them lies.
pub(crate) fn place(count: usize, percent: usize) -> usize {
    (count * percent).div_ceil(100).max(1) - 1
}

/// The histogram of rising values.
fn bars(values: &[f64]) -> Vec<Bar> {
    let mut bars = Vec::new();
    let mut counted = 0;
    for exponent in EXPONENTS {
        let up_to = f64::from(exponent).exp2();
        let is_last = exponent == *EXPONENTS.end();
        let end = values.partition_point(|it| *it <= up_to || is_last);
        if end > 0 {
            bars.push(Bar { up_to, count: (end - counted) as u64 });
        }
        counted = end;
        if end == values.len() {
            break;
        }
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_end_at_powers_of_two() {
        let found = Distribution::of(vec![3.0, 0.75, 1.0, 9.0, 4.0]).expect("values");
        assert_eq!((found.count, found.least, found.median, found.most), (5, 0.75, 3.0, 9.0));
        let bars: Vec<(f64, u64)> = found.bars.iter().map(|it| (it.up_to, it.count)).collect();
        assert_eq!(bars, [(1.0, 2), (2.0, 0), (4.0, 2), (8.0, 0), (16.0, 1)]);
        assert_eq!(Distribution::of(Vec::new()), None);
        let extremes = Distribution::of(vec![0.0, f64::MAX]).expect("values").bars;
        assert_eq!((extremes.len(), extremes[0].count, extremes[50].count), (51, 1, 1));
    }
}
