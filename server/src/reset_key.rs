//! The key of stateless resets (RFC 9000, 10.3): after a restart, a server can end the connections of its earlier
//! run, whose clients would otherwise wait for their timeouts.

use crate::TicketKey;
use ring::hmac;
use ring::rand::SystemRandom;

/// The key from which the reset tokens of connection IDs are derived.
#[derive(Debug, Clone)]
pub struct ResetKey(hmac::Key);

impl ResetKey {
    /// A key for this run only; `None`: the system has no randomness.
    pub fn random() -> Option<Self> {
        hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok().map(Self)
    }

    /// The key of all runs with this ticket key.
    pub fn of(key: &TicketKey) -> Self {
        let derived = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key.bytes()), b"reset");
        Self(hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref()))
    }

    /// The token of a connection ID (RFC 9000, 10.3.2).
    pub(crate) fn token(&self, id: &[u8]) -> [u8; 16] {
        let mut token = [0; 16];
        token.copy_from_slice(&hmac::sign(&self.0, id).as_ref()[..16]);
        token
    }
}
