//! `rr`: fully fair round robin, each response an equal share (Edge; HTTP/2's default when nobody signals).
//!
//! Source: the paper, Table 1. Order: `hicIsfhicIsfhiI`.

use super::{PAPER, Silent};
use crate::{Element, Halves, Place, Resource, Scheme, ServerHalf, StreamId, Tree};

pub(super) fn scheme() -> Scheme {
    Scheme::new(
        "rr",
        "Fair round robin: every response gets an equal share (Edge)",
        PAPER,
        |_, _| Ok(Halves::new(Silent, RoundRobin)),
    )
}

struct RoundRobin;

impl ServerHalf for RoundRobin {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, _resource: &Resource) {
        tree.put(Element::Stream(stream), Place::DEFAULT);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn everybody_gets_a_packet_in_turn() {
        assert_eq!(sample::order("rr"), "hicIsfhicIsfhiI");
    }
}
