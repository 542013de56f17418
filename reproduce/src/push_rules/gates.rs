//! Rule 2: pushes must not delay the response that they belong to. A late document, and gates before its
//! pushes; and handlers that run in random order.

use super::Stable;
use super::published::G3;
use super::setup::{self, queued_case};
use crate::bench::{Bench, Case, Sample, Times};
use crate::model::{Load, Window};
use crate::sketch::{KB, Sketch};
use crate::{ReproduceError, Row};
use push::Gate;
use server::CongestionControl;
use simulator::link::Queue;

const LATE: &str = "A document that comes late, and its pushes";
const RANDOM: &str = "Handlers in random order";

/// How long the document takes, in milliseconds.
const WAITS_MS: [f64; 5] = [0.0, 50.0, 209.0, 1000.0, 3000.0];
/// Pushed: 350 KB.
const PUSHES: usize = 35;
/// The model's window is a third larger than a bandwidth-delay product of 35 KB: this much more waits on the link. Ours begins like this,
/// and grows until the queue of one product is full.
const WINDOW_PACKETS: usize = 35;
const WINDOW_BYTES: f64 = 46_000.0;
const QUEUE: Queue = Queue::Bytes(36_000);
const TOLERANCE: f64 = 0.15;

#[derive(Clone, Copy)]
struct Way {
    id: &'static str,
    /// `None`: nothing is pushed.
    gate: Option<Gate>,
    /// Bytes below the scheduler.
    buffer_bytes: u64,
}

const WAYS: [Way; 6] = [
    Way { id: "alone", gate: None, buffer_bytes: 0 },
    Way { id: "strict", gate: Some(Gate::Strict), buffer_bytes: 0 },
    Way { id: "throttle", gate: Some(Gate::Throttle(8900)), buffer_bytes: 0 },
    Way { id: "preempt", gate: Some(Gate::Preempt), buffer_bytes: 0 },
    Way { id: "lowat-16ki", gate: Some(Gate::Preempt), buffer_bytes: 16 << 10 },
    Way { id: "eager-fifo-435k", gate: Some(Gate::EagerFifo(435_000)), buffer_bytes: 0 },
];

fn late(wait_ms: f64, pushes: usize) -> Sketch {
    Sketch::new("late", 20 * KB).thinking(wait_ms).scripts(pushes, 10 * KB)
}

fn case(sketch: &Sketch, way: Way) -> Case {
    let case = queued_case(sketch, G3, QUEUE, WINDOW_PACKETS);
    let mut case = case.pushing(sketch.items[1..].iter().map(|it| it.path.as_str()));
    case.send_buffer_bytes = way.buffer_bytes;
    case.pushing.gate = way.gate;
    case
}

fn model_ms(sketch: &Sketch, way: Way) -> [f64; 2] {
    let pushed: Vec<usize> = (1..sketch.items.len()).collect();
    let buffer_bytes = match way.gate {
        Some(Gate::EagerFifo(bytes)) => bytes as f64,
        _ => way.buffer_bytes as f64,
    };
    let load = Load {
        gate: way.gate.unwrap_or(Gate::Preempt),
        buffer_bytes,
        window: Window::Fixed(WINDOW_BYTES),
        ..Load::new(sketch, &pushed, G3)
    };
    [load.completions_ms()[0], load.done_ms()]
}

pub(super) fn rows(bench: &Bench, stable: &mut Stable) -> Result<Vec<Row>, ReproduceError> {
    let cells = cells(&WAYS);
    let cases: Vec<Case> = cells.iter().map(|(_, way, sketch)| case(sketch, *way)).collect();
    let measured = bench.measure(&cases)?;
    let mut rows = Vec::new();
    for ((wait_ms, way, sketch), sample) in cells.iter().zip(&measured) {
        let [document_ms, all_ms] = model_ms(sketch, *way);
        let id = format!("gate-{}-{wait_ms}", way.id);
        let what = format!("{}, document after {wait_ms} ms", way.id);
        rows.push(judged(document_row(&id, &what, sample), document_ms));
        stable.note(&id, sample.spread(Times::document_ms));
        if *wait_ms >= 3000.0 && way.gate.is_some() {
            let (id, what) = (format!("{id}-all"), format!("all complete, {what}, in ms"));
            let row = Row::shown(id, what, Some(sample.median_ms(Times::warm_ms)));
            rows.push(judged(row.in_table(LATE), all_ms));
        }
    }
    Ok(rows)
}

