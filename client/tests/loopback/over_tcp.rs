//! Loads over HTTP/2 and HTTP/1.1.

use crate::{any_port, options, page};
use boring::asn1::Asn1Time;
use boring::ec::{EcGroup, EcKey};
use boring::hash::MessageDigest;
use boring::nid::Nid;
use boring::pkey::PKey;
use boring::ssl::{AlpnError, SslAcceptor, SslMethod, select_next_proto};
use boring::x509::X509;
use bytes::Bytes;
use client::event_loop::{PlayError, play};
use client::{HttpVersion, NextPage, Options, Problem, Verify};
use corpus::page::PageResource;
use corpus::{Page, bundled};
use page_site::PageSite;
use schedulers::find_scheme;
use server::event_loop::EventLoop;
use server::{Identity, Server};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

const OVER_TCP: [HttpVersion; 2] = [HttpVersion::Http1, HttpVersion::Http2];

fn over(http: HttpVersion) -> Options {
    Options { http, ..options() }
}

/// Calls `client` with the address of a server of the page over TCP.
fn while_served<T>(client: impl FnOnce(SocketAddr) -> T) -> T {
    let mut events = EventLoop::bind(any_port()).expect("a port");
    let (address, stop) = (events.local_addr().expect("an address"), events.stopper());
    let secure = TcpListener::bind(any_port()).expect("a port");
    let entrance = secure.local_addr().expect("an address");
    let serving = std::thread::spawn(move || {
        let identity = Identity::self_signed().expect("a certificate");
        let options = server::Options::new(find_scheme("rr").expect("a scheme"));
        let site = Arc::new(PageSite::new(page().as_ref().clone()));
        let mut server = Server::new(address, &identity, site, options).expect("a server");
        let sending = gateway::Sending::default();
        let listeners = gateway::Listeners { secure: vec![secure], plain: Vec::new(), sending };
        gateway::serve_tcp(&mut server, listeners, &identity, 1).expect("a thread");
        events.run(&mut server)
    });
    let done = client(entrance);
    stop.stop();
    serving.join().expect("no panic").expect("no error");
    done
}

/// The page's own sizes are checked by the client: a body of another size is a problem.
#[test]
fn a_page_is_loaded_whole_over_each_version() {
    for version in OVER_TCP {
        let outcome = while_served(|it| play(page(), it, &over(version))).expect("a load");
        assert_eq!(outcome.problems, [], "HTTP/{version}");
        assert!(outcome.completed, "HTTP/{version}");
        assert_eq!(outcome.bodies.len(), page().resources.len());
        assert!(outcome.statuses.values().all(|it| *it == 200));
    }
}

#[test]
fn a_second_page_comes_on_the_same_connections() {
    for version in OVER_TCP {
        let then = vec![NextPage { page: page(), think: Duration::ZERO }];
        let options = Options { then, ..over(version) };
        let outcome = while_served(|it| play(page(), it, &options)).expect("a load");
        let all = outcome.earlier.iter().chain([&outcome]);
        let completed: Vec<bool> = all.map(|it| it.completed && it.problems.is_empty()).collect();
        assert_eq!(completed, [true, true], "HTTP/{version}");
    }
}

#[test]
fn a_closed_port_is_refused_over_tcp() {
    let free = TcpListener::bind(any_port()).expect("a port").local_addr().expect("an address");
    let outcome = play(page(), free, &over(HttpVersion::Http2));
    assert!(matches!(outcome, Err(PlayError::Refused(it)) if it == free), "{outcome:?}");
}

#[test]
fn a_server_that_never_shakes_hands_is_given_up() {
    let silent = TcpListener::bind(any_port()).expect("a port");
    let mut options = over(HttpVersion::Http2);
    options.transport.connect_within = Duration::from_millis(50);
    let outcome = play(page(), silent.local_addr().expect("an address"), &options);
    let said = outcome.expect_err("an error").to_string();
    assert!(
        said.ends_with(
            "no answer in time; is the server there, and does a firewall let TCP through?"
        ),
        "{said}"
    );
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_an_error_that_says_so() {
    let mut options = over(HttpVersion::Http2);
    options.transport.verify = Verify::System;
    let outcome = while_served(|it| play(page(), it, &options));
    let said = outcome.expect_err("an error").to_string();
    assert!(said.contains("no TLS handshake") && said.contains("certificate"), "{said}");
}

#[test]
fn a_server_without_http_2_is_an_error_that_names_the_flag() {
    let entrance = serve(b"\x08http/1.1", async |_| {});
    let outcome = play(page(), entrance, &over(HttpVersion::Http2));
    let said = outcome.expect_err("an error").to_string();
    let expected = "the server does not offer HTTP/2 over TLS; try another --http";
    assert_eq!(said, format!("{entrance}: {expected}"));
}

#[test]
fn a_reset_is_a_problem_of_its_resource_and_the_rest_is_loaded() {
    let entrance = serve(b"\x02h2", async |stream| {
        let mut connection = h2::server::handshake(stream).await.expect("HTTP/2");
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            let page = page();
            let id = page.resources.iter().position(|it| it.url == request.uri().path());
            let bytes = page.resources[id.expect("of the page")].bytes;
            if id == Some(1) {
                respond.send_reset(h2::Reason::INTERNAL_ERROR);
            } else {
                let head = hyper::Response::new(());
                let mut stream = respond.send_response(head, false).expect("open");
                let body = vec![0; usize::try_from(bytes).expect("small")];
                stream.send_data(Bytes::from(body), true).expect("open");
            }
        }
    });
    let outcome = play(page(), entrance, &over(HttpVersion::Http2)).expect("a load");
    let url = page().resources[1].url.clone();
    assert_eq!(outcome.problems, [Problem::Reset { url, code: 2 }]);
    assert!(outcome.completed);
}

