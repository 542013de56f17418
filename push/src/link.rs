//! `Link` response fields: what to push, and what only to hint (RFC 8288; NGINX's `http2_push_preload`).
//!
//! A link is pushed if it is a preload of the same origin without `nopush`; every preload, preconnect and modulepreload
//! may be forwarded in early hints. Unparsable values are omitted and the rest stays, because an upstream's typing error
//! must not cost the response.

use crate::limits::{LINK_FIELD_BYTES_MAX, LINKS_MAX};
use percent_encoding::percent_decode_str;

/// One link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// The text between the angle brackets, without surrounding white space.
    pub target: String,
    /// The relation types, lower case; the first `rel` counts (RFC 8288, 3.3).
    pub relations: Vec<String>,
    /// The `as` attribute, lower case: what the resource is for.
    pub destination: Option<String>,
    /// `nopush`: hint it, do not push it.
    pub nopush: bool,
    /// `crossorigin`: it is requested without credentials, or with its value's.
    pub crossorigin: bool,
    /// The context is not the response itself but another resource (`anchor`), so the link is ignored (RFC 8288, 3.2).
    pub anchored: bool,
}

impl Link {
    /// Whether it has the relation type.
    pub fn is(&self, relation: &str) -> bool {
        self.relations.iter().any(|it| it == relation)
    }

    /// The path to push, if there is one: a preload with an absolute path on the same origin. Excludes relative
    /// references, other hosts (`//host/`) and full URLs (NGINX's rule).
    pub fn path_to_push(&self) -> Option<&str> {
        let pushable =
            self.is("preload") && !self.nopush && !self.anchored && is_path(&self.target);
        pushable.then_some(self.target.as_str())
    }

    /// Whether it may be forwarded in early hints (HTML, 4.6.7: preload, preconnect, modulepreload).
    pub fn is_hint(&self) -> bool {
        !self.anchored && ["preload", "preconnect", "modulepreload"].iter().any(|it| self.is(it))
    }
}

/// An absolute path, with its query, in characters that a `:path` may have.
pub fn is_path(target: &str) -> bool {
    target.starts_with('/')
        && !target.starts_with("//")
        && !target.starts_with("/\\")
        && !target.contains('#')
        && target.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A path ([`is_path`]) that cannot lead elsewhere: without `.` and `..` segments and without control characters, encoded
/// or not.
pub fn is_plain_path(target: &str) -> bool {
    let decoded: Vec<u8> = percent_decode_str(without_query(target)).collect();
    let mut segments = decoded.split(|it| matches!(it, b'/' | b'\\'));
    is_path(target)
        && !target.contains('\\')
        && !decoded.iter().any(u8::is_ascii_control)
        && segments.all(|it| it != b"." && it != b"..")
}

/// The path of a target, without its query.
pub fn without_query(target: &str) -> &str {
    target.split('?').next().unwrap_or_default()
}

/// The links in a response's `Link` field; several fields of a response are joined.
pub fn parse(field: &str) -> Vec<Link> {
    if field.len() > LINK_FIELD_BYTES_MAX {
        return Vec::new();
    }
    split_outside(field, b',').filter_map(parse_one).take(LINKS_MAX).collect()
}

/// Whether a field names something that may be forwarded in early hints.
pub fn is_hint(field: &str) -> bool {
    parse(field).iter().any(Link::is_hint)
}

fn parse_one(text: &str) -> Option<Link> {
    let (target, parameters) = text.trim().strip_prefix('<')?.split_once('>')?;
    let mut link = Link { target: target.trim().to_owned(), ..Link::default() };
    let parameters = parameters.trim_start();
    if !parameters.is_empty() && !parameters.starts_with(';') {
        return None;
    }
    for parameter in split_outside(parameters, b';') {
        set_parameter(&mut link, parameter.trim());
    }
    Some(link)
}

/// The first of repeated `rel` and `as` counts.
fn set_parameter(link: &mut Link, parameter: &str) {
    let (name, value) = match parameter.split_once('=') {
        Some((name, value)) => (name.trim(), unquote(value.trim())),
        None => (parameter, String::new()),
    };
    match name.to_ascii_lowercase().as_str() {
        "rel" if link.relations.is_empty() => {
            link.relations = value.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
        }
        "as" if link.destination.is_none() => link.destination = Some(value.to_ascii_lowercase()),
        "nopush" => link.nopush = true,
        "crossorigin" => link.crossorigin = true,
        "anchor" => link.anchored = true,
        _ => {}
    }
}

/// A token unchanged; a quoted string without its quotes and backslashes (RFC 9110, 5.6.4).
fn unquote(value: &str) -> String {
    let Some(quoted) = value.strip_prefix('"') else { return value.to_owned() };
    let mut text = String::new();
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => text.extend(characters.next()),
            other => text.push(other),
        }
    }
    text
}

