//! Packets that no library would make, on a connection that a library has made.

use connection::{PacketKeys, Quic};
use parking_lot::Mutex;
use std::io::{self, Write};
use std::sync::Arc;

/// The secrets of a handshake, in the library's log format.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets(Arc<Mutex<Vec<u8>>>);

impl Write for Secrets {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Secrets {
    /// The secret of a client's packets after the handshake.
    fn of_client(&self) -> Option<Vec<u8>> {
        let log = self.0.lock();
        let text = std::str::from_utf8(&log).ok()?;
        let line = text.lines().find(|it| it.starts_with("CLIENT_TRAFFIC_SECRET_0 "))?;
        let digits = line.rsplit(' ').next()?.as_bytes();
        let byte = |it: &[u8]| u8::from_str_radix(std::str::from_utf8(it).ok()?, 16).ok();
        digits.chunks(2).map(byte).collect()
    }
}

/// Encrypts a client's packets with AES, which servers choose on machines with AES instructions.
pub(crate) struct Crafter(PacketKeys);

impl Crafter {
    /// For a connection after its handshake.
    pub(crate) fn new(secrets: &Secrets) -> Option<Self> {
        PacketKeys::of(&secrets.of_client()?).ok().map(Self)
    }

    /// A datagram with these frames, with the connection's next packet number.
    pub(crate) fn datagram(&self, quic: &mut Quic, frames: &[u8]) -> Option<Vec<u8>> {
        let mut empty = [0; 64];
        let kind = quiche::Type::Short;
        let bytes = quiche::test_utils::encode_pkt(quic, kind, &[], &mut empty).ok()?;
        let (header, payload) = empty[..bytes].split_at_mut(bytes - PacketKeys::TAG_BYTES);
        self.0.mask(header, payload).ok()?;
        self.0.protected(header, frames).ok()
    }
}
