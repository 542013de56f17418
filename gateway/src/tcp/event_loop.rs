//! The connections over TCP, with their sockets. The first of their threads accepts clients.

use super::activity::now;
use super::handshakes;
use super::threads::{Threads, runtime, start, start_further};
use super::{connection, proxy_header, redirect};
use crate::limits::{ACCEPT_PAUSE, UNSENT_BYTES, tcp_connections};
use boring::ssl::SslAcceptor;
use parking_lot::Mutex;
use server::account::{Account, Ledger};
use server::client::Client;
use server::population::{Place, Population};
use server::site::Site;
use server::tls::acceptor;
use server::{
    Common, Companion, Event, Identity, Limits, Options, QlogFolder, Refusal, Server, TlsError,
};
use socket2::SockRef;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{self, channel};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// Where a server listens besides its UDP address.
#[derive(Debug)]
pub struct Listeners {
    /// For HTTP/2 and HTTP/1.1 over TLS.
    pub secure: Vec<TcpListener>,
    /// For plain HTTP, which is redirected to `https` at the port of `Alt-Svc`.
    pub plain: Vec<TcpListener>,
    /// How the system sends on secure connections.
    pub sending: Sending,
}

/// How the system sends over TCP.
#[derive(Debug, Clone)]
pub struct Sending {
    /// Unsent bytes of a connection above which the system accepts no more (`TCP_NOTSENT_LOWAT`). They are sent before more urgent
    /// responses.
    pub unsent_bytes: u32,
    /// The system's name of a congestion control. `None`: the system's default.
    pub congestion_control: Option<String>,
}

impl Default for Sending {
    fn default() -> Self {
        Self { unsent_bytes: UNSENT_BYTES, congestion_control: None }
    }
}

impl Sending {
    /// Connections inherit it from the listener that accepts them.
    fn prepare(&self, listener: &TcpListener) -> Result<(), StartError> {
        let socket = SockRef::from(listener);
        #[cfg(target_os = "linux")]
        {
            // Without it, the order is less strict, but the server works.
            socket.set_tcp_notsent_lowat(self.unsent_bytes).ok();
            if let Some(name) = &self.congestion_control {
                let set = socket.set_tcp_congestion(name.as_bytes());
                set.map_err(|_| StartError::CongestionControl(name.clone()))?;
            }
        }
        socket.set_tcp_nodelay(true)?;
        Ok(())
    }
}

/// Why a server cannot serve over TCP.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StartError {
    #[error("TCP: {0}")]
    System(#[from] io::Error),
    #[error("{0}")]
    Tls(#[from] TlsError),
    #[error(
        "TCP congestion control {0:?}: the system does not have it; use one listed by `sysctl net.ipv4.tcp_available_congestion_control`, or load it (`modprobe tcp_{0}`)"
    )]
    CongestionControl(String),
}

/// The settings for new connections.
pub(super) struct Current {
    pub(super) site: Arc<dyn Site>,
    pub(super) options: Arc<Options>,
    pub(super) acceptor: SslAcceptor,
    pub(super) qlogs: Option<QlogFolder>,
}

impl Current {
    fn new(
        identity: &Identity,
        site: Arc<dyn Site>,
        options: Options,
        qlogs: Option<QlogFolder>,
    ) -> Result<Self, TlsError> {
        Ok(Self { site, options: Arc::new(options), acceptor: acceptor(identity)?, qlogs })
    }
}

/// How far the server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Open,
    /// Responses in progress end.
    Draining,
    /// Everything ends.
    Over,
}

/// Tells a task the server's phase.
#[derive(Clone)]
pub(crate) struct News(watch::Receiver<Phase>);

impl News {
    pub(super) async fn reached(&mut self, phase: Phase) {
        // The sender lives as long as the thread.
        self.0.wait_for(|it| *it >= phase).await.ok();
    }

    pub(super) fn is_at(&mut self, phase: Phase) -> bool {
        *self.0.borrow() >= phase
    }
}

/// The connections of a server over TCP. They end when this is dropped.
struct TcpServer {
    phase: watch::Sender<Phase>,
    current: watch::Sender<Arc<Current>>,
    threads: Threads,
    is_over: Arc<AtomicBool>,
    first: Option<JoinHandle<()>>,
}

