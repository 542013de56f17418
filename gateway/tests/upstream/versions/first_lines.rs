//! What only the first line and the port of a request can express: older and later versions, targets, and plain HTTP. Beside it the
//! answers of nginx and Caddy, and which answers have a date.

use super::clients::{plain, raw_status_2, response, rest, secure};
use super::neighbours::Neighbour;
use super::{Serving, folder};
use crate::fetch::{Ask, Fetched};
use gateway::site::RuledSite;
use schedulers::find_scheme;
use server::{Identity, Options};
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A head without its empty line, and the status that it gets here, from nginx and from Caddy. 0: none.
type Line = (&'static str, [u16; 3]);

#[rustfmt::skip]
const LINES: &[Line] = &[
    ("GET /a HTTP/1.0", [200, 200, 200]),
    ("HEAD /a HTTP/1.0", [200, 200, 200]),
    ("GET /a HTTP/1.0\r\nHost: a.test", [200, 200, 200]),
    ("GET /a HTTP/1.0\r\nHost: a.test\r\nHost: a.test", [400, 400, 400]),
    ("GET /a HTTP/1.1", [400, 400, 400]),
    ("GET /a HTTP/1.1\r\nHost: a.test\r\nHost: a.test", [400, 400, 400]),
    ("GET /a HTTP/1.2\r\nHost: a.test", [200, 200, 200]),
    ("GET /a HTTP/1.9\r\nHost: a.test", [200, 200, 200]),
    ("GET /a HTTP/1.2", [400, 400, 400]),
    ("OPTIONS * HTTP/1.1\r\nHost: a.test", [204, 400, 200]),
    ("GET /a#f HTTP/1.1\r\nHost: a.test", [200, 200, 404]),
    ("GET http://a.test/a HTTP/1.1\r\nHost: a.test", [421, 200, 200]),
    ("GET https://a.test/a HTTP/1.1\r\nHost: a.test", [200, 200, 200]),
    // The libraries do not take these characters, so no version does.
    ("GET /a?query=up{job=\"x\"} HTTP/1.1\r\nHost: a.test", [400, 200, 200]),
    ("GET /a?<b> HTTP/1.1\r\nHost: a.test", [400, 200, 200]),
];

fn got(stream: impl Read + Write, head: &str) -> Fetched {
    let mut stream = BufReader::new(stream);
    write!(stream.get_mut(), "{head}\r\n\r\n").expect("sent");
    response(&mut stream, head.split(' ').next().expect("a method"))
}

#[test]
fn a_first_line_gets_its_answer() {
    let (_folder, site) = folder(&[("a", b"a")]);
    let server = Serving::start(site);
    for (line, [expected, ..]) in LINES {
        assert_eq!(got(secure(server.address), line).status, *expected, "{line}");
    }
}

#[test]
fn nginx_and_caddy_answer_first_lines_as_the_table_says() {
    let (folder, _) = folder(&[("a", b"a")]);
    let start: [fn(&Path) -> Option<Neighbour>; 2] = [Neighbour::nginx, Neighbour::caddy];
    for (column, start) in start.into_iter().enumerate() {
        let Some(neighbour) = start(folder.path()) else { return };
        let answers = LINES.iter().map(|(line, expected)| {
            (*line, got(plain(neighbour.address), line).status, expected[column + 1])
        });
        let wrong: Vec<_> = answers.filter(|(_, got, expected)| got != expected).collect();
        assert_eq!(wrong, [], "{column}");
    }
}

/// RFC 9114, 4.3.1. Client: sends a `:path` with characters that not every version can carry. Server: status 400.
#[test]
fn a_target_gets_one_answer_in_all_versions() {
    const OK: u8 = 0x88;
    const BAD: u8 = 0x8c;
    let (_folder, site) = folder(&[("a", b"a")]);
    let server = Serving::start(site);
    for (path, status, field) in [
        ("/a?query=up{job='x'}", 200, OK),
        ("/a?\u{e9}", 200, OK),
        ("/a#f", 200, OK),
        ("/%61?#f", 200, OK),
        ("/a?query=up{job=\"x\"}", 400, BAD),
        ("/<a>", 400, BAD),
        ("/a?<", 400, BAD),
        ("/a b", 400, BAD),
    ] {
        let third = crate::fetch::fetch(server.address, &[Ask::get(path)], 0).remove(0).status;
        let first = got(secure(server.address), &format!("GET {path} HTTP/1.1\r\nHost: a")).status;
        let second = raw_status_2(server.address, path);
        assert_eq!((third, second, first), (status, Some(field), status), "{path}");
    }
}

#[test]
fn a_client_of_http_1_0_keeps_its_connection_only_if_it_asks_for_that() {
    let (_folder, site) = folder(&[("a", b"a")]);
    let server = Serving::start(site);
    let mut stream = secure(server.address);
    stream.write_all(b"GET /a HTTP/1.0\r\n\r\n").expect("sent");
    assert!(rest(&mut stream).ends_with(b"\r\n\r\na"), "it closes");
    let mut stream = BufReader::new(secure(server.address));
    for _ in 0..2 {
        let asked = b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
        stream.get_mut().write_all(asked).expect("sent");
        let got = response(&mut stream, "GET");
        assert_eq!((got.status, got.field("connection")), (200, Some("keep-alive")));
    }
}

#[test]
fn later_versions_are_known_on_kept_connections_and_only_in_first_lines() {
    let (_folder, site) = folder(&[("a", b"a")]);
    let server = Serving::start(site);
    let mut stream = BufReader::new(secure(server.address));
    for version in ["1.3", "1.1", "1.2"] {
        let head = format!("GET /a HTTP/{version}\r\nHost: a\r\nVia: HTTP/1.2\r\n\r\n");
        for piece in head.as_bytes().chunks(7) {
            stream.get_mut().write_all(piece).expect("sent");
        }
        assert_eq!(response(&mut stream, "GET").status, 200, "{version}");
    }
}

#[test]
fn plain_http_at_the_port_of_https_is_told_so() {
    let (_folder, site) = folder(&[("a", b"a")]);
    let server = Serving::start(site);
    let got = got(plain(server.address), "GET /a HTTP/1.1\r\nHost: a.test");
    let said = String::from_utf8(got.body).expect("text");
    assert_eq!(
        (got.status, said.as_str()),
        (
            400,
            "This port serves HTTPS. Request the same address with https:// instead of http://.\n"
        )
    );
}

/// A second of 2026.
fn clock() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_780_800)
}

