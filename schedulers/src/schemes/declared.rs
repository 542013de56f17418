//! Schemes as data: groups, and rules that place a response by the facts about it.
//!
//! A file contains the rules (crate `scheme-files`); this module applies them. The first matching rule gives a resource
//! its place. Clients' signals follow from the places ([`Language::Tree`]), or each rule has its own signal
//! ([`ClientSignal`]), by which an obeying server finds the rule again.

use super::dependencies::Obeying;
use super::halves::{Arrivals, Silent, Tells, Word, depend};
use crate::{
    ClientHalf, Element, Fact, Halves, Kind, Language, Place, Rank, Resource, ServerHalf, Signal,
    StreamId, Tree,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A scheme as data.
#[derive(Debug, Clone)]
pub struct Declared {
    groups: Vec<Group>,
    /// The last one matches any resource.
    rules: Vec<Rule>,
    language: Language,
    /// Whether all children of the root have one clock ([`Tree::keep_common_time`]).
    common_time: bool,
}

/// A placeholder. Its index in the list is its ID.
#[derive(Debug, Clone)]
pub struct Group {
    /// Its name in figures and traces.
    pub name: String,
    /// Its parent: the root, or another group.
    pub parent: Element,
    /// Its rank among its siblings: the lowest goes first, equal ones share.
    pub level: u16,
    /// Its weight among its siblings of equal rank.
    pub weight: u16,
    /// A different weight, while a response is open directly in another group.
    pub weight_while: Option<(Element, u16)>,
}

/// A place for the responses that match a condition.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Any of these conditions; an empty list matches every resource.
    pub when: Vec<Condition>,
    /// The parent: the root, or a group.
    pub parent: Element,
    /// The rank among siblings: the lowest goes first.
    pub level: u16,
    /// The weight among siblings that share.
    pub weight: u16,
    /// The order of responses with the same parent and rank.
    pub order: Order,
    /// The client's signal for a response of this rule, instead of its dependencies.
    pub says: Option<ClientSignal>,
}

/// The order of responses with the same parent and rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// They share by weight.
    #[default]
    Shared,
    /// One after another, in the order of their requests.
    ByRequest,
    /// One after another, the newest first.
    Newest,
    /// One after another, the lowest stream ID first.
    ByStream,
}

/// The client's signal for one response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientSignal {
    /// Meenan's byte.
    Bucket(u8),
    /// Urgency, and whether it is incremental (RFC 9218).
    Priority(u8, bool),
    /// A weight in a frame of the dependency tree, below the root.
    Weight(u16),
}

impl ClientSignal {
    /// The signal for `stream`.
    pub fn signal_about(self, stream: StreamId) -> Signal {
        self.signal(stream)
    }

    /// The stream and the content of a signal; `None` for a signal about another node.
    pub fn of_signal(signal: Signal) -> Option<(StreamId, Self)> {
        Self::of(signal)
    }
}

impl Word for ClientSignal {
    fn signal(self, stream: StreamId) -> Signal {
        match self {
            Self::Bucket(byte) => byte.signal(stream),
            Self::Priority(urgency, incremental) => (urgency, incremental).signal(stream),
            Self::Weight(weight) => weight.signal(stream),
        }
    }
    fn of(signal: Signal) -> Option<(StreamId, Self)> {
        match signal {
            Signal::Bucket { stream, byte } => Some((stream, Self::Bucket(byte))),
            Signal::Extensible { stream, urgency, incremental } => {
                Some((stream, Self::Priority(urgency, incremental)))
            }
            Signal::Depend { .. } => {
                u16::of(signal).map(|(stream, weight)| (stream, Self::Weight(weight)))
            }
        }
    }
}

/// A condition on a resource: all of its parts must be true.
#[derive(Debug, Clone, Default)]
pub struct Condition {
    /// One of these kinds; any kind if the list is empty.
    pub kinds: Vec<Kind>,
    /// Facts, and whether each must hold.
    pub facts: Vec<(&'static Fact, bool)>,
    /// A body of at least this many bytes. An unknown length satisfies neither limit.
    pub bytes_from: Option<u64>,
    /// A body of fewer bytes.
    pub bytes_below: Option<u64>,
}

impl Condition {
    /// Whether it holds for `resource`.
    pub fn holds(&self, resource: &Resource) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&resource.kind))
            && self.facts.iter().all(|(fact, wanted)| fact.get(resource) == *wanted)
            && self.bytes_from.is_none_or(|least| resource.body_bytes.is_some_and(|it| it >= least))
            && self.bytes_below.is_none_or(|end| resource.body_bytes.is_some_and(|it| it < end))
    }
}

