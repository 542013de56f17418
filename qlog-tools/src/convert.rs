//! Rewrites a log of any generation as JSON text sequences of one schema, for viewers that support only one, and for
//! sharing a part of it or sharing it without names.

mod anonymise;
mod part;
mod schema;

use std::io::{self, Read, Write};

use serde_json::{Map, Value, json};

pub use crate::reader::raw::{Facts, facts_at_end};
use crate::reader::raw::{Raw, RawEvent, pieces};
use crate::reader::{ENDS_EARLY, ReadError, Unread};
use crate::trace::{self, Vantage};
use anonymise::Anonymiser;
use part::Place;
pub use part::{Cut, Part};

/// The format and the part to write.
#[derive(Debug, Clone, Default)]
pub struct Conversion {
    /// The schema.
    pub target: Target,
    /// Only this part; times are unchanged.
    pub part: Option<Part>,
    /// Removes names, addresses, identifiers and field values that identify people or pages.
    pub anonymise: bool,
    /// Which of the file's traces, from 0, in the order of their first events.
    pub trace: usize,
    /// The header fields after its events, as aioquic writes them, by [`facts_at_end`].
    pub ending: Option<Facts>,
    /// The side that wrote the log, overriding the log itself.
    pub vantage: Option<Vantage>,
}

/// A schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Target {
    /// draft-ietf-quic-qlog-main-schema-13 with quic-events-12 and h3-events-12: the schema that the crate `qlog` 0.18
    /// reads.
    #[default]
    Current,
    /// qlog 0.3 in JSON-SEQ with draft-02's event names: the schema that qvis reads.
    V03,
}

impl Target {
    /// As the header names it.
    fn format(self) -> &'static str {
        match self {
            Self::Current => "urn:ietf:params:qlog:file:sequential",
            Self::V03 => "0.3",
        }
    }
}

/// The result of a conversion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Converted {
    /// Events written.
    pub events: u64,
    /// The ones among them from before the part, which describe its streams.
    pub from_before: u64,
    /// Events outside the part.
    pub cut: u64,
    /// Records that could not be read.
    pub bad_records: u64,
    /// Traces in the file; one of them was written.
    pub traces: usize,
    /// Why reading stopped in the middle, if it did; everything before was written.
    pub broken_off: Option<&'static str>,
}

impl Converted {
    /// Whether nothing of the log is missing. If the logging program was stopped, everything that exists was written.
    pub fn is_whole(&self) -> bool {
        self.bad_records == 0 && self.broken_off.is_none_or(|why| why == ENDS_EARLY)
    }
}

/// Why a log was not written, or not completely.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The log cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The output cannot be written.
    #[error("{0}")]
    Write(#[from] io::Error),
    /// The file has fewer traces: its name, the requested trace (from 1), and their number.
    #[error("{0}: has no trace {1}, only {2}; `utmost qlog check` numbers them")]
    NoTrace(String, usize, usize),
}

/// Rewrites one trace, with memory for only one event.
pub fn convert(
    file: &str,
    input: impl Read,
    mut output: impl Write,
    conversion: &Conversion,
) -> Result<Converted, ConvertError> {
    let mut writer = Writer {
        conversion,
        done: Converted::default(),
        anonymiser: Anonymiser::default(),
        rtt_scale: 1.0,
        ack_delay_scale: 1.0,
    };
    let mut failure = None;
    let (begins, broken_off) = pieces(file, input, |raw| match writer.piece(raw, &mut output) {
        Ok(()) => true,
        Err(error) => {
            failure = Some(error);
            false
        }
    })?;
    if let Some(error) = failure {
        return Err(error.into());
    }
    let (wanted, Converted { traces, bad_records: records, .. }) =
        (conversion.trace + 1, writer.done);
    if traces == 0 {
        return Err(Unread::NotQlog(records, begins).of(file).into());
    }
    if traces < wanted {
        return Err(ConvertError::NoTrace(file.to_owned(), wanted, traces));
    }
    output.flush()?;
    Ok(Converted { broken_off, ..writer.done })
}

