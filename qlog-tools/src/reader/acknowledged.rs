//! Which of our packets have been acknowledged, so that each counts once; and whether a log writes ranges of numbers with
//! their ends, as in qlog's schema, or without, as noq does.

use std::collections::BTreeMap;

use super::collect::Collector;
use super::quic::Direction;
use crate::number_ranges::NumberRanges;
use crate::packet::{Packet, PacketEvent, Space};
use crate::trace::Detail;

/// The approximate number of new acknowledgements that is credible for one frame.
const FRESH: u64 = 1 << 16;

/// Acknowledged numbers of each space, as first to last.
#[derive(Default)]
pub(super) struct Acknowledged {
    /// If ranges end with their last number.
    with_ends: BTreeMap<Space, NumberRanges>,
    /// If their end is the number after the last, unless that is refuted.
    without_ends: BTreeMap<Space, NumberRanges>,
    sent: BTreeMap<Space, Sent>,
    ends: Ends,
}

/// The meaning of the second number of a range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Ends {
    /// Not yet known: treated as the last number.
    #[default]
    Unknown,
    Last,
    NumberAfter,
}

/// The numbers that were sent, as long as none is missing between them.
#[derive(Default)]
struct Sent {
    next: Option<u64>,
    has_gaps: bool,
}

impl Acknowledged {
    pub(super) fn sent(&mut self, space: Space, number: u64) {
        let sent = self.sent.entry(space).or_default();
        sent.has_gaps |= sent.next.is_some_and(|next| next != number);
        sent.next = number.checked_add(1);
    }

    /// The numbers in `ranges` that had not been acknowledged before.
    pub(super) fn fresh(&mut self, space: Space, ranges: &[(u64, u64)]) -> Vec<u64> {
        let shorter = ranges.iter().filter(|it| it.0 < it.1).map(|&(first, end)| (first, end - 1));
        let shorter: Vec<(u64, u64)> = shorter.collect();
        match self.ends {
            Ends::Last => fresh(self.with_ends.entry(space).or_default(), ranges),
            Ends::NumberAfter => fresh(self.without_ends.entry(space).or_default(), &shorter),
            Ends::Unknown => {
                fresh(self.without_ends.entry(space).or_default(), &shorter);
                fresh(self.with_ends.entry(space).or_default(), ranges)
            }
        }
    }

    /// Infers from the ranges of a frame what their second numbers mean. Returns whether earlier results of [`Self::fresh`]
    /// must be corrected where [`Self::has`] disagrees.
    pub(super) fn learns_that_ends_are_beyond(
        &mut self,
        space: Space,
        ranges: &[(u64, u64)],
    ) -> bool {
        if self.ends != Ends::Unknown {
            return false;
        }
        let sent = self.sent.get(&space).filter(|it| !it.has_gaps).and_then(|it| it.next);
        // No range is empty, a number is missing between two ranges of one frame (RFC 9000, section 19.3.1), and no packet is
        // acknowledged before it is sent.
        if ranges.iter().any(|(first, end)| first == end) {
            self.ends = Ends::Last;
            self.without_ends.clear();
        } else if ranges.iter().any(|(_, end)| {
            Some(*end) == sent || ranges.iter().any(|it| end.checked_add(1) == Some(it.0))
        }) {
            self.ends = Ends::NumberAfter;
            self.with_ends.clear();
        }
        self.are_beyond()
    }

    /// Whether the second number of a range is the number after its last.
    pub(super) fn are_beyond(&self) -> bool {
        self.ends == Ends::NumberAfter
    }

    pub(super) fn has(&self, space: Space, number: u64) -> bool {
        let numbers = if self.are_beyond() { &self.without_ends } else { &self.with_ends };
        numbers.get(&space).is_some_and(|it| it.has(number))
    }

    /// All acknowledged numbers of a space; `None` without any.
    pub(super) fn take(&mut self, space: Space) -> Option<NumberRanges> {
        let all = if self.are_beyond() { &mut self.without_ends } else { &mut self.with_ends };
        all.remove(&space).filter(|it| !it.is_empty())
    }
}

impl Collector {
    /// Whether acknowledgements are kept, which show needless retransmissions of a server.
    pub(super) fn keeps_acknowledgements(&self) -> bool {
        self.detail >= Detail::Full
            || (self.detail >= Detail::Arrivals && self.is_of_requests(Direction::Received))
    }

    /// An ACK frame with these ranges arrived. Returns how many packets it acknowledges for the first time.
    pub(super) fn acknowledge(
        &mut self,
        time_us: u64,
        space: Space,
        ranges: &[(u64, u64)],
    ) -> usize {
        if self.acknowledged.learns_that_ends_are_beyond(space, ranges) {
            self.take_back_acknowledgements();
        }
        let fresh = self.acknowledged.fresh(space, ranges);
        let count = fresh.len();
        if self.detail >= Detail::Full {
            let event = PacketEvent::Acknowledged;
            let packets = &mut self.trace.packets.get_or_insert_default().all;
            for number in fresh {
                packets.push(Packet {
                    time_us,
                    event,
                    space,
                    number: Some(number),
                    bytes: 0,
                    is_ack_eliciting: false,
                    is_mtu_probe: false,
                });
            }
        }
        count
    }

