//! The link of a log, as a network.

use super::derived::Arrivals;
use crate::network::{Network, queue_text};
use qlog_tools::link_facts::LinkFacts;
use simulator::link::{Loss, OPPORTUNITY_BYTES, Profile, Queue, Rate, Trace};
use std::sync::Arc;

/// A smaller loss is a skipped packet number, or the end of the log.
const LEAST_LOSS: f64 = 0.003;

/// Room in the queue, as multiples of the bandwidth-delay product.
const QUEUES: [f64; 4] = [1.0, 0.5, 2.0, 4.0];

/// Ten full datagrams.
const LEAST_QUEUE_BYTES: f64 = 15_000.0;

/// Candidates for the network of a log, the first without random losses. A client's log shows neither the queue's limit nor whether
/// packets were lost in it or at random.
pub(super) fn networks(log: &str, facts: &LinkFacts) -> Vec<Network> {
    let lost = facts.loss.filter(|it| *it >= LEAST_LOSS).map(Loss::Independent);
    let mut networks = QUEUES.map(|times| network(log, facts, times, None)).to_vec();
    if lost.is_some() {
        networks.extend(QUEUES.map(|times| network(log, facts, times, lost)));
    }
    networks
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn network(log: &str, facts: &LinkFacts, queue: f64, loss: Option<Loss>) -> Network {
    let LinkFacts { round_trip_ms, rate, .. } = *facts;
    let on_its_way = rate / 8.0 * round_trip_ms / 1000.0;
    let queue = Queue::Bytes((on_its_way * queue).max(LEAST_QUEUE_BYTES) as u64);
    let plain = Profile::plain(rate, round_trip_ms / 2.0);
    let down = Profile { queue, loss, ..plain.clone() };
    Network { name: log.to_owned(), server_pace: false, down, up: plain }
}

/// A link that forwards bytes at the times of the log's arrivals, so that it includes the losses and the server's congestion
/// control. `arrivals`: the arrivals, with `stride` bytes for each opportunity of the link. While the client waited for nothing,
/// the link is as fast as while it was busy. `lead_ms`: the time of the first request after the client's start.
pub(super) fn as_recorded(
    busy: &Network,
    came: &Arrivals,
    arrivals: &[(f64, u64)],
    stride: u64,
    lead_ms: f64,
) -> Option<Network> {
    let one_way_ms = busy.down.delay_ms;
    let interval_ms = OPPORTUNITY_BYTES as f64 * 8000.0 / busy.down.rate.mean();
    let last_ms = arrivals.last()?.0;
    if (lead_ms + last_ms) / interval_ms > MOST_DATAGRAMS {
        return None;
    }
    let mut leave_ms: Vec<f64> = Vec::new();
    let mut bytes = 0;
    for (ms, more) in arrivals {
        bytes += more;
        while bytes >= stride {
            bytes -= stride;
            leave_ms.push(lead_ms + ms - one_way_ms);
        }
    }
    // Between the requests, the link is idle, not slow. After the log, it continues for the same time again.
    let idle = idle(&came.waits).into_iter().map(|(from, to)| (lead_ms + from, lead_ms + to));
    let end_ms = 2.0 * (lead_ms + last_ms);
    let around = [(0.0, lead_ms), (lead_ms + last_ms, end_ms)];
    for (from, to) in idle.chain(around) {
        leave_ms
            .extend((0..).map(|it| from + interval_ms * f64::from(it)).take_while(|it| *it < to));
    }
    leave_ms.sort_by(f64::total_cmp);
    let lines: Vec<String> = leave_ms.iter().map(|it| format!("{:.0}", it.max(1.0))).collect();
    let rate = Rate::Trace(Arc::new(Trace::parse(&lines.join("\n")).ok()?));
    let down = Profile { rate, queue: Queue::Unlimited, loss: None, ..busy.down.clone() };
    Some(Network { down, ..busy.clone() })
}

/// The most opportunities of such a link; a longer log is not converted.
const MOST_DATAGRAMS: f64 = 1e6;

/// The size of the datagrams that a link forwards at each opportunity.
pub(super) const OF_DATAGRAMS: u64 = OPPORTUNITY_BYTES;

/// Bytes of streams in them: of the 1350 of a datagram of the lab's server, 45 are headers and the tag.
pub(super) const OF_STREAMS: u64 = OPPORTUNITY_BYTES * (1350 - 45) / 1350;

/// The intervals between the first request and the last response in which the client waited for nothing.
fn idle(waits: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut idle = Vec::new();
    let mut until = waits.first().map_or(0.0, |it| it.1);
    for (from, to) in waits {
        if *from > until {
            idle.push((until, *from));
        }
        until = until.max(*to);
    }
    idle
}

/// The network in words.
pub(super) fn text(network: &Network) -> String {
    let round_trip_ms = network.round_trip_ms();
    if matches!(network.down.rate, Rate::Trace(_)) {
        return format!(
            "the link has a round trip of {round_trip_ms:.1} ms and lets bytes through at the times at which some came in the log: \
             with these the load is most like the log; the server's congestion control is part of it"
        );
    }
    let loss = match network.down.loss {
        Some(Loss::Independent(share)) => {
            format!("{:.1} % of packets are lost by chance", 100.0 * share)
        }
        _ => "no packet is lost by chance".to_owned(),
    };
    format!(
        "the link has {:.1} Mbit/s down, as while the log was busy, and a round trip of {:.1} ms; its queue holds {}, and {loss}: \
         with these the load is most like the log",
        network.down.rate.mean() / 1e6,
        round_trip_ms,
        queue_text(network.down.queue),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_as_recorded_is_as_fast_as_what_came() {
        // 1350 bytes per millisecond for a second: 10.8 Mbit/s.
        let datagrams: Vec<(f64, u64)> = (30..1030).map(|it| (f64::from(it), 1350)).collect();
        let waits = vec![(0.0, 1029.0)];
        let came = Arrivals { datagrams, readable: Vec::new(), waits };
        let facts =
            LinkFacts { round_trip_ms: 30.0, queued_ms: 0.0, rate: 10_800_000.0, loss: None };
        let busy = network("log", &facts, 1.0, None);
        let network =
            as_recorded(&busy, &came, &came.datagrams, OF_DATAGRAMS, 50.0).expect("a link");
        let rate = network.down.rate.mean();
        assert!((rate / 10_800_000.0 - 1.0).abs() < 0.03, "{rate}");
    }
}
