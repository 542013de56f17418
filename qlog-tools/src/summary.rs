//! Summarizes a connection: some sentences in plain English, each about a moment, and the numbers in them.
//!
//! The first sentence names what held the sender back longest. The summary claims nothing that the logs do not show: if they lack
//! something, the sentence says so, or is omitted.

mod ending;
mod held;
mod measures;
mod moved;
mod path_rate;
mod queue;
mod sentences;
mod words;

use std::borrow::Cow;

use held::{UPLOAD, working};
use measures::round_trips;
use queue::{Queue, round_trips_of_a_path};
use serde::Serialize;

use crate::head_of_line::{Arrivals, HeadOfLine, LongestWait};
use crate::lint::Lint;
use crate::loss_recovery::LossRecovery;
use crate::pacing::{Acknowledgements, Pacing};
use crate::packetization::Packetization;
use crate::pairing::Ends;
use crate::restraints::bounds;
use crate::trace::{Trace, Vantage};
use crate::views::no_waits;

pub use ending::{Close, Ending, GivenUpStream};
pub use held::{Cause, Held, Phase};
pub use measures::{Flow, PathBasis, Recovered, Spread};
pub use moved::moved;

/// A connection in numbers and words. Times are in milliseconds on the clock of their log; in sentences about both logs, on
/// the client's.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// In plain English, the answer first.
    pub sentences: Vec<Sentence>,
    /// From the first packet to the last event, by the sender's log if there is one.
    pub duration_ms: f64,
    /// Packets sent by the server, from its log; with only a client's log, the client's own.
    pub packets_sent: u64,
    /// Distinct bytes of responses, without control streams and others that nobody requested.
    pub response_bytes: u64,
    /// The restraint of the sender.
    pub held: Option<Held>,
    /// Why that is not known.
    pub not_held: Option<&'static str>,
    /// The rate of responses, and of the path.
    pub flow: Option<Flow>,
    /// How it ended, and its responses.
    pub ending: Ending,
    /// Losses, and the sender's reactions.
    pub recovery: Recovered,
    /// Round trips, by the sender's samples if there are any.
    pub round_trips: Option<Spread>,
    /// The sender's without the peer's delays of acknowledgements.
    #[serde(skip)]
    pub round_trips_of_path: Option<Spread>,
    /// The delays that the peer reports for its acknowledgements of 1-RTT packets.
    pub ack_delay: Option<Spread>,
    /// The maximum delay that it had announced.
    pub announced_ack_delay_ms: Option<f64>,
    /// The bytes that waited longest behind a hole in their stream.
    pub longest_wait: Option<LongestWait>,
    /// Whether the client's log shows that: without it, arrival times are unknown.
    pub knows_waits: bool,
    /// Whether most stream bytes were uploads, and the client's log is here: then the sender is the client, and its uploads have the rate, the
    /// losses and the waits.
    pub is_upload: bool,
    /// Whether losses and timers are the responses' sender's. With only a client's log, they are the client's own.
    #[serde(skip)]
    pub is_of_server: bool,
}

/// The distributions of packets and acknowledgements of a connection's sender. No sentence mentions them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Traffic {
    /// The ACK frames that arrived for its packets.
    pub acknowledgements: Option<Acknowledgements>,
    /// The pacing of its packets; `None` without a server's log, because a client's few packets show no pacing.
    pub pacing: Option<Pacing>,
    /// The contents of the packets in its log.
    pub packetization: Packetization,
}

/// A sentence.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Sentence {
    /// Its subject: `cause`, `changes`, `ending`, `goodput`, `losses`, `probe_timeouts`, `round_trips`, `longest_wait`,
    /// `lint`, `repairs`.
    pub about: &'static str,
    /// It.
    pub text: String,
    /// The moment that it concerns.
    pub moment: Option<SentenceMoment>,
}

/// A moment of a log.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SentenceMoment {
    /// Whether it is in the server's log, on its clock.
    pub is_server: bool,
    /// When.
    pub time_ms: f64,
    /// The stream that it concerns.
    pub stream: Option<u64>,
    /// The packet of application data that it concerns.
    pub packet: Option<u64>,
}

