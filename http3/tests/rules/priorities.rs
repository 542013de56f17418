//! RFC 9218: the rules for what servers and clients read and write, by section.
//!
//! | section | rule | where it is tested |
//! |---|---|---|
//! | 2.1 | the setting against HTTP/2's priorities means nothing in HTTP/3 | here |
//! | 4 | defaults where nothing is said; unknown, out of range, wrong type: ignored | here; `src/priority.rs` |
//! | 4.1 | urgency 0 to 7, 3 by default | here; `schedulers/tests/rfc9218.rs` |
//! | 4.2 | incremental, false by default | here; `schedulers/tests/rfc9218.rs` |
//! | 4.3 | parameters of the future are ignored | `schedulers/src/priority.rs` |
//! | 5 | the field of a response is no answer to the client; several lines are one field | here; `server/tests/it/negotiation.rs` |
//! | 6 | a client may say something new at any time | here; `schedulers/tests/rfc9218.rs` |
//! | 7 | complete set; kept until the request comes, the latest, so many; no structured field: `H3_GENERAL_PROTOCOL_ERROR` | here |
//! | 7.1 | HTTP/2 only: its frame type is reserved or unknown in HTTP/3 | here |
//! | 7.2 | control stream of a client only: `H3_FRAME_UNEXPECTED`; what is no request, beyond the limit, not promised: `H3_ID_ERROR` | here |
//! | 8 | a response overrides what it names | `schedulers/src/priority.rs`; `server` with directives in `lab/tests/it/signals.rs` |
//! | 9 | the order of a client's own requests: left to clients (MAY); ours ask in order of discovery | nothing to keep |
//! | 10 | ascending urgency; by stream ID; incremental share; no starvation (a guard) | `schedulers/tests/rfc9218.rs` |
//! | 11 | CONNECT: refused with 405, like every method that sites do not know; holds nobody back | `server/tests/it/rfc9218.rs` |
//! | 12 | the order of retransmissions is left open | `server/src/send_loop/repairs.rs` |
//! | 13 | fairness between connections: left to servers; ours take turns, whatever the urgencies | `server/tests/it/rfc9218.rs` |
//! | 14 | the field is end to end, the frame is not: no intermediary here | none |
//! | 15 | floods cost their sender the connection | `extensions.rs`; `server/tests/it/bad_clients.rs` |

use crate::peer::*;
use http3::{
    Code, Error, Event, Limits, Prioritized, Role, Session, Signal, StreamId, priority_update,
};

/// A server's reaction to an update of `stream`.
fn update(session: &mut Session, stream: u64, field: &str) -> Result<(), Error> {
    let payload = [varint(stream), field.as_bytes().to_vec()].concat();
    session.receive(CLIENT_CONTROL, &frame(PRIORITY_UPDATE, &payload), false)
}

#[test]
fn an_update_of_an_open_request_is_reported_at_once_even_after_its_end_9218_7() {
    let mut session = ready(Role::Server);
    session.receive(REQUEST, &get(""), true).unwrap();
    session.receive(CLIENT_CONTROL, &priority_update(REQUEST, 1, true), false).unwrap();
    assert_eq!(events(&mut session), "headers 0, finished 0, priority 0 u=1 i=true");
}

#[test]
fn the_setting_against_http_2s_priorities_means_nothing_9218_2_1() {
    let mut session = fresh(Role::Server);
    let settings = frame(SETTINGS, &[0x09, 1]);
    session.receive(CLIENT_CONTROL, &[vec![0x00], settings].concat(), false).unwrap();
    assert_eq!(events(&mut session), "settings None");
}

#[test]
fn http_2s_frame_of_priority_updates_is_unknown_in_http_3_9218_7_1() {
    let mut session = ready(Role::Server);
    assert_eq!(session.receive(CLIENT_CONTROL, &frame(0x10, b"\0\0\0\0u=1"), false), Ok(()));
    assert_eq!(events(&mut session), "");
}

#[test]
fn an_update_is_told_as_it_came_and_then_what_it_does_9218_7() {
    let mut session = ready(Role::Server);
    update(&mut session, 4, "u=9, x").unwrap();
    let prioritized = Prioritized::Request(StreamId(4));
    let field = "u=9, x".to_owned();
    let told = Event::PriorityUpdate { control: CLIENT_CONTROL, prioritized, field };
    assert_eq!((session.poll(), session.poll()), (Some(told), None));
    session.receive(StreamId(4), &get(""), false).unwrap();
    assert_eq!(events(&mut session), "headers 4, priority 4 u=3 i=false");
}

#[test]
fn a_client_may_say_something_new_at_any_time_9218_6() {
    let mut session = ready(Role::Server);
    session.receive(REQUEST, &get(""), true).unwrap();
    update(&mut session, 0, "u=7").unwrap();
    update(&mut session, 0, "u=0").unwrap();
    assert_eq!(
        events(&mut session),
        "headers 0, finished 0, priority 0 u=7 i=false, priority 0 u=0 i=false"
    );
}

