//! The actions that a state machine requests from its owner.

use crate::{Migrate, Name};

/// A step of a transition, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Send the frame on our control stream of the source.
    Send(Migrate),
    /// Reset the continuation on this connection, if there is one (server only).
    Drop(Name),
    /// Open a connection, or take an idle one, and call [`crate::Receiving::connected`] (client only).
    Connect,
}
