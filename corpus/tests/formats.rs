//! Formats of recordings that name what others do not, `WProfX` and the reference's resource lists, and hostile
//! contents in any of them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod situations;

use captures::REQUESTS_MAX;
use corpus::import::{Addresses, Imported, Label, import, import_text};
use corpus::page::{Event, Script};
use corpus::{Page, PageResource};
use serde_json::{Value, json};

const WPROFX: &str = include_str!("data/wprofx.json");
const RESOURCE_LIST: &str = include_str!("data/resource-list.json");

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

fn error(text: &str) -> String {
    import_text(text, label()).unwrap_err().to_string()
}

fn triggers(page: &Page) -> Vec<(Event, usize, f64)> {
    page.resources.iter().map(|it| (it.trigger.on, it.trigger.of, it.trigger.delay_ms)).collect()
}

#[test]
fn wprofx_sizes_are_completed_from_its_count_of_the_sockets() {
    let imported = import_text(WPROFX, label()).unwrap();
    // The stated sizes sum to 33 100, as do the sockets' bytes.
    let bytes: Vec<u64> = imported.page.resources.iter().map(|it| it.bytes).collect();
    assert_eq!(bytes, [1000, 500, 700, 30_000, 400, 300, 200]);
    // 10 000 bytes more are shared by the time that bodies took: 40, 20, 20 and 20 ms of 100.
    let more = WPROFX.replace("33000", "43000");
    let page = import_text(&more, label()).unwrap().page;
    let bytes: Vec<u64> = page.resources.iter().map(|it| it.bytes).collect();
    assert_eq!(bytes, [5000, 2500, 2700, 32_000, 400, 300, 200]);
    assert!(page.source.assumptions.iter().any(|it| it.contains("only the last chunk")));
    let none = WPROFX.replace("\"sockets_bytes_in\": 33000", "\"sockets_bytes_in\": 0");
    let notes = import_text(&none, label()).unwrap().notes;
    assert!(notes.iter().any(|it| it.contains("no count of the sockets' bytes")), "{notes:?}");
}

#[test]
fn wprofx_gets_the_edges_from_stylesheets_that_it_lacks() {
    let page = import_text(WPROFX, label()).unwrap().page;
    assert_eq!(
        triggers(&page),
        [
            (Event::Nav, 0, 0.0),
            (Event::Bytes, 0, 0.0),
            (Event::Bytes, 0, 0.0),
            (Event::Bytes, 0, 0.0),
            // The font came 7 ms after the stylesheet was applied.
            (Event::CssApplied, 1, 7.0),
            // a.js began at 160, b.js was asked for at 172.
            (Event::Exec, 2, 12.0),
            // Asked for while no document was parsed.
            (Event::StyleApplied, 0, 27.0),
        ]
    );
    let times: Vec<f64> = page.resources.iter().map(|it| it.exec_ms).collect();
    assert_eq!(times, [0.0, 3.0, 12.0, 0.0, 0.0, 0.0, 0.0]);
    let critical: Vec<usize> =
        page.resources.iter().filter(|it| it.critical).map(|it| it.id).collect();
    // 5 is on the recorded critical path.
    assert_eq!(critical, [0, 1, 2, 5]);
    assert_eq!(page.resources[5].script, Some(Script::Async));
}

#[test]
fn a_resource_list_keeps_its_roles_and_discoveries() {
    let page = import_text(RESOURCE_LIST, label()).unwrap().page;
    let urls: Vec<&str> = page.resources.iter().map(|it| it.url.as_str()).collect();
    assert_eq!(
        urls[..4],
        ["/index.html", "/css/main.css", "/js/defer.js", "/img/hero%20image.jpg"]
    );
    assert_eq!(
        triggers(&page),
        [
            (Event::Nav, 0, 0.0),
            (Event::Bytes, 0, 20.0),
            (Event::Bytes, 0, 25.0),
            (Event::Bytes, 0, 40.0),
            (Event::Complete, 0, 5.5),
            (Event::Complete, 1, 3.0),
            (Event::Complete, 0, 0.0),
        ]
    );
    let scripts: Vec<Option<Script>> = page.resources.iter().map(|it| it.script).collect();
    assert_eq!(scripts[2], Some(Script::Defer));
    assert_eq!(scripts[4], Some(Script::Async));
    let above = |it: &PageResource| it.above_fold;
    assert_eq!(
        page.resources.iter().map(above).collect::<Vec<_>>(),
        [true, true, false, true, false, true, false]
    );
    assert!(page.resources[4].after_first_image && page.resources[3].hero);
}

