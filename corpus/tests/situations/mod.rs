//! Situations of users' recordings, one per test, each beside the plain recording: a document of 12 000 bytes, a stylesheet of 8000, a
//! script of 20 000 and an image of 90 000.

use super::label;
use corpus::import::{Addresses, Imported, Label, import, import_text};
use corpus::page::Page;
use serde_json::{Value, json};
use std::io::Write;

const SIZES: [u64; 4] = [12_000, 8000, 20_000, 90_000];

fn entry(second: &str, path: &str, mime: &str, size: (u64, u64)) -> Value {
    let url =
        if path.starts_with("http") { path.to_owned() } else { format!("https://shop.test{path}") };
    json!({"startedDateTime": format!("2026-03-01T10:00:{second}Z"), "time": 60, "pageref": "page_1",
        "request": {"method": "GET", "url": url, "headers": []},
        "response": {"status": 200, "headersSize": -1, "bodySize": size.1,
            "headers": [{"name": "content-type", "value": mime}], "content": {"size": size.0, "mimeType": mime}},
        "timings": {"wait": 50, "receive": 9}})
}

fn plain() -> Vec<Value> {
    vec![
        entry("00.000", "/", "text/html", (40_000, 12_000)),
        entry("00.090", "/a.css", "text/css", (30_000, 8000)),
        entry("00.091", "/a.js", "text/javascript", (70_000, 20_000)),
        entry("00.092", "/hero.jpg", "image/jpeg", (90_000, 90_000)),
    ]
}

fn har_of(creator: &str, entries: &[Value]) -> Value {
    json!({"log": {"creator": {"name": creator, "version": "1"},
        "pages": [{"id": "page_1", "startedDateTime": "2026-03-01T10:00:00.000Z", "title": "x", "pageTimings": {"onLoad": 400}}],
        "entries": entries}})
}

fn imported(text: &str) -> Imported {
    import_text(text, Label { addresses: Addresses::Kept, ..label() }).unwrap()
}

fn page_of(entries: &[Value]) -> Page {
    imported(&har_of("field", entries).to_string()).page
}

fn sizes(page: &Page) -> Vec<u64> {
    page.resources.iter().map(|it| it.bytes).collect()
}

/// The page of the plain recording after a change to each entry.
fn changed(change: impl Fn(usize, &mut Value)) -> Page {
    let mut entries = plain();
    entries.iter_mut().enumerate().for_each(|(at, it)| change(at, it));
    page_of(&entries)
}

fn set_fields(entry: &mut Value, fields: &[(&str, String)]) {
    let listed = fields.iter().map(|(name, value)| json!({"name": name, "value": value}));
    entry["response"]["headers"] = listed.collect();
}

#[test]
fn the_plain_recording_has_its_sizes() {
    assert_eq!(sizes(&changed(|_, _| {})), SIZES);
}

#[test]
fn a_body_that_counts_the_head_is_corrected_by_the_content_length() {
    // Firefox 43 to 146; one response has no Content-Length.
    let firefox = changed(|at, it| {
        it["response"]["headersSize"] = json!(800);
        it["response"]["bodySize"] = json!(SIZES[at] + 800);
        let length =
            [("Content-Length", SIZES[at].to_string()), ("content-encoding", "gzip".into())];
        set_fields(it, &length[usize::from(at == 2)..]);
    });
    assert_eq!(sizes(&firefox), SIZES);
    // chrome-har over HTTP/2: the body is the whole response, and no size of a head is stated.
    let chrome_har = changed(|at, it| {
        it["response"]["bodySize"] = json!(SIZES[at] + 300);
        it["response"]["_transferSize"] = json!(SIZES[at] + 300);
        let length = [
            ("content-length", SIZES[at].to_string()),
            ("content-encoding", "br".into()),
            ("content-security-policy", "x".repeat(500)),
        ];
        set_fields(it, &length[usize::from(at == 0)..]);
    });
    assert_eq!(sizes(&chrome_har), SIZES);
}

#[test]
fn a_content_length_is_enough() {
    // Safari.
    let safari = changed(|at, it| {
        it["response"]["bodySize"] = json!(-1);
        it["response"]["content"]["size"] = json!(0);
        set_fields(it, &[("Content-Length", SIZES[at].to_string())]);
    });
    assert_eq!(sizes(&safari), SIZES);
}

