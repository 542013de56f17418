//! The HTTP/3 half of one connection: what streams mean, and what may come on which.

mod pushing;

use crate::control::{Control, Message, Said};
use crate::error::{Code, Error};
use crate::frame::{self, put_varint};
use crate::priority::Priority;
use crate::pushes::Pushes;
use crate::qpack::{check_encoder_stream, encode_section, section_bytes};
use crate::scheme_name::is_name;
use crate::stream::{Context, RequestStream};
use crate::tree_frame::{Form, Reach, TreeFrame};
use crate::unidirectional::{Purpose, UnidirectionalStreams, control_stream, opening, take_varint};
use crate::waiting::{MayBeOpened, WaitingSignals};
use crate::{Event, Extension, Header, Limits, Prioritized, PushId, Settings, Signal, StreamId};
use crate::{bucket_frame, priority_update};
use std::collections::{BTreeMap, VecDeque};

/// Which end of the connection we are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Sends requests.
    Client,
    /// Sends responses.
    Server,
}

/// HTTP/3 on one connection. After an error of the connection every call of [`Session::receive`] returns
/// the same error.
#[derive(Debug)]
pub struct Session {
    role: Role,
    settings: Settings,
    limits: Limits,
    control: Control,
    unidirectional: UnidirectionalStreams,
    requests: BTreeMap<StreamId, RequestStream>,
    signals: WaitingSignals,
    /// The first push ID that was not promised.
    pushes_end: u64,
    /// Those that we allowed (a client).
    pushes: Pushes,
    /// The server's of an earlier connection, until its own come (a client).
    remembered: Option<Settings>,
    scheme_announced: bool,
    goaway_sent: Option<u64>,
    events: VecDeque<Event>,
    failure: Option<Error>,
}