#[test]
fn a_resource_list_takes_sizes_from_the_files_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list.json");
    std::fs::write(&list, RESOURCE_LIST).unwrap();
    std::fs::create_dir(folder.path().join("css")).unwrap();
    std::fs::write(folder.path().join("css/main.css"), [b'x'; 321]).unwrap();
    let imported = import(&list, None).unwrap();
    assert_eq!(imported.page.resources[1].bytes, 321);
    assert_eq!(imported.page.resources[5].bytes, 33_000);
    assert!(imported.notes.iter().any(|it| it.starts_with("6 of 7 resources have no file")));
    assert!(imported.notes.iter().any(|it| it.starts_with("1 resources are nobody's child")));
    // A list cannot reach out of its folder.
    let outside = RESOURCE_LIST.replace("css/main.css", "../list.json");
    let inner = folder.path().join("css/list.json");
    std::fs::write(&inner, outside).unwrap();
    assert_eq!(import(&inner, None).unwrap().page.resources[1].bytes, 10_000);
}

#[test]
fn what_a_resource_list_cannot_mean_is_refused_by_name() {
    let unknown = RESOURCE_LIST.replace("[\"js/late.js\"]", "[\"js/lost.js\"]");
    assert_eq!(
        error(&unknown),
        "resources[\"index.html\"].childrenEnd: \"js/lost.js\" is not in the list"
    );
    let typeless = RESOURCE_LIST.replace("{\"mimeType\": \"image/png\"}", "{}");
    assert!(error(&typeless).contains("missing field `mimeType`"));
    assert!(error("{\"resources\":{}}").contains("resources: is empty"));
}

#[expect(clippy::needless_pass_by_value, reason = "a literal at each call")]
fn har_entry(url: &str, more: Value) -> Value {
    let mut entry = json!({
        "startedDateTime": "2020-01-01T00:00:00.100Z", "time": 10.0,
        "request": {"method": "GET", "url": url, "headers": []},
        "response": {"status": 200, "bodySize": 100, "content": {"size": 200, "mimeType": "text/html"}}
    });
    for (key, value) in more.as_object().unwrap() {
        entry[key] = value.clone();
    }
    entry
}

fn har(entries: &[Value]) -> String {
    json!({"log": {"entries": entries}}).to_string()
}

#[test]
fn hosts_and_paths_are_renamed_unless_they_are_to_be_kept() {
    let css = json!({"startedDateTime": "2020-01-01T00:00:00.150Z", "response": {"status": 200, "bodySize": 50, "content": {"mimeType": "text/css"}}});
    let text = har(&[
        har_entry("https://shop.example/home?a=1#top", json!({})),
        har_entry("https://cdn.example/a/b.css?v=2", css),
    ]);
    let addresses = |addresses| {
        let page = import_text(&text, Label { addresses, ..label() }).expect("a page").page;
        let hosts: Vec<&str> =
            page.resources.iter().map(|it| &*page.origins[it.origin].host).collect();
        let all: Vec<String> = hosts
            .iter()
            .zip(&page.resources)
            .map(|(host, it)| format!("{host}{}", it.url))
            .collect();
        all.join(" ")
    };
    assert_eq!(addresses(Addresses::Renamed), "host-0.test/ host-1.test/r/1.css");
    assert_eq!(addresses(Addresses::Kept), "shop.example/home?a=1 cdn.example/a/b.css?v=2");
}

#[test]
fn data_urls_redirects_repeats_and_failures_are_left_out_and_counted() {
    let failed = json!({"response": {"status": 0}});
    let moved = json!({"response": {"status": 302, "redirectURL": "http://a.example/a.css"}});
    let css = json!({"startedDateTime": "2020-01-01T00:00:00.150Z", "response": {"status": 200, "bodySize": 50, "content": {"mimeType": "text/css"}}});
    let font = json!({
        "startedDateTime": "2020-01-01T00:00:00.200Z",
        "request": {"method": "GET", "url": "http://a.example/f.woff2", "headers": [{"name": "referer", "value": "http://a.example/old.css"}]},
        "response": {"status": 404, "bodySize": 60, "content": {"mimeType": "font/woff2"}}
    });
    let text = har(&[
        har_entry("http://a.example/", json!({})),
        har_entry("http://a.example/old.css", moved),
        har_entry("http://a.example/a.css", css.clone()),
        har_entry("http://a.example/a.css", css),
        har_entry("data:image/png;base64,AA", json!({})),
        har_entry("http://a.example/gone.png", failed),
        har_entry("http://a.example/f.woff2", font),
    ]);
    let imported = import_text(&text, label()).unwrap();
    assert_eq!(imported.page.resources.len(), 3);
    assert!(imported.notes[0].starts_with("4 requests are left out"), "{:?}", imported.notes);
    // Its Referer names the stylesheet by the URL before the redirect; a 404 is part of the page.
    let font = &imported.page.resources[2];
    assert_eq!((font.trigger.on, font.trigger.of, font.status), (Event::CssApplied, 1, 404));
}

