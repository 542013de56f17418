//! The fetch dependency graph: which resources each resource of a page references, in order of evaluation (*Rules of Thumb*,
//! definitions).

use crate::limits::PATH_BYTES_MAX;
use crate::link;
use corpus::Page;
use corpus::page::{Event, PageResource, Party};
use schedulers::Kind;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The format of a graph's JSON.
pub const FORMAT: &str = "utmost-graph/1";

/// The resources of a page, the document first, and which one discovers which.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// `utmost-graph/1`.
    pub format: String,
    /// The resources.
    pub nodes: Vec<Node>,
    /// References, by index into `nodes`.
    pub edges: Vec<Edge>,
}

/// A resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// The host that serves it.
    pub host: String,
    /// Path and query.
    pub path: String,
    /// The kind of the resource.
    #[serde(with = "corpus::kind")]
    pub kind: Kind,
    /// Bytes of its body on the wire; 0 if unknown.
    pub bytes: u64,
    /// The `ETag` field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// The `Vary` field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vary: Option<String>,
    /// Whether the part of the page above the fold needs it.
    #[serde(default)]
    pub critical: bool,
    /// Whether parsing the HTML does not reveal it.
    #[serde(default)]
    pub hidden: bool,
    /// Whether its host is the site's own.
    #[serde(default)]
    pub first_party: bool,
    /// The duration of its evaluation.
    #[serde(default)]
    pub evaluation: Duration,
}

impl Node {
    /// A resource of the site, without further facts.
    pub(crate) fn plain(host: &str, path: &str, kind: Kind, bytes: u64) -> Self {
        Self {
            host: host.to_owned(),
            path: path.to_owned(),
            kind,
            bytes,
            etag: None,
            vary: None,
            critical: false,
            hidden: false,
            first_party: true,
            evaluation: Duration::ZERO,
        }
    }

    /// The `Link` value with which a document of `host` preloads it.
    pub fn preload(&self, host: &str) -> String {
        let Self { path, kind, .. } = self;
        let origin =
            if self.host == host { String::new() } else { format!("https://{}", self.host) };
        let (destination, more) = match kind {
            Kind::Css => ("style", ""),
            Kind::Js => ("script", ""),
            Kind::Font => ("font", "; crossorigin"),
            Kind::Image => ("image", ""),
            _ => ("fetch", "; crossorigin"),
        };
        format!("<{origin}{path}>; rel=preload; as={destination}{more}")
    }
}

/// A reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The node that refers.
    pub from: usize,
    /// The node to which it leads.
    pub to: usize,
    /// Where.
    pub place: Place,
}

/// Where a reference stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// In the document's head.
    Head,
    /// In the document, after its head.
    Tail,
    /// In a stylesheet.
    Style,
    /// In a script: known after it has run.
    Script,
}

/// A graph that cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum GraphError {
    #[error("{0}; a graph is written by `utmost corpus graph`")]
    Malformed(#[from] serde_json::Error),
    #[error("edge {edge}: there are {nodes} nodes, from 0")]
    Nowhere { edge: usize, nodes: usize },
    #[error("no nodes: the first one is the document")]
    Empty,
    /// A path that would name another host, or cannot be requested.
    #[error(
        "node {node}: path {path:?}: no plain path; it begins with one `/` and has no dot segments, spaces, control \
         characters and `#`, and at most {PATH_BYTES_MAX} bytes"
    )]
    Path { node: usize, path: String },
    #[error("node {node}: host {host:?}: not a name without scheme and path")]
    Host { node: usize, host: String },
}

pub(crate) fn is_node_path(path: &str) -> bool {
    path.len() <= PATH_BYTES_MAX && link::is_plain_path(path)
}

/// Whether a graph may name this host: characters of a name or an address, optionally with a port.
pub fn is_host(host: &str) -> bool {
    !host.is_empty() && host.bytes().all(|it| it.is_ascii_alphanumeric() || b"-._:[]".contains(&it))
}

impl Graph {
    pub(crate) fn new(nodes: Vec<Node>, edges: Vec<Edge>) -> Self {
        Self { format: FORMAT.to_owned(), nodes, edges }
    }

    /// Reads JSON.
    pub fn from_json(text: &str) -> Result<Self, GraphError> {
        let graph: Self = serde_json::from_str(text)?;
        let nodes = graph.nodes.len();
        if nodes == 0 {
            return Err(GraphError::Empty);
        }
        for (node, Node { host, path, .. }) in graph.nodes.iter().enumerate() {
            if !is_node_path(path) {
                return Err(GraphError::Path { node, path: path.clone() });
            }
            // A page without origins has no known host.
            if !host.is_empty() && !is_host(host) {
                return Err(GraphError::Host { node, host: host.clone() });
            }
        }
        match graph.edges.iter().position(|edge| edge.from.max(edge.to) >= nodes) {
            Some(edge) => Err(GraphError::Nowhere { edge, nodes }),
            None => Ok(graph),
        }
    }

