//! The tree against a plain model of it, and against what its rules promise.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic as they do")]

use proptest::prelude::*;
use schedulers::{Element, Place, Rank, StreamId, Tree};
use std::collections::BTreeMap;

/// The rules of the tree, each decided by looking at all nodes.
#[derive(Default)]
struct Model {
    nodes: BTreeMap<Element, ModelNode>,
}

#[derive(Clone)]
struct ModelNode {
    parent: Element,
    level: u16,
    ready: bool,
}

impl Model {
    fn is_active(&self, element: Element) -> bool {
        let own = self.nodes.get(&element).is_some_and(|node| node.ready);
        own || self.children(element).any(|child| self.is_active(child))
    }

    fn children(&self, parent: Element) -> impl Iterator<Item = Element> {
        self.nodes
            .iter()
            .filter(move |(_, node)| node.parent == parent)
            .map(|(element, _)| *element)
    }

    fn is_below(&self, element: Element, ancestor: Element) -> bool {
        element == ancestor
            || self.nodes.get(&element).is_some_and(|node| self.is_below(node.parent, ancestor))
    }

    fn put(&mut self, element: Element, parent: Element, level: u16, exclusive: bool) {
        if element == Element::Root {
            return;
        }
        let is_known = parent == Element::Root || self.nodes.contains_key(&parent);
        let parent = if parent == element || !is_known { Element::Root } else { parent };
        if let Some(node) = self.nodes.get(&element).cloned()
            && parent != element
            && self.is_below(parent, element)
        {
            self.nodes.get_mut(&parent).unwrap().parent = node.parent;
        }
        let ready = self.nodes.get(&element).is_some_and(|node| node.ready);
        if exclusive {
            for node in self.nodes.values_mut().filter(|node| node.parent == parent) {
                node.parent = element;
            }
        }
        self.nodes.insert(element, ModelNode { parent, level, ready });
    }

    fn remove(&mut self, element: Element) {
        let Some(gone) = self.nodes.remove(&element) else { return };
        for node in self.nodes.values_mut().filter(|node| node.parent == element) {
            node.parent = gone.parent;
            node.level = gone.level;
        }
    }

    /// Whether `picked` may go next: no ready node above it, and at no step a sibling of lower rank.
    fn allows(&self, picked: Element) -> bool {
        let mut element = picked;
        while let Some(node) = self.nodes.get(&element) {
            let parent_waits = self.nodes.get(&node.parent).is_some_and(|parent| parent.ready);
            let lower = self
                .children(node.parent)
                .any(|it| self.nodes[&it].level < node.level && self.is_active(it));
            if parent_waits || lower {
                return false;
            }
            element = node.parent;
        }
        self.nodes[&picked].ready
    }
}

#[derive(Debug, Clone)]
enum Step {
    Put { element: Element, parent: Element, level: u16, weight: u16, exclusive: bool },
    Remove(Element),
    SetReady(Element, bool),
    Send(u64),
    Charge(Element, u64),
}

fn element() -> impl Strategy<Value = Element> {
    prop_oneof![
        1 => Just(Element::Root),
        3 => (0_u64..3).prop_map(Element::Placeholder),
        6 => (0_u64..8).prop_map(|id| Element::Stream(StreamId(id))),
    ]
}

fn stream() -> impl Strategy<Value = Element> {
    (0_u64..8).prop_map(|id| Element::Stream(StreamId(id)))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (element(), element(), 0_u16..3, 0_u16..300, prop::bool::weighted(0.2)).prop_map(
            |(element, parent, level, weight, exclusive)| {
                Step::Put { element, parent, level, weight, exclusive }
            }
        ),
        1 => element().prop_map(Step::Remove),
        5 => (stream(), any::<bool>()).prop_map(|(it, ready)| Step::SetReady(it, ready)),
        5 => (0_u64..3000).prop_map(Step::Send),
        1 => (element(), any::<u64>()).prop_map(|(it, bytes)| Step::Charge(it, bytes)),
    ]
}

fn apply(tree: &mut Tree, model: &mut Model, step: &Step) {
    match *step {
        Step::Put { element, parent, level, weight, exclusive } => {
            let place = Place::below(parent).rank(Rank::level(level)).weight(weight);
            tree.put(element, place.exclusive(exclusive));
            model.put(element, parent, level, exclusive);
        }
        Step::Remove(element) => {
            tree.remove(element);
            model.remove(element);
        }
        Step::SetReady(element, ready) => {
            tree.set_ready(element, ready);
            if let Some(node) = model.nodes.get_mut(&element) {
                node.ready = ready;
            }
        }
        Step::Send(bytes) => {
            if let Some(picked) = tree.pick() {
                tree.charge(Element::Stream(picked), bytes);
            }
        }
        Step::Charge(element, bytes) => tree.charge(element, bytes),
    }
}

