//! The numbers of a summary in plain English.

mod rates;
mod waits;

use super::held::{Cause, Held, NO_WORK, Phase};
use super::measures;
use super::queue::Queue;
use super::words::{
    cut_by_marks, cuts_text, inferred, kinds_of_lost, ms_text, packet_text, percent, queue_text,
    subject, times,
};
use super::{Sentence, SentenceMoment, Summary, ms};
use crate::clock_shift::shift_us;
use crate::lint::Lint;
use crate::loss_recovery::{Basis, LossRecovery, RecoveryStep, StepKind};
use crate::pairing::Ends;
use crate::restraints::in_words;
use crate::short_texts::{counted, shown};
use crate::trace::{Repair, StreamRole, Trace, Vantage};
use std::collections::BTreeSet;

/// The most characters of a URL in a sentence.
const URL_CHARACTERS: usize = 60;

struct Teller<'a> {
    summary: &'a Summary,
    /// The client's log or, without one, the server's.
    log: &'a Trace,
    sender: &'a Trace,
    /// From the sender's clock to that of `log`, which all sentences use.
    shift_ms: f64,
    /// From the server's clock to the client's, if the server's log shows what of an upload waited.
    upload_shift_ms: f64,
    recovery: &'a LossRecovery,
}

/// All sentences, the answer first.
pub(super) fn of(
    summary: &Summary,
    Ends { log, server }: Ends<'_>,
    sender: &Trace,
    recovery: &LossRecovery,
    lint: Option<&Lint>,
) -> Vec<Sentence> {
    let is_one = std::ptr::eq(log, sender) || summary.is_upload;
    let shift_ms = if is_one { 0.0 } else { shift_us(log, sender) as f64 / 1000.0 };
    let receiver = server.filter(|_| summary.is_upload);
    let upload_shift_ms = receiver.map_or(0.0, |it| shift_us(log, it) as f64 / 1000.0);
    let teller = Teller { summary, log, sender, shift_ms, upload_shift_ms, recovery };
    let all = [
        Some(teller.cause()),
        teller.changes(),
        summary.ending.sentence(|it| teller.stream(it)),
        teller.goodput(),
        teller.losses(),
        teller.timeouts(),
        teller.round_trips(),
        Some(teller.longest_wait()),
        lint.map(verdict),
        teller.repairs(),
    ];
    all.into_iter().flatten().collect()
}

fn verdict(lint: &Lint) -> Sentence {
    let (broken, basis) = (lint.packets_broken, &lint.basis);
    let checked = counted(lint.packets_checked, "packet");
    let mut text = format!("{broken} of {checked} broke the order of sending (lint, by {basis}).");
    if let Some(lacks) = &lint.cannot_judge {
        let lacks = lacks.split(';').next().unwrap_or_default();
        text = format!("It is unknown whether the order of sending was right: {lacks}.");
    }
    let moment = lint.violations.first().map(|it| SentenceMoment {
        is_server: true,
        time_ms: ms(it.time_us),
        stream: Some(it.stream),
        packet: None,
    });
    Sentence { about: "lint", text, moment }
}

