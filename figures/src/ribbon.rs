//! Ribbons: which stream got each packet, with runs below each other (the paper's Figure 8).

mod layout;

use layout::{Layout, TITLE_HEIGHT, row_top};
use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::axis::{Across, Axis};
use super::blocks::{Block, are_columns, blocks_of};
use super::paint::Paints;
use super::sheet::{Drawing, Sheet};
use super::svg::{Area, INK, MARGIN, Style, Svg, add_box, d};
use super::{REGRET, Table, legend};
use crate::number_texts::{bytes_text, milliseconds_or_dash, milliseconds_text, or_dash};
use crate::palette::looks;
use qlog_tools::limits::NAME_CHARACTERS;
use qlog_tools::page_resources::PageResource;
use qlog_tools::short_texts::shorten;
use qlog_tools::timeline::Timeline;

/// A figure with one ribbon for each run.
#[derive(Debug, Clone, Default)]
pub struct Ribbons<'a> {
    /// Distinguishes this figure's patterns from other figures' on the same page.
    pub id: String,
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// The meaning of the width.
    pub axis: Axis,
    /// The page's resources in request order.
    pub resources: Vec<PageResource>,
    /// Headings of the columns right of the ribbons.
    pub note_titles: Vec<String>,
    /// The runs, top to bottom.
    pub rows: Vec<RibbonRow<'a>>,
}

/// One run.
#[derive(Debug, Clone)]
pub struct RibbonRow<'a> {
    /// Usually the scheme.
    pub label: String,
    /// One text for each of `note_titles`: an index, a speedup.
    pub notes: Vec<String>,
    /// The arrivals.
    pub timeline: &'a Timeline,
    /// The moments that its visitor sees.
    pub marks: Vec<Mark>,
}

/// A moment of a load, which the time axis marks with the first letter of its name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// The event: `first render`.
    pub name: &'static str,
    /// Milliseconds from the first request.
    pub at_ms: f64,
}

const BLOCK_HEIGHT: f64 = 21.0;
const ATF_BAR_HEIGHT: f64 = 3.0;
const AXIS_HEIGHT: f64 = 46.0;
const NOTE_LINE: f64 = 12.0;
/// The width and height of a mark's letter.
const MARK: [f64; 2] = [9.0, 11.0];
/// Narrower blocks are drawn without a line between them.
const SEPARATE_FROM: f64 = 2.5;

impl Drawing for Ribbons<'_> {
    fn title(&self) -> &str {
        &self.title
    }

    fn draw(&self, sheet: &Sheet) -> String {
        self.drawn(sheet).0
    }

    fn caption(&self) -> String {
        let blocks = match self.axis {
            Axis::Time => {
                "Each block is one STREAM frame: it ends when the frame arrived and is as wide as its bytes take at the run's highest sustained rate."
            }
            Axis::Frames => {
                "Each block is one STREAM frame, whatever its size, in order of arrival."
            }
            Axis::Bytes => {
                "Each block is one STREAM frame, as wide as its bytes, in order of arrival."
            }
        };
        let columns = if self.rows.iter().any(|row| are_columns(row.timeline)) {
            " Runs of more than 4000 frames are drawn in 4000 columns, each in the colour of the resource that fills most of it."
        } else {
            ""
        };
        let atf = if self.resources.iter().any(|resource| resource.above_fold) {
            " The line under a ribbon marks bytes of above-the-fold (ATF) resources."
        } else {
            ""
        };
        let marks: BTreeSet<&str> =
            self.rows.iter().flat_map(|row| &row.marks).map(|it| it.name).collect();
        let marks = marks.iter().map(|name| format!("{} {name}", letter(name)));
        let marks = marks.collect::<Vec<_>>().join(", ");
        let marks = if marks.is_empty() { marks } else { format!(" Letters mark: {marks}.") };
        let regret = if self.note_titles.iter().any(|it| it == "regret") { REGRET } else { "" };
        format!(
            "{blocks}{columns} Control streams are left out; retransmitted frames are drawn again.{atf}{marks}{regret}"
        )
    }

    /// When each resource was complete in each run.
    fn table(&self) -> Table {
        let headings = ["resource", "kind", "bytes", "ATF"].into_iter();
        let headings = headings.chain(self.rows.iter().map(|row| &*row.label));
        let completions: Vec<Vec<Option<f64>>> =
            self.rows.iter().map(|row| completions_ms(row.timeline, &self.resources)).collect();
        let rows = self.resources.iter().enumerate().map(|(place, resource)| {
            let mut cells = vec![
                shorten(&resource.url, NAME_CHARACTERS),
                resource.kind.name().to_owned(),
                or_dash(resource.body_bytes.map(bytes_text)),
                if resource.above_fold { "ATF" } else { "" }.to_owned(),
            ];
            cells.extend(completions.iter().map(|run| milliseconds_or_dash(run[place])));
            cells
        });
        let caption = "Time to completion of each resource, in ms since the first request";
        Table::new(caption, headings, rows)
    }
}

