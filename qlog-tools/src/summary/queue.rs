//! Whether packets waited in a queue of the path, as long round trips suggest.

use super::measures::{Spread, round_trips_of_path};
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
}

/// The round trips of the path on which packets waited, or otherwise of the one with the most, without delays of acknowledgements: after a
/// migration, longer ones are the new path's.
pub(super) fn round_trips_of_a_path(sender: &Trace) -> Option<Spread> {
    let changes_us = sender.changed_path_us();
    let mut paths = vec![Vec::new(); changes_us.len() + 1];
    for (time_us, ms) in round_trips_of_path(sender) {
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
        if reports_delays(sender) {
            return Self::ByRoundTrips;
        }
        let mut ways_us = receiver.map_or_else(Vec::new, |it| delays_us(sender, it));
        ways_us.sort_unstable();
        let Some(least_us) = ways_us.first() else { return Self::Unknown };
        let waited_us = ways_us[place(ways_us.len(), 95)].saturating_sub(*least_us);
        let is_way = waited_us as f64 / 1000.0 >= EXPLAINED * (path.p95_ms - path.least_ms);
        if is_way { Self::ByArrivals } else { Self::LateAcknowledgements }
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
