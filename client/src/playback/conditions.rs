//! The conditions that each discovery still waits for.

use corpus::Page;
use corpus::page::{Event, PageResource};
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy)]
pub(super) enum Happening {
    /// t0.
    Navigation,
    /// What some wait for has come.
    Met(Wait),
    Load,
}

/// A condition of a discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// This many bytes of a resource's body have arrived, as transmitted; as many as there can be: it is complete.
    Bytes(usize, u64),
    /// Its execution has begun.
    Begun(usize),
    /// It is complete and executed.
    Applied(usize),
}

/// What the discovery of a resource waits for, all of it, besides the navigation or the load event. A wait for a missing resource
/// never ends.
pub fn waits(page: &Page, resource: &PageResource) -> Vec<Wait> {
    let trigger = &resource.trigger;
    let of = trigger.of;
    let applied = |ids: &dyn Fn(&PageResource) -> bool| -> Vec<Wait> {
        let resources = page.resources.iter().filter(|it| ids(it));
        resources.map(|it| Wait::Applied(it.id)).collect()
    };
    let mut waits = match trigger.on {
        Event::Nav => Vec::new(),
        Event::Bytes => {
            let byte = trigger.byte.unwrap_or(0);
            let wire_bytes = page.resources.get(of).map_or(0, |it| wire_bytes(it, byte));
            vec![Wait::Bytes(of, wire_bytes)]
        }
        Event::Complete | Event::CssImport => vec![Wait::Bytes(of, u64::MAX)],
        Event::Exec => vec![Wait::Begun(of)],
        Event::Timer => vec![Wait::Applied(of)],
        // Earlier stylesheets, too.
        Event::CssApplied => applied(&|it| it.id == of || it.blocks_rendering() && it.id < of),
        Event::StyleApplied => match applied(&PageResource::blocks_rendering) {
            none if none.is_empty() => vec![Wait::Applied(0)],
            sheets => sheets,
        },
        // The load event comes after `DOMContentLoaded`; what else it waits for depends on the order.
        Event::Dcl | Event::Load => applied(&holds_dom_ready),
    };
    waits.extend(trigger.needs.iter().map(|it| Wait::Applied(*it)));
    waits
}

/// Whether `DOMContentLoaded` waits for it.
fn holds_dom_ready(resource: &PageResource) -> bool {
    resource.id == 0 || resource.holds_dom_ready()
}

/// Counts down, for each resource, the conditions of its discovery.
#[derive(Debug, Clone, Default)]
pub(super) struct Conditions {
    unmet: Vec<usize>,
    by_resource: Vec<Waiters>,
    on_navigation: Vec<usize>,
    on_load: Vec<usize>,
    /// The document and the scripts that `DOMContentLoaded` waits for, not applied yet.
    before_dom_ready: BTreeSet<usize>,
    load_fired: bool,
}

/// The resources that wait for one resource.
#[derive(Debug, Clone, Default)]
struct Waiters {
    /// (bytes on the wire, who), the most bytes first.
    bytes: Vec<(u64, usize)>,
    begun: Vec<usize>,
    applied: Vec<usize>,
}

impl Conditions {
    pub(super) fn new(page: &Page) -> Self {
        let count = page.resources.len();
        let holding = page.resources.iter().filter(|it| holds_dom_ready(it));
        let mut conditions = Self {
            unmet: vec![0; count],
            by_resource: vec![Waiters::default(); count],
            before_dom_ready: holding.map(|it| it.id).collect(),
            ..Self::default()
        };
        for (id, resource) in page.resources.iter().enumerate() {
            conditions.add(id, resource, page);
        }
        for waiters in &mut conditions.by_resource {
            waiters.bytes.sort_unstable_by(|a, b| b.cmp(a));
        }
        conditions
    }

    /// Registers the conditions for the discovery of `id`.
    fn add(&mut self, id: usize, resource: &PageResource, page: &Page) {
        let waits = waits(page, resource);
        self.unmet[id] = waits.len();
        let on_event = match resource.trigger.on {
            Event::Nav => Some(&mut self.on_navigation),
            Event::Load => Some(&mut self.on_load),
            _ => None,
        };
        if let Some(waiters) = on_event {
            waiters.push(id);
            self.unmet[id] += 1;
        }
        for wait in waits {
            let (Wait::Bytes(of, _) | Wait::Begun(of) | Wait::Applied(of)) = wait;
            let Some(waiters) = self.by_resource.get_mut(of) else { continue };
            match wait {
                Wait::Bytes(_, bytes) => waiters.bytes.push((bytes, id)),
                Wait::Begun(_) => waiters.begun.push(id),
                Wait::Applied(_) => waiters.applied.push(id),
            }
        }
    }

    /// The resources whose last condition this meets.
    pub(super) fn happen(&mut self, happening: Happening) -> Vec<usize> {
        let mut met = Vec::new();
        match happening {
            Happening::Navigation => met.append(&mut self.on_navigation),
            Happening::Met(Wait::Bytes(id, bytes)) => {
                let waiting = &mut self.by_resource[id].bytes;
                while let Some((_, waiter)) = waiting.pop_if(|&mut (needed, _)| needed <= bytes) {
                    met.push(waiter);
                }
            }
            Happening::Met(Wait::Begun(id)) => met.append(&mut self.by_resource[id].begun),
            Happening::Met(Wait::Applied(id)) => {
                self.before_dom_ready.remove(&id);
                met.append(&mut self.by_resource[id].applied);
            }
            Happening::Load => {
                self.load_fired = true;
                met.append(&mut self.on_load);
            }
        }
        met.retain(|&id| {
            self.unmet[id] -= 1;
            self.unmet[id] == 0
        });
        met
    }

    /// `DOMContentLoaded` has been.
    pub(super) fn dom_is_ready(&self) -> bool {
        self.before_dom_ready.is_empty()
    }

    /// `DOMContentLoaded` has been, the load event has not.
    pub(super) fn load_is_next(&self) -> bool {
        self.dom_is_ready() && !self.load_fired
    }
}

/// How many bytes on the wire hold the first `decoded` bytes of a body, at least one.
pub(super) fn wire_bytes(of: &PageResource, decoded: u64) -> u64 {
    let whole = u128::from(of.decoded_len().max(1));
    let wire = (u128::from(decoded) * u128::from(of.bytes)).div_ceil(whole);
    u64::try_from(wire).unwrap_or(u64::MAX).clamp(1, of.bytes.max(1))
}
