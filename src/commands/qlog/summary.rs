//! `utmost qlog summary`: a connection in some sentences.

use super::input::{Logs, alone_or_in};
use super::section::Arguments;
use crate::csv_table::CsvTable;
use crate::output;
use ::serve::Failure;
use qlog_tools::lint::{Allowance, Rules, lint};
use qlog_tools::naming::short_name;
use qlog_tools::pairing::{Ends, pairs, why_apart};
use qlog_tools::short_texts::shown;
use qlog_tools::summary::{Summary, Traffic, moved};
use qlog_tools::trace::{Detail, Trace, Vantage};
use serde_json::{Value, json};

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Logs { traces, mut refused, apart, .. } = arguments.files.read(Detail::Full)?;
    refused.add_files(traces.iter().map(|trace| (trace, without_packets(trace))));
    let mut connections = pairs(&traces);
    connections.retain(|it| without_packets(it.log).is_none());
    if arguments.csv {
        print_csv(&connections)?;
        return refused.end();
    }
    let summaries: Vec<Summary> = connections.iter().map(summary).collect();
    let moved = match (&connections[..], &summaries[..]) {
        ([first, other], [before, after]) => compared([first, other], [before, after]),
        _ => Vec::new(),
    };
    if arguments.json {
        let mut document = document_of_all(&connections, &summaries, &moved);
        if !apart.is_empty() {
            document["not_joined"] = json!(apart);
        }
        refused.print_json("utmost-qlog-summary/1", document)?;
    } else {
        apart.iter().chain(&moved).try_for_each(|it| output::line(it))?;
        for (place, (ends, summary)) in connections.iter().zip(&summaries).enumerate() {
            if place > 0 || !moved.is_empty() || !apart.is_empty() {
                output::line("")?;
            }
            output::line(&heading(ends))?;
            undecrypted(ends).iter().try_for_each(|it| output::line(&format!("- {it}")))?;
            summary.sentences.iter().try_for_each(|it| output::line(&format!("- {}", it.text)))?;
        }
    }
    refused.end()
}

/// The differences between two runs of a page. Connections of one file are not such runs, nor are logs of one connection.
fn compared(runs: [&Ends<'_>; 2], summaries: [&Summary; 2]) -> Vec<String> {
    let logs = logs_of_one_side(runs)
        .filter(|[first, other]| first.file != other.file && why_apart(runs[0], runs[1]).is_none());
    let Some(logs) = logs else { return Vec::new() };
    if runs[0].server.is_some() == runs[1].server.is_some() {
        return moved(logs, summaries);
    }
    // One of the runs has only this log.
    let [first, other] = logs.map(|log| Summary::of(&Ends { log, server: None }, None));
    moved(logs, [&first, &other])
}

/// When bytes were sent does not compare with when they arrived.
fn logs_of_one_side<'a>([first, other]: [&Ends<'a>; 2]) -> Option<[&'a Trace; 2]> {
    match [first, other].map(|it| it.log.vantage == Vantage::Server) {
        [true, false] => Some([first.log, other.server?]),
        [false, true] => Some([first.server?, other.log]),
        _ => Some([first.log, other.log]),
    }
}

fn without_packets(trace: &Trace) -> Option<String> {
    let counts = &trace.counts;
    let is_empty = counts.packets_sent + counts.packets_received + counts.stream_frames == 0;
    let why = match counts.bad_records {
        0 => "no packets logged".to_owned(),
        1 => "a record could not be read, and the others have no packets".to_owned(),
        bad => format!("{bad} records could not be read, and the others have no packets"),
    };
    is_empty.then(|| format!("{}: {why}: there is nothing to tell", trace.label()))
}

/// The summary, with the verdict of lint on the server's log.
fn summary(ends: &Ends<'_>) -> Summary {
    let sender = ends.server.unwrap_or(ends.log);
    let client = ends.server.map(|_| ends.log);
    let is_server = sender.vantage == Vantage::Server;
    let verdict = is_server.then(|| lint(sender, client, &Rules::Named, Allowance::default()));
    Summary::of(ends, verdict.as_ref())
}

fn heading(ends: &Ends<'_>) -> String {
    let server = ends.server.map_or_else(String::new, |it| format!(" with {}", called(it)));
    let clock = ends.server.map_or("", |_| ", times on the client's clock");
    let stack = ends.server.unwrap_or(ends.log).header.stack.to_string();
    format!("{}{server} ({}, {}{clock}):", called(ends.log), shown(&stack, 60), side(ends))
}

/// The user's name for a log, or its file.
fn called(trace: &Trace) -> String {
    let (name, label) = (&trace.timeline.name, trace.label());
    if *name == short_name(&label) { label } else { shown(name, 120) }
}

/// Which packets of captures are missing from the sentences.
fn undecrypted(ends: &Ends<'_>) -> Vec<String> {
    let logs = [Some(ends.log), ends.server].into_iter().flatten();
    logs.filter(|it| it.undecrypted_packets() > 0)
        .map(|it| {
            let (all, label) = (it.counts.packets_sent + it.counts.packets_received, it.label());
            let unread = it.undecrypted_packets();
            format!("{unread} of {all} packets in {label} could not be decrypted: what follows is of the others.")
        })
        .collect()
}

