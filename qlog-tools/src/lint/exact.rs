//! The story as our server's scheduler lived it.

use schedulers::{Element, Kind, Resource, Signal, StreamId};
use serde::Deserialize;

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
        SchedulerOp::Opened => What::Opened(stream?, resource(call.resource.as_deref())),
        SchedulerOp::Signalled => What::Signalled(signal(stream, call.signal.as_deref()?)?),
        SchedulerOp::Ready => What::Ready(stream?, true),
        SchedulerOp::Blocked => What::Ready(stream?, false),
        SchedulerOp::Sent => What::Sent(stream?, call.bytes.unwrap_or_default()),
        SchedulerOp::Closed => What::Closed(stream?),
        SchedulerOp::Picked => return None,
    };
    Some(Event { time_us: call.time_us, what })
}

#[derive(Deserialize, Default)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "as in the log")]
struct LoggedResource {
    id: Option<usize>,
    kind: String,
    main: bool,
    in_head: bool,
    critical: bool,
    above_fold: bool,
    after_first_image: bool,
    #[serde(rename = "async")]
    asynchronous: bool,
    defer: bool,
    preload: bool,
    urgency: Option<u8>,
    incremental: Option<bool>,
    body_bytes: Option<u64>,
}

fn resource(json: Option<&str>) -> Resource {
    let logged: LoggedResource =
        json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
    Resource {
        id: logged.id,
        kind: kind(&logged.kind),
        main: logged.main,
        in_head: logged.in_head,
        critical: logged.critical,
        above_fold: logged.above_fold,
        after_first_image: logged.after_first_image,
        asynchronous: logged.asynchronous,
        deferred: logged.defer,
        preload: logged.preload,
        browser: logged.urgency.zip(logged.incremental),
        body_bytes: logged.body_bytes,
    }
}

fn kind(name: &str) -> Kind {
    match name {
        "html" => Kind::Html,
        "css" => Kind::Css,
        "js" => Kind::Js,
        "font" => Kind::Font,
        "image" => Kind::Image,
        "media" => Kind::Media,
        "xhr" => Kind::Xhr,
        _ => Kind::Other,
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum LoggedSignal {
    Extensible { urgency: u8, incremental: bool },
    Depend { element: String, parent: String, weight: u16, exclusive: bool },
    Bucket { bucket: u8 },
}

fn signal(stream: Option<StreamId>, json: &str) -> Option<Signal> {
    Some(match serde_json::from_str(json).ok()? {
        LoggedSignal::Extensible { urgency, incremental } => {
            Signal::Extensible { stream: stream?, urgency, incremental }
        }
        LoggedSignal::Depend { element, parent, weight, exclusive } => {
            Signal::Depend { element: named(&element)?, parent: named(&parent)?, weight, exclusive }
        }
        LoggedSignal::Bucket { bucket } => Signal::Bucket { stream: stream?, byte: bucket },
    })
}

/// `root`, `placeholder 2`, `stream 8`.
fn named(text: &str) -> Option<Element> {
    match text.split_once(' ') {
        None if text == "root" => Some(Element::Root),
        Some(("placeholder", id)) => id.parse().ok().map(Element::Placeholder),
        Some(("stream", id)) => id.parse().ok().map(|id| Element::Stream(StreamId(id))),
        _ => None,
    }
}
