//! Answers a request that came over TCP.

use super::activity::{Activity, now};
use super::request::{has_too_many_fields, request};
use super::source::{OfBackend, Source};
use super::told::Told;
use super::waiting::Waiting;
use bytes::Bytes;
use hyper::body::Frame;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use server::account::{HeadRoom, Held};
use server::client::{Allowances, Client};
use server::early_data::is_safe;
use server::site::{Body, Later, Piece, Request, Response, Site, Trouble};
use server::{Event, Options, head};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Weak};
use tokio::sync::watch::{Receiver, channel};

/// The client of one connection, and the site that it asks.
#[derive(Clone)]
pub(super) struct Guest {
    pub(super) site: Arc<dyn Site>,
    pub(super) options: Arc<Options>,
    pub(super) address: IpAddr,
    /// Where the client has connected to.
    pub(super) local: SocketAddr,
    pub(super) activity: Arc<Activity>,
    pub(super) waiting: Arc<Waiting>,
    /// For decoded heads.
    pub(super) head_room: HeadRoom,
    /// What is left to each client of heads that are refused after they were decoded.
    pub(super) refusals: Arc<Allowances>,
}

impl Guest {
    /// The client whose shares pay for this connection.
    pub(super) fn client(&self) -> Client {
        Client::at(Some(self.address))
    }

    /// The part of a head in the memory for all; `None`: there is no room for it, or it has too many fields.
    pub(super) fn admit(&self, fields: &HeaderMap) -> Option<Held> {
        let bytes = fields.iter().map(|(name, value)| name.as_str().len() + value.len());
        if has_too_many_fields(fields) { None } else { self.head_room.hold(bytes) }
    }
}

/// The answer to a request.
pub(super) struct Answer {
    /// Status and fields.
    pub(super) head: hyper::Response<()>,
    pub(super) source: Source,
    pub(super) told: Told,
    /// It opens a WebSocket, which the upload and the source carry on.
    pub(super) is_tunnel: bool,
}

/// The body of a request.
pub(super) trait Upload: Send + 'static {
    /// The next bytes, or the trailer fields behind them; `None` at the end. `Err`: the client has broken off, or broken the
    /// rules.
    fn next(&mut self) -> impl Future<Output = Result<Option<Frame<Bytes>>, ()>> + Send;

    /// Ends an upload whose rest is not needed. `is_withheld`: the client sends it only if it is asked to.
    fn leave(self, activity: &Arc<Activity>, is_withheld: bool) -> impl Future<Output = ()> + Send;
}

/// What goes before the head of a response.
pub(super) enum Interim<'a> {
    /// The client is to send the body of its request (RFC 9110, 15.2.1).
    Continue,
    /// Early hints, with these `Link` fields.
    Hints(&'a [String]),
}

