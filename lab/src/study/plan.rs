//! The plan of a study, and the loads in it.

pub(crate) mod dimension;
pub(crate) mod engine;
pub(crate) mod setting;
mod stopping;
mod sweep;
mod weights;

pub use dimension::{Axis, Dimension, varied};
pub use engine::{Clock, Engine};
pub use setting::{DIMENSIONS, Setting, Settings};
pub use stopping::{Round, Stopping};
pub use sweep::Sweep;
pub use weights::{PageWeights, Weights};

use crate::browsing::Browser;
use crate::ideal::SendBufferModel;
use crate::network::Network;
use crate::study::StudyError;
use crate::{Contender, CrossTraffic, DeliveryOrder, Metadata, StreamMigration};
use client::profile::Profile;
use corpus::Page;
use engine::Refusal;
use push::Policy;
use qlog_tools::metrics::{self, Metric};
use schedulers::Scheme;
use server::{Options, SignalUse};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The default baseline of all other schemes, as in the paper.
pub const BASELINE: &str = "rr";

/// A part of a study, for one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 1.
    pub place: usize,
    /// The number of shards.
    pub count: usize,
}

impl Shard {
    /// `2/3`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(place, count)| {
            Some(Self { place: place.parse().ok()?, count: count.parse().ok()? })
        });
        match parts {
            Some(shard) if (1..=shard.count).contains(&shard.place) => Ok(shard),
            _ => Err(format!("`{text}` is not a shard; use I/N, for example 1/4 to 4/4")),
        }
    }

    /// Whether a group belongs to the shard. Loads over the same link are compared, so they stay together.
    fn has(self, group: usize) -> bool {
        group % self.count == self.place - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.place, self.count)
    }
}

/// The plan of a study.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The pages; each name once.
    pub pages: Vec<Arc<Page>>,
    /// The schemes and brackets, including the baseline.
    pub schemes: Vec<Contender>,
    /// The requested schemes that were left out, each with the one that places streams alike.
    pub left_out: BTreeMap<String, String>,
    /// The name of the scheme or bracket with which all others are compared.
    pub baseline: String,
    /// How pages are loaded.
    pub engine: &'static dyn Engine,
    /// The browser of engine `browser`; `None` on other engines.
    pub browser: Option<Arc<dyn Browser>>,
    /// The browser whose delayed requests the playback imitates; `None`: it delays none.
    pub profile: Option<Profile>,
    /// The conditions of loads: networks, send buffers and so on.
    pub settings: Settings,
    /// How a send buffer behaves.
    pub send_buffer_model: SendBufferModel,
    /// The facts that schemes know about resources.
    pub metadata: Metadata,
    /// The order in which the client hands over arrived bytes.
    pub delivery_order: DeliveryOrder,
    /// The random seeds, at least one: each load is carried out with each seed.
    pub seeds: Vec<u64>,
    /// The rule by which more seeds are added; `None`: there are no more.
    pub stopping: Option<Stopping>,
    /// The rounds of that rule that have ended.
    pub rounds: Vec<Round>,
    /// The server's initial window; `None`: its default, or as large as needed if it paces.
    pub initial_window_packets: Option<usize>,
    /// The metric that speedups compare.
    pub metric: &'static Metric,
    /// The weights of pages in means over pages.
    pub weights: Weights,
    /// The shard to carry out; `None`: everything.
    pub shard: Option<Shard>,
    /// Loads at a time.
    pub jobs: usize,
    /// The folder for qlogs; `None`: they are deleted.
    pub qlog_dir: Option<PathBuf>,
    /// The folder for pictures of the browser's window, from the first load of each scheme; `None`: none are taken.
    pub film_dir: Option<PathBuf>,
    /// The folder for the qlogs of unfinished loads; `None`: they are deleted.
    pub unfinished_dir: Option<PathBuf>,
}

/// One load of a plan.
#[derive(Debug, Clone)]
pub(crate) struct Cell<'a> {
    /// Its index in the whole plan, whatever the shard.
    pub(crate) place: usize,
    pub(crate) page: &'a Arc<Page>,
    pub(crate) scheme: &'a Contender,
    pub(crate) network: &'a Network,
    pub(crate) setting: Arc<Setting>,
    pub(crate) seed: u64,
}

