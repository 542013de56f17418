//! A load on the engine `ideal`, driven by orders instead of a scheduler.

use super::task::Task;
use crate::ideal::Simulation;
use crate::network::PACKET_BYTES;

impl Simulation {
    /// A load in which nothing was requested yet.
    pub(super) fn of_task(task: &Task) -> Self {
        Self::new(&task.page, task.clock)
    }

    /// Continues to the next slot in which something can be sent. Returns the resources that can be sent; empty
    /// when the load is over.
    pub(super) fn advance(&mut self) -> Vec<usize> {
        self.next(|it, _| Some(it.ready()).filter(|it| !it.is_empty())).unwrap_or_default()
    }

    /// Gives the slot to `resource`, which must be ready.
    pub(super) fn send_packet(&mut self, resource: usize) {
        self.send(resource, PACKET_BYTES.min(self.available(resource) - self.sent[resource]));
    }

    /// Continues to the end; `pick` chooses among the ready resources.
    pub(super) fn finish(mut self, mut pick: impl FnMut(&Self, &[usize]) -> usize) -> Self {
        while let Some(chosen) = self.next(|search, _| {
            let ready = search.ready();
            (!ready.is_empty()).then(|| pick(search, &ready))
        }) {
            self.send_packet(chosen);
        }
        self
    }

    /// The sum over resources of weight times completion, in byte-microseconds. `None` if a resource with weight
    /// has not been sent completely.
    pub(super) fn cost(&self, task: &Task) -> Option<u128> {
        let mut cost = 0;
        for (weight, complete_us) in task.weights.iter().zip(&self.complete_us) {
            if *weight > 0 {
                cost += u128::from(*weight) * u128::from((*complete_us)?);
            }
        }
        Some(cost)
    }
}
