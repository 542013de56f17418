//! Each problem with the input or the environment is one line, which names file, place and cause.

use crate::{data, only_line, utmost};
use std::fs;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const PAGE: &str = include_str!("../../examples/page-minimal.json");
const SCENARIO: &str = include_str!("../../examples/late-stylesheet.json");

/// A folder with `file`, which is `text` with `from` replaced by `to`.
fn damaged(file: &str, text: &str, from: &str, to: &str) -> (TempDir, PathBuf) {
    assert!(text.contains(from), "{from}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(file);
    fs::write(&path, text.replacen(from, to, 1)).expect("a file");
    (folder, path)
}

/// The line after `utmost: `, of a command that ends with `code`; it must begin with the expected text.
#[track_caller]
fn assert_refused(arguments: &[&str], code: i32, expected: &str) {
    let output = utmost(arguments).output().expect("the program runs");
    let line = only_line(&output, code);
    let message = line.strip_prefix("utmost: ").expect("the program's name");
    assert!(message.starts_with(expected), "{arguments:?}: {message}");
}

/// Like [`assert_refused`], with code 2, for a file with whose name the message must begin.
#[track_caller]
fn assert_file_refused(arguments: &[&str], file: &Path, expected: &str) {
    let file = file.to_str().expect("UTF-8");
    let arguments: Vec<&str> =
        arguments.iter().map(|it| if *it == "FILE" { file } else { it }).collect();
    assert_refused(&arguments, 2, &format!("{file}{expected}"));
}

#[test]
fn orders_that_visitors_cannot_try_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("explored.json");
    let name = file.to_str().expect("UTF-8");
    let refused = |flags: &[&str], expected: &str| {
        let arguments = [&["serve", "--page", "davies-meenan"][..], flags].concat();
        assert_refused(&arguments, 2, expected);
    };
    refused(&["--explore", "dfif"], "--explore: no scheme is named `dfif`; near it: dfifo");
    refused(
        &["--explore", "dfifo:maybe"],
        "--explore: dfifo:maybe: maybe is not ignore, obey or override",
    );
    refused(&["--explore", "rr,dfifo,rr"], "--explore: rr occurs twice");
    let with_file = ["--explore", "dfifo", "--explore-file", name];
    fs::write(&file, "{}").expect("written");
    refused(&with_file, &format!("--explore-file: {name}: not a report of --explore: "));
    let other = r#"{"format":"utmost-exploration/1","share":0.2,"orders":["what you have","rr"],"pages":[],"loads_of_other_pages":0}"#;
    fs::write(&file, other).expect("written");
    let expected =
        format!("--explore-file: {name}: it is about what you have, rr; delete the file");
    refused(&with_file, &expected);
}

#[test]
fn an_unknown_page_is_answered_with_the_page_that_is_near() {
    let expected = "no bundled page is named \"gentelela\", but gentelella-";
    for command in ["compare", "play"] {
        assert_refused(&[command, "gentelela"], 2, expected);
    }
    assert_refused(&["serve", "--page", "gentelela"], 2, expected);
    assert_refused(&["play", "./no-such-page.json"], 2, "./no-such-page.json: No such file");
}

#[test]
fn a_cancel_names_a_path_of_the_page_and_a_time() {
    let refused = |more: &[&str], expected| {
        assert_refused(&[&["play", "davies-meenan"], more].concat(), 2, expected);
    };
    refused(
        &["--cancel", "/img/*=800"],
        "--cancel /img/*: page davies-meenan has no resource there",
    );
    refused(
        &["--cancel", "hero.jpg=800"],
        "invalid value 'hero.jpg=800' for '--cancel <PATH=MS>': ",
    );
    refused(&["--leave-after", "1s"], "invalid value '1s' for '--leave-after <MS>': ");
    let network = ["--server", "127.0.0.1:4433", "--network", "3g"];
    refused(
        &network,
        "the argument '--server <ADDR:PORT>' cannot be used with '--network <NAME|FILE>'",
    );
}

#[test]
fn a_probed_path_without_a_slash_is_told_with_one() {
    let expected = "--path big.jpg: a path begins with `/` and is ASCII without spaces; use for example /big.jpg";
    assert_refused(&["probe", "https://localhost:4433/", "--path", "big.jpg"], 2, expected);
}

