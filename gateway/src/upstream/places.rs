//! Places at the backend, and for those that wait for one.

use super::queue::Queue;
use server::client::Client;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The places of one backend.
pub(super) struct Places {
    queue: Mutex<Queue<Ticket>>,
}

struct Ticket {
    call: oneshot::Sender<()>,
    number: u64,
}

impl Places {
    pub(super) fn new(under_way: usize, waiting: usize) -> Arc<Self> {
        Arc::new(Self { queue: Mutex::new(Queue::new(under_way, waiting)) })
    }

    /// A place to wait in for a request of `client`; `None`: too many wait.
    pub(super) fn enter(self: &Arc<Self>, client: Client, number: u64) -> Option<Place> {
        let has_room = self.queue().enter(client);
        has_room.then(|| Place { places: Arc::clone(self), client, number, stage: Stage::Entered })
    }

    fn queue(&self) -> MutexGuard<'_, Queue<Ticket>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call(queue: &mut Queue<Ticket>) {
        while let Some(ticket) = queue.next() {
            // One that has just given up gives its place back itself.
            ticket.call.send(()).ok();
        }
    }
}

/// The place of one request, given back when dropped.
pub(super) struct Place {
    places: Arc<Places>,
    client: Client,
    /// Tells it from other requests of the client.
    number: u64,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Entered,
    InLine,
}

impl Place {
    /// Leaves for a place to wait in among others; false: too many wait there.
    pub(super) fn move_to(&mut self, places: &Arc<Places>) -> bool {
        let other = places.enter(self.client, self.number);
        other.map(|it| *self = it).is_some()
    }

    /// Leaves for another place that is free, and stays if there is none for the client.
    pub(super) fn step_aside(&mut self, places: &Arc<Places>) {
        if !Arc::ptr_eq(&self.places, places) && places.queue().take(self.client) {
            let (places, stage) = (Arc::clone(places), Stage::InLine);
            *self = Self { places, client: self.client, number: self.number, stage };
        }
    }

    /// Waits until the request may go to the backend.
    pub(super) async fn turn(&mut self) {
        let (call, called) = oneshot::channel();
        self.stage = Stage::InLine;
        {
            let mut queue = self.places.queue();
            queue.line_up(self.client, Ticket { call, number: self.number });
            Places::call(&mut queue);
        }
        // The queue keeps the other end until it calls.
        called.await.ok();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut queue = self.places.queue();
        match self.stage {
            Stage::Entered => queue.leave(self.client),
            Stage::InLine if queue.leave_line(self.client, |it| it.number == self.number) => {}
            Stage::InLine => queue.end(self.client),
        }
        Places::call(&mut queue);
    }
}