impl Rule {
    /// The default of HTTP/2, for any resource.
    pub const DEFAULT: Self = Self {
        when: Vec::new(),
        parent: Element::Root,
        level: 0,
        weight: 16,
        order: Order::Shared,
        says: None,
    };

    fn holds(&self, resource: &Resource) -> bool {
        self.when.is_empty() || self.when.iter().any(|it| it.holds(resource))
    }

    /// The place of the response on `stream`, whose request was the `arrival`th to arrive.
    fn place(&self, arrival: u64, stream: StreamId) -> Place {
        let rank = match self.order {
            Order::Shared => Rank::level(self.level),
            Order::ByRequest => Rank::sequence_in(self.level, arrival),
            Order::Newest => Rank::sequence_in(self.level, u64::MAX - arrival),
            // Not 0, the rank of sharing responses.
            Order::ByStream => Rank::sequence_in(self.level, stream.0.saturating_add(1)),
        };
        Place::below(self.parent).rank(rank).weight(self.weight)
    }
}

impl Group {
    fn place(&self, weight: u16) -> Place {
        Place::below(self.parent).rank(Rank::level(self.level)).weight(weight)
    }
}

impl Declared {
    /// Groups, parents before their children, and rules, of which the first match counts. Any other resource gets
    /// [`Rule::DEFAULT`].
    pub fn new(groups: Vec<Group>, mut rules: Vec<Rule>, language: Language) -> Self {
        rules.push(Rule::DEFAULT);
        Self { groups, rules, language, common_time: false }
    }

    /// The same with one clock for all children of the root.
    #[must_use]
    pub fn with_common_time(self) -> Self {
        Self { common_time: true, ..self }
    }

    /// The groups. The ID of each is its index.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Puts the groups into a tree.
    pub fn set_up(&self, tree: &mut Tree) {
        if self.common_time {
            tree.keep_common_time(Element::Root);
        }
        for (id, group) in (0..).zip(&self.groups) {
            tree.put(Element::Placeholder(id), group.place(group.weight));
        }
    }

    /// Both halves, for one connection.
    pub fn halves(self: &Arc<Self>) -> Halves {
        let server = Placing::of(self);
        let has_words = self.rules.iter().any(|it| it.says.is_some());
        match self.language {
            Language::None => Halves::of_server("its file says that clients do not", server),
            Language::Silence => Halves::new(Silent, server),
            _ if has_words => Halves::new(Saying(Arc::clone(self)), server),
            _ => Halves::new(Depending::of(self), Obeying::or(server)),
        }
    }

    fn rule(&self, resource: &Resource) -> usize {
        self.rules.iter().position(|it| it.holds(resource)).unwrap_or(self.rules.len() - 1)
    }

    /// Whether a later request can go before an earlier one below the same parent.
    fn inserts(&self) -> bool {
        let in_line = self.rules.iter().filter(|it| it.order != Order::Shared);
        in_line.clone().any(|rule| {
            let mut others = in_line.clone().filter(|other| other.parent == rule.parent);
            rule.order != Order::ByRequest || others.any(|other| other.level != rule.level)
        })
    }
}

/// The open responses of groups on which another group's weight depends.
#[derive(Default)]
struct Watch {
    group_of: BTreeMap<StreamId, Element>,
    open: BTreeMap<Element, usize>,
}

impl Watch {
    /// `stream` opens in `group`, or closes. Returns the IDs of the groups whose weight changes, with their new weights.
    fn note(
        &mut self,
        scheme: &Declared,
        stream: StreamId,
        group: Option<Element>,
    ) -> Vec<(usize, u16)> {
        let to = group.filter(|group| {
            scheme.groups.iter().any(|by| by.weight_while.is_some_and(|(on, _)| on == *group))
        });
        let from = match to {
            Some(to) => self.group_of.insert(stream, to),
            None => self.group_of.remove(&stream),
        };
        if from == to {
            return Vec::new();
        }
        let mut changed = Vec::new();
        for (group, step) in [(from, -1), (to, 1)] {
            let Some(group) = group else { continue };
            let open = self.open.entry(group).or_default();
            let was_empty = *open == 0;
            *open = open.saturating_add_signed(step);
            if was_empty != (*open == 0) {
                changed.extend(reweighed(scheme, group, !was_empty));
            }
        }
        changed
    }
}

