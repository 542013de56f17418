//! The engine `ideal`: playback, scheduler and send buffer, one packet a tick, no transport, virtual time.
//! It is exact, and the same from run to run. Of what links do it knows rate, delay and jitter.

mod jitter;
mod ordered;
#[cfg(test)]
mod tests;

use crate::network::{Network, PACKET_BYTES};
use crate::study::SendBufferModel;
use crate::{DeliveryOrder, Load, Metadata, resource_url};
use client::playback::Playback;
use corpus::Page;
use jitter::Jittered;
use ordered::Ordered;
use qlog_tools::timeline::{StreamFrame, Timeline, Transfer};
use schedulers::{Scheduler, Scheme, StreamId};
use server::SendBuffer;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Ticks after which a load is given up: a page of 14 GB.
const TICKS_MAX: u64 = 10_000_000;

/// How a page is loaded, besides its scheme and network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Bytes taken from the scheduler before they leave.
    pub send_buffer_bytes: u64,
    /// What that means.
    pub send_buffer_model: SendBufferModel,
    /// What the scheme knows about resources.
    pub metadata: Metadata,
    /// In which order data is handed up.
    pub delivery_order: DeliveryOrder,
    /// Decides about jitter, where the network has it.
    pub seed: u64,
}

/// Loads `page` once; `seed` decides about jitter, where the network has it.
pub fn load(
    page: &Arc<Page>,
    scheme: &Scheme,
    network: &Network,
    send_buffer_bytes: u64,
    seed: u64,
) -> Load {
    load_under(
        page,
        scheme,
        network,
        Conditions { send_buffer_bytes, seed, ..Conditions::default() },
    )
}

/// Loads `page` once.
pub fn load_under(
    page: &Arc<Page>,
    scheme: &Scheme,
    network: &Network,
    conditions: Conditions,
) -> Load {
    let mut ideal = Ideal::new(page, scheme, network, conditions);
    for tick in 0..TICKS_MAX {
        let now_us = ideal.tick_at_us(tick);
        ideal.client_until(now_us);
        if ideal.is_over() {
            break;
        }
        ideal.server_at(now_us, tick);
    }
    ideal.finish(scheme)
}

/// A page load. A stream's ID is 4 times its place in the order of requests, as in QUIC.
struct Ideal<'a> {
    page: &'a Arc<Page>,
    tick_us: f64,
    up_us: u64,
    down_us: u64,
    /// How much later every request but the document's reaches the server.
    hold_us: u64,
    metadata: Metadata,
    playback: Playback,
    /// Requests on their way: when they arrive, and the resource.
    up: VecDeque<(u64, usize)>,
    /// Packets on their way: when they arrive.
    down: VecDeque<StreamFrame>,
    /// The same, where some overtake others.
    jittered: Option<Jittered>,
    /// What waits for packets that left before it, where data is handed up in that order.
    ordered: Option<Ordered>,
    scheduler: Scheduler,
    buffer: SendBuffer,
    buffer_limit_bytes: u64,
    responses: BTreeMap<StreamId, Response>,
    /// Those of them that have nothing to send now but will have.
    waiting: BTreeSet<StreamId>,
    /// Resources by stream.
    streams: Vec<usize>,
    timeline: Timeline,
}

struct Response {
    resource: usize,
    opened_us: u64,
    committed: u64,
    sent: u64,
    /// Bytes that have arrived without a hole before them.
    received: u64,
    /// What has arrived behind a hole: from where to where.
    behind: BTreeMap<u64, u64>,
}

impl Response {
    fn receive(&mut self, offset: u64, bytes: u64) {
        self.behind.insert(offset, offset + bytes);
        while let Some(end) = self.behind.remove(&self.received) {
            if end == self.received {
                return;
            }
            self.received = end;
        }
    }
}

