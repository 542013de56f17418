//! How many seeds a study has, if the width of its intervals decides it.

use crate::study::Plan;
use serde::{Deserialize, Serialize};

/// The rule: rounds of seeds are added until the widest interval of a ratio is narrow enough.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stopping {
    /// The most that its upper end may lie above its lower end, in percent.
    pub width_percent: f64,
    /// The most seeds.
    pub seeds_max: usize,
}

/// The end of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// All seeds so far.
    pub seeds: usize,
    /// The width of the widest interval; `None` without an interval.
    pub widest_percent: Option<f64>,
}

/// Why a study has no more seeds.
enum End {
    Narrow(f64),
    Most(f64),
    /// The last round left the interval as wide as it was.
    AsWide {
        before: f64,
        seeds_before: usize,
        now: f64,
    },
    NoInterval,
}

/// The seeds of the first round.
const FIRST_ROUND: usize = 9;

/// The seeds that each further round adds.
const ROUND: usize = 8;

/// A round that leaves more of the width than this has not narrowed the interval. If seeds alone bounded it, even the last of 64
/// would leave 0.94 of it.
const AS_WIDE_MIN: f64 = 0.98;

impl Plan {
    /// The same with the seeds of the first round, counted up from its first one; `rule` decides on more.
    #[must_use]
    pub fn stopped_by(mut self, rule: Stopping) -> Self {
        self.seeds.truncate(1);
        self.count_seeds_up_to(FIRST_ROUND.min(rule.seeds_max));
        Self { stopping: Some(rule), rounds: Vec::new(), ..self }
    }

    /// Ends a round, and adds the seeds of another one if the rule asks for it. Returns whether it does. Without a rule, and for a study
    /// whose seeds are decided, it changes nothing.
    pub(crate) fn end_round(&mut self, widest_percent: Option<f64>) -> bool {
        let seeds = self.seeds.len();
        let Some(rule) = self.stopping.clone().filter(|_| !self.has_ended_round()) else {
            return false;
        };
        self.rounds.push(Round { seeds, widest_percent });
        let goes_on = self.end().is_none();
        if goes_on {
            self.count_seeds_up_to((seeds + ROUND).min(rule.seeds_max));
        }
        goes_on
    }

    fn count_seeds_up_to(&mut self, count: usize) {
        let first = self.seeds.first().copied().unwrap_or_default();
        self.seeds = (first..).take(count).collect();
    }

    fn has_ended_round(&self) -> bool {
        self.rounds.last().is_some_and(|it| it.seeds == self.seeds.len())
    }

    /// `None` if the study needs another round, or has no rule.
    fn end(&self) -> Option<End> {
        let rule = self.stopping.as_ref()?;
        let last = self.rounds.last().filter(|it| it.seeds == self.seeds.len())?;
        let before = self.rounds.iter().rev().nth(1);
        let Some(now) = last.widest_percent else { return Some(End::NoInterval) };
        let before = before.and_then(|it| Some((it.widest_percent?, it.seeds)));
        match before {
            _ if now <= rule.width_percent => Some(End::Narrow(now)),
            _ if last.seeds >= rule.seeds_max => Some(End::Most(now)),
            // Of a single page, the pairs are the loads, and more of them always narrow it in the end.
            Some((before, seeds_before)) if self.pages.len() > 1 && now > AS_WIDE_MIN * before => {
                Some(End::AsWide { before, seeds_before, now })
            }
            _ => None,
        }
    }