impl Ribbons<'_> {
    /// The figure as SVG, and its horizontal axis.
    pub fn drawn(&self, sheet: &Sheet) -> (String, Across) {
        let runs = self.rows.iter().map(|row| blocks_of(row.timeline, &self.resources, self.axis));
        let runs: Vec<Vec<Block>> = runs.collect();
        let ends = runs.iter().filter_map(|blocks| Some(blocks.last()?.end));
        let marks = self.rows.iter().flat_map(|row| &row.marks).map(|it| it.at_ms);
        let marks = marks.filter(|_| self.axis == Axis::Time);
        let end = ends.chain(marks).fold(0.0, f64::max);
        let layout = Layout::new(self, sheet, end);
        let paints = Paints::new(&self.id, &looks(&self.resources));
        let mut svg = Svg::on(sheet);
        svg.raw(&paints.definitions);
        let lines = layout.note_titles.iter().map(Vec::len).max().unwrap_or_default();
        svg.head(&[&self.title], TITLE_HEIGHT - 8.0 - lines as f64 * NOTE_LINE);
        draw_axis(&mut svg, &layout);
        for (place, (row, blocks)) in self.rows.iter().zip(&runs).enumerate() {
            // Once for each run, because it goes through all frames.
            let complete = completions_ms(row.timeline, &self.resources);
            self.draw_row(&mut svg, &layout, place, &complete);
            self.draw_blocks(&mut svg, &layout, place, blocks, &paints, &complete);
            if self.axis == Axis::Time {
                draw_marks(&mut svg, &layout, row_top(place), row);
            }
        }
        let top = layout.axis_top + AXIS_HEIGHT;
        let right = sheet.width() - MARGIN;
        let height = legend::draw(&mut svg, top, right, &self.resources, &paints.fills);
        (svg.finish(sheet.width(), top + height + MARGIN, &self.title), layout.across)
    }

    fn draw_row(&self, svg: &mut Svg, layout: &Layout, place: usize, complete: &[Option<f64>]) {
        let (top, row) = (row_top(place), &self.rows[place]);
        let baseline = top + 15.5;
        let Across { left, right, .. } = layout.across;
        let track = Area { left, top, width: right - left, height: BLOCK_HEIGHT };
        svg.rect(track, r##"class="track" fill="#f3f3f3""##);
        let label = shorten(&row.label, layout.label_characters);
        let style = Style::PLAIN.size(12.5).bold().end().for_names(&svg.sheet);
        svg.text(left - 8.0, baseline, style, &label);
        for (place, note) in row.notes.iter().enumerate().take(layout.note_titles.len()) {
            let style = Style::PLAIN.end().for_names(&svg.sheet);
            svg.text(layout.note_x(place), baseline, style, note);
        }
        if self.axis == Axis::Time {
            self.draw_atf_completion(svg, layout, place, complete);
        }
    }

    /// A triangle above the moment when the last ATF resource was complete.
    fn draw_atf_completion(
        &self,
        svg: &mut Svg,
        layout: &Layout,
        place: usize,
        complete: &[Option<f64>],
    ) {
        let of_atf = self.resources.iter().zip(complete).filter(|it| it.0.above_fold);
        let times: Option<Vec<f64>> = of_atf.map(|(_, time_ms)| *time_ms).collect();
        let Some(last_ms) = times.and_then(|times| times.into_iter().reduce(f64::max)) else {
            return;
        };
        let (top, label) = (row_top(place), &self.rows[place].label);
        let complete = milliseconds_text(last_ms);
        let title = format!("{label}: all ATF resources complete at {complete} ms");
        svg.path(&d!("M{} {}l-4 -6h8z", layout.across.x(last_ms), top), INK, &title);
    }

    fn draw_blocks(
        &self,
        svg: &mut Svg,
        layout: &Layout,
        place: usize,
        blocks: &[Block],
        paints: &Paints,
        complete: &[Option<f64>],
    ) {
        let top = row_top(place);
        let pixels = layout.across.x(layout.across.end) - layout.across.left;
        let is_separate = blocks.len() as f64 * SEPARATE_FROM <= pixels;
        let mut paths = vec![String::new(); self.resources.len() + 1];
        let mut counts = vec![0_usize; self.resources.len() + 1];
        for block in blocks {
            counts[block.resource.unwrap_or(self.resources.len())] += 1;
        }
        for block in if is_separate { blocks.to_vec() } else { joined(blocks) } {
            let path = &mut paths[block.resource.unwrap_or(self.resources.len())];
            let (left, right) = (layout.across.x(block.start), layout.across.x(block.end));
            let width = if is_separate { (right - left) * 0.94 } else { right - left };
            add_box(path, Area { left, top, width: width.max(0.15), height: BLOCK_HEIGHT });
        }
        paints.draw(svg, &paths, |resource| {
            let complete_ms = complete.get(resource).copied().flatten();
            self.tooltip(place, resource, complete_ms, counts[resource])
        });
        let mut bar = String::new();
        let mut atf = blocks.to_vec();
        atf.retain(|it| it.resource.is_some_and(|it| self.resources[it].above_fold));
        // Without their resources, neighbours join.
        for block in &mut atf {
            block.resource = None;
        }
        for block in joined(&atf) {
            let (left, right) = (layout.across.x(block.start), layout.across.x(block.end));
            let (top, width) = (top + BLOCK_HEIGHT + 1.0, (right - left).max(0.15));
            add_box(&mut bar, Area { left, top, width, height: ATF_BAR_HEIGHT });
        }
        if !bar.is_empty() {
            svg.path(&bar, INK, "");
        }
    }

    fn tooltip(
        &self,
        row: usize,
        resource: usize,
        complete_ms: Option<f64>,
        blocks: usize,
    ) -> String {
        let row = &self.rows[row];
        let Some(known) = self.resources.get(resource) else {
            let label = &row.label;
            return format!("{label}: {blocks} blocks of resources that the page does not list");
        };
        let mut title = format!("{}: {} ({}", row.label, named(known), known.kind.name());
        if known.above_fold {
            title.push_str(", ATF");
        }
        if let Some(bytes) = known.body_bytes {
            let _ = write!(title, ", {}", bytes_text(bytes));
        }
        let complete = milliseconds_or_dash(complete_ms);
        let _ = write!(title, "), {blocks} blocks, complete at {complete} ms");
        title
    }
}

