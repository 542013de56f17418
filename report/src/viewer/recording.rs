//! The page's data for one log.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::json;

use super::band::Band;
use super::columns::{pack, pack_rising};
use super::event_columns::EventColumns;
use super::findings::Findings;
use figures::palette::Look;
use qlog_tools::alignment::path_of;
use qlog_tools::causes::{Causes, Mark};
use qlog_tools::labels::stream_label;
use qlog_tools::metrics::{METRICS, Measured};
use qlog_tools::timeline::busiest_fiftieth;
use qlog_tools::varint::zigzag;

/// One log in the form for the page's scripts. Times are in microseconds from the log's first event.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Recording {
    /// The file.
    pub name: String,
    /// The server's log of the same connection, if given.
    pub sender: Option<String>,
    /// The summary, in sentences.
    #[serde(skip)]
    pub answer: Vec<Answer>,
    /// Basic facts: stack, format, vantage point, counts.
    #[serde(skip)]
    pub facts: Vec<String>,
    /// Faults of the log, and their repairs.
    #[serde(skip)]
    pub remarks: Vec<String>,
    /// Its packets and acknowledgements in numbers.
    #[serde(skip)]
    pub in_numbers: Option<minijinja::Value>,
    /// Traffic besides requests and responses: uploads and datagrams.
    pub beside: Option<Box<Recording>>,
    /// Whether its frames are sent ones, not received ones.
    pub is_server: bool,
    /// The end of the log, at least a millisecond, so that figures have an axis.
    #[serde(rename = "duration")]
    pub duration_us: u64,
    /// The log's clock at the figures' zero: the shift from their times to the log's.
    #[serde(rename = "start")]
    pub start_us: u64,
    /// In display order.
    pub streams: Vec<Stream>,
    /// In the order of the log.
    #[serde(serialize_with = "columns")]
    pub frames: Vec<Frame>,
    /// Congestion window, round-trip time and similar values.
    pub series: Vec<Series>,
    /// The side they belong to: `the server`.
    pub series_of: String,
    /// The side whose log contains the frames.
    pub shown_of: String,
    /// The side that declared packets lost.
    pub losses_of: String,
    /// Sent data from the server's log: time, and cumulative stream bytes. Empty without that log.
    #[serde(serialize_with = "points")]
    pub sent: Vec<(u64, u64)>,
    /// The restraint of the sender.
    pub band: Option<Band>,
    /// Why that is not known.
    pub no_band: Option<String>,
    /// The events that can be marked in the figures.
    pub events: Vec<Events>,
    /// All events: of the log whose frames are shown, and of the other end's if given.
    pub logs: Vec<EventColumns>,
    /// Lint's findings in the sender's log.
    pub findings: Findings,
    /// The meaning of each mark in this log.
    pub causes: BTreeMap<Mark, String>,
    /// Its metrics over all resources.
    #[serde(serialize_with = "in_words")]
    pub metrics: Option<Measured>,
    /// Why it has no metrics.
    pub no_metrics: Option<String>,
    /// The share of body bytes in complete responses: time and share after each completion.
    pub completed: Vec<(u64, f64)>,
    /// Whether `Frame::released_tcp_bytes` depends on an estimated order of sending, without the sender's log.
    pub order_is_estimated: bool,
    /// Why the bytes that each frame released are unknown.
    pub no_stacks: Option<String>,
    /// Why there are no frames to show.
    pub no_frames: String,
}

/// A sentence about a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// It.
    pub text: String,
    /// The moment that it concerns.
    pub time_us: Option<u64>,
}

/// Typical of logs without any.
pub(super) const NO_FRAMES: &str = "the log holds no STREAM frames";

/// One stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stream {
    /// Its ID.
    pub id: u64,
    /// Its purpose.
    pub role: Role,
    /// The URL requested on it; empty if unknown.
    pub url: String,
    /// Its priority as signalled, with changes; empty if none.
    pub priority: String,
    /// When it was asked for.
    pub requested_us: Option<u64>,
    /// When its first byte arrived.
    pub first_us: Option<u64>,
    /// When all its bytes were readable.
    pub complete_us: Option<u64>,
    /// Distinct bytes.
    pub bytes: u64,
    /// Its bytes that arrived late or twice.
    #[serde(flatten)]
    pub causes: Causes,
    /// Its look in figures.
    pub look: Look,
}

impl Stream {
    /// Its ID and the part of its URL that fits.
    pub fn label(&self, characters: usize) -> String {
        stream_label(&self.id.to_string(), &self.named_url(), characters)
    }

