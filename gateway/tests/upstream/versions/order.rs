//! The order of responses over HTTP/2: the scheme's, on the wire and in the log.

use super::Serving;
use super::clients::raw_2;
use gateway::site::{Rule, RuledSite};
use schedulers::{Call, Kind, Resource, Scheduler, Scheme, StreamId, find_scheme, paper_schemes};
use server::site::{Body, Request, Response, Site};
use server::{Downloads, Identity, Options, SignalUse};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

/// A frame of a response that has enough bytes.
const PIECE: u64 = 16_128;

/// Answers `/KIND/PIECES`, or `/KIND/PIECES+BYTES`.
struct Pieces;

impl Site for Pieces {
    fn respond(&self, request: &Request) -> Response {
        let (resource, bytes) = known(&request.path);
        let body = Body::synthetic(bytes, 1);
        Response { status: 200, resource, body, ..Response::default() }
    }
}

fn known(path: &str) -> (Resource, u64) {
    let (kind, size) = path[1..].split_once('/').expect("a kind");
    let (pieces, more) = size.split_once('+').unwrap_or((size, "0"));
    let number = |it: &str| it.parse::<u64>().expect("a number");
    let bytes = PIECE * number(pieces) + number(more);
    let kind = Kind::named(kind).expect("a kind");
    (Resource { kind, body_bytes: Some(bytes), ..Resource::default() }, bytes)
}

/// A request: its path, its `priority` field, and its place in the tree: parent, weight minus one, exclusive.
#[derive(Clone, Copy, Default)]
struct Asked {
    path: &'static str,
    priority: &'static str,
    place: Option<(u8, u8, bool)>,
}

fn asked(path: &'static str) -> Asked {
    Asked { path, ..Asked::default() }
}

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).expect("short");
    [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat()
}

/// The stream of the request at this place.
fn stream(place: usize) -> u8 {
    u8::try_from(2 * place + 1).expect("few")
}

fn head(place: usize, asked: &Asked) -> Vec<u8> {
    let text = |it: &str| [&[u8::try_from(it.len()).expect("short")], it.as_bytes()].concat();
    let mut payload = Vec::new();
    let mut flags = 5;
    if let Some((parent, weight, exclusive)) = asked.place {
        flags |= 32;
        payload = vec![if exclusive { 0x80 } else { 0 }, 0, 0, parent, weight];
    }
    payload
        .extend([&b"\x82\x87\x01"[..], &text("site.example"), b"\x04", &text(asked.path)].concat());
    if !asked.priority.is_empty() {
        payload.extend([&b"\0"[..], &text("priority"), &text(asked.priority)].concat());
    }
    frame(1, flags, stream(place), &payload)
}

fn options(scheme: Scheme, signals: SignalUse, log: &Path) -> Options {
    Options { signals, qlog_dir: Some(log.to_owned()), ..Options::new(scheme) }
}

/// The DATA frames that arrive for these requests, which are sent at once: stream and bytes. `more` is sent before the request at
/// `at`.
fn frames(
    site: RuledSite,
    options: Options,
    all: &[Asked],
    at: usize,
    more: &[u8],
) -> Vec<(u8, u64)> {
    let log = options.qlog_dir.clone().expect("a folder");
    let identity = Identity::self_signed().expect("a certificate");
    let server = Serving::with(&identity, site, options);
    let mut client = raw_2(server.address);
    // Windows of 16 MiB for each stream and for the connection.
    let mut sent = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    sent.extend(frame(4, 0, 0, &[0, 4, 1, 0, 0, 0]));
    sent.extend(frame(8, 0, 0, &[1, 0, 0, 0]));
    for (place, asked) in all.iter().enumerate() {
        sent.extend(if place == at { more } else { &[] });
        sent.extend(head(place, asked));
    }
    sent.extend(if all.len() == at { more } else { &[] });
    client.write_all(&sent).expect("sent");
    let (mut frames, mut left) = (Vec::new(), all.len());
    while left > 0 {
        let mut head = [0; 9];
        client.read_exact(&mut head).expect("a frame");
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        client.read_exact(&mut payload).expect("a payload");
        if head[3] == 0 {
            frames.push((head[8], length.into()));
            left -= usize::from(head[4] & 1);
        }
        assert!(!matches!(head[3], 3 | 7), "frame {head:?} {payload:?}");
    }
    drop((client, server));
    assert_eq!(frames, logged(&log), "the log says the same");
    frames
}

