//! The best scheme, pushes and hints for each page of a study, as a server's configuration.

mod configuration;

use super::dimension::{GATE, HINTS, PUSH};
use super::page_summary::Ratio;
use super::plan::Plan;
use super::run::RunRecord;
use super::setting::Setting;
use super::statistics::{Interval, median};
use super::{Study, StudyError};
use crate::ahead::Ahead;
pub use configuration::{Configuration, page_argument};
use corpus::Page;
use qlog_tools::metrics::Metric;

/// The choice of an order, pushes and hints for one page.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The page.
    pub page: String,
    /// The scheme with the best median of the plan's metric, above the fold where the page has such resources.
    pub best: String,
    /// What is pushed and hinted under it.
    pub ahead: Ahead,
    /// The scheme, and the pushes and hints if there are any.
    pub name: String,
    /// How many times better than the default it is, load by load.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// Loads under each scheme.
    pub loads: usize,
}

impl Choice {
    /// `0.995 to 1.012`. One load has no interval.
    pub fn interval_text(&self) -> String {
        let [low, high] = self.interval;
        if self.loads == 1 { "n = 1".to_owned() } else { format!("{low:.3} to {high:.3}") }
    }

    /// Whether the best scheme is better than the default: its interval lies above 1, and it gains enough to be worth
    /// a line in a configuration.
    pub fn differs(&self) -> bool {
        self.interval[0] > 1.0 && self.ratio >= WORTHWHILE
    }
}

/// Smaller gains are ignored: the study's pages and networks differ from a visitor's by more.
const WORTHWHILE: f64 = 1.01;

/// The best for each page, compared with `default`, which is one of the study's schemes, without pushes and hints.
pub fn choose(plan: &Plan, study: &Study, default: &str) -> Result<Vec<Choice>, StudyError> {
    check(plan, default)?;
    plan.pages.iter().map(|page| choice(page, plan, study, default)).collect()
}

/// Rejects plans that cannot lead to a policy, before anything is loaded.
pub fn check(plan: &Plan, default: &str) -> Result<(), StudyError> {
    let varied = plan.settings.varied();
    let is_chosen = |column| [PUSH, GATE, HINTS].contains(&column);
    let settings = plan.settings.each();
    let problem = if let Some(dimension) = varied.iter().find(|it| !is_chosen(it.column)) {
        format!("name one {}, the site's", dimension.name)
    } else if !settings.iter().any(|(_, it)| it.ahead().is_nothing()) {
        "pushes and hints need loads without them to compare with: add none to --push and to --hints"
            .to_owned()
    } else if plan.shard.is_some() {
        "a shard does not have all loads: merge the shards first".to_owned()
    } else if plan.has_chance() && plan.seeds.len() < LOADS_MIN {
        format!("random networks need at least {LOADS_MIN} loads: use --seeds 9")
    } else if !plan.schemes.iter().any(|it| it.name() == default) {
        format!("the default, `{default}`, is not among the schemes: add it")
    } else {
        return Ok(());
    };
    Err(StudyError::Impossible(format!("a policy cannot be made: {problem}")))
}

/// Fewer pairs have no 95 % interval.
const LOADS_MIN: usize = 6;

/// The values of loads with their seeds.
type Values = Vec<(u64, f64)>;

