//! Loads of small pages on the engine `stack`, each repeated, and the medians of their times.

use crate::ReproduceError;
use crate::downloads::{Downloaded, Downloads};
use client::NextPage;
use corpus::Page;
use gateway::site::{Pushing, Rule, RuledSite};
use lab::Navigation;
use lab::network::Network;
use lab::push_and_hints::{PUSHES, PushAndHints};
use lab::stack::{Ends, Setup, StackLoad, load_between};
use page_site::PageSite;
use push::Gate;
use qlog_tools::saturating_cast::to_usize;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};
use server::site::fields::add;
use server::site::{Request, Response, Site};
use server::{CongestionControl, Identity, Options, SignalUse, TicketKey};
use simulator::link::Rate;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) page: Arc<Page>,
    pub(crate) network: Network,
    /// The server's pushes with the document. A shuffle is another one in each load.
    pub(crate) pushing: Pushing,
    /// A policy for the whole page, in place of `pushing`, if it does anything.
    pub(crate) push_and_hints: PushAndHints,
    /// Further fields of the document's response.
    pub(crate) fields: Vec<Field>,
    /// Whether the server acts on those fields: hints at them, pushes what they name.
    pub(crate) acts_on_fields: bool,
    pub(crate) scheme: &'static str,
    pub(crate) signals: SignalUse,
    /// The server's initial window, in packets of 1350 bytes.
    pub(crate) window_packets: usize,
    pub(crate) congestion_control: CongestionControl,
    /// Whether cubic and reno pace. The sources' TCP did not.
    pub(crate) pacing: bool,
    pub(crate) send_buffer_bytes: u64,
    pub(crate) client: client::Options,
    /// The client has been there before: its requests are sent with its first packet.
    pub(crate) returning: bool,
    /// The client loads this page first, on the same connection.
    pub(crate) before: Option<Before>,
    /// How many loads, if not the bench's own number.
    pub(crate) runs: Option<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct Before {
    pub(crate) page: Arc<Page>,
    /// From its load to the navigation.
    pub(crate) think: Duration,
    /// Whether the server's window is the initial one again after that time.
    pub(crate) idle_reset: bool,
}

pub(crate) type Field = (&'static str, String);

/// How long downloads are watched after their end: what is in flight arrives.
const LINGER_MS: f64 = 10_000.0;

/// Stream bytes of a full packet of 1350.
pub(crate) const PACKET_BYTES: u64 = 1306;

impl Case {
    /// A first visit, nothing pushed; the server sends first come, first served.
    pub(crate) fn new(page: Arc<Page>, network: Network, window_packets: usize) -> Self {
        let pushing = Pushing { max_concurrent_pushes: Some(PUSHES), ..Pushing::default() };
        Self {
            page,
            network,
            pushing,
            push_and_hints: PushAndHints::default(),
            fields: Vec::new(),
            acts_on_fields: true,
            scheme: "fifo",
            signals: SignalUse::Ignore,
            window_packets,
            congestion_control: CongestionControl::Cubic,
            pacing: false,
            send_buffer_bytes: 0,
            client: client::Options { pushes: PUSHES, ..client::Options::default() },
            returning: false,
            before: None,
            runs: None,
        }
    }

    pub(crate) fn pushing<'a>(mut self, paths: impl IntoIterator<Item = &'a str>) -> Self {
        self.pushing.push = paths.into_iter().map(str::to_owned).collect();
        self
    }

    /// A returning client's first visit has the same seed.
    fn load(&self, bench: &Bench, seed: u64) -> Result<StackLoad, ReproduceError> {
        let first = self.visit(bench, seed, self.client.clone())?;
        if !self.returning {
            return Ok(first);
        }
        let session = first.outcome.session;
        self.visit(bench, seed, client::Options { session, ..self.client.clone() })
    }

    fn visit(
        &self,
        bench: &Bench,
        seed: u64,
        client: client::Options,
    ) -> Result<StackLoad, ReproduceError> {
        let scheme = crate::scheme(self.scheme)?;
        let options = Options {
            initial_window_packets: self.window_packets,
            congestion_control: self.congestion_control,
            pacing: self.pacing,
            signals: self.signals,
            send_buffer_bytes: self.send_buffer_bytes,
            idle_reset: self.before.as_ref().is_some_and(|it| it.idle_reset),
            early_data: self.returning,
            ticket_key: self.returning.then(|| TicketKey::new([0; TicketKey::BYTES])),
            ..Options::new(scheme.clone())
        };
        let client = client::Options { scheme: Some(scheme), ..client };
        let network = varied(&self.network, bench.variation, seed);
        let setup = Setup { seed, ..Setup::new(options, &network, &bench.identity) };
        let mut ends = Ends { site: self.site(seed), client };
        let Some(Before { page, think, .. }) = &self.before else {
            return load_between(&self.page, &ends, setup).map_err(ReproduceError::unusable);
        };
        let then = vec![NextPage { page: Arc::clone(&self.page), think: *think }];
        ends.client.then.clone_from(&then);
        let loaded = load_between(page, &ends, setup).map_err(ReproduceError::unusable)?;
        let outcome = loaded.outcome.clone();
        let pages = Navigation::all(page, &then, &loaded.load.timeline, outcome);
        let Ok([_, Navigation { load, problems, outcome, .. }]) = <[_; 2]>::try_from(pages) else {
            let problems = loaded.problems.join("; ");
            let cause = format!("page {} was not reached: {problems}", self.page.name);
            return Err(ReproduceError::Unusable(cause));
        };
        Ok(StackLoad { load, problems, outcome, ..loaded })
    }

    fn site(&self, seed: u64) -> RuledSite {
        let mut pushing = self.pushing.clone();
        if matches!(pushing.gate, Some(Gate::Shuffle(_))) {
            pushing.gate = Some(Gate::Shuffle(seed));
        }
        let path = self.page.resources[0].url.clone();
        let own = self.acts_on_fields.then(|| (path.clone(), pushing)).into_iter();
        let rules = match self.push_and_hints.pushing(&self.page) {
            rules if rules.is_empty() => own.collect(),
            rules => rules,
        };
        let max_concurrent_pushes = self.pushing.max_concurrent_pushes;
        let rules = rules.into_iter().map(|(path, pushing)| {
            Rule::pushing(&path, Pushing { max_concurrent_pushes, ..pushing })
        });
        let before = self.before.iter().map(|it| &it.page);
        let pages = [&self.page].into_iter().chain(before).map(|it| Page::clone(it));
        let page = PageSite::of(pages.collect());
        let site = WithFields { page, path, fields: self.fields.clone() };
        RuledSite::new(site, rules.collect())
    }
}

