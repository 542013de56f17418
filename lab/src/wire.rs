//! The engine `wire`: the real server and the real client over UDP or TCP on loopback, in real time; on a network other than
//! `paper` through the lab's links: a UDP relay, or a link between two network namespaces, which also carries TCP.

use crate::network::{Network, NetworkError};
use crate::push_and_hints::PushAndHints;
use crate::relay::Relay;
use crate::relay::tun::{self, TunError, TunRelay, enter_user_namespace};
use crate::stack::patient;
use crate::{DeliveryOrder, Loaded, Metadata};
use client::event_loop::PlayError;
use connection::experiments::SendOrder;
use corpus::Page;
use gateway::site::RuledSite;
use gateway::{Listeners, Sending, TcpStartError};
use qlog_tools::reader::{ReadError, read_file};
use server::event_loop::{EventLoop, Stop};
use server::{CongestionControl, Identity, Options, Server, TlsError};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A page load on the wire that could not be carried out.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages and types say it")]
pub enum WireError {
    #[error("socket: {0}")]
    Socket(#[from] io::Error),
    #[error(transparent)]
    Server(#[from] TlsError),
    #[error("--http: {0}")]
    Namespaces(#[from] TunError),
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error(transparent)]
    Tcp(#[from] TcpStartError),
    #[error(transparent)]
    Client(#[from] PlayError),
    #[error(transparent)]
    Log(#[from] ReadError),
    #[error("a thread of the server or of the link panicked")]
    Panicked,
}

/// The settings of a load, besides its page.
pub struct Setup<'a> {
    /// The server's options, with the network's pace if it has one.
    pub options: Options,
    /// The client's options, except its trust, log and deadlines.
    pub client: client::Options,
    /// The network with the links between them, and the links' seed. `None`: a direct connection.
    pub links: Option<(&'a Network, u64)>,
    /// Whether the links are between network namespaces, so that they also carry TCP ([`check_namespaces`]).
    pub carries_tcp: bool,
    /// The server's pushes and hints.
    pub push_and_hints: PushAndHints,
    /// How many seconds responses other than documents stay fresh. `None`: they do not state it.
    pub fresh_s: Option<u64>,
    /// The facts about resources that the server gives its scheme.
    pub metadata: Metadata,
    /// The order in which the client delivers data.
    pub delivery_order: DeliveryOrder,
    /// Where the client's log goes; the folder must exist.
    pub log_dir: &'a Path,
}

impl<'a> Setup<'a> {
    /// Without links, with full metadata, and with a client that signals for the server's scheme.
    pub fn new(options: Options, log_dir: &'a Path) -> Self {
        let scheme = Some(options.scheme.clone());
        Self {
            options,
            client: client::Options { scheme, ..client::Options::default() },
            links: None,
            carries_tcp: false,
            push_and_hints: PushAndHints::default(),
            fresh_s: None,
            metadata: Metadata::default(),
            delivery_order: DeliveryOrder::default(),
            log_dir,
        }
    }
}

/// Loads `page` once.
pub fn load(page: &Arc<Page>, setup: Setup<'_>) -> Result<Loaded, WireError> {
    let Setup {
        mut options,
        client,
        links,
        carries_tcp,
        push_and_hints,
        fresh_s,
        metadata,
        delivery_order,
        log_dir,
    } = setup;
    let send_order = (delivery_order == DeliveryOrder::Connection).then(SendOrder::default);
    options.experiments.send_order.clone_from(&send_order);
    // The relay loses the client's last datagram, so waiting for it would be useless.
    options.limits.drain = Duration::ZERO;
    let scheme = options.scheme.name.clone();
    let log = log_dir.join("client.sqlog");
    let client_options = client::Options {
        transport: patient(client.transport),
        qlog_file: Some(log.clone()),
        delivery_order: send_order.clone(),
        ..client
    };
    let then = client_options.then.iter().map(|it| it.page.as_ref());
    let pages: Vec<&Page> = [page.as_ref()].into_iter().chain(then).collect();
    let site = push_and_hints.site_of(&pages, fresh_s, metadata);
    let identity = &Identity::self_signed()?;
    let entrance = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let over_tcp = client_options.http.is_over_tcp().then(|| sending(&options, links.is_some()));
    let served = Served { options, identity, site, links, carries_tcp, entrance, over_tcp };
    let outcome = while_served(served, |server| {
        client::event_loop::play(Arc::clone(page), server, &client_options)
    })??;
    let timeline = read_file(&log)?.timeline;
    Ok(Loaded::over_transport(outcome, timeline, &scheme, send_order))
}

/// How the system should send over TCP, given these transport options. Without links, its own congestion control is used.
fn sending(options: &Options, has_links: bool) -> Sending {
    let unsent_bytes = match options.send_buffer_bytes {
        0 => Sending::default().unsent_bytes,
        bytes => u32::try_from(bytes).unwrap_or(u32::MAX),
    };
    let name = match options.congestion_control {
        CongestionControl::Bbr2 => "bbr",
        CongestionControl::Cubic => "cubic",
        CongestionControl::Reno => "reno",
    };
    Sending { unsent_bytes, congestion_control: has_links.then(|| name.to_owned()) }
}

/// Checks whether this process can create links that carry TCP. A process not run by root may have only one thread.
pub fn check_namespaces() -> Result<(), WireError> {
    enter_user_namespace()?;
    let network = Network::find("loopback")?;
    TunRelay::between(network, 0, None)?;
    Ok(())
}

/// A site, and the link to it.
pub(crate) struct Served<'a> {
    pub(crate) options: Options,
    pub(crate) identity: &'a Identity,
    pub(crate) site: RuledSite,
    /// The network with the links in front of the server, and the links' seed. `None`: there are none.
    pub(crate) links: Option<(&'a Network, u64)>,
    /// Whether they are between network namespaces.
    pub(crate) carries_tcp: bool,
    /// The address for clients; port 0 picks a free one.
    pub(crate) entrance: SocketAddr,
    /// How the system sends to TCP clients. `None`: clients use UDP.
    pub(crate) over_tcp: Option<Sending>,
}

/// Starts server and links, calls `client` with the address where it finds them, and stops both.
pub(crate) fn while_served<T: Send>(
    served: Served<'_>,
    client: impl FnOnce(SocketAddr) -> T + Send,
) -> Result<T, WireError> {
    let Some((network, seed)) = served.links else {
        return Door::open(served.entrance, &served)?.while_open(served, client);
    };
    if served.carries_tcp {
        let (mut relay, ends) = TunRelay::between(network.clone(), seed, None)?;
        let door = ends.server.within(|| Door::open((tun::SERVER, HTTPS_PORT).into(), &served))?;
        return Ok(while_relayed(
            &relay.stopper(),
            move || relay.run(),
            || door.while_open(served, |it| ends.client.within(|| Ok(client(it)))),
        )???);
    }
    let door = Door::open((Ipv4Addr::LOCALHOST, 0).into(), &served)?;
    let relay = Relay::bind(served.entrance, door.address()?, network.clone(), seed)?;
    let mut relay = relay.behind_paced_server();
    let (entrance, stop) = (relay.local_addr()?, relay.stopper());
    while_relayed(
        &stop,
        move || relay.run(&mut |_| ()),
        || door.while_open(served, |_| client(entrance)),
    )?
}

/// Where a server between namespaces listens.
const HTTPS_PORT: u16 = 443;

/// Does `work` while a relay runs.
fn while_relayed<T>(
    stop: &Stop,
    relay: impl FnOnce() -> io::Result<()> + Send + 'static,
    work: impl FnOnce() -> T,
) -> Result<T, WireError> {
    let relaying = std::thread::spawn(relay);
    let done = work();
    stop.stop();
    relaying.join().map_err(|_| WireError::Panicked)??;
    Ok(done)
}

/// The sockets of a server.
struct Door {
    udp: EventLoop,
    tcp: Option<TcpListener>,
}

impl Door {
    fn open(at: SocketAddr, served: &Served<'_>) -> io::Result<Self> {
        let udp = EventLoop::bind(at)?;
        let tcp = match served.over_tcp {
            Some(_) => Some(TcpListener::bind(udp.local_addr()?)?),
            None => None,
        };
        Ok(Self { udp, tcp })
    }

    fn address(&self) -> io::Result<SocketAddr> {
        self.udp.local_addr()
    }

    fn while_open<T>(
        mut self,
        served: Served<'_>,
        client: impl FnOnce(SocketAddr) -> T,
    ) -> Result<T, WireError> {
        let Served { options, identity, site, over_tcp, .. } = served;
        let address = self.address()?;
        let stop = self.udp.stopper();
        let mut server = Server::new(address, identity, site, options)?;
        if let (Some(listener), Some(sending)) = (self.tcp, over_tcp) {
            let listeners = Listeners { secure: vec![listener], plain: Vec::new(), sending };
            gateway::serve_tcp(&mut server, listeners, identity, 1)?;
        }
        let serving = std::thread::spawn(move || self.udp.run(&mut server));
        let done = client(address);
        stop.stop();
        serving.join().map_err(|_| WireError::Panicked)??;
        Ok(done)
    }
}
