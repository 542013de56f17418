//! Responses on their way out: which bytes the server has, which are committed to the order of sending,
//! and which the transport has taken.

use crate::site::{Availability, Body};
use schedulers::StreamId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Instant;

/// All responses of one connection that are not yet wholly with the transport.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    responses: BTreeMap<StreamId, Outgoing>,
    releases: BTreeSet<(Instant, StreamId)>,
}

/// The frames before a body.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// What goes at once: interim responses and promises.
    pub(crate) ahead: Vec<u8>,
    /// The HEADERS frame and the header of the DATA frame, which go when the response is there.
    pub(crate) frames: Vec<u8>,
}

/// One response.
#[derive(Debug)]
struct Outgoing {
    content: Content,
    available: u64,
    committed: u64,
    offered: u64,
}

/// Where the bytes of a response's stream are.
#[derive(Debug)]
enum Content {
    /// A head, then a body of known size, there at known times.
    Whole { head: Vec<u8>, ahead_bytes: u64, body: Body, availability: Availability },
    /// What has come so far and was not offered yet; more comes until it has ended.
    Growing { bytes: VecDeque<u8>, ended: bool },
}

/// What is left of a response after some of it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// More is ready.
    Ready,
    /// More will come later.
    Waiting,
    /// All of it is gone.
    Nothing,
}

impl SendQueue {
    /// Takes a response that was asked for at `now`.
    pub(crate) fn insert(
        &mut self,
        stream: StreamId,
        mut head: Head,
        body: Body,
        (availability, now): (Availability, Instant),
    ) {
        let ahead_bytes = head.ahead.len() as u64;
        if ahead_bytes > 0 {
            self.releases.insert((now, stream));
        }
        head.ahead.append(&mut head.frames);
        for at in availability.times() {
            self.releases.insert((at, stream));
        }
        let content = Content::Whole { head: head.ahead, ahead_bytes, body, availability };
        let outgoing = Outgoing { content, available: 0, committed: 0, offered: 0 };
        self.responses.insert(stream, outgoing);
    }

    /// Takes a response of which only `ahead` is there yet; [`Self::extend`] brings the rest.
    pub(crate) fn insert_growing(&mut self, stream: StreamId, ahead: Vec<u8>) {
        let available = ahead.len() as u64;
        let content = Content::Growing { bytes: ahead.into(), ended: false };
        self.responses.insert(stream, Outgoing { content, available, committed: 0, offered: 0 });
    }

    /// More of a growing response; `ended`: the last of it, at least a byte.
    pub(crate) fn extend(&mut self, stream: StreamId, more: &[u8], ended: bool) {
        let Some(outgoing) = self.responses.get_mut(&stream) else { return };
        if let Content::Growing { bytes, ended: has_ended } = &mut outgoing.content {
            debug_assert!(!*has_ended, "nothing follows an end");
            debug_assert!(!ended || !more.is_empty(), "an end needs a byte");
            bytes.extend(more);
            *has_ended = ended;
            outgoing.available += more.len() as u64;
        }
    }

    /// Bytes of a growing response that wait here; of another one none.
    pub(crate) fn waiting_bytes(&self, stream: StreamId) -> usize {
        match self.responses.get(&stream).map(|it| &it.content) {
            Some(Content::Growing { bytes, .. }) => bytes.len(),
            _ => 0,
        }
    }

    /// Drops a response that nobody wants any more.
    pub(crate) fn remove(&mut self, stream: StreamId) {
        let Some(outgoing) = self.responses.remove(&stream) else { return };
        if let Content::Whole { availability, .. } = outgoing.content {
            for at in availability.times() {
                self.releases.remove(&(at, stream));
            }
        }
    }

    /// Whether the response is still here.
    pub(crate) fn contains(&self, stream: StreamId) -> bool {
        self.responses.contains_key(&stream)
    }

