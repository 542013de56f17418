//! Progress over time: the share of bytes in fully downloaded resources (the paper's Figure 11).
//! The area above a curve is its `ByteIndex`.

use super::REGRET;
use super::axis::{Across, Axis};
use super::sheet::{Drawing, Sheet};
use super::svg::{GRID, MARGIN, SMALL, Style, Svg, d};
use super::table::{Table, row};
use crate::number_texts::{milliseconds_or_dash, milliseconds_text};
use qlog_tools::metrics::CurvePoint;
use qlog_tools::saturating_cast::to_usize;
use qlog_tools::short_texts::shorten;

/// A figure with one curve for each run.
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
    /// The area above the curve; `None` if there is no index.
    pub index_ms: Option<f64>,
    /// A staircase, as [`qlog_tools::metrics::completed_share`] makes it.
    pub points: Vec<CurvePoint>,
}

const LEFT: f64 = 74.0;
/// The width of the legend at the right; in print it is below.
const LEGEND_WIDTH: f64 = 340.0;
const TOP: f64 = 42.0;
/// On a screen, and in print.
const PLOT_HEIGHTS: [f64; 2] = [270.0, 170.0];
/// The minimum width of a legend line in print.
const LEGEND_MIN: f64 = 280.0;
/// The distance between legend lines on a screen, and in print.
const LEGEND_LINES: [f64; 2] = [21.0, 15.0];

impl Drawing for Curves {
    fn title(&self) -> &str {
        &self.title
    }

    /// Draws the figure. The legend is sorted by index, the best first.
    fn draw(&self, sheet: &Sheet) -> String {
        let times = self.curves.iter().flat_map(|curve| &curve.points).map(|point| point.time_ms);
        let height = sheet.either(PLOT_HEIGHTS[0], PLOT_HEIGHTS[1]);
        let right = sheet.width() - sheet.either(LEGEND_WIDTH, MARGIN);
        let across = Across::new(Axis::Time, LEFT, right, times.fold(0.0, f64::max));
        let mut svg = Svg::titled(sheet, &self.title);
        self.draw_axes(&mut svg, &across, height);
        let ranking = self.ranking();
        for &place in ranking.iter().rev() {
            self.draw_curve(&mut svg, place, &across, height);
        }
        let bottom = TOP + height;
        let top = sheet.either(TOP, bottom + 62.0);
        let left = sheet.either(right + 22.0, LEFT);
        svg.text(left + 44.0, top + 2.0, Style::PLAIN.size(10.5).muted(), "ByteIndex, best first");
        let beside = to_usize((sheet.width() - LEFT) / LEGEND_MIN).max(1);
        let beside = sheet.either(1, beside);
        let width = (sheet.width() - MARGIN - left) / beside as f64;
        let lines = ranking.len().div_ceil(beside);
        let line = sheet.either(LEGEND_LINES[0], LEGEND_LINES[1]);
        for (entry, &place) in ranking.iter().enumerate() {
            let left = left + (entry / lines) as f64 * width;
            let top = top + 14.0 + (entry % lines) as f64 * line;
            let gap = if beside > 1 { 20.0 } else { 0.0 };
            self.draw_legend_line(&mut svg, left, left + width - gap, top, place);
        }
        let legend = top + 14.0 + lines as f64 * line;
        let height = (bottom + 48.0).max(legend + sheet.either(MARGIN, 0.0));
        svg.finish(sheet.width(), height, &self.title)
    }

    fn caption(&self) -> String {
        let has_regret = self.curves.iter().any(|it| it.label.contains("(regret "));
        let regret = if has_regret { REGRET } else { "" };
        format!(
            "The area above a curve is its ByteIndex. A step is the completion of a resource.{regret}"
        )
    }

    /// When each run had a quarter, half, three quarters, nine tenths and all of the bytes.
    fn table(&self) -> Table {
        const SHARES: [f64; 5] = [0.25, 0.5, 0.75, 0.9, 1.0];
        let shares = SHARES.map(|share| format!("{:.0}\u{202f}% (ms)", share * 100.0));
        let headings = ["run", "ByteIndex (ms)"].map(str::to_owned).into_iter().chain(shares);
        let rows = self.ranking().into_iter().map(|place| {
            let curve = &self.curves[place];
            let times = SHARES.map(|share| {
                // The last share is a sum of fractions and may miss 1 by rounding.
                let reached = curve.points.iter().find(|point| point.share >= share - 1e-9);
                reached.map(|point| point.time_ms)
            });
            let cells = std::iter::once(curve.index_ms).chain(times).map(milliseconds_or_dash);
            row(&curve.label, cells)
        });
        Table::new(format!("{}: when each share was reached", self.what), headings, rows)
    }
}

impl Curves {
    /// The curves by index; curves without one last.
    fn ranking(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.curves.len()).collect();
        places.sort_by(|&one, &other| {
            let [one, other] =
                [one, other].map(|it| self.curves[it].index_ms.unwrap_or(f64::INFINITY));
            one.total_cmp(&other)
        });
        places
    }

    fn draw_axes(&self, svg: &mut Svg, across: &Across, height: f64) {
        let (right, bottom) = (across.right, TOP + height);
        for quarter in 0..=4 {
            let y = bottom - height * f64::from(quarter) / 4.0;
            svg.path(&d!("M{LEFT} {}H{right}", y), GRID, "");
            let label = format!("{}\u{202f}%", quarter * 25);
            svg.text(LEFT - 8.0, y + 4.0, SMALL.end(), &label);
        }
        let lines = [bottom + 18.0, bottom + 36.0];
        across.draw(svg, lines, |x| Some(format!("M{x} {bottom}v5")));
        svg.upright(22.0, TOP + height / 2.0, &format!("share of {}", self.what));
    }

    fn draw_curve(&self, svg: &mut Svg, place: usize, across: &Across, height: f64) {
        let curve = &self.curves[place];
        let Some(first) = curve.points.first() else { return };
        let y = |share: f64| TOP + height * (1.0 - share);
        let mut d = d!("M{} {}", across.x(first.time_ms), y(first.share));
        for point in &curve.points[1..] {
            d.push_str(&d!("H{}V{}", across.x(point.time_ms), y(point.share)));
        }
        d.push_str(&d!("H{}", across.right));
        let index = milliseconds_or_dash(curve.index_ms);
        let title = format!("{}: ByteIndex {index} ms", curve.label);
        svg.path(&d, &svg.sheet.line_stroke(place), &title);
    }

    fn draw_legend_line(&self, svg: &mut Svg, left: f64, right: f64, top: f64, place: usize) {
        let curve = &self.curves[place];
        let stroke = svg.sheet.line_stroke(place);
        svg.path(&d!("M{} {}h36", left, top + 7.0), &stroke, "");
        let style = Style::PLAIN.bold().for_names(&svg.sheet);
        svg.text(left + 44.0, top + 11.0, style, &shorten(&curve.label, 26));
        let index = curve.index_ms.map(|it| format!("{} ms", milliseconds_text(it)));
        let style = Style::PLAIN.end().for_names(&svg.sheet);
        svg.text(right, top + 11.0, style, index.as_deref().unwrap_or("no index"));
    }
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
