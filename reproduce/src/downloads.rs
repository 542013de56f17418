//! Downloads on one connection, at given times: the real server and a bare client over quiche, in virtual time.

use crate::ReproduceError;
use client::Migrating;
use connection::{ClientConfig, MemoryLog, Verify};
use http3::{Code, Event, StreamId};
use lab::network::Network;
use qlog_tools::reader::{Detail, ReadOptions, read, read_file_traces};
use qlog_tools::tail::Tail;
use schedulers::{Kind, Resource};
use server::site::{Body, Request, Response, Site};
use server::{Identity, Limits, Options, Server};
use simulator::link::{LinkLogEntry, Profile, Queue, Verdict, Way};
use simulator::{BareClient, Links, World};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

#[derive(Debug, Clone)]
pub(crate) struct Downloads {
    pub(crate) options: Options,
    pub(crate) network: Network,
    /// In the order of their times.
    pub(crate) requests: Vec<Download>,
    /// Whether to read the congestion window from the server's log and the tail of cancels from the client's, which takes longer
    /// than the downloads.
    pub(crate) logs_window: bool,
    pub(crate) migrating: Migrating,
    /// When the client closes its connection, with everything in progress.
    pub(crate) close_ms: Option<f64>,
    /// Bytes that the client accepts before it has read them, and therefore the maximum in flight.
    pub(crate) receive_bytes: u64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Download {
    /// The time at which it is made, in milliseconds after the handshake.
    pub(crate) at_ms: f64,
    pub(crate) bytes: u64,
    pub(crate) kind: Kind,
    pub(crate) cancel_ms: Option<f64>,
    /// It is only there to compete with others: the run ends once those are complete.
    pub(crate) is_background: bool,
}

/// The result. All times are in milliseconds after the handshake.
#[derive(Debug, Clone, Default)]
pub(crate) struct Downloaded {
    /// The time at which each response was complete, by request.
    pub(crate) complete_ms: Vec<Option<f64>>,
    pub(crate) sent: Vec<Sent>,
    /// The server's congestion window in bytes, whenever it changed, if it was wanted.
    pub(crate) window: Vec<(f64, f64)>,
    /// Bytes that arrived after cancels, if they were requested.
    pub(crate) tail: Option<Tail>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    pub(crate) at_ms: f64,
    pub(crate) bytes: u64,
    /// The time of its arrival; `None` if it was lost.
    pub(crate) arrived_ms: Option<f64>,
}

const SERVER: ([u8; 4], u16) = ([127, 0, 0, 1], 4433);
const CLIENT: ([u8; 4], u16) = ([127, 0, 0, 1], 5000);
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes that the client accepts before it has read them: more than any download here, so that flow control is never
/// the limit.
const RECEIVE_BYTES: u64 = 100_000_000;

/// A network with this rate and round trip, on which requests and acknowledgements never wait.
pub(crate) fn network(name: &str, bits_per_s: f64, rtt_ms: f64, queue: Queue) -> Network {
    let delay_ms = rtt_ms / 2.0;
    Network {
        name: name.to_owned(),
        server_pace: false,
        down: Profile { queue, ..Profile::plain(bits_per_s, delay_ms) },
        up: Profile::plain(1e9, delay_ms),
    }
}

impl Download {
    pub(crate) fn new(at_ms: f64, bytes: u64, kind: Kind) -> Self {
        Self { at_ms, bytes, kind, cancel_ms: None, is_background: false }
    }

    fn path(&self) -> String {
        let kind = Kind::ALL.iter().position(|it| *it == self.kind).unwrap_or(0);
        format!("/{}/{kind}", self.bytes)
    }
}

impl Downloads {
    /// Downloads of a client that keeps everything it receives on one connection, without logs.
    pub(crate) fn new(options: Options, network: Network, requests: Vec<Download>) -> Self {
        let migrating = Migrating::default();
        let receive_bytes = RECEIVE_BYTES;
        Self {
            options,
            network,
            requests,
            logs_window: false,
            migrating,
            close_ms: None,
            receive_bytes,
        }
    }

