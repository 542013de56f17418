//! Requests of experiments that join connections: responses that leave and arrive, and whether the window is
//! full.

use super::next::Next;
use super::{Ending, SendLoop, window};
use crate::outgoing::Outgoing;
use schedulers::{Call, Resource, StreamId};

impl SendLoop {
    /// Continues a response from another connection.
    pub(crate) fn go_on(
        &mut self,
        stream: StreamId,
        resource: &Resource,
        urgency: u8,
        rest: Outgoing,
    ) {
        self.call(Call::Open(stream, *resource));
        self.streams.begin(stream, resource, urgency, rest);
        self.update_ready(stream);
    }

    /// Ends the response here at its last committed byte, and returns the rest, if there is any.
    pub(crate) fn cut(&mut self, stream: StreamId) -> Option<Outgoing> {
        let rest = self.streams.cut(stream)?;
        self.close(stream);
        if self.streams.outgoing(stream).is_some_and(Outgoing::is_sent) {
            self.finish(stream, Ending::Sent);
        }
        Some(rest)
    }

    /// The response goes no further than `after_bytes` of its stream until it is decided whether it moves.
    pub(crate) fn pause(&mut self, stream: StreamId, after_bytes: Option<u64>) {
        if self.streams.pause(stream, after_bytes) {
            self.update_ready(stream);
        }
    }

    /// Whether a full window held back the last packet, and nothing has arrived since.
    pub(crate) fn is_window_full(&self) -> bool {
        matches!(self.decided, Some(Next::Poke(None) | Next::Idle))
    }

    pub(crate) fn path_has_queue(&self) -> bool {
        window::path_has_queue(&self.connection.quic)
    }
}
