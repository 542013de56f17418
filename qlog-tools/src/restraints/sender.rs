//! The state of a sender at a moment of its log.

use schedulers::Restraint;

use super::moments::Moment;
use super::streams::Streams;
use super::{Known, PACING, SENDING_US, WORK_US};
use crate::loss_recovery::RTT_MS;
use crate::packet::Space;
use crate::saturating_cast::to_u64;
use crate::trace::Trace;

/// As far as the log has been read.
pub(super) struct Sender<'a> {
    trace: &'a Trace,
    streams: Streams<'a>,
    window_bytes: Option<u64>,
    in_flight_bytes: Option<u64>,
    rtt_ms: Option<f64>,
    limit_bytes: Option<u64>,
    is_established: bool,
    /// The space of the packet that the limit of an address that is not validated holds back.
    unvalidated: Option<Space>,
    /// Lost bytes that wait for retransmission, in frames.
    repairs: u64,
    burst: Burst,
    /// The number of data packets, or frames, so far.
    pub(super) sent_packets: u64,
    /// The largest packet of the log.
    packet_bytes: u64,
}

/// The last packets that were sent without a pause between them.
#[derive(Debug, Default)]
struct Burst {
    last_us: u64,
    bytes: u64,
    /// If packets were sent one by one, the pause before the last one.
    single_pause_us: Option<u64>,
}

impl<'a> Sender<'a> {
    pub(super) fn new(trace: &'a Trace, has_calls: bool) -> Self {
        let packet_bytes =
            trace.packets().iter().filter(|it| it.bytes <= 65_536).map(|it| it.bytes);
        Self {
            trace,
            streams: Streams::new(trace, has_calls),
            window_bytes: None,
            in_flight_bytes: None,
            rtt_ms: None,
            limit_bytes: None,
            is_established: false,
            unvalidated: None,
            repairs: 0,
            burst: Burst::default(),
            sent_packets: 0,
            packet_bytes: packet_bytes.max().unwrap_or_default().into(),
        }
    }

    pub(super) fn take(&mut self, time_us: u64, moment: Moment) {
        match moment {
            Moment::Established => self.is_established = true,
            Moment::Unvalidated(space) => self.unvalidated = space,
            Moment::Frame(frame) => {
                self.streams.frame(&frame);
                self.sent(time_us, frame.bytes);
            }
            Moment::Packet(bytes) => self.sent(time_us, bytes),
            Moment::InFlight(bytes) => self.in_flight_bytes = Some(bytes),
            Moment::Sample(place) => {
                let Some(sample) = self.trace.samples().get(place) else { return };
                self.window_bytes = sample.congestion_window_bytes.or(self.window_bytes);
                self.in_flight_bytes = sample.bytes_in_flight.or(self.in_flight_bytes);
                self.rtt_ms = sample.smoothed_rtt_ms.or(self.rtt_ms);
            }
            Moment::Limit(bytes) => self.limit_bytes = Some(bytes).max(self.limit_bytes),
            Moment::StreamLimit(stream, bytes) => {
                self.streams.change(stream, |it| it.limit = Some(bytes).max(it.limit));
            }
            Moment::Written(stream, end) => {
                self.streams.change(stream, |it| it.written = end.max(it.written));
            }
            Moment::Requested(stream) => self.streams.change(stream, |it| it.is_requested = true),
            Moment::Ready(stream, is_ready) => {
                self.streams.change(stream, |it| it.is_ready = is_ready);
            }
            Moment::Charged(stream, bytes) => {
                self.streams.change(stream, |it| it.charged = it.charged.saturating_add(bytes));
            }
            Moment::Lost => self.repairs += 1,
            Moment::Repaired => self.repairs = self.repairs.saturating_sub(1),
        }
    }

    fn sent(&mut self, time_us: u64, bytes: u64) {
        self.sent_packets += 1;
        self.burst.sent(time_us, bytes);
    }

    /// The state from now on, until something changes.
    pub(super) fn known(&self) -> Known {
        let has_frames = !self.trace.timeline.frames.is_empty();
        let has_bytes = self.streams.has_bytes() || self.repairs > 0 || !has_frames;
        let in_handshake = match self.trace.handshake_us() {
            Some(_) => !self.is_established,
            None => has_frames && self.sent_packets == 0,
        };
        if in_handshake && !(self.streams.has_bytes() && has_frames) {
            let is_limited = self.unvalidated.is_some_and(|it| it != Space::Application);
            let by = if is_limited { Restraint::AddressValidation } else { Restraint::Handshake };
            return Known::Held(by);
        }
        if !has_bytes {
            return Known::Held(Restraint::Application);
        }
        if self.unvalidated.is_some() {
            return Known::Held(Restraint::AddressValidation);
        }
        if self.is_window_full() {
            return Known::Held(Restraint::CongestionWindow);
        }
        if self.streams.has_bytes() && self.repairs == 0 {
            if self.is_at_limit() {
                return Known::Held(Restraint::ConnectionFlowControl);
            }
            if self.streams.are_limited() {
                return Known::Held(Restraint::StreamFlowControl);
            }
        }
        Known::Free { is_ready: self.streams.has_bytes() && self.streams.is_certain() }
    }

    /// Whether the log's largest packet does not fit.
    fn is_window_full(&self) -> bool {
        let Some((window, in_flight)) = self.window_bytes.zip(self.in_flight_bytes) else {
            return false;
        };
        in_flight.saturating_add(self.packet_bytes) > window
    }

    /// Whether the connection's limit leaves no room for a packet of the largest size, or for the rest. Senders that check both
    /// windows at once also count the packet's headers.
    fn is_at_limit(&self) -> bool {
        let wanted = self.packet_bytes.max(self.streams.frame_bytes).min(self.streams.left_bytes);
        self.limit_bytes.is_some_and(|it| it.saturating_sub(self.streams.sent_bytes) < wanted)
    }

    /// The earliest and the latest end of a pause that may be pacing: about when the preceding burst would have been sent at one
    /// window per round trip, or after a pause as long as the preceding one if packets are sent one by one.
    pub(super) fn paced_us(&self) -> (u64, u64) {
        let rtt_ms = self.rtt_ms.unwrap_or(RTT_MS);
        let burst_us = self
            .window_bytes
            .map_or(0.0, |window| self.burst.bytes as f64 * rtt_ms * 1000.0 / window.max(1) as f64);
        let as_before_us = self.burst.single_pause_us.map_or(0, |it| it + it / 4);
        let longest_us = to_u64(burst_us * PACING).max(as_before_us);
        let last_us = self.burst.last_us;
        (
            last_us.saturating_add(to_u64(burst_us / PACING)),
            last_us.saturating_add(SENDING_US).saturating_add(longest_us),
        )
    }
}

impl Burst {
    fn sent(&mut self, time_us: u64, bytes: u64) {
        let pause_us = time_us.saturating_sub(self.last_us);
        if pause_us > WORK_US {
            self.single_pause_us = Some(pause_us).filter(|_| self.bytes > 0);
            self.bytes = 0;
        } else if self.bytes > 0 {
            self.single_pause_us = None;
        }
        self.bytes = self.bytes.saturating_add(bytes);
        self.last_us = time_us;
    }
}
