//! Every order of a small page: the engine written again, slot by slot, as plainly as possible.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are positive and small"
)]

use client::playback::Playback;
use corpus::Page;
use lab::network::Network;
use std::sync::Arc;

/// The least and the most ATF index of all orders.
#[derive(Debug)]
pub(super) struct Range {
    pub(super) least_ms: f64,
    pub(super) most_ms: f64,
    pub(super) orders: u64,
}

/// Looks at all orders that leave at most `empty_slots` slots empty although something is ready.
pub(super) fn brute_force(page: &Arc<Page>, network: &Network, empty_slots: u32) -> Range {
    let count = page.resources.len();
    let mut playback = Playback::new(Arc::clone(page));
    playback.start(0);
    let load = PartialLoad {
        page,
        tick_us: network.tick_us(),
        up_us: us(network.up.delay_ms),
        down_us: us(network.down.delay_ms),
        playback,
        slot: 0,
        requested_us: vec![None; count],
        opened_us: vec![None; count],
        sent: vec![0; count],
        on_their_way: Vec::new(),
        complete_us: vec![None; count],
    };
    let mut range = Range { least_ms: f64::MAX, most_ms: 0.0, orders: 0 };
    load.explore(empty_slots, &mut range);
    range
}

#[derive(Clone)]
struct PartialLoad<'a> {
    page: &'a Arc<Page>,
    tick_us: f64,
    up_us: u64,
    down_us: u64,
    playback: Playback,
    slot: u64,
    requested_us: Vec<Option<u64>>,
    opened_us: Vec<Option<u64>>,
    /// Bytes of each body; an empty body takes one.
    sent: Vec<u64>,
    /// Packets: (arrival, resource, bytes of it sent with this packet and before).
    on_their_way: Vec<(u64, usize, u64)>,
    complete_us: Vec<Option<u64>>,
}

impl PartialLoad<'_> {
    fn explore(mut self, empty_slots: u32, range: &mut Range) {
        loop {
            self.client();
            if self.playback.is_done() {
                return self.count(range);
            }
            let ready = self.ready();
            for &id in &ready {
                let mut next = self.clone();
                next.send(id);
                next.slot += 1;
                next.explore(empty_slots, range);
            }
            self.slot += 1;
            if !ready.is_empty() {
                if empty_slots > 0 {
                    self.explore(empty_slots - 1, range);
                }
                return;
            }
            assert!(self.slot < 10_000, "the page comes to an end");
        }
    }

    fn count(&self, range: &mut Range) {
        let above_fold = || self.page.resources.iter().filter(|it| it.above_fold);
        let bytes: u64 = above_fold().map(|it| it.bytes).sum();
        let weighted: f64 = above_fold()
            .map(|it| it.bytes as f64 * self.complete_us[it.id].expect("complete") as f64)
            .sum();
        let index_ms = weighted / bytes as f64 / 1000.0;
        range.least_ms = range.least_ms.min(index_ms);
        range.most_ms = range.most_ms.max(index_ms);
        range.orders += 1;
    }

    /// All that happens at the client until the slot begins, microsecond by microsecond in order.
    fn client(&mut self) {
        let now_us = self.time_us(self.slot);
        loop {
            let arrival_us = self.on_their_way.first().map(|it| it.0);
            let next_us = arrival_us.into_iter().chain(self.playback.next_timeout_us()).min();
            let Some(next_us) = next_us.filter(|it| *it <= now_us) else { return };
            if arrival_us == Some(next_us) {
                let (_, id, bytes) = self.on_their_way.remove(0);
                let body = self.page.resources[id].bytes;
                self.playback.arrived(id, bytes.min(body), next_us);
                if bytes >= body {
                    self.playback.completed(id, next_us);
                    self.complete_us[id] = Some(next_us);
                }
            }
            for id in self.playback.due(next_us) {
                self.requested_us[id] = Some(next_us);
            }
        }
    }

    fn ready(&mut self) -> Vec<usize> {
        let now_us = self.time_us(self.slot);
        for id in 0..self.sent.len() {
            if self.requested_us[id].is_some_and(|it| it + self.up_us <= now_us) {
                self.opened_us[id].get_or_insert(now_us);
            }
        }
        (0..self.sent.len()).filter(|id| self.there(*id) > self.sent[*id]).collect()
    }

    fn there(&self, id: usize) -> u64 {
        let resource = &self.page.resources[id];
        let Some(opened_us) = self.opened_us[id] else { return 0 };
        let since_us = self.time_us(self.slot) - opened_us;
        if since_us < us(resource.wait_ms) {
            return 0;
        }
        if resource.chunks.is_empty() {
            return resource.bytes.max(1);
        }
        resource.chunks.iter().filter(|it| us(it.at_ms) <= since_us).map(|it| it.bytes).sum()
    }

    fn send(&mut self, id: usize) {
        self.sent[id] = self.there(id).min(self.sent[id] + 1400);
        let arrival_us = self.time_us(self.slot + 1) + self.down_us;
        self.on_their_way.push((arrival_us, id, self.sent[id]));
    }

    fn time_us(&self, slot: u64) -> u64 {
        (slot as f64 * self.tick_us).round() as u64
    }
}

fn us(ms: f64) -> u64 {
    (ms * 1000.0).round() as u64
}
