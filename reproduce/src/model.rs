//! The time that a load takes in principle: whole packets on a link with a rate and a delay, and nothing else. No headers, no
//! acknowledgement on the way back that takes room, no loss; a server and a client that are infinitely fast.

use crate::sketch::{Found, Sketch};
use push::Gate;
use qlog_tools::saturating_cast::to_u64;
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Path {
    pub(crate) bits_per_s: f64,
    pub(crate) rtt_ms: f64,
}

/// The sender's congestion window in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Window {
    /// Never the limit: a warm connection.
    Open,
    /// Begins with this and grows by the acknowledged bytes.
    SlowStart(f64),
    /// Stays.
    Fixed(f64),
}

#[derive(Debug, Clone)]
pub(crate) struct Load<'a> {
    pub(crate) sketch: &'a Sketch,
    /// Pushed with the document, in this order.
    pub(crate) pushed: &'a [usize],
    pub(crate) path: Path,
    pub(crate) window: Window,
    pub(crate) gate: Gate,
    /// Bytes that are committed to an order before they are sent.
    pub(crate) buffer_bytes: f64,
    /// Bytes that may be sent before the client has answered, and so validated its address (RFC 9000, 8.1).
    pub(crate) first_flight_bytes: f64,
    /// By resource: lower is sent first; equal ones in the order of their requests and promises.
    pub(crate) ranks: Vec<u8>,
}

/// A full packet's bytes: a TCP segment's, as the source had them.
const PACKET_BYTES: f64 = 1460.0;

impl<'a> Load<'a> {
    /// Everything first come, first served, in an open window.
    pub(crate) fn new(sketch: &'a Sketch, pushed: &'a [usize], path: Path) -> Self {
        Self {
            sketch,
            pushed,
            path,
            window: Window::Open,
            gate: Gate::Preempt,
            buffer_bytes: 0.0,
            first_flight_bytes: f64::INFINITY,
            ranks: vec![0; sketch.items.len()],
        }
    }

    /// When each resource is complete, in milliseconds from the request for the document.
    pub(crate) fn completions_ms(&self) -> Vec<f64> {
        let mut simulation = Simulation::new(self);
        simulation.request(0, 0.0);
        while let Some(((at_ns, _), event)) = simulation.events.pop_first() {
            simulation.now_ms = at_ns as f64 / 1e6;
            simulation.happen(event);
            simulation.send();
        }
        simulation.states.iter().map(|it| it.complete_ms).collect()
    }

    pub(crate) fn done_ms(&self) -> f64 {
        self.completions_ms().into_iter().fold(0.0, f64::max)
    }
}

#[derive(Debug, Clone, Copy)]
enum Event {
    /// A request arrived, or a push was promised.
    Opened(usize),
    Ready(usize),
    Arrived(usize, f64),
    /// The client's acknowledgement of it arrived.
    Acknowledged(usize, f64),
    /// The client's answer to the first flight arrived.
    Validated,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    requested: bool,
    /// Among all that the server knows.
    place: Option<usize>,
    ready: bool,
    unsent: f64,
    missing: f64,
    complete_ms: f64,
}

struct Simulation<'a> {
    load: &'a Load<'a>,
    events: BTreeMap<(u64, usize), Event>,
    event_count: usize,
    states: Vec<State>,
    places: usize,
    /// Committed to their order and not sent.
    buffer: VecDeque<(usize, f64)>,
    now_ms: f64,
    free_at_ms: f64,
    window: f64,
    in_flight: f64,
    pushed_in_flight: f64,
    first_flight: f64,
}

impl<'a> Simulation<'a> {
    fn new(load: &'a Load<'a>) -> Self {
        let states = load.sketch.items.iter().map(|item| State {
            unsent: item.bytes as f64,
            missing: item.bytes as f64,
            complete_ms: f64::NAN,
            ..State::default()
        });
        Self {
            load,
            events: BTreeMap::new(),
            event_count: 0,
            states: states.collect(),
            places: 0,
            buffer: VecDeque::new(),
            now_ms: 0.0,
            free_at_ms: 0.0,
            window: match load.window {
                Window::Open => f64::INFINITY,
                Window::SlowStart(bytes) | Window::Fixed(bytes) => bytes,
            },
            in_flight: 0.0,
            pushed_in_flight: 0.0,
            first_flight: load.first_flight_bytes,
        }
    }

