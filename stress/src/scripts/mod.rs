//! The scripts of attackers, without sockets and clocks.

pub(crate) mod floods;
pub(crate) mod malformed;
pub(crate) mod over_tcp;
pub(crate) mod slow;
pub(crate) mod tunnels;
pub(crate) mod wandering;

use crate::client_connection::ClientConnection;
use connection::ClientConfig;
use http3::{Header, StreamId};
use std::time::Duration;

/// One attack. Each method is called repeatedly while it runs.
pub(crate) trait Script {
    fn connections(&self) -> usize {
        5
    }

    /// How they connect.
    fn config(&self) -> ClientConfig {
        crate::client_connection::config()
    }

    /// Acts for connection `number` at time `at` after the attack began. It can send.
    fn act(&mut self, _number: usize, _party: &mut ClientConnection, _at: Duration) {}

    /// Whether it sends first packets of clients that never answer, instead of opening connections.
    fn sends_first_packets(&self) -> bool {
        false
    }

    /// How often the address of its connections changes.
    fn moves_each(&self) -> Option<Duration> {
        None
    }

    /// Whether the client keeps its address, but one of its datagrams is forwarded from another
    /// address.
    fn moves_by_others(&self) -> bool {
        false
    }

    /// Whether a connection that the server closed is replaced.
    fn comes_back(&self) -> bool {
        true
    }

    /// The server's faults, if they are visible on the connections.
    fn complaint(&self, _parties: &[&ClientConnection]) -> Option<String> {
        None
    }
}

/// Opens further requests until there are `count` or the server allows no more.
fn open_requests(client: &mut ClientConnection, count: u64, fields: &[Header], fin: bool) {
    while client.opened < count {
        let stream = StreamId(client.opened * 4);
        if !matches!(client.connection.request(stream, fields, fin), Ok(true)) {
            return;
        }
        client.opened += 1;
    }
}