/// RFC 9218, 7. Client: leaves a parameter out of `PRIORITY_UPDATE`. Server: it has its default.
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
fn the_latest_update_that_overtook_its_request_follows_its_headers_9218_7() {
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

/// RFC 9218, 7.2. Client: names a request that is over. Server: ignored.
#[test]
fn an_update_of_a_closed_request_is_ignored_9218_7_2() {
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
fn an_update_of_a_request_below_others_waits_for_it_9218_7() {
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
fn an_update_of_a_stream_that_is_not_a_request_is_an_id_error_9218_7_2() {
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
fn an_update_from_a_server_is_unexpected_on_any_stream_9218_7_2() {
    for frame_type in [PRIORITY_UPDATE, PRIORITY_UPDATE_PUSH] {
        for stream in [SERVER_CONTROL, REQUEST] {
            let outcome = ready(Role::Client).receive(stream, &frame(frame_type, &[0]), false);
            assert_connection_error(outcome, Code::FrameUnexpected);
        }
    }
}

/// RFC 9218, 7.2. Client: sends it on another stream than its control stream. Server: `H3_FRAME_UNEXPECTED`.
#[test]
fn an_update_on_another_stream_than_the_control_stream_is_unexpected_9218_7_2() {
    for frame_type in [PRIORITY_UPDATE, PRIORITY_UPDATE_PUSH] {
        for before in [vec![], get("")] {
            let bytes = [before, frame(frame_type, &[0])].concat();
            let outcome = ready(Role::Server).receive(REQUEST, &bytes, false);
            assert_connection_error(outcome, Code::FrameUnexpected);
        }
    }
}

/// A server whose client accepts pushes 0 and 1, and which promised `promises` of them.
fn pushing(promises: u64) -> Session {
    let mut session = ready(Role::Server);
    session.receive(CLIENT_CONTROL, &frame(MAX_PUSH_ID, &[1]), false).unwrap();
    for _ in 0..promises {
        session.promise(&fields(PROMISED)).unwrap();
    }
    session
}

fn update_push(session: &mut Session, push: u64, field: &[u8]) -> Result<(), Error> {
    let payload = [varint(push), field.to_vec()].concat();
    session.receive(CLIENT_CONTROL, &frame(PRIORITY_UPDATE_PUSH, &payload), false)
}

#[test]
fn an_update_of_a_promised_push_is_a_complete_set_9218_7_and_7_2() {
    let mut session = pushing(2);
    update_push(&mut session, 1, b"u=0, i").unwrap();
    update_push(&mut session, 1, b"").unwrap();
    assert_eq!(events(&mut session), "push 1 u=0 i=true, push 1 u=3 i=false");
}

/// RFC 9114, 4.6. Client: sends no `MAX_PUSH_ID`. Server: nothing is pushed.
#[test]
fn an_update_of_a_push_not_promised_or_beyond_max_push_id_is_an_id_error_9218_7_2() {
    assert_connection_error(update_push(&mut pushing(0), 0, b"u=1"), Code::Id);
    assert_connection_error(update_push(&mut pushing(1), 1, b"u=1"), Code::Id);
    assert_connection_error(update_push(&mut pushing(3), 2, b"u=1"), Code::Id);
    let mut unasked = ready(Role::Server);
    assert_eq!(unasked.promise(&fields(PROMISED)), Ok(None));
    assert_connection_error(update_push(&mut unasked, 0, b"u=1"), Code::Id);
}

#[test]
fn an_update_of_a_push_is_parsed_like_one_of_a_request_9218_7() {
    assert_connection_error(update_push(&mut pushing(1), 0, b"u=,"), Code::GeneralProtocol);
    let outcome = pushing(1).receive(CLIENT_CONTROL, &frame(PRIORITY_UPDATE_PUSH, &[]), false);
    assert_connection_error(outcome, Code::Frame);
}

/// RFC 9218, 7.2. Server: sends no `PRIORITY_UPDATE` itself.
#[test]
fn a_client_sends_updates_on_its_control_stream_and_a_server_sends_none_9218_7_2() {
    let signal = Signal::Extensible { stream: StreamId(8), urgency: 5, incremental: true };
    let update = frame(PRIORITY_UPDATE, b"\x08u=5, i");
    assert_eq!(ready(Role::Client).signal(&signal), Some((CLIENT_CONTROL, update)));
    assert_eq!(ready(Role::Server).signal(&signal), None);
}

#[test]
fn a_priority_field_of_a_response_is_not_an_answer_to_the_client_9218_5() {
    let mut session = ready(Role::Client);
    session.receive(REQUEST, &headers(":status=200 priority=u=1"), true).unwrap();
    assert_eq!(events(&mut session), "headers 0, finished 0");
}

#[test]
fn updates_wait_up_to_a_limit_and_further_ones_are_dropped_9218_7() {
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
