//! `utmost qlog lint`: packets that broke the rules.

use super::input::{Logs, alone_or_in, logs_of, read, read_each, refusal};
use super::refused::Refused;
use crate::log_names::{Called, called};
use crate::{output, values};
use ::serve::Failure;
use qlog_tools::lint::{Allowance, Lint, Rules, browser, lint};
use qlog_tools::pairing::{client_of, senders};
use qlog_tools::reader::{ReadError, ReadOptions, Unread, is_har, read_file_traces, read_traces};
use qlog_tools::trace::{Detail, Trace};
use schedulers::Scheme;
use serde::de::IgnoredAny;
use serde_json::json;
use std::io::Read;
use std::path::{Path, PathBuf};

const ROWS_MAX: usize = 20;
/// How much detail of a log lint keeps.
const ORDER: ReadOptions = ReadOptions { detail: Detail::Order, vantage: None };
/// The first bytes of the standard input, which show whether it is a browser's log.
const HEAD_BYTES: u64 = 1024;

/// Find packets that break the order of RFC 9218, or of a scheme
///
/// A server's log shows the packets sent; a client's log, alone or with it, shows the requests. Logs of utmost's own
/// server hold every scheduler call, so lint judges them exactly, by the scheme that they name or by --scheme. For other
/// logs, lint infers which responses could have been sent: a response counts as ready some time after its request, except
/// while it pauses. Exit code 1: there are violations. Exit code 2: a log could not be read or judged (`cannot_judge`),
/// whatever the result of the others.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost qlog lint server.sqlog --client client.sqlog\n  \
utmost qlog lint server.sqlog --scheme bucket --json")]
pub(crate) struct Arguments {
    /// Logs, HAR files, lists of DevTools events, directories of these, or `-` for the standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The log of the connection's other end, or its directory
    #[arg(long, value_name = "LOG")]
    client: Option<PathBuf>,
    /// The secrets of packet captures, which tshark reads: the file named by `SSLKEYLOGFILE`
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Judge by this scheme instead of the log's own, or RFC 9218
    #[arg(long, value_name = "NAME")]
    scheme: Option<String>,
    #[command(flatten)]
    own: values::OwnSchemes,
    /// The page, for schemes that use it
    #[arg(long, value_name = "PAGE", requires = "scheme")]
    page: Option<String>,
    /// Packets that may already be in flight when something more urgent becomes ready
    #[arg(long, value_name = "PACKETS", default_value_t = 10)]
    tolerance: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let scheme = scheme(arguments)?;
    let rules = scheme.as_ref().map_or(Rules::Named, Rules::Scheme);
    let allowance = Allowance { packets: arguments.tolerance.into(), ..Allowance::default() };
    let Logs { traces, mut refused, .. } =
        read_each(arguments.files.iter().flat_map(|file| files_of(file)), |path| {
            traces_of(path, arguments.keys.as_deref())
        })?;
    let clients = clients(arguments)?;
    refused.add_incomplete(&clients);
    let mut judged: Vec<(&Trace, Lint)> = Vec::new();
    for trace in senders(&traces) {
        let client = client_of(trace, &clients, &traces).map_err(Failure::bad_input)?;
        judged.push((trace, lint(trace, client, &rules, allowance)));
    }
    values::none_failed(&scheme)?;
    refused.add_files(judged.iter().map(|(trace, lint)| (*trace, lacks(trace, lint))));
    show(arguments, &judged, &refused)?;
    refused.end_with(match judged.iter().map(|(_, lint)| lint.packets_broken).sum::<u64>() {
        0 => None,
        1 => Some("1 packet broke the rules".to_owned()),
        count => Some(format!("{count} packets broke the rules")),
    })
}

fn clients(arguments: &Arguments) -> Result<Vec<Trace>, Failure> {
    let Some(file) = &arguments.client else { return Ok(Vec::new()) };
    let Logs { traces, refused, .. } = read_each(std::iter::once((None, file.clone())), |path| {
        read(path, ORDER, arguments.keys.as_deref())
    })?;
    refused.answered().map(|()| traces)
}

/// Why a log was not judged, in a line that names the log.
fn lacks(trace: &Trace, lint: &Lint) -> Option<String> {
    lint.cannot_judge.as_ref().map(|lacks| format!("{}: cannot judge: {lacks}", trace.label()))
}

/// The files of a directory that lint reads: qlogs, HAR files and lists of DevTools events; for a file, the file itself.
fn files_of(path: &Path) -> Vec<(Option<String>, PathBuf)> {
    let mut files = logs_of(path).unwrap_or_default();
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten().map(|it| it.path());
    files.extend(entries.filter(|it| it.is_file() && is_browsers(it)));
    files.sort();
    if files.is_empty() {
        // Reading it gives the reason.
        files.push(path.to_owned());
    }
    files.into_iter().map(|file| (None, file)).collect()
}

/// Whether a file is a browser's log, by its name; for other JSON, by its contents.
fn is_browsers(path: &Path) -> bool {
    match called(path) {
        Called::Har => true,
        Called::Json => {
            browser_log(path).is_ok_and(|it| it.is_some_and(|traces| has_sent(&traces)))
        }
        Called::Qlog | Called::SomethingElse => false,
    }
}

fn has_sent(traces: &[Trace]) -> bool {
    traces.iter().any(|trace| !trace.timeline.transfers.is_empty())
}

/// The traces of a qlog, or the connections of a browser's log.
fn traces_of(path: &Path, keys: Option<&Path>) -> Result<Vec<Trace>, Failure> {
    if path.as_os_str() == "-" {
        return traces_of_input(ORDER);
    }
    match read_file_traces(path, ORDER) {
        Err(ReadError { why: Unread::NotQlog { .. } | Unread::NoTraces(_), .. }) => {
            browser_log(path)?.map_or_else(|| read(path, ORDER, keys), Ok)
        }
        other => other.map_err(refusal),
    }
}

