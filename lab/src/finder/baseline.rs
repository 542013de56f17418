//! An earlier answer beside today's: did a page get slower in the order that it has, and is what was found then still right?

use super::answer::JudgedCandidate;
use super::trial::{Indices, Judgement, adjusted, judged, ratios};
use super::words::evidence;
use super::{Answer, Goal, PageAnswer, WHAT_YOU_HAVE};
use serde::{Deserialize, Serialize};

/// What is kept of an earlier answer.
#[derive(Debug, Clone, Deserialize)]
pub struct Baseline {
    /// What its loads were judged by.
    #[serde(default = "byte_index")]
    pub metric: String,
    pages: Vec<PageBefore>,
}

/// What answers without a name for it were judged by.
fn byte_index() -> String {
    Goal::default().text()
}

#[derive(Debug, Clone, Deserialize)]
struct PageBefore {
    page: String,
    network: String,
    choice: Option<String>,
    page_sha256: String,
    present_ms: Indices,
}

impl PageBefore {
    fn is_of(&self, now: &PageAnswer) -> bool {
        self.page == now.page && self.network == now.network
    }
}

/// A page on a network, then and now.
#[derive(Debug, Clone, Serialize)]
pub struct Change {
    /// The page.
    pub page: String,
    /// The network.
    pub network: String,
    /// What became of it, in the present order.
    pub verdict: ChangeVerdict,
    /// The index of then divided by the one of now, over pairs of loads with the same seed: below 1 the page is slower now.
    #[serde(flatten)]
    pub judgement: JudgedCandidate,
    /// The index in the present order divided by its lower bound; null where there is no bound.
    pub regret: Option<f64>,
    /// The page is another one, and another order is the best for it: what was found then is stale.
    pub is_stale: bool,
    /// All of it in words.
    pub words: String,
}

/// What became of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeVerdict {
    /// It got slower, beyond what chance does.
    Slower,
    /// It got faster.
    Faster,
    /// No difference shows.
    Same,
    /// The baseline does not have it, or no pair of loads finished.
    Unknown,
}

/// Compares `answer` with an earlier one: a row for each page and network of `answer`, and one for each that it has no more.
pub fn changes(before: &Baseline, answer: &Answer) -> Vec<Change> {
    let thens: Vec<Option<&PageBefore>> =
        answer.pages.iter().map(|now| before.pages.iter().find(|it| it.is_of(now))).collect();
    let mut judgements: Vec<Option<Judgement>> = Vec::new();
    for (now, then) in answer.pages.iter().zip(&thens) {
        judgements.push(then.and_then(|it| judged(&ratios(&it.present_ms, &now.present_ms))));
    }
    let p_values: Vec<Option<f64>> = judgements.iter().map(|it| it.and_then(|it| it.p)).collect();
    let mut rows = Vec::new();
    for (place, holm_p) in adjusted(&p_values).into_iter().enumerate() {
        rows.push(Change::of(&answer.pages[place], thens[place], judgements[place], holm_p));
    }
    for then in &before.pages {
        if !answer.pages.iter().any(|now| then.is_of(now)) {
            rows.push(Change::gone(then));
        }
    }
    rows
}

impl Change {
    fn of(
        now: &PageAnswer,
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
        let changed = then.is_some_and(|it| it.page_sha256 != now.page_sha256);
        let present = now.ranking.iter().find(|it| it.is_present);
        let judgement =
            judged.map(|it| JudgedCandidate { holm_p: adjusted_p, ..JudgedCandidate::of(it) });
        let change = Self {
            page: now.page.clone(),
            network: now.network.clone(),
            verdict,
            judgement: judgement.unwrap_or_default(),
            regret: present.and_then(|it| it.regret),
            is_stale: changed && then.is_some_and(|it| it.choice != now.choice),
            words: String::new(),
        };
        Self { words: change.in_words(now, then), ..change }
    }

