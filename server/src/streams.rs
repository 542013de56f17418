//! The streams of one connection that carry responses: one record each, and indices that find them quickly.

mod gates;
#[cfg(feature = "experiments")]
mod moving;
#[cfg(test)]
mod tests;

use crate::limits::DIARY_PATHS;
use crate::observer::Watched;
use crate::outgoing::{Arriving, Outgoing, Stage};
use crate::site::{Availability, Body};
use gates::Gated;
use http3::PushId;
use schedulers::{Priority, Resource, StreamId, URGENCY_MAX};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// The record of a stream, from its first byte until both ends have finished it.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// The response, until the transport has all of it.
    outgoing: Option<Outgoing>,
    pub(crate) resource: Resource,
    /// How urgent the response is (RFC 9218).
    urgency: u8,
    /// The client's last priority signal, with the operator's directive.
    pub(crate) said: Option<Priority>,
    /// When its first byte was committed, where that matters.
    pub(crate) begun: Option<Instant>,
    /// It is a WebSocket, open in both directions.
    pub(crate) is_tunnel: bool,
    /// It is a download, after everything else.
    pub(crate) is_download: bool,
    /// The operator's directive about the response's order.
    pub(crate) directive: Option<Priority>,
    /// The push that the response is.
    pub(crate) push: Option<PushId>,
    /// The response whose place in the tree a push shares, until the client sends a signal about the push.
    pub(crate) follows: Option<StreamId>,
    /// The response that a push belongs to, while the push is in progress.
    main: Option<StreamId>,
    /// The pushes that belong to this response.
    gated: Option<Gated>,
    /// The stream offset beyond which the response does not go for now.
    #[cfg(feature = "experiments")]
    pause: Option<u64>,
    /// The report to the observers, if there are any.
    pub(crate) watched: Option<Box<Watched>>,
}

impl Stream {
    /// Available stream bytes that are not committed.
    fn pending(&self) -> u64 {
        let pending = self.outgoing.as_ref().map_or(0, Outgoing::pending);
        #[cfg(feature = "experiments")]
        let pending = self.before_pause(pending);
        pending
    }

    /// The report to the observers about a response that ends here.
    fn end_watch(&mut self, outgoing: &Outgoing) -> Option<Watched> {
        let mut watched = *self.watched.take()?;
        let incremental = self.said.and_then(|it| it.incremental);
        watched.answered.priority = Priority { urgency: Some(self.urgency), incremental };
        watched.answered.bytes = outgoing.body_offered();
        watched.answered.is_complete = outgoing.stream_bytes() == Some(outgoing.offset());
        Some(watched)
    }
}

/// A response with bytes to send.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting {
    pub(crate) stream: StreamId,
    /// Whether it waits for credit. Otherwise it waits for others, or until the client acknowledges something.
    pub(crate) is_held: bool,
    /// The offset of its stream.
    pub(crate) offset: u64,
    /// Bytes of all responses that the transport has taken.
    pub(crate) taken: u64,
}

/// The streams, and indices of those that need attention. It has many methods, because each index must change with the record:
/// nothing else can access one of them alone.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// Boxed: a node of the map has room for eleven of them, and few connections have as many.
    all: BTreeMap<StreamId, Box<Stream>>,
    /// How many responses of each urgency are in progress.
    by_urgency: [usize; URGENCIES],
    /// When more of a response becomes available.
    releases: BTreeSet<(Instant, StreamId)>,
    held: BTreeSet<StreamId>,
    /// Responses that a backend has not completed.
    arriving: BTreeSet<StreamId>,
    /// The streams that have room again for the backend's bytes.
    hungry: BTreeSet<StreamId>,
    /// The pushes whose streams are open.
    pushes: BTreeMap<PushId, StreamId>,
    /// Streams of the last pushes, open or not: clients name a push as long as they wait for its last bytes.
    named: BTreeMap<PushId, StreamId>,
    /// Responses with a gate for their pushes.
    mains: BTreeSet<StreamId>,
    #[cfg(feature = "experiments")]
    moving: moving::Moving,
    /// Bytes of all responses that the transport has taken.
    taken: u64,
    /// Watched responses that have ended.
    ended: Vec<Watched>,
}

const URGENCIES: usize = URGENCY_MAX as usize + 1;

/// A server's control stream, on which the transport also reports the congestion window.
pub(crate) const CONTROL_STREAM: StreamId = StreamId(3);

/// The control stream and the two QPACK streams.
pub(crate) const OWN_STREAMS: [StreamId; 3] = [CONTROL_STREAM, StreamId(7), StreamId(11)];

impl Streams {
    /// Keeps a record of `stream` from now on. Returns `true` if it is new.
    pub(crate) fn note(&mut self, stream: StreamId) -> bool {
        let before = self.all.len();
        self.all.entry(stream).or_default();
        self.all.len() > before
    }

    pub(crate) fn note_push(&mut self, stream: StreamId, push: PushId) {
        self.all.entry(stream).or_default().push = Some(push);
        self.pushes.insert(push, stream);
        self.named.insert(push, stream);
        if self.named.len() > DIARY_PATHS {
            self.named.pop_first();
        }
    }

