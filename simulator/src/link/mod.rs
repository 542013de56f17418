//! A link: one direction of a network, as a function of its seed and of the datagrams sent into it.
//!
//! It has neither a clock nor a socket: its caller provides the time. A datagram waits in a drop-tail queue
//! and leaves at the link's rate. It may then be lost (after its time on the link), held back, delayed,
//! changed or duplicated, and it arrives one delay later. Times are in nanoseconds from the link's start and
//! never decrease.

mod bottleneck;
mod chance;
mod log;
mod profile;
mod trace;

pub use log::{Cause, LinkLogEntry, Verdict};
pub use profile::{
    Blackhole, CappedLoss, EcnMark, EveryNth, GilbertElliott, Impossible, Jitter, Loss, Overtaken,
    OvertakenInTurn, Profile, Queue, Rate, Reorder,
};
pub use trace::{OPPORTUNITY_BYTES, Trace, TraceError};

use crate::limits::LINK_BYTES_MAX;
use bottleneck::{Bottleneck, nanoseconds};
use chance::{Chance, Fate};
use serde::Serialize;
use std::collections::BTreeMap;

/// The direction; each has its own random events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// Server to client.
    Down,
    /// Client to server.
    Up,
}

/// One direction of a network. The caller chooses the payload: bytes, or anything that has a size.
#[derive(Debug, Clone)]
pub struct Link<T = Vec<u8>> {
    way: Way,
    profile: Profile,
    bottleneck: Bottleneck,
    chance: Chance,
    delay_ns: u64,
    /// In flight, by time of arrival and, for equal times, in order of leaving.
    line: BTreeMap<(u64, u64), Travelling<T>>,
    line_bytes: u64,
    /// Held back: the number of later ones that must leave first, and the key in `line`.
    held: Vec<(u32, (u64, u64))>,
    offered: u64,
    order: u64,
    log: Option<Vec<LinkLogEntry>>,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a thing that may happen to any datagram"
)]
#[derive(Debug, Clone)]
struct Travelling<T> {
    number: u64,
    offered_ns: u64,
    bytes: u64,
    datagram: T,
    overtaken: bool,
    duplicate: bool,
    corrupted: bool,
    marked: bool,
}

impl<T: AsMut<[u8]> + Clone> Link<T> {
    /// An empty link. The same seed gives the same link.
    pub fn new(profile: &Profile, way: Way, seed: u64) -> Self {
        Self {
            way,
            bottleneck: Bottleneck::new(profile.rate.clone(), profile.queue),
            chance: Chance::new(seed, way),
            delay_ns: nanoseconds(profile.delay_ms * 1e6),
            profile: profile.clone(),
            line: BTreeMap::new(),
            line_bytes: 0,
            held: Vec::new(),
            offered: 0,
            order: 0,
            log: None,
        }
    }

    /// The same link with a log. The log grows until [`Link::take_log`] is called.
    #[must_use]
    pub fn logged(self) -> Self {
        Self { log: Some(Vec::new()), ..self }
    }

    /// Sends a datagram.
    pub fn offer(&mut self, now_ns: u64, mut datagram: T) {
        self.offered += 1;
        let number = self.offered;
        let fate = self.chance.fate(&self.profile);
        let bytes = datagram.as_mut().len() as u64;
        let backlog_bytes = self.bottleneck.backlog_bytes(now_ns);
        let marked = self.profile.ecn.is_some_and(|it| backlog_bytes > it.above_bytes);
        let departs_ns = self.admit(now_ns, bytes);
        let dropped = departs_ns.and_then(|it| self.lost_after(it, &fate));
        match dropped {
            Ok(departs_ns) => {
                let travelling = Travelling {
                    number,
                    offered_ns: now_ns,
                    bytes,
                    datagram,
                    overtaken: fate.held_for.is_some() || fate.late_ns > 0,
                    duplicate: false,
                    corrupted: fate.corrupted.is_some(),
                    marked,
                };
                self.travel(departs_ns, &fate, travelling);
            }
            Err(cause) => {
                self.note(number, now_ns, bytes, Verdict::Dropped { cause });
            }
        }
        // A datagram that is lost on the link has also left.
        if let Ok(departs_ns) = departs_ns {
            self.let_go(departs_ns, number);
        }
    }

