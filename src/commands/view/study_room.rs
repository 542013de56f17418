//! The room for a study: a folder of `utmost compare --out`, recomputed for the user's choice.

use super::parameters;
use crate::commands::compare::failure;
use crate::limits::{DROPPED_LOADS_MAX, VIEW_FILES_MAX};
use ::serve::Failure;
use lab::Contender;
use lab::network::Network;
use lab::study::record::{finished, is_study};
use lab::study::statistics::geometric_mean;
use lab::study::{Plan, RunRecord, Study, answers, conditions, missing, page_dots, title};
use qlog_tools::metrics::{self, METRICS, Set};
use serde_json::{Value, json};
use std::cmp::Ordering::Equal;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The study's folder, if there is one, and the study that was read from it.
pub(super) struct StudyRoom {
    folder: Option<PathBuf>,
    read: Mutex<Option<ReadStudy>>,
}

/// A plan, and its loads.
type ReadStudy = (Plan, Vec<RunRecord>);

/// A metric and a baseline of the study, which its plan then has, and a scheme if one is named.
struct Choice {
    plan: Plan,
    scheme: Option<String>,
}

impl Choice {
    /// The choice that a query names; by default, the study's own metric and baseline.
    fn new(own: &Plan, query: &str) -> Result<Self, Failure> {
        let named = |key: &str| parameters(query, key).pop().filter(|it| !it.is_empty());
        let known = |name: String| {
            let is_known = own.schemes.iter().any(|it| it.name() == name);
            if !is_known {
                return Err(Failure::BadInput(format!("the study has no scheme {name:?}")));
            }
            Ok(name)
        };
        let baseline = known(named("baseline").unwrap_or_else(|| own.baseline.clone()))?;
        let scheme = named("scheme").map(known).transpose()?;
        let metric = named("metric").unwrap_or_else(|| own.metric.name.to_owned());
        let no_metric = || Failure::BadInput(format!("no metric is named {metric:?}"));
        let metric = metrics::find(&metric).ok_or_else(no_metric)?;
        Ok(Self { plan: Plan { metric, baseline, ..own.clone() }, scheme })
    }

    /// The scheme that is named; else the one with the highest ratio over all settings, so that the room opens with what the study found.
    fn scheme<'a>(&'a self, study: &'a Study) -> &'a str {
        let others = self.plan.schemes.iter().map(Contender::name);
        let ratios =
            others.filter(|it| *it != self.plan.baseline).map(|it| (mean_ratio(study, it), it));
        // Of equal ones the first.
        let best = ratios.rev().max_by(|one, other| one.0.partial_cmp(&other.0).unwrap_or(Equal));
        self.scheme.as_deref().unwrap_or_else(|| best.map_or(&*self.plan.baseline, |it| it.1))
    }

    /// The figures of the two schemes alone.
    fn dots(&self, scheme: &str, runs: &[RunRecord]) -> Vec<Value> {
        let is_chosen = |name: &str| name == self.plan.baseline || name == scheme;
        let mut plan = self.plan.clone();
        plan.schemes.retain(|it| is_chosen(it.name()));
        let runs = runs.iter().filter(|it| is_chosen(&it.scheme)).cloned().collect();
        let dots = page_dots(&plan, &Study::of_runs(&plan, runs)).into_iter();
        dots.map(|it| json!({"svg": it.figure.svg, "caption": it.figure.caption})).collect()
    }
}

/// The geometric mean of a scheme's ratios over all settings.
fn mean_ratio(study: &Study, scheme: &str) -> Option<f64> {
    let rows = study.comparisons.iter().filter(|it| it.scheme == scheme);
    let ratios = rows.filter_map(|it| it.geometric_mean_ratio.get(study.main_set()));
    geometric_mean(&ratios.collect::<Vec<_>>())
}

impl StudyRoom {
    pub(super) fn new(directory: Option<&Path>) -> Self {
        let folder = directory.filter(|it| is_study(it)).map(Path::to_owned);
        Self { folder, read: Mutex::default() }
    }

    pub(super) fn has_study(&self) -> bool {
        self.folder.is_some()
    }

