//! A heat map: schemes down, networks across, a ratio in each cell as a number and as a colour.

use std::fmt::Write as _;

use super::svg::{Area, MARGIN, SMALL, Style, Svg, number, shorten};
use super::{Table, ratio_text};

/// The figure.
#[derive(Debug, Clone, Default)]
pub struct HeatMap {
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// What a cell holds: `mean speedup over rr, above the fold`.
    pub what: String,
    /// Down: usually schemes.
    pub rows: Vec<HeatRow>,
    /// Across: usually networks.
    pub columns: Vec<String>,
}

/// One row.
#[derive(Debug, Clone, Default)]
pub struct HeatRow {
    /// The scheme.
    pub label: String,
    /// As many as there are columns. Above 1 is better, below 1 worse than the baseline.
    pub ratios: Vec<Option<f64>>,
    /// A limit that no scheme can reach, drawn apart and never the best of a column.
    pub is_bound: bool,
}

const ROW: f64 = 25.0;
const LABEL: f64 = 150.0;
const TOP: f64 = 70.0;
/// From one line of a heading to the next.
const LINE: f64 = 13.0;
/// The width of a bold letter.
const LETTER: f64 = 7.5;
/// The ratio with the fullest colour: four times faster or slower.
const FULL: f64 = 4.0;

impl HeatMap {
    /// The figure.
    pub fn svg(&self) -> String {
        let cell = self.cell_width();
        let width = (LABEL + cell * self.columns.len() as f64 + 2.0 * MARGIN).max(LABEL + 540.0);
        let mut svg = Svg::titled(&self.title);
        svg.text(MARGIN, 40.0, SMALL.muted(), &self.what);
        let headings: Vec<Vec<String>> = self.columns.iter().map(|it| lines(it, cell)).collect();
        let most_lines = headings.iter().map(Vec::len).max().unwrap_or(1);
        let table_top = TOP + (most_lines - 1) as f64 * LINE;
        for (column, heading) in headings.iter().enumerate() {
            let x = LABEL + (column as f64 + 0.5) * cell;
            for (place, line) in heading.iter().rev().enumerate() {
                let y = table_top - 6.0 - place as f64 * LINE;
                svg.text(x, y, SMALL.middle().bold(), &shorten(line, 14));
            }
        }
        let best: Vec<Option<f64>> = (0..self.columns.len()).map(|it| self.best(it)).collect();
        for (place, row) in self.rows.iter().enumerate() {
            let top = table_top + place as f64 * ROW;
            svg.text(LABEL - 10.0, top + 17.0, Style::PLAIN.end(), &shorten(&row.label, 20));
            for (column, ratio) in row.ratios.iter().enumerate().take(self.columns.len()) {
                let is_best = !row.is_bound && ratio.is_some() && *ratio == best[column];
                let area =
                    Area { left: LABEL + column as f64 * cell, top, width: cell, height: ROW };
                draw_cell(&mut svg, area, *ratio, is_best, row.is_bound);
            }
        }
        let legend = table_top + self.rows.len() as f64 * ROW + 14.0;
        draw_legend(&mut svg, legend);
        svg.finish(width, legend + 34.0, &self.title)
    }

    /// The words below the figure.
    pub fn caption(&self) -> String {
        let bound = if self.rows.iter().any(|row| row.is_bound) {
            " The row in brackets is what the lower bound would reach: a limit, not a scheme."
        } else {
            ""
        };
        format!("{}. A star marks the best of a column.{bound}", self.what)
    }

    /// The figure's numbers.
    pub fn table(&self) -> Table {
        let mut headings = vec!["scheme".to_owned()];
        headings.extend(self.columns.iter().cloned());
        let rows = self.rows.iter().map(|row| {
            let mut cells = vec![row.label.clone()];
            cells.extend(row.ratios.iter().map(|it| ratio_text(*it)));
            cells
        });
        Table { caption: self.what.clone(), rows: rows.collect(), headings }
    }

    fn cell_width(&self) -> f64 {
        (1000.0 / self.columns.len().max(1) as f64).clamp(64.0, 110.0)
    }

    fn best(&self, column: usize) -> Option<f64> {
        let schemes = self.rows.iter().filter(|row| !row.is_bound);
        schemes.filter_map(|row| row.ratios.get(column).copied().flatten()).reduce(f64::max)
    }
}

