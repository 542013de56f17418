//! One choice for each page, and one for the site: a visitor's network is not known to a server, so what is best on one network is
//! not yet what to do.
//!
//! An order for several networks is the one whose worst regret is least, as the robust choice, and that is on no network slower than
//! the present one. Priorities of single resources are
//! chosen where they are as fast, because any server that sends by RFC 9218 can be told them.

use super::robust::{LeastWorst, Regrets, least_worst};
use super::trial::BATCH;
use super::{Answer, ByResource, PageAnswer, RankedOrder, Verdict, WHAT_YOU_HAVE};
use crate::study::policy::WORTHWHILE;
use crate::study::statistics::geometric_mean;
use serde::Serialize;
use std::collections::BTreeMap;

/// What to do for a page, or for the site.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// The page; null: all pages, as one site.
    pub page: Option<String>,
    /// What to do.
    pub kind: ChoiceKind,
    /// The scheme to change to, where that is the choice.
    pub scheme: Option<String>,
    /// How many times as fast as now: the geometric mean over pages and networks.
    pub speedup: f64,
    /// The choice in words.
    pub words: String,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChoiceKind {
    /// Keep the present order.
    Keep,
    /// Send under a scheme.
    Scheme,
    /// Give single resources priorities of RFC 9218.
    Priorities,
}

/// The choices: one for each page, and then one for the site where there are several pages. `by_resource`: what was found of single
/// resources; empty where it was not searched.
pub fn choices(answer: &Answer, by_resource: &[ByResource]) -> Vec<Choice> {
    let mut names: Vec<&str> = answer.pages.iter().map(|it| &*it.page).collect();
    names.dedup();
    let mut choices: Vec<Choice> = Vec::new();
    for name in &names {
        let cases: Vec<&PageAnswer> = answer.pages.iter().filter(|it| it.page == *name).collect();
        choices.push(choice(Some(name), &cases, by_resource));
    }
    if names.len() > 1 {
        choices.push(choice(None, &answer.pages.iter().collect::<Vec<_>>(), by_resource));
    }
    choices
}

fn choice(page: Option<&str>, cases: &[&PageAnswer], by_resource: &[ByResource]) -> Choice {
    let mut gains: Vec<&ByResource> = by_resource.iter().filter(|it| it.is_better).collect();
    gains.retain(|it| cases.iter().any(|case| case.page == it.page));
    let of_priorities = mean(cases.iter().map(|it| speedup(it, &gains)));
    let scheme = scheme(cases);
    let of_scheme =
        scheme.as_ref().map_or(1.0, |it| mean(cases.iter().map(|case| case.speedup(it))));
    let (kind, scheme, speedup) = match scheme {
        _ if !gains.is_empty() && of_priorities * WORTHWHILE >= of_scheme => {
            (ChoiceKind::Priorities, None, of_priorities)
        }
        Some(scheme) => (ChoiceKind::Scheme, Some(scheme), of_scheme),
        None => (ChoiceKind::Keep, None, 1.0),
    };
    let mut choice =
        Choice { page: page.map(str::to_owned), kind, scheme, speedup, words: String::new() };
    choice.words = choice.in_words(cases.len(), &gains);
    choice
}

fn mean(ratios: impl Iterator<Item = f64>) -> f64 {
    geometric_mean(&ratios.collect::<Vec<f64>>()).unwrap_or(1.0)
}

/// The scheme for these pages and networks; `None`: keep what there is.
fn scheme(cases: &[&PageAnswer]) -> Option<String> {
    if let [case] = cases {
        return case.choice.clone();
    }
    least_bad(cases).map(|it| it.scheme).filter(|it| it != WHAT_YOU_HAVE)
}

/// The order whose worst regret is least, among those that are slower than the present one on no network. The present one, where
/// nothing is better than it anywhere.
pub(super) fn least_bad(cases: &[&PageAnswer]) -> Option<LeastWorst> {
    let is_beaten = cases.iter().any(|it| it.verdict == Verdict::Better);
    let mut regrets: Vec<Regrets> = cases.iter().map(|it| it.regrets()).collect();
    for it in &mut regrets {
        it.retain(|order| order == WHAT_YOU_HAVE || is_beaten && is_harmless(cases, order));
    }
    least_worst(&regrets)
}

