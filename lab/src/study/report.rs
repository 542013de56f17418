//! A study as its report shows it: figures over all pages, and for each page its numbers and figures.

use super::statistics::median;
use super::{BASELINE, Plan, RunRecord, Study, SummaryRow};
use crate::network::queue_text;
use crate::{Contender, resource_url};
use corpus::Page;
use qlog_tools::figures::{
    Dot, DotGroup, HeatMap, HeatRow, Interleaving, InterleavingLine, PageResource, SpeedupDots,
};
use qlog_tools::metrics::{self, BySet, Measured, Set};
use qlog_tools::report::{
    self, Comparison, Figure, NamedFigure, PageComparison, Row, Run, Speedups,
};
use schedulers::Kind;
use std::collections::BTreeMap;

/// Pages (on each network, with each buffer) that are drawn; of more, those that gain most from a scheme.
const DRAWN_MAX: usize = 24;

/// Everything that the report shows.
pub(super) fn comparison(plan: &Plan, study: &Study) -> Comparison {
    let view = View::new(plan, study);
    let mut pages: Vec<(&Page, &Setting<'_>, PageComparison)> = Vec::new();
    for setting in &view.settings {
        pages.extend(plan.pages.iter().map(|page| {
            let name = format!("{}{}", page.name, setting.suffix);
            let rows = view.rows(page, setting);
            let of_page = PageComparison::new(&name, &resources(page), rows, plan.metric, BASELINE);
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
    let pages = pages.into_iter().enumerate().map(|(place, (page, setting, compared))| {
        if !drawn.contains(&place) {
            return compared;
        }
        compared.drawn(&resources(page), &view.first_loads(page, setting), plan.metric)
    });
    let pages = pages.collect();
    Comparison {
        title: title(plan),
        what: what(plan),
        baseline: BASELINE.to_owned(),
        metric: plan.metric,
        provenance: study.provenance.clone(),
        summary: study.summary.iter().map(|it| view.summary(it)).collect(),
        figures: view.figures(),
        omitted,
        pages,
    }
}

/// A network with a send buffer.
struct Setting<'a> {
    network: &'a str,
    send_buffer_bytes: u64,
    /// What it adds to names, where there are several.
    suffix: String,
}

/// Page, scheme, network, send buffer.
type Key<'a> = (&'a str, &'a str, &'a str, u64);

/// A study's loads by what they are of.
struct View<'a> {
    plan: &'a Plan,
    study: &'a Study,
    settings: Vec<Setting<'a>>,
    runs: BTreeMap<Key<'a>, Vec<usize>>,
}

impl<'a> View<'a> {
    fn new(plan: &'a Plan, study: &'a Study) -> Self {
        let mut runs: BTreeMap<Key<'_>, Vec<usize>> = BTreeMap::new();
        for (place, run) in study.runs.iter().enumerate() {
            let key = (&*run.page, &*run.scheme, &*run.network, run.send_buffer_bytes);
            runs.entry(key).or_default().push(place);
        }
        Self { plan, study, settings: settings(plan), runs }
    }

    fn completed(&self, page: &str, scheme: &str, setting: &Setting<'_>) -> Vec<&'a RunRecord> {
        let key = (page, scheme, setting.network, setting.send_buffer_bytes);
        let places = self.runs.get(&key).map_or(&[][..], Vec::as_slice);
        places.iter().map(|it| &self.study.runs[*it]).filter(|it| it.completed).collect()
    }

    /// The page's numbers under each scheme: medians of its loads.
    fn rows(&self, page: &Page, setting: &Setting<'_>) -> Vec<Row> {
        let schemes = self.plan.schemes.iter().map(Contender::name);
        let row = |scheme| self.row(scheme, &self.completed(&page.name, scheme, setting));
        schemes.map(row).collect()
    }

    fn first_loads(&self, page: &Page, setting: &Setting<'_>) -> Vec<Run<'a>> {
        let mut loads = Vec::new();
        for scheme in &self.plan.schemes {
            let key = (&*page.name, scheme.name(), setting.network, setting.send_buffer_bytes);
            let places = self.runs.get(&key).map_or(&[][..], Vec::as_slice);
            let first =
                places.iter().find_map(|it| Some((*it, self.study.loads.get(*it)?.as_ref()?)));
            loads.extend(first.map(|(place, load)| Run {
                scheme: &self.study.runs[place].scheme,
                timeline: &load.timeline,
            }));
        }
        loads
    }

    fn summary(&self, row: &SummaryRow) -> report::SummaryRow {
        let setting = self
            .settings
            .iter()
            .find(|it| it.network == row.network && it.send_buffer_bytes == row.send_buffer_bytes);
        let of = |pick: fn(&BySet) -> Option<f64>| Speedups {
            pages: if pick(&row.mean_speedup).is_some() { row.pages } else { 0 },
            mean: pick(&row.mean_speedup),
            median: pick(&row.median_speedup),
            best: pick(&row.best_page_speedup),
            worst: pick(&row.worst_page_speedup),
        };
        report::SummaryRow {
            setting: setting.map_or("", |it| it.suffix.trim_start_matches(", ")).to_owned(),
            scheme: row.scheme.clone(),
            all: of(|it| it.all),
            atf: of(|it| it.atf),
            atf_interval: row.mean_speedup_interval.atf.filter(|_| row.scheme != BASELINE),
            regret: row.mean_regret.atf,
        }
    }

    /// A page's speedup, the mean of its loads', each over the load of the baseline with the same seed.
    fn speedup(
        &self,
        page: &str,
        (baseline, scheme): (&str, &str),
        setting: &Setting<'_>,
        set: Set,
    ) -> Option<f64> {
        let metric = self.plan.metric;
        let value = |run: &RunRecord| run.metrics.get(metric).get(set);
        let base = self.completed(page, baseline, setting);
        let ratios: Vec<f64> = self
            .completed(page, scheme, setting)
            .iter()
            .filter_map(|run| {
                let same = base.iter().find(|it| it.seed == run.seed)?;
                metric.speedup(value(same), value(run))
            })
            .collect();
        Speedups::of(ratios).mean
    }

    /// The mean of the pages' speedups.
    fn mean_speedup(&self, schemes: (&str, &str), setting: &Setting<'_>) -> Option<f64> {
        let pages = self.plan.pages.iter();
        let speedups = pages.filter_map(|it| self.speedup(&it.name, schemes, setting, Set::Atf));
        Speedups::of(speedups.collect()).mean
    }

    /// What the lower bound would reach; only the `ByteIndex` has one.
    fn bound_speedup(&self, page: &str, setting: &Setting<'_>) -> Option<f64> {
        let metric = Some(self.plan.metric).filter(|it| it.name == metrics::byte_index().name)?;
        let base = self.completed(page, BASELINE, setting);
        let ratios =
            base.iter().filter_map(|it| metric.speedup(it.byte_index().atf, it.lower_bound.atf));
        Speedups::of(ratios.collect()).mean
    }

    fn figures(&self) -> Vec<NamedFigure> {
        let mut figures = Vec::new();
        if self.plan.pages.len() > 1 {
            figures.extend(self.plan.networks.iter().map(|it| self.dots(&it.name)));
        }
        if self.settings.len() > 1 {
            figures.push(self.heat_map());
        }
        figures.extend(self.interleaving());
        figures
    }

    /// The paper's Figure 12: all resources, above the fold, and above the fold with each send buffer.
    fn dots(&self, network: &str) -> NamedFigure {
        let settings: Vec<&Setting<'_>> =
            self.settings.iter().filter(|it| it.network == network).collect();
        let mut columns = vec!["All".to_owned(), "ATF".to_owned()];
        columns.extend(settings.iter().skip(1).map(|it| buffer_name(it.send_buffer_bytes)));
        let dots = |of: &dyn Fn(&str) -> Option<f64>| {
            let pages = self.plan.pages.iter();
            let dot = |page: &Page, speedup| Dot {
                page: page.name.clone(),
                bytes: page.resources.iter().map(|it| it.bytes).sum(),
                speedup,
            };
            pages.filter_map(|it| Some(dot(it, of(&it.name)?))).collect::<Vec<Dot>>()
        };
        let schemes = self.plan.schemes.iter().map(Contender::name).filter(|it| *it != BASELINE);
        let mut groups: Vec<DotGroup> = schemes
            .map(|scheme| {
                let pair = (BASELINE, scheme);
                let mut columns =
                    vec![dots(&|page| self.speedup(page, pair, settings[0], Set::All))];
                columns.extend(
                    settings
                        .iter()
                        .map(|setting| dots(&|page| self.speedup(page, pair, setting, Set::Atf))),
                );
                DotGroup { label: scheme.to_owned(), columns }
            })
            .collect();
        let mut bounds = vec![Vec::new()];
        bounds
            .extend(settings.iter().map(|setting| dots(&|page| self.bound_speedup(page, setting))));
        if bounds.iter().any(|it| !it.is_empty()) {
            groups.push(DotGroup { label: "[lower bound]".to_owned(), columns: bounds });
        }
        let suffix = if self.plan.networks.len() > 1 {
            format!(", network {network}")
        } else {
            String::new()
        };
        let figure = SpeedupDots {
            title: format!(
                "{} speedup over {BASELINE}, page by page{suffix}",
                self.plan.metric.heading
            ),
            baseline: BASELINE.to_owned(),
            columns,
            groups,
            outlined: Vec::new(),
        };
        NamedFigure {
            name: format!("speedups-{}", super::file_name(network)),
            figure: Figure { svg: figure.svg(), caption: figure.caption(), table: figure.table() },
        }
    }

    /// Schemes by networks and send buffers.
    fn heat_map(&self) -> NamedFigure {
        let row = |label: &str, is_bound, of: &dyn Fn(&Setting<'_>) -> Option<f64>| HeatRow {
            label: label.to_owned(),
            ratios: self.settings.iter().map(of).collect(),
            is_bound,
        };
        let schemes = self.plan.schemes.iter().map(Contender::name);
        let mut rows: Vec<HeatRow> = schemes
            .map(|it| row(it, false, &|setting| self.mean_speedup((BASELINE, it), setting)))
            .collect();
        let bound = row("lower bound", true, &|setting| {
            let pages = self.plan.pages.iter();
            Speedups::of(pages.filter_map(|it| self.bound_speedup(&it.name, setting)).collect())
                .mean
        });
        rows.extend(bound.ratios.iter().any(Option::is_some).then_some(bound));
        let figure = HeatMap {
            title: "Schemes by networks".to_owned(),
            what: format!(
                "Mean {} speedup over {BASELINE}, above the fold",
                self.plan.metric.heading
            ),
            rows,
            columns: self.settings.iter().map(|it| self.setting_name(it)).collect(),
        };
        NamedFigure {
            name: "schemes-by-networks".to_owned(),
            figure: Figure { svg: figure.svg(), caption: figure.caption(), table: figure.table() },
        }
    }

    /// `fifo`, `kway:N` and `rr` as one family, where the study has three of it.
    fn interleaving(&self) -> Option<NamedFigure> {
        let mut widths: Vec<(u64, &str)> = self
            .plan
            .schemes
            .iter()
            .filter_map(|it| Some((interleaving_width(it.name())?, it.name())))
            .collect();
        widths.sort_unstable();
        let first = widths.first().filter(|_| widths.len() > 2)?.1;
        let lines = self.settings.iter().map(|setting| InterleavingLine {
            label: self.setting_name(setting),
            ratios: widths.iter().map(|it| self.mean_speedup((first, it.1), setting)).collect(),
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
        Some(NamedFigure {
            name: "interleaving".to_owned(),
            figure: Figure { svg: figure.svg(), caption: figure.caption(), table: figure.table() },
        })
    }

    fn row(&self, scheme: &str, runs: &[&RunRecord]) -> Row {
        let middle = |of: &dyn Fn(&RunRecord) -> Option<f64>| {
            median(&runs.iter().filter_map(|it| of(it)).collect::<Vec<_>>())
        };
        let metric = |metric| BySet::each(|set| middle(&|it| it.metrics.get(metric).get(set)));
        let atf = runs.iter().filter_map(|it| it.metrics.get(self.plan.metric).atf);
        Row {
            scheme: scheme.to_owned(),
            metrics: Measured::each(metric),
            duration_ms: middle(&|it| Some(it.duration_ms)),
            atf_spread: quartiles(atf.collect()),
            regret: middle(&RunRecord::regret),
            note: runs.is_empty().then(|| "no load finished".to_owned()),
            ..Row::default()
        }
    }

    fn setting_name(&self, setting: &Setting<'_>) -> String {
        match (self.plan.networks.len() > 1, self.plan.send_buffers_bytes.len() > 1) {
            (_, false) => setting.network.to_owned(),
            (true, true) => {
                format!("{} {}", setting.network, buffer_name(setting.send_buffer_bytes))
            }
            (false, true) => buffer_name(setting.send_buffer_bytes),
        }
    }
}

/// How many resources share the link under a scheme of the family.
fn interleaving_width(scheme: &str) -> Option<u64> {
    match scheme {
        "fifo" => Some(1),
        "rr" => Some(u64::MAX),
        _ => scheme.strip_prefix("kway:")?.parse().ok(),
    }
}

/// `280K`, as in the paper.
fn buffer_name(bytes: u64) -> String {
    if bytes >= 1000 && bytes.is_multiple_of(1000) {
        format!("{}K", bytes / 1000)
    } else {
        format!("{bytes} B")
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
fn most_telling(pages: &[(&Page, &Setting<'_>, PageComparison)]) -> Vec<usize> {
    let gain = |place: usize| {
        let rows = pages[place].2.rows.iter();
        rows.filter_map(|it| it.speedup.atf.or(it.speedup.all)).fold(0.0, f64::max)
    };
    let mut places: Vec<usize> = (0..pages.len()).collect();
    places.sort_by(|one, other| gain(*other).total_cmp(&gain(*one)));
    places.truncate(DRAWN_MAX);
    places
}

fn settings(plan: &Plan) -> Vec<Setting<'_>> {
    let mut settings = Vec::new();
    for network in &plan.networks {
        for &send_buffer_bytes in &plan.send_buffers_bytes {
            let network_text =
                (plan.networks.len() > 1).then(|| format!(", network {}", network.name));
            let buffer_text = (plan.send_buffers_bytes.len() > 1)
                .then(|| format!(", send buffer {send_buffer_bytes} bytes"));
            let suffix = [network_text, buffer_text].into_iter().flatten().collect();
            settings.push(Setting { network: &network.name, send_buffer_bytes, suffix });
        }
    }
    settings
}

fn title(plan: &Plan) -> String {
    let pages = if plan.pages.len() == 1 {
        "One page".to_owned()
    } else {
        format!("{} pages", plan.pages.len())
    };
    format!("{pages} under {} schemes", plan.schemes.len())
}

fn what(plan: &Plan) -> String {
    let buffers: Vec<String> = plan.send_buffers_bytes.iter().map(u64::to_string).collect();
    let networks = plan.networks.iter().map(|it| {
        format!(
            "network {} ({} bit/s, {} ms one way, queue {})",
            it.name,
            it.down.rate.mean(),
            it.down.delay_ms,
            queue_text(it.down.queue)
        )
    });
    let networks = networks.collect::<Vec<_>>().join(", ");
    let seeds = match plan.seeds.len() {
        1 => String::new(),
        seeds => format!("; medians of {seeds} loads each, figures of the first"),
    };
    let engine = plan.engine.name();
    format!("engine {engine}, {networks}, send buffer {} bytes{seeds}", buffers.join(", "))
}

fn resources(page: &Page) -> Vec<PageResource> {
    let resource = |it: &corpus::PageResource| PageResource {
        url: resource_url(page, it.id),
        kind: Kind::of_mime(&it.mime),
        above_fold: it.above_fold,
        body_bytes: Some(it.bytes),
        streams: Vec::new(),
    };
    page.resources.iter().map(resource).collect()
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
        assert_eq!([280_000, 14, 1500].map(buffer_name), ["280K", "14 B", "1500 B"]);
    }
}
