//! In a directory `/x/` and `/x/index.html` are one document: what a route says of one holds for the other, unless that
//! has a route of its own.

use super::paths::twin;
use super::{Config, ConfigRoute};
use crate::site::PushRoute;
use push::Graph;
use std::sync::Arc;

impl Config {
    /// Adds to each route of a folder's index one for its other path, right behind it.
    pub(super) fn add_twins(&mut self) {
        let from_backend =
            |path: &str| self.upstreams.iter().any(|it| crate::site::fits(&it.path, path));
        // Only where the directory has both.
        let twin =
            |path: &str| twin(path).filter(|other| !from_backend(path) && !from_backend(other));
        let routed: Vec<_> =
            self.routes.iter().map(|it| (it.host.clone(), it.path.clone())).collect();
        let others = |route: &ConfigRoute| {
            let path = twin(&route.path)?;
            let is_new = !routed.contains(&(route.host.clone(), path.clone()));
            is_new.then(|| ConfigRoute { path, ..route.clone() })
        };
        let routes =
            self.routes.iter().flat_map(|it| std::iter::once(it.clone()).chain(others(it)));
        let routes = routes.collect();
        let pushing: Vec<_> =
            self.pushes.iter().map(|it| (it.host.clone(), it.path.clone())).collect();
        let others = |route: &PushRoute| {
            let path = twin(&route.path)?;
            let is_new = !pushing.contains(&(route.host.clone(), path.clone()));
            let graph = route.graph.as_ref().map(|it| renamed(it, &route.path, &path));
            is_new.then(|| PushRoute { path, graph, ..route.clone() })
        };
        let pushes =
            self.pushes.iter().flat_map(|it| std::iter::once(it.clone()).chain(others(it)));
        let pushes = pushes.collect();
        let directives: Vec<_> =
            self.directives.iter().map(|(path, it)| (path.clone(), *it)).collect();
        let more = directives.into_iter().filter_map(|(path, it)| Some((twin(&path)?, it)));
        let more: Vec<_> = more.collect();
        (self.routes, self.pushes) = (routes, pushes);
        for (path, directive) in more {
            self.directives.entry(path).or_insert(directive);
        }
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
