//! How a connection ended, which streams an end gave up, and which responses did not finish.

use std::collections::BTreeMap;

use serde::Serialize;

use super::words::ms_text;
use super::{Sentence, SentenceMoment, ms};
use crate::clock_shift::shift_us;
use crate::closing::{Closing, ErrorCode, GivenUp, How};
use crate::short_texts::{counted, shown};
use crate::trace::{StreamRole, Trace, Vantage};

/// The most characters of a reason in a sentence.
const REASON_CHARACTERS: usize = 80;
/// The most streams that a sentence names together.
const NAMED_STREAMS: usize = 3;

/// The ends of a connection and of its responses. Times are on the clock of the client's log, if there is one.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Ending {
    /// How the connection ended; `None`: not logged.
    pub close: Option<Close>,
    /// The streams that an end reset, or asked the other not to send, before they were complete.
    pub given_up: Vec<GivenUpStream>,
    /// The responses that were requested, without pushed ones.
    pub responses: u64,
    /// The streams of those that did not finish; `None`: the log does not show where streams end.
    pub unfinished: Option<Vec<u64>>,
    /// Whether the log that shows them ended before its connection did, as far as known.
    #[serde(skip)]
    is_open: bool,
}

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Close {
    /// When.
    pub time_ms: f64,
    /// The end that closed it; `None`: not logged.
    pub by: Option<Vantage>,
    /// How.
    pub how: How,
    /// The error code that it stated.
    pub error: ErrorCode,
    /// The reason that it stated.
    pub reason: Option<String>,
    #[serde(skip)]
    moment: SentenceMoment,
}

/// A stream that an end gave up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GivenUpStream {
    /// Its ID.
    pub stream: u64,
    /// When.
    pub time_ms: f64,
    /// The end that gave it up first; `None`: not logged.
    pub by: Option<Vantage>,
    /// Whether it was its receiver (`STOP_SENDING`).
    pub is_stop: bool,
    /// The error code that it stated.
    pub error: ErrorCode,
}

impl Ending {
    /// `log` is the client's or, without one, the server's; `sender` the server's, if there is one.
    pub(super) fn of(log: &Trace, sender: &Trace) -> Self {
        let is_one = std::ptr::eq(log, sender);
        let logs = [(log, 0), (sender, if is_one { 0 } else { shift_us(log, sender) })];
        let frames = logs.iter().filter_map(|it| Some((it, it.0.closings.frame.as_ref()?)));
        let events = logs.iter().filter_map(|it| Some((it, it.0.closings.event.as_ref()?)));
        let close = frames.chain(events).next();
        let mut given_up: BTreeMap<u64, GivenUpStream> = BTreeMap::new();
        for (trace, shift) in &logs {
            for (stream, it) in trace.closings.streams.iter().filter(|it| it.1.error.is_error()) {
                let one = || given_up_stream(trace, *shift, *stream, it);
                given_up.entry(*stream).or_insert_with(one);
            }
        }
        let is_push = |it: u64| log.stream(it).is_some_and(|it| it.role == StreamRole::Push);
        let requested = log.timeline.transfers.iter().zip(&log.details).filter(|it| !it.1.pushed);
        Self {
            close: close.map(|((trace, shift), it)| close_of(trace, *shift, it)),
            given_up: given_up.into_values().filter(|it| !is_push(it.stream)).collect(),
            responses: requested.count() as u64,
            unfinished: unfinished(log),
            is_open: log.lacks_end(),
        }
    }

    /// Says how it ended, unless all was in order or the log tells nothing.
    pub(super) fn sentence(&self, name: impl Fn(u64) -> String) -> Option<Sentence> {
        let unfinished = self.unfinished.as_deref().unwrap_or_default();
        let is_disorder = match &self.close {
            Some(Close { how: How::Closed, error, .. }) => error.is_error(),
            Some(Close { how: How::IdleTimeout, .. }) | None => false,
            Some(_) => true,
        };
        if !is_disorder && unfinished.is_empty() && self.given_up.is_empty() {
            return None;
        }
        let mut parts = vec![self.close.as_ref().map_or_else(
            || "The log does not show how the connection ended".to_owned(),
            close_text,
        )];
        parts.extend(self.given_up_texts(&name));
        if !unfinished.is_empty() {
            // Those that were given up are named already.
            let is_named = |stream: u64| self.given_up.iter().any(|it| it.stream == stream);
            let others: Vec<u64> = unfinished.iter().copied().filter(|it| !is_named(*it)).collect();
            let of = counted(self.responses, "response");
            let which = if others.is_empty() {
                String::new()
            } else {
                format!(": {}", named(&others, &name))
            };
            let when = if self.is_open { " by the end of the log" } else { "" };
            parts.push(format!("{} of {of} did not finish{when}{which}", unfinished.len()));
        }
        let moment = self.close.as_ref().map(|it| it.moment);
        Some(Sentence { about: "ending", text: format!("{}.", parts.join("; ")), moment })
    }

    /// Which streams were given up, together by end and error.
    fn given_up_texts(&self, name: impl Fn(u64) -> String) -> Vec<String> {
        let mut alike: Vec<(&GivenUpStream, Vec<u64>)> = Vec::new();
        for it in &self.given_up {
            let is_like = |one: &GivenUpStream| {
                (one.by, one.is_stop, &one.error) == (it.by, it.is_stop, &it.error)
            };
            match alike.iter_mut().find(|one| is_like(one.0)) {
                Some((_, streams)) => streams.push(it.stream),
                None => alike.push((it, vec![it.stream])),
            }
        }
        let texts = alike.into_iter().map(|(it, streams)| {
            let did = if it.is_stop { "cancelled" } else { "reset" };
            let who = end_text(it.by).unwrap_or("an end");
            format!("{who} {did} {} with {}", named(&streams, &name), error_text(&it.error))
        });
        texts.collect()
    }
}

