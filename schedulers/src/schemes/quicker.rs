//! `dfifo@quicker` and `zeroweight@quicker`: two schemes with the faults that they had in the paper's implementation (Quicker).
//!
//! The variants of the other schemes stand beside them. `rr`, `wrr`, `fifo` and `spdyrr` have none: there, they did what the text says.

use super::{dfifo, zeroweight};
use crate::{
    Args, Element, Halves, Place, Rank, Resource, SchemeError, ServerHalf, StreamId, Tree,
};
use std::collections::BTreeMap;

/// The text that may follow the names of schemes with such a variant.
pub(super) const QUICKER: &str = "@quicker: the mapping of the paper's implementation";

/// Packets from a response's last one until the paper's implementation removed it from its tree: half a second on the paper's link.
pub(super) const LATE_PACKETS: u32 = 50;

/// Whether the variant is asked for.
pub(super) fn is_asked(args: &Args) -> Result<bool, SchemeError> {
    match args.variant.as_deref() {
        None if args.parameters.is_empty() => Ok(false),
        Some("quicker") if args.parameters.is_empty() => Ok(true),
        _ => args.refuse("takes no parameters; its variant is `quicker`"),
    }
}

/// `dfifo`, whose classes are inverted at times.
pub(super) fn dfifo() -> Halves {
    let cause = "a client does not know when its server has sent the 50 packets after which a response leaves the line";
    Halves::of_server(cause, Line::default())
}

/// One line of responses, the first to be sent first, with the last of each class. A response that leaves it hands its place as the
/// last of its class to the one before it, which may be of a higher class: the next of its class then overtakes that class.
#[derive(Default)]
struct Line {
    streams: Vec<StreamId>,
    /// By class, the highest first.
    last: [Option<StreamId>; 5],
    /// Complete responses, and after how many packets they leave.
    leaving: Vec<(StreamId, u32)>,
}

impl Line {
    fn place_of(&self, stream: StreamId) -> Option<usize> {
        self.streams.iter().position(|it| *it == stream)
    }

    fn leave(&mut self, stream: StreamId) {
        let Some(place) = self.place_of(stream) else { return };
        let before = place.checked_sub(1).map(|it| self.streams[it]);
        for last in self.last.iter_mut().filter(|it| **it == Some(stream)) {
            *last = before;
        }
        self.streams.remove(place);
    }
}

impl ServerHalf for Line {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        let class = usize::from(dfifo::class(resource));
        let after = self.last[..=class].iter().rev().find_map(|it| *it);
        let place = after.and_then(|it| self.place_of(it)).map_or(0, |it| it + 1);
        let mut above = self.streams[..place].iter().rev().map(|it| Element::Stream(*it));
        let parent = above.find(|it| tree.contains(*it)).unwrap_or(Element::Root);
        tree.put(Element::Stream(stream), Place::below(parent).exclusive(true));
        self.streams.insert(place, stream);
        self.last[class] = Some(stream);
    }
    fn sent(&mut self, _tree: &mut Tree, _stream: StreamId, _bytes: u64) {
        for (_, packets) in &mut self.leaving {
            *packets -= 1;
        }
        let due = self.leaving.iter().take_while(|(_, packets)| *packets == 0).count();
        let gone: Vec<_> = self.leaving.drain(..due).collect();
        for (stream, _) in gone {
            self.leave(stream);
        }
    }
    fn closed(&mut self, _tree: &mut Tree, stream: StreamId) {
        self.leaving.push((stream, LATE_PACKETS));
    }
}

/// `zeroweight`, whose clock stands still from the first packet of weight 0 on.
pub(super) fn zeroweight() -> Halves {
    let cause = "a client does not know when its server has sent a packet of weight 0, which stops the clock";
    Halves::of_server(cause, Clock::default())
}

/// Responses of weights 1 to 254 in a queue by the time at which each next packet would be complete. A packet of weight 0 takes for
/// ever, so all later times are infinite, and only the layout of the queue decides: of three responses, two alternate.
#[derive(Default)]
struct Clock {
    weights: BTreeMap<StreamId, u16>,
    now: f64,
    queue: Queue,
    /// The response that was served last, and the queue without it, to which it does not return if that was its end.
    served: Option<(StreamId, Queue)>,
    /// The response that stands before the others of the queue in the tree.
    ahead: Option<StreamId>,
}

const PACKET_BYTES: u64 = 1400;

/// Weight 255; the response whose turn it is; the others of weights 1 to 254; and weight 0.
const FIRST_LEVEL: u16 = 0;
const TURN_LEVEL: u16 = 1;
const QUEUE_LEVEL: u16 = 2;
const LAST_LEVEL: u16 = 3;

impl Clock {
    /// When the next packet, of this size, would be complete: never, of weight 0.
    fn after(&self, weight: u16, bytes: u64) -> f64 {
        self.now + bytes as f64 / f64::from(weight)
    }

    /// Puts the response whose turn it is before the others.
    fn lead(&mut self, tree: &mut Tree) {
        let ahead = self.queue.0.first().map(|it| it.stream);
        if ahead != self.ahead {
            let behind = self.ahead.filter(|it| tree.contains(Element::Stream(*it)));
            let moves = [(behind, QUEUE_LEVEL), (ahead, TURN_LEVEL)];
            for (stream, level) in moves.into_iter().filter_map(|(it, level)| Some((it?, level))) {
                put(tree, stream, Rank::level(level));
            }
            self.ahead = ahead;
        }
    }
}

