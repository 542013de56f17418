//! The content of an export, for any server.

use corpus::Page;
use corpus::page::Script;
use gateway::is_one_path;
use percent_encoding::percent_decode_str;
use qlog_tools::short_texts::counted;
use schedulers::{Kind, Priority, Resource, usual_urgency};
use std::collections::BTreeMap;

/// The most lines that are named as moving most.
const NAMED: usize = 5;

/// A line is named if it moves its resource by at least this share of the first line's.
const NAMED_SHARE: f64 = 0.1;

/// The file that servers send for a folder.
pub(super) const INDEX: &str = "index.html";

/// The responses that a site should send differently.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Advice {
    /// The findings, in sentences: one for each page and network.
    pub found: Vec<String>,
    /// Resources that need a priority other than the browser's, the most important first.
    pub lines: Vec<Line>,
    /// Pages whose responses should announce resources early.
    pub documents: Vec<Document>,
    /// Why there is nothing to paste, if there are neither lines nor documents.
    pub nothing: Nothing,
}

/// Why an export has nothing to paste.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Nothing {
    /// Nothing gains.
    #[default]
    NoGain,
    /// No load shows what gains.
    Unknown,
    /// The gain is of a server that sends by priority, without a new priority.
    OfServer,
    /// The gain needs priorities at hosts that a recording made up.
    MadeUpHosts,
    /// All that gains needs quoting.
    Inexpressible,
    /// A policy has nothing that another server can do.
    OfPolicy,
}

/// A resource that needs another priority.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its host; empty: any.
    pub host: String,
    /// Whether the host belongs to another site than its document's, so that the site's server never answers for it.
    pub is_elsewhere: bool,
    /// Its path, with its query.
    pub path: String,
    /// How the HTML of its document names it: its path with its query, or its whole URL if it has another origin.
    pub url: String,
    /// Its facts.
    pub resource: Resource,
    /// How a script is run.
    pub script: Option<Script>,
    /// The reference to it.
    pub named_by: NamedBy,
    /// Its priority.
    pub priority: Priority,
    /// Milliseconds by which it completes later than at present, the median over loads; negative: earlier. `None`: not measured.
    pub later_ms: Option<f64>,
}

/// The reference by which a browser finds a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum NamedBy {
    /// An element of a document, or unknown.
    #[default]
    Document,
    /// The style sheet with this path, for example for a background.
    Stylesheet(String),
    /// The script with this path.
    Script(String),
    /// An unknown style sheet or script.
    Other,
}

/// A page whose responses should announce resources early.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its host; empty: any.
    pub host: String,
    /// The path of its document.
    pub path: String,
    /// Values of `Link` fields of the response.
    pub links: Vec<String>,
    /// Values of `Link` fields of early hints.
    pub early_hints: Vec<String>,
}

/// Advice as a server can express it.
pub(super) struct Sendable {
    /// The part that every server can express.
    pub(super) said: Advice,
    /// Resources that elements of HTML can move: the lines of `said`, and those that another site's server sends.
    pub(super) in_html: Vec<Line>,
    /// Why the rest is left out.
    pub(super) left_out: Vec<String>,
}

