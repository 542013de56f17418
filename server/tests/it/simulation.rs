//! A server core, a bare quiche client, and a bottleneck between them, in virtual time.

use connection::Endpoint;
use http3::{Event, Header, Role, Session, Settings, StreamId};
use schedulers::{Kind, Resource, find_scheme};
use server::site::{Ahead, Body, Request, Response, Site};
use server::{Identity, Limits, Options, Server};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use virtual_clock::VirtualTime;

/// `/BYTES/KIND[/WAIT_MS[/SECOND_MS]]`: a body of that size; the second time is when its second half is there.
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
        let body = Body::Synthetic { bytes, seed: 1 };
        Response {
            status: 200,
            headers: Vec::new(),
            body,
            resource,
            ready,
            directive: None,
            ahead: Ahead::default(),
            scheme: None,
        }
    }
}

/// The bottleneck, server to client; the other way only delays.
#[derive(Clone, Copy)]
pub(crate) struct Link {
    pub(crate) bits_per_second: u64,
    pub(crate) one_way: Duration,
    pub(crate) queue_bytes: u64,
    /// Every so many datagrams one is lost; 0: none.
    pub(crate) lose_each: u64,
    /// The same, from the client to the server.
    pub(crate) lose_each_from_client: u64,
}

impl Link {
    pub(crate) const CABLE: Self = Self {
        bits_per_second: 20_000_000,
        one_way: Duration::from_millis(25),
        queue_bytes: 125_000,
        lose_each: 0,
        lose_each_from_client: 0,
    };
}

/// What a run gave.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Virtual time from the first request to the last response's end.
    pub(crate) duration: Duration,
    /// Datagrams that the server sent after the handshake.
    pub(crate) datagrams: u64,
    /// Of these, those with less than 1000 bytes.
    pub(crate) runts: u64,
    /// Streams in the order in which their responses ended, and when.
    pub(crate) finished: Vec<(u64, Duration)>,
    /// Body bytes by stream, each compared with the body's own.
    pub(crate) bodies: BTreeMap<u64, u64>,
    /// Runs of body bytes in the order in which the client read them: stream, bytes, when.
    pub(crate) arrivals: Vec<(u64, u64, Duration)>,
}

impl Seen {
    /// The streams in the order in which their responses ended.
    pub(crate) fn order(&self) -> String {
        let streams: Vec<String> =
            self.finished.iter().map(|(stream, _)| stream.to_string()).collect();
        streams.join(",")
    }
}

/// What the client is like.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "three sizes")]
pub(crate) struct Client {
    /// Bytes of its connection ID.
    pub(crate) id_bytes: usize,
    /// Bytes that it takes on the connection before it has read them.
    pub(crate) receive_bytes: u64,
    /// Bytes that it takes on a stream before it has read them.
    pub(crate) stream_receive_bytes: u64,
}

