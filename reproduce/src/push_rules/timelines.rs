//! Rule 2, the timelines of three push orders: when each response arrives, and when the link rests.

use super::order::{id, sketch};
use super::published::{G2, TIMELINES};
use super::setup::case;
use crate::bench::{Bench, Case};
use crate::{Experiment, Findings, ReproduceError, Row, Setting};
use figures::axis::Axis;
use figures::{Drawing, RibbonRow, Ribbons};
use lab::figure_resources;
use qlog_tools::assembly::StreamFrame;
use qlog_tools::saturating_cast::to_u64;
use qlog_tools::timeline::Timeline;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "push-orders",
    about: "The timelines of three push orders in Rules of Thumb for HTTP/2 Push",
    source: "Bergan, Pelchat, Buettner, Rules of Thumb for HTTP/2 Push, version of 2016-08-03, rule 2: three timelines",
    engine: "stack",
    conditions: "engine stack, 113 kbit/s and 1420 ms of round trip (2G), cubic, a window that is never full; one load of each order",
    run,
};

const METHOD: &str = "The page of the source's table of push orders: a document of 10 KB names 1.js, 3.js and 4.js, and 1.js writes 2.js at its end. \
    One load without a push and one for each of two push orders on engine `stack`, on the measured 2G link, in a window that is never full. The source draws \
    them as tables, with a round trip a column.";

fn run(setting: &Setting) -> Result<Findings, ReproduceError> {
    let bench = Bench::new(setting.jobs, 1, 0.0)?;
    let sketch = sketch();
    let cases = TIMELINES.map(|(pushed, _)| case(&sketch, G2).pushing(pushed.iter().copied()));
    let loads = bench.loads(&cases, |_, load| Ok(load.load.timeline))?;
    let timelines: Vec<Timeline> = loads.into_iter().flatten().collect();
    let drawn: Vec<Timeline> = timelines.iter().map(with_time_on_the_link).collect();
    let [Case { page, .. }, ..] = &cases;
    let figure = Ribbons {
        id: EXPERIMENT.name.to_owned(),
        title: "What comes when, by what is pushed".to_owned(),
        axis: Axis::Time,
        resources: figure_resources(page),
        note_titles: Vec::new(),
        rows: TIMELINES.iter().zip(&drawn).map(|((pushed, _), it)| ribbon(pushed, it)).collect(),
    };
    Ok(Findings {
        method: METHOD.to_owned(),
        rows: rows(&timelines),
        schemes: vec!["fifo".to_owned()],
        pages: vec![page.clone()],
        tables: Vec::new(),
        svg: figure.draw(&EXPERIMENT.sheet()),
        caption: figure.caption(),
    })
}

/// A packet takes a tenth of a second on this link and is logged at its end: for the figure, its bytes are spread over that time.
fn with_time_on_the_link(timeline: &Timeline) -> Timeline {
    const PARTS: u64 = 10;
    let (mut frames, mut next_us) = (Vec::new(), u64::MAX);
    for frame in timeline.frames.iter().rev() {
        let end_us = frame.time_us.min(next_us);
        let bytes = frame.bytes.div_ceil(PARTS);
        let takes_us = to_u64(8e6 * bytes as f64 / G2.bits_per_s);
        for part in 0..PARTS {
            let time_us = end_us.saturating_sub(part * takes_us);
            frames.push(StreamFrame { time_us, bytes, ..*frame });
        }
        next_us = end_us.saturating_sub(PARTS * takes_us);
    }
    frames.reverse();
    Timeline { frames, ..timeline.clone() }
}

fn ribbon<'a>(pushed: &[&str], timeline: &'a Timeline) -> RibbonRow<'a> {
    let names = pushed.join(", ").replace('/', "");
    let label = if names.is_empty() { "no push".to_owned() } else { format!("{names} pushed") };
    RibbonRow { label, notes: Vec::new(), timeline, marks: Vec::new() }
}

fn rows(timelines: &[Timeline]) -> Vec<Row> {
    let orders = TIMELINES.iter().zip(timelines).map(|((pushed, theirs), timeline)| {
        let ours = by_completion(timeline);
        let same = ours.iter().zip(theirs).filter(|((path, _), theirs)| path == *theirs).count();
        let name = if pushed.is_empty() { "no-push".to_owned() } else { id(pushed) };
        let metric =
            "responses that are complete in the place that they have in the source's timeline";
        let row = Row::shown(format!("{name}-places"), metric, Some(same as f64));
        row.published(theirs.len() as f64).within(0.0)
    });
    let mut rows: Vec<Row> = orders.collect();
    let of_second = |place: usize| {
        let found = by_completion(&timelines[place]).into_iter().find(|it| it.0 == "/2.js");
        found.map(|it| it.1 / G2.rtt_ms)
    };
    let [none, late, never] = [0, 1, 2].map(of_second);
    let more = |it: Option<f64>| it.zip(none).map(|(it, none)| it - none);
    let metric = "round trips more than without a push until 2.js is complete";
    rows.push(
        Row::shown("order-3-1-later", format!("{metric}, 3.js and 1.js pushed"), more(late))
            .between(-SAME_ROUND_TRIPS, SAME_ROUND_TRIPS)
            .note(
                "\"This is not any faster than No Push because 1.js is not received any sooner.\"",
            ),
    );
    rows.push(
        Row::shown("order-3-4-later", format!("{metric}, 3.js and 4.js pushed"), more(never))
            .above(SAME_ROUND_TRIPS)
            .note("The source's words are one-sided: \"This delays the request of 2.js, adding extra idle time\"."),
    );
    rows
}

/// A difference below this share of a round trip does not count.
const SAME_ROUND_TRIPS: f64 = 0.1;

/// The paths of all responses with the time at which they were complete, in milliseconds, in this order.
fn by_completion(timeline: &Timeline) -> Vec<(String, f64)> {
    let complete = timeline.transfers.iter().zip(timeline.deliveries());
    let complete = complete.filter_map(|(transfer, delivery)| {
        let path = transfer.url.rsplit_once('/').map(|(_, name)| format!("/{name}"))?;
        Some((path, delivery.complete_us? as f64 / 1000.0))
    });
    let mut complete: Vec<(String, f64)> = complete.collect();
    complete.sort_by(|one, other| one.1.total_cmp(&other.1));
    complete
}
