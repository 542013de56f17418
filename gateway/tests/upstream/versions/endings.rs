//! Requests whose bodies are not wanted, or not yet: each client gets a status at once, and can read it.

use super::backends::{before, before_within};
use super::clients::{head_2, over_2, plain, response, rest, secure};
use super::{Serving, folder};
use crate::backend::{self, Talk};
use crate::fetch::{Ask, converse, fetch};
use bytes::Bytes;
use gateway::UpstreamLimits;
use std::future::poll_fn;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Command;

/// More than every window and buffer.
const UPLOAD_BYTES: usize = 40_000_000;

/// Rejects the body of a request without reading it, and closes.
fn refuse(_: &str, stream: &mut std::net::TcpStream) {
    let head =
        "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 5\r\n\r\nlarge";
    backend::say(stream, head);
    backend::hang_up(stream);
}

/// The same with a success.
fn welcome(_: &str, stream: &mut std::net::TcpStream) {
    backend::respond(stream, b"early");
    backend::hang_up(stream);
}

fn post(body: Vec<u8>) -> Ask {
    Ask { method: "POST", body, ..Ask::get("/a") }
}

/// The servers that do not want an upload, and the status that they give.
fn unwilling() -> Vec<(Serving, &'static str)> {
    let (folder, site) = folder(&[("a", b"a")]);
    // It is looked at when it is asked for, which these requests do not do.
    drop(folder);
    let limits = UpstreamLimits { upload_bytes: 1000, ..UpstreamLimits::default() };
    let busy = UpstreamLimits { waiting: 0, ..UpstreamLimits::default() };
    vec![
        (Serving::start(site), "405"),
        (before_within(crate::sums, &limits), "413"),
        (before_within(crate::sums, &busy), "503"),
        (before(refuse), "413"),
        (before(welcome), "200"),
    ]
}

#[test]
fn curl_reads_the_status_of_a_refused_upload_20_times_of_20() {
    let Some(curl) = fixtures::program("curl") else { return };
    let file = tempfile::NamedTempFile::new().expect("a file");
    file.as_file().set_len(UPLOAD_BYTES as u64).expect("room");
    for (server, status) in unwilling() {
        // Behind an early success, curl 7.88 waits for ever over HTTP/2, whatever the server does. It does with nginx, too.
        let versions = if status == "200" { &["--http1.1"][..] } else { &["--http1.1", "--http2"] };
        for version in versions {
            let url = format!("https://{}/a", server.address);
            // Without `Expect`, curl sends at once.
            let upload = || {
                let mut curl = Command::new(&curl);
                curl.args(["-sk", "--max-time", "20", "-o", "/dev/null", "-w", "%{http_code}"]);
                curl.args([*version, "-H", "Expect:", "-X", "POST", "-T"]).arg(file.path());
                let said = curl.arg(&url).output().expect("it runs");
                format!(
                    "{} {}",
                    String::from_utf8_lossy(&said.stdout),
                    said.status.code().unwrap_or(-1)
                )
            };
            let said: Vec<String> = (0..20).map(|_| upload()).collect();
            assert_eq!(said, vec![format!("{status} 0"); 20], "{version}");
        }
    }
}

#[test]
fn an_upload_over_http_3_that_is_refused_ends_with_its_status_20_times_of_20() {
    for (server, status) in unwilling() {
        for _ in 0..20 {
            let got = fetch(server.address, &[post(vec![7; 2_000_000])], 0).remove(0);
            assert_eq!((got.status.to_string().as_str(), got.finished), (status, true));
        }
    }
}

