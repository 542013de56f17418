//! The bodies of QUIC events: packets with their STREAM frames, and data passed between layers.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::event::{body, text};
use super::tolerant::{Number, Whole};
use crate::event_list::{About, FrameContent};
use crate::limits::STREAM_OFFSET;
use crate::packet::{PacketEvent, Space};

/// A direction from the log writer's point of view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Received,
    Sent,
}

/// `packet_received`, `packet_sent` and `packet_lost`.
#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names of qlog")]
pub(super) struct Packet<'a> {
    #[serde(borrow, default)]
    pub(super) header: Header<'a>,
    /// The packet type, which drafts before 02 wrote beside the header.
    #[serde(borrow, alias = "type")]
    packet_type: Option<Cow<'a, str>>,
    packet_number: Option<Whole>,
    /// The packet of a STREAM frame that qlog 0.1 has without it, in converted logs.
    packet_nr: Option<Whole>,
    raw: Option<Raw>,
    /// mvfst's single event for all packets lost at once.
    pub(super) lost_packets: Option<Whole>,
    #[serde(borrow, default)]
    frames: Option<Vec<Frame<'a>>>,
    /// Why it was sent.
    #[serde(borrow)]
    trigger: Option<&'a RawValue>,
    is_mtu_probe_packet: Option<bool>,
}

#[derive(Deserialize, Default)]
pub(super) struct Header<'a> {
    #[serde(borrow)]
    packet_type: Option<Cow<'a, str>>,
    packet_number: Option<Whole>,
    packet_size: Option<Whole>,
    length: Option<Whole>,
    path_id: Option<Whole>,
    /// In a client's first packet, the original destination connection ID.
    #[serde(borrow)]
    pub(super) dcid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) scid: Option<Cow<'a, str>>,
}

/// The types of packets without a number.
const NUMBERLESS: [&str; 4] =
    ["retry", "version_negotiation", "versionnegotiation", "stateless_reset"];

impl Direction {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Received => Self::Sent,
            Self::Sent => Self::Received,
        }
    }

    pub(super) fn event(self) -> PacketEvent {
        match self {
            Self::Received => PacketEvent::Received,
            Self::Sent => PacketEvent::Sent,
        }
    }
}

impl<'a> Packet<'a> {
    /// Some stacks write `null` for no frames.
    pub(super) fn frames(&self) -> &[Frame<'a>] {
        self.frames.as_deref().unwrap_or_default()
    }

    /// Some stacks log a 0 for packets that have no number (RFC 9000, 17.2.1, 17.2.5 and 10.3).
    pub(super) fn number(&self) -> Option<u64> {
        if NUMBERLESS.iter().any(|it| self.is(it)) {
            return None;
        }
        self.header.packet_number.or(self.packet_number).map(|number| number.0)
    }

    /// The path that its header names.
    pub(super) fn path(&self) -> Option<Cow<'_, str>> {
        self.header.path_id.map(|it| it.0.to_string().into())
    }

    /// Forgets its number, which only its path gives a meaning.
    pub(super) fn without_number(mut self) -> Self {
        (self.header.packet_number, self.packet_number) = (None, None);
        self
    }

    /// Whether the log shows only a frame of it, because it was converted from one that has no packets.
    pub(super) fn is_only_a_frame(&self) -> bool {
        self.packet_nr.is_some() && self.frames().len() == 1
    }

    /// Whether the log states that it was sent because a probe timer expired.
    pub(super) fn is_probe(&self) -> bool {
        self.trigger.is_some_and(|it| it.get() == r#""pto_probe""#)
    }

    /// Whether the log states that it probes the path's MTU.
    pub(super) fn is_mtu_probe(&self) -> bool {
        self.is_mtu_probe_packet == Some(true)
    }

    /// 0 if not logged.
    pub(super) fn bytes(&self) -> u32 {
        let bytes =
            self.raw.and_then(|raw| raw.length).or(self.header.packet_size).or(self.header.length);
        bytes.map_or(0, |bytes| u32::try_from(bytes.0).unwrap_or(u32::MAX))
    }

    /// Whether the log states this type.
    pub(super) fn is(&self, name: &str) -> bool {
        let kind = self.header.packet_type.as_deref().or(self.packet_type.as_deref());
        kind.is_some_and(|kind| kind.eq_ignore_ascii_case(name))
    }

    pub(super) fn space(&self) -> Space {
        match (self.is("initial"), self.is("handshake")) {
            (true, _) => Space::Initial,
            (_, true) => Space::Handshake,
            _ => Space::Application,
        }
    }

    /// For the list of events.
    pub(super) fn about(&self, event: PacketEvent) -> About {
        let (space, number, bytes) = (self.space(), self.number(), self.bytes());
        let frames = self.frames().iter().map(Frame::content).collect();
        About::Packet { event, space, number, bytes, frames }
    }
}

