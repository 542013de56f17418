//! Sets of packet numbers, which are mostly consecutive.

use std::collections::BTreeMap;

use crate::limits::NUMBER_RANGES;

/// Numbers, as the first and last of each range; if there are very many ranges, the lowest are dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NumberRanges(BTreeMap<u64, u64>);

impl NumberRanges {
    /// Adds `first` to `last`.
    pub fn add(&mut self, mut first: u64, mut last: u64) {
        while let Some((&start, &end)) = self.0.range(..=last.saturating_add(1)).next_back() {
            if end.saturating_add(1) < first {
                break;
            }
            first = first.min(start);
            last = last.max(end);
            self.0.remove(&start);
        }
        self.0.insert(first, last);
        if self.0.len() > NUMBER_RANGES {
            self.0.pop_first();
        }
    }

    pub(crate) fn at_or_before(&self, number: u64) -> Option<(u64, u64)> {
        self.0.range(..=number).next_back().map(|(&start, &end)| (start, end))
    }

    pub(crate) fn has(&self, number: u64) -> bool {
        self.at_or_before(number).is_some_and(|(_, last)| number <= last)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first range that begins at `number` or later.
    pub(crate) fn from(&self, number: u64) -> Option<(u64, u64)> {
        self.0.range(number..).next().map(|(&start, &end)| (start, end))
    }

    /// The gaps between the ranges, in order: the number after each, and its size.
    pub(crate) fn gaps(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let followed = self.0.iter().zip(self.0.keys().skip(1));
        followed.map(|((_, &last), &next)| (next, next - last - 1))
    }

    /// The first number above `above` and below `below` that is not in the set, unless the set no longer
    /// covers it.
    pub(crate) fn first_missing(&self, above: u64, below: u64) -> Option<u64> {
        let next = above.checked_add(1)?;
        let missing = match self.at_or_before(next) {
            Some((_, end)) if end >= next => end.checked_add(1)?,
            Some(_) => next,
            None => return None,
        };
        (missing < below).then_some(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_what_lacks_between_two_ranges() {
        let mut numbers = NumberRanges::default();
        for number in [1, 2, 3, 6, 9] {
            numbers.add(number, number);
        }
        assert_eq!(numbers.gaps().collect::<Vec<_>>(), [(6, 2), (9, 2)]);
    }

    #[test]
    fn the_first_number_between_two_that_did_not_come_is_found() {
        let mut numbers = NumberRanges::default();
        for number in [1, 2, 3, 6, 5, 9] {
            numbers.add(number, number);
        }
        let missing = |above, below| numbers.first_missing(above, below);
        assert_eq!((missing(1, 9), missing(4, 9), missing(6, 9)), (Some(4), Some(7), Some(7)));
        assert_eq!((missing(2, 4), missing(7, 9), missing(8, 9)), (None, Some(8), None));
        assert_eq!((missing(9, 20), missing(0, 2)), (Some(10), None));
    }
}
