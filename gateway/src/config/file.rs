//! The configuration file as it is written.

mod push_values;

use super::balancer::FileLoadBalancer;
use super::headers::FileValues;
use super::limits::ConfigLimits;
use super::paths;
use crate::site::{CacheEvidence, ConditionalPushes, Directive, Pushing};
use crate::upstream::Address;
use push::guard::CookiePolicy;
use push::visits::PushWhen;
use push::{Gate, Policy};
use push_values::{EarlyHints, cache_control, client_has, cookies, links, push_when};
use schedulers::{FACTS, Metadata, Priority};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use server::{Network, Proxies, SignalUse};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) site: FileSite,
    #[serde(default)]
    pub(super) route: Vec<FileRoute>,
    pub(super) migration: Option<migration::Policy>,
    pub(super) load_balancer: Option<FileLoadBalancer>,
    #[serde(default)]
    pub(super) limits: ConfigLimits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileSite {
    /// Serve the files below this folder, which is relative to the configuration file.
    pub(super) root: Option<PathBuf>,
    /// Serve this page, a bundled name or a file, for experiments.
    pub(super) page: Option<String>,
    /// Serve these pages.
    pub(super) pages: Option<Vec<String>>,
    /// Pass requests on to this backend.
    #[serde(default, deserialize_with = "parsed")]
    pub(super) upstream: Option<Address>,
    /// Let clients open WebSockets to the backend.
    #[serde(default)]
    pub(super) websockets: bool,
    /// Certificate authorities (PEM) for all backends over TLS. Default: the system's.
    pub(super) upstream_ca: Option<PathBuf>,
    /// Compress texts of the backend.
    #[serde(default)]
    pub(super) compress: bool,
    /// Addresses and networks of trusted proxies, such as `10.0.0.0/8`; the server uses their fields about clients.
    #[serde(default)]
    trusted_proxies: Vec<String>,
    /// TCP connections of these proxies begin with a PROXY header, version 2.
    #[serde(default)]
    proxy_protocol: bool,
    /// The scheme, by name. Default: `rfc9218`; for pages `bucket-html`.
    pub(super) scheme: Option<String>,
    /// Files of the user's own schemes.
    #[serde(default)]
    pub(super) scheme_files: Vec<PathBuf>,
    /// How clients' signals are used. Default: `obey`; for pages `ignore`; with directives or facts `override`.
    pub(super) signals: Option<SignalUse>,
}

