//! `bucket7`: Patrick Meenan's byte as of June 2019: seven bits of priority, one of concurrency.
//!
//! Source: the proposal's revision of June 2019. Higher priorities strictly go first. Within a priority,
//! the sequential responses (0), one after another, and the concurrent ones (1), round robin, alternate:
//! a frame from each. The classes are `bucket`'s, whose exclusive responses are sequential here, with
//! its three levels spread over 0 to 127. Order: `cIcIfIfhihihiss`.

use super::bucket;
use super::halves::{Arrivals, by_word_alone};
use crate::{Element, Language, Place, Rank, Resource, Scheme, StreamId, Tree};

pub(super) fn scheme() -> Scheme {
    Scheme {
        signals: Language::Bucket,
        ..Scheme::new(
            "bucket7",
            "Strict priorities of 7 bits, sequential and concurrent responses alternate (Meenan)",
            "Meenan, HTTP/3 Prioritization Proposal, June 2019 (github.com/pmeenan/http3-prioritization-proposal)",
            |_, _| Ok(by_word_alone(byte, put)),
        )
    }
}

/// The byte of a resource: `bucket`'s priority with one bit more, and whether it is concurrent.
fn byte(resource: &Resource) -> u8 {
    let bucket = bucket::normal_byte(resource);
    let (priority, concurrency) = (bucket >> 2, bucket & 3);
    // 63, 31 and 0 become 127, 63 and 1: the bits are shifted left by one, and the new one is set.
    (priority << 1 | 1) << 1 | u8::from(concurrency == 1)
}

fn put(tree: &mut Tree, stream: StreamId, byte: u8, arrivals: &mut Arrivals) {
    let group = Element::Placeholder(u64::from(byte));
    if !tree.contains(group) {
        tree.put(group, Place::DEFAULT.rank(Rank::level(127 - u16::from(byte >> 1))));
    }
    let place = match byte & 1 {
        0 => Place::below(group).rank(Rank::sequence(arrivals.next())),
        _ => Place::below(group),
    };
    tree.put(Element::Stream(stream), place);
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn the_two_groups_of_a_priority_alternate() {
        assert_eq!(sample::order("bucket7"), "cIcIfIfhihihiss");
    }
}
