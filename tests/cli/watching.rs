//! What an operator sees of a running server: its access log, its metrics, its limits, and its end.

use crate::serving::{Serving, body};
use crate::{stdout_of, utmost};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use tempfile::TempDir;

/// The files of `examples/page-minimal.json`.
fn site() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in [("index.html", 8000), ("style.css", 6000), ("hero.jpg", 30_000)] {
        std::fs::write(folder.path().join(name), vec![7; bytes]).expect("written");
    }
    folder
}

fn play(server: &Serving) -> String {
    stdout_of(&["play", PAGE, "--server", &server.address, "--insecure"])
}

const PAGE: &str = "examples/page-minimal.json";

/// Requests, status codes and bytes in a combined log.
fn entries(text: &str) -> Vec<String> {
    let entry = |line: &str| {
        assert!(line.starts_with("127.0.0.1 - - [") && line.contains(" +0000] \""), "{line}");
        let fields: Vec<&str> = line.split('"').collect();
        assert!(fields[6].trim().parse::<u64>().is_ok(), "microseconds at the end: {line}");
        format!("{}{}", fields[1], fields[2].trim_end())
    };
    text.lines().map(entry).collect()
}

/// Waits until a file has this many lines.
fn lines_of(path: &Path, count: usize) -> Vec<String> {
    let mut tail = Command::new("tail");
    let tail = tail.args(["-n", "+1", "-F"]).arg(path).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut tail = tail.spawn().expect("tail runs");
    let lines = BufReader::new(tail.stdout.take().expect("piped")).lines().take(count);
    let lines = lines.map(|it| it.expect("UTF-8")).collect();
    tail.kill().expect("it runs");
    tail.wait().expect("it ends");
    lines
}

#[test]
fn each_response_is_a_line_of_the_access_log_and_sighup_begins_a_new_file() {
    let (root, logs) = (site(), tempfile::tempdir().expect("a folder"));
    let (log, old) = (logs.path().join("access.log"), logs.path().join("access.log.1"));
    let folder = root.path().to_str().expect("UTF-8");
    let arguments = ["--root", folder, "--access-log", log.to_str().expect("UTF-8")];
    let mut server = Serving::start(&arguments);
    play(&server);
    let expected = [
        "GET / HTTP/3 200 8000",
        "GET /hero.jpg HTTP/3 200 30000",
        "GET /style.css HTTP/3 200 6000",
    ];
    let mut first = entries(&lines_of(&log, 3).join("\n"));
    first.sort();
    assert_eq!(first, expected);
    std::fs::rename(&log, &old).expect("moved");
    server.signal("-HUP");
    while !server.stderr_line().starts_with("reloaded: ") {}
    play(&server);
    assert_eq!(server.stop().0, Some(0));
    let mut second = entries(&std::fs::read_to_string(&log).expect("a new file"));
    second.sort();
    assert_eq!(second, expected);
    assert_eq!(std::fs::read_to_string(&old).expect("the old file").lines().count(), 3);
}

#[test]
fn the_access_log_as_json_has_an_object_a_line_on_stdout() {
    let root = site();
    let folder = root.path().to_str().expect("UTF-8");
    let format = ["--scheme", "rfc9218", "--access-log", "-", "--access-log-format", "json"];
    let mut server = Serving::start(&[&["--root", folder][..], &format].concat());
    play(&server);
    let mut seen: Vec<_> = (0..3)
        .map(|_| {
            let line = server.stdout_line();
            let it: serde_json::Value = serde_json::from_str(&line).expect("JSON");
            crate::schemas::assert_valid("access.json", &it);
            assert_eq!((&it["client"], &it["method"]), (&"127.0.0.1".into(), &"GET".into()));
            assert_eq!((&it["scheme"], &it["complete"]), (&"rfc9218".into(), &true.into()));
            assert!(it["duration_ms"].as_f64().is_some_and(|it| it >= 0.0), "{line}");
            (it["path"].to_string(), it["status"].as_u64(), it["bytes"].as_u64())
        })
        .collect();
    seen.sort();
    let of = |path: &str, bytes| (format!("\"{path}\""), Some(200), Some(bytes));
    assert_eq!(seen, [of("/", 8000), of("/hero.jpg", 30_000), of("/style.css", 6000)]);
}

/// Status and body of a page over HTTP/1.1.
fn fetch(address: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    let status = text.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status");
    (status, text)
}

/// The address of the metrics, from the first line on stderr.
fn metrics_of(server: &mut Serving) -> String {
    let line = server.stderr_line();
    let address = line.strip_prefix("metrics at http://").and_then(|it| it.split('/').next());
    address.unwrap_or_else(|| panic!("{line}")).to_owned()
}

#[test]
fn metrics_count_responses_and_connections() {
    let root = site();
    let folder = root.path().to_str().expect("UTF-8");
    let mut server =
        Serving::start(&["--root", folder, "--scheme", "rfc9218", "--metrics", "127.0.0.1:0"]);
    let metrics = metrics_of(&mut server);
    assert_eq!(fetch(&metrics, "/health").0, 200);
    let (_, before) = fetch(&metrics, "/metrics");
    assert!(before.contains("\nutmost_connections_accepted_total 0\n"), "{before}");
    play(&server);
    let (_, text) = fetch(&metrics, "/metrics");
    for line in [
        "utmost_connections_accepted_total 1",
        "utmost_responses_total{status=\"2xx\"} 3",
        "utmost_body_bytes_total 44000",
        "utmost_response_seconds_count{scheme=\"rfc9218\"} 3",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}: {text}");
    }
}

