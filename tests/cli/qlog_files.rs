//! `utmost qlog` on files that are not logs, or incomplete ones: pipes, devices, half archives, JSON that is not in lines,
//! other pages.

use crate::qlog_several::{json_of, pair, ran, text_of, write};
use crate::{data, stdout_of};
use serde_json::Value;
use std::fmt::Write as _;

#[test]
fn pipes_and_devices_are_skipped_in_a_folder_and_refused_by_name() {
    let folder = pair();
    let pipe = text_of(&folder.path().join("pipe.sqlog"));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let zero = folder.path().join("zero.qlog");
    std::os::unix::fs::symlink("/dev/zero", &zero).expect("linked");
    let directory = text_of(folder.path());
    for command in ["streams", "check"] {
        let (code, out, error) = ran(&[command, &directory]);
        assert!(code == Some(0) && out.contains("client.sqlog"), "{command}: {error}");
    }
    // It comes to an end.
    ran(&["lint", &directory]);
    let out = text_of(&folder.path().join("out.sqlog"));
    for log in [&pipe, &text_of(&zero)] {
        for arguments in [&["streams", log][..], &["lint", log], &["convert", log, "-o", &out]] {
            let (code, _, error) = ran(arguments);
            assert_eq!(code, Some(2), "{arguments:?}: {error}");
            assert!(error.contains("is a pipe, a socket or a device"), "{error}");
        }
    }
}

#[test]
fn half_an_archive_is_answered_and_exits_with_two() {
    let folder = tempfile::tempdir().expect("a directory");
    let sample = data("qlog").join("client.sqlog");
    let packer = std::process::Command::new("gzip").arg("-c").arg(sample).output();
    let packed = packer.expect("gzip").stdout;
    let half = folder.path().join("half.sqlog.gz");
    std::fs::write(&half, &packed[..packed.len() * 3 / 4]).expect("written");
    for command in ["streams", "check", "lint", "convert"] {
        let (code, _, error) = ran(&[command, &text_of(&half)]);
        assert_eq!(code, Some(2), "{command}: {error}");
        assert!(error.contains("the compressed data ends early"), "{command}: {error}");
    }
}

#[test]
fn two_pages_have_no_speedup() {
    let folder = tempfile::tempdir().expect("a directory");
    let log = |paths: [&str; 3]| {
        let mut log =
            "{\"qlog_version\":\"0.3\",\"trace\":{\"vantage_point\":{\"type\":\"client\"}}}\n"
                .to_owned();
        for (place, path) in paths.iter().enumerate() {
            let stream = 4 * place;
            let _ = write!(
                log,
                r#"{{"time":1,"name":"http:frame_created","data":{{"stream_id":{stream},"frame":{{"frame_type":"headers","headers":[{{"name":":method","value":"GET"}},{{"name":":path","value":"{path}"}}]}}}}}}
{{"time":{},"name":"transport:packet_received","data":{{"frames":[{{"frame_type":"stream","stream_id":{stream},"offset":0,"length":100,"fin":true}}]}}}}
"#,
                9 + place
            );
        }
        log
    };
    let one = write(&folder, "one.sqlog", &log(["/", "/a", "/b"]));
    let other = write(&folder, "other.sqlog", &log(["/", "/c", "/d"]));
    let json = json_of(&stdout_of(&["qlog", "diff", &one, &other, "--json"]));
    assert_eq!(json["runs"][1]["speedup"]["all"], Value::Null);
    let text = stdout_of(&["qlog", "diff", &one, &other]);
    assert!(text.contains("1 of 5 resources in common: too few for a speedup"), "{text}");
    let json = json_of(&stdout_of(&["qlog", "index", &one, &other, "--json"]));
    assert_eq!(json["traces"][1]["speedup"]["all"], Value::Null);
}

#[test]
fn records_that_are_not_lines_are_told_how_to_become_lines() {
    let folder = tempfile::tempdir().expect("a directory");
    let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"client"}}}"#;
    let event = r#"{"time":1,"name":"transport:packet_received","data":{}}"#;
    for (log, remedy) in [
        (format!("{header}{event}"), "`jq -c . FILE`"),
        (format!("{}\n{event}\n", header.replace(":{", ":\n {")), "`jq -c . FILE`"),
        (format!("[{header},\n{event}]"), "`jq -c '.[]' FILE`"),
    ] {
        let path = write(&folder, "a.qlog", &log);
        let (code, _, error) = ran(&["check", &path]);
        assert!(code == Some(2) && error.contains(remedy), "{log}: {error}");
    }
}