/// The pieces between separators outside angle brackets and quotes. An unclosed bracket or quote extends to the end.
fn split_outside(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = end_of_piece(text, separator);
        rest = end.map(|end| &text[end + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
    .filter(|piece| !piece.trim().is_empty())
}

fn end_of_piece(text: &str, separator: u8) -> Option<usize> {
    let (mut bracket, mut quoted, mut escaped) = (false, false, false);
    text.bytes().position(|byte| {
        if escaped {
            escaped = false;
        } else if quoted {
            escaped = byte == b'\\';
            quoted = byte != b'"';
        } else if bracket {
            bracket = byte != b'>';
        } else if byte == separator {
            return true;
        } else {
            bracket = byte == b'<';
            quoted = byte == b'"';
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `path` for a push, `(target)` for a mere hint, `-target` for neither.
    fn seen(field: &str) -> String {
        let one = |link: &Link| match (link.path_to_push(), link.is_hint()) {
            (Some(path), _) => path.to_owned(),
            (None, true) => format!("({})", link.target),
            (None, false) => format!("-{}", link.target),
        };
        parse(field).iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_field_pushes_and_hints_what_its_row_says() {
        let rows = [
            // A value as it should be.
            ("</a.css>; rel=preload; as=style", "/a.css"),
            ("</a.css>;rel=preload;as=style", "/a.css"),
            ("</a.css>; rel=\"preload\"; as=style", "/a.css"),
            ("</a.css>; as=style; rel=preload", "/a.css"),
            ("</a.css> ; rel = preload", "/a.css"),
            ("</a.css>; REL=PreLoad", "/a.css"),
            ("</a>; rel=preload, </b>; rel=preload", "/a /b"),
            ("</a>; rel=preload,</b>; rel=preload", "/a /b"),
            ("</a?x=1&y=2>; rel=preload", "/a?x=1&y=2"),
            ("</a%20b>; rel=preload", "/a%20b"),
            ("< /a >; rel=preload", "/a"),
            ("</>; rel=preload", "/"),
            // What is only hinted.
            ("</a>; rel=preload; nopush", "(/a)"),
            ("</a>; rel=preload; NoPush", "(/a)"),
            ("</a>; nopush; rel=preload", "(/a)"),
            ("</a>; rel=preload; nopush=1", "(/a)"),
            ("<a.css>; rel=preload", "(a.css)"),
            ("<./a.css>; rel=preload", "(./a.css)"),
            ("<../a.css>; rel=preload", "(../a.css)"),
            ("<//cdn.example/a.css>; rel=preload", "(//cdn.example/a.css)"),
            ("</\\cdn.example/a.css>; rel=preload", "(/\\cdn.example/a.css)"),
            ("<https://example.org/a.css>; rel=preload", "(https://example.org/a.css)"),
            ("</a b>; rel=preload", "(/a b)"),
            ("</a#b>; rel=preload", "(/a#b)"),
            ("</\u{e9}>; rel=preload", "(/\u{e9})"),
            ("<https://cdn.example>; rel=preconnect", "(https://cdn.example)"),
            ("</m.js>; rel=modulepreload", "(/m.js)"),
            // What is neither.
            ("</a>; rel=prefetch", "-/a"),
            ("</a>; rel=stylesheet", "-/a"),
            ("</a>", "-/a"),
            ("</a>; rel", "-/a"),
            ("</a>; rel=\"\"", "-/a"),
            ("</a>; rel=preloader", "-/a"),
            ("</a>; rel=preload; anchor=\"/other\"", "-/a"),
            // Several relations, repeated parameters.
            ("</a>; rel=\"prefetch preload\"", "/a"),
            ("</a>; rel=\"next  preload\"; as=style", "/a"),
            ("</a>; rel=prefetch; rel=preload", "-/a"),
            ("</a>; rel=preload; rel=prefetch", "/a"),
            // Separators where they do not separate.
            ("</a,b>; rel=preload", "/a,b"),
            ("</a;b>; rel=preload", "/a;b"),
            ("</a>; title=\"x, y; z\"; rel=preload", "/a"),
            ("</a>; title=\"x \\\" , y\"; rel=preload, </b>; rel=preload", "/a /b"),
            ("</a>; title=\"<b>\"; rel=preload", "/a"),
            // A mistake affects only its own link.
            ("", ""),
            (",,", ""),
            ("/a; rel=preload", ""),
            ("</a; rel=preload", ""),
            ("</a>; rel=\"preload", "/a"),
            ("</a> rel=preload", ""),
            ("nonsense, </b>; rel=preload", "/b"),
            ("</a>;;; rel=preload;;", "/a"),
            ("</a\r\nx: y>; rel=preload", "(/a\r\nx: y)"),
        ];
        for (field, expected) in rows {
            assert_eq!(seen(field), expected, "{field}");
        }
        assert!(rows.len() >= 40);
    }

    #[test]
    fn what_a_link_is_for_is_read() {
        let links = parse("</f.woff2>; rel=preload; as=Font; crossorigin");
        assert_eq!(links[0].destination.as_deref(), Some("font"));
        assert!(links[0].crossorigin);
    }

    #[test]
    fn a_field_of_many_links_or_bytes_is_cut_off() {
        assert_eq!(parse(&"</a>; rel=preload,".repeat(500)).len(), LINKS_MAX);
        assert!(parse(&format!("</{}>; rel=preload", "a".repeat(100_000))).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_text_parses_to_what_it_holds(field in "[<>\";,= a-z/\\\\]{0,80}") {
            for link in parse(&field) {
                proptest::prop_assert!(field.contains(&link.target));
            }
        }
    }
}