#[test]
fn a_limit_in_the_configuration_takes_effect() {
    let (backend, begun, go_on) = slow_backend();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("site.toml");
    let text = format!("[site]\nupstream = \"{backend}\"\n[limits]\nconnections = 1\n");
    std::fs::write(&file, text).expect("written");
    let mut server =
        Serving::start(&["--config", file.to_str().expect("UTF-8"), "--metrics", "127.0.0.1:0"]);
    let metrics = metrics_of(&mut server);
    let play = ["play", PAGE, "--server", &server.address, "--insecure"];
    let mut visit = Command::new(crate::PROGRAM);
    visit.current_dir(crate::REPOSITORY).args(play).stdout(Stdio::null()).stderr(Stdio::null());
    let mut visit = visit.spawn().expect("it runs");
    begun.recv().expect("half of a response");
    for _ in 0..3 {
        assert_eq!(utmost(&play).output().expect("the program runs").status.code(), Some(3));
    }
    let (_, text) = fetch(&metrics, "/metrics");
    go_on.send(()).expect("the backend listens");
    visit.wait().expect("it ends");
    let refused =
        text.lines().find(|it| it.starts_with("utmost_connections_refused_total{cause=\"full\"}"));
    let refused = refused.and_then(|it| it.split(' ').nth(1)).and_then(|it| it.parse().ok());
    assert!(refused.is_some_and(|it: u64| it >= 3), "{text}");
    assert!(text.contains("\nutmost_connections_accepted_total 1\n"), "{text}");
}

/// A backend that sends half of the document, signals this, and waits for a word before it continues.
fn slow_backend() -> (String, Receiver<()>, Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let ((begin, begun), (go_on, may_go_on)) = (channel(), channel());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a request");
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).expect("a request");
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 8000\r\n\r\n").expect("sent");
        stream.write_all(&body(4000)).expect("sent");
        begin.send(()).expect("the test listens");
        may_go_on.recv().expect("the test goes on");
        stream.write_all(&body(8000)[4000..]).expect("sent");
    });
    (format!("http://{address}"), begun, go_on)
}

/// A response is in progress when SIGTERM arrives.
fn restart(shards: &str) {
    let (backend, begun, go_on) = slow_backend();
    let bodies = tempfile::tempdir().expect("a folder");
    let arguments = ["--upstream", &backend, "--shards", shards];
    let mut server = Serving::start(&[&arguments[..], &["--metrics", "127.0.0.1:0"]].concat());
    let metrics = metrics_of(&mut server);
    let address = server.address.clone();
    let play = ["play", PAGE, "--server", &address, "--insecure"];
    let mut visit = Command::new(env!("CARGO_BIN_EXE_utmost"));
    visit.current_dir(env!("CARGO_MANIFEST_DIR")).args(play).arg("--bodies").arg(bodies.path());
    let visit = visit.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    begun.recv().expect("half of a response");
    server.signal("-TERM");
    while fetch(&metrics, "/health").0 == 200 {}
    assert_eq!(fetch(&metrics, "/health").0, 503);

    let late = utmost(&play).output().expect("the program runs");
    let stderr = String::from_utf8_lossy(&late.stderr);
    assert_eq!(late.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("code 0x2 "), "CONNECTION_REFUSED: {stderr}");
    let second = utmost(&["serve", "--page", PAGE, "--listen", &address]).output();
    let stderr = String::from_utf8_lossy(&second.expect("it runs").stderr).into_owned();
    assert!(stderr.contains("choose another --listen"), "the port is not free yet: {stderr}");

    go_on.send(()).expect("the backend listens");
    visit.wait_with_output().expect("it ends");
    let came = std::fs::read(bodies.path().join("index.html")).expect("a body");
    assert!(came == body(8000), "the response under way is complete");
    assert_eq!(server.stop().0, Some(0));
    let next = Serving::start_at(&address, &["--page", PAGE, "--shards", shards]);
    stdout_of(&play);
    assert_eq!(next.stop().0, Some(0));
}

#[test]
fn a_second_signal_cuts_what_is_under_way_and_the_log_says_so() {
    let (backend, begun, go_on) = slow_backend();
    let logs = tempfile::tempdir().expect("a folder");
    let log = logs.path().join("access.log");
    let log_file = log.to_str().expect("UTF-8");
    let arguments = ["--upstream", &backend, "--access-log", log_file, "--drain-within", "3600"];
    let mut server = Serving::start(&[&arguments[..], &["--metrics", "127.0.0.1:0"]].concat());
    let metrics = metrics_of(&mut server);
    let play = ["play", PAGE, "--server", &server.address, "--insecure"];
    let mut visit = Command::new(env!("CARGO_BIN_EXE_utmost"));
    visit.current_dir(env!("CARGO_MANIFEST_DIR")).args(play);
    let visit = visit.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut visit = visit.expect("it runs");
    begun.recv().expect("half of a response");
    server.signal("-TERM");
    while fetch(&metrics, "/health").0 == 200 {}
    assert_eq!(server.stop().0, Some(0), "by the second signal");
    visit.wait().expect("it ends");
    go_on.send(()).expect("the backend listens");
    let lines = std::fs::read_to_string(&log).expect("a log");
    assert!(lines.contains("\"GET / HTTP/3\" 200 4000 "), "{lines}");
}

#[test]
fn at_its_end_a_server_completes_what_is_under_way_and_refuses_what_comes() {
    restart("1");
}

#[test]
fn shards_end_together_and_leave_the_port_to_the_next_server() {
    restart("2");
}
