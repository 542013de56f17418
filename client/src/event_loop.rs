//! The client's only socket and clock.

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
    let any: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let mut socket = UdpSocket::bind(SocketAddr::new(any, 0))?;
    socket.connect(server)?;
    let local = socket.local_addr()?;
    let mut poll = Poll::new()?;
    poll.registry().register(&mut socket, Token(0), Interest::READABLE | Interest::WRITABLE)?;
    let mut client = Client::connect(page, local, server, options, now())?;
    let mut events = Events::with_capacity(16);
    let mut buffer = vec![0; 65_536];
    loop {
        write(&mut client, &socket, &mut buffer)?;
        if let Some(outcome) = client.outcome() {
            return Ok(outcome.clone());
        }
        let timeout = client.next_timeout().map(|at| at.saturating_duration_since(now()));
        match poll.poll(&mut events, timeout) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        read(&mut client, &socket, &mut buffer, quiche::RecvInfo { from: server, to: local })?;
        client.on_timeout(now());
    }
}

fn read(
    client: &mut Client,
    socket: &UdpSocket,
    buffer: &mut [u8],
    info: quiche::RecvInfo,
) -> Result<(), PlayError> {
    loop {
        match socket.recv(buffer) {
            Ok(bytes) => client.receive(&mut buffer[..bytes], info, now()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                return Err(PlayError::Refused(info.from));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn write(client: &mut Client, socket: &UdpSocket, buffer: &mut [u8]) -> Result<(), PlayError> {
    while let Some(bytes) = client.transmit(buffer) {
        match socket.send(&buffer[..bytes]) {
            Ok(_) => {}
            // A full socket is as good as loss: the transport sends again.
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "this is where the client reads the clock")]
fn now() -> Instant {
    Instant::now()
}
