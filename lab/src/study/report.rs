//! A study as its report shows it: figures over all pages, and for each page its numbers and figures.

use super::dimension::{Dimension, NETWORK, SEND_BUFFER, notable};
use super::setting::{Setting, Settings};
use super::statistics::{mean, median};
use super::summary::{Group, Paired, group, measured};
use super::{Plan, RunRecord, Study, StudyError, SummaryRow, Weights};
use crate::network::{Network, queue_text};
use crate::{Contender, Load, figure_resources};
use corpus::Page;
use qlog_tools::figures::{
    Dot, DotGroup, HeatMap, HeatRow, Interleaving, InterleavingLine, SpeedupDots, Table,
};
use qlog_tools::metrics::{self, BySet, Set};
use qlog_tools::report::{
    self, Comparison, Figure, NamedFigure, PageComparison, PushMeans, Row, Run, Speedups,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Pages (on each network, with each buffer) that are drawn; of more, those that gain most from a scheme.
pub(super) const DRAWN_MAX: usize = 24;

/// `again` gives what came when in the loads at these places of the study.
pub(super) fn comparison(
    plan: &Plan,
    study: &Study,
    again: impl FnOnce(&[usize]) -> Result<BTreeMap<usize, Load>, StudyError>,
) -> Result<Comparison, StudyError> {
    let view = View::new(plan, study);
    let mut pages: Vec<(&Page, &Compared, PageComparison)> = Vec::new();
    for setting in &view.settings {
        pages.extend(plan.pages.iter().map(|page| {
            let name = format!("{}{}", page.name, setting.suffix);
            let rows = view.rows(page, setting);
            let of_page = PageComparison::new(
                &name,
                &figure_resources(page),
                rows,
                plan.metric,
                &plan.baseline,
            );
            (&**page, setting, of_page)
        }));
    }
    let drawn = most_telling(&pages);
    let omitted = if drawn.len() < pages.len() {
        format!(
            "Of {} pages the {} that gain most from a scheme are drawn; the others are lines of the last table.",
            pages.len(),
            drawn.len()
        )
    } else {
        String::new()
    };
    let shown = |place: &usize| view.shown(pages[*place].0, pages[*place].1);
    let loads = again(&drawn.iter().flat_map(shown).collect::<Vec<_>>())?;
    let pages = pages.into_iter().enumerate().map(|(place, (page, setting, compared))| {
        if !drawn.contains(&place) {
            return compared;
        }
        let places = view.shown(page, setting);
        let runs = places.iter().filter_map(|it| {
            Some(Run { scheme: &study.runs[*it].scheme, timeline: &loads.get(it)?.timeline })
        });
        compared.drawn(&figure_resources(page), &runs.collect::<Vec<_>>(), plan.metric)
    });
    let pages = pages.collect();
    Ok(Comparison {
        title: title(plan),
        what: conditions(plan),
        baseline: plan.baseline.clone(),
        metric: plan.metric,
        provenance: study.provenance.clone(),
        summary: study.summary.iter().map(|it| view.summary(it)).collect(),
        comparisons: study.comparisons.iter().map(|it| it.shown(view.words(&it.setting))).collect(),
        figures: view.figures(),
        omitted,
        pages,
    })
}

/// A setting among those of the study.
struct Compared {
    setting: Setting,
    /// What it adds to names, if there are several.
    suffix: String,
}

/// The name under which lower bounds stand among the schemes.
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
}

impl<'a> View<'a> {
    fn new(plan: &'a Plan, study: &'a Study) -> Self {
        let mut runs: BTreeMap<Group<'_>, Vec<usize>> = BTreeMap::new();
        for (place, run) in study.runs.iter().enumerate() {
            runs.entry(group(run)).or_default().push(place);
        }
        // Only the ByteIndex has lower bounds.
        let bounded = plan.metric.name == metrics::byte_index().name;
        let bounds =
            study.runs.iter().filter(|it| bounded && it.scheme == plan.baseline).map(bound);
        let (settings, varied) = (settings(plan), plan.settings.varied());
        Self { plan, study, settings, varied, runs, bounds: bounds.collect() }
    }

