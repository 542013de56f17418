//! The story as our server's scheduler lived it.

use schedulers::Call;

use super::observed::header_signals;
use super::story::{Event, OrderingScheme, Story, What};
use crate::trace::SchedulerCall;
use crate::trace::Trace;

/// `None` for a log without calls of a scheduler. `scheme`: the name of the scheme that it is held against, if any.
pub(super) fn story(trace: &Trace, client: Option<&Trace>, scheme: Option<&str>) -> Option<Story> {
    if trace.scheduler_calls.is_empty() {
        return None;
    }
    let mut events = events(&trace.scheduler_calls);
    let schemes = named(trace);
    // A server that ignores signals tells its scheduler of none; the client gave them all the same. Its own scheme is not
    // held against them.
    let is_own = scheme.is_some_and(|name| schemes.iter().any(|own| own.name == name));
    if !is_own && !events.iter().any(|it| matches!(it.what, What::Signalled(_))) {
        events.extend(header_signals(trace, client));
        events.sort_by_key(|event| event.time_us);
    }
    Some(Story {
        events,
        basis: "the server's own log of its scheduler".to_owned(),
        is_exact: true,
        has_urgencies_only: false,
        has_kinds: true,
        schemes,
    })
}

/// The schemes that the log names, in the order in which they took over.
pub(super) fn named(trace: &Trace) -> Vec<OrderingScheme> {
    let named = |it: &SchedulerCall| match &it.call {
        Ok(Call::Start { scheme, in_group }) => {
            Some(OrderingScheme { name: scheme.clone(), in_group: *in_group })
        }
        _ => None,
    };
    trace.scheduler_calls.iter().filter_map(named).collect()
}

/// The calls as events. Bytes that were sent without the scheduler having been asked before fill up a packet that the
/// window had cut short: they are charged, and no decision.
fn events(calls: &[SchedulerCall]) -> Vec<Event> {
    let mut picked = None;
    let mut events = Vec::with_capacity(calls.len());
    for call in calls {
        if let Ok(Call::Pick(stream)) = call.call {
            picked = stream;
        }
        let Some(mut event) = event(call) else { continue };
        if let What::Sent(stream, bytes) = event.what
            && picked.take() != Some(stream)
        {
            event.what = What::ToppedUp(stream, bytes);
        }
        events.push(event);
    }
    events
}

fn event(call: &SchedulerCall) -> Option<Event> {
    let what = match *call.call.as_ref().ok()? {
        Call::Open(stream, resource) => What::Opened(stream, resource),
        Call::Signal(signal) => What::Signalled(signal),
        Call::SetReady(stream, ready) => What::Ready(stream, ready),
        Call::Sent(stream, bytes) => What::Sent(stream, bytes),
        Call::Close(stream) => What::Closed(stream),
        Call::Start { .. } => What::TakenOver,
        Call::Pick(_) => return None,
    };
    Some(Event { time_us: call.time_us, what })
}
