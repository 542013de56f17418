//! Connections that one thread drives: of attackers, visitors, or guests.

use super::{StressError, TICK, Target, now};
use crate::client_connection::ClientConnection;
use crate::limits::{DATAGRAM_SOCKETS, DATAGRAMS_PER_SECOND, FIRST_PACKETS_MAX, SPOOFERS_MAX};
use crate::loss::Loss;
use crate::scripts::Script;
use crate::visitors::Visit;
use connection::{ClientConfig, ConnectError, Endpoint, Path};
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Connections that carry out an attack, or visit. Each has its own socket.
pub(super) struct Crowd<'a> {
    pub(super) target: &'a Target,
    poll: Poll,
    pub(super) members: Vec<Member>,
    pub(super) codes: BTreeMap<u64, usize>,
    pub(super) loss: Loss,
    /// Addresses that never answer.
    spoofers: Vec<Spoofer>,
    buffer: Vec<u8>,
}

pub(super) struct Member {
    socket: UdpSocket,
    pub(super) client: ClientConnection,
    moved: Instant,
}

/// An address that never answers, and the bytes sent from it and received there.
struct Spoofer {
    socket: UdpSocket,
    sent: u64,
    came: u64,
}

impl Spoofer {
    fn new(server: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(SocketAddr::new(server.ip(), 0))?;
        socket.connect(server)?;
        Ok(Self { socket, sent: 0, came: 0 })
    }

    fn send(&mut self, datagram: &[u8]) {
        // A datagram that the system rejects counts as lost.
        self.socket.send(datagram).ok();
        self.sent += datagram.len() as u64;
    }
}

impl<'a> Crowd<'a> {
    pub(super) fn new(target: &'a Target) -> io::Result<Self> {
        Ok(Self {
            target,
            poll: Poll::new()?,
            members: Vec::new(),
            codes: BTreeMap::new(),
            loss: Loss::none(),
            spoofers: Vec::new(),
            buffer: vec![0; 65_536],
        })
    }

    pub(super) fn join(&mut self, config: &ClientConfig) -> Result<(), StressError> {
        let number = self.members.len();
        let member = self.member(number, config)?;
        self.members.push(member);
        Ok(())
    }

    pub(super) fn member(
        &self,
        number: usize,
        config: &ClientConfig,
    ) -> Result<Member, StressError> {
        let socket = self.socket(number)?;
        let Target { address, authority, .. } = self.target;
        let client =
            ClientConnection::connect(socket.local_addr()?, *address, authority, config, now())?;
        Ok(Member { socket, client, moved: now() })
    }

    fn socket(&self, number: usize) -> io::Result<UdpSocket> {
        let mut socket = UdpSocket::bind(SocketAddr::new(self.target.address.ip(), 0))?;
        socket.connect(self.target.address)?;
        self.poll.registry().register(&mut socket, Token(number), Interest::READABLE)?;
        Ok(socket)
    }

    pub(super) fn visit_until(&mut self, visits: &mut [Visit], end: Instant) -> io::Result<()> {
        while now() < end {
            for (member, visit) in self.members.iter_mut().zip(visits.iter_mut()) {
                visit.act(&mut member.client, self.target.path(), now());
            }
            self.turn(visits.iter().filter_map(Visit::next).min())?;
        }
        Ok(())
    }

    /// Checks that visitors get their file.
    pub(super) fn check(&self) -> Result<(), StressError> {
        let Target { address, authority, .. } = self.target;
        if self.members.iter().any(|member| member.client.refused > 0) {
            return Err(StressError::NoFile {
                address: *address,
                path: self.target.path().to_owned(),
                authority: authority.clone(),
            });
        }
        if self.members.iter().all(|member| member.client.complete > 0) {
            Ok(())
        } else {
            Err(StressError::Silent(*address))
        }
    }

    /// Carries out a script from `start` on. Returns the peak of the server's memory.
    pub(super) fn attack(
        &mut self,
        script: &mut dyn Script,
        first_packets: Vec<Vec<u8>>,
        start: Instant,
        length: Duration,
    ) -> Result<Option<u64>, StressError> {
        std::thread::sleep(start.saturating_duration_since(now()));
        for _ in 0..self.target.sized(script.connections()) {
            self.join(&script.config())?;
        }
        let mut first_packets = first_packets.into_iter().enumerate().peekable();
        let mut most = None;
        while now() < start + length {
            let at = now() - start;
            self.act(script, at)?;
            while let Some((number, packet)) = first_packets.next_if(|(number, _)| {
                *number as f64 / f64::from(DATAGRAMS_PER_SECOND) < at.as_secs_f64()
            }) {
                self.spoofers[number % DATAGRAM_SOCKETS].send(&packet);
            }
            most = most.max(self.target.memory());
            self.turn(None)?;
        }
        self.leave();
        Ok(most)
    }

