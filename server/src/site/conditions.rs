//! Conditional requests (RFC 9110, 13).

use super::{Body, Request, Response};

/// The response, unless a condition of the GET or HEAD request fails: then 304 if the client has this version already,
/// and 412 if it wants another one.
pub(super) fn conditional(request: &Request, response: Response) -> Response {
    let Some(etag) = response.fields("etag").next().filter(|_| response.status == 200) else {
        return response;
    };
    let wants_other = request.field("if-match").is_some_and(|it| !names(it, etag, is_same));
    let has_it = request.field("if-none-match").is_some_and(|it| names(it, etag, is_alike));
    if wants_other {
        return Response { resource: response.resource, ..Response::empty(412) };
    }
    if has_it { not_modified(response) } else { response }
}

/// Whether a list of entity tags names this one or is `*`.
fn names(list: &str, etag: &str, same: impl Fn(&str, &str) -> bool) -> bool {
    list.trim() == "*" || list.split(',').any(|it| same(it.trim(), etag))
}

/// The strong comparison (RFC 9110, 8.8.3.2).
fn is_same(one: &str, other: &str) -> bool {
    one == other && !one.starts_with("W/")
}

fn is_alike(one: &str, other: &str) -> bool {
    one.trim_start_matches("W/") == other.trim_start_matches("W/")
}

/// The 304 in place of a response: without the fields that describe the body (RFC 9110, 15.4.5).
fn not_modified(mut response: Response) -> Response {
    response.headers.retain(|(name, _)| !name.starts_with("content-"));
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

    fn status(field: &str, value: &str) -> u16 {
        let mut request = Request::get("a", "/a.css");
        request.fields.push((field.to_owned(), value.to_owned()));
        let headers = vec![
            ("etag".into(), "\"2\"".to_owned()),
            ("content-type".into(), "text/css".to_owned()),
        ];
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
            ("if-modified-since", "Sat, 01 Jan 2000 00:00:00 GMT", 200),
        ] {
            assert_eq!(status(field, value), expected, "{field}: {value}");
        }
    }
}
