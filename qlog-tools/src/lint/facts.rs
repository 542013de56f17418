//! What a scheme orders by that a log does not tell.
//!
//! Schemes may place a response by facts of its page: whether it is above the fold, in the head. Only our server's log
//! has them. Whether a scheme cares is tried out: two responses that differ in one fact alone.

use schedulers::{FACTS, Kind, Resource, Scheduler, Scheme, Signal, StreamId};

use super::story::{Story, What};

/// Bytes of a packet, and how many packets tell an order.
const PACKET_BYTES: u64 = 1300;
const PACKETS: usize = 12;

/// What a user asks about a fact, and how it is set.
type Question = (&'static str, fn(&mut Resource, bool));

fn questions() -> impl Iterator<Item = Question> + Clone {
    let place: Question = ("its place in the page", |it, is| it.id = is.then_some(0));
    let urgency: Question =
        ("its urgency in a browser", |it, is| it.browser = is.then_some((0, true)));
    [place].into_iter().chain(FACTS.iter().map(|it| (it.question, it.set))).chain([urgency])
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
    let matters = |(_, set): &Question| {
        pairs().any(|kinds| {
            let (mut none, mut both) = (plain(kinds), plain(kinds));
            for (_, set) in questions() {
                set(&mut both[0], true);
                set(&mut both[1], true);
            }
            // A fact may matter only without the others, or only with them.
            [(&mut none, true), (&mut both, false)].into_iter().any(|(pair, is)| {
                (0..2).any(|place| {
                    let mut other = *pair;
                    set(&mut other[place], is);
                    order(*pair) != order(other)
                })
            })
        })
    };
    let mut lacks: Vec<&str> = questions().filter(matters).map(|(name, _)| name).collect();
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
        let is = |what| matches!(what, What::Opened(_, resource) if resource.kind == kind);
        story.events.iter().any(|event| is(event.what))
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
