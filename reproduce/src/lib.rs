//! Published tables and figures, made again: ours beside theirs, and each deviation explained.
//!
//! One file per experiment, and one row of [`EXPERIMENTS`] each. Published values are typed once, with their pages,
//! in the files `published.rs`; a tolerance is fixed before it is measured and never adjusted until it holds.

mod as_published;
mod bench;
mod downloads;
mod folder;
mod loss;
mod marx;
mod model;
mod nginx_push;
mod notsent_lowat;
mod push_rules;
mod row;
mod sketch;
mod smig;
mod table;
mod verdict;

pub use as_published::as_published;
pub use folder::write;
pub use row::{Cell, Kind, Row, headline, kinds};
pub use table::{Estimate, Line, Table};
pub use verdict::{Verdict, Verdicts};

use corpus::Page;
use figures::Sheet;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use schedulers::{Scheme, find_scheme};
use serde::Serialize;
use serde_json::{Value, json};
use server::CongestionControl;
use std::sync::Arc;

/// The format of a reproduction's JSON.
pub const FORMAT: &str = "utmost-reproduction/2";

/// A published result that can be made again.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// The publication: authors, year, table or figure, page.
    pub source: &'static str,
    /// `ideal` or `stack`. The results of both are the same each time.
    pub engine: &'static str,
    /// Under which conditions the figure's numbers were measured. RUNS and LAST stand for the number of
    /// loads and the last seed, if a user chooses them.
    conditions: &'static str,
    run: fn(&Setting) -> Result<Findings, ReproduceError>,
}

/// All experiments, in the order of the publications.
pub const EXPERIMENTS: &[Experiment] = &[
    marx::table2::EXPERIMENT,
    marx::figure8::EXPERIMENT,
    marx::figure11::EXPERIMENT,
    marx::figure12::EXPERIMENT,
    marx::figure13::EXPERIMENT,
    marx::cases::EXPERIMENT,
    nginx_push::EXPERIMENT,
    push_rules::EXPERIMENT,
    push_rules::timelines::EXPERIMENT,
    push_rules::caches::EXPERIMENT,
    notsent_lowat::EXPERIMENT,
    smig::EXPERIMENT,
    loss::EXPERIMENT,
];

/// The pages and loads of experiments.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The corpus.
    pub pages: Vec<Arc<Page>>,
    /// Loads at a time.
    pub jobs: usize,
    /// Loads of each case, on engine `stack`; `None`: as many as in the publication.
    pub runs: Option<usize>,
}

/// The findings of an experiment.
#[derive(Debug, Clone, Serialize)]
pub struct Findings {
    /// How it was made, in a sentence or two.
    pub method: String,
    /// Ours beside theirs.
    pub rows: Vec<Row>,
    /// Results beyond what was published.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Table>,
    /// Schemes and brackets that were run.
    #[serde(skip)]
    pub schemes: Vec<String>,
    /// Pages that were loaded.
    #[serde(skip)]
    pub pages: Vec<Arc<Page>>,
    /// The figure that is published, ours.
    #[serde(skip)]
    pub svg: String,
    /// Below the figure.
    #[serde(skip)]
    pub caption: String,
}

/// A reproduction's results.
#[derive(Debug, Clone, Serialize)]
pub struct Reproduction {
    /// [`FORMAT`].
    pub format: &'static str,
    /// The experiment.
    pub name: &'static str,
    /// The publication.
    pub source: &'static str,
    /// Its findings.
    #[serde(flatten)]
    pub found: Findings,
    /// Whether every condition holds; null if no row has one.
    pub all_hold: Option<bool>,
    /// Its provenance.
    pub provenance: Value,
}

/// Why an experiment cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// There is no such experiment, one of its pages, schemes or networks is unknown, or a load failed.
    #[error("{0}")]
    Unusable(String),
    /// Threads cannot be started.
    #[error("threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl ReproduceError {
    fn unusable(error: impl std::fmt::Display) -> Self {
        Self::Unusable(error.to_string())
    }
}

