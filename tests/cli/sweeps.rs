//! Studies that set properties of the links, and studies with others on them.

use crate::studies::{read, settings_in, study_of};
use crate::{schemas, stdout_of, utmost};
use serde_json::{Value, json};
use std::path::Path;

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

/// A study in `folder` and what it shows.
fn studied(command: &str, folder: &Path) -> String {
    let folder = folder.to_str().expect("UTF-8");
    stdout_of(&[&words(command)[..], &["--out", folder]].concat())
}

#[test]
fn properties_of_the_links_are_compared_setting_by_setting() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let study =
        "compare --paper davies-meenan --schemes fifo --set rtt_ms=10,50 --set rate=1.12M,5M";
    let shown = studied(study, &path("whole"));
    for row in [" rr 10 ms 1.12 Mbit/s ", " fifo 50 ms 5 Mbit/s "] {
        assert!(shown.contains(row), "{shown}");
    }
    assert!(
        shown.contains(
            "network paper, send buffer 0 bytes, round trip 10, 50 ms, rate 1120000, 5000000 bit/s"
        ),
        "{shown}"
    );
    let (settings, headers) = settings_in(&path("whole"));
    assert_eq!(
        headers,
        [
            "page,scheme,engine,network,send_buffer_bytes,cc,rtt_ms,rate",
            "scheme,network,send_buffer_bytes,rtt_ms,rate"
        ]
    );
    let expected: Vec<String> = ["10,1120000", "10,5000000", "50,1120000", "50,5000000"]
        .into_iter()
        .flat_map(|it| ["rr", "fifo"].map(|scheme| (scheme, it)))
        .map(|(scheme, it)| format!("davies-meenan,{scheme},ideal,paper,0,,{it}"))
        .collect();
    assert_eq!(settings, expected);
    let document = study_of(&path("whole"));
    schemas::assert_valid("study.json", &document);
    assert_eq!(document["provenance"]["rtts_ms"], json!([10, 50]));
    assert_eq!(document["provenance"]["rates"], json!([1_120_000, 5_000_000]));
    assert_eq!(document["summary"][7]["rtt_ms"], json!(50));

    let manifest = path("whole/manifest.json");
    studied(&format!("compare --from {}", manifest.display()), &path("again"));
    assert_eq!(settings_in(&path("again")), settings_in(&path("whole")));
    for place in ["1", "2"] {
        studied(&format!("{study} --shard {place}/2"), &path(place));
    }
    let (one, two) = (path("1").display().to_string(), path("2").display().to_string());
    studied(&format!("merge {one} {two}"), &path("merged"));
    assert_eq!(settings_in(&path("merged")), settings_in(&path("whole")));
}

#[test]
fn a_page_is_compared_alone_and_beside_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let study = "compare --paper davies-meenan --engine stack --network 3g --schemes fifo --cross none,bulk:cubic,web";
    let shown = studied(study, &path("whole"));
    for row in [" fifo alone ", " fifo bulk:cubic ", " fifo web:0.3 "] {
        assert!(shown.contains(row), "{shown}");
    }
    let document = study_of(&path("whole"));
    schemas::assert_valid("study.json", &document);
    assert_eq!(document["provenance"]["crosses"], json!(["none", "bulk:cubic", "web:0.3"]));
    let cross: Vec<&Value> =
        document["summary"].as_array().expect("rows").iter().map(|it| &it["cross"]).collect();
    assert_eq!(cross, ["none", "none", "bulk:cubic", "bulk:cubic", "web:0.3", "web:0.3"]);
    let manifest = path("whole/manifest.json");
    studied(&format!("compare --from {}", manifest.display()), &path("again"));
    // Lines are in the order in which loads were done.
    let loads = |name: &str| {
        let mut lines: Vec<String> =
            read(&path(name), "runs.jsonl").lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(loads("again"), loads("whole"));
}

#[test]
fn what_a_network_or_an_engine_does_not_have_is_refused_with_its_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("t.trace"), "1\n").expect("written");
    let network = folder.path().join("t.toml");
    std::fs::write(&network, "rate = \"t.trace\"\nqueue = \"unlimited\"\n").expect("written");
    let traced = format!("--engine stack --network {} --set rate=1M", network.display());
    for (arguments, expected) in [
        (
            "--set rtt=10",
            "invalid value 'rtt=10' for '--set <KEY=LIST>': `rtt` is not a property of a network that can be set; use \
             rtt_ms=10,50,200 or rate=1M,5M or loss=0,0.01",
        ),
        (
            "--set queue=64k",
            "the queue has its own flag: use --queue, for example --queue 64k,2bdp",
        ),
        ("--set rtt_ms=10,10.0", "rtt_ms: 10 occurs twice; name each value once"),
        (
            "--set rtt_ms=10 --set rtt_ms=50",
            "--set: rtt_ms occurs twice; name all its values in one list, as in --set rtt_ms=10,50,200",
        ),
        (
            "--set rtt_ms=ten",
            "rtt_ms: `ten` is not a number from 0 to 1e12 of at most six decimals",
        ),
        ("--set rate=5", "network `paper`: rate = 5: bits a second, from 1e3 to 1e11"),
        (
            "--set loss=0,0.01",
            "network `paper`: loss; engine ideal knows only rate, delay and jitter: use --engine stack",
        ),
        (
            &traced,
            "its rate is a trace, which --set rate cannot change; leave out --set rate, or use a network with a constant \
             rate",
        ),
        (
            "--cross web",
            "--cross: engine ideal has no connections that could share a link; use --engine stack",
        ),
        (
            "--engine wire --network cable --cross none",
            "--cross: engine wire has one client; use --engine stack",
        ),
        (
            "--engine stack --cross bulk:cubic",
            "--cross: network `paper`: its server paces, so others on the link do not slow the page; leave out --cross, or \
             use another network",
        ),
        (
            "--engine stack --network cable --cross bulk",
            "`bulk` is not cross traffic; use none, bulk:bbr2, bulk:cubic, bulk:reno, or web:SHARE",
        ),
    ] {
        refused(arguments, expected);
    }
}

#[test]
fn a_value_that_stands_twice_and_a_baseline_of_two_schemes_are_refused() {
    let on_cable = "--engine stack --network cable";
    for (arguments, expected) in [
        ("--cross none,none", "--cross: value 2 is the same as an earlier one; name each once"),
        ("--queue 64k,64000", "--queue: value 2 is the same as an earlier one; name each once"),
        ("--baseline rr,fifo", "--baseline needs one scheme: no scheme is named `rr,fifo`"),
        ("--baseline paper", "--baseline needs one scheme: no scheme is named `paper`"),
    ] {
        refused(&format!("{on_cable} {arguments}"), expected);
    }
}

/// `utmost compare` with these arguments is bad usage, and prints what is expected.
fn refused(arguments: &str, expected: &str) {
    let all = [&["compare", "--paper", "davies-meenan"][..], &words(arguments)].concat();
    let output = utmost(&all).output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains(expected), "{arguments}: {message}");
    assert_eq!(output.status.code(), Some(2), "{arguments}");
}
