//! Every scheme compared with every other one.

use crate::Contender;
use crate::study::compute::comparisons::{judge, rows_over};
use crate::study::{ComparisonRow, Pages, Plan, Study};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use std::collections::BTreeMap;

impl Study {
    /// Fills `pairs`: of two schemes, the first one of the plan stands for the baseline, and the plan's baseline is before all
    /// others. The family of the adjusted p is all pairs of a setting. Schemes that failed have no rows, and of
    /// duplicates only the representative has some.
    pub fn compare_pairs(&mut self, plan: &Plan) {
        let failed = self.runs.iter().filter(|it| it.has_failed_scheme());
        let failed: Vec<&String> = failed.map(|it| &it.scheme).collect();
        let mut schemes: Vec<&str> = plan.schemes.iter().map(Contender::name).collect();
        schemes.retain(|it| {
            !self.twins.contains_key(*it) && !failed.iter().any(|failed| failed == it)
        });
        schemes.sort_by_key(|it| *it != plan.baseline);
        let pages = Pages::of(plan, self.weights.as_ref(), &self.twins);
        let rows = schemes.par_iter().enumerate().flat_map_iter(|(place, first)| {
            let later = &schemes[place + 1..];
            rows_over(&self.runs, plan.metric, first, &pages, |it| later.contains(&&*it.scheme))
        });
        let mut pairs: Vec<ComparisonRow> = rows.collect();
        judge(&mut pairs, &BTreeMap::new());
        self.pairs = pairs;
    }
}
