//! Logs what holds back the sender (`utmost:restraint`), each time that it changes.
//!
//! `utmost qlog limits` computes the same from the events that any stack logs; these events show how accurate it is.

use super::SendLoop;
use super::next::Next;
use super::window::congestion_lets;
use schedulers::Restraint;

impl SendLoop {
    /// A datagram was made or not: records what held back the sender, if its log wants that.
    pub(super) fn note_restraint(&mut self, is_made: bool, has_carried: bool) {
        if self.connection.quic.qlog_streamer().is_none() {
            return;
        }
        if !is_made {
            let restraint = self.restraint();
            self.log_restraint(restraint);
        } else if has_carried {
            self.log_restraint(Restraint::Nothing);
        }
    }

    /// Why no datagram was sent. When a datagram is made, pacing is checked before the window; here the window counts first,
    /// because it would hold back the packet at its time, too.
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
            // Or the transport did not accept what was offered: it counts headers, too.
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
        let data = || serde_json::json!({"by": restraint.name()});
        http3::log::own(self.connection.quic.qlog_streamer(), Restraint::EVENT, data);
    }
}
