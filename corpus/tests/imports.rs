//! Recordings become pages.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use corpus::Page;
use corpus::import::{Addresses, Imported, Label, import, import_text};
use corpus::page::{Event, PageResource, Script};
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use std::io::Write;

fn label() -> Label {
    Label {
        name: "test".into(),
        from: "a test".into(),
        licence: "none".into(),
        sha256: None,
        addresses: Addresses::default(),
        load: None,
        site: None,
    }
}

/// One letter for each flag: H in the head, C critical, A above the fold, * hero, > after the first image.
fn roles(page: &Page) -> Vec<String> {
    let letters = |it: &PageResource| {
        [
            (it.in_head, 'H'),
            (it.critical, 'C'),
            (it.above_fold, 'A'),
            (it.hero, '*'),
            (it.after_first_image, '>'),
        ]
        .into_iter()
        .filter_map(|(set, letter)| set.then_some(letter))
        .collect::<String>()
    };
    page.resources.iter().map(|it| format!("{} {}", it.kind.name(), letters(it))).collect()
}

fn package_page() -> Imported {
    import_text(include_str!("data/package-page.json"), label()).unwrap()
}

#[test]
fn a_package_page_keeps_sizes_roles_and_signals() {
    let page = package_page().page;
    assert_eq!(
        roles(&page),
        [
            "html CA", "css HCA", "js HCA", "image A*", "image >", "js CA>", "js >", "font A",
            "image ", "image A*"
        ]
    );
    let browser = page.resources[3].browser.unwrap();
    assert_eq!((browser.urgency, browser.incremental), (2, true));
    assert_eq!((page.resources[1].bytes, page.resources[1].decoded_bytes), (900, Some(5000)));
    assert_eq!(page.resources[6].script, Some(Script::Async));
    let order: Vec<_> = page.resources.iter().map(|it| it.eval_order).collect();
    let none = None;
    assert_eq!(order, [none, Some(0), Some(1), none, none, Some(2), none, none, none, none]);
}

#[test]
fn a_package_page_takes_the_main_thread_off_its_delays() {
    let page = package_page().page;
    // The stylesheet arrives at 30 and takes 4; the script arrives at 32, begins at 34 and takes 10.
    let font = &page.resources[7].trigger;
    assert_eq!(
        (font.on, font.of, &font.needs, font.delay_ms),
        (Event::CssApplied, 1, &vec![1, 2], 6.0)
    );
    let of_script = &page.resources[6].trigger;
    assert_eq!((of_script.on, of_script.of, of_script.delay_ms), (Event::Exec, 5, 16.0));
    // A slightly negative delay is none.
    let of_bytes = &page.resources[1].trigger;
    assert_eq!((of_bytes.byte, of_bytes.delay_ms), (Some(90), 0.0));
}

#[test]
fn a_second_fetch_of_a_url_is_left_out_and_noted() {
    let imported = package_page();
    assert_eq!(imported.page.resources.len(), 10);
    assert!(
        imported.notes.iter().any(|it| it.starts_with("1 repeated fetches")),
        "{:?}",
        imported.notes
    );
    assert!(imported.notes.iter().any(|it| it.starts_with("2 references to other hosts")));
}

fn devtools_log() -> Value {
    let sent = |id: &str, at: f64, url: &str, used_as: &str, priority: &str, initiator: Value| {
        json!({"method": "Network.requestWillBeSent", "params": {"requestId": id, "timestamp": at, "type": used_as,
            "request": {"url": url, "method": "GET", "initialPriority": priority}, "initiator": initiator}})
    };
    let done = |id: &str, at: f64, mime: &str, bytes: u64| {
        [
            json!({"method": "Network.responseReceived", "params": {"requestId": id, "response": {"status": 200, "mimeType": mime}}}),
            json!({"method": "Network.dataReceived", "params": {"requestId": id, "dataLength": bytes * 2}}),
            json!({"method": "Network.loadingFinished", "params": {"requestId": id, "timestamp": at, "encodedDataLength": bytes}}),
        ]
    };
    let parser = |url: &str| json!({"type": "parser", "url": url});
    let script = json!({"type": "script", "stack": {"callFrames": [], "parent": {"callFrames": [{"url": "https://cdn.example/a.js"}]}}});
    let page = "https://www.example.com/";
    let mut log = vec![
        sent("1", 1.0, page, "Document", "VeryHigh", json!({"type": "other"})),
        sent("2", 1.1, "https://www.example.com/a.css", "Stylesheet", "VeryHigh", parser(page)),
        sent("3", 1.11, "https://cdn.example/a.js", "Script", "Low", parser(page)),
        sent("4", 1.12, "https://www.example.com/a.png", "Image", "Low", parser(page)),
        sent(
            "5",
            1.25,
            "https://www.example.com/a.woff2",
            "Font",
            "VeryHigh",
            parser("https://www.example.com/a.css"),
        ),
        sent("6", 1.33, "https://cdn.example/b.js", "Script", "Low", script),
        sent("7", 1.34, "data:image/png;base64,AAAA", "Image", "Low", parser(page)),
        json!({"method": "Network.resourceChangedPriority", "params": {"requestId": "4", "newPriority": "High"}}),
    ];
    log.extend(done("1", 1.2, "text/html", 500));
    log.extend(done("2", 1.22, "text/css", 100));
    log.extend(done("3", 1.3, "text/javascript", 200));
    log.extend(done("4", 1.4, "image/png", 30_000));
    log.extend(done("5", 1.5, "application/octet-stream", 400));
    log.extend(done("6", 1.6, "", 50));
    log.extend(done("7", 1.6, "image/png", 0));
    Value::Array(log)
}