/// Children of the root by weight; their bytes after `packets` packets of sizes that repeat.
fn bytes_sent(weights: &[u16], sizes: &[u64], packets: usize) -> Vec<u64> {
    let mut tree = Tree::new();
    for (id, weight) in (0..).zip(weights) {
        tree.put(Element::Stream(StreamId(id)), Place::DEFAULT.weight(*weight));
        tree.set_ready(Element::Stream(StreamId(id)), true);
    }
    let mut sent = vec![0; weights.len()];
    for size in sizes.iter().cycle().take(packets) {
        let picked = tree.pick().unwrap();
        tree.charge(Element::Stream(picked), *size);
        sent[usize::try_from(picked.0).unwrap()] += size;
    }
    sent
}

/// The picks of `packets` packets, one digit each.
fn order(tree: &mut Tree, packets: usize) -> String {
    (0..packets)
        .map_while(|_| {
            let picked = tree.pick()?;
            tree.charge(Element::Stream(picked), 1400);
            Some(picked.0.to_string())
        })
        .collect()
}

fn ready(tree: &mut Tree, id: u64, place: Place) -> Element {
    let element = Element::Stream(StreamId(id));
    tree.put(element, place);
    tree.set_ready(element, true);
    element
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn picks_obey_the_plain_rules(steps in prop::collection::vec(step(), 0..100)) {
        let (mut tree, mut model) = (Tree::new(), Model::default());
        for step in &steps {
            apply(&mut tree, &mut model, step);
            match tree.pick() {
                Some(picked) => prop_assert!(model.allows(Element::Stream(picked)), "{picked:?} after {step:?}"),
                None => prop_assert!(!model.is_active(Element::Root), "nobody after {step:?}"),
            }
        }
    }

    /// For any two siblings that stay ready, bytes by weight differ by less than a packet of each.
    #[test]
    fn shares_are_within_one_packet(
        weights in prop::collection::vec(1_u16..=256, 2..6),
        sizes in prop::collection::vec(1_u64..=1400, 1..20),
        packets in 1_usize..3000,
    ) {
        let sent = bytes_sent(&weights, &sizes, packets);
        for (a, b) in (0..weights.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let (weight_a, weight_b) = (f64::from(weights[a]), f64::from(weights[b]));
            let gap = (sent[a] as f64 / weight_a - sent[b] as f64 / weight_b).abs();
            let packet_of_each = 1400.0 / weight_a + 1400.0 / weight_b;
            prop_assert!(gap <= packet_of_each * 1.001, "{gap} > {packet_of_each}: {sent:?}");
        }
    }
}

#[test]
fn weights_two_to_one_give_two_packets_to_one() {
    let mut tree = Tree::new();
    ready(&mut tree, 0, Place::DEFAULT.weight(128));
    ready(&mut tree, 1, Place::DEFAULT.weight(64));
    assert_eq!(order(&mut tree, 9), "001001001");
}

#[test]
fn a_late_node_starts_at_the_present() {
    let mut tree = Tree::new();
    ready(&mut tree, 0, Place::DEFAULT);
    ready(&mut tree, 1, Place::DEFAULT);
    order(&mut tree, 100);
    ready(&mut tree, 2, Place::DEFAULT);
    assert_eq!(order(&mut tree, 9), "012012012");
}

#[test]
fn an_idle_node_gets_no_credit() {
    let mut tree = Tree::new();
    let idle = ready(&mut tree, 0, Place::DEFAULT);
    ready(&mut tree, 1, Place::DEFAULT);
    tree.set_ready(idle, false);
    assert_eq!(order(&mut tree, 50), "1".repeat(50));
    tree.set_ready(idle, true);
    assert_eq!(order(&mut tree, 6), "010101");
}

#[test]
fn a_heavy_newcomer_does_not_wait_for_a_light_one_that_sent_out_of_turn() {
    let mut tree = Tree::new();
    let light = ready(&mut tree, 0, Place::DEFAULT.weight(1));
    ready(&mut tree, 1, Place::DEFAULT.weight(256));
    tree.charge(light, 1_400_000);
    ready(&mut tree, 2, Place::DEFAULT.weight(256));
    assert_eq!(order(&mut tree, 6), "112121");
}

#[test]
fn time_of_one_rank_does_not_pass_for_another() {
    let mut tree = Tree::new();
    let last = Place::DEFAULT.rank(Rank::level(1));
    ready(&mut tree, 0, last);
    let first = ready(&mut tree, 1, Place::DEFAULT);
    order(&mut tree, 1000);
    ready(&mut tree, 2, last);
    tree.set_ready(first, false);
    assert_eq!(order(&mut tree, 6), "020202");
}

#[test]
fn with_common_time_who_waited_behind_a_lower_rank_is_ahead() {
    let mut tree = Tree::new();
    tree.keep_common_time(Element::Root);
    let last = Place::DEFAULT.rank(Rank::level(1));
    ready(&mut tree, 0, last);
    let first = ready(&mut tree, 1, Place::DEFAULT);
    order(&mut tree, 3);
    ready(&mut tree, 2, last);
    tree.set_ready(first, false);
    assert_eq!(order(&mut tree, 7), "0000202");
}

