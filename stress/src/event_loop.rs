//! The sockets and the clock of attackers and visitors.

mod backend;
mod crowd;
mod over_tcp;
mod soaking;
mod tcp_stream;
mod visitors_over_tcp;

use crate::attack::{Attack, Way};
use crate::client_connection::config;
use crate::cpu_time::CpuTime;
use crate::files::File;
use crate::limits::{CONNECTIONS_MAX, SETTLE, VISITORS};
use crate::memory::resident_bytes;
use crate::outcome::{Attacked, Outcome, PHASES, Served, Visited};
use crate::scripts::Script;
use crate::scripts::over_tcp::MakeScript;
use crate::scripts::tunnels::Talk;
use crate::visitors::{Visit, served};
use backend::Backend;
use connection::ConnectError;
use crowd::Crowd;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

pub use soaking::{Soak, soak};

/// The server to attack. It must be on this machine.
#[derive(Debug, Clone)]
pub struct Target {
    address: SocketAddr,
    /// The host that clients request, perhaps with a port.
    pub authority: String,
    /// Its files. Visitors load the first one.
    files: Vec<File>,
    /// The server's process, whose memory is read.
    process: Option<u32>,
    /// The server's backend, which participates.
    backend: Option<Arc<Backend>>,
    /// The factor by which an attack's connections are multiplied.
    pub size: usize,
}

/// An attack that cannot be tried.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StressError {
    #[error("{0}: not a loopback address; attacks go to servers on this machine only")]
    Elsewhere(SocketAddr),
    #[error(
        "{0}: did not give every visitor the file within 15 s; is a server listening there? Large files need --path with a small one"
    )]
    Silent(SocketAddr),
    #[error(
        "{address}: answers {path} for the host {authority} without success; name one of its files with --path, and a host of its certificate with --host"
    )]
    NoFile { address: SocketAddr, path: String, authority: String },
    #[error("process {0}: not there")]
    NoProcess(u32),
    #[error(
        "{0}: needs a backend that participates; give --backend ADDR:PORT, and start the server with --upstream http://ADDR:PORT --websockets"
    )]
    NoBackend(&'static str),
    #[error(
        "--backend {address}: {cause}; choose a port that is free, and give it to the server with --upstream"
    )]
    Backend {
        address: SocketAddr,
        #[source]
        cause: io::Error,
    },
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("socket: {0}")]
    Socket(#[from] io::Error),
}

impl Target {
    /// A server at a loopback address, with its files and perhaps its process.
    pub fn new(
        address: SocketAddr,
        files: Vec<File>,
        process: Option<u32>,
    ) -> Result<Self, StressError> {
        if !address.ip().is_loopback() {
            return Err(StressError::Elsewhere(address));
        }
        if let Some(missing) = process.filter(|process| resident_bytes(*process).is_none()) {
            return Err(StressError::NoProcess(missing));
        }
        let authority = "localhost".to_owned();
        Ok(Self { address, authority, files, process, backend: None, size: 1 })
    }

    /// The same server, with this program as its backend at a loopback address, during the lifetime of the target.
    pub fn before_backend_at(self, address: SocketAddr) -> Result<Self, StressError> {
        if !address.ip().is_loopback() {
            return Err(StressError::Elsewhere(address));
        }
        Ok(Self { backend: Some(Backend::start(address)?.into()), ..self })
    }

    /// Whether a backend participates.
    pub fn has_backend(&self) -> bool {
        self.backend.is_some()
    }

    /// The number of connections for an attack with this number in the list.
    fn sized(&self, connections: usize) -> usize {
        (connections * self.size).min(CONNECTIONS_MAX)
    }

    /// Whether attacks over TCP find somebody.
    pub fn answers_over_tcp(&self) -> Result<bool, StressError> {
        tcp_stream::answers(self)
    }

    /// The files that visitors load.
    fn path(&self) -> &str {
        self.files.first().map_or("/", |it| &it.path)
    }

    fn memory(&self) -> Option<u64> {
        self.process.and_then(resident_bytes)
    }
}

/// Carries out an attack of this length, after a preceding phase of the same length. Visitors have their own threads, so
/// that they do not wait for the attackers' work, and stay for a third phase. Visitors over TCP are added for attacks
/// over TCP.
pub fn run(target: &Target, attack: &Attack, length: Duration) -> Result<Outcome, StressError> {
    let attackers = Attackers::new(target, attack, length)?;
    let cpu_time = || target.process.and_then(CpuTime::read);
    let cpu_before = cpu_time();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (begin, begun) = channel();
        let guests = attack
            .is_over_tcp()
            .then(|| visitors_over_tcp::Visitors::come(scope, target, &is_over));
        let visitors = scope.spawn(move || visit(target, length, &begin));
        // The sender is dropped if the visitors have failed, and they report why.
        let began = begun.recv().ok();
        let attacked = began.map(|began| attackers.attack(began + length));
        let visited = visitors.join().unwrap_or(Err(StressError::Silent(target.address)));
        is_over.store(true, Ordering::Relaxed);
        let Stay { served, refused, memory: memory_then } = visited?;
        let attacked = attacked.transpose()?.unwrap_or_default();
        let guests = guests.zip(began).map(|(guests, began)| guests.left(began, length));
        let (over_tcp, failed) = guests.unwrap_or_default();
        let mut outcome = Outcome {
            attack: attack.name,
            visitors: std::iter::once(Visited::new("HTTP/3", served)).chain(over_tcp).collect(),
            refused: refused + failed,
            memory_bytes: memories(memory_then, attacked.memory_most, target.memory()),
            others_cpu_share: cpu_time()
                .zip(cpu_before)
                .map(|(now, then)| now.share_of_others(then)),
            failures: Vec::new(),
            undecided: Vec::new(),
            attacked,
        };
        outcome.judge(attack.codes);
        Ok(outcome)
    })
}

