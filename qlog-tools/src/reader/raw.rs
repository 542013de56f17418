//! The events of a log one after another with their bodies, for those who rewrite them.

use std::io::{BufReader, Read};

use serde_json::Value;

use super::clock::Clock;
use super::contained::{Contained, Piece};
use super::event::Event;
use super::header::Header;
use super::records::{Record, Records};
use super::sniff::{self, Sniffed};
use super::{ReadError, unpack};
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
    /// A trace begins; in a file without header the first begins by itself.
    Trace(Facts),
    /// An event.
    Event {
        /// Microseconds on the log's clock.
        time_us: u64,
        /// As the log has it, with its category.
        name: String,
        /// What qlog 0.1 gave beside the body.
        trigger: Option<String>,
        data: Value,
        group: Option<String>,
    },
    /// A record that could not be read.
    Bad,
}

/// Gives each piece to `each` until it says no more. The first bytes, for a message.
pub(crate) fn pieces(
    file: &str,
    input: impl Read,
    mut each: impl FnMut(Raw) -> bool,
) -> Result<String, ReadError> {
    let unreadable = |cause| ReadError::Unreadable { file: file.to_owned(), cause };
    let Sniffed { container, begins, whole } =
        unpack::unpack(input).and_then(sniff::sniff).map_err(unreadable)?;
    let input = BufReader::with_capacity(1 << 16, whole);
    let mut state = State::default();
    if container == Container::Contained {
        let mut contained = Contained::new(input);
        // A file that ends early gives what came before.
        while let Ok(Some(piece)) = contained.next() {
            let raw = match piece {
                Piece::Event(bytes) => state.event(bytes),
                Piece::TooLong => Raw::Bad,
                Piece::TraceBegins { file, trace } => state.trace(&Header::of_trace(file, trace)),
                Piece::TraceEnds { .. } => continue,
            };
            if !each(raw) {
                break;
            }
        }
    } else {
        let mut records = Records::new(input).map_err(unreadable)?;
        while let Ok(Some(record)) = records.next() {
            let raw = match record {
                Record::Whole(bytes) => state.record(bytes),
                Record::TooLong => Raw::Bad,
            };
            if !each(raw) {
                break;
            }
        }
    }
    Ok(begins)
}

#[derive(Default)]
struct State {
    clock: Clock,
    fields: Vec<String>,
}

impl State {
    fn trace(&mut self, header: &Header) -> Raw {
        self.clock = header.clock();
        self.fields = header.event_fields();
        Raw::Trace(Facts {
            title: header.title(),
            vantage: header.vantage(),
            name: header.stack().name,
            connection: header.connection(),
            start: header.start(),
        })
    }

    fn record(&mut self, bytes: &[u8]) -> Raw {
        if Event::object(bytes).is_some() {
            return self.event(bytes);
        }
        Header::of_record(bytes).map_or(Raw::Bad, |header| self.trace(&header))
    }

    fn event(&mut self, bytes: &[u8]) -> Raw {
        let event = if bytes.starts_with(b"[") {
            Event::array(bytes, &self.fields)
        } else {
            Event::object(bytes)
        };
        let Some(event) = event else { return Raw::Bad };
        let Some((time_us, _)) = self.clock.normalize(event.time) else { return Raw::Bad };
        let Ok(data) = serde_json::from_slice(event.data) else { return Raw::Bad };
        Raw::Event {
            time_us,
            name: event.name.into_owned(),
            trigger: event.trigger.map(Into::into),
            data,
            group: event.group.map(Into::into),
        }
    }
}
