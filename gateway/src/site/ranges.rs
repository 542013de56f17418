//! Ranges of a response (RFC 9110, 14).

use crate::limits::RANGES;
use hyper::header::{ACCEPT_RANGES, CONTENT_RANGE, CONTENT_TYPE, RANGE};
use server::site::fields::{kept, value};
use server::site::{Body, Request, Response};
use std::fmt::Write;
use std::sync::Arc;

/// The first byte and the number of bytes.
type Part = (u64, u64);

/// Reduces a response to the requested ranges; returns other responses unchanged.
pub(super) fn ranged(request: &Request, response: Response) -> Response {
    let field = request.field(RANGE).filter(|_| request.method == "GET");
    let is_here = response.status == 200 && response.ready.is_empty();
    let has_parts = is_here && response.fields(ACCEPT_RANGES).next().is_some();
    let Some(field) = field.filter(|_| has_parts && is_same_version(request, &response)) else {
        return response;
    };
    let whole_bytes = response.body.bytes();
    match parts(field, whole_bytes) {
        None => response,
        Some(parts) => match parts[..] {
            [] => unsatisfiable(response, whole_bytes),
            [part] => single(response, part),
            _ => several(response, &parts),
        },
    }
}

/// Whether the client's range belongs to this version, if it asks (RFC 9110, 13.1.5).
fn is_same_version(request: &Request, response: &Response) -> bool {
    let Some(wanted) = request.field("if-range") else { return true };
    let is = |name| response.fields(name).any(|it| it == wanted);
    // A weak tag does not identify bytes, and neither does a time that someone may have set.
    (is("etag") && !wanted.starts_with("W/")) || (is("last-modified") && response.is_told_by_time)
}

/// The ranges in a `Range` field; empty if all are beyond the end. `None`: the field is ignored, because it does not
/// name byte ranges, or names too many.
fn parts(field: &str, whole_bytes: u64) -> Option<Vec<Part>> {
    let (unit, set) = field.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let mut parts = Vec::new();
    for (count, range) in set.split(',').map(str::trim).filter(|it| !it.is_empty()).enumerate() {
        if count == RANGES {
            return None;
        }
        parts.extend(Some(part(range, whole_bytes)?).filter(|(_, bytes)| *bytes > 0));
    }
    let is_any = set.split(',').any(|it| !it.trim().is_empty());
    let is_worth_it = parts.len() < 2 || parts.iter().map(|(_, it)| it).sum::<u64>() <= whole_bytes;
    (is_any && is_worth_it).then_some(parts)
}

/// A range, without bytes if it is beyond the end. `None` if it is invalid.
fn part(range: &str, whole_bytes: u64) -> Option<Part> {
    let (first, last) = range.split_once('-')?;
    if first.is_empty() {
        let bytes = number(last)?.min(whole_bytes);
        return Some((whole_bytes - bytes, bytes));
    }
    let first = number(first)?;
    let last = if last.is_empty() { u64::MAX } else { number(last)? };
    if last < first {
        return None;
    }
    let end = last.saturating_add(1).min(whole_bytes);
    Some((first, end.saturating_sub(first)))
}

fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    // A number that is too large counts as the largest.
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

fn content_range((first, bytes): Part, whole_bytes: u64) -> String {
    format!("bytes {first}-{}/{whole_bytes}", first + bytes - 1)
}

fn partial(mut response: Response, body: Body) -> Response {
    response.resource.body_bytes = Some(body.bytes());
    Response { status: 206, body, ..response }
}

fn single(mut response: Response, part: Part) -> Response {
    let range = content_range(part, response.body.bytes());
    response.headers.append(CONTENT_RANGE, value(range));
    let of = Arc::new(std::mem::take(&mut response.body));
    partial(response, Body::Part { of, from: part.0, bytes: part.1 })
}

fn several(mut response: Response, parts: &[Part]) -> Response {
    let of = Arc::new(std::mem::take(&mut response.body));
    let mime = response.fields("content-type").next().unwrap_or_default().to_owned();
    let tag = response.fields("etag").next().unwrap_or_default();
    let boundary: String = tag.chars().filter(char::is_ascii_alphanumeric).collect();
    let boundary = format!("utmost-{}-{boundary}", parts.len());
    let mut bodies = Vec::new();
    let mut between = String::new();
    for part in parts {
        let range = content_range(*part, of.bytes());
        // Writing to a String cannot fail.
        write!(
            between,
            "\r\n--{boundary}\r\ncontent-type: {mime}\r\ncontent-range: {range}\r\n\r\n"
        )
        .unwrap_or_default();
        bodies.push(Body::Bytes(std::mem::take(&mut between).into_bytes().into()));
        bodies.push(Body::Part { of: Arc::clone(&of), from: part.0, bytes: part.1 });
    }
    bodies.push(Body::Bytes(format!("\r\n--{boundary}--\r\n").into_bytes().into()));
    let multipart = format!("multipart/byteranges; boundary={boundary}");
    response.headers.insert(CONTENT_TYPE, value(multipart));
    partial(response, Body::Several(bodies.into()))
}

