//! Finds the cause of each discovery: the simplest of the hypotheses that predict the recordings best.
//!
//! A hypothesis is an event, and resources that must also be applied. For each setting it gives the earliest
//! possible discovery; the remaining time, the delay, must be the same under all settings. Coincidences of one
//! recording fail under another.

use super::replay::Moments;
use super::roles::{last_part, offset, reference};
use super::table::Table;
use crate::capture::{Capture, Fetch};
use crate::limits::{NEEDS_MAX, TRIED_MAX};
use corpus::PageResource;
use corpus::page::{Event, Script, Trigger};
use lab::study::statistics::median;
use schedulers::Kind;

/// An event that is later than a discovery by more than this did not cause it.
const SLACK_MS: f64 = 12.0;
/// The minimum gain of a prerequisite, in milliseconds of mean error: for code, and for anything else.
const CODE_GAIN_MS: f64 = 3.0;
const OTHER_GAIN_MS: f64 = 12.0;
/// The minimum share of the error that a prerequisite must remove.
const GAIN_SHARE: f64 = 0.15;

/// An event, and its handicap: the milliseconds of error by which it must be better.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    on: Event,
    of: usize,
    byte: Option<u64>,
    handicap_ms: f64,
}

impl Candidate {
    fn new(on: Event, of: usize, handicap_ms: f64) -> Self {
        Self { on, of, byte: None, handicap_ms }
    }

    fn bytes(byte: u64, handicap_ms: f64) -> Self {
        Self { on: Event::Bytes, of: 0, byte: Some(byte), handicap_ms }
    }
}

