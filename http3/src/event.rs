//! The events that a [`crate::Session`] reports.

use crate::{Header, Settings, Signal, StreamId};
use schedulers::Element;

/// A push, with its number from `PUSH_PROMISE` (RFC 9114, 4.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PushId(pub u64);

/// The first number beyond all stream IDs on the wire (RFC 9000, 2.1).
pub(crate) const WIRE_IDS_END: u64 = 1 << 62;

impl PushId {
    /// The stream that stands for the push in a client's [`Signal`]. It does not exist on the wire, because a promised push has no
    /// stream yet.
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

/// An action of the peer, in the order in which its bytes arrived.
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
    /// A part of the content, as it arrived. It need not be a whole frame, and is never empty.
    Data {
        stream: StreamId,
        /// Not longer than the bytes passed to one `receive`.
        bytes: Vec<u8>,
    },
    /// The message is complete and well-formed; this stream has ended.
    Finished { stream: StreamId },
    /// The peer reset this stream.
    Reset { stream: StreamId, code: u64 },
    /// A `PRIORITY_UPDATE` frame arrived (server only), for logs. Its effect, if any, follows as [`Event::Priority`] or
    /// [`Event::PushPriority`]: at once, or after its request has arrived.
    PriorityUpdate {
        control: StreamId,
        prioritized: Prioritized,
        /// The `Priority` field value, as it arrived.
        field: String,
    },
    /// A priority signal (server only): a `PRIORITY_UPDATE` frame, or a frame of the tree or of the bucket byte
    /// ([`crate::Extension`]). A `PRIORITY_UPDATE` is a complete set: an omitted parameter has its default (RFC 9218, 7).
    ///
    /// The signal overrides the request's `Priority` header field. So a `PRIORITY_UPDATE` or a bucket byte that overtakes its
    /// request waits in the session, only the latest for each stream, and follows the request's `Headers` event. A frame of the tree
    /// does not wait, because its effect depends on the frames before it (exclusive insertions): all are reported in order, even
    /// about future requests.
    Priority(Signal),
    /// A `PRIORITY_UPDATE` frame about a push that was promised (server only): a complete set.
    PushPriority {
        push: PushId,
        /// 0 (first) to 7 (last).
        urgency: u8,
        /// Whether the response is useful in parts.
        incremental: bool,
    },
    /// A tree frame that names a promised push (server only), as the element or as its parent.
    PushDepend(PushDepend),
    /// The server promises to answer a request that the client has not made (client only). The push's own stream may arrive before
    /// this. The request is well-formed. The client must check that it is safe, cacheable, and for a host for which the server is
    /// authoritative (RFC 9114, 4.6).
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
    /// The scheme that the server prefers for this connection (client only, at most once). The client may not know it. For a single
    /// page, the server uses the field [`crate::SCHEME_FIELD`].
    PreferredScheme(String),
    /// A frame on the peer's control stream that [`crate::Session::accept_frames`] admits.
    Frame { frame_type: u64, payload: Vec<u8> },
    /// The peer rejects requests from this stream ID on (at a client), or pushes from this push ID on (at a server).
    GoAway { id: u64 },
}

/// A [`Signal::Depend`] about nodes of which at least one is a push. The server knows their streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PushDepend {
    /// The node that the signal is about.
    pub element: TreeNode,
    /// Its new parent, which goes before it.
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

/// A node of the tree in a client's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeNode {
    /// The root, a placeholder or a request.
    Element(Element),
    /// A push.
    Push(PushId),
}
