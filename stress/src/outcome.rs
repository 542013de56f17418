//! The effects of an attack, and whether the server held.

use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// The phases of a run, of equal length: before, during and after the attack.
pub(crate) const PHASES: usize = 3;

/// The responses of visitors in one phase.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Served {
    /// Responses.
    pub responses: usize,
    /// The same, as a share of the responses from a server that answers at once.
    pub share_of_wanted: f64,
    /// Half of the loads took no longer than this. An unanswered load counts with the time until it was abandoned or the phase
    /// ended.
    pub p50_ms: f64,
    /// 99 of 100 loads took no longer than this.
    pub p99_ms: f64,
}

/// The responses of visitors of one version of HTTP.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Visited {
    /// The version, such as `HTTP/2`.
    pub protocol: &'static str,
    /// Before the attack.
    pub before: Served,
    /// During it.
    pub during: Served,
    /// As long after it.
    pub after: Served,
}

/// The outcome of an attack.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// The attack.
    pub attack: &'static str,
    /// The responses of visitors over HTTP/3, and for an attack over TCP also over HTTP/2 and HTTP/1.1.
    pub visitors: Vec<Visited>,
    /// Unsuccessful loads of visitors: responses with an error status, and over TCP also incomplete ones.
    pub refused: u64,
    /// Resident bytes of the server before the attack, at the peak, and after it; absent without a process ID.
    pub memory_bytes: Option<[u64; 3]>,
    /// The attackers' observations.
    #[serde(flatten)]
    pub attacked: Attacked,
    /// The share of the machine's CPU time used by programs other than the server and this one; absent without a process ID.
    pub others_cpu_share: Option<f64>,
    /// The conditions that did not hold.
    pub failures: Vec<String>,
    /// The conditions that may have failed because other programs used the machine's time.
    pub undecided: Vec<String>,
}

/// Attackers' observations.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Attacked {
    /// The HTTP/3 or HTTP/2 codes with which the server closed the attacker's connections, and their numbers.
    pub codes: BTreeMap<u64, usize>,
    /// The largest ratio of bytes that the server sent to an unverified address to bytes received from it.
    pub amplification: Option<f64>,
    /// The server's faults, according to the attack's script.
    #[serde(skip)]
    pub(crate) complaint: Option<String>,
    /// The peak of the server's memory meanwhile.
    #[serde(skip)]
    pub(crate) memory_most: Option<u64>,
}

/// The share of earlier responses that visitors must keep.
const SHARE: f64 = 0.8;
/// The factor by which 99 of 100 responses may slow down.
const P99_TIMES: f64 = 3.0;
/// A response that takes no longer than this is not late, whatever it took before, because other processes cause such delays.
const NOT_LATE_MS: f64 = 20.0;
/// The multiple of its earlier value to which memory must return.
const MEMORY_TIMES: f64 = 1.1;
/// The most bytes by which memory may grow meanwhile.
const MEMORY_MORE_BYTES: u64 = 60_000_000;
/// If others use more of the machine than this, late responses do not count against the server.
const BUSY_SHARE: f64 = 0.1;
/// RFC 9000, 8.1.
const AMPLIFICATION: f64 = 3.0;

impl Outcome {
    /// Whether the server held.
    pub fn held(&self) -> bool {
        self.failures.is_empty() && self.undecided.is_empty()
    }

    /// Judges the measurements; `allowed` are the codes with which the server may close the attacker's connections.
    pub(crate) fn judge(&mut self, allowed: &[u64]) {
        self.failures.extend(self.visitors.iter().flat_map(Visited::lost));
        let is_busy = self.others_cpu_share.is_some_and(|it| it > BUSY_SHARE);
        let late = if is_busy { &mut self.undecided } else { &mut self.failures };
        late.extend(self.visitors.iter().flat_map(Visited::late));
        if self.refused > 0 {
            self.failures.push(format!("{} responses without success", self.refused));
        }
        if let Some([before, most, _]) = self.memory_bytes
            && most > before + MEMORY_MORE_BYTES
        {
            self.failures.push(format!("memory grows by {} kB", (most - before) >> 10));
        }
        if let Some([before, _, after]) = self.memory_bytes
            && after as f64 > MEMORY_TIMES * before as f64
        {
            self.failures.push(format!("memory stays at {} kB, was {}", after >> 10, before >> 10));
        }
        self.failures.extend(self.attacked.failures(allowed));
    }
}

impl Visited {
    /// The responses of visitors of this version in each phase.
    pub(crate) fn new(protocol: &'static str, [before, during, after]: [Served; PHASES]) -> Self {
        Self { protocol, before, during, after }
    }

    /// The phases in chronological order.
    pub fn phases(&self) -> [Served; PHASES] {
        [self.before, self.during, self.after]
    }