impl FileSite {
    /// The trusted proxies, and each wrong key, with the reason.
    pub(super) fn proxies(&self) -> (Proxies, Vec<(&'static str, String)>) {
        let (mut networks, mut wrong) = (Vec::new(), Vec::new());
        for text in &self.trusted_proxies {
            match text.parse::<Network>() {
                Ok(network) => networks.push(network),
                Err(cause) => wrong.push(("trusted_proxies", cause)),
            }
        }
        if self.proxy_protocol && self.trusted_proxies.is_empty() {
            let cause = "proxy_protocol needs trusted_proxies, which says who may use it";
            wrong.push(("proxy_protocol", cause.to_owned()));
        }
        (Proxies::new(networks, self.proxy_protocol), wrong)
    }
}

/// The keys of a `[[route]]`, one field each; the names are NGINX's if it has them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "keys, independent of each other")]
pub(super) struct FileRoute {
    /// The path, with any query. A final `*` matches any rest.
    #[serde(deserialize_with = "path")]
    pub(super) path: String,
    /// Only requests for this host. Default: every host.
    #[serde(default, deserialize_with = "host")]
    pub(super) host: Option<String>,
    /// The scheme of the page at this path, by name. Default: as in `[site]`.
    pub(super) scheme: Option<String>,
    /// How clients' signals are used on the page at this path. Default: as in `[site]`.
    pub(super) signals: Option<SignalUse>,
    /// Pass requests on to this backend.
    #[serde(default, deserialize_with = "parsed")]
    pub(super) upstream: Option<Address>,
    /// Let clients open WebSockets to this route's backend.
    #[serde(default)]
    pub(super) websockets: bool,
    /// Compress texts from this route's backend.
    #[serde(default)]
    pub(super) compress: bool,
    /// Serve the files below this folder. The whole path counts: `/docs/a` is the file `docs/a` below it.
    pub(super) root: Option<PathBuf>,
    /// Redirect to this path or URL. A final `*` stands for the rest of the request's path.
    #[serde(default, deserialize_with = "target")]
    pub(super) redirect: Option<String>,
    /// The status of the redirect: 308 or 301 (permanent), 307 or 302 (temporary), 303 (another page). Default: 308.
    #[serde(default, deserialize_with = "redirect_status")]
    pub(super) status: Option<u16>,
    /// The file for page requests without a file of their own, with status 200.
    #[serde(default, deserialize_with = "file_path")]
    pub(super) fallback: Option<String>,
    /// The file for each status from 400 to 599 that this server generates.
    #[serde(default, deserialize_with = "error_pages")]
    pub(super) error_pages: Option<BTreeMap<u16, String>>,
    /// A directive for each resource, by its path: see [below](#routeresourcepath).
    #[serde(default)]
    pub(super) resource: BTreeMap<String, FileDirective>,
    /// Header fields of all responses; a list for repeated fields of one name.
    pub(super) headers: Option<BTreeMap<String, FileValues>>,
    /// Push these paths, in this order.
    #[serde(default)]
    push: Vec<String>,
    /// Push the resources that the response's `Link` fields preload, unless they contain `nopush`.
    #[serde(default)]
    push_preload: bool,
    /// Push the resources that the response's `X-Push` fields list.
    #[serde(default)]
    x_push: bool,
    /// `Link` fields of the response.
    #[serde(default, deserialize_with = "links")]
    links: Vec<String>,
    /// `Link` values of an early 103 response; or `"learn"`: the preloads of the last response.
    #[serde(default)]
    early_hints: EarlyHints,
    /// Send the 103 also before files.
    #[serde(default)]
    early_hints_for_files: bool,
    /// Push only if the request lacks a cookie: `{ cookie_absent = "NAME" }`.
    #[serde(default, deserialize_with = "push_when")]
    push_when: PushWhen,
    /// The policy over `push_graph`: `none`, `push`, `push-in-evaluation-order`, `preload`, `push-and-preload`, `push-static-with-html`, `push-static-with-html-one-bdp`.
    #[serde(default, deserialize_with = "parsed")]
    push_policy: Option<Policy>,
    /// The page's graph from `utmost corpus graph`.
    pub(super) push_graph: Option<PathBuf>,
    /// How pushes wait for their document: `preempt`, `strict`, `throttle:BYTES`, `eager-fifo:BYTES`, `shuffle:SEED`.
    #[serde(default, deserialize_with = "parsed")]
    push_gate: Option<Gate>,
    /// Pushes in progress at a time. Default: 10.
    max_concurrent_pushes: Option<u64>,
    /// How the server learns what a client has cached: `cache-digest`, `conditional`.
    #[serde(default, deserialize_with = "client_has")]
    client_has: CacheEvidence,
    /// The path of each cookie, or `"same-path"`; needed to push responses that vary on cookies. Default: `"none"`.
    #[serde(default, deserialize_with = "cookies")]
    cookies: CookiePolicy,
    /// Push a 304 for a stale but still valid copy (an experiment).
    #[serde(default)]
    push_not_modified: bool,
    /// Include the entity tag in promises (an experiment).
    #[serde(default)]
    push_if_match: bool,
    /// `Cache-Control` of responses without such a field.
    #[serde(default, deserialize_with = "cache_control")]
    cache_control: Option<String>,
}

/// The keys of a route that do not concern pushes and hints.
pub(super) const OTHER_KEYS: [&str; 14] = [
    "path",
    "host",
    "scheme",
    "signals",
    "upstream",
    "websockets",
    "compress",
    "root",
    "redirect",
    "status",
    "fallback",
    "error_pages",
    "resource",
    "headers",
];

impl FileRoute {
    /// The route's settings of pushes and hints, without its graph.
    pub(super) fn pushing(self) -> Pushing {
        Pushing {
            push: self.push,
            push_preload: self.push_preload,
            x_push: self.x_push,
            links: self.links,
            early_hints: self.early_hints.links,
            learn_hints: self.early_hints.learn,
            hints_for_files: self.early_hints_for_files,
            push_when: self.push_when,
            policy: self.push_policy,
            graph: None,
            gate: self.push_gate,
            max_concurrent_pushes: self.max_concurrent_pushes,
            evidence: self.client_has,
            cookies: self.cookies,
            conditional: ConditionalPushes {
                not_modified: self.push_not_modified,
                if_match: self.push_if_match,
            },
            cache_control: self.cache_control,
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileDirective {
    /// From 0, first, to 7, last (RFC 9218). Default: the client's.
    #[serde(default, deserialize_with = "urgency")]
    urgency: Option<u8>,
    /// Whether the response shares with others of its urgency. Default: the client's.
    incremental: Option<bool>,
    /// Facts about the resource, such as `kind=image, above-fold`; `?0` negates one.
    #[serde(default, deserialize_with = "facts")]
    facts: Metadata,
}

impl From<FileDirective> for Directive {
    fn from(FileDirective { urgency, incremental, facts }: FileDirective) -> Self {
        Self { priority: Priority { urgency, incremental }, facts }
    }
}

/// Parses and checks a value; an error describes the mistake.
fn checked<'de, D: Deserializer<'de>, T: Deserialize<'de>, U>(
    value: D,
    check: impl FnOnce(T) -> Result<U, String>,
) -> Result<U, D::Error> {
    check(T::deserialize(value)?).map_err(D::Error::custom)
}

fn parsed<'de, D: Deserializer<'de>, T>(value: D) -> Result<Option<T>, D::Error>
where
    T: FromStr<Err: Display>,
{
    checked(value, |text: String| text.parse().map(Some).map_err(|error: T::Err| error.to_string()))
}

fn path<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    checked(value, |path: String| match paths::malformed(&path) {
        Some(cause) => Err(format!("path \"{path}\" {cause}")),
        None => Ok(path),
    })
}

/// The target of a redirect: a path of this host, or a URL.
fn target<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    checked(value, |to: String| {
        let is_path = to.starts_with('/') && !to.starts_with("//");
        let is_url =
            ["https://", "http://"].iter().any(|it| to.len() > it.len() && to.starts_with(it));
        let has_star = to.strip_suffix('*').unwrap_or(&to).contains('*');
        if (is_path || is_url) && !has_star && paths::is_sendable(&to) && !to.contains('\\') {
            return Ok(Some(to));
        }
        Err(format!(
            "redirect \"{}\" must be a path or a URL, optionally with a * at its end: write \"/new/*\" or \"https://example.com/*\"",
            to.escape_default()
        ))
    })
}

fn redirect_status<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u16>, D::Error> {
    checked(value, |status: u16| match status {
        301 | 302 | 303 | 307 | 308 => Ok(Some(status)),
        _ => Err(format!(
            "status {status} is not one of redirects: use 308 or 301 for permanent ones, 307 or 302 for temporary ones, 303 for another page"
        )),
    })
}

fn file_path<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    checked(value, |path: String| paths::of_file("fallback", path).map(Some))
}

