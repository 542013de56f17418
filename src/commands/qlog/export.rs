//! `utmost qlog export`: the series of the figures as CSV.

use super::input::{Files, Logs};
use crate::csv_table::CsvTable;
use ::serve::Failure;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use qlog_tools::series::{Cell, SERIES, Series};
use std::path::PathBuf;

/// Write a series of logs as CSV: the data behind a figure of the report, for other programs
///
/// The first line names the columns, which docs/series.md explains. Times are milliseconds on each log's own clock; with
/// the logs of both ends, add `shift_ms` to get the client's. Rows are written as they are computed, log after log. Exit
/// code 2: a log could not be read, or has no such series; the others are still written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
utmost qlog export client.sqlog server.sqlog --series packets -o packets.csv\n  \
utmost qlog export logs/ --series streams > streams.csv")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    /// The series: what a row stands for
    #[arg(long, value_name = "NAME", value_parser = named())]
    series: &'static Series,
    /// The file to write [default: the standard output]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn named() -> impl TypedValueParser<Value = &'static Series> {
    let names = SERIES.iter().map(|it| PossibleValue::new(it.name).help(it.about));
    PossibleValuesParser::new(names)
        .try_map(|name| Series::named(&name).ok_or("not one of the values"))
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.files.spare(arguments.out.as_deref())?;
    let series = arguments.series;
    let Logs { mut traces, mut refused, .. } = arguments.files.read(series.detail)?;
    let lacking = series.lacking(&traces);
    refused.add_files(traces.iter().zip(&lacking).map(|(trace, reason)| {
        (trace, reason.map(|reason| format!("{}: {reason}", trace.label())))
    }));
    if lacking.iter().all(Option::is_some) {
        return refused.end();
    }
    let mut table = CsvTable::begin(arguments.out.as_deref(), series.header())?;
    let written = series.write(&mut traces, &mut |row: &[Cell<'_>]| table.write(row));
    table.end(written)?;
    refused.end()
}