/// A log with these (path, type, MIME type, whole, bytes when the head was there, Content-Length) of responses.
fn devtools(responses: &[(&str, &str, &str, u64, u64, u64)]) -> String {
    let mut events = Vec::new();
    for (at, &(path, used_as, mime, whole, at_head, length)) in responses.iter().enumerate() {
        let (id, url) = (at.to_string(), format!("https://shop.test{path}"));
        let second = 100.0 + at as f64 / 10.0;
        events.extend([
            json!({"method": "Network.requestWillBeSent", "params": {"requestId": id, "timestamp": second, "type": used_as, "frameId": "F",
                "request": {"url": url, "method": "GET"}, "initiator": {"type": "parser", "url": "https://shop.test/", "lineNumber": 3}}}),
            json!({"method": "Network.responseReceived", "params": {"requestId": id, "timestamp": second + 0.05, "response": {"status": 200,
                "mimeType": mime, "encodedDataLength": at_head, "headers": {"content-length": length.to_string()}}}}),
            json!({"method": "Network.dataReceived", "params": {"requestId": id, "timestamp": second + 0.06, "dataLength": length,
                "encodedDataLength": whole - at_head}}),
            json!({"method": "Network.loadingFinished", "params": {"requestId": id, "timestamp": second + 0.09, "encodedDataLength": whole}}),
        ]);
    }
    events.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n"
}

const LOGGED: [(&str, &str, &str, u64, u64, u64); 2] = [
    ("/", "Document", "text/html", 12_500, 500, 12_000),
    ("/font.woff2", "Font", "font/woff2", 46_832, 40_960, 45_952),
];

#[test]
fn what_came_with_the_head_of_a_devtools_log_is_body() {
    let log = devtools(&LOGGED);
    assert_eq!(sizes(&imported(&log).page), [12_000, 45_952]);
    // Without a Content-Length, the other responses tell how long a head is.
    let log = log.replace("{\"content-length\":\"45952\"}", "{\"content-encoding\":\"br\"}");
    let size = sizes(&imported(&log).page)[1];
    assert!((45_952..46_832).contains(&size), "{size}");
}

#[test]
fn a_line_that_is_cut_is_left_out_and_named() {
    let log = devtools(&LOGGED);
    let pretty: String = log
        .lines()
        .map(|it| {
            serde_json::to_string_pretty(&serde_json::from_str::<Value>(it).unwrap()).unwrap()
        })
        .collect();
    assert_eq!(imported(&pretty), imported(&log));
    let cut = log.replacen('\n', "\n{\"method\":\"Network.dataRec\n", 1) + "{\"method\":";
    let Imported { page, notes } = imported(&cut);
    assert_eq!(sizes(&page), [12_000, 45_952]);
    assert!(
        notes.iter().any(|it| it.starts_with("lines left out: line 2: is not JSON")),
        "{notes:?}"
    );
}

#[test]
fn a_load_from_the_cache_is_not_the_largest() {
    let second = |change: &dyn Fn(&mut Value)| {
        let mut entries = plain();
        for mut it in plain() {
            it["pageref"] = json!("page_2");
            it["startedDateTime"] = json!(text(&it, "startedDateTime").replace("T10", "T11"));
            change(&mut it);
            entries.push(it);
        }
        let Imported { page, notes } = imported(&har_of("field", &entries).to_string());
        assert!(
            notes.iter().any(|it| it.contains("load 1 (https://shop.test/) of 2 is kept")),
            "{notes:?}"
        );
        sizes(&page)
    };
    let cached = second(&|it| {
        it["_fromCache"] = json!("disk");
        it["response"]["bodySize"] = json!(0);
        it["response"]["_transferSize"] = json!(0);
    });
    assert_eq!(cached, SIZES);
    let unchanged = second(&|it| {
        if it["request"]["url"] == "https://shop.test/" {
            it["response"]["bodySize"] = json!(12_050);
        } else {
            it["response"]["status"] = json!(304);
        }
    });
    assert_eq!(unchanged, SIZES);
}

fn text(of: &Value, key: &str) -> String {
    of[key].as_str().unwrap().to_owned()
}

