//! The optional parts of a trace.

use std::collections::BTreeMap;

use super::SchedulerCall;
use crate::event_list::EventList;
use crate::number_ranges::NumberRanges;
use crate::packet::Packet;
use schedulers::Restraint;

/// The packets of a log.
#[derive(Debug, Clone, Default)]
pub struct PacketLog {
    /// The numbers of the 1-RTT packets that arrived ([`Detail::Arrivals`](super::Detail) and above).
    pub(crate) received: NumberRanges,
    /// The acknowledged 1-RTT packets of this side ([`Detail::Arrivals`](super::Detail) and above in a server's log, otherwise
    /// [`Detail::Full`](super::Detail)); `None` if no acknowledgement was logged.
    pub(crate) acknowledged: Option<NumberRanges>,
    /// In the order of the log ([`Detail::Full`](super::Detail)).
    pub(crate) all: Vec<Packet>,
    /// For each of `timeline.frames`, the index of its packet in `all` ([`Detail::Full`](super::Detail)).
    pub(crate) of_frames: Vec<u32>,
    /// When the handshake was complete, if the log shows it ([`Detail::Full`](super::Detail)).
    pub(crate) handshake_us: Option<u64>,
    /// When the validation of the peer's address began or ended, apart from the handshake ([`Detail::Full`](super::Detail)).
    pub(crate) validations: Vec<(u64, Validation)>,
}

/// A step in the validation of an address (RFC 9000, section 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Validation {
    /// A `PATH_CHALLENGE` was sent.
    Begins,
    /// A `PATH_RESPONSE` arrived, or a Retry was sent, whose token validates the address.
    Ends,
}

/// The sender's recovery in a log.
#[derive(Debug, Clone, Default)]
pub struct Recovery {
    /// Congestion window, RTT and bytes in flight over time ([`Detail::Full`](super::Detail)).
    pub(crate) samples: Vec<RecoverySample>,
    /// The longest round trips that were measured ([`Detail::Order`](super::Detail) and above).
    pub(crate) longest_rtt: LongestRtt,
}

/// Loss recovery in a log, event by event. Times are in microseconds on the log's clock.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecoveryEvents {
    /// Probe timers that expired, according to events of timers or packets.
    pub(crate) expired_us: Vec<u64>,
    /// And as metrics count them.
    pub(crate) counted_us: Vec<u64>,
    /// Whether the log would record an expiration.
    pub(crate) knows_timeouts: bool,
    /// When the congestion control entered recovery.
    pub(crate) recoveries_us: Vec<u64>,
    /// When it noticed persistent congestion.
    pub(crate) persistent_us: Vec<u64>,
    /// Whether the log records its state.
    pub(crate) knows_states: bool,
    /// The ACK frames that arrived for 1-RTT packets.
    pub(crate) acks: Vec<Ack>,
    /// The number of packets that arrived with ECT(0), ECT(1) and CE, from the last frame that reports them.
    pub(crate) ecn: Option<[u64; 3]>,
    /// When a frame reported more packets with CE than before.
    pub(crate) marked_us: Vec<u64>,
    /// The exponent of the peer's ACK delays; `None` if not stated.
    pub(crate) ack_delay_exponent: Option<u32>,
    /// The peer's announced maximum of acknowledgement delays.
    pub(crate) max_ack_delay_ms: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ack {
    pub(crate) time_us: u64,
    pub(crate) delay_ms: Option<f64>,
    pub(crate) ranges: usize,
    /// The number of packets that it acknowledges for the first time.
    pub(crate) fresh: usize,
    /// Whether it acknowledges a packet above all earlier acknowledged ones.
    pub(crate) is_newest: bool,
    /// The number of samples of the sender's recovery that were logged before it.
    pub(crate) samples_before: usize,
}

/// Our server's own statements, which other stacks do not log.
#[derive(Debug, Clone, Default)]
pub struct OwnServer {
    /// The scheduler's calls in order ([`Detail::Order`](super::Detail) and above).
    pub(crate) scheduler_calls: Vec<SchedulerCall>,
    /// The restraints of the sender, each with its beginning ([`Detail::Full`](super::Detail)).
    pub(crate) restraints: Vec<(u64, Restraint)>,
}

/// The log's events one by one.
#[derive(Debug, Clone, Default)]
pub struct EventLog {
    /// All of them ([`Detail::Events`](super::Detail)).
    pub list: EventList,
    /// When the other events happened, by name ([`Detail::Full`](super::Detail)): all except packets, frames, samples and
    /// scheduler calls. Omits names of more than 10,000 events.
    pub moments: BTreeMap<String, Vec<u64>>,
}

/// The state of the sender's recovery at a time; `None` if the event did not state it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RecoverySample {
    /// When, on the log's clock.
    pub time_us: u64,
    /// The congestion window.
    pub congestion_window_bytes: Option<u64>,
    /// Bytes sent, and neither acknowledged nor lost.
    pub bytes_in_flight: Option<u64>,
    /// `None` while it is unlimited.
    pub slow_start_threshold_bytes: Option<u64>,
    /// The smoothed round-trip time.
    pub smoothed_rtt_ms: Option<f64>,
    /// The latest round-trip time.
    pub latest_rtt_ms: Option<f64>,
    /// The least round-trip time.
    pub min_rtt_ms: Option<f64>,
    /// How far round trips spread, as the sender reckons.
    pub rtt_variance_ms: Option<f64>,
}

/// The longest round trips that a log measured, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LongestRtt {
    pub(crate) latest_ms: Option<f64>,
    pub(crate) smoothed_ms: Option<f64>,
}

impl LongestRtt {
    pub(crate) fn add(&mut self, sample: &RecoverySample) {
        self.latest_ms = longer(self.latest_ms, sample.latest_rtt_ms);
        self.smoothed_ms = longer(self.smoothed_ms, sample.smoothed_rtt_ms);
    }
}

fn longer(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::max)
}

#[cfg(test)]
impl FromIterator<Packet> for PacketLog {
    fn from_iter<I: IntoIterator<Item = Packet>>(packets: I) -> Self {
        Self { all: packets.into_iter().collect(), ..Self::default() }
    }
}

#[cfg(test)]
impl FromIterator<RecoverySample> for Recovery {
    fn from_iter<I: IntoIterator<Item = RecoverySample>>(samples: I) -> Self {
        let mut recovery = Self::default();
        for sample in samples {
            recovery.longest_rtt.add(&sample);
            recovery.samples.push(sample);
        }
        recovery
    }
}
