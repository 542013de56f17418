//! The engine `stack`: the real server core and the real client core over quiche, through the lab's links,
//! in virtual time.
//!
//! A load runs on one thread, whose clock it sets from event to event; nothing sleeps. The seed decides
//! what the links do: to datagram n of a direction the same happens under every scheme. It does not
//! decide what TLS and quiche draw (keys, connection IDs, skipped packet numbers), so that two loads with
//! the same seed differ a little.
//!
//! Where a network is `server_pace`, the server sends one packet of 1400 stream bytes a tick, with its window
//! wide open, and the links do all that they do except for the rate: as on the wire. A packet then
//! arrives when its tick begins, on `ideal` when it ends.

mod memory_log;

use crate::delivery_order::in_order_of_transmission;
use crate::link::{Entry, Link, Way};
use crate::metadata::LimitedSite;
use crate::network::Network;
use crate::{DeliveryOrder, Load, Metadata};
use client::{Client, ConnectError, Verify};
use corpus::Page;
use http3::SendOrder;
use memory_log::MemoryLog;
use page_site::PageSite;
use qlog_tools::reader::{ReadError, read};
use server::site::Site;
use server::{Identity, Options, Server, TlsError};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use virtual_clock::VirtualTime;

/// A load that cannot be carried out; one that does not finish is a [`StackLoad`] with a problem.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// The server cannot be made.
    #[error(transparent)]
    Server(#[from] TlsError),
    /// The client cannot be made.
    #[error(transparent)]
    Client(#[from] ConnectError),
    /// The client's log cannot be read.
    #[error(transparent)]
    Log(#[from] ReadError),
    /// The client's log cannot be kept.
    #[error("{path}: {source}")]
    Keep {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// One load, and what the links saw.
#[derive(Debug, Clone)]
pub struct StackLoad {
    /// The load.
    pub load: Load,
    /// What went otherwise than the page says.
    pub problems: Vec<String>,
    /// What the server pushed, by resource, and whether the page needed it.
    pub pushed: Vec<(usize, bool)>,
    /// Promises that the client refused.
    pub refused_pushes: usize,
    /// How the client says that it ended.
    pub outcome: client::Outcome,
    /// Virtual time from the client's start to the end of the connection.
    pub simulated: Duration,
    /// Datagrams that arrived at the client.
    pub delivered_down: u64,
    /// Datagrams that arrived at the server.
    pub delivered_up: u64,
    /// The verdicts, if they were asked for.
    pub verdicts: Vec<(Way, Entry)>,
}

/// What a load needs beside its page.
#[derive(Clone)]
pub struct Setup<'a> {
    /// The server's, with the network's pace where it has one.
    pub options: Options,
    /// The links.
    pub network: &'a Network,
    /// What the server tells its scheme of resources.
    pub metadata: Metadata,
    /// In which order the client hands data up.
    pub delivery_order: DeliveryOrder,
    /// What the links draw.
    pub seed: u64,
    /// The server's certificate; one serves any number of loads.
    pub identity: &'a Identity,
    /// Keep both qlogs and `links.jsonl`, the links' verdicts, in this folder, which must exist.
    pub log_dir: Option<&'a Path>,
    /// Keep what there is of the client's log in this folder when the load does not finish.
    pub unfinished_log_dir: Option<&'a Path>,
}

impl<'a> Setup<'a> {
    /// The first seed, everything known, nothing logged.
    pub fn new(options: Options, network: &'a Network, identity: &'a Identity) -> Self {
        Self {
            options,
            network,
            metadata: Metadata::default(),
            delivery_order: DeliveryOrder::default(),
            seed: 0,
            identity,
            log_dir: None,
            unfinished_log_dir: None,
        }
    }
}

/// The two ends of a load, where they are other than a [`PageSite`] and a client that takes no pushes.
#[derive(Clone)]
pub struct Ends {
    /// What is served.
    pub site: Arc<dyn Site>,
    /// The client's options, but for patience and trust.
    pub client: client::Options,
}

/// Loads `page` once.
pub fn load(page: &Arc<Page>, setup: Setup<'_>) -> Result<StackLoad, StackError> {
    let scheme = Some(setup.options.scheme.clone());
    let inner = Arc::new(PageSite::new(Page::clone(page)));
    let site = Arc::new(LimitedSite { inner, metadata: setup.metadata });
    let client = client::Options { scheme, ..client::Options::default() };
    load_between(page, &Ends { site, client }, setup)
}

/// Loads `page` once between other ends.
pub fn load_between(
    page: &Arc<Page>,
    ends: &Ends,
    mut setup: Setup<'_>,
) -> Result<StackLoad, StackError> {
    if setup.delivery_order == DeliveryOrder::Connection {
        setup.options.send_order = Some(SendOrder::default());
    }
    let send_order = setup.options.send_order.clone();
    let scheme = setup.options.scheme.name.clone();
    let (log_dir, unfinished_log_dir) = (setup.log_dir, setup.unfinished_log_dir);
    let log = MemoryLog::new(log_dir.is_some());
    let mut stack = Stack::new(page, ends, setup, &log)?;
    let outcome = stack.run();
    let (simulated, [delivered_down, delivered_up]) = (stack.now, stack.delivered);
    let verdicts = stack.verdicts();
    drop(stack);
    let bytes = log.take();
    if let Some(folder) = log_dir {
        keep(&folder.join("client.sqlog"), &bytes)?;
        keep(&folder.join("links.jsonl"), &verdict_lines(&verdicts))?;
    }
    let mut timeline = read("the client's log", bytes.as_slice())?.timeline;
    if let Some(order) = send_order {
        timeline = in_order_of_transmission(timeline, &order.runs());
    }
    timeline.name = scheme;
    let mut problems: Vec<String> = outcome.problems.iter().map(ToString::to_string).collect();
    if !outcome.completed && problems.is_empty() {
        problems.push(format!("not over after {} s", LIMIT.as_secs()));
    }
    let load = Load { completed: outcome.completed && problems.is_empty(), timeline };
    if let Some(folder) = unfinished_log_dir.filter(|_| !load.completed && log_dir.is_none()) {
        keep(&folder.join("client.sqlog"), &bytes)?;
    }
    let (pushed, refused_pushes) = (outcome.pushed.clone(), outcome.refused_pushes);
    Ok(StackLoad {
        load,
        problems,
        pushed,
        refused_pushes,
        outcome,
        simulated,
        delivered_down,
        delivered_up,
        verdicts,
    })
}

/// Virtual time after which a load is given up.
const LIMIT: Duration = Duration::from_secs(3600);

/// How long a handshake may take, and a connection be silent: networks here are slow and lose.
const PATIENCE: Duration = Duration::from_secs(120);

const CLIENT: ([u8; 4], u16) = ([127, 0, 0, 1], 5000);
const SERVER: ([u8; 4], u16) = ([127, 0, 0, 1], 4433);

/// The thread's clock when a load begins.
const START_NS: u64 = 1_000_000_000;

struct Stack {
    client: Client,
    server: Server,
    down: Link,
    up: Link,
    epoch: Instant,
    /// Since the epoch.
    now: Duration,
    /// Datagrams that arrived: down, up.
    delivered: [u64; 2],
    buffer: Vec<u8>,
    _virtual_time: VirtualTime,
}

impl Stack {
    #[expect(clippy::disallowed_methods, reason = "the thread's clock is virtual")]
    fn new(
        page: &Arc<Page>,
        ends: &Ends,
        setup: Setup<'_>,
        log: &MemoryLog,
    ) -> Result<Self, StackError> {
        let virtual_time = VirtualTime::start(START_NS);
        let epoch = Instant::now();
        let Setup { options, network, seed, identity, log_dir, .. } = setup;
        let mut options = options;
        options.limits.idle = PATIENCE;
        options.qlog_dir = log_dir.map(Path::to_owned);
        let delivery_order = options.send_order.clone();
        let server = Server::new(SERVER.into(), identity, Arc::clone(&ends.site), options)?;
        let client_options = client::Options {
            delivery_order,
            verify: Verify::Nobody,
            connect_within: PATIENCE,
            idle: PATIENCE,
            ..ends.client.clone()
        };
        let (local, remote) = (CLIENT.into(), SERVER.into());
        let mut client = Client::connect(Arc::clone(page), local, remote, &client_options, epoch)?;
        client.log_to(Box::new(log.clone()));
        let (down, up) = network.profiles();
        let link = |profile, way| {
            let link = Link::new(profile, way, seed);
            if log_dir.is_some() { link.logged() } else { link }
        };
        Ok(Self {
            client,
            server,
            down: link(&down, Way::Down),
            up: link(&up, Way::Up),
            epoch,
            now: Duration::ZERO,
            delivered: [0; 2],
            buffer: vec![0; 65_536],
            _virtual_time: virtual_time,
        })
    }

    /// From event to event until the client's connection is over.
    fn run(&mut self) -> client::Outcome {
        loop {
            self.send();
            let over = self.client.outcome().cloned();
            let next = self.next_event();
            match (over, next) {
                (Some(outcome), _) => return outcome,
                (None, Some(next)) if next < LIMIT => self.advance(next),
                (None, _) => return client::Outcome::default(),
            }
        }
    }

    fn send(&mut self) {
        let now_ns = nanoseconds(self.now);
        while let Some(bytes) = self.client.transmit(&mut self.buffer) {
            self.up.offer(now_ns, self.buffer[..bytes].to_vec());
        }
        let now = self.epoch + self.now;
        while let Some(transmit) = self.server.transmit(now, &mut self.buffer) {
            if transmit.to != SocketAddr::from(CLIENT) {
                continue;
            }
            for datagram in self.buffer[..transmit.bytes].chunks(transmit.segment_bytes.max(1)) {
                self.down.offer(now_ns, datagram.to_vec());
            }
        }
    }

    /// When something happens next: always a little later than now.
    fn next_event(&self) -> Option<Duration> {
        let arrivals = [self.down.next_ns(), self.up.next_ns()].into_iter().flatten();
        let timers = [self.server.next_timeout(), self.client.next_timeout()].into_iter().flatten();
        let timers = timers.map(|it| it.saturating_duration_since(self.epoch));
        let next = timers.chain(arrivals.map(Duration::from_nanos)).min()?;
        // What is due at this very moment has been asked for already: without this a timer that fires and
        // stays due would stop the clock.
        Some(next.max(self.now + Duration::from_nanos(1)))
    }

    fn advance(&mut self, now: Duration) {
        self.now = now;
        let now_ns = nanoseconds(now);
        virtual_clock::set_ns(START_NS + now_ns);
        let now = self.epoch + now;
        while let Some(mut datagram) = self.down.arrival(now_ns) {
            self.delivered[0] += 1;
            let info = quiche::RecvInfo { from: SERVER.into(), to: CLIENT.into() };
            self.client.receive(&mut datagram, info, now);
        }
        while let Some(mut datagram) = self.up.arrival(now_ns) {
            self.delivered[1] += 1;
            self.server.receive(&mut datagram, CLIENT.into(), now);
        }
        self.client.on_timeout(now);
        self.server.on_timeout(now);
    }

    fn verdicts(&mut self) -> Vec<(Way, Entry)> {
        let down = self.down.take_log().into_iter().map(|it| (Way::Down, it));
        down.chain(self.up.take_log().into_iter().map(|it| (Way::Up, it))).collect()
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn keep(path: &Path, bytes: &[u8]) -> Result<(), StackError> {
    std::fs::write(path, bytes).map_err(|source| StackError::Keep { path: path.to_owned(), source })
}

fn verdict_lines(verdicts: &[(Way, Entry)]) -> Vec<u8> {
    let mut lines = Vec::new();
    for (way, entry) in verdicts {
        lines.extend(crate::link::log_line(*way, entry).into_bytes());
    }
    lines
}
