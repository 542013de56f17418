//! Endpoints: they send and receive datagrams, without socket or clock.

use std::net::SocketAddr;
use std::time::Instant;

/// One end of one or more connections: a client, a server, a probe.
///
/// After [`Endpoint::receive`] and [`Endpoint::on_timeout`], call [`Endpoint::transmit`] until it returns
/// `None`, then wait until [`Endpoint::next_timeout`] or the next datagram.
pub trait Endpoint {
    /// The address to which its datagrams are sent.
    fn local_addr(&self) -> SocketAddr;
    /// A datagram came on `path`.
    fn receive(&mut self, datagram: &mut [u8], path: Path, now: Instant);
    /// Writes the next datagrams to `out`, which holds at least 64 KiB.
    fn transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit>;
    /// Acts on everything that is due at `now`. May be called at any time.
    fn on_timeout(&mut self, now: Instant);
    /// When [`Endpoint::on_timeout`] must be called.
    fn next_timeout(&self) -> Option<Instant>;
}

/// The two addresses of a datagram. A host can have several addresses, and answers from the one that received
/// the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    /// Our end's.
    pub local: SocketAddr,
    /// The other end's.
    pub peer: SocketAddr,
}

impl From<quiche::SendInfo> for Path {
    fn from(info: quiche::SendInfo) -> Self {
        Self { local: info.from, peer: info.to }
    }
}

impl From<Path> for quiche::RecvInfo {
    fn from(path: Path) -> Self {
        Self { from: path.peer, to: path.local }
    }
}

/// Datagrams on one path, one after another in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// Its source and destination.
    pub path: Path,
    /// Bytes of all of them.
    pub bytes: usize,
    /// The size of each datagram but the last, which may be shorter.
    pub segment_bytes: usize,
}

impl Transmit {
    /// One datagram.
    pub fn single(path: Path, bytes: usize) -> Self {
        Self { path, bytes, segment_bytes: bytes }
    }

    /// The single datagrams in the buffer that [`Endpoint::transmit`] wrote.
    pub fn datagrams<'a>(&self, buffer: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        buffer[..self.bytes].chunks(self.segment_bytes.max(1))
    }
}

impl<E: Endpoint + ?Sized> Endpoint for &mut E {
    fn local_addr(&self) -> SocketAddr {
        (**self).local_addr()
    }

    fn receive(&mut self, datagram: &mut [u8], path: Path, now: Instant) {
        (**self).receive(datagram, path, now);
    }

    fn transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        (**self).transmit(now, out)
    }

    fn on_timeout(&mut self, now: Instant) {
        (**self).on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        (**self).next_timeout()
    }
}