    /// The streams of all responses that are here.
    pub(crate) fn streams(&self) -> impl Iterator<Item = StreamId> + '_ {
        self.responses.keys().copied()
    }

    /// How many responses there are.
    pub(crate) fn len(&self) -> usize {
        self.responses.len()
    }

    /// Whether every response has gone.
    pub(crate) fn is_empty(&self) -> bool {
        self.responses.is_empty()
    }

    /// The streams that have bytes by `now` which they had not before.
    pub(crate) fn release(&mut self, now: Instant) -> Vec<StreamId> {
        let mut released = Vec::new();
        while let Some((_, stream)) = self.releases.first().copied().filter(|(at, _)| *at <= now) {
            self.releases.pop_first();
            let Some(outgoing) = self.responses.get_mut(&stream) else { continue };
            outgoing.release(now);
            if outgoing.available > outgoing.committed {
                released.push(stream);
            }
        }
        released
    }

    /// When `release` has more to give.
    pub(crate) fn next_release(&self) -> Option<Instant> {
        self.releases.first().map(|(at, _)| *at)
    }

    /// Stream bytes that are here and not committed.
    pub(crate) fn pending(&self, stream: StreamId) -> u64 {
        self.responses.get(&stream).map_or(0, |it| it.available - it.committed)
    }

    /// The stream offset of the next byte to commit.
    pub(crate) fn committed(&self, stream: StreamId) -> u64 {
        self.responses.get(&stream).map_or(0, |it| it.committed)
    }

    /// The stream offset of the next byte to offer to the transport.
    pub(crate) fn offset(&self, stream: StreamId) -> u64 {
        self.responses.get(&stream).map_or(0, |it| it.offered)
    }

    /// Commits `bytes` of a stream to the order of sending.
    pub(crate) fn commit(&mut self, stream: StreamId, bytes: u64) -> Left {
        let Some(outgoing) = self.responses.get_mut(&stream) else { return Left::Nothing };
        debug_assert!(
            outgoing.committed + bytes <= outgoing.available,
            "only what is here can be committed"
        );
        outgoing.committed += bytes;
        if outgoing.stream_bytes() == Some(outgoing.committed) {
            Left::Nothing
        } else if outgoing.available > outgoing.committed {
            Left::Ready
        } else {
            Left::Waiting
        }
    }

    /// Reads the next committed bytes into `buffer`; the flag says that they are the stream's last.
    pub(crate) fn read(&self, stream: StreamId, buffer: &mut [u8]) -> std::io::Result<bool> {
        let Some(outgoing) = self.responses.get(&stream) else { return Ok(false) };
        outgoing.read(buffer)?;
        Ok(outgoing.stream_bytes() == Some(outgoing.offered + buffer.len() as u64))
    }

    /// The transport took `bytes`; a response that is wholly taken is dropped.
    pub(crate) fn offered(&mut self, stream: StreamId, bytes: u64) -> bool {
        let Some(outgoing) = self.responses.get_mut(&stream) else { return true };
        outgoing.offered += bytes;
        debug_assert!(outgoing.offered <= outgoing.committed, "only committed bytes are offered");
        if let Content::Growing { bytes: waiting, .. } = &mut outgoing.content {
            waiting
                .drain(..usize::try_from(bytes).map_or(waiting.len(), |it| it.min(waiting.len())));
        }
        let done = outgoing.stream_bytes() == Some(outgoing.offered);
        if done {
            self.remove(stream);
        }
        done
    }
}

impl Outgoing {
    fn release(&mut self, now: Instant) {
        if let Content::Whole { head, ahead_bytes, availability, .. } = &self.content {
            let body_bytes = availability.body_bytes_at(now);
            self.available = body_bytes.map_or(*ahead_bytes, |it| head.len() as u64 + it);
        }
    }

    /// The length of the whole stream; none: not known yet.
    fn stream_bytes(&self) -> Option<u64> {
        match &self.content {
            Content::Whole { head, body, .. } => Some(head.len() as u64 + body.bytes()),
            Content::Growing { ended, .. } => ended.then_some(self.available),
        }
    }

