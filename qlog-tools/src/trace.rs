//! One log's account of one connection.

mod beside;
mod extent;
mod parts;
mod units;
mod writer;

use std::collections::BTreeMap;

use crate::assembly::StreamFrame;
use crate::closing::Closings;
use crate::filled::Filled;
use crate::flow_control::FlowControl;
use crate::number_ranges::NumberRanges;
use crate::packed_frames::PackedFrames;
use crate::packet::{Packet, PacketEvent};
use crate::progress::Progress;
use crate::short_texts::counted;
use crate::timeline::{Timeline, Transfer};
use schedulers::Call;
use serde::Serialize;

pub use beside::DATAGRAMS;
pub(crate) use extent::OTHER_PATHS;
pub(crate) use parts::{Ack, RecoveryEvents, Validation};
pub use parts::{EventLog, OwnServer, PacketLog, Recovery, RecoverySample};
pub use writer::{Container, Stack, Vantage};

/// The repair of an event whose body could not be read.
pub(crate) const BAD_BODY: &str = "events whose body could not be read were left out";

/// The repair of a packet of a capture that is not decrypted. A capture at a sender can show several datagrams as one, before the
/// system has cut them.
pub(crate) const UNDECRYPTED: &str = "packets that tshark cannot decrypt: their keys are missing, or they are datagrams that the system had not \
    cut yet (segmentation offload; capture at the other end, or turn it off: ethtool -K DEVICE tx-udp-segmentation off)";

/// One log's account of one connection: the parts of every log, and the optional ones.
///
/// Frames, packets and recovery samples depend on the [`Detail`] with which the log was read: an omitted part looks like one
/// that was not logged. Times are in microseconds on the log's clock; clocks that count from an epoch were shifted to begin with
/// the first event.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// The file, or the caller's name for it.
    pub file: String,
    /// Its number among the traces of its file, from 1 in the order of their first events; `None` if it is the only one.
    pub number: Option<usize>,
    /// The log's statements about itself.
    pub header: Header,
    /// The side that wrote the log.
    pub vantage: Vantage,
    /// The original destination connection ID, otherwise the log's group ID: the same in both ends' logs of a connection. IDs
    /// are in lower-case hexadecimal.
    pub connection: Option<String>,
    /// All names by which the other end's log may identify the connection: also the destinations of the client's Initial
    /// packets, of which there are several after a Retry. In lower case.
    pub(crate) names: Vec<String>,
    /// The responses. From a client's log: frames as they arrived. From a server's log: frames as they were sent, and requests
    /// as they were read.
    pub timeline: Timeline,
    /// The HTTP/3 events of each transfer, in the order of `timeline.transfers`.
    pub details: Vec<TransferDetails>,
    /// All streams of the direction of the responses, by ID: requests, pushes, control.
    pub streams: Vec<StreamSummary>,
    /// The frames of `timeline.frames`, each with the number of its packet, in compact form ([`Detail::Arrivals`] and above).
    pub arrivals: PackedFrames,
    /// Distinct stream bytes in the direction of the requests: uploads, and control streams.
    pub request_bytes: u64,
    /// The streams in that direction, by ID ([`Detail::Arrivals`] and above).
    pub request_streams: Vec<StreamSummary>,
    /// Their frames ([`Detail::Full`]).
    pub(crate) request_frames: Vec<StreamFrame>,
    /// DATAGRAM frames that arrived and that were sent: time and size ([`Detail::Full`]).
    pub(crate) datagrams: [Vec<(u64, u64)>; 2],
    /// The contents of packets that arrived and that were sent ([`Detail::Full`]).
    pub(crate) filled: [Filled; 2],
    /// The priority signals, in order.
    pub signals: Vec<PrioritySignal>,
    /// Whether the server's log showed why bytes arrived late or twice ([`crate::causes`]), so that there are no guesses.
    pub has_exact_causes: bool,
    /// Counts of the events that were read.
    pub counts: Counts,
    /// The faults of the log, and their repairs.
    pub repairs: Vec<Repair>,
    /// The log's packets.
    pub packets: Option<PacketLog>,
    /// The sender's recovery.
    pub recovery: Option<Recovery>,
    /// Loss recovery events other than packets and samples ([`Detail::Full`]).
    pub(crate) recovery_events: RecoveryEvents,
    /// How it ended, and which streams an end gave up ([`Detail::Full`]).
    pub(crate) closings: Closings,
    /// The limits of flow control that its side learned ([`Detail::Full`]).
    pub(crate) flow_control: Option<FlowControl>,
    /// The application's writes of each response, as time in microseconds and end offset ([`Detail::Order`] and above, in a
    /// server's log).
    pub(crate) written: Option<BTreeMap<u64, Vec<(u64, u64)>>>,
    /// Our server's own statements.
    pub own_server: Option<OwnServer>,
    /// Its events one by one.
    pub events: Option<EventLog>,
}

