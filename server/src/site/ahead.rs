//! Early hints and pushes that precede a response.

use super::Request;
use super::fields::to_http3;
use http::header::HeaderMap;
use http3::Header;
use push::Gate;

/// Hints and pushes that a site wants to send before a response or with it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ahead {
    /// `Link` values of a 103 response, sent at once (RFC 8297).
    pub hints: Vec<String>,
    /// Requests whose responses are promised and pushed, in this order.
    pub pushes: Vec<Promise>,
    /// When pushed bytes may be sent.
    pub gate: Option<Gate>,
    /// How many pushes may be in progress at a time.
    pub max_concurrent_pushes: Option<u64>,
}

/// A request that the client is expected to make.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Promise {
    /// `:authority`.
    pub authority: String,
    /// `:path`.
    pub path: String,
    /// Other fields.
    pub fields: HeaderMap,
    /// The fields include the cookies that the client's own request would have.
    pub cookies_known: bool,
}

impl Promise {
    /// A promise without further fields.
    pub fn new(authority: &str, path: &str) -> Self {
        Self { authority: authority.to_owned(), path: path.to_owned(), ..Self::default() }
    }

    /// The promised request's field section.
    pub fn headers(&self) -> Vec<Header> {
        let fields = to_http3(&self.fields);
        let mut headers = http3::get_request(&self.authority, &self.path);
        headers.extend(fields.map(|(name, value)| Header::new(name.as_bytes(), value)));
        headers
    }

    /// The request as the server makes it to the site.
    pub fn request(&self) -> Request {
        let cookies_known = self.cookies_known;
        Request { pushed: true, cookies_known, ..Request::from_headers(&self.headers()) }
    }
}
