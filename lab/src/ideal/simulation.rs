//! A page load without a transport, slot by slot. The caller decides which response gets each packet.

use super::clock::{Clock, micros};
use super::ordered::Ordered;
use super::way_down::WayDown;
use crate::limits::SLOTS_MAX;
use crate::{Load, render_times};
use client::playback::Playback;
use corpus::Page;
use qlog_tools::assembly::StreamFrame;
use qlog_tools::timeline::{RenderTimes, Timeline, Transfer};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// A page load at the beginning of a slot, where a search can copy it.
///
/// A stream's ID is 4 times its index in the order of requests, as in QUIC. An empty body is sent as one
/// byte, because its packet takes a slot.
#[derive(Clone)]
pub(crate) struct Simulation {
    page: Arc<Page>,
    clock: Clock,
    playback: Playback,
    pub(crate) slot: u64,
    /// The extra delay of every request but the document's.
    pub(super) hold_us: u64,
    /// Requests in flight: arrival time and resource.
    up: VecDeque<(u64, usize)>,
    pub(super) down: WayDown,
    /// Packets that wait for earlier ones, if data is delivered in the order of sending.
    pub(super) ordered: Option<Ordered>,
    /// Resources in order of request.
    requests: Vec<usize>,
    /// Streams by resource.
    streams: Vec<u64>,
    /// Requested resources that are not completely sent, in order of request.
    open: Vec<usize>,
    arrived: Vec<StreamFrame>,
    /// Bytes that have arrived without a gap.
    received: Vec<u64>,
    /// Ranges that have arrived after a gap: their end, by resource and offset.
    behind: BTreeMap<(usize, u64), u64>,
    pub(crate) requested_us: Vec<Option<u64>>,
    /// When the server got the request.
    pub(crate) opened_us: Vec<Option<u64>>,
    pub(crate) sent: Vec<u64>,
    /// When the last packet arrives; known from the slot in which it is sent.
    pub(crate) complete_us: Vec<Option<u64>>,
}

impl Simulation {
    /// A load without any request.
    pub(crate) fn new(page: &Arc<Page>, clock: Clock) -> Self {
        let count = page.resources.len();
        let mut playback = Playback::new(Arc::clone(page));
        playback.start(0);
        Self {
            page: Arc::clone(page),
            clock,
            playback,
            slot: 0,
            hold_us: 0,
            up: VecDeque::new(),
            down: WayDown::default(),
            ordered: None,
            requests: Vec::new(),
            streams: vec![0; count],
            open: Vec::new(),
            arrived: Vec::new(),
            received: vec![0; count],
            behind: BTreeMap::new(),
            requested_us: vec![None; count],
            opened_us: vec![None; count],
            sent: vec![0; count],
            complete_us: vec![None; count],
        }
    }

    /// Continues to the next slot in which `pick` finds something to send. `pick` also gets the resources
    /// whose requests have reached the server since the preceding slot. `None`: the load is over.
    pub(crate) fn next<T>(
        &mut self,
        mut pick: impl FnMut(&Self, &[usize]) -> Option<T>,
    ) -> Option<T> {
        while self.slot < SLOTS_MAX {
            let now_us = self.now_us();
            self.client_until(now_us);
            let opened = self.open_requests(now_us);
            if let Some(picked) = pick(self, &opened) {
                return Some(picked);
            }
            let next_us = self.next_event_us(now_us)?;
            self.slot = self.clock.first_slot(next_us).max(self.slot + 1);
        }
        None
    }

    /// Gives the slot to `resource`: a packet of `bytes` leaves.
    pub(crate) fn send(&mut self, resource: usize, bytes: u64) {
        let body_bytes = self.page.resources[resource].bytes;
        let frame = StreamFrame {
            time_us: self.clock.arrival_us(self.slot),
            stream: self.streams[resource],
            offset: self.sent[resource],
            bytes: bytes.min(body_bytes),
        };
        self.sent[resource] += bytes;
        if self.sent[resource] == self.whole_bytes(resource) {
            self.complete_us[resource] = Some(frame.time_us);
            self.open.retain(|it| *it != resource);
        }
        if let Some(ordered) = &mut self.ordered {
            ordered.left(frame);
        }
        self.down.send(self.clock.time_us(self.slot + 1), frame);
        self.slot += 1;
    }

    /// The resources with unsent bytes at the server, in order of request.
    pub(crate) fn ready(&self) -> Vec<usize> {
        self.open.iter().copied().filter(|it| self.available(*it) > self.sent[*it]).collect()
    }

    /// Bytes of a body that the server has in this slot.
    pub(crate) fn available(&self, id: usize) -> u64 {
        let known = &self.page.resources[id];
        let Some(opened_us) = self.opened_us[id] else { return 0 };
        let since_us = self.now_us() - opened_us;
        if since_us < micros(known.wait_ms) {
            return 0;
        }
        if known.chunks.is_empty() {
            return self.whole_bytes(id);
        }
        known.chunks.iter().filter(|it| micros(it.at_ms) <= since_us).map(|it| it.bytes).sum()
    }

