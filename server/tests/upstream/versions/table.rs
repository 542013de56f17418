//! HTTP's semantics as a table: the same over HTTP/3, HTTP/2 and HTTP/1.1, and the same as nginx's but for rows with a reason.

use super::clients::{ask_1, plain};
use super::{Serving, bytes};
use crate::fetch::{Ask, Fetched};
use server::site::DirectorySite;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A request, and what it gets.
struct Row {
    method: &'static str,
    path: &'static str,
    /// Fields. `TAG`, `TIME` are those of the file `/b.bin`.
    fields: &'static [(&'static str, &'static str)],
    status: u16,
    /// Fields of the response; a value of `-`: there is none.
    says: &'static [(&'static str, &'static str)],
    /// Bytes of the body, if they matter.
    body_bytes: Option<usize>,
    /// Why nginx differs.
    differs: Option<&'static str>,
}

type Fields = &'static [(&'static str, &'static str)];

const fn row(method: &'static str, path: &'static str, fields: Fields, status: u16) -> Row {
    Row { method, path, fields, status, says: &[], body_bytes: None, differs: None }
}

const fn get(path: &'static str, fields: Fields, status: u16) -> Row {
    row("GET", path, fields, status)
}

impl Row {
    const fn says(self, says: Fields) -> Self {
        Self { says, ..self }
    }

    const fn body(self, bytes: usize) -> Self {
        Self { body_bytes: Some(bytes), ..self }
    }

    const fn but(self, reason: &'static str) -> Self {
        Self { differs: Some(reason), ..self }
    }
}

const OLD: &str = "Thu, 01 Jan 1970 00:00:01 GMT";
const NEW: &str = "Fri, 01 Jan 2100 00:00:00 GMT";
const CSS: &str = "text/css; charset=utf-8";
const BINARY: &str = "application/octet-stream";

