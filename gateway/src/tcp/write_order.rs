//! Decides which response of an HTTP/2 connection writes next, as late as the system allows.
//!
//! Bytes in the library and the system cannot be taken back. So a response waits for its turn with every piece, and a turn comes only
//! when earlier bytes have left this process and the system has few unsent ones (`TCP_NOTSENT_LOWAT`). The scheduler, the signals and
//! the operator's directives are the same as over HTTP/3.

use super::activity::now;
use super::outlet::Outlet;
use crate::limits::{EARLY_UPDATES, GATHERED_BYTES, LEAST_PIECE_BYTES, PIECE_BYTES, PROMPT_ROOMS};
use http3::log::Piece;
use parking_lot::Mutex;
use qlog::streamer::QlogStreamer;
use ring::rand::{SecureRandom, SystemRandom};
use schedulers::{Call, Priority, Signal, StreamId};
use server::order::{Log, Order};
use server::site::fields::{Line, to_http3};
use server::site::{Request, Response};
use server::{Downloads, Event, Observers, Options, PageSignals, QlogFolder};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use tokio::sync::Notify;

pub(super) struct WriteOrder {
    options: Arc<Options>,
    state: Mutex<State>,
    /// No response is in progress any more.
    idle: Notify,
}

struct State {
    log: Option<QlogStreamer>,
    order: Order,
    signals: PageSignals,
    /// Bytes that may be written before the system is polled again.
    room_bytes: usize,
    /// The responses that have had turns with this room.
    turns: TurnsOfRoom,
    /// How often in a row the system accepted more immediately.
    prompt: u32,
    responses: BTreeMap<StreamId, Progress>,
    /// The last stream with a request.
    last: Option<StreamId>,
    /// Priorities of requests that have not arrived, or whose responses are not placed yet; they override the field (RFC 9218, 7.1).
    early_updates: BTreeMap<StreamId, Signal>,
    /// The task that writes to the system.
    connection: Waker,
}

/// A response, from its request to its end.
#[derive(Default)]
struct Progress {
    /// The scheduler knows it.
    is_placed: bool,
    directive: Option<Priority>,
    /// The task that waits for its turn.
    waits: Option<Waker>,
    wanted_bytes: usize,
    /// The bytes that it may write, if its turn has come.
    granted_bytes: Option<usize>,
    is_ready: bool,
    /// Whether it is or can become a download.
    download: Download,
    written_bytes: u64,
    begun: Option<Instant>,
}

/// The turns since the system was last polled. The library itself alternates between responses that have several frames in it, so
/// after a second piece of a response, others wait until the library is empty.
#[derive(Default)]
struct TurnsOfRoom {
    to: Vec<StreamId>,
    again: Option<StreamId>,
}

impl TurnsOfRoom {
    /// Whether a turn of `next` can follow; if so, records it.
    fn is_followed_by(&mut self, next: StreamId) -> bool {
        if self.again.is_some_and(|it| it != next) {
            return false;
        }
        if self.to.contains(&next) {
            self.again = Some(next);
        } else {
            self.to.push(next);
        }
        true
    }

    /// A response that has ended has no more turns. Room for a piece is room for the whole of thousands of short ones.
    fn forget(&mut self, ended: StreamId) {
        self.to.retain(|it| *it != ended);
    }
}

#[derive(Default, PartialEq, Eq)]
enum Download {
    #[default]
    NotYet,
    Is,
    /// It is a tunnel.
    Never,
}

impl WriteOrder {
    /// Creates an order, which is logged together with its events if there is a log.
    pub(super) fn new(options: &Arc<Options>, mut log: Option<QlogStreamer>) -> Arc<Self> {
        let mut order = Order::new(&options.scheme, log.as_mut());
        order.settle();
        let state = State {
            log,
            order,
            signals: PageSignals::new(options.signals),
            room_bytes: PIECE_BYTES,
            turns: TurnsOfRoom::default(),
            prompt: 0,
            responses: BTreeMap::new(),
            last: None,
            early_updates: BTreeMap::new(),
            connection: Waker::noop().clone(),
        };
        let (options, state) = (Arc::clone(options), Mutex::new(state));
        Arc::new(Self { options, state, idle: Notify::new() })
    }

    pub(super) fn signalled(&self, signal: Signal) {
        self.state.lock().signalled(signal);
    }

