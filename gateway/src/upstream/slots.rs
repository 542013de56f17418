//! Slots at the backend, and places in the queue for them.

use super::queue::Queue;
use parking_lot::Mutex;
use server::client::Client;
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use tokio::sync::oneshot;

pub(super) struct Slots {
    state: Mutex<State>,
}

struct State {
    queue: Queue<Ticket>,
    /// Requests that have kept a slot for long. They are called when others need it.
    lasting: BTreeMap<Client, Vec<Ticket>>,
}

impl State {
    fn call(&mut self) {
        while let Some(ticket) = self.queue.next() {
            // A request that has just left returns its slot itself.
            ticket.call.send(()).ok();
        }
    }

    /// If a request waits and no slot is free, the client with the most long-lasting slots loses its last one.
    fn make_way(&mut self) {
        let most = self.lasting.values_mut().max_by_key(|it| it.len());
        if self.queue.is_stuck()
            && let Some(ticket) = most.and_then(Vec::pop)
        {
            ticket.call.send(()).ok();
        }
    }
}

struct Ticket {
    call: oneshot::Sender<()>,
    number: u64,
}

impl Slots {
    pub(super) fn new(under_way: usize, waiting: usize) -> Arc<Self> {
        let queue = Queue::new(under_way, waiting);
        Arc::new(Self { state: Mutex::new(State { queue, lasting: BTreeMap::new() }) })
    }

    /// A place in the queue for a request of `client`; `None`: too many wait.
    pub(super) fn enter(self: &Arc<Self>, client: Client, number: u64) -> Option<Place> {
        let has_room = self.state.lock().queue.enter(client);
        has_room.then(|| Place { places: Arc::clone(self), client, number, stage: Stage::Entered })
    }
}

/// The slot of one request, returned when dropped.
pub(super) struct Place {
    places: Arc<Slots>,
    client: Client,
    /// Distinguishes it from other requests of the client.
    number: u64,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Entered,
    InLine,
}

impl Place {
    /// Moves to a queue for other slots. Returns `false` if too many wait there.
    pub(super) fn move_to(&mut self, places: &Arc<Slots>) -> bool {
        let other = places.enter(self.client, self.number);
        other.map(|it| *self = it).is_some()
    }

    /// Moves to another slot if one is free. If there is none for the client, it stays, and this ends when others need its
    /// slot.
    pub(super) async fn step_aside(&mut self, places: &Arc<Slots>) {
        if !Arc::ptr_eq(&self.places, places) && places.state.lock().queue.take(self.client) {
            let (places, stage) = (Arc::clone(places), Stage::InLine);
            *self = Self { places, client: self.client, number: self.number, stage };
        }
        if Arc::ptr_eq(&self.places, places) {
            return pending().await;
        }
        let (call, called) = oneshot::channel();
        let ticket = Ticket { call, number: self.number };
        {
            let mut state = self.places.state.lock();
            state.lasting.entry(self.client).or_default().push(ticket);
            state.make_way();
        }
        called.await.ok();
    }

    /// Waits until the request may be forwarded.
    pub(super) async fn turn(&mut self) {
        let (call, called) = oneshot::channel();
        self.stage = Stage::InLine;
        {
            let mut state = self.places.state.lock();
            state.queue.line_up(self.client, Ticket { call, number: self.number });
            state.call();
            state.make_way();
        }
        // The queue keeps the other end until it calls.
        called.await.ok();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.places.state.lock();
        let is_its = |it: &Ticket| it.number == self.number;
        match self.stage {
            Stage::Entered => state.queue.leave(self.client),
            Stage::InLine if state.queue.leave_line(self.client, is_its) => {}
            Stage::InLine => state.queue.end(self.client),
        }
        if let Some(lasting) = state.lasting.get_mut(&self.client) {
            lasting.retain(|it| !is_its(it));
            if lasting.is_empty() {
                state.lasting.remove(&self.client);
            }
        }
        state.call();
    }
}
