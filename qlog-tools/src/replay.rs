//! The scheduler of a server's log at any time: its calls made again.
//!
//! A scheduler is a pure function of the calls made to it, and our server logs each of them (`utmost:scheduler`), after the
//! name of its scheme. So its tree at any time needs no record of its own; that the replay picks what the log picked
//! proves each.

use std::collections::BTreeMap;

use schedulers::{
    Element, Kind, Resource, Scheduler, Scheme, SchemeError, Signal, Snapshot, StreamId,
};
use serde::Deserialize;

use crate::reader::{SchedulerCall, SchedulerOp, Trace};

/// A scheduler that is told what a log tells, in the order of time.
#[derive(Debug)]
pub struct Replay<'a> {
    scheduler: Scheduler,
    calls: &'a [SchedulerCall],
    /// The first call that has not been made.
    next: usize,
}

/// Why a log's scheduler cannot be made again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The log has none.
    #[error(
        "{file}: no calls of a scheduler (utmost:scheduler): it needs the log of `utmost serve --qlog`"
    )]
    NoCalls {
        /// The log.
        file: String,
    },
    /// The scheme cannot run.
    #[error("{0}")]
    Scheme(#[from] SchemeError),
    /// A call that says something impossible.
    #[error("{file}: at {time_ms} ms: {cause}")]
    Call {
        /// The log.
        file: String,
        /// The time of the call.
        time_ms: f64,
        /// What is wrong with it.
        cause: String,
    },
}

/// The scheme that the log names, with what followed its name.
pub fn scheme_name(trace: &Trace) -> Option<&str> {
    trace.scheduler_calls.iter().find_map(|it| it.scheme.as_deref())
}

/// What the log tells of a stream's resource.
pub fn kinds(trace: &Trace) -> BTreeMap<Element, Kind> {
    let opened = trace.scheduler_calls.iter().filter(|it| it.op == SchedulerOp::Opened);
    let kind =
        |it: &SchedulerCall| Some((Element::Stream(StreamId(it.stream?)), resource(it).ok()?.kind));
    opened.filter_map(kind).collect()
}

/// The time of the first call after which most streams are ready; `None` without calls.
pub fn busiest_us(trace: &Trace) -> Option<u64> {
    let mut ready = std::collections::BTreeSet::new();
    let mut busiest: Option<(usize, u64)> = None;
    for call in &trace.scheduler_calls {
        match call.op {
            SchedulerOp::Ready => {
                ready.insert(call.stream);
            }
            SchedulerOp::Blocked | SchedulerOp::Closed => {
                ready.remove(&call.stream);
            }
            _ => {}
        }
        if busiest.is_none_or(|(most, _)| ready.len() > most) {
            busiest = Some((ready.len(), call.time_us));
        }
    }
    busiest.map(|(_, time_us)| time_us)
}

impl<'a> Replay<'a> {
    /// The scheduler of `trace` before its first call; `scheme` is the one that ran.
    pub fn new(trace: &'a Trace, scheme: &Scheme) -> Result<Self, ReplayError> {
        if trace.scheduler_calls.is_empty() {
            return Err(ReplayError::NoCalls { file: trace.file.clone() });
        }
        let scheduler = Scheduler::build(scheme)?;
        Ok(Self { scheduler, calls: &trace.scheduler_calls, next: 0 })
    }

    /// The tree after all calls up to `time_us`. Earlier than the time before: the same tree again.
    pub fn tree_at(&mut self, trace: &Trace, time_us: u64) -> Result<Snapshot, ReplayError> {
        while let Some(call) = self.calls.get(self.next).filter(|it| it.time_us <= time_us) {
            self.make(call).map_err(|cause| ReplayError::Call {
                file: trace.file.clone(),
                time_ms: call.time_us as f64 / 1000.0,
                cause,
            })?;
            self.next += 1;
        }
        Ok(self.scheduler.tree())
    }

    fn make(&mut self, call: &SchedulerCall) -> Result<(), String> {
        let stream =
            || call.stream.map(StreamId).ok_or_else(|| format!("{:?} of no stream", call.op));
        match call.op {
            SchedulerOp::Started => {}
            SchedulerOp::Opened => self.scheduler.open(stream()?, &resource(call)?),
            SchedulerOp::Signalled => self.scheduler.signal(signal(call)?),
            SchedulerOp::Ready => self.scheduler.set_ready(stream()?, true),
            SchedulerOp::Blocked => self.scheduler.set_ready(stream()?, false),
            SchedulerOp::Sent => self.scheduler.sent(stream()?, call.bytes.unwrap_or(0)),
            SchedulerOp::Closed => self.scheduler.close(stream()?),
            SchedulerOp::Picked => return self.check_pick(call.stream),
        }
        Ok(())
    }

    /// Another pick is the sign of another scheme, another revision of it, or of calls that are missing.
    fn check_pick(&self, logged: Option<u64>) -> Result<(), String> {
        let picked = self.scheduler.pick().map(|it| it.0);
        if picked == logged {
            return Ok(());
        }
        let name = |it: Option<u64>| it.map_or("nobody".to_owned(), |it| format!("stream {it}"));
        Err(format!(
            "the log picked {}, this scheme picks {}: another scheme ran, or calls are missing",
            name(logged),
            name(picked)
        ))
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "as logged")]
struct LoggedResource {
    id: Option<usize>,
    kind: String,
    main: bool,
    in_head: bool,
    critical: bool,
    above_fold: bool,
    after_first_image: bool,
    r#async: bool,
    defer: bool,
    preload: bool,
    urgency: Option<u8>,
    incremental: Option<bool>,
    body_bytes: Option<u64>,
}

