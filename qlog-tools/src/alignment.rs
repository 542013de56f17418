//! Aligns runs of the same page: which resources' bytes moved, and the effect on the index.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use crate::timeline::Transfer;
use crate::trace::Trace;

/// Runs aligned by resource.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Alignment {
    /// Each resource in any of the runs, in the order of the first run's requests.
    pub resources: Vec<AlignedResource>,
}

/// One resource in all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct AlignedResource {
    /// Its URL; `#2` and so on is added to further requests for the same.
    pub url: String,
    /// Its body bytes in the first run that has it.
    pub bytes: Option<u64>,
    /// Its outcome in each run; `None` if the run does not have it.
    pub runs: Vec<Option<ResourceRun>>,
}

/// A resource in one run. Times count from the run's first request.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct ResourceRun {
    /// The stream that carried it.
    pub stream: u64,
    /// When it was asked for.
    pub requested_ms: f64,
    /// Its first frame.
    pub first_ms: Option<f64>,
    /// When it was complete.
    pub complete_ms: Option<f64>,
    /// Its part of the run's `ByteIndex`: its share of the bytes times its completion.
    pub index_ms: Option<f64>,
    /// Its rank in the order of completion, from 1.
    pub place: Option<u64>,
    /// Bytes of other streams that arrived or were sent before it was complete, repeated ones included. `None` also without
    /// frames ([`crate::trace::Detail::Arrivals`]).
    pub bytes_before: Option<u64>,
}

/// How a resource moved from the first run to another one, as differences. `None` if unknown in one of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Moved {
    /// Its first byte.
    pub first_later_ms: Option<f64>,
    /// Its completion.
    pub later_ms: Option<f64>,
    /// Its part of the `ByteIndex`.
    pub index_later_ms: Option<f64>,
    /// The difference of its ranks in the order of completion.
    pub places_later: Option<i64>,
    /// The bytes of others before its completion.
    pub more_bytes_before: Option<i64>,
}

impl Alignment {
    /// Matches resources by URL, ignoring hosts; requests for the same URL by their order.
    pub fn new<T: Borrow<Trace>>(traces: &[T]) -> Self {
        let mut places: BTreeMap<(String, usize), usize> = BTreeMap::new();
        let mut resources: Vec<AlignedResource> = Vec::new();
        for (run, trace) in traces.iter().enumerate() {
            let trace: &Trace = trace.borrow();
            let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
            for (transfer, found) in trace.timeline.transfers.iter().zip(resource_runs(trace)) {
                let path = path_of(&transfer.url);
                let again = seen.entry(path).or_default();
                let key = (path.to_owned(), *again);
                *again += 1;
                let place = *places.entry(key).or_insert_with(|| {
                    let url = match *again {
                        1 => transfer.url.clone(),
                        nth => format!("{} #{nth}", transfer.url),
                    };
                    let bytes = transfer.body_bytes_or_stream();
                    resources.push(AlignedResource { url, bytes, runs: vec![None; traces.len()] });
                    resources.len() - 1
                });
                resources[place].runs[run] = Some(found);
            }
        }
        Self { resources }
    }

    /// The resources by how much their part of the `ByteIndex` changed from the first run to this one, the largest change
    /// first. Resources that are complete in only one of the two come before all others.
    pub fn by_weight(&self, run: usize) -> Vec<&AlignedResource> {
        let mut resources: Vec<&AlignedResource> = self.resources.iter().collect();
        resources.sort_by(|one, other| {
            let [one, other] =
                [one, other].map(|it| it.moved(run).index_later_ms.map_or(f64::MAX, f64::abs));
            other.total_cmp(&one)
        });
        resources
    }

    /// Resources that both the first run and this one have.
    pub fn in_common(&self, run: usize) -> usize {
        self.resources.iter().filter(|it| it.runs[0].is_some() && it.runs[run].is_some()).count()
    }

    /// Whether the first run and this one are of the same page, so that speeds can be compared: most resources are in both.
    pub fn is_of_same_page(&self, run: usize) -> bool {
        2 * self.in_common(run) > self.of_either(run)
    }

    /// Resources that the first run or this one has.
    pub fn of_either(&self, run: usize) -> usize {
        self.resources.iter().filter(|it| it.runs[0].is_some() || it.runs[run].is_some()).count()
    }
}

