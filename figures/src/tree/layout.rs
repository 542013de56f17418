//! The positions of a tree's boxes: children of one rank side by side, later ranks below earlier
//! ones.

use std::collections::{BTreeMap, VecDeque};

use schedulers::{Element, Snapshot, SnapshotNode};

pub(super) const BOX_WIDTH: f64 = 122.0;
pub(super) const BOX_HEIGHT: f64 = 40.0;
/// The gap between a box and its children's line.
pub(super) const LEVEL_GAP: f64 = 26.0;
/// The distance from the left of a box to the line of its ranks.
pub(super) const TRUNK: f64 = 12.0;
/// From that line to the ranks.
pub(super) const INDENT: f64 = 22.0;
/// The gap between boxes and the line above them within a band.
pub(super) const BUS_GAP: f64 = 9.0;
pub(super) const BAND_PADDING: f64 = 7.0;
const SIDE_GAP: f64 = 12.0;
const BAND_GAP: f64 = 9.0;
/// The most leaves side by side; further ones go in a line below.
const LEAVES_OF_LINE: usize = 5;

/// The most children of a node that are drawn.
const CHILDREN_MAX: usize = 24;
const DEPTH_MAX: usize = 12;
/// The most nodes of a tree that are drawn.
const NODES_MAX: usize = 150;

/// A node and everything below it; positions are relative to the left and top of its area.
pub(super) struct Laid<'a> {
    /// `None` for the box that stands for the omitted ones.
    pub(super) node: Option<&'a SnapshotNode>,
    /// How many it stands for.
    pub(super) hidden: usize,
    pub(super) box_left: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    /// Its children by rank.
    pub(super) bands: Vec<Band<'a>>,
    /// Its children have several ranks.
    pub(super) has_order: bool,
}

/// Children of one rank.
pub(super) struct Band<'a> {
    pub(super) lines: Vec<Line<'a>>,
    /// Below the parent's box.
    pub(super) top: f64,
    /// From the parent's left.
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Children side by side.
pub(super) struct Line<'a> {
    /// Each with its left side.
    pub(super) children: Vec<(f64, Laid<'a>)>,
    /// Below the band's top.
    pub(super) top: f64,
    right: f64,
    height: f64,
}

impl<'a> Laid<'a> {
    /// Whether it or a node below it gets a share.
    pub(super) fn is_served(&self) -> bool {
        self.node.is_some_and(|it| it.share > 0.0)
    }

    /// Its children hang on a line at the left, not below its middle.
    pub(super) fn is_ranked(&self) -> bool {
        self.has_order || self.bands.iter().any(|it| it.lines.len() > 1)
    }

    /// The line of all its children, if there is only one.
    pub(super) fn only_line(&self) -> Option<&Line<'a>> {
        self.bands.first()?.lines.first()
    }
}

impl Band<'_> {
    /// Several share.
    pub(super) fn is_shared(&self) -> bool {
        self.lines.iter().map(|it| it.children.len()).sum::<usize>() > 1
    }

    /// Where its line enters from the left, below its top.
    pub(super) fn entry(&self) -> f64 {
        self.lines.first().map_or(0.0, |line| {
            if line.is_single() { line.top + BOX_HEIGHT / 2.0 } else { line.top - BUS_GAP }
        })
    }
}

impl Line<'_> {
    pub(super) fn is_single(&self) -> bool {
        self.children.len() == 1
    }
}

/// The boxes of a tree; `None` if it has no root.
pub(super) fn laid_out(tree: &Snapshot) -> Option<Laid<'_>> {
    let root = tree.nodes.first()?;
    Some(Family::new(tree, root).laid(root))
}

/// The children of each node, without those that do not fit.
struct Family<'a> {
    children: BTreeMap<Element, Vec<&'a SnapshotNode>>,
    /// For each node, the number of nodes below it that are not drawn.
    hidden: BTreeMap<Element, usize>,
}

impl<'a> Family<'a> {
    /// Prefers nodes near the root.
    fn new(tree: &'a Snapshot, root: &'a SnapshotNode) -> Self {
        let mut all: BTreeMap<Element, Vec<&SnapshotNode>> = BTreeMap::new();
        for node in tree.nodes.iter().skip(1) {
            all.entry(node.parent).or_default().push(node);
        }
        let mut below: BTreeMap<Element, usize> = BTreeMap::new();
        for node in tree.nodes.iter().skip(1).rev() {
            let count = 1 + below.get(&node.element).copied().unwrap_or(0);
            *below.entry(node.parent).or_default() += count;
        }
        let (mut children, mut hidden) = (BTreeMap::new(), BTreeMap::new());
        let (mut next, mut drawn) = (VecDeque::from([root]), 1);
        while let Some(node) = next.pop_front() {
            let of_node = all.remove(&node.element).unwrap_or_default();
            let room = if node.depth < DEPTH_MAX { NODES_MAX.saturating_sub(drawn) } else { 0 };
            let (kept, cut) = of_node.split_at(of_node.len().min(CHILDREN_MAX).min(room));
            let counts = cut.iter().map(|it| 1 + below.get(&it.element).copied().unwrap_or(0));
            let count: usize = counts.sum();
            if count > 0 {
                hidden.insert(node.element, count);
            }
            drawn += kept.len();
            next.extend(kept);
            children.insert(node.element, kept.to_vec());
        }
        Self { children, hidden }
    }

