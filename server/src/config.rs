//! The server's configuration file.

mod idle;
mod lines;
mod paths;
mod pushing;
mod twins;

use crate::SignalUse;
use crate::site::Pushing;
use crate::upstream::Address;
use idle::{Answering, idle};
use lines::Lines;
pub use lines::line_of;
use pushing::FilePush;
use schedulers::Priority;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a configuration file says.
#[derive(Debug, Clone)]
pub struct Config {
    /// What is served.
    pub site: ConfigSite,
    /// The scheme, by name.
    pub scheme: Option<String>,
    /// What is made of clients' signals.
    pub signals: Option<SignalUse>,
    /// Directives for single resources, by path.
    pub directives: BTreeMap<String, Priority>,
    /// What holds for some paths, in order.
    pub routes: Vec<ConfigRoute>,
    /// What was read and will do nothing.
    pub warnings: Vec<String>,
}

impl Config {
    /// Of a site alone.
    pub fn of(site: ConfigSite) -> Self {
        Self {
            site,
            scheme: None,
            signals: None,
            directives: BTreeMap::new(),
            routes: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// What holds for some paths. Of the routes that fit a request and say something, the first decides.
#[derive(Debug, Clone, Default)]
pub struct ConfigRoute {
    /// The host; `None`: any.
    pub host: Option<String>,
    /// One path, or, if it ends in `*`, all paths that begin with the rest.
    pub path: String,
    /// The scheme for the page whose document is at the path, by name.
    pub scheme: Option<String>,
    /// The backend that answers.
    pub upstream: Option<Address>,
    /// What is pushed and hinted.
    pub pushing: Option<Pushing>,
}

/// What is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigSite {
    /// The files below a directory.
    Root(PathBuf),
    /// Pages: bundled names, or files.
    Pages(Vec<String>),
    /// What a backend serves.
    Upstream(Address),
}

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file does not say what it should.
    #[error("{file}: line {line}: {cause}")]
    Malformed {
        /// The file.
        file: PathBuf,
        /// Where, from 1.
        line: usize,
        /// What is wrong.
        cause: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    site: FileSite,
    #[serde(default)]
    route: Vec<FileRoute>,
}

/// One page. The remaining keys are about pushes.
#[derive(Deserialize)]
struct FileRoute {
    path: String,
    host: Option<String>,
    scheme: Option<String>,
    upstream: Option<String>,
    #[serde(default)]
    resource: BTreeMap<String, FileDirective>,
    #[serde(flatten)]
    pushing: toml::Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileDirective {
    urgency: Option<u8>,
    incremental: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSite {
    root: Option<PathBuf>,
    page: Option<String>,
    pages: Option<Vec<String>>,
    upstream: Option<String>,
    scheme: Option<String>,
    signals: Option<FileSignals>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum FileSignals {
    Obey,
    Ignore,
    Override,
}

impl Config {
    /// Reads a file; a relative `root` counts from the file's own directory.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Unreadable { file: path.to_owned(), source })?;
        let mut config = Self::parse(&text, path)?;
        if let (ConfigSite::Root(root), Some(folder)) = (&mut config.site, path.parent()) {
            *root = folder.join(&root);
        }
        Ok(config)
    }

    fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let malformed = |line, cause| ConfigError::Malformed { file: path.to_owned(), line, cause };
        let file: File = toml::from_str(text)
            .map_err(|error| malformed(line_of(&error, text), error.message().to_owned()))?;
        let lines = Lines::of(text);
        let site =
            file.site.served().map_err(|cause| malformed(lines.in_site("upstream"), cause))?;
        let signals = file.site.signals.map(|it| match it {
            FileSignals::Obey => SignalUse::Obey,
            FileSignals::Ignore => SignalUse::Ignore,
            FileSignals::Override => SignalUse::Override,
        });
        let mut config = Self { scheme: file.site.scheme, signals, ..Self::of(site) };
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut seen = BTreeMap::new();
        for (index, route) in file.route.into_iter().enumerate() {
            let name = named(&route.path);
            let key = (route.host.clone(), route.path.clone());
            let wrong = |it: Wrong| {
                malformed(lines.in_route(index, &it.key), format!("{name}: {}", it.cause))
            };
            if let Some(before) = seen.insert(key, index) {
                let line = lines.in_route(before, "path");
                let cause = format!("there is one at line {line}; put both together");
                return Err(wrong(Wrong::new("path", cause)));
            }
            let directs = !route.resource.is_empty();
            let route = config.route(route, folder).map_err(wrong)?;
            if !directs && !route.says_something() {
                let line = lines.in_route(index, "path");
                config.warn(path, line, &format!("{name}: it says nothing"));
            }
            config.routes.push(route);
        }
        config.warn_of_idle(path, &lines);
        if matches!(config.site, ConfigSite::Root(_)) {
            config.add_twins();
        }
        if !config.directives.is_empty() && signals.is_some_and(|it| it != SignalUse::Override) {
            let cause = "directives do nothing unless signals = \"override\"";
            config.warn(path, lines.in_site("signals"), cause);
        }
        Ok(config)
    }

    fn warn(&mut self, file: &Path, line: usize, cause: &str) {
        self.warnings.push(format!("{}: line {line}: {cause}", file.display()));
    }

    /// Checks a route and takes its directives.
    fn route(&mut self, route: FileRoute, folder: &Path) -> Result<ConfigRoute, Wrong> {
        let FileRoute { path, host, scheme, upstream, resource, pushing } = route;
        let wrong_host = host.as_deref().and_then(malformed_host);
        let wrong = paths::malformed(&path).map(|it| Wrong::new("path", it));
        if let Some(wrong) = wrong.or(wrong_host.map(|it| Wrong::new("host", it))) {
            return Err(wrong);
        }
        if scheme.is_some() && path.ends_with('*') {
            let cause = "a scheme is of one page: name the path of its document, without a *";
            return Err(Wrong::new("scheme", cause.to_owned()));
        }
        let upstream = upstream.map(|it| it.parse::<Address>()).transpose();
        let upstream = upstream.map_err(|it| Wrong::new("upstream", it.to_string()))?;
        let in_directory = matches!(self.site, ConfigSite::Root(_));
        let pushing = Some(pushing).filter(|it| !it.is_empty());
        let read = |keys| FilePush::read(keys)?.route(&path, folder, in_directory);
        let pushing = pushing.map(read).transpose()?;
        for (path, FileDirective { urgency, incremental }) in resource {
            if urgency.is_some_and(|it| it > 7) {
                let cause = format!("resource \"{path}\": urgency goes from 0 to 7");
                return Err(Wrong { key: format!("resource.\"{path}\""), cause });
            }
            if path.contains('*') || paths::malformed(&path).is_some() {
                let cause = format!("resource \"{path}\": a whole path, from / on, without a *");
                return Err(Wrong { key: format!("resource.\"{path}\""), cause });
            }
            let directive = Priority { urgency, incremental };
            if self.directives.get(&path).is_some_and(|it| *it != directive) {
                let cause = format!(
                    "resource \"{path}\": another route says otherwise, and both hold for all pages"
                );
                return Err(Wrong { key: format!("resource.\"{path}\""), cause });
            }
            self.directives.insert(path, directive);
        }
        Ok(ConfigRoute { host, path, scheme, upstream, pushing })
    }

    /// Warns about what routes say in vain.
    fn warn_of_idle(&mut self, file: &Path, lines: &Lines<'_>) {
        let mut found = Vec::new();
        for (index, route) in self.routes.iter().enumerate() {
            let idle = route.pushing.iter().flat_map(|it| idle(it, self.answering(&route.path)));
            found.extend(idle.map(|(key, why)| (index, key, format!("{key}: {why}"))));
        }
        for (index, route) in self.routes.iter().enumerate() {
            for (before, earlier) in self.routes[..index].iter().enumerate() {
                let line = lines.in_route(before, "path");
                let why = |what| {
                    let path = &earlier.path;
                    (index, "path", format!("{what}: path \"{path}\" at line {line} comes first"))
                };
                found.extend(route.decided_by(earlier).into_iter().map(why));
            }
        }
        for (index, key, why) in found {
            let cause = format!("{}: {why}", named(&self.routes[index].path));
            self.warn(file, lines.in_route(index, key), &cause);
        }
    }

    /// What answers for the paths of a route; for some of them a backend, perhaps.
    fn answering(&self, path: &str) -> Answering {
        let meets = |it: &ConfigRoute| {
            it.upstream.is_some()
                && (paths::covers(&it.path, path) || paths::covers(path, &it.path))
        };
        match self.site {
            _ if self.routes.iter().any(meets) => Answering::Backend,
            ConfigSite::Upstream(_) => Answering::Backend,
            ConfigSite::Pages(_) => Answering::Page,
            ConfigSite::Root(_) => Answering::Directory,
        }
    }
}

/// A route in messages.
fn named(path: &str) -> String {
    format!("[[route]] path \"{path}\"")
}

/// What is wrong with a route's host, if anything: it is compared with what was asked for, without the port.
fn malformed_host(host: &str) -> Option<String> {
    let has_port = host.contains(':') && !host.ends_with(']');
    let good = !host.is_empty() && paths::is_sendable(host) && !host.contains(['/', '*', '@']);
    (has_port || !good).then(|| format!("host \"{host}\": a name without scheme, port and path"))
}

impl FileSite {
    fn served(&self) -> Result<ConfigSite, String> {
        match (&self.root, &self.page, &self.pages, &self.upstream) {
            (Some(root), None, None, None) => Ok(ConfigSite::Root(root.clone())),
            (None, Some(page), None, None) => Ok(ConfigSite::Pages(vec![page.clone()])),
            (None, None, Some(pages), None) if !pages.is_empty() => {
                Ok(ConfigSite::Pages(pages.clone()))
            }
            (None, None, None, Some(upstream)) => upstream
                .parse()
                .map(ConfigSite::Upstream)
                .map_err(|it: crate::upstream::AddressError| it.to_string()),
            _ => Err("[site] takes one of `root`, `page`, `pages`, `upstream`".to_owned()),
        }
    }
}

/// What is wrong with a route, and the key at which it is.
#[derive(Debug)]
struct Wrong {
    key: String,
    cause: String,
}

impl Wrong {
    fn new(key: &str, cause: String) -> Self {
        Self { key: key.to_owned(), cause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_with_its_scheme_is_read() {
        let text = "[site]\npage = \"davies-meenan\"\nscheme = \"dfifo\"\nsignals = \"override\"\n[[route]]\npath = \"/\"\nscheme = \"fifo\"\n\
                    [route.resource.\"/hero.jpg\"]\nurgency = 1\n";
        let config = Config::parse(text, Path::new("x.toml")).expect("good");
        assert_eq!(config.site, ConfigSite::Pages(vec!["davies-meenan".into()]));
        assert_eq!(
            (config.scheme.as_deref(), config.signals),
            (Some("dfifo"), Some(SignalUse::Override))
        );
        let hero = Priority { urgency: Some(1), incremental: None };
        assert_eq!(config.directives, [("/hero.jpg".into(), hero)].into());
        let [route] = &config.routes[..] else { panic!("one route") };
        assert_eq!((route.path.as_str(), route.scheme.as_deref()), ("/", Some("fifo")));
        assert!(route.host.is_none() && route.upstream.is_none() && route.pushing.is_none());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let cases = [
            ("[site]\nroot = \"a\"\nrooot = 1", "x.toml: line 3: unknown field `rooot`"),
            (
                "# A site.\n\n[site]\nroot = \"a\"\npage = \"b\"",
                "x.toml: line 3: [site] takes one of",
            ),
            (
                "[site]\npages = []\n",
                "x.toml: line 1: [site] takes one of `root`, `page`, `pages`, `upstream`",
            ),
            ("[site]\nupstream = \"https://a\"", "x.toml: line 2: upstream `https://a`: backends"),
            (
                "[site]\nroot = \"a\"\n[[route]]\npath = \"/api/*\"\nupstream = \"a\"",
                "x.toml: line 5: [[route]] path \"/api/*\": upstream `a`: expected",
            ),
            (
                "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\npush_preload = 3",
                "x.toml: line 5: [[route]] path \"/\": invalid type: integer `3`, expected a boolean",
            ),
            (
                "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\nx_push = true\npush_policy = \"push\"",
                "x.toml: line 6: [[route]] path \"/\": push_policy needs push_graph",
            ),
            (
                "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\nearly_hints = [\"/a.css\"]",
                "x.toml: line 5: [[route]] path \"/\": early_hints \"/a.css\": no Link value",
            ),
            (
                "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\nscheme = \"rr\"\n[[route]]\npath = \"/\"\nx_push = true",
                "x.toml: line 7: [[route]] path \"/\": there is one at line 4",
            ),
            (
                "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\n[route.resource.\"/a\"]\nurgency = 1\n\
                 [route.resource.\"/b\"]\nurgency = 8",
                "x.toml: line 7: [[route]] path \"/\": resource \"/b\": urgency goes from 0 to 7",
            ),
            (
                "[site]\nroot = \"a\"\n[[route]]\npath = \"x\"",
                "x.toml: line 4: [[route]] path \"x\": it begins with /",
            ),
            (
                "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\npushh = []",
                "x.toml: line 5: [[route]] path \"/\": unknown field `pushh`, expected `path`",
            ),
            (
                "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\npush_gate = \"x\"",
                "x.toml: line 5: [[route]] path \"/\": `x` is not a push gate",
            ),
            (
                "[site]\nroot = \"a\"\n[[route]]\npath = \"/a*b\"",
                "x.toml: line 4: [[route]] path \"/a*b\": a * stands for what follows, at the end only",
            ),
            (
                "[site]\nroot = \"a\"\n[[route]]\nhost = \"a.test:443\"\npath = \"/\"",
                "x.toml: line 4: [[route]] path \"/\": host \"a.test:443\": a name without scheme, port",
            ),
            (
                "[site]\nroot = \"a\"\n[[route]]\npath = \"/*\"\nscheme = \"rr\"",
                "x.toml: line 5: [[route]] path \"/*\": a scheme is of one page",
            ),
            (
                "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\n[route.resource.\"/a/*\"]\nurgency = 1",
                "x.toml: line 5: [[route]] path \"/\": resource \"/a/*\": a whole path",
            ),
            ("[site]\nsignals = \"no\"", "x.toml: line 2: unknown variant `no`"),
            ("", "x.toml: line 1: missing field `site`"),
        ];
        for (text, expected) in cases {
            let message = Config::parse(text, Path::new("x.toml")).expect_err(text).to_string();
            assert!(message.starts_with(expected), "{message}");
        }
    }

    #[test]
    fn what_will_do_nothing_is_warned_of() {
        let warnings = |text: &str| {
            Config::parse(text, Path::new("x.toml")).expect("usable").warnings.join("\n")
        };
        let directed = |signals: &str| {
            let site = format!("[site]\nroot = \"a\"\nsignals = \"{signals}\"\n");
            warnings(&format!(
                "{site}[[route]]\npath = \"/\"\n[route.resource.\"/a\"]\nurgency = 1"
            ))
        };
        let expected = "x.toml: line 3: directives do nothing unless signals = \"override\"";
        assert_eq!((directed("ignore").as_str(), directed("obey").as_str()), (expected, expected));
        assert_eq!(directed("override"), "");
        let idle = warnings("[site]\nroot = \"a\"\n[[route]]\nhost = \"a\"\npath = \"/\"");
        assert_eq!(idle, "x.toml: line 5: [[route]] path \"/\": it says nothing");
        let told = warnings(
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\nearly_hints = \"learn\"\npush_gate = \"strict\"\n\
             max_concurrent_pushes = 3\nclient_has = [\"casper\"]",
        );
        let nothing = "nothing is pushed here, so that it does nothing";
        let route = "[[route]] path \"/\"";
        let expected = [
            format!("x.toml: line 6: {route}: push_gate: {nothing}"),
            format!("x.toml: line 7: {route}: max_concurrent_pushes: {nothing}"),
            format!("x.toml: line 8: {route}: client_has: {nothing}"),
            format!(
                "x.toml: line 5: {route}: early_hints: it is about the fields of a backend's responses, and no backend \
                 answers here"
            ),
        ];
        assert_eq!(told, expected.join("\n"));
        let hinting =
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\nearly_hints = [\"</a>; rel=preload\"]";
        assert_eq!(
            warnings(hinting),
            "x.toml: line 5: [[route]] path \"/\": early_hints: a file is there at once, and early hints go where a \
             response takes time"
        );
        let learning = "[[route]]\npath = \"/\"\nearly_hints = \"learn\"";
        assert_eq!(warnings(&format!("[site]\nupstream = \"http://a\"\n{learning}")), "");
        let mounted = "[[route]]\npath = \"/*\"\nupstream = \"http://a\"";
        assert_eq!(warnings(&format!("[site]\nroot = \"a\"\n{learning}\n{mounted}")), "");
    }

    #[test]
    fn pushes_beyond_those_that_may_be_and_304s_that_cannot_be_are_warned_of() {
        let route = "[[route]] path \"/\"";
        let pushing = |rest: &str| {
            let text = format!("[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\n{rest}");
            Config::parse(&text, Path::new("x.toml")).expect("usable").warnings.join("\n")
        };
        let list =
            |count: u32| format!("{:?}", (0..count).map(|it| format!("/{it}")).collect::<Vec<_>>());
        assert_eq!(
            pushing(&format!("push = {}", list(15))),
            format!(
                "x.toml: line 5: {route}: push: it lists 15, and of them the first 10 are pushed: max_concurrent_pushes is 10"
            )
        );
        assert_eq!(pushing(&format!("push = {}\nmax_concurrent_pushes = 15", list(15))), "");
        assert_eq!(pushing(&format!("push = {}", list(10))), "");
        let validating =
            |has: &str| pushing(&format!("push = [\"/a\"]\npush_not_modified = true\n{has}"));
        let expected = format!(
            "x.toml: line 6: {route}: push_not_modified: nothing reports stale copies here"
        );
        for has in ["", "client_has = [\"casper\", \"conditional\"]"] {
            assert!(validating(has).starts_with(&expected), "{has}");
        }
        for has in ["client_has = [\"casper-etag\"]", "client_has = [\"cache-digest\"]"] {
            assert_eq!(validating(has), "");
        }
    }

    #[test]
    fn a_route_that_an_earlier_one_hides_is_warned_of() {
        let warnings = |first: &str, second: &str| {
            let route = |it: &str| format!("[[route]]\n{it}\npush = [\"/x\"]\n");
            let text = format!("[site]\nroot = \"a\"\n{}{}", route(first), route(second));
            Config::parse(&text, Path::new("x.toml")).expect("usable").warnings.join("\n")
        };
        let expected = "x.toml: line 7: [[route]] path \"/a\": pushes and hints: path \"/*\" at line 4 comes first";
        assert_eq!(warnings("path = \"/*\"", "path = \"/a\""), expected);
        assert_eq!(warnings("path = \"/a\"", "path = \"/*\""), "");
        assert_eq!(warnings("path = \"/*\"\nhost = \"b.test\"", "path = \"/a\""), "");
    }

    #[test]
    fn a_backend_serves_the_site_or_some_paths() {
        let text = "[site]\nupstream = \"http://127.0.0.1:8080\"\n[[route]]\npath = \"/api/*\"\nupstream = \"http://api\"";
        let config = Config::parse(text, Path::new("x.toml")).expect("good");
        let address = |text: &str| text.parse::<Address>().expect("an address");
        assert_eq!(config.site, ConfigSite::Upstream(address("http://127.0.0.1:8080")));
        let [api] = &config.routes[..] else { panic!("one route") };
        assert_eq!(
            (api.path.as_str(), api.upstream.clone()),
            ("/api/*", Some(address("http://api")))
        );
    }

    /// What the routes of a directory say, line by line: the path, and what is pushed with it.
    fn pushed(routes: &str) -> String {
        let text = format!("[site]\nroot = \"a\"\n{routes}");
        let config = Config::parse(&text, Path::new("x.toml")).expect("usable");
        let line = |it: &ConfigRoute| {
            Some(format!("{}: {}", it.path, it.pushing.as_ref()?.push.join(" ")))
        };
        config.routes.iter().filter_map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn in_a_directory_a_route_holds_for_both_paths_of_an_index_unless_the_other_has_its_own() {
        let route =
            |path: &str, push: &str| format!("[[route]]\npath = \"{path}\"\npush = [\"{push}\"]\n");
        let index = route("/index.html", "/a");
        assert_eq!(pushed(&index), "/index.html: /a\n/: /a");
        assert_eq!(pushed(&route("/x/", "/a")), "/x/: /a\n/x/index.html: /a");
        assert_eq!(pushed(&route("/x/*", "/a")), "/x/*: /a");
        assert_eq!(pushed(&(route("/", "/b") + &index)), "/: /b\n/index.html: /a");
        let shop = "[[route]]\npath = \"/*\"\nupstream = \"http://a\"\n";
        assert_eq!(pushed(&format!("{shop}{index}")), "/index.html: /a");
    }

    #[test]
    fn in_a_directory_schemes_and_directives_hold_for_both_paths_of_an_index() {
        let text = "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\nscheme = \"rr\"\n\
                    [route.resource.\"/index.html\"]\nurgency = 1";
        let config = Config::parse(text, Path::new("x.toml")).expect("usable");
        let paths: Vec<&str> = config.routes.iter().map(|it| it.path.as_str()).collect();
        let directed: Vec<&str> = config.directives.keys().map(String::as_str).collect();
        assert_eq!((paths, directed), (vec!["/", "/index.html"], vec!["/", "/index.html"]));
    }

    #[test]
    fn a_graph_must_know_the_documents_of_its_route() {
        let folder = tempfile::tempdir().expect("a folder");
        let node = |path: &str, kind: &str| {
            format!("{{\"host\":\"a\",\"path\":\"{path}\",\"kind\":\"{kind}\",\"bytes\":1}}")
        };
        let nodes = [node("/shop/index.html", "html"), node("/a.css", "css")].join(",");
        let graph = format!("{{\"format\":\"utmost-graph/1\",\"nodes\":[{nodes}],\"edges\":[]}}");
        std::fs::write(folder.path().join("graph.json"), graph).expect("written");
        let bad = "{\"format\":\"utmost-graph/1\",\"nodes\":[{\"host\":\"a\",\"path\":\"/a>;x\",\"kind\":\"html\",\"bytes\":1}],\
                   \"edges\":[]}";
        std::fs::write(folder.path().join("bad.json"), bad).expect("written");
        let parse_with = |path: &str, graph: &str| {
            let route = format!(
                "[[route]]\npath = \"{path}\"\npush_policy = \"push\"\npush_graph = \"{graph}\""
            );
            let text = format!("[site]\nroot = \"a\"\n{route}");
            Config::parse(&text, &folder.path().join("x.toml"))
        };
        let parse = |path: &str| parse_with(path, "graph.json");
        let error = parse_with("/", "bad.json").expect_err("no path").to_string();
        assert!(error.contains("x.toml: line 6: "), "{error}");
        assert!(error.contains("push_graph: node \"/a>;x\": write < and > as %3C"), "{error}");
        let error = parse("/").expect_err("another page's").to_string();
        let expected = "x.toml: line 6: [[route]] path \"/\": push_graph is of the page \"/shop/index.html\", and";
        assert!(error.contains(expected), "{error}");
        let config = parse("/shop/").expect("the same document");
        let known =
            |it: &ConfigRoute| Some(it.pushing.as_ref()?.graph.as_ref()?.nodes[0].path.clone());
        let known: Vec<String> = config.routes.iter().filter_map(known).collect();
        assert_eq!(known, ["/shop/", "/shop/index.html"]);
        assert!(parse("/shop/*").is_ok() && parse("/a.css").is_ok());
    }

    #[test]
    fn the_example_of_the_documentation_is_read_without_a_warning() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = include_str!("../../docs/push.md");
        let example = text.split("```toml\n").nth(1).and_then(|it| it.split("```").next());
        let graph = "{\"format\":\"utmost-graph/1\",\"nodes\":[{\"host\":\"localhost\",\"path\":\"/shop/\",\"kind\":\"html\",\
                     \"bytes\":1}],\"edges\":[]}";
        std::fs::write(folder.path().join("shop.json"), graph).expect("written");
        let config = Config::parse(example.expect("TOML"), &folder.path().join("site.toml"));
        let config = config.expect("good");
        assert_eq!(config.warnings, Vec::<String>::new());
        let paths: Vec<&str> = config.routes.iter().map(|it| it.path.as_str()).collect();
        let expected = ["/index.html", "/", "/assets/*", "/shop/", "/shop/index.html", "/app/*"];
        assert_eq!(paths, expected);
    }

    #[test]
    fn a_backend_may_be_for_one_host() {
        let text = "[site]\nroot = \"a\"\n[[route]]\nhost = \"b.test\"\npath = \"/*\"\nupstream = \"http://b\"";
        let config = Config::parse(text, Path::new("x.toml")).expect("good");
        assert_eq!(config.routes[0].host.as_deref(), Some("b.test"));
    }
}
