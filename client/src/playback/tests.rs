//! A golden timeline for each row of the trigger table, and properties of every page.

mod rendering;

use super::Playback;
use corpus::Page;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

/// The network's treatment of a resource.
#[derive(Debug, Clone, Copy)]
enum Net {
    /// This many body bytes have arrived.
    Bytes(usize, u64),
    /// The response is complete.
    Done(usize),
}
use Net::{Bytes, Done};

/// A page with a document of 1000 decoded bytes, 100 on the wire, and `others`: for each, kind, trigger and
/// further fields.
fn page(others: &[(&str, Value, Value)]) -> Arc<Page> {
    Arc::new(try_page(others).unwrap())
}

fn try_page(others: &[(&str, Value, Value)]) -> Result<Page, corpus::PageError> {
    let mut resources = vec![json!({
        "id": 0, "url": "/", "kind": "html", "mime": "text/html", "bytes": 100,
        "decoded_bytes": 1000, "main": true, "trigger": {"on": "nav"}
    })];
    for (index, (kind, trigger, more)) in others.iter().enumerate() {
        let mime = match *kind {
            "css" => "text/css",
            "js" => "text/javascript",
            "font" => "font/woff2",
            _ => "image/png",
        };
        let mut resource = json!({
            "id": index + 1, "url": format!("/{}", index + 1), "kind": kind, "mime": mime,
            "bytes": 100, "trigger": trigger
        });
        for (key, value) in more.as_object().unwrap() {
            resource[key] = value.clone();
        }
        resources.push(resource);
    }
    let text = json!({
        "format": "utmost-page/1", "name": "test", "viewport": [1366, 768],
        "source": {"kind": "hand", "from": "a test", "licence": "none"},
        "origins": [{"host": "test", "party": "first"}], "resources": resources
    });
    Page::parse(&text.to_string(), "test")
}

/// Plays a page whose network does `events` (at milliseconds); t0 is 0. `3@12.5` is the discovery of
/// resource 3 at 12.5 ms. Ends with the resources that stay undiscovered, if any.
fn timeline(page: &Arc<Page>, events: &[(f64, Net)]) -> String {
    let mut playback = Playback::new(Arc::clone(page));
    let mut line = String::new();
    playback.start(0);
    for &(at_ms, event) in events {
        let at_us = super::micros(at_ms);
        while let Some(step_us) = playback.next_timeout_us().filter(|&it| it < at_us) {
            write_due(&mut playback, step_us, &mut line);
        }
        match event {
            Bytes(id, bytes) => playback.arrived(id, bytes, at_us),
            Done(id) => playback.completed(id, at_us),
        }
    }
    while let Some(step_us) = playback.next_timeout_us() {
        write_due(&mut playback, step_us, &mut line);
    }
    let unreachable = playback.unreachable();
    if !unreachable.is_empty() {
        write!(line, " unreachable {unreachable:?}").unwrap();
    }
    line.trim().to_owned()
}

fn write_due(playback: &mut Playback, at_us: u64, line: &mut String) {
    for id in playback.due(at_us) {
        write!(line, " {id}@{}", Value::from(at_us as f64 / 1000.0)).unwrap();
    }
    *line = line.replace(".0 ", " ").trim_end_matches(".0").to_owned();
}

fn none() -> Value {
    json!({})
}

#[test]
fn the_document_is_discovered_at_t0() {
    let page = page(&[]);
    assert_eq!(timeline(&page, &[]), "0@0");
    let mut later = Playback::new(page);
    assert!(later.due(70).is_empty());
    later.start(70);
    assert_eq!(later.next_timeout_us(), Some(70));
    assert_eq!(later.due(70), [0]);
    assert!(later.due(71).is_empty());
}

#[test]
fn bytes_map_linearly_from_decoded_to_wire() {
    let at = |byte: u64| ("image", json!({"on": "bytes", "of": 0, "byte": byte}), none());
    let page = page(&[at(0), at(10), at(11), at(500), at(1000)]);
    let events = [
        (10.0, Bytes(0, 0)),
        (20.0, Bytes(0, 1)),
        (30.0, Bytes(0, 2)),
        (40.0, Bytes(0, 49)),
        (50.0, Bytes(0, 50)),
        (60.0, Bytes(0, 99)),
        (70.0, Bytes(0, 100)),
        (80.0, Done(0)),
    ];
    assert_eq!(timeline(&page, &events), "0@0 1@20 2@20 3@30 4@50 5@70");
}

