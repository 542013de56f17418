//! Which stream's bytes arrived when: a column for each pixel, with the shares of the streams in
//! it.

use std::collections::BTreeMap;

use super::{LEFT, Plot, TOP};
use crate::viewer::Recording;
use figures::svg::Area;
use qlog_tools::causes::Mark;

const HEIGHT: f64 = 90.0;
pub(super) const MARKS: [(Mark, &str, &str); 3] = [
    (Mark::Retransmitted, "retransmitted", "#1a1a1a"),
    (Mark::Duplicate, "duplicate (spurious)", "#b3261e"),
    (Mark::Reordered, "reordered (overtaken)", "#0072b2"),
];

pub(super) fn draw(recording: &Recording) -> String {
    let mut plot = Plot::new(recording, "multiplexing", HEIGHT + 3.0 * 12.0 + 6.0);
    let mut columns: BTreeMap<usize, BTreeMap<usize, f64>> = BTreeMap::new();
    for frame in &recording.frames {
        let column = columns.entry(plot.column(frame.time_us)).or_default();
        *column.entry(frame.stream).or_default() += frame.bytes as f64;
    }
    for (column, shares) in columns {
        let sum: f64 = shares.values().sum();
        let mut top = TOP;
        for (stream, bytes) in shares {
            let height = HEIGHT * bytes / sum.max(1.0);
            let area = Area { left: LEFT + column as f64, top, width: 1.05, height };
            plot.block(area, stream);
            top += height;
        }
    }
    plot.label(TOP + HEIGHT / 2.0 + 4.0, "STREAM frames");
    for (row, (mark, name, colour)) in MARKS.into_iter().enumerate() {
        let top = TOP + HEIGHT + 6.0 + 12.0 * row as f64;
        plot.label(top + 9.0, name);
        let marked = recording.frames.iter().filter(|frame| frame.mark == Some(mark));
        let times_us = marked.map(|frame| frame.time_us);
        plot.marks(times_us, 0.0, top, &format!(r#"fill="{colour}""#));
    }
    plot.draw_legend(recording);
    plot.finish()
}
