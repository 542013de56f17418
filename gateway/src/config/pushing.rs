//! The pushes of a route, checked against the route's own document.

use super::file::FileRoute;
use super::paths::{is_sendable, renamed, twin};
use super::{RouteMistake, without_effect};
use crate::site::{Pushing, fits};
use push::Graph;
use server::site::paths::decoded;
use std::path::Path;
use std::sync::Arc;

/// A route's document: its path, and its other path in a directory.
struct Document<'a> {
    path: &'a str,
    twin: Option<String>,
}

impl FileRoute {
    /// The route's pushes and hints, checked; relative files count from `folder`.
    pub(super) fn checked_pushing(
        self,
        folder: &Path,
        in_directory: bool,
    ) -> Result<Pushing, RouteMistake> {
        let path = self.path.clone();
        let twin = twin(&path).filter(|_| in_directory);
        let document = Document { path: &path, twin };
        let graph_file = self.push_graph.as_ref().map(|it| folder.join(it));
        let mut pushing = self.pushing();
        document.check_pushes(&pushing.push)?;
        pushing.graph = match (pushing.policy, graph_file) {
            (Some(_), Some(file)) => Some(document.graph(&file)?),
            (None, None) => None,
            (Some(_), None) => {
                let cause = "push_policy needs push_graph, which lists what the page refers to";
                return Err(RouteMistake::at("push_policy", cause));
            }
            (None, Some(_)) => {
                let cause = "push_graph has no effect without push_policy: add one, or remove it";
                return Err(RouteMistake::at("push_graph", cause));
            }
        };
        if pushing.max_concurrent_pushes == Some(0) && without_effect::pushes(&pushing) {
            let cause = "max_concurrent_pushes is 0, which forbids the pushes here: allow some, or remove them";
            return Err(RouteMistake::at("max_concurrent_pushes", cause));
        }
        Ok(pushing)
    }
}

