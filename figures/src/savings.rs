//! Savings in percent: a filled mark for ours, a hollow one for published values, a stroke for a model.

use super::sheet::Sheet;
use super::svg::{Area, BAND, MARGIN, SMALL, Style, Svg, circle, d, hollow};
use crate::number_texts::or_dash;

/// The figure: rows in groups, all on one axis.
#[derive(Debug, Clone, Default)]
pub struct Savings {
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// From the top.
    pub groups: Vec<SavingsGroup>,
}

/// Rows that belong together.
#[derive(Debug, Clone, Default)]
pub struct SavingsGroup {
    /// Above its rows.
    pub title: String,
    /// From the top.
    pub rows: Vec<Saving>,
}

/// One row, in percent; negative for a loss.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Saving {
    /// The compared items.
    pub label: String,
    /// The measured value.
    pub ours: Option<f64>,
    /// The published value.
    pub published: Option<f64>,
    /// The model's value.
    pub model: Option<f64>,
}

const WIDTH: f64 = 900.0;
const LEFT: f64 = 290.0;
const RIGHT: f64 = 820.0;
const TOP: f64 = 66.0;
const ROW: f64 = 17.0;
const HEADING: f64 = 26.0;
const COLOUR: &str = "#0072B2";
/// How a model's stroke is drawn.
const MODEL: &str = r##"stroke="#D55E00" stroke-width="2" fill="none""##;
const RADIUS: f64 = 4.0;
/// The distance of ticks, in percent.
const STEP: f64 = 10.0;

impl Savings {
    /// The figure on `sheet`, which is a screen.
    pub fn draw(&self, sheet: &Sheet) -> String {
        let scale = Scale::over(self.groups.iter().flat_map(|it| &it.rows));
        let rows: usize = self.groups.iter().map(|it| it.rows.len()).sum();
        let height = TOP + self.groups.len() as f64 * HEADING + rows as f64 * ROW;
        let mut svg = Svg::titled(sheet, &self.title);
        draw_legend(&mut svg, 42.0);
        scale.draw(&mut svg, height);
        let mut top = TOP;
        for group in &self.groups {
            svg.text(MARGIN, top + HEADING - 8.0, Style::PLAIN.size(12.0).bold(), &group.title);
            top += HEADING;
            for (place, row) in group.rows.iter().enumerate() {
                if place % 2 == 1 {
                    let band = Area { left: MARGIN, top, width: WIDTH - 2.0 * MARGIN, height: ROW };
                    svg.rect(band, BAND);
                }
                draw_row(&mut svg, &scale, row, top + ROW / 2.0);
                top += ROW;
            }
        }
        svg.finish(WIDTH, height + 36.0, &self.title)
    }

    /// The words below the figure.
    pub fn caption(&self) -> String {
        "Filled: ours. Hollow: published. Stroke: model. Right of zero is gained, left of it lost."
            .to_owned()
    }
}

struct Scale {
    lowest: f64,
    highest: f64,
}

impl Scale {
    fn over<'a>(rows: impl Iterator<Item = &'a Saving>) -> Self {
        let values = rows.flat_map(|it| [it.ours, it.published, it.model]).flatten();
        let (lowest, highest) = values
            .filter(|it| it.is_finite())
            .fold((0.0_f64, STEP), |(low, high), it| (low.min(it), high.max(it)));
        let [below, above] = [-lowest, highest].map(|it| (it / STEP).ceil() * STEP);
        Self { lowest: -below, highest: above }
    }

    fn x(&self, percent: f64) -> f64 {
        LEFT + (percent - self.lowest) / (self.highest - self.lowest) * (RIGHT - LEFT)
    }

    /// The grid from the top to `bottom`, with its labels below.
    fn draw(&self, svg: &mut Svg, bottom: f64) {
        let mut tick = self.lowest;
        let step = if self.highest - self.lowest > 150.0 { 5.0 * STEP } else { STEP };
        while tick <= self.highest + STEP / 2.0 {
            let x = self.x(tick);
            let width = if tick.abs() < STEP / 2.0 { "1.8" } else { "1" };
            let grid =
                format!(r##"class="grid" stroke="#d9d9d9" stroke-width="{width}" fill="none""##);
            svg.path(&d!("M{} {}V{}", x, TOP, bottom), &grid, "");
            svg.text(x, bottom + 18.0, SMALL.middle().muted(), &format!("{tick:+.0} %"));
            tick += step;
        }
    }
}

impl Saving {
    fn title(&self, whose: &str, value: f64) -> String {
        format!("{}: {whose} {}", self.label, percent(Some(value)))
    }
}

fn draw_row(svg: &mut Svg, scale: &Scale, row: &Saving, y: f64) {
    svg.text(MARGIN + 12.0, y + 4.0, SMALL, &row.label);
    if let (Some(ours), Some(published)) = (row.ours, row.published) {
        let d = d!("M{} {}H{}", scale.x(ours), y, scale.x(published));
        svg.path(&d, &format!(r#"stroke="{COLOUR}" stroke-width="1.5" fill="none""#), "");
    }
    if let Some(model) = row.model {
        svg.path(&stroke(scale.x(model), y), MODEL, &row.title("model", model));
    }
    if let Some(published) = row.published {
        let d = circle(scale.x(published), y, RADIUS);
        svg.path(&d, &hollow(COLOUR, "1.8"), &row.title("published", published));
    }
    if let Some(ours) = row.ours {
        let attributes = format!(r#"fill="{COLOUR}""#);
        svg.path(&circle(scale.x(ours), y, RADIUS), &attributes, &row.title("ours", ours));
        svg.text(WIDTH - MARGIN - 4.0, y + 4.0, SMALL.end(), &percent(Some(ours)));
    }
}

fn draw_legend(svg: &mut Svg, y: f64) {
    svg.path(&circle(LEFT, y, RADIUS), &format!(r#"fill="{COLOUR}""#), "");
    svg.text(LEFT + 10.0, y + 4.0, SMALL, "ours");
    svg.path(&circle(LEFT + 70.0, y, RADIUS), &hollow(COLOUR, "1.8"), "");
    svg.text(LEFT + 80.0, y + 4.0, SMALL, "published");
    svg.path(&stroke(LEFT + 170.0, y), MODEL, "");
    svg.text(LEFT + 180.0, y + 4.0, SMALL, "model");
}

fn stroke(x: f64, y: f64) -> String {
    d!("M{} {}v12", x, y - 6.0)
}

fn percent(value: Option<f64>) -> String {
    or_dash(value.map(|it| format!("{it:+.1} %").replace("-0.0 %", "+0.0 %")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_drawn_and_what_is_not_is_left_out() {
        let row =
            Saving { label: "5 KB".into(), ours: Some(-12.0), model: Some(30.0), published: None };
        let groups = vec![SavingsGroup { title: "warm".into(), rows: vec![row] }];
        let figure = Savings { title: "t".into(), groups };
        let svg = figure.draw(&Sheet::default());
        assert!(svg.contains("5 KB: ours -12.0 %") && svg.contains("5 KB: model +30.0 %"));
        assert!(!svg.contains("5 KB: published"));
        assert!(svg.contains(">-20 %<") && svg.contains(">+30 %<"), "the axis holds all");
    }
}
