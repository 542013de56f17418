//! A tree of splits, each chosen as the best on its own. Crates for trees bring linear algebra along, and support neither
//! the goal of the best choice nor sites; this is all that is needed.

use super::facts::GROUPS_MAX;
use serde::Serialize;

/// The question about facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Which scheme gains most.
    Winner,
    /// How much one scheme gains.
    Gain,
}

/// The cases from which a tree is grown.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) goal: Goal,
    /// By case: the gain of each scheme, or of the only relevant one.
    pub(super) outcomes: Vec<Vec<f64>>,
    /// By case, the values whose variance a split must explain: the gain, or each scheme's gain minus the average.
    signals: Vec<Vec<f64>>,
    /// By case.
    pub(super) weights: Vec<f64>,
    /// By case, the number of its site.
    pub(super) sites: Vec<usize>,
    /// The fewest sites on each side of a split.
    pub(super) sites_min: usize,
}

/// A split: cases in groups up to `group` are below.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Split {
    pub(super) fact: usize,
    pub(super) group: u8,
    pub(super) improvement: f64,
}

/// By fact and case, the group of the value.
pub(super) type Groups = [Vec<u8>];

/// Weighted sums over cases.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    weight: f64,
    outcomes: Vec<f64>,
}

impl Sums {
    /// The outcome with the greatest sum; the first among equals.
    pub(super) fn best(&self) -> usize {
        let mut best = 0;
        for (place, sum) in self.outcomes.iter().enumerate() {
            if *sum > self.outcomes[best] {
                best = place;
            }
        }
        best
    }

    pub(super) fn mean(&self, outcome: usize) -> f64 {
        self.outcomes[outcome] / self.weight
    }
}

/// The weight and the weighted sums of signals of the cases in a group.
#[derive(Clone)]
struct Group {
    weight: f64,
    /// Sites whose first case is in the group, and sites whose last case is.
    first: usize,
    last: usize,
}

impl Sample {
    pub(super) fn new(
        goal: Goal,
        outcomes: Vec<Vec<f64>>,
        weights: Vec<f64>,
        sites: Vec<usize>,
        sites_min: usize,
    ) -> Self {
        let signals = outcomes.iter().map(|gains| match goal {
            Goal::Gain => gains.clone(),
            Goal::Winner => {
                let mean = gains.iter().sum::<f64>() / gains.len() as f64;
                gains.iter().map(|it| it - mean).collect()
            }
        });
        Self { goal, signals: signals.collect(), outcomes, weights, sites, sites_min }
    }

    pub(super) fn sums(&self, cases: &[usize]) -> Sums {
        summed(&self.outcomes, &self.weights, cases)
    }

    /// The best split by each fact; `None` if no split has enough sites on both sides.
    pub(super) fn splits(&self, groups: &Groups, cases: &[usize]) -> Vec<Option<Split>> {
        let all = summed(&self.signals, &self.weights, cases);
        let each = groups.iter().enumerate();
        each.map(|(fact, groups)| self.split_by(fact, groups, cases, &all)).collect()
    }

    /// The best split; the first among equals.
    pub(super) fn best_split(&self, groups: &Groups, cases: &[usize]) -> Option<Split> {
        best(&self.splits(groups, cases))
    }

    /// The best split by one fact: the one whose two means explain most of the variance of the signals.
    fn split_by(&self, fact: usize, groups: &[u8], cases: &[usize], all: &Sums) -> Option<Split> {
        let (width, sites) = (all.outcomes.len(), self.sites.iter().max()? + 1);
        let mut sums = vec![0.0; GROUPS_MAX * width];
        let mut of_group = vec![Group { weight: 0.0, first: 0, last: 0 }; GROUPS_MAX];
        let mut seen: Vec<Option<(u8, u8)>> = vec![None; sites];
        for &case in cases {
            let (group, weight) = (groups[case], self.weights[case]);
            let from = usize::from(group) * width;
            for (sum, signal) in sums[from..from + width].iter_mut().zip(&self.signals[case]) {
                *sum += weight * signal;
            }
            of_group[usize::from(group)].weight += weight;
            let site = &mut seen[self.sites[case]];
            let (first, last) = site.unwrap_or((group, group));
            *site = Some((first.min(group), last.max(group)));
        }
        for (first, last) in seen.iter().flatten() {
            of_group[usize::from(*first)].first += 1;
            of_group[usize::from(*last)].last += 1;
        }
        self.best_cut(fact, &of_group, &sums, all)
    }

