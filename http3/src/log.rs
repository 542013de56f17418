//! The HTTP/3 events of a connection's qlog (`http3:frame_created`, `http3:frame_parsed`). quiche logs only the events of
//! its own HTTP/3 layer.

use crate::secrets::redacted;
use crate::{Event, NameValue, Prioritized, PushId, Session, Signal, StreamId};
use qlog::events::http3::{
    FrameCreated, FrameParsed, Http3Frame, HttpHeader, StreamType, StreamTypeSet,
};
use qlog::events::{EventData, EventImportance, JsonEvent};
use qlog::streamer::{EventTimePrecision, QlogStreamer};
use qlog::{TraceSeq, VantagePoint};
use schedulers::{Milestone, Priority};
use std::io::Write;
use std::time::{Duration, Instant};

pub use qlog::VantagePointType;

/// A piece of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The offset of its first byte in the body.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
    /// Whether it is the last.
    pub ends: bool,
}

/// Logs an event of `session`, if qlog has a form for it.
pub fn event(streamer: &mut QlogStreamer, session: &Session, event: &Event) {
    let (stream, length, frame) = match event {
        Event::Headers { stream, headers } => {
            let frame = Http3Frame::Headers { headers: logged(headers), raw: None };
            (stream, session.headers_frame_bytes(*stream), frame)
        }
        Event::DataFrame { stream, payload_bytes } => {
            (stream, Some(*payload_bytes), Http3Frame::Data { raw: None })
        }
        Event::PushPromise { stream, push, headers } => (stream, None, promise(*push, headers)),
        Event::PriorityUpdate { control, prioritized, field } => {
            (control, None, update(*prioritized, field.clone()))
        }
        Event::PushStream { stream, push } => return push_stream(Some(streamer), *stream, *push),
        _ => return,
    };
    let parsed = FrameParsed { stream_id: stream.0, length, frame, raw: None };
    write(streamer, EventData::Http3FrameParsed(parsed));
}

/// Logs a frame of `frame_bytes` with `signal` on our `control` stream.
pub fn signal_created(
    streamer: Option<&mut QlogStreamer>,
    control: StreamId,
    signal: &Signal,
    frame_bytes: usize,
) {
    if let Signal::Extensible { stream, urgency, incremental } = *signal {
        let field = Priority::new(urgency, incremental).request_field();
        created(streamer, control, frame_bytes as u64, || {
            update(Prioritized::Request(stream), field)
        });
    }
}

/// Logs one of our HEADERS frames, of `frame_bytes` including its header; for a promised request, its `PUSH_PROMISE`.
pub fn headers_created(
    streamer: Option<&mut QlogStreamer>,
    (stream, push): (StreamId, Option<PushId>),
    headers: &[impl NameValue],
    frame_bytes: usize,
) {
    created(streamer, stream, frame_bytes as u64, || match push {
        Some(push) => promise(push, headers),
        None => Http3Frame::Headers { headers: logged(headers), raw: None },
    });
}

/// Logs a body of `body_bytes` that we announced in one DATA frame.
pub fn data_created(streamer: Option<&mut QlogStreamer>, stream: StreamId, body_bytes: u64) {
    created(streamer, stream, body_bytes, || Http3Frame::Data { raw: None });
}

/// Logs that the stream of `push` opened, at either end.
pub fn push_stream(streamer: Option<&mut QlogStreamer>, stream: StreamId, PushId(push): PushId) {
    let Some(streamer) = streamer else { return };
    let set = StreamTypeSet {
        initiator: None,
        stream_id: stream.0,
        stream_type: StreamType::Push,
        stream_type_bytes: None,
        associated_push_id: Some(push),
    };
    write(streamer, EventData::Http3StreamTypeSet(set));
}

fn created(
    streamer: Option<&mut QlogStreamer>,
    stream: StreamId,
    length: u64,
    frame: impl FnOnce() -> Http3Frame,
) {
    let Some(streamer) = streamer else { return };
    let (stream_id, length, frame) = (stream.0, Some(length), frame());
    let created = FrameCreated { stream_id, length, frame, raw: None };
    write(streamer, EventData::Http3FrameCreated(created));
}