#[test]
fn a_document_is_read_when_its_browser_has_committed_to_it() {
    let at = |byte: u64| ("image", json!({"on": "bytes", "of": 0, "byte": byte}), none());
    let complete = ("image", json!({"on": "complete", "of": 0, "delay_ms": 1.0}), none());
    let mut page = Page::clone(&page(&[at(10), at(500), at(1000), complete]));
    page.commit_ms = 35.0;
    let page = Arc::new(page);
    // Later bytes are read at once.
    let slow = [(10.0, Bytes(0, 1)), (30.0, Bytes(0, 50)), (50.0, Bytes(0, 100)), (60.0, Done(0))];
    assert_eq!(timeline(&page, &slow), "0@0 1@45 2@45 3@50 4@61");
    let fast = [(10.0, Bytes(0, 100)), (11.0, Done(0))];
    assert_eq!(timeline(&page, &fast), "0@0 1@45 2@45 3@45 4@46");
    let at_the_moment = [(10.0, Bytes(0, 50)), (45.0, Done(0))];
    assert_eq!(timeline(&page, &at_the_moment), "0@0 1@45 2@45 3@45 4@46");
}

#[test]
fn a_delay_runs_from_the_event_and_a_negative_one_is_none() {
    let page = page(&[
        ("image", json!({"on": "bytes", "of": 0, "byte": 10, "delay_ms": 2.5}), none()),
        ("image", json!({"on": "bytes", "of": 0, "byte": 10, "delay_ms": -5.0}), none()),
    ]);
    assert_eq!(timeline(&page, &[(10.0, Bytes(0, 1))]), "0@0 2@10 1@12.5");
}

#[test]
fn complete_waits_for_the_end_of_the_response() {
    let page = page(&[("image", json!({"on": "complete", "of": 0, "delay_ms": 1.0}), none())]);
    assert_eq!(timeline(&page, &[(10.0, Bytes(0, 100)), (25.0, Done(0))]), "0@0 1@26");
}

#[test]
fn css_import_waits_for_arrival_and_not_for_application() {
    let page = page(&[
        (
            "css",
            json!({"on": "bytes", "of": 0, "byte": 10}),
            json!({"critical": true, "exec_ms": 50.0}),
        ),
        ("css", json!({"on": "css_import", "of": 1, "delay_ms": 3.0}), none()),
    ]);
    assert_eq!(timeline(&page, &[(10.0, Bytes(0, 1)), (20.0, Done(1))]), "0@0 1@10 2@23");
}

#[test]
fn css_applied_waits_for_its_sheet_and_every_earlier_blocking_one() {
    let blocking = json!({"critical": true, "exec_ms": 5.0});
    let head = || json!({"on": "bytes", "of": 0, "byte": 10});
    let page = page(&[
        ("css", head(), blocking.clone()),
        ("css", head(), json!({"exec_ms": 5.0})),
        ("css", head(), blocking.clone()),
        ("css", head(), blocking.clone()),
        ("font", json!({"on": "css_applied", "of": 3}), none()),
        ("font", json!({"on": "css_applied", "of": 1}), none()),
    ]);
    // 3 is applied at 25, 1 only at 45; 2 does not block rendering, 4 is not earlier than 3.
    let events =
        [(10.0, Bytes(0, 1)), (20.0, Done(3)), (40.0, Done(1)), (60.0, Done(2)), (70.0, Done(4))];
    assert_eq!(timeline(&page, &events), "0@0 1@10 2@10 3@10 4@10 5@45 6@45");
}

