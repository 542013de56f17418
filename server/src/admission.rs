//! Lets clients in, and answers datagrams that belong to no connection.

use crate::limits::{Budget, REFUSALS, REFUSALS_PER_SECOND, REPLIES};
use crate::retry::Retry;
use crate::{Limits, ResetKey};
use connection::Path;
use quiche::{ConnectionId, Header};
use ring::rand::{SecureRandom, SystemRandom};
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::time::Instant;

/// Bytes of a connection ID that the server makes.
pub(crate) const ID_BYTES: usize = 16;

/// The ID that a client makes up for the server has at least this many bytes.
const MIN_FIRST_ID_BYTES: usize = 8;

/// Counts the clients that are in, and keeps the answers to the others.
pub(crate) struct Admission {
    limits: Limits,
    /// Connections whose handshake is not complete.
    handshakes: usize,
    /// Connections by the network of their client. A network without any is not listed.
    by_network: HashMap<IpAddr, usize>,
    /// Tokens of Retry packets, once there was need of one.
    retry: Option<Retry>,
    reset_key: Option<ResetKey>,
    refusals: Budget,
    replies: VecDeque<(Path, Vec<u8>)>,
    random: SystemRandom,
}

/// What becomes of a datagram to an unknown connection ID.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It is dropped, or was answered.
    Done,
    /// There is no room for it. It is told so, unless too many were told.
    Refuse {
        is_told: bool,
        /// Its network has too many connections.
        of_network: bool,
    },
    /// It must prove its address first.
    ProofAsked,
    /// It begins a connection. With the ID that the client made up before a Retry packet, the address is proven.
    Connect(Option<Vec<u8>>),
}

impl Admission {
    pub(crate) fn new(limits: &Limits, reset_key: Option<ResetKey>) -> Self {
        Self {
            limits: limits.clone(),
            handshakes: 0,
            by_network: HashMap::new(),
            retry: None,
            reset_key,
            refusals: Budget::new(REFUSALS, REFUSALS_PER_SECOND),
            replies: VecDeque::new(),
            random: SystemRandom::new(),
        }
    }

    /// Decides about a datagram to an unknown ID. `is_full`: there is no room for another connection at all.
    pub(crate) fn decide(
        &mut self,
        header: &Header<'_>,
        datagram: &[u8],
        path: Path,
        is_full: bool,
        now: Instant,
    ) -> Decision {
        if header.ty == quiche::Type::Short {
            self.reset(header, datagram, path, now);
            return Decision::Done;
        }
        // RFC 9000, 14.1 and 6.1: smaller ones are not a client's first, and an answer would amplify.
        if datagram.len() < quiche::MIN_CLIENT_INITIAL_LEN {
            return Decision::Done;
        }
        if !quiche::version_is_supported(header.version) {
            self.negotiate(header, path);
            return Decision::Done;
        }
        if header.ty != quiche::Type::Initial || header.dcid.len() < MIN_FIRST_ID_BYTES {
            return Decision::Done;
        }
        let of_network = self.by_network.get(&network(path.peer.ip())).copied().unwrap_or(0);
        if is_full || of_network >= self.limits.connections_per_network {
            let is_told = self.refusals.spend(1, now);
            return Decision::Refuse { is_told, of_network: !is_full };
        }
        let token = header.token.as_ref();
        let original = self
            .retry
            .as_ref()
            .zip(token)
            .and_then(|(retry, token)| retry.open(token, path.peer, &header.dcid, now));
        if original.is_none() && self.handshakes >= self.limits.handshakes {
            self.ask_for_proof(header, path, now);
            return Decision::ProofAsked;
        }
        Decision::Connect(original)
    }

    /// A handshake begins.
    pub(crate) fn begun(&mut self) {
        self.handshakes += 1;
    }

    /// A handshake is complete, or given up.
    pub(crate) fn ended(&mut self) {
        self.handshakes -= 1;
    }

    /// A client has come in.
    pub(crate) fn entered(&mut self, client: IpAddr) {
        *self.by_network.entry(network(client)).or_default() += 1;
    }

    /// A client that had come in has left.
    pub(crate) fn left(&mut self, client: IpAddr) {
        let network = network(client);
        let Some(count) = self.by_network.get_mut(&network) else { return };
        *count -= 1;
        if *count == 0 {
            self.by_network.remove(&network);
        }
    }

