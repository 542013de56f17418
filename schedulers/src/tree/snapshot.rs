//! The tree at an instant, for inspection.

use super::Tree;
use super::node::{Key, ROOT};
use crate::Element;
use std::fmt;

/// A tree at an instant: plain data, for drawing or writing.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// All nodes, the root first, each before its children; children by rank, then by name.
    pub nodes: Vec<SnapshotNode>,
}

/// A node of a [`Snapshot`].
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotNode {
    /// Its name.
    pub element: Element,
    /// Its parent; the root is its own parent.
    pub parent: Element,
    /// Steps from the root.
    pub depth: usize,
    /// The level of its rank: lower ones strictly go first.
    pub level: u16,
    /// The order within the level: lower ones strictly go first.
    pub order: u64,
    /// 1 to 256.
    pub weight: u16,
    /// It has bytes that may be sent.
    pub ready: bool,
    /// It or a node below it is ready.
    pub active: bool,
    /// The share of the connection, 0 to 1, that its subtree gets if nothing changes.
    pub share: f64,
    /// The share of the connection, 0 to 1, for its own bytes.
    pub own_share: f64,
}

impl Tree {
    /// The tree at this instant. Costs O(nodes).
    pub fn snapshot(&self) -> Snapshot {
        let active = self.active_nodes();
        let mut nodes = Vec::with_capacity(self.nodes.len());
        let mut stack = vec![(ROOT, 0, 1.0)];
        while let Some((key, depth, share)) = stack.pop() {
            let node = &self.nodes[key];
            let share = if active[key] { share } else { 0.0 };
            nodes.push(SnapshotNode {
                element: node.element,
                parent: self.nodes[node.parent].element,
                depth,
                level: node.rank.level,
                order: node.rank.order,
                weight: node.weight,
                ready: node.ready,
                active: active[key],
                share,
                own_share: if node.ready { share } else { 0.0 },
            });
            let below = if node.ready { 0.0 } else { share };
            let children = self.ordered_children(key);
            let first =
                children.iter().find(|child| active[**child]).map(|it| self.nodes[*it].rank);
            let mut weights = Vec::with_capacity(children.len());
            for child in children {
                let is_served = active[child] && Some(self.nodes[child].rank) == first;
                let weight = if is_served { self.nodes[child].weight } else { 0 };
                weights.push((child, f64::from(weight)));
            }
            let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
            for (child, weight) in weights.into_iter().rev() {
                let part = if weight > 0.0 { below * weight / sum } else { 0.0 };
                stack.push((child, depth + 1, part));
            }
        }
        Snapshot { nodes }
    }

    fn ordered_children(&self, key: Key) -> Vec<Key> {
        let mut children: Vec<Key> = self.nodes[key].children.iter().copied().collect();
        children.sort_by_key(|child| (self.nodes[*child].rank, self.nodes[*child].element));
        children
    }

    /// For each node, whether it or one below it is ready.
    fn active_nodes(&self) -> Vec<bool> {
        let mut active = vec![false; self.nodes.len()];
        for (mut key, node) in self.nodes.iter().enumerate() {
            while node.ready && !active[key] {
                active[key] = true;
                key = self.nodes[key].parent;
            }
        }
        active
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("root"),
            Self::Placeholder(u64::MAX) => f.write_str("orphans"),
            Self::Placeholder(id) => write!(f, "placeholder {id}"),
            Self::Stream(stream) => write!(f, "stream {}", stream.0),
        }
    }
}

impl Snapshot {
    /// Its displayed form, with other names for its elements.
    pub fn in_words(&self, name: impl Fn(Element) -> String) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        self.write(&mut text, name).ok();
        text
    }

    fn write(&self, f: &mut impl fmt::Write, name: impl Fn(Element) -> String) -> fmt::Result {
        for node in &self.nodes {
            write!(f, "{:indent$}{}", "", name(node.element), indent = 2 * node.depth)?;
            if node.element != Element::Root {
                write!(f, " ({})", node.weight)?;
            }
            if node.active {
                write!(f, " {:.0}%", 100.0 * node.share)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// One line for each node, indented by its depth: name, weight, and share of the connection.
impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, |element| element.to_string())
    }
}
