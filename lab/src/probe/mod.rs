//! Does a server prioritize? The test of Davies and Meenan (2018), over HTTP/3: a late urgent request must overtake responses
//! in progress.
//!
//! A server that shares fairly, or serves the newest first, can appear to prioritize; so there are three kinds of run, all
//! with responses of equal size. *Urgent*: the others are of urgency 7, the late one of urgency 0. *Control*: all are of
//! urgency 3. *Inverse*: the others are of urgency 0, the late one of 7, and it must come last. Two more kinds test the rest
//! of RFC 9218. *Incremental*: all are of urgency 3 and incremental, and must share. *Updated*: the late one is of urgency 7,
//! and a `PRIORITY_UPDATE` makes it urgent once it waits. The measure is how many bytes of the others arrived between the late
//! request and its answer's last byte, from the client's qlog, in multiples of the late response's size.

mod choose;
mod heed;
mod verdict;

pub use choose::{Choice, choose};
use client::event_loop::{PlayError, probe};
use client::probe::{Answer, Fetched, Late, Patience, Plan, Reading, Request, Update};
pub use heed::{Heed, Heeds};
use qlog_tools::reader::{ReadError, read};
use qlog_tools::timeline::Timeline;
use qlog_tools::trace::SignalKind;
use serde::Serialize;
use std::net::SocketAddr;
use std::time::Duration;
pub use verdict::{Finding, Interval, Verdict, judge};

/// Smaller responses are sent before a server could change its mind.
pub const BODY_BYTES_MIN: u64 = 24_000;
/// The receive window is a response divided by this.
const WINDOW_PART: u64 = 8;
/// A smaller window has room for only a few packets, which disturbs congestion control.
const WINDOW_BYTES_MIN: u64 = 16_384;

/// The server to test, and how.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its name, for TLS and as `:authority`.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Its address.
    pub address: SocketAddr,
    /// The paths to request; if there are several, the others are requested in turn, and the first is the late one.
    pub paths: Vec<String>,
    /// Bytes of the first path's response.
    pub body_bytes: u64,
    /// The round-trip time.
    pub rtt: Duration,
    /// The trusted certificate authorities, and the deadlines.
    pub patience: Patience,
}

/// How much to test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Runs of each kind.
    pub repeats: usize,
    /// Responses in progress when the client makes the late request.
    pub others: usize,
    /// How long one response takes at the client's reading pace; raised to 16 round-trip times.
    pub response_time: Duration,
}

impl Default for Effort {
    fn default() -> Self {
        Self { repeats: 5, others: 8, response_time: Duration::from_millis(50) }
    }
}

/// The kind of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// All are of urgency 3.
    Control,
    /// The late one is urgent.
    Urgent,
    /// The late one is less urgent.
    Inverse,
    /// All are of urgency 3 and incremental.
    Incremental,
    /// The late one is less urgent, and becomes urgent by a `PRIORITY_UPDATE`.
    Updated,
}

impl Kind {
    /// All kinds, in the order of their turns.
    pub const ALL: [Self; 5] =
        [Self::Control, Self::Urgent, Self::Inverse, Self::Incremental, Self::Updated];
}

/// One run, measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Run {
    /// Its kind.
    pub kind: Kind,
    /// Stream bytes of the others that arrived after the late request, or after its `PRIORITY_UPDATE`, and before the end of
    /// its answer.
    pub others_bytes: u64,
    /// The part of `others_bytes` that arrived before the first byte of its answer.
    pub ahead_bytes: u64,
    /// Stream bytes of the others that had not arrived at that time.
    pub left_bytes: u64,
    /// The share of the others that had begun to arrive before the first of them was complete: 1 if all share.
    pub begun_share: f64,
    /// Stream bytes of the late response.
    pub late_bytes: u64,
    /// From that time to the end of its answer.
    pub late_ms: f64,
}

impl Run {
    /// The others' bytes that arrived first, in multiples of the late response's size; 0 is the best for an urgent one.
    pub fn others_first(&self) -> f64 {
        self.others_bytes as f64 / self.late_bytes.max(1) as f64
    }

    /// The remaining bytes of the others, in multiples of the late response's size.
    fn left(&self) -> f64 {
        self.left_bytes as f64 / self.late_bytes.max(1) as f64
    }

