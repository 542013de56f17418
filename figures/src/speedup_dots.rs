//! Speedups page by page: a dot for each page, by size class, and a group of columns for each scheme (the
//! paper's Figure 12).

use qlog_tools::saturating_cast::{to_u64, to_usize};
use std::collections::BTreeSet;

use super::Table;
use super::ratio_axis::RatioAxis;
use super::sheet::{Drawing, Sheet};
use super::svg::{Area, BAND, Flow, MARGIN, SMALL, Style, Svg, circle, d};
use super::text_lines::name_lines;
use crate::number_texts::{bytes_text, or_dash, ratio_number, ratio_text};
use crate::speedups::Speedups;
use qlog_tools::short_texts::shorten;

/// The figure.
#[derive(Debug, Clone, Default)]
pub struct SpeedupDots {
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// The baseline of the speedups.
    pub baseline: String,
    /// The quantity of each column in a group: in the paper `All`, `ATF` and `1000K`.
    pub columns: Vec<String>,
    /// The schemes, left to right.
    pub groups: Vec<DotGroup>,
    /// Pages whose dots have a ring, and the text of the legend for each.
    pub outlined: Vec<(String, String)>,
}

/// A scheme's dots.
#[derive(Debug, Clone, Default)]
pub struct DotGroup {
    /// The scheme.
    pub label: String,
    /// One list of dots for each column; an empty column stays empty.
    pub columns: Vec<Vec<Dot>>,
}

/// One page.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// Its name.
    pub page: String,
    /// All its bytes.
    pub bytes: u64,
    /// Baseline's index divided by the scheme's.
    pub speedup: f64,
}

/// A page's size class, with the paper's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SizeClass {
    /// Below 500 kB.
    Small,
    /// From 500 kB to 1000 kB.
    Medium,
    /// Larger.
    Large,
}

impl SizeClass {
    /// All of them, the smallest first.
    pub const ALL: [Self; 3] = [Self::Small, Self::Medium, Self::Large];

    /// The class of a page of this size.
    pub fn of(bytes: u64) -> Self {
        match bytes {
            0..500_000 => Self::Small,
            500_000..=1_000_000 => Self::Medium,
            _ => Self::Large,
        }
    }

    /// Its name, its limits in the legend, and its colour.
    fn look(self) -> [&'static str; 3] {
        match self {
            Self::Small => ["small", "small page, below 500 kB", "#0072B2"],
            Self::Medium => ["medium", "medium page, 500 to 1000 kB", "#D55E00"],
            Self::Large => ["large", "large page, above 1000 kB", "#009E73"],
        }
    }

    /// The fill. The report's style sheet lightens the darkest colour on a dark page.
    fn paint(self, opacity: &str) -> String {
        let [name, _, colour] = self.look();
        format!(r#"class="{name}-page" fill="{colour}" fill-opacity="{opacity}""#)
    }

    /// Draws a mark; its shape as well as its colour shows the class.
    fn add_mark(self, path: &mut String, x: f64, y: f64) {
        path.push_str(&match self {
            Self::Small => circle(x, y, 2.4),
            Self::Medium => d!("M{} {}m0 -2.9l2.8 5h-5.6z", x, y),
            Self::Large => d!("M{} {}m-2.1 -2.1h4.2v4.2h-4.2z", x, y),
        });
    }
}

const LEFT: f64 = 66.0;
const TOP: f64 = 42.0;
/// On a screen, and in print.
const PLOT_HEIGHTS: [f64; 2] = [330.0, 130.0];
const BELOW_PLOT: [f64; 2] = [58.0, 50.0];
/// The most schemes side by side on a screen; further ones go into the next panel.
const GROUPS_MAX: usize = 12;
/// The minimum width of a column in print, and of a letter in a scheme's name.
const COLUMN_MIN: f64 = 34.0;
const LETTER: f64 = 6.4;
/// The most letters in a line of a scheme's name on a screen, and in print; and the distance between lines.
const LABEL_MAX: [usize; 2] = [14, 11];
const LABEL_LINE: f64 = 13.0;
/// Dots are grouped in rows of this height.
const BIN: f64 = 4.0;
const DOT: f64 = 5.2;
const RING: f64 = 5.0;
const MEDIAN: &str = r##"class="outline" stroke="#1a1a1a" stroke-width="2" fill="none""##;
/// With at most this many dots, each has a tooltip that names its page.
const TITLED_MAX: usize = 4000;

impl Drawing for SpeedupDots {
    fn title(&self) -> &str {
        &self.title
    }

