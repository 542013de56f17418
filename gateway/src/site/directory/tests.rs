use super::*;
use crate::site::RuledSite;
use hyper::header::CACHE_CONTROL;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant, SystemTime};

fn status(site: &DirectorySite, path: &str) -> u16 {
    site.respond(&Request::get("page.test", path)).status
}

#[test]
fn copies_of_a_file_are_asked_for_again_unless_a_rule_says_otherwise() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("a.css"), "a").expect("written");
    let site = || DirectorySite::open(folder.path()).expect("a folder");
    let said = |site: RuledSite, path: &str| {
        site.respond(&Request::get("page.test", path)).cache_control()
    };
    assert_eq!(said(RuledSite::of(site()), "/a.css").as_deref(), Some("no-cache"));
    assert_eq!(said(RuledSite::of(site()), "/none"), None);
    let day = fields([(CACHE_CONTROL, "max-age=86400")]);
    let rule = crate::site::Rule {
        path: "/*".to_owned(),
        headers: Some(day),
        ..crate::site::Rule::default()
    };
    let ruled = RuledSite::new(site(), vec![rule]);
    assert_eq!(said(ruled, "/a.css").as_deref(), Some("max-age=86400"));
}

#[test]
fn a_file_that_did_not_change_is_not_sent_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("a.css"), "a").expect("written");
    let site = RuledSite::of(DirectorySite::open(folder.path()).expect("a folder"));
    let mut request = Request::get("page.test", "/a.css");
    let first = site.respond(&request);
    let etag = first.fields("etag").next().expect("a tag").to_owned();
    assert!(first.status == 200 && etag.ends_with("-1\""), "{etag}");
    request.fields = fields([("if-none-match", etag)]);
    assert_eq!(site.respond(&request).status, 304);
}

fn folder(files: &[(&str, &[u8])]) -> (tempfile::TempDir, RuledSite) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).expect("written");
    }
    let site = DirectorySite::open(folder.path()).expect("a folder");
    (folder, RuledSite::of(site))
}

fn got(site: &RuledSite, path: &str, lines: &[(&str, &str)]) -> Response {
    let fields = fields(lines.iter().copied());
    site.respond(&Request { fields, ..Request::get("page.test", path) })
}

fn bytes(response: &Response) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(response.body.bytes()).expect("small")];
    response.body.read_at(0, &mut bytes).expect("in range");
    bytes
}

fn coding(response: &Response) -> Option<&str> {
    response.fields("content-encoding").next()
}

#[test]
fn a_text_is_compressed_as_its_client_takes_it_and_each_coding_has_its_tag() {
    let text = "body { color: red }\n".repeat(1000);
    let (_folder, site) = folder(&[("a.css", text.as_bytes()), ("tiny.css", b"a{}")]);
    let plain = got(&site, "/a.css", &[]);
    let gzip = got(&site, "/a.css", &[("accept-encoding", "gzip")]);
    let zstd = got(&site, "/a.css", &[("accept-encoding", "gzip, zstd")]);
    let brotli = got(&site, "/a.css", &[("accept-encoding", "gzip, br, zstd")]);
    let codings = [None, Some("gzip"), Some("zstd"), Some("br")];
    assert_eq!([&plain, &gzip, &zstd, &brotli].map(coding), codings);
    let mut unpacked = Vec::new();
    let packed = bytes(&brotli);
    let mut decoder = brotli::Decompressor::new(&*packed, 4096);
    std::io::Read::read_to_end(&mut decoder, &mut unpacked).expect("brotli");
    assert_eq!(unpacked, text.as_bytes());
    assert_eq!(zstd::decode_all(bytes(&zstd).as_slice()).expect("zstd"), text.as_bytes());
    let mut read = String::new();
    let gzipped = bytes(&gzip);
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&*gzipped), &mut read)
        .expect("gzip");
    assert_eq!(read, text);
    for response in [&plain, &gzip, &zstd, &brotli] {
        assert_eq!(response.fields("vary").next(), Some("accept-encoding"));
        assert_eq!(response.fields("content-type").next(), Some("text/css; charset=utf-8"));
    }
    let tag = gzip.fields("etag").next().expect("a tag");
    assert!(tag.ends_with("-gzip\""), "{tag}");
    let again = [("accept-encoding", "gzip"), ("if-none-match", tag)];
    assert_eq!(got(&site, "/a.css", &again).status, 304);
    assert_eq!(got(&site, "/a.css", &[("if-none-match", tag)]).status, 200);
    let part = got(&site, "/a.css", &[("accept-encoding", "gzip"), ("range", "bytes=0-3")]);
    assert_eq!((part.status, coding(&part), bytes(&part)), (206, None, b"body".to_vec()));
    assert_eq!(coding(&got(&site, "/tiny.css", &[("accept-encoding", "gzip")])), None);
}

