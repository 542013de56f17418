//! Splits a contained qlog, one JSON document with all events inside, into events while it is read.
//! Memory holds one event and everything outside the events.
//!
//! This is not a JSON parser, only a scanner for brackets and strings: its pieces are parsed later.
//! It knows `traces` (or 0.1's `connections`) with `events` inside, a single `trace`, and `events`
//! without either. Skips text before the first brace (a JavaScript assignment).

use std::io::{self, BufRead};

use crate::limits::{HEADER_BYTES, RECORD_BYTES};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A trace's events begin. The fields of file and trace so far, as JSON objects.
    TraceBegins {
        /// The outer object.
        file: &'a [u8],
        trace: &'a [u8],
    },
    Event(&'a [u8]),
    /// An event longer than the limit, skipped.
    TooLong,
    /// The trace ends; its fields, including those after the events.
    TraceEnds {
        /// The outer object, as far as it was read.
        file: &'a [u8],
        trace: &'a [u8],
    },
}

pub(super) struct Contained<R> {
    input: R,
    scanner: Scanner,
}

impl<R: BufRead> Contained<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, scanner: Scanner::default() }
    }

    /// Whether the document has ended, as it should at the end of the file.
    pub(super) fn is_closed(&self) -> bool {
        self.scanner.depth == 0
    }

    /// The next piece; `None` at the end of the file.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let (used, done) = self.scanner.scan(buffer);
            self.input.consume(used);
            if let Some(done) = done {
                return Ok(Some(self.scanner.piece(done)));
            }
        }
    }
}

/// The value that the scanner has completed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    Begin,
    Event,
    End,
}

/// Inside or outside of a string.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Text {
    #[default]
    Outside,
    Inside,
    Escaped,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    /// In the outer object, or before it.
    #[default]
    File,
    /// In the array of traces, between them.
    Traces,
    /// In a trace's object.
    Trace,
    /// In an array of events, between them.
    Events,
    /// In an event.
    Event,
}

#[derive(Default)]
struct Scanner {
    place: Place,
    /// Brackets that are open.
    depth: usize,
    text: Text,
    /// The last string: a key, if a colon follows.
    last_string: Vec<u8>,
    /// Whether the value of the last string follows.
    is_value: bool,
    /// The depth inside the current trace's object.
    trace_depth: usize,
    /// Where the trace is: in the array of traces, or directly in the file.
    outside: Place,
    /// The outer object without traces, and the trace without events.
    file: Vec<u8>,
    trace: Vec<u8>,
    /// The same, closed so that they can be parsed.
    closed_file: Vec<u8>,
    closed_trace: Vec<u8>,
    record: Vec<u8>,
    is_too_long: bool,
}

/// Longer keys are not among the relevant ones.
const KEY_BYTES: usize = 32;

impl Scanner {
    /// Continues until something is complete; returns the number of bytes used.
    fn scan(&mut self, bytes: &[u8]) -> (usize, Option<Done>) {
        let mut used = 0;
        while used < bytes.len() {
            if self.place == Place::Event {
                let (more, is_done) = self.event(&bytes[used..]);
                used += more;
                if is_done {
                    return (used, Some(Done::Event));
                }
                continue;
            }
            let done = self.byte(bytes[used]);
            used += 1;
            if done.is_some() {
                return (used, done);
            }
        }
        (used, None)
    }

    /// The hot path: scans to the end of the event.
    fn event(&mut self, bytes: &[u8]) -> (usize, bool) {
        // Events are in an array in the trace, or directly in the file without a trace.
        let end_depth = self.trace_depth + 1;
        let mut end = None;
        for (place, &byte) in bytes.iter().enumerate() {
            match (self.text, byte) {
                (Text::Escaped, _) | (Text::Outside, b'"') => self.text = Text::Inside,
                (Text::Inside, b'\\') => self.text = Text::Escaped,
                (Text::Inside, b'"') => self.text = Text::Outside,
                (Text::Outside, b'{' | b'[') => self.depth += 1,
                (Text::Outside, b'}' | b']') => {
                    self.depth -= 1;
                    if self.depth == end_depth {
                        end = Some(place + 1);
                        break;
                    }
                }
                _ => {}
            }
        }
        let used = end.unwrap_or(bytes.len());
        self.is_too_long |= self.record.len() + used > RECORD_BYTES;
        if !self.is_too_long {
            self.record.extend_from_slice(&bytes[..used]);
        }
        if end.is_some() {
            self.place = Place::Events;
        }
        (used, end.is_some())
    }

