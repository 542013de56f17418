//! The number of resources of each kind, and their bytes.
//!
//! Sources: HTTP Archive, Web Almanac 2024, "Page Weight" (desktop): percentiles 10, 25, 50, 75, 90 of
//! requests and of bytes; Mi et al. 2016 (`SMig`): sizes of single objects; Marx et al. 2019, section 4.2.

use super::draw::{Draw, whole};
use super::{Profile, Shape};
use schedulers::Kind;

/// Assumptions that the sources do not cover.
pub(super) const ASSUMPTIONS: &[&str] = &[
    "tails beyond the published percentiles are straight lines to a least and a greatest value of our own",
    "the sizes of HTML and fonts, of which only the median is published, spread like those of stylesheets; \
     those of images above the 25th percentile like those of scripts; a tenth of the median page's \
     bytes are data",
    "three in five pages draw a kind's bytes at the same percentile as their requests, the others freely",
    "single objects of a kind share its bytes like the objects of the Alexa crawl of SMig",
    "text is compressed 4 to 1; a third of the document's scripts block in the head, a third are async, \
     the others defer or stand at its end; the largest of the first three images is the hero",
];

/// Values at the percentiles 0, 10, 25, 50, 75, 90, 100.
type Quantiles = [f64; 7];
const SHARES: Quantiles = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0];

const WEB_REQUESTS: Quantiles = [10.0, 24.0, 42.0, 71.0, 115.0, 176.0, 300.0];
/// The paper's range, with equal shares below and above its middle, because the pages are "a good mix".
const PAPER_REQUESTS: Quantiles = [10.0, 16.0, 28.0, 56.0, 100.0, 150.0, 214.0];
/// Bytes of a page of the paper's corpus: small (below 500 KB), medium and large ones (section 5).
const PAPER_BYTES: Quantiles = [29e3, 90e3, 250e3, 750e3, 1600e3, 3200e3, 7400e3];

/// The requests of each kind (0 at the edges if a page may have none).
const WEB_KINDS: [(Kind, Quantiles); 6] = [
    (Kind::Html, [1.0, 1.0, 1.0, 2.0, 6.0, 12.0, 20.0]),
    (Kind::Css, [1.0, 2.0, 4.0, 8.0, 16.0, 26.0, 40.0]),
    (Kind::Js, [1.0, 7.0, 13.0, 24.0, 42.0, 68.0, 110.0]),
    (Kind::Font, [0.0, 0.0, 2.0, 4.0, 7.0, 11.0, 18.0]),
    (Kind::Image, [1.0, 5.0, 9.0, 18.0, 33.0, 60.0, 120.0]),
    (Kind::Xhr, [0.0, 1.0, 3.0, 8.0, 14.0, 22.0, 40.0]),
];
/// The bytes of all of them, in the order of [`WEB_KINDS`].
const WEB_KIND_BYTES: [Quantiles; 6] = [
    [1e3, 2250.0, 8100.0, 18e3, 34e3, 60e3, 200e3],
    [2e3, 10e3, 36e3, 80e3, 152e3, 269e3, 600e3],
    [5e3, 101e3, 270e3, 620e3, 1172e3, 1834e3, 4e6],
    [8e3, 16e3, 59e3, 131e3, 250e3, 440e3, 900e3],
    [10e3, 84e3, 322e3, 1054e3, 1992e3, 3118e3, 8e6],
    [200.0, 2e3, 8e3, 30e3, 60e3, 120e3, 400e3],
];

/// Bytes of a single object (`SMig`: 18, 40 and 115 KB at the quartiles).
const OBJECT_BYTES: Quantiles = [1e3, 6e3, 18e3, 40e3, 115e3, 250e3, 800e3];

/// Body bytes of the median page (Web Almanac 2024, October 2024, desktop). No other percentile is published.
const WEB_BYTES_MEDIAN: f64 = 2_652_000.0;

pub(super) fn web_requests(level: f64) -> f64 {
    value_at(&WEB_REQUESTS, level)
}

/// The bytes of a web page at this level: the bytes of all kinds at the level, scaled by the published median of a page. Below
/// the 10th percentile and above the 90th, no page totals are published, so these sums stand alone.
pub(super) fn web_bytes(level: f64) -> f64 {
    bytes_of_kinds(level.clamp(0.1, 0.9)) * WEB_BYTES_MEDIAN / bytes_of_kinds(0.5)
}

fn bytes_of_kinds(level: f64) -> f64 {
    WEB_KIND_BYTES.iter().map(|it| value_at(it, level)).sum()
}

