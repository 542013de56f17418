//! The numbers of a summary: goodput, losses, round trips, delays of acknowledgements.

use std::collections::BTreeSet;

use serde::Serialize;

use super::held::working;
use super::ms;
use super::path_rate::PathRate;
use crate::causes::{Causes, frame_causes};
use crate::clock_shift::slowest_us;
use crate::distribution::place;
use crate::link_facts::{LinkFacts, joined, received_numbers};
use crate::loss_recovery::{Basis, INITIAL_RTT_MS, LossRecovery, MAX_ACK_DELAY_MS, StepKind};
use crate::packet::{PacketEvent, Space};
use crate::restraints::bounds;
use crate::trace::{Ack, Trace, Vantage};

/// The most bits per second of any path. A log that shows more has wrong lengths.
const POSSIBLE_BITS_PER_S: f64 = 1e13;
/// An acknowledgement and its measurement are logged within this time.
const SAME_US: u64 = 1000;

/// The rate of responses, and of the path, in bit/s.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Flow {
    /// Distinct response bytes per second, over the time in which some response was requested and incomplete.
    pub goodput_bits_per_s: f64,
    /// That time.
    pub under_way_ms: f64,
    /// The rate of the path while packets had to wait for one another on it, packet headers included; `None`: the logs do not show that, and a
    /// client's alone never does.
    pub path_bits_per_s: Option<f64>,
    /// The rate at the busiest, whatever limited it; `None`: too little was sent.
    pub seen_bits_per_s: Option<f64>,
    /// The source of both.
    pub path_basis: Option<PathBasis>,
}

/// The source of a path's rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PathBasis {
    /// The arrivals of packets, from the client's log.
    Arrivals,
    /// The acknowledgements of packets, from the server's.
    Acknowledgements,
}

impl Flow {
    /// `log` is the client's or, without one, the server's.
    pub(super) fn of(log: &Trace, sender: &Trace) -> Option<Self> {
        let under_way_us = under_way_us(log);
        let goodput_bits_per_s =
            goodput_bits_per_s(log, under_way_us).filter(|it| *it <= POSSIBLE_BITS_PER_S)?;
        let is_whole = log.not_read().is_none();
        let PathRate { path, seen, basis } =
            if is_whole { PathRate::of(log, sender) } else { PathRate::default() };
        Some(Self {
            goodput_bits_per_s,
            under_way_ms: ms(under_way_us),
            path_bits_per_s: path,
            seen_bits_per_s: seen,
            path_basis: basis,
        })
    }
}

fn goodput_bits_per_s(log: &Trace, under_way_us: u64) -> Option<f64> {
    let bytes = log.response_bytes();
    (bytes > 0 && under_way_us > 0).then_some(bytes as f64 * 8e6 / under_way_us as f64)
}

/// Whether responses had more bytes than any path carries in their time.
pub(super) fn is_impossible(log: &Trace) -> bool {
    goodput_bits_per_s(log, under_way_us(log)).is_some_and(|it| it > POSSIBLE_BITS_PER_S)
}

/// How long some response was requested and incomplete.
fn under_way_us(log: &Trace) -> u64 {
    let times = if log.vantage == Vantage::Server { working(log) } else { responses(log) };
    times.iter().map(|it| it.1 - it.0).sum()
}

fn responses(client: &Trace) -> Vec<(u64, u64)> {
    let transfers = client.timeline.transfers.iter();
    let each = transfers.filter_map(|it| {
        let stream = client.stream(it.stream)?;
        Some((it.requested_us, stream.complete_us.unwrap_or(stream.last_us)))
    });
    joined(each.collect())
}

