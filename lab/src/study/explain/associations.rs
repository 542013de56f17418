//! How the gain of a scheme varies with each fact of pages alone: a regression with a constant for each setting. Facts of pages
//! are correlated and sites are few, so one regression with all facts would show less.
//!
//! Chance comes from facts that are shuffled among sites: often a single site has most of a fact, and errors by clusters would
//! be too small. A p is the share of shuffles in which any fact goes with the gain as closely (Westfall and Young, Resampling-Based
//! Multiple Testing, 1993, section 2.3). A study has at least 12 sites, so there are too many shuffles to try all.

use super::cases::Cases;
use super::chance::{Shuffler, random};
use super::tree::EQUAL;
use crate::study::statistics::Interval;
use corpus::facts::NUMBERS;
use rayon::prelude::*;
use serde::Serialize;

/// The number of shuffles: the smallest p is 0.0005.
const SHUFFLES: u64 = 1999;

/// A slope lies in the 95 % interval if at least this many shuffles are as far from it as the study: 5 % of all, the study included.
const OUTSIDE: usize = 100;

/// How the gain of a scheme varies with a fact.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Association {
    /// The fact's name.
    pub fact: String,
    /// The factor by which the speedup changes when the fact grows by a standard deviation. Counts are compared by their
    /// logarithms.
    pub ratio: f64,
    /// Its 95 % interval; `None` if too few sites differ in the fact.
    pub interval: Option<Interval>,
    /// The share of shuffles, including the study itself, in which any fact has as large an effect.
    pub p: f64,
}

/// One row for each fact in which pages differ.
pub(super) fn associations(cases: &Cases, gains: &[f64]) -> Vec<Association> {
    let regression = Regression::new(cases, gains);
    let own: Vec<usize> = (0..cases.pages.len()).collect();
    let all: Vec<usize> = (0..cases.all.len()).collect();
    let shuffler = Shuffler::new(cases, &all);
    let shuffles = (0..SHUFFLES).into_par_iter();
    let shuffles = shuffles
        .map(|it| regression.slopes(&shuffler.shuffled(&mut random(it)).page_of))
        .collect::<Vec<_>>();
    let steepest = shuffles.iter().map(|slopes| {
        let sizes = slopes.iter().map(|it| it.gain.abs());
        sizes.fold(0.0, f64::max)
    });
    let steepest: Vec<f64> = steepest.collect();
    let slopes = regression.slopes(&own).into_iter().map(|it| it.gain);
    let rows = regression.facts.iter().zip(slopes).enumerate().map(|(place, (fact, slope))| {
        let as_steep = steepest.iter().filter(|it| **it >= slope.abs() - EQUAL).count();
        Association {
            fact: fact.name.to_owned(),
            ratio: slope.exp(),
            interval: interval(slope, shuffles.iter().map(|it| it[place])),
            p: (as_steep + 1) as f64 / (shuffles.len() + 1) as f64,
        }
    });
    rows.collect()
}

/// The regressions of a study's gains over each fact. Sums over cases are kept by page, because facts belong to pages.
struct Regression<'a> {
    cases: &'a Cases,
    /// By case; they add up to 1.
    weights: Vec<f64>,
    /// By page, the sum over its cases of the gain minus the mean of the setting.
    gains: Vec<f64>,
    facts: Vec<Values>,
}

/// The values of a fact in which pages differ.
struct Values {
    name: &'static str,
    by_page: Vec<f64>,
    /// By page, the sum over its cases of the value minus the mean of the setting, in standard deviations.
    sums: Vec<f64>,
}

/// The slopes of the gain, and of the fact itself, over a shuffled fact.
#[derive(Clone, Copy, Default)]
struct Slopes {
    gain: f64,
    fact: f64,
}

