//! Requests in early data on their way to the backend (RFC 8470).

use crate::Proxy;
use crate::backend::{self, Backend};
use crate::fetch::{Ask, Fetched, fetch, fetch_early};
use gateway::UpstreamLimits;
use std::net::TcpStream;

/// Answers with the `early-data` field; below `/fresh` it rejects early data.
fn talk(head: &str, stream: &mut TcpStream) {
    let early: Vec<&str> = head.lines().filter(|it| it.starts_with("early-data")).collect();
    if head.starts_with("GET /fresh") && !early.is_empty() {
        return backend::say(stream, "HTTP/1.1 425 Too Early\r\nContent-Length: 0\r\n\r\n");
    }
    backend::respond(stream, format!("[{}]", early.join("; ")).as_bytes());
}

fn answers(got: &[Fetched]) -> Vec<String> {
    let line = |it: &Fetched| format!("{} {}", it.status, String::from_utf8_lossy(&it.body));
    got.iter().map(line).collect()
}

#[test]
fn the_backend_learns_of_early_data_and_is_asked_again_if_it_refuses_8470_5() {
    let backend = Backend::start(talk);
    let proxy = Proxy::start(backend.address, &UpstreamLimits::default(), Vec::new());
    let of_gateway = Ask::get("/fresh").with("early-data", "1");
    let asks = [Ask::get("/"), Ask::get("/fresh"), of_gateway];
    let early = answers(&fetch_early(proxy.address, &asks));
    assert_eq!(early, ["200 [early-data: 1]", "200 []", "425 "]);
    let later = answers(&fetch(proxy.address, &asks, 0));
    assert_eq!(later, ["200 []", "200 []", "425 "]);
}
