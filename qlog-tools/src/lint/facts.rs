//! Finds facts that affect a scheme's order but are missing in a log.
//!
//! Schemes may place a response by facts about its page: whether it is above the fold, or in the head. Only our
//! server's log has them. To find out whether a scheme uses a fact, it orders two responses that differ only in that
//! fact.

use schedulers::{Call, FACTS, Fact, Kind, Resource, Scheduler, Scheme, Signal, StreamId};

use super::story::Story;

/// Bytes of a packet, and how many packets show an order.
const PACKET_BYTES: u64 = 1300;
const PACKETS: usize = 12;

/// A fact that may affect a scheme's order and be missing in a log.
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

    /// Whether the scheme orders the pair differently when this changes in one of the two.
    fn matters(self, none: [Resource; 2], scheme: &Scheme, is_signalled: bool) -> bool {
        let mut both = none;
        for resource in &mut both {
            Self::all().for_each(|unknown| unknown.set(resource, true));
        }
        // A fact may matter only without the others, or only with them.
        for (pair, is) in [(none, true), (both, false)] {
            let before = order(scheme, pair, is_signalled);
            for place in 0..2 {
                let mut other = pair;
                self.set(&mut other[place], is);
                if order(scheme, other, is_signalled) != before {
                    return true;
                }
            }
        }
        false
    }
}

/// The first fact that affects `scheme`'s order of the story's responses and that the story lacks, if any.
pub(super) fn lacking(story: &Story, scheme: &Scheme) -> Option<String> {
    if story.is_exact {
        return None;
    }
    let kinds = kinds(story);
    let is_signalled = story.is_all_signalled();
    let pairs = kinds.iter().flat_map(|one| kinds.iter().map(move |other| [*one, *other]));
    let pairs = pairs.map(|kinds| kinds.map(|kind| Resource { kind, ..Resource::default() }));
    let pairs: Vec<[Resource; 2]> = pairs.collect();
    let mut lacks: Vec<&str> = Unknown::all()
        .filter(|unknown| pairs.iter().any(|pair| unknown.matters(*pair, scheme, is_signalled)))
        .map(Unknown::name)
        .collect();
    let plain = order(scheme, [Resource::default(); 2], is_signalled);
    if !story.has_kinds && pairs.iter().any(|pair| order(scheme, *pair, is_signalled) != plain) {
        lacks.push("its content type");
    }
    (!lacks.is_empty()).then(|| {
        format!(
            "{} orders by facts that this log does not have for each response ({}); give the log of the utmost server that sent them, which does, or judge by RFC 9218 (without --scheme)",
            scheme.name,
            lacks.join(", ")
        )
    })
}

/// The kinds of the responses; if unknown, all kinds.
fn kinds(story: &Story) -> Vec<Kind> {
    if !story.has_kinds {
        return Kind::ALL.to_vec();
    }
    let opened = story.events.iter().filter_map(|it| match it.what.call()? {
        Call::Open(_, resource) => Some(resource.kind),
        _ => None,
    });
    let opened: Vec<Kind> = opened.collect();
    Kind::ALL.into_iter().filter(|kind| opened.contains(kind)).collect()
}

/// Which of two responses that are ready from the start is sent first; `None` without a scheduler.
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
    let picks = (0..PACKETS).map(|_| {
        let stream = scheduler.pick()?;
        scheduler.sent(stream, PACKET_BYTES);
        Some(stream)
    });
    picks.collect()
}
