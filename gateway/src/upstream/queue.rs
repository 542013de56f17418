//! Chooses the next request for the backend. It is pure; [`super::places`] does the waiting.
//!
//! A client may use at most as many slots as are still free: half of what the others leave. So a single client has half
//! of all, and a few clients leave slots for others. The same applies to places in the queue.

use server::client::Client;
use std::collections::{BTreeMap, VecDeque};

/// Slots, of which each client has a share.
#[derive(Debug)]
struct Shares {
    places: usize,
    taken: usize,
    by_client: BTreeMap<Client, usize>,
}

impl Shares {
    fn new(places: usize) -> Self {
        Self { places, taken: 0, by_client: BTreeMap::new() }
    }

    fn has_room(&self, client: Client) -> bool {
        let own = self.by_client.get(&client).copied().unwrap_or_default();
        own < self.places.saturating_sub(self.taken)
    }

    fn take(&mut self, client: Client) {
        self.taken += 1;
        *self.by_client.entry(client).or_default() += 1;
    }

    fn give_back(&mut self, client: Client) {
        self.taken -= 1;
        if let Some(own) = self.by_client.get_mut(&client) {
            *own -= 1;
            if *own == 0 {
                self.by_client.remove(&client);
            }
        }
    }
}

/// Requests for a backend, each with a ticket. A request enters, lines up when it is ready to be forwarded, is called by
/// [`Self::next`], and ends.
#[derive(Debug)]
pub(super) struct Queue<T> {
    waiting: Shares,
    under_way: Shares,
    /// The tickets of each client, first come, first served.
    lines: BTreeMap<Client, VecDeque<T>>,
    /// The clients with a line, in the order of their turns.
    turns: VecDeque<Client>,
}

impl<T> Queue<T> {
    pub(super) fn new(under_way: usize, waiting: usize) -> Self {
        Self {
            waiting: Shares::new(waiting),
            under_way: Shares::new(under_way),
            lines: BTreeMap::new(),
            turns: VecDeque::new(),
        }
    }

    /// A request arrives. Returns `false` if too many wait.
    pub(super) fn enter(&mut self, client: Client) -> bool {
        let has_room = self.waiting.has_room(client);
        if has_room {
            self.waiting.take(client);
        }
        has_room
    }

    /// A request arrives that does not wait. Returns `false` if there is no slot for it, or its client has used its
    /// share. It is in progress from now on.
    pub(super) fn take(&mut self, client: Client) -> bool {
        let has_room = self.under_way.has_room(client);
        if has_room {
            self.under_way.take(client);
        }
        has_room
    }

    /// Whether a request waits and no slot is free.
    pub(super) fn is_stuck(&self) -> bool {
        !self.turns.is_empty() && self.under_way.taken >= self.under_way.places
    }

    /// A request that has entered is ready to be forwarded.
    pub(super) fn line_up(&mut self, client: Client, ticket: T) {
        let line = self.lines.entry(client).or_default();
        if line.is_empty() {
            self.turns.push_back(client);
        }
        line.push_back(ticket);
    }

    /// The request that may go now, if any. It is in progress from now on.
    pub(super) fn next(&mut self) -> Option<T> {
        let turn = self.turns.iter().position(|it| self.under_way.has_room(*it))?;
        let client = self.turns.remove(turn)?;
        let line = self.lines.get_mut(&client)?;
        let ticket = line.pop_front()?;
        if line.is_empty() {
            self.lines.remove(&client);
        } else {
            self.turns.push_back(client);
        }
        self.waiting.give_back(client);
        self.under_way.take(client);
        Some(ticket)
    }

    /// A request that has entered leaves before it has lined up.
    pub(super) fn leave(&mut self, client: Client) {
        self.waiting.give_back(client);
    }

    /// A request that has lined up leaves. Returns `false` if it is already in progress.
    pub(super) fn leave_line(&mut self, client: Client, is_its: impl Fn(&T) -> bool) -> bool {
        let Some(line) = self.lines.get_mut(&client) else { return false };
        let Some(place) = line.iter().position(is_its) else { return false };
        line.remove(place);
        if line.is_empty() {
            self.lines.remove(&client);
            self.turns.retain(|it| *it != client);
        }
        self.waiting.give_back(client);
        true
    }

