//! Studies of pushes, hints and signals.

use crate::serving::Serving;
use crate::studies::{read, settings_in, study_of};
use crate::{only_line, stdout_of, utmost};
use std::fs;

#[test]
fn pushes_gates_hints_and_signals_are_compared_setting_by_setting() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("UTF-8");
    let flags = "compare --paper agency-index --engine stack --network cable --schemes fifo --push none,push --gate \
                 strict,throttle:8900 --hints none,preload --signals obey,override";
    let shown =
        stdout_of(&[&flags.split_whitespace().collect::<Vec<_>>()[..], &["--out", out]].concat());
    for row in [
        " rr no push no hints obey ",
        " fifo no push preload override ",
        " fifo push strict no hints obey ",
        " fifo push throttle:8900 preload override ",
    ] {
        assert!(shown.contains(row), "{shown}");
    }
    let (settings, headers) = settings_in(folder.path());
    assert_eq!(
        headers,
        [
            "page,scheme,engine,network,send_buffer_bytes,cc,push,gate,hints,signals",
            "scheme,network,send_buffer_bytes,push,gate,hints,signals"
        ]
    );
    // Without a push there is no gate: 4 settings, and 4 behind each of two gates.
    assert_eq!(settings.len(), 2 * (4 + 2 * 4));
    assert_eq!(settings[0], "agency-index,rr,stack,cable,0,bbr2,none,,none,obey");
    let document = study_of(folder.path());
    crate::schemas::assert_valid("study.json", &document);
    let taken = |setting: &str| -> Vec<f64> {
        let runs = document["runs"].as_array().expect("runs").iter();
        let runs = runs.filter(|it| it["push"] == setting);
        runs.map(|it| it["pushes"]["taken"].as_f64().expect("a count")).collect()
    };
    assert!(taken("none").iter().all(|it| *it == 0.0));
    assert!(taken("push").iter().all(|it| *it > 0.0), "{:?}", taken("push"));
    let header = read(folder.path(), "summary.csv").lines().nth(1).map(str::to_owned);
    let end = ",mean_pushes_taken,mean_pushes_refused,mean_pushes_late,mean_pushes_wasted_bytes";
    assert!(header.as_ref().is_some_and(|it| it.ends_with(end)), "{header:?}");
}

#[test]
fn pushes_hints_and_signals_that_mean_nothing_are_refused_before_anything_is_loaded() {
    let refused = |arguments: &[&str], expected: &str| {
        let all = [&["compare", "--paper", "davies-meenan"][..], arguments].concat();
        let line = only_line(&utmost(&all).output().expect("runs"), 2);
        assert!(line.contains(expected), "{arguments:?}: {line}");
    };
    let on_stack = |arguments: &[&str], expected: &str| {
        refused(&[&["--engine", "stack", "--network", "cable"][..], arguments].concat(), expected);
    };
    refused(&["--push", "push"], "--push: engine ideal has no streams to push on; use --engine");
    refused(&["--hints", "preload"], "--hints: engine ideal has no responses that could name");
    refused(&["--signals", "obey"], "--signals: engine ideal has no client that signals;");
    on_stack(
        &["--push", "none,pull"],
        "`pull` is not a push policy; there are: none, push, push-in-evaluation-order, preload, push-and-preload, ",
    );
    on_stack(
        &["--push", "push", "--gate", "ajar"],
        "`ajar` is not a push gate; there are: preempt, strict, throttle:BYTES, ",
    );
    on_stack(&["--gate", "throttle:0"], "`throttle:0` sends nothing before the document");
    for pushes in [&[][..], &["--push", "none,preload"]] {
        on_stack(
            &[&["--gate", "strict"][..], pushes].concat(),
            "--gate: it holds pushes back, and nothing is pushed; use --push with one of push, push-in-evaluation-order, push-and-preload, ",
        );
    }
    on_stack(
        &["--signals", "ignore,obey", "--metadata", "browser"],
        "--signals obey: the server places by signals alone, so --metadata changes nothing;",
    );
    on_stack(
        &["--signals", "obey", "--schemes", "cpl"],
        "--signals obey: `cpl` looks ahead in the page, which signals do not describe;",
    );
    on_stack(
        &["--push", "push", "--policy", "x", "--seeds", "9"],
        "loads without them to compare with: add none to --push and to --hints",
    );
}

#[test]
fn a_policy_says_what_to_push_and_a_server_takes_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = folder.path().join("policy.toml");
    let policy = policy.to_str().expect("UTF-8");
    // The loads with seeds 3 to 5 choose: with links they are a little better than without.
    let flags = "compare --paper agency-index --engine stack --network cable --schemes rr --seeds 9 --first-seed 3 --push none,push --gate \
                 throttle:8900 --hints none,preload --policy-default rr --policy";
    let shown = stdout_of(&[&flags.split_whitespace().collect::<Vec<_>>()[..], &[policy]].concat());
    assert!(shown.contains(" agency-index  rr push throttle:8900 preload "), "{shown}");
    let text = read(folder.path(), "policy.toml");
    let host = "host = \"agency-local.page.test\"";
    let keys = "push_policy = \"push\"\npush_graph = \"policy-agency-index.json\"\npush_gate = \"throttle:8900\"\n";
    for expected in [
        "[site]\npage = \"agency-index\"\nscheme = \"rfc9218\"\nsignals = \"obey\"\n".to_owned(),
        format!(
            "{host}\npath = \"/index.html\"\nscheme = \"rr\"\nsignals = \"ignore\"\n{keys}links = [\"</"
        ),
        format!("{host}\npath = \"/*\"\n{keys}"),
    ] {
        assert!(text.contains(&expected), "{text}");
    }
    for site in ["page = \"agency-index\"", "root = \".\"", "upstream = \"http://127.0.0.1:1\""] {
        fs::write(policy, text.replace("page = \"agency-index\"", site)).expect("written");
        let (code, said) = Serving::start(&["--config", policy]).stop();
        assert_eq!(code, Some(0), "{said}");
        assert!(!said.contains("policy.toml:"), "{site}: nothing in it is idle: {said}");
    }
}
