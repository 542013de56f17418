//! Packets that no library would make, on a connection that a library has made.

use connection::Quic;
use ring::aead::quic::{self, HeaderProtectionKey};
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf::{self, HKDF_SHA256, HKDF_SHA384, KeyType, Prk};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The secrets of a handshake, in the library's log format.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets(Arc<Mutex<Vec<u8>>>);

impl Write for Secrets {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Secrets {
    /// The secret of a client's packets after the handshake.
    fn of_client(&self) -> Option<Vec<u8>> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = std::str::from_utf8(&log).ok()?;
        let line = text.lines().find(|it| it.starts_with("CLIENT_TRAFFIC_SECRET_0 "))?;
        let digits = line.rsplit(' ').next()?.as_bytes();
        let byte = |it: &[u8]| u8::from_str_radix(std::str::from_utf8(it).ok()?, 16).ok();
        digits.chunks(2).map(byte).collect()
    }
}

/// Encrypts a client's packets (RFC 9001, 5), with AES, which servers choose on machines with AES
/// instructions.
pub(crate) struct Crafter {
    key: LessSafeKey,
    iv: Vec<u8>,
    header: HeaderProtectionKey,
}

/// Bytes of a packet number, and of an authentication tag.
const NUMBER_BYTES: usize = 4;
const TAG_BYTES: usize = 16;

impl Crafter {
    /// For a connection after its handshake.
    pub(crate) fn new(secrets: &Secrets) -> Option<Self> {
        let secret = secrets.of_client()?;
        let (hash, cipher, header) = match secret.len() {
            32 => (HKDF_SHA256, &AES_128_GCM, &quic::AES_128),
            _ => (HKDF_SHA384, &AES_256_GCM, &quic::AES_256),
        };
        let secret = Prk::new_less_safe(hash, &secret);
        let expand = |label, bytes| expand(&secret, label, bytes);
        let key = UnboundKey::new(cipher, &expand("quic key", cipher.key_len())?).ok()?;
        let header =
            HeaderProtectionKey::new(header, &expand("quic hp", cipher.key_len())?).ok()?;
        Some(Self { key: LessSafeKey::new(key), iv: expand("quic iv", 12)?, header })
    }

    /// A datagram with these frames, with the connection's next packet number.
    pub(crate) fn datagram(&self, quic: &mut Quic, frames: &[u8]) -> Option<Vec<u8>> {
        let mut empty = [0; 64];
        let kind = quiche::Type::Short;
        let bytes = quiche::test_utils::encode_pkt(quic, kind, &[], &mut empty).ok()?;
        let header_bytes = bytes - TAG_BYTES;
        let mut packet = empty[..header_bytes].to_vec();
        self.mask(&mut packet, &empty[header_bytes..bytes])?;
        let mut nonce: [u8; 12] = self.iv.as_slice().try_into().ok()?;
        let number = &packet[header_bytes - NUMBER_BYTES..];
        for (place, byte) in nonce[12 - NUMBER_BYTES..].iter_mut().zip(number) {
            *place ^= byte;
        }
        let (nonce, header) = (Nonce::assume_unique_for_key(nonce), Aad::from(packet.clone()));
        let mut payload = frames.to_vec();
        self.key.seal_in_place_append_tag(nonce, header, &mut payload).ok()?;
        self.mask(&mut packet, payload.get(..TAG_BYTES)?)?;
        packet.extend(payload);
        Some(packet)
    }

    /// Applies or removes header protection.
    fn mask(&self, header: &mut [u8], sample: &[u8]) -> Option<()> {
        let mask = self.header.new_mask(sample).ok()?;
        header[0] ^= mask[0] & 0x1f;
        let number = header.len() - NUMBER_BYTES;
        for (byte, mask) in header[number..].iter_mut().zip(&mask[1..]) {
            *byte ^= mask;
        }
        Some(())
    }
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// `HKDF-Expand-Label` (RFC 8446, 7.1).
fn expand(secret: &hkdf::Prk, label: &str, bytes: usize) -> Option<Vec<u8>> {
    let label = [b"tls13 ", label.as_bytes()].concat();
    let lengths = [0, u8::try_from(bytes).ok()?, u8::try_from(label.len()).ok()?];
    let mut key = vec![0; bytes];
    secret.expand(&[&lengths, &label, &[0]], Length(bytes)).ok()?.fill(&mut key).ok()?;
    Some(key)
}
