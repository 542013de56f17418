//! `utmost qlog export`: series as CSV.

use crate::{data, only_line, stdout_of, utmost};

fn log(name: &str) -> String {
    data("qlog").join(name).to_str().expect("UTF-8").to_owned()
}

/// The lines of a series.
fn lines(series: &str, logs: &[&str]) -> Vec<String> {
    let logs: Vec<String> = logs.iter().map(|it| log(it)).collect();
    let mut all = vec!["qlog", "export", "--series", series];
    all.extend(logs.iter().map(String::as_str));
    stdout_of(&all).lines().map(str::to_owned).collect()
}

/// Those that the small pair of logs has.
const SERIES: [&str; 10] = [
    "streams",
    "frames",
    "blocking",
    "index",
    "priorities",
    "packets",
    "events",
    "congestion",
    "progress",
    "restraints",
];

#[test]
fn every_series_of_a_pair_has_a_header_and_rows() {
    let help = stdout_of(&["qlog", "export", "--help"]);
    for series in SERIES {
        assert!(help.contains(&format!("- {series}:")), "{series}: {help}");
        let lines = lines(series, &["client.sqlog", "server.sqlog"]);
        assert!(lines[0].starts_with("log,side,shift_ms,"), "{series}: {}", lines[0]);
        assert!(lines.len() > 1, "{series}");
        let commas = |it: &&String| {
            !it.contains('"') && it.matches(',').count() != lines[0].matches(',').count()
        };
        assert_eq!(lines.iter().find(commas), None, "{series}: as many values as columns");
    }
}

#[test]
fn frames_of_a_client_are_in_the_order_of_arrival() {
    let lines = lines("frames", &["client.sqlog", "server.sqlog"]);
    assert_eq!(lines[0], "log,side,shift_ms,time_ms,packet,stream,offset,bytes,new_bytes,cause");
    // The second frame of stream 4 was lost, and came 25 ms later.
    let repaired: Vec<&String> = lines
        .iter()
        .filter(|it| it.starts_with("client") && it.ends_with(",retransmitted"))
        .collect();
    assert_eq!(repaired.len(), 1, "{lines:#?}");
}

#[test]
fn a_name_with_a_comma_and_a_quote_is_quoted() {
    let named = format!("a,\"b\"={}", log("client.sqlog"));
    let text = stdout_of(&["qlog", "export", "--series", "index", &named]);
    assert!(
        text.lines().nth(1).is_some_and(|it| it.starts_with("\"a,\"\"b\"\"\",client,0.000,")),
        "{text}"
    );
}

#[test]
fn a_file_gets_the_rows_and_a_line_says_how_many() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("streams.csv");
    let out = out.to_str().expect("UTF-8");
    let said =
        stdout_of(&["qlog", "export", "--series", "streams", &log("client.sqlog"), "-o", out]);
    let written = std::fs::read_to_string(out).expect("a table");
    let rows = written.lines().count() - 1;
    assert_eq!(said, format!("wrote {out}: {rows} rows\n"));
    assert!(written.contains("https://example.test/style.css"), "{written}");
}

#[test]
fn a_log_without_the_series_is_refused_with_the_reason() {
    let output = utmost(&["qlog", "export", "--series", "restraints", &log("client.sqlog")]);
    let line = only_line(&{ output }.output().expect("it runs"), 2);
    assert!(
        line.contains("a client's log shows what arrived, not what held the server back"),
        "{line}"
    );
}
