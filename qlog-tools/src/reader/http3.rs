//! The bodies of HTTP/3 events, and their sums for each stream.

use std::borrow::Cow;

use serde::Deserialize;

use super::quic::{Raw, Stream};
use super::tolerant::Whole;
use crate::limits::TEXT_CHARACTERS;
use crate::trace::SignalKind;

/// `frame_created` and `frame_parsed`.
#[derive(Deserialize)]
pub(super) struct FrameEvent<'a> {
    pub(super) stream_id: Whole,
    #[serde(alias = "byte_length")]
    length: Option<Whole>,
    raw: Option<Raw>,
    /// Over HTTP/2 and HTTP/1.1, our logs give the offset of a body piece, and whether it is the last.
    offset: Option<Whole>,
    fin: Option<bool>,
    #[serde(borrow)]
    pub(super) frame: Frame<'a>,
}

#[derive(Deserialize)]
pub(crate) struct Frame<'a> {
    #[serde(rename = "frame_type", borrow)]
    pub(crate) kind: Cow<'a, str>,
    raw: Option<Raw>,
    #[serde(borrow, default)]
    pub(super) headers: Vec<Field<'a>>,
    /// The subject of a `PRIORITY_UPDATE`; some logs use it instead of `push_id`.
    #[serde(alias = "prioritized_element_id", alias = "request_stream_id")]
    stream_id: Option<Whole>,
    pub(crate) push_id: Option<Whole>,
    #[serde(borrow)]
    target_stream_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) priority_field_value: Option<Cow<'a, str>>,
}

impl Frame<'_> {
    /// The subject of a `PRIORITY_UPDATE`, and its kind.
    pub(crate) fn prioritized(&self) -> Option<(u64, SignalKind)> {
        let is_push = self.target_stream_type.as_deref() == Some("push");
        match (self.stream_id, self.push_id) {
            (Some(stream), None) if !is_push => Some((stream.0, SignalKind::Update)),
            (stream, push) => Some((push.or(stream)?.0, SignalKind::PushUpdate)),
        }
    }
}

/// `priority_updated`.
#[derive(Deserialize)]
pub(super) struct PriorityUpdated<'a> {
    pub(super) stream_id: Option<Whole>,
    #[serde(borrow)]
    pub(super) new: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
pub(super) struct Field<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    value: Option<Cow<'a, str>>,
}

/// `stream_type_set`.
#[derive(Deserialize)]
pub(super) struct StreamType<'a> {
    pub(super) stream_id: Whole,
    #[serde(rename = "stream_type", alias = "new", borrow)]
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) associated_push_id: Option<Whole>,
}

impl FrameEvent<'_> {
    /// A body piece over TCP: its stream has no other bytes.
    pub(super) fn piece(&self) -> Option<Stream> {
        Stream::of(self.stream_id, Some(self.offset?), self.length, self.fin == Some(true))
    }

    /// The length in the event: for DATA the payload's; for HEADERS the whole frame's in our logs, and the
    /// payload's in quiche's own.
    pub(super) fn bytes(&self) -> u64 {
        let raw = self.raw.or(self.frame.raw);
        let raw_payload = raw.and_then(|raw| raw.payload_length.map(|bytes| bytes.0));
        let raw_whole =
            raw.and_then(|raw| raw.length.map(|bytes| self.without_frame_header(bytes.0)));
        self.length.map(|bytes| bytes.0).or(raw_payload).or(raw_whole).unwrap_or(0)
    }

    /// Subtracts the frame's type and length, which `raw.length` includes.
    fn without_frame_header(&self, whole: u64) -> u64 {
        if !self.frame.kind.eq_ignore_ascii_case("data") {
            return whole;
        }
        (2..=9)
            .map(|header| whole.saturating_sub(header))
            .find(|&payload| frame_header_bytes(payload) + payload <= whole)
            .unwrap_or(0)
    }
}

/// The length of a frame's one-byte type and its length field (RFC 9000, section 16).
pub(super) fn frame_header_bytes(payload: u64) -> u64 {
    1 + match payload {
        0..64 => 1,
        64..16_384 => 2,
        16_384..1_073_741_824 => 4,
        _ => 8,
    }
}

/// The fields of one HEADERS or `PUSH_PROMISE` frame.
#[derive(Debug, Default, Clone)]
pub(super) struct Message {
    pub(super) is_request: bool,
    pub(super) url: String,
    pub(super) status: Option<u16>,
    pub(super) content_length: Option<u64>,
    pub(super) content_type: Option<String>,
    pub(super) priority: Option<String>,
}

