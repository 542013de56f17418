//! Live visitors try orders: a share of the connections loads pages in another order than the present one, and the server measures
//! from its own sending which order is better.
//!
//! Nothing is stored about a visitor: a load becomes a number that is added to the sums of its page and order.

mod evidence;
mod report;

use crate::SignalUse;
use crate::client::Client;
use crate::limits::{EXPLORED_CLIENTS, EXPLORED_LOADS_OF_CLIENT, EXPLORED_PAGES, EXPLORED_STRATA};
use evidence::Evidence;
use parking_lot::Mutex;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ring::rand::{SecureRandom, SystemRandom};
use schedulers::Scheme;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;

pub use report::{ExplorationReport, MemoryError, OrderReport, PageReport};

/// An order that visitors try instead of the present one.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Its name in reports.
    pub name: String,
    /// The scheme.
    pub scheme: Scheme,
    /// How clients' signals are used under it.
    pub signals: SignalUse,
}

/// The orders, and what visits have shown about them. All shards of a server share one.
#[derive(Debug)]
pub struct Exploration {
    candidates: Vec<Candidate>,
    share: f64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    random: ChaCha8Rng,
    /// The orders that the next connections draw from.
    draws: Vec<Draw>,
    /// Connections that have explored, or will.
    explorers: u64,
    pages: BTreeMap<String, Page>,
    /// Loads that count, by the hash of a client and a page. The hash is specific to this process, and no part of it is written.
    clients: HashMap<u64, u8>,
    hasher: RandomState,
    /// Loads of pages for which there was no room.
    beyond: u64,
}

#[derive(Debug, Default)]
struct Page {
    /// The order for visitors who try nothing: 0 is the present one; the candidates follow.
    favourite: usize,
    evidence: Evidence,
    left_out: LeftOut,
    /// Body bytes of the loads that count.
    body_bytes: f64,
}

/// Loads that do not count, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct LeftOut {
    /// Something was not sent completely: the visitor left, or a response failed.
    pub incomplete: u64,
    /// The visitor already had parts of the page.
    pub cached: u64,
}

/// Connections in a block, within which the share holds exactly.
const BLOCK: usize = 20;

/// A page with fewer visits is replaced by another one.
const RARE_VISITS: u64 = 5;

/// The random decision for a connection.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Draw {
    /// Which of the orders other than the favourite; `None`: the favourite.
    explores: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Begun {
    /// 0: the present order; then the candidates.
    pub(crate) order: usize,
    stratum: usize,
    /// Its client has not used up its share of the page's loads.
    counts: bool,
}

/// A load that has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Outcome {
    Incomplete,
    /// The visitor indicated that it had a part.
    Cached,
    Complete {
        byte_index_ms: f64,
        body_bytes: u64,
    },
}

impl Exploration {
    /// Lets `share` (0 to 1) of the connections try an order other than the page's favourite, each candidate equally often. `seed`
    /// determines which connections.
    pub fn new(candidates: Vec<Candidate>, share: f64, seed: u64) -> Self {
        let state = Mutex::new(State::new(ChaCha8Rng::seed_from_u64(seed)));
        Self { candidates, share, state }
    }

    /// The same, with connections chosen by the system's randomness. `None`: the system has none.
    pub fn drawn(candidates: Vec<Candidate>, share: f64) -> Option<Self> {
        let mut seed = [0; 8];
        SystemRandom::new().fill(&mut seed).ok()?;
        Some(Self::new(candidates, share, u64::from_be_bytes(seed)))
    }

    pub(crate) fn draw(&self) -> Draw {
        let mut state = self.state.lock();
        if state.draws.is_empty() {
            state.shuffle(self.share);
        }
        state.draws.pop().unwrap_or_default()
    }

    /// The order for a load of `page` by a client. `None`: the present order, because the page is unknown and there is no room for
    /// it, or its client has used up its share.
    pub(crate) fn begin(&self, page: &str, client: Option<IpAddr>, draw: Draw) -> Option<Begun> {
        let orders = self.candidates.len() + 1;
        let mut state = self.state.lock();
        let counts = state.counts(page, client);
        if !state.pages.contains_key(page) {
            if !counts || !state.has_room() {
                state.beyond += 1;
                return None;
            }
            state.pages.insert(page.to_owned(), Page::new(orders));
        }
        let page = state.pages.get(page)?;
        let mut others = (0..orders).filter(|it| *it != page.favourite);
        let place = draw.explores.and_then(|it| usize::try_from(it % (orders as u64 - 1)).ok());
        let order = place.and_then(|it| others.nth(it)).unwrap_or(page.favourite);
        Some(Begun { order, stratum: page.evidence.strata() - 1, counts })
    }

    /// The scheme and the use of signals; `None`: what the server has.
    pub(crate) fn candidate(&self, order: usize) -> Option<&Candidate> {
        self.candidates.get(order.checked_sub(1)?)
    }

