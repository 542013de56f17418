//! One moving response: where its rest is, and how it moves.

use crate::outgoing::{Outgoing, Stage};
use crate::send_loop::Ending;
use crate::together::Connections;
use http3::StreamId;
use migration::{Continuation, Name, Sending, Subject};
use std::time::Instant;

/// The source and the response.
pub(super) type Key = (Name, Subject);

/// A response that has moved or was asked to move.
pub(super) struct Moving {
    pub(super) sending: Sending,
    pub(super) source: u64,
    /// Its stream at the source, and how much of it was sent there.
    pub(super) stream: StreamId,
    source_bytes: u64,
    /// The rest when it left, if it was complete. It can be sent again.
    kept: Option<Rest>,
    pub(super) at: At,
}

/// Where the rest of a response is.
pub(super) enum At {
    Source(Origin),
    Destination { serial: u64, stream: StreamId, origin: Origin },
    Nowhere(Option<Box<Rest>>),
}

/// The place at which a response begins or continues. It is 0 and 0 until the response moves.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Origin {
    /// The offset on the current stream.
    stream: u64,
    /// The offset in the response's stream, on the connection of its request.
    response: u64,
}

impl Origin {
    /// The offset in the response's stream of a byte of the current stream.
    fn response_offset(self, stream_offset: u64) -> u64 {
        self.response + stream_offset.saturating_sub(self.stream)
    }
}

pub(super) struct Rest {
    outgoing: Outgoing,
    origin: Origin,
}

impl Rest {
    /// Its available bytes from byte `from` of the response on, for another stream.
    fn part(&self, from: u64) -> Self {
        let start = self.origin.stream + from.saturating_sub(self.origin.response);
        Self { outgoing: self.outgoing.part(start), origin: Origin { stream: 0, response: from } }
    }

    /// The length of the response, once it is known.
    fn response_bytes(&self) -> Option<u64> {
        self.outgoing.stream_bytes().map(|it| self.origin.response_offset(it))
    }
}

impl Moving {
    pub(super) fn new((name, subject): Key, source: u64, stream: StreamId) -> Self {
        let sending = Sending::new(name, subject);
        let at = At::Source(Origin::default());
        Self { sending, source, stream, source_bytes: 0, kept: None, at }
    }

    /// The connection and stream of the rest, and its offset there.
    pub(super) fn place(&self) -> Option<(u64, StreamId, Origin)> {
        match self.at {
            At::Source(origin) => Some((self.source, self.stream, origin)),
            At::Destination { serial, stream, origin } => Some((serial, stream, origin)),
            At::Nowhere(_) => None,
        }
    }
}

/// Tells the state machine how much of the response was sent.
pub(super) fn sync(moving: &mut Moving, all: &mut dyn Connections) {
    let Some((serial, stream, origin)) = moving.place() else { return };
    let Some(responder) = all.responder(serial) else { return };
    let outgoing = responder.sender.streams.outgoing(stream);
    let here = |stream_offset| origin.response_offset(stream_offset);
    let whole = || moving.kept.as_ref().and_then(Rest::response_bytes);
    let sent = outgoing.map(|it| here(it.committed())).or_else(whole);
    let sent = sent.unwrap_or_else(|| moving.sending.next());
    moving.sending.sent(sent.saturating_sub(moving.sending.next()));
    if moving.kept.is_none() && !matches!(moving.at, At::Source(_)) {
        let kept_from = outgoing.map_or(sent, |it| here(it.kept_from()));
        moving.sending.discarded(kept_from);
    }
}

/// Removes the rest of a response from where it is, from the next byte on.
pub(super) fn take_out(moving: &mut Moving, all: &mut dyn Connections) -> Option<Box<Rest>> {
    let from = moving.sending.next();
    let live = match std::mem::replace(&mut moving.at, At::Nowhere(None)) {
        At::Source(_) => {
            let sender = &mut all.responder(moving.source)?.sender;
            moving.source_bytes = sender.streams.outgoing(moving.stream)?.committed();
            let outgoing = sender.cut(moving.stream)?;
            let rest = Rest { outgoing, origin: Origin { stream: 0, response: from } };
            if rest.outgoing.stage == Stage::Whole {
                moving.kept = Some(rest.part(from));
            }
            return Some(Box::new(rest));
        }
        At::Destination { serial, stream, origin } => {
            let sender = all.responder(serial).map(|it| &mut it.sender);
            let outgoing = sender.and_then(|it| it.finish(stream, Ending::Moved));
            outgoing.map(|outgoing| Box::new(Rest { outgoing, origin }))
        }
        At::Nowhere(rest) => rest,
    };
    if let Some(kept) = &moving.kept {
        return Some(Box::new(kept.part(from)));
    }
    let mut live = live?;
    let mut rest = live.part(from);
    rest.outgoing.arriving = live.outgoing.arriving.take();
    Some(Box::new(rest))
}

/// Continues a response on the connection `serial`.
pub(super) fn go_on(
    (source, subject): Key,
    moving: &mut Moving,
    serial: u64,
    rest: Option<Box<Rest>>,
    all: &mut dyn Connections,
    now: Instant,
) -> Option<At> {
    let rest = rest?;
    let record = all.responder(moving.source)?.sender.streams.get(moving.stream)?;
    let (resource, said) = (record.resource, record.said);
    let priority = said.unwrap_or_default();
    let destination = all.responder(serial)?;
    let Some(stream) = destination.open_for_rest() else {
        moving.at = At::Nowhere(Some(rest));
        return None;
    };
    let header = Continuation { source, subject, offset: moving.sending.next(), priority };
    let header = header.to_bytes();
    let origin = Origin { stream: header.len() as u64, ..rest.origin };
    destination.go_on(stream, &resource, said, rest.outgoing.behind(&header), now);
    Some(At::Destination { serial, stream, origin })
}

/// Continues at the source as soon as the bytes committed there earlier have gone.
pub(super) fn go_back(moving: &mut Moving, all: &mut dyn Connections, now: Instant) {
    if matches!(moving.at, At::Source(_)) {
        return;
    }
    let Some(source) = all.responder(moving.source) else { return };
    let is_draining = source.sender.streams.is_sending(moving.stream);
    let rest = take_out(moving, all);
    if is_draining {
        moving.at = At::Nowhere(rest);
    } else if let (Some(rest), Some(source)) = (rest, all.responder(moving.source)) {
        moving.at = At::Source(Origin { stream: moving.source_bytes, ..rest.origin });
        let Some(record) = source.sender.streams.get(moving.stream) else { return };
        let (resource, said) = (record.resource, record.said);
        let rest = rest.outgoing.after(moving.source_bytes);
        source.go_on(moving.stream, &resource, said, rest, now);
    }
}
