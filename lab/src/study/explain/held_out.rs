//! The value of a tree on sites that it was not grown from.

use super::tree::{Goal, Groups, Sample, grow};
use crate::study::statistics::bootstrap::bootstrap_geometric_mean;
use crate::study::statistics::{Interval, Weighted, weighted_mean};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// The number of parts into which sites are divided; each is held out once.
const PARTS: usize = 10;

/// The seed of the parts.
const SEED: u64 = 2;

/// The value of a tree on sites that it was not grown from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct HeldOut {
    /// For a choice, the speedup of the tree's choices over the best single scheme of the other sites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Its 95 % interval over sites; `None` with fewer than six.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// For a gain, the share of its variance around the mean of the other sites that the tree explains; below 0, the tree is
    /// harmful.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained: Option<f64>,
}

impl HeldOut {
    /// Whether the tree is better than no tree.
    pub(super) fn is_better(&self) -> bool {
        self.ratio.is_some_and(|it| it > 1.0) || self.explained.is_some_and(|it| it > 0.0)
    }
}

/// Grows a tree of this depth ten times, each time without a tenth of the sites, and tests it on these.
pub(super) fn held_out(sample: &Sample, groups: &Groups, depth: usize) -> HeldOut {
    let parts = parts(sample);
    let (mut errors, mut errors_of_mean) = (0.0, 0.0);
    let mut differences: Vec<Vec<Weighted>> = vec![Vec::new(); parts.len()];
    for part in 0..PARTS {
        let (held, others): (Vec<usize>, Vec<usize>) =
            (0..sample.sites.len()).partition(|case| parts[sample.sites[*case]] == part);
        if held.is_empty() || others.is_empty() {
            continue;
        }
        let single = sample.sums(&others);
        let tree = grow(sample, groups, others, depth, &|_, _| Some(()));
        for case in held {
            let leaf = sample.sums(tree.leaf(groups, case));
            let (outcomes, weight) = (&sample.outcomes[case], sample.weights[case]);
            let difference = outcomes[leaf.best()] - outcomes[single.best()];
            differences[sample.sites[case]].push((difference, weight));
            errors += weight * (outcomes[0] - leaf.mean(0)).powi(2);
            errors_of_mean += weight * (outcomes[0] - single.mean(0)).powi(2);
        }
    }
    differences.retain(|it| !it.is_empty());
    match sample.goal {
        Goal::Winner => HeldOut {
            ratio: weighted_mean(&differences.concat()).map(f64::exp),
            interval: bootstrap_geometric_mean(&differences),
            explained: None,
        },
        Goal::Gain => {
            let explained = 1.0 - errors / errors_of_mean.max(f64::MIN_POSITIVE);
            HeldOut { ratio: None, interval: None, explained: Some(explained) }
        }
    }
}

/// By site, the part in which it is held out.
fn parts(sample: &Sample) -> Vec<usize> {
    let count = sample.sites.iter().max().map_or(0, |it| it + 1);
    let mut parts: Vec<usize> = (0..count).map(|it| it % PARTS).collect();
    parts.shuffle(&mut ChaCha8Rng::seed_from_u64(SEED));
    parts
}
