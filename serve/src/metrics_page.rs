//! `/metrics` and `/health` over HTTP/1.1, on a thread of its own.

use crate::Failure;
use server::metrics::Metrics;
use std::io::Cursor;
use std::net::SocketAddr;
use std::sync::Arc;
use tiny_http::{Header, Method, Response, Server};

/// The text format of Prometheus.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Answers until the program ends. Returns the address, whose port the system may have chosen.
pub(crate) fn start(listen: SocketAddr, metrics: Arc<Metrics>) -> Result<SocketAddr, Failure> {
    let failed = |error| Failure::Elsewhere(format!("{listen}: {error}; choose another --metrics"));
    let server = Server::http(listen).map_err(failed)?;
    let address = server.server_addr().to_ip().unwrap_or(listen);
    let builder = std::thread::Builder::new().name("metrics".to_owned());
    let answer_all = move || {
        for request in server.incoming_requests() {
            let answer = answer(request.method(), request.url(), &metrics);
            // Nobody waits for the answer any more.
            request.respond(answer).ok();
        }
    };
    builder.spawn(answer_all).map_err(Failure::elsewhere)?;
    Ok(address)
}

fn answer(method: &Method, url: &str, metrics: &Metrics) -> Response<Cursor<Vec<u8>>> {
    let (status, text) = match url.split('?').next() {
        _ if !matches!(method, Method::Get | Method::Head) => (405, "GET only\n".to_owned()),
        Some("/metrics") => (200, metrics.text(descriptors())),
        Some("/health") if metrics.is_draining() => (503, "draining\n".to_owned()),
        Some("/health") => (200, "ok\n".to_owned()),
        _ => (404, "only /metrics and /health are here\n".to_owned()),
    };
    let response = Response::from_string(text).with_status_code(status);
    match Header::from_bytes("Content-Type", TEXT) {
        Ok(header) => response.with_header(header),
        Err(()) => response,
    }
}

/// Descriptors that the process has open, where the system lists them. One is for the list.
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
