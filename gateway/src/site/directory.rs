//! A directory as a site.

#[cfg(test)]
mod tests;

use super::codings::Coding;
use super::compressed::{Compressed, Made};
use super::hot_files::{HotFile, HotFiles, is_hidden};
use super::types;
use hyper::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderValue,
    LAST_MODIFIED, LOCATION, RANGE, VARY,
};
use nix::errno::Errno;
use percent_encoding::percent_decode_str;
use schedulers::{Kind, Resource};
use server::FileLimits;
use server::site::fields::{fields, value};
use server::site::paths::encoded;
use server::site::{Body, Later, Request, Response, Site};
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

    /// The same with other limits.
    pub fn within(root: &Path, limits: FileLimits) -> Result<Self, OpenError> {
        let resolved =
            root.canonicalize().map_err(|source| OpenError::Unreadable(root.to_owned(), source))?;
        if !resolved.is_dir() {
            return Err(OpenError::NotADirectory(root.to_owned()));
        }
        Ok(Self { files: HotFiles::new(resolved, limits), compressed: Compressed::new() })
    }
}

/// The decoded path of the requested file, if a file at that path may be served.
fn wanted(path: &str) -> Option<Cow<'_, str>> {
    let path = path.split('?').next()?;
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    let is_plain = decoded.starts_with('/') && !decoded.contains('\0');
    (is_plain && !decoded.split('/').any(|it| is_hidden(it.as_ref()))).then(|| as_file(decoded))
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

    /// Without this field, a browser considers a copy fresh for a tenth of its age (RFC 9111, 4.2.2), and shows a new page
    /// with an old stylesheet.
    fn usual_freshness(&self) -> Option<&'static str> {
        Some("no-cache")
    }
}

impl DirectorySite {
    /// A file, in a coding that the client accepts.
    fn response(&self, request: &Request, path: &str, file: &Arc<HotFile>) -> Response {
        let field = request.list(ACCEPT_ENCODING).unwrap_or_default();
        let accepted = Coding::accepted(&field);
        let is_made = types::is_compressible(file.mime.to_str().unwrap_or_default());
        // A promised request has no such field on which it could vary, and its answer suits every client.
        let varies = (is_made || !file.coded.is_empty()) && !(request.pushed && field.is_empty());
        if let Some(beside) = self.beside(request, path, file, &accepted) {
            return varied(beside, varies);
        }
        // Range requests get ranges of the uncompressed file.
        if is_made && request.field(RANGE).is_none() {
            for coding in accepted {
                match self.compressed.get(file, coding, request.asked_at) {
                    Made::Here(bytes) => return varied(made(file, bytes, coding), varies),
                    Made::Later => return self.awaited(file, coding, varies),
                    Made::Not => {}
                }
            }
        }
        varied(plain(file), varies)
    }

    /// A file beside this one that holds it in a coding.
    fn beside(
        &self,
        request: &Request,
        path: &str,
        file: &HotFile,
        accepted: &[Coding],
    ) -> Option<Response> {
        accepted.iter().filter(|it| file.coded.contains(it)).find_map(|coding| {
            let beside = self.files.find(&format!("{path}{}", coding.ending()), request.asked_at);
            let beside = beside.ok()?;
            Some(in_coding(response(file, &beside), *coding))
        })
    }

    /// A file in a coding, which follows once it is compressed.
    fn awaited(&self, file: &Arc<HotFile>, coding: Coding, varies: bool) -> Response {
        let (maker, later) = Later::made_here();
        let of = Arc::clone(file);
        let then = move |bytes: Option<Arc<[u8]>>| {
            let response = bytes.map_or_else(|| plain(&of), |it| made(&of, it, coding));
            maker.answer_whole(varied(response, varies));
        };
        if !self.compressed.make(Arc::clone(file), coding, then) {
            return varied(plain(file), varies);
        }
        Response { body: Body::Later(later.into()), ..varied(plain(file), varies) }
    }

    /// The answer if there is no such file: a redirect to the folder of this name, or an error.
    fn absent(&self, request: &Request, path: &str) -> Response {
        let (plain, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let index = format!("{path}/index.html");
        if plain.ends_with('/') || self.files.find(&index, request.asked_at).is_err() {
            return not_found(request);
        }
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        // From the normalized path: with two leading slashes, it would name another host.
        let headers = fields([(LOCATION, format!("{}/{query}", encoded(path.as_bytes())))]);
        Response { headers, ..Response::empty(301) }
    }
}

/// The answer for a missing file. A client that shows pages gets an HTML page.
fn not_found(request: &Request) -> Response {
    let shows_page = request.list("accept").is_some_and(|it| it.contains("text/html"));
    if shows_page { Response::not_found() } else { Response::empty(404) }
}

/// A file without a coding.
fn plain(file: &HotFile) -> Response {
    response(file, file)
}

/// A file in a coding made by this server.
fn made(file: &HotFile, bytes: Arc<[u8]>, coding: Coding) -> Response {
    let mut response = plain(file);
    response.body = Body::Bytes(bytes);
    response.resource.body_bytes = Some(response.body.bytes());
    in_coding(response, coding)
}

/// Sets the coding of a response. Each coding has its own tag (RFC 9110, 8.8.1).
fn in_coding(mut response: Response, coding: Coding) -> Response {
    let tag = response.fields("etag").next().unwrap_or_default().trim_end_matches('"');
    let tag = value(format!("{tag}-{}\"", coding.name()));
    response.headers.insert(ETAG, tag);
    response.headers.append(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    response
}

/// Marks a response that other clients may get in another coding, even if this one has none (RFC 9110, 12.5.5).
fn varied(mut response: Response, varies: bool) -> Response {
    if varies {
        response.headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    }
    response
}

/// The response about a file with the contents of `stored`.
fn response(file: &HotFile, stored: &HotFile) -> Response {
    let body = Body::File(Arc::clone(&stored.contents), stored.version.bytes);
    let resource = Resource {
        kind: file.kind,
        // A folder does not show which pages use its files; for stylesheets it is nearly always in a head.
        in_head: file.kind == Kind::Css,
        body_bytes: Some(body.bytes()),
        ..Resource::default()
    };
    Response {
        headers: fields([
            (CONTENT_TYPE, file.mime.clone()),
            (ETAG, stored.tag.clone()),
            (LAST_MODIFIED, stored.changed.clone()),
            (ACCEPT_RANGES, HeaderValue::from_static("bytes")),
        ]),
        body,
        resource,
        is_told_by_time: stored.version.is_told_by_time(),
        ..Response::empty(200)
    }
}

/// Whether the error means that no client can get the file. An unreadable file counts as missing, so that clients do not learn
/// of it. Other errors, such as too many open files, are the server's and may pass.
fn is_missing(error: &io::Error) -> bool {
    use ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound, PermissionDenied};
    let leads_nowhere = error.raw_os_error() == Some(Errno::ELOOP as i32);
    let kinds = [NotFound, NotADirectory, PermissionDenied, InvalidInput, InvalidFilename];
    leads_nowhere || kinds.contains(&error.kind())
}
