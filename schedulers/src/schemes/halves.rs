//! Halves that several schemes share.

use super::dependencies::Obeying;
use crate::{
    ClientHalf, Element, Halves, Place, Rank, Resource, ServerHalf, Signal, StreamId, Tree,
};
use std::collections::BTreeSet;
use std::marker::PhantomData;

/// A client that sends no signals about order.
pub(super) struct Silent;

impl ClientHalf for Silent {
    fn request(&mut self, _stream: StreamId, _resource: &Resource) -> Vec<Signal> {
        Vec::new()
    }
}

/// A client that signals the place that a server would give each response: below its group, and for sequential
/// responses below the open one directly before it.
pub(super) struct Tells<P> {
    arrivals: Arrivals,
    place: P,
    exclusive: bool,
    /// The open sequential responses, by group and rank.
    lines: BTreeSet<(Element, Rank, StreamId)>,
}

impl<P: FnMut(u64, StreamId, &Resource) -> Place + Send> Tells<P> {
    pub(super) fn that(place: P) -> Self {
        Self { arrivals: Arrivals::default(), place, exclusive: false, lines: BTreeSet::new() }
    }

    /// The same, for an order in which a later request can go before an earlier one: it is inserted between two.
    pub(super) fn inserted(place: P) -> Self {
        Self { exclusive: true, ..Self::that(place) }
    }
}

impl<P: FnMut(u64, StreamId, &Resource) -> Place + Send> ClientHalf for Tells<P> {
    fn request(&mut self, stream: StreamId, resource: &Resource) -> Vec<Signal> {
        let element = Element::Stream(stream);
        let Place { parent: group, rank, weight, .. } =
            (self.place)(self.arrivals.next(), stream, resource);
        if rank == Rank::EQUAL {
            return vec![depend(element, group, weight)];
        }
        let place = (group, rank, stream);
        let before = self.lines.range(..place).next_back().filter(|(of, ..)| *of == group);
        let parent = before.map_or(group, |(.., stream)| Element::Stream(*stream));
        self.lines.insert(place);
        vec![Signal::Depend { element, parent, weight, exclusive: self.exclusive }]
    }
    fn closed(&mut self, stream: StreamId) -> Vec<Signal> {
        self.lines.retain(|(.., it)| *it != stream);
        Vec::new()
    }
}

/// Both halves of a scheme that sends whole responses, each in a place that is known at its request.
pub(super) fn in_line<P>(place: P) -> Halves
where
    P: FnMut(u64, StreamId, &Resource) -> Place + Send + Clone + 'static,
{
    Halves::new(Tells::inserted(place.clone()), Obeying::or(Stays::at(place)))
}

/// The meaning of one signal for one response.
pub(super) trait Word: Copy {
    fn signal(self, stream: StreamId) -> Signal;
    /// The stream and the word of a signal, unless the signal belongs to another language.
    fn of(signal: Signal) -> Option<(StreamId, Self)>;
}

/// Meenan's byte.
impl Word for u8 {
    fn signal(self, stream: StreamId) -> Signal {
        Signal::Bucket { stream, byte: self }
    }
    fn of(signal: Signal) -> Option<(StreamId, Self)> {
        let Signal::Bucket { stream, byte } = signal else { return None };
        Some((stream, byte))
    }
}

/// Urgency, and whether it is incremental (RFC 9218).
impl Word for (u8, bool) {
    fn signal(self, stream: StreamId) -> Signal {
        Signal::Extensible { stream, urgency: self.0, incremental: self.1 }
    }
    fn of(signal: Signal) -> Option<(StreamId, Self)> {
        let Signal::Extensible { stream, urgency, incremental } = signal else { return None };
        Some((stream, (urgency, incremental)))
    }
}

