//! Derives the graph of a site's page from its files: the references in HTML and CSS. It does not see requests
//! made by scripts, and assumes that everything named in a stylesheet is used.

mod css;
mod html;
mod url;

use crate::graph::{Edge, Graph, Node, Place, is_node_path};
use crate::limits::{REFERENCES_MAX, SCANNED_FILES_MAX, SCANNED_TEXT_BYTES_MAX};
use crate::link::without_query;
use schedulers::Kind;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Access to the files of a site.
pub trait Files {
    /// The size of the file for a path without a query; `None` if it does not exist.
    fn bytes(&self, path: &str) -> Option<u64>;
    /// Its contents, limited to the first `most` bytes.
    fn read(&self, path: &str, most: usize) -> Option<Vec<u8>>;
}

/// The result of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// The resources that exist.
    pub graph: Graph,
    /// Paths that are referenced but do not exist.
    pub missing: Vec<String>,
    /// Images that load only when they come near the viewport (`loading=lazy`): not in the graph.
    pub lazy: Vec<String>,
    /// The number of references to other hosts, which are not in the graph.
    pub elsewhere: usize,
}

/// A reference as written in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reference {
    target: String,
    kind: Kind,
    place: Place,
    turn: Turn,
    /// The first rendering needs it.
    critical: bool,
    lazy: bool,
}

/// When the referenced resource is evaluated: first by this, then by place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    /// Stylesheets, scripts that the parser waits for, and preloaded resources.
    AtOnce,
    /// Scripts after the document.
    Deferred,
    /// Scripts as soon as they have arrived.
    Async,
    /// Images and everything else.
    Shown,
}

/// The references of one text, and their base.
#[derive(Debug, Default)]
struct References {
    base: Option<String>,
    found: Vec<Reference>,
}

impl References {
    fn add(&mut self, reference: Reference) {
        if self.found.len() < REFERENCES_MAX && !reference.target.trim().is_empty() {
            self.found.push(reference);
        }
    }
}

/// Scans the page at `document` of the site `host`; `None` if the file does not exist.
pub fn scan(files: &dyn Files, host: &str, document: &str) -> Option<Scan> {
    let graph = Graph::new(Vec::new(), Vec::new());
    let mut scanner = Scanner {
        files,
        host,
        scan: Scan { graph, missing: Vec::new(), lazy: Vec::new(), elsewhere: 0 },
        index: BTreeMap::new(),
        absent: BTreeSet::new(),
        unread: VecDeque::new(),
    };
    scanner.node(document, Kind::Html, true, false)?;
    while let Some(node) = scanner.unread.pop_front() {
        scanner.read(node);
    }
    Some(scanner.scan)
}

struct Scanner<'a> {
    files: &'a dyn Files,
    host: &'a str,
    scan: Scan,
    index: BTreeMap<String, usize>,
    absent: BTreeSet<String>,
    unread: VecDeque<usize>,
}

