//! The pushes and hints that go with a response: the policies of *Rules of Thumb for HTTP/2 Push*.

use crate::graph::{Edge, Graph, Node, Place};
use schedulers::{Resource, usual_urgency};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

schedulers::named! {
    /// A push policy. The sections are the document's.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[derive(SerializeDisplay, DeserializeFromStr)]
    pub enum Policy {
        /// Neither push nor hints.
        NoOpt = "none",
        /// With any response: its children of the same origin in order of evaluation, until they fill the idle time.
        Push = "push",
        /// With the document: everything reachable from it on the same origin, in topological order by time of evaluation,
        /// until it fills the idle time (rule 2).
        PushInEvaluationOrder = "push-in-evaluation-order",
        /// With the document: hints at resources that are both hidden and critical.
        Preload = "preload",
        /// [`Self::Push`] with the document only, and [`Self::Preload`].
        PushAndPreload = "push-and-preload",
        /// With the document: everything static of the site's own hosts, without a budget. The straw man.
        PushStaticWithHtml = "push-static-with-html",
        /// The same, but together with the document no more than the budget.
        PushStaticWithHtmlOneBdp = "push-static-with-html-one-bdp",
    }
}

/// The name is not a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a push policy; there are: {names}", names = Policy::NAMES.join(", "))]
pub struct UnknownPolicy(String);

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(name: &str) -> Result<Self, UnknownPolicy> {
        Self::named(name).ok_or_else(|| UnknownPolicy(name.to_owned()))
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Policy {
    /// Whether it pushes anything.
    pub fn pushes(self) -> bool {
        !matches!(self, Self::NoOpt | Self::Preload)
    }
}

/// The transport's view of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathState {
    /// The congestion window.
    pub window_bytes: u64,
    /// The occupied part of the window: in flight, or beyond the client's credit on the connection.
    pub in_flight_bytes: u64,
    /// The recent delivery rate, if known.
    pub delivery_bytes_per_s: Option<u64>,
    /// The least round-trip time seen.
    pub min_rtt: Duration,
    /// The transport's credit on a new push stream.
    pub stream_credit_bytes: u64,
    /// Unidirectional streams that may still be opened.
    pub streams: u64,
    /// Push IDs that the client still allows.
    pub push_ids: u64,
}

/// How much may be pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Body bytes that fill the idle time.
    pub bytes: u64,
    /// The largest single body that its stream can take at once.
    pub stream_bytes: u64,
    /// How many responses.
    pub pushes: u64,
}

impl Budget {
    /// The bytes that fill the network while the client cannot make requests: for a round trip, and while it evaluates (rule
    /// 1).
    ///
    /// A window that has grown into a queue exceeds what the path holds (rule 1, "bufferbloat"): if the delivery rate is
    /// known, the window counts as at most 1.25 bandwidth-delay products.
    pub fn of(path: &PathState, evaluation: Duration, max_pushes: u64) -> Self {
        let bdp = bytes_in(path.min_rtt, path).map(|it| it.saturating_add(it / 4));
        let window = bdp.map_or(path.window_bytes, |it| it.min(path.window_bytes));
        let idle = window
            .saturating_sub(path.in_flight_bytes)
            .saturating_add(bytes_in(evaluation, path).unwrap_or(0));
        Self {
            bytes: idle,
            stream_bytes: path.stream_credit_bytes,
            pushes: max_pushes.min(path.streams).min(path.push_ids),
        }
    }
}

/// The bytes that arrive in this time, if the rate is known.
fn bytes_in(time: Duration, path: &PathState) -> Option<u64> {
    let bytes = u128::from(path.delivery_bytes_per_s?) * time.as_micros() / 1_000_000;
    Some(u64::try_from(bytes).unwrap_or(u64::MAX))
}

/// The request for which a plan is made.
#[derive(Clone, Copy)]
pub struct Choice<'a> {
    /// The graph of its page.
    pub graph: &'a Graph,
    /// The node that was asked for.
    pub node: usize,
    /// Whether it is the page's document.
    pub navigation: bool,
    /// The upper bound of pushed bytes.
    pub budget: Budget,
    /// The highest urgency of other responses with waiting bytes, if any (RFC 9218's urgency).
    pub waiting_urgency: Option<u8>,
    /// Whether a node may be pushed: not cached, and not forbidden.
    pub allowed: &'a dyn Fn(&Node) -> bool,
}

