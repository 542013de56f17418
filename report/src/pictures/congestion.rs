//! Window and bytes in flight, round-trip times, goodput, lost packets: one panel for each unit, as in
//! the report.

use super::{LEFT, Plot, TOP};
use crate::viewer::{LOST, Recording, SENT_AGAIN, Unit};
use figures::axis::round_step;
use figures::number_texts::{bytes_text, milliseconds_text, rate_text};
use figures::svg::INK;
use qlog_tools::saturating_cast::to_u64;

pub(super) const PANEL: f64 = 110.0;
pub(super) const GAP: f64 = 34.0;
/// Ticks of lost packets.
const LOSSES: f64 = 16.0;
/// The number of steps of the rates over the whole log.
const STEPS: usize = 120;
const LINES: [(&str, &str); 5] = [
    ("#0072b2", ""),
    ("#b34a00", "6 3"),
    ("#00735c", "2 3"),
    ("#8a3d7c", "10 3 2 3"),
    ("#5a5a5a", "1 2"),
];

/// Values of one unit over time; each holds until the next.
pub(super) struct Panel {
    pub(super) lines: Vec<(String, Vec<(u64, f64)>)>,
    pub(super) text: fn(f64) -> String,
}

pub(super) fn draw(recording: &Recording) -> String {
    let panels = panels(recording);
    let height = LOSSES + panels.len() as f64 * (PANEL + GAP);
    let mut plot = Plot::new(recording, "congestion and goodput", height);
    draw_losses(&mut plot, recording);
    for (place, panel) in panels.iter().enumerate() {
        draw_panel(&mut plot, panel, TOP + LOSSES + GAP + place as f64 * (PANEL + GAP));
    }
    plot.finish()
}

fn panels(recording: &Recording) -> Vec<Panel> {
    let mut panels = vec![
        Panel { lines: lines(recording, Unit::Bytes), text: bytes },
        Panel { lines: lines(recording, Unit::Us), text: milliseconds },
        Panel { lines: rates(recording), text: rate_text },
    ];
    panels.retain(|panel| !panel.lines.is_empty());
    panels
}

fn lines(recording: &Recording, unit: Unit) -> Vec<(String, Vec<(u64, f64)>)> {
    let lines = recording.series.iter().filter(|series| series.unit == unit).map(|series| {
        let points = series.points.iter().map(|&(at_us, value)| (at_us, value as f64));
        (format!("{} of {}", series.name, recording.series_of), points.collect())
    });
    lines.collect()
}

pub(super) fn bytes(value: f64) -> String {
    bytes_text(to_u64(value))
}

fn milliseconds(value_us: f64) -> String {
    if value_us == 0.0 {
        "0 ms".to_owned()
    } else {
        format!("{} ms", milliseconds_text(value_us / 1000.0))
    }
}

/// Bit/s in [`STEPS`] steps: of new stream bytes, and of the server's sent bytes.
fn rates(recording: &Recording) -> Vec<(String, Vec<(u64, f64)>)> {
    let step_us = recording.duration_us.div_ceil(STEPS as u64).max(1);
    let over = format!("over {} ms", milliseconds_text(step_us as f64 / 1000.0));
    let mut rates = Vec::new();
    if !recording.frames.is_empty() {
        let new = recording.frames.iter().filter(|it| it.is_new(recording.is_server));
        let what = if recording.is_server { "new stream bytes sent" } else { "goodput" };
        let new = new.map(|it| (it.time_us, it.bytes));
        rates.push((format!("{what}, {over}"), steps(new, step_us)));
    }
    if !recording.sent.is_empty() {
        let mut before = 0;
        let sent = recording.sent.iter().map(|&(at_us, sum)| {
            let bytes = sum - before;
            before = sum;
            (at_us, bytes)
        });
        let what = "sent by the server, retransmissions included".to_owned();
        rates.push((what, steps(sent, step_us)));
    }
    rates
}

fn steps(bytes: impl Iterator<Item = (u64, u64)>, step_us: u64) -> Vec<(u64, f64)> {
    let mut sums = [0_u64; STEPS];
    for (at_us, bytes) in bytes {
        let step = usize::try_from(at_us / step_us).map_or(STEPS - 1, |it| it.min(STEPS - 1));
        sums[step] = sums[step].saturating_add(bytes);
    }
    let rates = sums.map(|it| it as f64 * 8.0 * 1e6 / step_us as f64);
    (0..).zip(rates).map(|(step, rate)| (step * step_us, rate)).collect()
}

