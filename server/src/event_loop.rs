//! The server's only socket and clock.

use crate::Server;
use connection::{Endpoint, Transmit};
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrStorage, sendmsg};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook_mio::v1_0::Signals;
use std::io::{self, ErrorKind, IoSlice};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

const SOCKET: Token = Token(0);
const STOP: Token = Token(1);
const SIGNALS: Token = Token(2);

/// Datagrams read before sending gets its turn.
const READ_BURST: usize = 256;

/// A bound socket and what it waits for.
pub struct EventLoop {
    poll: Poll,
    socket: UdpSocket,
    stop: Stop,
    signals: Option<Signals>,
    /// Whether the system cuts one buffer into datagrams (UDP GSO).
    segmentation: bool,
}

/// Stops an event loop from another thread. A server drains before its loop ends.
#[derive(Clone)]
pub struct Stop {
    waker: Arc<Waker>,
    requested: Arc<AtomicBool>,
}

impl Stop {
    /// A handle that stops the loop that polls with `registry`, by waking it with `token`.
    pub fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        Ok(Self { waker: Arc::new(Waker::new(registry, token)?), requested: Arc::default() })
    }

    /// Asks the loop to end.
    pub fn stop(&self) {
        self.requested.store(true, Ordering::SeqCst);
        // A loop that is gone needs no waking.
        self.waker.wake().ok();
    }

    /// Whether the loop was asked to end.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::SeqCst)
    }

    /// Lets the loop go round once more without waiting.
    pub fn wake(&self) -> io::Result<()> {
        self.waker.wake()
    }
}

impl EventLoop {
    /// Binds a UDP socket; port 0 takes a free one.
    pub fn bind(listen: SocketAddr) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut socket = UdpSocket::bind(listen)?;
        poll.registry().register(&mut socket, SOCKET, Interest::READABLE | Interest::WRITABLE)?;
        let stop = Stop::new(poll.registry(), STOP)?;
        Ok(Self { poll, socket, stop, signals: None, segmentation: true })
    }

    /// The address that was bound.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// A handle that stops this loop.
    pub fn stopper(&self) -> Stop {
        self.stop.clone()
    }

    /// Also drains on SIGTERM and SIGINT.
    pub fn stop_on_signals(&mut self) -> io::Result<()> {
        let mut signals = Signals::new([SIGTERM, SIGINT])?;
        self.poll.registry().register(&mut signals, SIGNALS, Interest::READABLE)?;
        self.signals = Some(signals);
        Ok(())
    }

    /// Serves until stopped and drained. Says how many connections had to be cut because their responses
    /// took longer than [`crate::Limits::drain`].
    pub fn run(&mut self, server: &mut Server) -> io::Result<usize> {
        let mut events = Events::with_capacity(64);
        let mut buffer = vec![0; 65_536];
        let mut pending = None;
        let stop = self.stopper();
        server.wake_with(Box::new(move || {
            // A loop that is gone needs no waking.
            stop.wake().ok();
        }));
        loop {
            let timeout = server.next_timeout().map(|at| at.saturating_duration_since(now()));
            match self.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            let more = self.read(server, &mut buffer)?;
            server.on_timeout(now());
            server.on_arrivals(now());
            self.write(server, &mut buffer, &mut pending);
            if self.stop_requested() {
                server.drain(now());
            }
            if server.is_drained(now()) {
                let cut = server.cut();
                self.write(server, &mut buffer, &mut pending);
                return Ok(cut);
            }
            if more {
                self.stop.wake()?;
            }
        }
    }

    /// Reads a burst; true: there may be more.
    fn read(&mut self, server: &mut Server, buffer: &mut [u8]) -> io::Result<bool> {
        for _ in 0..READ_BURST {
            match self.socket.recv_from(buffer) {
                Ok((bytes, from)) => server.receive(&mut buffer[..bytes], from, now()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                // What a peer's host answers (ICMP) says nothing about this server.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn write(
        &mut self,
        server: &mut Server,
        buffer: &mut [u8],
        pending: &mut Option<(Transmit, Vec<u8>)>,
    ) {
        if let Some((transmit, bytes)) = pending.take()
            && self.send(transmit, &bytes).is_err()
        {
            *pending = Some((transmit, bytes));
            return;
        }
        while let Some(transmit) = server.transmit(now(), buffer) {
            if self.send(transmit, &buffer[..transmit.bytes]).is_err() {
                *pending = Some((transmit, buffer[..transmit.bytes].to_vec()));
                return;
            }
        }
    }

    /// Sends a batch. An error means that the socket is full; anything else is as good as loss.
    fn send(&mut self, transmit: Transmit, bytes: &[u8]) -> Result<(), ErrorKind> {
        let Transmit { to, segment_bytes, .. } = transmit;
        if self.segmentation && bytes.len() > segment_bytes {
            let size = u16::try_from(segment_bytes).unwrap_or(u16::MAX);
            let control = [ControlMessage::UdpGsoSegments(&size)];
            let address = SockaddrStorage::from(to);
            let flags = MsgFlags::MSG_DONTWAIT;
            match sendmsg(
                self.socket.as_raw_fd(),
                &[IoSlice::new(bytes)],
                &control,
                flags,
                Some(&address),
            ) {
                Ok(_) => return Ok(()),
                Err(nix::errno::Errno::EAGAIN) => return Err(ErrorKind::WouldBlock),
                Err(_) => self.segmentation = false,
            }
        }
        for datagram in bytes.chunks(segment_bytes.max(1)) {
            match self.socket.send_to(datagram, to) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Err(ErrorKind::WouldBlock);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn stop_requested(&mut self) -> bool {
        let signalled = self.signals.as_mut().is_some_and(|it| it.pending().next().is_some());
        signalled || self.stop.is_requested()
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where the server reads the clock")]
fn now() -> Instant {
    Instant::now()
}
