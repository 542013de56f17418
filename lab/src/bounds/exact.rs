//! Branch and bound over the owner of each packet.

use super::lower::least_cost;
use super::task::Task;
use super::{Side, segments};
use crate::ideal::{Simulation, micros};
use crate::network::PACKET_BYTES;

/// Above this cost (byte-microseconds), floating point cannot distinguish neighbouring values, so nothing
/// is proven.
const COST_MAX: f64 = 1e15;

/// Searches an order that is better for `side` than `cost`; examines at most `nodes` loads.
///
/// Returns the best order found, if any is better, and whether no better one exists.
pub(super) fn search(
    task: &Task,
    side: Side,
    cost: u128,
    nodes: u64,
) -> (Option<(u128, Vec<usize>)>, bool) {
    let mut search = Search { task, side, by_segments: None, cost, found: None };
    if side == Side::Best && task.is_monotone() {
        search.by_segments = Some(segments::ends(task, side));
    }
    let mut open = vec![Node { load: Simulation::of_task(task), last: None }];
    for _ in 0..nodes {
        let Some(node) = open.pop() else {
            return (search.found, (search.cost as f64) < COST_MAX);
        };
        search.visit(node, &mut open);
    }
    (search.found, open.is_empty() && (search.cost as f64) < COST_MAX)
}

struct Search<'a> {
    task: &'a Task,
    side: Side,
    /// Where the segments of each response end: a response that has begun a segment finishes it, unless
    /// another becomes ready.
    by_segments: Option<Vec<Vec<u64>>>,
    cost: u128,
    found: Option<(u128, Vec<usize>)>,
}

struct Node {
    load: Simulation,
    /// The resource that was sent last, and the resources that were ready then.
    last: Option<(usize, Vec<usize>)>,
}

impl Search<'_> {
    fn visit(&mut self, node: Node, open: &mut Vec<Node>) {
        let Node { mut load, last } = node;
        let ready = load.advance();
        if let Some(cost) = load.cost(self.task) {
            if self.side.prefers(cost, self.cost) {
                self.cost = cost;
                let end = load.finish(|_, ready| ready[0]);
                self.found = Some((cost, end.order().collect()));
            }
            return;
        }
        if ready.is_empty() || self.is_hopeless(&load) {
            return;
        }
        for chosen in self.choices(&load, &ready, last.as_ref()).into_iter().rev() {
            let mut next = load.clone();
            next.send_packet(chosen);
            open.push(Node { load: next, last: Some((chosen, ready.clone())) });
        }
    }

    fn is_hopeless(&self, load: &Simulation) -> bool {
        match self.side {
            // Costs are whole numbers: an order that does not save a byte-microsecond saves nothing.
            Side::Best => least_cost(self.task, load) > self.cost as f64 - 0.5,
            Side::Worst => most_cost(self.task, load) <= self.cost as f64,
        }
    }

    /// The resources to try, the most promising first.
    fn choices(
        &self,
        load: &Simulation,
        ready: &[usize],
        last: Option<&(usize, Vec<usize>)>,
    ) -> Vec<usize> {
        let Some(ends) = &self.by_segments else { return ready.to_vec() };
        if let Some((id, were_ready)) = last
            && were_ready == ready
            && ends[*id].binary_search(&load.sent[*id]).is_err()
        {
            return vec![*id];
        }
        let mut choices = ready.to_vec();
        choices.retain(|it| load.sent[*it] < self.task.useful_bytes[*it]);
        // The order of bytes without weight makes no difference.
        if choices.is_empty() { vec![ready[0]] } else { choices }
    }
}

/// An upper bound on the cost of any work-conserving way to continue `load`.
///
/// The link is idle only during a request, a response's last packet, a wait, a delay or an execution, so
/// their sum bounds the idle time; and each response ends in its own slot.
fn most_cost(task: &Task, load: &Simulation) -> f64 {
    let (mut idle_us, mut slots) = (0_u64, 0);
    let mut weights = Vec::new();
    let mut known = 0.0;
    for (id, resource) in task.page.resources.iter().enumerate() {
        idle_us += task.clock.down_us + task.execution_us(id);
        if let Some(complete_us) = load.complete_us[id] {
            known += task.weights[id] as f64 * complete_us as f64;
            continue;
        }
        let last_chunk_us = resource.chunks.last().map_or(0, |it| micros(it.at_ms));
        idle_us += task.clock.up_us + micros(resource.trigger.delay_ms);
        idle_us += micros(resource.wait_ms) + last_chunk_us;
        let chunks = resource.chunks.len() as u64;
        // Rounding up to slots, and partly filled packets.
        slots += (task.bytes[id] - load.sent[id]).div_ceil(PACKET_BYTES) + 2 * chunks + 3;
        weights.push(task.weights[id]);
    }
    weights.retain(|it| *it > 0);
    weights.sort_unstable();
    let idle_slots = task.clock.first_slot(idle_us) + 1;
    let mut last = load.slot + slots + idle_slots;
    let mut cost = known;
    for weight in weights.into_iter().rev() {
        cost += weight as f64 * task.clock.arrival_us(last) as f64;
        last = last.saturating_sub(1);
    }
    cost
}
