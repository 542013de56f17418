//! `rfc9218`: Extensible Priorities, eight strict urgencies, incremental or not.
//!
//! Source: RFC 9218, section 10. A lower urgency strictly goes first. Within one, non-incremental responses go first, one after
//! another by stream ID, then the incremental ones share: the RFC leaves the mix open, and Cloudflare's quiche and LSQUIC do the
//! same. Without a signal, a response is placed by the recorded browser's signal for the resource, otherwise by Chrome's signal for
//! its kind (of 2023, from public captures), and without either by the RFC's default, urgency 3, not incremental. Order:
//! `ccffhhhssiIiIiI`.

use super::halves::{ByWord, by_word};
use crate::{Element, Kind, Language, Place, Rank, Resource, Scheme, StreamId, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Two groups for each urgency, named as in a `priority` field: `u=2`, `u=2, i`.
pub(super) fn group_name(id: u64) -> String {
    let incremental = if id % 2 == 1 { ", i" } else { "" };
    format!("u={}{incremental}", id / 2)
}

pub(super) fn scheme() -> Scheme {
    Scheme {
        group_name: Arc::new(|id| Some(group_name(id))),
        parameters: "@quiche (the default), @h2o, @nghttp3, @quicgo: who goes first within an urgency",
        signals: Language::Priority,
        ..Scheme::new(
            "rfc9218",
            "Extensible Priorities: eight strict urgencies, incremental responses share",
            "RFC 9218, Extensible Prioritization Scheme for HTTP, 2022",
            |args, _| {
                let takes = "takes no parameters; its variants are quiche, h2o, nghttp3 and quicgo";
                let rule = match args.variant.as_deref() {
                    _ if !args.parameters.is_empty() => return args.refuse(takes),
                    None | Some("quiche") => Rule::WholeFirst,
                    Some("h2o") => Rule::FirstPacketInTurn,
                    Some("nghttp3") => Rule::Cycles,
                    Some("quicgo") => Rule::Alternate,
                    Some(_) => return args.refuse(takes),
                };
                let (responses, queues) = (BTreeMap::new(), BTreeSet::new());
                Ok(by_word(priority, Extensible { rule, responses, queues }))
            },
        )
    }
}

const BACKGROUND: u8 = 7;

/// The order of incremental and non-incremental responses of one urgency, which the RFC leaves open.
#[derive(Clone, Copy)]
enum Rule {
    /// Non-incremental responses first, one after another; then the others share (quiche, LSQUIC).
    WholeFirst,
    /// As `WholeFirst`, but the first packet of an incremental response goes in turn with the whole ones (h2o).
    FirstPacketInTurn,
    /// One queue by cycle, then ID: only incremental responses move to later cycles as they send (nghttp3).
    Cycles,
    /// A queue of non-incremental responses by ID alternates with a ring of incremental ones (quic-go, which keeps both for each
    /// urgency; that they alternate packet by packet is our interpretation).
    Alternate,
}

/// Bytes after which an incremental response of nghttp3 moves to the next cycle.
const CYCLE_BYTES: u64 = 800;

struct Extensible {
    rule: Rule,
    responses: BTreeMap<StreamId, Response>,
    /// The open responses by urgency, cycle and ID.
    queues: BTreeSet<(u8, u64, StreamId)>,
}

#[derive(Clone, Copy)]
struct Response {
    urgency: u8,
    incremental: bool,
    cycle: u64,
    has_sent: bool,
}

/// The default urgency of a response, and whether it is incremental: the recorded browser's signal for the resource, or Chrome's for
/// its kind.
pub fn priority(resource: &Resource) -> (u8, bool) {
    resource.browser.unwrap_or(match resource.kind {
        Kind::Html => (0, true),
        Kind::Css if resource.in_head || resource.critical || resource.preload => (0, false),
        Kind::Css => (2, false),
        Kind::Js if resource.is_late_script() => (3, false),
        Kind::Js if resource.after_first_image => (2, false),
        Kind::Js => (1, false),
        Kind::Font if resource.preload => (1, false),
        Kind::Font => (0, false),
        Kind::Xhr => (1, true),
        Kind::Image | Kind::Media => (3, true),
        Kind::Other => (3, false),
    })
}

/// The urgency of [`priority`].
pub fn usual_urgency(resource: &Resource) -> u8 {
    priority(resource).0
}

impl Extensible {
    fn forget(&mut self, stream: StreamId) {
        if let Some(response) = self.responses.remove(&stream) {
            self.queues.remove(&(response.urgency, response.cycle, stream));
        }
        if self.responses.is_empty() {
            // As in the scheduler: an empty map keeps a node.
            self.responses = BTreeMap::new();
        }
    }

    fn place(&self, tree: &mut Tree, stream: StreamId, response: Response) {
        let Response { urgency, incremental, cycle, has_sent } = response;
        let level = 2 * u16::from(urgency);
        let place = match self.rule {
            Rule::Cycles => Place::DEFAULT.rank(Rank::sequence_in(level, cycle).then(stream.0)),
            Rule::Alternate => {
                let group = Element::Placeholder(u64::from(level) + u64::from(incremental));
                tree.put(group, Place::DEFAULT.rank(Rank::level(level)));
                let rank = if incremental { Rank::EQUAL } else { Rank::sequence(stream.0) };
                Place::below(group).rank(rank)
            }
            Rule::FirstPacketInTurn if !has_sent => {
                Place::DEFAULT.rank(Rank::sequence_in(level, stream.0))
            }
            _ if incremental => Place::DEFAULT.rank(Rank::level(level + 1)),
            _ => Place::DEFAULT.rank(Rank::sequence_in(level, stream.0)),
        };
        tree.put(Element::Stream(stream), place);
    }

    /// Whether no other response of its urgency is open.
    fn is_alone(&self, stream: StreamId, urgency: u8) -> bool {
        let of_urgency = (urgency, 0, StreamId(0))..=(urgency, u64::MAX, StreamId(u64::MAX));
        !self.queues.range(of_urgency).take(2).any(|(_, _, it)| *it != stream)
    }
}

impl ByWord for Extensible {
    type Word = (u8, bool);

    fn put(&mut self, tree: &mut Tree, stream: StreamId, word: (u8, bool)) {
        let (urgency, incremental) = (word.0.min(BACKGROUND), word.1);
        let has_sent = self.responses.get(&stream).is_some_and(|it| it.has_sent);
        self.forget(stream);
        let cycle = match self.queues.range((urgency, 0, StreamId(0))..).next() {
            Some((of, cycle, _)) if *of == urgency => *cycle,
            _ => 0,
        };
        let response = Response { urgency, incremental, cycle, has_sent };
        self.responses.insert(stream, response);
        if matches!(self.rule, Rule::Cycles) {
            self.queues.insert((urgency, cycle, stream));
        }
        self.place(tree, stream, response);
    }

    fn sent(&mut self, tree: &mut Tree, stream: StreamId, bytes: u64) {
        let Some(&response) = self.responses.get(&stream) else { return };
        let is_first = !response.has_sent;
        let moved = match self.rule {
            Rule::FirstPacketInTurn if response.incremental && is_first => response,
            Rule::Cycles if response.incremental && !self.is_alone(stream, response.urgency) => {
                let cycles = (bytes / CYCLE_BYTES).max(1);
                Response { cycle: response.cycle.saturating_add(cycles), ..response }
            }
            _ => {
                self.responses.insert(stream, Response { has_sent: true, ..response });
                return;
            }
        };
        let moved = Response { has_sent: true, ..moved };
        self.responses.insert(stream, moved);
        if self.queues.remove(&(response.urgency, response.cycle, stream)) {
            self.queues.insert((moved.urgency, moved.cycle, stream));
        }
        self.place(tree, stream, moved);
    }

    fn closed(&mut self, _tree: &mut Tree, stream: StreamId) {
        self.forget(stream);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use crate::{Kind, Resource, Scheduler, Signal, StreamId, find_scheme};

    const IMAGE: StreamId = StreamId(0);
    const SCRIPT: StreamId = StreamId(4);

    fn two() -> Scheduler {
        let mut scheduler = Scheduler::new(&find_scheme("rfc9218").unwrap());
        open(&mut scheduler, IMAGE, Kind::Image);
        open(&mut scheduler, SCRIPT, Kind::Js);
        scheduler
    }

    fn open(scheduler: &mut Scheduler, stream: StreamId, kind: Kind) {
        scheduler.open(stream, &Resource { kind, ..Resource::default() });
        scheduler.set_ready(stream, true);
    }

    #[test]
    fn urgency_is_strict_and_the_incremental_share_after_the_others() {
        assert_eq!(sample::order("rfc9218"), "ccffhhhssiIiIiI");
    }

    /// Two whole responses (0, 8) and two incremental ones (4, 12) of one urgency, three packets each.
    fn mix(variant: &str) -> String {
        let mut scheduler = Scheduler::new(&find_scheme(variant).unwrap());
        let mut left = [3; 4];
        for id in 0..4 {
            let browser = Some((3, id % 2 == 1));
            scheduler.open(StreamId(id), &Resource { browser, ..Resource::default() });
            scheduler.set_ready(StreamId(id), true);
        }
        let mut order = String::new();
        while let Some(stream) = scheduler.pick() {
            order += &stream.0.to_string();
            scheduler.sent(stream, 1400);
            let left = &mut left[usize::try_from(stream.0).unwrap()];
            *left -= 1;
            if *left == 0 {
                scheduler.close(stream);
            }
        }
        order
    }

    #[test]
    fn each_stack_mixes_an_urgency_in_its_own_way() {
        assert_eq!(mix("rfc9218"), "000222131313");
        assert_eq!(mix("rfc9218@quiche"), "000222131313");
        assert_eq!(mix("rfc9218@h2o"), "000122231313");
        assert_eq!(mix("rfc9218@nghttp3"), "000122231313");
        assert_eq!(mix("rfc9218@quicgo"), "010301232123");
        assert!(find_scheme("rfc9218@other").is_err() && find_scheme("rfc9218:1").is_err());
    }

    #[test]
    fn a_signal_overrides_the_servers_knowledge() {
        let mut scheduler = two();
        assert_eq!(scheduler.pick(), Some(SCRIPT));
        scheduler.signal(Signal::Extensible { stream: IMAGE, urgency: 0, incremental: true });
        assert_eq!(scheduler.pick(), Some(IMAGE));
    }

    #[test]
    fn the_latest_signal_before_a_request_is_remembered() {
        let mut scheduler = two();
        let late = StreamId(8);
        scheduler.signal(Signal::Extensible { stream: late, urgency: 7, incremental: true });
        scheduler.signal(Signal::Extensible { stream: late, urgency: 0, incremental: false });
        open(&mut scheduler, late, Kind::Image);
        assert_eq!(scheduler.pick(), Some(late));
    }

    #[test]
    fn an_urgency_beyond_the_last_is_the_last() {
        let mut scheduler = two();
        scheduler.signal(Signal::Extensible { stream: SCRIPT, urgency: 255, incremental: false });
        assert_eq!(scheduler.pick(), Some(IMAGE));
    }

    #[test]
    fn what_nobody_knows_goes_in_the_order_of_request() {
        let mut scheduler = Scheduler::new(&find_scheme("rfc9218").unwrap());
        for stream in [4, 0, 8] {
            scheduler.open(StreamId(stream), &Resource::default());
            scheduler.set_ready(StreamId(stream), true);
        }
        assert_eq!(scheduler.pick(), Some(StreamId(0)));
    }
}
