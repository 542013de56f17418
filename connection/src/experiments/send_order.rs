//! The order of first transmission, shared between a server and a client in one process.

use http3::StreamId;
use parking_lot::Mutex;
use std::sync::Arc;

/// The order in which a server first handed the bytes of its responses to the transport. Clones share it.
///
/// The wire does not carry it, so a client in another process cannot know it. In a lab that runs both ends, the
/// client can wait for the bytes of one stream before the bytes of another, as if they shared one TCP
/// connection. It describes one connection.
#[derive(Debug, Clone, Default)]
pub struct SendOrder(Arc<Mutex<Vec<(StreamId, u64)>>>);

impl SendOrder {
    /// The next `bytes` of `stream` are sent now.
    pub fn sent(&self, stream: StreamId, bytes: u64) {
        self.0.lock().push((stream, bytes));
    }

    /// The run of bytes at `place`, counted from 0.
    pub fn run(&self, place: usize) -> Option<(StreamId, u64)> {
        self.0.lock().get(place).copied()
    }

    /// All runs so far.
    pub fn runs(&self) -> Vec<(StreamId, u64)> {
        self.0.lock().clone()
    }
}
