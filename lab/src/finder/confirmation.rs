//! Stage 3: what was chosen, and the present order, in real time: over real UDP (engine `wire`), or in a browser.

use super::answer::JudgedCandidate;
use super::paired_loads::Batch;
use super::trial::{Judgement, judged, ratios};
use super::words::evidence;
use super::{Answer, PRESENT, PageAnswer, Question, Step, Verdict, WHAT_YOU_HAVE};
use crate::study::{Engine, StudyError, engines};
use serde::Serialize;

/// Pairs of loads: enough for an interval, and few enough to wait for.
const PAIRS: u64 = 9;

/// What real time says of the choice for a page on a network.
#[derive(Debug, Clone, Serialize)]
pub struct Confirmation {
    /// The page.
    pub page: String,
    /// The network.
    pub network: String,
    /// `wire` or `browser`.
    pub engine: &'static dyn Engine,
    /// The scheme that was chosen.
    pub scheme: String,
    /// The present order beside it, over real UDP. It is one test of one choice, so nothing is adjusted.
    #[serde(flatten)]
    pub judgement: JudgedCandidate,
    /// Whether the interval lies above 1.
    pub is_confirmed: bool,
    /// All of it in words.
    pub words: String,
}

/// Loads each page on each network where something is better than the present order, in both orders. A load takes as long as it
/// takes a visitor. A browser loads in the one order and then in the other, seed by seed on the same links.
pub fn confirm(
    question: &Question,
    answer: &Answer,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Vec<Confirmation>, StudyError> {
    let chosen = answer.pages.iter().filter(|it| it.verdict == Verdict::Better);
    let all = chosen.map(|it| of_page(question, it, progress));
    all.filter_map(Result::transpose).collect()
}

fn of_page(
    question: &Question,
    answer: &PageAnswer,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Option<Confirmation>, StudyError> {
    let page = question.pages.iter().find(|it| it.name == answer.page);
    let scheme = question.schemes.iter().find(|it| Some(it.name()) == answer.choice.as_deref());
    let Some((page, scheme)) = page.zip(scheme) else { return Ok(None) };
    let networks = question.networks.iter().filter(|it| it.name == answer.network);
    let networks = networks.cloned().collect();
    let engine = if question.browser.is_some() { engines::BROWSER } else { engines::WIRE };
    let batch = Batch { question, page, engine, networks, seeds: 0..PAIRS, progress };
    let present = batch.present()?.runs;
    let chosen = batch.others(std::slice::from_ref(scheme))?.runs;
    let present = question.goal.indices_of_scheme(&present, PRESENT, &(0..PAIRS));
    let chosen = question.goal.indices_of_scheme(&chosen, scheme.name(), &(0..PAIRS));
    let judged = judged(&ratios(&present, &chosen));
    Ok(Some(Confirmation::of(answer, engine, scheme.name(), judged)))
}

impl Confirmation {
    fn of(
        answer: &PageAnswer,
        engine: &'static dyn Engine,
        scheme: &str,
        judged: Option<Judgement>,
    ) -> Self {
        let judgement = judged.map(JudgedCandidate::of).unwrap_or_default();
        let is_confirmed = judgement.interval.is_some_and(|[low, _]| low > 1.0);
        let way = if engine.has_browser() { "in a browser" } else { "over real UDP" };
        let place = format!("{} on {}, {way}", answer.page, answer.network);
        let words = match judgement.ratio {
            None => format!("{place}: not confirmed, because too few loads finished."),
            Some(ratio) => {
                let not = if is_confirmed { "" } else { "not " };
                let evidence = evidence(&judgement);
                format!(
                    "{place}: {not}confirmed. {scheme} is {ratio:.3} times as fast as {WHAT_YOU_HAVE} ({evidence})."
                )
            }
        };
        let (page, network) = (answer.page.clone(), answer.network.clone());
        Self { page, network, engine, scheme: scheme.to_owned(), judgement, is_confirmed, words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_confirmed_by_an_interval_above_1() {
        let answer =
            PageAnswer { page: "home".into(), network: "3g".into(), ..PageAnswer::default() };
        let confirmation =
            |ratios: &[f64]| Confirmation::of(&answer, engines::WIRE, "fifo", judged(ratios));
        let better = confirmation(&[1.1, 1.12, 1.14, 1.09, 1.11, 1.13, 1.1, 1.12, 1.12]);
        let words = "home on 3g, over real UDP: confirmed. fifo is 1.115 times as fast as what you have (95 % interval ";
        assert!(better.is_confirmed && better.words.starts_with(words), "{}", better.words);
        let unclear = confirmation(&[1.1, 0.9, 1.14, 0.89, 1.11, 0.93, 1.1, 0.92, 1.12]);
        assert!(!unclear.is_confirmed && unclear.words.contains(": not confirmed. fifo is "));
        let few = confirmation(&[]);
        assert_eq!(
            few.words,
            "home on 3g, over real UDP: not confirmed, because too few loads finished."
        );
    }
}
