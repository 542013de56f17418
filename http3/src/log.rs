//! The HTTP/3 events of a connection's qlog (`http3:frame_created`, `http3:frame_parsed`): quiche logs
//! those of its own HTTP/3 layer only.

use crate::{Event, Header, NameValue, Prioritized, PushId, Session, Signal, StreamId};
use qlog::events::EventData;
use qlog::events::http3::{
    FrameCreated, FrameParsed, Http3Frame, HttpHeader, StreamType, StreamTypeSet,
};
use qlog::streamer::QlogStreamer;
use schedulers::Priority;

/// Logs an event that `session` reported, if qlog has a form for it.
pub fn event(streamer: &mut QlogStreamer, session: &Session, event: &Event) {
    let log = Some(streamer);
    match event {
        Event::Headers { stream, headers } => {
            headers_parsed(log, *stream, headers, session.headers_frame_bytes(*stream));
        }
        Event::DataFrame { stream, payload_bytes } => data_parsed(log, *stream, *payload_bytes),
        Event::PushPromise { stream, push, headers } => {
            promise_parsed(log, (*stream, *push), headers);
        }
        Event::PushStream { stream, push } => push_stream(log, *stream, *push),
        Event::PriorityUpdate { control, prioritized, field } => {
            priority_update_parsed(log, *control, *prioritized, field);
        }
        _ => {}
    }
}

/// We made a frame of `frame_bytes` that says `signal` on our `control` stream.
pub fn signal_created(
    streamer: Option<&mut QlogStreamer>,
    control: StreamId,
    signal: &Signal,
    frame_bytes: usize,
) {
    if let Signal::Extensible { stream, urgency, incremental } = *signal {
        let field = Priority::new(urgency, incremental).request_field();
        let prioritized = Prioritized::Request(stream);
        priority_update_created(streamer, control, prioritized, &field, frame_bytes);
    }
}

/// We made a HEADERS frame of `frame_bytes`, its own header included.
pub fn headers_created(
    streamer: Option<&mut QlogStreamer>,
    stream: StreamId,
    headers: &[Header],
    frame_bytes: usize,
) {
    let length = Some(frame_bytes as u64);
    log(streamer, || {
        let frame = Http3Frame::Headers { headers: logged(headers), raw: None };
        EventData::Http3FrameCreated(FrameCreated { stream_id: stream.0, length, frame, raw: None })
    });
}

/// The peer's HEADERS frame of `frame_bytes`, its own header included, was read.
pub fn headers_parsed(
    streamer: Option<&mut QlogStreamer>,
    stream: StreamId,
    headers: &[Header],
    frame_bytes: Option<u64>,
) {
    log(streamer, || {
        let frame = Http3Frame::Headers { headers: logged(headers), raw: None };
        EventData::Http3FrameParsed(FrameParsed {
            stream_id: stream.0,
            length: frame_bytes,
            frame,
            raw: None,
        })
    });
}

/// We made a `PUSH_PROMISE` frame of `frame_bytes` for `push` on the stream of its request.
pub fn promise_created(
    streamer: Option<&mut QlogStreamer>,
    (stream, PushId(push)): (StreamId, PushId),
    headers: &[Header],
    frame_bytes: usize,
) {
    log(streamer, || {
        let frame = Http3Frame::PushPromise { push_id: push, headers: logged(headers), raw: None };
        let length = Some(frame_bytes as u64);
        EventData::Http3FrameCreated(FrameCreated { stream_id: stream.0, length, frame, raw: None })
    });
}

/// The stream of `push` opened, at either end.
pub fn push_stream(streamer: Option<&mut QlogStreamer>, stream: StreamId, PushId(push): PushId) {
    log(streamer, || {
        EventData::Http3StreamTypeSet(StreamTypeSet {
            initiator: None,
            stream_id: stream.0,
            stream_type: StreamType::Push,
            stream_type_bytes: None,
            associated_push_id: Some(push),
        })
    });
}

/// The peer's `PUSH_PROMISE` frame was read.
pub fn promise_parsed(
    streamer: Option<&mut QlogStreamer>,
    (stream, PushId(push)): (StreamId, PushId),
    headers: &[Header],
) {
    log(streamer, || {
        let frame = Http3Frame::PushPromise { push_id: push, headers: logged(headers), raw: None };
        EventData::Http3FrameParsed(FrameParsed {
            stream_id: stream.0,
            length: None,
            frame,
            raw: None,
        })
    });
}

/// We announced a body of `body_bytes` in one DATA frame.
pub fn data_created(streamer: Option<&mut QlogStreamer>, stream: StreamId, body_bytes: u64) {
    log(streamer, || {
        let frame = Http3Frame::Data { raw: None };
        let length = Some(body_bytes);
        EventData::Http3FrameCreated(FrameCreated { stream_id: stream.0, length, frame, raw: None })
    });
}

/// The peer's DATA frame with a payload of `payload_bytes` began.
pub fn data_parsed(streamer: Option<&mut QlogStreamer>, stream: StreamId, payload_bytes: u64) {
    log(streamer, || {
        let frame = Http3Frame::Data { raw: None };
        let length = Some(payload_bytes);
        EventData::Http3FrameParsed(FrameParsed { stream_id: stream.0, length, frame, raw: None })
    });
}

/// We made a `PRIORITY_UPDATE` frame of `frame_bytes` for our `control` stream.
pub fn priority_update_created(
    streamer: Option<&mut QlogStreamer>,
    control: StreamId,
    prioritized: Prioritized,
    field: &str,
    frame_bytes: usize,
) {
    let length = Some(frame_bytes as u64);
    log(streamer, || {
        let frame = update(prioritized, field);
        let stream_id = control.0;
        EventData::Http3FrameCreated(FrameCreated { stream_id, length, frame, raw: None })
    });
}

/// A `PRIORITY_UPDATE` frame came on the peer's `control` stream.
pub fn priority_update_parsed(
    streamer: Option<&mut QlogStreamer>,
    control: StreamId,
    prioritized: Prioritized,
    field: &str,
) {
    log(streamer, || {
        let frame = update(prioritized, field);
        let stream_id = control.0;
        EventData::Http3FrameParsed(FrameParsed { stream_id, length: None, frame, raw: None })
    });
}

fn update(prioritized: Prioritized, field: &str) -> Http3Frame {
    let (stream_id, push_id) = match prioritized {
        Prioritized::Request(stream) => (Some(stream.0), None),
        Prioritized::Push(push) => (None, Some(push.0)),
    };
    Http3Frame::PriorityUpdate {
        stream_id,
        push_id,
        priority_field_value: field.to_owned(),
        raw: None,
    }
}

fn logged(headers: &[Header]) -> Vec<HttpHeader> {
    let text = |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).into_owned());
    headers
        .iter()
        .map(|it| HttpHeader {
            name: text(it.name()),
            name_bytes: None,
            value: text(it.value()),
            value_bytes: None,
        })
        .collect()
}

fn log(streamer: Option<&mut QlogStreamer>, event: impl FnOnce() -> EventData) {
    if let Some(streamer) = streamer {
        // A log that cannot be written (a full disk) must not stop the connection.
        streamer.add_event_data_now(event()).ok();
    }
}
