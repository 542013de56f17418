//! Limits on what a peer can make us keep, and deadlines for its answers.

use std::time::Duration;

/// A server's deadline for the answer to its MIGRATE, for which a client may have to open a connection.
pub(crate) const ANSWER: Duration = Duration::from_secs(10);
/// A client's deadline for the first byte on the destination.
pub(crate) const CONTINUATION: Duration = Duration::from_secs(10);
/// How long a frame waits for the connection it names.
pub const OVERTAKING: Duration = Duration::from_secs(1);
/// Frames of one connection that wait for the connections they name.
pub const OVERTAKING_MAX: usize = 32;
/// Connections of one application.
pub const MEMBERS_MAX: usize = 8;
/// Hosts whose past visits are remembered.
pub(crate) const HOSTS_MAX: usize = 256;
