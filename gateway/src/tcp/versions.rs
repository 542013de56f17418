//! Maps later minor versions of HTTP/1 to the latest known one (RFC 9110, 2.5), because the library rejects
//! them.

use super::activity::Activity;
use crate::passes_on::passes_on;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The text before the minor version in the first line of a request.
const BEFORE: &[u8] = b" HTTP/1.";

/// A stream of HTTP/1 that limits the version of every request after the first response to 1.1.
pub(super) struct OneVersion<S> {
    stream: S,
    activity: Arc<Activity>,
    line: Line,
    /// The number of requests before the one whose first line was read last.
    asked: usize,
}

/// The first line of a request, as far as it has arrived.
#[derive(Debug, Clone, Copy)]
enum Line {
    /// The length of the prefix of [`BEFORE`] that its last bytes match.
    Comes(usize),
    Over,
}

impl<S> OneVersion<S> {
    pub(super) fn new(stream: S, activity: &Arc<Activity>) -> Self {
        Self { stream, activity: Arc::clone(activity), line: Line::Comes(0), asked: 0 }
    }
}

impl Line {
    /// Processes arrived bytes, and changes an unknown minor version.
    fn take(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            let Self::Comes(found) = *self else { return };
            if found == BEFORE.len() {
                *byte = if byte.is_ascii_digit() { (*byte).min(b'1') } else { *byte };
                *self = Self::Over;
            } else if *byte == BEFORE[found] {
                *self = Self::Comes(found + 1);
            } else {
                *self = Self::Comes(usize::from(*byte == BEFORE[0]));
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for OneVersion<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(asked) = self.activity.next_head().filter(|it| *it != self.asked) {
            (self.line, self.asked) = (Line::Comes(0), asked);
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.line.take(&mut buffer.filled_mut()[before..]);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for OneVersion<S> {
    passes_on!(it => it.stream; poll_write, poll_flush, poll_shutdown);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_minor_version_is_read_as_1_1_wherever_the_line_is_cut() {
        for (line, expected) in [
            ("GET / HTTP/1.2\r\nVia: HTTP/1.2\r\n", "GET / HTTP/1.1\r\nVia: HTTP/1.2\r\n"),
            ("\r\nGET /HTTP/1.3? HTTP/1.9\r\n", "\r\nGET /HTTP/1.3? HTTP/1.1\r\n"),
            ("GET / HTTP/1.0\r\n", "GET / HTTP/1.0\r\n"),
            ("GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\n"),
            ("GET /  HTTP/2.0\r\n", "GET /  HTTP/2.0\r\n"),
        ] {
            for cut in 0..line.len() {
                let mut bytes = line.as_bytes().to_vec();
                let mut first = Line::Comes(0);
                first.take(&mut bytes[..cut]);
                first.take(&mut bytes[cut..]);
                assert_eq!(String::from_utf8_lossy(&bytes), expected, "cut at {cut}");
            }
        }
    }
}