    /// Runs the downloads until every one is complete or cancelled. If none continues, data in flight may arrive for `linger_ms`
    /// longer.
    pub(crate) fn run(
        &self,
        identity: &Identity,
        seed: u64,
        linger_ms: f64,
    ) -> Result<Downloaded, ReproduceError> {
        let folder = tempfile::tempdir().map_err(ReproduceError::unusable)?;
        let mut running = Running::start(self, identity, seed, folder.path())?;
        while !running.is_over() {
            running.act(self.migrating);
            let next = running.next_act();
            if !running.world.step(&mut [&mut running.client], next) {
                break;
            }
            running.take_events();
        }
        if !self.requests.iter().any(|it| it.is_background) {
            running.world.run_for(milliseconds(linger_ms), &mut [&mut running.client]);
        }
        // The server's log begins when the client's first datagram arrives.
        let log_begins_ms = self.network.up.delay_ms - running.start_ms();
        let log = running.log.clone();
        let downloaded = running.finish();
        let window = window(folder.path(), log_begins_ms)?;
        let tail = log.map(|it| tail(&it)).transpose()?.flatten();
        Ok(Downloaded { window, tail, ..downloaded })
    }
}

struct Running<'a> {
    requests: &'a [Download],
    close_ms: Option<f64>,
    world: World<Server>,
    client: BareClient,
    /// The client's log, if it is read.
    log: Option<MemoryLog>,
    /// Virtual time at the end of the handshake.
    start: Option<Duration>,
    made: usize,
    cancelled: Vec<bool>,
    is_closed: bool,
    complete_ms: Vec<Option<f64>>,
}

impl<'a> Running<'a> {
    fn start(
        downloads: &'a Downloads,
        identity: &Identity,
        seed: u64,
        qlog_dir: &Path,
    ) -> Result<Self, ReproduceError> {
        let options = Options {
            qlog_dir: downloads.logs_window.then(|| qlog_dir.to_owned()),
            limits: Limits { idle: PATIENCE, ..Limits::default() },
            ..downloads.options.clone()
        };
        let server = Server::new(SERVER.into(), identity, Sizes, options);
        let server = server.map_err(ReproduceError::unusable)?;
        let (down, up) = downloads.network.profiles();
        let world = World::new(server, Links::new(&down, &up, seed).logged());
        let config = ClientConfig {
            verify: Verify::Nobody,
            connect_within: PATIENCE,
            idle: PATIENCE,
            migration: downloads.options.migration.is_some(),
            receive_bytes: downloads.receive_bytes,
            stream_receive_bytes: downloads.receive_bytes,
            windows_grow: downloads.receive_bytes == RECEIVE_BYTES,
            ..ClientConfig::default()
        };
        let local = SocketAddr::from(CLIENT);
        let client = BareClient::connect(local, SERVER.into(), &config, world.now());
        let mut client = client.map_err(ReproduceError::unusable)?;
        if let Some(bytes) = downloads.migrating.ask_after_bytes {
            client.destinations.ask_after(bytes);
        }
        let log = downloads.logs_window.then(MemoryLog::default);
        if let Some(log) = log.clone() {
            client.connection.quic.set_qlog(Box::new(log), "downloads".into(), String::new());
        }
        let count = downloads.requests.len();
        Ok(Self {
            requests: &downloads.requests,
            close_ms: downloads.close_ms,
            world,
            client,
            log,
            start: None,
            made: 0,
            cancelled: vec![false; count],
            is_closed: false,
            complete_ms: vec![None; count],
        })
    }

    fn is_over(&self) -> bool {
        self.is_closed
            || (0..self.requests.len()).all(|place| {
                self.requests[place].is_background
                    || self.complete_ms[place].is_some()
                    || self.cancelled[place]
            })
    }

