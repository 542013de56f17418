//! Downloads of clients that change their addresses.

use super::{Script, open_requests};
use crate::client_connection::ClientConnection;
use std::time::Duration;

/// One after another, during the attack.
pub(crate) struct Wandering(pub(crate) String);

impl Script for Wandering {
    fn connections(&self) -> usize {
        4
    }

    fn act(&mut self, _number: usize, client: &mut ClientConnection, _at: Duration) {
        let complete = client.complete;
        let fields = client.get(&self.0, &[]);
        open_requests(client, complete + 1, &fields, true);
    }

    fn moves_each(&self) -> Option<Duration> {
        Some(Duration::from_millis(300))
    }

    fn complaint(&self, parties: &[&ClientConnection]) -> Option<String> {
        let stuck = parties.iter().filter(|it| it.complete == 0).count();
        (stuck > 0).then(|| format!("{stuck} clients got nothing"))
    }
}

/// The same, but the client keeps its address, and its datagrams are forwarded from another one.
pub(crate) struct SentOn(pub(crate) Wandering);

impl Script for SentOn {
    fn connections(&self) -> usize {
        self.0.connections()
    }

    fn act(&mut self, number: usize, client: &mut ClientConnection, at: Duration) {
        self.0.act(number, client, at);
    }

    fn moves_each(&self) -> Option<Duration> {
        Some(Duration::from_millis(100))
    }

    fn moves_by_others(&self) -> bool {
        true
    }

    fn complaint(&self, parties: &[&ClientConnection]) -> Option<String> {
        self.0.complaint(parties)
    }
}
