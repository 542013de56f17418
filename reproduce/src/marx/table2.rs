//! Table 2: mean speedups over `rr`, of all resources, above the fold, and with a send buffer of 1000 KB.

use super::KNOWN;
use super::explanations;
use super::matrix::{
    ALL, ATF, ATF_1000K, Buffer, FIREFOX_AS_RUN, Matrix, Measure, bootstrap_sites,
    late_script_share, mean_estimate, mean_interval, mean_of_all_but_three, scheme_names,
};
use super::other_pages;
use super::published::{BAD_PERFORMING, BEST_PAGE_SPEEDUP, TABLE_2, Table2Row, WELL_PERFORMING};
use crate::row::ratio;
use crate::{Experiment, Findings, ReproduceError, Row, Setting};
use figures::number_texts::ratio_text;
use figures::paired_dots::{Pair, PairedDots, PairedDotsGroup};
use lab::study::statistics::{self, Interval, spearman};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "marx-table2",
    about: "Table 2: mean speedups of ten schemes over rr",
    source: "Marx et al. 2019, Table 2, page 140, and its discussion on that page",
    engine: "ideal",
    conditions: "engine ideal, network paper (a packet of 1400 bytes each 10 ms), metadata full; 60 pages of 42 sites (@first-60), one load of each under each scheme",
    run,
};

const BUFFERS: [Buffer; 7] = [
    Buffer::NONE,
    Buffer::fifo(14_000),
    Buffer::fifo(280_000),
    Buffer::K1000,
    Buffer::delay(14_000),
    Buffer::delay(280_000),
    Buffer::delay(1_000_000),
];

/// The least mean ATF speedup of the schemes that the paper found best.
const BEST_MEAN: f64 = 2.3;
/// How near a share must be to the one that the paper's cells give.
const NEAR: f64 = 0.1;
/// The largest change of a mean speedup that counts as "relatively small effects" (page 140).
const SMALL_EFFECT: f64 = 0.1;

#[derive(Clone, Copy)]
pub(super) struct Column {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) measure: Measure,
    pub(super) published: fn(&Table2Row) -> f64,
    /// The least rank correlation with the published means.
    pub(super) spearman: f64,
}

pub(super) const COLUMNS: [Column; 3] = [
    Column { id: "all", name: "All", measure: ALL, published: |it| it.all, spearman: 0.8 },
    Column { id: "atf", name: "ATF", measure: ATF, published: |it| it.atf, spearman: 0.85 },
    Column {
        id: "1000k",
        name: "1000K",
        measure: ATF_1000K,
        published: |it| it.atf_1000k,
        spearman: 0.7,
    },
];

impl Column {
    fn all_published(&self) -> Vec<f64> {
        TABLE_2.iter().map(self.published).collect()
    }

    /// The standard deviation of the column's published means, with their two decimals.
    pub(super) fn tolerance(&self) -> f64 {
        let values = self.all_published();
        let mean = statistics::mean(&values).unwrap_or_default();
        let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
        ((squares / (values.len() as f64 - 1.0)).sqrt() * 100.0).round() / 100.0
    }

    /// The cells that would hold if each had the mean of the column.
    pub(super) fn held_by_its_mean(&self) -> usize {
        let values = self.all_published();
        let mean = statistics::mean(&values).unwrap_or_default();
        cells_that_hold(&vec![mean; values.len()], *self)
    }
}

/// How many of a column's ten means are within its tolerance of the published ones.
pub(super) fn cells_that_hold(ours: &[f64], column: Column) -> usize {
    let pairs = ours.iter().zip(TABLE_2.iter().map(column.published));
    pairs.filter(|(ours, published)| (**ours - published).abs() <= column.tolerance()).count()
}

