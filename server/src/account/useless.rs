//! How much of what a client sends is useless to the server.
//!
//! Packets cost work, whatever they carry. So this counts what a client sends in packets, and how much of it the server could
//! read. What the transport meanwhile holds of it is charged separately ([`super::Charge::Pieces`]).

/// A client's account, in bytes of packets. What it sends is subtracted from what it has saved, and is a debt beyond that.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Useless {
    debt: u64,
    /// The credit beyond the debt. It is limited: otherwise a client could save for hours and then send pieces.
    saved: u64,
    /// Bytes that arrived since the transport was last asked, whether from the client or not.
    came: u64,
    asked: Transported,
    /// The handshake is complete. Its padded datagrams do not count.
    begun: bool,
}

/// The transport's count. Datagrams that are not the client's do not count, because anyone can send those.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Transported {
    pub(crate) received: u64,
    pub(crate) sent: u64,
}

/// Bytes that may arrive before a lost packet is repeated. Less is in flight until a client has sent much that was read.
pub(super) const LIMIT_BYTES: u64 = 384 << 10;

/// From here on the client is asked to reconnect. A client can reach this through no fault of its own, by a body whose packets
/// carry a byte or two each.
const MUCH_BYTES: u64 = LIMIT_BYTES / 2;

/// The credit that a client can save by an upload: as much as flow control lets it send after a lost packet.
const SAVED_BYTES: u64 = 1 << 20;

/// The credit that it can save by anything else.
const LITTLE_BYTES: u64 = LIMIT_BYTES / 2;

/// During the handshake: a client needs fewer than ten datagrams, and half of them can be lost a few times. Early data comes on
/// top.
pub(super) const HANDSHAKE_BYTES: u64 = 48 << 10;

/// A client may send one byte for this many bytes that it receives: most clients acknowledge a hundred bytes with two.
const SENT_A_BYTE: u64 = 16;

/// It may also send a packet for each packet that carried part of a response, because small events are acknowledged one by one,
/// and for each WebSocket message.
const ACKNOWLEDGEMENT_BYTES: u64 = 48;

/// A client may send this many bytes for each that is read.
const RECEIVED_A_READ_BYTE: u64 = 2;

/// A small request comes in a packet of its own, and another one acknowledges its response. Without their payload these have
/// about 80 bytes.
const REQUEST_BYTES: u64 = 80;

/// A client proves a new address with datagrams of at least 1,200 bytes (RFC 9000, 8.2.2), each of which may be sent again.
const MOVE_BYTES: u64 = 4 * 1200;

/// The verdict about a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    Nothing,
    GoAway,
    Close,
}

impl Useless {
    /// A datagram arrived.
    pub(crate) fn came(&mut self, bytes: usize) {
        let bytes = bytes as u64;
        self.came += bytes;
        let paid = self.saved.min(bytes);
        self.saved -= paid;
        self.debt += bytes - paid;
    }

    /// Bytes of the client's streams were read.
    pub(crate) fn read(&mut self, bytes: usize) {
        self.pay(RECEIVED_A_READ_BYTE * bytes as u64, SAVED_BYTES);
    }

    /// The head of a request is complete.
    pub(crate) fn asked(&mut self) {
        self.pay(REQUEST_BYTES, LITTLE_BYTES);
    }

    /// A WebSocket message arrived, in a datagram of its own.
    pub(crate) fn said(&mut self) {
        self.pay(ACKNOWLEDGEMENT_BYTES, LITTLE_BYTES);
    }

    /// The client has proven an address where it has never been before.
    pub(crate) fn moved(&mut self) {
        self.pay(MOVE_BYTES, LITTLE_BYTES);
    }

    /// Datagrams with part of a response were sent to the client.
    pub(crate) fn carried(&mut self, datagrams: u64) {
        self.pay(ACKNOWLEDGEMENT_BYTES * datagrams, LITTLE_BYTES);
    }

    /// Pays the debt, and saves the remainder up to `most`.
    fn pay(&mut self, bytes: u64, most: u64) {
        let paid = self.debt.min(bytes);
        self.debt -= paid;
        self.saved = self.saved.max((self.saved + bytes - paid).min(most));
    }

    /// The same, before the handshake is complete.
    pub(crate) fn measure_of_handshake(
        &self,
        transported: impl FnOnce() -> Transported,
    ) -> Measure {
        let is_much = self.came > HANDSHAKE_BYTES && transported().received > HANDSHAKE_BYTES;
        if is_much { Measure::Close } else { Measure::Nothing }
    }

