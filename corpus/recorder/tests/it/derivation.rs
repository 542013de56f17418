//! What is derived from captures of a page whose causes are known: `data/site`, one resource of each cause.

use corpus::Page;
use corpus::page::{Event, PageResource};
use recorder::derive::{self, Label};
use recorder::limits;
use recorder::recording::{self, Captures};
use schedulers::Kind;
use std::sync::LazyLock;

static CAPTURES: LazyLock<Captures> =
    LazyLock::new(|| serde_json::from_str(include_str!("../data/captures.json")).unwrap());
static PAGE: LazyLock<Page> =
    LazyLock::new(|| recording::page(&CAPTURES, "small", "MIT OR Apache-2.0").unwrap().page);

fn resource(url: &str) -> &'static PageResource {
    PAGE.resources.iter().find(|it| it.url == url).unwrap()
}

/// The event of a resource's trigger and the URL of what it is about.
fn cause(url: &str) -> (Event, &'static str) {
    let trigger = &resource(url).trigger;
    (trigger.on, &PAGE.resources[trigger.of].url)
}

#[test]
fn tags_are_found_at_the_byte_at_which_they_end() {
    let document = include_str!("../data/site/index.html");
    for (url, tag) in [
        ("/a.css", "<link rel=\"stylesheet\" href=\"/a.css\">"),
        ("/head.js", "<script src=\"/head.js\">"),
        ("/photo.png", "<img src=\"/photo.png\" width=\"640\" height=\"360\">"),
        ("/late.js", "<script src=\"/late.js\" defer>"),
    ] {
        assert_eq!(cause(url), (Event::Bytes, "/"));
        let end = document.find(tag).unwrap() + tag.len();
        assert_eq!(resource(url).trigger.byte, Some(end as u64), "{url}");
    }
}

#[test]
fn styles_import_paint_and_set_in_fonts() {
    assert_eq!(cause("/b.css"), (Event::CssImport, "/a.css"));
    assert_eq!(resource("/b.css").eval_order, resource("/a.css").eval_order);
    for (url, sheet) in [("/painted.png", "/a.css"), ("/drawn.woff2", "/b.css")] {
        let (on, of) = cause(url);
        assert!(
            on == Event::CssApplied && of == sheet || on == Event::StyleApplied,
            "{url} {on:?}"
        );
    }
}

#[test]
fn what_a_script_asks_for_waits_for_the_script() {
    for url in ["/exec.png", "/chained.png", "/timer.png"] {
        let (on, script) = cause(url);
        assert!(matches!(on, Event::Exec | Event::Timer), "{url} {on:?}");
        assert_eq!(script, "/tail.js", "{url}");
    }
    // Its script listens to the event, and is the last that the event waits for.
    let (on, of) = cause("/data.json");
    assert!(on == Event::Dcl || of == "/late.js", "{on:?} {of}");
    assert_eq!(cause("/load.png"), (Event::Load, "/"));
}

#[test]
fn a_chain_of_loads_is_found_because_its_links_are_delayed_differently() {
    let trigger = &resource("/after-chained.png").trigger;
    let causes: Vec<&str> = trigger
        .needs
        .iter()
        .chain([&trigger.of])
        .map(|&it| PAGE.resources[it].url.as_str())
        .collect();
    assert!(causes.contains(&"/chained.png"), "{causes:?}");
}

#[test]
fn roles_are_those_of_the_document() {
    let page = &*PAGE;
    assert_eq!(resource("/missing.png").status, 404);
    assert!(resource("/photo.png").hero && resource("/photo.png").above_fold);
    let painted = resource("/painted.png");
    assert!(painted.above_fold && !painted.hero, "a visible background");
    assert!(!resource("/missing.png").above_fold, "nobody sees what is not there");
    assert!(resource("/drawn.woff2").above_fold, "a font");
    assert!(resource("/a.css").critical && resource("/head.js").critical);
    assert!(resource("/tail.js").exec_ms >= 60.0);
    assert_eq!(resource("/a.css").browser.unwrap().urgency, 0);
    assert!(resource("/exec.png").browser.unwrap().incremental);
    assert!(page.resources.iter().all(|it| it.kind != Kind::Image || it.eval_order.is_none()));
}

#[test]
fn the_trace_predicts_recordings_that_it_was_not_derived_from() {
    let recording = PAGE.source.recording.as_ref().unwrap();
    let unseen = recording.unseen_ms.unwrap();
    assert!(unseen.p50 <= 25.0 && unseen.p90 <= 80.0, "{unseen:?}");
    assert_eq!(recording.unseen_settings.len(), 2);
    recording::good_enough(&PAGE).unwrap();
}

#[test]
fn a_page_that_does_not_predict_its_recordings_is_refused() {
    let mut page = PAGE.clone();
    page.source.recording.as_mut().unwrap().left_out_ms.p90 = 151.0;
    let error = recording::good_enough(&page).unwrap_err().to_string();
    assert!(error.contains("151 ms (90th percentile)") && error.contains("--force"), "{error}");
}

