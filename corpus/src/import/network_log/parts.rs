//! Merges the fetches of one URL into one resource.

use crate::import::derive::merge_fetches;
use captures::{Fetch, Size};
use std::collections::BTreeMap;

/// The first fetch of each URL, and the number of the others. The fetch whose size is known best determines the size: a
/// service worker answers with its own fetches, and a cache with earlier ones. The size of partial responses is that of all
/// their ranges together.
pub(super) fn join(requests: Vec<Fetch>, notes: &mut Vec<String>) -> (Vec<Fetch>, usize) {
    let (targets, repeated) = merge_fetches(requests.iter().map(|it| it.url.as_str()));
    let mut kept: Vec<Fetch> = Vec::new();
    let mut parts: BTreeMap<usize, Vec<(u64, u64)>> = BTreeMap::new();
    for (target, fetch) in targets.into_iter().zip(requests) {
        let before = parts.get(&target).and_then(|it| it.iter().map(|it| it.1).max());
        if fetch.status == 206 || before.is_some() {
            let is_partial = fetch.status == 206;
            let start = fetch.range.or(before.filter(|_| is_partial)).unwrap_or(0);
            parts.entry(target).or_default().push((start, start.saturating_add(fetch.bytes)));
        }
        match kept.get_mut(target) {
            None => kept.push(fetch),
            Some(first) if certainty(&fetch) > certainty(first) => {
                (first.bytes, first.decoded_bytes) = (fetch.bytes, fetch.decoded_bytes);
                (first.size, first.from_cache) = (fetch.size, fetch.from_cache);
                first.has_head = fetch.has_head;
            }
            Some(_) => {}
        }
    }
    if !parts.is_empty() {
        notes.push(format!(
            "responses that came in parts (status 206), which are as large as their ranges together: {}",
            parts.len()
        ));
    }
    for (target, ranges) in parts {
        let it = &mut kept[target];
        it.status = 200;
        it.bytes = it.bytes.max(covered(ranges));
        it.decoded_bytes = it.decoded_bytes.max(it.bytes);
    }
    (kept, repeated)
}

fn certainty(it: &Fetch) -> (u8, bool) {
    let of_size = match it.size {
        Size::Recorded if !it.from_cache => 3,
        Size::Recorded => 2,
        Size::Decoded => 1,
        Size::Unknown => 0,
    };
    (of_size, it.has_head)
}

/// The number of bytes that ranges cover, without duplicates.
fn covered(mut ranges: Vec<(u64, u64)>) -> u64 {
    ranges.sort_unstable();
    let (mut sum, mut end) = (0_u64, 0);
    for (from, to) in ranges {
        sum = sum.saturating_add(to.saturating_sub(from.max(end)));
        end = to.max(end);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(range: Option<u64>, bytes: u64) -> Fetch {
        Fetch { url: "/film.mp4".into(), status: 206, range, bytes, ..Fetch::default() }
    }

    #[test]
    fn ranges_of_one_file_are_summed_without_what_came_twice() {
        let ranges = [Some(0), Some(9000), Some(500), Some(9000)];
        let parts = ranges.map(|it| part(it, 1000)).to_vec();
        let (kept, repeated) = join(parts, &mut Vec::new());
        assert_eq!((kept.len(), kept[0].bytes, kept[0].status, repeated), (1, 2500, 200, 3));
    }

    #[test]
    fn parts_without_a_range_follow_one_another() {
        let (kept, _) = join(vec![part(None, 1000), part(None, 700)], &mut Vec::new());
        assert_eq!(kept[0].bytes, 1700);
    }

    #[test]
    fn what_a_service_worker_fetched_is_as_large_as_on_the_wire() {
        let answer = Fetch {
            url: "/a.css".into(),
            size: Size::Decoded,
            from_cache: true,
            bytes: 30_000,
            requested_ms: 1.0,
            ..Fetch::default()
        };
        let own =
            Fetch { url: "/a.css".into(), bytes: 8000, requested_ms: 2.0, ..Fetch::default() };
        let (kept, _) = join(vec![answer, own], &mut Vec::new());
        let it = &kept[0];
        assert_eq!((it.bytes, it.size, it.requested_ms), (8000, Size::Recorded, 1.0));
    }
    #[test]
    fn a_fetch_whose_head_is_missing_says_less_than_one_that_has_it() {
        let cut = Fetch { url: "/a.woff".into(), bytes: 41_574, ..Fetch::default() };
        let whole = Fetch { bytes: 70_588, has_head: true, ..cut.clone() };
        let (kept, _) = join(vec![cut, whole], &mut Vec::new());
        assert_eq!(kept[0].bytes, 70_588);
    }
}
