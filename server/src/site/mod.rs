//! What a server serves: a page of the corpus, or a directory.

mod body;
mod directed;
mod directory;
mod page;
mod routed;

pub use body::Body;
pub use directed::DirectedSite;
pub use directory::{DirectorySite, OpenError};
pub use page::PageSite;
pub use routed::{Route, RoutedSite};

use http3::{Header, NameValue};
use std::time::{Duration, Instant};

/// Something that answers requests.
pub trait Site: Send + Sync {
    /// The response to a request. What takes time is said in [`Response::ready`], not waited for.
    fn respond(&self, request: &Request) -> Response;
}

/// A request, as far as a site needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method, upper case.
    pub method: String,
    /// The host that was asked for.
    pub authority: String,
    /// The path with its query.
    pub path: String,
    /// The `priority` field, when there is one.
    pub priority: Option<Vec<u8>>,
    /// The field that says what the resource is for, when there is one.
    pub metadata: Option<Vec<u8>>,
}

impl Request {
    /// Reads the pseudo-header fields, which `http3` has checked to be there.
    pub fn from_headers(headers: &[Header]) -> Self {
        let field =
            |name: &[u8]| headers.iter().find(|it| it.name() == name).map(|it| it.value().to_vec());
        let text = |name| String::from_utf8_lossy(&field(name).unwrap_or_default()).into_owned();
        Self {
            method: text(b":method"),
            authority: text(b":authority"),
            path: text(b":path"),
            priority: field(b"priority"),
            metadata: field(http3::METADATA_FIELD.as_bytes()),
        }
    }
}

impl Request {
    /// The host that was asked for, without the port.
    pub fn host(&self) -> &str {
        self.authority.rsplit_once(':').map_or(self.authority.as_str(), |(host, _)| host)
    }
}

/// A response.
#[derive(Debug)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Header fields beside `:status`, `content-length` and `server`.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Body,
    /// What the scheduler may know of it.
    pub resource: schedulers::Resource,
    /// When its bytes are there: time from the request, and body bytes from then on, both rising. The
    /// header goes with the first step; empty: all at once.
    pub ready: Vec<(Duration, u64)>,
    /// What the site's operator says about its order; what it leaves open is the client's.
    pub directive: Option<http3::Priority>,
    /// The scheme in which the page is to be sent whose document this is; none: the server's.
    pub scheme: Option<schedulers::Scheme>,
}

impl Response {
    /// A response without a body that says what is wrong.
    pub fn error(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Body::Empty,
            resource: schedulers::Resource::default(),
            ready: Vec::new(),
            directive: None,
            scheme: None,
        }
    }
}

/// When a response's bytes are there.
#[derive(Debug)]
pub struct Availability {
    steps: Vec<(Instant, u64)>,
}

impl Availability {
    /// Of a response that was asked for at `now`.
    pub fn new(response: &Response, now: Instant) -> Self {
        if response.ready.is_empty() {
            return Self { steps: vec![(now, response.body.bytes())] };
        }
        Self { steps: response.ready.iter().map(|(after, bytes)| (now + *after, *bytes)).collect() }
    }

    /// The times at which there is more.
    pub fn times(&self) -> impl Iterator<Item = Instant> + '_ {
        self.steps.iter().map(|(at, _)| *at)
    }

    /// Body bytes there at `now`; none: not even the header.
    pub fn body_bytes_at(&self, now: Instant) -> Option<u64> {
        self.steps.iter().take_while(|(at, _)| *at <= now).last().map(|(_, bytes)| *bytes)
    }
}
