//! The best scheme for each page of a study, as a server's configuration.

use super::page_summary::Ratio;
use super::plan::Plan;
use super::run::RunRecord;
use super::setting::notable;
use super::statistics::{Interval, median};
use super::{Study, StudyError};
use corpus::Page;
use qlog_tools::metrics::Metric;
use std::fmt::Write;
use std::path::Path;

/// The choice of an order for one page.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The page.
    pub page: String,
    /// The scheme with the best median of the plan's metric, above the fold where the page has such resources.
    pub best: String,
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

/// The best scheme for each page, compared with `default`, which is one of the study's.
pub fn choose(plan: &Plan, study: &Study, default: &str) -> Result<Vec<Choice>, StudyError> {
    check(plan, default)?;
    plan.pages.iter().map(|page| choice(page, plan, study, default)).collect()
}

/// Rejects plans that cannot lead to a policy, before anything is loaded.
pub fn check(plan: &Plan, default: &str) -> Result<(), StudyError> {
    let varied = plan.settings.varied();
    let problem = if let Some(dimension) = varied.first() {
        format!("name one {}, the site's", dimension.name)
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

fn choice(page: &Page, plan: &Plan, study: &Study, default: &str) -> Result<Choice, StudyError> {
    let unfinished = |scheme: &str| {
        StudyError::Impossible(format!(
            "a policy cannot be made: page `{}` was not loaded to its end under {scheme}",
            page.name
        ))
    };
    let loads = |scheme: &str| -> Option<Vec<(u64, f64)>> {
        let runs = study.runs.iter().filter(|it| it.page == page.name && it.scheme == scheme);
        runs.map(|it| Some((it.seed, value(it, plan.metric)?))).collect()
    };
    let of_default = loads(default).ok_or_else(|| unfinished(default))?;
    let middle = |loads: &[(u64, f64)]| median(&loads.iter().map(|it| it.1).collect::<Vec<_>>());
    let mut best = (default, of_default.clone());
    let mut most = middle(&of_default).ok_or_else(|| unfinished(default))?;
    for contender in plan.schemes.iter().filter(|it| it.scheme().is_some()) {
        let Some(loads) = loads(contender.name()) else { continue };
        let gain = |it: &f64| plan.metric.speedup(Some(most), Some(*it));
        let better = |it: &f64| gain(it).is_some_and(|it| it > 1.0);
        let Some(value) = middle(&loads).filter(better) else { continue };
        (best, most) = ((contender.name(), loads), value);
    }
    let ratios: Vec<f64> = of_default
        .iter()
        .filter_map(|(seed, value)| {
            let same_link = best.1.iter().find(|it| it.0 == *seed)?;
            plan.metric.speedup(Some(*value), Some(same_link.1))
        })
        .collect();
    let ratio = Ratio::of(&ratios, plan.has_chance()).ok_or_else(|| unfinished(best.0))?;
    Ok(Choice {
        page: page.name.clone(),
        best: best.0.to_owned(),
        ratio: ratio.middle,
        interval: ratio.interval.unwrap_or([0.0, f64::INFINITY]),
        loads: ratios.len(),
    })
}

fn value(run: &RunRecord, metric: &Metric) -> Option<f64> {
    let values = run.metrics.get(metric);
    values.atf.or(values.all).filter(|it| run.completed && *it > 0.0)
}

/// The choices as a configuration that `utmost serve --config` takes. `pages` is how each page is named there:
/// bundled, or by its file.
pub fn to_toml(
    plan: &Plan,
    study: &Study,
    default: &str,
    choices: &[Choice],
    pages: &[String],
) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let listed: Vec<String> = pages.iter().map(|it| quoted(it)).collect();
    let settings = plan.settings.each();
    let setting = settings.first().map(|(_, it)| it.words(&notable(&[it])));
    let mut text = format!(
        "# The order in which each page is sent, as a study found it. Serve it, and announce it to clients, with\n\
         # utmost serve --config FILE. Ratios are the ATF {} under the default, {default}, divided by that\n\
         # under the scheme, with their 95 % interval, on engine {}, {}.\n\
         # {}\n\n[site]\n{} = {}\nscheme = {}\nsignals = \"ignore\"\n",
        plan.metric.heading,
        plan.engine.name(),
        setting.unwrap_or_default(),
        study.provenance,
        if pages.len() == 1 { "page" } else { "pages" },
        if pages.len() == 1 { listed[0].clone() } else { format!("[{}]", listed.join(", ")) },
        quoted(default),
    );
    for choice in choices {
        let Some(page) = plan.pages.iter().find(|it| it.name == choice.page) else { continue };
        let found = match choice.loads {
            1 => format!("{:.3} ({})", choice.ratio, choice.interval_text()),
            loads => format!("{:.3} ({}), {loads} loads", choice.ratio, choice.interval_text()),
        };
        let written = if choice.differs() {
            // A configuration names hosts without a port.
            let host = page.origins.first().map_or("", |it| http3::host(&it.host));
            let path = page.resources.first().map_or("/", |it| it.url.as_str());
            write!(
                text,
                "\n# page {}: {found}\n[[route]]\nhost = {}\npath = {}\nscheme = {}\n",
                choice.page,
                quoted(host),
                quoted(path),
                quoted(&choice.best)
            )
        } else {
            let name = &choice.page;
            write!(text, "\n# page {name}: no difference; {} has {found}\n", choice.best)
        };
        debug_assert!(written.is_ok(), "a String takes everything");
    }
    text
}

/// How `page` is named in a configuration: bundled by its name, otherwise by its file, from the root on.
pub fn page_argument(argument: &str) -> String {
    let is_file =
        argument.contains('/') || Path::new(argument).extension().is_some_and(|it| it == "json");
    let resolved = Path::new(argument).canonicalize().ok().filter(|_| is_file);
    resolved.map_or_else(|| argument.to_owned(), |it| it.display().to_string())
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
            let text = to_toml(&plan, &study, "rr", &choices, std::slice::from_ref(&page.name));
            assert!(text.contains(&format!("# page davies-meenan: {found}\n")), "{text}");
        }
    }
}
