//! The peer's control stream (RFC 9114, 6.2.1 and 7.2; RFC 9218, 7.2).

use crate::error::{Code, Error, unexpected};
use crate::extensions::agreed;
use crate::frame::{FrameKind, FrameReader, Piece, Treatment, only_varint};
use crate::priority::parse_update;
use crate::scheme_name::parse_announcement;
use crate::tree_frame::TreeFrame;
use crate::{Extension, Limits, Prioritized, PushId, Role, Settings, StreamId, bucket_frame};
use schedulers::Priority;
use std::collections::BTreeSet;

/// The length of the longest varint; no frame with a single ID is longer.
const ID_BYTES_MAX: u64 = 8;

#[derive(Debug)]
pub(crate) struct Control {
    reader: FrameReader,
    rules: Rules,
    settings: Option<Settings>,
    /// The ID of the peer's last GOAWAY.
    pub(crate) goaway_id: Option<u64>,
    max_push_id: Option<u64>,
}

#[derive(Debug)]
struct Rules {
    role: Role,
    offered: BTreeSet<Extension>,
    /// Empty until the peer's settings arrive.
    in_use: BTreeSet<Extension>,
    settings_begun: bool,
    announcement_begun: bool,
    /// The frames of an extension that the session's owner accepts: their type, and their longest payload.
    accepted: Option<(u64, u64)>,
}

/// One message of the control stream that concerns the session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Settings(Settings),
    GoAway(u64),
    CancelPush(u64),
    PreferredScheme(String),
    PrioritySignal(PrioritySignal),
    /// A `PRIORITY_UPDATE` and its raw field value.
    Update(Prioritized, Priority, String),
    /// A frame that the session's owner accepts: its type and payload.
    Accepted(u64, Vec<u8>),
}

/// A priority signal in an extension's frame, before checking that its subject can exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrioritySignal {
    Tree(TreeFrame),
    Bucket(StreamId, u8),
}

impl Control {
    /// `offered`: the extensions of our own settings.
    pub(crate) fn new(role: Role, offered: BTreeSet<Extension>) -> Self {
        Self {
            reader: FrameReader::default(),
            rules: Rules {
                role,
                offered,
                in_use: BTreeSet::new(),
                settings_begun: false,
                announcement_begun: false,
                accepted: None,
            },
            settings: None,
            goaway_id: None,
            max_push_id: None,
        }
    }

    /// As [`crate::Session::accept_frames`].
    pub(crate) fn accept(&mut self, frame_type: u64, payload_bytes_max: u64) {
        self.rules.accepted = Some((frame_type, payload_bytes_max));
    }

    pub(crate) fn settings(&self) -> Option<&Settings> {
        self.settings.as_ref()
    }

    pub(crate) fn in_use(&self) -> &BTreeSet<Extension> {
        &self.rules.in_use
    }

    /// The first push ID that the client does not allow (at a server).
    pub(crate) fn push_ids_end(&self) -> u64 {
        self.max_push_id.map_or(0, |id| id + 1)
    }

    /// Takes bytes from the front of `bytes` until there is a message or they run out.
    pub(crate) fn next(
        &mut self,
        bytes: &mut &[u8],
        limits: &Limits,
    ) -> Result<Option<Message>, Error> {
        loop {
            let Self { reader, rules, .. } = self;
            let piece =
                reader.next(bytes, &mut |kind, length| rules.admit(kind, length, limits))?;
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
                let settings = Settings::from_bytes(payload)?;
                self.rules.in_use = agreed(&self.rules.offered, &settings.extensions);
                self.settings = Some(settings.clone());
                Ok(Some(Message::Settings(settings)))
            }
            FrameKind::GoAway => self.take_goaway(only_varint(payload)?).map(Some),
            FrameKind::MaxPushId => self.take_max_push_id(only_varint(payload)?).map(|()| None),
            FrameKind::CancelPush => Ok(Some(Message::CancelPush(only_varint(payload)?))),
            FrameKind::PriorityUpdateRequest => {
                let (id, priority, field) = parse_update(payload)?;
                Ok(Some(Message::Update(Prioritized::Request(request(id)?), priority, field)))
            }
            FrameKind::PriorityUpdatePush => {
                let (id, priority, field) = parse_update(payload)?;
                Ok(Some(Message::Update(Prioritized::Push(PushId(id)), priority, field)))
            }
            FrameKind::Extension(extension) => take_extension(extension, payload).map(Some),
            FrameKind::Unknown(frame_type) => {
                Ok(Some(Message::Accepted(frame_type, payload.to_vec())))
            }
            _ => Ok(None),
        }
    }

    /// Handles GOAWAY, which names a request to a client and a push to a server. The ID may only decrease (RFC 9114,
    /// 5.2 and 7.2.6).
    fn take_goaway(&mut self, id: u64) -> Result<Message, Error> {
        if self.rules.role == Role::Client && !id.is_multiple_of(4) {
            return Code::Id.fail("GOAWAY does not name a request stream (RFC 9114, 7.2.6)");
        }
        if self.goaway_id.is_some_and(|before| id > before) {
            return Code::Id.fail("GOAWAY with a larger ID than before (RFC 9114, 5.2)");
        }
        self.goaway_id = Some(id);
        Ok(Message::GoAway(id))
    }

    fn take_max_push_id(&mut self, id: u64) -> Result<(), Error> {
        if self.max_push_id.is_some_and(|before| id < before) {
            return Code::Id.fail("MAX_PUSH_ID goes down (RFC 9114, 7.2.7)");
        }
        self.max_push_id = Some(id);
        Ok(())
    }
}

