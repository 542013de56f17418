//! `spdyrr`: SPDY's strict levels with round robin within each: the sharing counterpart of `dfifo`.
//!
//! Source: the paper, Table 1 and section 3.3. The paper states "wrr" within a level, but its
//! implementation uses equal weights, and so does this one. Order: `hcfhcfhiIsiIsiI`.

use super::halves::{Arrivals, by_word_alone};
use super::{PAPER, dfifo};
use crate::{Element, Language, Place, Rank, Resource, Scheme, StreamId, Tree};

pub(super) fn scheme() -> Scheme {
    Scheme {
        placeholders: 5,
        signals: Language::Bucket,
        ..Scheme::new(
            "spdyrr",
            "Five strict levels, round robin within each (SPDY)",
            PAPER,
            |_, _| Ok(by_word_alone(byte, put)),
        )
    }
}

/// The lowest of the five levels.
const LAST_LEVEL: u16 = 4;

/// The level as the bucket byte's priority, 4 the highest; concurrency 1: shared.
fn byte(resource: &Resource) -> u8 {
    let priority = u8::try_from(LAST_LEVEL - dfifo::class(resource)).unwrap_or(0);
    priority << 2 | 1
}

fn put(tree: &mut Tree, stream: StreamId, byte: u8, _: &mut Arrivals) {
    let level = LAST_LEVEL.saturating_sub(u16::from(byte >> 2));
    tree.put(Element::Stream(stream), Place::DEFAULT.rank(Rank::level(level)));
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn a_level_shares_and_the_next_waits() {
        assert_eq!(sample::order("spdyrr"), "hcfhcfhiIsiIsiI");
    }
}
