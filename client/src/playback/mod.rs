//! Plays a page back: a browser as a pure function, `(time, arrivals) -> requests`.
//!
//! The page format sets the rules. Where it leaves room:
//!
//! - Times are in microseconds from any origin; a call with an earlier time than the latest counts as at the latest time.
//! - Everything reported for one instant is processed together, regardless of the order of calls. Discoveries of the same instant
//!   are ordered by ID.
//! - A delay runs from the moment at which the event and all `needs` have occurred.
//! - Decoded byte `n` of a resource is available after `ceil(n * bytes / decoded_bytes)` bytes on the wire, at least one, and in
//!   any case when the response is complete: an empty body or a short 404 does not hold anything back.
//! - Execution is sequential. Among arrived resources, those with an `eval_order` go first, and each waits for all smaller ones,
//!   even undiscovered ones; the others follow in order of completion. Nothing is interrupted. Only CSS and JS with a 2xx status
//!   take time; an error response counts as begun and ended on arrival.
//! - Scripts do not delay the discovery of resources behind them in the HTML, because browsers look ahead. A resource that does
//!   wait for a script lists it in `needs`.
//! - "Earlier" stylesheets have a smaller ID. `style_applied` on a page without any
//!   render-blocking stylesheet is the arrival of the document.
//! - The load event precedes neither `DOMContentLoaded` nor a discovery of the same instant.
//! - The first rendering happens when the document's head has arrived and everything that blocks rendering is applied: the head's
//!   critical stylesheets and synchronous scripts, the imports of those stylesheets, and critical stylesheets discovered elsewhere
//!   by then. It needs an idle main thread, and precedes the next execution. Rendering does not delay execution, and becomes
//!   visible one frame later. `docs/metrics.md` has the rules for the other milestones.
//! - A browser reads nothing of a document until it commits to it, `commit_ms` after the first byte. The client has the bytes
//!   earlier.
//! - Bytes that arrive before their resource is discovered (a push) take effect at its discovery.

mod conditions;
mod main_thread;
mod opening;
mod rendering;
#[cfg(test)]
mod tests;

use conditions::{Conditions, Happening};
pub use conditions::{Wait, waits};
use corpus::Page;
use corpus::page::Event;
use main_thread::MainThread;
use opening::{Held, Opening};
use rendering::Rendering;
use schedulers::Milestone;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The ID of a page's document.
const DOCUMENT: usize = 0;

/// Chromium reads a document in parts of this size, and scans each for references before the parser continues.
const SCANNED_BYTES: u64 = 65536;

/// One page load. The page must be valid ([`corpus::check`]); on an invalid page, resources may stay undiscovered.
#[derive(Debug, Clone)]
pub struct Playback {
    page: Arc<Page>,
    states: Vec<State>,
    conditions: Conditions,
    opening: Opening,
    main_thread: MainThread,
    rendering: Rendering,
    /// (discovery in microseconds, resource): all conditions are met, and the delay runs.
    scheduled: BTreeSet<(u64, usize)>,
    /// Discovered and not yet handed out.
    fresh: Vec<usize>,
    now_us: u64,
    /// Reports for `now_us` have not been processed yet.
    unsettled: bool,
    /// Discovered, not lazy, and incomplete: the load event waits for them.
    pending_for_load: usize,
    incomplete: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    discovered: bool,
    completed_us: Option<u64>,
    body_bytes: u64,
    /// Whether any part of the response was reported.
    begun: bool,
    applied: bool,
}

impl Playback {
    /// A page load that has not begun.
    pub fn new(page: Arc<Page>) -> Self {
        let count = page.resources.len();
        Self {
            states: vec![State::default(); count],
            conditions: Conditions::new(&page),
            opening: Opening::new(&page),
            main_thread: MainThread::new(&page),
            rendering: Rendering::new(&page),
            scheduled: BTreeSet::new(),
            fresh: Vec::new(),
            now_us: 0,
            unsettled: false,
            pending_for_load: 0,
            incomplete: count,
            page,
        }
    }

