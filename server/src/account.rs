//! Accounts of memory that clients share: each may have as much of it as is free.

use crate::client::Client;
use crate::limits::{HELD_COPIES, HELD_FIELD_BYTES};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What all clients hold of some bytes.
#[derive(Debug)]
pub(crate) struct Account {
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
    pub(crate) fn new(most_bytes: usize) -> Arc<Self> {
        Arc::new(Self { most_bytes, sums: Mutex::default() })
    }

    /// Adds to what a client holds, if its share allows it: as much as is free. So one has half of all, and two have a third
    /// each.
    pub(crate) fn take(self: &Arc<Self>, client: Client, bytes: usize) -> Option<Share> {
        let mut sums = self.sums();
        let free = self.most_bytes - sums.bytes;
        let own = sums.by_client.get(&client).copied().unwrap_or(0) + bytes;
        if own > free {
            return None;
        }
        sums.bytes += bytes;
        sums.by_client.insert(client, own);
        Some(Share { account: Arc::clone(self), client, bytes })
    }

    /// Bytes that all clients hold.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        let sums = self.sums();
        debug_assert_eq!(sums.bytes, sums.by_client.values().sum::<usize>());
        sums.bytes
    }

    fn sums(&self) -> MutexGuard<'_, Sums> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A part of an account, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    account: Arc<Account>,
    client: Client,
    bytes: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut sums = self.account.sums();
        sums.bytes -= self.bytes;
        let Some(own) = sums.by_client.get_mut(&self.client) else { return };
        *own -= self.bytes;
        if *own == 0 {
            sums.by_client.remove(&self.client);
        }
    }
}

/// What the fields of a request take of the memory for all decoded heads, until the last copy of them is gone. It does not
/// tell requests apart.
#[derive(Debug, Clone, Default)]
pub struct Held {
    _share: Option<Arc<Share>>,
}

impl Held {
    /// The part of fields with these bytes in their names and values; `None`: the client has no room for them.
    pub(crate) fn of(
        account: &Arc<Account>,
        client: Client,
        fields: impl Iterator<Item = usize>,
    ) -> Option<Self> {
        let bytes = fields.map(|it| HELD_FIELD_BYTES + HELD_COPIES * it).sum();
        Some(Self { _share: Some(Arc::new(account.take(client, bytes)?)) })
    }
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
        let (account, client) = (Account::new(4000), Client::at(None));
        let of = |fields: &[usize]| Held::of(&account, client, fields.iter().copied());
        let held = of(&[10, 100]).expect("room");
        assert_eq!(account.bytes(), 2 * 320 + 3 * 110);
        let copy = held.clone();
        drop(held);
        assert!(of(&[1, 1, 1, 1, 1, 1, 1]).is_none(), "more than is free besides");
        drop(copy);
        assert_eq!(account.bytes(), 0);
    }
}
