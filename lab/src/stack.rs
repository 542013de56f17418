//! The engine `stack`: the real server core and the real client core over quiche, through simulated links,
//! in virtual time.
//!
//! The seed determines what the links do: datagram n of a direction meets the same fate under every scheme. It also
//! determines which packet numbers quiche skips, on every network. Two loads with the same seed are therefore identical, to the
//! nanosecond, and two with different ones need not be.
//!
//! On a `server_pace` network, the server sends one packet of 1400 stream bytes per tick, with its window wide open, and
//! the links do not limit the rate, as on the wire. A packet then arrives when its tick begins; on `ideal`, when its
//! tick ends.

mod busy_server;
mod others;
mod timeline_log;

use crate::cross_traffic::CrossTraffic;
use crate::network::Network;
use crate::push_and_hints::PushAndHints;
use crate::{DeliveryOrder, FileError, Load, Loaded, Metadata, write_file};
use client::{Client, ClientConfig, ConnectError, Verify};
use connection::MemoryLog;
use connection::experiments::SendOrder;
use corpus::Page;
use gateway::site::RuledSite;
use others::{Others, Servers};
use qlog_tools::reader::{ReadError, read};
use server::{Identity, Options, Server, TlsError};
use simulator::link::LinkLogEntry;
use simulator::{Links, World};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use timeline_log::TimelineLog;