    fn draw(&self, sheet: &Sheet) -> String {
        let speedups = self.dots().map(|dot| dot.speedup);
        let height = sheet.either(PLOT_HEIGHTS[0], PLOT_HEIGHTS[1]);
        let more_lines = self.label_lines(sheet).saturating_sub(1) as f64 * LABEL_LINE;
        let pitch = height + sheet.either(BELOW_PLOT[0], BELOW_PLOT[1]) + more_lines;
        let axis = RatioAxis::new(speedups, TOP + height, TOP);
        let mut svg = Svg::titled(sheet, &self.title);
        let beside = self.groups_beside(sheet);
        let panels = self.groups.len().div_ceil(beside).max(1);
        for (panel, groups) in self.groups.chunks(beside).enumerate() {
            let axis = axis.shifted(panel as f64 * pitch);
            self.draw_panel(&mut svg, &axis, groups, self.groups.len().min(beside));
        }
        let legend = TOP + panels as f64 * pitch + 4.0;
        let bottom = self.draw_legend(&mut svg, legend);
        svg.finish(sheet.width(), bottom, &self.title)
    }

    fn caption(&self) -> String {
        let pages: BTreeSet<&str> = self.dots().map(|dot| &*dot.page).collect();
        format!(
            "Each dot is one of {} pages; its height is the speedup over {}, on a logarithmic axis: higher is better, and the line at ×1 is {} itself. The bar in a column is the median page.{}",
            pages.len(),
            self.baseline,
            self.baseline,
            if self.is_crowded() {
                " Where more pages share a place than there is room for, a dot stands for several."
            } else {
                ""
            }
        )
    }

    fn table(&self) -> Table {
        let headings =
            "scheme|what|pages|arithmetic mean|median|best|worst|not slower|small|medium|large";
        let rows = self.groups.iter().flat_map(|group| {
            group.columns.iter().zip(&self.columns).filter(|(dots, _)| !dots.is_empty()).map(
                |(dots, column)| {
                    let of = Speedups::of(dots.iter().map(|dot| dot.speedup).collect());
                    let faster = dots.iter().filter(|dot| dot.speedup >= 1.0).count();
                    let mut cells = vec![group.label.clone(), column.clone(), of.pages.to_string()];
                    let numbers = [of.mean, of.median, of.best, of.worst];
                    cells.extend(numbers.map(|it| or_dash(it.map(ratio_number))));
                    let share = 100.0 * faster as f64 / dots.len() as f64;
                    cells.push(format!("{share:.0}\u{202f}%"));
                    cells.extend(SizeClass::ALL.map(|class| {
                        let of_class = dots.iter().filter(|it| SizeClass::of(it.bytes) == class);
                        let of = Speedups::of(of_class.map(|dot| dot.speedup).collect());
                        or_dash(of.mean.map(ratio_number))
                    }));
                    cells
                },
            )
        });
        let caption = format!(
            "Speedups over {} by column; `not slower`: pages that are at least as fast; the last three: arithmetic means by size class",
            self.baseline
        );
        Table::new(caption, headings.split('|'), rows)
    }
}

impl SpeedupDots {
    /// The number of schemes side by side; in print as many as fit.
    fn groups_beside(&self, sheet: &Sheet) -> usize {
        let longest = self.groups.iter().map(|it| it.label.chars().count().min(LABEL_MAX[1])).max();
        let group = (self.columns.len() as f64 * COLUMN_MIN)
            .max((longest.unwrap_or_default() + 1) as f64 * LETTER);
        let room = to_usize((sheet.width() - MARGIN - LEFT) / group);
        sheet.either(GROUPS_MAX, room.clamp(1, GROUPS_MAX))
    }

    /// The most lines of a scheme's name.
    fn label_lines(&self, sheet: &Sheet) -> usize {
        let letters = sheet.either(LABEL_MAX[0], LABEL_MAX[1]);
        let lines = self.groups.iter().map(|it| name_lines(&it.label, letters).len());
        lines.max().unwrap_or(1)
    }

    fn dots(&self) -> impl Iterator<Item = &Dot> {
        self.groups.iter().flat_map(|group| group.columns.iter().flatten())
    }

    fn is_crowded(&self) -> bool {
        self.dots().count() > TITLED_MAX
    }