/// A log's statements about itself.
#[derive(Debug, Clone, Default)]
pub struct Header {
    /// The log's own title.
    pub title: Option<String>,
    /// The program that wrote the log.
    pub stack: Stack,
    /// The format, as the header names it (`file_schema`, or `qlog_version`).
    pub format: Option<String>,
    /// How the file is divided into events.
    pub container: Container,
    /// The wall clock at time 0, as text, if the header has it.
    pub start: Option<String>,
    /// The wall clock at time 0, in ms since 1970.
    pub(crate) started_ms: Option<f64>,
    /// When it begins, if `convert` cut it out of a longer log.
    pub(crate) part_begins_us: Option<u64>,
    /// The milliseconds in the unit that it names for times.
    pub(crate) time_unit_ms: Option<f64>,
}

/// A call that our server made to its scheduler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchedulerCall {
    /// When, on the log's clock.
    pub time_us: u64,
    /// The call, or why it is invalid.
    pub call: Result<Call, String>,
}

/// How much of a log to keep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Streams and requests: memory for streams and their holes, independent of the file's length. Metrics are not parsed, so
    /// damaged ones count as events.
    Summary,
    /// Also each STREAM frame, packed: about ten bytes per frame.
    Arrivals,
    /// Also the data that shows in which order a server should have sent: its scheduler's calls, its application's writes, and
    /// the longest round trip.
    Order,
    /// Also each STREAM frame separately: 32 more bytes per frame.
    #[default]
    Frames,
    /// And packets, acknowledgements and recovery samples.
    Full,
    /// Also each event, with the frames of packets, for the report.
    Events,
}

/// The HTTP/3 events of a transfer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransferDetails {
    /// The response's final status.
    pub status: Option<u16>,
    /// The response's `content-type`.
    pub content_type: Option<String>,
    /// The request's `priority` (RFC 9218, section 4).
    pub priority: Option<String>,
    /// Whether the server pushed it.
    pub pushed: bool,
}

schedulers::named! {
    /// The purpose of a stream.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum StreamRole {
        /// A request and its response.
        Request = "request",
        /// A pushed response.
        Push = "push",
        /// HTTP/3's control stream.
        Control = "control",
        /// QPACK's encoder or decoder stream.
        Qpack = "qpack",
        /// Another one, or one whose type was not logged.
        #[default]
        Other = "other",
    }
}

/// One stream in the direction of the responses, summed.
#[derive(Debug, Clone, Default)]
pub struct StreamSummary {
    /// Its ID.
    pub stream: u64,
    /// Its purpose.
    pub role: StreamRole,
    /// STREAM frames.
    pub frames: u64,
    /// Distinct bytes.
    pub bytes: u64,
    /// The first frame.
    pub first_us: u64,
    /// The last frame that brought new bytes.
    pub last_us: u64,
    /// When all bytes up to the stream's end were readable; `None` if they never were, or the end is unknown.
    pub complete_us: Option<u64>,
    /// Bytes that filled a hole, in a later packet than the data after the hole: lost and retransmitted. In a sender's log, all
    /// retransmitted bytes.
    pub retransmitted_bytes: u64,
    /// Bytes that filled a hole, in an earlier packet: overtaken in transit.
    pub reordered_bytes: u64,
    /// Bytes that had already arrived: retransmitted needlessly. `None` in a sender's log before its acknowledgements were
    /// evaluated ([`crate::causes::settle`]).
    pub duplicate_bytes: Option<u64>,
    /// How the readable prefix grew.
    pub(crate) progress: Progress,
}

/// A priority signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrioritySignal {
    /// When.
    pub time_us: u64,
    /// The stream that it concerns; for a push, the push ID.
    pub element: u64,
    /// How it was said.
    pub how: SignalKind,
    /// The field's value: `u=2, i`.
    pub value: String,
}

impl PrioritySignal {
    /// Whether it concerns a stream, not a push.
    pub fn is_of_stream(&self) -> bool {
        self.how != SignalKind::PushUpdate
    }
}

/// How a priority was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalKind {
    /// The `priority` field of a request.
    Request,
    /// The `priority` field of a response.
    Response,
    /// A `PRIORITY_UPDATE` frame about a request.
    Update,
    /// A `PRIORITY_UPDATE` frame about a push.
    PushUpdate,
    /// The event `priority_updated`: the priority that the logging side then applied.
    Applied,
}

