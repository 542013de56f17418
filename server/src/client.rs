//! The key for per-client limits: an IPv4 address or an IPv6 /64.

use std::net::{IpAddr, Ipv6Addr};

/// Bits of an IPv6 address that identify a network. A host has a network of its own (RFC 6177).
const NETWORK_BITS: u32 = 64;

/// The clients at one address, which share one part of the server's resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Client(Option<IpAddr>);

impl Client {
    /// The client at `address`, or an unknown one.
    pub fn at(address: Option<IpAddr>) -> Self {
        // A socket of IPv6 shows clients of IPv4 as addresses of IPv6.
        Self(address.map(|shown| match shown.to_canonical() {
            IpAddr::V6(address) => {
                let network = address.to_bits() >> NETWORK_BITS << NETWORK_BITS;
                IpAddr::V6(Ipv6Addr::from_bits(network))
            }
            IpAddr::V4(address) => IpAddr::V4(address),
        }))
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
