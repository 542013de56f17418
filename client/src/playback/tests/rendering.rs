//! When visible changes happen, on small pages.

use super::{Bytes, Done, Net, none, page};
use crate::playback::Playback;
use corpus::Page;
use schedulers::Milestone;
use serde_json::{Value, json};
use std::sync::Arc;

/// The milestones of a page with these network `events` (at milliseconds): `first_render@46`, a region with its weight.
/// A rendering at 30 is seen at 46.7.
fn milestones(page: &Arc<Page>, events: &[(f64, Net)]) -> String {
    let mut playback = Playback::new(Arc::clone(page));
    playback.start(0);
    for &(at_ms, event) in events {
        let at_us = crate::playback::micros(at_ms);
        match event {
            Bytes(id, bytes) => playback.arrived(id, bytes, at_us),
            Done(id) => playback.completed(id, at_us),
        }
        playback.due(at_us);
    }
    playback.run_on();
    let words = |(time_us, milestone): (u64, Milestone)| match milestone {
        Milestone::Region { weight, of } => format!("{weight}/{of}@{}", time_us / 1000),
        _ => format!("{}@{}", milestone.name(), time_us / 1000),
    };
    playback.milestones().into_iter().map(words).collect::<Vec<_>>().join(" ")
}

/// A trigger at a decoded byte of the document.
fn at(byte: u64) -> Value {
    json!({"on": "bytes", "of": 0, "byte": byte})
}

fn sheet() -> Value {
    json!({"critical": true, "in_head": true, "exec_ms": 5.0})
}

fn script(mode: &str) -> Value {
    json!({"script": mode, "in_head": true, "critical": true, "exec_ms": 5.0})
}

#[test]
fn a_page_of_three_is_shown_once_its_stylesheet_is_applied_and_loads_with_its_image() {
    let hero = json!({"hero": true, "above_fold": true, "bytes": 300});
    let page = page(&[("css", at(100), sheet()), ("image", at(500), hero)]);
    let events = [(10.0, Bytes(0, 50)), (20.0, Done(0)), (30.0, Done(1)), (60.0, Done(2))];
    assert_eq!(
        milestones(&page, &events),
        "dom_content_loaded@20 first_render@51 hero_render@76 300/300@76 load@60"
    );
}

#[test]
fn the_document_is_a_region_and_stylesheets_and_scripts_are_not() {
    let seen = json!({"above_fold": true, "critical": true, "in_head": true});
    let mut page = Page::clone(&page(&[("css", at(100), seen)]));
    page.resources[0].above_fold = true;
    let events = [(10.0, Bytes(0, 50)), (20.0, Done(0)), (30.0, Done(1))];
    assert_eq!(
        milestones(&Arc::new(page), &events),
        "dom_content_loaded@20 first_render@46 100/100@46 load@30"
    );
}

#[test]
fn nothing_is_shown_before_the_head_has_arrived() {
    let page = page(&[("js", at(300), json!({"script": "async", "in_head": true}))]);
    let events = [(10.0, Bytes(0, 29)), (20.0, Bytes(0, 30)), (50.0, Done(0)), (60.0, Done(1))];
    assert_eq!(milestones(&page, &events), "first_render@36 dom_content_loaded@50 load@60");
}

#[test]
fn synchronous_scripts_of_the_head_block_rendering_and_others_do_not() {
    let shown = |mode: &str, in_head: bool| {
        let mut more = script(mode);
        more["in_head"] = in_head.into();
        let page = page(&[("js", at(100), more)]);
        milestones(&page, &[(10.0, Bytes(0, 50)), (20.0, Done(0)), (40.0, Done(1))])
    };
    assert_eq!(shown("sync", true), "dom_content_loaded@45 first_render@61 load@45");
    assert_eq!(shown("sync", false), "first_render@26 dom_content_loaded@45 load@45");
    assert_eq!(shown("defer", true), "first_render@26 dom_content_loaded@45 load@45");
    // The load event waits for its arrival.
    assert_eq!(shown("async", true), "first_render@26 dom_content_loaded@20 load@40");
}

#[test]
fn an_import_blocks_as_the_stylesheet_that_imports_it() {
    let import = json!({"on": "css_import", "of": 1, "delay_ms": 10.0});
    let page = page(&[("css", at(100), sheet()), ("css", import, json!({"critical": true}))]);
    let events = [(10.0, Bytes(0, 50)), (30.0, Done(1)), (90.0, Done(2)), (95.0, Done(0))];
    assert_eq!(milestones(&page, &events), "first_render@106 dom_content_loaded@95 load@95");
}

#[test]
fn a_critical_stylesheet_of_the_body_blocks_only_if_it_is_known_by_then() {
    let body = |byte| ("css", at(byte), json!({"critical": true}));
    let events = [(10.0, Bytes(0, 50)), (20.0, Done(0)), (90.0, Done(1))];
    assert_eq!(
        milestones(&page(&[body(500)]), &events),
        "dom_content_loaded@20 first_render@106 load@90"
    );
    assert_eq!(
        milestones(&page(&[body(501)]), &events),
        "first_render@26 dom_content_loaded@20 load@90"
    );
}

#[test]
fn rendering_waits_for_the_main_thread_and_goes_before_the_next_script() {
    let page = page(&[
        ("js", at(10), json!({"script": "async", "exec_ms": 50.0})),
        ("js", at(500), json!({"script": "defer", "exec_ms": 50.0, "in_head": true})),
    ]);
    // The head has arrived at 20, the first script runs from 6 to 56.
    let events = [(5.0, Bytes(0, 1)), (6.0, Done(1)), (20.0, Done(0)), (25.0, Done(2))];
    assert_eq!(milestones(&page, &events), "first_render@72 dom_content_loaded@106 load@106");
}

#[test]
fn the_hero_is_shown_when_all_hero_images_are_and_a_lazy_image_does_not_hold_the_load_event() {
    let hero = json!({"hero": true});
    let page = page(&[
        ("image", at(10), hero.clone()),
        ("image", at(10), hero),
        ("image", at(10), json!({"lazy": true})),
    ]);
    let events = [(10.0, Done(0)), (20.0, Done(1)), (30.0, Done(2)), (90.0, Done(3))];
    assert_eq!(
        milestones(&page, &events),
        "dom_content_loaded@10 first_render@26 hero_render@46 load@30"
    );
}

#[test]
fn what_is_never_reached_is_not_a_milestone() {
    let page = page(&[("css", at(100), sheet()), ("image", at(100), none())]);
    assert_eq!(milestones(&page, &[(10.0, Done(0)), (20.0, Done(2))]), "dom_content_loaded@10");
}