fn resource(call: &SchedulerCall) -> Result<Resource, String> {
    let text = call.resource.as_deref().unwrap_or("{}");
    let logged: LoggedResource =
        serde_json::from_str(text).map_err(|error| format!("resource: {error}"))?;
    Ok(Resource {
        id: logged.id,
        kind: kind(&logged.kind),
        main: logged.main,
        in_head: logged.in_head,
        critical: logged.critical,
        above_fold: logged.above_fold,
        after_first_image: logged.after_first_image,
        asynchronous: logged.r#async,
        deferred: logged.defer,
        preload: logged.preload,
        browser: logged.urgency.zip(logged.incremental),
        body_bytes: logged.body_bytes,
    })
}

fn kind(name: &str) -> Kind {
    const KINDS: [Kind; 7] =
        [Kind::Html, Kind::Css, Kind::Js, Kind::Font, Kind::Image, Kind::Media, Kind::Xhr];
    let named = KINDS.into_iter().find(|it| crate::figures::kind_name(*it) == name);
    named.unwrap_or(Kind::Other)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum LoggedSignal {
    Extensible { urgency: u8, incremental: bool },
    Depend { element: String, parent: String, weight: u16, exclusive: bool },
    Bucket { bucket: u8 },
}

fn signal(call: &SchedulerCall) -> Result<Signal, String> {
    let text = call.signal.as_deref().ok_or("a signal that says nothing")?;
    let logged = serde_json::from_str(text).map_err(|error| format!("signal: {error}"))?;
    let stream = || call.stream.map(StreamId).ok_or("a signal about no stream");
    Ok(match logged {
        LoggedSignal::Extensible { urgency, incremental } => {
            Signal::Extensible { stream: stream()?, urgency, incremental }
        }
        LoggedSignal::Bucket { bucket } => Signal::Bucket { stream: stream()?, byte: bucket },
        LoggedSignal::Depend { element, parent, weight, exclusive } => {
            let node = |text: &str| text.parse::<Element>().map_err(|error| error.to_string());
            Signal::Depend { element: node(&element)?, parent: node(&parent)?, weight, exclusive }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedulers::find_scheme;

    const LOG: &str = r#"
{"time":0,"name":"utmost:scheduler","data":{"op":"started","scheme":"tree","revision":1}}
{"time":1,"name":"utmost:scheduler","data":{"op":"opened","stream":0,"resource":{"kind":"css"}}}
{"time":1,"name":"utmost:scheduler","data":{"op":"opened","stream":4,"resource":{"kind":"image"}}}
{"time":2,"name":"utmost:scheduler","data":{"op":"ready","stream":0}}
{"time":2,"name":"utmost:scheduler","data":{"op":"ready","stream":4}}
{"time":5,"name":"utmost:scheduler","data":{"op":"signalled","stream":4,"signal":{"element":"stream 4","parent":"root","weight":8,"exclusive":false}}}
{"time":6,"name":"utmost:scheduler","data":{"op":"picked","stream":4}}
{"time":6,"name":"utmost:scheduler","data":{"op":"sent","stream":4,"bytes":1400}}
{"time":7,"name":"utmost:scheduler","data":{"op":"closed","stream":4}}
"#;

    fn trace(log: &str) -> Trace {
        crate::reader::read("a.sqlog", log.trim().as_bytes()).unwrap()
    }

    fn trees(log: &str, scheme: &str, times_ms: &[u64]) -> Result<Vec<String>, String> {
        let trace = trace(log);
        let mut replay = Replay::new(&trace, &find_scheme(scheme).unwrap()).unwrap();
        let at = |it: &u64| replay.tree_at(&trace, 1000 * it);
        let trees: Result<Vec<Snapshot>, _> = times_ms.iter().map(at).collect();
        trees.map(|it| it.iter().map(ToString::to_string).collect()).map_err(|it| it.to_string())
    }

    #[test]
    fn the_tree_of_any_time_is_that_after_the_calls_before() {
        assert_eq!(scheme_name(&trace(LOG)), Some("tree"));
        let trees = trees(LOG, "tree", &[2, 5, 9]).unwrap();
        assert_eq!(
            trees,
            [
                "root 100%\n  orphans (16) 100%\n    stream 0 (16) 50%\n    stream 4 (16) 50%\n",
                "root 100%\n  stream 4 (8) 100%\n  orphans (16) 0%\n    stream 0 (16) 0%\n",
                "root 100%\n  orphans (16) 100%\n    stream 0 (16) 100%\n",
            ]
        );
    }

    #[test]
    fn a_replay_that_picks_another_stream_is_an_error() {
        assert_eq!(
            trees(LOG, "fifo", &[9]).unwrap_err(),
            "a.sqlog: at 6 ms: the log picked stream 4, this scheme picks stream 0: another scheme ran, or calls are missing"
        );
    }

    #[test]
    fn a_call_that_cannot_be_made_is_an_error_that_says_when() {
        let bad = LOG.replace("\"parent\":\"root\"", "\"parent\":\"heaven\"");
        assert_eq!(
            trees(&bad, "tree", &[9]).unwrap_err(),
            "a.sqlog: at 5 ms: `heaven` is no element: use `root`, `placeholder N` or `stream N`"
        );
        let other = trace("{\"time\":0,\"name\":\"a:b\",\"data\":{}}");
        let error = Replay::new(&other, &find_scheme("rr").unwrap());
        assert!(error.unwrap_err().to_string().starts_with("a.sqlog: no calls of a scheduler"));
    }

    #[test]
    fn the_busiest_moment_is_the_first_with_most_streams_ready() {
        assert_eq!(busiest_us(&trace(LOG)), Some(2000));
        let kinds: Vec<Kind> = kinds(&trace(LOG)).into_values().collect();
        assert_eq!(kinds, [Kind::Css, Kind::Image]);
    }
}
