//! The server's configuration file.

mod balancer;
#[cfg(test)]
mod documented;
mod file;
mod headers;
mod index_routes;
mod key_positions;
mod limits;
mod paths;
mod pushing;
mod recovery;
mod without_effect;

use crate::site::{Directive, Redirect, Rule};
use crate::upstream::Address;
use file::{File, FileDirective, FileRoute, FileSite, OTHER_KEYS};
use hyper::header::HeaderMap;
use key_positions::KeyPositions;
pub use key_positions::line_of;
pub use limits::ConfigLimits;
pub use paths::is_one_path;
use recovery::Mistake;
use server::{LoadBalancer, Proxies, SignalUse};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The contents of a configuration file.
#[derive(Debug, Clone)]
pub struct Config {
    /// The site to serve.
    pub site: ConfigSite,
    /// The scheme, by name.
    pub scheme: Option<String>,
    /// The lines of the file at which it names its site and its scheme, which are looked up elsewhere.
    pub lines: ConfigLines,
    /// Files of schemes that are not built in.
    pub scheme_files: Vec<PathBuf>,
    /// How clients' signals are used.
    pub signals: Option<SignalUse>,
    /// Directives for single resources, by path.
    pub directives: BTreeMap<String, Directive>,
    /// Rules for some paths, in order.
    pub routes: Vec<ConfigRoute>,
    /// Which responses move between connections of a client; `None`: none.
    pub migration: Option<migration::Policy>,
    /// The load balancer before the server.
    pub load_balancer: Option<LoadBalancer>,
    /// The proxies in front of the server whose information about clients is trusted.
    pub proxies: Proxies,
    /// Limits of the server and of backends.
    pub limits: ConfigLimits,
    /// Messages about settings that do nothing.
    pub warnings: Vec<String>,
}

impl Config {
    /// A site without further settings.
    pub fn of(site: ConfigSite) -> Self {
        Self {
            site,
            scheme: None,
            lines: ConfigLines::default(),
            scheme_files: Vec::new(),
            signals: None,
            directives: BTreeMap::new(),
            routes: Vec::new(),
            migration: None,
            load_balancer: None,
            proxies: Proxies::default(),
            limits: ConfigLimits::default(),
            warnings: Vec::new(),
        }
    }

    /// Whether any backend gets WebSockets.
    pub fn takes_websockets(&self) -> bool {
        let of_site = match &self.site {
            ConfigSite::Upstream(address) => Some(address),
            _ => None,
        };
        let of_routes = self.routes.iter().filter_map(ConfigRoute::upstream);
        of_site.into_iter().chain(of_routes).any(Address::takes_websockets)
    }
}

/// Lines of a file, from 1; 0 without a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConfigLines {
    /// The line of `root`, `page`, `pages` or `upstream`.
    pub site: usize,
    /// The line of `scheme`.
    pub scheme: usize,
}

/// A rule that names its source and its scheme.
pub type ConfigRoute = Rule<ConfigSource, ConfigScheme>;

impl ConfigRoute {
    /// The backend that answers.
    pub fn upstream(&self) -> Option<&Address> {
        match &self.source {
            Some(ConfigSource::Upstream(address)) => Some(address),
            _ => None,
        }
    }
}

/// The source that answers for a route instead of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigSource {
    /// A backend.
    Upstream(Address),
    /// The files below a directory, which the file names at this line.
    Root(PathBuf, usize),
}

/// A scheme that a route names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigScheme {
    /// Its name.
    pub name: String,
    /// The line of the file that names it.
    pub line: usize,
}