/// Otherwise images that need no compression overtake a style sheet; but a thousand large texts must not make others wait.
#[test]
#[expect(clippy::disallowed_methods, reason = "only differences matter")]
fn four_texts_of_256_kib_are_ready_with_their_requests_and_a_fifth_or_larger_one_follows() {
    let names = ["a", "b", "c", "long", "d", "e"];
    let (folder, site) = folder(&[]);
    for name in names {
        let text = name.repeat((256 << 10) / name.len()) + if name == "long" { "!" } else { "" };
        std::fs::write(folder.path().join(name).with_extension("css"), text).expect("written");
    }
    let now = Some(Instant::now());
    let is_ready = |name: &str| {
        let fields = fields([("accept-encoding", "br")]);
        let path = format!("/{name}.css");
        let request = Request { fields, asked_at: now, ..Request::get("page.test", &path) };
        !matches!(site.respond(&request).body, Body::Later(_))
    };
    let ready: Vec<&str> = names.into_iter().filter(|it| is_ready(it)).collect();
    assert_eq!(ready.join(","), "a,b,c,d");
}

#[test]
fn a_file_beside_it_is_served_unless_it_is_older() {
    let (folder, site) = folder(&[("a.js", b"let a"), ("a.js.br", b"BR"), ("a.js.gz", b"GZ")]);
    let accept = |it| [("accept-encoding", it)];
    let all = got(&site, "/a.js", &accept("gzip, br, zstd"));
    assert_eq!((coding(&all), bytes(&all)), (Some("br"), b"BR".to_vec()));
    let part = [("accept-encoding", "br"), ("range", "bytes=1-")];
    assert_eq!(bytes(&got(&site, "/a.js", &part)), b"R");
    let kind = all.fields("content-type").next();
    assert_eq!(kind, got(&site, "/a.js", &[]).fields("content-type").next());
    let before = std::time::SystemTime::UNIX_EPOCH;
    let old = std::fs::File::options().write(true).open(folder.path().join("a.js.br"));
    old.expect("there").set_modified(before).expect("changed");
    let newer = got(&site, "/a.js", &accept("gzip, br, zstd"));
    assert_eq!((coding(&newer), bytes(&newer)), (Some("gzip"), b"GZ".to_vec()));
    assert_eq!(bytes(&got(&site, "/a.js", &accept("zstd"))), b"let a");
}

fn touch(path: &Path, at: Duration) {
    let file = std::fs::File::options().write(true).open(path).expect("there");
    file.set_modified(SystemTime::UNIX_EPOCH + at).expect("changed");
}

#[test]
fn a_file_beside_it_that_has_its_time_without_the_fraction_is_not_older() {
    let (folder, site) = folder(&[("a.js", b"let a"), ("a.js.br", b"BR")]);
    touch(&folder.path().join("a.js"), Duration::from_millis(1_000_999));
    touch(&folder.path().join("a.js.br"), Duration::from_secs(1000));
    let accept = [("accept-encoding", "br")];
    assert_eq!(coding(&got(&site, "/a.js", &accept)), Some("br"));
    touch(&folder.path().join("a.js"), Duration::from_secs(1001));
    assert_eq!(coding(&got(&site, "/a.js", &accept)), None);
}

