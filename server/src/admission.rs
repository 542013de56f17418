//! Admits clients, and answers datagrams that belong to no connection.

use crate::account::Budget;
use crate::limits::{REFUSALS, REFUSALS_PER_SECOND, REPLIES};
use crate::population::Population;
use crate::retry::Retry;
use crate::shards::Shard;
use crate::{Limits, Refusal, ResetKey};
use connection::Path;
use parking_lot::Mutex;
use quiche::{ConnectionId, Header};
use ring::rand::{SecureRandom, SystemRandom};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

/// The ID that a client invents for the server has at least this many bytes.
const MIN_FIRST_ID_BYTES: usize = 8;

/// Counts the admitted clients, and keeps the answers to the others.
pub(crate) struct Admission {
    limits: Limits,
    shard: Shard,
    /// The clients at this shard and the others.
    population: Arc<Mutex<Population>>,
    /// The tokens of Retry packets, once they were needed.
    retry: Option<Retry>,
    reset_key: Option<ResetKey>,
    refusals: Budget,
    pub(crate) replies: VecDeque<(Path, Vec<u8>)>,
    random: SystemRandom,
}

/// The fate of a datagram to an unknown connection ID.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It is dropped, or was answered.
    Done,
    /// There is no room for it. It gets this answer, unless too many others have had one.
    Refuse { refusal: Refusal, is_told: bool },
    /// It must prove its address first.
    ProofAsked,
    /// It begins a connection, which is counted. If it carries the ID that the client invented before a Retry packet, the address
    /// is proven.
    Connect(Option<Vec<u8>>),
}

impl Admission {
    pub(crate) fn new(limits: &Limits, reset_key: Option<ResetKey>, shard: Shard) -> Self {
        Self {
            limits: limits.clone(),
            population: shard.population(),
            shard,
            retry: None,
            reset_key,
            refusals: Budget::new(REFUSALS, REFUSALS_PER_SECOND),
            replies: VecDeque::new(),
            random: SystemRandom::new(),
        }
    }

    /// Other limits apply from now on.
    pub(crate) fn limit(&mut self, limits: &Limits) {
        self.limits = limits.clone();
    }

    /// Decides on a datagram with an unknown ID. `is_draining`: nobody else is admitted.
    pub(crate) fn decide(
        &mut self,
        header: &Header<'_>,
        datagram: &[u8],
        path: Path,
        is_draining: bool,
        now: Instant,
    ) -> Decision {
        if header.ty == quiche::Type::Short {
            self.reset(header, datagram, path, now);
            return Decision::Done;
        }
        // RFC 9000, 14.1 and 6.1: smaller ones are not a client's first datagram, and an answer would amplify.
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
        let token = header.token.as_ref();
        let original = self
            .retry
            .as_ref()
            .zip(token)
            .and_then(|(retry, token)| retry.open(token, path.peer, &header.dcid, now));
        // Shards count one at a time.
        let mut population = self.population.lock();
        let refusal = if is_draining {
            Some(Refusal::Draining)
        } else {
            population.refusal(path.peer.ip(), &self.limits)
        };
        if let Some(refusal) = refusal {
            return Decision::Refuse { refusal, is_told: self.refusals.spend(1, now) };
        }
        if original.is_none() && population.handshakes >= self.limits.handshakes {
            drop(population);
            self.ask_for_proof(header, path, now);
            return Decision::ProofAsked;
        }
        population.connections += 1;
        population.handshakes += 1;
        Decision::Connect(original)
    }

    /// A handshake is complete or abandoned.
    pub(crate) fn shaken(&self) {
        self.population.lock().handshakes -= 1;
    }

    /// Admits a client. Returns `false` if others of its network were faster and there is no room any more.
    pub(crate) fn enter(&self, client: IpAddr) -> bool {
        let mut population = self.population.lock();
        let has_room = population.of(client) < self.limits.connections_per_network;
        if has_room {
            population.enter(client);
        }
        has_room
    }

    /// A connection has ended: that of `client`, if it was admitted.
    pub(crate) fn ended(&self, client: Option<IpAddr>) {
        self.population.lock().ended(client);
    }

    /// A new connection ID, and the token with which a later run can end its connection.
    pub(crate) fn new_id(&self) -> Option<(Vec<u8>, u128)> {
        let id = self.shard.new_id()?;
        let mut token = [0; 16];
        self.random.fill(&mut token).ok()?;
        let token = self.reset_key.as_ref().map_or(token, |it| it.token(&id));
        Some((id, u128::from_be_bytes(token)))
    }

    /// The token of an ID, if clients get such tokens.
    pub(crate) fn reset_token(&self, id: &[u8]) -> Option<u128> {
        self.reset_key.as_ref().map(|it| u128::from_be_bytes(it.token(id)))
    }

    /// Keeps an answer until it can be sent.
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

    fn negotiate(&mut self, header: &Header<'_>, path: Path) {
        use quiche::Type::{Handshake, Initial, ZeroRTT};
        if matches!(header.ty, Initial | ZeroRTT | Handshake) {
            self.reply(path, |it| quiche::negotiate_version(&header.scid, &header.dcid, it));
        }
    }

    /// Sends a Retry packet: the client proves that it receives at its address by returning the token.
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

    /// Sends a stateless reset (RFC 9000, 10.3): the client's connection belonged to an earlier run. It is smaller than what it
    /// answers, so that two servers do not answer each other forever.
    fn reset(&mut self, header: &Header<'_>, datagram: &[u8], path: Path, now: Instant) {
        let Some(key) = &self.reset_key else { return };
        if header.dcid.len() != self.shard.id_bytes()
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
