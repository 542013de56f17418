//! The types of files, by file extension.

use schedulers::Kind;
use server::site::Request;
use std::path::Path;

/// Types that the library's table lacks or has from before their registration: IANA's, as in nginx and Caddy.
const TYPES: &[(&str, &str)] = &[
    ("cjs", "text/javascript"),
    ("cur", "image/x-icon"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("ktx2", "image/ktx2"),
    ("m3u8", "application/vnd.apple.mpegurl"),
    ("m4a", "audio/mp4"),
    ("m4s", "video/iso.segment"),
    ("map", "application/json"),
    ("mid", "audio/midi"),
    ("mjs", "text/javascript"),
    ("obj", "model/obj"),
    ("otf", "font/otf"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("rpm", "application/x-redhat-package-manager"),
    ("stl", "model/stl"),
    ("toml", "application/toml"),
    ("ts", "video/mp2t"),
    ("usdz", "model/vnd.usdz+zip"),
    ("vcf", "text/vcard"),
    ("woff", "font/woff"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zst", "application/zstd"),
];

/// The type of a file, without parameters, if its extension is known.
pub(super) fn of(file: &Path) -> Option<&'static str> {
    let ending = file.extension()?.to_str()?;
    let own = TYPES.iter().find(|(it, _)| it.eq_ignore_ascii_case(ending));
    own.map(|(_, mime)| *mime).or_else(|| mime_guess::from_ext(ending).first_raw())
}

/// Whether a client could assume another character set (RFC 6657, RFC 9239). JSON and SVG are UTF-8, or declare it.
pub(super) fn is_text(mime: &str) -> bool {
    mime.starts_with("text/")
}

/// Whether compression makes files of a type smaller.
pub(crate) fn is_compressible(mime: &str) -> bool {
    let essence = mime.split(';').next().unwrap_or_default();
    is_text(essence)
        || essence.ends_with("+xml")
        || essence.ends_with("+json")
        || matches!(
            essence,
            "application/json"
                | "application/toml"
                | "application/vnd.apple.mpegurl"
                | "application/vnd.ms-fontobject"
                | "application/wasm"
                | "application/xml"
                | "application/yaml"
                | "font/otf"
                | "font/ttf"
                | "image/bmp"
                | "image/x-icon"
                | "model/obj"
        )
}

/// The kind of response that a request suggests.
pub(crate) fn expected(request: &Request) -> Kind {
    if request.upgrade.is_some() {
        return Kind::Xhr;
    }
    match request.field("sec-fetch-dest") {
        Some("document" | "iframe" | "frame") => return Kind::Html,
        Some("style") => return Kind::Css,
        Some("script") => return Kind::Js,
        Some("font") => return Kind::Font,
        Some("image") => return Kind::Image,
        Some("audio" | "video" | "track") => return Kind::Media,
        _ => {}
    }
    match of(Path::new(request.plain_path())) {
        Some(mime) => Kind::of_mime(mime),
        None if request.method == "GET" => Kind::Html,
        None => Kind::Xhr,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_tells_what_its_response_will_be() {
        let kind = |path: &str, destination: &str| {
            let fields = server::site::fields::fields([("sec-fetch-dest", destination)]);
            expected(&Request { fields, ..Request::get("a", path) })
        };
        assert_eq!(kind("/a.css?1", ""), Kind::Css);
        assert_eq!(kind("/a.php", "script"), Kind::Js);
        assert_eq!(kind("/shop/", ""), Kind::Html);
    }

    #[test]
    fn a_file_has_the_type_that_is_registered_for_its_ending() {
        for (name, expected) in [
            ("a.mjs", Some("text/javascript")),
            ("a.cjs", Some("text/javascript")),
            ("a.MJS", Some("text/javascript")),
            ("a.js", Some("text/javascript")),
            ("a.js.map", Some("application/json")),
            ("a.json", Some("application/json")),
            ("a.webmanifest", Some("application/manifest+json")),
            ("a.wasm", Some("application/wasm")),
            ("a.css", Some("text/css")),
            ("a.html", Some("text/html")),
            ("a.xhtml", Some("application/xhtml+xml")),
            ("a.svg", Some("image/svg+xml")),
            ("a.avif", Some("image/avif")),
            ("a.webp", Some("image/webp")),
            ("a.jxl", Some("image/jxl")),
            ("a.woff", Some("font/woff")),
            ("a.woff2", Some("font/woff2")),
            ("a.otf", Some("font/otf")),
            ("a.ttf", Some("font/ttf")),
            ("a.mp4", Some("video/mp4")),
            ("a.m4a", Some("audio/mp4")),
            ("a.m3u8", Some("application/vnd.apple.mpegurl")),
            ("a.ts", Some("video/mp2t")),
            ("a.vtt", Some("text/vtt")),
            ("a.md", Some("text/markdown")),
            ("a.txt", Some("text/plain")),
            ("a.xml", Some("text/xml")),
            ("a.pdf", Some("application/pdf")),
            ("a.yaml", Some("application/yaml")),
            ("a.unknown", None),
            ("a", None),
        ] {
            assert_eq!(of(Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn types_of_text_and_of_plain_data_are_compressed() {
        for (mime, expected) in [
            ("text/javascript; charset=utf-8", true),
            ("application/json", true),
            ("application/manifest+json", true),
            ("image/svg+xml", true),
            ("application/wasm", true),
            ("font/woff2", false),
            ("image/avif", false),
            ("application/octet-stream", false),
        ] {
            assert_eq!(is_compressible(mime), expected, "{mime}");
        }
    }
}
