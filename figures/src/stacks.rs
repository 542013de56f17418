//! What was delivered together: the paper's Figure 13.

use std::collections::BTreeMap;

use super::axis::{Across, Axis};
use super::legend;
use super::paint::Paints;
use super::sheet::Sheet;
use super::svg::{Area, GRID, MARGIN, Style, Svg, WIDTH, add_box, d};
use crate::palette::looks;
use qlog_tools::head_of_line::{HeadOfLine, Piece};
use qlog_tools::page_resources::PageResource;
use qlog_tools::timeline::Timeline;

/// A figure with two rows: as QUIC delivered, and as one order for all streams would have.
#[derive(Debug, Clone)]
pub struct Stacks<'a> {
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// The resources in request order.
    pub resources: Vec<PageResource>,
    /// What arrived.
    pub timeline: &'a Timeline,
    /// And its blocking.
    pub hol: &'a HeadOfLine,
}

const TITLE_HEIGHT: f64 = 36.0;
const ROW_HEIGHT: f64 = 170.0;
const LABEL_WIDTH: f64 = 104.0;
const AXIS_HEIGHT: f64 = 44.0;
/// The greatest width of a frame.
const BLOCK_WIDTH: f64 = 12.0;
/// Arrivals that share a column of the figure: of these the highest stack is drawn.
const COLUMNS: usize = 1000;

/// The pieces that one arrival released, as resources.
type Released = Vec<Option<usize>>;

