//! A request stream: one request (at a server) or one response (at a client), in frames
//! (RFC 9114, 4.1).

use crate::error::{Code, Error, unexpected};
use crate::frame::{FrameKind, FrameReader, Piece, Treatment, frame_bytes};
use crate::headers::{check_request, check_response, check_trailers, malformed};
use crate::pushes::{Pushes, is_push_stream};
use crate::qpack::{check_line_count, decode_section};
use crate::tree_frame::{Reach, TreeFrame};
use crate::{Event, Extension, Limits, Role, StreamId};
use std::collections::{BTreeSet, VecDeque};

/// The part of the session that a stream uses.
pub(crate) struct Context<'a> {
    pub(crate) limits: &'a Limits,
    /// The largest decoded field section.
    pub(crate) field_section_bytes: u64,
    /// We offered extended CONNECT (a server).
    pub(crate) takes_extended_connect: bool,
    pub(crate) events: &'a mut VecDeque<Event>,
    /// The extensions that both sides offered.
    pub(crate) in_use: &'a BTreeSet<Extension>,
    pub(crate) reach: Reach,
    pub(crate) pushes: &'a mut Pushes,
    /// A priority signal that overtook this request; it follows the `Headers` event.
    pub(crate) overtaking: &'a mut Option<Event>,
    /// A tree frame named this request before it arrived.
    pub(crate) node_named: bool,
}

#[derive(Debug)]
pub(crate) struct RequestStream {
    reader: FrameReader,
    message: Incoming,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The header section is expected; after interim responses, the final one.
    Header,
    /// Content or trailers are expected.
    Content,
    /// The trailers have arrived.
    Trailed,
    /// Everything has arrived.
    Finished,
    /// In error or reset: further bytes are dropped.
    Abandoned,
}

#[derive(Debug)]
struct Incoming {
    stream: StreamId,
    role: Role,
    phase: Phase,
    /// A frame of a known type has arrived.
    begun: bool,
    header_seen: bool,
    /// The content belongs to another protocol.
    is_tunnel: bool,
    /// Bytes of the HEADERS frames so far, trailers included.
    headers_frame_bytes: u64,
    interim_responses: u32,
    empty_frames: u32,
    content_length: Option<u64>,
    /// Content bytes that the DATA frames have announced so far.
    content_bytes: u64,
    /// Payload lengths of the DATA frames that have begun since the last report; a server reports none.
    data_frames: Vec<u64>,
}

impl RequestStream {
    pub(crate) fn new(stream: StreamId, role: Role) -> Self {
        let message = Incoming {
            stream,
            role,
            phase: Phase::Header,
            begun: false,
            header_seen: false,
            is_tunnel: false,
            headers_frame_bytes: 0,
            interim_responses: 0,
            empty_frames: 0,
            content_length: None,
            content_bytes: 0,
            data_frames: Vec::new(),
        };
        Self { reader: FrameReader::default(), message }
    }

    pub(crate) fn receive(
        &mut self,
        bytes: &[u8],
        fin: bool,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        let outcome = self.read(bytes, fin, context);
        if outcome.is_err() {
            self.abandon();
        }
        outcome
    }

    /// Drops the stored and all future bytes. Returns `false` if nothing more was expected.
    pub(crate) fn abandon(&mut self) -> bool {
        if matches!(self.message.phase, Phase::Finished | Phase::Abandoned) {
            return false;
        }
        self.reader = FrameReader::default();
        self.message.phase = Phase::Abandoned;
        true
    }

    /// Bytes of an incomplete frame that is kept.
    pub(crate) fn unfinished_bytes(&self) -> u64 {
        self.reader.kept_bytes()
    }

    pub(crate) fn header_seen(&self) -> bool {
        self.message.header_seen
    }

    pub(crate) fn headers_frame_bytes(&self) -> u64 {
        self.message.headers_frame_bytes
    }

    pub(crate) fn awaits_header(&self) -> bool {
        self.message.phase == Phase::Header
    }

