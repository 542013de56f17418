//! What is read from a browser's trace, and what is rejected.

use recorder::observe::{Observations, observe};
use recorder::site::Requested;
use serde_json::{Value, json};

const ORIGIN: &str = "https://www.page.test:1";

fn event(name: &str, ts: u64, data: &Value) -> Value {
    json!({"name": name, "pid": 7, "ts": ts, "ph": "I", "args": {"frame": "F", "data": data}})
}

fn fetch(id: &str, path: &str, used_as: &str, ts: u64) -> Vec<Value> {
    let url = format!("{ORIGIN}{path}");
    vec![
        event(
            "ResourceSendRequest",
            ts,
            &json!({
                "frame": "F", "requestId": id, "url": url, "resourceType": used_as,
                "initiator": {"type": "parser", "url": format!("{ORIGIN}/"), "lineNumber": 0, "columnNumber": 9}
            }),
        ),
        event(
            "ResourceReceiveResponse",
            ts + 1000,
            &json!({
                "frame": "F", "requestId": id, "mimeType": "text/css", "protocol": "h3", "statusCode": 200
            }),
        ),
        event("ResourceFinish", ts + 2500, &json!({"requestId": id, "decodedBodyLength": 10})),
    ]
}

fn trace() -> Vec<Value> {
    let start = json!({"documentLoaderURL": format!("{ORIGIN}/"), "isOutermostMainFrame": true});
    let mut events = vec![event("navigationStart", 1_000_000, &start)];
    events.extend(fetch("1", "/", "Document", 1_005_000));
    events.extend(fetch("2", "/a.css", "Stylesheet", 1_010_000));
    events.extend(fetch("3", "/a.css", "Stylesheet", 1_020_000));
    events.extend(fetch("4", "/favicon.ico", "Other", 1_030_000));
    events
}

fn report() -> Value {
    json!({
        "boxes": [], "elements": [], "largest": null, "requestStart": 2.0, "serviceWorker": false,
        "url": format!("{ORIGIN}/"), "bodies": [
            {"url": format!("{ORIGIN}/a.css"), "encoded": 5, "decoded": 10},
            {"url": "data:image/gif;base64,R0lGODlhAQABAAAAACw=", "encoded": 0, "decoded": 0},
        ]
    })
}

fn seen(trace: &[Value], report: &Value) -> Result<recorder::Capture, String> {
    let requests = [Requested { path: "/a.css".into(), priority: Some("u=0".into()) }];
    observe(&Observations {
        origin: ORIGIN,
        path: "/",
        trace,
        report: &report.to_string(),
        requests: &requests,
    })
    .map_err(|error| error.to_string())
}

#[test]
fn fetches_are_read_by_request_so_that_a_url_can_be_fetched_twice() {
    let capture = seen(&trace(), &report()).unwrap();
    let paths: Vec<&str> = capture.fetches.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["/", "/a.css", "/a.css"], "the icon is none of the page's");
    let style = &capture.fetches[1];
    assert_eq!((style.discovered_ms, style.finished_ms), (8.0, 10.5));
    assert_eq!((style.bytes, style.decoded_bytes), (5, 10));
    assert_eq!(style.priority.as_deref(), Some("u=0"));
    assert_eq!(style.initiator.place, Some((0, 9)));
    assert_eq!(style.protocol, "h3");
}

#[test]
fn other_hosts_and_data_urls_are_not_fetches() {
    let mut events = trace();
    for (id, url) in [("8", "https://elsewhere.test/a.js"), ("9", "data:text/css,a{}")] {
        let data = json!({"frame": "F", "requestId": id, "url": url, "resourceType": "Script"});
        events.push(event("ResourceSendRequest", 1_040_000, &data));
        events.push(event("ResourceFinish", 1_041_000, &json!({"requestId": id, "didFail": true})));
    }
    let capture = seen(&events, &report()).unwrap();
    assert_eq!(capture.fetches.len(), 3);
    assert_eq!(capture.other_hosts, ["elsewhere.test"]);
}

#[test]
fn a_request_that_never_ends_or_has_no_initiator_or_no_response_is_survived() {
    let mut events = trace();
    let data = |id: &str| json!({"frame": "F", "requestId": id, "url": format!("{ORIGIN}/{id}"), "resourceType": "Image"});
    events.push(event("ResourceSendRequest", 1_050_000, &data("endless")));
    events.push(event("ResourceSendRequest", 1_060_000, &data("failed")));
    events.push(event(
        "ResourceFinish",
        1_061_000,
        &json!({"requestId": "failed", "didFail": true}),
    ));
    let capture = seen(&events, &report()).unwrap();
    assert_eq!(capture.fetches.len(), 4);
    assert_eq!((capture.fetches[3].status, capture.fetches[3].initiator.kind.as_str()), (None, ""));
}

#[test]
fn redirects_service_workers_and_loads_that_never_were_are_refused_by_name() {
    let mut moved = report();
    moved["url"] = json!("https://elsewhere.test/home");
    let error = seen(&trace(), &moved).unwrap_err();
    assert_eq!(error, "page: / led to https://elsewhere.test/home; record that page itself");
    let mut worker = report();
    worker["serviceWorker"] = json!(true);
    assert!(seen(&trace(), &worker).unwrap_err().starts_with("page: a service worker answers"));
    let error = seen(&[], &report()).unwrap_err();
    assert_eq!(error, format!("browser: it never navigated to {ORIGIN}/"));
    let error = seen(&trace()[..1], &report()).unwrap_err();
    assert_eq!(error, "page: / was never requested");
    assert!(
        seen(&trace(), &json!("?")).unwrap_err().starts_with("browser: its report cannot be read")
    );
}
