//! Loss recovery from a sender's log: packets declared lost, rightly or not, probe timeouts, recovery periods, persistent
//! congestion, and window cuts (RFC 9002).
//!
//! Stacks log different parts of this. Facts that a log lacks are inferred from its packets if possible; [`Basis`] states
//! which.

use std::collections::{BTreeMap, BTreeSet};

use crate::packet::{EVERY_PATH_BYTES, Packet, PacketEvent, Space};
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
/// A window that shrinks this soon after a loss was cut because of it, as was one that had its size before the loss when last logged.
const CUT_US: u64 = 5000;
/// The most packets in the least window of any stack: two, or four for BBR (RFC 9002, section 7.2).
const LEAST_WINDOW_PACKETS: u64 = 4;

/// Loss recovery in a sender's log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LossRecovery {
    /// In the order of time.
    pub steps: Vec<RecoveryStep>,
    /// Packets declared lost, of all spaces and with probes of the path's MTU; `None` if the stack does not log that.
    pub lost: Option<u64>,
    /// The number of them that had arrived; `None` if the log does not number them, or has no acknowledgements.
    pub spurious: Option<u64>,
    /// The source of probe timeouts; `None`: the log does not show them.
    pub timeouts: Option<Basis>,
    /// The source of recovery periods; `None`: the log does not show them.
    pub periods: Option<Basis>,
    /// The source of persistent congestion.
    pub persistent: Option<Basis>,
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
    /// The space of its number, if it concerns a packet.
    pub space: Option<Space>,
    /// The congestion window after it in bytes, if it concerns that.
    pub window_bytes: Option<u64>,
}