    /// The responses that visitors lost.
    fn lost(&self) -> Vec<String> {
        let lost = |(phase, then): (&str, Served)| {
            let share = then.share_of_wanted / self.before.share_of_wanted;
            let is_lost = share.is_nan() || share < SHARE;
            let (protocol, percent) = (self.protocol, 100.0 * share);
            is_lost.then(|| format!("{protocol}: {percent:.0} % of their responses{phase}"))
        };
        self.attacked_phases().into_iter().filter_map(lost).collect()
    }

    /// The responses that were late.
    fn late(&self) -> Vec<String> {
        let late_ms = (P99_TIMES * self.before.p99_ms).max(NOT_LATE_MS);
        let late = |(phase, then): (&str, Served)| {
            let (protocol, now, was) = (self.protocol, then.p99_ms, self.before.p99_ms);
            let is_late = now.is_nan() || now > late_ms;
            is_late.then(|| format!("{protocol}: p99 {now:.1} ms{phase} instead of {was:.1} ms"))
        };
        self.attacked_phases().into_iter().filter_map(late).collect()
    }

    fn attacked_phases(&self) -> [(&'static str, Served); 2] {
        [("", self.during), (" after it", self.after)]
    }
}

impl Attacked {
    /// The server's faults; `allowed` are the codes with which it may close connections.
    pub(crate) fn failures(&self, allowed: &[u64]) -> Vec<String> {
        let codes = self.codes.keys().filter(|it| !allowed.contains(it));
        let mut failures: Vec<String> = codes.map(|it| format!("closed with {it:#x}")).collect();
        if let Some(times) = self.amplification.filter(|times| *times > AMPLIFICATION) {
            failures.push(format!("{times:.1} times as many bytes to unproven addresses"));
        }
        failures.extend(self.complaint.clone());
        failures
    }
}

/// The percentile `share` of some times; NaN if there are none.
pub(crate) fn percentile_ms(sorted: &[Duration], share: usize) -> f64 {
    let place = (sorted.len() * share).div_ceil(100).saturating_sub(1);
    sorted.get(place).map_or(f64::NAN, |it| it.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(share_of_wanted: f64, p99_ms: f64) -> Served {
        Served { responses: 1, share_of_wanted, p50_ms: 1.0, p99_ms }
    }

    fn visited(protocol: &'static str, during: Served, after: Served) -> Visited {
        Visited::new(protocol, [served(1.0, 10.0), during, after])
    }

    fn outcome(
        visitors: Vec<Visited>,
        memory_bytes: [u64; 3],
        refused: u64,
        code: u64,
        others_cpu_share: f64,
    ) -> Outcome {
        let mut outcome = Outcome {
            attack: "a",
            visitors,
            refused,
            memory_bytes: Some(memory_bytes),
            attacked: Attacked {
                codes: BTreeMap::from([(code, 1)]),
                amplification: Some(3.5),
                ..Attacked::default()
            },
            others_cpu_share: Some(others_cpu_share),
            failures: Vec::new(),
            undecided: Vec::new(),
        };
        outcome.judge(&[0x107]);
        outcome
    }

    fn failures(visitors: Vec<Visited>, memory_bytes: [u64; 3], refused: u64, code: u64) -> String {
        outcome(visitors, memory_bytes, refused, code, 0.05).failures.join("; ")
    }

    #[test]
    fn late_responses_decide_nothing_where_others_take_the_machine() {
        let late = || vec![visited("HTTP/3", served(0.7, 31.0), served(0.9, 10.0))];
        let judged = |share| outcome(late(), [1, 1, 1], 0, 0x107, share);
        let lost = "HTTP/3: 70 % of their responses";
        let amplified = "3.5 times as many bytes to unproven addresses";
        let p99 = "HTTP/3: p99 31.0 ms instead of 10.0 ms";
        let (quiet, busy) = (judged(0.1), judged(0.2));
        assert_eq!(
            (quiet.failures, quiet.undecided.len()),
            (vec![lost.into(), p99.into(), amplified.into()], 0)
        );
        assert_eq!(busy.failures, [lost, amplified]);
        assert_eq!(busy.undecided, [p99]);
    }

    #[test]
    fn each_promise_is_judged() {
        let (well, slow) = (served(0.9, 29.0), served(0.7, 31.0));
        assert_eq!(
            failures(
                vec![visited("HTTP/3", well, well)],
                [100 << 10, 900 << 10, 110 << 10],
                0,
                0x107
            ),
            "3.5 times as many bytes to unproven addresses"
        );
        assert_eq!(
            failures(
                vec![visited("HTTP/3", slow, well), visited("HTTP/2", well, slow)],
                [100 << 10, 60_100 << 10, 111 << 10],
                1,
                0x102
            ),
            "HTTP/3: 70 % of their responses; HTTP/2: 70 % of their responses after it; \
             HTTP/3: p99 31.0 ms instead of 10.0 ms; HTTP/2: p99 31.0 ms after it instead of 10.0 ms; \
             1 responses without success; memory grows by 60000 kB; memory stays at 111 kB, was 100; \
             closed with 0x102; 3.5 times as many bytes to unproven addresses"
        );
    }
}
