//! `p+` (Parallel+): what matters most goes one after another, the rest shares, the medium before the low.
//!
//! Source: Wijnants et al., WWW 2018; the paper, Table 1. HIGH weighs 256. NORMAL weighs 256, but 1 while
//! a response is in HIGH, which gives it the wire but for 2 packets in 258. LOW weighs 1. HIGH is one class,
//! in which the paper's "dfifo" is a fifo. The paper's implementation gave NORMAL its weight back
//! half a second late; here it has it at once. Order: `hhhccffiIsiIsiI`.

use super::halves::{Arrivals, Silent};
use super::{WIJNANTS, nth_name};
use crate::{
    Args, Element, Halves, Kind, Place, Rank, Resource, Scheme, SchemeError, ServerHalf, StreamId,
    Tree,
};
use std::collections::BTreeSet;

pub(super) fn scheme() -> Scheme {
    Scheme {
        parameters: QUICKER,
        placeholders: 3,
        group_name: |id| nth_name(&["HIGH", "NORMAL", "LOW"], id),
        ..Scheme::new(
            "p+",
            "Parallel+: high priority in sequence, medium and low share",
            WIJNANTS,
            |args, _| {
                let restore = Restore::of(args)?;
                Ok(Halves::new(
                    Silent,
                    ParallelPlus { high: Foreground::new(restore), ..ParallelPlus::default() },
                ))
            },
        )
    }
}

const HIGH: Element = Element::Placeholder(0);
const NORMAL: Element = Element::Placeholder(1);
const LOW: Element = Element::Placeholder(2);

fn group(resource: &Resource) -> Element {
    match resource.kind {
        Kind::Js if resource.is_late_script() => LOW,
        Kind::Js if resource.after_first_image => NORMAL,
        Kind::Html | Kind::Css | Kind::Font | Kind::Js | Kind::Xhr => HIGH,
        Kind::Image | Kind::Media | Kind::Other => LOW,
    }
}

#[derive(Default)]
struct ParallelPlus {
    high: Foreground,
    arrivals: Arrivals,
}

impl ServerHalf for ParallelPlus {
    fn setup(&mut self, tree: &mut Tree) {
        tree.put(HIGH, Place::DEFAULT.weight(256));
        tree.put(NORMAL, Place::DEFAULT.weight(256));
        tree.put(LOW, Place::DEFAULT.weight(1));
    }
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        let group = group(resource);
        let mut place = Place::below(group);
        match group {
            HIGH => {
                place = place.rank(Rank::sequence(self.arrivals.next()));
                self.high.opened(tree, stream, NORMAL);
            }
            NORMAL => self.high.second_opened(tree, stream, NORMAL),
            _ => {}
        }
        tree.put(Element::Stream(stream), place);
    }
    fn sent(&mut self, tree: &mut Tree, stream: StreamId, _bytes: u64) {
        self.high.sent(tree, stream, NORMAL);
    }
    fn closed(&mut self, tree: &mut Tree, stream: StreamId) {
        self.high.closed(tree, stream, NORMAL);
    }
}

/// What may follow the names of `p+` and `s+`.
pub(super) const QUICKER: &str = "@quicker: the mapping of the paper's implementation";

/// When the second group gets its weight back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Restore {
    /// When the last response of the highest group is complete.
    #[default]
    AtOnce,
    /// As in the paper's implementation: half a second later, which are 50 packets there; and a change of weight counts
    /// from the group's next turn on.
    Late,
}

impl Restore {
    pub(super) fn of(args: &Args) -> Result<Self, SchemeError> {
        let takes = "takes no parameters; its variant is `quicker`";
        match args.variant.as_deref() {
            _ if !args.parameters.is_empty() => args.refuse(takes),
            None => Ok(Self::AtOnce),
            Some("quicker") => Ok(Self::Late),
            Some(_) => args.refuse(takes),
        }
    }
}

/// Packets from the last of the highest group until the paper's implementation took it from its tree.
const LATE_PACKETS: u32 = 50;

/// The responses of the highest group: while there are any, the second group's weight is 1.
#[derive(Default)]
pub(super) struct Foreground {
    restore: Restore,
    open: BTreeSet<StreamId>,
    second: BTreeSet<StreamId>,
    countdown: Option<u32>,
    /// A weight that waits for the second group's next turn.
    pending: Option<u16>,
}

impl Foreground {
    pub(super) fn new(restore: Restore) -> Self {
        Self { restore, ..Self::default() }
    }
    pub(super) fn opened(&mut self, tree: &mut Tree, stream: StreamId, second: Element) {
        let was_empty = self.open.is_empty() && self.countdown.take().is_none();
        self.open.insert(stream);
        if was_empty {
            self.weigh(tree, second, 1);
        }
    }
    pub(super) fn second_opened(&mut self, tree: &mut Tree, stream: StreamId, second: Element) {
        if self.second.is_empty() {
            self.apply(tree, second);
        }
        self.second.insert(stream);
    }
    pub(super) fn sent(&mut self, tree: &mut Tree, stream: StreamId, second: Element) {
        if self.second.contains(&stream) {
            self.apply(tree, second);
        }
        self.countdown = self.countdown.map(|packets| packets - 1);
        if self.countdown == Some(0) {
            self.countdown = None;
            self.weigh(tree, second, 256);
        }
    }
    pub(super) fn closed(&mut self, tree: &mut Tree, stream: StreamId, second: Element) {
        self.second.remove(&stream);
        if self.open.remove(&stream) && self.open.is_empty() {
            match self.restore {
                Restore::AtOnce => self.weigh(tree, second, 256),
                Restore::Late => self.countdown = Some(LATE_PACKETS),
            }
        }
    }
    fn weigh(&mut self, tree: &mut Tree, second: Element, weight: u16) {
        self.pending = Some(weight);
        if self.restore == Restore::AtOnce || self.second.is_empty() {
            self.apply(tree, second);
        }
    }
    fn apply(&mut self, tree: &mut Tree, second: Element) {
        if let Some(weight) = self.pending.take() {
            tree.put(second, Place::DEFAULT.weight(weight));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn high_goes_in_sequence_and_the_rest_shares() {
        assert_eq!(sample::order("p+"), "hhhccffiIsiIsiI");
    }
}
