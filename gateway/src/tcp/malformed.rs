//! Answers malformed HTTP/2 requests. The library resets their streams without an answer, while the other versions answer 400.
//! So this inserts an answer before such a reset (RFC 9113, 8.1.1).

use crate::passes_on::passes_on;
use server::http_date::http_date;
use std::collections::BTreeSet;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::SystemTime;
use tokio::io::{AsyncRead, AsyncWrite};

/// The bytes of a frame's head (RFC 9113, 4.1).
const HEAD_BYTES: usize = 9;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const END_STREAM_AND_HEADERS: u8 = 5;
const PROTOCOL_ERROR: [u8; 4] = [0, 0, 0, 1];
/// Streams recorded as answered. Older ones get no further answers.
const REMEMBERED: usize = 256;

/// A stream of HTTP/2 to which the library writes frames.
pub(super) struct Answering<S> {
    stream: S,
    clock: Option<fn() -> SystemTime>,
    /// Remaining bytes of the last frame.
    left: usize,
    answered: BTreeSet<u32>,
    /// The last stream that is no longer recorded.
    forgotten: u32,
    /// Bytes before the next frame.
    answer: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Frame {
    kind: u8,
    stream: u32,
    bytes: usize,
}

impl Frame {
    fn at(bytes: &[u8]) -> Option<Self> {
        let head: &[u8; HEAD_BYTES] = bytes.first_chunk()?;
        let [high, middle, low, kind, _, stream @ ..] = *head;
        let length = u32::from_be_bytes([0, high, middle, low]);
        let bytes = HEAD_BYTES + usize::try_from(length).ok()?;
        Some(Self { kind, stream: u32::from_be_bytes(stream), bytes })
    }
}

impl<S> Answering<S> {
    pub(super) fn new(stream: S, clock: Option<fn() -> SystemTime>) -> Self {
        let (answered, answer) = (BTreeSet::new(), Vec::new());
        Self { stream, clock, left: 0, answered, forgotten: 0, answer }
    }

    /// The number of bytes before an answer, and the stream of that answer.
    fn before_answer(&self, bytes: &[u8]) -> (usize, Option<u32>) {
        let mut offset = self.left;
        let mut begun = Vec::new();
        while let Some(frame) = bytes.get(offset..).and_then(Frame::at) {
            let is_new = frame.stream > self.forgotten
                && !self.answered.contains(&frame.stream)
                && !begun.contains(&frame.stream);
            let code = bytes.get(offset + HEAD_BYTES..offset + frame.bytes);
            if frame.kind == RST_STREAM && code == Some(&PROTOCOL_ERROR) && is_new {
                return (offset, Some(frame.stream));
            }
            if frame.kind == HEADERS {
                begun.push(frame.stream);
            }
            offset += frame.bytes;
        }
        (bytes.len(), None)
    }

    /// The first `count` bytes have been written.
    fn wrote(&mut self, bytes: &[u8], count: usize) {
        let mut offset = self.left;
        while offset < count {
            // The library writes a frame's head in one piece. If it did not, frames could no longer be followed.
            let Some(frame) = Frame::at(&bytes[offset..]) else {
                self.left = usize::MAX;
                return;
            };
            if frame.kind == HEADERS {
                self.remember(frame.stream);
            }
            offset += frame.bytes;
        }
        self.left = offset - count;
    }

    fn remember(&mut self, stream: u32) {
        self.answered.insert(stream);
        if self.answered.len() > REMEMBERED
            && let Some(oldest) = self.answered.pop_first()
        {
            self.forgotten = self.forgotten.max(oldest);
        }
    }
}

/// A complete response with status 400, in fields of the static table (RFC 7541, appendix A).
fn bad_request(stream: u32, clock: Option<fn() -> SystemTime>) -> Vec<u8> {
    let mut fields = b"\x8c\x0f\x27\x06utmost\x0f\x0d\x010".to_vec();
    if let Some(now) = clock {
        fields.extend(b"\x0f\x12\x1d");
        fields.extend(http_date(now()).bytes());
    }
    let [.., length] = fields.len().to_be_bytes();
    let head = [0, 0, length, HEADERS, END_STREAM_AND_HEADERS];
    [&head[..], &stream.to_be_bytes(), &fields].concat()
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Answering<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            while !self.answer.is_empty() {
                let this = &mut *self;
                let count = ready!(Pin::new(&mut this.stream).poll_write(context, &this.answer))?;
                if count == 0 {
                    return Poll::Ready(Ok(0));
                }
                self.answer.drain(..count);
            }
            let (before, answered) = self.before_answer(bytes);
            if let Some(stream) = answered.filter(|_| before == 0) {
                self.answer = bad_request(stream, self.clock);
                self.remember(stream);
                continue;
            }
            let count = ready!(Pin::new(&mut self.stream).poll_write(context, &bytes[..before]))?;
            self.wrote(bytes, count);
            return Poll::Ready(Ok(count));
        }
    }

    passes_on!(it => it.stream; poll_flush, poll_shutdown);
}

impl<S: AsyncRead + Unpin> AsyncRead for Answering<S> {
    passes_on!(it => it.stream; poll_read);
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    fn frame(kind: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).expect("small");
        [&[0, 0, length, kind, 0, 0, 0, 0, stream], payload].concat()
    }

    /// The output when the library writes these bytes, at most `piece` at a time.
    async fn written(bytes: &[u8], piece: usize) -> Vec<u8> {
        let mut stream = Answering::new(Vec::new(), None);
        for piece in bytes.chunks(piece) {
            stream.write_all(piece).await.expect("taken");
        }
        stream.stream
    }

    #[tokio::test]
    async fn a_stream_that_is_reset_without_an_answer_gets_one() {
        let reset = |stream, code| frame(RST_STREAM, stream, &[0, 0, 0, code]);
        let (head, data) = (frame(HEADERS, 1, b"\x88"), frame(0, 1, &[7; 100]));
        let before = [head.clone(), data, reset(1, 1), reset(3, 8)].concat();
        let all =
            [before.as_slice(), &reset(5, 1), &frame(HEADERS, 7, b"\x88"), &reset(5, 1)].concat();
        let answer = bad_request(5, None);
        let after = &all[before.len()..];
        assert_eq!(written(&all, all.len()).await, [&before, answer.as_slice(), after].concat());
        // In pieces that split frames after their heads.
        let first = head.len() + 20;
        let mut stream = Answering::new(Vec::new(), None);
        stream.write_all(&all[..first]).await.expect("taken");
        stream.write_all(&all[first..]).await.expect("taken");
        assert_eq!(stream.stream, written(&all, all.len()).await);
        // Without whole heads, nothing is added.
        assert_eq!(written(&all, 1).await, all);
    }

    #[test]
    fn an_answer_is_a_frame_of_fields_with_the_date() {
        let epoch = || SystemTime::UNIX_EPOCH;
        let answer = bad_request(5, Some(epoch));
        let frame = Frame::at(&answer).expect("a frame");
        assert_eq!((frame.kind, frame.stream, frame.bytes), (HEADERS, 5, answer.len()));
        assert!(answer.ends_with(b"\x0f\x12\x1dThu, 01 Jan 1970 00:00:00 GMT"));
    }
}
