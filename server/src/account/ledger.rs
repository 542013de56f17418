//! The charges of all clients, and the accounts of their connections.

use super::rows::ROW_COUNT;
use super::{Budget, Charge, Limit, Scope};
use crate::Limits;
use crate::client::Client;
use crate::limits::{HELD_COPIES, HELD_FIELD_BYTES, REMEMBERED_CLIENTS};
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The balance of each row, for each client's connections together and for all clients.
#[derive(Debug)]
pub struct Ledger([Mutex<Entries>; ROW_COUNT]);

/// The balance of a row.
#[derive(Debug, Default)]
struct Entries {
    /// The rest of a rate. A client with all of it need not be listed.
    left: BTreeMap<Client, Budget>,
    /// Bytes that each client holds, and the total.
    held: BTreeMap<Client, usize>,
    all_held: usize,
}

impl Ledger {
    /// A ledger in which nobody owes anything.
    pub fn new() -> Arc<Self> {
        Arc::new(Self(std::array::from_fn(|_| Mutex::default())))
    }

    /// Bytes that all clients hold, besides those guaranteed to each connection.
    pub fn bytes(&self, charge: Charge) -> usize {
        let entries = self.entries(charge);
        debug_assert_eq!(entries.all_held, entries.held.values().sum::<usize>());
        entries.all_held
    }

    /// Clients about which more is remembered than that they have all of a rate.
    #[cfg(test)]
    fn clients(&self, charge: Charge) -> usize {
        self.entries(charge).left.len()
    }

    fn entries(&self, charge: Charge) -> MutexGuard<'_, Entries> {
        self.0[charge as usize].lock()
    }
}

impl Entries {
    /// A client's budget, which is full at first.
    fn budget(&mut self, client: Client, whole: Budget, now: Instant) -> &mut Budget {
        if self.left.len() >= REMEMBERED_CLIENTS {
            self.left.retain(|_, it| !it.is_whole(now));
        }
        if self.left.len() >= REMEMBERED_CLIENTS {
            self.left.clear();
        }
        self.left.entry(client).or_insert(whole)
    }

    /// Adds to what a client holds if its share allows it: as much as is free. So one client can have half of everything, and two a
    /// third each.
    fn hold(&mut self, client: Client, bytes: usize, all_bytes: usize) -> bool {
        let own = self.held.get(&client).copied().unwrap_or(0) + bytes;
        if own > all_bytes - self.all_held {
            return false;
        }
        self.all_held += bytes;
        self.held.insert(client, own);
        true
    }

    fn give_back(&mut self, client: Client, bytes: usize) {
        self.all_held -= bytes;
        let Some(own) = self.held.get_mut(&client) else { return };
        *own -= bytes;
        if *own == 0 {
            self.held.remove(&client);
        }
    }
}

/// The party that a connection is charged to.
#[derive(Debug, Clone)]
pub struct Account {
    ledger: Arc<Ledger>,
    client: Client,
    own: Arc<Mutex<Own>>,
}

/// The balances of one connection. Most have a few entries at most.
#[derive(Debug, Default)]
struct Own {
    left: Vec<(Charge, Budget)>,
    /// Bytes of those that are guaranteed to it.
    held: Vec<(Charge, usize)>,
}

impl Account {
    /// The account of a connection.
    pub fn new(ledger: &Arc<Ledger>, client: Client) -> Self {
        Self { ledger: Arc::clone(ledger), client, own: Arc::default() }
    }

    /// [`Budget::spend`] of a rate.
    pub fn spend(&self, charge: Charge, count: u64, limits: &Limits, now: Instant) -> bool {
        self.budget(charge, limits, now, |it| it.spend(count, now))
    }

    /// Whether less than `count` is left.
    pub fn lacks(&self, charge: Charge, count: u64, limits: &Limits, now: Instant) -> bool {
        self.budget(charge, limits, now, |it| !it.has(count, now))
    }

    /// [`Budget::borrow`] of a rate.
    pub fn borrow(
        &self,
        charge: Charge,
        count: u64,
        within: Duration,
        limits: &Limits,
        now: Instant,
    ) -> Option<Duration> {
        self.budget(charge, limits, now, |it| it.borrow(count, within, now))
    }

    fn budget<T>(
        &self,
        charge: Charge,
        limits: &Limits,
        now: Instant,
        take: impl FnOnce(&mut Budget) -> T,
    ) -> T {
        let payer = match charge.row().scope {
            Scope::Client => self.client,
            Scope::Process => Client::at(None),
            Scope::Connection | Scope::Request => {
                return take(self.own.lock().budget(charge, limits));
            }
        };
        take(self.ledger.entries(charge).budget(payer, charge.budget(limits), now))
    }

    /// Takes room in memory if there is any: what is guaranteed to the connection, whatever others of its address hold, or some of
    /// its client's part.
    pub fn hold(&self, charge: Charge, bytes: usize) -> Option<Share> {
        let Limit::Memory { all_bytes, sure_bytes } = charge.row().limit else { return None };
        let is_sure = self.own.lock().hold(charge, bytes, sure_bytes);
        let is_held = is_sure || self.ledger.entries(charge).hold(self.client, bytes, all_bytes);
        is_held.then(|| Share { of: self.clone(), charge, bytes, is_sure })
    }

