//! Explanations of deviations from the paper, each tested on the pages: a row states whether they support it.

use super::matrix::{
    ALL, ATF, ATF_1000K, Buffer, FIREFOX_AS_RUN, Matrix, Measure, PageSpeedup, bootstrap_sites,
    geometric_mean_estimate, late_script_share, mean, mean_estimate, mean_interval,
};
use super::published::{TABLE_2, Table2Row, WELL_PERFORMING};
use crate::row::ratio;
use crate::{Estimate, Line, Row, Table};
use corpus::Page;
use corpus::page::{Script, SourceKind};
use figures::number_texts::ratio_text;
use lab::study::statistics::{self, Interval, spearman};
use schedulers::Kind;

pub(super) const TABLE: &str = "Explanations, tested on the pages";

/// The pages by their origin.
const SOURCES: [(&str, SourceKind); 4] = [
    ("recorded", SourceKind::Recorded),
    ("imported", SourceKind::Imported),
    ("hand-made", SourceKind::Hand),
    ("generated", SourceKind::Generated),
];

const COLUMNS: [(&str, Measure); 3] = [("All", ALL), ("ATF", ATF), ("1000K", ATF_1000K)];

pub(super) fn rows(matrix: &Matrix) -> Vec<Row> {
    let mut rows = late_scripts(matrix);
    rows.extend(["zeroweight", "bucket-html"].map(|it| hero_gain(matrix, it)));
    for (id, what, has) in [("hero", "with a hero image", true), ("no-hero", "without one", false)]
    {
        let of = matrix.speedups("zeroweight", ATF).into_iter();
        let of: Vec<PageSpeedup<'_>> = of.filter(|it| has_hero(it.0) == has).collect();
        let metric = format!("mean ATF speedup of zeroweight on pages {what}");
        let row = Row::estimated(format!("zeroweight-{id}"), metric, mean_estimate(&of));
        rows.push(row.note(format!("{} pages.", of.len())));
    }
    rows.extend(buffer(matrix));
    rows.extend(firefox(matrix));
    rows.extend(SOURCES.map(|(name, kind)| ranks_by_source(matrix, name, kind)));
    rows
}

/// The properties with which the gains of Figure 12 correlate.
pub(super) fn gains(matrix: &Matrix) -> [Row; 2] {
    let (mut by_size, mut by_bytes_below) = (Vec::new(), Vec::new());
    for page in &matrix.pages {
        let of = WELL_PERFORMING.iter().filter_map(|it| matrix.speedup(&page.name, it, ATF));
        if let Some(gain) = statistics::mean(&of.collect::<Vec<_>>()) {
            by_size.push((page.site(), page.body_bytes() as f64, gain));
            by_bytes_below.push((page.site(), below_fold_share(page), gain));
        }
    }
    let of = "rank correlation, over pages, of the mean ATF speedup of the well-performing schemes";
    let size = format!("{of} with the size of the page");
    let below = format!("{of} with the share of bytes below the fold");
    [
        correlation("gain-by-size", size, &by_size, None),
        correlation("gain-by-bytes-below-fold", below, &by_bytes_below, Some(1.0)),
    ]
}

/// The geometric mean, the median and the mean without the best pages beside the paper's kind of mean.
pub(super) fn other_means(matrix: &Matrix) -> Table {
    let lines = TABLE_2.iter().map(|published| {
        let values = COLUMNS.iter().flat_map(|(_, measure)| {
            let speedups = matrix.speedups(published.scheme, *measure);
            let values: Vec<f64> = speedups.iter().map(|it| it.1).collect();
            let sites = speedups.iter().map(|it| it.0.site());
            let of_median = bootstrap_sites(sites, |places| {
                statistics::median(&places.iter().map(|it| values[*it]).collect::<Vec<_>>())
            });
            [
                geometric_mean_estimate(&speedups),
                Estimate::new(statistics::median(&values), of_median),
            ]
        });
        Line { labels: vec![published.scheme.to_owned()], values: values.collect() }
    });
    let columns = COLUMNS
        .iter()
        .flat_map(|(name, _)| [format!("{name}, geometric mean"), format!("{name}, median")]);
    Table {
        heading: "Other means of the same speedups, with 95 % intervals".to_owned(),
        labels: vec!["scheme"],
        columns: columns.collect(),
        lines: lines.collect(),
    }
}

pub(super) fn by_source(matrix: &Matrix) -> Table {
    let lines = TABLE_2.iter().map(|Table2Row { scheme, .. }| {
        let values =
            SOURCES.iter().map(|(_, kind)| mean_estimate(&of_source(matrix, scheme, *kind)));
        Line { labels: vec![(*scheme).to_owned()], values: values.collect() }
    });
    let columns = SOURCES.iter().map(|(name, kind)| {
        let pages = matrix.pages.iter().filter(|it| it.source.kind == *kind).count();
        format!("{name} ({pages} pages)")
    });
    Table {
        heading: "Mean ATF speedup by the pages' source".to_owned(),
        labels: vec!["scheme"],
        columns: columns.collect(),
        lines: lines.collect(),
    }
}