    /// When [`Link::arrival`] will have something.
    pub fn next_ns(&self) -> Option<u64> {
        self.line.first_key_value().map(|((at_ns, _), _)| *at_ns)
    }

    /// The next datagram that has arrived by `now_ns`.
    pub fn arrival(&mut self, now_ns: u64) -> Option<T> {
        let entry = self.line.first_entry().filter(|it| it.key().0 <= now_ns)?;
        let (key, travelling) = entry.remove_entry();
        self.held.retain(|(_, held)| *held != key);
        self.line_bytes -= travelling.bytes;
        let verdict = Verdict::Delivered {
            at_ns: key.0,
            overtaken: travelling.overtaken,
            duplicate: travelling.duplicate,
            corrupted: travelling.corrupted,
            marked: travelling.marked,
        };
        self.note(travelling.number, travelling.offered_ns, travelling.bytes, verdict);
        Some(travelling.datagram)
    }

    /// The fates of datagrams since the last call, in the order of decision. Datagrams in flight have no
    /// entry yet.
    pub fn take_log(&mut self) -> Vec<LinkLogEntry> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// When the datagram has left.
    fn admit(&mut self, now_ns: u64, bytes: u64) -> Result<u64, Cause> {
        if self.line_bytes + bytes > LINK_BYTES_MAX {
            return Err(Cause::Memory);
        }
        self.bottleneck.admit(now_ns, bytes).ok_or(Cause::Queue)
    }

    fn lost_after(&self, departs_ns: u64, fate: &Fate) -> Result<u64, Cause> {
        if self.profile.blackhole.as_ref().is_some_and(|hole| hole.swallows(departs_ns)) {
            return Err(Cause::Blackhole);
        }
        fate.lost.map_or(Ok(departs_ns), Err)
    }

    /// A datagram has left at `departs_ns` and will arrive.
    fn travel(&mut self, departs_ns: u64, fate: &Fate, mut travelling: Travelling<T>) {
        if let Some((position, change)) = fate.corrupted
            && travelling.bytes > 0
        {
            let place = usize::try_from(position % travelling.bytes).unwrap_or(0);
            travelling.datagram.as_mut()[place] ^= change;
        }
        let at_most_ms = self.profile.jitter.as_ref().map_or(0.0, Jitter::held_at_most_ms);
        let hold_ns = fate.held_for.map_or(0, |_| nanoseconds(at_most_ms * 1e6));
        let arrives_ns = departs_ns + self.delay_ns + fate.late_ns + hold_ns;
        let copy = fate.duplicated.then(|| Travelling { duplicate: true, ..travelling.clone() });
        let key = self.put(arrives_ns, travelling);
        if let Some(later) = fate.held_for {
            self.held.push((later, key));
        }
        if let Some(copy) = copy {
            self.put(arrives_ns, copy);
        }
    }

    fn put(&mut self, arrives_ns: u64, travelling: Travelling<T>) -> (u64, u64) {
        self.order += 1;
        self.line_bytes += travelling.bytes;
        let key = (arrives_ns, self.order);
        self.line.insert(key, travelling);
        key
    }

    /// Datagram `number` has left. The datagrams that were held back for it follow.
    fn let_go(&mut self, departs_ns: u64, number: u64) {
        let arrives_ns = departs_ns + self.delay_ns;
        let mut due = Vec::new();
        for (later, key) in &mut self.held {
            if self.line.get(key).is_some_and(|travelling| travelling.number != number) {
                *later -= 1;
                if *later == 0 {
                    due.push(*key);
                }
            }
        }
        self.held.retain(|(later, _)| *later > 0);
        for key in due.into_iter().filter(|(at_ns, _)| *at_ns > arrives_ns) {
            if let Some(travelling) = self.line.remove(&key) {
                self.line_bytes -= travelling.bytes;
                self.put(arrives_ns, travelling);
            }
        }
    }

    fn note(&mut self, number: u64, offered_ns: u64, bytes: u64, verdict: Verdict) {
        if let Some(log) = &mut self.log {
            log.push(LinkLogEntry { way: self.way, number, offered_ns, bytes, verdict });
        }
    }
}
