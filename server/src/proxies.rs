//! Proxies before the server, such as a load balancer, whose statements about their clients are trusted.

use crate::site::Request;
use crate::site::fields::list;
use http::header::{FORWARDED, HeaderMap};
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// Addresses with the same first bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, bits) =
            text.split_once('/').map_or((text, None), |(it, bits)| (it, Some(bits)));
        let wrong = || {
            format!(
                "`{text}` is not an address or a network: write \"192.0.2.7\" or \"10.0.0.0/8\""
            )
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), str::parse).map_err(|_| wrong())?;
        if bits > most { Err(wrong()) } else { Ok(Self { address, bits }) }
    }
}

impl Network {
    fn has(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros() >= self.bits
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros() >= self.bits
            }
            _ => false,
        }
    }
}

/// The proxies that are trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    networks: Vec<Network>,
    send_headers: bool,
}

impl Proxies {
    /// Proxies at these addresses. `send_headers`: they begin each connection over TCP with a header of the PROXY protocol.
    pub fn new(networks: Vec<Network>, send_headers: bool) -> Self {
        Self { networks, send_headers }
    }

    fn include(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|it| it.has(address))
    }

    /// Whether a connection from this address begins with a header.
    pub fn send_header_from(&self, address: IpAddr) -> bool {
        self.send_headers && self.include(address)
    }

    /// The request with the client that the proxies name: the last one in `Forwarded` (RFC 7239), otherwise in `X-Forwarded-For`, that
    /// is not a proxy itself. Anyone may have written what precedes it.
    #[must_use]
    pub fn seen_through(&self, request: Request) -> Request {
        if !request.client.is_some_and(|it| self.include(it)) {
            return request;
        }
        let mut client = request.client;
        for hop in hops(&request.fields).iter().rev() {
            match hop {
                Some(hop) if client.is_some_and(|it| self.include(it)) => client = Some(*hop),
                _ => break,
            }
        }
        Request { client, ..request }
    }
}

/// The addresses of clients that proxies recorded, in order. `None`: one is not given.
fn hops(fields: &HeaderMap) -> Vec<Option<IpAddr>> {
    if let Some(forwarded) = list(fields, FORWARDED.as_str()) {
        let of = |hop: &str| {
            let mut pairs = hop.split(';').filter_map(|it| it.trim().split_once('='));
            address(pairs.find(|it| it.0.eq_ignore_ascii_case("for"))?.1)
        };
        return forwarded.split(',').map(of).collect();
    }
    let listed = list(fields, "x-forwarded-for").unwrap_or_default();
    listed.split(',').filter(|it| !it.is_empty()).map(address).collect()
}

/// An address, optionally in quotes or brackets and with a port.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim().trim_matches('"');
    let bare = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse::<SocketAddr>().ok().map(|it| it.ip());
    bare.parse().ok().or_else(with_port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::fields::fields;

    #[test]
    fn a_client_is_the_last_one_that_is_no_trusted_proxy() {
        let networks = ["10.0.0.0/8", "2001:db8::/32", "192.0.2.7"];
        let networks = networks.map(|it| it.parse().expect("a network")).to_vec();
        let proxies = Proxies::new(networks, false);
        let (for_, all) = ("x-forwarded-for", "forwarded");
        for (peer, lines, expected) in [
            ("10.1.2.3", &[][..], "10.1.2.3"),
            ("10.1.2.3", &[(for_, "203.0.113.9")], "203.0.113.9"),
            ("::ffff:10.1.2.3", &[(for_, "203.0.113.9")], "203.0.113.9"),
            ("192.0.2.8", &[(for_, "203.0.113.9")], "192.0.2.8"),
            ("192.0.2.7", &[(for_, "1.1.1.1, 203.0.113.9,10.9.9.9")], "203.0.113.9"),
            ("10.1.2.3", &[(for_, "1.1.1.1"), (for_, "203.0.113.9:80")], "203.0.113.9"),
            ("10.1.2.3", &[(for_, "1.1.1.1, unknown")], "10.1.2.3"),
            ("10.1.2.3", &[(for_, "10.2.2.2, 10.3.3.3")], "10.2.2.2"),
            (
                "10.1.2.3",
                &[(all, "for=1.1.1.1, For=\"[2001:db9::1]:4711\";proto=https")],
                "2001:db9::1",
            ),
            ("10.1.2.3", &[(all, "for=_hidden"), (for_, "203.0.113.9")], "10.1.2.3"),
            ("2001:db8::5", &[(all, "proto=https;for=203.0.113.9")], "203.0.113.9"),
        ] {
            let client = peer.parse().ok();
            let request = Request { client, fields: fields(lines.to_vec()), ..Request::default() };
            let seen = proxies.seen_through(request).client.map(|it| it.to_canonical());
            assert_eq!(seen, expected.parse().ok(), "{peer} {lines:?}");
        }
    }

    #[test]
    fn a_network_has_as_many_bits_as_its_address_at_most() {
        for wrong in ["10.0.0.0/33", "a", "10.0.0.0/", "::/129", "10.0.0.0/-1", ""] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
        let all: Network = "0.0.0.0/0".parse().expect("all of IPv4");
        assert!(all.has([1, 2, 3, 4].into()) && !all.has("::1".parse().expect("an address")));
    }
}