/// The site to serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigSite {
    /// The files below a directory.
    Root(PathBuf),
    /// Pages: bundled names, or files.
    Pages(Vec<String>),
    /// A backend.
    Upstream(Address),
}

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ConfigError {
    #[error("{0}: {1}")]
    Unreadable(PathBuf, #[source] std::io::Error),
    #[error("{file}: line {line}: {cause}")]
    Malformed { file: PathBuf, line: usize, cause: String },
}

impl Config {
    /// Reads a file. A relative `root` and other relative files count from the file's own directory.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        first(Self::found(path))
    }

    /// Reads a file as far as possible, and finds all mistakes in it, in the order of its lines. `None`: nothing can be read.
    pub fn check(path: &Path) -> (Option<Self>, Vec<ConfigError>) {
        let (config, mut wrong) = Self::found(path);
        wrong.sort_by_key(|it| match it {
            ConfigError::Unreadable(..) => 0,
            ConfigError::Malformed { line, .. } => *line,
        });
        (config, wrong)
    }

    /// The same, with mistakes in the order in which they are found.
    fn found(path: &Path) -> (Option<Self>, Vec<ConfigError>) {
        let bytes = match named_files::read(path) {
            Ok(bytes) => bytes,
            Err(source) => return (None, vec![ConfigError::Unreadable(path.to_owned(), source)]),
        };
        let text = match std::str::from_utf8(&bytes) {
            Ok(text) => text,
            Err(error) => {
                let line = bytes[..error.valid_up_to()].split(|it| *it == b'\n').count();
                let cause = "not UTF-8: save the file in this encoding".to_owned();
                let file = path.to_owned();
                return (None, vec![ConfigError::Malformed { file, line, cause }]);
            }
        };
        let (mut config, wrong) = Self::read(text, path);
        let folder = path.parent().unwrap_or(Path::new(""));
        if let Some(ConfigSite::Root(root)) = config.as_mut().map(|it| &mut it.site) {
            *root = folder.join(&root);
        }
        for file in config.iter_mut().flat_map(|it| &mut it.scheme_files) {
            *file = folder.join(&file);
        }
        (config, wrong)
    }

    #[cfg(test)]
    fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        first(Self::read(text, path))
    }

    fn read(text: &str, path: &Path) -> (Option<Self>, Vec<ConfigError>) {
        let (file, mut wrong) = recovery::read(text);
        let config = file.and_then(|(file, text)| Self::of_file(file, &text, path, &mut wrong));
        let malformed =
            |(line, cause)| ConfigError::Malformed { file: path.to_owned(), line, cause };
        (config, wrong.into_iter().map(malformed).collect())
    }

    /// Builds the configuration of a file. Wrong settings count as absent.
    fn of_file(file: File, text: &str, path: &Path, wrong: &mut Vec<Mistake>) -> Option<Self> {
        let places = KeyPositions::of(text).ok()?;
        let (scheme, signals) = (file.site.scheme.clone(), file.site.signals);
        let scheme_files = file.site.scheme_files.clone();
        let ca = file.site.upstream_ca.clone();
        let idle_beside = file.idle_beside(&places);
        let (proxies, of_proxies) = file.site.proxies();
        wrong.extend(of_proxies.into_iter().map(|(key, cause)| (places.in_site(key), cause)));
        let site = served(file.site, &places, wrong);
        let folder = path.parent().unwrap_or(Path::new(""));
        let load_balancer = file.load_balancer.and_then(|it| {
            let read = it.load(folder);
            let described =
                |(key, cause)| (places.in_table("load_balancer", key), format!("{key}: {cause}"));
            read.map_err(|it| wrong.push(described(it))).ok()
        });
        let (migration, limits) = (file.migration, file.limits);
        let mut config =
            Self { scheme, signals, migration, load_balancer, proxies, limits, ..Self::of(site) };
        config.scheme_files = scheme_files;
        config.lines = ConfigLines { site: places.of_served(), scheme: places.in_site("scheme") };
        let mut warnings = idle_beside;
        if config.migration.is_some_and(|it| it.after_bytes > 0 && !it.knows_sizes()) {
            let cause = "after_bytes has no effect without size or blocking";
            warnings.push((places.in_table("migration", "after_bytes"), cause.to_owned()));
        }
        for (index, route) in file.route.into_iter().enumerate() {
            config.take(route, index, &places, path, wrong);
            // A key with a mistake counts as absent.
            let has_no_keys = places.route_keys(index).all(|it| it == "path" || it == "host");
            if has_no_keys && wrong.is_empty() {
                warnings.push((
                    places.in_route(index, "path"),
                    "the route has no keys: remove it".to_owned(),
                ));
            }
        }
        warnings.extend(config.idle(&places));
        if let Some(ca) = ca
            && !config.trust(&folder.join(ca))
        {
            let cause = "upstream_ca has no effect without an https:// upstream";
            warnings.push((places.in_site("upstream_ca"), cause.to_owned()));
        }
        if matches!(config.site, ConfigSite::Root(_)) {
            config.add_twins();
        }
        let idle = config.take_idle_directives();
        warnings.extend(idle.into_iter().map(|it| (places.in_site("signals"), it.to_owned())));
        warnings.sort_by_key(|it| it.0);
        let warning = |(line, cause)| format!("{}: line {line}: {cause}", path.display());
        config.warnings = warnings.into_iter().map(warning).collect();
        Some(config)
    }

    /// Adds the `index`-th route.
    fn take(
        &mut self,
        mut route: FileRoute,
        index: usize,
        places: &KeyPositions<'_>,
        file: &Path,
        wrong: &mut Vec<Mistake>,
    ) {
        let mut mistakes = Vec::new();
        for (resource, directive) in std::mem::take(&mut route.resource) {
            mistakes.extend(self.direct(resource, directive).err());
        }
        let route = self.route(route, index, places, file, &mut mistakes);
        mistakes.extend(self.is_first(&route, places).err());
        self.routes.push(route);
        wrong.extend(mistakes.into_iter().map(|it| (places.of_wrong(index, &it), it.cause)));
    }

    /// Makes all backends prove their identity by this file of certificate authorities. Returns `false` if none needs to.
    fn trust(&mut self, ca: &Path) -> bool {
        let of_site = match &mut self.site {
            ConfigSite::Upstream(address) => Some(address),
            _ => None,
        };
        let of_routes = self.routes.iter_mut().filter_map(|it| match &mut it.source {
            Some(ConfigSource::Upstream(address)) => Some(address),
            _ => None,
        });
        let mut is_used = false;
        for address in of_site.into_iter().chain(of_routes).filter(|it| it.is_secure()) {
            *address = address.clone().trusting(Some(ca.to_owned()));
            is_used = true;
        }
        is_used
    }

    fn direct(&mut self, resource: String, directive: FileDirective) -> Result<(), RouteMistake> {
        let is_whole = is_one_path(&resource);
        let directive = Directive::from(directive);
        let before = self.directives.insert(resource.clone(), directive);
        let cause = if !is_whole {
            paths::malformed(&resource).unwrap_or("must be a whole path, without a *")
        } else if before.is_some_and(|it| it != directive) {
            "has another directive in an earlier route: keep one, as it holds for all pages"
        } else {
            return Ok(());
        };
        let cause = format!("resource \"{resource}\" {cause}");
        Err(RouteMistake { entry: Some(resource), ..RouteMistake::at("resource", cause) })
    }

    fn route(
        &self,
        mut route: FileRoute,
        index: usize,
        places: &KeyPositions<'_>,
        file: &Path,
        wrong: &mut Vec<RouteMistake>,
    ) -> ConfigRoute {
        let of_page = [("scheme", route.scheme.is_some()), ("signals", route.signals.is_some())];
        if let Some((key, _)) = of_page.into_iter().find(|it| it.1 && route.path.ends_with('*')) {
            let cause = format!(
                "{key} is for one page: give the route the path of its document, without a *"
            );
            wrong.push(RouteMistake::at(key, cause));
        }
        let (host, path) = (route.host.clone(), route.path.clone());
        let line = places.in_route(index, "scheme");
        let scheme = route.scheme.take().map(|name| ConfigScheme { name, line });
        let (signals, websockets, compress) = (route.signals, route.websockets, route.compress);
        let folder = file.parent().unwrap_or(Path::new(""));
        let redirect = kept(route.redirected(), wrong).flatten();
        let upstream = route.upstream.take();
        let upstream = upstream.map(|it| it.taking_websockets(websockets).compressed(compress));
        let root = route.root.take();
        let root =
            root.map(|it| ConfigSource::Root(folder.join(it), places.in_route(index, "root")));
        let source = upstream.map(ConfigSource::Upstream).or(root);
        let (fallback, error_pages) = (route.fallback.take(), route.error_pages.take());
        let headers: Option<HeaderMap> = route.headers.take().map(|it| headers::checked(it, wrong));
        let in_directory = matches!(self.site, ConfigSite::Root(_));
        let pushing = places.pushes(index).then(|| route.checked_pushing(folder, in_directory));
        let pushing = pushing.and_then(|it| kept(it, wrong));
        Rule {
            host,
            path,
            source,
            redirect,
            fallback,
            error_pages,
            scheme,
            signals,
            pushing,
            headers,
        }
    }

    /// Checks that no earlier route has the same host and path.
    fn is_first(&self, route: &ConfigRoute, places: &KeyPositions<'_>) -> Result<(), RouteMistake> {
        match self.routes.iter().position(|it| it.host == route.host && it.path == route.path) {
            None => Ok(()),
            Some(before) => {
                let line = places.in_route(before, "path");
                let path = &route.path;
                Err(RouteMistake::at(
                    "path",
                    format!("path \"{path}\" has a route at line {line}: merge the two"),
                ))
            }
        }
    }
}

