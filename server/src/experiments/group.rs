//! Connections of one client that are ordered as one.
//!
//! HTTP/2's dependency trees end at the connection; a client with several, to several names of one site, has no
//! say in what goes first among them. Here one scheduler orders the streams of all of a group's
//! connections. Each connection keeps its own window, pacing and recovery; what is shared is the turn: new
//! bytes go only on the connection whose stream the scheduler picks. It loses the turn when a timer of its
//! transport fires, which says that nothing comes back from its client, until something does.
//!
//! A connection with a full window keeps its turn if the round trips say that there is a queue: then it is
//! the bottleneck that is full, and that is the same for all. Without a queue the window alone is too small
//! still, and the others send until something comes back. Without that the link stands idle while one window
//! after another grows; and a connection that waited through its beginning can start into a full queue, lose
//! its first packets, and be left with a window that takes seconds to grow.
//!
//! Who may join: a client names its group by a number of 62 bits that it draws at random, inside TLS, and a
//! group is bound to the address of the client that made it. What a group's members can do to each other is
//! what streams of one connection can; nobody else's connections are touched.

use schedulers::{Element, Resource, Scheduler, Scheme, Signal, Standing, StreamId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The greatest number of connections that can ever join one group: their streams have IDs of their own in it.
const SLOTS: u64 = 64;

/// The scheduler of a group, and who is in it.
pub(crate) struct Group {
    scheduler: Scheduler,
    members: BTreeMap<u64, Inside>,
    next_slot: u64,
}

/// What a group knows of one of its connections.
struct Inside {
    /// The connection, as the router numbers it.
    serial: u64,
    /// Its open streams, and whether they are ready.
    streams: BTreeMap<StreamId, bool>,
    /// It does not get its turn: nothing comes back from its client.
    rests: bool,
    /// It does not get its turn: its window is too small for the path, and full.
    full: bool,
}

impl Inside {
    fn new(serial: u64) -> Self {
        Self { serial, streams: BTreeMap::new(), rests: false, full: false }
    }

    fn takes_part(&self) -> bool {
        !self.rests && !self.full
    }
}

/// One connection's part in a group. Dropping it leaves the group.
pub(crate) struct Member {
    group: Arc<Mutex<Group>>,
    slot: u64,
}

impl Group {
    pub(crate) fn new(scheme: &Scheme) -> Arc<Mutex<Self>> {
        let scheduler = Scheduler::new(scheme);
        Arc::new(Mutex::new(Self { scheduler, members: BTreeMap::new(), next_slot: 0 }))
    }

    /// A part for the connection `serial`; none: there are `limit` already, or too many have been.
    pub(crate) fn join(group: &Arc<Mutex<Self>>, serial: u64, limit: usize) -> Option<Member> {
        let mut inside = lock(group);
        let slot = inside.next_slot;
        if inside.members.len() >= limit || slot >= SLOTS {
            return None;
        }
        inside.next_slot += 1;
        inside.members.insert(slot, Inside::new(serial));
        Some(Member { group: Arc::clone(group), slot })
    }

    /// Whether everybody has left.
    pub(crate) fn is_empty(group: &Arc<Mutex<Self>>) -> bool {
        lock(group).members.is_empty()
    }

    fn set_ready(&mut self, slot: u64, stream: StreamId, ready: bool) {
        let Some(inside) = self.members.get_mut(&slot) else { return };
        let Some(noted) = inside.streams.get_mut(&stream) else { return };
        *noted = ready;
        if inside.takes_part() {
            self.scheduler.set_ready(named(slot, stream), ready);
        }
        self.wake_all_if_idle();
    }

    /// Changes what is known of a connection, and with it perhaps whether it takes part.
    fn change(&mut self, slot: u64, change: impl FnOnce(&mut Inside)) {
        let Some(inside) = self.members.get_mut(&slot) else { return };
        let before = inside.takes_part();
        change(inside);
        let after = inside.takes_part();
        if before != after {
            for (stream, _) in inside.streams.iter().filter(|(_, ready)| **ready) {
                self.scheduler.set_ready(named(slot, *stream), after);
            }
            self.wake_all_if_idle();
        }
    }

    /// Where only resting connections have something to send, none of them needs to rest. Full ones stay out of it:
    /// something comes back, or a timer fires.
    fn wake_all_if_idle(&mut self) {
        if self.scheduler.pick().is_some() {
            return;
        }
        for (slot, inside) in self.members.iter_mut().filter(|(_, it)| it.rests && !it.full) {
            inside.rests = false;
            for (stream, _) in inside.streams.iter().filter(|(_, ready)| **ready) {
                self.scheduler.set_ready(named(*slot, *stream), true);
            }
        }
    }

    fn leave(&mut self, slot: u64) {
        let Some(inside) = self.members.remove(&slot) else { return };
        for stream in inside.streams.into_keys() {
            self.scheduler.close(named(slot, stream));
        }
        self.wake_all_if_idle();
    }
}

impl Member {
    pub(crate) fn open(&self, stream: StreamId, resource: &Resource) {
        let mut group = lock(&self.group);
        group.scheduler.open(named(self.slot, stream), resource);
        if let Some(inside) = group.members.get_mut(&self.slot) {
            inside.streams.entry(stream).or_insert(false);
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        lock(&self.group).scheduler.signal(renamed(self.slot, signal));
    }

    pub(crate) fn set_ready(&self, stream: StreamId, ready: bool) {
        lock(&self.group).set_ready(self.slot, stream, ready);
    }

    /// The stream whose turn it is, if it is one of this connection.
    pub(crate) fn pick(&self) -> Option<StreamId> {
        let picked = lock(&self.group).scheduler.pick()?;
        (picked.0 % SLOTS == self.slot).then_some(StreamId(picked.0 / SLOTS))
    }

    pub(crate) fn sent(&self, stream: StreamId, bytes: u64) {
        lock(&self.group).scheduler.sent(named(self.slot, stream), bytes);
    }

    pub(crate) fn close(&self, stream: StreamId) {
        let mut group = lock(&self.group);
        group.scheduler.close(named(self.slot, stream));
        if let Some(inside) = group.members.get_mut(&self.slot) {
            inside.streams.remove(&stream);
        }
        group.wake_all_if_idle();
    }

    pub(crate) fn standing(&self, stream: StreamId) -> Option<Standing> {
        lock(&self.group).scheduler.standing(named(self.slot, stream))
    }

    /// Nothing comes back from the client: gives up the turn.
    pub(crate) fn rest(&self) {
        lock(&self.group).change(self.slot, |it| (it.rests, it.full) = (true, false));
    }

    /// Something came back: is ready for the turn.
    pub(crate) fn heard(&self) {
        lock(&self.group).change(self.slot, |it| (it.rests, it.full) = (false, false));
    }

    /// The window is full and the path is not: gives up the turn until something comes back.
    pub(crate) fn window_full(&self) {
        lock(&self.group).change(self.slot, |it| it.full = true);
    }

    /// The connection whose turn it is, as the router numbers it.
    pub(crate) fn turn(&self) -> Option<u64> {
        let group = lock(&self.group);
        let picked = group.scheduler.pick()?;
        group.members.get(&(picked.0 % SLOTS)).map(|it| it.serial)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        lock(&self.group).leave(self.slot);
    }
}

/// A group is consistent between any two calls, also after a panic in another one.
fn lock(group: &Arc<Mutex<Group>>) -> MutexGuard<'_, Group> {
    group.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A stream's name in the group: of two streams with one ID, that of the earlier connection is lower.
fn named(slot: u64, StreamId(id): StreamId) -> StreamId {
    StreamId(id.saturating_mul(SLOTS).saturating_add(slot))
}

fn renamed(slot: u64, signal: Signal) -> Signal {
    let element = |it| match it {
        Element::Stream(stream) => Element::Stream(named(slot, stream)),
        // Placeholders are the group's: those of one client mean the same on all of its connections.
        Element::Root | Element::Placeholder(_) => it,
    };
    match signal {
        Signal::Extensible { stream, urgency, incremental } => {
            Signal::Extensible { stream: named(slot, stream), urgency, incremental }
        }
        Signal::Bucket { stream, byte } => Signal::Bucket { stream: named(slot, stream), byte },
        Signal::Depend { element: it, parent, weight, exclusive } => {
            Signal::Depend { element: element(it), parent: element(parent), weight, exclusive }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedulers::{Kind, find_scheme};

    fn two() -> (Member, Member) {
        let group = Group::new(&find_scheme("fifo").expect("a scheme"));
        let member = |serial| Group::join(&group, serial, 2);
        let both = (member(7).expect("room"), member(9).expect("room"));
        assert!(member(11).is_none(), "a third is one too many");
        both
    }

    fn open(member: &Member, id: u64) {
        member.open(StreamId(id), &Resource { kind: Kind::Image, ..Resource::default() });
        member.set_ready(StreamId(id), true);
    }

    #[test]
    fn only_the_connection_of_the_first_stream_has_its_turn() {
        let (a, b) = two();
        open(&b, 0);
        open(&a, 0);
        assert_eq!((a.pick(), b.pick(), a.turn()), (None, Some(StreamId(0)), Some(9)));
        b.close(StreamId(0));
        assert_eq!((a.pick(), b.pick(), b.turn()), (Some(StreamId(0)), None, Some(7)));
    }

    #[test]
    fn who_hears_nothing_rests_while_others_can_send_and_only_then() {
        let (a, b) = two();
        open(&a, 0);
        open(&b, 0);
        a.rest();
        assert_eq!((a.pick(), b.pick()), (None, Some(StreamId(0))));
        b.set_ready(StreamId(0), false);
        assert_eq!(a.pick(), Some(StreamId(0)), "nobody else can");
        b.set_ready(StreamId(0), true);
        assert_eq!(a.pick(), Some(StreamId(0)), "it is first again");
    }

    #[test]
    fn who_has_a_window_that_is_too_small_leaves_the_turn_to_others_until_something_comes_back() {
        let (a, b) = two();
        open(&a, 0);
        open(&b, 0);
        a.window_full();
        assert_eq!((a.turn(), b.pick()), (Some(9), Some(StreamId(0))));
        b.window_full();
        assert_eq!((a.turn(), a.pick(), b.pick()), (None, None, None), "nobody can send");
        a.heard();
        assert_eq!((a.turn(), a.pick()), (Some(7), Some(StreamId(0))));
    }

    #[test]
    fn who_leaves_takes_its_streams_along() {
        let (a, b) = two();
        open(&a, 0);
        open(&b, 0);
        drop(a);
        assert_eq!(b.pick(), Some(StreamId(0)));
    }
}
