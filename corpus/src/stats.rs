//! The composition of a set of pages.

use crate::discovery;
use crate::page::{self, Page, SourceKind};
use crate::weights;
use serde::Serialize;
use std::collections::BTreeMap;

/// The document of `utmost corpus stats`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    /// How many pages.
    pub pages: usize,
    /// How many of each source.
    pub by_source: BySource,
    /// Resources of a page.
    pub resources: Spread,
    /// Body bytes of a page on the wire.
    pub bytes: Spread,
    /// The distributions of the pages: all, all weighted as the web, and by source.
    pub distributions: Vec<Distribution>,
    /// How well the pages represent the web.
    pub web: Represented,
    /// The sites and templates that the pages come from, in alphabetical order.
    pub clusters: Vec<Cluster>,
    /// Published figures to compare with.
    pub published: Vec<Distribution>,
    /// The pages, in the order given.
    pub rows: Vec<Row>,
}

/// How well the pages of a set represent the web's pages: see [`crate::weights`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Represented {
    /// The share of the web's pages whose strata of requests have a page in the set.
    pub covered: f64,
    /// The number of equally weighted sites with the same information.
    pub effective_sites: f64,
}

/// A site or template with its pages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cluster {
    /// Its name.
    pub site: String,
    /// How many pages are of it.
    pub pages: usize,
    /// The share of the web's pages that they represent.
    pub weight: f64,
}

/// The distribution of a set of pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Distribution {
    /// `all`, a source, or the publisher.
    pub of: String,
    /// The number of pages, if known.
    pub pages: Option<usize>,
    /// Resources of a page.
    pub resources: Percentiles,
    /// Body bytes of a page on the wire.
    pub bytes: Percentiles,
}

/// Percentiles over pages. `None` if never published.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Percentiles {
    pub min: Option<u64>,
    pub p10: Option<u64>,
    pub p25: Option<u64>,
    pub p50: Option<u64>,
    pub p75: Option<u64>,
    pub p90: Option<u64>,
    pub max: Option<u64>,
}

/// How many pages of each source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names of the page format")]
pub struct BySource {
    pub recorded: usize,
    pub imported: usize,
    pub generated: usize,
    pub hand: usize,
}

/// The minimum, median and maximum of some values; zeros if there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Spread {
    pub min: u64,
    /// The median. For an even number of values, the mean of the middle two.
    pub median: f64,
    pub max: u64,
}

/// One page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// How it was made.
    pub source: SourceKind,
    /// The site or template to which it belongs.
    pub site: String,
    /// The share of the web's pages that it represents; may be 0.
    pub weight: f64,
    /// How many resources it has.
    pub resources: usize,
    /// Body bytes on the wire.
    pub bytes: u64,
    /// Resources in the above-the-fold set.
    pub atf_resources: usize,
    /// The length of the longest chain of discoveries; 0 for a document alone.
    pub depth: usize,
    /// The error of a recorded page in predicting a load that was not used for it, if the page states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording_error_ms: Option<page::Spread>,
}

/// Counts. The pages must be checked.
pub fn stats<'a>(pages: impl IntoIterator<Item = &'a Page>) -> Stats {
    let pages: Vec<&Page> = pages.into_iter().collect();
    let weights = weights::web(&pages);
    let rows: Vec<Row> =
        pages.iter().zip(&weights.pages).map(|(page, weight)| row(page, *weight)).collect();
    let count = |source| rows.iter().filter(|it| it.source == source).count();
    Stats {
        pages: rows.len(),
        by_source: BySource {
            recorded: count(SourceKind::Recorded),
            imported: count(SourceKind::Imported),
            generated: count(SourceKind::Generated),
            hand: count(SourceKind::Hand),
        },
        resources: spread(rows.iter().map(|it| it.resources as u64)),
        bytes: spread(rows.iter().map(|it| it.bytes)),
        distributions: distributions(&rows),
        web: Represented {
            covered: weights.covered,
            effective_sites: weights.effective_sites(&pages),
        },
        clusters: clusters(&rows),
        published: published(),
        rows,
    }
}

