//! The HTTP/3 half of one connection: the purpose of streams, and the rules for their contents.

use crate::control::{Control, Message};
use crate::error::{Code, Error};
use crate::frame::{self, varints};
use crate::pushes::{PUSH_STREAM, Pushes, id_frame};
use crate::qpack::{check_encoder_stream, encode_section, section_bytes};
use crate::stream::{Context, RequestStream};
use crate::unidirectional::{Purpose, UnidirectionalStreams, control_stream, opening, take_varint};
use crate::waiting::WaitingSignals;
use crate::{Event, Header, Limits, NameValue, PushId, Role, Settings, StreamId};
use std::collections::{BTreeMap, VecDeque};

mod signals;

/// HTTP/3 on one connection. After a connection error, every call of [`Session::receive`] returns the same error.
///
/// It has many methods: it handles both ends, and what is allowed on one stream depends on the others.
#[derive(Debug)]
pub struct Session {
    role: Role,
    settings: Settings,
    limits: Limits,
    control: Control,
    unidirectional: UnidirectionalStreams,
    requests: BTreeMap<StreamId, RequestStream>,
    signals: WaitingSignals,
    /// The first push ID that has not been promised.
    pushes_end: u64,
    /// The pushes that we have allowed (a client).
    pushes: Pushes,
    /// The server's settings of an earlier connection, until this one's arrive (a client).
    remembered: Option<Settings>,
    scheme_announced: bool,
    goaway_sent: Option<u64>,
    events: VecDeque<Event>,
    /// Bytes of incomplete frames that are kept.
    unfinished_bytes: u64,
    failure: Option<Error>,
}

impl Session {
    /// A session that offers `settings` and keeps no more than `limits` of its peer. The QPACK settings are always 0 on
    /// the wire, because we use only the static table.
    pub fn new(role: Role, settings: Settings, limits: Limits) -> Self {
        Self {
            role,
            control: Control::new(role, settings.extensions.clone()),
            settings,
            limits,
            unidirectional: UnidirectionalStreams::default(),
            requests: BTreeMap::new(),
            signals: WaitingSignals::default(),
            pushes_end: 0,
            pushes: Pushes::default(),
            remembered: None,
            scheme_announced: false,
            goaway_sent: None,
            events: VecDeque::new(),
            unfinished_bytes: 0,
            failure: None,
        }
    }

    /// Stores the server's settings from the connection that this one resumes (as a client), before early data is sent.
    /// They apply until the new ones arrive, which must allow at least as much (RFC 9114, 7.2.4.2). `None`: early data was
    /// rejected.
    pub fn remember(&mut self, settings: Option<Settings>) {
        self.remembered = settings;
    }

    /// Our unidirectional streams with their first bytes: control (with SETTINGS), QPACK encoder, QPACK
    /// decoder. A client's are 2, 6 and 10, a server's 3, 7 and 11. They stay open.
    pub fn opening(&self) -> Vec<(StreamId, Vec<u8>)> {
        opening(self.role, &self.settings)
    }

    /// Appends settings of an extension that the session itself does not implement. Call it before [`Self::opening`].
    pub fn offer(&mut self, settings: impl IntoIterator<Item = (u64, u64)>) {
        self.settings.unknown.extend(settings);
    }

    /// Reports frames of this type as [`Event::Frame`], if they arrive on the peer's control stream. Longer ones are
    /// ignored like unknown frames. The owner must ignore them, too, unless the peer's settings offer the extension.
    pub fn accept_frames(&mut self, frame_type: u64, payload_bytes_max: u64) {
        self.control.accept(frame_type, payload_bytes_max);
    }

    /// Our control stream.
    pub fn control_stream(&self) -> StreamId {
        control_stream(self.role)
    }

