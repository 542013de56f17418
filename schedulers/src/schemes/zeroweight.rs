//! `zeroweight`: HTTP/2's tree with weights 0 to 255; the two extremes are sequential.
//!
//! Source: the paper, section 3.3 and Figure 10. Weight 255 goes first, one after another by lowest stream ID;
//! 254 to 1 share by weight; 0 goes last, one after another. In the paper's implementation, a packet of weight
//! 0 stopped the others' clock for good (variant `quicker`); here it continues. As there, the three classes share one clock: of two
//! responses that wait while the document is sent, the earlier one is ahead. Order: `hhhccsfsIfIIiii`.

use super::PAPER;
use super::halves::{ByWord, by_word};
use super::quicker::{self, QUICKER};
use crate::{Element, Kind, Language, Place, Rank, Resource, Scheme, StreamId, Tree};

pub(super) fn scheme() -> Scheme {
    Scheme {
        parameters: QUICKER,
        signals: Language::Tree,
        ..Scheme::new(
            "zeroweight",
            "Weights 0 to 255: 255 first in sequence, 254 to 1 share, 0 last in sequence",
            PAPER,
            |args, _| {
                let quicker = quicker::is_asked(args)?;
                Ok(if quicker { quicker::zeroweight() } else { by_word(weight, ZeroWeight) })
            },
        )
    }
}

pub(super) const FIRST: u16 = 255;

struct ZeroWeight;

pub(super) fn weight(resource: &Resource) -> u16 {
    match resource.kind {
        _ if resource.main => FIRST,
        Kind::Html | Kind::Css => 254,
        Kind::Js => 24,
        Kind::Font => 16,
        Kind::Image if resource.above_fold => 8,
        Kind::Image => 1,
        Kind::Media | Kind::Xhr | Kind::Other => 0,
    }
}

impl ByWord for ZeroWeight {
    type Word = u16;

    fn setup(&mut self, tree: &mut Tree) {
        tree.keep_common_time(Element::Root);
    }

    fn put(&mut self, tree: &mut Tree, stream: StreamId, weight: u16) {
        let rank = match weight {
            FIRST.. => Rank::sequence_in(0, stream.0),
            0 => Rank::sequence_in(2, stream.0),
            _ => Rank::level(1),
        };
        tree.put(Element::Stream(stream), Place::DEFAULT.rank(rank).weight(weight));
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn the_document_goes_first_and_the_others_share_by_weight() {
        assert_eq!(sample::order("zeroweight"), "hhhccsfsIfIIiii");
    }
}
