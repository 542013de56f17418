//! The engine `wire`: the real server and the real client over UDP on loopback, in real time; on a network
//! other than `paper` through the lab's links as a relay.

use crate::Load;
use crate::link::event_loop::Relay;
use crate::network::Network;
use client::Verify;
use client::event_loop::PlayError;
use corpus::Page;
use qlog_tools::reader::{ReadError, read_file};
use server::event_loop::{EventLoop, Stop};
use server::site::PageSite;
use server::{Identity, Options, Server, TlsError};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A page load on the wire that could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The socket cannot be had.
    #[error("socket: {0}")]
    Socket(#[from] io::Error),
    /// The server cannot be made.
    #[error(transparent)]
    Server(#[from] TlsError),
    /// The client cannot play.
    #[error(transparent)]
    Client(#[from] PlayError),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] ReadError),
    /// A thread died.
    #[error("a thread of the server or of the link panicked")]
    Panicked,
    /// The load failed.
    #[error("page `{page}` under {scheme}: {problem}")]
    Failed {
        /// The page.
        page: String,
        /// The scheme.
        scheme: String,
        /// What went wrong first.
        problem: String,
    },
}

/// Loads `page` once from a server of its own with `options`; logs go to `log_dir`, which must exist. The client
/// signals as the server's scheme does.
pub fn load(page: &Arc<Page>, options: Options, log_dir: &Path) -> Result<Load, WireError> {
    let client =
        client::Options { scheme: Some(options.scheme.clone()), ..client::Options::default() };
    load_through(page, options, client, None, log_dir)
}

/// The same with a client of `client_options`, whose trust, log and patience are set here, through the links
/// of a network, which draw from a seed. The server is to keep the network's pace where it has one.
pub fn load_through(
    page: &Arc<Page>,
    options: Options,
    client_options: client::Options,
    network: Option<(&Network, u64)>,
    log_dir: &Path,
) -> Result<Load, WireError> {
    let scheme = options.scheme.clone();
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut event_loop = EventLoop::bind(any)?;
    let address = event_loop.local_addr()?;
    let stop = event_loop.stopper();
    let site = Arc::new(PageSite::new(Page::clone(page)));
    let mut server = Server::new(address, &Identity::self_signed()?, site, options)?;
    let relaying = match network {
        Some((network, seed)) => {
            Some(relay(Relay::bind(any, address, network.clone(), seed)?.behind_paced_server())?)
        }
        None => None,
    };
    let entrance = relaying.as_ref().map_or(address, |it| it.address);
    let serving = std::thread::spawn(move || event_loop.run(&mut server));
    let log = log_dir.join("client.sqlog");
    let client_options = client::Options {
        verify: Verify::Nobody,
        qlog_file: Some(log.clone()),
        connect_within: PATIENCE,
        idle: PATIENCE,
        ..client_options
    };
    let played = client::event_loop::play(Arc::clone(page), entrance, &client_options);
    if let Some(relaying) = relaying {
        relaying.stop.stop();
        relaying.thread.join().map_err(|_| WireError::Panicked)??;
    }
    stop.stop();
    serving.join().map_err(|_| WireError::Panicked)??;
    let outcome = played?;
    if let Some(problem) = outcome.problems.first() {
        let (page, scheme) = (page.name.clone(), scheme.name);
        return Err(WireError::Failed { page, scheme, problem: problem.to_string() });
    }
    let mut timeline = read_file(&log)?.timeline;
    timeline.name = scheme.name;
    Ok(Load { completed: outcome.completed, timeline })
}

/// A relay at work.
struct Relaying {
    address: SocketAddr,
    stop: Stop,
    thread: std::thread::JoinHandle<io::Result<()>>,
}

fn relay(mut relay: Relay) -> io::Result<Relaying> {
    let (address, stop) = (relay.local_addr()?, relay.stopper());
    let thread = std::thread::spawn(move || relay.run(&mut |_| ()));
    Ok(Relaying { address, stop, thread })
}

/// How long a handshake may take, and a connection be silent: networks are slow and lose.
const PATIENCE: Duration = Duration::from_secs(120);
