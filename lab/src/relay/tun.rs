//! A network's links between two network namespaces: they carry whole IP packets, and so any program's TCP, UDP and ICMP.
//!
//! The machine's own network is not changed. The system removes a namespace, its device and its routes when the last
//! process in it has ended and its [`End`] is dropped.

mod end;

pub use end::{CLIENT, End, SERVER, TunError, enter_user_namespace};

use super::alarm::Alarm;
use super::links::Links;
use super::now;
use crate::limits::RELAY_READ_BURST;
use crate::network::Network;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use server::event_loop::Stop;
use simulator::link::Way;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsRawFd;
use tun_rs::SyncDevice;

/// A relay between the devices of two ends. Rates and queues count bytes of IP packets.
pub struct TunRelay {
    poll: Poll,
    alarm: Alarm,
    client: SyncDevice,
    server: SyncDevice,
    network: Network,
    seed: u64,
    /// They start with the first packet.
    links: Option<Links>,
    buffer: Vec<u8>,
    log: Option<Box<dyn Write + Send>>,
    stop: Stop,
}

const STOP: Token = Token(0);
const ALARM: Token = Token(1);
const DEVICES: [Token; 2] = [Token(2), Token(3)];

impl TunRelay {
    /// Creates the two ends, and the relay that passes packets between them as `network` determines. Writes each verdict to
    /// `log`, as a line of JSON.
    pub fn between(
        network: Network,
        seed: u64,
        log: Option<Box<dyn Write + Send>>,
    ) -> Result<(Self, Ends), TunError> {
        let (client, client_device) = End::make(CLIENT, SERVER)?;
        let (server, server_device) = End::make(SERVER, CLIENT)?;
        let relay = Self::of([client_device, server_device], network, seed, log);
        Ok((relay.map_err(TunError::Device)?, Ends { client, server }))
    }

    fn of(
        devices: [SyncDevice; 2],
        network: Network,
        seed: u64,
        log: Option<Box<dyn Write + Send>>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        let stop = Stop::new(poll.registry(), STOP)?;
        let alarm = Alarm::new(poll.registry(), ALARM)?;
        for (device, token) in devices.iter().zip(DEVICES) {
            let mut source = SourceFd(&device.as_raw_fd());
            poll.registry().register(&mut source, token, Interest::READABLE)?;
        }
        let [client, server] = devices;
        let buffer = vec![0; 65_536];
        Ok(Self { poll, alarm, client, server, network, seed, links: None, buffer, log, stop })
    }

    /// Returns the handle that stops this relay.
    pub fn stopper(&self) -> Stop {
        self.stop.clone()
    }

    /// Relays until stopped, on its own thread.
    pub fn run(&mut self) -> io::Result<()> {
        end::go_first();
        let mut events = Events::with_capacity(64);
        loop {
            self.alarm.set(self.links.as_ref().and_then(Links::next), now())?;
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            if self.stop.is_requested() {
                return Ok(());
            }
            let more = self.read(Way::Up)? | self.read(Way::Down)?;
            self.deliver()?;
            if more {
                self.stop.wake()?;
            }
        }
    }

    /// Reads packets from an end. Returns `true` if there may be more.
    fn read(&mut self, way: Way) -> io::Result<bool> {
        let device = match way {
            Way::Up => &self.client,
            Way::Down => &self.server,
        };
        for _ in 0..RELAY_READ_BURST {
            let bytes = match device.recv(&mut self.buffer) {
                Ok(it) => it,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            };
            let links = self.links.get_or_insert_with(|| {
                let Network { down, up, .. } = &self.network;
                Links::start([down, up], self.seed, self.log.is_some())
            });
            links.offer(way, self.buffer[..bytes].to_vec());
        }
        Ok(true)
    }

    /// Sends due packets. A packet that an end does not accept counts as lost: its receiver has no room for it, either.
    fn deliver(&mut self) -> io::Result<()> {
        let Some(links) = &mut self.links else { return Ok(()) };
        while let Some(packet) = links.arrival(Way::Up) {
            self.server.send(&packet).ok();
        }
        while let Some(packet) = links.arrival(Way::Down) {
            self.client.send(&packet).ok();
        }
        let Some(log) = &mut self.log else { return Ok(()) };
        links.write_log(log)?;
        log.flush()
    }
}

/// The two ends of a link.
pub struct Ends {
    /// Where clients run.
    pub client: End,
    /// Where servers run.
    pub server: End,
}
