//! A real Chromium, if there is one.

use gateway::site::{DirectorySite, Pushing, Rule, RuledSite};
use lab::Contender;
use lab::network::Network;
use lab::study::engines;
use page_site::PageSite;
use recorder::browser::{Chromium, Trust};
use recorder::firefox::Firefox;
use recorder::installed::Kind;
use recorder::mirror::Mirror;
use recorder::session::{LocalServer, Plan, Recording, record};
use recorder::setting::Setting;
use recorder::site::HOST;
use recorder::study_browser::{self, Bodies, StudyBrowser};
use recorder::visit::visit;
use serde_json::Value;
use server::site::Site;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Whether this machine has the browser; without it the test is counted as skipped.
pub(crate) fn has(kind: Kind) -> bool {
    let found = kind.program().is_some();
    if !found {
        fixtures::skip(&format!("there is no {} ({} names one)", kind.name(), kind.variable()));
    }
    found
}

#[test]
fn chromium_asks_for_all_of_a_page_with_synthetic_bodies_over_http3() {
    if !has(Kind::Chromium) {
        return;
    }
    let page = corpus::bundled("agency-home").unwrap();
    let visit = visit(page, Arc::new(PageSite::new(page.clone()).for_browsers())).unwrap();
    assert!(visit.is_well(), "{visit:?}");
    assert_eq!(visit.over_http3, page.resources.len());
}

/// A study of a page that the browser loads under two schemes, in real time, so on a fast network.
fn study_in(kind: Kind, film_dir: Option<&Path>) -> (lab::study::Plan, lab::study::Study) {
    let page = Arc::new(corpus::bundled("agency-home").unwrap().clone());
    let schemes = ["rr", "fifo"].map(|it| Contender::find(it).unwrap());
    let network = Network::find("cable").unwrap();
    let plan = lab::study::Plan {
        film_dir: film_dir.map(Path::to_owned),
        browser: Some(Arc::new(StudyBrowser::new(kind, Bodies::Imitated))),
        ..lab::study::Plan::new(vec![page], schemes.into(), engines::BROWSER, network)
    };
    let study = lab::study::run(&plan, Value::Null, &|| ()).unwrap();
    assert_eq!(study.runs.len(), 2);
    for run in &study.runs {
        assert!(run.completed, "{:?}", run.unfinished);
        assert_eq!(run.resources.len(), 24);
        // 1 MB at 25 Mbit/s take 330 ms, and the link's round trip is 50 ms.
        assert!(run.duration_ms > 350.0, "{}", run.duration_ms);
        assert!(metric(run, "first_render") < metric(run, "load"), "{run:?}");
    }
    (plan, study)
}

fn metric(run: &lab::study::RunRecord, name: &str) -> f64 {
    run.metrics.get(qlog_tools::metrics::find(name).unwrap()).all.unwrap()
}

#[test]
fn a_study_loads_a_page_in_chromium_through_the_links_of_a_network() {
    if !has(Kind::Chromium) {
        return;
    }
    let pictures = tempfile::tempdir().unwrap();
    let (plan, study) = study_in(Kind::Chromium, Some(pictures.path()));
    // Of the pictures; nothing is shown before the first rendering.
    assert!(study.runs.iter().all(|it| metric(it, "speed_index") > 0.0));
    let film = lab::study::film(&plan, &study, study_browser::base64).unwrap().unwrap();
    let strips: Vec<&str> = film.scenes[0].strips.iter().map(|it| it.label.as_str()).collect();
    assert_eq!((film.scenes.len(), strips), (1, vec!["rr", "fifo"]));
    assert!(film.scenes[0].strips.iter().all(|it| !it.pictures.is_empty()));
}

#[test]
fn a_study_loads_a_page_in_firefox_through_the_links_of_a_network() {
    if has(Kind::Firefox) {
        study_in(Kind::Firefox, None);
    }
}

fn folder() -> Arc<dyn Site> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/site");
    Arc::new(DirectorySite::open(&root).unwrap())
}

fn one_load(site: Arc<dyn Site>, host: &str) -> Recording {
    let plan = Plan {
        host: host.into(),
        entry: "/".into(),
        settings: Setting::fitted(3).into_iter().take(1).collect(),
        loads: 1,
        screenshot: true,
    };
    record(site, &plan, &|_| true).unwrap()
}

