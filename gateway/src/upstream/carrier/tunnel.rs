//! WebSockets: after the handshake, bytes flow both ways until one side ends or both are silent.

use super::{Carrier, HttpResponse, check, check_size, head};
use crate::limits::PIECE_BYTES;
use crate::upstream::fields::{BackendRequest, inbound};
use crate::upstream::handshake::Handshake;
use hyper::StatusCode;
use hyper::header::{HeaderMap, SEC_WEBSOCKET_ACCEPT};
use hyper_util::rt::TokioIo;
use schedulers::{Kind, Resource};
use server::site::fields::kept;
use server::site::{BackendFailure, Exchange, Response, UploadPiece};
use std::future::{pending, poll_fn};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::sync::Notify;
use tokio::time::timeout;

impl Carrier {
    /// Opens a WebSocket to the backend, on a separate connection, and carries it until it ends. A backend that does not
    /// switch protocols answers as it does any request.
    pub(super) async fn tunnel(
        &self,
        backend_request: &BackendRequest,
    ) -> Result<HeaderMap, BackendFailure> {
        let BackendRequest { request, exchange } = backend_request;
        let handshake = Handshake::new()?;
        let mut connection = self.connections.open_http1().await?;
        let asked = self.ask(&mut connection, backend_request, true, Some(&handshake)).await;
        let mut response = asked.map_err(|it| it.trouble)?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            check(&response, self.limits.header_bytes)?;
            // The client would take it for an open tunnel.
            if response.status().is_success() {
                let cause = format!("status {} instead of 101", response.status().as_u16());
                return Err(BackendFailure::Improper(cause));
            }
            exchange.answer(head(request, &response));
            return self.pass_on(exchange, response.into_body(), None).await;
        }
        check_size(&response, self.limits.header_bytes)?;
        handshake.check(response.headers())?;
        let switched = hyper::upgrade::on(&mut response).await;
        let stream = switched.map_err(|it| BackendFailure::improper(&it))?;
        exchange.answer(opened(&response));
        pass_both_ways(exchange, TokioIo::new(stream), self.limits.tunnel_idle).await?;
        Ok(HeaderMap::new())
    }
}

/// The head of the response that opens a tunnel (RFC 8441, 5).
fn opened(response: &HttpResponse) -> Response {
    let fields = kept(response.headers(), |it| it != SEC_WEBSOCKET_ACCEPT).collect();
    let headers = inbound(&fields, response.version(), None);
    let resource = Resource { kind: Kind::Xhr, ..Resource::default() };
    Response { headers, resource, ..Response::empty(200) }
}

/// Ends when the backend does, or when nothing has moved for `idle`.
async fn pass_both_ways(
    exchange: &Exchange,
    stream: impl AsyncRead + AsyncWrite,
    idle: Duration,
) -> Result<(), BackendFailure> {
    let (mut read, mut write) = split(stream);
    let moved = Notify::new();
    tokio::select! {
        end = bring(exchange, &mut read, &moved) => end,
        end = take(exchange, &mut write, &moved) => end,
        () = async { while timeout(idle, moved.notified()).await.is_ok() {} } => Ok(()),
    }
}

/// Passes the backend's bytes to the client, up to their end.
async fn bring(
    exchange: &Exchange,
    stream: &mut (impl AsyncRead + Unpin),
    moved: &Notify,
) -> Result<(), BackendFailure> {
    let mut buffer = vec![0; PIECE_BYTES];
    loop {
        poll_fn(|it| exchange.poll_room(it)).await;
        let count = stream.read(&mut buffer).await.map_err(|it| BackendFailure::improper(&it))?;
        if count == 0 {
            return Ok(());
        }
        moved.notify_one();
        exchange.write_body(&buffer[..count]);
    }
}

/// Passes the client's bytes to the backend. Ends only if the backend takes no more.
async fn take(
    exchange: &Exchange,
    stream: &mut (impl AsyncWrite + Unpin),
    moved: &Notify,
) -> Result<(), BackendFailure> {
    while let Some(UploadPiece::Bytes(bytes)) = poll_fn(|it| exchange.poll_upload(it)).await {
        let taken = async {
            stream.write_all(&bytes).await?;
            stream.flush().await
        };
        taken.await.map_err(|it| BackendFailure::improper(&it))?;
        moved.notify_one();
    }
    // Tells the backend, which may still send something.
    stream.shutdown().await.map_err(|it| BackendFailure::improper(&it))?;
    pending().await
}
