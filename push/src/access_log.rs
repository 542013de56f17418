//! The loads of a page in a server's access log.
//!
//! The combined format of NGINX and Apache: `ADDRESS - USER [TIME] "GET PATH HTTP/2" STATUS BYTES "REFERRER" "AGENT"`. A load
//! consists of a request for the document, and the later requests from the same address whose referrer is the document or a
//! stylesheet of the same load. The common format has no referrer, so loads cannot be identified.
//!
//! The visitor's next page has the same referrer as the page's own resources. So the following do not belong to a load: HTML,
//! resources other than stylesheets and scripts that refer to others, and requests more than ten seconds after the document.

use crate::graph::{is_host, is_node_path};
use crate::learner::{Asked, Learner, kind_of};
use crate::limits::{
    ADDRESS_BYTES_MAX, HOSTS_MAX, LEARNED_RESOURCES_MAX, LOG_TEXT_BYTES_MAX, LOGGED_BODY_BYTES_MAX,
    OPEN_LOADS_MAX,
};
use crate::link::without_query;
use schedulers::Kind;
use std::collections::{BTreeMap, VecDeque};

/// The visitor causes later requests. A log has whole seconds, and the times at which responses ended.
const MAX_LOAD_S: u32 = 10;
const DAY_S: u32 = 24 * 60 * 60;

/// Reads a log line by line, in bounded memory, and learns one page.
#[derive(Debug, Default)]
pub struct AccessLog {
    document: String,
    host: Option<String>,
    /// By the order of their documents.
    open: VecDeque<Load>,
    /// The number of completed loads, which is also the number of the first open one.
    completed: usize,
    /// The last load of each address, by number.
    last: BTreeMap<String, usize>,
    text_bytes: usize,
    document_bytes: u64,
    learner: Learner,
    /// The number of requests from the document's path on each other host.
    other_hosts: BTreeMap<String, u64>,
    counts: Counts,
}

/// Counts of the lines in a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines.
    pub lines: u64,
    /// Lines that are not access-log entries, or too long.
    pub unreadable: u64,
    /// Lines of the common format, which have no referrer.
    pub without_referrer: u64,
    /// Lines with a path that no page of the site can have, or with a body larger than any page's.
    pub refused: u64,
    /// Requests of a load that count as the visitor's next page: HTML, resources that refer to others, and late requests.
    pub next_pages: u64,
    /// The other host with the most requests from a document at this path.
    pub other_host: Option<String>,
    /// Loads of the page with requests besides the document.
    pub loads: u64,
    /// Loads without other requests: by clients with everything cached, and by robots.
    pub bare_loads: u64,
}

#[derive(Debug, Default)]
struct Load {
    address: String,
    /// The time of its document's line.
    second_of_day: Option<u32>,
    resources: Vec<Asked>,
}

impl AccessLog {
    /// Learns the page at `document`. With a host, referrers with other hosts belong to other pages.
    pub fn new(document: &str, host: Option<&str>) -> Self {
        let (document, host) = (document.to_owned(), host.map(str::to_owned));
        Self { document, host, ..Self::default() }
    }

    /// The next line.
    pub fn line(&mut self, line: &[u8]) {
        self.counts.lines += 1;
        match std::str::from_utf8(line).ok().and_then(Entry::parse) {
            Some(entry) => self.entry(&entry),
            None => self.counts.unreadable += 1,
        }
    }

    /// Counts a line that is too long for a log.
    pub fn long_line(&mut self) {
        self.counts.lines += 1;
        self.counts.unreadable += 1;
    }

