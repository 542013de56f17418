//! The server's configuration file.

mod pushing;

use crate::SignalUse;
use crate::site::PushRoute;
use http3::Priority;
use pushing::{FilePush, KEYS};
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
    /// Schemes for single pages.
    pub routes: Vec<ConfigRoute>,
    /// What is pushed and hinted with which documents.
    pub pushes: Vec<PushRoute>,
}

/// A page with a scheme of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigRoute {
    /// The host; none: any.
    pub host: Option<String>,
    /// The path of its document.
    pub path: String,
    /// The scheme, by name.
    pub scheme: String,
}

/// What is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigSite {
    /// The files below a directory.
    Root(PathBuf),
    /// Pages: bundled names, or files.
    Pages(Vec<String>),
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

/// One page. What is not named here is about pushes.
#[derive(Deserialize)]
struct FileRoute {
    path: String,
    host: Option<String>,
    scheme: Option<String>,
    #[serde(default)]
    resource: BTreeMap<String, FileDirective>,
    #[serde(flatten)]
    pushing: toml::Table,
}

impl FileRoute {
    /// What it says of pushes; none if it says nothing.
    fn push_route(&self, folder: &Path) -> Result<Option<PushRoute>, String> {
        if let Some(unknown) = self.pushing.keys().find(|it| !KEYS.contains(&it.as_str())) {
            let known = KEYS.join("`, `");
            return Err(format!(
                "unknown field `{unknown}`, expected `path`, `host`, `scheme`, `resource`, `{known}`"
            ));
        }
        if self.pushing.is_empty() {
            return Ok(None);
        }
        let file: FilePush =
            self.pushing.clone().try_into().map_err(|error| error.message().to_owned())?;
        file.route(&self.path, folder).map(Some)
    }
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
        let site = match (file.site.root, file.site.page, file.site.pages) {
            (Some(root), None, None) => ConfigSite::Root(root),
            (None, Some(page), None) => ConfigSite::Pages(vec![page]),
            (None, None, Some(pages)) if !pages.is_empty() => ConfigSite::Pages(pages),
            _ => {
                let cause = "[site] takes either `root`, `page` or `pages`";
                return Err(malformed(1, cause.to_owned()));
            }
        };
        let signals = file.site.signals.map(|it| match it {
            FileSignals::Obey => SignalUse::Obey,
            FileSignals::Ignore => SignalUse::Ignore,
            FileSignals::Override => SignalUse::Override,
        });
        let mut directives = BTreeMap::new();
        let (mut routes, mut pushes) = (Vec::new(), Vec::new());
        for route in &file.route {
            let of_route = |cause| {
                let route = &route.path;
                malformed(
                    line_of_route(text, route),
                    format!("[[route]] path \"{route}\": {cause}"),
                )
            };
            if !route.path.starts_with('/') {
                return Err(of_route("it begins with /".to_owned()));
            }
            let folder = path.parent().unwrap_or(Path::new(""));
            pushes.extend(route.push_route(folder).map_err(of_route)?);
            let (host, path) = (route.host.clone(), route.path.clone());
            routes.extend(route.scheme.clone().map(|scheme| ConfigRoute { host, path, scheme }));
        }
        for (path, FileDirective { urgency, incremental }) in
            file.route.into_iter().flat_map(|it| it.resource)
        {
            if urgency.is_some_and(|it| it > 7) {
                return Err(malformed(1, format!("resource \"{path}\": urgency goes from 0 to 7")));
            }
            directives.insert(path, Priority { urgency, incremental });
        }
        Ok(Self { site, scheme: file.site.scheme, signals, directives, routes, pushes })
    }
}

/// The line of a route's path: values that a table gives have lost their place.
fn line_of_route(text: &str, path: &str) -> usize {
    let names = |line: &str| line.trim_start().starts_with("path") && line.contains(path);
    text.lines().position(names).map_or(1, |index| index + 1)
}

/// The line, from 1, at which `text` is not what was expected.
pub fn line_of(error: &toml::de::Error, text: &str) -> usize {
    let start = error.span().map_or(0, |span| span.start);
    1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count()
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
        let route = ConfigRoute { host: None, path: "/".into(), scheme: "fifo".into() };
        assert_eq!((config.routes, config.pushes.len()), (vec![route], 0));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let cases = [
            ("[site]\nroot = \"a\"\nrooot = 1", "x.toml: line 3: unknown field `rooot`"),
            ("[site]\nroot = \"a\"\npage = \"b\"", "x.toml: line 1: [site] takes either"),
            (
                "[site]\npages = []\n",
                "x.toml: line 1: [site] takes either `root`, `page` or `pages`",
            ),
            (
                "[site]\nroot = \"a\"\n[[route]]\npath = \"x\"",
                "x.toml: line 4: [[route]] path \"x\": it begins with /",
            ),
            (
                "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\npushh = []",
                "x.toml: line 4: [[route]] path \"/\": unknown field `pushh`, expected `path`",
            ),
            (
                "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\npush_gate = \"x\"",
                "x.toml: line 4: [[route]] path \"/\": `x` is no push gate",
            ),
            ("[site]\nsignals = \"no\"", "x.toml: line 2: unknown variant `no`"),
            ("", "x.toml: line 1: missing field `site`"),
        ];
        for (text, expected) in cases {
            let message = Config::parse(text, Path::new("x.toml")).expect_err(text).to_string();
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
