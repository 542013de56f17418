//! Page loads on the engine `stack`, many of each, and what is left of them: medians and how far they spread.

use super::model::Path;
use super::sketch::Sketch;
use crate::ReproduceError;
use client::{HttpCache, SavedSession};
use corpus::Page;
use lab::network::Network;
use lab::stack::{Ends, Setup, StackLoad, load_between};
use page_site::PageSite;
use push::Gate;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use schedulers::{Scheme, find_scheme};
use server::site::{PushRoute, PushingSite};
use server::{CongestionControl, Identity, Options, SignalUse, TicketKey};
use simulator::link::{Profile, Queue};
use std::sync::Arc;

/// A page under one condition.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) page: Arc<Page>,
    pub(super) path: Path,
    /// What goes with the document.
    pub(super) route: PushRoute,
    /// The server's initial window, in packets of 1350 bytes.
    pub(super) window_packets: usize,
    pub(super) congestion_control: CongestionControl,
    pub(super) scheme: &'static str,
    pub(super) signals: SignalUse,
    pub(super) send_buffer_bytes: u64,
    /// What may wait before the link.
    pub(super) queue: Queue,
    /// The client was there before: its requests go with its first packet.
    pub(super) returning: bool,
    /// What the client has cached.
    pub(super) cache: HttpCache,
    /// How many loads, if not the bench's own number.
    pub(super) runs: Option<usize>,
}

/// So many packets that no page here fills them: the window of a connection that has been in use, where the source
/// takes it for no limit.
pub(super) const OPEN_WINDOW_PACKETS: usize = 1000;

/// Stream bytes of a full packet of 1350.
pub(super) const PACKET_BYTES: f64 = 1306.0;

/// What the server sends before it can be asked: as much as it may before it knows the client (RFC 9000, 8.1).
pub(super) const HANDSHAKE_BYTES: f64 = 3.0 * 1200.0;

/// What answers early data before the client has answered: of three times its two datagrams what the handshake leaves, as row
/// `native-0rtt-first-flight` measures it.
pub(super) const FIRST_FLIGHT_BYTES: f64 = 4500.0;

/// How many pushes the client allows.
const PUSHES: u64 = 100;

/// Rate and round trip differ from run to run by at most this share to either side.
pub(super) const VARIATION: f64 = 0.005;

impl Case {
    /// In an open window, first come, first served.
    pub(super) fn new(sketch: &Sketch, path: Path) -> Self {
        Self {
            page: sketch.page(),
            path,
            route: PushRoute { path: "/".into(), ..PushRoute::default() },
            window_packets: OPEN_WINDOW_PACKETS,
            congestion_control: CongestionControl::Cubic,
            scheme: "fifo",
            signals: SignalUse::Ignore,
            send_buffer_bytes: 0,
            queue: Queue::Unlimited,
            returning: false,
            cache: HttpCache::default(),
            runs: None,
        }
    }

    /// The same with pushes.
    pub(super) fn pushing(mut self, paths: &[&str]) -> Self {
        self.route.push = paths.iter().map(|it| (*it).to_owned()).collect();
        self.route.max_concurrent_pushes = Some(PUSHES);
        self
    }

    /// The same with another initial window.
    pub(super) fn window(self, window_packets: usize) -> Self {
        Self { window_packets, ..self }
    }

    /// The same with a gate; a shuffle is another one in each run.
    pub(super) fn gate(mut self, gate: Gate) -> Self {
        self.route.gate = Some(gate);
        self
    }

    /// A returning client was there with the same seed.
    fn load(&self, bench: &Bench, seed: u64) -> Result<StackLoad, ReproduceError> {
        let mut session = None;
        if self.returning {
            session = self.load_with(bench, seed, None)?.outcome.session;
        }
        self.load_with(bench, seed, session)
    }

    fn load_with(
        &self,
        bench: &Bench,
        seed: u64,
        session: Option<SavedSession>,
    ) -> Result<StackLoad, ReproduceError> {
        let network = network(self.path, self.queue, seed);
        let mut route = self.route.clone();
        if matches!(route.gate, Some(Gate::Shuffle(_))) {
            route.gate = Some(Gate::Shuffle(seed));
        }
        let site = Arc::new(PageSite::new(Page::clone(&self.page)));
        let scheme = scheme(self.scheme)?;
        let options = Options {
            initial_window_packets: self.window_packets,
            congestion_control: self.congestion_control,
            signals: self.signals,
            send_buffer_bytes: self.send_buffer_bytes,
            early_data: self.returning,
            ticket_key: self.returning.then(|| TicketKey::new([0; TicketKey::BYTES])),
            ..Options::new(scheme.clone())
        };
        let client = client::Options {
            pushes: PUSHES,
            scheme: Some(scheme),
            session,
            cache: self.cache.clone(),
            ..client::Options::default()
        };
        let ends = Ends { site: Arc::new(PushingSite::new(site, vec![route])), client };
        let setup = Setup { seed, ..Setup::new(options, &network, &bench.identity) };
        load_between(&self.page, &ends, setup)
            .map_err(|error| ReproduceError::Unusable(error.to_string()))
    }
}

fn scheme(name: &str) -> Result<Scheme, ReproduceError> {
    find_scheme(name).map_err(|error| ReproduceError::Unusable(error.to_string()))
}

/// A link that is the path, but for what varies from run to run; the way up takes no time but the delay.
fn network(path: Path, queue: Queue, seed: u64) -> Network {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut vary = |value: f64| value * (1.0 + random.random_range(-VARIATION..VARIATION));
    let (rate, delay_ms) = (vary(path.bits_per_s), vary(path.rtt_ms) / 2.0);
    Network {
        name: "push-rules".into(),
        server_pace: false,
        down: Profile { queue, ..Profile::plain(rate, delay_ms) },
        up: Profile::plain(UP_BITS_PER_S, delay_ms),
    }
}

