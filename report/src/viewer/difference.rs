//! The differences between two runs of a page, for the page that shows both.

use serde::Serialize;

use super::from_trace::start_us;
use qlog_tools::alignment::{Alignment, Moved, ResourceRun};
use qlog_tools::limits::NAME_CHARACTERS;
use qlog_tools::pairing::pairs;
use qlog_tools::short_texts::shorten;
use qlog_tools::timeline::Transfer;
use qlog_tools::trace::Trace;

/// Two runs, aligned by resource.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Difference {
    /// The index of the other recording; the first is at 0.
    pub with: usize,
    /// When each run's first request was sent, in microseconds on its figures' axis: times count
    /// from it.
    pub began_us: [u64; 2],
    /// Resources that both have.
    pub in_common: usize,
    /// The resources, the largest change first; empty if nothing can be compared.
    pub resources: Vec<ComparedResource>,
    /// A remark on the comparison, or why there is none.
    pub note: Option<&'static str>,
}

/// A resource in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedResource {
    /// Its URL, or its stream.
    pub url: String,
    /// Its body bytes.
    pub bytes: Option<u64>,
    /// In the first run and in the other.
    pub runs: [Option<ResourceRun>; 2],
    /// From the first to the other.
    pub moved: Moved,
}

const NOTHING_IN_COMMON: &str =
    "nothing can be compared: no resource is in both logs; runs of the same page have some";
const BY_STREAM: &str = "no URLs in the logs: streams are compared by their IDs";
const SIDES: &str =
    "one is a client's log, with times of arrival, the other a server's, with times of sending";

/// From the first connection to each other one, in the order of [`super::recordings`].
pub fn differences(traces: &[Trace]) -> Vec<Difference> {
    let logs: Vec<&Trace> = pairs(traces).into_iter().map(|it| it.log).collect();
    let Some((first, others)) = logs.split_first() else { return Vec::new() };
    others.iter().zip(1..).map(|(other, with)| of(first, other, with)).collect()
}

fn of(first: &Trace, other: &Trace, with: usize) -> Difference {
    let alignment = Alignment::new(&[first, other]);
    let in_common = alignment.in_common(1);
    let began_us = [first, other]
        .map(|it| it.timeline.start_us().unwrap_or_default().saturating_sub(start_us(it)));
    let note = if in_common == 0 {
        Some(NOTHING_IN_COMMON)
    } else if [first, other].iter().flat_map(|it| &it.timeline.transfers).all(Transfer::is_nameless)
    {
        Some(BY_STREAM)
    } else {
        (first.vantage != other.vantage).then_some(SIDES)
    };
    let resources = if in_common == 0 { Vec::new() } else { alignment.by_weight(1) };
    let resources = resources.into_iter().map(|resource| ComparedResource {
        url: shorten(&resource.url, NAME_CHARACTERS),
        bytes: resource.bytes,
        runs: [resource.runs[0], resource.runs[1]],
        moved: resource.moved(1),
    });
    Difference { with, began_us, in_common, resources: resources.collect(), note }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qlog_tools::reader::{Detail, ReadOptions, read_traces};

    fn run(paths: &[&str]) -> Trace {
        let request = |(place, path): (usize, &&str)| {
            format!(
                r#"{{"time":{},"name":"http:frame_created","data":{{"stream_id":{},"frame":{{"frame_type":"headers","headers":[{{"name":":method","value":"GET"}},{{"name":":path","value":"{path}"}}]}}}}}}"#,
                5 + place,
                4 * place
            )
        };
        let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"client"}}}"#;
        let first = r#"{"time":2,"name":"transport:packet_sent","data":{}}"#;
        let requests: Vec<String> = paths.iter().enumerate().map(request).collect();
        let log = format!("{header}\n{first}\n{}", requests.join("\n"));
        let options = ReadOptions { detail: Detail::Events, vantage: None };
        read_traces("run", log.as_bytes(), options).unwrap().remove(0)
    }

    #[test]
    fn each_other_run_is_compared_with_the_first() {
        let runs = [run(&["/", "/a"]), run(&["/a", "/"]), run(&["/x"])];
        let all = differences(&runs);
        let told: Vec<(usize, usize, usize)> =
            all.iter().map(|it| (it.with, it.in_common, it.resources.len())).collect();
        assert_eq!(told, [(1, 2, 2), (2, 0, 0)]);
        assert_eq!((all[0].note, all[1].note), (None, Some(NOTHING_IN_COMMON)));
        let streams = all[0].resources[0].runs.map(|it| it.unwrap().stream);
        assert_eq!((&*all[0].resources[0].url, streams), ("/", [0, 4]));
        assert_eq!(all[0].began_us, [3000, 3000]);
    }

    #[test]
    fn one_run_has_no_differences() {
        assert_eq!(differences(&[run(&["/"])]), []);
    }
}