/// Serves the same site over HTTP/2 and HTTP/1.1, on `threads` of its own, at least one. It reloads and ends with the server. The
/// limits on connections apply to both together.
pub fn serve_tcp(
    server: &mut Server,
    listeners: Listeners,
    identity: &Identity,
    threads: u8,
) -> Result<(), StartError> {
    let tcp = TcpServer::start(listeners, identity, server.common(), threads)?;
    server.stand_beside(tcp);
    Ok(())
}

impl TcpServer {
    /// Starts the threads, which share their clients and the ledger with HTTP/3.
    fn start(
        listeners: Listeners,
        identity: &Identity,
        common: Common,
        threads: u8,
    ) -> Result<Self, StartError> {
        let Common { site, options, population, ledger, alarm, qlogs } = common;
        let port = options.alt_svc_port;
        let (current, renewed) =
            watch::channel(Arc::new(Current::new(identity, site, options, qlogs)?));
        let (phase, news) = watch::channel(Phase::Open);
        let (first, news) = (runtime()?, News(news));
        let further = (1..threads).map(|_| runtime()).collect::<io::Result<Vec<_>>>()?;
        let threads = Threads::of(std::iter::once(&first).chain(&further));
        let further = further.into_iter().map(|it| start_further(it, news.clone()));
        let further = further.collect::<io::Result<Vec<_>>>()?;
        let doors = doors(&first, listeners, port)?;
        let hall = Hall { renewed, news, population, threads: threads.clone(), ledger };
        let is_over = Arc::<AtomicBool>::default();
        let (over, ending) = (Arc::clone(&is_over), phase.clone());
        let first = start(move || {
            first.block_on(hall.run(doors));
            ending.send_replace(Phase::Over);
            // Dropping its runtime ends everything in progress on a thread.
            drop(first);
            // A thread that has panicked has no more connections, either.
            for thread in further {
                thread.join().ok();
            }
            over.store(true, Ordering::SeqCst);
            alarm.wake();
        })?;
        Ok(Self { phase, current, threads, is_over, first: Some(first) })
    }

    fn reach(&self, phase: Phase) {
        self.phase.send_if_modified(|it| std::mem::replace(it, phase.max(*it)) < phase);
    }
}

impl Companion for TcpServer {
    fn renew(
        &self,
        identity: &Identity,
        site: Arc<dyn Site>,
        options: Options,
    ) -> Result<(), TlsError> {
        let qlogs = self.current.borrow().qlogs.clone();
        self.current.send_replace(Arc::new(Current::new(identity, site, options, qlogs)?));
        Ok(())
    }

    fn drain(&self) {
        self.reach(Phase::Draining);
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    fn cut(&self) -> usize {
        let left = self.threads.open();
        self.reach(Phase::Over);
        left
    }
}

impl Drop for TcpServer {
    fn drop(&mut self) {
        self.reach(Phase::Over);
        if let Some(thread) = self.first.take() {
            // If it has panicked, its connections have ended, too.
            thread.join().ok();
        }
    }
}

/// A listening socket, and the service for its clients.
struct Door {
    listener: tokio::net::TcpListener,
    leads_to: Leads,
}

#[derive(Clone, Copy)]
enum Leads {
    Site,
    /// To `https` at this port.
    Elsewhere(u16),
}

/// The doors. Plain HTTP redirects to this port, or to the port of the secure listener.
fn doors(
    runtime: &Runtime,
    listeners: Listeners,
    port: Option<u16>,
) -> Result<Vec<Door>, StartError> {
    let _context = runtime.enter();
    let of_first = || listeners.secure.first().map(TcpListener::local_addr).transpose();
    let port = match port {
        Some(port) => port,
        None => of_first()?.map_or(0, |it| it.port()),
    };
    let door = |listener: TcpListener, leads_to| {
        listener.set_nonblocking(true)?;
        Ok(Door { listener: tokio::net::TcpListener::from_std(listener)?, leads_to })
    };
    for listener in &listeners.secure {
        listeners.sending.prepare(listener)?;
    }
    let secure = listeners.secure.into_iter().map(|it| (it, Leads::Site));
    let plain = listeners.plain.into_iter().map(|it| (it, Leads::Elsewhere(port)));
    secure.chain(plain).map(|(it, leads_to)| door(it, leads_to)).collect()
}

/// The state that all doors share.
#[derive(Clone)]
struct Hall {
    renewed: watch::Receiver<Arc<Current>>,
    news: News,
    population: Arc<Mutex<Population>>,
    threads: Threads,
    ledger: Arc<Ledger>,
}

impl Hall {
    /// Accepts clients until the server drains, and waits for the accepted ones.
    async fn run(mut self, doors: Vec<Door>) {
        let (alive, mut over): (_, mpsc::Receiver<Infallible>) = channel(1);
        for door in doors {
            tokio::spawn(self.clone().welcome(door, alive.clone()));
        }
        drop(alive);
        tokio::select! {
            // Nothing is ever sent: this waits until all tasks have ended.
            _ = over.recv() => {}
            () = self.news.reached(Phase::Over) => {}
        }
    }

