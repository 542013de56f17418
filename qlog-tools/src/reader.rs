//! Reads the qlog of any QUIC stack into [`Trace`]s.
//!
//! Its content, never its name, determines the type of a file: gzip and zstd by their magic bytes, JSON-SEQ by the record separator, one
//! JSON object per line by a first line that is one, anything else as one document with its events inside, which may be Chromium's netlog
//! (`netlog.rs`). Events are read one at a time, first as an envelope (time, name, unparsed body), then, for relevant events, the body, so
//! that memory does not grow with the file ([`Detail::Summary`]). Unreadable records are counted and skipped; guesses are listed in
//! [`Trace::repairs`]. Only files that are not qlogs cause an error.

mod acknowledged;
mod assemble;
mod bounded;
mod by_stream;
mod clock;
mod collect;
mod contained;
mod credit;
mod damaged;
mod ending;
mod event;
mod filling;
mod flow;
pub(crate) mod header;
pub(crate) mod http3;
mod in_order;
pub(crate) mod moment;
pub(crate) mod names;
mod netlog;
mod paths;
mod quic;
pub(crate) mod raw;
mod reading;
mod records;
mod recovery;
mod repetition;
mod scheduler;
mod sniff;
pub(crate) mod tolerant;
mod trace_reading;
mod tshark;
mod unpack;

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

pub use crate::trace::{
    Container, Counts, Detail, Repair, SchedulerCall, Stack, Trace, TransferDetails, Vantage,
};
pub use bounded::read_file_within;
use contained::{Contained, Piece};
use header::Header;
use netlog::Netlog;
use reading::Reading;
use records::{Record, Records};
use sniff::Sniffed;
pub use sniff::is_har;
pub use tshark::read_tshark;
pub use unpack::plain;

const DAMAGED: &str = "the compressed data is damaged (its checksum or coding is wrong); it was read as far as it could be unpacked";
const ONE_SEPARATOR: &str =
    "a record separator precedes only the first record; the others were read as lines";
/// An incompletely copied archive lacks a part of the log.
const CUT: &str = "the compressed data ends early; it was read as far as it could be unpacked";
/// Nothing of the file is missing: its writer did not finish it.
pub(crate) const ENDS_EARLY: &str = "the file ends early; it was read up to its end";

/// How to read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOptions {
    /// How much to keep.
    pub detail: Detail,
    /// The side that wrote the log, if the log does not say and its first packet does not show it: a capture's, for instance.
    pub vantage: Option<Vantage>,
}

/// Why a file gives no trace.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", crate::short_texts::shown(file, crate::limits::NAME_CHARACTERS))]
pub struct ReadError {
    /// The file.
    pub file: String,
    /// Why.
    pub why: Unread,
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// It could not be opened, or its first bytes could not be read.
    #[error("{0}")]
    Unreadable(io::Error),
    /// It is empty.
    #[error("the file is empty: nothing was logged, or its writer did not get to close it")]
    Empty,
    /// Nothing in it is a qlog header or event: how many records there were, and its first bytes, in words.
    #[error(
        "not a qlog: none of its {0} records is a header or an event; it begins with {1}; the formats are JSON, JSON-SEQ and NDJSON, also in gzip or zstd"
    )]
    NotQlog(u64, String),
    /// Its URLs and fields would take too much memory.
    #[error(
        "its URLs and other texts take more than {} MiB: no log of a page does; \
         split it, or leave out the HTTP/3 headers",
        crate::limits::TEXTS_BYTES >> 20
    )]
    TooMuchText,
    /// It has more bytes than its reader accepts.
    #[error(
        "has more than {0} MiB without its compression: cut it to one page load, or keep only events of packets, frames and HTTP/3"
    )]
    TooLong(u64),
    /// A JSON document without a list of traces or events.
    #[error(
        "not a qlog: this JSON document has no event in \"traces\" or \"events\"; it begins with {0}"
    )]
    NoTraces(String),
    /// A capture of other packets.
    #[error(
        "no packet of QUIC in it: without a connection's handshake tshark takes its packets for other UDP; start the capture before the client"
    )]
    NoQuic,
}

impl Unread {
    pub(crate) fn of(self, file: &str) -> ReadError {
        ReadError { file: file.to_owned(), why: self }
    }
}

/// Reads the log at `path`; if it has more than one connection, the one with the most stream bytes.
pub fn read_file(path: &Path) -> Result<Trace, ReadError> {
    read_file_traces(path, ReadOptions::default()).map(largest)
}

/// Reads a log from any source of bytes; `file` is its name. If it has more than one connection, the one with the most stream bytes.
pub fn read(file: &str, input: impl Read) -> Result<Trace, ReadError> {
    read_traces(file, input, ReadOptions::default()).map(largest)
}

/// Reads all connections in the log at `path`; `-` is the standard input. There is at least one.
pub fn read_file_traces(path: &Path, options: ReadOptions) -> Result<Vec<Trace>, ReadError> {
    let (file, input) = open(path)?;
    // A pipe cannot be read again.
    if !path.is_file() {
        return read_traces(&file, input, options);
    }
    match read_into(Reading::as_logged(&file, options), &file, input)? {
        Some(traces) => Ok(traces),
        None => read_traces(&file, open(path)?.1, options),
    }
}

/// Its name, and its bytes.
fn open(path: &Path) -> Result<(String, Box<dyn Read>), ReadError> {
    let file = path.display().to_string();
    if file == "-" {
        return Ok(("(standard input)".to_owned(), Box::new(io::stdin().lock())));
    }
    match named_files::open(path) {
        Ok(input) => Ok((file, Box::new(input))),
        Err(cause) => Err(Unread::Unreadable(cause).of(&file)),
    }
}

