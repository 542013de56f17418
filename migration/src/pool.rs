//! Idle connections that a client keeps open, so that a migration need not wait for a handshake (SMig, section 4.3).

use crate::limits::{HOSTS_MAX, SPARE_LIFETIME, SPARES_MAX};
use std::collections::BTreeMap;
use std::time::Instant;

/// Past visits of a host that count.
const VISITS: u32 = 8;
/// A host gets an idle connection if a response migrated in at least one of this many visits.
const ONE_IN: u32 = 4;

/// The outcome of a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    /// At least one migrated.
    Migrated,
    /// None did.
    Stayed,
}

/// The hosts on which responses have migrated. They predict where responses will migrate.
#[derive(Debug, Clone, Default)]
pub struct History {
    hosts: BTreeMap<String, Past>,
    visits: u64,
}

/// The past of one host.
#[derive(Debug, Clone, Copy, Default)]
struct Past {
    /// One bit a visit, the last one lowest; 1: a response migrated.
    migrated: u8,
    seen: u32,
    /// When it was visited last, in visits of all hosts.
    last: u64,
}

impl History {
    /// Records a visit of `host` that is over. A new host replaces the one that was not visited for the longest time.
    pub fn visited(&mut self, host: &str, visit: Visit) {
        if !self.hosts.contains_key(host) && self.hosts.len() >= HOSTS_MAX {
            let oldest = self.hosts.iter().min_by_key(|(_, it)| it.last);
            if let Some(oldest) = oldest.map(|(host, _)| host.clone()) {
                self.hosts.remove(&oldest);
            }
        }
        self.visits += 1;
        let past = self.hosts.entry(host.to_owned()).or_default();
        past.migrated = past.migrated << 1 | u8::from(visit == Visit::Migrated);
        past.seen = (past.seen + 1).min(VISITS);
        past.last = self.visits;
    }

    /// Whether a response of the next visit will probably migrate.
    pub fn expects(&self, host: &str) -> bool {
        let past = self.hosts.get(host).copied().unwrap_or_default();
        past.seen > 0 && past.migrated.count_ones() * ONE_IN >= past.seen
    }
}

/// The idle connections, at most one a host, so a client has at most twice as many. The owner chooses `K`.
#[derive(Debug)]
pub struct Pool<K> {
    /// By host, each with the time at which it was idle for too long.
    spares: BTreeMap<String, (Instant, K)>,
}

impl<K> Default for Pool<K> {
    fn default() -> Self {
        Self { spares: BTreeMap::new() }
    }
}

impl<K> Pool<K> {
    /// Whether to open another, idle connection to `host`, beside the one in use.
    pub fn wants(&self, host: &str, history: &History) -> bool {
        !self.spares.contains_key(host) && self.spares.len() < SPARES_MAX && history.expects(host)
    }

    /// Keeps an idle connection. Without room, it returns the connection, which the owner must close.
    pub fn put(&mut self, host: &str, connection: K, now: Instant) -> Option<K> {
        if self.spares.contains_key(host) || self.spares.len() >= SPARES_MAX {
            return Some(connection);
        }
        self.spares.insert(host.to_owned(), (now + SPARE_LIFETIME, connection));
        None
    }

    /// Takes the idle connection to `host`: a response migrates to it, the last connection in use is over, or it is
    /// lost.
    pub fn take(&mut self, host: &str) -> Option<K> {
        self.spares.remove(host).map(|(_, connection)| connection)
    }

    /// When to call [`Self::expired`].
    pub fn next_timeout(&self) -> Option<Instant> {
        self.spares.values().map(|(until, _)| *until).min()
    }

    /// Takes the connections that were idle for too long; the owner must close them.
    pub fn expired(&mut self, now: Instant) -> Vec<K> {
        let (expired, kept) =
            std::mem::take(&mut self.spares).into_iter().partition(|(_, it)| it.0 <= now);
        self.spares = kept;
        BTreeMap::into_values(expired).map(|(_, connection)| connection).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base_time;

    fn history(host: &str, visits: &str) -> History {
        let mut history = History::default();
        for visit in visits.chars() {
            history.visited(host, if visit == 'm' { Visit::Migrated } else { Visit::Stayed });
        }
        history
    }

    #[test]
    fn a_host_is_expected_to_migrate_if_it_did_in_a_quarter_of_its_last_eight_visits() {
        for (visits, expected) in [
            ("", false),
            ("s", false),
            ("m", true),
            ("msss", true),
            ("mssss", false),
            ("mmssssss", true),
            ("mmsssssss", false),
            ("ssssssssmsm", true),
        ] {
            assert_eq!(history("a", visits).expects("a"), expected, "{visits}");
        }
    }

    #[test]
    fn of_too_many_hosts_the_one_not_visited_for_longest_is_forgotten() {
        let mut history = history("first", "m");
        for host in 1..HOSTS_MAX {
            history.visited(&host.to_string(), Visit::Migrated);
        }
        history.visited("first", Visit::Migrated);
        history.visited("new", Visit::Migrated);
        assert_eq!(history.hosts.len(), HOSTS_MAX);
        assert!(history.expects("first") && history.expects("new") && !history.expects("1"));
    }

    #[test]
    fn there_is_one_idle_connection_a_host_and_sixteen_in_all() {
        let mut pool = Pool::default();
        let migrates = history("0", "m");
        assert!(pool.wants("0", &migrates) && !pool.wants("1", &migrates));
        for host in 0..SPARES_MAX {
            assert_eq!(pool.put(&host.to_string(), host, base_time()), None);
        }
        assert!(!pool.wants("0", &migrates));
        assert_eq!(pool.put("0", 99, base_time()), Some(99), "a second one of a host");
        assert_eq!(pool.put("new", 99, base_time()), Some(99), "a seventeenth");
        assert_eq!((pool.take("0"), pool.take("0")), (Some(0), None));
        assert!(pool.wants("0", &migrates));
    }

    #[test]
    fn a_connection_is_kept_idle_for_a_minute() {
        let mut pool = Pool::default();
        pool.put("a", 1, base_time());
        let until = pool.next_timeout().unwrap();
        assert_eq!(until - base_time(), SPARE_LIFETIME);
        assert!(pool.expired(base_time()).is_empty());
        assert_eq!(pool.expired(until), [1]);
        assert_eq!(pool.next_timeout(), None);
    }
}