fn run(setting: &Setting) -> Result<Findings, ReproduceError> {
    let matrix = Matrix::load(&setting.pages, &BUFFERS, setting.jobs)?;
    let mut rows = Vec::new();
    for column in COLUMNS {
        rows.extend(TABLE_2.iter().map(|published| cell(&matrix, column, published)));
    }
    rows.extend(COLUMNS.iter().map(|it| worst(&matrix, *it)));
    rows.extend(COLUMNS.iter().map(|it| correlation(&matrix, *it)));
    rows.extend(zeroweight_apart(&matrix));
    rows.push(firefox_as_run(&matrix));
    rows.extend(other_readings(&matrix));
    rows.extend(["zeroweight", "bucket-html", "dfifo"].map(|it| best_mean(&matrix, it)));
    for scheme in WELL_PERFORMING {
        let row = best_page(&matrix, scheme).published(BEST_PAGE_SPEEDUP);
        rows.push(row.at_least(BEST_PAGE_SPEEDUP));
    }
    rows.extend(BAD_PERFORMING.map(|it| best_page(&matrix, it).below(BEST_PAGE_SPEEDUP)));
    for bytes in [14_000, 280_000] {
        rows.extend(small_effect(&matrix, bytes));
    }
    rows.extend(WELL_PERFORMING.iter().flat_map(|it| lowered(&matrix, it)));
    rows.extend(toward_fifo(&matrix));
    let web = other_pages::of_the_web(setting)?;
    let judged = rows.into_iter().map(|it| it.in_table("Ours beside theirs"));
    let tested = explanations::rows(&matrix).into_iter();
    let tested = tested.map(|it| it.in_table(explanations::TABLE));
    let rows = judged.chain(other_pages::rows(&matrix, &web)).chain(tested).collect();
    let mut tables = vec![explanations::other_means(&matrix), explanations::by_source(&matrix)];
    tables.extend(other_pages::tables(&web, setting)?);
    let figure = figure(&matrix);
    Ok(Findings {
        method: method(&matrix),
        rows,
        schemes: scheme_names(),
        pages: matrix.pages.iter().chain(&web.pages).cloned().collect(),
        tables,
        svg: figure.draw(&EXPERIMENT.sheet()),
        caption: figure.caption(),
    })
}

fn method(matrix: &Matrix) -> String {
    format!(
        "The {} bundled pages, not the paper's 43, on engine `ideal` and network `paper`: one packet of 1400 bytes \
         each 10 ms. An index is sampled each 100 ms as in the paper; a speedup is `rr`'s index, with the same send \
         buffer, divided by the scheme's; the mean is over pages. The send buffer is bytes between scheduler and \
         transport, first in, first out. {KNOWN}\n\n\
         A cell holds if it is within one standard deviation of the ten means that the paper prints in its column: {}. \
         This is the only spread that the paper prints for all columns, and a larger error mixes up its schemes. The \
         condition is weak: a table with its column's published mean in every cell would hold in {} of 30 cells. Intervals \
         are 95 %, from bootstraps that draw sites with all of their pages; those of medians, rank correlations and differences are \
         percentiles, which are narrower. The limits of the other rows are our reading of the paper's words; the paper \
         has no spread to derive them from. They have not changed since the first version.",
        matrix.pages.len(),
        COLUMNS.map(|it| format!("{} ({})", it.tolerance(), it.name)).join(", "),
        COLUMNS.iter().map(Column::held_by_its_mean).sum::<usize>()
    )
}

fn cell(matrix: &Matrix, column: Column, published: &Table2Row) -> Row {
    let ours = matrix.mean_estimate(published.scheme, column.measure);
    let value = (column.published)(published);
    let id = format!("{}-{}", column.id, published.scheme);
    let metric = format!("mean speedup of {}, {}", published.scheme, column.name);
    Row::estimated(id, metric, ours)
        .in_cell(published.scheme, column.name)
        .published(value)
        .within(column.tolerance())
        .because(&deviation(matrix, published.scheme, column))
}

fn deviation(matrix: &Matrix, scheme: &str, column: Column) -> String {
    let speedups = matrix.speedups(scheme, column.measure);
    let median = statistics::median(&speedups.iter().map(|it| it.1).collect::<Vec<_>>());
    let median = ratio_text(median);
    match (scheme, column.id) {
        (_, "1000k") => format!(
            "Here `rr` has the buffer, too; over `rr` without it the mean is {}.",
            ratio_text(matrix.mean(scheme, ATF_1000K.over_unbuffered_rr()))
        ),
        ("firefox", "atf") => format!(
            "Placed as in the paper's implementation, ours has {}. The rows `firefox-*` test whether deferred scripts \
             are the reason.",
            ratio_text(matrix.mean(FIREFOX_AS_RUN, ATF))
        ),
        ("zeroweight", "atf") => late_scripts_text(matrix),
        _ => format!(
            "The pages are not the paper's. Without the three best pages the mean is {}; the median is {median}.",
            ratio_text(mean_of_all_but_three(&speedups))
        ),
    }
}

