//! HTTP's semantics as a table: the same over HTTP/3, HTTP/2 and HTTP/1.1, and, except in rows with a reason, the same as nginx's
//! and Caddy's.

use super::neighbours::Neighbour;
use super::{Serving, bytes};
use crate::fetch::{Ask, Fetched};
use gateway::site::DirectorySite;
use tempfile::TempDir;

/// A request, and its answer.
struct Row {
    method: &'static str,
    path: &'static str,
    /// Fields. `TAG` and `TIME` belong to the file `/b.bin`, and `LONG` is a value of 3,000 bytes.
    fields: &'static [(&'static str, &'static str)],
    status: u16,
    /// Fields of the response; a value of `-`: there is none.
    says: &'static [(&'static str, &'static str)],
    /// Bytes of the body, if they matter.
    body_bytes: Option<usize>,
    /// Why nginx differs.
    nginx: Option<&'static str>,
    /// Why Caddy does.
    caddy: Option<&'static str>,
}

type Fields = &'static [(&'static str, &'static str)];

const fn row(method: &'static str, path: &'static str, fields: Fields, status: u16) -> Row {
    Row { method, path, fields, status, says: &[], body_bytes: None, nginx: None, caddy: None }
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

    const fn nginx(self, reason: &'static str) -> Self {
        Self { nginx: Some(reason), ..self }
    }

    const fn caddy(self, reason: &'static str) -> Self {
        Self { caddy: Some(reason), ..self }
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
    get("/b.bin", &[], 200).says(&[("content-type", BINARY), ("content-length", "1000"), ("vary", "-")]).body(1000).caddy("the kind of an unknown ending is that of any bytes; Caddy says none"),
    row("HEAD", "/b.bin", &[], 200).says(&[("content-length", "1000"), ("content-type", BINARY)]).body(0).caddy("the kind of an unknown ending is that of any bytes; Caddy says none"),
    row("HEAD", "/no", &[], 404).body(0),
    get("/%62.bin", &[], 200).body(1000),
    get("/a%20b.txt", &[], 200).body(5),
    get("/empty.txt", &[], 200).says(&[("content-length", "0")]).body(0),
    get("/sub/", &[], 200).body(3),
    get("/sub", &[], 301).says(&[("location", "/sub/")]).caddy("Caddy says 308"),
    get("/sub?x=1", &[], 301).says(&[("location", "/sub/?x=1")]).caddy("the query stays; Caddy drops it"),
    get("/sub//index.html", &[], 200).body(3),
    get("/none/", &[], 404),
    get("/no", &[], 404),
    get("/b.bin/", &[], 404),
    get("/bare/", &[], 404).nginx("a folder without an index is as if it were not there; nginx says 403"),
    get("/.env", &[], 404).nginx("names that begin with a dot are hidden; nginx serves them").caddy("names that begin with a dot are hidden; Caddy serves them"),
    get("/../b.bin", &[], 404).nginx("a path that leads out is of no file; nginx says 400").caddy("a path that leads out is of no file; Caddy stays at the root"),
    get("/a%00", &[], 404).nginx("a path with a 0 is of no file; nginx says 400").caddy("a path with a 0 is of no file; Caddy says 500"),
    get("//b.bin", &[], 200).body(1000),
    get("//sub", &[], 301).says(&[("location", "/sub/")]).caddy("Caddy says 308"),
    get("/sub/../b.bin", &[], 200).body(1000),
    get("/./b.bin", &[], 200).body(1000),
    get("/sub/./index.html", &[], 200).body(3),
    get("/sub/%2e%2E/b.bin", &[], 200).body(1000),
    get("/sub%2f..%2Fb.bin", &[], 200).body(1000),
    get("/sub/..?x=/../y", &[], 200).body(9).caddy("Caddy redirects"),
    get("/sub/../../b.bin", &[], 404).nginx("a path that leads out is of no file; nginx says 400").caddy("a path that leads out is of no file; Caddy stays at the root"),
    get("/b.bin/..", &[], 200).body(9).caddy("Caddy redirects"),
    row("HEAD", "/", &[], 200).says(&[("content-length", "9")]).body(0),
    row("HEAD", "/sub/", &[], 200).says(&[("content-length", "3")]).body(0),
    row("HEAD", "/sub", &[], 301).says(&[("location", "/sub/")]).body(0).caddy("Caddy says 308"),
    row("HEAD", "/empty.txt", &[], 200).says(&[("content-length", "0")]).body(0),
    get("/sub/?x", &[], 200).body(3),
    get("/index.html/", &[], 404),
    // Targets.
    get("/b.bin?query=up{job='x'}|[1]^`", &[], 200).body(1000),
    get("/caf\u{e9}.txt", &[], 200).body(5),
    get("/caf%C3%A9.txt?\u{e9}", &[], 200).body(5),
    row("OPTIONS", "*", &[], 204).nginx("the server itself is meant (RFC 9110, 9.3.7); nginx says 400").caddy("Caddy says 200 without a body"),
    get("/%zz", &[], 404).nginx("a path with a wrong escape is of no file; nginx says 400").caddy("a path with a wrong escape is of no file; Caddy says 400"),
    // Types.
    get("/m.mjs", &[], 200).says(&[("content-type", "text/javascript; charset=utf-8")]),
    get("/m.mjs.map", &[], 200).says(&[("content-type", "application/json")]),
    get("/m.webmanifest", &[], 200).says(&[("content-type", "application/manifest+json")]),
    get("/m.woff2", &[], 200).says(&[("content-type", "font/woff2")]),
    row("POST", "/b.bin", &[], 405).says(&[("allow", "GET, HEAD")]).nginx("405 says what is allowed (RFC 9110, 15.5.6); nginx does not").caddy("Caddy answers any method with the file"),
    row("PUT", "/b.bin", &[], 405).caddy("Caddy answers any method with the file"),
    row("DELETE", "/b.bin", &[], 405).caddy("Caddy answers any method with the file"),
    row("TRACE", "/b.bin", &[], 405).caddy("Caddy answers any method with the file"),
    row("OPTIONS", "/b.bin", &[], 405).caddy("Caddy answers any method with the file"),
    row("PATCH", "/b.bin", &[], 405).caddy("Caddy answers any method with the file"),
    row("POST", "/no", &[], 405).nginx("no path takes the method; nginx looks for the file first").caddy("no path takes the method; Caddy looks for the file first"),
    // Fields that change nothing.
    get("/b.bin", &[("expect", "100-continue")], 200).body(1000).nginx("nobody waits to send a body (RFC 9110, 10.1.1); nginx says 100 first"),
    get("/b.bin", &[("te", "trailers")], 200).body(1000),
    get("/b.bin", &[("cookie", "LONG"), ("cookie", "LONG")], 200).body(1000),
    get("/b.bin", &[("accept", "image/*"), ("accept-language", "xx"), ("accept-charset", "none")], 200).body(1000),
    // Conditions.
    get("/b.bin", &[("if-none-match", "TAG")], 304).says(&[("content-type", "-"), ("content-length", "-")]).body(0),
    get("/b.bin", &[("if-none-match", "\"x\", W/TAG")], 304),
    get("/b.bin", &[("if-none-match", "*")], 304),
    get("/b.bin", &[("if-none-match", "\"x\""), ("if-none-match", "TAG")], 304).nginx("lines are one list (RFC 9110, 5.3); nginx says 400").caddy("Caddy takes the first line"),
    get("/b.bin", &[("if-match", "\"x\""), ("if-match", "TAG")], 200).nginx("lines are one list (RFC 9110, 5.3); nginx says 400").caddy("Caddy takes the first line"),
    get("/b.bin", &[("if-none-match", "\"x\"")], 200).body(1000),
    get("/b.bin", &[("if-modified-since", "TIME")], 304),
    get("/b.bin", &[("if-modified-since", NEW)], 304),
    get("/b.bin", &[("if-modified-since", OLD)], 200).body(1000),
    get("/b.bin", &[("if-none-match", "\"x\""), ("if-modified-since", "TIME")], 200),
    get("/b.bin", &[("if-match", "TAG")], 200).body(1000),
    get("/b.bin", &[("if-match", "\"x\"")], 412),
    get("/b.bin", &[("if-unmodified-since", OLD)], 412),
    get("/b.bin", &[("if-unmodified-since", "TIME")], 200),
    row("HEAD", "/b.bin", &[("if-none-match", "TAG")], 304).says(&[("content-length", "-")]).body(0),
    row("HEAD", "/b.bin", &[("if-match", "\"x\"")], 412).body(0),
    get("/b.bin", &[("if-match", "*"), ("if-none-match", "TAG")], 304),
    get("/b.bin", &[("if-match", "\"x\""), ("if-none-match", "TAG")], 412),
    get("/b.bin", &[("if-modified-since", "yesterday")], 200).body(1000),
    get("/b.bin", &[("if-unmodified-since", OLD), ("range", "bytes=0-0")], 412),
    // Parts.
    get("/b.bin", &[("range", "bytes=0-0")], 206).says(&[("content-range", "bytes 0-0/1000"), ("content-length", "1")]).body(1),
    get("/b.bin", &[("range", "bytes=990-")], 206).says(&[("content-range", "bytes 990-999/1000")]).body(10),
    get("/b.bin", &[("range", "bytes=-10")], 206).says(&[("content-range", "bytes 990-999/1000")]).body(10),
    get("/b.bin", &[("range", "bytes=990-5000")], 206).body(10),
    get("/b.bin", &[("range", "bytes=1000-")], 416).says(&[("content-range", "bytes */1000")]),
    get("/b.bin", &[("range", "bytes=5-2")], 200).body(1000).nginx("a range that is none is ignored (RFC 9110, 14.2); nginx says 416").caddy("a range that is none is ignored (RFC 9110, 14.2); Caddy says 416"),
    get("/b.bin", &[("range", "lines=0-1")], 200).body(1000).caddy("another unit is ignored (RFC 9110, 14.2); Caddy says 416"),
    get("/b.bin", &[("range", "bytes=0-1,10-11")], 206),
    get("/b.bin", &[("range", "bytes=0-899,0-899")], 200).body(1000),
    get("/b.bin", &[("range", "bytes=0-0"), ("if-range", "TAG")], 206).body(1),
    get("/b.bin", &[("range", "bytes=0-0"), ("if-range", "\"x\"")], 200).body(1000),
    get("/b.bin", &[("range", "bytes=0-0"), ("if-range", "W/TAG")], 200).body(1000),
    get("/b.bin", &[("range", "bytes=0-0"), ("range", "bytes=2-3")], 206).body(1),
    get("/b.bin", &[("range", "bytes=0-0"), ("if-range", "TIME")], 206).body(1),
    get("/b.bin", &[("range", "bytes=0-0"), ("if-none-match", "TAG")], 304),
    row("HEAD", "/b.bin", &[("range", "bytes=0-0")], 200).says(&[("content-length", "1000")]).nginx("parts are for GET (RFC 9110, 14.2); nginx says 206").caddy("parts are for GET (RFC 9110, 14.2); Caddy says 206"),
    get("/b.bin", &[("range", "bytes=-0")], 416).says(&[("content-range", "bytes */1000")]).caddy("the last 0 bytes are none (RFC 9110, 14.1.2); Caddy says 206 without any"),
    get("/empty.txt", &[("range", "bytes=0-0")], 416).says(&[("content-range", "bytes */0")]).nginx("no range of nothing can be given (RFC 9110, 14.1.2); nginx ignores it"),
    get("/b.bin", &[("range", "bytes=0-0,5-5"), ("if-range", "\"x\"")], 200).body(1000),
    get("/c.js", &[("accept-encoding", "gzip"), ("range", "bytes=0-0")], 206).says(&[("content-encoding", "gzip"), ("content-range", "bytes 0-0/7")]).body(1).nginx("a file in a coding has parts, too; nginx gives all of it"),
    // Codings.
    get("/a.css", &[], 200).says(&[("content-encoding", "-"), ("content-type", CSS), ("vary", "accept-encoding")]).body(20_000).caddy("Caddy says Vary only where it compresses"),
    row("HEAD", "/a.css", &[], 200).says(&[("content-encoding", "-"), ("vary", "accept-encoding")]).caddy("Caddy says Vary only where it compresses"),
    get("/a.css", &[("if-none-match", "*")], 304).says(&[("vary", "accept-encoding")]).nginx("a 304 has the fields of its 200 (RFC 9110, 15.4.5); nginx leaves Vary out").caddy("Caddy says Vary only where it compresses"),
    get("/a.css", &[("range", "bytes=0-0")], 206).says(&[("vary", "accept-encoding")]).caddy("Caddy says Vary only where it compresses"),
    get("/a.css", &[("accept-encoding", "deflate"), ("accept-encoding", "gzip")], 200).says(&[("content-encoding", "gzip")]).nginx("lines are one list (RFC 9110, 5.3); nginx takes the first").caddy("Caddy takes the first line"),
    get("/large.txt", &[("accept-encoding", "gzip")], 200).says(&[("content-encoding", "gzip"), ("vary", "accept-encoding")]),
    get("/a.css", &[("accept-encoding", "gzip")], 200).says(&[("content-encoding", "gzip"), ("content-type", CSS), ("vary", "accept-encoding")]),
    get("/a.css", &[("accept-encoding", "gzip;q=0")], 200).says(&[("content-encoding", "-")]).body(20_000),
    get("/a.css", &[("accept-encoding", "br")], 200).says(&[("content-encoding", "br")]).nginx("nginx has no brotli").caddy("Caddy has no brotli"),
    get("/a.css", &[("accept-encoding", "zstd")], 200).says(&[("content-encoding", "zstd")]).nginx("nginx has no zstd"),
    get("/c.js", &[("accept-encoding", "gzip")], 200).says(&[("content-encoding", "gzip"), ("content-length", "7")]).body(7),
    get("/a.css", &[("accept-encoding", "identity")], 200).says(&[("content-encoding", "-")]).body(20_000),
    get("/a.css", &[("accept-encoding", "gzip"), ("if-none-match", "*")], 304).says(&[("vary", "accept-encoding")]).nginx("a 304 has the fields of its 200 (RFC 9110, 15.4.5); nginx leaves Vary out").caddy("Caddy says Vary only where it compresses"),
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
        ("caf\u{e9}.txt", b"cafe!"),
        ("m.mjs", b"export {}"),
        ("m.mjs.map", b"{}"),
        ("m.webmanifest", b"{}"),
        ("m.woff2", b"wOF2"),
        ("large.txt", "large ".repeat(520_000).as_bytes()),
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
            let text = text.replace("LONG", &"x".repeat(3000));
            text.replace("TIME", whole.field("last-modified").expect("a time"))
        };
        let fields = self.fields.iter().map(|(name, text)| (*name, value(text))).collect();
        Ask { method: self.method, fields, ..Ask::get(self.path) }
    }

    /// What differs from the row; empty if nothing does.
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

