//! Compares an earlier answer with today's: has a page become slower in its present order, and is the earlier result
//! still right?

use super::ByResource;
use super::answer::JudgedCandidate;
use super::by_resource::Gain;
use super::trial::{Indices, Judgement, adjusted, judged, ratios};
use super::words::evidence;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The stored part of an earlier answer.
#[derive(Debug, Clone, Deserialize)]
pub struct Baseline {
    /// The measure of its loads.
    pub metric: String,
    by_resource: Vec<PageBefore>,
}

#[derive(Debug, Clone, Deserialize)]
struct PageBefore {
    page: String,
    page_sha256: String,
    is_better: bool,
    resources: Vec<LineBefore>,
    networks: Vec<NetworkBefore>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct LineBefore {
    url: String,
    urgency: u8,
    incremental: bool,
}

#[derive(Debug, Clone, Deserialize)]
struct NetworkBefore {
    network: String,
    each_present_ms: Indices,
}

impl Baseline {
    fn page(&self, name: &str) -> Option<&PageBefore> {
        self.by_resource.iter().find(|it| it.page == name)
    }
}

impl PageBefore {
    fn network(&self, name: &str) -> Option<&NetworkBefore> {
        self.networks.iter().find(|it| it.network == name)
    }

    /// Whether the page has changed, and other lines are now the best for it.
    fn is_stale(&self, now: &ByResource) -> bool {
        let then: BTreeSet<LineBefore> =
            self.resources.iter().filter(|_| self.is_better).cloned().collect();
        let lines = now.resources.iter().filter(|_| now.is_better).map(|it| LineBefore {
            url: it.url.clone(),
            urgency: it.urgency,
            incremental: it.incremental,
        });
        self.page_sha256 != now.page_sha256 && then != lines.collect()
    }
}

/// A page on a network, then and now.
#[derive(Debug, Clone, Serialize)]
pub struct Change {
    /// The page.
    pub page: String,
    /// The network.
    pub network: String,
    /// How it changed, in the present order.
    pub verdict: ChangeVerdict,
    /// The earlier index divided by the present one, over pairs of loads with the same seed: below 1, the page is now
    /// slower.
    #[serde(flatten)]
    pub judgement: JudgedCandidate,
    /// The page has changed, and other priorities are the best for it: the earlier result is stale.
    pub is_stale: bool,
    /// All of it in words.
    pub words: String,
}

/// How a page changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeVerdict {
    /// It became slower, beyond chance.
    Slower,
    /// It got faster.
    Faster,
    /// No difference shows.
    Same,
    /// It is not in the baseline, or no pair of loads finished.
    Unknown,
}

/// Compares results with an earlier answer: a row for each page and network, and one for each that no longer exists.
pub fn changes(before: &Baseline, found: &[ByResource]) -> Vec<Change> {
    let mut nows: Vec<(&ByResource, &Gain)> = Vec::new();
    for page in found {
        nows.extend(page.networks.iter().map(|it| (page, it)));
    }
    let mut judgements: Vec<Option<Judgement>> = Vec::new();
    for (page, now) in &nows {
        let then = before.page(&page.page).and_then(|it| it.network(&now.network));
        let ratios = then.map(|it| ratios(&it.each_present_ms, &now.each_present_ms));
        judgements.push(ratios.and_then(|it| judged(&it)));
    }
    let p_values: Vec<Option<f64>> = judgements.iter().map(|it| it.and_then(|it| it.p)).collect();
    let mut rows = Vec::new();
    for (((page, now), judged), holm_p) in nows.iter().zip(judgements).zip(adjusted(&p_values)) {
        rows.push(Change::of(page, &now.network, before.page(&page.page), judged, holm_p));
    }
    for then in &before.by_resource {
        for network in &then.networks {
            let is_there = |it: &(&ByResource, &Gain)| {
                (&it.0.page, &it.1.network) == (&then.page, &network.network)
            };
            if !nows.iter().any(is_there) {
                rows.push(Change::gone(&then.page, &network.network));
            }
        }
    }
    rows
}

impl Change {
    fn of(
        now: &ByResource,
        network: &str,
        then: Option<&PageBefore>,
        judged: Option<Judgement>,
        adjusted_p: Option<f64>,
    ) -> Self {
        let verdict = match judged {
            None => ChangeVerdict::Unknown,
            Some(it) if it.is_better(adjusted_p) => ChangeVerdict::Faster,
            Some(it) if it.inverted().is_better(adjusted_p) => ChangeVerdict::Slower,
            Some(_) => ChangeVerdict::Same,
        };
        let judgement =
            judged.map(|it| JudgedCandidate { holm_p: adjusted_p, ..JudgedCandidate::of(it) });
        let change = Self {
            page: now.page.clone(),
            network: network.to_owned(),
            verdict,
            judgement: judgement.unwrap_or_default(),
            is_stale: then.is_some_and(|it| it.is_stale(now)),
            words: String::new(),
        };
        let is_known = then.is_some_and(|it| it.network(network).is_some());
        Self { words: change.in_words(is_known), ..change }
    }

