//! Lint's findings in the sender's log, shown in place on the page.

use serde::Serialize;

use super::over_time::End;
use crate::limits::SHOWN_FINDINGS;
use qlog_tools::lint::{Allowance, Lint, Rules, lint};
use qlog_tools::trace::Vantage;

/// Lint's results for a log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// The judgement in a sentence; empty if no log is a sender's.
    pub verdict: String,
    /// The first packets that violated the rules.
    pub list: Vec<Finding>,
}

/// A packet that broke the rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// When it was sent, in the figure.
    pub time_us: u64,
    /// The stream whose bytes it had.
    pub stream: u64,
    /// The stream whose bytes should have been sent.
    pub expected_stream: u64,
    /// The rule.
    pub rule: String,
}

impl Findings {
    /// The findings in the sender's log, which is that of `sender`.
    pub(super) fn of(lint: Lint, sender: &End<'_>) -> Self {
        let verdict = verdict(&lint);
        let shown = lint.violations.into_iter().take(SHOWN_FINDINGS);
        let list = shown.map(|violation| Finding {
            time_us: sender.clock.at(violation.time_us),
            stream: violation.stream,
            expected_stream: violation.expected_stream,
            rule: violation.rule,
        });
        Self { verdict, list: list.collect() }
    }
}

/// Judges the sender's log by the scheme that it names, or by RFC 9218; `None` if no log is a server's.
pub(super) fn judged(shown: &End<'_>, other: Option<&End<'_>>) -> Option<Lint> {
    let sender = other.unwrap_or(shown).trace;
    let client = other.map(|_| shown.trace);
    let is_server = sender.vantage == Vantage::Server;
    is_server.then(|| lint(sender, client, &Rules::Named, Allowance::default()))
}

fn verdict(lint: &Lint) -> String {
    if let Some(lacks) = &lint.cannot_judge {
        return format!("lint cannot judge the order of sending: {lacks}");
    }
    let count = lint.packets_broken;
    let is_cut = count > SHOWN_FINDINGS as u64;
    let shown =
        if is_cut { format!("; the first {SHOWN_FINDINGS} are listed") } else { String::new() };
    let (checked, basis) = (lint.packets_checked, &lint.basis);
    format!("lint: {count} of {checked} packets broke the order ({basis}){shown}")
}