/// "zeroweight gains little on pages with many late scripts, because it sends them first."
fn late_scripts(matrix: &Matrix) -> Vec<Row> {
    let [zeroweight, dfifo] = ["zeroweight", "dfifo"].map(|it| matrix.speedups(it, ATF));
    let relative = relative_to_dfifo(matrix, "zeroweight");
    let divided = "zeroweight divided by that of dfifo, which sends them late";
    let mut rows = Vec::new();
    for (id, of, speedups, sign) in [
        ("late-scripts-zeroweight", "zeroweight", zeroweight, Some(-1.0)),
        ("late-scripts-zeroweight-over-dfifo", divided, relative, Some(-1.0)),
        ("late-scripts-dfifo", "dfifo", dfifo, None),
    ] {
        let metric = format!(
            "rank correlation, over pages, of the share of bytes in scripts below the fold with the ATF speedup of {of}"
        );
        let pages = speedups.iter().map(|(page, it)| (page.site(), late_script_share(page), *it));
        rows.push(correlation(id, metric, &pages.collect::<Vec<_>>(), sign));
    }
    rows
}

/// "The good performance [...] can be partially attributed to giving hero images a higher server-side priority" (page 140).
fn hero_gain(matrix: &Matrix, scheme: &str) -> Row {
    let of_pages = relative_to_dfifo(matrix, scheme);
    let relative: Vec<(bool, f64)> =
        of_pages.iter().map(|(page, it)| (has_hero(page), *it)).collect();
    let sites = of_pages.iter().map(|it| it.0.site());
    let interval =
        bootstrap_sites(sites, |places| gain_of_heroes(places.iter().map(|it| relative[*it])));
    let heroes = relative.iter().filter(|it| it.0).count();
    let metric = format!(
        "mean ATF speedup of {scheme} over dfifo on pages with a hero image, minus that on the others"
    );
    let gain = gain_of_heroes(relative.iter().copied());
    let row = Row::shown(format!("hero-{scheme}"), metric, gain);
    row.interval(interval).note(format!(
        "The paper: schemes that know the hero image gain by it (page 140). {} {heroes} pages have one, {} have none.",
        carried(interval, 1.0),
        relative.len() - heroes
    ))
}

/// The mean over pages with a hero image, minus that over pages without. `pages`: whether each has one, and its speedup.
fn gain_of_heroes(pages: impl Iterator<Item = (bool, f64)>) -> Option<f64> {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for (has_hero, speedup) in pages {
        if has_hero { with.push(speedup) } else { without.push(speedup) }
    }
    Some(statistics::mean(&with)? - statistics::mean(&without)?)
}

/// "The buffer makes rr, the baseline, faster; 280 KB hold small pages whole."
fn buffer(matrix: &Matrix) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, buffer) in [("280k", Buffer::fifo(280_000)), ("1000k", Buffer::K1000)] {
        let rr = matrix.speedups("rr", ATF.buffered(buffer).over_unbuffered_rr());
        let median = statistics::median(&rr.iter().map(|it| it.1).collect::<Vec<_>>());
        let kilobytes = buffer.bytes / 1000;
        let metric =
            format!("mean ATF speedup of rr with {kilobytes} KB of buffer over rr without");
        let row = Row::estimated(format!("buffer-rr-{name}"), metric, mean_estimate(&rr));
        rows.push(row.note(format!(
            "The buffer makes the baseline faster, which lowers speedups over it. {} The median is {}.",
            carried(above_one(&rr), 1.0),
            ratio_text(median)
        )));
    }
    rows.push(large_pages(matrix));
    rows
}