    /// Everything but events.
    fn byte(&mut self, byte: u8) -> Option<Done> {
        match self.text {
            Text::Outside => {}
            Text::Escaped => {
                self.text = Text::Inside;
                self.keep(byte);
                return None;
            }
            Text::Inside => {
                match byte {
                    b'\\' => self.text = Text::Escaped,
                    b'"' => self.text = Text::Outside,
                    _ if self.last_string.len() < KEY_BYTES => self.last_string.push(byte),
                    _ => {}
                }
                self.keep(byte);
                return None;
            }
        }
        match byte {
            b'{' | b'[' => return self.open(byte),
            b'}' | b']' => return self.close(byte),
            b'"' => {
                self.text = Text::Inside;
                self.last_string.clear();
            }
            b':' => self.is_value = true,
            b',' => self.is_value = false,
            _ => {}
        }
        self.keep(byte);
        None
    }

    fn open(&mut self, byte: u8) -> Option<Done> {
        let key = if std::mem::take(&mut self.is_value) { &self.last_string[..] } else { b"" };
        let (is_file, is_array) = (self.place == Place::File && self.depth == 1, byte == b'[');
        let is_events = is_array && key == b"events";
        let is_trace_level = self.place == Place::Trace && self.depth == self.trace_depth;
        if is_events && (is_file || is_trace_level) {
            if is_file {
                self.begin_trace(Place::File, 1);
            }
            self.keep(byte);
            self.depth += 1;
            self.place = Place::Events;
            self.close_texts(b"]}");
            return Some(Done::Begin);
        }
        if is_file && is_array && (key == b"traces" || key == b"connections") {
            self.keep(byte);
            self.place = Place::Traces;
        } else if is_file && !is_array && key == b"trace" {
            self.file.extend_from_slice(b"null");
            self.begin_trace(Place::File, 2);
            self.keep(byte);
        } else if self.place == Place::Traces && self.depth == 2 && !is_array {
            self.begin_trace(Place::Traces, 3);
            self.keep(byte);
        } else if self.place == Place::Events && self.depth == self.trace_depth + 1 {
            self.record.clear();
            self.record.push(byte);
            self.is_too_long = false;
            self.place = Place::Event;
        } else {
            self.keep(byte);
        }
        self.depth += 1;
        None
    }

    fn close(&mut self, byte: u8) -> Option<Done> {
        self.is_value = false;
        if self.depth == 0 {
            return None;
        }
        self.depth -= 1;
        match self.place {
            Place::Events if self.depth == self.trace_depth => self.place = Place::Trace,
            Place::Trace if self.depth + 1 == self.trace_depth => {
                self.keep(byte);
                self.place = self.outside;
                self.close_texts(b"");
                return Some(Done::End);
            }
            Place::Traces if self.depth == 1 => self.place = Place::File,
            _ => {}
        }
        self.keep(byte);
        if self.depth == 0 {
            // Another document may follow.
            self.file.clear();
        }
        None
    }

    fn begin_trace(&mut self, outside: Place, depth: usize) {
        self.outside = outside;
        self.trace_depth = depth;
        self.trace.clear();
        if depth == 1 {
            // The outer object is the trace.
            self.trace.clone_from(&self.file);
        }
        self.place = Place::Trace;
    }

    /// Makes copies of both objects that are closed at the present position.
    fn close_texts(&mut self, end_of_trace: &[u8]) {
        self.closed_file.clone_from(&self.file);
        let end_of_file: &[u8] = if self.outside == Place::Traces { b"]}" } else { b"}" };
        self.closed_file.extend_from_slice(end_of_file);
        self.closed_trace.clone_from(&self.trace);
        self.closed_trace.extend_from_slice(end_of_trace);
    }

