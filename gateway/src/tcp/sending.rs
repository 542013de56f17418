//! Passes responses to the system in few TLS records, and these in few system calls.
//!
//! The HTTP/2 library writes a frame's head and payload separately, and flushes after each frame. TLS makes a record of each
//! write, and each record would be a system call, which costs more than encrypting it.

use super::announcement::Announcement;
use crate::limits::{GATHERED_BYTES, RECORD_BYTES};
use crate::passes_on::passes_on;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream below TLS that collects bytes until a flush or until there are many.
pub(super) struct Gathering<S> {
    stream: S,
    gathered: Vec<u8>,
    /// How many of them the system has.
    sent: usize,
    /// The counter of waiting bytes.
    unsent_bytes: Arc<AtomicUsize>,
}

impl<S: AsyncWrite + Unpin> Gathering<S> {
    pub(super) fn new(stream: S, unsent_bytes: Arc<AtomicUsize>) -> Self {
        Self { stream, gathered: Vec::new(), sent: 0, unsent_bytes }
    }

    /// Ready when nothing waits. Frees the memory, because most connections are idle.
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.gathered.len() {
            let rest = &self.gathered[self.sent..];
            match ready!(Pin::new(&mut self.stream).poll_write(context, rest))? {
                0 => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                count => self.sent += count,
            }
        }
        (self.gathered, self.sent) = (Vec::new(), 0);
        self.unsent_bytes.store(0, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gathering<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.gathered.len() + bytes.len() > GATHERED_BYTES {
            ready!(self.poll_send(context))?;
        }
        if self.gathered.is_empty() && bytes.len() > RECORD_BYTES / 2 {
            self.gathered.reserve(GATHERED_BYTES.max(bytes.len()));
        }
        self.gathered.extend_from_slice(bytes);
        self.unsent_bytes.store(self.gathered.len(), Ordering::Relaxed);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gathering<S> {
    passes_on!(it => it.stream; poll_read);
}

/// A stream above TLS to which the HTTP/2 library writes. It joins consecutive writes, and delays a flush until the library writes
/// nothing more in its next turn. Between two frames of the library, it sends the announcement of HTTP/3.
pub(super) struct Joining<S> {
    stream: S,
    unflushed: Unflushed,
    announcement: Arc<Announcement>,
    /// The rest of a frame of ours, which the library's bytes follow.
    begun: Vec<u8>,
}

/// Whether a flush is pending, and since when. A turn of the library begins with a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unflushed {
    Nothing,
    OfThisTurn,
    OfLastTurn,
}

impl<S> Joining<S> {
    pub(super) fn new(stream: S, announcement: &Arc<Announcement>) -> Self {
        let announcement = Arc::clone(announcement);
        Self { stream, unflushed: Unflushed::Nothing, announcement, begun: Vec::new() }
    }
}

impl<S: AsyncWrite + Unpin> Joining<S> {
    /// Ready when no frame of ours is incomplete. One begins only if the library has flushed, which it does behind whole frames.
    fn poll_announce(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.unflushed == Unflushed::Nothing
            && let Some(frame) = self.announcement.take()
        {
            self.begun = frame;
        }
        while !self.begun.is_empty() {
            let count = ready!(Pin::new(&mut self.stream).poll_write(context, &self.begun))?;
            self.unflushed = Unflushed::OfLastTurn;
            // Its memory goes with the last part.
            self.begun = self.begun.split_off(count);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Joining<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_announce(context))?;
        let count = ready!(Pin::new(&mut self.stream).poll_write(context, bytes))?;
        if self.unflushed == Unflushed::Nothing {
            self.unflushed = Unflushed::OfThisTurn;
        }
        Poll::Ready(Ok(count))
    }

    /// Writes the bytes that fit into a record.
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [bytes] = slices {
            return self.poll_write(context, bytes);
        }
        let mut record = Vec::with_capacity(RECORD_BYTES);
        for slice in slices {
            let room = RECORD_BYTES - record.len();
            record.extend_from_slice(&slice[..slice.len().min(room)]);
        }
        self.poll_write(context, &record)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.unflushed == Unflushed::OfThisTurn {
            // The next turn flushes it.
            context.waker().wake_by_ref();
            return Poll::Ready(Ok(()));
        }
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.unflushed = Unflushed::Nothing;
        // One that fell due meanwhile has no other occasion.
        ready!(self.poll_announce(context))?;
        if self.unflushed != Unflushed::Nothing {
            ready!(Pin::new(&mut self.stream).poll_flush(context))?;
            self.unflushed = Unflushed::Nothing;
        }
        Poll::Ready(Ok(()))
    }

