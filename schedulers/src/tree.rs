//! The ranked, weighted dependency tree that every scheme places its streams in.
//!
//! It is HTTP/2's tree (RFC 7540, section 5.3) with one addition, the [`Rank`]. Three rules give the order:
//! 1. a node goes before its children;
//! 2. among siblings the lowest rank goes first, strictly;
//! 3. siblings of equal rank share by weight: next is the one whose packet would *finish* first in
//!    virtual time, and of two that tie the one with the lower ID.
//!
//! Virtual time passes with real bytes: a byte of a node of weight `w` takes `1/w`. It is an integer, so
//! two machines give the same order. A node that joins its siblings late starts at their present time,
//! without credit for the time before. A node without anything to send is transparent: its turn is its
//! children's. Every operation costs O(depth x log siblings); `put` with `exclusive` and `remove` also
//! pay for each node that they move.

use crate::{Element, StreamId};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes by which one looks ahead to tell whose packet would finish first: a packet of the paper.
const PACKET_BYTES: u64 = 1400;

/// Virtual time of one byte at weight 1. It makes the rounding of `1/w` less than a millionth.
const BYTE_AT_WEIGHT_ONE: u128 = 1 << 28;

/// The place of a node among its siblings when they do not share: the lowest goes first, strictly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Rank {
    level: u16,
    order: u64,
}

impl Rank {
    /// The rank of those that simply share.
    pub const EQUAL: Self = Self { level: 0, order: 0 };

    /// Those of one level share; a lower level goes first.
    pub const fn level(level: u16) -> Self {
        Self { level, order: 0 }
    }

    /// One after another, the lowest `order` first.
    pub const fn sequence(order: u64) -> Self {
        Self { level: 0, order }
    }

    /// One after another within a level.
    pub const fn sequence_in(level: u16, order: u64) -> Self {
        Self { level, order }
    }
}

/// Where a node is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    parent: Element,
    rank: Rank,
    weight: u16,
    exclusive: bool,
}

impl Place {
    /// The default of HTTP/2: below the root, weight 16 (RFC 7540, section 5.3.5).
    pub const DEFAULT: Self = Self::below(Element::Root);

    /// Below `parent`, weight 16, sharing with all other children of rank [`Rank::EQUAL`].
    pub const fn below(parent: Element) -> Self {
        Self { parent, rank: Rank::EQUAL, weight: 16, exclusive: false }
    }

    /// The same place at another rank.
    #[must_use]
    pub const fn rank(self, rank: Rank) -> Self {
        Self { rank, ..self }
    }

    /// The same place with another weight: 1 to 256, what lies outside is brought inside.
    #[must_use]
    pub const fn weight(self, weight: u16) -> Self {
        let weight = match weight {
            0 => 1,
            257.. => 256,
            inside => inside,
        };
        Self { weight, ..self }
    }

    /// The same place with all other children of the parent moved below the node (RFC 7540, section 5.3.1).
    #[must_use]
    pub const fn exclusive(self, exclusive: bool) -> Self {
        Self { exclusive, ..self }
    }
}

#[derive(Debug, Clone)]
struct Node {
    parent: Element,
    rank: Rank,
    weight: u16,
    /// It has bytes and they may go. Only a stream ever is.
    ready: bool,
    /// It waits among its siblings, since it or a node below it is ready.
    waiting: bool,
    /// Virtual time at which its next packet starts.
    start: u128,
    children: BTreeSet<Element>,
    /// The children by rank.
    groups: BTreeMap<Rank, Group>,
    /// The ranks at which a child waits.
    busy: BTreeSet<Rank>,
}

/// Siblings of one rank.
#[derive(Debug, Clone, Default)]
struct Group {
    /// Children that wait, by the virtual time at which their next packet would finish.
    waiting: BTreeSet<(u128, Element)>,
    /// All children of this rank, waiting or not. The group, and with it its clock, goes with the last.
    members: usize,
    /// Present virtual time. It never goes back.
    now: u128,
}

impl Node {
    fn new(place: &Place) -> Self {
        Self {
            parent: place.parent,
            rank: place.rank,
            weight: place.weight,
            ready: false,
            waiting: false,
            start: 0,
            children: BTreeSet::new(),
            groups: BTreeMap::new(),
            busy: BTreeSet::new(),
        }
    }

    fn is_active(&self) -> bool {
        self.ready || !self.busy.is_empty()
    }

    /// Virtual time at which its next packet would finish.
    fn finish(&self) -> u128 {
        self.start.saturating_add(duration(PACKET_BYTES, self.weight))
    }
}

/// Virtual time that `bytes` take at `weight`.
fn duration(bytes: u64, weight: u16) -> u128 {
    u128::from(bytes) * BYTE_AT_WEIGHT_ONE / u128::from(weight)
}

