//! The guard against starvation: a trickle for the stream that has waited longest (RFC 9218, section 10).

use crate::StreamId;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

/// Gives every Nth packet to the ready stream that has waited longest.
#[derive(Debug)]
pub(crate) struct Guard {
    every: u64,
    /// Packets sent so far.
    packets: u64,
    /// The packet of the last trickle.
    last_trickle: u64,
    /// The ready streams, each with the packet since which it waits.
    since: BTreeMap<StreamId, u64>,
    /// The same, the longest wait first.
    waits: BTreeSet<(u64, StreamId)>,
}

impl Guard {
    pub(crate) fn every(packets: NonZeroU32) -> Self {
        let every = u64::from(packets.get());
        Self { every, packets: 0, last_trickle: 0, since: BTreeMap::new(), waits: BTreeSet::new() }
    }

    pub(crate) fn set_ready(&mut self, stream: StreamId, ready: bool) {
        if ready {
            if !self.since.contains_key(&stream) {
                self.wait(stream);
            }
        } else if let Some(since) = self.since.remove(&stream) {
            self.waits.remove(&(since, stream));
        }
    }

    /// The stream that now goes out of turn, if it is time and one has waited long enough.
    pub(crate) fn starved(&self) -> Option<StreamId> {
        let (since, stream) = self.waits.first()?;
        let waited = self.packets - since.max(&self.last_trickle);
        (waited >= self.every - 1).then_some(*stream)
    }

    pub(crate) fn sent(&mut self, stream: StreamId) {
        let was_trickle = self.starved() == Some(stream);
        self.packets += 1;
        if was_trickle {
            self.last_trickle = self.packets;
        }
        if let Some(since) = self.since.remove(&stream) {
            self.waits.remove(&(since, stream));
            self.wait(stream);
        }
    }

    fn wait(&mut self, stream: StreamId) {
        self.since.insert(stream, self.packets);
        self.waits.insert((self.packets, stream));
    }
}

#[cfg(test)]
mod tests {
    use crate::{Kind, Resource, Scheduler, StreamId, find_scheme};

    /// A long script (0), then an image (4) and a video (8) that are always ready: 25 packets.
    fn order(scheme: &str) -> String {
        let mut scheduler = Scheduler::new(&find_scheme(scheme).unwrap());
        for (id, kind) in [(0, Kind::Js), (4, Kind::Image), (8, Kind::Media)] {
            scheduler.open(StreamId(id), &Resource { kind, ..Resource::default() });
            scheduler.set_ready(StreamId(id), true);
        }
        let packet = |_| {
            let picked = scheduler.pick().unwrap();
            scheduler.sent(picked, 1400);
            picked.0.to_string()
        };
        (0..25).map(packet).collect()
    }

    #[test]
    fn without_a_guard_a_long_response_starves_those_behind_it() {
        assert_eq!(order("rfc9218"), "0".repeat(25));
        assert_eq!(order("bucket"), "0".repeat(25));
    }

    #[test]
    fn with_a_guard_every_fifth_packet_goes_to_who_waited_longest() {
        assert_eq!(order("rfc9218@guard:5"), "0000400008000040000800004");
        assert_eq!(order("bucket@guard:5"), "0000400008000040000800004");
    }

    #[test]
    fn a_guard_leaves_those_alone_who_share_anyway() {
        assert_eq!(order("rr@guard:20"), order("rr"));
    }
}
