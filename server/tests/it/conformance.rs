//! The rules of RFC 9114, 9204 and 9218 over the wire: what a client must not send, and the server's reaction.
//! `docs/conformance.md` lists the rules.

mod qpack;

use crate::peers::{Peer, World, options};
use http3::{Code, put_varint};

const DATA: u64 = 0x00;
const HEADERS: u64 = 0x01;
const CANCEL_PUSH: u64 = 0x03;
const SETTINGS: u64 = 0x04;
const PUSH_PROMISE: u64 = 0x05;
const GOAWAY: u64 = 0x07;
const MAX_PUSH_ID: u64 = 0x0d;
const UPDATE: u64 = 0xf_0700;
const UPDATE_OF_PUSH: u64 = 0xf_0701;
/// Frame types of HTTP/2 that HTTP/3 reserves (RFC 9114, 7.2.8).
const OF_HTTP2: [u64; 4] = [0x02, 0x06, 0x08, 0x09];
/// A type of frames, streams, settings and errors that has no meaning (RFC 9114, 7.2.8).
const GREASE: u64 = 0x1f * 7 + 0x21;

const REQUEST: u64 = 0;
const CONTROL: u64 = 2;
const ENCODER: u64 = 6;
const DECODER: u64 = 10;
/// A unidirectional stream that the client does not use yet.
const NEXT: u64 = 14;

const GET: &str = ":method=GET :scheme=https :authority=localhost :path=/1000/html";

/// A server and its clients, one for each breach.
struct Wire {
    world: World,
    clients: u16,
}

impl Wire {
    fn new() -> Self {
        Self { world: World::new(options("rfc9218")), clients: 0 }
    }

    /// A connected client. A silent one has not sent its settings, and opens no stream by itself.
    fn client(&mut self, is_silent: bool) -> Peer {
        self.clients += 1;
        let mut client = Peer::new(&self.world, self.clients);
        client.client.is_silent = is_silent;
        self.world.run_ms(20, &mut [&mut client]);
        assert!(client.is_established());
        client
    }

    fn say(&mut self, client: &mut Peer, stream: u64, bytes: &[u8], fin: bool) {
        assert_eq!(client.send_raw(stream, bytes, fin), Ok(bytes.len()));
        self.world.run_ms(20, &mut [client]);
    }

    /// The code with which a client is disconnected if it sends this after its settings.
    fn closes(&mut self, stream: u64, bytes: &[u8]) -> Option<Code> {
        let mut client = self.client(false);
        self.say(&mut client, stream, bytes, false);
        code(&client)
    }

    /// The code with which a client with this control stream is disconnected.
    fn closes_at_start(&mut self, control: &[u8]) -> Option<Code> {
        let mut client = self.client(true);
        self.say(&mut client, CONTROL, control, false);
        code(&client)
    }

    /// The code with which the stream of a request is reset. The client stays connected, and its next request is answered.
    fn resets(&mut self, request: &[u8]) -> Option<Code> {
        let mut client = self.client(false);
        self.say(&mut client, REQUEST, request, true);
        self.assert_answered(&mut client, 4);
        client.resets.get(&REQUEST).copied().and_then(Code::of)
    }

    fn assert_answered(&mut self, client: &mut Peer, stream: u64) {
        client.get(stream, "/1000/html");
        self.world.run_ms(20, &mut [client]);
        assert_eq!((client.closed_with(), client.body_bytes(stream)), (None, Some(1_000)));
    }
}

fn code(client: &Peer) -> Option<Code> {
    client.closed_with().and_then(Code::of)
}

fn varint(value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_varint(&mut bytes, value);
    bytes
}

fn frame(frame_type: u64, payload: &[u8]) -> Vec<u8> {
    http3::whole_frame(frame_type, payload)
}

/// A HEADERS frame of fields written as `name=value name=value`, with names as they are written.
fn headers(text: &str) -> Vec<u8> {
    let fields = text.split(' ').filter_map(|it| it.split_once('='));
    let lines = fields.flat_map(|(name, value)| [string(0x20, 7, name), string(0, 127, value)]);
    frame(HEADERS, &[vec![0, 0], lines.collect::<Vec<_>>().concat()].concat())
}

