//! When a connection was last useful, and how long it is kept without further activity.

use crate::limits::{FAREWELL, HEAD_BYTES};
use crate::passes_on::passes_on;
use parking_lot::Mutex;
use server::Limits;
use server::account::{Budget, Charge};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::{sleep, sleep_until};

/// Events of a connection that count for its limits.
#[derive(Debug)]
pub(super) struct Activity {
    state: Mutex<State>,
    limits: Limits,
    /// Signals that the connection must be closed sooner than expected.
    sooner: Notify,
    /// A body was answered before its end, so the client may still be sending it.
    left_unread: AtomicBool,
}

#[derive(Debug)]
struct State {
    /// The last useful event. Bytes that a client sends while nothing is in progress are not useful.
    last: Instant,
    /// Responses under way.
    busy: usize,
    /// Requests so far.
    asked: usize,
    /// When the first byte of the next request arrived, if requests follow one another.
    head_since: Option<Instant>,
    /// HTTP/1: while nothing is in progress, only a request's head can arrive.
    one_by_one: bool,
    /// For bytes that bring nothing.
    budget: Budget,
    is_useless: bool,
    /// Bytes wait until the client takes some.
    is_blocked: bool,
    /// The server ends since then.
    draining: Option<Instant>,
}

impl Activity {
    pub(super) fn new(limits: &Limits, now: Instant) -> Self {
        let state = Mutex::new(State::new(false, limits, now));
        let (sooner, left_unread) = (Notify::new(), AtomicBool::new(false));
        Self { state, limits: limits.clone(), sooner, left_unread }
    }

    /// The handshake is over; all earlier bytes belonged to it.
    pub(super) fn begin(&self, one_by_one: bool, now: Instant) {
        *self.state.lock() = State::new(one_by_one, &self.limits, now);
    }

    fn read(&self, bytes: usize, now: Instant) {
        let mut state = self.state.lock();
        state.is_useless = !state.budget.spend(bytes as u64, now);
        let is_new_head = state.busy == 0 && state.head_since.is_none();
        if state.busy > 0 {
            state.last = now;
        } else {
            state.head_since.get_or_insert(now);
        }
        if is_new_head || state.is_useless {
            self.sooner.notify_one();
        }
    }

    /// These bytes of a body were useful, and so are as many bytes of framing.
    pub(super) fn used(&self, bytes: usize) {
        let mut state = self.state.lock();
        state.budget.give_back(2 * bytes as u64);
    }

    /// Bytes were written, which the client acknowledges. While nothing is in progress, they only answer useless frames, such as PING,
    /// and do not keep the connection.
    fn wrote(&self, bytes: usize, now: Instant) {
        let mut state = self.state.lock();
        state.budget.give_back(bytes as u64 / WRITTEN_PER_USEFUL);
        if state.busy > 0 {
            state.last = now;
        }
    }

    /// A request is here.
    pub(super) fn asked(&self, now: Instant) {
        let mut state = self.state.lock();
        (state.last, state.head_since) = (now, None);
        state.busy += 1;
        state.asked += 1;
        state.budget.give_back(HEAD_BYTES);
    }

    /// Its response has ended.
    pub(super) fn answered(&self, now: Instant) {
        let mut state = self.state.lock();
        state.last = now;
        state.busy -= 1;
    }

    /// The body of a request is not read to its end.
    pub(super) fn left_unread(&self) {
        self.left_unread.store(true, Ordering::Relaxed);
    }

    /// Whether the client may be sending bytes that nobody reads: the rest of a body or of a rejected head.
    pub(super) fn may_send_more(&self) -> bool {
        self.left_unread.load(Ordering::Relaxed) || self.state.lock().head_since.is_some()
    }

    /// The server shuts down: from now on, a connection is kept only for requests in progress.
    pub(super) fn drain(&self, now: Instant) {
        self.state.lock().draining = Some(now);
        self.sooner.notify_one();
    }

    /// The number of requests so far, if none is in progress: the head of the next one is awaited.
    pub(super) fn next_head(&self) -> Option<usize> {
        let state = self.state.lock();
        (state.busy == 0).then_some(state.asked)
    }

    /// Ends when the system has taken all of the library's output, as far as windows allow.
    pub(super) async fn flushed(&self) {
        loop {
            // The library's turn.
            yield_now().await;
            if !self.state.lock().is_blocked {
                return;
            }
            sleep(BLOCKED_PAUSE).await;
        }
    }

    fn blocked(&self, is_blocked: bool) {
        self.state.lock().is_blocked = is_blocked;
    }

    /// When the connection is closed, unless something happens.
    fn until(&self) -> Instant {
        let state = self.state.lock();
        if state.is_useless {
            return state.last;
        }
        if let Some(end) = state.end_of_drain() {
            return end;
        }
        if state.busy > 0 {
            // HTTP/2 responses are abandoned one by one. What the library holds of them remains.
            let more = if state.one_by_one { Duration::ZERO } else { self.limits.idle };
            return state.last + self.limits.stalled + more;
        }
        let head = state.head_since.filter(|_| state.one_by_one).map(|it| it + self.limits.head);
        let idle = state.last + self.limits.idle;
        head.map_or(idle, |it| it.min(idle))
    }

