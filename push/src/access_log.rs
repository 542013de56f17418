//! The loads of a page in a server's access log.
//!
//! The combined format of NGINX and Apache: `ADDRESS - USER [TIME] "GET PATH HTTP/2" STATUS BYTES "REFERRER" "AGENT"`. A load is
//! a request for the document, and what its address then asks for whose referrer is the document, or a stylesheet of the
//! same load. The common format has no referrer, so that nothing in it says what belongs together.

use crate::learner::{Asked, Learner, MAX_RESOURCES, kind_of};
use corpus::page::PageKind;
use std::collections::{BTreeMap, VecDeque};

/// Loads that are under way at one time, and the bytes of their paths; the oldest are taken as complete.
const MAX_LOADS: usize = 1000;
const MAX_TEXT_BYTES: usize = 16 << 20;
/// A longer path is nobody's resource.
const MAX_PATH_BYTES: usize = 2048;

/// Reads a log line by line, in bounded memory, and learns one page.
#[derive(Debug)]
pub struct AccessLog {
    document: String,
    host: Option<String>,
    /// By the order of their documents.
    open: VecDeque<Load>,
    /// How many were completed: the number of the first that is open.
    completed: usize,
    /// The last load of an address, by its number.
    last: BTreeMap<String, usize>,
    text_bytes: usize,
    document_bytes: u64,
    learner: Learner,
    counts: Counts,
}

/// What a log held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines.
    pub lines: u64,
    /// Lines that are none of an access log, or too long.
    pub unreadable: u64,
    /// Lines of the common format, which do not say who refers.
    pub without_referrer: u64,
    /// Loads of the page that asked for something beside the document.
    pub loads: u64,
    /// Loads that asked for nothing else: by clients with everything in their caches, and by robots.
    pub bare_loads: u64,
}

#[derive(Debug, Default)]
struct Load {
    address: String,
    resources: Vec<Asked>,
}

impl AccessLog {
    /// Learns the page at `document`. With a host, a referrer of another one is another page's.
    pub fn new(document: &str, host: Option<&str>) -> Self {
        Self {
            document: document.to_owned(),
            host: host.map(str::to_owned),
            open: VecDeque::new(),
            completed: 0,
            last: BTreeMap::new(),
            text_bytes: 0,
            document_bytes: 0,
            learner: Learner::default(),
            counts: Counts::default(),
        }
    }

    /// The next line.
    pub fn line(&mut self, line: &[u8]) {
        self.counts.lines += 1;
        match std::str::from_utf8(line).ok().and_then(Entry::parse) {
            Some(entry) => self.entry(&entry),
            None => self.counts.unreadable += 1,
        }
    }

    /// A line that is longer than any of a log's.
    pub fn long_line(&mut self) {
        self.counts.lines += 1;
        self.counts.unreadable += 1;
    }

    /// What was learned, the last size of the document, and what the log held.
    pub fn finish(mut self) -> (Learner, u64, Counts) {
        while !self.open.is_empty() {
            self.complete_oldest();
        }
        (self.learner, self.document_bytes, self.counts)
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        self.counts.without_referrer += u64::from(entry.referrer.is_none());
        if !entry.is_good() {
            return;
        }
        if without_query(entry.path) == self.document {
            return self.begin(entry);
        }
        let number = self.last.get(entry.address).and_then(|it| it.checked_sub(self.completed));
        let Some(load) = number.and_then(|it| self.open.get_mut(it)) else { return };
        let Some((host, path)) = entry.referrer.and_then(host_and_path) else { return };
        if self.host.as_deref().is_some_and(|it| !it.eq_ignore_ascii_case(host)) {
            return;
        }
        let is_sheet = |it: &&Asked| it.path == path && kind_of(path) == PageKind::Css;
        let referrer = load.resources.iter().find(is_sheet).map(|it| it.path.clone());
        let belongs = without_query(path) == self.document || referrer.is_some();
        if belongs && load.resources.len() < MAX_RESOURCES {
            let bytes = (entry.status == 200).then_some(entry.bytes);
            let asked = Asked { path: entry.path.to_owned(), bytes, referrer };
            self.text_bytes += text_bytes(&asked);
            load.resources.push(asked);
        }
        while self.text_bytes > MAX_TEXT_BYTES {
            self.complete_oldest();
        }
    }

