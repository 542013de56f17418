//! Joins the connections of one client. The router knows no more about it than this: it reports events, and lets
//! the named connections send. Without an experiment that joins connections, there is no receiver.

use crate::responder::Responder;
use std::collections::BTreeSet;
use std::time::Instant;

/// The server's connections, as the router numbers them.
#[cfg_attr(
    not(feature = "experiments"),
    expect(dead_code, reason = "only experiments ask for them")
)]
pub(crate) trait Connections {
    fn responder(&mut self, serial: u64) -> Option<&mut Responder>;
    fn is_idle(&self, serial: u64) -> bool;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionEvent {
    /// A datagram arrived.
    Came,
    /// A backend brought something.
    Brought,
    /// A timer of its transport fired.
    TimerFired,
    /// It sent what it may for now.
    Sent,
    Over,
}

/// Joins connections of one client.
pub(crate) trait Together: Send {
    /// Something happened on the connection `serial`. Returns the connections that may have something to send now.
    fn update(
        &mut self,
        serial: u64,
        event: ConnectionEvent,
        all: &mut dyn Connections,
        now: Instant,
    ) -> BTreeSet<u64>;

    /// The connection that goes first among those with which this one shares an order.
    fn turn(&self, serial: u64) -> Option<u64>;

    fn next_timeout(&self) -> Option<Instant>;

    /// Abandons what takes too long. Returns the connections that may have something to send now.
    fn on_timeout(&mut self, all: &mut dyn Connections, now: Instant) -> BTreeSet<u64>;
}