impl Stacks<'_> {
    /// The figure.
    pub fn svg(&self) -> String {
        let paints = Paints::new("stacks", &looks(&self.resources));
        let mut svg = Svg::on(&Sheet::default());
        svg.raw(&paints.definitions);
        svg.text(MARGIN, 22.0, Style::PLAIN.size(14.0).bold(), &self.title);
        let rows = [
            ("QUIC", self.columns(|piece| piece.delivered)),
            ("one order", self.columns(|piece| piece.delivered_in_one_order)),
        ];
        let highest =
            rows.iter().flat_map(|(_, columns)| columns.values().map(|it| it.1.len())).max();
        let highest = highest.unwrap_or(1).max(1);
        for (place, (label, columns)) in rows.iter().enumerate() {
            let bottom = TITLE_HEIGHT + ROW_HEIGHT * (place + 1) as f64;
            self.draw_row(&mut svg, bottom, highest, (label, columns), &paints);
        }
        let axis_top = TITLE_HEIGHT + 2.0 * ROW_HEIGHT;
        let across = self.across();
        across.draw(&mut svg, [axis_top + 15.0, axis_top + 32.0], |_| None);
        let place = (axis_top + AXIS_HEIGHT, WIDTH - MARGIN);
        let height = legend::draw(&mut svg, place, &self.resources, &paints.fills);
        svg.finish(WIDTH, axis_top + AXIS_HEIGHT + height + MARGIN, &self.title)
    }

    /// The words below the figure.
    pub fn caption(&self) -> String {
        let columns = if self.timeline.frames.len() > COLUMNS {
            " Of the arrivals that share a column the highest stack is drawn."
        } else {
            ""
        };
        let order = if self.hol.is_exact { "as the server's log has it" } else { "estimated" };
        format!(
            "Each block is a STREAM frame, or the part of one that was new. Frames that were delivered by the same arrival stand on each other; an empty place is an arrival that delivered nothing. Below: what one ordered stream for all (TCP) would have delivered; the order of sending is {order}.{columns}"
        )
    }

    fn across(&self) -> Across {
        let end = self.timeline.frames.len().max(1) as f64;
        let words = |it| it + " in order of arrival; frames delivered together are stacked";
        Across { words, ..Across::new(Axis::Frames, MARGIN + LABEL_WIDTH, WIDTH - MARGIN, end) }
    }

    /// By column the highest of its stacks.
    fn columns(&self, released_by: impl Fn(&Piece) -> usize) -> BTreeMap<usize, (usize, Released)> {
        let places: BTreeMap<&str, usize> =
            self.resources.iter().enumerate().map(|(place, it)| (&*it.url, place)).collect();
        let transfers = self.timeline.transfers.iter();
        let of_stream: BTreeMap<u64, Option<usize>> =
            transfers.map(|it| (it.stream, places.get(&*it.url).copied())).collect();
        let mut released: BTreeMap<usize, (Released, usize)> = BTreeMap::new();
        for piece in self.hol.pieces() {
            let (stack, last) =
                released.entry(released_by(&piece)).or_insert((Released::new(), usize::MAX));
            if *last != piece.arrived {
                stack.push(of_stream.get(&piece.stream).copied().flatten());
            }
            *last = piece.arrived;
        }
        let share = self.timeline.frames.len().div_ceil(COLUMNS).max(1);
        let mut columns: BTreeMap<usize, (usize, Released)> = BTreeMap::new();
        for (arrival, (stack, _)) in released {
            let column = columns.entry(arrival / share).or_default();
            if stack.len() > column.1.len() {
                *column = (arrival, stack);
            }
        }
        columns
    }

    fn draw_row(
        &self,
        svg: &mut Svg,
        bottom: f64,
        highest: usize,
        (label, columns): (&str, &BTreeMap<usize, (usize, Released)>),
        paints: &Paints,
    ) {
        let room = ROW_HEIGHT - 24.0;
        let height = (room / highest as f64).min(16.0);
        let columns_drawn = self.timeline.frames.len().clamp(1, COLUMNS) as f64;
        let across = self.across();
        let width = (across.right - across.left) / columns_drawn;
        let width = (width * 0.94).min(BLOCK_WIDTH);
        let baseline = Style::PLAIN.size(12.5).bold().end();
        svg.text(MARGIN + LABEL_WIDTH - 8.0, bottom - 8.0, baseline, label);
        let mut paths = vec![String::new(); self.resources.len() + 1];
        for (arrival, stack) in columns.values() {
            let left = across.x(*arrival as f64);
            for (level, resource) in stack.iter().enumerate() {
                let top = bottom - height * (level + 1) as f64;
                let path = &mut paths[resource.unwrap_or(self.resources.len())];
                let (width, height) = (width.max(0.4), (height * 0.92).max(0.3));
                add_box(path, Area { left, top, width, height });
            }
        }
        paints.draw(svg, &paths, |resource| {
            self.resources.get(resource).map_or("other streams", |it| &it.url).to_owned()
        });
        let line = d!("M{} {}H{}", MARGIN + LABEL_WIDTH, bottom + 0.5, WIDTH - MARGIN);
        svg.path(&line, GRID, "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qlog_tools::assembly::StreamFrame;
    use qlog_tools::head_of_line::Arrivals;

    #[test]
    fn what_waits_in_one_order_is_stacked_there() {
        let frame = |time_us, stream, offset| StreamFrame { time_us, stream, offset, bytes: 100 };
        let sent = [frame(0, 0, 0), frame(1, 4, 0), frame(2, 0, 100)];
        let frames = vec![frame(9, 0, 0), frame(10, 0, 100), frame(30, 4, 0)];
        let (arrived, sent) = (frames.iter().collect(), sent.iter().collect());
        let hol = HeadOfLine::new(Arrivals { frames: &arrived, sent: Some(&sent), received: None });
        let timeline = Timeline { frames, ..Timeline::default() };
        let stacks = Stacks {
            title: "<t>".to_owned(),
            resources: Vec::new(),
            timeline: &timeline,
            hol: &hol,
        };
        let heights = |columns: BTreeMap<usize, (usize, Released)>| {
            columns.into_iter().map(|(at, (_, stack))| (at, stack.len())).collect::<Vec<_>>()
        };
        assert_eq!(heights(stacks.columns(|it| it.delivered)), [(0, 1), (1, 1), (2, 1)]);
        assert_eq!(heights(stacks.columns(|it| it.delivered_in_one_order)), [(0, 1), (2, 2)]);
        let svg = stacks.svg();
        assert!(svg.starts_with("<svg ") && svg.contains("&lt;t&gt;") && !svg.contains("<t>"));
    }
}