    /// A page of the baseline that is not there any more.
    fn gone(then: &PageBefore) -> Self {
        let PageBefore { page, network, .. } = then;
        Self {
            words: format!("{page} on {network}: only in the baseline"),
            page: page.clone(),
            network: network.clone(),
            verdict: ChangeVerdict::Unknown,
            judgement: JudgedCandidate::default(),
            regret: None,
            is_stale: false,
        }
    }

    fn in_words(&self, now: &PageAnswer, then: Option<&PageBefore>) -> String {
        let place = format!("{} on {}", self.page, self.network);
        let evidence = evidence(&self.judgement);
        let speed = match (self.verdict, self.judgement.ratio) {
            (verdict @ (ChangeVerdict::Slower | ChangeVerdict::Faster), Some(ratio)) => {
                let word = if verdict == ChangeVerdict::Slower { "slower" } else { "faster" };
                format!("{word}, {ratio:.3} times as fast as in the baseline ({evidence})")
            }
            (ChangeVerdict::Same, Some(ratio)) => {
                format!("as fast as in the baseline ({ratio:.3}; {evidence})")
            }
            _ if then.is_none() => "not in the baseline".to_owned(),
            _ => "unknown, because too few loads finished".to_owned(),
        };
        let stale = match then {
            Some(then) if self.is_stale => format!(
                "; the page has changed, and {} is no longer the best order for it: {} is",
                then.choice.as_deref().unwrap_or(WHAT_YOU_HAVE),
                now.choice.as_deref().unwrap_or(WHAT_YOU_HAVE)
            ),
            _ => String::new(),
        };
        format!("{place}: {speed}{stale}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(page: &str, present_ms: &[f64], choice: Option<&str>, sha256: &str) -> PageAnswer {
        PageAnswer {
            page: page.to_owned(),
            network: "cable".to_owned(),
            present_ms: present_ms.iter().map(|it| Some(*it)).collect(),
            choice: choice.map(str::to_owned),
            page_sha256: sha256.to_owned(),
            ..PageAnswer::default()
        }
    }

    fn told(before: &[PageAnswer], now: Vec<PageAnswer>) -> Vec<String> {
        let text = json!({ "pages": before }).to_string();
        let before: Baseline = serde_json::from_str(&text).expect("an answer");
        let changes = changes(&before, &Answer::with_pages(now));
        changes.into_iter().map(|it| it.words).collect()
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
        let before = [page("a", &near(100.0), None, "1"), page("b", &near(100.0), None, "1")];
        let now = vec![page("a", &noisy(120.0), None, "2"), page("b", &near(100.0), None, "1")];
        let told = told(&before, now);
        assert!(told[0].starts_with("a on cable: slower, 0.8"), "{told:?}");
        assert_eq!(
            told[1],
            "b on cable: as fast as in the baseline (1.000; the same in all 9 pairs of loads)"
        );
    }

    #[test]
    fn a_choice_is_stale_if_the_page_changed_and_another_order_is_best_now() {
        let before = [
            page("a", &near(100.0), Some("fifo"), "1"),
            page("b", &near(100.0), Some("fifo"), "1"),
            page("c", &near(100.0), Some("fifo"), "1"),
        ];
        let now = vec![
            page("a", &near(100.0), Some("bucket"), "2"),
            // Chance alone may choose another one.
            page("b", &near(100.0), Some("bucket"), "1"),
            page("c", &near(100.0), Some("fifo"), "2"),
        ];
        let told = told(&before, now);
        let stale = "the page has changed, and fifo is no longer the best order for it: bucket is";
        assert!(told[0].ends_with(stale), "{told:?}");
        assert!(told[1..].iter().all(|it| !it.contains("changed")), "{told:?}");
    }

    #[test]
    fn pages_of_one_answer_alone_are_told_and_not_judged() {
        let before = [page("old", &near(100.0), None, "1")];
        let told = told(&before, vec![page("new", &near(100.0), None, "1")]);
        assert_eq!(
            told,
            ["new on cable: not in the baseline", "old on cable: only in the baseline"]
        );
    }
}