impl Summary {
    /// Summarizes a connection whose logs were read with [`crate::trace::Detail::Full`]; `lint` is the judgement of the server's log, if
    /// requested.
    pub fn of(ends: &Ends<'_>, lint: Option<&Lint>) -> Self {
        let Ends { log, server } = *ends;
        let is_upload = is_upload(ends);
        let sender = &*sender_of(ends);
        let beside = server.filter(|_| is_upload).and_then(Trace::beside);
        let client = if is_upload { server } else { Some(log) };
        let client = client.filter(|it| is_upload || it.vantage != Vantage::Server);
        let (start_us, end_us) = bounds(sender);
        let recovery = LossRecovery::of(sender);
        let round_trips = Spread::of(round_trips(sender)).or_else(|| Spread::of(round_trips(log)));
        // Holes of an upload are at the server.
        let receiver = if is_upload { beside.as_ref() } else { client };
        let recovered = Recovered::of(sender, client, &recovery);
        let path = round_trips_of_a_path(sender);
        let is_hidden = log.vantage == Vantage::Server && log.mostly_uploads().is_some();
        let queue = Queue::of(sender, client, path.as_ref());
        let held = Held::of(sender, &recovered, queue);
        let held = if is_hidden { Err(UPLOAD) } else { held };
        let is_whole = client.is_some_and(|it| it.not_read().is_none());
        let waits = receiver.filter(|it| is_whole && (is_upload || no_waits(it).is_none()));
        // A repeated acknowledgement was not delayed for as long as it reports (RFC 9002, section 5.3).
        let acks = sender.recovery_events.acks.iter().filter(|it| it.is_newest);
        let delays_ms = acks.filter_map(|it| Some((it.time_us, it.delay_ms?)));
        let mut summary = Self {
            sentences: Vec::new(),
            duration_ms: end_us.saturating_sub(start_us) as f64 / 1000.0,
            packets_sent: sender.counts.packets_sent,
            response_bytes: log.response_bytes(),
            not_held: held.as_ref().err().copied(),
            held: held.ok(),
            flow: Flow::of(if is_upload { sender } else { log }, sender).filter(|_| !is_hidden),
            ending: Ending::of(log, sender),
            recovery: recovered,
            round_trips,
            round_trips_of_path: path,
            ack_delay: Spread::of(delays_ms.collect()),
            announced_ack_delay_ms: sender.recovery_events.max_ack_delay_ms,
            longest_wait: waits.and_then(|it| {
                let sent = server.filter(|_| !is_upload).map(|it| &it.arrivals);
                HeadOfLine::new(Arrivals::of(it, sent)).longest
            }),
            knows_waits: waits.is_some(),
            is_of_server: sender.vantage == Vantage::Server && !is_upload,
            is_upload,
        };
        summary.sentences = sentences::of(&summary, *ends, sender, &recovery, lint);
        summary
    }

    /// Probe timeouts; `None` if the log does not show them.
    pub fn probe_timeouts(&self) -> Option<u64> {
        self.recovery.timeouts_basis.map(|_| self.recovery.probe_timeouts)
    }
}

impl Traffic {
    /// Reads it from the logs of a connection, read with [`crate::trace::Detail::Full`].
    pub fn of(ends: &Ends<'_>) -> Self {
        let sender = &*sender_of(ends);
        let is_server = sender.vantage == Vantage::Server;
        Self {
            acknowledgements: Acknowledgements::of(sender),
            pacing: is_server.then(|| Pacing::of(sender, &working(sender))),
            packetization: Packetization::of(sender),
        }
    }
}

/// Whether most stream bytes went to the server, as the log of the client that sent them shows.
fn is_upload(ends: &Ends<'_>) -> bool {
    ends.log.vantage == Vantage::Client && ends.log.mostly_uploads().is_some()
}

/// The log of the sender of most bytes, as a server's; otherwise the log.
fn sender_of<'a>(ends: &Ends<'a>) -> Cow<'a, Trace> {
    if is_upload(ends) {
        return Cow::Owned(ends.log.uploading());
    }
    Cow::Borrowed(ends.server.unwrap_or(ends.log))
}

fn ms(time_us: u64) -> f64 {
    time_us as f64 / 1000.0
}

#[cfg(test)]
mod tests;
