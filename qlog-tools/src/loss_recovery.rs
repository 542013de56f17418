//! Loss recovery from a sender's log: packets declared lost, rightly or not, probe timeouts, recovery periods, persistent
//! congestion, and window cuts (RFC 9002).
//!
//! Stacks log different parts of this. Facts that a log lacks are inferred from its packets if possible; [`Basis`] states
//! which.

use std::collections::{BTreeMap, BTreeSet};

use crate::packet::{Packet, PacketEvent, Space};
use crate::saturating_cast::to_u64;
use crate::trace::{RecoverySample, Trace};
use crate::views::packets_lost;

/// The round-trip time that a sender assumes before any measurement (RFC 9002, section 6.2.2).
pub const INITIAL_RTT_MS: f64 = 333.0;
/// The assumed round trip if the log has none.
pub(crate) const RTT_MS: f64 = 100.0;
/// The granularity of timers (RFC 9002, section 6.1.2).
const GRANULARITY_MS: f64 = 1.0;
/// The default time that an end may delay an acknowledgement (RFC 9000, section 18.2).
pub(crate) const MAX_ACK_DELAY_MS: f64 = 25.0;
/// The number of later acknowledged packets after which one counts as lost (RFC 9002, section 6.1.1).
const PACKET_THRESHOLD: u64 = 3;
/// A packet sent sooner than this after an arrival is an answer to it, not a probe.
const ANSWER_US: u64 = 1000;
/// A probe may be sent after this share of a computed timeout, because stacks compute with other variances.
const EARLY: f64 = 0.9;
/// A window that keeps at least this share was not cut.
const KEPT: f64 = 0.95;
/// A window that regains this share of its loss in one step was restored.
const GIVEN_BACK: f64 = 0.9;
/// A window that shrinks this soon after a loss was cut because of it.
const CUT_US: u64 = 5000;

/// Loss recovery in a sender's log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LossRecovery {
    /// In the order of time.
    pub steps: Vec<RecoveryStep>,
    /// Packets declared lost; `None` if the stack does not log that.
    pub lost: Option<u64>,
    /// The number of them that had arrived; `None` if the log does not number them, or has no acknowledgements.
    pub spurious: Option<u64>,
    /// The source of probe timeouts; `None`: the log does not show them.
    pub timeouts: Option<Basis>,
    /// The source of recovery periods; `None`: the log does not show them.
    pub periods: Option<Basis>,
}

schedulers::named! {
    /// Whether a fact is logged, or inferred from packets.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Basis {
        /// The log states it.
        Logged = "logged",
        /// Its packets show it.
        Inferred = "inferred",
    }
}

/// Something that loss recovery did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoveryStep {
    /// The time, in microseconds on the log's clock.
    pub time_us: u64,
    /// The kind.
    pub kind: StepKind,
    /// The packet that it concerns, if any and numbered.
    pub packet: Option<u64>,
    /// The congestion window after it in bytes, if it concerns that.
    pub window_bytes: Option<u64>,
}

schedulers::named! {
    /// A kind of event in loss recovery.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum StepKind {
        /// A packet was declared lost.
        Lost = "lost",
        /// A packet that had been declared lost was acknowledged.
        Spurious = "spurious loss",
        /// A probe timer expired.
        ProbeTimeout = "probe timeout",
        /// A recovery period began: packets sent before count as one congestion event.
        RecoveryPeriod = "recovery period",
        /// All packets of a long time were lost.
        PersistentCongestion = "persistent congestion",
        /// A loss cut the congestion window.
        WindowCut = "window cut",
        /// Congestion marks (ECN) cut it.
        MarkCut = "window cut by congestion marks",
        /// A cut was taken back.
        CutUndone = "window cut undone",
    }
}