    fn at(&mut self, ms: f64, event: Event) {
        self.event_count += 1;
        self.events.insert((to_u64((ms * 1e6).round()), self.event_count), event);
    }

    fn one_way_ms(&self) -> f64 {
        self.load.path.rtt_ms / 2.0
    }

    fn request(&mut self, item: usize, now_ms: f64) {
        if !std::mem::replace(&mut self.states[item].requested, true) {
            self.at(now_ms + self.one_way_ms(), Event::Opened(item));
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Opened(item) => {
                self.open(item);
                if item == 0 {
                    self.at(self.now_ms + self.load.path.rtt_ms, Event::Validated);
                    for &pushed in self.load.pushed {
                        // The promise precedes the bytes that name it.
                        self.states[pushed].requested = true;
                        self.open(pushed);
                    }
                }
            }
            Event::Ready(item) => self.states[item].ready = true,
            Event::Validated => self.first_flight = f64::INFINITY,
            Event::Arrived(item, bytes) => self.arrive(item, bytes),
            Event::Acknowledged(item, bytes) => {
                self.in_flight -= bytes;
                if self.load.pushed.contains(&item) {
                    self.pushed_in_flight -= bytes;
                }
                if matches!(self.load.window, Window::SlowStart(_)) {
                    self.window += bytes;
                }
            }
        }
    }

    fn open(&mut self, item: usize) {
        self.states[item].place = Some(self.places);
        self.places += 1;
        let wait_ms = self.load.sketch.items[item].wait_ms;
        self.at(self.now_ms + wait_ms, Event::Ready(item));
    }

    fn arrive(&mut self, item: usize, bytes: f64) {
        let state = &mut self.states[item];
        state.missing -= bytes;
        let complete = state.missing <= 0.0;
        if complete {
            state.complete_ms = self.now_ms;
        }
        for (found, other) in self.load.sketch.items.iter().enumerate() {
            let discovered = match other.found {
                Found::Head => item == 0,
                Found::End(of) | Found::Applied(of) => of == item && complete,
                Found::Navigation => false,
            };
            if discovered {
                self.request(found, self.now_ms);
            }
        }
    }

    fn send(&mut self) {
        loop {
            let committed: f64 = self.buffer.iter().map(|it| it.1).sum();
            if (self.buffer.is_empty() || committed + PACKET_BYTES <= self.load.buffer_bytes)
                && let Some(item) = self.next()
            {
                let bytes = self.states[item].unsent.min(PACKET_BYTES);
                self.states[item].unsent -= bytes;
                self.buffer.push_back((item, bytes));
                continue;
            }
            let Some(&(item, bytes)) = self.buffer.front() else { return };
            if self.in_flight + bytes > self.window || bytes > self.first_flight {
                self.uncommit();
                return;
            }
            self.buffer.pop_front();
            self.transmit(item, bytes);
        }
    }

    /// Without a buffer nothing is committed before it is sent.
    fn uncommit(&mut self) {
        if self.load.buffer_bytes <= 0.0 {
            for (item, bytes) in self.buffer.drain(..) {
                self.states[item].unsent += bytes;
            }
        }
    }

    fn transmit(&mut self, item: usize, bytes: f64) {
        self.in_flight += bytes;
        self.first_flight -= bytes;
        if self.load.pushed.contains(&item) {
            self.pushed_in_flight += bytes;
        }
        let departs_ms =
            self.now_ms.max(self.free_at_ms) + bytes * 8000.0 / self.load.path.bits_per_s;
        self.free_at_ms = departs_ms;
        let arrives_ms = departs_ms + self.one_way_ms();
        self.at(arrives_ms, Event::Arrived(item, bytes));
        self.at(arrives_ms + self.one_way_ms(), Event::Acknowledged(item, bytes));
    }

    fn next(&self) -> Option<usize> {
        let sendable = (0..self.states.len()).filter(|item| {
            let state = &self.states[*item];
            state.ready && state.unsent > 0.0 && self.gate_lets(*item)
        });
        sendable.min_by_key(|it| (self.load.ranks[*it], self.states[*it].place))
    }

