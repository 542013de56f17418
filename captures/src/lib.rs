//! Reads browsers' recordings of page loads (HAR files and `DevTools` logs) into one model.
//!
//! Importers turn it into pages, and the linter judges the order of its responses.

mod devtools;
mod har;
mod json;
mod limits;
mod repair;
mod size;

pub use devtools::read_devtools;
pub use har::read_har;
pub use json::{each_entry, json_cause, text, whole, within_limit};
pub use limits::{FILE_BYTES_MAX, REQUESTS_MAX};
pub use repair::json_text;

use serde_json::Value;
use size::Stated;
use std::collections::BTreeMap;
use url::Url;

/// One recording by a browser.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capture {
    /// The page loads, in order.
    pub loads: Vec<Load>,
    /// Where redirected URLs led.
    pub redirects: BTreeMap<String, String>,
    /// Responses from a service worker.
    pub from_service_worker: usize,
    /// Lines that were skipped because they are not JSON, each with the reason.
    pub unread: Vec<String>,
}

/// One page load.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Load {
    /// In the order of the recording.
    pub fetches: Vec<Fetch>,
    /// The load event, in milliseconds on the recording's clock.
    pub load_ms: Option<f64>,
    /// The URL of its document, perhaps before redirects, if the recording states it.
    pub address: Option<String>,
}

impl Load {
    /// Marks the image of the largest contentful paint.
    pub(crate) fn note_largest_paint(&mut self, url: &str) {
        let url = normal_url(url);
        for fetch in &mut self.fetches {
            fetch.largest_paint = !url.is_empty() && fetch.url == url;
        }
    }
}

/// A request and its response. All times are milliseconds on the recording's clock.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a recording")]
pub struct Fetch {
    /// Its number in the recording, from 1: of the entry in a HAR file, or of the event that began it.
    pub number: usize,
    /// Without its fragment, and without a port that its scheme implies.
    pub url: String,
    /// GET, POST.
    pub method: String,
    /// When it was made; NaN if the recording does not state it.
    pub requested_ms: f64,
    /// When it was sent, after its connection was made.
    pub sent_ms: Option<f64>,
    /// From sending to the first byte of the response.
    pub wait_ms: Option<f64>,
    /// From the first byte to the last.
    pub receive_ms: Option<f64>,
    /// When the last byte arrived.
    pub finished_ms: Option<f64>,
    /// When bytes of the response arrived, and how many; empty if not recorded.
    pub arrivals: Vec<(f64, u64)>,
    /// Identifies the connection; empty if not recorded.
    pub connection: String,
    /// `h3`, `http/1.1`.
    pub protocol: String,
    /// The `DevTools` term: Document, Stylesheet, Script, Font, Image, Media, XHR, Fetch, Other.
    pub used_as: String,
    /// MIME type, in small letters.
    pub mime: String,
    /// HTTP status; 0 for a failure.
    pub status: u16,
    /// The offset of a partial response's first byte in its file.
    pub range: Option<u64>,
    /// Answered by a cache or a service worker, perhaps after revalidation; no byte of the body was on the wire.
    pub from_cache: bool,
    /// Body bytes on the wire.
    pub bytes: u64,
    /// How `bytes` is known.
    pub size: Size,
    /// Whether the recording has the fields of the response's head; they are missing for some responses that were
    /// cut.
    pub has_head: bool,
    /// Bytes of the decoded body.
    pub decoded_bytes: u64,
    /// The part of the browser that made the request.
    pub initiator: Initiator,
    /// URLs of the document, stylesheet or script that made the request, or of the scripts on the call stack.
    pub initiator_urls: Vec<String>,
    /// Line and column of the reference, from 0.
    pub place: Option<(u64, u64)>,
    /// The recording names the parser as initiator although it was not parsing; the initiator was a style.
    pub outside_text: bool,
    /// The Referer field; it names a stylesheet even if the initiator does not.
    pub referer: String,
    /// The first priority.
    pub priority: Option<Priority>,
    /// Priorities, each with the time from which it applied.
    pub priorities: Vec<(f64, Priority)>,
    /// The request's `priority` field (RFC 9218, section 5); empty if there is none.
    pub priority_field: String,
    /// Raised during the load: Chrome does so for images that turn out to be visible.
    pub raised: bool,
    /// The image of the largest contentful paint.
    pub largest_paint: bool,
    /// Render- or parser-blocking, if recorded.
    pub blocking: Option<bool>,
    /// Asked for by a preload hint.
    pub preload: bool,
    /// Requested in a frame within the page.
    pub in_subframe: bool,
    /// Main-thread time, if recorded.
    pub exec_ms: Option<f64>,
}

