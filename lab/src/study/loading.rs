//! One load of a plan, on its engine, and the row of results that comes of it.

use super::plan::{Cell, Engine, Plan};
use super::run::{LowerBound, RunRecord, Unfinished};
use super::{StudyError, file_name};
use crate::network::Network;
use crate::{Contender, Load, bounds, ideal, stack, wire};
use schedulers::Scheme;
use server::{Identity, Options};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What all loads of a plan share.
pub(super) struct Loader<'a> {
    plan: &'a Plan,
    identity: Option<Identity>,
    /// Lower bounds by page and network.
    bounds: BTreeMap<(&'a str, &'a str), f64>,
}

/// A load, and what became of it.
struct Loaded {
    load: Load,
    problem: Option<String>,
}

impl From<Load> for Loaded {
    fn from(load: Load) -> Self {
        Self { load, problem: None }
    }
}

impl<'a> Loader<'a> {
    pub(super) fn new(plan: &'a Plan) -> Result<Self, StudyError> {
        let mut bounds = BTreeMap::new();
        for page in &plan.pages {
            for network in &plan.networks {
                let bound = match plan.engine {
                    Engine::Ideal => bounds::lower_bound_ms(page, network),
                    Engine::Stack | Engine::Wire => bounds::transport_lower_bound_ms(page, network),
                };
                bounds.extend(bound.map(|it| ((page.name.as_str(), network.name.as_str()), it)));
            }
        }
        let identity = match plan.engine {
            Engine::Stack => Some(Identity::self_signed()?),
            Engine::Ideal | Engine::Wire => None,
        };
        Ok(Self { plan, identity, bounds })
    }

    /// Carries a load out. What came when is kept for the first seed only.
    pub(super) fn run(&self, cell: &Cell<'_>) -> Result<(RunRecord, Option<Load>), StudyError> {
        let scratch = Scratch::new(self.plan, cell)?;
        let Loaded { load, problem } = self.load(cell, scratch.path())?;
        let mut record = self.record(cell, &load);
        if !load.completed {
            let problem = problem.unwrap_or_else(|| "nothing more came".to_owned());
            record.unfinished = Some(Unfinished { problem, qlog: scratch.keep(self.plan, cell)? });
        }
        let kept = self.plan.seeds.first() == Some(&cell.seed);
        Ok((record, kept.then_some(load)))
    }

    /// What came when in a load of `ideal`, once more, where it is kept.
    pub(super) fn repeat(&self, cell: &Cell<'_>) -> Result<Option<Load>, StudyError> {
        if self.plan.seeds.first() != Some(&cell.seed) {
            return Ok(None);
        }
        Ok(Some(self.load(cell, None)?.load))
    }

    fn load(&self, cell: &Cell<'_>, logs: Option<&Path>) -> Result<Loaded, StudyError> {
        let Some(scheme) = cell.scheme.scheme() else { return load_bracket(cell) };
        let scheme = &scheme.clone().for_page(&cell.page.graph());
        match self.plan.engine {
            Engine::Ideal => Ok(self.load_on_ideal(cell, scheme).into()),
            Engine::Stack => self.load_on_stack(cell, scheme, logs),
            Engine::Wire => self.load_on_wire(cell, scheme, logs),
        }
    }

    fn load_on_ideal(&self, cell: &Cell<'_>, scheme: &Scheme) -> Load {
        let conditions = ideal::Conditions {
            send_buffer_bytes: cell.send_buffer_bytes,
            send_buffer_model: self.plan.send_buffer_model,
            metadata: self.plan.metadata,
            delivery_order: self.plan.delivery_order,
            seed: cell.seed,
        };
        ideal::load_under(cell.page, scheme, cell.network, conditions)
    }

    fn load_on_stack(
        &self,
        cell: &Cell<'_>,
        scheme: &Scheme,
        logs: Option<&Path>,
    ) -> Result<Loaded, StudyError> {
        let Some(identity) = &self.identity else {
            return Err(StudyError::Impossible("a study on stack has a certificate".to_owned()));
        };
        let setup = stack::Setup {
            options: self.plan.options(scheme, cell.network, cell.send_buffer_bytes),
            network: cell.network,
            metadata: self.plan.metadata,
            delivery_order: self.plan.delivery_order,
            seed: cell.seed,
            identity,
            log_dir: logs.filter(|_| self.plan.qlog_dir.is_some()),
            unfinished_log_dir: logs,
        };
        let loaded = stack::load(cell.page, setup)?;
        Ok(Loaded { load: loaded.load, problem: loaded.problems.into_iter().next() })
    }

