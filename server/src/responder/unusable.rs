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
    /// What came, whether it was the client's or not: the transport is asked for the rest only where this is much.
    came: u64,
    /// What of it was of use, in bytes of packets.
    useful: u64,
    /// The client was asked to connect anew.
    asked_away: bool,
}

/// What the transport says. Datagrams that are not the client's do not count: anybody can send those.
#[derive(Debug, Clone, Copy)]
struct Transported {
    received: u64,
    sent: u64,
}

/// What may come before a lost packet is repeated. Less is under way until a client has sent much that was read.
const LIMIT_BYTES: u64 = 384 << 10;

/// From here on the client is asked to connect anew. A client can reach this without fault, by a body of which each packet
/// carries a byte or two.
const MUCH_BYTES: u64 = LIMIT_BYTES / 2;

/// In the handshake: a client needs less than ten datagrams, and half of them can be lost a few times. Early data comes on
/// top.
const HANDSHAKE_BYTES: u64 = 48 << 10;

/// A client may send a byte for this many bytes that it gets: most clients acknowledge a hundred bytes with two.
const SENT_A_BYTE: u64 = 16;

/// A client may send this many bytes for each that is read.
const RECEIVED_A_READ_BYTE: u64 = 2;

/// A small request comes in a packet of its own, and its response is acknowledged by another. Without their payload these
/// have about 80 bytes.
const REQUEST_BYTES: u64 = 80;

/// A client proves a new address by datagrams of at least 1,200 bytes (RFC 9000, 8.2.2), each of which may be sent again.
const MOVE_BYTES: u64 = 4 * 1200;

/// Why the connection of such a client ends.
const USELESS: &str = "too many bytes of no use";

/// What to do about a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Nothing,
    GoAway,
    Close,
}

impl Responder {
    /// Ends a connection whose client sends much that is of no use, so that the transport does not hold it for long.
    pub(super) fn end_unusable(&mut self) {
        let connection = &mut self.sender.connection;
        if connection.is_closing() {
            return;
        }
        let transported = || {
            let stats = connection.quic.stats();
            Transported { received: stats.recv_bytes, sent: stats.sent_bytes }
        };
        let unread = if self.paused_upload { self.shared.options.limits.receive_bytes } else { 0 };
        let measure = if connection.is_connected() {
            self.unusable.measure(unread, transported)
        } else {
            self.unusable.measure_of_handshake(transported)
        };
        match measure {
            Measure::Close => {
                connection.close(Code::ExcessiveLoad, USELESS);
            }
            Measure::GoAway if self.refused_from.is_none() => {
                self.unusable.asked_away = true;
                self.go_away();
            }
            Measure::Nothing | Measure::GoAway => {}
        }
    }
}

impl Unusable {
    /// A datagram came.
    pub(super) fn came(&mut self, bytes: usize) {
        self.came += bytes as u64;
    }

    /// Bytes of the client's streams were read.
    pub(super) fn read(&mut self, bytes: usize) {
        self.useful += RECEIVED_A_READ_BYTE * bytes as u64;
    }

    /// The head of a request is complete.
    pub(super) fn asked(&mut self) {
        self.useful += REQUEST_BYTES;
    }

    /// The client has proven a new address.
    pub(super) fn moved(&mut self) {
        self.useful += MOVE_BYTES;
    }

    /// Why a connection ends that takes no more requests.
    pub(super) fn farewell(&self) -> (Code, &'static str) {
        if self.asked_away {
            (Code::ExcessiveLoad, USELESS)
        } else {
            (Code::NoError, "the server is going away")
        }
    }

    fn measure_of_handshake(&self, transported: impl FnOnce() -> Transported) -> Measure {
        let is_much = self.came > HANDSHAKE_BYTES && transported().received > HANDSHAKE_BYTES;
        if is_much { Measure::Close } else { Measure::Nothing }
    }

