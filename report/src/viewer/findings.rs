//! What lint finds in the sender's log, for the page to show in place.

use serde::Serialize;

use super::over_time::End;
use crate::limits::SHOWN_FINDINGS;
use qlog_tools::lint::{Allowance, Lint, Rules, lint};
use qlog_tools::trace::Vantage;

/// What lint says of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// The judgement in a sentence; empty where no log is a sender's.
    pub verdict: String,
    /// Packets that broke the rules, the first of them.
    pub list: Vec<Finding>,
}

/// A packet that broke the rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// When it went, in the figure.
    pub time_us: u64,
    /// The stream whose bytes it had.
    pub stream: u64,
    /// The stream whose bytes should have gone.
    pub expected_stream: u64,
    /// The rule.
    pub rule: String,
}

impl Findings {
    /// What was found in the sender's log, which is that of `sender`.
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

/// Judges the sender's log by the scheme that it names, or by RFC 9218; `None` where no log is a server's.
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
