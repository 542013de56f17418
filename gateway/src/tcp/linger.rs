//! Continues to read after a response that ended before its request.
//!
//! A client that is still sending may not read the answer yet. Closing a connection with unread bytes resets it, and a reset
//! discards data that the client has not read (RFC 9112, 9.6). Resetting an HTTP/2 stream too soon hides its response from some
//! clients, such as curl 7.88. So the server keeps reading for a while, as long as nginx does (`lingering_close`).

use super::activity::{Activity, now};
use super::answer::Upload;
use crate::limits::{LINGERING, LINGERING_BYTES, LINGERING_SILENCE, PIECE_BYTES};
use crate::passes_on::passes_on;
use bytes::Bytes;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep, timeout};

/// A stream that ends by closing its own direction, and keeps reading if the client may send more.
pub(super) struct Lingering<S> {
    stream: S,
    activity: Arc<Activity>,
    rest: Option<Rest>,
}

/// Bytes that may still be read.
struct Rest {
    left_bytes: usize,
    until: Instant,
    /// Ends when the client has been silent for too long, or at the deadline.
    end: Pin<Box<Sleep>>,
    buffer: Box<[u8]>,
}

impl<S> Lingering<S> {
    pub(super) fn new(stream: S, activity: &Arc<Activity>) -> Self {
        Self { stream, activity: Arc::clone(activity), rest: None }
    }
}

impl Rest {
    fn new() -> Self {
        let (until, end) = (now() + LINGERING, Box::pin(sleep(LINGERING_SILENCE)));
        Self { left_bytes: LINGERING_BYTES, until, end, buffer: vec![0; PIECE_BYTES].into() }
    }

    /// Ready when nothing more is read.
    fn poll(
        &mut self,
        mut stream: Pin<&mut impl AsyncRead>,
        activity: &Activity,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        while self.end.as_mut().poll(context).is_pending() {
            let mut buffer = ReadBuf::new(&mut self.buffer);
            let read = ready!(stream.as_mut().poll_read(context, &mut buffer));
            let count = buffer.filled().len();
            activity.used(count);
            if read.is_err() || count == 0 || count > self.left_bytes {
                break;
            }
            self.left_bytes -= count;
            self.end.as_mut().reset(self.until.min(now() + LINGERING_SILENCE).into());
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lingering<S> {
    passes_on!(it => it.stream; poll_read);
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<S> {
    passes_on!(it => it.stream; poll_write, poll_flush);

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, activity, rest } = self.get_mut();
        let mut stream = Pin::new(stream);
        if rest.is_none() {
            ready!(stream.as_mut().poll_shutdown(context))?;
            if !activity.may_send_more() {
                return Poll::Ready(Ok(()));
            }
            // It counts as in progress, like a response.
            activity.asked(now());
        }
        rest.get_or_insert_with(Rest::new).poll(stream, activity, context).map(Ok)
    }
}

/// Reads and discards a body, on a connection that continues.
pub(super) async fn read_on(mut upload: impl Upload, activity: Arc<Activity>) {
    let mut left_bytes = LINGERING_BYTES;
    let reading = async {
        while let Ok(Ok(Some(frame))) = timeout(LINGERING_SILENCE, upload.next()).await {
            let count = frame.data_ref().map_or(0, Bytes::len);
            activity.used(count);
            left_bytes = left_bytes.saturating_sub(count);
            if left_bytes == 0 {
                return;
            }
        }
    };
    timeout(LINGERING, reading).await.ok();
}
