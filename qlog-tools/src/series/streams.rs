//! Stream-level series: rows about streams, frames and responses.

use super::{Cell, Series, column};
use crate::causes::frame_causes;
use crate::head_of_line::{Arrivals, HeadOfLine};
use crate::metrics::finished_share;
use crate::saturating_cast::to_u64;
use crate::stream_table::stream_rows;
use crate::trace::{Detail, SignalKind, Trace};
use crate::views::{NO_SIGNALS, no_streams, why_not};

pub(super) const STREAMS: Series = Series {
    name: "streams",
    about: "a stream: the waterfall",
    columns: &[
        column("stream", "the stream's ID"),
        column("role", "`request`, `push`, `control`, `qpack`, `other`"),
        column("url", "the requested URL"),
        column("priority", "its last priority"),
        column("status", "the response's status"),
        column("requested_ms", "the request"),
        column("first_ms", "the first frame"),
        column("last_ms", "the last frame with new bytes"),
        column("complete_ms", "when all bytes could be read"),
        column("bytes", "distinct bytes"),
        column("body_bytes", "bytes of the body"),
        column("frames", "STREAM frames"),
        column("retransmitted_bytes", "lost and sent again; from a client's log alone, a guess"),
        column("duplicate_bytes", "sent again in vain"),
        column("reordered_bytes", "overtaken on their way; from a client's log alone, a guess"),
    ],
    detail: Detail::Full,
    lacks: no_streams,
    write: |trace, _, rows| {
        stream_rows(trace).iter().try_for_each(|it| {
            rows(&[
                Cell::Whole(it.stream),
                Cell::Text(it.role.name()),
                Cell::maybe(it.url.as_deref(), Cell::Text),
                Cell::maybe(it.priority.as_deref(), Cell::Text),
                Cell::maybe(it.status, |it| Cell::Whole(it.into())),
                Cell::maybe(it.requested_us, Cell::Time),
                Cell::maybe(it.first_us, Cell::Time),
                Cell::maybe(it.last_us, Cell::Time),
                Cell::maybe(it.complete_us, Cell::Time),
                Cell::Whole(it.bytes),
                Cell::maybe(it.body_bytes, Cell::Whole),
                Cell::Whole(it.frames),
                Cell::Whole(it.retransmitted_bytes),
                Cell::maybe(it.duplicate_bytes, Cell::Whole),
                Cell::Whole(it.reordered_bytes),
            ])
        })
    },
};

pub(super) const FRAMES: Series = Series {
    name: "frames",
    about: "a STREAM frame in the direction of the responses, as it arrived or, in a server's log, was sent: multiplexing, goodput",
    columns: &[
        column("time_ms", "when it arrived or was sent"),
        column("packet", "the number of its packet"),
        column("stream", "the stream's ID"),
        column("offset", "of its first byte in the stream"),
        column("bytes", "its bytes"),
        column("new_bytes", "those that had not arrived, or been sent, before"),
        column(
            "cause",
            "why it arrived late or twice: `retransmitted`, `duplicate`, `reordered`; or empty; from a client's log alone, a guess",
        ),
    ],
    detail: Detail::Full,
    lacks: no_streams,
    write: |trace, other, rows| {
        let causes = frame_causes(trace, other);
        trace.arrivals.iter().zip(causes).try_for_each(|((frame, packet), it)| {
            rows(&[
                Cell::Time(frame.time_us),
                Cell::maybe(packet, Cell::Whole),
                Cell::Whole(frame.stream),
                Cell::Whole(frame.offset),
                Cell::Whole(frame.bytes),
                Cell::Whole(it.new_bytes),
                Cell::maybe(it.mark, |it| Cell::Text(it.name())),
            ])
        })
    },
};

pub(super) const BLOCKING: Series = Series {
    name: "blocking",
    about: "a STREAM frame that arrived, and what it made readable: head-of-line blocking",
    columns: &[
        column("time_ms", "when it came"),
        column("stream", "the stream's ID"),
        column("bytes", "its bytes"),
        column("readable_bytes", "what could be read with it, over QUIC"),
        column(
            "readable_in_one_order_bytes",
            "what could have been read with it if all streams were one, as over TCP",
        ),
        column("order", "`exact` if the server's log shows the order of sending, else `estimated`"),
    ],
    detail: Detail::Full,
    lacks: |trace| why_not(trace, "hol"),
    write: |trace, other, rows| {
        let arrivals = &trace.arrivals;
        let server = other.filter(|it| no_streams(it).is_none());
        let hol = HeadOfLine::new(Arrivals::of(trace, server.map(|it| &it.arrivals)));
        let readable = hol.released(arrivals.len());
        let order = Cell::Text(if hol.is_exact { "exact" } else { "estimated" });
        arrivals.iter().zip(readable).try_for_each(|((frame, _), readable)| {
            let [stream, bytes] = [frame.stream, frame.bytes].map(Cell::Whole);
            let [own, in_one_order] = readable.map(Cell::Whole);
            rows(&[Cell::Time(frame.time_us), stream, bytes, own, in_one_order, order])
        })
    },
};

pub(super) const INDEX: Series = Series {
    name: "index",
    about: "a moment at which responses were complete: the ByteIndex is the area above this curve, without responses that did not finish",
    columns: &[
        column("time_ms", "the moment; the first row is the first request"),
        column(
            "share",
            "of the bodies' bytes of all responses that finished, the share in complete ones, from 0 to 1",
        ),
    ],
    detail: Detail::Full,
    lacks: |trace| why_not(trace, "index"),
    write: |trace, _, rows| {
        let start_us = trace.timeline.start_us().unwrap_or_default();
        finished_share(trace).into_iter().try_for_each(|point| {
            let time_us = start_us.saturating_add(to_u64((point.time_ms * 1000.0).round()));
            rows(&[Cell::Time(time_us), Cell::Number(point.share)])
        })
    },
};

pub(super) const PRIORITIES: Series = Series {
    name: "priorities",
    about: "a priority signal",
    columns: &[
        column("time_ms", "when"),
        column("about", "`stream` or `push`"),
        column("id", "the stream's ID, or the push ID"),
        column(
            "how",
            "`request` or `response` field, `update` frame, or `applied`: the priority that the side then used",
        ),
        column("value", "as in the field: `u=2, i`"),
    ],
    detail: Detail::Full,
    lacks: |trace: &Trace| trace.signals.is_empty().then_some(NO_SIGNALS),
    write: |trace, _, rows| {
        trace.signals.iter().try_for_each(|signal| {
            let how = match signal.how {
                SignalKind::Request => "request",
                SignalKind::Response => "response",
                SignalKind::Update | SignalKind::PushUpdate => "update",
                SignalKind::Applied => "applied",
            };
            rows(&[
                Cell::Time(signal.time_us),
                Cell::Text(if signal.is_of_stream() { "stream" } else { "push" }),
                Cell::Whole(signal.element),
                Cell::Text(how),
                Cell::Text(&signal.value),
            ])
        })
    },
};