/// The congestion controls under which experiments are repeated.
const CONTROLS: [CongestionControl; 3] =
    [CongestionControl::Bbr2, CongestionControl::Cubic, CongestionControl::Reno];

fn scheme(name: &str) -> Result<Scheme, ReproduceError> {
    find_scheme(name).map_err(ReproduceError::unusable)
}

/// The result of `of` for each item, in their order; `jobs` at a time.
fn in_parallel<I: Sync, T: Send>(
    jobs: usize,
    items: &[I],
    of: impl Fn(&I) -> Result<T, ReproduceError> + Send + Sync,
) -> Result<Vec<T>, ReproduceError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.max(1)).build()?;
    pool.install(|| items.par_iter().map(of).collect())
}

impl Experiment {
    fn sheet(&self) -> Sheet {
        Sheet { conditions: self.conditions.to_owned(), ..Sheet::default() }
    }

    /// The same, of an experiment with this many loads of each case.
    fn sheet_of(&self, runs: usize) -> Sheet {
        let last = runs.saturating_sub(1).to_string();
        let conditions = self.conditions.replace("RUNS", &runs.to_string()).replace("LAST", &last);
        Sheet { conditions, ..Sheet::default() }
    }

    /// The experiment of this name.
    pub fn find(name: &str) -> Result<&'static Self, ReproduceError> {
        EXPERIMENTS.iter().find(|experiment| experiment.name == name).ok_or_else(|| {
            let known: Vec<&str> = EXPERIMENTS.iter().map(|it| it.name).collect();
            let known = known.join(", ");
            ReproduceError::Unusable(format!("no experiment `{name}`: use one of {known}"))
        })
    }

    /// Carries it out; `program` is the provenance of the program that runs it.
    pub fn run(&self, setting: &Setting, program: Value) -> Result<Reproduction, ReproduceError> {
        let found = (self.run)(setting)?;
        if let Some(row) = found.rows.iter().find(|row| row.verdicts.source_misses_itself) {
            return Err(ReproduceError::Unusable(format!(
                "{}, row {}: the published value fails its own condition",
                self.name, row.id
            )));
        }
        Ok(Reproduction {
            format: FORMAT,
            name: self.name,
            source: self.source,
            all_hold: row::all_hold(&found.rows),
            provenance: provenance(program, self.engine, &found),
            found,
        })
    }
}

impl Setting {
    /// The bundled pages of the set `first-60`: a page that joins the bundle later moves no result.
    pub fn bundled(jobs: usize) -> Self {
        let pages = corpus::kept_pages().into_iter();
        Self { pages: pages.map(|it| Arc::new(it.clone())).collect(), jobs, runs: None }
    }

    fn page(&self, page: &str) -> Result<&Arc<Page>, ReproduceError> {
        self.pages.iter().find(|found| found.name == page).ok_or_else(|| {
            ReproduceError::Unusable(format!("page `{page}` is not among the pages"))
        })
    }
}

fn provenance(mut program: Value, engine: &str, found: &Findings) -> Value {
    let pages = found.pages.iter().map(
        |page| json!({"name": page.name, "sha256": corpus::sha256_hex(page.to_text().as_bytes())}),
    );
    let schemes = found.schemes.iter().filter_map(|name| {
        let scheme = lab::Contender::find(name).ok()?;
        Some(json!({"name": name, "revision": scheme.revision()}))
    });
    program["engine"] = json!(engine);
    program["pages"] = pages.collect();
    program["schemes"] = schemes.collect();
    program
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_an_unknown_one_is_told_the_others() {
        let mut names: Vec<&str> = EXPERIMENTS.iter().map(|it| it.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), EXPERIMENTS.len());
        let told = Experiment::find("marx-figure9").expect_err("unknown").to_string();
        assert!(
            told.starts_with("no experiment `marx-figure9`: use one of marx-table2, marx-figure8"),
            "{told}"
        );
    }
}
