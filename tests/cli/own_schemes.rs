//! Schemes from files, as `docs/own-schemes.md` describes them.

use crate::serving::Serving;
use crate::{only_line, stdout_of, utmost};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const GUIDE: &str = include_str!("../../docs/own-schemes.md");
const SCENARIO: &str = "examples/late-stylesheet.json";

/// The first block of the guide in a language.
fn block(language: &str) -> &'static str {
    let (_, rest) = GUIDE.split_once(&format!("```{language}\n")).expect("a block");
    rest.split_once("```").expect("an end").0
}

/// The guide's example, in a file.
fn example() -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("fonts-first.toml");
    fs::write(&file, block("toml")).expect("written");
    (folder, file)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path")
}

#[test]
fn the_guides_example_prints_the_order_that_the_guide_shows() {
    let (_folder, file) = example();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let shown: Vec<_> = block("text").lines().map(words).collect();
    for more in [&[][..], &["--scheme", "fonts-first"]] {
        let printed =
            stdout_of(&[&["order", SCENARIO, "--scheme-file", text(&file)], more].concat());
        assert_eq!(printed.lines().skip(1).map(words).collect::<Vec<_>>(), shown);
    }
    let all =
        ["order", SCENARIO, "--scheme-file", text(&file), "--scheme", "rr,fonts-first@guard:3"];
    assert_eq!(stdout_of(&all).lines().count(), 4);
}

#[test]
fn a_check_names_every_rule_the_twin_and_the_costs() {
    let check = |file: &str, more: &[&str]| -> Value {
        let text = stdout_of(&[&["schemes", "--json", "--check", file], more].concat());
        let document = serde_json::from_str(&text).expect("JSON");
        crate::documents::assert_valid("scheme-check.json", &document);
        document
    };
    let dfifo = check("examples/schemes/dfifo.toml", &[]);
    assert_eq!(dfifo["checks"].as_array().map(Vec::len), Some(9));
    assert_eq!(dfifo["costs"][0]["scheme"], "dfifo");
    assert_eq!(dfifo["costs"][1]["scheme"], "my-dfifo");
    let script = check("examples/schemes/srpt.toml", &["--beside", "fifo"]);
    assert_eq!(script["checks"].as_array().map(Vec::len), Some(10));
    assert_eq!(script["costs"][0]["scheme"], "fifo");
}

#[test]
fn a_check_of_a_scheme_that_is_not_like_its_twin_says_no() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("x.toml");
    let text_of = |path| fs::read_to_string(path).expect("a text");
    let other = text_of("examples/schemes/fifo.toml").replace("sequential", "shared");
    fs::write(&file, other).expect("written");
    let output = utmost(&["schemes", "--check", text(&file)]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("BROKEN: course 0: slot"), "{printed}");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.trim_end().ends_with("x.toml: 2 of 9 rules are broken"), "{stderr}");
}

#[test]
fn a_script_that_fails_is_a_broken_rule() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("x.toml");
    let script = "[scheme]
name = \"x\"
about = \"x\"
script = 'fn opened(stream, resource) { loop {} }'
";
    fs::write(&file, script).expect("written");
    let output = utmost(&["schemes", "--check", text(&file)]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("Too many operations"), "{printed}");
    // Elsewhere it is a warning, and the page arrives.
    let output = utmost(&["order", SCENARIO, "--scheme-file", text(&file)]).output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("go last, in the order of their requests"), "{stderr}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("0x4 4x4 8x3 12x3"));
}

/// The folder can move, and the file that the user wrote can be gone.
#[test]
fn a_study_is_repeated_from_the_scheme_file_beside_its_manifest() {
    let (folder, file) = example();
    let first = folder.path().join("first");
    let study =
        ["compare", "davies-meenan", "--scheme-file", text(&file), "--schemes", "fonts-first"];
    stdout_of(&[&study[..], &["--out", text(&first)]].concat());
    fs::remove_file(&file).expect("removed");
    let moved = folder.path().join("moved");
    fs::rename(&first, &moved).expect("renamed");
    let (manifest, again) = (moved.join("manifest.json"), folder.path().join("again"));
    stdout_of(&["compare", "--from", text(&manifest), "--out", text(&again)]);
    let csv = |folder: &Path| {
        let text = fs::read_to_string(folder.join("summary.csv")).expect("a summary");
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(csv(&moved), csv(&again));
    let kept = moved.join("schemes/fonts-first.toml");
    assert_eq!(fs::read_to_string(&kept).expect("a scheme"), block("toml"));
    fs::write(&kept, block("toml").replace("rank = 2", "rank = 3")).expect("written");
    let output = utmost(&["compare", "--from", text(&manifest)]).output().expect("it runs");
    assert!(only_line(&output, 2).contains("scheme `fonts-first` is not what it was"));
}

/// The server knows the file, from a flag or from its configuration, and its log can be read with it.
#[test]
fn a_server_sends_in_the_order_of_a_file() {
    let (folder, file) = example();
    let config = folder.path().join("serve.toml");
    let site = "[site]\npage = \"davies-meenan\"\nscheme_files = [\"fonts-first.toml\"]\nscheme = \"fonts-first\"\n";
    fs::write(&config, site).expect("written");
    let logs = folder.path().join("logs");
    let server = Serving::start(&["--config", text(&config), "--qlog", text(&logs)]);
    let play = ["play", "davies-meenan", "--server", &server.address, "--insecure"];
    assert!(stdout_of(&play).starts_with("the server sends in the order of fonts-first\n"));
    assert_eq!(server.stop().0, Some(0));
    let log = fs::read_dir(&logs).expect("logs").next().expect("a log").expect("an entry").path();
    let output = utmost(&["qlog", "tree", text(&log)]).output().expect("it runs");
    assert!(only_line(&output, 2).contains("no scheme is named `fonts-first`"));
    let tree = stdout_of(&["qlog", "tree", text(&log), "--scheme-file", text(&file)]);
    assert!(tree.contains(" ms, fonts-first\n"), "{tree}");
    let lint =
        ["qlog", "lint", text(&log), "--scheme-file", text(&file), "--scheme", "fonts-first"];
    assert!(stdout_of(&lint).contains(" 0 of "));
}

#[test]
fn wrong_files_and_names_are_refused() {
    let (folder, file) = example();
    let message = |arguments: &[&str]| only_line(&utmost(arguments).output().expect("it runs"), 2);
    let order = |more: &[&str]| message(&[&["order", SCENARIO], more].concat());
    assert!(order(&["--scheme-file", "nosuch.toml"]).contains("nosuch.toml: No such file"));
    let file = text(&file);
    assert!(order(&["--scheme-file", file, "--scheme-file", file]).contains("is also in"));
    let misspelt = order(&["--scheme-file", file, "--scheme", "font-first"]);
    assert!(
        misspelt.ends_with("no scheme is named `font-first`; near it: fonts-first"),
        "{misspelt}"
    );
    let taken = folder.path().join("taken.toml");
    fs::write(&taken, block("toml").replace("fonts-first", "fifo")).expect("written");
    assert!(order(&["--scheme-file", text(&taken)]).contains("`fifo` is a built-in scheme"));
}
