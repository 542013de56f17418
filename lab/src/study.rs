//! A study: every page under every scheme, with every send buffer, on one network and engine.

pub mod folder;
mod run;
mod summary;

pub use run::{Indices, LowerBound, ResourceTimes, RunRecord};
pub use summary::{Regret, Speedups, SummaryRow, summarise};

use crate::network::{Network, NetworkError};
use crate::stack::StackError;
use crate::wire::WireError;
use crate::{Contender, Load, bounds, ideal, stack, wire};
use corpus::Page;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use schedulers::Scheme;
use serde::Serialize;
use serde_json::{Value, json};
use server::{CongestionControl, Identity, Options, TlsError};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The format of a study's JSON.
pub const FORMAT: &str = "utmost-study/1";

/// How a page is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// No transport, one packet a tick.
    Ideal,
    /// The real cores through the lab's links, in virtual time.
    Stack,
    /// The real programs over UDP sockets.
    Wire,
}

impl Engine {
    /// As in flags and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ideal => "ideal",
            Self::Stack => "stack",
            Self::Wire => "wire",
        }
    }
}

/// What is to be studied.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The pages.
    pub pages: Vec<Arc<Page>>,
    /// The schemes and brackets; `rr` is among them.
    pub schemes: Vec<Contender>,
    /// How pages are loaded.
    pub engine: Engine,
    /// On which network.
    pub network: Network,
    /// Send buffers in bytes.
    pub send_buffers_bytes: Vec<u64>,
    /// What chance draws: each load is carried out with each of them. One at least.
    pub seeds: Vec<u64>,
    /// Congestion control, where there is a transport.
    pub congestion_control: CongestionControl,
    /// The server's initial window; none: its default, or, where it paces, as large as needed.
    pub initial_window_packets: Option<usize>,
    /// Loads at a time.
    pub jobs: usize,
    /// Where qlogs stay; none: they are deleted.
    pub qlog_dir: Option<PathBuf>,
}

/// A study's results.
#[derive(Debug, Clone, Serialize)]
pub struct Study {
    /// [`FORMAT`].
    pub format: &'static str,
    /// Where it comes from.
    pub provenance: Value,
    /// One for each load.
    pub runs: Vec<RunRecord>,
    /// One for each scheme and send buffer.
    pub summary: Vec<SummaryRow>,
    /// What came when, in the order of `runs`; not part of the JSON.
    #[serde(skip)]
    pub loads: Vec<Load>,
}

