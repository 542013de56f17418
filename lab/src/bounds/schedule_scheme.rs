//! An order of packets as a scheme, for engines with a transport.

use super::Bracket;
use crate::network::PACKET_BYTES;
use schedulers::{Element, Halves, Place, Rank, Resource, Scheme, ServerHalf, StreamId, Tree};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A scheme that sends in the bracket's order, packet by packet: among the ready responses, it picks the one whose next packet comes
/// first in that order. Its server must know the resources' IDs ([`crate::Metadata::Full`]).
pub fn schedule_scheme(bracket: &Bracket, name: &str) -> Scheme {
    let mut places: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for (place, resource) in (0..).zip(&bracket.schedule) {
        places.entry(*resource).or_default().push(place);
    }
    let places = Arc::new(places);
    let about = "An order found by search, packet by packet";
    Scheme::new(name, about, "docs/bounds.md", move |_, _| {
        let half = Follows { places: Arc::clone(&places), open: BTreeMap::new() };
        Ok(Halves::of_server("no client knows the order", half))
    })
}

struct Follows {
    /// The places of each resource's packets in the order.
    places: Arc<BTreeMap<usize, Vec<u64>>>,
    /// The resource of each response, and its bytes sent so far.
    open: BTreeMap<StreamId, (Option<usize>, u64)>,
}

impl Follows {
    fn place(&self, tree: &mut Tree, stream: StreamId) {
        let Some((resource, sent)) = self.open.get(&stream) else { return };
        let places = resource.and_then(|it| self.places.get(&it));
        let next = usize::try_from(sent / PACKET_BYTES).unwrap_or(usize::MAX);
        // Heads of responses add a few bytes that the order does not contain.
        let place = places.and_then(|it| it.get(next).or(it.last())).copied().unwrap_or(u64::MAX);
        let rank = Rank::sequence(place).then(stream.0);
        tree.put(Element::Stream(stream), Place::DEFAULT.rank(rank));
    }
}

impl ServerHalf for Follows {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        self.open.insert(stream, (resource.id, 0));
        self.place(tree, stream);
    }

    fn sent(&mut self, tree: &mut Tree, stream: StreamId, bytes: u64) {
        if let Some((_, sent)) = self.open.get_mut(&stream) {
            let before = *sent / PACKET_BYTES;
            *sent += bytes;
            if *sent / PACKET_BYTES != before {
                self.place(tree, stream);
            }
        }
    }

    fn closed(&mut self, _tree: &mut Tree, stream: StreamId) {
        self.open.remove(&stream);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::packets_of;
    use crate::ideal::{self, Conditions};
    use crate::network::Network;
    use crate::{Metadata, bounds};

    #[test]
    fn the_scheme_sends_the_order_on_ideal() {
        let page = Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone());
        let network = Network::find("3g").expect("built in").for_ideal();
        let effort = bounds::Effort { nodes: 2000, steps: 500 };
        let oracle = bounds::oracle(&page, &network, effort).expect("bytes above the fold");
        let scheme = schedule_scheme(&oracle, "oracle-order");
        let conditions = Conditions { metadata: Metadata::Full, ..Conditions::default() };
        let load = ideal::load(&page, &scheme, &network, conditions);
        assert_eq!(packets_of(&page, &load), oracle.schedule);
    }
}
