//! The engine `wire`: the real server and the real client over UDP or TCP on loopback, in real time; on a network
//! other than `paper` through the lab's links: a relay of UDP, or between two network namespaces, which carries TCP as well.

use crate::network::{Network, NetworkError};
use crate::push_and_hints::PushAndHints;
use crate::relay::Relay;
use crate::relay::tun::{self, TunError, TunRelay, enter_user_namespace};
use crate::stack::patient;
use crate::{DeliveryOrder, Load, Metadata};
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
    /// The server's, with the network's pace if it has one.
    pub options: Options,
    /// The client's, except its trust, log and patience.
    pub client: client::Options,
    /// The network whose links are between them, and the seed of the links. `None`: they talk directly.
    pub links: Option<(&'a Network, u64)>,
    /// Whether the links are between network namespaces, so that they carry TCP as well ([`check_namespaces`]).
    pub carries_tcp: bool,
    /// What the server pushes and hints.
    pub push_and_hints: PushAndHints,
    /// For how many seconds responses other than documents say that they stay fresh. `None`: they do not say.
    pub fresh_s: Option<u64>,
    /// The facts about resources that the server gives its scheme.
    pub metadata: Metadata,
    /// In which order the client hands data up.
    pub delivery_order: DeliveryOrder,
    /// Where the client's log goes; the folder must exist.
    pub log_dir: &'a Path,
}

/// One load, and what went otherwise than the page says.
#[derive(Debug, Clone)]
pub struct WireLoad {
    /// The load.
    pub load: Load,
    /// Empty when the load is complete.
    pub problems: Vec<String>,
    /// How it ended, as the client says.
    pub outcome: client::Outcome,
}

impl<'a> Setup<'a> {
    /// Without links, with everything known, and with a client that signals as the server's scheme does.
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
pub fn load(page: &Arc<Page>, setup: Setup<'_>) -> Result<WireLoad, WireError> {
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
    let (load, problems) = Load::over_transport(&outcome, timeline, &scheme, send_order);
    Ok(WireLoad { load, problems, outcome })
}

/// How the system sends over TCP what these options say of the transport. Without links, its own congestion control will do.
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

/// Finds out whether this process can make links that carry TCP. A process that is not root's may have one thread only.
pub fn check_namespaces() -> Result<(), WireError> {
    enter_user_namespace()?;
    let network = Network::find("loopback")?;
    TunRelay::between(network, 0, None)?;
    Ok(())
}

/// A site, and the way to it.
pub(crate) struct Served<'a> {
    pub(crate) options: Options,
    pub(crate) identity: &'a Identity,
    pub(crate) site: RuledSite,
    /// The network whose links are before the server, and the seed of the links. `None`: there are none.
    pub(crate) links: Option<(&'a Network, u64)>,
    /// Whether they are between network namespaces.
    pub(crate) carries_tcp: bool,
    /// Where clients come; port 0 takes a free one.
    pub(crate) entrance: SocketAddr,
    /// How the system sends to clients that come over TCP. `None`: they come over UDP.
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