#[test]
fn a_closed_parents_children_share_its_weight() {
    let mut tree = Tree::new();
    let parent = ready(&mut tree, 0, Place::DEFAULT.weight(16));
    ready(&mut tree, 1, Place::below(parent).weight(100));
    ready(&mut tree, 2, Place::below(parent).weight(100));
    ready(&mut tree, 3, Place::DEFAULT.weight(16));
    tree.remove(parent);
    assert_eq!(order(&mut tree, 8), "31233123");
}

#[test]
fn a_node_moved_below_its_own_descendant_gives_it_its_place() {
    // RFC 7540, section 5.3.3: 0 - 1 - 2, then 0 below 2.
    let mut tree = Tree::new();
    let top = ready(&mut tree, 0, Place::DEFAULT);
    let middle = ready(&mut tree, 1, Place::below(top));
    let bottom = ready(&mut tree, 2, Place::below(middle));
    tree.put(top, Place::below(bottom));
    assert_eq!(order(&mut tree, 3), "222");
    tree.remove(bottom);
    assert_eq!(order(&mut tree, 3), "000");
    tree.remove(top);
    assert_eq!(order(&mut tree, 3), "111");
}

#[test]
fn an_exclusive_node_goes_before_all_its_siblings() {
    let mut tree = Tree::new();
    ready(&mut tree, 0, Place::DEFAULT);
    ready(&mut tree, 1, Place::DEFAULT);
    let above = ready(&mut tree, 2, Place::DEFAULT.exclusive(true));
    assert_eq!(order(&mut tree, 3), "222");
    tree.set_ready(above, false);
    assert_eq!(order(&mut tree, 4), "0101");
}

#[test]
fn a_new_weight_counts_at_once() {
    let mut tree = Tree::new();
    let slow = ready(&mut tree, 0, Place::DEFAULT.weight(1));
    ready(&mut tree, 1, Place::DEFAULT.weight(256));
    order(&mut tree, 300);
    tree.put(slow, Place::DEFAULT.weight(256));
    assert_eq!(order(&mut tree, 6), "010101");
    tree.put(slow, Place::DEFAULT.weight(1));
    assert_eq!(order(&mut tree, 100), "1".repeat(100));
}

#[test]
fn virtual_time_does_not_overflow() {
    let mut tree = Tree::new();
    let huge = ready(&mut tree, 0, Place::DEFAULT.weight(1));
    ready(&mut tree, 1, Place::DEFAULT.weight(1));
    for _ in 0..1000 {
        tree.charge(huge, u64::MAX);
    }
    assert_eq!(order(&mut tree, 3), "111");
}

#[test]
fn in_a_chain_the_highest_ready_link_goes_first_however_it_was_built() {
    for build in ["from the top", "from the bottom", "by the middle"] {
        let mut tree = Tree::new();
        let link = |id| Element::Stream(StreamId(id));
        for id in 0..9_u64 {
            let place = match build {
                "from the top" if id > 0 => Place::below(link(id - 1)),
                "by the middle" if id > 0 => Place::below(link(0)).exclusive(true),
                _ => Place::DEFAULT.exclusive(true),
            };
            tree.put(link(id), place);
        }
        let expected = match build {
            "from the top" => "012345678",
            "from the bottom" => "876543210",
            _ => "087654321",
        };
        for id in [3, 8, 0, 5, 1, 2, 7, 4, 6] {
            tree.set_ready(link(id), true);
        }
        let mut picks = String::new();
        while let Some(picked) = tree.pick() {
            tree.charge(Element::Stream(picked), 1400);
            picks += &picked.0.to_string();
            if picked.0 % 2 == 0 {
                tree.remove(Element::Stream(picked));
            } else {
                tree.set_ready(Element::Stream(picked), false);
            }
        }
        assert_eq!(picks, expected, "{build}");
    }
}

#[test]
fn a_tree_that_has_only_its_root_again_keeps_its_clock_and_nothing_else() {
    let new = || {
        let mut tree = Tree::new();
        tree.keep_common_time(Element::Root);
        tree
    };
    let mut tree = new();
    let [one, other] = [0, 4].map(|id| Element::Stream(StreamId(id)));
    tree.put(one, Place::DEFAULT.rank(Rank::level(1)));
    tree.put(other, Place::below(one));
    tree.set_ready(other, true);
    tree.charge(other, 1400);
    let clock = format!("common_now: Some({})", (1400_u128 << 28) / 16);
    assert!(format!("{tree:?}").contains(&clock));
    tree.remove(one);
    tree.remove(other);
    assert_eq!(format!("{tree:?}"), format!("{:?}", new()).replace("common_now: Some(0)", &clock));
}
