//! Restores the scheduler of a server's log at any time by repeating its calls.
//!
//! A scheduler is a pure function of the calls made to it, and our server logs each of them (`utmost:scheduler`), after the
//! name of its scheme. So its tree at any time can be restored without a record; that the replay's picks match the log
//! proves each one.

use std::collections::BTreeMap;

use schedulers::{
    Call, Catalogue, Element, Kind, PageGraph, Scheduler, Scheme, Signal, Snapshot, StreamId,
};

use crate::trace::{SchedulerCall, Trace};

/// A scheduler that repeats a log's calls, in chronological order.
#[derive(Debug)]
pub struct Replay<'a> {
    trace: &'a Trace,
    page: Option<&'a PageGraph>,
    /// The schemes that the log can name.
    catalogue: Catalogue,
    /// The scheme and its scheduler, once known.
    ordering: Option<(Scheme, Scheduler)>,
    /// The next call to repeat.
    next: usize,
}

/// A change of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeChange {
    /// It sent.
    Sent,
    /// It was sent whole.
    Closed,
    /// Its request arrived.
    Opened,
    /// It has something to send.
    Ready,
    /// A client said something about it.
    Signalled,
}

/// The kind of each stream's resource, according to the log.
pub fn kinds(trace: &Trace) -> BTreeMap<Element, Kind> {
    let kinds = trace.scheduler_calls().iter().filter_map(|call| match &call.call {
        Ok(Call::Open(stream, resource)) => Some((Element::Stream(*stream), resource.kind)),
        _ => None,
    });
    kinds.collect()
}

/// The time of the first call after which the most streams are ready; `None` without calls.
pub fn busiest_us(trace: &Trace) -> Option<u64> {
    let mut ready = std::collections::BTreeSet::new();
    let mut busiest: Option<(usize, u64)> = None;
    for call in trace.scheduler_calls() {
        match call.call {
            Ok(Call::SetReady(stream, true)) => {
                ready.insert(stream);
            }
            Ok(Call::SetReady(stream, false) | Call::Close(stream)) => {
                ready.remove(&stream);
            }
            _ => {}
        }
        if busiest.is_none_or(|(most, _)| ready.len() > most) {
            busiest = Some((ready.len(), call.time_us));
        }
    }
    busiest.map(|(_, time_us)| time_us)
}

/// The requests, responses and signals in the log after `after_us` and up to `until_us`.
pub fn tree_changes(
    trace: &Trace,
    after_us: Option<u64>,
    until_us: u64,
) -> Vec<(TreeChange, Element)> {
    let mut changes = Vec::new();
    for SchedulerCall { time_us, call } in trace.scheduler_calls() {
        if *time_us > until_us || after_us.is_some_and(|after_us| *time_us <= after_us) {
            continue;
        }
        changes.push(match *call {
            Ok(Call::Open(stream, _)) => (TreeChange::Opened, Element::Stream(stream)),
            Ok(Call::SetReady(stream, true)) => (TreeChange::Ready, Element::Stream(stream)),
            Ok(Call::Close(stream)) => (TreeChange::Closed, Element::Stream(stream)),
            Ok(Call::Signal(signal)) => {
                let element = match signal {
                    Signal::Depend { element, .. } => element,
                    Signal::Extensible { stream, .. } | Signal::Bucket { stream, .. } => {
                        Element::Stream(stream)
                    }
                };
                (TreeChange::Signalled, element)
            }
            _ => continue,
        });
    }
    changes
}

impl<'a> Replay<'a> {
    /// The state before the first call. `scheme`: the scheme until the log names one; `page`: the served page, for schemes
    /// that look ahead in it. An error says that there are no calls, or what is wrong with one.
    pub fn new(
        trace: &'a Trace,
        scheme: Option<Scheme>,
        page: Option<&'a PageGraph>,
    ) -> Result<Self, String> {
        if trace.scheduler_calls().is_empty() {
            return Err(format!(
                "{}: no scheduler calls (utmost:scheduler): this needs a log of `utmost serve --qlog`",
                trace.file
            ));
        }
        let catalogue = Catalogue::default();
        let mut replay = Self { trace, page, catalogue, ordering: None, next: 0 };
        if let Some(scheme) = scheme {
            replay.start(scheme).map_err(|cause| replay.error(0, &cause))?;
        }
        Ok(replay)
    }

    /// The same for logs that may also name the user's own schemes.
    #[must_use]
    pub fn knowing(self, catalogue: Catalogue) -> Self {
        Self { catalogue, ..self }
    }

    /// The scheme and its tree after all calls up to `time_us`; `None` before the first. An earlier time than the last
    /// gives the last result again.
    pub fn tree_at(&mut self, time_us: u64) -> Result<Option<(&Scheme, Snapshot)>, String> {
        let trace = self.trace;
        while let Some(call) = trace.scheduler_calls().get(self.next)
            && call.time_us <= time_us
        {
            self.make(call).map_err(|cause| self.error(call.time_us, &cause))?;
            self.next += 1;
        }
        Ok(self.ordering.as_ref().map(|(scheme, scheduler)| (scheme, scheduler.tree())))
    }

    fn error(&self, time_us: u64, cause: &str) -> String {
        format!("{}: at {} ms: {cause}", self.trace.file, time_us as f64 / 1000.0)
    }

