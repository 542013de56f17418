//! The bytes that each arrival made readable at once: upwards over QUIC, downwards for one ordered
//! stream.

use std::collections::BTreeMap;

use super::{LEFT, Plot, RIGHT, TOP};
use crate::viewer::Recording;
use figures::number_texts::bytes_text;
use figures::svg::Area;

const HALF: f64 = 110.0;

pub(super) fn draw(recording: &Recording) -> String {
    let mut plot = Plot::new(recording, "what each arrival made readable", 2.0 * HALF);
    let most = recording.frames.iter().map(|it| it.released_bytes.max(it.released_tcp_bytes)).max();
    let most = most.unwrap_or_default().max(1);
    // The tallest stack of each pixel column: bytes and stream over QUIC, bytes as over TCP.
    let mut columns: BTreeMap<usize, (u64, usize, u64)> = BTreeMap::new();
    for frame in &recording.frames {
        let tallest = columns.entry(plot.column(frame.time_us)).or_default();
        if frame.released_bytes > tallest.0 {
            (tallest.0, tallest.1) = (frame.released_bytes, frame.stream);
        }
        tallest.2 = tallest.2.max(frame.released_tcp_bytes);
    }
    let middle = TOP + HALF;
    for (column, (bytes, stream, tcp_bytes)) in columns {
        let left = LEFT + column as f64;
        let [above, below] = [bytes, tcp_bytes].map(|it| HALF * it as f64 / most as f64);
        let up = Area { left, top: middle - above, width: 1.3, height: above };
        plot.block(up, stream);
        let down = Area { left, top: middle, width: 1.3, height: below };
        plot.svg.rect(down, r##"class="muted" fill="#5a5a5a""##);
    }
    plot.line(&[(LEFT, middle), (RIGHT, middle)], "#1a1a1a", "");
    plot.label(TOP + 10.0, &bytes_text(most));
    plot.label(middle - HALF / 2.0, "QUIC's streams");
    plot.label(middle + HALF / 2.0, "one stream, as over TCP");
    plot.label(TOP + 2.0 * HALF, &bytes_text(most));
    plot.draw_legend(recording);
    plot.finish()
}
