//! One client that makes requests at given times, behind a bottleneck, in virtual time.

use crate::peers::{Peer, World};
use connection::{ClientConfig, Verify};
use schedulers::{Kind, Resource, find_scheme};
use server::site::{Ahead, Body, Promise, Request, Response, Site};
use server::{Limits, Options};
use simulator::Links;
use simulator::link::{LinkLogEntry, Profile, Queue, Verdict, Way};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// `/BYTES/KIND[/WAIT_MS[/SECOND_MS]]`: a body of that size; the second time is when its second half becomes
/// available.
pub(crate) struct Bodies;

impl Site for Bodies {
    fn respond(&self, request: &Request) -> Response {
        let mut parts = request.path.split('/').skip(1);
        let bytes = parts.next().and_then(|it| it.parse().ok()).unwrap_or(0);
        let mime = match parts.next() {
            Some("html") => "text/html",
            Some("css") => "text/css",
            Some("js") => "text/javascript",
            _ => "image/png",
        };
        let times: Vec<Duration> =
            parts.filter_map(|it| it.parse().ok()).map(Duration::from_millis).collect();
        let ready = match times[..] {
            [wait] => vec![(wait, bytes)],
            [first, second] => vec![(first, bytes / 2), (second, bytes)],
            _ => Vec::new(),
        };
        let resource =
            Resource { kind: Kind::of_mime(mime), body_bytes: Some(bytes), ..Resource::default() };
        let body = Body::synthetic(bytes, 1);
        Response { body, resource, ready, ..Response::empty(200) }
    }
}

/// [`Bodies`], where this document, whatever its query, is accompanied by others.
pub(crate) struct Pushing {
    pub(crate) document: &'static str,
    pub(crate) push: Vec<String>,
}

impl Site for Pushing {
    fn respond(&self, request: &Request) -> Response {
        let response = Bodies.respond(request);
        if request.plain_path() != self.document || request.path_state.is_none() {
            return response;
        }
        let pushes = self.push.iter().map(|it| Promise::new(&request.authority, it)).collect();
        Response { ahead: Ahead { pushes, ..Ahead::default() }, ..response }
    }
}

/// The bottleneck, from the server to the client. The other direction only delays.
#[derive(Clone, Copy)]
pub(crate) struct Link {
    pub(crate) bits_per_second: f64,
    pub(crate) one_way_ms: f64,
    pub(crate) queue_bytes: u64,
    /// One in this many datagrams is lost; 0: none.
    pub(crate) lose_each: u64,
    /// The same, from the client to the server.
    pub(crate) lose_each_from_client: u64,
}

impl Link {
    pub(crate) const CABLE: Self = Self {
        bits_per_second: 20e6,
        one_way_ms: 25.0,
        queue_bytes: 125_000,
        lose_each: 0,
        lose_each_from_client: 0,
    };

    pub(crate) fn links(self) -> Links {
        let down = Profile {
            queue: Queue::Bytes(self.queue_bytes),
            drops: each(self.lose_each),
            ..Profile::plain(self.bits_per_second, self.one_way_ms)
        };
        let up = Profile {
            drops: each(self.lose_each_from_client),
            ..Profile::plain(f64::INFINITY, self.one_way_ms)
        };
        Links::new(&down, &up, 0).logged()
    }
}

/// The first seconds of a run, in which the window is still growing.
const GROWTH: Duration = Duration::from_secs(3);

/// How long the server's datagrams wait before the bottleneck, once the window is steady.
fn mean_wait(log: &[LinkLogEntry], link: Link, start: Duration) -> Duration {
    let steady_ns = (start + GROWTH).as_nanos();
    let wait_s = |it: &LinkLogEntry| match it.verdict {
        Verdict::Delivered { at_ns, .. } => {
            let sending_s = it.bytes as f64 * 8.0 / link.bits_per_second;
            Some((at_ns - it.offered_ns) as f64 / 1e9 - sending_s - link.one_way_ms / 1e3)
        }
        Verdict::Dropped { .. } => None,
    };
    let steady = |it: &&LinkLogEntry| it.way == Way::Down && u128::from(it.offered_ns) >= steady_ns;
    let waits: Vec<f64> = log.iter().filter(steady).filter_map(wait_s).collect();
    Duration::from_secs_f64((waits.iter().sum::<f64>() / waits.len().max(1) as f64).max(0.0))
}

/// Every `each`-th number, for more datagrams than a test sends.
fn each(each: u64) -> Vec<u64> {
    if each == 0 {
        Vec::new()
    } else {
        (each..10_000).step_by(usize::try_from(each).expect("small")).collect()
    }
}

