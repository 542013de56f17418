//! `spdy`: eight levels of strict priorities, in order of request within each.
//!
//! Source: SPDY as described in the paper, section 3.3: "eight levels of strict priorities"; it calls
//! Chrome's behaviour the sequential version and `spdyrr` the round robin one. The level is the browser's
//! urgency if known (RFC 9218 adopted SPDY's eight levels), otherwise the class of `dfifo`, which uses the
//! first five. Order: `hhhccffiiiIIIss`.

use super::halves::{Arrivals, by_word_alone};
use super::{PAPER, dfifo};
use crate::{Element, Given, Language, Place, Rank, Resource, Scheme, StreamId, Tree};

pub(super) fn scheme() -> Scheme {
    Scheme {
        signals: Language::Priority,
        same_as: &[(Given::NoBrowserPriorities, "dfifo")],
        ..Scheme::new(
            "spdy",
            "Eight strict levels, in order of request within each (SPDY)",
            PAPER,
            |_, _| Ok(by_word_alone(level, put)),
        )
    }
}

/// The lowest of the eight levels.
const LAST_LEVEL: u8 = 7;

/// The level as an urgency; nothing is incremental.
fn level(resource: &Resource) -> (u8, bool) {
    let class = u8::try_from(dfifo::class(resource)).unwrap_or(LAST_LEVEL);
    (resource.browser.map_or(class, |(urgency, _)| urgency.min(LAST_LEVEL)), false)
}

fn put(tree: &mut Tree, stream: StreamId, word: (u8, bool), arrivals: &mut Arrivals) {
    let rank = Rank::sequence_in(u16::from(word.0.min(LAST_LEVEL)), arrivals.next());
    tree.put(Element::Stream(stream), Place::DEFAULT.rank(rank));
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use crate::{Resource, Scheduler, StreamId, find_scheme};

    #[test]
    fn levels_are_strict_and_within_one_the_first_goes_first() {
        assert_eq!(sample::order("spdy"), "hhhccffiiiIIIss");
    }

    #[test]
    fn the_eighth_level_goes_after_the_seventh() {
        let mut scheduler = Scheduler::new(&find_scheme("spdy").unwrap());
        for (id, urgency) in [(0, 7), (4, 6), (8, 6)] {
            let browser = Some((urgency, true));
            scheduler.open(StreamId(id), &Resource { browser, ..Resource::default() });
            scheduler.set_ready(StreamId(id), true);
        }
        assert_eq!(scheduler.pick(), Some(StreamId(4)));
    }
}