fn put(tree: &mut Tree, stream: StreamId, rank: Rank) {
    tree.put(Element::Stream(stream), Place::DEFAULT.rank(rank));
}

impl ServerHalf for Clock {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        let weight = zeroweight::weight(resource);
        self.weights.insert(stream, weight);
        self.served = None;
        match weight {
            zeroweight::FIRST.. => put(tree, stream, Rank::sequence_in(FIRST_LEVEL, stream.0)),
            0 => put(tree, stream, Rank::sequence_in(LAST_LEVEL, stream.0)),
            _ => {
                put(tree, stream, Rank::level(QUEUE_LEVEL));
                self.queue.push(Turn { stream, at: self.after(weight, PACKET_BYTES) });
                self.lead(tree);
            }
        }
    }
    fn sent(&mut self, tree: &mut Tree, stream: StreamId, bytes: u64) {
        let weight = self.weights.get(&stream).copied().unwrap_or_default();
        if let Some(turn) = self.queue.take(stream) {
            self.now = turn.at;
            self.served = Some((stream, self.queue.clone()));
            self.queue.push(Turn { stream, at: self.after(weight, bytes) });
            self.lead(tree);
        } else {
            self.now = self.after(weight, bytes);
        }
    }
    fn closed(&mut self, tree: &mut Tree, stream: StreamId) {
        self.weights.remove(&stream);
        match self.served.take() {
            Some((served, queue)) if served == stream => self.queue = queue,
            _ => drop(self.queue.take(stream)),
        }
        self.lead(tree);
    }
}

/// The next packet of a response, and when it would be complete.
#[derive(Debug, Clone, Copy)]
struct Turn {
    stream: StreamId,
    at: f64,
}

/// A binary heap, with the layout that the paper's implementation had: of equal times, it decides.
#[derive(Clone, Default)]
struct Queue(Vec<Turn>);

impl Queue {
    fn push(&mut self, turn: Turn) {
        self.0.push(turn);
        let mut place = self.0.len() - 1;
        while place > 0 && self.0[place].at < self.0[(place - 1) / 2].at {
            self.0.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
    }

    /// Takes a response out; the last one of the layout fills the gap and sinks.
    fn take(&mut self, stream: StreamId) -> Option<Turn> {
        let mut place = self.0.iter().position(|it| it.stream == stream)?;
        let taken = self.0.swap_remove(place);
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let at = |it: usize| self.0.get(it).map_or(f64::INFINITY, |it| it.at);
            let least = if at(left) < at(right) { left } else { right };
            if place >= self.0.len() || at(least) >= at(place) {
                return Some(taken);
            }
            self.0.swap(place, least);
            place = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Kind, Resource, Scheduler, StreamId, find_scheme};

    /// Arrival (a slot), kind, packets. The streams are 0, 4, 8 and so on.
    type Request = (u64, Kind, u64);

    /// The streams in the order of their packets, each run of packets once.
    fn order(scheme: &str, requests: &[Request]) -> Vec<u64> {
        let mut scheduler = Scheduler::new(&find_scheme(scheme).unwrap());
        let mut left: Vec<u64> = requests.iter().map(|it| it.2).collect();
        let mut order = Vec::new();
        for slot in 0..200 {
            for (place, (_, kind, _)) in requests.iter().enumerate().filter(|(_, it)| it.0 == slot)
            {
                let stream = StreamId(4 * place as u64);
                scheduler.open(stream, &Resource { kind: *kind, ..Resource::default() });
                scheduler.set_ready(stream, true);
            }
            let Some(stream) = scheduler.pick() else { continue };
            scheduler.sent(stream, 1400);
            order.push(stream.0);
            let left = &mut left[usize::try_from(stream.0 / 4).unwrap()];
            *left -= 1;
            if *left == 0 {
                scheduler.close(stream);
            }
        }
        order.dedup();
        order
    }

    #[test]
    fn an_image_that_left_the_line_lets_the_next_image_overtake_a_stylesheet() {
        let requests = [
            (0, Kind::Image, 5),
            (20, Kind::Css, 100),
            (75, Kind::Css, 20),
            (76, Kind::Image, 20),
            (77, Kind::Js, 10),
        ];
        assert_eq!(order("dfifo@quicker", &requests), [0, 4, 12, 8, 16]);
        assert_eq!(order("dfifo", &requests), [0, 4, 8, 16, 12]);
    }

    #[test]
    fn after_a_packet_of_weight_0_two_of_three_alternate_and_the_third_starves() {
        let requests =
            [(0, Kind::Xhr, 5), (2, Kind::Image, 3), (2, Kind::Image, 3), (2, Kind::Image, 3)];
        assert_eq!(order("zeroweight@quicker", &requests), [0, 4, 12, 4, 12, 4, 12, 8, 0]);
        assert_eq!(order("zeroweight", &requests), [0, 4, 8, 12, 4, 8, 12, 4, 8, 12, 0]);
    }
}
