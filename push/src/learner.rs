//! Learns the resources of a page from many clients' requests, load by load.

use crate::graph::{Edge, Graph, Node, Place};
use crate::limits::LEARNED_RESOURCES_MAX;
use crate::link::without_query;
use schedulers::Kind;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The number of last loads that are stored.
const LOADS: usize = 20;
/// The share of loads that must have requested a resource, in percent.
const SHARE_PERCENT: usize = 80;

/// Learns the resources of a page: those that four of five of the last loads requested, and both of the last two (so
/// that URLs that are new for each load drop out). Loads with less than half of the median number of requests are
/// partial, from robots or clients with cached copies, and do not count.
#[derive(Debug, Clone, Default)]
pub struct Learner {
    loads: VecDeque<Vec<Asked>>,
    /// The last size of each resource of these loads, if the log has it.
    bytes: BTreeMap<String, u64>,
}

/// A resource that a load requested.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// Path and query.
    pub path: String,
    /// Bytes of its body; `None` if the client had a valid copy.
    pub bytes: Option<u64>,
    /// The path of the stylesheet that references it; `None` for the document.
    pub referrer: Option<String>,
}

impl Learner {
    /// Adds one load of the page: its requests, in order.
    pub fn load(&mut self, mut resources: Vec<Asked>) {
        resources.truncate(LEARNED_RESOURCES_MAX);
        let sizes = resources.iter().filter_map(|it| Some((it.path.clone(), it.bytes?)));
        self.bytes.extend(sizes);
        self.loads.push_back(resources);
        let oldest = if self.loads.len() > LOADS { self.loads.pop_front() } else { None };
        for Asked { path, .. } in oldest.into_iter().flatten() {
            if !self.loads.iter().any(|load| position(load, &path).is_some()) {
                self.bytes.remove(&path);
            }
        }
    }

    /// The resources of the page with their last sizes, in the median order of requests; empty before its second load.
    pub fn learned(&self) -> Vec<Asked> {
        let loads = self.whole_loads();
        let [.., before, last] = loads[..] else { return Vec::new() };
        let mut found: Vec<Asked> = Vec::new();
        for (place, asked) in last.iter().enumerate() {
            let path = &asked.path;
            let seen = loads.iter().filter(|it| position(it, path).is_some()).count();
            let is_usual = seen * 100 >= loads.len() * SHARE_PERCENT;
            let is_first = position(last, path) == Some(place);
            if is_first && is_usual && position(before, path).is_some() {
                let bytes = self.bytes.get(path).copied();
                found.push(Asked { bytes, ..asked.clone() });
            }
        }
        found.sort_by_cached_key(|it| median_position(&loads, &it.path));
        found
    }

    /// The number of stored loads, and of partial ones among them.
    pub fn loads_and_partial(&self) -> (usize, usize) {
        (self.loads.len(), self.loads.len() - self.whole_loads().len())
    }

    /// The loads with at least half of the median number of requests.
    fn whole_loads(&self) -> Vec<&Vec<Asked>> {
        let median = middle(self.loads.iter().map(|it| paths(it))).unwrap_or(0);
        self.loads.iter().filter(|it| 2 * paths(it) >= median).collect()
    }

    /// The learned graph of a page with this host, path and size. Requests do not show where in the document a
    /// reference is, so it counts as in the head, where a push gains least. Requests made by scripts cannot be
    /// recognized, so they count as the document's own.
    pub fn graph(&self, host: &str, document: &str, document_bytes: u64) -> Graph {
        let learned = self.learned();
        let document = node(host, document, Kind::Html, document_bytes, false);
        let mut graph = Graph::new(vec![document], Vec::new());
        for Asked { path, bytes, referrer } in &learned {
            let bytes = bytes.unwrap_or(0);
            graph.nodes.push(node(host, path, kind_of(path), bytes, referrer.is_some()));
        }
        for (index, asked) in learned.iter().enumerate() {
            let sheet = learned.iter().position(|it| Some(&it.path) == asked.referrer.as_ref());
            let from = sheet.filter(|it| *it != index);
            let place = if from.is_some() { Place::Style } else { Place::Head };
            graph.edges.push(Edge { from: from.map_or(0, |it| it + 1), to: index + 1, place });
        }
        graph
    }
}

/// The number of resources that a load requested.
fn paths(load: &[Asked]) -> usize {
    load.iter().map(|it| it.path.as_str()).collect::<BTreeSet<_>>().len()
}

