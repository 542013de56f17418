//! HTTP/2 connections to a backend. hyper does not report HTTP/2's interim responses, so this uses its underlying
//! library directly.

use super::unanswered::Unanswered;
use super::upload::Upload;
use crate::limits::{HTTP2_STREAM_BYTES, UpstreamLimits};
use h2::client::{Builder, Connection, ResponseFuture, SendRequest};
use h2::{Ping, PingPong, Reason, RecvStream, SendStream};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Bytes, Frame};
use hyper::{Request, Response, header};
use server::site::{BackendFailure, Exchange};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// How long a backend may be silent before it must prove that it is alive, and the deadline for that.
const SILENT_FOR: Duration = Duration::from_secs(5);
/// The largest window (RFC 9113, 6.9.1).
const MOST_WINDOW: u32 = (1 << 31) - 1;

/// A connection that many requests share.
#[derive(Clone)]
pub(super) struct Http2 {
    sender: SendRequest<Bytes>,
    /// One for the connection while it lasts, and one for each request in progress.
    alive: Weak<()>,
}

pub(super) struct Body {
    stream: RecvStream,
    /// The length, if the backend states it.
    pub(super) length: Option<u64>,
    _upload: Sending,
    _alive: Arc<()>,
}

/// The task that sends the body of a request. Dropping this ends it.
struct Sending(Option<JoinHandle<()>>);

impl Drop for Sending {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

impl Http2 {
    /// Begins to speak HTTP/2.
    pub(super) async fn open<S>(stream: S, limits: &UpstreamLimits) -> Result<Self, BackendFailure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        // As many again have incomplete bodies.
        let requests = u32::try_from(2 * limits.requests + limits.slow).unwrap_or(u32::MAX);
        let mut builder = Builder::new();
        builder
            .enable_push(false)
            .max_header_list_size(u32::try_from(limits.header_bytes).unwrap_or(u32::MAX))
            .initial_window_size(HTTP2_STREAM_BYTES)
            // A client that does not read fills only its own stream's window.
            .initial_connection_window_size(
                HTTP2_STREAM_BYTES.saturating_mul(requests).min(MOST_WINDOW),
            );
        let opened = builder.handshake(stream).await;
        let (sender, mut connection) = opened.map_err(|it| BackendFailure::improper(&it))?;
        let alive = Arc::new(());
        let pings = connection.ping_pong();
        let opened = Self { sender, alive: Arc::downgrade(&alive) };
        tokio::spawn(drive(connection, pings, alive));
        Ok(opened)
    }

    /// Whether the backend accepts another request on it now.
    pub(super) fn has_room(&self) -> bool {
        self.alive.strong_count() <= self.sender.current_max_send_streams()
    }

    /// Whether it accepts requests.
    pub(super) fn is_usable(&self) -> bool {
        let ready = self.sender.clone().poll_ready(&mut Context::from_waker(Waker::noop()));
        self.alive.strong_count() > 0 && !matches!(ready, Poll::Ready(Err(_)))
    }

    pub(super) async fn send(
        &self,
        request: Request<Upload>,
        exchange: &Exchange,
    ) -> Result<Response<Body>, Unanswered> {
        let unsent =
            |it: h2::Error| Unanswered { trouble: BackendFailure::improper(&it), was_sent: false };
        let sender = self.sender.clone();
        let mut sender = sender.ready().await.map_err(unsent)?;
        let alive = self.alive.upgrade();
        let alive = alive.ok_or_else(|| unsent(Reason::NO_ERROR.into()))?;
        let (head, body) = request.into_parts();
        let ends = body.is_end_stream();
        let sent = sender.send_request(Request::from_parts(head, ()), ends);
        let (mut response, stream) = sent.map_err(unsent)?;
        let upload = Sending((!ends).then(|| tokio::spawn(upload(body, stream))));
        let answer = poll_fn(|it| poll_answer(&mut response, exchange, it)).await;
        let answer = answer.map_err(|it| Unanswered::sent(BackendFailure::improper(&it)))?;
        let length = answer.headers().get(header::CONTENT_LENGTH);
        let length = length.and_then(|it| it.to_str().ok()?.parse().ok());
        Ok(answer.map(|stream| Body { stream, length, _upload: upload, _alive: alive }))
    }
}

/// Drives the connection until it ends or its backend stops answering.
async fn drive<S>(connection: Connection<S>, pings: Option<PingPong>, alive: Arc<()>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    tokio::select! {
        // The requests in progress get the failure.
        _ = connection => {}
        () = silence(pings, &alive) => {}
    }
}

/// Ends when the backend is silent although a request is in progress.
async fn silence(pings: Option<PingPong>, alive: &Arc<()>) {
    let Some(mut pings) = pings else { return std::future::pending().await };
    loop {
        sleep(SILENT_FOR).await;
        let is_busy = Arc::strong_count(alive) > 1;
        if is_busy && timeout(SILENT_FOR, pings.ping(Ping::opaque())).await.is_err() {
            return;
        }
    }
}

/// Ready when the response has arrived; passes on interim responses before it.
fn poll_answer(
    response: &mut ResponseFuture,
    exchange: &Exchange,
    context: &mut Context<'_>,
) -> Poll<Result<Response<RecvStream>, h2::Error>> {
    while let Poll::Ready(Some(Ok(interim))) = response.poll_informational(context) {
        exchange.interim(interim.status(), interim.headers());
    }
    Pin::new(response).poll(context)
}

async fn upload(mut body: Upload, mut stream: SendStream<Bytes>) {
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return stream.send_reset(Reason::CANCEL) };
        let mut bytes = match frame.into_data() {
            Ok(bytes) => bytes,
            Err(frame) => {
                // It fails only if the exchange has ended.
                stream.send_trailers(frame.into_trailers().unwrap_or_default()).ok();
                return;
            }
        };
        while !bytes.is_empty() {
            stream.reserve_capacity(bytes.len());
            // The backend wants no more of it, or has disconnected.
            let Some(Ok(room)) = poll_fn(|it| stream.poll_capacity(it)).await else { return };
            let piece = bytes.split_to(room.min(bytes.len()));
            if stream.send_data(piece, false).is_err() {
                return;
            }
        }
    }
    // It fails only if the exchange has ended.
    stream.send_data(Bytes::new(), true).ok();
}

impl Body {
    /// The next bytes, or the trailer fields after them; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Frame<Bytes>>, BackendFailure> {
        let Some(bytes) = self.stream.data().await else {
            let trailers =
                self.stream.trailers().await.map_err(|it| BackendFailure::improper(&it))?;
            return Ok(trailers.map(Frame::trailers));
        };
        let bytes = bytes.map_err(|it| BackendFailure::improper(&it))?;
        let released = self.stream.flow_control().release_capacity(bytes.len());
        released.map_err(|it| BackendFailure::improper(&it))?;
        Ok(Some(Frame::data(bytes)))
    }
}
