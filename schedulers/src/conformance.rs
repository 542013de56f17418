//! The rules for every scheduler, whatever its scheme: checks of a scheme over random courses of a connection.
//!
//! This crate's tests run them on every scheme with courses that shrink after a failure; [`CHECKS`] runs them on one
//! scheme with seeded courses.

mod course;

use crate::{ClientHalf, Resource, Scheduler, Scheme, SchemeError, Signal, SplitMix64, StreamId};
pub use course::{Act, Slot, mixed};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// A packet's stream bytes.
const PACKET_BYTES: u64 = 1400;

/// A rule that a scheme keeps.
pub struct Check {
    /// The rule, as a sentence.
    pub rule: &'static str,
    play: fn(&Scheme, &mut SplitMix64) -> Result<(), String>,
}

/// Every rule.
pub const CHECKS: [Check; 7] = [
    Check {
        rule: "a packet goes exactly when a response is ready",
        play: |scheme, chance| packets_go_when_ready(scheme, &course::acts(chance)),
    },
    Check {
        rule: "the same calls give the same order, and asking changes nothing",
        play: |scheme, chance| calls_decide(scheme, &course::acts(chance)),
    },
    Check {
        rule: "every byte is sent once",
        play: |scheme, chance| bytes_go_once(scheme, &course::page(chance)),
    },
    Check {
        rule: "two responses that are alike share equally or go in sequence",
        play: |scheme, chance| equals_are_equal(scheme, &course::resource(chance)),
    },
    Check {
        rule: "a signal does not open a response that is complete",
        play: |scheme, _| closed_stays_closed(scheme),
    },
    Check {
        rule: "under a guard every ready response sends",
        play: |scheme, _| nobody_starves(&guarded(scheme)),
    },
    Check {
        rule: "the client's signals give the order that the server chooses",
        play: |scheme, chance| signals_say_the_order(scheme, &course::slots(chance)),
    },
];

impl Check {
    /// Plays `courses` courses of connections; an error describes the first violation of the rule.
    pub fn run(&self, scheme: &Scheme, courses: u32) -> Result<(), String> {
        let mut chance = SplitMix64::new(0);
        (0..courses).try_for_each(|course| {
            (self.play)(scheme, &mut chance).map_err(|cause| format!("course {course}: {cause}"))
        })
    }
}

/// Whatever the calls, a pick is an open and ready stream, and there is one if any stream is ready.
pub fn packets_go_when_ready(scheme: &Scheme, acts: &[Act]) -> Result<(), String> {
    let mut scheduler = build(scheme)?;
    let mut open = BTreeMap::new();
    for (place, act) in acts.iter().enumerate() {
        act.apply(&mut scheduler);
        act.note(&mut open);
        let holds = match scheduler.pick() {
            Some(picked) => open.get(&picked.0) == Some(&true),
            None => !open.values().any(|ready| *ready),
        };
        if !holds {
            let picked = scheduler.pick();
            return Err(format!("picked {picked:?} after {:?}", &acts[..=place]));
        }
    }
    Ok(())
}

/// A scheduler is a function of the calls to it, and `pick` changes nothing.
pub fn calls_decide(scheme: &Scheme, acts: &[Act]) -> Result<(), String> {
    let mut twins = (build(scheme)?, build(scheme)?);
    for (place, act) in acts.iter().enumerate() {
        act.apply(&mut twins.0);
        act.apply(&mut twins.1);
        let picks = [twins.0.pick(), twins.1.pick(), twins.0.pick()];
        if picks != [picks[0]; 3] {
            return Err(format!("picked {picks:?} after {:?}", &acts[..=place]));
        }
    }
    Ok(())
}

/// A page is sent completely: each response gets exactly its bytes, in no more packets than they need.
pub fn bytes_go_once(scheme: &Scheme, page: &[(Resource, u64)]) -> Result<(), String> {
    let mut scheduler = build(scheme)?;
    let mut left: BTreeMap<StreamId, u64> = BTreeMap::new();
    for (id, (resource, bytes)) in (0..).step_by(4).map(StreamId).zip(page) {
        scheduler.open(id, resource);
        scheduler.set_ready(id, true);
        left.insert(id, *bytes);
    }
    let packets: u64 = page.iter().map(|(_, bytes)| bytes.div_ceil(PACKET_BYTES)).sum();
    for _ in 0..packets {
        let picked = scheduler.pick().ok_or("no stream was picked while bytes were left")?;
        let rest = left.get_mut(&picked).filter(|rest| **rest > 0);
        let rest = rest.ok_or_else(|| format!("picked stream {}, which is complete", picked.0))?;
        let bytes = PACKET_BYTES.min(*rest);
        *rest -= bytes;
        scheduler.sent(picked, bytes);
        if *rest == 0 {
            scheduler.close(picked);
        }
    }
    match scheduler.pick() {
        None => Ok(()),
        Some(picked) => Err(format!("picked stream {} after the last byte", picked.0)),
    }
}

/// Two streams that differ only in their IDs are never more than a packet apart, or go in sequence, in either order.
pub fn equals_are_equal(scheme: &Scheme, resource: &Resource) -> Result<(), String> {
    let mut scheduler = build(scheme)?;
    let resource = Resource { main: false, body_bytes: Some(1_000_000), ..*resource };
    for stream in [StreamId(0), StreamId(4)] {
        scheduler.open(stream, &resource);
        scheduler.set_ready(stream, true);
    }
    let bytes = shares(&mut scheduler, 101);
    let [first, second] = [0, 4].map(|id| bytes.get(&StreamId(id)).copied().unwrap_or(0_u64));
    let in_sequence = first == 0 || second == 0;
    if scheme.guard.is_some() || in_sequence || first.abs_diff(second) <= PACKET_BYTES {
        return Ok(());
    }
    Err(format!("of two alike, {resource:?}, one sent {first} bytes and the other {second}"))
}