    /// Ends when the connection must be closed.
    pub(super) async fn silence(&self) {
        loop {
            let until = self.until();
            if until <= now() {
                return;
            }
            tokio::select! {
                () = sleep_until(until.into()) => {}
                () = self.sooner.notified() => {}
            }
        }
    }
}

impl State {
    fn new(one_by_one: bool, limits: &Limits, now: Instant) -> Self {
        // Unread bytes in HTTP/2 windows may still be useful.
        let unread = if one_by_one { 0 } else { limits.receive_bytes };
        let unread = u32::try_from(unread).unwrap_or(u32::MAX);
        let [at_once, each_second] = Charge::UselessTcp.rate(limits);
        let budget = Budget::new(at_once.saturating_add(unread), each_second);
        Self {
            last: now,
            busy: 0,
            asked: 0,
            head_since: None,
            one_by_one,
            budget,
            is_useless: false,
            is_blocked: false,
            draining: None,
        }
    }

    /// When an idle connection ends during a shutdown. An incomplete head is dropped. An HTTP/2 client can still acknowledge.
    fn end_of_drain(&self) -> Option<Instant> {
        let since = self.draining?.max(self.last);
        let is_over = self.busy == 0 && !self.is_blocked;
        match (is_over, self.one_by_one) {
            (true, true) => self.head_since.map(|_| since),
            (true, false) => Some(since + FAREWELL),
            (false, _) => None,
        }
    }
}

/// How long a blocked connection is left alone.
const BLOCKED_PAUSE: Duration = Duration::from_millis(10);

/// A client sends at most one acknowledgement for this many written bytes.
const WRITTEN_PER_USEFUL: u64 = 16;

/// The time on the threads of these connections.
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

pub(super) struct Noted<S> {
    stream: S,
    activity: Arc<Activity>,
}

impl<S> Noted<S> {
    pub(super) fn new(stream: S, activity: &Arc<Activity>) -> Self {
        Self { stream, activity: Arc::clone(activity) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Noted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.activity.read(buffer.filled().len() - before, now());
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Noted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.activity.blocked(written.is_pending());
        if let Poll::Ready(Ok(bytes @ 1..)) = written {
            self.activity.wrote(bytes, now());
        }
        written
    }

    passes_on!(it => it.stream; poll_flush, poll_shutdown);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    fn begun(one_by_one: bool) -> (Activity, Instant) {
        let start = now();
        let activity = Activity::new(&Limits::default(), start);
        activity.begin(one_by_one, start);
        (activity, start)
    }

    #[test]
    fn a_connection_without_a_request_is_kept_for_30_s_whatever_its_client_sends() {
        let (activity, start) = begun(false);
        activity.read(1, at(start, 20));
        assert_eq!(activity.until(), at(start, 30));
    }

    #[test]
    fn the_head_of_a_request_of_http_1_has_10_s_from_its_first_byte_on() {
        let (activity, start) = begun(true);
        assert_eq!(activity.until(), at(start, 30));
        activity.read(1, at(start, 5));
        activity.read(1, at(start, 14));
        assert_eq!(activity.until(), at(start, 15));
        activity.asked(at(start, 14));
        activity.answered(at(start, 16));
        assert_eq!(activity.until(), at(start, 46));
    }

    #[test]
    fn a_connection_with_a_response_under_way_must_move_within_60_s_or_90_s_with_http_2() {
        for (one_by_one, more) in [(true, 60), (false, 90)] {
            let (activity, start) = begun(one_by_one);
            activity.asked(at(start, 1));
            activity.wrote(1, at(start, 31));
            assert_eq!(activity.until(), at(start, 31 + more));
            activity.read(1, at(start, 50));
            assert_eq!(activity.until(), at(start, 50 + more));
        }
    }

    #[test]
    fn a_server_that_ends_keeps_no_half_head_and_waits_a_second_for_http_2() {
        let (activity, start) = begun(true);
        activity.read(1, start);
        activity.drain(at(start, 2));
        assert_eq!(activity.until(), at(start, 2));
        // Written bytes of an earlier response still wait for the client.
        activity.blocked(true);
        assert_eq!(activity.until(), at(start, 10));
        let (activity, start) = begun(false);
        activity.asked(start);
        activity.drain(at(start, 2));
        assert_eq!(activity.until(), at(start, 90));
        activity.answered(at(start, 3));
        assert_eq!(activity.until(), at(start, 4));
    }

    #[test]
    fn pings_do_not_keep_a_connection() {
        let (activity, start) = begun(false);
        activity.read(17, at(start, 20));
        activity.wrote(17, at(start, 20));
        assert_eq!(activity.until(), at(start, 30));
    }

    /// Frames that bring nothing cost the server time.
    #[test]
    fn a_flood_of_bytes_that_bring_nothing_ends_the_connection() {
        let (activity, start) = begun(false);
        let most = 2 << 20;
        activity.read(most, start);
        assert_eq!(activity.until(), at(start, 30));
        activity.read(1, start);
        assert_eq!(activity.until(), start);
        // A body is useful, and so are requests.
        activity.used(most / 4);
        activity.read(most / 4, start);
        assert_eq!(activity.until(), at(start, 30));
    }
}