#[rustfmt::skip]
const TABLE: &[Row] = &[
    // Methods and paths.
    get("/", &[], 200).says(&[("content-type", "text/html; charset=utf-8"), ("accept-ranges", "bytes")]).body(9),
    get("/index.html?x=1", &[], 200).body(9),
    get("/b.bin", &[], 200).says(&[("content-type", BINARY), ("content-length", "1000"), ("vary", "-")]).body(1000),
    row("HEAD", "/b.bin", &[], 200).says(&[("content-length", "1000"), ("content-type", BINARY)]).body(0),
    row("HEAD", "/no", &[], 404).body(0),
    get("/%62.bin", &[], 200).body(1000),
    get("/a%20b.txt", &[], 200).body(5),
    get("/empty.txt", &[], 200).says(&[("content-length", "0")]).body(0),
    get("/sub/", &[], 200).body(3),
    get("/sub", &[], 301).says(&[("location", "/sub/")]),
    get("/sub?x=1", &[], 301).says(&[("location", "/sub/?x=1")]),
    get("/sub//index.html", &[], 200).body(3),
    get("/none/", &[], 404),
    get("/no", &[], 404),
    get("/b.bin/", &[], 404),
    get("/bare/", &[], 404).but("a folder without an index is as if it were not there; nginx says 403"),
    get("/.env", &[], 404).but("names that begin with a dot are hidden; nginx serves them"),
    get("/../b.bin", &[], 404).but("a path that leads out is of no file; nginx says 400"),
    get("/a%00", &[], 404).but("a path with a 0 is of no file; nginx says 400"),
    get("//b.bin", &[], 404).but("not merged at the beginning, where it would be a host in a redirect; nginx merges"),
    row("POST", "/b.bin", &[], 405).says(&[("allow", "GET, HEAD")]).but("405 says what is allowed (RFC 9110, 15.5.6); nginx does not"),
    row("PUT", "/b.bin", &[], 405),
    row("DELETE", "/b.bin", &[], 405),
    row("TRACE", "/b.bin", &[], 405),
    row("OPTIONS", "/b.bin", &[], 405),
    // Conditions.
    get("/b.bin", &[("if-none-match", "TAG")], 304).says(&[("content-type", "-"), ("content-length", "-")]).body(0),
    get("/b.bin", &[("if-none-match", "\"x\", W/TAG")], 304),
    get("/b.bin", &[("if-none-match", "*")], 304),
    get("/b.bin", &[("if-none-match", "\"x\"")], 200).body(1000),
    get("/b.bin", &[("if-modified-since", "TIME")], 304),
    get("/b.bin", &[("if-modified-since", NEW)], 304),
    get("/b.bin", &[("if-modified-since", OLD)], 200).body(1000),
    get("/b.bin", &[("if-none-match", "\"x\""), ("if-modified-since", "TIME")], 200),
    get("/b.bin", &[("if-match", "TAG")], 200).body(1000),
    get("/b.bin", &[("if-match", "\"x\"")], 412),
    get("/b.bin", &[("if-unmodified-since", OLD)], 412),
    get("/b.bin", &[("if-unmodified-since", "TIME")], 200),
    // Parts.
    get("/b.bin", &[("range", "bytes=0-0")], 206).says(&[("content-range", "bytes 0-0/1000"), ("content-length", "1")]).body(1),
    get("/b.bin", &[("range", "bytes=990-")], 206).says(&[("content-range", "bytes 990-999/1000")]).body(10),
    get("/b.bin", &[("range", "bytes=-10")], 206).says(&[("content-range", "bytes 990-999/1000")]).body(10),
    get("/b.bin", &[("range", "bytes=990-5000")], 206).body(10),
    get("/b.bin", &[("range", "bytes=1000-")], 416).says(&[("content-range", "bytes */1000")]),
    get("/b.bin", &[("range", "bytes=5-2")], 200).body(1000).but("a range that is none is ignored (RFC 9110, 14.2); nginx says 416"),
    get("/b.bin", &[("range", "lines=0-1")], 200).body(1000),
    get("/b.bin", &[("range", "bytes=0-1,10-11")], 206),
    get("/b.bin", &[("range", "bytes=0-899,0-899")], 200).body(1000),
    get("/b.bin", &[("range", "bytes=0-0"), ("if-range", "TAG")], 206).body(1),
    get("/b.bin", &[("range", "bytes=0-0"), ("if-range", "\"x\"")], 200).body(1000),
    get("/b.bin", &[("range", "bytes=0-0"), ("if-range", "TIME")], 206).body(1),
    get("/b.bin", &[("range", "bytes=0-0"), ("if-none-match", "TAG")], 304),
    row("HEAD", "/b.bin", &[("range", "bytes=0-0")], 200).says(&[("content-length", "1000")]).but("parts are for GET (RFC 9110, 14.2); nginx says 206"),
    // Codings.
    get("/a.css", &[], 200).says(&[("content-encoding", "-"), ("content-type", CSS), ("vary", "-")]).body(20_000).but("who says nothing of codings gets what suits every client, and may be pushed; nginx says Vary"),
    get("/a.css", &[("accept-encoding", "gzip")], 200).says(&[("content-encoding", "gzip"), ("content-type", CSS), ("vary", "accept-encoding")]),
    get("/a.css", &[("accept-encoding", "gzip;q=0")], 200).says(&[("content-encoding", "-")]).body(20_000),
    get("/a.css", &[("accept-encoding", "br")], 200).says(&[("content-encoding", "-")]).body(20_000),
    get("/a.css", &[("accept-encoding", "zstd")], 200).says(&[("content-encoding", "zstd")]).but("nginx has no zstd"),
    get("/c.js", &[("accept-encoding", "gzip")], 200).says(&[("content-encoding", "gzip"), ("content-length", "7")]).body(7),
    get("/b.bin", &[("accept-encoding", "gzip")], 200).says(&[("content-encoding", "-"), ("vary", "-")]).body(1000),
];

fn root() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "a { color: red }\n".repeat(2000);
    for name in ["sub", "bare"] {
        std::fs::create_dir(folder.path().join(name)).expect("created");
    }
    for (name, bytes) in [
        ("index.html", b"<p>hi</p>".as_slice()),
        ("sub/index.html", b"sub"),
        ("a b.txt", b"a b c"),
        ("empty.txt", b""),
        (".env", b"secret"),
        ("b.bin", &bytes(1000)),
        ("a.css", &text.as_bytes()[..20_000]),
        ("c.js", b"let c = 1"),
        ("c.js.gz", b"GZIPPED"),
    ] {
        std::fs::write(folder.path().join(name), bytes).expect("written");
    }
    folder
}

impl Row {
    /// The request. `whole`: the answer to a plain one for `/b.bin`.
    fn ask(&self, whole: &Fetched) -> Ask {
        let value = |text: &str| {
            let text = text.replace("TAG", whole.field("etag").expect("a tag"));
            text.replace("TIME", whole.field("last-modified").expect("a time"))
        };
        let fields = self.fields.iter().map(|(name, text)| (*name, value(text))).collect();
        Ask { method: self.method, fields, ..Ask::get(self.path) }
    }

