//! The opening handshake of a WebSocket over HTTP/1.1, at both ends (RFC 6455, 1.3 and 4).

use boring::base64::encode_block;
use boring::sha::sha1;
use hyper::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    UPGRADE,
};
use ring::rand::{SecureRandom, SystemRandom};
use server::site::BackendFailure;

/// The protocol's name in requests for it.
pub const WEBSOCKET: &str = "websocket";

/// The text that a server appends to a key, to show that it knows WebSocket (RFC 6455, 1.3).
const KNOWS_WEBSOCKET: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Bytes of a key (RFC 6455, 4.1).
const KEY_BYTES: usize = 16;

/// The handshake with a backend, which must answer this key.
pub struct Handshake {
    key: String,
}

impl Handshake {
    /// A handshake with this key.
    pub fn with(key: [u8; KEY_BYTES]) -> Self {
        Self { key: encode_block(&key) }
    }

    /// A handshake with a random key.
    pub fn new() -> Result<Self, BackendFailure> {
        let mut key = [0; KEY_BYTES];
        let unsayable = |_| BackendFailure::Unsayable("the system has no randomness".to_owned());
        SystemRandom::new().fill(&mut key).map_err(unsayable)?;
        Ok(Self::with(key))
    }

    /// Adds the fields with which a request asks for the switch.
    pub fn ask(&self, fields: &mut HeaderMap) {
        fields.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        fields.insert(UPGRADE, HeaderValue::from_static(WEBSOCKET));
        if let Ok(key) = HeaderValue::from_str(&self.key) {
            fields.insert(SEC_WEBSOCKET_KEY, key);
        }
    }

    /// Checks the fields of the switching response (RFC 6455, 4.1).
    pub fn check(&self, fields: &HeaderMap) -> Result<(), BackendFailure> {
        let answer = fields.get(SEC_WEBSOCKET_ACCEPT).map(HeaderValue::as_bytes);
        if !has_member(fields, &UPGRADE, WEBSOCKET) || !has_member(fields, &CONNECTION, "upgrade") {
            return Err(BackendFailure::Improper("it switches to another protocol".to_owned()));
        }
        if answer != Some(accept(&self.key).as_bytes()) {
            return Err(BackendFailure::Improper("a wrong Sec-WebSocket-Accept".to_owned()));
        }
        Ok(())
    }
}

/// The server's answer to a key.
pub fn accept(key: &str) -> String {
    encode_block(&sha1(format!("{key}{KNOWS_WEBSOCKET}").as_bytes()))
}

/// Whether a field is a list with this member, in any case.
pub fn has_member(fields: &HeaderMap, name: &HeaderName, member: &str) -> bool {
    let lists = fields.get_all(name).iter().filter_map(|it| it.to_str().ok());
    lists.flat_map(|it| it.split(',')).any(|it| it.trim().eq_ignore_ascii_case(member))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_answered_as_rfc_6455_1_3_does() {
        assert_eq!(accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn a_request_asks_with_a_key_of_16_bytes_of_its_own() {
        let key = || {
            let mut fields = HeaderMap::new();
            Handshake::new().expect("randomness").ask(&mut fields);
            assert_eq!([&fields[CONNECTION], &fields[UPGRADE]], ["upgrade", "websocket"]);
            fields[SEC_WEBSOCKET_KEY].to_str().expect("text").to_owned()
        };
        let keys = [key(), key()];
        assert_eq!(boring::base64::decode_block(&keys[0]).expect("base64").len(), 16);
        assert_ne!(keys[0], keys[1]);
    }

    /// RFC 8441, 5. Server: asks the backend with a key of its own, and checks the answer (RFC 6455, 4.1).
    #[test]
    fn only_a_backend_that_knows_the_key_and_switches_to_websocket_is_taken_6455_4_1() {
        let handshake = Handshake { key: "dGhlIHNhbXBsZSBub25jZQ==".to_owned() };
        let answer = |connection: &'static str, upgrade: &'static str, accept: &'static str| {
            let mut fields = HeaderMap::new();
            fields.insert(CONNECTION, HeaderValue::from_static(connection));
            fields.insert(UPGRADE, HeaderValue::from_static(upgrade));
            fields.insert(SEC_WEBSOCKET_ACCEPT, HeaderValue::from_static(accept));
            handshake.check(&fields).is_ok()
        };
        let right = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
        assert!(answer("keep-alive, Upgrade", "WebSocket", right));
        assert!(!answer("close", "websocket", right));
        assert!(!answer("upgrade", "h2c", right));
        assert!(!answer("upgrade", "websocket", "s3pPLMBiTxaQ9kYGzzhZRbK+xOp="));
        assert!(handshake.check(&HeaderMap::new()).is_err());
    }
}
