//! Answers the requests of a connection of h3 over quinn, and sends the bodies in the order of a scheme.

use crate::{Ordered, PIECE_BYTES};
use bytes::Bytes;
use h3::server::{Connection, RequestResolver, RequestStream};
use http::Response;
use schedulers::{Resource, Scheme, StreamId};
use std::collections::BTreeMap;
use std::error::Error;

/// Whatever goes wrong ends the connection.
pub type AnyError = Box<dyn Error + Send + Sync>;

type Streams = BTreeMap<StreamId, RequestStream<h3_quinn::BidiStream<Bytes>, Bytes>>;

/// Serves a connection until its client closes it. `site` has the facts and the body of each path. The first piece waits until this many
/// requests have come, as a server waits that has the requests of a page in one datagram.
pub async fn serve(
    incoming: quinn::Incoming,
    scheme: &Scheme,
    begin_with: usize,
    site: impl Fn(&str) -> (Resource, Bytes),
) -> Result<(), AnyError> {
    let quic = h3_quinn::Connection::new(incoming.await?);
    let mut connection = Connection::<_, Bytes>::new(quic).await?;
    let (mut ordered, mut streams, mut requests) = (Ordered::new(scheme), Streams::new(), 0);
    loop {
        let has_work = ordered.waiting() > 0 && requests >= begin_with;
        let next = tokio::select! {
            biased;
            accepted = connection.accept() => Some(accepted),
            () = std::future::ready(()), if has_work => None,
        };
        match next {
            Some(Ok(Some(resolver))) => {
                let stream = StreamId(requests as u64 * 4);
                open(resolver, stream, &site, &mut ordered, &mut streams).await?;
                requests += 1;
            }
            Some(_) => return Ok(()),
            None => send(&mut ordered, &mut streams).await?,
        }
    }
}

async fn open(
    resolver: RequestResolver<h3_quinn::Connection, Bytes>,
    id: StreamId,
    site: &impl Fn(&str) -> (Resource, Bytes),
    ordered: &mut Ordered,
    streams: &mut Streams,
) -> Result<(), AnyError> {
    let (request, mut stream) = resolver.resolve_request().await?;
    let (resource, body) = site(request.uri().path());
    stream.send_response(Response::new(())).await?;
    ordered.open(id, &resource, body);
    streams.insert(id, stream);
    Ok(())
}

/// Hands the next piece over. This takes until the transport has room for it, which binds the order late.
async fn send(ordered: &mut Ordered, streams: &mut Streams) -> Result<(), AnyError> {
    let Some(piece) = ordered.next(|_| PIECE_BYTES) else { return Ok(()) };
    let Some(stream) = streams.get_mut(&piece.stream) else { return Ok(()) };
    stream.send_data(piece.bytes).await?;
    if piece.is_last {
        stream.finish().await?;
        streams.remove(&piece.stream);
    }
    Ok(())
}
