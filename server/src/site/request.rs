//! A request, as far as a site needs it.

use super::fields::{from_http3, joined, list, texts};
use super::paths::resolved;
use crate::account::Held;
use http::header::{AsHeaderName, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue};
use http3::{Header, NameValue};
use schedulers::{Kind, METADATA_FIELD, Metadata, Priority, Resource};
use std::borrow::Cow;
use std::net::IpAddr;
use std::time::Instant;

/// Names that the library does not have. Parsing one for each question costs more than the answer.
const EARLY_DATA: HeaderName = HeaderName::from_static("early-data");
const PRIORITY: HeaderName = HeaderName::from_static("priority");
const METADATA: HeaderName = HeaderName::from_static(METADATA_FIELD);
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

schedulers::named! {
    /// The version of HTTP of a request.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
    #[expect(missing_docs, reason = "the names say it")]
    pub enum Protocol {
        Http10 = "HTTP/1.0",
        Http11 = "HTTP/1.1",
        Http2 = "HTTP/2",
        #[default]
        Http3 = "HTTP/3",
    }
}

impl Protocol {
    /// The version alone, as in `Via` (RFC 9110, 7.6.3).
    pub fn version(self) -> &'static str {
        self.name().trim_start_matches("HTTP/")
    }
}

/// A request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The version of HTTP of the request.
    pub protocol: Protocol,
    /// The method, upper case.
    pub method: String,
    /// The scheme of the requested URI, lower case; empty for CONNECT.
    pub scheme: String,
    /// The requested host, possibly with a port: from `:authority`, otherwise from `host` (RFC 9114, 4.3.1).
    pub authority: String,
    /// The path with its query, without dot segments unless they lead above the root ([`resolved`]).
    pub path: String,
    /// The protocol that the client wants to use from then on: from an extended CONNECT (RFC 8441), or from `Upgrade` over
    /// HTTP/1.1.
    pub upgrade: Option<String>,
    /// All regular fields. Only backends get values that are not text.
    pub fields: HeaderMap,
    /// The request arrived in early data, here or at an earlier gateway (`Early-Data`), and may be a replay (RFC 8470). Its
    /// method is then safe.
    pub early: bool,
    /// The server makes the request in order to push the answer.
    pub pushed: bool,
    /// A pushed request has the cookies that the client's own request would have.
    pub cookies_known: bool,
    /// When the request arrived. `None`: unknown, so a site must not rely on earlier findings.
    pub asked_at: Option<Instant>,
    /// The client's address, if it is known.
    pub client: Option<IpAddr>,
    /// The state of the path to the client, if the client accepts pushes.
    pub path_state: Option<push::PathState>,
    /// The share of the common memory that the fields take.
    pub held: Held,
    /// The most urgent of the other responses on the connection that still have bytes to send.
    pub waiting_urgency: Option<u8>,
}

impl Request {
    /// A plain GET.
    pub fn get(authority: &str, path: &str) -> Self {
        Self::from_headers(&http3::get_request(authority, path))
    }

    /// The request of a field section that `http3` has checked.
    pub fn from_headers(headers: &[Header]) -> Self {
        Self::of(headers, from_http3(headers))
    }

    /// The request with these pseudo-header fields and regular fields, which were checked.
    pub fn of(pseudo: &[impl NameValue], fields: HeaderMap) -> Self {
        let pseudo = |name| http3::values(pseudo, name).next();
        let text =
            |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
        let host = fields.get(HOST).map(HeaderValue::as_bytes);
        Self {
            method: text(pseudo(":method")),
            scheme: text(pseudo(":scheme")).to_ascii_lowercase(),
            authority: text(pseudo(":authority").or(host)),
            path: resolved(&text(pseudo(":path"))).into_owned(),
            upgrade: pseudo(":protocol").map(|it| text(Some(it))),
            fields,
            ..Self::default()
        }
    }

