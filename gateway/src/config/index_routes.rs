//! In a directory, `/x/` and `/x/index.html` are one document: a route for one path also applies to the other,
//! unless the other has its own.

use super::paths::{renamed, twin};
use super::{Config, ConfigRoute};
use crate::site::fits;

impl Config {
    /// Adds a route for the other path of each folder's index, right after the first.
    pub(super) fn add_twins(&mut self) {
        let of_backend = |path: &str| {
            self.routes.iter().any(|it| it.upstream().is_some() && fits(&it.path, path))
        };
        // Only where the directory has both.
        let twin = |path: &str| twin(path).filter(|other| !of_backend(path) && !of_backend(other));
        let directives: Vec<_> =
            self.directives.iter().filter_map(|(path, it)| Some((twin(path)?, *it))).collect();
        let with_twin = |route: &ConfigRoute| {
            let twin = twin(&route.path).map(|path| route.for_twin(path, &self.routes));
            std::iter::once(route.clone()).chain(twin.filter(|it| !it.decides().is_empty()))
        };
        self.routes = self.routes.iter().flat_map(with_twin).collect();
        for (path, directive) in directives {
            self.directives.entry(path).or_insert(directive);
        }
    }
}

impl ConfigRoute {
    /// The route for the document's other path, without settings that `routes` already have for that path.
    fn for_twin(&self, path: String, routes: &[Self]) -> Self {
        let own: Vec<&Self> =
            routes.iter().filter(|it| it.host == self.host && it.path == path).collect();
        let mut twin = Self { source: None, redirect: None, ..self.clone() }.at(path, &own);
        if let Some(graph) = twin.pushing.as_mut().and_then(|it| it.graph.as_mut()) {
            *graph = renamed(graph, &self.path, &twin.path);
        }
        twin
    }
}
