//! The end of a server: it answers the requests that arrived, and closes.

use super::Server;
use crate::Event;
use std::time::Instant;

impl Server {
    /// Stops accepting and lets responses in progress finish, within the limit of [`crate::Limits::drain`].
    pub fn drain(&mut self, now: Instant) {
        if self.draining.is_none() {
            self.draining = Some(now + self.shared.options.limits.drain);
            self.notice(&Event::Draining);
            if let Some(beside) = &self.beside {
                beside.drain();
            }
            self.connections.values_mut().for_each(|it| it.responder.drain());
            let serials: Vec<u64> = self.connections.keys().copied().collect();
            for serial in serials {
                self.enqueue(serial);
            }
        }
    }

    /// Whether a draining server has nothing left to do.
    pub fn is_drained(&self, now: Instant) -> bool {
        let ended = || {
            self.sendable.is_empty()
                && self.beside.as_ref().is_none_or(|it| it.is_over())
                && self.connections.values().all(|it| it.responder.sender.connection.is_over())
        };
        self.draining.is_some_and(|deadline| now >= deadline || ended())
    }

    /// Ends the time for responses in progress.
    pub fn hurry(&mut self, now: Instant) {
        self.drain(now);
        self.draining = Some(now);
    }

    /// Closes the connections that are left, informs the clients and the observers, and returns how many there were.
    pub fn cut(&mut self, now: Instant) -> usize {
        let mut left = Vec::new();
        for (serial, entry) in &mut self.connections {
            if !entry.responder.sender.connection.is_over() {
                entry.responder.cut();
                left.push(*serial);
            }
            // Includes connections that ended a moment ago and that the router still knows.
            entry.responder.gone(now);
        }
        for serial in &left {
            self.enqueue(*serial);
        }
        left.len() + self.beside.as_ref().map_or(0, |it| it.cut())
    }
}
