//! The two ends of a connection.

/// Our end of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Sends requests.
    Client,
    /// Sends responses.
    Server,
}
