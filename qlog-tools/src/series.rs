//! The data of the figures as rows of numbers: every series of a log, for programs that compute or draw themselves.
//!
//! Each row is passed on as soon as it is made, so a series takes no memory of its own. The log must have been read
//! with the [`Series::detail`].

mod cell;
mod connection;
mod streams;

use std::io;

use crate::causes::settle;
use crate::clock_shift::shift_us;
use crate::pairing::{is_same_connection, other_end};
use crate::trace::{Detail, Trace, Vantage};

pub use cell::Cell;

/// A series of a log.
#[derive(Debug)]
pub struct Series {
    /// Its name on the command line.
    pub name: &'static str,
    /// The meaning of a row.
    pub about: &'static str,
    /// Its columns, after the columns of [`FIRST_COLUMNS`].
    pub columns: &'static [Column],
    /// The level of detail that it needs.
    pub detail: Detail,
    /// The data that the log lacks, if there are no rows.
    lacks: fn(&Trace) -> Option<&'static str>,
    /// Writes the rows of a log; the other is the log of the other end, if available.
    write: fn(&Trace, Option<&Trace>, &mut Rows<'_>) -> io::Result<()>,
}

/// A column. Its name ends with the unit: `_ms` are milliseconds on the log's own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its contents.
    pub about: &'static str,
}

const fn column(name: &'static str, about: &'static str) -> Column {
    Column { name, about }
}

/// The first columns of every row.
pub const FIRST_COLUMNS: [Column; 3] = [
    column("log", "the file, or the name that it was given"),
    column("side", "the side that wrote the log: `client`, `server`, `network`, `unknown`"),
    column(
        "shift_ms",
        "what to add to the times of the row to convert them to the client's clock; 0 without the log of the other end",
    ),
];

/// All series, in the order of the report.
pub static SERIES: [Series; 12] = [
    streams::STREAMS,
    streams::FRAMES,
    streams::BLOCKING,
    streams::INDEX,
    streams::PRIORITIES,
    connection::PACKETS,
    connection::EVENTS,
    connection::CONGESTION,
    connection::PROGRESS,
    connection::FLOW_CONTROL,
    connection::RECOVERY,
    connection::RESTRAINTS,
];

/// A receiver of rows.
pub type Rows<'a> = dyn FnMut(&[Cell<'_>]) -> io::Result<()> + 'a;

impl Series {
    /// The series of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        SERIES.iter().find(|it| it.name == name)
    }

    /// The names of all columns.
    pub fn header(&self) -> impl Iterator<Item = &'static str> {
        FIRST_COLUMNS.iter().chain(self.columns).map(|it| it.name)
    }

    /// For each of the logs, why it has no rows; `None` if it has some, or if the other end's log has them instead.
    pub fn lacking(&self, traces: &[Trace]) -> Vec<Option<&'static str>> {
        let reasons: Vec<Option<&str>> = traces.iter().map(|it| (self.lacks)(it)).collect();
        let with_rows = traces.iter().zip(&reasons).filter(|(_, reason)| reason.is_none());
        let lacking = traces.iter().zip(&reasons).map(|(trace, reason)| {
            let is_told = with_rows.clone().any(|(other, _)| is_same_connection(other, trace));
            reason.filter(|_| !is_told)
        });
        lacking.collect()
    }

    /// Writes the rows of all logs, one log after the other.
    ///
    /// # Errors
    /// Stops at the first failure of `rows`.
    pub fn write(&self, traces: &mut [Trace], rows: &mut Rows<'_>) -> io::Result<()> {
        settle(traces);
        for trace in traces.iter().filter(|trace| (self.lacks)(trace).is_none()) {
            let other = match trace.vantage {
                Vantage::Client => other_end(traces, trace, Vantage::Server),
                Vantage::Server => other_end(traces, trace, Vantage::Client),
                _ => None,
            };
            let shift = match other {
                Some(client) if trace.vantage == Vantage::Server => shift_us(client, trace),
                _ => 0,
            };
            let first = [
                Cell::Text(&trace.timeline.name),
                Cell::Text(trace.vantage.name()),
                Cell::Signed(shift),
            ];
            (self.write)(trace, other, &mut |cells: &[Cell<'_>]| {
                rows(&first.iter().chain(cells).copied().collect::<Vec<Cell<'_>>>())
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