/// A text after its length (at most 127 more than `most`), which begins in the low bits of a byte.
fn string(high_bits: u8, most: u8, text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).expect("short");
    let start = match length.checked_sub(most) {
        None => vec![high_bits | length],
        Some(rest) => vec![high_bits | most, rest],
    };
    [&start, text.as_bytes()].concat()
}

fn get() -> Vec<u8> {
    headers(GET)
}

/// RFC 9114, 6.2. Server: a client may open at least three unidirectional streams.
#[test]
fn a_client_has_room_for_its_streams_9114_6_2() {
    let client = Wire::new().client(true);
    let quic = &client.client.connection.quic;
    assert!(quic.peer_streams_left_uni() >= 3, "control, encoder, decoder");
    assert!(quic.peer_streams_left_bidi() >= 100, "requests (6.1)");
    let transport = quic.peer_transport_params().expect("after the handshake");
    assert!(transport.initial_max_stream_data_uni >= 1024);
}

/// RFC 9114, 6.2.1. Client: begins its control stream with another frame than SETTINGS. Server: `H3_MISSING_SETTINGS`.
#[test]
fn a_control_stream_begins_with_settings_9114_6_2_1() {
    let mut wire = Wire::new();
    for first in [DATA, HEADERS, GOAWAY, MAX_PUSH_ID, UPDATE, GREASE, OF_HTTP2[0]] {
        let control = [vec![0x00], frame(first, &[0])].concat();
        assert_eq!(wire.closes_at_start(&control), Some(Code::MissingSettings), "{first:#x}");
    }
}

/// RFC 9114, 7.2.4. Client: sends SETTINGS twice. Server: `H3_FRAME_UNEXPECTED`.
#[test]
fn settings_come_once_9114_7_2_4() {
    assert_eq!(Wire::new().closes(CONTROL, &frame(SETTINGS, &[])), Some(Code::FrameUnexpected));
}

/// RFC 9114, 7.2.4, 7.2.4.1. Client: sends a setting twice, or one of HTTP/2. Server: `H3_SETTINGS_ERROR`.
#[test]
fn settings_that_occur_twice_or_belong_to_http_2_are_a_settings_error_9114_7_2_4_and_7_2_4_1() {
    let mut wire = Wire::new();
    let twice = [&[0x06, 1, 0x06, 1][..], &[0x21, 0, 0x21, 0], &[0x01, 0, 0x01, 9]];
    let of_http2 = [[0x00, 0], [0x02, 0], [0x03, 1], [0x04, 1], [0x05, 1]];
    for settings in twice.into_iter().chain(of_http2.iter().map(|it| &it[..])) {
        let control = [vec![0x00], frame(SETTINGS, settings)].concat();
        assert_eq!(wire.closes_at_start(&control), Some(Code::Settings), "{settings:?}");
    }
}

/// RFC 9114, 7.1. Client: sends a frame whose fields do not fill it. Server: `H3_FRAME_ERROR`.
/// RFC 9218, 7.2. Client: names no element. Server: `H3_FRAME_ERROR`.
#[test]
fn frames_whose_fields_do_not_fill_them_are_a_frame_error_9114_7_1() {
    let mut wire = Wire::new();
    let settings = [vec![0x00], frame(SETTINGS, &[0x06])].concat();
    assert_eq!(wire.closes_at_start(&settings), Some(Code::Frame), "SETTINGS cut short");
    for frame_type in [GOAWAY, MAX_PUSH_ID, CANCEL_PUSH] {
        for payload in [&[][..], &[0x40], &[0, 0], &[0; 9]] {
            let closed = wire.closes(CONTROL, &frame(frame_type, payload));
            assert_eq!(closed, Some(Code::Frame), "{frame_type:#x} {payload:?}");
        }
    }
    for payload in [&[][..], &[0x40]] {
        for update in [UPDATE, UPDATE_OF_PUSH] {
            let closed = wire.closes(CONTROL, &frame(update, payload));
            assert_eq!(closed, Some(Code::Frame), "{update:#x} {payload:?}");
        }
    }
}

