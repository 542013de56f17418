//! `lifo`: last in, first out. Whole responses, but the newest interrupts.
//!
//! Source: live video wants the newest segment first; for a page this is a natural worst case. Order:
//! `ffssIIIcciiihhh`.

use super::{Arrivals, Silent};
use crate::{Element, Halves, Place, Rank, Resource, Scheme, ServerHalf, StreamId, Tree};

pub(super) fn scheme() -> Scheme {
    Scheme::new(
        "lifo",
        "Last in, first out: whole responses, the newest interrupts",
        "Stack discipline; live video over QUIC (MoQ) sends the newest first",
        |_, _| Ok(Halves::new(Silent, Lifo::default())),
    )
}

#[derive(Default)]
struct Lifo {
    arrivals: Arrivals,
}

impl ServerHalf for Lifo {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, _resource: &Resource) {
        let rank = Rank::sequence(u64::MAX - self.arrivals.next());
        tree.put(Element::Stream(stream), Place::DEFAULT.rank(rank));
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn the_newest_goes_first() {
        assert_eq!(sample::order("lifo"), "ffssIIIcciiihhh");
    }
}
