//! What may be done to a scheduler, and what its caller knows after it: for the conformance suite and the fuzz target.

use schedulers::{Resource, Scheduler, Signal, StreamId};
use std::collections::BTreeMap;

/// A call of a server.
#[derive(Debug, Clone)]
pub(crate) enum Call {
    /// A response will be sent.
    Open(u64, Resource),
    /// The client says something.
    Signal(Signal),
    /// A stream gets ready or blocks.
    SetReady(u64, bool),
    /// Pick, and send this much of what was picked.
    Send(u64),
    /// Send without asking.
    SendAnyway(u64, u64),
    /// A response is complete.
    Close(u64),
}

/// Does what a call says.
pub(crate) fn apply(scheduler: &mut Scheduler, call: &Call) {
    match call {
        Call::Open(id, resource) => scheduler.open(StreamId(*id), resource),
        Call::Signal(signal) => scheduler.signal(*signal),
        Call::SetReady(id, ready) => scheduler.set_ready(StreamId(*id), *ready),
        Call::Send(bytes) => {
            if let Some(picked) = scheduler.pick() {
                scheduler.sent(picked, *bytes);
            }
        }
        Call::SendAnyway(id, bytes) => scheduler.sent(StreamId(*id), *bytes),
        Call::Close(id) => scheduler.close(StreamId(*id)),
    }
}

/// What the caller knows: the open streams, and whether they are ready.
pub(crate) fn note(open: &mut BTreeMap<u64, bool>, call: &Call) {
    match call {
        Call::Open(id, _) => {
            open.entry(*id).or_insert(false);
        }
        Call::SetReady(id, ready) => {
            open.entry(*id).and_modify(|it| *it = *ready);
        }
        Call::Close(id) => {
            open.remove(id);
        }
        Call::Signal(_) | Call::Send(_) | Call::SendAnyway(..) => {}
    }
}