/// Losses, and reactions to them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Recovered {
    /// Packets declared lost, of all spaces; `None` if the stack does not log that.
    pub lost: Option<u64>,
    /// Their share of the packets sent; `None` also if those are not logged.
    pub lost_share: Option<f64>,
    /// Initial and Handshake packets among them.
    pub lost_in_handshake: u64,
    /// Probes of the path's MTU among them, whose loss does not show congestion (RFC 9000, section 14.4).
    pub lost_mtu_probes: u64,
    /// The ones that had arrived all the same, by their acknowledgements and by the client's log; `None` if the log does not number lost packets.
    pub spurious: Option<u64>,
    /// Stream bytes that were retransmitted because the first packet with them had not arrived.
    pub sent_again_bytes: u64,
    /// Stream bytes that were retransmitted although it had; `None` without acknowledgements.
    pub in_vain_bytes: Option<u64>,
    /// Probe timers that expired; 0 also if the log does not show them.
    pub probe_timeouts: u64,
    /// The source of that; `None`: the log does not show it.
    pub timeouts_basis: Option<Basis>,
    /// Recovery periods.
    pub recovery_periods: u64,
    /// The source of these; `None`: the log does not show them.
    pub periods_basis: Option<Basis>,
    /// Times of persistent congestion.
    pub persistent_congestion: u64,
    /// Losses that cut the congestion window.
    pub window_cuts: u64,
    /// Cuts that were taken back.
    pub cuts_undone: u64,
    /// Congestion marks (ECN) that cut it, without a loss.
    pub mark_cuts: u64,
    /// The share of the server's packets that never arrived: exact with both logs; with only a client's, a lower bound.
    pub never_came_share: Option<f64>,
    /// With both logs, the server's packets that never arrived, of those that were sent.
    #[serde(skip)]
    pub never_came: Option<[u64; 2]>,
}

impl Recovered {
    pub(super) fn of(sender: &Trace, client: Option<&Trace>, recovery: &LossRecovery) -> Self {
        let sent = sender.counts.packets_sent;
        let mut again = Causes::default();
        let is_servers = sender.vantage == Vantage::Server;
        // A part of a log does not show what arrived before it, or after.
        let is_whole = |it: &&Trace| !it.lacks_beginning() && it.has_all_that_came(sender);
        let client = client.filter(|it| !is_servers || is_whole(it));
        if is_servers {
            frame_causes(sender, client).for_each(|it| again.add(it.causes));
        }
        let early = recovery.of_kind(StepKind::Lost).filter(|it| !it.is_of_application());
        let has_acknowledgements = is_servers
            && sender.acknowledged().is_some()
            && sender.arrivals.iter().any(|it| it.1.is_some());
        let never_came =
            client.filter(|_| is_servers).and_then(|it| never_came(sender, it, recovery));
        Self {
            lost: recovery.lost,
            lost_share: recovery.lost.filter(|_| sent > 0).map(|it| it as f64 / sent as f64),
            lost_in_handshake: early.count() as u64,
            lost_mtu_probes: recovery.count(StepKind::MtuProbeLost),
            spurious: spurious(recovery, client.filter(|_| is_servers)),
            sent_again_bytes: again.retransmitted_bytes,
            in_vain_bytes: has_acknowledgements.then_some(again.duplicate_bytes),
            probe_timeouts: recovery.count(StepKind::ProbeTimeout),
            timeouts_basis: recovery.timeouts,
            recovery_periods: recovery.count(StepKind::RecoveryPeriod),
            periods_basis: recovery.periods,
            persistent_congestion: recovery.count(StepKind::PersistentCongestion),
            window_cuts: recovery.count(StepKind::WindowCut),
            cuts_undone: recovery.count(StepKind::CutUndone),
            mark_cuts: recovery.count(StepKind::MarkCut),
            never_came_share: match never_came {
                Some([lost, sent]) => Some(lost as f64 / sent as f64),
                None => client.filter(|_| !is_servers).and_then(|it| LinkFacts::of(it)?.loss),
            },
            never_came,
        }
    }

