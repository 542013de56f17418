//! `utmost view`: local pages in a browser: the workbench, a study, or a directory of logs.

mod admission;
mod dropped_pages;
mod library;
mod server;
mod study_room;
mod upload;
mod workbench;

use crate::commands::qlog::summary;
use crate::limits::{
    PAGE_UPLOAD_BYTES_MAX, UPLOAD_BYTES_MAX, VIEW_OPEN_MAX, VIEW_ROWS_MAX, VIEW_THREADS,
};
use crate::output;
use ::serve::Failure;
use admission::{Token, refusal};
use figures::number_texts::bytes_text;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode};
use library::Library;
use qlog_tools::naming::set_headings;
use qlog_tools::trace::Detail;
use report::viewer::{Report, differences, listing, recordings, report};
use serde_json::{Value, json};
use server::{Answer, serve};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use study_room::StudyRoom;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use url::form_urlencoded;
use workbench::Workbench;

/// Try send orders on a page in the browser, or open a study or the logs of a directory
///
/// Serves pages on 127.0.0.1 only and prints their address, which has a token. Without DIR it is the workbench: choose a page, drop a
/// recording or record a URL, change its order and the network, and see what a visitor sees. With a DIR that `compare --out` wrote it is
/// the study: choose two schemes and a metric. With another DIR it is the list of the logs there. Files that you drop on a page are read
/// by this program and kept in memory. Nothing leaves the machine, except what a page asks for that you record. Stop it with Ctrl-C.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  utmost view\n  utmost view study\n  utmost view logs\n  utmost view logs --follow"
)]
pub(crate) struct Arguments {
    /// A study's folder, or a directory with logs in it or below it
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
    /// The port; 0 picks a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Reload logs when they have grown, and show new ones
    #[arg(long, requires = "directory")]
    follow: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let library = RwLock::new(Library::open(arguments.directory.as_deref())?);
    let token = Token::random()?;
    let study = StudyRoom::new(arguments.directory.as_deref());
    let room = match (&arguments.directory, study.has_study()) {
        (_, true) => "study",
        (Some(_), false) => "logs",
        (None, false) => "",
    };
    let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(2 * VIEW_THREADS)
        .build()
        .map_err(Failure::elsewhere)?;
    runtime.block_on(async {
        let taken = |error| Failure::Elsewhere(format!("{wanted}: {error}; choose another --port"));
        let listener = TcpListener::bind(wanted).await.map_err(taken)?;
        let address = listener.local_addr().map_err(Failure::elsewhere)?;
        output::line(&format!("listening on http://{address}/{token}/{room}"))?;
        let uploads = Semaphore::new(VIEW_THREADS);
        let port = address.port();
        let workbench = Arc::new(Workbench::new());
        let follows = arguments.follow;
        let view = Arc::new(View { library, study, workbench, uploads, token, port, follows });
        serve(listener, move |request| answer(Arc::clone(&view), request)).await;
        Ok(())
    })
}

struct View {
    library: RwLock<Library>,
    study: StudyRoom,
    workbench: Arc<Workbench>,
    /// Each permit may use as much memory as a dropped file may have.
    uploads: Semaphore,
    token: Token,
    port: u16,
    /// Whether pages ask for logs that have grown.
    follows: bool,
}

/// The content type with which the page's script sends a log. A form on another site cannot set it.
const LOG: &str = "application/x-qlog";

const BUSY: &str = "other files are being dropped; try again";

async fn answer(view: Arc<View>, request: Request<Incoming>) -> Answer {
    if let Some(why) = refusal(request.headers(), view.port) {
        return refuse(403, why);
    }
    let Some(place) = view.token.below(request.uri().path()).map(str::to_owned) else {
        return refuse(403, "the address has a token: open it whole, as the program printed it");
    };
    let query = request.uri().query().unwrap_or_default().to_owned();
    match (request.method(), &*place) {
        (&Method::GET, "logs") => computed(move || list(&view)).await,
        (&Method::GET, "rows") => computed(move || rows(&view.library, &query)).await,
        (&Method::GET, "sizes") => computed(move || sizes(&view.library, &query)).await,
        (&Method::GET, "report") => computed(move || open(&view, &query)).await,
        (&Method::GET, "studied") => computed(move || document(view.study.study(&query))).await,
        (&Method::GET, "loads") => computed(move || document(view.study.loads(&query))).await,
        (&Method::POST, "drop" | "pdf") => {
            let Ok(_place) = view.uploads.try_acquire() else { return refuse(503, BUSY) };
            workbench::answer(&view.workbench, &place, request).await
        }
        (&Method::POST, "study") if has_type(&request, "application/json") => {
            let Ok(_place) = view.uploads.try_acquire() else { return refuse(503, BUSY) };
            match upload::take(request.into_body(), "the study", PAGE_UPLOAD_BYTES_MAX).await {
                Ok(files) => {
                    let view = Arc::clone(&view);
                    computed(move || document(view.study.take(&files))).await
                }
                Err(failure) => refuse(413, &failure.to_string()),
            }
        }
        (&Method::POST, "upload") => {
            if !has_type(&request, LOG) {
                return refuse(415, "logs are sent by the page itself");
            }
            let Ok(_place) = view.uploads.try_acquire() else { return refuse(503, BUSY) };
            let name = upload::name_of(parameters(&query, "name").pop());
            match upload::take(request.into_body(), &name, UPLOAD_BYTES_MAX).await {
                Ok(bytes) => {
                    let view = Arc::clone(&view);
                    computed(move || add(&view.library, format!("dropped: {name}"), bytes)).await
                }
                Err(failure) => refuse(413, &failure.to_string()),
            }
        }
        _ => workbench::answer(&view.workbench, &place, request).await,
    }
}

