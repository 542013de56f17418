//! Requests and responses on their streams: RFC 9114, 4.1.

use crate::peer::*;
use http3::{Code, Error, Event, Header, Limits, Role, Session, Settings, StreamId};

/// A session's reaction to `parts`, given as one, with the end of the stream.
fn whole(role: Role, parts: &[Vec<u8>]) -> (Result<(), Error>, String) {
    let mut session = ready(role);
    let outcome = session.receive(REQUEST, &parts.concat(), true);
    (outcome, events(&mut session))
}

fn data(text: &str) -> Vec<u8> {
    [http3::data_frame_header(text.len() as u64), text.as_bytes().to_vec()].concat()
}

#[test]
fn a_request_is_headers_data_trailers_end_9114_4_1() {
    let (outcome, events) =
        whole(Role::Server, &[get(""), data("ab"), data(""), data("c"), headers("etag=x")]);
    assert_eq!(outcome, Ok(()));
    assert_eq!(events, "headers 0, data 0 ab, data 0 c, trailers 0, finished 0");
}

#[test]
fn fields_come_back_as_sent() {
    let sent = fields(
        ":method=GET :scheme=https :authority=a.example :path=/style.css priority=u=2 x-long=ÄÖ",
    );
    let mut session = ready(Role::Server);
    let frame = session.encode_headers(&sent).unwrap();
    session.receive(REQUEST, &frame, true).unwrap();
    assert_eq!(session.poll(), Some(Event::Headers { stream: REQUEST, headers: sent }));
}

#[test]
fn interim_responses_come_before_the_final_one_9114_4_1() {
    let (outcome, events) = whole(
        Role::Client,
        &[
            headers(":status=103 link=x"),
            headers(":status=100"),
            headers(":status=200"),
            data("ab"),
            headers("a=b"),
        ],
    );
    assert_eq!(outcome, Ok(()));
    assert_eq!(events, "headers 0, headers 0, headers 0, data 0 ab, trailers 0, finished 0");
}

#[test]
fn frames_that_carry_nothing_have_a_limit() {
    let taken = Limits::default().empty_frames as usize;
    for empty in [data(""), frame(0x21, b""), frame(0x21, b"some bytes")] {
        let mut session = ready(Role::Server);
        session.receive(REQUEST, &get("/"), false).unwrap();
        assert_eq!(session.receive(REQUEST, &empty.repeat(taken), false), Ok(()));
        assert_stream_error(session.receive(REQUEST, &empty, false), REQUEST, Code::ExcessiveLoad);
    }
}

#[test]
fn interim_responses_have_a_limit() {
    let interim = headers(":status=100");
    let taken = Limits::default().interim_responses as usize;
    let mut session = ready(Role::Client);
    assert_eq!(session.receive(REQUEST, &interim.repeat(taken), false), Ok(()));
    assert_stream_error(session.receive(REQUEST, &interim, false), REQUEST, Code::ExcessiveLoad);
}

#[test]
fn data_before_headers_is_unexpected_9114_4_1() {
    for role in [Role::Client, Role::Server] {
        assert_connection_error(whole(role, &[data("")]).0, Code::FrameUnexpected);
    }
    let after_interim = whole(Role::Client, &[headers(":status=100"), data("a")]).0;
    assert_connection_error(after_interim, Code::FrameUnexpected);
}

/// RFC 9114, 4.1. Client: sends DATA before HEADERS, or anything known after the trailers. Server: `H3_FRAME_UNEXPECTED`.
#[test]
fn nothing_but_unknown_frames_comes_after_the_trailers_9114_4_1() {
    let trailers = headers("a=b");
    assert_eq!(whole(Role::Server, &[get(""), trailers.clone(), frame(GREASE, b"x")]).0, Ok(()));
    let again = whole(Role::Server, &[get(""), trailers.clone(), trailers.clone()]).0;
    assert_connection_error(again, Code::FrameUnexpected);
    assert_connection_error(
        whole(Role::Server, &[get(""), trailers, data("")]).0,
        Code::FrameUnexpected,
    );
}

