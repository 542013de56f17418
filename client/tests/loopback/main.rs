//! The real event loops over UDP and TCP on loopback.

mod over_tcp;

use client::event_loop::{PlayError, play};
use client::{ClientConfig, Options, Problem, Verify};
use corpus::{Page, bundled};
use page_site::PageSite;
use schedulers::find_scheme;
use server::event_loop::EventLoop;
use server::{Identity, Server};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

fn page() -> Arc<Page> {
    Arc::new(bundled("davies-meenan").expect("a bundled page").clone())
}

fn options() -> Options {
    let transport = ClientConfig { verify: Verify::Nobody, ..ClientConfig::default() };
    Options { transport, keep_bodies: true, ..Options::default() }
}

fn any_port() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

/// The page's own sizes are checked by the client: a body of another size is a problem.
#[test]
fn a_page_is_loaded_over_udp_and_the_server_stops_when_told() {
    let mut events = EventLoop::bind(any_port()).expect("a port");
    let (address, stop) = (events.local_addr().expect("an address"), events.stopper());
    let serving = std::thread::spawn(move || {
        let identity = Identity::self_signed().expect("a certificate");
        let scheme = find_scheme("dfifo").expect("a scheme");
        let site = Arc::new(PageSite::new(page().as_ref().clone()));
        let mut server =
            Server::new(address, &identity, site, server::Options::new(scheme)).expect("a server");
        events.run(&mut server)
    });
    let outcome = play(page(), address, &options()).expect("a load");
    stop.stop();
    serving.join().expect("no panic").expect("no error");
    assert_eq!(outcome.problems, []);
    assert!(outcome.completed);
    assert_eq!(outcome.bodies.len(), page().resources.len());
}

#[test]
fn a_port_in_use_is_an_error_that_says_so() {
    let taken = UdpSocket::bind(any_port()).expect("a port");
    let error = EventLoop::bind(taken.local_addr().expect("an address")).err().expect("an error");
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
}

#[test]
fn a_load_from_a_closed_port_is_refused() {
    let free = UdpSocket::bind(any_port()).expect("a port").local_addr().expect("an address");
    let outcome = play(page(), free, &options());
    assert!(matches!(outcome, Err(PlayError::Refused(it)) if it == free), "{outcome:?}");
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let silent = UdpSocket::bind(any_port()).expect("a port");
    let mut options = options();
    options.transport.connect_within = Duration::from_millis(50);
    let outcome =
        play(page(), silent.local_addr().expect("an address"), &options).expect("an outcome");
    assert!(!outcome.completed);
    let text = "no answer to the handshake in time; is an HTTP/3 server there?";
    assert_eq!(outcome.problems, [Problem::Connection(text.to_owned())]);
}
