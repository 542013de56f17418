//! A directory as a site.

use super::codings::Coding;
use super::compressed::Compressed;
use super::contents::Version;
use super::hot_files::{HotFile, HotFiles};
use super::{Body, Request, Response, Site};
use crate::FileLimits;
use crate::head::http_date;
use nix::errno::Errno;
use percent_encoding::percent_decode_str;
use schedulers::{Kind, Resource};
use std::borrow::Cow;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Serves the files below a directory; a path that ends in `/` means its `index.html`.
pub struct DirectorySite {
    files: HotFiles,
    compressed: Compressed,
}

/// A directory that cannot be served.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum OpenError {
    #[error("{0}: {1}; name a readable directory")]
    Unreadable(PathBuf, #[source] std::io::Error),
    #[error("{0}: not a directory; name a directory")]
    NotADirectory(PathBuf),
}

impl DirectorySite {
    /// A site of the files below `root`.
    pub fn open(root: &Path) -> Result<Self, OpenError> {
        Self::within(root, FileLimits::default())
    }

    /// The same within other limits.
    pub fn within(root: &Path, limits: FileLimits) -> Result<Self, OpenError> {
        let resolved =
            root.canonicalize().map_err(|source| OpenError::Unreadable(root.to_owned(), source))?;
        if !resolved.is_dir() {
            return Err(OpenError::NotADirectory(root.to_owned()));
        }
        Ok(Self { files: HotFiles::new(resolved, limits), compressed: Compressed::new() })
    }
}

/// The path that a request asks for, its escapes resolved, if it can be one of a file that is served. Names that begin with
/// a dot are hidden (`.git`, `.env`), except that of RFC 8615.
fn wanted(path: &str) -> Option<Cow<'_, str>> {
    let path = path.split(['?', '#']).next()?;
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    let mut names = decoded.strip_prefix('/')?.split('/');
    // An absolute path would replace the root.
    let is_relative = !decoded.starts_with("//");
    let is_hidden = |name: &str| name.starts_with('.') && name != ".well-known";
    let is_plain = is_relative && !names.any(is_hidden) && !decoded.contains('\0');
    is_plain.then(|| as_file(decoded))
}

/// The path of a file, with one `/` between names.
fn as_file(path: Cow<'_, str>) -> Cow<'_, str> {
    if !path.ends_with('/') && !path.contains("//") {
        return path;
    }
    let names = path.split('/').filter(|it| !it.is_empty());
    let index = path.ends_with('/').then_some("index.html");
    names.chain(index).fold(String::new(), |path, name| path + "/" + name).into()
}

impl Site for DirectorySite {
    fn respond(&self, request: &Request) -> Response {
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return Response::only_get_and_head();
        }
        let Some(path) = wanted(&request.path) else { return not_found(request) };
        match self.files.find(&path, request.asked_at) {
            Ok(file) => self.response(request, &path, &file),
            Err(error) if is_missing(&error) => self.absent(request, &path),
            Err(_) => Response::unavailable(),
        }
    }

    /// Without the field, a browser takes a copy for fresh for a tenth of its age (RFC 9111, 4.2.2), and shows a new page with
    /// an old stylesheet.
    fn usual_freshness(&self) -> Option<&'static str> {
        Some("no-cache")
    }
}

impl DirectorySite {
    /// A file, in a coding that the client takes.
    fn response(&self, request: &Request, path: &str, file: &HotFile) -> Response {
        let is_coded = !file.coded.is_empty() || is_compressible(&file.mime);
        let coded = if is_coded { self.coded(request, path, file) } else { None };
        let mut response = coded.unwrap_or_else(|| {
            let body = Body::File(Arc::clone(&file.contents), file.version.bytes);
            response(file, body, &file.version)
        });
        // Without the field, the answer suits every client, as it is.
        if is_coded && request.field("accept-encoding").is_some() {
            response.headers.push(("vary".into(), "accept-encoding".to_owned()));
        }
        response
    }

    /// A file in a coding: another file, or made here. Who asks for parts gets those of the file itself, unless there is
    /// another one.
    fn coded(&self, request: &Request, path: &str, file: &HotFile) -> Option<Response> {
        let field = request.field("accept-encoding")?;
        let accepted = || Coding::ALL.into_iter().filter(|it| it.is_accepted(field));
        let beside = accepted().filter(|it| file.coded.contains(it)).find_map(|coding| {
            let beside = self.files.find(&format!("{path}{}", coding.ending()), request.asked_at);
            beside.ok().map(|it| {
                let body = Body::File(Arc::clone(&it.contents), it.version.bytes);
                (coding, response(file, body, &it.version))
            })
        });
        let made = || {
            let may_be_made = request.field("range").is_none() && is_compressible(&file.mime);
            let mut accepted = accepted().filter(|it| may_be_made && *it != Coding::Brotli);
            accepted.find_map(|coding| {
                let bytes = self.compressed.get(path, file, coding, request.asked_at)?;
                Some((coding, response(file, Body::Bytes(bytes), &file.version)))
            })
        };
        let (coding, mut response) = beside.or_else(made)?;
        // Each coding has a tag of its own (RFC 9110, 8.8.1).
        for (_, tag) in response.headers.iter_mut().filter(|(name, _)| name == "etag") {
            tag.insert_str(tag.len() - 1, &format!("-{}", coding.name()));
        }
        response.headers.push(("content-encoding".into(), coding.name().to_owned()));
        Some(response)
    }

