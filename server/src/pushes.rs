//! The pushes of one connection: what may be promised, and what was.

use crate::site::{Ahead, Foreseen, Promise, Request, Response, RuledSite};
use http3::{PushId, Session, StreamId};
use push::guard;
use push::visits::Diary;
use push::{Gate, PathState};
use std::collections::BTreeMap;
use std::time::Duration;

/// Paths that a connection's diary remembers, as Apache's does.
const DIARY_PATHS: usize = 256;

/// The first stream of a server that is not one of the three that HTTP/3 opens.
const FIRST_STREAM: u64 = 15;

/// Without word from the operator (nginx's `http2_max_concurrent_pushes`).
pub(crate) const MAX_CONCURRENT: u64 = 10;

/// What is kept of a connection's pushes.
#[derive(Debug)]
pub(crate) struct Pushes {
    next_stream: u64,
    /// Under way.
    open: BTreeMap<PushId, StreamId>,
    /// What the client asked for or was promised on this connection.
    diary: Diary,
    /// Of responses under way.
    urgencies: BTreeMap<StreamId, u8>,
}

/// A response that was promised.
#[derive(Debug)]
pub(crate) struct Pushed {
    pub(crate) push: PushId,
    pub(crate) stream: StreamId,
    pub(crate) request: Request,
    pub(crate) response: Response,
    pub(crate) gate: Gate,
}

impl Default for Pushes {
    fn default() -> Self {
        Self {
            next_stream: FIRST_STREAM,
            open: BTreeMap::new(),
            diary: Diary::new(DIARY_PATHS),
            urgencies: BTreeMap::new(),
        }
    }
}

impl Pushes {
    /// What the path holds; none if the client takes no pushes.
    pub(crate) fn path_state(
        quic: &mut quiche::Connection,
        session: &Session,
    ) -> Option<PathState> {
        let push_ids = session.pushes_left();
        let path = quic.path_stats().find(|it| it.active).filter(|_| push_ids > 0)?;
        let peer = quic.peer_transport_params();
        let stream_credit_bytes = peer.map_or(u64::MAX, |it| it.initial_max_stream_data_uni);
        let window_bytes = path.cwnd as u64;
        let free = quic.stream_capacity(3).unwrap_or(0) as u64;
        Some(PathState {
            window_bytes,
            in_flight_bytes: window_bytes.saturating_sub(free),
            // Before more was sent than fits, the rate is that of what was asked for, not of the path.
            delivery_bytes_per_s: (path.sent_bytes > window_bytes).then_some(path.delivery_rate),
            min_rtt: path.min_rtt.unwrap_or(Duration::ZERO),
            // The transport counts it into what is free.
            connection_credit_bytes: u64::MAX,
            stream_credit_bytes,
            streams: quic.peer_streams_left_uni(),
            push_ids,
        })
    }

    /// A response of this urgency is under way on `stream`.
    pub(crate) fn begin(&mut self, stream: StreamId, urgency: u8) {
        self.urgencies.insert(stream, urgency);
    }

    /// The client says how urgent the response on `stream` is.
    pub(crate) fn reprioritize(&mut self, stream: StreamId, urgency: u8) {
        self.urgencies.entry(stream).and_modify(|it| *it = urgency);
    }

    /// The most urgent of the responses that still have bytes to go.
    pub(crate) fn most_urgent(&mut self, has_bytes: impl Fn(StreamId) -> bool) -> Option<u8> {
        self.urgencies.retain(|stream, _| has_bytes(*stream));
        self.urgencies.values().min().copied()
    }

    /// The client asked for it, so that it need not be pushed any more.
    pub(crate) fn note(&mut self, request: &Request) {
        self.diary.note(&request.path);
    }

    /// Promises what a site wants to push, as far as the client, its streams and the operator allow: the frames for
    /// the request's stream, and the responses. What is not there is not promised, and no push waits for a stream.
    pub(crate) fn promise(
        &mut self,
        (quic, session): (&mut quiche::Connection, &mut Session),
        (site, parent): (&RuledSite, StreamId),
        ahead: &Ahead,
    ) -> (Vec<u8>, Vec<Pushed>) {
        let max_concurrent = ahead.max_concurrent_pushes.unwrap_or(MAX_CONCURRENT);
        let (mut frames, mut pushed) = (Vec::new(), Vec::new());
        for promise in &ahead.pushes {
            let may = (self.open.len() as u64) < max_concurrent
                && quic.peer_streams_left_uni() > 0
                && session.pushes_left() > 0;
            if !may {
                break;
            }
            if self.diary.contains(&promise.path) {
                continue;
            }
            let request = promise.request();
            let response = site.respond(&request);
            if !response.is_awaited() && !may_be_sent(&request, &response) {
                continue;
            }
            let Some((push, frame)) = promised(session, promise) else { continue };
            let Some(stream) = self.open_stream(quic) else { break };
            http3::log::promise_created(
                quic.qlog_streamer(),
                (parent, push),
                &promise.headers(),
                frame.len(),
            );
            frames.extend(frame);
            self.diary.note(&promise.path);
            self.open.insert(push, stream);
            let gate = ahead.gate.unwrap_or(Gate::Preempt);
            pushed.push(Pushed { push, stream, request, response, gate });
        }
        (frames, pushed)
    }

    /// The stream of a push under way.
    pub(crate) fn stream(&self, push: PushId) -> Option<StreamId> {
        self.open.get(&push).copied()
    }

    /// The push on `stream`, if it is one, is over.
    pub(crate) fn forget(&mut self, stream: StreamId) {
        self.open.retain(|_, it| *it != stream);
    }

    /// Before anything is promised on it, so that a promise is never without its stream.
    fn open_stream(&mut self, quic: &mut quiche::Connection) -> Option<StreamId> {
        let stream = StreamId(self.next_stream);
        quic.stream_send(stream.0, &[], false).ok()?;
        self.next_stream += 4;
        Some(stream)
    }
}

/// Whether a response may answer a request that the client has not made: it is of use to it, varies on nothing that its
/// own request might have otherwise, and is not for somebody else.
pub(crate) fn may_be_sent(request: &Request, response: &Response) -> bool {
    let names: Vec<&str> = request.fields.iter().map(|(name, _)| name.as_str()).collect();
    matches!(response.status, 200 | 304)
        && guard::allows(&Foreseen::of(response).said(), &names, request.cookies_known)
}

fn promised(session: &mut Session, promise: &Promise) -> Option<(PushId, Vec<u8>)> {
    session.promise(&promise.headers()).ok().flatten()
}
