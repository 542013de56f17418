//! `p+` (Parallel+): the most important responses go one after another, the rest shares, medium before low.
//!
//! Source: Wijnants et al., WWW 2018; the paper, Table 1. HIGH weighs 256. NORMAL weighs 256, but 1 while a response is
//! in HIGH, which then gets all but 2 packets in 258. LOW weighs 1. HIGH is one class, in which the paper's "dfifo" is
//! a fifo. The paper's implementation restored NORMAL's weight half a second late; here it is restored at once. A
//! client creates the placeholders, lets each request in HIGH depend on the open one before it, and changes NORMAL's
//! weight when HIGH fills and when it empties. Order: `hhhccffiIsiIsiI`.

use super::dependencies::Obeying;
use super::halves::{Arrivals, Tells, depend};
use super::quicker::{self, LATE_PACKETS, QUICKER};
use super::{WIJNANTS, nth_name};
use crate::{
    Args, ClientHalf, Element, Halves, Kind, Language, Place, Rank, Resource, Scheme, SchemeError,
    ServerHalf, Signal, StreamId, Tree,
};
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) fn scheme() -> Scheme {
    Scheme {
        parameters: QUICKER,
        placeholders: 3,
        signals: Language::Tree,
        group_name: Arc::new(|id| nth_name(&["HIGH", "NORMAL", "LOW"], id)),
        ..Scheme::new(
            "p+",
            "Parallel+: high priority in sequence, medium and low share",
            WIJNANTS,
            |args, _| halves(args, Groups { all: &GROUPS, group, place }),
        )
    }
}

pub(super) const HIGH: Element = Element::Placeholder(0);
/// NORMAL in `p+`, MEDIUM in `s+`.
pub(super) const SECOND: Element = Element::Placeholder(1);
pub(super) const LOW: Element = Element::Placeholder(2);

const GROUPS: [(Element, u16, Element); 3] =
    [(HIGH, 256, Element::Root), (SECOND, 256, Element::Root), (LOW, 1, Element::Root)];

fn group(resource: &Resource) -> Element {
    match resource.kind {
        Kind::Js if resource.is_late_script() => LOW,
        Kind::Js if resource.after_first_image => SECOND,
        Kind::Html | Kind::Css | Kind::Font | Kind::Js | Kind::Xhr => HIGH,
        Kind::Image | Kind::Media | Kind::Other => LOW,
    }
}

fn place(group: Element, _resource: &Resource, _restore: Restore, arrival: u64) -> Place {
    let place = Place::below(group);
    match group {
        HIGH => place.rank(Rank::sequence(arrival)).weight(256),
        SECOND => place.weight(183),
        _ => place.weight(110),
    }
}

/// The groups of `p+` and `s+`; the first one takes the bandwidth from the second.
#[derive(Clone, Copy)]
pub(super) struct Groups {
    /// Placeholder, weight, parent.
    pub(super) all: &'static [(Element, u16, Element)],
    pub(super) group: fn(&Resource) -> Element,
    /// By group, resource, variant and the number of the request.
    pub(super) place: fn(Element, &Resource, Restore, u64) -> Place,
}

pub(super) fn halves(args: &Args, groups: Groups) -> Result<Halves, SchemeError> {
    let high = Foreground::of(args)?;
    let restore = high.restore;
    let server = Obeying::or(Plus { groups, high, arrivals: Arrivals::default() });
    if restore == Restore::Late {
        let cause = "a client does not know when its server has sent the 50 packets after which a group weighs more";
        return Ok(Halves::of_server(cause, server));
    }
    let streams = Tells::that(move |arrival, _, resource: &Resource| {
        (groups.place)((groups.group)(resource), resource, restore, arrival)
    });
    Ok(Halves::new(PlusClient { groups, streams, high: BTreeSet::new() }, server))
}

/// The client half: the streams, and the second group's weight.
struct PlusClient<T> {
    groups: Groups,
    streams: T,
    /// The open requests of the highest group.
    high: BTreeSet<StreamId>,
}