#[test]
fn a_devtools_log_becomes_a_page_without_names() {
    let imported = import_text(&devtools_log().to_string(), label()).unwrap();
    let page = &imported.page;
    assert_eq!(roles(page), ["html CA", "css HCA", "js ", "image A*", "font A", "js "]);
    let triggers: Vec<_> = page
        .resources
        .iter()
        .map(|it| (it.trigger.on, it.trigger.of, it.trigger.delay_ms))
        .collect();
    assert_eq!(
        triggers,
        [
            (Event::Nav, 0, 0.0),
            (Event::Bytes, 0, 0.0),
            (Event::Bytes, 0, 0.0),
            (Event::Bytes, 0, 0.0),
            (Event::CssApplied, 1, 30.0),
            (Event::Exec, 2, 30.0)
        ]
    );
    let bytes: Vec<_> = page.resources.iter().filter_map(|it| it.trigger.byte).collect();
    assert_eq!(bytes, [250, 500, 750]);
    let text = page.to_text();
    assert!(!text.contains("example") && text.contains("\"/r/4.font\""), "{text}");
    assert_eq!(page.origins.len(), 2);
    assert!(imported.notes.iter().any(|it| it.contains("spread evenly")));
}

#[test]
fn a_log_with_a_line_for_each_event_is_read_too() {
    let log = devtools_log();
    let lines: Vec<String> = log.as_array().unwrap().iter().map(Value::to_string).collect();
    let of_lines = import_text(&lines.join("\n"), label()).unwrap();
    assert_eq!(of_lines, import_text(&log.to_string(), label()).unwrap());
}

#[test]
fn a_har_without_initiators_takes_all_to_be_in_the_document() {
    let entry = |second: &str, url: &str, mime: &str, size: i64| {
        json!({"pageref": "p", "startedDateTime": format!("2016-07-08T09:10:{second}Z"), "time": 50.0,
            "request": {"method": "GET", "url": url},
            "response": {"status": 200, "bodySize": size, "content": {"size": 900, "mimeType": mime}}})
    };
    let file = json!({"log": {"entries": [
        entry("11.100", "https://example.com/", "text/html; charset=utf-8", 300),
        entry("11.200", "https://example.com/a.css", "text/css", 200),
        entry("11.300", "https://example.com/a.png", "image/png", -1),
    ]}});
    let imported = import_text(&file.to_string(), label()).unwrap();
    assert_eq!(roles(&imported.page), ["html CA", "css HCA", "image "]);
    let bytes: Vec<_> = imported.page.resources.iter().map(|it| it.bytes).collect();
    assert_eq!(bytes, [300, 200, 900]);
    assert!(imported.notes.iter().any(|it| it.contains("names no initiators")));
}

