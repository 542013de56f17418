//! Whether the profiles of Chromium and Firefox match the signals of these browsers: in recordings, and today.

use crate::browser::has;
use client::profile::Profile;
use corpus::Page;
use corpus::page::BrowserPriority;
use recorder::Setting;
use recorder::browser::Chromium;
use recorder::firefox::Firefox;
use recorder::installed::Kind;
use recorder::session::LocalServer;
use recorder::site::HOST;
use recorder::site::RecordedSite;
use schedulers::Priority;
use server::site::{Body, Request, Response, Site};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const CHROMIUM: &str = "chromium-156";
const FIREFOX: &str = "firefox-153";
const SILENCE: Duration = Duration::from_millis(500);

/// Each way in which a document refers to a resource: its path, the text, and its entry in a page file. A resource that a style sheet
/// requests has no text here.
const REFERENCES: [(&str, &str, &str); 19] = [
    (
        "/head.css",
        r#"<link rel="stylesheet" href="/head.css">"#,
        r#""kind": "css", "in_head": true"#,
    ),
    (
        "/early.css",
        r#"<link rel="preload" as="style" href="/early.css">"#,
        r#""kind": "css", "preload": true"#,
    ),
    (
        "/early.js",
        r#"<link rel="preload" as="script" href="/early.js">"#,
        r#""kind": "js", "preload": true"#,
    ),
    (
        "/early.woff2",
        r#"<link rel="preload" as="font" href="/early.woff2" crossorigin>"#,
        r#""kind": "font", "preload": true"#,
    ),
    ("/next.js", r#"<link rel="prefetch" href="/next.js">"#, r#""kind": "js", "prefetch": true"#),
    (
        "/sync.js",
        r#"<script src="/sync.js"></script>"#,
        r#""kind": "js", "script": "sync", "in_head": true"#,
    ),
    (
        "/async.js",
        r#"<script async src="/async.js"></script>"#,
        r#""kind": "js", "script": "async", "in_head": true"#,
    ),
    (
        "/defer.js",
        r#"<script defer src="/defer.js"></script>"#,
        r#""kind": "js", "script": "defer", "in_head": true"#,
    ),
    (
        "/module.js",
        r#"<script type="module" src="/module.js"></script>"#,
        r#""kind": "js", "script": "module", "in_head": true"#,
    ),
    (
        "/hero.png",
        r#"</head><body><img width="600" height="400" fetchpriority="high" src="/hero.png">"#,
        r#""kind": "image", "fetchpriority": "high""#,
    ),
    ("/1.png", r#"<img width="600" height="400" src="/1.png">"#, r#""kind": "image""#),
    ("/2.png", r#"<img width="600" height="400" src="/2.png">"#, r#""kind": "image""#),
    ("/3.png", r#"<img width="600" height="400" src="/3.png">"#, r#""kind": "image""#),
    ("/4.png", r#"<img width="600" height="400" src="/4.png">"#, r#""kind": "image""#),
    ("/5.png", r#"<img width="600" height="400" src="/5.png">"#, r#""kind": "image""#),
    ("/6.png", r#"<img width="600" height="400" src="/6.png">"#, r#""kind": "image""#),
    (
        "/late.css",
        r#"<link rel="stylesheet" href="/late.css">"#,
        r#""kind": "css", "after_first_image": true"#,
    ),
    (
        "/late.js",
        r#"<script src="/late.js"></script>"#,
        r#""kind": "js", "script": "sync", "after_first_image": true"#,
    ),
    (
        "/data.json",
        r#"<script>fetch("/data.json")</script><i class="b">a</i></body>"#,
        r#""kind": "xhr""#,
    ),
];

/// A document with all references.
struct References;

impl Site for References {
    fn respond(&self, request: &Request) -> Response {
        let text = match request.path.as_str() {
            "/" => {
                let tags: String = REFERENCES.iter().map(|it| it.1).collect();
                format!("<!doctype html><html><head>{tags}</html>")
            }
            "/head.css" => ".b { background: url(/background.png) }".to_owned(),
            _ => " ".to_owned(),
        };
        let mime = mime(&request.path);
        Response {
            headers: server::site::fields::fields([("content-type", mime)]),
            body: Body::Bytes(Arc::from(text.into_bytes())),
            ..Response::empty(200)
        }
    }
}

fn mime(path: &str) -> &'static str {
    let kinds = [
        (".css", "text/css"),
        (".js", "text/javascript"),
        (".png", "image/png"),
        (".woff2", "font/woff2"),
        ("/", "text/html"),
    ];
    kinds.iter().find(|it| path.ends_with(it.0)).map_or("application/json", |it| it.1)
}

/// The document as a page.
fn page() -> Page {
    let row = |id: usize, url: &str, facts: &str| {
        let mime = mime(url);
        format!(
            r#"{{"id": {id}, "url": "{url}", "origin": 0, "mime": "{mime}", "bytes": 1000, {facts}}}"#
        )
    };
    let document = r#""kind": "html", "main": true, "trigger": {"on": "nav", "of": 0}"#;
    let mut rows = vec![row(0, "/", document)];
    for (id, (path, _, facts)) in (1..).zip(REFERENCES) {
        let trigger = format!(r#""trigger": {{"on": "bytes", "of": 0, "byte": {id}}}"#);
        rows.push(row(id, path, &format!("{trigger}, {facts}")));
    }
    let style = r#""kind": "image", "trigger": {"on": "css_applied", "of": 1}"#;
    rows.push(row(rows.len(), "/background.png", style));
    let text = format!(
        r#"{{"format": "utmost-page/1", "name": "references", "source": {{"kind": "hand", "from": "a test", "licence": "MIT"}}, "viewport": [1366, 768],
        "origins": [{{"host": "{HOST}", "party": "first"}}], "resources": [{}]}}"#,
        rows.join(",")
    );
    Page::parse(&text, "references").unwrap()
}

fn text(it: BrowserPriority) -> String {
    format!("{}{}", it.urgency, if it.incremental { "i" } else { "" })
}

/// The priorities that a browser signals for the references are those of its profile.
#[track_caller]
fn assert_signals(profile: &str, kind: Kind, visit: impl FnOnce(&LocalServer, &str)) {
    let site = Arc::new(RecordedSite::new(Arc::new(References), Setting::default()));
    let server = LocalServer::start(Arc::clone(&site) as Arc<dyn Site>).unwrap();
    visit(&server, &format!("https://{HOST}/"));
    let said = |it: &recorder::site::Requested| {
        let field = it.priority.clone().unwrap_or_default();
        let priority = Priority::parse(field.as_bytes()).unwrap_or_default();
        (it.path.clone(), text(priority.into()))
    };
    let seen: BTreeMap<String, String> = site.requests().iter().map(said).collect();
    let expected = Profile::find(profile).unwrap().applied_to(page());
    let rows = expected.resources.iter().map(|it| {
        let seen = seen.get(&it.url).map_or("not asked for", String::as_str);
        (it.url.clone(), it.browser.map_or(String::new(), text), seen.to_owned())
    });
    // Firefox raises an image of the document by one once it has a place in the layout, which races with the request here.
    let is_raised = |path: &str, profile: &str, seen: &str| {
        kind == Kind::Firefox
            && path.contains(".png")
            && [("5i", "4i"), ("3i", "2i")].contains(&(profile, seen))
    };
    let differing: Vec<_> = rows
        .filter(|(path, profile, seen)| profile != seen && !is_raised(path, profile, seen))
        .collect();
    assert!(
        differing.is_empty(),
        "{} does not signal as client/profiles/{profile}.toml says (path, profile, browser): {differing:?}; \
         write a profile of this version",
        kind.version().unwrap()
    );
}

#[test]
fn the_chromium_at_hand_signals_as_its_profile_says() {
    if !has(Kind::Chromium) {
        return;
    }
    assert_signals(CHROMIUM, Kind::Chromium, |server, url| {
        let chromium = Chromium::start(HOST, server.port, &server.pin).unwrap();
        chromium.visit(url, SILENCE).unwrap();
    });
}

#[test]
fn the_firefox_at_hand_signals_as_its_profile_says() {
    if !has(Kind::Firefox) {
        return;
    }
    assert_signals(FIREFOX, Kind::Firefox, |server, url| {
        Firefox::start(HOST, server.port).unwrap().visit(url, SILENCE).unwrap();
    });
}

/// A document with a script in its head, eight images, and two scripts after them.
struct Gallery;

impl Site for Gallery {
    fn respond(&self, request: &Request) -> Response {
        let images: Vec<String> = (1..=8).map(|it| format!(r#"<img src="/{it}.png">"#)).collect();
        let images = images.concat();
        let text = match request.path.as_str() {
            "/" => format!(
                r#"<!doctype html><html><head><script src="/head.js"></script></head><body>{images}<script src="/a.js"></script><script src="/b.js"></script></body></html>"#
            ),
            _ => " ".to_owned(),
        };
        Response {
            headers: server::site::fields::fields([("content-type", mime(&request.path))]),
            body: Body::Bytes(Arc::from(text.into_bytes())),
            ..Response::empty(200)
        }
    }
}

/// Two requests of images before the body, and those that waited by their urgency: as `client/src/requests.rs`.
#[test]
fn the_chromium_at_hand_asks_in_the_order_that_its_profile_says() {
    if !has(Kind::Chromium) {
        return;
    }
    let slow_scripts = Setting::unseen().remove(0);
    let site = Arc::new(RecordedSite::new(Arc::new(Gallery), slow_scripts));
    let server = LocalServer::start(Arc::clone(&site) as Arc<dyn Site>).unwrap();
    let chromium = Chromium::start(HOST, server.port, &server.pin).unwrap();
    chromium.visit(&format!("https://{HOST}/"), SILENCE).unwrap();
    let asked: Vec<String> = site.requests().into_iter().map(|it| it.path).collect();
    let order = "/ /head.js /1.png /2.png /3.png /4.png /5.png /a.js /b.js /6.png /7.png /8.png";
    assert_eq!(asked.join(" ").trim_end_matches(" /favicon.ico"), order);
}

#[test]
fn the_profile_says_what_recordings_with_this_version_say() {
    let profile = Profile::find(CHROMIUM).unwrap();
    let (mut same, mut all) = (0, 0);
    for page in corpus::bundled_names().into_iter().filter_map(corpus::bundled) {
        let recording = page.source.recording.as_ref();
        if !recording.is_some_and(|it| it.browser.contains("156")) {
            continue;
        }
        let signalled = profile.applied_to(page.clone());
        for (recorded, said) in page.resources.iter().zip(&signalled.resources) {
            all += usize::from(recorded.browser.is_some());
            same += usize::from(recorded.browser.is_some() && recorded.browser == said.browser);
        }
    }
    assert_eq!(format!("{same} of {all}"), "688 of 694");
}
