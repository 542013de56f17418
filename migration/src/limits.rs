//! Bounds on what a peer can make us keep, and on how long we wait for it.

use std::time::Duration;

/// How long a server waits for the answer to its MIGRATE, in which a client may have to open a connection.
pub(crate) const ANSWER: Duration = Duration::from_secs(10);
/// How long a client waits for the first byte on the destination.
pub(crate) const CONTINUATION: Duration = Duration::from_secs(10);
/// How long a frame waits for the connection that it names.
pub const OVERTAKING: Duration = Duration::from_secs(1);
/// Frames of one connection that wait for the connections that they name.
pub const OVERTAKING_MAX: usize = 32;
/// Connections of one application.
pub const MEMBERS_MAX: usize = 8;
/// Hosts whose past visits are remembered.
pub(crate) const HOSTS_MAX: usize = 256;
