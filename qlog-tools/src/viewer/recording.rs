//! What the page shows of one log.

use serde::Serialize;
use serde_json::{Value, json};

use super::columns::{pack, pack_rising};
use crate::alignment::path_of;
use crate::figures::palette::Look;
use crate::figures::stream_label;
use crate::metrics::{METRICS, Measured};
use crate::timeline::busiest_fiftieth;
use crate::varint::zigzag;

/// One log, ready to be shown. Times are microseconds from the log's first event.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The file.
    pub name: String,
    /// The server's log of the same connection, when it was given too.
    pub sender: Option<String>,
    /// What to know of it before looking: stack, format, vantage point, counts.
    pub facts: Vec<String>,
    /// What was wrong with the log, and what was done about it.
    pub remarks: Vec<String>,
    /// Whether its frames are what was sent rather than what came.
    pub is_server: bool,
    /// When the log ends.
    pub duration_us: u64,
    /// In the order in which they are shown.
    pub streams: Vec<Stream>,
    /// In the order of the log.
    pub frames: Vec<Frame>,
    /// Congestion window, round-trip time and the like.
    pub series: Vec<Series>,
    /// The side that they belong to: `the server`.
    pub series_of: String,
    /// The side whose log contains the frames.
    pub shown_of: String,
    /// The side that declared packets lost.
    pub losses_of: String,
    /// What the server's log says was sent: time, and stream bytes so far. Empty without that log.
    pub sent: Vec<(u64, u64)>,
    /// What can be marked in the figures.
    pub events: Vec<Events>,
    /// What a mark means in this log.
    pub causes: Vec<(Mark, String)>,
    /// Its metrics over all resources, or why there are none.
    pub metrics: Result<Measured, String>,
    /// The share of body bytes in complete responses: time and share after each completion.
    pub completed: Vec<(u64, f64)>,
    /// Whether `Frame::released_tcp_bytes` rests on a guess of the order of sending; the reason, when there is
    /// nothing to show at all.
    pub stacks: Result<Exactness, String>,
    /// Why there are no frames to show.
    pub no_frames: String,
}

/// Typical of logs without any.
pub(super) const NO_FRAMES: &str = "the log holds no STREAM frames";

/// What figures of head-of-line blocking rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exactness {
    /// The sender's log.
    Exact,
    /// The receiver's log alone.
    Estimated,
}

/// One stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// Its ID.
    pub id: u64,
    /// What it is for.
    pub role: Role,
    /// What was asked for on it; empty when that is unknown.
    pub url: String,
    /// Its priority as signalled, with changes; empty without.
    pub priority: String,
    /// When it was asked for.
    pub requested_us: Option<u64>,
    /// When its first byte came.
    pub first_us: Option<u64>,
    /// When all its bytes were readable.
    pub complete_us: Option<u64>,
    /// Distinct bytes.
    pub bytes: u64,
    /// Bytes sent again.
    pub retransmitted_bytes: u64,
    /// Bytes that were there already.
    pub duplicate_bytes: u64,
    /// Bytes overtaken on their way.
    pub reordered_bytes: u64,
    /// How it is drawn.
    pub look: Look,
}

impl Stream {
    /// Its ID and what fits of its URL.
    pub fn label(&self, characters: usize) -> String {
        stream_label(&self.id.to_string(), &self.named_url(), characters)
    }

    /// Its URL, behind `push` if it was pushed.
    pub(crate) fn named_url(&self) -> String {
        match self.role {
            Role::Push => format!("push {}", path_of(&self.url)),
            Role::Request | Role::Control => self.url.clone(),
        }
    }
}

/// What a stream is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A request and its response.
    Request,
    /// A pushed response.
    Push,
    /// Another one-way stream: control, QPACK.
    Control,
}

/// One STREAM frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Frame {
    /// When it came, or went.
    pub time_us: u64,
    /// Its place in [`Recording::streams`].
    pub stream: usize,
    /// Offset of its first byte.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
    /// What was special about it.
    pub mark: Option<Mark>,
    /// Stream bytes that became readable with it.
    pub released_bytes: u64,
    /// Bytes that would have become readable with it in one ordered stream.
    pub released_tcp_bytes: u64,
}

impl Frame {
    /// Whether its bytes had not come, or gone, before.
    pub fn is_new(&self, is_sent: bool) -> bool {
        match self.mark {
            Some(Mark::Duplicate) => false,
            Some(Mark::Retransmitted) => !is_sent,
            Some(Mark::Reordered) | None => true,
        }
    }
}

/// What was special about a frame. The numbers are those of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Its bytes had been sent before, and lost.
    Retransmitted = 1,
    /// Its bytes were there already.
    Duplicate = 2,
    /// Later bytes overtook it.
    Reordered = 4,
}

/// A value over time; it holds until the next.
#[derive(Debug, Clone)]
pub struct Series {
    /// What it is.
    pub name: &'static str,
    /// In what.
    pub unit: Unit,
    /// Time and value.
    pub points: Vec<(u64, u64)>,
}

/// The unit of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Microseconds.
    Us,
}

/// Moments of one kind.
#[derive(Debug, Clone)]
pub struct Events {
    /// Which kind.
    pub name: String,
    /// When.
    pub times_us: Vec<u64>,
}

