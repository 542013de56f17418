//! `/metrics` and `/health` over HTTP/1.1, on a thread of its own.

use crate::Failure;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use server::metrics::Metrics;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// The text format of Prometheus.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The most connections at a time. Another one replaces the oldest, so that a client that holds connections does not
/// block others.
const CONNECTIONS: usize = 256;

/// The deadline of a connection: one request and its response.
const PATIENCE: Duration = Duration::from_secs(5);

/// The pause before the next attempt to accept a connection when descriptors have run out.
const PAUSE: Duration = Duration::from_millis(100);

/// Starts to answer until the program ends. Returns the bound address, because the system may choose the port.
pub(crate) fn start(listen: SocketAddr, metrics: Arc<Metrics>) -> Result<SocketAddr, Failure> {
    let (runtime, listener) = bind(listen).map_err(|error| {
        Failure::Elsewhere(format!("{listen}: {error}; choose another --metrics"))
    })?;
    let address = listener.local_addr().map_err(Failure::elsewhere)?;
    let builder = std::thread::Builder::new().name("metrics".to_owned());
    builder
        .spawn(move || runtime.block_on(accept_all(&listener, &metrics)))
        .map_err(Failure::elsewhere)?;
    Ok(address)
}

fn bind(listen: SocketAddr) -> io::Result<(Runtime, TcpListener)> {
    let listener = std::net::TcpListener::bind(listen)?;
    listener.set_nonblocking(true)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let listener = {
        let _context = runtime.enter();
        TcpListener::from_std(listener)?
    };
    Ok((runtime, listener))
}

async fn accept_all(listener: &TcpListener, metrics: &Arc<Metrics>) {
    let mut open = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        open.retain(|it: &JoinHandle<()>| !it.is_finished());
        if open.len() >= CONNECTIONS
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        let metrics = Arc::clone(metrics);
        open.push_back(tokio::spawn(async move { answer_one(stream, &metrics).await }));
    }
}

async fn answer_one(stream: TcpStream, metrics: &Metrics) {
    let service = service_fn(|request: Request<Incoming>| {
        let answer = answer(request.method(), request.uri().path(), metrics);
        async move { Ok::<_, Infallible>(answer) }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    let connection = http.keep_alive(false).serve_connection(TokioIo::new(stream), service);
    // If this fails, no client waits for the answer any more.
    tokio::time::timeout(PATIENCE, connection).await.ok();
}

fn answer(method: &Method, path: &str, metrics: &Metrics) -> Response<Full<Bytes>> {
    let (status, text) = match path {
        _ if !matches!(*method, Method::GET | Method::HEAD) => {
            (StatusCode::METHOD_NOT_ALLOWED, "GET only\n".to_owned())
        }
        "/metrics" => (StatusCode::OK, metrics.text(descriptors(), now())),
        "/health" if metrics.is_draining() => {
            (StatusCode::SERVICE_UNAVAILABLE, "draining\n".to_owned())
        }
        "/health" => (StatusCode::OK, "ok\n".to_owned()),
        _ => (StatusCode::NOT_FOUND, "only /metrics and /health exist here\n".to_owned()),
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, TEXT);
    response
}

#[expect(clippy::disallowed_methods, reason = "certificates expire in real time")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// The number of descriptors that the process has open, where the system lists them. One of them belongs to the listing.
fn descriptors() -> Option<usize> {
    let listed = std::fs::read_dir("/proc/self/fd").ok()?.count();
    Some(listed.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use server::{Event, Observer};
    use std::io::{Read, Write};
    use std::net::TcpStream;

    fn fetch(address: SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            .expect("sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        text
    }

    #[test]
    fn idle_connections_take_no_room_from_the_health_check() {
        let metrics = Arc::new(Metrics::new());
        let address = start(([127, 0, 0, 1], 0).into(), metrics).expect("a port");
        let idle: Vec<TcpStream> = (0..2 * CONNECTIONS)
            .map(|_| {
                let mut stream = TcpStream::connect(address).expect("it listens");
                stream.write_all(b"GET /health HTTP/1.1\r\n").expect("half a head");
                stream
            })
            .collect();
        assert!(fetch(address, "/health").starts_with("HTTP/1.1 200 "));
        drop(idle);
    }

    #[test]
    fn metrics_are_a_page_and_health_changes_when_the_server_ends() {
        let metrics = Arc::new(Metrics::new());
        metrics.notice(&Event::Accepted);
        let address = start(([127, 0, 0, 1], 0).into(), Arc::clone(&metrics)).expect("a port");
        let page = fetch(address, "/metrics");
        assert!(page.contains("text/plain; version=0.0.4"), "{page}");
        assert!(page.contains("\nutmost_connections_accepted_total 1\n"), "{page}");
        assert!(page.contains("\nprocess_open_fds "), "{page}");
        assert!(fetch(address, "/health").starts_with("HTTP/1.1 200 "));
        assert!(fetch(address, "/").starts_with("HTTP/1.1 404 "));
        metrics.notice(&Event::Draining);
        assert!(fetch(address, "/health").starts_with("HTTP/1.1 503 "));
    }
}
