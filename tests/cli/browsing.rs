//! `utmost browser`, and studies on engine `browser`.

use crate::schemas::assert_valid;
use crate::{only_line, stdout_of, utmost};
use serde_json::Value;

/// In real time, so on a fast network.
#[test]
fn schemes_are_loaded_in_chromium_beside_their_prediction() {
    let text = stdout_of(&[
        "browser",
        "agency-home",
        "--networks",
        "cable",
        "--schemes",
        "rr,fifo,dfifo",
        "--signals",
        "ignore",
        "--seeds",
        "1",
        "--imitate",
        "--json",
    ]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_valid("browser.json", &document);
    assert_valid("study.json", &document["study"]);
    let browser = document["browser"].as_str().expect("a name");
    assert!(browser.starts_with("Chromium ") && browser.ends_with(", imitated pages"), "{browser}");
    let agreement = &document["agreements"][0];
    let schemes = agreement["schemes"].as_array().expect("schemes");
    assert_eq!(schemes.len(), 3);
    for scheme in schemes {
        let ms = |name: &str| scheme[name].as_f64().expect("a number");
        // However busy the machine is, nothing comes before the link lets it.
        assert!(ms("measured") > 0.5 * ms("predicted"), "{scheme}");
        assert!(ms("load_ms") > 0.5 * ms("predicted_load_ms"), "{scheme}");
    }
}

#[test]
fn a_study_of_imitated_pages_is_repeated_with_imitated_pages() {
    let folder = tempfile::tempdir().expect("a folder");
    let [first, again] = ["first", "again"].map(|it| folder.path().join(it));
    let [of_first, of_again] = [&first, &again].map(|it| it.to_str().expect("UTF-8"));
    let study = [
        "compare",
        "--paper",
        "agency-home",
        "--engine",
        "browser",
        "--imitate",
        "--network",
        "cable",
    ];
    stdout_of(&[&study[..], &["--schemes", "rr", "--out", of_first]].concat());
    stdout_of(&["compare", "--from", of_first, "--out", of_again]);
    let browsers = [&first, &again].map(|it| {
        let text = std::fs::read_to_string(it.join("manifest.json")).expect("a manifest");
        let manifest: Value = serde_json::from_str(&text).expect("JSON");
        manifest["browser"].as_str().expect("a browser").to_owned()
    });
    assert!(browsers[0].ends_with(", imitated pages"), "{browsers:?}");
    assert_eq!(browsers[0], browsers[1]);
    let twice = utmost(&["compare", "--from", of_first, "--imitate"]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&twice.stderr).contains("cannot be used with"), "{twice:?}");
}

#[test]
fn what_a_browser_cannot_do_is_refused_before_anything_is_loaded() {
    let study = ["compare", "--paper", "agency-home", "--engine", "browser", "--network", "cable"];
    let refused = |more: &[&str]| {
        only_line(&utmost(&[&study[..], more].concat()).output().expect("the program runs"), 2)
    };
    assert!(
        refused(&["--push", "push"])
            .contains("--push: engine browser takes no pushes, as no browser does today"),
    );
    assert!(
        refused(&["--warm-up", "300k"])
            .contains("--warm-up: engine browser loads one page a connection")
    );
    let ideal =
        utmost(&["compare", "--paper", "agency-home", "--imitate"]).output().expect("it runs");
    assert!(only_line(&ideal, 2).contains("--imitate: engine ideal loads no files"));
    assert!(refused(&["--cross", "web"]).contains("--cross: engine browser has one client"));
}