fn has_type(request: &Request<Incoming>, wanted: &str) -> bool {
    request.headers().get("content-type").is_some_and(|it| it == wanted)
}

/// An answer that takes time, on a thread of its own: a long report leaves others to answer.
async fn computed(compute: impl FnOnce() -> Answer + Send + 'static) -> Answer {
    // It has panicked.
    spawn_blocking(compute).await.unwrap_or_else(|_| refuse(500, "an error of this program"))
}

fn list(view: &View) -> Answer {
    let library = reading(&view.library);
    let directory = library.directory().map(|it| it.display().to_string());
    html(listing(directory.as_deref(), &library.files(), view.follows))
}

fn sizes(library: &RwLock<Library>, query: &str) -> Answer {
    let names: Vec<String> = parameters(query, "file");
    answer_with(200, "application/json", sizes_of(&reading(library), &names).into_bytes())
}

/// By name, in bytes and in words; without names, for all files.
fn sizes_of(library: &Library, names: &[String]) -> String {
    let mut files = library.files();
    files.retain(|it| names.is_empty() || names.contains(&it.name));
    let sizes = files.into_iter().map(|it| (it.name, json!([it.bytes, bytes_text(it.bytes)])));
    Value::Object(sizes.collect()).to_string()
}

/// The rows of `qlog summary --csv` for the connections of some files, for the list of logs.
fn rows(library: &RwLock<Library>, query: &str) -> Answer {
    let names: Vec<String> = parameters(query, "file");
    if names.is_empty() || names.len() > VIEW_ROWS_MAX {
        return refuse(400, &format!("name from one to {VIEW_ROWS_MAX} files"));
    }
    let files = names.iter().map(|name| {
        match reading(library).read(std::slice::from_ref(name), Detail::Full) {
            Ok(traces) => json!({"file": name, "rows": summary::rows(&traces)}),
            Err(failure) => json!({"file": name, "rows": [], "refused": failure.to_string()}),
        }
    });
    let files = files.collect::<Vec<Value>>();
    answer_with(200, "application/json", json!(files).to_string().into_bytes())
}

fn open(view: &View, query: &str) -> Answer {
    let names: Vec<String> = parameters(query, "file");
    if names.is_empty() || names.len() > VIEW_OPEN_MAX {
        return refuse(400, "name from one to eight files");
    }
    // Taken before reading: whatever is added meanwhile counts as growth.
    let follow = view.follows.then(|| sizes_of(&reading(&view.library), &names));
    let traces = reading(&view.library).read(&names, Detail::Events);
    match traces {
        Ok(mut traces) => {
            set_headings(&mut traces, &[]);
            html(report(&Report {
                title: names.join(", "),
                recordings: recordings(&traces),
                differences: differences(&traces),
                side_by_side: true,
                provenance: Value::Null,
                follow,
            }))
        }
        Err(failure) => refuse(422, &failure.to_string()),
    }
}

fn add(library: &RwLock<Library>, name: String, bytes: Vec<u8>) -> Answer {
    match writing(library).add(&name, bytes) {
        Ok(()) => answer_with(200, "text/plain; charset=utf-8", name.into_bytes()),
        Err(failure) => refuse(422, &failure.to_string()),
    }
}

/// Reads the library. A thread that panicked cannot have left it inconsistent, because it changes in one step.
fn reading(library: &RwLock<Library>) -> RwLockReadGuard<'_, Library> {
    library.read().unwrap_or_else(PoisonError::into_inner)
}

fn writing(library: &RwLock<Library>) -> RwLockWriteGuard<'_, Library> {
    library.write().unwrap_or_else(PoisonError::into_inner)
}

fn parameters(query: &str, name: &str) -> Vec<String> {
    let pairs = form_urlencoded::parse(query.as_bytes());
    pairs.filter(|(key, _)| key == name).map(|(_, value)| value.into_owned()).collect()
}

/// JSON, or the reason why there is none.
fn document(answer: Result<String, Failure>) -> Answer {
    match answer {
        Ok(document) => answer_with(200, "application/json", document.into_bytes()),
        Err(failure) => refuse(422, &failure.to_string()),
    }
}

fn html(page: String) -> Answer {
    answer_with(200, "text/html; charset=utf-8", page.into_bytes())
}

fn refuse(status: u16, why: &str) -> Answer {
    answer_with(status, "text/plain; charset=utf-8", format!("{why}\n").into_bytes())
}

fn answer_with(status: u16, mime: &'static str, body: Vec<u8>) -> Answer {
    let mut response = Answer::new(Bytes::from(body).into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    let fields = [
        ("content-type", mime),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-resource-policy", "same-origin"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ];
    let field = |(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value));
    response.headers_mut().extend(fields.map(field));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_names_several_files() {
        let query = "file=a%20b.sqlog&file=%2e%2e%2Fx&other=1&file=100%";
        assert_eq!(parameters(query, "file"), ["a b.sqlog", "../x", "100%"]);
        assert_eq!(parameters("q=%C3%A4+%zz%", "q"), ["ä %zz%"]);
    }
}