    /// The graph of a corpus page, without failed resources and those whose path cannot be promised.
    pub fn of_page(page: &Page) -> Self {
        let resources = page.resources.iter();
        let there: Vec<&PageResource> =
            resources.filter(|it| it.status == 200 && is_node_path(&it.url)).collect();
        let index: BTreeMap<usize, usize> =
            there.iter().enumerate().map(|(index, it)| (it.id, index)).collect();
        let nodes = there.iter().map(|it| node_of(page, it)).collect();
        let mut by_evaluation = there.clone();
        by_evaluation.sort_by_key(|it| (it.eval_order.is_none(), it.eval_order, it.id));
        let edges = by_evaluation.iter().filter_map(|resource| {
            let (from, to) = (*index.get(&resource.trigger.of)?, *index.get(&resource.id)?);
            let place = place_of(there[from], resource);
            (resource.trigger.on != Event::Nav).then_some(Edge { from, to, place })
        });
        Self::new(nodes, edges.collect())
    }

    /// The node of a path on a host.
    pub fn find(&self, host: &str, path: &str) -> Option<usize> {
        self.nodes.iter().position(|it| it.path == path && it.host.eq_ignore_ascii_case(host))
    }

    /// The nodes that `of` references, in the order of evaluation: the order of the edges.
    pub fn children(&self, of: usize) -> impl Iterator<Item = usize> + '_ {
        self.edges.iter().filter(move |it| it.from == of).map(|it| it.to)
    }

    /// All nodes reachable from `of`, without itself, in order of evaluation: children before grandchildren.
    pub fn descendants(&self, of: usize) -> Vec<usize> {
        let mut seen = BTreeSet::from([of]);
        let mut found: Vec<usize> = Vec::new();
        let mut next = vec![of];
        while !next.is_empty() {
            let children: Vec<usize> = next.iter().flat_map(|it| self.children(*it)).collect();
            next = children.into_iter().filter(|it| seen.insert(*it)).collect();
            found.extend(&next);
        }
        found
    }

    /// All nodes reachable from `of`, without itself, in topological order by time of evaluation: a node's references follow
    /// right after it, because it is evaluated before the nodes after it. Each has the edge from `of` through which it is found.
    pub fn in_evaluation_order(&self, of: usize) -> Vec<(usize, Edge)> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let mut open: Vec<(usize, Option<Edge>)> = vec![(of, None)];
        while let Some((node, first)) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            found.extend(first.map(|first| (node, first)));
            // The last first, because the stack returns the last one first.
            let edges = self.edges.iter().filter(|it| it.from == node).rev();
            open.extend(edges.map(|it| (it.to, first.or(Some(*it)))));
        }
        found
    }

    /// The hidden and critical nodes reachable from `of`, in order of evaluation, for the policies with preload.
    pub fn hidden_and_critical(&self, of: usize) -> Vec<usize> {
        let mut found = self.descendants(of);
        found.retain(|&it| self.nodes[it].hidden && self.nodes[it].critical);
        found
    }

    /// Removes resources that only one of two consecutive loads requested, because such URLs are new for each load (a rule of
    /// the experiments in *Rules of Thumb*). The second value lists them.
    pub fn without_dynamic(&self, other: &Self) -> (Self, Vec<String>) {
        let mut index = Vec::new();
        let mut nodes = Vec::new();
        let mut dropped = Vec::new();
        for node in &self.nodes {
            let is_kept = other.find(&node.host, &node.path).is_some();
            index.push(is_kept.then_some(nodes.len()));
            if is_kept {
                nodes.push(node.clone());
            } else {
                dropped.push(node.path.clone());
            }
        }
        let only_there = other.nodes.iter().filter(|it| self.find(&it.host, &it.path).is_none());
        dropped.extend(only_there.map(|it| it.path.clone()));
        let edges = self.edges.iter().filter_map(|edge| {
            Some(Edge { from: index[edge.from]?, to: index[edge.to]?, place: edge.place })
        });
        (Self { format: self.format.clone(), nodes, edges: edges.collect() }, dropped)
    }
}

fn node_of(page: &Page, resource: &PageResource) -> Node {
    let origin = page.origins.get(resource.origin);
    Node {
        host: origin.map(|it| it.host.clone()).unwrap_or_default(),
        path: resource.url.clone(),
        kind: resource.kind,
        bytes: resource.bytes,
        etag: resource.etag.clone(),
        vary: resource.vary.clone(),
        critical: resource.critical || resource.above_fold,
        hidden: !(resource.trigger.on == Event::Nav || in_markup(resource)),
        first_party: origin.is_none_or(|it| it.party == Party::First),
        evaluation: Duration::try_from_secs_f64(resource.exec_ms / 1000.0).unwrap_or_default(),
    }
}