/// Whether a scheme has enough loads everywhere, and is as fast as the present order on each network, the geometric mean over pages.
fn is_harmless(cases: &[&PageAnswer], scheme: &str) -> bool {
    let mut networks: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for case in cases {
        let row = case.row(scheme).filter(|it| is_loaded(it));
        let Some(speedup) = row.and_then(|it| it.speedup_present) else { return false };
        networks.entry(&case.network).or_default().push(speedup);
    }
    networks.values().all(|it| geometric_mean(it).is_some_and(|mean| mean >= 1.0))
}

/// Whether an order has a whole batch of loads. One load that came out well is chance.
pub(super) fn is_loaded(order: &RankedOrder) -> bool {
    order.loads >= BATCH
}

/// How many times as fast a page is on a network with priorities.
fn speedup(case: &PageAnswer, gains: &[&ByResource]) -> f64 {
    let found = gains.iter().find(|it| it.page == case.page);
    let gain = found.and_then(|it| it.networks.iter().find(|it| it.network == case.network));
    gain.and_then(|it| it.judgement.ratio).unwrap_or(1.0)
}

impl PageAnswer {
    fn speedup(&self, scheme: &str) -> f64 {
        self.row(scheme).and_then(|it| it.speedup_present).unwrap_or(1.0)
    }

    fn row(&self, scheme: &str) -> Option<&RankedOrder> {
        self.ranking.iter().find(|it| it.scheme == scheme && !it.is_present)
    }

    /// The regret of each order by its label, the present one first: it stays among equals.
    pub(super) fn regrets(&self) -> Regrets {
        let mut orders: Vec<_> = self.ranking.iter().collect();
        orders.sort_by_key(|it| !it.is_present);
        Regrets::of(orders.into_iter().filter_map(|order| {
            let label = if order.is_present { WHAT_YOU_HAVE } else { &order.scheme };
            Some((label, order.index.ms()?, order.regret))
        }))
    }
}

