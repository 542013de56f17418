//! The horizontal axis: its unit, and its ticks.

use std::convert::identity;

use super::svg::{GRID, SMALL, Svg, number};

/// The meaning of a ribbon's width.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Axis {
    /// Milliseconds since the run's first request.
    #[default]
    Time,
    /// STREAM frames, all of the same width (as in qvis).
    Frames,
    /// Stream bytes, retransmissions included.
    Bytes,
}

impl Axis {
    /// Between five and ten round ticks from `origin` to `origin + length`, and the axis' title with its unit. Ticks have
    /// their labels' values, in milliseconds, frames or bytes.
    pub(super) fn ticks(self, origin: f64, length: f64) -> (Vec<(f64, String)>, String) {
        let end = origin + length;
        let (unit, title) = match self {
            Self::Time if end >= 10_000.0 => (1000.0, "time since the first request (s)"),
            Self::Time => (1.0, "time since the first request (ms)"),
            Self::Frames => (1.0, "STREAM frames"),
            Self::Bytes if end >= 1e6 => (1e6, "stream bytes (MB)"),
            Self::Bytes => (1e3, "stream bytes (kB)"),
        };
        let step = round_step(length / unit / 6.0);
        let first = (origin / unit / step).ceil().max(0.0);
        let decimals = usize::from(step < 1.0) + usize::from(step < 0.1);
        let ticks = (0..100_u32)
            .map(|count| (first + f64::from(count)) * step)
            .take_while(|value| value * unit <= end * 1.000_001)
            .map(|value| (value * unit, format!("{value:.decimals$}")))
            .collect();
        (ticks, title.to_owned())
    }
}

/// The width of a digit. If labels would touch, some are omitted.
const DIGIT: f64 = 6.4;

/// A plot's horizontal axis.
pub struct Across {
    /// The quantity it shows.
    pub axis: Axis,
    /// Its left end.
    pub left: f64,
    /// Its right end.
    pub right: f64,
    /// Its last value.
    pub end: f64,
    /// The value of its labels at its beginning.
    pub origin: f64,
    /// Turns the axis' default title into its title.
    pub words: fn(String) -> String,
}

impl Across {
    /// An axis that begins at 0, with its default title.
    pub fn new(axis: Axis, left: f64, right: f64, end: f64) -> Self {
        Self { axis, left, right, end, origin: 0.0, words: identity }
    }

    /// Where a value is.
    pub fn x(&self, value: f64) -> f64 {
        if self.end <= 0.0 {
            return self.left;
        }
        self.left + value / self.end * (self.right - self.left)
    }

    /// Draws the ticks' labels, as far as they fit, on one line and the title on another; `line` is the path of a tick at an x.
    pub fn draw(
        &self,
        svg: &mut Svg,
        [labels, title]: [f64; 2],
        line: impl Fn(&str) -> Option<String>,
    ) {
        let (ticks, words) = self.axis.ticks(self.origin, self.end);
        let mut free = f64::NEG_INFINITY;
        for (value, label) in ticks {
            let x = self.x(value - self.origin);
            if let Some(line) = line(&number(x)) {
                svg.path(&line, GRID, "");
            }
            let half = label.chars().count() as f64 * DIGIT / 2.0;
            if x - half >= free {
                free = x + half + 3.0;
                svg.text(x, labels, SMALL.middle(), &label);
            }
        }
        let middle = f64::midpoint(self.left, self.right);
        svg.text(middle, title, SMALL.middle().muted(), &(self.words)(words));
    }
}

/// The nearest 1, 2 or 5 times a power of ten.
pub fn round_step(rough: f64) -> f64 {
    if !rough.is_finite() || rough <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(rough.log10().floor());
    let factor = rough / power;
    let round = match factor {
        ..1.5 => 1.0,
        1.5..3.5 => 2.0,
        3.5..7.5 => 5.0,
        _ => 10.0,
    };
    (round * power).max(0.01)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: Axis, end: f64) -> (String, String) {
        let (ticks, title) = axis.ticks(0.0, end);
        (ticks.into_iter().map(|tick| tick.1).collect::<Vec<_>>().join(" "), title)
    }

    #[test]
    fn ticks_are_round_and_carry_a_unit() {
        let time = "time since the first request";
        assert_eq!(
            labels(Axis::Time, 2810.0),
            ("0 500 1000 1500 2000 2500".to_owned(), format!("{time} (ms)"))
        );
        assert_eq!(
            labels(Axis::Time, 61_000.0),
            ("0 10 20 30 40 50 60".to_owned(), format!("{time} (s)"))
        );
        assert_eq!(labels(Axis::Bytes, 390_000.0).0, "0 50 100 150 200 250 300 350");
        assert_eq!(labels(Axis::Bytes, 2_900_000.0).0, "0.0 0.5 1.0 1.5 2.0 2.5");
        assert_eq!(labels(Axis::Frames, 280.0).0, "0 50 100 150 200 250");
    }

    #[test]
    fn an_empty_axis_has_one_tick() {
        assert_eq!(labels(Axis::Frames, 0.0).0, "0");
        assert_eq!(labels(Axis::Time, f64::NAN).0, "");
    }
}
