//! A page load over several connections to one server, as the engine `stack` does one over one: the real server
//! core and bare clients over quiche, through one pair of links, in virtual time.
//!
//! It serves studies of what connections cost each other, and of groups of connections that the server orders
//! as one ([`http3::Settings::connection_group`]). All connections open when the load begins. The document
//! uses the first.

use client::playback::Playback;
use connection::{ClientConfig, MemoryLog};
use corpus::Page;
use gateway::site::RuledSite;
use http3::{Event, Settings, StreamId};
use lab::network::Network;
use lab::stack::{SERVER, StackError, patient, server_world};
use lab::{Load, render_times};
use page_site::PageSite;
use qlog_tools::assembly::StreamFrame;
use qlog_tools::reader::read;
use qlog_tools::timeline::{Timeline, Transfer};
use server::{Identity, Options, Server};
use simulator::{BareClient, World};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The settings of a load, besides its page.
#[derive(Clone)]
pub(super) struct Setup<'a> {
    /// The server's.
    pub(super) options: Options,
    /// The links, which all connections share.
    pub(super) network: &'a Network,
    /// The seed of the links' random events.
    pub(super) seed: u64,
    /// The server's certificate.
    pub(super) identity: &'a Identity,
    /// How many connections: from 1 to 64.
    pub(super) connections: u16,
    /// Which connection requests a resource, counted from 0. Numbers beyond the last begin again.
    pub(super) split: fn(&Page, usize) -> usize,
    /// Whether the client asks the server to order them as one.
    pub(super) grouped: bool,
}

/// Connections of one page load.
const CONNECTIONS_MAX: u16 = 64;

/// The group's name. Nobody guesses here.
const GROUP: u64 = 0x1234_5678_9abc;

/// Loads `page` once.
///
/// Stream IDs in the timeline are unique over all connections: stream 4 n of connection c of C is 4 (n C + c).
pub(super) fn load(page: &Arc<Page>, setup: Setup<'_>) -> Result<Load, StackError> {
    let name = setup.options.scheme.name.clone();
    let mut connections = ParallelConnections::new(page, setup)?;
    let completed = connections.run();
    Ok(Load { completed, timeline: Timeline { name, ..connections.into_timeline()? } })
}

struct ParallelConnections {
    page: Arc<Page>,
    playback: Playback,
    split: fn(&Page, usize) -> usize,
    requests: Vec<Requests>,
    clients: Vec<BareClient>,
    logs: Vec<MemoryLog>,
    world: World<Server>,
}

/// What one connection requests.
#[derive(Default)]
struct Requests {
    /// Resources without a stream yet.
    waiting: VecDeque<usize>,
    /// Resources by stream, and the body bytes that have come.
    responses: BTreeMap<StreamId, (usize, u64)>,
}

impl ParallelConnections {
    fn new(page: &Arc<Page>, setup: Setup<'_>) -> Result<Self, StackError> {
        let Setup { options, network, seed, identity, connections, split, grouped } = setup;
        let mut playback = Playback::new(Arc::clone(page));
        playback.start(0);
        let site = Arc::new(PageSite::new(Page::clone(page)));
        let world = server_world(RuledSite::of(site), options, identity, network, seed)?;
        let connection_group = grouped.then_some(GROUP);
        let settings = Settings { connection_group, ..Settings::default() };
        let config = patient(ClientConfig { settings, ..ClientConfig::default() });
        let (mut clients, mut logs) = (Vec::new(), Vec::new());
        for number in 0..connections.clamp(1, CONNECTIONS_MAX) {
            let local = SocketAddr::from(([127, 0, 0, 1], 5000 + number));
            let mut client = BareClient::connect(local, SERVER.into(), &config, world.now())?;
            let log = MemoryLog::default();
            let title = format!("connection {number}");
            client.connection.quic.set_qlog(Box::new(log.clone()), title, page.name.clone());
            clients.push(client);
            logs.push(log);
        }
        let requests = clients.iter().map(|_| Requests::default()).collect();
        Ok(Self { page: Arc::clone(page), playback, split, requests, clients, logs, world })
    }

    /// From event to event until the page is complete. Returns `false` if it never is.
    fn run(&mut self) -> bool {
        while !self.playback.is_done() {
            self.request_due();
            let wakeup = self.playback.next_timeout_us().map(Duration::from_micros);
            if !self.world.step(&mut self.clients, wakeup) {
                return false;
            }
            self.take_events();
        }
        true
    }

    fn now_us(&self) -> u64 {
        u64::try_from(self.world.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn request_due(&mut self) {
        for resource in self.playback.due(self.now_us()) {
            let number = if resource == 0 { 0 } else { (self.split)(&self.page, resource) };
            let count = self.requests.len();
            self.requests[number % count].waiting.push_back(resource);
        }
        for (requests, client) in self.requests.iter_mut().zip(&mut self.clients) {
            requests.send(client, &self.page);
        }
    }

    fn take_events(&mut self) {
        let now_us = self.now_us();
        for (Requests { responses, .. }, client) in self.requests.iter_mut().zip(&mut self.clients)
        {
            for event in client.events() {
                match event {
                    Event::Data { stream, bytes } => {
                        let Some((resource, sofar)) = responses.get_mut(&stream) else { continue };
                        *sofar += bytes.len() as u64;
                        self.playback.arrived(*resource, *sofar, now_us);
                    }
                    Event::Finished { stream } | Event::Reset { stream, .. } => {
                        let Some((resource, bytes)) = responses.remove(&stream) else { continue };
                        self.playback.arrived(resource, bytes, now_us);
                        self.playback.completed(resource, now_us);
                    }
                    _ => {}
                }
            }
        }
    }

    /// The timelines of all connections, as their logs have them.
    fn into_timeline(mut self) -> Result<Timeline, StackError> {
        let renders = vec![render_times(&mut self.playback)];
        // The clients finish their logs when they are dropped.
        drop(self.clients);
        let count = self.logs.len() as u64;
        let mut all = Timeline { renders, ..Timeline::default() };
        for (number, log) in (0..).zip(self.logs) {
            let unique = |stream: u64| (stream / 4 * count + number) * 4 + stream % 4;
            let timeline = read("a client's log", log.take().as_slice())?.timeline;
            for transfer in timeline.transfers {
                let stream = unique(transfer.stream);
                all.transfers.push(Transfer { stream, ..transfer });
            }
            for frame in timeline.frames {
                all.frames.push(StreamFrame { stream: unique(frame.stream), ..frame });
            }
        }
        all.transfers.sort_by_key(|it| it.requested_us);
        all.frames.sort_by_key(|it| it.time_us);
        Ok(all)
    }
}

impl Requests {
    /// Requests as many resources as the server allows streams.
    fn send(&mut self, client: &mut BareClient, page: &Page) {
        while let Some(resource) = self.waiting.front().copied() {
            if !client.connection.is_connected() {
                return;
            }
            let stream = client.connection.next_request();
            let known = &page.resources[resource];
            if !client.get(stream, page.host(resource), &known.url, &[]) {
                return;
            }
            self.responses.insert(stream, (resource, 0));
            self.waiting.pop_front();
        }
    }
}
