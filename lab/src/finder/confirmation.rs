//! Stage 3: the choice and the present order in real time, over real UDP (engine `wire`) or in a browser.

use super::answer::JudgedCandidate;
use super::paired_loads::Batch;
use super::trial::{Judgement, judged, ratios};
use super::words::evidence;
use super::{ByResource, OBEYING, Question, Step, WHAT_YOU_HAVE};
use crate::network::Network;
use crate::study::{Engine, StudyError, engines};
use serde::Serialize;

/// Pairs of loads: enough for an interval, and few enough to wait for.
const PAIRS: u64 = 9;

/// The real-time result for a page on a network.
#[derive(Debug, Clone, Serialize)]
pub struct Confirmation {
    /// The page.
    pub page: String,
    /// The network.
    pub network: String,
    /// `wire` or `browser`.
    pub engine: &'static dyn Engine,
    /// Compared with the present order, over real UDP. It is one test of one choice, so nothing is adjusted.
    #[serde(flatten)]
    pub judgement: JudgedCandidate,
    /// Whether the interval lies above 1.
    pub is_confirmed: bool,
    /// All of it in words.
    pub words: String,
}

/// Loads each page that gains, in the present order and with the priorities. A load takes as long as for a visitor. A browser
/// alternates between the two orders, seed by seed on the same links.
pub fn confirm(
    question: &Question,
    found: &[ByResource],
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Vec<Confirmation>, StudyError> {
    let mut all = Vec::new();
    for page in found.iter().filter(|it| it.is_better) {
        for network in &question.networks {
            all.extend(on_network(question, page, network, progress)?);
        }
    }
    Ok(all)
}

fn on_network(
    question: &Question,
    found: &ByResource,
    network: &Network,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Option<Confirmation>, StudyError> {
    let Some((page, signalled)) = found.page().zip(found.signalled()) else { return Ok(None) };
    let engine = if question.browser.is_some() { engines::BROWSER } else { engines::WIRE };
    let networks = vec![network.clone()];
    let batch = Batch { question, page, engine, networks, seeds: 0..PAIRS, progress };
    let present = batch.present()?.runs;
    let changed = Batch { page: &signalled, ..batch };
    // A browser's requests do not change, so the server must know the priorities.
    let changed = if engine.has_browser() { changed.told()? } else { changed.obeying()? }.runs;
    let present = question.goal.indices_of_scheme(&present, question.server.scheme, &(0..PAIRS));
    let changed = question.goal.indices_of_scheme(&changed, OBEYING, &(0..PAIRS));
    let judged = judged(&ratios(&present, &changed));
    Ok(Some(Confirmation::of(&found.page, &network.name, engine, judged)))
}

impl Confirmation {
    fn of(
        page: &str,
        network: &str,
        engine: &'static dyn Engine,
        judged: Option<Judgement>,
    ) -> Self {
        let judgement = judged.map(JudgedCandidate::of).unwrap_or_default();
        let is_confirmed = judgement.interval.is_some_and(|[low, _]| low > 1.0);
        let way = if engine.has_browser() { "in a browser" } else { "over real UDP" };
        let place = format!("{page} on {network}, {way}");
        let words = match judgement.ratio {
            None => format!("{place}: not confirmed, because too few loads finished."),
            Some(ratio) => {
                let not = if is_confirmed { "" } else { "not " };
                let evidence = evidence(&judgement);
                format!(
                    "{place}: {not}confirmed. It is {ratio:.2} times as fast as {WHAT_YOU_HAVE} ({evidence})."
                )
            }
        };
        let (page, network) = (page.to_owned(), network.to_owned());
        Self { page, network, engine, judgement, is_confirmed, words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_confirmed_by_an_interval_above_1() {
        let confirmation =
            |ratios: &[f64]| Confirmation::of("home", "3g", engines::WIRE, judged(ratios));
        let better = confirmation(&[1.1, 1.12, 1.14, 1.09, 1.11, 1.13, 1.1, 1.12, 1.12]);
        let words = "home on 3g, over real UDP: confirmed. It is 1.11 times as fast as what you have (95 % interval ";
        assert!(better.is_confirmed && better.words.starts_with(words), "{}", better.words);
        let unclear = confirmation(&[1.1, 0.9, 1.14, 0.89, 1.11, 0.93, 1.1, 0.92, 1.12]);
        assert!(!unclear.is_confirmed && unclear.words.contains(": not confirmed. It is "));
        let few = confirmation(&[]);
        assert_eq!(
            few.words,
            "home on 3g, over real UDP: not confirmed, because too few loads finished."
        );
    }
}
