//! When a browser learns over HTTP/2 that there is HTTP/3.

use super::clients::{fetch_1, fetch_2, raw_2};
use super::{Serving, folder};
use crate::fetch::Ask;
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

/// The type of each frame that arrives until the first of this type, and the payload of that one.
fn frames_until(stream: &mut impl Read, wanted: u8) -> (Vec<u8>, Vec<u8>) {
    let mut types = Vec::new();
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).expect("a frame");
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        stream.read_exact(&mut payload).expect("a payload");
        types.push(head[3]);
        if head[3] == wanted {
            return (types, payload);
        }
    }
}

#[test]
fn a_browser_learns_of_http_3_in_a_frame_once_its_page_has_loaded_7838_4() {
    let (_folder, site) = folder(&[("a.html", b"a")]);
    let server = Serving::start(site);
    let mut client = raw_2(server.address);
    let text = |it: &str| [&[u8::try_from(it.len()).expect("short")], it.as_bytes()].concat();
    let fields = [&b"\x82\x87\x01"[..], &text("site.example"), b"\x04", &text("/a.html"), b"\0"];
    let head = [&fields.concat()[..], &text("sec-fetch-dest"), &text("document")].concat();
    let length = u8::try_from(head.len()).expect("short");
    let request = |stream: u8| [&[0, 0, length, 1, 5, 0, 0, 0, stream], &head[..]].concat();
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    client.write_all(&[&preface[..], &request(1)].concat()).expect("sent");
    let (types, payload) = frames_until(&mut client, 10);
    // The response's head and data come before.
    assert_eq!(
        types.iter().filter(|it| matches!(it, 0 | 1 | 10)).collect::<Vec<_>>(),
        [&1, &0, &10]
    );
    let origin = "https://site.example";
    let service = format!("h3=\":{}\"; ma=86400", server.address.port());
    assert_eq!(payload, [&[0, 20], origin.as_bytes(), service.as_bytes()].concat());
    // It is announced once, and the connection goes on.
    client.write_all(&request(3)).expect("sent");
    let (types, _) = frames_until(&mut client, 1);
    assert!(!types.contains(&10), "{types:?}");
}