impl Plan {
    /// Every page under every scheme once, compared with `rr`, or with the first scheme if `rr` is not included; without a send buffer, on
    /// one network; one load at a time.
    pub fn new(
        pages: Vec<Arc<Page>>,
        schemes: Vec<Contender>,
        engine: &'static dyn Engine,
        network: Network,
    ) -> Self {
        let baseline = schemes.iter().find(|it| it.name() == BASELINE).or(schemes.first());
        Self {
            pages,
            baseline: baseline.map_or(BASELINE, Contender::name).to_owned(),
            schemes,
            left_out: BTreeMap::new(),
            engine,
            browser: None,
            profile: None,
            settings: Settings::on(network, engine),
            send_buffer_model: SendBufferModel::default(),
            metadata: Metadata::default(),
            delivery_order: DeliveryOrder::default(),
            seeds: vec![0],
            stopping: None,
            rounds: Vec::new(),
            initial_window_packets: None,
            metric: metrics::byte_index(),
            weights: Weights::default(),
            shard: None,
            jobs: 1,
            qlog_dir: None,
            film_dir: None,
            unfinished_dir: None,
        }
    }

    /// The browser of engine `browser`, as far as it can be identified.
    pub(crate) fn browser_description(&self) -> Option<String> {
        let browser = self.browser.as_ref().filter(|_| self.engine.has_browser())?;
        browser.description().ok()
    }

    /// A scheme that must know the whole page.
    pub(crate) fn looking_ahead(&self) -> Option<&str> {
        self.schemes.iter().find(|it| it.looks_ahead()).map(Contender::name)
    }

    /// How many loads it asks for.
    pub fn loads(&self) -> usize {
        self.cells().len()
    }

    /// `this is shard 1 of 3: 144 of 432 loads`; `None` for a whole study.
    pub(crate) fn said_of_shard(&self) -> Option<String> {
        let Shard { place, count } = self.shard?;
        let (own, all) = (self.loads(), Self { shard: None, ..self.clone() }.loads());
        Some(format!("this is shard {place} of {count}: {own} of {all} loads"))
    }

    /// The site of one of its pages.
    pub fn site_of<'a>(&'a self, page: &'a str) -> &'a str {
        self.pages.iter().find(|it| it.name == page).map_or(page, |it| it.site())
    }

    /// Whether it repeats the paper's study, which uses arithmetic means over pages.
    pub fn repeats_the_paper(&self) -> bool {
        self.baseline == BASELINE
            && self.metric.name == metrics::byte_index().name
            && !self.engine.has_transport()
            && self.settings.networks.iter().all(|it| it.server_pace)
    }

    /// Whether seeds have an effect in any setting.
    pub fn has_chance(&self) -> bool {
        self.settings.networks.iter().any(|it| self.chance_decides(it))
    }

    /// The settings in which all seeds give the same load.
    pub(crate) fn certain_settings(&self) -> BTreeSet<Setting> {
        let settings = self.settings.each().into_iter();
        settings.filter(|it| !self.chance_decides(it.0)).map(|it| it.1).collect()
    }

    /// Whether seeds have an effect on a network. Under a transport they always have: it skips packet numbers at random (RFC 9000, section
    /// 21.4), a skipped one makes acknowledgements longer, and a full queue may then drop another packet.
    fn chance_decides(&self, network: &Network) -> bool {
        let varies = self.profile.as_ref().is_some_and(|it| it.commit_ms[0] < it.commit_ms[1]);
        self.engine.has_transport() || varies || network.is_jittered()
    }

