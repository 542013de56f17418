//! When a connected client may start its handshake, which costs a thread of these connections half a millisecond. A client with
//! many connections waits, so that others need not; and handshakes of all clients alternate with the thread's other work.

use crate::limits::NUISANCE_TURNS;
use server::Limits;
use server::account::{Account, Charge};
use server::limits::LOAD_NUISANCES;
use std::time::{Duration, Instant};

/// How long a client waits for its turn. `None`: longer than the handshake's deadline. A client whose heads were rejected too often
/// has one turn where others have [`NUISANCE_TURNS`].
pub(super) fn turn(account: &Account, limits: &Limits, now: Instant) -> Option<Duration> {
    let is_nuisance = account.lacks(Charge::RefusedHeads, LOAD_NUISANCES, limits, now);
    let turns = if is_nuisance { NUISANCE_TURNS } else { 1 };
    let wait = |charge, turns| account.borrow(charge, turns, limits.handshake, limits, now);
    let own = wait(Charge::TcpHandshakes, turns)?;
    Some(own.max(wait(Charge::AllTcpHandshakes, 1)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::activity::now;
    use server::account::Ledger;
    use server::client::Client;
    use std::sync::Arc;

    fn account(ledger: &Arc<Ledger>, last: u8) -> Account {
        Account::new(ledger, Client::at(Some([192, 0, 2, last].into())))
    }

    /// The waits in ms of a client's connections that arrive at this time.
    fn waits(
        ledger: &Arc<Ledger>,
        limits: &Limits,
        count: usize,
        at: Instant,
    ) -> Vec<Option<u128>> {
        let wait = |_| Some(turn(&account(ledger, 1), limits, at)?.as_millis());
        (0..count).map(wait).collect()
    }

    #[test]
    fn a_hundred_begin_within_100_ms_and_each_further_one_10_ms_later() {
        let (ledger, limits, start) = (Ledger::new(), Limits::default(), now());
        // Four at once, and one each millisecond.
        let paced = |from: u128| (from..).map(Some);
        assert_eq!(waits(&ledger, &limits, 4, start), [Some(0); 4]);
        assert!(waits(&ledger, &limits, 96, start).into_iter().eq(paced(1).take(96)));
        let later = start + Duration::from_millis(500);
        assert_eq!(waits(&ledger, &limits, 51, later)[50], Some(47), "of the 50 that it has again");
        assert_eq!(waits(&ledger, &limits, 9, later)[8], Some(100), "it owes 10");
        // Another client waits for the handshakes before its own.
        let other = turn(&account(&ledger, 2), &limits, later);
        assert_eq!(other, Some(Duration::from_millis(57)));
    }

    #[test]
    fn a_nuisance_begins_ten_times_a_second() {
        let (ledger, limits, start) = (Ledger::new(), Limits::default(), now());
        let refused =
            |count| account(&ledger, 1).spend(Charge::RefusedHeads, count, &limits, start);
        assert!(refused(990) && !refused(11), "1000 at once");
        let waits = waits(&ledger, &limits, 13, start);
        assert_eq!(waits[9..], [Some(6), Some(100), Some(200), Some(300)]);
    }

    /// An office whose clients arrive at once, behind one address.
    #[test]
    fn three_hundred_visitors_of_one_address_all_get_their_turn_within_2_s() {
        let waits = waits(&Ledger::new(), &Limits::default(), 300, now());
        assert_eq!((waits[0], waits[99], waits[299]), (Some(0), Some(96), Some(2000)));
    }

    #[test]
    fn whoever_would_wait_for_longer_than_a_handshake_may_take_is_refused_and_takes_no_turn() {
        let limits = Limits { tcp_handshakes_per_second: 1, ..Limits::default() };
        let (ledger, start) = (Ledger::new(), now());
        let expected = [(0..=10).map(|it| Some(1000 * it)).collect(), vec![None; 5]].concat();
        assert_eq!(waits(&ledger, &limits, 16, start), expected);
        let later = start + Duration::from_secs(1);
        assert_eq!(waits(&ledger, &limits, 2, later), [Some(10_000), None]);
    }
}
