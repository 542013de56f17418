//! A server in this process, over UDP and TCP.

use gateway::site::RuledSite;
use gateway::upstream::{Address, UpstreamSite};
use gateway::{Listeners, Sending, UpstreamLimits};
use server::event_loop::EventLoop;
use server::{Identity, Limits, Options, Server};
use std::net::{SocketAddr, TcpListener};

/// What `visit` finds at a server of this site.
pub(crate) fn at_server<T>(site: RuledSite, visit: impl FnOnce(SocketAddr) -> T) -> T {
    let local = "127.0.0.1:0".parse().expect("an address");
    let (mut event_loop, secure) = std::iter::repeat_with(|| {
        let event_loop = EventLoop::bind(local).expect("a port");
        let secure = TcpListener::bind(event_loop.local_addr().expect("bound"));
        (event_loop, secure)
    })
    .find_map(|(event_loop, secure)| Some((event_loop, secure.ok()?)))
    .expect("a port");
    let address = event_loop.local_addr().expect("bound");
    let identity = Identity::self_signed().expect("a certificate");
    let scheme = schedulers::find_scheme("rfc9218").expect("a scheme");
    let options = Options::new(scheme);
    let limits = Limits { addresses: 32, ..options.limits };
    let options = Options { limits, websockets: true, ..options };
    let mut server = Server::new(address, &identity, site, options).expect("a server");
    let listeners =
        Listeners { secure: vec![secure], plain: Vec::new(), sending: Sending::default() };
    gateway::serve_tcp(&mut server, listeners, &identity, 1).expect("a thread");
    let stop = event_loop.stopper();
    let serving = std::thread::spawn(move || event_loop.run(&mut server).expect("no error"));
    let found = visit(address);
    stop.stop();
    serving.join().expect("an end");
    found
}

/// What `visit` finds at a server, its first address, before a backend that should listen at the second one, with or without
/// WebSockets on the server.
pub(crate) fn at_proxy<T>(websockets: bool, visit: impl FnOnce(SocketAddr, SocketAddr) -> T) -> T {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    let address: Address = format!("http://{free}").parse().expect("an address");
    let address = address.taking_websockets(websockets);
    let report = std::sync::Arc::new(|_: &str| {});
    let site = UpstreamSite::start(&address, &UpstreamLimits::default(), report);
    at_server(RuledSite::of(site.expect("a thread")), |server| visit(server, free))
}