    pub(crate) fn get(&self, stream: StreamId) -> Option<&Stream> {
        self.all.get(&stream).map(Box::as_ref)
    }

    pub(crate) fn get_mut(&mut self, stream: StreamId) -> Option<&mut Stream> {
        self.all.get_mut(&stream).map(Box::as_mut)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (StreamId, &Stream)> {
        self.all.iter().map(|(stream, record)| (*stream, record.as_ref()))
    }

    pub(crate) fn under_way(&self) -> impl Iterator<Item = StreamId> + '_ {
        self.iter().filter(|(_, record)| record.outgoing.is_some()).map(|(stream, _)| stream)
    }

    /// The streams of WebSockets that are open.
    pub(crate) fn tunnels(&self) -> Vec<StreamId> {
        let is_open = |it: &Stream| it.is_tunnel && it.outgoing.is_some();
        self.iter().filter(|(_, record)| is_open(record)).map(|(stream, _)| stream).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn responses(&self) -> usize {
        self.by_urgency.iter().sum()
    }

    pub(crate) fn most_urgent(&self) -> Option<u8> {
        self.by_urgency.iter().zip(0..).find(|(count, _)| **count > 0).map(|(_, urgency)| urgency)
    }

    pub(crate) fn push_stream(&self, push: PushId) -> Option<StreamId> {
        self.named.get(&push).copied()
    }

    /// The pushes in progress that share the place of the response on `main` and are no longer placed by it, because it is
    /// over.
    pub(crate) fn left_by(&self, main: StreamId) -> Vec<StreamId> {
        let follows = |it: &StreamId| self.get(*it).is_some_and(|it| it.follows == Some(main));
        let pushes = self.pushes.values().copied().filter(|_| !self.is_sending(main));
        pushes.filter(|it| self.is_sending(*it) && follows(it)).collect()
    }

    pub(crate) fn open_pushes(&self) -> usize {
        self.pushes.len()
    }

    /// The response on `stream`, while it is in progress.
    pub(crate) fn outgoing(&self, stream: StreamId) -> Option<&Outgoing> {
        self.all.get(&stream)?.outgoing.as_ref()
    }

    pub(crate) fn outgoing_mut(&mut self, stream: StreamId) -> Option<&mut Outgoing> {
        self.all.get_mut(&stream)?.outgoing.as_mut()
    }

    pub(crate) fn is_sending(&self, stream: StreamId) -> bool {
        self.outgoing(stream).is_some()
    }

    /// Available stream bytes that are not committed.
    pub(crate) fn pending(&self, stream: StreamId) -> u64 {
        self.get(stream).map_or(0, Stream::pending)
    }

    /// Whether the response has bytes that neither flow control nor a gate holds back.
    pub(crate) fn is_ready(&self, stream: StreamId) -> bool {
        self.pending(stream) > 0 && !self.held.contains(&stream) && !self.is_gated(stream)
    }

    /// Begins a response, or continues one from elsewhere.
    pub(crate) fn begin(
        &mut self,
        stream: StreamId,
        resource: &Resource,
        urgency: u8,
        outgoing: Outgoing,
    ) {
        let record = self.all.entry(stream).or_default();
        debug_assert!(record.outgoing.is_none(), "a stream carries one response");
        record.resource = *resource;
        record.urgency = urgency.min(URGENCY_MAX);
        self.by_urgency[usize::from(record.urgency)] += 1;
        self.releases.extend(outgoing.times().map(|at| (at, stream)));
        if outgoing.arriving.is_some() {
            self.arriving.insert(stream);
        }
        record.outgoing = Some(outgoing);
        #[cfg(feature = "experiments")]
        {
            record.pause = None;
            self.moving.open_ended.remove(&stream);
        }
    }

    /// Removes a response of which nothing more is sent here. [`crate::send_loop::Ending`] describes why.
    pub(crate) fn take(&mut self, stream: StreamId) -> Option<Outgoing> {
        let record = self.all.get_mut(&stream)?;
        let outgoing = record.outgoing.take()?;
        self.by_urgency[usize::from(record.urgency)] -= 1;
        self.ended.extend(record.end_watch(&outgoing));
        self.unlist(stream, outgoing.times());
        Some(outgoing)
    }

    /// The watched responses that have ended since the last call.
    pub(crate) fn take_ended(&mut self) -> Vec<Watched> {
        std::mem::take(&mut self.ended)
    }

    /// Removes a stream from the indices of those that need attention.
    fn unlist(&mut self, stream: StreamId, times: impl Iterator<Item = Instant>) {
        for at in times {
            self.releases.remove(&(at, stream));
        }
        self.held.remove(&stream);
        self.arriving.remove(&stream);
        self.hungry.remove(&stream);
    }

    /// The client's signal about how urgent the response on `stream` is.
    pub(crate) fn set_urgency(&mut self, stream: StreamId, urgency: u8) {
        let Some(record) = self.all.get_mut(&stream) else { return };
        let urgency = urgency.min(URGENCY_MAX);
        let before = std::mem::replace(&mut record.urgency, urgency);
        if record.outgoing.is_some() {
            self.by_urgency[usize::from(before)] -= 1;
            self.by_urgency[usize::from(urgency)] += 1;
        }
    }

    /// The head of a response whose body becomes available at known times.
    pub(crate) fn respond(
        &mut self,
        stream: StreamId,
        head: &[u8],
        body: Body,
        availability: Availability,
    ) {
        let Some(record) = self.all.get_mut(&stream) else { return };
        let Some(outgoing) = &mut record.outgoing else { return };
        outgoing.respond(head, body, availability);
        self.releases.extend(outgoing.times().map(|at| (at, stream)));
        self.arriving.remove(&stream);
    }

    pub(crate) fn arrives_by(&mut self, stream: StreamId, arriving: Arriving) {
        if let Some(outgoing) = self.outgoing_mut(stream) {
            outgoing.stage = Stage::AwaitsHead;
            outgoing.arriving = Some(arriving);
            self.arriving.insert(stream);
        }
    }

    /// The rest of a response is available after all.
    pub(crate) fn arrives_no_more(&mut self, stream: StreamId) {
        if let Some(outgoing) = self.outgoing_mut(stream) {
            outgoing.arriving = None;
            self.arriving.remove(&stream);
        }
    }

    pub(crate) fn end(&mut self, stream: StreamId) {
        if let Some(outgoing) = self.outgoing_mut(stream) {
            outgoing.end();
            self.arriving.remove(&stream);
        }
    }

    pub(crate) fn arriving(&self) -> Vec<StreamId> {
        self.arriving.iter().copied().collect()
    }

    /// Checks again what a backend has brought, before the next datagram.
    pub(crate) fn look_again(&mut self, stream: StreamId) {
        self.hungry.insert(stream);
    }

    pub(crate) fn take_hungry(&mut self) -> BTreeSet<StreamId> {
        std::mem::take(&mut self.hungry)
    }

    /// The responses that have more bytes by `now` than before.
    pub(crate) fn release(&mut self, now: Instant) -> Vec<StreamId> {
        let mut released = Vec::new();
        while let Some((_, stream)) = self.releases.first().copied().filter(|(at, _)| *at <= now) {
            self.releases.pop_first();
            if self.outgoing_mut(stream).is_some_and(|it| it.release(now)) {
                released.push(stream);
            }
        }
        released
    }

    /// When [`Self::release`] has more to give.
    pub(crate) fn next_release(&self) -> Option<Instant> {
        self.releases.first().map(|(at, _)| *at)
    }

    pub(crate) fn hold(&mut self, stream: StreamId) {
        self.held.insert(stream);
    }

    pub(crate) fn is_held(&self, stream: StreamId) -> bool {
        self.held.contains(&stream)
    }

    /// Whether flow control holds a response back.
    pub(crate) fn has_held(&self) -> bool {
        !self.held.is_empty()
    }

    /// The responses that have bytes to send.
    pub(crate) fn waiting(&self) -> Vec<Waiting> {
        let waits = |(stream, record): (StreamId, &Stream)| {
            let outgoing = record.outgoing.as_ref()?;
            let (offset, taken) = (outgoing.offset(), self.taken);
            let has_bytes = record.pending() > 0 || outgoing.committed() > offset;
            let waits = has_bytes && !self.is_gated(stream);
            waits.then(|| Waiting { stream, is_held: self.is_held(stream), offset, taken })
        };
        self.iter().filter_map(waits).collect()
    }

    /// The responses that flow control held back and no longer does.
    pub(crate) fn take_held(&mut self) -> BTreeSet<StreamId> {
        std::mem::take(&mut self.held)
    }

    /// The transport took `bytes` of a response. Returns `true` if it has all.
    pub(crate) fn offered(&mut self, stream: StreamId, bytes: u64) -> bool {
        self.taken += bytes;
        let Some(outgoing) = self.outgoing_mut(stream) else { return false };
        outgoing.offered(bytes);
        if outgoing.wants_more() {
            self.hungry.insert(stream);
        }
        self.outgoing(stream).is_some_and(Outgoing::is_sent)
    }

    /// Drops the record of a stream that is over on both sides and carries no response any more.
    pub(crate) fn forget(&mut self, stream: StreamId) {
        self.leave_gate(stream);
        #[cfg(feature = "experiments")]
        self.moving.open_ended.remove(&stream);
        if let Some(push) = self.all.remove(&stream).and_then(|it| it.push) {
            self.pushes.remove(&push);
        }
        self.mains.remove(&stream);
        if self.all.is_empty() {
            self.rest();
        }
    }

    /// No stream is left. Empty indices keep nodes with room for eleven, and connections are idle most of the time.
    fn rest(&mut self) {
        *self = Self {
            named: std::mem::take(&mut self.named),
            #[cfg(feature = "experiments")]
            moving: std::mem::take(&mut self.moving),
            taken: self.taken,
            ended: std::mem::take(&mut self.ended),
            ..Self::default()
        };
    }
}
