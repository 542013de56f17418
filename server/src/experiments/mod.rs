//! Experiments that tests and examples use. All are off by default, and the main path reads without them:
//!
//! * Connection groups ([`group`]): a [`crate::order::Picker`] that several connections share.
//! * Retransmission in order ([`repairs`]): ranks streams when the transport found a loss.
//! * Pushes under conditions ([`conditional_pushes`]).
//! * The send order: a record of which bytes of which stream the transport took first.

mod conditional_pushes;
pub(crate) mod group;
pub(crate) mod repairs;

pub use conditional_pushes::ConditionalPushes;
use connection::experiments::SendOrder;

/// Experiments of a server.
#[derive(Debug, Clone, Default)]
pub struct Experiments {
    /// Connections of one client that are ordered as one, at most; 0: none are. Browsers open six.
    pub group_connections: usize,
    /// Whether lost bytes are retransmitted in the order of the scheme (RFC 9218, 12). Otherwise the transport
    /// retransmits those of several streams in turns.
    pub retransmit_in_order: bool,
    /// Where to note in which order the transport takes the bytes of responses, for one connection.
    pub send_order: Option<SendOrder>,
}