#[test]
fn a_connection_that_ends_early_ends_the_load_with_its_cause() {
    let entrance = serve(b"\x02h2", async |stream| {
        let mut connection = h2::server::handshake(stream).await.expect("HTTP/2");
        connection.accept().await.expect("a request").expect("whole");
    });
    let outcome = play(page(), entrance, &over(HttpVersion::Http2)).expect("an outcome");
    assert!(!outcome.completed);
    assert!(!outcome.problems.is_empty());
}

/// A document, and images of these urgencies: `/1`, `/2` and so on.
fn images(urgencies: &[u8]) -> Page {
    let mut page = bundled("case-study-1").expect("a bundled page").clone();
    let image = page.resources[5].clone();
    page.resources.truncate(1);
    for (urgency, id) in urgencies.iter().zip(1..) {
        let mut image = PageResource { id, url: format!("/{id}"), ..image.clone() };
        image.browser.as_mut().expect("signals").urgency = *urgency;
        page.resources.push(image);
    }
    page
}

/// No image is sent before six are asked for.
#[test]
fn over_http_1_six_connections_carry_requests_and_the_most_urgent_come_first() {
    let page = Arc::new(images(&[5, 5, 5, 5, 5, 5, 1, 1]));
    let listener = TcpListener::bind(any_port()).expect("a port");
    let entrance = listener.local_addr().expect("an address");
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (seen, sizes) = (Arc::clone(&asked), Arc::clone(&page));
    std::thread::spawn(move || {
        let (acceptor, six) = (acceptor(b"\x08http/1.1"), Arc::new(Barrier::new(6)));
        for (connection, stream) in listener.incoming().enumerate() {
            let mut stream = acceptor.accept(stream.expect("a client")).expect("TLS");
            let (seen, sizes, six) = (Arc::clone(&seen), Arc::clone(&sizes), Arc::clone(&six));
            std::thread::spawn(move || {
                while let Some(path) = asked_for(&mut stream) {
                    let resource = sizes.resources.iter().find(|it| it.url == path);
                    let bytes = resource.expect("of the page").bytes;
                    if path != "/index.html" {
                        let mut seen = seen.lock().expect("no panic");
                        seen.push((connection, path));
                        let is_early = seen.len() <= 6;
                        drop(seen);
                        if is_early {
                            six.wait();
                        }
                    }
                    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n");
                    let body = vec![0; usize::try_from(bytes).expect("small")];
                    stream.write_all(&[head.as_bytes(), &body].concat()).expect("taken");
                }
            });
        }
    });
    let outcome = play(page, entrance, &over(HttpVersion::Http1)).expect("a load");
    assert!(outcome.completed && outcome.problems.is_empty(), "{:?}", outcome.problems);
    let asked = asked.lock().expect("no panic");
    assert!(asked.iter().all(|it| it.0 < 6), "{asked:?}");
    let first: BTreeSet<&str> = asked[..6].iter().map(|it| &*it.1).collect();
    assert!(first.contains("/7") && first.contains("/8"), "{asked:?}");
}

/// The path of the next request.
fn asked_for(stream: &mut impl Read) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()?.split(' ').nth(1).map(str::to_owned)
}

/// Serves one connection of TLS with this protocol.
fn serve(
    protocol: &'static [u8],
    task: impl AsyncFnOnce(tokio_boring::SslStream<tokio::net::TcpStream>) + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind(any_port()).expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        stream.set_nonblocking(true).expect("set");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let stream = tokio::net::TcpStream::from_std(stream).expect("registered");
            let acceptor = acceptor(protocol);
            if let Ok(stream) = tokio_boring::accept(&acceptor, stream).await {
                task(stream).await;
            }
        });
    });
    address
}

fn acceptor(protocol: &'static [u8]) -> SslAcceptor {
    let key = PKey::from_ec_key(
        EcKey::generate(&EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).expect("a curve"))
            .expect("a key"),
    );
    let key = key.expect("a key");
    let mut certificate = X509::builder().expect("a certificate");
    certificate.set_not_before(&Asn1Time::days_from_now(0).expect("a time")).expect("set");
    certificate.set_not_after(&Asn1Time::days_from_now(1).expect("a time")).expect("set");
    certificate.set_pubkey(&key).expect("set");
    certificate.sign(&key, MessageDigest::sha256()).expect("signed");
    let mut tls = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls()).expect("TLS");
    tls.set_certificate(&certificate.build()).expect("set");
    tls.set_private_key(&key).expect("set");
    tls.set_alpn_select_callback(move |_, offered| {
        select_next_proto(protocol, offered).ok_or(AlpnError::ALERT_FATAL)
    });
    tls.build()
}
