//! How much of what a client sends the server cannot use.
//!
//! The transport keeps what comes out of order, and about 160 bytes for each piece, even for one of a single byte. Flow control
//! counts the bytes of streams, not the pieces. So a client that sends single bytes with gaps would make the server hold
//! twenty times what it sends, for as long as it likes. What a client sends in packets is therefore counted here, beside
//! what of it the server could read.

use super::Responder;
use http3::Code;

/// A client's account, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Unusable {
    received: u64,
    read: u64,
}

/// What may come before a lost packet is repeated. Less is under way until a client has sent much that was read.
const LIMIT_BYTES: u64 = 384 << 10;

/// In the handshake: a client needs less than ten datagrams, and half of them can be lost a few times. Early data comes on
/// top.
const HANDSHAKE_BYTES: u64 = 48 << 10;

/// A client may send a byte for this many bytes that it gets: most clients acknowledge a hundred bytes with two.
const SENT_A_BYTE: u64 = 16;

/// A client may send this many bytes for each that is read: small requests come in packets of their own.
const RECEIVED_A_READ_BYTE: u64 = 2;

impl Responder {
    /// Ends a connection whose client sends much that is of no use, so that the transport does not hold it for long.
    pub(super) fn end_unusable(&mut self) {
        let connection = &mut self.sender.connection;
        let is_too_much = if connection.is_connected() {
            let unread =
                if self.paused_upload { self.shared.options.limits.receive_bytes } else { 0 };
            self.unusable.is_too_much(unread, || connection.quic.stats().sent_bytes)
        } else {
            self.unusable.is_too_much_for_a_handshake()
        };
        if is_too_much && !connection.is_closing() {
            connection.close(Code::ExcessiveLoad, "too many bytes that cannot be read yet");
        }
    }
}

impl Unusable {
    /// A datagram of the client came.
    pub(super) fn received(&mut self, bytes: usize) {
        self.received += bytes as u64;
    }

    /// Bytes of its streams were read.
    pub(super) fn read(&mut self, bytes: usize) {
        self.read += bytes as u64;
    }

    /// Whether the client sends too much for a handshake.
    fn is_too_much_for_a_handshake(&self) -> bool {
        self.received > HANDSHAKE_BYTES
    }

    /// Whether too much of what came is of no use. `unread`: what the server itself may have left unread. `sent_bytes`: what
    /// was sent to the client, which it acknowledges. It is asked for only where it matters.
    fn is_too_much(&self, unread: u64, sent_bytes: impl FnOnce() -> u64) -> bool {
        let useful = LIMIT_BYTES + unread + RECEIVED_A_READ_BYTE * self.read;
        self.received > useful && self.received > useful + sent_bytes() / SENT_A_BYTE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(received: usize, read: usize) -> Unusable {
        let mut account = Unusable::default();
        account.received(received);
        account.read(read);
        account
    }

    #[test]
    fn what_cannot_be_read_has_a_limit_whatever_the_flow_control_allows() {
        assert!(!of(384 << 10, 0).is_too_much(0, || 0));
        assert!(of((384 << 10) + 1, 0).is_too_much(0, || 0));
    }

    #[test]
    fn what_waits_for_a_backend_is_not_the_clients_fault() {
        let window = 1 << 20;
        assert!(!of(window, 4 * 65_536).is_too_much(window as u64, || 0));
    }

    #[test]
    fn uploads_and_acknowledgements_of_downloads_have_none() {
        assert!(!of(1_040_000_000, 1_000_000_000).is_too_much(0, || 0), "headers of packets");
        assert!(!of(16_700_000, 60).is_too_much(0, || 1_000_000_000), "45 bytes for two packets");
        assert!(!of(2_400_000, 1_200_000).is_too_much(0, || 0), "requests of 60 bytes each");
    }

    #[test]
    fn a_handshake_takes_forty_datagrams_of_1200_bytes_and_no_more() {
        assert!(!of(40 * 1200, 0).is_too_much_for_a_handshake());
        assert!(of(41 * 1200, 0).is_too_much_for_a_handshake());
    }
}
