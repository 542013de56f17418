//! A packet that refuses a client (RFC 9000, 5.2.2), made without a handshake. The transport makes one only after the work
//! of a handshake, in a packet that a client cannot read before the server has answered; and if TLS refuses the client's
//! first packet, it makes none.

use ring::aead::quic::{AES_128, HeaderProtectionKey};
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::error::Unspecified;
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};

/// RFC 9001, 5.2.
const INITIAL_SALT: [u8; 20] = [
    0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad,
    0xcc, 0xbb, 0x7f, 0x0a,
];

/// The transport's `CONNECTION_CLOSE`, for no particular frame and without a reason (RFC 9000, 19.19).
fn close_frame(code: u16) -> [u8; 5] {
    // A varint of two bytes holds 14 bits; codes of the transport and of TLS have 9.
    let [high, low] = (0x4000 | code & 0x3fff).to_be_bytes();
    [0x1c, high, low, 0x00, 0x00]
}

/// Bytes of the packet number. With four, the sample for header protection begins at the payload.
const NUMBER_BYTES: usize = 4;

/// Bytes of the tag after the payload.
const TAG_BYTES: usize = 16;

/// An Initial packet of version 1 that answers one with these connection IDs, and gives the reason as a transport error code
/// (RFC 9000, 20.1).
pub(super) fn refusal(
    source: &[u8],
    destination: &[u8],
    code: u16,
) -> Result<Vec<u8>, Unspecified> {
    let keys = Keys::of_server(destination)?;
    let mut payload = close_frame(code).to_vec();
    let length =
        u16::try_from(NUMBER_BYTES + payload.len() + TAG_BYTES).map_err(|_| Unspecified)?;
    // A long header, Initial, a packet number of four bytes (RFC 9000, 17.2.2).
    let mut packet = vec![0xc3, 0, 0, 0, 1];
    for id in [source, destination] {
        packet.push(u8::try_from(id.len()).map_err(|_| Unspecified)?);
        packet.extend(id);
    }
    // No token; the length as a varint of two bytes; packet number 0.
    packet.push(0);
    packet.extend((0x4000 | length).to_be_bytes());
    let number = packet.len();
    packet.extend([0; NUMBER_BYTES]);
    keys.packet.seal_in_place_append_tag(
        Nonce::assume_unique_for_key(keys.iv),
        Aad::from(&packet),
        &mut payload,
    )?;
    let mask = keys.header.new_mask(payload.get(..16).ok_or(Unspecified)?)?;
    packet[0] ^= mask[0] & 0x0f;
    for (byte, mask) in packet[number..].iter_mut().zip(&mask[1..]) {
        *byte ^= mask;
    }
    packet.extend(payload);
    Ok(packet)
}

/// The protection of a server's Initial packets (RFC 9001, 5.2).
struct Keys {
    packet: LessSafeKey,
    /// The nonce of packet 0.
    iv: [u8; 12],
    header: HeaderProtectionKey,
}

impl Keys {
    fn of_server(destination: &[u8]) -> Result<Self, Unspecified> {
        let initial = Salt::new(HKDF_SHA256, &INITIAL_SALT).extract(destination);
        let secret: [u8; 32] = expanded(&initial, b"server in")?;
        let server = Prk::new_less_safe(HKDF_SHA256, &secret);
        let key: [u8; 16] = expanded(&server, b"quic key")?;
        let header: [u8; 16] = expanded(&server, b"quic hp")?;
        Ok(Self {
            packet: LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key)?),
            iv: expanded(&server, b"quic iv")?,
            header: HeaderProtectionKey::new(&AES_128, &header)?,
        })
    }
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// HKDF-Expand-Label (RFC 8446, 7.1) without a context.
fn expanded<const N: usize>(secret: &Prk, label: &[u8]) -> Result<[u8; N], Unspecified> {
    let prefix = b"tls13 ";
    let length = u16::try_from(N).map_err(|_| Unspecified)?.to_be_bytes();
    let label_length = [u8::try_from(prefix.len() + label.len()).map_err(|_| Unspecified)?];
    let info: [&[u8]; 5] = [&length, &label_length, prefix, label, &[0]];
    let mut bytes = [0; N];
    secret.expand(&info, Length(N))?.fill(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        let pairs: Vec<String> = bytes.iter().map(|it| format!("{it:02x}")).collect();
        pairs.concat()
    }

    #[test]
    fn the_keys_are_those_of_rfc_9001_a_1() {
        let destination = [0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08];
        let initial = Salt::new(HKDF_SHA256, &INITIAL_SALT).extract(&destination);
        let secret: [u8; 32] = expanded(&initial, b"server in").expect("a secret");
        let server = Prk::new_less_safe(HKDF_SHA256, &secret);
        let key: [u8; 16] = expanded(&server, b"quic key").expect("a key");
        let iv: [u8; 12] = expanded(&server, b"quic iv").expect("a nonce");
        let header: [u8; 16] = expanded(&server, b"quic hp").expect("a key");
        assert_eq!(hex(&key), "cf3a5331653c364c88f0f379b6067e37");
        assert_eq!(hex(&iv), "0ac1493ca1905853b0bba03e");
        assert_eq!(hex(&header), "c206b8d9b9f0f37644430b490eeaa314");
    }

    #[test]
    fn a_client_is_told_why_it_is_refused() {
        let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION).expect("a version");
        config.set_application_protos(&[b"h3"]).expect("a protocol");
        config.verify_peer(false);
        let (here, there) = (([127, 0, 0, 1], 1).into(), ([127, 0, 0, 1], 2).into());
        let id = quiche::ConnectionId::from_ref(&[7; 8]);
        let mut client = quiche::connect(None, &id, here, there, &mut config).expect("a client");
        let mut first = [0; 1350];
        let (bytes, _) = client.send(&mut first).expect("a first packet");
        let header = quiche::Header::from_slice(&mut first[..bytes], 8).expect("a header");
        // `no_application_protocol` (RFC 9001, 4.8; RFC 7301, 3.2).
        let mut packet = refusal(&header.scid, &header.dcid, 0x178).expect("a packet");
        assert!(packet.len() < 100, "{}", packet.len());
        client.recv(&mut packet, quiche::RecvInfo { from: there, to: here }).expect("read");
        assert_eq!(client.peer_error().map(|it| it.error_code), Some(0x178));
    }
}
