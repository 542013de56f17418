//! `rfc9218`: Extensible Priorities, eight strict urgencies, incremental or not.
//!
//! Source: RFC 9218, section 10. A lower urgency goes first, strictly. Within one, responses that are not
//! incremental go first, one after another by stream ID, then the incremental ones share: the RFC leaves the
//! mix open, and this is what Cloudflare's quiche and LSQUIC do. Without a signal a response is placed by what
//! the recorded browser said of the resource, or else as Chrome signals its kind (of 2023, from public
//! captures); without knowledge by the RFC's default, urgency 3, not incremental. Order: `ccffhhhssiIiIiI`.

use crate::{
    ClientHalf, Element, Halves, Kind, Place, Rank, Resource, Scheme, ServerHalf, Signal, StreamId,
    Tree,
};

pub(super) fn scheme() -> Scheme {
    Scheme::new(
        "rfc9218",
        "Extensible Priorities: eight strict urgencies, incremental responses share",
        "RFC 9218, Extensible Prioritization Scheme for HTTP, 2022",
        |_, _| Ok(Halves::new(Extensible, Extensible)),
    )
}

/// The lowest urgency.
const BACKGROUND: u8 = 7;

struct Extensible;

/// Urgency, and whether it is incremental.
fn priority(resource: &Resource) -> (u8, bool) {
    resource.browser.unwrap_or(match resource.kind {
        Kind::Html => (0, true),
        Kind::Css if resource.in_head || resource.critical || resource.preload => (0, false),
        Kind::Css => (2, false),
        Kind::Js if resource.is_late_script() => (3, false),
        Kind::Js if resource.after_first_image => (2, false),
        Kind::Js => (1, false),
        Kind::Font if resource.preload => (1, false),
        Kind::Font => (0, false),
        Kind::Xhr => (1, true),
        Kind::Image | Kind::Media => (3, true),
        Kind::Other => (3, false),
    })
}

fn put(tree: &mut Tree, stream: StreamId, urgency: u8, incremental: bool) {
    let level = 2 * u16::from(urgency.min(BACKGROUND));
    let rank =
        if incremental { Rank::level(level + 1) } else { Rank::sequence_in(level, stream.0) };
    tree.put(Element::Stream(stream), Place::DEFAULT.rank(rank));
}

impl ClientHalf for Extensible {
    fn request(&mut self, stream: StreamId, resource: &Resource) -> Vec<Signal> {
        let (urgency, incremental) = priority(resource);
        vec![Signal::Extensible { stream, urgency, incremental }]
    }
}

impl ServerHalf for Extensible {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        let (urgency, incremental) = priority(resource);
        put(tree, stream, urgency, incremental);
    }
    fn signalled(&mut self, tree: &mut Tree, signal: Signal) {
        if let Signal::Extensible { stream, urgency, incremental } = signal {
            put(tree, stream, urgency, incremental);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use crate::{Kind, Resource, Scheduler, Signal, StreamId, find_scheme};

    const IMAGE: StreamId = StreamId(0);
    const SCRIPT: StreamId = StreamId(4);

    fn two() -> Scheduler {
        let mut scheduler = Scheduler::new(&find_scheme("rfc9218").unwrap());
        open(&mut scheduler, IMAGE, Kind::Image);
        open(&mut scheduler, SCRIPT, Kind::Js);
        scheduler
    }

    fn open(scheduler: &mut Scheduler, stream: StreamId, kind: Kind) {
        scheduler.open(stream, &Resource { kind, ..Resource::default() });
        scheduler.set_ready(stream, true);
    }

    #[test]
    fn urgency_is_strict_and_the_incremental_share_after_the_others() {
        assert_eq!(sample::order("rfc9218"), "ccffhhhssiIiIiI");
    }

    #[test]
    fn a_signal_overrides_the_servers_knowledge() {
        let mut scheduler = two();
        assert_eq!(scheduler.pick(), Some(SCRIPT));
        scheduler.signal(Signal::Extensible { stream: IMAGE, urgency: 0, incremental: true });
        assert_eq!(scheduler.pick(), Some(IMAGE));
    }

    #[test]
    fn the_latest_signal_before_a_request_is_remembered() {
        let mut scheduler = two();
        let late = StreamId(8);
        scheduler.signal(Signal::Extensible { stream: late, urgency: 7, incremental: true });
        scheduler.signal(Signal::Extensible { stream: late, urgency: 0, incremental: false });
        open(&mut scheduler, late, Kind::Image);
        assert_eq!(scheduler.pick(), Some(late));
    }

    #[test]
    fn an_urgency_beyond_the_last_is_the_last() {
        let mut scheduler = two();
        scheduler.signal(Signal::Extensible { stream: SCRIPT, urgency: 255, incremental: false });
        assert_eq!(scheduler.pick(), Some(IMAGE));
    }

    #[test]
    fn what_nobody_knows_goes_in_the_order_of_request() {
        let mut scheduler = Scheduler::new(&find_scheme("rfc9218").unwrap());
        for stream in [4, 0, 8] {
            scheduler.open(StreamId(stream), &Resource::default());
            scheduler.set_ready(StreamId(stream), true);
        }
        assert_eq!(scheduler.pick(), Some(StreamId(0)));
    }
}
