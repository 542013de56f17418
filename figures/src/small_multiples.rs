//! Small multiples: one panel for each case, with the other cases in pale grey behind it, all on the same axes.

use super::paint::plain_id;
use super::sheet::Sheet;
use super::svg::{Area, GRID, MARGIN, SMALL, Style, Svg, d};
use qlog_tools::saturating_cast::to_usize;
use qlog_tools::short_texts::shorten;

/// The colour of a panel's own line, and of the lines behind it.
const OWN: &str = "#0072B2";
const BEHIND: &str = "#c9c9c9";

/// The minimum width of a panel on a screen, and in print; print has narrower panels if there are many.
const LEAST: [f64; 2] = [230.0, 126.0];
const LEAST_OF_MANY: f64 = 84.0;
const MANY: usize = 8;
/// The height of a plot on a screen, and in print.
const HEIGHTS: [f64; 2] = [130.0, 76.0];
const LEFT: f64 = 66.0;
const TOP: f64 = 48.0;
const GAP: f64 = 14.0;
/// The gap between two rows of plots, for the name of the panel below.
const BETWEEN: f64 = 26.0;
/// The space below the last row: two lines of labels, and the title of the axis.
const BELOW: f64 = 51.0;

pub(super) struct SmallMultiples {
    columns: usize,
    count: usize,
    /// The plot of the first panel.
    pub(super) plot: Area,
}

impl SmallMultiples {
    pub(super) fn new(sheet: &Sheet, count: usize) -> Self {
        let count = count.max(1);
        let room = sheet.width() - LEFT - MARGIN + GAP;
        let in_print = if count > MANY { LEAST_OF_MANY } else { LEAST[1] };
        let most = to_usize(room / (sheet.either(LEAST[0], in_print) + GAP)).max(1);
        // Rows of about the same number of panels.
        let columns = count.div_ceil(count.div_ceil(most));
        // A single panel is as wide as one of two.
        let width = room / columns.max(2) as f64 - GAP;
        let height = sheet.either(HEIGHTS[0], HEIGHTS[1]);
        Self { columns, count, plot: Area { left: LEFT, top: TOP, width, height } }
    }

    /// The offset of the panel at `place` from the first one, to the right and down.
    pub(super) fn shift(&self, place: usize) -> (f64, f64) {
        let across = (place % self.columns) as f64 * (self.plot.width + GAP);
        (across, (place / self.columns) as f64 * (self.plot.height + BETWEEN))
    }

    pub(super) fn area(&self, place: usize) -> Area {
        let (across, down) = self.shift(place);
        Area { left: self.plot.left + across, top: self.plot.top + down, ..self.plot }
    }

    /// Whether the panel at `place` is the first of its row.
    pub(super) fn is_first(&self, place: usize) -> bool {
        place.is_multiple_of(self.columns)
    }

    /// Whether the panel at `place` is the last of its column, whose axis the others share.
    pub(super) fn is_last(&self, place: usize) -> bool {
        place + self.columns >= self.count
    }

    pub(super) fn bottom(&self) -> f64 {
        let last = self.area(self.count - 1);
        last.top + last.height + BELOW
    }

    /// Draws the name above the panel at `place`.
    pub(super) fn draw_label(&self, svg: &mut Svg, place: usize, label: &str) {
        let area = self.area(place);
        let style = Style::PLAIN.size(svg.sheet.either(12.0, 10.5)).bold();
        let letters = to_usize(area.width / (style.size * 0.64)).max(4);
        svg.text(area.left, area.top - 6.0, style, &shorten(label, letters));
    }

    /// Draws the title of the horizontal axes, below all panels.
    pub(super) fn draw_title_across(&self, svg: &mut Svg, title: &str) {
        let right = self.area(self.columns - 1).left + self.plot.width;
        let middle = f64::midpoint(self.plot.left, right);
        svg.text(middle, self.bottom() - 8.0, SMALL.middle().muted(), title);
    }

    /// Draws the title of a vertical axis, left of the panel at `place`.
    pub(super) fn draw_title_up(&self, svg: &mut Svg, place: usize, title: &str) {
        let area = self.area(place);
        svg.upright(MARGIN, area.top + area.height / 2.0, title);
    }

    /// Draws the frame of the panel at `place` and, behind its own line, the `lines` of all cases, as paths in the first
    /// panel.
    pub(super) fn draw_behind(&self, svg: &mut Svg, id: &str, place: usize, lines: &[String]) {
        let id = plain_id(id);
        if place == 0 {
            let width = svg.sheet.either("1.2", "0.9");
            let lines = lines.join("");
            svg.raw(&format!(
                r#"<defs><path id="{id}" d="{lines}" fill="none" class="behind" stroke="{BEHIND}" stroke-width="{width}"/></defs>"#
            ));
        }
        let (across, down) = self.shift(place);
        svg.raw(&d!(r##"<use href="#{id}" x="{}" y="{}"/>"##, across, down));
        let Area { left, top, width, height } = self.area(place);
        svg.path(&d!("M{} {}v{}h{}", left, top, height, width), GRID, "");
    }
}

/// The stroke of a panel's own line.
pub(super) fn own_stroke(sheet: &Sheet) -> String {
    let width = sheet.either("2.2", "1.6");
    format!(r#"fill="none" stroke="{OWN}" stroke-width="{width}" stroke-linejoin="round""#)
}

/// The fill of areas that belong to a panel's own line.
pub(super) fn own_fill(opacity: &str) -> String {
    format!(r#"fill="{OWN}" fill-opacity="{opacity}""#)
}