#[test]
fn a_pipe_in_place_of_a_file_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|it| it.success()), "mkfifo is there");
    let pipe = pipe.to_str().expect("UTF-8");
    for arguments in [
        &["find", pipe][..],
        &["play", pipe, "--engine", "stack"],
        &["corpus", "import", pipe, "-o", "out.json"],
        &["compare", "agency-index", "--network", pipe],
        &["compare", "agency-index", "--scheme-file", pipe],
        &["serve", "--config", pipe],
        &["find", "agency-index", "--baseline", pipe],
    ] {
        let output = utmost(arguments).output().expect("the program runs");
        let line = only_line(&output, 2);
        assert!(line.contains("is a pipe, a socket or a device"), "{arguments:?}: {line}");
    }
}

#[test]
fn an_invalid_page_is_named_with_place_and_cause() {
    for (from, to, expected) in [
        ("\"viewport\"", "viewport", ":5:3: key must be a string"),
        ("\"hero\":true", "\"heroic\":true", ":10:105: unknown field `heroic`"),
        ("\"on\":\"nav\"", "\"on\":\"naw\"", ":8:135: unknown variant `naw`"),
        ("\"of\":0,\"byte\":300", "\"of\":9,\"byte\":300", ": resources[1].trigger.of: "),
        (
            "\"bytes\":30000",
            "\"bytes\":10000000000000",
            ": resources: hold 10000000014000 body bytes together, more than fits in memory",
        ),
        ("\"bytes\":30000", "\"bytes\":-1", ":10:"),
    ] {
        let (_folder, page) = damaged("page.json", PAGE, from, to);
        for arguments in
            [&["play", "FILE"][..], &["compare", "--paper", "FILE"], &["serve", "--page", "FILE"]]
        {
            assert_file_refused(arguments, &page, expected);
        }
    }
}

#[test]
fn an_invalid_scenario_is_named_with_place_and_cause() {
    for (from, to, expected) in [
        ("\"bytes\": 4200", "\"bytes\": 4200,", ": not a scenario: "),
        ("\"critical\"", "\"urgent\"", ": not a scenario: unknown field `urgent`"),
        (
            "\"stream\": 4,",
            "\"stream\": 0,",
            ": requests[1].stream: 0 is also the stream of requests[0]",
        ),
        (
            "\"packet_bytes\": 1400",
            "\"packet_bytes\": 0",
            ": packet_bytes: a packet needs at least 1 byte",
        ),
    ] {
        let (_folder, scenario) = damaged("scenario.json", SCENARIO, from, to);
        assert_file_refused(&["order", "FILE", "--scheme", "rr"], &scenario, expected);
    }
    assert_refused(&["order", "no-such.json", "--scheme", "rr"], 2, "no-such.json: No such file");
}

#[test]
fn an_unknown_scheme_is_answered_with_those_near_it() {
    let scenario = "examples/late-stylesheet.json";
    assert_refused(
        &["order", scenario, "--scheme", "rr,dfif"],
        2,
        "no scheme is named `dfif`; near it: dfifo, fifo",
    );
    for arguments in [
        &["compare", "--paper", "davies-meenan", "--schemes", "dfif"][..],
        &["play", "davies-meenan", "--scheme", "dfif"],
        &["serve", "--page", "davies-meenan", "--scheme", "dfif"],
    ] {
        assert_refused(arguments, 2, "no scheme is named `dfif`; near it: ");
    }
}

#[test]
fn a_scheme_that_no_client_can_signal_is_for_the_own_server_only() {
    for (scheme, cause) in [
        (
            "srpt",
            "a client does not know when it makes a request how long the response is; these can be signalled: rr, wrr, ",
        ),
        (
            "cpl",
            "a client does not know when it makes a request what will depend on the response; these can be ",
        ),
        (
            "p+@quicker",
            "a client does not know when its server has sent the 50 packets after which a group weighs ",
        ),
    ] {
        let arguments = [
            "play",
            "davies-meenan",
            "--server",
            "127.0.0.1:4433",
            "--insecure",
            "--scheme",
            scheme,
        ];
        assert_refused(&arguments, 2, &format!("no client can signal scheme `{scheme}`: {cause}"));
    }
}

