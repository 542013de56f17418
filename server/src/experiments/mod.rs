//! Experiments that tests and examples use. All are off by default, and the main path reads without them:
//!
//! * Connection groups ([`group`]): a [`crate::order::Picker`] that several connections share.
//! * The send order: a record of which bytes of which stream the transport took first.

pub(crate) mod group;

use connection::experiments::SendOrder;

/// Experiments of a server.
#[derive(Debug, Clone, Default)]
pub struct Experiments {
    /// Connections of one client that are ordered as one, at most; 0: none are. Browsers open six.
    pub group_connections: usize,
    /// Where to note in which order the transport takes the bytes of responses, for one connection.
    pub send_order: Option<SendOrder>,
}