/// A frame in a packet. Only STREAM, `STOP_SENDING`, ACK, DATAGRAM, `MAX_DATA` and `MAX_STREAM_DATA` frames are parsed.
#[derive(Deserialize)]
pub(super) struct Frame<'a> {
    #[serde(rename = "frame_type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(alias = "id")]
    stream_id: Option<Whole>,
    offset: Option<Whole>,
    length: Option<Whole>,
    /// OpenSSL's payload length; its `length` counts only the frame's head.
    payload_length: Option<Whole>,
    raw: Option<Raw>,
    fin: Option<bool>,
    #[serde(borrow)]
    acked_ranges: Option<&'a RawValue>,
    #[serde(borrow)]
    ack_delay: Option<&'a RawValue>,
    ect0: Option<Whole>,
    ect1: Option<Whole>,
    ce: Option<Whole>,
    /// A number, or a name.
    #[serde(borrow)]
    pub(super) error_code: Option<&'a RawValue>,
    /// A name, beside a number.
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    /// The space of the error code.
    #[serde(borrow)]
    error_space: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) reason: Option<&'a RawValue>,
    /// The limit that a frame of flow control sets or has reached.
    #[serde(borrow, alias = "maximum_data", alias = "limit")]
    maximum: Option<&'a RawValue>,
}

/// A number, or a text that is one.
pub(super) fn number_in(it: &RawValue) -> Option<u64> {
    serde_json::from_str::<Whole>(it.get()).ok().map(|it| it.0)
}

/// `RawInfo` of the main schema.
#[derive(Deserialize, Clone, Copy, Default)]
pub(super) struct Raw {
    pub(super) length: Option<Whole>,
    pub(super) payload_length: Option<Whole>,
}

/// RFC 9114, 8.1: 0x100.
const H3_NO_ERROR: &str = "256";

/// The STREAM frame in a [`Frame`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stream {
    pub(super) id: u64,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) ends: bool,
}

impl Stream {
    /// `None` if it exceeds the largest offset.
    pub(super) fn of(
        id: Whole,
        offset: Option<Whole>,
        bytes: Option<Whole>,
        ends: bool,
    ) -> Option<Self> {
        let [offset, bytes] = [offset, bytes].map(|it| it.map_or(0, |it| it.0));
        let is_possible = offset.checked_add(bytes)? <= STREAM_OFFSET;
        is_possible.then_some(Self { id: id.0, offset, bytes, ends })
    }

    pub(super) fn content(self) -> FrameContent {
        let Self { id, offset, bytes, ends } = self;
        FrameContent::Stream { id, offset, bytes, ends }
    }
}