fn clusters(rows: &[Row]) -> Vec<Cluster> {
    let mut clusters: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    for row in rows {
        let (pages, weight) = clusters.entry(&row.site).or_default();
        *pages += 1;
        *weight += row.weight;
    }
    let clusters = clusters.into_iter().map(|(site, of_site)| (site.to_owned(), of_site));
    clusters.map(|(site, (pages, weight))| Cluster { site, pages, weight }).collect()
}

fn distributions(rows: &[Row]) -> Vec<Distribution> {
    let of = |name: &str, source: SourceKind| {
        distribution(name, rows.iter().filter(|it| it.source == source), plain_percentiles)
    };
    let as_the_web = rows.iter().filter(|it| it.weight > 0.0);
    let all = [
        distribution("all", rows.iter(), plain_percentiles),
        distribution("all, weighted as the web", as_the_web, |rows, value| {
            weighted_percentiles(rows.iter().map(|it| (value(it), it.weight)).collect())
        }),
        of("recorded", SourceKind::Recorded),
        of("imported", SourceKind::Imported),
        of("generated", SourceKind::Generated),
        of("hand", SourceKind::Hand),
    ];
    all.into_iter().flatten().collect()
}

fn plain_percentiles(rows: &[&Row], value: Value) -> Percentiles {
    percentiles(rows.iter().map(|it| value(it)))
}
type Value = fn(&Row) -> u64;

/// The distribution of these rows, by `percentiles` of a value of each; `None` without rows.
fn distribution<'a>(
    of: &str,
    rows: impl Iterator<Item = &'a Row>,
    percentiles: impl Fn(&[&Row], Value) -> Percentiles,
) -> Option<Distribution> {
    let rows: Vec<&Row> = rows.collect();
    (!rows.is_empty()).then(|| Distribution {
        of: of.to_owned(),
        pages: Some(rows.len()),
        resources: percentiles(&rows, |it| it.resources as u64),
        bytes: percentiles(&rows, |it| it.bytes),
    })
}

/// The corpus of the paper (section 4.2), and the web (HTTP Archive, Web Almanac 2024, "Page Weight",
/// desktop).
fn published() -> Vec<Distribution> {
    let unknown = Percentiles::default();
    vec![
        Distribution {
            of: "Marx et al. 2019".to_owned(),
            pages: Some(41),
            resources: Percentiles { min: Some(10), max: Some(214), ..unknown },
            bytes: Percentiles { min: Some(29_000), max: Some(7_400_000), ..unknown },
        },
        Distribution {
            of: "HTTP Archive 2024".to_owned(),
            pages: None,
            resources: Percentiles {
                min: None,
                p10: Some(24),
                p25: Some(42),
                p50: Some(71),
                p75: Some(115),
                p90: Some(176),
                max: None,
            },
            bytes: Percentiles { p50: Some(2_652_000), ..unknown },
        },
    ]
}

/// Each percentile is a value of the set: the nearest rank.
fn percentiles(values: impl Iterator<Item = u64>) -> Percentiles {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    Percentiles::at(|percent| {
        let rank = (values.len() * percent).div_ceil(100).max(1);
        values.get(rank - 1).copied()
    })
}

/// The smallest value that covers this share of the weight. Weights sum to 1.
fn weighted_percentiles(mut values: Vec<(u64, f64)>) -> Percentiles {
    values.sort_by_key(|it| it.0);
    Percentiles::at(|percent| {
        let mut sum = 0.0;
        for (value, weight) in &values {
            sum += weight;
            // Tolerates rounding.
            if sum >= percent as f64 / 100.0 - 1e-9 {
                return Some(*value);
            }
        }
        values.last().map(|it| it.0)
    })
}

impl Percentiles {
    fn at(percent: impl Fn(usize) -> Option<u64>) -> Self {
        let [min, p10, p25, p50, p75, p90, max] = [0, 10, 25, 50, 75, 90, 100].map(percent);
        Self { min, p10, p25, p50, p75, p90, max }
    }
}