    /// Its URL, after `push` if it was pushed.
    pub(crate) fn named_url(&self) -> String {
        match self.role {
            Role::Push => format!("push {}", path_of(&self.url)),
            _ => self.url.clone(),
        }
    }
}

/// The purpose of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A request and its response.
    Request,
    /// A pushed response.
    Push,
    /// Another unidirectional stream: control, QPACK.
    Control,
    /// In the direction of the requests.
    Upload,
    /// Not a stream, but the DATAGRAM frames of one direction, which its URL names.
    Datagrams,
}

/// One STREAM frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Frame {
    /// When it arrived or was sent.
    pub time_us: u64,
    /// Its place in [`Recording::streams`].
    pub stream: usize,
    /// Offset of its first byte.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Its classification.
    pub mark: Option<Mark>,
    /// Stream bytes that became readable with it.
    pub released_bytes: u64,
    /// Bytes that would have become readable with it in one ordered stream.
    pub released_tcp_bytes: u64,
}

impl Frame {
    /// Whether its bytes had not arrived, or been sent, before.
    pub fn is_new(&self, is_sent: bool) -> bool {
        match self.mark {
            Some(Mark::Duplicate) => false,
            Some(Mark::Retransmitted) => !is_sent,
            Some(Mark::Reordered) | None => true,
        }
    }
}

/// A value over time; it holds until the next.
#[derive(Debug, Clone, Serialize)]
pub struct Series {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Time and value.
    #[serde(flatten, serialize_with = "points")]
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
#[derive(Debug, Clone, Serialize)]
pub struct Events {
    /// The kind.
    pub name: String,
    /// When.
    #[serde(flatten, serialize_with = "moments")]
    pub times_us: Vec<u64>,
}

/// The time per byte in the busiest fiftieth of the log: the width of frames.
fn busy_us_per_byte(frames: &[Frame]) -> f64 {
    let busiest =
        busiest_fiftieth(frames.len(), |place| (frames[place].time_us, frames[place].bytes));
    busiest.map_or(0.0, |(window_us, bytes)| window_us as f64 / bytes.max(1) as f64)
}

/// A column for each property. An offset is its distance from the end of the stream's preceding frame.
#[expect(clippy::ptr_arg, reason = "serde gives the field")]
fn columns<S: Serializer>(all: &Vec<Frame>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut next: Vec<u64> = Vec::new();
    let offsets = pack(all.iter().map(|frame| {
        next.resize(next.len().max(frame.stream + 1), 0);
        let jump = frame.offset.wrapping_sub(next[frame.stream]).cast_signed();
        next[frame.stream] = frame.offset + frame.bytes;
        zigzag(jump)
    }));
    let columns = json!({
        "count": all.len(),
        "time": pack_rising(all.iter().map(|frame| frame.time_us)),
        "stream": pack(all.iter().map(|frame| frame.stream as u64)),
        "bytes": pack(all.iter().map(|frame| frame.bytes)),
        "offset": offsets,
        "mark": pack(all.iter().map(|frame| frame.mark.map_or(0, |mark| mark as u64))),
        "released": pack(all.iter().map(|frame| frame.released_bytes)),
        "releasedTcp": pack(all.iter().map(|frame| frame.released_tcp_bytes)),
        "busy_us_per_byte": busy_us_per_byte(all),
    });
    columns.serialize(serializer)
}

/// `ByteIndex 12.3 ms, sampled 100.0 ms` and so on.
#[expect(clippy::ref_option, reason = "serde gives the field")]
fn in_words<S: Serializer>(metrics: &Option<Measured>, serializer: S) -> Result<S::Ok, S::Error> {
    let words = metrics.as_ref().map(|measured| {
        let words = METRICS.iter().filter_map(|metric| {
            Some(format!("{} {:.1} {}", metric.heading, measured.get(metric).all?, metric.unit))
        });
        words.collect::<Vec<String>>().join(", ")
    });
    words.serialize(serializer)
}

fn points<S: Serializer>(points: &[(u64, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    let columns = json!({
        "count": points.len(),
        "time": pack_rising(points.iter().map(|point| point.0)),
        "value": pack(points.iter().map(|point| point.1)),
    });
    columns.serialize(serializer)
}

fn moments<S: Serializer>(times_us: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
    let time = pack_rising(times_us.iter().copied());
    json!({"count": times_us.len(), "time": time}).serialize(serializer)
}