/// Where another server's answer differs without a reason, or agrees in spite of one.
fn differences(
    neighbour: &Neighbour,
    reason: impl Fn(&Row) -> Option<&'static str>,
) -> Vec<String> {
    let whole = neighbour.ask(&Ask::get("/b.bin"));
    let difference = |row: &Row| {
        let says = &["content-length", "content-type"];
        // An error's page, and what is compressed, is not of the same length.
        let is_exact = row.status < 300 && row.body_bytes.is_some();
        let says: Vec<_> =
            row.says.iter().copied().filter(|(it, _)| is_exact || !says.contains(it)).collect();
        let same =
            Row { says: says.leak(), body_bytes: row.body_bytes.filter(|_| is_exact), ..*row };
        let faults = same.faults(&neighbour.ask(&same.ask(&whole)));
        match reason(row) {
            None if faults.is_empty() => None,
            None => Some(format!("{}: {faults:?}", row.name())),
            Some(reason) if faults.is_empty() => {
                Some(format!("{} does not differ: {reason}", row.name()))
            }
            Some(_) => None,
        }
    };
    TABLE.iter().filter_map(difference).collect()
}

#[test]
fn nginx_answers_the_same_but_for_rows_with_a_reason() {
    let folder = root();
    let Some(nginx) = Neighbour::nginx(folder.path()) else { return };
    assert_eq!(differences(&nginx, |it| it.nginx), [""; 0]);
}

#[test]
fn caddy_answers_the_same_but_for_rows_with_a_reason() {
    let folder = root();
    let Some(caddy) = Neighbour::caddy(folder.path()) else { return };
    assert_eq!(differences(&caddy, |it| it.caddy), [""; 0]);
}
