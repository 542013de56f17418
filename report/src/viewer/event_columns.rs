//! All events of a log in the form for the page: a column for each property of events, of the packets among them, and of the
//! packets' frames. `templates/view/events.js` reads them.

use serde::Serialize;
use serde_json::json;

use super::columns::{pack, pack_bytes, pack_rising};
use qlog_tools::assembly::StreamFrame;
use qlog_tools::event_list::{EventList, KeptFrame, Row, RowAbout};
use qlog_tools::packet::{PacketEvent, Space};
use qlog_tools::varint::zigzag;

/// The events of one log. Times are the figure's.
#[derive(Debug, Clone, Default, Serialize)]
pub struct EventColumns {
    /// The side that logged them: `the client`.
    pub whose: String,
    /// The file.
    pub file: String,
    /// The shift from the figure's times to this log's, in µs.
    pub to_own_clock_us: i64,
    /// The number of events.
    #[serde(rename = "count")]
    pub events: usize,
    /// How many packets they are about.
    pub packets: usize,
    pub(super) columns: serde_json::Value,
}

/// Kinds of frames in the page's numbering: frames that are in the figures have no values here.
const IN_FIGURES: u64 = 0;
const IN_FIGURES_WITH_FIN: u64 = 1;
const STREAM: u64 = 2;
const STREAM_WITH_FIN: u64 = 3;
const ACK: u64 = 4;
const OTHERS: u64 = 5;

impl EventColumns {
    /// The events of `list`; `at` converts their times to the figure's. `shown` are the figure's frames, if they are from this
    /// log.
    pub fn of(list: &EventList, at: impl Fn(u64) -> u64, shown: &[StreamFrame]) -> Self {
        let rows = &list.rows;
        let packets = rows.iter().filter_map(packet);
        let frames = frames(list, shown);
        let columns = json!({
            "names": list.names,
            "kinds": list.kinds,
            "time": pack_rising(rows.iter().map(|it| at(it.time_us))),
            "name": pack(rows.iter().map(|it| u64::from(it.name))),
            "what": pack(rows.iter().map(what)),
            "stream": pack(rows.iter().filter_map(Row::stream)),
            "space": pack(packets.clone().map(|it| it.space as u64)),
            "number": pack(numbers(packets.clone())),
            "bytes": pack(packets.clone().map(|it| u64::from(it.bytes))),
            "frames": pack(packets.clone().map(|it| u64::from(it.frames))),
            "kind": pack(frames.kinds.iter().copied()),
            "kindCount": frames.kinds.len(),
            "value": pack(frames.values.iter().copied()),
            "valueCount": frames.values.len(),
            "textBytes": pack(rows.iter().map(|it| u64::from(it.text_bytes))),
            "text": pack_bytes(&list.texts),
        });
        let (events, packets) = (rows.len(), packets.count());
        Self { events, packets, columns, ..Self::default() }
    }
}

/// A row about a packet.
struct PacketOf {
    event: PacketEvent,
    space: Space,
    number: Option<u64>,
    bytes: u32,
    frames: u32,
}

fn packet(row: &Row) -> Option<PacketOf> {
    match row.about {
        RowAbout::Packet { event, space, number, bytes, frames } => {
            Some(PacketOf { event, space, number, bytes, frames })
        }
        RowAbout::Connection | RowAbout::Metrics | RowAbout::Stream(_) => None,
    }
}

/// 0: something else, 1: a packet was sent, 2: received, 3: lost, 4: concerns a stream.
fn what(row: &Row) -> u64 {
    match row.about {
        RowAbout::Connection | RowAbout::Metrics => 0,
        RowAbout::Packet { event: PacketEvent::Sent, .. } => 1,
        RowAbout::Packet { event: PacketEvent::Received, .. } => 2,
        RowAbout::Packet { event: PacketEvent::Lost | PacketEvent::Acknowledged, .. } => 3,
        RowAbout::Stream(_) => 4,
    }
}

/// Each number as its difference from the preceding one of the same space and event, plus 1; 0 if unknown.
fn numbers(packets: impl Iterator<Item = PacketOf>) -> impl Iterator<Item = u64> {
    let mut before = [[0_u64; 3]; 4];
    packets.map(move |packet| {
        let Some(number) = packet.number else { return 0 };
        let last = &mut before[packet.event as usize][packet.space as usize];
        let step = number.wrapping_sub(*last).cast_signed();
        *last = number;
        zigzag(step).saturating_add(1)
    })
}

/// The kinds of the frames, followed by their values.
#[derive(Default)]
struct Frames {
    kinds: Vec<u64>,
    values: Vec<u64>,
}