    /// The learned page, the last size of the document, and the counts of the log.
    pub fn finish(mut self) -> (Learner, u64, Counts) {
        while !self.open.is_empty() {
            self.complete_oldest();
        }
        let most = self.other_hosts.into_iter().max_by_key(|(_, requests)| *requests);
        self.counts.other_host = most.map(|(host, _)| host);
        (self.learner, self.document_bytes, self.counts)
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        self.counts.without_referrer += u64::from(entry.referrer.is_none());
        if !entry.is_there() {
            return;
        }
        if !entry.is_good() {
            self.counts.refused += 1;
            return;
        }
        if without_query(entry.path) == self.document {
            return self.begin(entry);
        }
        let number = self.last.get(entry.address).and_then(|it| it.checked_sub(self.completed));
        let Some(load) = number.and_then(|it| self.open.get_mut(it)) else { return };
        let Some((host, path)) = entry.referrer.and_then(host_and_path) else { return };
        let of_document = without_query(path) == self.document;
        if self.host.as_deref().is_some_and(|own| !own.eq_ignore_ascii_case(host)) {
            if of_document {
                self.note_other_host(host);
            }
            return;
        }
        self.counts.next_pages += load.drop_page(path, &mut self.text_bytes);
        let is_sheet =
            kind_of(path) == Kind::Css && load.resources.iter().any(|it| it.path == path);
        let referrer = is_sheet.then(|| path.to_owned());
        if !of_document && referrer.is_none() {
            return;
        }
        if kind_of(entry.path) == Kind::Html || load.is_over_at(entry.second_of_day) {
            self.counts.next_pages += 1;
        } else if load.resources.len() < LEARNED_RESOURCES_MAX {
            let bytes = (entry.status == 200).then_some(entry.bytes);
            let asked = Asked { path: entry.path.to_owned(), bytes, referrer };
            self.text_bytes += text_bytes(&asked);
            load.resources.push(asked);
        }
        while self.text_bytes > LOG_TEXT_BYTES_MAX {
            self.complete_oldest();
        }
    }

    fn note_other_host(&mut self, host: &str) {
        if let Some(requests) = self.other_hosts.get_mut(host) {
            *requests += 1;
        } else if is_host(host) && self.other_hosts.len() < HOSTS_MAX {
            self.other_hosts.insert(host.to_owned(), 1);
        }
    }

    fn begin(&mut self, entry: &Entry<'_>) {
        if entry.status == 200 {
            self.document_bytes = entry.bytes;
        }
        if self.open.len() == OPEN_LOADS_MAX {
            self.complete_oldest();
        }
        let address = entry.address.to_owned();
        self.last.insert(address.clone(), self.completed + self.open.len());
        let second_of_day = entry.second_of_day;
        self.open.push_back(Load { address, second_of_day, resources: Vec::new() });
    }

    fn complete_oldest(&mut self) {
        let Some(Load { address, resources, .. }) = self.open.pop_front() else { return };
        if self.last.get(&address) == Some(&self.completed) {
            self.last.remove(&address);
        }
        self.completed += 1;
        self.text_bytes -= resources.iter().map(text_bytes).sum::<usize>();
        if resources.is_empty() {
            self.counts.bare_loads += 1;
        } else {
            self.counts.loads += 1;
            self.learner.load(resources);
        }
    }
}

impl Load {
    /// Whether a request is too late to belong to it, by the time of day alone. A server's workers may log lines a little before
    /// their document's.
    fn is_over_at(&self, second_of_day: Option<u32>) -> bool {
        let (Some(from), Some(to)) = (self.second_of_day, second_of_day) else { return false };
        let after = (to + DAY_S - from) % DAY_S;
        (MAX_LOAD_S + 1..DAY_S - MAX_LOAD_S).contains(&after)
    }

    /// The requested resource refers to others, so it was a page of its own, if it can be one. Returns the number of removed
    /// requests.
    fn drop_page(&mut self, path: &str, text_bytes_there: &mut usize) -> u64 {
        if kind_of(path) != Kind::Other {
            return 0;
        }
        let before = self.resources.len();
        self.resources.retain(|asked| {
            let is_page = asked.path == path;
            *text_bytes_there -= if is_page { text_bytes(asked) } else { 0 };
            !is_page
        });
        (before - self.resources.len()) as u64
    }
}

fn text_bytes(asked: &Asked) -> usize {
    asked.path.len() + asked.referrer.as_ref().map_or(0, String::len)
}

/// The relevant part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry<'a> {
    address: &'a str,
    /// The log's time; `None` if it cannot be parsed.
    second_of_day: Option<u32>,
    method: &'a str,
    path: &'a str,
    status: u16,
    bytes: u64,
    /// `None` if the format has none.
    referrer: Option<&'a str>,
}

