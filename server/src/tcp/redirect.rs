//! Plain HTTP, which says only that the site is elsewhere.

use super::activity::{Activity, Noted, now};
use super::event_loop::{Current, News, Phase};
use super::http1::builder;
use super::linger::Lingering;
use super::request::request;
use crate::admission::Place;
use crate::site::RuledSite;
use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::{Body, Incoming};
use hyper::header::{HeaderValue, LOCATION};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use tokio::net::TcpStream;

/// Redirects a client to `https` at this port.
pub(super) async fn serve(
    stream: TcpStream,
    client: SocketAddr,
    current: Arc<Current>,
    mut news: News,
    port: u16,
    _place: Place,
) {
    let activity = Arc::new(Activity::new(&current.options.limits, now()));
    activity.begin(true, now());
    let address = client.ip().to_canonical();
    let service = service_fn(async |request: Request<Incoming>| {
        let (head, upload) = request.into_parts();
        activity.asked(now());
        if !upload.is_end_stream() {
            activity.left_unread();
        }
        activity.answered(now());
        Ok::<_, Infallible>(redirection(&head, address, &current.site, port))
    });
    let stream = TokioIo::new(Lingering::new(Noted::new(stream, &activity), &activity));
    let mut builder = builder(&current.options.limits);
    let connection = pin!(builder.keep_alive(false).serve_connection(stream, service));
    tokio::select! {
        // What is wrong with it costs the client, which is gone.
        _ = connection => {}
        () = activity.silence() => {}
        () = news.reached(Phase::Draining) => {}
    }
}

/// Where the same is over HTTPS. A host that the site does not have is not passed on to.
fn redirection(
    head: &Parts,
    client: IpAddr,
    site: &RuledSite,
    port: u16,
) -> Response<Empty<Bytes>> {
    let (request, refused) = request(head, client, now(), false);
    let mut response = Response::new(Empty::new());
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
