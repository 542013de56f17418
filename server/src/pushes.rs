//! The pushes of one connection: what may be promised, and what was promised.

use crate::limits::{DIARY_PATHS, MAX_CONCURRENT};
use crate::send_loop::SendLoop;
use crate::site::{Ahead, Promise, Request, Response, Site, may_be_sent};
use crate::streams::CONTROL_STREAM;
use connection::Connection;
use http3::{PushId, StreamId};
use push::visits::Diary;
use push::{Gate, PathState};
use std::time::Duration;

/// A server's first stream after the three that HTTP/3 opens.
const FIRST_STREAM: StreamId = StreamId(15);

/// The state of a connection's pushes besides their streams.
#[derive(Debug)]
pub(crate) struct Pushes {
    next_stream: StreamId,
    /// The paths that the client requested or that it was promised on this connection.
    diary: Diary,
}

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
        Self { next_stream: FIRST_STREAM, diary: Diary::new(DIARY_PATHS) }
    }
}

impl Pushes {
    /// The bytes that the path holds; `None` if the client accepts no pushes.
    pub(crate) fn path_state(connection: &mut Connection) -> Option<PathState> {
        let push_ids = connection.session.pushes_left();
        if push_ids == 0 {
            return None;
        }
        let quic = &mut connection.quic;
        let path = quic.path_stats().find(|it| it.active)?;
        let peer = quic.peer_transport_params();
        let stream_credit_bytes = peer.map_or(u64::MAX, |it| it.initial_max_stream_data_uni);
        let window_bytes = path.cwnd as u64;
        let free = quic.stream_capacity(CONTROL_STREAM.0).unwrap_or(0) as u64;
        Some(PathState {
            window_bytes,
            in_flight_bytes: window_bytes.saturating_sub(free),
            // Until more was sent than fits, the delivery rate reflects only the requests, not the path.
            delivery_bytes_per_s: (path.sent_bytes > window_bytes).then_some(path.delivery_rate),
            min_rtt: path.min_rtt.unwrap_or(Duration::ZERO),
            stream_credit_bytes,
            streams: quic.peer_streams_left_uni(),
            push_ids,
        })
    }

    /// The client made this request, so its response need not be pushed any more.
    pub(crate) fn note(&mut self, request: &Request) {
        self.diary.note(&request.path);
    }

    /// Promises what a site wants to push, as far as the client, its streams and the operator allow: returns the frames
    /// for the stream `main`, and the responses. Resources that do not exist are not promised, and no push waits for a
    /// stream.
    pub(crate) fn promise(
        &mut self,
        sender: &mut SendLoop,
        site: &dyn Site,
        main: StreamId,
        ahead: &Ahead,
    ) -> (Vec<u8>, Vec<Pushed>) {
        let limit = ahead.max_concurrent_pushes.unwrap_or(MAX_CONCURRENT);
        let gate = ahead.gate.unwrap_or(Gate::Preempt);
        let (mut frames, mut pushed) = (Vec::new(), Vec::new());
        for promise in &ahead.pushes {
            let is_full = sender.streams.open_pushes() as u64 >= limit;
            let connection = &mut sender.connection;
            if is_full
                || connection.quic.peer_streams_left_uni() == 0
                || connection.session.pushes_left() == 0
            {
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
            let Some((push, frame)) = promised(connection, main, promise) else { continue };
            let Some(stream) = self.open_stream(connection) else { break };
            frames.extend(frame);
            self.diary.note(&promise.path);
            sender.streams.note_push(stream, push);
            pushed.push(Pushed { push, stream, request, response, gate });
        }
        (frames, pushed)
    }

    /// Opens a stream of our own: that of a push before its promise is sent, or that of a response from elsewhere.
    pub(crate) fn open_stream(&mut self, connection: &mut Connection) -> Option<StreamId> {
        let stream = self.next_stream;
        connection.quic.stream_send(stream.0, &[], false).ok()?;
        self.next_stream = StreamId(stream.0 + 4);
        Some(stream)
    }
}

/// A `PUSH_PROMISE` frame, which is logged; `None`: the client accepts no such promise.
fn promised(
    connection: &mut Connection,
    main: StreamId,
    promise: &Promise,
) -> Option<(PushId, Vec<u8>)> {
    let headers = promise.headers();
    let (push, frame) = connection.session.promise(&headers).ok().flatten()?;
    let log = connection.quic.qlog_streamer();
    http3::log::headers_created(log, (main, Some(push)), &headers, frame.len());
    Some((push, frame))
}