/// The pushes and hints with a response, by index into the graph's nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// Promised, in this order.
    pub push: Vec<usize>,
    /// Named in `Link` fields, in this order.
    pub hint: Vec<usize>,
}

impl Policy {
    /// The plan for a request.
    pub fn plan(self, choice: &Choice<'_>) -> Plan {
        let (push, hint) = match self {
            Self::Push => (first_that_fill(choice, children(choice)), Vec::new()),
            _ if !choice.navigation => return Plan::default(),
            Self::NoOpt => return Plan::default(),
            Self::PushInEvaluationOrder => {
                let order = choice.graph.in_evaluation_order(choice.node);
                (first_that_fill(choice, order), Vec::new())
            }
            Self::Preload => (Vec::new(), choice.graph.hidden_and_critical(choice.node)),
            Self::PushAndPreload => {
                let push = first_that_fill(choice, children(choice));
                let mut hint = choice.graph.hidden_and_critical(choice.node);
                hint.retain(|it| !push.contains(it));
                (push, hint)
            }
            Self::PushStaticWithHtml => (statics(choice), Vec::new()),
            Self::PushStaticWithHtmlOneBdp => (statics_within(choice), Vec::new()),
        };
        Plan { push, hint }
    }
}

fn children(choice: &Choice<'_>) -> Vec<(usize, Edge)> {
    let edges = choice.graph.edges.iter().filter(|it| it.from == choice.node);
    edges.map(|it| (it.to, *it)).collect()
}

/// The first candidates whose sizes just exceed the budget: each fills time in which the network would be idle, because
/// everything before it is sent before the client can make a request (rule 1). In the middle of a load, none is pushed while
/// more urgent responses wait (rules 2 and 5).
fn first_that_fill(choice: &Choice<'_>, candidates: Vec<(usize, Edge)>) -> Vec<usize> {
    let parent = &choice.graph.nodes[choice.node];
    let mut before = 0_u64;
    let mut pushed = Vec::new();
    for (candidate, edge) in candidates {
        let node = &choice.graph.nodes[candidate];
        let is_idle = before.saturating_add(sent_until_asked(parent, edge)) < choice.budget.bytes;
        if !is_idle || pushed.len() as u64 >= choice.budget.pushes {
            break;
        }
        let fits = node.host == parent.host && node.bytes <= choice.budget.stream_bytes;
        let waits_its_turn = choice.navigation
            || choice.waiting_urgency.is_none_or(|waiting| waiting >= urgency(node));
        if fits && waits_its_turn && (choice.allowed)(node) {
            before = before.saturating_add(node.bytes);
            pushed.push(candidate);
        }
    }
    pushed
}

/// Bytes of the parent that are sent while the request for a child is in transit. Resources named in the head are requested
/// after the first of these bytes; other children are discovered at the end, and the whole round trip is idle.
fn sent_until_asked(parent: &Node, edge: Edge) -> u64 {
    if edge.place == Place::Head { parent.bytes } else { 0 }
}

fn urgency(node: &Node) -> u8 {
    let (kind, critical) = (node.kind, node.critical);
    usual_urgency(&Resource { kind, critical, ..Resource::default() })
}

/// All of the site's own resources that the client does not have.
fn statics(choice: &Choice<'_>) -> Vec<usize> {
    let Choice { graph, allowed, .. } = choice;
    let mut nodes = graph.descendants(choice.node);
    nodes.retain(|&it| graph.nodes[it].first_party && allowed(&graph.nodes[it]));
    nodes.truncate(usize::try_from(choice.budget.pushes).unwrap_or(usize::MAX));
    nodes
}