    fn start(&mut self, scheme: Scheme) -> Result<(), String> {
        let scheme = match self.page {
            Some(page) => scheme.for_page(page),
            None => scheme,
        };
        let scheduler = Scheduler::build(&scheme).map_err(|error| error.to_string())?;
        self.ordering = Some((scheme, scheduler));
        Ok(())
    }

    fn make(&mut self, call: &SchedulerCall) -> Result<(), String> {
        let call = call.call.as_ref().map_err(Clone::clone)?;
        if let Call::Start { scheme, in_group } = call {
            // Another scheduler takes over; the following calls tell it about responses in progress.
            if *in_group {
                let cause = "from here on several connections are ordered as one, and their calls are in several logs";
                return Err(cause.to_owned());
            }
            let scheme = self.catalogue.find_for_page(scheme).map_err(|error| error.to_string())?;
            return self.start(scheme);
        }
        let Some((_, scheduler)) = &mut self.ordering else {
            return Err("the log does not name its scheme: name it".to_owned());
        };
        if let Call::Pick(picked) = call {
            return check_pick(scheduler, *picked);
        }
        call.make(scheduler);
        Ok(())
    }
}

/// A different pick indicates another scheme, another revision of it, or missing calls.
fn check_pick(scheduler: &Scheduler, logged: Option<StreamId>) -> Result<(), String> {
    let picked = scheduler.pick();
    if picked == logged {
        return Ok(());
    }
    let [logged, picked] = [logged, picked]
        .map(|stream| stream.map_or("nobody".to_owned(), |it| format!("stream {}", it.0)));
    Err(format!(
        "the log picked {logged}, this scheme picks {picked}: another scheme ran, or calls are missing"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"
{"time":0,"name":"utmost:scheme","data":{"name":"tree","in_group":false}}
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

    fn trees(log: &str, scheme: Option<&str>, times_ms: &[u64]) -> Result<Vec<String>, String> {
        let trace = trace(log);
        let scheme = scheme.map(|it| schedulers::find_page_scheme(it).unwrap());
        let mut replay = Replay::new(&trace, scheme, None)?;
        let mut text = |time_ms: &u64| match replay.tree_at(1000 * time_ms) {
            Ok(tree) => {
                Ok(tree.map_or("-".to_owned(), |(scheme, it)| format!("{}: {it}", scheme.name)))
            }
            Err(error) => Err(error),
        };
        times_ms.iter().map(&mut text).collect()
    }

    #[test]
    fn the_tree_of_any_time_is_that_after_the_calls_before() {
        assert_eq!(
            trees(LOG, None, &[2, 5, 9]).unwrap(),
            [
                "tree: root 100%\n  orphans (16) 100%\n    stream 0 (16) 50%\n    stream 4 (16) 50%\n",
                "tree: root 100%\n  stream 4 (8) 100%\n  orphans (16) 0%\n    stream 0 (16) 0%\n",
                "tree: root 100%\n  orphans (16) 100%\n    stream 0 (16) 100%\n",
            ]
        );
    }

    #[test]
    fn a_scheme_that_takes_over_begins_with_what_it_is_told() {
        let taken_over = format!(
            "{}{}",
            LOG.trim_end(),
            r#"
{"time":8,"name":"utmost:scheme","data":{"name":"fifo","in_group":false}}
{"time":8,"name":"utmost:scheduler","data":{"op":"opened","stream":0,"resource":{"kind":"css"}}}
"#
        );
        assert_eq!(trees(&taken_over, None, &[9]).unwrap(), ["fifo: root\n  stream 0 (16)\n"]);
        let in_group =
            taken_over.replace("\"fifo\",\"in_group\":false", "\"fifo\",\"in_group\":true");
        assert!(trees(&in_group, None, &[7]).is_ok());
        assert_eq!(
            trees(&in_group, None, &[9]).unwrap_err(),
            "a.sqlog: at 8 ms: from here on several connections are ordered as one, and their calls are in several logs"
        );
    }

    #[test]
    fn a_log_that_does_not_say_who_orders_needs_to_be_told() {
        let silent = LOG.trim().split_once('\n').unwrap().1;
        assert_eq!(
            trees(silent, None, &[9]).unwrap_err(),
            "a.sqlog: at 1 ms: the log does not name its scheme: name it"
        );
        assert_eq!(
            trees(silent, Some("srpt"), &[9]).unwrap_err(),
            "a.sqlog: at 6 ms: the log picked stream 4, this scheme picks stream 0: another scheme ran, or calls are missing"
        );
        assert_eq!(trees(silent, Some("tree"), &[0]).unwrap(), ["tree: root\n  orphans (16)\n"]);
    }

    #[test]
    fn a_call_that_cannot_be_made_is_an_error_that_says_when() {
        let bad = LOG.replace("\"parent\":\"root\"", "\"parent\":\"heaven\"");
        assert_eq!(
            trees(&bad, None, &[9]).unwrap_err(),
            "a.sqlog: at 5 ms: `heaven` is not an element: use `root`, `placeholder N` or `stream N`"
        );
        let error = trees("{\"time\":0,\"name\":\"a:b\",\"data\":{}}", None, &[9]).unwrap_err();
        assert!(error.starts_with("a.sqlog: no scheduler calls"), "{error}");
    }

    #[test]
    fn the_busiest_moment_is_the_first_with_most_streams_ready() {
        assert_eq!(busiest_us(&trace(LOG)), Some(2000));
        let kinds: Vec<Kind> = kinds(&trace(LOG)).into_values().collect();
        assert_eq!(kinds, [Kind::Css, Kind::Image]);
    }
}
