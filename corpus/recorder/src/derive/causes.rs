//! What caused each discovery: of all hypotheses the simplest that predicts the recordings best.
//!
//! A hypothesis is an event, and resources that must be applied as well. Under each setting it says when
//! the resource could be discovered at the earliest; what remains must be the same time, the delay, under
//! all of them. Coincidences of one recording fail under another.

use super::replay::Moments;
use super::roles::offset;
use super::table::{Table, median};
use crate::capture::Fetch;
use corpus::PageResource;
use corpus::page::{Event, PageKind, Trigger};

/// Most prerequisites of a discovery.
const NEEDS_MAX: usize = 4;
/// What comes after a discovery by more than this has not caused it.
const SLACK_MS: f64 = 12.0;
/// What a prerequisite must gain, in milliseconds of mean error: code, and anything else.
const CODE_GAIN_MS: f64 = 3.0;
const OTHER_GAIN_MS: f64 = 12.0;
/// Least part of the error that a prerequisite must take away.
const GAIN_SHARE: f64 = 0.15;
/// Resources on a stack, or without any initiator, that are tried as the cause.
const TRIED_MAX: usize = 60;

/// An event and how natural it is, in milliseconds of error that it must be better by.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    on: Event,
    of: usize,
    byte: Option<u64>,
    handicap_ms: f64,
}

/// Where the causes are looked for.
pub(crate) struct Search<'a> {
    /// The resources, their triggers not known.
    pub(crate) resources: &'a [PageResource],
    pub(crate) fetches: &'a [Fetch],
    pub(crate) table: &'a Table,
    /// By column.
    pub(crate) moments: &'a [Moments],
    pub(crate) document: &'a str,
}

/// A hypothesis with what it comes to.
#[derive(Debug, Clone)]
struct Fit {
    needs: Vec<usize>,
    delay_ms: f64,
    cost_ms: f64,
}

