//! An explanation in words.

use super::cases::Cases;
use super::{Answer, Branch, Explanation, FALSE_RULES, HeldOut, Power};
use crate::study::compute::unfinished::unfinished;
use crate::study::show::of_shard;
use crate::study::statistics::Interval;
use crate::study::{Plan, RunRecord};

/// The answers, the choice first.
pub(super) fn answers(cases: &Cases, winner: &Answer, gain: &Answer, power: &Power) -> Vec<String> {
    let mut answers = vec![of_winner(&cases.schemes[0], winner), of_gain(&cases.schemes[0], gain)];
    let nothing = !winner.found || !gain.found;
    answers.extend(nothing.then(|| of_power(cases.sites, power)));
    answers
}

fn of_winner(baseline: &str, answer: &Answer) -> String {
    let scheme = &answer.scheme;
    if !answer.found {
        let branch = &answer.tree;
        let gain = format!(", {} as fast as {baseline}", times(branch.ratio, branch.interval));
        let gain = if scheme == baseline { String::new() } else { gain };
        return format!("Nothing predicts the winner: use {scheme} everywhere{gain}.");
    }
    let worth = answer.held_out.map(of_held_out).unwrap_or_default();
    format!(
        "The winner depends on {}: on sites that the rule has not seen, it is {worth} as fast as {scheme} everywhere.",
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
    format!(
        "With {sites} sites, a rule is found in 80 of 100 studies if it splits them into halves whose gains differ by {:.0} %; \
         for 5 %, it takes about {} sites.",
        (power.ratio - 1.0) * 100.0,
        power.sites_for_5_percent
    )
}

/// The facts of a tree, without duplicates, from its root on.
fn facts(tree: &Branch) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut branches = std::collections::VecDeque::from([tree]);
    while let Some(branch) = branches.pop_front() {
        if let Some(split) = &branch.split {
            if !names.contains(&&*split.fact) {
                names.push(&split.fact);
            }
            branches.extend([&split.below, &split.above]);
        }
    }
    match &names[..] {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
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
pub(super) fn conditions(explanation: &Explanation, plan: &Plan) -> Vec<String> {
    let Explanation { pages, sites, settings, cases, left_out, schemes, baseline, .. } =
        explanation;
    let mut conditions = vec![format!(
        "{cases} cases: {pages} pages of {sites} sites in {settings} settings under {} schemes; a gain is the {} of {baseline} \
         divided by the scheme's, above the fold where a page has anything there. Each site counts the same.",
        schemes.len(),
        plan.metric.heading
    )];
    if *left_out > 0 {
        conditions.push(format!("{left_out} cases lack the value of a scheme, and are left out."));
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
