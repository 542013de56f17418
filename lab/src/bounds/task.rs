//! The data of a page and a network for the searches: sizes, slots, and dependencies.

use crate::ideal::{Clock, micros};
use crate::limits::PAIRS_MAX;
use crate::network::{Network, PACKET_BYTES};
use client::playback::{Wait, waits};
use corpus::Page;
use corpus::page::{Event, PageResource};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) struct Task {
    pub(super) page: Arc<Page>,
    pub(super) clock: Clock,
    /// Bytes that count in the index: body bytes above the fold.
    pub(super) weights: Vec<u64>,
    /// Bytes that the link carries: one for an empty body, because its packet takes a slot.
    pub(super) bytes: Vec<u64>,
    /// All conditions for the discovery of each resource.
    pub(super) waits: Vec<Vec<Wait>>,
    /// The resources of each turn on the main thread, in the order of turns.
    pub(super) turns: Vec<Vec<usize>>,
    /// For each resource, (ancestor, bytes of it) that arrive before its discovery.
    pub(super) needs: Vec<Vec<(usize, u64)>>,
    /// For each resource, the number of bytes from its start that are above the fold or lead there.
    pub(super) useful_bytes: Vec<u64>,
}

impl Task {
    /// On the engine `ideal`.
    pub(super) fn new(page: &Arc<Page>, network: &Network) -> Self {
        Self::in_slots(page, network, PACKET_BYTES)
    }

    /// On a link that carries `packet_bytes` of one body in each slot.
    pub(super) fn in_slots(page: &Arc<Page>, network: &Network, packet_bytes: u64) -> Self {
        let mut turns: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for resource in &page.resources {
            if let Some(turn) = resource.turn() {
                turns.entry(turn).or_default().push(resource.id);
            }
        }
        let resources = page.resources.iter();
        let mut task = Self {
            page: Arc::clone(page),
            clock: Clock::new(network, packet_bytes),
            weights: resources.clone().map(|it| if it.above_fold { it.bytes } else { 0 }).collect(),
            bytes: resources.clone().map(|it| it.bytes.max(1)).collect(),
            waits: resources.map(|it| waits(page, it)).collect(),
            turns: turns.into_values().collect(),
            needs: Vec::new(),
            useful_bytes: Vec::new(),
        };
        task.needs = task.all_needs();
        task.useful_bytes = task.all_useful_bytes();
        task
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn execution_us(&self, id: usize) -> u64 {
        let resource = &self.page.resources[id];
        if resource.is_executed() { micros(resource.exec_ms) } else { 0 }
    }

    /// (resource, bytes of it) that must have arrived before `wait` can be met, except the needs of
    /// those resources themselves.
    fn direct_needs(&self, wait: Wait) -> Vec<(usize, u64)> {
        if let Wait::Bytes(id, bytes) = wait {
            return vec![(id, bytes.min(self.bytes[id]))];
        }
        let mut needed = Vec::new();
        let executed = self.page.resources.iter().filter(|it| wait.is_for_execution_of(it));
        for resource in executed {
            needed.push(resource.id);
            let turn = resource.turn().filter(|_| resource.is_executed());
            let with_turns = self.turns.iter().flatten().copied();
            needed.extend(with_turns.filter(|it| self.page.resources[*it].turn() < turn));
        }
        needed.into_iter().map(|it| (it, self.bytes[it])).collect()
    }

    /// Repeats passes until nothing is added; every intermediate result is a valid set of needs.
    fn all_needs(&self) -> Vec<Vec<(usize, u64)>> {
        let count = self.len();
        if count > PAIRS_MAX {
            return vec![Vec::new(); count];
        }
        let mut direct: Vec<Vec<(usize, u64)>> = Vec::new();
        for waits in &self.waits {
            direct.push(waits.iter().flat_map(|it| self.direct_needs(*it)).collect());
        }
        let mut table = vec![vec![0_u64; count]; count];
        for _ in 0..count {
            let mut changed = false;
            for id in 0..count {
                let mut row = std::mem::take(&mut table[id]);
                for &(ancestor, bytes) in &direct[id] {
                    for (mine, theirs) in row.iter_mut().zip(&table[ancestor]) {
                        changed |= *mine < *theirs;
                        *mine = (*mine).max(*theirs);
                    }
                    changed |= row[ancestor] < bytes;
                    row[ancestor] = row[ancestor].max(bytes);
                }
                table[id] = row;
            }
            if !changed {
                break;
            }
        }
        let rows = table.into_iter().map(|row| row.into_iter().enumerate());
        rows.map(|row| row.filter(|(_, bytes)| *bytes > 0).collect()).collect()
    }

    fn all_useful_bytes(&self) -> Vec<u64> {
        if self.len() > PAIRS_MAX {
            return self.bytes.clone();
        }
        let mut useful = vec![0; self.len()];
        for (id, &weight) in self.weights.iter().enumerate() {
            if weight == 0 {
                continue;
            }
            useful[id] = self.bytes[id];
            for &(ancestor, bytes) in &self.needs[id] {
                useful[ancestor] = useful[ancestor].max(bytes);
            }
        }
        useful
    }

    /// Whether an earlier arrival can never delay anything.
    ///
    /// It can if scripts compete for the main thread without a fixed order, if the load event waits for
    /// resources that happen to be discovered before it, or if a body arrives in pieces that do not
    /// fill packets: sent early, it takes more of them.
    pub(super) fn is_monotone(&self) -> bool {
        let resources = &self.page.resources;
        let on_load = resources.iter().any(|it| it.trigger.on == Event::Load);
        !on_load && !resources.iter().any(is_ragged) && self.main_thread_is_ordered()
    }

    fn main_thread_is_ordered(&self) -> bool {
        let executed = self.page.resources.iter().filter(|it| it.is_executed());
        let mut without_turn = executed.clone().filter(|it| it.turn().is_none());
        executed.clone().all(|it| micros(it.exec_ms) == 0)
            || self.turns.iter().all(|it| it.len() == 1)
                && without_turn.all(|it| micros(it.exec_ms) == 0 && !self.is_awaited(it))
    }

    fn is_awaited(&self, resource: &PageResource) -> bool {
        self.waits.iter().flatten().any(|it| it.is_for_execution_of(resource))
    }
}

/// Whether a piece other than the last ends within a packet.
fn is_ragged(resource: &PageResource) -> bool {
    let mut end = 0;
    let inner = resource.chunks.split_last().map_or(&[][..], |(_, inner)| inner);
    inner.iter().any(|chunk| {
        end += chunk.bytes;
        end % PACKET_BYTES != 0
    })
}
