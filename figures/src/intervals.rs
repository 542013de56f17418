//! Means with their intervals: a row for each scheme, a panel for each setting.

use super::Table;
use super::ratio_axis::{RatioAxis, in_reach};
use super::sheet::{Drawing, Sheet};
use super::standing::{Standing, caption};
use super::svg::{
    Area, BAND, Flow, INK, MARGIN, SMALL, Style, Svg, circle, d, hollow, polyline, star,
};
use crate::number_texts::{or_dash, ratio_number};
use qlog_tools::saturating_cast::to_usize;
use qlog_tools::short_texts::shorten;

/// The figure.
#[derive(Debug, Clone, Default)]
pub struct Intervals {
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// The quantity of a dot: `mean ByteIndex speedup over rr, above the fold`.
    pub what: String,
    /// The baseline of the speedups.
    pub baseline: String,
    /// The statistic of the dots: `mean`.
    pub dot: &'static str,
    /// Usually networks.
    pub panels: Vec<IntervalPanel>,
}

/// A setting.
#[derive(Debug, Clone, Default)]
pub struct IntervalPanel {
    /// Above the panel; empty if it is the only one.
    pub title: String,
    /// The schemes, from the top, in the same order in each panel.
    pub rows: Vec<IntervalRow>,
}

/// A scheme.
#[derive(Debug, Clone, Default)]
pub struct IntervalRow {
    /// Its name.
    pub label: String,
    /// The mean; `None` if there is none.
    pub mean: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// The geometric mean.
    pub geometric_mean: Option<f64>,
    /// Its 95 % interval.
    pub geometric_mean_interval: Option<[f64; 2]>,
    /// Whether it is the best of its panel.
    pub standing: Standing,
}

const TOP: f64 = 66.0;
/// The height of a row on a screen, and in print.
const ROWS: [f64; 2] = [20.0, 14.0];
/// The distance from the last row of a panel to the first of the one below: the axis and the title.
const BETWEEN: f64 = 52.0;
const GAP: f64 = 24.0;
/// The minimum width of a plot on a screen, and in print.
const PLOT_MIN: [f64; 2] = [180.0, 90.0];
const PLOT_MAX: f64 = 560.0;
/// The minimum width of the figure on a screen, which the legend needs.
const WIDTH_MIN: f64 = 640.0;
const LABEL_MAX: usize = 20;
const LETTER: f64 = 7.0;
const COLOUR: &str = "#0072B2";
const GEOMETRIC: &str = "#D55E00";

impl Drawing for Intervals {
    fn title(&self) -> &str {
        &self.title
    }

    fn draw(&self, sheet: &Sheet) -> String {
        let layout = Layout::of(self, sheet);
        let mut svg = Svg::on(sheet);
        let has_titles = self.panels.iter().any(|it| !it.title.is_empty());
        svg.head(&[&self.title, &self.what], TOP - if has_titles { 30.0 } else { 12.0 });
        let plot = layout.plot(0);
        let (left, right) = (plot.left + 6.0, plot.left + plot.width - 6.0);
        let axis = RatioAxis::new(self.ratios().into_iter(), left, right);
        for (place, panel) in self.panels.iter().enumerate() {
            let area = layout.plot(place);
            self.draw_panel(&mut svg, panel, &axis.shifted(area.left - plot.left), area, &layout);
        }
        let last = layout.plot(self.panels.len().saturating_sub(1));
        let bottom = self.draw_legend(&mut svg, layout.width, last.top + last.height + 46.0);
        svg.finish(layout.width, bottom, &self.title)
    }

    fn caption(&self) -> String {
        let stars = caption(self.rows().map(|it| it.standing), "panel");
        let bars = if self.rows().any(|row| row.interval.is_some()) {
            ", the bar its 95\u{202f}% interval (an arrow: it goes on beyond the axis)"
        } else {
            ""
        };
        let rhomb = match self.has_geometric_means() {
            true if bars.is_empty() => ", the rhomb below the geometric mean",
            true => ", the rhomb below the geometric mean with its own",
            false => "",
        };
        format!(
            "{}: the dot is the {}{bars}{rhomb}. The axis is logarithmic, and ×1 is {} itself.{stars}",
            self.what, self.dot, self.baseline
        )
    }

