//! Compresses a backend's texts in transit.

use super::fields::Outbound;
use crate::limits::{COMPRESSIBLE_BYTES, ENCODER_BYTES};
use crate::site::codings::{Coding, Encoder};
use crate::site::types;
use hyper::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG,
    HeaderMap, HeaderValue, VARY,
};
use server::Limits;
use server::account::{Account, Charge, Share};
use server::site::Response;
use server::site::fields::{list, value};
use std::io;
use std::time::{Duration, Instant};

/// A response that is compressed as it arrives.
pub(super) struct Encoding {
    encoder: Encoder,
    account: Account,
    limits: Limits,
    _room: Share,
}

impl Encoding {
    /// Starts compressing the response to a request, if that is useful and the client's memory allows it. Marks the head as
    /// compressed, or as possibly compressed for other clients.
    pub(super) fn begin(request: &Outbound, head: &mut Response, now: Instant) -> Option<Self> {
        if request.method == "HEAD" || !is_compressible(head) {
            return None;
        }
        head.headers.append(VARY, HeaderValue::from_static("accept-encoding"));
        let accepted = list(&request.fields, ACCEPT_ENCODING.as_str()).unwrap_or_default();
        let coding = *Coding::accepted(&accepted).first()?;
        let (account, limits) = (request.held.account()?.clone(), Limits::default());
        if account.lacks(Charge::Compression, 1, &limits, now) {
            return None;
        }
        let room = account.hold(Charge::Encoders, ENCODER_BYTES)?;
        let encoder = Encoder::new(coding).ok()?;
        describe(&mut head.headers, coding);
        head.resource.body_bytes = None;
        Some(Self { encoder, account, limits, _room: room })
    }

    /// The output for these bytes and all before.
    pub(super) fn encoded(&mut self, bytes: &[u8], now: Instant) -> io::Result<Vec<u8>> {
        let (charge, count) = (Charge::Compression, bytes.len() as u64);
        // A response that has begun continues, and others wait longer.
        self.account.borrow(charge, count, Duration::MAX, &self.limits, now);
        self.encoder.encoded(bytes)
    }

    /// The bytes of the end.
    pub(super) fn end(self) -> io::Result<Vec<u8>> {
        self.encoder.end()
    }
}

fn is_compressible(head: &Response) -> bool {
    let mime = head.fields(CONTENT_TYPE.as_str()).next().unwrap_or_default();
    let is_kept = head.cache_control().is_some_and(|it| it.contains("no-transform"));
    let is_bare = !["content-encoding", "content-range", "content-digest"]
        .iter()
        .any(|it| head.headers.contains_key(*it));
    let is_large = head.resource.body_bytes.is_none_or(|it| it >= *COMPRESSIBLE_BYTES.start());
    types::is_compressible(mime)
        && !mime.starts_with("text/event-stream")
        && is_bare
        && !is_kept
        && is_large
        && !matches!(head.status, 204 | 206 | 304)
}

/// Sets the coding. The tag must change with the bytes (RFC 9110, 8.8.1).
fn describe(headers: &mut HeaderMap, coding: Coding) {
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    headers.remove(CONTENT_LENGTH);
    headers.remove(ACCEPT_RANGES);
    let tag = headers.get(ETAG).and_then(|it| it.to_str().ok()).filter(|it| !it.starts_with("W/"));
    if let Some(weak) = tag.map(|it| value(format!("W/{it}"))) {
        headers.insert(ETAG, weak);
    }
}
