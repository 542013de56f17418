//! The conclusion from the test of a scheme against the baseline.

use crate::study::{ComparisonRow, Plan, Study};
use corpus::facts::NUMBERS;
use qlog_tools::metrics::Set;

schedulers::named! {
    /// How a scheme compares with the baseline in a setting.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Verdict {
        /// The test names the scheme as the winner.
        Better = "better",
        /// Neither a difference nor equivalence is shown.
        Open = "not shown",
        /// Loads that did not finish could turn the test.
        Doubtful = "in doubt",
        /// The interval of the ratio lies within 2 % of 1, and there are enough pairs that differ for an interval to tell.
        Equivalent = "within 2 %",
        /// The test names the baseline as the winner.
        Worse = "worse",
        /// There are too few pairs for a test.
        Untested = "no test",
        /// No load finished under both.
        Unfinished = "unfinished",
        /// The scheme failed.
        Failed = "failed",
    }
}

/// Two schemes are equivalent if the interval of their ratio lies between this and its inverse. With a 95 % interval, this
/// amounts to two one-sided tests at 2.5 %.
const EQUIVALENT_MAX: f64 = 1.02;

/// The fewest pairs that can show equivalence. An interval knows nothing of pairs that are unlike all measured ones: if they are a
/// fifth, fewer than this have none of them in more than 5 of 100 studies.
pub(crate) const EQUIVALENT_PAIRS_MIN: usize = 14;

impl Verdict {
    /// Whether it says how the two compare.
    pub(crate) fn is_known(self) -> bool {
        matches!(self, Self::Better | Self::Equivalent | Self::Worse)
    }

    /// Whether there was a test.
    pub(crate) fn is_tested(self) -> bool {
        self.is_known() || matches!(self, Self::Open | Self::Doubtful)
    }
}

impl ComparisonRow {
    /// The verdict for a set of resources.
    pub fn verdict(&self, set: Set) -> Verdict {
        match self.winner.get(set) {
            _ if self.pages == 0 => Verdict::Unfinished,
            _ if self.geometric_mean_ratio_interval.get(set).is_none() => Verdict::Untested,
            Some(winner) if winner == self.scheme => Verdict::Better,
            Some(_) => Verdict::Worse,
            None if self.in_doubt.get(set).is_some() => Verdict::Doubtful,
            None if !self.seems_equivalent(set) => Verdict::Open,
            None if self.unfinished_pages > 0 => Verdict::Doubtful,
            None if self.is_equal_in_too_few(set) => Verdict::Open,
            None => Verdict::Equivalent,
        }
    }

    /// Whether the interval lies within 2 % of 1.
    fn seems_equivalent(&self, set: Set) -> bool {
        let interval = self.geometric_mean_ratio_interval.get(set);
        interval.is_some_and(|[low, high]| low >= 1.0 / EQUIVALENT_MAX && high <= EQUIVALENT_MAX)
    }

    /// Whether the interval lies within 2 % of 1 only because pairs are few, or all equal: resampling them shows nothing else.
    pub(crate) fn is_equal_in_too_few(&self, set: Set) -> bool {
        let pairs = self.pairs.get(set).unwrap_or_default();
        let are_few = pairs < EQUIVALENT_PAIRS_MIN || self.ties.get(set) == Some(pairs);
        self.seems_equivalent(set) && are_few
    }
}

/// More pairs than this suffice for any number of tests.
const PAIRS_MAX: usize = 100;

impl Study {
    /// The set of resources that the answer concerns: those above the fold, or all if no page has any there.
    pub fn main_set(&self) -> Set {
        let has = |set| {
            let mut means = self.summary.iter().map(|it| it.speedup_pages.get(set));
            means.any(|it| it.is_some())
                || self.comparisons.iter().any(|it| it.pairs.get(set).is_some())
        };
        // Where nothing is known, the pages say what the question was.
        let place = NUMBERS.iter().position(|it| it.name == "atf_resources");
        let mut pages = self.pages.iter();
        let asks = !has(Set::All) && pages.any(|it| place.is_some_and(|at| it.numbers[at] > 0.0));
        if has(Set::Atf) || asks { Set::Atf } else { Set::All }
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