impl Client {
    /// Windows that nothing fills.
    pub(crate) fn with_id(id_bytes: usize) -> Self {
        Self { id_bytes, receive_bytes: 50_000_000, stream_receive_bytes: 50_000_000 }
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

/// A datagram on its way: when it arrives, its number, whether to the client, its bytes.
type InFlight = (Duration, u64, bool, Vec<u8>);

pub(crate) struct Simulation {
    pub(crate) server: Server,
    client: quiche::Connection,
    session: Session,
    epoch: Instant,
    in_flight: BinaryHeap<Reverse<InFlight>>,
    sequence: u64,
    from_client: u64,
    link: Link,
    link_free_at: Duration,
    seen: Seen,
    _virtual_time: VirtualTime,
}

const CLIENT: ([u8; 4], u16) = ([127, 0, 0, 1], 5000);
const SERVER: ([u8; 4], u16) = ([127, 0, 0, 1], 4433);

impl Simulation {
    #[expect(clippy::disallowed_methods, reason = "the simulation's clock is virtual")]
    pub(crate) fn new(options: Options, link: Link, client: Client) -> Self {
        let virtual_time = VirtualTime::start(1_000_000_000);
        let identity = Identity::self_signed().expect("a certificate");
        let server =
            Server::new(SERVER.into(), &identity, Arc::new(Bodies), options).expect("a server");
        let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION).expect("a configuration");
        config.set_application_protos(&[b"h3"]).expect("a protocol");
        config.verify_peer(false);
        config.set_max_recv_udp_payload_size(65_527);
        config.set_initial_max_data(client.receive_bytes);
        config.set_max_connection_window(client.receive_bytes);
        config.set_initial_max_stream_data_bidi_local(client.stream_receive_bytes);
        config.set_max_stream_window(client.stream_receive_bytes);
        config.set_initial_max_stream_data_uni(1_000_000);
        config.set_initial_max_streams_uni(10);
        let id = vec![7; client.id_bytes];
        let scid = quiche::ConnectionId::from_ref(&id);
        let client =
            quiche::connect(Some("localhost"), &scid, CLIENT.into(), SERVER.into(), &mut config)
                .expect("a client");
        Self {
            server,
            client,
            session: Session::new(Role::Client, Settings::default(), http3::Limits::default()),
            epoch: Instant::now(),
            in_flight: BinaryHeap::new(),
            sequence: 0,
            from_client: 0,
            link,
            link_free_at: Duration::ZERO,
            seen: Seen::default(),
            _virtual_time: virtual_time,
        }
    }

    /// Runs until every request has been answered, or `limit` of virtual time is over.
    pub(crate) fn run(mut self, requests: Requests<'_>, limit: Duration) -> Seen {
        let mut now = Duration::ZERO;
        let mut started = None;
        let mut asked = BTreeSet::new();
        loop {
            if self.client.is_established() && started.is_none() {
                started = Some(now);
                for (stream, bytes) in self.session.opening() {
                    self.client.stream_send(stream.0, &bytes, false).expect("room");
                }
            }
            if let Some(start) = started {
                for (place, (at_ms, path)) in requests.iter().enumerate() {
                    if start + Duration::from_millis(*at_ms) <= now && asked.insert(place) {
                        self.request(place as u64 * 4, path);
                    }
                }
            }
            self.client_sends(now);
            self.server_sends(now, started.is_some());
            let done = self.seen.finished.len() == requests.len();
            if let Some(start) = started
                && (done || now > limit)
            {
                self.seen.duration = now.saturating_sub(start);
                for (_, at) in &mut self.seen.finished {
                    *at = at.saturating_sub(start);
                }
                for (.., at) in &mut self.seen.arrivals {
                    *at = at.saturating_sub(start);
                }
                return self.seen;
            }
            let asks = started.map(|start| {
                requests
                    .iter()
                    .enumerate()
                    .filter(|(place, _)| !asked.contains(place))
                    .map(move |(_, (ms, _))| start + Duration::from_millis(*ms))
            });
            now = self.next_event(now, asks.and_then(Iterator::min));
            assert!(now < limit + Duration::from_secs(100), "nothing happens any more");
            virtual_clock::set_ns(1_000_000_000 + u64::try_from(now.as_nanos()).expect("short"));
            self.deliver(now);
        }
    }

    fn at(&self, now: Duration) -> Instant {
        self.epoch + now
    }

    fn request(&mut self, stream: u64, whole: &str) {
        let (path, priority) = whole.split_once('#').unzip();
        let mut headers = vec![
            (":method", "GET"),
            (":scheme", "https"),
            (":authority", "localhost"),
            (":path", path.unwrap_or(whole)),
        ];
        headers.extend(priority.map(|it| ("priority", it)));
        let headers: Vec<Header> = headers
            .iter()
            .map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()))
            .collect();
        let frame = self.session.encode_headers(&headers).expect("encodes");
        self.client.stream_send(stream, &frame, true).expect("room for a request");
    }

    fn next_event(&mut self, now: Duration, ask: Option<Duration>) -> Duration {
        let arrival = self.in_flight.peek().map(|Reverse((at, ..))| *at);
        let timers = [self.server.next_timeout(), self.client.timeout_instant()];
        let timers =
            timers.into_iter().flatten().map(|it| it.saturating_duration_since(self.epoch));
        let next = timers.chain(arrival).chain(ask).min().expect("something is to happen");
        next.max(now + Duration::from_nanos(1))
    }

    fn deliver(&mut self, now: Duration) {
        while self.in_flight.peek().is_some_and(|Reverse((at, ..))| *at <= now) {
            let Some(Reverse((_, _, to_client, mut datagram))) = self.in_flight.pop() else {
                return;
            };
            if to_client {
                let info = quiche::RecvInfo { from: SERVER.into(), to: CLIENT.into() };
                self.client.recv(&mut datagram, info).expect("our own datagrams are good");
                self.client_reads(now);
            } else {
                self.server.receive(&mut datagram, CLIENT.into(), self.at(now));
            }
        }
        if self.client.timeout_instant().is_some_and(|it| it <= self.at(now)) {
            self.client.on_timeout();
        }
        self.server.on_timeout(self.at(now));
    }

    fn client_reads(&mut self, now: Duration) {
        let mut buffer = vec![0; 65_536];
        for stream in self.client.readable() {
            while let Ok((bytes, fin)) = self.client.stream_recv(stream, &mut buffer) {
                self.session
                    .receive(StreamId(stream), &buffer[..bytes], fin)
                    .expect("our own bytes are good");
            }
        }
        while let Some(event) = self.session.poll() {
            match event {
                Event::Data { stream, bytes } => {
                    let sofar = self.seen.bodies.entry(stream.0).or_default();
                    assert_body(*sofar, &bytes);
                    *sofar += bytes.len() as u64;
                    self.seen.arrivals.push((stream.0, bytes.len() as u64, now));
                }
                Event::Finished { stream } => self.seen.finished.push((stream.0, now)),
                _ => {}
            }
        }
    }

    fn client_sends(&mut self, now: Duration) {
        let mut buffer = [0; 2000];
        while let Ok((bytes, _)) = self.client.send(&mut buffer) {
            self.sequence += 1;
            self.from_client += 1;
            let each = self.link.lose_each_from_client;
            if each > 0 && self.from_client.is_multiple_of(each) {
                continue;
            }
            let at = now + self.link.one_way;
            self.in_flight.push(Reverse((at, self.sequence, false, buffer[..bytes].to_vec())));
        }
    }

    fn server_sends(&mut self, now: Duration, count: bool) {
        let mut buffer = vec![0; 65_536];
        while let Some(transmit) = self.server.transmit(self.at(now), &mut buffer) {
            assert_eq!(transmit.to, SocketAddr::from(CLIENT));
            for datagram in buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
                self.sequence += 1;
                self.seen.datagrams += u64::from(count);
                self.seen.runts += u64::from(count && datagram.len() < 1000);
                self.through_link(now, datagram);
            }
        }
    }

    fn through_link(&mut self, now: Duration, datagram: &[u8]) {
        let per_byte = 8_000_000_000 / self.link.bits_per_second;
        let backlog = self.link_free_at.saturating_sub(now);
        let queued = u64::try_from(backlog.as_nanos()).expect("short") / per_byte;
        let lost = self.link.lose_each > 0 && self.sequence.is_multiple_of(self.link.lose_each);
        if queued + datagram.len() as u64 > self.link.queue_bytes || lost {
            return;
        }
        self.link_free_at =
            now.max(self.link_free_at) + Duration::from_nanos(per_byte * datagram.len() as u64);
        let at = self.link_free_at + self.link.one_way;
        self.in_flight.push(Reverse((at, self.sequence, true, datagram.to_vec())));
    }
}

/// Compares a part of a body of [`Bodies`], from `offset` on.
pub(crate) fn assert_body(offset: u64, bytes: &[u8]) {
    let mut expected = vec![0; bytes.len()];
    let body = Body::Synthetic { bytes: u64::MAX, seed: 1 };
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
