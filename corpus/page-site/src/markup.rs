//! Synthetic bodies for a page, with the recorded size and compressibility, and with markup that makes a browser request
//! the same resources for the same reasons.
//!
//! HTML has its references at the recorded bytes. CSS imports stylesheets and uses images and fonts. Scripts run as long
//! as recorded and then request their resources. Filler lies between; enough of it is random to reach the size on the
//! wire.

use corpus::page::{Event, Script};
use corpus::{Page, PageResource};
use flate2::{Compression, GzBuilder};
use schedulers::Kind;
use server::site::Body;
use std::fmt::Write as _;
use std::io::Write as _;

/// The largest decoded markup that is generated; larger bodies are letters.
const TEXT_BYTES_MAX: u64 = 16 << 20;
/// How many times the share of random filler is halved in the search.
const STEPS: u32 = 9;
/// The function by which a script requests a resource of any kind.
const ASK: &str = "function utmostAsk(k,u,d){setTimeout(function(){var e;if(k=='css'){e=document.createElement('link');\
e.rel='stylesheet';e.href=u;document.head.appendChild(e)}else if(k=='js'){e=document.createElement('script');e.src=u;\
document.head.appendChild(e)}else if(k=='image'){new Image().src=u}else if(k=='font'){new FontFace('utmost'+u.length,\
'url('+u+')').load().catch(function(){})}else{fetch(u).catch(function(){})}},d)}";
/// The smallest image that browsers accept, whatever the MIME type of the response.
const PIXEL: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
\0\0\0\rIDATx\x9cc\xf8\xff\xff\xff\x7f\0\x09\xfb\x03\xfd\x05\x43\x45\xca\0\0\0\0IEND\xaeB`\x82";

/// The smallest font that browsers accept, in `TrueType` form, whatever the MIME type: the ten tables that they require (OpenType
/// 1.9), checksums of 0, one empty glyph of 500 of 1000 units per em, no letters. So a page shows its text as soon as the real page
/// would.
const FONT: &[u8] = include_bytes!("least.ttf");

const SVG: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\">";

#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) body: Body,
    pub(crate) gzip: bool,
}

impl Made {
    /// A body whose first bytes are `begin`; letters follow.
    pub(crate) fn letters(begin: &'static [u8], resource: &PageResource) -> Self {
        let (bytes, seed) = (resource.bytes, resource.id as u64);
        Self { body: Body::Synthetic { begin, bytes, seed }, gzip: false }
    }
}

pub(crate) fn body(page: &Page, id: usize) -> Made {
    let resource = &page.resources[id];
    let fine = (200..300).contains(&resource.status) && resource.bytes > 0;
    if !fine || resource.decoded_len() > TEXT_BYTES_MAX {
        return Made::letters(&[], resource);
    }
    let pieces = match resource.kind {
        Kind::Html if id == 0 => document(page),
        Kind::Css => Pieces::of_code(stylesheet(page, id)),
        Kind::Js => Pieces::of_code(script(page, id)),
        Kind::Image if resource.mime.contains("svg") => Pieces {
            parts: vec![(0, SVG.to_owned())],
            end: "</svg>".to_owned(),
            comment: ("<!--", "-->"),
        },
        kind => {
            let begin = match kind {
                Kind::Image => PIXEL,
                Kind::Font => FONT,
                _ => &[],
            };
            let fits = resource.bytes >= begin.len() as u64;
            return Made::letters(if fits { begin } else { &[] }, resource);
        }
    };
    encoded(&pieces, resource)
}

struct Pieces {
    /// The byte at which each part should end, and its text, in order.
    parts: Vec<(u64, String)>,
    end: String,
    comment: (&'static str, &'static str),
}

impl Pieces {
    fn of_code(text: String) -> Self {
        Self { parts: vec![(0, text)], end: String::new(), comment: ("/*", "*/") }
    }

    /// The text, padded to `bytes` bytes if it is shorter. Of every 256 bytes of filler, `random` are random.
    fn text(&self, bytes: u64, random: u32) -> Vec<u8> {
        let mut filler = Filler { state: 0x2545_f491_4f6c_dd1d, random };
        let mut text = Vec::new();
        for (end, part) in &self.parts {
            let begin = end.saturating_sub(part.len() as u64);
            self.fill(&mut text, begin, &mut filler);
            text.extend_from_slice(part.as_bytes());
        }
        self.fill(&mut text, bytes.saturating_sub(self.end.len() as u64), &mut filler);
        text.extend_from_slice(self.end.as_bytes());
        text
    }

    fn fill(&self, text: &mut Vec<u8>, to: u64, filler: &mut Filler) {
        let room = usize::try_from(to).unwrap_or(usize::MAX).saturating_sub(text.len());
        let (open, close) = self.comment;
        let Some(inside) = room.checked_sub(open.len() + close.len()) else {
            text.extend(std::iter::repeat_n(b' ', room));
            return;
        };
        text.extend_from_slice(open.as_bytes());
        text.extend(filler.take(inside));
        text.extend_from_slice(close.as_bytes());
    }
}

struct Filler {
    state: u64,
    random: u32,
}

impl Iterator for Filler {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
        let random = (self.state >> 40) & 255 < u64::from(self.random);
        Some(if random { letters[(self.state >> 20) as usize & 63] } else { b' ' })
    }
}

/// The text, with enough random filler to give it its size on the wire. A comment in the gzip header makes up the rest.
fn encoded(pieces: &Pieces, resource: &PageResource) -> Made {
    let (wire, plain) = (resource.bytes, resource.decoded_len());
    if wire >= plain {
        return Made { body: Body::Bytes(pieces.text(wire, 64).into()), gzip: false };
    }
    let mut random = 0;
    for step in (0..STEPS).rev() {
        let more = (random + (1 << step)).min(256);
        if gzip(&pieces.text(plain, more), 0).len() as u64 <= wire {
            random = more;
        }
    }
    let text = pieces.text(plain, random);
    let bytes = gzip(&text, 0);
    let missing = usize::try_from(wire).unwrap_or(usize::MAX).saturating_sub(bytes.len());
    let bytes = if missing > 0 { gzip(&text, missing) } else { bytes };
    Made { body: Body::Bytes(bytes.into()), gzip: true }
}

/// `text` as a gzip file with `padding` bytes of comment, including its terminator.
fn gzip(text: &[u8], padding: usize) -> Vec<u8> {
    let mut builder = GzBuilder::new();
    if let Some(letters) = padding.checked_sub(1) {
        builder = builder.comment(vec![b'-'; letters]);
    }
    let mut encoder = builder.write(Vec::new(), Compression::new(6));
    // Writing to memory does not fail.
    encoder.write_all(text).ok();
    encoder.finish().unwrap_or_default()
}

fn stylesheet(page: &Page, id: usize) -> String {
    let mut text = String::new();
    for sheet in children(page, id).filter(|child| child.trigger.on == Event::CssImport) {
        _ = write!(text, "@import url(\"{}\");", sheet.url);
    }
    for resource in children(page, id).filter(|child| child.trigger.on == Event::CssApplied) {
        text.push_str(&rule(resource));
    }
    text
}

fn rule(it: &PageResource) -> String {
    let (id, url) = (it.id, &it.url);
    if it.kind == Kind::Font {
        format!("@font-face{{font-family:u{id};src:url(\"{url}\")}}.u{id}{{font-family:u{id}}}")
    } else {
        format!(".u{id}{{background-image:url(\"{url}\")}}")
    }
}

fn script(page: &Page, id: usize) -> String {
    let mut text = format!("(function(){{{ASK}");
    for during in children(page, id).filter(|child| child.trigger.on == Event::Exec) {
        text.push_str(&ask(during));
    }
    let exec_ms = page.resources[id].exec_ms;
    _ = write!(text, "for(var t=performance.now();performance.now()-t<{exec_ms};);");
    for after in children(page, id).filter(|child| child.trigger.on != Event::Exec) {
        text.push_str(&ask(after));
    }
    text.push_str("})();");
    text
}

fn ask(it: &PageResource) -> String {
    let (kind, url) = (it.kind.name(), it.url.replace('\'', "%27"));
    format!("utmostAsk('{kind}','{url}',{});", it.trigger.delay_ms.max(0.0))
}

fn children(page: &Page, id: usize) -> impl Iterator<Item = &PageResource> {
    page.resources.iter().filter(move |it| it.id != 0 && it.trigger.of == id)
}

/// The document: tags at their bytes, and elements for resources of styles. An element that needs one of the document's
/// scripts stands after it.
fn document(page: &Page) -> Pieces {
    let mut parts: Vec<(u64, String)> = Vec::new();
    let in_head = page.resources.iter().filter(|it| it.is_in_text() && it.in_head);
    let body_byte = in_head.filter_map(|it| it.trigger.byte).max().unwrap_or(0);
    parts.push((0, format!("<!doctype html><html><head><title>{}</title>", page.name)));
    // Text comes first, because browsers do not render before there is something to see.
    parts.push((body_byte + 1, "<body>text".to_owned()));
    for resource in page.resources.iter().filter(|resource| resource.is_in_text()) {
        parts.push((resource.trigger.byte.unwrap_or(0), tag(resource)));
    }
    for resource in page.resources.iter().skip(1).filter(|resource| !resource.is_in_text()) {
        let Some(element) = element(resource) else { continue };
        let needs = resource.trigger.needs.iter().map(|&id| &page.resources[id]);
        let scripts = needs.filter(|it| it.kind == Kind::Js && it.is_in_text());
        let after = scripts.filter_map(|it| it.trigger.byte).max().unwrap_or(0).max(body_byte);
        parts.push((after + 2, element));
    }
    parts.sort_by_key(|(byte, _)| *byte);
    Pieces { parts, end: "</html>".to_owned(), comment: ("<!--", "-->") }
}

/// The element that makes a browser need a resource without a tag of its own.
fn element(it: &PageResource) -> Option<String> {
    let id = it.id;
    match it.trigger.on {
        Event::CssApplied => Some(format!("<i class=\"u{id}\">a</i>")),
        Event::StyleApplied => Some(format!("<style>{}</style><i class=\"u{id}\">a</i>", rule(it))),
        Event::Dcl => Some(ask_at("DOMContentLoaded", it)),
        // Scripts and stylesheets request these themselves.
        Event::Exec | Event::Timer | Event::CssImport => None,
        Event::Complete if it.trigger.of == 0 => Some(ask_at("DOMContentLoaded", it)),
        Event::Load | Event::Complete | Event::Bytes | Event::Nav => Some(ask_at("load", it)),
    }
}

fn ask_at(event: &str, it: &PageResource) -> String {
    format!("<script>{ASK}addEventListener('{event}',function(){{{}}})</script>", ask(it))
}

fn tag(it: &PageResource) -> String {
    let url = it.url.replace('&', "&amp;").replace('"', "%22");
    let destination = match it.kind {
        Kind::Css => "style",
        Kind::Js => "script",
        Kind::Image => "image",
        Kind::Font => "font",
        _ => "fetch",
    };
    let preload = format!("<link rel=\"preload\" as=\"{destination}\" href=\"{url}\" crossorigin>");
    let lazy = if it.lazy { " loading=\"lazy\"" } else { "" };
    match it.kind {
        _ if it.prefetch => format!("<link rel=\"prefetch\" href=\"{url}\">"),
        _ if it.preload => preload,
        Kind::Css if it.critical => format!("<link rel=\"stylesheet\" href=\"{url}\">"),
        Kind::Css => format!("<link rel=\"stylesheet\" media=\"print\" href=\"{url}\">"),
        Kind::Js => {
            let mode = match it.script {
                Some(Script::Async) => " async",
                Some(Script::Defer) => " defer",
                Some(Script::Module) => " type=\"module\"",
                Some(Script::Sync) | None => "",
            };
            format!("<script src=\"{url}\"{mode}></script>")
        }
        Kind::Image => format!("<img src=\"{url}\"{lazy}>"),
        Kind::Media => format!("<video src=\"{url}\" preload=\"auto\"></video>"),
        _ => preload,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    fn page() -> Page {
        Page::load(std::path::Path::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/data/small.json"
        )))
        .expect("a page")
    }

    fn decoded(made: &Made) -> String {
        let Body::Bytes(bytes) = &made.body else { panic!("not a text: {made:?}") };
        let mut text = String::new();
        if made.gzip {
            flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).expect("gzip");
        } else {
            text.push_str(std::str::from_utf8(bytes).expect("UTF-8"));
        }
        text
    }

    #[test]
    fn a_document_has_its_size_and_its_references_at_their_bytes() {
        let page = page();
        let made = body(&page, 0);
        assert_eq!((made.body.bytes(), made.gzip), (1000, true));
        let text = decoded(&made);
        assert_eq!(text.len(), 5000);
        let link = "<link rel=\"stylesheet\" href=\"/a.css\">";
        assert_eq!(text.find(link).map(|it| it + link.len()), Some(100));
        let script = "<script src=\"/b.js\"></script>";
        assert_eq!(text.find(script).map(|it| it + script.len()), Some(200));
        assert!(
            text.find("<i class=\"u3\">").expect("an element") >= 200,
            "behind the script it needs"
        );
    }

    #[test]
    fn a_stylesheet_refers_to_what_it_asks_for() {
        let text = decoded(&body(&page(), 1));
        assert_eq!(text.len(), 300);
        assert!(text.starts_with(".u3{background-image:url(\"/c.png\")}"), "{text}");
    }

    #[test]
    fn texts_have_their_size_on_the_wire() {
        for name in ["agency-home", "fomantic-card", "python-datetime"] {
            let page = corpus::bundled(name).expect("bundled");
            let mut larger = 0_u64;
            for it in &page.resources {
                let bytes = body(page, it.id).body.bytes();
                larger += bytes.saturating_sub(it.bytes);
                assert!(bytes >= it.bytes, "{name} {}", it.url);
            }
            let whole: u64 = page.resources.iter().map(|it| it.bytes).sum();
            assert!(larger * 50 <= whole, "{name}: {larger} of {whole} bytes too many");
        }
    }

    #[test]
    fn the_least_font_has_its_tables_behind_each_other_where_its_list_says() {
        let number = |at: usize| {
            let bytes: [u8; 4] = FONT[at..at + 4].try_into().expect("four bytes");
            u32::from_be_bytes(bytes) as usize
        };
        let mut end = 12 + 16 * 10;
        let entries = (0..10).map(|it| 12 + 16 * it);
        for entry in entries.clone() {
            assert_eq!(number(entry + 8), end, "at multiples of four");
            end = (end + number(entry + 12)).next_multiple_of(4);
        }
        assert_eq!((end, FONT.len()), (464, 464));
        let tags: Vec<&[u8]> = entries.map(|it| &FONT[it..it + 4]).collect();
        assert_eq!(tags.concat(), b"OS/2cmapglyfheadhheahmtxlocamaxpnamepost");
    }
}