    /// Bytes of a body as sent.
    pub(crate) fn whole_bytes(&self, id: usize) -> u64 {
        self.page.resources[id].bytes.max(1)
    }

    /// The resource of each packet, in the order of sending, if none overtakes another.
    pub(crate) fn order(&self) -> impl Iterator<Item = usize> {
        self.arrived.iter().chain(self.down.in_order()).map(|it| self.resource(it.stream))
    }

    /// The load in the form that engines record.
    pub(crate) fn into_load(mut self, name: &str) -> Load {
        let mut transfers = Vec::new();
        for &id in &self.requests {
            let bytes = Some(self.page.resources[id].bytes);
            transfers.push(Transfer {
                stream: self.streams[id],
                url: self.page.url(id),
                requested_us: self.requested_us[id].unwrap_or_default(),
                body_offset: 0,
                body_bytes: bytes,
                stream_bytes: bytes,
                cancel: None,
            });
        }
        let completed = self.playback.is_done();
        let renders = vec![self.renders()];
        let (name, frames) = (name.to_owned(), self.arrived);
        let timeline = Timeline { name, transfers, frames, renders, ..Timeline::default() };
        Load { completed, timeline }
    }

    /// When the page was shown. Call it once the load is over.
    pub(crate) fn renders(&mut self) -> RenderTimes {
        render_times(&mut self.playback)
    }

    pub(super) fn stream(&self, resource: usize) -> u64 {
        self.streams[resource]
    }

    pub(super) fn resource(&self, stream: u64) -> usize {
        self.requests[usize::try_from(stream / 4).unwrap_or(usize::MAX)]
    }

    fn now_us(&self) -> u64 {
        self.clock.time_us(self.slot)
    }

    /// Lets packets arrive, timers fire and requests leave until `now_us`, in order of time.
    fn client_until(&mut self, now_us: u64) {
        while let Some(next_us) = self.next_client_us()
            && next_us <= now_us
        {
            if let Some(frame) = self.down.arrival(next_us) {
                self.deliver(frame);
            }
            for resource in self.playback.due(next_us) {
                let hold_us = if self.requests.is_empty() { 0 } else { self.hold_us };
                self.request(resource, next_us, self.clock.up_us + hold_us);
            }
        }
    }

    /// A request leaves, and reaches the server `after_us` later.
    pub(super) fn request(&mut self, resource: usize, now_us: u64, after_us: u64) {
        self.requested_us[resource] = Some(now_us);
        self.streams[resource] = self.requests.len() as u64 * 4;
        self.requests.push(resource);
        self.up.push_back((now_us + after_us, resource));
    }

    /// Delivers a packet with the packets that waited for it, or lets it wait.
    fn deliver(&mut self, frame: StreamFrame) {
        let Some(ordered) = &mut self.ordered else { return self.arrive(frame) };
        for frame in ordered.arrived(frame) {
            self.arrive(frame);
        }
    }

    fn arrive(&mut self, frame: StreamFrame) {
        let id = self.resource(frame.stream);
        self.receive(id, frame.offset, frame.bytes);
        self.playback.arrived(id, self.received[id], frame.time_us);
        if self.received[id] == self.page.resources[id].bytes {
            self.playback.completed(id, frame.time_us);
        }
        self.arrived.push(frame);
    }

    fn receive(&mut self, id: usize, offset: u64, bytes: u64) {
        if offset != self.received[id] {
            self.behind.insert((id, offset), offset + bytes);
            return;
        }
        self.received[id] += bytes;
        while let Some(end) = self.behind.remove(&(id, self.received[id])) {
            self.received[id] = end;
        }
    }

    /// Returns the requests that have reached the server.
    pub(super) fn open_requests(&mut self, now_us: u64) -> Vec<usize> {
        let mut opened = Vec::new();
        while let Some(&(at_us, resource)) = self.up.front()
            && at_us <= now_us
        {
            self.up.pop_front();
            self.opened_us[resource] = Some(now_us);
            opened.push(resource);
        }
        self.open.extend(&opened);
        opened
    }

    fn next_client_us(&self) -> Option<u64> {
        self.down.next_us().into_iter().chain(self.playback.next_timeout_us()).min()
    }

    fn next_event_us(&self, now_us: u64) -> Option<u64> {
        let request_us = self.up.front().map(|it| it.0);
        let pieces = self.open.iter().flat_map(|it| self.pieces_us(*it));
        let piece_us = pieces.filter(|it| *it > now_us).min();
        self.next_client_us().into_iter().chain(request_us).chain(piece_us).min()
    }

    /// When the server gets more of a body.
    fn pieces_us(&self, id: usize) -> impl Iterator<Item = u64> {
        let known = &self.page.resources[id];
        let opened_us = self.opened_us[id].unwrap_or_default();
        let chunks = known.chunks.iter().map(|it| micros(it.at_ms));
        chunks.chain([micros(known.wait_ms)]).map(move |it| opened_us + it)
    }
}
