//! Reads the qlog of any QUIC stack into [`Trace`]s.
//!
//! What a file is, is decided by its content, never by its name: gzip and zstd by their magic
//! bytes, JSON-SEQ by the record separator, one JSON object a line by a first line that is one,
//! anything else as one document with its events inside. Events are read one at a time, first as
//! an envelope (time, name, unparsed body), then, when the event is one that counts, its body, so
//! that memory does not grow with the file ([`Detail::Summary`]). A record that cannot be read is
//! counted and left out; what had to be guessed is listed in [`Trace::repairs`]. Only bytes that
//! are not qlogs are an error.

mod acknowledged;
mod assemble;
mod clock;
mod collect;
mod contained;
mod event;
mod flow;
mod header;
mod http3;
mod names;
mod quic;
pub(crate) mod raw;
mod reading;
mod records;
mod scheduler;
mod sniff;
mod tolerant;
mod unpack;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

pub use crate::trace::{
    Container, Counts, Detail, Repair, SchedulerCall, Stack, Trace, TransferDetails, Vantage,
};
use contained::{Contained, Piece};
use header::Header;
use reading::Reading;
use records::{Record, Records};
use sniff::Sniffed;

const DAMAGED: &str = "the compressed data is damaged (its checksum or coding is wrong); what could be unpacked was read";
const ENDS_EARLY: &str = "the file ends early; what came before was read";

/// How to read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOptions {
    /// How much to keep.
    pub detail: Detail,
    /// The side that wrote the log, whatever the log says.
    pub vantage: Option<Vantage>,
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
    /// There is nothing in it.
    #[error("{file}: the file is empty: nothing was logged, or its writer did not get to close it")]
    Empty {
        /// Which file.
        file: String,
    },
    /// Nothing in it is a qlog header or event.
    #[error(
        "{file}: not a qlog: none of its {records} records is a header or an event; it begins with {begins}; \
         what is read is JSON, JSON-SEQ and NDJSON, also in gzip or zstd"
    )]
    NotQlog {
        /// Which file.
        file: String,
        /// How many records there were.
        records: u64,
        /// Its first bytes, in words.
        begins: String,
    },
    /// Its URLs and fields would take too much memory.
    #[error(
        "{file}: its URLs and other texts take more than {} MiB: no log of a page does; \
         split it, or leave out the HTTP/3 headers",
        crate::limits::TEXTS_BYTES >> 20
    )]
    TooMuchText {
        /// Which file.
        file: String,
    },
    /// A JSON document without a list of traces or events.
    #[error(
        "{file}: not a qlog: this JSON document has no event in \"traces\" or \"events\"; it begins with {begins}"
    )]
    NoTraces {
        /// Which file.
        file: String,
        /// Its first bytes, in words.
        begins: String,
    },
}

/// Reads the log at `path`: of several connections in it the one with the most stream bytes.
pub fn read_file(path: &Path) -> Result<Trace, ReadError> {
    read_file_traces(path, ReadOptions::default()).map(largest)
}

/// Reads a log from any source of bytes; `file` is what to call it. Of several connections in it
/// the one with the most stream bytes.
pub fn read(file: &str, input: impl Read) -> Result<Trace, ReadError> {
    read_traces(file, input, ReadOptions::default()).map(largest)
}

/// Reads all connections in the log at `path`; `-` is the standard input. There is at least one.
pub fn read_file_traces(path: &Path, options: ReadOptions) -> Result<Vec<Trace>, ReadError> {
    let file = path.display().to_string();
    if file == "-" {
        return read_traces("(standard input)", io::stdin().lock(), options);
    }
    match File::open(path) {
        Ok(input) => read_traces(&file, input, options),
        Err(cause) => Err(ReadError::Unreadable { file, cause }),
    }
}

/// The bytes of `input` without their compression (gzip, zstd), if they have one.
pub fn plain<'a>(input: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    unpack::unpack(input)
}

/// Reads all connections in a log from any source of bytes. There is at least one.
pub fn read_traces(
    file: &str,
    input: impl Read,
    options: ReadOptions,
) -> Result<Vec<Trace>, ReadError> {
    let unreadable = |cause| ReadError::Unreadable { file: file.to_owned(), cause };
    let unpacked = unpack::unpack(input).map_err(unreadable)?;
    let Sniffed { container, begins, is_empty, whole } =
        sniff::sniff(unpacked).map_err(unreadable)?;
    if is_empty {
        return Err(ReadError::Empty { file: file.to_owned() });
    }
    let input = BufReader::with_capacity(1 << 16, whole);
    let mut reading = Reading::new(file, container, options);
    if container == Container::Contained {
        read_contained(&mut reading, Contained::new(input));
    } else {
        read_records(&mut reading, Records::new(input).map_err(unreadable)?);
    }
    let records = reading.records();
    let file = file.to_owned();
    if reading.has_too_much_text() {
        return Err(ReadError::TooMuchText { file });
    }
    reading.finish().ok_or(match container {
        Container::Contained => ReadError::NoTraces { file, begins },
        _ => ReadError::NotQlog { file, records, begins },
    })
}

/// Why reading stopped in the middle.
fn broken_off(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::UnexpectedEof { ENDS_EARLY } else { DAMAGED }
}

/// The trace with the most stream bytes; the first of several.
fn largest(traces: Vec<Trace>) -> Trace {
    let mut traces = traces.into_iter();
    let first = traces.next().unwrap_or_default();
    traces.fold(first, |largest, trace| {
        if trace.unique_stream_bytes() > largest.unique_stream_bytes() { trace } else { largest }
    })
}

fn read_records(reading: &mut Reading, mut records: Records<impl BufRead>) {
    loop {
        match records.next() {
            Ok(None) => return,
            Ok(Some(Record::Whole(bytes))) => reading.record(bytes),
            Ok(Some(Record::TooLong)) => reading.too_long(),
            Err(error) => return reading.repair(broken_off(&error)),
        }
        if reading.is_full() {
            return;
        }
    }
}

fn read_contained(reading: &mut Reading, mut pieces: Contained<impl BufRead>) {
    loop {
        match pieces.next() {
            Ok(None) => break,
            Err(error) => return reading.repair(broken_off(&error)),
            Ok(Some(Piece::Event(bytes))) => reading.contained_event(bytes),
            Ok(Some(Piece::TooLong)) => reading.too_long(),
            Ok(Some(Piece::TraceBegins { file, trace })) => {
                reading.begin(&Header::of_trace(file, trace), true);
            }
            Ok(Some(Piece::TraceEnds { file, trace })) => {
                reading.end(&Header::of_trace(file, trace));
            }
        }
        if reading.is_full() {
            return;
        }
    }
    if !pieces.is_closed() {
        reading.repair(ENDS_EARLY);
    }
}

#[cfg(test)]
mod tests;
