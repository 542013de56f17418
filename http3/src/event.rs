//! The events that a [`crate::Session`] reports.

use crate::{Header, Settings, Signal, StreamId};
use schedulers::Element;

/// A push, as `PUSH_PROMISE` numbers it (RFC 9114, 4.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PushId(pub u64);

/// The first stream ID that is beyond those on the wire (RFC 9000, 2.1).
pub(crate) const WIRE_IDS_END: u64 = 1 << 62;

impl PushId {
    /// The stream by which a client names the push in a [`Signal`]. It is none on the wire, because the push has none yet when it is
    /// promised.
    pub fn node(self) -> StreamId {
        StreamId(WIRE_IDS_END.saturating_add(self.0))
    }
}

/// The subject of a `PRIORITY_UPDATE` frame (RFC 9218, 7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prioritized {
    /// The response on a request stream.
    Request(StreamId),
    /// A push.
    Push(PushId),
}

/// Something the peer did, in the order in which its bytes came.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the other fields: `stream` is the request's, `push` the push's own"
)]
pub enum Event {
    /// The peer's SETTINGS: once, and before anything else of its control stream.
    Settings(Settings),
    /// A request (to a server), or a response (to a client): an interim (1xx) response is its own
    /// event before the final one.
    Headers {
        stream: StreamId,
        /// Checked against RFC 9114, 4.2 and 4.3.
        headers: Vec<Header>,
    },
    /// The trailer section.
    Trailers {
        stream: StreamId,
        /// Checked: no pseudo-header among them.
        headers: Vec<Header>,
    },
    /// A DATA frame begins (client only), for logs: its content follows as [`Event::Data`].
    DataFrame {
        stream: StreamId,
        /// Bytes of its payload; it may be empty.
        payload_bytes: u64,
    },
    /// A part of the content as it came. It need not be a whole frame, and is never empty.
    Data {
        stream: StreamId,
        /// At most as long as the bytes given to one `receive`.
        bytes: Vec<u8>,
    },
    /// The message is complete and well-formed; this stream has ended.
    Finished { stream: StreamId },
    /// The peer reset this stream.
    Reset { stream: StreamId, code: u64 },
    /// A `PRIORITY_UPDATE` frame came (server only), for logs. Its effect, if it has one, follows as [`Event::Priority`]
    /// or [`Event::PushPriority`]: at once, or once its request has come.
    PriorityUpdate {
        control: StreamId,
        prioritized: Prioritized,
        /// The `Priority` field value, as it came.
        field: String,
    },
    /// A priority signal (server only): a `PRIORITY_UPDATE` frame, or a frame of the tree or of the bucket byte
    /// ([`crate::Extension`]). A `PRIORITY_UPDATE` is a complete set: an omitted parameter has its default (RFC 9218, 7).
    ///
    /// The signal overrides the request's `Priority` header field. So a `PRIORITY_UPDATE` or a bucket byte that overtakes
    /// its request waits in the session, the latest of each stream, and follows the request's `Headers` event. A frame of
    /// the tree does not wait, because its effect depends on the frames before it (exclusive insertions): all are
    /// reported in their order, even about requests that are still to come.
    Priority(Signal),
    /// A `PRIORITY_UPDATE` frame about a push that was promised (server only): a complete set.
    PushPriority {
        push: PushId,
        /// 0 (first) to 7 (last).
        urgency: u8,
        /// Whether the response is useful in parts.
        incremental: bool,
    },
    /// A frame of the tree that names a push that was promised (server only), as the element or as its parent.
    PushDepend(PushDepend),
    /// The server promises to answer a request that we have not made (client only). The push's own stream may come before
    /// this. The request is well-formed. The client must check that it is safe, cacheable, and for a host that the
    /// server speaks for (RFC 9114, 4.6).
    PushPromise {
        /// The request stream on which it was promised; a push may be promised on several.
        stream: StreamId,
        push: PushId,
        headers: Vec<Header>,
    },
    /// The stream of a push opens (client only): its `Headers`, `Data` and so on follow under this stream's ID.
    PushStream { stream: StreamId, push: PushId },
    /// A client cancels a push, or a server will not send it.
    PushCancelled { push: PushId },
    /// The scheme that the server prefers for this connection (client only, at most once). We need not know it. For a
    /// page the server uses the field [`crate::SCHEME_FIELD`].
    PreferredScheme(String),
    /// A frame on the peer's control stream that [`crate::Session::accept_frames`] asked for.
    Frame { frame_type: u64, payload: Vec<u8> },
    /// The peer rejects requests from this stream ID on (at a client), or pushes from this push ID on (at a server).
    GoAway { id: u64 },
}

/// A [`Signal::Depend`] about nodes of which one at least is a push. The server knows their streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PushDepend {
    /// The node it is about.
    pub element: TreeNode,
    /// The node that goes before it.
    pub parent: TreeNode,
    /// As in [`Signal::Depend`].
    pub weight: u16,
    /// As in [`Signal::Depend`].
    pub exclusive: bool,
}

impl PushDepend {
    /// The signal, if `stream_of` knows the streams of the pushes.
    pub fn signal(&self, stream_of: impl Fn(PushId) -> Option<StreamId>) -> Option<Signal> {
        let [element, parent] = [self.element, self.parent].map(|node| match node {
            TreeNode::Element(element) => Some(element),
            TreeNode::Push(push) => stream_of(push).map(Element::Stream),
        });
        let Self { weight, exclusive, .. } = *self;
        Some(Signal::Depend { element: element?, parent: parent?, weight, exclusive })
    }
}

/// A node of the tree as a client names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeNode {
    /// The root, a placeholder or a request.
    Element(Element),
    /// A push.
    Push(PushId),
}