    /// The places of the loads of a page under a scheme.
    fn places<'b>(&'b self, page: &'b str, scheme: &'b str, setting: &'b Compared) -> &'b [usize] {
        self.runs.get(&setting.group(page, scheme)).map_or(&[][..], Vec::as_slice)
    }

    fn completed(&self, page: &str, scheme: &str, setting: &Compared) -> Vec<&'a RunRecord> {
        let runs = self.places(page, scheme, setting).iter().map(|it| &self.study.runs[*it]);
        runs.filter(|it| it.completed).collect()
    }

    /// The page's numbers under each scheme: medians of its loads.
    fn rows(&self, page: &Page, setting: &Compared) -> Vec<Row> {
        let schemes = self.plan.schemes.iter().map(Contender::name);
        let row = |scheme| self.row(scheme, &self.completed(&page.name, scheme, setting));
        schemes.map(row).collect()
    }

    /// The place of the load that figures show of each scheme.
    fn shown(&self, page: &Page, setting: &Compared) -> Vec<usize> {
        let shown = |scheme: &Contender| {
            let places = self.places(&page.name, scheme.name(), setting);
            let first = || places.iter().find(|it| self.study.loads[**it].is_some());
            if self.plan.repeats() { self.middle(places) } else { first().copied() }
        };
        self.plan.schemes.iter().filter_map(shown).collect()
    }

    /// The load in the middle by the study's metric, of an even number the better one of the two; of loads that did not
    /// complete the first.
    fn middle(&self, places: &[usize]) -> Option<usize> {
        let value = |place: &usize| {
            let run = Some(&self.study.runs[*place]).filter(|it| it.completed)?;
            let values = run.metrics.get(self.plan.metric);
            Some((values.atf.or(values.all)?, *place))
        };
        let mut values: Vec<(f64, usize)> = places.iter().filter_map(value).collect();
        values.sort_by(|one, other| one.0.total_cmp(&other.0));
        let middle = values.get(values.len().saturating_sub(1) / 2).map(|it| it.1);
        middle.or_else(|| places.first().copied())
    }

    /// What tells the setting of a row from others.
    fn words(&self, setting: &Setting) -> String {
        let told = |it: &&Compared| it.setting.told(&self.varied) == *setting;
        let found = self.settings.iter().find(told);
        found.map_or("", |it| it.suffix.trim_start_matches(", ")).to_owned()
    }

    fn summary(&self, row: &SummaryRow) -> report::SummaryRow {
        let of = |pick: fn(&BySet) -> Option<f64>| Speedups {
            pages: if pick(&row.mean_speedup).is_some() { row.pages } else { 0 },
            mean: pick(&row.mean_speedup),
            median: pick(&row.median_speedup),
            best: pick(&row.best_page_speedup),
            worst: pick(&row.worst_page_speedup),
        };
        report::SummaryRow {
            setting: self.words(&row.setting),
            scheme: row.scheme.clone(),
            all: of(|it| it.all),
            atf: of(|it| it.atf),
            atf_interval: row
                .mean_speedup_interval
                .atf
                .filter(|_| row.scheme != self.plan.baseline),
            regret: row.mean_regret.atf,
            proven: row.proven_pages.map(|it| (it, row.pages)),
            pushes: row.mean_pushes.map(|it| PushMeans {
                taken: it.taken,
                refused: it.refused,
                late: it.late,
                wasted_bytes: it.wasted_bytes,
            }),
        }
    }

    /// Speedups over the loads of `baseline` that met the same links.
    fn speedups_over(&self, baseline: &str) -> PageSpeedups<'_> {
        let baselines = Paired::of(&self.study.runs, baseline, self.plan.metric);
        let runs = || self.study.runs.iter().chain(&self.bounds);
        let mut speedups: BTreeMap<Group<'_>, Vec<BySet>> = BTreeMap::new();
        for run in runs() {
            speedups.entry(group(run)).or_default().extend(baselines.speedup(run));
        }
        let means = speedups.into_iter().map(|(group, speedups)| {
            let of = |set| speedups.iter().filter_map(|it| it.get(set)).collect::<Vec<f64>>();
            (group, BySet::each(|set| mean(&of(set))))
        });
        means.collect()
    }

    /// The mean of the pages' speedups above the fold.
    fn mean_speedup(
        &self,
        speedups: &PageSpeedups<'_>,
        scheme: &str,
        setting: &Compared,
    ) -> Option<f64> {
        let pages = self.plan.pages.iter();
        let speedups = pages.filter_map(|it| speedups.get(&setting.group(&it.name, scheme))?.atf);
        mean(&speedups.collect::<Vec<_>>())
    }

    fn figures(&self) -> Vec<NamedFigure> {
        let mut figures = Vec::new();
        let speedups = self.speedups_over(&self.plan.baseline);
        if self.plan.pages.len() > 1 {
            figures.extend(self.by_buffers().iter().map(|it| self.dots(&speedups, it)));
        }
        if self.settings.len() > 1 {
            figures.push(self.heat_map(&speedups));
        }
        figures.extend(self.interleaving());
        figures
    }

    /// The names of the schemes, and of the lower bound behind them.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.plan.schemes.iter().map(Contender::name).chain([LOWER_BOUND])
    }

    /// The settings in groups that differ in their send buffers only.
    fn by_buffers(&self) -> Vec<Vec<&Compared>> {
        let mut groups: Vec<Vec<&Compared>> = Vec::new();
        for compared in &self.settings {
            let same =
                |it: &&mut Vec<&Compared>| it[0].setting.differs_in_buffer(&compared.setting);
            match groups.iter_mut().find(same) {
                Some(group) => group.push(compared),
                None => groups.push(vec![compared]),
            }
        }
        groups
    }

    /// The paper's Figure 12: all resources, above the fold, and above the fold with each send buffer.
    fn dots(&self, speedups: &PageSpeedups<'_>, settings: &[&Compared]) -> NamedFigure {
        let (buffer, others): (Vec<_>, Vec<_>) =
            self.varied.iter().partition(|it| it.column == SEND_BUFFER);
        let mut columns = vec!["All".to_owned(), "ATF".to_owned()];
        columns.extend(settings.iter().skip(1).map(|it| it.setting.marks(&buffer)));
        let dots = |scheme: &str, setting: &Compared, set| {
            let dot = |page: &Arc<Page>| {
                Some(Dot {
                    page: page.name.clone(),
                    bytes: page.resources.iter().map(|it| it.bytes).sum(),
                    speedup: speedups.get(&setting.group(&page.name, scheme))?.get(set)?,
                })
            };
            self.plan.pages.iter().filter_map(dot).collect::<Vec<Dot>>()
        };
        let group = |scheme: &str| {
            let mut columns = vec![dots(scheme, settings[0], Set::All)];
            columns.extend(settings.iter().map(|setting| dots(scheme, setting, Set::Atf)));
            let is_bound = scheme == LOWER_BOUND;
            let label = if is_bound { format!("[{scheme}]") } else { scheme.to_owned() };
            let shown = !is_bound || columns.iter().any(|it| !it.is_empty());
            shown.then_some(DotGroup { label, columns })
        };
        let groups =
            self.names().filter(|it| *it != self.plan.baseline).filter_map(group).collect();
        let setting = &settings[0].setting;
        let figure = SpeedupDots {
            title: format!(
                "{} speedup over {}, page by page{}",
                self.plan.metric.heading,
                self.plan.baseline,
                after_comma(&setting.words(&others))
            ),
            baseline: self.plan.baseline.clone(),
            columns,
            groups,
            outlined: Vec::new(),
        };
        let others =
            others.iter().filter(|it| it.column != NETWORK).map(|it| it.file_part(setting));
        let name = format!("speedups-{}", crate::file_name(&setting.network));
        let name = [name].into_iter().chain(others).collect::<Vec<_>>().join("-");
        named(&name, figure.svg(), figure.caption(), figure.table())
    }

    /// Schemes by settings.
    fn heat_map(&self, speedups: &PageSpeedups<'_>) -> NamedFigure {
        let row = |scheme: &str| {
            let settings = self.settings.iter();
            let ratios: Vec<Option<f64>> =
                settings.map(|it| self.mean_speedup(speedups, scheme, it)).collect();
            let is_bound = scheme == LOWER_BOUND;
            let shown = !is_bound || ratios.iter().any(Option::is_some);
            shown.then_some(HeatRow { label: scheme.to_owned(), ratios, is_bound })
        };
        let figure = HeatMap {
            title: if self.varied.iter().all(|it| [NETWORK, SEND_BUFFER].contains(&it.column)) {
                "Schemes by networks".to_owned()
            } else {
                "Schemes by settings".to_owned()
            },
            what: format!(
                "Mean {} speedup over {}, above the fold",
                self.plan.metric.heading, self.plan.baseline
            ),
            rows: self.names().filter_map(row).collect(),
            columns: self.settings.iter().map(|it| self.setting_name(it)).collect(),
        };
        named("schemes-by-networks", figure.svg(), figure.caption(), figure.table())
    }

    /// `fifo`, `kway:N` and `rr` as one family, if the study has at least three of it.
    fn interleaving(&self) -> Option<NamedFigure> {
        let mut widths: Vec<(u64, &str)> = self
            .plan
            .schemes
            .iter()
            .filter_map(|it| Some((interleaving_width(it.name())?, it.name())))
            .collect();
        widths.sort_unstable();
        let first = widths.first().filter(|_| widths.len() > 2)?.1;
        let speedups = self.speedups_over(first);
        let ratio = |scheme, setting| self.mean_speedup(&speedups, scheme, setting);
        let lines = self.settings.iter().map(|setting| InterleavingLine {
            label: self.setting_name(setting),
            ratios: widths.iter().map(|it| ratio(it.1, setting)).collect(),
        });
        let name = |&(width, scheme): &(u64, &str)| match scheme {
            "fifo" => "1 (fifo)".to_owned(),
            "rr" => "all (rr)".to_owned(),
            _ => width.to_string(),
        };
        let figure = Interleaving {
            title: "How wide to interleave".to_owned(),
            widths: widths.iter().map(name).collect(),
            lines: lines.collect(),
        };
        Some(named("interleaving", figure.svg(), figure.caption(), figure.table()))
    }

    fn row(&self, scheme: &str, runs: &[&RunRecord]) -> Row {
        let middle = |of: &dyn Fn(&RunRecord) -> Option<f64>| {
            median(&runs.iter().filter_map(|it| of(it)).collect::<Vec<_>>())
        };
        let atf = runs.iter().filter_map(|it| it.metrics.get(self.plan.metric).atf);
        Row {
            scheme: scheme.to_owned(),
            metrics: measured(runs, median),
            duration_ms: middle(&|it| Some(it.duration_ms)),
            atf_spread: quartiles(atf.collect()),
            regret: middle(&RunRecord::regret),
            proven: runs.iter().find_map(|it| it.proven),
            note: runs.is_empty().then(|| "no load finished".to_owned()),
            ..Row::default()
        }
    }

    fn setting_name(&self, setting: &Compared) -> String {
        match &self.varied[..] {
            [] => setting.setting.network.clone(),
            varied => setting.setting.marks(varied),
        }
    }
}

