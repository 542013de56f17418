//! What an operator configures in place of a source's answer, proxies before the server, and compressed texts of backends.

use super::clients::{ask_1, fetch_1, plain, secure_over};
use super::{Serving, folder};
use crate::backend::{self, Backend};
use crate::fetch::{Ask, Fetched};
use gateway::UpstreamLimits;
use gateway::site::{Redirect, Rule, RuledSite};
use gateway::upstream::UpstreamSite;
use schedulers::find_scheme;
use server::site::Site;
use server::{Identity, Options, Proxies};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;

/// A server of this site, which trusts these proxies.
fn serving(site: RuledSite, proxies: Proxies) -> Serving {
    let options = Options { proxies, ..Options::new(find_scheme("rfc9218").expect("known")) };
    Serving::with(&Identity::self_signed().expect("a certificate"), site, options)
}

fn upstream(address: SocketAddr, is_compressed: bool) -> Arc<dyn Site> {
    let address: gateway::upstream::Address = format!("http://{address}").parse().expect("one");
    let address = address.compressed(is_compressed);
    let site = UpstreamSite::start(&address, &UpstreamLimits::default(), Arc::new(|_| {}));
    Arc::new(site.expect("a thread"))
}

fn rule(path: &str) -> Rule {
    Rule { path: path.to_owned(), ..Rule::default() }
}

fn shown(got: &Fetched) -> String {
    let body = String::from_utf8_lossy(&got.body);
    let field = |name| got.field(name).unwrap_or_default();
    format!("{} {} {} {body}", got.status, field("location"), field("content-type"))
}

#[test]
fn hosts_have_roots_pages_have_fallbacks_and_errors_have_pages_in_every_version() {
    let files: &[(&str, &[u8])] =
        &[("index.html", b"app"), ("missing.html", b"none"), ("down.html", b"down")];
    let (_own, site) = folder(files);
    let (_shop, shop) = folder(&[("index.html", b"shop")]);
    let of_shop: Rule = Rule {
        host: Some("shop.example".to_owned()),
        source: Some(Arc::new(shop) as Arc<dyn Site>),
        ..rule("/*")
    };
    let redirect = Redirect { to: "/new/*".to_owned(), status: 301 };
    let pages = [(404, "/missing.html".to_owned()), (502, "/down.html".to_owned())];
    let rules = vec![
        of_shop,
        Rule { redirect: Some(redirect), ..rule("/old/*") },
        Rule { source: Some(upstream(backend::nobody(), false)), ..rule("/api/*") },
        Rule {
            fallback: Some("/index.html".to_owned()),
            error_pages: Some(pages.into()),
            ..rule("/*")
        },
    ];
    let server = serving(RuledSite::new(site, rules), Proxies::default());
    let html = "text/html; charset=utf-8";
    for (ask, expected) in [
        (Ask { authority: Some("shop.example"), ..Ask::get("/") }, format!("200  {html} shop")),
        (Ask::get("/"), format!("200  {html} app")),
        (Ask::get("/old/a?b"), "301 /new/a?b  ".to_owned()),
        (Ask { method: "POST", ..Ask::get("/old/a") }, "301 /new/a  ".to_owned()),
        (Ask::get("/users/7"), format!("200  {html} app")),
        (Ask::get("/app.js"), format!("404  {html} none")),
        (Ask::get("/api/x"), format!("502  {html} down")),
        (Ask { method: "HEAD", ..Ask::get("/app.js") }, format!("404  {html} ")),
    ] {
        for got in server.ask(&ask) {
            assert!(got.finished, "{ask:?}");
            assert_eq!(shown(&got), expected, "{ask:?}");
        }
    }
    let tag = fetch_1(server.address, &Ask::get("/users/7")).field("etag").map(str::to_owned);
    let again = Ask::get("/users/7").with("if-none-match", &tag.expect("a tag"));
    assert_eq!(server.ask(&again).map(|it| it.status), [304; 3]);
}

/// A page, a stream of events, or a text that is already compressed.
fn texts(head: &str, stream: &mut std::net::TcpStream) {
    let fields = match head.split(' ').nth(1).unwrap_or_default() {
        "/events" => "text/event-stream\r\nTransfer-Encoding: chunked",
        "/done" => "text/css\r\nContent-Encoding: gzip\r\nContent-Length: 3000",
        "/small" => "text/css\r\nContent-Length: 5",
        "/kept" => "text/css\r\nCache-Control: no-transform\r\nContent-Length: 3000",
        "/image" => "image/png\r\nContent-Length: 3000",
        "/chunked" => "text/html\r\nTransfer-Encoding: chunked",
        _ => "text/html\r\nETag: \"1\"\r\nContent-Length: 3000",
    };
    backend::say(stream, &format!("HTTP/1.1 200 OK\r\nContent-Type: {fields}\r\n\r\n"));
    match fields {
        _ if fields.ends_with("chunked") => {
            let chunk = format!("3e8\r\n{}\r\n", "a".repeat(1000));
            backend::say(stream, &format!("{}0\r\n\r\n", chunk.repeat(3)));
        }
        _ if fields.ends_with('5') => backend::say(stream, "small"),
        _ => backend::say(stream, &"a".repeat(3000)),
    }
}

