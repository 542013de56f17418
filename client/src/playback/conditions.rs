//! The conditions that each discovery still waits for.

use corpus::Page;
use corpus::page::{Event, PageResource};

#[derive(Debug, Clone, Copy)]
pub(super) enum Happening {
    /// t0.
    Navigation,
    /// This many bytes of a resource's body have arrived, as transmitted.
    Bytes(usize, u64),
    Complete(usize),
    ExecutionBegun(usize),
    /// A resource is complete and executed.
    Applied(usize),
    Load,
}

/// Counts down, for each resource, the conditions of its discovery.
#[derive(Debug, Clone, Default)]
pub(super) struct Conditions {
    unmet: Vec<usize>,
    by_resource: Vec<Waiters>,
    on_navigation: Vec<usize>,
    on_dom_ready: Vec<usize>,
    on_load: Vec<usize>,
    /// The render-blocking stylesheets by ID.
    sheets: Vec<Sheet>,
    /// The first N of them are applied.
    sheets_applied: usize,
    /// The document and the scripts that `DOMContentLoaded` waits for, not applied yet.
    before_dom_ready: usize,
    holds_dom_ready: Vec<bool>,
    load_fired: bool,
}

/// The resources that wait for one resource.
#[derive(Debug, Clone, Default)]
struct Waiters {
    /// (bytes on the wire, who), the most bytes first.
    bytes: Vec<(u64, usize)>,
    complete: Vec<usize>,
    begun: Vec<usize>,
    applied: Vec<usize>,
}

#[derive(Debug, Clone)]
struct Sheet {
    id: usize,
    applied: bool,
    /// The resources that wait for it and all earlier ones.
    waiters: Vec<usize>,
}

impl Conditions {
    pub(super) fn new(page: &Page) -> Self {
        let count = page.resources.len();
        let holds_dom_ready: Vec<bool> =
            page.resources.iter().map(|it| it.id == 0 || it.holds_dom_ready()).collect();
        let blocking = page.resources.iter().filter(|it| it.blocks_rendering());
        let mut conditions = Self {
            unmet: vec![0; count],
            by_resource: vec![Waiters::default(); count],
            sheets: blocking
                .map(|it| Sheet { id: it.id, applied: false, waiters: Vec::new() })
                .collect(),
            before_dom_ready: holds_dom_ready.iter().filter(|&&it| it).count(),
            holds_dom_ready,
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

    /// Registers the conditions for the discovery of `id`. A condition on a missing resource is never met.
    fn add(&mut self, id: usize, resource: &PageResource, page: &Page) {
        let trigger = &resource.trigger;
        self.unmet[id] = 1 + trigger.needs.len();
        for &needed in &trigger.needs {
            if let Some(waiters) = self.by_resource.get_mut(needed) {
                waiters.applied.push(id);
            }
        }
        match trigger.on {
            Event::Nav => self.on_navigation.push(id),
            Event::Dcl => self.on_dom_ready.push(id),
            Event::Load => self.on_load.push(id),
            Event::StyleApplied => self.add_style_applied(id),
            _ => self.add_about(id, resource, page),
        }
    }

    fn add_style_applied(&mut self, id: usize) {
        if let Some(last) = self.sheets.last_mut() {
            last.waiters.push(id);
        } else if let Some(document) = self.by_resource.first_mut() {
            document.applied.push(id);
        }
    }

    fn add_about(&mut self, id: usize, resource: &PageResource, page: &Page) {
        let trigger = &resource.trigger;
        let Some(waiters) = self.by_resource.get_mut(trigger.of) else { return };
        match trigger.on {
            Event::Bytes => {
                let of = &page.resources[trigger.of];
                waiters.bytes.push((wire_bytes(of, trigger.byte.unwrap_or(0)), id));
            }
            Event::Complete | Event::CssImport => waiters.complete.push(id),
            Event::Exec => waiters.begun.push(id),
            Event::Timer => waiters.applied.push(id),
            _ => {
                waiters.applied.push(id);
                let earlier = self.sheets.partition_point(|it| it.id < trigger.of);
                if let Some(last) = earlier.checked_sub(1) {
                    self.unmet[id] += 1;
                    self.sheets[last].waiters.push(id);
                }
            }
        }
    }

    /// The resources whose last condition this meets.
    pub(super) fn happen(&mut self, happening: Happening) -> Vec<usize> {
        let mut met = Vec::new();
        match happening {
            Happening::Navigation => met.append(&mut self.on_navigation),
            Happening::Bytes(id, bytes) => self.meet_bytes(id, bytes, &mut met),
            Happening::Complete(id) => {
                self.meet_bytes(id, u64::MAX, &mut met);
                met.append(&mut self.by_resource[id].complete);
            }
            Happening::ExecutionBegun(id) => met.append(&mut self.by_resource[id].begun),
            Happening::Applied(id) => self.meet_applied(id, &mut met),
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
        self.before_dom_ready == 0
    }

    /// `DOMContentLoaded` has been, the load event has not.
    pub(super) fn load_is_next(&self) -> bool {
        self.dom_is_ready() && !self.load_fired
    }

    fn meet_bytes(&mut self, id: usize, bytes: u64, met: &mut Vec<usize>) {
        let waiting = &mut self.by_resource[id].bytes;
        while let Some((_, waiter)) = waiting.pop_if(|&mut (needed, _)| needed <= bytes) {
            met.push(waiter);
        }
    }

    fn meet_applied(&mut self, id: usize, met: &mut Vec<usize>) {
        met.append(&mut self.by_resource[id].applied);
        if let Ok(index) = self.sheets.binary_search_by_key(&id, |it| it.id) {
            self.sheets[index].applied = true;
            while let Some(sheet) = self.sheets.get_mut(self.sheets_applied).filter(|it| it.applied)
            {
                met.append(&mut sheet.waiters);
                self.sheets_applied += 1;
            }
        }
        if self.holds_dom_ready[id] {
            self.before_dom_ready -= 1;
            if self.before_dom_ready == 0 {
                met.append(&mut self.on_dom_ready);
            }
        }
    }
}

/// How many bytes on the wire hold the first `decoded` bytes of a body, at least one.
pub fn wire_bytes(of: &PageResource, decoded: u64) -> u64 {
    let whole = u128::from(of.decoded_len().max(1));
    let wire = (u128::from(decoded) * u128::from(of.bytes)).div_ceil(whole);
    u64::try_from(wire).unwrap_or(u64::MAX).clamp(1, of.bytes.max(1))
}