    /// Takes room for a head whose field names and values have these sizes.
    pub fn hold_head(&self, fields: impl Iterator<Item = usize>) -> Option<Held> {
        let bytes = fields.map(|it| HELD_FIELD_BYTES + HELD_COPIES * it).sum();
        Some(Held { share: Some(Arc::new(self.hold(Charge::DecodedHeads, bytes)?)) })
    }
}

impl Own {
    /// The rest of a rate, which is full at first.
    fn budget(&mut self, charge: Charge, limits: &Limits) -> &mut Budget {
        let place = self.left.iter().position(|it| it.0 == charge);
        let place = place.unwrap_or_else(|| {
            self.left.push((charge, charge.budget(limits)));
            self.left.len() - 1
        });
        &mut self.left[place].1
    }

    fn hold(&mut self, charge: Charge, bytes: usize, most_bytes: usize) -> bool {
        let held = self.held.iter_mut().find(|it| it.0 == charge);
        let is_held = bytes + held.as_ref().map_or(0, |it| it.1) <= most_bytes;
        match held {
            Some(held) if is_held => held.1 += bytes,
            None if is_held => self.held.push((charge, bytes)),
            _ => {}
        }
        is_held
    }

    fn give_back(&mut self, charge: Charge, bytes: usize) {
        if let Some(held) = self.held.iter_mut().find(|it| it.0 == charge) {
            held.1 -= bytes;
        }
    }
}

/// Some bytes of memory, returned when this is dropped.
#[derive(Debug)]
pub struct Share {
    of: Account,
    charge: Charge,
    bytes: usize,
    is_sure: bool,
}

impl Share {
    /// How many they are.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.is_sure {
            self.of.own.lock().give_back(self.charge, self.bytes);
        } else {
            self.of.ledger.entries(self.charge).give_back(self.of.client, self.bytes);
        }
    }
}

/// The share of the memory for decoded heads that a request's fields take, until their last copy is gone. It does not distinguish
/// requests.
#[derive(Debug, Clone, Default)]
pub struct Held {
    share: Option<Arc<Share>>,
}

impl Held {
    /// The account that holds it.
    pub fn account(&self) -> Option<&Account> {
        self.share.as_ref().map(|it| &it.of)
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

    const HEADS: Charge = Charge::DecodedHeads;
    const ALL_BYTES: usize = 32 << 20;
    const SURE_BYTES: usize = 16 << 10;

    fn client(last: u8) -> Client {
        Client::at(Some([192, 0, 2, last].into()))
    }

    #[test]
    fn a_request_holds_its_part_until_its_last_copy_is_gone() {
        let ledger = Ledger::new();
        let account = Account::new(&ledger, client(1));
        let hold = |fields| account.hold_head(std::iter::repeat_n(10, fields));
        let held = hold(40_000).expect("room");
        assert_eq!(ledger.bytes(HEADS), 40_000 * (320 + 3 * 10));
        let copy = held.clone();
        drop(held);
        assert!(hold(20_000).is_none(), "more than is free besides");
        drop(copy);
        assert_eq!(ledger.bytes(HEADS), 0);
    }

    #[test]
    fn a_connection_has_room_for_heads_of_its_own_whatever_others_of_its_address_hold() {
        let ledger = Ledger::new();
        let [greedy, modest] = [1, 1].map(|it| Account::new(&ledger, client(it)));
        let all: Vec<Share> = std::iter::from_fn(|| greedy.hold(HEADS, SURE_BYTES)).collect();
        assert_eq!(ledger.bytes(HEADS), ALL_BYTES / 2, "half of all");
        assert_eq!(all.len(), 1 + ALL_BYTES / 2 / SURE_BYTES, "and one of its own");
        let own = modest.hold(HEADS, SURE_BYTES).expect("its own");
        assert!(modest.hold(HEADS, 1).is_none());
        drop(own);
        assert!(modest.hold(HEADS, 1).is_some());
    }

    #[test]
    fn a_limit_holds_for_those_who_share_it() {
        let (limits, start) = (Limits::default(), now());
        let (ledger, shared) = (Ledger::new(), [1, 1, 2]);
        let [one, same, other] = shared.map(|it| Account::new(&ledger, client(it)));
        for (charge, expected) in [
            (Charge::Nuisances, [true, true]),
            (Charge::RefusedHeads, [false, true]),
            (Charge::AllTcpHandshakes, [false, false]),
        ] {
            let [most, _] = charge.rate(&limits);
            let spend = |it: &Account| it.spend(charge, most.into(), &limits, start);
            assert!(spend(&one) && !spend(&one), "{charge:?}");
            assert_eq!([spend(&same), spend(&other)], expected, "{charge:?}");
        }
    }

    #[test]
    fn clients_that_have_all_of_a_rate_are_not_remembered() {
        let (ledger, limits, start) = (Ledger::new(), Limits::default(), now());
        let count = u32::try_from(REMEMBERED_CLIENTS).expect("few");
        let charge = Charge::TcpHandshakes;
        let come = |number: u32, at| {
            let address = std::net::Ipv4Addr::from_bits(number).into();
            Account::new(&ledger, Client::at(Some(address))).spend(charge, 1, &limits, at);
        };
        (0..count).for_each(|it| come(it, start));
        assert_eq!(ledger.clients(charge), REMEMBERED_CLIENTS);
        come(count, start + Duration::from_millis(10));
        assert_eq!(ledger.clients(charge), 1);
    }

    #[expect(clippy::disallowed_methods, reason = "only differences matter")]
    fn now() -> Instant {
        Instant::now()
    }
}
