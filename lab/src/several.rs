//! A page load over several connections to one server, as the engine `stack` does one over one: the real server
//! core and bare clients over quiche, through one pair of links, in virtual time.
//!
//! It is for studies of what connections cost each other, and of groups of connections that the server orders
//! as one ([`http3::Settings::connection_group`]). All connections are opened when the load begins; the
//! document goes over the first.

use crate::Load;
use crate::bare::{BareClient, World};
use crate::network::Network;
use crate::resource_url;
use crate::stack::StackError;
use client::playback::Playback;
use corpus::Page;
use http3::{Event, Settings, StreamId};
use page_site::PageSite;
use qlog_tools::timeline::{StreamFrame, Timeline, Transfer};
use server::{Identity, Options};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// What a load needs beside its page.
#[derive(Clone)]
pub struct Setup<'a> {
    /// The server's.
    pub options: Options,
    /// The links, which all connections share.
    pub network: &'a Network,
    /// What the links draw.
    pub seed: u64,
    /// The server's certificate.
    pub identity: &'a Identity,
    /// How many connections, at most 64.
    pub connections: usize,
    /// Which connection a resource is asked for on, counted from 0; beyond the last it begins again.
    pub split: fn(&Page, usize) -> usize,
    /// Whether the client asks the server to order them as one.
    pub grouped: bool,
}

/// A name for the group: here nobody guesses.
const GROUP: u64 = 0x1234_5678_9abc;

/// Loads `page` once.
pub fn load(page: &Arc<Page>, setup: Setup<'_>) -> Result<Load, StackError> {
    let scheme = setup.options.scheme.name.clone();
    let mut several = Several::new(page, setup)?;
    let completed = several.run();
    let timeline = Timeline { name: scheme, ..several.timeline };
    Ok(Load { completed, timeline })
}

struct Several {
    page: Arc<Page>,
    playback: Playback,
    split: fn(&Page, usize) -> usize,
    lines: Vec<Line>,
    world: World,
    timeline: Timeline,
}

/// What is asked for on one connection.
#[derive(Default)]
struct Line {
    /// Resources to ask for.
    waiting: VecDeque<usize>,
    next_stream: u64,
    /// Resources by stream, and the body bytes that have come.
    responses: BTreeMap<StreamId, (usize, u64)>,
}

impl Several {
    fn new(page: &Arc<Page>, setup: Setup<'_>) -> Result<Self, StackError> {
        let mut playback = Playback::new(Arc::clone(page));
        playback.start(0);
        let group = setup.grouped.then_some(GROUP);
        let settings = Settings { connection_group: group, ..Settings::default() };
        let settings = vec![settings; setup.connections.max(1)];
        let site = Arc::new(PageSite::new(Page::clone(page)));
        let links = (setup.network, setup.seed);
        let world = World::new(setup.options, site, links, setup.identity, settings)?;
        Ok(Self {
            page: Arc::clone(page),
            playback,
            split: setup.split,
            lines: world.clients.iter().map(|_| Line::default()).collect(),
            world,
            timeline: Timeline::default(),
        })
    }

    /// From event to event until the page is there; false: it never is.
    fn run(&mut self) -> bool {
        while !self.playback.is_done() {
            self.ask();
            if !self.world.step(self.playback.next_timeout_us().map(Duration::from_micros)) {
                return false;
            }
            for number in 0..self.lines.len() {
                for event in self.world.events(number) {
                    self.take(number, event);
                }
            }
        }
        true
    }

    fn now_us(&self) -> u64 {
        u64::try_from(self.world.now().as_micros()).unwrap_or(u64::MAX)
    }

    fn ask(&mut self) {
        let now_us = self.now_us();
        for resource in self.playback.due(now_us) {
            let line = if resource == 0 { 0 } else { (self.split)(&self.page, resource) };
            let count = self.lines.len();
            self.lines[line % count].waiting.push_back(resource);
        }
        for (line, client) in self.lines.iter_mut().zip(&mut self.world.clients) {
            for resource in line.ask(client, &self.page) {
                let bytes = Some(self.page.resources[resource].bytes);
                self.timeline.transfers.push(Transfer {
                    stream: resource as u64,
                    url: resource_url(&self.page, resource),
                    requested_us: now_us,
                    body_offset: 0,
                    body_bytes: bytes,
                    stream_bytes: bytes,
                });
            }
        }
    }

    fn take(&mut self, number: usize, event: Event) {
        let now_us = self.now_us();
        let responses = &mut self.lines[number].responses;
        match event {
            Event::Data { stream, bytes } => {
                let Some((resource, sofar)) = responses.get_mut(&stream) else { return };
                let (offset, bytes) = (*sofar, bytes.len() as u64);
                *sofar += bytes;
                let stream = *resource as u64;
                self.timeline.frames.push(StreamFrame { time_us: now_us, stream, offset, bytes });
                self.playback.arrived(*resource, offset + bytes, now_us);
            }
            Event::Finished { stream } | Event::Reset { stream, .. } => {
                let Some((resource, offset)) = responses.remove(&stream) else { return };
                let frame =
                    StreamFrame { time_us: now_us, stream: resource as u64, offset, bytes: 0 };
                self.timeline.frames.push(frame);
                self.playback.arrived(resource, offset, now_us);
                self.playback.completed(resource, now_us);
                self.world.clients[number].forget(stream);
            }
            _ => {}
        }
    }
}

impl Line {
    /// Asks for what waits, as far as the server allows streams: what was asked for.
    fn ask(&mut self, client: &mut BareClient, page: &Page) -> Vec<usize> {
        let mut asked = Vec::new();
        if !client.is_open() {
            return asked;
        }
        while let Some(resource) = self.waiting.front().copied() {
            let stream = StreamId(self.next_stream);
            if !client.ask(stream, &page.resources[resource].url, &[]) {
                return asked;
            }
            self.responses.insert(stream, (resource, 0));
            self.next_stream += 4;
            self.waiting.pop_front();
            asked.push(resource);
        }
        asked
    }
}
