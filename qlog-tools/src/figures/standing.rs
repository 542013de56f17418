//! Whether something is the best of several: only if the data can tell.

/// How one of several compared things stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Standing {
    /// The data do not say what is best.
    #[default]
    Unknown,
    /// Better than every other.
    Best,
    /// The best, or not to be told apart from it, and not alone.
    Tied,
    /// Worse than the best.
    Behind,
}

impl Standing {
    /// How exact values stand, of which the highest is best. Equal ones are all the best.
    pub fn of_exact(values: &[Option<f64>]) -> Vec<Self> {
        let best = values.iter().copied().flatten().reduce(f64::max);
        let standing = |value: &Option<f64>| match value {
            None => Self::Unknown,
            _ if *value == best => Self::Best,
            Some(_) => Self::Behind,
        };
        values.iter().map(standing).collect()
    }

    /// How measured values stand, of which that at `best` is the highest. `is_behind` says whether another one certainly is
    /// worse, if the data can tell.
    pub fn of_measured(
        count: usize,
        best: usize,
        is_behind: impl Fn(usize) -> Option<bool>,
    ) -> Vec<Self> {
        let of_others: Vec<Option<bool>> =
            (0..count).filter(|it| *it != best).map(&is_behind).collect();
        let standing_of_best = if of_others.iter().all(|it| *it == Some(true)) {
            Self::Best
        } else if of_others.contains(&Some(false)) {
            Self::Tied
        } else {
            Self::Unknown
        };
        let of_other = |behind| match behind {
            None => Self::Unknown,
            Some(true) => Self::Behind,
            Some(false) => Self::Tied,
        };
        let mut standings: Vec<Self> = of_others.into_iter().map(of_other).collect();
        standings.insert(best.min(standings.len()), standing_of_best);
        standings
    }
}

#[cfg(test)]
mod tests {
    use super::Standing::{Behind, Best, Tied, Unknown};
    use super::*;

    #[test]
    fn equal_values_are_all_the_best() {
        let values = [Some(1.0), Some(2.0), None, Some(2.0)];
        assert_eq!(Standing::of_exact(&values), [Behind, Best, Unknown, Best]);
    }

    #[test]
    fn a_winner_is_alone_and_ties_are_ties() {
        let of = |behind: [Option<bool>; 3]| Standing::of_measured(3, 1, |it| behind[it]);
        assert_eq!(of([Some(true), None, Some(true)]), [Behind, Best, Behind]);
        assert_eq!(of([Some(false), None, Some(true)]), [Tied, Tied, Behind]);
    }

    #[test]
    fn without_an_interval_nothing_wins() {
        let of = |behind: [Option<bool>; 3]| Standing::of_measured(3, 0, |it| behind[it]);
        assert_eq!(of([None; 3]), [Unknown; 3]);
        assert_eq!(of([None, Some(true), None]), [Unknown, Behind, Unknown]);
    }
}
