//! A directory as a site.

use super::hot_files::{HotFile, HotFiles};
use super::{Body, Request, Response, Site};
use crate::FileLimits;
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
        Ok(Self { files: HotFiles::new(resolved, limits) })
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
        let Some(path) = wanted(&request.path) else { return Response::empty(404) };
        match self.files.find(&path, request.asked_at) {
            Ok(file) => response(&file),
            Err(error) if is_missing(&error) => Response::empty(404),
            Err(_) => Response::unavailable(),
        }
    }
}

fn response(file: &HotFile) -> Response {
    let bytes = file.version.bytes;
    let resource = Resource {
        kind: file.kind,
        // A folder does not say who refers to its files; of stylesheets it is nearly always a head.
        in_head: file.kind == Kind::Css,
        body_bytes: Some(bytes),
        ..Resource::default()
    };
    Response {
        headers: vec![
            ("content-type".into(), file.mime.clone()),
            ("etag".into(), file.version.etag()),
        ],
        body: Body::File(Arc::clone(&file.contents), bytes),
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
            ("/sub", 404),
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