    fn read(
        &mut self,
        mut bytes: &[u8],
        fin: bool,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        let Self { reader, message } = self;
        if matches!(message.phase, Phase::Finished | Phase::Abandoned) {
            return Ok(());
        }
        loop {
            let piece =
                reader.next(&mut bytes, &mut |kind, length| message.admit(kind, length, context));
            let stream = message.stream;
            let begun = message.data_frames.drain(..);
            context
                .events
                .extend(begun.map(|payload_bytes| Event::DataFrame { stream, payload_bytes }));
            match piece? {
                Some(Piece::Whole(FrameKind::Extension(extension), payload)) => {
                    message.take_tree_frame(extension, &payload, context)?;
                }
                Some(Piece::Whole(FrameKind::PushPromise, payload)) => {
                    message.take_promise(&payload, context)?;
                }
                Some(Piece::Whole(_, section)) => message.take_section(&section, context)?,
                Some(Piece::Part(bytes)) => {
                    context.events.push_back(Event::Data { stream, bytes });
                }
                None => break,
            }
        }
        match fin {
            true if !reader.at_boundary() => {
                Code::Frame.fail("a stream ends inside a frame (RFC 9114, 7.1)")
            }
            true => message.finish(context.events),
            false => Ok(()),
        }
    }
}

impl Incoming {
    /// Decides whether a frame is allowed now (RFC 9114, 4.1 and 7.2).
    fn admit(
        &mut self,
        kind: FrameKind,
        length: u64,
        context: &Context<'_>,
    ) -> Result<Treatment, Error> {
        match kind {
            FrameKind::Unknown(_) => return self.skip(context.limits),
            FrameKind::Extension(it) if !context.in_use.contains(&it) => {
                return self.skip(context.limits);
            }
            FrameKind::Data if length == 0 => {
                self.skip(context.limits)?;
            }
            _ => {}
        }
        let is_first = !std::mem::replace(&mut self.begun, true);
        match (kind, self.phase) {
            (FrameKind::Extension(extension), _) => {
                self.admit_extension(extension, length, is_first)
            }
            (FrameKind::Headers, _) if self.is_tunnel => {
                unexpected("HEADERS after the HEADERS of an extended CONNECT (RFC 9114, 4.4)")
            }
            (FrameKind::Headers, Phase::Header | Phase::Content)
                if length <= context.limits.headers_payload_bytes =>
            {
                Ok(Treatment::Keep)
            }
            (FrameKind::Headers, Phase::Header | Phase::Content) => {
                Code::ExcessiveLoad.fail_stream(self.stream, "HEADERS is larger than our limit")
            }
            (FrameKind::Headers, _) => unexpected("HEADERS after the trailers (RFC 9114, 4.1)"),
            (FrameKind::Data, Phase::Content) => self.admit_data(length),
            (FrameKind::Data, Phase::Header) => unexpected("DATA before HEADERS (RFC 9114, 4.1)"),
            (FrameKind::Data, _) => unexpected("DATA after the trailers (RFC 9114, 4.1)"),
            (FrameKind::PushPromise, _) => self.admit_promise(length, context.limits),
            (FrameKind::ReservedHttp2, _) => unexpected("a frame of HTTP/2 (RFC 9114, 7.2.8)"),
            _ => unexpected("a frame of the control stream on a request stream (RFC 9114, 7.2)"),
        }
    }

    /// Skips a frame without content, unless there are too many.
    fn skip(&mut self, limits: &Limits) -> Result<Treatment, Error> {
        self.empty_frames += 1;
        if self.empty_frames <= limits.empty_frames {
            return Ok(Treatment::Skip);
        }
        Code::ExcessiveLoad
            .fail_stream(self.stream, "more frames that carry nothing than our limit")
    }

    fn admit_promise(&self, length: u64, limits: &Limits) -> Result<Treatment, Error> {
        if self.role == Role::Server {
            return unexpected("PUSH_PROMISE from a client (RFC 9114, 7.2.5)");
        }
        if is_push_stream(self.stream) {
            return unexpected("PUSH_PROMISE on a push stream (RFC 9114, 7.2.5)");
        }
        if length <= limits.headers_payload_bytes {
            return Ok(Treatment::Keep);
        }
        Code::ExcessiveLoad.fail("PUSH_PROMISE is larger than our limit")
    }

    fn take_promise(&mut self, payload: &[u8], context: &mut Context<'_>) -> Result<(), Error> {
        let (push, section) = context.pushes.read_promise(payload)?;
        check_line_count(self.stream, section, context.limits.field_lines)?;
        let headers = decode_section(self.stream, section, context.field_section_bytes)?;
        check_request(self.stream, &headers, false)?;
        context.pushes.promise(push, &headers)?;
        context.events.push_back(Event::PushPromise { stream: self.stream, push, headers });
        Ok(())
    }

