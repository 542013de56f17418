//! A later response, shared by the connection that requested it and the task that makes it: the task of a backend, or one of
//! this server.

mod later;

pub use later::{Later, Piece};

use super::fields::texts;
use super::{BackendFailure, Response};
use crate::limits::{BUFFER_BYTES, INTERIM_RESPONSES};
use bytes::Bytes;
use http::StatusCode;
use http::header::HeaderMap;
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A request in progress, and its response.
pub struct Exchange {
    /// It opens a WebSocket: the request's body is passed on as it arrives.
    pub is_tunnel: bool,
    /// Bytes that the request's body may have.
    most_bytes: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    upload: VecDeque<u8>,
    /// Bytes of the request's body that have arrived.
    uploaded: u64,
    upload_ended: bool,
    /// The request's trailer fields, which follow its body.
    upload_trailers: HeaderMap,
    turns: Turns,
    /// The `Link` fields of the backend's first 103 response.
    hints: Option<Vec<String>>,
    hinted: bool,
    /// Interim responses so far.
    interim: usize,
    head: Option<Response>,
    body: VecDeque<u8>,
    /// The end, with the trailer fields.
    end: Option<Result<HeaderMap, BackendFailure>>,
    progress: Progress,
    /// Why the task must stop.
    stopped: Option<BackendFailure>,
    /// The task that carries the exchange out.
    carrier: Option<Waker>,
    /// The backend's connection, while it waits for more of the request's body.
    reader: Option<Waker>,
    /// Called when there is news for the connection.
    ring: Option<Arc<dyn Fn() + Send + Sync>>,
}

/// How far the response has arrived, whether it was taken or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Progress {
    #[default]
    Asked,
    /// Its head has arrived.
    Answered,
    /// Its end has arrived.
    Finished,
}

/// How far the backend's connection has processed the request's body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Turns {
    /// How often it has taken some.
    taken: u64,
    /// It waits for the client.
    pub awaits_client: bool,
}

/// A piece of a request's body.
#[derive(Debug)]
pub enum UploadPiece {
    /// Its next bytes.
    Bytes(Bytes),
    /// The trailer fields behind it.
    Trailers(HeaderMap),
}

impl Exchange {
    /// A request whose body may have at most `most_bytes`, unless it opens a WebSocket.
    pub fn new(is_tunnel: bool, most_bytes: u64) -> Arc<Self> {
        Arc::new(Self { is_tunnel, most_bytes, state: Mutex::default() })
    }

    /// There is news for the connection.
    fn ring(state: MutexGuard<'_, State>) {
        let ring = state.ring.clone();
        drop(state);
        if let Some(ring) = ring {
            ring();
        }
    }
}

impl State {
    /// There is news for the task and for the backend's connection.
    fn wake(&mut self) {
        for waker in [self.carrier.take(), self.reader.take()].into_iter().flatten() {
            waker.wake();
        }
    }

    fn stop(&mut self, trouble: BackendFailure) {
        self.stopped.get_or_insert(trouble);
        self.wake();
    }
}

/// The backend's side. Only one task calls the polling functions, except [`Self::poll_upload`].
impl Exchange {
    /// Ends the exchange from anywhere.
    pub fn stop(&self, trouble: BackendFailure) {
        self.state.lock().stop(trouble);
    }

    /// Ready when the exchange must stop, with the reason.
    pub fn poll_stopped(&self, context: &mut Context<'_>) -> Poll<BackendFailure> {
        self.poll(context, |state| state.stopped.clone())
    }

    /// Ready when the request's body fills the buffer, or has arrived completely; then `true`.
    pub fn poll_gathered(&self, context: &mut Context<'_>) -> Poll<bool> {
        let is_gathered = |it: &State| it.upload_ended || it.upload.len() >= BUFFER_BYTES;
        self.poll(context, |state| is_gathered(state).then_some(state.upload_ended))
    }

    /// Ready when the backend's connection has turned to the request's body since `before`.
    pub fn poll_turns(&self, before: Turns, context: &mut Context<'_>) -> Poll<Turns> {
        self.poll(context, |state| Some(state.turns).filter(|it| *it != before))
    }

    /// How far the backend's connection has processed the request's body.
    pub fn turns(&self) -> Turns {
        self.state.lock().turns
    }

    /// Ready when there is room for more of the response's body.
    pub fn poll_room(&self, context: &mut Context<'_>) -> Poll<()> {
        self.poll(context, |state| (state.body.len() < BUFFER_BYTES).then_some(()))
    }

    fn poll<T>(&self, context: &mut Context<'_>, ready: impl Fn(&State) -> Option<T>) -> Poll<T> {
        let mut state = self.state.lock();
        let Some(ready) = ready(&state) else {
            state.carrier = Some(context.waker().clone());
            return Poll::Pending;
        };
        Poll::Ready(ready)
    }

