//! The protection of packets that the transport does not make (RFC 9001, 5), with AES.

use ring::aead::quic::{self, HeaderProtectionKey};
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::error::Unspecified;
use ring::hkdf::{HKDF_SHA256, HKDF_SHA384, KeyType, Prk};

/// The keys of one end's packets, whose numbers have [`Self::NUMBER_BYTES`].
pub struct PacketKeys {
    packet: LessSafeKey,
    iv: [u8; 12],
    header: HeaderProtectionKey,
}

impl PacketKeys {
    /// Bytes of a packet number. With four, the sample for header protection begins at the payload.
    pub const NUMBER_BYTES: usize = 4;
    /// Bytes of the tag after the payload.
    pub const TAG_BYTES: usize = 16;

    /// The keys from a secret of TLS: one of 32 bytes is for AES-128, a longer one for AES-256.
    pub fn of(secret: &[u8]) -> Result<Self, Unspecified> {
        let (hash, cipher, header) = match secret.len() {
            32 => (HKDF_SHA256, &AES_128_GCM, &quic::AES_128),
            _ => (HKDF_SHA384, &AES_256_GCM, &quic::AES_256),
        };
        let secret = Prk::new_less_safe(hash, secret);
        let packet = expand_label(&secret, "quic key", cipher.key_len())?;
        let header_key = expand_label(&secret, "quic hp", cipher.key_len())?;
        let iv = expand_label(&secret, "quic iv", 12)?;
        Ok(Self {
            packet: LessSafeKey::new(UnboundKey::new(cipher, &packet)?),
            iv: iv.try_into().map_err(|_| Unspecified)?,
            header: HeaderProtectionKey::new(header, &header_key)?,
        })
    }

    /// A packet with this header, which ends with the packet number.
    pub fn protected(&self, header: &[u8], payload: &[u8]) -> Result<Vec<u8>, Unspecified> {
        let mut nonce = self.iv;
        let number = &header[header.len() - Self::NUMBER_BYTES..];
        for (place, byte) in nonce[12 - Self::NUMBER_BYTES..].iter_mut().zip(number) {
            *place ^= byte;
        }
        let mut payload = payload.to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        self.packet.seal_in_place_append_tag(nonce, Aad::from(header), &mut payload)?;
        let mut packet = header.to_vec();
        self.mask(&mut packet, &payload)?;
        packet.extend(payload);
        Ok(packet)
    }

    /// Applies or removes header protection.
    pub fn mask(&self, header: &mut [u8], payload: &[u8]) -> Result<(), Unspecified> {
        let mask = self.header.new_mask(payload.get(..16).ok_or(Unspecified)?)?;
        let is_long = header[0] & 0x80 != 0;
        header[0] ^= mask[0] & if is_long { 0x0f } else { 0x1f };
        let number = header.len() - Self::NUMBER_BYTES;
        for (byte, mask) in header[number..].iter_mut().zip(&mask[1..]) {
            *byte ^= mask;
        }
        Ok(())
    }
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// `HKDF-Expand-Label` (RFC 8446, 7.1) without a context.
pub fn expand_label(secret: &Prk, label: &str, bytes: usize) -> Result<Vec<u8>, Unspecified> {
    let label = [b"tls13 ", label.as_bytes()].concat();
    let lengths = [bytes, label.len()].map(u8::try_from);
    let [Ok(length), Ok(label_length)] = lengths else { return Err(Unspecified) };
    let mut expanded = vec![0; bytes];
    let info: [&[u8]; 3] = [&[0, length, label_length], &label, &[0]];
    secret.expand(&info, Length(bytes))?.fill(&mut expanded)?;
    Ok(expanded)
}