#[test]
fn a_document_that_the_cache_had_stays_the_page() {
    let mut entries = plain();
    entries[0]["response"]["status"] = json!(304);
    entries[0]["response"]["bodySize"] = json!(0);
    entries.push(entry("00.300", "https://ads.test/frame.html", "text/html", (5000, 3000)));
    let page = page_of(&entries);
    assert_eq!((page.url(0).as_str(), page.resources[0].status), ("https://shop.test/", 200));
    assert_eq!(sizes(&page)[1..], [8000, 20_000, 90_000, 3000]);
}

#[test]
fn a_document_is_known_in_any_case_and_at_any_host() {
    let shouted = changed(|at, it| {
        if at == 0 {
            it["response"]["content"]["mimeType"] = json!("Text/HTML;Charset=UTF-8");
        }
    });
    assert_eq!(sizes(&shouted), SIZES);
    let icons = har_of("field", &plain()).to_string().replace("shop.test", "favicons.test");
    assert_eq!(sizes(&imported(&icons).page), SIZES);
    // Its type says nothing, but what the browser used it as does.
    let typed = changed(|at, it| {
        it["_resourceType"] = json!(["document", "stylesheet", "script", "image"][at]);
        if at == 0 {
            it["response"]["content"]["mimeType"] = json!("application/octet-stream");
        }
    });
    assert_eq!((sizes(&typed), typed.resources[0].mime.as_str()), (SIZES.to_vec(), "text/html"));
}

#[test]
fn a_document_that_was_not_found_is_refused_by_status_and_address() {
    let mut entries = plain();
    entries[0]["response"]["status"] = json!(404);
    let error = import_text(&har_of("field", &entries).to_string(), label()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "request 1 (https://shop.test/): the document came with status 404; record the page again when it loads"
    );
}