    fn keep(&mut self, byte: u8) {
        let into = match self.place {
            Place::File => &mut self.file,
            Place::Trace => &mut self.trace,
            _ => return,
        };
        let is_outside = self.depth == 0 && byte != b'{' && byte != b'}';
        // A truncated object cannot be parsed and counts as empty.
        if into.len() < HEADER_BYTES && !is_outside {
            into.push(byte);
        }
    }

    fn piece(&self, done: Done) -> Piece<'_> {
        let (file, trace) = (&self.closed_file[..], &self.closed_trace[..]);
        match done {
            Done::Event if self.is_too_long => Piece::TooLong,
            Done::Event => Piece::Event(&self.record),
            Done::Begin => Piece::TraceBegins { file, trace },
            Done::End => Piece::TraceEnds { file, trace },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::BufReader;

    /// The pieces, a line each.
    fn pieces(json: &str, buffer: usize) -> Vec<String> {
        let mut contained = Contained::new(BufReader::with_capacity(buffer, json.as_bytes()));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut found = Vec::new();
        while let Some(piece) = contained.next().unwrap() {
            found.push(match piece {
                Piece::TraceBegins { file, trace } => {
                    format!("begin {} {}", text(file), text(trace))
                }
                Piece::Event(event) => format!("event {}", text(event)),
                Piece::TooLong => "too long".to_owned(),
                Piece::TraceEnds { trace, .. } => format!("end {}", text(trace)),
            });
        }
        found
    }

    #[test]
    fn traces_come_with_what_is_around_their_events() {
        let json = r#"{"v":"0.3","traces":[{"a":1,"events":[[0,"x]"],{"b":"}\""}],"c":{"events":[1]}},{"events":[]}]}"#;
        assert_eq!(
            pieces(json, 1000),
            [
                r#"begin {"v":"0.3","traces":[]} {"a":1,"events":[]}"#,
                r#"event [0,"x]"]"#,
                r#"event {"b":"}\""}"#,
                r#"end {"a":1,"events":[],"c":{"events":[1]}}"#,
                r#"begin {"v":"0.3","traces":[]} {"events":[]}"#,
                r#"end {"events":[]}"#,
            ]
        );
    }

    #[test]
    fn other_layouts_are_known_too() {
        assert_eq!(
            pieces(r#"var x = {"connections":[{"events":[[1],]},]};"#, 7),
            [r#"begin {"connections":[]} {"events":[]}"#, "event [1]", r#"end {"events":[]}"#]
        );
        assert_eq!(
            pieces(r#"{"qlog_version":"0.1","events":[{"a":1}],"z":2}"#, 1000),
            [
                r#"begin {"qlog_version":"0.1","events":} {"qlog_version":"0.1","events":[]}"#,
                r#"event {"a":1}"#,
                r#"end {"qlog_version":"0.1","events":[],"z":2}"#
            ]
        );
        assert_eq!(
            pieces(r#"{"f":1,"trace":{"t":2,"events":[{}]}}"#, 1000),
            [
                r#"begin {"f":1,"trace":null} {"t":2,"events":[]}"#,
                "event {}",
                r#"end {"t":2,"events":[]}"#
            ]
        );
    }

    #[test]
    fn a_document_that_ends_early_is_not_closed() {
        let mut contained = Contained::new(&br#"{"traces":[{"events":[{"a":1},{"b""#[..]);
        let mut events = 0;
        while let Some(piece) = contained.next().unwrap() {
            events += usize::from(matches!(piece, Piece::Event(_)));
        }
        assert_eq!((events, contained.is_closed()), (1, false));
    }

    proptest! {
        #[test]
        fn the_buffer_size_changes_nothing(json in r#"(\{"traces":\[)?([\[\]\{\}",:\\]|"events":|[ a1]){0,40}"#, buffer in 1usize..9) {
            prop_assert_eq!(pieces(&json, buffer), pieces(&json, 1000));
        }
    }
}
