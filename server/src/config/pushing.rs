//! What a route says of pushes and hints.

use super::Wrong;
use super::idle;
use super::paths::{decoded, is_sendable, twin};
use super::twins::renamed;
use crate::site::{ConditionalPushes, Knows, Pushing, fits};
use push::digest::Identity;
use push::freshness::fresh_s;
use push::guard::{CookiePolicy, Scope};
use push::link::{self, Link};
use push::visits::PushWhen;
use push::{Gate, Graph};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The keys of a `[[route]]` about pushes; the names are NGINX's where it has them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "keys, independent of each other")]
pub(super) struct FilePush {
    #[serde(default)]
    push: Vec<String>,
    #[serde(default)]
    push_preload: bool,
    #[serde(default)]
    x_push: bool,
    #[serde(default)]
    early_hints: FileHints,
    push_when: Option<FileWhen>,
    push_policy: Option<String>,
    push_graph: Option<PathBuf>,
    push_gate: Option<String>,
    max_concurrent_pushes: Option<u64>,
    client_has: Option<Vec<FileHas>>,
    cookies: Option<FileCookies>,
    #[serde(default)]
    push_not_modified: bool,
    #[serde(default)]
    push_if_match: bool,
    cache_control: Option<String>,
}

/// `Link` values, or `"learn"`: those of the last response to the same request.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum FileHints {
    Named(String),
    Links(Vec<String>),
}

