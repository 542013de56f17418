//! The conclusion from the test of a scheme against the baseline.

use crate::study::{ComparisonRow, Plan, Study};
use qlog_tools::metrics::Set;

schedulers::named! {
    /// How a scheme compares with the baseline in a setting.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Verdict {
        /// The test names the scheme as the winner.
        Better = "better",
        /// Neither a difference nor equivalence is shown.
        Open = "not shown",
        /// The interval of the ratio lies within 2 % of 1.
        Equivalent = "within 2 %",
        /// The test names the baseline as the winner.
        Worse = "worse",
        /// There are too few pairs for a test.
        Untested = "no test",
        /// The scheme failed, or no load of it finished.
        Failed = "failed",
    }
}

/// Two schemes are equivalent if the interval of their ratio lies between this and its inverse. With a 95 % interval, this
/// amounts to two one-sided tests at 2.5 %.
const EQUIVALENT_MAX: f64 = 1.02;

impl ComparisonRow {
    /// The verdict for a set of resources.
    pub fn verdict(&self, set: Set) -> Verdict {
        let winner = self.winner.get(set);
        match (self.geometric_mean_ratio_interval.get(set), winner) {
            (None, _) => Verdict::Untested,
            (_, Some(winner)) if winner == self.scheme => Verdict::Better,
            (_, Some(_)) => Verdict::Worse,
            (Some([low, high]), None) if low >= 1.0 / EQUIVALENT_MAX && high <= EQUIVALENT_MAX => {
                Verdict::Equivalent
            }
            _ => Verdict::Open,
        }
    }
}

/// More pairs than this suffice for any number of tests.
const PAIRS_MAX: usize = 100;

impl Study {
    /// The set of resources that the answer concerns: those above the fold, or all if no page has any there.
    pub fn main_set(&self) -> Set {
        let has_atf = self.comparisons.iter().any(|it| it.pairs.atf.is_some());
        let mut means = self.summary.iter().map(|it| it.speedup_pages.atf);
        if has_atf || means.any(|it| it.is_some()) { Set::Atf } else { Set::All }
    }

    /// The smallest number of pairs for which the smallest possible p (two of all assignments of signs), after Holm's
    /// adjustment, is below 0.05; `None` if the row has that many.
    pub(crate) fn pairs_needed(&self, row: &ComparisonRow, set: Set) -> Option<usize> {
        let tested = self.comparisons.iter().filter(|it| !self.twins.contains_key(&it.scheme));
        let family =
            tested.filter(|it| it.setting == row.setting && it.wilcoxon_p.get(set).is_some());
        let tests = family.count() as f64;
        let pairs = row.wilcoxon_p.get(set).and(row.pairs.get(set))?;
        let mut from = pairs..PAIRS_MAX;
        let enough = from.find(|it| tests * 2.0_f64.powf(1.0 - *it as f64) < 0.05)?;
        (enough > pairs).then_some(enough)
    }
}

impl Plan {
    /// ` above the fold`: the suffix for a set of resources after the name of the study's metric.
    pub(crate) fn place(&self, set: Set) -> &'static str {
        match set {
            _ if self.metric.is_of_page() => "",
            Set::All => " of all resources",
            Set::Atf => " above the fold",
        }
    }
}