/// (kind, body bytes) of each resource, the document first.
pub(super) fn budget(shape: &Shape, draw: &mut Draw) -> Vec<(Kind, u64)> {
    let requests = match shape.profile {
        Profile::Web2024 => &WEB_REQUESTS,
        Profile::Paper2019 => &PAPER_REQUESTS,
    };
    let level = match shape.resources {
        Some(count) => interpolate(requests, &SHARES, count as f64),
        None => draw.share(),
    };
    let count = shape.resources.unwrap_or_else(|| whole(value_at(requests, level)));
    let kinds = counts(count, level);
    let mut budget = Vec::new();
    for ((kind, bytes), count) in WEB_KINDS.iter().zip(&WEB_KIND_BYTES).zip(kinds) {
        let level = if draw.happens(0.6) { level } else { draw.share() };
        let sizes = split(value_at(bytes, level), count, draw);
        budget.extend(sizes.into_iter().map(|it| (kind.0, it)));
    }
    let total = match (shape.bytes, shape.profile) {
        (Some(bytes), _) => Some(bytes as f64),
        (None, Profile::Paper2019) => Some(value_at(&PAPER_BYTES, level)),
        (None, Profile::Web2024) => None,
    };
    if let Some(total) = total {
        scale(&mut budget, total);
    }
    budget
}

/// The number of resources of each kind, `count` in all; at least the document and a stylesheet.
fn counts(count: usize, level: f64) -> Vec<usize> {
    let wanted: Vec<f64> = WEB_KINDS.iter().map(|(_, it)| value_at(it, level)).collect();
    let sum: f64 = wanted.iter().sum();
    let shares: Vec<f64> = wanted.iter().map(|it| it * count as f64 / sum).collect();
    let rounded = shares.iter().enumerate();
    let mut counts: Vec<usize> =
        rounded.map(|(kind, it)| whole(it.floor()).max(usize::from(kind < 2))).collect();
    // The rounding remainder goes to the kinds that lost most.
    let lost: Vec<f64> = counts.iter().zip(&shares).map(|(it, share)| *it as f64 - share).collect();
    let mut losers: Vec<usize> = (0..wanted.len()).collect();
    losers.sort_by(|a, b| lost[*a].total_cmp(&lost[*b]));
    let missing = count.saturating_sub(counts.iter().sum());
    for kind in losers.iter().cycle().take(missing) {
        counts[*kind] += 1;
    }
    while counts.iter().sum::<usize>() > count {
        let most = (0..counts.len()).max_by_key(|&it| counts[it]).unwrap_or(0);
        counts[most] -= 1;
    }
    counts
}

/// Splits `bytes` into `count` parts that are as unequal as the objects of web pages.
fn split(bytes: f64, count: usize, draw: &mut Draw) -> Vec<u64> {
    let parts: Vec<f64> = (0..count).map(|_| value_at(&OBJECT_BYTES, draw.share())).collect();
    let sum: f64 = parts.iter().sum();
    parts.iter().map(|it| (whole(it * bytes / sum) as u64).max(40)).collect()
}

/// Scales the sizes to sum to `total`, each at least one byte.
fn scale(budget: &mut [(Kind, u64)], total: f64) {
    let sum: u64 = budget.iter().map(|it| it.1).sum();
    for (_, bytes) in budget.iter_mut() {
        *bytes = (whole(*bytes as f64 * total / sum as f64) as u64).max(1);
    }
    let total = whole(total) as u64;
    let sum: u64 = budget.iter().map(|it| it.1).sum();
    if let Some((_, largest)) = budget.iter_mut().max_by_key(|(_, bytes)| *bytes) {
        *largest = (*largest + total).saturating_sub(sum).max(1);
    }
}

fn value_at(quantiles: &Quantiles, share: f64) -> f64 {
    interpolate(&SHARES, quantiles, share)
}

fn interpolate(from: &Quantiles, to: &Quantiles, value: f64) -> f64 {
    let value = value.clamp(from[0], from[6]);
    let upper = (1..6).find(|&it| value <= from[it]).unwrap_or(6);
    let (low, high) = (from[upper - 1], from[upper]);
    let part = if high > low { (value - low) / (high - low) } else { 0.0 };
    to[upper - 1] + part * (to[upper] - to[upper - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_met_and_between_them_lines() {
        assert!((value_at(&WEB_REQUESTS, 0.5) - 71.0).abs() < 1e-9);
        assert!((value_at(&WEB_REQUESTS, 0.9) - 176.0).abs() < 1e-9);
        assert!((value_at(&WEB_REQUESTS, 0.375) - 56.5).abs() < 1e-9);
        assert!((interpolate(&WEB_REQUESTS, &SHARES, 115.0) - 0.75).abs() < 1e-9);
        assert!((interpolate(&WEB_REQUESTS, &SHARES, 5000.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_median_page_has_the_median_of_each_kind() {
        // HTML 2, CSS 8, JS 24, fonts 4, images 18, data 8 are 64; the published medians of kinds do
        // not sum to that of all, 71, so each is scaled.
        assert_eq!(counts(64, 0.5), [2, 8, 24, 4, 18, 8]);
        assert_eq!(counts(71, 0.5).iter().sum::<usize>(), 71);
        assert_eq!(counts(3, 0.0).iter().sum::<usize>(), 3);
    }
}
