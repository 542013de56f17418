//! Segments: the parts of a response between bytes that something waits for. An order of segments is a
//! list of priorities: the first ready one in the list always goes.

use super::Side;
use super::task::Task;
use crate::ideal::Simulation;
use crate::network::PACKET_BYTES;
use client::playback::Wait;

/// Where the segments of each response end, in bytes, at the ends of packets.
///
/// To delay things, the last packet of each segment is a separate segment.
pub(super) fn ends(task: &Task, side: Side) -> Vec<Vec<u64>> {
    let mut ends: Vec<Vec<u64>> = task.bytes.iter().map(|it| vec![*it]).collect();
    for wait in task.waits.iter().flatten() {
        if let Wait::Bytes(of, bytes) = *wait {
            ends[of].push(bytes.min(task.bytes[of]));
        }
    }
    for (ends, whole) in ends.iter_mut().zip(&task.bytes) {
        for end in ends.iter_mut() {
            *end = end.div_ceil(PACKET_BYTES).saturating_mul(PACKET_BYTES).min(*whole);
        }
        if side == Side::Worst {
            let befores = ends.iter().map(|it| (it.div_ceil(PACKET_BYTES) - 1) * PACKET_BYTES);
            let befores: Vec<u64> = befores.filter(|it| *it > 0).collect();
            ends.extend(befores);
        }
        ends.sort_unstable();
        ends.dedup();
    }
    ends
}

pub(super) struct Segments {
    ends: Vec<Vec<u64>>,
    first: Vec<usize>,
    pub(super) count: usize,
}

impl Segments {
    pub(super) fn new(task: &Task, side: Side) -> Self {
        let ends = ends(task, side);
        let (mut first, mut count) = (Vec::new(), 0);
        for ends in &ends {
            first.push(count);
            count += ends.len();
        }
        Self { ends, first, count }
    }

    /// The segment of `id` with the byte after `sent`.
    fn at(&self, id: usize, sent: u64) -> usize {
        let within = self.ends[id].partition_point(|it| *it <= sent);
        self.first[id] + within.min(self.ends[id].len() - 1)
    }

    /// The segments in the order in which `order`, one resource per packet, completes them.
    pub(super) fn completed_by(&self, task: &Task, order: &[usize]) -> Vec<usize> {
        let mut sent = vec![0; task.len()];
        let mut list = Vec::with_capacity(self.count);
        for &id in order {
            let before = self.at(id, sent[id]);
            sent[id] = (sent[id] + PACKET_BYTES).min(task.bytes[id]);
            if sent[id] == task.bytes[id] || self.at(id, sent[id]) != before {
                list.push(before);
            }
        }
        let mut listed = vec![false; self.count];
        list.retain(|it| !std::mem::replace(&mut listed[*it], true));
        list.extend((0..self.count).filter(|it| !listed[*it]));
        list
    }

    /// The resource of each packet under a list.
    pub(super) fn run(&self, task: &Task, list: &[usize]) -> Simulation {
        let mut rank = vec![0; self.count];
        for (place, segment) in list.iter().enumerate() {
            rank[*segment] = place;
        }
        Simulation::of_task(task).finish(|load, ready| {
            let first = ready.iter().copied().min_by_key(|it| rank[self.at(*it, load.sent[*it])]);
            first.unwrap_or(ready[0])
        })
    }
}