#[test]
fn style_applied_waits_for_every_blocking_sheet() {
    let head = || json!({"on": "bytes", "of": 0, "byte": 10});
    let page = page(&[
        ("css", head(), json!({"critical": true, "exec_ms": 5.0})),
        ("css", head(), json!({"critical": true, "exec_ms": 5.0})),
        ("css", head(), json!({"exec_ms": 5.0})),
        ("image", json!({"on": "style_applied", "delay_ms": 1.0}), none()),
    ]);
    let events = [(10.0, Bytes(0, 1)), (20.0, Done(2)), (30.0, Done(1)), (90.0, Done(3))];
    assert_eq!(timeline(&page, &events), "0@0 1@10 2@10 3@10 4@36");
}

#[test]
fn style_applied_without_blocking_sheets_is_the_arrival_of_the_document() {
    let page = page(&[("image", json!({"on": "style_applied"}), none())]);
    assert_eq!(timeline(&page, &[(10.0, Bytes(0, 100)), (30.0, Done(0))]), "0@0 1@30");
}

#[test]
fn exec_is_the_begin_and_timer_the_end_of_an_execution() {
    let page = page(&[
        ("js", json!({"on": "bytes", "of": 0, "byte": 10}), json!({"exec_ms": 40.0})),
        ("image", json!({"on": "exec", "of": 1, "delay_ms": 2.0}), none()),
        ("image", json!({"on": "timer", "of": 1, "delay_ms": 2.0}), none()),
    ]);
    assert_eq!(timeline(&page, &[(10.0, Bytes(0, 1)), (20.0, Done(1))]), "0@0 1@10 2@22 3@62");
}

#[test]
fn dcl_waits_for_the_document_and_for_sync_and_defer_scripts() {
    let script = |mode: &str| {
        ("js", json!({"on": "bytes", "of": 0, "byte": 10}), json!({"script": mode, "exec_ms": 5.0}))
    };
    let page = page(&[
        script("sync"),
        script("defer"),
        script("async"),
        ("image", json!({"on": "dcl", "delay_ms": 1.0}), none()),
    ]);
    let events =
        [(10.0, Bytes(0, 1)), (20.0, Done(0)), (30.0, Done(2)), (40.0, Done(1)), (99.0, Done(3))];
    assert_eq!(timeline(&page, &events), "0@0 1@10 2@10 3@10 4@46");
}

#[test]
fn load_waits_for_what_is_discovered_before_it_but_not_for_lazy_images() {
    let early = || json!({"on": "bytes", "of": 0, "byte": 10});
    let page = page(&[
        ("image", early(), none()),
        ("image", early(), json!({"lazy": true})),
        ("image", json!({"on": "load", "delay_ms": 1.0}), none()),
        ("image", json!({"on": "complete", "of": 1}), none()),
    ]);
    // 4 is discovered in the instant in which 1 is complete, and so before the load event.
    let events =
        [(10.0, Bytes(0, 1)), (20.0, Done(0)), (50.0, Done(1)), (60.0, Done(4)), (99.0, Done(2))];
    assert_eq!(timeline(&page, &events), "0@0 1@10 2@10 4@50 3@61");
}

#[test]
fn the_parser_is_in_the_head_until_the_first_part_is_looked_through_and_its_scripts_are_executed() {
    let reference = |byte: u64| json!({"on": "bytes", "of": 0, "byte": byte, "delay_ms": 5.0});
    let page = page(&[
        ("js", reference(10), json!({"in_head": true, "exec_ms": 7.0})),
        ("js", reference(20), json!({"in_head": true, "script": "defer", "exec_ms": 90.0})),
    ]);
    let mut playback = Playback::new(page);
    playback.start(0);
    let mut at = |ms: f64, event: Option<Net>| {
        let at_us = super::micros(ms);
        match event {
            Some(Bytes(id, bytes)) => playback.arrived(id, bytes, at_us),
            Some(Done(id)) => playback.completed(id, at_us),
            None => {}
        }
        playback.due(at_us);
        playback.is_in_head()
    };
    // The references are found at 10 ms and asked for at 15 ms; the script of the head runs from 30 to 37 ms.
    let seen = [
        at(9.0, None),
        at(10.0, Some(Bytes(0, 50))),
        at(15.0, None),
        at(30.0, Some(Done(1))),
        at(36.9, None),
        at(37.0, None),
    ];
    assert_eq!(seen, [false, true, true, true, true, false]);
}