impl KeyPositions<'_> {
    /// Whether the route at `index` sets anything about pushes and hints.
    fn pushes(&self, index: usize) -> bool {
        self.route_keys(index).any(|it| !OTHER_KEYS.contains(&it))
    }
}

impl File {
    /// The keys about a backend that have no effect: the line of each, and why.
    fn idle_beside(&self, places: &KeyPositions<'_>) -> Vec<(usize, String)> {
        let mut idle = Vec::new();
        let mut look = |said: [bool; 2], has_upstream: bool, line: &dyn Fn(&str) -> usize| {
            for (key, is_said) in ["websockets", "compress"].into_iter().zip(said) {
                if is_said && !has_upstream {
                    let why = format!("{key} has no effect without an upstream beside it");
                    idle.push((line(key), why));
                }
            }
        };
        let site = &self.site;
        look([site.websockets, site.compress], site.upstream.is_some(), &|it| places.in_site(it));
        for (index, route) in self.route.iter().enumerate() {
            let said = [route.websockets, route.compress];
            look(said, route.upstream.is_some(), &|it| places.in_route(index, it));
        }
        idle
    }
}

impl FileRoute {
    /// The target of the route's redirect. Such a route must not set anything else.
    fn redirected(&mut self) -> Result<Option<Redirect>, RouteMistake> {
        let sources = [
            ("root", self.root.is_some()),
            ("upstream", self.upstream.is_some()),
            ("redirect", self.redirect.is_some()),
        ];
        let mut said = sources.into_iter().filter(|it| it.1).map(|it| it.0);
        if let (Some(one), Some(other)) = (said.next(), said.next()) {
            let cause = format!("{other} and {one} exclude each other: keep one of them");
            return Err(RouteMistake::at(other, cause));
        }
        let Some(to) = self.redirect.take() else {
            return match self.status {
                Some(_) => Err(RouteMistake::at(
                    "status",
                    "status is for a redirect: add one, or remove it",
                )),
                None => Ok(None),
            };
        };
        let begin = to.strip_suffix('*').unwrap_or(&to);
        if begin != to && !self.path.ends_with('*') {
            return Err(RouteMistake::at(
                "redirect",
                "redirect ends in *, and so must the path of its route",
            ));
        }
        if paths::covers(&self.path, begin) {
            let cause = format!("redirect \"{to}\" leads to its own route: name another path");
            return Err(RouteMistake::at("redirect", cause));
        }
        Ok(Some(Redirect { to, status: self.status.unwrap_or(308) }))
    }
}

