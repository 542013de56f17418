//! The exact story, from our server's scheduler.

use schedulers::Call;

use super::observed::header_signals;
use super::story::{Event, Story, What};
use crate::trace::{SchedulerCall, Trace};

/// `None` for a log without scheduler calls. `scheme`: the name of the scheme to judge by, if any.
pub(super) fn story(trace: &Trace, client: Option<&Trace>, scheme: Option<&str>) -> Option<Story> {
    if trace.scheduler_calls().is_empty() {
        return None;
    }
    let mut events = events(trace.scheduler_calls());
    // A server that ignores signals passes none to its scheduler, although the client sent them. Its own scheme is not
    // judged by them.
    let is_own = scheme.is_some_and(|name| named(trace).contains(&name));
    let has_signals = events.iter().any(|it| matches!(it.what.call(), Some(Call::Signal(_))));
    if !is_own && !has_signals {
        events.extend(header_signals(trace, client));
        events.sort_by_key(|event| event.time_us);
    }
    Some(Story {
        events,
        basis: "the server's own log of its scheduler".to_owned(),
        is_exact: true,
        has_urgencies_only: false,
        has_kinds: true,
    })
}

/// The schemes in the log, in the order in which they took over.
pub(super) fn named(trace: &Trace) -> Vec<&str> {
    let calls = trace.scheduler_calls().iter();
    let starts = calls.filter_map(|it| match &it.call {
        Ok(Call::Start { scheme, .. }) => Some(&**scheme),
        _ => None,
    });
    starts.collect()
}

/// The calls as events. Bytes that were sent without asking the scheduler first fill up a packet that the window had cut
/// short: they are charged, but are not a decision.
fn events(calls: &[SchedulerCall]) -> Vec<Event> {
    let mut picked = None;
    let mut events = Vec::with_capacity(calls.len());
    for SchedulerCall { time_us, call } in calls {
        let Ok(call) = call else { continue };
        let what = match *call {
            Call::Pick(stream) => {
                picked = stream;
                continue;
            }
            Call::Sent(stream, bytes) => {
                let is_decided = picked.take() == Some(stream);
                if is_decided { What::of(call) } else { What::ToppedUp(stream, bytes) }
            }
            _ => What::of(call),
        };
        events.push(Event { time_us: *time_us, what });
    }
    events
}
