//! When a browser learns over HTTP/2 that there is HTTP/3.

use super::clients::{fetch_1, fetch_2, raw_2};
use super::{Serving, folder};
use crate::fetch::Ask;
use gateway::site::RuledSite;
use schedulers::find_scheme;
use server::{Identity, Options};
use std::io::{Read, Write};

/// A browser's request for this file.
fn of_browser(path: &str) -> Ask {
    Ask::get(path).with("sec-fetch-dest", "document")
}

#[test]
fn the_heads_of_a_page_over_http_2_do_not_announce_http_3_to_browsers() {
    let (_folder, site) = folder(&[("a.html", b"a"), ("b.css", b"b")]);
    let server = Serving::start(site);
    let announced = |fetched: crate::fetch::Fetched| fetched.field("alt-svc").is_some();
    let of_page = [of_browser("/a.html"), of_browser("/b.css"), Ask::get("/b.css")];
    let over_2 = fetch_2(server.address, &of_page).into_iter().map(announced);
    assert_eq!(over_2.collect::<Vec<_>>(), [false, false, true]);
    // It has no frames, and a browser opens six connections anyway.
    assert!(announced(fetch_1(server.address, &of_browser("/a.html"))));
}

/// The type of each frame that arrives until the first of this type, and the payload of that one. Answers pings.
fn frames_until(stream: &mut (impl Read + Write), wanted: u8) -> (Vec<u8>, Vec<u8>) {
    let mut types = Vec::new();
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).expect("a frame");
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        stream.read_exact(&mut payload).expect("a payload");
        types.push(head[3]);
        if head[3] == PING {
            let answer = [&[0, 0, 8, PING, 1, 0, 0, 0, 0], &payload[..]].concat();
            stream.write_all(&answer).expect("sent");
        }
        if head[3] == wanted {
            return (types, payload);
        }
    }
}

/// Types of frames (RFC 9113, 6; RFC 7838, 4).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PING: u8 = 6;
const ALTSVC: u8 = 10;

/// A browser's request for `/a.html` of this host, on this stream.
fn request(host: &str, stream: u8) -> Vec<u8> {
    let text = |it: &str| [&[u8::try_from(it.len()).expect("short")], it.as_bytes()].concat();
    let fields = [&b"\x82\x87\x01"[..], &text(host), b"\x04", &text("/a.html"), b"\0"];
    let head = [&fields.concat()[..], &text("sec-fetch-dest"), &text("document")].concat();
    let length = u8::try_from(head.len()).expect("short");
    [&[0, 0, length, HEADERS, 5, 0, 0, 0, stream], &head[..]].concat()
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

#[test]
fn a_browser_learns_of_http_3_in_a_frame_once_its_page_has_loaded_7838_4() {
    let (_folder, site) = folder(&[("a.html", b"a")]);
    let server = Serving::start(site);
    let mut client = raw_2(server.address);
    client.write_all(&[PREFACE, &request("Site.Example:443", 1)].concat()).expect("sent");
    let (types, payload) = frames_until(&mut client, ALTSVC);
    let order = types.iter().filter(|it| matches!(**it, DATA | HEADERS | PING | ALTSVC));
    // The answer to the ping shows that the response has arrived.
    assert_eq!(order.copied().collect::<Vec<_>>(), [HEADERS, DATA, PING, ALTSVC]);
    let origin = "https://site.example";
    let service = format!("h3=\":{}\"; ma=86400", server.address.port());
    assert_eq!(payload, [&[0, 20], origin.as_bytes(), service.as_bytes()].concat());
    // It is announced once, and the connection goes on.
    client.write_all(&request("site.example", 3)).expect("sent");
    let (types, _) = frames_until(&mut client, HEADERS);
    assert!(!types.contains(&ALTSVC), "{types:?}");
}

#[test]
fn a_refused_request_of_a_browser_does_not_name_the_origin() {
    let (_folder, site) = folder(&[("a.html", b"a")]);
    let site = RuledSite::of(site).only_for(&["site.example".to_owned()]);
    let options = Options::new(find_scheme("rfc9218").expect("known"));
    let server = Serving::with(&Identity::self_signed().expect("a certificate"), site, options);
    let mut client = raw_2(server.address);
    client.write_all(&[PREFACE, &request("other.example", 1)].concat()).expect("sent");
    frames_until(&mut client, HEADERS);
    client.write_all(&request("site.example", 3)).expect("sent");
    let (_, payload) = frames_until(&mut client, ALTSVC);
    assert!(payload[2..].starts_with(b"https://site.example"), "{payload:?}");
}