    fn table(&self) -> Table {
        let headings =
            ["setting", "scheme", self.dot, "from", "to", "geometric mean", "from", "to"];
        let columns = if self.has_geometric_means() { 8 } else { 5 };
        let rows = self.panels.iter().flat_map(|panel| {
            panel.rows.iter().map(move |row| {
                let mut cells = vec![panel.title.clone(), row.label.clone()];
                cells.extend(mean_texts(row.mean, row.interval));
                cells.extend(mean_texts(row.geometric_mean, row.geometric_mean_interval));
                cells.truncate(columns);
                cells
            })
        });
        let caption = format!("{}, with 95\u{202f}% intervals", self.what);
        Table::new(caption, headings.into_iter().take(columns), rows)
    }
}

impl Intervals {
    fn rows(&self) -> impl Iterator<Item = &IntervalRow> {
        self.panels.iter().flat_map(|it| &it.rows)
    }

    fn has_geometric_means(&self) -> bool {
        self.rows().any(|it| it.geometric_mean.is_some())
    }

    fn ratios(&self) -> Vec<f64> {
        let means: Vec<f64> =
            self.rows().flat_map(|it| [it.mean, it.geometric_mean]).flatten().collect();
        let intervals = self.rows().flat_map(|it| [it.interval, it.geometric_mean_interval]);
        in_reach(&means, intervals.flatten())
    }

    fn draw_panel(
        &self,
        svg: &mut Svg,
        panel: &IntervalPanel,
        axis: &RatioAxis,
        area: Area,
        layout: &Layout,
    ) {
        let left = area.left - layout.label;
        for place in (1..panel.rows.len()).step_by(2) {
            let top = area.top + place as f64 * layout.row;
            let width = layout.label + area.width;
            svg.rect(Area { left, top, width, height: layout.row }, BAND);
        }
        let letters = to_usize((layout.label + area.width) / 7.6);
        svg.text(left, area.top - 8.0, Style::PLAIN.bold(), &shorten(&panel.title, letters));
        axis.draw_across(svg, area, true);
        let middle = area.left + area.width / 2.0;
        let title = format!("speedup over {}", self.baseline);
        svg.text(middle, area.top + area.height + 30.0, SMALL.middle().muted(), &title);
        for (place, row) in panel.rows.iter().enumerate() {
            let y = area.top + (place as f64 + 0.5) * layout.row;
            let label = shorten(&row.label, LABEL_MAX);
            svg.text(area.left - 20.0, y + 4.0, Style::PLAIN.end(), &label);
            draw_star(svg, area.left - 9.0, y, row.standing);
            draw_row(svg, axis, y, row);
        }
    }

    /// Gives the figure's end.
    fn draw_legend(&self, svg: &mut Svg, right: f64, top: f64) -> f64 {
        let mut flow = Flow { left: MARGIN, right, next: MARGIN, top };
        let longer = self.dot.chars().count().saturating_sub("mean".len());
        let (x, top) = flow.place(180.0 + longer as f64 * LETTER);
        draw_interval(svg, [x, x + 30.0], [true; 2], top + 8.0, COLOUR);
        draw_mean(svg, x + 15.0, top + 8.0);
        svg.text(x + 38.0, top + 12.0, SMALL, &format!("{}, 95 % interval", self.dot));
        if self.has_geometric_means() {
            let (x, top) = flow.place(240.0);
            draw_interval(svg, [x, x + 30.0], [true; 2], top + 8.0, GEOMETRIC);
            draw_geometric_mean(svg, x + 15.0, top + 8.0);
            svg.text(x + 38.0, top + 12.0, SMALL, "geometric mean, 95 % interval");
        }
        let marks = [(Standing::Best, "best", 60.0), (Standing::Tied, "may be the best", 110.0)];
        for (standing, words, width) in marks {
            if self.rows().any(|row| row.standing == standing) {
                let (x, top) = flow.place(width);
                draw_star(svg, x + 6.0, top + 8.0, standing);
                svg.text(x + 17.0, top + 12.0, SMALL, words);
            }
        }
        flow.top + 24.0
    }
}

