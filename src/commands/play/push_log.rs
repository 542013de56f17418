//! The table of pushed responses, in the style of nghttp's statistics.

use crate::output;
use crate::output::number;
use ::client::Outcome;
use ::serve::Failure;
use lab::study::RunRecord;
use qlog_tools::pushed::PushedBytes;
use qlog_tools::short_texts::shown;
use qlog_tools::timeline::Timeline;

/// Prints each resource, in the order of completion; `*` marks pushed ones.
pub(super) fn show(run: &RunRecord, timeline: &Timeline, outcome: &Outcome) -> Result<(), Failure> {
    let mut resources: Vec<_> = run.resources.iter().collect();
    resources.sort_by(|one, other| {
        one.complete_ms.unwrap_or(f64::MAX).total_cmp(&other.complete_ms.unwrap_or(f64::MAX))
    });
    let rows = resources.iter().map(|resource| {
        let mark = if resource.pushed { "*" } else { "" };
        let process = resource.complete_ms.map(|end| end - resource.requested_ms);
        let status = outcome.statuses.get(&resource.id);
        vec![
            resource.id.to_string(),
            number(resource.complete_ms, 1),
            format!("{mark}{}", number(Some(resource.requested_ms), 1)),
            number(process, 1),
            status.map_or_else(String::new, u16::to_string),
            body_bytes(status, resource.bytes).to_string(),
            shown(&resource.url, 60),
        ]
    });
    let header =
        ["id", "response end ms", "request start ms", "process ms", "code", "size", "path"];
    output::line(&output::table(&header, &[6], rows).to_string())?;
    let used: Vec<usize> =
        outcome.pushed.iter().filter(|(_, used)| *used).map(|(resource, _)| *resource).collect();
    let bytes = PushedBytes::of(timeline, |url| {
        run.resources.iter().any(|it| *it.url == *url && used.contains(&it.id))
    });
    output::line(&format!(
        "* pushed: {} resources, {} of them used; {} bytes used, {} bytes wasted; {} promises rejected",
        outcome.pushed.len(),
        used.len(),
        bytes.used,
        bytes.wasted,
        outcome.refused_pushes
    ))?;
    let validated = outcome.validated.len();
    if validated > 0 {
        let copies = if validated == 1 { "copy" } else { "copies" };
        output::line(&format!("validated: {validated} {copies} of earlier visits"))?;
    }
    let round_trip_ms = outcome.round_trip.map_or(0.0, |it| it.as_secs_f64() * 1000.0);
    match bytes.break_even_bits_per_s(round_trip_ms) {
        Some(rate) => output::line(&format!(
            "break-even: below {:.2} Mbit/s the wasted bytes take longer than the round trip of {round_trip_ms:.1} ms that \
             pushing saves",
            rate / 1e6
        )),
        None => Ok(()),
    }
}

/// A response without a body still has bytes: its promise and its head.
fn body_bytes(status: Option<&u16>, bytes: u64) -> u64 {
    if matches!(status, Some(204 | 304)) { 0 } else { bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_304_has_no_body() {
        assert_eq!(body_bytes(Some(&304), 211), 0);
        assert_eq!(body_bytes(Some(&200), 211), 211);
        assert_eq!(body_bytes(None, 211), 211);
    }
}