/// A study that could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A load on the wire failed.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A load through the lab's links could not be carried out.
    #[error(transparent)]
    Stack(#[from] StackError),
    /// The server's certificate cannot be made.
    #[error(transparent)]
    Identity(#[from] TlsError),
    /// The network asks for more than the engine has.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The brackets know nothing of what the study asks for.
    #[error("`{name}` {problem}")]
    NoBracket {
        /// The bracket.
        name: String,
        /// What it cannot do, and the remedy.
        problem: String,
    },
    /// The folder for logs cannot be had.
    #[error("{path}: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Threads cannot be had.
    #[error("threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// One load of the plan.
struct Cell<'a> {
    page: &'a Arc<Page>,
    scheme: &'a Contender,
    send_buffer_bytes: u64,
    seed: u64,
}

/// Carries out `plan`; `progress` is called after each load, from any thread.
pub fn run(plan: &Plan, program: Value, progress: &(dyn Fn() + Sync)) -> Result<Study, StudyError> {
    if plan.engine == Engine::Ideal {
        plan.network.check_ideal()?;
    }
    plan.check_brackets()?;
    let identity = Identity::self_signed()?;
    let cells = plan.cells();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(plan.jobs.max(1)).build()?;
    let loads: Vec<Load> = pool.install(|| {
        cells
            .par_iter()
            .map(|cell| {
                let load = plan.load(cell, &identity);
                progress();
                load
            })
            .collect::<Result<_, _>>()
    })?;
    let bounds = plan.lower_bounds();
    let runs: Vec<RunRecord> = cells
        .iter()
        .zip(&loads)
        .map(|(cell, load)| plan.record(cell, load, bounds.get(&cell.page.name).copied()))
        .collect();
    let summary = summarise(&runs);
    Ok(Study { format: FORMAT, provenance: plan.provenance(program), runs, summary, loads })
}

impl Plan {
    /// How many loads it asks for.
    pub fn loads(&self) -> usize {
        self.pages.len() * self.schemes.len() * self.send_buffers_bytes.len() * self.seeds.len()
    }

    fn cells(&self) -> Vec<Cell<'_>> {
        let mut cells = Vec::with_capacity(self.loads());
        for page in &self.pages {
            for send_buffer_bytes in &self.send_buffers_bytes {
                for seed in &self.seeds {
                    for scheme in &self.schemes {
                        cells.push(Cell {
                            page,
                            scheme,
                            send_buffer_bytes: *send_buffer_bytes,
                            seed: *seed,
                        });
                    }
                }
            }
        }
        cells
    }

    fn load(&self, cell: &Cell<'_>, identity: &Identity) -> Result<Load, StudyError> {
        let Some(scheme) = cell.scheme.scheme() else { return self.load_bracket(cell) };
        let scheme = &scheme.clone().for_page(&cell.page.graph());
        match self.engine {
            Engine::Ideal => {
                Ok(ideal::load(cell.page, scheme, &self.network, cell.send_buffer_bytes, cell.seed))
            }
            Engine::Stack => self.load_on_stack(cell, scheme, identity),
            Engine::Wire => self.load_on_wire(cell, scheme),
        }
    }

    /// Brackets are searched for on `ideal`, without a send buffer and chance.
    fn check_brackets(&self) -> Result<(), StudyError> {
        let Some(bracket) = self.schemes.iter().find(|it| it.scheme().is_none()) else {
            return Ok(());
        };
        let buffered = self.send_buffers_bytes.iter().any(|it| *it > 0);
        let problem = if self.engine != Engine::Ideal {
            let engine = self.engine.name();
            format!(
                "is an order of packets, which engine {engine} cannot promise: use --engine ideal"
            )
        } else if buffered {
            "is searched for without a send buffer: use --send-buffer 0".to_owned()
        } else if self.network.down.jitter.is_some() || self.network.up.jitter.is_some() {
            let network = &self.network.name;
            format!("is searched for without jitter, which network `{network}` has: use another")
        } else {
            return Ok(());
        };
        Err(StudyError::NoBracket { name: bracket.name().to_owned(), problem })
    }

    fn load_bracket(&self, cell: &Cell<'_>) -> Result<Load, StudyError> {
        let search = match cell.scheme {
            Contender::AntiOracle => bounds::anti_oracle,
            _ => bounds::oracle,
        };
        let name = cell.scheme.name();
        let bracket = search(cell.page, &self.network, bounds::Effort::default());
        let bracket = bracket.ok_or_else(|| StudyError::NoBracket {
            name: name.to_owned(),
            problem: format!("has nothing above the fold to order on page {}", cell.page.name),
        })?;
        Ok(bounds::replay(cell.page, &self.network, &bracket.schedule, name))
    }

    /// By page; only `ideal` sends what the bound is proven for.
    fn lower_bounds(&self) -> BTreeMap<String, f64> {
        let pages = self.pages.iter().filter(|_| self.engine == Engine::Ideal);
        let bound = |page: &Arc<Page>| bounds::lower_bound_ms(page, &self.network);
        pages.filter_map(|it| Some((it.name.clone(), bound(it)?))).collect()
    }

    fn load_on_stack(
        &self,
        cell: &Cell<'_>,
        scheme: &Scheme,
        identity: &Identity,
    ) -> Result<Load, StudyError> {
        let kept = self.kept_logs(cell)?;
        let setup = stack::Setup {
            options: self.options(scheme, cell.send_buffer_bytes),
            network: &self.network,
            seed: cell.seed,
            identity,
            log_dir: kept.as_deref(),
        };
        Ok(stack::load(cell.page, setup)?.load)
    }

    fn load_on_wire(&self, cell: &Cell<'_>, scheme: &Scheme) -> Result<Load, StudyError> {
        let scratch = tempfile::tempdir()
            .map_err(|source| StudyError::Folder { path: std::env::temp_dir(), source })?;
        let kept = self.kept_logs(cell)?;
        let logs = kept.as_deref().unwrap_or(scratch.path());
        let options =
            Options { qlog_dir: kept.clone(), ..self.options(scheme, cell.send_buffer_bytes) };
        // On the paper's network the server does all that is to be done.
        let links = (self.network.name != "paper").then_some((&self.network, cell.seed));
        let client = client::Options { scheme: Some(scheme.clone()), ..client::Options::default() };
        Ok(wire::load_through(cell.page, options, client, links, logs)?)
    }

    /// The server's options, but for its logs.
    fn options(&self, scheme: &Scheme, send_buffer_bytes: u64) -> Options {
        let options = Options {
            send_buffer_bytes,
            congestion_control: self.congestion_control,
            ..Options::new(scheme.clone())
        };
        let paced = match self.network.pace() {
            Some(pace) => options.paced(pace),
            None => options,
        };
        let initial_window_packets =
            self.initial_window_packets.unwrap_or(paced.initial_window_packets);
        Options { initial_window_packets, ..paced }
    }

    /// The folder of a load's logs, made, if they are to be kept.
    fn kept_logs(&self, cell: &Cell<'_>) -> Result<Option<PathBuf>, StudyError> {
        let Some(kept) = &self.qlog_dir else { return Ok(None) };
        let scheme = file_name(cell.scheme.name());
        let name = if self.seeds.len() > 1 {
            format!("{scheme}-{}-{}", cell.send_buffer_bytes, cell.seed)
        } else {
            format!("{scheme}-{}", cell.send_buffer_bytes)
        };
        let path = kept.join(&cell.page.name).join(name);
        std::fs::create_dir_all(&path)
            .map_err(|source| StudyError::Folder { path: path.clone(), source })?;
        Ok(Some(path))
    }

    fn record(&self, cell: &Cell<'_>, load: &Load, lower_bound_ms: Option<f64>) -> RunRecord {
        RunRecord {
            page: cell.page.name.clone(),
            scheme: cell.scheme.name().to_owned(),
            engine: self.engine.name(),
            network: self.network.name.clone(),
            send_buffer_bytes: cell.send_buffer_bytes,
            cc: (self.engine != Engine::Ideal).then(|| self.congestion_control.name()),
            seed: cell.seed,
            lower_bound: LowerBound { atf: lower_bound_ms },
            ..RunRecord::of_load(cell.page, load)
        }
    }

    fn provenance(&self, mut program: Value) -> Value {
        let pages = self
            .pages
            .iter()
            .map(|page| json!({"name": page.name, "sha256": run::page_sha256(page)}));
        let schemes =
            self.schemes.iter().map(|it| json!({"name": it.name(), "revision": it.revision()}));
        program["engine"] = json!(self.engine.name());
        program["network"] = json!(self.network);
        program["pages"] = pages.collect();
        program["schemes"] = schemes.collect();
        program["send_buffers_bytes"] = json!(self.send_buffers_bytes);
        program["seeds"] = json!(self.seeds);
        if self.engine != Engine::Ideal {
            let client = client::Options::default();
            program["congestion_control"] = json!(self.congestion_control.name());
            program["initial_window_packets"] = json!(
                self.schemes
                    .iter()
                    .find_map(Contender::scheme)
                    .map(|it| self.options(it, 0).initial_window_packets)
            );
            program["client_receive_bytes"] =
                json!({"connection": client.receive_bytes, "stream": client.stream_receive_bytes});
        }
        program
    }
}

/// A name as a file name: characters outside `[a-z0-9-]` are percent-encoded.
pub fn file_name(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    name.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_scheme_name_becomes_a_file_name_that_every_system_takes() {
        assert_eq!(super::file_name("p+"), "p%2B");
        assert_eq!(super::file_name("kway:4"), "kway%3A4");
        assert_eq!(super::file_name("bucket-html"), "bucket-html");
    }
}
