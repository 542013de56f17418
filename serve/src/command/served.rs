//! The site of `utmost serve`: the site of its flags or its configuration, and the defaults that go with it.

use super::Arguments;
use crate::failure::{Fault, Faults};
use crate::{Failure, values};
use ::corpus::Page;
use ::gateway::site::{DirectorySite, Rule, RuledSite};
use ::gateway::upstream::{Address, StartError, UpstreamSite};
use ::gateway::{
    Config, ConfigError, ConfigLimits, ConfigRoute, ConfigScheme, ConfigSite, ConfigSource,
    UpstreamLimits,
};
use ::server::site::Site;
use ::server::{Exploration, Identity, LoadBalancer, Proxies, SignalUse};
use migration::Policy;
use page_site::PageSite;
use schedulers::{Catalogue, Scheme, SchemeError, find_scheme};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

/// The scheme for clients that negotiate one, if the operator did not choose.
const NEGOTIATED: &str = "bucket-html";

/// The site, with the defaults that go with it.
pub(super) struct Served {
    pub(super) site: RuledSite,
    pub(super) scheme: Scheme,
    /// The scheme for clients that negotiate one; `None` if the operator chose one for all.
    pub(super) negotiated: Option<Scheme>,
    pub(super) signals: SignalUse,
    pub(super) exploration: Option<Arc<Exploration>>,
    pub(super) migration: Option<Policy>,
    pub(super) load_balancer: Option<LoadBalancer>,
    pub(super) proxies: Proxies,
    pub(super) limits: ConfigLimits,
    pub(super) websockets: bool,
    /// Whether it imitates sites of other hosts than the certificate's.
    pub(super) is_page: bool,
}

impl Served {
    /// The site, for the hosts that the certificate names.
    pub(super) fn site_of(&self, identity: &Identity) -> RuledSite {
        let names = identity.names().filter(|_| !self.is_page);
        names.map_or_else(|| self.site.clone(), |it| self.site.clone().only_for(&it))
    }
}

/// Reads the configuration as far as it can be read, and records all mistakes.
pub(super) fn served(arguments: &Arguments, faults: &mut Faults) -> Option<Served> {
    let config = config(arguments, faults)?;
    for warning in &config.warnings {
        eprintln!("warning: {warning}");
    }
    let file = arguments.config.as_deref();
    let limits = config.limits.of_upstream();
    let is_page = matches!(config.site, ConfigSite::Pages(_));
    let websockets = config.takes_websockets();
    let (default_scheme, default_signals) =
        if is_page { ("bucket-html", SignalUse::Ignore) } else { ("rfc9218", SignalUse::Obey) };
    let (site, pages): (Option<Arc<dyn Site>>, _) = match config.site {
        ConfigSite::Root(root) => {
            (faults.kept(directory(&root, file, config.lines.site)), Vec::new())
        }
        ConfigSite::Pages(names) => {
            let pages = faults.kept(pages(&names, file, config.lines.site)).unwrap_or_default();
            (Some(Arc::new(PageSite::of(pages.clone()).for_browsers())), pages)
        }
        ConfigSite::Upstream(address) => (faults.kept(upstream(&address, &limits)), Vec::new()),
    };
    let catalogue = faults.kept(arguments.own.catalogue(&config.scheme_files));
    let catalogue = catalogue.unwrap_or_else(|| Catalogue::with(Vec::new()));
    let chosen = config.scheme.is_some();
    let name = config.scheme.as_deref().unwrap_or(default_scheme);
    let here = Here { pages: &pages, catalogue: &catalogue, file };
    let scheme = here.scheme(name);
    let scheme = faults.kept(scheme.map_err(|error| in_config(file, config.lines.scheme, error)));
    let exploration = faults.kept(arguments.explore.orders(|it| here.scheme(it)));
    let directed = !config.directives.is_empty();
    let rules = config.routes.into_iter().map(|it| rule(it, &here, &limits, faults)).collect();
    let site = RuledSite::new(site?, rules).directing(config.directives);
    warn_of_absent_files(&site, file);
    // Directives have no effect on a server that does not use them.
    let default_signals = if directed { SignalUse::Override } else { default_signals };
    let negotiated = if chosen { None } else { find_scheme(NEGOTIATED).ok() };
    let signals = config.signals.unwrap_or(default_signals);
    let Config { migration, load_balancer, proxies, limits, .. } = config;
    Some(Served {
        site,
        scheme: scheme?,
        negotiated,
        signals,
        exploration: exploration?,
        migration,
        load_balancer,
        proxies,
        limits,
        websockets,
        is_page,
    })
}

fn warn_of_absent_files(site: &RuledSite, file: Option<&Path>) {
    let mut told = BTreeSet::new();
    // A folder's index has two routes that push the same.
    for (route, key, path) in site.absent_files() {
        let place = file.map_or(String::new(), |it| format!("{}: ", it.display()));
        if told.insert((key, path)) {
            eprintln!(
                "warning: {place}[[route]] path \"{route}\": {key} \"{path}\": the site has no such resource"
            );
        }
    }
}

/// The files below a directory that a flag names, or a configuration at this line.
fn directory(root: &Path, file: Option<&Path>, line: usize) -> Result<Arc<dyn Site>, Fault> {
    let site = DirectorySite::open(root).map_err(|error| match file {
        Some(_) => in_config(file, line, format!("root: {error}")),
        None => Failure::in_flag("--root")(error).into(),
    })?;
    if !root.join("index.html").exists() {
        eprintln!("warning: {} has no index.html, so \"/\" is not found", root.display());
    }
    Ok(Arc::new(site))
}

