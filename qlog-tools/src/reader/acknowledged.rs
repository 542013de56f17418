//! Which of our packets have been acknowledged, so that each counts once.

use std::collections::BTreeMap;

use crate::number_ranges::NumberRanges;
use crate::trace::Space;

/// About as many as one frame is believed to acknowledge anew.
const FRESH: u64 = 1 << 16;

/// Acknowledged numbers of each space, as first to last.
#[derive(Default)]
pub(super) struct Acknowledged {
    spaces: BTreeMap<Space, NumberRanges>,
}

impl Acknowledged {
    /// The numbers in `ranges` that were not acknowledged before.
    pub(super) fn fresh(&mut self, space: Space, ranges: &[(u64, u64)]) -> Vec<u64> {
        let known = self.spaces.entry(space).or_default();
        let mut numbers = Vec::new();
        for &(first, last) in ranges {
            let mut next = first;
            if let Some((_, end)) = known.at_or_before(first) {
                if end >= last {
                    continue;
                }
                next = next.max(end.saturating_add(1));
            }
            if numbers.len() as u64 > FRESH {
                break;
            }
            let last = last.min(next.saturating_add(FRESH));
            while next <= last {
                if let Some((start, end)) = known.from(next).filter(|range| range.0 <= last) {
                    numbers.extend(next..start);
                    next = end.saturating_add(1);
                } else {
                    numbers.extend(next..=last);
                    break;
                }
            }
            known.add(first, last);
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_number_is_fresh_once() {
        let mut acknowledged = Acknowledged::default();
        assert_eq!(acknowledged.fresh(Space::Application, &[(5, 7), (1, 2)]), [5, 6, 7, 1, 2]);
        assert_eq!(acknowledged.fresh(Space::Application, &[(0, 9)]), [0, 3, 4, 8, 9]);
        assert_eq!(acknowledged.fresh(Space::Initial, &[(0, 0)]), [0]);
        assert_eq!(acknowledged.fresh(Space::Application, &[(3, 8)]), Vec::<u64>::new());
    }

    proptest::proptest! {
        #[test]
        fn the_plain_rule_agrees(ranges in proptest::collection::vec((0u64..40, 0u64..8), 0..30)) {
            let (mut acknowledged, mut seen) = (Acknowledged::default(), BTreeSet::new());
            for (first, more) in ranges {
                let expected: Vec<u64> = (first..=first + more).filter(|number| seen.insert(*number)).collect();
                proptest::prop_assert_eq!(acknowledged.fresh(Space::Application, &[(first, first + more)]), expected);
            }
        }
    }
}
