//! `tree`: HTTP/3's dependency tree as the client signals it, by the rules of draft 22.
//!
//! Source: draft-ietf-quic-http-22; the paper, sections 2.2 and 3, Figures 2 to 6. An unprioritized stream is a child
//! of the *orphan placeholder*, whose children send only if nothing else below the root can. A signal creates unknown
//! nodes with defaults; a parent that has left the tree stands for the orphan placeholder. The rest is RFC 7540,
//! section 5.3: exclusive insertion, moves below a descendant, weights that the children of a closed stream inherit.
//! Order (without signals): `hicIsfhicIsfhiI`.

use super::dependencies::Named;
use super::firefox::{self, Firefox};
use crate::limits::PLACEHOLDERS_MAX;
use crate::scheme::obey;
use crate::{
    Element, Given, Halves, Language, Place, Rank, Resource, Scheme, ServerHalf, Signal, StreamId,
    Tree,
};
use std::sync::Arc;

pub(super) fn scheme() -> Scheme {
    Scheme {
        placeholders: 6,
        signals: Language::Tree,
        same_as: &[(Given::Ignored, "rr"), (Given::Heard, "firefox")],
        parameters: "@draft20: an unknown parent is the root, without orphans",
        group_name: Arc::new(group_name),
        ..Scheme::new(
            "tree",
            "The dependency tree that the client signals, with an orphan placeholder (draft 22)",
            "draft-ietf-quic-http-22, Hypertext Transfer Protocol Version 3, 2019",
            |args, _| {
                let takes = "takes no parameters; its variant is `draft20`";
                match args.variant.as_deref() {
                    _ if !args.parameters.is_empty() => args.refuse(takes),
                    None => Ok(Halves::new(Firefox::PAPER, ObeyTree::default())),
                    Some("draft20") => Ok(Halves::new(Firefox::PAPER, Draft20)),
                    Some(_) => args.refuse(takes),
                }
            },
        )
    }
}

fn group_name(id: u64) -> Option<String> {
    if Element::Placeholder(id) == ORPHANS {
        return Some("ORPHAN".to_owned());
    }
    firefox::group_name(id)
}

/// The orphan placeholder. Clients cannot name it, because IDs on the wire end at 2^62.
const ORPHANS: Element = Element::Placeholder(u64::MAX);

#[derive(Default)]
struct ObeyTree {
    named: Named,
}

impl ObeyTree {
    /// Ensures that `element` is in the tree, if it may be: creates nodes that are named early.
    fn make(&mut self, tree: &mut Tree, element: Element) -> bool {
        if tree.contains(element) {
            return element != ORPHANS;
        }
        match element {
            Element::Root => return true,
            Element::Placeholder(_) if tree.placeholders() > PLACEHOLDERS_MAX => return false,
            Element::Stream(stream) if !self.named.awaits(stream) => return false,
            Element::Placeholder(_) | Element::Stream(_) => {}
        }
        tree.put(element, Place::below(ORPHANS));
        true
    }
}

impl ServerHalf for ObeyTree {
    fn setup(&mut self, tree: &mut Tree) {
        tree.put(ORPHANS, Place::DEFAULT.rank(Rank::level(1)));
    }
    fn hears_early(&self) -> bool {
        true
    }
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, _resource: &Resource) {
        if !self.named.opened(stream) {
            tree.put(Element::Stream(stream), Place::below(ORPHANS));
        }
    }
    fn signalled(&mut self, tree: &mut Tree, signal: Signal) {
        let Signal::Depend { element, parent, weight, exclusive } = signal else { return };
        if element == Element::Root || element == ORPHANS || !self.make(tree, element) {
            return;
        }
        let parent = if self.make(tree, parent) { parent } else { ORPHANS };
        let place = Place::below(parent).weight(weight);
        tree.put(element, place.exclusive(exclusive && parent != ORPHANS));
        if exclusive && parent == Element::Root {
            // It is not part of the client's tree.
            tree.put(ORPHANS, Place::DEFAULT.rank(Rank::level(1)));
        }
    }
    fn closed(&mut self, tree: &mut Tree, stream: StreamId) {
        self.named.closed(tree, stream);
    }
}

/// The rules before draft 22, and HTTP/2's: a stream without a priority, or with a parent that is not in the tree, is a
/// child of the root (the paper, Figures 3 and 5).
struct Draft20;

impl ServerHalf for Draft20 {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, _resource: &Resource) {
        tree.put(Element::Stream(stream), Place::DEFAULT);
    }
    fn signalled(&mut self, tree: &mut Tree, signal: Signal) {
        obey(tree, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn without_signals_all_orphans_share() {
        assert_eq!(sample::order("tree"), sample::order("rr"));
        assert_eq!(sample::order("tree@draft20"), sample::order("rr"));
    }
}
