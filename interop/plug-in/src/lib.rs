//! The plug-in of another server: [`Ordered`] keeps the bodies of a connection and says which piece goes next; [`over_h3`] puts it into
//! h3 over quinn.
//!
//! The order holds as far as the transport takes pieces late. Give it a small send buffer: quinn's `TransportConfig::send_window`.

pub mod over_h3;

use bytes::Bytes;
use schedulers::{Resource, Scheduler, Scheme, StreamId};
use std::collections::BTreeMap;

/// The bodies of one connection, in the order of a scheme.
pub struct Ordered {
    scheduler: Scheduler,
    bodies: BTreeMap<StreamId, Bytes>,
}

/// The bytes that go next.
pub struct Piece {
    /// The response that they belong to.
    pub stream: StreamId,
    /// At least one.
    pub bytes: Bytes,
    /// The response ends with them.
    pub is_last: bool,
}

impl Ordered {
    /// No bodies yet.
    pub fn new(scheme: &Scheme) -> Self {
        Self { scheduler: Scheduler::new(scheme), bodies: BTreeMap::new() }
    }

    /// Adds a response whose body is not empty, with the facts that the server knows about it.
    pub fn open(&mut self, stream: StreamId, resource: &Resource, body: Bytes) {
        self.scheduler.open(stream, resource);
        self.scheduler.set_ready(stream, true);
        self.bodies.insert(stream, body);
    }

    /// How many responses have bytes left.
    pub fn waiting(&self) -> usize {
        self.bodies.len()
    }

    /// Takes the next piece, of at most `most_bytes`. `None`: all bodies have gone.
    pub fn next(&mut self, most_bytes: usize) -> Option<Piece> {
        let stream = self.scheduler.pick()?;
        let body = self.bodies.get_mut(&stream)?;
        let bytes = body.split_to(most_bytes.min(body.len()));
        let is_last = body.is_empty();
        self.scheduler.sent(stream, bytes.len() as u64);
        if is_last {
            self.scheduler.set_ready(stream, false);
            self.scheduler.close(stream);
            self.bodies.remove(&stream);
        }
        Some(Piece { stream, bytes, is_last })
    }
}
