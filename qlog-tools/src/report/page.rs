//! From the runs of a page to its tables and figures.

use super::{Figure, PageComparison, Pair, Row};
use crate::byte_index::{ByteIndex, NoIndex, byte_index, completed_share, speedup};
use crate::figures::axis::Axis;
use crate::figures::{
    Curve, Curves, PageResource, RibbonRow, Ribbons, bytes_text, milliseconds_text, ratio_text,
};
use crate::timeline::{Timeline, Transfer};

/// A page load under a scheme.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The scheme's name.
    pub scheme: &'a str,
    /// What arrived when.
    pub timeline: &'a Timeline,
}

impl PageComparison {
    /// Computes all numbers and draws all figures. `resources` in request order; the speedups
    /// are relative to the run whose scheme is `baseline`, and `None` if there is none.
    pub fn from_runs(
        name: &str,
        resources: &[PageResource],
        runs: &[Run<'_>],
        baseline: &str,
    ) -> Self {
        let rows: Vec<Row> = runs.iter().map(|run| measure(run, resources)).collect();
        Self::from_rows(name, resources, rows, baseline).drawn(resources, runs)
    }

    /// A page without figures, from rows that have been measured; their speedups are computed.
    pub fn from_rows(
        name: &str,
        resources: &[PageResource],
        mut rows: Vec<Row>,
        baseline: &str,
    ) -> Self {
        let base = rows.iter().find(|row| row.scheme == baseline).map(|row| row.byte_index);
        for row in &mut rows {
            row.speedup = Pair {
                all: speedup(base.and_then(|base| base.all), row.byte_index.all),
                atf: speedup(base.and_then(|base| base.atf), row.byte_index.atf),
            };
        }
        let resources = in_a_sentence(resources);
        Self { name: name.to_owned(), resources, rows, ribbons: None, curve: None }
    }

    /// With its figures; `runs` are those of the rows that bear their scheme's name.
    #[must_use]
    pub fn drawn(self, resources: &[PageResource], runs: &[Run<'_>]) -> Self {
        let row = |run: &Run<'_>| self.rows.iter().find(|row| row.scheme == run.scheme).cloned();
        let rows: Vec<Row> = runs.iter().map(|run| row(run).unwrap_or_default()).collect();
        let has_atf = resources.iter().any(|resource| resource.above_fold);
        Self {
            ribbons: Some(ribbons(&self.name, resources, runs, &rows)),
            curve: has_atf.then(|| curve(&self.name, resources, runs, &rows)),
            ..self
        }
    }
}

fn is_above_fold(resources: &[PageResource]) -> impl Fn(&Transfer) -> bool {
    let urls: std::collections::BTreeSet<&str> = resources
        .iter()
        .filter(|resource| resource.above_fold)
        .map(|resource| &*resource.url)
        .collect();
    move |transfer| urls.contains(&*transfer.url)
}

fn measure(run: &Run<'_>, resources: &[PageResource]) -> Row {
    let all = byte_index(run.timeline, |_| true);
    let atf = byte_index(run.timeline, is_above_fold(resources));
    let pair = |value: fn(&ByteIndex) -> f64| Pair {
        all: all.as_ref().ok().map(value),
        atf: atf.as_ref().ok().map(value),
    };
    // A page without ATF resources has no ATF index, and nothing is wrong with that.
    let reason =
        all.as_ref().err().or(atf.as_ref().err().filter(|reason| **reason != NoIndex::EmptySet));
    let completions: Option<Vec<u64>> =
        run.timeline.deliveries().iter().map(|delivery| delivery.complete_us).collect();
    let last_us = completions.and_then(|times| times.into_iter().max());
    let duration_us = last_us
        .zip(run.timeline.start_us())
        .map(|(last_us, start_us)| last_us.saturating_sub(start_us));
    Row {
        scheme: run.scheme.to_owned(),
        byte_index: pair(|index| index.complete_ms),
        sampled: pair(|index| index.sampled_ms),
        progressive: pair(|index| index.progressive_ms),
        duration_ms: duration_us.map(|duration_us| duration_us as f64 / 1000.0),
        note: reason.map(ToString::to_string),
        ..Row::default()
    }
}

fn in_a_sentence(resources: &[PageResource]) -> String {
    let bytes = |resources: &[&PageResource]| {
        resources.iter().fold(0, |sum: u64, resource| {
            sum.saturating_add(resource.body_bytes.unwrap_or_default())
        })
    };
    let all: Vec<&PageResource> = resources.iter().collect();
    let atf: Vec<&PageResource> = resources.iter().filter(|resource| resource.above_fold).collect();
    format!(
        "{} resources, {}; {} of them above the fold (ATF), {}.",
        all.len(),
        bytes_text(bytes(&all)),
        atf.len(),
        bytes_text(bytes(&atf))
    )
}

fn ribbons(name: &str, resources: &[PageResource], runs: &[Run<'_>], rows: &[Row]) -> Figure {
    let has_atf = resources.iter().any(|resource| resource.above_fold);
    let has_regret = rows.iter().any(|row| row.regret.is_some());
    let notes = |row: &Row| {
        let of = |pair: Pair| if has_atf { pair.atf } else { pair.all };
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "\u{2013}".to_owned());
        let mut notes =
            vec![or_dash(of(row.byte_index).map(milliseconds_text)), ratio_text(of(row.speedup))];
        notes.extend(has_regret.then(|| or_dash(row.regret.map(|regret| format!("{regret:.2}")))));
        notes
    };
    let set = if has_atf { "ATF" } else { "all" };
    let mut note_titles = vec![format!("BI {set} (ms)"), "speedup".to_owned()];
    note_titles.extend(has_regret.then(|| "regret".to_owned()));
    let figure = Ribbons {
        id: format!("ribbons-{name}"),
        title: format!("{name}: what arrived when"),
        axis: Axis::Time,
        resources: resources.to_vec(),
        note_titles,
        rows: runs
            .iter()
            .zip(rows)
            .map(|(run, row)| RibbonRow {
                label: run.scheme.to_owned(),
                notes: notes(row),
                timeline: run.timeline,
            })
            .collect(),
    };
    Figure { svg: figure.svg(), caption: figure.caption(), table: figure.table() }
}

fn curve(name: &str, resources: &[PageResource], runs: &[Run<'_>], rows: &[Row]) -> Figure {
    let figure = Curves {
        title: format!("{name}: above-the-fold bytes in fully downloaded resources"),
        what: "ATF bytes complete".to_owned(),
        curves: runs
            .iter()
            .zip(rows)
            .map(|(run, row)| Curve {
                label: match row.regret {
                    Some(regret) => format!("{} (regret {regret:.2})", run.scheme),
                    None => run.scheme.to_owned(),
                },
                index_ms: row.byte_index.atf,
                points: completed_share(run.timeline, is_above_fold(resources)),
            })
            .collect(),
    };
    Figure {
        svg: figure.svg(),
        caption: "The area above a curve is its ByteIndex. A step is the completion of a resource."
            .to_owned(),
        table: figure.table(),
    }
}
