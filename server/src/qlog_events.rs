//! What this server adds to a connection's qlog: every call to the scheduler, as `utmost:scheduler`
//! events, so that a log tells why each packet went when it did, and can be replayed.

use qlog::events::{EventImportance, JsonEvent};
use schedulers::{Element, Resource, Signal, StreamId};
use serde_json::{Value, json};

/// From now on this scheme orders the streams, or a group's scheduler; those under way are opened there again.
pub(crate) fn scheme(quic: &mut quiche::Connection, name: &str, in_group: bool) {
    log_as(quic, "utmost:scheme", || json!({"name": name, "in_group": in_group}));
}

/// A response was opened.
pub(crate) fn opened(quic: &mut quiche::Connection, stream: StreamId, resource: &Resource) {
    let Resource { kind, browser, .. } = resource;
    log(quic, || {
        json!({"op": "opened", "stream": stream.0, "resource": {
            "id": resource.id,
            "kind": format!("{kind:?}").to_lowercase(),
            "main": resource.main,
            "in_head": resource.in_head,
            "critical": resource.critical,
            "above_fold": resource.above_fold,
            "after_first_image": resource.after_first_image,
            "async": resource.asynchronous,
            "defer": resource.deferred,
            "preload": resource.preload,
            "urgency": browser.map(|it| it.0),
            "incremental": browser.map(|it| it.1),
            "body_bytes": resource.body_bytes,
        }})
    });
}

/// The client said something about order.
pub(crate) fn signalled(quic: &mut quiche::Connection, signal: &Signal) {
    log(quic, || {
        let data = match *signal {
            Signal::Extensible { urgency, incremental, .. } => {
                json!({"urgency": urgency, "incremental": incremental})
            }
            Signal::Depend { element, parent, weight, exclusive } => json!({
                "element": named(element), "parent": named(parent), "weight": weight, "exclusive": exclusive
            }),
            Signal::Bucket { byte, .. } => json!({"bucket": byte}),
        };
        json!({"op": "signalled", "stream": signal.stream().map(|it| it.0), "signal": data})
    });
}

/// `root`, `placeholder 2`, `stream 8`.
fn named(element: Element) -> String {
    match element {
        Element::Root => "root".to_owned(),
        Element::Placeholder(id) => format!("placeholder {id}"),
        Element::Stream(StreamId(id)) => format!("stream {id}"),
    }
}

/// A stream became ready, or was held back.
pub(crate) fn ready(quic: &mut quiche::Connection, stream: StreamId, ready: bool) {
    log(quic, || json!({"op": if ready { "ready" } else { "blocked" }, "stream": stream.0}));
}

/// The scheduler picked a stream.
pub(crate) fn picked(quic: &mut quiche::Connection, stream: StreamId) {
    log(quic, || json!({"op": "picked", "stream": stream.0}));
}

/// Bytes were charged to a stream.
pub(crate) fn sent(quic: &mut quiche::Connection, stream: StreamId, bytes: u64) {
    log(quic, || json!({"op": "sent", "stream": stream.0, "bytes": bytes}));
}

/// A stream has nothing more to send.
pub(crate) fn closed(quic: &mut quiche::Connection, stream: StreamId) {
    log(quic, || json!({"op": "closed", "stream": stream.0}));
}

fn log(quic: &mut quiche::Connection, data: impl FnOnce() -> Value) {
    log_as(quic, "utmost:scheduler", data);
}

fn log_as(quic: &mut quiche::Connection, name: &str, data: impl FnOnce() -> Value) {
    if let Some(streamer) = quic.qlog_streamer() {
        let event = JsonEvent {
            time: 0.0,
            importance: EventImportance::Core,
            name: name.to_owned(),
            data: data(),
        };
        // A log that cannot be written (a full disk) must not stop the connection.
        streamer.add_event_now(event).ok();
    }
}
