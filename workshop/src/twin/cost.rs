//! The cost of schemes' decisions, measured in one run.
//!
//! The schemes take turns, so that other load on the machine affects all of them.

use lab::study::statistics::median;
use schedulers::conformance::mixed;
use schedulers::{Scheduler, Scheme, StreamId};
use serde::Serialize;
use std::hint::black_box;
use std::time::Instant;

/// Open responses, all of them ready.
pub(super) const STREAMS: usize = 100;
/// Turns of each scheme; the median is reported.
pub(super) const ROUNDS: usize = 31;
/// Decisions of a turn.
const DECISIONS: u32 = 2000;
const PACKET_BYTES: u64 = 1400;

/// The costs of one scheme.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Cost {
    pub(super) scheme: String,
    /// A decision, in ns: `pick` and `sent` for one packet.
    pub(super) decision_ns: f64,
    /// A response, in ns: it opens, becomes ready and closes.
    pub(super) response_ns: f64,
}

/// The costs of each scheme.
pub(super) fn measure(schemes: &[&Scheme]) -> Vec<Cost> {
    let mut busy: Vec<Scheduler> = schemes.iter().map(|it| opened(it)).collect();
    let mut decisions = vec![Vec::new(); schemes.len()];
    let mut responses = vec![Vec::new(); schemes.len()];
    for _ in 0..ROUNDS {
        for (index, scheme) in schemes.iter().enumerate() {
            decisions[index].push(decisions_ns(&mut busy[index]));
            responses[index].push(responses_ns(scheme));
        }
    }
    let costs = schemes.iter().zip(decisions.into_iter().zip(responses));
    costs
        .map(|(scheme, (decisions, responses))| Cost {
            scheme: scheme.name.clone(),
            decision_ns: median(&decisions).unwrap_or(f64::NAN),
            response_ns: median(&responses).unwrap_or(f64::NAN),
        })
        .collect()
}

/// A scheduler with [`STREAMS`] ready responses that never end, after each has had its turn.
fn opened(scheme: &Scheme) -> Scheduler {
    let mut scheduler = Scheduler::new(scheme);
    open(&mut scheduler);
    (0..2 * STREAMS).for_each(|_| decide(&mut scheduler));
    scheduler
}

fn open(scheduler: &mut Scheduler) {
    for index in 0..STREAMS {
        let stream = StreamId(4 * index as u64);
        scheduler.open(stream, &mixed(index));
        scheduler.set_ready(stream, true);
    }
}

fn decide(scheduler: &mut Scheduler) {
    if let Some(stream) = black_box(scheduler.pick()) {
        scheduler.sent(stream, PACKET_BYTES);
    }
}

fn decisions_ns(scheduler: &mut Scheduler) -> f64 {
    let since = now();
    (0..DECISIONS).for_each(|_| decide(scheduler));
    ns_since(since) / f64::from(DECISIONS)
}

fn responses_ns(scheme: &Scheme) -> f64 {
    let mut scheduler = Scheduler::new(scheme);
    let since = now();
    open(&mut scheduler);
    (0..STREAMS).for_each(|index| scheduler.close(StreamId(4 * index as u64)));
    black_box(&scheduler);
    ns_since(since) / STREAMS as f64
}

#[expect(clippy::disallowed_methods, reason = "it measures time")]
fn now() -> Instant {
    Instant::now()
}

fn ns_since(since: Instant) -> f64 {
    since.elapsed().as_nanos() as f64
}