/// The clients that carry out an attack.
struct Attackers<'a> {
    target: &'a Target,
    means: Means<'a>,
    length: Duration,
}

enum Means<'a> {
    Quic(Box<Crowd<'a>>, Box<dyn Script>, Vec<Vec<u8>>),
    Tcp(usize, MakeScript),
    /// The same, with WebSockets to this backend, which treats them in this way.
    Tunnels(usize, MakeScript, &'a Backend, Talk),
}

impl<'a> Attackers<'a> {
    fn new(target: &'a Target, attack: &Attack, length: Duration) -> Result<Self, StressError> {
        let means = match attack.way {
            Way::Tcp(connections, make) => Means::Tcp(connections, make),
            Way::Tunnels(connections, make, talk) => {
                let backend = target.backend.as_deref();
                let backend = backend.ok_or(StressError::NoBackend(attack.name))?;
                Means::Tunnels(connections, make, backend, talk)
            }
            Way::Quic(script) => {
                let script = script(&target.files);
                let mut crowd = Crowd::new(target)?;
                let first_packets = if script.sends_first_packets() {
                    crowd.first_packets(length)?
                } else {
                    Vec::new()
                };
                Means::Quic(Box::new(crowd), script, first_packets)
            }
        };
        Ok(Self { target, means, length })
    }

    /// Carries it out from `start` on.
    fn attack(self, start: Instant) -> Result<Attacked, StressError> {
        let Self { target, means, length } = self;
        let (mut crowd, mut script, first_packets) = match means {
            Means::Tcp(count, make) => {
                return Ok(over_tcp::attack(target, make, count, start, length));
            }
            Means::Tunnels(count, make, backend, talk) => {
                backend.talk(talk);
                let asked_before = backend.asked();
                let attacked = over_tcp::attack(target, make, count, start, length);
                let complaint = (backend.asked() == asked_before).then(|| NO_TUNNEL.to_owned());
                return Ok(Attacked { complaint, ..attacked });
            }
            Means::Quic(crowd, script, first_packets) => (crowd, script, first_packets),
        };
        let memory_most = crowd.attack(script.as_mut(), first_packets, start, length)?;
        Ok(Attacked {
            memory_most,
            amplification: crowd.amplification(),
            complaint: script.complaint(&crowd.parties()),
            codes: crowd.codes,
        })
    }
}

/// An attack on WebSockets whose result does not concern the server.
const NO_TUNNEL: &str =
    "no WebSocket reached the backend; is the server started with --websockets?";

fn memories(before: Option<u64>, most: Option<u64>, after: Option<u64>) -> Option<[u64; 3]> {
    Some([before?, most?, after?])
}

/// The responses of visitors over HTTP/3 in each phase, and the server's memory before the attack.
struct Stay {
    served: [Served; PHASES],
    refused: u64,
    memory: Option<u64>,
}

/// Visits before, during and after an attack. Signals `begin` at the start.
fn visit(target: &Target, length: Duration, begin: &Sender<Instant>) -> Result<Stay, StressError> {
    let mut crowd = Crowd::new(target)?;
    let mut visits: Vec<Visit> = (0..VISITORS).map(|_| Visit::default()).collect();
    for _ in 0..VISITORS {
        crowd.join(&config())?;
    }
    let patience = now() + PATIENCE;
    loop {
        crowd.visit_until(&mut visits, now() + WARM_UP)?;
        match crowd.check() {
            Err(StressError::Silent(_)) if now() < patience => {}
            checked => break checked?,
        }
    }
    served(&mut visits, length, now());
    let start = now();
    // There is no receiver if the attackers have failed.
    begin.send(start).ok();
    let mut phase = |number: u32| {
        crowd.visit_until(&mut visits, start + number * length)?;
        Ok::<_, StressError>(served(&mut visits, length, now()))
    };
    let (before, memory) = (phase(1)?, target.memory());
    let served = [before, phase(2)?, phase(3)?];
    if target.process.is_some() {
        crowd.visit_until(&mut visits, start + 2 * length + SETTLE)?;
    }
    let refused = crowd.parties().iter().map(|it| it.refused).sum();
    Ok(Stay { served, refused, memory })
}

/// The longest pause between two turns.
const TICK: Duration = Duration::from_millis(5);

/// The time for visitors to connect, and for the server to load their file.
const WARM_UP: Duration = Duration::from_millis(500);

/// The deadline for each visitor's first response, for a busy machine or a large file.
const PATIENCE: Duration = Duration::from_secs(15);

#[expect(
    clippy::disallowed_methods,
    reason = "this is where attackers and visitors read the clock"
)]
fn now() -> Instant {
    Instant::now()
}