    /// A request in progress ends.
    pub(super) fn end(&mut self, client: Client) {
        self.under_way.give_back(client);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::IpAddr;

    /// The client with this letter.
    fn client(letter: char) -> Client {
        Client::at(Some(IpAddr::V4(u32::from(letter).into())))
    }

    /// Requests of the clients with these letters line up: "aab" as a1, a2, b1.
    fn queue(under_way: usize, letters: &str) -> Queue<String> {
        let mut queue = Queue::new(under_way, 1000);
        for (place, letter) in letters.char_indices() {
            let number = letters[..=place].matches(letter).count();
            assert!(queue.enter(client(letter)));
            queue.line_up(client(letter), format!("{letter}{number}"));
        }
        queue
    }

    /// The requests that go now, in order.
    fn called(queue: &mut Queue<String>) -> String {
        std::iter::from_fn(|| queue.next()).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn clients_take_turns() {
        assert_eq!(called(&mut queue(100, "aaaabbc")), "a1,b1,c1,a2,b2,a3,a4");
    }

    #[test]
    fn a_client_alone_takes_half_of_the_places() {
        assert_eq!(called(&mut queue(8, "aaaaaaaa")), "a1,a2,a3,a4");
        assert_eq!(called(&mut queue(3, "aaa")), "a1,a2");
        assert_eq!(called(&mut queue(1, "aa")), "a1");
    }

    #[test]
    fn a_client_that_comes_late_finds_a_place() {
        let mut queue = queue(8, "aaaaaaaa");
        assert_eq!(called(&mut queue), "a1,a2,a3,a4");
        queue.enter(client('b'));
        queue.line_up(client('b'), "b1".to_owned());
        assert_eq!(called(&mut queue), "b1");
    }

    #[test]
    fn a_place_that_becomes_free_goes_to_the_next_in_turn() {
        let mut queue = queue(2, "aabbc");
        assert_eq!(called(&mut queue), "a1,b1");
        queue.end(client('b'));
        assert_eq!(called(&mut queue), "c1");
        queue.end(client('a'));
        assert_eq!(called(&mut queue), "a2");
        queue.end(client('c'));
        assert_eq!(called(&mut queue), "b2");
    }

    #[test]
    fn a_request_that_leaves_the_line_is_not_called() {
        let mut queue = queue(100, "aab");
        assert!(queue.leave_line(client('a'), |it| it == "a1"));
        assert!(queue.leave_line(client('b'), |it| it == "b1"));
        assert_eq!(called(&mut queue), "a2");
        assert!(!queue.leave_line(client('a'), |it| it == "a2"), "it is in progress");
    }

    #[test]
    fn a_client_alone_takes_half_of_the_places_to_wait_in() {
        let mut queue: Queue<String> = Queue::new(1, 6);
        let entered = |queue: &mut Queue<String>, letter| {
            std::iter::repeat_with(|| queue.enter(client(letter))).take_while(|it| *it).count()
        };
        assert_eq!(entered(&mut queue, 'a'), 3);
        assert_eq!(entered(&mut queue, 'b'), 2);
        queue.leave(client('a'));
        assert_eq!(entered(&mut queue, 'c'), 1);
    }

    #[test]
    fn who_does_not_wait_has_the_same_share() {
        let mut queue: Queue<String> = Queue::new(8, 0);
        let taken = |queue: &mut Queue<String>, letter| {
            std::iter::repeat_with(|| queue.take(client(letter))).take_while(|it| *it).count()
        };
        assert_eq!(['a', 'b', 'c', 'd'].map(|it| taken(&mut queue, it)), [4, 2, 1, 1]);
        assert_eq!(taken(&mut queue, 'e'), 0);
        queue.end(client('a'));
        assert_eq!(taken(&mut queue, 'e'), 1);
    }

    #[derive(Debug, Clone, Copy)]
    enum Act {
        Enter(char),
        Call,
        End(usize),
        GiveUp(usize),
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let act = prop_oneof![
            3 => proptest::char::range('a', 'd').prop_map(Act::Enter),
            2 => Just(Act::Call),
            1 => any::<usize>().prop_map(Act::End),
            1 => any::<usize>().prop_map(Act::GiveUp),
        ];
        proptest::collection::vec(act, 0..200)
    }

    proptest! {
        #[test]
        fn places_are_never_exceeded_and_all_come_back(acts in acts(), most in 1..9_usize) {
            let mut queue: Queue<(char, usize)> = Queue::new(most, 20);
            let mut waiting: Vec<(char, usize)> = Vec::new();
            let mut under_way: Vec<(char, usize)> = Vec::new();
            for (number, act) in acts.into_iter().enumerate() {
                match act {
                    Act::Enter(letter) => {
                        if queue.enter(client(letter)) {
                            queue.line_up(client(letter), (letter, number));
                            waiting.push((letter, number));
                        }
                    }
                    Act::Call => {
                        if let Some(ticket) = queue.next() {
                            waiting.retain(|it| *it != ticket);
                            under_way.push(ticket);
                        } else {
                            prop_assert!(waiting.is_empty() || under_way.len() * 2 >= most, "work waits");
                        }
                    }
                    Act::End(place) if !under_way.is_empty() => {
                        let (letter, _) = under_way.swap_remove(place % under_way.len());
                        queue.end(client(letter));
                    }
                    Act::GiveUp(place) if !waiting.is_empty() => {
                        let ticket = waiting.swap_remove(place % waiting.len());
                        prop_assert!(queue.leave_line(client(ticket.0), |it| *it == ticket));
                    }
                    Act::End(_) | Act::GiveUp(_) => {}
                }
                prop_assert!(under_way.len() <= most && waiting.len() <= 20);
                prop_assert_eq!(queue.under_way.taken, under_way.len());
                prop_assert_eq!(queue.waiting.taken, waiting.len());
            }
        }
    }
}
