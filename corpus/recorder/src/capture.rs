//! The raw observations of one load of a page, without conclusions.

use serde::{Deserialize, Serialize};

/// One load. Times are in milliseconds since the request for the document was sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// The setting's name.
    pub setting: String,
    /// The browser, with its version.
    pub browser: String,
    /// Width and height in CSS pixels.
    pub viewport: [u32; 2],
    /// The document's text.
    pub document: String,
    /// Time and decoded bytes of the document at each arrival.
    pub document_arrivals: Vec<(f64, u64)>,
    /// The requests in order of discovery, the document first, without requests to other hosts or
    /// for the page's icon.
    pub fetches: Vec<Fetch>,
    /// Main-thread work by the path of the script or stylesheet.
    pub work: Vec<Work>,
    /// `DOMContentLoaded`.
    pub dom_ready_ms: Option<f64>,
    /// The load event.
    pub load_ms: Option<f64>,
    /// The largest contentful paint, if it is an image.
    pub largest_paint: Option<String>,
    /// Images in the layout.
    pub boxes: Vec<ImageBox>,
    /// Scripts, stylesheets and other links of the document.
    pub elements: Vec<Element>,
    /// Hosts, other than the page's, that were requested and not reached.
    pub other_hosts: Vec<String>,
}

/// One request and its response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fetch {
    /// Path with query.
    pub path: String,
    /// Its use, in DevTools' words: `Stylesheet`.
    pub used_as: String,
    /// MIME type without parameters.
    pub mime: String,
    /// HTTP status; `None` if the request failed.
    pub status: Option<u16>,
    /// `h3`.
    pub protocol: String,
    /// Body bytes on the wire.
    pub bytes: u64,
    /// Bytes of the decoded body.
    pub decoded_bytes: u64,
    /// When the browser discovered it.
    pub discovered_ms: f64,
    /// When the browser had the whole response.
    pub finished_ms: f64,
    /// DevTools' render-blocking status: `blocking`, `in_body_parser_blocking`, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub render_blocking: Option<String>,
    /// Whether `<link rel=preload>` requested it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preload: bool,
    /// The `priority` field that the server saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// The initiator of the request.
    pub initiator: Initiator,
}

/// The initiator of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Initiator {
    /// DevTools' type: `parser`, `script`, `other`; empty if unknown.
    pub kind: String,
    /// The kind of reference: `css`, `img`, `link`, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched_by: Option<String>,
    /// Path of the resource that references it, if that is the page's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Line and column, from 0, at which the reference ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<(u64, u64)>,
    /// Paths of the scripts on the stack, the innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
}

/// Work of the main thread for a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// Path with query.
    pub path: String,
    /// Begin.
    pub begin_ms: f64,
    /// Length.
    pub duration_ms: f64,
}

/// An image in the layout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageBox {
    /// Path with query; the URL in the browser's own report.
    #[serde(alias = "url")]
    pub path: String,
    /// Visible area as a fraction of the viewport.
    pub share: f64,
    /// A background image.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
}

/// A script, link or image element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Element {
    /// Path with query; the URL in the browser's own report.
    #[serde(alias = "url")]
    pub path: String,
    /// `script`, `link` or `img`.
    pub tag: String,
    /// For a link its `rel`; for a script `async`, `defer`, `module`; for an image `lazy`;
    /// otherwise empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mode: String,
    /// In the head.
    #[serde(default, alias = "inHead", skip_serializing_if = "std::ops::Not::not")]
    pub in_head: bool,
    /// The `fetchpriority` attribute.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fetchpriority: String,
}
