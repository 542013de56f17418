//! A packet that refuses a client (RFC 9000, 5.2.2), made without a handshake. The transport makes one only after the work
//! of a handshake, in a packet that a client cannot read before the server has answered; and if TLS refuses the client's
//! first packet, it makes none.

use connection::{PacketKeys, expand_label};
use ring::error::Unspecified;
use ring::hkdf::{HKDF_SHA256, Salt};

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

/// An Initial packet of version 1 that answers one with these connection IDs, and gives the reason as a transport error code
/// (RFC 9000, 20.1).
pub(super) fn refusal(
    source: &[u8],
    destination: &[u8],
    code: u16,
) -> Result<Vec<u8>, Unspecified> {
    let payload = close_frame(code);
    let length = PacketKeys::NUMBER_BYTES + payload.len() + PacketKeys::TAG_BYTES;
    let length = u16::try_from(length).map_err(|_| Unspecified)?;
    // A long header, Initial, a packet number of four bytes (RFC 9000, 17.2.2).
    let mut header = vec![0xc3, 0, 0, 0, 1];
    for id in [source, destination] {
        header.push(u8::try_from(id.len()).map_err(|_| Unspecified)?);
        header.extend(id);
    }
    // No token; the length as a varint of two bytes; packet number 0.
    header.push(0);
    header.extend((0x4000 | length).to_be_bytes());
    header.extend([0; PacketKeys::NUMBER_BYTES]);
    PacketKeys::of(&secret(destination)?)?.protected(&header, &payload)
}

/// The secret of a server's Initial packets (RFC 9001, 5.2).
fn secret(destination: &[u8]) -> Result<Vec<u8>, Unspecified> {
    let initial = Salt::new(HKDF_SHA256, &INITIAL_SALT).extract(destination);
    expand_label(&initial, "server in", 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::hkdf::Prk;

    fn hex(bytes: &[u8]) -> String {
        let pairs: Vec<String> = bytes.iter().map(|it| format!("{it:02x}")).collect();
        pairs.concat()
    }

    #[test]
    fn the_keys_are_those_of_rfc_9001_a_1() {
        let destination = [0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08];
        let secret = secret(&destination).expect("a secret");
        let server = Prk::new_less_safe(HKDF_SHA256, &secret);
        let key = expand_label(&server, "quic key", 16).expect("a key");
        let iv = expand_label(&server, "quic iv", 12).expect("a nonce");
        let header = expand_label(&server, "quic hp", 16).expect("a key");
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