    /// Accepts the only extension frame on request streams: a frame of draft 20's tree, as the first one.
    fn admit_extension(
        &mut self,
        extension: Extension,
        length: u64,
        is_first: bool,
    ) -> Result<Treatment, Error> {
        let may_begin_a_request =
            matches!(extension, Extension::TreeDraft20 | Extension::TreeZeroWeight);
        match self.role {
            Role::Client => unexpected("an extension's frame on a response (utmost)"),
            Role::Server if !may_begin_a_request => {
                unexpected("a frame of the control stream on a request stream (utmost)")
            }
            Role::Server if !is_first => {
                unexpected("PRIORITY after another frame of its request (draft-ietf-quic-http-20)")
            }
            Role::Server => extension.admit(length),
        }
    }

    /// Applies a tree frame. A signal that arrived earlier on the control stream takes precedence
    /// (draft-ietf-quic-http-20).
    fn take_tree_frame(
        &mut self,
        extension: Extension,
        payload: &[u8],
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        let frame = TreeFrame::parse(extension, payload)?;
        let said = frame.on_request(self.stream, context.reach)?;
        if context.overtaking.is_none() && !context.node_named {
            *context.overtaking = Some(said);
        }
        Ok(())
    }

    /// Rejects a DATA frame whose header already exceeds the announced content (RFC 9114, 4.1.2).
    fn admit_data(&mut self, length: u64) -> Result<Treatment, Error> {
        self.content_bytes = self.content_bytes.saturating_add(length);
        if self.role == Role::Client {
            self.data_frames.push(length);
        }
        match self.content_length {
            Some(announced) if self.content_bytes > announced => malformed(
                self.stream,
                "more content than content-length announces (RFC 9114, 4.1.2)",
            ),
            _ => Ok(Treatment::Pass),
        }
    }

    fn take_section(&mut self, section: &[u8], context: &mut Context<'_>) -> Result<(), Error> {
        let stream = self.stream;
        self.headers_frame_bytes += frame_bytes(section.len() as u64);
        check_line_count(stream, section, context.limits.field_lines)?;
        let headers = decode_section(stream, section, context.field_section_bytes)?;
        if self.phase == Phase::Content {
            check_trailers(stream, &headers)?;
            self.phase = Phase::Trailed;
            context.events.push_back(Event::Trailers { stream, headers });
            return Ok(());
        }
        let message = match self.role {
            Role::Server => check_request(stream, &headers, context.takes_extended_connect)?,
            Role::Client => check_response(stream, &headers)?,
        };
        if message.is_interim() {
            self.count_interim(context.limits)?;
        } else {
            self.content_length = message.content_length;
            self.phase = Phase::Content;
            self.header_seen = true;
            self.is_tunnel = message.is_extended_connect;
        }
        context.events.push_back(Event::Headers { stream, headers });
        context.events.extend(context.overtaking.take());
        Ok(())
    }

    fn count_interim(&mut self, limits: &Limits) -> Result<(), Error> {
        self.interim_responses += 1;
        if self.interim_responses <= limits.interim_responses {
            return Ok(());
        }
        Code::ExcessiveLoad.fail_stream(self.stream, "more interim responses than our limit")
    }

    /// The stream ended after a complete frame.
    fn finish(&mut self, events: &mut VecDeque<Event>) -> Result<(), Error> {
        let stream = self.stream;
        if self.phase == Phase::Header {
            return match self.role {
                Role::Server => Code::RequestIncomplete.fail_stream(
                    stream,
                    "the request ends before its header section (RFC 9114, 4.1)",
                ),
                Role::Client => {
                    malformed(stream, "the response ends before its header section (RFC 9114, 4.1)")
                }
            };
        }
        // A response to HEAD, or a 304, has a `content-length` and no content (RFC 9114, 4.1.2). The request's
        // method is unknown here.
        let may_be_bodiless = self.role == Role::Client && self.content_bytes == 0;
        if self.content_length.is_some_and(|said| said != self.content_bytes) && !may_be_bodiless {
            return malformed(
                stream,
                "less content than content-length announces (RFC 9114, 4.1.2)",
            );
        }
        self.phase = Phase::Finished;
        events.push_back(Event::Finished { stream });
        Ok(())
    }
}