impl Rules {
    fn admit(&mut self, kind: FrameKind, length: u64, limits: &Limits) -> Result<Treatment, Error> {
        let is_first = !std::mem::replace(&mut self.settings_begun, true);
        match kind {
            FrameKind::Settings if is_first => keep_at_most(limits.settings_payload_bytes, length),
            _ if is_first => Code::MissingSettings
                .fail("the control stream does not begin with SETTINGS (RFC 9114, 6.2.1)"),
            FrameKind::Settings => unexpected("SETTINGS twice (RFC 9114, 7.2.4)"),
            FrameKind::Unknown(frame_type) if self.accepts(frame_type, length) => {
                Ok(Treatment::Keep)
            }
            FrameKind::Unknown(_) => Ok(Treatment::Skip),
            FrameKind::Extension(extension) => self.admit_extension(extension, length),
            FrameKind::Data | FrameKind::Headers | FrameKind::PushPromise => {
                unexpected("a frame of request streams on the control stream (RFC 9114, 7.2)")
            }
            FrameKind::ReservedHttp2 => unexpected("a frame of HTTP/2 (RFC 9114, 7.2.8)"),
            FrameKind::MaxPushId if self.role == Role::Client => {
                unexpected("MAX_PUSH_ID from a server (RFC 9114, 7.2.7)")
            }
            FrameKind::PriorityUpdateRequest | FrameKind::PriorityUpdatePush
                if self.role == Role::Client =>
            {
                unexpected("PRIORITY_UPDATE from a server (RFC 9218, 7.2)")
            }
            FrameKind::PriorityUpdateRequest | FrameKind::PriorityUpdatePush => {
                keep_at_most(limits.priority_update_payload_bytes, length)
            }
            FrameKind::CancelPush | FrameKind::GoAway | FrameKind::MaxPushId
                if length > ID_BYTES_MAX =>
            {
                Code::Frame.fail("a frame of one ID is longer than an ID (RFC 9114, 7.1)")
            }
            FrameKind::CancelPush | FrameKind::GoAway | FrameKind::MaxPushId => Ok(Treatment::Keep),
        }
    }

    fn accepts(&self, frame_type: u64, length: u64) -> bool {
        self.accepted.is_some_and(|(accepted, most)| accepted == frame_type && length <= most)
    }

    fn admit_extension(&mut self, extension: Extension, length: u64) -> Result<Treatment, Error> {
        if !self.in_use.contains(&extension) {
            return Ok(Treatment::Skip);
        }
        if extension == Extension::SchemeAnnouncement {
            if self.role == Role::Server {
                return unexpected("a scheme's announcement from a client (utmost)");
            }
            if std::mem::replace(&mut self.announcement_begun, true) {
                return unexpected("a scheme's announcement twice (utmost)");
            }
        } else if self.role == Role::Client {
            return unexpected("a priority signal from a server (draft-ietf-quic-http-22)");
        }
        extension.admit(length)
    }
}

impl Extension {
    /// Keeps a frame, unless it exceeds its maximum length.
    pub(crate) fn admit(self, length: u64) -> Result<Treatment, Error> {
        if length <= self.payload_bytes_max() {
            return Ok(Treatment::Keep);
        }
        Code::Frame.fail("a frame of an extension is longer than its fields (RFC 9114, 7.1)")
    }
}

fn take_extension(extension: Extension, payload: &[u8]) -> Result<Message, Error> {
    if extension.is_tree() {
        return TreeFrame::parse(extension, payload)
            .map(|it| Message::PrioritySignal(PrioritySignal::Tree(it)));
    }
    if extension == Extension::SchemeAnnouncement {
        return parse_announcement(payload).map(Message::PreferredScheme);
    }
    let (id, byte) = bucket_frame::parse(payload)?;
    Ok(Message::PrioritySignal(PrioritySignal::Bucket(request(id)?, byte)))
}

fn keep_at_most(limit_bytes: u64, length: u64) -> Result<Treatment, Error> {
    if length <= limit_bytes {
        return Ok(Treatment::Keep);
    }
    Code::ExcessiveLoad.fail("a frame of the control stream is larger than our limit")
}

/// A client-initiated bidirectional stream (RFC 9000, 2.1).
fn request(id: u64) -> Result<StreamId, Error> {
    if id.is_multiple_of(4) {
        return Ok(StreamId(id));
    }
    Code::Id.fail("a priority signal for a stream that is not a request (RFC 9218, 7.2)")
}
