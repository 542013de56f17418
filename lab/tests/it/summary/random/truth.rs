//! What the simulator knows about a connection: the links' verdict on each datagram, and the log of the server's send loop.

use lab::stack::StackLoad;
use schedulers::Restraint;
use simulator::link::{LinkLogEntry, Verdict, Way};
use std::collections::BTreeMap;

/// Datagrams without data are smaller.
const DATA_BYTES: u64 = 150;
/// Milliseconds for which an end may hold an acknowledgement back.
const MAX_ACK_DELAY_MS: f64 = 25.0;

/// What happened. Times are milliseconds from the links' start.
#[derive(Debug, Default)]
pub(super) struct Truth {
    /// How long each restraint held, in the time in which the server had work.
    pub(super) held_ms: BTreeMap<Restraint, f64>,
    /// From the server's sending of a datagram to the acknowledgement's arrival, sorted.
    pub(super) round_trips_ms: Vec<f64>,
    /// For how long the client held these acknowledgements back, sorted.
    pub(super) ack_delays_ms: Vec<f64>,
    /// The server's datagrams.
    pub(super) sent: usize,
    /// Those of them that never arrived.
    pub(super) lost: usize,
    /// And those that arrived after three later ones.
    pub(super) overtaken: usize,
    /// Bytes of those with data that never arrived.
    pub(super) lost_bytes: u64,
    /// Whether some that had arrived were sent again, for all that the server knew: the acknowledgements were lost or late.
    pub(super) silences: Vec<(f64, f64)>,
    /// From the client's request to the last data.
    pub(super) under_way_ms: f64,
    /// For how much of that time the link to the client was sending.
    pub(super) busy_share: f64,
}

/// A datagram that a link was given.
#[derive(Clone, Copy)]
struct Datagram {
    number: u64,
    bytes: u64,
    sent_ms: f64,
    /// `None` if it never arrived.
    came_ms: Option<f64>,
}

impl Truth {
    /// `said` is when the send loop named which restraint, in milliseconds from the server's first datagram on; `rate` is that of the
    /// link to the client in bits a second.
    pub(super) fn of(loaded: &StackLoad, said: &[(f64, Restraint)], rate: f64) -> Self {
        let [down, up] = [Way::Down, Way::Up].map(|way| datagrams(&loaded.verdicts, way));
        let is_data = |it: &&Datagram| it.bytes > DATA_BYTES;
        let last = down.iter().rev().find(is_data).expect("data");
        let acknowledged = Acknowledged::all(&down, &up);
        let silences = silences(&down, &acknowledged);
        let start_ms = acknowledged[0].at_ms;
        let spans = spans(said, start_ms, last.sent_ms);
        let requested_ms = spans.iter().find(|it| it.2 != Restraint::Handshake).expect("an end").0;
        let request =
            up.iter().rev().find(|it| it.came_ms.is_some_and(|it| it <= requested_ms + 0.01));
        let from_ms = request.expect("a request").sent_ms;
        let to_ms = down.iter().filter(is_data).filter_map(|it| it.came_ms).fold(0.0, f64::max);
        let sending_ms: f64 = down
            .iter()
            .filter(|it| it.sent_ms >= from_ms)
            .map(|it| it.bytes as f64 * 8000.0 / rate)
            .sum();
        let lost = down.iter().filter(|it| it.came_ms.is_none());
        Self {
            held_ms: held_ms(&spans, &silences, &down),
            round_trips_ms: sorted(acknowledged.iter().filter_map(|it| it.round_trip_ms)),
            ack_delays_ms: sorted(acknowledged.iter().filter_map(|it| it.delay_ms)),
            sent: down.len(),
            lost: lost.clone().count(),
            overtaken: overtaken(&down),
            lost_bytes: lost.filter(is_data).map(|it| it.bytes).sum(),
            under_way_ms: to_ms - from_ms,
            busy_share: sending_ms / (to_ms - from_ms),
            silences,
        }
    }

    /// The share of the time with work for which this restraint held.
    pub(super) fn share(&self, by: Restraint) -> f64 {
        let all_ms: f64 = self.held_ms.values().sum();
        self.held_ms.get(&by).copied().unwrap_or_default() / all_ms
    }
}

