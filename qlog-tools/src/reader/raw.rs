//! The events of a log one after another with their bodies, for converters. Traces are numbered as in the reader: in the
//! order of their first events, where each connection with its own group ID counts as one.

use std::collections::BTreeMap;
use std::io::Read;

use serde_json::Value;

use super::clock::Clock;
use super::damaged::{breaks_off, without_trailing_commas};
use super::event::Event;
use super::header::Header;
use super::http3::kept;
pub(crate) use super::names::EventKind;
use super::names::kind;
use super::{ENDS_EARLY, Given, ReadError, Sink, give};
use crate::limits;
use crate::trace::{self, Vantage};

/// The field of a trace's header with the time at which a part of a log begins.
pub(crate) const PART_BEGINS_US: &str = "part_begins_us";

/// A trace's header, in a form common to all formats.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub(crate) said: trace::Header,
    pub(crate) vantage: Vantage,
    pub(crate) connection: Option<String>,
}

pub(crate) enum Raw {
    /// The next trace begins; in a file without a header, the first begins implicitly.
    Trace(Facts),
    Event(RawEvent),
    /// A trace of a document ends; its header with the fields after the events.
    TraceEnds(Facts),
    /// A record that could not be read.
    Bad,
}

/// An event with its body.
pub(crate) struct RawEvent {
    /// Its trace, from 0.
    pub(crate) trace: usize,
    /// Microseconds on the log's clock.
    pub(crate) time_us: u64,
    /// The same in ms, with all digits that the log has.
    pub(crate) time_ms: f64,
    pub(crate) kind: EventKind,
    /// As logged, with its category.
    pub(crate) name: String,
    /// The trigger, which qlog 0.1 wrote beside the body.
    pub(crate) trigger: Option<String>,
    pub(crate) data: Value,
}

/// Passes each piece to `each` until it returns false. Returns the log's first bytes, for a message, and why reading stopped
/// in the middle, if it did.
pub(crate) fn pieces(
    file: &str,
    input: impl Read,
    each: impl FnMut(Raw) -> bool,
) -> Result<(String, Option<&'static str>), ReadError> {
    let mut state = State {
        each,
        goes_on: true,
        clock: Clock::default(),
        fields: Vec::new(),
        facts: Facts::default(),
        first: None,
        connections: BTreeMap::new(),
        traces: 0,
        breaks_off: false,
    };
    let Given { begins, mut broken_off, .. } = give(file, input, &mut state)?;
    if state.breaks_off {
        broken_off = Some(ENDS_EARLY);
    }
    // A log without events still has a header.
    if let (Some(header), 0) = (state.first.take(), state.traces) {
        state.give(Raw::Trace(header));
    }
    Ok((begins, broken_off))
}

struct State<F> {
    each: F,
    /// Whether `each` wants more.
    goes_on: bool,
    clock: Clock,
    fields: Vec<String>,
    facts: Facts,
    /// The first header's facts, until an event arrives.
    first: Option<Facts>,
    /// The connections of the current header, by group ID.
    connections: BTreeMap<Option<String>, Connection>,
    traces: usize,
    /// Whether the last record is truncated JSON. Unless it is the file's last, it is bad.
    breaks_off: bool,
}

#[derive(Clone)]
struct Connection {
    trace: usize,
    clock: Clock,
}

impl<F: FnMut(Raw) -> bool> Sink for State<F> {
    fn record(&mut self, bytes: &[u8]) {
        if std::mem::take(&mut self.breaks_off) {
            self.give(Raw::Bad);
        }
        if Event::object(bytes).is_none()
            && let Some(header) = Header::of_record(bytes)
        {
            self.begin(&header);
        } else if self.event(bytes).is_none() {
            self.breaks_off = breaks_off(bytes);
            if !self.breaks_off {
                self.give(Raw::Bad);
            }
        }
    }

    fn contained_event(&mut self, bytes: &[u8]) {
        if self.event(bytes).or_else(|| self.event(&without_trailing_commas(bytes))).is_none() {
            self.give(Raw::Bad);
        }
    }

    fn too_long(&mut self) {
        self.give(Raw::Bad);
    }

    fn begin(&mut self, header: &Header) {
        self.clock = header.clock();
        self.fields = header.event_fields();
        self.connections.clear();
        self.facts = facts(header);
        if self.traces == 0 {
            self.first.get_or_insert_with(|| self.facts.clone());
        }
    }

    fn end(&mut self, header: &Header) {
        self.give(Raw::TraceEnds(facts(header)));
    }

    fn is_full(&mut self) -> bool {
        !self.goes_on
    }

    fn repair(&mut self, _: &'static str) {}
}

fn facts(header: &Header) -> Facts {
    Facts { said: header.said(), vantage: header.vantage(), connection: header.connection() }
}

/// The facts of trace `trace` (from 0) whose header fields follow its events, where aioquic writes the side. `None` if all
/// precede them, or there are none.
pub fn facts_at_end(
    file: &str,
    input: impl Read,
    trace: usize,
) -> Result<Option<Facts>, ReadError> {
    let (mut traces, mut found) = (0, None);
    pieces(file, input, |raw| match raw {
        Raw::Trace(facts) => {
            traces += 1;
            !(traces == trace + 1 && facts.vantage != Vantage::Unknown)
        }
        Raw::TraceEnds(facts) if traces == trace + 1 => {
            found = Some(facts);
            false
        }
        _ => traces <= trace + 1,
    })?;
    Ok(found.filter(|it| it.vantage != Vantage::Unknown))
}

impl<F: FnMut(Raw) -> bool> State<F> {
    fn give(&mut self, raw: Raw) {
        self.goes_on = self.goes_on && (self.each)(raw);
    }

    /// `None` if it cannot be read.
    fn event(&mut self, bytes: &[u8]) -> Option<()> {
        let event = if bytes.starts_with(b"[") {
            Event::array(bytes, &self.fields)
        } else {
            Event::object(bytes)
        };
        let event = event?;
        let data = serde_json::from_slice(event.data).ok()?;
        let group = self.group(&event);
        let known = self.connections.get(&group).cloned();
        let is_new = known.is_none();
        let mut connection =
            known.unwrap_or_else(|| Connection { trace: self.traces, clock: self.clock.clone() });
        let (time_us, _) = connection.clock.normalize(event.time)?;
        let (trace, known_clock) = (connection.trace, connection.clock.clone());
        self.connections.insert(group.clone(), connection);
        if is_new {
            self.traces += 1;
            let mut facts = self.facts.clone();
            facts.connection = group.map(|it| it.to_ascii_lowercase()).or(facts.connection);
            facts.said.started_ms = known_clock.origin_ms().or(facts.said.started_ms);
            self.give(Raw::Trace(facts));
        }
        self.give(Raw::Event(RawEvent {
            trace,
            time_us,
            time_ms: known_clock.now_ms,
            kind: kind(&event.name),
            name: event.name.into_owned(),
            trigger: event.trigger.map(Into::into),
            data,
        }));
        Some(())
    }

    /// The group of an event, for as many traces as the reader keeps; others belong to the header's own.
    fn group(&self, event: &Event<'_>) -> Option<String> {
        let group = event.group.as_deref().map(kept);
        let has_room = self.traces < limits::TRACES;
        group.filter(|it| has_room || self.connections.contains_key(&Some(it.clone())))
    }
}
