//! A response that a backend brings, or that is made while its client waits: first what precedes it, then the head, pieces
//! of the body, and the end. All versions of HTTP send it as it arrives.

use crate::head::has_body;
use crate::site::{Ahead, BackendFailure, Later, Piece, Request, Response, Site};
use crate::{Event, Observers};
use http::header::HeaderMap;
use std::fmt;
use std::sync::Arc;

/// The next part.
#[derive(Debug)]
pub enum Next {
    /// Early hints and pushes.
    Ahead(Ahead),
    /// The backend wants the request again after the handshake (RFC 8470, 5.2). Nothing more follows.
    TooEarly,
    /// The head to send, and what follows it.
    Head(Box<Response>, Rest),
    /// The next bytes of the body.
    Body(Vec<u8>),
    /// The end, with trailer fields, which may be empty.
    End(HeaderMap),
    /// The rest will not arrive.
    Broken(BackendFailure),
}

/// The part after the head of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// The body is part of the response itself.
    Here,
    /// A body, piece by piece.
    Comes,
    /// The backend's bytes in a tunnel, whose other direction is the body of the request.
    Tunnel,
    /// Nothing: such a response has no body.
    Nothing,
    /// Nothing: this head replaces one that does not arrive.
    Instead,
}

/// A response to `request` that arrives in parts.
pub struct Coming {
    /// The request, as it was passed to the site.
    pub request: Request,
    /// The exchange that brings it and takes the body of the request.
    pub later: Arc<Later>,
    /// The client has had early hints.
    pub is_hinted: bool,
    site: Arc<dyn Site>,
    has_head: bool,
}

impl Coming {
    /// Begins the response that `site` will give later. `ring` is called when there is news.
    pub fn begin(
        site: Arc<dyn Site>,
        request: Request,
        (later, is_hinted): (Arc<Later>, bool),
        observers: &Observers,
        ring: Arc<dyn Fn() + Send + Sync>,
    ) -> Self {
        if !later.comes_whole() {
            observers.notice(&Event::BackendAsked);
        }
        later.watch(ring);
        Self { request, later, is_hinted, site, has_head: false }
    }

    /// The next part that has arrived, with at most `room` bytes of a body.
    pub fn next(&mut self, room: usize) -> Option<Next> {
        Some(match self.later.next(room)? {
            Piece::Hints(links) => Next::Ahead(self.ahead(&links)),
            Piece::Head(head) => self.head(*head),
            Piece::Body(bytes) if self.has_head => Next::Body(bytes),
            Piece::End(Ok(trailers)) if self.has_head => Next::End(trailers),
            Piece::End(Err(trouble)) if self.has_head => Next::Broken(trouble),
            Piece::End(Err(trouble)) => self.instead(&trouble),
            Piece::Body(_) | Piece::End(Ok(_)) => self.headless(),
        })
    }

    /// It ended without a head.
    pub fn headless(&mut self) -> Next {
        self.instead(&BackendFailure::Improper("it ended without a head".to_owned()))
    }

    /// The parts that precede the response: the backend's early hints go to the client unless it has already received some,
    /// and they name pushes.
    fn ahead(&mut self, links: &[String]) -> Ahead {
        if self.request.pushed {
            return Ahead::default();
        }
        let mut ahead = self.site.hints_came(&self.request, links);
        if self.is_hinted {
            ahead.hints.clear();
        }
        self.is_hinted |= !ahead.hints.is_empty();
        ahead
    }

    fn head(&mut self, head: Response) -> Next {
        if is_too_early(&self.request, &head) && !self.later.may_have_body() {
            return Next::TooEarly;
        }
        self.has_head = true;
        let head = self.site.head_came(&self.request, head);
        let rest = if self.later.comes_whole() {
            Rest::Here
        } else if self.later.is_opened_by(&head) {
            Rest::Tunnel
        } else if has_body(&self.request, head.status) {
            Rest::Comes
        } else {
            Rest::Nothing
        };
        Next::Head(head.into(), rest)
    }

    fn instead(&mut self, trouble: &BackendFailure) -> Next {
        self.has_head = true;
        let head = self.site.head_came(&self.request, trouble.response());
        let is_here = self.later.comes_whole() || head.body.bytes() > 0;
        Next::Head(head.into(), if is_here { Rest::Here } else { Rest::Instead })
    }
}

impl fmt::Debug for Coming {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Coming").field("request", &self.request).finish_non_exhaustive()
    }
}

/// Whether the backend rejects requests that may be replays and this server may repeat the request. If a gateway in front
/// received the request early, that gateway must repeat it (RFC 8470, 5.2).
fn is_too_early(request: &Request, response: &Response) -> bool {
    response.status == 425 && request.early && request.field("early-data").is_none()
}
