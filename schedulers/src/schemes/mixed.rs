//! `mixed[:PERCENT]`: urgencies are strict; within one, a queue of whole responses alternates with one of sharing
//! responses.
//!
//! Source: Gupta and Bartos, 2024 (mixed scheduling): non-incremental responses wait in queue N, one after another by
//! stream ID, incremental ones share in queue I, and both queues get bandwidth. PERCENT is N's share of an urgency while
//! I has something to send; the default is 50. Order: `chchfhfsisIiIiI`.

use super::halves::{Arrivals, by_word_alone};
use super::{rfc9218, weighted_incremental::GUPTA_BARTOS};
use crate::{Element, Language, Place, Rank, Scheme, StreamId, Tree};
use std::sync::Arc;

pub(super) fn scheme() -> Scheme {
    Scheme {
        group_name: Arc::new(|id| Some(rfc9218::group_name(id))),
        parameters: "PERCENT of the whole responses, from 1 to 99 (50), as in mixed:75",
        signals: Language::Priority,
        ..Scheme::new(
            "mixed",
            "Strict urgencies; within one, whole and incremental responses share (Gupta and Bartos)",
            GUPTA_BARTOS,
            |args, _| {
                let takes = "takes the percentage of the whole responses, from 1 to 99";
                args.at_most(1, takes)?;
                match args.parameters.first().map_or(Ok(50), |percent| percent.parse()) {
                    Ok(percent @ 1..=99) => Ok(by_word_alone(
                        rfc9218::priority,
                        move |tree: &mut Tree, stream, word, _: &mut Arrivals| {
                            put(tree, stream, word, percent);
                        },
                    )),
                    _ => args.refuse(takes),
                }
            },
        )
    }
}

/// `percent` of an urgency goes to whole responses.
fn put(tree: &mut Tree, stream: StreamId, word: (u8, bool), percent: u16) {
    let (urgency, incremental) = (word.0.min(7), word.1);
    let queue = Element::Placeholder(2 * u64::from(urgency) + u64::from(incremental));
    if !tree.contains(queue) {
        let weight = if incremental { 100 - percent } else { percent };
        let level = Rank::level(u16::from(urgency));
        tree.put(queue, Place::DEFAULT.rank(level).weight(weight));
    }
    let rank = if incremental { Rank::EQUAL } else { Rank::sequence(stream.0) };
    tree.put(Element::Stream(stream), Place::below(queue).rank(rank));
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use crate::find_scheme;

    #[test]
    fn whole_and_incremental_responses_of_an_urgency_alternate() {
        assert_eq!(sample::order("mixed"), "chchfhfsisIiIiI");
    }

    #[test]
    fn the_whole_ones_get_their_percentage() {
        assert_eq!(sample::order("mixed:75"), "ccfhfhhssiIiIiI");
    }

    #[test]
    fn a_percentage_outside_its_range_is_refused() {
        assert!(find_scheme("mixed:0").is_err() && find_scheme("mixed:100").is_err());
    }
}
