//! `utmost qlog convert`: another schema, a part, or without names.

use crate::failure::Failure;
use clap::ValueEnum;
use qlog_tools::convert::{Conversion, ConvertError, Converted, Target, convert};
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Rewrite a log as JSON-SEQ of the current or an older schema; cut out a part; take names off
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost qlog convert client.qlog -o client.sqlog\n  \
utmost qlog convert client.sqlog --to 0.3 --time 100ms..2s --stream 0,4 --anonymise -o part.sqlog")]
pub(crate) struct Arguments {
    /// The log, or `-` for the standard input
    file: PathBuf,
    /// Where to write; the standard output if not given
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The schema: `current` as the Rust crate qlog reads it, `0.3` as qvis does
    #[arg(long, default_value = "current")]
    to: To,
    /// Only events of this time on the log's clock: `100ms..2s`, either end may be missing
    #[arg(long, value_name = "FROM..TO", value_parser = time_range)]
    time: Option<std::ops::Range<u64>>,
    /// Only frames of these streams
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    stream: Vec<u64>,
    /// Replace hosts, paths, addresses, identifiers and other field values
    #[arg(long)]
    anonymise: bool,
    /// Which of several traces in the file, from 1
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    trace: u16,
}

/// `--to`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum To {
    /// JSON-SEQ, quic-events-12 and h3-events-12
    Current,
    /// JSON-SEQ, qlog 0.3 and draft-02's events
    #[value(name = "0.3")]
    V03,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let conversion = Conversion {
        target: match arguments.to {
            To::Current => Target::Current,
            To::V03 => Target::V03,
        },
        time_us: arguments.time.clone(),
        streams: (!arguments.stream.is_empty()).then(|| arguments.stream.iter().copied().collect()),
        anonymise: arguments.anonymise,
        trace: usize::from(arguments.trace) - 1,
    };
    let input = open(&arguments.file)?;
    let file = arguments.file.display().to_string();
    let converted = if let Some(out) = &arguments.out {
        to_file(&file, input, out, &conversion)?
    } else {
        let stdout = BufWriter::new(std::io::stdout().lock());
        match convert(&file, input, stdout, &conversion) {
            Err(ConvertError::Write(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                return Ok(());
            }
            other => other.map_err(failure)?,
        }
    };
    let Converted { events, cut, bad_records, traces } = converted;
    eprintln!(
        "{events} events written, {cut} cut, {bad_records} records could not be read; trace {} of {traces}",
        arguments.trace
    );
    Ok(())
}

fn open(file: &Path) -> Result<Box<dyn Read>, Failure> {
    if file.as_os_str() == "-" {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let opened = File::open(file);
    let opened =
        opened.map_err(|error| Failure::BadInput(format!("{}: {error}", file.display())))?;
    Ok(Box::new(opened))
}

fn to_file(
    file: &str,
    input: Box<dyn Read>,
    out: &Path,
    conversion: &Conversion,
) -> Result<Converted, Failure> {
    let unwritable = |error| Failure::BadInput(format!("{}: {error}", out.display()));
    let is_same =
        out.canonicalize().ok().is_some_and(|it| Path::new(file).canonicalize().ok() == Some(it));
    if is_same {
        return Err(Failure::BadInput(format!(
            "{file}: -o names the log itself; name another file"
        )));
    }
    let mut output = BufWriter::new(File::create(out).map_err(unwritable)?);
    let converted = convert(file, input, &mut output, conversion).map_err(failure)?;
    output.flush().map_err(unwritable)?;
    Ok(converted)
}

fn failure(error: ConvertError) -> Failure {
    match error {
        ConvertError::Write(_) => Failure::elsewhere(error),
        _ => Failure::bad_input(error),
    }
}

/// `FROM..TO` in microseconds.
fn time_range(text: &str) -> Result<std::ops::Range<u64>, String> {
    let wrong = || format!("`{text}` is no range: use for example 100ms..2s");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let from = if from.is_empty() { 0 } else { time_us(from).ok_or_else(wrong)? };
    let to = if to.is_empty() { u64::MAX } else { time_us(to).ok_or_else(wrong)? };
    if from >= to {
        return Err(format!("`{text}`: the end is not after the start"));
    }
    Ok(from..to)
}

/// `2s`, `100ms`, `5us`; plain numbers are milliseconds.
fn time_us(text: &str) -> Option<u64> {
    let unit = text.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
    let number: f64 = text[..text.len() - unit.len()].parse().ok()?;
    let factor = match unit {
        "us" => 1.0,
        "ms" | "" => 1e3,
        "s" => 1e6,
        _ => return None,
    };
    let time = std::time::Duration::try_from_secs_f64(number * factor / 1e6).ok()?;
    u64::try_from(time.as_micros()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_units_and_open_ends() {
        assert_eq!(time_range("100ms..2s"), Ok(100_000..2_000_000));
        assert_eq!(time_range("..5"), Ok(0..5_000));
        assert_eq!(time_range("1.5s.."), Ok(1_500_000..u64::MAX));
        for wrong in ["5", "2s..1s", "a..b", "1h.."] {
            assert!(time_range(wrong).is_err(), "{wrong}");
        }
    }
}
