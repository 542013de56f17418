//! `fifo`: first in, first out, each response whole before the next.
//!
//! Source: the paper, Table 1. In order of request (the paper's "lower stream IDs first" when requests
//! arrive in order). Order: `hhhiiiccIIIssff`.

use super::PAPER;
use super::halves::{Arrivals, depend};
use crate::scheme::obey;
use crate::{
    ClientHalf, Element, Halves, Place, Rank, Resource, Scheme, ServerHalf, Signal, StreamId, Tree,
};

pub(super) fn scheme() -> Scheme {
    Scheme::new(
        "fifo",
        "First in, first out: whole responses in the order of their requests",
        PAPER,
        |_, _| Ok(Halves::new(Chain::default(), Fifo::default())),
    )
}

/// Each request depends on the one before it.
#[derive(Default)]
struct Chain {
    last: Option<StreamId>,
}

impl ClientHalf for Chain {
    fn request(&mut self, stream: StreamId, _resource: &Resource) -> Vec<Signal> {
        let parent = self.last.replace(stream).map_or(Element::Root, Element::Stream);
        vec![depend(Element::Stream(stream), parent, 16)]
    }
    fn closed(&mut self, stream: StreamId) {
        if self.last == Some(stream) {
            self.last = None;
        }
    }
}

#[derive(Default)]
struct Fifo {
    arrivals: Arrivals,
}

impl ServerHalf for Fifo {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, _resource: &Resource) {
        let rank = Rank::sequence(self.arrivals.next());
        tree.put(Element::Stream(stream), Place::DEFAULT.rank(rank));
    }
    /// A dependency on a response that is still there is obeyed; any other says nothing that the order of
    /// arrival does not say better.
    fn signalled(&mut self, tree: &mut Tree, signal: Signal) {
        if let Signal::Depend {
            element: Element::Stream(_),
            parent: parent @ Element::Stream(_),
            ..
        } = signal
            && tree.contains(parent)
        {
            obey(tree, signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use crate::{Element, Resource, Scheduler, Signal, StreamId, find_scheme};

    #[test]
    fn each_goes_whole_in_the_order_of_request() {
        assert_eq!(sample::order("fifo"), "hhhiiiccIIIssff");
    }

    #[test]
    fn a_signalled_chain_holds_when_its_links_close() {
        let scheme = find_scheme("fifo").unwrap();
        let (mut client, mut server) = (scheme.client_half(), Scheduler::new(&scheme));
        let streams = [StreamId(8), StreamId(4), StreamId(0)];
        for stream in streams {
            server.open(stream, &Resource::default());
            for signal in client.request(stream, &Resource::default()) {
                assert!(
                    matches!(signal, Signal::Depend { element: Element::Stream(it), .. } if it == stream)
                );
                server.signal(signal);
            }
            server.set_ready(stream, true);
        }
        for stream in streams {
            assert_eq!(server.pick(), Some(stream));
            server.sent(stream, 1400);
            server.close(stream);
        }
        assert_eq!(server.pick(), None);
    }
}