    /// The loads of its shard: by page, setting, seed and scheme.
    pub(crate) fn cells(&self) -> Vec<Cell<'_>> {
        let mut cells = Vec::new();
        let settings =
            self.settings.each().into_iter().map(|(network, it)| (network, Arc::new(it)));
        let settings: Vec<(&Network, Arc<Setting>)> = settings.collect();
        // The place of a load stays the same if seeds are added.
        let seeds_max = self.stopping.as_ref().map_or(0, |it| it.seeds_max);
        let places_kept = seeds_max.saturating_sub(self.seeds.len()) * self.schemes.len();
        let (mut group, mut place) = (0, 0);
        for page in &self.pages {
            for (network, setting) in &settings {
                for &seed in &self.seeds {
                    let mine = self.shard.is_none_or(|it| it.has(group));
                    for scheme in &self.schemes {
                        if mine {
                            let setting = Arc::clone(setting);
                            cells.push(Cell { place, page, scheme, network, setting, seed });
                        }
                        place += 1;
                    }
                    group += 1;
                }
                place += places_kept;
            }
        }
        cells
    }

    /// Rejects meaningless combinations, before anything is loaded.
    pub fn check(&self) -> Result<(), StudyError> {
        self.check_engine()?;
        self.check_baseline()?;
        self.check_signals()?;
        self.check_weights()?;
        if self.stopping.is_some() && self.shard.is_some() {
            return impossible(
                "--width: a shard cannot tell how wide the intervals of the whole study are; leave it out, and name the number of --seeds",
            );
        }
        if let Some(name) = self.looking_ahead().filter(|_| self.metadata != Metadata::Full) {
            return impossible(format!(
                "`{name}` looks ahead in the whole page: use --metadata full"
            ));
        }
        self.check_pushes()?;
        for (network, setting) in self.settings.each() {
            setting.network_of(network)?;
        }
        self.check_cross()?;
        self.check_brackets()
    }

    /// Rejects features that the engine does not support.
    fn check_engine(&self) -> Result<(), StudyError> {
        let engine = self.engine.name();
        if let Some(refusal) = self.engine.facts().refuses.iter().find(|it| self.asks_for(it.flag))
        {
            let Refusal { flag, why, instead } = refusal;
            return impossible(format!("{flag}: engine {engine} {why}; use --engine {instead}"));
        }
        if self.send_buffer_model == SendBufferModel::Delay && self.engine.has_transport() {
            return impossible(format!(
                "send buffer model delay: it is the time in which a buffer drains at a fixed rate, which engine {engine} does not have; use --engine ideal, or fifo"
            ));
        }
        self.engine.check(self)
    }

    /// Whether the plan differs from a plan without this flag.
    fn asks_for(&self, flag: &str) -> bool {
        match flag {
            "an initial window" => self.initial_window_packets.is_some(),
            "--delivery-order connection" => self.delivery_order == DeliveryOrder::Connection,
            _ => DIMENSIONS.iter().any(|it| it.flag == flag && (it.is_listed)(&self.settings)),
        }
    }

    /// Rejects cross traffic unless the link sets the rate.
    fn check_cross(&self) -> Result<(), StudyError> {
        let crossed = self.settings.crosses.iter().any(|it| *it != CrossTraffic::None);
        let paced = self.settings.networks.iter().find(|it| it.server_pace);
        match paced.filter(|_| crossed) {
            None => Ok(()),
            Some(network) => impossible(format!(
                "--cross: network `{}`: its server paces, so others on the link do not slow the page; leave out --cross, \
                 or use another network",
                network.name
            )),
        }
    }

    /// Rejects a plan without loads of the baseline, because nothing could be compared.
    fn check_baseline(&self) -> Result<(), StudyError> {
        let names: Vec<&str> = self.schemes.iter().map(Contender::name).collect();
        if names.contains(&self.baseline.as_str()) {
            return Ok(());
        }
        impossible(format!(
            "--baseline: `{}` is not among the schemes of the study; use one of {}",
            self.baseline,
            names.join(", ")
        ))
    }

    /// Rejects pages that represent nothing, because they have no weighted mean.
    fn check_weights(&self) -> Result<(), StudyError> {
        let stand = self.pages.iter().any(|it| corpus::weights::stands_for_the_web(it));
        if self.weights.are_equal() || stand {
            return Ok(());
        }
        impossible(
            "--weights web: none of these pages represents pages of the web, as `utmost corpus stats` shows; name others, such as @web",
        )
    }

    /// A gate holds pushes back.
    fn check_pushes(&self) -> Result<(), StudyError> {
        let Settings { pushes, gates, .. } = &self.settings;
        if gates.is_empty() || pushes.iter().any(|policy| policy.pushes()) {
            return Ok(());
        }
        let policies = Policy::ALL.into_iter().filter(|it| it.pushes()).map(Policy::name);
        let policies = policies.collect::<Vec<_>>().join(", ");
        impossible(format!(
            "--gate: it holds pushes back, and nothing is pushed; use --push with one of {policies}"
        ))
    }

    /// Rejects metadata for an obeying server, which does not use it.
    fn check_signals(&self) -> Result<(), StudyError> {
        if !self.settings.signals.contains(&SignalUse::Obey) {
            return Ok(());
        }
        self.looking_ahead().map_or(Ok(()), |name| {
            impossible(format!(
                "--signals obey: `{name}` looks ahead in the page, which signals do not describe; use --signals ignore"
            ))
        })
    }

    /// Rejects brackets except on `ideal`, without a send buffer and randomness, where they are searched.
    fn check_brackets(&self) -> Result<(), StudyError> {
        let bracket = self.schemes.iter().find(|it| it.scheme().is_none());
        let Some(bracket) = bracket else { return Ok(()) };
        let jittered = self.settings.networks.iter().find(|it| it.is_jittered());
        let buffered = self.settings.send_buffers_bytes.iter().any(|it| *it > 0);
        let problem = if self.engine.has_transport() {
            let engine = self.engine.name();
            format!(
                "is an order of packets, which engine {engine} cannot promise: use --engine ideal"
            )
        } else if buffered {
            "is defined only without a send buffer: use --send-buffer 0".to_owned()
        } else if let Some(Network { name: network, .. }) = jittered {
            format!("is searched for without jitter, which network `{network}` has: use another")
        } else {
            return Ok(());
        };
        impossible(format!("`{}` {problem}", bracket.name()))
    }
}

