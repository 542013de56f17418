//! Server push (RFC 9114, 4.6, 6.2.2, 7.2.3, 7.2.5, 7.2.7).

use crate::peer::*;
use http3::{Code, PushId, Role, Session, StreamId};

/// The first stream of a server that is free for a push.
const PUSH: StreamId = StreamId(15);

/// A client and a server that know each other's settings; the client allows `pushes`.
fn pair(pushes: u64) -> (Session, Session) {
    let (mut client, mut server) = (fresh(Role::Client), fresh(Role::Server));
    for (stream, bytes) in client.opening() {
        server.receive(stream, &bytes, false).unwrap();
    }
    for (stream, bytes) in server.opening() {
        client.receive(stream, &bytes, false).unwrap();
    }
    if pushes > 0 {
        let (stream, bytes) = client.allow_pushes(pushes);
        server.receive(stream, &bytes, false).unwrap();
    }
    while client.poll().is_some() {}
    while server.poll().is_some() {}
    (client, server)
}

fn promise(server: &mut Session) -> (PushId, Vec<u8>) {
    server.promise(&fields(PROMISED)).unwrap().expect("the client allows it")
}

/// The whole stream of a push: its header, and a response.
fn pushed(push: PushId) -> Vec<u8> {
    let response = headers(":status=200 content-length=3");
    [Session::push_stream_header(push), response, frame(DATA, b"abc")].concat()
}

#[test]
fn a_promise_and_its_response_reach_the_client_in_either_order_9114_4_6() {
    for promise_first in [true, false] {
        let (mut client, mut server) = pair(1);
        let (push, frame) = promise(&mut server);
        if promise_first {
            client.receive(REQUEST, &frame, false).unwrap();
        }
        client.receive(PUSH, &pushed(push), true).unwrap();
        if !promise_first {
            client.receive(REQUEST, &frame, false).unwrap();
        }
        let response = "stream 15 of 0, headers 15, data 15 abc, finished 15";
        let expected = if promise_first {
            format!("promise 0 of 0, {response}")
        } else {
            format!("{response}, promise 0 of 0")
        };
        assert_eq!(events(&mut client), expected);
    }
}

#[test]
fn promises_stand_before_between_and_after_the_parts_of_a_response_9114_4_1() {
    let (mut client, mut server) = pair(3);
    let mut response = promise(&mut server).1;
    response.extend(headers(":status=200"));
    response.extend(promise(&mut server).1);
    response.extend(frame(DATA, b"x"));
    response.extend(promise(&mut server).1);
    client.receive(REQUEST, &response, true).unwrap();
    let expected =
        "promise 0 of 0, headers 0, promise 0 of 1, data 0 x, promise 0 of 2, finished 0";
    assert_eq!(events(&mut client), expected);
}

/// RFC 9114, 4.6. Client: allows pushes. Server: no more than these, each ID once.
#[test]
fn a_server_promises_no_more_than_max_push_id_allows_9114_7_2_7() {
    let (mut client, mut server) = pair(2);
    assert_eq!((promise(&mut server).0, promise(&mut server).0), (PushId(0), PushId(1)));
    assert_eq!(server.promise(&fields(PROMISED)), Ok(None));
    let (stream, bytes) = client.allow_pushes(3);
    server.receive(stream, &bytes, false).unwrap();
    assert_eq!(promise(&mut server).0, PushId(2));
}

#[test]
fn what_was_allowed_stays_allowed_9114_7_2_7() {
    let (mut client, mut server) = pair(5);
    let (stream, bytes) = client.allow_pushes(1);
    assert_eq!(server.receive(stream, &bytes, false), Ok(()));
    assert_eq!(server.pushes_left(), 5);
}

/// RFC 9114, 5.2. Client: sends GOAWAY. Server: no further push is promised.
#[test]
fn a_clients_goaway_ends_promises_9114_5_2() {
    let (mut client, mut server) = pair(5);
    promise(&mut server);
    let goaway = client.goaway(1);
    server.receive(CLIENT_CONTROL, &goaway, false).unwrap();
    assert_eq!(server.promise(&fields(PROMISED)), Ok(None));
}

