//! The server's only socket and clock.

mod socket;
mod unbatched;

use crate::Server;
use crate::limits::WRITE_BURST;
use connection::Endpoint;
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook_mio::v1_0::Signals;
use socket::Socket;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const SOCKET: Token = Token(0);
const STOP: Token = Token(1);
const SIGNALS: Token = Token(2);

/// What is done on SIGHUP.
pub type Reload = Box<dyn FnMut(&mut Server) + Send>;

/// A bound socket and what it waits for.
pub struct EventLoop {
    poll: Poll,
    socket: Socket,
    stop: Stop,
    signals: Option<Signals>,
    reload: Reload,
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
        let socket = Socket::bind(listen, poll.registry(), SOCKET)?;
        let stop = Stop::new(poll.registry(), STOP)?;
        Ok(Self { poll, socket, stop, signals: None, reload: Box::new(|_| {}) })
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

    /// Serves until stopped and drained. Says how many connections had to be cut because their responses
    /// took longer than [`crate::Limits::drain`].
    pub fn run(&mut self, server: &mut Server) -> io::Result<usize> {
        let mut events = Events::with_capacity(64);
        let mut buffer = vec![0; 65_536];
        let stop = self.stopper();
        server.wake_with(Box::new(move || {
            // A loop that is gone needs no waking.
            stop.wake().ok();
        }));
        let (mut is_readable, mut has_more) = (true, false);
        loop {
            self.wait(server, &mut events, is_readable || has_more)?;
            is_readable |= events.iter().any(|it| it.token() == SOCKET && it.is_readable());
            if events.iter().any(|it| it.token() == SIGNALS) {
                self.take_signals(server);
            }
            if is_readable {
                let now = now();
                is_readable =
                    self.socket.read(|datagram, path| server.receive(datagram, path, now))?;
            }
            server.on_timeout(now());
            server.on_arrivals(now());
            has_more = self.write(server, &mut buffer)?;
            if self.stop.is_requested() {
                server.drain(now());
            }
            if server.is_drained(now()) {
                let cut = server.cut();
                self.write(server, &mut buffer)?;
                return Ok(cut);
            }
        }
    }

    /// Waits until something happens, or only looks whether something has.
    fn wait(&mut self, server: &Server, events: &mut Events, only_look: bool) -> io::Result<()> {
        let until = |at: Instant| at.saturating_duration_since(now());
        let timeout =
            if only_look { Some(Duration::ZERO) } else { server.next_timeout().map(until) };
        match self.poll.poll(events, timeout) {
            Err(error) if error.kind() != ErrorKind::Interrupted => Err(error),
            _ => Ok(()),
        }
    }

    /// Sends a burst; true: there may be more. An urgent request or an acknowledgement that came meanwhile has its say
    /// before the next burst.
    fn write(&mut self, server: &mut Server, buffer: &mut [u8]) -> io::Result<bool> {
        let registry = self.poll.registry();
        if !self.socket.flush(registry)? {
            return Ok(false);
        }
        for _ in 0..WRITE_BURST {
            let Some(transmit) = server.transmit(now(), buffer) else { return Ok(false) };
            if !self.socket.send(transmit, &buffer[..transmit.bytes], registry)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Acts on the signals that came.
    fn take_signals(&mut self, server: &mut Server) {
        let came: Vec<i32> = self.signals.iter_mut().flat_map(Signals::pending).collect();
        if came.contains(&SIGHUP) {
            (self.reload)(server);
        }
        if came.iter().any(|it| *it != SIGHUP) {
            self.stop.stop();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where the server reads the clock")]
fn now() -> Instant {
    Instant::now()
}
