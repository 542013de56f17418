//! Servers that share an address, one for each core, and servers at other addresses.
//!
//! The system gives each of them the datagrams of some clients, by their addresses. A client whose address changes arrives at
//! another shard. Its connection ID names the shard that has the connection, and the datagram is handed over.

use crate::account::Ledger;
use crate::alarm::Alarm;
use crate::connection_ids::{ConnectionIds, LoadBalancer};
use crate::limits::HANDED_BYTES;
use crate::population::Population;
use connection::Path;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

/// Datagrams, each with the addresses that it travelled between.
pub(crate) type Datagrams = VecDeque<(Path, Vec<u8>)>;

/// A server's place among those that share its address.
#[derive(Clone)]
pub(crate) struct Shard {
    number: u8,
    all: Arc<Shards>,
}

struct Shards {
    ids: ConnectionIds,
    population: Arc<Mutex<Population>>,
    ledger: Arc<Ledger>,
    inboxes: Vec<Inbox>,
    /// Where each listens.
    locals: Vec<SocketAddr>,
}

/// Datagrams that others have handed over to a shard.
#[derive(Default)]
struct Inbox {
    waiting: Mutex<(Datagrams, usize)>,
    alarm: Alarm,
}

impl Shard {
    /// A server that does not share its address.
    pub(crate) fn alone() -> Self {
        // Nobody compares the address.
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        Self::of(&[nowhere], ConnectionIds::random()).remove(0)
    }

    /// Servers that listen there, at most 255, with or without a load balancer before them. `None`: the system has no randomness.
    pub(crate) fn all(
        locals: &[SocketAddr],
        load_balancer: Option<LoadBalancer>,
    ) -> Option<Vec<Self>> {
        let is_alone = locals.len() == 1 && load_balancer.is_none();
        let ids =
            if is_alone { ConnectionIds::random() } else { ConnectionIds::routed(load_balancer)? };
        Some(Self::of(locals, ids))
    }

    fn of(locals: &[SocketAddr], ids: ConnectionIds) -> Vec<Self> {
        let count = u8::try_from(locals.len()).unwrap_or(u8::MAX);
        let inboxes = (0..count).map(|_| Inbox::default()).collect();
        let locals = locals.to_vec();
        let ledger = Ledger::new();
        let population = Arc::default();
        let all = Arc::new(Shards { ids, population, ledger, inboxes, locals });
        (0..count).map(|number| Self { number, all: Arc::clone(&all) }).collect()
    }

    /// The clients of all shards.
    pub(crate) fn population(&self) -> Arc<Mutex<Population>> {
        Arc::clone(&self.all.population)
    }

    /// The accounts of the clients of all shards.
    pub(crate) fn ledger(&self) -> Arc<Ledger> {
        Arc::clone(&self.all.ledger)
    }

    pub(crate) fn alarm(&self) -> Alarm {
        self.inbox(self.number).map_or_else(Alarm::default, |it| it.alarm.clone())
    }

    pub(crate) fn id_bytes(&self) -> usize {
        self.all.ids.bytes()
    }

    /// A new connection ID that names this shard; `None`: the system has no randomness.
    pub(crate) fn new_id(&self) -> Option<Vec<u8>> {
        self.all.ids.new_id(self.number)
    }

    /// Gives another shard a datagram with an ID that names it. Returns `false` if it is for this shard. The datagram is lost when
    /// too much waits at the other shard, or if that shard listens elsewhere, because a client must stay at the server's address
    /// (RFC 9000, section 9).
    pub(crate) fn hand_over(&self, id: &[u8], datagram: &[u8], path: Path) -> bool {
        let other = self.all.ids.shard(id).filter(|it| *it != self.number);
        let Some((other, inbox)) = other.and_then(|it| Some((it, self.inbox(it)?))) else {
            return false;
        };
        if self.local(other) == self.local(self.number) {
            inbox.put(datagram, path);
        }
        true
    }

    fn local(&self, number: u8) -> Option<&SocketAddr> {
        self.all.locals.get(usize::from(number))
    }

    /// Datagrams that others have handed over.
    pub(crate) fn take(&self) -> Datagrams {
        self.inbox(self.number).map_or_else(Datagrams::new, Inbox::take)
    }

    fn inbox(&self, number: u8) -> Option<&Inbox> {
        self.all.inboxes.get(usize::from(number))
    }
}

impl Inbox {
    fn put(&self, datagram: &[u8], path: Path) {
        let was_empty = {
            let (waiting, bytes) = &mut *self.waiting.lock();
            let was_empty = waiting.is_empty();
            if *bytes + datagram.len() <= HANDED_BYTES {
                waiting.push_back((path, datagram.to_vec()));
                *bytes += datagram.len();
            }
            was_empty
        };
        if was_empty {
            self.alarm.wake();
        }
    }

    fn take(&self) -> Datagrams {
        std::mem::take(&mut *self.waiting.lock()).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn path() -> Path {
        Path { local: ([192, 0, 2, 1], 443).into(), peer: ([192, 0, 2, 2], 5000).into() }
    }

    /// `count` shards at one address.
    fn shared(count: usize) -> Vec<SocketAddr> {
        vec![path().local; count]
    }

    #[test]
    fn a_datagram_for_a_shard_at_another_address_is_lost() {
        let elsewhere = SocketAddr::from(([192, 0, 2, 9], 443));
        let shards = Shard::all(&[path().local, elsewhere], None).expect("randomness");
        let id = shards[1].new_id().expect("an ID");
        assert!(shards[0].hand_over(&id, b"one", path()));
        assert!(shards[1].take().is_empty());
    }

    #[test]
    fn a_datagram_goes_to_the_shard_that_its_id_names_and_wakes_it_once() {
        let shards = Shard::all(&shared(3), None).expect("randomness");
        let woken = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&woken);
        shards[2].alarm().wake_with(Box::new(move || {
            count.fetch_add(1, Ordering::SeqCst);
        }));
        let id = shards[2].new_id().expect("an ID");
        assert!(shards[0].hand_over(&id, b"one", path()));
        assert!(shards[1].hand_over(&id, b"two", path()));
        assert!(!shards[2].hand_over(&id, b"own", path()));
        assert_eq!(woken.load(Ordering::SeqCst), 1);
        let came: Vec<_> = shards[2].take().into_iter().map(|(_, it)| it).collect();
        assert_eq!(came, [b"one", b"two"]);
        assert!(shards[2].take().is_empty());
    }

    #[test]
    fn what_waits_at_a_shard_has_a_limit() {
        let shards = Shard::all(&shared(2), None).expect("randomness");
        let id = shards[1].new_id().expect("an ID");
        let datagram = vec![0; HANDED_BYTES / 4];
        for _ in 0..5 {
            assert!(shards[0].hand_over(&id, &datagram, path()));
        }
        assert_eq!(shards[1].take().len(), 4);
        shards[0].hand_over(&id, &datagram, path());
        assert_eq!(shards[1].take().len(), 1, "there is room again");
    }

    #[test]
    fn an_id_of_a_shard_that_is_not_there_stays_where_it_came() {
        let balancer = LoadBalancer { config_id: 0, server_id: vec![1], key: [7; 16] };
        let many = Shard::all(&shared(8), Some(balancer.clone())).expect("randomness");
        let few = Shard::all(&shared(2), Some(balancer)).expect("randomness");
        let id = many[7].new_id().expect("an ID");
        assert!(!few[0].hand_over(&id, b"", path()));
    }
}