/// The same for the standard input, which cannot be read twice: its first bytes decide.
fn traces_of_input(options: ReadOptions) -> Result<Vec<Trace>, Failure> {
    let file = "(standard input)";
    let plain = qlog_tools::reader::plain(std::io::stdin().lock());
    let mut plain = plain.map_err(|error| Failure::of_file(Path::new(file), error))?;
    let mut head = Vec::new();
    let read = plain.by_ref().take(HEAD_BYTES).read_to_end(&mut head);
    read.map_err(|error| Failure::of_file(Path::new(file), error))?;
    let text = browser::json_text(head.clone());
    let is_browsers = is_har(text.as_bytes()) || text.trim_start().starts_with('[');
    let input = head.chain(plain);
    if !is_browsers {
        return read_traces(file, input, options).map_err(refusal);
    }
    let mut json = Vec::new();
    let read = input.take(browser::BYTES_MAX + 1).read_to_end(&mut json);
    read.map_err(|error| Failure::of_file(Path::new(file), error))?;
    match browser_traces(file, json.clone())? {
        Some(traces) => Ok(traces),
        None => read_traces(file, &*json, options).map_err(refusal),
    }
}

/// The connections of a file that is not a qlog, if it is a browser's log.
fn browser_log(path: &Path) -> Result<Option<Vec<Trace>>, Failure> {
    let plain = named_files::open(path).and_then(qlog_tools::reader::plain);
    let mut json = Vec::new();
    let read = plain.and_then(|plain| plain.take(browser::BYTES_MAX + 1).read_to_end(&mut json));
    read.map_or(Ok(None), |_| browser_traces(&path.display().to_string(), json))
}

/// The connections in a browser's log; `None` if the JSON is something else.
fn browser_traces(file: &str, json: Vec<u8>) -> Result<Option<Vec<Trace>>, Failure> {
    let wrong = |cause: String| Failure::of_file(Path::new(file), cause);
    if json.len() as u64 > browser::BYTES_MAX {
        let mebibytes = browser::BYTES_MAX >> 20;
        return Err(wrong(format!(
            "not a qlog, and more than {mebibytes} MiB: save a HAR without bodies"
        )));
    }
    let text = browser::json_text(json);
    let json = text.as_bytes();
    let end = serde_json::from_slice::<IgnoredAny>(json).err().filter(serde_json::Error::is_eof);
    if end.is_some() && is_har(json) {
        return Err(wrong("the HAR's JSON ends early".to_owned()));
    }
    match browser::read(file, json).map_err(wrong)? {
        None if is_har(json) => {
            let error = browser::har_error(json).unwrap_or_default();
            Err(wrong(format!("is not a HAR file: {error}")))
        }
        read => Ok(read),
    }
}

fn scheme(arguments: &Arguments) -> Result<Option<Scheme>, Failure> {
    let Some(name) = &arguments.scheme else { return Ok(None) };
    let catalogue = arguments.own.catalogue(&[])?;
    let scheme = match &arguments.page {
        Some(page) => {
            let graph = values::page(page)?.graph();
            catalogue.find_for_page(name).map(|it| it.for_page(&graph))
        }
        None => catalogue.find(name),
    };
    scheme.map(Some).map_err(values::no_scheme)
}

fn show(
    arguments: &Arguments,
    judged: &[(&Trace, Lint)],
    refused: &Refused,
) -> Result<(), Failure> {
    if arguments.json {
        let documents = judged.iter().map(|(trace, lint)| document(trace, lint)).collect();
        let document = alone_or_in("traces", documents);
        return refused.print_json("utmost-qlog-lint/1", document);
    }
    judged
        .iter()
        .filter(|(_, lint)| lint.cannot_judge.is_none())
        .try_for_each(|(trace, lint)| show_one(trace, lint))
}

fn show_one(trace: &Trace, lint: &Lint) -> Result<(), Failure> {
    if !lint.violations.is_empty() {
        let rows = lint.violations.iter().take(ROWS_MAX).map(|violation| {
            vec![
                format!("{:.3}", violation.time_us as f64 / 1000.0),
                violation.stream.to_string(),
                violation.expected_stream.to_string(),
                violation.rule.clone(),
            ]
        });
        let table = output::table(&["time ms", "stream", "expected", "rule"], &[3], rows);
        output::line(&table.to_string())?;
        let more = lint.packets_broken.saturating_sub(ROWS_MAX as u64);
        if more > 0 {
            output::line(&format!("and {more} more: see --json"))?;
        }
    }
    output::line(&format!(
        "{}: {} of {} packets broke the rules, {} bytes were sent before others that should have been first (judged by {})",
        trace.label(),
        lint.packets_broken,
        lint.packets_checked,
        lint.inversion_bytes,
        lint.basis
    ))
}

fn document(trace: &Trace, lint: &Lint) -> serde_json::Value {
    let violations = lint.violations.iter().map(|violation| {
        json!({
            "time_ms": violation.time_us as f64 / 1000.0,
            "stream": violation.stream,
            "expected_stream": violation.expected_stream,
            "rule": violation.rule,
        })
    });
    json!({
        "file": trace.file,
        "trace": trace.number.unwrap_or(1),
        "violations": violations.collect::<Vec<_>>(),
        "packets_broken": lint.packets_broken,
        "inversion_bytes": lint.inversion_bytes,
        "packets_checked": lint.packets_checked,
        "cannot_judge": lint.cannot_judge,
        "basis": lint.basis,
    })
}