    /// A request has arrived on `stream`.
    pub(super) fn begin(self: &Arc<Self>, stream: StreamId) -> Writer {
        let mut state = self.state.lock();
        state.last = state.last.max(Some(stream));
        state.responses.insert(stream, Progress::default());
        Writer { stream, order: Arc::clone(self) }
    }

    /// Waits until no response is in progress.
    pub(super) async fn idle(&self) {
        loop {
            let idle = self.idle.notified();
            if self.state.lock().responses.is_empty() {
                return;
            }
            idle.await;
        }
    }

    /// Gives responses their turns if the system accepts more. Otherwise wakes the task when it does.
    pub(super) fn make_room(&self, outlet: &Outlet, context: &mut Context<'_>) {
        let mut state = self.state.lock();
        state.connection.clone_from(context.waker());
        let is_full = state.room_bytes > 0 || outlet.unsent_bytes() > 0;
        if is_full || state.order.pick().is_none() || state.is_writing() {
            return;
        }
        if outlet.poll_writable(context).is_pending() {
            state.prompt = 0;
            return;
        }
        state.prompt = state.prompt.saturating_add(1);
        // A system that accepts everything at once also sends it at once, and each call is expensive.
        state.room_bytes = if state.prompt > PROMPT_ROOMS { GATHERED_BYTES } else { PIECE_BYTES };
        state.turns = TurnsOfRoom::default();
        state.grant();
    }
}

impl State {
    fn call(&mut self, call: Call) {
        self.order.call(call, self.log.as_mut());
    }

    fn signalled(&mut self, signal: Signal) {
        let about = signal.stream();
        let response = about.and_then(|it| self.responses.get(&it));
        match (signal, about) {
            (Signal::Extensible { .. }, Some(stream))
                if !response.is_some_and(|it| it.is_placed) =>
            {
                if response.is_some() || self.last.is_none_or(|it| it < stream) {
                    self.early_updates.insert(stream, signal);
                    if self.early_updates.len() > EARLY_UPDATES {
                        self.early_updates.pop_first();
                    }
                }
            }
            _ => {
                let directive = response.and_then(|it| it.directive);
                if let Some(heard) = self.signals.used().heard(signal, directive) {
                    self.call(Call::Signal(heard));
                }
            }
        }
    }

    /// Begins a page, which has its own scheme and use of signals from its document on, if nothing else is in progress.
    fn begin_page(&mut self, response: &Response, options: &Options) {
        if self.responses.values().any(|it| it.is_placed) {
            return self.signals.begin_page(None);
        }
        self.signals.begin_page(Some(response.signals.unwrap_or(options.signals)));
        let scheme = response.scheme.as_ref().unwrap_or(&options.scheme);
        if self.order.scheme() != scheme.name {
            self.order.adopt(scheme, self.log.as_mut());
        }
    }

    fn set_ready(&mut self, stream: StreamId, is_ready: bool) {
        let Some(progress) = self.responses.get_mut(&stream) else { return };
        if progress.is_ready != is_ready {
            progress.is_ready = is_ready;
            self.call(Call::SetReady(stream, is_ready));
        }
    }

    /// The number of `wanted_bytes` that the response may write, if it is its turn.
    fn turn(
        &mut self,
        stream: StreamId,
        wanted_bytes: usize,
        context: &Context<'_>,
    ) -> Poll<usize> {
        let Some(progress) = self.responses.get_mut(&stream) else { return Poll::Pending };
        if progress.granted_bytes.is_none() {
            progress.wanted_bytes = wanted_bytes;
            self.set_ready(stream, true);
            self.grant();
        }
        let Some(progress) = self.responses.get_mut(&stream) else { return Poll::Pending };
        progress.waits = Some(context.waker().clone());
        progress.granted_bytes.map_or(Poll::Pending, Poll::Ready)
    }

    /// Gives responses their turns, as long as there is room. Wakes them in order, and all before the connection, which then writes
    /// all their bytes at once.
    fn grant(&mut self) {
        while let Some(next) = self.order.pick() {
            if self.room_bytes == 0 {
                return self.connection.wake_by_ref();
            }
            let Some(progress) = self.responses.get_mut(&next) else { return };
            if progress.granted_bytes.is_some() {
                return;
            }
            if !self.turns.is_followed_by(next) {
                self.room_bytes = 0;
                return self.connection.wake_by_ref();
            }
            let bytes = progress.wanted_bytes.min(self.room_bytes).min(PIECE_BYTES);
            progress.granted_bytes = Some(bytes);
            progress.waits.take().iter().for_each(Waker::wake_by_ref);
            let left = self.room_bytes - bytes;
            self.room_bytes = if left < LEAST_PIECE_BYTES { 0 } else { left };
            // A response that may write more continues before others.
            if self.room_bytes == 0 || bytes == PIECE_BYTES {
                return;
            }
            self.set_ready(next, false);
        }
    }

