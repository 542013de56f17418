//! The content of an export, for any server.

use corpus::Page;
use corpus::page::Script;
use gateway::is_one_path;
use percent_encoding::percent_decode_str;
use qlog_tools::short_texts::{counted, shown};
use schedulers::{Kind, Priority, Resource, usual_urgency};
use std::collections::BTreeMap;

/// The most lines that are named as moving most.
const NAMED: usize = 5;

/// A line is named if it moves its resource by at least this share of the first line's.
const NAMED_SHARE: f64 = 0.1;

/// nginx takes no longer word than 4,096 bytes, with the host; characters may be percent-encoded.
const PATH_BYTES_MAX: usize = 3_500;

/// The longest path in a comment.
const SHOWN_CHARACTERS: usize = 200;

/// The remedy for a response that has no path of its own.
const BY_HTML: &str = "; `fetchpriority` can move it alone";

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
    /// Host and path, with its query, of everything that the pages ask for; no line may move what needs no line. Empty: unknown.
    pub sent: Vec<(String, String)>,
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
    /// The part that every server can express. Servers match paths without a query, and some in any case of letters, so a line that
    /// would move something else is left out.
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
            let also = self.also_matched(&line.host, &line.path, Some(line.priority));
            if let Some(why) = problem(&line.host, path).or_else(|| also.map(|it| it + BY_HTML)) {
                left_out.push(format!("{}, because {why}.", printable(&line.path)));
            } else if lines.iter().all(|it| it.host != line.host || it.path != path) {
                lines.push(Line { path: path.to_owned(), ..line.clone() });
            }
            in_html.push(line.clone());
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
            let said = document.sendable().and_then(|said| {
                let also = self.also_matched(&document.host, &document.path, None);
                also.map_or(Ok(said), Err)
            });
            match said {
                Ok(said) => match documents.iter().find(|it| it.answers_for(&said)) {
                    None => documents.push(said),
                    Some(first) if first.all_links() == said.all_links() => {}
                    Some(first) => left_out.push(format!(
                        "links of {}, because a server takes it for {}.",
                        printable(&document.path),
                        printable(&first.path)
                    )),
                },
                Err(why) => {
                    let path = printable(&document.path);
                    left_out.push(format!("links of {path}, because {why}."));
                }
            }
        }
        let said = Self { lines, documents, ..self.clone() };
        Sendable { said, in_html, left_out }
    }

    /// Why a server that has this path in its configuration would also change another response; `priority`: which that response has, too,
    /// otherwise.
    fn also_matched(&self, host: &str, path: &str, priority: Option<Priority>) -> Option<String> {
        let of_lines = self.lines.iter().map(|it| (&it.host, &it.path));
        let of_documents = self.documents.iter().map(|it| (&it.host, &it.path));
        let sent = self.sent.iter().map(|it| (&it.0, &it.1));
        let mut all = sent.chain(of_lines).chain(of_documents);
        let [plain, key] = [without_query(path), &match_key(path)];
        let (_, other) = all.find(|(of, other)| {
            let is_host = *of == host || of.is_empty() || host.is_empty();
            let is_alike = is_host && *other != path && match_key(other) == *key;
            is_alike && (priority.is_none() || self.priority_of(of, other) != priority)
        })?;
        let shown = printable(other);
        Some(if without_query(other) == plain {
            format!("servers match a path without its query, and would change {shown}, too")
        } else {
            format!("some servers take it for {shown}")
        })
    }

    fn priority_of(&self, host: &str, path: &str) -> Option<Priority> {
        let mut lines = self.lines.iter().filter(|it| it.path == path);
        lines.find(|it| it.host == host || host.is_empty()).map(|it| it.priority)
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
    /// The part that every server can express, or why nothing remains.
    fn sendable(&self) -> Result<Self, String> {
        let path = without_query(&self.path);
        let mut said = Self { path: path.to_owned(), ..self.clone() };
        said.links.retain(|it| is_link(it));
        said.early_hints.retain(|it| is_link(it));
        match problem(&said.host, path) {
            Some(why) => Err(why),
            None if said.is_empty() => Err("its links need quoting".to_owned()),
            None => Ok(said),
        }
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

/// Why servers cannot match exactly this path, and what to do.
fn problem(host: &str, path: &str) -> Option<String> {
    let decoded = matched(path);
    let odd = decoded.chars().find(|it| !is_plain(*it)).map(|it| match it {
        it if it.is_ascii_graphic() => it.to_string(),
        it => format!("U+{:04X}", u32::from(it)),
    });
    // Servers merge slashes and resolve dots before they match, some of them or all.
    let mut parts = decoded.split('/');
    if decoded.contains("//") || parts.any(|it| [".", ".."].contains(&it)) {
        return Some("servers shorten its path".to_owned());
    }
    let has_slash = decoded.matches('/').count() != path.matches('/').count();
    match (odd, is_host(host)) {
        _ if has_slash => {
            Some("its path has an encoded slash, which servers take for a slash".to_owned())
        }
        _ if path.len() > PATH_BYTES_MAX => Some(format!(
            "a server such as nginx takes at most 4,096 bytes; this path has {}",
            path.len()
        )),
        (Some(odd), _) => Some(format!(
            "{odd} in a path has a meaning of its own in some servers' configurations: rename the file, or use `fetchpriority`"
        )),
        (None, false) => Some(format!("{} is not a host's name", printable(host))),
        _ if !path.is_ascii() || !is_one_path(path) => {
            Some("browsers send its path percent-encoded: name it so".to_owned())
        }
        _ => None,
    }
}

/// The text that servers compare if they ignore the case of letters.
fn match_key(path: &str) -> String {
    matched(without_query(path)).to_ascii_lowercase()
}

/// The path as servers match it: decoded.
pub(super) fn matched(path: &str) -> String {
    percent_decode_str(path).decode_utf8_lossy().into_owned()
}

/// Whether no server's configuration gives the character a meaning between double quotes.
fn is_plain(letter: char) -> bool {
    letter.is_alphanumeric() || "/._~-+,=:@!&; ".contains(letter)
}

fn is_host(host: &str) -> bool {
    host.bytes().all(|it| it.is_ascii_alphanumeric() || b".-:[]".contains(&it))
}

/// Whether a `Link` value is safe between double quotes on every server.
fn is_link(link: &str) -> bool {
    link.bytes().all(|it| it.is_ascii_alphanumeric() || b"/._~-+,=:@!&?<>; ".contains(&it))
}

/// Makes a path from a recording safe in a comment, which it must not end, and which a server reads into a small buffer.
fn printable(path: &str) -> String {
    shown(path, SHOWN_CHARACTERS)
}
