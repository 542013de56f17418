//! In a directory `/x/` and `/x/index.html` are one document: a route for one holds for the other, unless that has a
//! route of its own.

use super::paths::twin;
use super::{Config, ConfigRoute};
use crate::site::fits;
use push::Graph;
use std::sync::Arc;

impl Config {
    /// Adds to each route of a folder's index one for its other path, right behind it.
    pub(super) fn add_twins(&mut self) {
        let of_backend =
            |path: &str| self.routes.iter().any(|it| it.upstream.is_some() && fits(&it.path, path));
        // Only where the directory has both.
        let twin = |path: &str| twin(path).filter(|other| !of_backend(path) && !of_backend(other));
        let directives: Vec<_> =
            self.directives.iter().filter_map(|(path, it)| Some((twin(path)?, *it))).collect();
        let with_twin = |route: &ConfigRoute| {
            let twin = twin(&route.path).map(|path| route.renamed(path, &self.routes));
            std::iter::once(route.clone()).chain(twin.filter(ConfigRoute::says_something))
        };
        self.routes = self.routes.iter().flat_map(with_twin).collect();
        for (path, directive) in directives {
            self.directives.entry(path).or_insert(directive);
        }
    }
}

impl ConfigRoute {
    /// The same for the document's other path, without what `routes` say of that one.
    fn renamed(&self, path: String, routes: &[Self]) -> Self {
        let own: Vec<&Self> =
            routes.iter().filter(|it| it.host == self.host && it.path == path).collect();
        let mut twin = Self { upstream: None, path, ..self.clone() };
        if own.iter().any(|it| it.scheme.is_some()) {
            twin.scheme = None;
        }
        if own.iter().any(|it| it.pushing.is_some()) {
            twin.pushing = None;
        }
        if let Some(graph) = twin.pushing.as_mut().and_then(|it| it.graph.as_mut()) {
            *graph = renamed(graph, &self.path, &twin.path);
        }
        twin
    }
}

/// The graph of the same page, whose document is at another path.
pub(super) fn renamed(graph: &Arc<Graph>, path: &str, other: &str) -> Arc<Graph> {
    let mut graph = Graph::clone(graph);
    for node in graph.nodes.iter_mut().filter(|it| it.path == path) {
        other.clone_into(&mut node.path);
    }
    Arc::new(graph)
}