/// A heading on as many lines as it takes in a column of this width; a word is not divided.
fn lines(heading: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in heading.split(' ') {
        match lines.last_mut() {
            Some(line)
                if (line.chars().count() + 1 + word.chars().count()) as f64 * LETTER <= width =>
            {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn draw_cell(svg: &mut Svg, area: Area, ratio: Option<f64>, is_best: bool, is_bound: bool) {
    let inner = Area { width: area.width - 2.0, height: area.height - 2.0, ..area };
    let fill = ratio.map_or_else(|| "#e4e4e4".to_owned(), colour);
    svg.rect(inner, &format!(r#"fill="{fill}""#));
    let weight = if is_best { r#" font-weight="700""# } else { "" };
    let ink = if ratio.is_some_and(is_strong) { "#ffffff" } else { "#1a1a1a" };
    let text = if is_bound { format!("[{}]", ratio_text(ratio)) } else { ratio_text(ratio) };
    let (x, y) = (area.left + area.width / 2.0 - 1.0, area.top + area.height / 2.0 + 3.5);
    if is_best {
        let star = format!(r#"fill="{ink}""#);
        svg.path(&star_path(x - 30.0, y - 4.0), &star, "the best of its column");
    }
    // The cell has its own colour in light and dark, and so has the text on it.
    svg.raw(&format!(
        r#"<text x="{x:.1}" y="{y:.1}" font-size="11.5" text-anchor="middle" fill="{ink}"{weight}>{text}</text>"#
    ));
}

/// A star; not every font has one.
fn star_path(x: f64, y: f64) -> String {
    let mut path = String::new();
    for corner in 0..10 {
        let angle = f64::from(corner) * std::f64::consts::PI / 5.0;
        let radius = if corner % 2 == 0 { 5.0 } else { 2.1 };
        let command = if corner == 0 { 'M' } else { 'L' };
        let (x, y) = (x + radius * angle.sin(), y - radius * angle.cos());
        // Writing to a string cannot fail.
        let _ = write!(path, "{command}{} {}", number(x), number(y));
    }
    path + "z"
}

fn draw_legend(svg: &mut Svg, top: f64) {
    const SHOWN: [f64; 7] = [0.25, 0.5, 0.75, 1.0, 4.0 / 3.0, 2.0, 4.0];
    for (place, ratio) in SHOWN.into_iter().enumerate() {
        let area = Area { left: LABEL + place as f64 * 52.0, top, width: 52.0, height: 20.0 };
        draw_cell(svg, area, Some(ratio), false, false);
    }
    svg.text(LABEL - 10.0, top + 14.0, SMALL.end().muted(), "slower");
    svg.text(LABEL + 374.0, top + 14.0, SMALL.muted(), "faster than the baseline");
}

/// From vermilion over white to blue, which colour-blind readers tell apart.
fn colour(ratio: f64) -> String {
    const SLOW: [f64; 3] = [213.0, 94.0, 0.0];
    const FAST: [f64; 3] = [0.0, 90.0, 160.0];
    let strength = strength(ratio);
    let end = if ratio < 1.0 { SLOW } else { FAST };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
    let [red, green, blue] = end.map(|it| (255.0 + (it - 255.0) * strength).round() as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn strength(ratio: f64) -> f64 {
    (ratio.max(1e-9).ln().abs() / FULL.ln()).min(1.0)
}

fn is_strong(ratio: f64) -> bool {
    strength(ratio) > 0.62
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure() -> HeatMap {
        let row = |label: &str, ratios: [Option<f64>; 2], is_bound| HeatRow {
            label: label.to_owned(),
            ratios: ratios.into(),
            is_bound,
        };
        HeatMap {
            title: "t".to_owned(),
            what: "w".to_owned(),
            columns: vec!["paper".to_owned(), "3g".to_owned()],
            rows: vec![
                row("fifo<", [Some(0.5), Some(1.0)], false),
                row("dfifo", [Some(2.0), None], false),
                row("lower bound", [Some(9.0), Some(9.0)], true),
            ],
        }
    }

    #[test]
    fn the_best_scheme_of_each_network_is_marked_and_a_bound_never_is() {
        let svg = figure().svg();
        assert_eq!(svg.matches("the best of its column").count(), 2, "{svg}");
        assert!(
            svg.contains(r#"font-weight="700">×2.00"#)
                && svg.contains(r#"font-weight="700">×1.00"#)
        );
        assert!(svg.contains(">[×9.00]"));
        assert!(svg.contains("fifo&lt;"));
    }

    #[test]
    fn a_long_heading_takes_several_lines() {
        assert_eq!(lines("cable 280K", 110.0), ["cable 280K"]);
        assert_eq!(lines("cable 0 B cubic queue 64k", 80.0), ["cable 0 B", "cubic", "queue 64k"]);
        let mut figure = figure();
        let height = |svg: &str| svg.split("height=\"").nth(1).map(|it| it[..3].to_owned());
        let one_line = height(&figure.svg());
        figure.columns[1] = "cable 0 B cubic queue 64k".to_owned();
        assert_eq!(
            (one_line.as_deref(), height(&figure.svg()).as_deref()),
            (Some("193"), Some("219"))
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
        assert_eq!(figure().table().rows[0].join(" "), "fifo< /2.00 ×1.00");
        assert_eq!(figure().table().rows[1].join(" "), "dfifo ×2.00 –");
    }
}