/// The tree of one connection. Total: any call in any order has a meaning.
#[derive(Debug, Clone)]
pub struct Tree {
    nodes: BTreeMap<Element, Node>,
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    /// A tree of nothing but its root.
    pub fn new() -> Self {
        Self { nodes: BTreeMap::from([(Element::Root, Node::new(&Place::DEFAULT))]) }
    }

    /// Whether `element` is in the tree.
    pub fn contains(&self, element: Element) -> bool {
        self.nodes.contains_key(&element)
    }

    /// The placeholders that the tree has.
    pub fn placeholders(&self) -> usize {
        self.nodes.range(Element::Placeholder(0)..=Element::Placeholder(u64::MAX)).count()
    }

    /// Puts `element` in its place, or moves it there with all that is below it.
    ///
    /// A parent that is not in the tree, or that is the element itself, stands for the root. A parent below
    /// the element first takes the element's present place (RFC 7540, section 5.3.3). In a new place the
    /// element starts level with its siblings; with only a new weight it keeps its turn.
    pub fn put(&mut self, element: Element, place: Place) {
        if element == Element::Root {
            return;
        }
        let known_parent = place.parent != element && self.contains(place.parent);
        let place = if known_parent { place } else { Place { parent: Element::Root, ..place } };
        match self.nodes.get(&element) {
            None => {
                self.nodes.insert(element, Node::new(&place));
                self.attach(element, place);
            }
            Some(node) if node.parent == place.parent && node.rank == place.rank => {
                self.reweigh(element, place.weight);
            }
            Some(node) => {
                let present = node.parent;
                if self.is_below(place.parent, element) {
                    self.detach(place.parent);
                    self.attach_below(place.parent, present);
                }
                self.detach(element);
                self.attach(element, place);
            }
        }
        if place.exclusive {
            self.adopt_siblings(element, place.parent);
        }
    }

    /// Takes `element` out. Its children take its rank and share its weight in proportion to their own
    /// (RFC 7540, section 5.3.4).
    pub fn remove(&mut self, element: Element) {
        if element == Element::Root || !self.contains(element) {
            return;
        }
        self.set_ready(element, false);
        let node = &self.nodes[&element];
        let (parent, rank, weight) = (node.parent, node.rank, u32::from(node.weight));
        let children: Vec<Element> = node.children.iter().copied().collect();
        let weights: u32 = children.iter().map(|child| u32::from(self.nodes[child].weight)).sum();
        for child in children {
            let share = u32::from(self.nodes[&child].weight) * weight / weights;
            let share = u16::try_from(share).unwrap_or(u16::MAX);
            self.detach(child);
            self.attach(child, Place::below(parent).rank(rank).weight(share));
        }
        self.detach(element);
        self.nodes.remove(&element);
    }

    /// Whether `element` has bytes that may go. An element that is not in the tree stays out of it.
    pub fn set_ready(&mut self, element: Element, ready: bool) {
        let Some(node) = self.nodes.get_mut(&element) else { return };
        node.ready = ready;
        if ready {
            self.activate(element);
        } else {
            self.deactivate(element);
        }
    }

    /// The stream whose turn it is; changes nothing.
    pub fn pick(&self) -> Option<StreamId> {
        let mut element = Element::Root;
        loop {
            let node = self.nodes.get(&element)?;
            if let (true, Element::Stream(stream)) = (node.ready, element) {
                return Some(stream);
            }
            let group = node.groups.get(node.busy.first()?)?;
            element = group.waiting.first()?.1;
        }
    }

    /// Charges `bytes` to `element` and to every node above it.
    pub fn charge(&mut self, element: Element, bytes: u64) {
        let mut element = element;
        while element != Element::Root {
            let Some(node) = self.nodes.get_mut(&element) else { return };
            let before = node.finish();
            node.start = node.start.saturating_add(duration(bytes, node.weight));
            let (start, after, waiting, rank) =
                (node.start, node.finish(), node.waiting, node.rank);
            let parent = node.parent;
            let Some(group) = self.group(parent, rank) else { return };
            if waiting && after != before {
                // In this order, so that a set of one keeps its allocation.
                group.waiting.insert((after, element));
                group.waiting.remove(&(before, element));
            }
            // Time does not pass the next turn, even if somebody sent out of turn or a lot at once.
            let next = group.waiting.first().map_or(start, |(finish, _)| *finish);
            group.now = group.now.max(start.min(next));
            element = parent;
        }
    }

    fn group(&mut self, parent: Element, rank: Rank) -> Option<&mut Group> {
        self.nodes.get_mut(&parent)?.groups.get_mut(&rank)
    }

    /// Whether `element` is somewhere below `ancestor`.
    fn is_below(&self, element: Element, ancestor: Element) -> bool {
        let mut element = element;
        while element != Element::Root {
            element = self.nodes[&element].parent;
            if element == ancestor {
                return true;
            }
        }
        false
    }