impl AlignedResource {
    /// How it moved from the first run to this one.
    pub fn moved(&self, run: usize) -> Moved {
        let (Some(before), Some(after)) = (self.runs[0], self.runs[run]) else {
            return Moved::default();
        };
        Moved {
            first_later_ms: ms_more(before.first_ms, after.first_ms),
            later_ms: ms_more(before.complete_ms, after.complete_ms),
            index_later_ms: ms_more(before.index_ms, after.index_ms),
            places_later: more(before.place, after.place),
            more_bytes_before: more(before.bytes_before, after.bytes_before),
        }
    }
}

fn ms_more(before: Option<f64>, after: Option<f64>) -> Option<f64> {
    Some(after? - before?)
}

fn more(before: Option<u64>, after: Option<u64>) -> Option<i64> {
    Some(after?.cast_signed().saturating_sub(before?.cast_signed()))
}

/// The completion time of each stream with a complete response, in order of time.
fn completions(trace: &Trace) -> Vec<(u64, u64)> {
    let streams = trace.timeline.transfers.iter().map(|it| it.stream);
    let mut all: Vec<(u64, u64)> =
        streams.filter_map(|it| Some((trace.stream(it)?.complete_us?, it))).collect();
    all.sort_unstable();
    all
}

/// For each completion, the bytes of other streams before it, by stream; empty without frames.
fn bytes_before(trace: &Trace, completions: &[(u64, u64)]) -> BTreeMap<u64, u64> {
    let mut before = BTreeMap::new();
    if trace.arrivals.is_empty() {
        return before;
    }
    let mut frames = trace.arrivals.iter().map(|it| it.0).peekable();
    let (mut all, mut own) = (0_u64, BTreeMap::<u64, u64>::new());
    for (complete_us, stream) in completions {
        while let Some(frame) = frames.next_if(|frame| frame.time_us < *complete_us) {
            all = all.saturating_add(frame.bytes);
            let own = own.entry(frame.stream).or_default();
            *own = own.saturating_add(frame.bytes);
        }
        before.insert(*stream, all - own.get(stream).copied().unwrap_or_default());
    }
    before
}

fn resource_runs(trace: &Trace) -> Vec<ResourceRun> {
    let transfers = &trace.timeline.transfers;
    let start_us = trace.timeline.start_us().unwrap_or_default();
    let completions = completions(trace);
    let places: BTreeMap<u64, u64> = completions.iter().map(|it| it.1).zip(1..).collect();
    let before = bytes_before(trace, &completions);
    let all_bytes: u128 = transfers.iter().map(|it| u128::from(bytes(it))).sum();
    let mut runs = Vec::with_capacity(transfers.len());
    for transfer in transfers {
        let stream = trace.stream(transfer.stream);
        let complete_us = stream.and_then(|it| it.complete_us);
        let complete_ms = complete_us.map(|it| ms_since(start_us, it));
        let share = bytes(transfer) as f64 / all_bytes.max(1) as f64;
        runs.push(ResourceRun {
            stream: transfer.stream,
            requested_ms: ms_since(start_us, transfer.requested_us),
            first_ms: stream.map(|it| ms_since(start_us, it.first_us)),
            complete_ms,
            index_ms: complete_ms.map(|complete_ms| complete_ms * share),
            place: places.get(&transfer.stream).copied(),
            bytes_before: before.get(&transfer.stream).copied(),
        });
    }
    runs
}

fn bytes(transfer: &Transfer) -> u64 {
    transfer.body_bytes_or_stream().unwrap_or_default()
}

fn ms_since(start_us: u64, time_us: u64) -> f64 {
    time_us.saturating_sub(start_us) as f64 / 1000.0
}

