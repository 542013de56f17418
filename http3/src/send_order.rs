//! The order of first transmission, shared between a server and a client in one process.

use schedulers::StreamId;
use std::sync::{Arc, Mutex};

/// In which order a server first handed the bytes of its responses to the transport; clones share it.
///
/// On the wire nobody says it: a client in another process cannot know it. A laboratory that runs both ends
/// can, and lets the client wait for the bytes of one stream before those of another, as one TCP connection
/// below all of them would. It holds one connection's bytes.
#[derive(Debug, Clone, Default)]
pub struct SendOrder(Arc<Mutex<Vec<(StreamId, u64)>>>);

impl SendOrder {
    /// The next `bytes` of `stream` go now.
    pub fn sent(&self, stream: StreamId, bytes: u64) {
        if let Ok(mut runs) = self.0.lock() {
            runs.push((stream, bytes));
        }
    }

    /// The run of bytes at `place`, counted from 0.
    pub fn run(&self, place: usize) -> Option<(StreamId, u64)> {
        self.0.lock().ok()?.get(place).copied()
    }

    /// All runs so far.
    pub fn runs(&self) -> Vec<(StreamId, u64)> {
        self.0.lock().map(|it| it.clone()).unwrap_or_default()
    }
}