    /// The bytes from the first one that was not offered.
    fn read(&self, buffer: &mut [u8]) -> std::io::Result<()> {
        match &self.content {
            Content::Growing { bytes, .. } => {
                let wanted = buffer.len();
                let there = bytes.iter().take(wanted);
                debug_assert_eq!(there.len(), wanted, "only what is here is committed");
                buffer.iter_mut().zip(there).for_each(|(to, from)| *to = *from);
                Ok(())
            }
            Content::Whole { head, body, .. } => {
                let from = usize::try_from(self.offered).unwrap_or(usize::MAX);
                let head_left = head.get(from..).unwrap_or_default();
                let from_head = head_left.len().min(buffer.len());
                let (start, rest) = buffer.split_at_mut(from_head);
                start.copy_from_slice(&head_left[..from_head]);
                let body_offset =
                    (self.offered + from_head as u64).saturating_sub(head.len() as u64);
                body.read_at(body_offset, rest)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    /// What is done to a queue of four streams.
    #[derive(Debug, Clone)]
    enum Step {
        Insert { stream: u64, head: usize, body: usize, at_ms: u64, first: usize },
        Release { after_ms: u64 },
        Commit { stream: u64, bytes: u64 },
        Offer { stream: u64, bytes: usize },
        Remove { stream: u64 },
        InsertGrowing { stream: u64, ahead: usize },
        Extend { stream: u64, bytes: usize, ended: bool },
    }

    fn step() -> impl Strategy<Value = Step> {
        let insert = (0_u64..4, 1_usize..20, 0_usize..50, 0_u64..20, 0_usize..50);
        prop_oneof![
            insert.prop_map(|(stream, head, body, at_ms, first)| Step::Insert {
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
            (0_u64..4, 0_usize..20)
                .prop_map(|(stream, ahead)| Step::InsertGrowing { stream, ahead }),
            (0_u64..4, 1_usize..40, prop::bool::weighted(0.3))
                .prop_map(|(stream, bytes, ended)| Step::Extend { stream, bytes, ended }),
        ]
    }

    /// A response as the plain bytes of its stream, and when how many of them are there.
    struct Plain {
        bytes: Vec<u8>,
        steps: [(u64, usize); 2],
        /// All that came is there at once, and more may come: whether it has ended.
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
            let there =
                |(at_ms, _): &&(u64, usize)| released_ms.is_some_and(|now_ms| *at_ms <= now_ms);
            self.steps.iter().filter(there).map(|(_, bytes)| *bytes).max().unwrap_or(0)
        }
    }

    #[derive(Default)]
    struct Model {
        plain: BTreeMap<u64, Plain>,
        now_ms: u64,
        /// When the queue was last told the time, by stream: it learns nothing between.
        released_ms: BTreeMap<u64, u64>,
    }

    impl Model {
        fn apply(&mut self, queue: &mut SendQueue, step: &Step) {
            match *step {
                Step::Insert { stream, head, body, at_ms, first } => {
                    self.insert(queue, stream, (head, body), at_ms, first);
                }
                Step::Release { after_ms } => self.release(queue, after_ms),
                Step::Commit { stream, bytes } => self.commit(queue, stream, bytes),
                Step::Offer { stream, bytes } => self.offer(queue, stream, bytes),
                Step::Remove { stream } => {
                    queue.remove(StreamId(stream));
                    self.plain.remove(&stream);
                }
                Step::InsertGrowing { stream, ahead } => {
                    self.insert_growing(queue, stream, ahead);
                }
                Step::Extend { stream, bytes, ended } => self.extend(queue, stream, bytes, ended),
            }
        }

        fn insert(
            &mut self,
            queue: &mut SendQueue,
            stream: u64,
            (head, body): (usize, usize),
            at_ms: u64,
            first: usize,
        ) {
            if self.plain.contains_key(&stream) {
                return;
            }
            let bytes: Vec<u8> =
                (0..head + body).map(|it| (it * 7 + head).to_le_bytes()[0]).collect();
            let after = Duration::from_millis;
            let response = Response {
                body: Body::Bytes(Arc::from(&bytes[head..])),
                ready: vec![(after(at_ms), first as u64), (after(at_ms * 2), body as u64)],
                ..Response::empty(200)
            };
            let availability = Availability::new(&response, base() + after(self.now_ms));
            let frames = Head { ahead: Vec::new(), frames: bytes[..head].to_vec() };
            let now = base() + after(self.now_ms);
            queue.insert(StreamId(stream), frames, response.body, (availability, now));
            let steps =
                [(self.now_ms + at_ms, head + first), (self.now_ms + at_ms * 2, head + body)];
            self.plain
                .insert(stream, Plain { bytes, steps, growing: None, committed: 0, offered: 0 });
            self.released_ms.remove(&stream);
        }

        fn insert_growing(&mut self, queue: &mut SendQueue, stream: u64, ahead: usize) {
            if let std::collections::btree_map::Entry::Vacant(place) = self.plain.entry(stream) {
                let bytes: Vec<u8> = (0..ahead).map(|it| (it * 5).to_le_bytes()[0]).collect();
                queue.insert_growing(StreamId(stream), bytes.clone());
                let growing = Some(false);
                place.insert(Plain {
                    bytes,
                    steps: [(0, 0); 2],
                    growing,
                    committed: 0,
                    offered: 0,
                });
            }
        }

        fn extend(&mut self, queue: &mut SendQueue, stream: u64, bytes: usize, ended: bool) {
            let Some(plain) = self.plain.get_mut(&stream) else { return };
            if plain.growing == Some(false) {
                let more: Vec<u8> = (0..bytes).map(|it| (it * 3).to_le_bytes()[0]).collect();
                queue.extend(StreamId(stream), &more, ended);
                plain.bytes.extend(more);
                plain.growing = Some(ended);
            }
        }

        fn release(&mut self, queue: &mut SendQueue, after_ms: u64) {
            self.now_ms += after_ms;
            queue.release(base() + Duration::from_millis(self.now_ms));
            for stream in self.plain.keys() {
                self.released_ms.insert(*stream, self.now_ms);
            }
        }

        fn commit(&mut self, queue: &mut SendQueue, stream: u64, bytes: u64) {
            let bytes = bytes.min(queue.pending(StreamId(stream)));
            let Some(plain) = self.plain.get_mut(&stream).filter(|_| bytes > 0) else { return };
            plain.committed += usize::try_from(bytes).expect("small");
            let available = plain.available(self.released_ms.get(&stream).copied());
            let left = match plain.committed {
                it if plain.is_all(it) => Left::Nothing,
                it if it < available => Left::Ready,
                _ => Left::Waiting,
            };
            assert_eq!(queue.commit(StreamId(stream), bytes), left);
        }

        fn offer(&mut self, queue: &mut SendQueue, stream: u64, bytes: usize) {
            let Some(plain) = self.plain.get_mut(&stream) else { return };
            let bytes = bytes.min(plain.committed - plain.offered);
            if bytes == 0 {
                return;
            }
            let mut buffer = vec![0; bytes];
            let last = queue.read(StreamId(stream), &mut buffer).expect("in memory");
            assert_eq!(buffer, plain.bytes[plain.offered..plain.offered + bytes]);
            plain.offered += bytes;
            assert_eq!(last, plain.is_all(plain.offered));
            assert_eq!(queue.offered(StreamId(stream), bytes as u64), last);
            if last {
                self.plain.remove(&stream);
            }
        }

        fn assert_same(&self, queue: &SendQueue) {
            assert_eq!(queue.len(), self.plain.len());
            assert_eq!(queue.is_empty(), self.plain.is_empty());
            for (stream, plain) in &self.plain {
                let available = plain.available(self.released_ms.get(stream).copied());
                let stream = StreamId(*stream);
                assert_eq!(queue.pending(stream), (available - plain.committed) as u64);
                assert_eq!(queue.committed(stream), plain.committed as u64);
                assert_eq!(queue.offset(stream), plain.offered as u64);
                let waiting =
                    if plain.growing.is_some() { plain.bytes.len() - plain.offered } else { 0 };
                assert_eq!(queue.waiting_bytes(stream), waiting);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_queue_says_and_reads_what_plain_bytes_do(steps in prop::collection::vec(step(), 0..80)) {
            let (mut queue, mut model) = (SendQueue::default(), Model::default());
            for step in &steps {
                model.apply(&mut queue, step);
                model.assert_same(&queue);
            }
        }
    }
}