/// The network with another rate and delay, by at most the share `variation` to either side.
fn varied(network: &Network, variation: f64, seed: u64) -> Network {
    if variation <= 0.0 {
        return network.clone();
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let rate_factor = 1.0 + random.random_range(-variation..variation);
    let delay_factor = 1.0 + random.random_range(-variation..variation);
    let mut network = network.clone();
    network.down.rate = Rate::Constant(network.down.rate.mean() * rate_factor);
    network.down.delay_ms *= delay_factor;
    network.up.delay_ms *= delay_factor;
    network
}

struct WithFields {
    page: PageSite,
    path: String,
    fields: Vec<Field>,
}

impl Site for WithFields {
    fn respond(&self, request: &Request) -> Response {
        let mut response = self.page.respond(request);
        if request.path == self.path {
            add(&mut response.headers, self.fields.iter().map(|(name, it)| (*name, it)));
        }
        response
    }
}

/// One load: times in milliseconds from the client's start.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    pub(crate) start_ms: f64,
    pub(crate) request_ms: Vec<f64>,
    pub(crate) complete_ms: Vec<f64>,
    pub(crate) outcome: client::Outcome,
}

impl Times {
    fn of(page: &Page, load: StackLoad) -> Result<Self, ReproduceError> {
        let timeline = &load.load.timeline;
        let deliveries = timeline.deliveries();
        let times = (0..page.resources.len()).map(|id| {
            let url = page.url(id);
            let place = timeline.transfers.iter().position(|it| it.url == url)?;
            let requested_us = timeline.transfers[place].requested_us;
            Some((requested_us as f64 / 1000.0, deliveries[place].complete_us? as f64 / 1000.0))
        });
        let times = times.collect::<Option<(Vec<_>, Vec<_>)>>();
        let (request_ms, complete_ms) = times.filter(|_| load.load.completed).ok_or_else(|| {
            let problems = load.problems.join("; ");
            ReproduceError::Unusable(format!("page {} did not load: {problems}", page.name))
        })?;
        let start_ms = timeline.start_us().unwrap_or(0) as f64 / 1000.0;
        Ok(Self { start_ms, request_ms, complete_ms, outcome: load.outcome })
    }