fn datagrams(verdicts: &[LinkLogEntry], way: Way) -> Vec<Datagram> {
    let mut all: Vec<Datagram> = verdicts
        .iter()
        .filter(|it| it.way == way)
        .map(|it| Datagram {
            number: it.number,
            bytes: it.bytes,
            sent_ms: it.offered_ns as f64 / 1e6,
            came_ms: match it.verdict {
                Verdict::Delivered { at_ns, .. } => Some(at_ns as f64 / 1e6),
                Verdict::Dropped { .. } => None,
            },
        })
        .collect();
    all.sort_by_key(|it| it.number);
    all
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// A datagram that arrived at the server, and what it can have acknowledged.
#[derive(Clone, Copy)]
struct Acknowledged {
    at_ms: f64,
    /// The latest datagram that the client had.
    latest: u64,
    /// If that one is new: how long ago it was sent, and for how long the client had had it.
    round_trip_ms: Option<f64>,
    delay_ms: Option<f64>,
}

impl Acknowledged {
    fn all(down: &[Datagram], up: &[Datagram]) -> Vec<Self> {
        let mut came: Vec<(f64, Datagram)> =
            down.iter().filter_map(|it| Some((it.came_ms?, *it))).collect();
        came.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut arrived: Vec<(f64, Datagram)> =
            up.iter().filter_map(|it| Some((it.came_ms?, *it))).collect();
        arrived.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut known = 0;
        let mut all = Vec::new();
        for (at_ms, datagram) in arrived {
            let seen = &came[..came.partition_point(|it| it.0 <= datagram.sent_ms)];
            let latest = seen.iter().max_by_key(|it| it.1.number);
            let fresh = latest.filter(|it| it.1.number > known);
            known = latest.map_or(known, |it| it.1.number.max(known));
            all.push(Self {
                at_ms,
                latest: known,
                round_trip_ms: fresh.map(|it| at_ms - it.1.sent_ms),
                delay_ms: fresh.map(|it| datagram.sent_ms - it.0),
            });
        }
        all
    }
}

/// How many arrived after three or more later ones.
fn overtaken(down: &[Datagram]) -> usize {
    let is_overtaken = |it: &&Datagram| {
        let Some(came_ms) = it.came_ms else { return false };
        let later = down.iter().filter(|later| later.number > it.number);
        later.filter(|later| later.came_ms.is_some_and(|it| it < came_ms)).take(3).count() == 3
    };
    down.iter().filter(is_overtaken).count()
}

/// When the server waited for acknowledgements: from a round trip after something arrived until the next arrival, where that took
/// longer than a probe timeout.
fn silences(down: &[Datagram], acknowledged: &[Acknowledged]) -> Vec<(f64, f64)> {
    let mut smoothed_ms = None;
    let mut silences = Vec::new();
    for pair in acknowledged.windows(2) {
        let (last, next) = (pair[0], pair[1]);
        if let Some(round_trip_ms) = last.round_trip_ms {
            let before = smoothed_ms.unwrap_or(round_trip_ms);
            smoothed_ms = Some(0.875 * before + 0.125 * round_trip_ms);
        }
        let rtt_ms = smoothed_ms.unwrap_or(100.0);
        let sent = down.iter().filter(|it| {
            it.number > last.latest && it.bytes > DATA_BYTES && it.sent_ms < next.at_ms
        });
        let Some(first) = sent.min_by_key(|it| it.number) else { continue };
        let from_ms = first.sent_ms.max(last.at_ms);
        if next.at_ms > from_ms + 3.0 * rtt_ms + MAX_ACK_DELAY_MS {
            silences.push((from_ms + rtt_ms, next.at_ms));
        }
    }
    silences
}

/// The send loop's log with the beginning and end of each entry, from the server's first datagram to its last data.
fn spans(said: &[(f64, Restraint)], start_ms: f64, end_ms: f64) -> Vec<(f64, f64, Restraint)> {
    let mut spans = Vec::new();
    let mut now = (start_ms, Restraint::Handshake);
    let said = said.iter().map(|&(at_ms, by)| (start_ms + at_ms, by));
    for (at_ms, by) in said.chain([(end_ms, Restraint::Nothing)]) {
        spans.push((now.0, at_ms.min(end_ms), now.1));
        now = (at_ms, by);
    }
    spans.retain(|it| it.0 < it.1);
    spans
}

/// How long each restraint held, where waiting for acknowledgements takes the place of a full window; and of what the application
/// or the handshake is said to be, where a probe went.
fn held_ms(
    spans: &[(f64, f64, Restraint)],
    silences: &[(f64, f64)],
    down: &[Datagram],
) -> BTreeMap<Restraint, f64> {
    let mut held_ms = BTreeMap::new();
    for &(from_ms, to_ms, by) in spans {
        let waited = silences.iter().filter(|silence| match by {
            Restraint::CongestionWindow => true,
            Restraint::Application | Restraint::Handshake => {
                down.iter().any(|it| it.sent_ms > silence.0 && it.sent_ms < silence.1)
            }
            _ => false,
        });
        let waited_ms: f64 = waited.map(|it| (it.1.min(to_ms) - it.0.max(from_ms)).max(0.0)).sum();
        *held_ms.entry(by).or_default() += to_ms - from_ms - waited_ms;
        *held_ms.entry(Restraint::Acknowledgements).or_default() += waited_ms;
    }
    held_ms
}