    /// The bytes of the request's body that have arrived and are not taken.
    pub fn upload_bytes(&self) -> usize {
        self.state.lock().upload.len()
    }

    /// The names of the trailer fields of the request's body that have arrived and are not taken.
    pub fn trailer_names(&self) -> Vec<String> {
        self.state.lock().upload_trailers.keys().map(ToString::to_string).collect()
    }

    /// The next bytes of the request's body, then its trailer fields, if any; `None` at its end.
    pub fn poll_upload(&self, context: &mut Context<'_>) -> Poll<Option<UploadPiece>> {
        let mut state = self.state.lock();
        let (front, _) = state.upload.as_slices();
        let bytes = Bytes::copy_from_slice(front);
        let awaits_client = bytes.is_empty() && !state.upload_ended;
        let did_await = std::mem::replace(&mut state.turns.awaits_client, awaits_client);
        if awaits_client {
            // The carrier asks again whenever it is woken, so it is woken only if something has changed.
            if !did_await {
                state.wake();
            }
            state.reader = Some(context.waker().clone());
            return Poll::Pending;
        }
        state.turns.taken += 1;
        state.upload.drain(..bytes.len());
        state.wake();
        if bytes.is_empty() {
            let trailers = std::mem::take(&mut state.upload_trailers);
            return Poll::Ready((!trailers.is_empty()).then(|| UploadPiece::Trailers(trailers)));
        }
        Self::ring(state);
        Poll::Ready(Some(UploadPiece::Bytes(bytes)))
    }

    /// An interim response arrived. Only the first early hints are kept.
    pub fn interim(&self, status: StatusCode, headers: &HeaderMap) {
        let mut state = self.state.lock();
        state.interim += 1;
        if state.interim > INTERIM_RESPONSES {
            let cause = format!("more than {INTERIM_RESPONSES} interim responses");
            state.stop(BackendFailure::Improper(cause));
        } else if status == StatusCode::EARLY_HINTS && !std::mem::replace(&mut state.hinted, true) {
            state.hints = Some(texts(headers, "link").map(str::to_owned).collect());
        }
        Self::ring(state);
    }

    /// The head of the response has arrived.
    pub fn answer(&self, head: Response) {
        let mut state = self.state.lock();
        (state.head, state.progress) = (Some(head), Progress::Answered);
        Self::ring(state);
    }

    /// Whether the response has begun.
    pub fn is_answered(&self) -> bool {
        self.state.lock().progress != Progress::Asked
    }

    /// Adds to the response's body, even if there is no room ([`Self::poll_room`]).
    pub fn write_body(&self, bytes: &[u8]) {
        let mut state = self.state.lock();
        state.body.extend(bytes);
        Self::ring(state);
    }

    /// The response ends, with these trailer fields.
    pub fn finish(&self, end: Result<HeaderMap, BackendFailure>) {
        let mut state = self.state.lock();
        state.end.get_or_insert(end);
        state.progress = Progress::Finished;
        state.wake();
        Self::ring(state);
    }

    /// A response that is available as a whole.
    pub fn answer_whole(&self, response: Response) {
        self.answer(response);
        self.finish(Ok(HeaderMap::new()));
    }

    /// Whether some of the request's body has arrived.
    pub fn has_body(&self) -> bool {
        self.state.lock().uploaded > 0
    }

    /// Whether nothing more of the request's body is needed.
    pub fn is_over(&self) -> bool {
        let state = self.state.lock();
        state.progress == Progress::Finished || state.stopped.is_some()
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Exchange").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::fields::fields;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    fn exchange() -> (Arc<Exchange>, Later) {
        let exchange = Exchange::new(false, u64::MAX);
        (Arc::clone(&exchange), Later::new(exchange))
    }

    /// The part that is ready now.
    fn now<T>(poll: impl FnOnce(&mut Context<'_>) -> Poll<T>) -> Option<T> {
        match poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(ready) => Some(ready),
            Poll::Pending => None,
        }
    }

    /// The next part of the request's body, for the backend's connection.
    fn uploaded(backend: &Exchange) -> String {
        match now(|it| backend.poll_upload(it)) {
            None => "nothing yet".to_owned(),
            Some(None) => "the end".to_owned(),
            Some(Some(UploadPiece::Bytes(bytes))) => String::from_utf8_lossy(&bytes).into_owned(),
            Some(Some(UploadPiece::Trailers(fields))) => format!("{fields:?}"),
        }
    }

