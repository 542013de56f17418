//! Reads a qlog into a [`Trace`].
//!
//! What a file is, is decided by its content, never by its name: gzip and zstd by their magic
//! bytes, JSON-SEQ by the record separator, anything else as one JSON record a line. Records are
//! read one at a time, first as an envelope (time, name, unparsed body), then, when the event is
//! one that counts, its body. A record that cannot be read is counted and left out; what had to
//! be guessed is listed in [`Trace::repairs`]. Only bytes that are no qlog at all are an error.

mod assemble;
mod clock;
mod envelope;
mod http3;
mod limits;
mod quic;
mod records;
mod scheduler;
mod tolerant;
mod unpack;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use crate::timeline::Timeline;
use assemble::Collector;
use clock::Clock;
use envelope::{Envelope, Header};
use records::{Record, Records};
pub use scheduler::{SchedulerCall, SchedulerOp};

/// What one log says of one connection.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// The file, or what the caller called it.
    pub file: String,
    /// The log's own title.
    pub title: Option<String>,
    /// The format, as the header names it (`file_schema`, or `qlog_version`).
    pub format: Option<String>,
    /// Whose log it is.
    pub vantage: Vantage,
    /// The wall clock at time 0, as text, when the header has it.
    pub start: Option<String>,
    /// The responses. From a client's log, frames as they arrived; from a server's log, frames
    /// as they were sent, and requests as they were read.
    pub timeline: Timeline,
    /// What HTTP/3 said of each transfer, in the order of `timeline.transfers`.
    pub details: Vec<TransferDetails>,
    /// The scheduler's calls in order, when the log has them.
    pub scheduler_calls: Vec<SchedulerCall>,
    /// What was read.
    pub counts: Counts,
    /// What was wrong with the log, and what was done about it.
    pub repairs: Vec<Repair>,
}

/// Whose log it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Vantage {
    /// The side that asks.
    Client,
    /// The side that answers.
    Server,
    /// Somewhere between.
    Network,
    /// The log does not say, and nothing in it tells.
    #[default]
    Unknown,
}

/// What HTTP/3 events said of a transfer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransferDetails {
    /// Its stream.
    pub stream: u64,
    /// The response's final status.
    pub status: Option<u16>,
    /// The response's `content-type`.
    pub content_type: Option<String>,
    /// The request's `priority` (RFC 9218, section 4).
    pub priority: Option<String>,
    /// Whether the server pushed it.
    pub pushed: bool,
}

/// How much was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records, the header included.
    pub records: u64,
    /// Records that are events.
    pub events: u64,
    /// Events that no view uses.
    pub unknown_events: u64,
    /// Records that could not be read.
    pub bad_records: u64,
    /// Events by name. Names beyond the first 1000 are counted as `(other names)`.
    pub by_name: BTreeMap<String, u64>,
    /// Packets by event.
    pub packets_sent: u64,
    /// Packets by event.
    pub packets_received: u64,
    /// Packets by event.
    pub packets_lost: u64,
}

/// One kind of thing that was wrong, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// What was wrong and what was done.
    pub what: &'static str,
    /// How often.
    pub count: u64,
    /// The first record (from 1) it concerned; 0 when it concerns the whole file.
    pub first_record: u64,
}

/// Why a file gives no trace.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be opened or its first bytes not be read.
    #[error("{file}: {cause}")]
    Unreadable {
        /// Which file.
        file: String,
        /// Why.
        cause: io::Error,
    },
    /// One JSON document with `traces` inside, rather than a record for each event.
    #[error(
        "{file}: this is a contained qlog (one JSON document with \"traces\"); only JSON-SEQ and one record a line are read"
    )]
    Contained {
        /// Which file.
        file: String,
    },
    /// Nothing in it is a qlog header or event.
    #[error("{file}: no qlog: none of its {records} records is a header or an event")]
    NotQlog {
        /// Which file.
        file: String,
        /// How many records there were.
        records: u64,
    },
}

/// Reads the log at `path`.
pub fn read_file(path: &Path) -> Result<Trace, ReadError> {
    let file = path.display().to_string();
    match File::open(path) {
        Ok(input) => read(&file, input),
        Err(cause) => Err(ReadError::Unreadable { file, cause }),
    }
}

/// Reads a log from any source of bytes; `file` is what to call it.
pub fn read(file: &str, input: impl Read) -> Result<Trace, ReadError> {
    let unreadable = |cause| ReadError::Unreadable { file: file.to_owned(), cause };
    let unpacked = unpack::unpack(input).map_err(unreadable)?;
    let mut records =
        Records::new(BufReader::with_capacity(1 << 16, unpacked)).map_err(unreadable)?;
    let mut reading = Reading::new(file);
    reading.read_all(&mut records)?;
    reading.finish()
}