    fn gate_lets(&self, item: usize) -> bool {
        let main = &self.states[0];
        let pending = push::Pending {
            main_open: main.unsent > 0.0,
            main_ready: main.ready && main.unsent > 0.0,
            pushed_in_flight_bytes: to_u64(self.pushed_in_flight.round()),
        };
        !self.load.pushed.contains(&item) || self.load.gate.allowance_bytes(pending) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::KB;

    const G3: Path = Path { bits_per_s: 1.36e6, rtt_ms: 209.0 };
    const G2: Path = Path { bits_per_s: 113e3, rtt_ms: 1420.0 };

    fn simple(html_kb: u64) -> Sketch {
        Sketch::new("simple", html_kb * KB).script("/1.js", 10 * KB, Found::Head)
    }

    fn done(path: Path, html_kb: u64, pushed: &[usize]) -> i64 {
        whole(Load::new(&simple(html_kb), pushed, path).done_ms())
    }

    #[expect(clippy::cast_possible_truncation, reason = "milliseconds")]
    fn whole(ms: f64) -> i64 {
        ms.round() as i64
    }

    /// A first packet, a round trip, the rest: by hand.
    #[test]
    fn a_small_page_takes_two_round_trips_and_with_a_push_one() {
        // 2840 + 1460 and 10240 bytes at 14125 bytes a second; 1420 + 15360 bytes.
        assert_eq!(done(G2, 5, &[]), 2840 + 103 + 725);
        assert_eq!(done(G2, 5, &[1]), 1420 + 1087);
        // A document that takes longer than a round trip leaves nothing to gain.
        assert_eq!(done(G3, 40, &[]), done(G3, 40, &[1]));
        assert_eq!(done(G3, 40, &[]), 209 + 301);
    }

    #[test]
    fn a_window_that_the_page_does_not_fit_into_costs_a_round_trip() {
        let sketch = simple(5);
        let load = |bytes| {
            let window = Window::SlowStart(bytes);
            Load { window, ..Load::new(&sketch, &[1], G3) }.done_ms()
        };
        assert_eq!(whole(load(15_400.0)), 209 + 90);
        // Ten packets go, of which the document's last is not full. A full one and 20 bytes are left for the first two
        // acknowledgements: 8.6 ms a packet, first and last.
        assert_eq!(whole(load(14_600.0)), 209 + 209 + 17);
    }

    #[test]
    fn before_the_client_is_known_a_push_finds_no_room() {
        let sketch = simple(5);
        let load = |pushed: &[usize], first_flight_bytes| {
            let load = Load { first_flight_bytes, ..Load::new(&sketch, pushed, G3) };
            whole(load.done_ms())
        };
        // Two packets go; a round trip later all that is left, pushed or asked for.
        assert_eq!(load(&[1], 3000.0), load(&[], 3000.0));
        assert_eq!(load(&[1], 3000.0), 209 + 209 + 73);
        assert_eq!(load(&[1], 99_000.0), done(G3, 5, &[1]));
    }

    #[test]
    fn what_follows_a_script_waits_for_its_last_byte() {
        let sketch = Sketch::new("chain", 5 * KB).script("/1.js", 10 * KB, Found::End(0)).script(
            "/2.js",
            10 * KB,
            Found::End(1),
        );
        let done = |pushed: &[usize]| whole(Load::new(&sketch, pushed, G2).done_ms());
        assert_eq!(done(&[]), 3 * 1420 + 362 + 2 * 725);
        assert_eq!(done(&[1, 2]), 1420 + 362 + 1450);
    }

    #[test]
    fn gates_and_buffers_decide_how_long_a_late_document_waits() {
        let mut sketch = Sketch::new("late", 20 * KB).thinking(50.0);
        for n in 0..35 {
            sketch = sketch.script(&format!("/{n}.js"), 10 * KB, Found::Head);
        }
        let pushed: Vec<usize> = (1..=35).collect();
        let document_ms = |gate, buffer_bytes| {
            let window = Window::Fixed(46_000.0);
            let load = Load { window, gate, buffer_bytes, ..Load::new(&sketch, &pushed, G3) };
            whole(load.completions_ms()[0])
        };
        let alone = whole(Load::new(&Sketch::new("a", 20 * KB).thinking(50.0), &[], G3).done_ms());
        assert_eq!(alone, 379);
        assert_eq!(document_ms(Gate::Strict, 0.0), alone);
        assert!((alone..alone + 12).contains(&document_ms(Gate::Throttle(8900), 0.0)));
        // One window is on the way.
        assert!((560..620).contains(&document_ms(Gate::Preempt, 0.0)));
        assert!((650..720).contains(&document_ms(Gate::Preempt, 16_384.0)));
        assert!((2380..2480).contains(&document_ms(Gate::EagerFifo(435_000), 435_000.0)));
    }
}
