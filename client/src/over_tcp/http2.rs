//! HTTP/2: one connection, which carries all requests as soon as they are known.

use super::line::{Line, fields, request};
use super::{Arrival, Ask, What, tell, tell_all};
use crate::HttpVersion;
use crate::limits::HEAD_BYTES;
use crate::play_error::PlayError;
use bytes::Bytes;
use connection::ClientConfig;
use h2::client::{Builder, ResponseFuture, SendRequest};
use hyper::Response;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::Poll;
use tokio::sync::mpsc::{Sender, UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Opens the connection. Requests are sent in the order of the queue that it returns.
pub(super) async fn open(
    line: &Line,
    config: &ClientConfig,
    to: Sender<Arrival>,
) -> Result<UnboundedSender<Ask>, PlayError> {
    let stream = line.connect().await?;
    let window = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX).min(MOST_WINDOW);
    let mut builder = Builder::new();
    builder
        .enable_push(false)
        .max_header_list_size(HEAD_BYTES)
        .initial_window_size(window(config.stream_receive_bytes))
        .initial_connection_window_size(window(config.receive_bytes));
    let (sender, connection) = builder.handshake(stream).await.map_err(io::Error::other)?;
    let (asks, asked) = unbounded_channel();
    // Its errors reach the requests.
    tokio::spawn(connection);
    tokio::spawn(send(sender, asked, to));
    Ok(asks)
}

/// The largest window (RFC 9113, 6.9.1).
const MOST_WINDOW: u32 = (1 << 31) - 1;

/// Sends each request as soon as the server allows another stream.
async fn send(
    mut sender: SendRequest<Bytes>,
    mut asked: UnboundedReceiver<Ask>,
    to: Sender<Arrival>,
) {
    while let Some(Ask { id, fields, .. }) = asked.recv().await {
        sender = match sender.ready().await {
            Ok(sender) => sender,
            Err(error) => return tell_all(&to, error.to_string()).await,
        };
        let sent = request(&fields, HttpVersion::Http2, ())
            .ok_or_else(|| "it cannot be sent over HTTP/2".to_owned())
            .and_then(|it| sender.send_request(it, true).map_err(|it| it.to_string()));
        match sent {
            Ok((response, _)) => {
                tell(&to, id, What::Asked(fields)).await;
                let to = to.clone();
                tokio::spawn(async move {
                    match receive(id, response, &to).await {
                        Err(error) if error.is_reset() => {
                            let code = error.reason().map_or(0, u32::from).into();
                            tell(&to, id, What::Reset(code)).await;
                        }
                        Err(error) => tell_all(&to, error.to_string()).await,
                        Ok(()) => {}
                    }
                });
            }
            Err(cause) => tell(&to, id, What::Broken(cause)).await,
        }
    }
}

async fn receive(
    id: http3::StreamId,
    mut response: ResponseFuture,
    to: &Sender<Arrival>,
) -> Result<(), h2::Error> {
    let mut body = loop {
        let (head, body) = match head(&mut response).await? {
            Head::Interim(interim) => (fields(interim.status(), interim.headers()), None),
            Head::Last(last) => (fields(last.status(), last.headers()), Some(last.into_body())),
        };
        tell(to, id, What::Head(head)).await;
        if let Some(body) = body {
            break body;
        }
    };
    let mut ends = false;
    while !ends {
        // The end may arrive alone, and trailers after it.
        let next = body.data().await.transpose()?;
        ends = next.is_none() || body.is_end_stream();
        let bytes = next.unwrap_or_default();
        body.flow_control().release_capacity(bytes.len())?;
        tell(to, id, What::Bytes(bytes, ends)).await;
    }
    Ok(())
}

enum Head {
    Interim(Response<()>),
    Last(Response<h2::RecvStream>),
}

async fn head(response: &mut ResponseFuture) -> Result<Head, h2::Error> {
    poll_fn(|context| match response.poll_informational(context) {
        Poll::Ready(Some(interim)) => Poll::Ready(interim.map(Head::Interim)),
        _ => Pin::new(&mut *response).poll(context).map(|it| it.map(Head::Last)),
    })
    .await
}
