//! The sockets and the clock of attackers and visitors.

use crate::attack::Attack;
use crate::limits::{
    CONNECTIONS_MAX, DATAGRAM_SOCKETS, DATAGRAMS_PER_SECOND, FIRST_PACKETS_MAX, SETTLE, VISITORS,
};
use crate::memory::resident_bytes;
use crate::outcome::{Outcome, Served};
use crate::party::{Party, config};
use crate::scripts::Script;
use crate::visitors::{Visit, served};
use connection::{ClientConfig, ConnectError, Endpoint, Path};
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// Whom to attack. It must be on this machine.
#[derive(Debug, Clone)]
pub struct Target {
    /// The server's address.
    address: SocketAddr,
    /// The file that visitors load.
    path: String,
    /// The server's process, whose memory is read.
    process: Option<u32>,
}

/// An attack that cannot be tried.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StressError {
    #[error("{0}: not a loopback address; attacks go to servers on this machine only")]
    Elsewhere(SocketAddr),
    #[error("{0}: does not answer; is a server listening there?")]
    Silent(SocketAddr),
    #[error("{0}: answers {1} without success; name a file that it has with --path")]
    NoFile(SocketAddr, String),
    #[error("process {0}: not there")]
    NoProcess(u32),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("socket: {0}")]
    Socket(#[from] io::Error),
}

impl Target {
    /// A server at a loopback address, with a file for its visitors, and perhaps its process.
    pub fn new(address: SocketAddr, path: &str, process: Option<u32>) -> Result<Self, StressError> {
        if !address.ip().is_loopback() {
            return Err(StressError::Elsewhere(address));
        }
        if let Some(missing) = process.filter(|it| resident_bytes(*it).is_none()) {
            return Err(StressError::NoProcess(missing));
        }
        Ok(Self { address, path: path.to_owned(), process })
    }

    fn memory(&self) -> Option<u64> {
        self.process.and_then(resident_bytes)
    }
}

/// Carries out an attack of this length, after as long a time of peace. Visitors have a thread of their own, so that they
/// do not wait for the attackers' work.
pub fn run(target: &Target, attack: &Attack, length: Duration) -> Result<Outcome, StressError> {
    let mut script = (attack.script)(&target.path);
    let mut attackers = Crowd::new(target)?;
    let first_packets =
        if script.sends_first_packets() { attackers.first_packets(length)? } else { Vec::new() };
    std::thread::scope(|scope| {
        let (begin, begun) = channel();
        let visitors = scope.spawn(move || visit(target, length, &begin));
        // The sender is gone if the visitors have failed: they say why.
        let began = begun.recv().ok();
        let attacked = began
            .map(|began| attackers.attack(script.as_mut(), first_packets, began + length, length));
        let visited = visitors.join().unwrap_or(Err(StressError::Silent(target.address)));
        let ([before, during], memory_then) = visited?;
        let memory_most = attacked.transpose()?.flatten();
        let mut outcome = Outcome {
            attack: attack.name,
            before,
            during,
            memory_bytes: memories(memory_then, memory_most, target.memory()),
            codes: attackers.codes.clone(),
            amplification: attackers.amplification(),
            failures: Vec::new(),
        };
        outcome.judge(attack.codes, script.complaint(&attackers.parties()));
        Ok(outcome)
    })
}

fn memories(before: Option<u64>, most: Option<u64>, after: Option<u64>) -> Option<[u64; 3]> {
    Some([before?, most?, after?])
}

