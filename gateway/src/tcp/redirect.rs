//! Plain HTTP, which only redirects to HTTPS.

use super::activity::{Activity, Noted, now};
use super::event_loop::{Current, News, Phase};
use super::http1::builder;
use super::linger::Lingering;
use super::request::request;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use server::population::Place;
use server::site::Site;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use tokio::net::TcpStream;

/// The response to plain HTTP at the HTTPS port.
const WRONG_PORT: &str =
    "This port serves HTTPS. Request the same address with https:// instead of http://.\n";

/// Redirects a client to `https` at this port.
pub(super) async fn serve(
    stream: TcpStream,
    client: SocketAddr,
    current: Arc<Current>,
    news: News,
    port: u16,
    _place: Place,
) {
    let Ok(local) = stream.local_addr() else { return };
    let client = client.ip().to_canonical();
    let answer = |head: Parts| redirection(head, client, local, &current.site, port);
    answer_one(stream, &current, news, answer).await;
}

/// Tells a client that this is the HTTPS port.
pub(super) async fn refuse(stream: TcpStream, current: &Current, news: News) {
    let answer = |_: Parts| {
        let mut response = Response::new(Full::from(WRONG_PORT));
        *response.status_mut() = StatusCode::BAD_REQUEST;
        let text = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, text);
        response
    };
    answer_one(stream, current, news, answer).await;
}

/// Answers the first request of a connection.
async fn answer_one(
    stream: TcpStream,
    current: &Current,
    mut news: News,
    answer: impl Fn(Parts) -> Response<Full<Bytes>>,
) {
    let activity = Arc::new(Activity::new(&current.options.limits, now()));
    activity.begin(true, now());
    let service = service_fn(async |request: Request<Incoming>| {
        let (head, upload) = request.into_parts();
        activity.asked(now());
        if !upload.is_end_stream() {
            activity.left_unread();
        }
        activity.answered(now());
        Ok::<_, Infallible>(answer(head))
    });
    let stream = TokioIo::new(Lingering::new(Noted::new(stream, &activity), &activity));
    let mut builder = builder(&current.options);
    let connection = pin!(builder.keep_alive(false).serve_connection(stream, service));
    tokio::select! {
        // A failure affects only the client, which has disconnected.
        _ = connection => {}
        () = activity.silence() => {}
        () = news.reached(Phase::Draining) => {}
    }
}

/// The HTTPS URL of the same resource. Hosts that the site does not have are not redirected.
fn redirection(
    head: Parts,
    client: IpAddr,
    local: SocketAddr,
    site: &dyn Site,
    port: u16,
) -> Response<Full<Bytes>> {
    let (request, refused) = request(head, client, local, now(), false);
    let mut response = Response::new(Full::default());
    let host = request.host();
    let port = if port == 443 { String::new() } else { format!(":{port}") };
    let location = HeaderValue::from_str(&format!("https://{host}{port}{}", request.path));
    *response.status_mut() = match (refused.and_then(|it| StatusCode::from_u16(it).ok()), location)
    {
        (Some(status), _) => status,
        (None, _) if !site.is_for(host) => StatusCode::MISDIRECTED_REQUEST,
        (None, Ok(location)) if request.path.starts_with('/') => {
            response.headers_mut().insert(LOCATION, location);
            StatusCode::PERMANENT_REDIRECT
        }
        _ => StatusCode::BAD_REQUEST,
    };
    response
}