impl Message {
    pub(super) fn read(fields: &[Field<'_>]) -> Self {
        let mut message = Self::default();
        let (mut scheme, mut authority, mut path) = (None, None, None);
        for field in fields {
            let (Some(name), Some(value)) = (field.name.as_deref(), field.value.as_deref()) else {
                continue;
            };
            match name {
                ":method" => message.is_request = true,
                ":scheme" => scheme = Some(value),
                ":authority" => authority = Some(value),
                ":path" => path = Some(value),
                ":status" => message.status = value.parse().ok(),
                "content-length" => message.content_length = value.parse().ok(),
                "content-type" => message.content_type = Some(kept(value)),
                "priority" => message.priority = Some(kept(value)),
                _ => {}
            }
        }
        let path = path.unwrap_or_default();
        message.url = match (scheme, authority) {
            (Some(scheme), Some(authority)) => kept(&format!("{scheme}://{authority}{path}")),
            _ => kept(path),
        };
        message
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &String> {
        let others = [&self.content_type, &self.priority];
        std::iter::once(&self.url).chain(others.into_iter().flatten())
    }
}

/// A text from the log, cut if it is very long. Replaces characters that a terminal or a page would obey (control
/// characters, marks for the writing direction).
pub(super) fn kept(text: &str) -> String {
    let mut characters =
        text.chars().map(|it| if is_obeyed(it) { char::REPLACEMENT_CHARACTER } else { it });
    let mut kept: String = characters.by_ref().take(TEXT_CHARACTERS).collect();
    if characters.next().is_some() {
        kept.push('\u{2026}');
    }
    kept
}

fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether [`kept`] has cut it.
pub(super) fn is_cut(text: &str) -> bool {
    text.len() > TEXT_CHARACTERS && text.chars().nth(TEXT_CHARACTERS).is_some()
}

/// The HTTP/3 frames of one stream in one direction, summed.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Framing {
    /// Bytes of the frames before the first DATA frame, as far as they were logged.
    header_bytes: u64,
    pub(super) data_frames: u64,
    /// Bytes of their payloads.
    pub(super) data_bytes: u64,
    /// Bytes of type and length of all DATA frames.
    data_header_bytes: u64,
    first_data_header_bytes: u64,
}

impl Framing {
    pub(super) fn headers(&mut self, bytes: u64) {
        if self.data_frames == 0 {
            self.header_bytes = self.header_bytes.saturating_add(bytes);
        }
    }

    pub(super) fn data(&mut self, bytes: u64) {
        let header = frame_header_bytes(bytes);
        if self.data_frames == 0 {
            self.first_data_header_bytes = header;
        }
        self.data_frames += 1;
        self.data_bytes = self.data_bytes.saturating_add(bytes);
        self.data_header_bytes = self.data_header_bytes.saturating_add(header);
    }

    /// The minimum length of a stream with all these frames.
    pub(super) fn least_bytes(&self) -> u64 {
        self.header_bytes.saturating_add(self.data_header_bytes).saturating_add(self.data_bytes)
    }

    /// Stream bytes before the body. The difference between the stream and its DATA frames is exact, even if
    /// preceding frames were not logged (reserved frames often are not). For a stream with an unknown end, only the
    /// logged frames count.
    pub(super) fn body_offset(&self, stream_bytes: Option<u64>) -> u64 {
        let of_data = self.data_bytes.saturating_add(self.data_header_bytes);
        let rest = stream_bytes.and_then(|bytes| bytes.checked_sub(of_data));
        let rest = rest.filter(|_| self.data_frames > 0).unwrap_or(self.header_bytes);
        rest.saturating_add(self.first_data_header_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_obeyed_is_replaced() {
        assert_eq!(kept("a\u{1b}[2J\u{202e}b\u{e9}"), "a\u{fffd}[2J\u{fffd}b\u{e9}");
    }

    #[test]
    fn the_body_starts_after_all_that_is_not_data() {
        let mut framing = Framing::default();
        framing.headers(19);
        framing.data(100);
        framing.data(20_000);
        // 19 for headers, 36 not logged, 3 + 100 and 5 + 20000 for DATA
        assert_eq!(framing.body_offset(Some(20_163)), 19 + 36 + 3);
        assert_eq!(framing.body_offset(None), 22);
        assert_eq!(framing.body_offset(Some(5)), 22);
    }

    #[test]
    fn a_data_length_is_that_of_the_payload() {
        let bytes = |json: &str| serde_json::from_str::<FrameEvent<'_>>(json).unwrap().bytes();
        assert_eq!(bytes(r#"{"stream_id":0,"length":100,"frame":{"frame_type":"data"}}"#), 100);
        assert_eq!(
            bytes(r#"{"stream_id":0,"frame":{"frame_type":"data","raw":{"length":103}}}"#),
            100
        );
        assert_eq!(bytes(r#"{"stream_id":0,"frame":{"frame_type":"data","raw":{"length":2}}}"#), 0);
        assert_eq!(
            bytes(
                r#"{"stream_id":0,"raw":{"length":65,"payload_length":63},"frame":{"frame_type":"data"}}"#
            ),
            63
        );
        assert_eq!(
            bytes(r#"{"stream_id":0,"frame":{"frame_type":"headers","raw":{"length":50}}}"#),
            50
        );
    }
}