#[test]
fn every_answer_says_the_date() {
    let (_folder, site) = folder(&[("a", b"a")]);
    let identity = Identity::self_signed().expect("a certificate");
    let options = Options::new(find_scheme("rfc9218").expect("known"));
    let server = Serving::with(
        &identity,
        RuledSite::of(site),
        Options { wall_clock: Some(clock), ..options },
    );
    for (method, path, status) in
        [("GET", "/a", 200), ("GET", "/no", 404), ("POST", "/a", 405), ("OPTIONS", "*", 204)]
    {
        for got in server.ask(&Ask { method, ..Ask::get(path) }) {
            let date = Some("Fri, 27 Nov 2026 12:00:00 GMT");
            assert_eq!((got.status, got.field("date")), (status, date), "{method} {path}");
        }
    }
    // The library reads a clock of its own.
    let fields = "\r\nx: y".repeat(1100);
    for (head, at_https, status) in [
        ("GET /a HTTP/1.1\r\nHost: a.test", false, 308),
        ("GET /a HTTP/1.1", false, 400),
        ("garbage", false, 400),
        ("garbage", true, 400),
        (&format!("GET /a HTTP/1.1\r\nHost: a{fields}"), true, 431),
        (&format!("GET /a HTTP/1.1\r\nHost: a{fields}"), false, 431),
    ] {
        let got = if at_https {
            got(secure(server.address), head)
        } else {
            got(plain(server.plain), head)
        };
        assert_eq!(got.status, status, "{head}");
        assert!(got.field("date").is_some_and(|it| it.ends_with(" GMT")), "{head}");
    }
    assert!(got(plain(server.address), "GET / HTTP/1.0").field("date").is_some());
}