    /// Removes the records of packets that turned out not to be acknowledged.
    fn take_back_acknowledgements(&mut self) {
        let Some(packets) = &mut self.trace.packets else { return };
        let mut removed = 0_u32;
        let mut removed_before = Vec::with_capacity(packets.all.len());
        packets.all.retain(|packet| {
            removed_before.push(removed);
            let is_kept = packet.event != PacketEvent::Acknowledged
                || packet.number.is_some_and(|it| self.acknowledged.has(packet.space, it));
            removed += u32::from(!is_kept);
            is_kept
        });
        let places = self.received.frame_packets.iter_mut().chain(&mut self.sent.frame_packets);
        for place in places {
            *place -= removed_before.get(*place as usize).copied().unwrap_or_default();
        }
    }
}

/// Adds `ranges` to `known`; returns the new numbers.
fn fresh(known: &mut NumberRanges, ranges: &[(u64, u64)]) -> Vec<u64> {
    let mut numbers = Vec::new();
    for &(first, last) in ranges {
        let mut next = first;
        if let Some((_, end)) = known.at_or_before(first) {
            if end >= last {
                continue;
            }
            next = next.max(end.saturating_add(1));
        }
        if numbers.len() as u64 > FRESH {
            break;
        }
        let last = last.min(next.saturating_add(FRESH));
        while next <= last {
            if let Some((start, end)) = known.from(next).filter(|range| range.0 <= last) {
                numbers.extend(next..start);
                next = end.saturating_add(1);
            } else {
                numbers.extend(next..=last);
                break;
            }
        }
        known.add(first, last);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_number_is_fresh_once() {
        let mut acknowledged = Acknowledged::default();
        assert_eq!(acknowledged.fresh(Space::Application, &[(5, 7), (1, 2)]), [5, 6, 7, 1, 2]);
        assert_eq!(acknowledged.fresh(Space::Application, &[(0, 9)]), [0, 3, 4, 8, 9]);
        assert_eq!(acknowledged.fresh(Space::Initial, &[(0, 0)]), [0]);
        assert_eq!(acknowledged.fresh(Space::Application, &[(3, 8)]), Vec::<u64>::new());
    }

    /// The numbers that frames with these ranges acknowledge after packets 0 to `last_sent`, each with the numbers it removes
    /// again.
    fn learned(last_sent: u64, frames: &[&[(u64, u64)]]) -> Vec<(bool, Vec<u64>)> {
        let mut acknowledged = Acknowledged::default();
        (0..=last_sent).for_each(|it| acknowledged.sent(Space::Application, it));
        let read = |ranges: &&[(u64, u64)]| {
            let learns = acknowledged.learns_that_ends_are_beyond(Space::Application, ranges);
            (learns, acknowledged.fresh(Space::Application, ranges))
        };
        frames.iter().map(read).collect()
    }

    #[test]
    fn ranges_that_touch_have_ends_beyond_them() {
        let read = learned(20, &[&[(4, 9), (0, 2)], &[(6, 10), (3, 5), (0, 2)]]);
        assert_eq!(read[0], (false, vec![4, 5, 6, 7, 8, 9, 0, 1, 2]));
        assert_eq!(read[1], (true, vec![9, 3]), "4 to 8 and 0 to 1 were acknowledged before");
    }

    #[test]
    fn an_acknowledgement_of_what_never_went_has_its_end_beyond() {
        assert_eq!(learned(0, &[&[(0, 1)]]), [(true, vec![0])]);
        assert_eq!(
            learned(5, &[&[(0, 6)], &[(0, 7)]]),
            [(true, vec![0, 1, 2, 3, 4, 5]), (false, vec![6])]
        );
    }

    #[test]
    fn a_range_of_one_number_shows_that_ends_are_within() {
        let read = learned(9, &[&[(0, 0)], &[(0, 10)]]);
        assert_eq!(read[1], (false, (1..=10).collect::<Vec<u64>>()));
    }

    proptest::proptest! {
        #[test]
        fn the_plain_rule_agrees(ranges in proptest::collection::vec((0u64..40, 0u64..8), 0..30)) {
            let (mut acknowledged, mut seen) = (Acknowledged::default(), BTreeSet::new());
            for (first, more) in ranges {
                let expected: Vec<u64> = (first..=first + more).filter(|number| seen.insert(*number)).collect();
                proptest::prop_assert_eq!(acknowledged.fresh(Space::Application, &[(first, first + more)]), expected);
            }
        }
    }
}
