//! The kinds of resources, and their names.

crate::named! {
    /// The kind of a resource.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Kind {
        /// `text/html`.
        Html = "html",
        /// `text/css`.
        Css = "css",
        /// Any JavaScript.
        Js = "js",
        /// Any font.
        Font = "font",
        /// Any image, `image/svg+xml` included.
        Image = "image",
        /// Video and audio.
        Media = "media",
        /// JSON and XML: data that scripts fetch.
        Xhr = "xhr",
        /// Everything else.
        #[default]
        Other = "other",
    }
}

impl Kind {
    /// The kind for a MIME type; ignores parameters (`; charset=...`) and case.
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

    #[test]
    fn a_name_gives_its_kind_back() {
        assert_eq!(Kind::ALL.map(Kind::name), Kind::NAMES);
        assert_eq!(Kind::ALL.map(|it| Kind::named(it.name())), Kind::ALL.map(Some));
        assert_eq!(Kind::named("HTML"), None);
    }
}
