//! The interface of an engine: a way of loading pages, with everything that a study needs of it. [`crate::study::carry_out::engines`]
//! has all engines.

use crate::network::Network;
use crate::study::plan::{Cell, Plan};
use crate::study::{Setting, StudyError};
use crate::{Loaded, bounds, warm_up};
use client::Says;
use corpus::Page;
use schedulers::Scheme;
use server::{Options, SignalUse};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The facts about an engine that a study needs before it loads anything.
#[derive(Debug)]
pub struct Facts {
    /// Its name in flags and results.
    pub name: &'static str,
    /// Its description, for users who choose one.
    pub about: &'static str,
    /// How time passes in its loads.
    pub clock: Clock,
    /// Whether it loads pages in the plan's only browser.
    pub has_browser: bool,
    /// The features of a plan that it does not support.
    pub(crate) refuses: &'static [Refusal],
}

/// A way of loading pages.
pub trait Engine: Send + Sync {
    /// Its facts.
    fn facts(&self) -> &'static Facts;

    /// Rejects a plan for other reasons.
    fn check(&self, _plan: &Plan) -> Result<(), StudyError> {
        Ok(())
    }

    /// The number of concurrent loads that do not disturb each other on a machine with this number of cores.
    fn jobs(&self, _plan: &Plan, cores: usize) -> usize {
        cores
    }

    /// The lowest possible `ByteIndex` above the fold of any order, in milliseconds.
    fn lower_bound_ms(&self, page: &Arc<Page>, network: &Network) -> Option<f64> {
        bounds::transport_lower_bound_ms(page, network)
    }

    /// Prepares the state that all loads of a plan share.
    fn open<'a>(&self, plan: &'a Plan) -> Result<Box<dyn Loads + 'a>, StudyError>;
}

/// How time passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// One packet per tick, without a transport: a load has exactly one outcome.
    Packets,
    /// Simulated: a load is repeatable.
    Virtual,
    /// Real time, as for a visitor: no two loads are the same.
    Real,
}

/// A flag that an engine does not support.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refusal {
    pub(crate) flag: &'static str,
    /// The reason, after the engine's name.
    pub(crate) why: &'static str,
    /// The engines that can.
    pub(crate) instead: &'static str,
}

impl Refusal {
    /// A flag that both `stack` and `wire` support.
    pub(crate) const fn new(flag: &'static str, why: &'static str) -> Self {
        Self { flag, why, instead: "stack or wire" }
    }

    /// The flag for versions of HTTP, which only `wire` supports.
    pub(crate) const fn of_versions(why: &'static str) -> Self {
        Self { flag: "--http", why, instead: "wire" }
    }

    /// The flag for cross traffic, which only `stack` supports.
    pub(crate) const fn of_cross_traffic(why: &'static str) -> Self {
        Self { flag: "--cross", why, instead: "stack" }
    }
}

impl dyn Engine {
    /// Its name in flags and results.
    pub fn name(&self) -> &'static str {
        self.facts().name
    }

    /// Whether it loads pages in a browser.
    pub fn has_browser(&self) -> bool {
        self.facts().has_browser
    }

    /// Whether pages are loaded over QUIC from a server.
    pub fn has_transport(&self) -> bool {
        self.facts().clock != Clock::Packets
    }

    /// Whether loads are repeatable.
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

/// An engine that is set up for a plan.
pub trait Loads: Send + Sync {
    /// Loads a page once.
    fn load(&self, of: &Task<'_>) -> Result<Loaded, StudyError>;
}

/// One load to carry out.
pub struct Task<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) cell: &'a Cell<'a>,
    pub(crate) scheme: &'a Scheme,
    /// The cell's network, as changed by its setting.
    pub(crate) network: &'a Network,
    pub(crate) logs: Option<&'a Path>,
}

impl Task<'_> {
    /// The server's options, except its logs.
    pub(crate) fn server_options(&self) -> Options {
        self.plan.options(self.scheme, self.network, &self.cell.setting)
    }

    /// The folder for logs that are kept whether or not the load finishes.
    pub(crate) fn kept_logs(&self) -> Option<&Path> {
        self.logs.filter(|_| self.plan.qlog_dir.is_some())
    }

    /// The links of a load in real time, and their seed. On the paper's network, only the server shapes the traffic.
    pub(crate) fn links(&self) -> Option<(&Network, u64)> {
        let is_shaped = self.network.name != "paper" || self.network != self.cell.network;
        is_shaped.then_some((self.network, self.cell.seed))
    }

    /// The first page that the client loads, and its options. If the server ignores signals, the client sends none, so that schemes with
    /// the same order give identical loads.
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
            migration: setting.migration.and_then(|it| it.migrating(true)),
            scheme: Some(self.scheme.clone()),
            then,
            ..Default::default()
        };
        (first, options)
    }
}
