//! The send buffer: bytes that were taken from the scheduler and can no longer be reordered, first in,
//! first out, before the transport. It represents the buffers below a server that the paper's section 5
//! and the `notsent_lowat` study show to delay late, urgent responses.

use schedulers::StreamId;
use std::collections::VecDeque;

/// Runs of committed bytes, oldest first.
#[derive(Debug, Default)]
pub struct SendBuffer {
    runs: VecDeque<(StreamId, u64)>,
    bytes: u64,
}

impl SendBuffer {
    /// Bytes in it.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Commits `bytes` of `stream` after all others.
    pub fn push(&mut self, stream: StreamId, bytes: u64) {
        self.bytes += bytes;
        match self.runs.back_mut() {
            Some((last, run)) if *last == stream => *run += bytes,
            _ => self.runs.push_back((stream, bytes)),
        }
    }

    /// The oldest run, unless flow control holds its stream back (`blocked`): then the oldest run of
    /// another stream.
    pub fn front(&self, blocked: impl Fn(StreamId) -> bool) -> Option<(StreamId, u64)> {
        self.runs.iter().copied().find(|(stream, _)| !blocked(*stream))
    }

    /// `bytes` of the oldest run of `stream` were passed to the transport.
    pub fn pop(&mut self, stream: StreamId, bytes: u64) {
        let Some(place) = self.runs.iter().position(|(it, _)| *it == stream) else { return };
        let taken = bytes.min(self.runs[place].1);
        self.runs[place].1 -= taken;
        self.bytes -= taken;
        if self.runs[place].1 == 0 {
            self.runs.remove(place);
        }
    }

    /// Forgets a stream that was reset.
    pub fn remove(&mut self, stream: StreamId) {
        self.runs.retain(|(it, _)| *it != stream);
        self.bytes = self.runs.iter().map(|(_, bytes)| bytes).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_committed_first_goes_first_unless_its_stream_is_held_back() {
        let mut buffer = SendBuffer::default();
        buffer.push(StreamId(4), 1000);
        buffer.push(StreamId(0), 500);
        buffer.push(StreamId(4), 200);
        assert_eq!(buffer.front(|_| false), Some((StreamId(4), 1000)));
        assert_eq!(buffer.front(|stream| stream == StreamId(4)), Some((StreamId(0), 500)));
        buffer.pop(StreamId(4), 1000);
        assert_eq!(buffer.front(|_| false), Some((StreamId(0), 500)));
        buffer.remove(StreamId(0));
        assert_eq!((buffer.front(|_| false), buffer.bytes()), (Some((StreamId(4), 200)), 200));
    }
}
