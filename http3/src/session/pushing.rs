//! Server push on one connection (RFC 9114, 4.6).

use super::{Role, Session, control_stream};
use crate::error::{Code, Error};
use crate::frame;
use crate::pushes::{id_frame, promise_frame, stream_header};
use crate::qpack::encode_section;
use crate::{Event, Header, PushId, StreamId};

impl Session {
    /// A `PUSH_PROMISE` frame of a request (as a server), for the request stream whose response refers to it, before the
    /// bytes that do. None: the client allows no more pushes now. The response goes on a unidirectional stream that
    /// begins with [`Self::push_stream_header`]. From now on the client may signal about the push.
    pub fn promise(&mut self, headers: &[Header]) -> Result<Option<(PushId, Vec<u8>)>, Error> {
        if self.pushes_left() == 0 {
            return Ok(None);
        }
        self.check_section(headers)?;
        let push = PushId(self.pushes_end);
        let promise = promise_frame(push, &encode_section(headers)?);
        self.pushes_end += 1;
        Ok(Some((push, promise)))
    }

    /// How many pushes the client still allows (at a server): its `MAX_PUSH_ID`, less what was promised; none after its
    /// GOAWAY said so.
    pub fn pushes_left(&self) -> u64 {
        let refused_from = self.control.goaway_id().unwrap_or(u64::MAX);
        let end = if self.role == Role::Server { self.control.push_ids_end() } else { 0 };
        end.min(refused_from).saturating_sub(self.pushes_end)
    }

    /// The first bytes of the stream of a push.
    pub fn push_stream_header(push: PushId) -> Vec<u8> {
        stream_header(push)
    }

    /// A `MAX_PUSH_ID` frame for our control stream (as a client): pushes with the IDs below `end`, at least 1, may come.
    /// What was allowed stays allowed.
    pub fn allow_pushes(&mut self, end: u64) -> (StreamId, Vec<u8>) {
        (control_stream(self.role), self.pushes.allow(end.max(1)))
    }

    /// A `CANCEL_PUSH` frame for our control stream: we do not want the push (a client), or will not send it (a server).
    pub fn cancel_push(&self, PushId(push): PushId) -> (StreamId, Vec<u8>) {
        (control_stream(self.role), id_frame(frame::CANCEL_PUSH, push))
    }

    pub(super) fn open_push(&mut self, stream: StreamId, push: u64) -> Result<(), Error> {
        let push = self.pushes.open(push)?;
        self.unidirectional.is_push(stream, push);
        self.events.push_back(Event::PushStream { stream, push });
        Ok(())
    }

    /// A server that cancels names what we allowed, a client what we promised (RFC 9114, 7.2.3).
    pub(super) fn take_cancel_push(&mut self, id: u64) -> Result<(), Error> {
        let push = match self.role {
            Role::Client => self.pushes.check_cancelled(id)?,
            Role::Server if id < self.pushes_end => PushId(id),
            Role::Server => {
                return Err(Error::connection(
                    Code::Id,
                    "CANCEL_PUSH of a push that was never promised (RFC 9114, 7.2.3)",
                ));
            }
        };
        self.events.push_back(Event::PushCancelled { push });
        Ok(())
    }
}
