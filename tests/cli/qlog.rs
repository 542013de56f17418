//! `utmost qlog` on small logs of one connection: three streams in turn, 500 bytes per frame; the second frame of stream
//! 4 is lost and arrives 25 ms later.

use crate::{data, only_line, stdout_of, utmost};
use serde_json::Value;
use std::io::Write as _;

fn log(name: &str) -> String {
    data("qlog").join(name).to_str().expect("UTF-8").to_owned()
}

fn json(arguments: &[&str]) -> Value {
    let mut all = vec!["qlog"];
    all.extend(arguments);
    all.push("--json");
    serde_json::from_str(&stdout_of(&all)).expect("one JSON document")
}

#[test]
fn all_generations_of_a_log_tell_the_same() {
    for name in ["client.sqlog", "client-draft-01.qlog", "server.sqlog"] {
        let document = json(&["streams", &log(name)]);
        let trace = &document["traces"][0];
        assert_eq!(trace["unique_stream_bytes"], 6069, "{name}");
        assert_eq!(trace["connection"], "0102030405060708", "{name}");
        assert_eq!(trace["stack"], "example", "{name}");
        let streams = trace["streams"].as_array().expect("streams");
        let rows: Vec<String> = streams
            .iter()
            .map(|it| format!("{} {} {} {}", it["id"], it["url"], it["priority"], it["bytes"]))
            .collect();
        assert_eq!(
            rows,
            [
                r#"0 "https://example.test/" "u=0" 2023"#,
                r#"4 "https://example.test/style.css" "u=1" 1023"#,
                r#"8 "https://example.test/hero.jpg" "u=4, i" 3023"#,
            ],
            "{name}"
        );
        assert_eq!(streams[1]["retransmitted_bytes"], 500, "{name}");
    }
}

#[test]
fn check_says_what_a_log_is_for() {
    let document = json(&["check", &log("server.sqlog")]);
    let trace = &document["traces"][0];
    assert_eq!((&trace["vantage"], &trace["packets_lost"]), (&"server".into(), &1.into()));
    assert_eq!(trace["unknown_events"], 1);
    assert_eq!(trace["views"]["streams"], true);
    assert_eq!(
        trace["views"]["hol"],
        "a server's log has no arrival times: use the client's, or both"
    );
}

/// The output of `hol` for logs, except its provenance.
fn blocking(logs: &[&str]) -> Value {
    let mut document = json(&[&["hol"], logs].concat());
    let provenance = document.as_object_mut().and_then(|it| it.remove("provenance"));
    assert!(provenance.is_some(), "{document}");
    document
}

#[test]
fn a_pair_gives_the_exact_blocking_and_a_client_alone_an_estimate() {
    let exact = blocking(&[&log("client.sqlog"), &log("server.sqlog")]);
    assert_eq!(exact["exact"], true);
    // The last frame of stream 4 (23 bytes) came at 38 ms and waited for 500 bytes until 61 ms.
    assert_eq!(exact["intra"]["bytes_ms"], 23.0 * 23.0);
    assert!(exact["inter"]["bytes_ms"].as_f64().expect("a number") > 10_000.0);
    let swapped = blocking(&[&log("server.sqlog"), &log("client.sqlog")]);
    assert_eq!(swapped, exact);
    let estimated = json(&["hol", &log("client.sqlog")]);
    assert_eq!(estimated["exact"], false);
    assert_eq!(estimated["intra"], exact["intra"]);
    let output = utmost(&["qlog", "hol", &log("server.sqlog")]).output().expect("runs");
    assert!(only_line(&output, 2).contains("a server's log has no arrival times"));
}

#[test]
fn the_index_has_an_atf_half_when_a_set_is_named() {
    let log = log("client.sqlog");
    let document = json(&["index", &log]);
    let index = &document["traces"][0]["byte_index"];
    assert!(index["all"].is_f64() && index["atf"].is_null(), "{document}");
    let mut set = tempfile::NamedTempFile::new().expect("a file");
    writeln!(set, "/\n/style.css").expect("written");
    let set = set.path().to_str().expect("UTF-8");
    let twice = format!("again={log}");
    let document = json(&["index", &log, &twice, "--set", set]);
    let of = |place: usize, what: &str| document["traces"][place][what]["atf"].clone();
    assert_eq!(of(0, "byte_index"), of(1, "byte_index"));
    assert_eq!((of(1, "speedup"), &document["traces"][1]["name"]), (1.0.into(), &"again".into()));
}

