//! A network's links as a UDP relay in real time. It has the lab's only socket and real clock.
//!
//! Each client has its own links with the same seed, as if it were alone on its access network. They start
//! with its first datagram. A datagram never leaves before the link's time. It leaves late only as far as
//! the machine is late: about ten microseconds if a core is free.

mod alarm;
mod links;
pub mod tun;

use crate::limits::{RELAY_CLIENTS_MAX, RELAY_READ_BURST};
use crate::network::Network;
use alarm::Alarm;
use client::event_loop::any_for;
use links::Links;
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};
use server::event_loop::Stop;
use simulator::link::Way;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Write};
use std::net::SocketAddr;
use std::time::Instant;

/// A relay that is bound.
pub struct Relay {
    poll: Poll,
    alarm: Alarm,
    socket: UdpSocket,
    to: SocketAddr,
    network: Network,
    server_paces: bool,
    seed: u64,
    clients: BTreeMap<SocketAddr, Path>,
    next_token: usize,
    buffer: Vec<u8>,
    log: Option<Box<dyn Write + Send>>,
    stop: Stop,
}

/// One client's path to the server and back.
struct Path {
    socket: UdpSocket,
    links: Links,
    heard: Instant,
    refused: bool,
}

/// A report of the relay to its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// A client's first datagram came.
    Client(SocketAddr),
    /// No server listens at its address; reported once for each client.
    Refused(SocketAddr),
}

const SOCKET: Token = Token(0);
const STOP: Token = Token(1);
const ALARM: Token = Token(2);
const FIRST_CLIENT: usize = 3;

impl Relay {
    /// Binds `listen` (port 0 picks a free one). Datagrams go to `to` and back as `network` determines.
    pub fn bind(
        listen: SocketAddr,
        to: SocketAddr,
        network: Network,
        seed: u64,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut socket = UdpSocket::bind(listen)?;
        poll.registry().register(&mut socket, SOCKET, Interest::READABLE)?;
        let stop = Stop::new(poll.registry(), STOP)?;
        let alarm = Alarm::new(poll.registry(), ALARM)?;
        Ok(Self {
            poll,
            alarm,
            socket,
            to,
            network,
            server_paces: false,
            seed,
            clients: BTreeMap::new(),
            next_token: FIRST_CLIENT,
            buffer: vec![0; 65_536],
            log: None,
            stop,
        })
    }

    /// Lets the server, instead of the links, keep the network's pace.
    #[must_use]
    pub fn behind_paced_server(self) -> Self {
        Self { server_paces: true, ..self }
    }

    /// Writes each verdict to `log`, as a line of JSON.
    #[must_use]
    pub fn logged(self, log: Box<dyn Write + Send>) -> Self {
        Self { log: Some(log), ..self }
    }

    /// The address that was bound.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Returns the handle that stops this relay.
    pub fn stopper(&self) -> Stop {
        self.stop.clone()
    }

    /// Relays until stopped.
    pub fn run(&mut self, notice: &mut dyn FnMut(Notice)) -> io::Result<()> {
        let mut events = Events::with_capacity(64);
        loop {
            let due = self.clients.values().filter_map(|it| it.links.next()).min();
            self.alarm.set(due, now())?;
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            if self.stop.is_requested() {
                return Ok(());
            }
            let mut more = self.read_clients(notice)?;
            more |= self.read_servers(notice)?;
            self.deliver();
            self.write_log()?;
            if more {
                self.stop.wake()?;
            }
        }
    }

    /// Reads datagrams from clients. Returns `true` if there may be more.
    fn read_clients(&mut self, notice: &mut dyn FnMut(Notice)) -> io::Result<bool> {
        for _ in 0..RELAY_READ_BURST {
            let (bytes, from) = match self.socket.recv_from(&mut self.buffer) {
                Ok(it) => it,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                // An ICMP message from a client's host does not concern this relay.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => continue,
                Err(error) => return Err(error),
            };
            if !self.clients.contains_key(&from) {
                self.add_client(from)?;
                notice(Notice::Client(from));
            }
            if let Some(path) = self.clients.get_mut(&from) {
                path.heard = now();
                path.links.offer(Way::Up, self.buffer[..bytes].to_vec());
            }
        }
        Ok(true)
    }

    /// Reads datagrams from the server. Returns `true` if there may be more.
    fn read_servers(&mut self, notice: &mut dyn FnMut(Notice)) -> io::Result<bool> {
        let mut more = false;
        for path in self.clients.values_mut() {
            let mut read = 0;
            while read < RELAY_READ_BURST {
                match path.socket.recv(&mut self.buffer) {
                    Ok(bytes) => {
                        path.links.offer(Way::Down, self.buffer[..bytes].to_vec());
                        read += 1;
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                        path.refuse(self.to, notice);
                    }
                    Err(error) => return Err(error),
                }
            }
            more |= read == RELAY_READ_BURST;
        }
        Ok(more)
    }

    /// Sends what is due. A full socket counts as loss: the endpoints retransmit.
    fn deliver(&mut self) {
        for (client, path) in &mut self.clients {
            while let Some(datagram) = path.links.arrival(Way::Up) {
                path.socket.send(&datagram).ok();
            }
            while let Some(datagram) = path.links.arrival(Way::Down) {
                self.socket.send_to(&datagram, *client).ok();
            }
        }
    }

    fn add_client(&mut self, client: SocketAddr) -> io::Result<()> {
        if self.clients.len() >= RELAY_CLIENTS_MAX {
            self.forget_the_most_silent();
        }
        let mut socket = UdpSocket::bind(any_for(self.to))?;
        socket.connect(self.to)?;
        let token = Token(self.next_token);
        self.next_token += 1;
        self.poll.registry().register(&mut socket, token, Interest::READABLE)?;
        let (down, up) = if self.server_paces {
            self.network.profiles()
        } else {
            (self.network.down.clone(), self.network.up.clone())
        };
        let links = Links::start([&down, &up], self.seed, self.log.is_some());
        self.clients.insert(client, Path { socket, links, heard: now(), refused: false });
        Ok(())
    }

    fn forget_the_most_silent(&mut self) {
        let silent = self.clients.iter().min_by_key(|(_, path)| path.heard).map(|(it, _)| *it);
        let path = silent.and_then(|it| self.clients.remove(&it));
        if let Some(mut path) = path {
            // A socket that was not registered cannot be deregistered.
            self.poll.registry().deregister(&mut path.socket).ok();
        }
    }

    fn write_log(&mut self) -> io::Result<()> {
        let Some(log) = &mut self.log else { return Ok(()) };
        for path in self.clients.values_mut() {
            path.links.write_log(log)?;
        }
        log.flush()
    }
}

impl Path {
    fn refuse(&mut self, server: SocketAddr, notice: &mut dyn FnMut(Notice)) {
        if !std::mem::replace(&mut self.refused, true) {
            notice(Notice::Refused(server));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where the relay reads the clock")]
fn now() -> Instant {
    Instant::now()
}
