//! One question about all cases, and its answer.

use super::cases::Cases;
use super::chance::Chance;
use super::held_out::held_out;
use super::tree::{Goal, Sample, Split, Tree, grow};
use super::{Answer, Branch, DEPTH, FALSE_RULES, Parted, Power, SITES_MIN};
use crate::study::statistics::bootstrap::bootstrap_geometric_mean;
use crate::study::statistics::{Weighted, weighted_mean};
use qlog_tools::saturating_cast::to_usize;
use std::collections::BTreeMap;

/// Splits with at least this share of the best improvement count as nearly as good.
const NEARLY: f64 = 0.9;

/// The ratio between gains for which [`Power`] gives the number of sites needed.
const WORTH_FINDING: f64 = 1.05;

/// Distance from the critical value, in standard deviations, for a power of 80 %.
const EIGHTY_OF_100: f64 = 0.8416;

/// A question, with the distribution of first splits by chance.
pub(super) struct Question<'a> {
    cases: &'a Cases,
    sample: Sample,
    /// By fact and case.
    groups: Vec<Vec<u8>>,
    /// By outcome of the sample, the scheme.
    schemes: Vec<usize>,
    chance: Chance,
    /// The probability of an equally good first split by chance.
    pub(super) p: f64,
}

impl<'a> Question<'a> {
    pub(super) fn new(cases: &'a Cases, goal: Goal) -> Self {
        let schemes = schemes(cases, goal);
        let outcomes = cases.all.iter();
        let outcomes = outcomes.map(|case| schemes.iter().map(|it| case.gains[*it]).collect());
        let sites = (0..cases.all.len()).map(|it| cases.site(it)).collect();
        let sample = Sample::new(goal, outcomes.collect(), cases.weights(), sites, SITES_MIN);
        let groups = cases.groups();
        let all: Vec<usize> = (0..cases.all.len()).collect();
        let chance = Chance::of(cases, &sample, &all);
        let first = sample.best_split(&groups, &all).map_or(0.0, |it| it.improvement);
        let p = chance.p(first);
        Self { cases, sample, groups, schemes, chance, p }
    }

    /// The answer, where `p` is the adjusted probability of the first split. The tree is reported only if `p` is small and the tree is
    /// better than none on other sites.
    pub(super) fn answer(&self, p: f64) -> Answer {
        let all: Vec<usize> = (0..self.cases.all.len()).collect();
        let tree = if p <= FALSE_RULES { self.tree(all.clone()) } else { Tree::Leaf(all.clone()) };
        let held_out =
            (tree.depth() > 0).then(|| held_out(&self.sample, &self.groups, tree.depth()));
        let found = held_out.is_some_and(|it| it.is_better());
        let tree = if found { tree } else { Tree::Leaf(all.clone()) };
        let single = self.branch(&all);
        Answer { scheme: single.scheme, found, p, held_out, tree: self.shown(&tree) }
    }

    /// The tree in which chance explains neither the first split nor any later one. For a choice, a split with the same choice on both
    /// sides does not count.
    fn tree(&self, all: Vec<usize>) -> Tree<f64> {
        let count = all.len();
        let tree = grow(&self.sample, &self.groups, all, DEPTH, &|cases, split| {
            let p = match cases.len() {
                it if it == count => self.p,
                _ => Chance::of(self.cases, &self.sample, cases).p(split.improvement),
            };
            (p <= FALSE_RULES).then_some(p)
        });
        let best = |cases: &[usize]| self.sample.sums(cases).best();
        let is_choice = self.sample.goal == Goal::Winner;
        tree.pruned(&|below, above| is_choice && best(below) == best(above))
    }