/// The DATA frames of the only log in a folder.
fn logged(folder: &Path) -> Vec<(u8, u64)> {
    let entry = std::fs::read_dir(folder).expect("a folder").next().expect("a log").expect("one");
    let text = std::fs::read_to_string(entry.path()).expect("a log");
    let records = text.split('\u{1e}').filter(|it| it.contains("http2:frame_created"));
    let records = records.map(|it| serde_json::from_str::<serde_json::Value>(it).expect("JSON"));
    let data =
        records.map(|it| it["data"].clone()).filter(|it| it["frame"]["frame_type"] == "data");
    let number = |it: &serde_json::Value| it.as_u64().expect("a number");
    data.map(|it| (u8::try_from(number(&it["stream_id"])).expect("few"), number(&it["length"])))
        .collect()
}

/// A letter for each frame.
fn order(frames: &[(u8, u64)]) -> String {
    let letter = |stream: u8| char::from(b'A' + stream / 2).to_string();
    frames.iter().map(|(stream, _)| letter(*stream)).collect::<Vec<_>>().join(",")
}

/// The frames of a scheduler that nothing holds back. The first response has a piece before the others are known.
fn expected(scheme: &Scheme, all: &[Asked]) -> Vec<(u8, u64)> {
    let mut scheduler = Scheduler::new(scheme);
    let mut left: Vec<u64> = all.iter().map(|it| known(it.path).1 / PIECE).collect();
    let id = |place: usize| StreamId(stream(place).into());
    let mut frames = Vec::new();
    for (place, asked) in all.iter().enumerate() {
        Call::Open(id(place), known(asked.path).0).make(&mut scheduler);
        scheduler.set_ready(id(place), true);
        if place == 0 {
            frames.push((stream(0), PIECE));
            left[0] -= 1;
            scheduler.sent(id(0), PIECE);
        }
    }
    while let Some(next) = scheduler.pick() {
        let place = usize::try_from(next.0).expect("few") / 2;
        frames.push((stream(place), PIECE));
        left[place] -= 1;
        scheduler.sent(next, PIECE);
        if left[place] == 0 {
            scheduler.close(next);
        }
    }
    frames
}

/// A page whose resources are requested at once.
const PAGE: [Asked; 6] = [
    Asked { path: "/html/3", priority: "", place: None },
    Asked { path: "/image/4", priority: "", place: None },
    Asked { path: "/css/2", priority: "", place: None },
    Asked { path: "/js/3", priority: "", place: None },
    Asked { path: "/font/2", priority: "", place: None },
    Asked { path: "/image/4", priority: "", place: None },
];

#[test]
fn all_schemes_of_the_paper_have_their_order_over_http_2() {
    for scheme in paper_schemes() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = options(scheme.clone(), SignalUse::Ignore, folder.path());
        let frames = frames(RuledSite::of(Pieces), options, &PAGE, 0, &[]);
        assert_eq!(frames, expected(scheme, &PAGE), "{}: {}", scheme.name, order(&frames));
    }
}

fn order_of(scheme: &str, all: &[Asked], at: usize, more: &[u8]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let scheme = find_scheme(scheme).expect("known");
    let options = options(scheme, SignalUse::Obey, folder.path());
    order(&frames(RuledSite::of(Pieces), options, all, at, more))
}

