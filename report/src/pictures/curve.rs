//! The share of body bytes in complete responses, and of all arrived bytes.

use super::{BOTTOM, LEFT, Plot, RIGHT, TOP};
use crate::viewer::Recording;

const HEIGHT: f64 = 220.0;

pub(super) fn draw(recording: &Recording) -> String {
    let index = recording.metrics.as_ref().and_then(|it| it.byte_index().all);
    let mut plot =
        Plot::new(recording, &format!("ByteIndex {:.1} ms", index.unwrap_or_default()), HEIGHT);
    for percent in [0.0, 25.0, 50.0, 75.0, 100.0] {
        plot.label(y(percent / 100.0) + 4.0, &format!("{percent:.0} %"));
    }
    let mut steps = vec![(plot.x(0), y(0.0))];
    let mut before = 0.0;
    for &(time_us, share) in &recording.completed {
        steps.extend([(plot.x(time_us), y(before)), (plot.x(time_us), y(share))]);
        before = share;
    }
    steps.push((RIGHT, y(before)));
    let new = recording.frames.iter().filter(|frame| frame.is_new(recording.is_server));
    let all: f64 = new.clone().map(|frame| frame.bytes as f64).sum();
    let mut arrivals: Vec<(f64, f64)> = vec![(plot.x(0), y(0.0))];
    let mut there = 0.0;
    for frame in new {
        there += frame.bytes as f64;
        let point = (plot.x(frame.time_us), y(there / all.max(1.0)));
        match arrivals.last_mut() {
            Some(last) if point.0 - last.0 < 0.5 => last.1 = point.1,
            _ => arrivals.push(point),
        }
    }
    let there = if recording.is_server { "bytes sent" } else { "bytes that had arrived" };
    plot.line(&arrivals, "#b34a00", "5 3");
    plot.line(&steps, "#0072b2", "");
    // Below the axis: a title may be long.
    plot.legend = 20.0;
    let mut left = LEFT;
    for (name, colour, dash) in [
        ("bytes of complete responses (above: the index)", "#0072b2", ""),
        (there, "#b34a00", "5 3"),
    ] {
        plot.key(left, TOP + HEIGHT + BOTTOM + 4.0, colour, dash, name);
        left += 50.0 + 6.0 * name.len() as f64;
    }
    plot.finish()
}

fn y(share: f64) -> f64 {
    TOP + HEIGHT * (1.0 - share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_has_its_line_for_itself() {
        let name = "a-log-with-a-name-of-some-sixty-characters-and-more.sqlog".to_owned();
        let svg = draw(&Recording { name, duration_us: 5000, ..Recording::default() });
        assert!(svg.contains("bytes that had arrived"), "{svg}");
        assert_eq!(svg.matches(r#" y="22""#).count(), 1, "{svg}");
    }
}
