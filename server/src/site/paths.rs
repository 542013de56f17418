//! Paths of requests, as nginx reads them: dot segments, percent-encoded or not, are resolved before any lookup.

use http::uri::PathAndQuery;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use std::borrow::Cow;

/// The characters that are encoded in a path made here: all but those that a segment may have literally (RFC 3986, 3.3).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// A request's path and query without fragment and dot segments (RFC 3986, 5.2.4), so that rules, files and backends see the same
/// path. A path without dot segments is unchanged, and so is one that leads above the root, which is never served. Consecutive
/// slashes are one slash to a dot segment after them, as they are to a rule and to a file.
pub fn resolved(path: &str) -> Cow<'_, str> {
    let path = path.split('#').next().unwrap_or_default();
    let (plain, query) = decoded(path);
    let is_dots = |it: &[u8]| matches!(it, b"." | b"..");
    if !path.starts_with('/') || !plain.split(|it| *it == b'/').any(is_dots) {
        return path.into();
    }
    let Some(plain) = without_dots(&plain) else { return path.into() };
    let query = query.map_or(String::new(), |it| format!("?{it}"));
    (encoded(&plain) + &query).into()
}

/// Whether every version of HTTP can carry a path and query. The HTTP/1.1 and HTTP/2 libraries accept `{` and non-ASCII characters
/// literally, but not `<`, nor `"` in a query. CONNECT has no path.
pub fn is_sayable(path: &str) -> bool {
    let is_whole = !path.contains(char::REPLACEMENT_CHARACTER);
    path.is_empty() || (is_whole && PathAndQuery::try_from(path).is_ok())
}

/// A path as it appears in a URI.
pub fn encoded(path: &[u8]) -> String {
    percent_encode(path, ENCODED).to_string()
}

/// A path without percent-encoding, and its query unchanged.
pub fn decoded(path: &str) -> (Cow<'_, [u8]>, Option<&str>) {
    let (plain, query) = path.split_once('?').map_or((path, None), |(it, query)| (it, Some(query)));
    (percent_decode_str(plain).into(), query)
}

/// A decoded path without dot segments; `None`: it leads above the root.
fn without_dots(path: &[u8]) -> Option<Vec<u8>> {
    let mut names: Vec<&[u8]> = Vec::new();
    let mut is_folder = false;
    for name in path.split(|it| *it == b'/') {
        is_folder = matches!(name, b"" | b"." | b"..");
        match name {
            b".." => drop(names.pop()?),
            b"" | b"." => {}
            name => names.push(name),
        }
    }
    let mut path =
        names.iter().fold(Vec::new(), |path, name| [path.as_slice(), b"/", name].concat());
    if is_folder {
        path.push(b'/');
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_not_every_version_can_carry_is_known() {
        for (path, expected) in [
            ("/a?b={c}", true),
            ("/\"{}\"", true),
            ("/caf\u{e9}?\u{e9}", true),
            ("", true),
            ("/<", false),
            ("/a?b=\"c\"", false),
            ("/a?b=<", false),
            ("/a b", false),
            ("/\u{fffd}", false),
        ] {
            assert_eq!(is_sayable(path), expected, "{path}");
        }
    }

    #[test]
    fn dot_segments_are_resolved_however_they_are_written_and_never_lead_out() {
        for (path, expected) in [
            ("/a.txt", "/a.txt"),
            ("//a.txt", "//a.txt"),
            ("/sub/../a.txt", "/a.txt"),
            ("/./a.txt", "/a.txt"),
            ("/sub/%2e%2E/a.txt?x=../y", "/a.txt?x=../y"),
            ("/sub/.%2e/a.txt", "/a.txt"),
            ("/sub%2f..%2fa.txt", "/a.txt"),
            ("/a/b/../../c//./d", "/c/d"),
            ("/a//../b", "/b"),
            ("/a/..", "/"),
            ("/a/.", "/a/"),
            ("/./caf%c3%a9 \"%25%3f%23", "/caf%C3%A9%20%22%25%3F%23"),
            ("/.hidden/..a/b..", "/.hidden/..a/b.."),
            ("/x?a=/../b", "/x?a=/../b"),
            ("/x#f/../y", "/x"),
            ("/../a.txt", "/../a.txt"),
            ("/a/../../b", "/a/../../b"),
            ("/%2e%2e/a", "/%2e%2e/a"),
            ("//../a", "//../a"),
            ("/%252e%252e/a", "/%252e%252e/a"),
            ("*", "*"),
            ("", ""),
        ] {
            assert_eq!(resolved(path), expected, "{path}");
        }
    }
}
