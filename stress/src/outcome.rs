//! What an attack did, and whether the server held.

use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// What visitors got in one phase.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Served {
    /// Responses.
    pub responses: usize,
    /// The same, as a share of what they would have got from a server that answers at once.
    pub share_of_wanted: f64,
    /// Half of the responses took no longer than this.
    pub p50_ms: f64,
    /// 99 of 100 responses took no longer than this.
    pub p99_ms: f64,
}

/// What came of an attack.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// The attack.
    pub attack: &'static str,
    /// What visitors got before it.
    pub before: Served,
    /// What visitors got during it.
    pub during: Served,
    /// What visitors over TCP got before and during it; absent unless it comes over TCP.
    pub over_tcp: Option<[Served; 2]>,
    /// Responses to visitors with another status than success.
    pub refused: u64,
    /// Resident bytes of the server before it, at most, and after it; absent without a process to look at.
    pub memory_bytes: Option<[u64; 3]>,
    /// What the attackers saw.
    #[serde(flatten)]
    pub attacked: Attacked,
    /// What did not hold; empty: everything did.
    pub failures: Vec<String>,
}

/// What attackers saw.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Attacked {
    /// The codes of HTTP/3 or HTTP/2 with which the server closed connections of the attacker, and how often.
    pub codes: BTreeMap<u64, usize>,
    /// Bytes that the server sent to addresses that were not proven, for each byte that came from there.
    pub amplification: Option<f64>,
    /// What the server did wrong, as the attack's script sees it.
    #[serde(skip)]
    pub(crate) complaint: Option<String>,
    /// The most memory that the server had meanwhile.
    #[serde(skip)]
    pub(crate) memory_most: Option<u64>,
}

/// Visitors keep this share of what they got before.
const SHARE: f64 = 0.8;
/// 99 of 100 responses take at most this many times as long as before.
const P99_TIMES: f64 = 3.0;
/// A response that takes no longer than this is not late, whatever it took before: other processes cause as much.
const NOT_LATE_MS: f64 = 20.0;
/// Memory comes back to this many times what it was.
const MEMORY_TIMES: f64 = 1.1;
/// RFC 9000, 8.1.
const AMPLIFICATION: f64 = 3.0;

impl Outcome {
    /// Whether the server held.
    pub fn held(&self) -> bool {
        self.failures.is_empty()
    }

    /// Judges what was measured; `allowed` are the codes with which the server may close the attacker's connections.
    pub(crate) fn judge(&mut self, allowed: &[u64]) {
        self.failures.extend(lost(self.before, self.during, ""));
        if let Some([before, during]) = self.over_tcp {
            self.failures.extend(lost(before, during, "over TCP: "));
        }
        if self.refused > 0 {
            self.failures.push(format!("{} responses without success", self.refused));
        }
        if let Some([before, _, after]) = self.memory_bytes
            && after as f64 > MEMORY_TIMES * before as f64
        {
            self.failures.push(format!("memory stays at {} kB, was {}", after >> 10, before >> 10));
        }
        self.failures.extend(self.attacked.failures(allowed));
    }
}

/// What visitors lost.
fn lost(before: Served, during: Served, whose: &str) -> Vec<String> {
    let mut lost = Vec::new();
    let share = during.share_of_wanted / before.share_of_wanted;
    if share.is_nan() || share < SHARE {
        lost.push(format!("{whose}visitors got {:.0} % of their responses", 100.0 * share));
    }
    let late_ms = (P99_TIMES * before.p99_ms).max(NOT_LATE_MS);
    if during.p99_ms.is_nan() || during.p99_ms > late_ms {
        let (now, then) = (during.p99_ms, before.p99_ms);
        lost.push(format!("{whose}p99 {now:.1} ms instead of {then:.1} ms"));
    }
    lost
}

impl Attacked {
    /// What the server did wrong; `allowed` are the codes with which it may close connections.
    pub(crate) fn failures(&self, allowed: &[u64]) -> Vec<String> {
        let codes = self.codes.keys().filter(|it| !allowed.contains(it));
        let mut failures: Vec<String> = codes.map(|it| format!("closed with {it:#x}")).collect();
        if let Some(times) = self.amplification.filter(|it| *it > AMPLIFICATION) {
            failures.push(format!("{times:.1} times as many bytes to unproven addresses"));
        }
        failures.extend(self.complaint.clone());
        failures
    }
}

/// So many of 100 times are no longer than this one; NaN of none.
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

    fn failures(during: Served, memory_bytes: [u64; 3], code: u64) -> String {
        let mut outcome = Outcome {
            attack: "a",
            before: served(1.0, 10.0),
            during,
            over_tcp: Some([served(1.0, 10.0), served(0.5, 10.0)]).filter(|_| code == 0x102),
            refused: u64::from(during.share_of_wanted < 0.8),
            memory_bytes: Some(memory_bytes),
            attacked: Attacked {
                codes: BTreeMap::from([(code, 1)]),
                amplification: Some(3.5),
                ..Attacked::default()
            },
            failures: Vec::new(),
        };
        outcome.judge(&[0x107]);
        outcome.failures.join("; ")
    }

    #[test]
    fn each_promise_is_judged() {
        assert_eq!(
            failures(served(0.9, 29.0), [100 << 10, 900 << 10, 110 << 10], 0x107),
            "3.5 times as many bytes to unproven addresses"
        );
        assert_eq!(
            failures(served(0.7, 31.0), [100 << 10, 900 << 10, 111 << 10], 0x102),
            "visitors got 70 % of their responses; p99 31.0 ms instead of 10.0 ms; over TCP: visitors got 50 % of their responses; \
             1 responses without success; memory stays at 111 kB, was 100; \
             closed with 0x102; 3.5 times as many bytes to unproven addresses"
        );
    }
}
