//! The ranked, weighted dependency tree in which every scheme places its streams.
//!
//! It is HTTP/2's tree (RFC 7540, section 5.3) with one addition, the [`Rank`]. Three rules give the order:
//! 1. a node goes before its children;
//! 2. among siblings the lowest rank goes first, strictly;
//! 3. siblings of equal rank share by weight: next is the one whose packet would *finish* first in virtual time, and of two
//!    that tie the one with the lower ID.
//!
//! Virtual time passes with real bytes: a byte of a node of weight `w` takes `1/w`. It is an integer, so two machines give the
//! same order. A node that joins its siblings late starts at their present time, without credit for the time before. A node
//! with nothing to send is transparent: its children get its turn.
//!
//! Every operation costs O(depth x log siblings), where a chain of only children counts as one node (`chains.rs`); `put` with
//! `exclusive` and `remove` also cost time for each node that they move.

mod chains;
mod links;
mod mix;
mod node;
mod place;
mod snapshot;

use crate::{Element, StreamId};
use chains::Chain;
use mix::Mix;
use node::{Key, Node, ROOT};
use place::MAX_WEIGHT;
pub use place::{Place, Rank};
pub use snapshot::{Snapshot, SnapshotNode};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// The tree of one connection. It is total: any call in any order has a defined effect.
///
/// It has many methods, because nodes, chains and queues refer to each other by index, so that changing one changes all of
/// them.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The root first, then the others in free slots.
    nodes: Vec<Node>,
    /// Only used for look-ups, never iterated, so that no order depends on hashes.
    keys: HashMap<Element, Key, BuildHasherDefault<Mix>>,
    placeholders: usize,
    free: Vec<Key>,
    chains: Vec<Chain>,
    free_chains: Vec<usize>,
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    /// A tree with only its root.
    pub fn new() -> Self {
        Self {
            nodes: vec![Node::new(Element::Root, 0)],
            keys: HashMap::from_iter([(Element::Root, ROOT)]),
            placeholders: 0,
            free: Vec::new(),
            chains: vec![Chain::of_one(ROOT)],
            free_chains: Vec::new(),
        }
    }

    /// Whether `element` is in the tree.
    pub fn contains(&self, element: Element) -> bool {
        self.keys.contains_key(&element)
    }

    /// The parent of `element`; `None` for the root, and for an element that is not in the tree.
    pub(crate) fn parent(&self, element: Element) -> Option<Element> {
        let key = *self.keys.get(&element)?;
        (key != ROOT).then(|| self.nodes[self.nodes[key].parent].element)
    }

    /// The placeholders that the tree has.
    pub fn placeholders(&self) -> usize {
        self.placeholders
    }

    /// Puts `element` in its place, or moves it there with its subtree.
    ///
    /// A parent that is not in the tree, or that is the element itself, is replaced by the root. A parent below the element
    /// first takes the element's present place (RFC 7540, section 5.3.3). In a new place, the element starts level with its
    /// siblings; if only its weight changes, it keeps its turn.
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
    /// By default each rank has its own time, which stops while lower ranks send. With this, the present is the last sender's,
    /// so the first of two that wait behind lower ranks is ahead. Call it before the element has children.
    pub fn keep_common_time(&mut self, element: Element) {
        if let Some(&key) = self.keys.get(&element) {
            self.nodes[key].common_now = Some(0);
        }
    }

    /// Removes `element`. Its children take its rank and share its weight in proportion to their own (RFC 7540, section 5.3.4).
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
        self.free_chain(self.nodes[key].chain);
        self.keys.remove(&element);
        self.placeholders -= usize::from(matches!(element, Element::Placeholder(_)));
        // Drops what the node held.
        self.nodes[key] = Node::new(Element::Root, 0);
        self.free.push(key);
        if self.keys.len() == 1 {
            self.rest();
        }
    }

    /// Only the root is left. Its clock continues; the memory of the others is freed, because connections are mostly idle.
    fn rest(&mut self) {
        let common_now = self.nodes[ROOT].common_now;
        *self = Self::new();
        self.nodes[ROOT].common_now = common_now;
    }

    /// Sets whether `element` has bytes that may be sent. An element that is not in the tree is not added.
    pub fn set_ready(&mut self, element: Element, ready: bool) {
        let Some(&key) = self.keys.get(&element) else { return };
        self.mark(key, ready && matches!(element, Element::Stream(_)));
        self.refresh(self.nodes[key].chain);
    }

    /// The stream whose turn it is; changes nothing.
    pub fn pick(&self) -> Option<StreamId> {
        let mut key = ROOT;
        loop {
            let node = &self.nodes[key];
            let group = node.groups.get(node.busy.first()?)?;
            let chain = self.chain_of(*group.waiting.first_key_value()?.1);
            if let Some(ready) = self.first_ready(chain) {
                return self.nodes[ready].element.stream();
            }
            key = chain.bottom;
        }
    }

    /// Charges `bytes` to `element` and to every node above it.
    pub fn charge(&mut self, element: Element, bytes: u64) {
        let Some(&(mut key)) = self.keys.get(&element) else { return };
        while key != ROOT {
            self.settle(key, bytes);
            let top = self.chain_of(key).top;
            self.charge_sibling(top, bytes);
            key = self.nodes[top].parent;
        }
    }
}
