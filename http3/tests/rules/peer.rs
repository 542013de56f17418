//! A peer that can send anything.

use http3::{Code, Error, Event, Header, Limits, Role, Session, Settings, StreamId};
use schedulers::Element;

pub(crate) const DATA: u64 = 0x00;
pub(crate) const HEADERS: u64 = 0x01;
pub(crate) const CANCEL_PUSH: u64 = 0x03;
pub(crate) const SETTINGS: u64 = 0x04;
pub(crate) const PUSH_PROMISE: u64 = 0x05;
pub(crate) const GOAWAY: u64 = 0x07;
pub(crate) const MAX_PUSH_ID: u64 = 0x0d;
pub(crate) const PRIORITY_UPDATE: u64 = 0xf_0700;
pub(crate) const PRIORITY_UPDATE_PUSH: u64 = 0xf_0701;
/// The frame types of HTTP/2 that HTTP/3 reserves (RFC 9114, 7.2.8).
pub(crate) const HTTP2_FRAMES: [u64; 4] = [0x02, 0x06, 0x08, 0x09];
/// A type that must be ignored: 0x1f * N + 0x21.
pub(crate) const GREASE: u64 = 0x21;

/// A client's control stream, as a server sees it.
pub(crate) const CLIENT_CONTROL: StreamId = StreamId(2);
/// A server's control stream, as a client sees it.
pub(crate) const SERVER_CONTROL: StreamId = StreamId(3);
pub(crate) const REQUEST: StreamId = StreamId(0);

/// A session that has received nothing yet.
pub(crate) fn fresh(role: Role) -> Session {
    Session::new(role, Settings::default(), Limits::default())
}

/// The peer's control stream, as `role` sees it.
pub(crate) fn control(role: Role) -> StreamId {
    match role {
        Role::Client => SERVER_CONTROL,
        Role::Server => CLIENT_CONTROL,
    }
}

/// A session that has its peer's empty SETTINGS and reported them.
pub(crate) fn ready(role: Role) -> Session {
    let mut session = fresh(role);
    session
        .receive(control(role), &[&[0x00], frame(SETTINGS, &[]).as_slice()].concat(), false)
        .unwrap();
    assert!(matches!(session.poll(), Some(Event::Settings(_))));
    session
}

pub(crate) fn varint(value: u64) -> Vec<u8> {
    let mut bytes = [0; 8];
    let mut octets = octets::OctetsMut::with_slice(&mut bytes);
    octets.put_varint(value).unwrap();
    let length = octets.off();
    bytes[..length].to_vec()
}

pub(crate) fn frame(frame_type: u64, payload: &[u8]) -> Vec<u8> {
    [varint(frame_type), varint(payload.len() as u64), payload.to_vec()].concat()
}

/// Fields written as `name=value name=value`.
pub(crate) fn fields(text: &str) -> Vec<Header> {
    text.split(' ')
        .filter_map(|field| field.split_once('='))
        .map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()))
        .collect()
}

/// A HEADERS frame of fields written as `name=value name=value`.
pub(crate) fn headers(text: &str) -> Vec<u8> {
    fresh(Role::Client).encode_headers(&fields(text)).unwrap()
}

/// A request that a server may promise.
pub(crate) const PROMISED: &str = ":method=GET :scheme=https :authority=a.example :path=/a.css";

/// A HEADERS frame of a GET, with more fields.
pub(crate) fn get(more: &str) -> Vec<u8> {
    headers(&format!(":method=GET :scheme=https :authority=a.example :path=/ {more}"))
}

/// All events, one per line: `headers 0`, `data 0 abc`, `priority 0 u=1 i=true`.
pub(crate) fn events(session: &mut Session) -> String {
    let lines = std::iter::from_fn(|| session.poll()).filter_map(line);
    lines.collect::<Vec<_>>().join(", ")
}

/// None: for logs only.
fn line(event: Event) -> Option<String> {
    Some(match event {
        Event::PriorityUpdate { .. } | Event::DataFrame { .. } => return None,
        Event::Settings(settings) => format!("settings {:?}", settings.max_field_section_size),
        Event::Headers { stream, .. } => format!("headers {}", stream.0),
        Event::Trailers { stream, .. } => format!("trailers {}", stream.0),
        Event::Data { stream, bytes } => {
            format!("data {} {}", stream.0, String::from_utf8_lossy(&bytes))
        }
        Event::Finished { stream } => format!("finished {}", stream.0),
        Event::Reset { stream, code } => format!("reset {} {code:#x}", stream.0),
        Event::Priority(signal) => priority(signal),
        Event::GoAway { id } => format!("goaway {id}"),
        Event::PushPriority { push, urgency, incremental } => {
            format!("push {} u={urgency} i={incremental}", push.0)
        }
        Event::PushDepend(said) => format!("{:?} below {:?}", said.element, said.parent),
        Event::PushPromise { stream, push, .. } => format!("promise {} of {}", stream.0, push.0),
        Event::PushStream { stream, push } => format!("stream {} of {}", stream.0, push.0),
        Event::PushCancelled { push } => format!("cancelled {}", push.0),
        Event::PreferredScheme(name) => format!("scheme {name}"),
        Event::Frame { frame_type, payload } => {
            format!("frame {frame_type:#x} of {} bytes", payload.len())
        }
    })
}

fn priority(signal: http3::Signal) -> String {
    match signal {
        http3::Signal::Extensible { stream, urgency, incremental } => {
            format!("priority {} u={urgency} i={incremental}", stream.0)
        }
        http3::Signal::Bucket { stream, byte } => format!("bucket {} {byte}", stream.0),
        http3::Signal::Depend { element, parent, weight, exclusive } => {
            let mark = if exclusive { "!" } else { "" };
            format!("{} below {} {weight}{mark}", node(element), node(parent))
        }
    }
}

fn node(element: Element) -> String {
    match element {
        Element::Root => "root".to_owned(),
        Element::Placeholder(id) => format!("p{id}"),
        Element::Stream(StreamId(id)) => id.to_string(),
    }
}

/// Asserts an error of the whole connection.
pub(crate) fn assert_connection_error(outcome: Result<(), Error>, code: Code) {
    let error = outcome.expect_err("an error of the connection");
    assert_eq!((error.kind(), error.stream()), (code, None), "{error}");
}

/// Asserts an error of `stream` alone.
pub(crate) fn assert_stream_error(outcome: Result<(), Error>, stream: StreamId, code: Code) {
    let error = outcome.expect_err("an error of a stream");
    assert_eq!((error.kind(), error.stream()), (code, Some(stream)), "{error}");
}
