//! The restraint of the sender at each moment of a log: its application, its windows, its pacing, or nothing.
//!
//! Everything is computed from events that any stack may log: sent bytes (`packet_sent`), the congestion window and the bytes
//! in flight (`metrics_updated`), the limits of flow control (transport parameters, `MAX_DATA`, `MAX_STREAM_DATA`), and
//! application writes (`stream_data_moved`). Our server logs its send loop's knowledge (`utmost:restraint`), which has
//! precedence unless [`Evidence`] excludes it.

mod moments;
mod sender;
mod silences;
mod streams;
mod validation;

use schedulers::Restraint;

use crate::trace::Trace;
use crate::views::no_restraints;
use moments::moments;
use sender::Sender;
pub(crate) use silences::with_repairs;
use silences::with_silences;

/// A pause of at most this is the sender's own work: it counts as sending. Timers have no finer granularity.
const SENDING_US: u64 = 1000;
/// A pause of at most this is not from a pacer.
const WORK_US: u64 = 100;
/// A pause counts as pacing if it lasts at most this many times as long as the preceding burst takes at a rate of one window
/// per round trip, and at least that time divided by this.
const PACING: f64 = 4.0;

const NO_FRAMES: &str =
    "no STREAM frames logged: each packet counts as data, and flow control is not known";
pub(crate) const NO_WINDOW: &str = "no congestion window logged: it counts as never full";
const NO_FLIGHT: &str =
    "no bytes in flight logged: they are what was sent and neither acknowledged nor declared lost";
pub(crate) const NO_LIMITS: &str = "no limits of flow control logged (transport parameters, MAX_DATA, MAX_STREAM_DATA): they count as never reached";
const NO_HANDSHAKE: &str =
    "the end of the handshake is not logged: it counts as over with the first request or response";
pub(crate) const NOT_WRITTEN: &str = "when the application wrote its bytes is not logged: a pause in a response is pacing if \
     it is short for the window and the round-trip time, and otherwise the application's";

/// Which evidence of the sender's log to use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Evidence {
    /// All of it, including our server's own statements.
    #[default]
    All,
    /// All except our server's own statements.
    Calls,
    /// Only events that other stacks also log; not even the calls of our server's scheduler.
    Plain,
}

/// The restraints of a sender, from its log's first packet to its last event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restraints {
    /// In order, without gaps; neighbours differ.
    pub spans: Vec<Span>,
    /// The source.
    pub basis: Basis,
    /// Assumptions that were necessary because the log lacks an event.
    pub assumed: Vec<&'static str>,
}

/// An interval in which one thing held the sender back. Times are in microseconds on the log's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// From when.
    pub from_us: u64,
    /// Until when.
    pub to_us: u64,
    /// The restraint.
    pub by: Restraint,
}

schedulers::named! {
    /// The source of the spans.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Basis {
        /// The server's send loop logged it.
        Logged = "logged",
        /// Computed; the calls of our server's scheduler show which responses had bytes.
        Calls = "scheduler_calls",
        /// Computed from events of any stack.
        Computed = "computed",
    }
}

impl Basis {
    /// In a sentence.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Logged => "as the server's send loop logged it",
            Self::Calls => "computed from packets, windows and the calls of the scheduler",
            Self::Computed => "computed from packets and windows",
        }
    }
}

impl Restraints {
    /// The restraints of the sender that wrote this log, which must have been read with [`crate::trace::Detail::Full`]; an
    /// error names what the log lacks.
    pub fn of(trace: &Trace, evidence: Evidence) -> Result<Self, &'static str> {
        no_restraints(trace).map_or(Ok(()), Err)?;
        let logged = trace.own_server.as_ref().map_or(&[][..], |it| &it.restraints);
        if evidence == Evidence::All && !logged.is_empty() {
            return Ok(Self::logged(trace, logged));
        }
        let has_calls = evidence != Evidence::Plain && !trace.scheduler_calls().is_empty();
        Ok(Self {
            spans: with_silences(computed(trace, has_calls), trace),
            basis: if has_calls { Basis::Calls } else { Basis::Computed },
            assumed: assumed(trace, has_calls),
        })
    }

    fn logged(trace: &Trace, restraints: &[(u64, Restraint)]) -> Self {
        let (start_us, end_us) = bounds(trace);
        let mut spans = Vec::new();
        let mut now = (start_us, Restraint::Handshake);
        for &(time_us, by) in restraints {
            push(&mut spans, Span { from_us: now.0, to_us: time_us, by: now.1 });
            now = (time_us.max(start_us), by);
        }
        push(&mut spans, Span { from_us: now.0, to_us: end_us, by: now.1 });
        let spans = with_silences(spans, trace);
        Self { spans, basis: Basis::Logged, assumed: Vec::new() }
    }

    /// Milliseconds in all.
    pub fn duration_ms(&self) -> f64 {
        self.spans.iter().map(Span::us).sum::<u64>() as f64 / 1000.0
    }

    /// Milliseconds of each restraint, in the order of [`Restraint::ALL`].
    pub fn totals_ms(&self) -> [(Restraint, f64); Restraint::ALL.len()] {
        Restraint::ALL.map(|by| {
            let us: u64 = self.spans.iter().filter(|it| it.by == by).map(Span::us).sum();
            (by, us as f64 / 1000.0)
        })
    }
}

