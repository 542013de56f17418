//! Pushed responses that a gate holds back while the response that they belong to is under way.

use crate::send_queue::SendQueue;
use push::{Gate, Pending};
use schedulers::StreamId;
use std::collections::{BTreeMap, BTreeSet};

/// The gates of a connection, by the stream of the main response.
#[derive(Debug, Default)]
pub(crate) struct Gated {
    gates: BTreeMap<StreamId, Group>,
    /// The main response of each push.
    mains: BTreeMap<StreamId, StreamId>,
}

#[derive(Debug)]
struct Group {
    gate: Gate,
    pushes: BTreeSet<StreamId>,
    open: bool,
    /// Pushes that go before the main response, which waits for them.
    before: BTreeSet<StreamId>,
}

impl Gated {
    /// The push on `stream` belongs to the response on `main`.
    pub(crate) fn insert(&mut self, stream: StreamId, main: StreamId, gate: Gate) {
        let group = self.gates.entry(main).or_insert_with(|| Group {
            gate,
            pushes: BTreeSet::new(),
            open: true,
            before: BTreeSet::new(),
        });
        group.pushes.insert(stream);
        if gate.goes_before(stream.0, main.0) {
            group.before.insert(stream);
        }
        self.mains.insert(stream, main);
    }

    /// The push is over.
    pub(crate) fn remove(&mut self, stream: StreamId) {
        let Some(main) = self.mains.remove(&stream) else { return };
        let Some(group) = self.gates.get_mut(&main) else { return };
        group.pushes.remove(&stream);
        // A main response that waited is told so by the next update.
        if group.pushes.is_empty() && group.before.is_empty() {
            self.gates.remove(&main);
        }
    }

    /// Whether a gate holds the stream back.
    pub(crate) fn holds(&self, stream: StreamId) -> bool {
        if self.gates.get(&stream).is_some_and(|it| !it.before.is_empty()) {
            return true;
        }
        let main = self.mains.get(&stream);
        let group = main.and_then(|it| self.gates.get(it));
        group.is_some_and(|it| !it.open && !it.before.contains(&stream))
    }

    /// Whether there is nothing to hold back.
    pub(crate) fn is_empty(&self) -> bool {
        self.gates.is_empty()
    }

    /// The streams whose gate has opened or closed since this was last asked.
    pub(crate) fn update(&mut self, queue: &SendQueue, in_flight_bytes: u64) -> Vec<StreamId> {
        let mut changed = Vec::new();
        for (main, group) in &mut self.gates {
            if !group.before.is_empty() {
                group.before.retain(|it| queue.contains(*it));
                if group.before.is_empty() {
                    changed.push(*main);
                }
            }
            let pending = Pending {
                main_open: queue.contains(*main),
                main_ready: queue.pending(*main) > 0,
                pushed_in_flight_bytes: in_flight_bytes,
            };
            let open = group.gate.allowance_bytes(pending) > 0;
            if std::mem::replace(&mut group.open, open) != open {
                changed.extend(&group.pushes);
            }
        }
        self.gates.retain(|_, group| !group.pushes.is_empty() || !group.before.is_empty());
        changed
    }
}