    async fn welcome(mut self, door: Door, alive: mpsc::Sender<Infallible>) {
        loop {
            let came = tokio::select! {
                came = door.listener.accept() => came,
                () = self.news.reached(Phase::Draining) => return,
            };
            match came {
                Ok((stream, client)) => self.let_in(stream, client, door.leads_to, &alive),
                // The client has already disconnected, or descriptors have run out.
                Err(_) => sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    /// Accepts a client. A client behind a proxy is known once the proxy has named it.
    fn let_in(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        leads_to: Leads,
        alive: &mpsc::Sender<Infallible>,
    ) {
        let current = Arc::clone(&self.renewed.borrow());
        if !current.options.proxies.send_header_from(peer.ip()) {
            return self.admit(stream, peer, leads_to, alive);
        }
        let (hall, alive, options) = (self.clone(), alive.clone(), Arc::clone(&current.options));
        if self.threads.open() >= tcp_connections() {
            return options.observers.notice(&Event::Refused(Refusal::Full));
        }
        let Ok(stream) = stream.into_std() else { return };
        self.threads.serve(async move {
            let Ok(mut stream) = TcpStream::from_std(stream) else { return };
            let named = proxy_header::client(&mut stream, peer);
            match timeout(options.limits.handshake, named).await {
                Ok(Some(client)) => hall.admit(stream, client, leads_to, &alive),
                _ => options.observers.notice(&Event::NotEntered),
            }
        });
    }

    /// Gives a client a slot, if there is one, and serves it when its turn comes.
    fn admit(
        &self,
        stream: TcpStream,
        client: SocketAddr,
        leads_to: Leads,
        alive: &mpsc::Sender<Infallible>,
    ) {
        let current = Arc::clone(&self.renewed.borrow());
        let account = Account::new(&self.ledger, Client::at(Some(client.ip())));
        let limits = &current.options.limits;
        let (place, wait) = match self.place(client.ip(), &account, leads_to, limits) {
            Ok(place) => place,
            Err(refusal) => return current.options.observers.notice(&Event::Refused(refusal)),
        };
        let mut news = self.news.clone();
        let alive = alive.clone();
        // Its events must reach the thread that serves it.
        let Ok(stream) = stream.into_std() else { return };
        self.threads.serve(async move {
            let Ok(stream) = TcpStream::from_std(stream) else { return };
            match leads_to {
                Leads::Site => {
                    tokio::select! {
                        () = sleep(wait) => {}
                        () = news.reached(Phase::Draining) => return,
                    }
                    let _place = place;
                    connection::serve(stream, client, current, news, account).await;
                }
                Leads::Elsewhere(port) => {
                    redirect::serve(stream, client, current, news, port, place).await;
                }
            }
            drop(alive);
        });
    }

    /// A slot for a client, and the time until its turn for the handshake.
    fn place(
        &self,
        client: IpAddr,
        account: &Account,
        leads_to: Leads,
        limits: &Limits,
    ) -> Result<(Place, Duration), Refusal> {
        let place = Place::take(&self.population, client, limits)?;
        if self.threads.open() >= tcp_connections() {
            return Err(Refusal::Full);
        }
        let wait = match leads_to {
            Leads::Site => handshakes::turn(account, limits, now()).ok_or(Refusal::Network)?,
            Leads::Elsewhere(_) => Duration::ZERO,
        };
        Ok((place, wait))
    }
}