    fn shown(&self, tree: &Tree<f64>) -> Branch {
        let branch = self.branch(&tree.cases());
        let Tree::Split { split, accepted, below, above } = tree else { return branch };
        let fact = &self.cases.facts[split.fact];
        let parted = Parted {
            fact: fact.name.clone(),
            condition_below: fact.condition(split.group, false),
            condition_above: fact.condition(split.group, true),
            at: fact.cuts[usize::from(split.group)],
            p: *accepted,
            alike: self.alike(split, &tree.cases()),
            below: self.shown(below),
            above: self.shown(above),
        };
        Branch { split: Some(Box::new(parted)), ..branch }
    }

    /// The names of other facts with a split that is nearly as good.
    fn alike(&self, best: &Split, cases: &[usize]) -> Vec<String> {
        let splits = self.sample.splits(&self.groups, cases).into_iter().flatten();
        let alike = splits.filter(|split| {
            split.fact != best.fact && split.improvement > NEARLY * best.improvement
        });
        alike.map(|it| self.cases.facts[it.fact].name.clone()).collect()
    }

    /// These cases as a leaf.
    fn branch(&self, cases: &[usize]) -> Branch {
        let best = self.sample.sums(cases).best();
        let clusters = self.by_site(cases, best);
        let scheme = self.schemes[best];
        Branch {
            scheme: self.cases.schemes[scheme].clone(),
            ratio: weighted_mean(&clusters.concat()).unwrap_or_default().exp(),
            interval: bootstrap_geometric_mean(&clusters).filter(|_| scheme > 0),
            sites: clusters.len(),
            cases: cases.len(),
            split: None,
        }
    }

    /// The gains of a scheme, grouped by site.
    fn by_site(&self, cases: &[usize], outcome: usize) -> Vec<Vec<Weighted>> {
        let mut clusters: BTreeMap<usize, Vec<Weighted>> = BTreeMap::new();
        for &case in cases {
            let gain = (self.sample.outcomes[case][outcome], self.sample.weights[case]);
            clusters.entry(self.sample.sites[case]).or_default().push(gain);
        }
        clusters.into_values().collect()
    }

    /// The effects that a study with this many sites and these variations of gains can find. A split into halves whose gains differ by
    /// d has the improvement (sites / 4) d^2, and the root of an improvement varies like the gains of sites.
    pub(super) fn power(&self) -> Power {
        let all: Vec<usize> = (0..self.cases.all.len()).collect();
        let sites = self.by_site(&all, 0);
        let count = sites.len() as f64;
        let means: Vec<f64> = sites.iter().filter_map(|it| weighted_mean(it)).collect();
        let mean = means.iter().sum::<f64>() / count;
        let squares: f64 = means.iter().map(|it| (it - mean).powi(2)).sum();
        let deviation = (squares / (count - 1.0)).sqrt();
        let critical = self.chance.quantile(FALSE_RULES / 2.0).max(0.0).sqrt();
        let difference = 2.0 * (critical + EIGHTY_OF_100 * deviation) / count.sqrt();
        let sites = count * (difference / WORTH_FINDING.ln()).powi(2);
        let sites_for_5_percent = to_usize(sites.ceil()).max(2 * SITES_MIN);
        Power { ratio: difference.exp(), sites_for_5_percent }
    }
}

/// By case, the gain of the best scheme other than the baseline.
pub(super) fn gains_of_best(cases: &Cases) -> Vec<f64> {
    let best = schemes(cases, Goal::Gain);
    cases.all.iter().flat_map(|case| best.iter().map(|it| case.gains[*it])).collect()
}

/// The schemes of a question: all, or the best one other than the baseline.
fn schemes(cases: &Cases, goal: Goal) -> Vec<usize> {
    let all: Vec<usize> = (0..cases.schemes.len()).collect();
    let weights = cases.weights();
    let total = |scheme: usize| -> f64 {
        cases.all.iter().zip(&weights).map(|(case, weight)| weight * case.gains[scheme]).sum()
    };
    match goal {
        Goal::Winner => all,
        Goal::Gain => all
            .into_iter()
            .skip(1)
            .max_by(|a, b| total(*a).total_cmp(&total(*b)))
            .into_iter()
            .collect(),
    }
}
