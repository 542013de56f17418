//! Conditional requests (RFC 9110, 13).

use hyper::header::{
    ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, LAST_MODIFIED,
};
use server::http_date;
use server::site::fields::kept;
use server::site::{Body, Request, Response};

/// The response, unless a condition of the GET or HEAD request fails: then 304 if the client already has this version,
/// and 412 if it requires another one.
pub(super) fn conditional(request: &Request, response: Response) -> Response {
    let Some(etag) = response.fields(ETAG).next().filter(|_| response.status == 200) else {
        return response;
    };
    // A time counts only if the request has no tag for the same purpose (RFC 9110, 13.2.2).
    let wants_other = match request.list(IF_MATCH) {
        Some(tags) => !names(&tags, etag, is_same),
        None => is_changed(request.field(IF_UNMODIFIED_SINCE), &response) == Some(true),
    };
    let has_it = match request.list(IF_NONE_MATCH) {
        Some(tags) => names(&tags, etag, is_alike),
        None => is_changed(request.field(IF_MODIFIED_SINCE), &response) == Some(false),
    };
    if wants_other {
        return Response { resource: response.resource, ..Response::empty(412) };
    }
    if has_it { not_modified(response) } else { response }
}

/// Whether a list of entity tags contains this one or is `*`.
fn names(list: &str, etag: &str, same: impl Fn(&str, &str) -> bool) -> bool {
    list.trim() == "*" || list.split(',').any(|it| same(it.trim(), etag))
}

/// Whether a response has changed since the client's time. `None` if one of the times is unknown.
fn is_changed(since: Option<&str>, response: &Response) -> Option<bool> {
    let since = http_date::time(since?)?;
    let changed = http_date::time(response.fields(LAST_MODIFIED).next()?)?;
    Some(changed > since)
}

/// The strong comparison (RFC 9110, 8.8.3.2).
fn is_same(one: &str, other: &str) -> bool {
    one == other && !one.starts_with("W/")
}

fn is_alike(one: &str, other: &str) -> bool {
    one.trim_start_matches("W/") == other.trim_start_matches("W/")
}

/// The 304 that replaces a response: without the fields that describe the body (RFC 9110, 15.4.5).
fn not_modified(mut response: Response) -> Response {
    response.headers = kept(&response.headers, |it| !it.starts_with("content-")).collect();
    response.resource.body_bytes = Some(0);
    response.ready.truncate(1);
    for (_, bytes) in &mut response.ready {
        *bytes = 0;
    }
    Response { status: 304, body: Body::Empty, ..response }
}

#[cfg(test)]
mod tests {
    use super::*;
    use server::site::fields::fields;

    fn status(field: &str, value: &str) -> u16 {
        let mut request = Request::get("a", "/a.css");
        request.fields = fields([(field, value)]);
        let headers = fields([
            ("etag", "\"2\""),
            ("content-type", "text/css"),
            ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ]);
        let body = Body::synthetic(9, 0);
        let response = conditional(&request, Response { headers, body, ..Response::empty(200) });
        let is_whole = response.body.bytes() == 9 && response.fields("content-type").count() == 1;
        assert_eq!(is_whole, response.status == 200);
        response.status
    }

    #[test]
    fn a_copy_that_is_still_valid_is_not_sent_again() {
        for (field, value, expected) in [
            ("if-none-match", "\"2\"", 304),
            ("if-none-match", "\"1\", W/\"2\"", 304),
            ("if-none-match", "*", 304),
            ("if-none-match", "\"1\"", 200),
            ("if-match", "\"2\"", 200),
            ("if-match", "*", 200),
            ("if-match", "\"1\"", 412),
            ("if-match", "W/\"2\"", 412),
            ("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT", 304),
            ("if-modified-since", "Sat, 01 Jan 2000 00:00:00 GMT", 304),
            ("if-modified-since", "Sunday, 06-Nov-94 08:49:37 GMT", 304),
            ("if-modified-since", "Sun Nov  6 08:49:37 1994", 304),
            ("if-modified-since", "Sun, 06 Nov 1994 08:49:36 GMT", 200),
            ("if-modified-since", "yesterday", 200),
            ("if-unmodified-since", "Sun, 06 Nov 1994 08:49:37 GMT", 200),
            ("if-unmodified-since", "Sun, 06 Nov 1994 08:49:36 GMT", 412),
            ("if-unmodified-since", "yesterday", 200),
        ] {
            assert_eq!(status(field, value), expected, "{field}: {value}");
        }
    }
}
