//! `s+` (Serial+): what blocks rendering goes one after another, then scripts and fetches do, and the rest
//! shares what is left as in `firefox`.
//!
//! Source: Wijnants et al., WWW 2018; the paper, Table 1. HIGH weighs 256; MEDIUM 256, but 1 while a
//! response is in HIGH; LOW 1, with Firefox's groups below it. The paper's implementation left the weights
//! within LOW at 16 and gave MEDIUM its weight back half a second late; here both are as described.
//! Order: `ccssfhiIfhiIhiI`.

use super::halves::{Arrivals, Silent};
use super::parallel_plus::{Foreground, QUICKER, Restore};
use super::{WIJNANTS, firefox, nth_name};
use crate::{Element, Halves, Kind, Place, Rank, Resource, Scheme, ServerHalf, StreamId, Tree};

pub(super) fn scheme() -> Scheme {
    Scheme {
        parameters: QUICKER,
        placeholders: 8,
        group_name,
        ..Scheme::new(
            "s+",
            "Serial+: high and medium priority in sequence, low as in firefox",
            WIJNANTS,
            |args, _| {
                let restore = Restore::of(args)?;
                let high = Foreground::new(restore);
                Ok(Halves::new(Silent, SerialPlus { restore, high, arrivals: Arrivals::default() }))
            },
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

/// `firefox`'s names below LOW.
fn group_name(id: u64) -> Option<String> {
    const NAMES: [&str; 3] = ["HIGH", "MEDIUM", "LOW"];
    nth_name(&NAMES, id).or_else(|| firefox::group_name(id.checked_sub(3)?))
}

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

struct SerialPlus {
    restore: Restore,
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
            // The paper's implementation left all weights in LOW at 16.
            _ if self.restore == Restore::Late => place,
            _ => place.weight(firefox::weight(resource.kind)),
        };
        match group {
            HIGH => self.high.opened(tree, stream, MEDIUM),
            MEDIUM => self.high.second_opened(tree, stream, MEDIUM),
            _ => {}
        }
        tree.put(Element::Stream(stream), place);
    }
    fn sent(&mut self, tree: &mut Tree, stream: StreamId, _bytes: u64) {
        self.high.sent(tree, stream, MEDIUM);
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
