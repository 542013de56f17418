//! One order for several pages and networks: the one with the lowest worst regret, among those not slower than the present one on
//! any network.

use super::trial::BATCH;
use super::{PageAnswer, RankedOrder, Verdict, WHAT_YOU_HAVE};
use crate::study::statistics::geometric_mean;
use std::collections::BTreeMap;

/// The regret of each order for one page and one network, in naming order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Regrets(Vec<(String, f64)>);

#[derive(Debug, Clone, PartialEq)]
pub(super) struct LeastWorst {
    pub(super) scheme: String,
    pub(super) worst_regret: f64,
    /// The index of its worst case.
    pub(super) case: usize,
}

impl Regrets {
    /// From each order's name, its index, and its regret. Without lower bounds, as on pages with nothing above the fold, a regret is
    /// the index divided by the best one here.
    pub(super) fn of<'a>(orders: impl Iterator<Item = (&'a str, f64, Option<f64>)>) -> Self {
        let orders: Vec<_> = orders.collect();
        let best = orders.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
        let mut regrets = Vec::new();
        for (name, index, regret) in orders {
            regrets.push((name.to_owned(), regret.unwrap_or(index / best)));
        }
        Self(regrets)
    }

    pub(super) fn get(&self, scheme: &str) -> Option<f64> {
        self.0.iter().find(|it| it.0 == scheme).map(|it| it.1)
    }

    pub(super) fn retain(&mut self, stays: impl Fn(&str) -> bool) {
        self.0.retain(|it| stays(&it.0));
    }
}

/// The order with the lowest worst regret among those in every case; among equals the one named first.
pub(super) fn least_worst(cases: &[Regrets]) -> Option<LeastWorst> {
    let mut best: Option<LeastWorst> = None;
    for (scheme, _) in &cases.first()?.0 {
        let Some(found) = worst(cases, scheme) else { continue };
        if best.as_ref().is_none_or(|best| found.worst_regret < best.worst_regret) {
            best = Some(found);
        }
    }
    best
}

/// The worst case of `scheme`, the first among equals; `None` if a case lacks it.
fn worst(cases: &[Regrets], scheme: &str) -> Option<LeastWorst> {
    let regrets: Option<Vec<f64>> = cases.iter().map(|it| it.get(scheme)).collect();
    let regrets = regrets?.into_iter().enumerate();
    let (case, worst_regret) =
        regrets.reduce(|worst, it| if it.1 > worst.1 { it } else { worst })?;
    Some(LeastWorst { scheme: scheme.to_owned(), worst_regret, case })
}

/// The order with the lowest worst regret, among those not slower than the present one on any network. The present one if nothing
/// beats it anywhere.
pub(super) fn least_bad(cases: &[&PageAnswer]) -> Option<LeastWorst> {
    let is_beaten = cases.iter().any(|it| it.verdict == Verdict::Better);
    let mut regrets: Vec<Regrets> = cases.iter().map(|it| it.regrets()).collect();
    for it in &mut regrets {
        it.retain(|order| order == WHAT_YOU_HAVE || is_beaten && is_harmless(cases, order));
    }
    least_worst(&regrets)
}

/// Whether a scheme has enough loads everywhere, and is at least as fast as the present order on each network, in the geometric mean
/// over pages.
fn is_harmless(cases: &[&PageAnswer], scheme: &str) -> bool {
    let mut networks: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for case in cases {
        let row = case.row(scheme).filter(|it| is_loaded(it));
        let Some(speedup) = row.and_then(|it| it.speedup_present) else { return false };
        networks.entry(&case.network).or_default().push(speedup);
    }
    networks.values().all(|it| geometric_mean(it).is_some_and(|mean| mean >= 1.0))
}

/// Whether an order has a whole batch of loads. A single good load may be chance.
pub(super) fn is_loaded(order: &RankedOrder) -> bool {
    order.loads >= BATCH
}

impl PageAnswer {
    fn row(&self, scheme: &str) -> Option<&RankedOrder> {
        self.ranking.iter().find(|it| it.scheme == scheme && !it.is_present)
    }