    fn draw_panel(&self, svg: &mut Svg, axis: &RatioAxis, groups: &[DotGroup], of: usize) {
        let right = svg.sheet.width() - MARGIN;
        axis.draw(svg, LEFT, right, &format!("speedup over {}", self.baseline));
        let width = (right - LEFT) / of.max(1) as f64;
        let lines = self.label_lines(&svg.sheet);
        for (place, group) in groups.iter().enumerate() {
            let left = LEFT + place as f64 * width;
            if place % 2 == 1 {
                let below = 31.0 + lines as f64 * LABEL_LINE;
                let band = Area { left, top: axis.top(), width, height: axis.height() + below };
                svg.rect(band, BAND);
            }
            let column_width = width / self.columns.len().max(1) as f64;
            for (column, dots) in group.columns.iter().enumerate() {
                let middle = left + (column as f64 + 0.5) * column_width;
                let name = self.columns.get(column).map_or("", String::as_str);
                let style = Style::PLAIN.size(9.5).middle().muted();
                svg.text(middle, axis.bottom() + 18.0, style, name);
                let what = format!("{}, {name}", group.label);
                self.draw_dots(svg, axis, &what, middle, column_width, dots);
            }
            let sheet = &svg.sheet;
            let style = Style::PLAIN.size(12.0).middle().bold().for_names(sheet);
            let letters = sheet.either(LABEL_MAX[0], LABEL_MAX[1]);
            for (line, words) in name_lines(&group.label, letters).iter().enumerate() {
                let y = axis.bottom() + 36.0 + line as f64 * LABEL_LINE;
                svg.text(left + width / 2.0, y, style, &shorten(words, letters));
            }
        }
    }

    fn draw_dots(
        &self,
        svg: &mut Svg,
        axis: &RatioAxis,
        what: &str,
        middle: f64,
        width: f64,
        dots: &[Dot],
    ) {
        let places = swarm(axis, dots, middle, width);
        if self.is_crowded() {
            draw_together(svg, dots, &places);
        } else {
            for (dot, &(x, y)) in dots.iter().zip(&places) {
                self.draw_dot(svg, dot, x, y, what);
            }
        }
        if let Some(median) = Speedups::of(dots.iter().map(|dot| dot.speedup).collect()).median {
            let half = width * 0.38;
            let d = d!("M{} {}h{}", middle - half, axis.place(median), 2.0 * half);
            svg.path(&d, MEDIAN, "");
        }
    }

    fn draw_dot(&self, svg: &mut Svg, dot: &Dot, x: f64, y: f64, what: &str) {
        let class = SizeClass::of(dot.bytes);
        let mut path = String::new();
        class.add_mark(&mut path, x, y);
        let (bytes, speedup) = (bytes_text(dot.bytes), ratio_text(Some(dot.speedup)));
        let title = format!("{} ({bytes}): {what} {speedup}", dot.page);
        svg.path(&path, &class.paint("0.85"), &title);
        if let Some(place) = self.outlined.iter().position(|(page, _)| *page == dot.page) {
            svg.path(&circle(x, y, RING), &ring_stroke(place), "");
        }
    }

