//! A heat map: schemes down, networks across, a ratio in each cell as a number and as a colour.

use super::sheet::{Drawing, Sheet};
use super::standing::{Standing, caption};
use super::svg::{Area, MARGIN, SMALL, Style, Svg, star};
use super::table::{Table, row};
use super::text_lines::name_lines;
use crate::number_texts::{or_dash, ratio_number, ratio_text};
use qlog_tools::saturating_cast::{to_u64, to_usize};
use qlog_tools::short_texts::shorten;

/// The figure.
#[derive(Debug, Clone, Default)]
pub struct HeatMap {
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// The quantity in a cell: `mean speedup over rr, above the fold`.
    pub what: String,
    /// Down: usually schemes.
    pub rows: Vec<HeatRow>,
    /// Across: usually networks.
    pub columns: Vec<String>,
    /// The ratios are exact, and the highest of a column is the best.
    pub is_exact: bool,
}

/// One row.
#[derive(Debug, Clone, Default)]
pub struct HeatRow {
    /// The scheme.
    pub label: String,
    /// One ratio for each column. Above 1 is better, below 1 worse than the baseline.
    pub ratios: Vec<Option<f64>>,
    /// For each column, whether the cell is the best or may be.
    pub standings: Vec<Standing>,
    /// A limit that no scheme can reach, drawn separately.
    pub is_bound: bool,
}

/// The height of a row on a screen, and in print.
const ROWS: [f64; 2] = [25.0, 19.0];
const LABEL: f64 = 150.0;
const TOP: f64 = 70.0;
/// The distance between lines of a heading.
const LINE: f64 = 13.0;
/// The width of a bold letter.
const LETTER: f64 = 7.5;
/// The minimum width of a cell in print, alone and among many; and the height of a row of many.
const CELL_MIN: f64 = 56.0;
const CELL_OF_MANY: f64 = 44.0;
const ROW_OF_MANY: f64 = 15.0;
/// With more blocks of columns than this, a figure in print has many cells.
const BLOCKS_MAX: usize = 2;
/// The ratio with the fullest colour: four times faster or slower.
const FULL: f64 = 4.0;

impl Drawing for HeatMap {
    fn title(&self) -> &str {
        &self.title
    }

    fn draw(&self, sheet: &Sheet) -> String {
        let layout = Layout::of(self, sheet);
        let mut svg = Svg::on(sheet);
        svg.head(&[&self.title, &self.what], TOP - 6.0 - LINE);
        let mut top = TOP;
        for first in (0..self.columns.len().max(1)).step_by(layout.columns) {
            top = self.draw_block(&mut svg, &layout, first, top) + TOP - LINE * 2.0;
        }
        let legend = top - TOP + LINE * 2.0 + 14.0;
        draw_legend(&mut svg, &layout, legend);
        let stars = self.draw_stars(&mut svg, &layout, legend + 34.0);
        svg.finish(layout.width, stars, &self.title)
    }

    fn caption(&self) -> String {
        let bound = if self.rows.iter().any(|row| row.is_bound) {
            " The row in brackets is what the lower bound would reach: a limit, not a scheme."
        } else {
            ""
        };
        let standings = self.rows.iter().flat_map(|it| it.standings.iter().copied());
        let stars = if self.is_exact {
            " A star marks the highest of a column; the loads are exact and have no interval."
                .to_owned()
        } else {
            caption(standings, "column")
        };
        let whichever = if stars.is_empty() || self.is_exact {
            ""
        } else {
            " Stars are the same whatever the baseline."
        };
        format!("{}.{stars}{whichever}{bound}", self.what)
    }

    fn table(&self) -> Table {
        let headings = row("scheme", self.columns.iter().cloned());
        let rows = self.rows.iter();
        let rows =
            rows.map(|of| row(&of.label, of.ratios.iter().map(|it| or_dash(it.map(ratio_number)))));
        Table::new(&self.what, headings, rows)
    }
}

impl HeatMap {
    /// Marks the best of each column: `of_column` ranks its values. Bounds are not among the values.
    #[must_use]
    pub fn marked(mut self, of_column: impl Fn(usize, &[Option<f64>]) -> Vec<Standing>) -> Self {
        for column in 0..self.columns.len() {
            let values = self.rows.iter().map(|row| {
                let ratio = row.ratios.get(column).copied().flatten();
                ratio.filter(|_| !row.is_bound)
            });
            let values: Vec<Option<f64>> = values.collect();
            for (row, standing) in self.rows.iter_mut().zip(of_column(column, &values)) {
                row.standings.push(standing);
            }
        }
        self
    }