struct Writer<'a> {
    conversion: &'a Conversion,
    done: Converted,
    anonymiser: Anonymiser,
    /// From the log's unit of round-trip times to the one that a reader of the output assumes.
    rtt_scale: f64,
    ack_delay_scale: f64,
}

impl Writer<'_> {
    fn piece(&mut self, raw: Raw, output: &mut impl Write) -> io::Result<()> {
        match raw {
            Raw::Trace(facts) => {
                self.done.traces += 1;
                let is_wanted = self.done.traces == self.conversion.trace + 1;
                if is_wanted { self.header(facts, output) } else { Ok(()) }
            }
            Raw::Event(event) if event.trace == self.conversion.trace => self.event(event, output),
            Raw::Event(_) | Raw::TraceEnds(_) => Ok(()),
            Raw::Bad => {
                self.done.bad_records += 1;
                Ok(())
            }
        }
    }

    fn header(&mut self, before: Facts, output: &mut impl Write) -> io::Result<()> {
        let mut facts = match &self.conversion.ending {
            // Only events show when a log with absolute times began, and to whose connection it belongs.
            Some(ending) => {
                let mut facts = ending.clone();
                facts.connection = before.connection.or(facts.connection);
                facts.said.started_ms = before.said.started_ms.or(facts.said.started_ms);
                facts
            }
            None => before,
        };
        if let Some(vantage) = self.conversion.vantage {
            facts.vantage = vantage;
        }
        if self.conversion.anonymise {
            let said = &mut facts.said;
            (said.title, said.start, said.started_ms) = (None, None, None);
            said.stack = Anonymiser::stack(&said.stack);
            facts.connection = facts.connection.map(|id| self.anonymiser.identifier(&id));
        }
        let target = self.conversion.target;
        let begins_us = self.conversion.part.as_ref().and_then(Part::begins_us);
        facts.said.part_begins_us = facts.said.part_begins_us.max(begins_us);
        let written = schema::header(target, &facts);
        let of_output = trace::Header {
            format: Some(target.format().to_owned()),
            stack: facts.said.stack.clone(),
            ..trace::Header::default()
        };
        self.rtt_scale = facts.said.rtt_unit_ms() / of_output.rtt_unit_ms();
        self.ack_delay_scale =
            facts.said.ack_delay_unit_ms(None) / of_output.ack_delay_unit_ms(None);
        record(output, &written)
    }

    /// Writes an event. The header names its connection, so it needs no group ID.
    fn event(&mut self, mut raw: RawEvent, output: &mut impl Write) -> io::Result<()> {
        let part = self.conversion.part.as_ref();
        match part.map_or(Place::Inside, |part| part.place(&mut raw)) {
            Place::Outside => {
                self.done.cut += 1;
                return Ok(());
            }
            Place::Before => self.done.from_before += 1,
            Place::Inside => {}
        }
        let RawEvent { time_ms, name, trigger, data, .. } = raw;
        let target = self.conversion.target;
        let (name, mut data) = schema::event(target, &name, trigger.as_deref(), data);
        schema::scale_rtts(&mut data, self.rtt_scale);
        schema::scale_ack_delays(&mut data, self.ack_delay_scale);
        let (name, data) = if self.conversion.anonymise {
            self.anonymiser.event(name, data)
        } else {
            (name, data)
        };
        let mut event = Map::new();
        event.insert("time".to_owned(), json!(time_ms));
        event.insert("name".to_owned(), Value::String(name));
        event.insert("data".to_owned(), data);
        self.done.events += 1;
        record(output, &Value::Object(event))
    }
}

fn record(output: &mut impl Write, value: &Value) -> io::Result<()> {
    output.write_all(b"\x1e")?;
    serde_json::to_writer(&mut *output, value)?;
    output.write_all(b"\n")
}

#[cfg(test)]
mod tests;