schedulers::named! {
    /// A kind of event in loss recovery.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum StepKind {
        /// A packet was declared lost.
        Lost = "lost",
        /// A probe of the path's MTU was declared lost, which does not show congestion.
        MtuProbeLost = "lost MTU probe",
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

impl RecoveryStep {
    /// Whether it concerns a packet of application data.
    pub fn is_of_application(&self) -> bool {
        self.space == Some(Space::Application)
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
            let least_bytes = LEAST_WINDOW_PACKETS * u64::from(largest_sent_bytes(trace));
            times_us.retain(|it| window_after(trace, *it).is_none_or(|it| it <= least_bytes));
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
            persistent: basis(!logged.persistent_us.is_empty(), true),
            steps,
        }
    }

    /// Whether steps of this kind are logged; `None` if the log does not show them.
    pub fn basis_of(&self, kind: StepKind) -> Option<Basis> {
        match kind {
            StepKind::Lost | StepKind::MtuProbeLost => Some(Basis::Logged),
            StepKind::ProbeTimeout => self.timeouts,
            StepKind::RecoveryPeriod => self.periods,
            StepKind::PersistentCongestion => self.persistent,
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
    RecoveryStep { time_us, kind, packet: None, space: None, window_bytes: None }
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
    /// When the probe timer last expired.
    expired_us: Option<u64>,
    /// The highest acknowledged number of a space.
    acknowledged: BTreeMap<Space, u64>,
    /// Packets that the log has as acknowledged and not yet as sent, because times of arrivals are less exact.
    acknowledged_early: BTreeSet<(Space, u64)>,
    /// Whether the log has acknowledgements of 1-RTT packets.
    has_acknowledgements: bool,
    /// When a packet was declared lost without an acknowledgement of a later one, if nothing arrived since: the probe timer expired.
    given_up_us: Option<u64>,
    elicits: bool,
    /// Whether packets that were declared lost have numbers.
    knows_numbers: bool,
    sent: BTreeMap<(Space, u64), Sent>,
    /// When packets were declared lost, and three timeouts then in microseconds.
    lost: BTreeMap<(Space, u64), (u64, u64)>,
    period_us: Option<u64>,
    steps: Vec<RecoveryStep>,
}

#[derive(Clone, Copy)]
struct Sent {
    time_us: u64,
    is_mtu_probe: bool,
}

impl<'a> Walk<'a> {
    fn new(trace: &'a Trace) -> Self {
        let max_ack_delay_ms = trace.recovery_events.max_ack_delay_ms.unwrap_or(MAX_ACK_DELAY_MS);
        let round_trip = RoundTrip { max_ack_delay_ms, ..RoundTrip::default() };
        let has_acknowledgements = trace.acknowledged().is_some();
        Self { samples: trace.samples(), round_trip, has_acknowledgements, ..Self::default() }
    }

    fn packet(&mut self, packet: &Packet) {
        let &Packet { time_us, event, space, number, .. } = packet;
        while let Some((sample, others)) = self.samples.split_first()
            && sample.time_us < time_us
        {
            self.round_trip.add(sample);
            self.samples = others;
        }
        let add = |kind| RecoveryStep { packet: number, space: Some(space), ..step(time_us, kind) };
        match (event, number) {
            (PacketEvent::Received, _) => {
                self.came_us = Some(time_us);
                self.given_up_us = None;
            }
            (PacketEvent::Sent, _) => self.sent(packet),
            (PacketEvent::Acknowledged, Some(number)) => {
                self.acknowledged(time_us, space, number);
                if let Some(open) = self.open.get_mut(&space) {
                    open.remove(&number);
                    // A log may not state what it declares lost.
                    *open = open.split_off(&number.saturating_sub(PACKET_THRESHOLD));
                }
                if self.lost.remove(&(space, number)).is_some() {
                    self.steps.push(add(StepKind::Spurious));
                }
            }
            (PacketEvent::Lost, _) => {
                let sent = number.and_then(|it| self.sent.get(&(space, it)).copied());
                let is_mtu_probe = packet.is_mtu_probe || sent.is_some_and(|it| it.is_mtu_probe);
                let kind = if is_mtu_probe { StepKind::MtuProbeLost } else { StepKind::Lost };
                self.steps.push(add(kind));
                if let Some(number) = number {
                    self.knows_numbers = true;
                    let began_us = sent.filter(|_| !is_mtu_probe).map(|it| it.time_us);
                    self.lost(time_us, space, number, began_us);
                }
            }
            (PacketEvent::Acknowledged, None) => {}
        }
    }

    /// Also measures a round trip, unless the log states them.
    fn acknowledged(&mut self, time_us: u64, space: Space, number: u64) {
        let highest = self.acknowledged.get(&space).copied();
        self.acknowledged.insert(space, highest.map_or(number, |it| it.max(number)));
        let Some(sent) = self.sent.get(&(space, number)) else {
            self.acknowledged_early.insert((space, number));
            return;
        };
        let is_newest = highest.is_none_or(|it| it < number);
        if is_newest && !self.round_trip.is_logged {
            let trip_us = time_us.saturating_sub(sent.time_us);
            self.round_trip.measured(trip_us as f64 / 1000.0);
        }
    }

    fn sent(&mut self, packet: &Packet) {
        let &Packet { time_us, space, number, is_ack_eliciting, is_mtu_probe, .. } = packet;
        if let Some(number) = number {
            self.sent.insert((space, number), Sent { time_us, is_mtu_probe });
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
        // One timer is of all spaces, and sends probes in each (RFC 9002, section 6.2.4).
        let is_same = |it: u64| time_us < it.saturating_add(ANSWER_US);
        if !is_answer && (is_due || follows) && !self.expired_us.is_some_and(is_same) {
            self.expired_us = Some(time_us);
            let expired = step(time_us, StepKind::ProbeTimeout);
            self.steps.push(RecoveryStep { packet: number, space: Some(space), ..expired });
        }
        open.extend(number.filter(|it| !self.acknowledged_early.contains(&(space, *it))));
        self.elicited_us.insert(space, time_us);
    }

    /// A loss begins a recovery period, unless the packet was sent before the last one began (RFC 9002, section 7.3.2), or its time of sending
    /// is not known, or does not matter.
    fn lost(&mut self, time_us: u64, space: Space, number: u64, sent_us: Option<u64>) {
        if let Some(open) = self.open.get_mut(&space) {
            open.remove(&number);
        }
        let is_first_gone = self.acknowledged.get(&space).is_none_or(|highest| *highest < number);
        if self.has_acknowledgements && is_first_gone {
            self.given_up_us = Some(time_us);
        }
        let persistent_us = to_u64(3000.0 * self.round_trip.timeout_ms(space));
        self.lost.insert((space, number), (time_us, persistent_us));
        if sent_us.is_some_and(|sent_us| self.period_us.is_none_or(|began| sent_us > began)) {
            self.period_us = Some(time_us);
            self.steps.push(step(time_us, StepKind::RecoveryPeriod));
        }
    }
}

/// The log's own estimate, or that of RFC 9002, section 5.3, from its round trips.
#[derive(Debug, Clone, Copy, Default)]
struct RoundTrip {
    smoothed_ms: Option<f64>,
    variance_ms: f64,
    latest_ms: Option<f64>,
    max_ack_delay_ms: f64,
    /// Whether the log states round trips.
    is_logged: bool,
}

impl RoundTrip {
    fn add(&mut self, sample: &RecoverySample) {
        if let (Some(smoothed_ms), Some(variance_ms)) =
            (sample.smoothed_rtt_ms.filter(|it| *it > 0.0), sample.rtt_variance_ms)
        {
            (self.smoothed_ms, self.variance_ms) = (Some(smoothed_ms), variance_ms);
            self.is_logged = true;
            return;
        }
        let latest = sample.latest_rtt_ms.filter(|it| *it > 0.0);
        if latest.is_some() && !self.is_logged {
            (self.is_logged, self.smoothed_ms) = (true, None);
        }
        // Stacks repeat the latest value with every other change.
        if let Some(latest_ms) = latest.filter(|_| latest != self.latest_ms) {
            self.latest_ms = latest;
            self.measured(latest_ms);
        }
    }

    fn measured(&mut self, latest_ms: f64) {
        self.variance_ms = match self.smoothed_ms {
            Some(smoothed) => 0.75 * self.variance_ms + 0.25 * (smoothed - latest_ms).abs(),
            None => latest_ms / 2.0,
        };
        let before = self.smoothed_ms.unwrap_or(latest_ms);
        self.smoothed_ms = Some(0.875 * before + 0.125 * latest_ms);
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
fn persistent_us(trace: &Trace, lost: &BTreeMap<(Space, u64), (u64, u64)>) -> Vec<u64> {
    let mut times_us = Vec::new();
    let mut began_us = None;
    let mut is_told = false;
    let sent = trace.packets_of(PacketEvent::Sent).filter(|it| it.is_ack_eliciting);
    for packet in sent.filter(|it| it.space == Space::Application) {
        let lost = packet.number.and_then(|it| lost.get(&(packet.space, it)));
        let Some(&(lost_us, persistent_us)) = lost else {
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

/// The size of the largest packet that was sent, but at least the size that every path carries.
fn largest_sent_bytes(trace: &Trace) -> u32 {
    let sent = trace.packets_of(PacketEvent::Sent).map(|it| it.bytes);
    sent.fold(EVERY_PATH_BYTES, u32::max)
}

/// The congestion window as it is logged next after a moment.
fn window_after(trace: &Trace, time_us: u64) -> Option<u64> {
    let samples = trace.samples();
    let later = &samples[samples.partition_point(|it| it.time_us < time_us)..];
    let mut windows = later.iter().filter_map(|it| Some((it.time_us, it.congestion_window_bytes?)));
    let (first_us, first) = windows.next()?;
    // Stacks log other changes of the same moment before it.
    let soon = windows.take_while(|it| it.0 <= first_us.saturating_add(CUT_US)).map(|it| it.1);
    Some(soon.fold(first, u64::min))
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
    let (mut window, mut cut, mut found) = (None, None::<(u64, u64)>, Vec::new());
    for sample in samples {
        let Some(now) = sample.congestion_window_bytes else { continue };
        let time_us = sample.time_us;
        let (before_us, before) = window.replace((time_us, now)).unwrap_or((time_us, now));
        let add = |kind| RecoveryStep { window_bytes: Some(now), ..step(time_us, kind) };
        if (now as f64) < KEPT * before as f64 {
            let has_near = |times_us: &[u64]| {
                let place = times_us.partition_point(|it| *it <= time_us.saturating_add(CUT_US));
                let last = place.checked_sub(1).map(|it| times_us[it]);
                last.is_some_and(|it| it.saturating_add(CUT_US) >= time_us || it > before_us)
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