/// Sends all of it before it looks, as many programs do.
#[test]
fn who_sends_a_whole_upload_before_reading_reads_the_status_over_http_1() {
    for (server, status) in unwilling() {
        let mut stream = secure(server.address);
        let head = format!("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: {UPLOAD_BYTES}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("sent");
        for _ in 0..UPLOAD_BYTES / 100_000 {
            stream.write_all(&vec![7; 100_000]).expect("the server reads on");
        }
        let mut stream = BufReader::new(stream);
        let got = response(&mut stream, "POST");
        assert_eq!(got.status.to_string(), status);
        assert_eq!(got.field("connection"), Some("close"), "{status}");
        assert_eq!(rest(&mut stream), b"");
    }
}

#[test]
fn who_sends_a_whole_upload_before_reading_reads_the_status_over_http_2() {
    for (server, status) in unwilling() {
        let got = over_2(server.address, async |sender| {
            let mut sender = sender.ready().await.expect("ready");
            let (response, mut stream) =
                sender.send_request(head_2(&post(Vec::new())), false).expect("sent");
            for _ in 0..UPLOAD_BYTES / 100_000 {
                let mut bytes = Bytes::from(vec![7; 100_000]);
                while !bytes.is_empty() {
                    stream.reserve_capacity(bytes.len());
                    let room = poll_fn(|it| stream.poll_capacity(it)).await;
                    let room = room.expect("open").expect("no reset");
                    stream.send_data(bytes.split_to(room.min(bytes.len())), false).expect("open");
                }
            }
            response.await.expect("an answer").status().to_string()
        });
        assert!(got.starts_with(status), "{got} {status}");
    }
}

#[test]
fn a_small_body_that_nobody_wants_leaves_a_connection_of_http_1_as_it_is() {
    let (_folder, site) = folder(&[("a", b"a")]);
    let server = Serving::start(site);
    let mut stream = BufReader::new(secure(server.address));
    for _ in 0..3 {
        let ask = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
        stream.get_mut().write_all(ask.as_bytes()).expect("sent");
        let got = response(&mut stream, "POST");
        assert_eq!((got.status, got.field("connection")), (405, None));
    }
}

/// The rest comes when the server has refused the head, as by the parser of the library.
#[test]
fn a_head_that_is_refused_is_answered_also_if_more_comes() {
    let (_folder, site) = folder(&[("a", b"a")]);
    let server = Serving::start(site);
    assert!(answer_to_a_large_head(secure(server.address)).starts_with(b"HTTP/1.1 431 "));
    assert!(answer_to_a_large_head(plain(server.plain)).starts_with(b"HTTP/1.1 431 "));
}

fn answer_to_a_large_head(mut stream: impl Read + Write) -> Vec<u8> {
    stream.write_all(b"POST /a HTTP/1.1\r\nHost: a\r\nX: ").expect("sent");
    for _ in 0..100 {
        stream.write_all(&vec![b'v'; 100_000]).expect("the server reads on");
    }
    rest(&mut stream)
}

fn expecting() -> Ask {
    let ask = Ask { ends: false, ..post(Vec::new()) };
    ask.with("content-length", "3").with("expect", "100-continue")
}

const EXPECTING: &str =
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n";

#[test]
fn a_client_that_waits_to_be_asked_for_its_body_is_asked_before_a_backend_gets_it() {
    let talk: Talk = |head, stream| {
        assert!(!head.contains("expect"), "{head}");
        let body = backend::body(head, stream);
        backend::respond(stream, &body);
    };
    let server = before(talk);
    let third = converse(server.address, &expecting(), &[b"abc"]);
    assert_eq!((third.status, third.body.as_slice(), third.finished), (200, &b"abc"[..], true));
    let second = over_2(server.address, async |sender| {
        let mut sender = sender.ready().await.expect("ready");
        let (mut response, mut stream) =
            sender.send_request(head_2(&expecting()), false).expect("sent");
        let interim = poll_fn(|it| response.poll_informational(it)).await;
        let interim = interim.expect("one").expect("no reset").status().as_u16();
        stream.send_data(Bytes::from_static(b"abc"), true).expect("open");
        (interim, response.await.expect("an answer").status().as_u16())
    });
    assert_eq!(second, (100, 200));
    let mut stream = BufReader::new(secure(server.address));
    stream.get_mut().write_all(EXPECTING.as_bytes()).expect("sent");
    let mut line = String::new();
    stream.read_line(&mut line).expect("a line");
    assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
    stream.read_line(&mut line).expect("a line");
    stream.get_mut().write_all(b"abc").expect("sent");
    assert_eq!(response(&mut stream, "POST").body, b"abc");
}

#[test]
fn a_client_that_waits_to_be_asked_gets_a_refusal_at_once() {
    let (_folder, site) = folder(&[("a", b"a")]);
    let limits = UpstreamLimits { upload_bytes: 1, ..UpstreamLimits::default() };
    let servers = [(Serving::start(site), 405), (before_within(crate::sums, &limits), 413)];
    for (server, status) in servers {
        let third = fetch(server.address, &[expecting()], 0).remove(0);
        assert_eq!((third.status, third.hints.len(), third.finished), (status, 0, true));
        let second = over_2(server.address, async |sender| {
            let mut sender = sender.ready().await.expect("ready");
            let (response, _stream) =
                sender.send_request(head_2(&expecting()), false).expect("sent");
            response.await.expect("an answer").status().as_u16()
        });
        assert_eq!(second, status);
        let mut stream = BufReader::new(secure(server.address));
        stream.get_mut().write_all(EXPECTING.as_bytes()).expect("sent");
        assert_eq!(response(&mut stream, "POST").status, status);
    }
}
