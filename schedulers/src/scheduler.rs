//! The scheduler of one connection.

use crate::guard::Guard;
use crate::limits::EARLY_SIGNALS_MAX;
use crate::{Element, Resource, Scheme, SchemeError, ServerHalf, Signal, Snapshot, StreamId, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The scheduler of one connection: a tree, and a scheme's server half that places streams in it.
///
/// It is total: calls about streams that are not open are ignored (a signal is stored), and no order of calls
/// panics. [`Scheduler::pick`] changes nothing: report what was sent.
pub struct Scheduler {
    tree: Tree,
    half: Box<dyn ServerHalf>,
    open: BTreeSet<StreamId>,
    /// The most recent signal for streams that are not open yet.
    early: BTreeMap<StreamId, Signal>,
    /// Off by default.
    guard: Option<Guard>,
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler")
            .field("tree", &self.tree)
            .field("open", &self.open)
            .field("early", &self.early)
            .finish_non_exhaustive()
    }
}

impl Scheduler {
    /// A scheduler that runs `scheme`.
    ///
    /// # Panics
    /// Panics if [`Scheduler::build`] fails, which never happens for a result of [`crate::find_scheme`].
    pub fn new(scheme: &Scheme) -> Self {
        Self::build(scheme).expect("find_scheme gives schemes that can be built")
    }

    /// A scheduler that runs `scheme`, or why it cannot: it needs a page, or has wrong parameters.
    pub fn build(scheme: &Scheme) -> Result<Self, SchemeError> {
        let mut half = scheme.try_halves()?.server;
        let mut tree = Tree::new();
        half.setup(&mut tree);
        let guard = scheme.guard.map(Guard::every);
        Ok(Self { tree, half, open: BTreeSet::new(), early: BTreeMap::new(), guard })
    }

    /// A response will be sent on `stream`; nothing is ready yet. Does not change an open stream.
    ///
    /// The resource places it, followed by an earlier signal.
    pub fn open(&mut self, stream: StreamId, resource: &Resource) {
        if !self.open.insert(stream) {
            return;
        }
        self.half.opened(&mut self.tree, stream, resource);
        if let Some(signal) = self.early.remove(&stream) {
            self.half.signalled(&mut self.tree, signal);
        }
    }

    /// The client has sent a signal about order, at any time, also during the response.
    ///
    /// The latest signal for a stream that is not open is stored until it opens. If too many wait, the one for the
    /// lowest stream ID is dropped, because that stream is most likely closed.
    pub fn signal(&mut self, signal: Signal) {
        match signal.stream() {
            Some(stream) if !self.open.contains(&stream) && !self.half.hears_early() => {
                self.early.insert(stream, signal);
                if self.early.len() > EARLY_SIGNALS_MAX {
                    self.early.pop_first();
                }
            }
            _ => self.half.signalled(&mut self.tree, signal),
        }
    }

    /// Whether `stream` has bytes that flow control allows to be sent.
    pub fn set_ready(&mut self, stream: StreamId, ready: bool) {
        self.tree.set_ready(Element::Stream(stream), ready && self.open.contains(&stream));
        if let Some(guard) = &mut self.guard {
            guard.set_ready(stream, ready && self.open.contains(&stream));
        }
    }

    /// Returns the stream that sends the next packet; changes nothing.
    pub fn pick(&self) -> Option<StreamId> {
        let starved = self.guard.as_ref().and_then(Guard::starved);
        starved.or_else(|| self.tree.pick())
    }

    /// `bytes` of `stream` were taken for sending.
    pub fn sent(&mut self, stream: StreamId, bytes: u64) {
        self.tree.charge(Element::Stream(stream), bytes);
        if self.open.contains(&stream) {
            self.half.sent(&mut self.tree, stream, bytes);
        }
        if let Some(guard) = &mut self.guard {
            guard.sent(stream);
        }
    }

    /// The present tree, for inspection. Costs O(nodes).
    pub fn tree(&self) -> Snapshot {
        self.tree.snapshot()
    }

    /// `stream` has nothing more to send.
    pub fn close(&mut self, stream: StreamId) {
        self.early.remove(&stream);
        if self.open.remove(&stream) {
            if let Some(guard) = &mut self.guard {
                guard.set_ready(stream, false);
            }
            self.half.closed(&mut self.tree, stream);
            self.tree.remove(Element::Stream(stream));
            if self.open.is_empty() {
                // An empty set keeps a node with room for eleven, and connections are mostly idle.
                self.open = BTreeSet::new();
            }
        }
    }
}
