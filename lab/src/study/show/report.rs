//! A study's report: figures over all pages, and for each page its numbers and figures.

mod best;
mod conditions;
mod figures;
mod means;

pub use conditions::conditions;

use crate::study::carry_out::loading::DRAWN_MAX;
use crate::study::compute::summary::{Group, Paired, group, measured};
use crate::study::show::answer::{answer, no_interaction};
use crate::study::show::pairs::pair_matrices;
use crate::study::show::rows::scheme_rows;
use crate::study::statistics::{geometric_mean, median};
use crate::study::{Dimension, Plan, RunRecord, Setting, Study, StudyError, missing, same_loads};
use crate::{Contender, Load, figure_resources};
use ::figures::{FigureStyle, Sheet};
use corpus::Page;
use qlog_tools::metrics::{self, BySet, Set};
use report::comparison::{Comparison, NamedFigure, PageComparison, Row, Run};
use std::collections::{BTreeMap, BTreeSet};

/// `again` returns the arrivals of the loads at these indices of the study.
pub(crate) fn comparison(
    plan: &Plan,
    study: &Study,
    style: FigureStyle,
    again: impl FnOnce(&[usize]) -> Result<BTreeMap<usize, Load>, StudyError>,
) -> Result<Comparison, StudyError> {
    let view = View::new(plan, study, style);
    let speedups = view.speedups_over(view.baseline);
    let mut pages: Vec<(&Page, &Compared, PageComparison)> = Vec::new();
    for setting in &view.settings {
        let pages_of = plan.pages.iter();
        pages.extend(pages_of.map(|it| (&**it, setting, view.page(it, setting, &speedups))));
    }
    let drawn = most_telling(pages.len(), |place| {
        let rows = pages[place].2.rows.iter();
        rows.filter_map(|it| it.speedup.atf.or(it.speedup.all)).fold(0.0, f64::max)
    });
    let omitted =
        if drawn.len() < pages.len() { omitted(&view, drawn.len()) } else { String::new() };
    let mut shown = Vec::new();
    for &place in &drawn {
        let (page, setting, _) = &pages[place];
        shown.extend(view.shown(page, setting));
    }
    let loads = again(&shown)?;
    let pages = pages.into_iter().enumerate().map(|(place, (page, setting, compared))| {
        if !drawn.contains(&place) {
            return compared;
        }
        let places = view.shown(page, setting);
        let mut runs: Vec<Run<'_>> = Vec::new();
        for place in &places {
            let scheme = &study.runs[*place].scheme;
            runs.extend(loads.get(place).map(|it| Run { scheme, timeline: &it.timeline }));
        }
        let sheet = view.sheet_of_page(page, setting, &places);
        // Figures show the drawn loads, not the table's medians.
        let rows = places.iter().map(|it| view.row_of(*it)).collect();
        let resources = figure_resources(page);
        let own = PageComparison::new(&compared.name, &resources, rows, plan.metric, view.baseline);
        let drawn = own.drawn(&resources, &runs, plan.metric, &sheet);
        PageComparison { ribbons: drawn.ribbons, curve: drawn.curve, ..compared }
    });
    let pages = pages.collect();
    Ok(Comparison {
        title: title(plan, study),
        answers: [answer(plan, study), view.best()].concat(),
        conditions: all_conditions(plan, study),
        baseline: view.baseline.to_owned(),
        metric: plan.metric,
        provenance: study.provenance.clone(),
        schemes: scheme_rows(plan, study),
        pairs: pair_matrices(plan, study),
        figures: view.figures(&speedups),
        omitted,
        pages,
    })
}

fn all_conditions(plan: &Plan, study: &Study) -> Vec<String> {
    let mut all = vec![conditions(plan)];
    all.extend(missing(plan, &study.runs));
    all.extend(same_loads(plan, study));
    all.extend(no_interaction(plan, study));
    all
}