#[test]
fn figures_are_drawn_as_svg_and_png() {
    let folder = tempfile::tempdir().expect("a folder");
    for (command, file) in [("ribbon", "ribbon.svg"), ("hol", "stacks.svg"), ("hol", "stacks.png")]
    {
        let out = folder.path().join(file);
        let out = out.to_str().expect("UTF-8");
        stdout_of(&["qlog", command, &log("client.sqlog"), "-o", out]);
        let bytes = std::fs::read(out).expect(file);
        assert!(bytes.starts_with(b"<svg ") || bytes.starts_with(b"\x89PNG"), "{file}");
    }
    let text = stdout_of(&["qlog", "ribbon", &log("client.sqlog"), "--by", "count"]);
    assert!(text.contains("(stream x frames): 0x1 4x1 8x1 0x1 8x1 "), "{text}");
}

#[test]
fn compare_says_which_bytes_moved() {
    let (client, server) = (
        format!("at-client={}", log("client.sqlog")),
        format!("at-server={}", log("server.sqlog")),
    );
    let document = json(&["compare", &client, &server]);
    assert_eq!(document["baseline"], "at-client");
    let rows = document["resources"].as_array().expect("resources");
    assert_eq!((rows.len(), &rows[1]["url"]), (3, &"https://example.test/style.css".into()));
    assert_eq!(rows[0]["runs"][0]["later_ms"], 0.0);
    // At the client it was complete last, because a frame was lost; the server had sent its last byte before all others'.
    let sheet = &rows[1]["runs"];
    assert_eq!((&sheet[0]["place"], &sheet[1]["places_later"]), (&3.into(), &(-2).into()));
    let also = json(&["diff", &client, &server]);
    assert_eq!(also["resources"], document["resources"]);
    let table = stdout_of(&["qlog", "diff", &client, &server, "--csv"]);
    assert_eq!(table.lines().count(), 1 + 2 * 3, "{table}");
    assert!(
        table.starts_with("run,url,bytes,stream,requested_ms,first_ms,complete_ms,"),
        "{table}"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("moved.svg");
    let out = out.to_str().expect("UTF-8");
    let text = stdout_of(&["qlog", "diff", &client, &server, "-o", out]);
    assert!(text.contains("bytes before, more by"), "{text}");
    assert!(std::fs::read_to_string(out).expect("a figure").contains("What moved from at-client"));
    let mut three = utmost(&["qlog", "diff", &client, &server, &client, "-o", out]);
    let three = three.output().expect("runs");
    let reason = String::from_utf8_lossy(&three.stderr).into_owned();
    assert_eq!(three.status.code(), Some(2), "{reason}");
    assert!(reason.contains("--out draws two logs, and there are 3"), "{reason}");
    let output = utmost(&["qlog", "compare", &client]).output().expect("runs");
    assert!(only_line(&output, 2).contains("two logs or more"));
}

#[test]
fn a_converted_log_measures_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let unnamed = |mut blocking: Value| {
        for name in ["file", "connection"] {
            blocking.as_object_mut().expect("an object").remove(name);
        }
        blocking
    };
    let before = unnamed(blocking(&[&log("client.sqlog")]));
    for to in ["current", "0.3"] {
        let out = folder.path().join(to);
        let out = out.to_str().expect("UTF-8");
        stdout_of(&[
            "qlog",
            "convert",
            &log("client-draft-01.qlog"),
            "--to",
            to,
            "-o",
            out,
            "--anonymise",
        ]);
        assert_eq!(unnamed(blocking(&[out])), before, "{to}");
        assert!(!std::fs::read_to_string(out).expect(out).contains("style.css"));
    }
}

