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
fn a_check_names_every_rule() {
    let check = |file: &str| -> Value {
        let text = stdout_of(&["schemes", "--json", "--check", file]);
        let document = serde_json::from_str(&text).expect("JSON");
        crate::schemas::assert_valid("scheme-check.json", &document);
        document
    };
    let places = check("examples/schemes/dfifo.toml");
    assert_eq!(places["checks"].as_array().map(Vec::len), Some(7));
    let script = check("examples/schemes/srpt.toml");
    assert_eq!(script["checks"].as_array().map(Vec::len), Some(8));
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
}

/// A scheme whose function of this name fails.
fn failing(folder: &Path, function: &str) -> PathBuf {
    let file = folder.join(format!("{function}.toml"));
    let body = |name: &str| if name == function { "this.n += 1;" } else { "" };
    let script = format!(
        "[scheme]
name = \"{function}\"
about = \"x\"
signals = \"rfc9218\"
script = '''
fn setup() {{ {} }}
fn opened(stream, resource) {{ {} #{{ }} }}
fn signalled(stream, said) {{ {} }}
fn sent(stream, bytes) {{ {} }}
fn closed(stream) {{ {} }}
fn says(resource) {{ {} #{{ urgency: 1 }} }}
'''
",
        body("setup"),
        body("opened"),
        body("signalled"),
        body("sent"),
        body("closed"),
        body("says"),
    );
    fs::write(&file, script).expect("written");
    file
}

/// What a program printed that ended with 3, and its last line on stderr.
fn failed(arguments: &[&str]) -> (String, String) {
    let output = utmost(arguments).output().expect("it runs");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{arguments:?}: {stderr}");
    let last = stderr.trim_end().lines().last().expect("a line").to_owned();
    (String::from_utf8_lossy(&output.stdout).into_owned(), last)
}

#[test]
fn a_study_compares_nothing_with_a_scheme_that_failed() {
    let folder = TempDir::new().expect("a folder");
    let functions = ["setup", "opened", "sent", "closed"];
    let all = functions.map(|it| (it, &["ideal", "stack"][..]));
    for (function, engines) in all.into_iter().chain([("sent", &["wire"][..])]) {
        let file = failing(folder.path(), function);
        for engine in engines {
            let schemes = format!("{function},rfc9218");
            let arguments = [
                "compare",
                "--paper",
                "davies-meenan",
                "--engine",
                engine,
                "--scheme-file",
                text(&file),
            ];
            let more = ["--schemes", &schemes, "--baseline", "fifo"];
            let (stdout, last) = failed(&[&arguments[..], &more].concat());
            let cause = format!("with seed 0 failed: `{function}`");
            assert!(
                last.contains(&cause) && last.contains("Function not found: + ((), i64)"),
                "{last}"
            );
            let said = format!("Scheme {function} failed, so it is not compared (page");
            assert!(stdout.contains(&said), "{engine}, {function}: {stdout}");
            let rows: Vec<&str> = stdout.lines().filter(|it| it.starts_with(' ')).collect();
            let own: Vec<&&str> =
                rows.iter().filter(|it| it.trim_start().starts_with(function)).collect();
            assert_eq!(own.len(), 1, "{stdout}");
            let cells: Vec<&str> = own[0].split_whitespace().collect();
            assert!(cells[1..].iter().all(|it| ["-", "failed"].contains(it)), "{cells:?}");
            assert!(rows.iter().filter(|it| it.contains("rfc9218")).count() == 1, "{stdout}");
            let first = stdout.lines().nth(1).expect("a sentence");
            assert!(first.starts_with(&said), "{stdout}");
        }
    }
}

#[test]
fn a_scheme_whose_client_fails_to_signal_is_not_compared_either() {
    let folder = TempDir::new().expect("a folder");
    for (function, word) in [("says", "1"), ("signalled", "1"), ("signalled", "3")] {
        let file = failing(folder.path(), function);
        // Urgency 3 is the default of RFC 9218.
        let script = fs::read_to_string(&file).expect("read");
        fs::write(&file, script.replace("urgency: 1", &format!("urgency: {word}")))
            .expect("written");
        let arguments = [
            "compare",
            "--paper",
            "davies-meenan",
            "--engine",
            "stack",
            "--scheme-file",
            text(&file),
        ];
        let more = ["--network", "cable", "--schemes", function, "--signals", "obey"];
        let (stdout, last) = failed(&[&arguments[..], &more].concat());
        assert!(last.contains(&format!("failed: `{function}`")), "{last}");
        assert!(stdout.contains(&format!("Scheme {function} failed")), "{stdout}");
    }
}

