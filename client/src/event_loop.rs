//! The client's only socket and clock.

use crate::probe::{Fetch, Fetched, Patience, Plan};
use crate::{Client, ConnectError, Options, Outcome};
use corpus::Page;
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

/// A page load that could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The connection cannot be tried.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// Nobody listens there.
    #[error("{0}: connection refused; is a server listening there?")]
    Refused(SocketAddr),
    /// The socket fails.
    #[error("socket: {0}")]
    Socket(#[from] io::Error),
}

/// Loads `page` from `server` in real time.
pub fn play(page: Arc<Page>, server: SocketAddr, options: &Options) -> Result<Outcome, PlayError> {
    let mut line = Line::to(server)?;
    let mut client = Client::connect(page, line.local, server, options, now())?;
    line.drive(&mut client)?;
    Ok(client.outcome().cloned().unwrap_or_default())
}

/// Makes the requests of `plan` to `server` in real time.
pub fn probe(plan: Plan, server: SocketAddr, patience: &Patience) -> Result<Fetched, PlayError> {
    let mut line = Line::to(server)?;
    let mut fetch = Fetch::connect(plan, line.local, server, patience, now())?;
    line.drive(&mut fetch)?;
    Ok(fetch.fetched())
}

/// One side of a connection, without socket and clock.
pub(crate) trait Endpoint {
    /// A datagram came.
    fn receive(&mut self, datagram: &mut [u8], info: quiche::RecvInfo, now: Instant);
    /// The next datagram, written to `out`: its size.
    fn transmit(&mut self, out: &mut [u8]) -> Option<usize>;
    /// It is the time that `next_timeout` said, or later, or earlier.
    fn on_timeout(&mut self, now: Instant);
    /// When `on_timeout` is to be called.
    fn next_timeout(&self) -> Option<Instant>;
    /// Whether the connection has ended.
    fn is_over(&mut self) -> bool;
}

/// The socket to one server.
struct Line {
    socket: UdpSocket,
    poll: Poll,
    server: SocketAddr,
    local: SocketAddr,
}

impl Line {
    fn to(server: SocketAddr) -> io::Result<Self> {
        let any: IpAddr = if server.is_ipv4() {
            Ipv4Addr::UNSPECIFIED.into()
        } else {
            Ipv6Addr::UNSPECIFIED.into()
        };
        let mut socket = UdpSocket::bind(SocketAddr::new(any, 0))?;
        socket.connect(server)?;
        let local = socket.local_addr()?;
        let poll = Poll::new()?;
        poll.registry().register(&mut socket, Token(0), Interest::READABLE | Interest::WRITABLE)?;
        Ok(Self { socket, poll, server, local })
    }

    fn drive(&mut self, endpoint: &mut impl Endpoint) -> Result<(), PlayError> {
        let mut events = Events::with_capacity(16);
        let mut buffer = vec![0; 65_536];
        loop {
            self.write(endpoint, &mut buffer)?;
            if endpoint.is_over() {
                return Ok(());
            }
            let timeout = endpoint.next_timeout().map(|at| at.saturating_duration_since(now()));
            match self.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
                _ => {}
            }
            self.read(endpoint, &mut buffer)?;
            endpoint.on_timeout(now());
        }
    }

    fn read(&self, endpoint: &mut impl Endpoint, buffer: &mut [u8]) -> Result<(), PlayError> {
        let info = quiche::RecvInfo { from: self.server, to: self.local };
        loop {
            match self.socket.recv(buffer) {
                Ok(bytes) => endpoint.receive(&mut buffer[..bytes], info, now()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    return Err(PlayError::Refused(info.from));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn write(&self, endpoint: &mut impl Endpoint, buffer: &mut [u8]) -> Result<(), PlayError> {
        while let Some(bytes) = endpoint.transmit(buffer) {
            match self.socket.send(&buffer[..bytes]) {
                Ok(_) => {}
                // A full socket is as good as loss: the transport sends again.
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where the client reads the clock")]
fn now() -> Instant {
    Instant::now()
}