    /// Marks a request that arrived before the handshake was complete, here or at a gateway (RFC 8470, 5.1).
    #[must_use]
    pub fn not_proven_fresh(self, before_handshake: bool) -> Self {
        let said = self.field(EARLY_DATA).is_some();
        Self { early: before_handshake || said, ..self }
    }

    /// The first value of a field that is text. A list may have several lines: [`Self::list`].
    pub fn field(&self, name: impl AsHeaderName) -> Option<&str> {
        texts(&self.fields, name).next()
    }

    /// The value of the `priority` field (RFC 9218, 5).
    pub fn priority(&self) -> Option<Priority> {
        Priority::parse(&joined(&self.fields, PRIORITY, b", ")?).ok()
    }

    /// The client's description of the resource.
    pub fn metadata(&self) -> Option<Metadata> {
        joined(&self.fields, METADATA, b", ").map(|it| Metadata::parse(&it))
    }

    /// A field that is a list, with its lines joined (RFC 9110, 5.3).
    pub fn list(&self, name: impl AsHeaderName) -> Option<Cow<'_, str>> {
        list(&self.fields, name)
    }

    /// Whether the client sends the body only if it is asked to (RFC 9110, 10.1.1).
    pub fn awaits_continue(&self) -> bool {
        self.field(EXPECT).is_some_and(|it| it.eq_ignore_ascii_case("100-continue"))
    }

    /// The `Cookie` field; its lines are joined (RFC 9114, 4.2.1).
    pub fn cookies(&self) -> Option<String> {
        let cookies = texts(&self.fields, "cookie").collect::<Vec<_>>().join("; ");
        (!cookies.is_empty()).then_some(cookies)
    }

    /// The requested host, without the port.
    pub fn host(&self) -> &str {
        http3::host(&self.authority)
    }

    /// The path without its query.
    pub fn plain_path(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// Whether a page begins with the response. A document in a frame belongs to the surrounding page, and a push to the
    /// page that it accompanies.
    pub fn begins_page(&self, resource: &Resource) -> bool {
        let destination = self.field(SEC_FETCH_DEST);
        let in_page = matches!(destination, Some("iframe" | "frame" | "embed" | "object"));
        let for_document = resource.kind == Kind::Html;
        resource.main || (!self.pushed && !in_page && self.is_navigation(for_document))
    }

    /// Whether the response will be shown as a page. Browsers signal this; for other clients, every document is.
    pub fn is_navigation(&self, for_document: bool) -> bool {
        self.field(SEC_FETCH_MODE).map_or(for_document, |it| it == "navigate")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9114, 4.3.1. Client: names the host in `host` alone. Server: takes it as the authority.
    #[test]
    fn a_host_field_stands_in_for_the_authority_9114_4_3_1() {
        let authority = |name: &str| {
            let fields = [(":method", "GET"), (":path", "/"), (name, "a.example:8443")];
            let header =
                |(name, value): (&str, &str)| Header::new(name.as_bytes(), value.as_bytes());
            Request::from_headers(&fields.map(header)).authority
        };
        assert_eq!(authority(":authority"), "a.example:8443");
        assert_eq!(authority("host"), "a.example:8443");
    }

    #[test]
    fn lines_of_a_list_are_one_list_and_other_fields_have_their_first_line_9110_5_3() {
        let header = |(name, value): (&str, &str)| Header::new(name.as_bytes(), value.as_bytes());
        let fields =
            [("accept", "a"), ("range", "1"), ("accept", ""), ("range", "2"), ("accept", "b, c")];
        let request = Request::from_headers(&fields.map(header));
        assert_eq!(request.list("accept").as_deref(), Some("a, , b, c"));
        assert_eq!(request.list("range-2"), None);
        assert_eq!(request.field("range"), Some("1"));
    }

    #[test]
    fn lines_of_what_the_resource_is_for_are_one_dictionary_8941_4_2() {
        let header = |value: &str| Header::new(METADATA_FIELD.as_bytes(), value.as_bytes());
        let request = Request::from_headers(&["kind=css", "critical"].map(header));
        assert_eq!(request.metadata(), Some(Metadata::parse(b"kind=css, critical")));
    }
}