impl Frame<'_> {
    /// Whether it makes its packet ack-eliciting (RFC 9002, section 2).
    pub(super) fn is_ack_eliciting(&self) -> bool {
        !["ack", "padding", "connection_close"].iter().any(|it| self.is(it))
    }

    /// The delay that an ACK frame reports, in the log's unit.
    pub(super) fn ack_delay(&self) -> Option<f64> {
        let delay = self.ack_delay.filter(|_| self.is("ack"))?;
        serde_json::from_str::<Number>(delay.get()).ok().map(|it| it.0)
    }

    /// The packets that arrived with ECT(0), ECT(1) and CE, from an ACK frame that reports them.
    pub(super) fn ecn(&self) -> Option<[u64; 3]> {
        let counts = [self.ect0, self.ect1, self.ce];
        let is_said = self.is("ack") && counts.iter().any(Option::is_some);
        is_said.then(|| counts.map(|it| it.map_or(0, |count| count.0)))
    }

    /// Its kind as logged, and its bytes of data, for frames with data and a length.
    pub(super) fn filled(&self) -> (&str, u64) {
        let has_data = ["stream", "crypto", "datagram", "padding"].iter().any(|it| self.is(it));
        let bytes = self.length().filter(|_| has_data).map_or(0, |it| it.0);
        (self.kind.as_deref().unwrap_or("unnamed"), bytes)
    }

    /// Compares the kind. Drafts before 02 also wrote kinds of frames in capitals.
    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind.as_deref().is_some_and(|it| it.eq_ignore_ascii_case(kind))
    }

    /// `None` for other frames and for impossible ones. Stacks put the data's length in one of
    /// four places (OpenSSL in `payload_length`, quiche in `raw.payload_length`, mvfst in `raw.length`, older schemas in
    /// `length`) and may leave out what is 0.
    pub(super) fn stream(&self) -> Option<Stream> {
        if !self.is("stream") {
            return None;
        }
        Stream::of(self.stream_id?, self.offset, self.length(), self.fin == Some(true))
    }

    /// The stream that a `STOP_SENDING` frame cancels. With `H3_NO_ERROR` it cancels nothing: the response is complete,
    /// perhaps on another connection.
    pub(super) fn stopped_stream(&self) -> Option<u64> {
        let is_stop = self.is("stop_sending");
        let is_cancel = self.error_code.is_none_or(|it| it.get() != H3_NO_ERROR);
        self.stream_id.filter(|_| is_stop && is_cancel).map(|it| it.0)
    }

    /// Whether its error is the application's; `None`: not logged.
    pub(super) fn is_of_application(&self) -> Option<bool> {
        let space = text(self.error_space?)?;
        let is_space = |name| space.eq_ignore_ascii_case(name);
        (is_space("application") || is_space("transport")).then(|| is_space("application"))
    }

    pub(super) fn stream_id(&self) -> Option<u64> {
        self.stream_id.map(|it| it.0)
    }

    fn content(&self) -> FrameContent {
        if let Some(stream) = self.stream() {
            return stream.content();
        }
        if self.is("ack") {
            return FrameContent::Ack(self.acknowledged());
        }
        let value = self.maximum.and_then(number_in).or(self.offset.map(|it| it.0));
        FrameContent::Other {
            kind: self.kind.as_deref().unwrap_or("unnamed").to_ascii_lowercase(),
            stream: self.stream_id.map(|it| it.0),
            value: value.or_else(|| self.error_code.and_then(number_in)),
        }
    }

    /// The limit that a `MAX_DATA` or `MAX_STREAM_DATA` frame sets, and in the latter the stream.
    pub(super) fn limit(&self) -> Option<(Option<u64>, u64)> {
        let bytes = self.maximum.and_then(number_in)?;
        if self.is("max_data") {
            return Some((None, bytes));
        }
        Some((Some(self.stream_id.filter(|_| self.is("max_stream_data"))?.0), bytes))
    }

    /// Whether its length is missing without a good reason: an empty frame that only ends a stream needs none.
    pub(super) fn lacks_length(&self) -> bool {
        let may_be_empty = self.fin == Some(true) && self.offset.is_some_and(|it| it.0 > 0);
        self.length().is_none() && !may_be_empty
    }

    fn length(&self) -> Option<Whole> {
        let raw = self.raw.unwrap_or_default();
        let places = [self.payload_length, self.length, raw.payload_length, raw.length];
        places.into_iter().flatten().next()
    }

    /// The packet numbers that an ACK frame acknowledges, first and last of each range.
    pub(super) fn acknowledged(&self) -> Vec<(u64, u64)> {
        let ranges = self.acked_ranges.filter(|_| self.is("ack"));
        let ranges = ranges.and_then(|raw| serde_json::from_str::<Vec<Vec<Whole>>>(raw.get()).ok());
        let mut bounds = Vec::new();
        for range in ranges.unwrap_or_default() {
            if let (Some(Whole(one)), Some(Whole(other))) = (range.first(), range.last()) {
                bounds.push((*one.min(other), *one.max(other)));
            }
        }
        bounds
    }
}