    /// Whether a response has an unused turn.
    fn is_writing(&self) -> bool {
        self.responses.values().any(|it| it.granted_bytes.is_some())
    }

    /// The response has used its turn, or does not need it.
    fn end_turn(&mut self, stream: StreamId) {
        if let Some(progress) = self.responses.get_mut(&stream) {
            progress.granted_bytes = None;
        }
    }

    fn rest(&mut self, stream: StreamId) {
        self.end_turn(stream);
        self.set_ready(stream, false);
        self.grant();
    }

    fn wrote(&mut self, stream: StreamId, bytes: usize, ends: bool, downloads: Option<Downloads>) {
        self.end_turn(stream);
        self.call(Call::Sent(stream, bytes as u64));
        let Some(progress) = self.responses.get_mut(&stream) else { return };
        let piece = Piece { offset: progress.written_bytes, bytes: bytes as u64, ends };
        http3::log::tcp_data(self.log.as_mut(), CREATED, stream, piece);
        progress.written_bytes += bytes as u64;
        if ends {
            return;
        }
        let age = now().saturating_duration_since(*progress.begun.get_or_insert_with(now));
        let has_become = downloads.is_some_and(|it| it.has(progress.written_bytes, age));
        if has_become && progress.download == Download::NotYet {
            progress.download = Download::Is;
            self.call(Call::Signal(Downloads::place(stream)));
        }
    }
}

/// A response's place in the order, which it leaves when this is dropped.
pub(super) struct Writer {
    stream: StreamId,
    order: Arc<WriteOrder>,
}

impl Writer {
    /// The site has answered.
    pub(super) fn place(&self, request: &Request, response: &Response) {
        let stream = self.stream;
        let mut state = self.order.state.lock();
        log_request(state.log.as_mut(), stream, request);
        if request.begins_page(&response.resource) {
            state.begin_page(response, &self.order.options);
        }
        let directive = state.signals.directive(response.directive);
        if let Some(progress) = state.responses.get_mut(&stream) {
            progress.is_placed = true;
            progress.directive = directive;
            if request.upgrade.is_some() {
                progress.download = Download::Never;
            }
        }
        let resource = state.signals.used().resource(&response.resource, request.metadata());
        state.call(Call::Open(stream, resource));
        if let Some(said) = request.priority().or(directive.map(|_| Priority::default())) {
            let (urgency, incremental) = (said.urgency_or_default(), said.incremental_or_default());
            state.signalled(Signal::Extensible { stream, urgency, incremental });
        }
        if let Some(update) = state.early_updates.remove(&stream) {
            state.signalled(update);
        }
    }

    /// Waits for the response's turn to write some of `wanted_bytes`; returns how many.
    pub(super) async fn turn(&self, wanted_bytes: usize) -> usize {
        poll_fn(|context| self.order.state.lock().turn(self.stream, wanted_bytes, context)).await
    }

    pub(super) fn wrote(&self, bytes: usize, ends: bool) {
        self.order.state.lock().wrote(self.stream, bytes, ends, self.order.options.downloads);
    }

    /// Its head is sent; `ends`: nothing follows.
    pub(super) fn head(&self, head: &hyper::Response<()>, ends: bool) {
        let mut state = self.order.state.lock();
        let Some(log) = &mut state.log else { return };
        let status = head.status();
        let fields = std::iter::once((":status", status.as_str().as_bytes()));
        let fields: Vec<Line<'_>> = fields.chain(to_http3(head.headers())).collect();
        http3::log::tcp_head(Some(log), CREATED, self.stream, &fields);
        if ends {
            let nothing = Piece { offset: 0, bytes: 0, ends };
            http3::log::tcp_data(Some(log), CREATED, self.stream, nothing);
        }
    }

    /// It cannot write now, so others may.
    pub(super) fn rest(&self) {
        self.order.state.lock().rest(self.stream);
    }

