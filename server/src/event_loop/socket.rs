//! The server's UDP socket. It reads and writes several datagrams in one system call where the system can (UDP GRO and
//! GSO), and answers from the address to which a client sent.

use super::unbatched::Unbatched;
use crate::limits::{READ_BURST, READ_CALL, SOCKET_RECEIVE_BYTES};
use connection::{Path, Transmit};
use mio::net::UdpSocket;
use mio::{Interest, Registry, Token};
use quinn_udp::{RecvMeta, UdpSockRef, UdpSocketState};
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::SocketAddr;

/// Bytes that one read can return: datagrams of one client that the system has joined, or the largest single one.
const READ_BYTES: usize = 65_536;

pub(super) struct Socket {
    io: UdpSocket,
    state: UdpSocketState,
    bound: SocketAddr,
    token: Token,
    /// Datagrams that one call can send; 1: the system cannot cut a buffer.
    segments: usize,
    unbatched: Unbatched,
    arrivals: Vec<u8>,
    /// Datagrams that did not fit into the system's buffer.
    unsent: Option<(Transmit, Vec<u8>)>,
}

/// Sockets at one address. The system gives each the datagrams of some clients.
pub(super) fn bind(listen: SocketAddr, count: u8) -> io::Result<Vec<UdpSocket>> {
    let alone = UdpSocket::bind(listen)?;
    if count == 1 {
        return Ok(vec![alone]);
    }
    // Sockets that share an address also share it with sockets of an earlier server. Binding alone has shown that there is
    // none.
    let listen = alone.local_addr()?;
    drop(alone);
    (0..count).map(|_| bind_shared(listen)).collect()
}

fn bind_shared(listen: SocketAddr) -> io::Result<UdpSocket> {
    let io = socket2::Socket::new(
        socket2::Domain::for_address(listen),
        socket2::Type::DGRAM,
        Some(socket2::Protocol::UDP),
    )?;
    io.set_reuse_port(true)?;
    io.set_nonblocking(true)?;
    io.bind(&listen.into())?;
    Ok(UdpSocket::from_std(io.into()))
}

impl Socket {
    /// Reports to `registry` under `token`.
    pub(super) fn new(mut io: UdpSocket, registry: &Registry, token: Token) -> io::Result<Self> {
        let state = UdpSocketState::new(UdpSockRef::from(&io))?;
        // The system may grant less. The server runs with what it gets.
        state.set_recv_buffer_size(UdpSockRef::from(&io), SOCKET_RECEIVE_BYTES).ok();
        registry.register(&mut io, token, Interest::READABLE)?;
        Ok(Self {
            bound: io.local_addr()?,
            segments: state.max_gso_segments(),
            io,
            state,
            token,
            unbatched: Unbatched::default(),
            arrivals: vec![0; READ_CALL * READ_BYTES],
            unsent: None,
        })
    }

    pub(super) fn local_addr(&self) -> SocketAddr {
        self.bound
    }

    /// Reads a burst of datagrams. Returns `true` if there may be more.
    pub(super) fn read(&mut self, mut take: impl FnMut(&mut [u8], Path)) -> io::Result<bool> {
        let mut metas = [RecvMeta::default(); READ_CALL];
        let mut datagrams = 0;
        while datagrams < READ_BURST {
            let mut chunks = self.arrivals.chunks_mut(READ_BYTES);
            let mut buffers: [_; READ_CALL] =
                std::array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap_or_default()));
            let read = match self.state.recv(UdpSockRef::from(&self.io), &mut buffers, &mut metas) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                // An ICMP answer of a peer's host does not concern this server.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => continue,
                Err(error) => return Err(error),
            };
            for (meta, buffer) in metas.iter().zip(&mut buffers).take(read) {
                let ip = meta.dst_ip.unwrap_or(self.bound.ip());
                let local = SocketAddr::new(ip, self.bound.port());
                for datagram in buffer[..meta.len].chunks_mut(meta.stride.max(1)) {
                    take(datagram, Path { local, peer: meta.addr });
                    datagrams += 1;
                }
            }
            if read < READ_CALL {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the system took everything so far. If not, the socket reports when it has room again.
    pub(super) fn flush(&mut self, registry: &Registry) -> io::Result<bool> {
        let Some((transmit, bytes)) = self.unsent.take() else { return Ok(true) };
        if !self.send(transmit, &bytes, registry)? {
            return Ok(false);
        }
        registry.reregister(&mut self.io, self.token, Interest::READABLE)?;
        Ok(true)
    }

    /// Sends datagrams, and keeps those for which there is no room. Returns `false` if there are any.
    pub(super) fn send(
        &mut self,
        transmit: Transmit,
        bytes: &[u8],
        registry: &Registry,
    ) -> io::Result<bool> {
        let sent = self.send_now(transmit, bytes);
        if sent == bytes.len() {
            return Ok(true);
        }
        let rest = bytes[sent..].to_vec();
        self.unsent = Some((Transmit { bytes: rest.len(), ..transmit }, rest));
        registry.reregister(&mut self.io, self.token, Interest::READABLE | Interest::WRITABLE)?;
        Ok(false)
    }

    /// Sends as much as there is room for, and returns how much that was. What cannot be sent at all counts as sent,
    /// because it is as good as lost.
    fn send_now(&mut self, transmit: Transmit, bytes: &[u8]) -> usize {
        let segment = transmit.segment_bytes.max(1);
        let ip = transmit.path.peer.ip();
        let mut sent = 0;
        while sent < bytes.len() {
            let is_batched = self.segments > 1 && !self.unbatched.contains(ip);
            let segments = if is_batched { self.segments } else { 1 };
            let end = bytes.len().min(sent + segments * segment);
            match self.send_call(transmit.path, &bytes[sent..end], segment) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return sent,
                Err(_) if end - sent > segment => self.unbatched.insert(ip),
                _ => sent = end,
            }
        }
        sent
    }

    fn send_call(&self, path: Path, contents: &[u8], segment: usize) -> io::Result<()> {
        // If there is only one address, the system chooses it with less work.
        let src_ip = self.bound.ip().is_unspecified().then_some(path.local.ip());
        let transmit = quinn_udp::Transmit {
            destination: path.peer,
            ecn: None,
            contents,
            segment_size: Some(segment),
            src_ip,
        };
        self.state.try_send(UdpSockRef::from(&self.io), &transmit)
    }
}