fn late_scripts_text(matrix: &Matrix) -> String {
    let bytes: u64 = matrix.pages.iter().map(|it| it.body_bytes()).sum();
    let late: f64 =
        matrix.pages.iter().map(|it| late_script_share(it) * it.body_bytes() as f64).sum();
    format!(
        "It sends every script, deferred ones too, before fonts and hero images, and {:.0} % of our pages' bytes are \
         scripts below the fold. The rows `late-scripts-*` test whether that is the reason.",
        late / bytes.max(1) as f64 * 100.0
    )
}

fn worst(matrix: &Matrix, column: Column) -> Row {
    let means =
        TABLE_2.iter().filter_map(|it| Some((it.scheme, matrix.mean(it.scheme, column.measure)?)));
    let lowest = means.min_by(|one, other| one.1.total_cmp(&other.1));
    let lowest_scheme = lowest.map_or("none", |it| it.0);
    let metric = format!("lowest mean speedup over rr of any scheme, {}", column.name);
    let ours = matrix.mean_estimate(lowest_scheme, column.measure);
    let published = TABLE_2.iter().map(column.published).fold(f64::INFINITY, f64::min);
    Row::estimated(format!("rr-worst-{}", column.id), metric, ours)
        .published(published)
        .above(1.0)
        .note(format!(
            "\"rr is by far the worst performing of all tested setups\"; here the lowest is {lowest_scheme}."
        ))
}

fn correlation(matrix: &Matrix, column: Column) -> Row {
    let metric =
        format!("rank correlation of the ten means with the published ones, {}", column.name);
    let ours = correlate(matrix, column, column.measure);
    Row::shown(format!("spearman-{}", column.id), metric, ours)
        .interval(correlation_interval(matrix, column))
        .published(1.0)
        .at_least(column.spearman)
        .because(match column.id {
            "atf" => "One scheme, zeroweight, is first of theirs and in the middle of ours: see the next rows.",
            _ => "zeroweight again, as above the fold without a buffer; no reading of the buffer changes the ranks much.",
        })
}

/// Shows that zeroweight keeps the ATF column from correlating.
fn zeroweight_apart(matrix: &Matrix) -> Vec<Row> {
    let pairs: Vec<(f64, f64)> = TABLE_2
        .iter()
        .filter(|it| it.scheme != "zeroweight")
        .filter_map(|it| Some((matrix.mean(it.scheme, ATF)?, it.atf)))
        .collect();
    let apart = Row::shown(
        "spearman-atf-without-zeroweight",
        "rank correlation of the other nine means with the published ones, ATF",
        spearman(&pairs),
    );
    let mut rows = vec![apart.published(1.0)];
    let zeroweight = matrix.speedups("zeroweight", ATF);
    for (name, is_many) in [("few", false), ("many", true)] {
        let of: Vec<_> = zeroweight
            .iter()
            .filter(|it| (late_script_share(it.0) > LATE_SCRIPTS) == is_many)
            .copied()
            .collect();
        let what = if is_many { "more than" } else { "at most" };
        let metric = format!(
            "mean ATF speedup of zeroweight on pages with {what} a tenth of their bytes in scripts below the fold"
        );
        let (pages, without_best) = (of.len(), ratio_text(mean_of_all_but_three(&of)));
        let id = format!("zeroweight-{name}-late-scripts");
        let row = Row::estimated(id, metric, mean_estimate(&of)).published(2.8);
        rows.push(
            row.note(format!("{pages} pages; without the three best of them {without_best}.")),
        );
    }
    rows
}

const LATE_SCRIPTS: f64 = 0.1;

fn correlate(matrix: &Matrix, column: Column, measure: Measure) -> Option<f64> {
    let pairs = TABLE_2
        .iter()
        .filter_map(|it| Some((matrix.mean(it.scheme, measure)?, (column.published)(it))));
    spearman(&pairs.collect::<Vec<_>>())
}

