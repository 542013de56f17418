//! HTTP/2: one connection, on which all requests go as soon as they are known.

use super::line::{Line, fields, request};
use super::{Arrival, Ask, What, tell};
use crate::HttpVersion;
use crate::play_error::PlayError;
use bytes::Bytes;
use h2::client::{Builder, ResponseFuture, SendRequest};
use hyper::Response;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::Poll;
use tokio::sync::mpsc::{Sender, UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Where requests go in. They go out in this order.
pub(super) struct Asks(UnboundedSender<Ask>);

impl Asks {
    pub(super) fn ask(&self, ask: Ask) {
        // It fails only if the connection has ended, which the load is told of.
        self.0.send(ask).ok();
    }
}

/// The receive windows are Chromium's.
const STREAM_WINDOW: u32 = 6_291_456;
const CONNECTION_WINDOW: u32 = 15_728_640;

/// Opens the connection.
pub(super) async fn open(line: &Line, to: Sender<Arrival>) -> Result<Asks, PlayError> {
    let stream = line.connect().await?;
    let mut builder = Builder::new();
    builder
        .enable_push(false)
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW);
    let (sender, connection) = builder.handshake(stream).await.map_err(io::Error::other)?;
    let (asks, asked) = unbounded_channel();
    let over = to.clone();
    tokio::spawn(async move {
        let ended = connection.await;
        let cause =
            ended.err().map_or_else(|| "the server closed it".to_owned(), |it| it.to_string());
        over.send(Arrival { id: None, what: What::Broken(cause) }).await.ok();
    });
    tokio::spawn(send(sender, asked, to));
    Ok(Asks(asks))
}

/// Sends each request as soon as the server allows a further stream.
async fn send(
    mut sender: SendRequest<Bytes>,
    mut asked: UnboundedReceiver<Ask>,
    to: Sender<Arrival>,
) {
    while let Some(Ask { id, fields, .. }) = asked.recv().await {
        // The connection has ended if it fails, which the load is told of.
        let Ok(ready) = sender.ready().await else { return };
        sender = ready;
        let sent = request(&fields, HttpVersion::Http2, ())
            .ok_or_else(|| "it cannot be sent over HTTP/2".to_owned())
            .and_then(|it| sender.send_request(it, true).map_err(|it| it.to_string()));
        match sent {
            Ok((response, _)) => {
                tell(&to, id, What::Asked(fields)).await;
                let to = to.clone();
                tokio::spawn(async move {
                    if let Err(error) = receive(id, response, &to).await {
                        tell(&to, id, ending(&error)).await;
                    }
                });
            }
            Err(cause) => tell(&to, id, What::Broken(cause)).await,
        }
    }
}

fn ending(error: &h2::Error) -> What {
    match error.reason() {
        Some(code) if error.is_reset() => What::Reset(u32::from(code).into()),
        _ => What::Broken(error.to_string()),
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
    // The end may come alone.
    let mut ends = false;
    while !ends {
        let bytes = body.data().await.transpose()?.unwrap_or_default();
        body.flow_control().release_capacity(bytes.len())?;
        ends = body.is_end_stream();
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
