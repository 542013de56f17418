//! Connections of one client that are ordered as one.
//!
//! HTTP/2's dependency trees end at the connection. A client with several connections, to several names of one site,
//! cannot express an order among them. Here one scheduler orders the streams of all connections of a group. Each
//! connection keeps its own window, pacing and recovery; they share the turn: new bytes are sent only on the
//! connection whose stream the scheduler picks. A connection loses its turn when a timer of its transport fires,
//! because then its client is silent, and regains it when something arrives.
//!
//! A connection with a full window keeps its turn if the round trips show a queue: then the bottleneck, which all of
//! them share, is full. Without a queue, only this window is too small, and the others send until something arrives.
//! Otherwise the link would stand idle while one window after another grows; and a connection whose beginning was
//! delayed could start into a full queue, lose its first packets, and be left with a window that takes seconds to
//! grow.
//!
//! A client names its group by a 62-bit number that it draws at random, inside TLS, and members must share the
//! founder's IP address. Members can affect each other as streams of one connection can; other connections are not
//! affected.

use crate::limits::GROUP_SLOTS as SLOTS;
use crate::order::{Joint, Picker};
use crate::responder::Responder;
use crate::together::ConnectionEvent;
use parking_lot::Mutex;
use schedulers::{Call, Element, Scheduler, Scheme, Signal, StreamId};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Weak};

pub(crate) struct Groups {
    /// The maximum number of connections in one group.
    limit: usize,
    inside: Mutex<Registry>,
}

#[derive(Default)]
struct Registry {
    groups: HashMap<GroupName, Arc<Mutex<Group>>>,
    /// The connections in them, as the router numbers them.
    members: BTreeMap<u64, Weak<Member>>,
}

/// The client's address, the number that it sent, and the scheme.
type GroupName = (IpAddr, u64, String);

impl Groups {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, inside: Mutex::default() }
    }

    /// Informs the members about an event on one of them. Returns whose turn it is when one has left.
    pub(crate) fn update(
        &self,
        serial: u64,
        event: ConnectionEvent,
        responder: Option<&mut Responder>,
    ) -> Option<u64> {
        let member = self.member(serial)?;
        let sender = responder.map(|it| &it.sender);
        match (event, sender) {
            (ConnectionEvent::Over, _) => {
                member.silent();
                self.inside.lock().members.remove(&serial);
                return member.turn();
            }
            (ConnectionEvent::Came, Some(sender)) if !sender.connection.is_closing() => {
                member.heard();
            }
            (ConnectionEvent::Came | ConnectionEvent::TimerFired, _) => member.silent(),
            (ConnectionEvent::Sent, Some(sender)) if sender.is_window_full() => {
                member.window_full(sender.path_has_queue());
            }
            (ConnectionEvent::Sent | ConnectionEvent::Brought, _) => {}
        }
        None
    }

    /// The connection that goes first among those with which this one shares an order.
    pub(crate) fn turn(&self, serial: u64) -> Option<u64> {
        self.member(serial)?.turn()
    }

    fn member(&self, serial: u64) -> Option<Arc<Member>> {
        self.inside.lock().members.get(&serial)?.upgrade()
    }
}

impl Joint for Groups {
    fn join(
        &self,
        serial: u64,
        client: IpAddr,
        number: u64,
        scheme: &Scheme,
    ) -> Option<Box<dyn Picker>> {
        if self.limit == 0 {
            return None;
        }
        let Registry { groups, members } = &mut *self.inside.lock();
        if groups.len() == groups.capacity() {
            groups.retain(|_, group| !Group::is_empty(group));
        }
        let group = groups.entry((client, number, scheme.name.clone()));
        let group = group.or_insert_with(|| Group::new(scheme));
        if Group::is_empty(group) {
            *group = Group::new(scheme);
        }
        let member = Arc::new(Group::join(group, serial, self.limit)?);
        members.insert(serial, Arc::downgrade(&member));
        Some(Box::new(member))
    }
}

