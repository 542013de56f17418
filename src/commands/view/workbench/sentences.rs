//! Sentences about the loads of the workbench.

use ::corpus::Page;
use figures::number_texts::{bytes_text, milliseconds_text, ratio_number};
use lab::Load;
use lab::export::NamedBy;
use lab::study::{ResourceTimes, RunRecord};
use qlog_tools::metrics::{self, Metric};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Ratios nearer to 1 than this are not mentioned.
const WORTH_A_WORD: f64 = 0.005;

/// The metrics of what a visitor sees.
const SEEN: [&str; 2] = ["first_render", "hero_render"];

/// One load: the name of its order, its row of results, and its arrival times.
pub(super) struct LoadedOrder<'a> {
    pub(super) label: &'a str,
    pub(super) is_by_hand: bool,
    /// Whether it is an order made by hand or of a scheme file: the ones that the user asks about.
    pub(super) is_own: bool,
    pub(super) run: &'a RunRecord,
    pub(super) load: &'a Load,
}

/// States whether the order by hand and the best of the others beat the first of `rows`, and by how much.
pub(super) fn answer(rows: &[LoadedOrder<'_>], metric: &Metric) -> Vec<String> {
    let Some((now, others)) = rows.split_first() else { return Vec::new() };
    let unfinished = rows.iter().filter_map(|row| {
        let why = row.run.unfinished.as_ref()?;
        Some(format!("{} did not finish: {}.", row.label, why.problem))
    });
    let mut sentences: Vec<String> = unfinished.collect();
    let own = others.iter().filter(|it| it.is_own);
    sentences.extend(own.filter_map(|it| compared(now, it, metric)));
    match best(rows, metric) {
        Some(best) if best.label == now.label => {
            if others.is_empty() {
                return sentences;
            }
            sentences.push(format!(
                "By {}, none of these orders is better than {}.",
                metric.heading, now.label
            ));
            sentences.extend(sooner(rows, metric));
        }
        Some(best) if !best.is_own => sentences.extend(compared(now, best, metric)),
        _ => {}
    }
    sentences
}

/// Which order shows something sooner than the first row, although that one is the best by `metric`.
fn sooner(rows: &[LoadedOrder<'_>], metric: &Metric) -> Vec<String> {
    let moments = SEEN.into_iter().filter_map(metrics::find).filter(|it| it.name != metric.name);
    let sentences = moments.filter_map(|moment| {
        let best = best(rows, moment).filter(|it| it.label != rows[0].label)?;
        let [from, to] = [rows[0].run, best.run].map(|it| it.value(moment));
        Some(format!(
            "But {} has {} {} ms earlier: {} ms in place of {} ms.",
            if best.is_by_hand { "the order by hand" } else { best.label },
            moment.heading,
            milliseconds_text(from? - to?),
            milliseconds_text(to?),
            milliseconds_text(from?)
        ))
    });
    sentences.collect()
}

/// The row with the least value. Of rows that hardly differ, the first.
pub(super) fn best<'a>(
    rows: &'a [LoadedOrder<'a>],
    metric: &Metric,
) -> Option<&'a LoadedOrder<'a>> {
    let finished = rows.iter().filter(|it| it.run.completed);
    let known = finished.filter_map(|it| Some((it.run.value(metric)?, it)));
    let least = known.clone().map(|it| it.0).reduce(f64::min)?;
    known.into_iter().find(|it| it.0 <= least * (1.0 + WORTH_A_WORD)).map(|it| it.1)
}

fn compared(now: &LoadedOrder<'_>, other: &LoadedOrder<'_>, metric: &Metric) -> Option<String> {
    let [from, to] = [now, other].map(|it| it.run.value(metric));
    let (from, to) = (from?, to?);
    let (before, heading) = (now.label, metric.heading);
    let ratio = from / to;
    let times = format!("{} ms in place of {} ms", milliseconds_text(to), milliseconds_text(from));
    let seen = seen(now.run, other.run);
    let label = if other.is_by_hand { "The order by hand" } else { other.label };
    if (ratio - 1.0).abs() < WORTH_A_WORD {
        return Some(format!(
            "{label} makes no difference to {before} by {heading}: {times}{seen}."
        ));
    }
    let (ratio, side) = if ratio > 1.0 { (ratio, "fast") } else { (1.0 / ratio, "slow") };
    let ratio = ratio_number(ratio);
    Some(format!("{label} is {ratio} times as {side} as {before}: {heading} {times}{seen}."))
}