    /// The best place between two groups.
    fn best_cut(&self, fact: usize, groups: &[Group], sums: &[f64], all: &Sums) -> Option<Split> {
        let width = all.outcomes.len();
        let mut below = Sums { weight: 0.0, outcomes: vec![0.0; width] };
        let (mut sites_below, mut sites_above) =
            (0, groups.iter().map(|it| it.last).sum::<usize>());
        let mut best: Option<Split> = None;
        for ((group, of_group), sums) in (0_u8..).zip(groups).zip(sums.chunks(width)) {
            sites_below += of_group.first;
            sites_above -= of_group.last;
            below.weight += of_group.weight;
            for (sum, of_group) in below.outcomes.iter_mut().zip(sums) {
                *sum += of_group;
            }
            if of_group.weight == 0.0 || sites_below.min(sites_above) < self.sites_min {
                continue;
            }
            let improvement = explained(&below, all);
            if best.is_none_or(|it| improvement > it.improvement + EQUAL) {
                best = Some(Split { fact, group, improvement });
            }
        }
        best
    }
}

fn summed(values: &[Vec<f64>], weights: &[f64], cases: &[usize]) -> Sums {
    let mut sums = Sums { weight: 0.0, outcomes: vec![0.0; values[0].len()] };
    for &case in cases {
        sums.weight += weights[case];
        for (sum, value) in sums.outcomes.iter_mut().zip(&values[case]) {
            *sum += weights[case] * value;
        }
    }
    sums
}

/// The sum of squares between the cases below and above, over all signals.
fn explained(below: &Sums, all: &Sums) -> f64 {
    let above = all.weight - below.weight;
    let each = below.outcomes.iter().zip(&all.outcomes);
    each.map(|(below_sum, all_sum)| {
        let above_sum = all_sum - below_sum;
        below_sum * below_sum / below.weight + above_sum * above_sum / above
            - all_sum * all_sum / all.weight
    })
    .sum()
}

/// Improvements that differ by less count as equal, because sums are rounded.
pub(super) const EQUAL: f64 = 1e-12;

/// The best of the splits by each fact; the first among equals.
pub(super) fn best(splits: &[Option<Split>]) -> Option<Split> {
    splits.iter().flatten().copied().fold(None, |best: Option<Split>, it| match best {
        Some(best) if it.improvement <= best.improvement + EQUAL => Some(best),
        _ => Some(it),
    })
}

/// A tree: a leaf, or a split with the trees below and above it.
#[derive(Debug)]
pub(super) enum Tree<A> {
    Leaf(Vec<usize>),
    Split { split: Split, accepted: A, below: Box<Self>, above: Box<Self> },
}

/// Splits `cases` to a depth of at most `depth`, if `accept` accepts the best split.
pub(super) fn grow<A>(
    sample: &Sample,
    groups: &Groups,
    cases: Vec<usize>,
    depth: usize,
    accept: &impl Fn(&[usize], &Split) -> Option<A>,
) -> Tree<A> {
    let split = (depth > 0).then(|| sample.best_split(groups, &cases)).flatten();
    let split = split.filter(|it| it.improvement > EQUAL);
    let accepted = split.and_then(|split| Some((split, accept(&cases, &split)?)));
    let Some((split, accepted)) = accepted else { return Tree::Leaf(cases) };
    let (below, above) = parted(groups, cases, &split);
    let [below, above] =
        [below, above].map(|cases| Box::new(grow(sample, groups, cases, depth - 1, accept)));
    Tree::Split { split, accepted, below, above }
}

fn parted(groups: &Groups, cases: Vec<usize>, split: &Split) -> (Vec<usize>, Vec<usize>) {
    cases.into_iter().partition(|case| groups[split.fact][*case] <= split.group)
}