/// RFC 9114, 7.1. Client: ends a request inside a frame. Server: `H3_FRAME_ERROR`.
#[test]
fn a_request_that_ends_inside_a_frame_is_a_frame_error_9114_7_1() {
    let mut wire = Wire::new();
    let data = frame(DATA, b"abc");
    let requests = [
        get()[..1].to_vec(),
        get()[..9].to_vec(),
        [&get(), &data[..1]].concat(),
        [&get(), &data[..4]].concat(),
        [&get(), &frame(GREASE, b"ab")[..3]].concat(),
    ];
    for request in requests {
        let mut client = wire.client(false);
        wire.say(&mut client, REQUEST, &request, true);
        assert_eq!(code(&client), Some(Code::Frame), "{request:?}");
    }
}

/// RFC 9114, 7.2.1, 7.2.2, 7.2.5. Client: sends DATA, HEADERS or `PUSH_PROMISE` on its control stream. Server:
/// `H3_FRAME_UNEXPECTED`.
/// RFC 9114, 7.2.8. Client: sends a frame type of HTTP/2, on any stream. Server: `H3_FRAME_UNEXPECTED`.
#[test]
fn a_control_stream_has_no_frames_of_requests_and_none_of_http_2_9114_7_2() {
    let mut wire = Wire::new();
    for frame_type in [DATA, HEADERS, PUSH_PROMISE].into_iter().chain(OF_HTTP2) {
        let closed = wire.closes(CONTROL, &frame(frame_type, &[0]));
        assert_eq!(closed, Some(Code::FrameUnexpected), "{frame_type:#x}");
    }
}

/// RFC 9114, 7.2.3 to 7.2.7. Client: sends `CANCEL_PUSH`, SETTINGS, `PUSH_PROMISE`, GOAWAY or `MAX_PUSH_ID` on a request stream.
/// Server: `H3_FRAME_UNEXPECTED`.
/// RFC 9114, 7.2.8. Client: sends a frame type of HTTP/2, on any stream. Server: `H3_FRAME_UNEXPECTED`.
/// RFC 9218, 7.2. Client: sends it on another stream than its control stream. Server: `H3_FRAME_UNEXPECTED`.
#[test]
fn a_request_has_no_frames_of_the_control_stream_and_none_of_http_2_9114_7_2() {
    let mut wire = Wire::new();
    let others = [CANCEL_PUSH, SETTINGS, PUSH_PROMISE, GOAWAY, MAX_PUSH_ID, UPDATE, UPDATE_OF_PUSH];
    for frame_type in others.into_iter().chain(OF_HTTP2) {
        for before in [Vec::new(), get()] {
            let closed = wire.closes(REQUEST, &[before, frame(frame_type, &[0])].concat());
            assert_eq!(closed, Some(Code::FrameUnexpected), "{frame_type:#x}");
        }
    }
}

/// RFC 9114, 4.1. Client: sends DATA before HEADERS, or anything known after the trailers. Server: `H3_FRAME_UNEXPECTED`.
#[test]
fn the_frames_of_a_request_come_in_order_9114_4_1() {
    let mut wire = Wire::new();
    let (data, trailers) = (frame(DATA, b"x"), headers("a=b"));
    let requests = [
        data.clone(),
        [get(), trailers.clone(), data].concat(),
        [get(), trailers.clone(), trailers].concat(),
    ];
    for request in requests {
        assert_eq!(wire.closes(REQUEST, &request), Some(Code::FrameUnexpected), "{request:?}");
    }
}

/// RFC 9114, 4.1. Client: ends a request before its header section. Server: `H3_REQUEST_INCOMPLETE` on the stream.
#[test]
fn a_request_that_ends_before_its_header_section_is_incomplete_9114_4_1() {
    let mut wire = Wire::new();
    for request in [vec![], frame(GREASE, b"x")] {
        assert_eq!(wire.resets(&request), Some(Code::RequestIncomplete), "{request:?}");
    }
}

