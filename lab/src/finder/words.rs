//! The answer in words.

use super::answer::{JudgedCandidate, PageAnswer, RobustChoice, Verdict};
use crate::study::LEVEL;
use qlog_tools::report::p_text;

/// How the present order is called.
pub const WHAT_YOU_HAVE: &str = "what you have";

/// The verdict about a page on a network; `tests`: those of the whole answer.
pub(super) fn of_page(answer: &PageAnswer, tests: usize) -> String {
    let PageAnswer { page, network, candidate, .. } = answer;
    let Some((candidate, ratio)) = candidate.as_ref().zip(answer.judgement.ratio) else {
        return format!("{page} on {network}: unknown, because too few loads finished.");
    };
    let place = if answer.ranking.iter().any(|it| it.index.atf_ms.is_some()) {
        "Above the fold"
    } else {
        "Over all resources"
    };
    let evidence = evidence(&answer.judgement);
    let mut words = if answer.verdict == Verdict::Better {
        format!(
            "{page} on {network}: change to {candidate}. {place}, it is {ratio:.3} times as fast as {WHAT_YOU_HAVE} ({evidence})."
        )
    } else {
        let but = but(&answer.judgement, tests);
        format!(
            "{page} on {network}: nothing is better than {WHAT_YOU_HAVE}. {place}, the best other order, {candidate}, is \
             {ratio:.3} times as fast ({evidence}).{but}"
        )
    };
    if !answer.is_narrow {
        words += &format!(" The interval is still wide after {} loads.", answer.loads);
    }
    match answer.unfinished {
        0 => words,
        1 => format!("{words} 1 load did not finish."),
        several => format!("{words} {several} loads did not finish."),
    }
}

/// `95 % interval 1.120 to 1.180, 9 pairs of loads`.
fn evidence(judged: &JudgedCandidate) -> String {
    let pairs = judged.pairs;
    match judged.interval {
        None => format!("{pairs} pairs of loads, too few for an interval"),
        Some(_) if judged.wilcoxon_p.is_none() => format!("the same in all {pairs} pairs of loads"),
        Some([low, high]) => format!("95 % interval {low:.3} to {high:.3}, {pairs} pairs of loads"),
    }
}

/// Why a candidate whose interval lies above 1 does not count as better.
fn but(judged: &JudgedCandidate, tests: usize) -> String {
    if judged.interval.is_none_or(|[low, _]| low <= 1.0) {
        return String::new();
    }
    match judged.holm_p.filter(|it| *it >= LEVEL) {
        Some(p) => {
            format!(" Among {tests} tests, chance can explain that (Holm's p {}).", p_text(p))
        }
        None => " That is less than 1 % and not worth a change.".to_owned(),
    }
}

/// The one order for all pages and networks.
pub(super) fn of_robust(choice: &RobustChoice) -> String {
    let RobustChoice { scheme, page, network, worst_regret, .. } = choice;
    let at_worst =
        format!("At worst it is {worst_regret:.2} times the best possible ({page} on {network})");
    if choice.is_present {
        return format!(
            "One order for all: keep {WHAT_YOU_HAVE}. {at_worst}, and no other order has a better worst case."
        );
    }
    let there = match (choice.speedup_present, choice.interval) {
        (Some(ratio), Some([low, high])) if low < high => format!(
            "; there it is {ratio:.3} times as fast as {WHAT_YOU_HAVE} (95 % interval {low:.3} to {high:.3})"
        ),
        (Some(ratio), _) => format!("; there it is {ratio:.3} times as fast as {WHAT_YOU_HAVE}"),
        (None, _) => String::new(),
    };
    let present = choice.present_worst_regret;
    let present = present.map(|it| format!(" At worst {WHAT_YOU_HAVE} is {it:.2} times it."));
    format!("One order for all: {scheme}. {at_worst}{there}.{}", present.unwrap_or_default())
}
