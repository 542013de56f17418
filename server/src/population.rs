//! The admitted clients, counted over all shards and all versions of HTTP.

use crate::client::Client;
use crate::{Limits, Refusal};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

/// The clients of all servers that share an address.
#[derive(Debug, Default)]
pub struct Population {
    /// All connections.
    pub connections: usize,
    /// Connections whose handshake is not complete.
    pub handshakes: usize,
    /// Connections by their client. A client without any is not listed.
    by_client: BTreeMap<Client, usize>,
}

impl Population {
    /// Connections of a client.
    pub fn of(&self, client: IpAddr) -> usize {
        self.by_client.get(&Client::at(Some(client))).copied().unwrap_or(0)
    }

    /// Why there is no room for another connection of a client.
    pub fn refusal(&self, client: IpAddr, limits: &Limits) -> Option<Refusal> {
        if self.connections >= limits.connections {
            Some(Refusal::Full)
        } else if self.of(client) >= limits.connections_per_network {
            Some(Refusal::Network)
        } else {
            None
        }
    }

    /// A client was admitted.
    pub fn enter(&mut self, client: IpAddr) {
        *self.by_client.entry(Client::at(Some(client))).or_default() += 1;
    }

    /// A connection has ended: that of `client`, if it was admitted.
    pub fn ended(&mut self, client: Option<IpAddr>) {
        self.connections -= 1;
        let Some(client) = client.map(|it| Client::at(Some(it))) else { return };
        let Some(count) = self.by_client.get_mut(&client) else { return };
        *count -= 1;
        if *count == 0 {
            self.by_client.remove(&client);
        }
    }
}

/// The place of a connection whose client has proven its address by other means than QUIC's. It is released when
/// this is dropped.
pub struct Place {
    population: Arc<Mutex<Population>>,
    client: IpAddr,
}

impl Place {
    /// A place for a client, if there is room within `limits`.
    pub fn take(
        population: &Arc<Mutex<Population>>,
        client: IpAddr,
        limits: &Limits,
    ) -> Result<Self, Refusal> {
        let mut all = population.lock();
        if let Some(refusal) = all.refusal(client, limits) {
            return Err(refusal);
        }
        all.connections += 1;
        all.enter(client);
        Ok(Self { population: Arc::clone(population), client })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.population.lock();
        all.ended(Some(self.client));
    }
}
