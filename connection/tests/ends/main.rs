//! Two ends of a connection, against each other.

mod pair;

use connection::{Arrival, ClientConfig, ConnectionState, EarlyData, End, MemoryLog};
use http3::{Code, Event, Header, StreamId};
use pair::{Pair, carry, client, get, now, paths, trusting};
use std::time::Duration;

const REQUEST: StreamId = StreamId(0);

#[test]
fn a_request_and_its_response_cross_once_the_handshake_is_complete() {
    let mut pair = Pair::new(&trusting(), |_| ());
    assert!(!pair.client.is_open() && !pair.client.open());
    pair.exchange();
    assert_eq!(pair.client.state(), ConnectionState::Connected);
    assert_eq!(pair.client.early_data(), EarlyData::Unsent);
    assert!(!pair.client.open(), "its streams are open already");

    assert_eq!(pair.client.request(pair.client.next_request(), &get("/a"), true), Ok(true));
    pair.exchange();
    assert_eq!(paths(&pair.server_events), [(REQUEST, "/a".to_owned())]);
    assert_eq!(pair.client.next_request(), StreamId(4));
    assert_eq!(pair.server.next_request(), StreamId(4));

    let fields = [Header::new(b":status", b"200")];
    let mut response = pair.server.encode_headers(REQUEST, &fields).expect("small");
    response.extend(pair.server.data_frame_header(REQUEST, 5));
    response.extend(b"hello");
    pair.server.send(REQUEST, response, true);
    pair.exchange();
    let status = pair.client_events.iter().find_map(|it| match it {
        Event::Headers { headers, .. } => http3::status(headers),
        _ => None,
    });
    assert_eq!(status, Some(200));
    assert!(pair.client_events.contains(&Event::Finished { stream: REQUEST }));
}

#[test]
fn what_is_queued_before_the_handshake_follows_the_settings() {
    let mut pair = Pair::new(&trusting(), |_| ());
    let frame = pair.server.session.goaway(8);
    pair.server.send(StreamId(3), frame, false);
    assert!(!pair.server.flush());
    pair.exchange();
    let said = |it: &Event| matches!(it, Event::Settings(_) | Event::GoAway { .. });
    pair.client_events.retain(said);
    assert!(matches!(pair.client_events[..], [Event::Settings(_), Event::GoAway { id: 8 }]));
}

#[test]
fn the_rest_of_a_request_follows_when_the_server_takes_more() {
    let mut pair = Pair::new(&trusting(), |it| it.set_initial_max_stream_data_bidi_remote(100));
    pair.exchange();
    let path = format!("/{}", "a".repeat(1000));
    assert_eq!(pair.client.request(REQUEST, &get(&path), true), Ok(true));
    pair.exchange();
    assert_eq!(paths(&pair.server_events), [(REQUEST, path)]);
    assert!(pair.server_events.contains(&Event::Finished { stream: REQUEST }));
}

#[test]
fn a_request_beyond_the_servers_limit_is_not_sent() {
    let mut pair = Pair::new(&trusting(), |it| it.set_initial_max_streams_bidi(1));
    pair.exchange();
    assert_eq!(pair.client.request(REQUEST, &get("/a"), true), Ok(true));
    assert_eq!(pair.client.request(StreamId(4), &get("/b"), true), Ok(false));
    assert_eq!(pair.client.next_request(), StreamId(4));
}

#[test]
fn bytes_of_a_stream_that_the_peer_stopped_hold_nothing_back() {
    let mut pair = Pair::new(&trusting(), |it| it.set_initial_max_stream_data_bidi_remote(100));
    pair.exchange();
    assert_eq!(
        pair.client.request(REQUEST, &get(&format!("/{}", "a".repeat(1000))), true),
        Ok(true)
    );
    // The server takes it, reads nothing of it, and stops it.
    carry(&mut pair.client, &mut pair.server);
    pair.server.shut(REQUEST, Code::RequestRejected);
    pair.exchange();
    assert_eq!(
        pair.client.request(StreamId(4), &get(&format!("/{}", "b".repeat(1000))), true),
        Ok(true)
    );
    pair.exchange();
    assert_eq!(paths(&pair.server_events), [(StreamId(4), format!("/{}", "b".repeat(1000)))]);
}

#[test]
fn what_came_can_be_delivered_later() {
    let mut pair = Pair::connected();
    assert_eq!(pair.client.request(REQUEST, &get("/a"), true), Ok(true));
    carry(&mut pair.client, &mut pair.server);
    let mut buffer = [0; 1000];
    let arrival = pair.server.arrival(REQUEST, &mut buffer).expect("a request");
    assert!(matches!(arrival, Arrival::Bytes(_, true)));
    assert_eq!(pair.server.poll(), None);
    pair.server.deliver(REQUEST, arrival).expect("well-formed");
    assert_eq!(paths(&[pair.server.poll().expect("a request")]), [(REQUEST, "/a".to_owned())]);
}

#[test]
fn an_error_of_a_stream_ends_the_stream_and_one_of_the_connection_ends_all() {
    let mut pair = Pair::connected();
    let malformed = [Header::new(b":method", b"GET")];
    assert_eq!(pair.client.request(REQUEST, &malformed, true), Ok(true));
    pair.exchange();
    assert!(!pair.server.is_closing());
    assert!(pair.client_events.iter().any(|it| matches!(it, Event::Reset { code: 0x10e, .. })));

    pair.client.send(StreamId(14), vec![0x00], false);
    pair.exchange();
    assert!(pair.server.is_closing());
    let reason = "H3_STREAM_CREATION_ERROR on the connection: a second control or QPACK stream \
                  (RFC 9114, 6.2.1; RFC 9204, 4.2) on stream 14";
    let expected = End::ByPeer { code: 0x103, reason: reason.to_owned() };
    assert_eq!(pair.client.end(), Some(expected));
}

#[test]
fn the_end_says_why() {
    let mut pair = Pair::connected();
    assert_eq!(pair.client.end(), None);
    pair.server.close(Code::NoError, "enough");
    pair.exchange();
    let words = pair.client.end().expect("over").to_string();
    assert_eq!(words, "closed by the server, code 0x100 enough");
}

#[test]
fn a_handshake_without_an_answer_is_given_up_in_time() {
    let config = ClientConfig { connect_within: Duration::ZERO, ..trusting() };
    let mut client = client(&config);
    let deadline = client.next_timeout().expect("a deadline");
    assert!(deadline <= now());
    client.on_timeout(deadline);
    assert!(client.is_closing());
    assert_eq!(client.end(), Some(End::NoAnswer));
}

#[test]
fn what_is_sent_and_what_comes_is_logged() {
    let mut pair = Pair::new(&trusting(), |_| ());
    let log = MemoryLog::default();
    pair.client.quic.set_qlog(Box::new(log.clone()), String::new(), String::new());
    pair.exchange();
    let signal = http3::Signal::Extensible { stream: REQUEST, urgency: 1, incremental: false };
    assert!(pair.client.signal(&signal));
    assert_eq!(pair.client.request(REQUEST, &get("/a"), true), Ok(true));
    pair.exchange();
    let fields = [Header::new(b":status", b"404")];
    let response = pair.server.encode_headers(REQUEST, &fields).expect("small");
    pair.server.send(REQUEST, response, true);
    pair.exchange();
    drop(pair);
    let text = String::from_utf8(log.take()).expect("text");
    for expected in ["priority_update", "\":path\"", "\"404\""] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}
