//! `utmost view`: a local page over a directory of logs.

mod host;
mod library;
mod upload;

use crate::limits::{VIEW_OPEN_MAX, VIEW_THREADS};
use crate::output;
use ::serve::Failure;
use host::is_own_host;
use library::Library;
use qlog_tools::naming::set_headings;
use report::viewer::{Report, differences, listing, recordings, report};
use std::io::Cursor;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tiny_http::{Header, Method, Request, Response, Server, StatusCode};
use url::form_urlencoded;

/// Open the logs of a directory in the browser, alone or side by side
///
/// Serves a page on 127.0.0.1 only and prints its address. Files that you drop on the page are read by this program and
/// kept in memory; nothing leaves the machine. Stop it with Ctrl-C.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  utmost view logs")]
pub(crate) struct Arguments {
    /// The directory, with logs in it or below it
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The port; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let library = RwLock::new(Library::open(&arguments.directory)?);
    let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let server = Server::http(wanted)
        .map_err(|error| Failure::Elsewhere(format!("{wanted}: {error}; choose another --port")))?;
    let address = server.server_addr().to_ip().unwrap_or(wanted);
    output::line(&format!("listening on http://{address}/"))?;
    let uploads = AtomicUsize::new(0);
    // Each takes one request at a time: a long report leaves the others to answer. A body that never comes holds up its own
    // thread only.
    std::thread::scope(|scope| {
        let (server, library, uploads) = (&server, &library, &uploads);
        for _ in 0..VIEW_THREADS {
            scope.spawn(move || {
                while let Ok(request) = server.recv() {
                    if has_body(&request) {
                        scope.spawn(move || respond(request, library, uploads, address.port()));
                    } else {
                        respond(request, library, uploads, address.port());
                    }
                }
            });
        }
    });
    Ok(())
}

fn respond(mut request: Request, library: &RwLock<Library>, uploads: &AtomicUsize, port: u16) {
    let answer = answer(&mut request, library, uploads, port);
    // The server goes on when a browser went away.
    request.respond(answer).ok();
}

/// Whether bytes follow its head, or may.
fn has_body(request: &Request) -> bool {
    let is_chunked = header(request, "transfer-encoding").is_some();
    is_chunked || request.body_length().is_some_and(|bytes| bytes > 0)
}

type Answer = Response<Cursor<Vec<u8>>>;

fn answer(
    request: &mut Request,
    library: &RwLock<Library>,
    uploads: &AtomicUsize,
    port: u16,
) -> Answer {
    let host = header(request, "host");
    // A page elsewhere whose name is made to point here (DNS rebinding) sends its own name.
    if !host.is_some_and(|host| is_own_host(&host, port)) {
        return refuse(403, "only 127.0.0.1 and localhost are served");
    }
    let url = request.url().to_owned();
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    match (request.method(), path) {
        (Method::Get, "/") => list(library),
        (Method::Get, "/report") => open(library, query),
        (Method::Post, "/upload") => {
            // Only a script of this page can set the type of what it sends; a form elsewhere cannot.
            if header(request, "content-type").as_deref() != Some(upload::MIME) {
                return refuse(415, "logs are sent by the page itself");
            }
            // Each may hold as much memory as a dropped file may have.
            let answer = if uploads.fetch_add(1, Ordering::Relaxed) < VIEW_THREADS {
                upload(request, library, query)
            } else {
                refuse(503, "other files are being dropped; try again")
            };
            uploads.fetch_sub(1, Ordering::Relaxed);
            answer
        }
        _ => refuse(404, "nothing here"),
    }
}

fn list(library: &RwLock<Library>) -> Answer {
    let library = reading(library);
    let directory = library.directory().display().to_string();
    html(listing(&directory, &library.files()))
}

fn open(library: &RwLock<Library>, query: &str) -> Answer {
    let names: Vec<String> = values(query, "file");
    if names.is_empty() || names.len() > VIEW_OPEN_MAX {
        return refuse(400, "name from one to eight files");
    }
    let traces = reading(library).read(&names);
    match traces {
        Ok(mut traces) => {
            set_headings(&mut traces, &[]);
            html(report(&Report {
                title: names.join(", "),
                recordings: recordings(&traces),
                differences: differences(&traces),
                side_by_side: true,
                provenance: serde_json::Value::Null,
            }))
        }
        Err(failure) => refuse(422, &failure.to_string()),
    }
}

fn upload(request: &mut Request, library: &RwLock<Library>, query: &str) -> Answer {
    let name = values(query, "name").pop().unwrap_or_else(|| "dropped".to_owned());
    match upload::take(request.as_reader(), &name) {
        // Nobody waits for the upload itself.
        Ok((name, bytes)) => match writing(library).add(&name, bytes) {
            Ok(()) => answer_with(200, "text/plain; charset=utf-8", name.into_bytes()),
            Err(failure) => refuse(422, &failure.to_string()),
        },
        Err(failure) => refuse(413, &failure.to_string()),
    }
}

/// A thread that panicked has left the library as it was: it changes in one step.
fn reading(library: &RwLock<Library>) -> RwLockReadGuard<'_, Library> {
    library.read().unwrap_or_else(PoisonError::into_inner)
}

fn writing(library: &RwLock<Library>) -> RwLockWriteGuard<'_, Library> {
    library.write().unwrap_or_else(PoisonError::into_inner)
}

/// The values of a parameter of a query.
fn values(query: &str, name: &str) -> Vec<String> {
    let pairs = form_urlencoded::parse(query.as_bytes());
    pairs.filter(|(key, _)| key == name).map(|(_, value)| value.into_owned()).collect()
}

fn header(request: &Request, name: &str) -> Option<String> {
    let found =
        request.headers().iter().find(|it| it.field.as_str().as_str().eq_ignore_ascii_case(name));
    found.map(|it| it.value.as_str().to_owned())
}

fn html(page: String) -> Answer {
    answer_with(200, "text/html; charset=utf-8", page.into_bytes())
}

fn refuse(status: u16, why: &str) -> Answer {
    answer_with(status, "text/plain; charset=utf-8", format!("{why}\n").into_bytes())
}

fn answer_with(status: u16, mime: &str, body: Vec<u8>) -> Answer {
    let mut response = Response::from_data(body).with_status_code(StatusCode(status));
    let fields = [
        ("Content-Type", mime),
        ("X-Content-Type-Options", "nosniff"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cache-Control", "no-store"),
    ];
    for (name, value) in fields {
        if let Ok(field) = Header::from_bytes(name, value) {
            response.add_header(field);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_names_several_files() {
        let query = "file=a%20b.sqlog&file=%2e%2e%2Fx&other=1&file=100%";
        assert_eq!(values(query, "file"), ["a b.sqlog", "../x", "100%"]);
        assert_eq!(values("q=%C3%A4+%zz%", "q"), ["ä %zz%"]);
    }
}