/// RFC 9114, 4.4. Client: sends HEADERS on the open stream. Server: `H3_FRAME_UNEXPECTED`.
#[test]
fn only_data_follows_an_extended_connect_9114_4_4() {
    let settings = Settings { enable_connect_protocol: true, ..Settings::default() };
    let asked = |frames: &[Vec<u8>]| {
        let mut session = Session::new(Role::Server, settings.clone(), Limits::default());
        let connect = ":method=CONNECT :protocol=websocket :scheme=https :authority=a :path=/";
        session.receive(REQUEST, &[headers(connect), frames.concat()].concat(), false)
    };
    assert_eq!(asked(&[data("a"), frame(GREASE, b"x"), data("b")]), Ok(()));
    assert_connection_error(asked(&[data("a"), headers("a=b")]), Code::FrameUnexpected);
}

#[test]
fn frames_of_other_streams_are_unexpected_9114_7_2() {
    let others =
        [CANCEL_PUSH, SETTINGS, GOAWAY, MAX_PUSH_ID, PRIORITY_UPDATE, PRIORITY_UPDATE_PUSH];
    for role in [Role::Client, Role::Server] {
        for frame_type in others.into_iter().chain(HTTP2_FRAMES) {
            assert_connection_error(
                whole(role, &[frame(frame_type, &[0])]).0,
                Code::FrameUnexpected,
            );
        }
    }
}

#[test]
fn a_push_promise_is_unexpected_from_clients_and_unallowed_from_servers_9114_7_2_5() {
    assert_connection_error(
        whole(Role::Server, &[frame(PUSH_PROMISE, &[0])]).0,
        Code::FrameUnexpected,
    );
    assert_connection_error(whole(Role::Client, &[frame(PUSH_PROMISE, &[0])]).0, Code::Id);
}

/// RFC 9114, 9. Client: sends unknown frames, streams or settings. Server: ignored.
#[test]
fn unknown_frames_are_ignored_anywhere_9114_9() {
    let grease = frame(GREASE, &vec![9; 70_000]);
    let (outcome, events) =
        whole(Role::Server, &[grease.clone(), get(""), grease.clone(), data("a"), grease]);
    assert_eq!((outcome, events.as_str()), (Ok(()), "headers 0, data 0 a, finished 0"));
}

#[test]
fn a_stream_that_ends_inside_a_frame_is_a_frame_error_9114_7_1() {
    for cut in 1..get("").len() {
        assert_connection_error(whole(Role::Server, &[get("")[..cut].to_vec()]).0, Code::Frame);
    }
    let (outcome, events) = whole(Role::Server, &[get(""), data("abc")[..4].to_vec()]);
    assert_connection_error(outcome, Code::Frame);
    assert_eq!(events, "headers 0, data 0 ab");
    assert_connection_error(whole(Role::Server, &[get(""), vec![0x00]]).0, Code::Frame);
    assert_connection_error(
        whole(Role::Server, &[get(""), frame(GREASE, b"ab")[..3].to_vec()]).0,
        Code::Frame,
    );
}

#[test]
fn a_request_without_a_header_section_is_incomplete_9114_4_1() {
    let mut session = ready(Role::Server);
    assert_stream_error(session.receive(REQUEST, &[], true), REQUEST, Code::RequestIncomplete);
    assert_stream_error(whole(Role::Client, &[headers(":status=100")]).0, REQUEST, Code::Message);
}

#[test]
fn content_must_be_as_long_as_content_length_says_9114_4_1_2() {
    let post = || get("content-length=3");
    assert_eq!(whole(Role::Server, &[post(), data("ab"), data("c")]).0, Ok(()));
    let (outcome, events) = whole(Role::Server, &[post(), data("ab"), data("cd")]);
    assert_stream_error(outcome, REQUEST, Code::Message);
    assert_eq!(events, "headers 0, data 0 ab");
    assert_stream_error(whole(Role::Server, &[post(), data("ab")]).0, REQUEST, Code::Message);
    assert_stream_error(whole(Role::Server, &[post()]).0, REQUEST, Code::Message);
    let response = || headers(":status=200 content-length=3");
    assert_stream_error(whole(Role::Client, &[response(), data("ab")]).0, REQUEST, Code::Message);
}

