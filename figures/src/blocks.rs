//! Turns the frames of a timeline into the blocks of a ribbon.

use super::axis::Axis;
use qlog_tools::assembly::StreamFrame;
use qlog_tools::page_resources::{PageResource, places_of_streams};
use qlog_tools::saturating_cast::to_usize;
use qlog_tools::timeline::{Timeline, busiest_fiftieth};
use std::collections::BTreeSet;

/// The most columns of a figure. Longer runs are drawn column by column, each in the colour of the resource that fills
/// most of it.
pub const COLUMNS_MAX: usize = 4000;

/// A stretch of a ribbon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    /// Where it starts, in the axis' unit.
    pub start: f64,
    /// Where it ends.
    pub end: f64,
    /// The resource; `None` if the page does not list it.
    pub resource: Option<usize>,
}

/// The blocks of one run, in order and without overlap: of frames that carry responses, without control streams.
///
/// On the time axis a block ends when its frame arrived and is as wide as its bytes take at
/// the run's highest sustained rate; frames of one burst stand one after another before its end.
pub(super) fn blocks_of(timeline: &Timeline, resources: &[PageResource], axis: Axis) -> Vec<Block> {
    let streams = places_of_streams(resources, timeline);
    let frames = timeline.frames.iter().filter(|frame| frame.bytes > 0);
    let frames: Vec<(&StreamFrame, Option<usize>)> =
        frames.filter_map(|frame| Some((frame, *streams.get(&frame.stream)?))).collect();
    let blocks = match axis {
        Axis::Time => by_time(&frames, timeline.start_us().unwrap_or_default()),
        Axis::Frames => one_after_another(&frames, |_| 1.0),
        Axis::Bytes => one_after_another(&frames, |frame| frame.bytes as f64),
    };
    if are_columns(timeline) { columns(&blocks) } else { blocks }
}

/// Whether a run has too many frames to draw each as a block.
pub(super) fn are_columns(timeline: &Timeline) -> bool {
    let streams: BTreeSet<u64> = timeline.transfers.iter().map(|it| it.stream).collect();
    let frames = timeline.frames.iter().filter(|it| it.bytes > 0);
    frames.filter(|it| streams.contains(&it.stream)).count() > COLUMNS_MAX
}

fn one_after_another(
    frames: &[(&StreamFrame, Option<usize>)],
    width: impl Fn(&StreamFrame) -> f64,
) -> Vec<Block> {
    let mut end = 0.0;
    let blocks = frames.iter().map(|&(frame, resource)| {
        let start = end;
        end += width(frame);
        Block { start, end, resource }
    });
    blocks.collect()
}

fn by_time(frames: &[(&StreamFrame, Option<usize>)], start_us: u64) -> Vec<Block> {
    let busiest =
        busiest_fiftieth(frames.len(), |place| (frames[place].0.time_us, frames[place].0.bytes));
    let bytes_per_ms =
        busiest.map_or(1.0, |(window_us, bytes)| bytes as f64 / (window_us as f64 / 1000.0));
    let mut blocks = Vec::with_capacity(frames.len());
    let mut next_start = f64::INFINITY;
    for &(frame, resource) in frames.iter().rev() {
        let arrived_ms = frame.time_us.saturating_sub(start_us) as f64 / 1000.0;
        let end = arrived_ms.min(next_start);
        next_start = (end - frame.bytes as f64 / bytes_per_ms).max(0.0);
        blocks.push(Block { start: next_start, end, resource });
    }
    blocks.reverse();
    close_small_gaps(&mut blocks);
    blocks
}

/// Closes gaps shorter than a quarter of a block, which come from an estimated rate that is slightly too high.
fn close_small_gaps(blocks: &mut [Block]) {
    let mut end = 0.0;
    for block in blocks {
        if block.start - end < (block.end - block.start) / 4.0 {
            block.start = end;
        }
        end = block.end;
    }
}

