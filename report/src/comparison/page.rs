//! Turns the runs of a page into its tables and figures.

use super::{Figure, PageComparison, Row};
use figures::axis::Axis;
use figures::number_texts::{bytes_text, milliseconds_or_dash, or_dash, ratio_number};
use figures::{Curve, Curves, RibbonRow, Ribbons, Sheet};
use qlog_tools::metrics::{BySet, Metric, completed_share};
use qlog_tools::page_resources::PageResource;
use qlog_tools::timeline::{Timeline, Transfer};

/// A page load under a scheme.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The scheme's name.
    pub scheme: &'a str,
    /// The arrivals.
    pub timeline: &'a Timeline,
}

impl PageComparison {
    /// A page without figures, `resources` in request order. Computes the rows' speedups over the row of `baseline`.
    pub fn new(
        name: &str,
        resources: &[PageResource],
        mut rows: Vec<Row>,
        metric: &Metric,
        baseline: &str,
    ) -> Self {
        let base =
            rows.iter().find(|row| row.scheme == baseline).map(|row| row.metrics.get(metric));
        for row in &mut rows {
            let (base, own) = (base.unwrap_or_default(), row.metrics.get(metric));
            row.speedup = BySet::each(|set| metric.speedup(base.get(set), own.get(set)));
        }
        let resources = in_a_sentence(resources);
        let (name, baseline) = (name.to_owned(), baseline.to_owned());
        Self { name, baseline, resources, rows, ..Self::default() }
    }

    /// Draws its figures on `sheet`; each of `runs` belongs to the row of its scheme.
    #[must_use]
    pub fn drawn(
        self,
        resources: &[PageResource],
        runs: &[Run<'_>],
        metric: &Metric,
        sheet: &Sheet,
    ) -> Self {
        let rows = runs.iter().map(|run| {
            let row = self.rows.iter().find(|it| it.scheme == run.scheme);
            row.cloned().unwrap_or_default()
        });
        let rows: Vec<Row> = rows.collect();
        let has_atf = resources.iter().any(|resource| resource.above_fold);
        Self {
            ribbons: Some(Figure::of(&ribbons(&self, resources, runs, &rows, metric), sheet)),
            curve: has_atf.then(|| Figure::of(&curve(&self.name, resources, runs, &rows), sheet)),
            ..self
        }
    }
}

fn is_above_fold(resources: &[PageResource]) -> impl Fn(&Transfer) -> bool {
    let above = resources.iter().filter(|resource| resource.above_fold);
    let urls: std::collections::BTreeSet<&str> = above.map(|it| &*it.url).collect();
    move |transfer| urls.contains(&*transfer.url)
}

fn in_a_sentence(resources: &[PageResource]) -> String {
    let sum = |is_counted: fn(&PageResource) -> bool| {
        let counted = resources.iter().filter(|it| is_counted(it));
        let bytes = counted.clone().filter_map(|it| it.body_bytes);
        (counted.count(), bytes_text(bytes.fold(0, u64::saturating_add)))
    };
    let ((all, all_bytes), (atf, atf_bytes)) = (sum(|_| true), sum(|it| it.above_fold));
    format!("{all} resources, {all_bytes}; {atf} of them above the fold (ATF), {atf_bytes}.")
}

fn ribbons<'a>(
    PageComparison { name, baseline, .. }: &PageComparison,
    resources: &[PageResource],
    runs: &[Run<'a>],
    rows: &[Row],
    metric: &Metric,
) -> Ribbons<'a> {
    let has_atf = resources.iter().any(|resource| resource.above_fold);
    let has_regret = rows.iter().any(|row| row.regret.is_some());
    let mut ribbons = Vec::new();
    for (run, row) in runs.iter().zip(rows) {
        let [value, speedup] =
            [row.metrics.get(metric), row.speedup].map(|it| if has_atf { it.atf } else { it.all });
        let mut notes = vec![milliseconds_or_dash(value), or_dash(speedup.map(ratio_number))];
        notes.extend(has_regret.then(|| or_dash(row.regret.map(|regret| format!("{regret:.2}")))));
        ribbons.push(RibbonRow {
            label: run.scheme.to_owned(),
            notes,
            timeline: run.timeline,
            marks: Vec::new(),
        });
    }
    let set = match has_atf {
        _ if metric.is_of_page() => "",
        true => " ATF",
        false => " all",
    };
    let mut note_titles =
        vec![format!("{}{set} ({})", metric.short, metric.unit), "ratio".to_owned()];
    note_titles.extend(has_regret.then(|| "regret".to_owned()));
    Ribbons {
        id: format!("ribbons-{name}"),
        title: format!("{name}: what arrived when; ratios of these loads over {baseline}"),
        axis: Axis::Time,
        resources: resources.to_vec(),
        note_titles,
        rows: ribbons,
    }
}

fn curve(name: &str, resources: &[PageResource], runs: &[Run<'_>], rows: &[Row]) -> Curves {
    let curves = runs.iter().zip(rows).map(|(run, row)| Curve {
        label: match row.regret {
            Some(regret) => format!("{} (regret {regret:.2})", run.scheme),
            None => run.scheme.to_owned(),
        },
        index_ms: row.metrics.byte_index().atf,
        points: completed_share(run.timeline, is_above_fold(resources)),
    });
    Curves {
        title: format!("{name}: above-the-fold bytes in fully downloaded resources"),
        what: "ATF bytes complete".to_owned(),
        curves: curves.collect(),
    }
}
