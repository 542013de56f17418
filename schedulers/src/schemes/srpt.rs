//! `srpt`: shortest remaining first. The response with the fewest remaining bytes goes, and one that becomes shorter
//! interrupts.
//!
//! Source: Schrage, Operations Research 16 (1968): it minimizes the mean completion time. Responses of unknown length go
//! last, in order of request, and so do those that exceed their announced length. Clients cannot signal it, because they
//! learn the length with the response. Order: `ccssffhhhiiiIII`.

use super::halves::Arrivals;
use crate::{Element, Halves, Language, Place, Rank, Resource, Scheme, ServerHalf, StreamId, Tree};
use std::collections::BTreeMap;

pub(super) fn scheme() -> Scheme {
    Scheme {
        signals: Language::None,
        ..Scheme::new(
            "srpt",
            "Shortest remaining first, by bytes left; of unknown length last",
            "Schrage, A Proof of the Optimality of the Shortest Remaining Processing Time Discipline, 1968",
            |_, _| {
                let cause =
                    "a client does not know when it makes a request how long the response is";
                Ok(Halves::of_server(cause, Shortest::default()))
            },
        )
    }
}

#[derive(Default)]
struct Shortest {
    arrivals: Arrivals,
    left: BTreeMap<StreamId, u64>,
}

impl Shortest {
    fn put(&mut self, tree: &mut Tree, stream: StreamId, left: Option<u64>) {
        let rank = match left {
            Some(bytes @ 1..) => Rank::sequence(bytes).then(stream.0),
            _ => Rank::sequence_in(1, self.arrivals.next()),
        };
        tree.put(Element::Stream(stream), Place::DEFAULT.rank(rank));
    }
}

impl ServerHalf for Shortest {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        if let Some(bytes) = resource.body_bytes {
            self.left.insert(stream, bytes);
        }
        self.put(tree, stream, resource.body_bytes);
    }
    fn sent(&mut self, tree: &mut Tree, stream: StreamId, bytes: u64) {
        let Some(left) = self.left.get_mut(&stream) else { return };
        *left = left.saturating_sub(bytes);
        let left = *left;
        if left == 0 {
            self.left.remove(&stream);
        }
        self.put(tree, stream, Some(left));
    }
    fn closed(&mut self, _tree: &mut Tree, stream: StreamId) {
        self.left.remove(&stream);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use crate::{Resource, Scheduler, StreamId, find_scheme};

    #[test]
    fn the_shortest_goes_first() {
        assert_eq!(sample::order("srpt"), "ccssffhhhiiiIII");
    }

    #[test]
    fn what_is_left_counts_and_the_unknown_waits() {
        let mut scheduler = Scheduler::new(&find_scheme("srpt").unwrap());
        let mut order = String::new();
        let packets = [(0, None), (1, Some(5)), (2, Some(9)), (3, Some(3)), (4, Some(1))];
        for (id, packets) in packets {
            let body_bytes = packets.map(|it| it * 1400);
            scheduler.open(StreamId(id), &Resource { body_bytes, ..Resource::default() });
            scheduler.set_ready(StreamId(id), true);
            let picked = scheduler.pick().unwrap();
            scheduler.sent(picked, 1400);
            order += &picked.0.to_string();
        }
        // After 1 has sent two of its five packets, 3 with its three waits; 4 interrupts.
        assert_eq!(order, "01114");
    }
}
