//! Pages of npm and Debian packages, recorded in Chromium over HTTP/3 on one machine.

use super::derive::{Seen, finish, merge_fetches, mime_for, set_delays};
use super::{ImportError, Imported, Recording, refuse};
use crate::page::{BrowserPriority, Event, Origin, Page, PageResource, Script, SourceKind};
use schedulers::Kind;
use serde::Deserialize;
use std::collections::BTreeSet;

/// An image of at least this share of the viewport is a hero.
const HERO_SHARE_MIN: f64 = 0.05;

#[derive(Deserialize)]
struct PackagePage {
    page: String,
    viewport: [u32; 2],
    #[serde(default)]
    ext: u64,
    res: Vec<Fetch>,
}

/// Times in milliseconds from the navigation; `off` and `end` in decoded bytes of the parent.
#[derive(Deserialize)]
struct Fetch {
    id: usize,
    url: String,
    #[serde(rename = "type")]
    used_as: String,
    mime: String,
    enc: u64,
    dec: u64,
    u: u8,
    inc: u8,
    #[serde(default)]
    disc: f64,
    #[serde(default)]
    fin: f64,
    rb: Option<String>,
    js: Option<Script>,
    head: Option<u8>,
    vp: Option<Visible>,
    lcp: Option<u8>,
    #[serde(default)]
    exec_ms: f64,
    #[serde(default)]
    cssparse_ms: f64,
    trig: Cause,
}

#[derive(Deserialize)]
struct Visible {
    #[serde(default)]
    area: f64,
    kind: String,
}

#[derive(Deserialize)]
struct Cause {
    on: Event,
    #[serde(default)]
    of: usize,
    off: Option<u64>,
    end: Option<u64>,
    #[serde(default)]
    needs: Vec<usize>,
    #[serde(default)]
    delay: f64,
}

pub(super) fn package_page(
    Recording { text, label, .. }: Recording<'_>,
) -> Result<Imported, ImportError> {
    let recording: PackagePage = serde_json::from_str(text)
        .map_err(|error| ImportError::Format(format!("is not a package page: {error}")))?;
    let fetches = &recording.res;
    if let Some(index) = (0..fetches.len()).find(|&index| fetches[index].id != index) {
        let id = fetches[index].id;
        return refuse(format!("res[{index}].id: is {id}; it must be the index"));
    }
    let (targets, repeated) = merge_fetches(fetches.iter().map(|it| it.url.as_str()));
    let mut firsts: Vec<&Fetch> = Vec::new();
    for (fetch, &target) in fetches.iter().zip(&targets) {
        if target == firsts.len() {
            firsts.push(fetch);
        }
    }
    let mut resources = Vec::new();
    for (id, fetch) in firsts.iter().enumerate() {
        resources.push(resource(id, fetch, &targets)?);
    }
    let seen = firsts.iter().map(|it| Seen { discovered_ms: it.disc, arrived_ms: it.fin });
    set_delays(&mut resources, &seen.collect::<Vec<_>>());
    let (name, source) = label.into_source(SourceKind::Recorded);
    let host = recording.page.split('/').nth(2).unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    let page = Page {
        viewport: recording.viewport,
        ..Page::new(name, source, vec![Origin::own(host)], resources)
    };
    finish(page, notes(recording.ext, repeated))
}

fn notes(external: u64, repeated: usize) -> Vec<String> {
    let mut notes = vec![
        "wait_ms is 0: the recording's server was on the same machine".to_owned(),
        "delays after stylesheets and scripts are what remains of the recorded time when the \
         main thread's work is taken off"
            .to_owned(),
        "the work of inline scripts is left out".to_owned(),
    ];
    if external > 0 {
        notes.push(format!("{external} references to other hosts were blocked and are left out"));
    }
    if repeated > 0 {
        notes.push(format!(
            "{repeated} repeated fetches of a URL are left out: a cache answers them"
        ));
    }
    notes
}

fn resource(id: usize, fetch: &Fetch, targets: &[usize]) -> Result<PageResource, ImportError> {
    let mime = mime_for(&fetch.mime, &fetch.used_as, &fetch.url);
    let mut it = PageResource::plain(id, fetch.url.clone(), mime, fetch.enc);
    it.decoded_bytes = Some(fetch.dec);
    it.browser = Some(BrowserPriority { urgency: fetch.u, incremental: fetch.inc != 0 });
    it.in_head = fetch.head == Some(1);
    let code = matches!(it.kind, Kind::Css | Kind::Js);
    if code {
        it.exec_ms = fetch.exec_ms + fetch.cssparse_ms;
        it.critical = matches!(fetch.rb.as_deref(), Some("Blocking" | "InBodyParserBlocking"));
    }
    if it.kind == Kind::Js {
        it.script = Some(fetch.js.unwrap_or(Script::Async));
    }
    it.hero = it.kind == Kind::Image && is_hero(fetch);
    it.above_fold = id == 0 || code && it.critical || it.kind == Kind::Font || it.hero;
    set_trigger(&mut it, fetch, targets)?;
    Ok(it)
}

/// The image of the largest contentful paint, or a large image that is not a background.
fn is_hero(fetch: &Fetch) -> bool {
    let large = fetch.vp.as_ref().is_some_and(|it| it.kind != "bg" && it.area >= HERO_SHARE_MIN);
    fetch.lcp == Some(1) || large
}

fn set_trigger(it: &mut PageResource, fetch: &Fetch, targets: &[usize]) -> Result<(), ImportError> {
    if it.id == 0 {
        return Ok(());
    }
    let cause = &fetch.trig;
    it.trigger.on = cause.on;
    it.trigger.of = match cause.on {
        Event::StyleApplied => 0,
        _ => target(cause.of, fetch, targets)?,
    };
    it.trigger.delay_ms = cause.delay.max(0.0);
    if cause.on == Event::Bytes {
        it.trigger.byte = cause.end.or(cause.off).or(Some(0));
    }
    let needs = cause.needs.iter().map(|&id| target(id, fetch, targets));
    it.trigger.needs = needs.collect::<Result<BTreeSet<_>, _>>()?.into_iter().collect();
    Ok(())
}

fn target(of: usize, fetch: &Fetch, targets: &[usize]) -> Result<usize, ImportError> {
    match targets.get(of) {
        Some(target) => Ok(*target),
        None => refuse(format!("res[{}].trig: refers to {of}, which does not exist", fetch.id)),
    }
}
