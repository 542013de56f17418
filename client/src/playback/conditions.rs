//! The conditions that each discovery still waits for.

use corpus::Page;
use corpus::page::{Event, PageResource};
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy)]
pub(super) enum Happening {
    /// t0.
    Navigation,
    /// This number of bytes of a resource's body has arrived.
    Bytes(usize, u64),
    /// The execution of a resource has begun.
    Begun(usize),
    /// A resource is complete and executed.
    Applied(usize),
    Load,
}

/// A condition of a discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// This many bytes of a resource's body have arrived, as transmitted; the maximum value means that it is complete.
    Bytes(usize, u64),
    /// Its execution has begun.
    Begun(usize),
    /// It is complete and executed.
    Applied(usize),
    /// The stylesheets with a smaller ID that block rendering are complete and executed.
    StylesBefore(usize),
    /// The same for the document and the scripts that `DOMContentLoaded` waits for.
    DomReady,
}

impl Wait {
    /// Whether it waits for the execution of `resource`.
    pub fn is_for_execution_of(self, resource: &PageResource) -> bool {
        match self {
            Self::Bytes(..) => false,
            Self::Begun(id) | Self::Applied(id) => id == resource.id,
            Self::StylesBefore(id) => resource.blocks_rendering() && resource.id < id,
            Self::DomReady => holds_dom_ready(resource),
        }
    }
}

/// All conditions of the discovery of a resource, besides the navigation or the load event. A wait for a missing resource never ends.
/// Stylesheets and scripts that many resources wait for form a single wait, because single waits would grow with the number of pairs of
/// resources.
pub fn waits(page: &Page, resource: &PageResource) -> Vec<Wait> {
    let trigger = &resource.trigger;
    let of = trigger.of;
    let has_styles_before =
        |id: usize| page.resources.iter().take(id).any(PageResource::blocks_rendering);
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
        Event::CssApplied if !has_styles_before(of) => vec![Wait::Applied(of)],
        Event::CssApplied => vec![Wait::Applied(of), Wait::StylesBefore(of)],
        Event::StyleApplied if !has_styles_before(usize::MAX) => vec![Wait::Applied(0)],
        Event::StyleApplied => vec![Wait::StylesBefore(usize::MAX)],
        // The load event follows `DOMContentLoaded`; its other conditions depend on the order.
        Event::Dcl | Event::Load => vec![Wait::DomReady],
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
    on_dom_ready: Vec<usize>,
    /// (resource whose earlier stylesheets count, waiting resource), the last resource first.
    on_styles: Vec<(usize, usize)>,
    /// The stylesheets that block rendering and are not applied yet.
    unstyled: BTreeSet<usize>,
    /// The document and the scripts that `DOMContentLoaded` waits for, not applied yet.
    before_dom_ready: BTreeSet<usize>,
    load_fired: bool,
}

/// The resources that wait for one resource.
#[derive(Debug, Clone, Default)]
struct Waiters {
    /// (bytes on the wire, waiting resource), the most bytes first.
    bytes: Vec<(u64, usize)>,
    begun: Vec<usize>,
    applied: Vec<usize>,
}