    /// Gives the figure's end.
    fn draw_legend(&self, svg: &mut Svg, top: f64) -> f64 {
        let mut flow = Flow { left: LEFT, right: svg.sheet.width(), next: LEFT, top };
        for class in SizeClass::ALL {
            let (x, top) = flow.place(205.0);
            let mut path = String::new();
            class.add_mark(&mut path, x + 4.0, top + 8.0);
            svg.path(&path, &class.paint("1"), "");
            svg.text(x + 13.0, top + 12.0, SMALL, class.look()[1]);
        }
        let (x, top) = flow.place(120.0);
        svg.path(&d!("M{} {}h16", x, top + 8.0), MEDIAN, "");
        svg.text(x + 22.0, top + 12.0, SMALL, "median page");
        for (place, (_, words)) in self.outlined.iter().enumerate() {
            let (x, top) = flow.place(40.0 + words.chars().count() as f64 * 6.2);
            svg.path(&circle(x + 4.0, top + 8.0, RING), &ring_stroke(place), "");
            svg.text(x + 15.0, top + 12.0, SMALL, words);
        }
        flow.top + 26.0
    }
}

/// The first page has a solid ring, the others broken ones.
fn ring_stroke(place: usize) -> String {
    let dashes =
        ["", r#" stroke-dasharray="2.2 1.6""#, r#" stroke-dasharray="1 1.4""#][place.min(2)];
    format!(r##"class="outline" fill="none" stroke="#1a1a1a" stroke-width="1.5"{dashes}"##)
}

fn bin(axis: &RatioAxis, dot: &Dot) -> u64 {
    to_u64((axis.place(dot.speedup) / BIN).round())
}

/// The position of each dot: at its height, beside others of the same height.
fn swarm(axis: &RatioAxis, dots: &[Dot], middle: f64, width: f64) -> Vec<(f64, f64)> {
    let mut order: Vec<usize> = (0..dots.len()).collect();
    order.sort_by_key(|&place| {
        (bin(axis, &dots[place]), SizeClass::of(dots[place].bytes), &dots[place].page)
    });
    let mut places = vec![(middle, 0.0); dots.len()];
    for row in order.chunk_by(|&one, &other| bin(axis, &dots[one]) == bin(axis, &dots[other])) {
        let step = DOT.min((width - DOT).max(1.0) / row.len() as f64);
        let first = middle - step * (row.len() - 1) as f64 / 2.0;
        for (place, &dot) in row.iter().enumerate() {
            places[dot] = (first + place as f64 * step, axis.place(dots[dot].speedup));
        }
    }
    places
}

/// In a crowd, dots within this many units are drawn as one; less than the size of a dot.
const TOGETHER: f64 = 4.0;

/// One path for each class; dots at (nearly) the same place are drawn once.
fn draw_together(svg: &mut Svg, dots: &[Dot], places: &[(f64, f64)]) {
    for class in SizeClass::ALL {
        let rounded: BTreeSet<(u64, u64)> = dots
            .iter()
            .zip(places)
            .filter(|(dot, _)| SizeClass::of(dot.bytes) == class)
            .map(|(_, &(x, y))| (to_u64((x / TOGETHER).round()), to_u64((y / TOGETHER).round())))
            .collect();
        let mut path = String::new();
        for (x, y) in rounded {
            class.add_mark(&mut path, x as f64 * TOGETHER, y as f64 * TOGETHER);
        }
        if !path.is_empty() {
            svg.path(&path, &class.paint("0.7"), "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::svg::number;
    use super::*;

    fn dot(page: &str, bytes: u64, speedup: f64) -> Dot {
        Dot { page: page.to_owned(), bytes, speedup }
    }

    fn figure(dots: Vec<Dot>) -> SpeedupDots {
        SpeedupDots {
            title: "t".to_owned(),
            baseline: "rr".to_owned(),
            columns: vec!["All".to_owned(), "ATF".to_owned()],
            groups: vec![DotGroup { label: "p<+".to_owned(), columns: vec![dots, Vec::new()] }],
            outlined: vec![("b".to_owned(), "case 1".to_owned())],
        }
    }

    #[test]
    fn a_page_is_classed_by_its_bytes_as_in_the_paper() {
        use SizeClass::{Large, Medium, Small};
        let classes = [499_999, 500_000, 1_000_000, 1_000_001].map(SizeClass::of);
        assert_eq!(classes, [Small, Medium, Medium, Large]);
    }

    #[test]
    fn every_page_is_a_dot_that_names_it_and_the_case_studies_are_ringed() {
        let svg = figure(vec![dot("a", 400, 2.0), dot("b", 2_000_000, 0.5)]).svg();
        assert!(svg.contains("<title>a (400 B): p&lt;+, All ×2.00</title>"), "{svg}");
        assert!(svg.contains("<title>b (2.00 MB): p&lt;+, All /2.00</title>"));
        assert_eq!(svg.matches("m-5 0a5 5").count(), 2, "one dot and the legend");
    }

    #[test]
    fn pages_as_fast_as_one_another_stand_side_by_side() {
        let axis = RatioAxis::new([1.0, 2.0].into_iter(), 100.0, 0.0);
        let dots = [dot("a", 1, 1.5), dot("b", 1, 1.5), dot("c", 1, 2.0)];
        let places = swarm(&axis, &dots, 50.0, 40.0);
        let texts: Vec<String> = places.iter().map(|(x, _)| number(*x)).collect();
        assert_eq!(texts, ["47.4", "52.6", "50"]);
        assert_eq!(number(places[0].1), number(places[1].1));
    }

    #[test]
    fn thousands_of_pages_make_a_figure_of_bounded_size() {
        let many = (0..20_000_u32).map(|it| {
            dot(&format!("page{it}"), u64::from(it) * 200, 0.5 + f64::from(it % 997) / 200.0)
        });
        let figure = figure(many.collect());
        assert!(figure.svg().len() < 400_000, "{}", figure.svg().len());
        assert!(figure.caption().contains("stands for several"));
    }

    #[test]
    fn the_table_has_means_by_size_class() {
        let table = figure(vec![dot("a", 400, 2.0), dot("b", 2_000_000, 0.5)]).table();
        assert_eq!(
            table.rows[0].join(" "),
            "p<+ All 2 1.25 1.25 2.00 0.50 50\u{202f}% 2.00 – 0.50"
        );
    }
}