/// The document's text names it.
fn in_markup(resource: &PageResource) -> bool {
    resource.trigger.of == 0 && matches!(resource.trigger.on, Event::Bytes | Event::Complete)
}

fn place_of(parent: &PageResource, child: &PageResource) -> Place {
    match parent.kind {
        Kind::Css => Place::Style,
        Kind::Js => Place::Script,
        _ if child.in_head => Place::Head,
        _ => Place::Tail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(paths: &[&str], edges: &[(usize, usize)]) -> Graph {
        let node = |path: &&str| Node {
            host: "site.example".into(),
            path: (*path).into(),
            kind: Kind::Js,
            bytes: 1,
            etag: None,
            vary: None,
            critical: false,
            hidden: false,
            first_party: true,
            evaluation: Duration::ZERO,
        };
        let edge = |&(from, to): &(usize, usize)| Edge { from, to, place: Place::Head };
        Graph {
            format: FORMAT.into(),
            nodes: paths.iter().map(node).collect(),
            edges: edges.iter().map(edge).collect(),
        }
    }

    #[test]
    fn a_bundled_page_has_its_references_in_order_of_evaluation() {
        let page = corpus::bundled("davies-meenan").expect("bundled");
        let graph = Graph::of_page(page);
        assert_eq!(graph.nodes.len(), page.resources.len());
        assert_eq!(graph.descendants(0).len(), page.resources.len() - 1);
        let evaluated: Vec<_> =
            graph.children(0).filter_map(|it| page.resources[it].eval_order).collect();
        assert!(evaluated.is_sorted(), "{evaluated:?}");
    }

    #[test]
    fn descendants_come_level_by_level_and_once() {
        let graph = graph(&["/", "/a", "/b", "/c"], &[(0, 2), (0, 1), (2, 3), (1, 3), (3, 0)]);
        assert_eq!(graph.descendants(0), [2, 1, 3]);
    }

    #[test]
    fn what_one_of_two_loads_lacks_is_dynamic() {
        let first = graph(&["/", "/x?1", "/a", "/y?1"], &[(0, 1), (0, 2), (1, 3)]);
        let second = graph(&["/", "/a", "/x?2"], &[(0, 1), (0, 2)]);
        let (kept, dropped) = first.without_dynamic(&second);
        assert_eq!(dropped, ["/x?1", "/y?1", "/x?2"]);
        assert_eq!(kept, graph(&["/", "/a"], &[(0, 1)]));
    }

    #[test]
    fn json_is_read_as_it_was_written_and_checked() {
        let graph = graph(&["/", "/a"], &[(0, 1)]);
        let text = serde_json::to_string(&graph).expect("serializable");
        assert_eq!(Graph::from_json(&text).expect("our own"), graph);
        let wrong = text.replace("\"to\":1", "\"to\":7");
        let message = Graph::from_json(&wrong).expect_err("no node 7").to_string();
        assert_eq!(message, "edge 0: there are 2 nodes, from 0");
    }

    #[test]
    fn a_path_or_host_that_leads_elsewhere_is_refused_by_its_node() {
        let rows = [
            ("/a.css", true),
            ("/", true),
            ("/a%20b/c..d/...?x=../y&z=//q", true),
            ("//evil.example/x.css", false),
            ("/\\evil.example/x.css", false),
            ("https://evil.example/x.css", false),
            ("", false),
            ("a.css", false),
            ("/../secret.txt", false),
            ("/a/%2e%2E/secret.txt", false),
            ("/..%2f..%2fsecret.txt", false),
            ("/./a.css", false),
            ("/a/..", false),
            ("/%00", false),
            ("/a%0d%0ab", false),
            ("/a#b", false),
            ("/a b", false),
            ("/a\nb", false),
            ("/\u{e9}", false),
        ];
        for (path, is_good) in rows {
            let text = serde_json::to_string(&graph(&["/", path], &[(0, 1)])).expect("JSON");
            let expected = format!(
                "node 1: path {path:?}: no plain path; it begins with one `/` and has no dot segments, spaces, \
                 control characters and `#`, and at most 2048 bytes"
            );
            let error = Graph::from_json(&text).err().map(|it| it.to_string());
            assert_eq!(error, (!is_good).then_some(expected), "{path}");
        }
        let mut elsewhere = graph(&["/"], &[]);
        elsewhere.nodes[0].host = "a/b".into();
        let text = serde_json::to_string(&elsewhere).expect("JSON");
        let message = Graph::from_json(&text).expect_err("no host").to_string();
        assert_eq!(message, "node 0: host \"a/b\": not a name without scheme and path");
    }
}
