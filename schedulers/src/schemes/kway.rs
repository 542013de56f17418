//! `kway:N`: the first N responses share equally, the others wait in order of request.
//!
//! Source: none; the one-parameter family from `fifo` (N = 1) to `rr` (N without end), to study blocking against loss. If
//! none of the N can send, the waiting streams do, one after another. A client of an RFC 9218 server requests N
//! incremental responses, and the others at the next urgency; when one is complete, a `PRIORITY_UPDATE` lets the next one
//! share. This server needs no signals for the same order. Order with N = 2: `hihihicIcIIssff`.

use super::halves::{Arrivals, Word};
use crate::{
    ClientHalf, Element, Halves, Language, Needs, Place, Rank, Resource, Scheme, ServerHalf,
    Signal, StreamId, Tree, URGENCY_DEFAULT,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn scheme() -> Scheme {
    Scheme {
        parameters: "N, from 1 on, as in kway:4",
        needs: Needs::Parameter,
        signals: Language::Priority,
        ..Scheme::new(
            "kway",
            "The first N responses share, the others wait in order of request",
            "The family from fifo (N = 1) to rr (N without end)",
            |args, _| {
                let takes = "takes the responses that share, from 1 on, as in kway:4";
                args.at_most(1, takes)?;
                match args.parameters.first().map(|ways| ways.parse()) {
                    Some(Ok(ways @ 1..)) => Ok(Halves::new(
                        Turns { ways, ..Turns::default() },
                        KWay { ways, ..KWay::default() },
                    )),
                    _ => args.refuse(takes),
                }
            },
        )
    }
}

/// The urgency of the sharing responses is the default, so that they share with unsignalled ones.
const SHARING: (u8, bool) = (URGENCY_DEFAULT, true);
const WAITING: (u8, bool) = (URGENCY_DEFAULT + 1, false);

/// The client half: its open requests.
#[derive(Default)]
struct Turns {
    ways: usize,
    sharing: BTreeSet<StreamId>,
    waiting: BTreeSet<StreamId>,
}

impl ClientHalf for Turns {
    fn request(&mut self, stream: StreamId, _resource: &Resource) -> Vec<Signal> {
        if self.sharing.len() < self.ways {
            self.sharing.insert(stream);
            return vec![SHARING.signal(stream)];
        }
        self.waiting.insert(stream);
        vec![WAITING.signal(stream)]
    }
    fn closed(&mut self, stream: StreamId) -> Vec<Signal> {
        self.waiting.remove(&stream);
        if !self.sharing.remove(&stream) {
            return Vec::new();
        }
        let Some(next) = self.waiting.pop_first() else { return Vec::new() };
        self.sharing.insert(next);
        vec![SHARING.signal(next)]
    }
}

#[derive(Default)]
struct KWay {
    ways: usize,
    arrivals: Arrivals,
    sharing: BTreeSet<StreamId>,
    /// The waiting streams in order of request.
    waiting: BTreeMap<u64, StreamId>,
}

impl KWay {
    /// Lets a response share with others; in order of request, so responses of one turn differ only by name.
    fn share(&mut self, tree: &mut Tree, stream: StreamId) {
        self.sharing.insert(stream);
        tree.put(Element::Stream(stream), Place::DEFAULT);
    }
}

impl ServerHalf for KWay {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, _resource: &Resource) {
        if self.sharing.len() < self.ways {
            return self.share(tree, stream);
        }
        let arrival = self.arrivals.next();
        self.waiting.insert(arrival, stream);
        tree.put(Element::Stream(stream), Place::DEFAULT.rank(Rank::sequence_in(1, arrival)));
    }
    fn closed(&mut self, tree: &mut Tree, stream: StreamId) {
        self.waiting.retain(|_, it| *it != stream);
        if self.sharing.remove(&stream)
            && let Some((_, next)) = self.waiting.pop_first()
        {
            self.share(tree, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use crate::find_scheme;

    #[test]
    fn two_at_a_time() {
        assert_eq!(sample::order("kway:2"), "hihihicIcIIssff");
    }

    #[test]
    fn one_way_is_fifo_and_many_are_rr() {
        assert_eq!(sample::order("kway:1"), sample::order("fifo"));
        assert_eq!(sample::order("kway:6"), sample::order("rr"));
    }

    #[test]
    fn ways_are_a_number_from_one_on() {
        for name in ["kway", "kway:0", "kway:x", "kway:1:2", "kway:1@x"] {
            assert!(find_scheme(name).is_err(), "{name}");
        }
    }
}