impl Document<'_> {
    fn check_pushes(&self, pushes: &[String]) -> Result<(), RouteMistake> {
        let own = [Some(self.path), self.twin.as_deref()].map(|it| it.map(decoded));
        for (place, pushed) in pushes.iter().enumerate() {
            let cause = if !pushed.starts_with('/') || pushed.starts_with("//") {
                "must begin with one / and be on the same host"
            } else if !is_sendable(pushed) {
                "must be ASCII without white space or #: percent-encode them"
            } else if own.contains(&Some(decoded(pushed))) {
                "is the document itself: remove it"
            } else if pushes[..place].iter().any(|it| decoded(it) == decoded(pushed)) {
                "is listed twice: remove one"
            } else {
                continue;
            };
            return Err(RouteMistake::at("push", format!("push \"{pushed}\" {cause}")));
        }
        Ok(())
    }

    /// The graph in a file, which must contain the document. In a directory, it may use the document's
    /// other path.
    fn graph(&self, file: &Path) -> Result<Arc<Graph>, RouteMistake> {
        let wrong = |cause| RouteMistake::at("push_graph", cause);
        let unreadable = |cause: String| wrong(format!("{}: {cause}", file.display()));
        let text = named_files::read_text(file).map_err(|it| unreadable(it.to_string()))?;
        let graph = Graph::from_json(&text).map_err(|it| unreadable(it.to_string()))?;
        // These characters delimit it in `Link` fields.
        if let Some(bad) = graph.nodes.iter().find(|it| it.path.contains(['<', '>'])) {
            let cause = format!("push_graph: node \"{}\": write < and > as %3C and %3E", bad.path);
            return Err(wrong(cause));
        }
        let has = |path: &str| graph.nodes.iter().any(|it| fits(path, &it.path));
        match self.twin.as_deref().filter(|it| !has(self.path) && has(it)) {
            Some(twin) => Ok(renamed(&graph, twin, self.path)),
            None if has(self.path) => Ok(Arc::new(graph)),
            None => Err(wrong(format!(
                "push_graph is for the page \"{}\" and does not contain \"{}\": build one for this route",
                graph.nodes.first().map_or("", |it| it.path.as_str()),
                self.path
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::{CacheEvidence, ConditionalPushes};
    use push::Gate;
    use push::guard::{CookiePolicy, Scope};
    use push::visits::PushWhen;

    fn read(text: &str) -> Result<Pushing, String> {
        let route = toml::from_str::<FileRoute>(&format!("path = \"/\"\n{text}"));
        let route = route.map_err(|it| it.message().to_owned())?;
        route.checked_pushing(Path::new("."), true).map_err(|it| it.cause)
    }

    #[test]
    fn every_key_is_read() {
        let route = read(
            "push = [\"/style.css\"]\npush_preload = true\nx_push = true\nearly_hints = [\"</a>; rel=preload\"]\n\
             links = [\"</b>; rel=preload\"]\n\
             push_when = { cookie_absent = \"session\" }\npush_gate = \"throttle:8900\"\n\
             max_concurrent_pushes = 3\nclient_has = [\"cache-digest\", \"conditional\"]\n\
             cookies = { id = \"/\" }\npush_not_modified = true\npush_if_match = true\n\
             cache_control = \"max-age=60\"",
        )
        .expect("good");
        assert_eq!(
            (route.push, route.push_preload, route.x_push),
            (vec!["/style.css".to_owned()], true, true)
        );
        assert_eq!(
            (route.links, route.early_hints),
            (vec!["</b>; rel=preload".to_owned()], vec!["</a>; rel=preload".to_owned()])
        );
        assert_eq!((route.policy, route.gate), (None, Some(Gate::Throttle(8900))));
        assert_eq!(route.push_when, PushWhen::CookieAbsent("session".into()));
        assert_eq!(route.max_concurrent_pushes, Some(3));
        assert_eq!(route.evidence, CacheEvidence { cache_digest: true, conditional: true });
        assert_eq!(route.conditional, ConditionalPushes { not_modified: true, if_match: true });
        assert_eq!(route.cache_control.as_deref(), Some("max-age=60"));
        let scopes = vec![Scope { name: "id".into(), path: "/".into() }];
        assert_eq!(route.cookies, CookiePolicy::DeclaredScope(scopes));
    }

    #[test]
    fn a_wrong_value_is_named() {
        for (text, expected) in [
            ("push = [\"style.css\"]", "push \"style.css\" must begin with one /"),
            ("push = [\"//cdn/style.css\"]", "push \"//cdn/style.css\" must begin with one /"),
            ("push_policy = \"push\"", "push_policy needs push_graph"),
            ("push_graph = \"a.json\"", "push_graph has no effect without push_policy"),
            ("early_hints = \"all\"", "early_hints \"all\" must be \"learn\" or a list"),
            (
                "early_hints = [\"</a>; rel=next\"]",
                "early_hints \"</a>; rel=next\" must be a Link value",
            ),
            ("links = [\"</a>; rel=next\"]", "links \"</a>; rel=next\" must be a Link value"),
            ("push_gate = \"open\"", "`open` is not a push gate"),
            (
                "push_policy = \"push\"\npush_graph = \"missing.json\"",
                "./missing.json: No such file",
            ),
            ("cookies = \"all\"", "cookies \"all\" must be \"none\", \"same-path\""),
            ("cache_control = \"public\"", "cache_control \"public\" must contain a duration"),
            ("cache_control = \"max-age=1\\n\"", "cache_control \"max-age=1\n\" must contain"),
            ("cookies = { \"a b\" = \"/\" }", "cookies \"a b\" = \"/\" must be a cookie's name"),
            ("cookies = { a = \"shop\" }", "cookies \"a\" = \"shop\" must be a cookie's name"),
            ("push = [\"/a b.css\"]", "push \"/a b.css\" must be ASCII without white space"),
            ("push = [\"/a\", \"/b\", \"/a\"]", "push \"/a\" is listed twice"),
            ("push = [\"/\"]", "push \"/\" is the document itself"),
            ("push = [\"/index.html\"]", "push \"/index.html\" is the document itself"),
            ("push = [\"/%69ndex.html\"]", "push \"/%69ndex.html\" is the document itself"),
            ("push = [\"/style.css\", \"/%73tyle.css\"]", "push \"/%73tyle.css\" is listed twice"),
            (
                "push = [\"/a\"]\npush_gate = \"throttle:0\"",
                "`throttle:0` sends nothing before the document",
            ),
            (
                "push = [\"/a\"]\nmax_concurrent_pushes = 0",
                "max_concurrent_pushes is 0, which forbids",
            ),
            (
                "push_when = { cookie_absent = \"a b\" }",
                "cookie_absent \"a b\" is not a possible cookie name",
            ),
            (
                "push_when = { cookie_absent = \"\" }",
                "cookie_absent \"\" is not a possible cookie name",
            ),
            (
                "early_hints = [\"</a>; rel=preload\\r\\nset-cookie: a=1\"]",
                "early_hints \"</a>; rel=preload\\r\\nset-cookie: a=1\" must be a Link value",
            ),
            ("client_has = [\"all\"]", "unknown variant `all`"),
            ("client_has = []", "client_has is empty: remove it"),
            (
                "cache_control = \"max-age=abc\"",
                "cache_control \"max-age=abc\" must contain a duration",
            ),
            ("cache_control = \"no-cache, max-age\"", "cache_control \"no-cache, max-age\" must"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
