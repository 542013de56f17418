//! Paths of requests, as nginx reads them: dot segments are resolved before anything is looked up, percent-encoded or not.

use http::uri::PathAndQuery;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use std::borrow::Cow;

/// The characters that are encoded in a path that is made here: all but what a segment may have as it is (RFC 3986, 3.3).
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
/// path. One without dot segments stays as it came, and so does one that leads above the root, which nobody serves. Slashes in a
/// row are one slash to a dot segment behind them, as they are to a rule and to a file.
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

/// Whether every version of HTTP can carry a path and query. The libraries of HTTP/1.1 and HTTP/2 take `{` and what is beside ASCII
/// as they are, but not `<`, nor `"` in a query. CONNECT has no path.
pub fn is_sayable(path: &str) -> bool {
    let is_whole = !path.contains(char::REPLACEMENT_CHARACTER);
    path.is_empty() || (is_whole && PathAndQuery::try_from(path).is_ok())
}

/// A path as it stands in a URI.
pub fn encoded(path: &[u8]) -> String {
    percent_encode(path, ENCODED).to_string()
}

/// A path without percent-encoding, and its query as it is.
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
