//! The part of a page that a scheme may look ahead to: sizes, and which resource discovers which.

use crate::SplitMix64;

/// The dependency graph of one page. Resources are identified by their index in `resources`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageGraph {
    /// The resources; [`crate::Resource::id`] is the index in this list.
    pub resources: Vec<GraphResource>,
}

/// A resource of a [`PageGraph`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphResource {
    /// Bytes of the body.
    pub bytes: u64,
    /// Microseconds from its completion until its discoveries are requested: parsing, executing.
    pub exec_us: u64,
    /// The resources that must be complete before it is requested. Invalid indices are ignored.
    pub parents: Vec<usize>,
    /// Whether it is in the above-the-fold set.
    pub above_fold: bool,
}

/// Time per byte on the paper's connection, 1400 bytes every 10 ms, as a fraction: microseconds, bytes.
const PAPER_RATE: (u64, u64) = (10_000, 1400);

impl PageGraph {
    /// A number that identifies the page, the same on every machine.
    pub(crate) fn digest(&self) -> u64 {
        let mut digest = self.resources.len() as u64;
        for it in &self.resources {
            let numbers = [it.bytes, it.exec_us, u64::from(it.above_fold), it.parents.len() as u64];
            for number in numbers.into_iter().chain(it.parents.iter().map(|id| *id as u64)) {
                digest = SplitMix64::mixed(digest ^ number).wrapping_add(1);
            }
        }
        digest
    }

    /// For each resource, the longest path from its request to the end of the page, in microseconds on the
    /// paper's connection without other traffic. Each member of a cycle counts alone.
    pub fn critical_paths_us(&self) -> Vec<u64> {
        let own_us = self.resources.iter().map(|resource| {
            let sending_us = resource.bytes.saturating_mul(PAPER_RATE.0) / PAPER_RATE.1;
            sending_us.saturating_add(resource.exec_us)
        });
        let own_us: Vec<u64> = own_us.collect();
        let mut paths = own_us.clone();
        let mut waiting = self.child_counts();
        let mut leaves: Vec<usize> = (0..paths.len()).filter(|it| waiting[*it] == 0).collect();
        while let Some(child) = leaves.pop() {
            for &parent in self.parents(child) {
                let through = own_us[parent].saturating_add(paths[child]);
                paths[parent] = paths[parent].max(through);
                waiting[parent] -= 1;
                if waiting[parent] == 0 {
                    leaves.push(parent);
                }
            }
        }
        paths
    }

    /// For each resource, the number of resources with it as a parent.
    fn child_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.resources.len()];
        for child in 0..self.resources.len() {
            for &parent in self.parents(child) {
                counts[parent] += 1;
            }
        }
        counts
    }

    fn parents(&self, child: usize) -> impl Iterator<Item = &usize> {
        self.resources[child].parents.iter().filter(|parent| **parent < self.resources.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{GraphResource, PageGraph};

    fn graph(resources: &[(u64, &[usize])]) -> PageGraph {
        let resource = |(packets, parents): &(u64, &[usize])| GraphResource {
            bytes: packets * 1400,
            exec_us: 1000,
            parents: parents.to_vec(),
            above_fold: false,
        };
        PageGraph { resources: resources.iter().map(resource).collect() }
    }

    #[test]
    fn the_longest_path_counts_bytes_and_execution() {
        // 0 discovers 1 and 2; 3 waits for both.
        let page = graph(&[(1, &[]), (2, &[0]), (5, &[0]), (1, &[1, 2])]);
        assert_eq!(page.critical_paths_us(), [73_000, 32_000, 62_000, 11_000]);
    }

    #[test]
    fn cycles_and_unknown_parents_do_no_harm() {
        let page = graph(&[(1, &[1]), (1, &[0]), (1, &[9])]);
        assert_eq!(page.critical_paths_us(), [11_000, 11_000, 11_000]);
    }
}
