//! Pages under schemes, with and without send buffers, on the paper's network and the engine `ideal`: all that
//! Table 2 and Figure 12 are made of. What came when is dropped as soon as a load's indices are known.

use super::ReproduceError;
use corpus::Page;
use lab::ideal::{self, Conditions};
use lab::network::Network;
use lab::study::{RunRecord, SendBufferModel, statistics};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use schedulers::{Kind, Scheme, find_scheme, paper_schemes};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A send buffer; `bytes` 0 is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Buffer {
    pub(super) bytes: u64,
    /// The model is [`SendBufferModel::Delay`].
    pub(super) is_delay: bool,
}

impl Buffer {
    pub(super) const NONE: Self = Self::fifo(0);

    /// Bytes between scheduler and transport.
    pub(super) const fn fifo(bytes: u64) -> Self {
        Self { bytes, is_delay: false }
    }

    /// Requests come late by the time that a full buffer takes to drain.
    pub(super) const fn delay(bytes: u64) -> Self {
        Self { bytes, is_delay: true }
    }
}

/// Which resources count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    All,
    Atf,
}

/// The paper's implementation of `firefox`, which differs from its text.
pub(super) const FIREFOX_AS_RUN: &str = "firefox@quicker";

/// The index of each load, sampled each 100 ms as the paper does.
pub(super) struct Matrix {
    pub(super) pages: Vec<Arc<Page>>,
    /// By page, scheme and buffer: of all resources, and above the fold.
    indices: BTreeMap<(String, String, Buffer), [Option<f64>; 2]>,
}

/// The paper's eleven, `rr` first, and `firefox` as the paper's implementation has it.
fn schemes() -> Result<Vec<Scheme>, ReproduceError> {
    let as_run =
        find_scheme(FIREFOX_AS_RUN).map_err(|error| ReproduceError::Unusable(error.to_string()))?;
    Ok(paper_schemes().iter().cloned().chain([as_run]).collect())
}

/// The names of the paper's eleven, `rr` first.
pub(super) fn paper_names() -> Vec<String> {
    paper_schemes().iter().map(|it| it.name.clone()).collect()
}

/// The same, and the one that is run beside them.
pub(super) fn scheme_names() -> Vec<String> {
    paper_names().into_iter().chain([FIREFOX_AS_RUN.to_owned()]).collect()
}

/// The network of the paper's section 4.2.
pub(super) fn paper_network() -> Result<Network, ReproduceError> {
    Network::find("paper").map_err(|error| ReproduceError::Unusable(error.to_string()))
}

impl Matrix {
    /// Loads all `pages` under the paper's schemes with each of `buffers`.
    pub(super) fn load(
        pages: &[Arc<Page>],
        buffers: &[Buffer],
        jobs: usize,
    ) -> Result<Self, ReproduceError> {
        let network = paper_network()?;
        let schemes = schemes()?;
        let mut cells: Vec<(&Arc<Page>, &Scheme, Buffer)> = Vec::new();
        for page in pages {
            for scheme in &schemes {
                cells.extend(buffers.iter().map(|buffer| (page, scheme, *buffer)));
            }
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.max(1)).build()?;
        let indices = pool.install(|| {
            let loads = cells.par_iter().map(|&(page, scheme, buffer)| {
                let key = (page.name.clone(), scheme.name.clone(), buffer);
                (key, indices(page, scheme, &network, buffer))
            });
            loads.collect()
        });
        Ok(Self { pages: pages.to_vec(), indices })
    }

    /// `rr`'s index divided by the scheme's, on one page. With a buffer, of `baseline`'s.
    pub(super) fn speedup(
        &self,
        page: &str,
        scheme: &str,
        (buffer, baseline): (Buffer, Buffer),
        set: Set,
    ) -> Option<f64> {
        let index = |scheme: &str, buffer| {
            let key = (page.to_owned(), scheme.to_owned(), buffer);
            self.indices.get(&key)?[usize::from(set == Set::Atf)]
        };
        qlog_tools::byte_index::speedup(index("rr", baseline), index(scheme, buffer))
    }

    /// The speedups on all pages that have one.
    pub(super) fn speedups(
        &self,
        scheme: &str,
        buffer: Buffer,
        set: Set,
    ) -> Vec<(&Arc<Page>, f64)> {
        self.speedups_against(scheme, (buffer, buffer), set)
    }

    pub(super) fn speedups_against(
        &self,
        scheme: &str,
        buffers: (Buffer, Buffer),
        set: Set,
    ) -> Vec<(&Arc<Page>, f64)> {
        let pages = self.pages.iter();
        pages.filter_map(|it| Some((it, self.speedup(&it.name, scheme, buffers, set)?))).collect()
    }

    /// Their mean: a cell of Table 2.
    pub(super) fn mean(&self, scheme: &str, buffer: Buffer, set: Set) -> Option<f64> {
        mean(&self.speedups(scheme, buffer, set))
    }
}

/// The mean of speedups.
pub(super) fn mean(speedups: &[(&Arc<Page>, f64)]) -> Option<f64> {
    statistics::mean(&speedups.iter().map(|it| it.1).collect::<Vec<_>>())
}

/// The share of a page's bytes that are scripts below the fold: deferred, asynchronous, or late.
pub(super) fn late_script_share(page: &Page) -> f64 {
    let late =
        page.resources.iter().filter(|it| Kind::of_mime(&it.mime) == Kind::Js && !it.above_fold);
    late.map(|it| it.bytes).sum::<u64>() as f64 / page_bytes(page).max(1) as f64
}

/// All bytes of a page's bodies.
pub(super) fn page_bytes(page: &Page) -> u64 {
    page.resources.iter().map(|it| it.bytes).sum()
}

fn indices(
    page: &Arc<Page>,
    scheme: &Scheme,
    network: &Network,
    buffer: Buffer,
) -> [Option<f64>; 2] {
    let conditions = Conditions {
        send_buffer_bytes: buffer.bytes,
        send_buffer_model: if buffer.is_delay {
            SendBufferModel::Delay
        } else {
            SendBufferModel::Fifo
        },
        ..Conditions::default()
    };
    let load = ideal::load_under(page, scheme, network, conditions);
    let record = RunRecord::of_load(page, &load);
    let index = record.byte_index_sampled;
    if load.completed { [index.all, index.atf] } else { [None, None] }
}
