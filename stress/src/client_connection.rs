//! One connection of an attacker or of a visitor.

use crate::crafted::{Crafter, Secrets};
use connection::{ClientConfig, ConnectError, Connection, Endpoint, Path, Transmit, Verify};
use http3::{Event, Header, StreamId};
use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

pub(crate) struct ClientConnection {
    pub(crate) connection: Connection,
    pub(crate) reads: bool,
    /// Opened requests, and complete responses.
    pub(crate) opened: u64,
    pub(crate) complete: u64,
    /// Streams that a script has used.
    pub(crate) has_begun: BTreeSet<StreamId>,
    /// Responses with another status than 2xx.
    pub(crate) refused: u64,
    /// The incoming events, for scripts that use them.
    pub(crate) heard: Option<Vec<Event>>,
    /// Datagrams beside the transport's.
    crafted: VecDeque<Vec<u8>>,
    secrets: Secrets,
    /// Its end was counted.
    is_counted: bool,
    local: SocketAddr,
    /// The authority that it asks for.
    pub(crate) authority: String,
    buffer: Vec<u8>,
}

/// A client that trusts any certificate.
pub(crate) fn config() -> ClientConfig {
    ClientConfig {
        verify: Verify::Nobody,
        tells_secrets: true,
        connect_within: Duration::from_secs(5),
        ..ClientConfig::default()
    }
}

impl ClientConnection {
    /// A client of the host in `authority`, at the address `server`.
    pub(crate) fn connect(
        local: SocketAddr,
        server: SocketAddr,
        authority: &str,
        config: &ClientConfig,
        now: Instant,
    ) -> Result<Self, ConnectError> {
        let name = Some(http3::host(authority));
        let mut connection = Connection::connect(name, local, server, config, now)?;
        let secrets = Secrets::default();
        connection.quic.set_keylog(Box::new(secrets.clone()));
        Ok(Self {
            connection,
            reads: true,
            opened: 0,
            complete: 0,
            has_begun: BTreeSet::new(),
            refused: 0,
            heard: None,
            crafted: VecDeque::new(),
            secrets,
            is_counted: false,
            local,
            authority: authority.to_owned(),
            buffer: vec![0; 65_536],
        })
    }

    /// Sends frames that the transport would not make, each of these in its own packet. Returns `false` if the connection has
    /// no keys for it yet.
    pub(crate) fn send_frames(&mut self, packets: impl IntoIterator<Item = Vec<u8>>) -> bool {
        let Some(crafter) = Crafter::new(&self.secrets) else { return false };
        let quic = &mut self.connection.quic;
        self.crafted.extend(packets.into_iter().filter_map(|it| crafter.datagram(quic, &it)));
        true
    }

    /// A GET, optionally with further fields.
    pub(crate) fn get(&self, path: &str, more: &[(&str, &str)]) -> Vec<Header> {
        self.request("GET", path, more)
    }

    pub(crate) fn request(&self, method: &str, path: &str, more: &[(&str, &str)]) -> Vec<Header> {
        let fields = [
            (":method", method),
            (":scheme", "https"),
            (":authority", self.authority.as_str()),
            (":path", path),
        ];
        let all = fields.iter().chain(more);
        all.map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes())).collect()
    }

    /// The code of HTTP/3 with which the server closed the connection.
    pub(crate) fn closed_with(&self) -> Option<u64> {
        self.connection.quic.peer_error().filter(|it| it.is_app).map(|it| it.error_code)
    }

    /// The same, once.
    pub(crate) fn take_code(&mut self) -> Option<u64> {
        if std::mem::replace(&mut self.is_counted, true) { None } else { self.closed_with() }
    }

    fn take_in(&mut self) {
        self.connection.read_all(&mut self.buffer);
        while let Some(event) = self.connection.poll() {
            match &event {
                Event::Finished { .. } => self.complete += 1,
                Event::Headers { headers, .. } => {
                    let is_good = http3::status(headers).is_some_and(|it| it / 100 == 2);
                    self.refused += u64::from(!is_good);
                }
                _ => {}
            }
            if let Some(heard) = &mut self.heard {
                heard.push(event);
            }
        }
    }
}

impl Endpoint for ClientConnection {
    fn local_addr(&self) -> SocketAddr {
        self.local
    }

    fn receive(&mut self, datagram: &mut [u8], path: Path, _now: Instant) {
        // A client does not notice that its address has changed in transit.
        self.connection.receive(datagram, Path { local: self.local, ..path });
        self.connection.open();
        if self.reads && self.connection.is_open() {
            self.take_in();
        }
    }

    fn transmit(&mut self, _now: Instant, out: &mut [u8]) -> Option<Transmit> {
        if let Some(datagram) = self.crafted.pop_front() {
            let (from, to) = (self.local, self.connection.quic.path_stats().next()?.peer_addr);
            out[..datagram.len()].copy_from_slice(&datagram);
            return Some(Transmit::single(Path { local: from, peer: to }, datagram.len()));
        }
        self.connection.transmit(out)
    }

    fn on_timeout(&mut self, now: Instant) {
        self.connection.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.connection.next_timeout()
    }
}
