//! Traces the scheduler's tree at each moment of a scenario.

use super::Scenario;
use super::playing::{What, play};
use crate::limits::{MOMENTS_MAX, TRACE_NODES_MAX, TRACE_PACKETS_MAX};
use schedulers::{Element, Scheme, Snapshot, SnapshotNode};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::{Value, json};
use thiserror::Error;

/// The tree after something happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The slot in which it happened.
    pub slot: u64,
    /// The event.
    pub what: What,
    /// The tree after it.
    pub tree: Snapshot,
}

/// Why a scenario cannot be traced: it is too large.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0}: trace a scenario with fewer requests or bytes")]
pub struct TraceError(String);

/// The tree of `scheme` after each arrival, each response that becomes ready or is completely sent, and each
/// packet that changed the order or the shares.
pub fn trace(scenario: &Scenario, scheme: &Scheme) -> Result<Vec<Moment>, TraceError> {
    let mut moments: Vec<Moment> = Vec::new();
    let (mut nodes, mut packets) = (0, 0);
    play(scenario, scheme, |slot, what, scheduler| {
        let tree = scheduler.tree();
        let is_packet = matches!(what, What::Sent(..));
        packets += usize::from(is_packet);
        if !is_packet || moments.last().is_none_or(|last| !looks_the_same(&last.tree, &tree)) {
            nodes += tree.nodes.len();
            moments.push(Moment { slot, what, tree });
        }
        let limits = [
            (packets, TRACE_PACKETS_MAX, "packets"),
            (moments.len(), MOMENTS_MAX, "moments"),
            (nodes, TRACE_NODES_MAX, "nodes in its trees"),
        ];
        match limits.into_iter().find(|(count, most, _)| count > most) {
            None => Ok(()),
            Some((_, most, of_what)) => Err(TraceError(format!(
                "scenario `{}` under {}: at slot {slot} its trace has more than {most} {of_what}",
                scenario.name, scheme.name
            ))),
        }
    })?;
    Ok(moments)
}

/// Whether two trees have the same nodes in the same order with the same shares; the numbers of ranks may
/// differ.
pub(super) fn looks_the_same(one: &Snapshot, other: &Snapshot) -> bool {
    fn looks(node: &SnapshotNode) -> (Element, Element, u16, bool, u64) {
        (node.element, node.parent, node.weight, node.ready, node.share.to_bits())
    }
    one.nodes.iter().map(looks).eq(other.nodes.iter().map(looks))
}

/// `{slot, what, nodes}`, each node in the form of [`node_json`].
impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let nodes: Vec<Value> = self.tree.nodes.iter().map(node_json).collect();
        let mut written = serializer.serialize_struct("Moment", 3)?;
        written.serialize_field("slot", &self.slot)?;
        written.serialize_field("what", &self.what.to_string())?;
        written.serialize_field("nodes", &nodes)?;
        written.end()
    }
}

/// `{element, parent, depth, level, order, weight, ready, active, share, own_share}`; the root's parent is null.
pub fn node_json(node: &SnapshotNode) -> Value {
    let parent = (node.element != Element::Root).then(|| node.parent.to_string());
    json!({
        "element": node.element.to_string(),
        "parent": parent,
        "depth": node.depth,
        "level": node.level,
        "order": node.order,
        "weight": node.weight,
        "ready": node.ready,
        "active": node.active,
        "share": node.share,
        "own_share": node.own_share,
    })
}