fn node(host: &str, path: &str, kind: Kind, bytes: u64, hidden: bool) -> Node {
    let critical = matches!(kind, Kind::Html | Kind::Css);
    Node { critical, hidden, ..Node::plain(host, path, kind, bytes) }
}

pub(crate) fn kind_of(path: &str) -> Kind {
    let mime = mime_guess::from_path(without_query(path)).first_or_octet_stream();
    Kind::of_mime(mime.essence_str())
}

fn position(load: &[Asked], path: &str) -> Option<usize> {
    load.iter().position(|it| it.path == path)
}

fn median_position(loads: &[&Vec<Asked>], path: &str) -> usize {
    middle(loads.iter().filter_map(|load| position(load, path))).unwrap_or(usize::MAX)
}

/// The median; for an even number of values, the upper of the middle two.
fn middle(values: impl Iterator<Item = usize>) -> Option<usize> {
    let mut values: Vec<usize> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(path: &str) -> Asked {
        Asked { path: path.to_owned(), bytes: Some(1), referrer: None }
    }

    fn learned(loads: &[&str]) -> String {
        let mut learner = Learner::default();
        for load in loads {
            learner.load(load.split_whitespace().map(asked).collect());
        }
        learner.learned().into_iter().map(|it| it.path).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_most_loads_ask_for_belongs_to_the_page() {
        assert_eq!(learned(&["/a /b /x?1", "/a /b /x?2"]), "/a /b");
        assert_eq!(learned(&["/a /b", "/b /a", "/b /a"]), "/b /a");
        assert_eq!(learned(&["/a /b", "/a /b", "/a /b", "/a /b", "/a"]), "/a");
        assert_eq!(learned(&["/b", "/a", "/a /b", "/a /b", "/a /b"]), "/a /b");
        assert_eq!(learned(&["/a", "/b", "/b"]), "");
        assert_eq!(learned(&["/a /a", "/a /a"]), "/a");
        assert_eq!(learned(&["/a"]), "");
    }

    #[test]
    fn robots_and_clients_with_copies_take_nothing_away() {
        let good = "/a /b /c";
        let partial = ["/favicon.ico"; 6];
        let loads = [[good; 14].as_slice(), &partial].concat();
        assert_eq!(learned(&loads), good.trim());
        let mut learner = Learner::default();
        for load in loads {
            learner.load(load.split_whitespace().map(asked).collect());
        }
        assert_eq!(learner.loads_and_partial(), (20, 6));
        // Half is enough to count: a resource omitted twice in a row no longer belongs to the page.
        assert_eq!(learned(&[good, good, good, good, "/a /b"]), "/a /b");
        assert_eq!(learned(&[good, "/favicon.ico"]), "");
    }

    #[test]
    fn a_size_is_the_last_that_was_told() {
        let mut learner = Learner::default();
        for bytes in [Some(10), Some(20), None] {
            learner.load(vec![Asked { bytes, ..asked("/a") }]);
        }
        assert_eq!(learner.learned()[0].bytes, Some(20));
    }

    #[test]
    fn the_graph_has_what_stylesheets_bring_below_them() {
        let mut learner = Learner::default();
        for _ in 0..2 {
            let font = Asked { referrer: Some("/a.css".into()), ..asked("/f.woff2?v=1") };
            let lost = Asked { referrer: Some("/gone.css".into()), ..asked("/b.png") };
            learner.load(vec![asked("/a.css"), font, lost]);
        }
        let graph = learner.graph("site.example", "/", 900);
        let kinds: Vec<Kind> = graph.nodes.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, [Kind::Html, Kind::Css, Kind::Font, Kind::Image]);
        let edges: Vec<_> = graph.edges.iter().map(|it| (it.from, it.to, it.place)).collect();
        assert_eq!(edges, [(0, 1, Place::Head), (1, 2, Place::Style), (0, 3, Place::Head)]);
        assert!(graph.nodes[2].hidden && !graph.nodes[1].hidden && graph.nodes[0].bytes == 900);
    }

    #[test]
    fn memory_is_bounded() {
        let mut learner = Learner::default();
        for load in 0..2 * LOADS {
            let paths = (0..2 * LEARNED_RESOURCES_MAX).map(|it| asked(&format!("/{load}/{it}")));
            learner.load(paths.collect());
        }
        assert_eq!(learner.loads.len(), LOADS);
        assert!(learner.loads.iter().all(|it| it.len() == LEARNED_RESOURCES_MAX));
        assert_eq!(learner.bytes.len(), LOADS * LEARNED_RESOURCES_MAX);
    }
}