/// It fails on the page that has a font only.
#[test]
fn a_scheme_that_failed_on_one_page_is_compared_on_none_and_every_file_says_so() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("half.toml");
    let script = "[scheme]
name = \"half\"
about = \"x\"
signals = \"none\"
script = '''
fn opened(stream, resource) { if resource.kind == \"font\" { this.n += 1; } #{ order: stream } }
'''
";
    fs::write(&file, script).expect("written");
    let (shard, out) = (folder.path().join("shard"), folder.path().join("out"));
    let study =
        ["compare", "--paper", "davies-meenan", "agency-index", "--scheme-file", text(&file)];
    let more = ["--schemes", "half,fifo", "--out", text(&shard)];
    let of_first = |stdout: String, last: String| {
        assert!(stdout.contains("Scheme half failed, so it is not compared"), "{stdout}");
        assert!(last.contains("under half on paper with seed 0 failed: "), "{last}");
    };
    let (stdout, last) = failed(&[&study[..], &more].concat());
    of_first(stdout, last);
    // Nothing is loaded again, and nothing is forgotten.
    let (stdout, last) = failed(&[&study[..], &more].concat());
    of_first(stdout, last);
    let (stdout, last) = failed(&["merge", text(&shard), "--out", text(&out)]);
    of_first(stdout, last);
    let read = |name: &str| fs::read_to_string(out.join(name)).expect("a file");
    let json = crate::studies::study_of(&out);
    let runs = json["runs"].as_array().expect("runs").iter().filter(|it| it["scheme"] == "half");
    let runs: Vec<&Value> = runs.collect();
    assert_eq!(runs.len(), 2);
    assert!(
        runs.iter().all(|it| it["completed"] == false && it["unfinished"]["of_scheme"] == true)
    );
    let compared: Vec<&Value> =
        json["comparisons"].as_array().expect("rows").iter().map(|it| &it["scheme"]).collect();
    assert_eq!(compared, ["fifo"]);
    let manifest: Value = serde_json::from_str(&read("manifest.json")).expect("JSON");
    let cause = manifest["failed_schemes"]["half"].as_str().expect("a cause");
    assert!(cause.contains(", seed 0: `opened` in line 6: "), "{cause}");
    assert!(read("report.html").contains("Scheme half failed, so it is not compared"));
    assert!(read("comparisons.csv").lines().all(|it| !it.starts_with("half")));
    assert!(read("runs.jsonl").contains("\"of_scheme\":true"));
}

#[test]
fn no_command_answers_with_an_order_that_is_not_the_schemes() {
    let folder = TempDir::new().expect("a folder");
    let file = failing(folder.path(), "opened");
    let log = folder.path().join("log");
    let with_file = ["--scheme-file", text(&file)];
    stdout_of(&["order", SCENARIO, "--scheme", "rr", "--qlog", text(&log)]);
    let server = fs::read_dir(&log).expect("logs").next().expect("a log").expect("a file").path();
    let play = folder.path().join("play");
    stdout_of(&["play", "davies-meenan", "--qlog", text(&play)]);
    let client = play.join("client.sqlog");
    let commands: [&[&str]; 5] = [
        &["order", SCENARIO],
        &["find", "davies-meenan", "--networks", "cable", "--details"],
        &["what-if", text(&client), "--schemes", "opened,rr"],
        &["qlog", "lint", text(&server), "--scheme", "opened"],
        &["order", SCENARIO, "--json"],
    ];
    for command in commands {
        let (stdout, last) = failed(&[command, &with_file].concat());
        assert_eq!(stdout, "", "{command:?}");
        let expected = "utmost: scheme opened failed, so its order is not known: `opened` in line ";
        assert!(last.starts_with(expected), "{command:?}: {last}");
    }
}

/// The folder can move, and the file that the user wrote can be gone.
#[test]
fn a_study_is_repeated_from_the_scheme_file_beside_its_manifest() {
    let (folder, file) = example();
    let first = folder.path().join("first");
    let study = [
        "compare",
        "--paper",
        "davies-meenan",
        "--scheme-file",
        text(&file),
        "--schemes",
        "fonts-first",
    ];
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
    assert!(only_line(&output, 2).contains("scheme `fonts-first` has changed: the SHA-256 of "));
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
