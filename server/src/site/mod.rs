//! What a server serves: a page of the corpus, or a directory.

mod ahead;
mod body;
mod conditional;
mod directed;
mod directory;
mod mounted;
mod pushing;
mod routed;

pub use ahead::{Ahead, Promise};
pub use body::Body;
pub use directed::DirectedSite;
pub use directory::{DirectorySite, OpenError};
pub use mounted::{MountedSite, Part};
pub use pushing::{Knows, PushRoute, PushingSite, absent_pushes};
pub use routed::{Route, RoutedSite};

use http3::{Header, NameValue};
use push::freshness::fresh_s;
use push::guard::{Said, is_of_site};
use std::borrow::Cow;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Something that answers requests.
pub trait Site: Send + Sync {
    /// The response to a request. What takes time is said in [`Response::ready`], not waited for.
    fn respond(&self, request: &Request) -> Response;

    /// The head of a response has come whose body was [`Body::Later`]: what is sent in its place.
    fn arrived(&self, _request: &Request, response: Response) -> Response {
        response
    }

    /// Early hints with these `Link` fields have come for a response whose body was [`Body::Later`]: what goes ahead
    /// of it on their account.
    fn hinted(&self, _request: &Request, _links: &[String]) -> Ahead {
        Ahead::default()
    }

    /// What the response to a request would be, without making it; none: not known.
    fn foresee(&self, request: &Request) -> Option<Foreseen> {
        Some(Foreseen::of(&self.respond(request)))
    }
}

/// Whether a path is one of those that `pattern` stands for: itself with any query, or, where it ends in `*`, all that
/// begin like it.
pub(crate) fn fits(pattern: &str, path: &str) -> bool {
    let plain = path.split('?').next().unwrap_or_default();
    match pattern.strip_suffix('*') {
        Some(prefix) => plain.starts_with(prefix),
        None => pattern == plain || pattern == path,
    }
}

/// What is known of a response before its request is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreseen {
    /// HTTP status.
    pub status: u16,
    /// The `Vary` field, its lines joined; empty: it varies on nothing.
    pub vary: String,
    /// The `ETag` field.
    pub etag: Option<String>,
    /// The `Link` fields.
    pub links: Vec<String>,
    /// The `Cache-Control` field, its lines joined; none: nothing is said of it.
    pub cache_control: Option<String>,
    /// It sets a cookie that is the site's.
    pub sets_cookie: bool,
}

impl Foreseen {
    /// Of a response as it was.
    pub fn of(response: &Response) -> Self {
        Self {
            status: response.status,
            vary: response.fields("vary").collect::<Vec<_>>().join(","),
            etag: response.fields("etag").next().map(str::to_owned),
            links: response.fields("link").map(str::to_owned).collect(),
            cache_control: response.cache_control(),
            sets_cookie: response.fields("set-cookie").any(is_of_site),
        }
    }

    /// What it says of whom it is for.
    pub(crate) fn said(&self) -> Said<'_> {
        let cache_control = self.cache_control.as_deref().unwrap_or_default();
        Said { vary: &self.vary, cache_control, sets_cookie: self.sets_cookie }
    }

    /// How long its copies are fresh, in seconds; none: nothing is said of it.
    pub fn fresh_s(&self) -> Option<u64> {
        fresh_s(self.cache_control.as_deref()?, None)
    }

    /// How much text it is.
    pub(crate) fn text_bytes(&self) -> usize {
        let fields = [&self.etag, &self.cache_control].into_iter().flatten().map(String::len);
        self.vary.len() + fields.sum::<usize>() + self.links.iter().map(String::len).sum::<usize>()
    }
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
    /// All regular fields, names in lower case; several of one name are several.
    pub fields: Vec<(String, String)>,
    /// It came in early data, here or at a gateway before (`Early-Data`), and may be a replay (RFC 8470). The
    /// method is a safe one then; a gateway says so upstream.
    pub early: bool,
    /// The server asks itself, to push the answer.
    pub pushed: bool,
    /// Of a pushed request: it has the cookies that the client's own would have.
    pub cookies_known: bool,
    /// Where it came from, as far as that is known.
    pub client: Option<IpAddr>,
    /// What the path to the client holds, when the client takes pushes.
    pub path_state: Option<push::PathState>,
    /// The most urgent of the other responses on the connection whose bytes have not all gone.
    pub waiting_urgency: Option<u8>,
}