impl Advice {
    /// The part that every server can express. Paths lose their query, because servers match without it, so only the first of
    /// all lines with one path remains.
    pub(super) fn sendable(&self) -> Sendable {
        let mut left_out = Vec::new();
        let mut elsewhere: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut lines, mut in_html): (Vec<Line>, Vec<Line>) = (Vec::new(), Vec::new());
        for line in &self.lines {
            if line.is_elsewhere {
                *elsewhere.entry(&line.host).or_default() += 1;
                in_html.push(line.clone());
                continue;
            }
            let path = without_query(&line.path);
            let alike = lines.iter().find(|it| {
                it.host == line.host && matched(&it.path).eq_ignore_ascii_case(&matched(path))
            });
            if let Some(why) = problem(&line.host, path) {
                left_out.push(format!("{}, because {why}.", printable(&line.path)));
            } else if let Some(alike) = alike {
                // nginx, for example, refuses to start with two such paths.
                if alike.path != path {
                    let other = printable(&alike.path);
                    left_out.push(format!("{path}, because some servers take it for {other}."));
                }
            } else {
                lines.push(Line { path: path.to_owned(), ..line.clone() });
                in_html.push(line.clone());
            }
        }
        left_out.extend(elsewhere.into_iter().map(|(host, count)| {
            let lines = counted(count, "line");
            let host = printable(host);
            format!(
                "{lines} for {host}, because the server of this site does not answer for that host."
            )
        }));
        let mut documents: Vec<Document> = Vec::new();
        for document in &self.documents {
            match document.sendable() {
                Some(_) if documents.iter().any(|it| it.answers_for(document)) => {}
                Some(said) => documents.push(said),
                None => left_out.push(format!(
                    "links of {}, because the path or they need quoting, or it stands for several.",
                    printable(&document.path)
                )),
            }
        }
        let said = Self { found: self.found.clone(), lines, documents, nothing: self.nothing };
        Sendable { said, in_html, left_out }
    }

    /// Whether there is nothing to export.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.documents.iter().all(Document::is_empty)
    }

    /// Whether every line and document names its host.
    pub(super) fn names_hosts(&self) -> bool {
        let of_lines = self.lines.iter().map(|it| &it.host);
        of_lines.chain(self.documents.iter().map(|it| &it.host)).all(|it| !it.is_empty())
    }

    /// Host and path, or the path alone unless all hosts are named.
    pub(super) fn key(&self, host: &str, path: &str) -> String {
        let host = if self.names_hosts() { host.to_ascii_lowercase() } else { String::new() };
        format!("{host}{path}")
    }

    /// The few lines that move most.
    pub(super) fn moves_most(&self) -> String {
        let most_ms = self.lines.iter().map(Line::moved_ms).fold(0.0, f64::max);
        let mut named: Vec<String> = Vec::new();
        for line in &self.lines {
            let moved_ms = line.moved_ms();
            if moved_ms > 0.0 && moved_ms >= NAMED_SHARE * most_ms && named.len() < NAMED {
                let side = if line.later_ms < Some(0.0) { "earlier" } else { "later" };
                named.push(format!("{} {moved_ms:.0} ms {side}", line.path));
            }
        }
        if named.is_empty() {
            return "How much each line gains was not measured here: `utmost find --export` measures it."
                .to_owned();
        }
        format!(
            "The first lines move most: {}. Not every line that moves much gains much.",
            named.join(", ")
        )
    }
}

impl Nothing {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::NoGain => {
                "No difference: nothing is better on all networks asked about, so there is nothing to paste."
            }
            Self::Unknown => "Nothing is known, so there is nothing to paste.",
            Self::OfServer => {
                "The gain is of a server that sends by priority (RFC 9218) as browsers ask, and needs no other line, so there is nothing to paste."
            }
            Self::MadeUpHosts => {
                "The gain needs priorities at hosts that the recording made up, so there is nothing to paste."
            }
            Self::Inexpressible => {
                "No line that gains can be written for this server, so there is nothing to paste."
            }
            Self::OfPolicy => {
                "The policy has no priority and no link for another server, so there is nothing to paste."
            }
        }
    }
}

/// All paths of the same document: `/` and `/index.html` are the same.
pub(super) fn paths_of(path: &str) -> Vec<String> {
    let folder = path.strip_suffix(INDEX).filter(|it| it.ends_with('/'));
    let index = path.ends_with('/').then(|| format!("{path}{INDEX}"));
    [path.to_owned()].into_iter().chain(folder.map(str::to_owned)).chain(index).collect()
}

impl Document {
    /// The part that every server can express; `None` if nothing remains.
    fn sendable(&self) -> Option<Self> {
        let path = without_query(&self.path);
        let mut said = Self { path: path.to_owned(), ..self.clone() };
        said.links.retain(|it| is_link(it));
        said.early_hints.retain(|it| is_link(it));
        let can_be_said = problem(&said.host, path).is_none() && !said.is_empty();
        can_be_said.then_some(said)
    }

    fn is_empty(&self) -> bool {
        self.links.is_empty() && self.early_hints.is_empty()
    }

