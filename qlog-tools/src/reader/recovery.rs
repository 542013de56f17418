//! The sender's recovery in a log: windows and round-trip times, losses that only metrics count, probe timeouts, states of the
//! congestion control, and the peer's acknowledgement delays.

use std::borrow::Cow;

use serde::Deserialize;

use super::collect::Collector;
use super::event::body;
use super::quic::Frame;
use super::tolerant::{Number, Whole};
use crate::packet::{Packet, PacketEvent, Space};
use crate::saturating_cast::to_u64;
use crate::trace::{Ack, Detail, RecoverySample};

/// The most records of lost packets from one event of metrics.
const LOST_RECORDS: u64 = 1024;
/// The most timeouts that one event of metrics counts.
const TIMEOUTS: u64 = 64;

/// `loss_timer_updated`, which newer drafts call `timer_updated`.
#[derive(Deserialize)]
struct TimerEvent<'a> {
    #[serde(borrow)]
    timer_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    event_type: Option<Cow<'a, str>>,
}

/// `congestion_state_updated`.
#[derive(Deserialize)]
struct StateEvent<'a> {
    #[serde(borrow)]
    new: Option<Cow<'a, str>>,
}

/// `recovery_metrics_updated`, with the names of all drafts.
#[derive(Deserialize)]
struct Metrics {
    #[serde(alias = "cwnd", alias = "current_cwnd")]
    congestion_window: Option<Number>,
    bytes_in_flight: Option<Number>,
    ssthresh: Option<Number>,
    smoothed_rtt: Option<Number>,
    latest_rtt: Option<Number>,
    min_rtt: Option<Number>,
    #[serde(alias = "rttvar")]
    rtt_variance: Option<Number>,
    pto_count: Option<Number>,
    cf_lost_packets: Option<Delta>,
    cf_lost_bytes: Option<Delta>,
}

/// quiche's own count of packets declared lost since the event before, for which it has no separate event.
#[derive(Deserialize, Clone, Copy)]
struct Delta {
    delta: Whole,
    total: Option<Whole>,
}

impl Metrics {
    /// `rtt_unit_ms` is the unit of an RTT in ms.
    fn sample(&self, time_us: u64, rtt_unit_ms: f64) -> RecoverySample {
        let [smoothed_rtt_ms, latest_rtt_ms, min_rtt_ms, rtt_variance_ms] =
            [self.smoothed_rtt, self.latest_rtt, self.min_rtt, self.rtt_variance]
                .map(|rtt| Some(rtt?.0 * rtt_unit_ms));
        RecoverySample {
            time_us,
            congestion_window_bytes: self.congestion_window.and_then(whole_bytes),
            bytes_in_flight: self.bytes_in_flight.and_then(whole_bytes),
            slow_start_threshold_bytes: self.ssthresh.and_then(whole_bytes),
            smoothed_rtt_ms,
            latest_rtt_ms,
            min_rtt_ms,
            rtt_variance_ms,
        }
    }
}

/// `None` for the values that mean "unlimited".
fn whole_bytes(number: Number) -> Option<u64> {
    (0.0..=1e15).contains(&number.0).then(|| to_u64(number.0))
}

impl Collector {
    pub(super) fn recovery(&mut self, time_us: u64, data: &[u8]) -> serde_json::Result<()> {
        let is_full = self.detail >= Detail::Full;
        // Whether it counts lost packets shows without parsing it.
        let counts_losses =
            || std::str::from_utf8(data).is_ok_and(|data| data.contains("\"cf_lost_packets\""));
        if self.detail < Detail::Order && !counts_losses() {
            return Ok(());
        }
        let metrics: Metrics = body(data)?;
        let total = metrics.cf_lost_packets.and_then(|it| it.total).map(|it| it.0);
        let is_again = total.is_some() && total == self.lost_total_by_metrics;
        self.lost_total_by_metrics = total.or(self.lost_total_by_metrics);
        if let Some(lost) = metrics.cf_lost_packets.filter(|_| !is_again) {
            // The total includes packets that were lost before a part of a log begins.
            let so_far = self.lost_by_metrics.unwrap_or_default();
            self.lost_by_metrics = Some(so_far.saturating_add(lost.delta.0));
            let records = if is_full { lost.delta.0.min(LOST_RECORDS) } else { 0 };
            for record in 0..records {
                // All their bytes are attributed to the first.
                let bytes =
                    metrics.cf_lost_bytes.filter(|_| record == 0).map_or(0, |it| it.delta.0);
                let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                let (space, event) = (Space::Application, PacketEvent::Lost);
                let packet = Packet {
                    time_us,
                    event,
                    space,
                    number: None,
                    bytes,
                    is_ack_eliciting: false,
                    is_mtu_probe: false,
                };
                self.trace.packets.get_or_insert_default().all.push(packet);
            }
        }
        if let Some(count) = metrics.pto_count.filter(|_| is_full) {
            self.timeouts_counted(time_us, to_u64(count.0));
        }
        let sample = metrics.sample(time_us, self.trace.header.rtt_unit_ms());
        let recovery = self.trace.recovery.get_or_insert_default();
        recovery.longest_rtt.add(&sample);
        if is_full {
            recovery.samples.push(sample);
        }
        Ok(())
    }