impl<'a> Entry<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let line = line.trim_end_matches(['\r', '\n']);
        let (before, rest) = line.split_once('"')?;
        let (request, rest) = quoted(rest)?;
        let mut request = request.split(' ');
        let (method, path) = (request.next()?, request.next()?);
        request.next().filter(|it| it.starts_with("HTTP/"))?;
        let (numbers, rest) = rest.split_once('"').map_or((rest, None), |(a, b)| (a, Some(b)));
        let mut numbers = numbers.split_ascii_whitespace();
        let status = numbers.next()?.parse().ok()?;
        let bytes = match numbers.next()? {
            "-" => 0,
            number => number.parse().ok()?,
        };
        let referrer = match rest {
            Some(rest) => Some(quoted(rest)?.0),
            None => None,
        };
        let address = before.split_ascii_whitespace().next()?;
        let second_of_day = second_of_day(before);
        Some(Self { address, second_of_day, method, path, status, bytes, referrer })
    }

    /// The requested resources that exist.
    fn is_there(&self) -> bool {
        self.method == "GET" && matches!(self.status, 200 | 304)
    }

    /// Whether it can be part of a page, and its path can be promised.
    fn is_good(&self) -> bool {
        is_node_path(self.path)
            && self.bytes <= LOGGED_BODY_BYTES_MAX
            && self.address.len() <= ADDRESS_BYTES_MAX
    }
}

/// The time in `... [21/Nov/2026:14:00:59 +0000] `.
fn second_of_day(before_request: &str) -> Option<u32> {
    let (_, time) = before_request.split_once('[')?;
    let mut parts = time.split(' ').next()?.split(':').skip(1);
    let mut next = |below: u32| parts.next()?.parse::<u32>().ok().filter(|it| *it < below);
    Some((next(24)? * 60 + next(60)?) * 60 + next(61)?)
}

/// The text up to the closing quote, which no backslash precedes, and the rest.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !escaped => return Some((&text[..place], &text[place + 1..])),
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