/// Loads `/` once, from a server that would push the style sheet. Returns the server's log.
fn offered_a_push(kind: Kind) -> String {
    let pushing = Pushing { push: vec!["/a.css".into()], ..Pushing::default() };
    let site = RuledSite::new(folder(), vec![Rule::pushing("/", pushing)]);
    let logs = tempfile::tempdir().unwrap();
    let server =
        LocalServer::start_with(site, |it| it.qlog_dir = Some(logs.path().to_owned())).unwrap();
    let (url, silence) = (format!("https://{HOST}/"), Duration::from_millis(500));
    let visited = match kind {
        Kind::Chromium => {
            Chromium::start(HOST, server.port, &server.pin).unwrap().visit(&url, silence)
        }
        Kind::Firefox => Firefox::start(HOST, server.port).unwrap().visit(&url, silence),
    };
    assert!(visited.unwrap().fetches.iter().any(|it| it.url.ends_with("/a.css")));
    drop(server);
    let files = std::fs::read_dir(logs.path()).unwrap();
    files.map(|it| std::fs::read_to_string(it.unwrap().path()).unwrap()).collect()
}

#[test]
fn a_browser_allows_no_push_and_gets_none() {
    for kind in Kind::ALL {
        if has(kind) {
            let log = offered_a_push(kind);
            assert!(log.contains(r#""frame_type":"headers""#), "{log:.2000}");
            // Our own client, which allows pushes, gets the promise.
            assert!(!log.contains("push_promise"), "{kind:?}");
        }
    }
}

#[test]
fn a_load_of_a_folder_sees_each_request_and_where_it_came_from() {
    if !has(Kind::Chromium) {
        return;
    }
    let recording = one_load(folder(), HOST);
    let capture = &recording.captures[0];
    assert!(capture.fetches.iter().all(|it| it.protocol == "h3"), "{:?}", capture.fetches);
    assert_eq!(capture.fetches.len(), 17);
    assert_eq!(capture.other_hosts, ["elsewhere.test"]);
    let style = capture.fetches.iter().find(|it| it.path == "/a.css").unwrap();
    assert!(style.finished_ms >= 600.0, "held back by 600 ms: {style:?}");
    assert!(recording.screenshot.unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn a_mirror_of_a_server_is_loaded_as_the_folder_that_it_serves() {
    if !has(Kind::Chromium) {
        return;
    }
    let server = LocalServer::start(folder()).unwrap();
    let trust = Trust { pin: Some(server.pin.clone()), http3: true };
    let url = format!("https://127.0.0.1:{}/", server.port);
    let answers = Chromium::for_mirroring(&trust).unwrap().answers(&url).unwrap();
    let mirror = Mirror::new(&url, &answers).unwrap();
    assert_eq!((mirror.entry.as_str(), mirror.assumptions.len()), ("/", 0));
    // Under a name of its own, as a page of the web.
    let mirrored = one_load(Arc::new(mirror), "www.shop.example");
    let original = one_load(folder(), HOST);
    let fetches = |recording: &Recording| -> Vec<_> {
        let mut fetches: Vec<_> = recording.captures[0]
            .fetches
            .iter()
            .map(|it| (it.path.clone(), it.used_as.clone(), it.status, it.bytes, it.decoded_bytes))
            .collect();
        fetches.sort();
        fetches
    };
    assert_eq!(fetches(&mirrored), fetches(&original));
    assert_eq!(mirrored.captures[0].document, original.captures[0].document);
}

#[test]
fn a_host_that_is_not_there_is_the_environments_fault() {
    if !has(Kind::Chromium) {
        return;
    }
    let chromium = Chromium::for_mirroring(&Trust::default()).unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{closed}/");
    let error = chromium.answers(&url).unwrap_err();
    assert!(!error.is_bad_input());
    let cause = "connection refused; is a server listening there? (net::ERR_CONNECTION_REFUSED)";
    assert_eq!(error.to_string(), format!("browser: {url}: {cause}"));
    let unsafe_port = chromium.answers("https://127.0.0.1:9/").unwrap_err().to_string();
    let begin = "browser: https://127.0.0.1:9/: browsers do not open this port, ";
    assert!(unsafe_port.starts_with(begin), "{unsafe_port}");
}
