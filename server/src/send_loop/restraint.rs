//! Logs what holds the sender back (`utmost:restraint`), each time that it changes.
//!
//! `utmost qlog limits` computes the same from the events that any stack logs; these events say how well it does.

use super::next::Next;
use super::window::congestion_lets;
use super::{Batch, Datagram, SendLoop};
use schedulers::Restraint;
use std::time::Instant;

impl SendLoop {
    /// The next datagram of `batch`, if one may go now: its size in `out`.
    pub(crate) fn datagram(
        &mut self,
        now: Instant,
        out: &mut [u8],
        batch: Batch,
    ) -> Result<Option<Datagram>, quiche::Error> {
        self.batch = batch;
        let carried = self.carried;
        let made = self.next_datagram(now, out)?;
        if self.connection.quic.qlog_streamer().is_some() {
            if made.is_none() {
                let restraint = self.restraint();
                self.log_restraint(restraint);
            } else if self.carried > carried {
                self.log_restraint(Restraint::Nothing);
            }
        }
        Ok(made)
    }

    /// Why no datagram went. Pacing is asked before the window when a datagram is made; here the window counts first, because
    /// it would hold the packet back at its time, too.
    fn restraint(&mut self) -> Restraint {
        let quic = &mut self.connection.quic;
        if !quic.is_established() && !quic.is_in_early_data() {
            return Restraint::Handshake;
        }
        let is_staged = !self.window.is_clear() && !self.window.has_likely_gone();
        let is_picked = self.order.picker().pick().is_some() || !self.passage.is_empty();
        if !is_staged && !is_picked {
            return self.without_bytes();
        }
        let waits = self.decided.and_then(Next::until).is_some();
        let datagram_bytes = self.measures.datagram_bytes;
        match self.window.has_room(quic, datagram_bytes) {
            true if waits || self.pacing.ticks().is_some() => Restraint::Pacing,
            // Nothing was offered.
            true if !is_staged => Restraint::Scheduler,
            // Or the transport did not take what was offered: it counts headers, too.
            _ if congestion_lets(quic, datagram_bytes) => Restraint::ConnectionFlowControl,
            _ => Restraint::CongestionWindow,
        }
    }

    /// Why the scheduler has nothing to choose from.
    fn without_bytes(&self) -> Restraint {
        let has_bytes = self.streams.under_way().any(|it| self.streams.pending(it) > 0);
        match (self.streams.has_held(), has_bytes) {
            (true, _) => Restraint::StreamFlowControl,
            (_, true) => Restraint::Scheduler,
            (_, false) => Restraint::Application,
        }
    }

    fn log_restraint(&mut self, restraint: Restraint) {
        if self.restraint == Some(restraint) {
            return;
        }
        self.restraint = Some(restraint);
        let said = serde_json::json!({"by": restraint.name()});
        http3::log::own(self.connection.quic.qlog_streamer(), Restraint::EVENT, said);
    }
}
