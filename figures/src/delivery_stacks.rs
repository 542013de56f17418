//! Data delivered together (the paper's Figure 13): packets or frames that were delivered at the same moment are stacked.
//! An empty place is a moment at which nothing could be used.

use std::collections::BTreeMap;

use super::axis::{Across, Axis};
use super::legend;
use super::paint::Paints;
use super::sheet::Sheet;
use super::svg::{Area, GRID, MARGIN, Style, Svg, WIDTH, add_box, d};
use crate::palette::looks;
use qlog_tools::head_of_line::{HeadOfLine, Piece};
use qlog_tools::labels::short_name;
use qlog_tools::page_resources::{PageResource, places_of_streams};
use qlog_tools::short_texts::shorten;
use qlog_tools::timeline::Timeline;

/// The figure.
#[derive(Debug, Clone)]
pub struct DeliveryStacks {
    /// Distinguishes this figure's patterns from others on the same page; letters, digits and hyphens.
    pub id: String,
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// The meaning of the width.
    pub axis: Axis,
    /// Turns the axis' default title into its title.
    pub words: fn(String) -> String,
    /// The duration of a moment, in the axis' unit: the width of a stack, which ends there.
    pub slot: f64,
    /// The end of the axis, in its unit; later deliveries are not drawn.
    pub end: f64,
    /// The page's resources in request order.
    pub resources: Vec<PageResource>,
    /// The runs, top to bottom.
    pub rows: Vec<StackRow>,
}

/// One run.
#[derive(Debug, Clone, Default)]
pub struct StackRow {
    /// The label of the run.
    pub label: String,
    /// In order, with the moment in the axis' unit: the resources delivered at that moment.
    pub stacks: Vec<(f64, Stack)>,
}

/// The resources delivered at a moment, from below; `None` for one that the page does not list.
pub type Stack = Vec<Option<usize>>;

const LEFT: f64 = 150.0;
const TOP: f64 = 40.0;
/// The preferred height of a block, the greatest height of a row, and the greatest width of a block.
const BLOCK: f64 = 9.0;
const ROW: f64 = 150.0;
const BLOCK_WIDTH: f64 = 12.0;
/// The number of columns for the arrivals of a log; each shows the highest stack of its arrivals.
const COLUMNS: usize = 1000;

impl DeliveryStacks {
    /// The bytes that each arrival of a log released: as QUIC delivered it, and as a single order for all streams would
    /// have.
    pub fn of_log(
        title: String,
        resources: Vec<PageResource>,
        timeline: &Timeline,
        hol: &HeadOfLine,
    ) -> Self {
        let places = places_of_streams(&resources, timeline);
        let slot = timeline.frames.len().div_ceil(COLUMNS).max(1);
        let quic = released(hol, &places, |it| it.delivered);
        let one_order = released(hol, &places, |it| it.delivered_in_one_order);
        let rows = [("QUIC", quic), ("one order", one_order)].map(|(label, released)| StackRow {
            label: label.to_owned(),
            stacks: highest_stacks(released, slot),
        });
        Self {
            id: "stacks".to_owned(),
            title,
            axis: Axis::Frames,
            words: |it| it + " in order of arrival; frames delivered together are stacked",
            slot: slot as f64,
            end: timeline.frames.len().max(1) as f64,
            rows: rows.into(),
            resources,
        }
    }

    /// The figure on `sheet`, which is a screen.
    pub fn draw(&self, sheet: &Sheet) -> String {
        let paints = Paints::new(&self.id, &looks(&self.resources));
        let mut svg = Svg::on(sheet);
        svg.raw(&paints.definitions);
        svg.text(MARGIN, 22.0, Style::PLAIN.size(14.0).bold(), &self.title);
        let highest = self.rows.iter().map(|it| self.highest(it)).max().unwrap_or(1);
        let block = BLOCK.min(ROW / highest as f64);
        let mut top = TOP;
        for row in &self.rows {
            let height = self.highest(row) as f64 * block;
            self.draw_row(&mut svg, row, top + height, block, &paints);
            top += height + 18.0;
        }
        self.across().draw(&mut svg, [top + 10.0, top + 28.0], |_| None);
        let (top, right) = (top + 44.0, WIDTH - MARGIN);
        let height = legend::draw(&mut svg, top, right, &self.resources, &paints.fills);
        svg.finish(WIDTH, top + height + MARGIN, &self.title)
    }

    fn highest(&self, row: &StackRow) -> usize {
        let shown = row.stacks.iter().filter(|(moment, _)| *moment <= self.end);
        shown.map(|(_, stack)| stack.len()).max().unwrap_or(0).max(2)
    }

    fn across(&self) -> Across {
        let across = Across::new(self.axis, LEFT, WIDTH - MARGIN, self.end.max(1.0));
        Across { words: self.words, ..across }
    }