    fn begin(&mut self, entry: &Entry<'_>) {
        if entry.status == 200 {
            self.document_bytes = entry.bytes;
        }
        if self.open.len() == MAX_LOADS {
            self.complete_oldest();
        }
        let address = entry.address.to_owned();
        self.last.insert(address.clone(), self.completed + self.open.len());
        self.open.push_back(Load { address, resources: Vec::new() });
    }

    fn complete_oldest(&mut self) {
        let Some(Load { address, resources }) = self.open.pop_front() else { return };
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

fn text_bytes(asked: &Asked) -> usize {
    asked.path.len() + asked.referrer.as_ref().map_or(0, String::len)
}

/// A line, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry<'a> {
    address: &'a str,
    method: &'a str,
    path: &'a str,
    status: u16,
    bytes: u64,
    /// None: the format has none.
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
        // A dash is none.
        let bytes = numbers.next()?.parse().unwrap_or(0);
        let referrer = rest.map(|it| quoted(it).map(|(referrer, _)| referrer));
        let referrer = match referrer {
            Some(None) => return None,
            Some(some) => some,
            None => None,
        };
        let address = before.split_ascii_whitespace().next()?;
        Some(Self { address, method, path, status, bytes, referrer })
    }

    /// What was asked for and is there, and has a path that can be promised.
    fn is_good(&self) -> bool {
        let is_plain = self.path.bytes().all(|it| it.is_ascii_graphic() && it != b'\\');
        self.method == "GET"
            && matches!(self.status, 200 | 304)
            && self.path.starts_with('/')
            && is_plain
            && self.path.len() <= MAX_PATH_BYTES
            && self.address.len() <= MAX_PATH_BYTES
    }
}

/// Up to the closing quote, which no backslash precedes, and what follows it.
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

/// Of an absolute URL, the host without its port.
fn host_and_path(url: &str) -> Option<(&str, &str)> {
    let (_, rest) = url.split_once("://")?;
    let slash = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(slash);
    let host = authority.rsplit_once(':').map_or(authority, |it| it.0);
    Some((host, if path.is_empty() { "/" } else { path }))
}

fn without_query(path: &str) -> &str {
    path.split('?').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(document: &str, host: Option<&str>, lines: &[&str]) -> (String, Counts) {
        let mut log = AccessLog::new(document, host);
        lines.iter().for_each(|it| log.line(it.as_bytes()));
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
        let expected = Counts { lines: 9, unreadable: 6, without_referrer: 1, ..Counts::default() };
        assert_eq!((learned.as_str(), counts), ("", expected));
        let mut log = AccessLog::new("/", None);
        log.line(b"\xff\xfe \"GET / HTTP/2\" 200 1");
        log.long_line();
        assert_eq!(log.finish().2.unreadable, 2);
    }

    #[test]
    fn memory_is_bounded() {
        let mut log = AccessLog::new("/", None);
        for address in 0..3 * MAX_LOADS {
            log.line(line(&address.to_string(), "/", 200, "-").as_bytes());
        }
        assert_eq!((log.open.len(), log.last.len()), (MAX_LOADS, MAX_LOADS));
        for n in 0..20_000 {
            let path = format!("/{n}/{}", "x".repeat(MAX_PATH_BYTES - 10));
            let address = (2000 + n % 1000).to_string();
            log.line(line(&address, &path, 200, "https://a/").as_bytes());
        }
        for n in 0..2 * MAX_RESOURCES {
            log.line(line("2999", &format!("/{n}"), 200, "https://a/").as_bytes());
        }
        assert!(log.text_bytes <= MAX_TEXT_BYTES && log.open.len() < MAX_LOADS);
        assert!(log.open.iter().all(|it| it.resources.len() <= MAX_RESOURCES));
        let (_, _, counts) = log.finish();
        assert_eq!(counts.loads + counts.bare_loads, 3 * MAX_LOADS as u64);
    }

    proptest::proptest! {
        #[test]
        fn any_lines_are_read(lines in proptest::collection::vec("\\PC{0,120}", 0..20)) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            proptest::prop_assert_eq!(read("/", None, &lines).1.lines, lines.len() as u64);
        }
    }
}
