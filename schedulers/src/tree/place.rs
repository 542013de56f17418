//! The place of a node: its parent, and its rank and weight among its siblings.

use crate::Element;

pub(super) const MAX_WEIGHT: u16 = 256;

/// The place of a node among siblings that do not share: the lowest strictly goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Rank {
    pub(super) level: u16,
    pub(super) order: u64,
    /// Distinguishes streams of one `order`.
    then: u64,
}

impl Rank {
    /// The rank of nodes that share.
    pub const EQUAL: Self = Self { level: 0, order: 0, then: 0 };

    /// Streams of one level share; a lower level goes first.
    pub const fn level(level: u16) -> Self {
        Self { level, order: 0, then: 0 }
    }

    /// One after another, the lowest `order` first.
    pub const fn sequence(order: u64) -> Self {
        Self { level: 0, order, then: 0 }
    }

    /// One after another within a level.
    pub const fn sequence_in(level: u16, order: u64) -> Self {
        Self { level, order, then: 0 }
    }

    /// The same rank; within one order, the lowest `then` goes first.
    #[must_use]
    pub const fn then(self, then: u64) -> Self {
        Self { then, ..self }
    }
}

/// Where a node is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub(crate) parent: Element,
    pub(crate) rank: Rank,
    pub(crate) weight: u16,
    pub(super) exclusive: bool,
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

    /// The same place with another weight, clamped to 1 to 256.
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