/// Merges the blocks into at most [`COLUMNS_MAX`] columns, with adjacent columns of one resource joined.
fn columns(blocks: &[Block]) -> Vec<Block> {
    let width = blocks.last().map_or(0.0, |block| block.end) / COLUMNS_MAX as f64;
    if width <= 0.0 {
        return Vec::new();
    }
    let mut shares: Vec<Vec<(Option<usize>, f64)>> = vec![Vec::new(); COLUMNS_MAX];
    for block in blocks {
        let [first, last] =
            [block.start, block.end].map(|it| to_usize(it / width).min(COLUMNS_MAX - 1));
        for (place, share) in shares.iter_mut().enumerate().take(last + 1).skip(first) {
            let (left, right) = (place as f64 * width, (place + 1) as f64 * width);
            let covered = block.end.min(right) - block.start.max(left);
            match share.iter_mut().find(|(resource, _)| *resource == block.resource) {
                Some((_, sum)) => *sum += covered,
                None => share.push((block.resource, covered)),
            }
        }
    }
    let mut joined: Vec<Block> = Vec::new();
    for (place, share) in shares.iter().enumerate() {
        let Some(&(resource, covered)) =
            share.iter().max_by(|one, other| one.1.total_cmp(&other.1))
        else {
            continue;
        };
        if covered <= 0.0 {
            continue;
        }
        let (start, end) = (place as f64 * width, (place + 1) as f64 * width);
        match joined.last_mut() {
            Some(last) if last.resource == resource && start - last.end < width / 2.0 => {
                last.end = end;
            }
            _ => joined.push(Block { start, end, resource }),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use qlog_tools::timeline::Transfer;
    use schedulers::Kind;

    fn resources() -> Vec<PageResource> {
        ["/a", "/b"]
            .map(|url| PageResource {
                url: url.to_owned(),
                kind: Kind::Html,
                above_fold: false,
                body_bytes: None,
                streams: Vec::new(),
            })
            .into()
    }

    /// (time ms, stream, bytes): streams 0 and 4 are listed, 8 is not, 3 is a control stream.
    fn run(frames: &[(u64, u64, u64)]) -> Timeline {
        Timeline {
            transfers: [(0, "/a"), (4, "/b"), (8, "/c")]
                .map(|(stream, url)| Transfer {
                    stream,
                    url: url.to_owned(),
                    ..Transfer::default()
                })
                .into(),
            frames: frames
                .iter()
                .map(|&(time_ms, stream, bytes)| StreamFrame {
                    time_us: time_ms * 1000,
                    stream,
                    offset: 0,
                    bytes,
                })
                .collect(),
            ..Timeline::default()
        }
    }

    fn drawn(blocks: &[Block]) -> Vec<String> {
        let name = |resource: Option<usize>| resource.map_or("?", |place| ["a", "b"][place]);
        blocks
            .iter()
            .map(|block| format!("{} {}..{}", name(block.resource), block.start, block.end))
            .collect()
    }

    #[test]
    fn paced_frames_stand_side_by_side() {
        let blocks = blocks_of(
            &run(&[(10, 0, 1400), (20, 4, 1400), (30, 3, 9), (30, 8, 1400)]),
            &resources(),
            Axis::Time,
        );
        let ends: Vec<f64> = blocks.iter().map(|block| block.end).collect();
        assert_eq!(ends, [10.0, 20.0, 30.0]);
        assert_eq!(drawn(&blocks)[2].chars().next(), Some('?'));
    }

    #[test]
    fn a_burst_is_drawn_as_a_train_before_its_arrival() {
        let blocks = blocks_of(
            &run(&[(100, 0, 100), (200, 0, 100), (200, 4, 100)]),
            &resources(),
            Axis::Time,
        );
        // The busiest fiftieth (2 ms) had 200 bytes: a frame is 1 ms wide.
        assert_eq!(drawn(&blocks), ["a 99..100", "a 198..199", "b 199..200"]);
    }

    #[test]
    fn frames_and_bytes_can_be_the_axis() {
        let run = run(&[(10, 0, 100), (20, 4, 300), (900, 0, 50)]);
        assert_eq!(
            drawn(&blocks_of(&run, &resources(), Axis::Frames)),
            ["a 0..1", "b 1..2", "a 2..3"]
        );
        assert_eq!(
            drawn(&blocks_of(&run, &resources(), Axis::Bytes)),
            ["a 0..100", "b 100..400", "a 400..450"]
        );
    }

    #[test]
    fn many_frames_become_columns_of_the_resource_that_fills_most() {
        let frames: Vec<(u64, u64, u64)> =
            (0..12_000).map(|n| (n, if n % 3 == 2 { 4 } else { 0 }, 10)).collect();
        let run = run(&frames);
        assert!(are_columns(&run));
        assert_eq!(drawn(&blocks_of(&run, &resources(), Axis::Frames)), ["a 0..12000"]);
    }

    #[test]
    fn an_empty_run_has_no_blocks() {
        assert_eq!(blocks_of(&Timeline::default(), &resources(), Axis::Time), []);
    }

    proptest! {
        #[test]
        fn blocks_are_in_order_and_never_overlap(mut frames in prop::collection::vec((0u64..500, 0u64..3, 1u64..2000), 0..60)) {
            frames.sort_unstable();
            let frames: Vec<_> = frames.iter().map(|&(time, n, bytes)| (time, n * 4, bytes)).collect();
            for axis in [Axis::Time, Axis::Frames, Axis::Bytes] {
                let blocks = blocks_of(&run(&frames), &resources(), axis);
                prop_assert_eq!(blocks.len(), frames.len());
                for block in &blocks {
                    prop_assert!(block.start <= block.end && block.start >= 0.0);
                }
                for pair in blocks.windows(2) {
                    prop_assert!(pair[0].end <= pair[1].start + 1e-9, "{:?}", pair);
                }
            }
        }
    }
}
