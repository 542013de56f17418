//! The common part of HAR files, `DevTools` logs and `WProfX`: requests with times, sizes and initiators, without bodies. Does
//! not keep names of hosts and resources: a page from a user's recording holds only sizes and relations.

mod causes;
mod faults;
mod parts;
mod places;
mod roles;
mod select;
mod sizes;

pub(super) use select::kept_bytes;

use super::derive::{Seen, finish, mime_for, rounded, set_delays, typical_exec_ms};
use super::said::{FROM_CACHE, OVER_HTTP1, WITHOUT_HTTPS};
use super::{Addresses, ImportError, Imported, Label, sha256_hex};
use crate::page::{BrowserPriority, Origin, Page, PageResource, Party, SourceKind};
use crate::site::registrable_domain;
use captures::{Fetch, Load, Size};
use schedulers::Kind;
use std::collections::{BTreeMap, BTreeSet};
use url::{Host, Position, Url};

/// Bytes on the wire per decoded byte of text, for pages without texts of known size: 4 to 1.
const TEXT_RATIO: f64 = 0.25;

/// Hexadecimal digits of a site's stand-in: 20 bits are enough to separate the sites of a study, and fit hundreds of all
/// registered domains.
const STAND_IN_LETTERS: usize = 5;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PageLoad {
    pub(super) load: Load,
    pub(super) redirects: BTreeMap<String, String>,
    pub(super) notes: Vec<String>,
}

pub(super) fn page_of(load: PageLoad, label: Label) -> Result<Imported, ImportError> {
    let mut notes = Vec::new();
    let PageLoad { load, redirects, notes: of_format } = load;
    let load_ms = load.load_ms;
    let requests = select::keep_fetches(load, &redirects, label.addresses, &mut notes)?;
    let mut requests = sizes::keep_sized(requests, label.addresses, &mut notes)?;
    compress_assumed_sizes(&mut requests);
    let mut resources: Vec<PageResource> =
        requests.iter().enumerate().map(|(id, it)| resource(id, it)).collect();
    let mut origins = set_origins(&mut resources, &requests);
    if label.addresses == Addresses::Kept {
        keep_addresses(&mut resources, &mut origins, &requests);
    }
    let unexplained = causes::set_causes(&mut resources, &requests, &redirects, load_ms);
    roles::set_roles(&mut resources, &requests);
    places::set_places(&mut resources, &requests);
    set_executions(&mut resources, &requests);
    let seen = requests.iter().map(|request| Seen {
        discovered_ms: request.requested_ms,
        arrived_ms: request.finished_ms.unwrap_or(request.requested_ms),
    });
    set_delays(&mut resources, &seen.collect::<Vec<_>>());
    notes.extend(of_format);
    notes.extend(assumptions(&requests, unexplained));
    if label.addresses == Addresses::Renamed {
        notes.push("hosts and resources are renamed".to_owned());
    }
    let host = host_of(&requests[0].url);
    let domain = registrable_domain(without_port(&host)).map(|it| site_name(it, label.addresses));
    let site = label.site.clone().or(domain);
    let (name, source) = Label { site, ..label }.into_source(SourceKind::Imported);
    finish(Page::new(name, source, origins, resources), notes)
}

/// Reduces decoded sizes that stand in for unrecorded wire sizes, by the compression ratio of the page's other texts.
fn compress_assumed_sizes(requests: &mut [Fetch]) {
    let known = requests.iter().filter(|it| it.size == Size::Recorded && is_text(it));
    let (bytes, decoded) = known
        .fold((0.0, 0.0), |sum, it| (sum.0 + it.bytes as f64, sum.1 + it.decoded_bytes as f64));
    let ratio = if decoded > bytes { bytes / decoded } else { TEXT_RATIO };
    for assumed in requests.iter_mut().filter(|fetch| fetch.size == Size::Decoded && is_text(fetch))
    {
        assumed.bytes = rounded((assumed.bytes as f64 * ratio).ceil());
    }
}

fn is_text(it: &Fetch) -> bool {
    let mime = mime_for(&it.mime, &it.used_as, &it.url);
    matches!(Kind::of_mime(&mime), Kind::Html | Kind::Css | Kind::Js | Kind::Xhr)
}

