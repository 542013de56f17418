//! A part of a log: a stretch of time, some streams. It keeps earlier events that describe its streams: request and
//! response headers, priorities, promises.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::ops::Range;

use serde::Deserialize as _;
use serde_json::Value;

use super::schema::whole;
use crate::limits::STREAMS;
use crate::number_ranges::NumberRanges;
use crate::packet::Space;
use crate::reader::ReadError;
use crate::reader::http3::Frame;
use crate::reader::raw::{EventKind, Raw, RawEvent, pieces};
use crate::trace::SignalKind;

/// Which events to keep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cut {
    /// Only events in this time, in microseconds on the log's clock.
    pub time_us: Option<Range<u64>>,
    /// Only events of these streams; events that belong to no stream are kept.
    pub streams: Option<BTreeSet<u64>>,
}

/// A cut, and its contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    cut: Cut,
    /// When the trace's first and last events are, by their times; `None` if it has none.
    ends_us: Option<[u64; 2]>,
    /// Whether any event is in its time.
    has_events: bool,
    /// The streams with something in it.
    streams: BTreeSet<u64>,
    /// Push IDs of its streams with pushes.
    pushes: BTreeSet<u64>,
    /// The packets that were sent outside it.
    sent_outside: BTreeMap<Space, NumberRanges>,
}

/// Where an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Inside,
    /// Before the part, but describing one of its streams.
    Before,
    Outside,
}

impl Part {
    /// Reads trace `trace` (from 0) of a log to determine the contents of the cut.
    pub fn survey(file: &str, input: impl Read, trace: usize, cut: Cut) -> Result<Self, ReadError> {
        let mut part = Self { cut, ..Self::default() };
        let mut pushes: BTreeMap<u64, u64> = BTreeMap::new();
        let mut sent_outside: BTreeMap<Space, NumberRanges> = BTreeMap::new();
        pieces(file, input, |raw| {
            let Raw::Event(mut event) = raw else { return true };
            if event.trace != trace {
                return true;
            }
            let is_within = part.cut.has_time(event.time_us);
            part.has_events |= is_within;
            let [first_us, last_us] = part.ends_us.unwrap_or([event.time_us; 2]);
            part.ends_us = Some([first_us.min(event.time_us), last_us.max(event.time_us)]);
            if part.streams.len() + pushes.len() >= STREAMS {
                return true;
            }
            if event.kind == EventKind::StreamTypeSet
                && let Some(push_id) = number(&event.data, &["associated_push_id"])
                && let Some(stream) = stream_of(&event.data)
            {
                pushes.insert(stream, push_id);
            }
            if is_within {
                let named = named(&event.data).filter(|it| part.cut.has_stream(*it));
                part.streams.extend(named);
            }
            if event.kind == EventKind::PacketSent
                && let Some((space, number)) = packet_number(&event.data)
                && !(is_within && part.cut.keep_frames(&mut event.data))
            {
                sent_outside.entry(space).or_default().add(number, number);
            }
            true
        })?;
        let pushes = pushes.into_iter().filter(|(stream, _)| part.streams.contains(stream));
        part.pushes = pushes.map(|(_, push_id)| push_id).collect();
        part.sent_outside = sent_outside;
        Ok(part)
    }

    /// The times of the trace's first and last events, in microseconds, if none is in the cut's time.
    pub fn missed_us(&self) -> Option<[u64; 2]> {
        self.ends_us.filter(|_| !self.has_events)
    }

    /// The requested streams that the trace does not have in the cut's time.
    pub fn absent_streams(&self) -> Vec<u64> {
        let wanted = self.cut.streams.iter().filter(|_| self.ends_us.is_some()).flatten();
        wanted.filter(|it| !self.streams.contains(it)).copied().collect()
    }

    /// The event's place; removes frames of streams outside the part.
    pub(super) fn place(&self, event: &mut RawEvent) -> Place {
        let about = About::of(event);
        if self.cut.has_time(event.time_us) {
            let is_kept = match about {
                About::Packet => self.cut.keep_frames(&mut event.data),
                About::Loss => self.keep_loss(&event.data),
                About::Metrics => {
                    self.drop_lost_counts(&mut event.data);
                    true
                }
                About::Connection | About::Nothing => true,
                About::Stream(stream) | About::Identity(stream) => self.cut.has_stream(stream),
                About::Push(push_id) => {
                    self.cut.streams.is_none() || self.pushes.contains(&push_id)
                }
            };
            return if is_kept { Place::Inside } else { Place::Outside };
        }
        let is_before = self.cut.time_us.as_ref().is_some_and(|it| event.time_us < it.start);
        let is_kept = match about {
            About::Identity(stream) => self.streams.contains(&stream),
            About::Push(push_id) => self.pushes.contains(&push_id),
            About::Connection => true,
            _ => false,
        };
        if is_before && is_kept { Place::Before } else { Place::Outside }
    }