fn side(ends: &Ends<'_>) -> &'static str {
    if ends.server.is_some() { "both ends" } else { ends.log.vantage.name() }
}

fn document_of_all(connections: &[Ends<'_>], summaries: &[Summary], moved: &[String]) -> Value {
    let documents = connections.iter().zip(summaries).map(|(ends, summary)| {
        let mut document = document(ends, summary);
        if let (Value::Object(fields), Value::Object(traffic)) =
            (&mut document, json!(Traffic::of(ends)))
        {
            fields.extend(traffic);
        }
        document
    });
    let mut document = alone_or_in("connections", documents.collect());
    if !moved.is_empty() {
        document["moved"] = json!(moved);
    }
    document
}

fn document(ends: &Ends<'_>, summary: &Summary) -> Value {
    let mut document = json!(summary);
    document["file"] = ends.log.file.clone().into();
    document["trace"] = ends.log.number.unwrap_or(1).into();
    document["server_file"] = ends.server.map(|it| it.file.clone()).into();
    document["stack"] = ends.server.unwrap_or(ends.log).header.stack.to_string().into();
    document["connection"] = ends.log.connection.clone().into();
    document["side"] = side(ends).into();
    document
}

/// The columns of `--csv`, and the place of their values in a connection's JSON.
const COLUMNS: [(&str, &str); 22] = [
    ("log", "/file"),
    ("server_log", "/server_file"),
    ("stack", "/stack"),
    ("side", "/side"),
    ("connection", "/connection"),
    ("duration_ms", "/duration_ms"),
    ("response_bytes", "/response_bytes"),
    ("goodput_bits_per_s", "/flow/goodput_bits_per_s"),
    ("path_bits_per_s", "/flow/path_bits_per_s"),
    ("packets_sent", "/packets_sent"),
    ("packets_lost", "/recovery/lost"),
    ("spurious_losses", "/recovery/spurious"),
    ("never_came_share", "/recovery/never_came_share"),
    ("least_rtt_ms", "/round_trips/least_ms"),
    ("p95_rtt_ms", "/round_trips/p95_ms"),
    ("cause", "/held/cause"),
    ("restraint", "/held/by"),
    ("restraint_share", "/held/share"),
    ("probe_timeouts", "/probe_timeouts"),
    ("longest_wait_ms", "/longest_wait/wait_ms"),
    ("closed_by", "/ending/close/by"),
    ("close_error", "/ending/close/error/name"),
];

fn print_csv(connections: &[Ends<'_>]) -> Result<(), Failure> {
    let mut table = CsvTable::begin(None, COLUMNS.map(|it| it.0))?;
    let written = connections.iter().try_for_each(|ends| table.write(cells(ends)));
    table.end(written)
}

fn cells(ends: &Ends<'_>) -> [String; COLUMNS.len()] {
    let summary = Summary::of(ends, None);
    let mut document = document(ends, &summary);
    document["probe_timeouts"] = summary.probe_timeouts().into();
    COLUMNS.map(|(_, place)| match document.pointer(place) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) if number.is_f64() => {
            format!("{:.3}", number.as_f64().unwrap_or_default())
        }
        Some(value) => value.to_string(),
    })
}

/// The row of each connection of a log, by column name. Skips connections without packets.
pub(crate) fn rows(traces: &[Trace]) -> Vec<Value> {
    let with_packets = traces.iter().filter(|it| without_packets(it).is_none());
    let rows = with_packets.map(|log| {
        let names = COLUMNS.iter().map(|it| it.0.to_owned());
        let cells = cells(&Ends { log, server: None }).map(Value::String);
        Value::Object(names.zip(cells).collect())
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(file: &str, vantage: Vantage) -> Trace {
        let mut trace = Trace::default();
        (trace.file, trace.vantage) = (file.to_owned(), vantage);
        trace
    }

    #[test]
    fn only_logs_of_one_side_are_compared() {
        let [client, again] = ["client", "again"].map(|file| log(file, Vantage::Client));
        let [server, lone] = ["server", "lone"].map(|file| log(file, Vantage::Server));
        let both = Ends { log: &client, server: Some(&server) };
        let [at_client, at_server] = [&again, &lone].map(|log| Ends { log, server: None });
        let files = |runs| logs_of_one_side(runs).map(|logs| logs.map(|it| &*it.file));
        assert_eq!(files([&both, &at_client]), Some(["client", "again"]));
        assert_eq!(files([&both, &at_server]), Some(["server", "lone"]));
        assert_eq!(files([&at_server, &both]), Some(["lone", "server"]));
        assert_eq!(files([&at_client, &at_server]), None);
    }

    #[test]
    fn a_heading_has_the_users_name_for_a_log_or_its_file() {
        let heading = |name: Option<&str>| {
            let log = qlog_tools::naming::named(log("logs/a.sqlog", Vantage::Client), name);
            heading(&Ends { log: &log, server: None })
        };
        assert!(heading(None).starts_with("logs/a.sqlog ("), "{}", heading(None));
        assert!(heading(Some("before")).starts_with("before ("), "{}", heading(Some("before")));
    }

    #[test]
    fn a_log_without_packets_has_none_or_could_not_be_read() {
        let told = |bad_records: u64| {
            let mut unread = log("a", Vantage::Client);
            unread.counts.bad_records = bad_records;
            without_packets(&unread)
        };
        assert_eq!(told(0).unwrap(), "a: no packets logged: there is nothing to tell");
        let unread = "a: 1378 records could not be read, and the others have no packets: there is nothing to tell";
        assert_eq!(told(1378).unwrap(), unread);
    }
}