    /// Counts a load.
    pub(crate) fn end(&self, page: &str, begun: Begun, outcome: Outcome) {
        if let Some(page) = self.state.lock().pages.get_mut(page).filter(|_| begun.counts) {
            page.count(begun, outcome);
        }
    }

    fn name(&self, order: usize) -> &str {
        self.candidate(order).map_or("what you have", |it| &it.name)
    }
}

impl State {
    fn new(random: ChaCha8Rng) -> Self {
        Self {
            random,
            draws: Vec::new(),
            explorers: 0,
            pages: BTreeMap::new(),
            clients: HashMap::new(),
            hasher: RandomState::new(),
            beyond: 0,
        }
    }

    /// Draws for a block of connections: as many explore as the share requires, in random order. With independent draws, nearly all
    /// of a few visits could have one order.
    fn shuffle(&mut self, share: f64) {
        let expected = share * BLOCK as f64;
        let explorers = expected.floor() + f64::from(self.random.random_bool(expected.fract()));
        for place in 0..BLOCK {
            let explores = (place as f64) < explorers;
            self.draws.push(Draw { explores: explores.then_some(self.explorers) });
            self.explorers += u64::from(explores);
        }
        self.draws.shuffle(&mut self.random);
    }

    /// Whether another load of the page by this client counts. Loads from this machine are its owner's.
    fn counts(&mut self, page: &str, client: Option<IpAddr>) -> bool {
        let Some(address) = client.filter(|it| !it.to_canonical().is_loopback()) else {
            return true;
        };
        let hash = self.hasher.hash_one((Client::at(Some(address)), page));
        if self.clients.len() >= EXPLORED_CLIENTS {
            self.clients.clear();
        }
        let loads = self.clients.entry(hash).or_default();
        *loads = loads.saturating_add(1);
        *loads <= EXPLORED_LOADS_OF_CLIENT
    }

    /// Whether another page can be recorded, if necessary in place of one that nobody visits: a client that requests many paths
    /// must not keep out the pages of others.
    fn has_room(&mut self) -> bool {
        if self.pages.len() < EXPLORED_PAGES {
            return true;
        }
        let least = self.pages.iter().min_by_key(|(_, it)| it.evidence.visits());
        let rare = least.filter(|(_, it)| it.evidence.visits() < RARE_VISITS);
        let name = rare.map(|(name, _)| name.clone());
        name.is_some_and(|it| self.pages.remove(&it).is_some())
    }
}

impl Page {
    fn new(orders: usize) -> Self {
        Self { evidence: Evidence::of(orders), ..Self::default() }
    }

    fn count(&mut self, begun: Begun, outcome: Outcome) {
        match outcome {
            Outcome::Cached => self.left_out.cached += 1,
            Outcome::Complete { body_bytes, .. } if self.is_small(body_bytes) => {
                self.left_out.cached += 1;
            }
            Outcome::Complete { byte_index_ms, body_bytes } if byte_index_ms > 0.0 => {
                self.body_bytes += body_bytes as f64;
                self.evidence.add(begun.stratum, begun.order, byte_index_ms.ln());
                self.prefer();
            }
            Outcome::Incomplete | Outcome::Complete { .. } => self.left_out.incomplete += 1,
        }
    }

    /// A visitor who has parts of a page in a fresh cache does not request them.
    fn is_small(&self, body_bytes: u64) -> bool {
        let visits = self.evidence.visits() as f64;
        (body_bytes as f64) * 2.0 * visits < self.body_bytes
    }

