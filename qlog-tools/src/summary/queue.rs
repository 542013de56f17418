//! Whether packets waited in a queue of the path, as long round trips suggest.

use super::measures::{Delays, Spread, round_trips_of_path};
use crate::clock_shift::delays_us;
use crate::distribution::place;
use crate::saturating_cast::to_u64;
use crate::trace::Trace;

/// Round trips that exceed the minimum by this factor show a queue.
const QUEUED: f64 = 2.0;
/// They must also exceed it by this number of milliseconds.
const QUEUED_MS: f64 = 5.0;
/// From this share of the added round trip on, the way there explains it.
const EXPLAINED: f64 = 0.5;

/// The reason for round trips that are much longer than the least.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Queue {
    /// There are none.
    #[default]
    None,
    /// Packets waited on the path: round trips without the delays of acknowledgements show that.
    ByRoundTrips,
    /// The same, by the receiver's log.
    ByArrivals,
    /// Acknowledgements came late: the receiver's log shows that the packets did not.
    LateAcknowledgements,
    /// Either: no ACK frame reports its delay, and there is no receiver's log.
    Unknown,
    /// Either, because ACK frames report longer delays than their sender had announced.
    BeyondAnnounced,
}

/// The round trips of the path on which packets waited, or otherwise of the one with the most, without delays of acknowledgements: after a
/// migration, longer ones are the new path's.
pub(super) fn round_trips_of_a_path(sender: &Trace) -> Option<Spread> {
    of_a_path(sender, Delays::Announced)
}

fn of_a_path(sender: &Trace, delays: Delays) -> Option<Spread> {
    let changes_us = sender.changed_path_us();
    let mut paths = vec![Vec::new(); changes_us.len() + 1];
    for (time_us, ms) in round_trips_of_path(sender, delays) {
        let sent_us = time_us.saturating_sub(to_u64(ms * 1000.0));
        paths[changes_us.partition_point(|it| *it <= sent_us)].push((time_us, ms));
    }
    paths.sort_by_key(Vec::len);
    let spreads: Vec<Spread> = paths.into_iter().filter_map(Spread::of).collect();
    spreads.iter().rfind(|it| is_long(it)).or(spreads.last()).copied()
}

/// Whether most round trips are much longer than the least.
fn is_long(it: &Spread) -> bool {
    it.p95_ms >= QUEUED * it.least_ms && it.p95_ms >= it.least_ms + QUEUED_MS
}

impl Queue {
    /// `path` are the sender's round trips without the reported delays.
    pub(super) fn of(sender: &Trace, receiver: Option<&Trace>, path: Option<&Spread>) -> Self {
        let Some(path) = path.filter(|it| is_long(it)) else { return Self::None };
        let mut ways_us = receiver.map_or_else(Vec::new, |it| delays_us(sender, it));
        ways_us.sort_unstable();
        let waited = ways_us.first().map(|least_us| {
            let waited_us = ways_us[place(ways_us.len(), 95)].saturating_sub(*least_us);
            waited_us as f64 / 1000.0 >= EXPLAINED * (path.p95_ms - path.least_ms)
        });
        let by_all = || of_a_path(sender, Delays::Reported).is_some_and(|it| is_long(&it));
        match (waited, reports_delays(sender)) {
            (Some(false), _) => Self::LateAcknowledgements,
            (Some(true), false) => Self::ByArrivals,
            (None, false) => Self::Unknown,
            (None, true) if !by_all() => Self::BeyondAnnounced,
            (_, true) => Self::ByRoundTrips,
        }
    }

    /// Whether it is not known.
    pub(super) fn is_unknown(self) -> bool {
        matches!(self, Self::Unknown | Self::BeyondAnnounced)
    }

    /// Whether packets waited on the path.
    pub(super) fn is_long(self) -> bool {
        matches!(self, Self::ByRoundTrips | Self::ByArrivals)
    }

    /// Its meaning for a congestion window, behind these round trips.
    pub(super) fn in_words(self, round_trips: &str) -> Option<String> {
        let what = match self {
            Self::None => return None,
            Self::ByRoundTrips => ", without delays of acknowledgements",
            Self::ByArrivals => ", and packets waited on their way, as their arrivals show",
            Self::LateAcknowledgements => {
                ", because acknowledgements came late: arrivals show that packets did not"
            }
            Self::BeyondAnnounced => {
                ", and whether packets waited in a queue, or acknowledgements at the receiver, is not known: ACK frames report longer delays than it announced"
            }
            Self::Unknown => {
                ", and whether packets waited in a queue, or acknowledgements at the receiver, is not known: no ACK frame reports its delay"
            }
        };
        Some(format!("{round_trips}{what}"))
    }
}

/// Whether ACK frames report for how long they were held back. Without that, a slow receiver looks like a queue.
pub(super) fn reports_delays(sender: &Trace) -> bool {
    sender.recovery_events.acks.iter().any(|it| it.delay_ms.is_some())
}