/// Two releases that were packed reproducibly: all files have one time.
#[test]
fn another_file_of_the_same_size_and_time_has_another_tag_whether_it_is_moved_or_written_there() {
    let write = |path: &Path, byte: u8, bytes: usize| {
        std::fs::write(path, vec![byte; bytes]).expect("written");
        touch(path, Duration::from_secs(1));
    };
    for bytes in [10, 100_000] {
        let (folder, site) = folder(&[]);
        let (at, new) = (folder.path().join("a.bin"), folder.path().join("new"));
        write(&at, 1, bytes);
        let first = got(&site, "/a.bin", &[]);
        write(&new, 2, bytes);
        std::fs::rename(&new, &at).expect("moved");
        let second = got(&site, "/a.bin", &[]);
        write(&at, 3, bytes);
        let third = got(&site, "/a.bin", &[]);
        for (old, new) in [(&first, &second), (&second, &third)] {
            let of = |it: &Response, name| it.fields(name).next().expect("one").to_owned();
            assert_eq!(of(old, "last-modified"), of(new, "last-modified"));
            assert_ne!(of(old, "etag"), of(new, "etag"), "{bytes} bytes");
        }
        let tag = second.fields("etag").next().expect("a tag");
        let status = |fields: &[(&str, &str)]| got(&site, "/a.bin", fields).status;
        assert_eq!(status(&[("if-none-match", tag)]), 200);
        assert_eq!(status(&[("range", "bytes=1-"), ("if-range", tag)]), 200);
        let time = second.fields("last-modified").next().expect("a time");
        assert_eq!(status(&[("range", "bytes=1-"), ("if-range", time)]), 200);
        let tag = third.fields("etag").next().expect("a tag");
        assert_eq!(status(&[("range", "bytes=1-"), ("if-range", tag)]), 206);
        assert_eq!(status(&[("if-none-match", tag)]), 304);
    }
}

#[test]
fn a_time_in_the_future_is_not_passed_on() {
    let (folder, site) = folder(&[("a.bin", b"a")]);
    touch(&folder.path().join("a.bin"), Duration::from_secs(4_102_444_800));
    let status_changed = std::fs::metadata(folder.path().join("a.bin")).expect("there").ctime();
    let said = got(&site, "/a.bin", &[]);
    let time = server::http_date::time(said.fields("last-modified").next().expect("a time"));
    let expected = Duration::from_secs(status_changed.unsigned_abs());
    assert_eq!(time, Some(SystemTime::UNIX_EPOCH + expected));
}

#[test]
fn lists_of_codings_and_tags_may_have_several_lines() {
    let text = "a".repeat(1000);
    let (_folder, site) = folder(&[("a.txt", text.as_bytes())]);
    let two = [("accept-encoding", "deflate"), ("accept-encoding", "gzip")];
    let zipped = got(&site, "/a.txt", &two);
    assert_eq!(coding(&zipped), Some("gzip"));
    let tag = got(&site, "/a.txt", &[]).fields("etag").next().expect("a tag").to_owned();
    let tags = |name| [(name, "\"x\""), (name, tag.as_str())];
    assert_eq!(got(&site, "/a.txt", &tags("if-none-match")).status, 304);
    assert_eq!(got(&site, "/a.txt", &tags("if-match")).status, 200);
    let page = got(&site, "/no", &[("accept", "image/*"), ("accept", "text/html")]);
    assert!(page.body.bytes() > 0);
}