    fn draw_row(&self, svg: &mut Svg, row: &StackRow, bottom: f64, block: f64, paints: &Paints) {
        svg.text(MARGIN, bottom - 4.0, Style::PLAIN.size(12.0).bold(), &shorten(&row.label, 20));
        svg.path(&d!("M{LEFT} {}H{}", bottom + 0.5, WIDTH - MARGIN), GRID, "");
        let across = self.across();
        let slot = (across.x(self.slot) - LEFT).max(0.6);
        let (width, height) =
            ((slot - 0.4).clamp(0.5, BLOCK_WIDTH), (block - 0.6).max(block / 2.0));
        // One path for each resource, because a load has thousands of packets.
        let mut paths = vec![String::new(); paints.fills.len() + 1];
        for (moment, stack) in row.stacks.iter().filter(|(moment, _)| *moment <= self.end) {
            for (level, resource) in stack.iter().enumerate() {
                let place = resource.unwrap_or(usize::MAX).min(paints.fills.len());
                let top = bottom - (level + 1) as f64 * block;
                let left = across.x(*moment) - slot;
                add_box(&mut paths[place], Area { left, top, width, height });
            }
        }
        paints.draw(svg, &paths, |place| {
            let name = self.resources.get(place).map_or("not listed", |it| short_name(&it.url));
            format!("{}: {name}", row.label)
        });
    }
}

/// For each arrival, the frames that it released, as resources. Pieces of one frame count as one.
fn released(
    hol: &HeadOfLine,
    places: &BTreeMap<u64, Option<usize>>,
    released_by: fn(&Piece) -> usize,
) -> BTreeMap<usize, Stack> {
    let mut released: BTreeMap<usize, (Stack, usize)> = BTreeMap::new();
    for piece in hol.pieces() {
        let (stack, last) =
            released.entry(released_by(&piece)).or_insert((Stack::new(), usize::MAX));
        if *last != piece.arrived {
            stack.push(places.get(&piece.stream).copied().flatten());
        }
        *last = piece.arrived;
    }
    released.into_iter().map(|(arrival, (stack, _))| (arrival, stack)).collect()
}

/// For each slot, the highest stack of its arrivals, with the end of that arrival's slot.
fn highest_stacks(released: BTreeMap<usize, Stack>, slot: usize) -> Vec<(f64, Stack)> {
    let mut columns: BTreeMap<usize, (usize, Stack)> = BTreeMap::new();
    for (arrival, stack) in released {
        let column = columns.entry(arrival / slot).or_default();
        if stack.len() > column.1.len() {
            *column = (arrival, stack);
        }
    }
    columns.into_values().map(|(arrival, stack)| ((arrival + slot) as f64, stack)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use qlog_tools::assembly::StreamFrame;
    use qlog_tools::head_of_line::Arrivals;
    use schedulers::Kind;

    fn figure() -> DeliveryStacks {
        DeliveryStacks {
            id: "x".to_owned(),
            title: "t".to_owned(),
            axis: Axis::Time,
            words: std::convert::identity,
            slot: 10.0,
            end: 100.0,
            resources: vec![PageResource {
                url: "/<a>".to_owned(),
                kind: Kind::Html,
                above_fold: true,
                body_bytes: None,
                streams: Vec::new(),
            }],
            rows: vec![StackRow {
                label: "rr".to_owned(),
                stacks: vec![
                    (10.0, vec![Some(0)]),
                    (30.0, vec![Some(0), None]),
                    (900.0, vec![None]),
                ],
            }],
        }
    }

    #[test]
    fn packets_that_came_together_stand_on_one_another() {
        let figure = figure();
        let svg = figure.draw(&Sheet::default());
        assert!(svg.contains("rr: &lt;a&gt;") && svg.contains("rr: not listed"), "{svg}");
        let listed = svg.lines().find(|it| it.contains("rr: &lt;a&gt;")).expect("its path");
        assert_eq!(listed.matches('M').count(), 2);
    }

    #[test]
    fn what_waits_in_one_order_is_stacked_there() {
        let frame = |time_us, stream, offset| StreamFrame { time_us, stream, offset, bytes: 100 };
        let sent = [frame(0, 0, 0), frame(1, 4, 0), frame(2, 0, 100)];
        let frames = vec![frame(9, 0, 0), frame(10, 0, 100), frame(30, 4, 0)];
        let (arrived, sent) = (frames.iter().collect(), sent.iter().collect());
        let hol = HeadOfLine::new(Arrivals { frames: &arrived, sent: Some(&sent), received: None });
        let timeline = Timeline { frames, ..Timeline::default() };
        let figure = DeliveryStacks::of_log("<t>".to_owned(), Vec::new(), &timeline, &hol);
        let heights = |row: &StackRow| {
            row.stacks.iter().map(|(end, stack)| (*end, stack.len())).collect::<Vec<_>>()
        };
        assert_eq!(heights(&figure.rows[0]), [(1.0, 1), (2.0, 1), (3.0, 1)]);
        assert_eq!(heights(&figure.rows[1]), [(1.0, 1), (3.0, 2)]);
        let svg = figure.draw(&Sheet::default());
        assert!(svg.starts_with("<svg ") && svg.contains("&lt;t&gt;") && !svg.contains("<t>"));
    }

    #[test]
    fn a_very_high_stack_makes_blocks_lower_and_not_the_figure_higher() {
        let height = |packets: usize| {
            let row = StackRow { stacks: vec![(1.0, vec![None; packets])], ..StackRow::default() };
            let figure = DeliveryStacks { rows: vec![row], ..figure() };
            let svg = figure.draw(&Sheet::default());
            let view = svg.split("viewBox=\"0 0 1180 ").nth(1).expect("a view");
            view.split('"').next().expect("a height").parse::<f64>().expect("a number")
        };
        assert!((height(1000) - height(16)).abs() < 7.0, "{} {}", height(1000), height(16));
        assert!(height(16) > height(4) + 100.0);
    }
}