impl Default for FileHints {
    fn default() -> Self {
        Self::Links(Vec::new())
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileWhen {
    cookie_absent: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileHas {
    Casper,
    CasperEtag,
    ResourceCookies,
    CacheDigest,
    CuckooDigest,
    Conditional,
}

/// `"same-path"`, or the path of each cookie.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum FileCookies {
    Named(String),
    Scopes(BTreeMap<String, String>),
}

/// The names of all keys that are read here.
const KEYS: [&str; 14] = [
    "push",
    "push_preload",
    "x_push",
    "early_hints",
    "push_when",
    "push_policy",
    "push_graph",
    "push_gate",
    "max_concurrent_pushes",
    "client_has",
    "cookies",
    "push_not_modified",
    "push_if_match",
    "cache_control",
];

impl FilePush {
    /// Reads the keys of a route that are about pushes. An error names the key.
    pub(super) fn read(keys: toml::Table) -> Result<Self, Wrong> {
        if let Some(unknown) = keys.keys().find(|it| !KEYS.contains(&it.as_str())) {
            let known = KEYS.join("`, `");
            let cause = format!(
                "unknown field `{unknown}`, expected `path`, `host`, `scheme`, `upstream`, `resource`, `{known}`"
            );
            return Err(Wrong::new(unknown, cause));
        }
        for (key, value) in &keys {
            let alone: toml::Table = [(key.clone(), value.clone())].into_iter().collect();
            let read: Result<Self, _> = alone.try_into();
            read.map_err(|error| Wrong::new(key, error.message().to_owned()))?;
        }
        keys.try_into().map_err(|error| Wrong::new("path", error.message().to_owned()))
    }

    /// The route for `path`; files count from `folder`.
    pub(super) fn route(
        self,
        path: &str,
        folder: &Path,
        in_directory: bool,
    ) -> Result<Pushing, Wrong> {
        let twin = twin(path).filter(|_| in_directory);
        check_pushes(&self.push, (path, twin.as_deref()))?;
        let (early_hints, learn_hints) = hints(self.early_hints)?;
        let (has_policy, has_graph) = (self.push_policy.is_some(), self.push_graph.is_some());
        match (has_policy, has_graph) {
            (true, false) => {
                let cause = "push_policy needs push_graph, which says what the page refers to";
                return Err(Wrong::new("push_policy", cause.to_owned()));
            }
            (false, true) => {
                let cause = "push_graph does nothing without push_policy";
                return Err(Wrong::new("push_graph", cause.to_owned()));
            }
            _ => {}
        }
        let graph = self.push_graph.map(|it| graph(&folder.join(it))).transpose();
        let graph = graph.map_err(|it| Wrong::new("push_graph", it))?.map(Arc::new);
        let graph = graph.map(|it| of_route(it, (path, twin.as_deref()))).transpose()?;
        let policy = self.push_policy.map(|it| it.parse()).transpose();
        let gate = self.push_gate.map(|it| it.parse()).transpose();
        let route = Pushing {
            push: self.push,
            push_preload: self.push_preload,
            x_push: self.x_push,
            early_hints,
            learn_hints,
            push_when: self
                .push_when
                .map_or(PushWhen::Always, |it| PushWhen::CookieAbsent(it.cookie_absent)),
            policy: policy.map_err(|error: push::UnknownPolicy| {
                Wrong::new("push_policy", error.to_string())
            })?,
            graph,
            gate: gate
                .map_err(|error: push::GateError| Wrong::new("push_gate", error.to_string()))?,
            max_concurrent_pushes: self.max_concurrent_pushes,
            knows: self.client_has.map_or(Ok(Knows::default()), |it| knows(&it))?,
            cookies: self
                .cookies
                .map_or(Ok(CookiePolicy::None), cookies)
                .map_err(|it| Wrong::new("cookies", it))?,
            conditional: ConditionalPushes {
                not_modified: self.push_not_modified,
                if_match: self.push_if_match,
            },
            cache_control: self.cache_control.map(cache_control).transpose()?,
        };
        check_limits(&route)?;
        Ok(route)
    }
}

/// Checks the paths that are pushed with the document at `own`, in a directory also at its other path.
fn check_pushes(pushes: &[String], own: (&str, Option<&str>)) -> Result<(), Wrong> {
    let own = [Some(own.0), own.1].map(|it| it.map(decoded));
    for (place, pushed) in pushes.iter().enumerate() {
        let is_same = |other: &String| decoded(other) == decoded(pushed);
        let cause = if !pushed.starts_with('/') || pushed.starts_with("//") {
            "it begins with one / and is of the same host"
        } else if !is_sendable(pushed) {
            "a path has no white space, no # and ASCII only"
        } else if own.contains(&Some(decoded(pushed))) {
            "it is the document itself"
        } else if pushes[..place].iter().any(is_same) {
            "it is there twice"
        } else {
            continue;
        };
        return Err(Wrong::new("push", format!("push \"{pushed}\": {cause}")));
    }
    Ok(())
}

/// What would let nothing go.
fn check_limits(route: &Pushing) -> Result<(), Wrong> {
    if route.gate == Some(Gate::Throttle(0)) {
        let cause = "throttle:0 lets nothing go before the document: say strict";
        return Err(Wrong::new("push_gate", cause.to_owned()));
    }
    if route.max_concurrent_pushes == Some(0) && idle::pushes(route) {
        let cause = "max_concurrent_pushes of 0 allows none of the pushes here: leave them out, or allow some";
        return Err(Wrong::new("max_concurrent_pushes", cause.to_owned()));
    }
    match &route.push_when {
        PushWhen::CookieAbsent(name) if !is_token(name) => {
            let cause =
                format!("cookie_absent \"{name}\": no cookie has such a name (RFC 6265, 4.1.1)");
            Err(Wrong::new("push_when", cause))
        }
        _ => Ok(()),
    }
}

/// A graph that says what the documents of a route refer to; in a directory it may know the document by its other path.
fn of_route(graph: Arc<Graph>, (path, twin): (&str, Option<&str>)) -> Result<Arc<Graph>, Wrong> {
    // They stand between these in `Link` fields.
    if let Some(bad) = graph.nodes.iter().find(|it| it.path.contains(['<', '>'])) {
        let cause = format!("push_graph: node \"{}\": write < and > as %3C and %3E", bad.path);
        return Err(Wrong::new("push_graph", cause));
    }
    let has = |path: &str| graph.nodes.iter().any(|it| fits(path, &it.path));
    match twin.filter(|it| !has(path) && has(it)) {
        _ if has(path) => Ok(graph),
        Some(twin) => Ok(renamed(&graph, twin, path)),
        None => {
            let document = graph.nodes.first().map_or("", |it| it.path.as_str());
            let cause =
                format!("push_graph is of the page \"{document}\", and this route is not in it");
            Err(Wrong::new("push_graph", cause))
        }
    }
}

/// A name that a cookie may have (RFC 9110, 5.6.2).
fn is_token(name: &str) -> bool {
    let special = b"!#$%&'*+-.^_`|~";
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || special.contains(&it))
}

/// How it is known what the client has.
fn knows(said: &[FileHas]) -> Result<Knows, Wrong> {
    if said.is_empty() {
        let cause =
            "client_has is empty: leave it out, or say by what it is known, such as \"casper\"";
        return Err(Wrong::new("client_has", cause.to_owned()));
    }
    let has = |it| said.contains(&it);
    let casper = match (has(FileHas::Casper), has(FileHas::CasperEtag)) {
        (_, true) => Some(Identity::PathAndEtag),
        (true, false) => Some(Identity::Path),
        _ => None,
    };
    Ok(Knows {
        casper,
        resource_cookies: has(FileHas::ResourceCookies),
        cache_digest: has(FileHas::CacheDigest),
        cuckoo_digest: has(FileHas::CuckooDigest),
        conditional: has(FileHas::Conditional),
    })
}

/// The `Link` values of early hints, and whether they are learned.
fn hints(said: FileHints) -> Result<(Vec<String>, bool), Wrong> {
    let wrong = |cause| Wrong::new("early_hints", cause);
    match said {
        FileHints::Named(name) if name == "learn" => Ok((Vec::new(), true)),
        FileHints::Named(name) => {
            Err(wrong(format!("early_hints \"{name}\": `learn`, or a list of Link values")))
        }
        FileHints::Links(links) => {
            let is_hint = |it: &str| {
                !it.contains(char::is_control) && link::parse(it).iter().any(Link::is_hint)
            };
            match links.iter().find(|it| !is_hint(it)) {
                None => Ok((links, false)),
                Some(none) => Err(wrong(format!(
                    "early_hints \"{}\": no Link value that preloads or preconnects, such as \
                     \"</style.css>; rel=preload; as=style\"",
                    none.escape_default()
                ))),
            }
        }
    }
}

/// A field's value that says how long.
fn cache_control(said: String) -> Result<String, Wrong> {
    let is_plain = said.bytes().all(|it| (b' '..=b'~').contains(&it));
    let is_age = |directive: &str| {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        let value = value.trim().trim_matches('"');
        let is_number = !value.is_empty() && value.bytes().all(|it| it.is_ascii_digit());
        is_number || !name.trim().eq_ignore_ascii_case("max-age")
    };
    if is_plain && fresh_s(&said, None).is_some() && said.split(',').all(is_age) {
        return Ok(said);
    }
    let cause = format!(
        "cache_control \"{said}\": it says how long, such as \"max-age=3600\", or \"no-cache\""
    );
    Err(Wrong::new("cache_control", cause))
}

fn graph(file: &Path) -> Result<Graph, String> {
    let text =
        std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Graph::from_json(&text).map_err(|error| format!("{}: {error}", file.display()))
}

fn cookies(said: FileCookies) -> Result<CookiePolicy, String> {
    match said {
        FileCookies::Named(name) if name == "same-path" => Ok(CookiePolicy::SamePath),
        FileCookies::Named(name) if name == "none" => Ok(CookiePolicy::None),
        FileCookies::Named(name) => Err(format!(
            "cookies \"{name}\": `none`, `same-path`, or a table of cookies and their paths"
        )),
        FileCookies::Scopes(scopes) => {
            let bad = scopes.iter().find(|(name, path)| !is_token(name) || !path.starts_with('/'));
            if let Some((name, path)) = bad {
                return Err(format!(
                    "cookies \"{name}\" = \"{path}\": the name of a cookie, and the path it is set for, from / on"
                ));
            }
            let scopes = scopes.into_iter().map(|(name, path)| Scope { name, path });
            Ok(CookiePolicy::DeclaredScope(scopes.collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Pushing, String> {
        let keys: toml::Table = toml::from_str(text).expect("TOML");
        let file = FilePush::read(keys).map_err(|it| it.cause)?;
        file.route("/", Path::new("."), true).map_err(|it| it.cause)
    }

    #[test]
    fn every_key_is_read() {
        let route = read(
            "push = [\"/style.css\"]\npush_preload = true\nx_push = true\nearly_hints = [\"</a>; rel=preload\"]\n\
             push_when = { cookie_absent = \"session\" }\npush_gate = \"throttle:8900\"\n\
             max_concurrent_pushes = 3\nclient_has = [\"casper\", \"conditional\", \"resource-cookies\"]\n\
             cookies = { id = \"/\" }\npush_not_modified = true\npush_if_match = true\n\
             cache_control = \"max-age=60\"",
        )
        .expect("good");
        assert_eq!(
            (route.push, route.push_preload, route.x_push),
            (vec!["/style.css".to_owned()], true, true)
        );
        assert_eq!((route.policy, route.gate), (None, Some(Gate::Throttle(8900))));
        assert_eq!(route.push_when, PushWhen::CookieAbsent("session".into()));
        assert_eq!(route.max_concurrent_pushes, Some(3));
        let knows = Knows {
            casper: Some(Identity::Path),
            conditional: true,
            resource_cookies: true,
            ..Knows::default()
        };
        assert_eq!(route.knows, knows);
        assert_eq!(route.conditional, ConditionalPushes { not_modified: true, if_match: true });
        assert_eq!(route.cache_control.as_deref(), Some("max-age=60"));
        let scopes = vec![Scope { name: "id".into(), path: "/".into() }];
        assert_eq!(route.cookies, CookiePolicy::DeclaredScope(scopes));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("push = [\"style.css\"]", "push \"style.css\": it begins with one /"),
            ("push = [\"//cdn/style.css\"]", "push \"//cdn/style.css\": it begins with one /"),
            ("push_policy = \"push\"", "push_policy needs push_graph"),
            ("push_graph = \"a.json\"", "push_graph does nothing without push_policy"),
            ("early_hints = \"all\"", "early_hints \"all\": `learn`, or a list"),
            ("early_hints = [\"</a>; rel=next\"]", "early_hints \"</a>; rel=next\": no Link value"),
            ("push_gate = \"open\"", "`open` is not a push gate"),
            (
                "push_policy = \"push\"\npush_graph = \"missing.json\"",
                "./missing.json: No such file",
            ),
            ("cookies = \"all\"", "cookies \"all\": `none`, `same-path`"),
            ("cache_control = \"public\"", "cache_control \"public\": it says how long"),
            ("cache_control = \"max-age=1\\n\"", "cache_control \"max-age=1\n\": it says"),
            ("cookies = { \"a b\" = \"/\" }", "cookies \"a b\" = \"/\": the name of a cookie"),
            ("cookies = { a = \"shop\" }", "cookies \"a\" = \"shop\": the name of a cookie"),
            ("push = [\"/a b.css\"]", "push \"/a b.css\": a path has no white space"),
            ("push = [\"/a\", \"/b\", \"/a\"]", "push \"/a\": it is there twice"),
            ("push = [\"/\"]", "push \"/\": it is the document itself"),
            ("push = [\"/index.html\"]", "push \"/index.html\": it is the document itself"),
            ("push = [\"/%69ndex.html\"]", "push \"/%69ndex.html\": it is the document itself"),
            (
                "push = [\"/style.css\", \"/%73tyle.css\"]",
                "push \"/%73tyle.css\": it is there twice",
            ),
            ("push = [\"/a\"]\npush_gate = \"throttle:0\"", "throttle:0 lets nothing go"),
            (
                "push = [\"/a\"]\nmax_concurrent_pushes = 0",
                "max_concurrent_pushes of 0 allows none",
            ),
            ("push_when = { cookie_absent = \"a b\" }", "cookie_absent \"a b\": no cookie has"),
            ("push_when = { cookie_absent = \"\" }", "cookie_absent \"\": no cookie has"),
            (
                "early_hints = [\"</a>; rel=preload\\r\\nset-cookie: a=1\"]",
                "early_hints \"</a>; rel=preload\\r\\nset-cookie: a=1\": no Link value",
            ),
            ("client_has = [\"all\"]", "unknown variant `all`"),
            ("client_has = []", "client_has is empty: leave it out"),
            ("cache_control = \"max-age=abc\"", "cache_control \"max-age=abc\": it says how long"),
            (
                "cache_control = \"no-cache, max-age\"",
                "cache_control \"no-cache, max-age\": it says",
            ),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
