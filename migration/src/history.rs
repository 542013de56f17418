//! The history of hosts, from which a client decides to keep a second, idle connection open, so that a migration
//! need not wait for a handshake (SMig, section 4.3).

use crate::limits::HOSTS_MAX;
use std::collections::BTreeMap;

/// The number of past visits to a host that count.
const VISITS: u32 = 8;
/// A host gets an idle connection if a response migrated in at least one of this many visits.
const ONE_IN: u32 = 4;

/// The outcome of a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    /// At least one response migrated.
    Migrated,
    /// No response migrated.
    Stayed,
}

/// The hosts on which responses have migrated. They predict where responses will migrate.
#[derive(Debug, Clone, Default)]
pub struct History {
    hosts: BTreeMap<String, Past>,
    visits: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Past {
    /// One bit for each visit, the last one lowest; 1: a response migrated.
    migrated: u8,
    seen: u32,
    /// When it was visited last, in visits of all hosts.
    last: u64,
}

impl History {
    /// Records a finished visit to `host`. A new host replaces the least recently visited one.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
