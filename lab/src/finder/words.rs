//! The answer in words.

use super::answer::JudgedCandidate;
use super::{Goal, PageAnswer, RobustChoice, Verdict};
use crate::study::LEVEL;
use crate::study::policy::WORTHWHILE;
use report::comparison::p_text;
use std::collections::BTreeSet;

/// How the present order is called.
pub const WHAT_YOU_HAVE: &str = "what you have";

/// Names of a list that are printed.
const NAMED: usize = 3;

/// `a, b, c and 2 more`.
pub(super) fn listed<'a>(all: impl IntoIterator<Item = &'a str>) -> String {
    let all: Vec<&str> = all.into_iter().collect();
    let named = all.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// The verdict on a page on a network; `tests`: the number of tests in the answer.
pub(super) fn of_page(answer: &PageAnswer, goal: &Goal, tests: usize) -> String {
    let PageAnswer { page, network, candidate, .. } = answer;
    let Some((candidate, ratio)) = candidate.as_ref().zip(answer.judgement.ratio) else {
        return format!("{page} on {network}: unknown, because too few loads finished.");
    };
    let place = if !goal.is_byte_index() {
        format!("By {}", goal.text())
    } else if answer.ranking.iter().any(|order| order.index.atf_ms.is_some()) {
        "Above the fold".to_owned()
    } else {
        "Over all resources".to_owned()
    };
    let evidence = evidence(&answer.judgement);
    let gain = format!("{ratio:.2} times as fast as {WHAT_YOU_HAVE} ({evidence}).");
    let words = match answer.verdict {
        Verdict::Better => format!("{candidate} is better. {place}, it is {gain}"),
        Verdict::Unsure => {
            let doubt = doubt(&answer.judgement, tests);
            format!("unsure. {place}, {candidate} is {gain}{doubt}")
        }
        _ => format!(
            "nothing is better than {WHAT_YOU_HAVE}. {place}, the best other order, {candidate}, is {ratio:.2} times as fast \
             ({evidence}).{}",
            but(&answer.judgement, tests)
        ),
    };
    format!("{page} on {network}: {words}{}{}", later(answer), inexact(answer))
}

/// Why a better order does not count: it still shows something later.
fn later(answer: &PageAnswer) -> String {
    let late = answer.noticed.too_late().filter(|_| answer.judgement.ratio > Some(1.0));
    late.map_or(String::new(), |what| format!(" It does not count, because {what} comes later."))
}

/// Why an answer is less precise than requested.
fn inexact(answer: &PageAnswer) -> String {
    let wide = if answer.is_narrow {
        String::new()
    } else {
        format!(" The interval is still wide after {} loads.", answer.loads)
    };
    match answer.unfinished {
        0 => wide,
        1 => format!("{wide} 1 load did not finish."),
        several => format!("{wide} {several} loads did not finish."),
    }
}

/// `95 % interval 1.12 to 1.18, 9 pairs of loads`.
pub(super) fn evidence(judged: &JudgedCandidate) -> String {
    let pairs = judged.pairs;
    match judged.interval {
        None => format!("{pairs} pairs of loads, too few for an interval"),
        Some(_) if judged.wilcoxon_p.is_none() => format!("the same in all {pairs} pairs of loads"),
        Some([low, high]) => format!("95 % interval {low:.2} to {high:.2}, {pairs} pairs of loads"),
    }
}

/// Why it is uncertain that a candidate with a gain is better.
pub(super) fn doubt(judged: &JudgedCandidate, tests: usize) -> String {
    match judged.interval {
        None => " That is too few loads to tell.".to_owned(),
        Some([low, _]) if low <= 1.0 => {
            " Another recording of the page, or chance, would reverse that.".to_owned()
        }
        Some(_) => but(judged, tests),
    }
}

/// Names orders that cannot be chosen because loads are missing.
pub(super) fn too_few(orders: BTreeSet<&str>) -> String {
    let named = orders.into_iter().collect::<Vec<_>>().join(", ");
    let words = format!(" Not tested further, because a first load was far behind: {named}.");
    if named.is_empty() { String::new() } else { words }
}

/// Why a candidate whose interval lies above 1 does not count as better.
pub(super) fn but(judged: &JudgedCandidate, tests: usize) -> String {
    if judged.interval.is_none_or(|[low, _]| low <= 1.0) {
        return String::new();
    }
    match judged.holm_p {
        Some(p) if p >= LEVEL => {
            format!(" Among {tests} tests, chance can explain that (Holm's p {}).", p_text(p))
        }
        _ if judged.ratio.is_some_and(|it| it < WORTHWHILE) => {
            " That is less than 1 % and not worth a change.".to_owned()
        }
        _ => String::new(),
    }
}

/// The one order for all pages and networks; `is_bounded`: its worst regret uses a lower bound; `is_beaten`: something beats the
/// present order somewhere.
pub(super) fn of_robust(choice: &RobustChoice, is_bounded: bool, is_beaten: bool) -> String {
    let RobustChoice { scheme, page, network, worst_regret, .. } = choice;
    let best = if is_bounded { "the lower bound" } else { "the best order's" };
    let at_worst =
        format!("At worst its index is {worst_regret:.2} times {best} ({page} on {network})");
    if choice.is_present {
        let other = "no other order has a better worst case";
        let why = if is_beaten { other } else { "nothing is better than it beyond chance" };
        return format!("One order for all: keep {WHAT_YOU_HAVE}. {at_worst}, and {why}.");
    }
    let there = match (choice.speedup_present, choice.interval) {
        (Some(ratio), Some([low, high])) if low < high => format!(
            "; there it is {ratio:.2} times as fast as {WHAT_YOU_HAVE} (95 % interval {low:.2} to {high:.2})"
        ),
        (Some(ratio), _) => format!("; there it is {ratio:.2} times as fast as {WHAT_YOU_HAVE}"),
        (None, _) => String::new(),
    };
    let present = choice.present_worst_regret;
    let present = present.map(|it| format!(" With {WHAT_YOU_HAVE}, it is {it:.2} times at worst."));
    format!("One order for all: {scheme}. {at_worst}{there}.{}", present.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::Seen;
    use super::*;

    fn answer(
        verdict: Verdict,
        ratio: f64,
        interval: Option<[f64; 2]>,
        p: Option<f64>,
    ) -> PageAnswer {
        PageAnswer {
            page: "home".to_owned(),
            network: "3g".to_owned(),
            verdict,
            choice: None,
            words: String::new(),
            candidate: Some("srpt".to_owned()),
            judgement: JudgedCandidate {
                ratio: Some(ratio),
                interval,
                wilcoxon_p: p,
                holm_p: p,
                pairs: 9,
            },
            is_narrow: true,
            loads: 12,
            unfinished: 0,
            ..PageAnswer::default()
        }
    }

    #[test]
    fn a_better_order_is_named_with_its_interval() {
        let found = answer(Verdict::Better, 1.25, Some([1.2, 1.3]), Some(0.004));
        let words = "home on 3g: srpt is better. Over all resources, it is 1.25 times as fast as what you have (95 % \
                     interval 1.20 to 1.30, 9 pairs of loads).";
        assert_eq!(of_page(&found, &Goal::byte_index(), 1), words);
        let certain = answer(Verdict::Better, 1.25, Some([1.25, 1.25]), None);
        assert!(
            of_page(&certain, &Goal::byte_index(), 1)
                .ends_with("(the same in all 9 pairs of loads).")
        );
    }

    #[test]
    fn what_another_recording_would_turn_is_unsure() {
        let words = |ratio, interval, p| {
            of_page(&answer(Verdict::Unsure, ratio, Some(interval), p), &Goal::byte_index(), 60)
        };
        assert_eq!(
            words(1.02, [0.99, 1.05], Some(0.2)),
            "home on 3g: unsure. Over all resources, srpt is 1.02 times as fast as what you have (95 % interval 0.99 to 1.05, 9 \
             pairs of loads). Another recording of the page, or chance, would reverse that."
        );
        let why = words(1.1, [1.02, 1.2], Some(0.3));
        assert!(why.ends_with("chance can explain that (Holm's p 0.3000)."), "{why}");
    }

    #[test]
    fn it_is_said_why_an_order_does_not_count_as_better() {
        let why = |ratio, interval, p| {
            let words = of_page(
                &answer(Verdict::NothingBetter, ratio, interval, p),
                &Goal::byte_index(),
                60,
            );
            assert!(
                words.starts_with("home on 3g: nothing is better than what you have."),
                "{words}"
            );
            words.split_once("). ").map(|it| it.1.to_owned())
        };
        assert_eq!(why(0.9, Some([0.8, 1.1]), Some(0.2)), None);
        assert_eq!(
            why(1.1, Some([1.02, 1.2]), Some(0.3)).as_deref(),
            Some("Among 60 tests, chance can explain that (Holm's p 0.3000).")
        );
        assert_eq!(
            why(1.004, Some([1.003, 1.005]), Some(0.01)).as_deref(),
            Some("That is less than 1 % and not worth a change.")
        );
    }

    #[test]
    fn an_order_that_gains_much_and_shows_something_later_does_not_count_for_that_alone() {
        let mut found = answer(Verdict::NothingBetter, 1.412, Some([1.362, 1.456]), Some(0.01));
        found.noticed.first_render =
            Some(Seen { present_ms: 1000.0, later_ms: 300.0, interval_ms: None });
        let words = of_page(&found, &Goal::byte_index(), 60);
        let end = "9 pairs of loads). It does not count, because its first rendering comes later.";
        assert!(words.ends_with(end), "{words}");
    }

    #[test]
    fn what_keeps_an_answer_from_being_exact_is_said() {
        let wide = PageAnswer {
            is_narrow: false,
            unfinished: 2,
            ..answer(Verdict::NothingBetter, 1.1, Some([0.8, 1.4]), Some(0.5))
        };
        let words = of_page(&wide, &Goal::byte_index(), 1);
        let end = " The interval is still wide after 12 loads. 2 loads did not finish.";
        assert!(words.ends_with(end), "{words}");
        let nothing = PageAnswer { candidate: None, ..answer(Verdict::Unknown, 1.0, None, None) };
        assert_eq!(
            of_page(&nothing, &Goal::byte_index(), 1),
            "home on 3g: unknown, because too few loads finished."
        );
    }

    #[test]
    fn the_robust_order_is_told_with_its_worst_case_and_the_present_ones() {
        let choice = RobustChoice {
            scheme: "srpt".to_owned(),
            is_present: false,
            words: String::new(),
            worst_regret: 1.5,
            page: "home".to_owned(),
            network: "3g".to_owned(),
            speedup_present: Some(1.1),
            interval: Some([1.05, 1.15]),
            present_worst_regret: Some(1.8),
        };
        assert_eq!(
            of_robust(&choice, true, true),
            "One order for all: srpt. At worst its index is 1.50 times the lower bound (home on 3g); there it is 1.10 times \
             as fast as what you have (95 % interval 1.05 to 1.15). With what you have, it is 1.80 times at worst."
        );
        let kept = RobustChoice { is_present: true, ..choice };
        assert_eq!(
            of_robust(&kept, false, true),
            "One order for all: keep what you have. At worst its index is 1.50 times the best order's (home on \
             3g), and no other order has a better worst case."
        );
    }
}