    /// Receives consecutive bytes on one of the peer's streams; `fin`: they are the last. Queues events for [`Self::poll`],
    /// also for the bytes before an error.
    ///
    /// After a stream error, further bytes are ignored. After [`Self::forget`], a stream must not get bytes.
    pub fn receive(&mut self, stream: StreamId, bytes: &[u8], fin: bool) -> Result<(), Error> {
        self.unless_failed(|session| match session.direction(stream)? {
            Direction::Request => session.receive_request(stream, bytes, fin),
            Direction::Unidirectional => session.receive_unidirectional(stream, bytes, fin),
        })
    }

    /// The peer reset a stream.
    pub fn stream_reset(&mut self, stream: StreamId, code: u64) -> Result<(), Error> {
        self.unless_failed(|session| match session.direction(stream)? {
            Direction::Request => {
                session.reset_request(stream, code);
                Ok(())
            }
            Direction::Unidirectional => session.reset_unidirectional(stream, code),
        })
    }

    /// The next event, in the order of the bytes.
    pub fn poll(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Events that [`Self::poll`] has.
    pub fn events(&self) -> usize {
        self.events.len()
    }

    /// Whether a message with an incomplete header section has begun on `stream`.
    pub fn awaits_head(&self, stream: StreamId) -> bool {
        self.requests.get(&stream).is_some_and(RequestStream::awaits_header)
    }

    /// Drops the state of a message that the owner has abandoned. Further bytes are ignored.
    pub fn give_up(&mut self, stream: StreamId) {
        if let Some(request) = self.requests.get_mut(&stream) {
            self.unfinished_bytes -= request.unfinished_bytes();
            request.abandon();
        }
    }

    /// Stream bytes of the HEADERS frames that have arrived on `stream`, for logs.
    pub fn headers_frame_bytes(&self, stream: StreamId) -> Option<u64> {
        self.requests.get(&stream).map(RequestStream::headers_frame_bytes)
    }

    /// Drops the state of a stream that is over on both sides.
    pub fn forget(&mut self, stream: StreamId) {
        self.give_up(stream);
        self.requests.remove(&stream);
        if self.requests.is_empty() {
            // An empty map keeps a node with room for eleven, and connections are mostly idle.
            self.requests = BTreeMap::new();
            self.events.shrink_to(0);
        }
        self.signals.take(stream);
        self.signals.forget_node(stream);
    }

    /// A complete HEADERS frame, for a request, a response or trailers. Names become lowercase. Fails if this peer does not
    /// accept the field section, which ends the message, not the connection.
    pub fn encode_headers(&mut self, headers: &[impl NameValue]) -> Result<Vec<u8>, Error> {
        self.check_section(headers)?;
        Ok(frame::whole(frame::HEADERS, &encode_section(headers)?))
    }

    /// A GOAWAY frame for our control stream: it rejects requests from the stream `id` on (as a server), or pushes from the
    /// push `id` on (as a client). If an earlier one had a smaller ID, that ID is repeated (RFC 9114, 5.2).
    pub fn goaway(&mut self, id: u64) -> Vec<u8> {
        let id = self.goaway_sent.map_or(id, |before| before.min(id));
        self.goaway_sent = Some(id);
        id_frame(frame::GOAWAY, id)
    }

    /// A `PUSH_PROMISE` frame of a request (as a server). Send it on the request stream whose response references the
    /// resource, before the reference. `None`: the client does not allow another push now. The response goes on a
    /// unidirectional stream that begins with [`Self::push_stream_header`]. From now on, the client may send signals about
    /// the push.
    pub fn promise(&mut self, headers: &[Header]) -> Result<Option<(PushId, Vec<u8>)>, Error> {
        if self.pushes_left() == 0 {
            return Ok(None);
        }
        self.check_section(headers)?;
        let push = PushId(self.pushes_end);
        let payload = [varints([push.0]), encode_section(headers)?].concat();
        self.pushes_end += 1;
        Ok(Some((push, frame::whole(frame::PUSH_PROMISE, &payload))))
    }

    /// The number of pushes that the client still allows (at a server): its `MAX_PUSH_ID` minus those promised, and none
    /// after its GOAWAY.
    pub fn pushes_left(&self) -> u64 {
        let refused_from = self.control.goaway_id.unwrap_or(u64::MAX);
        let end = if self.role == Role::Server { self.control.push_ids_end() } else { 0 };
        end.min(refused_from).saturating_sub(self.pushes_end)
    }

    /// The first bytes of the stream of a push.
    pub fn push_stream_header(push: PushId) -> Vec<u8> {
        varints([PUSH_STREAM, push.0])
    }

    /// A `MAX_PUSH_ID` frame for our control stream (as a client), which allows pushes with IDs below `end`, at least 1.
    /// Earlier allowed IDs stay allowed.
    pub fn allow_pushes(&mut self, end: u64) -> (StreamId, Vec<u8>) {
        (control_stream(self.role), self.pushes.allow(end.max(1)))
    }

    /// A `CANCEL_PUSH` frame for our control stream, which cancels a push from either end.
    pub fn cancel_push(&self, PushId(push): PushId) -> (StreamId, Vec<u8>) {
        (control_stream(self.role), id_frame(frame::CANCEL_PUSH, push))
    }

    /// The peer's settings, once they have arrived.
    pub fn peer_settings(&self) -> Option<&Settings> {
        self.control.settings()
    }

    fn check_section(&self, headers: &[impl NameValue]) -> Result<(), Error> {
        let settings = self.peer_settings().or(self.remembered.as_ref());
        let limit = settings.and_then(|it| it.max_field_section_size);
        if limit.is_none_or(|limit_bytes| section_bytes(headers) <= limit_bytes) {
            return Ok(());
        }
        Code::Internal.fail("the field section is larger than the peer's limit (RFC 9114, 4.2.2)")
    }

    /// The direction of a stream, from its ID (RFC 9000, 2.1).
    fn direction(&self, stream: StreamId) -> Result<Direction, Error> {
        match (stream.0 % 4, self.role) {
            (0, _) => Ok(Direction::Request),
            (1, Role::Client) => Code::StreamCreation
                .fail("a bidirectional stream that the server opened (RFC 9114, 6.1)"),
            (2, Role::Server) | (3, Role::Client) => Ok(Direction::Unidirectional),
            _ => Code::Internal.fail("a stream on which only we could send"),
        }
    }

    /// Returns the error again after a connection error, otherwise runs the call.
    fn unless_failed(
        &mut self,
        take: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let outcome = take(self);
        self.failure = outcome.err().filter(|it| it.stream().is_none());
        outcome
    }

    fn receive_request(&mut self, stream: StreamId, bytes: &[u8], fin: bool) -> Result<(), Error> {
        self.saw_request(stream);
        let field_section_bytes = self.field_section_bytes();
        let mut overtaking = self.signals.take(stream);
        let node_named = self.signals.is_node_named(stream);
        let reach = self.reach();
        let mut context = Context {
            limits: &self.limits,
            field_section_bytes,
            takes_extended_connect: self.settings.enable_connect_protocol,
            events: &mut self.events,
            in_use: self.control.in_use(),
            reach,
            pushes: &mut self.pushes,
            overtaking: &mut overtaking,
            node_named,
        };
        let role = self.role;
        let request =
            self.requests.entry(stream).or_insert_with(|| RequestStream::new(stream, role));
        self.unfinished_bytes -= request.unfinished_bytes();
        let outcome = request.receive(bytes, fin, &mut context);
        self.unfinished_bytes += request.unfinished_bytes();
        if !request.awaits_header() {
            self.signals.forget_node(stream);
        }
        if let Some(event) = overtaking.filter(|_| request.awaits_header()) {
            self.signals.put_back(stream, event);
        }
        if self.unfinished_bytes > self.limits.unfinished_bytes {
            self.give_up(stream);
            return Code::ExcessiveLoad
                .fail_stream(stream, "unfinished field sections are larger than our limit");
        }
        outcome
    }

    fn reset_request(&mut self, stream: StreamId, code: u64) {
        self.saw_request(stream);
        self.signals.take(stream);
        self.signals.forget_node(stream);
        let role = self.role;
        let request =
            self.requests.entry(stream).or_insert_with(|| RequestStream::new(stream, role));
        self.unfinished_bytes -= request.unfinished_bytes();
        if request.abandon() {
            self.events.push_back(Event::Reset { stream, code });
        }
    }

    fn saw_request(&mut self, stream: StreamId) {
        if self.role == Role::Server && !self.requests.contains_key(&stream) {
            self.signals.saw_request(stream, self.limits.concurrent_requests);
        }
    }

    fn field_section_bytes(&self) -> u64 {
        self.settings
            .max_field_section_size
            .unwrap_or(u64::MAX)
            .min(self.limits.field_section_bytes)
    }

    fn receive_unidirectional(
        &mut self,
        stream: StreamId,
        mut bytes: &[u8],
        fin: bool,
    ) -> Result<(), Error> {
        let limit = self.limits.unidirectional_streams;
        match self.unidirectional.purpose(self.role, stream, &mut bytes, limit)? {
            Purpose::Control => self.receive_control(stream, bytes)?,
            Purpose::QpackEncoder => check_encoder_stream(bytes)?,
            Purpose::QpackDecoder(decoder) => decoder.receive(bytes)?,
            Purpose::PushUnsaid(start) => {
                if let Some(push) = take_varint(start, &mut bytes) {
                    self.open_push(stream, push)?;
                    self.receive_request(stream, bytes, fin)?;
                }
            }
            Purpose::Push(_) => self.receive_request(stream, bytes, fin)?,
            Purpose::Unsaid(_) | Purpose::Ignored => {}
        }
        if fin { self.unidirectional.close(stream) } else { Ok(()) }
    }

    fn open_push(&mut self, stream: StreamId, push: u64) -> Result<(), Error> {
        let push = self.pushes.open(push)?;
        self.unidirectional.is_push(stream, push);
        self.events.push_back(Event::PushStream { stream, push });
        Ok(())
    }

    fn reset_unidirectional(&mut self, stream: StreamId, code: u64) -> Result<(), Error> {
        if self.requests.contains_key(&stream) {
            self.reset_request(stream, code);
        }
        self.unidirectional.close(stream)
    }

    /// Handles `CANCEL_PUSH`. A server may only cancel pushes that we allowed, and a client only those that we promised (RFC
    /// 9114, 7.2.3).
    fn take_cancel_push(&mut self, id: u64) -> Result<(), Error> {
        let push = match self.role {
            Role::Client => self.pushes.check_cancelled(id)?,
            Role::Server if id < self.pushes_end => PushId(id),
            Role::Server => {
                return Code::Id
                    .fail("CANCEL_PUSH of a push that was never promised (RFC 9114, 7.2.3)");
            }
        };
        self.events.push_back(Event::PushCancelled { push });
        Ok(())
    }

    fn receive_control(&mut self, control: StreamId, mut bytes: &[u8]) -> Result<(), Error> {
        while let Some(message) = self.control.next(&mut bytes, &self.limits)? {
            match message {
                Message::Settings(settings) => {
                    if let Some(remembered) = self.remembered.take() {
                        remembered.check_kept(&settings)?;
                    }
                    self.events.push_back(Event::Settings(settings));
                }
                Message::GoAway(id) => self.events.push_back(Event::GoAway { id }),
                Message::CancelPush(id) => self.take_cancel_push(id)?,
                Message::PreferredScheme(name) => {
                    self.events.push_back(Event::PreferredScheme(name));
                }
                Message::PrioritySignal(said) => self.take_signal(said)?,
                Message::Update(prioritized, priority, field) => {
                    let update = Event::PriorityUpdate { control, prioritized, field };
                    self.events.push_back(update);
                    self.take_update(prioritized, priority)?;
                }
                Message::Accepted(frame_type, payload) => {
                    self.events.push_back(Event::Frame { frame_type, payload });
                }
            }
        }
        Ok(())
    }
}

enum Direction {
    Request,
    Unidirectional,
}
