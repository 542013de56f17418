//! Reads the records that browsers make of page loads into one model: HAR files and `DevTools` logs.
//!
//! Importers make pages of it, and the linter judges the order of its responses.

mod devtools;
mod har;
mod json;
mod limits;
mod repair;
mod size;

pub use devtools::read_devtools;
pub use har::read_har;
pub use json::{each_entry, text, whole, within_limit};
pub use limits::{FILE_BYTES_MAX, REQUESTS_MAX};
pub use repair::json_text;

use serde_json::Value;
use size::Stated;
use std::collections::BTreeMap;
use url::Url;

/// One recording of a browser.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capture {
    /// The page loads, in order.
    pub loads: Vec<Load>,
    /// Where redirected URLs led.
    pub redirects: BTreeMap<String, String>,
    /// Responses that came from a service worker.
    pub from_service_worker: usize,
    /// Lines that are not JSON, which were left out, each with the reason.
    pub unread: Vec<String>,
}

/// One page load.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Load {
    /// In the order of the recording.
    pub fetches: Vec<Fetch>,
    /// The load event, in milliseconds on the recording's clock.
    pub load_ms: Option<f64>,
    /// The address of its document, perhaps before redirects, where the recording says it.
    pub address: Option<String>,
}

impl Load {
    /// Marks the image of the largest contentful paint.
    pub(crate) fn note_largest_paint(&mut self, url: &str) {
        let url = without_fragment(url);
        for fetch in &mut self.fetches {
            fetch.largest_paint = !url.is_empty() && fetch.url == url;
        }
    }
}

/// A request and its response. All times are milliseconds on the recording's clock.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a recording")]
pub struct Fetch {
    /// Its place in the recording, from 1: of the entry of a HAR file, or of the event that began it.
    pub number: usize,
    /// Without its fragment.
    pub url: String,
    /// GET, POST.
    pub method: String,
    /// When it was made; not a number if the recording does not say.
    pub requested_ms: f64,
    /// When it left, after its connection was made.
    pub sent_ms: Option<f64>,
    /// From then to the first byte of the response.
    pub wait_ms: Option<f64>,
    /// From the first byte to the last.
    pub receive_ms: Option<f64>,
    /// When the last byte came.
    pub finished_ms: Option<f64>,
    /// When bytes of the response came, and how many; empty if the recording does not say.
    pub arrivals: Vec<(f64, u64)>,
    /// Identifies the connection; empty if the recording does not say.
    pub connection: String,
    /// `h3`, `http/1.1`.
    pub protocol: String,
    /// `DevTools`' word: Document, Stylesheet, Script, Font, Image, Media, XHR, Fetch, Other.
    pub used_as: String,
    /// MIME type, in small letters.
    pub mime: String,
    /// HTTP status; 0 for a failure.
    pub status: u16,
    /// The place of the first byte of a partial response in its file.
    pub range: Option<u64>,
    /// A cache or a service worker answered, perhaps after asking the server: nothing of the body was on the wire.
    pub from_cache: bool,
    /// Body bytes on the wire.
    pub bytes: u64,
    /// How `bytes` is known.
    pub size: Size,
    /// The recording has the fields of the response's head, which it lacks of some that were cut.
    pub has_head: bool,
    /// Bytes of the decoded body.
    pub decoded_bytes: u64,
    /// The part of the browser that asked for it.
    pub initiator: Initiator,
    /// URLs of the document, stylesheet or script that asked for it, or of the scripts of the call stack.
    pub initiator_urls: Vec<String>,
    /// Line and column of the reference, from 0.
    pub place: Option<(u64, u64)>,
    /// The parser is said to have asked for it while it parsed nothing: a style did.
    pub outside_text: bool,
    /// The Referer field: it names a stylesheet where the initiator does not.
    pub referer: String,
    /// The first priority.
    pub priority: Option<Priority>,
    /// Priorities, each with the time from which it applied.
    pub priorities: Vec<(f64, Priority)>,
    /// The request's `priority` field (RFC 9218, section 5); empty if there is none.
    pub priority_field: String,
    /// Raised while under way: Chrome does so with images that turn out to be visible.
    pub raised: bool,
    /// The image of the largest contentful paint.
    pub largest_paint: bool,
    /// Render- or parser-blocking, when that is recorded.
    pub blocking: Option<bool>,
    /// Asked for by a preload hint.
    pub preload: bool,
    /// Asked for in a frame within the page.
    pub in_subframe: bool,
    /// Main-thread time, when it is recorded.
    pub exec_ms: Option<f64>,
}

impl Fetch {
    /// Takes in the size of the body. A body that was not compressed is as large decoded.
    pub(crate) fn settle(&mut self, bytes: u64, size: Size, stated: &Stated) {
        (self.bytes, self.size) = (bytes, size);
        self.has_head = stated.head_text > 0;
        self.decoded_bytes = match stated.decoded {
            Some(decoded) if decoded > 0 && stated.encoded => decoded,
            decoded => decoded.unwrap_or(0).max(bytes),
        };
    }
}

/// The place of a partial response's first byte (RFC 9110, section 14.4): `bytes 200-1000/5000`.
pub(crate) fn first_byte(headers: &Value, status: u16) -> Option<u64> {
    let range = Some(json::field(headers, "content-range")).filter(|_| status == 206)?;
    range.trim().strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}

/// Whether an address of `http` or `https` names a host.
pub fn has_host(url: &str) -> bool {
    Url::parse(url).is_ok_and(|it| it.has_host())
}

pub(crate) fn without_fragment(url: &str) -> String {
    url.split('#').next().unwrap_or_default().to_owned()
}

/// How the size of a body on the wire is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Size {
    /// The recording states it; it can be 0.
    #[default]
    Recorded,
    /// A cache or a service worker answered: the decoded size stands for it.
    Decoded,
    /// The recording states neither this size nor the decoded one: `bytes` is 0.
    Unknown,
}

/// The part of a browser that asks for a resource.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Initiator {
    /// The parser of a document or stylesheet.
    Parser,
    /// A script.
    Script,
    /// The browser itself: a hint in a header, an icon, a frame.
    Browser,
    /// The recording does not say.
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
    /// From the name that `DevTools` uses, or the network stack's (in capitals).
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
        match self {
            Self::VeryHigh => 0,
            Self::High => 1,
            Self::Medium => 2,
            Self::Low => 3,
            Self::VeryLow => 4,
        }
    }
}
