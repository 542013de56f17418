//! The head of a response, which all versions of HTTP have in common.

use crate::Options;
use crate::http_date::http_date;
use crate::site::{Field, Response};

/// The fields of a response but for its status; `length` is the body's, where the response's own fields do not say it.
pub fn fields(response: &Response, length: Option<u64>, options: &Options) -> Vec<Field> {
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