impl<'a> Regression<'a> {
    fn new(cases: &'a Cases, gains: &[f64]) -> Self {
        let weights = cases.weights().into_iter().map(|it| it / cases.sites as f64).collect();
        let mut regression = Self { cases, weights, gains: Vec::new(), facts: Vec::new() };
        regression.gains = regression.sums(gains);
        let facts = NUMBERS.iter().enumerate().filter_map(|(place, fact)| {
            let values = cases.pages.iter().map(|page| {
                let value = page.values[place];
                if fact.name.ends_with("_share") { value } else { value.ln_1p() }
            });
            let by_page: Vec<f64> = values.collect();
            // Small numbers, so that their squares are exact enough.
            let first = by_page[0];
            let by_page: Vec<f64> = by_page.iter().map(|it| it - first).collect();
            let deviation = regression.deviation(&by_page)?;
            let by_case = cases.all.iter().map(|it| by_page[it.page] / deviation);
            let sums = regression.sums(&by_case.collect::<Vec<_>>());
            Some(Values { name: fact.name, by_page, sums })
        });
        regression.facts = facts.collect();
        regression
    }

    /// The slopes over each fact, where each page has the facts of the page at `page_of`.
    fn slopes(&self, page_of: &[usize]) -> Vec<Slopes> {
        let slopes = self.facts.iter().map(|fact| {
            let shuffled: Vec<f64> = page_of.iter().map(|it| fact.by_page[*it]).collect();
            let slope = |of: &[f64], deviation| product(&shuffled, of) / deviation;
            let Some(deviation) = self.deviation(&shuffled) else { return Slopes::default() };
            Slopes { gain: slope(&self.gains, deviation), fact: slope(&fact.sums, deviation) }
        });
        slopes.collect()
    }

    /// The standard deviation of a fact within settings; `None` if it is the same everywhere.
    fn deviation(&self, by_page: &[f64]) -> Option<f64> {
        let mut of_links = vec![[0.0; 2]; self.cases.links.len()];
        let mut squares = 0.0;
        for (case, weight) in self.cases.all.iter().zip(&self.weights) {
            let value = by_page[case.page];
            let [sum, weights] = &mut of_links[case.link];
            *sum += weight * value;
            *weights += weight;
            squares += weight * value * value;
        }
        let of_means: f64 = of_links.iter().map(|[sum, weights]| sum * sum / weights).sum();
        Some((squares - of_means).max(0.0).sqrt()).filter(|it| *it > 1e-6)
    }

    /// By page, the weighted sum over its cases of a value minus the mean of the setting.
    fn sums(&self, values: &[f64]) -> Vec<f64> {
        let weighted = || self.cases.all.iter().zip(&self.weights).zip(values);
        let mut of_links = vec![[0.0; 2]; self.cases.links.len()];
        for ((case, weight), value) in weighted() {
            let [sum, weights] = &mut of_links[case.link];
            *sum += weight * value;
            *weights += weight;
        }
        let mut sums = vec![0.0; self.cases.pages.len()];
        for ((case, weight), value) in weighted() {
            let [sum, weights] = of_links[case.link];
            sums[case.page] += weight * (value - sum / weights);
        }
        sums
    }
}

/// The scalar product.
fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// The slopes that shuffles do not contradict. If the true slope is `b`, then gains minus `b` times the fact do not depend on it.
/// Their slope is `slope - b` in the study, and `gain - b * fact` in a shuffle, which is as steep for each `b` between two ends.
fn interval(slope: f64, shuffles: impl Iterator<Item = Slopes>) -> Option<Interval> {
    let ends = shuffles.map(|Slopes { gain, fact }| {
        let apart = gain - slope * fact;
        if 1.0 - fact.abs() > EQUAL {
            (apart / (fact - 1.0), apart / (fact + 1.0))
        } else {
            (f64::NEG_INFINITY, f64::INFINITY)
        }
    });
    let ends = ends.map(|(one, other)| (one.min(other), one.max(other)));
    let (mut below, mut above): (Vec<f64>, Vec<f64>) = ends.unzip();
    below.sort_by(f64::total_cmp);
    above.sort_by(|one, other| other.total_cmp(one));
    let ends = [below, above].map(|it| slope + it[OUTSIDE - 1]);
    ends.iter().all(|it| it.is_finite()).then(|| ends.map(f64::exp))
}