#[test]
fn a_promise_or_stream_that_was_not_allowed_is_an_id_error_9114_4_6_and_7_2_5() {
    for allowed in [0, 1] {
        let (mut client, _) = pair(allowed);
        let push = PushId(allowed);
        assert_connection_error(client.receive(PUSH, &pushed(push), true), Code::Id);
        let (mut client, _) = pair(allowed);
        let payload = [varint(allowed), vec![0, 0]].concat();
        let outcome = client.receive(REQUEST, &frame(PUSH_PROMISE, &payload), false);
        assert_connection_error(outcome, Code::Id);
    }
}

#[test]
fn a_second_stream_of_a_push_is_an_id_error_9114_4_6() {
    let (mut client, _) = pair(2);
    client.receive(PUSH, &pushed(PushId(0)), true).unwrap();
    let outcome = client.receive(StreamId(19), &pushed(PushId(0)), false);
    assert_connection_error(outcome, Code::Id);
}

#[test]
fn a_push_promised_twice_is_the_same_or_a_protocol_error_9114_7_2_5() {
    let (mut client, mut server) = pair(1);
    let (_, bytes) = promise(&mut server);
    client.receive(REQUEST, &bytes, false).unwrap();
    client.receive(StreamId(4), &bytes, false).unwrap();
    assert_eq!(events(&mut client), "promise 0 of 0, promise 4 of 0");
    let (_, mut other) = pair(1);
    let (_, bytes) = other.promise(&fields(&PROMISED.replace("a.css", "b.css"))).unwrap().unwrap();
    assert_connection_error(client.receive(StreamId(8), &bytes, false), Code::GeneralProtocol);
}

#[test]
fn a_promise_on_a_push_stream_is_unexpected_9114_7_2_5() {
    let (mut client, mut server) = pair(2);
    let bytes = [pushed(PushId(0)), promise(&mut server).1].concat();
    assert_connection_error(client.receive(PUSH, &bytes, false), Code::FrameUnexpected);
}

#[test]
fn a_malformed_promise_is_an_error_of_its_kind() {
    let (mut client, _) = pair(1);
    let outcome = client.receive(REQUEST, &frame(PUSH_PROMISE, &[]), false);
    assert_connection_error(outcome, Code::Frame);
    let (mut client, mut server) = pair(1);
    let (_, bytes) = server.promise(&fields(":method=GET")).unwrap().unwrap();
    assert_stream_error(client.receive(REQUEST, &bytes, false), REQUEST, Code::Message);
}

/// RFC 9114, 7.2.3. Client: cancels a promised push. Server: does not send it, or no further.
#[test]
fn either_side_cancels_a_push_9114_7_2_3() {
    let (mut client, mut server) = pair(1);
    let (push, _) = promise(&mut server);
    let (stream, bytes) = client.cancel_push(push);
    server.receive(stream, &bytes, false).unwrap();
    assert_eq!(events(&mut server), "cancelled 0");
    let (stream, bytes) = server.cancel_push(push);
    client.receive(stream, &bytes, false).unwrap();
    assert_eq!(events(&mut client), "cancelled 0");
}

#[test]
fn a_push_that_is_given_up_is_reported() {
    let (mut client, _) = pair(1);
    client.receive(PUSH, &pushed(PushId(0)), false).unwrap();
    client.stream_reset(PUSH, 0x10c).unwrap();
    assert_eq!(events(&mut client), "stream 15 of 0, headers 15, data 15 abc, reset 15 0x10c");
}

#[test]
fn a_push_stream_may_come_in_single_bytes_and_end_before_its_id() {
    let (mut client, _) = pair(1);
    for byte in pushed(PushId(0)) {
        client.receive(PUSH, &[byte], false).unwrap();
    }
    client.receive(PUSH, &[], true).unwrap();
    let expected = "stream 15 of 0, headers 15, data 15 a, data 15 b, data 15 c, finished 15";
    assert_eq!(events(&mut client), expected);
    assert_eq!(client.receive(StreamId(19), &[0x01], true), Ok(()));
}
