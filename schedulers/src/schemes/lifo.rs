//! `lifo`: last in, first out. Sends whole responses, but the newest interrupts.
//!
//! Source: live video wants the newest segment first; for a page this is a natural worst case. A client inserts each
//! request exclusively below the root. Order: `ffssIIIcciiihhh`.

use super::halves::in_line;
use crate::{Language, Place, Rank, Scheme};

pub(super) fn scheme() -> Scheme {
    Scheme {
        signals: Language::Tree,
        ..Scheme::new(
            "lifo",
            "Last in, first out: whole responses, the newest interrupts",
            "Stack discipline; live video over QUIC (MoQ) sends the newest first",
            |_, _| {
                Ok(in_line(|arrival, _, _: &_| {
                    Place::DEFAULT.rank(Rank::sequence(u64::MAX - arrival))
                }))
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn the_newest_goes_first() {
        assert_eq!(sample::order("lifo"), "ffssIIIcciiihhh");
    }
}
