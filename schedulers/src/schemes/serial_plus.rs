//! `s+` (Serial+): what blocks rendering goes one after another, then scripts and fetches do, and the rest
//! shares what is left as in `firefox`.
//!
//! Source: Wijnants et al., WWW 2018; the paper, Table 1. HIGH weighs 256; MEDIUM 256, but 1 while a
//! response is in HIGH; LOW 1, with Firefox's groups below it. The paper's implementation left the weights
//! within LOW at 16 and gave MEDIUM its weight back half a second late; here both are as described.
//! Order: `ccssfhiIfhiIhiI`.

use super::parallel_plus::Foreground;
use super::{Arrivals, Silent, WIJNANTS, firefox};
use crate::{Element, Halves, Kind, Place, Rank, Resource, Scheme, ServerHalf, StreamId, Tree};

pub(super) fn scheme() -> Scheme {
    Scheme {
        placeholders: 8,
        ..Scheme::new(
            "s+",
            "Serial+: high and medium priority in sequence, low as in firefox",
            WIJNANTS,
            |_, _| Ok(Halves::new(Silent, SerialPlus::default())),
        )
    }
}

const HIGH: Element = Element::Placeholder(0);
const MEDIUM: Element = Element::Placeholder(1);
const LOW: Element = Element::Placeholder(2);
const LEADERS: Element = Element::Placeholder(3);
const FOLLOWERS: Element = Element::Placeholder(4);
const UNBLOCKED: Element = Element::Placeholder(5);
const BACKGROUND: Element = Element::Placeholder(6);
const SPECULATIVE: Element = Element::Placeholder(7);

/// Placeholder, weight, parent. LEADERS and UNBLOCKED have no streams of their own.
const GROUPS: [(Element, u16, Element); 8] = [
    (HIGH, 256, Element::Root),
    (MEDIUM, 256, Element::Root),
    (LOW, 1, Element::Root),
    (LEADERS, 201, LOW),
    (FOLLOWERS, 1, LEADERS),
    (UNBLOCKED, 101, LOW),
    (BACKGROUND, 1, LOW),
    (SPECULATIVE, 1, BACKGROUND),
];

/// The group of a resource.
fn group(resource: &Resource) -> Element {
    match resource.kind {
        Kind::Js if resource.is_late_script() || !resource.in_head => MEDIUM,
        Kind::Js => HIGH,
        _ if resource.preload => SPECULATIVE,
        Kind::Css => HIGH,
        Kind::Xhr => MEDIUM,
        Kind::Html | Kind::Image | Kind::Font => FOLLOWERS,
        Kind::Media | Kind::Other => BACKGROUND,
    }
}

#[derive(Default)]
struct SerialPlus {
    high: Foreground,
    arrivals: Arrivals,
}

impl ServerHalf for SerialPlus {
    fn setup(&mut self, tree: &mut Tree) {
        for (group, weight, parent) in GROUPS {
            tree.put(group, Place::below(parent).weight(weight));
        }
    }
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        let group = group(resource);
        let place = Place::below(group);
        let place = match group {
            HIGH | MEDIUM => place.rank(Rank::sequence(self.arrivals.next())),
            _ => place.weight(firefox::weight(resource.kind)),
        };
        if group == HIGH {
            self.high.opened(tree, stream, MEDIUM);
        }
        tree.put(Element::Stream(stream), place);
    }
    fn closed(&mut self, tree: &mut Tree, stream: StreamId) {
        self.high.closed(tree, stream, MEDIUM);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn high_then_medium_go_in_sequence_and_low_shares() {
        assert_eq!(sample::order("s+"), "ccssfhiIfhiIhiI");
    }
}