/// The groups whose weight depends on `group`, by ID, and their weights.
fn reweighed(
    scheme: &Declared,
    group: Element,
    is_empty: bool,
) -> impl Iterator<Item = (usize, u16)> {
    scheme.groups.iter().enumerate().filter_map(move |(id, declared)| {
        let (on, weight) = declared.weight_while?;
        (on == group).then_some((id, if is_empty { declared.weight } else { weight }))
    })
}

/// The server half.
struct Placing {
    scheme: Arc<Declared>,
    arrivals: Arrivals,
    watch: Watch,
}

impl Placing {
    fn of(scheme: &Arc<Declared>) -> Self {
        let scheme = Arc::clone(scheme);
        Self { scheme, arrivals: Arrivals::default(), watch: Watch::default() }
    }

    fn put(&mut self, tree: &mut Tree, stream: StreamId, rule: usize) {
        let parent = self.scheme.rules[rule].parent;
        self.weigh(tree, stream, Some(parent));
        let place = self.scheme.rules[rule].place(self.arrivals.next(), stream);
        tree.put(Element::Stream(stream), place);
    }

    fn weigh(&mut self, tree: &mut Tree, stream: StreamId, group: Option<Element>) {
        for (id, weight) in self.watch.note(&self.scheme, stream, group) {
            tree.put(Element::Placeholder(id as u64), self.scheme.groups[id].place(weight));
        }
    }
}

impl ServerHalf for Placing {
    fn setup(&mut self, tree: &mut Tree) {
        self.scheme.set_up(tree);
    }
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        let rule = self.scheme.rule(resource);
        self.put(tree, stream, rule);
    }
    fn signalled(&mut self, tree: &mut Tree, signal: Signal) {
        let Some((stream, said)) = ClientSignal::of(signal) else { return };
        if let Some(rule) = self.scheme.rules.iter().position(|rule| rule.says == Some(said)) {
            self.put(tree, stream, rule);
        }
    }
    fn closed(&mut self, tree: &mut Tree, stream: StreamId) {
        self.weigh(tree, stream, None);
    }
}

/// A client that sends each rule's signal.
struct Saying(Arc<Declared>);

impl ClientHalf for Saying {
    fn request(&mut self, stream: StreamId, resource: &Resource) -> Vec<Signal> {
        let says = self.0.rules[self.0.rule(resource)].says;
        says.map(|it| it.signal(stream)).into_iter().collect()
    }
}

/// A client that creates the groups, and signals the place that a server would give each response.
struct Depending {
    scheme: Arc<Declared>,
    streams: Box<dyn ClientHalf>,
    watch: Watch,
}

impl Depending {
    fn of(scheme: &Arc<Declared>) -> Self {
        let rules = Arc::clone(scheme);
        let place = move |arrival, stream, resource: &Resource| {
            rules.rules[rules.rule(resource)].place(arrival, stream)
        };
        let streams: Box<dyn ClientHalf> = if scheme.inserts() {
            Box::new(Tells::inserted(place))
        } else {
            Box::new(Tells::that(place))
        };
        Self { scheme: Arc::clone(scheme), streams, watch: Watch::default() }
    }

    fn weigh(&mut self, stream: StreamId, group: Option<Element>) -> Vec<Signal> {
        let changed = self.watch.note(&self.scheme, stream, group).into_iter();
        changed
            .map(|(id, weight)| {
                let parent = self.scheme.groups[id].parent;
                depend(Element::Placeholder(id as u64), parent, weight)
            })
            .collect()
    }
}

impl ClientHalf for Depending {
    fn setup(&mut self) -> Vec<Signal> {
        let groups = (0..).zip(&self.scheme.groups);
        groups.map(|(id, it)| depend(Element::Placeholder(id), it.parent, it.weight)).collect()
    }
    fn request(&mut self, stream: StreamId, resource: &Resource) -> Vec<Signal> {
        let parent = self.scheme.rules[self.scheme.rule(resource)].parent;
        let mut signals = self.weigh(stream, Some(parent));
        signals.extend(self.streams.request(stream, resource));
        signals
    }
    fn closed(&mut self, stream: StreamId) -> Vec<Signal> {
        let mut signals = self.streams.closed(stream);
        signals.extend(self.weigh(stream, None));
        signals
    }
}
