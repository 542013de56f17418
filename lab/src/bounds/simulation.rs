//! The engine `ideal` without scheduler and send buffer, for searches: it stops in each slot in which
//! there is something to choose, and can be copied there.

use super::task::Task;
use crate::ideal::micros;
use crate::network::PACKET_BYTES;
use crate::{Load, resource_url};
use client::playback::Playback;
use qlog_tools::timeline::{StreamFrame, Timeline, Transfer};
use std::collections::VecDeque;

/// A page load, at the beginning of a slot.
#[derive(Clone)]
pub(super) struct Simulation<'a> {
    task: &'a Task,
    playback: Playback,
    /// The next slot.
    pub(super) slot: u64,
    /// Requests on their way: when they arrive, and the resource.
    up: VecDeque<(u64, usize)>,
    /// Packets that have arrived.
    arrived: usize,
    /// Resources that the server was asked for and has not sent whole, in order of request.
    open: Vec<usize>,
    /// Requests, in order.
    requests: Vec<usize>,
    packets: Vec<Packet>,
    received: Vec<u64>,
    pub(super) requested_us: Vec<Option<u64>>,
    pub(super) opened_us: Vec<Option<u64>>,
    pub(super) sent: Vec<u64>,
    /// When the last packet arrives, from the slot on in which it is sent.
    pub(super) complete_us: Vec<Option<u64>>,
}

#[derive(Clone, Copy)]
struct Packet {
    arrival_us: u64,
    resource: usize,
    offset: u64,
    bytes: u64,
}

impl<'a> Simulation<'a> {
    pub(super) fn new(task: &'a Task) -> Self {
        let mut playback = Playback::new(task.page.clone());
        playback.start(0);
        let count = task.len();
        Self {
            task,
            playback,
            slot: 0,
            up: VecDeque::new(),
            arrived: 0,
            open: Vec::new(),
            requests: Vec::new(),
            packets: Vec::new(),
            received: vec![0; count],
            requested_us: vec![None; count],
            opened_us: vec![None; count],
            sent: vec![0; count],
            complete_us: vec![None; count],
        }
    }

    /// Lives until the next slot in which something can be sent, and says what; nothing: it is over.
    pub(super) fn ready(&mut self) -> Vec<usize> {
        loop {
            let now_us = self.task.clock.time_us(self.slot);
            self.client_until(now_us);
            while let Some((_, resource)) = self.up.front().copied().filter(|it| it.0 <= now_us) {
                self.up.pop_front();
                self.opened_us[resource] = Some(now_us);
                self.open.push(resource);
            }
            let there = |id: &usize| self.available(*id, now_us) > self.sent[*id];
            let ready: Vec<usize> = self.open.iter().copied().filter(there).collect();
            if !ready.is_empty() {
                return ready;
            }
            let Some(next_us) = self.next_event_us(now_us) else { return ready };
            self.slot = self.task.clock.first_slot(next_us).max(self.slot + 1);
        }
    }

    /// Gives the slot to `resource`, one that is ready.
    pub(super) fn send(&mut self, resource: usize) {
        let now_us = self.task.clock.time_us(self.slot);
        let there = self.available(resource, now_us) - self.sent[resource];
        let taken = PACKET_BYTES.min(there);
        let arrival_us = self.task.clock.arrival_us(self.slot);
        let body = self.task.page.resources[resource].bytes;
        self.packets.push(Packet {
            arrival_us,
            resource,
            offset: self.sent[resource],
            bytes: taken.min(body),
        });
        self.sent[resource] += taken;
        if self.sent[resource] == self.task.bytes[resource] {
            self.complete_us[resource] = Some(arrival_us);
            self.open.retain(|it| *it != resource);
        }
        self.slot += 1;
    }

    /// Lives to the end; `pick` chooses among those that are ready.
    pub(super) fn finish(mut self, mut pick: impl FnMut(&Self, &[usize]) -> usize) -> Self {
        loop {
            let ready = self.ready();
            if ready.is_empty() {
                return self;
            }
            let chosen = pick(&self, &ready);
            self.send(chosen);
        }
    }