fn row(page: &Page, weight: f64) -> Row {
    let recording = page.source.recording.as_ref();
    Row {
        name: page.name.clone(),
        source: page.source.kind,
        site: page.site().to_owned(),
        weight,
        resources: page.resources.len(),
        bytes: page.body_bytes(),
        atf_resources: page.resources.iter().filter(|it| it.above_fold).count(),
        depth: discovery::depth(page),
        recording_error_ms: recording.map(|it| it.unseen_ms.unwrap_or(it.left_out_ms)),
    }
}

fn spread(values: impl Iterator<Item = u64>) -> Spread {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    let (Some(&min), Some(&max)) = (values.first(), values.last()) else {
        return Spread::default();
    };
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    Spread { min, median: f64::midpoint(low as f64, high as f64), max }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        assert_eq!(spread([7, 1, 4, 2].into_iter()), Spread { min: 1, median: 3.0, max: 7 });
        assert_eq!(spread([7, 1, 4].into_iter()), Spread { min: 1, median: 4.0, max: 7 });
        assert_eq!(spread([].into_iter()), Spread::default());
    }

    #[test]
    fn percentiles_are_values_of_the_set() {
        let ten = percentiles(1..=10);
        assert_eq!((ten.min, ten.p10, ten.p25, ten.p50), (Some(1), Some(1), Some(3), Some(5)));
        assert_eq!((ten.p75, ten.p90, ten.max), (Some(8), Some(9), Some(10)));
        assert_eq!(percentiles(std::iter::empty()), Percentiles::default());
    }

    #[test]
    fn weighted_percentiles_are_values_of_the_set() {
        let few = weighted_percentiles(vec![(30, 0.1), (10, 0.6), (20, 0.3)]);
        assert_eq!((few.min, few.p10, few.p50, few.p75), (Some(10), Some(10), Some(10), Some(20)));
        assert_eq!((few.p90, few.max), (Some(20), Some(30)));
    }

    #[test]
    fn all_bundled_pages_weighted_as_the_web_have_its_percentiles_within_7_percent() {
        let stats = stats(crate::PageSet::find("all").unwrap().pages());
        let web = &stats.distributions[1];
        assert_eq!((web.of.as_str(), web.pages), ("all, weighted as the web", Some(104)));
        let found = [web.resources.p10, web.resources.p25, web.resources.p50, web.resources.p75];
        let found = [&found[..], &[web.resources.p90, web.bytes.p50]].concat();
        for (found, published) in found.into_iter().zip([24, 42, 71, 115, 176, 2_652_000]) {
            let ratio = found.unwrap() as f64 / f64::from(published);
            assert!((0.93..=1.07).contains(&ratio), "{found:?} for {published}");
        }
    }

    #[test]
    fn a_cluster_has_the_weight_of_its_pages() {
        let stats = stats(crate::PageSet::find("all").unwrap().pages());
        let kicad = stats.clusters.iter().find(|it| it.site == "kicad").unwrap();
        let rows = stats.rows.iter().filter(|it| it.site == "kicad");
        assert_eq!(kicad.pages, 3);
        assert!((kicad.weight - rows.map(|it| it.weight).sum::<f64>()).abs() < 1e-12);
        assert!((stats.clusters.iter().map(|it| it.weight).sum::<f64>() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_davies_meenan_page_is_counted() {
        let page = crate::bundled("davies-meenan").unwrap();
        let stats = Stats {
            distributions: Vec::new(),
            clusters: Vec::new(),
            published: Vec::new(),
            ..stats([page])
        };
        let text = serde_json::to_string(&stats).unwrap();
        assert_eq!(
            text,
            "{\"pages\":1,\"by_source\":{\"recorded\":0,\"imported\":0,\"generated\":0,\"hand\":1},\
             \"resources\":{\"min\":9,\"median\":9.0,\"max\":9},\
             \"bytes\":{\"min\":1580000,\"median\":1580000.0,\"max\":1580000},\
             \"distributions\":[],\"web\":{\"covered\":0.0,\"effective_sites\":0.0},\"clusters\":[],\"published\":[],\
             \"rows\":[{\"name\":\"davies-meenan\",\"source\":\"hand\",\"site\":\"davies-meenan\",\"weight\":0.0,\"resources\":9,\
             \"bytes\":1580000,\"atf_resources\":5,\"depth\":2}]}"
        );
    }
}