/// Answers a request that was admitted, or refuses it. `hint` takes what goes before the head.
pub(super) async fn answer(
    guest: &Guest,
    head: &Parts,
    held: Option<Held>,
    upload: impl Upload,
    mut hint: impl FnMut(Interim<'_>) + Send,
) -> Answer {
    let (request, refused) =
        request(head, guest.address, guest.local, now(), guest.options.websockets);
    let refused = if held.is_none() { Some(431) } else { refused };
    let request = Request { held: held.unwrap_or_default(), ..request };
    let mut told = Told::asked(&guest.options.observers, &guest.activity, &request);
    let response = match refused {
        Some(status) => Response::empty(status),
        None if request.early && !is_safe(&request.method) => Response::empty(425),
        None => guest.site.respond(&request),
    };
    let (response, source) = if let Body::Later(later) = &response.body {
        if let Some(room) = guest.waiting.relayed() {
            if request.awaits_continue() {
                hint(Interim::Continue);
            }
            let news = begin(&told, later, upload);
            let is_hinted = hint_of(&response, &mut hint);
            let relay = OfBackend::new(later, news, room);
            from_backend(guest, &request, relay, is_hinted, &mut hint).await
        } else {
            upload.leave(&guest.activity, request.awaits_continue()).await;
            (Trouble::Busy.response(), None)
        }
    } else {
        hint_of(&response, &mut hint);
        upload.leave(&guest.activity, request.awaits_continue()).await;
        (response, None)
    };
    told.status(response.status);
    let opens = |it: &Source| matches!(it, Source::Backend(it) if it.is_opened_by(&response));
    let is_tunnel = source.as_ref().is_some_and(opens);
    if is_tunnel {
        told.opened();
    }
    let is_relayed = source.is_some();
    let may_have_body = !matches!(response.status, 204 | 304);
    let length = (!is_relayed && may_have_body).then(|| response.body.bytes());
    let head = proper_head(&response, length, guest);
    let has_body = request.method != "HEAD" && may_have_body;
    let source = match source {
        _ if !has_body => Source::empty(),
        Some(source) => source,
        None => Source::of(response),
    };
    source.head().await;
    Answer { head, source, told, is_tunnel }
}

/// Passes the hints of a response on; true: there were some.
fn hint_of(response: &Response, hint: &mut (impl FnMut(Interim<'_>) + Send)) -> bool {
    let hints = &response.ahead.hints;
    if !hints.is_empty() {
        hint(Interim::Hints(hints));
    }
    !hints.is_empty()
}

/// Has a backend bring the response: its bell, and the request's body.
fn begin(told: &Told, later: &Arc<Later>, upload: impl Upload) -> Receiver<()> {
    if !later.comes_whole() {
        told.observers.notice(&Event::BackendAsked);
    }
    let (bell, news) = channel(());
    later.watch(Arc::new(move || bell.send_replace(())));
    let activity = Arc::clone(told.activity());
    let is_tunnel = later.is_tunnel();
    tokio::spawn(feed(upload, Arc::downgrade(later), news.clone(), activity, is_tunnel));
    news
}

/// The response that a backend brings, and where its body comes from if it has one.
async fn from_backend(
    guest: &Guest,
    request: &Request,
    mut relay: OfBackend,
    mut is_hinted: bool,
    hint: &mut (impl FnMut(Interim<'_>) + Send),
) -> (Response, Option<Source>) {
    let trouble = loop {
        match relay.later.next(0) {
            Some(Piece::Hints(links)) => {
                let ahead = guest.site.hints_came(request, &links);
                if !is_hinted && !ahead.hints.is_empty() {
                    hint(Interim::Hints(&ahead.hints));
                    is_hinted = true;
                }
            }
            Some(Piece::Head(head)) => {
                let response = guest.site.head_came(request, *head);
                let is_whole = relay.later.comes_whole();
                return (response, (!is_whole).then(|| Source::Backend(relay.into())));
            }
            Some(Piece::End(Err(trouble))) => break trouble,
            Some(Piece::End(Ok(_)) | Piece::Body(_)) => break no_head(),
            None if relay.news.changed().await.is_err() => break no_head(),
            None => {}
        }
    };
    (guest.site.head_came(request, trouble.response()), None)
}

fn no_head() -> Trouble {
    Trouble::Improper("it ended without a head".to_owned())
}

/// Gives the backend the body of a request, until the response is over.
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
    // The end of a tunnel is the end of both directions.
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

/// Waits for room, and gives the bytes; false: the response is over.
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

/// The head as the libraries take it. A field that they cannot say is left out.
fn proper_head(response: &Response, length: Option<u64>, guest: &Guest) -> hyper::Response<()> {
    let mut head = hyper::Response::new(());
    *head.status_mut() = hyper::StatusCode::from_u16(response.status).unwrap_or_default();
    let fields = head::fields(response, length, &guest.options);
    let fields = fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    let others = response.other_headers.iter();
    let others = others.map(|(name, value)| (name.as_bytes(), value.as_slice()));
    for (name, value) in fields.chain(others) {
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name), HeaderValue::from_bytes(value))
        {
            head.headers_mut().append(name, value);
        }
    }
    head
}
