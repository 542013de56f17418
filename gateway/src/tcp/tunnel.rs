//! WebSockets of HTTP/1.1 clients: the connection leaves HTTP after the answer 101 (RFC 6455, 4).

use super::activity::Activity;
use super::answer::{Answer, Guest, Upload};
use super::event_loop::{News, Phase};
use super::response_report::ResponseReport;
use super::source::Source;
use crate::limits::PIECE_BYTES;
use crate::upstream::{WEBSOCKET, accept, has_member};
use bytes::Bytes;
use hyper::body::Frame;
use hyper::header::{CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use hyper::http::request::Parts;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{Method, Response, StatusCode, Version};
use hyper_util::rt::TokioIo;
use server::Event;
use std::future::pending;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, split};
use tokio::sync::oneshot::{Receiver, Sender, channel};
use tokio::time::timeout;

type Stream = ReadHalf<TokioIo<Upgraded>>;

/// Whether an HTTP/1.1 request is for a WebSocket (RFC 6455, 4.2.1).
pub(super) fn is_wanted(head: &Parts) -> bool {
    let fields = &head.headers;
    head.method == Method::GET
        && head.version == Version::HTTP_11
        && has_member(fields, &CONNECTION, "upgrade")
        && has_member(fields, &UPGRADE, WEBSOCKET)
        && fields.contains_key(SEC_WEBSOCKET_KEY)
}

/// A WebSocket request that waits for its answer.
pub(super) struct Entrance {
    switched: OnUpgrade,
    accept: String,
    stream: Sender<Stream>,
}

/// The client's bytes after the handshake.
pub(super) struct Inbound {
    awaited: Receiver<Stream>,
    stream: Option<Stream>,
    buffer: Vec<u8>,
}

/// A WebSocket that opens with the response.
pub(super) struct Tunnel {
    switched: OnUpgrade,
    stream: Sender<Stream>,
    source: Source,
    report: ResponseReport,
}

impl Entrance {
    /// Prepares a request for a WebSocket.
    pub(super) fn of(head: &mut Parts) -> Option<(Self, Inbound)> {
        let switched = head.extensions.remove::<OnUpgrade>().filter(|_| is_wanted(head))?;
        let key = head.headers.get(SEC_WEBSOCKET_KEY).and_then(|it| it.to_str().ok());
        let accept = accept(key.unwrap_or_default());
        let (stream, awaited) = channel();
        let inbound = Inbound { awaited, stream: None, buffer: Vec::new() };
        Some((Self { switched, accept, stream }, inbound))
    }

    pub(super) fn open(self, answer: Answer) -> (Response<()>, Tunnel) {
        let Answer { mut head, source, mut report, .. } = answer;
        *head.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        report.status(StatusCode::SWITCHING_PROTOCOLS.as_u16());
        let fields = head.headers_mut();
        fields.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        fields.insert(UPGRADE, HeaderValue::from_static(WEBSOCKET));
        if let Ok(accept) = HeaderValue::from_str(&self.accept) {
            fields.insert(SEC_WEBSOCKET_ACCEPT, accept);
        }
        (head, Tunnel { switched: self.switched, stream: self.stream, source, report })
    }
}

impl Upload for Inbound {
    async fn next(&mut self) -> Result<Option<Frame<Bytes>>, ()> {
        if self.stream.is_none() {
            self.stream = (&mut self.awaited).await.ok();
            self.buffer = vec![0; PIECE_BYTES];
        }
        // There is no tunnel, so the client can send nothing more.
        let Some(stream) = &mut self.stream else { return pending().await };
        let count = stream.read(&mut self.buffer).await.map_err(drop)?;
        let bytes = Bytes::copy_from_slice(&self.buffer[..count]);
        Ok(Some(Frame::data(bytes)).filter(|_| count > 0))
    }

    async fn leave(self, _: &Arc<Activity>, _: bool) {}
}

impl Tunnel {
    /// Carries the tunnel's bytes until it ends, at the latest when the server does.
    pub(super) async fn run(self, guest: &Guest, mut news: News) {
        let Self { switched, stream, source, report } = self;
        // The client is gone.
        let Ok(switched) = switched.await else { return };
        let (read, write) = split(TokioIo::new(switched));
        stream.send(read).ok();
        tokio::select! {
            () = send(write, source, report, guest) => {}
            () = news.reached(Phase::Draining) => {}
        }
    }
}

/// Sends the backend's bytes. Abandons a client that takes nothing within the stalled-response deadline.
async fn send(
    mut stream: impl AsyncWrite + Unpin,
    mut source: Source,
    mut report: ResponseReport,
    guest: &Guest,
) {
    while let Ok(count) = source.ready().await {
        if count == 0 {
            report.completed();
            drop(report);
            // The client may be gone.
            stream.shutdown().await.ok();
            return;
        }
        let Ok(bytes) = source.take(count, &guest.waiting).await else { return };
        let sent = async {
            stream.write_all(&bytes).await?;
            stream.flush().await
        };
        match timeout(guest.options.limits.stalled, sent).await {
            Ok(Ok(())) => report.took(bytes.len()),
            Ok(Err(_)) => return,
            Err(_) => return guest.options.observers.notice(&Event::Overdue),
        }
    }
}
