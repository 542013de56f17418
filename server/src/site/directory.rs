//! A directory as a site.

use super::{Body, Request, Response, Site};
use percent_encoding::percent_decode_str;
use schedulers::{Kind, Resource};
use std::fs::{File, Metadata};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// Serves the files below a directory; a path that ends in `/` means its `index.html`.
pub struct DirectorySite {
    root: PathBuf,
}

/// A directory that cannot be served.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum OpenError {
    #[error("{0}: {1}; --root takes a readable directory")]
    Unreadable(PathBuf, #[source] std::io::Error),
    #[error("{0}: not a directory; --root takes a directory")]
    NotADirectory(PathBuf),
}

impl DirectorySite {
    /// A site of the files below `root`.
    pub fn open(root: &Path) -> Result<Self, OpenError> {
        let resolved =
            root.canonicalize().map_err(|source| OpenError::Unreadable(root.to_owned(), source))?;
        if !resolved.is_dir() {
            return Err(OpenError::NotADirectory(root.to_owned()));
        }
        Ok(Self { root: resolved })
    }

    /// The file that a request path means, if it lies below the root (symbolic links resolved).
    fn locate(&self, path: &str) -> Option<PathBuf> {
        let path = path.split(['?', '#']).next()?;
        let decoded = percent_decode_str(path).decode_utf8().ok()?;
        let relative = Path::new(decoded.strip_prefix('/')?);
        let plain = relative.components().all(|it| matches!(it, Component::Normal(_)));
        if !plain || decoded.contains('\0') {
            return None;
        }
        let mut file = self.root.join(relative);
        if decoded.ends_with('/') {
            file.push("index.html");
        }
        let resolved = file.canonicalize().ok()?;
        resolved.starts_with(&self.root).then_some(resolved)
    }
}

impl Site for DirectorySite {
    fn respond(&self, request: &Request) -> Response {
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return Response::only_get_and_head();
        }
        let Some(path) = self.locate(&request.path) else { return Response::empty(404) };
        // Before it is opened: to open a pipe waits for its other end.
        if !path.is_file() {
            return Response::empty(404);
        }
        let Ok(file) = File::open(&path) else { return Response::empty(404) };
        let Ok(metadata) = file.metadata() else { return Response::empty(404) };
        let mime = mime_guess::from_path(&path).first_or_octet_stream();
        let kind = Kind::of_mime(mime.essence_str());
        let resource = Resource {
            kind,
            // A folder does not say who refers to its files; of stylesheets it is nearly always a head.
            in_head: kind == Kind::Css,
            body_bytes: Some(metadata.len()),
            ..Resource::default()
        };
        let headers = [("content-type".into(), mime.to_string())].into_iter();
        Response {
            headers: headers.chain(etag(&metadata).map(|it| ("etag".into(), it))).collect(),
            body: Body::File(Arc::new(file), metadata.len()),
            resource,
            ..Response::empty(200)
        }
    }
}

/// As NGINX makes it: when the file was changed, and its size.
fn etag(metadata: &Metadata) -> Option<String> {
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("\"{:x}-{:x}\"", changed.as_secs(), metadata.len()))
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
            ("a", 404),
            ("", 404),
        ];
        for (path, expected) in cases {
            assert_eq!(status(&site, path), expected, "{path}");
        }
    }
}
