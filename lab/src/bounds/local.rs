//! Local search over lists of segments.

use super::Side;
use super::segments::Segments;
use super::task::Task;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Fixed, so that the search is repeatable.
const SEED: u64 = 1;

/// Moves segments within the list for `steps` steps, and keeps each move that is at least as good for `side`.
///
/// Returns the best cost and its order, if any is better than `cost`.
pub(super) fn search(
    task: &Task,
    side: Side,
    start: &[usize],
    cost: u128,
    steps: u64,
) -> Option<(u128, Vec<usize>)> {
    let segments = Segments::new(task, side);
    let mut list = segments.completed_by(task, start);
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut best = cost;
    let mut found = None;
    let mut here = None;
    for step in 0..steps {
        let mut candidate = list.clone();
        if step > 0 {
            let from = random.random_range(0..candidate.len());
            let to = random.random_range(0..candidate.len());
            let moved = candidate.remove(from);
            candidate.insert(to, moved);
        }
        let end = segments.run(task, &candidate);
        let Some(cost) = end.cost(task) else { continue };
        // A move without effect is kept, because it can lead off a plateau.
        if here.is_none_or(|before| !side.prefers(before, cost)) {
            here = Some(cost);
            list = candidate;
        }
        if side.prefers(cost, best) {
            best = cost;
            found = Some((cost, end.order().collect()));
        }
    }
    found
}
