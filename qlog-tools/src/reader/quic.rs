//! The bodies of QUIC events: packets with their STREAM frames, and data handed over.

use std::borrow::Cow;

use serde::Deserialize;

use super::limits::STREAM_OFFSET;
use super::tolerant::Whole;

/// Which way something went, seen from whoever wrote the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// It came in.
    Received,
    /// It went out.
    Sent,
}

/// `packet_received` and `packet_sent`.
#[derive(Deserialize)]
pub(super) struct Packet<'a> {
    #[serde(borrow, default)]
    pub(super) frames: Vec<Frame<'a>>,
}

/// A frame in a packet; only STREAM frames are looked into.
#[derive(Deserialize)]
pub(super) struct Frame<'a> {
    #[serde(rename = "frame_type", borrow)]
    kind: Option<Cow<'a, str>>,
    stream_id: Option<Whole>,
    offset: Option<Whole>,
    length: Option<Whole>,
    raw: Option<Raw>,
    #[serde(default)]
    fin: bool,
}

/// `RawInfo` of the main schema.
#[derive(Deserialize, Clone, Copy)]
pub(super) struct Raw {
    pub(super) length: Option<Whole>,
    pub(super) payload_length: Option<Whole>,
}

/// The STREAM frame in a [`Frame`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stream {
    pub(super) id: u64,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) ends: bool,
}

impl Frame<'_> {
    /// `None` for other frames and for impossible ones. Stacks put the data's length in one of
    /// three places (quiche in `raw.payload_length`, mvfst in `raw.length`, older schemas in
    /// `length`) and may leave out what is 0.
    pub(super) fn stream(&self) -> Option<Stream> {
        if self.kind.as_deref() != Some("stream") {
            return None;
        }
        let raw_length = || self.raw.and_then(|raw| raw.payload_length.or(raw.length));
        let bytes = self.length.or_else(raw_length).map_or(0, |bytes| bytes.0);
        let offset = self.offset.map_or(0, |offset| offset.0);
        if offset.checked_add(bytes)? > STREAM_OFFSET {
            return None;
        }
        Some(Stream { id: self.stream_id?.0, offset, bytes, ends: self.fin })
    }
}

/// `stream_data_moved`.
#[derive(Deserialize)]
pub(super) struct DataMoved<'a> {
    pub(super) stream_id: Option<Whole>,
    #[serde(borrow)]
    pub(super) from: Option<Cow<'a, str>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(json: &str) -> Option<(u64, u64, u64, bool)> {
        let frame: Frame<'_> = serde_json::from_str(json).unwrap();
        frame.stream().map(|stream| (stream.id, stream.offset, stream.bytes, stream.ends))
    }

    #[test]
    fn a_stream_frame_has_its_length_in_one_of_three_places() {
        for length in [
            r#""length":7"#,
            r#""raw":{"length":7}"#,
            r#""raw":{"payload_length":7}"#,
            r#""raw":{"length":9,"payload_length":7}"#,
        ] {
            let json = format!(
                r#"{{"frame_type":"stream","stream_id":"4","offset":3,{length},"fin":true}}"#
            );
            assert_eq!(stream(&json), Some((4, 3, 7, true)), "{length}");
        }
    }

    #[test]
    fn other_frames_and_impossible_offsets_are_left_out() {
        assert_eq!(stream(r#"{"frame_type":"ping"}"#), None);
        assert_eq!(stream(r#"{"frame_type":"stream","offset":1}"#), None);
        let far = u64::MAX;
        assert_eq!(
            stream(&format!(
                r#"{{"frame_type":"stream","stream_id":0,"offset":{far},"length":1}}"#
            )),
            None
        );
    }
}