impl Search<'_> {
    /// The trigger of resource `id`, which is not the document.
    pub(crate) fn trigger(&self, id: usize) -> Trigger {
        let fits = self.candidates(id).into_iter().filter_map(|candidate| {
            let mut fit = self.fit(id, candidate)?;
            fit.cost_ms += candidate.handicap_ms;
            Some((candidate, fit))
        });
        let best = fits.min_by(|(_, a), (_, b)| a.cost_ms.total_cmp(&b.cost_ms));
        let Some((candidate, fit)) = best else {
            return Trigger {
                on: Event::Complete,
                of: 0,
                byte: None,
                needs: Vec::new(),
                delay_ms: 0.0,
            };
        };
        Trigger {
            on: candidate.on,
            of: candidate.of,
            byte: candidate.byte,
            needs: fit.needs,
            delay_ms: (fit.delay_ms * 10.0).round() / 10.0,
        }
    }

    fn candidates(&self, id: usize) -> Vec<Candidate> {
        let fetch = &self.fetches[id];
        let by = &fetch.initiator;
        let mut candidates = Vec::new();
        let mut add = |on, of, byte, handicap_ms| {
            candidates.push(Candidate { on, of, byte, handicap_ms });
        };
        let parent = by.path.as_deref().and_then(|path| self.find(path));
        let at = by.place.and_then(|it| offset(self.document, it)).map(|it| it as u64);
        if parent == Some(0) {
            let byte = at.or_else(|| self.mentioned(&fetch.path)).unwrap_or(0);
            add(Event::Bytes, 0, Some(byte.min(self.resources[0].decoded_len())), 0.0);
            add(Event::StyleApplied, 0, None, 4.0);
        }
        if let Some(sheet) = parent.filter(|&it| self.resources[it].kind == PageKind::Css) {
            if self.resources[id].kind == PageKind::Css {
                add(Event::CssImport, sheet, None, 0.0);
            } else {
                add(Event::CssApplied, sheet, None, 0.0);
                add(Event::StyleApplied, 0, None, 2.0);
                add(Event::Dcl, 0, None, 6.0);
            }
        }
        let known = parent.is_some() && by.kind == "parser";
        for script in self.scripts(id, !known) {
            let named =
                by.stack.iter().any(|it| Some(script) == self.find(it)) || parent == Some(script);
            let handicap_ms = if named { 0.0 } else { 5.0 };
            add(Event::Exec, script, None, handicap_ms);
            add(Event::Timer, script, None, handicap_ms + 0.5);
        }
        if !known {
            let of_document = by.stack.iter().any(|it| self.find(it) == Some(0));
            let byte = at.filter(|_| of_document).or_else(|| self.mentioned(&fetch.path));
            let whole = self.resources[0].decoded_len();
            let handicap_ms = if of_document { 0.0 } else { 4.0 };
            add(Event::Bytes, 0, Some(byte.unwrap_or(0).min(whole)), handicap_ms);
            add(Event::StyleApplied, 0, None, 3.0);
            add(Event::Dcl, 0, None, 1.0);
            add(Event::Load, 0, None, 1.0);
        }
        candidates
    }

    /// The scripts that may have asked for resource `id`: those of its stack; if `any`, the others too.
    fn scripts(&self, id: usize, any: bool) -> Vec<usize> {
        let by = &self.fetches[id].initiator;
        let is_script = |it: &usize| self.resources[*it].kind == PageKind::Js && *it != id;
        let stack = by.stack.iter().rev().chain(&by.path).filter_map(|it| self.find(it));
        let mut scripts: Vec<usize> = stack.filter(is_script).collect();
        if any {
            scripts.extend((1..self.resources.len()).filter(is_script));
        }
        let mut kept = Vec::new();
        for script in scripts {
            if !kept.contains(&script) {
                kept.push(script);
            }
        }
        kept.truncate(TRIED_MAX);
        kept
    }

    fn find(&self, path: &str) -> Option<usize> {
        self.fetches.iter().position(|it| it.path == path)
    }

    /// Where the document names the last part of a path.
    fn mentioned(&self, path: &str) -> Option<u64> {
        let name = path.rsplit('/').next().filter(|it| !it.is_empty())?;
        self.document.find(name).map(|it| (it + name.len()) as u64)
    }

    /// The best prerequisites and delay for an event; none: it does not happen before the discovery.
    fn fit(&self, id: usize, candidate: Candidate) -> Option<Fit> {
        let rows: Vec<(usize, f64, f64)> = self
            .table
            .columns
            .iter()
            .zip(self.moments)
            .enumerate()
            .filter_map(|(number, (column, moments))| {
                let discovered_ms = column.times[id]?.discovered_ms;
                let event = moments.event_ms(candidate.on, candidate.of, candidate.byte);
                Some((number, discovered_ms, event?))
            })
            .collect();
        let seen = self.table.columns.iter().filter(|it| it.times[id].is_some()).count();
        if rows.is_empty() || rows.len() < seen {
            return None;
        }
        let mut met: Vec<f64> = rows.iter().map(|it| it.2).collect();
        let discovered: Vec<f64> = rows.iter().map(|it| it.1).collect();
        let (mut delay_ms, mut error_ms) = judge(&discovered, &met);
        let mut fit = Fit { needs: Vec::new(), delay_ms, cost_ms: error_ms };
        let possible = self.possible_needs(id, &rows);
        while fit.needs.len() < NEEDS_MAX {
            let options = possible.iter().filter(|(it, _)| !fit.needs.contains(it));
            let best = options
                .map(|(need, applied)| {
                    let later: Vec<f64> = met.iter().zip(applied).map(|(a, b)| a.max(*b)).collect();
                    let (delay_ms, after_ms) = judge(&discovered, &later);
                    let gain_ms = if self.resources[*need].is_executed() {
                        CODE_GAIN_MS
                    } else {
                        OTHER_GAIN_MS
                    };
                    (*need, later, delay_ms, after_ms, gain_ms)
                })
                .min_by(|a, b| (a.3 + a.4).total_cmp(&(b.3 + b.4)));
            let Some((need, later, with_ms, after_ms, gain_ms)) = best else { break };
            if error_ms - after_ms < gain_ms.max(GAIN_SHARE * error_ms) {
                break;
            }
            fit.needs.push(need);
            fit.cost_ms = after_ms + fit.needs.len() as f64;
            (met, delay_ms, error_ms) = (later, with_ms, after_ms);
            fit.delay_ms = delay_ms;
        }
        fit.needs.sort_unstable();
        Some(fit)
    }

    /// Resources that were applied before `id` was discovered, under all settings, with the times.
    fn possible_needs(&self, id: usize, rows: &[(usize, f64, f64)]) -> Vec<(usize, Vec<f64>)> {
        (1..self.resources.len())
            .filter(|&it| it != id)
            .filter_map(|need| {
                let applied = rows.iter().map(|&(number, discovered_ms, _)| {
                    let begun =
                        self.table.columns[number].times[need]?.discovered_ms < discovered_ms;
                    self.moments[number].applied_ms[need]
                        .filter(|&it| begun && it <= discovered_ms + SLACK_MS)
                });
                Some((need, applied.collect::<Option<Vec<f64>>>()?))
            })
            .collect()
    }
}

/// The delay that fits best, and the mean error that it leaves.
fn judge(discovered: &[f64], met: &[f64]) -> (f64, f64) {
    let rests: Vec<f64> = discovered.iter().zip(met).map(|(a, b)| a - b).collect();
    let delay_ms = median(rests.clone()).unwrap_or(0.0).max(0.0);
    let error: f64 = rests.iter().map(|it| (it - delay_ms).abs()).sum();
    (delay_ms, error / rests.len().max(1) as f64)
}