    /// A new connection ID, and the token with which a later run can end its connection.
    pub(crate) fn new_id(&self) -> Option<([u8; ID_BYTES], u128)> {
        let (mut id, mut token) = ([0; ID_BYTES], [0; 16]);
        self.random.fill(&mut id).ok()?;
        self.random.fill(&mut token).ok()?;
        let token = self.reset_key.as_ref().map_or(token, |it| it.token(&id));
        Some((id, u128::from_be_bytes(token)))
    }

    /// The token of an ID, if clients are told such tokens.
    pub(crate) fn reset_token(&self, id: &[u8]) -> Option<u128> {
        self.reset_key.as_ref().map(|it| u128::from_be_bytes(it.token(id)))
    }

    /// Keeps an answer until it can go.
    pub(crate) fn reply(
        &mut self,
        path: Path,
        write: impl FnOnce(&mut [u8]) -> quiche::Result<usize>,
    ) {
        let mut reply = vec![0; quiche::MIN_CLIENT_INITIAL_LEN];
        if self.replies.len() < REPLIES
            && let Ok(bytes) = write(&mut reply)
        {
            reply.truncate(bytes);
            self.replies.push_back((path, reply));
        }
    }

    /// The next answer to a datagram that belongs to no connection.
    pub(crate) fn take_reply(&mut self) -> Option<(Path, Vec<u8>)> {
        self.replies.pop_front()
    }

    fn negotiate(&mut self, header: &Header<'_>, path: Path) {
        use quiche::Type::{Handshake, Initial, ZeroRTT};
        if matches!(header.ty, Initial | ZeroRTT | Handshake) {
            self.reply(path, |it| quiche::negotiate_version(&header.scid, &header.dcid, it));
        }
    }

    /// Sends a Retry packet: the client proves that it receives at its address by coming back with the token.
    fn ask_for_proof(&mut self, header: &Header<'_>, path: Path, now: Instant) {
        let Some((id, _)) = self.new_id() else { return };
        if self.retry.is_none() {
            self.retry = Retry::new(&self.random, now);
        }
        let retry = self.retry.as_mut();
        let Some(token) = retry.and_then(|it| it.seal(path.peer, &header.dcid, &id, now)) else {
            return;
        };
        let id = ConnectionId::from_ref(&id);
        let (scid, dcid, version) = (&header.scid, &header.dcid, header.version);
        self.reply(path, |it| quiche::retry(scid, dcid, &id, &token, version, it));
    }

    /// Sends a stateless reset (RFC 9000, 10.3): the client's connection belonged to an earlier run. It is smaller than
    /// what it answers, so that two servers do not answer each other for ever.
    fn reset(&mut self, header: &Header<'_>, datagram: &[u8], path: Path, now: Instant) {
        let Some(key) = &self.reset_key else { return };
        if header.dcid.len() != ID_BYTES
            || datagram.len() <= RESET_BYTES
            || !self.refusals.spend(1, now)
        {
            return;
        }
        let mut packet = [0; RESET_BYTES];
        let (noise, token) = packet.split_at_mut(RESET_BYTES - 16);
        if self.random.fill(noise).is_err() {
            return;
        }
        // The first bits of a packet with a short header.
        noise[0] = (noise[0] & 0x3f) | 0x40;
        token.copy_from_slice(&key.token(&header.dcid));
        self.reply(path, |out| {
            out[..RESET_BYTES].copy_from_slice(&packet);
            Ok(RESET_BYTES)
        });
    }
}

/// Bytes of a stateless reset: as few as a short packet that acknowledges something.
const RESET_BYTES: usize = 42;

/// The addresses that count as one client's: an IPv6 host has a network of its own (RFC 6177).
fn network(client: IpAddr) -> IpAddr {
    match client {
        IpAddr::V4(_) => client,
        IpAddr::V6(address) => match address.segments() {
            [a, b, c, d, ..] => Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_network_counts_as_one_client() {
        let of = |text: &str| network(text.parse().expect("an address")).to_string();
        assert_eq!(of("192.0.2.1"), "192.0.2.1");
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    }
}