impl Fetch {
    /// Sets the size of the body. An uncompressed body has the same decoded size.
    pub(crate) fn settle(&mut self, bytes: u64, size: Size, stated: &Stated) {
        (self.bytes, self.size) = (bytes, size);
        self.has_head = stated.head_text > 0;
        self.decoded_bytes = match stated.decoded {
            Some(decoded) if decoded > 0 && stated.encoded => decoded,
            decoded => decoded.unwrap_or(0).max(bytes),
        };
    }
}

/// The offset of a partial response's first byte (RFC 9110, section 14.4): `bytes 200-1000/5000`.
pub(crate) fn first_byte(headers: &Value, status: u16) -> Option<u64> {
    let range = Some(json::field(headers, "content-range")).filter(|_| status == 206)?;
    range.trim().strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}

/// Whether an address of `http` or `https` names a host.
pub fn has_host(url: &str) -> bool {
    Url::parse(url).is_ok_and(|it| it.has_host())
}

/// An address without its fragment, and without a port that its scheme implies: both name the same (RFC 9110, 4.2.3).
pub fn normal_url(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let host = url.find("://").map_or(0, |it| it + "://".len());
    let path = url[host..].find(['/', '?']).map_or(url.len(), |it| host + it);
    let (authority, path) = url.split_at(path);
    let port = if authority.starts_with("https:") { ":443" } else { ":80" };
    let is_http = authority.starts_with("http");
    let authority = authority.strip_suffix(port).filter(|_| is_http).unwrap_or(authority);
    format!("{authority}{path}")
}

/// How the size of a body on the wire is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Size {
    /// The recording states it; it can be 0.
    #[default]
    Recorded,
    /// A cache or a service worker answered; the decoded size stands in for the wire size.
    Decoded,
    /// The recording states neither this size nor the decoded one; `bytes` is 0.
    Unknown,
}

/// The part of a browser that requests a resource.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Initiator {
    /// The parser of a document or stylesheet.
    Parser,
    /// A script.
    Script,
    /// The browser itself: a hint in a header, an icon, a frame.
    Browser,
    /// The recording does not state it.
    #[default]
    Unknown,
}

impl Initiator {
    /// From the `type` of `DevTools`' initiator.
    pub(crate) fn of_type(name: Option<&str>) -> Option<Self> {
        Some(match name? {
            "parser" => Self::Parser,
            "script" => Self::Script,
            _ => Self::Browser,
        })
    }
}

/// Chrome's priority of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Priority {
    VeryLow,
    Low,
    Medium,
    High,
    VeryHigh,
}

impl Priority {
    /// The priority of this name, in the spelling of `DevTools` or of the network stack (capitals).
    pub fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "VeryHigh" | "Highest" | "HIGHEST" => Self::VeryHigh,
            "High" | "MEDIUM" => Self::High,
            "Medium" | "LOW" => Self::Medium,
            "Low" | "LOWEST" => Self::Low,
            "VeryLow" | "Lowest" | "IDLE" => Self::VeryLow,
            _ => return None,
        })
    }

    /// The urgency that Chrome sends for it (measured over HTTP/3).
    pub const fn urgency(self) -> u8 {
        Self::VeryHigh as u8 - self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::normal_url;

    #[test]
    fn a_port_that_the_scheme_implies_and_a_fragment_are_no_part_of_an_address() {
        let urls = [
            ("https://shop.test:443/a?b=:443#c", "https://shop.test/a?b=:443"),
            ("http://shop.test:80", "http://shop.test"),
            ("https://[::1]:443/", "https://[::1]/"),
            ("https://shop.test:80/", "https://shop.test:80/"),
            ("http://shop.test:443?a", "http://shop.test:443?a"),
            ("data:text/css,a:80", "data:text/css,a:80"),
            ("", ""),
        ];
        for (url, normal) in urls {
            assert_eq!(normal_url(url), normal, "{url}");
        }
    }
}