/// The answer of a study in sentences: how each scheme compares with the baseline, and which one is the best of all.
pub fn answers(plan: &Plan, study: &Study) -> Vec<String> {
    let best = View::new(plan, study, FigureStyle::Screen).best();
    [answer(plan, study), best].concat()
}

/// How many pages are drawn, and where the others are.
fn omitted(view: &View<'_>, drawn: usize) -> String {
    let of_settings = match view.settings.len() {
        1 => String::new(),
        count => format!(", each in {count} settings,"),
    };
    let pages = view.plan.pages.len();
    format!(
        "Of {pages} pages{of_settings} the {drawn} that gain most from a scheme are drawn; the others are lines of the last table."
    )
}

/// Each page as a dot, by its speedups: one figure for all settings that differ only in their send buffers.
pub fn page_dots(plan: &Plan, study: &Study) -> Vec<NamedFigure> {
    let view = View::new(plan, study, FigureStyle::Screen);
    let speedups = view.speedups_over(view.baseline);
    view.by_buffers().iter().map(|it| view.dots(&speedups, it)).collect()
}

/// One of the study's settings.
struct Compared {
    setting: Setting,
    /// Its suffix for names, if there are several.
    suffix: String,
}

/// The name of lower bounds among the schemes.
const LOWER_BOUND: &str = "lower bound";

/// Each page's mean speedup under each scheme.
type PageSpeedups<'a> = BTreeMap<Group<'a>, BySet>;

/// A study's loads by page, scheme, network and send buffer.
struct View<'a> {
    plan: &'a Plan,
    study: &'a Study,
    settings: Vec<Compared>,
    varied: Vec<&'static Dimension>,
    runs: BTreeMap<Group<'a>, Vec<usize>>,
    /// The baseline's loads as if they had reached their lower bounds.
    bounds: Vec<RunRecord>,
    /// The baseline of speedups.
    baseline: &'a str,
    /// The set of resources that the answer and the figures concern.
    set: Set,
    /// The settings in which all seeds give the same load.
    certain: BTreeSet<Setting>,
    style: FigureStyle,
}

impl<'a> View<'a> {
    fn new(plan: &'a Plan, study: &'a Study, style: FigureStyle) -> Self {
        let baseline = &*plan.baseline;
        let mut runs: BTreeMap<Group<'_>, Vec<usize>> = BTreeMap::new();
        for (place, run) in study.runs.iter().enumerate() {
            runs.entry(group(run)).or_default().push(place);
        }
        let bounds = study.runs.iter().filter(|it| it.scheme == baseline);
        let bounds = bounds.filter(|_| plan.is_bounded()).map(bound);
        let varied = plan.settings.varied();
        let settings = plan
            .settings
            .each()
            .into_iter()
            .map(|(_, setting)| Compared { suffix: after_comma(&setting.words(&varied)), setting });
        let settings = settings.collect();
        let bounds = bounds.collect();
        let certain = plan.certain_settings();
        let set = study.main_set();
        Self { plan, study, settings, varied, runs, bounds, baseline, set, certain, style }
    }

    /// The sheet for a page's figures; `places` are the indices of the loads they show.
    fn sheet_of_page(&self, page: &Page, setting: &Compared, places: &[usize]) -> Sheet {
        let runs = places.iter().map(|it| &self.study.runs[*it]);
        let shown: Vec<(&str, u64)> = runs.map(|it| (&*it.scheme, it.seed)).collect();
        let conditions = conditions::of_page(self.plan, &page.name, &setting.setting, &shown);
        Sheet { style: self.style, conditions }
    }

    fn places<'b>(&'b self, page: &'b str, scheme: &'b str, setting: &'b Compared) -> &'b [usize] {
        self.runs.get(&setting.group(page, scheme)).map_or(&[][..], Vec::as_slice)
    }