impl<'a> Ideal<'a> {
    fn new(
        page: &'a Arc<Page>,
        scheme: &Scheme,
        network: &Network,
        conditions: Conditions,
    ) -> Self {
        let mut playback = Playback::new(Arc::clone(page));
        playback.start(0);
        let Conditions { send_buffer_bytes, send_buffer_model, metadata, delivery_order, seed } =
            conditions;
        let (buffer_limit_bytes, hold_us) = match send_buffer_model {
            SendBufferModel::Fifo => (send_buffer_bytes, 0),
            SendBufferModel::Delay => (0, drain_us(send_buffer_bytes, network)),
        };
        Self {
            page,
            tick_us: network.tick_us(),
            up_us: micros(network.up.delay_ms),
            down_us: micros(network.down.delay_ms),
            hold_us,
            metadata,
            playback,
            up: VecDeque::new(),
            down: VecDeque::new(),
            jittered: network.down.jitter.map(|_| Jittered::new(&network.down, seed)),
            ordered: (delivery_order == DeliveryOrder::Connection).then(Ordered::default),
            scheduler: Scheduler::new(scheme),
            buffer: SendBuffer::default(),
            buffer_limit_bytes,
            responses: BTreeMap::new(),
            waiting: BTreeSet::new(),
            streams: Vec::new(),
            timeline: Timeline::default(),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "ticks are positive and bounded"
    )]
    fn tick_at_us(&self, tick: u64) -> u64 {
        (tick as f64 * self.tick_us).round() as u64
    }

    /// Lets the client live until `now_us`: packets arrive, timers fire, requests leave, in order of time.
    fn client_until(&mut self, now_us: u64) {
        loop {
            let arrival = match &self.jittered {
                Some(it) => it.next_us(),
                None => self.down.front().map(|it| it.time_us),
            };
            let timer = self.playback.next_timeout_us();
            let Some(next) = arrival.into_iter().chain(timer).min().filter(|it| *it <= now_us)
            else {
                return;
            };
            if arrival == Some(next)
                && let Some(frame) = self.arrival(next)
            {
                self.deliver(frame);
            }
            for resource in self.playback.due(next) {
                self.request(resource, next);
            }
        }
    }

    fn arrival(&mut self, now_us: u64) -> Option<StreamFrame> {
        match &mut self.jittered {
            Some(it) => it.arrival(now_us),
            None => self.down.pop_front(),
        }
    }

    /// Hands a packet up, or all that waited for it; or lets it wait.
    fn deliver(&mut self, frame: StreamFrame) {
        let Some(ordered) = &mut self.ordered else { return self.arrive(frame) };
        for frame in ordered.arrived(frame) {
            self.arrive(frame);
        }
    }

    fn request(&mut self, resource: usize, now_us: u64) {
        let known = &self.page.resources[resource];
        self.timeline.transfers.push(Transfer {
            stream: self.streams.len() as u64 * 4,
            url: resource_url(self.page, resource),
            requested_us: now_us,
            body_offset: 0,
            body_bytes: Some(known.bytes),
            stream_bytes: Some(known.bytes),
        });
        self.streams.push(resource);
        let hold_us = if self.streams.len() > 1 { self.hold_us } else { 0 };
        self.up.push_back((now_us + self.up_us + hold_us, self.streams.len() - 1));
    }

    fn arrive(&mut self, frame: StreamFrame) {
        let Some(response) = self.responses.get_mut(&StreamId(frame.stream)) else { return };
        response.receive(frame.offset, frame.bytes);
        let (resource, received) = (response.resource, response.received);
        self.playback.arrived(resource, received, frame.time_us);
        if received == self.page.resources[resource].bytes {
            self.playback.completed(resource, frame.time_us);
        }
        self.timeline.frames.push(frame);
    }

