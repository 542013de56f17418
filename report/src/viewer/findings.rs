//! Lint's findings in the sender's log, shown in place on the page.

use serde::Serialize;

use super::over_time::End;
use crate::limits::SHOWN_FINDINGS;
use qlog_tools::lint::{Allowance, Lint, Rules, Violation, lint};
use qlog_tools::trace::Vantage;

/// Lint's results for a log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// The judgement in a sentence; empty if no log is a sender's.
    pub verdict: String,
    /// The first packets that violated the rules. Times are the figure's.
    pub list: Vec<Violation>,
}

impl Findings {
    /// The findings in the sender's log, which is that of `sender`.
    pub(super) fn of(lint: Lint, sender: &End<'_>) -> Self {
        let verdict = verdict(&lint);
        let shown = lint.violations.into_iter().take(SHOWN_FINDINGS);
        let list = shown.map(|it| Violation { time_us: sender.clock.at(it.time_us), ..it });
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
