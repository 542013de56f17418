//! Obeys a client's dependencies, for schemes in which a stream depends on another stream.
//!
//! A client may name streams that the server has not seen, because signals can overtake requests, and streams that the
//! server has completed, because their last bytes are in flight. So a stream is in the tree from its first signal on, and
//! the place of a closed stream is stored for those that still depend on it (RFC 7540, section 5.3.4).

use crate::limits::{CLOSED_NODES_MAX, IDLE_NODES_MAX};
use crate::scheme::obey;
use crate::{Element, Resource, ServerHalf, Signal, StreamId, Tree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The streams that signals name before they open or after they close.
#[derive(Default)]
pub(super) struct Named {
    /// In the tree, but not open.
    idle: BTreeSet<StreamId>,
    /// The parent of each closed stream when it closed.
    closed: BTreeMap<StreamId, Element>,
    /// The same, the earliest first.
    closed_in_order: VecDeque<StreamId>,
}

impl Named {
    /// A stream opens; returns whether a signal has placed it already.
    pub(super) fn opened(&mut self, stream: StreamId) -> bool {
        self.closed.remove(&stream);
        self.idle.remove(&stream)
    }

    /// Whether a signal may add `stream` to the tree ahead of its request. If so, it counts as idle from now on.
    pub(super) fn awaits(&mut self, stream: StreamId) -> bool {
        if self.closed.contains_key(&stream) || self.idle.len() >= IDLE_NODES_MAX {
            return false;
        }
        self.idle.insert(stream)
    }

    pub(super) fn closed(&mut self, tree: &Tree, stream: StreamId) {
        let parent = tree.parent(Element::Stream(stream)).unwrap_or(Element::Root);
        if self.closed.insert(stream, parent).is_none() {
            self.closed_in_order.push_back(stream);
        }
        if self.closed_in_order.len() > CLOSED_NODES_MAX
            && let Some(earliest) = self.closed_in_order.pop_front()
        {
            self.closed.remove(&earliest);
        }
    }

    /// The node that now represents `element`. `None`: it was never in the tree, or too long ago.
    fn standing_for(&self, tree: &Tree, mut element: Element) -> Option<Element> {
        while !tree.contains(element) {
            element = *self.closed.get(&element.stream()?)?;
        }
        Some(element)
    }
}

/// A server half that a client's dependencies overrule.
pub(super) struct Obeying<S> {
    /// Places responses that the client has not signalled.
    otherwise: S,
    named: Named,
}

impl<S: ServerHalf> Obeying<S> {
    pub(super) fn or(otherwise: S) -> Self {
        Self { otherwise, named: Named::default() }
    }
}

impl<S: ServerHalf> ServerHalf for Obeying<S> {
    fn setup(&mut self, tree: &mut Tree) {
        self.otherwise.setup(tree);
    }
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        if !self.named.opened(stream) {
            self.otherwise.opened(tree, stream, resource);
        }
    }
    fn signalled(&mut self, tree: &mut Tree, signal: Signal) {
        let Signal::Depend { element, parent, weight, exclusive } = signal else { return };
        if let Element::Stream(stream) = element
            && !tree.contains(element)
            && !self.named.awaits(stream)
        {
            return;
        }
        // A dependency on an unknown stream does not move other streams (RFC 7540, section 5.3.1).
        let known = self.named.standing_for(tree, parent);
        let (parent, exclusive) = known.map_or((Element::Root, false), |it| (it, exclusive));
        obey(tree, Signal::Depend { element, parent, weight, exclusive });
    }
    fn hears_early(&self) -> bool {
        true
    }
    fn sent(&mut self, tree: &mut Tree, stream: StreamId, bytes: u64) {
        self.otherwise.sent(tree, stream, bytes);
    }
    fn closed(&mut self, tree: &mut Tree, stream: StreamId) {
        self.named.closed(tree, stream);
        self.otherwise.closed(tree, stream);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Element, Kind, Resource, Scheduler, Signal, StreamId, find_scheme};

    const FIRST: StreamId = StreamId(0);
    const SECOND: StreamId = StreamId(4);
    const THIRD: StreamId = StreamId(8);

    /// `stream` goes directly after `parent`, before everything that came after it.
    fn after(stream: StreamId, parent: Element) -> Signal {
        let element = Element::Stream(stream);
        Signal::Depend { element, parent, weight: 16, exclusive: true }
    }

    fn dfifo() -> Scheduler {
        Scheduler::new(&find_scheme("dfifo").unwrap())
    }

    fn open(scheduler: &mut Scheduler, stream: StreamId) {
        scheduler.open(stream, &Resource::default());
        scheduler.set_ready(stream, true);
    }

    #[test]
    fn signals_that_overtake_their_requests_keep_their_order() {
        let mut scheduler = dfifo();
        scheduler.signal(after(FIRST, Element::Root));
        scheduler.signal(after(SECOND, Element::Stream(FIRST)));
        scheduler.signal(after(THIRD, Element::Stream(FIRST)));
        for stream in [THIRD, SECOND, FIRST] {
            open(&mut scheduler, stream);
            assert_eq!(scheduler.pick(), Some(if stream == SECOND { THIRD } else { stream }));
        }
    }

    #[test]
    fn a_dependency_on_a_finished_response_stands_where_that_was() {
        let mut scheduler = dfifo();
        open(&mut scheduler, FIRST);
        scheduler.signal(after(FIRST, Element::Root));
        open(&mut scheduler, SECOND);
        scheduler.signal(after(SECOND, Element::Stream(FIRST)));
        scheduler.close(SECOND);
        open(&mut scheduler, THIRD);
        scheduler.signal(after(THIRD, Element::Stream(SECOND)));
        assert_eq!(scheduler.pick(), Some(FIRST));
    }

    #[test]
    fn a_dependency_on_a_stream_that_nobody_knows_moves_nobody() {
        let mut scheduler = dfifo();
        open(&mut scheduler, FIRST);
        scheduler.signal(after(FIRST, Element::Root));
        open(&mut scheduler, SECOND);
        scheduler.signal(after(SECOND, Element::Stream(StreamId(400))));
        let share = [FIRST, SECOND].map(|stream| {
            let picked = scheduler.pick();
            scheduler.sent(stream, 1400);
            picked
        });
        assert_eq!(share, [Some(FIRST), Some(SECOND)]);
    }

    #[test]
    fn responses_of_which_the_client_says_nothing_are_placed_by_what_the_server_knows() {
        let mut scheduler = dfifo();
        for (stream, kind) in [(FIRST, Kind::Image), (SECOND, Kind::Css)] {
            scheduler.open(stream, &Resource { kind, ..Resource::default() });
            scheduler.set_ready(stream, true);
        }
        assert_eq!(scheduler.pick(), Some(SECOND));
    }
}
