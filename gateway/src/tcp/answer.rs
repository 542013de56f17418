//! Answers a request that arrived over TCP.

use super::activity::{Activity, now};
use super::request::{has_too_many_fields, request};
use super::response_report::ResponseReport;
use super::source::{OfBackend, Source};
use super::waiting::Waiting;
use bytes::Bytes;
use hyper::body::Frame;
use hyper::header::HeaderMap;
use hyper::http::request::Parts;
use server::account::{Account, Held};
use server::coming::{Coming, Next, Rest};
use server::site::{BackendFailure, Body, Later, Request, Response, Site};
use server::{Options, head};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Weak};
use tokio::sync::watch::{Receiver, channel};

/// The client of one connection, and the site it uses.
#[derive(Clone)]
pub(super) struct Guest {
    pub(super) site: Arc<dyn Site>,
    pub(super) options: Arc<Options>,
    pub(super) address: IpAddr,
    /// Where the client has connected to.
    pub(super) local: SocketAddr,
    pub(super) activity: Arc<Activity>,
    pub(super) waiting: Arc<Waiting>,
    pub(super) account: Account,
}

impl Guest {
    /// Reserves the shared memory for a head; `None` if there is no room, or it has too many fields.
    pub(super) fn admit(&self, fields: &HeaderMap) -> Option<Held> {
        let bytes = fields.iter().map(|(name, value)| name.as_str().len() + value.len());
        if has_too_many_fields(fields) { None } else { self.account.hold_head(bytes) }
    }
}

pub(super) struct Answer {
    /// Status and fields.
    pub(super) head: hyper::Response<()>,
    pub(super) source: Source,
    pub(super) report: ResponseReport,
}

/// The body of a request.
pub(super) trait Upload: Send + 'static {
    /// The next bytes, or the trailer fields after them; `None` at the end. `Err`: the client has disconnected, or broken
    /// the rules.
    fn next(&mut self) -> impl Future<Output = Result<Option<Frame<Bytes>>, ()>> + Send;

    /// Ends an upload whose rest is not needed. `is_withheld`: the client sends the body only on request.
    fn leave(self, activity: &Arc<Activity>, is_withheld: bool) -> impl Future<Output = ()> + Send;
}

/// Events of a response before its head.
pub(super) enum Ahead<'a> {
    /// The site has answered; the body may follow later.
    Placed(&'a Request, &'a Response),
    Interim(Interim<'a>),
}

/// Interim responses before the head of a response.
pub(super) enum Interim<'a> {
    /// Asks the client to send the body of its request (RFC 9110, 15.2.1).
    Continue,
    /// Early hints, with these `Link` fields.
    Hints(&'a [String]),
}

