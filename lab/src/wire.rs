//! The engine `wire`: the real server and the real client over UDP on loopback, in real time; on a network
//! other than `paper` through the lab's links as a relay.

use crate::network::Network;
use crate::push_and_hints::PushAndHints;
use crate::relay::Relay;
use crate::stack::patient;
use crate::{DeliveryOrder, Load, Metadata};
use client::event_loop::PlayError;
use connection::experiments::SendOrder;
use corpus::Page;
use gateway::site::RuledSite;
use qlog_tools::reader::{ReadError, read_file};
use server::event_loop::{EventLoop, Stop};
use server::{Identity, Options, Server, TlsError};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
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
    let served = Served { options, identity, site, links, entrance };
    let outcome = while_served(served, |server| {
        client::event_loop::play(Arc::clone(page), server, &client_options)
    })??;
    let timeline = read_file(&log)?.timeline;
    let (load, problems) = Load::over_transport(&outcome, timeline, &scheme, send_order);
    Ok(WireLoad { load, problems, outcome })
}

/// A site, and the way to it.
pub(crate) struct Served<'a> {
    pub(crate) options: Options,
    pub(crate) identity: &'a Identity,
    pub(crate) site: RuledSite,
    /// The network whose links are before the server, and the seed of the links. `None`: there are none.
    pub(crate) links: Option<(&'a Network, u64)>,
    /// Where clients come; port 0 takes a free one.
    pub(crate) entrance: SocketAddr,
}

/// Starts server and links, calls `client` with the address where it finds them, and stops both.
pub(crate) fn while_served<T>(
    served: Served<'_>,
    client: impl FnOnce(SocketAddr) -> T,
) -> Result<T, WireError> {
    let Served { options, identity, site, links, entrance } = served;
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut event_loop = EventLoop::bind(if links.is_some() { any } else { entrance })?;
    let address = event_loop.local_addr()?;
    let stop = event_loop.stopper();
    let mut server = Server::new(address, identity, site, options)?;
    let relaying = match links {
        Some((network, seed)) => {
            let relay = Relay::bind(entrance, address, network.clone(), seed)?;
            Some(relay_in_thread(relay.behind_paced_server())?)
        }
        None => None,
    };
    let entrance = relaying.as_ref().map_or(address, |it| it.address);
    let serving = std::thread::spawn(move || event_loop.run(&mut server));
    let done = client(entrance);
    if let Some(relaying) = relaying {
        relaying.stop.stop();
        relaying.thread.join().map_err(|_| WireError::Panicked)??;
    }
    stop.stop();
    serving.join().map_err(|_| WireError::Panicked)??;
    Ok(done)
}

/// A relay at work.
struct Relaying {
    address: SocketAddr,
    stop: Stop,
    thread: std::thread::JoinHandle<io::Result<()>>,
}

fn relay_in_thread(mut relay: Relay) -> io::Result<Relaying> {
    let (address, stop) = (relay.local_addr()?, relay.stopper());
    let thread = std::thread::spawn(move || relay.run(&mut |_| ()));
    Ok(Relaying { address, stop, thread })
}