    /// Whether a load in a setting finished under some schemes only, apart from schemes of which none did.
    fn is_partial(&self, setting: &Compared) -> bool {
        let runs = self.study.runs.iter().filter(|it| it.setting == setting.setting);
        let finishing: BTreeSet<&str> =
            runs.clone().filter(|it| it.completed).map(|it| &*it.scheme).collect();
        let mut loads: BTreeMap<(&str, u64), BTreeSet<bool>> = BTreeMap::new();
        for run in runs.filter(|it| finishing.contains(&*it.scheme)) {
            loads.entry((&run.page, run.seed)).or_default().insert(run.completed);
        }
        loads.values().any(|it| it.len() > 1)
    }

    fn completed(&self, page: &str, scheme: &str, setting: &Compared) -> Vec<&'a RunRecord> {
        let runs = self.places(page, scheme, setting).iter().map(|it| &self.study.runs[*it]);
        runs.filter(|it| it.completed).collect()
    }

    /// The page's numbers under each scheme: medians of its loads. A ratio is the one of all other tables, and not that of medians.
    fn page(&self, page: &Page, setting: &Compared, speedups: &PageSpeedups<'_>) -> PageComparison {
        let completed = |scheme| self.completed(&page.name, scheme, setting);
        let schemes = self.plan.schemes.iter().map(Contender::name);
        let rows = schemes.map(|it| {
            let (finished, all) = (completed(it), self.places(&page.name, it, setting).len());
            let few = !finished.is_empty() && finished.len() < all;
            let note = few.then(|| format!("{} of {all} loads finished", finished.len()));
            let row = self.row(it, &finished);
            Row { note: note.or_else(|| row.note.clone()), ..row }
        });
        let rows = rows.collect();
        let (name, resources) =
            (format!("{}{}", page.name, setting.suffix), figure_resources(page));
        let mut compared =
            PageComparison::new(&name, &resources, rows, self.plan.metric, self.baseline);
        for row in &mut compared.rows {
            let own = speedups.get(&setting.group(&page.name, &row.scheme));
            row.speedup = own.copied().unwrap_or_default();
        }
        PageComparison { numbers: conditions::of_numbers(self.plan), ..compared }
    }

    /// The index of the load that figures show for each scheme. All have the seed of the baseline's median load, and so the
    /// same link.
    fn shown(&self, page: &Page, setting: &Compared) -> Vec<usize> {
        let middle = self.middle(self.places(&page.name, self.baseline, setting));
        let seed = middle.map(|it| self.study.runs[it].seed);
        let mut shown = Vec::new();
        for scheme in &self.plan.schemes {
            let mut places = self.places(&page.name, scheme.name(), setting).iter().copied();
            let place = if self.plan.engine.repeats() {
                places.find(|it| Some(self.study.runs[*it].seed) == seed)
            } else {
                places.find(|it| self.study.loads[*it].is_some())
            };
            shown.extend(place.filter(|it| !self.study.runs[*it].has_failed_scheme()));
        }
        shown
    }

    /// The numbers of the load at an index of the study, without the numbers of an unfinished load.
    fn row_of(&self, place: usize) -> Row {
        let run = &self.study.runs[place];
        let runs: Vec<&RunRecord> = Some(run).filter(|it| it.completed).into_iter().collect();
        self.row(&run.scheme, &runs)
    }

    /// The median load by the study's metric (of an even number, the better of the middle two); without completed loads, the
    /// first.
    fn middle(&self, places: &[usize]) -> Option<usize> {
        let mut values: Vec<(f64, usize)> = Vec::new();
        for &place in places {
            let run = &self.study.runs[place];
            let value = run.value(self.plan.metric).filter(|_| run.completed);
            values.extend(value.map(|it| (it, place)));
        }
        values.sort_by(|one, other| one.0.total_cmp(&other.0));
        let middle = values.get(values.len().saturating_sub(1) / 2).map(|it| it.1);
        middle.or_else(|| places.first().copied())
    }

    /// Each page's speedups over the loads of `baseline` on the same links: geometric means over its loads.
    fn speedups_over(&self, baseline: &str) -> PageSpeedups<'_> {
        let baselines = Paired::of(&self.study.runs, baseline, self.plan.metric);
        let mut speedups: BTreeMap<Group<'_>, Vec<BySet>> = BTreeMap::new();
        for run in self.study.runs.iter().chain(&self.bounds) {
            speedups.entry(group(run)).or_default().extend(baselines.speedup(run));
        }
        let mut means = PageSpeedups::new();
        for (group, speedups) in speedups {
            let mean = BySet::each(|set| {
                let loads = speedups.iter().filter_map(|it| it.get(set));
                geometric_mean(&loads.collect::<Vec<f64>>())
            });
            means.insert(group, mean);
        }
        means
    }

    fn row(&self, scheme: &str, runs: &[&RunRecord]) -> Row {
        let durations_ms: Vec<f64> = runs.iter().map(|it| it.duration_ms).collect();
        let bounded = runs.iter().filter(|_| self.plan.is_bounded());
        let regrets: Vec<f64> = bounded.filter_map(|it| it.regret()).collect();
        let atf = runs.iter().filter_map(|it| it.metrics.get(self.plan.metric).atf);
        Row {
            scheme: scheme.to_owned(),
            metrics: measured(runs, median),
            duration_ms: median(&durations_ms),
            atf_spread: quartiles(atf.collect()),
            regret: median(&regrets),
            proven: runs.iter().find_map(|it| it.proven),
            note: runs.is_empty().then(|| "no load finished".to_owned()),
            ..Row::default()
        }
    }
}

