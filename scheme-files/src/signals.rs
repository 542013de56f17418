//! The clients' signals: their form, and the signal of each place.

use crate::error::Fault;
use schedulers::{ClientSignal, Element, Group, Language, Order, PLACEHOLDERS_MAX, Rule};
use serde::Deserialize;
use std::ops::RangeInclusive;

/// `signals`: the form in which clients signal the scheme.
#[derive(Deserialize)]
#[serde(remote = "Language", rename_all = "lowercase")]
pub(crate) enum Form {
    Silence,
    Tree,
    Bucket,
    #[serde(rename = "rfc9218")]
    Priority,
    None,
}

/// `says`: the client's signal for a response in this place.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileSays {
    priority: Option<u8>,
    concurrency: Option<u8>,
    urgency: Option<u8>,
    incremental: Option<bool>,
    weight: Option<u16>,
}

impl FileSays {
    /// The signal in the file's form.
    pub(crate) fn signal(self, form: Language, at: usize) -> Result<ClientSignal, Fault> {
        let Self { priority, concurrency, urgency, incremental, weight } = self;
        let bucket = priority.is_some() || concurrency.is_some();
        let rfc9218 = urgency.is_some() || incremental.is_some();
        match form {
            Language::Bucket if !rfc9218 && weight.is_none() => {
                let priority = number("priority", priority, 0..=63, at)?;
                let concurrency = number("concurrency", concurrency, 0..=3, at)?;
                Ok(ClientSignal::Bucket(priority << 2 | concurrency))
            }
            Language::Priority if !bucket && weight.is_none() => {
                let urgency = number("urgency", urgency, 0..=7, at)?;
                Ok(ClientSignal::Priority(urgency, incremental.unwrap_or(false)))
            }
            Language::Tree if !bucket && !rfc9218 => {
                Ok(ClientSignal::Weight(number("weight", weight, 0..=256, at)?))
            }
            Language::Silence | Language::None => Fault::at(
                at,
                "`says` needs `signals` in [scheme]: \"bucket\", \"rfc9218\" or \"tree\"",
            ),
            _ => Fault::at(at, format!("`says` must be {}", example(form))),
        }
    }
}

fn example(form: Language) -> &'static str {
    match form {
        Language::Bucket => {
            "{ priority = 0 to 63, concurrency = 0 to 3 } where signals = \"bucket\""
        }
        Language::Priority => {
            "{ urgency = 0 to 7, incremental = true or false } where signals = \"rfc9218\""
        }
        Language::Tree | Language::Silence | Language::None => {
            "{ weight = 0 to 256 } where signals = \"tree\""
        }
    }
}

fn number<T: PartialOrd + Copy + std::fmt::Display>(
    key: &str,
    value: Option<T>,
    range: RangeInclusive<T>,
    at: usize,
) -> Result<T, Fault> {
    match value {
        Some(value) if range.contains(&value) => Ok(value),
        Some(value) => {
            let (least, most) = (range.start(), range.end());
            Fault::at(at, format!("`says`: {key} {value} must be from {least} to {most}"))
        }
        None => Fault::at(at, format!("`says` needs {key}")),
    }
}

pub(crate) type PlacedRule = (Rule, usize);

/// Checks that clients can signal these places in the chosen form.
pub(crate) fn check(
    form: Language,
    groups: &[(Group, usize)],
    rules: &[PlacedRule],
) -> Result<(), Fault> {
    let speaks = rules.iter().any(|(rule, _)| rule.says.is_some());
    match form {
        Language::Silence | Language::None => Ok(()),
        Language::Tree if !speaks => check_tree(groups, rules),
        Language::Tree | Language::Bucket | Language::Priority => check_words(form, rules),
    }
}

/// Checks that a server can identify the place from each signal.
fn check_words(form: Language, rules: &[PlacedRule]) -> Result<(), Fault> {
    for (index, (rule, at)) in rules.iter().enumerate() {
        if rule.says.is_none() {
            return Fault::at(*at, format!("this place needs `says`, as in {}", example(form)));
        }
        let place = (rule.parent, rule.level, rule.weight, rule.order);
        let differs = rules[..index].iter().position(|(other, _)| {
            other.says == rule.says
                && (other.parent, other.level, other.weight, other.order) != place
        });
        if let Some(before) = differs {
            let before = before + 1;
            let cause = format!(
                "this place `says` the same as [[place]] {before}, but differs from it: a server that receives it cannot \
                 tell them apart; let them say different things"
            );
            return Fault::at(*at, cause);
        }
    }
    Ok(())
}

/// Checks places for HTTP/2's tree, which has weights and chains, but no ranks.
fn check_tree(groups: &[(Group, usize)], rules: &[PlacedRule]) -> Result<(), Fault> {
    let remedy = "use signals = \"bucket\" or \"rfc9218\" with `says`, or signals = \"none\"";
    if let Some((_, at)) = groups.get(PLACEHOLDERS_MAX) {
        let cause = format!("clients cannot make more than {PLACEHOLDERS_MAX} groups; {remedy}");
        return Fault::at(*at, cause);
    }
    if let Some((_, at)) = groups.iter().find(|(group, _)| group.level > 0) {
        return Fault::at(*at, format!("tree frames cannot give a group a rank; {remedy}"));
    }
    if let Some((_, at)) =
        rules.iter().find(|(rule, _)| rule.order == Order::Shared && rule.level > 0)
    {
        let cause = format!("tree frames cannot give a rank to responses that share; {remedy}");
        return Fault::at(*at, cause);
    }
    // Where responses share: any resource without a place shares below the root.
    let mut shared: Vec<Element> = groups.iter().map(|(group, _)| group.parent).collect();
    shared.extend(
        rules.iter().filter(|(rule, _)| rule.order == Order::Shared).map(|(rule, _)| rule.parent),
    );
    if !rules.iter().any(|(rule, _)| rule.when.is_empty()) {
        shared.push(Element::Root);
    }
    for (rule, at) in rules.iter().filter(|(rule, _)| rule.order != Order::Shared) {
        if shared.contains(&rule.parent) {
            let cause = "tree frames cannot put a sequence beside nodes that share: give the sequence a group of its own";
            return Fault::at(*at, format!("{cause}, or {remedy}"));
        }
    }
    Ok(())
}
