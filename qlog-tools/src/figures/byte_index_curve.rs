//! Progress over time: the share of bytes in fully downloaded resources (the paper's Figure 11).
//! The area above a curve is its `ByteIndex`.

use std::convert::identity;
use std::fmt::Write as _;

use super::axis::{Across, Axis};
use super::palette::line_stroke;
use super::svg::{GRID, MARGIN, SMALL, Style, Svg, WIDTH, number, shorten};
use super::{Table, milliseconds_text, or_dash};
use crate::metrics::CurvePoint;

/// A figure with one curve a run.
#[derive(Debug, Clone, Default)]
pub struct Curves {
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// The title of the vertical axis, such as `ATF bytes complete`.
    pub what: String,
    /// The runs.
    pub curves: Vec<Curve>,
}

/// One run.
#[derive(Debug, Clone, Default)]
pub struct Curve {
    /// Usually the scheme.
    pub label: String,
    /// The area above; `None` when there is no index.
    pub index_ms: Option<f64>,
    /// A staircase, as [`crate::metrics::completed_share`] makes it.
    pub points: Vec<CurvePoint>,
}

const LEFT: f64 = 74.0;
const RIGHT: f64 = 840.0;
const TOP: f64 = 42.0;
const PLOT_HEIGHT: f64 = 270.0;
const LEGEND_LINE: f64 = 21.0;

impl Curves {
    /// The figure. The legend is sorted by index, the best first.
    pub fn svg(&self) -> String {
        let times = self.curves.iter().flat_map(|curve| &curve.points).map(|point| point.time_ms);
        let end_ms = times.fold(0.0, f64::max);
        let mut svg = Svg::titled(&self.title);
        self.draw_axes(&mut svg, end_ms);
        let ranking = self.ranking();
        for &place in ranking.iter().rev() {
            self.draw_curve(&mut svg, place, end_ms);
        }
        svg.text(RIGHT + 66.0, TOP + 2.0, Style::PLAIN.size(10.5).muted(), "ByteIndex, best first");
        for (line, &place) in ranking.iter().enumerate() {
            self.draw_legend_line(&mut svg, TOP + 14.0 + line as f64 * LEGEND_LINE, place);
        }
        let legend = TOP + 14.0 + self.curves.len() as f64 * LEGEND_LINE;
        svg.finish(WIDTH, (TOP + PLOT_HEIGHT + 48.0).max(legend + MARGIN), &self.title)
    }

    /// When each run had a quarter, half, three quarters, nine tenths and all of the bytes.
    pub fn table(&self) -> Table {
        const SHARES: [f64; 5] = [0.25, 0.5, 0.75, 0.9, 1.0];
        let mut headings = vec!["run".to_owned(), "ByteIndex (ms)".to_owned()];
        headings.extend(SHARES.iter().map(|share| format!("{:.0}\u{202f}% (ms)", share * 100.0)));
        let rows = self.ranking().into_iter().map(|place| {
            let curve = &self.curves[place];
            let mut cells = vec![curve.label.clone(), text(curve.index_ms)];
            cells.extend(SHARES.iter().map(|&share| {
                // The last share is a sum of fractions and may miss 1 by rounding.
                text(
                    curve
                        .points
                        .iter()
                        .find(|point| point.share >= share - 1e-9)
                        .map(|point| point.time_ms),
                )
            }));
            cells
        });
        Table {
            caption: format!("{}: when each share was reached", self.what),
            rows: rows.collect(),
            headings,
        }
    }