    /// From the request for the document until everything has arrived.
    pub(crate) fn warm_ms(&self) -> f64 {
        self.last_ms() - self.start_ms
    }

    /// From the client's start until everything has arrived.
    pub(crate) fn last_ms(&self) -> f64 {
        self.complete_ms.iter().copied().fold(0.0, f64::max)
    }

    /// From the request for the document until it has arrived.
    pub(crate) fn document_ms(&self) -> f64 {
        self.complete_ms[0] - self.start_ms
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Sample(pub(crate) Vec<Times>);

impl Sample {
    pub(crate) fn median_ms(&self, time: impl Fn(&Times) -> f64) -> f64 {
        quantile(&self.sorted(time), 0.5)
    }

    /// How far a time spreads: from its first to its third quartile, as a share of its median.
    pub(crate) fn spread(&self, time: impl Fn(&Times) -> f64) -> f64 {
        let times = self.sorted(time);
        (quantile(&times, 0.75) - quantile(&times, 0.25)) / quantile(&times, 0.5)
    }

    fn sorted(&self, time: impl Fn(&Times) -> f64) -> Vec<f64> {
        let mut times: Vec<f64> = self.0.iter().map(time).collect();
        times.sort_by(f64::total_cmp);
        times
    }
}

/// A quantile of sorted values, interpolated between its neighbours.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len().saturating_sub(1)) as f64;
    let [low, high] = [place.floor(), place.ceil()]
        .map(|it| sorted.get(to_usize(it)).copied().unwrap_or(f64::NAN));
    low + (high - low) * place.fract()
}

pub(crate) struct Bench {
    identity: Identity,
    pool: rayon::ThreadPool,
    pub(crate) runs: usize,
    /// By how much rate and delay differ from load to load, to either side.
    variation: f64,
}

impl Bench {
    pub(crate) fn new(jobs: usize, runs: usize, variation: f64) -> Result<Self, ReproduceError> {
        let identity = Identity::self_signed().map_err(ReproduceError::unusable)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.max(1)).build()?;
        Ok(Self { identity, pool, runs: runs.max(1), variation })
    }

    /// The loads of each case, in the order of `cases`. A seed varies all cases alike.
    pub(crate) fn measure(&self, cases: &[Case]) -> Result<Vec<Sample>, ReproduceError> {
        Ok(self.loads(cases, Times::of)?.into_iter().map(Sample).collect())
    }

    pub(crate) fn once(&self, cases: &[Case]) -> Result<Vec<Times>, ReproduceError> {
        let samples = self.measure(cases)?;
        Ok(samples.into_iter().flat_map(|it| it.0.into_iter().take(1)).collect())
    }

    pub(crate) fn downloads(
        &self,
        downloads: &[Downloads],
    ) -> Result<Vec<Downloaded>, ReproduceError> {
        let runs = downloads.par_iter().map(|it| it.run(&self.identity, 0, LINGER_MS));
        self.pool.install(|| runs.collect())
    }

    /// The results of `of` for the loads of each case.
    pub(crate) fn loads<T: Send>(
        &self,
        cases: &[Case],
        of: impl Fn(&Page, StackLoad) -> Result<T, ReproduceError> + Sync,
    ) -> Result<Vec<Vec<T>>, ReproduceError> {
        let mut all: Vec<(&Case, u64)> = Vec::new();
        for case in cases {
            all.extend((0..self.runs_of(case) as u64).map(|seed| (case, seed)));
        }
        let loads = all.into_par_iter().map(|(case, seed)| of(&case.page, case.load(self, seed)?));
        let loaded: Result<Vec<T>, ReproduceError> = self.pool.install(|| loads.collect());
        let mut loaded = loaded?.into_iter();
        Ok(cases.iter().map(|it| loaded.by_ref().take(self.runs_of(it)).collect()).collect())
    }

    fn runs_of(&self, case: &Case) -> usize {
        case.runs.unwrap_or(self.runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simulator::link::Profile;

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
        let network = Network {
            name: "test".into(),
            server_pace: false,
            down: Profile::plain(1e6, 50.0),
            up: Profile::plain(1e9, 50.0),
        };
        let varied = |seed| varied(&network, 0.005, seed);
        assert_eq!(varied(1), varied(1));
        assert_ne!(varied(1), varied(2));
        let delay_ms = varied(3).down.delay_ms;
        assert!((49.75..50.25).contains(&delay_ms), "{delay_ms}");
        assert_eq!(super::varied(&network, 0.0, 1), network);
    }
}
