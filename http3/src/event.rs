//! What a [`crate::Session`] reports.

use crate::{Header, Settings, Signal, StreamId};

/// A push, as `PUSH_PROMISE` numbers it (RFC 9114, 4.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PushId(pub u64);

/// What a `PRIORITY_UPDATE` frame is about (RFC 9218, 7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prioritized {
    /// The response on a request stream.
    Request(StreamId),
    /// A push.
    Push(PushId),
}

/// Something the peer did, in the order in which its bytes came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The peer's SETTINGS: once, and before anything else of its control stream.
    Settings(Settings),
    /// A request (to a server), or a response (to a client): an interim (1xx) response comes as its own
    /// event before the final one.
    Headers {
        /// The request stream.
        stream: StreamId,
        /// Checked against RFC 9114, 4.2 and 4.3.
        headers: Vec<Header>,
    },
    /// The trailer section.
    Trailers {
        /// The request stream.
        stream: StreamId,
        /// Checked: no pseudo-header among them.
        headers: Vec<Header>,
    },
    /// A DATA frame begins (client only), for logs: its content follows as [`Event::Data`].
    DataFrame {
        /// The request stream.
        stream: StreamId,
        /// Bytes of its payload; it may be empty.
        payload_bytes: u64,
    },
    /// A part of the content, as it came: not a whole frame, never empty.
    Data {
        /// The request stream.
        stream: StreamId,
        /// At most as long as what was given to one `receive`.
        bytes: Vec<u8>,
    },
    /// The message is complete and well-formed; nothing more comes on this stream.
    Finished {
        /// The request stream.
        stream: StreamId,
    },
    /// The peer gave up sending on this stream.
    Reset {
        /// The request stream.
        stream: StreamId,
        /// The peer's error code.
        code: u64,
    },
    /// A `PRIORITY_UPDATE` frame came (server only), for logs. If it has a consequence,
    /// [`Event::Priority`] or [`Event::PushPriority`] follows: at once, or when its request arrives.
    PriorityUpdate {
        /// The client's control stream.
        control: StreamId,
        /// What the frame is about.
        prioritized: Prioritized,
        /// The `Priority` field value, as it came.
        field: String,
    },
    /// A priority signal (server only): a `PRIORITY_UPDATE` frame, which is a complete set (an omitted
    /// parameter has its default; RFC 9218, 7), or a frame of the tree or of the bucket byte
    /// ([`crate::Extension`]). It overrides the request's `Priority` header field, so a `PRIORITY_UPDATE` or
    /// a bucket byte that overtakes its request waits here, the latest of each stream, and follows the
    /// request's `Headers` event at once. A frame of the tree does not wait: what it does depends on the
    /// frames before it (exclusive insertions), so all are told in their order, also about requests that
    /// are still to come.
    Priority(Signal),
    /// A `PRIORITY_UPDATE` frame about a push that was promised (server only): a complete set.
    PushPriority {
        /// The push.
        push: PushId,
        /// 0 (first) to 7 (last).
        urgency: u8,
        /// Whether the response is useful in parts.
        incremental: bool,
    },
    /// The server promises to answer a request that we have not made (client only). What may follow on the push's
    /// own stream can come before this. The request is well-formed; whether it is safe, cacheable and for a host that
    /// the server speaks for is the client's to check (RFC 9114, 4.6).
    PushPromise {
        /// The request stream on which it was promised; a push may be promised on several.
        stream: StreamId,
        /// The push.
        push: PushId,
        /// The request.
        headers: Vec<Header>,
    },
    /// The stream of a push opens (client only): its `Headers`, `Data` and so on follow under this stream's ID.
    PushStream {
        /// The stream.
        stream: StreamId,
        /// The push.
        push: PushId,
    },
    /// The peer wants no more of a push (a client), or will not send it (a server).
    PushCancelled {
        /// The push.
        push: PushId,
    },
    /// The scheme that the server prefers for this connection, which we need not know (client only, at most
    /// once). Of a page it says so in [`crate::SCHEME_FIELD`].
    PreferredScheme(String),
    /// The peer takes no more: of requests, from this stream ID on (to a client); of pushes, from this push
    /// ID on (to a server).
    GoAway {
        /// A stream ID or a push ID.
        id: u64,
    },
}
