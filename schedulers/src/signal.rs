//! A client's signals about order: three languages, one type.

use std::fmt;
use std::str::FromStr;

/// A QUIC stream ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u64);

/// A node of a dependency tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Element {
    /// The root, which has no bytes.
    Root,
    /// A permanent node without bytes: a group of streams.
    Placeholder(u64),
    /// The response on a stream.
    Stream(StreamId),
}

impl Element {
    /// The stream, if it is one.
    pub fn stream(self) -> Option<StreamId> {
        match self {
            Self::Stream(stream) => Some(stream),
            Self::Root | Self::Placeholder(_) => None,
        }
    }
}

/// Neither `root`, `placeholder N` nor `stream N`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownElement(String);

impl fmt::Display for UnknownElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not an element: use `root`, `placeholder N` or `stream N`", self.0)
    }
}

impl std::error::Error for UnknownElement {}

/// `root`, `placeholder 2`, `stream 8`: the form in logs and scenarios.
impl FromStr for Element {
    type Err = UnknownElement;

    fn from_str(text: &str) -> Result<Self, UnknownElement> {
        let element = match text.split_once(' ') {
            None if text == "root" => Some(Self::Root),
            Some(("placeholder", id)) => id.parse().ok().map(Self::Placeholder),
            Some(("stream", id)) => id.parse().ok().map(|id| Self::Stream(StreamId(id))),
            _ => None,
        };
        element.ok_or_else(|| UnknownElement(text.chars().take(40).collect()))
    }
}

/// One priority signal of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// RFC 9218: the `Priority` header field or a `PRIORITY_UPDATE` frame.
    Extensible {
        /// The response that it concerns.
        stream: StreamId,
        /// 0 (first) to 7 (last), default 3.
        urgency: u8,
        /// Whether the response is useful in parts.
        incremental: bool,
    },
    /// HTTP/3 drafts 20 and 22: the `PRIORITY` frame of the dependency tree.
    Depend {
        /// The node that it concerns.
        element: Element,
        /// Its new parent, which goes before it.
        parent: Element,
        /// 1 to 256, default 16; 0 to 255 under `zeroweight`.
        weight: u16,
        /// Whether all other children of the parent move below the node (draft 22).
        exclusive: bool,
    },
    /// Patrick Meenan's proposal of January 2019: one byte for each stream.
    Bucket {
        /// The response that it concerns.
        stream: StreamId,
        /// Priority 0 (last) to 63 (first) in the upper six bits, concurrency in the lower two.
        byte: u8,
    },
}

impl Signal {
    /// The stream that it concerns; `None` for the root and for placeholders.
    pub fn stream(&self) -> Option<StreamId> {
        match *self {
            Self::Extensible { stream, .. }
            | Self::Bucket { stream, .. }
            | Self::Depend { element: Element::Stream(stream), .. } => Some(stream),
            Self::Depend { .. } => None,
        }
    }
}
