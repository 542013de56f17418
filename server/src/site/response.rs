//! A response, and what is known about it in advance.

use super::fields::{fields, kept, texts};
use super::{Ahead, Body, Request};
use http::header::{
    ALLOW, AsHeaderName, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    RETRY_AFTER,
};
use push::guard::{self, CacheFields};
use std::time::{Duration, Instant};

/// Fields that [`Response::with_headers`] adds.
const ADDED: [&str; 3] = ["link", "set-cookie", "vary"];

/// A response.
#[derive(Debug, Default)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Header fields other than `:status`, `content-length` and `server`.
    pub headers: HeaderMap,
    /// The body.
    pub body: Body,
    /// `last-modified` distinguishes it from earlier versions, so that a part of it may be requested by that time (RFC 9110,
    /// 13.1.5).
    pub is_told_by_time: bool,
    /// The facts about it that the scheduler may know.
    pub resource: schedulers::Resource,
    /// When its bytes are ready: the time since the request, and the body bytes from then on, both increasing. The header is
    /// ready with the first step. Empty: everything is ready at once.
    pub ready: Vec<(Duration, u64)>,
    /// The operator's directive about its order; the client determines the rest.
    pub directive: Option<schedulers::Priority>,
    /// The hints and pushes that precede it.
    pub ahead: Ahead,
    /// The scheme for the page whose document this is; `None`: the server's.
    pub scheme: Option<schedulers::Scheme>,
    /// How clients' signals are used on that page; `None`: as on the server.
    pub signals: Option<crate::SignalUse>,
}

impl Response {
    /// A response without a body.
    pub fn empty(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// The answer to a method that a site of files does not support.
    pub fn only_get_and_head() -> Self {
        let headers = fields([(ALLOW, HeaderValue::from_static("GET, HEAD"))]);
        Self { headers, ..Self::empty(405) }
    }

    /// The answer where there is no file, as a page.
    pub fn not_found() -> Self {
        let page = "<!doctype html>\n<title>404 Not Found</title>\n<h1>404 Not Found</h1>\n";
        let mime = HeaderValue::from_static("text/html; charset=utf-8");
        let headers = fields([(CONTENT_TYPE, mime)]);
        let body = Body::Bytes(page.as_bytes().into());
        // It represents a file of any kind.
        let body_bytes = Some(body.bytes());
        let resource = schedulers::Resource { body_bytes, ..schedulers::Resource::default() };
        Self { headers, body, resource, ..Self::empty(404) }
    }

    /// The answer while the server lacks a resource that it will have again.
    pub fn unavailable() -> Self {
        let headers = fields([
            (RETRY_AFTER, HeaderValue::from_static("1")),
            (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        ]);
        Self { headers, ..Self::empty(503) }
    }

    /// The values of a field that are text, line by line.
    pub fn fields<N: AsHeaderName>(&self, name: N) -> impl Iterator<Item = &str> + use<'_, N> {
        texts(&self.headers, name)
    }

    /// The `Cache-Control` field, its lines joined.
    pub fn cache_control(&self) -> Option<String> {
        let lines: Vec<&str> = self.fields(CACHE_CONTROL).collect();
        (!lines.is_empty()).then(|| lines.join(","))
    }

    /// The response with these fields in place of its own with the same names. Where each line has a meaning of its own
    /// ([`ADDED`]), it keeps its own lines, too.
    #[must_use]
    pub fn with_headers(self, fields: &HeaderMap) -> Self {
        // A 304 has no content to describe (RFC 9110, 15.4.5).
        let is_used = |name: &str| self.status != 304 || !name.starts_with("content-");
        let is_set = |name: &str| is_used(name) && fields.contains_key(name);
        let own = kept(&self.headers, |it| ADDED.contains(&it) || !is_set(it));
        let headers = own.chain(kept(fields, is_used)).collect();
        Self { headers, ..self }
    }

    /// Whether both its head and its body are still to come.
    pub fn is_awaited(&self) -> bool {
        matches!(self.body, Body::Later(_))
    }
}

/// When a response's bytes are ready.
#[derive(Debug, Clone, Default)]
pub struct Availability {
    steps: Vec<(Instant, u64)>,
}

impl Availability {
    /// For a response that was requested at `now`.
    pub fn new(response: &Response, now: Instant) -> Self {
        if response.ready.is_empty() {
            return Self { steps: vec![(now, response.body.bytes())] };
        }
        Self { steps: response.ready.iter().map(|(after, bytes)| (now + *after, *bytes)).collect() }
    }

    /// The times at which more is ready.
    pub fn times(&self) -> impl Iterator<Item = Instant> + '_ {
        self.steps.iter().map(|(at, _)| *at)
    }

    /// The same for the part after `body_bytes` of the body.
    #[cfg(feature = "experiments")]
    pub(crate) fn after(&self, body_bytes: u64) -> Self {
        let steps = self.steps.iter();
        let left = steps.map(|(at, bytes)| (*at, bytes.saturating_sub(body_bytes)));
        Self { steps: left.collect() }
    }

    /// Body bytes that are ready at `now`; `None`: not even the header is.
    pub fn body_bytes_at(&self, now: Instant) -> Option<u64> {
        self.steps.iter().take_while(|(at, _)| *at <= now).last().map(|(_, bytes)| *bytes)
    }
}

/// The facts about a response before its request is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreseen {
    /// HTTP status.
    pub status: u16,
    /// The `Vary` field, its lines joined; empty if there is none.
    pub vary: String,
    /// The `ETag` field.
    pub etag: Option<String>,
    /// The `Link` fields.
    pub links: Vec<String>,
    /// The `Cache-Control` field, its lines joined.
    pub cache_control: Option<String>,
    /// It sets a cookie.
    pub sets_cookie: bool,
}

impl Foreseen {
    /// The facts about a response with a head.
    pub fn of(response: &Response) -> Self {
        Self {
            status: response.status,
            vary: response.fields("vary").collect::<Vec<_>>().join(","),
            etag: response.fields("etag").next().map(str::to_owned),
            links: response.fields("link").map(str::to_owned).collect(),
            cache_control: response.cache_control(),
            sets_cookie: response.fields("set-cookie").next().is_some(),
        }
    }

    /// The fields that describe for which clients it is.
    pub fn said(&self) -> CacheFields<'_> {
        let cache_control = self.cache_control.as_deref().unwrap_or_default();
        CacheFields { vary: &self.vary, cache_control, sets_cookie: self.sets_cookie }
    }
}

/// Whether a response may answer a request that the client has not made: the client can use it, it does not vary on anything
/// in which the client's own request might differ, and it is not for someone else.
pub fn may_be_sent(request: &Request, response: &Response) -> bool {
    let names: Vec<&str> = request.fields.keys().map(HeaderName::as_str).collect();
    matches!(response.status, 200 | 304)
        && guard::allows(&Foreseen::of(response).said(), &names, request.cookies_known)
}
