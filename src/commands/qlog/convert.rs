//! `utmost qlog convert`: another schema, a part of a log, or a log without names.

use super::capture::is_capture;
use super::input::{SIDES, logs_of, milliseconds, no_such_file, refusal, spare};
use super::refused::Refused;
use crate::log_names::parts;
use crate::output;
use crate::values::{self, Choices, choice};
use ::serve::Failure;
use qlog_tools::convert::{
    Conversion, ConvertError, Converted, Cut, Facts, Part, Target, convert, facts_at_end,
};
use qlog_tools::trace::Vantage;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};

/// Rewrite a log as JSON-SEQ of the current or an older schema; keep only a part; remove names
///
/// A part keeps its streams' earlier headers, priorities and promises, and only the losses of its own packets. Exit code
/// 2: a log could not be read; the others of its directory are still written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost qlog convert client.qlog -o client.sqlog\n  \
utmost qlog convert client.sqlog --to 0.3 --time 100ms..2s --stream 0,4 --anonymise -o part.sqlog\n  \
utmost qlog convert logs/ --anonymise -o shared/")]
pub(crate) struct Arguments {
    /// The log, a directory of logs, or `-` for the standard input
    file: PathBuf,
    /// Where to write: a file, or for a directory of logs a directory [default: the standard output]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The schema: `current` as the Rust crate qlog reads it, `0.3` as qvis does
    #[arg(long, default_value = "current", value_parser = choice(TARGETS))]
    to: Target,
    /// Keep only events of this time on the log's clock: `100ms..2s`; either end may be missing
    #[arg(long, value_name = "FROM..TO", value_parser = time_range)]
    time: Option<std::ops::Range<u64>>,
    /// Only frames of these streams
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    stream: Vec<u64>,
    /// Replace hosts, paths, addresses, identifiers and other field values
    #[arg(long)]
    anonymise: bool,
    /// The side that wrote the log, whatever the log says
    #[arg(long, value_parser = choice(SIDES))]
    vantage: Option<Vantage>,
    /// Which trace of the file, as `check` numbers them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    trace: u16,
}

const TARGETS: Choices<Target> = &[
    ("current", "JSON-SEQ, quic-events-12 and h3-events-12", Target::Current),
    ("0.3", "JSON-SEQ, qlog 0.3 and draft-02's events", Target::V03),
];

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.file.is_dir() {
        return convert_directory(arguments);
    }
    let out = arguments.out.as_deref().filter(|out| *out != Path::new("-"));
    let out =
        out.map(|out| if out.is_dir() { out.join(name(&arguments.file)) } else { out.into() });
    out.iter().try_for_each(|out| values::writable(out, "-o"))?;
    let Some(converted) = convert_file(arguments, &arguments.file, out.as_deref())? else {
        return Ok(());
    };
    let told = told(arguments, &converted);
    if !converted.is_whole() {
        return Err(Failure::of_file(&arguments.file, told));
    }
    output::note(&told);
    Ok(())
}

/// Converts all logs of a directory into another directory.
fn convert_directory(arguments: &Arguments) -> Result<(), Failure> {
    let from = &arguments.file;
    let Some(out) = &arguments.out else {
        let reason = "a directory: name another one for the converted logs with -o DIR";
        return Err(Failure::of_file(from, reason));
    };
    let logs = logs_of(from)?;
    values::directory(out, "-o")?;
    if from.canonicalize().ok() == out.canonicalize().ok() {
        return Err(Failure::of_file(from, "-o names the same directory; name another one"));
    }
    let mut refused = Refused::of(logs.len());
    let (mut written, mut bad_records, mut parts) = (BTreeSet::new(), 0, 0);
    for log in logs {
        let mut name = name(&log);
        if written.contains(&name) {
            // Logs whose names differ only in their endings keep them.
            name = format!("{}.sqlog", log.file_name().unwrap_or_default().display());
        }
        match convert_file(arguments, &log, Some(&out.join(&name))) {
            Ok(converted) => {
                let told = converted.as_ref().map(|it| told(arguments, it)).unwrap_or_default();
                let (from, to) = (log.display(), out.join(&name));
                output::note(&format!("{from} -> {}: {told}", to.display()));
                written.insert(name);
                bad_records += converted.map_or(0, |it| it.bad_records);
                parts += usize::from(converted.is_some_and(|it| !it.is_whole()));
            }
            Err(Failure::BadInput(reason)) => refused.add(&log.display().to_string(), reason),
            Err(other) => return Err(other),
        }
    }
    refused.end()?;
    let reason = match (bad_records, parts) {
        (0, 0) => return Ok(()),
        (0, _) => {
            "archives in it are damaged or cut: they were written as far as they could be unpacked"
                .to_owned()
        }
        _ => format!("{bad_records} records in it could not be read"),
    };
    Err(Failure::of_file(from, reason))
}

