//! Critical resources, resources above the fold, and heroes.

use crate::page::{Event, PageResource, Script};
use captures::{Fetch, Initiator, Priority};
use schedulers::Kind;

/// A visible image of at least this many bytes is a hero: among 79 images in the viewport on 59 pages of
/// packages, this bound best predicts which ones cover 5 % of it (it finds 7 of 10, and 12 smaller ones).
const HERO_BYTES_MIN: u64 = 20_000;

pub(super) fn notes(requests: &[Fetch]) -> Vec<String> {
    let roles = if has_priorities(requests) {
        "roles: a stylesheet of high priority blocks rendering, as does what it imports; of the \
         document's scripts those of low priority and preloaded ones are async, the others block; \
         nothing in subframes is critical"
    } else {
        "roles: without priorities, the stylesheets and scripts that the document asks for before its \
         first image are in the head and block; later stylesheets do not block, later scripts are async"
    };
    let heroes = if has_priorities(requests) {
        "heroes: the image of the largest contentful paint, if the recording names it; images of at least \
         20 kB before the load event that are preloaded or whose priority says that they are visible \
         (high, or medium as Chrome gives to the first large ones, if it raised none); a background only \
         if its priority was raised"
    } else {
        "heroes: without priorities, the first image of at least 20 kB that the document asks for"
    };
    vec![roles.to_owned(), heroes.to_owned()]
}

fn has_priorities(requests: &[Fetch]) -> bool {
    requests.iter().any(|it| it.priority.is_some())
}

/// Sets everything except the hero's effects on order.
pub(super) fn set_roles(resources: &mut [PageResource], requests: &[Fetch]) {
    let first_image = resources
        .iter()
        .position(|it| it.kind == Kind::Image && it.is_in_text())
        .unwrap_or(resources.len());
    for id in 1..resources.len() {
        let request = &requests[id];
        let imported = resources[id].trigger.on == Event::CssImport
            && resources[resources[id].trigger.of].critical;
        let it = &mut resources[id];
        let by_parser = it.is_in_text() && !request.in_subframe && !scripted(request);
        match it.kind {
            Kind::Css => {
                let urgent = request.priority.map_or(id < first_image, |it| it >= Priority::High);
                it.in_head = by_parser && urgent && !it.preload;
                it.critical = request.blocking.unwrap_or(by_parser && urgent) || imported;
            }
            Kind::Js => {
                let waited_for =
                    request.priority.map_or(id < first_image, |it| it >= Priority::Medium);
                let urgent = request.priority.is_none_or(|it| it >= Priority::High);
                let sync = by_parser && !it.preload && request.blocking.unwrap_or(waited_for);
                it.script = Some(if sync { Script::Sync } else { Script::Async });
                it.in_head = sync && urgent;
                it.critical = request.blocking.unwrap_or(sync);
            }
            _ => {}
        }
        it.above_fold = it.critical || it.kind == Kind::Font;
    }
    choose_heroes(resources, requests);
}

/// Whether a script in the document's text requested it: such scripts are async.
fn scripted(request: &Fetch) -> bool {
    request.initiator == Initiator::Script
}

fn choose_heroes(resources: &mut [PageResource], requests: &[Fetch]) {
    let known = has_priorities(requests);
    // If the browser marks a large image as visible, the others stay at medium priority.
    let mut large = requests.iter().filter(|it| it.bytes >= HERO_BYTES_MIN);
    let says = large.any(|it| it.raised || it.largest_paint);
    let least = if says { Priority::High } else { Priority::Medium };
    let mut found = false;
    for it in resources.iter_mut() {
        let request = &requests[it.id];
        let in_document = it.trigger.on == Event::Bytes && it.trigger.of == 0;
        let background = matches!(it.trigger.on, Event::CssApplied | Event::StyleApplied);
        let visible = if known {
            let urgent = request.raised || !background && request.priority >= Some(least);
            let preloaded = request.preload && !background;
            let late = it.trigger.on == Event::Load || request.in_subframe;
            (urgent || preloaded) && !late
        } else {
            in_document && !found
        };
        let is_hero = request.largest_paint || visible && it.bytes >= HERO_BYTES_MIN;
        if it.kind == Kind::Image && is_hero && request.status < 400 {
            it.hero = true;
            it.above_fold = true;
            found = true;
        }
    }
}
