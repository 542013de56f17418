//! Explains which facts of a study's pages or settings predict its gain and its winner.
//!
//! A *case* is a page in a setting, with the gain of each scheme: the logarithm of its speedup over the baseline. Two questions
//! concern all cases: which scheme to use where ([`Goal::Winner`]), and how much the best single scheme gains where
//! ([`Goal::Gain`]). A tree of at most three splits in a row answers each. It contains a split only if facts shuffled among
//! sites, and settings shuffled within sites, hardly ever give one as good. The value of an answer comes from trees that are
//! grown without some sites and then tested on these. Sites count equally.

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
use associations::associations;
use cases::Cases;
use qlog_tools::short_texts::counted;
use question::{Question, gains_of_best};
use serde::Serialize;

/// The format of an explanation's JSON.
pub const FORMAT: &str = "utmost-explain/1";

/// The probability with which a study without any rule is reported to have one, over both questions: so low that at least 95 of
/// 100 such studies report "nothing", even with bad luck.
pub const FALSE_RULES: f64 = 0.02;

/// The depth of a tree.
const DEPTH: usize = 3;

/// The fewest sites on each side of a split, because fewer have no interval.
pub const SITES_MIN: usize = 6;

/// The explanation of a study's results.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// [`FORMAT`].
    pub format: &'static str,
    /// The answers, a sentence each.
    pub answers: Vec<String>,
    /// The assumptions behind the answers, one sentence each.
    pub conditions: Vec<String>,
    /// The metric that gains are of.
    pub metric: &'static str,
    /// The baseline of gains.
    pub baseline: String,
    /// The schemes, the baseline first, without duplicates and failed ones.
    pub schemes: Vec<String>,
    /// Pages with cases.
    pub pages: usize,
    /// Their sites: the unit of all tests.
    pub sites: usize,
    /// The number of settings.
    pub settings: usize,
    /// Pages in settings in which every scheme has a value.
    pub cases: usize,
    /// Pages in settings in which one has none.
    pub left_out: usize,
    /// Which scheme to use where.
    pub winner: Answer,
    /// How much the best scheme gains where.
    pub gain: Answer,
    /// The effects that a study of this size can find.
    pub power: Power,
    /// How the gain of the best scheme varies with each fact of pages alone.
    pub associations: Vec<Association>,
}

/// The answer to one question.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The scheme with the highest mean gain: of all schemes or, for the question about gain, of all but the baseline.
    pub scheme: String,
    /// Whether anything predicts it.
    pub found: bool,
    /// The probability of an equally good first split by chance, with Holm's adjustment for the two questions.
    pub p: f64,
    /// The value of the tree on sites that it was not grown from; `None` without a split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out: Option<HeldOut>,
    /// The tree; a single leaf if nothing was found.
    pub tree: Branch,
}

/// A part of a tree.
#[derive(Debug, Clone, Serialize)]
pub struct Branch {
    /// The scheme to use here, or the one whose gain is predicted.
    pub scheme: String,
    /// Its geometric mean speedup over the baseline.
    pub ratio: f64,
    /// The 95 % interval over sites; `None` with fewer than six, and for the baseline itself.
    pub interval: Option<Interval>,
    /// Sites of the cases here.
    pub sites: usize,
    /// Cases here.
    pub cases: usize,
    /// The next split, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Box<Parted>>,
}

/// A split of a tree.
#[derive(Debug, Clone, Serialize)]
pub struct Parted {
    /// The name of the fact.
    pub fact: String,
    /// The condition of `below`, in words.
    pub condition_below: String,
    /// The condition of `above`, in words.
    pub condition_above: String,
    /// The value between both.
    pub at: f64,
    /// The probability of an equally good split by chance.
    pub p: f64,
    /// Other facts that split the cases nearly as well: any of them may be the cause.
    pub alike: Vec<String>,
    /// Cases where the fact is at most `at`.
    pub below: Branch,
    /// Cases where it is larger.
    pub above: Branch,
}

/// The effects that a study of this size can find.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Power {
    /// The smallest ratio between the gains of two halves of the sites for which 80 of 100 studies find a rule.
    pub ratio: f64,
    /// The number of sites for which that ratio would be 1.05; at least as many as any rule needs.
    pub sites_for_5_percent: usize,
}

/// Explains the loads of a finished study.
///
/// # Errors
/// Fails with a sentence about what is missing: a second scheme, or enough sites.
pub fn explain(plan: &Plan, runs: &[RunRecord]) -> Result<Explanation, String> {
    let cases = Cases::of(plan, runs)?;
    if cases.sites < 2 * SITES_MIN {
        return Err(format!(
            "pages of {} have results, and a rule needs at least {}: {SITES_MIN} on each side; study more pages",
            counted(cases.sites, "site"),
            2 * SITES_MIN
        ));
    }
    let measure = cases::measure(plan, runs);
    let mut explanation = explain_cases(&cases, &measure);
    explanation.answers.splice(0..0, words::of_which_loads(plan, runs, &cases));
    explanation.metric = plan.metric.name;
    explanation.associations = associations(&cases, &gains_of_best(&cases));
    explanation.conditions = words::conditions(&explanation, &measure);
    Ok(explanation)
}

/// `measure`: the quantity of gains, `ByteIndex above the fold`.
fn explain_cases(cases: &Cases, measure: &str) -> Explanation {
    let [winner, gain] = [Goal::Winner, Goal::Gain].map(|goal| Question::new(cases, goal));
    let adjusted = holm(&[winner.p, gain.p]);
    let power = gain.power();
    let (winner, gain) = (winner.answer(adjusted[0]), gain.answer(adjusted[1]));
    Explanation {
        format: FORMAT,
        answers: words::answers(cases, measure, [&winner, &gain], &power),
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
        associations: Vec::new(),
    }
}