/// The 95 % interval of the column's rank correlation: what other pages of the same kind would give.
fn correlation_interval(matrix: &Matrix, column: Column) -> Option<Interval> {
    let schemes: Vec<(Vec<Option<f64>>, f64)> = TABLE_2
        .iter()
        .map(|row| {
            let pages = matrix.pages.iter();
            let speedups = pages.map(|it| matrix.speedup(&it.name, row.scheme, column.measure));
            (speedups.collect(), (column.published)(row))
        })
        .collect();
    let sites = matrix.pages.iter().map(|it| it.site());
    bootstrap_sites(sites, |places| {
        let pairs = schemes.iter().filter_map(|(speedups, published)| {
            let drawn: Vec<f64> = places.iter().filter_map(|it| speedups[*it]).collect();
            Some((statistics::mean(&drawn)?, *published))
        });
        spearman(&pairs.collect::<Vec<_>>())
    })
}

/// Other readings: the paper says neither what a send buffer is nor whether `rr` has it too.
fn other_readings(matrix: &Matrix) -> Vec<Row> {
    let delay = ATF.buffered(Buffer::delay(1_000_000));
    let (without, not) = (ATF_1000K.over_unbuffered_rr(), delay.over_unbuffered_rr());
    let readings = [
        ("fifo-unbuffered-rr", "buffer, rr without it", without),
        ("delay", "requests late by the drain time, rr too", delay),
        ("delay-unbuffered-rr", "requests late by the drain time, rr not", not),
    ];
    let rows = readings.map(|(id, what, measure)| {
        let means = TABLE_2.iter().map(|it| matrix.mean(it.scheme, measure).unwrap_or(f64::NAN));
        let held = cells_that_hold(&means.collect::<Vec<_>>(), COLUMNS[2]);
        let ranks =
            format!("rank correlation of the ten means with the published ones, 1000K: {what}");
        let cells = format!("cells of the ten that would hold, 1000K: {what}");
        let correlation = correlate(matrix, COLUMNS[2], measure);
        [
            Row::shown(format!("spearman-1000k-{id}"), ranks, correlation)
                .published(1.0)
                .note("Another reading of what the paper leaves open."),
            Row::shown(format!("cells-1000k-{id}"), cells, Some(held as f64)),
        ]
    });
    rows.concat()
}

fn firefox_as_run(matrix: &Matrix) -> Row {
    Row::estimated(
        format!("atf-{FIREFOX_AS_RUN}"),
        format!("mean ATF speedup of {FIREFOX_AS_RUN}, the paper's implementation of firefox"),
        matrix.mean_estimate(FIREFOX_AS_RUN, ATF),
    )
    .published(1.22)
    .note("What the paper measured; its text places resources otherwise. The rows `firefox-*` show the difference.")
}

fn best_mean(matrix: &Matrix, scheme: &str) -> Row {
    let published = TABLE_2.iter().find(|it| it.scheme == scheme).map_or(0.0, |it| it.atf);
    let (id, metric) = (format!("best-mean-{scheme}"), format!("mean ATF speedup of {scheme}"));
    Row::estimated(id, metric, matrix.mean_estimate(scheme, ATF))
        .published(published)
        .at_least(BEST_MEAN)
        .because(&late_scripts_text(matrix))
}

fn best_page(matrix: &Matrix, scheme: &str) -> Row {
    let best =
        matrix.speedups(scheme, ATF).into_iter().max_by(|one, other| one.1.total_cmp(&other.1));
    let metric = format!("highest ATF speedup of {scheme} on any page");
    let row = Row::shown(format!("best-page-{scheme}"), metric, best.map(|it| it.1));
    row.note(best.map_or_else(String::new, |(page, _)| {
        format!(
            "\"With the exception of a few bad performers (i.e., firefox, wrr, s+), all schemes are able to provide impressive \
             gains of x3.5 to x5+\"; here on {}.",
            page.name
        )
    }))
}

fn small_effect(matrix: &Matrix, bytes: u64) -> [Row; 2] {
    let buffered = ATF.buffered(Buffer::fifo(bytes));
    let kilobytes = bytes / 1000;
    let with = largest_change(matrix, buffered);
    let without = largest_change(matrix, buffered.over_unbuffered_rr());
    let [whose, whose_without] = [with, without].map(|it| it.map_or("none", |it| it.1));
    let metric =
        format!("largest change of a mean ATF speedup by {kilobytes} KB of buffer, as a share");
    [
        Row::shown(format!("small-effect-{kilobytes}k"), metric, with.map(|it| it.0))
        .at_most(SMALL_EFFECT)
        .note(format!(
            "\"Relatively small effects until the buffer grows substantially large\"; here the largest is {whose}'s."
        ))
        .because("The rows `buffer-*` show what it does to `rr` itself, and to large pages alone."),
        Row::shown(
            format!("small-effect-{kilobytes}k-unbuffered-rr"),
            "the same, over rr without a buffer",
            without.map(|it| it.0),
        )
        .note(format!("The other reading; the largest is {whose_without}'s.")),
    ]
}

