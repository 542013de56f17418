//! The events of a log one after another with their bodies, for converters. Traces are numbered as the
//! reader numbers them: in the order of their first events, connections with group IDs of their own each as one.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};

use serde_json::Value;

use super::clock::Clock;
use super::contained::{Contained, Piece};
use super::event::Event;
use super::header::Header;
use super::http3::kept;
pub(crate) use super::names::EventKind;
use super::names::kind;
use super::reading::without_trailing_commas;
use super::records::{Record, Records};
use super::sniff::{self, Sniffed};
use super::{ReadError, broken_off, unpack};
use crate::limits;
use crate::trace::{Container, Vantage};

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

/// How a log was read.
pub(crate) struct Ending {
    /// Its first bytes, for a message.
    pub(crate) begins: String,
    /// Why reading stopped in the middle, if it did.
    pub(crate) broken_off: Option<&'static str>,
}

/// Gives each piece to `each` until it says no more.
pub(crate) fn pieces(
    file: &str,
    input: impl Read,
    mut each: impl FnMut(Raw) -> bool,
) -> Result<Ending, ReadError> {
    let unreadable = |cause| ReadError::Unreadable { file: file.to_owned(), cause };
    let Sniffed { container, begins, is_empty, whole } =
        unpack::unpack(input).and_then(sniff::sniff).map_err(unreadable)?;
    if is_empty {
        return Err(ReadError::Empty { file: file.to_owned() });
    }
    let input = BufReader::with_capacity(1 << 16, whole);
    let mut state = State::default();
    let end = if container == Container::Contained {
        of_document(&mut state, Contained::new(input), &mut each)
    } else {
        of_sequence(&mut state, Records::new(input).map_err(unreadable)?, &mut each)
    };
    if let Some(header) = state.only_header() {
        each(Raw::Trace(header));
    }
    Ok(Ending { begins, broken_off: end.err().as_ref().map(broken_off) })
}

fn of_document(
    state: &mut State,
    mut contained: Contained<impl BufRead>,
    each: &mut impl FnMut(Raw) -> bool,
) -> io::Result<()> {
    while let Some(piece) = contained.next()? {
        let goes_on = match piece {
            Piece::Event(bytes) => state.contained_event(bytes, each),
            Piece::TooLong => each(Raw::Bad),
            Piece::TraceBegins { file, trace } => {
                state.begin(&Header::of_trace(file, trace));
                true
            }
            Piece::TraceEnds { .. } => true,
        };
        if !goes_on {
            return Ok(());
        }
    }
    if contained.is_closed() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn of_sequence(
    state: &mut State,
    mut records: Records<impl BufRead>,
    each: &mut impl FnMut(Raw) -> bool,
) -> io::Result<()> {
    while let Some(record) = records.next()? {
        let goes_on = match record {
            Record::Whole(bytes) => state.record(bytes, each),
            Record::TooLong => each(Raw::Bad),
        };
        if !goes_on {
            break;
        }
    }
    Ok(())
}

#[derive(Default)]
struct State {
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

impl State {
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

    /// The header of a log without events.
    fn only_header(&mut self) -> Option<Facts> {
        self.first.take().filter(|_| self.traces == 0)
    }

    fn record(&mut self, bytes: &[u8], each: &mut impl FnMut(Raw) -> bool) -> bool {
        if Event::object(bytes).is_none()
            && let Some(header) = Header::of_record(bytes)
        {
            self.begin(&header);
            return true;
        }
        self.event(bytes, each).unwrap_or_else(|| each(Raw::Bad))
    }

    fn contained_event(&mut self, bytes: &[u8], each: &mut impl FnMut(Raw) -> bool) -> bool {
        let goes_on =
            self.event(bytes, each).or_else(|| self.event(&without_trailing_commas(bytes), each));
        goes_on.unwrap_or_else(|| each(Raw::Bad))
    }

    /// `None` if it cannot be read.
    fn event(&mut self, bytes: &[u8], each: &mut impl FnMut(Raw) -> bool) -> Option<bool> {
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
            if !each(Raw::Trace(Facts { connection, ..self.facts.clone() })) {
                return Some(false);
            }
        }
        Some(each(Raw::Event(RawEvent {
            trace,
            time_us,
            kind: kind(&event.name),
            name: event.name.into_owned(),
            trigger: event.trigger.map(Into::into),
            data,
        })))
    }

    /// As many traces as the reader keeps; what is more belongs to the header's own.
    fn group(&self, event: &Event<'_>) -> Option<String> {
        let group = event.group.as_deref().map(kept);
        let has_room = self.traces < limits::TRACES;
        group.filter(|it| has_room || self.connections.contains_key(&Some(it.clone())))
    }
}
