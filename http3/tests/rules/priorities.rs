//! `PRIORITY_UPDATE`: RFC 9218, 7.

use crate::peer::*;
use http3::{Code, Limits, Role, Session, StreamId, priority_update};

/// What a server says to an update of `stream`.
fn update(session: &mut Session, stream: u64, field: &str) -> Result<(), http3::Error> {
    let payload = [varint(stream), field.as_bytes().to_vec()].concat();
    session.receive(CLIENT_CONTROL, &frame(PRIORITY_UPDATE, &payload), false)
}

#[test]
fn an_update_of_an_open_request_is_reported_at_once_even_after_its_end() {
    let mut session = ready(Role::Server);
    session.receive(REQUEST, &get(""), true).unwrap();
    session.receive(CLIENT_CONTROL, &priority_update(REQUEST, 1, true), false).unwrap();
    assert_eq!(events(&mut session), "headers 0, finished 0, priority 0 u=1 i=true");
}

#[test]
fn an_update_is_a_complete_set_9218_7() {
    let mut session = ready(Role::Server);
    session.receive(REQUEST, &get("priority=u=0"), false).unwrap();
    update(&mut session, 0, "i").unwrap();
    update(&mut session, 0, "").unwrap();
    update(&mut session, 0, "u=9, x, i=1").unwrap();
    assert_eq!(
        events(&mut session),
        "headers 0, priority 0 u=3 i=true, priority 0 u=3 i=false, priority 0 u=3 i=false"
    );
}

#[test]
fn the_latest_update_that_overtook_its_request_follows_its_headers_9218_7_2() {
    let mut session = ready(Role::Server);
    update(&mut session, 4, "u=6").unwrap();
    update(&mut session, 4, "u=1, i").unwrap();
    assert_eq!(events(&mut session), "");
    let request = get("");
    session.receive(StreamId(4), &request[..7], false).unwrap();
    assert_eq!(events(&mut session), "");
    update(&mut session, 4, "u=2").unwrap();
    session.receive(StreamId(4), &request[7..], true).unwrap();
    assert_eq!(events(&mut session), "headers 4, priority 4 u=2 i=false, finished 4");
}

#[test]
fn an_update_of_a_closed_request_is_ignored() {
    let mut session = ready(Role::Server);
    session.receive(StreamId(8), &get(""), true).unwrap();
    session.forget(StreamId(8));
    update(&mut session, 8, "u=0").unwrap();
    assert_eq!(events(&mut session), "headers 8, finished 8");
    session.stream_reset(StreamId(4), 0x10c).unwrap();
    update(&mut session, 4, "u=0").unwrap();
    assert_eq!(events(&mut session), "reset 4 0x10c");
}

#[test]
fn an_update_of_a_request_below_others_waits_for_it() {
    let mut session = ready(Role::Server);
    session.receive(StreamId(8), &get(""), true).unwrap();
    session.forget(StreamId(8));
    update(&mut session, 4, "u=0").unwrap();
    session.receive(StreamId(4), &get(""), true).unwrap();
    assert_eq!(
        events(&mut session),
        "headers 8, finished 8, headers 4, priority 4 u=0 i=false, finished 4"
    );
}

#[test]
fn an_update_of_what_is_no_request_is_an_id_error_9218_7_2() {
    for stream in 1..4 {
        assert_connection_error(update(&mut ready(Role::Server), stream, "u=1"), Code::Id);
    }
}

#[test]
fn an_update_beyond_the_stream_limit_is_an_id_error_9218_7_2() {
    let limit = Limits::default().concurrent_requests;
    assert_eq!(update(&mut ready(Role::Server), 4 * (limit - 1), "u=1"), Ok(()));
    assert_connection_error(update(&mut ready(Role::Server), 4 * limit, "u=1"), Code::Id);
    let mut session = ready(Role::Server);
    session.receive(REQUEST, &get(""), true).unwrap();
    assert_eq!(update(&mut session, 4 * limit, "u=1"), Ok(()));
    assert_connection_error(update(&mut session, 4 * limit + 4, "u=1"), Code::Id);
}

#[test]
fn an_update_of_a_push_that_was_never_promised_is_an_id_error_9218_7_2() {
    let outcome =
        ready(Role::Server).receive(CLIENT_CONTROL, &frame(PRIORITY_UPDATE_PUSH, &[0]), false);
    assert_connection_error(outcome, Code::Id);
}

#[test]
fn an_update_that_holds_no_structured_field_is_a_protocol_error_9218_7() {
    assert_connection_error(update(&mut ready(Role::Server), 0, "u=,"), Code::GeneralProtocol);
    assert_connection_error(update(&mut ready(Role::Server), 0, "é"), Code::GeneralProtocol);
}

#[test]
fn an_update_without_an_id_is_a_frame_error_9114_7_1() {
    for payload in [&[][..], &[0x40]] {
        let outcome =
            ready(Role::Server).receive(CLIENT_CONTROL, &frame(PRIORITY_UPDATE, payload), false);
        assert_connection_error(outcome, Code::Frame);
    }
}

#[test]
fn an_update_from_a_server_is_unexpected_9218_7_2() {
    for frame_type in [PRIORITY_UPDATE, PRIORITY_UPDATE_PUSH] {
        let outcome = ready(Role::Client).receive(SERVER_CONTROL, &frame(frame_type, &[0]), false);
        assert_connection_error(outcome, Code::FrameUnexpected);
    }
}

#[test]
fn updates_wait_up_to_a_limit_and_further_ones_are_dropped() {
    let limits = Limits { waiting_priority_updates: 1, ..Limits::default() };
    let mut session = Session::new(Role::Server, http3::Settings::default(), limits);
    session.receive(CLIENT_CONTROL, &[0x00, 0x04, 0x00], false).unwrap();
    update(&mut session, 0, "u=1").unwrap();
    update(&mut session, 4, "u=2").unwrap();
    update(&mut session, 0, "u=5").unwrap();
    assert!(session.poll().is_some(), "settings");
    session.receive(StreamId(4), &get(""), false).unwrap();
    session.receive(REQUEST, &get(""), false).unwrap();
    assert_eq!(events(&mut session), "headers 4, headers 0, priority 0 u=5 i=false");
}