/// With a guard, a stream that stays ready gets its turn, whatever the order.
pub fn nobody_starves(scheme: &Scheme) -> Result<(), String> {
    let mut scheduler = build(scheme)?;
    for id in 0..20 {
        scheduler.open(StreamId(id), &Resource { main: id == 0, ..Resource::default() });
        scheduler.set_ready(StreamId(id), true);
    }
    let senders = shares(&mut scheduler, 60).len();
    if senders == 20 { Ok(()) } else { Err(format!("{senders} of 20 ready responses sent")) }
}

/// A signal for a stream that is closed does not make it ready.
pub fn closed_stays_closed(scheme: &Scheme) -> Result<(), String> {
    let mut scheduler = build(scheme)?;
    let stream = StreamId(0);
    scheduler.open(stream, &Resource::default());
    scheduler.close(stream);
    scheduler.signal(Signal::Extensible { stream, urgency: 0, incremental: true });
    scheduler.signal(Signal::Bucket { stream, byte: 255 });
    scheduler.set_ready(stream, true);
    match scheduler.pick() {
        None => Ok(()),
        Some(_) => Err("a signal opened a response that was complete".to_owned()),
    }
}

/// A server that knows the resources chooses the same order as one that knows only the client's signals. Schemes that no
/// client can signal satisfy this rule trivially.
pub fn signals_say_the_order(scheme: &Scheme, slots: &[Slot]) -> Result<(), String> {
    let client = match scheme.client_half() {
        Ok(client) => client,
        Err(SchemeError::Unsignalled { .. }) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    same(&order(scheme, None, slots), &order(scheme, Some(client), slots))
        .map_err(|cause| format!("{cause} where the client signals; {slots:?}"))
}

/// Two schemes give the same order on any course of a connection.
pub fn orders_are_equal(one: &Scheme, other: &Scheme, courses: u32) -> Result<(), String> {
    let mut chance = SplitMix64::new(0);
    (0..courses).try_for_each(|course| {
        let slots = course::slots(&mut chance);
        same(&order(other, None, &slots), &order(one, None, &slots))
            .map_err(|cause| format!("course {course}: {cause} under `{}`", one.name))
    })
}

fn same(expected: &[Option<u64>], found: &[Option<u64>]) -> Result<(), String> {
    let differs = expected.iter().zip(found).position(|(expected, found)| expected != found);
    let Some(slot) = differs else { return Ok(()) };
    let [expected, found] = [expected[slot], found[slot]]
        .map(|stream| stream.map_or("nobody".to_owned(), |it| format!("stream {it}")));
    Err(format!("slot {slot} goes to {expected}, but to {found}"))
}

fn build(scheme: &Scheme) -> Result<Scheduler, String> {
    Scheduler::build(scheme).map_err(|error| error.to_string())
}

fn guarded(scheme: &Scheme) -> Scheme {
    let guard = scheme.guard.or(NonZeroU32::new(3));
    Scheme { guard, ..scheme.clone() }
}

/// Sends `packets` packets from endless streams; returns each stream's bytes.
fn shares(scheduler: &mut Scheduler, packets: u32) -> BTreeMap<StreamId, u64> {
    let mut bytes = BTreeMap::new();
    for _ in 0..packets {
        let Some(picked) = scheduler.pick() else { break };
        scheduler.sent(picked, PACKET_BYTES);
        *bytes.entry(picked).or_default() += PACKET_BYTES;
    }
    bytes
}

/// The stream that sends in each slot. The server knows the resources, or `client` signals their places.
pub fn order(
    scheme: &Scheme,
    mut client: Option<Box<dyn ClientHalf>>,
    slots: &[Slot],
) -> Vec<Option<u64>> {
    let mut scheduler = Scheduler::new(scheme);
    client.iter_mut().flat_map(|it| it.setup()).for_each(|it| scheduler.signal(it));
    let mut left: BTreeMap<StreamId, u64> = BTreeMap::new();
    let mut order = Vec::new();
    for slot in slots {
        if let Some((resource, packets)) = slot.request {
            let stream = StreamId(4 * left.len() as u64);
            left.insert(stream, packets);
            let known = if client.is_some() { Resource::default() } else { resource };
            scheduler.open(stream, &known);
            let said = client.iter_mut().flat_map(|it| it.request(stream, &resource));
            said.for_each(|it| scheduler.signal(it));
            scheduler.set_ready(stream, true);
        }
        if let Some((stream, ready)) = slot.toggled {
            scheduler.set_ready(StreamId(4 * stream), ready);
        }
        let picked = scheduler.pick();
        if let Some(stream) = picked {
            scheduler.sent(stream, PACKET_BYTES);
            let rest = left.get_mut(&stream).map_or(0, |packets| {
                *packets = packets.saturating_sub(1);
                *packets
            });
            if rest == 0 {
                scheduler.close(stream);
                let said = client.iter_mut().flat_map(|it| it.closed(stream));
                said.for_each(|it| scheduler.signal(it));
            }
        }
        order.push(picked.map(|it| it.0));
    }
    order
}
