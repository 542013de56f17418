//! How the gain of a scheme varies with each fact of pages alone: a regression with a constant for each setting, whose intervals
//! allow for similar cases of a site (Cameron and Miller 2015, section II). Facts of pages are correlated and sites are few, so
//! one regression with all facts would show less.

use super::cases::Cases;
use crate::study::statistics::signed_ranks::holm;
use crate::study::statistics::{Interval, Weighted, weighted_mean};
use corpus::facts::NUMBERS;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// How the gain of a scheme varies with a fact.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Association {
    /// The fact's name.
    pub fact: String,
    /// The factor by which the speedup changes when the fact grows by a standard deviation. Counts are compared by their
    /// logarithms.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// The two-sided p, with Holm's adjustment for all facts.
    pub p: f64,
}

/// One row for each fact in which pages differ; empty with fewer than six sites.
pub(super) fn associations(cases: &Cases, gains: &[f64]) -> Vec<Association> {
    let weights = cases.weights();
    if cases.sites < super::SITES_MIN {
        return Vec::new();
    }
    let gains = within_settings(cases, gains, &weights);
    let rows = NUMBERS.iter().enumerate().filter_map(|(place, fact)| {
        let values = cases.all.iter().map(|case| {
            let value = cases.pages[case.page].values[place];
            if fact.name.ends_with("_share") { value } else { value.ln_1p() }
        });
        let values = within_settings(cases, &values.collect::<Vec<_>>(), &weights);
        let (slope, error) = slope(cases, &standardised(values, &weights)?, &gains, &weights);
        row(fact.name, slope, error, cases.sites)
    });
    let mut rows: Vec<Association> = rows.collect();
    let adjusted = holm(&rows.iter().map(|it| it.p).collect::<Vec<_>>());
    for (row, p) in rows.iter_mut().zip(adjusted) {
        row.p = p;
    }
    rows
}

fn row(fact: &str, slope: f64, error: f64, sites: usize) -> Option<Association> {
    let student = StudentsT::new(0.0, 1.0, sites as f64 - 1.0).ok()?;
    let far = student.inverse_cdf(0.975) * error;
    let p = if error > 0.0 { 2.0 * student.sf((slope / error).abs()) } else { 1.0 };
    let interval = [slope - far, slope + far].map(f64::exp);
    Some(Association { fact: fact.to_owned(), ratio: slope.exp(), interval, p })
}

/// Values minus the mean of their setting.
fn within_settings(cases: &Cases, values: &[f64], weights: &[f64]) -> Vec<f64> {
    let means = (0..cases.links.len()).map(|link| {
        let here = (0..values.len()).filter(|it| cases.all[*it].link == link);
        let here: Vec<Weighted> = here.map(|it| (values[it], weights[it])).collect();
        weighted_mean(&here).unwrap_or_default()
    });
    let means: Vec<f64> = means.collect();
    values.iter().zip(&cases.all).map(|(value, case)| value - means[case.link]).collect()
}

/// Centred values in units of their standard deviation; `None` if they are equal.
fn standardised(values: Vec<f64>, weights: &[f64]) -> Option<Vec<f64>> {
    let squares: Vec<Weighted> =
        values.iter().map(|it| it * it).zip(weights.iter().copied()).collect();
    let deviation = weighted_mean(&squares)?.sqrt();
    (deviation > 1e-9).then(|| values.into_iter().map(|it| it / deviation).collect())
}

/// The slope of centred values over other centred values, and its standard error with clusters by site.
fn slope(cases: &Cases, of: &[f64], values: &[f64], weights: &[f64]) -> (f64, f64) {
    let all = || of.iter().zip(values).zip(weights).enumerate();
    let squares: f64 = all().map(|(_, ((x, _), weight))| weight * x * x).sum();
    let slope = all().map(|(_, ((x, y), weight))| weight * x * y).sum::<f64>() / squares;
    let mut scores = vec![0.0; cases.sites];
    for (case, ((x, y), weight)) in all() {
        scores[cases.site(case)] += weight * x * (y - slope * x);
    }
    let sites = cases.sites as f64;
    let variance = scores.iter().map(|it| it * it).sum::<f64>() * sites / (sites - 1.0);
    (slope, variance.sqrt() / squares)
}