    fn at(&self, ms: f64) -> Duration {
        self.start.unwrap_or_default() + milliseconds(ms)
    }

    fn act(&mut self, migrating: Migrating) {
        if self.start.is_none() && self.is_ready(migrating) {
            self.start = Some(self.world.elapsed());
        }
        let now = self.world.elapsed();
        while self.start.is_some()
            && let Some(request) = self.requests.get(self.made)
            && self.at(request.at_ms) <= now
        {
            self.client.get(stream(self.made), "localhost", &request.path(), &[]);
            self.made += 1;
        }
        for place in 0..self.made {
            let due = self.requests[place].cancel_ms.is_some_and(|it| self.at(it) <= now);
            if due && !self.cancelled[place] && self.complete_ms[place].is_none() {
                self.cancelled[place] = true;
                self.client.cancel(stream(place));
            }
        }
        if self.close_ms.is_some_and(|it| self.start.is_some() && self.at(it) <= now) {
            self.is_closed = true;
            self.client.connection.close(Code::NoError, "the browser is closed");
        }
    }

    /// Whether all connections exist that the client opens before its first request.
    fn is_ready(&mut self, migrating: Migrating) -> bool {
        let destinations = &mut self.client.destinations;
        if migrating.keeps_spare && destinations.open() == 0 && !destinations.is_opening() {
            destinations.open_spare(&self.client.connection, self.world.now());
        }
        let has_spare = !migrating.keeps_spare || destinations.open() > 0;
        self.client.connection.is_connected() && has_spare
    }

    fn next_act(&self) -> Option<Duration> {
        self.start?;
        let made = self.requests.iter().map(|it| it.at_ms);
        let ended = self.requests.iter().map(|it| it.cancel_ms).chain([self.close_ms]).flatten();
        let now = self.world.elapsed();
        made.chain(ended).map(|it| self.at(it)).filter(|it| *it > now).min()
    }

    fn take_events(&mut self) {
        let now = self.world.elapsed().saturating_sub(self.start.unwrap_or_default());
        for event in self.client.events() {
            if let Event::Finished { stream } = event {
                let place = usize::try_from(stream.0 / 4).unwrap_or(usize::MAX);
                if let Some(complete_ms) = self.complete_ms.get_mut(place) {
                    *complete_ms = Some(now.as_secs_f64() * 1e3);
                }
            }
        }
    }

    fn start_ms(&self) -> f64 {
        self.start.unwrap_or_default().as_secs_f64() * 1e3
    }

    /// The server finishes its log when it is dropped.
    fn finish(mut self) -> Downloaded {
        let start_ms = self.start_ms();
        let log = self.world.links.take_log();
        let down = log.iter().filter(|it| it.way == Way::Down);
        let sent = down.map(|it| sent(it, start_ms)).collect();
        Downloaded { complete_ms: self.complete_ms, sent, ..Downloaded::default() }
    }
}

fn sent(entry: &LinkLogEntry, start_ms: f64) -> Sent {
    let arrived_ms = match entry.verdict {
        Verdict::Delivered { at_ns, .. } => Some(at_ns as f64 / 1e6 - start_ms),
        Verdict::Dropped { .. } => None,
    };
    let at_ms = entry.offered_ns as f64 / 1e6 - start_ms;
    Sent { at_ms, bytes: entry.bytes, arrived_ms }
}

impl Downloaded {
    /// Bytes in the link's queue when each datagram joins it, from `from_ms` on: the datagram's waiting time, at the
    /// link's rate.
    pub(crate) fn queue_bytes(&self, network: &Network, from_ms: f64) -> Vec<(f64, f64)> {
        let bytes_per_ms = network.down.rate.mean() / 8000.0;
        let mut queued = Vec::new();
        for &Sent { at_ms, bytes, arrived_ms } in &self.sent {
            if let Some(arrived_ms) = arrived_ms
                && at_ms >= from_ms
            {
                let waited_ms = arrived_ms - at_ms - network.down.delay_ms;
                queued.push((at_ms, (waited_ms * bytes_per_ms - bytes as f64).max(0.0)));
            }
        }
        queued
    }

