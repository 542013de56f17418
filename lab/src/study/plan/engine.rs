//! What an engine is: a way of loading pages, with everything that a study asks of it. [`crate::study::carry_out::engines`] has them all.

use crate::browsing::FilmFrame;
use crate::network::Network;
use crate::study::plan::{Cell, Plan};
use crate::study::{Setting, StudyError};
use crate::{Load, Navigation, bounds, warm_up};
use client::{NextPage, Says};
use corpus::Page;
use schedulers::Scheme;
use server::{Options, SignalUse};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// What a study must know of an engine before it loads anything.
#[derive(Debug)]
pub struct Facts {
    /// Its name, as in flags and results.
    pub name: &'static str,
    /// What it is, for somebody who chooses one.
    pub about: &'static str,
    /// How time passes in its loads.
    pub clock: Clock,
    /// Whether it loads pages in the plan's browser, of which there is one.
    pub has_browser: bool,
    /// What a plan can ask for and it cannot do.
    pub(crate) refuses: &'static [Refusal],
}

/// A way of loading pages.
pub trait Engine: Send + Sync {
    /// What it is.
    fn facts(&self) -> &'static Facts;

    /// Refuses a plan for other reasons than these.
    fn check(&self, _plan: &Plan) -> Result<(), StudyError> {
        Ok(())
    }

    /// How many loads at a time do not disturb each other on a machine with this number of cores.
    fn jobs(&self, _plan: &Plan, cores: usize) -> usize {
        cores
    }

    /// The least `ByteIndex` above the fold that any order could have, in milliseconds.
    fn lower_bound_ms(&self, page: &Arc<Page>, network: &Network) -> Option<f64> {
        bounds::transport_lower_bound_ms(page, network)
    }

    /// Prepares what all loads of a plan share.
    fn open<'a>(&self, plan: &'a Plan) -> Result<Box<dyn Loads + 'a>, StudyError>;
}

/// How time passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// One packet a tick, without a transport: a load has one outcome, to the last digit.
    Packets,
    /// Simulated: a load is the same each time.
    Virtual,
    /// As for a visitor: no two loads are the same.
    Real,
}

/// A flag that an engine cannot honour.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refusal {
    pub(crate) flag: &'static str,
    /// What the engine is like, after its name.
    pub(crate) why: &'static str,
    /// The engines that can.
    pub(crate) instead: &'static str,
}

impl Refusal {
    /// A flag that both `stack` and `wire` honour.
    pub(crate) const fn new(flag: &'static str, why: &'static str) -> Self {
        Self { flag, why, instead: "stack or wire" }
    }

    /// The flag of versions of HTTP, which `wire` alone honours.
    pub(crate) const fn of_versions(why: &'static str) -> Self {
        Self { flag: "--http", why, instead: "wire" }
    }

    /// The flag of cross traffic, which `stack` alone honours.
    pub(crate) const fn of_cross_traffic(why: &'static str) -> Self {
        Self { flag: "--cross", why, instead: "stack" }
    }
}

impl dyn Engine {
    /// Its name, as in flags and results.
    pub fn name(&self) -> &'static str {
        self.facts().name
    }

    /// Whether it loads pages in a browser.
    pub fn has_browser(&self) -> bool {
        self.facts().has_browser
    }

    /// Whether pages come over QUIC, from a server.
    pub fn has_transport(&self) -> bool {
        self.facts().clock != Clock::Packets
    }

    /// Whether a load is the same each time.
    pub fn repeats(&self) -> bool {
        self.facts().clock != Clock::Real
    }
}

impl PartialEq for dyn Engine {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl fmt::Debug for dyn Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// An engine at work for a plan.
pub trait Loads: Send + Sync {
    /// Loads a page once.
    fn load(&self, of: &Task<'_>) -> Result<Loaded, StudyError>;
}

/// One load that an engine is asked for.
pub struct Task<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) cell: &'a Cell<'a>,
    pub(crate) scheme: &'a Scheme,
    /// The cell's network as its setting changes it.
    pub(crate) network: &'a Network,
    /// The folder for its logs.
    pub(crate) logs: Option<&'a Path>,
}

impl Task<'_> {
    /// The server's options, but for its logs.
    pub(crate) fn server_options(&self) -> Options {
        self.plan.options(self.scheme, self.network, &self.cell.setting)
    }

    /// The folder for logs that are kept, whether or not the load finishes.
    pub(crate) fn kept_logs(&self) -> Option<&Path> {
        self.logs.filter(|_| self.plan.qlog_dir.is_some())
    }

    /// The links of a load in real time, and their seed. On the paper's network the server alone shapes the traffic.
    pub(crate) fn links(&self) -> Option<(&Network, u64)> {
        let is_shaped = self.network.name != "paper" || self.network != self.cell.network;
        is_shaped.then_some((self.network, self.cell.seed))
    }

    /// The first page that the client loads, and its options. Where the server ignores signals, the client sends none:
    /// schemes that send in the same order then give the same load, byte for byte.
    pub(crate) fn client(&self) -> (Arc<Page>, client::Options) {
        let setting: &Setting = &self.cell.setting;
        let (first, then) = match setting.warm_up_bytes {
            Some(bytes @ 1..) => warm_up::before(self.cell.page, bytes),
            _ => (Arc::clone(self.cell.page), Vec::new()),
        };
        // A server ignores them unless its flags say otherwise.
        let uses_signals = setting.signals.is_some_and(SignalUse::uses_signals);
        let options = client::Options {
            says: if uses_signals { Says::Signals } else { Says::Nothing },
            hold_back: self.plan.profile.as_ref().and_then(|it| it.hold_back),
            pushes: setting.push_and_hints().client_pushes(self.cell.page),
            http: setting.http.unwrap_or_default(),
            scheme: Some(self.scheme.clone()),
            then,
            ..Default::default()
        };
        (first, options)
    }
}

/// One load that was made.
#[derive(Default)]
pub struct Loaded {
    pub(crate) load: Load,
    /// What went otherwise than the page says.
    pub(crate) problems: Vec<String>,
    /// How it ended, as the client says.
    pub(crate) outcome: client::Outcome,
    /// Pictures of it, where they were asked for.
    pub(crate) film: Vec<FilmFrame>,
    /// Whether no order is better (worse); for a bracket only.
    pub(crate) proven: Option<bool>,
    /// Why its scheme failed, if it did.
    pub(crate) scheme_failure: Option<String>,
}

/// A load without a transport.
impl From<Load> for Loaded {
    fn from(load: Load) -> Self {
        Self { load, ..Self::default() }
    }
}

impl Loaded {
    /// The last page of the connection, or what kept the client from reaching it.
    pub(crate) fn last(
        first: &Arc<Page>,
        then: &[NextPage],
        load: Load,
        problems: Vec<String>,
        outcome: client::Outcome,
    ) -> Self {
        let mut pages = Navigation::all(first, then, &load.timeline, outcome);
        match pages.pop() {
            Some(Navigation { load, problems, outcome, .. }) if pages.len() == then.len() => {
                Self { problems, outcome, ..Self::from(load) }
            }
            _ => Self { problems, ..Self::from(load) },
        }
    }
}
