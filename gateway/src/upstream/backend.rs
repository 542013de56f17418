//! The thread of a backend: it runs the tasks of exchanges.

use super::address::Address;
use super::carrier::Carrier;
use super::connections::{Connections, StartError};
use super::fields::BackendRequest;
use super::reports::Report;
use super::slots::{Place, Slots};
use crate::limits::UpstreamLimits;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::runtime::Builder;
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};

/// Threads for name resolution; each resolves one name at a time.
const NAME_THREADS: usize = 2;

pub(super) struct Backend {
    /// The arrivals; at most as many as there are slots.
    arrivals: UnboundedSender<Arrival>,
    places: Arc<Slots>,
    /// Slots of WebSockets, which last long.
    tunnels: Arc<Slots>,
    /// The number of requests so far.
    count: AtomicU64,
}

type Arrival = (BackendRequest, Place);

impl Backend {
    /// Starts the thread. When this is dropped, the thread ends after the exchanges in progress.
    pub(super) fn start(
        address: &Address,
        limits: &UpstreamLimits,
        report: Report,
    ) -> Result<Self, StartError> {
        let carrier = Carrier::new(address, Connections::new(address, limits)?, limits, report);
        let runtime = Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(NAME_THREADS)
            .build()?;
        let (arrivals, coming) = unbounded_channel();
        let builder = std::thread::Builder::new().name("upstream".to_owned());
        builder.spawn(move || runtime.block_on(carry_all(&carrier, coming)))?;
        let places = Slots::new(limits.requests, limits.waiting);
        let tunnels = Slots::new(limits.tunnels, limits.waiting);
        Ok(Self { arrivals, places, tunnels, count: AtomicU64::new(0) })
    }

    /// Accepts a request. Returns `false` if too many wait.
    pub(super) fn take(&self, backend_request: BackendRequest) -> bool {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let places = if backend_request.request.is_tunnel { &self.tunnels } else { &self.places };
        let place = places.enter(backend_request.request.client, number);
        place.is_some_and(|it| self.arrivals.send((backend_request, it)).is_ok())
    }
}

async fn carry_all(carrier: &Arc<Carrier>, mut coming: UnboundedReceiver<Arrival>) {
    let (alive, mut over): (_, Receiver<Infallible>) = channel(1);
    while let Some((backend_request, place)) = coming.recv().await {
        let (carrier, alive) = (Arc::clone(carrier), alive.clone());
        tokio::spawn(async move {
            carrier.carry(backend_request, place).await;
            drop(alive);
        });
    }
    drop(alive);
    // Nothing is ever sent: this waits until all tasks have ended.
    over.recv().await;
}