/// The first of them that fit into the budget beside the document; none if the order of the bytes would otherwise be lost.
fn statics_within(choice: &Choice<'_>) -> Vec<usize> {
    let mut left = choice.budget.bytes.saturating_sub(choice.graph.nodes[choice.node].bytes);
    let mut fitting = Vec::new();
    for node in statics(choice) {
        let bytes = choice.graph.nodes[node].bytes;
        if bytes > left {
            break;
        }
        left -= bytes;
        fitting.push(node);
    }
    fitting
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Edge, Place};
    use proptest::prelude::{ProptestConfig, prop_assert, proptest};
    use schedulers::Kind;

    const UNLIMITED: u64 = u64::MAX;

    fn node(path: &str, bytes: u64) -> Node {
        Node {
            host: "site.example".into(),
            path: path.into(),
            kind: Kind::Js,
            bytes,
            etag: None,
            vary: None,
            critical: true,
            hidden: false,
            first_party: true,
            evaluation: Duration::ZERO,
        }
    }

    /// A document and the resources it references.
    fn page(html_bytes: u64, children: &[Node]) -> Graph {
        let edge = |to| Edge { from: 0, to, place: Place::Head };
        Graph {
            format: crate::graph::FORMAT.into(),
            nodes: std::iter::once(node("/", html_bytes)).chain(children.iter().cloned()).collect(),
            edges: (1..=children.len()).map(edge).collect(),
        }
    }

    fn plan(policy: Policy, graph: &Graph, bytes: u64) -> Plan {
        policy.plan(&Choice {
            graph,
            node: 0,
            navigation: true,
            budget: Budget { bytes, stream_bytes: UNLIMITED, pushes: 100 },
            waiting_urgency: None,
            allowed: &|_| true,
        })
    }

    fn path_of(window_bytes: u64, delivery_bytes_per_s: Option<u64>) -> PathState {
        PathState {
            window_bytes,
            in_flight_bytes: 0,
            delivery_bytes_per_s,
            min_rtt: Duration::from_millis(200),
            stream_credit_bytes: UNLIMITED,
            streams: 100,
            push_ids: 100,
        }
    }

    #[test]
    fn a_window_that_grew_into_a_queue_does_not_raise_the_budget() {
        // 100,000 bytes a second for 0.2 s are 20,000.
        let budget = Budget::of(&path_of(200_000, Some(100_000)), Duration::ZERO, 10);
        assert_eq!(budget.bytes, 25_000);
    }

    #[test]
    fn evaluation_adds_idle_time() {
        let budget = Budget::of(&path_of(20_000, Some(100_000)), Duration::from_millis(100), 10);
        assert_eq!(budget.bytes, 20_000 + 10_000);
    }

    #[test]
    fn credit_and_ids_bound_a_budget() {
        let path = PathState { stream_credit_bytes: 5000, push_ids: 2, ..path_of(20_000, None) };
        let expected = Budget { bytes: 20_000, stream_bytes: 5000, pushes: 2 };
        assert_eq!(Budget::of(&path, Duration::ZERO, 10), expected);
    }

    #[test]
    fn one_bdp_pushes_what_fits_beside_the_document() {
        let children: Vec<Node> = (0..10).map(|n| node(&format!("/{n}"), 4096)).collect();
        let pushed = |html_kib: u64| {
            plan(Policy::PushStaticWithHtmlOneBdp, &page(html_kib * 1024, &children), 35 * 1024)
        };
        assert_eq!(pushed(9).push, [1, 2, 3, 4, 5, 6]);
        assert_eq!(pushed(41).push, [0_usize; 0]);
    }

    #[test]
    fn the_straw_man_pushes_all_that_is_the_sites_own() {
        let foreign =
            Node { first_party: false, host: "cdn.example".into(), ..node("/foreign", 1) };
        let own = Node { host: "static.site.example".into(), ..node("/own", 1_000_000) };
        assert_eq!(plan(Policy::PushStaticWithHtml, &page(1, &[own, foreign]), 10).push, [1]);
    }

    #[test]
    fn only_what_is_hidden_and_critical_is_hinted() {
        let children = [
            Node { hidden: true, ..node("/both", 1) },
            node("/in-markup", 1),
            Node { hidden: true, critical: false, ..node("/later", 1) },
        ];
        let graph = page(1, &children);
        assert_eq!(plan(Policy::Preload, &graph, 0).hint, [1]);
        let both = plan(Policy::PushAndPreload, &graph, 3);
        assert_eq!((both.push, both.hint), (vec![1, 2], vec![]));
    }

    #[test]
    fn a_document_that_fills_the_idle_time_leaves_none_to_what_its_head_names() {
        let children = [node("/a", 10_000), node("/b", 10_000), node("/c", 10_000)];
        let pushed = |html_kib: u64| {
            plan(Policy::Push, &page(html_kib * 1024, &children), 35 * 1024).push.len()
        };
        assert_eq!([9, 20, 34, 35, 41].map(pushed), [3, 2, 1, 0, 0]);
    }

    #[test]
    fn in_evaluation_order_what_a_script_writes_goes_before_the_next_script() {
        let children = [node("/1.js", 5_000), node("/3.js", 10_000), node("/4.js", 10_000)];
        let mut graph = page(10_000, &children);
        graph.nodes.push(node("/2.js", 10_000));
        graph.edges.push(Edge { from: 1, to: 4, place: Place::Script });
        graph.edges.push(Edge { from: 4, to: 1, place: Place::Script });
        let pushed = |policy, bytes| {
            let order = plan(policy, &graph, bytes).push;
            order.iter().map(|it| &*graph.nodes[*it].path).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(pushed(Policy::PushInEvaluationOrder, 100_000), "/1.js /2.js /3.js /4.js");
        assert_eq!(
            pushed(Policy::PushInEvaluationOrder, 16_000),
            "/1.js /2.js",
            "just above 16 KB"
        );
        assert_eq!(pushed(Policy::Push, 100_000), "/1.js /3.js /4.js");
    }

    #[test]
    fn what_is_discovered_at_the_end_leaves_a_whole_round_trip_to_fill() {
        for place in [Place::Tail, Place::Style, Place::Script] {
            let mut graph = page(1_000_000, &[node("/a", 10_000), node("/b", 10_000)]);
            graph.edges.iter_mut().for_each(|it| it.place = place);
            assert_eq!(plan(Policy::Push, &graph, 10_000).push, [1], "{place:?}");
        }
    }

    #[test]
    fn in_the_middle_of_a_load_more_urgent_responses_forbid_pushes() {
        let graph = page(1, &[node("/script", 10), Node { kind: Kind::Image, ..node("/i", 10) }]);
        let budget = Budget { bytes: 100, stream_bytes: UNLIMITED, pushes: 9 };
        let pushes = |policy: Policy, navigation, waiting_urgency| {
            let graph = &graph;
            let allowed = &|_: &Node| true;
            policy
                .plan(&Choice { graph, node: 0, navigation, budget, waiting_urgency, allowed })
                .push
        };
        assert_eq!(pushes(Policy::Push, false, None), [1, 2]);
        assert_eq!(pushes(Policy::Push, false, Some(3)), [1, 2], "images wait");
        assert_eq!(pushes(Policy::Push, false, Some(1)), [1], "a script waits");
        assert_eq!(pushes(Policy::Push, false, Some(0)), [0_usize; 0], "a stylesheet waits");
        assert_eq!(pushes(Policy::Push, true, Some(0)), [1, 2], "with the document");
        assert_eq!(pushes(Policy::PushAndPreload, false, None), [0_usize; 0]);
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for policy in Policy::ALL {
            assert_eq!(policy.name().parse(), Ok(policy));
        }
        assert!("push-all".parse::<Policy>().is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn pushes_just_exceed_the_budget_or_are_all(
            sizes in proptest::collection::vec(1_u64..50_000, 0..20),
            foreign in proptest::collection::vec(proptest::bool::ANY, 20),
            budget in 1_u64..200_000,
        ) {
            let child = |(n, bytes): (usize, &u64)| {
                let host = if foreign[n] { "other.example" } else { "site.example" };
                Node { host: host.into(), ..node(&format!("/{n}"), *bytes) }
            };
            let children: Vec<Node> = sizes.iter().enumerate().map(child).collect();
            let graph = page(0, &children);
            let pushed = plan(Policy::Push, &graph, budget).push;
            let bytes: Vec<u64> = pushed.iter().map(|it| graph.nodes[*it].bytes).collect();
            let own = children.iter().filter(|it| it.host == "site.example").count();
            prop_assert!(pushed.iter().all(|it| graph.nodes[*it].host == "site.example"));
            prop_assert!(bytes.iter().rev().skip(1).sum::<u64>() < budget);
            prop_assert!(bytes.iter().sum::<u64>() >= budget || pushed.len() == own);
        }
    }
}
