//! Weights that make a set of pages represent the pages of the web.
//!
//! The population is the desktop pages of the HTTP Archive (Web Almanac 2024, "Page Weight"). Its strata lie between the
//! published percentiles of requests, and below and above the published median of bytes. The pages are not a sample of it: they
//! come from clusters, each a site or a template, that happened to be available. So clusters count equally at first, and the
//! pages of each share its weight; then the strata are scaled to their shares of the population (raking: Deming and Stephan
//! 1940).

use crate::page::{Page, SourceKind};
use std::collections::BTreeMap;

/// The greatest value of a stratum, and the share of the population up to it.
type Border = (f64, f64);

/// Requests of a page: the published percentiles 10, 25, 50, 75 and 90.
const REQUESTS: [Border; 5] = [(24.0, 0.1), (42.0, 0.25), (71.0, 0.5), (115.0, 0.75), (176.0, 0.9)];
/// Bytes of a page: the only published percentile.
const BYTES: [Border; 1] = [(2_652_000.0, 0.5)];

/// Bundled pages at the ends of the range of the paper's corpus.
const EXTREMES: [&str; 2] = ["generated-small", "generated-large"];

/// Rounds of raking: its steps shrink fast, and a thousand rounds take less than a millisecond.
const ROUNDS: usize = 1000;

/// How much each page of a set counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// The weight of each page, in the order of the pages. They sum to 1, or are all 0 if no page represents the web.
    pub pages: Vec<f64>,
    /// The share of the web's pages whose strata of requests have a page in the set. The others are not represented.
    pub covered: f64,
}

impl Weights {
    /// The number of equally weighted sites with the same information (Kish 1965): 1 / sum of the squares of the sites' weights.
    pub fn effective_sites(&self, pages: &[&Page]) -> f64 {
        let mut sites: BTreeMap<&str, f64> = BTreeMap::new();
        for (page, weight) in pages.iter().zip(&self.pages) {
            *sites.entry(page.site()).or_default() += weight;
        }
        let squares: f64 = sites.values().map(|it| it * it).sum();
        if squares > 0.0 { 1.0 / squares } else { 0.0 }
    }
}

/// Whether a page represents pages of the web: handmade pages, such as examples of papers, and the ends of a paper's range do
/// not.
pub fn stands_for_the_web(page: &Page) -> bool {
    page.source.kind != SourceKind::Hand && !EXTREMES.contains(&page.name.as_str())
}

/// The weights of these pages as pages of the web.
pub fn web(pages: &[&Page]) -> Weights {
    let mut sites: BTreeMap<&str, f64> = BTreeMap::new();
    for page in pages.iter().filter(|page| stands_for_the_web(page)) {
        *sites.entry(page.site()).or_default() += 1.0;
    }
    let first_weights = pages
        .iter()
        .map(|page| if stands_for_the_web(page) { 1.0 / sites[page.site()] } else { 0.0 });
    let mut weights: Vec<f64> = first_weights.collect();
    let by_requests = Strata::new(pages.iter().map(|it| it.resources.len() as f64), &REQUESTS);
    let by_bytes = Strata::new(pages.iter().map(|it| it.body_bytes() as f64), &BYTES);
    let covered = by_requests.covered(&weights);
    rake(&mut weights, &[by_bytes, by_requests], ROUNDS);
    Weights { pages: weights, covered }
}

/// Scales weights to the shares of all `strata` in turn; the last one is met exactly. Weights of 0 stay 0.
fn rake(weights: &mut [f64], strata: &[Strata], rounds: usize) {
    for _ in 0..rounds {
        for it in strata {
            it.rake(weights);
        }
    }
}

#[derive(Debug, Clone)]
struct Strata {
    /// The stratum of each page.
    of: Vec<usize>,
    /// The share of the population in each.
    shares: Vec<f64>,
}