/// RFC 9114, 5.2. Client: sends GOAWAY with a larger ID than before. Server: `H3_ID_ERROR`.
/// RFC 9114, 7.2.3. Client: cancels a push that was not allowed or not promised. Server: `H3_ID_ERROR`.
/// RFC 9114, 7.2.7. Client: lowers `MAX_PUSH_ID`. Server: `H3_ID_ERROR`.
#[test]
fn ids_of_pushes_that_cannot_be_are_an_id_error_9114_5_2_and_7_2_3_and_7_2_7() {
    let mut wire = Wire::new();
    let one = |frame_type: u64, id: u8| frame(frame_type, &[id]);
    let cases = [
        ("GOAWAY grows (5.2)", [one(GOAWAY, 4), one(GOAWAY, 5)].concat()),
        ("CANCEL_PUSH, none allowed (7.2.3)", one(CANCEL_PUSH, 0)),
        ("CANCEL_PUSH, none promised (7.2.3)", [one(MAX_PUSH_ID, 3), one(CANCEL_PUSH, 2)].concat()),
        ("MAX_PUSH_ID goes down (7.2.7)", [one(MAX_PUSH_ID, 9), one(MAX_PUSH_ID, 8)].concat()),
    ];
    for (name, bytes) in cases {
        assert_eq!(wire.closes(CONTROL, &bytes), Some(Code::Id), "{name}");
    }
}

/// RFC 9114, 5.2, 7.2.7. Client: repeats GOAWAY or `MAX_PUSH_ID`. Server: taken.
#[test]
fn goaway_and_max_push_id_may_repeat_an_id_9114_5_2_and_7_2_7() {
    let mut wire = Wire::new();
    let mut client = wire.client(false);
    let frames = [frame(MAX_PUSH_ID, &[3]).repeat(2), frame(GOAWAY, &[3]).repeat(2)].concat();
    wire.say(&mut client, CONTROL, &[frames, frame(GOAWAY, &[1])].concat(), false);
    wire.assert_answered(&mut client, 0);
}

/// RFC 9114, 6.2.1. Client: opens a second control stream. Server: `H3_STREAM_CREATION_ERROR`.
/// RFC 9114, 6.2.2. Client: opens a push stream. Server: `H3_STREAM_CREATION_ERROR`.
/// RFC 9204, 4.2. Client: opens a second encoder or decoder stream. Server: `H3_STREAM_CREATION_ERROR`.
#[test]
fn a_second_critical_stream_or_a_push_stream_is_a_stream_creation_error_9114_6_2() {
    let mut wire = Wire::new();
    for (name, stream_type) in [("control", 0), ("push", 1), ("encoder", 2), ("decoder", 3)] {
        let closed = wire.closes(NEXT, &[stream_type]);
        assert_eq!(closed, Some(Code::StreamCreation), "{name}");
    }
}

/// RFC 9114, 6.2.1. Client: ends, resets or stops a control stream. Server: `H3_CLOSED_CRITICAL_STREAM`.
/// RFC 9204, 4.2. Client: ends, resets or stops one of them. Server: `H3_CLOSED_CRITICAL_STREAM`.
#[test]
fn a_critical_stream_that_ends_closes_the_connection_9114_6_2_1_and_9204_4_2() {
    let mut wire = Wire::new();
    for stream in [CONTROL, ENCODER, DECODER] {
        let mut client = wire.client(false);
        wire.say(&mut client, stream, &[], true);
        assert_eq!(code(&client), Some(Code::ClosedCriticalStream), "{stream}");
    }
}

/// RFC 9114, 6.2. Client: ends or resets a stream before its type is known, or one of an unknown type. Server: ignored.
/// RFC 9114, 9. Client: sends unknown frames, streams or settings. Server: ignored.
#[test]
fn what_has_no_meaning_is_ignored_9114_9() {
    let mut wire = Wire::new();
    let mut client = wire.client(true);
    let settings = frame(SETTINGS, &[varint(GREASE), varint(7)].concat());
    let nothing = frame(GREASE, &[7; 100]);
    wire.say(&mut client, CONTROL, &[vec![0x00], settings, nothing.clone()].concat(), false);
    wire.say(&mut client, 6, &[varint(GREASE), vec![0; 100]].concat(), false);
    wire.say(&mut client, 10, &[0x40], true);
    wire.say(&mut client, 14, &[], true);
    let request = [nothing.clone(), get(), nothing].concat();
    wire.say(&mut client, REQUEST, &request, true);
    assert_eq!((code(&client), client.body_bytes(REQUEST)), (None, Some(1_000)));
}

