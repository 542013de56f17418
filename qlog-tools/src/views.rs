//! Which views a log allows, and what it lacks for the others.

use crate::metrics::{Completions, Unmeasured};
use crate::trace::{Trace, Vantage};

/// A view, and the reason if it is not possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The name of the command that shows it.
    pub name: &'static str,
    /// The missing data.
    pub reason: Option<&'static str>,
}

const NO_FRAMES: &str = "no STREAM frames logged";
const NO_FRAMES_AT_ALL: &str = "no STREAM frames logged: its packets are logged without their frames, as quinn does; \
     only a log of the other end, or of another stack, can tell";
const NO_STREAM_DATA: &str = "no STREAM frames logged: its packets carried other frames only";
const NO_LENGTHS: &str =
    "no lengths of STREAM frames logged: which bytes they carried cannot be told";
const NO_PACKETS: &str = "no STREAM frames logged: there is no packet event with frames in it";
const NO_BODIES: &str =
    "no STREAM frames logged that can be read: the bodies of its events could not be read";
const NO_TRANSFERS: &str = "no request streams in the log";
const UNFINISHED: &str = "no response finished";
const NOT_ARRIVAL: &str = "a server's log has no arrival times: use the client's, or both";
const IN_ORDER: &str = "TCP hands bytes over in order, so the log does not show which of them waited for a lost packet: compare \
     loads over several versions of HTTP";
const NO_RECOVERY: &str = "no congestion window, RTT or bytes in flight logged";
pub(crate) const CLIENTS: &str =
    "a client's log shows what arrived, not what held the server back: name the server's log too";
pub(crate) const BETWEEN: &str = "a log from the network shows what passed there, not what held the server back: name the \
     server's log, or name its side with --vantage";
pub(crate) const WHOSE: &str = "the log does not show which side wrote it: name it with --vantage";
pub(crate) const NO_SENT: &str = "no sent packets logged";
pub(crate) const NO_SIGNALS: &str = "no priorities in the log (HTTP/3 headers or PRIORITY_UPDATE)";

/// The data that the log lacks, in words; empty if nothing.
pub fn missing(trace: &Trace) -> Vec<&'static str> {
    let counts = &trace.counts;
    let lacks = [
        (counts.stream_frames == 0, NO_FRAMES),
        (has_no_lengths(trace), NO_LENGTHS),
        (counts.http_frames == 0, "no HTTP/3 frames logged: no URLs, body sizes or priorities"),
        (counts.packets_sent + counts.packets_received == 0, "no packets logged"),
        (
            counts.packets_lost == 0
                && !counts.knows_losses
                && trace.vantage == Vantage::Server
                && has_sent_again(trace),
            "no packet_lost events: losses show as retransmissions only",
        ),
        (counts.recovery_events == 0, NO_RECOVERY),
        (counts.data_moved == 0, "no data_moved events: when the application read is not known"),
    ];
    lacks.into_iter().filter(|(is_missing, _)| *is_missing).map(|(_, what)| what).collect()
}

/// Each view.
pub fn views(trace: &Trace) -> Vec<View> {
    let frames = (trace.counts.stream_frames == 0)
        .then_some(NO_FRAMES)
        .or(has_no_lengths(trace).then_some(NO_LENGTHS));
    let transfers = frames.or(trace.timeline.transfers.is_empty().then_some(NO_TRANSFERS));
    let is_server = trace.vantage == Vantage::Server;
    let is_complete = transfers.or_else(|| {
        let incomplete =
            trace.timeline.transfers.iter().all(|transfer| transfer.stream_bytes.is_none());
        incomplete.then_some("no stream's end is logged")
    });
    let is_whole = is_complete.or_else(|| match Completions::of_finished(trace, |_| true) {
        Err(Unmeasured::Unfinished { .. }) => Some(UNFINISHED),
        _ => None,
    });
    let arrivals = frames.or(is_server.then_some(NOT_ARRIVAL)).or(no_waits(trace));
    let recovery = (trace.counts.recovery_events == 0).then_some(NO_RECOVERY);
    let signals = trace.signals.is_empty().then_some(NO_SIGNALS);
    let lint = transfers.or(signals);
    [
        ("streams", frames),
        ("index", is_whole),
        ("ribbon", transfers),
        ("hol", arrivals),
        ("compare", is_complete),
        ("lint", lint),
        ("congestion", recovery),
        ("limits", no_restraints(trace)),
    ]
    .map(|(name, reason)| View { name, reason })
    .into()
}