    /// The sum over resources of weight times completion, in byte-microseconds; none: something that
    /// weighs is not on its way yet.
    pub(super) fn cost(&self) -> Option<u128> {
        let mut cost = 0;
        for (weight, complete_us) in self.task.weights.iter().zip(&self.complete_us) {
            if *weight > 0 {
                cost += u128::from(*weight) * u128::from((*complete_us)?);
            }
        }
        Some(cost)
    }

    /// The resource of each packet.
    pub(super) fn order(&self) -> impl Iterator<Item = usize> {
        self.packets.iter().map(|it| it.resource)
    }

    /// The load as the engine records it.
    pub(super) fn into_load(self, name: &str) -> Load {
        let page = &self.task.page;
        let mut stream_of = vec![0; self.task.len()];
        let mut transfers = Vec::with_capacity(self.requests.len());
        for (stream, &id) in (0..).step_by(4).zip(&self.requests) {
            stream_of[id] = stream;
            transfers.push(Transfer {
                stream,
                url: resource_url(page, id),
                requested_us: self.requested_us[id].unwrap_or_default(),
                body_offset: 0,
                body_bytes: Some(page.resources[id].bytes),
                stream_bytes: Some(page.resources[id].bytes),
            });
        }
        let frame = |it: &Packet| StreamFrame {
            time_us: it.arrival_us,
            stream: stream_of[it.resource],
            offset: it.offset,
            bytes: it.bytes,
        };
        let frames = self.packets.iter().map(frame).collect();
        let timeline = Timeline { name: name.to_owned(), transfers, frames };
        Load { completed: self.playback.is_done(), timeline }
    }

    /// Packets arrive, timers fire, requests leave, in order of time.
    fn client_until(&mut self, now_us: u64) {
        while let Some(next_us) = self.next_client_us().filter(|it| *it <= now_us) {
            if let Some(packet) = self.packets.get(self.arrived).copied()
                && packet.arrival_us == next_us
            {
                self.arrived += 1;
                self.arrive(packet);
            }
            for resource in self.playback.due(next_us) {
                self.requested_us[resource] = Some(next_us);
                self.requests.push(resource);
                self.up.push_back((next_us + self.task.clock.up_us, resource));
            }
        }
    }

    fn arrive(&mut self, packet: Packet) {
        let id = packet.resource;
        self.received[id] += packet.bytes;
        self.playback.arrived(id, self.received[id], packet.arrival_us);
        if self.received[id] == self.task.page.resources[id].bytes {
            self.playback.completed(id, packet.arrival_us);
        }
    }

    fn next_client_us(&self) -> Option<u64> {
        let arrival_us = self.packets.get(self.arrived).map(|it| it.arrival_us);
        arrival_us.into_iter().chain(self.playback.next_timeout_us()).min()
    }

    fn next_event_us(&self, now_us: u64) -> Option<u64> {
        let request_us = self.up.front().map(|it| it.0);
        let pieces = self.open.iter().flat_map(|it| self.pieces_us(*it));
        let piece_us = pieces.filter(|it| *it > now_us).min();
        self.next_client_us().into_iter().chain(request_us).chain(piece_us).min()
    }

    /// When the server gets more of a body.
    fn pieces_us(&self, id: usize) -> impl Iterator<Item = u64> {
        let known = &self.task.page.resources[id];
        let opened_us = self.opened_us[id].unwrap_or_default();
        let chunks = known.chunks.iter().map(|it| micros(it.at_ms));
        chunks.chain([micros(known.wait_ms)]).map(move |it| opened_us + it)
    }

    /// Bytes of a body that the server has.
    fn available(&self, id: usize, now_us: u64) -> u64 {
        let known = &self.task.page.resources[id];
        let since_us = now_us - self.opened_us[id].unwrap_or(now_us);
        if since_us < micros(known.wait_ms) {
            return 0;
        }
        if known.chunks.is_empty() {
            return self.task.bytes[id];
        }
        known.chunks.iter().filter(|it| micros(it.at_ms) <= since_us).map(|it| it.bytes).sum()
    }
}
