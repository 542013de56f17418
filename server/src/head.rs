//! What all versions of HTTP have in common: which requests the site answers, and the heads of its responses.

use crate::Options;
use crate::early_data::is_safe;
use crate::http_date::http_date;
use crate::site::{Field, Request, Response, Site};

/// The response to a request. `refused`: the status of one that the site does not see.
pub fn answer(site: &dyn Site, request: &Request, refused: Option<u16>) -> Response {
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

/// The fields of a response but for its status. `is_here`: it has its body itself, whose length is said. A 204 has none, and in a
/// 304 it would be the length of the 200 it replaces (RFC 9110, 8.6).
pub fn fields(response: &Response, is_here: bool, options: &Options) -> Vec<Field> {
    let length = (is_here && may_have_body(response.status)).then(|| response.body.bytes());
    let mut fields: Vec<Field> = vec![("server".into(), "utmost".to_owned())];
    fields.extend(length.map(|it| ("content-length".into(), it.to_string())));
    fields.extend(response.headers.iter().cloned());
    if let Some(port) = options.alt_svc_port {
        fields.push(("alt-svc".into(), format!("h3=\":{port}\"; ma=86400")));
    }
    let clock = options.wall_clock.filter(|_| response.fields("date").next().is_none());
    fields.extend(clock.map(|it| ("date".into(), http_date(it()))));
    fields
}
