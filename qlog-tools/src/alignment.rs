//! Runs of the same page side by side: which resources' bytes moved, and what that did to the
//! index.

use std::collections::BTreeMap;

use crate::trace::Trace;

/// Runs aligned by resource.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Alignment {
    /// Each resource that some run has, in the order of the first run's requests.
    pub resources: Vec<AlignedResource>,
}

/// One resource in all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct AlignedResource {
    /// Its URL; `#2` and so on is added to further requests for the same.
    pub url: String,
    /// Its body bytes in the first run that has it.
    pub bytes: Option<u64>,
    /// Its outcome in each run; `None` where the run does not have it.
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
}

impl Alignment {
    /// By URL, hosts left aside; requests for the same URL by their order.
    pub fn new(traces: &[Trace]) -> Self {
        let mut places: BTreeMap<(String, usize), usize> = BTreeMap::new();
        let mut resources: Vec<AlignedResource> = Vec::new();
        for (run, trace) in traces.iter().enumerate() {
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

    /// Resources that both the first run and this one have.
    pub fn in_common(&self, run: usize) -> usize {
        self.resources.iter().filter(|it| it.runs[0].is_some() && it.runs[run].is_some()).count()
    }

    /// Resources that the first run or this one has.
    pub fn of_either(&self, run: usize) -> usize {
        self.resources.iter().filter(|it| it.runs[0].is_some() || it.runs[run].is_some()).count()
    }
}

fn resource_runs(trace: &Trace) -> Vec<ResourceRun> {
    let start_us = trace.timeline.start_us().unwrap_or_default();
    let ms = |time_us: u64| time_us.saturating_sub(start_us) as f64 / 1000.0;
    let bytes = |it: &crate::timeline::Transfer| it.body_bytes_or_stream().unwrap_or_default();
    let all: u128 = trace.timeline.transfers.iter().map(|it| u128::from(bytes(it))).sum();
    let run = |transfer: &crate::timeline::Transfer| {
        let stream = trace.stream(transfer.stream);
        let complete_ms = stream.and_then(|it| it.complete_us).map(ms);
        let share = bytes(transfer) as f64 / all.max(1) as f64;
        ResourceRun {
            stream: transfer.stream,
            requested_ms: ms(transfer.requested_us),
            first_ms: stream.map(|it| ms(it.first_us)),
            complete_ms,
            index_ms: complete_ms.map(|complete_ms| complete_ms * share),
        }
    };
    trace.timeline.transfers.iter().map(run).collect()
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
    fn a_resource_that_only_one_run_has_stands_alone() {
        let runs =
            [run(&[("/", 0, 20)]), run(&[("/", 0, 20), ("/", 4, 30), ("https://h/x", 8, 40)])];
        let alignment = Alignment::new(&runs);
        let urls: Vec<&str> = alignment.resources.iter().map(|it| &*it.url).collect();
        assert_eq!(urls, ["/", "/ #2", "https://h/x"]);
        assert_eq!(alignment.resources[1].runs[0], None);
    }
}