fn unsatisfiable(mut response: Response, whole_bytes: u64) -> Response {
    let is_kept = |name: &str| matches!(name, "etag" | "last-modified" | "accept-ranges" | "vary");
    response.headers = kept(&response.headers, is_kept).collect();
    response.headers.append(CONTENT_RANGE, value(format!("bytes */{whole_bytes}")));
    response.resource.body_bytes = Some(0);
    Response { status: 416, body: Body::Empty, ..response }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_names_parts_or_is_ignored() {
        for (field, expected) in [
            ("bytes=0-0", Some(vec![(0, 1)])),
            ("bytes=2-", Some(vec![(2, 8)])),
            ("Bytes = 2-3", Some(vec![(2, 2)])),
            ("bytes=-3", Some(vec![(7, 3)])),
            ("bytes=-30", Some(vec![(0, 10)])),
            ("bytes=8-99999999999999999999999", Some(vec![(8, 2)])),
            ("bytes=0-1, 4-5 ,", Some(vec![(0, 2), (4, 2)])),
            ("bytes=0-1,20-", Some(vec![(0, 2)])),
            ("bytes=10-", Some(vec![])),
            ("bytes=-0", Some(vec![])),
            ("bytes=0-8,0-8", None),
            ("bytes=3-2", None),
            ("bytes=", None),
            ("bytes=a-b", None),
            ("bytes=+1-2", None),
            ("bytes=1", None),
            ("lines=0-1", None),
        ] {
            assert_eq!(parts(field, 10), expected, "{field}");
        }
        let many = |count: usize| format!("bytes={}", vec!["0-0"; count].join(","));
        assert_eq!(parts(&many(RANGES), 100).map(|it| it.len()), Some(RANGES));
        assert_eq!(parts(&many(RANGES + 1), 100), None);
    }

    fn response(lines: &[(&str, &str)]) -> Response {
        let fields = server::site::fields::fields(lines.iter().copied());
        let request = Request { fields, ..Request::get("a", "/a") };
        let headers = server::site::fields::fields([
            ("etag", "\"1\""),
            ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("content-type", "text/plain"),
            ("accept-ranges", "bytes"),
        ]);
        let body = Body::Bytes(b"0123456789".as_slice().into());
        let is_told_by_time = true;
        ranged(&request, Response { headers, body, is_told_by_time, ..Response::empty(200) })
    }

    fn text(response: &Response) -> String {
        let mut bytes = vec![0; usize::try_from(response.body.bytes()).expect("small")];
        response.body.read_at(0, &mut bytes).expect("in range");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn a_part_says_which_one_it_is() {
        let got = response(&[("range", "bytes=2-4")]);
        assert_eq!((got.status, text(&got).as_str()), (206, "234"));
        assert_eq!(got.fields("content-range").next(), Some("bytes 2-4/10"));
        let none = response(&[("range", "bytes=10-")]);
        assert_eq!((none.status, none.body.bytes()), (416, 0));
        assert_eq!(none.fields("content-range").next(), Some("bytes */10"));
    }

    #[test]
    fn several_parts_come_in_one_body_that_reads_the_same_in_pieces() {
        let got = response(&[("range", "bytes=0-1,-2")]);
        let kind = got.fields("content-type").next();
        assert_eq!(kind, Some("multipart/byteranges; boundary=utmost-2-1"));
        let whole = text(&got);
        assert_eq!(
            whole,
            "\r\n--utmost-2-1\r\ncontent-type: text/plain\r\ncontent-range: bytes 0-1/10\r\n\r\n01\
             \r\n--utmost-2-1\r\ncontent-type: text/plain\r\ncontent-range: bytes 8-9/10\r\n\r\n89\
             \r\n--utmost-2-1--\r\n"
        );
        for start in 0..whole.len() {
            for end in start..whole.len() {
                let mut piece = vec![0; end - start];
                got.body.read_at(start as u64, &mut piece).expect("in range");
                assert_eq!(piece, whole.as_bytes()[start..end]);
            }
        }
    }

    #[test]
    fn a_part_of_another_version_is_not_sent() {
        for (version, expected) in [
            ("\"1\"", 206),
            ("\"2\"", 200),
            ("W/\"1\"", 200),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 206),
            ("Sun, 06 Nov 1994 08:49:38 GMT", 200),
        ] {
            let got = response(&[("range", "bytes=0-1"), ("if-range", version)]);
            assert_eq!(got.status, expected, "{version}");
        }
    }
}
