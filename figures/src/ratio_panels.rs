//! Ratios at a few levels of one quantity, in several panels with common axes: a line for each case,
//! with intervals.

use super::ratio_axis::RatioAxis;
use super::sheet::Sheet;
use super::svg::{GRID, MARGIN, SMALL, Style, Svg, WIDTH, d, polyline};
use crate::palette::{line_colour, line_stroke};

/// A figure of panels, from left to right and from top to bottom.
#[derive(Debug, Clone, Default)]
pub struct RatioPanels {
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// The horizontal axis, with its unit.
    pub across: String,
    /// The vertical axis.
    pub up: String,
    /// The levels, from left to right.
    pub places: Vec<String>,
    /// The cases, in the order of [`RatioPanel::lines`].
    pub names: Vec<String>,
    /// Panels side by side.
    pub columns: usize,
    /// The panels.
    pub panels: Vec<RatioPanel>,
}

/// A panel.
#[derive(Debug, Clone, Default)]
pub struct RatioPanel {
    /// Above it.
    pub title: String,
    /// The points of each case, from left to right.
    pub lines: Vec<Vec<Point>>,
}

/// A value at a level.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Point {
    /// The index in [`RatioPanels::places`].
    pub place: usize,
    /// The ratio.
    pub value: f64,
    /// The lower and the upper end.
    pub interval: Option<[f64; 2]>,
}

const LEFT: f64 = 74.0;
const TOP: f64 = 64.0;
const PLOT_HEIGHT: f64 = 170.0;
/// The distance from a panel's plot to the one below.
const DOWN: f64 = PLOT_HEIGHT + 66.0;
/// The gap between panels side by side.
const GAP: f64 = 52.0;
const LEGEND_HEIGHT: f64 = 28.0;
/// The largest gap between the intervals of a level.
const APART: f64 = 3.0;

impl RatioPanels {
    /// The figure on `sheet`, which is a screen.
    pub fn draw(&self, sheet: &Sheet) -> String {
        let mut svg = Svg::titled(sheet, &self.title);
        let axis = RatioAxis::new(self.ratios(), TOP + PLOT_HEIGHT, TOP);
        let columns = self.columns.max(1);
        for (place, panel) in self.panels.iter().enumerate() {
            let axis = axis.shifted((place / columns) as f64 * DOWN);
            self.draw_panel(&mut svg, panel, axis, place % columns);
        }
        let rows = self.panels.len().div_ceil(columns) as f64;
        let bottom = TOP + rows * DOWN;
        self.draw_legend(&mut svg, bottom);
        svg.finish(WIDTH, bottom + LEGEND_HEIGHT, &self.title)
    }

    fn ratios(&self) -> impl Iterator<Item = f64> + '_ {
        let points = self.panels.iter().flat_map(|it| it.lines.iter().flatten());
        points.flat_map(|it| it.interval.into_iter().flatten().chain([it.value]))
    }

    fn width(&self) -> f64 {
        let columns = self.columns.max(1) as f64;
        (WIDTH - LEFT - MARGIN - GAP * (columns - 1.0)) / columns
    }

    fn draw_panel(&self, svg: &mut Svg, panel: &RatioPanel, axis: RatioAxis, column: usize) {
        let left = LEFT + column as f64 * (self.width() + GAP);
        let right = left + self.width();
        axis.draw(svg, left, right, if column == 0 { &self.up } else { "" });
        svg.text(left, axis.top() - 8.0, Style::PLAIN.bold(), &panel.title);
        for (place, label) in self.places.iter().enumerate() {
            let x = left + self.offset(place);
            svg.path(&d!("M{} {}V{}", x, axis.top(), axis.bottom() + 4.0), GRID, "");
            svg.text(x, axis.bottom() + 16.0, SMALL.middle(), label);
        }
        let middle = f64::midpoint(left, right);
        svg.text(middle, axis.bottom() + 32.0, SMALL.middle().muted(), &self.across);
        // Side by side, intervals can be distinguished. Values stand at the ticks.
        let apart = (self.step() * 0.5 / panel.lines.len().max(1) as f64).min(APART);
        for (line, points) in panel.lines.iter().enumerate() {
            let aside = (line as f64 - (panel.lines.len() as f64 - 1.0) / 2.0) * apart;
            self.draw_line(svg, line, points, axis, left, aside);
        }
    }

    fn draw_line(
        &self,
        svg: &mut Svg,
        place: usize,
        points: &[Point],
        axis: RatioAxis,
        left: f64,
        aside: f64,
    ) {
        let intervals = points.iter().filter_map(|point| {
            let [low, high] = point.interval?;
            let x = left + self.offset(point.place) + aside;
            Some(d!("M{} {}V{}", x, axis.place(low), axis.place(high)))
        });
        let colour = line_colour(place);
        let thin =
            format!(r#"fill="none" stroke="{colour}" stroke-width="1" stroke-opacity="0.7""#);
        svg.path(&intervals.collect::<String>(), &thin, "");
        let points = points.iter().map(|it| (left + self.offset(it.place), axis.place(it.value)));
        let name = self.names.get(place).map_or("", String::as_str);
        svg.path(&polyline(points), &line_stroke(place), name);
    }

    fn step(&self) -> f64 {
        self.width() / self.places.len().max(1) as f64
    }

    fn offset(&self, place: usize) -> f64 {
        (place as f64 + 0.5) * self.step()
    }

    fn draw_legend(&self, svg: &mut Svg, top: f64) {
        let step = (WIDTH - LEFT - MARGIN) / self.names.len().max(1) as f64;
        for (place, name) in self.names.iter().enumerate() {
            let left = LEFT + place as f64 * step;
            svg.path(&d!("M{} {}h36", left, top - 4.0), &line_stroke(place), "");
            svg.text(left + 44.0, top, Style::PLAIN, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_panel_has_its_lines_with_their_intervals_on_common_axes() {
        let point =
            |place, value: f64| Point { place, value, interval: Some([value / 1.1, value * 1.1]) };
        let panel = |title: &str, most| RatioPanel {
            title: title.into(),
            lines: vec![vec![point(0, 1.0), point(1, most)], vec![point(0, 0.9), point(1, 0.8)]],
        };
        let panels = RatioPanels {
            title: "Speedups".into(),
            across: "loss (%)".into(),
            up: "speedup".into(),
            places: vec!["0".into(), "5".into()],
            names: vec!["fifo".into(), "dfifo".into()],
            columns: 2,
            panels: vec![panel("cable", 1.5), panel("lte", 3.0), panel("3g", 1.2)],
        };
        let svg = panels.draw(&Sheet::default());
        for words in ["Speedups", "cable", "lte", "3g", "loss (%)", ">fifo<", ">dfifo<"] {
            assert!(svg.contains(words), "{words}: {svg}");
        }
        assert_eq!(
            svg.matches("stroke-opacity=\"0.7\"").count(),
            6,
            "two lines in each of three panels"
        );
        assert_eq!(svg.matches(">speedup<").count(), 2, "at the left edge only");
        // \u{d7}1 is as high in both panels of a row.
        let one = svg.match_indices("stroke-width=\"1.8\"").count();
        assert_eq!(one, 3);
    }
}
