//! Streams against a model of plain bytes.

use super::*;
use crate::outgoing::Left;
use crate::read_ahead::Pages;
use crate::site::Response;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::sync::Arc;
use std::time::Duration;

#[expect(clippy::disallowed_methods, reason = "only differences matter")]
fn base() -> Instant {
    use std::sync::OnceLock;
    static BASE: OnceLock<Instant> = OnceLock::new();
    *BASE.get_or_init(Instant::now)
}

/// An operation on four streams.
#[derive(Debug, Clone)]
enum Step {
    Respond { stream: u64, head: usize, body: usize, at_ms: u64, first: usize },
    Release { after_ms: u64 },
    Commit { stream: u64, bytes: u64 },
    Offer { stream: u64, bytes: usize },
    Remove { stream: u64 },
    Begin { stream: u64, ahead: usize },
    Extend { stream: u64, bytes: usize, ended: bool },
}

fn step() -> impl Strategy<Value = Step> {
    let insert = (0_u64..4, 1_usize..20, 0_usize..50, 0_u64..20, 0_usize..50);
    prop_oneof![
        insert.prop_map(|(stream, head, body, at_ms, first)| Step::Respond {
            stream,
            head,
            body,
            at_ms,
            first: first.min(body)
        }),
        (0_u64..10).prop_map(|after_ms| Step::Release { after_ms }),
        (0_u64..4, 1_u64..40).prop_map(|(stream, bytes)| Step::Commit { stream, bytes }),
        (0_u64..4, 1_usize..40).prop_map(|(stream, bytes)| Step::Offer { stream, bytes }),
        (0_u64..4).prop_map(|stream| Step::Remove { stream }),
        (0_u64..4, 0_usize..20).prop_map(|(stream, ahead)| Step::Begin { stream, ahead }),
        (0_u64..4, 1_usize..40, prop::bool::weighted(0.3))
            .prop_map(|(stream, bytes, ended)| Step::Extend { stream, bytes, ended }),
    ]
}

/// A response as the plain bytes of its stream, and the times at which they become available.
struct Plain {
    bytes: Vec<u8>,
    steps: [(u64, usize); 2],
    /// Everything that arrived is available at once, and more may follow: whether it has ended.
    growing: Option<bool>,
    committed: usize,
    offered: usize,
}

impl Plain {
    fn is_all(&self, bytes: usize) -> bool {
        bytes == self.bytes.len() && self.growing != Some(false)
    }

    fn available(&self, released_ms: Option<u64>) -> usize {
        if self.growing.is_some() {
            return self.bytes.len();
        }
        let there = |(at_ms, _): &&(u64, usize)| released_ms.is_some_and(|now_ms| *at_ms <= now_ms);
        self.steps.iter().filter(there).map(|(_, bytes)| *bytes).max().unwrap_or(0)
    }
}

#[derive(Default)]
struct Model {
    plain: BTreeMap<u64, Plain>,
    now_ms: u64,
    /// When each stream was last told the time: between these times it learns nothing.
    released_ms: BTreeMap<u64, u64>,
}

impl Model {
    fn apply(&mut self, streams: &mut Streams, step: &Step) {
        match *step {
            Step::Respond { stream, head, body, at_ms, first } => {
                self.respond(streams, stream, (head, body), at_ms, first);
            }
            Step::Release { after_ms } => self.release(streams, after_ms),
            Step::Commit { stream, bytes } => self.commit(streams, stream, bytes),
            Step::Offer { stream, bytes } => self.offer(streams, stream, bytes),
            Step::Remove { stream } => {
                streams.take(StreamId(stream));
                self.plain.remove(&stream);
            }
            Step::Begin { stream, ahead } => {
                self.begin(streams, stream, ahead);
            }
            Step::Extend { stream, bytes, ended } => self.extend(streams, stream, bytes, ended),
        }
    }

    fn respond(
        &mut self,
        streams: &mut Streams,
        stream: u64,
        (head, body): (usize, usize),
        at_ms: u64,
        first: usize,
    ) {
        if self.plain.contains_key(&stream) {
            return;
        }
        let bytes: Vec<u8> = (0..head + body).map(|it| (it * 7 + head).to_le_bytes()[0]).collect();
        let after = Duration::from_millis;
        let response = Response {
            body: Body::Bytes(Arc::from(&bytes[head..])),
            ready: vec![(after(at_ms), first as u64), (after(at_ms * 2), body as u64)],
            ..Response::empty(200)
        };
        let availability = Availability::new(&response, base() + after(self.now_ms));
        streams.begin(StreamId(stream), &Resource::default(), 3, Outgoing::default());
        streams.respond(StreamId(stream), &bytes[..head], response.body, availability);
        let steps = [(self.now_ms + at_ms, head + first), (self.now_ms + at_ms * 2, head + body)];
        self.plain.insert(stream, Plain { bytes, steps, growing: None, committed: 0, offered: 0 });
        self.released_ms.remove(&stream);
    }