impl<A> Tree<A> {
    /// The longest row of splits.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::Leaf(_) => 0,
            Self::Split { below, above, .. } => 1 + below.depth().max(above.depth()),
        }
    }

    /// Removes splits between leaves that `is_same` considers equal.
    #[must_use]
    pub(super) fn pruned(self, is_same: &impl Fn(&[usize], &[usize]) -> bool) -> Self {
        let Self::Split { split, accepted, below, above } = self else { return self };
        match (below.pruned(is_same), above.pruned(is_same)) {
            (Self::Leaf(below), Self::Leaf(above)) if is_same(&below, &above) => {
                Self::Leaf([below, above].concat())
            }
            (below, above) => {
                Self::Split { split, accepted, below: Box::new(below), above: Box::new(above) }
            }
        }
    }

    pub(super) fn cases(&self) -> Vec<usize> {
        match self {
            Self::Leaf(cases) => cases.clone(),
            Self::Split { below, above, .. } => [below.cases(), above.cases()].concat(),
        }
    }

    /// The cases in the same leaf as a case.
    pub(super) fn leaf(&self, groups: &Groups, case: usize) -> &[usize] {
        match self {
            Self::Leaf(cases) => cases,
            Self::Split { split, below, above, .. } => {
                let is_above = groups[split.fact][case] > split.group;
                (if is_above { above } else { below }).leaf(groups, case)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(goal: Goal, outcomes: &[&[f64]]) -> Sample {
        let count = outcomes.len();
        let outcomes = outcomes.iter().map(|it| it.to_vec()).collect();
        Sample::new(goal, outcomes, vec![1.0; count], (0..count).collect(), 1)
    }

    #[test]
    fn the_best_split_of_a_gain_explains_most_variance() {
        // Gains 1, 1, 5, 5 lie around 3: all of the variance, 16, is between the halves.
        let sample = sample(Goal::Gain, &[&[1.0], &[1.0], &[5.0], &[5.0]]);
        let groups = [vec![0, 1, 0, 1], vec![0, 0, 1, 1]];
        let expected = Split { fact: 1, group: 0, improvement: 16.0 };
        assert_eq!(sample.best_split(&groups, &[0, 1, 2, 3]), Some(expected));
    }

    #[test]
    fn the_best_split_of_a_choice_explains_most_of_what_schemes_differ_in() {
        // The second scheme is 2 better than the first, or 1 worse: 1 and -0.5 around the mean of both. Between the two
        // kinds of cases, each scheme contributes 4 * 0.75^2.
        let cases: [&[f64]; 4] = [&[0.0, 2.0], &[0.0, -1.0], &[7.0, 9.0], &[7.0, 6.0]];
        let sample = sample(Goal::Winner, &cases);
        let groups = [vec![0, 0, 1, 1], vec![1, 0, 1, 0]];
        let expected = Split { fact: 1, group: 0, improvement: 4.5 };
        assert_eq!(sample.best_split(&groups, &[0, 1, 2, 3]), Some(expected));
        let tree = grow(&sample, &groups, vec![0, 1, 2, 3], 1, &|_, _| Some(()));
        let best = |cases: &[usize]| sample.sums(cases).best();
        let pruned = tree.pruned(&|below, above| best(below) == best(above));
        assert_eq!(pruned.depth(), 1, "the winner differs");
        assert_eq!(pruned.pruned(&|_, _| true).depth(), 0);
    }

    #[test]
    fn a_split_needs_enough_sites_on_both_sides() {
        let sample =
            Sample { sites_min: 2, ..sample(Goal::Gain, &[&[9.0], &[1.0], &[1.0], &[2.0]]) };
        let split = sample.best_split(&[vec![0, 1, 2, 3]], &[0, 1, 2, 3]).expect("a split");
        assert_eq!(split.group, 1);
        let one_site = Sample { sites: vec![0; 4], ..sample };
        assert_eq!(one_site.best_split(&[vec![0, 1, 2, 3]], &[0, 1, 2, 3]), None);
    }

    #[test]
    fn a_tree_has_a_leaf_for_each_case() {
        let sample = sample(Goal::Gain, &[&[1.0], &[2.0], &[5.0], &[9.0]]);
        let groups = [vec![0, 1, 2, 3]];
        let tree = grow(&sample, &groups, vec![0, 1, 2, 3], 2, &|_, _| Some(()));
        assert_eq!(tree.depth(), 2);
        assert_eq!([0, 1, 2, 3].map(|it| tree.leaf(&groups, it).to_vec()), [[0], [1], [2], [3]]);
        let stump = grow(&sample, &groups, vec![0, 1, 2, 3], 2, &|_, _| None::<()>);
        assert_eq!(stump.leaf(&groups, 3), [0, 1, 2, 3]);
    }
}
