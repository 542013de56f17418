//! A connection's paths and their packet numbers: with draft-ietf-quic-multipath each path numbers its own, after a migration they go on.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::http3::kept;
use super::quic::Direction;

/// The most paths that are distinguished; packets of further ones count as numbered by themselves.
const PATHS: usize = 64;

/// The paths so far, in each direction.
#[derive(Default)]
pub(super) struct Paths {
    /// The latest number of the first path and of paths that go on with its numbers.
    latest: [Option<u64>; 2],
    /// Whether each other path numbers its own.
    others: [BTreeMap<String, bool>; 2],
}

impl Paths {
    /// Whether the 1-RTT packet with this number is of a path that numbers its own. Such a path begins again with numbers that
    /// the first has passed.
    pub(super) fn numbers_its_own(
        &mut self,
        path: Option<&Cow<'_, str>>,
        direction: Direction,
        number: u64,
    ) -> bool {
        let latest = &mut self.latest[direction as usize];
        let path = path.map_or("", |it| it).trim();
        let is_own = match path {
            "" | "0" => false,
            path => {
                let others = &mut self.others[direction as usize];
                let known = others.get(path).copied();
                known.unwrap_or_else(|| {
                    let is_full = others.len() >= PATHS;
                    let is_own = is_full || latest.is_some_and(|latest| number <= latest);
                    if !is_full {
                        others.insert(kept(path), is_own);
                    }
                    is_own
                })
            }
        };
        if !is_own {
            *latest = (*latest).max(Some(number));
        }
        is_own
    }

    /// Whether a declared loss is of such a path.
    pub(super) fn has_own_numbers(&self, path: Option<&Cow<'_, str>>) -> bool {
        let path = path.map_or("", |it| it).trim();
        self.others[Direction::Sent as usize].get(path).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_begins_anew_numbers_its_own_and_one_that_goes_on_does_not() {
        let mut paths = Paths::default();
        let mut own = |path: &str, number| {
            let path = Cow::Borrowed(path);
            paths.numbers_its_own(Some(&path), Direction::Sent, number)
        };
        assert_eq!([own("0", 8), own("", 9), own("wifi", 10), own("0", 11)], [false; 4]);
        assert_eq!([own("1", 0), own("1", 12), own("wifi", 12)], [true, true, false]);
        assert!(paths.has_own_numbers(Some(&"1".into())));
        assert!(!paths.has_own_numbers(Some(&"wifi".into())) && !paths.has_own_numbers(None));
    }
}