    /// Metrics report consecutive expirations of probe timers.
    fn timeouts_counted(&mut self, time_us: u64, count: u64) {
        let more = count.saturating_sub(self.timeouts_in_a_row).min(TIMEOUTS);
        self.timeouts_in_a_row = count;
        let events = &mut self.trace.recovery_events;
        events.knows_timeouts = true;
        events.counted_us.extend((0..more).map(|_| time_us));
        self.moments_kept += usize::try_from(more).unwrap_or_default();
    }

    /// A probe timer expired. Two packets may report the same expiration.
    pub(super) fn timeout(&mut self, time_us: u64) {
        if self.detail < Detail::Full {
            return;
        }
        let events = &mut self.trace.recovery_events;
        events.knows_timeouts = true;
        if events.expired_us.last() != Some(&time_us) {
            events.expired_us.push(time_us);
            self.moments_kept += 1;
        }
    }

    /// A timer of loss detection was set, cancelled, or expired. Unreadable events are ignored, because stacks have other timers.
    pub(super) fn timer(&mut self, time_us: u64, data: &[u8]) {
        let Ok(TimerEvent { timer_type, event_type }) = body(data) else { return };
        let is_probes = timer_type.is_some_and(|it| it.eq_ignore_ascii_case("pto"));
        if !is_probes {
            return;
        }
        self.trace.recovery_events.knows_timeouts = true;
        if event_type.is_some_and(|it| it.eq_ignore_ascii_case("expired")) {
            self.timeout(time_us);
        }
    }

    /// The congestion control has changed its state.
    pub(super) fn congestion_state(&mut self, time_us: u64, data: &[u8]) {
        let Ok(StateEvent { new: Some(state) }) = body(data) else { return };
        if self.detail < Detail::Full {
            return;
        }
        let events = &mut self.trace.recovery_events;
        events.knows_states = true;
        let times_us = match &*state.to_ascii_lowercase() {
            "recovery" => &mut events.recoveries_us,
            "persistent_congestion" => &mut events.persistent_us,
            _ => return,
        };
        // Logged twice, it is one.
        if times_us.last() != Some(&time_us) {
            times_us.push(time_us);
            self.moments_kept += 1;
        }
    }

    /// An ACK frame for 1-RTT packets arrived with these ranges; `fresh` of them had not been acknowledged before.
    pub(super) fn ack(
        &mut self,
        time_us: u64,
        frame: &Frame<'_>,
        ranges: &[(u64, u64)],
        fresh: usize,
    ) {
        let largest = ranges.iter().map(|it| it.1).max();
        let is_newest = largest > self.largest_acknowledged;
        self.largest_acknowledged = largest.max(self.largest_acknowledged);
        let samples_before = self.trace.samples().len();
        let events = &mut self.trace.recovery_events;
        let unit_ms = self.trace.header.ack_delay_unit_ms(events.ack_delay_exponent);
        let delay_ms = frame.ack_delay().map(|it| it * unit_ms);
        events.acks.push(Ack {
            time_us,
            delay_ms,
            ranges: ranges.len(),
            fresh,
            is_newest,
            samples_before,
        });
        if let Some(counts) = frame.ecn() {
            let before = events.ecn.replace(counts).map_or(0, |it| it[2]);
            if counts[2] > before {
                events.marked_us.push(time_us);
                self.moments_kept += 1;
            }
        }
        self.moments_kept += 1;
    }
}
