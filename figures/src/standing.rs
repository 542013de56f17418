//! Whether something is the best of several, if the data can show it.

/// The standing of one of the compared things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Standing {
    /// The data do not show which is best.
    #[default]
    Unknown,
    /// Better than every other.
    Best,
    /// The best, or indistinguishable from it, and not the only one.
    Tied,
    /// Worse than the best.
    Behind,
}

impl Standing {
    /// The standings of exact values, of which the highest is best. Equal ones are all best.
    pub fn of_exact(values: &[Option<f64>]) -> Vec<Self> {
        let best = values.iter().copied().flatten().reduce(f64::max);
        let standings = values.iter().map(|value| match value {
            None => Self::Unknown,
            _ if *value == best => Self::Best,
            Some(_) => Self::Behind,
        });
        standings.collect()
    }

    /// The standings of measured values, of which the one at `best` is the highest. `of_others` states for each other one
    /// whether it is worse, if the data show it.
    pub fn of_measured(best: usize, of_others: Vec<Option<bool>>) -> Vec<Self> {
        let standing_of_best = if of_others.iter().all(|is_behind| *is_behind == Some(true)) {
            Self::Best
        } else if of_others.contains(&Some(false)) {
            Self::Tied
        } else {
            Self::Unknown
        };
        let standings = of_others.into_iter().map(|is_behind| match is_behind {
            None => Self::Unknown,
            Some(true) => Self::Behind,
            Some(false) => Self::Tied,
        });
        let mut standings: Vec<Self> = standings.collect();
        standings.insert(best.min(standings.len()), standing_of_best);
        standings
    }
}

/// The meaning of a figure's stars, for its caption; `of` names the unit with one best value, such as a panel.
pub(super) fn caption(standings: impl Iterator<Item = Standing>, of: &str) -> String {
    let standings: Vec<Standing> = standings.collect();
    let best = if standings.contains(&Standing::Best) {
        format!(
            " A star marks the best of a {of}: the one with the best geometric mean over pages, if it beats each other one."
        )
    } else {
        String::new()
    };
    let tied = if standings.contains(&Standing::Tied) {
        " A hollow star marks a scheme that may be the best: the one with the best geometric mean over pages, and each that it does not beat."
    } else {
        ""
    };
    if best.len() + tied.len() == 0 {
        return String::new();
    }
    format!(
        "{best}{tied} One beats another if a signed-rank test, adjusted for all pairs (Holm, 5\u{202f}%), and the 95\u{202f}% interval of their ratio say so."
    )
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
        let of = |behind: [Option<bool>; 2]| Standing::of_measured(1, behind.into());
        assert_eq!(of([Some(true), Some(true)]), [Behind, Best, Behind]);
        assert_eq!(of([Some(false), Some(true)]), [Tied, Tied, Behind]);
    }

    #[test]
    fn without_an_interval_nothing_wins() {
        let of = |behind: [Option<bool>; 2]| Standing::of_measured(0, behind.into());
        assert_eq!(of([None; 2]), [Unknown; 3]);
        assert_eq!(of([Some(true), None]), [Unknown, Behind, Unknown]);
    }
}
