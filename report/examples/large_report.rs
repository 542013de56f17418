//! Writes the report of a made-up connection of many frames: `large_report FRAMES OUT.html`. What the browser tests
//! open to see that the page stays smooth.

use std::fs;

use figures::palette::Look;
use qlog_tools::assembly::StreamFrame;
use qlog_tools::causes::{Causes, Mark};
use qlog_tools::event_list::{About, EventList, FrameContent};
use qlog_tools::metrics::{BySet, Measured};
use qlog_tools::packet::{PacketEvent, Space};
use report::viewer::{
    EventColumns, Events, Frame, Recording, Report, Role, Series, Stream, Unit, report,
};

const STREAMS: usize = 200;
const FRAME_BYTES: u64 = 1200;
/// From one frame to the next.
const FRAME_US: u64 = 12;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let usage = "usage: large_report FRAMES OUT.html";
    let count: u64 = std::env::args().nth(1).ok_or(usage)?.parse()?;
    let path = std::env::args().nth(2).ok_or(usage)?;
    let recording = recording(count);
    let page = Report {
        title: format!("A made-up connection of {count} frames"),
        recordings: vec![recording],
        ..Report::default()
    };
    fs::write(&path, report(&page))?;
    Ok(())
}

fn recording(count: u64) -> Recording {
    let mut random = Random(7);
    let mut streams: Vec<Stream> = (0..STREAMS).map(stream).collect();
    let mut frames = Vec::new();
    let mut losses = Vec::new();
    let mut time_us = 0;
    for _ in 0..count {
        // Groups of four streams share the connection; now and then it is silent.
        let group = frames.len() * STREAMS / 4 / usize::try_from(count).unwrap_or(usize::MAX);
        let place = group * 4 + usize::try_from(random.below(4)).unwrap_or_default();
        time_us += if random.below(5000) == 0 { 20_000 } else { FRAME_US };
        let stream = &mut streams[place.min(STREAMS - 1)];
        let mark = match random.below(1000) {
            0 => Some(Mark::Retransmitted),
            1 => Some(Mark::Reordered),
            2 => Some(Mark::Duplicate),
            _ => None,
        };
        if mark == Some(Mark::Retransmitted) {
            losses.push(time_us);
            stream.causes.retransmitted_bytes += FRAME_BYTES;
        }
        let released_bytes =
            if mark.is_some() { FRAME_BYTES * random.below(40) } else { FRAME_BYTES };
        frames.push(Frame {
            time_us,
            stream: place.min(STREAMS - 1),
            offset: stream.bytes,
            bytes: FRAME_BYTES,
            mark,
            released_bytes,
            released_tcp_bytes: released_bytes * 3,
        });
        stream.requested_us.get_or_insert(time_us.saturating_sub(30_000));
        stream.first_us.get_or_insert(time_us);
        stream.complete_us = Some(time_us);
        stream.bytes += FRAME_BYTES;
    }
    let logs = vec![events(&frames)];
    let completed = completions(&streams, (FRAME_BYTES * count) as f64);
    Recording {
        duration_us: time_us,
        facts: vec!["made up".to_owned(), format!("{count} STREAM frames")],
        series: series(count, time_us),
        events: vec![Events { name: "packet lost".to_owned(), times_us: losses }],
        causes: [(Mark::Retransmitted, "the packet with these bytes was lost".to_owned())].into(),
        metrics: Some(Measured::each(|_| BySet { all: Some(time_us as f64 / 2000.0), atf: None })),
        completed,
        streams,
        logs,
        frames,
        name: "made-up.sqlog".to_owned(),
        series_of: "the log's side".to_owned(),
        shown_of: "the log's side".to_owned(),
        losses_of: "the log's side".to_owned(),
        ..Recording::default()
    }
}

/// A packet for each frame, and an acknowledgement for every other one.
fn events(frames: &[Frame]) -> EventColumns {
    let mut list = EventList::default();
    let mut shown = Vec::new();
    for (number, frame) in (0_u64..).zip(frames) {
        let (id, offset, bytes) = (4 * frame.stream as u64, frame.offset, frame.bytes);
        shown.push(StreamFrame { time_us: frame.time_us, stream: id, offset, bytes });
        let stream = FrameContent::Stream { id, offset, bytes, ends: false };
        let packet = |event, number, frame| About::Packet {
            event,
            space: Space::Application,
            number: Some(number),
            bytes: 1250,
            frames: vec![frame],
        };
        let body = format!(
            r#"{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":1250}},"frames":[{{"frame_type":"stream","stream_id":{id},"offset":{offset},"length":{bytes}}}]}}"#
        );
        let received = packet(PacketEvent::Received, number, stream);
        list.add(frame.time_us, "quic:packet_received", &received, body.as_bytes());
        if number % 2 == 1 {
            let ranges = vec![(0, number.saturating_sub(9)), (number.saturating_sub(7), number)];
            let sent = packet(PacketEvent::Sent, number / 2, FrameContent::Ack(ranges));
            list.add(frame.time_us, "quic:packet_sent", &sent, b"{}");
        }
    }
    let mut columns = EventColumns::of(&list, |time_us| time_us, &shown);
    "the client".clone_into(&mut columns.whose);
    "made-up.sqlog".clone_into(&mut columns.file);
    columns
}

/// Made-up lines of the transport's figures.
fn series(count: u64, time_us: u64) -> Vec<Series> {
    let points = |low: u64, high: u64| -> Vec<(u64, u64)> {
        (0..count / 4)
            .map(|place| (place * time_us / (count / 4).max(1), low + place * 7919 % (high - low)))
            .collect()
    };
    vec![
        Series { name: "congestion window", unit: Unit::Bytes, points: points(90_000, 120_000) },
        Series { name: "bytes in flight", unit: Unit::Bytes, points: points(20_000, 90_000) },
        Series { name: "smoothed RTT", unit: Unit::Us, points: points(20_000, 24_000) },
    ]
}

/// When each stream was complete, and the share of all bytes that was complete then.
fn completions(streams: &[Stream], all: f64) -> Vec<(u64, f64)> {
    let mut completed: Vec<(u64, f64)> =
        streams.iter().filter_map(|it| Some((it.complete_us?, it.bytes as f64 / all))).collect();
    completed.sort_unstable_by_key(|it| it.0);
    let mut sum = 0.0;
    for (_, share) in &mut completed {
        sum += *share;
        *share = sum;
    }
    completed
}

fn stream(place: usize) -> Stream {
    Stream {
        id: 4 * place as u64,
        role: Role::Request,
        url: format!("/made-up/{place}.bin?x=</script><script>alert(1)</script>"),
        priority: format!("u={}", place % 8),
        requested_us: None,
        first_us: None,
        complete_us: None,
        bytes: 0,
        causes: Causes::default(),
        look: Look::nth(place),
    }
}

/// A small generator: the page must be the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
