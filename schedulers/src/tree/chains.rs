//! Chains: sequences of nodes, each of which is the only child of the preceding one.
//!
//! Nothing is shared within a chain, so its links need no queues and no virtual time: a decision skips a chain in
//! one step, however long it is. So a chain of exclusive dependencies is as cheap as a list. Only the top of a
//! chain has siblings, only the bottom has more than one child, and the root is in no chain with others. Making
//! and breaking a chain costs its shorter part.

use super::Tree;
use super::node::{Key, Node, ROOT, duration};
use std::collections::BTreeMap;

/// One chain. Positions are contiguous, lowest at the top.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    pub(super) top: Key,
    pub(super) bottom: Key,
    /// The ready links, by position; not kept for a chain of one.
    ready: BTreeMap<i64, Key>,
    /// Links below the top with unsettled time from former siblings, by position.
    unsettled: BTreeMap<i64, Key>,
}

impl Chain {
    pub(super) fn of_one(key: Key) -> Self {
        Self { top: key, bottom: key, ready: BTreeMap::new(), unsettled: BTreeMap::new() }
    }
}

impl Tree {
    pub(super) fn chain_of(&self, key: Key) -> &Chain {
        &self.chains[self.nodes[key].chain]
    }

    /// The ready link of a chain that precedes the others.
    pub(super) fn first_ready(&self, chain: &Chain) -> Option<Key> {
        if chain.top == chain.bottom {
            return self.nodes[chain.top].ready.then_some(chain.top);
        }
        chain.ready.first_key_value().map(|(_, key)| *key)
    }

    /// Whether a link is ready, or a node waits below the bottom.
    pub(super) fn is_active(&self, chain: &Chain) -> bool {
        self.first_ready(chain).is_some() || !self.nodes[chain.bottom].busy.is_empty()
    }

    pub(super) fn make_chain(&mut self, key: Key) -> usize {
        if let Some(index) = self.free_chains.pop() {
            self.chains[index] = Chain::of_one(key);
            return index;
        }
        self.chains.push(Chain::of_one(key));
        self.chains.len() - 1
    }

    pub(super) fn free_chain(&mut self, index: usize) {
        self.chains[index].ready.clear();
        self.chains[index].unsettled.clear();
        self.free_chains.push(index);
    }

    pub(super) fn mark(&mut self, key: Key, ready: bool) {
        let node = &mut self.nodes[key];
        node.ready = ready;
        let (position, chain) = (node.position, &mut self.chains[node.chain]);
        if chain.top == chain.bottom {
            return;
        }
        if ready {
            chain.ready.insert(position, key);
        } else {
            chain.ready.remove(&position);
        }
    }

    /// Makes the only child of a node, the top of its own chain, a link of the node's.
    ///
    /// It no longer waits among siblings, because it has none. Its lead over them is settled when it sends next.
    pub(super) fn join(&mut self, child: Key) {
        let parent = self.nodes[child].parent;
        let (upper, lower) = (self.nodes[parent].chain, self.nodes[child].chain);
        let now = self.now(child);
        if self.nodes[child].waiting {
            self.dequeue(child);
        } else {
            self.nodes[child].start = self.nodes[child].start.max(now);
        }
        for index in [upper, lower] {
            let only = self.chains[index].top;
            if only == self.chains[index].bottom && self.nodes[only].ready {
                self.chains[index].ready.insert(self.nodes[only].position, only);
            }
        }
        if self.chain_length(upper) >= self.chain_length(lower) {
            self.append_below(upper, lower);
        } else {
            self.append_above(lower, upper);
        }
        let Node { chain, position, start, .. } = self.nodes[child];
        if start != now {
            self.chains[chain].unsettled.insert(position, child);
        }
    }

    fn chain_length(&self, index: usize) -> i64 {
        let Chain { top, bottom, .. } = self.chains[index];
        self.nodes[bottom].position - self.nodes[top].position + 1
    }

    fn append_below(&mut self, to: usize, from: usize) {
        let Chain { top, bottom, .. } = self.chains[from];
        let next = self.nodes[self.chains[to].bottom].position + 1;
        let shift = next - self.nodes[top].position;
        self.move_links(bottom, top, to, shift);
        self.chains[to].bottom = bottom;
        self.free_chain(from);
    }

    fn append_above(&mut self, to: usize, from: usize) {
        let Chain { top, bottom, .. } = self.chains[from];
        let next = self.nodes[self.chains[to].top].position - 1;
        let shift = next - self.nodes[bottom].position;
        self.move_links(bottom, top, to, shift);
        self.chains[to].top = top;
        self.free_chain(from);
    }

    /// Moves the links from `bottom` up to `top` to another chain, `shift` positions lower.
    fn move_links(&mut self, bottom: Key, top: Key, to: usize, shift: i64) {
        let mut key = bottom;
        loop {
            let node = &mut self.nodes[key];
            let (from, position) = (node.chain, node.position);
            node.chain = to;
            node.position += shift;
            let (is_ready, shifted, parent) = (node.ready, node.position, node.parent);
            if is_ready && self.chains[from].ready.remove(&position).is_some() {
                self.chains[to].ready.insert(shifted, key);
            }
            if self.chains[from].unsettled.remove(&position).is_some() {
                self.chains[to].unsettled.insert(shifted, key);
            }
            if key == top {
                return;
            }
            key = parent;
        }
    }

    /// Breaks a chain above a link, which becomes the top of a new one. Does not update either part's activity.
    pub(super) fn split_above(&mut self, key: Key) {
        let whole = self.nodes[key].chain;
        let Chain { top, bottom, .. } = self.chains[whole];
        let (parent, position) = (self.nodes[key].parent, self.nodes[key].position);
        self.chains[whole].unsettled.remove(&position);
        let lower_length = self.nodes[bottom].position - position + 1;
        let part = self.make_chain(key);
        if 2 * lower_length <= self.chain_length(whole) {
            self.move_links(bottom, key, part, 0);
            (self.chains[part].top, self.chains[part].bottom) = (key, bottom);
            self.chains[whole].bottom = parent;
        } else {
            self.move_links(parent, top, part, 0);
            (self.chains[part].top, self.chains[part].bottom) = (top, parent);
            self.chains[whole].top = key;
        }
        for index in [whole, part] {
            if self.chains[index].top == self.chains[index].bottom {
                self.chains[index].ready.clear();
            }
        }
    }

    /// Charges the links with unsettled time, from the top down to `key`. Each is settled once.
    pub(super) fn settle(&mut self, key: Key, bytes: u64) {
        let Node { chain, position, .. } = self.nodes[key];
        if self.chains[chain].unsettled.is_empty() {
            return;
        }
        let links: Vec<(i64, Key)> =
            self.chains[chain].unsettled.range(..=position).map(|(at, key)| (*at, *key)).collect();
        for (position, key) in links {
            let node = &mut self.nodes[key];
            node.start = node.start.saturating_add(duration(bytes, node.weight));
            let start = node.start;
            let now = self.now(key).max(start);
            self.set_now(key, now);
            if start == now {
                self.chains[chain].unsettled.remove(&position);
            }
        }
    }

    /// Whether a node is somewhere below `ancestor`.
    pub(super) fn is_below(&self, key: Key, ancestor: Key) -> bool {
        let mut link = key;
        while link != ROOT {
            if self.nodes[link].chain == self.nodes[ancestor].chain {
                return key != ancestor
                    && self.nodes[link].position >= self.nodes[ancestor].position;
            }
            link = self.nodes[self.chain_of(link).top].parent;
        }
        false
    }
}