pub(crate) struct Search<'a> {
    /// The resources, their triggers not known.
    pub(crate) resources: &'a [PageResource],
    pub(crate) fetches: &'a [Fetch],
    pub(crate) table: &'a Table,
    pub(crate) moments: &'a [Moments],
    /// For the document's text.
    pub(crate) first: &'a Capture,
}

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
        let Some((candidate, fit)) = best else { return Trigger::default() };
        Trigger {
            on: candidate.on,
            of: candidate.of,
            byte: candidate.byte.map(|it| it.min(self.resources[0].decoded_len())),
            needs: fit.needs,
            delay_ms: (fit.delay_ms * 10.0).round() / 10.0,
        }
    }

    fn candidates(&self, id: usize) -> Vec<Candidate> {
        let by = &self.fetches[id].initiator;
        let parent = by.path.as_deref().and_then(|path| self.find(path));
        if let Some(end) = reference(&self.fetches[id], self.first) {
            let styled_ms = if self.resources[id].lazy { 1.0 } else { 4.0 };
            return vec![
                Candidate::bytes(end as u64, 0.0),
                Candidate::new(Event::StyleApplied, 0, styled_ms),
            ];
        }
        match parent.filter(|&parent| self.resources[parent].kind == Kind::Css) {
            Some(sheet) if self.resources[id].kind == Kind::Css => {
                vec![Candidate::new(Event::CssImport, sheet, 0.0)]
            }
            Some(sheet) => vec![
                Candidate::new(Event::CssApplied, sheet, 0.0),
                Candidate::new(Event::StyleApplied, 0, 2.0),
                Candidate::new(Event::Dcl, 0, 6.0),
            ],
            None if by.fetched_by.as_deref() == Some("css") => self.in_style(id),
            None => self.of_scripts(id),
        }
    }

    /// Candidates for a reference from a style in the document.
    fn in_style(&self, id: usize) -> Vec<Candidate> {
        let mentioned = self.mentioned(&self.fetches[id].path);
        let bytes = mentioned.map(|byte| Candidate::bytes(byte, 2.0));
        let events = [(Event::StyleApplied, 0.0), (Event::Dcl, 4.0)];
        let events = events.map(|(on, handicap_ms)| Candidate::new(on, 0, handicap_ms));
        events.into_iter().chain(bytes).collect()
    }

    /// Candidates for a request of a script, or of unknown cause: the scripts on its stack, the script that blocks
    /// the parser, other scripts, earlier arrivals, and the events of the page.
    fn of_scripts(&self, id: usize) -> Vec<Candidate> {
        let by = &self.fetches[id].initiator;
        let events = [(Event::Dcl, 1.0), (Event::Load, 1.0), (Event::StyleApplied, 6.0)];
        let mut candidates: Vec<Candidate> =
            events.map(|(on, handicap_ms)| Candidate::new(on, 0, handicap_ms)).to_vec();
        let stack: Vec<usize> = by.stack.iter().filter_map(|it| self.find(it)).collect();
        let current = self.current_script(id);
        for script in self.earlier(id, |other| other.kind == Kind::Js) {
            let handicap_ms = match current {
                _ if stack.contains(&script) => 0.0,
                Some(current) if current == script => 1.0,
                _ => 4.0,
            };
            // A discovery after the script's end is attributed to the end, even if both fit equally well.
            candidates.push(Candidate::new(Event::Exec, script, handicap_ms + 0.5));
            candidates.push(Candidate::new(Event::Timer, script, handicap_ms));
        }
        for cause in self.earlier(id, |other| !other.is_executed() && other.id != 0) {
            let alike = reference(&self.fetches[cause], self.first).is_none();
            candidates.push(Candidate::new(Event::Complete, cause, if alike { 3.0 } else { 8.0 }));
        }
        let inline = stack.contains(&0);
        let byte = self.mentioned(&self.fetches[id].path);
        candidates.push(Candidate::bytes(byte.unwrap_or(0), if inline { 0.0 } else { 4.0 }));
        candidates
    }

    /// The last script before the parser's place for which it waited.
    fn current_script(&self, id: usize) -> Option<usize> {
        let by = &self.fetches[id].initiator;
        let (line, column) = by.place.filter(|_| by.kind == "parser")?;
        let at = offset(&self.first.document, line, column)?;
        let scripts = self.resources.iter().filter(|it| it.script == Some(Script::Sync));
        scripts
            .filter_map(|it| Some((reference(&self.fetches[it.id], self.first)?, it.id)))
            .filter(|&(end, _)| end <= at)
            .max()
            .map(|(_, script)| script)
    }

    /// Resources that satisfy `sort` and were discovered before `id` under every setting, the latest first.
    fn earlier(&self, id: usize, sort: impl Fn(&PageResource) -> bool) -> Vec<usize> {
        let others = (1..self.resources.len()).rev();
        let of_sort = others.filter(|&it| it != id && sort(&self.resources[it]));
        of_sort.filter(|&it| self.is_earlier(it, id)).take(TRIED_MAX).collect()
    }

    /// Ignores settings under which one of the two was not loaded.
    fn is_earlier(&self, other: usize, id: usize) -> bool {
        let mut times = self.table.columns.iter().map(|it| it.times[other].zip(it.times[id]));
        times.all(|both| both.is_none_or(|(other, own)| other.discovered_ms < own.discovered_ms))
    }

    fn find(&self, path: &str) -> Option<usize> {
        self.fetches.iter().position(|it| it.path == path)
    }

    /// The byte at which the document mentions the last part of a path.
    fn mentioned(&self, path: &str) -> Option<u64> {
        let name = Some(last_part(path)).filter(|it| !it.is_empty())?;
        self.first.document.find(name).map(|it| (it + name.len()) as u64)
    }

    /// The best prerequisites and delay for an event; `None` if it does not happen before the discovery.
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
                    let is_code = self.resources[*need].is_executed();
                    let gain_ms = if is_code { CODE_GAIN_MS } else { OTHER_GAIN_MS };
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

    /// Resources that were applied before the discovery of `id` under all settings, with the times.
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

fn judge(discovered: &[f64], met: &[f64]) -> (f64, f64) {
    let rests: Vec<f64> = discovered.iter().zip(met).map(|(a, b)| a - b).collect();
    let delay_ms = median(&rests).unwrap_or(0.0).max(0.0);
    let error: f64 = rests.iter().map(|it| (it - delay_ms).abs()).sum();
    (delay_ms, error / rests.len().max(1) as f64)
}