    /// How many seeds the rule led to, and why, in a sentence. `None` without a rule, or before the end.
    pub(crate) fn said_of_seeds(&self) -> Option<String> {
        let (seeds, asked) = (self.seeds.len(), self.stopping.as_ref()?.width_percent);
        Some(match self.end()? {
            End::Narrow(now) => {
                format!("{seeds} seeds: the widest interval is {now:.1} % wide, at most {asked} %")
            }
            End::Most(now) => format!(
                "stopped at the maximum of {seeds} seeds: the widest interval is {now:.1} % wide, more than {asked} %"
            ),
            End::AsWide { before, seeds_before, now } => format!(
                "stopped at {seeds} seeds: the widest interval is {now:.1} % wide, and was {before:.1} % with {seeds_before}, so more \
                 seeds do not narrow it to {asked} %; more sites would"
            ),
            End::NoInterval => {
                format!(
                    "stopped at {seeds} seeds: there is no interval that more of them could narrow"
                )
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contender;
    use crate::network::Network;
    use crate::study::engines;
    use corpus::Page;
    use std::sync::Arc;

    /// The numbers of seeds of all rounds whose widest intervals are these, and what the study says in the end.
    fn rounds(
        pages: usize,
        seeds_max: usize,
        widths: &[Option<f64>],
    ) -> (Vec<usize>, Option<String>) {
        let page = corpus::bundled("davies-meenan").expect("bundled");
        let named = |place| Arc::new(Page { name: format!("page{place}"), ..page.clone() });
        let schemes = ["rr", "fifo"].map(|it| Contender::find(it).expect("a scheme"));
        let network = Network::find("3g-lossy").expect("built in");
        let plan =
            Plan::new((0..pages).map(named).collect(), schemes.into(), engines::STACK, network);
        let rule = Stopping { width_percent: 5.0, seeds_max };
        let mut plan = Plan { seeds: vec![40], ..plan }.stopped_by(rule);
        let mut counts = vec![plan.seeds.len()];
        for width in widths {
            if plan.end_round(*width) {
                counts.push(plan.seeds.len());
            }
        }
        assert!(plan.seeds.iter().copied().eq(40..40 + plan.seeds.len() as u64));
        let said = plan.said_of_seeds();
        assert!(said.is_none() || !plan.end_round(Some(1.0)), "what is decided stays so");
        (counts, said)
    }

    #[test]
    fn rounds_end_where_the_widest_interval_is_narrow_enough() {
        let (counts, said) = rounds(8, 64, &[Some(6.2), Some(4.6), Some(9.0)]);
        assert_eq!(counts, [9, 17]);
        assert_eq!(
            said.as_deref(),
            Some("17 seeds: the widest interval is 4.6 % wide, at most 5 %")
        );
        let (counts, said) = rounds(8, 64, &[Some(5.0)]);
        assert_eq!(counts, [9]);
        assert_eq!(
            said.as_deref(),
            Some("9 seeds: the widest interval is 5.0 % wide, at most 5 %")
        );
    }

    #[test]
    fn rounds_end_at_the_maximum_and_say_how_wide_the_interval_still_is() {
        let (counts, said) = rounds(8, 20, &[Some(9.0), Some(8.0), Some(7.0)]);
        assert_eq!(counts, [9, 17, 20]);
        let expected =
            "stopped at the maximum of 20 seeds: the widest interval is 7.0 % wide, more than 5 %";
        assert_eq!(said.as_deref(), Some(expected));
        assert_eq!(rounds(8, 3, &[Some(9.0)]).0, [3]);
    }

    #[test]
    fn rounds_end_where_more_seeds_do_not_narrow_the_interval_unless_the_pairs_are_loads() {
        let (counts, said) = rounds(8, 64, &[Some(22.2), Some(22.1)]);
        assert_eq!(counts, [9, 17]);
        let expected = "stopped at 17 seeds: the widest interval is 22.1 % wide, and was 22.2 % with 9, so more seeds do not \
                        narrow it to 5 %; more sites would";
        assert_eq!(said.as_deref(), Some(expected));
        assert_eq!(rounds(1, 64, &[Some(22.2), Some(22.1)]), (vec![9, 17, 25], None));
        let (counts, said) = rounds(8, 64, &[None]);
        assert_eq!(counts, [9]);
        let expected = "stopped at 9 seeds: there is no interval that more of them could narrow";
        assert_eq!(said.as_deref(), Some(expected));
    }
}
