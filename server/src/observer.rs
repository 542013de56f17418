//! Events that a server reports to its observers, such as an access log.

use crate::limits::LOGGED_BYTES;
use crate::site::{Protocol, Request};
use http::header::USER_AGENT;
use schedulers::Priority;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Watches a server. It is called on the server's thread, so it must not block.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn notice(&self, event: &Event);
}

/// Something that an operator may want to know.
#[derive(Debug, Clone)]
pub enum Event {
    /// A response has ended: the transport has its last byte, or nothing more of it is sent.
    Answered(Arc<Answered>),
    /// A response was given up because its client did not accept it.
    Overdue,
    /// A request was forwarded to a backend.
    BackendAsked,
    /// A WebSocket has opened. It ends with its response.
    TunnelOpened,
    /// A client has completed its handshake.
    Accepted,
    /// A handshake has ended without a connection, or its client has used up its handshakes.
    NotEntered,
    /// A first datagram was refused. A client's first flight can have two.
    Refused(Refusal),
    /// A new client had to prove its address (a Retry packet).
    ProofAsked,
    /// A handshake took too long.
    HandshakeGivenUp,
    /// A connection whose client had completed its handshake has ended.
    Closed {
        /// The party that closed it: `client` or `server`, or `timeout`.
        by: &'static str,
        /// The name of the error code; `other` for undefined codes.
        code: &'static str,
    },
    /// A connection has no qlog, because there is no room for it.
    NotLogged,
    /// The server accepts no more connections, because it ends.
    Draining,
}

schedulers::named! {
    /// Why a client was refused.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Refusal {
        /// The maximum number of connections is reached.
        Full = "full",
        /// The client or its network has reached its maximum.
        Network = "network",
        /// The server ends.
        Draining = "draining",
    }
}

/// A response that has ended. The client's texts are truncated to a few kB, and none is a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The version of HTTP of the request.
    pub protocol: Protocol,
    /// The client's address.
    pub client: Option<IpAddr>,
    /// The method of the request.
    pub method: String,
    /// The requested host, possibly with a port.
    pub host: String,
    /// The path with its query.
    pub path: String,
    /// The page that referred to it.
    pub referer: Option<String>,
    /// The client's program, as received.
    pub user_agent: Option<Vec<u8>>,
    /// HTTP status; 0: there was none yet.
    pub status: u16,
    /// Bytes of the body sent on the connection of the request. Over TCP: bytes that the connection has accepted.
    pub bytes: u64,
    /// The time from the request to the end.
    pub duration: Duration,
    /// The scheme that ordered it; empty: none did, because it was sent over TCP.
    pub scheme: String,
    /// Its urgency and whether it is incremental, as last set by the client or the operator.
    pub priority: Priority,
    /// Its end was sent.
    pub is_complete: bool,
    /// It opened a WebSocket: its bytes are the server's, and it lasted as long as both ends wanted.
    pub is_tunnel: bool,
}

/// The observers of a server.
#[derive(Clone, Default)]
pub struct Observers(Vec<Arc<dyn Observer>>);

impl Observers {
    /// Adds another one.
    pub fn add(&mut self, observer: Arc<dyn Observer>) {
        self.0.push(observer);
    }

    /// Whether nobody watches.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Informs all of them.
    pub fn notice(&self, event: &Event) {
        for observer in &self.0 {
            observer.notice(event);
        }
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} observers", self.0.len())
    }
}

/// The notes about a response until it ends.
#[derive(Debug)]
pub struct Watched {
    asked_at: Instant,
    /// It is part of a measured page load; whether it is above the fold there.
    pub(crate) of_load: Option<bool>,
    /// The notes so far.
    pub answered: Answered,
}

impl Watched {
    /// A request that arrived at `now`.
    pub fn new(request: &Request, of_load: Option<bool>, now: Instant) -> Self {
        let answered = Answered {
            protocol: request.protocol,
            client: request.client,
            method: cut(&request.method),
            host: cut(without_user(&request.authority)),
            path: cut(&request.path),
            referer: request.field("referer").map(referer),
            user_agent: request
                .fields
                .get(USER_AGENT)
                .map(|it| it.as_bytes()[..it.len().min(LOGGED_BYTES)].to_vec()),
            status: 0,
            bytes: 0,
            duration: Duration::ZERO,
            scheme: String::new(),
            priority: Priority::default(),
            is_complete: false,
            is_tunnel: false,
        };
        Self { asked_at: now, of_load, answered }
    }

    /// The event at its end. `scheme`: what ordered it.
    pub fn ended(self, scheme: &str, now: Instant) -> Event {
        let duration = now.saturating_duration_since(self.asked_at);
        let scheme = scheme.to_owned();
        Event::Answered(Arc::new(Answered { duration, scheme, ..self.answered }))
    }
}

/// The first bytes of a text.
fn cut(text: &str) -> String {
    let most = text.len().min(LOGGED_BYTES);
    let end = (0..=most).rev().find(|it| text.is_char_boundary(*it)).unwrap_or_default();
    text[..end].to_owned()
}

fn without_user(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// A referring URL without user and password.
fn referer(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return cut(url) };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    cut(&format!("{scheme}://{}{path}", without_user(authority)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_urls_are_left_out() {
        let cases = [
            ("https://me:secret@a.test/x?mail=me@b.test", "https://a.test/x?mail=me@b.test"),
            ("https://a.test/@me", "https://a.test/@me"),
            ("https://me:secret@a.test", "https://a.test"),
            ("about:client", "about:client"),
        ];
        for (said, logged) in cases {
            assert_eq!(referer(said), logged);
        }
        assert_eq!(without_user("me:secret@a.test:443"), "a.test:443");
    }

    #[test]
    fn a_long_text_is_cut_between_two_characters() {
        let text = "ü".repeat(LOGGED_BYTES);
        assert_eq!(cut(&text), "ü".repeat(LOGGED_BYTES / 2));
    }
}
