//! When a packet must wait: for its pacing, or for room in a window.

use super::asking::send_once;
use super::{ACK_DELAY, Datagram, SendLoop, TIMER_STEP};
use std::time::{Duration, Instant};

impl SendLoop {
    /// Whether pacing forbids a full datagram now. A fixed pace alone decides; other pacing would
    /// shift packets off the ticks.
    pub(super) fn must_wait(&mut self, now: Instant) -> bool {
        let datagram_bytes = self.datagram_bytes;
        let quic = &self.connection.quic;
        let release = match &mut self.bucket {
            None if self.pace.is_some() => None,
            None => quic.get_next_release_time().and_then(|it| it.time(now)),
            Some(bucket) => quic.path_stats().find(|it| it.active).map(|it| {
                let window = self.restart.as_ref().map_or(it.cwnd, |limit| limit.window(it.cwnd));
                bucket.release(now, datagram_bytes, window, it.rtt)
            }),
        };
        self.release = release.filter(|at| *at > now + TIMER_STEP);
        self.release.is_some()
    }

    /// Stages the next packet and pokes. A sender that waits for its own pacing is not limited by the application
    /// (RFC 9002, 7.8), but the transport takes it for that, and would not let the window grow.
    pub(super) fn show_more(
        &mut self,
        now: Instant,
        out: &mut [u8],
    ) -> Result<Option<Datagram>, quiche::Error> {
        if self.window.is_clear() {
            self.stage(now);
        }
        if self.window.is_clear() || self.restarts() { Ok(None) } else { self.poke(out) }
    }

    /// Whether the window only seems full, because the connection's flow control credit has ended. Staged bytes and lost ones
    /// took their credit when they were offered, so they can go. The client may not extend the credit before it has them.
    pub(super) fn lacks_only_credit(&self) -> bool {
        !self.restarts() && self.has_window()
    }

    /// Whether the congestion window has room for a datagram. The transport does not tell its room from the connection's
    /// flow control, so bytes in flight are taken from its counts: what was sent and neither acknowledged nor lost. A
    /// packet that is never acknowledged, because it only acknowledges, counts for ever: the answer can be a wrong no.
    pub(super) fn has_window(&self) -> bool {
        let quic = &self.connection.quic;
        let window_bytes = quic.path_stats().find(|it| it.active).map_or(0, |it| it.cwnd);
        let counts = quic.stats();
        let ended_bytes = counts.acked_bytes.saturating_add(counts.lost_bytes);
        let in_flight_bytes = counts.sent_bytes.saturating_sub(ended_bytes);
        in_flight_bytes + self.datagram_bytes as u64 <= window_bytes as u64
    }

    /// Whether staged bytes have been held back for as long as a probe timeout lasts (RFC 9002, 6.2.1).
    /// A window that is full because packets are in flight opens sooner. Otherwise it only seemed full, for a reason that
    /// [`SendLoop::lacks_only_credit`] did not see.
    pub(super) fn held_too_long(&mut self, now: Instant) -> bool {
        if self.held_until.is_some_and(|it| it <= now) {
            self.held_until = None;
            return true;
        }
        if self.held_until.is_none() {
            self.held_until = self.probe_timeout().map(|it| now + it);
        }
        false
    }

    /// RFC 9002, 6.2.1.
    pub(super) fn probe_timeout(&self) -> Option<Duration> {
        let path = self.connection.quic.path_stats().find(|it| it.active)?;
        Some(path.rtt + 4 * path.rttvar + ACK_DELAY)
    }

    pub(super) fn poke(&mut self, out: &mut [u8]) -> Result<Option<Datagram>, quiche::Error> {
        let quic = &mut self.connection.quic;
        let size = (1 + quic.destination_id().len() + 8).min(out.len());
        send_once(quic, self.home, &mut out[..size])
    }
}
