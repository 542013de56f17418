//! Whom limits by client count as one client.

use crate::limits::{Budget, REMEMBERED_CLIENTS};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Bits of an IPv6 address that name a network. A host has a network of its own (RFC 6177).
const NETWORK_BITS: u32 = 64;

/// The clients at one address, which share one part of what the server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Client(Option<IpAddr>);

impl Client {
    /// The client at `address`, or an unknown one.
    pub fn at(address: Option<IpAddr>) -> Self {
        let network =
            |it: Ipv6Addr| Ipv6Addr::from_bits(it.to_bits() >> NETWORK_BITS << NETWORK_BITS);
        // A socket of IPv6 shows clients of IPv4 as addresses of IPv6.
        Self(address.map(|it| match it.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(network(address)),
            IpAddr::V4(address) => IpAddr::V4(address),
        }))
    }
}

/// What is left of an allowance that each client has. One that has all of it need not be listed.
#[derive(Debug, Default)]
pub struct Allowances(Mutex<BTreeMap<Client, Budget>>);

impl Allowances {
    /// Takes something off a client's budget, which is this one at first.
    pub fn take<T>(
        &self,
        client: Client,
        whole: Budget,
        now: Instant,
        take: impl FnOnce(&mut Budget) -> T,
    ) -> T {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= REMEMBERED_CLIENTS {
            clients.retain(|_, it| !it.is_whole(now));
        }
        if clients.len() >= REMEMBERED_CLIENTS {
            clients.clear();
        }
        take(clients.entry(client).or_insert(whole))
    }

    /// Whether a client has less than this left.
    pub fn lacks(&self, client: Client, count: u64, now: Instant) -> bool {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.get_mut(&client).is_some_and(|it| !it.has(count, now))
    }

    /// Clients that are listed.
    pub fn clients(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_network_is_one_client() {
        let at = |text: &str| Client::at(text.parse().ok());
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:0:0:1"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:192.0.2.1"), at("192.0.2.1"));
        assert_ne!(at("192.0.2.1"), at("192.0.2.2"));
    }
}