/// How much sooner or later a visitor sees something.
fn seen(now: &RunRecord, other: &RunRecord) -> String {
    let moments = SEEN.into_iter().filter_map(metrics::find);
    let parts = moments.filter_map(|moment| {
        let by_ms = other.value(moment)? - now.value(moment)?;
        let side = if by_ms < 0.0 { "earlier" } else { "later" };
        let by = milliseconds_text(by_ms.abs());
        (by_ms.abs() >= 1.0).then(|| format!(", {} {by} ms {side}", moment.heading))
    });
    parts.collect()
}

/// Why the page's hero image arrives when it does: which resource references it, how long it waits, and behind
/// what.
pub(super) fn hero(page: &Page, row: &LoadedOrder<'_>) -> Option<String> {
    let heroes = page.resources.iter().filter(|it| it.hero);
    let times = heroes.filter_map(|hero| row.run.resources.iter().find(|it| it.id == hero.id));
    let times = times.filter(|it| it.complete_ms.is_some()).max_by(|one, other| {
        one.complete_ms.partial_cmp(&other.complete_ms).unwrap_or(Ordering::Equal)
    })?;
    let (first_ms, complete_ms) = (times.first_byte_ms?, times.complete_ms?);
    let named = NamedBy::of(page, times.id).words();
    let named = named.map_or(String::new(), |by| format!(" ({by} names it)"));
    let url = &page.resources[times.id].url;
    let [asked, first, complete] =
        [times.requested_ms, first_ms, complete_ms].map(milliseconds_text);
    Some(format!(
        "Under {}, the hero {url} is requested after {asked} ms{named}, its first byte arrives after {first} ms, and it is complete after \
         {complete} ms{}.",
        if row.is_by_hand { "the order by hand" } else { row.label },
        ahead(page, row, times)
    ))
}

/// The bytes of other resources that arrived while the hero image waited.
fn ahead(page: &Page, row: &LoadedOrder<'_>, hero: &ResourceTimes) -> String {
    let timeline = &row.load.timeline;
    let start_us = timeline.start_us().unwrap_or_default();
    let urls: BTreeMap<u64, &str> =
        timeline.transfers.iter().map(|it| (it.stream, &*it.url)).collect();
    let mut ahead: BTreeMap<&str, u64> = BTreeMap::new();
    for frame in &timeline.frames {
        let at_ms = frame.time_us.saturating_sub(start_us) as f64 / 1000.0;
        let is_meanwhile = at_ms >= hero.requested_ms && Some(at_ms) <= hero.complete_ms;
        if let Some(url) = urls.get(&frame.stream).filter(|it| is_meanwhile && **it != &*hero.url) {
            *ahead.entry(url).or_default() += frame.bytes;
        }
    }
    let all: u64 = ahead.values().sum();
    let Some((most, bytes)) = ahead.into_iter().max_by_key(|it| it.1) else {
        return String::new();
    };
    let most = page.find(most).map_or(most, |id| &page.resources[id].url);
    format!(
        "; meanwhile {} of other resources came, most of {most} ({})",
        bytes_text(all),
        bytes_text(bytes)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::ideal::{self, Conditions};
    use lab::network::Network;
    use schedulers::find_scheme;
    use std::sync::Arc;

    fn load(page: &Arc<Page>, scheme: &str) -> (RunRecord, Load) {
        let scheme = find_scheme(scheme).expect("known");
        let network = Network::find("3g").expect("built in");
        let load = ideal::load(page, &scheme, &network, Conditions::default());
        (RunRecord::of_load(page, &load), load)
    }

    #[test]
    fn the_first_of_orders_that_hardly_differ_is_the_best_and_the_hero_is_explained() {
        let page = Arc::new(::corpus::bundled("case-study-1").expect("bundled").clone());
        let loads = ["rfc9218", "dfifo", "rr"].map(|it| (it, load(&page, it)));
        let told = loads.each_ref().map(|(label, (run, load))| LoadedOrder {
            label,
            is_by_hand: *label == "rr",
            is_own: *label == "rr",
            run,
            load,
        });
        let metric = metrics::byte_index();
        assert_eq!(best(&told, metric).map(|it| it.label), Some("rfc9218"));
        let sentences = answer(&told, metric);
        assert!(
            sentences[0].starts_with("The order by hand is 1.05 times as slow"),
            "{sentences:?}"
        );
        let expected = [
            "By ByteIndex, none of these orders is better than rfc9218.",
            "But the order by hand has hero render 3247 ms earlier: 1733 ms in place of 4980 ms.",
        ];
        assert_eq!(sentences[1..], expected);
        let hero = hero(&page, &told[0]).expect("a hero");
        assert!(hero.starts_with("Under rfc9218, the hero /hero.jpg is requested after"), "{hero}");
        assert!(hero.contains("most of /framework.js (280.0 kB)"), "{hero}");
    }
}