fn largest_change(matrix: &Matrix, buffered: Measure) -> Option<(f64, &'static str)> {
    let changes = TABLE_2.iter().filter_map(|Table2Row { scheme, .. }| {
        let before = matrix.mean(scheme, ATF)?;
        let after = matrix.mean(scheme, buffered)?;
        Some(((after / before - 1.0).abs(), *scheme))
    });
    changes.max_by(|one, other| one.0.total_cmp(&other.0))
}

fn lowered(matrix: &Matrix, scheme: &str) -> [Row; 2] {
    let published = TABLE_2.iter().find(|it| it.scheme == scheme);
    let published = published.map_or(1.0, |it| it.atf_1000k / it.atf);
    let metric =
        format!("mean ATF speedup of {scheme} with 1000 KB of buffer, as a share of that without");
    let left = ratio(matrix.mean(scheme, ATF_1000K), matrix.mean(scheme, ATF));
    let row = |id: &str| {
        let row = Row::shown(format!("{id}-{scheme}"), metric.clone(), left);
        row.published((published * 1000.0).round() / 1000.0)
    };
    [
        row("lowered").below(1.0).note("One-sided, as the paper's words are."),
        row("lowered-near").within_share(NEAR).note("Two-sided, as the paper's two cells give it."),
    ]
}

/// How far the schemes' means lie from fifo's.
fn toward_fifo(matrix: &Matrix) -> [Row; 2] {
    let [buffered, unbuffered] = [ATF_1000K, ATF].map(|measure| {
        let fifo = matrix.mean("fifo", measure)?;
        let means = TABLE_2.iter().filter_map(|it| matrix.mean(it.scheme, measure));
        Some(means.map(|it| (it - fifo).abs()).sum::<f64>())
    });
    let columns: [fn(&Table2Row) -> f64; 2] = [|it| it.atf_1000k, |it| it.atf];
    let [their_buffered, their_unbuffered] = columns.map(|of| {
        let fifo = TABLE_2.iter().find(|it| it.scheme == "fifo").map_or(0.0, of);
        TABLE_2.iter().map(|it| (of(it) - fifo).abs()).sum::<f64>()
    });
    let theirs = their_buffered / their_unbuffered;
    let row = |id: &str| {
        let metric = "distance of the ten means from fifo's with 1000 KB of buffer, as a share of that without";
        let row = Row::shown(id, metric, ratio(buffered, unbuffered));
        row.published((theirs * 1000.0).round() / 1000.0)
    };
    [
        row("toward-fifo").below(1.0).note(
            "\"The resulting behaviour more and more becomes that of fifo\" (page 140): one-sided, as these words are.",
        ),
        row("toward-fifo-near").within_share(NEAR).note("Two-sided, as the paper's cells give it."),
    ]
}

fn figure(matrix: &Matrix) -> PairedDots {
    let groups = TABLE_2.iter().map(|published| {
        let scheme = published.scheme;
        let pairs = COLUMNS.iter().map(|column| Pair {
            ours: matrix.mean(scheme, column.measure),
            interval: mean_interval(&matrix.speedups(scheme, column.measure))
                .filter(|_| scheme != "rr"),
            theirs: Some((column.published)(published)),
        });
        PairedDotsGroup { label: scheme.to_owned(), pairs: pairs.collect() }
    });
    PairedDots {
        title: "Mean speedups over rr: ours beside Table 2 of Marx et al. 2019".to_owned(),
        theirs: "published",
        columns: COLUMNS.map(|it| it.name.to_owned()).into(),
        groups: groups.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_are_the_spread_of_the_printed_columns() {
        let text = |it: Column| format!("{} {}", it.name, it.tolerance());
        assert_eq!(COLUMNS.map(text), ["All 0.07", "ATF 0.49", "1000K 0.22"]);
        // All: 1.05, 1.07, 1.27 and 1.27 lie further from the mean, 1.166.
        assert_eq!(COLUMNS.map(|it| it.held_by_its_mean()), [6, 5, 7]);
    }
}