/// Captures of a page that loads differently under each of the five settings: nothing predicts it.
fn erratic() -> Captures {
    let mut captures = CAPTURES.clone();
    for (load, capture) in captures.fitted.iter_mut().enumerate() {
        for (number, it) in capture.fetches.iter_mut().enumerate().skip(1) {
            let late_ms = if (load % 5 + number) % 2 == 0 { 900.0 } else { 0.0 };
            it.discovered_ms += late_ms;
            it.finished_ms += late_ms;
        }
    }
    captures
}

#[test]
fn a_recording_whose_replays_disagree_is_judged_so_from_its_captures() {
    let page = recording::page(&erratic(), "erratic", "none").unwrap().page;
    let left_out = page.source.recording.as_ref().unwrap().left_out_ms;
    assert!(left_out.p90 > limits::ERROR_MAX.p90, "{left_out:?}");
    let error = recording::good_enough(&page).unwrap_err();
    assert!(matches!(error, recorder::RecordError::Unpredictable(_)), "{error}");
}

#[test]
fn a_background_is_a_hero_only_if_it_is_large_and_the_largest_paint() {
    let hero = |share: f64, largest: bool| {
        let mut captures = CAPTURES.clone();
        for it in &mut captures.fitted {
            let painted = it.boxes.iter_mut().find(|it| it.path == "/painted.png").unwrap();
            (painted.share, painted.background) = (share, true);
            it.largest_paint = largest.then(|| "/painted.png".to_owned());
        }
        let page = recording::page(&captures, "small", "none").unwrap().page;
        page.resources.iter().find(|it| it.url == "/painted.png").unwrap().hero
    };
    assert!(hero(0.4, true), "the masthead of a page");
    assert!(!hero(0.4, false), "wallpaper");
    assert!(!hero(0.01, true), "a tile of a widget");
}

#[test]
fn what_a_mirror_had_to_assume_is_kept_with_the_page_without_names_of_hosts() {
    let mut captures = CAPTURES.clone();
    captures.assumptions = vec!["2 requests failed and are answered by 404".to_owned()];
    let assumptions = recording::page(&captures, "small", "none").unwrap().page.source.assumptions;
    assert_eq!(
        assumptions,
        ["2 requests failed and are answered by 404", "what other hosts (1) serve is left out"]
    );
}

#[test]
fn the_same_captures_give_the_same_page() {
    let again = recording::page(&CAPTURES, "small", "MIT OR Apache-2.0").unwrap().page;
    assert_eq!(again.to_text(), PAGE.to_text());
}

#[test]
fn captures_without_a_document_or_of_two_pages_are_refused() {
    let label = Label {
        name: "x".into(),
        from: "x".into(),
        licence: "x".into(),
        sha256: None,
        addresses: corpus::import::Addresses::default(),
        load: None,
        site: None,
    };
    let error =
        |captures: &[recorder::Capture]| derive::derive(captures, &label).unwrap_err().to_string();
    assert_eq!(error(&[]), "no captures");
    let mut empty = CAPTURES.fitted.clone();
    empty[1].fetches.clear();
    assert_eq!(error(&empty), "page: a load without a document; record again");
    let mut two = CAPTURES.fitted.clone();
    two[1].fetches[0].path = "/other.html".into();
    assert_eq!(error(&two), "captures of two pages, / and /other.html; derive each separately");
}

#[test]
fn a_resource_that_most_loads_did_without_is_left_out_with_a_note() {
    let mut captures = CAPTURES.clone();
    for it in captures.fitted.iter_mut().skip(1) {
        it.fetches.retain(|it| it.path != "/load.png");
    }
    let judged = recording::page(&captures, "small", "none").unwrap();
    assert!(judged.page.resources.iter().all(|it| it.url != "/load.png"));
    assert!(
        judged.notes.iter().any(|it| it.starts_with("/load.png is left out")),
        "{:?}",
        judged.notes
    );
}

#[test]
fn a_second_fetch_of_a_url_is_another_resource() {
    let mut captures = CAPTURES.clone();
    for it in captures.fitted.iter_mut().chain(&mut captures.unseen) {
        let again = it.fetches.iter().find(|it| it.path == "/photo.png").unwrap().clone();
        it.fetches.push(again);
    }
    let page = recording::page(&captures, "small", "none").unwrap().page;
    assert!(page.resources.iter().any(|it| it.url == "/photo.png?fetch=2"));
    assert_eq!(corpus::check(&page), []);
}

#[test]
fn a_resource_without_an_initiator_still_gets_a_trigger() {
    let mut captures = CAPTURES.clone();
    for it in captures.fitted.iter_mut().flat_map(|it| &mut it.fetches) {
        it.initiator = recorder::capture::Initiator::default();
    }
    let page = recording::page(&captures, "small", "none").unwrap().page;
    assert_eq!(corpus::check(&page), []);
    assert_eq!(page.resources.len(), PAGE.resources.len());
}
