//! The state of one trace between its events.

use std::collections::BTreeMap;

use super::clock::{Clock, ClockRepair};
use super::collect::Collector;
use super::event::Event;
use super::header::Header;
use super::http3::kept;
use super::names::{EventKind, kind};
use super::netlog::NETLOG;
use super::quic::Direction;
use crate::limits;
use crate::trace::Vantage;

const EPOCH: &str = "times count from an epoch; here they count from the first event";
const BACKWARD: &str =
    "events are earlier than the event before them; they were read in the log's order";
const TWICE: &str = "packets that were logged twice in a row were counted once";
const CAPTURED_TWICE: &str =
    "packets that were captured again, in another place or on another interface, were counted once";

/// One trace while it is read.
#[derive(Default)]
pub(super) struct TraceReading {
    pub(super) collector: Collector,
    /// The header's clock, for the trace and each of its connections.
    pub(super) header_clock: Clock,
    /// A log from the network whose packets flow as the server's.
    pub(super) flows_as_server: bool,
    pub(super) clock: Clock,
    pub(super) fields: Vec<String>,
    pub(super) has_header: bool,
    /// The record of its first event; 0 before that.
    pub(super) first_record: u64,
    /// The trace that the header began, if this one is for a connection with its own ID.
    pub(super) header_trace: Option<usize>,
    /// The latest time, in the log's units.
    pub(super) latest: f64,
}

impl TraceReading {
    pub(super) fn is_empty(&self) -> bool {
        self.collector.trace.counts.events == 0
    }

    /// Whether this is a netlog, which says later when its packets were sent: its order is not that of its times, and right.
    pub(super) fn is_netlog(&self) -> bool {
        self.collector.trace.header.format.as_deref() == Some(NETLOG)
    }

    /// Whether an event of this time is earlier than one before it. Times that count from the event before show no order.
    pub(super) fn is_earlier(&mut self, time: f64) -> bool {
        let is_earlier = time < self.latest && !self.header_clock.counts_from_previous;
        self.latest = self.latest.max(time);
        is_earlier
    }

    pub(super) fn set_header(&mut self, header: &Header) {
        let trace = &mut self.collector.trace;
        if header.vantage() != Vantage::Unknown {
            trace.vantage = header.vantage();
        }
        trace.connection = header.connection();
        trace.header = header.said();
        self.header_clock = header.clock();
        self.flows_as_server = header.flows_as_server();
    }

    /// Whether the event could be read; if not, it is not counted.
    pub(super) fn event(&mut self, event: &Event<'_>, record: u64) -> bool {
        let before = self.clock.clone();
        let Some((time_us, clock_repair)) = self.clock.normalize(event.time) else {
            return false;
        };
        let kind = kind(&event.name);
        let Ok(is_new) = self.take(time_us, kind, event) else {
            self.clock = before;
            return false;
        };
        if self.first_record == 0 || record < self.first_record {
            self.first_record = record;
        }
        if kind.is_moment() {
            self.collector.moment(time_us, &event.name);
        }
        let trace = &mut self.collector.trace;
        let counts = &mut trace.counts;
        counts.records += 1;
        counts.events += 1;
        self.collector.text_bytes += count_name(&mut counts.by_name, &event.name);
        if !is_new {
            trace.repair(if trace.is_capture() { CAPTURED_TWICE } else { TWICE }, record);
            return true;
        }
        self.collector.list(time_us, kind, event);
        let trace = &mut self.collector.trace;
        let counts = &mut trace.counts;
        match kind {
            EventKind::Recovery => counts.recovery_events += 1,
            EventKind::DataMoved => counts.data_moved += 1,
            EventKind::FrameCreated | EventKind::FrameParsed => counts.http_frames += 1,
            EventKind::Unknown => counts.unknown_events += 1,
            _ => {}
        }
        match clock_repair {
            Some(ClockRepair::Epoch) => trace.repair(EPOCH, record),
            Some(ClockRepair::Backward) => trace.repair(BACKWARD, record),
            None => {}
        }
        true
    }

    /// Returns whether it is new, not a packet that was logged twice.
    fn take(
        &mut self,
        time_us: u64,
        kind: EventKind,
        event: &Event<'_>,
    ) -> serde_json::Result<bool> {
        let (collector, data) = (&mut self.collector, event.data);
        match kind {
            EventKind::PacketSent => return collector.packet(time_us, event, Direction::Sent),
            EventKind::PacketReceived => {
                return collector.packet(time_us, event, Direction::Received);
            }
            EventKind::PacketLost => return collector.packet_lost(time_us, event),
            EventKind::Recovery => collector.recovery(time_us, data)?,
            EventKind::DataMoved => collector.data_moved(time_us, data)?,
            EventKind::FrameCreated => collector.http_frame(time_us, data, Direction::Sent)?,
            EventKind::FrameParsed => collector.http_frame(time_us, data, Direction::Received)?,
            EventKind::StreamTypeSet => collector.stream_type(data)?,
            EventKind::PriorityUpdated => collector.priority_updated(time_us, data)?,
            EventKind::ParametersSet => collector.parameters(time_us, data)?,
            EventKind::Scheduler | EventKind::Scheme => collector.scheduler_call(time_us, data)?,
            EventKind::LegacyStream => {
                let direction = match event.trigger.as_deref() {
                    Some("PACKET_RX") => Direction::Received,
                    _ => Direction::Sent,
                };
                collector.lone_stream(time_us, data, direction)?;
            }
            EventKind::Moved => collector.lone_stream(time_us, data, Direction::Received)?,
            EventKind::Navigation => collector.navigations_us.push(time_us),
            EventKind::Milestone => collector.milestone(time_us, data)?,
            EventKind::Restraint => collector.restraint(time_us, data)?,
            EventKind::Timer => collector.timer(time_us, data),
            EventKind::ConnectionClosed => collector.connection_closed(time_us, data),
            EventKind::CongestionState => collector.congestion_state(time_us, data),
            EventKind::DatagramsSent => collector.datagrams(data, Direction::Sent),
            EventKind::DatagramsReceived => collector.datagrams(data, Direction::Received),
            EventKind::Unused | EventKind::Unknown => {}
        }
        Ok(true)
    }
}

/// Counts a name. Returns the bytes of memory that it took.
fn count_name(by_name: &mut BTreeMap<String, u64>, name: &str) -> usize {
    if let Some(count) = by_name.get_mut(name) {
        *count += 1;
        return 0;
    }
    let is_full = by_name.len() >= limits::EVENT_NAMES;
    let name = if is_full { "(other names)".to_owned() } else { kept(name) };
    let bytes = name.len();
    *by_name.entry(name).or_default() += 1;
    bytes
}