    /// The regret of each order by label, the present one first, so that it wins among equals.
    pub(super) fn regrets(&self) -> Regrets {
        let mut orders: Vec<_> = self.ranking.iter().collect();
        orders.sort_by_key(|it| !it.is_present);
        Regrets::of(orders.into_iter().filter_map(|order| {
            let label = if order.is_present { WHAT_YOU_HAVE } else { &order.scheme };
            Some((label, order.index.ms()?, order.regret))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finder::answer::Index;

    fn case(regrets: &[(&str, f64)]) -> Regrets {
        Regrets(regrets.iter().map(|(name, regret)| ((*name).to_owned(), *regret)).collect())
    }

    #[test]
    fn the_robust_order_is_never_far_from_the_best_though_it_is_nowhere_the_best() {
        let cases = [
            case(&[("now", 1.5), ("fifo", 1.0), ("dfifo", 1.2), ("srpt", 1.1)]),
            case(&[("now", 1.4), ("fifo", 3.0), ("dfifo", 1.3)]),
        ];
        let found = least_worst(&cases).expect("an order");
        // `srpt` was not loaded everywhere.
        assert_eq!(found, LeastWorst { scheme: "dfifo".to_owned(), worst_regret: 1.3, case: 1 });
        assert_eq!(cases[1].get("now"), Some(1.4));
    }

    #[test]
    fn of_equals_the_first_stays_and_without_cases_there_is_none() {
        let equal = case(&[("now", 1.2), ("fifo", 1.2)]);
        assert_eq!(least_worst(&[equal]).map(|it| it.scheme), Some("now".to_owned()));
        assert_eq!(least_worst(&[]), None);
        assert_eq!(least_worst(&[case(&[("fifo", 1.0)]), case(&[("rr", 1.0)])]), None);
    }

    #[test]
    fn without_a_lower_bound_the_best_order_of_the_case_has_regret_1() {
        let orders = [("now", 150.0, None), ("fifo", 100.0, None)];
        assert_eq!(Regrets::of(orders.into_iter()), case(&[("now", 1.5), ("fifo", 1.0)]));
        let bounded = [("now", 150.0, Some(2.0)), ("fifo", 100.0, Some(1.3))];
        assert_eq!(Regrets::of(bounded.into_iter()), case(&[("now", 2.0), ("fifo", 1.3)]));
    }

    fn order(scheme: &str, ms: f64, loads: usize) -> RankedOrder {
        RankedOrder {
            scheme: scheme.to_owned(),
            is_present: scheme == "now",
            loads,
            index: Index { atf_ms: Some(ms), all_ms: None },
            speedup_rr: None,
            speedup_present: Some(100.0 / ms),
            interval: None,
            regret: None,
        }
    }

    /// The order for a page on two networks, whose present order has an index of 100 ms; `loads`: the loads under `dfifo` on the
    /// first.
    fn chosen(verdict: Verdict, loads: usize) -> String {
        let case = |network: &str, verdict, others: &[(&str, f64, usize)]| PageAnswer {
            network: network.to_owned(),
            verdict,
            ranking: [("now", 100.0, 9)]
                .iter()
                .chain(others)
                .map(|it| order(it.0, it.1, it.2))
                .collect(),
            ..PageAnswer::default()
        };
        let first = [("spdy", 101.0, 9), ("fifo", 99.0, 9), ("dfifo", 97.0, loads)];
        let cases = [
            case("cable", Verdict::NothingBetter, &first),
            case("3g", verdict, &[("spdy", 70.0, 9), ("fifo", 98.0, 9), ("dfifo", 90.0, 9)]),
        ];
        least_bad(&cases.iter().collect::<Vec<_>>()).expect("an order").scheme
    }

    #[test]
    fn an_order_that_is_slower_on_a_network_or_has_one_load_is_never_chosen() {
        // `spdy` has the least worst regret.
        assert_eq!(chosen(Verdict::Better, 9), "dfifo");
        assert_eq!(chosen(Verdict::Better, 1), "fifo");
    }

    #[test]
    fn where_nothing_is_better_what_there_is_is_kept() {
        assert_eq!(chosen(Verdict::NothingBetter, 9), WHAT_YOU_HAVE);
    }
}
