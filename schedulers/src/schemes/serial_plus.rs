//! `s+` (Serial+): render-blocking resources go one after another, then scripts and fetches do, and the rest shares the
//! remaining bandwidth as in `firefox`.
//!
//! Source: Wijnants et al., WWW 2018; the paper, Table 1. HIGH weighs 256; MEDIUM 256, but 1 while a response is in HIGH;
//! LOW 1, with Firefox's groups below it. The paper's implementation left the weights within LOW at 16 and restored
//! MEDIUM's weight half a second late; here both follow the description. A client signals as in `p+`, with one line of
//! requests in HIGH and one in MEDIUM. Order: `ccssfhiIfhiIhiI`.

use super::parallel_plus::{Groups, HIGH, LOW, Restore, SECOND, halves};
use super::quicker::QUICKER;
use super::{WIJNANTS, firefox, nth_name};
use crate::{Element, Kind, Language, Place, Rank, Resource, Scheme};
use std::sync::Arc;

pub(super) fn scheme() -> Scheme {
    Scheme {
        parameters: QUICKER,
        placeholders: 8,
        signals: Language::Tree,
        group_name: Arc::new(group_name),
        ..Scheme::new(
            "s+",
            "Serial+: high and medium priority in sequence, low as in firefox",
            WIJNANTS,
            |args, _| halves(args, Groups { all: &GROUPS, group, place }),
        )
    }
}

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
    (SECOND, 256, Element::Root),
    (LOW, 1, Element::Root),
    (LEADERS, 201, LOW),
    (FOLLOWERS, 1, LEADERS),
    (UNBLOCKED, 101, LOW),
    (BACKGROUND, 1, LOW),
    (SPECULATIVE, 1, BACKGROUND),
];

fn group(resource: &Resource) -> Element {
    match resource.kind {
        Kind::Js if resource.is_late_script() || !resource.in_head => SECOND,
        Kind::Js => HIGH,
        _ if resource.preload => SPECULATIVE,
        Kind::Css => HIGH,
        Kind::Xhr => SECOND,
        Kind::Html | Kind::Image | Kind::Font => FOLLOWERS,
        Kind::Media | Kind::Other => BACKGROUND,
    }
}

fn place(group: Element, resource: &Resource, restore: Restore, arrival: u64) -> Place {
    let place = Place::below(group);
    match group {
        HIGH | SECOND => place.rank(Rank::sequence(arrival)),
        // The paper's implementation left all weights in LOW at 16.
        _ if restore == Restore::Late => place,
        _ => place.weight(firefox::weight(resource.kind)),
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