/// Answers an admitted request, or rejects it. `ahead` gets everything known before the head.
pub(super) async fn answer(
    guest: &Guest,
    head: Parts,
    held: Option<Held>,
    upload: impl Upload,
    mut ahead: impl FnMut(Ahead<'_>) + Send,
) -> Answer {
    let (request, refused) =
        request(head, guest.address, guest.local, now(), guest.options.websockets);
    let refused = if held.is_none() { Some(431) } else { refused };
    let request = Request { held: held.unwrap_or_default(), ..request };
    let request = guest.options.proxies.seen_through(request);
    let mut report = ResponseReport::begin(&guest.options.observers, &guest.activity, &request);
    let response = head::ask_site(guest.site.as_ref(), &request, refused);
    ahead(Ahead::Placed(&request, &response));
    let (response, source) = if let Body::Later(later) = &response.body {
        let later = Arc::clone(later);
        // In a box: few responses need its kilobyte, and the task of each is moved.
        let hints = &response.ahead.hints;
        Box::pin(relayed(guest, &request, later, hints, upload, &mut report, &mut ahead)).await
    } else {
        hint(&response.ahead.hints, &mut ahead);
        upload.leave(&guest.activity, request.awaits_continue()).await;
        (response, None)
    };
    report.status(response.status);
    let head = proper_head(&response, source.is_none(), guest);
    let source = match source {
        _ if !head::has_body(&request, response.status) => Source::empty(),
        Some(source) => source,
        None => Source::of(response),
    };
    if !source.is_over() {
        report.head(head.headers());
    }
    source.head().await;
    Answer { head, source, report }
}

/// Passes hints on, if there are any.
fn hint(links: &[String], ahead: &mut (impl FnMut(Ahead<'_>) + Send)) {
    if !links.is_empty() {
        ahead(Ahead::Interim(Interim::Hints(links)));
    }
}

/// A response that a backend brings: its head, and where its body comes from if it is not here. `hints` are the site's.
async fn relayed(
    guest: &Guest,
    request: &Request,
    later: Arc<Later>,
    hints: &[String],
    upload: impl Upload,
    report: &mut ResponseReport,
    ahead: &mut (impl FnMut(Ahead<'_>) + Send),
) -> (Response, Option<Source>) {
    let Some(room) = guest.waiting.relayed() else {
        upload.leave(&guest.activity, request.awaits_continue()).await;
        return (BackendFailure::Busy.response(), None);
    };
    if request.awaits_continue() {
        ahead(Ahead::Interim(Interim::Continue));
    }
    let (coming, news) = begin(guest, request, (later, !hints.is_empty()), upload);
    hint(hints, ahead);
    from_backend(OfBackend::new(coming, news, room), report, ahead).await
}

/// Starts a response, with a bell for its events, and passes the request's body to its backend.
fn begin(
    guest: &Guest,
    request: &Request,
    later: (Arc<Later>, bool),
    upload: impl Upload,
) -> (Coming, Receiver<()>) {
    let (bell, news) = channel(());
    let ring = Arc::new(move || bell.send_replace(()));
    let site = Arc::clone(&guest.site);
    let coming = Coming::begin(site, request.clone(), later, &guest.options.observers, ring);
    let (later, activity) = (Arc::downgrade(&coming.later), Arc::clone(&guest.activity));
    let is_tunnel = coming.later.is_tunnel();
    if request.upgrade.is_some() && !is_tunnel {
        // The backend of this route takes no WebSockets, so it gets a usual request (RFC 9110, 7.8), whose body is empty.
        coming.later.end_upload();
        return (coming, news);
    }
    tokio::spawn(feed(upload, later, news.clone(), activity, is_tunnel));
    (coming, news)
}

/// The next head, and the source of its body unless it is complete.
async fn from_backend(
    mut relay: OfBackend,
    report: &mut ResponseReport,
    ahead: &mut (impl FnMut(Ahead<'_>) + Send),
) -> (Response, Option<Source>) {
    loop {
        let next = match relay.coming.next(0) {
            None if relay.news.changed().await.is_err() => relay.coming.headless(),
            None => continue,
            Some(next) => next,
        };
        match next {
            Next::Ahead(came) => hint(&came.hints, ahead),
            Next::Head(response, Rest::Here | Rest::Instead) => return (*response, None),
            Next::Head(response, rest) => {
                if rest == Rest::Tunnel {
                    report.opened();
                }
                return (*response, Some(Source::Backend(relay.into())));
            }
            // Nothing else precedes a head, and no TCP request arrives before the handshake is complete.
            Next::TooEarly | Next::Body(_) | Next::End(_) | Next::Broken(_) => {}
        }
    }
}

/// Passes the body of a request to the backend until the response is over.
async fn feed(
    mut upload: impl Upload,
    later: Weak<Later>,
    news: Receiver<()>,
    activity: Arc<Activity>,
    is_tunnel: bool,
) {
    let mut over = news.clone();
    let feeding = async {
        loop {
            let piece = upload.next().await;
            let bytes = match piece.map(|it| it.map(Frame::into_data)) {
                Ok(Some(Ok(bytes))) => bytes,
                Ok(Some(Err(frame))) => {
                    end_upload(&later, &frame.into_trailers().unwrap_or_default());
                    return true;
                }
                Ok(None) => {
                    end_upload(&later, &HeaderMap::new());
                    return true;
                }
                Err(()) => {
                    later.upgrade().iter().for_each(|it| it.break_upload());
                    return true;
                }
            };
            activity.used(bytes.len());
            if !give(&later, &bytes, news.clone()).await {
                return false;
            }
        }
    };
    let is_over = tokio::select! {
        is_over = feeding => is_over,
        // The bell is gone, and with it the exchange.
        () = async { while over.changed().await.is_ok() {} } => false,
    };
    // A tunnel's end is the end of both directions.
    if !is_over && !is_tunnel {
        upload.leave(&activity, false).await;
    }
}

/// Ends the body of a request, with these trailer fields.
fn end_upload(later: &Weak<Later>, trailers: &HeaderMap) {
    let Some(later) = later.upgrade() else { return };
    later.trail(trailers);
    later.end_upload();
}

/// Waits for room, and passes the bytes on. Returns `false` if the response is over.
async fn give(later: &Weak<Later>, bytes: &[u8], mut news: Receiver<()>) -> bool {
    loop {
        let Some(later) = later.upgrade() else { return false };
        if later.has_room() {
            later.give(bytes);
            return true;
        }
        drop(later);
        if news.changed().await.is_err() {
            return false;
        }
    }
}

/// The head in the libraries' form.
fn proper_head(response: &Response, is_here: bool, guest: &Guest) -> hyper::Response<()> {
    let mut head = hyper::Response::new(());
    *head.status_mut() = hyper::StatusCode::from_u16(response.status).unwrap_or_default();
    *head.headers_mut() = head::fields(response, is_here, &guest.options);
    head
}