    /// Draws the meaning of the stars, if there are any, and returns the legend's end.
    fn draw_stars(&self, svg: &mut Svg, layout: &Layout, top: f64) -> f64 {
        let mut words =
            vec![(Standing::Best, "best of its column"), (Standing::Tied, "may be the best")];
        words.retain(|(standing, _)| self.rows.iter().any(|it| it.standings.contains(standing)));
        let end = if words.is_empty() { top } else { top + 12.0 };
        let mut left = svg.sheet.either(layout.label, 8.0);
        for (standing, words) in words {
            if let Some((paint, _)) = star_of(standing, "#1a1a1a") {
                svg.path(&star(left + 6.0, top - 4.0), &paint, "");
            }
            svg.text(left + 16.0, top, SMALL.muted(), words);
            left += 24.0 + words.chars().count() as f64 * 6.4;
        }
        end
    }

    /// Draws the columns from `first` on, as many as fit side by side, and returns the block's end.
    fn draw_block(&self, svg: &mut Svg, layout: &Layout, first: usize, top: f64) -> f64 {
        let columns = self.columns.len().min(first + layout.columns);
        let letters = to_usize(layout.cell / LETTER);
        let shown = self.columns[first.min(columns)..columns].iter();
        let headings: Vec<Vec<String>> = shown.map(|it| name_lines(it, letters)).collect();
        let most_lines = headings.iter().map(Vec::len).max().unwrap_or(1);
        let table_top = top + (most_lines - 1) as f64 * LINE;
        for (column, heading) in headings.iter().enumerate() {
            let x = layout.label + (column as f64 + 0.5) * layout.cell;
            for (place, line) in heading.iter().rev().enumerate() {
                let y = table_top - 6.0 - place as f64 * LINE;
                svg.text(x, y, SMALL.middle().bold(), &shorten(line, 14));
            }
        }
        for (place, row) in self.rows.iter().enumerate() {
            let top = table_top + place as f64 * layout.row;
            let label = shorten(&row.label, 20);
            svg.text(layout.label - 10.0, top + layout.row * 0.68, Style::PLAIN.end(), &label);
            for column in first..columns.min(row.ratios.len()) {
                let left = layout.label + (column - first) as f64 * layout.cell;
                let area = Area { left, top, width: layout.cell, height: layout.row };
                let standing = row.standings.get(column).copied().unwrap_or_default();
                draw_cell(svg, area, row.ratios[column], standing, row.is_bound);
            }
        }
        table_top + self.rows.len() as f64 * layout.row
    }
}

struct Layout {
    width: f64,
    label: f64,
    cell: f64,
    row: f64,
    /// Columns side by side; more go below.
    columns: usize,
}

impl Layout {
    fn of(figure: &HeatMap, sheet: &Sheet) -> Self {
        let columns = figure.columns.len().max(1);
        let row = sheet.either(ROWS[0], ROWS[1]);
        if !sheet.is_paper() {
            let cell = (1000.0 / columns as f64).clamp(64.0, 110.0);
            let width = (LABEL + cell * columns as f64 + 2.0 * MARGIN).max(LABEL + 540.0);
            return Self { width, label: LABEL, cell, row, columns };
        }
        let longest = figure.rows.iter().map(|it| it.label.chars().count().min(20)).max();
        let label = (longest.unwrap_or_default() as f64 * 7.0 + 14.0).clamp(64.0, LABEL);
        let room = sheet.width() - label - 4.0;
        let mut beside = to_usize(room / CELL_MIN).clamp(1, columns);
        let are_many = columns.div_ceil(beside) > BLOCKS_MAX;
        if are_many {
            beside = to_usize(room / CELL_OF_MANY).clamp(1, columns);
        }
        let row = if are_many { ROW_OF_MANY } else { row };
        // Blocks of about the same number of columns.
        let beside = columns.div_ceil(columns.div_ceil(beside));
        let cell = (room / beside as f64).min(90.0);
        Self { width: sheet.width(), label, cell, row, columns: beside }
    }
}

