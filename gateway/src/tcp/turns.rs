//! When a client may shake hands. A handshake costs the thread of these connections half a millisecond. So one client with many
//! connections waits, not all others.

use server::Limits;
use server::client::{Allowances, Client};
use server::limits::Budget;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// What is left of the handshakes of each client.
#[derive(Debug, Default)]
pub(super) struct Turns(Allowances);

impl Turns {
    /// Gives a client the next of its turns: how long it waits for it. `None`: for longer than a handshake may take.
    pub(super) fn next(&self, client: IpAddr, limits: &Limits, now: Instant) -> Option<Duration> {
        let count = limits.tcp_handshakes_per_second;
        let whole = Budget::new(count, count);
        self.0.take(Client::at(Some(client)), whole, now, |it| it.borrow(1, limits.handshake, now))
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
        let wait = |_| Some(turns.next(CLIENT.into(), limits, at)?.as_millis());
        (0..count).map(wait).collect()
    }

    #[test]
    fn a_hundred_begin_at_once_and_each_further_one_10_ms_later() {
        let (turns, limits, start) = (Turns::default(), Limits::default(), now());
        assert_eq!(waits(&turns, &limits, 100, start), [Some(0); 100]);
        assert_eq!(waits(&turns, &limits, 3, start), [Some(10), Some(20), Some(30)]);
        // Another client does not wait.
        assert_eq!(turns.next([192, 0, 2, 2].into(), &limits, start), Some(Duration::ZERO));
        // A second later it owes nothing, and has 97.
        let later = start + Duration::from_secs(1);
        assert_eq!(waits(&turns, &limits, 98, later), [vec![Some(0); 97], vec![Some(10)]].concat());
    }

    /// An office that comes at once behind one address.
    #[test]
    fn three_hundred_visitors_of_one_address_all_get_their_turn_within_2_s() {
        let waits = waits(&Turns::default(), &Limits::default(), 300, now());
        assert_eq!((waits[0], waits[99], waits[299]), (Some(0), Some(0), Some(2000)));
    }

    #[test]
    fn whoever_would_wait_for_longer_than_a_handshake_may_take_is_refused_and_takes_no_turn() {
        let limits = Limits { tcp_handshakes_per_second: 1, ..Limits::default() };
        let (turns, start) = (Turns::default(), now());
        let expected = [(0..=10).map(|it| Some(1000 * it)).collect(), vec![None; 5]].concat();
        assert_eq!(waits(&turns, &limits, 16, start), expected);
        let later = start + Duration::from_secs(1);
        assert_eq!(waits(&turns, &limits, 2, later), [Some(10_000), None]);
    }

    #[test]
    fn clients_that_have_all_their_turns_are_not_remembered() {
        let (turns, limits, start) = (Turns::default(), Limits::default(), now());
        let count = u32::try_from(REMEMBERED_CLIENTS).expect("few");
        let come = |at| {
            for number in 0..count {
                turns.next(std::net::Ipv4Addr::from_bits(number).into(), &limits, at);
            }
        };
        come(start);
        assert_eq!(turns.0.clients(), REMEMBERED_CLIENTS);
        turns.next(CLIENT.into(), &limits, start + Duration::from_millis(10));
        assert_eq!(turns.0.clients(), 1);
    }
}
