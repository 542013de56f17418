//! The order in which the transport sends lost bytes again.
//!
//! quiche sends lost bytes of several streams in turns. With this it sends them in the order of the scheme
//! (RFC 9218, 12): when a loss was found, each stream that may have bytes before the transport gets an
//! urgency by where it stands, or stood when its last byte went. Once the transport has nothing to send,
//! all are alike again: it comes to a stream whose lost bytes were acknowledged meanwhile only by turns.

use crate::order::Order;
use schedulers::{Standing, StreamId};
use std::collections::BTreeMap;

/// Who is ranked before the transport, and where those stood who have left the scheduler.
#[derive(Debug, Default)]
pub(crate) struct Repairs {
    in_order: bool,
    /// Streams whose last byte was committed, until the transport forgets them.
    finished: BTreeMap<StreamId, Standing>,
    /// Those that the transport was told about, its own included.
    ranked: Vec<StreamId>,
    /// Losses that were seen.
    losses: usize,
}

/// A server's control stream and its QPACK streams.
const OWN: [StreamId; 3] = [StreamId(3), StreamId(7), StreamId(11)];

/// What quiche gives every stream.
const DEFAULT_URGENCY: u8 = 127;

impl Repairs {
    pub(crate) fn new(in_order: bool) -> Self {
        Self { in_order, ..Self::default() }
    }

    /// The last byte of a stream was committed.
    pub(crate) fn finished(&mut self, stream: StreamId, order: &Order) {
        if self.in_order {
            self.finished.extend(order.standing(stream).map(|it| (stream, it)));
        }
    }

    /// The transport has forgotten a stream.
    pub(crate) fn forget(&mut self, stream: StreamId) {
        self.finished.remove(&stream);
    }

    /// Ranks the streams if a loss was found since this was last asked.
    pub(crate) fn rank(
        &mut self,
        quic: &mut quiche::Connection,
        order: &Order,
        under_way: impl Iterator<Item = StreamId>,
    ) {
        if !self.in_order {
            return;
        }
        let losses = quic.path_stats().map(|it| it.lost + it.total_pto_count).sum();
        if std::mem::replace(&mut self.losses, losses) == losses {
            return;
        }
        let under_way = under_way.filter_map(|it| Some((order.standing(it)?, it)));
        let finished = self.finished.iter().map(|(stream, standing)| (standing.clone(), *stream));
        let mut streams: Vec<(Standing, StreamId)> = finished.chain(under_way).collect();
        streams.sort();
        self.ranked.clear();
        for stream in OWN {
            self.tell(quic, stream, 0);
        }
        let (mut urgency, mut before): (u8, Option<Standing>) = (0, None);
        for (standing, stream) in streams {
            if before.as_ref() != Some(&standing) {
                urgency = urgency.saturating_add(1);
            }
            self.tell(quic, stream, urgency);
            before = Some(standing);
        }
    }

    /// The transport says that it has nothing to send; true: all streams were made alike, ask again.
    pub(crate) fn level(&mut self, quic: &mut quiche::Connection) -> bool {
        let ranked = std::mem::take(&mut self.ranked);
        for stream in &ranked {
            quic.stream_priority(stream.0, DEFAULT_URGENCY, true).ok();
        }
        !ranked.is_empty()
    }

    fn tell(&mut self, quic: &mut quiche::Connection, stream: StreamId, urgency: u8) {
        // A stream that the transport has forgotten needs no rank.
        if quic.stream_priority(stream.0, urgency, true).is_ok() {
            self.ranked.push(stream);
        }
    }
}
