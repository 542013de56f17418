//! Retry (RFC 9000, 8.1.2): a client under load proves that it receives datagrams at its address before the server
//! stores anything for it.
//!
//! The server sends everything that it must remember in the Retry packet, as a token that only it can read. A token
//! that cannot be opened counts as none (RFC 9000, 8.1.3).

use crate::limits::RETRY_TOKEN_LIFETIME;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::SecureRandom;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

pub(crate) struct Retry {
    key: LessSafeKey,
    /// When the key was drawn; tokens count from then.
    epoch: Instant,
    /// Tokens sealed so far: each has its own nonce.
    sealed: u64,
}

impl Retry {
    /// A new key; `None`: the system has no randomness.
    pub(crate) fn new(random: &dyn SecureRandom, now: Instant) -> Option<Self> {
        let mut key = [0; 32];
        random.fill(&mut key).ok()?;
        let key = LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key).ok()?);
        Some(Self { key, epoch: now, sealed: 0 })
    }

    /// A token for `client`, which invented the ID `original` for the server and must use `id` from now on.
    pub(crate) fn seal(
        &mut self,
        client: SocketAddr,
        original: &[u8],
        id: &[u8],
        now: Instant,
    ) -> Option<Vec<u8>> {
        self.sealed += 1;
        let expiry = self.age_ms(now + RETRY_TOKEN_LIFETIME);
        let mut sealed = [&expiry.to_be_bytes(), original].concat();
        self.key
            .seal_in_place_append_tag(nonce(self.sealed), Aad::from(bound(client, id)), &mut sealed)
            .ok()?;
        Some([&self.sealed.to_be_bytes(), &sealed[..]].concat())
    }

    /// The ID that the client invented at first, if this server made the token for this client and ID, and not too long
    /// ago.
    pub(crate) fn open(
        &self,
        token: &[u8],
        client: SocketAddr,
        id: &[u8],
        now: Instant,
    ) -> Option<Vec<u8>> {
        let (number, sealed) = token.split_first_chunk()?;
        let nonce = nonce(u64::from_be_bytes(*number));
        let mut sealed = sealed.to_vec();
        let opened = self.key.open_in_place(nonce, Aad::from(bound(client, id)), &mut sealed);
        let (expiry, original) = opened.ok()?.split_first_chunk()?;
        (self.age_ms(now) < u64::from_be_bytes(*expiry)).then(|| original.to_vec())
    }

    fn age_ms(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.epoch).as_millis()).unwrap_or(u64::MAX)
    }
}

fn nonce(number: u64) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    nonce[NONCE_LEN - 8..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(nonce)
}

/// The contents of a token: an address, and the ID that the client must use.
fn bound(client: SocketAddr, id: &[u8]) -> Vec<u8> {
    let address = match client.ip() {
        IpAddr::V4(it) => it.to_ipv6_mapped().octets(),
        IpAddr::V6(it) => it.octets(),
    };
    [&address[..], &client.port().to_be_bytes(), id].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::rand::SystemRandom;
    use std::time::Duration;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "only differences matter")]
    fn a_token_opens_only_for_its_client_its_id_and_its_time() {
        let now = Instant::now();
        let after = |ms| now + Duration::from_millis(ms);
        let client = SocketAddr::from(([192, 0, 2, 1], 5000));
        let (original, id) = (&b"12345678"[..], &b"0123456789abcdef"[..]);
        let mut retry = Retry::new(&SystemRandom::new(), now).expect("randomness");
        let token = retry.seal(client, original, id, now).expect("sealed");
        let again = retry.seal(client, original, id, now).expect("sealed");
        assert_ne!(token, again, "each token has a nonce of its own");
        assert_eq!(retry.open(&token, client, id, after(9_999)).as_deref(), Some(original));
        assert_eq!(retry.open(&token, client, id, after(10_000)), None);
        for elsewhere in [([192, 0, 2, 2], 5000), ([192, 0, 2, 1], 5001)] {
            assert_eq!(retry.open(&token, elsewhere.into(), id, now), None);
        }
        assert_eq!(retry.open(&token, client, &id[1..], now), None);
        for place in 0..token.len() {
            let mut forged = token.clone();
            forged[place] ^= 1;
            assert_eq!(retry.open(&forged, client, id, now), None, "byte {place}");
            assert_eq!(retry.open(&token[..place], client, id, now), None, "{place} bytes");
        }
        let other = Retry::new(&SystemRandom::new(), now).expect("randomness");
        assert_eq!(other.open(&token, client, id, now), None, "another server's token");
    }
}
