//! Every event of a log in the log's order, for the report's list of events and its packet diagram: the packet of each event
//! with all its frames and, within limits, the event's text.

use crate::limits::{
    ACK_RANGES, EVENT_NAMES, EVENT_TEXT_BYTES, FRAME_KINDS, TEXTS_OF_EVENTS_BYTES,
};
use crate::packet::{PacketEvent, Space};
use crate::varint::{put, take};

/// The events of one log, in about 50 bytes each, and 10 bytes per frame.
#[derive(Debug, Clone, Default)]
pub struct EventList {
    /// The events' names.
    pub names: Vec<String>,
    /// The kinds of frames other than STREAM and ACK.
    pub kinds: Vec<String>,
    /// In the order of the log.
    pub rows: Vec<Row>,
    /// The frames of all packets, one after another, encoded as numbers.
    frames: Vec<u8>,
    /// The stored bodies of the events, one after another.
    pub texts: Vec<u8>,
    /// Whether the log's ranges of acknowledged numbers end one number too late: [`EventList::frames`] corrects them.
    pub(crate) ends_are_beyond: bool,
    /// The bytes of `texts` from events in [`About::Packet`] and from metrics.
    frequent_bytes: usize,
}

/// One event.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// When, on the log's clock.
    pub time_us: u64,
    /// Its place in the list's names.
    pub name: u16,
    /// The stored length of its text.
    pub text_bytes: u32,
    /// Its subject.
    pub about: RowAbout,
}

impl Row {
    /// The stream that it concerns.
    pub fn stream(&self) -> Option<u64> {
        if let RowAbout::Stream(stream) = self.about { Some(stream) } else { None }
    }
}

/// The subject of an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum About<Frames = Vec<FrameContent>> {
    /// Neither a stream nor a packet.
    #[default]
    Connection,
    /// A value that is measured repeatedly: window, round-trip time.
    Metrics,
    /// The stream with this ID.
    Stream(u64),
    /// A packet.
    Packet {
        /// The event that happened to it.
        event: PacketEvent,
        /// The space of its number.
        space: Space,
        /// Its number, when logged.
        number: Option<u64>,
        /// Its bytes; 0 if not logged.
        bytes: u32,
        /// Its frames.
        frames: Frames,
    },
}

/// The subject of a row: of a packet's frames, it has the number of those in the list that belong to it.
pub type RowAbout = About<u32>;

/// A frame in a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameContent<Kind = String> {
    /// STREAM.
    Stream {
        /// The stream's ID.
        id: u64,
        /// The offset of the first byte.
        offset: u64,
        /// The length of the data.
        bytes: u64,
        /// Whether it has FIN.
        ends: bool,
    },
    /// ACK: first and last number of each range, the highest range first.
    Ack(Vec<(u64, u64)>),
    /// Any other frame.
    Other {
        /// Its kind, as in the log.
        kind: Kind,
        /// The stream that it concerns.
        stream: Option<u64>,
        /// Its limit, its offset, or its error code.
        value: Option<u64>,
    },
}

/// A stored frame: its kind is an index into the list's kinds.
pub type KeptFrame = FrameContent<usize>;

const STREAM: u64 = 0;
const STREAM_WITH_FIN: u64 = 1;
const ACK: u64 = 2;
const OTHERS: u64 = 3;
/// The name for all names, or kinds of frames, beyond the limit.
const OTHER_NAMES: &str = "(other names)";

impl EventList {
    /// Adds an event with its body as JSON text.
    pub fn add(&mut self, time_us: u64, name: &str, about: &About, text: &[u8]) {
        let is_frequent = matches!(about, About::Packet { .. } | About::Metrics);
        let text_bytes = self.keep(text, is_frequent);
        let name = place_of(&mut self.names, name, EVENT_NAMES);
        let about = match about {
            About::Connection => RowAbout::Connection,
            About::Metrics => RowAbout::Metrics,
            About::Stream(stream) => RowAbout::Stream(*stream),
            About::Packet { event, space, number, bytes, frames } => {
                for frame in frames {
                    self.frame(frame);
                }
                let frames = u32::try_from(frames.len()).unwrap_or(u32::MAX);
                let (event, space) = (*event, *space);
                RowAbout::Packet { event, space, number: *number, bytes: *bytes, frames }
            }
        };
        let name = u16::try_from(name).unwrap_or(u16::MAX);
        self.rows.push(Row { time_us, name, text_bytes, about });
    }

