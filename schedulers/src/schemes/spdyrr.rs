//! `spdyrr`: SPDY's strict levels with round robin within each: the sharing counterpart of `dfifo`.
//!
//! Source: the paper, Table 1 and section 3.3. The paper says "wrr" within a level and its implementation
//! weighs all alike; so does this one. Order: `hcfhcfhiIsiIsiI`.

use super::{PAPER, dfifo};
use crate::{
    ClientHalf, Element, Halves, Place, Rank, Resource, Scheme, ServerHalf, Signal, StreamId, Tree,
};

pub(super) fn scheme() -> Scheme {
    Scheme {
        placeholders: 5,
        ..Scheme::new(
            "spdyrr",
            "Five strict levels, round robin within each (SPDY)",
            PAPER,
            |_, _| Ok(Halves::new(Levels, Levels)),
        )
    }
}

/// The lowest of the five levels.
const LAST_LEVEL: u16 = 4;

struct Levels;

fn put(tree: &mut Tree, stream: StreamId, level: u16) {
    tree.put(Element::Stream(stream), Place::DEFAULT.rank(Rank::level(level)));
}

impl ClientHalf for Levels {
    /// The level in the bucket byte's priority, 4 the highest; concurrency 1: shared.
    fn request(&mut self, stream: StreamId, resource: &Resource) -> Vec<Signal> {
        let priority = u8::try_from(LAST_LEVEL - dfifo::class(resource)).unwrap_or(0);
        vec![Signal::Bucket { stream, byte: priority << 2 | 1 }]
    }
}

impl ServerHalf for Levels {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        put(tree, stream, dfifo::class(resource));
    }
    fn signalled(&mut self, tree: &mut Tree, signal: Signal) {
        if let Signal::Bucket { stream, byte } = signal {
            put(tree, stream, LAST_LEVEL.saturating_sub(u16::from(byte >> 2)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn a_level_shares_and_the_next_waits() {
        assert_eq!(sample::order("spdyrr"), "hcfhcfhiIsiIsiI");
    }
}
