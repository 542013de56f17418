//! The client's only sockets and clock.

mod examining;

pub use crate::play_error::PlayError;
pub use examining::examine;

use crate::probe::{Fetch, Fetched, Patience, Plan};
use crate::{Client, Options, Outcome, over_tcp};
use connection::{Endpoint, Path};
use corpus::Page;
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

/// Loads `page` from `server` in real time.
pub fn play(page: Arc<Page>, server: SocketAddr, options: &Options) -> Result<Outcome, PlayError> {
    if options.http.is_over_tcp() {
        return over_tcp::play(page, server, options);
    }
    let mut line = Line::to(server)?;
    let mut client = Client::connect(page, line.local, server, options, now())?;
    line.drive(&mut client, |it| it.outcome().is_some())?;
    Ok(client.outcome().cloned().unwrap_or_default())
}

/// Makes the requests of `plan` to `server` in real time.
pub fn probe(plan: Plan, server: SocketAddr, patience: &Patience) -> Result<Fetched, PlayError> {
    let mut line = Line::to(server)?;
    let mut fetch = Fetch::connect(plan, line.local, server, patience, now())?;
    line.drive(&mut fetch, Fetch::is_over)?;
    Ok(fetch.fetched())
}

struct Line {
    socket: UdpSocket,
    poll: Poll,
    server: SocketAddr,
    local: SocketAddr,
}

impl Line {
    fn to(server: SocketAddr) -> io::Result<Self> {
        let mut socket = UdpSocket::bind(any_for(server))?;
        socket.connect(server)?;
        let local = socket.local_addr()?;
        let poll = Poll::new()?;
        poll.registry().register(&mut socket, Token(0), Interest::READABLE | Interest::WRITABLE)?;
        Ok(Self { socket, poll, server, local })
    }

    fn drive<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        is_over: impl Fn(&mut E) -> bool,
    ) -> Result<(), PlayError> {
        let mut events = Events::with_capacity(16);
        let mut buffer = vec![0; 65_536];
        loop {
            self.write(endpoint, &mut buffer)?;
            if is_over(endpoint) {
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
        let path = Path { local: self.local, peer: self.server };
        loop {
            match self.socket.recv(buffer) {
                Ok(bytes) => endpoint.receive(&mut buffer[..bytes], path, now()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    return Err(PlayError::Refused(self.server));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn write(&self, endpoint: &mut impl Endpoint, buffer: &mut [u8]) -> Result<(), PlayError> {
        while let Some(transmit) = endpoint.transmit(now(), buffer) {
            match self.socket.send(&buffer[..transmit.bytes]) {
                Ok(_) => {}
                // A full socket counts as loss: the transport retransmits.
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// An unspecified address of the peer's family, with a free port.
pub fn any_for(peer: SocketAddr) -> SocketAddr {
    let any: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    SocketAddr::new(any[usize::from(peer.is_ipv6())], 0)
}

#[expect(clippy::disallowed_methods, reason = "this is where the client reads the clock")]
fn now() -> Instant {
    Instant::now()
}