impl Strata {
    /// The strata of pages with these values. The values beyond the last of `borders`, which ascend, also form a stratum.
    fn new(values: impl Iterator<Item = f64>, borders: &[Border]) -> Self {
        let of = values.map(|value| borders.partition_point(|it| it.0 < value)).collect();
        let mut below = 0.0;
        let ends = borders.iter().map(|it| it.1).chain([1.0]);
        let shares = ends.map(|end| end - std::mem::replace(&mut below, end)).collect();
        Self { of, shares }
    }

    fn sums(&self, weights: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.shares.len()];
        for (stratum, weight) in self.of.iter().zip(weights) {
            sums[*stratum] += weight;
        }
        sums
    }

    fn covered(&self, weights: &[f64]) -> f64 {
        let sums = self.sums(weights);
        self.shares.iter().zip(sums).filter(|it| it.1 > 0.0).fold(0.0, |sum, it| sum + it.0)
    }

    /// Scales each stratum with pages to its share among those with pages.
    fn rake(&self, weights: &mut [f64]) {
        let covered = self.covered(weights);
        let sums = self.sums(weights);
        for (stratum, weight) in self.of.iter().zip(weights) {
            if *weight > 0.0 {
                *weight *= self.shares[*stratum] / covered / sums[*stratum];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PageSet, bundled, kept_pages};

    fn all() -> Vec<&'static Page> {
        PageSet::find("all").unwrap().pages()
    }

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-6
    }

    #[test]
    fn all_bundled_pages_weighted_have_the_webs_strata_of_requests_and_bytes() {
        for pages in [all(), PageSet::find("web").unwrap().pages()] {
            let weights = web(&pages);
            assert!(near(weights.covered, 1.0) && near(weights.pages.iter().sum(), 1.0));
            let share = |is_in: &dyn Fn(&Page) -> bool| -> f64 {
                let of = pages.iter().zip(&weights.pages).filter(|it| is_in(it.0));
                of.map(|it| it.1).sum()
            };
            for (most, below) in REQUESTS {
                assert!(
                    near(share(&|it| it.resources.len() as f64 <= most), below),
                    "{most} requests"
                );
            }
            assert!((share(&|it| it.body_bytes() <= 2_652_000) - 0.5).abs() < 1e-3);
        }
    }

    #[test]
    fn examples_of_papers_stand_for_no_page_of_the_web() {
        let pages = all();
        let weights = web(&pages);
        let none: Vec<&str> = pages
            .iter()
            .zip(&weights.pages)
            .filter(|it| *it.1 == 0.0)
            .map(|it| it.0.name.as_str())
            .collect();
        let expected = [
            "all-heuristics",
            "case-study-1",
            "case-study-2",
            "davies-meenan",
            "davies-meenan-public",
            "generated-large",
            "generated-small",
        ];
        assert_eq!(none, expected);
        let hand = web(&[bundled("davies-meenan").unwrap()]);
        assert_eq!(hand, Weights { pages: vec![0.0], covered: 0.0 });
    }

    #[test]
    fn pages_of_one_site_in_one_stratum_share_what_a_page_alone_has() {
        // A page of reveal.js alone and two of sb-admin, all small and with 24 resources or fewer.
        let names = ["reveal-demo", "sb-admin-index", "sb-admin-tables"];
        let pages: Vec<&Page> = names.iter().map(|it| bundled(it).unwrap()).collect();
        let weights = web(&pages);
        assert!(near(weights.covered, 0.1), "only the smallest tenth of the web is there");
        let expected = [0.5, 0.25, 0.25];
        assert!(weights.pages.iter().zip(expected).all(|it| near(*it.0, it.1)), "{weights:?}");
        assert!(near(weights.effective_sites(&pages), 2.0));
    }

    #[test]
    fn the_first_sixty_pages_tell_less_of_the_web_than_all_of_them() {
        let first = kept_pages();
        let effective = |pages: &[&Page]| web(pages).effective_sites(pages);
        let (of_first, of_all) = (effective(&first), effective(&all()));
        assert!(of_first < of_all, "{of_first} and {of_all}");
    }
}
