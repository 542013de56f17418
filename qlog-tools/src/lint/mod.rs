//! Which packets violated the order that RFC 9218 recommends, or that a scheme prescribes?
//!
//! A log becomes a [`story::Story`]: which responses were requested, signalled, ready and sent, in order. Our
//! server's logs record it exactly (`utmost:scheduler`); for other logs it is inferred, and a server that may have
//! had nothing to send is not blamed (`observed.rs` explains how). Retransmissions are never judged.

pub mod browser;
mod exact;
mod facts;
mod lost;
mod observed;
mod replay;
mod rfc9218;
mod story;
mod written;

use schedulers::Scheme;
use serde::Serialize;

use crate::limits::VIOLATIONS;
use crate::trace::Trace;
use story::Story;

/// The rules that judge a log.
#[derive(Debug, Clone)]
pub enum Rules<'a> {
    /// The schedulers of the schemes that the log names, each from its start; RFC 9218, section 10, if it names
    /// none.
    Named,
    /// RFC 9218, section 10.
    Rfc9218,
    /// The scheduler of a scheme.
    Scheme(&'a Scheme),
}

/// The tolerance of the judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// A response counts as ready this long after its request arrived, unless the log shows more.
    pub think_us: u64,
    /// Packets that may be on their way out when something more urgent becomes ready.
    pub packets: u64,
}

impl Default for Allowance {
    /// 10 ms, and the number of packets that a sender may pass to the system at once.
    fn default() -> Self {
        Self { think_us: 10_000, packets: 10 }
    }
}

/// The result of a judgement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lint {
    /// In order, one for each packet. If there are very many, the first ones.
    pub violations: Vec<Violation>,
    /// The total number.
    pub packets_broken: u64,
    /// Bytes that were sent while a stream with precedence waited: for each packet, the streams with precedence
    /// over its first stream.
    pub inversion_bytes: u64,
    /// Packets that were judged: packets with response bytes that had not been sent before.
    pub packets_checked: u64,
    /// The missing part of the log, if it cannot be judged.
    pub cannot_judge: Option<String>,
    /// The basis of the judgement.
    pub basis: String,
}

impl Lint {
    /// Counts a packet that violated the rules.
    fn add(&mut self, bytes: u64, violation: impl FnOnce() -> Violation) {
        self.packets_broken += 1;
        self.inversion_bytes = self.inversion_bytes.saturating_add(bytes);
        if self.violations.len() < VIOLATIONS {
            self.violations.push(violation());
        }
    }
}

/// A packet that should not have been sent at that moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// When it was sent, on the log's clock.
    pub time_us: u64,
    /// The stream whose bytes it had.
    pub stream: u64,
    /// The stream whose bytes should have been sent.
    pub expected_stream: u64,
    /// Its bytes.
    #[serde(skip)]
    pub bytes: u64,
    /// The violated rule, with the values.
    pub rule: String,
}

/// Judges `trace`; `client` is the other end's log for a server's connection, for facts that the server's lacks.
pub fn lint(
    trace: &Trace,
    client: Option<&Trace>,
    rules: &Rules<'_>,
    allowance: Allowance,
) -> Lint {
    let named = matches!(rules, Rules::Named).then(|| exact::named(trace)).unwrap_or_default();
    let (rules, own) = match (rules, named.last()) {
        (Rules::Named, None) => (&Rules::Rfc9218, None),
        (Rules::Named, Some(last)) => (rules, Some(*last)),
        (Rules::Scheme(scheme), _) => (rules, Some(&*scheme.name)),
        (Rules::Rfc9218, _) => (rules, None),
    };
    let story = match exact::story(trace, client, own) {
        Some(story) => Ok(story),
        None => observed::story(trace, client, allowance),
    };
    match story {
        Ok(story) => judge(&story, rules, &named, allowance),
        Err(lacks) => Lint { cannot_judge: Some(lacks), ..Lint::default() },
    }
}

fn judge(story: &Story, rules: &Rules<'_>, named: &[&str], allowance: Allowance) -> Lint {
    let lint = match rules {
        Rules::Rfc9218 if !story.has_signals() => Err(
            "no priorities: neither this log nor a client's has a `priority` header or a PRIORITY_UPDATE; \
             without any, RFC 9218 leaves the order to the server; give the client's log with them (--client), or name the \
             scheme that should have ordered (--scheme)"
                .to_owned(),
        ),
        Rules::Rfc9218 => Ok(rfc9218::judge(story, allowance)),
        Rules::Scheme(scheme) => match facts::lacking(story, scheme) {
            Some(lacks) => Err(lacks),
            None => replay::judge(story, Some(scheme), allowance),
        },
        Rules::Named => replay::judge(story, None, allowance),
    };
    let basis = match rules {
        Rules::Named => {
            let mut names = named.to_vec();
            names.dedup();
            format!("{}, which the log names, and {}", names.join(", then "), story.basis)
        }
        _ => story.basis.clone(),
    };
    match lint {
        Ok(lint) => Lint { basis, ..lint },
        Err(lacks) => Lint { cannot_judge: Some(lacks), basis, ..Lint::default() },
    }
}

#[cfg(test)]
mod tests;
