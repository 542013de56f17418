//! Pages under the paper's schemes, with and without send buffers: the loads behind Table 2, Figure 12 and the case
//! studies. Only each load's indices are kept.

use super::load;
use crate::{Estimate, ReproduceError, in_parallel};
use corpus::Page;
use lab::ideal::{Conditions, SendBufferModel};
use lab::study::statistics::bootstrap::{bootstrap, bootstrap_geometric_mean, bootstrap_mean};
use lab::study::statistics::{Interval, equal};
use lab::study::{RunRecord, by_site, statistics};
use qlog_tools::metrics::{self, BySet};
use schedulers::{Kind, paper_schemes};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A send buffer; 0 bytes mean no buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Buffer {
    pub(super) bytes: u64,
    model: SendBufferModel,
}

impl Buffer {
    pub(super) const NONE: Self = Self::fifo(0);
    pub(super) const K1000: Self = Self::fifo(1_000_000);

    /// Bytes between scheduler and transport.
    pub(super) const fn fifo(bytes: u64) -> Self {
        Self { bytes, model: SendBufferModel::Fifo }
    }

    /// Requests are late by the time that a full buffer takes to drain.
    pub(super) const fn delay(bytes: u64) -> Self {
        Self { bytes, model: SendBufferModel::Delay }
    }

    fn conditions(self) -> Conditions {
        let Self { bytes: send_buffer_bytes, model: send_buffer_model } = self;
        Conditions { send_buffer_bytes, send_buffer_model, ..Conditions::default() }
    }
}

/// A kind of speedup over `rr`: its resources, its send buffer, and the send buffer of `rr`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    index: fn(&BySet) -> Option<f64>,
    buffer: Buffer,
    rr_buffer: Buffer,
}

pub(super) const ALL: Measure =
    Measure { index: |it| it.all, buffer: Buffer::NONE, rr_buffer: Buffer::NONE };
pub(super) const ATF: Measure = Measure { index: |it| it.atf, ..ALL };
/// Resources above the fold, with the paper's largest send buffer.
pub(super) const ATF_1000K: Measure = ATF.buffered(Buffer::K1000);

impl Measure {
    /// The same with a send buffer, `rr` included.
    pub(super) const fn buffered(self, buffer: Buffer) -> Self {
        Self { buffer, rr_buffer: buffer, ..self }
    }

    /// The same over `rr` without a send buffer.
    pub(super) const fn over_unbuffered_rr(self) -> Self {
        Self { rr_buffer: Buffer::NONE, ..self }
    }
}

/// The paper's implementation of `firefox`, which differs from its text.
pub(super) const FIREFOX_AS_RUN: &str = "firefox@quicker";

/// The index of each load, sampled each 100 ms as the paper does.
pub(super) struct Matrix {
    pub(super) pages: Vec<Arc<Page>>,
    indices: BTreeMap<(String, String, Buffer), BySet>,
}

pub(super) type PageSpeedup<'a> = (&'a Arc<Page>, f64);

/// The names of the paper's eleven schemes, `rr` first.
pub(super) fn paper_names() -> Vec<String> {
    paper_schemes().iter().map(|it| it.name.clone()).collect()
}

/// The same, and `firefox` as the paper's implementation has it.
pub(super) fn scheme_names() -> Vec<String> {
    paper_names().into_iter().chain([FIREFOX_AS_RUN.to_owned()]).collect()
}

impl Matrix {
    pub(super) fn load(
        pages: &[Arc<Page>],
        buffers: &[Buffer],
        jobs: usize,
    ) -> Result<Self, ReproduceError> {
        Self::load_under(pages, buffers, &[FIREFOX_AS_RUN], jobs)
    }

    pub(super) fn load_under(
        pages: &[Arc<Page>],
        buffers: &[Buffer],
        others: &[&str],
        jobs: usize,
    ) -> Result<Self, ReproduceError> {
        let others = others.iter().map(|it| (*it).to_owned());
        let schemes: Vec<String> = paper_names().into_iter().chain(others).collect();
        let mut cells: Vec<(&Arc<Page>, String, Buffer)> = Vec::new();
        for page in pages {
            for scheme in &schemes {
                cells.extend(buffers.iter().map(|buffer| (page, scheme.clone(), *buffer)));
            }
        }
        let indices = in_parallel(jobs, &cells, |(page, scheme, buffer)| {
            let key = (page.name.clone(), scheme.clone(), *buffer);
            Ok((key, indices(page, scheme, *buffer)?))
        })?;
        Ok(Self { pages: pages.to_vec(), indices: indices.into_iter().collect() })
    }