    /// Whether too much of what arrived is useless. `unread`: what the server itself may have left unread. The transport is asked
    /// only where it matters.
    pub(crate) fn measure(
        &mut self,
        unread: u64,
        transported: impl FnOnce() -> Transported,
    ) -> Measure {
        if !std::mem::replace(&mut self.begun, true) {
            self.debt = 0;
        }
        if self.debt <= unread + MUCH_BYTES {
            return Measure::Nothing;
        }
        let now = transported();
        let received = now.received.saturating_sub(self.asked.received);
        let of_others = self.came.saturating_sub(received);
        let acknowledgements = now.sent.saturating_sub(self.asked.sent) / SENT_A_BYTE;
        (self.came, self.asked) = (0, now);
        self.pay(of_others + acknowledgements, LITTLE_BYTES);
        match self.debt.saturating_sub(unread) {
            debt if debt > LIMIT_BYTES => Measure::Close,
            debt if debt > MUCH_BYTES => Measure::GoAway,
            _ => Measure::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdict on a client, from the bytes that it sent, how many of them were read, and the bytes that it received.
    fn measure(received: usize, read: usize, unread: u64, sent: u64) -> Measure {
        let mut account = begun();
        account.came(received);
        account.read(read);
        account.measure(unread, || Transported { received: received as u64, sent })
    }

    /// An account after the handshake.
    fn begun() -> Useless {
        Useless { begun: true, ..Useless::default() }
    }

    /// The strictest verdict on a client that does this again and again.
    fn over_time(times: usize, mut act: impl FnMut(&mut Useless, &mut Transported)) -> Measure {
        let (mut account, mut transported) = (begun(), Transported::default());
        let mut strictest = Measure::Nothing;
        for _ in 0..times {
            act(&mut account, &mut transported);
            match account.measure(0, || transported) {
                Measure::Nothing => {}
                Measure::Close => return Measure::Close,
                Measure::GoAway => strictest = Measure::GoAway,
            }
        }
        strictest
    }

    fn receive(account: &mut Useless, transported: &mut Transported, bytes: usize) {
        account.came(bytes);
        transported.received += bytes as u64;
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
    fn uploads_downloads_requests_events_messages_and_changes_of_address_are_of_use() {
        let upload = over_time(1_000_000, |account, transported| {
            receive(account, transported, 1040);
            account.read(1000);
        });
        let download = over_time(1_000_000, |account, transported| {
            receive(account, transported, 80);
            transported.sent += 2400;
            account.carried(2);
        });
        // A packet of 75 bytes with a head of 30, and one of 45 for an acknowledgement.
        let requests = over_time(100_000, |account, transported| {
            receive(account, transported, 120);
            account.read(30);
            account.asked();
        });
        let events = over_time(1_000_000, |account, transported| {
            receive(account, transported, 45);
            transported.sent += 47;
            account.carried(1);
        });
        // A packet of 45 bytes, besides a message of 3 bytes in the headers of 2 frames.
        let messages = over_time(1_000_000, |account, transported| {
            receive(account, transported, 45 + 11);
            account.read(11);
            account.said();
        });
        let moves = over_time(1000, |account, transported| {
            receive(account, transported, 3 * 1200);
            account.moved();
        });
        let all = [upload, download, requests, events, messages, moves];
        assert_eq!(all, [Measure::Nothing; 6]);
    }

    #[test]
    fn what_a_client_saves_has_a_limit() {
        let mut account = begun();
        account.read(1 << 30);
        account.came(1 << 20);
        let received = |bytes| move || Transported { received: bytes, sent: 0 };
        assert_eq!(account.measure(0, received(1 << 20)), Measure::Nothing);
        account.came((384 << 10) + 1);
        assert_eq!(account.measure(0, received((1 << 20) + (384 << 10) + 1)), Measure::Close);
    }

    #[test]
    fn a_client_whose_packets_carry_a_byte_each_is_asked_to_connect_anew() {
        // A packet of 45 bytes with a DATA frame of one byte; one acknowledgement for every two of them.
        let after = |packets| {
            over_time(packets, |account, transported| {
                receive(account, transported, 45);
                account.read(3);
                transported.sent += 20;
            })
        };
        assert_eq!((after(4_800), after(5_400)), (Measure::Nothing, Measure::GoAway));
    }

    #[test]
    fn what_others_send_does_not_count() {
        let mut account = begun();
        account.came(10 << 20);
        let transported = || Transported { received: 10_000, sent: 0 };
        assert_eq!(account.measure(0, transported), Measure::Nothing);
        assert_eq!(account.measure_of_handshake(transported), Measure::Nothing);
    }

    #[test]
    fn a_handshake_is_no_debt() {
        let mut account = Useless::default();
        account.came(48 << 10);
        account.measure(0, Transported::default);
        assert_eq!(account.debt, 0);
    }

    #[test]
    fn a_handshake_takes_forty_datagrams_of_1200_bytes_and_no_more() {
        let after = |datagrams: usize| {
            let mut account = Useless::default();
            account.came(datagrams * 1200);
            let received = datagrams as u64 * 1200;
            account.measure_of_handshake(|| Transported { received, sent: 0 })
        };
        assert_eq!((after(40), after(41)), (Measure::Nothing, Measure::Close));
    }
}