#[test]
fn a_log_comes_from_the_standard_input_too() {
    let bytes = std::fs::read(data("qlog").join("client.sqlog")).expect("a log");
    let output = utmost(&["qlog", "streams", "-"]).write_stdin(bytes).output().expect("runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("(standard input)"), "{text}");
}

#[test]
fn a_file_that_is_not_a_log_is_one_line() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(b"\x00\xffnonsense").expect("written");
    let path = file.path().to_str().expect("UTF-8");
    for command in ["check", "streams", "index", "ribbon", "hol", "convert"] {
        let output = utmost(&["qlog", command, path]).output().expect("runs");
        let line = only_line(&output, 2);
        assert!(line.contains(path) && line.contains("not a qlog"), "{command}: {line}");
    }
}

#[test]
fn lint_refuses_another_connections_log_and_a_servers_as_the_clients() {
    let folder = tempfile::tempdir().expect("a directory");
    let client = std::fs::read_to_string(log("client.sqlog")).expect("a log");
    let other = folder.path().join("other.sqlog");
    std::fs::write(&other, client.replace("0102030405060708", "aaaa030405060708"))
        .expect("written");
    let other = other.to_str().expect("UTF-8");
    let of = |client: &str| {
        let arguments = ["qlog", "lint", &log("server.sqlog"), "--client", client];
        only_line(&utmost(&arguments).output().expect("runs"), 2)
    };
    let line = of(other);
    assert!(
        line.contains("ID aaaa030405060708 in this log, 0102030405060708 at the server"),
        "{line}"
    );
    let line = of(&log("server.sqlog"));
    assert!(line.contains("a server's log; --client takes the log of its client"), "{line}");
}

#[test]
fn check_promises_lint_for_a_clients_log_as_lint_judges_it() {
    let document = json(&["check", &log("client.sqlog")]);
    assert_eq!(document["traces"][0]["views"]["lint"], true);
    assert!(json(&["lint", &log("client.sqlog")])["cannot_judge"].is_null());
}

#[test]
fn a_har_is_named_where_it_cannot_be_read() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(b"{\n \"log\": {\"entries\": [{\"a\":").expect("written");
    let path = file.path().to_str().expect("UTF-8");
    let line =
        |command: &str| only_line(&utmost(&["qlog", command, path]).output().expect("runs"), 2);
    assert!(line("check").contains(
        "this is a HAR, which `utmost qlog lint`, `utmost find` and `utmost corpus import` read"
    ));
    assert!(line("lint").contains("the HAR's JSON ends early"));
    let what_if = only_line(&utmost(&["what-if", path]).output().expect("runs"), 2);
    assert!(
        what_if.contains("this is a HAR, which `utmost qlog lint`, `utmost find`"),
        "{what_if}"
    );
}

#[test]
fn lint_reads_a_har_behind_a_byte_order_mark_and_says_why_it_cannot_read_another() {
    let lint = |har: &[u8]| {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(har).expect("written");
        let path = file.path().to_str().expect("UTF-8");
        only_line(&utmost(&["qlog", "lint", path]).output().expect("runs"), 2)
    };
    let marked = "\u{feff}{\"log\":{\"entries\":[{\"request\":{\"url\":\"https://a.test/\"}}]}}";
    let utf16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for har in [marked.as_bytes(), &utf16] {
        assert!(lint(har).contains("cannot judge: no entry has a response over HTTP/2 or HTTP/3"));
    }
    let other = lint(b"{\"log\":{\"entries\":7}}");
    assert!(other.contains("is not a HAR file: invalid type: integer `7`"), "{other}");
}

#[test]
fn the_index_of_connections_without_frames_is_one_reason() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    let log = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":{"type":"client"}}}"#;
    let event = |group: &str| {
        format!(
            r#"{{"time":1,"group_id":"{group}","name":"transport:packet_sent","data":{{"header":{{"packet_type":"1RTT","packet_number":1}}}}}}"#
        )
    };
    writeln!(file, "{log}\n{}\n{}", event("aa"), event("bb")).expect("written");
    let output = utmost(&["qlog", "index", file.path().to_str().expect("UTF-8")]).output();
    assert!(only_line(&output.expect("runs"), 2).contains("no STREAM frames logged"));
}

