//! How wide to interleave: the index of `kway:N` by N, one line for each network. Where a line's lowest
//! point moves away from 1, sequential sending stops being best.

use super::ratio_axis::RatioAxis;
use super::sheet::{Drawing, Sheet};
use super::svg::{MARGIN, SMALL, Style, Svg, circle, d, polyline};
use super::table::{Table, row};
use crate::number_texts::{or_dash, ratio_number};
use qlog_tools::short_texts::shorten;

/// The figure.
#[derive(Debug, Clone, Default)]
pub struct Interleaving {
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// The quantity that is compared: `ByteIndex above the fold`.
    pub what: String,
    /// The widths, from left to right: `1 (fifo)`, `2`, `4`, `all (rr)`.
    pub widths: Vec<String>,
    /// The networks.
    pub lines: Vec<InterleavingLine>,
}

/// One network.
#[derive(Debug, Clone, Default)]
pub struct InterleavingLine {
    /// The network.
    pub label: String,
    /// For each width, how many times lower the index is than with the first width: above 1 is better.
    pub ratios: Vec<Option<f64>>,
}

const WIDTH: f64 = 900.0;
const LEFT: f64 = 76.0;
/// The width of the legend at the right; in print it is below.
const LEGEND_WIDTH: f64 = 300.0;
const TOP: f64 = 44.0;
const PLOT_HEIGHT: f64 = 250.0;

impl InterleavingLine {
    /// The place of the best width.
    pub fn best(&self) -> Option<usize> {
        let known = self.ratios.iter().enumerate().filter_map(|(place, it)| Some((place, (*it)?)));
        // Of equals the narrowest.
        known
            .reduce(|best, other| if other.1 > best.1 { other } else { best })
            .map(|(place, _)| place)
    }
}

impl Drawing for Interleaving {
    fn title(&self) -> &str {
        &self.title
    }

    fn draw(&self, sheet: &Sheet) -> String {
        let ratios = self.lines.iter().flat_map(|line| line.ratios.iter().copied().flatten());
        let axis = RatioAxis::new(ratios, TOP + PLOT_HEIGHT, TOP);
        let mut svg = Svg::titled(sheet, &self.title);
        let right = sheet.either(WIDTH - LEGEND_WIDTH, sheet.width() - MARGIN);
        axis.draw(&mut svg, LEFT, right, "speedup over one at a time");
        for (place, width) in self.widths.iter().enumerate() {
            svg.text(self.x(place, right), axis.bottom() + 18.0, SMALL.middle(), width);
        }
        let middle = f64::midpoint(LEFT, right);
        let words = "resources that share the link";
        svg.text(middle, axis.bottom() + 38.0, SMALL.middle().muted(), words);
        let below = axis.bottom() + 52.0;
        let legend = sheet.either((right + 24.0, TOP), (LEFT, below));
        for place in 0..self.lines.len() {
            self.draw_line(&mut svg, &axis, right, place);
            let top = legend.1 + place as f64 * 20.0;
            self.draw_legend_line(&mut svg, legend.0, top, place);
        }
        let legend = legend.1 + 20.0 * self.lines.len() as f64 + sheet.either(MARGIN, 0.0);
        svg.finish(sheet.or_paper(WIDTH), below.max(legend), &self.title)
    }

    fn caption(&self) -> String {
        let what = &self.what;
        format!(
            "Mean over pages of the {what} of sequential sending (1) divided by the {what} of the width: above ×1, interleaving is better. The ring marks each network's best width."
        )
    }

    fn table(&self) -> Table {
        let headings = row("network", self.widths.iter().cloned().chain(["best".to_owned()]));
        let rows = self.lines.iter().map(|line| {
            let ratios = line.ratios.iter().map(|it| or_dash(it.map(ratio_number)));
            row(&line.label, ratios.chain([self.best_text(line)]))
        });
        let caption = format!("Speedup over sending one resource at a time, by {}", self.what);
        Table::new(caption, headings, rows)
    }
}

impl Interleaving {
    fn best_text(&self, line: &InterleavingLine) -> String {
        or_dash(line.best().and_then(|place| self.widths.get(place)).cloned())
    }

    fn x(&self, place: usize, right: f64) -> f64 {
        let steps = self.widths.len().max(2) - 1;
        LEFT + 20.0 + place as f64 / steps as f64 * (right - LEFT - 40.0)
    }

    fn draw_line(&self, svg: &mut Svg, axis: &RatioAxis, right: f64, place: usize) {
        let line = &self.lines[place];
        let stroke = svg.sheet.line_stroke(place);
        let known = line.ratios.iter().enumerate().filter_map(|(width, it)| Some((width, (*it)?)));
        let points = known.map(|(width, ratio)| (self.x(width, right), axis.place(ratio)));
        svg.path(&polyline(points), &stroke, &line.label);
        let best = line.best().and_then(|width| Some((width, line.ratios[width]?)));
        if let Some((width, ratio)) = best {
            let ring = circle(self.x(width, right), axis.place(ratio), 5.5);
            svg.path(&ring, &stroke, &format!("{}: best", line.label));
        }
    }

    fn draw_legend_line(&self, svg: &mut Svg, left: f64, top: f64, place: usize) {
        let line = &self.lines[place];
        let stroke = svg.sheet.line_stroke(place);
        svg.path(&d!("M{left} {}h30", top + 4.0), &stroke, "");
        svg.text(left + 38.0, top + 8.0, Style::PLAIN.bold(), &shorten(&line.label, 20));
        let best = format!("best: {}", self.best_text(line));
        let right = svg.sheet.or_paper(WIDTH);
        svg.text(right - MARGIN, top + 8.0, SMALL.end(), &best);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_width_is_where_the_speedup_is_highest() {
        let line = |ratios: [Option<f64>; 3]| InterleavingLine {
            label: "lossy".to_owned(),
            ratios: ratios.into(),
        };
        assert_eq!(line([Some(1.0), Some(1.2), Some(0.8)]).best(), Some(1));
        assert_eq!(line([Some(1.0), Some(1.0), None]).best(), Some(0));
        assert_eq!(line([None; 3]).best(), None);
        let figure = Interleaving {
            title: "t".to_owned(),
            what: "ByteIndex".to_owned(),
            widths: ["1 (fifo)", "4", "all (rr)"].map(str::to_owned).into(),
            lines: vec![line([Some(1.0), Some(1.2), Some(0.8)])],
        };
        assert_eq!(figure.table().rows, [["lossy", "1.00", "1.20", "0.80", "4"]]);
        assert!(figure.svg().contains("best: 4"));
    }
}
