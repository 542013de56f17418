//! How many pages have a value of the study's metric, and why others lack one.

use crate::above_fold;
use crate::study::compute::unfinished::unfinished_condition;
use crate::study::{Plan, RunRecord};
use corpus::Page;
use qlog_tools::metrics::{Metric, Set};
use std::collections::{BTreeMap, BTreeSet};

/// A sentence about loads that did not finish, and one for each set of resources in which a page has no value; empty if all have
/// one.
pub fn missing(plan: &Plan, runs: &[RunRecord]) -> Vec<String> {
    let sets = if plan.metric.is_of_page() { &[Set::Atf][..] } else { &[Set::Atf, Set::All] };
    let of_sets = sets.iter().filter_map(|set| of_set(plan, runs, *set));
    unfinished_condition(runs).into_iter().chain(of_sets).collect()
}

fn of_set(plan: &Plan, runs: &[RunRecord], set: Set) -> Option<String> {
    let metric = plan.metric;
    let finished = runs.iter().filter(|it| it.completed);
    let loaded: BTreeSet<&str> = finished.clone().map(|it| &*it.page).collect();
    let with_value = finished.filter(|it| it.metrics.get(metric).get(set).is_some());
    let known: BTreeSet<&str> = with_value.map(|it| &*it.page).collect();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for page in &plan.pages {
        let why = match &*page.name {
            name if known.contains(name) => continue,
            name if loaded.contains(name) => reason(page, metric, set),
            _ => UNLOADED,
        };
        *reasons.entry(why).or_default() += 1;
    }
    if reasons.is_empty() {
        return None;
    }
    let place = match set {
        _ if metric.is_of_page() => "",
        Set::Atf => " above the fold",
        Set::All => " of all resources",
    };
    let what = format!("{}{place}", metric.heading);
    if let ([page], Some((why, _))) = (&plan.pages[..], reasons.first_key_value()) {
        return Some(format!("page {} has no {what}, because it has {why}", page.name));
    }
    let sites_with: BTreeSet<&str> = known.iter().map(|it| plan.site_of(it)).collect();
    let sites: BTreeSet<&str> = plan.pages.iter().map(|it| plan.site_of(&it.name)).collect();
    let reasons: Vec<String> =
        reasons.iter().map(|(why, pages)| format!("{pages} with {why}")).collect();
    Some(format!(
        "{} of {} pages ({} of {} sites) have a value of {what}; left out: {}",
        known.len(),
        plan.pages.len(),
        sites_with.len(),
        sites.len(),
        reasons.join(", ")
    ))
}

const UNLOADED: &str = "no load that finished";

/// The missing facts of the page for a metric.
fn reason(page: &Page, metric: &Metric, set: Set) -> &'static str {
    let has_hero = page.resources.iter().any(|it| it.hero);
    match metric.name {
        "hero_render" if !has_hero => "no hero image",
        _ if !metric.is_of_page() && set == Set::Atf && above_fold(page).is_empty() => {
            "nothing above the fold"
        }
        _ => "no value in any load",
    }
}