fn upstream(address: &Address, limits: &UpstreamLimits) -> Result<Arc<dyn Site>, Failure> {
    let report = Arc::new(|line: &str| eprintln!("{line}"));
    let site = UpstreamSite::start(address, limits, report);
    Ok(Arc::new(site.map_err(|error| match error {
        StartError::Ca(..) => Failure::bad_input(error),
        _ => Failure::elsewhere(error),
    })?))
}

/// The configuration, from a file or from flags.
fn config(arguments: &Arguments, faults: &mut Faults) -> Option<Config> {
    let Some(file) = &arguments.config else { return faults.kept(of_flags(arguments)) };
    let (config, wrong) = Config::check(file);
    for error in wrong {
        match error {
            ConfigError::Unreadable(..) => faults.add(Failure::in_flag("--config")(error)),
            ConfigError::Malformed { line, .. } => {
                faults.add(Fault { line: Some(line), failure: Failure::bad_input(error) });
            }
        }
    }
    config
}

fn of_flags(arguments: &Arguments) -> Result<Config, Failure> {
    let root = arguments.root.clone().map(ConfigSite::Root);
    let page = arguments.page.clone().map(|it| ConfigSite::Pages(vec![it]));
    let upstream = arguments.upstream.clone();
    let is_plain = upstream.as_ref().is_some_and(|it| !it.is_secure());
    if arguments.upstream_ca.is_some() && is_plain {
        return Err(Failure::BadInput("--upstream-ca is for --upstream https://".to_owned()));
    }
    let upstream = upstream.map(|it| it.trusting(arguments.upstream_ca.clone()));
    let upstream = upstream.map(|it| it.taking_websockets(arguments.websockets));
    let site = root.or(page).or_else(|| upstream.map(ConfigSite::Upstream));
    let Some(site) = site else {
        let cause = "one of --root, --page, --upstream, --config";
        return Err(Failure::BadInput(cause.to_owned()));
    };
    let (scheme, signals) = (arguments.scheme.clone(), arguments.signals);
    Ok(Config { scheme, signals, ..Config::of(site) })
}

fn in_config(file: Option<&Path>, line: usize, error: impl Display) -> Fault {
    match file {
        Some(file) => {
            let failure = Failure::of_file(file, format!("line {line}: {error}"));
            Fault { line: Some(line), failure }
        }
        None => Failure::bad_input(error).into(),
    }
}

/// Pages whose documents are at different places.
fn pages(names: &[String], file: Option<&Path>, line: usize) -> Result<Vec<Page>, Fault> {
    let key = if names.len() == 1 { "page" } else { "pages" };
    let remedy = "your own site has root = \"DIR\" or upstream = \"URL\" in its place";
    let mut pages: Vec<Page> = Vec::new();
    for name in names {
        let page = values::page(name).map_err(|error| match file {
            Some(_) => in_config(file, line, format!("[site] {key}: {error}; {remedy}")),
            None => error.into(),
        })?;
        let other = pages.iter().find(|it| document(it) == document(&page));
        if let Some(other) = other {
            let (host, path) = document(&page);
            let other = &other.name;
            let cause =
                format!("{name}: its document is at {host}{path}, like that of page `{other}`");
            return Err(in_config(file, line, cause));
        }
        pages.push(page);
    }
    Ok(pages)
}

/// Where a page's document is: host and path.
fn document(page: &Page) -> (&str, &str) {
    let host = page.origins.first().map_or("", |it| it.host.as_str());
    (host, page.resources.first().map_or("/", |it| it.url.as_str()))
}

/// The files that the routes of a configuration refer to.
struct Here<'a> {
    pages: &'a [Page],
    catalogue: &'a Catalogue,
    file: Option<&'a Path>,
}

impl Here<'_> {
    /// A scheme for the whole server. If the server has a single page, the scheme may look ahead in it.
    fn scheme(&self, name: &str) -> Result<Scheme, SchemeError> {
        match self.pages {
            [page] => self.catalogue.find_for_page(name).map(|it| it.for_page(&page.graph())),
            _ => self.catalogue.find(name),
        }
    }
}

/// A route of the configuration, with its backend started.
fn rule(
    config: ConfigRoute,
    here: &Here<'_>,
    limits: &UpstreamLimits,
    faults: &mut Faults,
) -> Rule {
    let mut scheme = None;
    if let Some(ConfigScheme { name, line, .. }) = &config.scheme {
        let found = page_scheme(name, config.host.as_deref(), &config.path, here);
        scheme = faults.kept(found.map_err(|error| in_config(here.file, *line, error)));
    }
    let source = config.source.as_ref().map(|it| match it {
        ConfigSource::Upstream(address) => upstream(address, limits).map_err(Fault::from),
        ConfigSource::Root(root, line) => directory(root, here.file, *line),
    });
    let source = source.and_then(|it| faults.kept(it));
    config.with(source, scheme)
}

/// A scheme for the page at this place. One that looks ahead needs the page itself.
fn page_scheme(
    name: &str,
    host: Option<&str>,
    path: &str,
    here: &Here<'_>,
) -> Result<Scheme, SchemeError> {
    let page = here.pages.iter().find(|page| {
        let (own_host, own_path) = document(page);
        own_path == path && host.is_none_or(|host| host == own_host)
    });
    match page {
        Some(page) => Ok(here.catalogue.find_for_page(name)?.for_page(&page.graph())),
        None => here.catalogue.find(name),
    }
}
