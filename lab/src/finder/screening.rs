//! Stage 1: every scheme on the engine `ideal`, and the selection for stage 2.

use super::robust::{Regrets, least_worst};
use super::{Goal, Index, Question, Step};
use crate::network::Network;
use crate::study::{BASELINE, RunRecord, StudyError, engines, run};
use serde::Serialize;
use serde_json::Value;

/// How many schemes of each network of a page enter stage 2.
///
/// Effects that `ideal` does not model make its ranking differ from `stack`'s; a single seed separates most of them.
const BEST: usize = 5;

/// How many schemes of the whole site enter stage 2, so that the robust choice has candidates loaded everywhere.
const ROBUST: usize = 2;

/// A scheme on the engine `ideal`: one page, one network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Screened {
    /// The scheme.
    pub scheme: String,
    /// Its index.
    #[serde(flatten)]
    pub index: Index,
    /// The index divided by its lower bound; null if nothing is above the fold, or for metrics other than the `ByteIndex`.
    pub regret: Option<f64>,
}

impl Screened {
    fn ms(&self) -> f64 {
        self.index.ms().unwrap_or(f64::INFINITY)
    }
}

/// The schemes of one page on one network, the best first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranked {
    pub(super) page: String,
    pub(super) network: String,
    pub(super) schemes: Vec<Screened>,
}

/// Loads every page under every scheme on every network, as far as `ideal` supports it.
pub(super) fn screen(
    question: &Question,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Vec<Ranked>, StudyError> {
    let networks: Vec<Network> = question.networks.iter().map(Network::for_ideal).collect();
    let (pages, schemes) = (question.pages(), question.schemes.clone());
    let Some(plan) = question.plan(engines::IDEAL, networks, pages, schemes) else {
        return Ok(Vec::new());
    };
    progress(Step::Planned(plan.loads()));
    let study = run(&plan, Value::Null, &|| progress(Step::Loaded))?;
    let cases = study.runs.chunk_by(|one, other| {
        one.page == other.page && one.setting.network == other.setting.network
    });
    let ranked = cases.map(|runs| Ranked {
        page: runs[0].page.clone(),
        network: runs[0].setting.network.clone(),
        schemes: ranked(runs, &question.goal),
    });
    Ok(ranked.collect())
}

fn ranked(runs: &[RunRecord], goal: &Goal) -> Vec<Screened> {
    let mut schemes: Vec<Screened> = Vec::new();
    for run in runs {
        let index = goal.index(run);
        if index.ms().is_some() {
            let regret = run.regret().filter(|_| goal.is_byte_index());
            schemes.push(Screened { scheme: run.scheme.clone(), index, regret });
        }
    }
    schemes.sort_by(|one, other| one.ms().total_cmp(&other.ms()));
    schemes
}

/// The names of the finalists for a page: `rr`, the reference of speedups, the best of each network, and the most robust of
/// the site, without duplicates.
pub(super) fn finalists(all: &[Ranked], page: &str) -> Vec<String> {
    let mut names = vec![BASELINE.to_owned()];
    let of_page = all.iter().filter(|it| it.page == page).flat_map(|it| best(&it.schemes));
    for name in of_page.chain(robust(all)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The best few, with only one of the schemes that load the page alike.
fn best(schemes: &[Screened]) -> Vec<String> {
    let alike = schemes.chunk_by(|one, other| (one.ms() - other.ms()).abs() <= 1e-9 * one.ms());
    alike.take(BEST).map(|it| it[0].scheme.clone()).collect()
}

/// The schemes with the lowest worst regret over all pages and networks.
fn robust(all: &[Ranked]) -> Vec<String> {
    let mut cases: Vec<Regrets> = Vec::new();
    for ranked in all {
        let orders = ranked.schemes.iter().map(|it| (&*it.scheme, it.ms(), it.regret));
        cases.push(Regrets::of(orders));
    }
    let mut names = Vec::new();
    while names.len() < ROBUST {
        let Some(found) = least_worst(&cases) else { break };
        for case in &mut cases {
            case.retain(|it| it != found.scheme);
        }
        names.push(found.scheme);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(page: &str, network: &str, schemes: &[(&str, f64)]) -> Ranked {
        let schemes = schemes.iter().map(|(scheme, ms)| Screened {
            scheme: (*scheme).to_owned(),
            index: Index { atf_ms: Some(*ms), all_ms: None },
            regret: Some(ms / 100.0),
        });
        Ranked { page: page.to_owned(), network: network.to_owned(), schemes: schemes.collect() }
    }

    #[test]
    fn the_best_of_each_network_go_on_with_rr_and_the_most_robust_of_the_site() {
        let all = [
            ranked(
                "a",
                "cable",
                &[
                    ("fifo", 100.0),
                    ("dfifo", 100.0),
                    ("p+", 110.0),
                    ("srpt", 120.0),
                    ("lifo", 130.0),
                    ("wrr", 140.0),
                    ("bucket", 150.0),
                ],
            ),
            ranked(
                "a",
                "3g",
                &[
                    ("srpt", 100.0),
                    ("p+", 101.0),
                    ("rr", 102.0),
                    ("fifo", 103.0),
                    ("wrr", 120.0),
                    ("lifo", 900.0),
                ],
            ),
            ranked(
                "b",
                "3g",
                &[
                    ("wrr", 100.0),
                    ("bucket", 105.0),
                    ("p+", 110.0),
                    ("lifo", 120.0),
                    ("spdy", 121.0),
                    ("fifo", 140.0),
                    ("srpt", 145.0),
                ],
            ),
        ];
        // `dfifo` loads the page as `fifo` does. `p+` is at worst 10 % above the bound, and then `wrr` and `fifo` 40 %.
        assert_eq!(finalists(&all, "a"), ["rr", "fifo", "p+", "srpt", "lifo", "wrr"]);
        assert_eq!(finalists(&all, "b"), ["rr", "wrr", "bucket", "p+", "lifo", "spdy", "fifo"]);
    }
}