    /// A page of the baseline that no longer exists.
    fn gone(page: &str, network: &str) -> Self {
        Self {
            words: format!("{page} on {network}: only in the baseline"),
            page: page.to_owned(),
            network: network.to_owned(),
            verdict: ChangeVerdict::Unknown,
            judgement: JudgedCandidate::default(),
            is_stale: false,
        }
    }

    fn in_words(&self, is_known: bool) -> String {
        let place = format!("{} on {}", self.page, self.network);
        let evidence = evidence(&self.judgement);
        let speed = match (self.verdict, self.judgement.ratio) {
            (verdict @ (ChangeVerdict::Slower | ChangeVerdict::Faster), Some(ratio)) => {
                let word = if verdict == ChangeVerdict::Slower { "slower" } else { "faster" };
                format!("{word}, {ratio:.2} times as fast as in the baseline ({evidence})")
            }
            (ChangeVerdict::Same, Some(ratio)) => {
                format!("as fast as in the baseline ({ratio:.2}; {evidence})")
            }
            _ if !is_known => "not in the baseline".to_owned(),
            _ => "unknown, because too few loads finished".to_owned(),
        };
        let stale = if self.is_stale {
            "; the page has changed, and the earlier answer is not the best for it now: run the search again"
        } else {
            ""
        };
        format!("{place}: {speed}{stale}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(page: &str, present_ms: &[f64], image: &str, sha256: &str) -> ByResource {
        let mut gain = Gain::judged("cable", 1.2, [1.1, 1.3]);
        gain.each_present_ms = present_ms.iter().map(|it| Some(*it)).collect();
        let mut found = ByResource::with_gains(page, vec![gain]);
        (found.is_better, found.page_sha256) = (true, sha256.to_owned());
        image.clone_into(&mut found.resources[0].url);
        found
    }

    fn told(before: &[ByResource], now: &[ByResource]) -> Vec<String> {
        let text = json!({ "metric": "seen", "by_resource": before }).to_string();
        let before: Baseline = serde_json::from_str(&text).expect("an answer");
        changes(&before, now).into_iter().map(|it| it.words).collect()
    }

    /// Indices near `ms`, which differ from seed to seed.
    fn near(ms: f64) -> Vec<f64> {
        (0..9).map(|it| ms * (1.0 + 0.01 * f64::from(it % 4))).collect()
    }

    #[test]
    fn a_page_that_got_slower_is_told_from_one_that_did_not() {
        let noisy = |ms: f64| {
            (0..9).map(|it| ms * (1.0 + 0.01 * f64::from((it * 5) % 7))).collect::<Vec<_>>()
        };
        let before = [page("a", &near(100.0), "hero", "1"), page("b", &near(100.0), "hero", "1")];
        let now = [page("a", &noisy(120.0), "hero", "2"), page("b", &near(100.0), "hero", "1")];
        let told = told(&before, &now);
        assert!(told[0].starts_with("a on cable: slower, 0.8"), "{told:?}");
        assert_eq!(
            told[1],
            "b on cable: as fast as in the baseline (1.00; the same in all 9 pairs of loads)"
        );
    }

    #[test]
    fn an_answer_is_stale_if_the_page_changed_and_other_priorities_are_best_now() {
        let before = ["a", "b", "c"].map(|it| page(it, &near(100.0), "hero", "1"));
        let now = [
            page("a", &near(100.0), "logo", "2"),
            // Chance alone may choose another one.
            page("b", &near(100.0), "logo", "1"),
            page("c", &near(100.0), "hero", "2"),
        ];
        let told = told(&before, &now);
        let stale = "the page has changed, and the earlier answer is not the best for it now: run the search again";
        assert!(told[0].ends_with(stale), "{told:?}");
        assert!(told[1..].iter().all(|it| !it.contains("changed")), "{told:?}");
    }

    #[test]
    fn pages_of_one_answer_alone_are_told_and_not_judged() {
        let one = |name| [page(name, &near(100.0), "hero", "1")];
        assert_eq!(
            told(&one("old"), &one("new")),
            ["new on cable: not in the baseline", "old on cable: only in the baseline"]
        );
    }
}