fn above_one(speedups: &[PageSpeedup<'_>]) -> Option<Interval> {
    mean_interval(speedups).map(|it| it.map(|it| it - 1.0))
}

/// The effect of 280 KB on the pages that it does not hold.
fn large_pages(matrix: &Matrix) -> Row {
    let limit_bytes = 280_000;
    let buffered = ATF.buffered(Buffer::fifo(limit_bytes));
    let changes = TABLE_2.iter().filter_map(|published| {
        let [with, without] = [buffered, ATF].map(|measure| {
            let mut speedups = matrix.speedups(published.scheme, measure);
            speedups.retain(|it| it.0.body_bytes() > limit_bytes);
            mean(&speedups)
        });
        Some((ratio(with, without)? - 1.0).abs())
    });
    let small = matrix.pages.iter().filter(|it| it.body_bytes() <= limit_bytes).count();
    let metric = "largest change of a mean ATF speedup by 280 KB of buffer on pages larger than that, as a share";
    let row = Row::shown("buffer-280k-large-pages", metric, changes.reduce(f64::max));
    row.note(format!(
        "280 KB hold {small} of {} pages whole. If these were the reason, the change would be small here.",
        matrix.pages.len()
    ))
}

/// "firefox gains more here, because its text places deferred scripts of the head behind others."
fn firefox(matrix: &Matrix) -> [Row; 2] {
    let mut relative: Vec<PageSpeedup<'_>> = Vec::new();
    for page in &matrix.pages {
        let as_text = matrix.speedup(&page.name, "firefox", ATF);
        let as_run = matrix.speedup(&page.name, FIREFOX_AS_RUN, ATF);
        relative.extend(as_text.zip(as_run).map(|(text, run)| (page, text / run)));
    }
    [("deferred", "with", true), ("none-deferred", "without", false)].map(|(id, what, has)| {
        let of = relative.iter().filter(|it| has_deferred_in_head(it.0) == has);
        let of: Vec<PageSpeedup<'_>> = of.copied().collect();
        let note = if has {
            let carried = carried(above_one(&of), 1.0);
            format!("The text's place for them is the faster one. {carried}")
        } else {
            "The place of deferred scripts cannot be the reason here, and firefox still differs.".to_owned()
        };
        let metric = format!(
            "mean ATF speedup of firefox over {FIREFOX_AS_RUN} on pages {what} deferred or asynchronous scripts in the head"
        );
        let row = Row::estimated(format!("firefox-{id}"), metric, mean_estimate(&of));
        row.note(format!("{note} {} pages.", of.len()))
    })
}

fn ranks_by_source(matrix: &Matrix, name: &str, kind: SourceKind) -> Row {
    let pairs =
        TABLE_2.iter().filter_map(|it| Some((mean(&of_source(matrix, it.scheme, kind))?, it.atf)));
    let zeroweight = mean(&of_source(matrix, "zeroweight", kind));
    Row::shown(
        format!("spearman-atf-{name}"),
        format!("rank correlation of the ten means with the published ones, ATF, {name} pages"),
        spearman(&pairs.collect::<Vec<_>>()),
    )
    .published(1.0)
    .note(format!("zeroweight has {} on these pages.", ratio_text(zeroweight)))
}

fn of_source<'a>(matrix: &'a Matrix, scheme: &str, kind: SourceKind) -> Vec<PageSpeedup<'a>> {
    let each = matrix.speedups(scheme, ATF).into_iter();
    each.filter(|it| it.0.source.kind == kind).collect()
}

fn relative_to_dfifo<'a>(matrix: &'a Matrix, scheme: &str) -> Vec<PageSpeedup<'a>> {
    let each = matrix.speedups(scheme, ATF).into_iter();
    each.filter_map(|(page, it)| Some((page, it / matrix.speedup(&page.name, "dfifo", ATF)?)))
        .collect()
}

/// A rank correlation of pages, each with its site, with its interval. `sign` is the prediction of an explanation.
fn correlation(id: &str, metric: String, pages: &[(&str, f64, f64)], sign: Option<f64>) -> Row {
    let pairs: Vec<(f64, f64)> = pages.iter().map(|it| (it.1, it.2)).collect();
    let sites = pages.iter().map(|it| it.0);
    let interval = bootstrap_sites(sites, |places| {
        spearman(&places.iter().map(|it| pairs[*it]).collect::<Vec<_>>())
    });
    let verdict = match sign {
        Some(sign) => carried(interval, sign),
        None => "For comparison.",
    };
    let row = Row::shown(id, metric, spearman(&pairs));
    row.interval(interval).note(format!("{verdict} {} pages.", pairs.len()))
}

/// Whether the whole interval has the sign that an explanation predicts.
fn carried(interval: Option<Interval>, sign: f64) -> &'static str {
    match interval {
        None => "There are too few pages to test this explanation.",
        Some(it) if it.iter().all(|it| it * sign > 0.0) => "The data carry this explanation.",
        Some(_) => "The data do not carry this explanation.",
    }
}

fn has_hero(page: &Page) -> bool {
    page.resources.iter().any(|it| Kind::of_mime(&it.mime) == Kind::Image && it.above_fold)
}

fn has_deferred_in_head(page: &Page) -> bool {
    let mut in_head = page.resources.iter().filter(|it| it.in_head);
    in_head.any(|it| matches!(it.script, Some(Script::Defer | Script::Async)))
}

fn below_fold_share(page: &Page) -> f64 {
    let below = page.resources.iter().filter(|it| !it.above_fold).map(|it| it.bytes);
    below.sum::<u64>() as f64 / page.body_bytes().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_is_carried_if_its_whole_interval_has_the_sign() {
        let [yes, no] =
            ["The data carry this explanation.", "The data do not carry this explanation."];
        assert_eq!(carried(Some([0.1, 0.4]), 1.0), yes);
        assert_eq!(carried(Some([-0.4, -0.1]), -1.0), yes);
        assert_eq!(carried(Some([-0.1, 0.4]), 1.0), no);
        assert_eq!(carried(Some([0.1, 0.4]), -1.0), no);
        assert!(carried(None, 1.0).contains("too few"));
    }
}