fn assumptions(requests: &[Fetch], unexplained: usize) -> Vec<String> {
    let mut notes =
        vec!["wait_ms is 0: the recording does not separate it from the network".to_owned()];
    notes.extend([places::NOTE.to_owned(), causes::NOTE.to_owned()]);
    notes.extend(roles::notes(requests));
    if requests.iter().any(|request| request.exec_ms.is_none()) {
        notes.push(
            "exec_ms: 7 ms for 100 kB of decoded script, 3 ms for 100 kB of decoded stylesheet"
                .to_owned(),
        );
    }
    let sizes = requests.iter().filter(|it| it.size == Size::Decoded).count();
    if sizes > 0 {
        notes.push(format!(
            "{sizes} responses have no recorded size on the wire (a cache or a service worker \
             answered): their decoded size stands for it, compressed as the page's other texts are"
        ));
    }
    notes.extend(from_cache(requests).into_iter().chain(without_priorities(&requests[0])));
    if unexplained > 0 {
        notes.push(format!(
            "{unexplained} resources without a known initiator follow the document's end or, if \
             they came later, the load event"
        ));
    }
    notes.push("the viewport is taken to be 1366x768".to_owned());
    notes
}

/// Whether a cache answered most requests, or sent most bytes.
fn from_cache(requests: &[Fetch]) -> Option<String> {
    let bytes = |all: &[&Fetch]| all.iter().map(|it| it.bytes).sum::<u64>();
    let all: Vec<&Fetch> = requests.iter().collect();
    let mut cached = all.clone();
    cached.retain(|it| it.from_cache);
    let share = bytes(&cached) as f64 / bytes(&all).max(1) as f64;
    (share > 0.5 || 2 * cached.len() > all.len()).then(|| {
        format!(
            "{FROM_CACHE} ({} of {} responses, {:.0} % of the bytes); record it again with an empty cache",
            cached.len(),
            all.len(),
            100.0 * share
        )
    })
}

/// Why no server sends the document's page by priority today, if the protocol shows it.
fn without_priorities(document: &Fetch) -> Option<String> {
    let is_http1 = document.protocol.to_ascii_lowercase().starts_with("http/1");
    if document.url.starts_with("http:") {
        let versions = "and browsers use HTTP/2 and HTTP/3, which have priorities, only over https";
        return Some(format!("{WITHOUT_HTTPS}, {versions}"));
    }
    is_http1.then(|| format!("{OVER_HTTP1}, which has no priorities"))
}

fn resource(id: usize, request: &Fetch) -> PageResource {
    let mime = mime_for(&request.mime, &request.used_as, &request.url);
    let mut it = PageResource::plain(id, String::new(), mime, request.bytes);
    it.url = if id == 0 { "/".to_owned() } else { format!("/r/{id}.{}", extension(&it)) };
    // The status belongs to a request without a copy, but the cache had one.
    it.status = if request.status == 304 { 200 } else { request.status };
    it.decoded_bytes = Some(request.decoded_bytes.max(u64::from(request.bytes > 0)));
    it.preload = request.preload;
    it.browser = request.priority.map(|priority| BrowserPriority {
        urgency: priority.urgency(),
        incremental: matches!(it.kind, Kind::Html | Kind::Image | Kind::Xhr),
    });
    it
}

fn extension(it: &PageResource) -> &'static str {
    match it.kind {
        Kind::Image => "img",
        Kind::Other => "bin",
        kind => kind.name(),
    }
}

fn set_origins(resources: &mut [PageResource], requests: &[Fetch]) -> Vec<Origin> {
    let own = site_of(&host_of(&requests[0].url));
    let mut origins = Vec::new();
    let mut hosts = BTreeMap::new();
    for (it, request) in resources.iter_mut().zip(requests) {
        let host = host_of(&request.url);
        let next = hosts.len();
        let party = if site_of(&host) == own { Party::First } else { Party::Third };
        it.origin = *hosts.entry(host).or_insert(next);
        if it.origin == next {
            origins.push(Origin { host: format!("host-{next}.test"), party });
        }
    }
    origins
}

/// Restores the addresses. A second fetch of one address keeps its stand-in, because a server identifies resources by address.
fn keep_addresses(resources: &mut [PageResource], origins: &mut [Origin], requests: &[Fetch]) {
    let mut seen = BTreeSet::new();
    for (it, request) in resources.iter_mut().zip(requests) {
        let path = path_of(&request.url);
        origins[it.origin].host = host_of(&request.url);
        if seen.insert((it.origin, path.clone())) {
            it.url = path;
        }
    }
}

fn set_executions(resources: &mut [PageResource], requests: &[Fetch]) {
    for (it, request) in resources.iter_mut().zip(requests) {
        it.exec_ms = match request.exec_ms {
            Some(ms) if matches!(it.kind, Kind::Css | Kind::Js) => {
                (ms.clamp(0.0, 60_000.0) * 10.0).round() / 10.0
            }
            _ => typical_exec_ms(it),
        };
    }
}

