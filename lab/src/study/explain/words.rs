//! An explanation in words.

use super::cases::Cases;
use super::{Answer, Branch, Explanation, FALSE_RULES, HeldOut, Power};
use crate::study::compute::unfinished::unfinished;
use crate::study::show::{and, of_shard};
use crate::study::statistics::Interval;
use crate::study::{Plan, RunRecord};
use qlog_tools::short_texts::counted;

/// The answers, the choice first; `measure`: the quantity of gains, `ByteIndex above the fold`.
pub(super) fn answers(
    cases: &Cases,
    measure: &str,
    [winner, gain]: [&Answer; 2],
    power: &Power,
) -> Vec<String> {
    let baseline = &cases.schemes[0];
    let mut answers = vec![of_winner(baseline, measure, winner), of_gain(baseline, gain)];
    let nothing = !winner.found || !gain.found;
    answers.extend(nothing.then(|| of_power(cases.sites, power)));
    answers
}

fn of_winner(baseline: &str, measure: &str, answer: &Answer) -> String {
    let scheme = &answer.scheme;
    if !answer.found {
        let branch = &answer.tree;
        let gain = if scheme == baseline {
            "the fastest".to_owned()
        } else {
            format!("{} as fast as {baseline}", times(branch.ratio, branch.interval))
        };
        return format!(
            "Nothing predicts the winner: use {scheme} everywhere, {gain} by {measure}."
        );
    }
    let worth = answer.held_out.map(of_held_out).unwrap_or_default();
    format!(
        "The winner depends on {}: on sites that the rule has not seen, it is {worth} as fast as {scheme} everywhere, by \
         {measure}.",
        facts(&answer.tree)
    )
}

fn of_held_out(held_out: HeldOut) -> String {
    times(held_out.ratio.unwrap_or(1.0), held_out.interval)
}

fn of_gain(baseline: &str, answer: &Answer) -> String {
    let scheme = &answer.scheme;
    if !answer.found {
        return format!("Nothing predicts how much {scheme} gains over {baseline}.");
    }
    let explained = answer.held_out.and_then(|it| it.explained).unwrap_or_default();
    format!(
        "How much {scheme} gains over {baseline} depends on {}: that explains {:.0} % of its variance on sites that the rule has \
         not seen.",
        facts(&answer.tree),
        explained * 100.0
    )
}

fn of_power(sites: usize, power: &Power) -> String {
    let percent = (power.ratio - 1.0) * 100.0;
    if percent < 0.05 {
        return "The gain is the same on all sites, so no fact of pages can predict it.".to_owned();
    }
    let digits = usize::from(percent < 1.0);
    format!(
        "With {sites} sites, a rule is found in 80 of 100 studies if it splits them into halves whose gains differ by {percent:.digits$} %; \
         for 5 %, it takes about {} sites.",
        power.sites_for_5_percent
    )
}

/// The facts of a tree, without duplicates, from its root on.
fn facts(tree: &Branch) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut branches = std::collections::VecDeque::from([tree]);
    while let Some(branch) = branches.pop_front() {
        if let Some(split) = &branch.split {
            let name = name(&split.fact);
            if !names.contains(&name) {
                names.push(name);
            }
            branches.extend([&split.below, &split.above]);
        }
    }
    and(&names)
}

/// `heroes`; of `network=3g`, `the network`.
fn name(fact: &str) -> String {
    let dimension = fact.split_once('=').map(|it| it.0.replace('_', " "));
    dimension.map_or_else(|| fact.to_owned(), |it| format!("the {it}"))
}

/// `1.08 times (1.02 to 1.15)`.
fn times(ratio: f64, interval: Option<Interval>) -> String {
    let interval = interval.map(|[low, high]| format!(" ({low:.2} to {high:.2})"));
    format!("{ratio:.2} times{}", interval.unwrap_or_default())
}

/// Whether the answers are about all loads of a study: of a shard, and of those that finished.
pub(super) fn of_which_loads(plan: &Plan, runs: &[RunRecord], cases: &Cases) -> Vec<String> {
    let mut about = of_shard(plan);
    about.extend(unfinished(runs).map(|said| {
        let (own, all) = (cases.all.len(), cases.all.len() + cases.left_out);
        format!(
            "{said}: what follows is about the {own} of {all} pages in settings that finished under {}.",
            cases.schemes.join(", ")
        )
    }));
    about
}

/// The leaves of a tree, each with the conditions that lead to it.
pub fn leaves(tree: &Branch) -> Vec<(String, &Branch)> {
    let Some(split) = &tree.split else { return vec![("always".to_owned(), tree)] };
    let sides = [(&split.condition_below, &split.below), (&split.condition_above, &split.above)];
    let leaves = sides.into_iter().flat_map(|(condition, branch)| {
        leaves(branch).into_iter().map(move |(further, leaf)| match &*further {
            "always" => (condition.clone(), leaf),
            _ => (format!("{condition}; {further}"), leaf),
        })
    });
    leaves.collect()
}

/// The assumptions behind the answers.
pub(super) fn conditions(explanation: &Explanation, measure: &str) -> Vec<String> {
    let Explanation { pages, sites, settings, cases, left_out, schemes, baseline, .. } =
        explanation;
    let mut conditions = vec![format!(
        "{}: {} of {} in {} under {}; a gain is the {measure} of {baseline} divided by the scheme's. Each site counts the same.",
        counted(*cases, "case"),
        counted(*pages, "page"),
        counted(*sites, "site"),
        counted(*settings, "setting"),
        counted(schemes.len(), "scheme"),
    )];
    match *left_out {
        0 => {}
        1 => conditions.push("1 case lacks the value of a scheme, and is left out.".to_owned()),
        several => conditions
            .push(format!("{several} cases lack the value of a scheme, and are left out.")),
    }
    conditions.push(format!(
        "A rule is shown only if at most {:.0} of 100 shuffles of the facts have one as good.",
        FALSE_RULES * 100.0
    ));
    if explanation.winner.found || explanation.gain.found {
        let flattered = "The intervals in the table are of the cases that the rule was found in, so they flatter it: what it is worth on \
             other sites stands in the answer.";
        conditions.push(flattered.to_owned());
    }
    let trees = [&explanation.winner.tree, &explanation.gain.tree];
    conditions.extend(trees.into_iter().flat_map(alike));
    conditions
}

/// Facts that could replace others.
fn alike(tree: &Branch) -> Vec<String> {
    let Some(split) = &tree.split else { return Vec::new() };
    let own = (!split.alike.is_empty()).then(|| {
        format!(
            "In place of {}, {} would split the cases nearly as well: any of them may be the cause.",
            split.fact,
            split.alike.join(", ")
        )
    });
    own.into_iter().chain(alike(&split.below)).chain(alike(&split.above)).collect()
}