    /// Waits for something that it needs before it can write.
    pub(super) async fn resting<T>(&self, wait: impl Future<Output = T>) -> T {
        let mut wait = pin!(wait);
        poll_fn(|context| {
            let ready = wait.as_mut().poll(context);
            if ready.is_pending() {
                self.rest();
            }
            ready
        })
        .await
    }
}

/// The events of a server's log over HTTP/2. The client's log uses the same.
const CREATED: &str = "http2:frame_created";
const PARSED: &str = "http2:frame_parsed";

fn log_request(log: Log<'_>, stream: StreamId, request: &Request) {
    let Some(log) = log else { return };
    let pseudo = [
        (":method", &request.method),
        (":scheme", &request.scheme),
        (":authority", &request.authority),
        (":path", &request.path),
    ];
    let pseudo = pseudo.into_iter().map(|(name, value)| (name, value.as_bytes()));
    let fields: Vec<Line<'_>> = pseudo.chain(to_http3(&request.fields)).collect();
    http3::log::tcp_head(Some(log), PARSED, stream, &fields);
}

/// The log of a connection in this folder, if there is room for it.
pub(super) fn log(folder: &QlogFolder, observers: &Observers) -> Option<QlogStreamer> {
    let mut name = [0; 8];
    SystemRandom::new().fill(&mut name).ok()?;
    let name = format!("http2_{:016x}", u64::from_be_bytes(name));
    let log = folder.begin_over_tcp(&name, now());
    if log.is_none() {
        observers.notice(&Event::NotLogged);
    }
    log
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut state = self.order.state.lock();
        state.responses.remove(&self.stream);
        if state.responses.is_empty() {
            self.order.idle.notify_waiters();
        }
        state.turns.forget(self.stream);
        state.call(Call::Close(self.stream));
        state.grant();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedulers::find_scheme;
    use server::SignalUse;

    #[test]
    fn of_many_short_responses_only_those_in_progress_are_kept() {
        let options = Options::new(find_scheme("rfc9218").expect("known"));
        let order = WriteOrder::new(&Arc::new(options), None);
        let context = Context::from_waker(Waker::noop());
        for stream in (1..=999).step_by(2).map(StreamId) {
            let writer = order.begin(stream);
            writer.place(&Request::default(), &Response::empty(200));
            let turn = order.state.lock().turn(stream, 7, &context);
            assert_eq!(turn, Poll::Ready(7));
            writer.wrote(7, true);
            assert!(order.state.lock().turns.to.len() <= 1);
        }
    }

    /// The task that answers a request may run after more frames of the client were read.
    #[test]
    fn an_update_that_comes_before_its_response_is_placed_wins_over_the_field_9218_7_1() {
        let options = Options::new(find_scheme("rfc9218").expect("known"));
        let options = Options { signals: SignalUse::Obey, ..options };
        let order = WriteOrder::new(&Arc::new(options), None);
        let writers = [1, 5].map(|it| order.begin(StreamId(it)));
        let urgency = 0;
        order.signalled(Signal::Extensible { stream: StreamId(5), urgency, incremental: false });
        let fields = [http3::Header::new(b"priority", b"u=6")];
        let request = Request::from_headers(&fields);
        for writer in &writers {
            writer.place(&request, &Response::empty(200));
            order.state.lock().set_ready(writer.stream, true);
        }
        assert_eq!(order.state.lock().order.pick(), Some(StreamId(5)));
    }

    #[test]
    fn a_directive_holds_on_a_connection_without_a_document_and_not_on_a_page_that_obeys() {
        let options = Options::new(find_scheme("rfc9218").expect("known"));
        let options = Arc::new(Options { signals: SignalUse::Obey, ..options });
        let image = Request::from_headers(&[http3::Header::new(b"priority", b"u=3")]);
        let directive = Some(Priority::new(7, false));
        let first_after = |document: Option<StreamId>| {
            let order = WriteOrder::new(&options, None);
            if let Some(stream) = document {
                let mut page = Response::empty(200);
                page.resource.main = true;
                order.begin(stream).place(&Request::default(), &page);
            }
            let writers = [5, 9].map(|it| order.begin(StreamId(it)));
            for (writer, directive) in writers.iter().zip([directive, None]) {
                writer.place(&image, &Response { directive, ..Response::empty(200) });
                order.state.lock().set_ready(writer.stream, true);
            }
            order.state.lock().order.pick()
        };
        assert_eq!(first_after(None), Some(StreamId(9)));
        assert_eq!(first_after(Some(StreamId(1))), Some(StreamId(5)));
    }
}