/// Host and port in the form of a page: as browsers send it, without a user, in lower case, and in Punycode.
fn host_of(url: &str) -> String {
    let authority = url.split(['/', '?']).nth(2).unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |it| it.1);
    let host = host.to_lowercase();
    let (name, port) = host.find(':').map_or((&*host, ""), |it| host.split_at(it));
    let is_plain = host.is_ascii() && !host.contains('%');
    match Host::parse(name) {
        Ok(name) if !is_plain => format!("{name}{port}"),
        _ => printable(&host),
    }
}

/// The path in the form of a page, with the query: percent-encoded as browsers do (WHATWG URL, 4.4), which some recordings do not.
fn path_of(url: &str) -> String {
    match Url::parse(url) {
        Ok(url) => url[Position::BeforePath..Position::AfterQuery].to_owned(),
        Err(_) => format!("/{}", printable(url.splitn(4, '/').nth(3).unwrap_or_default())),
    }
}

/// Browsers percent-encode bytes that are not printable; some recordings do not.
fn printable(text: &str) -> String {
    let letters = text.bytes().map(|byte| match byte {
        b'!'..=b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    letters.collect()
}

/// The registrable domain of a host, which identifies its owner, or the host.
fn site_of(host: &str) -> String {
    let name = without_port(host);
    registrable_domain(name).unwrap_or(name).to_owned()
}

fn without_port(host: &str) -> &str {
    host.rsplit_once(':').map_or(host, |it| it.0)
}

/// If addresses are renamed, a stand-in for the domain that all its pages share. It is so short that it fits many domains.
fn site_name(domain: &str, addresses: Addresses) -> String {
    match addresses {
        Addresses::Kept => domain.to_owned(),
        Addresses::Renamed => {
            format!("site-{}", &sha256_hex(domain.as_bytes())[..STAND_IN_LETTERS])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_what_browsers_send() {
        let paths = [
            ("https://shop.test", "/"),
            ("https://shop.test?a", "/?a"),
            ("https://shop.test/tick`.jpg", "/tick%60.jpg"),
            ("https://shop.test/a b<\">{}^|'.jpg#part", "/a%20b%3C%22%3E%7B%7D^|'.jpg"),
            ("https://shop.test/a?q=\"<>'`{}|#part", "/a?q=%22%3C%3E%27`{}|"),
            ("https://shop.test/b\u{fc}?\u{fc}", "/b%C3%BC?%C3%BC"),
            ("https://b%C3%BCcher.test:8443/%7ea%2F", "/%7ea%2F"),
        ];
        for (url, path) in paths {
            assert_eq!(path_of(url), path, "{url}");
        }
    }

    #[test]
    fn a_host_is_what_browsers_send() {
        let hosts = [
            ("https://B\u{fc}cher.test:8443/a", "xn--bcher-kva.test:8443"),
            ("https://b%C3%BCcher.test/", "xn--bcher-kva.test"),
            ("https://user@Shop.test/?a@b", "shop.test"),
            ("https://[::1]:8443/", "[::1]:8443"),
        ];
        for (url, host) in hosts {
            assert_eq!(host_of(url), host, "{url}");
        }
    }

    #[test]
    fn a_page_that_came_from_a_cache_for_the_most_part_is_noted() {
        let fetch = |from_cache, bytes| Fetch { from_cache, bytes, ..Fetch::default() };
        assert_eq!(from_cache(&[fetch(false, 100), fetch(true, 100)]), None);
        assert_eq!(
            from_cache(&[fetch(false, 100), fetch(true, 300)]).as_deref(),
            Some(
                "most of the page came from a cache (1 of 2 responses, 75 % of the bytes); record it again with an empty cache"
            )
        );
        assert!(from_cache(&[fetch(false, 900), fetch(true, 1), fetch(true, 1)]).is_some());
    }

    #[test]
    fn a_document_over_http1_or_without_https_has_no_priorities() {
        let of = |url: &str, protocol: &str| {
            without_priorities(&Fetch {
                url: url.to_owned(),
                protocol: protocol.to_owned(),
                ..Fetch::default()
            })
        };
        let http1 = "the page came over HTTP/1, which has no priorities";
        for protocol in ["http/1.1", "HTTP/1.0"] {
            assert_eq!(of("https://a.test/", protocol).as_deref(), Some(http1));
        }
        for protocol in ["h2", "HTTP/2.0", "h3", "", "unknown"] {
            assert_eq!(of("https://a.test/", protocol), None);
        }
        assert!(of("http://a.test/", "").is_some_and(|it| it.starts_with(WITHOUT_HTTPS)));
    }
}