/// Begins `side`'s log of a connection over TCP.
pub fn begin_over_tcp(
    title: &str,
    side: VantagePointType,
    start: Instant,
    writer: Box<dyn Write + Send + Sync>,
) -> QlogStreamer {
    let side = VantagePoint { ty: side, ..VantagePoint::default() };
    let title = Some(title.to_owned());
    let trace = TraceSeq::new(title.clone(), None, None, Some(side), Vec::new());
    let (level, precision) = (EventImportance::Extra, EventTimePrecision::MicroSeconds);
    let mut log = QlogStreamer::new(title, None, start, trace, level, precision, writer);
    // A log that cannot be written (a full disk) must not stop the connection.
    log.start_log().ok();
    log
}

/// Logs the head of a message over HTTP/2 or HTTP/1.1, as `event` (`http2:frame_parsed`, ..): the fields that HTTP/3 would have.
pub fn tcp_head(
    streamer: Option<&mut QlogStreamer>,
    event: &str,
    stream: StreamId,
    headers: &[impl NameValue],
) {
    own(streamer, event, || {
        let frame = serde_json::json!({ "frame_type": "headers", "headers": logged(headers) });
        serde_json::json!({ "stream_id": stream.0, "frame": frame })
    });
}

/// Logs a piece of a body over HTTP/2 or HTTP/1.1, as `event`. Streams there carry only body bytes.
pub fn tcp_data(streamer: Option<&mut QlogStreamer>, event: &str, stream: StreamId, piece: Piece) {
    own(streamer, event, || {
        let frame = serde_json::json!({ "frame_type": "data" });
        serde_json::json!({
            "stream_id": stream.0, "offset": piece.offset, "length": piece.bytes, "fin": piece.ends, "frame": frame
        })
    });
}

/// Logs that the client navigates to another page (`utmost:navigation`). The first page needs no event, because it has the first
/// request.
pub fn navigation(streamer: Option<&mut QlogStreamer>, page: &str) {
    own(streamer, "utmost:navigation", || serde_json::json!({ "page": page }));
}

/// Logs bytes of a response that arrived on another connection (`utmost:moved`): bytes of `stream` here, from `offset` on.
pub fn moved(
    streamer: Option<&mut QlogStreamer>,
    stream: StreamId,
    offset: u64,
    length: u64,
    fin: bool,
) {
    own(streamer, "utmost:moved", || {
        serde_json::json!({
            "stream_id": stream.0, "offset": offset, "length": length, "final_frame": u8::from(fin)
        })
    });
}

/// Logs a milestone of a page load that the client predicts for `after` this moment.
pub fn milestone(streamer: Option<&mut QlogStreamer>, milestone: Milestone, after: Duration) {
    own(streamer, Milestone::EVENT, || {
        let mut data = serde_json::json!({"milestone": milestone.name()});
        if let Milestone::Region { weight, of } = milestone {
            data["weight"] = weight.into();
            data["of"] = of.into();
        }
        if !after.is_zero() {
            data["after_us"] = u64::try_from(after.as_micros()).unwrap_or(u64::MAX).into();
        }
        data
    });
}

/// Logs an event that no schema of qlog has. Its data are made only where there is a log. A log that cannot be written (a full disk)
/// must not stop the connection.
pub fn own(
    streamer: Option<&mut QlogStreamer>,
    name: &str,
    data: impl FnOnce() -> serde_json::Value,
) {
    let Some(streamer) = streamer else { return };
    let (importance, name, data) = (EventImportance::Core, name.to_owned(), data());
    let event = JsonEvent { time: 0.0, importance, name, data };
    streamer.add_event_now(event).ok();
}

fn promise(PushId(push_id): PushId, headers: &[impl NameValue]) -> Http3Frame {
    Http3Frame::PushPromise { push_id, headers: logged(headers), raw: None }
}

fn update(prioritized: Prioritized, priority_field_value: String) -> Http3Frame {
    let (stream_id, push_id) = match prioritized {
        Prioritized::Request(stream) => (Some(stream.0), None),
        Prioritized::Push(push) => (None, Some(push.0)),
    };
    Http3Frame::PriorityUpdate { stream_id, push_id, priority_field_value, raw: None }
}

fn logged(headers: &[impl NameValue]) -> Vec<HttpHeader> {
    let headers = headers.iter().map(|header| {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (name, value) = (text(header.name()), text(header.value()));
        HttpHeader {
            value: Some(redacted(&name, value)),
            name: Some(name),
            name_bytes: None,
            value_bytes: None,
        }
    });
    headers.collect()
}

fn write(streamer: &mut QlogStreamer, event: EventData) {
    // A log that cannot be written (a full disk) must not stop the connection.
    streamer.add_event_data_now(event).ok();
}
