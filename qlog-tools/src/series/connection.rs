//! Connection-level series: rows about packets, events, windows and limits.

use std::fmt::Write as _;
use std::io;

use super::{Cell, Series, column};
use crate::event_list::{EventList, FrameContent, KeptFrame, RowAbout};
use crate::loss_recovery::{Basis, LossRecovery};
use crate::packet::Space;
use crate::packet_curves::{CURVES, curves};
use crate::restraints::{Evidence, Restraints};
use crate::trace::{Detail, Trace};
use crate::views::{NO_SENT, why_not};

const NO_PACKETS: &str = "no packets logged";
const NO_EVENTS: &str = "no events in the log";
const NO_LIMITS: &str =
    "no limits of flow control logged (transport parameters, MAX_DATA, MAX_STREAM_DATA)";

/// A count for which 0 means that it was not logged.
fn logged(bytes: u32) -> Cell<'static> {
    if bytes == 0 { Cell::None } else { Cell::Whole(bytes.into()) }
}

pub(super) const PACKETS: Series = Series {
    name: "packets",
    about: "what happened to a packet; with logs of both ends, first one end's, then the other's",
    columns: &[
        column("time_ms", "when"),
        column(
            "event",
            "`sent`, `received`, `lost` (declared lost; quiche's metrics count such packets and do not number them), \
                    `acknowledged` (for the first time)",
        ),
        column("space", "the space of its number: `initial`, `handshake`, `application`"),
        column("number", "its number"),
        column("bytes", "its length"),
    ],
    detail: Detail::Full,
    lacks: |trace: &Trace| trace.packets().is_empty().then_some(NO_PACKETS),
    write: |trace, _, rows| {
        trace.packets().iter().try_for_each(|it| {
            rows(&[
                Cell::Time(it.time_us),
                Cell::Text(it.event.name()),
                Cell::Text(it.space.name()),
                Cell::maybe(it.number, Cell::Whole),
                logged(it.bytes),
            ])
        })
    },
};

pub(super) const EVENTS: Series = Series {
    name: "events",
    about: "an event of the log, in the log's order",
    columns: &[
        column("time_ms", "when"),
        column("name", "its name in the log"),
        column("stream", "the stream that it concerns"),
        column("packet_event", "for a packet: `sent`, `received`, `lost`, `acknowledged`"),
        column("space", "the space of the packet's number"),
        column("number", "the packet's number"),
        column("bytes", "the packet's length"),
        column(
            "frames",
            "the packet's frames: `stream 4 0+1200 fin`, `ack 5-9 0-3`, others with stream and value",
        ),
    ],
    detail: Detail::Events,
    lacks: |trace: &Trace| event_list(trace).is_none().then_some(NO_EVENTS),
    write: |trace, _, rows| {
        let Some(list) = event_list(trace) else { return Ok(()) };
        let mut all_frames = list.frames();
        let mut words = String::new();
        list.rows.iter().try_for_each(|row| {
            words.clear();
            let stream = Cell::maybe(row.stream(), Cell::Whole);
            let mut packet = [Cell::None; 4];
            if let RowAbout::Packet { event, space, number, bytes, frames } = row.about {
                for frame in all_frames.by_ref().take(frames as usize) {
                    add_frame(&mut words, &frame, &list.kinds);
                }
                let (event, space) = (Cell::Text(event.name()), Cell::Text(space.name()));
                packet = [event, space, Cell::maybe(number, Cell::Whole), logged(bytes)];
            }
            let name = list.names.get(usize::from(row.name)).map_or("", |it| it);
            let (time, name, [event, space, number, bytes]) =
                (Cell::Time(row.time_us), Cell::Text(name), packet);
            rows(&[time, name, stream, event, space, number, bytes, Cell::Text(&words)])
        })
    },
};

fn event_list(trace: &Trace) -> Option<&EventList> {
    trace.events.as_ref().map(|it| &it.list).filter(|it| !it.rows.is_empty())
}

/// Appends a frame in words; writing to a string cannot fail.
fn add_frame(words: &mut String, frame: &KeptFrame, kinds: &[String]) {
    if !words.is_empty() {
        words.push_str("; ");
    }
    let _ = match frame {
        FrameContent::Stream { id, offset, bytes, ends } => {
            let end = if *ends { " fin" } else { "" };
            write!(words, "stream {id} {offset}+{bytes}{end}")
        }
        FrameContent::Ack(ranges) => {
            words.push_str("ack");
            ranges.iter().try_for_each(|(first, last)| {
                write!(words, " {first}")?;
                if first == last { Ok(()) } else { write!(words, "-{last}") }
            })
        }
        FrameContent::Other { kind, stream, value } => {
            words.push_str(kinds.get(*kind).map_or("", |it| it));
            let stream = stream.map_or_else(String::new, |it| format!(" stream={it}"));
            let value = value.map_or_else(String::new, |it| format!(" value={it}"));
            write!(words, "{stream}{value}")
        }
    };
}