impl FileSite {
    fn served(self) -> Result<ConfigSite, &'static str> {
        match (self.root, self.page, self.pages, self.upstream) {
            (Some(root), None, None, None) => Ok(ConfigSite::Root(root)),
            (None, Some(page), None, None) => Ok(ConfigSite::Pages(vec![page])),
            (None, None, Some(pages), None) if !pages.is_empty() => Ok(ConfigSite::Pages(pages)),
            (None, None, None, Some(upstream)) => {
                let upstream = upstream.taking_websockets(self.websockets);
                Ok(ConfigSite::Upstream(upstream.compressed(self.compress)))
            }
            _ => Err("[site] must have exactly one of `root`, `page`, `pages`, `upstream`"),
        }
    }
}

/// The configuration if it has no mistake, or its first mistake.
fn first((config, wrong): (Option<Config>, Vec<ConfigError>)) -> Result<Config, ConfigError> {
    match wrong.into_iter().next() {
        Some(error) => Err(error),
        // If nothing can be read, there is a mistake.
        None => Ok(config.unwrap_or_else(|| Config::of(ConfigSite::Pages(Vec::new())))),
    }
}

/// The source that answers; an empty list of pages if it is wrong.
fn served(site: FileSite, places: &KeyPositions<'_>, wrong: &mut Vec<Mistake>) -> ConfigSite {
    site.served().unwrap_or_else(|cause| {
        // A key with a bad value is present all the same.
        let is_known =
            |it: &Mistake| ["root", "page", "upstream"].iter().any(|key| it.1.starts_with(key));
        if !wrong.iter().any(is_known) {
            wrong.push((places.in_site("upstream"), cause.to_owned()));
        }
        ConfigSite::Pages(Vec::new())
    })
}

/// Returns the value, or records the mistake.
fn kept<T>(read: Result<T, RouteMistake>, wrong: &mut Vec<RouteMistake>) -> Option<T> {
    read.map_err(|it| wrong.push(it)).ok()
}

#[derive(Debug)]
struct RouteMistake {
    key: &'static str,
    /// If the key's value is a table: the key in it.
    entry: Option<String>,
    cause: String,
}

impl RouteMistake {
    fn at(key: &'static str, cause: impl Into<String>) -> Self {
        Self { key, entry: None, cause: cause.into() }
    }
}

#[cfg(test)]
mod tests;