    /// Lets a node that became active, and those above it, wait for their turns.
    fn activate(&mut self, element: Element) {
        let mut element = element;
        while element != Element::Root {
            let Some(node) = self.nodes.get(&element) else { return };
            if node.waiting || !node.is_active() {
                return;
            }
            let (parent, rank, start) = (node.parent, node.rank, node.start);
            let Some(above) = self.nodes.get_mut(&parent) else { return };
            let group = above.groups.entry(rank).or_default();
            let start = start.max(group.now);
            if group.waiting.is_empty() {
                above.busy.insert(rank);
            }
            let Some(node) = self.nodes.get_mut(&element) else { return };
            node.start = start;
            node.waiting = true;
            let finish = node.finish();
            if let Some(group) = self.group(parent, rank) {
                group.waiting.insert((finish, element));
            }
            element = parent;
        }
    }

    /// Lets a node that is no longer active, and those above it that are not for that, wait no longer.
    fn deactivate(&mut self, element: Element) {
        let mut element = element;
        while element != Element::Root {
            let Some(node) = self.nodes.get(&element) else { return };
            if !node.waiting || node.is_active() {
                return;
            }
            let parent = node.parent;
            self.dequeue(element);
            element = parent;
        }
    }

    /// Takes a node from those that wait at its parent.
    fn dequeue(&mut self, element: Element) {
        let Some(node) = self.nodes.get_mut(&element) else { return };
        node.waiting = false;
        let (parent, rank, finish) = (node.parent, node.rank, node.finish());
        let Some(above) = self.nodes.get_mut(&parent) else { return };
        let Some(group) = above.groups.get_mut(&rank) else { return };
        group.waiting.remove(&(finish, element));
        if group.waiting.is_empty() {
            above.busy.remove(&rank);
        }
    }

    /// Links a node that is linked nowhere.
    fn attach(&mut self, element: Element, place: Place) {
        let Some(above) = self.nodes.get_mut(&place.parent) else { return };
        above.children.insert(element);
        let group = above.groups.entry(place.rank).or_default();
        group.members += 1;
        let now = group.now;
        let Some(node) = self.nodes.get_mut(&element) else { return };
        node.parent = place.parent;
        node.rank = place.rank;
        node.weight = place.weight;
        node.start = now;
        self.activate(element);
    }

    /// Links a node that is linked nowhere below `parent`, with its own rank and weight.
    fn attach_below(&mut self, element: Element, parent: Element) {
        let node = &self.nodes[&element];
        let place = Place { parent, rank: node.rank, weight: node.weight, exclusive: false };
        self.attach(element, place);
    }

    /// Unlinks a node from its parent; it keeps what is below it.
    fn detach(&mut self, element: Element) {
        let node = &self.nodes[&element];
        let (parent, rank, waiting) = (node.parent, node.rank, node.waiting);
        if waiting {
            self.dequeue(element);
            self.deactivate(parent);
        }
        let Some(above) = self.nodes.get_mut(&parent) else { return };
        above.children.remove(&element);
        let Some(group) = above.groups.get_mut(&rank) else { return };
        group.members -= 1;
        if group.members == 0 {
            above.groups.remove(&rank);
        }
    }

    /// Gives a node a new weight. What it is ahead or behind stays the same number of bytes.
    fn reweigh(&mut self, element: Element, weight: u16) {
        let node = &self.nodes[&element];
        if node.weight == weight {
            return;
        }
        let (parent, rank, waiting) = (node.parent, node.rank, node.waiting);
        let Some(now) = self.group(parent, rank).map(|group| group.now) else { return };
        if waiting {
            self.dequeue(element);
        }
        let Some(node) = self.nodes.get_mut(&element) else { return };
        let scaled = |time: u128| time.saturating_mul(u128::from(node.weight)) / u128::from(weight);
        node.start = if node.start >= now {
            now.saturating_add(scaled(node.start - now))
        } else {
            now.saturating_sub(scaled(now - node.start))
        };
        node.weight = weight;
        let start = node.start;
        if waiting {
            self.activate(element);
            // `activate` starts an idle node at the present; this one was not idle.
            self.restart(element, start);
        }
    }

    /// Sets the start of a node that waits.
    fn restart(&mut self, element: Element, start: u128) {
        let Some(node) = self.nodes.get_mut(&element) else { return };
        let before = node.finish();
        node.start = start;
        let (after, parent, rank) = (node.finish(), node.parent, node.rank);
        if let Some(group) = self.group(parent, rank) {
            group.waiting.remove(&(before, element));
            group.waiting.insert((after, element));
        }
    }

    /// Moves all other children of `parent` below `element`.
    fn adopt_siblings(&mut self, element: Element, parent: Element) {
        let siblings: Vec<Element> = match self.nodes.get(&parent) {
            Some(node) => node.children.iter().copied().filter(|child| *child != element).collect(),
            None => return,
        };
        for sibling in siblings {
            self.detach(sibling);
            self.attach_below(sibling, element);
        }
    }
}
