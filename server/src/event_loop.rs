//! The server's only socket and clock.

mod socket;
mod unbatched;

use crate::limits::{WRITE_BURST, WRITE_BURST_BYTES};
use crate::site::Site;
use crate::{Identity, Options, Server};
use connection::Endpoint;
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook_mio::v1_0::Signals;
use socket::Socket;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

const SOCKET: Token = Token(0);
const STOP: Token = Token(1);
const SIGNALS: Token = Token(2);

/// The action on SIGHUP with the first server. It returns what the other shards get then ([`Server::reload`]), if anything
/// has changed.
pub type Reload = Box<dyn FnMut(&mut Server) -> Option<Renewal> + Send>;

/// The parts of a server that a reload replaces.
#[derive(Clone)]
#[expect(missing_docs, reason = "the types say it")]
pub struct Renewal {
    pub identity: Identity,
    pub site: Arc<dyn Site>,
    pub options: Options,
}

/// A bound socket and the sources of its events.
pub struct EventLoop {
    poll: Poll,
    socket: Socket,
    stop: Stop,
    signals: Option<Signals>,
    reload: Reload,
    /// Messages of the loop that receives signals, and the channels to the others if this is that loop.
    renewals: Receiver<Renewal>,
    renew: Sender<Renewal>,
    others: Vec<(Stop, Sender<Renewal>)>,
}

/// Stops an event loop from another thread. A server drains before its loop ends.
#[derive(Clone)]
pub struct Stop {
    waker: Arc<Waker>,
    urgency: Arc<AtomicU8>,
}

/// The requests to a loop, in the order of urgency.
const END: u8 = 1;
const END_NOW: u8 = 2;

impl Stop {
    /// A handle that stops the loop that polls with `registry` by waking it with `token`.
    pub fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        Ok(Self { waker: Arc::new(Waker::new(registry, token)?), urgency: Arc::default() })
    }

    /// Asks the loop to end.
    pub fn stop(&self) {
        self.ask(END);
    }

    /// Asks the loop to end without waiting for responses in progress.
    pub fn hurry(&self) {
        self.ask(END_NOW);
    }

    fn ask(&self, urgency: u8) {
        self.urgency.fetch_max(urgency, Ordering::SeqCst);
        // A loop that is gone need not be woken.
        self.waker.wake().ok();
    }

    /// Whether the loop was asked to end.
    pub fn is_requested(&self) -> bool {
        self.urgency() >= END
    }

    fn urgency(&self) -> u8 {
        self.urgency.load(Ordering::SeqCst)
    }

    /// Makes the loop run once more without waiting.
    pub fn wake(&self) -> io::Result<()> {
        self.waker.wake()
    }
}

impl EventLoop {
    /// Binds a UDP socket; port 0 takes a free one.
    pub fn bind(listen: SocketAddr) -> io::Result<Self> {
        Self::over(UdpSocket::bind(listen)?)
    }

    /// Binds as many sockets to one address: a loop for each of [`Server::shards`].
    pub fn bind_shards(listen: SocketAddr, count: u8) -> io::Result<Vec<Self>> {
        socket::bind(listen, count)?.into_iter().map(Self::over).collect()
    }

    fn over(io: UdpSocket) -> io::Result<Self> {
        let poll = Poll::new()?;
        let socket = Socket::new(io, poll.registry(), SOCKET)?;
        let stop = Stop::new(poll.registry(), STOP)?;
        let (renew, renewals) = channel();
        let (signals, reload, others) = (None, Box::new(|_: &mut Server| None), Vec::new());
        Ok(Self { poll, socket, stop, signals, reload, renewals, renew, others })
    }

