//! Events that a file repeats, because it is a log and the same log again, or pieces of one that overlap.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use super::header::Header;
use crate::limits::REMEMBERED_EVENTS;
use crate::trace::Repair;

const REPEATED: &str =
    "the file repeats events, as a log does that was joined to itself: they were read once";

/// The events so far, in the order of the file.
#[derive(Default)]
pub(super) struct Repetition {
    /// Hashes of events, each with its header's.
    seen: BTreeSet<u64>,
    header: u64,
    /// Infinite after the same header again, because its times begin anew.
    latest: f64,
    /// Whether the events that come now are repeated ones. Events of one time may be equal, so a repetition begins with a step back in
    /// time.
    repeats: bool,
    count: u64,
    first_record: u64,
}

impl Repetition {
    /// A header begins. Returns whether it is the same as the last one.
    pub(super) fn begin(&mut self, header: &Header) -> bool {
        let hash = hash(&format!("{header:?}"));
        let is_again = hash == self.header;
        self.header = hash;
        self.latest = if is_again { f64::INFINITY } else { f64::NEG_INFINITY };
        self.repeats = false;
        is_again
    }

    /// Whether this event was there before, and is a part of a repetition.
    pub(super) fn has(&mut self, time: f64, record: u64, text: &[u8]) -> bool {
        let event = hash(&(self.header, text));
        let is_known = self.seen.contains(&event);
        self.repeats = is_known && (self.repeats || time < self.latest);
        if self.repeats {
            if self.count == 0 {
                self.first_record = record;
            }
            self.count += 1;
            return true;
        }
        let is_finite = self.latest.is_finite();
        self.latest = if is_finite { self.latest.max(time) } else { time };
        if self.seen.len() < REMEMBERED_EVENTS {
            self.seen.insert(event);
        }
        false
    }

    /// That events were repeated.
    pub(super) fn repair(&self) -> Option<Repair> {
        let Self { count, first_record, .. } = *self;
        (count > 0).then_some(Repair { what: REPEATED, count, first_record, leaves_out: false })
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
