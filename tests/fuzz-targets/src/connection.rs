//! Whatever a client sends, in any packets and from any addresses, the server does not panic, and stores none of it
//! permanently. Client and server perform a QUIC handshake in virtual time. Input: the first byte is the scheme; then
//! steps of two bytes (what, a number), some with bytes of their own.

use connection::{ClientConfig, Endpoint, Path, Transmit, Verify};
use http3::{Code, StreamId};
use quiche::Shutdown;
use schedulers::find_scheme;
use server::site::{Body, Request, Response, Site};
use server::{CongestionControl, Identity, Options, Server, SignalUse};
use simulator::{BareClient, Links, World};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

const SERVER: ([u8; 4], u16) = ([127, 0, 0, 1], 4433);
const SCHEMES: [&str; 4] = ["rfc9218", "tree", "bucket-html", "rr"];

static IDENTITY: LazyLock<Identity> =
    LazyLock::new(|| Identity::self_signed().expect("a certificate"));

/// Plays one input.
///
/// # Panics
///
/// Panics if the server stores any of it permanently.
pub fn play(data: &[u8]) {
    let Some((scheme, mut steps)) = data.split_first() else { return };
    let scheme = SCHEMES[usize::from(*scheme) % SCHEMES.len()];
    let mut world = World::new(server(scheme), Links::immediate());
    let mut client = Client::connect(world.now());
    world.run_for(Duration::from_millis(10), &mut [&mut client]);
    while let [what, number, rest @ ..] = steps {
        let bytes = match what % 8 {
            0..3 => rest.split_at(rest.len().min(usize::from(what / 8))).0,
            _ => &[],
        };
        steps = &rest[bytes.len()..];
        client.step(&mut world, what % 8, *number, bytes);
    }
    drop(client);
    world.run_for(Duration::from_secs(60), &mut [] as &mut [&mut Client]);
    assert_eq!((world.server.connections(), world.server.routes()), (0, 0));
}

fn server(scheme: &str) -> Server {
    let mut options = Options {
        signals: SignalUse::Override,
        congestion_control: CongestionControl::Cubic,
        ..Options::new(find_scheme(scheme).expect("a scheme"))
    };
    options.limits.idle = Duration::from_secs(20);
    let site: Arc<dyn Site> = Arc::new(Bodies);
    Server::new(SERVER.into(), &IDENTITY, site, options).expect("a server")
}

/// A body of each length.
struct Bodies;

impl Site for Bodies {
    fn respond(&self, request: &Request) -> Response {
        let bytes = request.path[1..].parse().unwrap_or(20_000_u64).min(1_000_000);
        Response { body: Body::synthetic(bytes, 0), ..Response::empty(200) }
    }
}

struct Client {
    bare: BareClient,
    address: SocketAddr,
}

impl Client {
    fn connect(now: Instant) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], 5000));
        let config = ClientConfig { verify: Verify::Nobody, ..ClientConfig::default() };
        let bare = BareClient::connect(address, SERVER.into(), &config, now).expect("a client");
        Self { bare, address }
    }

    fn step(&mut self, world: &mut World<Server>, what: u8, number: u8, bytes: &[u8]) {
        let quic = &mut self.bare.connection.quic;
        let stream = u64::from(number);
        let code = Code::RequestCancelled.value();
        match what {
            0 | 1 => {
                quic.stream_send(stream, bytes, what == 1).ok();
            }
            2 => world.deliver(bytes, self.address),
            3 => {
                let stream = StreamId(self.bare.connection.next_request().0);
                let path = format!("/{}", u64::from(number) * 4000);
                self.bare.get(stream, "localhost", &path, &[("priority", "u=1, i")]);
            }
            4 => {
                let way = if number & 1 == 0 { Shutdown::Read } else { Shutdown::Write };
                quic.stream_shutdown(stream / 2, way, code).ok();
            }
            5 => self.address.set_port(5000 + u16::from(number % 40)),
            6 => self.send_broken(world, usize::from(number)),
            _ => {
                let pause = Duration::from_millis(u64::from(number) * 8);
                world.run_for(pause, &mut [self]);
            }
        }
    }

    /// The next datagram has a changed byte.
    fn send_broken(&mut self, world: &mut World<Server>, place: usize) {
        let mut buffer = vec![0; 65_536];
        if let Some(transmit) = self.transmit(world.now(), &mut buffer) {
            buffer.truncate(transmit.bytes);
            if let Some(byte) = buffer.get_mut(place) {
                *byte ^= 0x55;
            }
            world.deliver(&buffer, self.address);
        }
    }
}

impl Endpoint for Client {
    fn local_addr(&self) -> SocketAddr {
        self.address
    }

    fn receive(&mut self, datagram: &mut [u8], path: Path, now: Instant) {
        // A client does not notice that its address has changed in transit.
        self.bare.receive(datagram, Path { local: self.bare.local_addr(), ..path }, now);
    }

    fn transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.bare.transmit(now, out)
    }

    fn on_timeout(&mut self, now: Instant) {
        self.bare.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.bare.next_timeout()
    }
}