impl Teller<'_> {
    fn is_server(&self) -> bool {
        self.sender.vantage == Vantage::Server
    }

    fn moment(&self, time_ms: f64) -> SentenceMoment {
        let is_server = self.is_server() && !self.summary.is_upload;
        SentenceMoment { is_server, time_ms, stream: None, packet: None }
    }

    fn moment_of(&self, step: &RecoveryStep) -> SentenceMoment {
        let packet = step.packet.filter(|_| step.is_of_application());
        SentenceMoment { packet, ..self.moment(ms(step.time_us)) }
    }

    /// Formats a moment of the sender's log, on the clock of `log`.
    fn at(&self, time_ms: f64) -> String {
        ms_text(time_ms + self.shift_ms)
    }

    fn in_part(&self) -> &'static str {
        part(self.sender)
    }

    fn cause(&self) -> Sentence {
        let about = "cause";
        let Some(held) = &self.summary.held else {
            let lacks = self.summary.not_held.unwrap_or("not logged");
            let text = if lacks == NO_WORK && self.in_part().is_empty() {
                format!("The sender had nothing to send: {lacks}.")
            } else {
                format!("What held the sender back is not known: {lacks}.")
            };
            return Sentence { about, text, moment: None };
        };
        let Phase { from_ms, to_ms, .. } = held.longest;
        let mut text = format!(
            "{} held the {} back for {} of the {} in which it had work",
            subject(held.cause, self.summary.is_upload),
            if self.summary.is_upload { "uploading client" } else { "sender" },
            percent(held.share),
            ms_text(held.working_ms)
        );
        if let Some(detail) = self.detail(held) {
            text = format!("{text}: {detail}");
        }
        text = format!(
            "{text}; longest {} at a time, from {} on",
            ms_text(to_ms - from_ms),
            self.at(from_ms)
        );
        let names_stream =
            matches!(held.cause, Cause::ThinkTime | Cause::Application | Cause::StreamFlowControl);
        let stream =
            held.stream.filter(|_| names_stream).map(|it| format!(", {}", self.stream(it)));
        let text = format!("{text}{}.", stream.unwrap_or_default());
        let moment = SentenceMoment { stream: held.stream, ..self.moment(from_ms) };
        Sentence { about, text, moment: Some(moment) }
    }

    /// The numbers behind a cause.
    fn detail(&self, held: &Held) -> Option<String> {
        let recovered = &self.summary.recovery;
        match held.cause {
            Cause::Queue | Cause::CongestionWindow if held.queue != Queue::None => {
                let it = self.summary.round_trips_of_path?;
                let [p95, least] = [it.p95_ms, it.least_ms].map(ms_text);
                held.queue.in_words(&format!(
                    "round trips took {p95} at the 95th percentile instead of {least}"
                ))
            }
            Cause::CongestionWindow if let Some(bytes) = held.constant_window_bytes => {
                Some(format!("it had {bytes} bytes all the time"))
            }
            Cause::CongestionMarks => Some(cut_by_marks(recovered)),
            Cause::CongestionWindow if recovered.cuts() == 0 => {
                let is_whole = recovered.cuts_undone == 0;
                let text = if is_whole { "no loss cut it" } else { "each cut of it was undone" };
                Some(match self.in_part() {
                    "" => format!("{text}, but it had to grow"),
                    part => format!("{text}{part}"),
                })
            }
            Cause::CongestionWindow => Some(format!("losses cut it {}", cuts_text(recovered))),
            Cause::Loss => Some(format!(
                "{} of the packets were lost, and cut it {}",
                percent(recovered.loss_share()),
                cuts_text(recovered)
            )),
            Cause::Reordering => {
                Some(match (recovered.spurious, recovered.lost, recovered.in_vain_bytes) {
                    (Some(spurious), Some(lost), _) => {
                        format!("{spurious} of {lost} packets declared lost had arrived")
                    }
                    (.., in_vain) => {
                        let in_vain = in_vain.unwrap_or_default();
                        let again = in_vain + recovered.sent_again_bytes;
                        format!("{in_vain} of {again} bytes that were sent again had arrived")
                    }
                })
            }
            Cause::ConnectionFlowControl => {
                held.credit_bytes.map(|it| format!("it let at most {it} bytes be in flight"))
            }
            Cause::StreamFlowControl => {
                held.credit_bytes.map(|it| format!("each began with {it} bytes"))
            }
            _ => None,
        }
    }

    fn stream(&self, id: u64) -> String {
        let mut transfers =
            self.sender.timeline.transfers.iter().chain(&self.log.timeline.transfers);
        match transfers.find(|it| it.stream == id && !it.is_nameless()) {
            Some(transfer) => format!("stream {id} ({})", shown(&transfer.url, URL_CHARACTERS)),
            None => format!("stream {id}"),
        }
    }

    fn changes(&self) -> Option<Sentence> {
        let phases = &self.summary.held.as_ref()?.phases;
        let (first, others) = phases.split_first()?;
        if others.is_empty() {
            return None;
        }
        let parts =
            phases.iter().map(|it| format!("{} until {}", in_words(it.by), self.at(it.to_ms)));
        let parts: Vec<String> = parts.collect();
        let text = format!("The sender's main restraint changed: first {}.", parts.join(", then "));
        Some(Sentence { about: "changes", text, moment: Some(self.moment(first.to_ms)) })
    }

    fn losses(&self) -> Option<Sentence> {
        let recovered = &self.summary.recovery;
        let about = "losses";
        if !self.is_server() {
            return self.losses_of_other_end();
        }
        let again = recovered.sent_again_bytes + recovered.in_vain_bytes.unwrap_or_default();
        let Some(lost) = recovered.lost else {
            let vain = recovered
                .in_vain_bytes
                .map_or_else(String::new, |it| format!(", {it} of them in vain"));
            let lacks = match self.in_part() {
                "" => "Losses are not logged",
                _ => "No loss is in this part of a log",
            };
            let text = format!(
                "{lacks}; {again} stream bytes were sent again{vain}{}.",
                self.never_came()
            );
            return Some(Sentence { about, text, moment: None });
        };
        if lost == 0 {
            let text = format!(
                "No packet was declared lost{}{}{}.",
                self.in_part(),
                self.congestion_response(),
                self.never_came()
            );
            return Some(Sentence { about, text, moment: None });
        }
        let declared = match recovered.lost_share {
            Some(share) => {
                let sent = counted(self.summary.packets_sent, "packet");
                let whose = if self.summary.is_upload { " of the client" } else { "" };
                format!("{lost} of {sent}{whose} were declared lost ({})", percent(share))
            }
            None => format!(
                "{} were declared lost, and those that were sent are not logged",
                counted(lost, "packet")
            ),
        };
        let vain = self.came_anyway(again);
        let [first, probe] =
            [StepKind::Lost, StepKind::MtuProbeLost].map(|it| self.recovery.of_kind(it).next());
        let first = first.or(probe);
        let at = first.map_or_else(String::new, |step| {
            format!(", first at {}{}", self.at(ms(step.time_us)), packet_text(step))
        });
        let kinds = kinds_of_lost(lost, recovered);
        let more = self.congestion_response();
        let text = format!("{declared}{kinds}{at}; {vain}{more}{}.", self.never_came());
        Some(Sentence { about, text, moment: first.map(|it| self.moment_of(it)) })
    }

    /// How many of the packets declared lost had arrived.
    fn came_anyway(&self, again: u64) -> String {
        let recovered = &self.summary.recovery;
        match (recovered.spurious, recovered.in_vain_bytes) {
            (Some(0), _) if recovered.never_came.is_some() => "none of them had arrived".to_owned(),
            (Some(0), _) if self.sender.lacks_end() => {
                "none of them was acknowledged by the end of the log".to_owned()
            }
            (Some(0), _) => "none of them was acknowledged after all".to_owned(),
            (Some(spurious), _) => format!("{spurious} of them had arrived anyway"),
            (None, Some(bytes)) => {
                format!(
                    "which ones is not logged; of {again} bytes sent again, {bytes} had arrived"
                )
            }
            (None, None) => "which of them had arrived is not logged".to_owned(),
        }
    }

    fn losses_of_other_end(&self) -> Option<Sentence> {
        if self.log.vantage == Vantage::Network {
            return Some(self.losses_beyond());
        }
        let text = match (self.summary.recovery.never_came_share, self.log.unread_records()) {
            (None, 0) => return None,
            (None, unread) => format!(
                "How many of the other end's packets never arrived is not known: {} of this log could not be read.",
                counted(unread, "record")
            ),
            (Some(share), _) if share > 0.0 => format!(
                "At least {} of the other end's packets never arrived: their numbers and stream bytes are missing.",
                percent(share)
            ),
            _ => "This log does not show that a packet of the other end was lost.".to_owned(),
        };
        Some(Sentence { about: "losses", text, moment: None })
    }

    /// A packet that passes on the way may still be lost.
    fn losses_beyond(&self) -> Sentence {
        let streams = self.log.streams.iter();
        let again = streams.map(|it| it.retransmitted_bytes + it.duplicate_bytes.unwrap_or(0));
        let again: u64 = again.fold(0, u64::saturating_add);
        let text = format!(
            "A log from the network does not show which packets arrived; {again} stream bytes of responses passed again."
        );
        Sentence { about: "losses", text, moment: None }
    }

    /// The server's packets that never arrived, by both logs, whatever it declared.
    fn never_came(&self) -> String {
        let recovered = &self.summary.recovery;
        match (recovered.never_came, recovered.never_came_share) {
            (Some([lost, sent]), Some(share)) if lost > 0 => {
                format!("; {lost} of {sent} 1-RTT packets never arrived ({})", percent(share))
            }
            _ => String::new(),
        }
    }

    /// The reaction of the congestion control to losses, in brackets.
    fn congestion_response(&self) -> String {
        let recovered = &self.summary.recovery;
        let mut more = Vec::new();
        if recovered.recovery_periods > 0 {
            let periods = counted(recovered.recovery_periods, "recovery period");
            let is_inferred = recovered.periods_basis == Some(Basis::Inferred);
            more.push(if is_inferred { format!("{periods}, inferred") } else { periods });
        }
        if recovered.persistent_congestion > 0 {
            let often = times(recovered.persistent_congestion);
            let basis = self.recovery.basis_of(StepKind::PersistentCongestion);
            let inferred = if basis == Some(Basis::Inferred) { ", inferred" } else { "" };
            more.push(format!("persistent congestion {often}{inferred}"));
        }
        if recovered.window_cuts > 0 {
            let undone = recovered.cuts_undone;
            let undone = if undone > 0 { format!(", {undone} undone") } else { String::new() };
            more.push(format!("{}{undone}", counted(recovered.window_cuts, "cut of the window")));
        }
        if recovered.mark_cuts > 0 {
            more.push(cut_by_marks(recovered));
        }
        if more.is_empty() { String::new() } else { format!(" ({})", more.join("; ")) }
    }

    fn timeouts(&self) -> Option<Sentence> {
        let about = "probe_timeouts";
        let recovered = &self.summary.recovery;
        let Some(basis) = recovered.timeouts_basis else {
            let text =
                "Probe timeouts are not logged, and its packets do not show them.".to_owned();
            return self.is_server().then_some(Sentence { about, text, moment: None });
        };
        let whose = match self.sender.vantage {
            Vantage::Server if self.summary.is_upload => "The client's",
            Vantage::Server => "The server's",
            Vantage::Client => "The client's own",
            Vantage::Unknown => "The logging side's",
            // It has none.
            Vantage::Network => return None,
        };
        let first = self.recovery.of_kind(StepKind::ProbeTimeout).next();
        let expired = match first {
            None => format!("never expired{}{}", self.in_part(), inferred(basis)),
            Some(step) => format!(
                "expired {}{}, first at {}{}",
                times(recovered.probe_timeouts),
                inferred(basis),
                self.at(ms(step.time_us)),
                if self.is_server() { "" } else { awaited(self.sender, ms(step.time_us)) }
            ),
        };
        let text = format!("{whose} probe timer {expired}{}.", self.timeouts_of_client());
        Some(Sentence { about, text, moment: first.map(|it| self.moment_of(it)) })
    }

    /// The parts of the logs that were not read as they stand.
    fn repairs(&self) -> Option<Sentence> {
        let logs = [self.log, self.sender];
        let repairs: BTreeSet<String> =
            logs.iter().flat_map(|it| &it.repairs).map(Repair::in_words).collect();
        let all = repairs.into_iter().collect::<Vec<_>>().join("; ");
        let text = format!("Not everything was read as it stands: {all}.");
        (!all.is_empty()).then_some(Sentence { about: "repairs", text, moment: None })
    }

    /// How often the client's probe timer expired, and when first, where both logs are here.
    fn timeouts_of_client(&self) -> String {
        let is_second = self.summary.is_of_server && self.log.vantage == Vantage::Client;
        let recovery = is_second.then(|| LossRecovery::of(self.log));
        let Some((basis, recovery)) = recovery.and_then(|it| Some((it.timeouts?, it))) else {
            return String::new();
        };
        let first = recovery.of_kind(StepKind::ProbeTimeout).next().map(|it| ms(it.time_us));
        let (often, when) = match first {
            None => (format!("never{}", part(self.log)), String::new()),
            Some(time_ms) => (
                times(recovery.count(StepKind::ProbeTimeout)),
                format!(", first at {}{}", ms_text(time_ms), awaited(self.log, time_ms)),
            ),
        };
        format!("; the client's {often}{}{when}", inferred(basis))
    }

    /// Says when the path changed, so that round trips differ.
    fn changed_path(&self) -> String {
        let changed_us = self.sender.changed_path_us();
        let at = changed_us.first().map(|it| format!("; the path changed at {}", self.at(ms(*it))));
        at.unwrap_or_default()
    }

    fn round_trips(&self) -> Option<Sentence> {
        let round_trips = self.summary.round_trips.as_ref()?;
        let time_ms = round_trips.longest_at_ms;
        let is_senders = !measures::round_trips(self.sender).is_empty();
        let delay = self.summary.ack_delay.map_or_else(
            || "for how long acknowledgements were held back is not logged".to_owned(),
            |it| {
                let other = match self.sender.vantage {
                    Vantage::Server if !self.summary.is_upload => "client",
                    Vantage::Server | Vantage::Client => "server",
                    Vantage::Network | Vantage::Unknown => "other end",
                };
                let announced = self.summary.announced_ack_delay_ms.map_or_else(String::new, |most| format!(" of {most} ms announced"));
                format!(
                    "the {other} held acknowledgements back for {} or less in 95 % of cases, {} at most{announced}",
                    ms_text(it.p95_ms),
                    ms_text(it.longest_ms)
                )
            },
        );
        let text = format!(
            "{}; the longest took {} at {}{}; {delay}.",
            queue_text(round_trips),
            ms_text(round_trips.longest_ms),
            if is_senders { self.at(time_ms) } else { ms_text(time_ms) },
            self.changed_path()
        );
        let moment = self.moment(time_ms);
        let moment = Some(SentenceMoment { is_server: is_senders && moment.is_server, ..moment });
        Some(Sentence { about: "round_trips", text, moment })
    }
}

/// That a log does not show its beginning, so that sentences about all of its time are about the rest.
fn part(log: &Trace) -> &'static str {
    if log.lacks_beginning() { " in this part of a log" } else { "" }
}

/// Says of a moment in a client's log that no requested response had begun.
fn awaited(client: &Trace, time_ms: f64) -> &'static str {
    let requested_us = client.timeline.start_us();
    let responses = client.streams.iter().filter(|it| it.role == StreamRole::Request);
    let first_us = responses.map(|it| it.first_us).min();
    let is_before = first_us.is_none_or(|it| time_ms < ms(it));
    let is_awaited = requested_us.is_some_and(|it| ms(it) <= time_ms) && is_before;
    if is_awaited { ", before the first response began" } else { "" }
}