#[test]
fn a_text_says_that_it_is_utf_8_only_if_it_is() {
    let long = "ü".repeat(50_000);
    let (_folder, site) = folder(&[
        ("utf8.html", "ü".as_bytes()),
        ("long.html", long.as_bytes()),
        ("latin.html", b"\xfc"),
        ("a.json", b"{}"),
        ("a.png", b"PNG"),
    ]);
    for (path, expected) in [
        ("/utf8.html", "text/html; charset=utf-8"),
        ("/long.html", "text/html; charset=utf-8"),
        ("/latin.html", "text/html"),
        ("/a.json", "application/json"),
        ("/a.png", "image/png"),
    ] {
        assert_eq!(got(&site, path, &[]).fields("content-type").next(), Some(expected));
    }
}

#[test]
fn the_path_of_a_folder_leads_to_its_index() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["sub", "empty"] {
        std::fs::create_dir(folder.path().join(name)).expect("created");
    }
    std::fs::write(folder.path().join("sub/index.html"), "yes").expect("written");
    let site = RuledSite::of(DirectorySite::open(folder.path()).expect("a folder"));
    let location = |path: &str| {
        let response = got(&site, path, &[]);
        let location = response.fields("location").next().map(str::to_owned);
        (response.status, location)
    };
    assert_eq!(location("/sub"), (301, Some("/sub/".to_owned())));
    assert_eq!(location("/sub?x=1"), (301, Some("/sub/?x=1".to_owned())));
    let page = got(&site, "/empty", &[("accept", "text/html,*/*")]);
    assert!(bytes(&page).starts_with(b"<!doctype html>"));
    assert_eq!(got(&site, "/empty", &[("accept", "image/*")]).body.bytes(), 0);
    assert_eq!(location("/empty"), (404, None));
    assert_eq!(location("/empty/"), (404, None), "no list of files");
    assert_eq!(location("//sub"), (301, Some("/sub/".to_owned())), "not another host");
}

#[test]
fn only_files_below_the_root_are_served() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path().join("root");
    std::fs::create_dir_all(root.join("sub")).expect("created");
    std::fs::write(folder.path().join("secret"), "no").expect("written");
    std::fs::write(root.join("a b.html"), "yes").expect("written");
    std::fs::write(root.join("sub/index.html"), "yes").expect("written");
    std::fs::write(root.join(".env"), "no").expect("written");
    for hidden in [".git", "sub/.git", ".well-known/.git"] {
        std::fs::create_dir_all(root.join(hidden)).expect("created");
        std::fs::write(root.join(hidden).join("config"), "no").expect("written");
    }
    std::fs::write(root.join(".well-known/security.txt"), "yes").expect("written");
    std::os::unix::fs::symlink("loop", root.join("loop")).expect("linked");
    let fifo = std::process::Command::new("mkfifo").arg(root.join("fifo")).status();
    assert!(fifo.is_ok_and(|it| it.success()), "mkfifo exists");
    assert_eq!(status(&DirectorySite::open(&root).expect("a folder"), "/fifo"), 404);
    std::os::unix::fs::symlink(folder.path().join("secret"), root.join("link")).expect("linked");
    let site = DirectorySite::open(&root).expect("a directory");
    let cases = [
        ("/a%20b.html", 200),
        ("/a%20b.html?x=1", 200),
        ("/sub/", 200),
        ("/sub", 301),
        ("/../secret", 404),
        ("/%2e%2e/secret", 404),
        ("/sub/../../secret", 404),
        ("/link", 404),
        ("//a%20b.html", 200),
        ("/sub/../a%20b.html", 200),
        ("/sub%2f%2e%2e%2fa%20b.html", 200),
        ("/./a%20b.html", 200),
        ("/a%00", 404),
        ("/sub//index.html", 200),
        ("/sub/./index.html", 200),
        ("/a%20b.html/", 404),
        ("/a%20b.html/.", 404),
        ("/loop", 404),
        ("/.env", 404),
        ("/%2eenv", 404),
        ("/.git/config", 404),
        ("/sub/.git/config", 404),
        ("/.well-known/security.txt", 200),
        ("/.well-known/.git/config", 404),
        ("a", 404),
        ("", 404),
    ];
    for (path, expected) in cases {
        assert_eq!(status(&site, path), expected, "{path}");
    }
}
