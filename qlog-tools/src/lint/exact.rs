//! The story as our server's scheduler lived it.

use schedulers::StreamId;

use super::observed::header_signals;
use super::story::{Event, Story, What};
use crate::reader::{SchedulerCall, SchedulerOp};
use crate::trace::Trace;

/// `None` for a log without calls of a scheduler.
pub(super) fn story(trace: &Trace, client: Option<&Trace>) -> Option<Story> {
    if trace.scheduler_calls.is_empty() {
        return None;
    }
    let mut events = events(&trace.scheduler_calls);
    // A server that ignores signals tells its scheduler of none; the client gave them all the same.
    if !events.iter().any(|it| matches!(it.what, What::Signalled(_))) {
        events.extend(header_signals(trace, client));
        events.sort_by_key(|event| event.time_us);
    }
    Some(Story {
        events,
        basis: "the server's own log of its scheduler".to_owned(),
        is_exact: true,
        has_urgencies_only: false,
    })
}

/// The calls as events. Bytes that were sent without the scheduler having been asked before fill up a packet that the
/// window had cut short: they are charged, and no decision.
fn events(calls: &[SchedulerCall]) -> Vec<Event> {
    let mut picked = None;
    let mut events = Vec::with_capacity(calls.len());
    for call in calls {
        if call.op == SchedulerOp::Picked {
            picked = call.stream;
        }
        let Some(mut event) = event(call) else { continue };
        if let What::Sent(stream, bytes) = event.what
            && picked.take() != Some(stream.0)
        {
            event.what = What::ToppedUp(stream, bytes);
        }
        events.push(event);
    }
    events
}

fn event(call: &SchedulerCall) -> Option<Event> {
    let stream = call.stream.map(StreamId);
    let what = match call.op {
        SchedulerOp::Opened => What::Opened(stream?, call.read_resource().unwrap_or_default()),
        SchedulerOp::Signalled => What::Signalled(call.read_signal().ok()?),
        SchedulerOp::Ready => What::Ready(stream?, true),
        SchedulerOp::Blocked => What::Ready(stream?, false),
        SchedulerOp::Sent => What::Sent(stream?, call.bytes.unwrap_or_default()),
        SchedulerOp::Closed => What::Closed(stream?),
        SchedulerOp::Picked | SchedulerOp::Scheme => return None,
    };
    Some(Event { time_us: call.time_us, what })
}
