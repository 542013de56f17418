//! `utmost qlog` on packet captures. The one of these tests is of aioquic, which sent two responses of 4,000 and 7,000 bytes.

use crate::qlog_several::{json_of, ran, text_of};
use crate::{data, only_line, utmost};
use std::fs;
use std::path::Path;

fn capture() -> String {
    text_of(&data("capture/two-responses.pcap"))
}

#[test]
fn a_capture_with_its_keys_is_read_as_a_log() {
    let Some(_) = fixtures::program("tshark") else { return };
    let keys = text_of(&data("capture/keys.log"));
    let (code, stdout, stderr) =
        ran(&["streams", &capture(), "--keys", &keys, "--vantage", "client", "--json"]);
    assert_eq!(code, Some(0), "{stderr}");
    let trace = &json_of(&stdout)["traces"][0];
    // As the log that aioquic wrote of this connection has them.
    assert_eq!(
        (&trace["vantage"], &trace["connection"]),
        (&"client".into(), &"90bc9d602ef538df".into())
    );
    let bytes = |id: u64| {
        let mut streams = trace["streams"].as_array().expect("a list").iter();
        streams.find(|it| it["id"] == id).map(|it| it["bytes"].clone())
    };
    assert_eq!([bytes(0), bytes(4)], [Some(4013.into()), Some(7013.into())], "{trace}");
}

#[test]
fn a_capture_without_its_keys_is_refused_with_the_remedy() {
    let Some(_) = fixtures::program("tshark") else { return };
    let (code, _, stderr) = ran(&["summary", &capture()]);
    assert!(code == Some(2) && stderr.contains("cannot be decrypted: name"), "{stderr}");
    let (code, _, stderr) = ran(&["summary", &capture(), "--keys", "no-such.log"]);
    assert!(code == Some(2) && stderr.contains("no-such.log: "), "{stderr}");
    let folder = tempfile::tempdir().expect("a folder");
    let keys = folder.path().join("keys.log");
    let other = format!(
        "CLIENT_RANDOM {} {}\n# SECRET\nCLIENT_TRAFFIC_SECRET_0 00 11\n",
        "0".repeat(64),
        "1".repeat(96)
    );
    for (text, expected) in
        [("", "keys.log has no secrets;"), (&other, "has only secrets of other connections;")]
    {
        fs::write(&keys, text).expect("written");
        let (code, _, stderr) = ran(&["summary", &capture(), "--keys", &text_of(&keys)]);
        assert!(code == Some(2) && stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn without_tshark_the_message_says_what_to_install() {
    let mut program = utmost(&["qlog", "summary", &capture()]);
    let output = program.env("PATH", Path::new("/nonexistent")).output().expect("runs");
    let line = only_line(&output, 2);
    assert!(line.contains("tshark is not installed: install it"), "{line}");
}
