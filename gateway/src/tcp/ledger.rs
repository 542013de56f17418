//! What clients are charged over TCP, for all connections of a client together: memory, handshakes, heads that are refused, and fields.
//! A handshake costs a thread of these connections half a millisecond, and a head of a thousand fields a quarter of that. So one
//! client with many connections waits, not all others; and handshakes of all clients take turns with what else the thread does.

use crate::limits::{
    FURTHER_FIELDS, FURTHER_FIELDS_PER_SECOND, HANDSHAKES_AT_ONCE, HANDSHAKES_PER_SECOND,
    LONGEST_REST, NUISANCE_TURNS, WAITING_BYTES,
};
use server::Limits;
use server::account::Account;
use server::client::{Allowances, Client};
use server::limits::{Budget, LOAD_NUISANCES};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The accounts of all clients.
#[derive(Debug)]
pub(super) struct Ledger {
    /// What waits for clients that take it slowly.
    pub(super) waiting: Arc<Account>,
    /// What decoded heads take, over other versions, too.
    pub(super) decoded: Arc<Account>,
    handshakes: Allowances,
    handshakes_of_all: Mutex<Budget>,
    refusals: Allowances,
    further_fields: Allowances,
}

impl Ledger {
    pub(super) fn new(decoded: Arc<Account>) -> Self {
        Self {
            waiting: Account::new(WAITING_BYTES),
            decoded,
            handshakes: Allowances::default(),
            handshakes_of_all: Budget::new(HANDSHAKES_AT_ONCE, HANDSHAKES_PER_SECOND).into(),
            refusals: Allowances::default(),
            further_fields: Allowances::default(),
        }
    }

    /// A client is to shake hands: how long it waits for its turn. `None`: for longer than a handshake may take. One whose heads
    /// were refused too often has a turn where others have [`NUISANCE_TURNS`].
    pub(super) fn handshake(
        &self,
        client: Client,
        limits: &Limits,
        now: Instant,
    ) -> Option<Duration> {
        let is_nuisance = self.refusals.lacks(client, LOAD_NUISANCES, now);
        let turns = if is_nuisance { NUISANCE_TURNS } else { 1 };
        let count = limits.tcp_handshakes_per_second;
        let turn = |it: &mut Budget| it.borrow(turns, limits.handshake, now);
        let own = self.handshakes.take(client, Budget::new(count, count), now, turn)?;
        let mut all = self.handshakes_of_all.lock().unwrap_or_else(PoisonError::into_inner);
        Some(own.max(all.borrow(1, limits.handshake, now)?))
    }

    /// Heads of a client were refused after they were decoded, which count so much. False: too many.
    pub(super) fn refused(
        &self,
        client: Client,
        count: u64,
        limits: &Limits,
        now: Instant,
    ) -> bool {
        let whole = Budget::new(limits.nuisances, limits.nuisances_per_second);
        self.refusals.take(client, whole, now, |it| it.spend(count, now))
    }

    /// Heads of a client have these fields beyond those that cost nothing: how long it is not read for that. `None`: for too long.
    pub(super) fn further_fields(
        &self,
        client: Client,
        fields: usize,
        now: Instant,
    ) -> Option<Duration> {
        let whole = Budget::new(FURTHER_FIELDS, FURTHER_FIELDS_PER_SECOND);
        let pay = |it: &mut Budget| it.borrow(fields as u64, LONGEST_REST, now);
        self.further_fields.take(client, whole, now, pay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::activity::now;
    use server::limits::REMEMBERED_CLIENTS;

    fn ledger() -> Ledger {
        Ledger::new(Account::new(0))
    }

    fn client(last: u8) -> Client {
        Client::at(Some([192, 0, 2, last].into()))
    }

    /// The waits in ms of connections of a client that come at this time.
    fn waits(ledger: &Ledger, limits: &Limits, count: usize, at: Instant) -> Vec<Option<u128>> {
        let wait = |_| Some(ledger.handshake(client(1), limits, at)?.as_millis());
        (0..count).map(wait).collect()
    }

    #[test]
    fn a_hundred_begin_within_100_ms_and_each_further_one_10_ms_later() {
        let (ledger, limits, start) = (ledger(), Limits::default(), now());
        // Four at once, and one each millisecond.
        let paced = |from: u128| (from..).map(Some);
        assert_eq!(waits(&ledger, &limits, 4, start), [Some(0); 4]);
        assert!(waits(&ledger, &limits, 96, start).into_iter().eq(paced(1).take(96)));
        let later = start + Duration::from_millis(500);
        assert_eq!(waits(&ledger, &limits, 51, later)[50], Some(47), "of the 50 that it has again");
        assert_eq!(waits(&ledger, &limits, 9, later)[8], Some(100), "it owes 10");
        // Another client waits for the handshakes before its own.
        let other = ledger.handshake(client(2), &limits, later);
        assert_eq!(other, Some(Duration::from_millis(57)));
    }

    #[test]
    fn a_nuisance_begins_ten_times_a_second() {
        let (ledger, limits, start) = (ledger(), Limits::default(), now());
        assert!(ledger.refused(client(1), 990, &limits, start));
        assert!(!ledger.refused(client(1), 11, &limits, start), "1000 at once");
        let waits = waits(&ledger, &limits, 13, start);
        assert_eq!(waits[9..], [Some(6), Some(100), Some(200), Some(300)]);
    }

    /// An office that comes at once behind one address.
    #[test]
    fn three_hundred_visitors_of_one_address_all_get_their_turn_within_2_s() {
        let waits = waits(&ledger(), &Limits::default(), 300, now());
        assert_eq!((waits[0], waits[99], waits[299]), (Some(0), Some(96), Some(2000)));
    }

    #[test]
    fn whoever_would_wait_for_longer_than_a_handshake_may_take_is_refused_and_takes_no_turn() {
        let limits = Limits { tcp_handshakes_per_second: 1, ..Limits::default() };
        let (ledger, start) = (ledger(), now());
        let expected = [(0..=10).map(|it| Some(1000 * it)).collect(), vec![None; 5]].concat();
        assert_eq!(waits(&ledger, &limits, 16, start), expected);
        let later = start + Duration::from_secs(1);
        assert_eq!(waits(&ledger, &limits, 2, later), [Some(10_000), None]);
    }

    #[test]
    fn clients_that_have_all_their_turns_are_not_remembered() {
        let (ledger, limits, start) = (ledger(), Limits::default(), now());
        let count = u32::try_from(REMEMBERED_CLIENTS).expect("few");
        let come = |at| {
            for number in 0..count {
                let address = std::net::Ipv4Addr::from_bits(number).into();
                ledger.handshake(Client::at(Some(address)), &limits, at);
            }
        };
        come(start);
        assert_eq!(ledger.handshakes.clients(), REMEMBERED_CLIENTS);
        ledger.handshake(client(1), &limits, start + Duration::from_millis(10));
        assert_eq!(ledger.handshakes.clients(), 1);
    }

    #[test]
    fn all_connections_of_a_client_pay_for_their_fields_together() {
        let (ledger, start) = (ledger(), now());
        let rest_us = |fields| Some(ledger.further_fields(client(1), fields, start)?.as_micros());
        let rests = [10_000, 890, 890, 98_220, 1].map(rest_us);
        assert_eq!(rests, [Some(0), Some(8_900), Some(17_800), Some(1_000_000), None]);
        assert_eq!(ledger.further_fields(client(2), 890, start), Some(Duration::ZERO));
    }
}
