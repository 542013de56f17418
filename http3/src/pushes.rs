//! The pushes of a connection, at either end (RFC 9114, 4.6).

use crate::error::{Code, Error};
use crate::frame::{self, varints};
use crate::{Header, NameValue, PushId, StreamId};
use octets::Octets;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The type of a push stream (RFC 9114, 6.2.2).
pub(crate) const PUSH_STREAM: u64 = 0x01;

/// The pushes that a client has allowed. Each costs a few bytes.
#[derive(Debug, Default)]
pub(crate) struct Pushes {
    /// A client allows the IDs below.
    allowed_end: u64,
    /// A hash of each promised request, by ID.
    promised: BTreeMap<u64, u64>,
    /// IDs whose stream has arrived.
    streams: BTreeSet<u64>,
}

impl Pushes {
    /// Allows the IDs below `end`; never fewer than before (RFC 9114, 7.2.7).
    pub(crate) fn allow(&mut self, end: u64) -> Vec<u8> {
        self.allowed_end = self.allowed_end.max(end);
        id_frame(frame::MAX_PUSH_ID, self.allowed_end.saturating_sub(1))
    }

    pub(crate) fn read_promise<'a>(&self, payload: &'a [u8]) -> Result<(PushId, &'a [u8]), Error> {
        let mut octets = Octets::with_slice(payload);
        let id = octets
            .get_varint()
            .or_else(|_| Code::Frame.fail("PUSH_PROMISE is too short (RFC 9114, 7.1)"))?;
        self.check(id, "PUSH_PROMISE of a push that we did not allow (RFC 9114, 7.2.5)")?;
        Ok((PushId(id), &payload[octets.off()..]))
    }

    /// Records a promise. A push may be promised on several requests, with the same fields in the
    /// same order.
    pub(crate) fn promise(&mut self, PushId(id): PushId, headers: &[Header]) -> Result<(), Error> {
        let hash = hash_of(headers);
        if *self.promised.entry(id).or_insert(hash) == hash {
            return Ok(());
        }
        Code::GeneralProtocol.fail("a push is promised again with other fields (RFC 9114, 7.2.5)")
    }

    pub(crate) fn open(&mut self, id: u64) -> Result<PushId, Error> {
        self.check(id, "a stream of a push that we did not allow (RFC 9114, 4.6)")?;
        if self.streams.insert(id) {
            return Ok(PushId(id));
        }
        Code::Id.fail("a second stream of one push (RFC 9114, 4.6)")
    }

    pub(crate) fn check_cancelled(&self, id: u64) -> Result<PushId, Error> {
        self.check(id, "CANCEL_PUSH of a push that we did not allow (RFC 9114, 7.2.3)")?;
        Ok(PushId(id))
    }

    fn check(&self, id: u64, reason: &'static str) -> Result<(), Error> {
        if id < self.allowed_end { Ok(()) } else { Code::Id.fail(reason) }
    }
}

pub(crate) fn id_frame(frame_type: u64, id: u64) -> Vec<u8> {
    frame::whole(frame_type, &varints([id]))
}

/// Whether a stream is server-initiated and unidirectional (RFC 9000, 2.1): at a client, it can
/// only be a push.
pub(crate) fn is_push_stream(StreamId(stream): StreamId) -> bool {
    stream % 4 == 3
}

fn hash_of(headers: &[Header]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for header in headers {
        (header.name(), header.value()).hash(&mut hasher);
    }
    hasher.finish()
}
