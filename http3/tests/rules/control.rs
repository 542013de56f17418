//! The control stream: RFC 9114, 6.2.1 and 7.2.

use crate::peer::*;
use http3::{Code, Limits, Role, Session, Settings, StreamId};

const BOTH: [Role; 2] = [Role::Client, Role::Server];

/// A session's reaction, with SETTINGS, to a frame on its peer's control stream.
fn on_control(role: Role, frame_type: u64, payload: &[u8]) -> Result<(), http3::Error> {
    ready(role).receive(control(role), &frame(frame_type, payload), false)
}

#[test]
fn settings_are_the_first_frame_of_a_control_stream_9114_6_2_1() {
    for role in BOTH {
        for first in [GOAWAY, GREASE, DATA, HTTP2_FRAMES[0]] {
            let bytes = [vec![0x00], frame(first, &[0])].concat();
            assert_connection_error(
                fresh(role).receive(control(role), &bytes, false),
                Code::MissingSettings,
            );
        }
    }
}

#[test]
fn settings_come_once_9114_7_2_4() {
    for role in BOTH {
        assert_connection_error(on_control(role, SETTINGS, &[]), Code::FrameUnexpected);
    }
}

#[test]
fn settings_are_reported_and_kept() {
    let mut session = fresh(Role::Server);
    assert_eq!(session.peer_settings(), None);
    session.receive(CLIENT_CONTROL, &[0x00, 0x04, 0x04, 0x06, 0x20, 0x21, 0x09], false).unwrap();
    let settings = session.peer_settings().unwrap();
    assert_eq!(settings.max_field_section_size, Some(0x20));
    assert_eq!(settings.unknown, [(0x21, 9)]);
    assert_eq!(events(&mut session), "settings Some(32)");
}

#[test]
fn each_side_understands_the_opening_of_the_other() {
    for (role, ids) in [(Role::Client, [2, 6, 10]), (Role::Server, [3, 7, 11])] {
        let opening = fresh(role).opening();
        assert_eq!(opening.iter().map(|(stream, _)| stream.0).collect::<Vec<_>>(), ids);
        let mut other = fresh(if role == Role::Client { Role::Server } else { Role::Client });
        for (stream, bytes) in &opening {
            other.receive(*stream, bytes, false).unwrap();
        }
        assert_eq!(events(&mut other), "settings Some(65536)");
        assert_eq!(other.peer_settings().unwrap().qpack_max_table_capacity, 0);
    }
}

#[test]
fn frames_of_request_streams_are_unexpected_on_control_9114_7_2() {
    for role in BOTH {
        for frame_type in [DATA, HEADERS, PUSH_PROMISE] {
            assert_connection_error(on_control(role, frame_type, &[0]), Code::FrameUnexpected);
        }
    }
}

#[test]
fn frames_of_http_2_are_unexpected_9114_7_2_8() {
    for role in BOTH {
        for frame_type in HTTP2_FRAMES {
            assert_connection_error(on_control(role, frame_type, &[0]), Code::FrameUnexpected);
        }
    }
}

#[test]
fn unknown_frames_are_ignored_9114_9() {
    for role in BOTH {
        assert_eq!(on_control(role, GREASE, &vec![7; 70_000]), Ok(()));
    }
}

#[test]
fn an_unknown_frame_that_the_owner_accepts_is_reported() {
    for role in BOTH {
        let mut session = ready(role);
        session.accept_frames(GREASE, 3);
        let bytes = [vec![7; 3], vec![7; 4]].map(|payload| frame(GREASE, &payload)).concat();
        session.receive(control(role), &bytes, false).unwrap();
        assert_eq!(events(&mut session), "frame 0x21 of 3 bytes", "a longer one is ignored");
    }
}

#[test]
fn a_frame_of_one_id_that_has_another_length_is_a_frame_error_9114_7_1() {
    for frame_type in [GOAWAY, MAX_PUSH_ID, CANCEL_PUSH] {
        for payload in [&[][..], &[0x40], &[0, 0], &[0; 9]] {
            assert_connection_error(on_control(Role::Server, frame_type, payload), Code::Frame);
        }
    }
}

#[test]
fn goaway_ids_never_grow_9114_5_2() {
    let mut session = ready(Role::Client);
    for id in [8, 8, 4] {
        session.receive(SERVER_CONTROL, &frame(GOAWAY, &[id]), false).unwrap();
    }
    assert_eq!(events(&mut session), "goaway 8, goaway 8, goaway 4");
    assert_connection_error(session.receive(SERVER_CONTROL, &frame(GOAWAY, &[8]), false), Code::Id);
}

