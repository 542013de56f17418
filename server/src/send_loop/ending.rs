//! How responses end: in one place for all of them.

use super::SendLoop;
use crate::outgoing::Outgoing;
use http3::Code;
use schedulers::StreamId;

/// How a response ends on its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The transport has everything that is sent here.
    Sent,
    /// The client has stopped its stream, or broken a rule on it, so that the stream has already ended.
    Shut,
    /// Its stream is reset. What the client sends on it may continue.
    Reset(Code),
    /// Both directions of its stream are abandoned.
    GivenUp(Code),
    /// Its rest continues on another connection. The stream is reset.
    #[cfg(feature = "experiments")]
    Moved,
    /// Its connection is over.
    Disconnected,
}

impl Ending {
    /// Whether part of the response is no longer sent, although the client is connected.
    fn is_early(self) -> bool {
        matches!(self, Self::Shut | Self::Reset(_) | Self::GivenUp(_))
    }
}

impl SendLoop {
    /// Ends the response on `stream`, and its stream as far as `ending` requires. Returns the response, if it was in
    /// progress.
    pub(crate) fn finish(&mut self, stream: StreamId, ending: Ending) -> Option<Outgoing> {
        match ending {
            Ending::Sent | Ending::Shut | Ending::Disconnected => {}
            Ending::Reset(code) => self.reset(stream, code),
            #[cfg(feature = "experiments")]
            Ending::Moved => self.reset(stream, Code::RequestCancelled),
            Ending::GivenUp(code) => self.give_up(stream, code),
        }
        let outgoing = self.streams.take(stream)?;
        // The scheduler has known since the last byte was committed, or has ended as well.
        if !matches!(ending, Ending::Sent | Ending::Disconnected) {
            self.passage.remove(stream);
            self.close(stream);
        }
        if ending.is_early() {
            // A client is charged for responses that it cancels.
            self.unwanted += 1;
            #[cfg(feature = "experiments")]
            self.streams.note_stopped(stream);
        }
        Some(outgoing)
    }

    fn reset(&mut self, stream: StreamId, code: Code) {
        let write = quiche::Shutdown::Write;
        self.connection.quic.stream_shutdown(stream.0, write, code.value()).ok();
    }

    /// A promised response is cancelled, too: a reset that overtakes the header of its stream would leave the promise open
    /// (RFC 9114, 7.2.3).
    fn give_up(&mut self, stream: StreamId, code: Code) {
        if let Some(push) = self.streams.get(stream).and_then(|it| it.push) {
            let (control, frame) = self.connection.session.cancel_push(push);
            self.connection.send(control, frame, false);
        }
        self.connection.shut(stream, code);
        self.flush();
    }
}
