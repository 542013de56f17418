//! When a client may shake hands. A handshake costs the thread of these connections half a millisecond. So one client with many
//! connections waits, not all others; and handshakes of all clients take turns with what else the thread does.

use crate::limits::{HANDSHAKES_AT_ONCE, HANDSHAKES_PER_SECOND, NUISANCE_TURNS};
use server::Limits;
use server::client::{Allowances, Client};
use server::limits::Budget;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is left of the handshakes of each client, and of all.
#[derive(Debug)]
pub(super) struct Turns {
    clients: Allowances,
    all: Mutex<Budget>,
}

impl Turns {
    pub(super) fn new() -> Self {
        let all = Mutex::new(Budget::new(HANDSHAKES_AT_ONCE, HANDSHAKES_PER_SECOND));
        Self { clients: Allowances::default(), all }
    }

    /// Gives a client the next of its turns: how long it waits for it. `None`: for longer than a handshake may take. One that is a
    /// nuisance has a turn where others have [`NUISANCE_TURNS`].
    pub(super) fn next(
        &self,
        client: IpAddr,
        is_nuisance: bool,
        limits: &Limits,
        now: Instant,
    ) -> Option<Duration> {
        let count = limits.tcp_handshakes_per_second;
        let turns = if is_nuisance { NUISANCE_TURNS } else { 1 };
        let (client, whole) = (Client::at(Some(client)), Budget::new(count, count));
        let own =
            self.clients.take(client, whole, now, |it| it.borrow(turns, limits.handshake, now))?;
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        Some(own.max(all.borrow(1, limits.handshake, now)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::activity::now;
    use server::limits::REMEMBERED_CLIENTS;

    const CLIENT: [u8; 4] = [192, 0, 2, 1];

    /// The waits in ms of clients that come at this time.
    fn waits(turns: &Turns, limits: &Limits, count: usize, at: Instant) -> Vec<Option<u128>> {
        let wait = |_| Some(turns.next(CLIENT.into(), false, limits, at)?.as_millis());
        (0..count).map(wait).collect()
    }

    #[test]
    fn a_hundred_begin_within_100_ms_and_each_further_one_10_ms_later() {
        let (turns, limits, start) = (Turns::new(), Limits::default(), now());
        // Four at once, and one each millisecond.
        let paced = |from: u128| (from..).map(Some);
        assert_eq!(waits(&turns, &limits, 4, start), [Some(0); 4]);
        assert!(waits(&turns, &limits, 96, start).into_iter().eq(paced(1).take(96)));
        let later = start + Duration::from_millis(500);
        assert_eq!(waits(&turns, &limits, 51, later)[50], Some(47), "of the 50 that it has again");
        assert_eq!(waits(&turns, &limits, 9, later)[8], Some(100), "it owes 10");
        // Another client waits for the handshakes before its own.
        let other = turns.next([192, 0, 2, 2].into(), false, &limits, later);
        assert_eq!(other, Some(Duration::from_millis(57)));
    }

    #[test]
    fn a_nuisance_begins_ten_times_a_second() {
        let (turns, limits, start) = (Turns::new(), Limits::default(), now());
        let wait = |_| Some(turns.next(CLIENT.into(), true, &limits, start)?.as_millis());
        let waits: Vec<Option<u128>> = (0..13).map(wait).collect();
        assert_eq!(waits[9..], [Some(6), Some(100), Some(200), Some(300)]);
    }

    /// An office that comes at once behind one address.
    #[test]
    fn three_hundred_visitors_of_one_address_all_get_their_turn_within_2_s() {
        let waits = waits(&Turns::new(), &Limits::default(), 300, now());
        assert_eq!((waits[0], waits[99], waits[299]), (Some(0), Some(96), Some(2000)));
    }

    #[test]
    fn whoever_would_wait_for_longer_than_a_handshake_may_take_is_refused_and_takes_no_turn() {
        let limits = Limits { tcp_handshakes_per_second: 1, ..Limits::default() };
        let (turns, start) = (Turns::new(), now());
        let expected = [(0..=10).map(|it| Some(1000 * it)).collect(), vec![None; 5]].concat();
        assert_eq!(waits(&turns, &limits, 16, start), expected);
        let later = start + Duration::from_secs(1);
        assert_eq!(waits(&turns, &limits, 2, later), [Some(10_000), None]);
    }

    #[test]
    fn clients_that_have_all_their_turns_are_not_remembered() {
        let (turns, limits, start) = (Turns::new(), Limits::default(), now());
        let count = u32::try_from(REMEMBERED_CLIENTS).expect("few");
        let come = |at| {
            for number in 0..count {
                turns.next(std::net::Ipv4Addr::from_bits(number).into(), false, &limits, at);
            }
        };
        come(start);
        assert_eq!(turns.clients.clients(), REMEMBERED_CLIENTS);
        turns.next(CLIENT.into(), false, &limits, start + Duration::from_millis(10));
        assert_eq!(turns.clients.clients(), 1);
    }
}
