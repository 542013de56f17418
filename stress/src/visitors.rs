//! Visitors who load a file repeatedly while a server is attacked.

use crate::client_connection::ClientConnection;
use crate::limits::{REQUEST_EACH, VISITORS};
use crate::outcome::{Served, percentile_ms};
use http3::StreamId;
use std::time::{Duration, Instant};

/// The response that one visitor waits for.
#[derive(Default)]
pub(crate) struct Visit {
    asked: Option<Instant>,
    next: Option<Instant>,
    requests: u64,
    times: Vec<Duration>,
}

impl Visit {
    /// Records an arrived response, and makes the next request when due.
    pub(crate) fn act(&mut self, client: &mut ClientConnection, path: &str, now: Instant) {
        if let Some(asked) = self.asked.filter(|_| client.complete >= self.requests) {
            self.times.push(now - asked);
            self.asked = None;
        }
        let is_time = self.next.is_none_or(|at| now >= at);
        if self.asked.is_some() || !is_time || !client.connection.is_connected() {
            return;
        }
        let fields = client.get(path, &[]);
        let stream = StreamId(self.requests * 4);
        if !matches!(client.connection.request(stream, &fields, true), Ok(true)) {
            return;
        }
        self.requests += 1;
        self.asked = Some(now);
        self.next = Some(now + REQUEST_EACH);
    }

    /// When it wants to ask again.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.next.filter(|_| self.asked.is_none())
    }
}

/// The responses of all visitors since the last call, which was `length` ago.
pub(crate) fn served(visits: &mut [Visit], length: Duration, now: Instant) -> Served {
    let (mut answered, mut unanswered) = (Vec::new(), Vec::new());
    for visit in visits {
        answered.append(&mut visit.times);
        unanswered.extend(visit.asked.map(|it| now - it).filter(|it| *it > REQUEST_EACH));
    }
    served_in(&answered, &unanswered, length)
}

/// The responses of all visitors in a phase of this length: the durations of answered loads, and the waits of others.
pub(crate) fn served_in(
    answered: &[Duration],
    unanswered: &[Duration],
    length: Duration,
) -> Served {
    let responses = answered.len();
    let mut times = [answered, unanswered].concat();
    times.sort();
    let wanted = VISITORS as f64 * length.as_secs_f64() / REQUEST_EACH.as_secs_f64();
    Served {
        responses,
        share_of_wanted: responses as f64 / wanted,
        p50_ms: percentile_ms(&times, 50),
        p99_ms: percentile_ms(&times, 99),
    }
}