    /// The frames of all packets, one after another.
    pub fn frames(&self) -> impl Iterator<Item = KeptFrame> + '_ {
        let mut left = &self.frames[..];
        let beyond = u64::from(self.ends_are_beyond);
        std::iter::from_fn(move || kept_frame(&mut left, beyond))
    }

    /// Its memory, in units of about 40 bytes.
    pub(crate) fn kept(&self) -> usize {
        self.rows.len() + self.frames.len() / 40
    }

    /// Stores as much of a text as the limits allow; half of the space is reserved for rare events. Returns the number of stored
    /// bytes.
    fn keep(&mut self, text: &[u8], is_frequent: bool) -> u32 {
        let kept = &text[..text.len().min(EVENT_TEXT_BYTES)];
        let is_over = self.texts.len() + kept.len() > TEXTS_OF_EVENTS_BYTES;
        let is_half = self.frequent_bytes + kept.len() > TEXTS_OF_EVENTS_BYTES / 2;
        if is_over || (is_frequent && is_half) {
            return 0;
        }
        self.frequent_bytes += if is_frequent { kept.len() } else { 0 };
        self.texts.extend_from_slice(kept);
        u32::try_from(kept.len()).unwrap_or(u32::MAX)
    }

    fn frame(&mut self, frame: &FrameContent) {
        match frame {
            FrameContent::Stream { id, offset, bytes, ends } => {
                let kind = if *ends { STREAM_WITH_FIN } else { STREAM };
                self.numbers(&[kind, *id, *offset, *bytes]);
            }
            FrameContent::Ack(ranges) => {
                let mut ranges = ranges.clone();
                ranges.sort_unstable_by_key(|it| std::cmp::Reverse(it.1));
                ranges.truncate(ACK_RANGES);
                self.numbers(&[ACK, ranges.len() as u64]);
                for (first, last) in &ranges {
                    self.numbers(&[*first, last - first]);
                }
            }
            FrameContent::Other { kind, stream, value } => {
                let kind = place_of(&mut self.kinds, kind, FRAME_KINDS) as u64;
                // 0 means unknown.
                let [stream, value] =
                    [stream, value].map(|it| it.map_or(0, |number| number.saturating_add(1)));
                self.numbers(&[OTHERS + kind, stream, value]);
            }
        }
    }

    fn numbers(&mut self, numbers: &[u64]) {
        for number in numbers {
            put(&mut self.frames, *number);
        }
    }
}

/// Decodes a frame; `beyond` is the excess at the ends of ACK ranges.
fn kept_frame(left: &mut &[u8], beyond: u64) -> Option<KeptFrame> {
    match take(left)? {
        kind @ (STREAM | STREAM_WITH_FIN) => Some(KeptFrame::Stream {
            id: take(left)?,
            offset: take(left)?,
            bytes: take(left)?,
            ends: kind == STREAM_WITH_FIN,
        }),
        ACK => {
            let count = take(left)?;
            let ranges = (0..count).map_while(|_| Some((take(left)?, take(left)?)));
            let ranges = ranges.map(|(first, more)| (first, first + more.saturating_sub(beyond)));
            Some(KeptFrame::Ack(ranges.collect()))
        }
        other => {
            let kind = usize::try_from(other - OTHERS).unwrap_or_default();
            let (stream, value) = (take(left)?.checked_sub(1), take(left)?.checked_sub(1));
            Some(KeptFrame::Other { kind, stream, value })
        }
    }
}

/// The index of a name in a small table, to which it is added if missing.
fn place_of(names: &mut Vec<String>, name: &str, most: usize) -> usize {
    let place = names.iter().position(|it| it == name);
    place.unwrap_or_else(|| {
        let is_full = names.len() >= most;
        let entered = if is_full { OTHER_NAMES } else { name };
        let is_there = is_full && names.last().is_some_and(|it| it == OTHER_NAMES);
        if !is_there {
            names.push(entered.chars().take(crate::limits::SHOWN_EVENT_CHARACTERS).collect());
        }
        names.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(frames: Vec<FrameContent>) -> About {
        let (event, space) = (PacketEvent::Sent, Space::Application);
        About::Packet { event, space, number: Some(7), bytes: 1200, frames }
    }

    #[test]
    fn frames_come_back_as_they_were_added() {
        let mut list = EventList::default();
        let stream = FrameContent::Stream { id: 4, offset: 1 << 40, bytes: 1200, ends: true };
        let ack = FrameContent::Ack(vec![(0, 3), (5, 9)]);
        let limit = FrameContent::Other {
            kind: "max_stream_data".to_owned(),
            stream: Some(4),
            value: Some(0),
        };
        list.add(10, "quic:packet_sent", &packet(vec![stream, ack]), b"{}");
        list.add(11, "quic:packet_sent", &packet(vec![limit]), b"{}");
        let frames: Vec<KeptFrame> = list.frames().collect();
        assert_eq!(
            frames,
            [
                KeptFrame::Stream { id: 4, offset: 1 << 40, bytes: 1200, ends: true },
                // The highest range first, whatever the log's order.
                KeptFrame::Ack(vec![(5, 9), (0, 3)]),
                KeptFrame::Other { kind: 0, stream: Some(4), value: Some(0) },
            ]
        );
        assert_eq!(
            (&list.names[..], &list.kinds[..]),
            (&["quic:packet_sent".to_owned()][..], &["max_stream_data".to_owned()][..])
        );
    }

    #[test]
    fn packets_leave_half_of_the_room_for_texts_to_rare_events() {
        let mut list = EventList::default();
        let text = vec![b'x'; EVENT_TEXT_BYTES];
        for _ in 0..2 * TEXTS_OF_EVENTS_BYTES / EVENT_TEXT_BYTES {
            list.add(0, "packet_sent", &packet(Vec::new()), &text);
        }
        assert_eq!(list.texts.len(), TEXTS_OF_EVENTS_BYTES / 2);
        list.add(1, "parameters_set", &About::Connection, &[b'y'; 2 * EVENT_TEXT_BYTES]);
        let last = list.rows.last().unwrap();
        assert_eq!(last.text_bytes as usize, EVENT_TEXT_BYTES);
    }

    #[test]
    fn many_names_share_one() {
        let mut list = EventList::default();
        for name in 0..EVENT_NAMES + 50 {
            list.add(0, &format!("event {name}"), &About::Connection, b"");
        }
        assert_eq!(list.names.len(), EVENT_NAMES + 1);
        assert_eq!(list.names.last().unwrap(), OTHER_NAMES);
    }
}