fn cells(ways: &[Way]) -> Vec<(f64, Way, Sketch)> {
    let mut cells = Vec::new();
    for wait_ms in WAITS_MS {
        for way in ways {
            let pushes = if way.gate.is_some() { PUSHES } else { 0 };
            cells.push((wait_ms, *way, late(wait_ms, pushes)));
        }
    }
    cells
}

fn document_row(id: &str, what: &str, sample: &Sample) -> Row {
    let document_ms = sample.median_ms(Times::document_ms);
    Row::shown(id, format!("document complete, {what}, in ms"), Some(document_ms)).in_table(LATE)
}

fn judged(row: Row, model_ms: f64) -> Row {
    row.model(model_ms).within_share_of_model(TOLERANCE)
}

/// The same under the congestion control that our server has by default, which paces what it sends.
pub(super) fn default_rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let cells = cells(&WAYS[2..=3]);
    let cases = cells.iter().map(|(_, way, sketch)| Case {
        congestion_control: CongestionControl::Bbr2,
        ..case(sketch, *way)
    });
    let measured = bench.measure(&cases.collect::<Vec<_>>())?;
    let rows = cells.iter().zip(&measured).map(|((wait_ms, way, sketch), sample)| {
        let what = format!("{}, document after {wait_ms} ms, under BBRv2", way.id);
        let row = document_row(&format!("gate-bbr2-{}-{wait_ms}", way.id), &what, sample);
        row.model(model_ms(sketch, *way)[0]).note(BBR2)
    });
    Ok(rows.collect())
}

const BBR2: &str = "Shown: it paces, so that less is on the way when the document comes; what a throttle lets through does not \
     show it the rate of the link; and it goes on for three round trips with a window above what link and queue hold, so that a \
     document that comes then loses packets.";

/// Pushed in the shuffle: 35 KB, one bandwidth-delay product.
const SHUFFLED: usize = 7;
const SHUFFLED_BYTES: u64 = 5 * KB;
/// Random places need more loads than anything else here.
const SHUFFLES: usize = 400;

/// The delay of the document by handlers in random order, in round trips.
pub(super) fn shuffle_row(bench: &Bench) -> Result<Row, ReproduceError> {
    let sketch = Sketch::new("shuffle", 20 * KB).scripts(SHUFFLED, SHUFFLED_BYTES);
    let cases = [Gate::Strict, Gate::Shuffle(0)].map(|gate| {
        let case = setup::case(&sketch, G3);
        let mut case = case.pushing(sketch.items[1..].iter().map(|it| it.path.as_str()));
        case.pushing.gate = Some(gate);
        Case { runs: Some(SHUFFLES), ..case }
    });
    let measured = bench.measure(&cases)?;
    let [strict_ms, shuffled_ms] = [&measured[0].0, &measured[1].0]
        .map(|times| times.iter().map(Times::document_ms).sum::<f64>() / times.len().max(1) as f64);
    let delay = (shuffled_ms - strict_ms) / G3.rtt_ms;
    let metric = format!(
        "mean delay of a document of 20 KB whose {SHUFFLED} pushes of 5 KB, one bandwidth-delay product, go in random \
         order with it, in round trips"
    );
    Ok(Row::shown("shuffle-delay", metric, Some(delay))
        .in_table(RANDOM)
        .published(0.5)
        .model(0.5)
        .between(0.45, 0.55)
        .note(
            "\"If the pushes occupy exactly one BDP, this delays the main response by 1/2 RTT.\"",
        ))
}