    pub(crate) fn window_bytes(&self, at_ms: f64) -> Option<f64> {
        self.window.iter().rev().find(|it| it.0 <= at_ms).map(|it| it.1)
    }
}

fn milliseconds(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}

fn stream(place: usize) -> StreamId {
    StreamId(place as u64 * 4)
}

fn tail(log: &MemoryLog) -> Result<Option<Tail>, ReproduceError> {
    let trace = read("the client's log", log.take().as_slice());
    Ok(Tail::of(&trace.map_err(ReproduceError::unusable)?.timeline))
}

/// Reads the window from the server's log, which is in `folder` and begins at `begins_ms`.
fn window(folder: &Path, begins_ms: f64) -> Result<Vec<(f64, f64)>, ReproduceError> {
    let mut window = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(ReproduceError::unusable)? {
        let path = entry.map_err(ReproduceError::unusable)?.path();
        let options = ReadOptions { detail: Detail::Full, ..ReadOptions::default() };
        for trace in read_file_traces(&path, options).map_err(ReproduceError::unusable)? {
            let samples = trace.samples().iter();
            window.extend(samples.filter_map(|it| Some((it.time_us, it.congestion_window_bytes?))));
        }
    }
    let changes = window.into_iter();
    Ok(changes.map(|(at_us, bytes)| (at_us as f64 / 1e3 + begins_ms, bytes as f64)).collect())
}

/// A site that answers `/BYTES/KIND`, with a kind's place in [`Kind::ALL`].
struct Sizes;

impl Site for Sizes {
    fn respond(&self, request: &Request) -> Response {
        let mut parts = request.path.split('/').skip(1).map(|it| it.parse().unwrap_or(0));
        let bytes = parts.next().unwrap_or(0);
        let kind = parts.next().and_then(|it| Kind::ALL.get(usize::try_from(it).ok()?).copied());
        let (kind, body_bytes) = (kind.unwrap_or_default(), Some(bytes));
        let resource = Resource { kind, body_bytes, ..Resource::default() };
        Response { body: Body::synthetic(bytes, 1), resource, ..Response::empty(200) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedulers::find_scheme;

    fn run(requests: Vec<Download>, linger_ms: f64) -> Downloaded {
        let options = Options::new(find_scheme("dfifo").expect("a scheme"));
        let network = network("test", 8e6, 40.0, Queue::Bytes(40_000));
        let identity = Identity::self_signed().expect("a certificate");
        Downloads { logs_window: true, ..Downloads::new(options, network, requests) }
            .run(&identity, 0, linger_ms)
            .expect("runs")
    }

    #[test]
    fn a_download_of_a_megabyte_takes_a_second_and_slow_start() {
        let downloaded = run(vec![Download::new(10.0, 1_000_000, Kind::Other)], 0.0);
        let complete_ms = downloaded.complete_ms[0].expect("complete");
        assert!((1040.0..1200.0).contains(&complete_ms), "{complete_ms}");
        let sent: u64 = downloaded.sent.iter().map(|it| it.bytes).sum();
        assert!((1_020_000..1_100_000).contains(&sent), "{sent}");
        assert!(downloaded.window_bytes(1000.0) > downloaded.window_bytes(5.0));
    }

    #[test]
    fn after_a_cancel_only_what_is_on_its_way_comes() {
        let download = Download::new(0.0, 5_000_000, Kind::Other);
        let cancelled = Download { cancel_ms: Some(1000.0), ..download };
        let downloaded = run(vec![cancelled], 1000.0);
        assert_eq!(downloaded.complete_ms, [None]);
        let tail = downloaded.tail.expect("a cancel");
        // The path holds 40,000 bytes, and the queue 40,000 more.
        assert_eq!((tail.cancelled, tail.tail_bytes), (1, 40_021));
    }
}