#[test]
fn bytes_that_some_programs_write_are_read() {
    let har = har_of("field", &plain());
    let mut damaged = har.clone();
    damaged["log"]["entries"][1]["response"]["content"]["text"] = json!("HALF");
    let damaged =
        damaged.to_string().replace("HALF", "\\ud83d").replace("\"time\":60", "\"time\":NaN");
    for text in [format!("\u{feff}{har}"), serde_json::to_string_pretty(&har).unwrap(), damaged] {
        assert_eq!(sizes(&imported(&text).page), SIZES);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.har");
    let units = har.to_string().encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    std::fs::write(&path, [&[0xff, 0xfe], units.as_slice()].concat()).unwrap();
    assert_eq!(sizes(&import(&path, None).unwrap().page), SIZES);
    // `cat a.gz b.gz` has two members.
    let text = har.to_string();
    let (begin, end) = text.as_bytes().split_at(500);
    let member = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    std::fs::write(&path, [member(begin), member(end)].concat()).unwrap();
    assert_eq!(sizes(&import(&path, None).unwrap().page), SIZES);
}

#[test]
fn null_lists_and_numbers_as_text_are_read() {
    let mut har = har_of("field", &plain());
    har["log"]["pages"] = json!(null);
    assert_eq!(sizes(&imported(&har.to_string()).page), SIZES);
    let web_page_test = changed(|at, it| {
        let response = &mut it["response"];
        response["status"] = json!("200");
        (response["bodySize"], response["content"]["size"]) = (json!(0), json!("0"));
        it["_objectSize"] = json!(SIZES[at].to_string());
        it["_bytesIn"] = json!((SIZES[at] + 500).to_string());
        it["time"] = json!("60");
    });
    assert_eq!(sizes(&web_page_test), SIZES);
}

#[test]
fn an_entry_that_no_page_can_hold_is_left_out_and_named() {
    let beacon = |second: &str, path: &str| entry(second, path, "image/gif", (43, 43));
    let long = beacon("00.200", &format!("https://beacon.test/b.gif?{}", "x".repeat(9000)));
    let huge = entry("00.200", "/huge.bin", "application/zip", (3_000_000_000, 3_000_000_000));
    let mut late = beacon("00.200", "/late.gif");
    late["startedDateTime"] = json!("2027-03-01T10:00:00Z");
    let mut undated = beacon("00.200", "/undated.gif");
    undated["startedDateTime"] = json!(null);
    for (bad, cause) in [
        (
            long,
            "their paths have more than 8192 bytes: 1: request 5 (https://beacon.test/b.gif?xxx",
        ),
        (
            huge,
            "their bodies have more than 2000000000 bytes: 1: request 5 (https://shop.test/huge.bin)",
        ),
        (
            late,
            "they came more than a day after the document: 1: request 5 (https://shop.test/late.gif)",
        ),
        (
            undated,
            "their startedDateTime is not a date: 1: request 5 (https://shop.test/undated.gif)",
        ),
        (json!(null), "they have no address: 1: request 5"),
        (beacon("00.200", "https://"), "their addresses have no host: 1: request 5 (https://)"),
        (
            beacon("00.200", "http://[::1/x"),
            "their addresses have no host: 1: request 5 (http://[::1/x)",
        ),
    ] {
        let mut entries = plain();
        entries.push(bad);
        let Imported { page, notes } = imported(&har_of("field", &entries).to_string());
        assert_eq!(sizes(&page), SIZES);
        let note = format!("requests left out because {cause}");
        assert!(notes.iter().any(|it| it.starts_with(&note)), "{note}: {notes:?}");
    }
    // Letters that are not printable are encoded, as browsers do.
    let mut entries = plain();
    entries.push(beacon("00.200", "https://anna@Shop.test/ü b.gif"));
    assert_eq!(page_of(&entries).url(4), "https://shop.test/%C3%BC%20b.gif");
}

#[test]
fn offsets_of_dates_count() {
    let zoned = |zone: &str, hour: &str| {
        changed(|_, it| {
            let date = text(it, "startedDateTime").replace("T10", hour).replace('Z', zone);
            it["startedDateTime"] = json!(date);
        })
    };
    let plain = changed(|_, _| {});
    assert_eq!(zoned("+02:00", "T12"), plain);
    assert_eq!(zoned("-0330", "T06"), zoned("-03:30", "T06"));
    // Some write the time of day of their place as if it were in UTC.
    assert_eq!(zoned("Z", "T12"), plain);
}

#[test]
fn a_har_file_tells_places_priorities_and_redirects_like_other_recordings() {
    let with = |initiated: &dyn Fn(u64) -> Value| {
        let page = changed(|at, it| {
            if at > 0 {
                let line = [0, 3, 4, 900][at];
                for (key, value) in initiated(line).as_object().unwrap() {
                    it[key] = value.clone();
                }
            }
        });
        page.resources.iter().filter_map(|it| it.trigger.byte).collect::<Vec<_>>()
    };
    let url = "https://shop.test/";
    let chrome =
        with(&|line| json!({"_initiator": {"type": "parser", "url": url, "lineNumber": line}}));
    let sitespeed = with(
        &|line| json!({"_initiator": url, "_initiator_type": "parser", "_initiator_line": line + 1}),
    );
    assert_eq!(chrome, [177, 221, 40_000]);
    assert_eq!(sitespeed, chrome);
    let redirected = |to: &str| {
        let mut entries = plain();
        let mut moved = entry("00.090", "/latest.js", "text/html", (0, 0));
        moved["response"]["status"] = json!(302);
        moved["response"]["redirectURL"] = json!(to);
        entries.push(moved);
        entries.push(entry("00.112", "/v3/lib.js", "text/javascript", (90_000, 30_000)));
        let mut data = entry("00.250", "/data.json", "application/json", (9000, 5000));
        data["_initiator"] = json!({"type": "script", "stack": {"callFrames": [{"url": "https://shop.test/latest.js"}]}});
        entries.push(data);
        page_of(&entries).resources[5].trigger.clone()
    };
    assert_eq!(redirected("/v3/lib.js").of, 4);
    assert_eq!(redirected("v3/lib.js"), redirected("https://shop.test/v3/lib.js"));
}

#[test]
fn the_fetch_of_a_service_worker_tells_the_size() {
    let mut entries = plain();
    let mut answer = entries[1].clone();
    entries[1]["startedDateTime"] = json!("2026-03-01T10:00:00.095Z");
    answer["response"]["bodySize"] = json!(0);
    answer["response"]["_transferSize"] = json!(0);
    answer["response"]["_fetchedViaServiceWorker"] = json!(true);
    entries.insert(1, answer);
    assert_eq!(sizes(&page_of(&entries)), SIZES);
}

#[test]
fn a_film_in_parts_is_as_large_as_its_ranges() {
    let mut entries = plain();
    for (second, first, last) in
        [("00.200", 0, 65_535), ("00.300", 900_000, 999_999), ("00.400", 65_536, 99_999)]
    {
        let bytes = last - first + 1;
        let mut part = entry(second, "/film.mp4", "video/mp4", (bytes, bytes));
        part["response"]["status"] = json!(206);
        let range = ("Content-Range", format!("bytes {first}-{last}/1000000"));
        set_fields(&mut part, &[range, ("Content-Length", bytes.to_string())]);
        entries.push(part);
    }
    let page = page_of(&entries);
    assert_eq!((sizes(&page)[4], page.resources[4].status), (200_000, 200));
}

fn heroes(page: &Page) -> Vec<String> {
    page.resources.iter().filter(|it| it.hero).map(|it| it.url.clone()).collect()
}

#[test]
fn a_background_that_the_browser_raised_is_a_hero() {
    let page = changed(|at, it| {
        it["_initialPriority"] = json!(["VeryHigh", "VeryHigh", "Medium", "Low"][at]);
        it["_priority"] = json!(["VeryHigh", "VeryHigh", "Medium", "High"][at]);
        if at == 3 {
            it["_initiator"] = json!({"type": "parser", "url": "https://shop.test/a.css"});
        }
    });
    assert_eq!(heroes(&page), ["/hero.jpg"]);
    // Newer versions of Chrome write the last priority only. Images that it did not raise are not visible.
    let mut entries = plain();
    entries.push(entry("00.093", "/below.jpg", "image/jpeg", (50_000, 50_000)));
    for (it, priority) in entries.iter_mut().zip(["VeryHigh", "VeryHigh", "Low", "High", "Medium"])
    {
        it["_priority"] = json!(priority);
    }
    entries[3]["_initiator"] = json!({"type": "parser", "url": "https://shop.test/a.css"});
    entries[4]["_initiator"] =
        json!({"type": "parser", "url": "https://shop.test/", "lineNumber": 90});
    assert_eq!(heroes(&page_of(&entries)), ["/hero.jpg"]);
}

#[test]
fn the_image_of_the_largest_contentful_paint_is_a_hero() {
    let mut log = devtools(&[LOGGED[0], ("/logo.svg", "Image", "image/svg+xml", 5200, 200, 5000)]);
    let paint = |url: &str, frame: &str| {
        let paint = json!({"frameId": frame, "type": "largest-contentful-paint", "lcpDetails": {"url": url}});
        json!({"method": "PerformanceTimeline.timelineEventAdded", "params": {"event": paint}})
            .to_string()
            + "\n"
    };
    assert!(heroes(&imported(&log).page).is_empty());
    log += &paint("", "F");
    log += &paint("https://shop.test/logo.svg", "F");
    log += &paint("https://shop.test/else.png", "a frame within");
    assert_eq!(heroes(&imported(&log).page), ["/logo.svg"]);
    // A larger text came later.
    log += &paint("", "F");
    assert!(heroes(&imported(&log).page).is_empty());
}

#[test]
fn pages_of_one_domain_are_of_one_site() {
    let site = |host: &str, addresses, site: Option<&str>| {
        let text = har_of("field", &plain()).to_string().replace("shop.test", host);
        let label = Label { addresses, site: site.map(str::to_owned), ..label() };
        import_text(&text, label).unwrap().page.source.site
    };
    let kept = site("de.wikipedia.org", Addresses::Kept, None);
    assert_eq!(kept.as_deref(), Some("wikipedia.org"));
    let renamed = site("de.wikipedia.org", Addresses::Renamed, None);
    assert_eq!(renamed, site("en.wikipedia.org", Addresses::Renamed, None));
    assert!(renamed.as_ref().is_some_and(|it| it.starts_with("site-") && it.len() == 10));
    assert_ne!(renamed, site("www.example.org", Addresses::Renamed, None));
    assert_eq!(site("127.0.0.1", Addresses::Renamed, None), None);
    // The list does not have this suffix.
    for host in ["www.news.test", "m.news.test"] {
        assert_eq!(site(host, Addresses::Kept, None).as_deref(), Some("news.test"));
    }
    let own = site("de.wikipedia.org", Addresses::Renamed, Some("mine"));
    assert_eq!(own.as_deref(), Some("mine"));
}