impl Request {
    /// A plain GET.
    pub fn get(authority: &str, path: &str) -> Self {
        let fields = [(":method", "GET"), (":authority", authority), (":path", path)];
        let headers = fields.map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()));
        Self::from_headers(&headers)
    }

    /// Reads the pseudo-header fields, which `http3` has checked to be there.
    pub fn from_headers(headers: &[Header]) -> Self {
        let field =
            |name: &[u8]| headers.iter().find(|it| it.name() == name).map(|it| it.value().to_vec());
        let text = |name| String::from_utf8_lossy(&field(name).unwrap_or_default()).into_owned();
        Self {
            method: text(b":method"),
            authority: text(b":authority"),
            path: text(b":path"),
            priority: joined(headers, b"priority"),
            metadata: field(http3::METADATA_FIELD.as_bytes()),
            fields: regular(headers),
            early: false,
            pushed: false,
            cookies_known: false,
            client: None,
            path_state: None,
            waiting_urgency: None,
        }
    }

    /// The same, as it came before the handshake was complete, or not; a gateway may have got it so all the same (RFC 8470,
    /// 5.1).
    #[must_use]
    pub(crate) fn not_proven_fresh(self, before_handshake: bool) -> Self {
        let said = self.fields.iter().any(|(name, _)| name == "early-data");
        Self { early: before_handshake || said, ..self }
    }

    /// A field's value; of several the first.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// The `Cookie` field; several of them are one (RFC 9114, 4.2.1).
    pub fn cookies(&self) -> Option<String> {
        let lines = self.fields.iter().filter(|(name, _)| name == "cookie");
        let cookies = lines.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("; ");
        (!cookies.is_empty()).then_some(cookies)
    }
}

fn regular(headers: &[Header]) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let regular = headers.iter().filter(|it| !it.name().starts_with(b":"));
    regular.map(|it| (text(it.name()), text(it.value()))).collect()
}

/// The lines of a list field, joined (RFC 9110, 5.3).
fn joined(headers: &[Header], name: &[u8]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> =
        headers.iter().filter(|it| it.name() == name).map(NameValue::value).collect();
    (!lines.is_empty()).then(|| lines.join(&b", "[..]))
}

impl Request {
    /// The host that was asked for, without the port.
    pub fn host(&self) -> &str {
        self.authority.rsplit_once(':').map_or(self.authority.as_str(), |(host, _)| host)
    }

    /// Whether it is for a host; none: any.
    fn is_for(&self, host: Option<&str>) -> bool {
        host.is_none_or(|it| it.eq_ignore_ascii_case(self.host()))
    }
}

/// A header field: its name in lower case, and its value.
pub type Field = (Cow<'static, str>, String);

/// A response.
#[derive(Debug)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Header fields beside `:status`, `content-length` and `server`.
    pub headers: Vec<Field>,
    /// The body.
    pub body: Body,
    /// What the scheduler may know of it.
    pub resource: schedulers::Resource,
    /// When its bytes are there: time from the request, and body bytes from then on, both rising. The
    /// header goes with the first step; empty: all at once.
    pub ready: Vec<(Duration, u64)>,
    /// What the site's operator says about its order; what it leaves open is the client's.
    pub directive: Option<http3::Priority>,
    /// What goes ahead of it.
    pub ahead: Ahead,
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
            ahead: Ahead::default(),
            scheme: None,
        }
    }

    /// The values of a field, line by line.
    pub fn fields<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(move |(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// The `Cache-Control` field, its lines joined; none: there is none.
    pub fn cache_control(&self) -> Option<String> {
        let lines: Vec<&str> = self.fields("cache-control").collect();
        (!lines.is_empty()).then(|| lines.join(","))
    }

    /// How long its copies are still fresh, in seconds; none: nothing is said of it.
    pub fn fresh_s(&self) -> Option<u64> {
        fresh_s(&self.cache_control()?, self.fields("age").next())
    }

    /// Whether neither its head nor its body is there yet.
    pub fn is_awaited(&self) -> bool {
        matches!(self.body, Body::Later(_))
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