impl<T: ClientHalf> ClientHalf for PlusClient<T> {
    fn setup(&mut self) -> Vec<Signal> {
        self.groups
            .all
            .iter()
            .map(|(group, weight, parent)| depend(*group, *parent, *weight))
            .collect()
    }
    fn request(&mut self, stream: StreamId, resource: &Resource) -> Vec<Signal> {
        let mut signals = Vec::new();
        if (self.groups.group)(resource) == HIGH {
            if self.high.is_empty() {
                signals.push(depend(SECOND, Element::Root, 1));
            }
            self.high.insert(stream);
        }
        signals.extend(self.streams.request(stream, resource));
        signals
    }
    fn closed(&mut self, stream: StreamId) -> Vec<Signal> {
        let mut signals = self.streams.closed(stream);
        if self.high.remove(&stream) && self.high.is_empty() {
            signals.push(depend(SECOND, Element::Root, 256));
        }
        signals
    }
}

/// The server half.
struct Plus {
    groups: Groups,
    high: Foreground,
    arrivals: Arrivals,
}

impl ServerHalf for Plus {
    fn setup(&mut self, tree: &mut Tree) {
        for (group, weight, parent) in self.groups.all {
            tree.put(*group, Place::below(*parent).weight(*weight));
        }
    }
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        let group = (self.groups.group)(resource);
        match group {
            HIGH => self.high.opened(tree, stream),
            SECOND => self.high.second_opened(tree, stream),
            _ => {}
        }
        let arrival = self.arrivals.next();
        let place = (self.groups.place)(group, resource, self.high.restore, arrival);
        tree.put(Element::Stream(stream), place);
    }
    fn sent(&mut self, tree: &mut Tree, stream: StreamId, _bytes: u64) {
        self.high.sent(tree, stream);
    }
    fn closed(&mut self, tree: &mut Tree, stream: StreamId) {
        self.high.closed(tree, stream);
    }
}

/// When the second group's weight is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Restore {
    /// When the last response of the highest group is complete.
    #[default]
    AtOnce,
    /// As in the paper's implementation: half a second later, which is 50 packets there; and a change of weight applies
    /// from the group's next turn on.
    Late,
}

/// The responses of the highest group: while there are any, the second group's weight is 1.
#[derive(Default)]
struct Foreground {
    restore: Restore,
    open: BTreeSet<StreamId>,
    second: BTreeSet<StreamId>,
    countdown: Option<u32>,
    /// A weight that waits for the second group's next turn.
    pending: Option<u16>,
}

impl Foreground {
    fn of(args: &Args) -> Result<Self, SchemeError> {
        let restore = if quicker::is_asked(args)? { Restore::Late } else { Restore::AtOnce };
        Ok(Self { restore, ..Self::default() })
    }
    fn opened(&mut self, tree: &mut Tree, stream: StreamId) {
        let was_empty = self.open.is_empty() && self.countdown.take().is_none();
        self.open.insert(stream);
        if was_empty {
            self.weigh(tree, 1);
        }
    }
    fn second_opened(&mut self, tree: &mut Tree, stream: StreamId) {
        if self.second.is_empty() {
            self.apply(tree);
        }
        self.second.insert(stream);
    }
    fn sent(&mut self, tree: &mut Tree, stream: StreamId) {
        if self.second.contains(&stream) {
            self.apply(tree);
        }
        self.countdown = self.countdown.map(|packets| packets - 1);
        if self.countdown == Some(0) {
            self.countdown = None;
            self.weigh(tree, 256);
        }
    }
    fn closed(&mut self, tree: &mut Tree, stream: StreamId) {
        self.second.remove(&stream);
        if self.open.remove(&stream) && self.open.is_empty() {
            match self.restore {
                Restore::AtOnce => self.weigh(tree, 256),
                Restore::Late => self.countdown = Some(LATE_PACKETS),
            }
        }
    }
    fn weigh(&mut self, tree: &mut Tree, weight: u16) {
        self.pending = Some(weight);
        if self.restore == Restore::AtOnce || self.second.is_empty() {
            self.apply(tree);
        }
    }
    fn apply(&mut self, tree: &mut Tree) {
        if let Some(weight) = self.pending.take() {
            tree.put(SECOND, Place::DEFAULT.weight(weight));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn high_goes_in_sequence_and_the_rest_shares() {
        assert_eq!(sample::order("p+"), "hhhccffiIsiIsiI");
    }
}
