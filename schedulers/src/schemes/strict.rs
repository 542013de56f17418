//! `strict`: Ian Swett's strict priorities: siblings have a priority and a weight, and the higher priority goes
//! first.
//!
//! Source: the paper, section 3.3 (github.com/quicwg/base-drafts/pull/2700). Streams depend only on placeholders.
//! With Meenan's classes it works like `bucket`, as the paper states, but in a tree: a placeholder for each
//! priority, with the exclusive streams in sequence, before one placeholder for shared sequential streams and one
//! for shared streams. Order: `ccfIfIIhihihiss`.

use super::halves::{Arrivals, by_word_alone};
use super::{PAPER, bucket};
use crate::{Element, Given, Language, Place, Rank, Scheme, StreamId, Tree};

pub(super) fn scheme() -> Scheme {
    Scheme {
        signals: Language::Bucket,
        same_as: &[(Given::Always, "bucket")],
        ..Scheme::new(
            "strict",
            "Strict priorities in a tree of placeholders, the classes of bucket (Swett)",
            PAPER,
            |_, _| Ok(by_word_alone(bucket::normal_byte, put)),
        )
    }
}

fn put(tree: &mut Tree, stream: StreamId, byte: u8, arrivals: &mut Arrivals) {
    let (priority, concurrency) = (byte >> 2, byte & 3);
    let [level, in_sequence, in_parallel] =
        [0, 1, 2].map(|it| Element::Placeholder(3 * u64::from(priority) + it));
    if !tree.contains(level) {
        tree.put(level, Place::DEFAULT.rank(Rank::level(63 - u16::from(priority))));
    }
    let group = if concurrency == 2 { in_sequence } else { in_parallel };
    if concurrency != 3 && !tree.contains(group) {
        tree.put(group, Place::below(level).rank(Rank::level(1)));
    }
    let place = match concurrency {
        3 => Place::below(level).rank(Rank::sequence(arrivals.next())),
        2 => Place::below(group).rank(Rank::sequence(arrivals.next())),
        _ => Place::below(group),
    };
    tree.put(Element::Stream(stream), place);
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn its_order_is_that_of_bucket() {
        assert_eq!(sample::order("strict"), "ccfIfIIhihihiss");
        assert_eq!(sample::order("strict"), sample::order("bucket"));
    }
}