/// A mean and the ends of its interval.
fn mean_texts(mean: Option<f64>, interval: Option<[f64; 2]>) -> [String; 3] {
    let ends = interval.map_or([None; 2], |it| it.map(Some));
    let [low, high] = ends;
    [mean, low, high].map(|it| or_dash(it.map(ratio_number)))
}

struct Layout {
    width: f64,
    label: f64,
    plot_width: f64,
    plot_height: f64,
    row: f64,
    columns: usize,
}

impl Layout {
    fn of(figure: &Intervals, sheet: &Sheet) -> Self {
        let longest = figure.rows().map(|it| it.label.chars().count().min(LABEL_MAX)).max();
        let label = longest.unwrap_or_default() as f64 * LETTER + 24.0;
        let room = sheet.width() - 2.0 * MARGIN + GAP;
        let least = sheet.either(PLOT_MIN[0], PLOT_MIN[1]);
        let most = to_usize(room / (label + least + GAP)).max(1);
        let columns = most.min(figure.panels.len()).max(1);
        let plot_width = (room / columns as f64 - GAP - label).min(PLOT_MAX);
        let rows = figure.panels.iter().map(|it| it.rows.len()).max().unwrap_or_default();
        let row = sheet.either(ROWS[0], ROWS[1]);
        let used = 2.0 * MARGIN + (label + plot_width + GAP) * columns as f64 - GAP;
        let width = sheet.or_paper(used.max(WIDTH_MIN));
        Self { width, label, plot_width, plot_height: rows as f64 * row, row, columns }
    }

    fn plot(&self, place: usize) -> Area {
        let column = (place % self.columns) as f64;
        let row = (place / self.columns) as f64;
        Area {
            left: MARGIN + self.label + column * (self.label + self.plot_width + GAP),
            top: TOP + row * (self.plot_height + BETWEEN),
            width: self.plot_width,
            height: self.plot_height,
        }
    }
}

/// The distance of the mean above the middle of its row, and of the geometric mean below it.
const APART: f64 = 3.8;

fn draw_row(svg: &mut Svg, axis: &RatioAxis, y: f64, row: &IntervalRow) {
    let apart = if row.geometric_mean.is_some() { APART } else { 0.0 };
    let intervals =
        [(row.interval, y - apart, COLOUR), (row.geometric_mean_interval, y + apart, GEOMETRIC)];
    for (interval, y, colour) in intervals {
        if let Some(ends) = interval {
            let are_shown = ends.map(|it| axis.shows(it));
            draw_interval(svg, ends.map(|it| axis.place(it)), are_shown, y, colour);
        }
    }
    if let Some(mean) = row.geometric_mean {
        draw_geometric_mean(svg, axis.place(mean), y + apart);
    }
    if let Some(mean) = row.mean {
        draw_mean(svg, axis.place(mean), y - apart);
    }
}