impl Trace {
    /// Counts one more of this kind of repair.
    fn repair(&mut self, what: &'static str, record: u64) {
        match self.repairs.iter_mut().find(|repair| repair.what == what) {
            Some(repair) => repair.count += 1,
            None => self.repairs.push(Repair { what, count: 1, first_record: record }),
        }
    }
}

/// The state between records.
struct Reading {
    trace: Trace,
    collector: Collector,
    clock: Clock,
    has_header: bool,
}

impl Reading {
    fn new(file: &str) -> Self {
        let trace = Trace { file: file.to_owned(), ..Trace::default() };
        Self { trace, collector: Collector::default(), clock: Clock::default(), has_header: false }
    }

    fn read_all(&mut self, records: &mut Records<impl io::BufRead>) -> Result<(), ReadError> {
        loop {
            match records.next() {
                Ok(None) => return Ok(()),
                Ok(Some(Record::Whole(bytes))) => {
                    self.trace.counts.records += 1;
                    self.record(bytes)?;
                }
                Ok(Some(Record::TooLong)) => {
                    self.trace.counts.records += 1;
                    self.bad("records longer than 16 MiB were left out");
                }
                Err(_) => {
                    self.repair("the file ends early; what came before was read");
                    return Ok(());
                }
            }
            if self.collector.is_full() {
                self.repair("the file has more frames, streams or scheduler calls than the limits allow; the rest was not read");
                return Ok(());
            }
        }
    }

    fn record(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        if let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(bytes) {
            self.event(&envelope);
            return Ok(());
        }
        match serde_json::from_slice::<Header>(bytes) {
            Ok(header) if header.traces.is_some() => {
                Err(ReadError::Contained { file: self.trace.file.clone() })
            }
            Ok(header) if header.is_header() => {
                self.header(&header);
                Ok(())
            }
            _ => {
                self.bad("records that are no JSON, or neither header nor event, were left out");
                Ok(())
            }
        }
    }

    fn header(&mut self, header: &Header) {
        if self.has_header {
            self.repair("further headers were left out: all events are read as one trace");
            return;
        }
        self.has_header = true;
        self.clock = Clock::new(header.time_format());
        self.trace.vantage = header.vantage();
        self.trace.start = header.start();
        self.trace.title = header.title();
        self.trace.format = header.format();
    }

    fn event(&mut self, envelope: &Envelope<'_>) {
        self.trace.counts.events += 1;
        self.count_name(&envelope.name);
        let Some(time_us) = self.clock.normalize(envelope.time) else {
            self.bad("events whose time is negative or no number were left out");
            return;
        };
        let data = envelope.data.map_or("{}", serde_json::value::RawValue::get);
        let event = envelope.name.rsplit_once(':').map_or(&*envelope.name, |(_, event)| event);
        let counts = &mut self.trace.counts;
        let read = match event {
            "packet_received" => {
                counts.packets_received += 1;
                self.collector.packet(time_us, data, quic::Direction::Received)
            }
            "packet_sent" => {
                counts.packets_sent += 1;
                self.collector.packet(time_us, data, quic::Direction::Sent)
            }
            "packet_lost" => {
                counts.packets_lost += 1;
                Ok(())
            }
            "stream_data_moved" => self.collector.data_moved(time_us, data),
            "frame_created" => self.collector.http_frame(time_us, data, quic::Direction::Sent),
            "frame_parsed" => self.collector.http_frame(time_us, data, quic::Direction::Received),
            "stream_type_set" => self.collector.stream_type(data),
            "scheduler" if envelope.name == "utmost:scheduler" => {
                self.collector.scheduler_call(time_us, data)
            }
            _ => {
                counts.unknown_events += 1;
                Ok(())
            }
        };
        if read.is_err() {
            self.bad("events whose body could not be read were left out");
        }
    }

    fn count_name(&mut self, name: &str) {
        let by_name = &mut self.trace.counts.by_name;
        if let Some(count) = by_name.get_mut(name) {
            *count += 1;
            return;
        }
        let name = if by_name.len() < limits::EVENT_NAMES { name } else { "(other names)" };
        *by_name.entry(name.to_owned()).or_default() += 1;
    }

    fn bad(&mut self, what: &'static str) {
        self.trace.counts.bad_records += 1;
        self.repair(what);
    }

    fn repair(&mut self, what: &'static str) {
        let record = self.trace.counts.records;
        self.trace.repair(what, record);
    }

    fn finish(mut self) -> Result<Trace, ReadError> {
        if !self.has_header && self.trace.counts.events == 0 {
            let Trace { file, counts, .. } = self.trace;
            return Err(ReadError::NotQlog { file, records: counts.records });
        }
        if !self.has_header {
            self.trace.repair("there is no header; times are taken as milliseconds", 0);
        }
        self.collector.assemble(&mut self.trace);
        Ok(self.trace)
    }
}

#[cfg(test)]
mod tests;