fn draw_cell(svg: &mut Svg, area: Area, ratio: Option<f64>, standing: Standing, is_bound: bool) {
    let inner = Area { width: area.width - 2.0, height: area.height - 2.0, ..area };
    let fill = ratio.map_or_else(|| "#e4e4e4".to_owned(), colour);
    svg.rect(inner, &format!(r#"fill="{fill}""#));
    let weight = if standing == Standing::Best { r#" font-weight="700""# } else { "" };
    let ink = if ratio.is_some_and(|it| strength(it) > 0.62) { "#ffffff" } else { "#1a1a1a" };
    let text = if is_bound { format!("[{}]", ratio_text(ratio)) } else { ratio_text(ratio) };
    let (x, y) = (area.left + area.width / 2.0 - 1.0, area.top + area.height / 2.0 + 3.5);
    // In a narrow cell, the number moves aside.
    let aside = match area.width {
        _ if !svg.sheet.is_paper() => 0.0,
        ..CELL_MIN => 6.5,
        CELL_MIN..70.0 => 5.0,
        _ => 0.0,
    };
    if let Some((paint, title)) = star_of(standing, ink) {
        svg.path(&star((x - 30.0 + aside * 1.6).max(area.left + 5.5), y - 4.0), &paint, title);
    }
    // The cell and its text have their own colours in light and dark mode.
    svg.raw(&format!(
        r#"<text x="{:.1}" y="{y:.1}" font-size="11.5" text-anchor="middle" fill="{ink}"{weight}>{text}</text>"#,
        x + aside
    ));
}

/// How to paint a star in a cell with this ink, and its meaning.
fn star_of(standing: Standing, ink: &str) -> Option<(String, &'static str)> {
    match standing {
        Standing::Best => Some((format!(r#"fill="{ink}""#), "the best of its column")),
        Standing::Tied => {
            let paint = format!(r#"fill="none" stroke="{ink}" stroke-width="0.8""#);
            Some((paint, "may be the best of its column"))
        }
        Standing::Behind | Standing::Unknown => None,
    }
}

fn draw_legend(svg: &mut Svg, layout: &Layout, top: f64) {
    const SHOWN: [f64; 7] = [0.25, 0.5, 0.75, 1.0, 4.0 / 3.0, 2.0, 4.0];
    let (step, cell) = svg.sheet.either((1, 52.0), (2, CELL_MIN));
    let shown: Vec<f64> = SHOWN.into_iter().step_by(step).collect();
    let label = layout.label.min(layout.width - shown.len() as f64 * cell - 52.0);
    for (place, ratio) in shown.iter().enumerate() {
        let area = Area { left: label + place as f64 * cell, top, width: cell, height: 20.0 };
        draw_cell(svg, area, Some(*ratio), Standing::Unknown, false);
    }
    svg.text(label - 10.0, top + 14.0, SMALL.end().muted(), "slower");
    let words = svg.sheet.either("faster than the baseline", "faster");
    let end = label + shown.len() as f64 * cell + 10.0;
    svg.text(end, top + 14.0, SMALL.muted(), words);
}

/// From vermilion through white to blue, which colour-blind readers can distinguish.
fn colour(ratio: f64) -> String {
    const SLOW: [f64; 3] = [213.0, 94.0, 0.0];
    const FAST: [f64; 3] = [0.0, 90.0, 160.0];
    let strength = strength(ratio);
    let end = if ratio < 1.0 { SLOW } else { FAST };
    let [red, green, blue] = end.map(|it| to_u64((255.0 + (it - 255.0) * strength).round()));
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn strength(ratio: f64) -> f64 {
    (ratio.max(1e-9).ln().abs() / FULL.ln()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure() -> HeatMap {
        use Standing::{Behind, Best, Tied, Unknown};
        let row = |label: &str, ratios: [Option<f64>; 2], standings: [Standing; 2]| HeatRow {
            label: label.to_owned(),
            ratios: ratios.into(),
            standings: standings.into(),
            is_bound: standings == [Unknown; 2],
        };
        HeatMap {
            title: "t".to_owned(),
            what: "w".to_owned(),
            is_exact: false,
            columns: vec!["paper".to_owned(), "3g".to_owned()],
            rows: vec![
                row("fifo<", [Some(0.5), Some(1.0)], [Behind, Tied]),
                row("dfifo", [Some(2.0), Some(1.01)], [Best, Tied]),
                row("kway:4", [None, None], [Behind, Unknown]),
                row("lower bound", [Some(9.0), Some(9.0)], [Unknown; 2]),
            ],
        }
    }

    #[test]
    fn a_winner_has_a_full_star_and_cells_that_cannot_be_told_apart_hollow_ones() {
        let svg = figure().svg();
        assert_eq!(svg.matches("<title>the best of its column").count(), 1, "{svg}");
        assert_eq!(svg.matches("<title>may be the best of its column").count(), 2);
        assert!(svg.contains(r#"font-weight="700">×2.00"#));
        assert!(!svg.contains(r#"font-weight="700">×1.0"#));
        assert!(
            figure().caption().contains("may be the best: the one with the best geometric mean")
        );
        assert!(svg.contains(">may be the best<"));
        assert!(svg.contains(">[×9.00]"));
        assert!(svg.contains("fifo&lt;"));
    }

    #[test]
    fn a_long_heading_takes_several_lines() {
        let mut figure = figure();
        let height = |svg: &str| svg.split("height=\"").nth(1).map(|it| it[..3].to_owned());
        let one_line = height(&figure.svg());
        figure.columns[1] = "cable 0 B cubic queue 64k".to_owned();
        assert_eq!(
            (one_line.as_deref(), height(&figure.svg()).as_deref()),
            (Some("230"), Some("256"))
        );
    }

    #[test]
    fn colours_go_from_vermilion_over_white_to_blue() {
        assert_eq!(
            [0.25, 1.0, 4.0, 100.0].map(colour),
            ["#d55e00", "#ffffff", "#005aa0", "#005aa0"]
        );
    }

    #[test]
    fn the_table_has_what_the_figure_shows() {
        assert_eq!(figure().table().rows[0].join(" "), "fifo< 0.50 1.00");
        assert_eq!(figure().table().rows[1].join(" "), "dfifo 2.00 1.01");
    }
}
