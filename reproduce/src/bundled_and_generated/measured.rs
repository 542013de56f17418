//! The record of a page: its properties, and how it gains from each scheme.

use crate::{Estimate, ReproduceError, in_parallel, scheme};
use corpus::page::Event;
use corpus::{Page, discovery};
use lab::ideal::{self, Conditions};
use lab::network::Network;
use lab::study::statistics::bootstrap::{bootstrap_mean, bootstrap_several};
use lab::study::statistics::{self, Interval};
use lab::study::{RunRecord, by_site};
use qlog_tools::metrics;
use schedulers::Scheme;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A page that was loaded.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    pub(super) site: String,
    pub(super) resources: f64,
    pub(super) kilobytes: f64,
    /// The share of its bytes that are above the fold.
    pub(super) above_fold: f64,
    /// Whether it has a hero image: 0 or 1.
    pub(super) hero: f64,
    /// The share of its resources that the document's text does not name.
    pub(super) late: f64,
    pub(super) depth: f64,
    /// A number between 0 and 1 that says nothing of the page: a digest of its name.
    pub(super) chance: f64,
    /// The ATF speedup over `rr`, by scheme.
    pub(super) speedups: BTreeMap<String, f64>,
}

/// Loads `pages` under `schemes`, the first of which is the baseline, on engine `ideal` and network `paper`.
pub(super) fn measure(
    pages: &[Arc<Page>],
    schemes: &[&str],
    jobs: usize,
) -> Result<Vec<Measured>, ReproduceError> {
    let schemes: Vec<Scheme> = schemes.iter().map(|it| scheme(it)).collect::<Result<_, _>>()?;
    let network = Network::find("paper").map_err(ReproduceError::unusable)?;
    in_parallel(jobs, pages, |it| Ok(measured(it, &schemes, &network)))
}

fn measured(page: &Arc<Page>, schemes: &[Scheme], network: &Network) -> Measured {
    let indices = schemes.iter().map(|scheme| {
        let load = ideal::load(page, scheme, network, Conditions::default());
        RunRecord::of_load(page, &load).byte_index().atf
    });
    let indices: Vec<Option<f64>> = indices.collect();
    let mut speedups = BTreeMap::new();
    for (scheme, index) in schemes.iter().zip(&indices).skip(1) {
        let speedup = metrics::byte_index().speedup(indices[0], *index);
        speedups.extend(speedup.map(|it| (scheme.name.clone(), it)));
    }
    let all_bytes = page.resources.iter().map(|it| it.bytes).sum::<u64>() as f64;
    let atf = page.resources.iter().filter(|it| it.above_fold);
    let atf_bytes = atf.map(|it| it.bytes).sum::<u64>() as f64;
    let digest = corpus::sha256_hex(page.name.as_bytes());
    let chance = u32::from_str_radix(&digest[..8], 16).unwrap_or_default();
    Measured {
        site: page.site().to_owned(),
        resources: page.resources.len() as f64,
        kilobytes: all_bytes / 1000.0,
        above_fold: atf_bytes / all_bytes.max(1.0),
        hero: f64::from(u8::from(page.resources.iter().any(|it| it.hero))),
        late: late_share(page),
        depth: discovery::depth(page) as f64,
        chance: f64::from(chance) / f64::from(u32::MAX),
        speedups,
    }
}

/// The share of a page's resources that the document's text does not name.
pub(super) fn late_share(page: &Page) -> f64 {
    let others = &page.resources[1..];
    let named = others.iter().filter(|it| it.trigger.on == Event::Bytes && it.trigger.of == 0);
    1.0 - named.count() as f64 / others.len().max(1) as f64
}

fn speedups<'a>(pages: &'a [Measured], scheme: &str) -> Vec<(&'a str, f64)> {
    pages.iter().filter_map(|it| Some((it.site.as_str(), *it.speedups.get(scheme)?))).collect()
}

fn values(pages: &[Measured], scheme: &str) -> Vec<f64> {
    pages.iter().filter_map(|it| it.speedups.get(scheme).copied()).collect()
}

pub(super) fn mean(pages: &[Measured], scheme: &str) -> Option<f64> {
    statistics::mean(&values(pages, scheme))
}

/// The mean without the pages that gain most.
pub(super) fn mean_without_best(pages: &[Measured], scheme: &str, best: usize) -> Option<f64> {
    let mut values = values(pages, scheme);
    values.sort_by(f64::total_cmp);
    values.truncate(values.len().saturating_sub(best));
    statistics::mean(&values)
}

pub(super) fn geometric_mean(pages: &[Measured], scheme: &str) -> Option<f64> {
    statistics::geometric_mean(&values(pages, scheme))
}

/// The mean with its 95 % interval; the pages of a site are drawn together.
pub(super) fn mean_estimate(pages: &[Measured], scheme: &str) -> Estimate {
    let interval = bootstrap_mean(&by_site(&speedups(pages, scheme), |site| site));
    Estimate::new(mean(pages, scheme), interval)
}

/// The 95 % interval of a statistic of the means of two or more sets: the sites of each are drawn.
pub(super) fn interval_of_means<const N: usize>(
    sets: [&[Measured]; N],
    scheme: &str,
    statistic: impl Fn([f64; N]) -> f64,
) -> Option<Interval> {
    let sites = sets.map(|it| by_site(&speedups(it, scheme), |site| site));
    let counts: [usize; N] = std::array::from_fn(|it| sites[it].len());
    bootstrap_several(counts, |drawn| {
        let means: [f64; N] = std::array::from_fn(|set| {
            let values = drawn[set].iter().flat_map(|it| &sites[set][*it]);
            values.clone().sum::<f64>() / values.count() as f64
        });
        Some(statistic(means))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_properties_and_speedups_over_the_first_scheme() {
        let page = Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone());
        let found = measure(&[page], &["rr", "rfc9218"], 1).expect("a load").remove(0);
        assert_eq!((found.resources, found.kilobytes, found.depth), (9.0, 1580.0, 2.0));
        assert_eq!((found.late, found.hero), (0.0, 1.0));
        assert!((found.above_fold - 0.16).abs() < 0.01, "{}", found.above_fold);
        assert_eq!(found.speedups.keys().collect::<Vec<_>>(), ["rfc9218"]);
    }
}
