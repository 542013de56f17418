//! Accounts of memory that clients share: each may have as much of it as is free.

use crate::client::Client;
use crate::limits::{HELD_COPIES, HELD_FIELD_BYTES, SURE_HEAD_BYTES};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What all clients hold of some bytes.
#[derive(Debug)]
pub struct Account {
    most_bytes: usize,
    sums: Mutex<Sums>,
}

#[derive(Debug, Default)]
struct Sums {
    bytes: usize,
    by_client: BTreeMap<Client, usize>,
}

impl Account {
    /// An account of `most_bytes` for all clients.
    pub fn new(most_bytes: usize) -> Arc<Self> {
        Arc::new(Self { most_bytes, sums: Mutex::default() })
    }

    /// Adds to what a client holds, if its share allows it: as much as is free. So one has half of all, and two have a third
    /// each.
    pub fn take(self: &Arc<Self>, client: Client, bytes: usize) -> Option<Share> {
        let mut sums = self.sums();
        let free = self.most_bytes - sums.bytes;
        let own = sums.by_client.get(&client).copied().unwrap_or(0) + bytes;
        if own > free {
            return None;
        }
        sums.bytes += bytes;
        sums.by_client.insert(client, own);
        Some(Share { of: Payer::Account(Arc::clone(self), client), bytes })
    }

    fn give_back(&self, client: Client, bytes: usize) {
        let mut sums = self.sums();
        sums.bytes -= bytes;
        let Some(own) = sums.by_client.get_mut(&client) else { return };
        *own -= bytes;
        if *own == 0 {
            sums.by_client.remove(&client);
        }
    }

    /// Bytes that all clients hold.
    pub fn bytes(&self) -> usize {
        let sums = self.sums();
        debug_assert_eq!(sums.bytes, sums.by_client.values().sum::<usize>());
        sums.bytes
    }

    fn sums(&self) -> MutexGuard<'_, Sums> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Some bytes of an account, given back when this is dropped.
#[derive(Debug)]
pub struct Share {
    of: Payer,
    bytes: usize,
}

#[derive(Debug)]
enum Payer {
    Account(Arc<Account>, Client),
    /// What a connection has for itself; so much of it is taken.
    Connection(Arc<AtomicUsize>),
}

impl Drop for Share {
    fn drop(&mut self) {
        match &self.of {
            Payer::Account(account, client) => account.give_back(*client, self.bytes),
            Payer::Connection(taken) => {
                taken.fetch_sub(self.bytes, Ordering::Relaxed);
            }
        }
    }
}

/// Where a connection finds room for its heads: in [`SURE_HEAD_BYTES`] of its own, whatever others of its address hold, and
/// beyond them in its client's part of the account.
#[derive(Debug, Clone)]
pub struct HeadRoom {
    account: Arc<Account>,
    client: Client,
    own_taken: Arc<AtomicUsize>,
}

impl HeadRoom {
    /// Room for the heads of one connection.
    pub fn new(account: &Arc<Account>, client: Client) -> Self {
        Self { account: Arc::clone(account), client, own_taken: Arc::default() }
    }

    /// Takes room for some bytes, if there is any.
    pub fn take(&self, bytes: usize) -> Option<Share> {
        let with_own = |taken: usize| Some(taken + bytes).filter(|it| *it <= SURE_HEAD_BYTES);
        let own = self.own_taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with_own);
        match own {
            Ok(_) => Some(Share { of: Payer::Connection(Arc::clone(&self.own_taken)), bytes }),
            Err(_) => self.account.take(self.client, bytes),
        }
    }

    /// Takes room for a head whose fields have these bytes in their names and values.
    pub fn hold(&self, fields: impl Iterator<Item = usize>) -> Option<Held> {
        let bytes = fields.map(|it| HELD_FIELD_BYTES + HELD_COPIES * it).sum();
        Some(Held { _share: Some(Arc::new(self.take(bytes)?)) })
    }
}

/// What the fields of a request take of the memory for all decoded heads, until the last copy of them is gone. It does not
/// tell requests apart.
#[derive(Debug, Clone, Default)]
pub struct Held {
    _share: Option<Arc<Share>>,
}

impl PartialEq for Held {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Held {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_holds_its_part_until_its_last_copy_is_gone() {
        let account = Account::new(100_000);
        let room = HeadRoom::new(&account, Client::at(None));
        let hold = |fields| room.hold([10; 100].into_iter().take(fields));
        let held = hold(100).expect("room");
        assert_eq!(account.bytes(), 100 * (320 + 3 * 10));
        let copy = held.clone();
        drop(held);
        assert!(hold(95).is_none(), "more than is free besides");
        drop(copy);
        assert_eq!(account.bytes(), 0);
    }

    #[test]
    fn a_connection_has_room_for_heads_of_its_own_whatever_others_of_its_address_hold() {
        let account = Account::new(100_000);
        let client = Client::at(None);
        let (greedy, modest) = (HeadRoom::new(&account, client), HeadRoom::new(&account, client));
        let all: Vec<Share> = std::iter::from_fn(|| greedy.take(10_000)).collect();
        assert_eq!((all.len(), account.bytes()), (6, 50_000), "one of its own, and half of all");
        let own = modest.take(SURE_HEAD_BYTES).expect("its own");
        assert!(modest.take(1).is_none());
        drop(own);
        assert!(modest.take(1).is_some());
    }
}
