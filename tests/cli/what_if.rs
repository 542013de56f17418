//! `utmost what-if`: how a recorded load would have gone under other schemes.

use crate::schemas::assert_valid;
use crate::{only_line, stdout_of, utmost};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The client's and the server's log of a load of a page under `rr`.
fn logs(folder: &Path) -> [PathBuf; 2] {
    let out = folder.join("out");
    let out = out.to_str().expect("UTF-8");
    let study = [
        "compare",
        "--paper",
        "davies-meenan",
        "--schemes",
        "rr",
        "--engine",
        "stack",
        "--network",
        "cable",
    ];
    stdout_of(&[&study[..], &["--out", out, "--keep-qlogs"]].concat());
    let logs = folder.join("out/qlogs/davies-meenan/rr-0");
    let files = fs::read_dir(&logs).expect("logs").map(|it| it.expect("a file").path());
    let server = files.into_iter().find(|it| it.to_string_lossy().ends_with("_server.sqlog"));
    [logs.join("client.sqlog"), server.expect("a server's log")]
}

#[test]
fn the_order_of_a_log_is_told_and_every_scheme_is_shown_beside_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let [client, server] = logs(folder.path());
    let client = client.to_str().expect("UTF-8");
    let arguments = ["what-if", client, "--page", "davies-meenan", "--schemes", "rr,fifo,lifo"];
    let shown = stdout_of(&arguments);
    assert!(shown.starts_with("The log's 9 responses arrive as under rr: "), "{shown}");
    for words in ["\n the log ", "\n fifo ", "\n lifo ", "\nassumed:\n", "Mbit/s down"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let page = folder.path().join("derived.json");
    let page = page.to_str().expect("UTF-8");
    let json = stdout_of(&[&arguments[..], &["--json", "--page-out", page]].concat());
    let document: Value = serde_json::from_str(&json).expect("one JSON document");
    assert_valid("what-if.json", &document);
    assert_eq!(document["orders"][0]["order"], "rr");
    // Other commands read the derived page.
    assert!(stdout_of(&["compare", "--paper", page, "--schemes", "rr,fifo"]).contains("fifo"));
    // The server's log beside the client's does no harm.
    let server = server.to_str().expect("UTF-8");
    let both = stdout_of(&["what-if", server, client, "--schemes", "rr,fifo"]);
    assert!(both.starts_with("The log's 9 responses arrive as under rr: "), "{both}");
}

#[test]
fn the_first_commands_of_the_guide_print_what_it_shows() {
    let guide = fs::read_to_string(Path::new(crate::REPOSITORY).join("docs/what-if.md"));
    let guide = guide.expect("the guide");
    let mut blocks = guide.split("```").skip(1).step_by(2);
    let commands = blocks.next().and_then(|it| it.strip_prefix("sh\n")).expect("commands");
    let shown = blocks.next().expect("what they print").trim();
    let folder = tempfile::tempdir().expect("a folder");
    let printed = commands.lines().map(|command| {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let output = utmost(&words).current_dir(folder.path()).output().expect("it runs");
        assert!(output.status.success(), "{command}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    });
    let printed: Vec<String> = printed.collect();
    let lines = printed.last().expect("two commands").lines().zip(shown.lines());
    for (printed, shown) in lines {
        assert_eq!(printed.trim_end(), shown);
    }
}

/// The log with its times from the last event to the first.
fn backwards(folder: &Path, log: &Path) -> PathBuf {
    let text = fs::read_to_string(log).expect("a log");
    let (header, events) = text.split_once('\n').expect("lines");
    let mut turned = vec![header.to_owned()];
    for event in events.lines() {
        let plain = event.trim_start_matches('\u{1e}');
        let mut event: Value = serde_json::from_str(plain).expect("an event");
        event["time"] = (10_000.0 - event["time"].as_f64().expect("a time")).into();
        turned.push(format!("\u{1e}{event}"));
    }
    let file = folder.join("backwards.sqlog");
    fs::write(&file, turned.join("\n") + "\n").expect("written");
    file
}

#[test]
fn a_log_that_cannot_be_replayed_is_refused_with_its_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let [client, server] = logs(folder.path());
    let half = folder.path().join("half.sqlog");
    let text = fs::read(&client).expect("a log");
    fs::write(&half, &text[..text.len() / 40]).expect("written");
    for (log, expected) in [
        (server.as_path(), "name the client's log of this load"),
        (half.as_path(), "holds no whole response"),
        (Path::new("nosuch.sqlog"), "no such file"),
        (
            &backwards(folder.path(), &client),
            "ms: the order of events cannot be told; record a log with one clock",
        ),
    ] {
        let output = utmost(&["what-if", log.to_str().expect("UTF-8")]).output().expect("it runs");
        let line = only_line(&output, 2);
        assert!(line.contains(expected), "{line}");
    }
}

/// A document of three DATA frames, and a stylesheet that was asked for when all of it had come.
#[test]
fn the_heads_of_further_data_frames_are_no_bytes_of_the_body() {
    let mut log =
        r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"client"}}}"#.to_owned();
    let mut event = |time: u64, name: &str, data: String| {
        let _ = write!(log, "\n{{\"time\":{time},\"name\":\"{name}\",\"data\":{data}}}");
    };
    let fields = |stream: u64, fields: &str, length: u64| {
        format!(
            r#"{{"stream_id":{stream},"length":{length},"frame":{{"frame_type":"headers","headers":[{fields}]}}}}"#
        )
    };
    let mut load = |stream: u64, path: &str, mime: &str, asked_ms: u64| {
        let request = format!(
            r#"{{"name":":method","value":"GET"}},{{"name":":scheme","value":"https"}},{{"name":":authority","value":"shop.test"}},{{"name":":path","value":"{path}"}}"#
        );
        event(asked_ms, "http3:frame_created", fields(stream, &request, 30));
        let head = format!(
            r#"{{"name":":status","value":"200"}},{{"name":"content-type","value":"{mime}"}}"#
        );
        event(asked_ms + 40, "http3:frame_parsed", fields(stream, &head, 30));
        let (mut offset, end) = (0, 30 + 3 * 3003);
        while offset < end {
            let length = 1200.min(end - offset);
            let fin = offset + length == end;
            let number = offset / 1200 + 100 * stream;
            event(
                asked_ms + 40 + offset / 1200,
                "quic:packet_received",
                format!(
                    r#"{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"frames":[{{"frame_type":"stream","stream_id":{stream},"offset":{offset},"length":{length},"fin":{fin}}}]}}"#
                ),
            );
            offset += length;
        }
        for _ in 0..3 {
            event(
                asked_ms + 48,
                "http3:frame_parsed",
                format!(
                    r#"{{"stream_id":{stream},"length":3000,"frame":{{"frame_type":"data"}}}}"#
                ),
            );
        }
    };
    load(0, "/", "text/html", 0);
    load(4, "/a.css", "text/css", 53);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.sqlog");
    fs::write(&path, log).expect("written");
    let path = path.to_str().expect("UTF-8");
    let text = stdout_of(&["what-if", path, "--schemes", "rr,fifo", "--json"]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_valid("what-if.json", &document);
}
