//! The places of references in a document's text.

use crate::page::{Event, PageResource};
use captures::{Fetch, Initiator};
use schedulers::Kind;
use std::collections::BTreeMap;

pub(super) const NOTE: &str = "byte offsets: from the recorded line and column where there is one, lines being as long as the \
     columns show or of equal length (at most 200 bytes); otherwise references are spread evenly over \
     the document, in order of request; what a header asks for is there with the first byte";

/// The longest line that is assumed if no column shows more. Beyond it, the rest of the document counts as
/// lying after the last reference.
const LINE_BYTES_MAX: f64 = 200.0;

pub(super) fn set_places(resources: &mut [PageResource], requests: &[Fetch]) {
    for document in 0..resources.len() {
        if resources[document].kind != Kind::Html {
            continue;
        }
        let references = resources.iter().filter(|resource| {
            resource.trigger.on == Event::Bytes
                && resource.trigger.of == document
                && !in_header(&requests[resource.id])
        });
        let ids: Vec<usize> = references.map(|it| it.id).collect();
        let decoded = resources[document].decoded_len();
        let places: Option<Vec<(u64, u64)>> = ids.iter().map(|&id| requests[id].place).collect();
        let offsets = match places {
            Some(places) => by_lines(decoded, &places),
            None => evenly(decoded, ids.len()),
        };
        for (id, byte) in ids.into_iter().zip(offsets) {
            resources[id].trigger.byte = Some(byte);
        }
    }
}

fn in_header(request: &Fetch) -> bool {
    request.preload && request.initiator == Initiator::Browser
}

fn evenly(decoded: u64, count: usize) -> Vec<u64> {
    let parts = count as u128 + 1;
    (1..parts)
        .map(|place| u64::try_from(u128::from(decoded) * place / parts).unwrap_or(decoded))
        .collect()
}

/// A line is at least as long as its largest known column. All lines up to the last reference share the rest
/// of the document.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn by_lines(decoded: u64, places: &[(u64, u64)]) -> Vec<u64> {
    let mut known: BTreeMap<u64, u64> = BTreeMap::new();
    for &(line, column) in places {
        let longest = known.entry(line).or_default();
        *longest = (*longest).max(column);
    }
    let decoded = decoded as f64;
    let columns: f64 = known.values().map(|&it| it as f64).sum();
    let scale = if columns > decoded { decoded / columns } else { 1.0 };
    let lines = known.last_key_value().map_or(1.0, |(&line, _)| line as f64 + 1.0);
    let fill = ((decoded - columns).max(0.0) / lines).min(LINE_BYTES_MAX);
    let offsets = places.iter().map(|&(line, column)| {
        let before: f64 = known.range(..line).map(|(_, &it)| it as f64).sum();
        // A reference without a column counts as the end of its line.
        let own = if column == 0 { fill } else { column as f64 };
        let offset = ((before + own) * scale + line as f64 * fill).clamp(1.0, decoded.max(1.0));
        (offset as u64).min(decoded as u64)
    });
    offsets.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_without_places_are_spread_evenly() {
        assert_eq!(evenly(1000, 3), [250, 500, 750]);
    }

    #[test]
    fn a_document_on_one_line_is_measured_by_its_columns() {
        assert_eq!(by_lines(10_000, &[(0, 100), (0, 7000)]), [100, 7000]);
    }

    #[test]
    fn lines_share_what_no_column_accounts_for() {
        // 1000 bytes over 10 lines: each has 100.
        assert_eq!(by_lines(1000, &[(0, 0), (4, 0), (9, 0)]), [100, 500, 1000]);
        // Line 1 has 400 at least; the other 600 are spread over 3 lines.
        assert_eq!(by_lines(1000, &[(1, 400), (2, 0)]), [600, 1000]);
    }

    #[test]
    fn references_in_the_head_of_a_long_document_stay_at_its_beginning() {
        assert_eq!(by_lines(1_000_000, &[(3, 10), (9, 0)]), [610, 2010]);
    }
}
