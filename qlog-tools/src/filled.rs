//! The contents of the packets in one direction, summed while a log is read.

use crate::limits::FRAME_KINDS;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filled {
    /// By kind, in the order of first appearance.
    pub(crate) frames: Vec<FrameSum>,
    /// UDP datagrams; 0 if the log has no events for them.
    pub(crate) datagrams: u64,
    /// Packets that were sent or arrived at the same moment as the preceding packet of another space: probably in one
    /// datagram with it.
    pub(crate) joined: u64,
}

/// Frames of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct FrameSum {
    /// The kind, as qlog calls it.
    pub kind: String,
    /// The number of frames.
    pub count: u64,
    /// Their bytes of data, for frames with data and a logged length: STREAM, CRYPTO, DATAGRAM, PADDING.
    pub data_bytes: u64,
}

impl Filled {
    /// Counts a frame. If there are very many kinds, the last ones share a sum.
    pub(crate) fn add(&mut self, kind: &str, data_bytes: u64) {
        let place = self.frames.iter().position(|it| it.kind.eq_ignore_ascii_case(kind));
        let place = place.unwrap_or_else(|| {
            if self.frames.len() < FRAME_KINDS {
                let kind = kind.chars().take(40).collect::<String>().to_ascii_lowercase();
                self.frames.push(FrameSum { kind, ..FrameSum::default() });
            }
            self.frames.len() - 1
        });
        let sum = &mut self.frames[place];
        sum.count += 1;
        sum.data_bytes = sum.data_bytes.saturating_add(data_bytes);
    }

    pub(crate) fn data_bytes(&self, kind: &str) -> u64 {
        self.frames.iter().find(|it| it.kind == kind).map_or(0, |it| it.data_bytes)
    }
}