    /// t0: the navigation. The document is due at once.
    pub fn start(&mut self, now_us: u64) {
        self.advance(now_us);
        self.happen(Happening::Navigation);
    }

    /// The resources discovered by now, in order of discovery; each is returned exactly once.
    pub fn due(&mut self, now_us: u64) -> Vec<usize> {
        self.advance(now_us);
        self.settle();
        std::mem::take(&mut self.fresh)
    }

    /// `body_bytes_in_order` bytes of the body have arrived, as on the wire and counted from its start.
    pub fn arrived(&mut self, resource: usize, body_bytes_in_order: u64, now_us: u64) {
        self.advance(now_us);
        if resource != DOCUMENT || !self.opening.holds(Some(body_bytes_in_order), self.now_us) {
            self.take_bytes(resource, body_bytes_in_order);
        }
    }

    fn take_bytes(&mut self, resource: usize, body_bytes_in_order: u64) {
        let Some(state) = self.states.get_mut(resource) else { return };
        if state.completed_us.is_some() || (state.begun && body_bytes_in_order <= state.body_bytes)
        {
            return;
        }
        state.begun = true;
        state.body_bytes = state.body_bytes.max(body_bytes_in_order);
        if state.discovered {
            self.happen(Happening::Bytes(resource, body_bytes_in_order));
        }
    }

    /// The response is complete, whatever its status. Failed requests are also reported here: the browser continues without them.
    pub fn completed(&mut self, resource: usize, now_us: u64) {
        self.advance(now_us);
        if resource != DOCUMENT || !self.opening.holds(None, self.now_us) {
            self.take_end(resource);
        }
    }

    fn take_end(&mut self, resource: usize) {
        let Some(state) = self.states.get_mut(resource) else { return };
        if state.completed_us.is_some() {
            return;
        }
        state.completed_us = Some(self.now_us);
        self.incomplete -= 1;
        if state.discovered {
            self.pending_for_load -= usize::from(!self.page.resources[resource].lazy);
            self.take_in(resource);
        }
        self.unsettled = true;
    }

    /// When to call [`Self::due`] next, if nothing arrives: it may discover more then.
    pub fn next_timeout_us(&self) -> Option<u64> {
        if self.unsettled || !self.fresh.is_empty() {
            return Some(self.now_us);
        }
        self.next_step_us()
    }

    /// All resources are discovered and complete.
    pub fn is_done(&self) -> bool {
        self.incomplete == 0 && self.states.iter().all(|it| it.discovered)
    }

    /// The milestones reached since the last call, with their times in microseconds.
    pub fn milestones(&mut self) -> Vec<(u64, Milestone)> {
        self.rendering.take_reached()
    }

    /// Continues as far as possible without arrivals: complete resources are still executed and shown. Times then run ahead of the
    /// caller's.
    pub fn run_on(&mut self) {
        self.settle();
        while let Some(step_us) = self.next_step_us() {
            self.now_us = step_us.max(self.now_us);
            self.settle();
        }
    }

    /// Whether the parser has not reached the document's body: it is still scanning the first part for references, or waits for a
    /// synchronous script in the head. (Page files do not contain inline scripts, which wait for stylesheets.)
    pub fn is_in_head(&self) -> bool {
        let is_scanned = |id: usize| {
            let trigger = &self.page.resources[id].trigger;
            trigger.on == Event::Bytes
                && trigger.of == DOCUMENT
                && trigger.byte.unwrap_or(0) < SCANNED_BYTES
        };
        let waits_for = |(id, state): (usize, &State)| {
            self.page.resources[id].is_head_script() && state.discovered && !state.applied
        };
        self.scheduled.iter().any(|&(_, id)| is_scanned(id))
            || self.states.iter().enumerate().any(waits_for)
    }

    /// The resources that can no longer be discovered, once nothing is outstanding; empty before.
    pub fn unreachable(&self) -> Vec<usize> {
        let outstanding = self.states.iter().any(|it| it.discovered && it.completed_us.is_none());
        if outstanding || self.next_timeout_us().is_some() {
            return Vec::new();
        }
        (0..self.states.len()).filter(|&id| !self.states[id].discovered).collect()
    }

