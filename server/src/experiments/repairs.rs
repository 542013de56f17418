//! The order in which the transport retransmits lost bytes.
//!
//! quiche retransmits lost bytes of several streams in turns. With this it retransmits them in the order of the scheme
//! (RFC 9218, 12): when a loss was found, each stream that may have bytes before the transport gets an
//! urgency by where it stands, or stood when its last byte went. Once the transport has nothing to send,
//! all are alike again: it comes to a stream whose lost bytes were acknowledged meanwhile only by turns.

use crate::order::Picker;
use crate::streams::{OWN_STREAMS, Stream, Streams};
use schedulers::{Standing, StreamId};

#[derive(Debug, Default)]
pub(crate) struct Repairs {
    /// Those that the transport was told about, its own included.
    ranked: Vec<StreamId>,
    /// Losses that were seen.
    losses: usize,
}

/// What quiche gives every stream.
const DEFAULT_URGENCY: u8 = 127;

impl Repairs {
    /// Ranks the streams if a loss was found since this was last asked.
    pub(crate) fn rank(
        &mut self,
        quic: &mut connection::Quic,
        picker: &dyn Picker,
        streams: &Streams,
    ) {
        let losses = quic.path_stats().map(|it| it.lost + it.total_pto_count).sum();
        if std::mem::replace(&mut self.losses, losses) == losses {
            return;
        }
        let standing = |(stream, record): (StreamId, &Stream)| {
            Some((record.stood.clone().or_else(|| picker.standing(stream))?, stream))
        };
        let mut ranks: Vec<(Standing, StreamId)> = streams.iter().filter_map(standing).collect();
        ranks.sort();
        self.ranked.clear();
        for stream in OWN_STREAMS {
            self.tell(quic, stream, 0);
        }
        let (mut urgency, mut before): (u8, Option<Standing>) = (0, None);
        for (standing, stream) in ranks {
            if before.as_ref() != Some(&standing) {
                urgency = urgency.saturating_add(1);
            }
            self.tell(quic, stream, urgency);
            before = Some(standing);
        }
    }

    /// The transport has nothing to send: makes all streams alike.
    pub(crate) fn level(&mut self, quic: &mut connection::Quic) {
        for stream in self.ranked.drain(..) {
            quic.stream_priority(stream.0, DEFAULT_URGENCY, true).ok();
        }
    }

    fn tell(&mut self, quic: &mut connection::Quic, stream: StreamId, urgency: u8) {
        // A stream that the transport has forgotten needs no rank.
        if quic.stream_priority(stream.0, urgency, true).is_ok() {
            self.ranked.push(stream);
        }
    }
}