    fn load_on_wire(
        &self,
        cell: &Cell<'_>,
        scheme: &Scheme,
        logs: Option<&Path>,
    ) -> Result<Loaded, StudyError> {
        let plan = self.plan;
        let log_dir = logs.unwrap_or_else(|| Path::new("."));
        let qlog_dir = plan.qlog_dir.as_ref().map(|_| log_dir.to_owned());
        let options = plan.options(scheme, cell.network, cell.send_buffer_bytes);
        let setup = wire::Setup {
            options: Options { qlog_dir, ..options },
            client: client::Options { scheme: Some(scheme.clone()), ..client::Options::default() },
            // On the paper's network the server does all that is to be done.
            links: (cell.network.name != "paper").then_some((cell.network, cell.seed)),
            metadata: plan.metadata,
            delivery_order: plan.delivery_order,
            log_dir,
        };
        let loaded = wire::load_with(cell.page, setup)?;
        Ok(Loaded { load: loaded.load, problem: loaded.problems.into_iter().next() })
    }

    fn record(&self, cell: &Cell<'_>, load: &Load) -> RunRecord {
        let with_transport = self.plan.engine != Engine::Ideal;
        let bound = self.bounds.get(&(cell.page.name.as_str(), cell.network.name.as_str()));
        RunRecord {
            page: cell.page.name.clone(),
            scheme: cell.scheme.name().to_owned(),
            engine: self.plan.engine,
            network: cell.network.name.clone(),
            send_buffer_bytes: cell.send_buffer_bytes,
            cc: with_transport.then(|| self.plan.congestion_control.name().to_owned()),
            seed: cell.seed,
            lower_bound: LowerBound { atf: bound.copied() },
            ..RunRecord::of_load(cell.page, load)
        }
    }
}

fn load_bracket(cell: &Cell<'_>) -> Result<Loaded, StudyError> {
    let search = match cell.scheme {
        Contender::AntiOracle => bounds::anti_oracle,
        _ => bounds::oracle,
    };
    let name = cell.scheme.name();
    let bracket = search(cell.page, cell.network, bounds::Effort::default());
    let bracket = bracket.ok_or_else(|| StudyError::NoBracket {
        name: name.to_owned(),
        problem: format!("has nothing above the fold to order on page {}", cell.page.name),
    })?;
    Ok(bounds::replay(cell.page, cell.network, &bracket.schedule, name).into())
}

impl Plan {
    /// The server's options, but for its logs.
    pub(super) fn options(
        &self,
        scheme: &Scheme,
        network: &Network,
        send_buffer_bytes: u64,
    ) -> Options {
        let options = Options {
            send_buffer_bytes,
            congestion_control: self.congestion_control,
            ..Options::new(scheme.clone())
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

/// Where the logs of one load are written: where they stay, or a place that goes with the load.
enum Scratch {
    /// There are none.
    None,
    Kept(PathBuf),
    Temporary(tempfile::TempDir),
}

impl Scratch {
    fn new(plan: &Plan, cell: &Cell<'_>) -> Result<Self, StudyError> {
        if plan.engine == Engine::Ideal || cell.scheme.scheme().is_none() {
            return Ok(Self::None);
        }
        if let Some(folder) = &plan.qlog_dir {
            return made(folder.join(place_of(plan, cell))).map(Self::Kept);
        }
        let folder = tempfile::tempdir()
            .map_err(|source| StudyError::Folder { path: std::env::temp_dir(), source })?;
        Ok(Self::Temporary(folder))
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Self::None => None,
            Self::Kept(path) => Some(path),
            Self::Temporary(folder) => Some(folder.path()),
        }
    }

    /// Keeps the logs of a load that did not finish: where they are, relative to the study's folder.
    fn keep(self, plan: &Plan, cell: &Cell<'_>) -> Result<Option<String>, StudyError> {
        let place = place_of(plan, cell);
        let shown = |folder: &Path| {
            let last = folder.file_name().unwrap_or_default();
            Path::new(last).join(&place).display().to_string()
        };
        match (self, &plan.qlog_dir, &plan.unfinished_dir) {
            (Self::Kept(_), Some(folder), _) => Ok(Some(shown(folder))),
            (Self::Temporary(from), _, Some(folder)) => {
                let to = made(folder.join(&place))?;
                let copied = std::fs::read_dir(from.path()).and_then(|entries| {
                    for entry in entries {
                        let entry = entry?;
                        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
                    }
                    Ok(())
                });
                copied.map_err(|source| StudyError::Folder { path: to, source })?;
                Ok(Some(shown(folder)))
            }
            _ => Ok(None),
        }
    }
}

fn made(path: PathBuf) -> Result<PathBuf, StudyError> {
    match std::fs::create_dir_all(&path) {
        Ok(()) => Ok(path),
        Err(source) => Err(StudyError::Folder { path, source }),
    }
}

/// The folder of a load's logs: `PAGE/SCHEME-BUFFER`, with the network and the seed where there are several.
fn place_of(plan: &Plan, cell: &Cell<'_>) -> PathBuf {
    let mut name = format!("{}-{}", file_name(cell.scheme.name()), cell.send_buffer_bytes);
    if plan.networks.len() > 1 {
        name = format!("{name}-{}", file_name(&cell.network.name));
    }
    if plan.seeds.len() > 1 {
        name = format!("{name}-{}", cell.seed);
    }
    Path::new(&cell.page.name).join(name)
}