impl Compared {
    fn group<'a>(&'a self, page: &'a str, scheme: &'a str) -> Group<'a> {
        (page, scheme, &self.setting)
    }
}

/// A load of the baseline that reached its lower bound.
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

fn named(name: &str, svg: String, caption: String, table: Table) -> NamedFigure {
    NamedFigure { name: name.to_owned(), figure: Figure { svg, caption, table } }
}

/// How many resources share the link under a scheme of the family.
fn interleaving_width(scheme: &str) -> Option<u64> {
    match scheme {
        "fifo" => Some(1),
        "rr" => Some(u64::MAX),
        _ => scheme.strip_prefix("kway:")?.parse().ok(),
    }
}

/// The first and the third, of four values or more that differ.
fn quartiles(mut values: Vec<f64>) -> Option<[f64; 2]> {
    values.sort_by(f64::total_cmp);
    let (first, last) = (values.first()?, values.last()?);
    let at = |quarter: usize| values[(values.len() - 1) * quarter / 4];
    (values.len() >= 4 && first < last).then(|| [at(1), at(3)])
}

/// The places of the pages that are drawn.
fn most_telling(pages: &[(&Page, &Compared, PageComparison)]) -> Vec<usize> {
    let gain = |place: usize| {
        let rows = pages[place].2.rows.iter();
        rows.filter_map(|it| it.speedup.atf.or(it.speedup.all)).fold(0.0, f64::max)
    };
    let mut places: Vec<usize> = (0..pages.len()).collect();
    places.sort_by(|one, other| gain(*other).total_cmp(&gain(*one)));
    places.truncate(DRAWN_MAX);
    places
}

