//! What happens to TCP connections when files, the site or the server change.

use super::clients::{fetch_1, fetch_2, over_2, response, rest, secure};
use super::{Serving, bytes, folder};
use crate::fetch::Ask;
use server::Limits;
use std::io::{BufRead, BufReader, Read, Write};
use std::time::Duration;

#[test]
fn a_file_that_becomes_shorter_never_looks_whole() {
    let (folder, site) = folder(&[("large", &bytes(20_000_000))]);
    let server = Serving::start(site);
    let mut stream = secure(server.address);
    stream.write_all(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n").expect("sent");
    let mut stream = BufReader::new(stream);
    stream.fill_buf().expect("its first bytes");
    let file = std::fs::OpenOptions::new().write(true).open(folder.path().join("large"));
    file.expect("there").set_len(10).expect("shorter");
    let got = response(&mut stream, "GET");
    assert_eq!((got.status, got.field("content-length")), (200, Some("20000000")));
    assert!(!got.finished, "{} bytes", got.body.len());
    let answered = server.events.answered();
    assert_eq!(answered.iter().map(|it| it.is_complete).collect::<Vec<_>>(), [false]);
}

/// Its bytes would be of two versions under the tag of the first.
#[test]
fn a_file_that_is_written_anew_in_place_never_looks_whole() {
    let (folder, site) = folder(&[("large", &bytes(20_000_000))]);
    let server = Serving::start(site);
    let mut stream = secure(server.address);
    stream.write_all(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n").expect("sent");
    let mut stream = BufReader::new(stream);
    stream.fill_buf().expect("its first bytes");
    let rewrite = |byte| {
        let file = std::fs::OpenOptions::new().write(true).open(folder.path().join("large"));
        file.and_then(|mut it| it.write_all(&vec![byte; 20_000_000])).expect("written");
    };
    rewrite(7);
    let got = response(&mut stream, "GET");
    assert!(got.status == 200 && !got.finished, "{} bytes", got.body.len());
    assert!(bytes(20_000_000).starts_with(&got.body), "nothing of the second version");
}

#[test]
fn a_server_that_ends_does_not_wait_for_half_a_head() {
    let (_folder, site) = folder(&[("a", b"a")]);
    let limits = Limits { drain: Duration::from_secs(60), ..Limits::default() };
    let server = Serving::within(site, limits);
    let mut stream = secure(server.address);
    stream.write_all(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /a HTTP/1.1\r\nHo").expect("sent");
    let mut stream = BufReader::new(stream);
    assert_eq!(response(&mut stream, "GET").body, b"a");
    server.stop.stop();
    assert_eq!(rest(&mut stream), b"");
    assert_eq!(server.ended(), 0);
}

#[test]
fn a_server_that_ends_finishes_what_is_under_way_and_closes_idle_connections() {
    let (_folder, site) = folder(&[("large", &bytes(20_000_000))]);
    let server = Serving::start(site);
    let mut idle = secure(server.address);
    let mut busy = secure(server.address);
    busy.write_all(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n").expect("sent");
    let mut busy = BufReader::new(busy);
    busy.fill_buf().expect("its first bytes");
    server.stop.stop();
    assert_eq!(rest(&mut idle), b"");
    let got = response(&mut busy, "GET");
    assert!(got.finished && got.body.len() == 20_000_000);
    assert_eq!(rest(&mut busy), b"");
    assert_eq!(server.ended(), 0);
}

#[test]
fn http_2_hears_that_a_server_ends_and_gets_what_it_asked_for() {
    let (_folder, site) = folder(&[("large", &bytes(20_000_000))]);
    let server = Serving::start(site);
    let stop = server.stop.clone();
    let (bytes, is_refused) = over_2(server.address, async |sender| {
        let mut sender = sender.ready().await.expect("ready");
        let head = super::clients::head_2(&Ask::get("/large"));
        let (response, _) = sender.send_request(head, true).expect("sent");
        let mut body = response.await.expect("a head").into_body();
        stop.stop();
        let mut bytes = 0;
        while let Some(Ok(piece)) = body.data().await {
            bytes += piece.len();
            body.flow_control().release_capacity(piece.len()).expect("taken");
        }
        (bytes, sender.ready().await.is_err())
    });
    assert_eq!((bytes, is_refused), (20_000_000, true));
    assert_eq!(server.ended(), 0);
}

#[test]
fn a_response_that_takes_too_long_to_finish_is_cut() {
    let (_folder, site) = folder(&[("large", &bytes(20_000_000))]);
    let limits = Limits { drain: Duration::from_millis(200), ..Limits::default() };
    let server = Serving::within(site, limits);
    let mut unread = secure(server.address);
    unread.write_all(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n").expect("sent");
    unread.read_exact(&mut [0; 10]).expect("its first bytes");
    server.stop.stop();
    assert_eq!(server.ended(), 1);
}

#[test]
fn requests_of_one_connection_of_http_1_follow_each_other() {
    let (_folder, site) = folder(&[("a", b"a"), ("b", b"bb")]);
    let server = Serving::start(site);
    let mut stream = secure(server.address);
    let request = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
    // Both at once.
    write!(stream, "{}{}", request("/a"), request("/b")).expect("sent");
    let mut stream = BufReader::new(stream);
    let bodies = [response(&mut stream, "GET").body, response(&mut stream, "GET").body];
    assert_eq!(bodies, [&b"a"[..], b"bb"]);
    let old = "GET /a HTTP/1.0\r\nHost: a\r\n\r\n";
    stream.get_mut().write_all(old.as_bytes()).expect("sent");
    assert!(rest(&mut stream).ends_with(b"\r\n\r\na"), "HTTP/1.0 closes");
}

#[test]
fn an_upload_that_nobody_wants_does_not_hold_the_connection() {
    let (_folder, site) = folder(&[("a", b"a")]);
    let server = Serving::start(site);
    let ask = Ask { method: "POST", body: bytes(3_000_000), ..Ask::get("/a") };
    assert_eq!(fetch_1(server.address, &ask).status, 405);
    let got = fetch_2(server.address, &[ask, Ask::get("/a")]);
    assert_eq!((got[0].status, got[1].body.as_slice()), (405, &b"a"[..]));
}
