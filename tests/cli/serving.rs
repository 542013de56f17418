//! Two processes: `utmost serve`, and `utmost play` against it.

use crate::schemas::assert_valid;
use crate::{data, stdout_of, utmost};
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// A server that is ended with the test.
pub(crate) struct Serving {
    process: Child,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
    pub(crate) address: String,
}

impl Serving {
    /// Starts a server on a free port and waits until it is ready.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", arguments)
    }

    /// The same, at this address.
    pub(crate) fn start_at(listen: &str, arguments: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_utmost"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .arg("serve")
            .args(arguments)
            .args(["--listen", listen])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut line = String::new();
        let mut stdout = BufReader::new(process.stdout.take().expect("piped"));
        let stderr = BufReader::new(process.stderr.take().expect("piped"));
        stdout.read_line(&mut line).expect("a line");
        let address = line.trim_end().strip_prefix("listening on ").unwrap_or_default().to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{line:?}");
        Self { process, stdout, stderr, address }
    }

    /// The next line on stdout.
    pub(crate) fn stdout_line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("a line");
        line
    }

    /// The next line on stderr.
    pub(crate) fn stderr_line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).expect("a line");
        line
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().expect("kill runs").success());
    }

    /// Sends SIGTERM; the exit code and what was on stderr.
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        self.signal("-TERM");
        let mut stderr = String::new();
        self.stderr.read_to_string(&mut stderr).expect("UTF-8");
        (self.process.wait().expect("it ends").code(), stderr)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It has ended already, unless the test failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_page_is_served_played_and_the_server_ends_on_sigterm() {
    let server = Serving::start(&["--page", "davies-meenan", "--scheme", "dfifo"]);
    let text =
        stdout_of(&["play", "davies-meenan", "--server", &server.address, "--insecure", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let run = &document["runs"][0];
    assert_eq!(run["completed"], true);
    let bytes = run["resources"]
        .as_array()
        .expect("resources")
        .iter()
        .map(|it| it["bytes"].as_u64().expect("bytes"));
    assert_eq!(bytes.sum::<u64>(), 1_580_000);
    let (code, stderr) = server.stop();
    assert_eq!(code, Some(0), "{stderr}");
    let said = "no --cert: using a self-signed certificate for localhost, valid for 30 days; Chromium accepts it with";
    assert!(stderr.starts_with(said) && stderr.lines().count() == 1, "{stderr}");
}

#[test]
fn a_page_is_played_over_each_version_with_the_same_resources_and_metrics() {
    let server = Serving::start(&["--page", "davies-meenan"]);
    for version in ["1.1", "2", "3"] {
        let play = ["play", "davies-meenan", "--server", &server.address, "--insecure"];
        let text = stdout_of(&[&play[..], &["--http", version, "--json"]].concat());
        let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_valid("study.json", &document);
        let run = &document["runs"][0];
        assert_eq!((&run["completed"], &run["load"].is_null()), (&true.into(), &false));
        let bytes = run["resources"].as_array().expect("resources").iter();
        let bytes = bytes.map(|it| it["bytes"].as_u64().expect("bytes"));
        assert_eq!(bytes.sum::<u64>(), 1_580_000, "HTTP/{version}");
        for metric in ["byte_index", "first_render", "load"] {
            assert!(run[metric]["all"].as_f64().is_some_and(|it| it > 0.0), "{metric}: {text}");
        }
    }
    assert_eq!(server.stop().0, Some(0));
}

/// Every visitor tries the other order, until the present one is the other: then they try that.
#[test]
fn visitors_try_orders_and_the_file_says_what_they_have_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("explored.json");
    let file = file.to_str().expect("UTF-8");
    let flags = ["--page", "davies-meenan", "--explore", "dfifo", "--explore-share", "100"];
    let flags = [&flags[..], &["--explore-file", file]].concat();
    let visits = |document: &serde_json::Value| {
        let orders = document["pages"][0]["orders"].as_array().expect("orders");
        orders.iter().map(|it| it["visits"].as_u64().expect("a number")).collect::<Vec<_>>()
    };
    for restarts in 1..=2 {
        let server = Serving::start(&flags);
        stdout_of(&["play", "davies-meenan", "--server", &server.address, "--insecure"]);
        let (code, stderr) = server.stop();
        assert_eq!(code, Some(0), "{stderr}");
        let said = "explore: davies-meenan.test/index.html: too few visits for a result";
        assert!(stderr.lines().any(|it| it == said), "{stderr}");
        let text = std::fs::read_to_string(file).expect("written");
        let document = serde_json::from_str(&text).expect("JSON");
        assert_valid("exploration.json", &document);
        assert_eq!(visits(&document), [0, restarts]);
    }
}

#[test]
fn the_example_configuration_is_served() {
    let server = Serving::start(&["--config", "examples/serve.toml"]);
    let text = stdout_of(&["play", "davies-meenan", "--server", &server.address, "--insecure"]);
    assert!(text.contains("https://davies-meenan.test/bottom.js"), "{text}");
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn a_directory_is_served_byte_for_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let bodies = folder.path().join("bodies");
    let root = folder.path().join("root");
    std::fs::create_dir(&root).expect("a folder");
    for (name, bytes) in [("index.html", 8000_usize), ("style.css", 6000), ("hero.jpg", 30_000)] {
        let body: Vec<u8> = (0..bytes).map(|it| u8::try_from(it % 251).expect("small")).collect();
        std::fs::write(root.join(name), body).expect("a file");
    }
    let server = Serving::start(&["--root", root.to_str().expect("UTF-8")]);
    let bodies_argument = bodies.to_str().expect("UTF-8");
    stdout_of(&[
        "play",
        "examples/page-minimal.json",
        "--server",
        &server.address,
        "--insecure",
        "--bodies",
        bodies_argument,
    ]);
    for name in ["index.html", "style.css", "hero.jpg"] {
        let (sent, came) = (std::fs::read(root.join(name)), std::fs::read(bodies.join(name)));
        assert_eq!(sent.expect(name), came.expect(name), "{name}");
    }
    assert_eq!(server.stop().0, Some(0));
}

/// The key that belongs to `server.pem`, as a file that only its owner can read.
pub(crate) fn private_key() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let key = folder.path().join("key.pem");
    std::fs::copy(data("server-key.pem"), &key).expect("copied");
    std::fs::set_permissions(&key, Permissions::from_mode(0o600)).expect("changed");
    (folder, key)
}

