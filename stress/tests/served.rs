//! An attack on a real server, over loopback.

use server::event_loop::EventLoop;
use server::site::{Body, Request, Response, Site};
use server::{Identity, Options, Server};
use std::collections::BTreeMap;
use std::time::Duration;
use stress::{StressError, Target, find, run};

struct OneFile;

impl Site for OneFile {
    fn respond(&self, _request: &Request) -> Response {
        Response { body: Body::synthetic(20_000, 1), ..Response::empty(200) }
    }
}

#[test]
fn each_broken_rule_of_http3_gets_its_code() {
    let mut event_loop =
        EventLoop::bind("127.0.0.1:0".parse().expect("an address")).expect("a port");
    let address = event_loop.local_addr().expect("bound");
    let identity = Identity::self_signed().expect("a certificate");
    let scheme = schedulers::find_scheme("rfc9218").expect("a scheme");
    let mut server =
        Server::new(address, &identity, OneFile, Options::new(scheme)).expect("a server");
    let stop = event_loop.stopper();
    let serving = std::thread::spawn(move || event_loop.run(&mut server).expect("no error"));
    let target = Target::new(address, "/", None).expect("on this machine");
    let attack = find("malformed").expect("in the list");
    let outcome = run(&target, attack, Duration::from_secs(3)).expect("carried out");
    stop.stop();
    serving.join().expect("an end");
    let expected = [(0x103, 1), (0x104, 1), (0x105, 4), (0x108, 1), (0x200, 1)];
    assert_eq!(outcome.codes, BTreeMap::from(expected));
}

#[test]
fn only_servers_on_this_machine_are_attacked() {
    let elsewhere = Target::new("192.0.2.1:443".parse().expect("an address"), "/", None);
    assert!(matches!(elsewhere, Err(StressError::Elsewhere(_))));
}
