//! What is known of a resource when its place in the order is chosen.

/// The kind of a resource, derived from its MIME type in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Kind {
    /// `text/html`.
    Html,
    /// `text/css`.
    Css,
    /// Any JavaScript.
    Js,
    /// Any font.
    Font,
    /// Any image, `image/svg+xml` included.
    Image,
    /// Video and audio.
    Media,
    /// JSON and XML: what scripts fetch.
    Xhr,
    /// Everything else.
    #[default]
    Other,
}

impl Kind {
    /// The kind of a MIME type; parameters (`; charset=...`) and case do not matter.
    ///
    /// `application/xhtml+xml` counts as XML, as in the paper's implementation: only `text/html` is a page.
    pub fn of_mime(mime: &str) -> Self {
        let essence = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "text/html" => Self::Html,
            "text/css" => Self::Css,
            it if it.contains("javascript") || it.contains("ecmascript") => Self::Js,
            it if it.contains("font") || it == "application/vnd.ms-fontobject" => Self::Font,
            it if it.starts_with("image/") => Self::Image,
            it if it.starts_with("video/") || it.starts_with("audio/") => Self::Media,
            it if it.contains("xml") || it.contains("json") => Self::Xhr,
            _ => Self::Other,
        }
    }
}

/// What a scheme may know of a resource. Absent knowledge is `false` or `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, as in the scenario format")]
pub struct Resource {
    /// Its place in the page, and in the page's [`crate::PageGraph`].
    pub id: Option<usize>,
    /// Derived from the MIME type.
    pub kind: Kind,
    /// The main document of the page.
    pub main: bool,
    /// Referenced in the document's head.
    pub in_head: bool,
    /// On the critical path.
    pub critical: bool,
    /// In the above-the-fold set.
    pub above_fold: bool,
    /// Referenced after the first image of the document.
    pub after_first_image: bool,
    /// A script with `async`.
    pub asynchronous: bool,
    /// A script with `defer` (modules are deferred).
    pub deferred: bool,
    /// Asked for by a preload hint.
    pub preload: bool,
    /// What a browser signals for it in RFC 9218's terms: urgency 0 to 7, incremental.
    pub browser: Option<(u8, bool)>,
    /// Bytes of the body on the wire, when known.
    pub body_bytes: Option<u64>,
}

impl Resource {
    /// A script that nothing waits for: `async` or `defer`.
    pub(crate) fn is_late_script(&self) -> bool {
        self.kind == Kind::Js && (self.asynchronous || self.deferred)
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn a_mime_type_gives_one_kind() {
        let table = [
            ("text/html; charset=utf-8", Kind::Html),
            ("TEXT/CSS", Kind::Css),
            ("application/javascript", Kind::Js),
            ("text/javascript", Kind::Js),
            ("font/woff", Kind::Font),
            ("application/font-woff", Kind::Font),
            ("application/x-font-ttf", Kind::Font),
            ("image/x-icon", Kind::Image),
            ("image/svg+xml", Kind::Image),
            ("video/mp4", Kind::Media),
            ("application/json", Kind::Xhr),
            ("application/xml", Kind::Xhr),
            ("application/xhtml+xml", Kind::Xhr),
            ("text/plain", Kind::Other),
            ("unknown", Kind::Other),
            ("", Kind::Other),
        ];
        for (mime, kind) in table {
            assert_eq!(Kind::of_mime(mime), kind, "{mime}");
        }
    }
}
