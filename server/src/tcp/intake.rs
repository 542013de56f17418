//! What a connection of HTTP/2 reads: a few bytes a turn, so that others have theirs, and so that its requests are counted before the
//! library decodes more.

use super::answer::Guest;
use super::frames::Frames;
use crate::account::Share;
use crate::limits::{TURN_BYTES, UNFINISHED_BYTE_BYTES, UNFINISHED_HEAD_BYTES};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf, Take};

/// What was read, as far as it counts.
pub(super) struct Intake {
    guest: Guest,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    frames: Frames,
    /// Bytes of this turn.
    bytes: usize,
    /// The library has decoded all that came, and wants more.
    wants_more: bool,
    /// For a head that has not come whole, and how many bytes of it are counted.
    unfinished: Option<(usize, Share)>,
    has_no_room: bool,
}

impl Intake {
    pub(super) fn new(guest: &Guest) -> Arc<Self> {
        Arc::new(Self { guest: guest.clone(), state: Mutex::default() })
    }

    /// The library has passed a request on.
    pub(super) fn accepted(&self, stream: u32) {
        self.state().frames.accepted(stream);
    }

    /// All requests that came are under way. What the heads count for that the library refused; `None`: a head that goes on takes more memory than there is.
    pub(super) fn end_turn(&self, context: &Context<'_>) -> Option<u64> {
        let mut state = self.state();
        if std::mem::take(&mut state.bytes) >= TURN_BYTES {
            context.waker().wake_by_ref();
        }
        let refused = if state.wants_more { state.frames.refused() } else { 0 };
        (!state.has_no_room).then_some(refused)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn came(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.bytes += bytes.len();
        state.wants_more = false;
        state.frames.take(bytes);
        let unfinished = state.frames.unfinished_bytes();
        if state.unfinished.as_ref().map_or(0, |it| it.0) == unfinished {
            return;
        }
        state.unfinished = None;
        if unfinished > 0 {
            let bytes = (unfinished * UNFINISHED_BYTE_BYTES).min(UNFINISHED_HEAD_BYTES);
            let share = self.guest.decoded.take(self.guest.client(), bytes);
            state.has_no_room |= share.is_none();
            state.unfinished = share.map(|it| (unfinished, it));
        }
    }
}

/// A stream that is read by turns.
pub(super) struct ByTurns<S> {
    stream: Take<S>,
    intake: Arc<Intake>,
}

impl<S: AsyncRead> ByTurns<S> {
    pub(super) fn new(stream: S, intake: &Arc<Intake>) -> Self {
        Self { stream: stream.take(0), intake: Arc::clone(intake) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ByTurns<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let left = TURN_BYTES.saturating_sub(self.intake.state().bytes);
        let before = buffer.filled().len();
        let read = if left == 0 {
            Poll::Pending
        } else {
            self.stream.set_limit(left as u64);
            Pin::new(&mut self.stream).poll_read(context, buffer)
        };
        match read {
            Poll::Pending => self.intake.state().wants_more = true,
            Poll::Ready(_) => self.intake.came(&buffer.filled()[before..]),
        }
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ByTurns<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(self.stream.get_mut()).poll_write(context, bytes)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(self.stream.get_mut()).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(self.stream.get_mut()).poll_shutdown(context)
    }
}
