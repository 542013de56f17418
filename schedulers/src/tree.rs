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
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Bytes by which one looks ahead to tell whose packet would finish first: a packet of the paper.
const PACKET_BYTES: u64 = 1400;

/// Virtual time of one byte at weight 1. It makes the rounding of `1/w` less than a millionth.
const BYTE_AT_WEIGHT_ONE: u128 = 1 << 28;

/// The largest weight.
const MAX_WEIGHT: u16 = 256;

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
        let weight = if weight == 0 { 1 } else { weight };
        let weight = if weight > MAX_WEIGHT { MAX_WEIGHT } else { weight };
        Self { weight, ..self }
    }

    /// The same place with all other children of the parent moved below the node (RFC 7540, section 5.3.1).
    #[must_use]
    pub const fn exclusive(self, exclusive: bool) -> Self {
        Self { exclusive, ..self }
    }
}

/// Index of a node in [`Tree::nodes`].
type Key = usize;

const ROOT: Key = 0;

#[derive(Debug, Clone)]
struct Node {
    element: Element,
    parent: Key,
    rank: Rank,
    weight: u16,
    /// It has bytes and they may go. Only a stream ever is.
    ready: bool,
    /// It waits among its siblings, since it or a node below it is ready.
    waiting: bool,
    /// Virtual time at which its next packet starts.
    start: u128,
    children: BTreeSet<Key>,
    /// The children by rank.
    groups: BTreeMap<Rank, Group>,
    /// The ranks at which a child waits.
    busy: BTreeSet<Rank>,
    /// The present of all its children, where each starts at that of whoever sent last.
    common_now: Option<u128>,
}

/// Siblings of one rank.
#[derive(Debug, Clone, Default)]
struct Group {
    /// Children that wait, by the virtual time at which their next packet would finish.
    waiting: BTreeMap<(u128, Element), Key>,
    /// All children of this rank, waiting or not. The group, and with it its clock, goes with the last.
    members: usize,
    /// Present virtual time. It never goes back.
    now: u128,
}

impl Node {
    fn new(element: Element) -> Self {
        Self {
            element,
            parent: ROOT,
            rank: Rank::EQUAL,
            weight: 16,
            ready: false,
            waiting: false,
            start: 0,
            children: BTreeSet::new(),
            groups: BTreeMap::new(),
            busy: BTreeSet::new(),
            common_now: None,
        }
    }

    fn is_active(&self) -> bool {
        self.ready || !self.busy.is_empty()
    }

    /// The node's turn: the virtual time at which its next packet would finish, and its name for ties.
    fn turn(&self) -> (u128, Element) {
        (self.start.saturating_add(duration(PACKET_BYTES, self.weight)), self.element)
    }
}

/// Virtual time that `bytes` take at `weight`.
fn duration(bytes: u64, weight: u16) -> u128 {
    u128::from(bytes) * BYTE_AT_WEIGHT_ONE / u128::from(weight)
}