#[test]
fn goaway_to_a_client_names_a_request_and_to_a_server_a_push_9114_7_2_6() {
    for id in 1..4 {
        assert_connection_error(on_control(Role::Client, GOAWAY, &[id]), Code::Id);
        assert_eq!(on_control(Role::Server, GOAWAY, &[id]), Ok(()));
    }
}

/// RFC 9114, 5.2. Server: our own GOAWAY never grows; later requests get `H3_REQUEST_REJECTED`.
#[test]
fn our_own_goaway_ids_never_grow_either_9114_5_2() {
    let mut session = fresh(Role::Server);
    assert_eq!(session.goaway(8), [0x07, 0x01, 0x08]);
    assert_eq!(session.goaway(12), [0x07, 0x01, 0x08]);
    assert_eq!(session.goaway(4), [0x07, 0x01, 0x04]);
}

#[test]
fn max_push_id_comes_from_clients_and_never_goes_down_9114_7_2_7() {
    assert_connection_error(on_control(Role::Client, MAX_PUSH_ID, &[1]), Code::FrameUnexpected);
    let mut session = ready(Role::Server);
    for id in [3, 3, 5] {
        assert_eq!(session.receive(CLIENT_CONTROL, &frame(MAX_PUSH_ID, &[id]), false), Ok(()));
    }
    assert_connection_error(
        session.receive(CLIENT_CONTROL, &frame(MAX_PUSH_ID, &[4]), false),
        Code::Id,
    );
}

#[test]
fn a_push_that_was_never_promised_cannot_be_cancelled_9114_7_2_3() {
    for role in BOTH {
        assert_connection_error(on_control(role, CANCEL_PUSH, &[0]), Code::Id);
    }
}

#[test]
fn a_settings_or_priority_update_frame_over_the_limit_is_refused_before_it_is_kept() {
    let start = [varint(0), varint(SETTINGS), varint(1 << 40)].concat();
    assert_connection_error(
        fresh(Role::Server).receive(CLIENT_CONTROL, &start, false),
        Code::ExcessiveLoad,
    );
    let start = [varint(PRIORITY_UPDATE), varint(257)].concat();
    assert_connection_error(
        ready(Role::Server).receive(CLIENT_CONTROL, &start, false),
        Code::ExcessiveLoad,
    );
}

#[test]
fn after_an_error_of_the_connection_nothing_else_is_said() {
    let mut session = ready(Role::Server);
    let first = session.receive(CLIENT_CONTROL, &frame(DATA, &[]), false);
    assert_eq!(session.receive(REQUEST, &get(""), true), first);
    assert_eq!(session.stream_reset(StreamId(4), 0), first);
    assert_eq!(events(&mut session), "");
}

/// RFC 9114, 4.2.2. Client: announces a limit. Server: no larger section is sent.
#[test]
fn a_field_section_larger_than_the_peer_takes_is_not_sent_9114_4_2_2() {
    let mut session = Session::new(Role::Client, Settings::default(), Limits::default());
    session.receive(SERVER_CONTROL, &[0x00, 0x04, 0x03, 0x06, 0x40, 0x40], false).unwrap();
    assert!(session.encode_headers(&fields(":status=200")).is_ok(), "42 of 64");
    assert!(session.encode_headers(&fields(":status=200 server=x")).is_err(), "81 of 64");
}

#[test]
fn remembered_settings_hold_until_the_servers_come_9114_7_2_4_2() {
    let settings = |limit| Settings { max_field_section_size: Some(limit), ..Settings::default() };
    let request = fields(":method=GET :scheme=https :authority=a.example :path=/");
    for (now, kept) in [(0x40, true), (0x41, true), (0x3f, false)] {
        let mut client = fresh(Role::Client);
        client.remember(Some(settings(0x40)));
        assert!(client.encode_headers(&request).is_err(), "larger than what is remembered");
        let frame = [&[0x00][..], &frame(SETTINGS, &[&[0x06][..], &varint(now)].concat())].concat();
        let outcome = client.receive(SERVER_CONTROL, &frame, false);
        if kept {
            outcome.unwrap();
        } else {
            assert_connection_error(outcome, Code::Settings);
        }
    }
}

#[test]
fn what_was_remembered_for_rejected_early_data_is_forgotten() {
    let mut client = fresh(Role::Client);
    client.remember(Some(Settings { placeholders: 8, ..Settings::default() }));
    client.remember(None);
    client.receive(SERVER_CONTROL, &[&[0x00][..], &frame(SETTINGS, &[])].concat(), false).unwrap();
}
