//! Where a node stands in the order, to be compared with others, also later.

use super::{ROOT, Rank, Tree};
use crate::Element;
use crate::limits::STANDING_DEPTH_MAX;

/// Where a stream stands: the ranks from the root down to it. The lesser goes first, strictly; equals share.
///
/// It stays comparable after its stream has left the tree, as long as the scheme's ranks keep their meaning.
/// Below [`STANDING_DEPTH_MAX`] nodes all count as equal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing(Vec<Rank>);

impl Tree {
    /// Where `element` stands; none: it is not in the tree. Costs O(depth).
    pub fn standing(&self, element: Element) -> Option<Standing> {
        let mut key = *self.keys.get(&element)?;
        let mut ranks = Vec::new();
        while key != ROOT {
            ranks.push(self.nodes[key].rank);
            key = self.nodes[key].parent;
        }
        ranks.reverse();
        ranks.truncate(STANDING_DEPTH_MAX);
        Some(Standing(ranks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Place, StreamId};

    #[test]
    fn parents_come_before_children_and_low_ranks_before_high_ones() {
        let mut tree = Tree::new();
        let stream = |id| Element::Stream(StreamId(id));
        tree.put(stream(0), Place::DEFAULT.rank(Rank::level(1)));
        tree.put(stream(4), Place::DEFAULT);
        tree.put(stream(8), Place::below(stream(4)).rank(Rank::level(7)));
        tree.put(stream(12), Place::DEFAULT);
        let standing = |id| tree.standing(stream(id)).unwrap();
        assert!(standing(4) < standing(8) && standing(8) < standing(0));
        assert_eq!(standing(4), standing(12));
        assert_eq!(tree.standing(stream(16)), None);
    }
}