/// The weight of a stream. In a scheme without groups, nothing else in a dependency matters.
impl Word for u16 {
    fn signal(self, stream: StreamId) -> Signal {
        depend(Element::Stream(stream), Element::Root, self)
    }
    fn of(signal: Signal) -> Option<(StreamId, Self)> {
        match signal {
            Signal::Depend { element: Element::Stream(stream), weight, .. } => {
                Some((stream, weight))
            }
            _ => None,
        }
    }
}

pub(super) fn depend(element: Element, parent: Element, weight: u16) -> Signal {
    Signal::Depend { element, parent, weight, exclusive: false }
}

/// A client that sends one word for each response.
pub(super) struct Says<W>(pub(super) fn(&Resource) -> W);

impl<W: Word> ClientHalf for Says<W> {
    fn request(&mut self, stream: StreamId, resource: &Resource) -> Vec<Signal> {
        vec![(self.0)(resource).signal(stream)]
    }
}

/// A server that places streams by words.
pub(super) trait ByWord: Send {
    type Word: Word;
    fn put(&mut self, tree: &mut Tree, stream: StreamId, word: Self::Word);
    fn setup(&mut self, _tree: &mut Tree) {}
    fn sent(&mut self, _tree: &mut Tree, _stream: StreamId, _bytes: u64) {}
    fn closed(&mut self, _tree: &mut Tree, _stream: StreamId) {}
}

/// Both halves of a scheme by words: its server uses the client's word, otherwise the one for the resource.
pub(super) fn by_word<S: ByWord + 'static>(word: fn(&Resource) -> S::Word, server: S) -> Halves {
    Halves::new(Says(word), Hears { word, server })
}

/// The same, for schemes in which a response's word and the number of its request determine its permanent place.
pub(super) fn by_word_alone<W, P>(word: fn(&Resource) -> W, put: P) -> Halves
where
    W: Word + Send + 'static,
    P: FnMut(&mut Tree, StreamId, W, &mut Arrivals) + Send + 'static,
{
    by_word(word, Alone { put, arrivals: Arrivals::default(), words: PhantomData })
}

struct Alone<W, P> {
    put: P,
    arrivals: Arrivals,
    words: PhantomData<W>,
}

impl<W: Word + Send, P> ByWord for Alone<W, P>
where
    P: FnMut(&mut Tree, StreamId, W, &mut Arrivals) + Send,
{
    type Word = W;
    fn put(&mut self, tree: &mut Tree, stream: StreamId, word: W) {
        (self.put)(tree, stream, word, &mut self.arrivals);
    }
}

struct Hears<S: ByWord> {
    word: fn(&Resource) -> S::Word,
    server: S,
}

impl<S: ByWord> ServerHalf for Hears<S> {
    fn setup(&mut self, tree: &mut Tree) {
        self.server.setup(tree);
    }
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        self.server.put(tree, stream, (self.word)(resource));
    }
    fn signalled(&mut self, tree: &mut Tree, signal: Signal) {
        if let Some((stream, word)) = S::Word::of(signal) {
            self.server.put(tree, stream, word);
        }
    }
    fn sent(&mut self, tree: &mut Tree, stream: StreamId, bytes: u64) {
        self.server.sent(tree, stream, bytes);
    }
    fn closed(&mut self, tree: &mut Tree, stream: StreamId) {
        self.server.closed(tree, stream);
    }
}

/// A server that places each stream permanently, by the number of its request and its resource.
pub(super) struct Stays<P> {
    arrivals: Arrivals,
    place: P,
}

impl<P: FnMut(u64, StreamId, &Resource) -> Place + Send> Stays<P> {
    pub(super) fn at(place: P) -> Self {
        Self { arrivals: Arrivals::default(), place }
    }
}

impl<P: FnMut(u64, StreamId, &Resource) -> Place + Send> ServerHalf for Stays<P> {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        let place = (self.place)(self.arrivals.next(), stream, resource);
        tree.put(Element::Stream(stream), place);
    }
}

#[derive(Default)]
pub(super) struct Arrivals(u64);

impl Arrivals {
    pub(super) fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}