/// What visitors get before and during an attack, and the server's memory before it. `begin` hears when they begin.
fn visit(
    target: &Target,
    length: Duration,
    begin: &Sender<Instant>,
) -> Result<([Served; 2], Option<u64>), StressError> {
    let mut crowd = Crowd::new(target)?;
    let mut visits: Vec<Visit> = (0..VISITORS).map(|_| Visit::default()).collect();
    for _ in 0..VISITORS {
        crowd.join(&config())?;
    }
    crowd.visit_until(&mut visits, now() + WARM_UP)?;
    served(&mut visits, length, now());
    crowd.check()?;
    let start = now();
    // Nobody hears it if the attackers have failed.
    begin.send(start).ok();
    crowd.visit_until(&mut visits, start + length)?;
    let (peace, memory) = (served(&mut visits, length, now()), target.memory());
    crowd.visit_until(&mut visits, start + 2 * length)?;
    let under_attack = served(&mut visits, length, now());
    if target.process.is_some() {
        crowd.visit_until(&mut visits, start + 2 * length + SETTLE)?;
    }
    Ok(([peace, under_attack], memory))
}

/// Connections that carry out an attack, or visit. Each has a socket of its own.
struct Crowd<'a> {
    target: &'a Target,
    poll: Poll,
    members: Vec<Member>,
    codes: BTreeMap<u64, usize>,
    /// Sockets of clients that never answer, and bytes that went from them and came to them.
    spoofers: Vec<UdpSocket>,
    spoofed_bytes: (u64, u64),
    buffer: Vec<u8>,
}

struct Member {
    socket: UdpSocket,
    party: Party,
    moved: Instant,
}

impl<'a> Crowd<'a> {
    fn new(target: &'a Target) -> io::Result<Self> {
        Ok(Self {
            target,
            poll: Poll::new()?,
            members: Vec::new(),
            codes: BTreeMap::new(),
            spoofers: Vec::new(),
            spoofed_bytes: (0, 0),
            buffer: vec![0; 65_536],
        })
    }

    fn join(&mut self, config: &ClientConfig) -> Result<(), StressError> {
        let number = self.members.len();
        let member = self.member(number, config)?;
        self.members.push(member);
        Ok(())
    }

    fn member(&self, number: usize, config: &ClientConfig) -> Result<Member, StressError> {
        let socket = self.socket(number)?;
        let party = Party::connect(socket.local_addr()?, self.target.address, config, now())?;
        Ok(Member { socket, party, moved: now() })
    }

    fn socket(&self, number: usize) -> io::Result<UdpSocket> {
        let mut socket = UdpSocket::bind(SocketAddr::new(self.target.address.ip(), 0))?;
        socket.connect(self.target.address)?;
        self.poll.registry().register(&mut socket, Token(number), Interest::READABLE)?;
        Ok(socket)
    }

    fn visit_until(&mut self, visits: &mut [Visit], end: Instant) -> io::Result<()> {
        while now() < end {
            for (member, visit) in self.members.iter_mut().zip(visits.iter_mut()) {
                visit.act(&mut member.party, &self.target.path, now());
            }
            self.turn(visits.iter().filter_map(Visit::next).min())?;
        }
        Ok(())
    }

    /// Whether visitors get what they want.
    fn check(&self) -> Result<(), StressError> {
        let Target { address, path, .. } = self.target;
        if self.members.iter().any(|it| it.party.refused > 0) {
            return Err(StressError::NoFile(*address, path.clone()));
        }
        if self.members.iter().all(|it| it.party.complete > 0) {
            Ok(())
        } else {
            Err(StressError::Silent(*address))
        }
    }

    /// Carries out a script from `start` on. Returns the most memory that the server had.
    fn attack(
        &mut self,
        script: &mut dyn Script,
        first_packets: Vec<Vec<u8>>,
        start: Instant,
        length: Duration,
    ) -> Result<Option<u64>, StressError> {
        std::thread::sleep(start.saturating_duration_since(now()));
        for _ in 0..script.connections().min(CONNECTIONS_MAX) {
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
                self.spoofers[number % DATAGRAM_SOCKETS].send(&packet).ok();
                self.spoofed_bytes.0 += packet.len() as u64;
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
            if member.party.connection.is_over() {
                if let Some(code) = member.party.take_code() {
                    *self.codes.entry(code).or_default() += 1;
                }
                if script.comes_back() {
                    self.members[number] = self.member(number, &script.config())?;
                }
                continue;
            }
            if member.party.connection.is_connected() {
                script.act(number, &mut member.party, at);
            }
            let is_due = script.moves_each().is_some_and(|it| now() >= member.moved + it);
            if is_due {
                self.move_to_new_address(number)?;
            }
        }
        Ok(())
    }