impl Conditions {
    pub(super) fn new(page: &Page) -> Self {
        let count = page.resources.len();
        let holding = page.resources.iter().filter(|it| holds_dom_ready(it));
        let blocking = page.resources.iter().filter(|it| it.blocks_rendering());
        let mut conditions = Self {
            unmet: vec![0; count],
            by_resource: vec![Waiters::default(); count],
            before_dom_ready: holding.map(|it| it.id).collect(),
            unstyled: blocking.map(|it| it.id).collect(),
            ..Self::default()
        };
        for (id, resource) in page.resources.iter().enumerate() {
            conditions.add(id, resource, page);
        }
        for waiters in &mut conditions.by_resource {
            waiters.bytes.sort_unstable_by(|a, b| b.cmp(a));
        }
        conditions.on_styles.sort_unstable_by(|a, b| b.cmp(a));
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
            match wait {
                Wait::StylesBefore(before) => self.on_styles.push((before, id)),
                Wait::DomReady => self.on_dom_ready.push(id),
                Wait::Bytes(of, bytes) => self.push(of, |it| it.bytes.push((bytes, id))),
                Wait::Begun(of) => self.push(of, |it| it.begun.push(id)),
                Wait::Applied(of) => self.push(of, |it| it.applied.push(id)),
            }
        }
    }

    fn push(&mut self, of: usize, push: impl FnOnce(&mut Waiters)) {
        if let Some(waiters) = self.by_resource.get_mut(of) {
            push(waiters);
        }
    }

    /// Counts down for an event. Returns the resources whose last condition it was.
    pub(super) fn happen(&mut self, happening: Happening) -> Vec<usize> {
        let mut met = Vec::new();
        match happening {
            Happening::Navigation => met.append(&mut self.on_navigation),
            Happening::Bytes(id, bytes) => {
                let waiting = &mut self.by_resource[id].bytes;
                while let Some((_, waiter)) = waiting.pop_if(|&mut (needed, _)| needed <= bytes) {
                    met.push(waiter);
                }
            }
            Happening::Begun(id) => met.append(&mut self.by_resource[id].begun),
            Happening::Applied(id) => {
                met.append(&mut self.by_resource[id].applied);
                self.before_dom_ready.remove(&id);
                if self.dom_is_ready() {
                    met.append(&mut self.on_dom_ready);
                }
                self.unstyled.remove(&id);
                let next = self.unstyled.first().copied().unwrap_or(usize::MAX);
                while let Some((_, waiter)) = self.on_styles.pop_if(|(before, _)| *before <= next) {
                    met.push(waiter);
                }
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

    /// After `DOMContentLoaded`, before the load event.
    pub(super) fn load_is_next(&self) -> bool {
        self.dom_is_ready() && !self.load_fired
    }
}

/// How many bytes on the wire contain the first `decoded` bytes of a body, at least one.
pub(super) fn wire_bytes(of: &PageResource, decoded: u64) -> u64 {
    let whole = u128::from(of.decoded_len().max(1));
    let wire = (u128::from(decoded) * u128::from(of.bytes)).div_ceil(whole);
    u64::try_from(wire).unwrap_or(u64::MAX).clamp(1, of.bytes.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn conditions_are_as_many_as_resources_however_many_stylesheets_and_scripts_they_wait_for() {
        const OF_EACH: usize = 100;
        let head = json!({"on": "bytes", "of": 0, "byte": 10});
        let sheet = json!({"kind": "css", "mime": "text/css", "critical": true, "trigger": head});
        let script =
            json!({"kind": "js", "mime": "text/javascript", "script": "sync", "trigger": head});
        let image = |on: Value| json!({"kind": "image", "mime": "image/png", "trigger": on});
        let kinds = [
            sheet,
            script,
            image(json!({"on": "css_applied", "of": OF_EACH})),
            image(json!({"on": "style_applied"})),
            image(json!({"on": "dcl"})),
            image(json!({"on": "load"})),
        ];
        let document =
            json!({"kind": "html", "mime": "text/html", "main": true, "trigger": {"on": "nav"}});
        let others = kinds.iter().flat_map(|kind| std::iter::repeat_n(kind, OF_EACH));
        let all = std::iter::once(&document).chain(others).cloned().enumerate();
        let resources = all.map(|(id, mut resource)| {
            resource["id"] = id.into();
            resource["url"] = format!("/{id}").into();
            resource["bytes"] = 100.into();
            resource
        });
        let text = json!({
            "format": "utmost-page/1", "name": "test", "viewport": [1366, 768],
            "source": {"kind": "hand", "from": "a test", "licence": "none"},
            "origins": [{"host": "test", "party": "first"}], "resources": resources.collect::<Vec<_>>()
        });
        let page = Page::parse(&text.to_string(), "test").expect("a page");
        let unmet: usize = Conditions::new(&page).unmet.iter().sum();
        // One each, and two for `css_applied` and `load`.
        assert_eq!(unmet, 1 + 8 * OF_EACH);
    }
}
