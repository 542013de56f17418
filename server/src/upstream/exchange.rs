//! One request to the backend and its response, shared by a connection and a worker thread.

use crate::limits::BUFFER_BYTES;
use crate::site::Response;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Why the backend's response does not come or does not end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// No worker is free, and too many requests wait for one.
    #[error("too many requests under way")]
    Busy,
    /// No server listens at the address, or the name is unknown.
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    /// Connecting, answering or sending took too long.
    #[error("too slow: {0}")]
    TooSlow(String),
    /// It sent something that is not a response, or broke off.
    #[error("not a proper response: {0}")]
    Improper(String),
    /// HTTP/1.1 cannot express the request.
    #[error("the request cannot be passed on: {0}")]
    Unsayable(String),
    /// The client does not read, or is gone.
    #[error("the client does not read the response")]
    ClientGone,
}

impl Trouble {
    /// The status of the response that the server sends instead (RFC 9110, 15.6).
    pub fn status(&self) -> u16 {
        match self {
            Self::Busy => 503,
            Self::TooSlow(_) => 504,
            Self::Unsayable(_) => 400,
            Self::Unreachable(_) | Self::Improper(_) | Self::ClientGone => 502,
        }
    }
}

/// The request as the backend gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outbound {
    pub(super) method: String,
    /// Path and query.
    pub(super) path: String,
    pub(super) fields: Vec<(String, String)>,
    /// Whether a body follows.
    pub(super) has_body: bool,
}

/// A request under way to the backend.
pub struct Exchange {
    pub(super) request: Outbound,
    /// How long either side waits for the other.
    patience: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    upload: VecDeque<u8>,
    upload_ended: bool,
    /// The `Link` fields of the backend's first 103 response.
    hints: Option<Vec<String>>,
    hinted: bool,
    head: Option<Response>,
    body: VecDeque<u8>,
    /// Bytes of the body so far.
    body_bytes: u64,
    end: Option<Result<(), Trouble>>,
    abandoned: bool,
    /// Called when there is news for the connection.
    ring: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl Exchange {
    pub(super) fn new(request: Outbound, patience: Duration) -> Arc<Self> {
        Arc::new(Self { request, patience, state: Mutex::default(), changed: Condvar::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, state: MutexGuard<'_, State>) {
        let ring = state.ring.clone();
        drop(state);
        self.changed.notify_all();
        if let Some(ring) = ring {
            ring();
        }
    }

    /// Waits until `go` holds, or the connection gives up.
    fn wait(&self, go: impl Fn(&State) -> bool) -> Result<MutexGuard<'_, State>, Trouble> {
        let waits = |it: &mut State| !it.abandoned && !go(it);
        let waited = self.changed.wait_timeout_while(self.state(), self.patience, waits);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.abandoned || !go(&state) { Err(Trouble::ClientGone) } else { Ok(state) }
    }
}

/// The worker's side.
impl Exchange {
    pub(super) fn is_abandoned(&self) -> bool {
        self.state().abandoned
    }

    /// Early hints came; only the first are kept.
    pub(super) fn hint(&self, links: Vec<String>) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.hinted, true) {
            state.hints = Some(links);
        }
        self.tell(state);
    }

    pub(super) fn answer(&self, head: Response) {
        let mut state = self.state();
        state.head = Some(head);
        self.tell(state);
    }

    pub(super) fn body_bytes(&self) -> u64 {
        self.state().body_bytes
    }

    /// Adds to the response's body; waits while the buffer is full.
    pub(super) fn write_body(&self, bytes: &[u8]) -> Result<(), Trouble> {
        let mut state = self.wait(|it| it.body.len() < BUFFER_BYTES)?;
        state.body.extend(bytes);
        state.body_bytes += bytes.len() as u64;
        self.tell(state);
        Ok(())
    }

    pub(super) fn finish(&self, end: Result<(), Trouble>) {
        let mut state = self.state();
        state.end.get_or_insert(end);
        self.tell(state);
    }

    /// Reads the request's body; 0 at its end, an error if it breaks off.
    pub(super) fn read_upload(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let there = |it: &State| !it.upload.is_empty() || it.upload_ended;
        let mut state = self.wait(there).map_err(|_| io::ErrorKind::ConnectionAborted)?;
        let count = buffer.len().min(state.upload.len());
        for (to, from) in buffer.iter_mut().zip(state.upload.drain(..count)) {
            *to = from;
        }
        self.tell(state);
        Ok(count)
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Exchange").field("request", &self.request).finish_non_exhaustive()
    }
}

/// A piece of a response, in the order in which a worker brings them.
#[derive(Debug)]
pub(crate) enum Piece {
    /// The `Link` fields of the first early hints.
    Hints(Vec<String>),
    Head(Box<Response>),
    Body(Vec<u8>),
    /// The end, and whether the whole body came.
    End(Result<(), Trouble>),
}