/// Why a log does not show what held its sender back; `None` if it does.
pub(crate) fn no_restraints(trace: &Trace) -> Option<&'static str> {
    match trace.vantage {
        Vantage::Server => (trace.counts.packets_sent == 0).then_some(NO_SENT),
        Vantage::Unknown => Some(WHOSE),
        Vantage::Network => Some(BETWEEN),
        Vantage::Client => Some(CLIENTS),
    }
}

/// Why a log does not allow the view of this name; `None` if it does.
pub fn why_not(trace: &Trace, view: &str) -> Option<&'static str> {
    views(trace).into_iter().find(|it| it.name == view).and_then(|it| it.reason)
}

/// Why no stream can be shown; `None` if some can.
pub fn no_streams(trace: &Trace) -> Option<&'static str> {
    let counts = &trace.counts;
    let packets = counts.packets_sent + counts.packets_received;
    match (counts.stream_frames, packets, counts.packet_frames) {
        (1.., ..) => has_no_lengths(trace).then_some(NO_LENGTHS),
        (_, 0, _) if trace.unread_bodies() > 0 => Some(NO_BODIES),
        (_, 0, _) => Some(NO_PACKETS),
        (.., 0) => Some(NO_FRAMES_AT_ALL),
        _ => Some(NO_STREAM_DATA),
    }
}

/// The same in a line that names the file.
pub fn unusable(trace: &Trace) -> Option<String> {
    let cause = match (no_streams(trace)?, trace.unread_bodies()) {
        (NO_BODIES, 1) => "1 body of an event could not be read".to_owned(),
        (NO_BODIES, count) => format!("{count} bodies could not be read"),
        (reason, _) => reason.to_owned(),
    };
    Some(format!("{}: {cause}", trace.label()))
}

/// Why a client's log does not show which bytes waited for earlier ones; `None` if it does.
pub fn no_waits(trace: &Trace) -> Option<&'static str> {
    no_streams(trace).or((trace.counts.tcp_pieces > 0).then_some(IN_ORDER))
}

/// Stacks without an event for lost packets; quiche's newer metrics count them all the same.
const WITHOUT_LOSSES: [&str; 2] = ["quiche", "utmost"];

/// The number of packets declared lost; `None` if the stack does not log that, which a sender's retransmissions also reveal.
pub fn packets_lost(trace: &Trace) -> Option<u64> {
    let lost = trace.counts.packets_lost;
    let is_silent =
        trace.header.stack.name.as_deref().is_some_and(|name| WITHOUT_LOSSES.contains(&name))
            || trace.vantage == Vantage::Server && has_sent_again(trace);
    (lost > 0 || !is_silent || trace.counts.knows_losses).then_some(lost)
}

/// The same before `words` (`3 lost`).
pub fn losses(trace: &Trace, words: &str) -> String {
    let Some(lost) = packets_lost(trace) else { return "losses not logged".to_owned() };
    let counted = if trace.counts.knows_losses && lost > 0 {
        " (its metrics count them, but do not number them)"
    } else {
        ""
    };
    format!("{lost} {words}{counted}")
}

fn has_sent_again(trace: &Trace) -> bool {
    trace.streams.iter().any(|stream| stream.retransmitted_bytes > 0)
}

