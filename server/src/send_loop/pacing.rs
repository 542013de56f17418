//! When the next packet may go: by a fixed pace, by the transport, or by a bucket of our own.

use super::next::Paced;
use super::token_bucket::TokenBucket;
use super::window::Window;
use crate::Options;
use crate::pace::Ticks;
use std::time::{Duration, Instant};

/// Event loops sleep in steps of this, rounded up. A release that is nearer counts as now, and they are woken one step
/// before a later one. Otherwise a fast link would be idle between two packets.
const TIMER_STEP: Duration = Duration::from_millis(1);

/// What paces one connection.
#[derive(Debug)]
pub(super) enum Pacing {
    /// A fixed pace alone decides; other pacing would shift packets off the ticks.
    Fixed(Ticks),
    /// The transport paces bbr2, and nothing else.
    Transport,
    /// Paces what the transport does not.
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

    pub(super) fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }

    /// When the event loop must be awake for a packet that may go at `release`.
    pub(super) fn wakeup(release: Instant) -> Instant {
        release.checked_sub(TIMER_STEP).unwrap_or(release)
    }

    /// The next tick of a fixed pace.
    pub(super) fn next_tick(&self) -> Option<Instant> {
        if let Self::Fixed(ticks) = self { ticks.next() } else { None }
    }

    /// Whether a packet may be staged now: with a fixed pace, at a tick.
    pub(super) fn lets_stage(&mut self, now: Instant) -> bool {
        if let Self::Fixed(ticks) = self { ticks.allow(now) } else { true }
    }

    /// A packet was staged.
    pub(super) fn staged(&mut self) {
        if let Self::Fixed(ticks) = self {
            ticks.used();
        }
    }

    /// Nothing was ready: a tick passes unused.
    pub(super) fn idle(&mut self) {
        if let Self::Fixed(ticks) = self {
            ticks.idle();
        }
    }

    /// A datagram with staged bytes went.
    pub(super) fn sent(&mut self, bytes: usize) {
        if let Self::Bucket(bucket) = self {
            bucket.sent(bytes);
        }
    }

    /// Stream bytes of one packet that has so much room.
    pub(super) fn packet_bytes(&self, room_bytes: usize) -> u64 {
        let bytes = match self {
            Self::Fixed(ticks) => ticks.packet_bytes().min(room_bytes),
            Self::Transport | Self::Bucket(_) => room_bytes,
        };
        bytes as u64
    }
}