impl Span {
    pub(crate) fn us(&self) -> u64 {
        self.to_us.saturating_sub(self.from_us)
    }
}

/// In the words of tables and figures.
pub fn in_words(restraint: Restraint) -> &'static str {
    match restraint {
        Restraint::Handshake => "handshake",
        Restraint::AddressValidation => "address not validated yet",
        Restraint::Application => "application (nothing to send)",
        Restraint::CongestionWindow => "congestion window",
        Restraint::Acknowledgements => "waiting for acknowledgements",
        Restraint::ConnectionFlowControl => "flow control of the connection",
        Restraint::StreamFlowControl => "flow control of streams",
        Restraint::Pacing => "pacing",
        Restraint::Scheduler => "scheduler",
        Restraint::Nothing => "nothing (sending)",
    }
}

/// From the first packet to the last event.
pub(crate) fn bounds(trace: &Trace) -> (u64, u64) {
    let times = trace.packets().iter().map(|it| it.time_us);
    let last_us = times.clone().max().unwrap_or_default();
    let sampled_us = trace.samples().last().map_or(0, |it| it.time_us);
    (times.min().unwrap_or_default(), last_us.max(sampled_us))
}

fn assumed(trace: &Trace, has_calls: bool) -> Vec<&'static str> {
    let has_window = trace.samples().iter().any(|it| it.congestion_window_bytes.is_some());
    let has_flight = trace.samples().iter().any(|it| it.bytes_in_flight.is_some());
    let has_frames = !trace.timeline.frames.is_empty();
    let lacks = [
        (!has_frames, NO_FRAMES),
        (!has_window, NO_WINDOW),
        (has_window && !has_flight, NO_FLIGHT),
        (has_frames && trace.flow_control.is_none(), NO_LIMITS),
        (trace.handshake_us().is_none(), NO_HANDSHAKE),
        (trace.written.is_none() && !has_calls, NOT_WRITTEN),
    ];
    lacks.into_iter().filter(|it| it.0).map(|it| it.1).collect()
}

/// The state of knowledge at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// This held the sender back.
    Held(Restraint),
    /// Windows were open. `is_ready`: there certainly were bytes to send.
    Free { is_ready: bool },
}

fn computed(trace: &Trace, has_calls: bool) -> Vec<Span> {
    let (start_us, end_us) = bounds(trace);
    let mut sender = Sender::new(trace, has_calls);
    let mut spans = Vec::new();
    let mut pause: Option<Pause> = None;
    let mut now_us = start_us;
    for (time_us, moments) in moments(trace, has_calls) {
        let until_us = time_us.clamp(now_us, end_us);
        step(&mut spans, &mut pause, &sender, now_us, until_us);
        let sent = sender.sent_packets;
        for moment in moments {
            sender.take(time_us, moment);
        }
        if sender.sent_packets > sent {
            // A packet ends a pause.
            spans_of(&mut spans, pause.take(), until_us);
        }
        now_us = until_us;
    }
    step(&mut spans, &mut pause, &sender, now_us, end_us);
    spans_of(&mut spans, pause, end_us);
    spans
}

/// An interval in which the windows were open and nothing was sent.
#[derive(Debug, Clone, Copy)]
struct Pause {
    from_us: u64,
    is_ready: bool,
    /// It may be pacing if it ends in this interval.
    paced_us: (u64, u64),
}

/// Adds the time from one moment to the next, during which nothing changed.
fn step(
    spans: &mut Vec<Span>,
    pause: &mut Option<Pause>,
    sender: &Sender<'_>,
    from_us: u64,
    to_us: u64,
) {
    if to_us <= from_us {
        return;
    }
    match sender.known() {
        Known::Held(by) => {
            spans_of(spans, pause.take(), from_us);
            push(spans, Span { from_us, to_us, by });
        }
        Known::Free { is_ready } => {
            let paced_us = sender.paced_us();
            let pause = pause.get_or_insert(Pause { from_us, is_ready, paced_us });
            pause.is_ready &= is_ready;
        }
    }
}

/// Classifies a pause once its end is known.
fn spans_of(spans: &mut Vec<Span>, pause: Option<Pause>, to_us: u64) {
    let Some(Pause { from_us, is_ready, paced_us }) = pause else { return };
    let pause_us = to_us.saturating_sub(from_us);
    let by = if pause_us > WORK_US && (paced_us.0..=paced_us.1).contains(&to_us) {
        Restraint::Pacing
    } else if pause_us <= SENDING_US {
        Restraint::Nothing
    } else if is_ready {
        Restraint::Scheduler
    } else {
        Restraint::Application
    };
    push(spans, Span { from_us, to_us, by });
}

/// Adds a span, merged with the preceding one if that is of the same kind.
fn push(spans: &mut Vec<Span>, span: Span) {
    if span.to_us <= span.from_us {
        return;
    }
    match spans.last_mut() {
        Some(last) if last.by == span.by && last.to_us == span.from_us => last.to_us = span.to_us,
        _ => spans.push(span),
    }
}

#[cfg(test)]
mod tests;
