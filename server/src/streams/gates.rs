//! Pushed responses that a gate holds back while the response that they belong to is in progress.

use super::{Stream, Streams};
use push::{Gate, Pending};
use schedulers::StreamId;
use std::collections::BTreeSet;

/// The pushes of one main response.
#[derive(Debug)]
pub(super) struct Gated {
    gate: Gate,
    open: bool,
    /// Those whose last byte was not committed.
    pushes: BTreeSet<StreamId>,
    /// Pushes that precede the main response, which waits for them.
    before: BTreeSet<StreamId>,
}

impl Gated {
    fn new(gate: Gate) -> Self {
        Self { gate, open: true, pushes: BTreeSet::new(), before: BTreeSet::new() }
    }

    fn is_empty(&self) -> bool {
        self.pushes.is_empty() && self.before.is_empty()
    }
}

impl Streams {
    /// Puts the push on `stream`, which belongs to the response on `main`, behind a gate. While the page's document is
    /// being sent, the gate is the document's, because under a scheme that shares, the push would delay it.
    pub(crate) fn gate(&mut self, stream: StreamId, main: StreamId, gate: Gate) {
        let shuffles = matches!(gate, Gate::Shuffle(_));
        let main = self.document().filter(|_| !shuffles).unwrap_or(main);
        let Some(record) = self.all.get_mut(&main) else { return };
        let gated = record.gated.get_or_insert_with(|| Gated::new(gate));
        gated.pushes.insert(stream);
        if gate.goes_before(stream.0, main.0) {
            gated.before.insert(stream);
        }
        self.mains.insert(main);
        if let Some(record) = self.all.get_mut(&stream) {
            record.main = Some(main);
        }
    }

    /// The document that is being sent.
    fn document(&self) -> Option<StreamId> {
        let is_document =
            |(stream, it): &(StreamId, &Stream)| it.resource.main && self.is_sending(*stream);
        self.iter().find(is_document).map(|(stream, _)| stream)
    }

    pub(super) fn is_gated(&self, stream: StreamId) -> bool {
        let Some(record) = self.all.get(&stream) else { return false };
        if record.gated.as_ref().is_some_and(|it| !it.before.is_empty()) {
            return true;
        }
        let gated = record.main.and_then(|main| self.all.get(&main)?.gated.as_ref());
        gated.is_some_and(|it| !it.open && !it.before.contains(&stream))
    }

    pub(crate) fn has_gates(&self) -> bool {
        !self.mains.is_empty()
    }

    pub(crate) fn has_gate(&self, stream: StreamId) -> bool {
        self.mains.contains(&stream)
    }

    /// Opens and closes the gates; returns the streams for which one opened or closed.
    pub(crate) fn update_gates(&mut self, in_flight_bytes: u64) -> Vec<StreamId> {
        let mut changed = Vec::new();
        for main in self.mains.clone() {
            let record = self.all.get_mut(&main);
            let Some(mut gated) = record.and_then(|it| it.gated.take()) else { continue };
            let waited = !gated.before.is_empty();
            gated.before.retain(|it| self.is_sending(*it));
            if waited && gated.before.is_empty() {
                changed.push(main);
            }
            let pending = Pending {
                main_open: self.is_sending(main),
                main_ready: self.pending(main) > 0,
                pushed_in_flight_bytes: in_flight_bytes,
            };
            let open = gated.gate.allowance_bytes(pending) > 0;
            if std::mem::replace(&mut gated.open, open) != open {
                changed.extend(&gated.pushes);
            }
            self.keep_gate(main, gated);
        }
        changed
    }

    /// The last byte of the push on `stream` was committed, or it was dropped.
    pub(crate) fn leave_gate(&mut self, stream: StreamId) {
        let main = self.all.get_mut(&stream).and_then(|it| it.main.take());
        let Some(main) = main else { return };
        let record = self.all.get_mut(&main);
        if let Some(mut gated) = record.and_then(|it| it.gated.take()) {
            gated.pushes.remove(&stream);
            self.keep_gate(main, gated);
        }
    }

    /// Keeps a gate that holds something back. A main response that waited stays, and the next update finds it.
    fn keep_gate(&mut self, main: StreamId, gated: Gated) {
        if gated.is_empty() {
            self.mains.remove(&main);
        } else if let Some(record) = self.all.get_mut(&main) {
            record.gated = Some(gated);
        }
    }
}