    /// Whether a server with this host also answers for `other`.
    fn answers_for(&self, other: &Self) -> bool {
        self.host == other.host
            && paths_of(&self.path).iter().any(|it| it.eq_ignore_ascii_case(&other.path))
    }

    /// All links, because a browser that ignored the early hints uses them from the response.
    pub(super) fn all_links(&self) -> Vec<&str> {
        let others = self.links.iter().filter(|it| !self.early_hints.contains(it));
        self.early_hints.iter().chain(others).map(String::as_str).collect()
    }
}

impl NamedBy {
    /// The reference to a resource of a page.
    pub fn of(page: &Page, id: usize) -> Self {
        let it = &page.resources[id];
        let by = page.resources.get(it.trigger.of).filter(|_| !it.preload);
        match by.map(|by| (by.kind, by.url.clone())) {
            Some((Kind::Css, path)) => Self::Stylesheet(path),
            Some((Kind::Js, path)) => Self::Script(path),
            _ => Self::Document,
        }
    }

    /// `the style sheet /a.css`; `None` for a document.
    pub fn words(&self) -> Option<String> {
        match self {
            Self::Document => None,
            Self::Stylesheet(path) => Some(format!("the style sheet {}", printable(path))),
            Self::Script(path) => Some(format!("the script {}", printable(path))),
            Self::Other => Some("a style sheet or a script".to_owned()),
        }
    }
}

impl Line {
    /// Whether browsers request it less urgently than they should (`Some(true)`), or more urgently (`Some(false)`).
    pub(super) fn is_raised(&self) -> Option<bool> {
        let usual = usual_urgency(&self.resource);
        let urgency = self.priority.urgency?;
        (urgency != usual).then_some(urgency < usual)
    }

    /// Its URL between double quotes in HTML; `None` if it has characters that no URL has.
    pub(super) fn html_url(&self) -> Option<String> {
        let is_plain = self.url.bytes().all(|it| it.is_ascii_graphic() && !b"\"<>`".contains(&it));
        is_plain.then(|| self.url.replace('&', "&amp;"))
    }

    /// How far it moves in time, in either direction.
    fn moved_ms(&self) -> f64 {
        self.later_ms.map_or(0.0, f64::abs)
    }

    /// The attribute of a `script` element about its execution, with a leading space.
    pub(super) fn script_attribute(&self) -> &'static str {
        match self.script {
            Some(Script::Module) => " type=\"module\"",
            Some(Script::Async) => " async",
            Some(Script::Defer) => " defer",
            _ => "",
        }
    }
}

fn without_query(path: &str) -> &str {
    path.split('?').next().unwrap_or_default()
}

/// Why servers cannot match exactly this path.
fn problem(host: &str, path: &str) -> Option<&'static str> {
    let decoded = matched(path);
    // Servers merge slashes and resolve dots before they match, some of them or all.
    let mut parts = decoded.split('/');
    if decoded.contains("//") || parts.any(|it| [".", ".."].contains(&it)) {
        return Some("servers shorten its path");
    }
    let has_slash = decoded.matches('/').count() != path.matches('/').count();
    let is_sendable = is_plain(&decoded) && !has_slash && path.is_ascii() && is_one_path(path);
    (!is_sendable || !is_host(host)).then_some("its path needs quoting")
}

/// The path as servers match it: decoded.
pub(super) fn matched(path: &str) -> String {
    percent_decode_str(path).decode_utf8_lossy().into_owned()
}

/// Whether no server's configuration gives a character of `path` a meaning between double quotes.
fn is_plain(path: &str) -> bool {
    path.chars().all(|it| it.is_alphanumeric() || "/._~-+,=:@!&; ".contains(it))
}

fn is_host(host: &str) -> bool {
    host.bytes().all(|it| it.is_ascii_alphanumeric() || b".-:[]".contains(&it))
}

/// Whether a `Link` value is safe between double quotes on every server.
fn is_link(link: &str) -> bool {
    link.bytes().all(|it| it.is_ascii_alphanumeric() || b"/._~-+,=:@!&?<>; ".contains(&it))
}

/// Makes a path from a recording safe in a comment, which it must not end.
fn printable(path: &str) -> String {
    path.escape_default().to_string()
}