    fn next_step_us(&self) -> Option<u64> {
        let discovery_us = self.scheduled.first().map(|&(at_us, _)| at_us);
        let steps = [discovery_us, self.opening.reads_us(), self.main_thread.busy_until_us()];
        steps.into_iter().flatten().min()
    }

    /// Processes everything before `now_us`, and stops there without processing that instant.
    fn advance(&mut self, now_us: u64) {
        if now_us <= self.now_us {
            return;
        }
        if self.unsettled {
            self.settle();
        }
        while let Some(step_us) = self.next_step_us().filter(|&it| it < now_us) {
            self.now_us = step_us.max(self.now_us);
            self.settle();
        }
        self.now_us = now_us;
    }

    /// Processes the present instant until nothing changes.
    fn settle(&mut self) {
        let first_fresh = self.fresh.len();
        if let Some(held) = self.opening.read(self.now_us) {
            self.read_document(held);
        }
        loop {
            self.discover_scheduled();
            if !self.step_main_thread() && !self.fire_load() {
                break;
            }
        }
        self.fresh[first_fresh..].sort_unstable();
        self.unsettled = false;
    }

    fn read_document(&mut self, held: Held) {
        if let Some(body_bytes) = held.body_bytes {
            self.take_bytes(DOCUMENT, body_bytes);
        }
        if held.is_complete {
            self.take_end(DOCUMENT);
        }
    }

    fn discover_scheduled(&mut self) {
        while let Some(&(at_us, id)) = self.scheduled.first()
            && at_us <= self.now_us
        {
            self.scheduled.pop_first();
            self.discover(id);
        }
    }

    fn discover(&mut self, id: usize) {
        let state = &mut self.states[id];
        state.discovered = true;
        self.fresh.push(id);
        self.rendering.discovered(id);
        let State { completed_us, body_bytes, begun, .. } = *state;
        if completed_us.is_some() {
            self.take_in(id);
            return;
        }
        self.pending_for_load += usize::from(!self.page.resources[id].lazy);
        if begun {
            self.happen(Happening::Bytes(id, body_bytes));
        }
    }

    /// A discovered resource has fully arrived.
    fn take_in(&mut self, id: usize) {
        self.happen(Happening::Bytes(id, u64::MAX));
        let resource = &self.page.resources[id];
        if resource.is_executed() {
            self.main_thread.enqueue(id, self.now_us);
        } else {
            self.happen(Happening::Begun(id));
            self.apply(id);
        }
    }

    fn apply(&mut self, id: usize) {
        self.states[id].applied = true;
        self.main_thread.applied(id);
        self.happen(Happening::Applied(id));
    }

    /// Ends and begins due executions, and renders between them. Returns `false` if nothing is due.
    fn step_main_thread(&mut self) -> bool {
        if let Some(id) = self.main_thread.end(self.now_us) {
            self.apply(id);
            return true;
        }
        if self.main_thread.busy_until_us().is_none() && self.rendering.render(self.now_us) {
            return true;
        }
        if let Some(id) = self.main_thread.begin(self.now_us) {
            self.happen(Happening::Begun(id));
            return true;
        }
        false
    }

    fn fire_load(&mut self) -> bool {
        let fires = self.pending_for_load == 0 && self.conditions.load_is_next();
        if fires {
            self.happen(Happening::Load);
        }
        fires
    }

    fn happen(&mut self, happening: Happening) {
        self.unsettled = true;
        self.rendering.happen(happening, self.now_us);
        let was_ready = self.conditions.dom_is_ready();
        let met = self.conditions.happen(happening);
        if !was_ready && self.conditions.dom_is_ready() {
            self.rendering.reach(Milestone::DomContentLoaded, self.now_us);
        }
        for id in met {
            let delay_us = micros(self.page.resources[id].trigger.delay_ms);
            self.scheduled.insert((self.now_us.saturating_add(delay_us), id));
        }
    }
}

/// Milliseconds as microseconds, rounded; negative values and NaN become 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn micros(ms: f64) -> u64 {
    (ms * 1000.0).round().clamp(0.0, 1e15) as u64
}