/// Draws an interval. An arrow marks an end beyond the axis.
fn draw_interval(svg: &mut Svg, [low, high]: [f64; 2], are_shown: [bool; 2], y: f64, colour: &str) {
    let [is_low_shown, is_high_shown] = are_shown;
    let mut ends = String::new();
    for (x, is_shown, inner) in [(low, is_low_shown, low + 4.0), (high, is_high_shown, high - 4.0)]
    {
        let (top, bottom) = (y - 3.0, y + 3.0);
        ends += &if is_shown {
            d!("M{} {}V{}", x, top, bottom)
        } else {
            polyline([(inner, top), (x, y), (inner, bottom)])
        };
    }
    let d = d!("M{} {}H{}{ends}", low, y, high);
    svg.path(&d, &format!(r#"fill="none" stroke="{colour}" stroke-width="1.2""#), "");
}

fn draw_mean(svg: &mut Svg, x: f64, y: f64) {
    svg.path(&circle(x, y, 3.1), &format!(r#"fill="{COLOUR}""#), "");
}

fn draw_geometric_mean(svg: &mut Svg, x: f64, y: f64) {
    let d = d!("M{} {}l3.6 3.9l-3.6 3.9l-3.6 -3.9z", x, y - 3.9);
    svg.path(&d, &hollow(GEOMETRIC, "1.3"), "");
}

fn draw_star(svg: &mut Svg, x: f64, y: f64, standing: Standing) {
    const OUTLINE: &str = r##"class="outline" fill="none" stroke="#1a1a1a" stroke-width="0.9""##;
    match standing {
        Standing::Best => svg.path(&star(x, y), INK, "the best"),
        Standing::Tied => svg.path(&star(x, y), OUTLINE, "may be the best"),
        Standing::Behind | Standing::Unknown => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(standings: [Standing; 2]) -> Intervals {
        let row = |label: &str, mean: f64, standing| IntervalRow {
            label: label.to_owned(),
            mean: Some(mean),
            interval: Some([mean / 1.25, mean * 1.25]),
            geometric_mean: Some(mean / 1.1),
            geometric_mean_interval: Some([mean / 1.3, mean * 1.1]),
            standing,
        };
        let rows = vec![row("fifo", 1.2, standings[0]), row("dfifo", 2.0, standings[1])];
        Intervals {
            title: "t".to_owned(),
            what: "Mean speedup over rr".to_owned(),
            baseline: "rr".to_owned(),
            dot: "mean",
            panels: vec![IntervalPanel { title: String::new(), rows }],
        }
    }

    #[test]
    fn a_winner_is_marked_and_tied_schemes_are_shown_as_tied() {
        let winner = figure([Standing::Behind, Standing::Best]);
        assert_eq!(winner.svg().matches("<title>the best</title>").count(), 2, "row and legend");
        let tied = figure([Standing::Tied; 2]).svg();
        assert!(!tied.contains("<title>the best</title>"), "{tied}");
        assert_eq!(tied.matches("<title>may be the best</title>").count(), 3);
    }

    #[test]
    fn an_interval_that_goes_on_beyond_the_axis_ends_in_an_arrow() {
        let mut figure = figure([Standing::Unknown; 2]);
        let arrows = |figure: &Intervals| {
            let svg = figure.svg();
            svg.split(" d=\"")
                .filter(|it| it.starts_with('M') && it.contains('H') && it.contains('L'))
                .count()
        };
        assert_eq!(arrows(&figure), 0);
        figure.panels[0].rows[0].interval = Some([1.0, 1e90]);
        assert_eq!(arrows(&figure), 1);
    }

    #[test]
    fn the_table_has_the_ends_of_each_interval() {
        let table = figure([Standing::Unknown; 2]).table();
        assert_eq!(table.rows[1].join(" "), " dfifo 2.00 1.60 2.50 1.82 1.54 2.20");
    }

    #[test]
    fn a_figure_without_geometric_means_does_not_speak_of_them_and_names_its_dots() {
        let mut figure = figure([Standing::Unknown; 2]);
        assert!(figure.svg().contains("geometric mean") && figure.svg().contains("mean, 95 %"));
        figure.dot = "Hodges-Lehmann estimate";
        for row in &mut figure.panels[0].rows {
            row.geometric_mean = None;
        }
        let told = format!("{} {} {:?}", figure.svg(), figure.caption(), figure.table());
        assert!(!told.contains("geometric"), "{told}");
        assert!(told.contains("the dot is the Hodges-Lehmann estimate, the bar its 95"), "{told}");
        assert_eq!(figure.table().rows[1].join(" "), " dfifo 2.00 1.60 2.50");
    }
}