    /// Lets every attacker act once.
    fn act(&mut self, script: &mut dyn Script, at: Duration) -> Result<(), StressError> {
        for number in 0..self.members.len() {
            let member = &mut self.members[number];
            if member.client.connection.is_over() {
                if let Some(code) = member.client.take_code() {
                    *self.codes.entry(code).or_default() += 1;
                }
                if script.comes_back() {
                    self.members[number] = self.member(number, &script.config())?;
                }
                continue;
            }
            if member.client.connection.is_connected() {
                script.act(number, &mut member.client, at);
            }
            let is_due = script.moves_each().is_some_and(|it| now() >= member.moved + it);
            if is_due && script.moves_by_others() {
                self.send_on(number)?;
            } else if is_due {
                self.move_to_new_address(number)?;
            }
        }
        Ok(())
    }

    /// Gives a client another address, as a router does that drops the old one.
    pub(super) fn move_to_new_address(&mut self, number: usize) -> io::Result<()> {
        let socket = self.socket(number)?;
        let member = &mut self.members[number];
        (member.socket, member.moved) = (socket, now());
        // Browsers send a PING when nothing arrives.
        member.client.connection.quic.send_ack_eliciting().ok();
        Ok(())
    }

    /// Forwards the client's next datagram from another address.
    fn send_on(&mut self, number: usize) -> io::Result<()> {
        if self.spoofers.len() >= SPOOFERS_MAX {
            return Ok(());
        }
        let mut spoofer = Spoofer::new(self.target.address)?;
        let member = &mut self.members[number];
        member.moved = now();
        member.client.connection.quic.send_ack_eliciting().ok();
        if let Some(transmit) = member.client.transmit(now(), &mut self.buffer) {
            spoofer.send(&self.buffer[..transmit.bytes]);
        }
        self.spoofers.push(spoofer);
        Ok(())
    }

    /// First packets of clients that never answer, each on its own connection, for an attack of this length.
    pub(super) fn first_packets(&mut self, length: Duration) -> Result<Vec<Vec<u8>>, StressError> {
        let server = self.target.address;
        for _ in 0..DATAGRAM_SOCKETS {
            self.spoofers.push(Spoofer::new(server)?);
        }
        let mut config =
            quiche::Config::new(quiche::PROTOCOL_VERSION).map_err(ConnectError::from)?;
        config.set_application_protos(&[b"h3"]).map_err(ConnectError::from)?;
        let seconds = u32::try_from(length.as_secs()).unwrap_or(u32::MAX);
        let count = seconds.saturating_mul(DATAGRAMS_PER_SECOND).min(FIRST_PACKETS_MAX);
        let mut packets = Vec::new();
        for (number, spoofer) in (0..count).zip(self.spoofers.iter().cycle()) {
            let id = u64::from(number).to_be_bytes();
            let id = quiche::ConnectionId::from_ref(&id);
            let local = spoofer.socket.local_addr()?;
            let name = Some(http3::host(&self.target.authority));
            let mut quic = quiche::connect(name, &id, local, server, &mut config)
                .map_err(ConnectError::from)?;
            let (bytes, _) = quic.send(&mut self.buffer).map_err(ConnectError::from)?;
            packets.push(self.buffer[..bytes].to_vec());
        }
        Ok(packets)
    }

    /// The attackers close their connections.
    fn leave(&mut self) {
        for member in &mut self.members {
            member.client.connection.close(http3::Code::NoError, "");
        }
        self.write();
    }

    pub(super) fn parties(&self) -> Vec<&ClientConnection> {
        self.members.iter().map(|it| &it.client).collect()
    }

    /// Sends, waits until something arrives or is due, and reads.
    pub(super) fn turn(&mut self, wakeup: Option<Instant>) -> io::Result<()> {
        self.write();
        let timeouts = self.members.iter().filter_map(|it| it.client.next_timeout());
        let next = timeouts.chain(wakeup).min().map(|it| it.saturating_duration_since(now()));
        let mut events = Events::with_capacity(256);
        match self.poll.poll(&mut events, Some(next.unwrap_or(TICK).min(TICK))) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        self.read();
        Ok(())
    }

    fn write(&mut self) {
        for member in &mut self.members {
            while let Some(transmit) = member.client.transmit(now(), &mut self.buffer) {
                // A datagram that the system rejects counts as lost.
                if !self.loss.happens() {
                    member.socket.send(&self.buffer[..transmit.bytes]).ok();
                }
            }
        }
    }

    fn read(&mut self) {
        for member in &mut self.members {
            let path = Path { local: member.client.local_addr(), peer: self.target.address };
            while let Ok(bytes) = member.socket.recv(&mut self.buffer) {
                if !self.loss.happens() {
                    member.client.receive(&mut self.buffer[..bytes], path, now());
                }
            }
            member.client.on_timeout(now());
        }
        for spoofer in &mut self.spoofers {
            while let Ok(bytes) = spoofer.socket.recv(&mut self.buffer) {
                spoofer.came += bytes as u64;
            }
        }
    }

    /// The largest ratio of bytes sent to an address to bytes received from it.
    pub(super) fn amplification(&self) -> Option<f64> {
        let times = self.spoofers.iter().filter(|it| it.sent > 0);
        times.map(|it| it.came as f64 / it.sent as f64).max_by(f64::total_cmp)
    }
}
