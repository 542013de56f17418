//! One order for several pages and networks: the one whose worst regret is least.

/// The regret of each order on one page and one network. Orders are in the order in which they are named.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Regrets(Vec<(String, f64)>);

/// The order with the least worst regret.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LeastWorst {
    pub(super) scheme: String,
    pub(super) worst_regret: f64,
    /// The place of the case where it is worst.
    pub(super) case: usize,
}

impl Regrets {
    /// From each order's name, its index, and the index divided by its lower bound. Without lower bounds, as on pages with
    /// nothing above the fold, a regret is the index divided by the best one here.
    pub(super) fn of<'a>(orders: impl Iterator<Item = (&'a str, f64, Option<f64>)>) -> Self {
        let orders: Vec<_> = orders.collect();
        let best = orders.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
        let mut regrets = Vec::new();
        for (name, index, regret) in orders {
            regrets.push((name.to_owned(), regret.unwrap_or(index / best)));
        }
        Self(regrets)
    }

    /// The regret of an order.
    pub(super) fn get(&self, scheme: &str) -> Option<f64> {
        self.0.iter().find(|it| it.0 == scheme).map(|it| it.1)
    }

    /// Takes orders away.
    pub(super) fn retain(&mut self, stays: impl Fn(&str) -> bool) {
        self.0.retain(|it| stays(&it.0));
    }
}

/// Finds the order with the least worst regret among those that every case has; of equals the one that is named first.
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

/// Where `scheme` is worst, of equals the first case; `None`: a case does not have it.
fn worst(cases: &[Regrets], scheme: &str) -> Option<LeastWorst> {
    let regrets: Option<Vec<f64>> = cases.iter().map(|it| it.get(scheme)).collect();
    let regrets = regrets?.into_iter().enumerate();
    let (case, worst_regret) =
        regrets.reduce(|worst, it| if it.1 > worst.1 { it } else { worst })?;
    Some(LeastWorst { scheme: scheme.to_owned(), worst_regret, case })
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