/// Requests and acknowledgements never wait: the source's model has no way up.
const UP_BITS_PER_S: f64 = 1e9;

/// One load: times in milliseconds from the client's start.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// When the document was asked for.
    pub(super) start_ms: f64,
    /// When each resource was complete.
    pub(super) complete_ms: Vec<f64>,
    /// Responses that were pushed.
    pub(super) pushed: usize,
}

impl Run {
    fn of(page: &Page, load: &StackLoad) -> Result<Self, ReproduceError> {
        if !load.load.completed {
            return Err(ReproduceError::Unusable(format!(
                "a load of {} did not complete: {}",
                page.name,
                load.problems.join("; ")
            )));
        }
        let timeline = &load.load.timeline;
        let deliveries = timeline.deliveries();
        let complete_ms = |id: usize| {
            let url = lab::resource_url(page, id);
            let place = timeline.transfers.iter().position(|it| it.url == url)?;
            Some(deliveries[place].complete_us? as f64 / 1000.0)
        };
        let complete_ms = (0..page.resources.len()).map(complete_ms).collect::<Option<Vec<_>>>();
        Ok(Self {
            start_ms: timeline.start_us().unwrap_or(0) as f64 / 1000.0,
            complete_ms: complete_ms.ok_or_else(|| {
                ReproduceError::Unusable(format!("{}: a resource is not in the log", page.name))
            })?,
            pushed: load.outcome.pushed.len(),
        })
    }

    /// From the request for the document until all is there.
    pub(super) fn warm_ms(&self) -> f64 {
        self.last_ms() - self.start_ms
    }

    /// From the client's start until all is there.
    pub(super) fn last_ms(&self) -> f64 {
        self.complete_ms.iter().copied().fold(0.0, f64::max)
    }

    /// From the request for the document until it is there.
    pub(super) fn document_ms(&self) -> f64 {
        self.complete_ms[0] - self.start_ms
    }
}

/// Loads of one case.
#[derive(Debug, Clone)]
pub(super) struct Runs(pub(super) Vec<Run>);

/// What many loads say of one time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Middle {
    pub(super) median_ms: f64,
    /// From the first to the third quartile, as a share of the median.
    pub(super) spread: f64,
}

impl Runs {
    /// The median of a time, and its spread.
    pub(super) fn middle(&self, time: impl Fn(&Run) -> f64) -> Middle {
        let mut times: Vec<f64> = self.0.iter().map(time).collect();
        times.sort_by(f64::total_cmp);
        let median_ms = quantile(&times, 0.5);
        let spread = (quantile(&times, 0.75) - quantile(&times, 0.25)) / median_ms;
        Middle { median_ms, spread }
    }
}

/// Of sorted values, between two of them where it falls there.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 0 to the number of values"
)]
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len().saturating_sub(1)) as f64;
    let at = |place: f64| sorted.get(place as usize).copied().unwrap_or(f64::NAN);
    let (low, high) = (at(place.floor()), at(place.ceil()));
    low + (high - low) * place.fract()
}

/// Where loads are carried out.
pub(super) struct Bench {
    identity: Identity,
    pool: rayon::ThreadPool,
    /// Loads of each case.
    pub(super) runs: usize,
}

impl Bench {
    pub(super) fn new(jobs: usize, runs: usize) -> Result<Self, ReproduceError> {
        let identity =
            Identity::self_signed().map_err(|error| ReproduceError::Unusable(error.to_string()))?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.max(1)).build()?;
        Ok(Self { identity, pool, runs: runs.max(1) })
    }

    /// The loads of each case, in the order of `cases`. A seed varies all cases alike.
    pub(super) fn measure(&self, cases: &[Case]) -> Result<Vec<Runs>, ReproduceError> {
        Ok(self.loads(cases, Run::of)?.into_iter().map(Runs).collect())
    }

    /// What `of` makes of the loads of each case.
    pub(super) fn loads<T: Send>(
        &self,
        cases: &[Case],
        of: impl Fn(&Page, &StackLoad) -> Result<T, ReproduceError> + Sync,
    ) -> Result<Vec<Vec<T>>, ReproduceError> {
        let seeds = |case: &Case| 0..case.runs.unwrap_or(self.runs) as u64;
        let all: Vec<(usize, u64)> = cases
            .iter()
            .enumerate()
            .flat_map(|(place, case)| seeds(case).map(move |seed| (place, seed)))
            .collect();
        let load = |(place, seed): (usize, u64)| {
            let case = &cases[place];
            Ok((place, of(&case.page, &case.load(self, seed)?)?))
        };
        let loaded = self.pool.install(|| {
            all.into_par_iter().map(load).collect::<Result<Vec<_>, ReproduceError>>()
        })?;
        let mut loads: Vec<Vec<T>> = cases.iter().map(|_| Vec::new()).collect();
        for (place, load) in loaded {
            loads[place].push(load);
        }
        Ok(loads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_values() {
        let values = [1.0, 2.0, 3.0, 5.0];
        let text = |share| quantile(&values, share).to_string();
        assert_eq!(
            [text(0.0), text(0.25), text(0.5), text(0.75), text(1.0)],
            ["1", "1.75", "2.5", "3.5", "5"]
        );
    }

    #[test]
    fn a_seed_gives_one_network_and_another_seed_another() {
        let path = Path { bits_per_s: 1e6, rtt_ms: 100.0 };
        let network = |seed| network(path, Queue::Unlimited, seed);
        assert_eq!(network(1), network(1));
        assert_ne!(network(1), network(2));
        let delay_ms = network(3).down.delay_ms;
        assert!((49.75..50.25).contains(&delay_ms), "{delay_ms}");
    }
}
