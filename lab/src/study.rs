//! A study: every page under every scheme, with every send buffer, on one network and engine.

pub mod folder;
mod run;
mod summary;

pub use run::{Indices, ResourceTimes, RunRecord};
pub use summary::{Speedups, SummaryRow, summarise};

use crate::network::Network;
use crate::wire::WireError;
use crate::{Load, ideal, wire};
use corpus::Page;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use schedulers::Scheme;
use serde::Serialize;
use serde_json::{Value, json};
use server::{CongestionControl, Options, Pace};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The format of a study's JSON.
pub const FORMAT: &str = "utmost-study/1";

/// How a page is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// No transport, one packet a tick.
    Ideal,
    /// The real programs over UDP sockets.
    Wire,
}

impl Engine {
    /// As in flags and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ideal => "ideal",
            Self::Wire => "wire",
        }
    }
}

/// What is to be studied.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The pages.
    pub pages: Vec<Arc<Page>>,
    /// The schemes; `rr` is among them.
    pub schemes: Vec<Scheme>,
    /// How pages are loaded.
    pub engine: Engine,
    /// On which network.
    pub network: Network,
    /// Send buffers in bytes.
    pub send_buffers_bytes: Vec<u64>,
    /// Congestion control, on the wire.
    pub congestion_control: CongestionControl,
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
    /// The wire has no link for this network yet.
    #[error("network `{0}`: engine wire runs on network `paper` only; use --engine ideal")]
    NotOnTheWire(String),
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
    scheme: &'a Scheme,
    send_buffer_bytes: u64,
}

/// Carries out `plan`; `progress` is called after each load, from any thread.
pub fn run(plan: &Plan, program: Value, progress: &(dyn Fn() + Sync)) -> Result<Study, StudyError> {
    if plan.engine == Engine::Wire && plan.network.name != "paper" {
        return Err(StudyError::NotOnTheWire(plan.network.name.clone()));
    }
    let cells = plan.cells();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(plan.jobs.max(1)).build()?;
    let loads: Vec<Load> = pool.install(|| {
        cells
            .par_iter()
            .map(|cell| {
                let load = plan.load(cell);
                progress();
                load
            })
            .collect::<Result<_, _>>()
    })?;
    let runs: Vec<RunRecord> =
        cells.iter().zip(&loads).map(|(cell, load)| plan.record(cell, load)).collect();
    let summary = summarise(&runs);
    Ok(Study { format: FORMAT, provenance: plan.provenance(program), runs, summary, loads })
}

impl Plan {
    /// How many loads it asks for.
    pub fn loads(&self) -> usize {
        self.pages.len() * self.schemes.len() * self.send_buffers_bytes.len()
    }

    fn cells(&self) -> Vec<Cell<'_>> {
        let mut cells = Vec::with_capacity(self.loads());
        for page in &self.pages {
            for send_buffer_bytes in &self.send_buffers_bytes {
                for scheme in &self.schemes {
                    cells.push(Cell { page, scheme, send_buffer_bytes: *send_buffer_bytes });
                }
            }
        }
        cells
    }

    fn load(&self, cell: &Cell<'_>) -> Result<Load, StudyError> {
        match self.engine {
            Engine::Ideal => {
                Ok(ideal::load(cell.page, cell.scheme, &self.network, cell.send_buffer_bytes))
            }
            Engine::Wire => self.load_on_wire(cell),
        }
    }

    fn load_on_wire(&self, cell: &Cell<'_>) -> Result<Load, StudyError> {
        let folder = |path: &Path, source| StudyError::Folder { path: path.to_owned(), source };
        let scratch =
            tempfile::tempdir().map_err(|source| folder(&std::env::temp_dir(), source))?;
        let logs = match &self.qlog_dir {
            Some(kept) => kept.join(&cell.page.name).join(format!(
                "{}-{}",
                file_name(&cell.scheme.name),
                cell.send_buffer_bytes
            )),
            None => scratch.path().to_owned(),
        };
        std::fs::create_dir_all(&logs).map_err(|source| folder(&logs, source))?;
        let options = Options {
            send_buffer_bytes: cell.send_buffer_bytes,
            congestion_control: self.congestion_control,
            qlog_dir: self.qlog_dir.as_ref().map(|_| logs.clone()),
            ..Options::new(cell.scheme.clone())
        };
        Ok(wire::load(cell.page, options.paced(Pace::PAPER), &logs)?)
    }

    fn record(&self, cell: &Cell<'_>, load: &Load) -> RunRecord {
        RunRecord {
            page: cell.page.name.clone(),
            scheme: cell.scheme.name.clone(),
            engine: self.engine.name(),
            network: self.network.name.clone(),
            send_buffer_bytes: cell.send_buffer_bytes,
            cc: (self.engine == Engine::Wire).then(|| self.congestion_control.name()),
            seed: 0,
            ..RunRecord::of_load(cell.page, load)
        }
    }

    fn provenance(&self, mut program: Value) -> Value {
        let pages = self
            .pages
            .iter()
            .map(|page| json!({"name": page.name, "sha256": run::page_sha256(page)}));
        let schemes =
            self.schemes.iter().map(|it| json!({"name": it.name, "revision": it.revision}));
        program["engine"] = json!(self.engine.name());
        program["network"] = json!(self.network);
        program["pages"] = pages.collect();
        program["schemes"] = schemes.collect();
        program["send_buffers_bytes"] = json!(self.send_buffers_bytes);
        program["seeds"] = json!([0]);
        if self.engine == Engine::Wire {
            let client = client::Options::default();
            program["congestion_control"] = json!(self.congestion_control.name());
            program["initial_window_packets"] =
                json!(wire_options(&self.schemes).map(|it| it.initial_window_packets));
            program["client_receive_bytes"] =
                json!({"connection": client.receive_bytes, "stream": client.stream_receive_bytes});
        }
        program
    }
}

fn wire_options(schemes: &[Scheme]) -> Option<Options> {
    schemes.first().map(|it| Options::new(it.clone()).paced(Pace::PAPER))
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
