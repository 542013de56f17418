//! One row for each stream, from its request to its last byte.

use std::collections::BTreeSet;

use super::multiplexing::MARKS;
use super::{LEFT, Plot, TOP};
use crate::viewer::{Recording, Stream};
use figures::svg::Area;
use qlog_tools::causes::Mark;
use qlog_tools::short_texts::shorten;

const ROW: f64 = 18.0;
/// Characters of a label, and of the priority in it.
const LABEL: usize = 36;
const PRIORITY: usize = 16;
/// The most rows; a last line gives the number of further streams.
const ROWS_MAX: usize = 120;

pub(super) fn draw(recording: &Recording) -> String {
    let shown = recording.streams.len().min(ROWS_MAX);
    let more = recording.streams.len() - shown;
    let rows = shown + usize::from(more > 0);
    let mut plot = Plot::new(recording, "waterfall", ROW * rows as f64 + 4.0);
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); shown];
    for frame in &recording.frames {
        let column = plot.column(frame.time_us);
        if let Some(columns) = columns.get_mut(frame.stream).filter(|it| it.last() != Some(&column))
        {
            columns.push(column);
        }
    }
    let marked = recording.frames.iter().filter_map(|it| Some((it.stream, it.time_us, it.mark?)));
    let marked: BTreeSet<(usize, usize, Mark)> =
        marked.map(|(stream, at_us, mark)| (stream, plot.column(at_us), mark)).collect();
    // A log's clock can step back.
    for columns in &mut columns {
        columns.sort_unstable();
    }
    for (row, stream) in recording.streams.iter().take(shown).enumerate() {
        let top = TOP + 2.0 + ROW * row as f64;
        let middle = top + ROW / 2.0;
        let priority = shorten(&stream.priority, PRIORITY);
        let room = LABEL.saturating_sub(priority.chars().count() + 1);
        let label = format!("{} {priority}", stream.label(room));
        plot.label(middle + 4.0, label.trim_end());
        draw_request(&mut plot, stream, middle);
        for run in columns[row].chunk_by(|one, next| next.abs_diff(*one) <= 1) {
            let (left, top) = (LEFT + run[0] as f64, top + 3.0);
            let width = (run[run.len() - 1] - run[0] + 1) as f64 + 0.5;
            plot.block(Area { left, top, width, height: ROW - 6.0 }, row);
        }
        for &(_, column, mark) in
            marked.range((row, 0, Mark::Retransmitted)..(row + 1, 0, Mark::Retransmitted))
        {
            let colour = MARKS.iter().find(|it| it.0 == mark).map_or("#1a1a1a", |it| it.2);
            let left = LEFT + column as f64;
            let area = Area { left, top: top + ROW - 5.0, width: 2.0, height: 4.0 };
            plot.svg.rect(area, &format!(r#"fill="{colour}""#));
        }
        if let Some(complete_us) = stream.complete_us {
            let x = plot.x(complete_us);
            plot.line(&[(x, top + 1.0), (x, top + ROW - 1.0)], "#1a1a1a", "");
        }
    }
    if more > 0 {
        plot.label(TOP + ROW * rows as f64 - 3.0, &format!("and {more} more streams"));
    }
    plot.finish()
}

/// Draws a triangle, and the wait for the first byte.
fn draw_request(plot: &mut Plot, stream: &Stream, middle: f64) {
    if let (Some(requested_us), Some(first_us)) = (stream.requested_us, stream.first_us) {
        let (from, to) = (plot.x(requested_us), plot.x(first_us));
        plot.line(&[(from, middle), (to.max(from), middle)], "#5a5a5a", "");
        let (top, bottom) = ((from, middle - 5.0), (from, middle + 5.0));
        plot.line(&[top, (from + 6.0, middle), bottom, top], "#1a1a1a", "");
    }
}
