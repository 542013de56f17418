//! Responses on their way out: which bytes the server has, which are committed to the order of sending,
//! and which the transport has taken.

use crate::site::{Availability, Body};
use schedulers::StreamId;
use std::collections::{BTreeMap, BTreeSet};
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

/// One response: its head, then the body.
#[derive(Debug)]
struct Outgoing {
    head: Vec<u8>,
    ahead_bytes: u64,
    body: Body,
    availability: Availability,
    available: u64,
    committed: u64,
    offered: u64,
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
        let outgoing = Outgoing {
            head: head.ahead,
            ahead_bytes,
            body,
            availability,
            available: 0,
            committed: 0,
            offered: 0,
        };
        self.responses.insert(stream, outgoing);
    }

    /// Drops a response that nobody wants any more.
    pub(crate) fn remove(&mut self, stream: StreamId) {
        let Some(outgoing) = self.responses.remove(&stream) else { return };
        for at in outgoing.availability.times() {
            self.releases.remove(&(at, stream));
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
            outgoing.available = outgoing.head_and(outgoing.availability.body_bytes_at(now));
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
        if outgoing.committed == outgoing.stream_bytes() {
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
        let head = outgoing
            .head
            .get(usize::try_from(outgoing.offered).unwrap_or(usize::MAX)..)
            .unwrap_or_default();
        let from_head = head.len().min(buffer.len());
        let (start, rest) = buffer.split_at_mut(from_head);
        start.copy_from_slice(&head[..from_head]);
        let body_offset =
            (outgoing.offered + from_head as u64).saturating_sub(outgoing.head.len() as u64);
        outgoing.body.read_at(body_offset, rest)?;
        Ok(outgoing.offered + buffer.len() as u64 == outgoing.stream_bytes())
    }

    /// The transport took `bytes`; a response that is wholly taken is dropped.
    pub(crate) fn offered(&mut self, stream: StreamId, bytes: u64) -> bool {
        let Some(outgoing) = self.responses.get_mut(&stream) else { return true };
        outgoing.offered += bytes;
        debug_assert!(outgoing.offered <= outgoing.committed, "only committed bytes are offered");
        let done = outgoing.offered == outgoing.stream_bytes();
        if done {
            self.remove(stream);
        }
        done
    }
}

impl Outgoing {
    fn head_and(&self, body_bytes: Option<u64>) -> u64 {
        body_bytes.map_or(self.ahead_bytes, |it| self.head.len() as u64 + it)
    }

    fn stream_bytes(&self) -> u64 {
        self.head.len() as u64 + self.body.bytes()
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
        ]
    }

    /// A response as the plain bytes of its stream, and when how many of them are there.
    struct Plain {
        bytes: Vec<u8>,
        steps: [(u64, usize); 2],
        committed: usize,
        offered: usize,
    }

    impl Plain {
        fn available(&self, released_ms: Option<u64>) -> usize {
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
                ..Response::error(200)
            };
            let availability = Availability::new(&response, base() + after(self.now_ms));
            let frames = Head { ahead: Vec::new(), frames: bytes[..head].to_vec() };
            let now = base() + after(self.now_ms);
            queue.insert(StreamId(stream), frames, response.body, (availability, now));
            let steps =
                [(self.now_ms + at_ms, head + first), (self.now_ms + at_ms * 2, head + body)];
            self.plain.insert(stream, Plain { bytes, steps, committed: 0, offered: 0 });
            self.released_ms.remove(&stream);
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
                it if it == plain.bytes.len() => Left::Nothing,
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
            assert_eq!(last, plain.offered == plain.bytes.len());
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