/// The tree of one connection. Total: any call in any order has a meaning.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The root first, then the others where there was room.
    nodes: Vec<Node>,
    /// Only looked into, never walked through, so that no order depends on hashes.
    keys: HashMap<Element, Key>,
    placeholders: usize,
    free: Vec<Key>,
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    /// A tree of nothing but its root.
    pub fn new() -> Self {
        Self {
            nodes: vec![Node::new(Element::Root)],
            keys: HashMap::from([(Element::Root, ROOT)]),
            placeholders: 0,
            free: Vec::new(),
        }
    }

    /// Whether `element` is in the tree.
    pub fn contains(&self, element: Element) -> bool {
        self.keys.contains_key(&element)
    }

    /// The placeholders that the tree has.
    pub fn placeholders(&self) -> usize {
        self.placeholders
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
        let parent = match self.keys.get(&place.parent) {
            Some(parent) if place.parent != element => *parent,
            _ => ROOT,
        };
        let key = match self.keys.get(&element) {
            None => {
                let key = self.insert(element);
                self.attach(key, parent, place.rank, place.weight);
                key
            }
            Some(&key) => {
                self.move_to(key, parent, place);
                key
            }
        };
        if place.exclusive {
            self.adopt_siblings(key, parent);
        }
    }

    /// Gives all children of `element` one virtual time, whatever their ranks.
    ///
    /// Without it each rank has its own, which rests while lower ranks send. With it the present is that of
    /// whoever sent last, so that of two who wait behind lower ranks the one who came first is ahead. To be
    /// called before the element has children.
    pub fn keep_common_time(&mut self, element: Element) {
        if let Some(&key) = self.keys.get(&element) {
            self.nodes[key].common_now = Some(0);
        }
    }

    /// Takes `element` out. Its children take its rank and share its weight in proportion to their own
    /// (RFC 7540, section 5.3.4).
    pub fn remove(&mut self, element: Element) {
        if element == Element::Root || !self.contains(element) {
            return;
        }
        self.set_ready(element, false);
        let key = self.keys[&element];
        let Node { parent, rank, weight, .. } = self.nodes[key];
        let children: Vec<Key> = self.nodes[key].children.iter().copied().collect();
        let weights: u32 = children.iter().map(|child| u32::from(self.nodes[*child].weight)).sum();
        for child in children {
            let share = u32::from(self.nodes[child].weight) * u32::from(weight) / weights;
            self.detach(child);
            self.attach(child, parent, rank, u16::try_from(share.max(1)).unwrap_or(MAX_WEIGHT));
        }
        self.detach(key);
        self.keys.remove(&element);
        self.placeholders -= usize::from(matches!(element, Element::Placeholder(_)));
        self.free.push(key);
    }

    /// Whether `element` has bytes that may go. An element that is not in the tree stays out of it.
    pub fn set_ready(&mut self, element: Element, ready: bool) {
        let Some(&key) = self.keys.get(&element) else { return };
        self.nodes[key].ready = ready && matches!(element, Element::Stream(_));
        if self.nodes[key].ready {
            self.activate(key);
        } else {
            self.deactivate(key);
        }
    }

    /// The stream whose turn it is; changes nothing.
    pub fn pick(&self) -> Option<StreamId> {
        let mut key = ROOT;
        loop {
            let node = &self.nodes[key];
            if let (true, Element::Stream(stream)) = (node.ready, node.element) {
                return Some(stream);
            }
            let group = node.groups.get(node.busy.first()?)?;
            key = *group.waiting.first_key_value()?.1;
        }
    }

    /// Charges `bytes` to `element` and to every node above it.
    pub fn charge(&mut self, element: Element, bytes: u64) {
        let Some(&(mut key)) = self.keys.get(&element) else { return };
        while key != ROOT {
            let node = &mut self.nodes[key];
            let before = node.turn();
            node.start = node.start.saturating_add(duration(bytes, node.weight));
            let (start, after, waiting) = (node.start, node.turn(), node.waiting);
            let parent = node.parent;
            let group = self.group(key);
            if waiting && after != before {
                // In this order, so that a map of one keeps its allocation. Who was picked is the first.
                group.waiting.insert(after, key);
                match group.waiting.first_entry() {
                    Some(first) if *first.key() == before => drop(first.remove()),
                    _ => drop(group.waiting.remove(&before)),
                }
            }
            // Time does not pass the next turn, even if somebody sent out of turn or a lot at once.
            let next = group.waiting.first_key_value().map_or(start, |((finish, _), _)| *finish);
            group.now = group.now.max(start.min(next));
            let now = group.now;
            if let Some(common) = &mut self.nodes[parent].common_now {
                *common = now;
            }
            key = parent;
        }
    }

    /// Makes a node that is linked nowhere.
    fn insert(&mut self, element: Element) -> Key {
        let key = self.free.pop().unwrap_or(self.nodes.len());
        if key == self.nodes.len() {
            self.nodes.push(Node::new(element));
        } else {
            self.nodes[key] = Node::new(element);
        }
        self.keys.insert(element, key);
        self.placeholders += usize::from(matches!(element, Element::Placeholder(_)));
        key
    }

    /// Puts a node that is in the tree at `place` below `parent`.
    fn move_to(&mut self, key: Key, parent: Key, place: Place) {
        let present = self.nodes[key].parent;
        if present == parent && self.nodes[key].rank == place.rank {
            self.reweigh(key, place.weight);
            return;
        }
        if self.is_below(parent, key) {
            self.relink(parent, present);
        }
        self.detach(key);
        self.attach(key, parent, place.rank, place.weight);
    }

    /// The group that a node belongs to.
    fn group(&mut self, key: Key) -> &mut Group {
        let Node { parent, rank, .. } = self.nodes[key];
        self.nodes[parent].groups.entry(rank).or_default()
    }

    /// Present virtual time among a node's siblings.
    fn now(&mut self, key: Key) -> u128 {
        let common = self.nodes[self.nodes[key].parent].common_now;
        common.unwrap_or_else(|| self.group(key).now)
    }

    /// Whether a node is somewhere below `ancestor`.
    fn is_below(&self, key: Key, ancestor: Key) -> bool {
        let mut key = key;
        while key != ROOT {
            key = self.nodes[key].parent;
            if key == ancestor {
                return true;
            }
        }
        false
    }

    /// Lets a node that became active, and those above it, wait for their turns.
    fn activate(&mut self, key: Key) {
        let mut key = key;
        while key != ROOT && !self.nodes[key].waiting && self.nodes[key].is_active() {
            let now = self.now(key);
            self.nodes[key].start = self.nodes[key].start.max(now);
            self.enqueue(key);
            key = self.nodes[key].parent;
        }
    }

    /// Lets a node that is no longer active, and those above it that are not for that, wait no longer.
    fn deactivate(&mut self, key: Key) {
        let mut key = key;
        while key != ROOT && self.nodes[key].waiting && !self.nodes[key].is_active() {
            self.dequeue(key);
            key = self.nodes[key].parent;
        }
    }

    /// Puts a node among those that wait at its parent.
    fn enqueue(&mut self, key: Key) {
        let node = &mut self.nodes[key];
        node.waiting = true;
        let (turn, parent, rank) = (node.turn(), node.parent, node.rank);
        self.group(key).waiting.insert(turn, key);
        self.nodes[parent].busy.insert(rank);
    }

    /// Takes a node from those that wait at its parent.
    fn dequeue(&mut self, key: Key) {
        let node = &mut self.nodes[key];
        node.waiting = false;
        let (turn, parent, rank) = (node.turn(), node.parent, node.rank);
        let group = self.group(key);
        group.waiting.remove(&turn);
        if group.waiting.is_empty() {
            self.nodes[parent].busy.remove(&rank);
        }
    }

    /// Links a node that is linked nowhere; it starts at the present of its siblings.
    fn attach(&mut self, key: Key, parent: Key, rank: Rank, weight: u16) {
        self.nodes[parent].children.insert(key);
        let node = &mut self.nodes[key];
        node.parent = parent;
        node.rank = rank;
        node.weight = weight;
        self.group(key).members += 1;
        self.nodes[key].start = self.now(key);
        self.activate(key);
    }

    /// Unlinks a node from its parent; it keeps what is below it.
    fn detach(&mut self, key: Key) {
        let Node { parent, rank, waiting, .. } = self.nodes[key];
        if waiting {
            self.dequeue(key);
            self.deactivate(parent);
        }
        self.nodes[parent].children.remove(&key);
        let group = self.group(key);
        group.members -= 1;
        if group.members == 0 {
            self.nodes[parent].groups.remove(&rank);
        }
    }

    /// Moves a node below `parent` with its own rank and weight.
    fn relink(&mut self, key: Key, parent: Key) {
        let Node { rank, weight, .. } = self.nodes[key];
        self.detach(key);
        self.attach(key, parent, rank, weight);
    }

    /// Gives a node a new weight. What it is ahead or behind stays the same number of bytes.
    fn reweigh(&mut self, key: Key, weight: u16) {
        let waiting = self.nodes[key].waiting;
        if waiting {
            self.dequeue(key);
        }
        let now = self.now(key);
        let node = &mut self.nodes[key];
        let scaled = |time: u128| time.saturating_mul(u128::from(node.weight)) / u128::from(weight);
        node.start = if node.start >= now {
            now.saturating_add(scaled(node.start - now))
        } else {
            now.saturating_sub(scaled(now - node.start))
        };
        node.weight = weight;
        if waiting {
            self.enqueue(key);
        }
    }

    /// Moves all other children of `parent` below a node.
    fn adopt_siblings(&mut self, key: Key, parent: Key) {
        let siblings: Vec<Key> =
            self.nodes[parent].children.iter().copied().filter(|sibling| *sibling != key).collect();
        for sibling in siblings {
            self.relink(sibling, key);
        }
    }
}