/// How much was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records, the header included.
    pub records: u64,
    /// Records that are events.
    pub events: u64,
    /// Events that are in no known qlog schema.
    pub unknown_events: u64,
    /// Records that could not be read.
    pub bad_records: u64,
    /// Events by name. Names beyond the first 1000 are counted as `(other names)`.
    pub by_name: BTreeMap<String, u64>,
    /// Packets by event.
    pub packets_sent: u64,
    /// Packets by event.
    pub packets_received: u64,
    /// Packets declared lost; one event may cover several.
    pub packets_lost: u64,
    /// Whether the log's metrics count them, so that 0 means none. They do not identify the packets.
    pub knows_losses: bool,
    /// Frames in packets, of any kind.
    pub packet_frames: u64,
    /// STREAM frames, both directions.
    pub stream_frames: u64,
    /// STREAM frames without a stated length.
    pub frames_without_length: u64,
    /// Pieces of bodies over TCP, which count as STREAM frames.
    pub tcp_pieces: u64,
    /// Events of HTTP/3 frames.
    pub http_frames: u64,
    /// Events of data passed between transport and application.
    pub data_moved: u64,
    /// Events with congestion window, RTT or bytes in flight.
    pub recovery_events: u64,
}

/// One kind of fault, and its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// The fault, and its repair.
    pub what: &'static str,
    /// How often.
    pub count: u64,
    /// The first affected record (from 1); 0 if the whole file is affected.
    pub first_record: u64,
    /// Whether a part of the log was left out, so that computed results may be wrong.
    #[serde(skip)]
    pub leaves_out: bool,
}

impl Trace {
    /// The packets in the order of the log ([`Detail::Full`]).
    pub fn packets(&self) -> &[Packet] {
        self.packets.as_ref().map_or(&[], |it| &it.all)
    }

    /// The packets with this event.
    pub fn packets_of(&self, event: PacketEvent) -> impl Iterator<Item = &Packet> + Clone {
        self.packets().iter().filter(move |it| it.event == event)
    }

    /// Congestion window, RTT and bytes in flight over time ([`Detail::Full`]).
    pub fn samples(&self) -> &[RecoverySample] {
        self.recovery.as_ref().map_or(&[], |it| &it.samples)
    }

    /// The calls of our server's scheduler in order ([`Detail::Order`] and above).
    pub fn scheduler_calls(&self) -> &[SchedulerCall] {
        self.own_server.as_ref().map_or(&[], |it| &it.scheduler_calls)
    }

    /// When the handshake was complete, if the log shows it ([`Detail::Full`]).
    pub(crate) fn handshake_us(&self) -> Option<u64> {
        self.packets.as_ref()?.handshake_us
    }

    /// The numbers of the 1-RTT packets that arrived; `None` if the log has no packets.
    pub(crate) fn received(&self) -> Option<&NumberRanges> {
        self.packets.as_ref().map(|it| &it.received)
    }

    /// The acknowledged 1-RTT packets of this side; `None` if no acknowledgement was logged.
    pub(crate) fn acknowledged(&self) -> Option<&NumberRanges> {
        self.packets.as_ref()?.acknowledged.as_ref()
    }

    /// Its file, and its number in the file if there are several traces: `both.qlog #2`. Control characters are replaced.
    pub fn label(&self) -> String {
        let file = crate::short_texts::shown(&self.file, crate::limits::NAME_CHARACTERS);
        match self.number {
            Some(number) => format!("{file} #{number}"),
            None => file,
        }
    }

    /// The sums of a stream.
    pub fn stream(&self, id: u64) -> Option<&StreamSummary> {
        let place = self.streams.binary_search_by_key(&id, |it| it.stream).ok()?;
        self.streams.get(place)
    }

    /// Pushed responses that were not complete: refused, cancelled, reset, or unfinished at the end of the log.
    pub fn unfinished_pushes(&self) -> impl Iterator<Item = &Transfer> {
        let pushes = self.timeline.transfers.iter().zip(&self.details).filter(|it| it.1.pushed);
        pushes
            .map(|it| it.0)
            .filter(|it| self.stream(it.stream).is_none_or(|it| it.complete_us.is_none()))
    }

    /// Distinct stream bytes in the direction of the responses, control streams included.
    pub fn unique_stream_bytes(&self) -> u64 {
        self.streams.iter().fold(0, |sum, stream| sum.saturating_add(stream.bytes))
    }

    /// Distinct stream bytes of both directions, in words.
    pub fn stream_bytes_in_words(&self) -> String {
        let (down, up) = (self.unique_stream_bytes(), self.request_bytes);
        let all = down.saturating_add(up);
        format!("{all} distinct stream bytes ({down} from the server, {up} from the client)")
    }