    /// What is not as the row says; empty: all is.
    fn faults(&self, got: &Fetched) -> Vec<String> {
        let field = |(name, value): &(&str, &str)| {
            let said = got.field(name).unwrap_or("-");
            (!said.eq_ignore_ascii_case(value)).then(|| format!("{name}: {said}, not {value}"))
        };
        let (status, bytes) = (got.status, got.body.len());
        let wrong_status = (status != self.status).then(|| format!("status {status}"));
        let wrong_bytes = self.body_bytes.filter(|it| *it != bytes);
        let wrong_bytes = wrong_bytes.map(|it| format!("{bytes} bytes, not {it}"));
        let open = (!got.finished).then(|| "it does not end".to_owned());
        let fields = self.says.iter().filter_map(field);
        open.into_iter().chain(wrong_status).chain(wrong_bytes).chain(fields).collect()
    }

    fn name(&self) -> String {
        format!("{} {} {:?}", self.method, self.path, self.fields)
    }
}

#[test]
fn the_three_versions_have_the_same_semantics() {
    let folder = root();
    let server = Serving::start(DirectorySite::open(folder.path()).expect("a folder"));
    let [whole, ..] = server.ask(&Ask::get("/b.bin"));
    for row in TABLE {
        let [third, second, first] = server.ask(&row.ask(&whole));
        let name = row.name();
        let faults = [&third, &second, &first].map(|it| row.faults(it));
        assert_eq!(faults, [const { Vec::<String>::new() }; 3], "{name}");
        assert_eq!(third.fields(), second.fields(), "{name}");
        assert_eq!(third.fields(), first.fields(), "{name}");
        assert!(third.body == second.body && third.body == first.body, "{name}");
    }
}

/// nginx with the same files, over plain HTTP.
struct Nginx {
    process: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl Nginx {
    fn start(program: &Path, root: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
        let address = free.expect("a free port");
        let (here, root) = (folder.path().display(), root.display());
        let configuration = format!(
            "daemon off; user root; pid {here}/pid; error_log {here}/error;
             events {{}}
             http {{
               access_log off; default_type {BINARY};
               types {{ text/html html; text/css css; text/javascript js; text/plain txt; }}
               charset utf-8; charset_types text/css text/javascript text/plain;
               gzip on; gzip_vary on; gzip_min_length 256; gzip_static on;
               gzip_types text/css text/javascript text/plain; gzip_proxied any; gzip_http_version 1.0;
               if_modified_since before; absolute_redirect off;
               server {{ listen {address}; root {root}; }}
             }}"
        );
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, configuration).expect("written");
        let mut command = Command::new(program);
        command.arg("-c").arg(&file).arg("-p").arg(folder.path());
        let process = command.stderr(Stdio::null()).spawn().expect("it runs");
        let mut nginx = Self { process, address, _folder: folder };
        while !fixtures::listens(address.port()) {
            let ended = nginx.process.try_wait().expect("a process");
            assert_eq!(ended, None, "nginx has ended");
            std::thread::yield_now();
        }
        nginx
    }

    fn ask(&self, ask: &Ask) -> Fetched {
        ask_1(plain(self.address), ask)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let id = self.process.id().to_string();
        // Its workers end with it only if it may say so.
        Command::new("kill").args(["-QUIT", &id]).status().ok();
        self.process.wait().ok();
    }
}

#[test]
fn nginx_answers_the_same_but_for_rows_with_a_reason() {
    let Some(program) = fixtures::program("nginx") else { return };
    let folder = root();
    let nginx = Nginx::start(&program, folder.path());
    let whole = nginx.ask(&Ask::get("/b.bin"));
    for row in TABLE {
        let says = &["content-length", "content-type"];
        // An error's page, and what is compressed, is not of the same length.
        let is_exact = row.status < 300 && row.body_bytes.is_some();
        let says: Vec<_> =
            row.says.iter().copied().filter(|(it, _)| is_exact || !says.contains(it)).collect();
        let row =
            Row { says: says.leak(), body_bytes: row.body_bytes.filter(|_| is_exact), ..*row };
        let faults = row.faults(&nginx.ask(&row.ask(&whole)));
        let name = row.name();
        match row.differs {
            None => assert!(faults.is_empty(), "{name}: {faults:?}"),
            Some(reason) => assert!(!faults.is_empty(), "{name} does not differ: {reason}"),
        }
    }
}