#[test]
fn references_beyond_the_first_part_of_a_document_leave_the_parser_in_the_body() {
    let reference = |byte: u64| json!({"on": "bytes", "of": 0, "byte": byte, "delay_ms": 5.0});
    let mut page = Arc::unwrap_or_clone(page(&[("image", reference(500), none())]));
    page.resources[0].decoded_bytes = Some(100_000);
    let in_head = |byte: u64| {
        let mut page = page.clone();
        page.resources[1].trigger.byte = Some(byte);
        let mut playback = Playback::new(Arc::new(page));
        playback.start(0);
        playback.completed(0, 1000);
        playback.due(1000);
        playback.is_in_head()
    };
    assert_eq!([65_535, 65_536].map(in_head), [true, false]);
}

#[test]
fn load_does_not_come_before_dcl() {
    let page = page(&[
        (
            "js",
            json!({"on": "bytes", "of": 0, "byte": 10}),
            json!({"script": "sync", "exec_ms": 30.0}),
        ),
        ("image", json!({"on": "load"}), none()),
    ]);
    assert_eq!(timeline(&page, &[(10.0, Done(0)), (20.0, Done(1))]), "0@0 1@10 2@50");
}

#[test]
fn needs_wait_for_the_end_of_execution_and_the_delay_comes_after() {
    let page = page(&[
        ("js", json!({"on": "bytes", "of": 0, "byte": 10}), json!({"exec_ms": 30.0})),
        ("image", json!({"on": "bytes", "of": 0, "byte": 10}), none()),
        (
            "image",
            json!({"on": "bytes", "of": 0, "byte": 20, "needs": [1, 2], "delay_ms": 4.0}),
            none(),
        ),
    ]);
    let events = [(10.0, Bytes(0, 2)), (20.0, Done(1)), (25.0, Done(2))];
    assert_eq!(timeline(&page, &events), "0@0 1@10 2@10 3@54");
}

#[test]
fn the_main_thread_keeps_to_eval_order_then_completion() {
    let script = |more| ("js", json!({"on": "bytes", "of": 0, "byte": 10}), more);
    let at_begin = |of: usize| ("image", json!({"on": "exec", "of": of}), none());
    let page = page(&[
        script(json!({"exec_ms": 10.0, "eval_order": 2})),
        script(json!({"exec_ms": 10.0, "eval_order": 1})),
        script(json!({"exec_ms": 10.0})),
        script(json!({"exec_ms": 10.0})),
        at_begin(1),
        at_begin(2),
        at_begin(3),
        at_begin(4),
    ]);
    // 1 arrives first and waits for 2; 4 runs meanwhile; at 30 the order goes before 3.
    let events =
        [(10.0, Bytes(0, 1)), (15.0, Done(1)), (20.0, Done(4)), (25.0, Done(3)), (28.0, Done(2))];
    assert_eq!(timeline(&page, &events), "0@0 1@10 2@10 3@10 4@10 8@20 6@30 5@40 7@50");
}

#[test]
fn arrivals_of_one_instant_are_weighed_together() {
    let script = |order: u32| {
        let more = json!({"exec_ms": 10.0, "eval_order": order});
        ("js", json!({"on": "bytes", "of": 0, "byte": 10}), more)
    };
    let at_end = |of: usize| ("image", json!({"on": "timer", "of": of}), none());
    let page = page(&[script(1), script(1), at_end(1), at_end(2)]);
    let expected = "0@0 1@10 2@10 3@30 4@40";
    assert_eq!(timeline(&page, &[(10.0, Bytes(0, 1)), (20.0, Done(1)), (20.0, Done(2))]), expected);
    assert_eq!(timeline(&page, &[(10.0, Bytes(0, 1)), (20.0, Done(2)), (20.0, Done(1))]), expected);
}