/// The name of a converted log: `a.qlog.gz` becomes `a.sqlog`.
fn name(log: &Path) -> String {
    let (stem, _) = parts(log);
    format!("{}.sqlog", if stem == "-" { "stdin" } else { &stem })
}

fn told(arguments: &Arguments, converted: &Converted) -> String {
    let Converted { events, from_before, cut, bad_records, traces, broken_off } = converted;
    let [events, bad_records] =
        [(*events, "event"), (*bad_records, "record")].map(|(count, what)| match count {
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        });
    let from_before = (*from_before > 0)
        .then(|| format!(" ({from_before} from before the cut: what its streams are)"));
    let of_several = (*traces > 1)
        .then(|| format!("; trace {} of {traces}: --trace takes another", arguments.trace));
    let broken_off = broken_off.map(|why| format!("; {why}"));
    format!(
        "{events} written{}, {cut} cut, {bad_records} could not be read{}{}",
        from_before.unwrap_or_default(),
        of_several.unwrap_or_default(),
        broken_off.unwrap_or_default()
    )
}

/// Converts a log. `None` if the reader of the standard output is gone.
fn convert_file(
    arguments: &Arguments,
    log: &Path,
    out: Option<&Path>,
) -> Result<Option<Converted>, Failure> {
    let file = log.display().to_string();
    let Opened { input, part, ending } = open(arguments, log)?;
    let conversion = Conversion {
        ending,
        vantage: arguments.vantage,
        target: arguments.to,
        part,
        anonymise: arguments.anonymise,
        trace: usize::from(arguments.trace) - 1,
    };
    if let Some(out) = out {
        return to_file(&file, input, out, &conversion).map(Some);
    }
    let stdout = BufWriter::new(std::io::stdout().lock());
    match convert(&file, input, stdout, &conversion) {
        Err(ConvertError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(None),
        other => other.map(Some).map_err(failure),
    }
}

/// A log that is ready to be converted.
struct Opened {
    input: File,
    part: Option<Part>,
    /// Its header fields that follow the events.
    ending: Option<Facts>,
}

/// Opens a log. It may have to be read twice: the contents of a part, and header fields after the events, are known only
/// at its end.
fn open(arguments: &Arguments, log: &Path) -> Result<Opened, Failure> {
    let streams: BTreeSet<u64> = arguments.stream.iter().copied().collect();
    let streams = (!streams.is_empty()).then_some(streams);
    let cut = Cut { time_us: arguments.time.clone(), streams };
    let is_whole = cut == Cut::default();
    let file = log.display().to_string();
    let mut input = if log.as_os_str() == "-" { spooled()? } else { opened(log)? };
    let trace = usize::from(arguments.trace) - 1;
    let ending = facts_at_end(&file, &input, trace).map_err(refusal)?;
    input.rewind().map_err(|error| Failure::of_file(log, error))?;
    if is_whole {
        return Ok(Opened { input, part: None, ending });
    }
    let part = Part::survey(&file, &input, trace, cut).map_err(refusal)?;
    has_something(arguments, log, &part)?;
    input.rewind().map_err(|error| Failure::of_file(log, error))?;
    Ok(Opened { input, part: Some(part), ending })
}

/// Fails if --time or --stream selects nothing of the log; notes streams that are not there.
fn has_something(arguments: &Arguments, log: &Path, part: &Part) -> Result<(), Failure> {
    if let Some(ends_us) = part.missed_us() {
        let [first_ms, last_ms] = ends_us.map(milliseconds);
        let reason =
            format!("--time: no event is in it; the log's are from {first_ms} ms to {last_ms} ms");
        return Err(Failure::of_file(log, reason));
    }
    let absent = part.absent_streams();
    if absent.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = absent.iter().map(u64::to_string).collect();
    let place = if arguments.time.is_some() { "the log has in this time" } else { "the log has" };
    let reason = format!(
        "--stream {}: not a stream that {place}; `utmost qlog streams` lists them",
        ids.join(",")
    );
    if absent.len() == arguments.stream.iter().collect::<BTreeSet<_>>().len() {
        return Err(Failure::of_file(log, reason));
    }
    output::note(&format!("{}: {reason}", log.display()));
    Ok(())
}

fn opened(log: &Path) -> Result<File, Failure> {
    if is_capture(log) {
        return Err(Failure::of_file(
            log,
            "a packet capture, which is not rewritten; the other qlog commands read it, with --keys",
        ));
    }
    named_files::open(log).map_err(|error| match error.kind() {
        ErrorKind::NotFound => no_such_file(&log.display().to_string()),
        _ => Failure::of_file(log, error),
    })
}

/// The standard input in a hidden file, so that it can be read twice.
fn spooled() -> Result<File, Failure> {
    let mut file = tempfile::tempfile().map_err(Failure::elsewhere)?;
    std::io::copy(&mut std::io::stdin().lock(), &mut file).map_err(Failure::elsewhere)?;
    file.rewind().map_err(Failure::elsewhere)?;
    Ok(file)
}

fn to_file(
    file: &str,
    input: File,
    out: &Path,
    conversion: &Conversion,
) -> Result<Converted, Failure> {
    spare(Path::new(file), out)?;
    let mut output = OnceNeeded { path: out, file: None };
    let converted = convert(file, input, &mut output, conversion);
    match converted {
        Err(ConvertError::Write(error)) => Err(Failure::of_file(out, error)),
        other => other.map_err(failure),
    }
}

/// A file that is created when its first byte is written, so that an invalid log neither overwrites an older file nor
/// leaves an empty one.
struct OnceNeeded<'a> {
    path: &'a Path,
    file: Option<BufWriter<File>>,
}

impl Write for OnceNeeded<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(BufWriter::new(File::create(self.path)?)),
        };
        file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

fn failure(error: ConvertError) -> Failure {
    match error {
        ConvertError::Write(_) => Failure::elsewhere(error),
        ConvertError::Read(error) => refusal(error),
        ConvertError::NoTrace { .. } => Failure::bad_input(error),
    }
}

/// `FROM..TO` in microseconds.
fn time_range(text: &str) -> Result<std::ops::Range<u64>, String> {
    let ends = text.split_once("..").and_then(|(from, to)| {
        let from = if from.is_empty() { 0 } else { time_us(from)? };
        let to = if to.is_empty() { u64::MAX } else { time_us(to)? };
        Some((from, to))
    });
    let Some((from, to)) = ends else {
        return Err(format!("`{text}` is not a range; use for example 100ms..2s"));
    };
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
    fn a_converted_log_is_named_after_its_log() {
        for (log, expected) in [
            ("logs/a.qlog.gz", "a.sqlog"),
            ("a.sqlog.zst", "a.sqlog"),
            ("a.json", "a.sqlog"),
            ("a", "a.sqlog"),
            ("-", "stdin.sqlog"),
        ] {
            assert_eq!(name(Path::new(log)), expected);
        }
    }

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
