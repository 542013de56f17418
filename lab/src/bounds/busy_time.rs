//! The mean-busy-time bound: responses that become available at fixed slots share one link.
//!
//! In any order, preemptive or not, a response of `p` packets is complete at least `(p - 1) / 2` slots after
//! the mean of the ends of its slots. The sum of these means, each weighted by its bytes, is smallest if the
//! available response with the most bytes per packet always goes first (Goemans et al., SIAM J. Discrete Math.
//! 2002).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A response, or its remaining part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) weight: u64,
    pub(super) packets: u64,
    /// The first slot that it can use.
    pub(super) release: u64,
}

/// A lower bound on the sum of weight times slots to completion (the end of the last slot) over all orders.
pub(super) fn least_cost_slots(jobs: &mut [Job]) -> f64 {
    jobs.sort_unstable_by_key(|it| it.release);
    let mut left: Vec<u64> = jobs.iter().map(|it| it.packets).collect();
    let mut available: BinaryHeap<(Ratio, Reverse<usize>)> = BinaryHeap::new();
    let (mut next, mut slot, mut cost) = (0, 0, 0.0);
    loop {
        if available.is_empty() {
            let Some(job) = jobs.get(next) else { return cost };
            slot = slot.max(job.release);
        }
        while let Some(job) = jobs.get(next)
            && job.release <= slot
        {
            available.push((Ratio(job.weight, job.packets), Reverse(next)));
            next += 1;
        }
        let Some(&(_, Reverse(first))) = available.peek() else { return cost };
        let until_next = jobs.get(next).map_or(u64::MAX, |it| it.release - slot);
        let run = left[first].min(until_next);
        let job = jobs[first];
        let ends = run as f64 * slot as f64 + run as f64 * (run as f64 + 1.0) / 2.0;
        cost += job.weight as f64 / job.packets as f64 * ends;
        slot += run;
        left[first] -= run;
        if left[first] == 0 {
            available.pop();
            cost += job.weight as f64 * (job.packets as f64 - 1.0) / 2.0;
        }
    }
}

/// Bytes a packet, compared exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ratio(u64, u64);

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let mine = u128::from(self.0) * u128::from(other.1);
        let theirs = u128::from(other.0) * u128::from(self.1);
        mine.cmp(&theirs).then(self.0.cmp(&other.0))
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