impl Recording {
    /// A log without anything in it.
    pub fn empty(name: &str) -> Self {
        let nothing = || NO_FRAMES.to_owned();
        Self {
            name: name.to_owned(),
            sender: None,
            facts: Vec::new(),
            remarks: Vec::new(),
            is_server: false,
            duration_us: 0,
            streams: Vec::new(),
            frames: Vec::new(),
            series: Vec::new(),
            series_of: "the log's side".to_owned(),
            shown_of: "the log's side".to_owned(),
            losses_of: "the log's side".to_owned(),
            sent: Vec::new(),
            events: Vec::new(),
            causes: Vec::new(),
            metrics: Err(nothing()),
            completed: Vec::new(),
            stacks: Err(nothing()),
            no_frames: nothing(),
        }
    }

    /// What the page's scripts read.
    pub(super) fn json(&self) -> Value {
        json!({
            "name": self.name,
            "sender": self.sender,
            "is_server": self.is_server,
            // A log of one moment gets an axis too.
            "duration": self.duration_us.max(1000),
            "streams": self.streams.iter().map(stream).collect::<Vec<_>>(),
            "frames": self.columns(),
            "series": self.series.iter().map(series).collect::<Vec<_>>(),
            "series_of": self.series_of,
            "shown_of": self.shown_of,
            "losses_of": self.losses_of,
            "sent": points(&self.sent),
            "events": self.events.iter().map(events).collect::<Vec<_>>(),
            "causes": self.causes.iter().map(|(mark, cause)| ((*mark as u8).to_string(), json!(cause))).collect::<serde_json::Map<_, _>>(),
            "busy_us_per_byte": self.busy_us_per_byte(),
            "metrics": self.metrics.as_ref().ok().map(in_words),
            "no_metrics": self.metrics.as_ref().err(),
            "completed": self.completed,
            "no_frames": self.no_frames,
            "no_stacks": self.stacks.as_ref().err(),
            "order_is_estimated": self.stacks == Ok(Exactness::Estimated),
        })
    }

    fn columns(&self) -> Value {
        let frames = || self.frames.iter();
        let mut next = vec![0; self.streams.len()];
        let offsets = frames().map(|frame| {
            let jump = frame.offset.wrapping_sub(next[frame.stream]).cast_signed();
            next[frame.stream] = frame.offset + frame.bytes;
            zigzag(jump)
        });
        let offsets = pack(offsets);
        json!({
            "count": self.frames.len(),
            "time": pack_rising(frames().map(|frame| frame.time_us)),
            "stream": pack(frames().map(|frame| frame.stream as u64)),
            "bytes": pack(frames().map(|frame| frame.bytes)),
            "offset": offsets,
            "mark": pack(frames().map(|frame| frame.mark.map_or(0, |mark| mark as u64))),
            "released": pack(frames().map(|frame| frame.released_bytes)),
            "releasedTcp": pack(frames().map(|frame| frame.released_tcp_bytes)),
        })
    }

    /// How long a byte takes in the busiest fiftieth of the log: how wide frames are drawn.
    fn busy_us_per_byte(&self) -> f64 {
        let frame = |place: usize| (self.frames[place].time_us, self.frames[place].bytes);
        let busiest = busiest_fiftieth(self.frames.len(), frame);
        busiest.map_or(0.0, |(window_us, bytes)| window_us as f64 / bytes.max(1) as f64)
    }
}

/// `ByteIndex 12.3 ms, sampled 100.0 ms` and so on.
fn in_words(measured: &Measured) -> String {
    let words = METRICS.iter().filter_map(|metric| {
        Some(format!("{} {:.1} {}", metric.heading, measured.get(metric).all?, metric.unit))
    });
    words.collect::<Vec<String>>().join(", ")
}

fn stream(stream: &Stream) -> Value {
    let marked_bytes = [stream.retransmitted_bytes, stream.duplicate_bytes, stream.reordered_bytes];
    json!({
        "id": stream.id,
        "role": stream.role,
        "url": stream.url,
        "priority": stream.priority,
        "requested_us": stream.requested_us,
        "first_us": stream.first_us,
        "complete_us": stream.complete_us,
        "bytes": stream.bytes,
        "retransmitted": stream.retransmitted_bytes,
        "duplicate": stream.duplicate_bytes,
        "reordered": stream.reordered_bytes,
        "has_marks": marked_bytes.iter().any(|bytes| *bytes > 0),
        "look": {"colour": stream.look.colour, "pattern": stream.look.pattern.name(), "ink": stream.look.ink()},
    })
}

fn series(series: &Series) -> Value {
    let mut written = points(&series.points);
    written["name"] = series.name.into();
    written["unit"] = json!(series.unit);
    written
}

fn points(points: &[(u64, u64)]) -> Value {
    json!({
        "count": points.len(),
        "time": pack_rising(points.iter().map(|point| point.0)),
        "value": pack(points.iter().map(|point| point.1)),
    })
}

fn events(events: &Events) -> Value {
    json!({
        "name": events.name,
        "count": events.times_us.len(),
        "time": pack_rising(events.times_us.iter().copied()),
    })
}
