//! The tree under any operations: it does not panic, and a pick exists exactly when a stream is ready.
//!
//! `cargo +nightly fuzz run --fuzz-dir schedulers/fuzz tree`

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use schedulers::{Element, Place, Rank, StreamId, Tree};
use std::collections::BTreeMap;

#[derive(Debug, Arbitrary)]
enum Operation {
    Put { element: Node, parent: Node, level: u8, weight: u16, exclusive: bool },
    Remove(Node),
    SetReady(Node, bool),
    Send(u64),
    Charge(Node, u64),
}

/// Few names, so that operations meet.
#[derive(Debug, Clone, Copy, Arbitrary)]
enum Node {
    Root,
    Placeholder(u8),
    Stream(u8),
}

impl From<Node> for Element {
    fn from(node: Node) -> Self {
        match node {
            Node::Root => Self::Root,
            Node::Placeholder(id) => Self::Placeholder(u64::from(id % 8)),
            Node::Stream(id) => Self::Stream(StreamId(u64::from(id % 32))),
        }
    }
}

/// Does the operation, and notes which streams of the tree are ready.
fn apply(tree: &mut Tree, ready: &mut BTreeMap<Element, bool>, operation: &Operation) {
    match *operation {
        Operation::Put { element, parent, level, weight, exclusive } => {
            let place = Place::below(parent.into()).rank(Rank::level(u16::from(level % 4)));
            tree.put(element.into(), place.weight(weight).exclusive(exclusive));
            ready.entry(element.into()).or_insert(false);
        }
        Operation::Remove(element) => {
            tree.remove(element.into());
            ready.remove(&element.into());
        }
        Operation::SetReady(element, is_ready) => {
            tree.set_ready(element.into(), is_ready);
            ready.entry(element.into()).and_modify(|it| *it = is_ready);
        }
        Operation::Send(bytes) => {
            if let Some(picked) = tree.pick() {
                tree.charge(Element::Stream(picked), bytes);
            }
        }
        Operation::Charge(element, bytes) => tree.charge(element.into(), bytes),
    }
}

fuzz_target!(|operations: Vec<Operation>| {
    let mut tree = Tree::new();
    let mut ready = BTreeMap::new();
    for operation in &operations {
        apply(&mut tree, &mut ready, operation);
        let is_ready = |element: Element| ready.get(&element) == Some(&true);
        match tree.pick() {
            Some(picked) => assert!(is_ready(Element::Stream(picked))),
            None => {
                assert!(!ready.keys().any(|it| matches!(it, Element::Stream(_)) && is_ready(*it)))
            }
        }
    }
});
