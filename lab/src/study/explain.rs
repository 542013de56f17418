//! What predicts the gain and the winner of a study: facts of its pages, or of what its loads met.
//!
//! A *case* is a page in a setting, with the gain of each scheme: the logarithm of its speedup over the baseline. Two questions
//! are asked of all cases: which scheme to use where ([`Goal::Winner`]), and how much the best single scheme gains where
//! ([`Goal::Gain`]). A tree of at most three splits in a row answers each. A split stands in it only if facts that are shuffled
//! among sites, and settings that are shuffled within sites, hardly ever give one as good. Trees grown without some sites, and
//! then asked about these, say what an answer is worth. Each site counts the same.

mod associations;
mod cases;
mod chance;
mod facts;
mod held_out;
mod question;
#[cfg(test)]
mod tests;
mod tree;
mod words;

pub use associations::Association;
pub use facts::Fact;
pub use held_out::HeldOut;
pub use tree::Goal;
pub use words::leaves;

use crate::study::statistics::Interval;
use crate::study::statistics::signed_ranks::holm;
use crate::study::{Plan, RunRecord};
use cases::Cases;
use question::Question;
use serde::Serialize;

/// The format of an explanation's JSON.
pub const FORMAT: &str = "utmost-explain/1";

/// The probability with which a study without any rule is said to have one, over both questions: so low that at least 95 of 100
/// such studies say "nothing", also with bad luck.
pub const FALSE_RULES: f64 = 0.02;

/// Splits of a tree in a row.
const DEPTH: usize = 3;

/// The fewest sites on each side of a split: fewer have no interval.
pub const SITES_MIN: usize = 6;

/// What a study says about its own results.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// [`FORMAT`].
    pub format: &'static str,
    /// The answers, a sentence each.
    pub answers: Vec<String>,
    /// What the answers rest on, a sentence each.
    pub conditions: Vec<String>,
    /// The metric that gains are of.
    pub metric: &'static str,
    /// What gains are relative to.
    pub baseline: String,
    /// The schemes, the baseline first, without doubles and those that failed.
    pub schemes: Vec<String>,
    /// Pages with cases.
    pub pages: usize,
    /// The sites that they come from: the unit of all tests.
    pub sites: usize,
    /// What loads met.
    pub settings: usize,
    /// Pages in settings in which every scheme has a value.
    pub cases: usize,
    /// Pages in settings in which one has none.
    pub left_out: usize,
    /// Which scheme to use where.
    pub winner: Answer,
    /// How much the best scheme gains where.
    pub gain: Answer,
    /// What a study of this size can find.
    pub power: Power,
    /// How the gain of the best scheme goes with each fact of pages by itself.
    pub associations: Vec<Association>,
}

/// The answer to one question.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The scheme with the highest mean gain: of all, or of all but the baseline where the gain is asked for.
    pub scheme: String,
    /// Whether anything predicts it.
    pub found: bool,
    /// The probability of a first split as good by chance, adjusted by Holm for the two questions.
    pub p: f64,
    /// What the tree is worth on sites that it was not grown from; `None` without a split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out: Option<HeldOut>,
    /// The tree: a single leaf where nothing was found.
    pub tree: Branch,
}

/// A part of a tree.
#[derive(Debug, Clone, Serialize)]
pub struct Branch {
    /// The scheme to use here, or the one whose gain is asked for.
    pub scheme: String,
    /// Its geometric mean speedup over the baseline.
    pub ratio: f64,
    /// The 95 % interval over sites; `None` with fewer than six, and of the baseline itself.
    pub interval: Option<Interval>,
    /// Sites of the cases here.
    pub sites: usize,
    /// Cases here.
    pub cases: usize,
    /// What parts them further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Box<Parted>>,
}

/// A split of a tree.
#[derive(Debug, Clone, Serialize)]
pub struct Parted {
    /// The name of the fact.
    pub fact: String,
    /// What holds in `below`, in words.
    pub condition_below: String,
    /// What holds in `above`, in words.
    pub condition_above: String,
    /// The value between both.
    pub at: f64,
    /// The probability of a split as good by chance.
    pub p: f64,
    /// Other facts that part the cases nearly as well: any of them may be the cause.
    pub alike: Vec<String>,
    /// Where the fact is at most `at`.
    pub below: Branch,
    /// Where it is more.
    pub above: Branch,
}

/// What a study of this size can find.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Power {
    /// The least ratio between the gains of two halves of the sites at which a rule is found in 80 of 100 studies.
    pub ratio: f64,
    /// The sites with which that ratio would be 1.05.
    pub sites_for_5_percent: usize,
}

/// Explains the loads of a finished study.
///
/// # Errors
/// What is missing, in a sentence: a second scheme, or sites to part.
pub fn explain(plan: &Plan, runs: &[RunRecord]) -> Result<Explanation, String> {
    let cases = Cases::of(plan, runs)?;
    if cases.sites < 2 * SITES_MIN {
        return Err(format!(
            "pages of {} sites have results, and a rule needs at least {}: {SITES_MIN} on each side; study more pages",
            cases.sites,
            2 * SITES_MIN
        ));
    }
    let mut explanation = explain_cases(&cases);
    explanation.metric = plan.metric.name;
    explanation.conditions = words::conditions(&explanation, plan);
    Ok(explanation)
}

fn explain_cases(cases: &Cases) -> Explanation {
    let [winner, gain] = [Goal::Winner, Goal::Gain].map(|goal| Question::new(cases, goal));
    let adjusted = holm(&[winner.p, gain.p]);
    let power = gain.power();
    let associations = associations::associations(cases, &gain.first_outcomes());
    let (winner, gain) = (winner.answer(adjusted[0]), gain.answer(adjusted[1]));
    Explanation {
        format: FORMAT,
        answers: words::answers(cases, &winner, &gain, &power),
        conditions: Vec::new(),
        metric: "",
        baseline: cases.schemes[0].clone(),
        schemes: cases.schemes.clone(),
        pages: cases.pages.len(),
        sites: cases.sites,
        settings: cases.links.len(),
        cases: cases.all.len(),
        left_out: cases.left_out,
        winner,
        gain,
        power,
        associations,
    }
}
