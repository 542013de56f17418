//! The header in which a proxy states the client of a connection: the PROXY protocol, version 2.

use crate::limits::PROXY_HEADER_BYTES;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use tokio::io::{AsyncRead, AsyncReadExt};

const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// The signature, the command, the address family, and the length of the rest.
const HEAD_BYTES: usize = 16;

/// Reads the header from `proxy` and returns the client. `None`: the header is invalid.
pub(super) async fn client(
    stream: &mut (impl AsyncRead + Unpin),
    proxy: SocketAddr,
) -> Option<SocketAddr> {
    let mut head = [0; HEAD_BYTES];
    stream.read_exact(&mut head).await.ok()?;
    let [.., command, family, high, low] = head;
    let bytes = usize::from(u16::from_be_bytes([high, low]));
    if !head.starts_with(SIGNATURE) || bytes > PROXY_HEADER_BYTES {
        return None;
    }
    let mut rest = vec![0; bytes];
    stream.read_exact(&mut rest).await.ok()?;
    match (command, family >> 4) {
        (0x21, 1) => {
            let (ip, ports) = (rest.first_chunk::<4>()?, rest.get(8..10)?);
            Some((Ipv4Addr::from(*ip), port(ports)).into())
        }
        (0x21, 2) => {
            let (ip, ports) = (rest.first_chunk::<16>()?, rest.get(32..34)?);
            Some((Ipv6Addr::from(*ip), port(ports)).into())
        }
        // The proxy itself is the client, as in health checks, or the client has no IP address.
        (0x20 | 0x21, _) => Some(proxy),
        _ => None,
    }
}

fn port(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |port, byte| port << 8 | u16::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let [.., high, low] = rest.len().to_be_bytes();
        [SIGNATURE, &[command, family, high, low], rest].concat()
    }

    #[tokio::test]
    async fn a_header_says_the_client_and_ends_before_its_bytes() {
        let v4 = [203, 0, 113, 9, 10, 0, 0, 1, 0x12, 0x34, 1, 187, 3, 0, 1, 7];
        let mut v6 = [0; 36];
        v6[..2].copy_from_slice(&[0x20, 0x01]);
        v6[33] = 80;
        let proxy = SocketAddr::from(([10, 0, 0, 1], 5));
        for (bytes, expected) in [
            (header(0x21, 0x11, &v4), Some("203.0.113.9:4660")),
            (header(0x21, 0x21, &v6), Some("[2001::]:80")),
            (header(0x20, 0, &[]), Some("10.0.0.1:5")),
            (header(0x21, 0, &[1, 2]), Some("10.0.0.1:5")),
            (header(0x21, 0x11, &v4[..6]), None),
            (header(0x11, 0x11, &v4), None),
            (header(0x22, 0x11, &v4), None),
            (header(0x21, 0x11, &[0; PROXY_HEADER_BYTES + 1]), None),
            (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(), None),
            (SIGNATURE.to_vec(), None),
        ] {
            let all = [bytes.as_slice(), b"rest"].concat();
            let mut stream = all.as_slice();
            let got = client(&mut stream, proxy).await.map(|it| it.to_string());
            assert_eq!(got.as_deref(), expected, "{bytes:?}");
            assert!(expected.is_none() || stream == b"rest");
        }
    }
}