fn error_pages<'de, D: Deserializer<'de>>(
    value: D,
) -> Result<Option<BTreeMap<u16, String>>, D::Error> {
    checked(value, |said: BTreeMap<String, String>| {
        let pages = said.into_iter().map(|(status, path)| {
            let number = status.parse().ok().filter(|it| (400..600).contains(it));
            let wrong =
                || format!("error_pages: {status} must be a status from 400 to 599, such as 404");
            Ok((number.ok_or_else(wrong)?, paths::of_file("error_pages", path)?))
        });
        pages.collect::<Result<_, String>>().map(Some)
    })
}

/// A host as in requests, without the port.
fn host<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    checked(value, |text: String| {
        let authority = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest);
        let bare = http3::host(authority.split('/').next().unwrap_or_default());
        if text.parse::<Ipv6Addr>().is_ok() {
            Err(format!("host \"{text}\": an IPv6 address needs brackets: write \"[{text}]\""))
        } else if !is_host(bare) {
            Err(format!(
                "host \"{text}\" is not a name or an address: write \"example.com\" or \"[::1]\""
            ))
        } else if bare != text {
            Err(format!("host \"{text}\" must not have a scheme, port or path: write \"{bare}\""))
        } else {
            Ok(Some(text))
        }
    })
}

fn is_host(text: &str) -> bool {
    let is_address = text.starts_with('[') && text.ends_with(']');
    paths::is_sendable(text)
        && !text.is_empty()
        && !text.contains(['/', '*', '@'])
        && (is_address || !text.contains(':'))
}

/// Parses the syntax of the request field `utmost-metadata`. Every word must be known: servers ignore unknown words from clients, but an
/// operator's unknown word is a mistake.
fn facts<'de, D: Deserializer<'de>>(value: D) -> Result<Metadata, D::Error> {
    checked(value, |text: String| {
        let words = text.split(',').map(str::trim);
        let idle = words.filter(|it| Metadata::parse(it.as_bytes()) == Metadata::default());
        let idle: Vec<String> = idle.map(|it| format!("\"{it}\"")).collect();
        if idle.is_empty() {
            return Ok(Metadata::parse(text.as_bytes()));
        }
        let are = if idle.len() == 1 { "is not a fact" } else { "are not facts" };
        let facts: Vec<&str> = FACTS.iter().map(|it| it.member).collect();
        Err(format!(
            "facts \"{text}\": {} {are}; write some of kind=css, u=2, incremental, render-blocking, parser-blocking, {}",
            idle.join(" and "),
            facts.join(", ")
        ))
    })
}

fn urgency<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u8>, D::Error> {
    checked(value, |urgency: u8| match urgency {
        0..=7 => Ok(Some(urgency)),
        _ => Err(format!("urgency {urgency} must be from 0 to 7")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key that is missing among the others would have a route decide about pushes.
    #[test]
    fn a_key_of_a_route_is_about_pushes_and_hints_or_among_the_others() {
        let unknown =
            toml::from_str::<FileRoute>("path = \"/\"\nnone = 1").err().expect("a mistake");
        let known: Vec<&str> = unknown.message().split('`').skip(3).step_by(2).collect();
        let (others, pushing): (Vec<&str>, Vec<&str>) =
            known.into_iter().partition(|it| OTHER_KEYS.contains(it));
        assert_eq!(others, OTHER_KEYS);
        let expected = "push push_preload x_push links early_hints early_hints_for_files push_when push_policy \
                        push_graph push_gate max_concurrent_pushes client_has cookies push_not_modified \
                        push_if_match cache_control";
        assert_eq!(pushing.join(" "), expected);
    }
}
