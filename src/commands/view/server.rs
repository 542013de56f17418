//! The HTTP server of `view`: a limited number of connections, each for one request and a limited time.

use crate::limits::{VIEW_CONNECTION, VIEW_CONNECTIONS, VIEW_HEAD, VIEW_PAUSE};
use http_body_util::Full;
use hyper::Request;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

pub(super) type Answer = hyper::Response<Full<Bytes>>;

/// Answers all clients, for ever.
pub(super) async fn serve<F>(
    listener: TcpListener,
    answer: impl Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
) where
    F: Future<Output = Answer> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(VIEW_CONNECTIONS));
    // They are never closed.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            // No descriptors are left.
            sleep(VIEW_PAUSE).await;
            continue;
        };
        let answer = answer.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let answer = answer(request);
                async { Ok::<_, Infallible>(answer.await) }
            });
            let mut builder = Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(VIEW_HEAD).keep_alive(false);
            let serving = builder.serve_connection(TokioIo::new(stream), service);
            // The server continues if a browser disconnects.
            timeout(VIEW_CONNECTION, serving).await.ok();
            drop(place);
        });
    }
}
