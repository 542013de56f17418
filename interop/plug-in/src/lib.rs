//! The plug-in of another server: [`Ordered`] keeps the bodies of a connection and says which piece goes next; [`over_h3`] puts it into
//! h3 over quinn, and `over_tokio_quiche` into tokio-quiche.
//!
//! The order holds as far as the transport takes pieces late. quinn needs a small send buffer for that: `TransportConfig::send_window`.

pub mod over_h3;
#[cfg(feature = "tokio-quiche")]
pub mod over_tokio_quiche;

use bytes::Bytes;
use schedulers::{Resource, Scheduler, Scheme, StreamId};
use std::collections::BTreeMap;

/// What goes to the transport at once: a packet's worth.
pub const PIECE_BYTES: usize = 1100;

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

    /// Takes the next piece, of at most [`PIECE_BYTES`] and what its stream has room for. A stream without room waits until
    /// [`Ordered::retry`]. `None`: no stream has both bytes and room.
    pub fn next(&mut self, mut room_bytes: impl FnMut(StreamId) -> usize) -> Option<Piece> {
        loop {
            let stream = self.scheduler.pick()?;
            let body = self.bodies.get_mut(&stream)?;
            let bytes = body.split_to(room_bytes(stream).min(PIECE_BYTES).min(body.len()));
            if bytes.is_empty() {
                self.scheduler.set_ready(stream, false);
                continue;
            }
            let is_last = body.is_empty();
            self.scheduler.sent(stream, bytes.len() as u64);
            if is_last {
                self.close(stream);
            }
            return Some(Piece { stream, bytes, is_last });
        }
    }

    /// The transport may have room again.
    pub fn retry(&mut self) {
        for stream in self.bodies.keys() {
            self.scheduler.set_ready(*stream, true);
        }
    }

    /// Forgets a response: all of it has gone, or its client does not want it any more.
    pub fn close(&mut self, stream: StreamId) {
        self.scheduler.set_ready(stream, false);
        self.scheduler.close(stream);
        self.bodies.remove(&stream);
    }
}
