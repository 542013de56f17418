//! `fifo`: first in, first out; each response is complete before the next.
//!
//! Source: the paper, Table 1. In order of request (the paper's "lower stream IDs first" when requests
//! arrive in order). A client lets each request depend on the open one before it. Order: `hhhiiiccIIIssff`.

use super::PAPER;
use super::dependencies::Obeying;
use super::halves::{Stays, Tells};
use crate::{Halves, Language, Place, Rank, Resource, Scheme, StreamId};

pub(super) fn scheme() -> Scheme {
    Scheme {
        signals: Language::Tree,
        ..Scheme::new(
            "fifo",
            "First in, first out: whole responses in the order of their requests",
            PAPER,
            |_, _| Ok(Halves::new(Tells::that(place), Obeying::or(Stays::at(place)))),
        )
    }
}

fn place(arrival: u64, _stream: StreamId, _resource: &Resource) -> Place {
    Place::DEFAULT.rank(Rank::sequence(arrival))
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
        let (mut client, mut server) = (scheme.client_half().unwrap(), Scheduler::new(&scheme));
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