pub(super) const CONGESTION: Series = Series {
    name: "congestion",
    about: "the state of the sender's recovery, as it was logged; empty where an event does not contain it",
    columns: &[
        column("time_ms", "when"),
        column("congestion_window_bytes", "the congestion window"),
        column("in_flight_bytes", "sent, and neither acknowledged nor lost"),
        column("slow_start_threshold_bytes", "empty while it is unlimited"),
        column("smoothed_rtt_ms", "the smoothed round-trip time"),
        column("latest_rtt_ms", "the latest round-trip time"),
        column("least_rtt_ms", "the least round-trip time"),
    ],
    detail: Detail::Full,
    lacks: |trace| why_not(trace, "congestion"),
    write: |trace, _, rows| {
        trace.samples().iter().try_for_each(|it| {
            rows(&[
                Cell::Time(it.time_us),
                Cell::maybe(it.congestion_window_bytes, Cell::Whole),
                Cell::maybe(it.bytes_in_flight, Cell::Whole),
                Cell::maybe(it.slow_start_threshold_bytes, Cell::Whole),
                Cell::maybe(it.smoothed_rtt_ms, Cell::Number),
                Cell::maybe(it.latest_rtt_ms, Cell::Number),
                Cell::maybe(it.min_rtt_ms, Cell::Number),
            ])
        })
    },
};

pub(super) const PROGRESS: Series = Series {
    name: "progress",
    about: "a step of a curve of packet bytes, one curve after the other; a curve without bytes in the log has no rows",
    columns: &[
        column("time_ms", "when"),
        column(
            "curve",
            "`sent`, `acknowledged`, `lost`, `allowed by the congestion window`, `allowed by the connection's flow control`",
        ),
        column("bytes", "how many so far"),
    ],
    detail: Detail::Full,
    lacks: |trace: &Trace| (trace.counts.packets_sent == 0).then_some(NO_SENT),
    write: |trace, _, rows| {
        for (name, points) in CURVES.into_iter().zip(curves(trace)) {
            for (time_us, bytes) in points {
                rows(&[Cell::Time(time_us), Cell::Text(name), Cell::Whole(bytes)])?;
            }
        }
        Ok(())
    },
};

pub(super) const FLOW_CONTROL: Series = Series {
    name: "flow-control",
    about: "a limit of flow control that the side learned from the other end",
    columns: &[
        column(
            "time_ms",
            "the time from which it applies; empty for the initial limits, from transport parameters",
        ),
        column(
            "limits",
            "`connection`, `stream`; `streams of the other end`, `own streams`, `one-way streams` begin with theirs",
        ),
        column("stream", "the stream's ID"),
        column("limit_bytes", "how many bytes may be sent in all"),
    ],
    detail: Detail::Full,
    lacks: |trace: &Trace| trace.flow_control.is_none().then_some(NO_LIMITS),
    write: |trace, _, rows| {
        let Some(flow_control) = &trace.flow_control else { return Ok(()) };
        let initial = ["streams of the other end", "own streams", "one-way streams"];
        for (limits, bytes) in initial.into_iter().zip(flow_control.initial) {
            if let Some(bytes) = bytes {
                rows(&[Cell::None, Cell::Text(limits), Cell::None, Cell::Whole(bytes)])?;
            }
        }
        for &(time_us, bytes) in &flow_control.connection {
            let limits = Cell::Text("connection");
            rows(&[Cell::Time(time_us), limits, Cell::None, Cell::Whole(bytes)])?;
        }
        for (&stream, limits) in &flow_control.streams {
            let cells = [Cell::Text("stream"), Cell::Whole(stream)];
            for &(time_us, bytes) in limits {
                rows(&[Cell::Time(time_us), cells[0], cells[1], Cell::Whole(bytes)])?;
            }
        }
        Ok(())
    },
};

pub(super) const RECOVERY: Series = Series {
    name: "recovery",
    about: "an event of loss recovery",
    columns: &[
        column("time_ms", "when"),
        column(
            "step",
            "`lost` (declared lost), `lost MTU probe` (does not show congestion), `spurious loss` (acknowledged after that), \
                    `probe timeout`, `recovery period` (one begins), `persistent congestion`, `window cut` (after a loss), \
                    `window cut by congestion marks` (ECN, without a loss), `window cut undone`",
        ),
        column("space", "the space of the packet's number: `initial`, `handshake`, `application`"),
        column("number", "the packet that it concerns; for a probe timeout, the probe"),
        column("window_bytes", "for a cut of the congestion window: the window after it"),
        column(
            "basis",
            "`logged`, or `inferred` from packets, acknowledgements and windows (RFC 9002, sections 6.2, 7.3 and 7.6)",
        ),
    ],
    detail: Detail::Full,
    lacks: |trace: &Trace| (trace.counts.packets_sent == 0).then_some(NO_SENT),
    write: |trace, _, rows| {
        let recovery = LossRecovery::of(trace);
        recovery.steps.iter().try_for_each(|step| {
            rows(&[
                Cell::Time(step.time_us),
                Cell::Text(step.kind.name()),
                Cell::maybe(step.space.map(Space::name), Cell::Text),
                Cell::maybe(step.packet, Cell::Whole),
                Cell::maybe(step.window_bytes, Cell::Whole),
                Cell::Text(recovery.basis_of(step.kind).map_or("", Basis::name)),
            ])
        })
    },
};

pub(super) const RESTRAINTS: Series = Series {
    name: "restraints",
    about: "a period in which one cause held the sender back, as `utmost qlog limits` shows",
    columns: &[
        column("from_ms", "from when"),
        column("to_ms", "until when"),
        column("by", "what held it back, by the names in schemas/qlog-limits.json"),
        column("basis", "`logged`, `scheduler_calls` or `computed`"),
    ],
    detail: Detail::Full,
    lacks: |trace| why_not(trace, "limits"),
    write: |trace, _, rows| {
        let restraints = Restraints::of(trace, Evidence::All).map_err(io::Error::other)?;
        let basis = Cell::Text(restraints.basis.name());
        restraints.spans.iter().try_for_each(|it| {
            rows(&[Cell::Time(it.from_us), Cell::Time(it.to_us), Cell::Text(it.by.name()), basis])
        })
    },
};
