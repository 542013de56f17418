//! The scheduler of one connection.

use crate::{Resource, Scheme, Signal, StreamId};
use std::collections::BTreeMap;

/// The scheduler of one connection.
#[derive(Debug)]
pub struct Scheduler {
    ready: BTreeMap<StreamId, bool>,
}

impl Scheduler {
    /// A scheduler that runs `scheme`.
    pub fn new(_scheme: &Scheme) -> Self {
        Self { ready: BTreeMap::new() }
    }
    /// A response will be sent on `stream`; nothing is ready yet.
    pub fn open(&mut self, stream: StreamId, _resource: &Resource) {
        self.ready.insert(stream, false);
    }
    /// The client said something about order.
    pub fn signal(&mut self, _signal: Signal) {}
    /// Whether `stream` has bytes and flow control lets them go.
    pub fn set_ready(&mut self, stream: StreamId, ready: bool) {
        self.ready.insert(stream, ready);
    }
    /// Who sends the next packet; changes nothing.
    pub fn pick(&self) -> Option<StreamId> {
        self.ready.iter().find(|(_, ready)| **ready).map(|(stream, _)| *stream)
    }
    /// `bytes` of `stream` were taken for sending.
    pub fn sent(&mut self, _stream: StreamId, _bytes: u64) {}
    /// `stream` has nothing more to send.
    pub fn close(&mut self, stream: StreamId) {
        self.ready.remove(&stream);
    }
}