/// RFC 9114, 8. Client: uses an unknown error code. Server: like `H3_NO_ERROR`.
#[test]
fn streams_may_be_reset_with_any_code_unless_they_are_critical_9114_8() {
    let mut wire = Wire::new();
    let mut client = wire.client(false);
    client.send_raw(NEXT, &varint(GREASE), false).expect("room");
    client.send_raw(18, &[0x40], false).expect("room");
    client.send_raw(REQUEST, &get()[..5], false).expect("room");
    wire.world.run_ms(20, &mut [&mut client]);
    for stream in [NEXT, 18, REQUEST] {
        let quic = &mut client.client.connection.quic;
        quic.stream_shutdown(stream, quiche::Shutdown::Write, GREASE).expect("open");
    }
    wire.assert_answered(&mut client, 4);
}

/// The client's own code could say that nothing was done, or nothing at all.
///
/// RFC 9114, 4.1.1. Client: takes back a request, with any code. Server: drops the response; `H3_REQUEST_CANCELLED` on the
/// stream, never `H3_REQUEST_REJECTED`.
#[test]
fn a_request_that_is_taken_back_is_reset_as_cancelled_9114_4_1_1() {
    let mut wire = Wire::new();
    for said in [Code::RequestRejected.value(), Code::NoError.value(), GREASE] {
        let mut client = wire.client(false);
        // The response is made an hour later.
        client.try_post(REQUEST, "/1000/html/3600000");
        wire.world.run_ms(20, &mut [&mut client]);
        let quic = &mut client.client.connection.quic;
        quic.stream_shutdown(REQUEST, quiche::Shutdown::Write, said).expect("open");
        wire.assert_answered(&mut client, 4);
        assert_eq!(client.resets.get(&REQUEST), Some(&Code::RequestCancelled.value()), "{said:#x}");
    }
}

/// RFC 9114, 4.1.2. Client: sends a malformed request (all rows of 4.2 to 4.4 below). Server: `H3_MESSAGE_ERROR` on the stream.
/// RFC 9114, 4.4. Client: sends CONNECT with `:scheme` or `:path`, or without `:authority`. Server: `H3_MESSAGE_ERROR` on the
/// stream.
#[test]
fn a_malformed_request_is_reset_and_no_other_9114_4_1_2_to_4_4() {
    let mut wire = Wire::new();
    let cases = [
        ("no field at all (4.3.1)", String::new()),
        ("without :method (4.3.1)", GET.replace(":method=GET ", "")),
        ("without :scheme (4.3.1)", GET.replace(":scheme=https ", "")),
        ("without :path (4.3.1)", GET.replace(" :path=/1000/html", "")),
        ("without :authority and host (4.3.1)", GET.replace(":authority=localhost ", "")),
        ("an empty :path (4.3.1)", GET.replace("/1000/html", "")),
        ("an empty :authority (4.3.1)", GET.replace("localhost", "")),
        ("user information (4.3.1)", GET.replace("localhost", "a@localhost")),
        (":authority and host differ (4.3.1)", format!("{GET} host=a.example")),
        (":path twice (4.3)", format!("{GET} :path=/")),
        ("an unknown pseudo-header field (4.3)", format!("{GET} :protocol=websocket")),
        ("a pseudo-header field of responses (4.3)", format!(":status=200 {GET}")),
        ("an interim status (4.1)", ":status=100".to_owned()),
        ("a pseudo-header field late (4.3)", format!("accept=1 {GET}")),
        ("an uppercase name (4.2)", format!("{GET} Accept=1")),
        ("an uppercase pseudo-header field (4.2)", GET.replace(":path", ":Path")),
        ("an empty name (10.3)", format!("{GET} =1")),
        ("a line break in a value (10.3)", format!("{GET} a=b\r\nc:d")),
        ("connection (4.2)", format!("{GET} connection=close")),
        ("keep-alive (4.2)", format!("{GET} keep-alive=1")),
        ("proxy-connection (4.2)", format!("{GET} proxy-connection=1")),
        ("transfer-encoding (4.2)", format!("{GET} transfer-encoding=chunked")),
        ("upgrade (4.2)", format!("{GET} upgrade=websocket")),
        ("te of anything but trailers (4.2)", format!("{GET} te=gzip")),
        ("less content than announced (4.1.2)", format!("{GET} content-length=1")),
        ("CONNECT with :path (4.4)", GET.replace("GET", "CONNECT")),
        ("CONNECT without :authority (4.4)", ":method=CONNECT".to_owned()),
    ];
    for (name, fields) in cases {
        assert_eq!(wire.resets(&headers(&fields)), Some(Code::Message), "{name}");
    }
}

