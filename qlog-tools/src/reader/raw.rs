//! The events of a log one after another with their bodies, for converters. Traces are numbered as the
//! reader numbers them: in the order of their first events, connections with group IDs of their own each as one.

use std::collections::BTreeMap;
use std::io::Read;

use serde_json::Value;

use super::clock::Clock;
use super::event::Event;
use super::header::Header;
use super::http3::kept;
pub(crate) use super::names::EventKind;
use super::names::kind;
use super::reading::without_trailing_commas;
use super::{Given, ReadError, Sink, give};
use crate::limits;
use crate::trace::Vantage;

/// A trace's header, as every format can say it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) title: Option<String>,
    pub(crate) vantage: Vantage,
    /// The stack's name.
    pub(crate) name: Option<String>,
    pub(crate) connection: Option<String>,
    pub(crate) start: Option<String>,
}

/// A piece of a log.
pub(crate) enum Raw {
    /// The next trace begins; in a file without header the first begins by itself.
    Trace(Facts),
    /// An event.
    Event(RawEvent),
    /// A record that could not be read.
    Bad,
}

/// An event with its body.
pub(crate) struct RawEvent {
    /// Which trace it belongs to, from 0.
    pub(crate) trace: usize,
    /// Microseconds on the log's clock.
    pub(crate) time_us: u64,
    pub(crate) kind: EventKind,
    /// As the log has it, with its category.
    pub(crate) name: String,
    /// What qlog 0.1 gave beside the body.
    pub(crate) trigger: Option<String>,
    pub(crate) data: Value,
}

/// Gives each piece to `each` until it says no more. Returns the log's first bytes, for a message, and why reading
/// stopped in the middle, if it did.
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
    };
    let Given { begins, broken_off, .. } = give(file, input, &mut state)?;
    // A log without events has a header all the same.
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
    /// The first header's facts, while no event has come.
    first: Option<Facts>,
    /// Those of the current header, by group ID.
    connections: BTreeMap<Option<String>, Connection>,
    /// Traces so far.
    traces: usize,
}

#[derive(Clone)]
struct Connection {
    trace: usize,
    clock: Clock,
}

impl<F: FnMut(Raw) -> bool> Sink for State<F> {
    fn record(&mut self, bytes: &[u8]) {
        if Event::object(bytes).is_none()
            && let Some(header) = Header::of_record(bytes)
        {
            self.begin(&header);
        } else if self.event(bytes).is_none() {
            self.give(Raw::Bad);
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
        self.facts = Facts {
            title: header.title(),
            vantage: header.vantage(),
            name: header.stack().name,
            connection: header.connection(),
            start: header.start(),
        };
        if self.traces == 0 {
            self.first.get_or_insert_with(|| self.facts.clone());
        }
    }

    fn end(&mut self, _: &Header) {}

    fn is_full(&mut self) -> bool {
        !self.goes_on
    }
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
        let trace = connection.trace;
        self.connections.insert(group.clone(), connection);
        if is_new {
            self.traces += 1;
            let of_group = group.map(|it| it.to_ascii_lowercase());
            let connection = of_group.or_else(|| self.facts.connection.clone());
            self.give(Raw::Trace(Facts { connection, ..self.facts.clone() }));
        }
        self.give(Raw::Event(RawEvent {
            trace,
            time_us,
            kind: kind(&event.name),
            name: event.name.into_owned(),
            trigger: event.trigger.map(Into::into),
            data,
        }));
        Some(())
    }

    /// As many traces as the reader keeps; what is more belongs to the header's own.
    fn group(&self, event: &Event<'_>) -> Option<String> {
        let group = event.group.as_deref().map(kept);
        let has_room = self.traces < limits::TRACES;
        group.filter(|it| has_room || self.connections.contains_key(&Some(it.clone())))
    }
}