fn draw_losses(plot: &mut Plot, recording: &Recording) {
    let losses = recording.events.iter().find(|it| it.name == LOST || it.name == SENT_AGAIN);
    let of = &recording.losses_of;
    let words = match losses {
        Some(losses) if losses.name == LOST => format!("lost packets of {of}"),
        Some(_) => format!("bytes sent again by {of}"),
        None => "lost packets: none logged".to_owned(),
    };
    plot.label(TOP + 9.0, &words);
    let times_us = losses.into_iter().flat_map(|it| &it.times_us).copied();
    plot.marks(times_us, -1.0, TOP, INK);
}

pub(super) fn draw_panel(plot: &mut Plot, panel: &Panel, top: f64) {
    let values = panel.lines.iter().flat_map(|it| &it.1).map(|point| point.1);
    let most = values.fold(0.0, f64::max).max(1.0) * 1.05;
    let step = round_step(most / 3.0);
    let ticks = (0..10_u32).map(|count| f64::from(count) * step).take_while(|it| *it <= most);
    for tick in ticks {
        let y = top + PANEL * (1.0 - tick / most);
        plot.grid(y);
        plot.label(y + 4.0, &(panel.text)(tick));
    }
    let mut left = LEFT + 4.0;
    for ((name, points), (colour, dash)) in panel.lines.iter().zip(LINES.iter().cycle()) {
        let points = pixels(plot, points, most, top);
        plot.line(&points, colour, dash);
        plot.key(left, top - 9.0, colour, dash, name);
        left += 50.0 + 5.8 * name.chars().count() as f64;
    }
}

/// The lowest and highest value of each pixel column, as steps; the last value holds until the log ends.
fn pixels(plot: &Plot, values: &[(u64, f64)], most: f64, top: f64) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for column in values.chunk_by(|one, next| plot.column(one.0) == plot.column(next.0)) {
        let x = plot.x(column[0].0);
        let first = column[0].1;
        let lowest = column.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
        let highest = column.iter().map(|point| point.1).fold(0.0, f64::max);
        let last = column.last().map_or(lowest, |point| point.1);
        let [first, lowest, highest, last] =
            [first, lowest, highest, last].map(|it| top + PANEL * (1.0 - it / most));
        let before = points.last().map_or(first, |point| point.1);
        points.extend([(x, before), (x, lowest), (x, highest), (x, last)]);
    }
    points.extend(points.last().map(|last| (plot.x(plot.end_us), last.1)));
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::RIGHT;
    use crate::viewer::{Events, Frame, Series};
    use figures::svg::number;
    use qlog_tools::causes::Mark;

    fn recording() -> Recording {
        let frame = |time_us, mark| Frame { time_us, bytes: 1200, mark, ..Frame::default() };
        Recording {
            duration_us: 120_000,
            frames: vec![frame(500, None), frame(700, Some(Mark::Duplicate)), frame(90_000, None)],
            series: vec![Series {
                name: "congestion window",
                unit: Unit::Bytes,
                points: vec![(0, 12_000), (60_000, 6_000)],
            }],
            series_of: "the server".to_owned(),
            losses_of: "the server".to_owned(),
            sent: vec![(100, 2400), (60_000, 3600)],
            events: vec![Events { name: "packet lost".to_owned(), times_us: vec![30_000] }],
            name: "log".to_owned(),
            ..Recording::default()
        }
    }

    #[test]
    fn rates_are_those_of_new_bytes_and_of_what_was_sent() {
        let rates = rates(&recording());
        let name = |place: usize| rates[place].0.as_str();
        assert_eq!(name(0), "goodput, over 1.0 ms");
        assert_eq!(name(1), "sent by the server, retransmissions included");
        let at = |place: usize, step: usize| rates[place].1[step];
        // 1200 bytes in a millisecond.
        assert_eq!((at(0, 0), at(0, 1), at(0, 90)), ((0, 9.6e6), (1000, 0.0), (90_000, 9.6e6)));
        assert_eq!((at(1, 0).1, at(1, 60).1), (19.2e6, 9.6e6));
    }

    #[test]
    fn lines_go_on_to_the_end_of_the_log_and_losses_are_ticks() {
        let svg = draw(&recording());
        for words in [
            "congestion window of the server",
            "lost packets of the server",
            "goodput, over 1.0 ms",
            "Mbit/s",
        ] {
            assert!(svg.contains(words), "{words}: {svg}");
        }
        let window = svg.lines().find(|it| it.contains("stroke=\"#0072b2\"")).unwrap();
        assert!(window.contains(&format!("L{RIGHT} ")), "{window}");
        // Its tick stands at a quarter of the axis.
        let x = LEFT + (RIGHT - LEFT) / 4.0 - 1.0;
        assert!(svg.contains(&format!(r#"<rect x="{}" y="42""#, number(x.floor()))), "{svg}");
    }
}
