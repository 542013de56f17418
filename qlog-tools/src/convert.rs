//! Rewrites a log of any generation as JSON text sequences of one schema: for viewers that read
//! one only, and to cut out or take names off what is to be shown to others.

mod anonymise;
mod schema;

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::ops::Range;

use serde_json::{Map, Value, json};

use crate::reader::ReadError;
use crate::reader::raw::{Facts, Raw, pieces};
use anonymise::Anonymiser;

/// What to write.
#[derive(Debug, Clone, Default)]
pub struct Conversion {
    /// The schema.
    pub target: Target,
    /// Events of this time only, in microseconds on the log's clock; times stay as they are.
    pub time_us: Option<Range<u64>>,
    /// Of the streams only these; other events than those of streams stay.
    pub streams: Option<BTreeSet<u64>>,
    /// Takes off names, addresses, identifiers and field values that say who talked of what.
    pub anonymise: bool,
    /// Which of the file's traces, from 0.
    pub trace: usize,
}

/// A schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Target {
    /// draft-ietf-quic-qlog-main-schema-13 with quic-events-12 and h3-events-12: what the crate
    /// `qlog` 0.18 reads.
    #[default]
    Current,
    /// qlog 0.3 in JSON-SEQ with draft-02's event names: what qvis reads.
    V03,
}

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Converted {
    /// Events written.
    pub events: u64,
    /// Events cut away.
    pub cut: u64,
    /// Records that could not be read.
    pub bad_records: u64,
    /// Traces in the file; one of them was written.
    pub traces: usize,
}

/// Why nothing, or not all, was written.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The log cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The output cannot be written.
    #[error("{0}")]
    Write(#[from] io::Error),
    /// There are not so many traces.
    #[error("{file}: no trace {wanted} in it, only {traces}")]
    NoTrace {
        /// Which file.
        file: String,
        /// Which trace, from 1.
        wanted: usize,
        /// How many there are.
        traces: usize,
    },
}

/// Rewrites one trace; memory is that of one event.
pub fn convert(
    file: &str,
    input: impl Read,
    mut output: impl Write,
    conversion: &Conversion,
) -> Result<Converted, ConvertError> {
    let mut writer = Writer {
        conversion,
        done: Converted::default(),
        has_header: false,
        anonymiser: Anonymiser::default(),
    };
    let mut failure = None;
    let begins = pieces(file, input, |raw| match writer.piece(raw, &mut output) {
        Ok(()) => true,
        Err(error) => {
            failure = Some(error);
            false
        }
    })?;
    if let Some(error) = failure {
        return Err(error.into());
    }
    if writer.done.traces == 0 {
        let (file, records) = (file.to_owned(), writer.done.bad_records);
        return Err(ReadError::NotQlog { file, records, begins }.into());
    }
    if !writer.has_header {
        let (wanted, traces) = (conversion.trace + 1, writer.done.traces);
        return Err(ConvertError::NoTrace { file: file.to_owned(), wanted, traces });
    }
    output.flush()?;
    Ok(writer.done)
}

struct Writer<'a> {
    conversion: &'a Conversion,
    done: Converted,
    has_header: bool,
    anonymiser: Anonymiser,
}

impl Writer<'_> {
    fn piece(&mut self, raw: Raw, output: &mut impl Write) -> io::Result<()> {
        match raw {
            Raw::Trace(facts) => {
                self.done.traces += 1;
                if self.is_wanted() { self.header(facts, output) } else { Ok(()) }
            }
            Raw::Event { time_us, name, trigger, data, group } => {
                if self.done.traces == 0 {
                    self.piece(Raw::Trace(Facts::default()), output)?;
                }
                if !self.is_wanted() {
                    return Ok(());
                }
                self.event(time_us, &name, trigger.as_deref(), data, group, output)
            }
            Raw::Bad => {
                self.done.bad_records += 1;
                Ok(())
            }
        }
    }

    fn is_wanted(&self) -> bool {
        self.done.traces == self.conversion.trace + 1
    }

    fn header(&mut self, mut facts: Facts, output: &mut impl Write) -> io::Result<()> {
        self.has_header = true;
        if self.conversion.anonymise {
            facts.title = None;
            facts.start = None;
            facts.connection = facts.connection.map(|id| self.anonymiser.identifier(&id));
        }
        record(output, &schema::header(self.conversion.target, &facts))
    }

    fn event(
        &mut self,
        time_us: u64,
        name: &str,
        trigger: Option<&str>,
        mut data: Value,
        group: Option<String>,
        output: &mut impl Write,
    ) -> io::Result<()> {
        let is_in_time = self.conversion.time_us.as_ref().is_none_or(|it| it.contains(&time_us));
        let streams = self.conversion.streams.as_ref();
        if !is_in_time || !streams.is_none_or(|streams| keep_streams(&mut data, streams)) {
            self.done.cut += 1;
            return Ok(());
        }
        let target = self.conversion.target;
        let (name, mut data) = schema::event(target, name, trigger, data);
        if self.conversion.anonymise {
            self.anonymiser.anonymise(&mut data);
        }
        let mut event = Map::new();
        event.insert("time".to_owned(), json!(time_us as f64 / 1000.0));
        event.insert("name".to_owned(), Value::String(name));
        event.insert("data".to_owned(), data);
        if let Some(group) = group {
            let group =
                if self.conversion.anonymise { self.anonymiser.identifier(&group) } else { group };
            event.insert("group_id".to_owned(), Value::String(group));
        }
        self.done.events += 1;
        record(output, &Value::Object(event))
    }
}

fn record(output: &mut impl Write, value: &Value) -> io::Result<()> {
    output.write_all(b"\x1e")?;
    serde_json::to_writer(&mut *output, value)?;
    output.write_all(b"\n")
}

/// Takes frames of other streams out; whether the event is still worth keeping.
fn keep_streams(data: &mut Value, streams: &BTreeSet<u64>) -> bool {
    let stream = |value: &Value| {
        let id = value.get("stream_id").or_else(|| value.get("id"))?;
        schema::whole(id)
    };
    if let Some(Value::Array(frames)) = data.get_mut("frames") {
        let before = frames.len();
        frames.retain(|frame| stream(frame).is_none_or(|id| streams.contains(&id)));
        return before == 0 || !frames.is_empty();
    }
    stream(data).is_none_or(|id| streams.contains(&id))
}

#[cfg(test)]
mod tests;