#[test]
fn a_bracket_is_for_compare_only_and_a_scheme_has_a_name() {
    let order = ["order", "examples/late-stylesheet.json", "--scheme"];
    for (arguments, expected) in [
        (
            &[&order[..], &["oracle"]].concat()[..],
            "`oracle` is a bracket, the best or the worst order",
        ),
        (&["play", "davies-meenan", "--scheme", "anti-oracle"], "`anti-oracle` is a bracket, "),
        (&["serve", "--page", "davies-meenan", "--scheme", "oracle"], "`oracle` is a bracket, "),
        (
            &[&order[..], &[""]].concat(),
            "--scheme: a scheme has a name: `utmost schemes` lists them",
        ),
        (&[&order[..], &["rr,"]].concat(), "--scheme: a scheme has a name: "),
    ] {
        assert_refused(arguments, 2, expected);
    }
}

#[test]
fn a_list_of_schemes_names_each_once_and_an_empty_one_is_told_its_flag() {
    let compare = |list: &str, expected: &str| {
        assert_refused(&["compare", "--paper", "davies-meenan", "--schemes", list], 2, expected);
    };
    compare("fifo, fifo", "--schemes: `fifo` occurs twice; name each once");
    compare("", "--schemes: a scheme has a name: `utmost schemes` lists them");
}

#[test]
fn a_file_that_is_not_a_manifest_is_told_what_one_is() {
    let remedy =
        "a study's manifest is needed, the file manifest.json that `utmost compare --out` writes";
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    };
    let from = ["compare", "--from", "FILE"];
    let table = write("runs.csv", "# made by\npage,scheme\n");
    assert_file_refused(&from, &table, &format!(": is not JSON, in line 1, column 1: {remedy}"));
    let cut = write("manifest.json", "{\"engine\": \"ideal\",");
    assert_file_refused(&from, &cut, &format!(": ends too early, in line 1, column 19: {remedy}"));
}