    /// The answer of the study to the choice in a query.
    pub(super) fn study(&self, query: &str) -> Result<String, Failure> {
        let read = self.read()?;
        let Some((own, runs)) = &*read else { return Err(no_study()) };
        let choice = Choice::new(own, query)?;
        let plan = &choice.plan;
        let study = Study::of_runs(plan, runs.clone());
        let scheme = choice.scheme(&study);
        let comparisons = study.comparisons.iter().map(|row| {
            let [all, atf] = Set::ALL.map(|set| row.verdict(set).name());
            json!({"setting": row.setting.sentence(), "verdict": {"all": all, "atf": atf}, "row": row})
        });
        let pages = study.page_summary.iter();
        let pages = pages.map(|row| json!({"setting": row.setting.sentence(), "row": row}));
        let conditions = [&[conditions(plan)], &*missing(plan, &study.runs)].concat();
        let bundled = plan.pages.iter().filter(|it| ::corpus::bundled(&it.name).is_some());
        Ok(json!({
            "title": title(plan, &study),
            "answers": answers(plan, &study),
            "conditions": conditions,
            "metric": plan.metric.name,
            "baseline": plan.baseline,
            "scheme": scheme,
            "set": study.main_set().name(),
            "metrics": METRICS,
            "schemes": plan.schemes.iter().map(Contender::name).collect::<Vec<_>>(),
            "bundled": bundled.map(|it| &*it.name).collect::<Vec<_>>(),
            "comparisons": comparisons.collect::<Vec<_>>(),
            "pages": pages.collect::<Vec<_>>(),
            "figures": choice.dots(scheme, runs),
        })
        .to_string())
    }

    /// The loads of the page that a query names.
    pub(super) fn loads(&self, query: &str) -> Result<String, Failure> {
        let read = self.read()?;
        let Some((_, runs)) = &*read else { return Err(no_study()) };
        let page = parameters(query, "page").pop().unwrap_or_default();
        let runs = runs.iter().filter(|it| it.page == page);
        let runs = runs.map(|run| json!({"setting": run.setting.sentence(), "run": run}));
        Ok(json!(runs.collect::<Vec<_>>()).to_string())
    }

    /// Shows a study that was dropped on the page, in place of the one before. `files`: the texts of its files by their names, as JSON.
    pub(super) fn take(&self, files: &[u8]) -> Result<String, Failure> {
        let files: BTreeMap<String, String> = serde_json::from_slice(files)
            .map_err(|error| Failure::BadInput(format!("the study: {error}")))?;
        let folder = tempfile::tempdir().map_err(Failure::elsewhere)?;
        for (name, text) in files.iter().take(VIEW_FILES_MAX) {
            write_below(folder.path(), name, text)?;
        }
        if !is_study(folder.path()) {
            let cause = "this is not a study: drop the whole folder that utmost compare --out wrote, with manifest.json and runs.jsonl";
            return Err(Failure::BadInput(cause.to_owned()));
        }
        check_manifest(files.get("manifest.json").map_or("", String::as_str))?;
        let place = format!("{}/", folder.path().display());
        let read = finished(folder.path()).map_err(failure);
        let read = read.map_err(|it| Failure::BadInput(it.to_string().replace(&place, "")))?;
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some(read);
        Ok("null".to_owned())
    }

    /// Reads the study, if it was not read yet.
    fn read(&self) -> Result<MutexGuard<'_, Option<ReadStudy>>, Failure> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let (None, Some(folder)) = (&*read, &self.folder) {
            *read = Some(finished(folder).map_err(failure)?);
        }
        Ok(read)
    }
}

/// Writes a file that a study has: beside its manifest, or in a folder there.
fn write_below(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let parts: Vec<Component<'_>> = Path::new(name).components().collect();
    if parts.len() > 2 || !parts.iter().all(|it| matches!(it, Component::Normal(_))) {
        return Err(Failure::BadInput(format!("{name:?}: a study has no such file")));
    }
    let file = folder.join(name);
    let made = file.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(&file, text)).map_err(Failure::elsewhere)
}

/// Keys of a manifest whose lists are not multiplied with each other.
const NOT_MULTIPLIED: [&str; 3] = ["argv", "initial_window_packets", "rounds"];

/// Refuses a manifest that would have other files of this machine read, because a network can be named by its file, and one of more loads
/// than memory can hold.
fn check_manifest(manifest: &str) -> Result<(), Failure> {
    let said: Value = serde_json::from_str(manifest).unwrap_or_default();
    let lists = said.as_object().into_iter().flatten();
    let lists = lists.filter(|(key, _)| !NOT_MULTIPLIED.contains(&&***key));
    let counts = lists.filter_map(|(_, it)| Some(it.as_array()?.len().max(1)));
    if counts.fold(1, usize::saturating_mul) > DROPPED_LOADS_MAX {
        let cause = format!("the study plans over {DROPPED_LOADS_MAX} loads; use utmost view DIR");
        return Err(Failure::BadInput(cause));
    }
    let networks = said["networks"].as_array().into_iter().flatten();
    let mut names = networks.filter_map(|it| it["name"].as_str());
    match names.find(|it| !Network::names().contains(it)) {
        None => Ok(()),
        Some(own) => Err(Failure::BadInput(format!(
            "the study has a network of a file, {own:?}; open it with utmost view DIR"
        ))),
    }
}

fn no_study() -> Failure {
    Failure::BadInput(
        "no study is open: drop the folder that utmost compare --out wrote, or begin with utmost view DIR".to_owned(),
    )
}