    /// The memory used by its header's texts.
    pub(crate) fn text_bytes(&self) -> usize {
        let Header { title, stack, format, start, .. } = &self.header;
        [title, &stack.name, &stack.version, format, &self.connection, start]
            .into_iter()
            .flatten()
            .fold(self.file.len(), |sum, text| sum + text.len())
    }

    /// Records a kind of repair that was made `count` times, unless that is 0.
    pub(crate) fn repair_all(&mut self, what: &'static str, count: u64, leaves_out: bool) {
        if count > 0 {
            self.repairs.push(Repair { what, count, first_record: 0, leaves_out });
        }
    }

    /// The omitted parts of the log, in a line that names the log; `None` if everything was read.
    pub fn incomplete(&self) -> Option<String> {
        let left_out = self.repairs.iter().filter(|it| it.leaves_out);
        let left_out: Vec<String> = left_out.map(Repair::in_words).collect();
        let what = left_out.join("; ");
        (!left_out.is_empty())
            .then(|| format!("{}: only part of it was read: {what}", self.label()))
    }

    /// Records that could not be read, unless only the last one was cut. Their events happened, although the log lacks them.
    pub(crate) fn unread_records(&self) -> u64 {
        let is_only_cut = self.repairs.iter().all(|it| !it.leaves_out);
        if is_only_cut { 0 } else { self.counts.bad_records }
    }

    /// Events whose body could not be read.
    pub(crate) fn unread_bodies(&self) -> u64 {
        self.repaired(BAD_BODY)
    }

    /// Packets of a capture that could not be decrypted: their numbers and contents are missing from all figures.
    pub fn undecrypted_packets(&self) -> u64 {
        self.repaired(UNDECRYPTED)
    }

    /// Whether an end closed the connection ([`Detail::Full`]).
    pub(crate) fn is_closed(&self) -> bool {
        let mut frames = self.filled.iter().flat_map(|it| &it.frames);
        frames.any(|it| it.kind == "connection_close")
    }

    /// The part of the log that could not be read, if that leaves holes in the middle of its figures.
    pub(crate) fn not_read(&self) -> Option<String> {
        let records = (self.unread_records(), "record", "read");
        let packets = (self.undecrypted_packets(), "packet", "decrypted");
        let (count, what, how) = [records, packets].into_iter().find(|it| it.0 > 0)?;
        Some(format!("{} of the log could not be {how}", counted(count, what)))
    }

    fn repaired(&self, what: &str) -> u64 {
        self.repairs.iter().filter(|it| it.what == what).map(|it| it.count).sum()
    }

    /// Counts one more of this kind of repair.
    pub(crate) fn repair(&mut self, what: &'static str, record: u64) {
        if let Some(repair) = self.repairs.iter_mut().find(|repair| repair.what == what) {
            repair.count += 1;
        } else {
            let (count, first_record, leaves_out) = (1, record, false);
            self.repairs.push(Repair { what, count, first_record, leaves_out });
        }
    }

    /// Counts one more omitted part of this kind.
    pub(crate) fn leave_out(&mut self, what: &'static str, record: u64) {
        self.repair(what, record);
        for repair in self.repairs.iter_mut().filter(|repair| repair.what == what) {
            repair.leaves_out = true;
        }
    }

    /// Adopts another trace's repair, unless this one has as many.
    pub(crate) fn merge_repair(&mut self, repair: Repair) {
        match self.repairs.iter_mut().find(|own| own.what == repair.what) {
            Some(own) if own.count >= repair.count => {}
            Some(own) => *own = repair,
            None => self.repairs.push(repair),
        }
    }

    /// Removes one repair of this kind.
    pub(crate) fn take_back(&mut self, what: &'static str) {
        if let Some(repair) = self.repairs.iter_mut().find(|repair| repair.what == what) {
            repair.count = repair.count.saturating_sub(1);
        }
        self.repairs.retain(|it| it.count > 0);
    }
}

impl Repair {
    /// The repair, its number if more than one, and its place if known.
    pub fn in_words(&self) -> String {
        let times = (self.count > 1).then(|| format!("{} times", self.count));
        let place = match (self.first_record, self.count) {
            (0, _) => None,
            (record, 1) => Some(format!("at record {record}")),
            (record, _) => Some(format!("first at record {record}")),
        };
        let details: Vec<String> = times.into_iter().chain(place).collect();
        match &details[..] {
            [] => self.what.to_owned(),
            details => format!("{} ({})", self.what, details.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_is_not_counted() {
        let of = |count, first_record| {
            Repair { what: "w", count, first_record, leaves_out: false }.in_words()
        };
        assert_eq!((of(1, 0), of(1, 7)), ("w".to_owned(), "w (at record 7)".to_owned()));
        assert_eq!(of(3, 0), "w (3 times)");
        assert_eq!(of(3, 7), "w (3 times, first at record 7)");
    }
}