/// RFC 9114, 4.1.2. Client: sends more or less content than `content-length` says. Server: `H3_MESSAGE_ERROR` on the stream.
#[test]
fn content_other_than_announced_and_pseudo_trailers_are_malformed_9114_4_1_2_and_4_3() {
    let mut wire = Wire::new();
    let post = || headers(&format!("{} content-length=3", GET.replace("GET", "POST")));
    // Interim responses are the server's to send: a second header section is one of trailers.
    let cases = [
        ("more content", [post(), frame(DATA, b"ab"), frame(DATA, b"cd")].concat()),
        ("less content", [post(), frame(DATA, b"ab")].concat()),
        (":status in trailers", [get(), headers(":status=103")].concat()),
        ("another request", [get(), get()].concat()),
    ];
    for (name, request) in cases {
        assert_eq!(wire.resets(&request), Some(Code::Message), "{name}");
    }
}

/// RFC 9114, 4.2.2. Client: sends a field section above our limit. Server: `H3_EXCESSIVE_LOAD` on the stream.
#[test]
fn a_field_section_larger_than_announced_is_an_error_of_its_stream_9114_4_2_2() {
    // Lines of one byte, each of which counts 42.
    let many = [vec![0, 0], vec![0xc0 | 0x11; 2_000]].concat();
    assert_eq!(Wire::new().resets(&frame(HEADERS, &many)), Some(Code::ExcessiveLoad));
}

/// RFC 9218, 7.2. Client: names a stream that is not a request, a request beyond the limit, or a push that is not promised.
/// Server: `H3_ID_ERROR`.
#[test]
fn an_update_of_an_element_that_cannot_be_is_an_id_error_9218_7_2() {
    let mut wire = Wire::new();
    let update =
        |frame_type: u64, id: u64| frame(frame_type, &[varint(id), b"u=1".into()].concat());
    let may_push = frame(MAX_PUSH_ID, &[3]);
    let cases = [
        ("a server's stream", update(UPDATE, 1)),
        ("a control stream", update(UPDATE, 2)),
        ("a push stream", update(UPDATE, 3)),
        ("a request beyond the limit", update(UPDATE, (1 << 62) - 4)),
        ("a push that is not allowed", update(UPDATE_OF_PUSH, 0)),
        ("a push above MAX_PUSH_ID", [may_push.clone(), update(UPDATE_OF_PUSH, 4)].concat()),
        ("a push that is not promised", [may_push, update(UPDATE_OF_PUSH, 3)].concat()),
    ];
    for (name, bytes) in cases {
        assert_eq!(wire.closes(CONTROL, &bytes), Some(Code::Id), "{name}");
    }
}

/// RFC 9218, 7. Client: sends `PRIORITY_UPDATE` that is not a structured field. Server: `H3_GENERAL_PROTOCOL_ERROR`.
#[test]
fn an_update_that_is_not_a_structured_field_is_a_protocol_error_9218_7() {
    let mut wire = Wire::new();
    for field in [&b"\0u=;;("[..], b"\0u=,", b"\0u=\xff"] {
        let closed = wire.closes(CONTROL, &frame(UPDATE, field));
        assert_eq!(closed, Some(Code::GeneralProtocol), "{field:?}");
    }
}

/// RFC 9218, 4. Client: sends a `priority` field with unknown, wrong or malformed members. Server: ignored.
#[test]
fn a_priority_field_that_says_nothing_valid_is_ignored_9218_4() {
    let mut wire = Wire::new();
    let mut client = wire.client(false);
    for (stream, field) in
        (0..).step_by(4).zip(["u=8", "u=-1", "u=1.5", "i=2", "u=,", "x", "((", ""])
    {
        client.get_with(stream, "/1000/html", field);
    }
    wire.say(&mut client, CONTROL, &frame(UPDATE, b"\x00u=9, i=7, x=(1 2)"), false);
    wire.world.run_ms(100, &mut [&mut client]);
    assert_eq!(client.order(), [0, 4, 8, 12, 16, 20, 24, 28], "by stream, at one urgency");
    wire.assert_answered(&mut client, 32);
}