/// The host of an absolute URL, without its port.
fn host_and_path(url: &str) -> Option<(&str, &str)> {
    let (_, rest) = url.split_once("://")?;
    let slash = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(slash);
    // An IPv6 address contains colons, in brackets.
    let port = authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
    let host = port.map_or(authority, |it| it.0);
    Some((host, if path.is_empty() { "/" } else { path }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(document: &str, host: Option<&str>, lines: &[&str]) -> (String, Counts) {
        let mut log = AccessLog::new(document, host);
        for line in lines {
            log.line(line.as_bytes());
        }
        let (learner, _, counts) = log.finish();
        let paths: Vec<String> = learner.learned().into_iter().map(|it| it.path).collect();
        (paths.join(" "), counts)
    }

    fn line(address: &str, path: &str, status: u16, referrer: &str) -> String {
        format!(
            "{address} - - [01/Jan/2026:00:00:00 +0000] \"GET {path} HTTP/2.0\" {status} 10 \"{referrer}\" \"x\""
        )
    }

    #[test]
    fn loads_are_told_apart_by_address_and_referrer() {
        let page = "https://site.example/?utm=1";
        let sheet = "https://site.example/a.css";
        let mut lines = Vec::new();
        for address in ["10.0.0.1", "10.0.0.2"] {
            lines.push(line(address, "/?utm=1", 200, "-"));
            lines.push(line(address, "/a.css", 200, page));
        }
        for address in ["10.0.0.1", "10.0.0.2"] {
            lines.push(line(address, "/f.woff2", 304, sheet));
            lines.push(line(address, "/b.js", 200, page));
            lines.push(line(address, "/lost.js", 404, page));
            lines.push(line(address, "/other.js", 200, "https://site.example/other"));
            lines.push(line(address, "/far.js", 200, "https://elsewhere.example/"));
        }
        lines.push(line("10.0.0.3", "/", 200, "-"));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let (learned, counts) = read("/", Some("site.example"), &lines);
        assert_eq!(learned, "/a.css /f.woff2 /b.js");
        assert_eq!((counts.loads, counts.bare_loads, counts.unreadable), (2, 1, 0));
        assert_eq!(read("/", None, &lines).0, "/a.css /f.woff2 /b.js /far.js");
        assert_eq!(read("/other", None, &lines).0, "");
        let wrong_host = read("/", Some("other.example"), &lines).1;
        assert_eq!((wrong_host.loads, wrong_host.bare_loads), (0, 3));
        assert_eq!(wrong_host.other_host.as_deref(), Some("site.example"));
        assert_eq!(host_and_path("http://[::1]:8080/a"), Some(("[::1]", "/a")));
        assert_eq!(host_and_path("http://[::1]/a"), Some(("[::1]", "/a")));
    }

    #[test]
    fn what_no_page_can_name_is_counted_and_not_learned() {
        let page = "https://site.example/";
        let paths = ["//evil.example/x.css", "/../secret.txt", "/..%2fsecret.txt", "/%00", "/a#b"];
        let paths = [&paths[..], &["https://evil.example/y.js", "/a\\x22y", "/a.css"]].concat();
        let mut lines = Vec::new();
        for address in ["10.0.0.1", "10.0.0.2"] {
            lines.push(line(address, "/", 200, "-"));
            lines.extend(paths.iter().map(|path| line(address, path, 200, page)));
            lines.push(line(address, "/huge.iso", 200, page).replace(" 10 ", " 1000000001 "));
            lines.push(line(address, "/a.js", 200, page).replace(" 10 ", " 99999999999999999999 "));
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let (learned, counts) = read("/", None, &lines);
        assert_eq!((learned.as_str(), counts.refused, counts.unreadable), ("/a.css", 16, 2));
    }

    #[test]
    fn a_page_that_is_clicked_next_is_none_of_its_resources() {
        let page = "https://site.example/";
        let mut lines = Vec::new();
        for address in ["10.0.0.1", "10.0.0.2"] {
            let at = |second: &str, path: &str, referrer: &str| {
                line(address, path, 200, referrer)
                    .replace("2026:00:00:00", &format!("2026:{second}"))
            };
            lines.push(at("23:59:58", "/", "-"));
            lines.push(at("23:59:57", "/a.css", page));
            lines.push(at("00:00:08", "/b.js", page));
            lines.push(at("00:00:09", "/late.js", page));
            lines.push(at("00:00:01", "/page2.html", page));
            lines.push(at("00:00:01", "/about", page));
            lines.push(at("00:00:01", "/api/data", page));
            lines.push(at("00:00:02", "/logo.png", "https://site.example/about"));
            lines.push(at("00:00:02", "/part.js", "https://site.example/b.js"));
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let (learned, counts) = read("/", None, &lines);
        assert_eq!((learned.as_str(), counts.next_pages), ("/a.css /b.js /api/data", 6));
    }

    #[test]
    fn hostile_lines_are_counted_and_nothing_else() {
        let long = line("1", &format!("/{}", "x".repeat(5000)), 200, "https://a/");
        let lines = [
            "",
            "nonsense \"",
            "1 - - [t] \"GET / HTTP/2\" 200",
            "1 - - [t] \"GET / HTTP/2\" 99999 10 \"-\"",
            "1 - - [t] \"\\x16\\x03\\x01\" 400 0 \"-\" \"-\"",
            "1 - - [t] \"GET / HTTP/2\" 200 10 \"unclosed",
            "1 - - [t] \"GET /a\\\"b HTTP/2\" 200 10 \"-\" \"-\"",
            &long,
            "1 - - [t] \"GET /common.css HTTP/1.1\" 200 10",
        ];
        let (learned, counts) = read("/", None, &lines);
        let expected = Counts {
            lines: 9,
            unreadable: 6,
            without_referrer: 1,
            refused: 2,
            ..Counts::default()
        };
        assert_eq!((learned.as_str(), counts), ("", expected));
        let mut log = AccessLog::new("/", None);
        log.line(b"\xff\xfe \"GET / HTTP/2\" 200 1");
        log.long_line();
        assert_eq!(log.finish().2.unreadable, 2);
    }

    #[test]
    fn memory_is_bounded() {
        let mut log = AccessLog::new("/", None);
        for address in 0..3 * OPEN_LOADS_MAX {
            log.line(line(&address.to_string(), "/", 200, "-").as_bytes());
        }
        assert_eq!((log.open.len(), log.last.len()), (OPEN_LOADS_MAX, OPEN_LOADS_MAX));
        for n in 0..20_000 {
            let path = format!("/{n}/{}", "x".repeat(2000));
            let address = (2000 + n % 1000).to_string();
            log.line(line(&address, &path, 200, "https://a/").as_bytes());
        }
        for n in 0..2 * LEARNED_RESOURCES_MAX {
            log.line(line("2999", &format!("/{n}"), 200, "https://a/").as_bytes());
        }
        assert!(log.text_bytes <= LOG_TEXT_BYTES_MAX && log.open.len() < OPEN_LOADS_MAX);
        assert!(log.open.iter().all(|it| it.resources.len() <= LEARNED_RESOURCES_MAX));
        let (_, _, counts) = log.finish();
        assert_eq!(counts.loads + counts.bare_loads, 3 * OPEN_LOADS_MAX as u64);
    }

    proptest::proptest! {
        #[test]
        fn any_lines_are_read(lines in proptest::collection::vec("\\PC{0,120}", 0..20)) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            proptest::prop_assert_eq!(read("/", None, &lines).1.lines, lines.len() as u64);
        }
    }
}
