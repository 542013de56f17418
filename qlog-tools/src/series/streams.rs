//! Stream-level series: rows about streams, frames and responses.

use std::io;

use super::{Cell, Column, Rows, Series, Source};
use crate::causes::{FrameCauses, frame_causes};
use crate::head_of_line::{Arrivals, HeadOfLine};
use crate::metrics::completed_share;
use crate::saturating_cast::to_u64;
use crate::stream_table::stream_rows;
use crate::trace::{Detail, SignalKind, Trace};
use crate::views::{NO_SIGNALS, no_streams, why_not};

pub(super) const STREAMS: Series = Series {
    name: "streams",
    about: "a stream: the waterfall",
    columns: &[
        Column { name: "stream", about: "the stream's ID" },
        Column { name: "role", about: "`request`, `push`, `control`, `qpack`, `other`" },
        Column { name: "url", about: "the requested URL" },
        Column { name: "priority", about: "its last priority" },
        Column { name: "status", about: "the response's status" },
        Column { name: "requested_ms", about: "the request" },
        Column { name: "first_ms", about: "the first frame" },
        Column { name: "last_ms", about: "the last frame with new bytes" },
        Column { name: "complete_ms", about: "when all bytes could be read" },
        Column { name: "bytes", about: "distinct bytes" },
        Column { name: "body_bytes", about: "bytes of the body" },
        Column { name: "frames", about: "STREAM frames" },
        Column {
            name: "retransmitted_bytes",
            about: "lost and sent again; from a client's log alone, a guess",
        },
        Column { name: "duplicate_bytes", about: "sent again in vain" },
        Column {
            name: "reordered_bytes",
            about: "overtaken on their way; from a client's log alone, a guess",
        },
    ],
    detail: Detail::Full,
    lacks: no_streams,
    write: write_streams,
};

fn write_streams(source: &Source<'_>, rows: &mut Rows<'_>) -> io::Result<()> {
    for it in stream_rows(source.trace) {
        rows(&[
            Cell::Whole(it.stream),
            Cell::text(it.role.name()),
            Cell::maybe(it.url.as_deref(), Cell::text),
            Cell::maybe(it.priority.as_deref(), Cell::text),
            Cell::maybe(it.status, |it| Cell::Whole(it.into())),
            Cell::maybe(it.requested_us, Cell::time),
            Cell::maybe(it.first_us, Cell::time),
            Cell::maybe(it.last_us, Cell::time),
            Cell::maybe(it.complete_us, Cell::time),
            Cell::Whole(it.bytes),
            Cell::maybe(it.body_bytes, Cell::Whole),
            Cell::Whole(it.frames),
            Cell::Whole(it.retransmitted_bytes),
            Cell::maybe(it.duplicate_bytes, Cell::Whole),
            Cell::Whole(it.reordered_bytes),
        ])?;
    }
    Ok(())
}

pub(super) const FRAMES: Series = Series {
    name: "frames",
    about: "a STREAM frame in the direction of the responses, as it arrived or, in a server's log, was sent: multiplexing, goodput",
    columns: &[
        Column { name: "time_ms", about: "when it arrived or was sent" },
        Column { name: "packet", about: "the number of its packet" },
        Column { name: "stream", about: "the stream's ID" },
        Column { name: "offset", about: "of its first byte in the stream" },
        Column { name: "bytes", about: "its bytes" },
        Column { name: "new_bytes", about: "those that had not arrived, or been sent, before" },
        Column {
            name: "cause",
            about: "why it arrived late or twice: `retransmitted`, `duplicate`, `reordered`; or empty; from a client's log alone, a guess",
        },
    ],
    detail: Detail::Full,
    lacks: no_streams,
    write: write_frames,
};

fn write_frames(source: &Source<'_>, rows: &mut Rows<'_>) -> io::Result<()> {
    let trace = source.trace;
    let causes = frame_causes(trace, source.other);
    for ((frame, packet), FrameCauses { mark, new_bytes, .. }) in trace.arrivals.iter().zip(causes)
    {
        rows(&[
            Cell::time(frame.time_us),
            Cell::maybe(packet, Cell::Whole),
            Cell::Whole(frame.stream),
            Cell::Whole(frame.offset),
            Cell::Whole(frame.bytes),
            Cell::Whole(new_bytes),
            Cell::maybe(mark, |it| Cell::text(it.name())),
        ])?;
    }
    Ok(())
}