#[test]
fn an_error_is_never_executed_and_holds_nobody_back() {
    let missing = json!({"status": 404, "exec_ms": 70.0, "critical": true, "eval_order": 0, "script": "sync"});
    let page = page(&[
        ("js", json!({"on": "bytes", "of": 0, "byte": 10}), missing),
        (
            "js",
            json!({"on": "bytes", "of": 0, "byte": 10}),
            json!({"exec_ms": 5.0, "eval_order": 1}),
        ),
        ("image", json!({"on": "exec", "of": 1}), none()),
        ("image", json!({"on": "timer", "of": 2}), none()),
        ("image", json!({"on": "dcl"}), none()),
    ]);
    let events = [(10.0, Done(0)), (20.0, Done(2)), (30.0, Done(1))];
    assert_eq!(timeline(&page, &events), "0@0 1@10 2@10 3@30 5@30 4@35");
}

#[test]
fn an_empty_or_shortened_body_is_there_when_it_is_complete() {
    let page = page(&[
        ("image", json!({"on": "bytes", "of": 0, "byte": 10}), json!({"bytes": 0})),
        ("image", json!({"on": "bytes", "of": 1, "byte": 0}), none()),
        ("image", json!({"on": "bytes", "of": 0, "byte": 1000}), none()),
    ]);
    let events = [(10.0, Bytes(0, 1)), (20.0, Bytes(1, 0)), (30.0, Done(1)), (40.0, Done(0))];
    assert_eq!(timeline(&page, &events), "0@0 1@10 2@30 3@40");
}

#[test]
fn a_push_takes_effect_when_its_resource_is_discovered() {
    let page = page(&[
        ("image", json!({"on": "bytes", "of": 0, "byte": 500}), none()),
        ("image", json!({"on": "bytes", "of": 1, "byte": 50}), none()),
        ("image", json!({"on": "complete", "of": 1}), none()),
    ]);
    let pushed = [(5.0, Bytes(1, 60)), (10.0, Bytes(0, 50)), (20.0, Done(1))];
    assert_eq!(timeline(&page, &pushed), "0@0 1@10 2@10 3@20");
    let early = [(5.0, Done(1)), (10.0, Bytes(0, 50))];
    assert_eq!(timeline(&page, &early), "0@0 1@10 2@10 3@10");
}

#[test]
fn reports_that_repeat_or_run_back_change_nothing() {
    let page = page(&[("image", json!({"on": "bytes", "of": 0, "byte": 500}), none())]);
    let events = [
        (10.0, Bytes(0, 60)),
        (11.0, Bytes(0, 20)),
        (12.0, Done(0)),
        (13.0, Done(0)),
        (14.0, Bytes(0, 100)),
        (15.0, Done(77)),
    ];
    assert_eq!(timeline(&page, &events), "0@0 1@10");
}

#[test]
fn what_cannot_be_discovered_is_named_once_nothing_is_outstanding() {
    let mut broken = Page::clone(&page(&[("image", json!({"on": "complete", "of": 0}), none())]));
    broken.resources[1].trigger.of = 1;
    let mut playback = Playback::new(Arc::new(broken));
    playback.start(0);
    assert_eq!((playback.due(0), playback.unreachable()), (vec![0], vec![]));
    playback.completed(0, 5);
    assert_eq!((playback.due(5), playback.unreachable()), (vec![], vec![1]));
    assert!(!playback.is_done());
}