    /// Gives a client another address, as a router does that forgets the old one.
    fn move_to_new_address(&mut self, number: usize) -> io::Result<()> {
        let socket = self.socket(number)?;
        let member = &mut self.members[number];
        (member.socket, member.moved) = (socket, now());
        // Browsers send a PING when nothing comes.
        member.party.connection.quic.send_ack_eliciting().ok();
        Ok(())
    }

    /// First packets of clients that never answer, each of a connection of its own, for an attack of this length.
    fn first_packets(&mut self, length: Duration) -> Result<Vec<Vec<u8>>, StressError> {
        let server = self.target.address;
        for _ in 0..DATAGRAM_SOCKETS {
            let socket = UdpSocket::bind(SocketAddr::new(server.ip(), 0))?;
            socket.connect(server)?;
            self.spoofers.push(socket);
        }
        let mut config =
            quiche::Config::new(quiche::PROTOCOL_VERSION).map_err(ConnectError::from)?;
        config.set_application_protos(&[b"h3"]).map_err(ConnectError::from)?;
        let seconds = u32::try_from(length.as_secs()).unwrap_or(u32::MAX);
        let count = seconds.saturating_mul(DATAGRAMS_PER_SECOND).min(FIRST_PACKETS_MAX);
        let mut packets = Vec::new();
        for (number, socket) in (0..count).zip(self.spoofers.iter().cycle()) {
            let id = u64::from(number).to_be_bytes();
            let id = quiche::ConnectionId::from_ref(&id);
            let local = socket.local_addr()?;
            let mut quic = quiche::connect(Some("localhost"), &id, local, server, &mut config)
                .map_err(ConnectError::from)?;
            let (bytes, _) = quic.send(&mut self.buffer).map_err(ConnectError::from)?;
            packets.push(self.buffer[..bytes].to_vec());
        }
        Ok(packets)
    }

    /// The attackers close their connections.
    fn leave(&mut self) {
        for member in &mut self.members {
            member.party.connection.close(http3::Code::NoError, "");
        }
        self.write();
    }

    fn parties(&self) -> Vec<&Party> {
        self.members.iter().map(|it| &it.party).collect()
    }

    /// Sends, waits until something comes or is due, and reads.
    fn turn(&mut self, wakeup: Option<Instant>) -> io::Result<()> {
        self.write();
        let timeouts = self.members.iter().filter_map(|it| it.party.next_timeout());
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
            while let Some(transmit) = member.party.transmit(now(), &mut self.buffer) {
                // What the system does not take is as good as lost.
                member.socket.send(&self.buffer[..transmit.bytes]).ok();
            }
        }
    }

    fn read(&mut self) {
        for member in &mut self.members {
            let path = Path { local: member.party.local_addr(), peer: self.target.address };
            while let Ok(bytes) = member.socket.recv(&mut self.buffer) {
                member.party.receive(&mut self.buffer[..bytes], path, now());
            }
            member.party.on_timeout(now());
        }
        for socket in &self.spoofers {
            while let Ok(bytes) = socket.recv(&mut self.buffer) {
                self.spoofed_bytes.1 += bytes as u64;
            }
        }
    }

    fn amplification(&self) -> Option<f64> {
        let (sent, came) = self.spoofed_bytes;
        (sent > 0).then(|| came as f64 / sent as f64)
    }
}

/// The longest pause between two turns.
const TICK: Duration = Duration::from_millis(5);

/// Visitors connect, and the server loads their file.
const WARM_UP: Duration = Duration::from_millis(500);

#[expect(
    clippy::disallowed_methods,
    reason = "this is where attackers and visitors read the clock"
)]
fn now() -> Instant {
    Instant::now()
}
