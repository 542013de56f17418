//! How much of its connection a log shows.

use super::{Trace, Validation};
use crate::number_ranges::NumberRanges;
use crate::packet::{Packet, PacketEvent, Space};

/// The repair of a log that begins in the middle of its connection.
const BEGINS_LATE: &str = "the log begins after its connection did: no figure has anything earlier";

/// The repair of a packet whose number only its path gives a meaning.
pub(crate) const OTHER_PATHS: &str = "packets of paths that number their own (multipath) are counted and their data is read, but not their numbers, \
    acknowledgements and losses: these are of the first path";
/// A log begins late if the numbers of both ends' packets begin with no lower one: a first flight has about as many.
const FIRST_NUMBER: u64 = 10;

impl Trace {
    /// Whether it was captured on the way.
    pub(crate) fn is_capture(&self) -> bool {
        self.header.format.as_deref() == Some("capture")
    }

    /// Whether it begins in the middle of its connection ([`Detail::Full`](super::Detail)): it was cut there, or it has no handshake, and lacks
    /// the first numbers of both ends' packets.
    pub(crate) fn lacks_beginning(&self) -> bool {
        let is_early = |it: &Packet| it.space != Space::Application;
        let numbers = |event| self.packets_of(event).filter_map(|it| it.number);
        let is_late = |event| numbers(event).min().is_some_and(|it| it >= FIRST_NUMBER);
        self.header.part_begins_us.is_some()
            || !self.packets().iter().any(is_early)
                && [PacketEvent::Sent, PacketEvent::Received].into_iter().all(is_late)
    }

    /// Whether it does not show that its connection ended ([`Detail::Full`](super::Detail)).
    pub(crate) fn lacks_end(&self) -> bool {
        self.closings.frame.is_none() && self.closings.event.is_none()
    }

    /// Whether it has each numbered packet of its side that arrived at the other, whose log is `other`. Otherwise it is a part, and what it
    /// lacks may not be lost.
    pub(crate) fn has_all_that_came(&self, other: &Self) -> bool {
        let numbers = |log: &Self, event| -> Vec<u64> {
            let packets = log.packets_of(event).filter(|it| it.space == Space::Application);
            packets.filter_map(|it| it.number).collect()
        };
        let mut sent = NumberRanges::default();
        for number in numbers(self, PacketEvent::Sent) {
            sent.add(number, number);
        }
        sent.is_empty() || numbers(other, PacketEvent::Received).iter().all(|it| sent.has(*it))
    }

    /// Whether it has paths at the same time, each with packet numbers, a window and round trips of its own.
    pub(crate) fn has_several_paths(&self) -> bool {
        self.repaired(OTHER_PATHS) > 0
    }

    /// When a new path was validated, after which round trips are its ([`Detail::Full`](super::Detail)).
    pub(crate) fn changed_path_us(&self) -> Vec<u64> {
        let mut has_begun = false;
        let mut times_us = Vec::new();
        for &(time_us, step) in self.packets.iter().flat_map(|it| &it.validations) {
            if has_begun && step == Validation::Ends {
                times_us.push(time_us);
            }
            has_begun = step == Validation::Begins;
        }
        times_us
    }

    /// Says that it begins late.
    pub(crate) fn note_extent(&mut self) {
        if self.lacks_beginning() {
            self.repair(BEGINS_LATE, 0);
        }
    }
}