    /// RFC 9114, 4.1. Client: sends trailers, or gets them from a backend. Server: they go on behind the body, without fields
    /// that do not trail (RFC 9110, 6.5.1).
    #[test]
    fn trailers_follow_the_body_and_its_end_follows_them() {
        let (backend, later) = exchange();
        later.give(b"ab");
        later.trail(&fields([("x-sum", "1"), ("host", "b")]));
        later.end_upload();
        assert_eq!(backend.trailer_names(), ["x-sum"]);
        assert_eq!(uploaded(&backend), "ab");
        assert_eq!(uploaded(&backend), r#"{"x-sum": "1"}"#);
        assert_eq!(uploaded(&backend), "the end");
    }

    #[test]
    fn the_backend_waits_while_the_buffer_is_full() {
        let (backend, later) = exchange();
        backend.write_body(&vec![7; BUFFER_BYTES]);
        assert_eq!(now(|it| backend.poll_room(it)), None);
        assert!(matches!(later.next(1), Some(Piece::Body(bytes)) if bytes == [7]));
        assert_eq!(now(|it| backend.poll_room(it)), Some(()));
    }

    #[test]
    fn a_body_is_gathered_when_it_ends_or_fills_the_buffer() {
        let (backend, later) = exchange();
        later.give(&vec![7; BUFFER_BYTES - 1]);
        assert_eq!(now(|it| backend.poll_gathered(it)), None);
        later.give(&[7]);
        assert_eq!(now(|it| backend.poll_gathered(it)), Some(false));
        later.end_upload();
        assert_eq!(now(|it| backend.poll_gathered(it)), Some(true));
    }

    #[test]
    fn a_connection_that_is_gone_stops_the_exchange() {
        let (backend, later) = exchange();
        assert_eq!(now(|it| backend.poll_stopped(it)), None);
        drop(later);
        assert_eq!(now(|it| backend.poll_stopped(it)), Some(BackendFailure::ClientGone));
    }

    #[test]
    fn the_bell_of_a_response_that_is_over_is_gone_although_the_backend_goes_on() {
        let (backend, later) = exchange();
        let bell = Arc::new(());
        let rung = Arc::clone(&bell);
        later.watch(Arc::new(move || assert_eq!(*rung, ())));
        drop(later);
        assert_eq!(Arc::strong_count(&bell), 1);
        drop(backend);
    }

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_carrier_that_waits_for_the_client_is_not_woken_by_its_own_asking() {
        let (backend, later) = exchange();
        let wakes = Arc::new(Wakes::default());
        let carrier = Waker::from(Arc::clone(&wakes));
        let wakes_after = |rounds: usize| {
            for _ in 0..rounds {
                assert_eq!(uploaded(&backend), "nothing yet");
                let turns = backend.turns();
                assert!(backend.poll_turns(turns, &mut Context::from_waker(&carrier)).is_pending());
            }
            wakes.0.load(Ordering::Relaxed)
        };
        assert_eq!(wakes_after(1), 0);
        assert_eq!(wakes_after(100), 0);
        later.give(b"ab");
        assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn an_upload_is_read_to_its_end() {
        let (backend, later) = exchange();
        assert_eq!(uploaded(&backend), "nothing yet");
        assert!(backend.turns().awaits_client);
        later.give(b"ab");
        assert_eq!(uploaded(&backend), "ab");
        assert!(!backend.turns().awaits_client);
        later.end_upload();
        assert_eq!(uploaded(&backend), "the end");
    }

    #[test]
    fn the_first_early_hints_count_and_the_17th_interim_response_stops_the_exchange() {
        let (backend, later) = exchange();
        let interim = |status: StatusCode, link: &'static str| {
            let headers = fields([("link", link)]);
            backend.interim(status, &headers);
        };
        interim(StatusCode::PROCESSING, "0");
        interim(StatusCode::EARLY_HINTS, "a");
        interim(StatusCode::EARLY_HINTS, "b");
        assert!(matches!(later.next(1), Some(Piece::Hints(links)) if links == ["a"]));
        assert!(later.next(1).is_none());
        (3..16).for_each(|_| interim(StatusCode::PROCESSING, "0"));
        assert_eq!(now(|it| backend.poll_stopped(it)), None);
        interim(StatusCode::PROCESSING, "0");
        let expected = BackendFailure::Improper("more than 16 interim responses".to_owned());
        assert_eq!(now(|it| backend.poll_stopped(it)), Some(expected));
    }

    #[test]
    fn trouble_after_the_head_follows_the_bytes_that_came() {
        let (backend, later) = exchange();
        backend.answer(Response::empty(200));
        backend.write_body(b"abc");
        backend.finish(Err(BackendFailure::Improper("short".into())));
        assert!(matches!(later.next(2), Some(Piece::Head(head)) if head.status == 200));
        assert!(later.next(0).is_none());
        assert!(matches!(later.next(2), Some(Piece::Body(bytes)) if bytes == b"ab"));
        assert!(matches!(later.next(2), Some(Piece::Body(bytes)) if bytes == b"c"));
        assert!(matches!(later.next(2), Some(Piece::End(Err(BackendFailure::Improper(_))))));
    }
}
