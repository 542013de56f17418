//! Intervals in which a server may not send its next packet, because the other end's address is not validated: it may send three times as
//! many bytes as arrived from there (RFC 9000, sections 8.1 and 9.3).
//!
//! No stack logs that, but the sizes of packets show it: the next packet exceeds what was left. A server that exceeds it had validated the
//! address, or logs packets of other paths.

use crate::packet::{Packet, PacketEvent, Space};
use crate::trace::{Trace, Validation, Vantage};

/// How many times the bytes that arrived may be sent.
const FACTOR: u64 = 3;

/// An interval in which the next packet exceeded the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unvalidated {
    pub(super) from_us: u64,
    pub(super) to_us: u64,
    /// The space of that packet.
    pub(super) space: Space,
}

/// All of them, in order and disjoint.
pub(super) fn unvalidated(trace: &Trace) -> Vec<Unvalidated> {
    if trace.vantage != Vantage::Server {
        return Vec::new();
    }
    let mut steps = trace.packets.as_ref().map_or_else(Vec::new, |it| it.validations.clone());
    steps.extend(trace.handshake_us().map(|it| (it, Validation::Ends)));
    steps.sort_by_key(|it| it.0);
    let mut steps = steps.into_iter().peekable();
    let mut walk = Walk::default();
    for packet in trace.packets() {
        while let Some((time_us, step)) = steps.next_if(|it| it.0 <= packet.time_us) {
            walk.validation(time_us, step);
        }
        match packet.event {
            PacketEvent::Received => walk.received(packet),
            PacketEvent::Sent => walk.sent(packet),
            PacketEvent::Lost | PacketEvent::Acknowledged => {}
        }
    }
    walk.found
}

/// The bytes from and to an address.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    received: u64,
    sent: u64,
}

impl Account {
    fn left(self) -> u64 {
        self.received.saturating_mul(FACTOR).saturating_sub(self.sent)
    }
}

/// An interval without a packet in either direction, and the bytes that could be sent in it.
#[derive(Debug, Clone, Copy)]
struct Wait {
    from_us: u64,
    to_us: u64,
    left: u64,
}

#[derive(Default)]
struct Walk {
    /// `None`: the address is validated, or the log does not show the sizes of packets.
    account: Option<Account>,
    /// Whether the first address was validated, or is being validated.
    has_begun: bool,
    /// Whether the account is that of a new path.
    is_of_path: bool,
    /// The last packet, if one was sent within the limit.
    since_us: Option<u64>,
    /// Since the last packet that asks for an acknowledgement.
    waits: Vec<Wait>,
    found: Vec<Unvalidated>,
}

impl Walk {
    fn validation(&mut self, time_us: u64, step: Validation) {
        match step {
            Validation::Begins if self.account.is_none() => {
                (self.account, self.is_of_path) = (Some(Account::default()), true);
                self.since_us = None;
            }
            Validation::Begins => {}
            Validation::Ends => {
                self.has_begun = true;
                self.validated(time_us);
            }
        }
    }

    fn received(&mut self, packet: &Packet) {
        if packet.bytes == 0 && self.account.is_some() {
            return self.forget();
        }
        self.wait_until(packet.time_us);
        // A part of a log may begin later.
        if packet.space == Space::Initial && !std::mem::replace(&mut self.has_begun, true) {
            self.account = Some(Account::default());
        }
        if let Some(account) = &mut self.account {
            account.received += u64::from(packet.bytes);
        }
        // Only a client at this address can have the keys, because they depend on what went there.
        if packet.space == Space::Handshake && !self.is_of_path {
            self.validated(packet.time_us);
        }
    }

    fn sent(&mut self, packet: &Packet) {
        let bytes = u64::from(packet.bytes);
        if bytes == 0 {
            return self.forget();
        }
        self.wait_until(packet.time_us);
        if let Some(account) = &mut self.account {
            if bytes > account.left() {
                let is_of_path = self.is_of_path;
                self.forget();
                self.account = is_of_path.then(Account::default);
                return;
            }
            account.sent += bytes;
            self.since_us = Some(packet.time_us);
        }
        if packet.is_ack_eliciting {
            let too_long = self.waits.drain(..).filter(|it| bytes > it.left);
            self.found.extend(too_long.map(|Wait { from_us, to_us, .. }| Unvalidated {
                from_us,
                to_us,
                space: packet.space,
            }));
        }
    }

    fn wait_until(&mut self, to_us: u64) {
        if let (Some(account), Some(from_us)) = (self.account, self.since_us) {
            if from_us < to_us {
                self.waits.push(Wait { from_us, to_us, left: account.left() });
            }
            self.since_us = Some(to_us);
        }
    }

    fn validated(&mut self, time_us: u64) {
        self.wait_until(time_us);
        (self.account, self.since_us) = (None, None);
    }

    fn forget(&mut self) {
        (self.account, self.since_us) = (None, None);
        self.waits.clear();
    }
}