    /// The address that was bound.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.socket.local_addr())
    }

    /// A handle that stops this loop.
    pub fn stopper(&self) -> Stop {
        self.stop.clone()
    }

    /// Also drains on SIGTERM and SIGINT, and calls `reload` on SIGHUP.
    pub fn heed_signals(&mut self, reload: Reload) -> io::Result<()> {
        let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
        self.poll.registry().register(&mut signals, SIGNALS, Interest::READABLE)?;
        self.signals = Some(signals);
        self.reload = reload;
        Ok(())
    }

    /// Serves until stopped and drained. Returns how many connections had to be cut because their responses took longer
    /// than [`crate::Limits::drain`].
    pub fn run(&mut self, server: &mut Server) -> io::Result<usize> {
        let mut events = Events::with_capacity(64);
        let mut buffer = vec![0; 65_536];
        let stop = self.stopper();
        server.wake_with(Box::new(move || {
            // A loop that is gone need not be woken.
            stop.wake().ok();
        }));
        let (mut is_readable, mut has_more) = (true, false);
        loop {
            self.wait(server, &mut events, is_readable || has_more)?;
            is_readable |= events.iter().any(|it| it.token() == SOCKET && it.is_readable());
            if events.iter().any(|it| it.token() == SIGNALS) {
                self.take_signals(server);
            }
            if events.iter().any(|it| it.token() == STOP) {
                self.renew(server);
            }
            if is_readable {
                let now = now();
                is_readable =
                    self.socket.read(|datagram, path| server.receive(datagram, path, now))?;
            }
            server.on_timeout(now());
            server.on_arrivals(now());
            has_more = self.write(server, &mut buffer)?;
            match self.stop.urgency() {
                END => server.drain(now()),
                END_NOW => server.hurry(now()),
                _ => {}
            }
            if server.is_drained(now()) {
                let cut = server.cut(now());
                self.write(server, &mut buffer)?;
                return Ok(cut);
            }
        }
    }

    /// Serves with one loop and thread for each server, until one is stopped and all are drained. Returns how many
    /// connections had to be cut. Only the first loop may handle signals; the others follow it.
    pub fn run_all(mut loops: Vec<Self>, servers: Vec<Server>) -> io::Result<usize> {
        let stops: Vec<Stop> = loops.iter().map(Self::stopper).collect();
        if let Some((first, others)) = loops.split_first_mut() {
            first.others = others.iter().map(|it| (it.stopper(), it.renew.clone())).collect();
        }
        let run = |(mut event_loop, mut server): (Self, Server)| {
            let cut = event_loop.run(&mut server);
            // With one of them gone, clients would wait in vain.
            stops.iter().for_each(Stop::stop);
            cut
        };
        std::thread::scope(|scope| {
            let mut pairs = loops.into_iter().zip(servers);
            let first = pairs.next();
            let threads: Vec<_> = pairs.map(|it| scope.spawn(|| run(it))).collect();
            let mut cut = first.map_or(Ok(0), run)?;
            for thread in threads {
                cut += thread.join().unwrap_or_else(|it| std::panic::resume_unwind(it))?;
            }
            Ok(cut)
        })
    }

    /// Waits until something happens, or only checks whether something has.
    fn wait(&mut self, server: &Server, events: &mut Events, only_look: bool) -> io::Result<()> {
        let until = |at: Instant| at.saturating_duration_since(now());
        let timeout =
            if only_look { Some(Duration::ZERO) } else { server.next_timeout().map(until) };
        match self.poll.poll(events, timeout) {
            Err(error) if error.kind() != ErrorKind::Interrupted => Err(error),
            _ => Ok(()),
        }
    }

    /// Sends a burst. Returns `true` if there may be more. An urgent request or an acknowledgement that arrived meanwhile
    /// is handled before the next burst.
    fn write(&mut self, server: &mut Server, buffer: &mut [u8]) -> io::Result<bool> {
        let registry = self.poll.registry();
        if !self.socket.flush(registry)? {
            return Ok(false);
        }
        let mut bytes = 0;
        for _ in 0..WRITE_BURST {
            let Some(transmit) = server.transmit(now(), buffer) else { return Ok(false) };
            if !self.socket.send(transmit, &buffer[..transmit.bytes], registry)? {
                return Ok(false);
            }
            bytes += transmit.bytes;
            if bytes >= WRITE_BURST_BYTES {
                break;
            }
        }
        Ok(true)
    }

    /// Handles the signals that arrived.
    fn take_signals(&mut self, server: &mut Server) {
        let came: Vec<i32> = self.signals.iter_mut().flat_map(Signals::pending).collect();
        if came.contains(&SIGHUP)
            && let Some(renewal) = (self.reload)(server)
        {
            for (other, renew) in &self.others {
                // A loop that is gone needs nothing.
                renew.send(renewal.clone()).ok();
                other.wake().ok();
            }
        }
        if came.iter().any(|it| *it != SIGHUP) {
            // A second request means that it must not wait.
            let ask = if self.stop.is_requested() { Stop::hurry } else { Stop::stop };
            ask(&self.stop);
            self.others.iter().for_each(|(other, _)| ask(other));
        }
    }

    /// Gives the server what the first one received.
    fn renew(&self, server: &mut Server) {
        for Renewal { identity, site, options } in self.renewals.try_iter() {
            if let Err(error) = server.reload(&identity, site, options) {
                server.report(&format!("a shard keeps what it had: {error}"));
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where the server reads the clock")]
fn now() -> Instant {
    Instant::now()
}