    /// The curves by index; those without one last.
    fn ranking(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.curves.len()).collect();
        let index = |place: usize| self.curves[place].index_ms.unwrap_or(f64::INFINITY);
        places.sort_by(|&one, &other| index(one).total_cmp(&index(other)));
        places
    }

    fn draw_axes(&self, svg: &mut Svg, end_ms: f64) {
        let bottom = TOP + PLOT_HEIGHT;
        for quarter in 0..=4 {
            let y = bottom - PLOT_HEIGHT * f64::from(quarter) / 4.0;
            svg.path(&format!("M{LEFT} {}H{RIGHT}", number(y)), GRID, "");
            let label = format!("{}\u{202f}%", quarter * 25);
            svg.text(LEFT - 8.0, y + 4.0, SMALL.end(), &label);
        }
        let tick = |x: &str| Some(format!("M{x} {bottom}v5"));
        across(end_ms).draw(svg, [bottom + 18.0, bottom + 36.0], tick);
        let middle = TOP + PLOT_HEIGHT / 2.0;
        svg.raw(&format!(r#"<g transform="rotate(-90 22 {middle})">"#));
        svg.text(22.0, middle, SMALL.middle().muted(), &format!("share of {}", self.what));
        svg.raw("</g>");
    }

    fn draw_curve(&self, svg: &mut Svg, place: usize, end_ms: f64) {
        let curve = &self.curves[place];
        let Some(first) = curve.points.first() else { return };
        let across = across(end_ms);
        let y = |share: f64| number(TOP + PLOT_HEIGHT * (1.0 - share));
        let mut d = format!("M{} {}", number(across.x(first.time_ms)), y(first.share));
        for point in &curve.points[1..] {
            let _ = write!(d, "H{}V{}", number(across.x(point.time_ms)), y(point.share));
        }
        let _ = write!(d, "H{RIGHT}");
        let title = format!("{}: ByteIndex {} ms", curve.label, text(curve.index_ms));
        svg.path(&d, &line_stroke(place), &title);
    }

    fn draw_legend_line(&self, svg: &mut Svg, top: f64, place: usize) {
        let curve = &self.curves[place];
        let left = RIGHT + 22.0;
        svg.path(&format!("M{left} {}h36", number(top + 7.0)), &line_stroke(place), "");
        svg.text(left + 44.0, top + 11.0, Style::PLAIN.bold(), &shorten(&curve.label, 26));
        let index = curve.index_ms.map_or_else(
            || "no index".to_owned(),
            |index| format!("{} ms", milliseconds_text(index)),
        );
        svg.text(WIDTH - MARGIN, top + 11.0, Style::PLAIN.end(), &index);
    }
}

fn across(end_ms: f64) -> Across {
    Across { axis: Axis::Time, left: LEFT, right: RIGHT, end: end_ms, words: identity }
}

fn text(value: Option<f64>) -> String {
    or_dash(value.map(milliseconds_text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(label: &str, index_ms: Option<f64>, points: &[(f64, f64)]) -> Curve {
        let points = points.iter().map(|&(time_ms, share)| CurvePoint { time_ms, share }).collect();
        Curve { label: label.to_owned(), index_ms, points }
    }

    fn figure() -> Curves {
        Curves {
            title: "t".to_owned(),
            what: "ATF bytes complete".to_owned(),
            curves: vec![
                curve("<rr>", Some(200.0), &[(0.0, 0.0), (200.0, 1.0)]),
                curve("bucket", Some(100.0), &[(0.0, 0.0), (50.0, 0.5), (150.0, 1.0)]),
                curve("broken", None, &[(0.0, 0.0), (60.0, 0.5)]),
                curve("empty", None, &[]),
            ],
        }
    }

    #[test]
    fn the_curve_is_a_staircase() {
        // 200 ms over 766 pixels, 100 % over 270.
        assert!(figure().svg().contains("M74 312H265.5V177H648.5V42H840"), "{}", figure().svg());
    }

    #[test]
    fn labels_are_escaped_and_ranked() {
        let svg = figure().svg();
        assert!(!svg.contains("<rr>"));
        assert!(svg.find(">bucket</text>").unwrap() < svg.find(">&lt;rr&gt;</text>").unwrap());
    }

    #[test]
    fn the_table_says_when_each_share_was_reached() {
        let rows: Vec<String> = figure().table().rows.iter().map(|row| row.join(" ")).collect();
        assert_eq!(
            rows,
            [
                "bucket 100 50 50 150 150 150",
                "<rr> 200 200 200 200 200 200",
                "broken – 60 60 – – –",
                "empty – – – – – –"
            ]
        );
    }
}