/// A URL without scheme and host.
pub fn path_of(url: &str) -> &str {
    let Some((_, rest)) = url.split_once("://") else { return url };
    rest.find('/').map_or("/", |slash| &rest[slash..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Completions;
    use crate::reader::read;

    /// A client's log of resources of 100 bytes: path, stream, completion (ms).
    fn run(resources: &[(&str, u64, u64)]) -> Trace {
        let mut log =
            "{\"qlog_version\":\"0.3\",\"trace\":{\"vantage_point\":{\"type\":\"client\"}}}\n"
                .to_owned();
        for (path, stream, _) in resources {
            let line = format!(
                "{{\"time\":10,\"name\":\"http:frame_created\",\"data\":{{\"stream_id\":{stream},\"frame\":{{\"frame_type\":\"headers\",\"headers\":[{{\"name\":\":method\",\"value\":\"GET\"}},{{\"name\":\":path\",\"value\":\"{path}\"}}]}}}}}}\n"
            );
            log.push_str(&line);
        }
        for (_, stream, complete_ms) in resources {
            let line = format!(
                "{{\"time\":{complete_ms},\"name\":\"transport:packet_received\",\"data\":{{\"frames\":[{{\"frame_type\":\"stream\",\"stream_id\":{stream},\"offset\":0,\"length\":100,\"fin\":true}}]}}}}\n"
            );
            log.push_str(&line);
        }
        read("run", log.as_bytes()).unwrap()
    }

    #[test]
    fn what_moved_adds_up_to_what_the_index_lost() {
        let runs = [
            run(&[("/", 0, 20), ("/a.css", 4, 50), ("/b.jpg", 8, 60)]),
            run(&[("/", 0, 20), ("/b.jpg", 4, 30), ("/a.css", 8, 90)]),
        ];
        let alignment = Alignment::new(&runs);
        let urls: Vec<&str> = alignment.resources.iter().map(|it| &*it.url).collect();
        assert_eq!(urls, ["/", "/a.css", "/b.jpg"]);
        let of = |place: usize, run: usize| alignment.resources[place].runs[run].unwrap();
        assert_eq!((of(1, 0).complete_ms, of(1, 1).complete_ms), (Some(40.0), Some(80.0)));
        assert_eq!((of(2, 0).stream, of(2, 1).stream), (8, 4));
        for (run, trace) in runs.iter().enumerate() {
            let sum: f64 = (0..3).map(|place| of(place, run).index_ms.unwrap()).sum();
            let index = Completions::of_trace(trace, |_| true).unwrap().byte_index_ms();
            assert!((sum - index).abs() < 1e-9, "{sum} {index}");
        }
    }

    #[test]
    fn what_moved_is_said_in_time_in_places_and_in_bytes_before() {
        let runs = [
            run(&[("/", 0, 20), ("/a.css", 4, 50), ("/b.jpg", 8, 60)]),
            run(&[("/", 0, 20), ("/b.jpg", 4, 30), ("/a.css", 8, 90)]),
        ];
        let resources = Alignment::new(&runs).resources;
        let of = |place: usize, run: usize| resources[place].runs[run].unwrap();
        assert_eq!((of(1, 0).place, of(1, 0).bytes_before), (Some(2), Some(100)));
        assert_eq!((of(1, 1).place, of(1, 1).bytes_before), (Some(3), Some(200)));
        let moved = resources[1].moved(1);
        assert_eq!((moved.first_later_ms, moved.later_ms), (Some(40.0), Some(40.0)));
        assert_eq!((moved.places_later, moved.more_bytes_before), (Some(1), Some(100)));
        let earlier = resources[2].moved(1);
        assert_eq!((earlier.places_later, earlier.more_bytes_before), (Some(-1), Some(-100)));
        assert_eq!(resources[0].moved(1).later_ms, Some(0.0));
    }

    #[test]
    fn runs_of_different_pages_are_not_compared_in_speed() {
        let first = run(&[("/", 0, 20), ("/a.css", 4, 50), ("/b.jpg", 8, 60)]);
        let other = run(&[("/", 0, 20), ("/c.css", 4, 30), ("/d.jpg", 8, 90)]);
        let alike = run(&[("/", 0, 20), ("/a.css", 4, 30)]);
        let alignment = Alignment::new(&[first, other, alike]);
        assert_eq!([1, 2].map(|it| alignment.is_of_same_page(it)), [false, true]);
    }

    #[test]
    fn a_response_that_is_not_complete_has_no_place() {
        let mut open = run(&[("/", 0, 20), ("/a.css", 4, 50)]);
        open.streams[1].complete_us = None;
        let resources = Alignment::new(&[run(&[("/a.css", 0, 20)]), open]).resources;
        let of = resources[0].runs[1].unwrap();
        assert_eq!((of.place, of.bytes_before, resources[0].moved(1).later_ms), (None, None, None));
    }

    #[test]
    fn a_resource_that_only_one_run_has_stands_alone() {
        let runs =
            [run(&[("/", 0, 20)]), run(&[("/", 0, 20), ("/", 4, 30), ("https://h/x", 8, 40)])];
        let alignment = Alignment::new(&runs);
        let urls: Vec<&str> = alignment.resources.iter().map(|it| &*it.url).collect();
        assert_eq!(urls, ["/", "/ #2", "https://h/x"]);
        assert_eq!(alignment.resources[1].runs[0], None);
        assert_eq!(alignment.resources[1].moved(1), Moved::default());
    }
}