#[test]
fn the_folder_of_a_study_stands_for_its_manifest_and_another_program_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("text");
    let compare = |arguments: &[&str]| {
        let output = utmost(&[&["compare"], arguments].concat()).output().expect("runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    compare(&["--paper", "davies-meenan", "--schemes", "fifo", "--out", out]);
    assert!(!compare(&["--from", out]).contains("was made by"));
    let manifest = folder.path().join("manifest.json");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    let commit = text.split("\"git_commit\": \"").nth(1).and_then(|it| it.split('"').next());
    let other = text.replace(commit.expect("a commit"), "0123456789ab");
    fs::write(&manifest, other).expect("written");
    let told = compare(&["--from", out]);
    assert!(
        told.contains("was made by utmost 1.0.0 of commit 0123456789ab, with quiche"),
        "{told}"
    );
}

#[test]
fn a_network_that_is_not_there_or_not_valid_is_named() {
    let compare = ["compare", "--paper", "davies-meenan", "--network"];
    let with = |network| [&compare[..], &[network]].concat();
    assert_refused(&with("4g"), 2, "no network named `4g`; there are paper, ");
    assert_refused(&with("./4g.toml"), 2, "./4g.toml: No such file");
    let (_folder, network) = damaged("net.toml", "rate = 1000000\n", "rate", "speed");
    assert_file_refused(&with("FILE"), &network, ": ");
}

#[test]
fn a_value_that_is_none_is_named_with_its_flag() {
    let page = "davies-meenan";
    for (arguments, expected) in [
        (
            &["serve", "--page", page, "--pace", "1400"][..],
            "invalid value '1400' for '--pace <BYTES/MS>'",
        ),
        (
            &["serve", "--page", page, "--send-buffer", "5x"],
            "invalid value '5x' for '--send-buffer <SIZE>'",
        ),
        (
            &["serve", "--page", page, "--listen", "nowhere"],
            "invalid value 'nowhere' for '--listen <ADDR:PORT>'",
        ),
        (
            &["serve", "--page", page, "--http-redirect", "127.0.0.1:4433"],
            "--http-redirect 127.0.0.1:4433: --listen has this port for https; plain HTTP needs one of its own, such as 80",
        ),
        (&["doctor", "a b"], "invalid value 'a b' for '<HOST[:PORT]>'"),
        (
            &["serve", "--page", page, "--initial-window", "0"],
            "invalid value '0' for '--initial-window <PACKETS>'",
        ),
        (
            &["serve", "--page", page, "--cert", "c.pem"],
            "the following required arguments were not provided: --key",
        ),
        (
            &["serve"],
            "the following required arguments were not provided: <--root <DIR>|--page <PAGE>|--upstream <URL>|--config <FILE>>",
        ),
        (
            &["compare", "--paper", page, "--send-buffer", "0,5x"],
            "invalid value '5x' for '--send-buffer <LIST>'",
        ),
        (
            &["compare", "--paper", page, "--engine", "steam"],
            "invalid value 'steam' for '--engine <ENGINE>'",
        ),
        (&["compare", "--paper", page, "--jobs", "0"], "invalid value '0' for '--jobs <N>'"),
        (&["compare", "--paper", page, "--scheme", "rr"], "unexpected argument '--scheme' found"),
        (
            &["play", page, "--server", "localhost"],
            "invalid value 'localhost' for '--server <ADDR:PORT>'",
        ),
        (
            &["play", page, page, "--leave-after", "3"],
            "--leave-after and --cancel: give up one page; name only that one",
        ),
        (
            &["play", page, "--idle-reset"],
            "--idle-reset: bbr2 paces by the rate that it has measured",
        ),
        (&["ordre"], "unrecognized subcommand 'ordre'"),
    ] {
        assert_refused(arguments, 2, expected);
    }
}

#[test]
fn a_certificate_that_is_missing_or_broken_is_named() {
    let serve = |certificate: &str, key: &str, expected: &str| {
        let arguments = ["serve", "--page", "davies-meenan", "--cert", certificate, "--key", key];
        let file = if expected.starts_with("key") { key } else { certificate };
        let expected = expected.trim_start_matches("key").trim_start_matches("certificate");
        assert_refused(&arguments, 2, &format!("--cert, --key: {file}{expected}"));
    };
    let path = |name: &str| data(name).to_str().expect("UTF-8").to_owned();
    let (certificate, key, other) =
        (path("server.pem"), path("server-key.pem"), path("other-key.pem"));
    serve("no-such.pem", &key, "certificate: No such file");
    serve(&certificate, "no-such.pem", "key: No such file");
    serve(&key, &key, "certificate: holds no ");
    serve(&certificate, &certificate, "key: holds no ");
    serve(&certificate, &other, "key: not the key of the certificate in ");
}

#[test]
fn a_port_in_use_is_somebody_elses_fault() {
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound").to_string();
    let serve = ["serve", "--page", "davies-meenan", "--listen", &address];
    let line = only_line(&utmost(&serve).output().expect("the program runs"), 3);
    assert!(line.starts_with(&format!("utmost: {address}: Address already in use")), "{line}");
    assert!(line.ends_with("; choose another --listen"), "{line}");
}

#[test]
fn a_server_that_is_not_there_is_reported_at_once() {
    let free = UdpSocket::bind("127.0.0.1:0")
        .expect("a free port")
        .local_addr()
        .expect("bound")
        .to_string();
    let expected = format!("{free}: connection refused; is a server listening there?");
    assert_refused(&["play", "davies-meenan", "--server", &free, "--insecure"], 3, &expected);
}

#[test]
fn a_page_that_is_not_valid_fails_its_check() {
    let (_folder, page) = damaged("page.json", PAGE, "\"id\":2", "\"id\":7");
    let output = utmost(&["corpus", "check", page.to_str().expect("UTF-8"), "davies-meenan"])
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "davies-meenan: valid\n");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.starts_with(&format!(
            "{}: resources[2].id: is 7; it must be the index, 2",
            page.display()
        )),
        "{stderr}"
    );
    assert!(stderr.ends_with("utmost: 1 of 2 pages not valid\n"), "{stderr}");
}

#[test]
fn what_could_become_a_page_is_named_with_the_command_that_makes_it_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let har = folder.path().join("shop.json");
    let request = r#"{"method": "GET", "url": "https://shop.example/"}"#;
    let response = r#"{"status": 200, "content": {"size": 9, "mimeType": "text/html"}}"#;
    let entry = format!(
        r#"{{"startedDateTime": "2016-07-08T09:10:11.100Z", "time": 50, "request": {request}, "response": {response}}}"#
    );
    std::fs::write(&har, format!(r#"{{"log": {{"entries": [{entry}]}}}}"#)).expect("written");
    for (path, hint) in [
        (har.as_path(), "it is a recording: make a page of it with `utmost corpus import`"),
        (folder.path(), "a folder is not a page: record its site with `utmost corpus record`"),
    ] {
        let path = path.to_str().expect("UTF-8");
        let line = only_line(&utmost(&["play", path]).output().expect("runs"), 2);
        assert!(line.starts_with(&format!("utmost: {path}:")) && line.contains(hint), "{line}");
    }
}

#[test]
fn a_long_url_does_not_widen_the_table_of_a_load() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("long.json");
    let minimal = std::fs::read_to_string("examples/page-minimal.json").expect("a page");
    let long = format!("/{}.css", "x".repeat(500));
    std::fs::write(&page, minimal.replace("/style.css", &long)).expect("written");
    let shown = crate::stdout_of(&["play", page.to_str().expect("UTF-8")]);
    assert!(
        shown.contains(&format!(" https://minimal.test/{}\u{2026} ", "x".repeat(38))),
        "{shown}"
    );
    assert!(shown.lines().all(|it| it.len() < 160), "{shown}");
}

