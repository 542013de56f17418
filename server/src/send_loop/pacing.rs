//! When the next packet may be sent: by a fixed pace, by the transport, or by a bucket of our own.

use super::next::Paced;
use super::token_bucket::TokenBucket;
use super::window::Window;
use crate::Options;
use crate::pace::Ticks;
use std::time::{Duration, Instant};

/// Event loops sleep in steps of this length, rounded up. A nearer release counts as now, and they are woken one step
/// before a later one. Otherwise a fast link would be idle between two packets.
const TIMER_STEP: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) enum Pacing {
    /// A fixed pace alone determines the times; other pacing would shift packets off the ticks.
    Fixed(Ticks),
    /// The transport paces bbr2, and nothing else.
    Transport,
    /// Paces where the transport does not.
    Bucket(TokenBucket),
}

impl Pacing {
    pub(super) fn new(options: &Options) -> Self {
        match options.pace {
            Some(pace) => Self::Fixed(Ticks::new(pace)),
            None if options.needs_bucket() => {
                Self::Bucket(TokenBucket::new(options.udp_payload_bytes))
            }
            None => Self::Transport,
        }
    }

    pub(super) fn is_transports(&self) -> bool {
        matches!(self, Self::Transport)
    }

    /// Until when a datagram of these bytes must wait.
    pub(super) fn holds(
        &mut self,
        quic: &connection::Quic,
        datagram_bytes: usize,
        window: &Window,
        now: Instant,
    ) -> Paced {
        let is_later = |at: &Instant| *at > now + TIMER_STEP;
        match self {
            Self::Fixed(_) => Paced::No,
            Self::Transport => {
                let release = quic.get_next_release_time().and_then(|it| it.time(now));
                release.filter(is_later).map_or(Paced::No, Paced::ByTransport)
            }
            Self::Bucket(bucket) => {
                let path = quic.path_stats().find(|it| it.active);
                let release = path.map(|path| {
                    bucket.release(now, datagram_bytes, window.limited(path.cwnd), path.rtt)
                });
                release.filter(is_later).map_or(Paced::No, Paced::ByLoop)
            }
        }
    }

    /// When the event loop must be awake for a packet that may be sent at `release`.
    pub(super) fn wakeup(release: Instant) -> Instant {
        release.checked_sub(TIMER_STEP).unwrap_or(release)
    }

    pub(super) fn ticks(&self) -> Option<&Ticks> {
        if let Self::Fixed(ticks) = self { Some(ticks) } else { None }
    }

    pub(super) fn ticks_mut(&mut self) -> Option<&mut Ticks> {
        if let Self::Fixed(ticks) = self { Some(ticks) } else { None }
    }

    /// A datagram with staged bytes was sent.
    pub(super) fn sent(&mut self, bytes: usize) {
        if let Self::Bucket(bucket) = self {
            bucket.sent(bytes);
        }
    }

    /// Stream bytes of one packet with this much room.
    pub(super) fn packet_bytes(&self, room_bytes: usize) -> u64 {
        self.ticks().map_or(room_bytes, |it| it.pace.packet_bytes.min(room_bytes)) as u64
    }
}