    /// When it begins, unless with the log.
    pub(super) fn begins_us(&self) -> Option<u64> {
        self.cut.time_us.as_ref().map(|it| it.start).filter(|start_us| *start_us > 0)
    }

    /// Whether the lost packet is in the part. A loss without a number belongs to no stream.
    fn keep_loss(&self, data: &Value) -> bool {
        match packet_number(data) {
            Some((space, number)) => {
                !self.sent_outside.get(&space).is_some_and(|it| it.has(number))
            }
            None => self.cut.streams.is_none(),
        }
    }

    /// Removes quiche's counts of lost packets, which are of all streams.
    fn drop_lost_counts(&self, metrics: &mut Value) {
        if let (Some(_), Value::Object(metrics)) = (&self.cut.streams, metrics) {
            metrics.retain(|key, _| !key.starts_with("cf_lost_"));
        }
    }
}

/// The space and number of a packet, wherever drafts have them.
fn packet_number(packet: &Value) -> Option<(Space, u64)> {
    let header = packet.get("header").unwrap_or(&Value::Null);
    let kinds = [header.get("packet_type"), packet.get("packet_type"), packet.get("type")];
    let kind = kinds.into_iter().flatten().find_map(Value::as_str).unwrap_or_default();
    let space = match &*kind.to_ascii_lowercase() {
        "initial" => Space::Initial,
        "handshake" => Space::Handshake,
        _ => Space::Application,
    };
    let number = [header, packet].into_iter().find_map(|it| number(it, &["packet_number"]))?;
    Some((space, number))
}

impl Cut {
    fn has_time(&self, time_us: u64) -> bool {
        self.time_us.as_ref().is_none_or(|it| it.contains(&time_us))
    }

    fn has_stream(&self, stream: u64) -> bool {
        self.streams.as_ref().is_none_or(|it| it.contains(&stream))
    }

    /// Removes frames of other streams from a packet; returns whether it is still worth keeping.
    fn keep_frames(&self, packet: &mut Value) -> bool {
        let Some(Value::Array(frames)) = packet.get_mut("frames") else { return true };
        let before = frames.len();
        frames.retain(|frame| stream_of(frame).is_none_or(|stream| self.has_stream(stream)));
        before == 0 || !frames.is_empty()
    }
}

/// The subject of an event.
enum About {
    /// Several streams, according to its frames.
    Packet,
    Loss,
    Metrics,
    /// Data on a stream.
    Stream(u64),
    /// Facts about a stream: headers, priority, type.
    Identity(u64),
    /// Facts about a push.
    Push(u64),
    /// Facts about the connection.
    Connection,
    Nothing,
}

impl About {
    fn of(event: &RawEvent) -> Self {
        let data = &event.data;
        let stream = stream_of(data);
        match event.kind {
            EventKind::PacketSent | EventKind::PacketReceived => Self::Packet,
            EventKind::PacketLost => Self::Loss,
            EventKind::Recovery => Self::Metrics,
            EventKind::ParametersSet => Self::Connection,
            EventKind::StreamTypeSet | EventKind::PriorityUpdated => {
                stream.map_or(Self::Nothing, Self::Identity)
            }
            EventKind::FrameCreated | EventKind::FrameParsed => Self::of_frame(stream, data),
            _ if data.get("frames").is_some() => Self::Packet,
            _ => stream.map_or(Self::Nothing, Self::Stream),
        }
    }

    fn of_frame(stream: Option<u64>, data: &Value) -> Self {
        let of_stream = stream.map_or(Self::Nothing, Self::Stream);
        let Some(frame) = data.get("frame").and_then(|frame| Frame::deserialize(frame).ok()) else {
            return of_stream;
        };
        match (&*frame.kind, stream) {
            ("headers", Some(stream)) => Self::Identity(stream),
            ("push_promise", _) => frame.push_id.map_or(of_stream, |it| Self::Push(it.0)),
            ("priority_update", _) => match frame.prioritized() {
                Some((element, SignalKind::PushUpdate)) => Self::Push(element),
                Some((element, _)) => Self::Identity(element),
                None => of_stream,
            },
            _ => of_stream,
        }
    }
}

/// The streams that an event names.
fn named(data: &Value) -> impl Iterator<Item = u64> {
    let frames = data.get("frames").and_then(Value::as_array);
    frames.into_iter().flatten().chain([data]).filter_map(stream_of)
}

fn stream_of(value: &Value) -> Option<u64> {
    number(value, &["stream_id", "id"])
}

fn number(value: &Value, keys: &[&str]) -> Option<u64> {
    keys.iter().find_map(|key| value.get(*key).and_then(whole))
}