fn settings(plan: &Plan) -> Vec<Compared> {
    let varied = plan.settings.varied();
    let compared = |(_, setting): (_, Setting)| {
        let suffix = after_comma(&setting.words(&varied));
        Compared { setting, suffix }
    };
    plan.settings.each().into_iter().map(compared).collect()
}

fn after_comma(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(", {words}") }
}

fn title(plan: &Plan) -> String {
    let pages = if plan.pages.len() == 1 {
        "One page".to_owned()
    } else {
        format!("{} pages", plan.pages.len())
    };
    format!("{pages} under {} schemes", plan.schemes.len())
}

/// The conditions under which all loads of a study were made.
pub fn conditions(plan: &Plan) -> String {
    let networks = plan.settings.networks.iter().map(|it| network_words(it, &plan.settings));
    let networks = networks.collect::<Vec<_>>().join(", ");
    let seeds = match plan.seeds.len() {
        1 => String::new(),
        seeds => {
            let shown = if plan.repeats() { "the one in the middle" } else { "the first" };
            format!("; medians of {seeds} loads each, figures of {shown}")
        }
    };
    let settings: Vec<Setting> = plan.settings.each().into_iter().map(|it| it.1).collect();
    let dimensions =
        notable(&settings.iter().collect::<Vec<_>>()).into_iter().filter(|it| it.column != NETWORK);
    let others: Vec<String> = dimensions.map(|it| it.all_words(&settings)).collect();
    let known = format!("metadata {}", plan.metadata.name());
    let others = others.into_iter().chain([known]).collect::<Vec<_>>().join(", ");
    let weights = match plan.weights {
        Weights::Equal => "",
        Weights::Web => {
            "; means and intervals of schemes are weighted as the web's pages, figures are not"
        }
    };
    format!("engine {}, {networks}, {others}{seeds}{weights}", plan.engine.name())
}

/// `network cable (25000000 bit/s, 25 ms one way, queue 156000 bytes)`: what of it the study leaves as it is.
fn network_words(network: &Network, settings: &Settings) -> String {
    let Network { name, down, .. } = network;
    let own = [
        (settings.rates.is_empty(), format!("{} bit/s", down.rate.mean())),
        (settings.rtts_ms.is_empty(), format!("{} ms one way", down.delay_ms)),
        (settings.queues.is_empty(), format!("queue {}", queue_text(down.queue))),
    ];
    let own: Vec<String> = own.into_iter().filter(|it| it.0).map(|it| it.1).collect();
    let own = if own.is_empty() { String::new() } else { format!(" ({})", own.join(", ")) };
    format!("network {name}{own}")
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

    #[test]
    fn fifo_and_rr_are_the_ends_of_the_interleaving_family() {
        let widths = ["fifo", "kway:4", "rr", "dfifo"].map(interleaving_width);
        assert_eq!(widths, [Some(1), Some(4), Some(u64::MAX), None]);
    }
}