#[test]
fn a_certificate_of_nobody_is_refused_unless_told_otherwise() {
    let (_folder, key) = private_key();
    let path = |name: &str| data(name).to_str().expect("UTF-8").to_owned();
    let server = Serving::start(&[
        "--page",
        "examples/page-minimal.json",
        "--cert",
        &path("server.pem"),
        "--key",
        key.to_str().expect("UTF-8"),
    ]);
    let play = ["play", "examples/page-minimal.json", "--server", &server.address];
    let output = utmost(&play).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    stdout_of(&[&play[..], &["--insecure"]].concat());
    assert_eq!(server.stop(), (Some(0), String::new()));
}

#[test]
fn several_addresses_serve_the_same_site() {
    let page = "examples/page-minimal.json";
    let mut server = Serving::start_at("127.0.0.2:0", &["--page", page, "--listen", "127.0.0.1:0"]);
    let other = server.stdout_line();
    let other = other.trim_end().strip_prefix("listening on ").expect("a line").to_owned();
    let port = |it: &str| it.rsplit_once(':').expect("a port").1.to_owned();
    assert_eq!(port(&server.address), port(&other));
    for address in [server.address.clone(), other] {
        stdout_of(&["play", page, "--server", &address, "--insecure"]);
    }
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn sighup_reads_the_files_again_and_keeps_what_it_has_if_they_are_broken() {
    let (_folder, key) = private_key();
    let certificate = data("server.pem").to_str().expect("UTF-8").to_owned();
    let key_argument = key.to_str().expect("UTF-8");
    let page = "examples/page-minimal.json";
    let mut server =
        Serving::start(&["--page", page, "--cert", &certificate, "--key", key_argument]);
    let told = |server: &mut Serving| {
        server.signal("-HUP");
        server.stderr_line()
    };
    assert_eq!(told(&mut server), "reloaded: new connections use the current files\n");
    std::fs::write(&key, "broken").expect("written");
    let expected = format!(
        "not reloaded, nothing has changed: --cert, --key: {key_argument}: holds no private key in PEM form\n"
    );
    assert_eq!(told(&mut server), expected);
    stdout_of(&["play", page, "--server", &server.address, "--insecure"]);
}

/// A server of HTTP/1.1 that has the bodies of `examples/page-minimal.json`.
fn backend() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).expect("a request");
            let bytes = match line.split(' ').nth(1) {
                Some("/style.css") => 6000,
                Some("/hero.jpg") => 30_000,
                _ => 8000,
            };
            let head =
                format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {bytes}\r\n\r\n");
            // A pushed request is given up if the client refuses the push.
            stream.write_all(&[head.as_bytes(), &body(bytes)].concat()).ok();
        }
    });
    format!("http://{address}")
}