pub(super) const BLOCKING: Series = Series {
    name: "blocking",
    about: "a STREAM frame that arrived, and what it made readable: head-of-line blocking",
    columns: &[
        Column { name: "time_ms", about: "when it came" },
        Column { name: "stream", about: "the stream's ID" },
        Column { name: "bytes", about: "its bytes" },
        Column { name: "readable_bytes", about: "what could be read with it, over QUIC" },
        Column {
            name: "readable_in_one_order_bytes",
            about: "what could have been read with it if all streams were one, as over TCP",
        },
        Column {
            name: "order",
            about: "`exact` if the server's log shows the order of sending, else `estimated`",
        },
    ],
    detail: Detail::Full,
    lacks: |trace| why_not(trace, "hol"),
    write: write_blocking,
};

fn write_blocking(source: &Source<'_>, rows: &mut Rows<'_>) -> io::Result<()> {
    let trace = source.trace;
    let server = source.other.filter(|it| no_streams(it).is_none());
    let hol = HeadOfLine::new(Arrivals::of(trace, server.map(|it| &it.arrivals)));
    let readable = hol.released(trace.arrivals.len());
    let order = if hol.is_exact { "exact" } else { "estimated" };
    for ((frame, _), [own, in_one_order]) in trace.arrivals.iter().zip(readable) {
        rows(&[
            Cell::time(frame.time_us),
            Cell::Whole(frame.stream),
            Cell::Whole(frame.bytes),
            Cell::Whole(own),
            Cell::Whole(in_one_order),
            Cell::text(order),
        ])?;
    }
    Ok(())
}

pub(super) const INDEX: Series = Series {
    name: "index",
    about: "a moment at which responses were complete: the ByteIndex is the area above this curve",
    columns: &[
        Column { name: "time_ms", about: "the moment; the first row is the first request" },
        Column {
            name: "share",
            about: "the share of the bodies' bytes in complete responses, from 0 to 1",
        },
    ],
    detail: Detail::Full,
    lacks: |trace| why_not(trace, "index"),
    write: write_index,
};

fn write_index(source: &Source<'_>, rows: &mut Rows<'_>) -> io::Result<()> {
    let timeline = &source.trace.timeline;
    let start_us = timeline.start_us().unwrap_or_default();
    for point in completed_share(timeline, |_| true) {
        let time_us = start_us.saturating_add(to_u64((point.time_ms * 1000.0).round()));
        rows(&[Cell::time(time_us), Cell::Number(point.share)])?;
    }
    Ok(())
}

pub(super) const PRIORITIES: Series = Series {
    name: "priorities",
    about: "a priority signal",
    columns: &[
        Column { name: "time_ms", about: "when" },
        Column { name: "about", about: "`stream` or `push`" },
        Column { name: "id", about: "the stream's ID, or the push ID" },
        Column {
            name: "how",
            about: "`request` or `response` field, `update` frame, or `applied`: the priority that the side then used",
        },
        Column { name: "value", about: "as in the field: `u=2, i`" },
    ],
    detail: Detail::Full,
    lacks: |trace: &Trace| trace.signals.is_empty().then_some(NO_SIGNALS),
    write: write_priorities,
};

fn write_priorities(source: &Source<'_>, rows: &mut Rows<'_>) -> io::Result<()> {
    for signal in &source.trace.signals {
        let (about, how) = match signal.how {
            SignalKind::Request => ("stream", "request"),
            SignalKind::Response => ("stream", "response"),
            SignalKind::Update => ("stream", "update"),
            SignalKind::PushUpdate => ("push", "update"),
            SignalKind::Applied => ("stream", "applied"),
        };
        rows(&[
            Cell::time(signal.time_us),
            Cell::text(about),
            Cell::Whole(signal.element),
            Cell::text(how),
            Cell::text(&signal.value),
        ])?;
    }
    Ok(())
}
