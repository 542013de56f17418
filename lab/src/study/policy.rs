//! The best scheme for each page of a study, as a server's configuration.

use super::page_summary::Ratio;
use super::plan::Plan;
use super::run::RunRecord;
use super::statistics::{Interval, median};
use super::{Study, StudyError};
use corpus::Page;
use std::fmt::Write;
use std::path::Path;

/// The choice of an order for one page.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The page.
    pub page: String,
    /// The scheme with the lowest median index, above the fold where the page has such resources.
    pub best: String,
    /// The default's index divided by the best scheme's, load by load.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// Loads under each scheme.
    pub loads: usize,
}

impl Choice {
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
    let problem = if plan.networks.len() > 1 || plan.send_buffers_bytes.len() > 1 {
        "name one network and one send buffer, those of the site".to_owned()
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
        runs.map(|it| Some((it.seed, index(it)?))).collect()
    };
    let of_default = loads(default).ok_or_else(|| unfinished(default))?;
    let middle = |loads: &[(u64, f64)]| median(&loads.iter().map(|it| it.1).collect::<Vec<_>>());
    let mut best = (default, of_default.clone());
    let mut least = middle(&of_default).ok_or_else(|| unfinished(default))?;
    for contender in plan.schemes.iter().filter(|it| it.scheme().is_some()) {
        let Some(loads) = loads(contender.name()) else { continue };
        let Some(index) = middle(&loads).filter(|it| *it < least) else { continue };
        (best, least) = ((contender.name(), loads), index);
    }
    let ratios: Vec<f64> = of_default
        .iter()
        .filter_map(|(seed, index)| Some(index / best.1.iter().find(|it| it.0 == *seed)?.1))
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

fn index(run: &RunRecord) -> Option<f64> {
    run.byte_index().atf.or(run.byte_index().all).filter(|it| run.completed && *it > 0.0)
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
    let mut text = format!(
        "# The order in which each page is sent, as a study found it. Serve it, and announce it to clients, with\n\
         # utmost serve --config FILE. Ratios are the ATF ByteIndex under the default, {default}, divided by that\n\
         # under the scheme, with their 95 % interval, on engine {}, network {}, send buffer {} bytes.\n\
         # {}\n\n[site]\n{} = {}\nscheme = {}\nsignals = \"ignore\"\n",
        plan.engine.name(),
        plan.networks[0].name,
        plan.send_buffers_bytes[0],
        study.provenance,
        if pages.len() == 1 { "page" } else { "pages" },
        if pages.len() == 1 { listed[0].clone() } else { format!("[{}]", listed.join(", ")) },
        quoted(default),
    );
    for choice in choices {
        let Some(page) = plan.pages.iter().find(|it| it.name == choice.page) else { continue };
        let [low, high] = choice.interval;
        let found = format!(
            "{:.3} ({low:.3} to {high:.3}), {} load{}",
            choice.ratio,
            choice.loads,
            if choice.loads == 1 { "" } else { "s" }
        );
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