#[test]
fn the_davies_meenan_page_is_requested_in_the_order_of_the_figure() {
    let page = Arc::new(corpus::bundled("davies-meenan").unwrap().clone());
    for seed in 0..50 {
        let played = play(&page, seed, false);
        assert_eq!(played.iter().map(|it| it.1).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }
}

#[test]
fn every_bundled_page_is_played_to_its_end() {
    for name in corpus::bundled_names() {
        let page = Arc::new(corpus::bundled(name).unwrap().clone());
        assert_eq!(play(&page, 7, false).len(), page.resources.len(), "{name}");
    }
}

/// Plays `page` over a network of random, seeded speed. Returns (time, resource) of each discovery. `reverse`
/// reports simultaneous events in reverse order.
fn play(page: &Arc<Page>, seed: u64, reverse: bool) -> Vec<(u64, usize)> {
    let mut playback = Playback::new(Arc::clone(page));
    let mut network: BTreeSet<(u64, usize, u64)> = BTreeSet::new();
    let mut discoveries = Vec::new();
    let mut now_us = 0;
    playback.start(0);
    loop {
        for id in playback.due(now_us) {
            discoveries.push((now_us, id));
            let mut arrival_us = now_us;
            for part in 1..=4 {
                arrival_us += random(seed, id as u64 * 4 + part) % 4 * 1000;
                network.insert((arrival_us, id, part));
            }
        }
        let next = [playback.next_timeout_us(), network.first().map(|it| it.0)];
        let Some(next_us) = next.into_iter().flatten().min() else { break };
        assert!(next_us >= now_us, "time ran back");
        now_us = next_us;
        let mut reports: Vec<_> =
            network.extract_if(..=(now_us, usize::MAX, u64::MAX), |_| true).collect();
        if reverse {
            reports.reverse();
        }
        for (_, id, part) in reports {
            match part {
                4 => playback.completed(id, now_us),
                _ => playback.arrived(id, page.resources[id].bytes * part / 4, now_us),
            }
        }
    }
    assert!(playback.is_done(), "unreachable: {:?}", playback.unreachable());
    discoveries
}

fn random(seed: u64, number: u64) -> u64 {
    let mixed =
        (seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed ^ (mixed >> 29)) % 1_000_003
}

const EVENTS: [&str; 9] = [
    "bytes",
    "complete",
    "css_import",
    "css_applied",
    "style_applied",
    "exec",
    "timer",
    "dcl",
    "load",
];

/// Raw numbers of a resource: kind, event, of, need, delay, execution, flags.
type Raw = (usize, usize, usize, usize, u32, u32, u8);

fn random_page(raw: &[Raw]) -> Option<Arc<Page>> {
    let mut others: Vec<(&str, Value, Value)> = Vec::new();
    for (index, &(kind, event, of, need, delay, execution, flags)) in raw.iter().enumerate() {
        let id = index + 1;
        let kind = ["css", "js", "font", "image"][kind % 4];
        let kinds: Vec<&str> = others.iter().map(|it| it.0).collect();
        let kind_of = |of: usize| if of == 0 { "html" } else { kinds[of - 1] };
        let of = of % id;
        let fits = |event: &str| match event {
            "css_import" | "css_applied" => kind_of(of) == "css",
            "exec" | "timer" => kind_of(of) == "js",
            "style_applied" | "dcl" | "load" => of == 0,
            _ => true,
        };
        let mut events = EVENTS;
        events.rotate_left(event % EVENTS.len());
        let on = events.into_iter().find(|it| fits(it))?;
        let mut trigger = json!({"on": on, "of": of, "delay_ms": f64::from(delay % 5)});
        if on == "bytes" {
            trigger["byte"] = json!(delay % 100);
        }
        if need % 3 == 0 {
            trigger["needs"] = json!([need % id]);
        }
        let mut more = json!({"lazy": flags & 1 != 0, "critical": flags & 2 != 0,
            "exec_ms": f64::from(execution % 4), "status": if flags & 0x18 == 0x18 { 404 } else { 200 }});
        if flags & 4 != 0 {
            more["eval_order"] = json!(id / 2);
        }
        if kind == "js" && flags & 32 != 0 {
            more["script"] = json!(["sync", "async", "defer", "module"][usize::from(flags >> 6)]);
        }
        others.push((kind, trigger, more));
    }
    try_page(&others).ok().map(Arc::new)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_global_rejects: 20_000, ..ProptestConfig::default() })]

    /// Whatever the network does, each resource of a valid page is discovered exactly once, in an order that
    /// depends only on times.
    #[test]
    fn every_resource_is_discovered_exactly_once(
        raw in prop::collection::vec(any::<Raw>(), 0..12), seed in any::<u64>()
    ) {
        let Some(page) = random_page(&raw) else { return Err(TestCaseError::reject("a circle")) };
        let discoveries = play(&page, seed, false);
        let ids: BTreeSet<usize> = discoveries.iter().map(|it| it.1).collect();
        prop_assert_eq!(ids.len(), page.resources.len());
        prop_assert_eq!(discoveries.len(), page.resources.len());
        prop_assert!(discoveries.is_sorted_by_key(|it| it.0));
        prop_assert_eq!(&play(&page, seed, true), &discoveries);
    }
}
