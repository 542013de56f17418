//! A logarithmic axis of ratios: ×2 is as far from ×1 as /2 on the other side.

use super::svg::{Area, MARGIN, SMALL, Svg, d};

#[derive(Debug, Clone, Copy)]
pub(super) struct RatioAxis {
    /// The positions of the lowest and the highest ratio.
    start: f64,
    end: f64,
    lowest: f64,
    highest: f64,
}

/// Ticks of an axis on which all values are close to ×1, from many to few, and the largest distance of its ends.
const FINE_TICKS: [&[f64]; 3] = [
    &[1.0, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0, 2.5, 3.0],
    &[1.0, 1.1, 1.2, 1.5, 2.0, 3.0],
    &[1.0, 1.2, 1.5, 2.0, 3.0],
];
const FINE_SPAN: f64 = 3.0;

/// Ticks at and above ×1, from many to few; their inverses are below. An axis uses the first set whose labels fit.
const TICKS: [&[f64]; 9] = [
    &[
        1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 70.0, 100.0, 200.0, 500.0,
        1000.0,
    ],
    &[1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0, 200.0, 500.0, 1000.0],
    &[1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0],
    &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0],
    &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0],
    &[1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0],
    &[1.0, 4.0, 16.0, 64.0, 256.0, 1024.0],
    &[1.0, 5.0, 25.0, 125.0, 625.0, 3125.0],
    &[1.0, 10.0, 100.0, 1000.0, 10_000.0],
];

/// The height of a label, the width of a letter, and the minimum distance of labels side by side.
const LABEL_HEIGHT: f64 = 13.0;
const LETTER: f64 = 6.6;
const CLEAR: f64 = 5.0;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Up,
    Across,
}

impl RatioAxis {
    /// An axis that shows all of `ratios`, and ×1: from below to above, or from left to right.
    pub(super) fn new(ratios: impl Iterator<Item = f64>, start: f64, end: f64) -> Self {
        let usable = ratios.filter(|it| it.is_finite() && *it > 0.0);
        let (lowest, highest) =
            usable.fold((1.0_f64, 1.0_f64), |(low, high), it| (low.min(it), high.max(it)));
        Self { start, end, lowest: lowest.min(0.9) / 1.04, highest: highest.max(1.1) * 1.04 }
    }

    pub(super) fn shows(&self, ratio: f64) -> bool {
        (self.lowest..=self.highest).contains(&ratio)
    }

    /// The same axis, moved down or to the right.
    pub(super) fn shifted(self, by: f64) -> Self {
        Self { start: self.start + by, end: self.end + by, ..self }
    }

    pub(super) fn top(&self) -> f64 {
        self.end
    }

    pub(super) fn bottom(&self) -> f64 {
        self.start
    }

    pub(super) fn height(&self) -> f64 {
        self.start - self.end
    }

    /// The y of a ratio on a vertical axis, the x on a horizontal one.
    pub(super) fn place(&self, ratio: f64) -> f64 {
        let share = (ratio.clamp(self.lowest, self.highest) / self.lowest).ln()
            / (self.highest / self.lowest).ln();
        self.start - share * (self.start - self.end)
    }

    /// Draws the grid with its labels, and the axis' title, if there is one, at the figure's left edge.
    pub(super) fn draw(&self, svg: &mut Svg, left: f64, right: f64, title: &str) {
        if !title.is_empty() {
            svg.upright(MARGIN, self.top() + self.height() / 2.0, title);
        }
        for (ratio, label) in self.ticks(Way::Up) {
            let y = self.place(ratio);
            svg.path(&d!("M{} {}H{}", left, y, right), &grid(ratio), "");
            svg.text(left - 8.0, y + 4.0, SMALL.end(), &label);
        }
    }

    /// Draws the grid within `plot`, with labels if it is the first of a row.
    pub(super) fn draw_in(&self, svg: &mut Svg, plot: Area, is_labelled: bool) {
        for (ratio, label) in self.ticks(Way::Up) {
            let y = self.place(ratio);
            svg.path(&d!("M{} {}h{}", plot.left, y, plot.width), &grid(ratio), "");
            if is_labelled {
                svg.text(plot.left - 6.0, y + 4.0, SMALL.end(), &label);
            }
        }
    }

    /// Draws the grid of a horizontal axis over `plot`, with labels below if it is the last of a column.
    pub(super) fn draw_across(&self, svg: &mut Svg, plot: Area, is_labelled: bool) {
        let bottom = plot.top + plot.height;
        for (ratio, label) in self.ticks(Way::Across) {
            let x = self.place(ratio);
            svg.path(&d!("M{} {}V{}", x, plot.top, bottom), &grid(ratio), "");
            if is_labelled {
                svg.text(x, bottom + 14.0, SMALL.middle(), &label);
            }
        }
    }

