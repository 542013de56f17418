//! The engine `ideal`: playback, scheduler and send buffer, one packet per slot, no transport, virtual
//! time. It is exact and repeatable. Its links have only a rate, a delay and jitter.

mod clock;
mod ordered;
mod simulation;
#[cfg(test)]
mod tests;
mod way_down;

use crate::network::{Network, PACKET_BYTES, rounded};
use crate::{DeliveryOrder, Load, Metadata};
pub(crate) use clock::{Clock, micros};
use corpus::Page;
use ordered::Ordered;
use schedulers::{Scheduler, Scheme, StreamId};
use serde::{Deserialize, Serialize};
use server::SendBuffer;
pub(crate) use simulation::Simulation;
use std::collections::BTreeSet;
use std::sync::Arc;
use way_down::WayDown;

/// How a page is loaded, besides its scheme and network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Bytes taken from the scheduler before they are sent.
    pub send_buffer_bytes: u64,
    /// The model of the send buffer.
    pub send_buffer_model: SendBufferModel,
    /// The scheme's facts about resources.
    pub metadata: Metadata,
    /// The order in which data is delivered.
    pub delivery_order: DeliveryOrder,
    /// Determines jitter, if the network has it.
    pub seed: u64,
}

/// The model of a send buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SendBufferModel {
    /// Bytes between scheduler and transport, first in, first out.
    #[default]
    Fifo,
    /// Delays every request but the document's by the time that a full buffer takes to drain at the link's
    /// rate. The paper's experiments probably emulated a buffer like this. Only on engine `ideal`.
    Delay,
}

/// Loads `page` once.
pub fn load(page: &Arc<Page>, scheme: &Scheme, network: &Network, conditions: Conditions) -> Load {
    let mut simulation = Simulation::new(page, Clock::new(network, PACKET_BYTES));
    simulation.down = WayDown::new(&network.down, conditions.seed);
    if conditions.delivery_order == DeliveryOrder::Connection {
        simulation.ordered = Some(Ordered::default());
    }
    let mut server = Server::new(page, scheme, conditions.metadata);
    match conditions.send_buffer_model {
        SendBufferModel::Fifo => server.buffer_limit_bytes = conditions.send_buffer_bytes,
        SendBufferModel::Delay => {
            simulation.hold_us = drain_us(conditions.send_buffer_bytes, network);
        }
    }
    while let Some((resource, bytes)) = simulation.next(|it, opened| server.pick(it, opened)) {
        simulation.send(resource, bytes);
    }
    simulation.into_load(&scheme.name)
}

/// The server of a load: its scheduler, and a buffer behind it.
struct Server<'a> {
    page: &'a Page,
    metadata: Metadata,
    scheduler: Scheduler,
    buffer: SendBuffer,
    buffer_limit_bytes: u64,
    /// Bytes taken from the scheduler, by resource.
    committed: Vec<u64>,
    /// Responses that have nothing to send now but will have later.
    waiting: BTreeSet<StreamId>,
}

impl<'a> Server<'a> {
    fn new(page: &'a Page, scheme: &Scheme, metadata: Metadata) -> Self {
        Self {
            page,
            metadata,
            scheduler: Scheduler::new(scheme),
            buffer: SendBuffer::default(),
            buffer_limit_bytes: 0,
            committed: vec![0; page.resources.len()],
            waiting: BTreeSet::new(),
        }
    }

    /// Opens the requested responses, and picks the packet of a slot: its resource and bytes.
    fn pick(&mut self, load: &Simulation, opened: &[usize]) -> Option<(usize, u64)> {
        for &resource in opened {
            let stream = StreamId(load.stream(resource));
            let known = self.metadata.of(self.page.resources[resource].for_scheduler());
            self.scheduler.open(stream, &known);
            self.waiting.insert(stream);
        }
        self.update_ready(load);
        self.fill_buffer(load);
        let (stream, run) = self.buffer.front(|_| false)?;
        let bytes = run.min(PACKET_BYTES);
        self.buffer.pop(stream, bytes);
        Some((load.resource(stream.0), bytes))
    }

    /// Wakes responses with new bytes.
    fn update_ready(&mut self, load: &Simulation) {
        let (committed, scheduler) = (&self.committed, &mut self.scheduler);
        self.waiting.retain(|stream| {
            let resource = load.resource(stream.0);
            let is_ready = load.available(resource) > committed[resource];
            if is_ready {
                scheduler.set_ready(*stream, true);
            }
            !is_ready
        });
    }

    fn fill_buffer(&mut self, load: &Simulation) {
        while self.buffer.bytes() == 0
            || self.buffer.bytes() + PACKET_BYTES <= self.buffer_limit_bytes
        {
            let Some(stream) = self.scheduler.pick() else { return };
            let resource = load.resource(stream.0);
            let available = load.available(resource);
            let bytes = PACKET_BYTES.min(available - self.committed[resource]);
            self.committed[resource] += bytes;
            self.buffer.push(stream, bytes);
            self.scheduler.sent(stream, bytes);
            if self.committed[resource] == load.whole_bytes(resource) {
                self.scheduler.close(stream);
            } else if self.committed[resource] == available {
                self.scheduler.set_ready(stream, false);
                self.waiting.insert(stream);
            }
        }
    }
}

/// How long a full buffer takes to drain.
fn drain_us(bytes: u64, network: &Network) -> u64 {
    rounded(bytes as f64 * 8e6 / network.down.rate.mean())
}