    fn begin(&mut self, streams: &mut Streams, stream: u64, ahead: usize) {
        if let std::collections::btree_map::Entry::Vacant(place) = self.plain.entry(stream) {
            let bytes: Vec<u8> = (0..ahead).map(|it| (it * 5).to_le_bytes()[0]).collect();
            streams.begin(StreamId(stream), &Resource::default(), 3, Outgoing::new(bytes.clone()));
            let growing = Some(false);
            place.insert(Plain { bytes, steps: [(0, 0); 2], growing, committed: 0, offered: 0 });
        }
    }

    fn extend(&mut self, streams: &mut Streams, stream: u64, bytes: usize, ended: bool) {
        let Some(plain) = self.plain.get_mut(&stream) else { return };
        if plain.growing == Some(false) {
            let more: Vec<u8> = (0..bytes).map(|it| (it * 3).to_le_bytes()[0]).collect();
            if let Some(outgoing) = streams.outgoing_mut(StreamId(stream)) {
                outgoing.extend(&more);
            }
            if ended {
                streams.end(StreamId(stream));
            }
            plain.bytes.extend(more);
            plain.growing = Some(ended);
        }
    }

    fn release(&mut self, streams: &mut Streams, after_ms: u64) {
        self.now_ms += after_ms;
        streams.release(base() + Duration::from_millis(self.now_ms));
        for stream in self.plain.keys() {
            self.released_ms.insert(*stream, self.now_ms);
        }
    }

    fn commit(&mut self, streams: &mut Streams, stream: u64, bytes: u64) {
        let bytes = bytes.min(streams.pending(StreamId(stream)));
        let Some(plain) = self.plain.get_mut(&stream).filter(|_| bytes > 0) else { return };
        plain.committed += usize::try_from(bytes).expect("small");
        let available = plain.available(self.released_ms.get(&stream).copied());
        let left = match plain.committed {
            it if plain.is_all(it) => Left::Nothing,
            it if it < available => Left::Ready,
            _ => Left::Waiting,
        };
        let outgoing = streams.outgoing_mut(StreamId(stream)).expect("in progress");
        assert_eq!(outgoing.commit(bytes), left);
    }

    fn offer(&mut self, streams: &mut Streams, stream: u64, bytes: usize) {
        let Some(plain) = self.plain.get_mut(&stream) else { return };
        let bytes = bytes.min(plain.committed - plain.offered);
        if bytes == 0 {
            return;
        }
        let mut buffer = vec![0; bytes];
        let outgoing = streams.outgoing_mut(StreamId(stream)).expect("in progress");
        let last = outgoing.is_end(bytes as u64);
        match outgoing.share(bytes, &Pages::default()).expect("in memory") {
            Some(shared) => buffer.copy_from_slice(&shared),
            None => outgoing.read(&mut buffer).expect("in memory"),
        }
        assert_eq!(buffer, plain.bytes[plain.offered..plain.offered + bytes]);
        plain.offered += bytes;
        assert_eq!(last, plain.is_all(plain.offered));
        if streams.offered(StreamId(stream), bytes as u64) {
            streams.take(StreamId(stream));
        }
        assert_eq!(streams.is_sending(StreamId(stream)), !last);
        if last {
            self.plain.remove(&stream);
        }
    }

    fn assert_same(&self, streams: &Streams) {
        assert_eq!(streams.responses(), self.plain.len());
        assert_eq!(streams.most_urgent(), (!self.plain.is_empty()).then_some(3));
        for (stream, plain) in &self.plain {
            let available = plain.available(self.released_ms.get(stream).copied());
            let stream = StreamId(*stream);
            assert_eq!(streams.pending(stream), (available - plain.committed) as u64);
            let outgoing = streams.outgoing(stream).expect("in progress");
            assert_eq!(outgoing.committed(), plain.committed as u64);
            assert_eq!(outgoing.offset(), plain.offered as u64);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn streams_read_as_plain_bytes(steps in prop::collection::vec(step(), 0..80)) {
        let (mut streams, mut model) = (Streams::default(), Model::default());
        for step in &steps {
            model.apply(&mut streams, step);
            model.assert_same(&streams);
        }
    }
}
