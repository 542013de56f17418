//! How nodes are linked, wait among their siblings, and share by virtual time.

use super::Tree;
use super::node::{Group, Key, Node, ROOT, duration};
use super::place::{Place, Rank};
use crate::Element;

impl Tree {
    /// Makes an unlinked node.
    pub(super) fn insert(&mut self, element: Element) -> Key {
        let key = self.free.pop().unwrap_or(self.nodes.len());
        let chain = self.make_chain(key);
        if key == self.nodes.len() {
            self.nodes.push(Node::new(element, chain));
        } else {
            self.nodes[key] = Node::new(element, chain);
        }
        self.keys.insert(element, key);
        self.placeholders += usize::from(matches!(element, Element::Placeholder(_)));
        key
    }

    /// Puts a node of the tree at `place` below `parent`.
    pub(super) fn move_to(&mut self, key: Key, parent: Key, place: Place) {
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

    fn group(&mut self, key: Key) -> &mut Group {
        let Node { parent, rank, .. } = self.nodes[key];
        self.nodes[parent].groups.entry(rank).or_default()
    }

    /// Present virtual time among a node's siblings.
    pub(super) fn now(&mut self, key: Key) -> u128 {
        let common = self.nodes[self.nodes[key].parent].common_now;
        common.unwrap_or_else(|| self.group(key).now)
    }

    pub(super) fn set_now(&mut self, key: Key, now: u128) {
        self.group(key).now = now;
        let parent = self.nodes[key].parent;
        if let Some(common) = &mut self.nodes[parent].common_now {
            *common = now;
        }
    }

    /// Charges a node that has siblings, or is a child of the root.
    pub(super) fn charge_sibling(&mut self, key: Key, bytes: u64) {
        let node = &mut self.nodes[key];
        let before = node.turn();
        node.start = node.start.saturating_add(duration(bytes, node.weight));
        let (start, after, waiting) = (node.start, node.turn(), node.waiting);
        let group = self.group(key);
        if waiting && after != before {
            // In this order, so that a map of one entry keeps its allocation. The picked node is the first.
            group.waiting.insert(after, key);
            match group.waiting.first_entry() {
                Some(first) if *first.key() == before => drop(first.remove()),
                _ => drop(group.waiting.remove(&before)),
            }
        }
        // Time does not pass the next turn, even after sending out of turn or many bytes at once.
        let next = group.waiting.first_key_value().map_or(start, |((finish, _), _)| *finish);
        let now = group.now.max(start.min(next));
        self.set_now(key, now);
    }

    /// Lets a chain's top wait for its turn if it is active, updates its ancestors accordingly, and changes
    /// nothing else.
    pub(super) fn refresh(&mut self, chain: usize) {
        let mut chain = &self.chains[chain];
        while chain.top != ROOT {
            let top = chain.top;
            let is_active = self.is_active(chain);
            if is_active == self.nodes[top].waiting {
                return;
            }
            if is_active {
                let now = self.now(top);
                self.nodes[top].start = self.nodes[top].start.max(now);
                self.enqueue(top);
            } else {
                self.dequeue(top);
            }
            chain = self.chain_of(self.nodes[top].parent);
        }
    }

    fn enqueue(&mut self, key: Key) {
        let node = &mut self.nodes[key];
        node.waiting = true;
        let (turn, parent, rank) = (node.turn(), node.parent, node.rank);
        self.group(key).waiting.insert(turn, key);
        self.nodes[parent].busy.insert(rank);
    }

    pub(super) fn dequeue(&mut self, key: Key) {
        let node = &mut self.nodes[key];
        node.waiting = false;
        let (turn, parent, rank) = (node.turn(), node.parent, node.rank);
        let group = self.group(key);
        group.waiting.remove(&turn);
        if group.waiting.is_empty() {
            self.nodes[parent].busy.remove(&rank);
        }
    }

    /// Links an unlinked node, the top of its chain; it starts at its siblings' present time.
    pub(super) fn attach(&mut self, key: Key, parent: Key, rank: Rank, weight: u16) {
        let only = self.nodes[parent].children.first().copied();
        let siblings = self.nodes[parent].children.len();
        if let (Some(only), 1) = (only, siblings)
            && parent != ROOT
        {
            self.split_above(only);
            self.refresh(self.nodes[only].chain);
        }
        self.nodes[parent].children.insert(key);
        let node = &mut self.nodes[key];
        node.parent = parent;
        node.rank = rank;
        node.weight = weight;
        self.group(key).members += 1;
        self.nodes[key].start = self.now(key);
        if siblings == 0 && parent != ROOT {
            self.join(key);
        }
        self.refresh(self.nodes[key].chain);
    }

    /// Unlinks a node from its parent; it keeps its subtree.
    pub(super) fn detach(&mut self, key: Key) {
        let Node { parent, rank, .. } = self.nodes[key];
        if self.chain_of(key).top != key {
            self.split_above(key);
        }
        if self.nodes[key].waiting {
            self.dequeue(key);
        }
        self.nodes[parent].children.remove(&key);
        let group = self.group(key);
        group.members -= 1;
        if group.members == 0 {
            self.nodes[parent].groups.remove(&rank);
        }
        if parent == ROOT {
            return;
        }
        if let (Some(&only), 1) =
            (self.nodes[parent].children.first(), self.nodes[parent].children.len())
        {
            self.join(only);
        }
        self.refresh(self.nodes[parent].chain);
    }

    fn relink(&mut self, key: Key, parent: Key) {
        let Node { rank, weight, .. } = self.nodes[key];
        self.detach(key);
        self.attach(key, parent, rank, weight);
    }

    /// Changes a node's weight. Its lead or lag stays the same number of bytes.
    fn reweigh(&mut self, key: Key, weight: u16) {
        let waiting = self.nodes[key].waiting;
        if waiting {
            self.dequeue(key);
        }
        let now = self.now(key);
        let node = &mut self.nodes[key];
        let time = node.start.abs_diff(now);
        let scaled = time.saturating_mul(u128::from(node.weight)) / u128::from(weight);
        node.start =
            if node.start >= now { now.saturating_add(scaled) } else { now.saturating_sub(scaled) };
        node.weight = weight;
        if waiting {
            self.enqueue(key);
        }
    }

    pub(super) fn adopt_siblings(&mut self, key: Key, parent: Key) {
        let siblings: Vec<Key> =
            self.nodes[parent].children.iter().copied().filter(|sibling| *sibling != key).collect();
        for sibling in siblings {
            self.relink(sibling, key);
        }
    }
}