/// The results of a run.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Virtual time from the first request to the last response's end.
    pub(crate) duration: Duration,
    /// Datagrams that the server sent after the handshake.
    pub(crate) datagrams: usize,
    /// Those of them with less than 1000 bytes.
    pub(crate) runts: usize,
    /// The most of them that it sent at one moment.
    pub(crate) burst: usize,
    /// How long they waited in the link's queue after the first three seconds, on average.
    pub(crate) queued: Duration,
    /// The client, with all that it received.
    pub(crate) peer: Peer,
}

impl Seen {
    /// The streams in the order in which their responses ended.
    pub(crate) fn order(&self) -> String {
        let streams: Vec<String> = self.peer.order().iter().map(u64::to_string).collect();
        streams.join(",")
    }
}

/// The properties of the client.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "three sizes")]
pub(crate) struct Client {
    /// Bytes of its connection ID.
    pub(crate) id_bytes: usize,
    /// Bytes that it accepts on the connection before it has read them.
    pub(crate) receive_bytes: u64,
    /// Bytes that it accepts on a stream before it has read them.
    pub(crate) stream_receive_bytes: u64,
}

impl Client {
    /// Windows that nothing fills.
    pub(crate) fn with_id(id_bytes: usize) -> Self {
        Self { id_bytes, receive_bytes: 50_000_000, stream_receive_bytes: 50_000_000 }
    }

    pub(crate) fn config(self) -> ClientConfig {
        ClientConfig {
            verify: Verify::Nobody,
            connect_within: Duration::from_secs(100),
            idle: Duration::ZERO,
            receive_bytes: self.receive_bytes,
            stream_receive_bytes: self.stream_receive_bytes,
            windows_grow: false,
            id_bytes: self.id_bytes,
            ..ClientConfig::default()
        }
    }
}

/// Requests by the virtual time, in ms after the handshake, at which the client makes them: a path of
/// [`Bodies`], and after `#` the value of a `priority` field.
pub(crate) type Requests<'a> = &'a [(u64, &'a str)];

pub(crate) fn options(scheme: &str) -> Options {
    Options {
        limits: Limits { idle: Duration::from_secs(60), ..Limits::default() },
        ..Options::new(find_scheme(scheme).expect("a scheme"))
    }
}

/// Runs until every request has been answered, or `limit` of virtual time is over.
pub(crate) fn run(
    options: Options,
    link: Link,
    client: Client,
    requests: Requests<'_>,
    limit: Duration,
) -> Seen {
    let mut world = World::over(link.links(), options, Bodies);
    let mut peer = Peer::connect(&world, ([127, 0, 0, 1], 5000).into(), &client.config());
    while !peer.is_established() {
        assert!(world.step(&mut [&mut peer], None), "a handshake");
    }
    let start = world.elapsed();
    let mut asked = BTreeSet::new();
    while peer.order().len() < requests.len() && world.elapsed() <= limit {
        let mut next = None;
        for (place, (at_ms, path)) in requests.iter().enumerate() {
            let at = start + Duration::from_millis(*at_ms);
            if at > world.elapsed() {
                next = next.into_iter().chain([at]).min();
            } else if asked.insert(place) {
                request(&mut peer, place as u64 * 4, path);
            }
        }
        assert!(world.step(&mut [&mut peer], next), "nothing happens any more");
    }
    let duration = world.elapsed().saturating_sub(start);
    let log = world.links.take_log();
    let sent = log
        .iter()
        .filter(|it| it.way == Way::Down && u128::from(it.offered_ns) >= start.as_nanos());
    let moments: Vec<u64> = sent.clone().map(|it| it.offered_ns).collect();
    let burst = moments.chunk_by(|one, next| one == next).map(<[u64]>::len).max().unwrap_or(0);
    let (datagrams, runts) = (sent.clone().count(), sent.filter(|it| it.bytes < 1000).count());
    Seen { duration, datagrams, runts, burst, queued: mean_wait(&log, link, start), peer }
}

fn request(peer: &mut Peer, stream: u64, whole: &str) {
    match whole.split_once('#') {
        Some((path, priority)) => peer.get_with(stream, path, priority),
        None => peer.get(stream, whole),
    }
}

/// Compares a part of a body of [`Bodies`], from `offset` on.
pub(crate) fn assert_body(offset: u64, bytes: &[u8]) {
    let mut expected = vec![0; bytes.len()];
    let body = Body::synthetic(u64::MAX, 1);
    body.read_at(offset, &mut expected).expect("synthetic");
    assert!(bytes == expected, "other bytes than the body's at {offset}");
}

/// The only file in a folder of qlogs, as its records.
pub(crate) fn read_log(folder: &Path) -> Vec<serde_json::Value> {
    let file = std::fs::read_dir(folder)
        .expect("a folder")
        .next()
        .expect("a log")
        .expect("readable")
        .path();
    let text = std::fs::read_to_string(file).expect("text");
    text.split('\u{1e}')
        .filter(|it| !it.trim().is_empty())
        .map(|it| serde_json::from_str(it).expect("a record"))
        .collect()
}