/// No two parts of 251 bytes or less at different places are the same.
pub(crate) fn body(bytes: usize) -> Vec<u8> {
    (0u8..251).cycle().zip(0u8..=255).cycle().map(|(one, other)| one ^ other).take(bytes).collect()
}

#[test]
fn a_large_response_of_a_backend_moves_to_another_connection_and_arrives_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, bodies) = (folder.path().join("site.toml"), folder.path().join("bodies"));
    // The size is unknown until the backend has sent all of it.
    let keys = "unknown_after_bytes = 10000\nafter_bytes = 10000\nsize = { above_bytes = 20000, beside = 0 }";
    let text = format!("[site]\nupstream = \"{}\"\n[migration]\n{keys}\n", backend());
    std::fs::write(&file, text).expect("written");
    let server = Serving::start(&["--config", file.to_str().expect("UTF-8")]);
    for migrate in ["idle", "new"] {
        let play =
            ["play", "examples/page-minimal.json", "--server", &server.address, "--insecure"];
        let more = ["--migrate", migrate, "--bodies", bodies.to_str().expect("UTF-8")];
        let text = stdout_of(&[&play[..], &more].concat());
        let moved =
            text.lines().find_map(|it| it.strip_suffix(" bytes came on another connection"));
        let moved: u64 = moved.expect("a line").parse().expect("a number");
        assert!((15_000..=20_100).contains(&moved), "{moved} of 30,000 bytes, after 10,000");
        assert!(std::fs::read(bodies.join("hero.jpg")).expect("a body") == body(30_000));
    }
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn a_backend_is_served_and_its_pushes_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("site.toml");
    let text = format!(
        "[site]\nupstream = \"{}\"\n[[route]]\npath = \"/\"\npush = [\"/style.css\", \"/of-no-use.js\"]\n",
        backend()
    );
    std::fs::write(&file, text).expect("written");
    let server = Serving::start(&["--config", file.to_str().expect("UTF-8")]);
    let play = [
        "play",
        "examples/page-minimal.json",
        "--server",
        &server.address,
        "--insecure",
        "--push-log",
    ];
    let text = stdout_of(&play);
    assert!(text.contains("* pushed: 1 resources, 1 of them used; "), "{text}");
    assert!(text.contains("; 1 promises rejected"), "{text}");
    assert!(text.contains(" 200 "), "{text}");
    assert_eq!(server.stop().0, Some(0));
}

/// The output of `play --push-log` for two visits to a site of files with these keys of its document's route, and with
/// this `Cache-Control` field.
fn two_visits(keys: &str, cache_control: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in [("index.html", 8000), ("style.css", 6000), ("hero.jpg", 30_000)] {
        std::fs::write(folder.path().join(name), vec![7; bytes]).expect("written");
    }
    let file = folder.path().join("site.toml");
    let text = format!(
        "[site]\nroot = \".\"\n[[route]]\npath = \"/\"\npush = [\"/style.css\", \"/hero.jpg\"]\n{keys}\n\
         [[route]]\npath = \"/*\"\ncache_control = \"{cache_control}\"\n"
    );
    std::fs::write(&file, text).expect("written");
    let server = Serving::start(&["--config", file.to_str().expect("UTF-8")]);
    let play = ["play", "examples/page-minimal.json", "--server", &server.address, "--insecure"];
    let text = stdout_of(&[&play[..], &["--push-log", "--visits", "2", "--cache-digest"]].concat());
    assert_eq!(server.stop().0, Some(0));
    let is_said =
        |it: &&str| ["visit", "* pushed", "validated"].iter().any(|word| it.starts_with(word));
    text.lines().filter(is_said).map(str::to_owned).collect()
}

#[test]
fn a_second_visit_is_pushed_nothing_that_is_cached() {
    let said = two_visits("client_has = [\"cache-digest\"]", "max-age=600");
    assert!(said[1].starts_with("* pushed: 2 resources, 2 of them used; "), "{said:?}");
    assert_eq!(
        said[2..],
        [
            "visit 2",
            "* pushed: 0 resources, 0 of them used; 0 bytes used, 0 bytes wasted; 0 promises rejected",
            // The document, which says nothing of its freshness.
            "validated: 1 copy of earlier visits",
        ]
    );
}

