//! The peer's control stream (RFC 9114, 6.2.1 and 7.2; RFC 9218, 7.2).

use crate::error::{Code, Error};
use crate::frame::{FrameKind, FrameReader, Piece, Treatment, only_varint};
use crate::priority::{Priority, parse_update};
use crate::{Limits, Role, Settings, StreamId};

/// Bytes of the longest varint: no frame of one ID is longer.
const ID_BYTES_MAX: u64 = 8;

/// What came on the control stream, and what is remembered of it.
#[derive(Debug)]
pub(crate) struct Control {
    role: Role,
    reader: FrameReader,
    settings: Option<Settings>,
    settings_begun: bool,
    goaway_id: Option<u64>,
    max_push_id: Option<u64>,
}

/// One message of the control stream that concerns the session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Settings(Settings),
    GoAway(u64),
    /// About a client-initiated bidirectional stream, whether or not it can exist.
    PriorityUpdate(StreamId, Priority),
}

impl Control {
    pub(crate) fn new(role: Role) -> Self {
        Self {
            role,
            reader: FrameReader::default(),
            settings: None,
            settings_begun: false,
            goaway_id: None,
            max_push_id: None,
        }
    }

    /// The peer's settings, once they came.
    pub(crate) fn settings(&self) -> Option<&Settings> {
        self.settings.as_ref()
    }

    /// Takes bytes from the front of `bytes` until there is a message, or none are left.
    pub(crate) fn next(
        &mut self,
        bytes: &mut &[u8],
        limits: &Limits,
    ) -> Result<Option<Message>, Error> {
        loop {
            let Self { reader, role, settings_begun, .. } = self;
            let piece = reader.next(bytes, &mut |kind, length| {
                admit(*role, settings_begun, kind, length, limits)
            })?;
            let Some(Piece::Whole(kind, payload)) = piece else { return Ok(None) };
            let message = self.take(kind, &payload)?;
            if message.is_some() {
                return Ok(message);
            }
        }
    }

    fn take(&mut self, kind: FrameKind, payload: &[u8]) -> Result<Option<Message>, Error> {
        match kind {
            FrameKind::Settings => {
                let settings = Settings::parse(payload)?;
                self.settings = Some(settings.clone());
                Ok(Some(Message::Settings(settings)))
            }
            FrameKind::GoAway => self.take_goaway(only_varint(payload)?).map(Some),
            FrameKind::MaxPushId => self.take_max_push_id(only_varint(payload)?).map(|()| None),
            FrameKind::CancelPush => {
                only_varint(payload)?;
                Err(Error::connection(
                    Code::Id,
                    "CANCEL_PUSH of a push that was never promised (RFC 9114, 7.2.3)",
                ))
            }
            FrameKind::PriorityUpdateRequest => {
                let (id, priority) = parse_update(payload)?;
                if !is_request(id) {
                    return Err(Error::connection(
                        Code::Id,
                        "PRIORITY_UPDATE of what is no request stream (RFC 9218, 7.2)",
                    ));
                }
                Ok(Some(Message::PriorityUpdate(StreamId(id), priority)))
            }
            FrameKind::PriorityUpdatePush => {
                parse_update(payload)?;
                Err(Error::connection(
                    Code::Id,
                    "PRIORITY_UPDATE of a push that was never promised (RFC 9218, 7.2)",
                ))
            }
            _ => Ok(None),
        }
    }

    /// To a client a request, to a server a push; it may only go down (RFC 9114, 5.2 and 7.2.6).
    fn take_goaway(&mut self, id: u64) -> Result<Message, Error> {
        if self.role == Role::Client && !is_request(id) {
            return Err(Error::connection(
                Code::Id,
                "GOAWAY names no request stream (RFC 9114, 7.2.6)",
            ));
        }
        if self.goaway_id.is_some_and(|before| id > before) {
            return Err(Error::connection(
                Code::Id,
                "GOAWAY with a larger ID than before (RFC 9114, 5.2)",
            ));
        }
        self.goaway_id = Some(id);
        Ok(Message::GoAway(id))
    }

    fn take_max_push_id(&mut self, id: u64) -> Result<(), Error> {
        if self.max_push_id.is_some_and(|before| id < before) {
            return Err(Error::connection(Code::Id, "MAX_PUSH_ID goes down (RFC 9114, 7.2.7)"));
        }
        self.max_push_id = Some(id);
        Ok(())
    }
}

/// What may come now on a control stream.
fn admit(
    role: Role,
    settings_begun: &mut bool,
    kind: FrameKind,
    length: u64,
    limits: &Limits,
) -> Result<Treatment, Error> {
    let unexpected = |reason| Err(Error::connection(Code::FrameUnexpected, reason));
    let is_first = !std::mem::replace(settings_begun, true);
    match kind {
        FrameKind::Settings if is_first => keep_at_most(limits.settings_payload_bytes, length),
        _ if is_first => Err(Error::connection(
            Code::MissingSettings,
            "the control stream does not begin with SETTINGS (RFC 9114, 6.2.1)",
        )),
        FrameKind::Settings => unexpected("SETTINGS twice (RFC 9114, 7.2.4)"),
        FrameKind::Unknown => Ok(Treatment::Skip),
        FrameKind::Data | FrameKind::Headers | FrameKind::PushPromise => {
            unexpected("a frame of request streams on the control stream (RFC 9114, 7.2)")
        }
        FrameKind::ReservedHttp2 => unexpected("a frame of HTTP/2 (RFC 9114, 7.2.8)"),
        FrameKind::MaxPushId if role == Role::Client => {
            unexpected("MAX_PUSH_ID from a server (RFC 9114, 7.2.7)")
        }
        FrameKind::PriorityUpdateRequest | FrameKind::PriorityUpdatePush
            if role == Role::Client =>
        {
            unexpected("PRIORITY_UPDATE from a server (RFC 9218, 7.2)")
        }
        FrameKind::PriorityUpdateRequest | FrameKind::PriorityUpdatePush => {
            keep_at_most(limits.priority_update_payload_bytes, length)
        }
        FrameKind::CancelPush | FrameKind::GoAway | FrameKind::MaxPushId
            if length > ID_BYTES_MAX =>
        {
            Err(Error::connection(
                Code::Frame,
                "a frame of one ID is longer than an ID (RFC 9114, 7.1)",
            ))
        }
        FrameKind::CancelPush | FrameKind::GoAway | FrameKind::MaxPushId => Ok(Treatment::Keep),
    }
}

fn keep_at_most(limit_bytes: u64, length: u64) -> Result<Treatment, Error> {
    if length <= limit_bytes {
        return Ok(Treatment::Keep);
    }
    Err(Error::connection(
        Code::ExcessiveLoad,
        "a frame of the control stream is larger than we take",
    ))
}

/// A client-initiated bidirectional stream (RFC 9000, 2.1).
fn is_request(id: u64) -> bool {
    id.is_multiple_of(4)
}