impl Scanner<'_> {
    /// The node of a path. A new one is queued for reading.
    fn node(&mut self, path: &str, kind: Kind, critical: bool, hidden: bool) -> Option<usize> {
        if let Some(known) = self.index.get(path) {
            let node = &mut self.scan.graph.nodes[*known];
            node.critical |= critical;
            node.hidden &= hidden;
            return Some(*known);
        }
        let bytes = self.files.bytes(without_query(path)).filter(|_| is_node_path(path));
        let Some(bytes) = bytes else {
            if self.absent.len() < SCANNED_FILES_MAX && self.absent.insert(path.to_owned()) {
                self.scan.missing.push(path.to_owned());
            }
            return None;
        };
        let node = self.scan.graph.nodes.len();
        if node == SCANNED_FILES_MAX {
            return None;
        }
        let plain = Node::plain(self.host, path, kind, bytes);
        self.scan.graph.nodes.push(Node { critical, hidden, ..plain });
        self.index.insert(path.to_owned(), node);
        self.unread.push_back(node);
        Some(node)
    }

    /// Follows the references of a node. A document in a frame is loaded, but is a separate page.
    fn read(&mut self, from: usize) {
        let Node { path, kind, critical, .. } = self.scan.graph.nodes[from].clone();
        let references = match kind {
            Kind::Html if from == 0 => self.text(&path).map(|it| html::references(&it)),
            Kind::Css => self.text(&path).map(|it| css::references(&it, critical)),
            _ => None,
        };
        let Some(References { base, mut found }) = references else { return };
        found.sort_by_key(|it| it.turn);
        let base = base.and_then(|it| url::resolve(self.host, &path, &it));
        let (base_host, base_path) = base.unwrap_or_else(|| (self.host.to_owned(), path.clone()));
        for reference in found {
            let target = url::resolve(&base_host, &base_path, &reference.target);
            if let Some((host, path)) = target {
                self.follow(from, &reference, &host, &path);
            }
        }
    }

    fn text(&mut self, path: &str) -> Option<String> {
        let bytes = self.files.read(without_query(path), SCANNED_TEXT_BYTES_MAX)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn follow(&mut self, from: usize, reference: &Reference, host: &str, path: &str) {
        if !host.eq_ignore_ascii_case(self.host) {
            self.scan.elsewhere += 1;
        } else if reference.lazy {
            self.scan.lazy.push(path.to_owned());
        } else if let Some(to) =
            self.node(path, reference.kind, reference.critical, reference.place == Place::Style)
        {
            let edges = &mut self.scan.graph.edges;
            if to != from && !edges.iter().any(|edge| edge.from == from && edge.to == to) {
                edges.push(Edge { from, to, place: reference.place });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Files by path.
    struct Site(Vec<(&'static str, String)>);

    impl Files for Site {
        fn bytes(&self, path: &str) -> Option<u64> {
            self.0.iter().find(|(name, _)| *name == path).map(|(_, text)| text.len() as u64)
        }

        fn read(&self, path: &str, most: usize) -> Option<Vec<u8>> {
            let (_, text) = self.0.iter().find(|(name, _)| *name == path)?;
            Some(text.bytes().take(most).collect())
        }
    }

    const PAGE: &str = r#"<!doctype html><html><head>
        <link rel="Stylesheet" href="css/main.css?v=1"><link rel="alternate stylesheet" href="other.css">
        <link rel=preload as=font href="/fonts/a.woff2" crossorigin>
        <script src="async.js" async></script><script src="defer.js" defer></script><script src="sync.js"></script>
        <script type="module" src="module.js"></script><script nomodule src="old.js"></script>
        <script type="application/json" src="data.json"></script>
        <script>document.write('<img src="written.png">')</script>
        <style>@import "css/more.css"; body { background: url(back.png) }</style></head>
        <body><!-- <img src="comment.png"> --><noscript><img src="noscript.png"></noscript>
        <template><img src="template.png"></template>
        <img src="small.png" srcset="large.png 2x"><img srcset="w400.png 400w, w1600.png 1600w, w2000.png 2000w">
        <img src="lazy.png" loading="LAZY"><img src="data:image/png;base64,AAAA"><img src="https://cdn.example/x.png">
        <picture><source srcset="p.webp" type="image/webp"><img src="p.png"></picture>
        <div style="background:url('inline.png')"></div><iframe src="frame.html"></iframe><img src="gone.png">
        <video poster=poster.jpg src=clip.mp4 preload=none></video></body></html>"#;

    const FILES: [&str; 18] = [
        "/fonts/a.woff2",
        "/async.js",
        "/defer.js",
        "/sync.js",
        "/module.js",
        "/back.png",
        "/small.png",
        "/w1600.png",
        "/lazy.png",
        "/p.webp",
        "/p.png",
        "/inline.png",
        "/frame.html",
        "/poster.jpg",
        "/clip.mp4",
        "/large.png",
        "/css/b.png",
        "/css/f.woff2",
    ];

    fn site() -> Site {
        let mut files: Vec<_> = FILES.iter().map(|it| (*it, "x".to_owned())).collect();
        let main = "@import url('deep.css') screen; a { background: URL( b.png ) } \
                    @font-face { src: url(f.eot); src: url(f.woff) format('woff'), url(f.woff2) format('woff2') }";
        files.extend([
            ("/index.html", PAGE.to_owned()),
            ("/css/main.css", main.to_owned()),
            ("/css/more.css", "b { color: red }".to_owned()),
            ("/css/deep.css", "@import 'main.css'; c { background: url(../back.png) }".to_owned()),
        ]);
        Site(files)
    }

    #[test]
    fn a_page_refers_to_what_its_browser_would_load() {
        let scan = scan(&site(), "site.example", "/index.html").expect("a page");
        let paths = |of: usize| -> Vec<&str> {
            scan.graph.children(of).map(|it| scan.graph.nodes[it].path.as_str()).collect()
        };
        let expected = [
            "/css/main.css?v=1",
            "/fonts/a.woff2",
            "/sync.js",
            "/css/more.css",
            "/defer.js",
            "/module.js",
            "/async.js",
            "/back.png",
            "/small.png",
            "/w1600.png",
            "/p.webp",
            "/inline.png",
            "/frame.html",
            "/poster.jpg",
        ];
        assert_eq!(paths(0), expected);
        let main = scan.graph.find("site.example", "/css/main.css?v=1").expect("there");
        assert_eq!(paths(main), ["/css/deep.css", "/css/b.png", "/css/f.woff2"]);
        assert_eq!(scan.missing, ["/gone.png"]);
        assert_eq!((scan.lazy, scan.elsewhere), (vec!["/lazy.png".to_owned()], 1));
    }

    #[test]
    fn only_what_a_stylesheet_names_is_hidden_and_only_what_blocks_is_critical() {
        let graph = scan(&site(), "site.example", "/index.html").expect("a page").graph;
        let marks = |path: &str| {
            let node = &graph.nodes[graph.find("site.example", path).expect("there")];
            (node.critical, node.hidden)
        };
        assert_eq!((marks("/sync.js"), marks("/css/main.css?v=1")), ((true, false), (true, false)));
        assert_eq!((marks("/css/deep.css"), marks("/css/b.png")), ((true, true), (false, true)));
        assert_eq!((marks("/async.js"), marks("/back.png")), ((false, false), (false, false)));
    }

    #[test]
    fn a_base_and_a_text_that_is_too_long_are_heeded() {
        let page = "<base href=/sub/><base href=/no/><script src=a.js></script>";
        let files = Site(vec![("/", page.to_owned()), ("/sub/a.js", String::new())]);
        let found = scan(&files, "a", "/").expect("a page");
        assert_eq!((found.graph.nodes.len(), found.missing.len()), (2, 0));
        let many: String = (0..3 * REFERENCES_MAX)
            .map(|it| format!("<img src={it}.png>"))
            .collect::<Vec<_>>()
            .concat();
        let found = scan(&Site(vec![("/", many)]), "a", "/").expect("a page");
        assert_eq!((found.graph.nodes.len(), found.missing.len()), (1, SCANNED_FILES_MAX));
        assert_eq!(scan(&Site(Vec::new()), "a", "/"), None);
    }

    #[test]
    fn deep_nesting_costs_no_stack() {
        let css = format!("{} url(a.png)", "a{b(".repeat(200_000));
        let page = format!("<style>{css}</style>{}", "<template>".repeat(100_000));
        assert!(scan(&Site(vec![("/", page)]), "a", "/").is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_read_to_a_bounded_graph(
            parts in prop::collection::vec(prop_oneof![
                prop::sample::select(vec!["<img src=", "<link rel=stylesheet href=", "a.css", "<style>", "</style>", "@import ",
                    "url(", ")", "\"", "'", "{", "}", "srcset=", " 1x, ", " 9w", "<base href=", "//", "..", "/", "?", "#", "http://",
                    "<template>", "</template>", "<script src=", ">", "@font-face", "\\", "data:", "<!--", "-->", "\0", "é"])
                    .prop_map(str::to_owned),
                "\\PC{0,6}",
            ], 0..40),
        ) {
            let text = parts.concat();
            let files = Site(vec![("/", text.clone()), ("/a.css", text)]);
            let found = scan(&files, "site.example", "/").expect("a page");
            prop_assert!(found.graph.nodes.len() <= SCANNED_FILES_MAX);
            let json = serde_json::to_string(&found.graph).expect("serializable");
            prop_assert_eq!(Graph::from_json(&json).expect("our own"), found.graph);
        }
    }
}
