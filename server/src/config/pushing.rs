//! What a route says of pushes and hints.

use crate::site::{Knows, PushRoute};
use push::Graph;
use push::digest::Identity;
use push::guard::{CookiePolicy, Scope};
use push::visits::PushWhen;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The keys of a `[[route]]` about pushes; the names are NGINX's where it has them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilePush {
    #[serde(default)]
    push: Vec<String>,
    #[serde(default)]
    push_preload: bool,
    #[serde(default)]
    x_push: bool,
    #[serde(default)]
    early_hints: Vec<String>,
    push_when: Option<FileWhen>,
    push_policy: Option<String>,
    push_graph: Option<PathBuf>,
    push_gate: Option<String>,
    max_concurrent_pushes: Option<u64>,
    #[serde(default)]
    client_has: Vec<FileHas>,
    cookies: Option<FileCookies>,
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
    CacheDigest,
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
pub(super) const KEYS: [&str; 11] = [
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
];

impl FilePush {
    /// The route for `path`; files count from `folder`. None if it says nothing of pushes.
    pub(super) fn route(self, path: &str, folder: &Path) -> Result<PushRoute, String> {
        for pushed in &self.push {
            if !pushed.starts_with('/') || pushed.starts_with("//") {
                return Err(format!(
                    "push \"{pushed}\": it begins with one / and is of the same host"
                ));
            }
        }
        let graph = self.push_graph.map(|it| graph(&folder.join(it))).transpose()?;
        let policy = self.push_policy.map(|it| it.parse()).transpose();
        let gate = self.push_gate.map(|it| it.parse()).transpose();
        let has = |it| self.client_has.contains(&it);
        let casper = match (has(FileHas::Casper), has(FileHas::CasperEtag)) {
            (_, true) => Some(Identity::PathAndEtag),
            (true, false) => Some(Identity::Path),
            _ => None,
        };
        let knows = Knows {
            casper,
            cache_digest: has(FileHas::CacheDigest),
            conditional: has(FileHas::Conditional),
        };
        Ok(PushRoute {
            path: path.to_owned(),
            push: self.push,
            push_preload: self.push_preload,
            x_push: self.x_push,
            early_hints: self.early_hints,
            push_when: self
                .push_when
                .map_or(PushWhen::Always, |it| PushWhen::CookieAbsent(it.cookie_absent)),
            policy: policy.map_err(|error: push::UnknownPolicy| error.to_string())?,
            graph: graph.map(Arc::new),
            gate: gate.map_err(|error: push::GateError| error.to_string())?,
            max_concurrent_pushes: self.max_concurrent_pushes,
            knows,
            cookies: self.cookies.map_or(Ok(CookiePolicy::None), cookies)?,
        })
    }
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
            let scopes = scopes.into_iter().map(|(name, path)| Scope { name, path });
            Ok(CookiePolicy::DeclaredScope(scopes.collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use push::{Gate, Policy};

    fn read(text: &str) -> Result<PushRoute, String> {
        let file: FilePush = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        file.route("/", Path::new("."))
    }

    #[test]
    fn every_key_is_read() {
        let route = read(
            "push = [\"/style.css\"]\npush_preload = true\nx_push = true\nearly_hints = [\"</a>; rel=preload\"]\n\
             push_when = { cookie_absent = \"session\" }\npush_policy = \"preload\"\npush_gate = \"throttle:8900\"\n\
             max_concurrent_pushes = 3\nclient_has = [\"casper\", \"conditional\"]\ncookies = { id = \"/\" }",
        )
        .expect("good");
        assert_eq!(
            (route.push, route.push_preload, route.x_push),
            (vec!["/style.css".to_owned()], true, true)
        );
        assert_eq!((route.policy, route.gate), (Some(Policy::Preload), Some(Gate::Throttle(8900))));
        assert_eq!(route.push_when, PushWhen::CookieAbsent("session".into()));
        assert_eq!(route.max_concurrent_pushes, Some(3));
        let knows = Knows { casper: Some(Identity::Path), cache_digest: false, conditional: true };
        assert_eq!(route.knows, knows);
        let scopes = vec![Scope { name: "id".into(), path: "/".into() }];
        assert_eq!(route.cookies, CookiePolicy::DeclaredScope(scopes));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("push = [\"style.css\"]", "push \"style.css\": it begins with one /"),
            ("push = [\"//cdn/style.css\"]", "push \"//cdn/style.css\": it begins with one /"),
            ("push_policy = \"all\"", "`all` is no push policy"),
            ("push_gate = \"open\"", "`open` is no push gate"),
            ("push_graph = \"missing.json\"", "./missing.json: No such file"),
            ("cookies = \"all\"", "cookies \"all\": `none`, `same-path`"),
            ("client_has = [\"all\"]", "unknown variant `all`"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