impl LossRecovery {
    /// Derives it from a sender's log that was read with [`crate::trace::Detail::Full`].
    pub fn of(trace: &Trace) -> Self {
        let logged = &trace.recovery_events;
        let mut walk = Walk::new(trace);
        trace.packets().iter().for_each(|packet| walk.packet(packet));
        let knows_numbers = walk.knows_numbers;
        let lost = packets_lost(trace);
        let is_judged = trace.acknowledged().is_some() && (knows_numbers || lost == Some(0));
        let elicits = walk.elicits;
        let mut steps = walk.steps;
        if logged.knows_timeouts {
            steps.retain(|it| it.kind != StepKind::ProbeTimeout);
            // Stacks that log it in both ways log it twice.
            let [more, fewer] = [&logged.expired_us, &logged.counted_us];
            let times_us = if more.len() >= fewer.len() { more } else { fewer };
            steps.extend(times_us.iter().map(|it| step(*it, StepKind::ProbeTimeout)));
        }
        if logged.knows_states {
            steps.retain(|it| it.kind != StepKind::RecoveryPeriod);
            let began = logged.recoveries_us.iter();
            steps.extend(began.map(|it| step(*it, StepKind::RecoveryPeriod)));
        }
        let mut times_us = logged.persistent_us.clone();
        if times_us.is_empty() {
            times_us = persistent_us(trace, &walk.lost);
        }
        steps.extend(times_us.into_iter().map(|it| step(it, StepKind::PersistentCongestion)));
        steps.extend(windows(trace.samples(), &steps, &logged.marked_us));
        steps.sort_by_key(|it| (it.time_us, it.kind));
        let count = |kind| steps.iter().filter(|it| it.kind == kind).count() as u64;
        Self {
            lost,
            spurious: is_judged.then(|| count(StepKind::Spurious)),
            timeouts: basis(logged.knows_timeouts, elicits),
            periods: basis(logged.knows_states, knows_numbers || lost == Some(0)),
            steps,
        }
    }

    /// Whether steps of this kind are logged; `None` if the log does not show them.
    pub fn basis_of(&self, kind: StepKind) -> Option<Basis> {
        match kind {
            StepKind::Lost => Some(Basis::Logged),
            StepKind::ProbeTimeout => self.timeouts,
            StepKind::RecoveryPeriod => self.periods,
            _ => Some(Basis::Inferred),
        }
    }

    /// The steps of a kind.
    pub fn of_kind(&self, kind: StepKind) -> impl Iterator<Item = &RecoveryStep> + Clone {
        self.steps.iter().filter(move |it| it.kind == kind)
    }

    /// The number of steps.
    pub fn count(&self, kind: StepKind) -> u64 {
        self.of_kind(kind).count() as u64
    }
}

fn basis(is_logged: bool, is_inferred: bool) -> Option<Basis> {
    let inferred = is_inferred.then_some(Basis::Inferred);
    if is_logged { Some(Basis::Logged) } else { inferred }
}

fn step(time_us: u64, kind: StepKind) -> RecoveryStep {
    RecoveryStep { time_us, kind, packet: None, window_bytes: None }
}

/// One pass over the packets.
#[derive(Default)]
struct Walk<'a> {
    samples: &'a [RecoverySample],
    round_trip: RoundTrip,
    /// Packets of a space that elicit an acknowledgement and have none yet.
    open: BTreeMap<Space, BTreeSet<u64>>,
    /// When the last of them was sent.
    elicited_us: BTreeMap<Space, u64>,
    came_us: Option<u64>,
    /// The highest acknowledged number of a space; `None`: the log has no acknowledgements.
    acknowledged: Option<BTreeMap<Space, u64>>,
    /// When a packet was declared lost without an acknowledgement of a later one, if nothing arrived since: the probe timer expired.
    given_up_us: Option<u64>,
    elicits: bool,
    /// Whether packets that were declared lost have numbers.
    knows_numbers: bool,
    sent_us: BTreeMap<(Space, u64), u64>,
    /// When 1-RTT packets were declared lost, and three timeouts then in microseconds.
    lost: BTreeMap<u64, (u64, u64)>,
    period_us: Option<u64>,
    steps: Vec<RecoveryStep>,
}

