//! Our values beside published ones or a model's: filled marks for ours, hollow ones for theirs, on one axis of ratios.

use super::ratio_axis::RatioAxis;
use super::sheet::Sheet;
use super::svg::{Area, BAND, MARGIN, SMALL, Style, Svg, WIDTH, circle, d, hollow};
use crate::number_texts::ratio_text;
use qlog_tools::short_texts::shorten;

/// The figure.
#[derive(Debug, Clone, Default)]
pub struct PairedDots {
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// The source of the other values: "published", "model".
    pub theirs: &'static str,
    /// The quantity of each pair in a group.
    pub columns: Vec<String>,
    /// Left to right: usually schemes.
    pub groups: Vec<PairedDotsGroup>,
}

/// A group of pairs.
#[derive(Debug, Clone, Default)]
pub struct PairedDotsGroup {
    /// The scheme.
    pub label: String,
    /// One pair for each column of the figure.
    pub pairs: Vec<Pair>,
}

/// Ours and theirs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pair {
    /// The measured value.
    pub ours: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// The published value, or the model's.
    pub theirs: Option<f64>,
}

const LEFT: f64 = 66.0;
const TOP: f64 = 42.0;
const PLOT_HEIGHT: f64 = 280.0;
const RADIUS: f64 = 4.5;
const COLOURS: [&str; 4] = ["#009E73", "#0072B2", "#D55E00", "#CC79A7"];

impl PairedDots {
    /// The figure on `sheet`, which is a screen.
    pub fn draw(&self, sheet: &Sheet) -> String {
        let pairs = self.groups.iter().flat_map(|it| &it.pairs);
        let values = pairs.flat_map(|pair| {
            let ends = pair.interval.into_iter().flatten();
            pair.ours.into_iter().chain(pair.theirs).chain(ends)
        });
        let axis = RatioAxis::new(values, TOP + PLOT_HEIGHT, TOP);
        let mut svg = Svg::titled(sheet, &self.title);
        axis.draw(&mut svg, LEFT, WIDTH - MARGIN, "speedup");
        let width = (WIDTH - MARGIN - LEFT) / self.groups.len().max(1) as f64;
        for (place, group) in self.groups.iter().enumerate() {
            let left = LEFT + place as f64 * width;
            if place % 2 == 1 {
                let band = Area { left, top: TOP, width, height: PLOT_HEIGHT + 44.0 };
                svg.rect(band, BAND);
            }
            self.draw_group(&mut svg, &axis, group, left, width);
        }
        let legend = axis.bottom() + 56.0;
        draw_legend(&mut svg, legend, self.theirs);
        svg.finish(WIDTH, legend + 26.0, &self.title)
    }

    /// The words below the figure.
    pub fn caption(&self) -> String {
        let mut pairs = self.groups.iter().flat_map(|it| &it.pairs);
        let bars =
            if pairs.any(|it| it.interval.is_some()) { ", with its 95 % interval" } else { "" };
        let theirs = self.theirs;
        format!("Filled: ours{bars}. Hollow: {theirs}. The axis is logarithmic; higher is better.")
    }

    fn draw_group(
        &self,
        svg: &mut Svg,
        axis: &RatioAxis,
        group: &PairedDotsGroup,
        left: f64,
        width: f64,
    ) {
        let column_width = width / self.columns.len().max(1) as f64;
        for (column, pair) in group.pairs.iter().enumerate() {
            let x = left + (column as f64 + 0.5) * column_width;
            let colour = COLOURS[column % COLOURS.len()];
            if let (Some(ours), Some(theirs)) = (pair.ours, pair.theirs) {
                let d = d!("M{} {}V{}", x, axis.place(ours), axis.place(theirs));
                svg.path(&d, &format!(r#"stroke="{colour}" stroke-width="1.5" fill="none""#), "");
            }
            if let Some(interval) = pair.interval {
                draw_interval(svg, axis, x, interval);
            }
            let what = format!("{}, {}", group.label, self.columns[column]);
            let marks = [
                (pair.theirs, hollow(colour, "2"), self.theirs),
                (pair.ours, format!(r#"fill="{colour}""#), "ours"),
            ];
            for (value, attributes, whose) in marks {
                let Some(value) = value else { continue };
                let title = format!("{what}: {whose} {}", ratio_text(Some(value)));
                svg.path(&circle(x, axis.place(value), RADIUS), &attributes, &title);
            }
            let style = Style::PLAIN.size(9.5).middle().muted();
            svg.text(x, axis.bottom() + 18.0, style, &self.columns[column]);
        }
        let (middle, label) = (left + width / 2.0, shorten(&group.label, 14));
        svg.text(middle, axis.bottom() + 36.0, Style::PLAIN.middle().bold(), &label);
    }
}

/// Draws an error bar beneath the marks, in the colour of text, so that it is not mistaken for the line between ours and theirs.
fn draw_interval(svg: &mut Svg, axis: &RatioAxis, x: f64, [low, high]: [f64; 2]) {
    let (low, high, left) = (axis.place(low), axis.place(high), x - 4.0);
    let d = d!("M{} {}V{}M{} {}h8M{} {}h8", x, low, high, left, low, left, high);
    let attributes = r##"class="line" stroke="#5a5a5a" stroke-width="1" fill="none""##;
    svg.path(&d, attributes, "95 % interval");
}

fn draw_legend(svg: &mut Svg, top: f64, theirs: &str) {
    let colour = COLOURS[1];
    svg.path(&circle(LEFT + 6.0, top + 8.0, RADIUS), &format!(r#"fill="{colour}""#), "");
    svg.text(LEFT + 18.0, top + 12.0, SMALL, "ours");
    svg.path(&circle(LEFT + 76.0, top + 8.0, RADIUS), &hollow(colour, "2"), "");
    svg.text(LEFT + 88.0, top + 12.0, SMALL, theirs);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_values_are_drawn_and_a_missing_one_is_not() {
        let figure = PairedDots {
            title: "t".to_owned(),
            theirs: "published",
            columns: vec!["All".to_owned(), "ATF".to_owned()],
            groups: vec![PairedDotsGroup {
                label: "p+".to_owned(),
                pairs: vec![
                    Pair { ours: Some(1.2), theirs: Some(1.17), interval: Some([1.1, 1.4]) },
                    Pair { theirs: Some(2.2), ..Pair::default() },
                ],
            }],
        };
        let svg = figure.draw(&Sheet::default());
        assert!(svg.contains("p+, All: ours ×1.20") && svg.contains("p+, ATF: published ×2.20"));
        assert!(!svg.contains("p+, ATF: ours"));
        assert_eq!(svg.matches("95 % interval").count(), 1, "where there is one");
        assert!(figure.caption().starts_with("Filled: ours, with its 95 % interval. Hollow"));
    }
}
