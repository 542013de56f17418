//! Derives a verdict from the runs of a probe.

use super::heed::{Heed, Heeds, incremental, of, updates};
use super::{Kind, Run};
use crate::study::statistics::median;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Up to this multiple of its own size may arrive before an urgent response ends: data in flight and in buffers.
pub(super) const IN_FLIGHT: f64 = 0.5;
/// A smaller improvement over the control does not count.
const IMPROVEMENT_MIN: f64 = 0.25;
/// In an inverse run, at least this share of the remaining bytes must arrive before the late response ends.
pub(super) const SHARE_MIN: f64 = 0.75;
/// If fewer multiples of a response remain at the late request, there was nothing to overtake.
pub(super) const LEFT_MIN: f64 = 2.0;

/// The result of the runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The answer.
    pub verdict: Verdict,
    /// Why, in a sentence.
    pub why: String,
    /// The others' bytes before a late response of equal urgency, in multiples of its size.
    pub control: Interval,
    /// The same for a late urgent response.
    pub urgent: Interval,
    /// The same for a late, less urgent response.
    pub inverse: Interval,
    /// If it prioritizes, the bytes that it had committed when the urgent request arrived, in its send buffer and in lower
    /// buffers: the median of the urgent runs.
    pub committed_bytes: Option<u64>,
    /// Whether incremental responses share, and others do not. The verdict does not depend on it.
    pub incremental: Heed,
    /// Whether a `PRIORITY_UPDATE` makes a response overtake others. The verdict does not depend on it.
    pub updates: Heed,
}

impl Finding {
    /// Whether more runs would help.
    pub fn is_undecided(&self) -> bool {
        let heeds = [self.incremental.verdict, self.updates.verdict];
        self.verdict == Verdict::Undecided || heeds.contains(&Heeds::Undecided)
    }
}

/// Does it prioritize?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Urgent responses overtake those in progress, and less urgent ones wait.
    Prioritizes,
    /// It has an effect, but much else comes first.
    Weakly,
    /// It has no effect.
    DoesNot,
    /// The runs do not show it, because there was nothing to overtake.
    Inconclusive,
    /// An interval still lies on both sides of a threshold: more runs would decide.
    Undecided,
}

/// A mean and its 99 % confidence interval (Student's t). Runs repeat until it clears the thresholds, and repeated tests
/// need more certainty than 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The mean of these values and its interval, which is unbounded for fewer than two values.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count.max(1.0);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let half = match StudentsT::new(0.0, 1.0, count - 1.0) {
            Ok(student) if values.len() > 1 => {
                student.inverse_cdf(0.995) * (squares / (count - 1.0) / count).sqrt()
            }
            _ => f64::INFINITY,
        };
        Self { mean, low: (mean - half).max(0.0), high: mean + half }
    }
}