    /// The best order that is significantly better than the present one, or the present one.
    fn prefer(&mut self) {
        let favourite = self.evidence.best().unwrap_or(0);
        if favourite != self.favourite && self.evidence.strata() < EXPLORED_STRATA {
            self.favourite = favourite;
            self.evidence.divide();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use schedulers::find_scheme;

    fn exploration(names: &[&str], share: f64, seed: u64) -> Exploration {
        let candidate = |name: &&str| Candidate {
            name: (*name).to_owned(),
            scheme: find_scheme(name).unwrap(),
            signals: SignalUse::Ignore,
        };
        Exploration::new(names.iter().map(candidate).collect(), share, seed)
    }

    /// Visits of one page. `factors`: how many times slower each order is. The spread is that of `ln(index)`.
    fn visit(it: &Exploration, random: &mut impl Rng, factors: &[f64], spread: f64) -> usize {
        let begun = it.begin("a.test/", None, it.draw()).unwrap();
        // Twelve uniform numbers have the variance 1.
        let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let byte_index_ms = 800.0 * factors[begun.order] * (normal * spread).exp();
        let outcome = Outcome::Complete { byte_index_ms, body_bytes: 100_000 };
        it.end("a.test/", begun, outcome);
        begun.order
    }

    fn favourite(it: &Exploration) -> usize {
        it.state.lock().pages["a.test/"].favourite
    }

    #[test]
    fn as_many_visitors_try_something_else_as_the_share_says() {
        let it = exploration(&["dfifo", "bucket"], 0.3, 1);
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut counts = [0_u32; 3];
        for _ in 0..10_000 {
            counts[visit(&it, &mut random, &[1.0, 1.0, 1.0], 0.2)] += 1;
        }
        let [present, dfifo, bucket] = counts;
        assert_eq!((present, dfifo, bucket), (7000, 1500, 1500));
    }

    /// However often the results are checked: the favourite never changes in 950 of 1,000 studies of 1,000 visits in which all orders
    /// are alike.
    #[test]
    fn orders_that_are_alike_seldom_change_the_favourite() {
        let changed = (0..1000).filter(|seed| {
            let it = exploration(&["dfifo", "bucket"], 0.4, *seed);
            let mut random = ChaCha8Rng::seed_from_u64(seed + 10_000);
            (0..1000).any(|_| {
                visit(&it, &mut random, &[1.0, 1.0, 1.0], 0.3);
                favourite(&it) != 0
            })
        });
        let changed = changed.count();
        println!("alike: the favourite changed in {changed} of 1000 studies");
        assert!(changed <= 50, "{changed}");
    }

    #[test]
    fn an_order_that_is_20_percent_better_is_found_within_60_visits() {
        let found = (0..1000).filter(|seed| {
            let it = exploration(&["dfifo"], 0.2, *seed);
            let mut random = ChaCha8Rng::seed_from_u64(seed + 10_000);
            for _ in 0..60 {
                visit(&it, &mut random, &[1.2, 1.0], 0.1);
            }
            favourite(&it) == 1
        });
        let found = found.count();
        println!("20 percent better: found in {found} of 1000 studies");
        assert!(found >= 900, "{found}");
    }

    #[test]
    fn a_worse_order_is_never_more_than_the_share() {
        let it = exploration(&["dfifo"], 0.2, 7);
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let worse: usize = (0..1000).map(|_| visit(&it, &mut random, &[1.0, 3.0], 0.1)).sum();
        assert!((150..=250).contains(&worse), "{worse}");
        assert_eq!(favourite(&it), 0);
    }

    #[test]
    fn loads_with_a_cache_and_loads_that_were_cut_do_not_count() {
        let it = exploration(&["dfifo"], 0.0, 1);
        let load = |outcome| {
            let begun = it.begin("a.test/", None, it.draw()).unwrap();
            it.end("a.test/", begun, outcome);
        };
        let complete = |body_bytes| Outcome::Complete { byte_index_ms: 100.0, body_bytes };
        load(complete(1000));
        load(complete(600));
        load(complete(300));
        load(Outcome::Cached);
        load(Outcome::Incomplete);
        let state = it.state.lock();
        let page = &state.pages["a.test/"];
        assert_eq!(page.evidence.visits(), 2);
        assert_eq!(page.left_out, LeftOut { incomplete: 1, cached: 2 });
    }

    #[test]
    fn a_page_that_nobody_visits_makes_room_for_another() {
        let it = exploration(&["dfifo"], 1.0, 1);
        let visit = |page: &str, times| {
            for _ in 0..times {
                let begun = it.begin(page, None, it.draw()).unwrap();
                assert_eq!(begun.order, 1);
                let outcome = Outcome::Complete { byte_index_ms: 100.0, body_bytes: 1000 };
                it.end(page, begun, outcome);
            }
        };
        for page in 1..EXPLORED_PAGES {
            visit(&format!("a.test/{page}"), 5);
        }
        visit("a.test/rare", 1);
        visit("a.test/new", 5);
        assert!(!it.state.lock().pages.contains_key("a.test/rare"));
        assert_eq!(it.begin("a.test/newer", None, it.draw()), None);
        assert_eq!(it.report().loads_of_other_pages, 1);
    }

    /// An attacker who slows down one of the orders could decide for all others.
    #[test]
    fn one_client_neither_decides_nor_fills_the_pages() {
        let it = exploration(&["dfifo"], 1.0, 1);
        let load = |page: &str, client: &str| {
            let begun = it.begin(page, client.parse().ok(), it.draw());
            let outcome = Outcome::Complete { byte_index_ms: 100.0, body_bytes: 1000 };
            begun.map(|begun| it.end(page, begun, outcome)).is_some()
        };
        for _ in 0..10 {
            assert!(load("a.test/", "192.0.2.1"));
        }
        assert!(load("a.test/", "192.0.2.2"));
        assert_eq!(it.state.lock().pages["a.test/"].evidence.visits(), 4);
        for page in 0..2 * EXPLORED_PAGES {
            for _ in 0..6 {
                load(&format!("made-up.test/{page}"), "192.0.2.1");
            }
        }
        for client in 3..9 {
            assert!(load("b.test/", &format!("192.0.2.{client}")));
        }
        assert_eq!(it.state.lock().pages["b.test/"].evidence.visits(), 6);
    }
}