#[test]
fn the_priority_field_places_a_response_9218_5() {
    let with = |path, priority| Asked { path, priority, place: None };
    let all = [
        with("/image/3", "u=5"),
        with("/image/3", "u=6"),
        with("/image/2", "u=0"),
        with("/image/2", ""),
    ];
    assert_eq!(order_of("rfc9218", &all, 0, &[]), "A,C,C,D,D,A,A,B,B,B");
    let equal = [with("/image/3", "u=3, i"), with("/image/2", "u=3, i")];
    assert_eq!(order_of("rfc9218", &equal, 0, &[]), "A,A,B,A,B");
}

/// A style sheet of 32 KB waited with its last bytes for a piece of an image.
#[test]
fn the_last_bytes_of_a_response_go_before_less_urgent_ones() {
    let with = |path, priority| Asked { path, priority, place: None };
    let all = [with("/html/0+2900", "u=0"), with("/css/2+451", "u=0"), with("/image/2", "u=2, i")];
    let order = order_of("rfc9218", &all, 0, &[]);
    assert_eq!(order, "A,B,B,B,C,C,C");
}

#[test]
fn an_update_places_a_response_that_is_under_way_or_not_asked_for_yet_9218_7_1() {
    let all = [asked("/image/4"), asked("/image/4"), asked("/image/4")];
    let later = frame(16, 0, 0, b"\0\0\0\x05u=0");
    assert_eq!(order_of("rfc9218", &all, 3, &later), "A,C,C,C,C,A,A,A,B,B,B,B");
    let four = [&all[..], &[asked("/image/1")]].concat();
    let early = frame(16, 0, 0, b"\0\0\0\x07u=1");
    assert_eq!(order_of("rfc9218", &four, 3, &early), "A,D,A,A,A,B,B,B,B,C,C,C,C");
}

#[test]
fn the_tree_of_heads_places_responses_7540_5_3() {
    let below = |path, parent, exclusive| Asked {
        path,
        priority: "",
        place: Some((parent, 15, exclusive)),
    };
    let all =
        [below("/image/3", 0, false), below("/image/2", 1, false), below("/image/2", 0, true)];
    // The third goes above both.
    assert_eq!(order_of("tree@draft20", &all, 0, &[]), "A,C,C,A,A,B,B");
}

#[test]
fn a_page_has_its_own_scheme_from_its_document_on() {
    let with = |path, priority| Asked { path, priority, place: None };
    let all = [with("/html/2", ""), with("/image/2", "u=5"), with("/image/2", "u=0")];
    assert_eq!(order_of("rfc9218", &all, 0, &[]), "A,C,C,A,B,B");
    let folder = tempfile::tempdir().expect("a folder");
    let rule = Rule {
        path: "/html/2".to_owned(),
        scheme: find_scheme("fifo").ok(),
        signals: Some(SignalUse::Ignore),
        ..Rule::default()
    };
    let scheme = find_scheme("rfc9218").expect("known");
    let options = options(scheme, SignalUse::Obey, folder.path());
    let frames = frames(RuledSite::new(Pieces, vec![rule]), options, &all, 0, &[]);
    assert_eq!(order(&frames), "A,A,B,B,C,C");
}

#[test]
fn a_download_goes_behind_the_others() {
    let all = [asked("/image/6"), asked("/image/2")];
    assert_eq!(order_of("rfc9218", &all, 0, &[]), "A,A,A,A,A,A,B,B");
    let folder = tempfile::tempdir().expect("a folder");
    let scheme = find_scheme("rfc9218").expect("known");
    let downloads = Some(Downloads { bytes: 3 * PIECE, age: Duration::ZERO });
    let options = Options { downloads, ..options(scheme, SignalUse::Obey, folder.path()) };
    let frames = frames(RuledSite::of(Pieces), options, &all, 0, &[]);
    assert_eq!(order(&frames), "A,A,A,B,B,A,A,A");
}