/// A scheduler, and the connections that share it.
struct Group {
    scheduler: Scheduler,
    members: BTreeMap<u64, Standing>,
    next_slot: u64,
}

#[derive(Default)]
struct Standing {
    /// The connection, as the router numbers it.
    serial: u64,
    /// Its open streams, and whether they are ready.
    streams: BTreeMap<StreamId, bool>,
    /// It does not get the turn because its client is silent.
    rests: bool,
    /// It does not get the turn because its window is full, although the path is not.
    full: bool,
}

impl Standing {
    fn takes_part(&self) -> bool {
        !self.rests && !self.full
    }
}

/// One connection's part in a group. Dropping it leaves the group.
struct Member {
    group: Arc<Mutex<Group>>,
    slot: u64,
}

impl Group {
    fn new(scheme: &Scheme) -> Arc<Mutex<Self>> {
        let scheduler = Scheduler::new(scheme);
        Arc::new(Mutex::new(Self { scheduler, members: BTreeMap::new(), next_slot: 0 }))
    }

    /// Joins the connection `serial`. Returns `None` if there are `limit` members, or too many have joined over time.
    fn join(group: &Arc<Mutex<Self>>, serial: u64, limit: usize) -> Option<Member> {
        let mut inside = group.lock();
        let slot = inside.next_slot;
        if inside.members.len() >= limit || slot >= SLOTS {
            return None;
        }
        inside.next_slot += 1;
        inside.members.insert(slot, Standing { serial, ..Standing::default() });
        Some(Member { group: Arc::clone(group), slot })
    }