#[test]
fn a_speedup_is_against_a_log_of_the_same_side() {
    let [server, client] = ["server.sqlog", "client.sqlog"].map(log);
    let document = json(&["index", &server, &client, &client]);
    let speedups: Vec<f64> = document["traces"]
        .as_array()
        .expect("traces")
        .iter()
        .map(|it| it["speedup"]["all"].as_f64().expect("a number"))
        .collect();
    assert_eq!(speedups, [1.0, 1.0, 1.0]);
}

#[test]
fn a_set_that_nothing_in_the_log_belongs_to_is_refused() {
    let output =
        utmost(&["qlog", "index", &log("client.sqlog"), "--page", "gentelella-index"]).output();
    let line = only_line(&output.expect("runs"), 2);
    assert!(line.ends_with("nothing in the log belongs to the set of --page or --set"), "{line}");
}

#[test]
fn the_index_names_the_pushes_that_it_leaves_out() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    let log = r#"{"file_schema":"x","trace":{"vantage_point":{"type":"client"}}}
{"time":5,"name":"http3:frame_parsed","data":{"stream_id":0,"length":9,"frame":{"frame_type":"push_promise","push_id":0,"headers":[{"name":":method","value":"GET"},{"name":":path","value":"/p.css"}]}}}
{"time":6,"name":"http3:stream_type_set","data":{"stream_id":15,"stream_type":"push","associated_push_id":0}}
{"time":7,"name":"quic:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":15,"offset":0,"raw":{"length":20}}]}}
{"time":8,"name":"quic:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"raw":{"length":40},"fin":true}]}}"#;
    writeln!(file, "{log}").expect("written");
    let trace = &json(&["index", file.path().to_str().expect("UTF-8")])["traces"][0];
    assert_eq!(trace["byte_index"]["all"], 3.0);
    assert_eq!(trace["note"], "without pushes that did not finish: /p.css (stream 15)");
}

#[test]
fn the_index_is_of_what_did_finish_and_names_the_rest() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    let packet = |time: u32, stream: u32, fin: bool| {
        format!(
            r#"{{"time":{time},"name":"transport:packet_received","data":{{"frames":[{{"frame_type":"stream","stream_id":{stream},"offset":0,"length":10,"fin":{fin}}}]}}}}"#
        )
    };
    let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"client"}}}"#;
    writeln!(file, "{header}\n{}\n{}", packet(1, 0, true), packet(5, 4, false)).expect("written");
    let trace = &json(&["index", file.path().to_str().expect("UTF-8")])["traces"][0];
    assert_eq!(trace["byte_index"]["all"], 0.0);
    assert_eq!(trace["note"], "without responses that did not finish: stream 4 (stream 4)");
}

#[test]
fn no_name_of_a_file_reaches_the_terminal_as_a_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a\u{1b}[2Jb\nc.qlog");
    std::fs::copy(data("qlog").join("client.sqlog"), &path).expect("copied");
    let path = path.to_str().expect("UTF-8");
    for command in ["check", "streams", "index", "ribbon", "hol"] {
        let text = stdout_of(&["qlog", command, path]);
        assert!(!text.contains('\u{1b}'), "{command}: {text}");
        assert!(text.contains("a\u{fffd}[2Jb\u{fffd}c"), "{command}: {text}");
    }
    std::fs::write(path, "nonsense").expect("written");
    let missing = format!("{path}-not-there");
    let empty = folder.path().join("d\u{1b}[2Je\nf");
    std::fs::create_dir(&empty).expect("a folder");
    let har = folder.path().join("a\u{1b}[2Jb\nc.har");
    std::fs::write(&har, "{\"log\":{\"entries\":[").expect("written");
    let texts = [path, &missing, empty.to_str().expect("UTF-8"), har.to_str().expect("UTF-8")];
    for (command, named) in [("check", 0), ("check", 1), ("check", 2), ("lint", 0), ("lint", 3)] {
        let output = utmost(&["qlog", command, texts[named]]).output().expect("runs");
        assert!(!only_line(&output, 2).contains('\u{1b}'), "{command}");
    }
}
