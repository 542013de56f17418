//! The bytes that may be sent to an unproven address: three times the bytes that came from there (RFC 9000, 8.1). The transport
//! does not count padding, so the router counts whole datagrams.

/// Bytes received and sent while a client's address is unproven.
#[derive(Debug, Default)]
pub(crate) struct Unproven {
    received_bytes: usize,
    sent_bytes: usize,
}

/// Less room than this is not worth a datagram of the handshake.
const LEAST_BYTES: usize = 100;

/// A challenge takes no more than this besides the longest connection ID.
const CHALLENGE_BYTES: usize = 50;

impl Unproven {
    pub(crate) fn received(&mut self, bytes: usize) {
        self.received_bytes += bytes;
    }

    pub(crate) fn sent(&mut self, bytes: usize) {
        self.sent_bytes += bytes;
    }

    /// Bytes of the largest datagram that may be sent now; 0: none may.
    pub(crate) fn room(&self) -> usize {
        let room = self.left();
        if room < LEAST_BYTES { 0 } else { room }
    }

    /// Bytes of a datagram with a challenge, which the transport fills; 0: none may be sent. There must be room for another one in
    /// case it is lost.
    pub(crate) fn challenge_room(&self) -> usize {
        match self.left() {
            left if left >= quiche::MIN_CLIENT_INITIAL_LEN => left,
            left if left >= CHALLENGE_BYTES => (left / 2).max(CHALLENGE_BYTES),
            _ => 0,
        }
    }

    /// Bytes that may be sent now.
    pub(crate) fn left(&self) -> usize {
        (3 * self.received_bytes).saturating_sub(self.sent_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_times_what_came_may_go() {
        let mut unproven = Unproven::default();
        unproven.received(1200);
        let mut sent = Vec::new();
        while unproven.room() > 0 {
            let bytes = unproven.room().min(1350);
            unproven.sent(bytes);
            sent.push(bytes);
        }
        assert_eq!(sent, [1350, 1350, 900]);
        unproven.received(40);
        assert_eq!(unproven.room(), 120);
    }
    #[test]
    fn a_challenge_leaves_room_for_another() {
        let mut unproven = Unproven::default();
        unproven.received(42);
        let mut sent = Vec::new();
        while unproven.challenge_room() > 0 {
            sent.push(unproven.challenge_room());
            unproven.sent(unproven.challenge_room());
        }
        assert_eq!(sent, [63, 50]);
        unproven.received(1200);
        assert_eq!(unproven.challenge_room(), 3613);
    }
}