#[test]
fn what_a_cache_answered_gets_a_size_as_if_compressed() {
    let cached = json!({"response": {"status": 200, "bodySize": -1, "content": {"size": 4000, "mimeType": "text/css"}}});
    let text = har(&[
        har_entry("http://a.example/", json!({})),
        har_entry("http://a.example/a.css", cached),
    ]);
    let imported = import_text(&text, label()).unwrap();
    // The document has 100 of 200.
    assert_eq!(imported.page.resources[1].bytes, 2000);
    assert!(imported.notes.iter().any(|it| it.starts_with("1 responses have no recorded size")));
}

/// A HAR file with a document, a stylesheet of 100 bytes and this entry.
fn har_with(response: &Value) -> String {
    har(&[
        har_entry("http://a.example/", json!({})),
        har_entry("http://a.example/a.css", json!({"response": {"status": 200, "bodySize": 100}})),
        har_entry("http://a.example/b.png", json!({ "response": response })),
    ])
}

#[test]
fn a_response_without_a_size_is_left_out_and_named() {
    let label = |addresses| Label { addresses, ..label() };
    for sizes in
        [json!({}), json!({"bodySize": -1, "content": {"size": -1}}), json!({"bodySize": 0})]
    {
        let mut response = sizes;
        response["status"] = json!(200);
        let text = har_with(&response);
        let Imported { page, notes } = import_text(&text, label(Addresses::Kept)).unwrap();
        assert_eq!(page.resources.iter().map(|it| it.bytes).collect::<Vec<_>>(), [100, 100]);
        let note = "responses left out because the recording does not say their size, neither on the wire nor decoded: 1: \
                    request 3 (http://a.example/b.png)";
        assert!(notes.iter().any(|it| it == note), "{notes:?}");
        let renamed = import_text(&text, label(Addresses::Renamed)).unwrap();
        assert!(renamed.notes.iter().any(|it| it.ends_with("decoded: 1: request 3")));
    }
}

#[test]
fn a_response_that_is_stated_to_be_empty_stays_and_is_named() {
    for response in [
        json!({"status": 204}),
        json!({"status": 200, "bodySize": 0, "content": {"size": 0}}),
        json!({"status": 200, "bodySize": -1, "headersSize": 90, "_transferSize": 90}),
    ] {
        let Imported { page, notes } = import_text(&har_with(&response), label()).unwrap();
        assert_eq!(page.resources[2].bytes, 0);
        let note = "responses without a body, as the recording says: 1: request 3";
        assert!(notes.iter().any(|it| it == note), "{notes:?}");
    }
}

#[test]
fn a_recording_without_sizes_is_refused_with_the_first_entry_that_lacks_one() {
    let without =
        json!({"response": {"status": 200, "bodySize": -1, "content": {"mimeType": "text/html"}}});
    let cause = error(&har(&[har_entry("http://a.example/", without.clone())]));
    assert_eq!(
        cause,
        "request 1 (http://a.example/): the document has no size, neither on the wire nor decoded; record the page again with \
         an empty cache, and keep the sizes of responses (in a HAR file: bodySize, _transferSize or content.size)"
    );
    let cached =
        json!({"response": {"status": 304, "bodySize": -1, "content": {"mimeType": "text/html"}}});
    let frame = har_entry("http://ads.example/", json!({}));
    let cause = error(&har(&[har_entry("http://a.example/", cached), frame]));
    let start = "request 1 (http://a.example/): the document came from a cache, with status 304, and has no size";
    assert!(cause.starts_with(start), "{cause}");
    let document = har_entry("http://a.example/", json!({}));
    let cause = error(&har(&[document, har_entry("http://a.example/a.css", without)]));
    assert!(
        cause.starts_with("request 2 (http://a.example/a.css): like everything but"),
        "{cause}"
    );
}

