//! The datagrams to a client: which one is next, and when there may be one.

use super::Responder;
use crate::send_loop::{Batch, Datagram};
use http3::Code;
use std::time::Instant;

impl Responder {
    /// The next datagram of `batch`, if one may be sent now.
    pub(crate) fn datagram(
        &mut self,
        now: Instant,
        out: &mut [u8],
        batch: Batch,
    ) -> Option<Datagram> {
        self.sender.flush();
        for stream in self.sender.streams.take_hungry() {
            self.relay_one(stream, now);
        }
        if !self.sender.connection.is_closing() {
            let datagram = self.while_moving(out);
            if datagram.is_some() || self.addresses.is_held_back(&self.sender.connection) {
                return datagram;
            }
        }
        let datagram = self.next_datagram(now, out, batch);
        self.tell(now);
        if datagram.is_none() && self.close_if_done() {
            return self.next_datagram(now, out, batch);
        }
        datagram
    }

    /// The datagram for a moving client, before everything else.
    fn while_moving(&mut self, out: &mut [u8]) -> Option<Datagram> {
        for way in self.addresses.ways(&self.sender.connection).into_iter().flatten() {
            let room = way.room.min(out.len());
            if let Some(bytes) = self.sender.send_by(way.by, &mut out[..room]) {
                self.addresses.went(way, bytes);
                return Some((bytes, way.to));
            }
        }
        self.addresses.nothing_went();
        None
    }

    fn next_datagram(&mut self, now: Instant, out: &mut [u8], batch: Batch) -> Option<Datagram> {
        let room = self.addresses.room().min(out.len());
        if room == 0 {
            return None;
        }
        let datagram = self.sender.datagram(now, &mut out[..room], batch).unwrap_or_else(|error| {
            self.sender.connection.close(Code::Internal, &error.to_string());
            None
        });
        datagram.map(|(bytes, _)| (bytes, self.addresses.sent(bytes)))
    }

    /// Timers of the transport and of a challenge may be due. Returns `true` if one of the
    /// transport was.
    pub(crate) fn on_timeout(&mut self, now: Instant) -> bool {
        let is_due = |at: Option<Instant>| at.is_some_and(|it| it <= now);
        let connection = &self.sender.connection;
        let is_transports = is_due(connection.quic.timeout_instant());
        if is_transports {
            self.sender.timer_fired();
        } else if !is_due(self.addresses.next_timeout(connection)) {
            return false;
        }
        let connection = &mut self.sender.connection;
        self.addresses.timer_fired(connection, now);
        is_transports
    }

    /// When there may be another datagram.
    pub(crate) fn next_wakeup(&self, now: Instant) -> Option<Instant> {
        let connection = &self.sender.connection;
        let timeout = connection.quic.timeout_instant();
        let challenge = self.addresses.next_timeout(connection);
        let is_held_back = self.addresses.is_held_back(connection);
        let send = if is_held_back { None } else { self.sender.next_wakeup(now) };
        [timeout, challenge, send].into_iter().flatten().min()
    }
}