fn frames(list: &EventList, shown: &[StreamFrame]) -> Frames {
    let mut frames = Frames::default();
    let mut shown = shown.iter().peekable();
    let mut all = list.frames();
    let mut largest = [0_u64; 4];
    for row in &list.rows {
        let Some(packet) = packet(row) else { continue };
        for frame in all.by_ref().take(packet.frames as usize) {
            match frame {
                KeptFrame::Stream { id, offset, bytes, ends } => {
                    let own = StreamFrame { time_us: row.time_us, stream: id, offset, bytes };
                    if shown.next_if_eq(&&own).is_some() {
                        frames.kinds.push(if ends { IN_FIGURES_WITH_FIN } else { IN_FIGURES });
                    } else {
                        frames.kinds.push(if ends { STREAM_WITH_FIN } else { STREAM });
                        frames.values.extend([id, offset, bytes]);
                    }
                }
                KeptFrame::Ack(ranges) => {
                    frames.kinds.push(ACK);
                    frames.acknowledged(&ranges, &mut largest[packet.event as usize]);
                }
                KeptFrame::Other { kind, stream, value } => {
                    frames.kinds.push(OTHERS + kind as u64);
                    // Plus one, because 0 means none.
                    let values = [stream, value].map(|it| it.map_or(0, |it| it.saturating_add(1)));
                    frames.values.extend(values);
                }
            }
        }
    }
    frames
}

impl Frames {
    /// The number of ranges, the difference of the largest number from the preceding ACK, and the length of its range downwards;
    /// then for each other range the distance to the one above it, and its length.
    fn acknowledged(&mut self, ranges: &[(u64, u64)], largest: &mut u64) {
        self.values.push(ranges.len() as u64);
        let mut above = None;
        for (first, last) in ranges {
            let step = last.wrapping_sub(above.unwrap_or(*largest)).cast_signed();
            self.values.extend([zigzag(step), last - first]);
            above = Some(*first);
        }
        *largest = ranges.first().map_or(*largest, |it| it.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    use qlog_tools::event_list::{About, FrameContent};
    use qlog_tools::varint::take;
    use std::io::Read as _;

    fn unpacked(columns: &EventColumns, name: &str) -> Vec<u64> {
        let packed = BASE64_STANDARD.decode(columns.columns[name].as_str().unwrap()).unwrap();
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut plain).unwrap();
        let mut left = &plain[..];
        std::iter::from_fn(|| take(&mut left)).collect()
    }

    fn packet(event: PacketEvent, number: u64, frames: Vec<FrameContent>) -> About {
        let (space, number) = (Space::Application, Some(number));
        About::Packet { event, space, number, bytes: 1200, frames }
    }

    #[test]
    fn a_frame_that_stands_in_the_figures_is_not_embedded_again() {
        let stream = |id, offset| FrameContent::Stream { id, offset, bytes: 100, ends: false };
        let mut list = EventList::default();
        list.add(10, "sent", &packet(PacketEvent::Sent, 1, vec![stream(0, 0)]), b"{}");
        list.add(20, "received", &packet(PacketEvent::Received, 5, vec![stream(4, 7)]), b"");
        list.add(20, "parsed", &About::Stream(4), b"{\"x\":1}");
        let frame = |time_us, stream, offset| StreamFrame { time_us, stream, offset, bytes: 100 };
        let columns = EventColumns::of(&list, |time_us| time_us - 10, &[frame(20, 4, 7)]);
        assert_eq!((columns.events, columns.packets), (3, 2));
        assert_eq!(unpacked(&columns, "kind"), [STREAM, IN_FIGURES]);
        // Only the request's frame has values of its own.
        assert_eq!(unpacked(&columns, "value"), [0, 0, 100]);
        assert_eq!(unpacked(&columns, "time"), [0, 10, 0]);
        assert_eq!(unpacked(&columns, "what"), [1, 2, 4]);
        assert_eq!(unpacked(&columns, "stream"), [4]);
        assert_eq!(unpacked(&columns, "textBytes"), [2, 0, 7]);
    }

    #[test]
    fn numbers_and_ranges_are_embedded_as_small_distances() {
        let ack = |ranges: &[(u64, u64)]| vec![FrameContent::Ack(ranges.to_vec())];
        let mut list = EventList::default();
        let sent = |number, ranges: &[(u64, u64)]| packet(PacketEvent::Sent, number, ack(ranges));
        list.add(1, "sent", &sent(1000, &[(0, 2), (4, 9)]), b"");
        list.add(2, "sent", &sent(1001, &[(0, 2), (4, 10)]), b"");
        let columns = EventColumns::of(&list, |time_us| time_us, &[]);
        assert_eq!(unpacked(&columns, "number"), [2001, 3]);
        // Two ranges: 9 down to 4; 2 below, down by 2. Then the same, but 1 above the 9.
        assert_eq!(unpacked(&columns, "value"), [2, 18, 5, 3, 2, 2, 2, 6, 3, 2]);
    }
}
