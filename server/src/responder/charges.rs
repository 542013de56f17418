//! Charges the client of a connection, and closes the connection if the client owes too much.

use super::Responder;
use crate::account::{Charge, Measure, Share, Transported};
use crate::limits::{CONTROL_BYTES, RELAYED_BYTES};
use crate::site::BackendFailure;
use http3::{Code, StreamId};
use std::time::Instant;

/// Why the connection ends if its client sends too much useless data.
const USELESS: &str = "too many useless bytes";

impl Responder {
    pub(super) fn count_control_bytes(&mut self, stream: StreamId, bytes: usize) {
        if !stream.0.is_multiple_of(4) {
            self.control_bytes += bytes as u64;
            self.nuisances += self.control_bytes / CONTROL_BYTES;
            self.control_bytes %= CONTROL_BYTES;
        }
    }

    /// Ends a connection whose client causes too many nuisances.
    pub(super) fn charge_nuisances(&mut self, now: Instant) {
        let nuisances =
            std::mem::take(&mut self.nuisances) + std::mem::take(&mut self.sender.unwanted);
        let limits = &self.shared.options.limits;
        if nuisances > 0
            && !self.account.spend(Charge::Nuisances, nuisances, limits, now)
            && !self.sender.connection.is_closing()
        {
            let reason = "too many resets, errors or control frames";
            self.sender.connection.close(Code::ExcessiveLoad, reason);
        }
    }

    /// Ends a connection whose client sends much useless data, so that the transport does not hold it for long.
    pub(super) fn charge_useless(&mut self) {
        self.useless.carried(std::mem::take(&mut self.sender.carried));
        let unread = self.left_bytes();
        let connection = &mut self.sender.connection;
        if connection.is_closing() {
            return;
        }
        let transported = || {
            let stats = connection.quic.stats();
            Transported { received: stats.recv_bytes, sent: stats.sent_bytes }
        };
        let measure = if connection.is_connected() {
            self.useless.measure(unread, transported)
        } else {
            self.useless.measure_of_handshake(transported)
        };
        match measure {
            Measure::Close => {
                connection.close(Code::ExcessiveLoad, USELESS);
            }
            Measure::GoAway if self.refused_from.is_none() => {
                self.farewell = (Code::ExcessiveLoad, USELESS);
                self.go_away();
            }
            Measure::Nothing | Measure::GoAway => {}
        }
    }

    /// Ends a connection for which there is no room: its streams have gaps, and the transport keeps what arrived after
    /// them.
    pub(super) fn charge_pieces(&mut self) {
        let by_server = usize::try_from(self.left_bytes()).unwrap_or(usize::MAX);
        let connection = &mut self.sender.connection;
        let bytes = connection.waiting_bytes().saturating_sub(by_server);
        if bytes == self.pieces.as_ref().map_or(0, Share::bytes) || connection.is_closing() {
            return;
        }
        self.pieces = None;
        if bytes > 0 {
            self.pieces = self.account.hold(Charge::Pieces, bytes);
        }
        if bytes > 0 && self.pieces.is_none() {
            // The transport keeps it as long as a connection is closing.
            connection.stop_waiting(Code::ExcessiveLoad);
            connection.close(Code::ExcessiveLoad, "too much behind gaps in streams");
        }
    }

    /// Room for the part of a response that a backend brings before the client accepts it. A connection's only such
    /// response needs none.
    pub(super) fn room_for_relay(&self) -> Result<Option<Share>, BackendFailure> {
        if self.sender.streams.arriving().is_empty() {
            return Ok(None);
        }
        let share = self.account.hold(Charge::Waiting, RELAYED_BYTES);
        share.map(Some).ok_or(BackendFailure::Busy)
    }

    /// Bytes that the server itself may have left unread, because an upload waits for its backend.
    fn left_bytes(&self) -> u64 {
        if self.paused_upload { self.shared.options.limits.receive_bytes } else { 0 }
    }
}