impl Compared {
    fn group<'a>(&'a self, page: &'a str, scheme: &'a str) -> Group<'a> {
        (page, scheme, &self.setting)
    }
}

/// A load of the baseline as if it had reached its lower bound.
fn bound(run: &RunRecord) -> RunRecord {
    let index = BySet { all: None, atf: run.lower_bound.atf };
    RunRecord {
        scheme: LOWER_BOUND.to_owned(),
        metrics: [(metrics::byte_index().name, index)].into_iter().collect(),
        resources: Vec::new(),
        proven: None,
        ..run.clone()
    }
}

/// The first and the third quartile, for at least four different values.
fn quartiles(mut values: Vec<f64>) -> Option<[f64; 2]> {
    values.sort_by(f64::total_cmp);
    let (first, last) = (values.first()?, values.last()?);
    let is_spread = values.len() >= 4 && first < last;
    is_spread.then(|| [1, 3].map(|quarter| values[(values.len() - 1) * quarter / 4]))
}

/// The indices of the pages, among `count`, that are drawn: if there are many, those that gain most.
pub(crate) fn most_telling(count: usize, gain: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|one, other| gain(*other).total_cmp(&gain(*one)));
    places.truncate(DRAWN_MAX);
    places
}

fn after_comma(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(", {words}") }
}

/// The question that a study answers: `11 schemes against rfc9218, by ByteIndex above the fold`.
pub fn title(plan: &Plan, study: &Study) -> String {
    let others = plan.schemes.len().saturating_sub(1);
    let schemes = match &plan.schemes[..] {
        [one, other] => {
            let other = if one.name() == plan.baseline { other } else { one };
            other.name().to_owned()
        }
        _ => format!("{others} schemes"),
    };
    format!("{schemes} against {}, by {}", plan.baseline, plan.measure(study.main_set()))
}

impl Plan {
    /// Whether the study's metric has lower bounds: only the `ByteIndex` has.
    pub(crate) fn is_bounded(&self) -> bool {
        self.metric.name == metrics::byte_index().name
    }

    /// The study's metric for a set of resources: `ByteIndex above the fold`.
    pub(crate) fn measure(&self, set: Set) -> String {
        format!("{}{}", self.metric.heading, self.place(set))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_half_needs_four_loads_that_differ() {
        assert_eq!(quartiles(vec![5.0, 1.0, 3.0, 2.0, 4.0]), Some([2.0, 4.0]));
        assert_eq!(quartiles(vec![1.0, 2.0, 3.0]), None);
        assert_eq!(quartiles(vec![2.0; 9]), None);
    }
}