fn decoded(got: &Fetched) -> Vec<u8> {
    let mut bytes = Vec::new();
    let body = got.body.as_slice();
    match got.field("content-encoding") {
        Some("br") => brotli::Decompressor::new(body, 4096).read_to_end(&mut bytes),
        Some("zstd") => zstd::Decoder::new(body).expect("zstd").read_to_end(&mut bytes),
        Some("gzip") => flate2::read::GzDecoder::new(body).read_to_end(&mut bytes),
        _ => (&*got.body).read_to_end(&mut bytes),
    }
    .expect("whole");
    bytes
}

#[test]
fn texts_of_a_backend_are_compressed_as_the_client_takes_them_in_every_version() {
    let backend = Backend::start(texts);
    let server = serving(RuledSite::of(upstream(backend.address, true)), Proxies::default());
    for (path, accepted, coding) in [
        ("/", "gzip, br, zstd", Some("br")),
        ("/", "gzip, zstd", Some("zstd")),
        ("/", "gzip", Some("gzip")),
        ("/chunked", "br", Some("br")),
        ("/", "", None),
        ("/events", "br", None),
        ("/kept", "br", None),
        ("/image", "br", None),
        ("/small", "br", None),
    ] {
        for got in server.ask(&Ask::get(path).with("accept-encoding", accepted)) {
            assert_eq!((got.status, got.finished), (200, true), "{path} {accepted}");
            assert_eq!(got.field("content-encoding"), coding, "{path} {accepted}");
            let is_said = !matches!(path, "/events" | "/kept" | "/image" | "/small");
            assert_eq!(got.field("vary"), is_said.then_some("accept-encoding"), "{path}");
            let bytes = if path == "/small" { 5 } else { 3000 };
            assert_eq!(decoded(&got).len(), bytes, "{path} {accepted}");
            let tag = if coding.is_some() { "W/\"1\"" } else { "\"1\"" };
            assert_eq!(got.field("etag"), Some(tag).filter(|_| path == "/"));
        }
    }
    for got in server.ask(&Ask::get("/done").with("accept-encoding", "gzip")) {
        assert_eq!((got.field("content-encoding"), got.body.len()), (Some("gzip"), 3000));
    }
    for got in server.ask(&Ask { method: "HEAD", ..Ask::get("/") }) {
        assert_eq!((got.field("content-encoding"), got.field("etag")), (None, Some("\"1\"")));
    }
}

/// What the backend learns about its client.
fn client_of(got: &Fetched) -> String {
    let head = String::from_utf8_lossy(&got.body).into_owned();
    let line = head.lines().find_map(|it| it.strip_prefix("x-forwarded-for: "));
    line.unwrap_or_default().to_owned()
}

#[test]
fn a_trusted_proxy_says_who_its_client_is_in_every_version() {
    let backend = Backend::start(|head, stream| backend::respond(stream, head.as_bytes()));
    let site = RuledSite::of(upstream(backend.address, false));
    let local = "127.0.0.0/8".parse().expect("a network");
    let trusting = serving(site.clone(), Proxies::new(vec![local], false));
    let ask = Ask::get("/").with("x-forwarded-for", "198.51.100.1, 203.0.113.9");
    for got in trusting.ask(&ask) {
        assert_eq!(client_of(&got), "203.0.113.9");
    }
    let answered = trusting.events.answered();
    assert!(answered.iter().all(|it| it.client.is_some_and(|it| it.to_string() == "203.0.113.9")));
    let other = "10.0.0.0/8".parse().expect("a network");
    for got in serving(site, Proxies::new(vec![other], false)).ask(&ask) {
        assert_eq!(client_of(&got), "127.0.0.1");
    }
}

#[test]
fn a_header_of_the_proxy_protocol_says_whose_a_connection_over_tcp_is() {
    let backend = Backend::start(|head, stream| backend::respond(stream, head.as_bytes()));
    let site = RuledSite::of(upstream(backend.address, false));
    let local = "127.0.0.0/8".parse().expect("a network");
    let server = serving(site, Proxies::new(vec![local], true));
    let header =
        b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c\xcb\x00\x71\x09\x0a\x00\x00\x01\x12\x34\x01\xbb";
    let mut stream = plain(server.address);
    stream.write_all(header).expect("sent");
    let got = ask_1(secure_over(stream), &Ask::get("/"));
    assert_eq!((got.status, client_of(&got).as_str()), (200, "203.0.113.9"));
    let mut redirected = plain(server.plain);
    redirected.write_all(header).expect("sent");
    assert_eq!(ask_1(redirected, &Ask::get("/")).status, 308);
    let mut without = plain(server.address);
    without.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").expect("sent");
    let mut answer = Vec::new();
    without.read_to_end(&mut answer).ok();
    assert_eq!(answer, b"", "nobody is believed who does not say it");
}