#[test]
fn a_response_without_content_may_have_a_content_length_9114_4_1_2() {
    assert_eq!(whole(Role::Client, &[headers(":status=304 content-length=3")]).0, Ok(()));
}

#[test]
fn a_malformed_message_ends_its_stream_and_no_other_9114_4_1_2() {
    let mut session = ready(Role::Server);
    assert_stream_error(
        session.receive(REQUEST, &headers(":method=GET"), false),
        REQUEST,
        Code::Message,
    );
    assert_eq!(session.receive(REQUEST, &data("ignored"), true), Ok(()));
    assert_eq!(session.receive(StreamId(4), &get(""), true), Ok(()));
    assert_eq!(events(&mut session), "headers 4, finished 4");
}

#[test]
fn an_undecodable_field_section_ends_the_connection_9204_2_2() {
    assert_connection_error(
        whole(Role::Server, &[frame(HEADERS, &[2, 0, 0x80])]).0,
        Code::QpackDecompressionFailed,
    );
}

#[test]
fn a_field_section_larger_than_we_take_ends_its_stream_9114_4_2_2() {
    let large = get(&format!("cookie={}", "a".repeat(70_000)));
    let mut session = ready(Role::Server);
    assert_stream_error(session.receive(REQUEST, &large, true), REQUEST, Code::ExcessiveLoad);
    let settings = Settings { max_field_section_size: Some(200), ..Settings::default() };
    let mut session = Session::new(Role::Server, settings, Limits::default());
    assert_eq!(session.receive(REQUEST, &get(""), true), Ok(()));
    assert_stream_error(
        session.receive(StreamId(4), &get("a=b"), true),
        StreamId(4),
        Code::ExcessiveLoad,
    );
}

#[test]
fn a_headers_frame_over_the_limit_is_refused_before_it_is_kept() {
    let start = [varint(HEADERS), varint(1 << 40)].concat();
    let mut session = ready(Role::Server);
    assert_stream_error(session.receive(REQUEST, &start, false), REQUEST, Code::ExcessiveLoad);
    assert_eq!(session.receive(REQUEST, &vec![0; 100_000], false), Ok(()));
}

/// RFC 9114, 4.2. Server: sends names in lowercase.
#[test]
fn names_are_sent_in_lowercase_9114_4_2() {
    let mut session = ready(Role::Client);
    let frame = session.encode_headers(&fields(":status=200 Content-Type=text/css X-Y=Z")).unwrap();
    session.receive(REQUEST, &frame, true).unwrap();
    let expected = fields(":status=200 content-type=text/css x-y=Z");
    assert_eq!(session.poll(), Some(Event::Headers { stream: REQUEST, headers: expected }));
}

#[test]
fn an_empty_field_section_is_malformed_not_a_panic() {
    let none: [Header; 0] = [];
    let frame = ready(Role::Client).encode_headers(&none).unwrap();
    assert_stream_error(whole(Role::Client, &[frame]).0, REQUEST, Code::Message);
}

#[test]
fn unfinished_heads_of_all_requests_share_one_limit() {
    let limits = Limits { unfinished_bytes: 1_000, ..Limits::default() };
    let mut session = Session::new(Role::Server, Settings::default(), limits);
    // HEADERS of 600 bytes without the last one.
    let begun = &frame(HEADERS, &[0xd1; 600])[..602];
    session.receive(StreamId(0), begun, false).unwrap();
    assert!(session.awaits_head(StreamId(0)));
    let outcome = session.receive(StreamId(4), begun, false);
    assert_stream_error(outcome, StreamId(4), Code::ExcessiveLoad);
    assert!(!session.awaits_head(StreamId(4)));
    // A reset, the owner's decision and the end of a stream make room again.
    session.stream_reset(StreamId(0), 0x10c).unwrap();
    session.receive(StreamId(8), begun, false).unwrap();
    session.give_up(StreamId(8));
    session.receive(StreamId(12), begun, false).unwrap();
    session.forget(StreamId(12));
    session.receive(StreamId(16), begun, false).unwrap();
    // What follows on a stream that was given up is ignored.
    session.receive(StreamId(4), &[0], true).unwrap();
    session.receive(StreamId(8), &[0], true).unwrap();
    assert_eq!(session.events(), 1, "the reset");
}
