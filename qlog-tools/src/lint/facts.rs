//! Finds facts that a scheme orders by and a log does not contain.
//!
//! Schemes may place a response by facts of its page: whether it is above the fold, in the head. Only our server's log
//! has them. Whether a scheme cares is tried out: two responses that differ in one fact alone.

use schedulers::{Call, FACTS, Fact, Kind, Resource, Scheduler, Scheme, Signal, StreamId};

use super::story::{Story, What};

/// Bytes of a packet, and how many packets tell an order.
const PACKET_BYTES: u64 = 1300;
const PACKETS: usize = 12;

/// Something that a scheme may order by and that a log may not tell.
#[derive(Clone, Copy)]
enum Unknown {
    Place,
    Urgency,
    Fact(&'static Fact),
}

impl Unknown {
    fn all() -> impl Iterator<Item = Self> {
        FACTS.iter().map(Self::Fact).chain([Self::Place, Self::Urgency])
    }

    fn name(self) -> &'static str {
        match self {
            Self::Place => "its place in the page",
            Self::Urgency => "its urgency in a browser",
            Self::Fact(fact) => fact.question,
        }
    }

    fn set(self, resource: &mut Resource, is: bool) {
        match self {
            Self::Place => resource.id = is.then_some(0),
            Self::Urgency => resource.browser = is.then_some((0, true)),
            Self::Fact(fact) => fact.set(resource, is),
        }
    }
}

/// What `scheme` orders the story's responses by and the story does not have, if anything.
pub(super) fn lacking(story: &Story, scheme: &Scheme) -> Option<String> {
    if story.is_exact {
        return None;
    }
    let kinds = kinds(story);
    let is_signalled = story.is_all_signalled();
    let order = |pair| order(scheme, pair, is_signalled);
    let pairs = || kinds.iter().flat_map(|one| kinds.iter().map(move |two| [*one, *two]));
    let plain = |kinds: [Kind; 2]| kinds.map(|kind| Resource { kind, ..Resource::default() });
    let matters = |unknown: &Unknown| {
        pairs().any(|kinds| {
            let (mut none, mut both) = (plain(kinds), plain(kinds));
            for unknown in Unknown::all() {
                for resource in &mut both {
                    unknown.set(resource, true);
                }
            }
            // A fact may matter only without the others, or only with them.
            [(&mut none, true), (&mut both, false)].into_iter().any(|(pair, is)| {
                (0..2).any(|place| {
                    let mut other = *pair;
                    unknown.set(&mut other[place], is);
                    order(*pair) != order(other)
                })
            })
        })
    };
    let mut lacks: Vec<&str> = Unknown::all().filter(matters).map(Unknown::name).collect();
    let kind_matters =
        || pairs().any(|kinds| order(plain(kinds)) != order(plain([Kind::Other, Kind::Other])));
    if !story.has_kinds && kind_matters() {
        lacks.push("its content type");
    }
    (!lacks.is_empty()).then(|| {
        format!(
            "{} orders by what this log does not tell of each response ({}); give the log of the utmost server that sent them, \
             which does, or judge by RFC 9218 (without --scheme)",
            scheme.name,
            lacks.join(", ")
        )
    })
}

/// The kinds of the responses; where they are not known, all.
fn kinds(story: &Story) -> Vec<Kind> {
    let opened = |kind: Kind| {
        let is = |what: &What| matches!(what.call(), Some(Call::Open(_, it)) if it.kind == kind);
        story.events.iter().any(|event| is(&event.what))
    };
    Kind::ALL.into_iter().filter(|kind| !story.has_kinds || opened(*kind)).collect()
}

/// The response that is sent first of two that are ready from the start; no scheduler, no order.
fn order(scheme: &Scheme, pair: [Resource; 2], is_signalled: bool) -> Vec<Option<StreamId>> {
    let Ok(mut scheduler) = Scheduler::build(scheme) else { return Vec::new() };
    let streams = [StreamId(0), StreamId(4)];
    for (stream, resource) in streams.into_iter().zip(&pair) {
        scheduler.open(stream, resource);
        if is_signalled {
            scheduler.signal(Signal::Extensible { stream, urgency: 3, incremental: true });
        }
        scheduler.set_ready(stream, true);
    }
    let next = |_| {
        let picked = scheduler.pick();
        if let Some(stream) = picked {
            scheduler.sent(stream, PACKET_BYTES);
        }
        picked
    };
    (0..PACKETS).map(next).collect()
}