#[test]
fn a_configuration_whose_page_is_not_bundled_names_file_key_and_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("policy.toml");
    std::fs::write(&file, "[site]\npage = \"home\"\n").expect("written");
    let file = file.to_str().expect("UTF-8");
    let output = utmost(&["serve", "--config", file]).output().expect("it runs");
    let line = only_line(&output, 2);
    let expected = format!(
        "{file}: line 2: [site] page: no bundled page is named \"home\"; `utmost corpus list` names all; "
    );
    assert!(line.contains(&expected), "{line}");
    assert!(
        line.ends_with("your own site has root = \"DIR\" or upstream = \"URL\" in its place"),
        "{line}"
    );
}

/// A log without any sign of its side.
const NOBODYS: &str = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{}}
{"time":1,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1},"frames":[{"frame_type":"ping"}]}}
"#;

#[test]
fn no_command_writes_over_the_log_that_it_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, path) = ("log.qlog", folder.path().join("log.qlog"));
    for arguments in [
        &["export", "--series", "packets"][..],
        &["report"],
        &["hol"],
        &["ribbon"],
        &["compare", "other=log.qlog"],
        &["tree"],
        &["convert", "--to", "0.3"],
    ] {
        fs::write(&path, NOBODYS).expect("a log");
        let mut program = utmost(&["qlog"]);
        program.args(arguments).args([log, "-o", log]).current_dir(folder.path());
        let line = only_line(&program.output().expect("the program runs"), 2);
        assert_eq!(line, "utmost: log.qlog: -o names the log itself; name another file");
        assert_eq!(fs::read_to_string(&path).expect("a log"), NOBODYS, "{arguments:?}");
    }
    // A folder stands for the log in it.
    let mut program = utmost(&["qlog", "export", "--series", "packets", ".", "-o", log]);
    let line = only_line(&program.current_dir(folder.path()).output().expect("it runs"), 2);
    assert!(line.ends_with("-o names the log itself; name another file"), "{line}");
}

#[test]
fn a_log_of_nobody_is_not_called_a_clients_and_its_name_takes_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("new\nline.sqlog");
    fs::write(&path, NOBODYS).expect("a log");
    let mut program = utmost(&["qlog", "limits"]);
    let line = only_line(&program.arg(&path).output().expect("it runs"), 2);
    let expected =
        "new\u{fffd}line.sqlog: the log does not show which side wrote it: name it with --vantage";
    assert!(line.ends_with(expected), "{line}");
}

#[test]
fn what_only_another_server_takes_is_refused_whatever_else_is_said() {
    for flag in ["--visits=2", "--push-log", "--cache-digest", "--metadata", "--session=x"] {
        let arguments = ["play", "davies-meenan", "--engine", "stack", flag];
        let name = flag.split('=').next().expect("a name");
        assert_refused(&arguments, 2, &format!("{name} needs --server; without it,"));
    }
}

#[test]
fn a_version_of_http_is_refused_where_something_else_needs_http_3() {
    let page = "davies-meenan";
    for (arguments, expected) in [
        (&["play", page, "--http", "4"][..], "invalid value '4' for '--http <VERSION>'"),
        (
            &["play", page, "--http", "1.1", "--leave-after", "3"],
            "--http 1.1: --leave-after or --cancel is for HTTP/3; leave it out, or use --http 3",
        ),
        (
            &["play", page, "--http", "2", "--engine", "stack"],
            "--http 2: --engine stack is for HTTP/3; leave it out, or use --http 3",
        ),
        (
            &["compare", page, "--http", "2,3"],
            "--http: engine stack plays pages back over HTTP/3 only, because TCP is the system's; use --engine wire",
        ),
        (
            &["compare", page, "--engine", "wire", "--http", "2", "--push", "push"],
            "--http: pushes need HTTP/3; leave out --push and --gate, or use --http 3",
        ),
    ] {
        assert_refused(arguments, 2, expected);
    }
}