#[test]
fn entries_of_resource_timing_become_a_page() {
    let entry = |name: &str, by: &str, at: f64, bytes: u64| {
        json!({"entryType": "resource", "name": format!("https://a.example/{name}"), "initiatorType": by,
            "startTime": at, "responseEnd": at + 30.0, "encodedBodySize": bytes, "decodedBodySize": 2 * bytes})
    };
    let entries = json!([
        {"entryType": "navigation", "name": "https://a.example/", "initiatorType": "navigation", "startTime": 0,
            "responseEnd": 80.0, "encodedBodySize": 500, "decodedBodySize": 2000, "responseStatus": 200, "loadEventStart": 400.0},
        entry("a.css", "link", 100.0, 200),
        entry("a.js", "script", 101.0, 300),
        entry("f.woff2", "css", 150.0, 400),
        entry("hero.png", "img", 160.0, 0),
        entry("more.json", "fetch", 450.0, 60),
        {"entryType": "paint", "name": "first-paint", "startTime": 170.0},
    ]);
    let Imported { page, notes } = import_text(&entries.to_string(), label()).unwrap();
    assert_eq!(roles(&page), ["html CA", "css HCA", "js HCA", "font A", "image A*", "xhr "]);
    let bytes: Vec<u64> = page.resources.iter().map(|it| it.bytes).collect();
    assert_eq!(bytes, [500, 200, 300, 400, 40_000, 60]);
    let causes: Vec<_> = page.resources.iter().map(|it| (it.trigger.on, it.trigger.of)).collect();
    assert_eq!(
        causes[1..],
        [
            (Event::Bytes, 0),
            (Event::Bytes, 0),
            (Event::CssApplied, 1),
            (Event::Bytes, 0),
            (Event::Load, 0)
        ]
    );
    assert!(notes.iter().any(|it| it.starts_with("1 responses of other origins hide their size")));
    let headless = json!([{"entryType": "resource", "name": "https://a.example/a.css"}]);
    let error = import_text(&headless.to_string(), label()).unwrap_err().to_string();
    assert!(error.starts_with("holds no entry of type `navigation`"), "{error}");
}

#[test]
fn a_file_that_is_not_a_recording_is_rejected_in_one_line() {
    let error = |text: &str| import_text(text, label()).unwrap_err().to_string();
    assert!(error("hello").starts_with("is not JSON"));
    assert!(
        error("{}")
            .starts_with("is in an unknown format; known are HAR (an object with the key `log`")
    );
    assert!(error("{\"log\":{}}").starts_with("is not a HAR file: missing field `entries`"));
    assert!(error("[]").starts_with("holds no event Network.requestWillBeSent"));
    assert!(error("[{}]").starts_with("holds no event Network.requestWillBeSent"));
    assert!(error(" \n").starts_with("is empty"));
    assert!(error("[{\"objs\":[]}]").starts_with("holds no object Networking_*"));
    assert!(error("{\"resources\":[]}").starts_with("is not a resource list"));
    assert!(error("[{\"log\":{}}]").starts_with("is a list with a HAR file in it"));
    assert!(error("{\"traceEvents\":[]}").starts_with("is a Chrome trace"));
    assert!(error("{\"format\":\"utmost-page/1\"}").starts_with("has the key `format`"));
    assert!(error("{\"res\":7}").starts_with("is not a package page"));
    for log in [
        "{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\"}\n{\"time\":0}",
        "\u{1e}{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\"}\n",
        "{\"constants\":{},\"events\":[]}",
    ] {
        let hint = "is a log of a connection, not a recording of a page; `utmost what-if` and `utmost find` read it";
        assert_eq!(error(log), hint);
    }
}

#[test]
fn a_gzipped_file_is_named_and_hashed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("My Page.json.gz");
    let mut encoder = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::fast());
    encoder.write_all(include_bytes!("data/package-page.json")).unwrap();
    encoder.finish().unwrap();
    let page = import(&path, None).unwrap().page;
    assert_eq!((page.name.as_str(), page.source.from.as_str()), ("my-page", "My Page.json.gz"));
    assert_eq!(page.source.sha256.unwrap().len(), 64);
}

#[test]
fn every_recording_at_hand_becomes_a_sound_page() {
    let Some(recordings) = fixtures::path("recordings") else { return };
    let mut imported = 0;
    for folder in [recordings.clone(), recordings.join("package-pages")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|it| it == "gz") {
                let Imported { page, notes } = import(&path, None)
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                assert_eq!(corpus::check(&page), []);
                assert!(!notes.is_empty());
                imported += 1;
            }
        }
    }
    assert!(imported >= 90, "{imported}");
}

proptest::proptest! {
    /// Whatever is in a file, it is a page or one line of error.
    #[test]
    fn damaged_files_are_refused_without_panic(
        place in 0_usize..20_000, length in 0_usize..40, with in "[0-9eE.:,\"a-z{}\\[\\]-]{0,12}"
    ) {
        let log = devtools_log().to_string();
        let page = corpus::bundled_text("davies-meenan").unwrap();
        let wprofx = include_str!("data/wprofx.json");
        let list = include_str!("data/resource-list.json");
        for text in [include_str!("data/package-page.json"), wprofx, list, log.as_str(), page] {
            let mut damaged = text.as_bytes().to_vec();
            let start = place % damaged.len();
            let end = (start + length).min(damaged.len());
            damaged.splice(start..end, with.bytes());
            let damaged = String::from_utf8_lossy(&damaged);
            if let Err(error) = import_text(&damaged, label()) {
                proptest::prop_assert!(!error.to_string().contains('\n'));
            }
            if let Err(error) = Page::parse(&damaged, "damaged.json") {
                proptest::prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }
}