/// The verdict on all runs.
pub fn judge(runs: &[Run]) -> Finding {
    let [control, urgent, inverse] = [Kind::Control, Kind::Urgent, Kind::Inverse]
        .map(|kind| Interval::of(&of(runs, kind, Run::others_first)));
    // The verdict on updates covers what remains when a response becomes urgent.
    let left: Vec<f64> = runs.iter().filter(|it| it.kind != Kind::Updated).map(Run::left).collect();
    let inverse_share = Interval::of(&of(runs, Kind::Inverse, Run::others_share));
    let (verdict, why) = if median(&left).is_none_or(|left| left < LEFT_MIN) {
        (Verdict::Inconclusive, "nearly everything had been sent when the late request arrived; name a larger resource with --path".to_owned())
    } else {
        decide(control, urgent, inverse_share)
    };
    let prioritizes = matches!(verdict, Verdict::Prioritizes | Verdict::Weakly);
    // One run with nothing ahead shows little: a request may arrive between two bursts.
    let ahead = median(&of(runs, Kind::Urgent, |run| run.ahead_bytes as f64));
    let committed_bytes = ahead.filter(|_| prioritizes).map(whole_bytes);
    let (incremental, updates) = (incremental(runs), updates(runs));
    Finding { verdict, why, control, urgent, inverse, committed_bytes, incremental, updates }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a median of bytes")]
fn whole_bytes(bytes: f64) -> u64 {
    bytes as u64
}

fn decide(control: Interval, urgent: Interval, inverse_share: Interval) -> (Verdict, String) {
    let [times_control, times_urgent] =
        [control, urgent].map(|it| format!("{:.2} times its size", it.mean));
    if control.high <= IN_FLIGHT {
        let why = "the newest request is served first, whatever its urgency".to_owned();
        return (Verdict::DoesNot, why);
    }
    if urgent.high <= IN_FLIGHT && inverse_share.low >= SHARE_MIN {
        let why = format!(
            "{times_urgent} of the responses that could wait came before a late urgent response, {times_control} before one like all others"
        );
        return (Verdict::Prioritizes, why);
    }
    if urgent.low >= control.high * (1.0 - IMPROVEMENT_MIN) {
        let why = format!(
            "a late urgent response waits like any other: {times_urgent} came before it, {times_control} before one of the same urgency"
        );
        return (Verdict::DoesNot, why);
    }
    // Not if more runs could still satisfy one or the other.
    let is_too_late = urgent.low > IN_FLIGHT;
    let is_kept_waiting = inverse_share.high < SHARE_MIN;
    if urgent.high < control.low && (is_too_late || is_kept_waiting) {
        let why = format!(
            "a late urgent response gains, but {times_urgent} of what could wait still came first (control: {times_control}); \
             of the others {:.0} % came before one that could wait",
            100.0 * inverse_share.mean
        );
        return (Verdict::Weakly, why);
    }
    let why = "the intervals do not clear the thresholds; allow more runs with --repeats-max";
    (Verdict::Undecided, why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three runs of each kind; values in multiples of the late response.
    fn runs(control: f64, urgent: f64, inverse: f64) -> Vec<Run> {
        let kinds = [(Kind::Control, control), (Kind::Urgent, urgent), (Kind::Inverse, inverse)];
        kinds
            .iter()
            .flat_map(|&(kind, first)| [0.0, 0.02, -0.02].map(|noise| (kind, first + noise)))
            .map(|(kind, first)| Run {
                kind,
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "small"
                )]
                others_bytes: ((first.max(0.02)) * 1000.0) as u64,
                ahead_bytes: 30,
                left_bytes: 7500,
                begun_share: 1.0,
                late_bytes: 1000,
                late_ms: 1.0,
            })
            .collect()
    }

    fn verdict(control: f64, urgent: f64, inverse: f64) -> Verdict {
        judge(&runs(control, urgent, inverse)).verdict
    }

    #[test]
    fn a_server_prioritizes_when_the_urgent_overtakes_and_the_rest_waits() {
        assert_eq!(verdict(7.4, 0.1, 7.4), Verdict::Prioritizes);
        // Round-robin and first-come servers let the late one wait, whatever its urgency.
        assert_eq!(verdict(7.4, 7.4, 7.4), Verdict::DoesNot);
        // Newest first passes the urgent run, and fails the others.
        assert_eq!(verdict(0.1, 0.1, 0.1), Verdict::DoesNot);
        // A weight: half of the bandwidth.
        assert_eq!(verdict(7.4, 1.0, 7.4), Verdict::Weakly);
    }

    #[test]
    fn committed_bytes_are_those_of_a_server_that_prioritizes() {
        let committed = |urgent| judge(&runs(7.4, urgent, 7.4)).committed_bytes;
        assert_eq!([committed(0.1), committed(1.0), committed(7.4)], [Some(30), Some(30), None]);
    }

    #[test]
    fn one_run_with_nothing_ahead_does_not_hide_what_is_committed() {
        let mut some = runs(7.4, 0.1, 7.4);
        let mut some_more = some.clone();
        some_more.truncate(6);
        some.extend(some_more);
        let mut ahead = [75_749, 74_981, 0, 65_518, 26_425, 80_000].into_iter();
        for run in some.iter_mut().filter(|it| it.kind == Kind::Urgent) {
            run.ahead_bytes = ahead.next().unwrap_or_default();
        }
        assert_eq!(judge(&some).committed_bytes, Some(70_249));
    }

    #[test]
    fn one_run_that_came_late_does_not_make_the_others_inconclusive() {
        let mut some = runs(7.4, 0.1, 7.4);
        some[0].left_bytes = 0;
        assert_eq!(judge(&some).verdict, Verdict::Prioritizes);
    }

    #[test]
    fn runs_that_left_nothing_to_overtake_are_not_an_answer() {
        let mut runs = runs(0.4, 0.1, 0.4);
        for run in &mut runs {
            run.left_bytes = 500;
        }
        assert_eq!(judge(&runs).verdict, Verdict::Inconclusive);
        assert_eq!(judge(&[]).verdict, Verdict::Inconclusive);
    }

    #[test]
    fn a_verdict_waits_until_the_interval_clears_the_threshold() {
        // Urgent runs of 0.47, 0.37 and 0.26: the interval of their mean extends beyond a half.
        let mut some = runs(7.4, 0.1, 7.4);
        let mut urgent = [470, 370, 260].into_iter();
        for run in some.iter_mut().filter(|it| it.kind == Kind::Urgent) {
            run.others_bytes = urgent.next().unwrap_or_default();
        }
        assert_eq!(judge(&some).verdict, Verdict::Undecided);
        // As many again of the same are enough.
        let more: Vec<Run> = std::iter::repeat_n(some, 4).flatten().collect();
        assert_eq!(judge(&more).verdict, Verdict::Prioritizes);
    }

    #[test]
    fn an_interval_is_students() {
        let interval = Interval::of(&[1.0, 2.0, 3.0]);
        // 2 plus or minus 9.925 * 1 / sqrt(3)
        assert!((interval.high - 7.730).abs() < 1e-3 && interval.low.abs() < 1e-9, "{interval:?}");
        assert!(Interval::of(&[1.0]).high.is_infinite());
    }
}