    /// Packets declared lost whose loss can be a sign of congestion.
    fn lost_of_congestion(&self) -> Option<u64> {
        self.lost.map(|it| it.saturating_sub(self.lost_mtu_probes))
    }

    /// Whether most packets that counted as lost had arrived.
    pub(super) fn is_reordering(&self) -> bool {
        match (self.lost_of_congestion(), self.spurious, self.in_vain_bytes) {
            (Some(lost), Some(spurious), _) => spurious >= 3 && 2 * spurious >= lost,
            (_, None, Some(in_vain)) => in_vain > 0 && in_vain >= self.sent_again_bytes,
            _ => false,
        }
    }

    /// How often the congestion control reduced its window for good.
    pub(super) fn cuts(&self) -> u64 {
        self.window_cuts.saturating_sub(self.cuts_undone)
    }

    /// The share of packets that were finally lost: with both logs, those that never arrived, and otherwise from the declarations.
    pub(super) fn loss_share(&self) -> f64 {
        if let (Some(_), Some(share)) = (self.never_came, self.never_came_share) {
            return share;
        }
        let all = self.lost_share.unwrap_or_default();
        match (self.lost, self.lost_of_congestion()) {
            (Some(lost @ 1..), Some(of_congestion)) => {
                let arrived = self.spurious.unwrap_or_default();
                all * of_congestion.saturating_sub(arrived) as f64 / lost as f64
            }
            _ => all,
        }
    }
}

/// The packets declared lost that had arrived. Acknowledgements can be lost, too, so the client's log decides with them.
fn spurious(recovery: &LossRecovery, client: Option<&Trace>) -> Option<u64> {
    let Some(client) = client.filter(|it| received_numbers(it).is_some()) else {
        return recovery.spurious;
    };
    let received = client.packets_of(PacketEvent::Received);
    let received: BTreeSet<_> = received.filter_map(|it| Some((it.space, it.number?))).collect();
    let numbered = |kind| recovery.of_kind(kind).filter_map(|it| Some((it.space?, it.packet?)));
    let lost = numbered(StepKind::Lost).chain(numbered(StepKind::MtuProbeLost));
    let came = lost.filter(|it| received.contains(it));
    let all: BTreeSet<_> = numbered(StepKind::Spurious).chain(came).collect();
    (recovery.spurious.is_some() || !all.is_empty()).then_some(all.len() as u64)
}

/// The sent 1-RTT packets that never arrived, and all: up to the last that did, and later ones that even the slowest way would have
/// brought before the client's log ended. If nobody closed the connection and probe timers expired after that last one, the path was dead, and
/// all later ones count.
fn never_came(server: &Trace, client: &Trace, recovery: &LossRecovery) -> Option<[u64; 2]> {
    let came = received_numbers(client)?;
    let last = came.last()?;
    let slowest_us = slowest_us(server, client)?;
    let end_us = i64::try_from(bounds(client).1).ok()?;
    let sent = server.packets_of(PacketEvent::Sent).filter(|it| it.space == Space::Application);
    let last_us = sent.clone().find(|it| it.number == Some(*last)).map_or(0, |it| it.time_us);
    let probed = recovery.of_kind(StepKind::ProbeTimeout).any(|it| it.time_us > last_us);
    let is_dead = probed && !server.is_closed() && !client.is_closed();
    let would_have_come = |sent_us: u64| {
        is_dead || i64::try_from(sent_us).is_ok_and(|it| it.saturating_add(slowest_us) <= end_us)
    };
    let sent: BTreeSet<u64> = sent
        .filter_map(|it| it.number.filter(|number| number <= last || would_have_come(it.time_us)))
        .collect();
    let counts = [sent.difference(&came).count(), sent.len()];
    (!sent.is_empty()).then(|| counts.map(|it| it as u64))
}

/// How values in milliseconds spread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The least.
    pub least_ms: f64,
    /// Half are no longer.
    pub median_ms: f64,
    /// 95 of 100 are no longer.
    pub p95_ms: f64,
    /// The longest.
    pub longest_ms: f64,
    /// When that was measured.
    pub longest_at_ms: f64,
}