impl Session {
    /// A session that offers `settings` (but for the QPACK ones, which are always 0 on the wire: the
    /// static table is all we use) and keeps no more than `limits` of its peer.
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
            failure: None,
        }
    }

    /// The server's settings of the connection that this one resumes (as a client), before early data is sent: they
    /// hold until its settings come, which then must allow as much (RFC 9114, 7.2.4.2). None: early data was rejected,
    /// and nothing is remembered.
    pub fn remember(&mut self, settings: Option<Settings>) {
        self.remembered = settings;
    }

    /// Our unidirectional streams with their first bytes: control (with SETTINGS), QPACK encoder, QPACK
    /// decoder. A client's are 2, 6 and 10, a server's 3, 7 and 11. They stay open.
    pub fn opening(&self) -> Vec<(StreamId, Vec<u8>)> {
        opening(self.role, &self.settings)
    }

    /// Bytes that came in order on a stream of the peer's; `fin` with the last ones. Events are queued for
    /// [`Self::poll`], those of the bytes before an error too.
    ///
    /// After an error of the stream, what comes on it is dropped without a word. Bytes of a stream must not
    /// be given after [`Self::forget`].
    pub fn receive(&mut self, stream: StreamId, bytes: &[u8], fin: bool) -> Result<(), Error> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let outcome = match self.direction(stream) {
            Ok(Direction::Request) => self.receive_request(stream, bytes, fin),
            Ok(Direction::Unidirectional) => self.receive_unidirectional(stream, bytes, fin),
            Err(error) => Err(error),
        };
        self.remember_failure(outcome)
    }

    /// The peer reset a stream.
    pub fn stream_reset(&mut self, stream: StreamId, code: u64) -> Result<(), Error> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let outcome = self.direction(stream).and_then(|direction| match direction {
            Direction::Request => {
                self.reset_request(stream, code);
                Ok(())
            }
            Direction::Unidirectional => self.reset_unidirectional(stream, code),
        });
        self.remember_failure(outcome)
    }

    /// The next event, in the order of the bytes.
    pub fn poll(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Stream bytes of the HEADERS frames that came on `stream` so far, for logs.
    pub fn headers_frame_bytes(&self, stream: StreamId) -> Option<u64> {
        self.requests.get(&stream).map(RequestStream::headers_frame_bytes)
    }

    /// The stream is over on both sides: nothing of it is kept, and it is not heard of again.
    pub fn forget(&mut self, stream: StreamId) {
        self.requests.remove(&stream);
        self.signals.take(stream);
        self.signals.forget_node(stream);
    }

    /// A whole HEADERS frame, for a request, a response or trailers. Names become lowercase. An error means
    /// that this field section cannot be sent (to this peer); it is of one message, not of the connection.
    pub fn encode_headers(&mut self, headers: &[Header]) -> Result<Vec<u8>, Error> {
        self.check_section(headers)?;
        Ok(frame::whole(frame::HEADERS, &encode_section(headers)?))
    }

    /// A GOAWAY frame for our control stream: no more requests from the stream `id` on (from a server), or
    /// no more pushes from the push `id` on (from a client). A later one never names a larger ID than an
    /// earlier one (RFC 9114, 5.2): the earlier one is repeated then.
    pub fn goaway(&mut self, id: u64) -> Vec<u8> {
        let id = self.goaway_sent.map_or(id, |before| before.min(id));
        self.goaway_sent = Some(id);
        let mut payload = Vec::new();
        put_varint(&mut payload, id);
        frame::whole(frame::GOAWAY, &payload)
    }

    /// What a client writes to say `signal`, and on which stream (its control stream). None: this connection
    /// cannot say it. RFC 9218 can always be said, the tree and the bucket byte once both sides offered
    /// them ([`Settings::extensions`]); the tree in the first form, of those of [`Extension::ALL`] that are
    /// in use, that can say it: only draft 22 says exclusive, only `TreeZeroWeight` says weight 0. What
    /// the server would answer with an error is not said: the root, or a placeholder that it does not have.
    pub fn signal(&self, signal: &Signal) -> Option<(StreamId, Vec<u8>)> {
        if self.role == Role::Server {
            return None;
        }
        let bytes = match *signal {
            Signal::Extensible { stream, urgency, incremental } => {
                priority_update(stream, urgency, incremental)
            }
            Signal::Bucket { stream, byte } => {
                let revision = [Extension::BucketJanuary2019, Extension::BucketJune2019]
                    .into_iter()
                    .find(|it| self.in_use(*it))?;
                frame::whole(revision.codepoint(), &bucket_frame::payload(stream, byte))
            }
            Signal::Depend { .. } => self.tree_frame(TreeFrame::of(signal)?)?,
        };
        Some((control_stream(self.role), bytes))
    }

    /// The same signal of the tree as the first frame of the request stream that it is about, before HEADERS:
    /// the "current stream" of draft 20. None: this connection cannot say it there.
    pub fn signal_on_request(&self, signal: &Signal) -> Option<Vec<u8>> {
        if self.role == Role::Server {
            return None;
        }
        self.tree_frame(TreeFrame::of(signal)?.on_its_stream()?)
    }

    /// What a server writes, and on which stream (its control stream), to say which scheme it prefers on this
    /// connection. None: not now or never: the client did not offer [`Extension::SchemeAnnouncement`] (its
    /// settings may be still to come), we did not, a scheme was announced already, or `name` is no scheme's
    /// name (1 to 64 letters, digits and `+-_.:@`).
    pub fn announce_scheme(&mut self, name: &str) -> Option<(StreamId, Vec<u8>)> {
        let may = self.role == Role::Server
            && self.in_use(Extension::SchemeAnnouncement)
            && !self.scheme_announced
            && is_name(name);
        may.then(|| {
            self.scheme_announced = true;
            let codepoint = Extension::SchemeAnnouncement.codepoint();
            (control_stream(self.role), frame::whole(codepoint, name.as_bytes()))
        })
    }

    /// Whether both sides offered `extension`: false until the peer's settings came. Of the two revisions of
    /// the bucket byte at most one is in use; it says how to read [`Signal::Bucket`].
    pub fn in_use(&self, extension: Extension) -> bool {
        self.control.in_use().contains(&extension)
    }

    /// The peer's settings, once they came.
    pub fn peer_settings(&self) -> Option<&Settings> {
        self.control.settings()
    }

    /// The peer takes this field section.
    fn check_section(&self, headers: &[Header]) -> Result<(), Error> {
        let settings = self.peer_settings().or(self.remembered.as_ref());
        let limit = settings.and_then(|it| it.max_field_section_size);
        if limit.is_none_or(|limit_bytes| section_bytes(headers) <= limit_bytes) {
            return Ok(());
        }
        Err(Error::connection(
            Code::Internal,
            "the field section is larger than the peer takes (RFC 9114, 4.2.2)",
        ))
    }

    /// What a stream is by its ID (RFC 9000, 2.1).
    fn direction(&self, stream: StreamId) -> Result<Direction, Error> {
        match (stream.0 % 4, self.role) {
            (0, _) => Ok(Direction::Request),
            (1, Role::Client) => Err(Error::connection(
                Code::StreamCreation,
                "a bidirectional stream that the server opened (RFC 9114, 6.1)",
            )),
            (2, Role::Server) | (3, Role::Client) => Ok(Direction::Unidirectional),
            _ => Err(Error::connection(Code::Internal, "a stream on which only we could send")),
        }
    }

    fn remember_failure(&mut self, outcome: Result<(), Error>) -> Result<(), Error> {
        if let Err(error) = outcome
            && error.stream().is_none()
        {
            self.failure = Some(error);
        }
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
        let outcome = request.receive(bytes, fin, &mut context);
        if !request.awaits_header() {
            self.signals.forget_node(stream);
        }
        if let Some(event) = overtaking.filter(|_| request.awaits_header()) {
            self.signals.put_back(stream, event);
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

    fn reset_unidirectional(&mut self, stream: StreamId, code: u64) -> Result<(), Error> {
        if self.requests.contains_key(&stream) {
            self.reset_request(stream, code);
        }
        self.unidirectional.close(stream)
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
                Message::Said(said) => self.take_signal(said)?,
                Message::Update(said, field) => self.take_update(control, said, field)?,
            }
        }
        Ok(())
    }

    fn take_update(&mut self, control: StreamId, said: Said, field: String) -> Result<(), Error> {
        let prioritized = match said {
            Said::Priority(stream, _) => Some(Prioritized::Request(stream)),
            Said::PushPriority(push, _) => Some(Prioritized::Push(push)),
            Said::Tree(_) | Said::Bucket(..) => None,
        };
        let update =
            prioritized.map(|prioritized| Event::PriorityUpdate { control, prioritized, field });
        self.events.extend(update);
        self.take_signal(said)
    }

    fn take_signal(&mut self, said: Said) -> Result<(), Error> {
        self.signals.spend(&self.limits)?;
        match said {
            Said::Priority(stream, priority) => self.place(Signal::Extensible {
                stream,
                urgency: priority.urgency_or_default(),
                incremental: priority.incremental_or_default(),
            }),
            Said::PushPriority(push, priority) => self.place_push(push, priority),
            Said::Tree(frame) => {
                frame.on_control(self.reach())?.map_or(Ok(()), |signal| self.place(signal))
            }
            Said::Bucket(stream, byte) => self.place(Signal::Bucket { stream, byte }),
        }
    }

    fn place_push(&mut self, push: PushId, priority: Priority) -> Result<(), Error> {
        if push.0 >= self.reach().pushes {
            return Err(Error::connection(
                Code::Id,
                "PRIORITY_UPDATE of a push that was never promised (RFC 9218, 7.2)",
            ));
        }
        self.events.push_back(Event::PushPriority {
            push,
            urgency: priority.urgency_or_default(),
            incremental: priority.incremental_or_default(),
        });
        Ok(())
    }

    /// The rules for a server (RFC 9218, 7.2), for every kind of signal: what can never be opened is an error,
    /// what is not opened yet waits (of the tree: is named), what is closed is ignored.
    fn place(&mut self, signal: Signal) -> Result<(), Error> {
        let event = Event::Priority(signal);
        let Some(stream) = signal.stream() else {
            self.events.push_back(event);
            return Ok(());
        };
        let may_be_opened = self.signals.may_be_opened(stream, self.limits.concurrent_requests);
        match self.requests.get(&stream) {
            Some(request) if request.header_seen() => self.events.push_back(event),
            Some(request) if request.awaits_header() => self.place_early(stream, signal),
            Some(_) => {}
            None => match may_be_opened {
                MayBeOpened::Yes => self.place_early(stream, signal),
                MayBeOpened::NoMore => {}
                MayBeOpened::Never => {
                    return Err(Error::connection(
                        Code::Id,
                        "a priority signal of a request beyond the stream limit (RFC 9218, 7.2)",
                    ));
                }
            },
        }
        Ok(())
    }

    /// A signal that overtakes its request.
    fn place_early(&mut self, stream: StreamId, signal: Signal) {
        let event = Event::Priority(signal);
        if !matches!(signal, Signal::Depend { .. }) {
            self.signals.keep(stream, event, &self.limits);
        } else if self.signals.name_node(stream, &self.limits) {
            self.events.push_back(event);
        }
    }

    /// What a client may name in a signal.
    fn reach(&self) -> Reach {
        Reach {
            streams: self.signals.streams_end(self.limits.concurrent_requests),
            pushes: self.pushes_end.min(self.control.push_ids_end()),
            placeholders: self.settings.placeholders,
        }
    }

    /// A frame of the tree in the first form in use that can say it.
    fn tree_frame(&self, frame: TreeFrame) -> Option<Vec<u8>> {
        let announced = self.peer_settings()?.placeholders;
        if frame.placeholder().is_some_and(|id| id >= announced) {
            return None;
        }
        Extension::ALL.into_iter().filter(|it| self.in_use(*it)).find_map(|extension| {
            let payload = frame.to_payload(Form::of(extension)?)?;
            Some(frame::whole(extension.codepoint(), &payload))
        })
    }
}

enum Direction {
    Request,
    Unidirectional,
}