    /// The others' bytes that arrived first, as a share of their remaining bytes.
    fn others_share(&self) -> f64 {
        self.others_bytes as f64 / self.left_bytes.max(1) as f64
    }
}

/// Why a server could not be tested.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages and types say it")]
pub enum ProbeError {
    #[error(transparent)]
    Connection(#[from] PlayError),
    #[error(transparent)]
    Log(#[from] ReadError),
    #[error("{0}")]
    Answer(String),
}

/// How the client reads in the runs.
pub fn reading(target: &Target, effort: Effort) -> Reading {
    let response_time = effort.response_time.max(16 * target.rtt);
    Reading {
        window_bytes: (target.body_bytes / WINDOW_PART).max(WINDOW_BYTES_MIN),
        bytes_per_ms: Some(target.body_bytes as f64 / (1000.0 * response_time.as_secs_f64())),
    }
}

/// Runs all kinds in turn over a socket, so that changes on the path affect all of them; calls `done` after each run.
pub fn run_all(
    target: &Target,
    effort: Effort,
    done: impl FnMut(&Run),
) -> Result<Vec<Run>, ProbeError> {
    run_all_by(target, effort, |plan| Ok(probe(plan, target.address, &target.patience)?), done)
}

/// Like [`run_all`], with another way to carry out a plan.
pub fn run_all_by(
    target: &Target,
    effort: Effort,
    mut carry_out: impl FnMut(Plan) -> Result<Fetched, ProbeError>,
    mut done: impl FnMut(&Run),
) -> Result<Vec<Run>, ProbeError> {
    let mut runs = Vec::new();
    for _ in 0..effort.repeats {
        for kind in Kind::ALL {
            let run = run(target, kind, &carry_out(plan(target, effort, kind))?)?;
            done(&run);
            runs.push(run);
        }
    }
    Ok(runs)
}

fn run(target: &Target, kind: Kind, fetched: &Fetched) -> Result<Run, ProbeError> {
    if let Some(problem) = &fetched.problem {
        return Err(ProbeError::Answer(format!("{}: {problem}", target.address)));
    }
    let trace = read("the probe's log", &fetched.log[..])?;
    let late = fetched.answers.last().map_or(0, |it| it.stream);
    let mut updates = trace.signals.iter().filter(|it| it.how == SignalKind::Update);
    let updated_us = updates.find(|it| it.element == late).map(|it| it.time_us);
    measure(kind, &trace.timeline, late, updated_us, target.body_bytes).ok_or_else(|| {
        ProbeError::Answer(format!("{}: the late response did not arrive", target.address))
    })
}

fn plan(target: &Target, effort: Effort, kind: Kind) -> Plan {
    let (others, late) = match kind {
        Kind::Control | Kind::Incremental => (3, 3),
        Kind::Urgent => (7, 0),
        Kind::Inverse => (0, 7),
        Kind::Updated => (3, 7),
    };
    let incremental = kind == Kind::Incremental;
    let first = target.paths.iter().cycle().take(effort.others);
    let first = first.map(|path| request(path, Some(others), incremental));
    let after_bytes = target.body_bytes / 2;
    // After as many bytes again, the request has certainly arrived.
    let update =
        (kind == Kind::Updated).then_some(Update { urgency: 0, after_bytes: 2 * after_bytes });
    let late = target.paths.first().map(|path| Late {
        request: request(path, Some(late), incremental),
        after_bytes,
        update,
    });
    Plan {
        host: target.host.clone(),
        port: target.port,
        first: first.collect(),
        late,
        reading: reading(target, effort),
        keep_bodies: false,
    }
}

fn request(path: &str, urgency: Option<u8>, incremental: bool) -> Request {
    Request { path: path.to_owned(), urgency, incremental }
}

/// Measures the late response, whose priority may have been updated, and the others, from the client's timeline; `body_bytes`
/// is the size of each of the others until it is complete.
fn measure(
    kind: Kind,
    timeline: &Timeline,
    late: u64,
    updated_us: Option<u64>,
    body_bytes: u64,
) -> Option<Run> {
    let place = timeline.transfers.iter().position(|it| it.stream == late)?;
    let complete_us = timeline.deliveries()[place].complete_us?;
    let since_us = match kind {
        // A response that did not wait was complete earlier.
        Kind::Updated => updated_us.unwrap_or(complete_us).min(complete_us),
        _ => timeline.transfers[place].requested_us,
    };
    let first_us = timeline.frames.iter().find(|it| it.stream == late)?.time_us;
    let late_bytes = timeline.transfers[place].stream_bytes?;
    let others = timeline.transfers.iter().filter(|it| it.stream != late);
    let (mut before, mut ahead, mut between) = (0_u64, 0_u64, 0_u64);
    for frame in &timeline.frames {
        if !others.clone().any(|other| other.stream == frame.stream) {
            continue;
        }
        if frame.time_us <= since_us {
            before += frame.bytes;
        } else if frame.time_us <= complete_us {
            between += frame.bytes;
            if frame.time_us < first_us {
                ahead += frame.bytes;
            }
        }
    }
    let all_bytes: u64 = others.map(|it| it.stream_bytes.unwrap_or(body_bytes)).sum();
    Some(Run {
        kind,
        others_bytes: between,
        ahead_bytes: ahead,
        left_bytes: all_bytes.saturating_sub(before),
        begun_share: begun_share(timeline, late),
        late_bytes,
        late_ms: complete_us.saturating_sub(since_us) as f64 / 1000.0,
    })
}

/// The share of the others that had begun to arrive before the first of them was complete.
fn begun_share(timeline: &Timeline, late: u64) -> f64 {
    let deliveries = timeline.deliveries();
    let others = timeline.transfers.iter().zip(&deliveries).filter(|it| it.0.stream != late);
    let complete_us = others.clone().filter_map(|(_, delivery)| delivery.complete_us);
    let first_us = complete_us.min().unwrap_or(u64::MAX);
    let begun = others.clone().filter(|(transfer, _)| {
        let mut frames = timeline.frames.iter().filter(|it| it.stream == transfer.stream);
        frames.any(|it| it.time_us <= first_us)
    });
    begun.count() as f64 / others.count().max(1) as f64
}

/// Fetches `paths` at once, for their sizes and for the links of pages among them. Also returns the round-trip time.
pub fn fetch(target: &Target, paths: &[String]) -> Result<(Vec<Answer>, Duration), ProbeError> {
    let plan = Plan {
        host: target.host.clone(),
        port: target.port,
        first: paths.iter().map(|it| request(it, None, false)).collect(),
        late: None,
        reading: Reading::FREE,
        keep_bodies: true,
    };
    let Fetched { answers, problem, rtt, .. } = probe(plan, target.address, &target.patience)?;
    match problem {
        Some(problem) => Err(ProbeError::Answer(format!("{}: {problem}", target.address))),
        None => Ok((answers, rtt)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qlog_tools::assembly::StreamFrame;
    use qlog_tools::timeline::Transfer;

    #[test]
    fn what_came_between_the_late_request_and_its_end_counts() {
        let transfer = |stream, requested_us, stream_bytes| Transfer {
            stream,
            requested_us,
            stream_bytes,
            ..Transfer::default()
        };
        let frame = |time_us, stream, offset| StreamFrame { time_us, stream, offset, bytes: 100 };
        let timeline = Timeline {
            transfers: vec![
                transfer(0, 0, Some(300)),
                transfer(4, 0, None),
                transfer(8, 15, Some(200)),
            ],
            frames: vec![
                frame(10, 0, 0),
                frame(20, 0, 100),
                frame(21, 3, 0),
                frame(30, 8, 0),
                frame(40, 4, 0),
                frame(50, 8, 100),
                frame(60, 0, 200),
            ],
            ..Timeline::default()
        };
        let run = measure(Kind::Urgent, &timeline, 8, None, 300).expect("complete");
        assert_eq!((run.others_bytes, run.left_bytes, run.late_bytes), (200, 500, 200));
        assert_eq!(run.ahead_bytes, 100);
        assert!((run.others_first() - 1.0).abs() < 1e-9 && (run.late_ms - 0.035).abs() < 1e-9);
        assert_eq!(measure(Kind::Urgent, &timeline, 4, None, 300), None);
        // From the update on.
        let run = measure(Kind::Updated, &timeline, 8, Some(30), 300).expect("complete");
        assert_eq!((run.others_bytes, run.left_bytes), (100, 400));
        // It was complete before.
        let run = measure(Kind::Updated, &timeline, 8, None, 300).expect("complete");
        assert_eq!((run.others_bytes, run.left_bytes), (0, 300));
    }
}