    fn laid(&self, node: &'a SnapshotNode) -> Laid<'a> {
        let children = self.children.get(&node.element).map_or(&[][..], Vec::as_slice);
        let mut ranks: Vec<Vec<Laid<'a>>> = children
            .chunk_by(|one, other| (one.level, one.order) == (other.level, other.order))
            .map(|rank| rank.iter().map(|child| self.laid(child)).collect())
            .collect();
        let has_order = ranks.len() > 1;
        if let Some(&hidden) = self.hidden.get(&node.element) {
            let more = Laid { hidden, ..leaf(None) };
            match ranks.last_mut() {
                Some(rank) if !has_order => rank.push(more),
                _ => ranks.push(vec![more]),
            }
        }
        let is_ranked = has_order || ranks.iter().any(|it| lines(it).len() > 1);
        if is_ranked { ranked(node, ranks, has_order) } else { fanned(node, ranks) }
    }
}

fn leaf(node: Option<&SnapshotNode>) -> Laid<'_> {
    Laid {
        node,
        hidden: 0,
        box_left: 0.0,
        width: BOX_WIDTH,
        height: BOX_HEIGHT,
        bands: Vec::new(),
        has_order: false,
    }
}

/// The number of children in each line: many leaves take several lines.
fn lines(rank: &[Laid<'_>]) -> Vec<usize> {
    let are_leaves = rank.iter().all(|it| it.bands.is_empty());
    if !are_leaves || rank.len() <= LEAVES_OF_LINE {
        return vec![rank.len()];
    }
    let count = rank.len().div_ceil(LEAVES_OF_LINE);
    let each = rank.len().div_ceil(count);
    (0..count).map(|line| each.min(rank.len().saturating_sub(line * each))).collect()
}

/// Side by side from `left` on.
fn line<'a>(children: impl Iterator<Item = Laid<'a>>, left: f64, top: f64) -> Line<'a> {
    let mut line = Line { children: Vec::new(), top, right: left, height: 0.0 };
    for child in children {
        let at = if line.children.is_empty() { left } else { line.right + SIDE_GAP };
        line.right = at + child.width;
        line.height = line.height.max(child.height);
        line.children.push((at, child));
    }
    line
}

/// All children in one line, with the node's box above their middle.
fn fanned<'a>(node: &'a SnapshotNode, ranks: Vec<Vec<Laid<'a>>>) -> Laid<'a> {
    let only = line(ranks.into_iter().flatten(), 0.0, 0.0);
    let (Some((first_left, first)), Some((last_left, last))) =
        (only.children.first(), only.children.last())
    else {
        return leaf(Some(node));
    };
    let middle = f64::midpoint(first_left + first.box_left, last_left + last.box_left);
    let (width, height) = (only.right, only.height);
    let band = Band { lines: vec![only], top: LEVEL_GAP, width, height };
    Laid {
        box_left: middle,
        width,
        height: BOX_HEIGHT + LEVEL_GAP + height,
        bands: vec![band],
        ..leaf(Some(node))
    }
}

/// Each rank below the preceding one.
fn ranked<'a>(node: &'a SnapshotNode, ranks: Vec<Vec<Laid<'a>>>, has_order: bool) -> Laid<'a> {
    let left = TRUNK + INDENT;
    let mut laid = Laid { has_order, ..leaf(Some(node)) };
    let mut top = BAND_GAP + 2.0;
    for rank in ranks {
        let counts = lines(&rank);
        let is_shared = rank.len() > 1;
        let mut children = rank.into_iter();
        let mut band = Band { lines: Vec::new(), top, width: 0.0, height: 0.0 };
        for count in counts {
            let bus = if count > 1 { BUS_GAP } else { 0.0 };
            let padding = if is_shared && band.lines.is_empty() { BAND_PADDING } else { 0.0 };
            let next = line(children.by_ref().take(count), left, band.height + bus + padding);
            band.width = band.width.max(next.right);
            band.height = next.top + next.height + BAND_GAP / 2.0;
            band.lines.push(next);
        }
        band.height += if is_shared { BAND_PADDING - BAND_GAP / 2.0 } else { -BAND_GAP / 2.0 };
        top += band.height + BAND_GAP;
        laid.width = laid.width.max(band.width + if is_shared { BAND_PADDING } else { 0.0 });
        laid.bands.push(band);
    }
    laid.height = BOX_HEIGHT + top - BAND_GAP;
    laid
}
