//! The rate of a path, as far as packets show that they had to wait for one another on it. Without that, the sender sent no more, and the path
//! may carry more than was seen.

use std::collections::BTreeMap;

use super::measures::PathBasis;
use crate::distribution::place;
use crate::link_facts::{LinkFacts, busy, rate};
use crate::packet::{Packet, PacketEvent, Space};
use crate::trace::{Trace, Vantage};

/// The most steps from one packet to the next over which a rate is measured.
const WINDOW: usize = 31;
/// The fewest: a burst at the beginning of a connection has about as many.
const SHORTEST: usize = 8;
/// The granularity of clocks.
const CLOCK_US: i64 = 1000;

/// Rates in bit/s, and their source.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct PathRate {
    /// Of the path; `None`: the logs do not show that packets waited for one another on it.
    pub(super) path: Option<f64>,
    /// The highest that was seen, apart from a tenth of the time.
    pub(super) seen: Option<f64>,
    pub(super) basis: Option<PathBasis>,
}

impl PathRate {
    /// `log` is the receiver's or, without one, the sender's.
    pub(super) fn of(log: &Trace, sender: &Trace) -> Self {
        let is_receivers = log.vantage != Vantage::Server;
        let seen = LinkFacts::of(log).filter(|_| is_receivers).map(|it| it.rate);
        if seen.is_some() {
            let path = when_queued(passed(sender, &arrivals(log)));
            return Self { path, seen, basis: Some(PathBasis::Arrivals) };
        }
        let all = passed(sender, &acknowledgements(sender));
        let came: Vec<(u64, u64)> =
            all.iter().filter_map(|it| Some((u64::try_from(it.came_us).ok()?, it.bytes))).collect();
        let seen = rate(&came, &busy(sender));
        Self { path: when_queued(all), seen, basis: seen.map(|_| PathBasis::Acknowledgements) }
    }
}

/// A packet that reached the other end. Times are in microseconds, each on the clock of its log.
#[derive(Debug, Clone, Copy)]
struct Passed {
    sent_us: i64,
    came_us: i64,
    bytes: u64,
}

fn of_data<'a>(trace: &'a Trace, event: PacketEvent) -> impl Iterator<Item = &'a Packet> {
    trace.packets_of(event).filter(|it| it.space == Space::Application)
}

fn arrivals(receiver: &Trace) -> Vec<(u64, u64)> {
    let came = of_data(receiver, PacketEvent::Received);
    came.filter_map(|it| Some((it.number?, it.time_us))).collect()
}

/// By number, when packets were acknowledged, without the delay of the acknowledgement.
fn acknowledgements(sender: &Trace) -> Vec<(u64, u64)> {
    let acks = sender.recovery_events.acks.iter();
    let delays: BTreeMap<u64, f64> =
        acks.filter_map(|it| Some((it.time_us, it.delay_ms?))).collect();
    let came = of_data(sender, PacketEvent::Acknowledged).filter_map(|it| {
        let delay_us = delays.get(&it.time_us).map_or(0.0, |ms| ms * 1000.0);
        Some((it.number?, it.time_us.saturating_sub(crate::saturating_cast::to_u64(delay_us))))
    });
    came.collect()
}

/// The sender's packets that came at these times, by number, in the order in which they came. Without packets in the sender's log, there
/// are none.
fn passed(sender: &Trace, came: &[(u64, u64)]) -> Vec<Passed> {
    let sent = of_data(sender, PacketEvent::Sent);
    let sent: BTreeMap<u64, (u64, u32)> =
        sent.filter_map(|it| Some((it.number?, (it.time_us, it.bytes)))).collect();
    let each = came.iter().filter_map(|(number, came_us)| {
        let &(sent_us, bytes) = sent.get(number)?;
        Some(Passed {
            sent_us: i64::try_from(sent_us).ok()?,
            came_us: i64::try_from(*came_us).ok()?,
            bytes: bytes.into(),
        })
    });
    let mut passed: Vec<Passed> = each.collect();
    passed.sort_by_key(|it| (it.came_us, it.sent_us));
    passed
}

/// The usual rate of consecutive packets each of which could have come before the preceding one, as fast as the fastest: so it had to wait
/// for that one.
fn when_queued(passed: Vec<Passed>) -> Option<f64> {
    let least_us = passed.iter().map(|it| it.came_us - it.sent_us).min()?;
    let mut runs: Vec<Vec<(i64, u64)>> = vec![Vec::new()];
    for pair in passed.windows(2) {
        let [before, next] = [pair[0], pair[1]];
        if next.sent_us + least_us + CLOCK_US <= before.came_us {
            runs.last_mut()?.push((next.came_us - before.came_us, next.bytes));
        } else if runs.last().is_some_and(|it| !it.is_empty()) {
            runs.push(Vec::new());
        }
    }
    let longest = runs.iter().map(Vec::len).max()?;
    if longest < SHORTEST {
        return None;
    }
    let windows = runs.iter().flat_map(|it| it.windows(longest.min(WINDOW)));
    let sums = windows
        .map(|steps| steps.iter().fold((0, 0), |(us, bytes), step| (us + step.0, bytes + step.1)));
    let timed = sums.filter(|(us, _)| *us > 0);
    let mut rates: Vec<f64> = timed.map(|(us, bytes)| bytes as f64 * 8e6 / us as f64).collect();
    rates.sort_by(f64::total_cmp);
    rates.get(place(rates.len(), 50)).copied()
}
