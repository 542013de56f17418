//! The figures of a study over all of its pages, as far as it has data for them.

use super::conditions::{self, Over};
use super::{Compared, LOWER_BOUND, PageSpeedups, View, after_comma};
use crate::Contender;
use crate::study::plan::dimension::{NETWORK, SEND_BUFFER};
use crate::study::{Axis, Dimension, Setting, missing};
use figures::{
    Distribution, DistributionOf, Dot, DotGroup, Drawing, HeatMap, HeatRow, Interleaving,
    InterleavingLine, IntervalPanel, IntervalRow, Intervals, Sheet, SpeedupDots, Standing, Sweep,
    SweepOf, SweepPoint,
};
use qlog_tools::metrics::Set;
use report::comparison::{Figure, NamedFigure};

/// A distribution of fewer pages would have only a few steps.
const DISTRIBUTION_MIN: usize = 6;
/// With more settings than this, there are no intervals side by side; a sweep or a heat map shows
/// them.
const PANELS_MAX: usize = 12;
/// A line needs at least this many values.
const SWEEP_MIN: usize = 3;

impl View<'_> {
    pub(crate) fn figures(&self, speedups: &PageSpeedups<'_>) -> Vec<NamedFigure> {
        let mut figures = Vec::new();
        figures.extend(self.intervals());
        if self.plan.pages.len() > 1 {
            figures.extend(self.by_buffers().iter().map(|it| self.dots(speedups, it)));
        }
        if self.plan.pages.len() >= DISTRIBUTION_MIN {
            let buffers = self.by_buffers();
            figures.extend(buffers.iter().filter_map(|it| self.distribution(speedups, it[0])));
        }
        for dimension in &self.varied {
            let axes = dimension.axes.iter();
            figures.extend(axes.flat_map(|it| self.sweeps(dimension, *it)));
        }
        if self.settings.len() > 1 {
            figures.push(self.heat_map(speedups));
        }
        figures.extend(self.interleaving());
        figures
    }

    fn named(
        &self,
        name: &str,
        drawing: &impl Drawing,
        settings: &[&Compared],
        over: Over,
    ) -> NamedFigure {
        let settings: Vec<&Setting> = settings.iter().map(|it| &it.setting).collect();
        let conditions = [
            &[conditions::of_study(self.plan, &settings, over)],
            &*missing(self.plan, &self.study.runs),
        ];
        let conditions = conditions.concat().join("; ");
        let sheet = Sheet { style: self.style, conditions };
        NamedFigure { name: name.to_owned(), figure: Figure::of(drawing, &sheet) }
    }

    /// The quantity of a mean: `Mean ByteIndex speedup over rr, above the fold`.
    fn what(&self) -> String {
        let mean = if self.plan.repeats_the_paper() { "Mean" } else { "Geometric mean," };
        format!("{mean} {}{}", self.speedup(), after_comma(self.place()))
    }

    /// `above the fold`; empty for a metric of the page.
    fn place(&self) -> &'static str {
        self.plan.place(self.set).trim_start()
    }

    fn speedup(&self) -> String {
        format!("{} speedup over {}", self.plan.metric.heading, self.baseline)
    }

    /// The names of the schemes and brackets, followed by the lower bound.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.plan.schemes.iter().map(Contender::name).chain([LOWER_BOUND])
    }

    fn others(&self) -> impl Iterator<Item = &str> {
        self.plan.schemes.iter().map(Contender::name).filter(|it| *it != self.baseline)
    }

    fn is_scheme(&self, name: &str) -> bool {
        let found = self.plan.schemes.iter().find(|it| it.name() == name);
        found.is_some_and(|it| matches!(it, Contender::Scheme(_)))
    }

    fn all_settings(&self) -> Vec<&Compared> {
        self.settings.iter().collect()
    }

    /// The settings in groups that differ only in their send buffers.
    pub(super) fn by_buffers(&self) -> Vec<Vec<&Compared>> {
        self.grouped(Setting::differs_in_buffer)
    }

    fn grouped(&self, belong: impl Fn(&Setting, &Setting) -> bool) -> Vec<Vec<&Compared>> {
        let mut groups: Vec<Vec<&Compared>> = Vec::new();
        for compared in &self.settings {
            let mut before = groups.iter_mut();
            match before.find(|group| belong(&group[0].setting, &compared.setting)) {
                Some(group) => group.push(compared),
                None => groups.push(vec![compared]),
            }
        }
        groups
    }

    /// The name of a figure for one setting, or for settings that differ only in `dimension`.
    fn file_name(&self, stem: &str, setting: &Setting, dimension: &str) -> String {
        let others = self.varied.iter().filter(|it| ![NETWORK, dimension].contains(&it.column));
        let others = others.map(|it| it.file_part(setting));
        let first = format!("{stem}-{}", crate::file_name(&setting.network));
        [first].into_iter().chain(others).collect::<Vec<_>>().join("-")
    }

    /// The paper's Figure 12: all resources, above the fold, and above the fold with each send buffer. A study whose metric has one
    /// value for both, or none above the fold, has a single column in place of the first two.
    pub(super) fn dots(&self, speedups: &PageSpeedups<'_>, settings: &[&Compared]) -> NamedFigure {
        let (buffer, others): (Vec<_>, Vec<_>) =
            self.varied.iter().partition(|it| it.column == SEND_BUFFER);
        let (before, first): (&[Set], &[&str]) = match self.set {
            _ if self.plan.metric.is_of_page() => (&[], &[self.plan.metric.short]),
            Set::All => (&[], &["All"]),
            Set::Atf => (&[Set::All], &["All", "ATF"]),
        };
        let mut columns: Vec<String> = first.iter().map(|it| (*it).to_owned()).collect();
        columns.extend(settings.iter().skip(1).map(|it| it.setting.marks(&buffer)));
        let mut groups = Vec::new();
        for scheme in self.names().filter(|name| *name != self.baseline) {
            let of_first = before.iter().map(|set| (settings[0], *set));
            let of_each = settings.iter().map(|setting| (*setting, self.set));
            let columns: Vec<Vec<Dot>> = of_first
                .chain(of_each)
                .map(|(setting, set)| self.dots_of(speedups, scheme, setting, set))
                .collect();
            let is_bound = scheme == LOWER_BOUND;
            let label = if is_bound { format!("[{scheme}]") } else { scheme.to_owned() };
            if !is_bound || columns.iter().any(|column| !column.is_empty()) {
                groups.push(DotGroup { label, columns });
            }
        }
        let setting = &settings[0].setting;
        let others = after_comma(&setting.words(&others));
        let figure = SpeedupDots {
            title: format!("{}, page by page{others}", self.speedup()),
            baseline: self.baseline.to_owned(),
            columns,
            groups,
            outlined: Vec::new(),
        };
        let name = self.file_name("speedups", setting, SEND_BUFFER);
        self.named(&name, &figure, settings, Over::Pages)
    }

    /// A scheme's dots in a setting: one for each page with a speedup.
    fn dots_of(
        &self,
        speedups: &PageSpeedups<'_>,
        scheme: &str,
        setting: &Compared,
        set: Set,
    ) -> Vec<Dot> {
        let mut dots = Vec::new();
        for page in &self.plan.pages {
            let speedup = speedups.get(&setting.group(&page.name, scheme));
            let speedup = speedup.and_then(|it| it.get(set));
            if let Some(speedup) = speedup {
                let bytes = page.resources.iter().map(|it| it.bytes).sum();
                dots.push(Dot { page: page.name.clone(), bytes, speedup });
            }
        }
        dots
    }

    /// The means of all schemes with their intervals, a panel for each setting.
    fn intervals(&self) -> Option<NamedFigure> {
        if self.settings.len() > PANELS_MAX {
            return None;
        }
        let mut schemes: Vec<&str> = self.plan.schemes.iter().map(Contender::name).collect();
        schemes.sort_by(|one, other| {
            let rows = [one, other].map(|it| self.summary_of(it, &self.settings[0]));
            let means = rows.map(|it| it.and_then(|it| self.leading_mean(it).0));
            let means = means.map(Option::unwrap_or_default);
            means[1].total_cmp(&means[0])
        });
        let panels = self.settings.iter().map(|it| self.interval_panel(it, &schemes));
        let figure = Intervals {
            title: self.speedup(),
            what: self.what(),
            baseline: self.baseline.to_owned(),
            dot: self.mean_name(),
            panels: panels.collect(),
        };
        let mut rows = figure.panels.iter().flat_map(|it| &it.rows);
        rows.any(|it| it.interval.is_some())
            .then(|| self.named("intervals", &figure, &self.all_settings(), Over::Means))
    }

    fn interval_panel(&self, setting: &Compared, schemes: &[&str]) -> IntervalPanel {
        let rows = schemes.iter().map(|scheme| {
            let row = self.summary_of(scheme, setting);
            // The baseline is 1 by definition, so it is not an estimate.
            let estimate = row.filter(|_| *scheme != self.baseline);
            let second = estimate.filter(|_| self.plan.repeats_the_paper());
            IntervalRow {
                label: (*scheme).to_owned(),
                mean: row.and_then(|it| self.leading_mean(it).0),
                interval: estimate.and_then(|it| self.leading_mean(it).1),
                geometric_mean: second.and_then(|it| it.geometric_mean_speedup.get(self.set)),
                geometric_mean_interval: second
                    .and_then(|it| it.geometric_mean_speedup_interval.get(self.set)),
                standing: Standing::Unknown,
            }
        });
        let mut rows: Vec<IntervalRow> = rows.collect();
        let means: Vec<Option<f64>> =
            rows.iter().map(|it| it.mean.filter(|_| self.is_scheme(&it.label))).collect();
        let standings = self.standings(setting, schemes, &means);
        rows.iter_mut().zip(standings).for_each(|(row, it)| row.standing = it);
        let title =
            if self.settings.len() > 1 { self.setting_name(setting) } else { String::new() };
        IntervalPanel { title, rows }
    }

    /// The distribution of the pages' speedups in a setting.
    fn distribution(&self, speedups: &PageSpeedups<'_>, setting: &Compared) -> Option<NamedFigure> {
        let mut schemes: Vec<DistributionOf> = Vec::new();
        for scheme in self.others() {
            let dots = self.dots_of(speedups, scheme, setting, self.set);
            if !dots.is_empty() {
                let speedups = dots.into_iter().map(|it| it.speedup).collect();
                schemes.push(DistributionOf { label: scheme.to_owned(), speedups });
            }
        }
        let name = self.file_name("distribution", &setting.setting, SEND_BUFFER);
        let varied = after_comma(&setting.setting.words(&self.varied));
        let figure = Distribution {
            id: name.clone(),
            title: format!(
                "{}{}, by share of pages{varied}",
                self.speedup(),
                self.plan.place(self.set)
            ),
            baseline: self.baseline.to_owned(),
            schemes,
        };
        let is_known = !figure.schemes.is_empty();
        is_known.then(|| self.named(&name, &figure, &[setting], Over::Pages))
    }

    /// Speedups by a number that the study varies: a figure for each combination of the other
    /// dimensions.
    fn sweeps(&self, dimension: &Dimension, axis: Axis) -> Vec<NamedFigure> {
        let groups = self.grouped(|one, other| {
            let mut other = other.clone();
            (dimension.copy)(&mut other, one);
            other == *one
        });
        groups.iter().filter_map(|it| self.sweep(dimension, axis, it)).collect()
    }

    fn sweep(
        &self,
        dimension: &Dimension,
        axis: Axis,
        settings: &[&Compared],
    ) -> Option<NamedFigure> {
        let mut values: Vec<(f64, &Compared)> =
            settings.iter().filter_map(|it| Some(((axis.at)(&it.setting)?, *it))).collect();
        values.sort_by(|one, other| one.0.total_cmp(&other.0));
        let first = &values.first().filter(|_| values.len() >= SWEEP_MIN)?.1.setting;
        let others: Vec<&Dimension> =
            self.varied.iter().copied().filter(|it| it.column != dimension.column).collect();
        let unit = axis.title.split_once(", ").map_or("", |it| it.1);
        let stem = match dimension.axes {
            [_] => format!("sweep-{}", dimension.column.replace('_', "-")),
            _ => crate::file_name(
                &format!("sweep-{}-{}", dimension.column, unit.replace(' ', "-")).to_lowercase(),
            ),
        };
        let name = self.file_name(&stem, first, dimension.column);
        let mut schemes: Vec<SweepOf> = Vec::new();
        for scheme in self.others() {
            let points = values.iter().filter_map(|(value, setting)| {
                let row = self.summary_of(scheme, setting)?;
                let (ratio, interval) = self.leading_mean(row);
                Some(SweepPoint { value: *value, ratio: ratio?, interval })
            });
            let points: Vec<SweepPoint> = points.collect();
            if !points.is_empty() {
                schemes.push(SweepOf { label: scheme.to_owned(), points });
            }
        }
        let has_bands = schemes.iter().flat_map(|it| &it.points).any(|it| it.interval.is_some());
        let bands = if has_bands { "; bands are 95\u{202f}% intervals" } else { "" };
        let others = after_comma(&first.words(&others));
        let figure = Sweep {
            id: name.clone(),
            title: format!("{}, by {}{others}{bands}", self.what(), dimension.name),
            across: axis.title.to_owned(),
            what: self.what(),
            baseline: self.baseline.to_owned(),
            schemes,
        };
        let is_known = !figure.schemes.is_empty();
        is_known.then(|| self.named(&name, &figure, settings, Over::Means))
    }

    /// Schemes by settings.
    fn heat_map(&self, speedups: &PageSpeedups<'_>) -> NamedFigure {
        let mut rows = Vec::new();
        for scheme in self.names() {
            let is_bound = scheme == LOWER_BOUND;
            let ratios =
                self.settings.iter().map(|setting| match self.summary_of(scheme, setting) {
                    None if is_bound => self.mean_speedup(speedups, scheme, setting),
                    row => self.leading_mean(row?).0,
                });
            let ratios: Vec<Option<f64>> = ratios.collect();
            if !is_bound || ratios.iter().any(Option::is_some) {
                let label = scheme.to_owned();
                rows.push(HeatRow { label, ratios, is_bound, ..HeatRow::default() });
            }
        }
        let mut columns = self.varied.iter().map(|it| it.column);
        let by_networks = columns.all(|it| [NETWORK, SEND_BUFFER].contains(&it));
        let by = if by_networks { "networks" } else { "settings" };
        let figure = HeatMap {
            title: format!("Schemes by {by}"),
            what: self.what(),
            rows,
            columns: self.settings.iter().map(|it| self.setting_name(it)).collect(),
            is_exact: self.is_exact(),
        };
        let names: Vec<String> = figure.rows.iter().map(|it| it.label.clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let figure = figure.marked(|column, means| {
            let means = names.iter().zip(means);
            let means = means.map(|(name, mean)| mean.filter(|_| self.is_scheme(name)));
            let means: Vec<Option<f64>> = means.collect();
            self.standings(&self.settings[column], &names, &means)
        });
        self.named("schemes-by-networks", &figure, &self.all_settings(), Over::Means)
    }

    /// `fifo`, `kway:N` and `rr` as one family, if the study has at least three of it.
    fn interleaving(&self) -> Option<NamedFigure> {
        let names = self.plan.schemes.iter().map(Contender::name);
        let mut widths: Vec<(u64, &str)> =
            names.filter_map(|it| Some((interleaving_width(it)?, it))).collect();
        widths.sort_unstable();
        let first = widths.first().filter(|_| widths.len() > 2)?.1;
        let speedups = self.speedups_over(first);
        let lines = self.settings.iter().map(|setting| InterleavingLine {
            label: self.setting_name(setting),
            ratios: widths.iter().map(|it| self.mean_speedup(&speedups, it.1, setting)).collect(),
        });
        let names = widths.iter().map(|(width, scheme)| match *scheme {
            "fifo" => "1 (fifo)".to_owned(),
            "rr" => "all (rr)".to_owned(),
            _ => width.to_string(),
        });
        let figure = Interleaving {
            title: "How wide to interleave".to_owned(),
            what: self.plan.measure(self.set),
            widths: names.collect(),
            lines: lines.collect(),
        };
        Some(self.named("interleaving", &figure, &self.all_settings(), Over::Means))
    }

    pub(crate) fn setting_name(&self, setting: &Compared) -> String {
        match &self.varied[..] {
            [] => setting.setting.network.clone(),
            varied => setting.setting.marks(varied),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;
    use crate::study::{Plan, RunRecord, Study, engines};
    use corpus::Page;
    use figures::FigureStyle;
    use qlog_tools::metrics::{self, BySet, Metric};
    use std::sync::Arc;

    /// The figures of seven pages on two networks, where `fifo` takes half as long as `rr`; `value` makes a load's values from its
    /// time.
    fn figures(metric: &'static Metric, value: fn(f64) -> BySet) -> Vec<NamedFigure> {
        let page = corpus::bundled("davies-meenan").expect("bundled");
        let pages = (0..7).map(|it| Arc::new(Page { name: format!("page{it}"), ..page.clone() }));
        let schemes = ["rr", "fifo"].map(|it| Contender::find(it).expect("a scheme"));
        let [cable, third] = ["cable", "3g"].map(|it| Network::find(it).expect("built in"));
        let mut plan = Plan::new(pages.collect(), schemes.into(), engines::IDEAL, cable);
        plan.settings.networks.push(third);
        let plan = Plan { baseline: "rr".to_owned(), metric, ..plan };
        let settings = plan.settings.each();
        let mut runs = Vec::new();
        for (setting, page) in
            settings.iter().flat_map(|it| plan.pages.iter().map(|page| (&it.1, page)))
        {
            for (scheme, time_ms) in [("rr", 200.0), ("fifo", 100.0)] {
                runs.push(RunRecord {
                    page: page.name.clone(),
                    scheme: scheme.to_owned(),
                    setting: setting.clone(),
                    completed: true,
                    metrics: [(metric.name, value(time_ms))].into_iter().collect(),
                    ..RunRecord::default()
                });
            }
        }
        let study = Study::new(&plan, serde_json::Value::Null, runs, Vec::new());
        let view = View::new(&plan, &study, FigureStyle::Screen);
        view.figures(&view.speedups_over("rr"))
    }

    /// The names of the figures, all their words, and what the dots have as columns.
    fn said(figures: &[NamedFigure]) -> (Vec<&str>, String, Vec<&str>) {
        let names = figures.iter().map(|it| &*it.name).collect();
        let words = figures.iter().map(|it| format!("{} {:?}", it.figure.svg, it.figure.table));
        let words = words.collect::<String>();
        let dots = figures.iter().find(|it| it.name.starts_with("speedups")).expect("dots");
        (names, words, dots.figure.table.rows.iter().map(|it| &*it[1]).collect())
    }

    const NAMES: [&str; 6] = [
        "intervals",
        "speedups-cable",
        "speedups-3g",
        "distribution-cable",
        "distribution-3g",
        "schemes-by-networks",
    ];

    #[test]
    fn a_metric_of_the_page_is_not_above_the_fold_and_shown_once() {
        let metric = metrics::find("hero_render").expect("a metric");
        let figures = figures(metric, |time_ms| BySet::of_page(Some(time_ms)));
        let (names, words, columns) = said(&figures);
        assert_eq!((&names[..], &columns[..]), (&NAMES[..], &["HR"][..]));
        assert!(words.contains("hero render speedup over rr") && !words.contains("above the fold"));
    }

    #[test]
    fn without_anything_above_the_fold_figures_are_of_all_resources() {
        let figures =
            figures(metrics::byte_index(), |time_ms| BySet { all: Some(time_ms), atf: None });
        let (names, words, columns) = said(&figures);
        assert_eq!((&names[..], &columns[..]), (&NAMES[..], &["All"][..]));
        assert!(words.contains("ByteIndex speedup over rr, of all resources"), "{words}");
        assert!(!words.contains("rr, above the fold") && !words.contains("rr above the fold"));
        let map = &figures[5].figure.table.rows;
        assert!(map.iter().all(|row| row.iter().all(|it| it != "\u{2013}")), "{map:?}");
    }

    #[test]
    fn fifo_and_rr_are_the_ends_of_the_interleaving_family() {
        let widths = ["fifo", "kway:4", "rr", "dfifo"].map(interleaving_width);
        assert_eq!(widths, [Some(1), Some(4), Some(u64::MAX), None]);
    }
}