impl Spread {
    /// The spread of measurements in milliseconds, each with its time in microseconds.
    pub(super) fn of(mut all: Vec<(u64, f64)>) -> Option<Self> {
        all.sort_by(|one, other| one.1.total_cmp(&other.1));
        let longest = all.last()?;
        Some(Self {
            least_ms: all.first()?.1,
            median_ms: all[place(all.len(), 50)].1,
            p95_ms: all[place(all.len(), 95)].1,
            longest_ms: longest.1,
            longest_at_ms: ms(longest.0),
        })
    }
}

/// Which delays of acknowledgements to believe, after the handshake.
#[derive(Debug, Clone, Copy)]
pub(super) enum Delays {
    /// Up to the announced maximum (RFC 9002, section 5.3).
    Announced,
    /// All that ACK frames report.
    Reported,
}

/// The round trips without the time for which the peer held acknowledgements back, so that only queues make them longer than the least
/// (RFC 9002, section 5.3).
pub(super) fn round_trips_of_path(trace: &Trace, delays: Delays) -> Vec<(u64, f64)> {
    let all = round_trips(trace);
    let least_ms = all.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
    let events = &trace.recovery_events;
    let acks: Vec<&Ack> = events.acks.iter().filter(|it| it.is_newest).collect();
    let most_ms = match delays {
        Delays::Announced => events.max_ack_delay_ms.unwrap_or(MAX_ACK_DELAY_MS),
        Delays::Reported => f64::INFINITY,
    };
    let delay_ms = |time_us: u64| {
        let place = acks.partition_point(|it| it.time_us < time_us);
        let nearest = acks[place.saturating_sub(1)..].iter().take(2);
        let ack = nearest.min_by_key(|it| it.time_us.abs_diff(time_us))?;
        let is_confirmed = trace.handshake_us().is_some_and(|it| it <= time_us);
        let delay_ms = ack.delay_ms.filter(|_| ack.time_us.abs_diff(time_us) <= SAME_US)?;
        Some(if is_confirmed { delay_ms.min(most_ms) } else { delay_ms })
    };
    let each = all
        .iter()
        .map(|&(at, ms)| (at, (ms - delay_ms(at).unwrap_or_default().max(0.0)).max(least_ms)));
    each.collect()
}

/// The round trips that a log measured: the time in microseconds and the length in milliseconds of each.
///
/// Each acknowledgement of a new packet is a measurement (RFC 9002, section 5.1), also one that gives the same value as the last: stacks
/// then log it again, or nothing. But many repeat the latest with every other change, and some log an assumption before the first.
pub(super) fn round_trips(trace: &Trace) -> Vec<(u64, f64)> {
    let mut acks = trace.recovery_events.acks.iter().filter(|it| it.is_newest).peekable();
    let (mut latest_ms, mut unmeasured_us) = (None, None);
    let mut all = Vec::new();
    for (place, sample) in trace.samples().iter().enumerate() {
        while let Some(ack) = acks.next_if(|it| it.samples_before <= place) {
            all.extend(unmeasured_us.replace(ack.time_us).zip(latest_ms));
        }
        let Some(logged_ms) = sample.latest_rtt_ms.filter(|it| *it > 0.0) else { continue };
        let is_assumed = latest_ms.is_none() && logged_ms.total_cmp(&INITIAL_RTT_MS).is_eq();
        if !is_assumed && latest_ms != Some(logged_ms) {
            all.push((sample.time_us, logged_ms));
            (latest_ms, unmeasured_us) = (Some(logged_ms), None);
        }
    }
    let last_us = unmeasured_us.into_iter().chain(acks.map(|it| it.time_us));
    all.extend(last_us.filter_map(|it| Some((it, latest_ms?))));
    all
}