impl<'a> Walk<'a> {
    fn new(trace: &'a Trace) -> Self {
        let max_ack_delay_ms = trace.recovery_events.max_ack_delay_ms.unwrap_or(MAX_ACK_DELAY_MS);
        let round_trip = RoundTrip { max_ack_delay_ms, ..RoundTrip::default() };
        let acknowledged = trace.acknowledged().map(|_| BTreeMap::new());
        Self { samples: trace.samples(), round_trip, acknowledged, ..Self::default() }
    }

    fn packet(&mut self, packet: &Packet) {
        let &Packet { time_us, event, space, number, .. } = packet;
        while let Some((sample, others)) = self.samples.split_first()
            && sample.time_us < time_us
        {
            self.round_trip.add(sample);
            self.samples = others;
        }
        let add = |kind| RecoveryStep { packet: number, ..step(time_us, kind) };
        match (event, number) {
            (PacketEvent::Received, _) => {
                self.came_us = Some(time_us);
                self.given_up_us = None;
            }
            (PacketEvent::Sent, _) => self.sent(packet),
            (PacketEvent::Acknowledged, Some(number)) => {
                if let Some(acknowledged) = &mut self.acknowledged {
                    let highest = acknowledged.entry(space).or_insert(number);
                    *highest = number.max(*highest);
                }
                if let Some(open) = self.open.get_mut(&space) {
                    open.remove(&number);
                    // A log may not state what it declares lost.
                    *open = open.split_off(&number.saturating_sub(PACKET_THRESHOLD));
                }
                if space == Space::Application && self.lost.remove(&number).is_some() {
                    self.steps.push(add(StepKind::Spurious));
                }
            }
            (PacketEvent::Lost, _) => {
                self.steps.push(add(StepKind::Lost));
                if let Some(number) = number {
                    self.knows_numbers = true;
                    self.lost(time_us, space, number);
                }
            }
            (PacketEvent::Acknowledged, None) => {}
        }
    }

    fn sent(&mut self, packet: &Packet) {
        let &Packet { time_us, space, number, is_ack_eliciting, .. } = packet;
        if let Some(number) = number {
            self.sent_us.insert((space, number), time_us);
        }
        if !is_ack_eliciting {
            return;
        }
        self.elicits = true;
        let open = self.open.entry(space).or_default();
        let due_us = self.elicited_us.get(&space).map(|it| {
            it.saturating_add(to_u64(self.round_trip.timeout_ms(space) * 1000.0 * EARLY))
        });
        let is_answer = self.came_us.is_some_and(|it| time_us < it.saturating_add(ANSWER_US));
        let is_due = !open.is_empty() && due_us.is_some_and(|it| time_us >= it);
        // Some stacks declare all packets lost when their timer expires, and then send (aioquic).
        let gave_up = self.given_up_us.take();
        let follows = gave_up.is_some_and(|it| time_us < it.saturating_add(ANSWER_US));
        if !is_answer && (is_due || follows) {
            let kind = StepKind::ProbeTimeout;
            self.steps.push(RecoveryStep { packet: number, ..step(time_us, kind) });
        }
        open.extend(number);
        self.elicited_us.insert(space, time_us);
    }

    /// A loss begins a recovery period, unless the packet was sent before the last one began (RFC 9002, section 7.3.2).
    fn lost(&mut self, time_us: u64, space: Space, number: u64) {
        if let Some(open) = self.open.get_mut(&space) {
            open.remove(&number);
        }
        let acknowledged = self.acknowledged.as_ref();
        if acknowledged.is_some_and(|it| it.get(&space).is_none_or(|highest| *highest < number)) {
            self.given_up_us = Some(time_us);
        }
        if space == Space::Application {
            let persistent_us = to_u64(3000.0 * self.round_trip.timeout_ms(space));
            self.lost.insert(number, (time_us, persistent_us));
        }
        let sent_us = self.sent_us.get(&(space, number)).copied();
        if sent_us.is_some_and(|sent_us| self.period_us.is_none_or(|began| sent_us > began)) {
            self.period_us = Some(time_us);
            self.steps.push(step(time_us, StepKind::RecoveryPeriod));
        }
    }
}

