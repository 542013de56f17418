//! A node of the tree, and the virtual time of its children.

use super::place::Rank;
use crate::Element;
use std::collections::{BTreeMap, BTreeSet};

/// The bytes by which the finish of the next packet is predicted: a packet of the paper.
const PACKET_BYTES: u64 = 1400;

/// Virtual time of one byte at weight 1. It makes the rounding of `1/w` less than a millionth.
const BYTE_AT_WEIGHT_ONE: u128 = 1 << 28;

/// Index of a node in [`Tree::nodes`].
pub(super) type Key = usize;

pub(super) const ROOT: Key = 0;

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) element: Element,
    pub(super) parent: Key,
    pub(super) rank: Rank,
    pub(super) weight: u16,
    /// It has bytes that may be sent. Only streams are ever ready.
    pub(super) ready: bool,
    /// It waits among its siblings, because it or a node below it is ready. Only the top of a chain ever
    /// waits.
    pub(super) waiting: bool,
    /// Virtual time at which its next packet starts.
    pub(super) start: u128,
    pub(super) children: BTreeSet<Key>,
    pub(super) groups: BTreeMap<Rank, Group>,
    pub(super) busy: BTreeSet<Rank>,
    /// The present of all its children, if each starts at the present of the last sender.
    pub(super) common_now: Option<u128>,
    pub(super) chain: usize,
    /// Its position in the chain: its parent's plus one.
    pub(super) position: i64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    /// Children that wait, by the virtual time at which their next packet would finish.
    pub(super) waiting: BTreeMap<(u128, Element), Key>,
    /// All children of this rank, waiting or not. The group and its clock are dropped with the last.
    pub(super) members: usize,
    /// Present virtual time. It never goes back.
    pub(super) now: u128,
}

impl Node {
    pub(super) fn new(element: Element, chain: usize) -> Self {
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
            chain,
            position: 0,
        }
    }

    /// The node's turn: the virtual time at which its next packet would finish, and its name for ties.
    pub(super) fn turn(&self) -> (u128, Element) {
        (self.start.saturating_add(duration(PACKET_BYTES, self.weight)), self.element)
    }
}

pub(super) fn duration(bytes: u64, weight: u16) -> u128 {
    u128::from(bytes) * BYTE_AT_WEIGHT_ONE / u128::from(weight)
}