#[test]
fn a_request_without_a_readable_date_is_left_out_and_counted() {
    let text = har(&[
        har_entry("http://a.example/", json!({})),
        har_entry("http://a.example/a.css", json!({"startedDateTime": "yesterday"})),
    ]);
    let imported = import_text(&text, label()).unwrap();
    assert_eq!(imported.page.resources.len(), 1);
    let note = "requests left out because their startedDateTime is not a date: 1: request 2";
    assert!(imported.notes.iter().any(|it| it == note), "{:?}", imported.notes);
}

#[test]
fn wrong_types_and_cut_files_are_refused_in_one_line() {
    assert!(error("{\"log\":{\"entries\":7}}").starts_with("is not a HAR file: invalid type"));
    assert!(error("{\"log\":{\"entries\":[7]}}").contains("holds no document"));
    assert!(error(&WPROFX[..WPROFX.len() / 2]).starts_with("is not a list of events: EOF"));
    assert!(error(&RESOURCE_LIST[..200]).starts_with("is not JSON: EOF"));
    let wrong = WPROFX.replace("\"transferSize\": 1000", "\"transferSize\": {}");
    assert_eq!(import_text(&wrong, label()).unwrap().page.resources[0].bytes, 400);
}

#[test]
fn more_entries_than_any_page_has_are_refused_before_they_are_all_read() {
    let entry = "{\"method\":\"Network.requestWillBeSent\",\"params\":{\"requestId\":\"ID\"}},";
    let mut log = String::from("[");
    for id in 0..=REQUESTS_MAX {
        log += &entry.replace("ID", &id.to_string());
    }
    // It is not even closed: the reader stops before that.
    assert!(error(&log).contains("holds more than 200000 requests; cut the recording"));
}

#[test]
fn the_calls_of_a_stack_are_all_needed() {
    let sent = |id: &str, at: f64, url: &str, used_as: &str, initiator: Value| {
        json!({"method": "Network.requestWillBeSent", "params": {"requestId": id, "timestamp": at, "type": used_as,
            "request": {"url": url, "method": "GET", "initialPriority": "High"}, "initiator": initiator, "frameId": "F"}})
    };
    let mut log = vec![];
    let parser =
        |line: u64| json!({"type": "parser", "url": "http://a.example/", "lineNumber": line});
    let stack = json!({"type": "script", "stack": {
        "callFrames": [{"url": "http://a.example/library.js", "lineNumber": 0}],
        "parent": {"callFrames": [{"url": "http://a.example/application.js", "lineNumber": 3}]}}});
    log.push(sent("1", 1.0, "http://a.example/", "Document", json!({"type": "other"})));
    log.push(sent("2", 1.01, "http://a.example/library.js", "Script", parser(4)));
    log.push(sent("3", 1.02, "http://a.example/application.js", "Script", parser(9)));
    log.push(sent("4", 1.5, "http://a.example/data.json", "XHR", stack.clone()));
    log.push(json!({"method": "Page.loadEventFired", "params": {"timestamp": 2.0}}));
    log.push(sent("5", 2.25, "http://a.example/more.json", "XHR", stack));
    for (id, at, mime) in [
        ("1", 1.1, "text/html"),
        ("2", 1.2, "text/javascript"),
        ("3", 1.3, "text/javascript"),
        ("4", 1.6, "application/json"),
        ("5", 2.5, "application/json"),
    ] {
        log.push(json!({"method": "Network.responseReceived", "params": {"requestId": id, "response": {"status": 200, "mimeType": mime, "encodedDataLength": 100}}}));
        log.push(json!({"method": "Network.dataReceived", "params": {"requestId": id, "dataLength": 1000}}));
        log.push(json!({"method": "Network.loadingFinished", "params": {"requestId": id, "timestamp": at, "encodedDataLength": 600}}));
    }
    let page = import_text(&Value::Array(log).to_string(), label()).unwrap().page;
    // Heads are not bodies; lines have 100 bytes each, and each reference ends its line.
    assert!(page.resources.iter().all(|it| it.bytes == 500));
    let places: Vec<_> = page.resources.iter().map(|it| it.trigger.byte).collect();
    assert_eq!(places, [None, Some(500), Some(1000), None, None]);
    let data = &page.resources[3].trigger;
    assert_eq!((data.on, data.of, &data.needs[..]), (Event::Exec, 2, &[1][..]));
    let more = &page.resources[4].trigger;
    assert_eq!((more.on, &more.needs[..], more.delay_ms), (Event::Load, &[1, 2][..], 250.0));
}