/// The estimate of RFC 9002, section 5.3, from the log's round trips.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_field_names, reason = "they are all times")]
struct RoundTrip {
    smoothed_ms: Option<f64>,
    variance_ms: f64,
    latest_ms: Option<f64>,
    max_ack_delay_ms: f64,
}

impl RoundTrip {
    fn add(&mut self, sample: &RecoverySample) {
        let latest = sample.latest_rtt_ms.filter(|it| *it > 0.0);
        // Stacks repeat the latest value with every other change.
        if latest.is_some() && latest != self.latest_ms {
            self.latest_ms = latest;
            let latest_ms = latest.unwrap_or_default();
            self.variance_ms = match self.smoothed_ms {
                Some(smoothed) => 0.75 * self.variance_ms + 0.25 * (smoothed - latest_ms).abs(),
                None => latest_ms / 2.0,
            };
            let before = self.smoothed_ms.unwrap_or(latest_ms);
            self.smoothed_ms = Some(0.875 * before + 0.125 * latest_ms);
        }
    }

    /// RFC 9002, section 6.2.1.
    fn timeout_ms(&self, space: Space) -> f64 {
        let Some(smoothed_ms) = self.smoothed_ms else { return 3.0 * RTT_MS };
        let held_back_ms = if space == Space::Application { self.max_ack_delay_ms } else { 0.0 };
        smoothed_ms + GRANULARITY_MS.max(4.0 * self.variance_ms) + held_back_ms
    }
}

/// When persistent congestion occurred, from final losses: all packets that elicit acknowledgements, over three timeouts (RFC
/// 9002, section 7.6).
fn persistent_us(trace: &Trace, lost: &BTreeMap<u64, (u64, u64)>) -> Vec<u64> {
    let mut times_us = Vec::new();
    let mut began_us = None;
    let mut is_told = false;
    let sent = trace.packets_of(PacketEvent::Sent).filter(|it| it.is_ack_eliciting);
    for packet in sent.filter(|it| it.space == Space::Application) {
        let Some(&(lost_us, persistent_us)) = packet.number.and_then(|it| lost.get(&it)) else {
            (began_us, is_told) = (None, false);
            continue;
        };
        let began_us = *began_us.get_or_insert(packet.time_us);
        if !is_told && packet.time_us.saturating_sub(began_us) >= persistent_us {
            times_us.push(lost_us);
            is_told = true;
        }
    }
    times_us
}

/// Cuts of the window after losses, otherwise after congestion marks, and those that were undone in one step.
fn windows(
    samples: &[RecoverySample],
    steps: &[RecoveryStep],
    marked_us: &[u64],
) -> Vec<RecoveryStep> {
    let losses = steps.iter().filter(|it| {
        matches!(it.kind, StepKind::Lost | StepKind::RecoveryPeriod | StepKind::ProbeTimeout)
    });
    let mut losses_us: Vec<u64> = losses.map(|it| it.time_us).collect();
    losses_us.sort_unstable();
    let (mut window, mut cut, mut found) = (None::<u64>, None::<(u64, u64)>, Vec::new());
    for sample in samples {
        let Some(now) = sample.congestion_window_bytes else { continue };
        let time_us = sample.time_us;
        let before = window.replace(now).unwrap_or(now);
        let add = |kind| RecoveryStep { window_bytes: Some(now), ..step(time_us, kind) };
        if (now as f64) < KEPT * before as f64 {
            let has_near = |times_us: &[u64]| {
                let place = times_us.partition_point(|it| *it <= time_us.saturating_add(CUT_US));
                let last = place.checked_sub(1).map(|it| times_us[it]);
                last.is_some_and(|it| it.saturating_add(CUT_US) >= time_us)
            };
            if has_near(&losses_us) {
                found.push(add(StepKind::WindowCut));
                cut = Some((before, now));
            } else if has_near(marked_us) {
                found.push(add(StepKind::MarkCut));
            }
        } else if now > before
            && let Some((whole, left)) = cut
            && (now - before) as f64 >= GIVEN_BACK * (whole - left) as f64
        {
            found.push(add(StepKind::CutUndone));
            cut = None;
        }
    }
    found
}