/// Why a load cannot be carried out. A load that does not finish is a [`StackLoad`] with a problem.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages and types say it")]
pub enum StackError {
    #[error(transparent)]
    Server(#[from] TlsError),
    #[error(transparent)]
    Client(#[from] ConnectError),
    #[error(transparent)]
    Log(#[from] ReadError),
    #[error(transparent)]
    Keep(#[from] FileError),
}

/// One load, with the links' records.
#[derive(Debug, Clone)]
pub struct StackLoad {
    /// The load.
    pub load: Load,
    /// Differences from the page's description.
    pub problems: Vec<String>,
    /// Its end, according to the client.
    pub outcome: client::Outcome,
    /// Virtual time from the client's start to the end of the connection.
    pub simulated: Duration,
    /// Datagrams that arrived at either end.
    pub datagrams: u64,
    /// The fate of each datagram, if logs were requested.
    pub verdicts: Vec<LinkLogEntry>,
}

/// The settings of a load, besides its page.
#[derive(Clone)]
pub struct Setup<'a> {
    /// The server's options, with the network's pace if it has one.
    pub options: Options,
    /// The links.
    pub network: &'a Network,
    /// Cross traffic on the links, which starts 5 seconds or 20 round trips before the client.
    pub cross: CrossTraffic,
    /// The facts about resources that the server gives its scheme.
    pub metadata: Metadata,
    /// The order in which the client delivers data.
    pub delivery_order: DeliveryOrder,
    /// The seed of all random events.
    pub seed: u64,
    /// The server's certificate; one serves any number of loads.
    pub identity: &'a Identity,
    /// Keep both qlogs and `links.jsonl`, the links' verdicts, in this folder, which must exist.
    pub log_dir: Option<&'a Path>,
    /// Keep the client's log in this folder if the load does not finish.
    pub unfinished_log_dir: Option<&'a Path>,
}

impl<'a> Setup<'a> {
    /// Defaults: the first seed, no cross traffic, full metadata, no logs.
    pub fn new(options: Options, network: &'a Network, identity: &'a Identity) -> Self {
        Self {
            options,
            network,
            cross: CrossTraffic::None,
            metadata: Metadata::default(),
            delivery_order: DeliveryOrder::default(),
            seed: 0,
            identity,
            log_dir: None,
            unfinished_log_dir: None,
        }
    }
}

/// The ends of a load, if not a [`PageSite`] and a client without pushes.
#[derive(Clone)]
pub struct Ends {
    /// The site that is served.
    pub site: RuledSite,
    /// The client's options, except patience and trust.
    pub client: client::Options,
}

/// Loads `page` once.
pub fn load(page: &Arc<Page>, setup: Setup<'_>) -> Result<StackLoad, StackError> {
    let scheme = Some(setup.options.scheme.clone());
    let site = PushAndHints::default().site(page, setup.metadata);
    let client = client::Options { scheme, ..client::Options::default() };
    load_between(page, &Ends { site, client }, setup)
}

/// Loads `page` once between these ends.
pub fn load_between(
    page: &Arc<Page>,
    ends: &Ends,
    mut setup: Setup<'_>,
) -> Result<StackLoad, StackError> {
    if setup.delivery_order == DeliveryOrder::Connection {
        setup.options.experiments.send_order = Some(SendOrder::default());
    }
    let send_order = setup.options.experiments.send_order.clone();
    let scheme = setup.options.scheme.name.clone();
    let (log_dir, unfinished_log_dir) = (setup.log_dir, setup.unfinished_log_dir);
    let log = MemoryLog::default();
    let mut others = Others::new(setup.cross, setup.network, setup.seed);
    let mut world = world(ends, &setup)?;
    others.lead(&mut world)?;
    let start = world.elapsed();
    let mut client = client(page, ends, &setup, &log, world.now())?;
    while client.outcome().is_none() && others.step(&mut world, Some(&mut client), None)? {}
    let outcome = client.outcome().cloned().unwrap_or_default();
    let (simulated, datagrams) = (world.elapsed().saturating_sub(start), world.links.delivered());
    let verdicts = world.links.take_log();
    // Dropping both ends finishes their logs.
    drop((world, client));
    let bytes = log.take();
    if let Some(folder) = log_dir {
        write_file(&folder.join("client.sqlog"), &bytes)?;
        let lines: String = verdicts.iter().map(LinkLogEntry::json_line).collect();
        write_file(&folder.join("links.jsonl"), lines)?;
    }
    let timeline = read("the client's log", bytes.as_slice())?.timeline;
    let Loaded { load, problems, outcome, .. } =
        Loaded::over_transport(outcome, timeline, &scheme, send_order);
    if let Some(folder) = unfinished_log_dir.filter(|_| !load.completed && log_dir.is_none()) {
        write_file(&folder.join("client.sqlog"), &bytes)?;
    }
    Ok(StackLoad { load, problems, outcome, simulated, datagrams, verdicts })
}

/// The deadline of a handshake, and the longest silence of a connection: networks here are slow and lose packets.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) const CLIENT: ([u8; 4], u16) = ([127, 0, 0, 1], 5000);
/// The server's address.
pub const SERVER: ([u8; 4], u16) = ([127, 0, 0, 1], 4433);

/// A client's transport with long deadlines that accepts any certificate.
pub fn patient(transport: ClientConfig) -> ClientConfig {
    ClientConfig { verify: Verify::Nobody, connect_within: PATIENCE, idle: PATIENCE, ..transport }
}

/// A server that waits as long as a [`patient`] client.
fn patient_server(
    site: RuledSite,
    mut options: Options,
    identity: &Identity,
) -> Result<Server, StackError> {
    options.limits.idle = PATIENCE;
    Ok(Server::new(SERVER.into(), identity, site, options)?)
}

/// A server behind the links of `network`, without cross traffic.
pub fn server_world(
    site: RuledSite,
    options: Options,
    identity: &Identity,
    network: &Network,
    seed: u64,
) -> Result<World<Server>, StackError> {
    let server = patient_server(site, options, identity)?;
    let (down, up) = network.profiles();
    Ok(World::new(server, Links::new(&down, &up, seed)))
}

/// The page's server and the cross traffic's server, behind the links.
fn world(ends: &Ends, setup: &Setup<'_>) -> Result<World<Servers>, StackError> {
    let qlog_dir = setup.log_dir.map(Path::to_owned);
    let options = Options { qlog_dir, ..setup.options.clone() };
    let page = patient_server(ends.site.clone(), options, setup.identity)?;
    let server = Servers::new(page, setup)?;
    let (down, up) = setup.network.profiles();
    let links = Links::new(&down, &up, setup.seed);
    let links = if setup.log_dir.is_some() { links.logged() } else { links };
    Ok(World::new(server, links))
}

/// A client that has not sent anything.
fn client(
    page: &Arc<Page>,
    ends: &Ends,
    setup: &Setup<'_>,
    log: &MemoryLog,
    now: Instant,
) -> Result<Client, StackError> {
    let options = client::Options {
        delivery_order: setup.options.experiments.send_order.clone(),
        transport: patient(ends.client.transport.clone()),
        ..ends.client.clone()
    };
    let mut client =
        Client::connect(Arc::clone(page), CLIENT.into(), SERVER.into(), &options, now)?;
    if setup.log_dir.is_some() {
        client.log_to(Box::new(log.clone()));
    } else {
        client.log_to(Box::new(TimelineLog::new(log.clone())));
    }
    Ok(client)
}
