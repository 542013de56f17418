//! The room for a study: a folder of `utmost compare --out`, recomputed for the user's choice.

use super::parameters;
use crate::commands::compare::failure;
use ::serve::Failure;
use lab::Contender;
use lab::study::record::{finished, is_study};
use lab::study::{Plan, RunRecord, Study, answers, conditions, missing, page_dots, title};
use qlog_tools::metrics::{self, METRICS, Set};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The study's folder, if there is one, and the study that was read from it.
pub(super) struct StudyRoom {
    folder: Option<PathBuf>,
    read: Mutex<Option<ReadStudy>>,
}

/// A plan, and its loads.
type ReadStudy = (Plan, Vec<RunRecord>);

/// A metric, and two schemes of the study.
struct Choice {
    plan: Plan,
    scheme: String,
}

impl Choice {
    /// The choice that a query names; by default, the study's first entries.
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
        let mut others = own.schemes.iter().map(Contender::name).filter(|it| *it != baseline);
        let other = others.next().unwrap_or(&baseline).to_owned();
        let scheme = known(named("scheme").unwrap_or(other))?;
        let metric = named("metric").unwrap_or_else(|| own.metric.name.to_owned());
        let no_metric = || Failure::BadInput(format!("no metric is named {metric:?}"));
        let metric = metrics::find(&metric).ok_or_else(no_metric)?;
        Ok(Self { plan: Plan { metric, baseline, ..own.clone() }, scheme })
    }

    /// The figures of the two schemes alone.
    fn dots(&self, runs: &[RunRecord]) -> Vec<Value> {
        let names = [&self.plan.baseline, &self.scheme];
        let is_chosen = |name: &str| names.iter().any(|it| *it == name);
        let mut plan = self.plan.clone();
        plan.schemes.retain(|it| is_chosen(it.name()));
        let runs = runs.iter().filter(|it| is_chosen(&it.scheme)).cloned().collect();
        let dots = page_dots(&plan, &Study::of_runs(&plan, runs)).into_iter();
        dots.map(|it| json!({"svg": it.figure.svg, "caption": it.figure.caption})).collect()
    }
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
            "scheme": choice.scheme,
            "set": study.main_set().name(),
            "metrics": METRICS,
            "schemes": plan.schemes.iter().map(Contender::name).collect::<Vec<_>>(),
            "bundled": bundled.map(|it| &*it.name).collect::<Vec<_>>(),
            "comparisons": comparisons.collect::<Vec<_>>(),
            "pages": pages.collect::<Vec<_>>(),
            "figures": choice.dots(runs),
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

    /// Reads the study, unless it has been read.
    fn read(&self) -> Result<MutexGuard<'_, Option<ReadStudy>>, Failure> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let (None, Some(folder)) = (&*read, &self.folder) {
            *read = Some(finished(folder).map_err(failure)?);
        }
        Ok(read)
    }
}

fn no_study() -> Failure {
    Failure::BadInput(
        "no study is open; begin with: utmost view DIR, where DIR is a folder of utmost compare --out"
            .to_owned(),
    )
}