impl Choice {
    fn in_words(&self, cases: usize, gains: &[&ByResource]) -> String {
        let whom = self.page.as_deref().unwrap_or("the site, one order for all pages");
        let over = match (cases, self.page.is_some()) {
            (1, _) => "",
            (_, true) => ", the geometric mean over networks",
            (_, false) => ", the geometric mean over pages and networks",
        };
        let gain = format!("{:.3} times as fast as {WHAT_YOU_HAVE}{over}", self.speedup);
        match (self.kind, &self.scheme) {
            (ChoiceKind::Scheme, Some(scheme)) => {
                format!("Choice for {whom}: {scheme}. It is {gain}.")
            }
            (ChoiceKind::Priorities, _) => {
                let pages = if self.page.is_some() {
                    String::new()
                } else {
                    let named: Vec<&str> = gains.iter().map(|it| &*it.page).collect();
                    format!(" of the pages {}", named.join(", "))
                };
                format!(
                    "Choice for {whom}: priorities for single resources{pages} (RFC 9218), as listed below. They are {gain}, and a \
                     server that obeys browsers sends by them."
                )
            }
            _ => format!("Choice for {whom}: keep {WHAT_YOU_HAVE}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finder::answer::{Index, JudgedCandidate, RankedOrder};
    use crate::finder::by_resource::Gain;

    fn order(scheme: &str, ms: f64, speedup_present: f64) -> RankedOrder {
        RankedOrder {
            scheme: scheme.to_owned(),
            is_present: scheme == "now",
            loads: 9,
            index: Index { atf_ms: Some(ms), all_ms: None },
            speedup_rr: None,
            speedup_present: Some(speedup_present),
            interval: None,
            regret: None,
        }
    }

    /// A page whose present order has an index of 100 ms, and the others these.
    fn case(page: &str, network: &str, better: Option<&str>, others: &[(&str, f64)]) -> PageAnswer {
        let present = order("now", 100.0, 1.0);
        let others = others.iter().map(|(scheme, ms)| order(scheme, *ms, 100.0 / ms));
        PageAnswer {
            page: page.to_owned(),
            network: network.to_owned(),
            verdict: if better.is_some() { Verdict::Better } else { Verdict::NothingBetter },
            choice: better.map(str::to_owned),
            ranking: [present].into_iter().chain(others).collect(),
            ..PageAnswer::default()
        }
    }

    fn priorities(page: &str, network: &str, ratio: f64) -> ByResource {
        let judgement = JudgedCandidate { ratio: Some(ratio), ..JudgedCandidate::default() };
        ByResource::with_gain(page, Gain::judged(network, judgement))
    }

    fn chosen(pages: Vec<PageAnswer>, by_resource: &[ByResource]) -> Vec<String> {
        let choices = choices(&Answer::with_pages(pages), by_resource);
        choices.into_iter().map(|it| it.words).collect()
    }

    #[test]
    fn each_page_has_one_choice_and_the_site_has_one() {
        let pages = vec![
            case("home", "cable", None, &[("fifo", 99.0), ("srpt", 104.0)]),
            case("home", "3g", Some("srpt"), &[("fifo", 80.0), ("srpt", 78.0)]),
            case("cart", "cable", None, &[("fifo", 101.0), ("srpt", 102.0)]),
            case("cart", "3g", None, &[("fifo", 99.5), ("srpt", 99.0)]),
        ];
        assert_eq!(
            chosen(pages, &[]),
            [
                "Choice for home: fifo. It is 1.124 times as fast as what you have, the geometric mean over networks.",
                "Choice for cart: keep what you have.",
                "Choice for the site, one order for all pages: fifo. It is 1.059 times as fast as what you have, the geometric mean \
                 over pages and networks."
            ]
        );
    }

    #[test]
    fn priorities_are_chosen_where_they_are_as_fast_as_a_scheme() {
        let pages = || vec![case("home", "3g", Some("srpt"), &[("srpt", 80.0)])];
        assert_eq!(
            chosen(pages(), &[priorities("home", "3g", 1.24)]),
            [
                "Choice for home: priorities for single resources (RFC 9218), as listed below. They are 1.240 times as fast as what you \
              have, and a server that obeys browsers sends by them."
            ]
        );
        assert_eq!(
            chosen(pages(), &[priorities("home", "3g", 1.2)]),
            ["Choice for home: srpt. It is 1.250 times as fast as what you have."]
        );
    }

    #[test]
    fn an_order_that_is_slower_on_a_network_or_has_one_load_is_never_chosen() {
        let cases = || {
            vec![
                case("home", "cable", None, &[("spdy", 101.0), ("fifo", 99.0), ("dfifo", 97.0)]),
                case(
                    "home",
                    "3g",
                    Some("spdy"),
                    &[("spdy", 70.0), ("fifo", 98.0), ("dfifo", 90.0)],
                ),
            ]
        };
        // `spdy` has the least worst regret.
        let words = "Choice for home: dfifo. It is 1.070 times as fast as what you have, the geometric mean over networks.";
        assert_eq!(chosen(cases(), &[]), [words]);
        let mut once = cases();
        once[0].ranking[3].loads = 1;
        let words = "Choice for home: fifo. It is 1.015 times as fast as what you have, the geometric mean over networks.";
        assert_eq!(chosen(once, &[]), [words]);
    }

    #[test]
    fn where_nothing_is_better_what_there_is_is_kept() {
        // The best median may be chance.
        let cases = |better| {
            vec![
                case("home", "cable", None, &[("fifo", 97.0)]),
                case("home", "3g", better, &[("fifo", 96.0)]),
            ]
        };
        assert_eq!(chosen(cases(None), &[]), ["Choice for home: keep what you have."]);
        assert!(chosen(cases(Some("fifo")), &[])[0].starts_with("Choice for home: fifo."));
    }
}