    /// The server at one tick: requests arrive, bodies become ready, one packet goes.
    fn server_at(&mut self, now_us: u64, tick: u64) {
        while let Some((_, place)) = self.up.front().copied().filter(|(at, _)| *at <= now_us) {
            self.up.pop_front();
            let (stream, resource) = (StreamId(place as u64 * 4), self.streams[place]);
            let known = self.metadata.of(self.page.resources[resource].for_scheduler());
            self.scheduler.open(stream, &known);
            let response = Response {
                resource,
                opened_us: now_us,
                committed: 0,
                sent: 0,
                received: 0,
                behind: BTreeMap::new(),
            };
            self.responses.insert(stream, response);
            self.waiting.insert(stream);
        }
        self.update_ready(now_us);
        self.fill_buffer(now_us);
        let Some((stream, run)) = self.buffer.front(|_| false) else { return };
        let bytes = run.min(PACKET_BYTES);
        self.buffer.pop(stream, bytes);
        let departs_us = self.tick_at_us(tick + 1);
        let Some(response) = self.responses.get_mut(&stream) else { return };
        let frame = StreamFrame {
            time_us: departs_us + self.down_us,
            stream: stream.0,
            offset: response.sent,
            // An empty body takes a packet too: on the wire its header does.
            bytes: bytes - empty(self.page, response),
        };
        response.sent += bytes;
        if let Some(ordered) = &mut self.ordered {
            ordered.left(frame);
        }
        match &mut self.jittered {
            Some(it) => it.depart(departs_us, frame),
            None => self.down.push_back(frame),
        }
    }

    /// Streams whose server has got more bytes since.
    fn update_ready(&mut self, now_us: u64) {
        let (page, responses, scheduler) = (self.page, &self.responses, &mut self.scheduler);
        self.waiting.retain(|stream| {
            let Some(response) = responses.get(stream) else { return false };
            let is_pending = sendable_bytes(page, response, now_us) > response.committed;
            if is_pending {
                scheduler.set_ready(*stream, true);
            }
            !is_pending
        });
    }

    fn fill_buffer(&mut self, now_us: u64) {
        while self.buffer.bytes() == 0
            || self.buffer.bytes() + PACKET_BYTES <= self.buffer_limit_bytes
        {
            let Some(stream) = self.scheduler.pick() else { return };
            let Some(response) = self.responses.get_mut(&stream) else { return };
            let there = sendable_bytes(self.page, response, now_us);
            let bytes = PACKET_BYTES.min(there - response.committed);
            response.committed += bytes;
            self.buffer.push(stream, bytes);
            self.scheduler.sent(stream, bytes);
            let all = self.page.resources[response.resource].bytes + empty(self.page, response);
            if response.committed == all {
                self.scheduler.close(stream);
            } else if response.committed == there {
                self.scheduler.set_ready(stream, false);
                self.waiting.insert(stream);
            }
        }
    }

    fn is_over(&self) -> bool {
        let arrived =
            self.down.is_empty() && self.jittered.as_ref().is_none_or(|it| it.next_us().is_none());
        let idle = self.up.is_empty() && arrived && self.buffer.bytes() == 0;
        let unsent =
            |it: &Response| it.sent < self.page.resources[it.resource].bytes + empty(self.page, it);
        // Asked last: it goes through all responses.
        let is_waiting = || self.responses.values().any(unsent);
        self.playback.is_done()
            || (idle
                && !is_waiting()
                && self.playback.next_timeout_us().is_none()
                && !self.timeline.transfers.is_empty())
    }

    fn finish(mut self, scheme: &Scheme) -> Load {
        self.timeline.name.clone_from(&scheme.name);
        Load { completed: self.playback.is_done(), timeline: self.timeline }
    }
}

/// How long a full buffer takes to leave.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are positive; beyond u64 it saturates"
)]
fn drain_us(bytes: u64, network: &Network) -> u64 {
    (bytes as f64 * 8e6 / network.down.rate.mean()).round() as u64
}

/// An empty body counts as one byte on its way out.
fn empty(page: &Page, response: &Response) -> u64 {
    u64::from(page.resources[response.resource].bytes == 0)
}

/// Bytes that the server has at `now_us`.
fn sendable_bytes(page: &Page, response: &Response, now_us: u64) -> u64 {
    let known = &page.resources[response.resource];
    let since_us = now_us - response.opened_us;
    if since_us < micros(known.wait_ms) {
        return 0;
    }
    if known.chunks.is_empty() {
        return known.bytes + empty(page, response);
    }
    known.chunks.iter().filter(|it| micros(it.at_ms) <= since_us).map(|it| it.bytes).sum()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be positive and finite"
)]
pub(crate) fn micros(ms: f64) -> u64 {
    (ms * 1000.0).round() as u64
}