#[test]
fn stale_copies_are_validated_by_a_push() {
    let said = two_visits("client_has = [\"cache-digest\"]\npush_not_modified = true", "no-cache");
    assert!(said[1].starts_with("* pushed: 2 resources, 2 of them used; "), "{said:?}");
    assert!(said[3].starts_with("* pushed: 2 resources, 2 of them used; "), "{said:?}");
    assert_eq!(said[4], "validated: 3 copies of earlier visits", "the document's, too");
}

#[test]
fn fields_that_a_route_sets_are_on_its_files_and_hints_go_ahead_where_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in [("index.html", 8000), ("style.css", 6000), ("hero.jpg", 30_000)] {
        std::fs::write(folder.path().join(name), vec![7; bytes]).expect("written");
    }
    let file = folder.path().join("site.toml");
    let text = "[site]\nroot = \".\"\n[[route]]\npath = \"/\"\nearly_hints_for_files = true\n\
                links = [\"</style.css>; rel=preload; as=style\"]\n\
                [route.headers]\nX-Frame-Options = \"DENY\"\nlink = \"</next>; rel=next\"\n";
    std::fs::write(&file, text).expect("written");
    let server = Serving::start(&["--config", file.to_str().expect("UTF-8")]);
    let logs = folder.path().join("logs");
    let play = ["play", "examples/page-minimal.json", "--server", &server.address, "--insecure"];
    stdout_of(&[&play[..], &["--qlog", logs.to_str().expect("UTF-8")]].concat());
    assert_eq!(server.stop().0, Some(0));
    let text = |entry: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(entry.expect("an entry").path()).expect("a log")
    };
    let log: String = std::fs::read_dir(&logs).expect("a folder").map(text).collect();
    for (value, times) in
        [("DENY", 1), ("</next>; rel=next", 1), ("</style.css>; rel=preload; as=style", 2)]
    {
        assert_eq!(log.matches(&format!("\"value\":\"{value}\"")).count(), times, "{value}");
    }
}

#[test]
fn a_client_that_comes_back_sends_early_data_where_the_server_takes_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("session.json");
    let path = file.to_str().expect("UTF-8");
    let server = Serving::start(&["--page", "davies-meenan", "--early-data"]);
    let play = |server: &Serving| {
        let target = ["--server", server.address.as_str(), "--insecure", "--session", path];
        stdout_of(&[&["play", "davies-meenan"][..], &target].concat())
    };
    assert!(!play(&server).contains("early data"));
    let kept = std::fs::read_to_string(&file).expect("a session");
    crate::schemas::assert_valid("session.json", &serde_json::from_str(&kept).expect("JSON"));
    let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "a secret");
    assert!(play(&server).contains("the server accepted early data\n"));
    assert_ne!(std::fs::read_to_string(&file).expect("a session"), kept, "a session is used once");
    drop(server);
    let other = Serving::start(&["--page", "davies-meenan", "--early-data"]);
    assert!(
        play(&other).contains("the server rejected early data; the requests were sent again\n")
    );
}

/// The page takes nine seconds on this network.
#[test]
fn a_user_who_leaves_is_told_the_tail() {
    let play = ["play", "davies-meenan", "--network", "3g", "--leave-after", "1000", "--json"];
    let study: serde_json::Value = serde_json::from_str(&stdout_of(&play)).expect("JSON");
    crate::schemas::assert_valid("study.json", &study);
    let run = &study["runs"][0];
    assert_eq!((&run["network"], &run["completed"]), (&"3g".into(), &false.into()));
    // The document, and what it reveals in its first bytes.
    assert_eq!(run["tail"]["cancelled"], 5);
    assert!(run["tail"]["tail_bytes"].as_u64() > Some(0));
}

/// The virtual clock and the seeded chance of the lab replace functions of the whole program that links them.
#[test]
fn the_program_that_serves_does_not_contain_the_virtual_clock() {
    let contains = |program: &str, text: &[u8]| {
        let bytes = std::fs::read(program).expect("a program");
        bytes.windows(text.len()).any(|it| it == text)
    };
    assert!(contains(env!("CARGO_BIN_EXE_utmost"), b"virtual_clock"), "the lab contains it");
    assert!(!contains(env!("CARGO_BIN_EXE_utmost-serve"), b"virtual_clock"));
}