/// The connection's side of an [`Exchange`]: a response that comes later. Dropping it gives the response up.
#[derive(Debug)]
pub struct Later(Arc<Exchange>);

impl Later {
    pub(super) fn new(exchange: Arc<Exchange>) -> Self {
        Self(exchange)
    }

    /// Calls `ring` from now on when there is news.
    pub(crate) fn watch(&self, ring: Arc<dyn Fn() + Send + Sync>) {
        self.0.state().ring = Some(ring);
    }

    /// The next piece, if one has come; at most `room` bytes of a body.
    pub(crate) fn next(&self, room: usize) -> Option<Piece> {
        let mut state = self.0.state();
        if let Some(links) = state.hints.take() {
            return Some(Piece::Hints(links));
        }
        if let Some(head) = state.head.take() {
            return Some(Piece::Head(head.into()));
        }
        if state.body.is_empty() {
            return state.end.take().map(Piece::End);
        }
        let count = room.min(state.body.len());
        let bytes: Vec<u8> = state.body.drain(..count).collect();
        drop(state);
        self.0.changed.notify_all();
        (count > 0).then_some(Piece::Body(bytes))
    }

    /// Adds to the request's body, even if there is no room ([`Self::has_room`]).
    pub(crate) fn give(&self, bytes: &[u8]) {
        let mut state = self.0.state();
        if self.0.request.has_body {
            state.upload.extend(bytes);
        }
        drop(state);
        self.0.changed.notify_all();
    }

    pub(crate) fn has_room(&self) -> bool {
        self.0.state().upload.len() < BUFFER_BYTES
    }

    pub(crate) fn end_upload(&self) {
        self.0.state().upload_ended = true;
        self.0.changed.notify_all();
    }
}

impl Drop for Later {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.abandoned = true;
        state.body = VecDeque::new();
        state.upload = VecDeque::new();
        drop(state);
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn exchange() -> (Arc<Exchange>, Later) {
        let request = Outbound {
            method: "POST".into(),
            path: "/".into(),
            fields: Vec::new(),
            has_body: true,
        };
        let exchange = Exchange::new(request, Duration::from_secs(60));
        (Arc::clone(&exchange), Later::new(exchange))
    }

    #[test]
    fn a_worker_waits_while_the_buffer_is_full() {
        let (worker, later) = exchange();
        let writer = thread::spawn(move || {
            for _ in 0..100 {
                worker.write_body(&[7; 10_000]).expect("taken");
            }
            worker.finish(Ok(()));
        });
        let (mut taken, mut most) = (0, 0);
        loop {
            most = most.max(later.0.state().body.len());
            match later.next(5000) {
                Some(Piece::Body(bytes)) => taken += bytes.len(),
                Some(_) => break,
                None => thread::yield_now(),
            }
        }
        writer.join().expect("no panic");
        assert_eq!(taken, 1_000_000);
        assert!(most < BUFFER_BYTES + 10_000, "{most}");
    }

    #[test]
    fn a_connection_that_is_gone_ends_the_wait() {
        let (worker, later) = exchange();
        worker.write_body(&vec![7; BUFFER_BYTES]).expect("room");
        let writer = thread::spawn(move || (worker.write_body(&[7]), worker.read_upload(&mut [0])));
        drop(later);
        let (written, read) = writer.join().expect("no panic");
        assert_eq!(written, Err(Trouble::ClientGone));
        assert_eq!(read.map_err(|it| it.kind()), Err(io::ErrorKind::ConnectionAborted));
    }

    #[test]
    fn an_upload_is_read_to_its_end() {
        let (worker, later) = exchange();
        later.give(b"ab");
        later.end_upload();
        let mut buffer = [0; 8];
        assert_eq!(worker.read_upload(&mut buffer).ok(), Some(2));
        assert_eq!(worker.read_upload(&mut buffer).ok(), Some(0));
    }

    #[test]
    fn trouble_after_the_head_follows_the_bytes_that_came() {
        let (worker, later) = exchange();
        worker.answer(Response::empty(200));
        worker.write_body(b"abc").expect("room");
        worker.finish(Err(Trouble::Improper("short".into())));
        assert!(matches!(later.next(2), Some(Piece::Head(head)) if head.status == 200));
        assert!(later.next(0).is_none());
        assert!(matches!(later.next(2), Some(Piece::Body(bytes)) if bytes == b"ab"));
        assert!(matches!(later.next(2), Some(Piece::Body(bytes)) if bytes == b"c"));
        assert!(matches!(later.next(2), Some(Piece::End(Err(Trouble::Improper(_))))));
    }
}