    /// `rr`'s index divided by the scheme's, on one page.
    pub(super) fn speedup(&self, page: &str, scheme: &str, measure: Measure) -> Option<f64> {
        let loads = [("rr", measure.rr_buffer), (scheme, measure.buffer)];
        let [rr, own] = loads.map(|(scheme, buffer)| {
            let key = (page.to_owned(), scheme.to_owned(), buffer);
            (measure.index)(self.indices.get(&key)?)
        });
        metrics::byte_index().speedup(rr, own)
    }

    pub(super) fn speedups(&self, scheme: &str, measure: Measure) -> Vec<PageSpeedup<'_>> {
        let pages = self.pages.iter();
        pages.filter_map(|it| Some((it, self.speedup(&it.name, scheme, measure)?))).collect()
    }

    /// Their mean with its 95 % interval: a cell of Table 2.
    pub(super) fn mean_estimate(&self, scheme: &str, measure: Measure) -> Estimate {
        mean_estimate(&self.speedups(scheme, measure))
    }

    pub(super) fn estimate(&self, statistic: impl Fn(&[&Arc<Page>]) -> Option<f64>) -> Estimate {
        let all: Vec<&Arc<Page>> = self.pages.iter().collect();
        let sites = all.iter().map(|it| it.site());
        let interval = bootstrap_sites(sites, |places| {
            statistic(&places.iter().map(|it| all[*it]).collect::<Vec<_>>())
        });
        Estimate::new(statistic(&all), interval)
    }

    pub(super) fn mean(&self, scheme: &str, measure: Measure) -> Option<f64> {
        mean(&self.speedups(scheme, measure))
    }
}

pub(super) fn mean(speedups: &[PageSpeedup<'_>]) -> Option<f64> {
    statistics::mean(&speedups.iter().map(|it| it.1).collect::<Vec<_>>())
}

/// The mean with its 95 % interval; the pages of a site are drawn together.
pub(super) fn mean_estimate(speedups: &[PageSpeedup<'_>]) -> Estimate {
    Estimate::new(mean(speedups), mean_interval(speedups))
}

pub(super) fn mean_interval(speedups: &[PageSpeedup<'_>]) -> Option<Interval> {
    bootstrap_mean(&of_sites(speedups, |it| it))
}

pub(super) fn geometric_mean_estimate(speedups: &[PageSpeedup<'_>]) -> Estimate {
    let values: Vec<f64> = speedups.iter().map(|it| it.1).collect();
    Estimate::new(statistics::geometric_mean(&values), geometric_mean_interval(speedups))
}

/// The 95 % interval of the geometric mean; the pages of a site are drawn together.
pub(super) fn geometric_mean_interval(speedups: &[PageSpeedup<'_>]) -> Option<Interval> {
    let logarithms = of_sites(speedups, f64::ln);
    bootstrap_geometric_mean(&logarithms.iter().map(|it| equal(it)).collect::<Vec<_>>())
}

/// The 95 % interval of any statistic of pages, which has their places; the pages of a site are drawn together.
pub(super) fn bootstrap_sites<'a>(
    site_of_each: impl Iterator<Item = &'a str>,
    statistic: impl Fn(&[usize]) -> Option<f64>,
) -> Option<Interval> {
    let places: Vec<(&str, usize)> =
        site_of_each.enumerate().map(|(place, site)| (site, place)).collect();
    let sites = by_site(&places, |site| site);
    bootstrap(sites.len(), |drawn| {
        let places = drawn.iter().flat_map(|it| &sites[*it]).copied();
        statistic(&places.collect::<Vec<usize>>())
    })
}

fn of_sites(speedups: &[PageSpeedup<'_>], of: fn(f64) -> f64) -> Vec<Vec<f64>> {
    let pages: Vec<(&str, f64)> = speedups.iter().map(|it| (it.0.site(), of(it.1))).collect();
    by_site(&pages, |site| site)
}

/// The mean without the three highest.
pub(super) fn mean_of_all_but_three(speedups: &[PageSpeedup<'_>]) -> Option<f64> {
    let mut values: Vec<f64> = speedups.iter().map(|it| it.1).collect();
    values.sort_by(f64::total_cmp);
    values.truncate(values.len().saturating_sub(3));
    statistics::mean(&values)
}

pub(super) fn late_script_share(page: &Page) -> f64 {
    let late =
        page.resources.iter().filter(|it| Kind::of_mime(&it.mime) == Kind::Js && !it.above_fold);
    late.map(|it| it.bytes).sum::<u64>() as f64 / page.body_bytes().max(1) as f64
}

/// The indices of one load, sampled each 100 ms.
pub(super) fn indices(
    page: &Arc<Page>,
    scheme: &str,
    buffer: Buffer,
) -> Result<BySet, ReproduceError> {
    let load = load(page, scheme, "paper", buffer.conditions())?;
    let record = RunRecord::of_load(page, &load);
    let sampled = metrics::find("byte_index_sampled").map(|it| record.metrics.get(it));
    Ok(sampled.filter(|_| load.completed).unwrap_or_default())
}
