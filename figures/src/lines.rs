//! Lines over a common horizontal axis, and levels to compare them with.

use super::axis::round_step;
use super::sheet::Sheet;
use super::svg::{GRID, Style, Svg, WIDTH, d, polyline};
use crate::palette::line_stroke;

/// A figure with one line for each case.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// The horizontal axis, with its unit.
    pub across: String,
    /// The vertical axis, with its unit.
    pub up: String,
    /// The cases.
    pub lines: Vec<Line>,
    /// Names and values of dashed lines across the figure.
    pub levels: Vec<(String, f64)>,
}

/// A case.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// Its name.
    pub label: String,
    /// (across, up), from left to right.
    pub points: Vec<(f64, f64)>,
}

const LEFT: f64 = 74.0;
const RIGHT: f64 = 900.0;
const TOP: f64 = 42.0;
const PLOT_HEIGHT: f64 = 300.0;
const LEGEND_LINE: f64 = 21.0;
/// The most points that are drawn of a line, because a figure has no more columns.
const POINTS_MAX: usize = 1500;

impl Lines {
    /// The figure on `sheet`, which is a screen.
    pub fn draw(&self, sheet: &Sheet) -> String {
        let points = self.lines.iter().flat_map(|it| &it.points);
        let end = points.clone().map(|it| it.0).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let levels = self.levels.iter().map(|it| it.1);
        let most = points.map(|it| it.1).chain(levels).fold(0.0, f64::max);
        let most = most.max(f64::MIN_POSITIVE) * 1.05;
        let mut svg = Svg::titled(sheet, &self.title);
        self.draw_axes(&mut svg, end, most);
        for (name, value) in &self.levels {
            let y = up(*value, most);
            let dashed = r##"class="muted" stroke="#5a5a5a" stroke-dasharray="6 4" fill="none""##;
            svg.path(&d!("M{LEFT} {}H{RIGHT}", y), dashed, name);
            svg.text(RIGHT + 8.0, y + 4.0, Style::PLAIN.size(11.0).muted(), name);
        }
        for (place, line) in self.lines.iter().enumerate() {
            draw_line(&mut svg, place, line, end, most);
            let top = TOP + PLOT_HEIGHT + 62.0 + place as f64 * LEGEND_LINE;
            svg.path(&d!("M{LEFT} {}h36", top - 4.0), &line_stroke(place), "");
            svg.text(LEFT + 46.0, top, Style::PLAIN, &line.label);
        }
        let height = TOP + PLOT_HEIGHT + 62.0 + self.lines.len() as f64 * LEGEND_LINE;
        svg.finish(WIDTH, height, &self.title)
    }

    fn draw_axes(&self, svg: &mut Svg, end: f64, most: f64) {
        let bottom = TOP + PLOT_HEIGHT;
        for (value, label) in ticks(most) {
            let y = up(value, most);
            svg.path(&d!("M{LEFT} {}H{RIGHT}", y), GRID, "");
            svg.text(LEFT - 8.0, y + 4.0, Style::PLAIN.size(11.0).end(), &label);
        }
        for (value, label) in ticks(end) {
            let x = across(value, end);
            svg.path(&d!("M{} {bottom}v5", x), GRID, "");
            svg.text(x, bottom + 18.0, Style::PLAIN.size(11.0).middle(), &label);
        }
        let style = Style::PLAIN.size(11.0).middle().muted();
        svg.text(f64::midpoint(LEFT, RIGHT), bottom + 36.0, style, &self.across);
        svg.upright(22.0, TOP + PLOT_HEIGHT / 2.0, &self.up);
    }
}

fn ticks(end: f64) -> impl Iterator<Item = (f64, String)> {
    let step = round_step(end / 6.0);
    let decimals = usize::from(step < 1.0) + usize::from(step < 0.1);
    let values = (0..100_u32).map(move |count| f64::from(count) * step);
    values.take_while(move |it| *it <= end).map(move |it| (it, format!("{it:.decimals$}")))
}

fn across(value: f64, end: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * value / end
}

fn up(value: f64, most: f64) -> f64 {
    TOP + PLOT_HEIGHT * (1.0 - value / most)
}

/// Draws a line. For a long one, draws only the lowest and the highest point of each group.
fn draw_line(svg: &mut Svg, place: usize, line: &Line, end: f64, most: f64) {
    let group = (line.points.len() * 2).div_ceil(POINTS_MAX).max(1);
    let mut drawn = Vec::new();
    for points in line.points.chunks(group) {
        let first = points[0].0;
        let low = points.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(|it| it.1).fold(0.0, f64::max);
        for value in if points.len() > 1 { vec![low, high] } else { vec![high] } {
            drawn.push((across(first, end), up(value, most)));
        }
    }
    svg.path(&polyline(drawn), &line_stroke(place), &line.label);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Lines {
        let line = |label: &str, most: f64| Line {
            label: label.to_owned(),
            points: vec![(0.0, 0.0), (5.0, most), (10.0, most / 2.0)],
        };
        Lines {
            title: "Windows".to_owned(),
            across: "time (s)".to_owned(),
            up: "window (kB)".to_owned(),
            lines: vec![line("cubic", 100.0), line("bbr2", 40.0)],
            levels: vec![("one BDP".to_owned(), 31.0)],
        }
    }

    #[test]
    fn every_line_and_level_is_drawn_and_named() {
        let svg = lines().draw(&Sheet::default());
        for words in ["Windows", "time (s)", "window (kB)", "cubic", "bbr2", "one BDP"] {
            assert!(svg.contains(words), "{words}: {svg}");
        }
        // The highest value is 1/1.05 of the axis; the last point is at the right edge.
        assert!(svg.contains(&format!("L{RIGHT} ")), "{svg}");
        assert!(svg.contains("M74 342L487 56.29L900 199.14"), "{svg}");
    }

    #[test]
    fn a_long_line_is_drawn_with_few_points_that_keep_its_extremes() {
        let points = (0..100_000_u32).map(|it| (f64::from(it), f64::from(it % 100))).collect();
        let lines = Lines { lines: vec![Line { label: "saw".into(), points }], ..lines() };
        let svg = lines.draw(&Sheet::default());
        assert!(svg.matches('L').count() < 2000, "{} bytes", svg.len());
    }
}