/// Reads all connections in a log from any source of bytes. There is at least one.
pub fn read_traces(
    file: &str,
    input: impl Read,
    options: ReadOptions,
) -> Result<Vec<Trace>, ReadError> {
    read_into(Reading::new(file, options), file, input).map(Option::unwrap_or_default)
}

/// The connections of a log; `None` if it must be read again, by time.
fn read_into(
    mut reading: Reading,
    file: &str,
    input: impl Read,
) -> Result<Option<Vec<Trace>>, ReadError> {
    let Given { container, begins, broken_off } = give(file, input, &mut reading)?;
    if reading.is_in_disorder() {
        return Ok(None);
    }
    match broken_off {
        Some(ENDS_EARLY) => reading.repair(ENDS_EARLY),
        Some(why) => reading.leave_out(why),
        None => {}
    }
    reading.let_in_all();
    let records = reading.records;
    if reading.has_too_much_text() {
        return Err(Unread::TooMuchText.of(file));
    }
    let traces = reading.finish(container).ok_or_else(|| match container {
        Container::Contained => Unread::NoTraces(begins).of(file),
        _ => Unread::NotQlog(records, begins).of(file),
    })?;
    Ok(Some(traces))
}

/// A receiver of the pieces of a log, one after another.
trait Sink {
    /// A record of a sequence: a header or an event.
    fn record(&mut self, bytes: &[u8]);
    /// An event of a contained file.
    fn contained_event(&mut self, bytes: &[u8]);
    /// A record or event that was skipped.
    fn too_long(&mut self);
    /// A contained trace begins.
    fn begin(&mut self, header: &Header);
    /// It ends; its header now includes fields that follow the events.
    fn end(&mut self, header: &Header);
    /// Whether it wants no more.
    fn is_full(&mut self) -> bool;
    /// A guess was necessary for the whole file.
    fn repair(&mut self, what: &'static str);
}

struct Given {
    container: Container,
    /// Its first bytes, for a message.
    begins: String,
    /// Why reading stopped in the middle, if it did.
    broken_off: Option<&'static str>,
}

/// Gives each piece of a log to `sink` until it is full.
fn give(file: &str, input: impl Read, sink: &mut impl Sink) -> Result<Given, ReadError> {
    let Sniffed { container, begins, is_empty, whole } =
        plain(input).and_then(sniff::sniff).map_err(|error| Unread::Unreadable(error).of(file))?;
    if is_empty {
        return Err(Unread::Empty.of(file));
    }
    let input = BufReader::with_capacity(1 << 16, whole);
    let end = if container == Container::Contained {
        give_document(Contained::new(input), sink)
    } else {
        let mut records =
            Records::new(input).map_err(|error| Unread::Unreadable(error).of(file))?;
        let end = give_records(&mut records, sink);
        if records.goes_on_in_lines {
            sink.repair(ONE_SEPARATOR);
        }
        end
    };
    Ok(Given { container, begins, broken_off: end.err().as_ref().map(broken_off) })
}

fn give_records(records: &mut Records<impl BufRead>, sink: &mut impl Sink) -> io::Result<()> {
    while let Some(record) = records.next()? {
        match record {
            Record::Whole(bytes) => sink.record(bytes),
            Record::TooLong => sink.too_long(),
        }
        if sink.is_full() {
            break;
        }
    }
    Ok(())
}

fn give_document(mut pieces: Contained<impl BufRead>, sink: &mut impl Sink) -> io::Result<()> {
    let mut netlog: Option<Netlog> = None;
    while let Some(piece) = pieces.next()? {
        match piece {
            Piece::Event(bytes) => match netlog.as_mut().and_then(|it| it.event(bytes)) {
                Some(records) => records.iter().for_each(|it| sink.contained_event(it)),
                // Bytes that are not a netlog event are not a qlog event, either: the sink counts them as bad.
                None => sink.contained_event(bytes),
            },
            Piece::TooLong => sink.too_long(),
            Piece::TraceBegins { file, trace } => {
                netlog = Netlog::of(trace);
                let header = netlog.as_ref().map(Netlog::header);
                sink.begin(&header.unwrap_or_else(|| Header::of_trace(file, trace)));
            }
            Piece::TraceEnds { file, trace } => match &mut netlog {
                Some(netlog) => end_netlog(netlog, sink),
                None => sink.end(&Header::of_trace(file, trace)),
            },
        }
        if sink.is_full() {
            return Ok(());
        }
    }
    if pieces.is_closed() {
        return Ok(());
    }
    if let Some(netlog) = &mut netlog {
        end_netlog(netlog, sink);
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

fn end_netlog(netlog: &mut Netlog, sink: &mut impl Sink) {
    netlog.rest().iter().for_each(|record| sink.contained_event(record));
    sink.end(&netlog.header());
}

fn broken_off(error: &io::Error) -> &'static str {
    // Only a decoder's errors state more than their kind.
    match (error.kind(), error.get_ref()) {
        (io::ErrorKind::UnexpectedEof, None) => ENDS_EARLY,
        (io::ErrorKind::UnexpectedEof, Some(_)) => CUT,
        _ => DAMAGED,
    }
}

/// The trace with the most stream bytes; the first among equals.
fn largest(traces: Vec<Trace>) -> Trace {
    traces.into_iter().rev().max_by_key(Trace::unique_stream_bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests;
