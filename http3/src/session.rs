//! The HTTP/3 half of one connection: what streams mean, and what may come on which.

use crate::control::{Control, Message};
use crate::error::{Code, Error};
use crate::frame::{self, put_varint};
use crate::priority::Priority;
use crate::qpack::{check_encoder_stream, encode_section, section_bytes};
use crate::stream::{Context, RequestStream};
use crate::unidirectional::{Purpose, UnidirectionalStreams, opening};
use crate::{Event, Header, Limits, Settings, Signal, StreamId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

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
    priorities: WaitingPriorities,
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
            settings,
            limits,
            control: Control::new(role),
            unidirectional: UnidirectionalStreams::default(),
            requests: BTreeMap::new(),
            priorities: WaitingPriorities::default(),
            goaway_sent: None,
            events: VecDeque::new(),
            failure: None,
        }
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
            Direction::Unidirectional => self.unidirectional.close(stream),
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
        self.priorities.waiting.remove(&stream);
    }

    /// A whole HEADERS frame, for a request, a response or trailers. Names become lowercase. An error means
    /// that this field section cannot be sent (to this peer); it is of one message, not of the connection.
    pub fn encode_headers(&mut self, headers: &[Header]) -> Result<Vec<u8>, Error> {
        let limit = self.peer_settings().and_then(|settings| settings.max_field_section_size);
        if limit.is_some_and(|limit_bytes| section_bytes(headers) > limit_bytes) {
            return Err(Error::connection(
                Code::Internal,
                "the field section is larger than the peer takes (RFC 9114, 4.2.2)",
            ));
        }
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

    /// The peer's settings, once they came.
    pub fn peer_settings(&self) -> Option<&Settings> {
        self.control.settings()
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
        let mut overtaking = self.priorities.waiting.remove(&stream);
        let mut context = Context {
            limits: &self.limits,
            field_section_bytes,
            events: &mut self.events,
            overtaking: &mut overtaking,
        };
        let role = self.role;
        let request =
            self.requests.entry(stream).or_insert_with(|| RequestStream::new(stream, role));
        let outcome = request.receive(bytes, fin, &mut context);
        if let Some(event) = overtaking.filter(|_| request.awaits_header()) {
            self.priorities.waiting.insert(stream, event);
        }
        outcome
    }

    fn reset_request(&mut self, stream: StreamId, code: u64) {
        self.saw_request(stream);
        self.priorities.waiting.remove(&stream);
        let role = self.role;
        let request =
            self.requests.entry(stream).or_insert_with(|| RequestStream::new(stream, role));
        if request.abandon() {
            self.events.push_back(Event::Reset { stream, code });
        }
    }

    fn saw_request(&mut self, stream: StreamId) {
        if self.role == Role::Server && !self.requests.contains_key(&stream) {
            self.priorities.saw_request(stream, self.limits.concurrent_requests);
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
            Purpose::Control => self.receive_control(bytes)?,
            Purpose::QpackEncoder => check_encoder_stream(bytes)?,
            Purpose::QpackDecoder(decoder) => decoder.receive(bytes)?,
            Purpose::Unsaid(_) | Purpose::Ignored => {}
        }
        if fin { self.unidirectional.close(stream) } else { Ok(()) }
    }

    fn receive_control(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        while let Some(message) = self.control.next(&mut bytes, &self.limits)? {
            match message {
                Message::Settings(settings) => self.events.push_back(Event::Settings(settings)),
                Message::GoAway(id) => self.events.push_back(Event::GoAway { id }),
                Message::PriorityUpdate(stream, priority) => {
                    self.take_priority(stream, priority)?;
                }
            }
        }
        Ok(())
    }

    /// The rules for a server (RFC 9218, 7.2): what can never be opened is an error, what is not opened yet
    /// waits, what is closed is ignored.
    fn take_priority(&mut self, stream: StreamId, priority: Priority) -> Result<(), Error> {
        let event = Event::Priority(Signal::Extensible {
            stream,
            urgency: priority.urgency_or_default(),
            incremental: priority.incremental_or_default(),
        });
        let may_be_opened = self.priorities.may_be_opened(stream, self.limits.concurrent_requests);
        match self.requests.get(&stream) {
            Some(request) if request.header_seen() => self.events.push_back(event),
            Some(request) if request.awaits_header() => self.wait(stream, event),
            Some(_) => {}
            None => match may_be_opened {
                MayBeOpened::Yes => self.wait(stream, event),
                MayBeOpened::NoMore => {}
                MayBeOpened::Never => {
                    return Err(Error::connection(
                        Code::Id,
                        "PRIORITY_UPDATE of a request beyond the stream limit (RFC 9218, 7.2)",
                    ));
                }
            },
        }
        Ok(())
    }

    /// Keeps the latest update of each stream, within the limit.
    fn wait(&mut self, stream: StreamId, event: Event) {
        let waiting = &mut self.priorities.waiting;
        if waiting.contains_key(&stream) || waiting.len() < self.limits.waiting_priority_updates {
            waiting.insert(stream, event);
        }
    }
}

enum Direction {
    Request,
    Unidirectional,
}

/// Priority updates that overtook their requests, and which requests may still come.
#[derive(Debug, Default)]
struct WaitingPriorities {
    waiting: BTreeMap<StreamId, Event>,
    /// The first stream ID above every request seen.
    next_request: u64,
    /// Requests below it that were not seen: QUIC opens them with the higher one (RFC 9000, 3.2).
    unseen: BTreeSet<u64>,
}

enum MayBeOpened {
    Yes,
    NoMore,
    Never,
}

impl WaitingPriorities {
    /// A request stream is there for the first time. Of a gap below it no more is kept than can be open.
    fn saw_request(&mut self, StreamId(id): StreamId, concurrent_requests: u64) {
        self.unseen.remove(&id);
        if id < self.next_request {
            return;
        }
        let gap_start =
            self.next_request.max(id.saturating_sub(concurrent_requests.saturating_mul(4)));
        self.unseen.extend((gap_start..id).step_by(4));
        while self.unseen.len() as u64 > concurrent_requests {
            self.unseen.pop_first();
        }
        self.next_request = id.saturating_add(4);
    }

    fn may_be_opened(&self, StreamId(id): StreamId, concurrent_requests: u64) -> MayBeOpened {
        let limit = self.next_request.saturating_add(concurrent_requests.saturating_mul(4));
        match id {
            _ if id >= limit => MayBeOpened::Never,
            _ if id >= self.next_request || self.unseen.contains(&id) => MayBeOpened::Yes,
            _ => MayBeOpened::NoMore,
        }
    }
}
