//! `utmost qlog export`: the series of the figures as CSV.

use super::input::{Files, Logs};
use crate::csv_table::CsvTable;
use ::serve::Failure;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use qlog_tools::series::{Cell, SERIES, Series};
use std::path::PathBuf;

/// Write a series of logs as CSV: what a figure of the report draws, for other programs
///
/// The first line names the columns; docs/series.md says what each is. Times are milliseconds on each log's own clock;
/// with the logs of both ends, `shift_ms` says what to add for the client's. Rows are written as they are made, log after
/// log. Exit code 2: a log could not be read, or has no such series; the others are written all the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
utmost qlog export client.sqlog server.sqlog --series packets -o packets.csv\n  \
utmost qlog export logs/ --series streams > streams.csv")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    /// What a row is
    #[arg(long, value_name = "NAME", value_parser = named())]
    series: &'static Series,
    /// The file to write; without it, the rows are printed
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The parser of `--series`.
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
