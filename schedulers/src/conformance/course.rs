//! Courses of a connection, as a server's calls or slot by slot.

use crate::{Element, FACTS, Kind, Resource, Scheduler, Signal, SplitMix64, StreamId};
use std::collections::BTreeMap;

/// A call of a server to its scheduler.
#[derive(Debug, Clone)]
pub enum Act {
    /// A response will be sent.
    Open(u64, Resource),
    /// The client sends a signal.
    Signal(Signal),
    /// A stream gets ready or blocks.
    SetReady(u64, bool),
    /// Pick, and send this many bytes of the picked stream.
    Send(u64),
    /// Send without asking.
    SendAnyway(u64, u64),
    /// A response is complete.
    Close(u64),
}

impl Act {
    /// Makes the call.
    pub fn apply(&self, scheduler: &mut Scheduler) {
        match self {
            Self::Open(id, resource) => scheduler.open(StreamId(*id), resource),
            Self::Signal(signal) => scheduler.signal(*signal),
            Self::SetReady(id, ready) => scheduler.set_ready(StreamId(*id), *ready),
            Self::Send(bytes) => {
                if let Some(picked) = scheduler.pick() {
                    scheduler.sent(picked, *bytes);
                }
            }
            Self::SendAnyway(id, bytes) => scheduler.sent(StreamId(*id), *bytes),
            Self::Close(id) => scheduler.close(StreamId(*id)),
        }
    }

    /// Records the caller's knowledge: the open streams, and whether they are ready.
    pub fn note(&self, open: &mut BTreeMap<u64, bool>) {
        match self {
            Self::Open(id, _) => {
                open.entry(*id).or_insert(false);
            }
            Self::SetReady(id, ready) => {
                open.entry(*id).and_modify(|it| *it = *ready);
            }
            Self::Close(id) => {
                open.remove(id);
            }
            Self::Signal(_) | Self::Send(_) | Self::SendAnyway(..) => {}
        }
    }
}

/// One slot: perhaps a request arrives, perhaps a stream blocks or becomes ready, and one packet is sent.
#[derive(Debug, Clone)]
pub struct Slot {
    /// A resource, and the packets of its response. Streams are numbered 0, 4, 8, ... in the order of requests.
    pub request: Option<(Resource, u64)>,
    /// A stream, in units of 4, and whether it is ready from now on.
    pub toggled: Option<(u64, bool)>,
}

/// A resource of a mixed page: each fact is true for every second, third, ... of them. Its body does not end.
pub fn mixed(index: usize) -> Resource {
    let every = |n| index.is_multiple_of(n);
    Resource {
        id: Some(index),
        kind: Kind::ALL[index % Kind::ALL.len()],
        main: index == 0,
        in_head: every(2),
        critical: every(3),
        above_fold: every(5),
        after_first_image: every(7),
        asynchronous: every(11),
        deferred: every(13),
        preload: every(17),
        body_bytes: Some(1 << 40),
        ..Resource::default()
    }
}

/// A number below `end`.
fn below(chance: &mut SplitMix64, end: u64) -> u64 {
    chance.draw() % end
}

fn coin(chance: &mut SplitMix64) -> bool {
    below(chance, 2) == 1
}

pub(super) fn acts(chance: &mut SplitMix64) -> Vec<Act> {
    (0..below(chance, 120)).map(|_| act(chance)).collect()
}

pub(super) fn slots(chance: &mut SplitMix64) -> Vec<Slot> {
    let slots = (0..120).map(|_| Slot {
        request: (below(chance, 10) < 3).then(|| (resource(chance), 1 + below(chance, 11))),
        toggled: (below(chance, 10) < 2).then(|| (below(chance, 12), coin(chance))),
    });
    slots.collect()
}

pub(super) fn page(chance: &mut SplitMix64) -> Vec<(Resource, u64)> {
    (0..=below(chance, 19)).map(|_| (resource(chance), 1 + below(chance, 20_000))).collect()
}

/// Any kind and any facts; sometimes a browser's signal, a place in the page and a length.
pub(super) fn resource(chance: &mut SplitMix64) -> Resource {
    let browser = (below(chance, 5) == 0).then(|| (byte(chance), coin(chance)));
    let mut resource = Resource {
        id: coin(chance).then(|| usize::try_from(below(chance, 14)).unwrap_or(0)),
        kind: Kind::ALL[usize::try_from(below(chance, 8)).unwrap_or(0)],
        browser,
        body_bytes: coin(chance).then(|| below(chance, 20_000)),
        ..Resource::default()
    };
    for fact in &FACTS {
        fact.set(&mut resource, coin(chance));
    }
    resource
}

fn act(chance: &mut SplitMix64) -> Act {
    match below(chance, 19) {
        0..=3 => Act::Open(stream(chance), resource(chance)),
        4..=5 => Act::Signal(signal(chance)),
        6..=9 => Act::SetReady(stream(chance), coin(chance)),
        10..=15 => Act::Send(below(chance, 3000)),
        16 => Act::SendAnyway(stream(chance), chance.draw()),
        _ => Act::Close(stream(chance)),
    }
}

/// Mostly one of twelve streams, sometimes any number.
fn stream(chance: &mut SplitMix64) -> u64 {
    if below(chance, 10) == 0 { chance.draw() } else { 4 * below(chance, 12) }
}

fn byte(chance: &mut SplitMix64) -> u8 {
    u8::try_from(below(chance, 256)).unwrap_or(0)
}

fn signal(chance: &mut SplitMix64) -> Signal {
    match below(chance, 3) {
        0 => {
            let (stream, urgency) = (StreamId(stream(chance)), byte(chance));
            Signal::Extensible { stream, urgency, incremental: coin(chance) }
        }
        1 => Signal::Bucket { stream: StreamId(stream(chance)), byte: byte(chance) },
        _ => Signal::Depend {
            element: element(chance),
            parent: element(chance),
            weight: u16::try_from(below(chance, 300)).unwrap_or(16),
            exclusive: coin(chance),
        },
    }
}

fn element(chance: &mut SplitMix64) -> Element {
    match below(chance, 11) {
        0 => Element::Root,
        1..=3 => Element::Placeholder(below(chance, 9)),
        4 => Element::Placeholder(chance.draw()),
        _ => Element::Stream(StreamId(stream(chance))),
    }
}
