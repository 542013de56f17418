//! Shared by all versions of HTTP: which requests the site answers, and the heads of its responses.

use crate::Options;
use crate::early_data::is_safe;
use crate::http_date::date;
use crate::site::fields::{kept, value};
use crate::site::{Request, Response, Site};
use http::header::{ALT_SVC, CONTENT_LENGTH, DATE, HeaderMap, HeaderName, HeaderValue, SERVER};

/// How many fields a response has besides the site's.
const OWN_FIELDS: usize = 4;

/// The site's response to a request. `refused`: the status for a request that the site does not see.
pub fn ask_site(site: &dyn Site, request: &Request, refused: Option<u16>) -> Response {
    match refused {
        Some(status) => Response::empty(status),
        None if request.early && !is_safe(&request.method) => Response::empty(425),
        None => site.respond(request),
    }
}

/// Whether a body follows the head of a response (RFC 9110, 6.4.1).
pub fn has_body(request: &Request, status: u16) -> bool {
    request.method != "HEAD" && may_have_body(status)
}

fn may_have_body(status: u16) -> bool {
    !matches!(status, 204 | 304)
}

/// The fields of a response except its status. `is_here`: it has its body itself, so its length is given. A 204 has none, and in
/// a 304 it would be the length of the 200 that it replaces (RFC 9110, 8.6).
pub fn fields(response: &Response, is_here: bool, options: &Options) -> HeaderMap {
    let (before, behind) = own_fields(response, is_here, options);
    let mut fields = HeaderMap::with_capacity(OWN_FIELDS + response.headers.len());
    fields.extend(before.into_iter().flatten());
    fields.extend(kept(&response.headers, |_| true));
    fields.extend(behind.into_iter().flatten());
    fields
}

/// How HTTP/3 is announced (RFC 7838, 3), if it is.
pub fn alternative_service(options: &Options) -> Option<String> {
    options.alt_svc_port.map(|port| format!("h3=\":{port}\"; ma=86400"))
}

type Field = Option<(HeaderName, HeaderValue)>;

/// The fields of [`fields()`] that are not the site's: those before the site's, and those after.
pub(crate) fn own_fields(
    response: &Response,
    is_here: bool,
    options: &Options,
) -> ([Field; 2], [Field; 2]) {
    let length = (is_here && may_have_body(response.status)).then(|| response.body.bytes());
    let length = length.map(|it| (CONTENT_LENGTH, it.into()));
    let alt_svc = alternative_service(options);
    let clock = options.wall_clock.filter(|_| !response.headers.contains_key(DATE));
    let before = [Some((SERVER, HeaderValue::from_static("utmost"))), length];
    (before, [alt_svc.map(|it| (ALT_SVC, value(it))), clock.map(|it| (DATE, date(it())))])
}
