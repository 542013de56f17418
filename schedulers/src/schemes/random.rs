//! `random:SEED`: whole responses in an order that a seed determines: a yardstick for schemes that use information.
//!
//! Source: none; each request gets a number from `SplitMix64` (Steele et al., OOPSLA 2014); the lowest goes first, and among equal ones the
//! lower stream ID. If the page is known, it is mixed into the seed; otherwise the first request of each page would get the same number,
//! and one seed would give all pages the same order. A client uses the same numbers and inserts each request exclusively after the one with
//! the next lower number. Order with seed 1: `ssIIIhhhiiiffcc`.

use super::halves::in_line;
use crate::random::SplitMix64;
use crate::{Language, Needs, PageGraph, Place, Rank, Scheme, StreamId};

pub(super) fn scheme() -> Scheme {
    Scheme {
        parameters: "SEED, a whole number, as in random:1",
        needs: Needs::Parameter,
        revision: 2,
        signals: Language::Tree,
        ..Scheme::new(
            "random",
            "Whole responses in a random order, the same for the same seed",
            "A yardstick; numbers from SplitMix64 (Steele et al., OOPSLA 2014)",
            |args, page| {
                let takes = "takes a seed, a whole number, as in random:1";
                args.at_most(1, takes)?;
                let Some(Ok(seed)) = args.parameters.first().map(|seed| seed.parse::<u64>()) else {
                    return args.refuse(takes);
                };
                let mut numbers = SplitMix64::new(seed ^ page.map_or(0, PageGraph::digest));
                Ok(in_line(move |_, stream: StreamId, _: &_| {
                    Place::DEFAULT.rank(Rank::sequence(numbers.draw()).then(stream.0))
                }))
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use crate::{GraphResource, PageGraph, find_scheme};

    #[test]
    fn a_seed_gives_an_order() {
        assert_eq!(sample::order("random:1"), "ssIIIhhhiiiffcc");
        assert_ne!(sample::order("random:1"), sample::order("random:2"));
    }

    #[test]
    fn a_page_has_an_order_of_its_own_that_repeats() {
        let page = |bytes: u64| PageGraph {
            resources: vec![GraphResource { bytes, ..GraphResource::default() }],
        };
        let scheme = || find_scheme("random:1").unwrap();
        let order = |bytes| sample::order_of(&scheme().for_page(&page(bytes)));
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        assert_ne!(order(1), sample::order("random:1"));
    }

    #[test]
    fn without_a_seed_it_is_refused() {
        let message = "scheme `random`: takes a seed, a whole number, as in random:1";
        assert_eq!(find_scheme("random").unwrap_err().to_string(), message);
        assert!(find_scheme("random:x").is_err() && find_scheme("random:1:2").is_err());
    }
}
