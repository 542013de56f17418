//! Runs the project's own playback with the arrivals of a recording.

use super::table::Column;
use client::playback::Playback;
use corpus::page::{Event, Trigger};
use corpus::{Page, PageResource};
use schedulers::Kind;
use std::sync::Arc;

/// When each resource of `page` is discovered, in milliseconds, with the arrivals of a setting; `None` if never.
pub(crate) fn replay(page: &Arc<Page>, column: &Column) -> Vec<Option<f64>> {
    let mut playback = Playback::new(Arc::clone(page));
    let arrivals = arrivals(page, column);
    let mut found = vec![None; page.resources.len()];
    let mut next = 0;
    playback.start(0);
    loop {
        let arrival_us = arrivals.get(next).map(|it| it.at_us);
        let now_us = match (playback.next_timeout_us(), arrival_us) {
            (None, None) => return found,
            (Some(one), Some(other)) => one.min(other),
            (Some(one), None) | (None, Some(one)) => one,
        };
        while let Some(arrival) = arrivals.get(next).filter(|arrival| arrival.at_us <= now_us) {
            match arrival.bytes {
                Some(bytes) => playback.arrived(arrival.resource, bytes, now_us),
                None => playback.completed(arrival.resource, now_us),
            }
            next += 1;
        }
        for id in playback.due(now_us) {
            found[id] = Some(now_us as f64 / 1000.0);
        }
    }
}

struct Arrival {
    at_us: u64,
    resource: usize,
    /// Body bytes on the wire so far; `None` if complete.
    bytes: Option<u64>,
}

fn arrivals(page: &Page, column: &Column) -> Vec<Arrival> {
    let document = &page.resources[0];
    let whole = column.document.last().map_or(1, |&(_, bytes)| bytes.max(1));
    let parts = column.document.iter().map(|&(at_ms, decoded)| {
        let wire = u128::from(decoded) * u128::from(document.bytes);
        let bytes = u64::try_from(wire.div_ceil(u128::from(whole))).unwrap_or(document.bytes);
        Arrival { at_us: micros(at_ms), resource: 0, bytes: Some(bytes) }
    });
    let finished = column.times.iter().enumerate().filter_map(|(resource, times)| {
        let begun = column.document.last().filter(|_| resource == 0);
        let finished_ms = begun.map_or((*times)?.finished_ms, |&(at_ms, _)| at_ms);
        Some(Arrival { at_us: micros(finished_ms), resource, bytes: None })
    });
    let mut arrivals: Vec<Arrival> = parts.chain(finished).collect();
    arrivals.sort_by_key(|it| it.at_us);
    arrivals
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn micros(ms: f64) -> u64 {
    (ms * 1000.0).round().clamp(0.0, 1e12) as u64
}

/// The times under one setting, according to playback, of every event that a trigger can wait for.
#[derive(Debug, Clone)]
pub(crate) struct Moments {
    /// By resource: complete and executed.
    pub(crate) applied_ms: Vec<Option<f64>>,
    /// By resource: complete.
    complete_ms: Vec<Option<f64>>,
    probed_ms: Vec<(Event, usize, Option<f64>)>,
    dom_ready_ms: Option<f64>,
    load_ms: Option<f64>,
    /// (when, decoded bytes of the document).
    document: Vec<(f64, u64)>,
}

impl Moments {
    /// Replays `page` before its triggers are known. The time when a resource is applied depends on everything else.
    pub(crate) fn new(page: &Page, column: &Column) -> Self {
        let count = page.resources.len();
        let (page, probes) = with_probes(page);
        let found = replay(&Arc::new(page), column);
        let probed = probes.into_iter().zip(&found[count..]);
        let mut moments = Self {
            applied_ms: Vec::new(),
            complete_ms: column.times.iter().map(|it| it.map(|it| it.finished_ms)).collect(),
            probed_ms: probed.map(|((on, of), found)| (on, of, *found)).collect(),
            dom_ready_ms: column.dom_ready_ms,
            load_ms: column.load_ms,
            document: column.document.clone(),
        };
        moments.applied_ms = (0..column.times.len())
            .map(|id| moments.probed_ms(Event::Timer, id).or(moments.complete_ms[id]))
            .collect();
        moments
    }

    fn probed_ms(&self, on: Event, of: usize) -> Option<f64> {
        self.probed_ms.iter().find(|it| (it.0, it.1) == (on, of))?.2
    }

    /// The time of a trigger's event, without its needs and delay.
    pub(crate) fn event_ms(&self, on: Event, of: usize, byte: Option<u64>) -> Option<f64> {
        match on {
            Event::Nav => Some(0.0),
            Event::Bytes => {
                let byte = byte.unwrap_or(0);
                let part = self.document.iter().find(|&&(_, bytes)| bytes >= byte.max(1));
                part.or(self.document.last()).map(|&(at_ms, _)| at_ms)
            }
            Event::Complete | Event::CssImport => self.complete_ms[of],
            Event::Exec | Event::CssApplied => self.probed_ms(on, of),
            Event::StyleApplied => self.probed_ms(on, 0),
            Event::Timer => self.applied_ms[of],
            Event::Dcl => self.probed_ms(on, 0).or(self.dom_ready_ms),
            Event::Load => self.load_ms,
        }
    }
}

/// The page with a probe for each event: a resource that is discovered when the event happens. The page's own resources
/// are known from the first byte on.
fn with_probes(page: &Page) -> (Page, Vec<(Event, usize)>) {
    let mut probes = vec![(Event::StyleApplied, 0), (Event::Dcl, 0)];
    for (id, it) in page.resources.iter().enumerate() {
        if matches!(it.kind, Kind::Css | Kind::Js) {
            probes.extend([(Event::Timer, id), (Event::Exec, id)]);
        }
        if it.kind == Kind::Css {
            probes.push((Event::CssApplied, id));
        }
    }
    let mut page = page.clone();
    for it in page.resources.iter_mut().skip(1) {
        it.trigger = trigger(Event::Bytes, 0);
    }
    for &(on, of) in &probes {
        let id = page.resources.len();
        let (url, mime) = (format!("/probe/{id}"), "application/octet-stream".to_owned());
        let plain = PageResource::plain(id, url, mime, 0);
        page.resources.push(PageResource { lazy: true, trigger: trigger(on, of), ..plain });
    }
    (page, probes)
}

fn trigger(on: Event, of: usize) -> Trigger {
    let byte = (on == Event::Bytes).then_some(0);
    Trigger { on, of, byte, needs: Vec::new(), delay_ms: 0.0 }
}