fn choice(page: &Page, plan: &Plan, study: &Study, default: &str) -> Result<Choice, StudyError> {
    let unfinished = |scheme: &str| {
        StudyError::Impossible(format!(
            "a policy cannot be made: page `{}` was not loaded to its end under {scheme}",
            page.name
        ))
    };
    let loads = |scheme: &str, ahead: Ahead| -> Option<Values> {
        let runs = study.runs.iter().filter(|it| it.page == page.name && it.scheme == scheme);
        let runs = runs.filter(|it| it.setting.ahead() == ahead);
        runs.map(|it| Some((it.seed, value(it, plan.metric)?))).collect()
    };
    let mut settings: Vec<Setting> = plan.settings.each().into_iter().map(|it| it.1).collect();
    // The first of equals is chosen: the one without pushes and hints.
    settings.sort_by_key(|it| !it.ahead().is_nothing());
    let plain = settings.first().map(Setting::ahead).unwrap_or_default();
    let of_default = loads(default, plain).ok_or_else(|| unfinished(default))?;
    let middle = |loads: &Values| median(&loads.iter().map(|it| it.1).collect::<Vec<_>>());
    let mut best = (default, settings.first(), of_default.clone());
    let mut most = middle(&of_default).ok_or_else(|| unfinished(default))?;
    let schemes = || plan.schemes.iter().filter(|it| it.scheme().is_some());
    for (setting, contender) in settings.iter().flat_map(|it| schemes().map(move |one| (it, one))) {
        let Some(loads) = loads(contender.name(), setting.ahead()) else { continue };
        let gain = |it: &f64| plan.metric.speedup(Some(most), Some(*it));
        let better = |it: &f64| gain(it).is_some_and(|it| it > 1.0);
        let Some(value) = middle(&loads).filter(better) else { continue };
        (best, most) = ((contender.name(), Some(setting), loads), value);
    }
    let (scheme, setting, loads) = best;
    let ratios = ratios(&of_default, &loads, plan.metric);
    let ratio = Ratio::of(&ratios, plan.has_chance()).ok_or_else(|| unfinished(scheme))?;
    let ahead = setting.map(Setting::ahead).unwrap_or_default();
    let labels =
        setting.filter(|_| !ahead.is_nothing()).map(|it| it.labels(&plan.settings.varied()));
    Ok(Choice {
        page: page.name.clone(),
        best: scheme.to_owned(),
        name: format!("{scheme} {}", labels.unwrap_or_default()).trim_end().to_owned(),
        ahead,
        ratio: ratio.middle,
        interval: ratio.interval.unwrap_or([0.0, f64::INFINITY]),
        loads: ratios.len(),
    })
}

/// How many times better each load is than the default's load that met the same link.
fn ratios(default: &Values, others: &Values, metric: &Metric) -> Vec<f64> {
    let ratio = |(seed, value): &(u64, f64)| {
        let same_link = others.iter().find(|it| it.0 == *seed)?;
        metric.speedup(Some(*value), Some(same_link.1))
    };
    default.iter().filter_map(ratio).collect()
}

fn value(run: &RunRecord, metric: &Metric) -> Option<f64> {
    let values = run.metrics.get(metric);
    values.atf.or(values.all).filter(|it| run.completed && *it > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contender;
    use crate::network::Network;
    use crate::study::Engine;
    use qlog_tools::metrics::{BySet, find};
    use serde_json::Value;
    use std::sync::Arc;

    #[test]
    fn the_best_scheme_is_that_of_the_metric_and_one_load_has_no_interval() {
        let page = Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone());
        let run = |scheme: &str, index, completion| RunRecord {
            page: page.name.clone(),
            scheme: scheme.to_owned(),
            completed: true,
            metrics: [("byte_index", index), ("critical_ms", completion)]
                .map(|(name, atf)| (name, BySet { all: None, atf: Some(atf) }))
                .into_iter()
                .collect(),
            ..RunRecord::default()
        };
        let schemes =
            ["rr", "fifo", "dfifo"].map(|it| Contender::find(it).expect("known")).to_vec();
        let network = Network::find("paper").expect("built in");
        let whole = Plan::new(vec![Arc::clone(&page)], schemes, Engine::Ideal, network);
        let runs = [("rr", 300.0, 400.0), ("fifo", 100.0, 500.0), ("dfifo", 200.0, 320.0)];
        for (metric, best, found) in
            [("byte_index", "fifo", "3.000 (n = 1)"), ("critical_ms", "dfifo", "1.250 (n = 1)")]
        {
            let plan = Plan { metric: find(metric).expect("known"), ..whole.clone() };
            let runs = runs.map(|(scheme, index, completion)| run(scheme, index, completion));
            let study = Study::new(&plan, Value::Null, runs.to_vec(), Vec::new());
            let choices = choose(&plan, &study, "rr").expect("choices");
            assert_eq!(choices[0].best, best);
            let pages = std::slice::from_ref(&page.name);
            let text =
                Configuration { plan: &plan, study: &study, default: "rr", pages, stem: "x" }
                    .to_toml(&choices);
            assert!(text.contains(&format!("# page davies-meenan: {found}\n")), "{text}");
        }
    }
}