/// A STREAM frame as a separate event.
#[derive(Deserialize)]
pub(super) struct LoneStream {
    pub(super) packet_nr: Option<Whole>,
    stream_id: Whole,
    offset: Option<Whole>,
    length: Option<Whole>,
    final_frame: Option<Whole>,
}

impl LoneStream {
    pub(super) fn stream(&self) -> Option<Stream> {
        let ends = self.final_frame.is_some_and(|flag| flag.0 != 0);
        Stream::of(self.stream_id, self.offset, self.length, ends)
    }
}

/// The stream that any event concerns, if it states one.
pub(super) fn stream_of(data: &[u8]) -> Option<u64> {
    let found: OfStream = body(data).ok()?;
    found.stream_id.map(|it| it.0)
}

#[derive(Deserialize)]
struct OfStream {
    #[serde(alias = "stream")]
    stream_id: Option<Whole>,
}

/// `stream_data_moved`.
#[derive(Deserialize)]
pub(super) struct DataMoved<'a> {
    pub(super) stream_id: Option<Whole>,
    #[serde(borrow)]
    pub(super) from: Option<Cow<'a, str>>,
    offset: Option<Whole>,
    length: Option<Whole>,
    raw: Option<Raw>,
}

impl DataMoved<'_> {
    pub(super) fn end(&self) -> Option<u64> {
        let bytes =
            self.length.or_else(|| self.raw.and_then(|raw| raw.length.or(raw.payload_length)))?;
        self.offset?.0.checked_add(bytes.0)
    }
}

/// [`schedulers::Milestone::EVENT`].
#[derive(Deserialize)]
pub(super) struct MilestoneEvent<'a> {
    #[serde(borrow)]
    pub(super) milestone: Cow<'a, str>,
    pub(super) weight: Option<Whole>,
    pub(super) of: Option<Whole>,
    /// From the event to the milestone.
    pub(super) after_us: Option<Whole>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(json: &str) -> Option<(u64, u64, u64, bool)> {
        let frame: Frame<'_> = serde_json::from_str(json).unwrap();
        frame.stream().map(|stream| (stream.id, stream.offset, stream.bytes, stream.ends))
    }

    #[test]
    fn a_stream_frame_has_its_length_in_one_of_four_places() {
        for length in [
            r#""length":7"#,
            r#""raw":{"length":7}"#,
            r#""raw":{"payload_length":7}"#,
            r#""raw":{"length":9,"payload_length":7}"#,
            r#""payload_length":7,"explicit_length":true,"length":4"#,
        ] {
            let json = format!(
                r#"{{"frame_type":"stream","stream_id":"4","offset":3,{length},"fin":true}}"#
            );
            assert_eq!(stream(&json), Some((4, 3, 7, true)), "{length}");
        }
    }

    #[test]
    fn the_kind_of_a_frame_may_be_in_capitals() {
        let json = r#"{"frame_type":"STREAM","id":"4","offset":"3","length":"7","fin":true}"#;
        assert_eq!(stream(json), Some((4, 3, 7, true)));
    }

    #[test]
    fn other_frames_and_impossible_offsets_are_left_out() {
        assert_eq!(stream(r#"{"frame_type":"ping"}"#), None);
        assert_eq!(stream(r#"{"frame_type":"stream","offset":1}"#), None);
        let far = u64::MAX;
        assert_eq!(
            stream(&format!(
                r#"{{"frame_type":"stream","stream_id":0,"offset":{far},"length":1}}"#
            )),
            None
        );
    }
}
