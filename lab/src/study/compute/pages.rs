//! The pages of a study as its statistics count them: by sites and weights, with the settings and schemes that change nothing.

use crate::study::compute::summary::LoadSpeedups;
use crate::study::{PageWeights, Plan, Setting};
use qlog_tools::metrics::Set;
use std::collections::{BTreeMap, BTreeSet};

/// Facts that a summary needs besides loads.
pub struct Pages<'a> {
    /// The site of a page.
    pub site_of: Box<dyn Fn(&'a str) -> &'a str + Sync + 'a>,
    /// The weight of a page. A page with weight 0 counts only in `unfinished`.
    pub weight_of: Box<dyn Fn(&'a str) -> f64 + Sync + 'a>,
    /// The settings in which all seeds give the same load.
    pub certain: BTreeSet<Setting>,
    /// The schemes that are duplicates under two names, each with its representative.
    pub twins: BTreeMap<String, String>,
}

impl<'a> Pages<'a> {
    /// Pages with randomness in every setting, under schemes that all differ.
    pub fn new(
        site_of: impl Fn(&'a str) -> &'a str + Sync + 'a,
        weight_of: impl Fn(&'a str) -> f64 + Sync + 'a,
    ) -> Self {
        let (site_of, weight_of) = (Box::new(site_of), Box::new(weight_of));
        Self { site_of, weight_of, certain: BTreeSet::new(), twins: BTreeMap::new() }
    }

    /// The pages of a plan, by its sites, weights, and links.
    pub(crate) fn of(
        plan: &'a Plan,
        weights: Option<&'a PageWeights>,
        twins: &BTreeMap<String, String>,
    ) -> Self {
        let weight_of = move |page: &str| PageWeights::weight_of(weights, page);
        let certain = plan.certain_settings();
        Self { certain, twins: twins.clone(), ..Self::new(|it| plan.site_of(it), weight_of) }
    }

    /// Whether seeds affect loads in a setting.
    pub(crate) fn has_chance(&self, setting: &Setting) -> bool {
        !self.certain.contains(setting)
    }

    pub(crate) fn sites(&self, pages: impl Iterator<Item = &'a str>) -> usize {
        pages.map(|it| (self.site_of)(it)).collect::<BTreeSet<_>>().len()
    }

    /// The number of pages with a speedup of a set, and of their sites; `None` without any.
    pub(crate) fn counts(&self, speedups: &LoadSpeedups<'a>, set: Set) -> Option<(usize, usize)> {
        let pages =
            speedups.iter().filter(|(_, loads)| loads.iter().any(|it| it.get(set).is_some()));
        let pages: Vec<&str> = pages.map(|(page, _)| *page).collect();
        (!pages.is_empty()).then(|| (pages.len(), self.sites(pages.into_iter())))
    }
}