    fn is_empty(group: &Arc<Mutex<Self>>) -> bool {
        group.lock().members.is_empty()
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

    /// Changes what is known about a member, and perhaps whether it takes part.
    fn change(&mut self, slot: u64, change: impl FnOnce(&mut Standing)) {
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

    /// Wakes all resting members if only they have something to send. Members with a full window wait until something
    /// arrives or a timer fires.
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

impl Picker for Arc<Member> {
    fn call(&mut self, call: &Call) {
        let (slot, mut group) = (self.slot, self.group.lock());
        match *call {
            Call::Open(stream, resource) => {
                group.scheduler.open(named(slot, stream), &resource);
                if let Some(inside) = group.members.get_mut(&slot) {
                    inside.streams.entry(stream).or_insert(false);
                }
            }
            Call::Signal(signal) => group.scheduler.signal(renamed(slot, signal)),
            Call::SetReady(stream, ready) => group.set_ready(slot, stream, ready),
            Call::Start { .. } | Call::Pick(_) => {}
            Call::Sent(stream, bytes) => group.scheduler.sent(named(slot, stream), bytes),
            Call::Close(stream) => {
                group.scheduler.close(named(slot, stream));
                if let Some(inside) = group.members.get_mut(&slot) {
                    inside.streams.remove(&stream);
                }
                group.wake_all_if_idle();
            }
        }
    }

    fn pick(&self) -> Option<StreamId> {
        let picked = self.group.lock().scheduler.pick()?;
        (picked.0 % SLOTS == self.slot).then_some(StreamId(picked.0 / SLOTS))
    }

    fn is_shared(&self) -> bool {
        true
    }
}

impl Member {
    fn turn(&self) -> Option<u64> {
        let group = self.group.lock();
        let picked = group.scheduler.pick()?;
        group.members.get(&(picked.0 % SLOTS)).map(|it| it.serial)
    }

    /// Something arrived from the client: it takes part again.
    fn heard(&self) {
        self.group.lock().change(self.slot, |it| (it.rests, it.full) = (false, false));
    }

    /// The client is silent: it gives up the turn.
    fn silent(&self) {
        self.group.lock().change(self.slot, |it| (it.rests, it.full) = (true, false));
    }

    /// Its window is full. It gives up the turn until something arrives, unless the path is full, too.
    fn window_full(&self, path_has_queue: bool) {
        if !path_has_queue {
            self.group.lock().change(self.slot, |it| it.full = true);
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.group.lock().leave(self.slot);
    }
}

/// A stream's name in the group. If two streams have the same ID, the stream of the earlier connection has the lower
/// name.
fn named(slot: u64, StreamId(id): StreamId) -> StreamId {
    StreamId(id.saturating_mul(SLOTS).saturating_add(slot))
}

fn renamed(slot: u64, signal: Signal) -> Signal {
    match signal {
        Signal::Extensible { stream, urgency, incremental } => {
            Signal::Extensible { stream: named(slot, stream), urgency, incremental }
        }
        Signal::Bucket { stream, byte } => Signal::Bucket { stream: named(slot, stream), byte },
        Signal::Depend { element, parent, weight, exclusive } => {
            let (element, parent) = (renamed_element(slot, element), renamed_element(slot, parent));
            Signal::Depend { element, parent, weight, exclusive }
        }
    }
}

fn renamed_element(slot: u64, element: Element) -> Element {
    match element {
        Element::Stream(stream) => Element::Stream(named(slot, stream)),
        // Placeholders are the group's: a client's placeholder means the same on all of its connections.
        Element::Root | Element::Placeholder(_) => element,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedulers::{Kind, Resource, find_scheme};

    fn two() -> (Arc<Member>, Arc<Member>) {
        let group = Group::new(&find_scheme("fifo").expect("a scheme"));
        let member = |serial| Group::join(&group, serial, 2).map(Arc::new);
        let both = (member(7).expect("room"), member(9).expect("room"));
        assert!(member(11).is_none(), "a third is one too many");
        both
    }

    fn open(member: &mut Arc<Member>, id: u64) {
        let image = Resource { kind: Kind::Image, ..Resource::default() };
        member.call(&Call::Open(StreamId(id), image));
        member.call(&Call::SetReady(StreamId(id), true));
    }

    #[test]
    fn only_the_connection_of_the_first_stream_has_its_turn() {
        let (mut a, mut b) = two();
        open(&mut b, 0);
        open(&mut a, 0);
        assert_eq!((a.pick(), b.pick(), a.turn()), (None, Some(StreamId(0)), Some(9)));
        b.call(&Call::Close(StreamId(0)));
        assert_eq!((a.pick(), b.pick(), b.turn()), (Some(StreamId(0)), None, Some(7)));
    }

    #[test]
    fn who_hears_nothing_rests_while_others_can_send_and_only_then() {
        let (mut a, mut b) = two();
        open(&mut a, 0);
        open(&mut b, 0);
        a.silent();
        assert_eq!((a.pick(), b.pick()), (None, Some(StreamId(0))));
        b.call(&Call::SetReady(StreamId(0), false));
        assert_eq!(a.pick(), Some(StreamId(0)), "nobody else can");
        b.call(&Call::SetReady(StreamId(0), true));
        assert_eq!(a.pick(), Some(StreamId(0)), "it is first again");
    }

    #[test]
    fn who_has_a_window_that_is_too_small_leaves_the_turn_to_others_until_something_comes_back() {
        let (mut a, mut b) = two();
        open(&mut a, 0);
        open(&mut b, 0);
        a.window_full(false);
        assert_eq!((a.turn(), b.pick()), (Some(9), Some(StreamId(0))));
        b.window_full(false);
        assert_eq!((a.turn(), a.pick(), b.pick()), (None, None, None), "nobody can send");
        a.heard();
        assert_eq!((a.turn(), a.pick()), (Some(7), Some(StreamId(0))));
    }

    #[test]
    fn who_leaves_takes_its_streams_along() {
        let (mut a, mut b) = two();
        open(&mut a, 0);
        open(&mut b, 0);
        drop(a);
        assert_eq!(b.pick(), Some(StreamId(0)));
    }
}