/// Draws a line at each moment, with its letter. Letters that would overlap stand side by side.
fn draw_marks(svg: &mut Svg, layout: &Layout, top: f64, row: &RibbonRow<'_>) {
    let mut marks = row.marks.clone();
    marks.sort_by(|one, other| one.at_ms.total_cmp(&other.at_ms));
    let [width, height] = MARK;
    let mut free = f64::NEG_INFINITY;
    for mark in marks {
        let x = layout.across.x(mark.at_ms);
        let left = x.max(free);
        free = left + width;
        let title = format!("{}: {} at {} ms", row.label, mark.name, milliseconds_text(mark.at_ms));
        svg.path(&d!("M{} {}h1v{}h-1z", x, top - 3.0, BLOCK_HEIGHT + 6.0), INK, &title);
        svg.rect(Area { left, top, width, height }, r##"class="paper" fill="#ffffff""##);
        svg.text(left + 1.2, top + 9.0, Style::PLAIN.size(10.0).bold(), &letter(mark.name));
    }
}

fn letter(name: &str) -> String {
    name.chars().take(1).flat_map(char::to_uppercase).collect()
}

fn draw_axis(svg: &mut Svg, layout: &Layout) {
    let top = layout.axis_top;
    layout
        .across
        .draw(svg, [top + 17.0, top + 34.0], |x| Some(d!("M{x} {}V{}", TITLE_HEIGHT - 2.0, top)));
    // The ribbons hide the grid, so the axis has its own ticks.
    let mut axis = d!("M{} {}H{}", layout.across.left, top, layout.across.right);
    for (value, _) in layout.across.axis.ticks(0.0, layout.across.end).0 {
        axis.push_str(&d!("M{} {}v5", layout.across.x(value), top));
    }
    svg.path(&axis, r##"class="outline" stroke="#1a1a1a" stroke-width="1" fill="none""##, "");
    for (place, title) in layout.note_titles.iter().enumerate() {
        for (line, words) in title.iter().rev().enumerate() {
            let y = TITLE_HEIGHT - 8.0 - line as f64 * NOTE_LINE;
            let style = Style::PLAIN.size(10.5).end().muted();
            svg.text(layout.note_x(place), y, style, words);
        }
    }
}

/// Merges adjacent blocks of one resource.
fn joined(blocks: &[Block]) -> Vec<Block> {
    let mut joined: Vec<Block> = Vec::new();
    for block in blocks {
        match joined.last_mut() {
            Some(last) if last.resource == block.resource && block.start <= last.end => {
                last.end = block.end;
            }
            _ => joined.push(*block),
        }
    }
    joined
}

/// When each resource was complete, in milliseconds from the run's first request.
fn completions_ms(timeline: &Timeline, resources: &[PageResource]) -> Vec<Option<f64>> {
    let start_us = timeline.start_us().unwrap_or_default();
    let mut by_url = std::collections::BTreeMap::new();
    for (transfer, delivery) in timeline.transfers.iter().zip(timeline.deliveries()) {
        by_url.entry(&*transfer.url).or_insert(delivery.complete_us);
    }
    let completions_ms = resources.iter().map(|resource| {
        let complete_us = by_url.get(&*resource.url).copied().flatten()?;
        Some(complete_us.saturating_sub(start_us) as f64 / 1000.0)
    });
    completions_ms.collect()
}

/// The name of a resource with its streams, for tooltips.
fn named(resource: &PageResource) -> String {
    let url = shorten(&resource.url, NAME_CHARACTERS);
    let ids: Vec<String> = resource.streams.iter().map(u64::to_string).collect();
    if ids.is_empty() { url } else { format!("{} {url}", ids.join(",")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qlog_tools::assembly::StreamFrame;
    use qlog_tools::timeline::Transfer;
    use schedulers::Kind;

    fn timeline(frames: u64) -> Timeline {
        Timeline {
            transfers: vec![Transfer {
                url: "/<script>".to_owned(),
                body_bytes: Some(frames * 10),
                stream_bytes: Some(frames * 10),
                ..Transfer::default()
            }],
            frames: (0..frames)
                .map(|n| StreamFrame {
                    time_us: (n + 1) * 10_000,
                    stream: 0,
                    offset: n * 10,
                    bytes: 10,
                })
                .collect(),
            ..Timeline::default()
        }
    }

    fn figure(timeline: &Timeline, axis: Axis) -> Ribbons<'_> {
        Ribbons {
            id: "a\" onload".to_owned(),
            title: "<b>".to_owned(),
            axis,
            resources: vec![PageResource {
                url: "/<script>".to_owned(),
                kind: Kind::Html,
                above_fold: true,
                body_bytes: Some(30),
                streams: Vec::new(),
            }],
            note_titles: vec!["ByteIndex".to_owned()],
            rows: vec![RibbonRow {
                label: "r&r".to_owned(),
                notes: vec!["30 ms".to_owned()],
                timeline,
                marks: vec![Mark { name: "first render", at_ms: 20.0 }],
            }],
        }
    }

    #[test]
    fn names_from_outside_are_escaped() {
        let timeline = timeline(3);
        let svg = figure(&timeline, Axis::Time).svg();
        assert!(!svg.contains("<script>") && !svg.contains("<b>") && !svg.contains("r&r"));
        assert!(
            svg.contains("r&amp;r: /&lt;script&gt; (html, ATF, 30 B), 3 blocks, complete at 30 ms"),
            "{svg}"
        );
    }

    #[test]
    fn what_a_visitor_sees_is_marked_on_the_time_axis_alone() {
        let timeline = timeline(3);
        let marked =
            |axis| figure(&timeline, axis).svg().contains("r&amp;r: first render at 20 ms");
        assert_eq!([Axis::Time, Axis::Frames].map(marked), [true, false]);
        assert!(
            figure(&timeline, Axis::Time).caption().ends_with(" Letters mark: F first render.")
        );
    }

    #[test]
    fn every_frame_is_a_block() {
        let timeline = timeline(3);
        for axis in [Axis::Time, Axis::Frames, Axis::Bytes] {
            let svg = figure(&timeline, axis).svg();
            let blocks = svg.lines().find(|line| line.contains("3 blocks")).unwrap();
            assert_eq!(blocks.matches('M').count(), 3, "{blocks}");
        }
    }

    #[test]
    fn a_long_run_says_that_it_is_aggregated() {
        let (long, short) = (timeline(5000), timeline(3));
        assert!(figure(&long, Axis::Time).caption().contains("4000 columns"));
        assert!(!figure(&short, Axis::Time).caption().contains("4000 columns"));
        assert!(figure(&long, Axis::Time).svg().len() < 20_000);
    }

    #[test]
    fn the_table_has_what_the_figure_shows() {
        let (timeline, unfinished) = (timeline(3), Timeline::default());
        let mut figure = figure(&timeline, Axis::Time);
        figure.rows.push(RibbonRow {
            label: "x".to_owned(),
            notes: Vec::new(),
            timeline: &unfinished,
            marks: Vec::new(),
        });
        let table = figure.table();
        assert_eq!(table.headings, ["resource", "kind", "bytes", "ATF", "r&r", "x"]);
        assert_eq!(table.rows, [["/<script>", "html", "30 B", "ATF", "30", "\u{2013}"]]);
        assert!(figure.svg().contains("x</text>"));
    }
}
