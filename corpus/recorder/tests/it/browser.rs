//! A real Chromium, if there is one.

use recorder::browser::program;
use recorder::session::{Plan, record};
use recorder::setting::Setting;
use recorder::visit::visit;
use server::site::PageSite;
use std::path::Path;
use std::sync::Arc;

fn has_browser(test: &str) -> bool {
    let found = program().is_some();
    if !found {
        eprintln!("{test}: skipped, there is no Chromium (UTMOST_CHROMIUM names one)");
    }
    found
}

#[test]
fn chromium_asks_for_all_of_a_page_with_synthetic_bodies_over_http3() {
    if !has_browser("chromium_asks_for_all_of_a_page_with_synthetic_bodies_over_http3") {
        return;
    }
    let page = corpus::bundled("agency-home").unwrap();
    let visit = visit(page, Arc::new(PageSite::new(page.clone()).for_browsers())).unwrap();
    assert!(visit.is_well(), "{visit:?}");
    assert_eq!(visit.over_http3, page.resources.len());
}

#[test]
fn a_load_of_a_folder_sees_each_request_and_where_it_came_from() {
    if !has_browser("a_load_of_a_folder_sees_each_request_and_where_it_came_from") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/site");
    let plan = Plan {
        entry: "/".into(),
        settings: Setting::fitted(3).into_iter().take(1).collect(),
        loads: 1,
        screenshot: true,
    };
    let recording = record(&root, &plan, &|_| ()).unwrap();
    let capture = &recording.captures[0];
    assert!(capture.fetches.iter().all(|it| it.protocol == "h3"), "{:?}", capture.fetches);
    assert_eq!(capture.fetches.len(), 17);
    assert_eq!(capture.other_hosts, ["elsewhere.test"]);
    let style = capture.fetches.iter().find(|it| it.path == "/a.css").unwrap();
    assert!(style.finished_ms >= 600.0, "held back by 600 ms: {style:?}");
    assert!(recording.screenshot.unwrap().starts_with(b"\x89PNG"));
}