    /// The ticks of the first set whose labels all fit; otherwise the fitting ticks of the smallest set.
    fn ticks(&self, way: Way) -> Vec<(f64, String)> {
        let fine = if self.highest / self.lowest < FINE_SPAN { &FINE_TICKS[..] } else { &[] };
        let mut all = fine.iter().chain(&TICKS).map(|it| self.inside(it));
        let fitting = all.find(|it| it.windows(2).all(|it| self.are_clear(&it[0], &it[1], way)));
        fitting.unwrap_or_else(|| self.inside(&[1.0]))
    }

    /// The ticks and their inverses that lie on the axis, with their labels.
    fn inside(&self, ticks: &[f64]) -> Vec<(f64, String)> {
        let slower = ticks[1..].iter().rev().map(|tick| (1.0 / tick, format!("/{tick}")));
        let faster = ticks.iter().map(|tick| (*tick, format!("×{tick}")));
        slower.chain(faster).filter(|it| self.shows(it.0)).collect()
    }

    fn are_clear(&self, one: &(f64, String), other: &(f64, String), way: Way) -> bool {
        let distance = (self.place(one.0) - self.place(other.0)).abs();
        let letters = (one.1.chars().count() + other.1.chars().count()) as f64 / 2.0;
        match way {
            Way::Up => distance > LABEL_HEIGHT,
            Way::Across => distance > letters * LETTER + CLEAR,
        }
    }
}

/// How far an axis extends beyond all values to show the ends of their intervals.
const REACH: f64 = 2.5;

/// The ratios that an axis shows: all of `values`, and as much of their intervals as does not squeeze them.
pub(super) fn in_reach(values: &[f64], intervals: impl Iterator<Item = [f64; 2]>) -> Vec<f64> {
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), it| (low.min(*it), high.max(*it)));
    let ends = intervals.flatten().map(|it| it.clamp(low / REACH, (high * REACH).max(low)));
    values.iter().copied().chain(ends).collect()
}

fn grid(ratio: f64) -> String {
    let width = if (ratio - 1.0).abs() < 1e-9 { "1.8" } else { "1" };
    format!(r##"class="grid" stroke="#d9d9d9" stroke-width="{width}" fill="none""##)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_as_fast_is_as_far_from_the_middle_as_twice_as_slow() {
        let axis = RatioAxis::new([0.5, 2.0, 0.25, 4.0].into_iter(), 210.0, 10.0);
        let (up, down) = (axis.place(1.0) - axis.place(2.0), axis.place(0.5) - axis.place(1.0));
        assert!((up - down).abs() < 1e-9, "{up} {down}");
        let labels: Vec<String> = axis.ticks(Way::Up).into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["/4", "/3", "/2", "/1.5", "×1", "×1.5", "×2", "×3", "×4"]);
        let close = RatioAxis::new([0.9, 1.2].into_iter(), 210.0, 10.0).ticks(Way::Up);
        assert!(close.iter().any(|(_, label)| label == "×1.1"), "{close:?}");
    }

    #[test]
    fn a_narrow_axis_has_fewer_ticks_at_even_distances() {
        let of = |width: f64| {
            let axis = RatioAxis::new([0.2, 25.0].into_iter(), 0.0, width);
            axis.ticks(Way::Across).into_iter().map(|it| it.1).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of(300.0), "/5 /3 /2 ×1 ×2 ×3 ×5 ×10 ×20");
        assert_eq!(of(84.0), "/4 ×1 ×4 ×16");
    }

    #[test]
    fn an_interval_without_end_does_not_squeeze_the_others() {
        let shown = in_reach(&[1.0, 2.0], [[0.9, 1e90], [1e-20, 2.2]].into_iter());
        assert_eq!(shown, [1.0, 2.0, 0.9, 5.0, 0.4, 2.2]);
        let axis = RatioAxis::new(shown.into_iter(), 0.0, 100.0);
        assert_eq!([0.9, 1e90, 1e-20].map(|it| axis.shows(it)), [true, false, false]);
    }

    #[test]
    fn an_axis_without_ratios_shows_the_baseline() {
        let axis = RatioAxis::new([f64::NAN, 0.0].into_iter(), 100.0, 0.0);
        assert!(axis.ticks(Way::Up).iter().any(|(_, label)| label == "×1"));
    }
}
