//! What an engineer does with logs: judge them, look at them, and probe a server.

use crate::running::Running;
use crate::schemas::assert_valid;
use crate::{data, only_line, stdout_of, utmost};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

fn fixture() -> String {
    data("first-come.qlog").display().to_string()
}

#[test]
fn lint_flags_a_first_come_server_and_says_so_by_its_exit_code() {
    let output = utmost(&["qlog", "lint", &fixture(), "--json"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_valid("qlog-lint.json", &document);
    let first = &document["violations"][0];
    assert_eq!((first["stream"].as_u64(), first["expected_stream"].as_u64()), (Some(0), Some(4)));
    assert_eq!(document["cannot_judge"], Value::Null);
}

/// As `lint LOG | head` may find it.
#[test]
fn a_closed_pipe_does_not_change_the_exit_code() {
    let folder = tempfile::tempdir().expect("a directory");
    let missing = folder.path().join("missing.qlog").display().to_string();
    let logs = [fixture(), missing];
    for (arguments, code) in [
        (vec!["lint", &logs[0]], 1),
        (vec!["lint", &logs[0], "--json"], 1),
        (vec!["streams", &logs[0]], 0),
        (vec!["streams", &logs[0], &logs[1]], 2),
        (vec!["export", &logs[0], "--series", "frames"], 0),
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut program = Command::new(crate::PROGRAM);
        let program = program.arg("qlog").args(&arguments).stdout(writer).stderr(Stdio::null());
        let status = program.status();
        assert_eq!(status.expect("it runs").code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn lint_says_what_it_cannot_judge() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("empty.qlog");
    std::fs::write(&path, "{\"file_schema\":\"x\"}\n").expect("written");
    let path = path.to_str().expect("UTF-8");
    let line = only_line(&utmost(&["qlog", "lint", path]).output().expect("it runs"), 2);
    assert!(line.contains("cannot judge: no STREAM frames"), "{line}");
    let output = utmost(&["qlog", "lint", path, "--json"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_valid("qlog-lint.json", &document);
    assert_eq!(document["cannot_judge"], "no STREAM frames of responses logged");
}

#[test]
fn limits_says_what_held_a_server_back_and_what_it_assumed() {
    let server = data("qlog").join("server.sqlog").display().to_string();
    let output = utmost(&["qlog", "limits", &server, "--json"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_valid("qlog-limits.json", &document);
    let parts = document["totals"].as_array().expect("totals").iter();
    let sum: f64 = parts.map(|it| it["ms"].as_f64().expect("a number")).sum();
    let duration = document["duration_ms"].as_f64().expect("a number");
    assert!((sum - duration).abs() < 1e-6 && duration > 0.0, "{document}");
    let table = stdout_of(&["qlog", "limits", &server]);
    assert!(table.contains("congestion window") && table.contains("assumed: "), "{table}");
    let client = data("qlog").join("client.sqlog").display().to_string();
    let line = only_line(&utmost(&["qlog", "limits", &client]).output().expect("it runs"), 2);
    assert!(line.contains("not what held the server back"), "{line}");
}

#[test]
fn our_server_passes_lint_under_every_scheme() {
    let folder = tempfile::tempdir().expect("a directory");
    let logs = folder.path().to_str().expect("UTF-8");
    for scheme in ["rr", "fifo", "p+", "bucket", "rfc9218", "zeroweight"] {
        let logs = format!("{logs}/{scheme}");
        stdout_of(&["play", "davies-meenan", "--scheme", scheme, "--qlog", &logs]);
        let document: Value = serde_json::from_str(&stdout_of(&[
            "qlog", "lint", &logs, "--scheme", scheme, "--json",
        ]))
        .expect("JSON");
        assert_valid("qlog-lint.json", &document);
        assert!(document["packets_checked"].as_u64() > Some(100), "{scheme}: {document}");
        assert_eq!(document["basis"], "the server's own log of its scheduler");
    }
}

#[test]
fn lint_judges_our_servers_log_by_the_scheme_that_it_names() {
    let folder = tempfile::tempdir().expect("a directory");
    let logs = folder.path().to_str().expect("UTF-8");
    stdout_of(&["play", "davies-meenan", "--scheme", "bucket-html", "--qlog", logs]);
    let line = stdout_of(&["qlog", "lint", logs]);
    assert!(
        line.contains(": 0 of ") && line.contains("judged by bucket-html, which the log names"),
        "{line}"
    );
    let client = format!("{logs}/client.sqlog");
    let arguments = ["qlog", "lint", &client, "--scheme", "bucket"];
    let line = only_line(&utmost(&arguments).output().expect("it runs"), 2);
    assert!(line.contains("give the log of the utmost server"), "{line}");
}

#[test]
fn lint_takes_hars_in_directories_and_on_the_standard_input() {
    let entry = |url: &str, start: &str, wait: u64, receive: u64, priority: &str| {
        format!(
            r#"{{"startedDateTime":"2026-01-01T00:00:0{start}Z","connection":"9","_priority":"{priority}","request":{{"url":"{url}"}},"response":{{"httpVersion":"h3","_transferSize":300000}},"timings":{{"blocked":0,"send":0,"wait":{wait},"receive":{receive}}}}}"#
        )
    };
    let image = entry("/i.png", "0.000", 20, 2000, "Low");
    let css = entry("/a.css", "0.200", 1810, 10, "VeryHigh");
    let har = format!(r#"{{"log":{{"entries":[{image},{css}]}}}}"#);
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::write(folder.path().join("page.har"), &har).expect("written");
    // JSON that is no list of DevTools events is left alone.
    std::fs::write(folder.path().join("manifest.json"), "[{\"pages\": 3}]").expect("written");
    let of_directory = utmost(&["qlog", "lint", folder.path().to_str().expect("UTF-8")]);
    for (mut command, input) in [(of_directory, ""), (utmost(&["qlog", "lint", "-"]), &*har)] {
        let output = command.write_stdin(input).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("connection 9: "), "{text}");
    }
}

#[test]
fn a_report_is_one_file_with_its_figures_beside_it() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (page, figures) = (at("report.html"), at("figures"));
    stdout_of(&["qlog", "report", &fixture(), "-o", &page, "--figures", &figures]);
    let html = std::fs::read_to_string(page).expect("written");
    assert!(html.contains("<h1>first-come.qlog</h1>"), "{}", &html[..2000]);
    assert!(folder.path().join("figures/1-waterfall.svg").is_file());
}

#[test]
fn the_local_page_lists_and_opens_logs_and_nothing_else() {
    let folder = data("");
    let view = Running::start(&["view", folder.to_str().expect("UTF-8")]);
    let host = view.address.clone();
    let list = view.http("GET /logs", &host, "");
    assert!(list.contains("200 OK") && list.contains("first-come.qlog"), "{list}");
    assert!(view.http("GET /report?file=first-come.qlog", &host, "").contains("id=\"data\""));
    for outside in ["..%2Fmain.rs", "%2Fetc%2Fpasswd", "server.pem%00", "..%2f..%2fCargo.toml"] {
        let answer = view.http(&format!("GET /report?file={outside}"), &host, "");
        assert!(answer.starts_with("HTTP/1.1 422"), "{outside}: {answer}");
    }
    let elsewhere = format!("evil.test:{}", host.rsplit(':').next().expect("a port"));
    let is_refused = |host: &str| view.http("GET /logs", host, "").starts_with("HTTP/1.1 403");
    assert!(is_refused("evil.test") && is_refused(&elsewhere));
    assert!(!is_refused(&format!("{host}\r\nSec-Fetch-Site: same-origin")));
    assert!(is_refused(&format!("{host}\r\nSec-Fetch-Site: cross-site")));
    let log = std::fs::read_to_string(data("first-come.qlog")).expect("read");
    assert!(view.http("POST /upload?name=..%2Fx.qlog", &host, &log).contains("dropped: x.qlog"));
    assert!(view.http("GET /report?file=dropped%3A+x.qlog", &host, "").contains("id=\"data\""));
    assert!(view.http("POST /upload?name=x", &host, "nonsense").starts_with("HTTP/1.1 422"));
}

#[test]
fn a_page_that_follows_a_log_is_told_when_it_grew() {
    let whole = std::fs::read_to_string(data("first-come.qlog")).expect("read");
    let (log, folder) = ("growing.qlog", tempfile::tempdir().expect("a directory"));
    // The last record breaks off.
    let half = &whole[..whole.len() / 2];
    std::fs::write(folder.path().join(log), half).expect("written");
    let directory = folder.path().to_str().expect("UTF-8");
    let view = Running::start(&["view", directory, "--follow"]);
    let asked = |place: &str| view.http(&format!("GET /{place}"), &view.address.clone(), "");
    let (query, size) = (format!("?file={log}"), format!("[{},", half.len()));
    let page = asked(&format!("report{query}"));
    assert!(page.contains("connect-src 'self'") && page.contains(&size), "{}", &page[..2000]);
    assert!(asked("logs").contains("data-follow"));
    assert!(asked(&format!("sizes{query}")).contains(&size));
    std::fs::write(folder.path().join(log), &whole).expect("written");
    let grown = asked(&format!("sizes{query}"));
    assert!(grown.contains(&format!("\"{log}\":[{},", whole.len())), "{grown}");
    assert!(asked("sizes").contains(log));
    let alone = Running::start(&["view", directory]);
    let page = alone.http(&format!("GET /report{query}"), &alone.address.clone(), "");
    assert!(page.contains("id=\"data\"") && !page.contains("connect-src"), "no request leaves it");
}

#[test]
fn probe_tells_a_server_that_prioritizes_from_one_that_does_not() {
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::write(folder.path().join("big.bin"), vec![7; 200_000]).expect("written");
    std::fs::write(folder.path().join("index.html"), "<img src=\"big.bin\">").expect("written");
    let root = folder.path().to_str().expect("UTF-8");
    for (signals, code, verdict) in [("obey", 0, "prioritizes"), ("ignore", 1, "does-not")] {
        let server = Running::start(&[
            "serve",
            "--root",
            root,
            "--listen",
            "127.0.0.1:0",
            "--scheme",
            "rfc9218",
            "--signals",
            signals,
        ]);
        let url = format!("https://{}/", server.address);
        let arguments = ["probe", &url, "--insecure", "--repeats", "3", "--others", "4", "--json"];
        let output = utmost(&arguments).output().expect("it runs");
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_valid("probe.json", &document);
        assert_eq!(document["finding"]["verdict"], verdict, "{document}");
        let heeds = ["incremental", "updates"].map(|it| &document["finding"][it]["verdict"]);
        let expected = if code == 0 { "heeds" } else { "ignores" };
        assert_eq!(heeds, [expected, expected], "{document}");
        assert_eq!(
            (output.status.code(), document["path"].as_str()),
            (Some(code), Some("/big.bin"))
        );
    }
}

#[test]
fn probe_names_what_is_wrong_with_its_target() {
    let output = utmost(&["probe", "http://a.test/"]).output().expect("it runs");
    assert!(only_line(&output, 2).contains("https://HOST[:PORT]/PATH"));
    // A port that nobody can listen on.
    let output =
        utmost(&["probe", "https://127.0.0.1:1/", "--insecure"]).output().expect("it runs");
    only_line(&output, 3);
}

#[test]
fn slow_uploads_do_not_keep_view_from_answering_others() {
    let folder = tempfile::tempdir().expect("a directory");
    let view = Running::start(&["view", folder.path().to_str().expect("UTF-8")]);
    let host = view.address.clone();
    let below = &view.below;
    // Each waits with a body that never comes.
    let slow = (0..20).map(|_| {
        let mut upload = TcpStream::connect(&host).expect("it listens");
        write!(
            upload,
            "POST {below}/upload?name=x HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/x-qlog\r\nContent-Length: 5000\r\n\r\nx"
        )
        .expect("sent");
        upload
    });
    let _slow: Vec<TcpStream> = slow.collect();
    let is_answered = || {
        let mut other = TcpStream::connect(&host).expect("it listens");
        let patience = std::time::Duration::from_secs(2);
        other.set_read_timeout(Some(patience)).expect("set");
        write!(other, "GET {below}/logs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
            .expect("sent");
        let mut answer = String::new();
        other.read_to_string(&mut answer).is_ok_and(|_| answer.starts_with("HTTP/1.1 200"))
    };
    assert!((0..10).any(|_| is_answered()), "no answer while the uploads wait");
}

/// A figure is drawn twice: by the page's scripts, which zoom, and by the program, for papers.
#[test]
fn the_page_and_the_pictures_of_a_log_show_the_same() {
    let Some(node) = fixtures::program("node") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (logs, page, pictures) = (at("logs"), at("report.html"), at("pictures"));
    let load = ["play", "davies-meenan", "--engine", "stack", "--network", "3g-lossy", "--qlog"];
    stdout_of(&[&load[..], &[&logs]].concat());
    stdout_of(&["qlog", "report", &logs, "-o", &page, "--figures", &pictures]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/same_pictures.js");
    let output = Command::new(node).args([script, &page, &pictures]).output().expect("Node starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, failed) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}{failed}");
    assert_eq!(said.matches(", ").count(), 5, "all six figures: {said}");
}

#[test]
fn the_reports_scripts_compute_what_they_should() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/scripts.js");
    let Some(node) = fixtures::program("node") else { return };
    let output = Command::new(node).arg(script).output().expect("Node starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, failed) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}{failed}");
}
