//! Bytes that wait in memory for slow clients over TCP, and their limit.
//!
//! A connection has room for a few pieces of files. It may always have one, and further ones while its client is within
//! its share of the total. Files that are in memory anyway do not count.

use crate::limits::{RECORD_BYTES, WAITING_PIECES};
use bytes::Bytes;
use server::account::{Account, Charge, Share};
use server::limits::RELAYED_BYTES;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The bytes that may wait for one connection.
#[derive(Debug)]
pub(super) struct Waiting {
    account: Account,
    pieces: Arc<Semaphore>,
    /// The piece that is always allowed.
    piece: Arc<Semaphore>,
    /// The backend's response that is always allowed.
    relay: Arc<Semaphore>,
}

/// Room for some bytes, until this is dropped.
#[derive(Debug)]
pub(super) struct Room {
    _piece: Option<OwnedSemaphorePermit>,
    _sure: Option<OwnedSemaphorePermit>,
    _share: Option<Share>,
}

impl Waiting {
    pub(super) fn new(account: Account) -> Self {
        Self {
            account,
            pieces: Arc::new(Semaphore::new(WAITING_PIECES)),
            piece: Arc::new(Semaphore::new(1)),
            relay: Arc::new(Semaphore::new(1)),
        }
    }

    /// Waits for room for a piece, behind others of the connection.
    pub(super) async fn room(&self) -> Room {
        // Both are never closed.
        let piece = Arc::clone(&self.pieces).acquire_owned().await.ok();
        let share = self.account.hold(Charge::Waiting, RECORD_BYTES);
        let sure = match share {
            Some(_) => None,
            None => Arc::clone(&self.piece).acquire_owned().await.ok(),
        };
        Room { _piece: piece, _sure: sure, _share: share }
    }

    /// Room for a backend's bytes before the client takes them, if available.
    pub(super) fn relayed(&self) -> Option<Room> {
        let sure = Arc::clone(&self.relay).try_acquire_owned().ok();
        let share = match sure {
            Some(_) => None,
            None => Some(self.account.hold(Charge::Waiting, RELAYED_BYTES)?),
        };
        Some(Room { _piece: None, _sure: sure, _share: share })
    }
}

impl Room {
    /// Ties the room to these bytes, until the last of them is dropped.
    pub(super) fn holds(self, bytes: Vec<u8>) -> Bytes {
        Bytes::from_owner(Filled { bytes, _room: self })
    }
}

struct Filled {
    bytes: Vec<u8>,
    _room: Room,
}

impl AsRef<[u8]> for Filled {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use server::account::Ledger;
    use server::client::Client;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    const WAITING_BYTES: usize = 64 << 20;

    fn at(last: u8, ledger: &Arc<Ledger>) -> Waiting {
        Waiting::new(Account::new(ledger, Client::at(Some([192, 0, 2, last].into()))))
    }

    /// The room that is available now.
    fn now(waiting: &Waiting) -> Option<Room> {
        match pin!(waiting.room()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(room) => Some(room),
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_connection_has_eight_pieces_and_gets_room_back_with_the_last_byte() {
        let ledger = Ledger::new();
        let waiting = at(1, &ledger);
        let mut rooms: Vec<Bytes> = (0..8)
            .map(|_| now(&waiting).expect("there is room").holds(vec![0; RECORD_BYTES]))
            .collect();
        assert!(now(&waiting).is_none());
        assert_eq!(ledger.bytes(Charge::Waiting), 8 * RECORD_BYTES);
        let mut first = rooms.remove(0);
        let rest = first.split_off(10);
        drop(first);
        assert!(now(&waiting).is_none(), "some of it still waits");
        drop(rest);
        assert!(now(&waiting).is_some());
        drop(rooms);
        assert_eq!(ledger.bytes(Charge::Waiting), 0);
    }

    /// A thousand connections of one client, and some of another.
    #[test]
    fn one_client_has_half_of_all_and_a_piece_for_each_further_connection() {
        let ledger = Ledger::new();
        let all = |last| -> Vec<_> {
            let connections: Vec<Waiting> = (0..1000).map(|_| at(last, &ledger)).collect();
            let rooms = connections.iter().flat_map(|it| std::iter::from_fn(|| now(it)));
            rooms.collect()
        };
        let pieces_of_half = WAITING_BYTES / 2 / RECORD_BYTES;
        let attacker = all(1);
        assert_eq!(ledger.bytes(Charge::Waiting), WAITING_BYTES / 2);
        // 256 connections have 8 pieces each, all others one.
        assert_eq!((pieces_of_half, attacker.len()), (2048, 2048 + 744));
        let other = all(2);
        // A quarter of all: 128 connections have 8 pieces each, all others one.
        assert_eq!(other.len(), 1024 + 872);
        drop((attacker, other));
        assert_eq!(ledger.bytes(Charge::Waiting), 0);
    }

    #[test]
    fn a_connection_may_have_one_response_of_a_backend_whatever_others_hold() {
        let ledger = Ledger::new();
        let (greedy, modest) = (at(1, &ledger), at(1, &ledger));
        let rooms: Vec<Room> = std::iter::from_fn(|| greedy.relayed()).collect();
        assert_eq!(rooms.len(), 1 + WAITING_BYTES / 2 / RELAYED_BYTES);
        let one = modest.relayed().expect("its own");
        assert!(modest.relayed().is_none());
        drop(one);
        assert!(modest.relayed().is_some());
    }
}
