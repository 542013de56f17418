//! Which streams may be opened, and which may end: RFC 9114, 6 and RFC 9204, 4.2.

use crate::peer::*;
use http3::{Code, Limits, Role, StreamId};

/// The types of the streams that stay open: control, QPACK encoder, QPACK decoder.
const CRITICAL: [u8; 3] = [0x00, 0x02, 0x03];

#[test]
fn a_second_critical_stream_is_a_stream_creation_error_9114_6_2_1() {
    for stream_type in CRITICAL {
        let mut session = fresh(Role::Server);
        session.receive(StreamId(2), &[stream_type], false).unwrap();
        assert_connection_error(
            session.receive(StreamId(6), &[stream_type], false),
            Code::StreamCreation,
        );
    }
}

#[test]
fn a_critical_stream_that_ends_is_an_error_9114_6_2_1_and_9204_4_2() {
    for stream_type in CRITICAL {
        let mut session = fresh(Role::Server);
        assert_connection_error(
            session.receive(StreamId(2), &[stream_type], true),
            Code::ClosedCriticalStream,
        );
        let mut session = fresh(Role::Server);
        session.receive(StreamId(2), &[stream_type], false).unwrap();
        assert_connection_error(
            session.receive(StreamId(2), &[], true),
            Code::ClosedCriticalStream,
        );
        let mut session = fresh(Role::Server);
        session.receive(StreamId(2), &[stream_type], false).unwrap();
        assert_connection_error(
            session.stream_reset(StreamId(2), 0x100),
            Code::ClosedCriticalStream,
        );
    }
}

#[test]
fn a_push_stream_from_a_client_is_a_stream_creation_error_9114_6_2_2() {
    assert_connection_error(
        fresh(Role::Server).receive(StreamId(2), &[0x01], false),
        Code::StreamCreation,
    );
}

#[test]
fn a_push_stream_without_max_push_id_is_an_id_error_9114_4_6() {
    assert_connection_error(
        fresh(Role::Client).receive(StreamId(15), &[0x01, 0x00], false),
        Code::Id,
    );
}

#[test]
fn a_stream_of_an_unknown_type_is_ignored_9114_9() {
    let mut session = ready(Role::Server);
    session.receive(StreamId(6), &[0x40], false).unwrap();
    session.receive(StreamId(6), &[0x21, 0x00, 0x04], false).unwrap();
    session.receive(StreamId(6), &[0xff; 5000], false).unwrap();
    session.receive(StreamId(6), &[1], true).unwrap();
    session.receive(StreamId(14), &[0x21], false).unwrap();
    session.stream_reset(StreamId(14), 0x107).unwrap();
    assert_eq!(events(&mut session), "");
}

/// RFC 9114, 6.2. Client: ends or resets a stream before its type is known, or one of an unknown type. Server: ignored.
#[test]
fn a_stream_may_end_before_its_type_9114_6_2() {
    let mut session = ready(Role::Server);
    assert_eq!(session.receive(StreamId(6), &[0x40], true), Ok(()));
    assert_eq!(session.receive(StreamId(10), &[], true), Ok(()));
    session.receive(StreamId(14), &[0x40], false).unwrap();
    assert_eq!(session.stream_reset(StreamId(14), 0), Ok(()));
}

#[test]
fn unidirectional_streams_are_remembered_up_to_a_limit() {
    let limit = Limits::default().unidirectional_streams as u64;
    let mut session = fresh(Role::Server);
    for index in 0..limit {
        session.receive(StreamId(2 + 4 * index), &[0x21], false).unwrap();
    }
    session.receive(StreamId(2), &[], true).unwrap();
    session.receive(StreamId(2 + 4 * limit), &[0x21], false).unwrap();
    let one_more = session.receive(StreamId(6 + 4 * limit), &[0x21], false);
    assert_connection_error(one_more, Code::ExcessiveLoad);
}

#[test]
fn a_bidirectional_stream_of_the_server_is_a_stream_creation_error_9114_6_1() {
    assert_connection_error(
        fresh(Role::Client).receive(StreamId(1), &[], false),
        Code::StreamCreation,
    );
    assert_connection_error(fresh(Role::Client).stream_reset(StreamId(1), 0), Code::StreamCreation);
}

#[test]
fn a_dynamic_table_is_refused_on_the_encoder_stream_9204_4_3() {
    let mut session = fresh(Role::Server);
    assert_eq!(session.receive(StreamId(6), &[0x02, 0x20], false), Ok(()));
    assert_connection_error(session.receive(StreamId(6), &[0x3f], false), Code::QpackEncoderStream);
}

#[test]
fn only_cancellations_are_taken_on_the_decoder_stream_9204_4_4() {
    let mut session = fresh(Role::Server);
    assert_eq!(session.receive(StreamId(10), &[0x03, 0x44], false), Ok(()));
    assert_connection_error(
        session.receive(StreamId(10), &[0x00], false),
        Code::QpackDecoderStream,
    );
}

#[test]
fn a_reset_request_is_reported_once_and_kept_quiet() {
    let mut session = ready(Role::Server);
    session.receive(REQUEST, &get("")[..5], false).unwrap();
    session.stream_reset(REQUEST, 0x10c).unwrap();
    session.stream_reset(REQUEST, 0x10c).unwrap();
    session.stream_reset(StreamId(8), 0x10c).unwrap();
    assert_eq!(events(&mut session), "reset 0 0x10c, reset 8 0x10c");
    session.forget(REQUEST);
    session.forget(StreamId(8));
    assert_eq!(events(&mut session), "");
}