    passes_on!(it => it.stream; poll_shutdown);
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Joining<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.unflushed == Unflushed::OfThisTurn {
            self.unflushed = Unflushed::OfLastTurn;
        }
        // The library flushes after it has read.
        if let Poll::Ready(announced) = self.poll_announce(context) {
            announced?;
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::{Wake, Waker};

    /// Records what it accepts, as long as there is room.
    #[derive(Default)]
    struct System {
        writes: Vec<Vec<u8>>,
        flushes: usize,
        room: usize,
    }

    impl AsyncWrite for System {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let count = bytes.len().min(self.room);
            if count == 0 {
                return Poll::Pending;
            }
            self.room -= count;
            self.writes.push(bytes[..count].to_vec());
            Poll::Ready(Ok(count))
        }

        fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.flushes += 1;
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncRead for System {
        fn poll_read(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    fn system(room: usize) -> System {
        System { room, ..System::default() }
    }

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn lengths(writes: &[Vec<u8>]) -> Vec<usize> {
        writes.iter().map(Vec::len).collect()
    }

    #[test]
    fn records_go_in_one_call_when_they_are_flushed_or_many() {
        let mut context = Context::from_waker(Waker::noop());
        let mut stream = Gathering::new(system(usize::MAX), Arc::default());
        let mut write = |stream: &mut Gathering<System>, count: usize| {
            let written = Pin::new(stream).poll_write(&mut context, &vec![1; count]);
            assert!(matches!(written, Poll::Ready(Ok(it)) if it == count));
        };
        write(&mut stream, 100);
        write(&mut stream, RECORD_BYTES + 22);
        assert!(stream.stream.writes.is_empty());
        let flushed = Pin::new(&mut stream).poll_flush(&mut Context::from_waker(Waker::noop()));
        assert!(flushed.is_ready());
        assert_eq!(lengths(&stream.stream.writes), [100 + RECORD_BYTES + 22]);
        assert_eq!((stream.stream.flushes, stream.gathered.capacity()), (1, 0));
        for _ in 0..4 {
            write(&mut stream, RECORD_BYTES + 22);
        }
        assert_eq!(lengths(&stream.stream.writes[1..]), [3 * (RECORD_BYTES + 22)]);
    }

    #[test]
    fn what_the_system_does_not_take_waits_in_order_and_lets_no_more_wait() {
        let mut context = Context::from_waker(Waker::noop());
        let mut stream = Gathering::new(system(10), Arc::default());
        let mut write = |stream: &mut Gathering<System>, bytes: &[u8]| {
            Pin::new(stream).poll_write(&mut context, bytes).is_ready()
        };
        let all: Vec<u8> = (0..=u8::MAX).cycle().take(GATHERED_BYTES).collect();
        assert!(write(&mut stream, &all));
        assert!(!write(&mut stream, &[7]));
        stream.stream.room = usize::MAX;
        assert!(write(&mut stream, &[7]));
        assert_eq!(stream.stream.writes.concat(), all);
        assert_eq!(stream.gathered, [7]);
    }

    #[test]
    fn the_head_of_a_frame_and_its_payload_are_one_record() {
        let mut context = Context::from_waker(Waker::noop());
        let mut stream = Joining::new(system(usize::MAX), &Arc::default());
        let (head, payload) = ([1; 9], vec![2; RECORD_BYTES]);
        let mut write = |slices: &[&[u8]]| {
            let slices: Vec<_> = slices.iter().map(|it| IoSlice::new(it)).collect();
            assert!(Pin::new(&mut stream).poll_write_vectored(&mut context, &slices).is_ready());
        };
        write(&[&head, &payload[..100]]);
        write(&[&head, &payload]);
        write(&[&payload]);
        assert_eq!(stream.stream.writes[0], [&head[..], &payload[..100]].concat());
        assert_eq!(lengths(&stream.stream.writes), [109, RECORD_BYTES, RECORD_BYTES]);
    }

    #[test]
    fn what_is_written_is_flushed_in_the_next_turn_at_the_latest() {
        let wakes = Arc::<Wakes>::default();
        let waker = Arc::clone(&wakes).into();
        let mut context = Context::from_waker(&waker);
        let mut stream = Joining::new(system(usize::MAX), &Arc::default());
        // Flushes and wakes after each turn, in which the library writes `writes` times.
        let turns = [2, 0, 1, 1, 0, 0].map(|writes| {
            let mut stream = Pin::new(&mut stream);
            let mut buffer = ReadBuf::new(&mut []);
            assert!(stream.as_mut().poll_read(&mut context, &mut buffer).is_pending());
            for _ in 0..writes {
                assert!(stream.as_mut().poll_write(&mut context, &[0]).is_ready());
                assert!(stream.as_mut().poll_flush(&mut context).is_ready());
            }
            assert!(stream.as_mut().poll_flush(&mut context).is_ready());
            (stream.stream.flushes, wakes.0.load(Ordering::Relaxed))
        });
        assert_eq!(turns, [(0, 3), (1, 3), (1, 5), (3, 5), (4, 5), (5, 5)]);
    }
    #[test]
    fn an_announcement_waits_for_the_end_of_a_frame_and_nothing_comes_between_its_parts() {
        let mut context = Context::from_waker(Waker::noop());
        let announcement = Arc::new(Announcement::due(b"announced"));
        let mut stream = Joining::new(system(7), &announcement);
        let mut stream = Pin::new(&mut stream);
        let mut turn = |stream: &mut Pin<&mut Joining<System>>, bytes: &[u8]| {
            let mut buffer = ReadBuf::new(&mut []);
            assert!(stream.as_mut().poll_read(&mut context, &mut buffer).is_pending());
            stream.as_mut().poll_write(&mut context, bytes).is_ready()
        };
        stream.unflushed = Unflushed::OfThisTurn;
        assert!(turn(&mut stream, b"end"));
        stream.unflushed = Unflushed::Nothing;
        assert!(!turn(&mut stream, b"next"), "the announcement is incomplete");
        stream.stream.room = 100;
        assert!(turn(&mut stream, b"next"));
        assert_eq!(stream.stream.writes.concat(), b"endannouncednext");
    }
    #[test]
    fn an_announcement_that_falls_due_while_a_flush_waits_goes_with_it() {
        let mut context = Context::from_waker(Waker::noop());
        let announcement = Arc::new(Announcement::due(b"announced"));
        let mut stream = Joining::new(system(100), &announcement);
        stream.unflushed = Unflushed::OfLastTurn;
        let mut stream = Pin::new(&mut stream);
        assert!(stream.as_mut().poll_flush(&mut context).is_ready());
        assert_eq!(stream.stream.writes.concat(), b"announced");
        assert_eq!(stream.stream.flushes, 2);
    }
}
