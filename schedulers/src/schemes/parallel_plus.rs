//! `p+` (Parallel+): what matters most goes one after another, the rest shares, the medium before the low.
//!
//! Source: Wijnants et al., WWW 2018; the paper, Table 1. HIGH weighs 256. NORMAL weighs 256, but 1 while
//! a response is in HIGH, which gives it the wire but for 2 packets in 258. LOW weighs 1. HIGH is one class,
//! in which the paper's "dfifo" is a fifo. The paper's implementation gave NORMAL its weight back
//! half a second late; here it has it at once. Order: `hhhccffiIsiIsiI`.

use super::{Arrivals, Silent, WIJNANTS};
use crate::{Element, Halves, Kind, Place, Rank, Resource, Scheme, ServerHalf, StreamId, Tree};
use std::collections::BTreeSet;

pub(super) fn scheme() -> Scheme {
    Scheme {
        placeholders: 3,
        ..Scheme::new(
            "p+",
            "Parallel+: high priority in sequence, medium and low share",
            WIJNANTS,
            |_, _| Ok(Halves::new(Silent, ParallelPlus::default())),
        )
    }
}

const HIGH: Element = Element::Placeholder(0);
const NORMAL: Element = Element::Placeholder(1);
const LOW: Element = Element::Placeholder(2);

/// The group of a resource.
fn group(resource: &Resource) -> Element {
    match resource.kind {
        Kind::Js if resource.is_late_script() => LOW,
        Kind::Js if resource.after_first_image => NORMAL,
        Kind::Html | Kind::Css | Kind::Font | Kind::Js | Kind::Xhr => HIGH,
        Kind::Image | Kind::Media | Kind::Other => LOW,
    }
}

#[derive(Default)]
struct ParallelPlus {
    high: Foreground,
    arrivals: Arrivals,
}

impl ServerHalf for ParallelPlus {
    fn setup(&mut self, tree: &mut Tree) {
        tree.put(HIGH, Place::DEFAULT.weight(256));
        tree.put(NORMAL, Place::DEFAULT.weight(256));
        tree.put(LOW, Place::DEFAULT.weight(1));
    }
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        let group = group(resource);
        let mut place = Place::below(group);
        if group == HIGH {
            place = place.rank(Rank::sequence(self.arrivals.next()));
            self.high.opened(tree, stream, NORMAL);
        }
        tree.put(Element::Stream(stream), place);
    }
    fn closed(&mut self, tree: &mut Tree, stream: StreamId) {
        self.high.closed(tree, stream, NORMAL);
    }
}

/// The responses of the highest group: while there are any, the second group's weight is 1.
#[derive(Default)]
pub(super) struct Foreground {
    open: BTreeSet<StreamId>,
}

impl Foreground {
    pub(super) fn opened(&mut self, tree: &mut Tree, stream: StreamId, second: Element) {
        self.open.insert(stream);
        tree.put(second, Place::DEFAULT.weight(1));
    }
    pub(super) fn closed(&mut self, tree: &mut Tree, stream: StreamId, second: Element) {
        if self.open.remove(&stream) && self.open.is_empty() {
            tree.put(second, Place::DEFAULT.weight(256));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn high_goes_in_sequence_and_the_rest_shares() {
        assert_eq!(sample::order("p+"), "hhhccffiIsiIsiI");
    }
}