/// Whether its STREAM frames lack lengths, as in mvfst's newer logs.
fn has_no_lengths(trace: &Trace) -> bool {
    trace.counts.frames_without_length > 0 && trace.unique_stream_bytes() == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::read;

    #[test]
    fn why_there_are_no_streams_depends_on_what_was_logged() {
        let reason = |events: &str| {
            let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"client"}}}"#;
            no_streams(&read("log", format!("{header}\n{events}").as_bytes()).unwrap())
        };
        let packet = |data: &str| {
            format!(r#"{{"time":1,"name":"transport:packet_received","data":{{{data}}}}}"#)
        };
        assert_eq!(reason(""), Some(NO_PACKETS));
        assert_eq!(reason(&packet("")), Some(NO_FRAMES_AT_ALL));
        assert_eq!(reason(&packet(r#""frames":null"#)), Some(NO_FRAMES_AT_ALL));
        assert_eq!(reason(&packet(r#""frames":[{"frame_type":"ping"}]"#)), Some(NO_STREAM_DATA));
        let stream = r#""frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":1}]"#;
        assert_eq!(reason(&packet(stream)), None);
        let unread = packet(r#""frames":7"#);
        assert_eq!(reason(&unread), Some(NO_BODIES));
        let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"client"}}}"#;
        let log = format!("{header}\n{unread}\n{unread}");
        let said = unusable(&read("log", log.as_bytes()).unwrap());
        assert_eq!(said.as_deref(), Some("log: 2 bodies could not be read"));
    }

    /// A log of mvfst's newer kind: three frames at 0, 1000 and 2000.
    fn without_lengths() -> Trace {
        let frame = |offset: u64| {
            format!(
                r#"{{"time":{offset},"name":"quic:packet_received","data":{{"frames":[{{"frame_type":"stream","stream_id":"0","offset":{offset},"fin":false}}]}}}}"#
            )
        };
        let header = r#"{"file_schema":"x","trace":{"vantage_point":{"type":"client"}}}"#;
        let log = [header.to_owned(), frame(0), frame(1000), frame(2000)].join("\n");
        read("log", log.as_bytes()).unwrap()
    }

    #[test]
    fn frames_without_lengths_allow_no_view_that_needs_bytes() {
        let trace = without_lengths();
        assert_eq!((trace.counts.stream_frames, trace.counts.frames_without_length), (3, 3));
        assert_eq!(
            (trace.repairs[0].what.contains("without a length"), trace.repairs[0].count),
            (true, 3)
        );
        assert!(missing(&trace).contains(&NO_LENGTHS));
        assert_eq!(no_streams(&trace), Some(NO_LENGTHS));
        let needs_bytes = |view: &&View| !matches!(view.name, "congestion" | "limits");
        for view in views(&trace).iter().filter(needs_bytes) {
            assert_eq!(view.reason, Some(NO_LENGTHS), "{}", view.name);
        }
    }

    #[test]
    fn no_lost_packets_are_told_from_losses_that_are_not_logged() {
        let of = |stack: &str, vantage, packets_lost, retransmitted_bytes| {
            let mut trace = Trace { vantage, ..Trace::default() };
            trace.header.stack.name = Some(stack.to_owned());
            trace.counts.packets_lost = packets_lost;
            trace
                .streams
                .push(crate::trace::StreamSummary { retransmitted_bytes, ..Default::default() });
            losses(&trace, "lost")
        };
        assert_eq!(of("quic-go", Vantage::Server, 0, 0), "0 lost");
        assert_eq!(of("quic-go", Vantage::Server, 0, 500), "losses not logged");
        // Repeated bytes at a client were retransmitted by its server.
        assert_eq!(of("quic-go", Vantage::Client, 0, 500), "0 lost");
        assert_eq!(of("quiche", Vantage::Client, 0, 0), "losses not logged");
        assert_eq!(of("quiche", Vantage::Server, 8, 500), "8 lost");
    }

    #[test]
    fn a_count_of_lost_packets_without_their_numbers_is_called_one() {
        let mut trace = Trace { vantage: Vantage::Server, ..Trace::default() };
        trace.counts.knows_losses = true;
        assert_eq!(losses(&trace, "lost"), "0 lost");
        trace.counts.packets_lost = 8;
        let expected = "8 lost (its metrics count them, but do not number them)";
        assert_eq!(losses(&trace, "lost"), expected);
    }
}