impl Plan {
    /// The server's options, except its logs.
    pub(crate) fn options(&self, scheme: &Scheme, network: &Network, setting: &Setting) -> Options {
        let defaults = Options::new(scheme.clone());
        let options = Options {
            send_buffer_bytes: setting.send_buffer_bytes,
            congestion_control: setting.cc.unwrap_or(defaults.congestion_control),
            signals: setting.signals.unwrap_or(defaults.signals),
            migration: setting.migration.and_then(StreamMigration::policy),
            ..defaults
        };
        let paced = match network.pace() {
            Some(pace) => options.paced(pace),
            None => options,
        };
        let initial_window_packets =
            self.initial_window_packets.unwrap_or(paced.initial_window_packets);
        Options { initial_window_packets, ..paced }
    }
}

fn impossible<T>(what: impl Into<String>) -> Result<T, StudyError> {
    Err(StudyError::Impossible(what.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::carry_out::engines::IDEAL;

    #[test]
    fn a_shard_is_its_place_of_how_many() {
        assert_eq!(Shard::parse("2/3"), Ok(Shard { place: 2, count: 3 }));
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0", ""] {
            assert!(Shard::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn shards_share_all_loads_and_keep_those_together_that_are_compared() {
        let page = Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone());
        let schemes = ["rr", "fifo"].map(|it| Contender::find(it).expect("known")).to_vec();
        let network = Network::find("paper").expect("built in");
        let whole =
            Plan { seeds: (0..5).collect(), ..Plan::new(vec![page], schemes, IDEAL, network) };
        let mut places = Vec::new();
        for place in 1..=3 {
            let shard = Plan { shard: Some(Shard { place, count: 3 }), ..whole.clone() };
            let cells = shard.cells();
            assert_eq!(cells[0].seed, cells[1].seed);
            places.extend(cells.iter().map(|it| it.place));
        }
        places.sort_unstable();
        assert_eq!(places, (0..10).collect::<Vec<_>>());
    }
}