    /// Whether too much of what came is of no use. `unread`: what the server itself may have left unread. What was sent to
    /// the client it acknowledges. The transport is asked only where it matters.
    fn measure(&self, unread: u64, transported: impl FnOnce() -> Transported) -> Measure {
        let useful = unread + self.useful;
        if self.came <= useful + MUCH_BYTES {
            return Measure::Nothing;
        }
        let Transported { received, sent } = transported();
        let unusable = received.saturating_sub(useful + sent / SENT_A_BYTE);
        if unusable > LIMIT_BYTES {
            Measure::Close
        } else if unusable > MUCH_BYTES {
            Measure::GoAway
        } else {
            Measure::Nothing
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is done about a client that sent so much, of which so much was read.
    fn measure(received: usize, read: usize, unread: u64, sent: u64) -> Measure {
        let mut account = Unusable::default();
        account.came(received);
        account.read(read);
        account.measure(unread, || Transported { received: received as u64, sent })
    }

    #[test]
    fn what_cannot_be_read_has_a_limit_whatever_the_flow_control_allows() {
        assert_eq!(measure(192 << 10, 0, 0, 0), Measure::Nothing);
        assert_eq!(measure((192 << 10) + 1, 0, 0, 0), Measure::GoAway);
        assert_eq!(measure(384 << 10, 0, 0, 0), Measure::GoAway);
        assert_eq!(measure((384 << 10) + 1, 0, 0, 0), Measure::Close);
    }

    #[test]
    fn what_waits_for_a_backend_is_not_the_clients_fault() {
        let window = 1 << 20;
        assert_eq!(measure(window, 4 * 65_536, window as u64, 0), Measure::Nothing);
    }

    #[test]
    fn uploads_and_acknowledgements_of_downloads_have_none() {
        let headers_of_packets = measure(1_040_000_000, 1_000_000_000, 0, 0);
        let two_packets_each = measure(16_700_000, 60, 0, 1_000_000_000);
        let requests_of_60_bytes = measure(2_400_000, 1_200_000, 0, 0);
        for measure in [headers_of_packets, two_packets_each, requests_of_60_bytes] {
            assert_eq!(measure, Measure::Nothing);
        }
    }

    #[test]
    fn very_small_requests_and_changes_of_address_are_of_use() {
        let mut account = Unusable::default();
        for _ in 0..100_000 {
            // A packet of 75 bytes with a head of 30, and one of 45 for an acknowledgement.
            account.came(120);
            account.read(30);
            account.asked();
        }
        for _ in 0..1000 {
            account.came(3 * 1200);
            account.moved();
        }
        let transported = || Transported { received: 100_000 * 120 + 1000 * 3600, sent: 0 };
        assert_eq!(account.measure(0, transported), Measure::Nothing);
    }

    #[test]
    fn a_client_whose_packets_carry_a_byte_each_is_asked_to_connect_anew() {
        // A packet of 45 bytes, with a DATA frame of one byte.
        let after = |packets: usize| measure(45 * packets, 3 * packets, 0, 30 * packets as u64);
        assert_eq!((after(5_000), after(6_000)), (Measure::Nothing, Measure::GoAway));
    }

    #[test]
    fn what_others_send_does_not_count() {
        let mut account = Unusable::default();
        account.came(10 << 20);
        let transported = || Transported { received: 10_000, sent: 0 };
        assert_eq!(account.measure(0, transported), Measure::Nothing);
        assert_eq!(account.measure_of_handshake(transported), Measure::Nothing);
    }

    #[test]
    fn a_handshake_takes_forty_datagrams_of_1200_bytes_and_no_more() {
        let after = |datagrams: usize| {
            let mut account = Unusable::default();
            account.came(datagrams * 1200);
            let received = datagrams as u64 * 1200;
            account.measure_of_handshake(|| Transported { received, sent: 0 })
        };
        assert_eq!((after(40), after(41)), (Measure::Nothing, Measure::Close));
    }
}