fn close_of(trace: &Trace, shift_us: i64, it: &Closing) -> Close {
    Close {
        time_ms: on_clock_ms(it.time_us, shift_us),
        by: it.is_own.and_then(|is_own| end(trace, is_own)),
        how: it.how,
        error: it.error.clone(),
        reason: it.reason.clone(),
        moment: SentenceMoment {
            is_server: trace.vantage == Vantage::Server,
            time_ms: ms(it.time_us),
            stream: None,
            packet: None,
        },
    }
}

fn given_up_stream(trace: &Trace, shift_us: i64, stream: u64, it: &GivenUp) -> GivenUpStream {
    GivenUpStream {
        stream,
        time_ms: on_clock_ms(it.time_us, shift_us),
        by: end(trace, it.is_own),
        is_stop: it.is_stop,
        error: it.error.clone(),
    }
}

fn on_clock_ms(time_us: u64, shift_us: i64) -> f64 {
    ms(time_us.saturating_add_signed(shift_us))
}

/// The side that wrote a log, or the other; `None` for a log of neither.
fn end(trace: &Trace, is_own: bool) -> Option<Vantage> {
    match (trace.vantage, is_own) {
        (Vantage::Client, true) | (Vantage::Server, false) => Some(Vantage::Client),
        (Vantage::Server, true) | (Vantage::Client, false) => Some(Vantage::Server),
        (Vantage::Network | Vantage::Unknown, _) => None,
    }
}

/// The requested responses that were not complete when the log ended; `None` if streams' ends are not logged, or only a part of the log was
/// read.
fn unfinished(log: &Trace) -> Option<Vec<u64>> {
    let is_part = log.lacks_beginning() || log.unread_records() > 0;
    let transfers = &log.timeline.transfers;
    let shows_ends = transfers.iter().any(|it| it.stream_bytes.is_some())
        || log.request_streams.iter().any(|it| it.complete_us.is_some());
    if is_part || !shows_ends || log.counts.stream_frames == 0 {
        return None;
    }
    let requested = transfers.iter().zip(&log.details).filter(|it| !it.1.pushed).map(|it| it.0);
    let is_whole = |stream: u64| log.stream(stream).is_some_and(|it| it.complete_us.is_some());
    let left = requested.filter(|it| it.stream_bytes != Some(0) && !is_whole(it.stream));
    Some(left.map(|it| it.stream).collect())
}

fn close_text(close: &Close) -> String {
    let at = ms_text(close.time_ms);
    let reason = close.reason.as_ref().map(|it| format!("\"{}\"", shown(it, REASON_CHARACTERS)));
    let in_brackets = reason.as_ref().map_or_else(String::new, |it| format!(" ({it})"));
    let by = end_text(close.by);
    match close.how {
        How::IdleTimeout => format!("An idle timeout ended the connection at {at}{in_brackets}"),
        How::HandshakeTimeout => {
            format!("The handshake took too long, which ended the connection at {at}{in_brackets}")
        }
        How::VersionMismatch => {
            format!(
                "The ends had no version of QUIC in common, which ended the connection at {at}{in_brackets}"
            )
        }
        How::StatelessReset => {
            let by = by.map_or_else(String::new, |it| format!(" by {it}"));
            format!("A stateless reset{by} ended the connection at {at}{in_brackets}")
        }
        How::Closed => {
            let who = match close.by {
                Some(Vantage::Client) => "The client",
                Some(Vantage::Server) => "The server",
                _ => "An end",
            };
            let error = match (close.error.is_error(), &close.error) {
                (true, error) => format!(" with {}{in_brackets}", error_text(error)),
                (false, ErrorCode { code: None, name: None, .. }) => in_brackets,
                (false, _) => format!(" without an error{in_brackets}"),
            };
            format!("{who} closed the connection at {at}{error}")
        }
    }
}

fn end_text(end: Option<Vantage>) -> Option<&'static str> {
    match end? {
        Vantage::Client => Some("the client"),
        Vantage::Server => Some("the server"),
        Vantage::Network | Vantage::Unknown => None,
    }
}

/// `the transport's error FLOW_CONTROL_ERROR (0x3)`.
fn error_text(error: &ErrorCode) -> String {
    let whose = match error.is_application {
        Some(true) => "the application's error ",
        Some(false) => "the transport's error ",
        None => "error ",
    };
    match (&error.name, error.code) {
        (Some(name), Some(code)) => {
            format!("{whose}{} (0x{code:x})", shown(name, REASON_CHARACTERS))
        }
        (Some(name), None) => format!("{whose}{}", shown(name, REASON_CHARACTERS)),
        (None, Some(code)) => format!("{whose}0x{code:x}"),
        (None, None) => format!("{whose}that is not logged"),
    }
}

/// The first streams of several, and how many more there are.
fn named(streams: &[u64], name: impl Fn(u64) -> String) -> String {
    let mut names: Vec<String> = streams.iter().take(NAMED_STREAMS).map(|it| name(*it)).collect();
    let more = streams.len().saturating_sub(NAMED_STREAMS);
    names.extend((more > 0).then(|| format!("{more} more")));
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}