    /// There is no such file: the folder of this name, or an error.
    fn absent(&self, request: &Request, path: &str) -> Response {
        let (plain, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let index = format!("{path}/index.html");
        if plain.ends_with('/') || self.files.find(&index, request.asked_at).is_err() {
            return not_found(request);
        }
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        let headers = vec![("location".into(), format!("{plain}/{query}"))];
        Response { headers, ..Response::empty(301) }
    }
}

/// There is no such file. A client that would show a page gets one.
fn not_found(request: &Request) -> Response {
    let shows_page = request.field("accept").is_some_and(|it| it.contains("text/html"));
    if shows_page { Response::not_found() } else { Response::empty(404) }
}

/// Whether files of a type become smaller by compression.
fn is_compressible(mime: &str) -> bool {
    let essence = mime.split(';').next().unwrap_or_default();
    essence.starts_with("text/")
        || essence.ends_with("+xml")
        || essence.ends_with("+json")
        || matches!(
            essence,
            "application/javascript"
                | "application/json"
                | "application/xml"
                | "application/wasm"
                | "image/x-icon"
                | "font/ttf"
                | "font/otf"
        )
}

/// The response with a file, or with what stands for it and has this version.
fn response(file: &HotFile, body: Body, version: &Version) -> Response {
    let resource = Resource {
        kind: file.kind,
        // A folder does not say who refers to its files; of stylesheets it is nearly always a head.
        in_head: file.kind == Kind::Css,
        body_bytes: Some(body.bytes()),
        ..Resource::default()
    };
    Response {
        headers: vec![
            ("content-type".into(), file.mime.clone()),
            ("etag".into(), version.etag()),
            ("last-modified".into(), http_date(version.changed())),
            ("accept-ranges".into(), "bytes".to_owned()),
        ],
        body,
        resource,
        ..Response::empty(200)
    }
}

/// Whether there is no such file for anybody. A file that may not be read is none, so that nobody learns of it. Anything
/// else, such as too many open files, is a trouble of the server that may pass.
fn is_missing(error: &io::Error) -> bool {
    use ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound, PermissionDenied};
    let leads_nowhere = error.raw_os_error() == Some(Errno::ELOOP as i32);
    let kinds = [NotFound, NotADirectory, PermissionDenied, InvalidInput, InvalidFilename];
    leads_nowhere || kinds.contains(&error.kind())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::RuledSite;

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
        assert_eq!(said(site().into(), "/a.css").as_deref(), Some("no-cache"));
        assert_eq!(said(site().into(), "/none"), None);
        let day = vec![("cache-control".into(), "max-age=86400".to_owned())];
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
        let site = RuledSite::from(DirectorySite::open(folder.path()).expect("a folder"));
        let mut request = Request::get("page.test", "/a.css");
        let first = site.respond(&request);
        let etag = first.fields("etag").next().expect("a tag").to_owned();
        assert!(first.status == 200 && etag.ends_with("-1\""), "{etag}");
        request.fields.push(("if-none-match".into(), etag));
        assert_eq!(site.respond(&request).status, 304);
    }

    fn folder(files: &[(&str, &[u8])]) -> (tempfile::TempDir, RuledSite) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, bytes) in files {
            std::fs::write(folder.path().join(name), bytes).expect("written");
        }
        let site = DirectorySite::open(folder.path()).expect("a folder");
        (folder, site.into())
    }

    fn got(site: &RuledSite, path: &str, fields: &[(&str, &str)]) -> Response {
        let mut request = Request::get("page.test", path);
        request.fields.extend(fields.iter().map(|(name, it)| ((*name).into(), (*it).into())));
        site.respond(&request)
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
        let gzip = got(&site, "/a.css", &[("accept-encoding", "gzip, br")]);
        let zstd = got(&site, "/a.css", &[("accept-encoding", "gzip, br, zstd")]);
        assert_eq!([&plain, &gzip, &zstd].map(coding), [None, Some("gzip"), Some("zstd")]);
        assert_eq!(zstd::decode_all(bytes(&zstd).as_slice()).expect("zstd"), text.as_bytes());
        let mut read = String::new();
        let gzipped = bytes(&gzip);
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&*gzipped), &mut read)
            .expect("gzip");
        assert_eq!(read, text);
        assert_eq!(plain.fields("vary").next(), None);
        for response in [&gzip, &zstd] {
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
        let site = RuledSite::from(DirectorySite::open(folder.path()).expect("a folder"));
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
        assert_eq!(location("//sub"), (404, None), "another host for a client");
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
        assert!(fifo.is_ok_and(|it| it.success()), "mkfifo is there");
        assert_eq!(status(&DirectorySite::open(&root).expect("a folder"), "/fifo"), 404);
        std::os::unix::fs::symlink(folder.path().join("secret"), root.join("link"))
            .expect("linked");
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
            ("//a%20b.html", 404),
            ("/a%00", 404),
            ("/sub//index.html", 200),
            ("/sub/./index.html", 404),
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
}
