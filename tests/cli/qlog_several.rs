//! `utmost qlog` on several logs at once: directories, files of several connections, and bad ones among good ones.

use crate::schemas::assert_valid;
use crate::{data, only_line, stdout_of, utmost};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

/// Packets without their frames, of two connections, as quinn logs them.
const NO_FRAMES: &str = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":{"type":"client"}}}
{"time":1,"group_id":"aa","name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1}}}
{"time":2,"group_id":"bb","name":"transport:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":1}}}
"#;

/// Two connections in one file: 10 bytes, then 20.
const TWO_CONNECTIONS: &str = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":{"type":"client"}}}
{"time":1,"group_id":"aa","name":"transport:packet_received","data":{"header":{"packet_number":1},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":10,"fin":true}]}}
{"time":2,"group_id":"bb","name":"transport:packet_received","data":{"header":{"packet_number":1},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":20,"fin":true}]}}
"#;

/// A directory with both ends' logs of the sample connection.
pub(crate) fn pair() -> TempDir {
    let folder = tempfile::tempdir().expect("a directory");
    for name in ["client.sqlog", "server.sqlog"] {
        std::fs::copy(data("qlog").join(name), folder.path().join(name)).expect("copied");
    }
    folder
}

/// The same, with other files among them: the first and the last by name.
fn with_bad_ones() -> TempDir {
    let folder = pair();
    write(&folder, "a-nonsense.qlog", "nonsense");
    write(&folder, "z-empty.qlog", "");
    folder
}

pub(crate) fn write(folder: &TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("written");
    text_of(&path)
}

pub(crate) fn text_of(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}

/// The result of a command: exit code, stdout, stderr.
pub(crate) fn ran(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = utmost(&[&["qlog"], arguments].concat()).output().expect("runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[track_caller]
pub(crate) fn json_of(text: &str) -> Value {
    serde_json::from_str(text).expect("one JSON document")
}

#[test]
fn one_bad_log_does_not_stop_the_others() {
    let folder = with_bad_ones();
    let logs = text_of(folder.path());
    for command in ["check", "streams", "index", "ribbon", "hol", "lint"] {
        let (code, text, reasons) = ran(&[command, &logs]);
        assert_eq!(code, Some(2), "{command}: {reasons}");
        assert!(
            text.contains("client.sqlog") || text.contains("server.sqlog"),
            "{command}: {text}"
        );
        assert!(reasons.contains("a-nonsense.qlog: not a qlog: "), "{command}: {reasons}");
        assert!(reasons.contains("z-empty.qlog: the file is empty"), "{command}: {reasons}");
        assert!(reasons.ends_with("utmost: 2 of 4 logs gave no answer\n"), "{command}: {reasons}");
    }
}

#[test]
fn a_document_has_the_good_logs_and_names_the_bad_ones() {
    let folder = with_bad_ones();
    let logs = text_of(folder.path());
    for command in ["check", "streams", "index", "ribbon", "hol", "lint"] {
        let (code, text, _) = ran(&[command, &logs, "--json"]);
        assert_eq!(code, Some(2), "{command}");
        let document = json_of(&text);
        assert_valid(&format!("qlog-{command}.json"), &document);
        let refused = document["refused"].as_array().expect("those refused");
        assert_eq!(refused.len(), 2, "{command}");
        let file = refused[1]["file"].as_str().expect("a file");
        assert!(file.ends_with("z-empty.qlog"), "{command}: {file}");
        let traces = document["traces"].as_array().map(Vec::len);
        assert!(matches!(traces, None | Some(2)), "{command}: {document}");
    }
}

#[test]
fn a_report_has_the_good_logs() {
    let folder = with_bad_ones();
    let page = text_of(&folder.path().join("report.html"));
    let (code, _, reasons) = ran(&["report", &text_of(folder.path()), "-o", &page]);
    assert_eq!(code, Some(2));
    assert!(reasons.ends_with("utmost: 2 of 4 logs gave no answer\n"), "{reasons}");
    assert!(
        std::fs::read_to_string(page)
            .expect("written")
            .contains("<h1>client.sqlog, with server.sqlog</h1>")
    );
}

#[test]
fn a_log_with_a_header_only_makes_no_report() {
    let folder = tempfile::tempdir().expect("a directory");
    let header = NO_FRAMES.lines().next().expect("a header");
    let log = write(&folder, "header.sqlog", header);
    let page = folder.path().join("report.html");
    for arguments in [&["streams", &log][..], &["report", &log, "-o", &text_of(&page)]] {
        let (code, text, reasons) = ran(arguments);
        assert_eq!((code, &*text), (Some(2), ""), "{arguments:?}");
        assert!(reasons.contains("header.sqlog: no STREAM frames logged"), "{reasons}");
    }
    assert!(!page.exists());
}

#[test]
fn a_report_tells_runs_apart_by_their_names_or_else_their_folders() {
    let folder = tempfile::tempdir().expect("a directory");
    let run = |name: &str| {
        let run = folder.path().join("page").join(name);
        std::fs::create_dir_all(&run).expect("made");
        for log in ["client.sqlog", "server.sqlog"] {
            std::fs::copy(data("qlog").join(log), run.join(log)).expect("copied");
        }
        // Each run is a connection of its own.
        let text = |log: &str| std::fs::read_to_string(run.join(log)).expect("text");
        for log in ["client.sqlog", "server.sqlog"] {
            let own = text(log).replace("0102030405060708", &format!("{:016x}", name.len()));
            std::fs::write(run.join(log), own).expect("written");
        }
        text_of(&run)
    };
    let (fair, first) = (run("rr-0"), run("fifo-0"));
    let page = text_of(&folder.path().join("report.html"));
    let headings = |one: &str, other: &str| {
        let (code, _, reasons) = ran(&["report", one, other, "--side-by-side", "-o", &page]);
        assert_eq!(code, Some(0), "{reasons}");
        let html = std::fs::read_to_string(&page).expect("written");
        let headings = html.lines().filter(|it| it.starts_with("<h2 id=\"title-"));
        let text = |it: &str| it.split(['>', '<']).nth(2).expect("a text").replace("&#x2f;", "/");
        headings.map(text).collect::<Vec<String>>()
    };
    assert_eq!(
        headings(&format!("rr={fair}"), &format!("fifo={first}")),
        ["rr: client.sqlog, with server.sqlog", "fifo: client.sqlog, with server.sqlog"]
    );
    assert_eq!(
        headings(&fair, &first),
        ["rr-0/client.sqlog, with server.sqlog", "fifo-0/client.sqlog, with server.sqlog"]
    );
}

#[test]
fn only_bad_logs_give_no_document() {
    let folder = tempfile::tempdir().expect("a directory");
    let (one, other) = (write(&folder, "a.qlog", "x"), write(&folder, "b.qlog", ""));
    for command in ["check", "streams", "index", "ribbon", "hol", "compare", "report", "lint"] {
        let (code, text, reasons) = ran(&[command, &one, &other]);
        assert_eq!((code, &*text), (Some(2), ""), "{command}");
        assert_eq!(reasons.lines().count(), 3, "{command}: {reasons}");
    }
}

#[test]
fn a_path_that_leads_nowhere_is_answered_with_what_to_give() {
    for command in
        ["check", "streams", "index", "ribbon", "hol", "compare", "report", "lint", "convert"]
    {
        let line =
            only_line(&utmost(&["qlog", command, "no/such.sqlog"]).output().expect("runs"), 2);
        assert!(
            line.starts_with("utmost: no/such.sqlog: no such file; name a log, a directory"),
            "{line}"
        );
    }
    let folder = tempfile::tempdir().expect("a directory");
    for command in ["check", "hol", "convert"] {
        let folder = text_of(folder.path());
        let arguments = ["qlog", command, &folder, "--out", "/tmp/out"];
        let arguments = if command == "convert" { &arguments[..] } else { &arguments[..3] };
        let line = only_line(&utmost(arguments).output().expect("runs"), 2);
        assert!(line.contains("name the files themselves"), "{command}: {line}");
    }
}

#[test]
fn a_log_without_frames_is_one_reason_and_a_failure() {
    let folder = tempfile::tempdir().expect("a directory");
    let log = write(&folder, "quinn.sqlog", NO_FRAMES);
    for command in ["streams", "index", "ribbon", "hol", "compare"] {
        let line = only_line(&utmost(&["qlog", command, &log]).output().expect("runs"), 2);
        let reason =
            "quinn.sqlog: no STREAM frames logged: its packets are logged without their frames";
        assert!(line.contains(reason), "{command}: {line}");
    }
    let (code, text, _) = ran(&["streams", &log, "--json"]);
    assert_eq!(code, Some(2));
    let document = json_of(&text);
    assert_valid("qlog-streams.json", &document);
    assert_eq!(document["traces"][0]["missing"][0], "no STREAM frames logged");
}

#[test]
fn violations_are_told_but_a_log_that_cannot_be_judged_weighs_more() {
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::copy(data("first-come.qlog"), folder.path().join("a.qlog")).expect("copied");
    write(&folder, "quinn.sqlog", NO_FRAMES);
    let (code, text, reasons) = ran(&["lint", &text_of(folder.path())]);
    assert_eq!(code, Some(2));
    assert!(text.contains("packets broke the rules"), "{text}");
    assert!(reasons.contains("quinn.sqlog: cannot judge: no STREAM frames"), "{reasons}");
    assert!(reasons.contains("packets broke the rules"), "{reasons}");
    assert!(reasons.ends_with("utmost: 1 of 2 logs gave no answer\n"), "{reasons}");
}

#[test]
fn hol_pairs_what_is_in_a_directory() {
    let folder = pair();
    let named = [
        text_of(&folder.path().join("client.sqlog")),
        text_of(&folder.path().join("server.sqlog")),
    ];
    let of_pair = json_of(&stdout_of(&["qlog", "hol", &named[0], &named[1], "--json"]));
    let of_folder = json_of(&stdout_of(&["qlog", "hol", &text_of(folder.path()), "--json"]));
    assert_eq!(of_pair["exact"], true);
    assert_eq!(of_folder["intra"], of_pair["intra"]);
    assert_eq!(of_folder["exact"], of_pair["exact"]);
    write(&folder, "two.sqlog", TWO_CONNECTIONS);
    let document = json_of(&stdout_of(&["qlog", "hol", &text_of(folder.path()), "--json"]));
    assert_valid("qlog-hol.json", &document);
    let connections: Vec<String> = document["connections"]
        .as_array()
        .expect("connections")
        .iter()
        .map(|it| format!("{} {} {}", it["connection"], it["trace"], it["exact"]))
        .collect();
    assert_eq!(connections, [r#""0102030405060708" 1 true"#, r#""aa" 1 false"#, r#""bb" 2 false"#]);
    let (code, _, reason) = ran(&["hol", &text_of(folder.path()), "--out", "never.svg"]);
    assert_eq!(code, Some(2));
    assert!(reason.contains("draws one connection, and there are 3"), "{reason}");
}

#[test]
fn logs_of_one_connection_that_do_not_fit_are_not_joined_and_the_answer_says_why() {
    let folder = tempfile::tempdir().expect("a directory");
    let log = |side: &str, event: &str, offset: u64| {
        format!(
            r#"{{"file_schema":"x","trace":{{"vantage_point":{{"type":"{side}"}},"common_fields":{{"group_id":"aa"}}}}}}
{{"time":1,"name":"quic:{event}","data":{{"header":{{"packet_type":"1RTT","packet_number":7}},"frames":[{{"frame_type":"stream","stream_id":0,"offset":{offset},"length":9}}]}}}}
"#
        )
    };
    let client = write(&folder, "c.sqlog", &log("client", "packet_received", 9));
    let server = write(&folder, "s.sqlog", &log("server", "packet_sent", 0));
    let expected = "have the same connection ID aa, and were not joined: packet 7 arrived with other stream bytes than it was sent with.";
    let (code, stdout, stderr) = ran(&["summary", &client, &server]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.lines().next().is_some_and(|it| it.ends_with(expected)), "{stdout}");
    assert!(stderr.contains(expected), "{stderr}");
    let (_, stdout, _) = ran(&["summary", &client, &server, "--json"]);
    let document = json_of(&stdout);
    assert_valid("qlog-summary.json", &document);
    assert!(document["not_joined"][0].as_str().is_some_and(|it| it.ends_with(expected)));
    let fitting = write(&folder, "f.sqlog", &log("server", "packet_sent", 9));
    let (_, stdout, stderr) = ran(&["summary", &client, &fitting]);
    assert!(stdout.contains("both ends") && stderr.is_empty(), "{stdout}{stderr}");
}

#[test]
fn a_named_side_is_of_the_logs_that_do_not_say() {
    let folder = pair();
    let [client, server] = ["client.sqlog", "server.sqlog"].map(|it| folder.path().join(it));
    let text = std::fs::read_to_string(&client).expect("a log");
    let nameless = write(
        &folder,
        "nameless.sqlog",
        &text.replacen(r#""type":"client""#, r#""type":"unknown""#, 1),
    );
    let (_, stdout, _) = ran(&["summary", &nameless, &text_of(&server), "--vantage", "client"]);
    assert!(stdout.contains("both ends"), "{stdout}");
    let (_, _, stderr) = ran(&["summary", &text_of(&server), "--vantage", "client"]);
    assert!(
        stderr.contains("--vantage client: for captures, and logs that do not say"),
        "{stderr}"
    );
}

#[test]
fn a_directory_is_converted_into_another() {
    let folder = with_bad_ones();
    let out = folder.path().join("out");
    let logs = text_of(folder.path());
    let (code, _, reasons) = ran(&["convert", &logs, "-o", &text_of(&out)]);
    assert_eq!(code, Some(2), "{reasons}");
    assert!(reasons.ends_with("utmost: 2 of 4 logs gave no answer\n"), "{reasons}");
    let names = std::fs::read_dir(&out).expect("made").map(|it| it.expect("an entry").file_name());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["client.sqlog", "server.sqlog"], "and nothing of the bad ones");
    let (code, _, reason) = ran(&["convert", &logs]);
    assert_eq!(code, Some(2));
    assert!(reason.contains("a directory: name another one for the converted logs with -o DIR"));
    let (_, _, reason) = ran(&["convert", &logs, "-o", &logs]);
    assert!(reason.contains("-o names the same directory"), "{reason}");
}

#[test]
fn a_file_that_is_not_a_log_leaves_an_older_conversion_alone() {
    let folder = tempfile::tempdir().expect("a directory");
    let (bad, out) = (write(&folder, "bad.qlog", "x"), write(&folder, "out.sqlog", "older"));
    assert_eq!(ran(&["convert", &bad, "-o", &out]).0, Some(2));
    assert_eq!(std::fs::read_to_string(out).expect("there"), "older");
}

#[test]
fn traces_of_one_file_have_numbers_and_convert_takes_them() {
    let folder = tempfile::tempdir().expect("a directory");
    let log = write(&folder, "two.sqlog", TWO_CONNECTIONS);
    for command in ["check", "streams", "index", "ribbon", "hol"] {
        let text = stdout_of(&["qlog", command, &log]);
        assert!(
            text.contains("two.sqlog #1") && text.contains("two.sqlog #2"),
            "{command}: {text}"
        );
    }
    let second = text_of(&folder.path().join("second.sqlog"));
    let (code, _, told) = ran(&["convert", &log, "--trace", "2", "-o", &second]);
    assert_eq!((code, told.contains("trace 2 of 2")), (Some(0), true), "{told}");
    let document = json_of(&stdout_of(&["qlog", "check", &second, "--json"]));
    let trace = &document["traces"][0];
    assert_eq!((&trace["connection"], &trace["unique_stream_bytes"]), (&"bb".into(), &20.into()));
    let line = only_line(
        &utmost(&["qlog", "convert", &log, "--trace", "3", "-o", &second]).output().expect("runs"),
        2,
    );
    assert!(line.contains("has no trace 3, only 2"), "{line}");
}

#[test]
fn compare_takes_the_clients_logs_of_directories() {
    let (one, other) = (pair(), pair());
    let (one, other) = (format!("before={}", text_of(one.path())), text_of(other.path()));
    let (code, text, told) = ran(&["compare", &one, &other, "--json"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("comparing the clients' logs, 2 of 4"), "{told}");
    let document = json_of(&text);
    assert_valid("qlog-compare.json", &document);
    assert_eq!(document["baseline"], "before/client.sqlog");
    for run in document["runs"].as_array().expect("runs") {
        assert_eq!((&run["vantage"], &run["in_common"]), (&"client".into(), &3.into()));
        assert_eq!(run["speedup"]["all"], 1.0);
    }
}

#[test]
fn compare_takes_one_side_or_none() {
    let (one, other, third) = (pair(), pair(), pair());
    std::fs::remove_file(other.path().join("client.sqlog")).expect("removed");
    std::fs::remove_file(third.path().join("server.sqlog")).expect("removed");
    let [one, other, third] = [&one, &other, &third].map(|it| text_of(it.path()));
    let (code, _, told) = ran(&["compare", &one, &other]);
    assert_eq!((code, told.contains("comparing the servers' logs, 2 of 3")), (Some(0), true));
    let (code, _, told) = ran(&["compare", &one, &other, &third]);
    assert_eq!((code, told.contains("name logs of one side")), (Some(2), true), "{told}");
}

#[test]
fn compare_of_runs_with_nothing_in_common_is_refused() {
    let folder = pair();
    let log = std::fs::read_to_string(folder.path().join("client.sqlog")).expect("a log");
    let mut other = log.clone();
    for path in ["/style.css", "/hero.jpg"] {
        other = other.replace(path, &format!("/other{path}"));
    }
    let other = other.replace("\":path\",\"value\":\"/\"", "\":path\",\"value\":\"/other\"");
    let (client, other) =
        (text_of(&folder.path().join("client.sqlog")), write(&folder, "other.sqlog", &other));
    let output = utmost(&["qlog", "compare", &client, &other]).output().expect("runs");
    let line = only_line(&output, 2);
    assert!(line.contains("nothing to compare: no resource is in "), "{line}");
    let (code, text, reasons) = ran(&["compare", &client, &client, &other]);
    assert_eq!(code, Some(2));
    assert!(text.contains("3 of 3 resources in common"), "{text}");
    assert!(reasons.contains("other.sqlog: no resource in common with "), "{reasons}");
}

#[test]
fn a_part_still_has_the_urls_of_its_streams() {
    let client = text_of(&data("qlog").join("client.sqlog"));
    let log = std::fs::read(&client).expect("a log");
    let folder = tempfile::tempdir().expect("a directory");
    let part = text_of(&folder.path().join("part.sqlog"));
    let (code, _, told) = ran(&["convert", &client, "--time", "50ms..", "-o", &part]);
    assert_eq!((code, told.contains(" from before the cut: ")), (Some(0), true), "{told}");
    let urls = |log: &str| -> Vec<String> {
        let document = json_of(&stdout_of(&["qlog", "streams", log, "--json"]));
        let streams = document["traces"][0]["streams"].as_array().expect("streams").clone();
        streams.iter().map(|it| it["url"].to_string()).collect()
    };
    assert!(
        !urls(&part).is_empty() && !urls(&part).contains(&"null".to_owned()),
        "{:?}",
        urls(&part)
    );
    let output = utmost(&["qlog", "convert", "-", "--time", "50ms.."])
        .write_stdin(log)
        .output()
        .expect("runs");
    assert_eq!(output.stdout, std::fs::read(&part).expect("written"));
}

#[test]
fn a_part_with_nothing_in_it_is_refused() {
    let client = text_of(&data("qlog").join("client.sqlog"));
    let folder = tempfile::tempdir().expect("a directory");
    let part = text_of(&folder.path().join("part.sqlog"));
    let refused = |flags: &[&str]| {
        let arguments = [&["convert", &client, "-o", &part][..], flags].concat();
        let (code, _, told) = ran(&arguments);
        assert_eq!(code, Some(2), "{told}");
        told
    };
    let absent = "--stream 999: not a stream that the log has; `utmost qlog streams` lists them\n";
    assert!(refused(&["--stream", "999"]).ends_with(absent));
    let told = refused(&["--stream", "0", "--time", "100s.."]);
    assert!(told.contains("--time: no event is in it; the log's are from "), "{told}");
    let told = refused(&["--stream", "999", "--time", "0..1s"]);
    assert!(told.contains("--stream 999: not a stream that the log has in this time"), "{told}");
    assert!(!Path::new(&part).exists(), "nothing was written");
    let told = refused(&["--stream", "999", "--trace", "7"]);
    assert!(told.contains("has no trace 7, only 1"), "{told}");
}

#[test]
fn a_part_of_some_streams_that_exist_names_the_others() {
    let client = text_of(&data("qlog").join("client.sqlog"));
    let (code, _, told) = ran(&["convert", &client, "--stream", "0,998,999"]);
    assert_eq!(code, Some(0));
    assert!(told.contains("--stream 998,999: not a stream that the log has"), "{told}");
}

#[test]
fn a_set_of_which_nothing_is_in_the_log_is_refused() {
    let folder = pair();
    let client = text_of(&folder.path().join("client.sqlog"));
    let set = write(&folder, "set.txt", "/of-another-page");
    for arguments in [&["index", &client][..], &["ribbon", &client], &["compare", &client, &client]]
    {
        let (code, _, told) = ran(&[arguments, &["--set", &set]].concat());
        assert_eq!(code, Some(2), "{arguments:?}");
        let reason = "client.sqlog: nothing in the log belongs to the set of --page or --set";
        assert!(told.contains(reason), "{told}");
    }
}

const HEADER: &str = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":{"type":"client"}}}"#;

#[test]
fn a_page_of_more_streams_than_it_can_show_is_refused() {
    let packet = |request: usize| {
        format!(
            r#"{{"time":1,"name":"transport:packet_received","data":{{"frames":[{{"frame_type":"stream","stream_id":{},"offset":0,"length":1}}]}}}}"#,
            4 * request
        )
    };
    let packets: Vec<String> = (0..10_001).map(packet).collect();
    let folder = tempfile::tempdir().expect("a directory");
    let log = write(&folder, "many.sqlog", &format!("{HEADER}\n{}", packets.join("\n")));
    let page = folder.path().join("report.html");
    let output = utmost(&["qlog", "report", &log, "-o", &text_of(&page)]).output().expect("runs");
    let line = only_line(&output, 2);
    assert!(
        line.contains("10001 streams, and a page shows at most 10000; cut out a part"),
        "{line}"
    );
    assert!(!page.exists());
}

#[test]
fn a_log_of_too_many_long_urls_is_refused_and_taken_for_no_har() {
    let rest = "x".repeat(1900);
    let request = |request: usize| {
        format!(
            r#"{{"time":1,"name":"http:frame_created","data":{{"stream_id":{},"frame":{{"frame_type":"headers","headers":[{{"name":":method","value":"GET"}},{{"name":":path","value":"/{request}{rest}"}}]}}}}}}"#,
            4 * request
        )
    };
    let requests: Vec<String> = (0..106_000).map(request).collect();
    let folder = tempfile::tempdir().expect("a directory");
    let log = write(&folder, "texts.sqlog", &format!("{HEADER}\n{}", requests.join("\n")));
    for command in ["check", "lint"] {
        let line = only_line(&utmost(&["qlog", command, &log]).output().expect("runs"), 2);
        let reason = "its URLs and other texts take more than 192 MiB";
        assert!(line.contains(reason), "{command}: {line}");
    }
}

/// A response of 10 bytes, and an event before time 0 that brings 20 more.
const BELOW_ZERO: &str = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":{"type":"client"}}}
{"time":1,"name":"transport:packet_received","data":{"header":{"packet_number":1},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":10,"fin":true}]}}
{"time":-1,"name":"transport:packet_received","data":{"header":{"packet_number":2},"frames":[{"frame_type":"stream","stream_id":4,"offset":0,"length":20,"fin":true}]}}
"#;

#[test]
fn an_answer_without_what_was_left_out_says_so_and_ends_with_2() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = write(&folder, "below.qlog", BELOW_ZERO);
    let page = text_of(&folder.path().join("report.html"));
    let out = text_of(&folder.path().join("out.sqlog"));
    let commands: [&[&str]; 7] = [
        &["check", &log],
        &["streams", &log],
        &["index", &log],
        &["ribbon", &log],
        &["hol", &log],
        &["report", &log, "-o", &page],
        &["convert", &log, "-o", &out],
    ];
    for command in commands {
        let (code, _, reasons) = ran(command);
        assert_eq!(code, Some(2), "{command:?}: {reasons}");
        let said = reasons.contains("were left out (at record 3)")
            || reasons.contains("1 record could not be read");
        assert!(said, "{command:?}: {reasons}");
    }
    for command in ["check", "streams", "index", "ribbon", "hol"] {
        let document = json_of(&ran(&[command, &log, "--json"]).1);
        assert_valid(&format!("qlog-{command}.json"), &document);
        assert_eq!(document["incomplete"].as_array().map(Vec::len), Some(1), "{command}");
    }
    let whole = write(&folder, "whole.qlog", TWO_CONNECTIONS);
    let (code, text, reasons) = ran(&["streams", &log, &whole]);
    assert!(text.contains("below.qlog") && text.contains("whole.qlog"), "{text}");
    let last = "utmost: 1 of 2 logs were read only in part\n";
    assert!(code == Some(2) && reasons.ends_with(last), "{reasons}");
}
