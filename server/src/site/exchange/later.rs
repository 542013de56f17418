//! The connection's side of an exchange.

use super::super::{BackendFailure, Response, trailers};
use super::Exchange;
use crate::limits::BUFFER_BYTES;
use http::header::HeaderMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// A piece of a response, in the order in which the backend brings them.
#[derive(Debug)]
pub enum Piece {
    /// The `Link` fields of the first early hints.
    Hints(Vec<String>),
    /// The head.
    Head(Box<Response>),
    /// The next bytes of the body.
    Body(Vec<u8>),
    /// The end: trailer fields, which may be empty, if the whole body arrived.
    End(Result<HeaderMap, BackendFailure>),
}

/// The connection's side of an [`Exchange`]: a later response. Dropping it cancels the response.
#[derive(Debug)]
pub struct Later {
    exchange: Arc<Exchange>,
    maker: Maker,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Maker {
    Backend,
    Here,
}

impl Later {
    /// The response of a backend.
    pub fn new(exchange: Arc<Exchange>) -> Self {
        Self { exchange, maker: Maker::Backend }
    }

    /// A response that this server makes while its client waits, and the exchange that takes it
    /// ([`Exchange::answer_whole`]).
    pub fn made_here() -> (Arc<Exchange>, Self) {
        let exchange = Exchange::new(false, 0);
        (Arc::clone(&exchange), Self { exchange, maker: Maker::Here })
    }

    /// Whether it arrives complete with its body, and not piece by piece from a backend.
    pub fn comes_whole(&self) -> bool {
        self.maker == Maker::Here
    }

    /// Whether the request has a body, or may have one.
    pub fn may_have_body(&self) -> bool {
        let state = self.exchange.state.lock();
        state.uploaded > 0 || !state.upload_ended
    }

    /// Whether this response of the backend opens a tunnel, whose two directions stay open.
    pub fn is_opened_by(&self, response: &Response) -> bool {
        // A backend that does not switch cannot answer 200 then.
        self.is_tunnel() && response.status == 200
    }

    /// Whether the client asks for a tunnel.
    pub fn is_tunnel(&self) -> bool {
        self.exchange.is_tunnel
    }

    /// Calls `ring` from now on when there is news.
    pub fn watch(&self, ring: Arc<dyn Fn() + Send + Sync>) {
        self.exchange.state.lock().ring = Some(ring);
    }

    /// The next piece, if one has arrived; at most `room` bytes of a body.
    pub fn next(&self, room: usize) -> Option<Piece> {
        let mut state = self.exchange.state.lock();
        if let Some(links) = state.hints.take() {
            return Some(Piece::Hints(links));
        }
        if let Some(head) = state.head.take() {
            return Some(Piece::Head(head.into()));
        }
        if state.body.is_empty() {
            return state.end.take().map(Piece::End);
        }
        let count = room.min(state.body.len());
        let bytes: Vec<u8> = state.body.drain(..count).collect();
        state.wake();
        (count > 0).then_some(Piece::Body(bytes))
    }

    /// Adds to the request's body, even if there is no room ([`Self::has_room`]).
    pub fn give(&self, bytes: &[u8]) {
        let mut state = self.exchange.state.lock();
        if state.stopped.is_none() {
            state.uploaded += bytes.len() as u64;
            if state.uploaded > self.exchange.most_bytes && !self.exchange.is_tunnel {
                return state.stop(BackendFailure::ClientLarge);
            }
            state.upload.extend(bytes);
            state.wake();
        }
    }

    /// Whether there is room for more of the request's body.
    pub fn has_room(&self) -> bool {
        self.exchange.state.lock().upload.len() < BUFFER_BYTES
    }

    /// Trailer fields follow the request's body, which has arrived completely.
    pub fn trail(&self, fields: &HeaderMap) {
        let mut state = self.exchange.state.lock();
        match trailers::of_request(fields) {
            Some(fields) => state.upload_trailers = fields,
            None => state.stop(BackendFailure::ClientLarge),
        }
    }

    /// The request's body is here wholly.
    pub fn end_upload(&self) {
        let mut state = self.exchange.state.lock();
        state.upload_ended = true;
        state.wake();
    }

    /// The rest of the request's body does not arrive, because it is malformed.
    pub fn break_upload(&self) {
        self.exchange.state.lock().stop(BackendFailure::ClientWrong);
    }
}

impl Drop for Later {
    fn drop(&mut self) {
        let mut state = self.exchange.state.lock();
        state.body = VecDeque::new();
        state.upload = VecDeque::new();
        state.stop(BackendFailure::ClientGone);
        // A task that waits for news learns that there is none, although the backend may keep its side open for long.
        let ring = state.ring.take();
        drop(state);
        drop(ring);
    }
}
