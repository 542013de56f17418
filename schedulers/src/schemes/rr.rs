//! `rr`: fully fair round robin; each response gets an equal share (Edge; HTTP/2's default without
//! signals).
//!
//! Source: the paper, Table 1. Clients send no signals, like Edge: a server without signals shares. Order:
//! `hicIsfhicIsfhiI`.

use super::PAPER;
use super::halves::{Silent, Stays};
use crate::{Halves, Place, Scheme};

pub(super) fn scheme() -> Scheme {
    Scheme::new(
        "rr",
        "Fair round robin: every response gets an equal share (Edge)",
        PAPER,
        |_, _| Ok(Halves::new(Silent, Stays::at(|_, _, _| Place::DEFAULT))),
    )
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn everybody_gets_a_packet_in_turn() {
        assert_eq!(sample::order("rr"), "hicIsfhicIsfhiI");
    }
}
